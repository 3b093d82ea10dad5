//! The lab: runs programs on measured machines and reports what they cost.
//!
//! Needs C sources or executables and, on the machine it runs on, the compilers that build them. Keeps the simulated
//! 32-bit RISC-V machine and its timing model, stack bounds, code sizes, profiles and run records. Knows artefacts only:
//! of the compiler's crates it uses `target`, the descriptions of machines, and nothing else, so what measures shares nothing with what is measured.
//! Trusted: nothing: it measures.

mod error;
pub mod calibration;
pub mod bench;
pub mod calls;
pub mod ckb;
pub mod cross;
pub mod harness;
pub mod host;
pub mod peers;
pub mod profile;
pub mod program;
pub mod record;
pub mod rv32;
pub mod size;
pub mod stack;
pub mod traces;

pub use error::LabError;
