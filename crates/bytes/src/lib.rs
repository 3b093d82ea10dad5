//! The judge of bytes: whether machine code computes a function of the core, and nothing that an observer sees depends on what it computes with.
//!
//! It executes both sides once, on polynomials over the function's inputs: the code by the instruction model that the simulator runs,
//! the core by the executor of the judge of meaning. It accepts code in which every jump and every address is a constant
//! beside where objects lie, and in which every word that is left behind is the very polynomial that the core gives. It searches nothing and has no
//! solver; what it does not accept may be right all the same.
//!
//! Needs: a program that `santoku_judge` accepts, a placed file, the instruction model.  Keeps: code is accepted only if, called as the
//! psABI says with inputs in their ranges, it returns with the core's results, registers and stack as they have to be and nothing
//! else written; provided that the calls it makes ([`Accepted::calls`]) do the same.  Absent on purpose: branches on inputs, arrays of run-time
//! length, division, other conventions than the source's.
//! Trusted: bytes, leaks.

pub mod abi;
mod call;
pub mod closed;
mod entry;
pub mod layout;
mod machine;
mod memory;
mod stop;
mod words;

pub use entry::{check, Accepted, Effort};
pub use machine::Code;
pub use stop::Stop;
pub(crate) use stop::{known, stop, Res};
