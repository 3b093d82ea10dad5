//! Machines as data: one file `targets/<name>.toml` says all that this project knows of a machine, and `targets/compilers.toml` which C
//! compilers there are. `tuned/<name>.toml` names a machine, the implementations that are chosen there, and
//! orders of instructions that a search found.
//!
//! Needs: nothing of ours.  Keeps: a description that is not wholly understood is refused, with the place; the shipped ones are compiled in, so
//! they are known everywhere.  Absent: how a machine is simulated (see `lab`), what its instructions mean (see `isa`), files (texts come in).
//! What each field is for: `docs/targets.md`.
//! Trusted: nothing: what a description says of a machine is an assumption that SOUNDNESS.md names; what enters C says so itself.

mod built_in;
mod compiler;
mod fault;
mod level;
mod run;
pub mod schedule;
mod target;
mod vector;

pub use built_in::{built_in, compilers, machine_names, names, vector, vectors};
pub use compiler::{Compiler, Compilers};
pub use fault::Fault;
pub use level::{Level, ParseLevelError};
pub use run::{Costs, Executor, Memory, Run};
pub use schedule::{Schedule, Schedules};
pub use target::{ByteOrder, Certify, Fused, InstructionSet, Target, Use, VariableTime};
pub use vector::{Affine, VectorUnit};

/// The target of a command that names none.
pub const DEFAULT_TARGET: &str = "portable";
