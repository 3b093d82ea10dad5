//! The source side: core IR executed into terms.
//!
//! [`layout`] says where the bytes of values lie in memory and [`abi`] how arguments travel; [`Source`] executes a function;
//! [`inputs`] makes its arguments, with sample values that meet its preconditions.
//!
//! Needs: the IR, terms.  Keeps: the meaning that the interpreter gives, on every input that meets the proved obligations (an
//! index lies inside its array, a value in the range written on it, nothing is read before it is assigned).  Absent: proofs
//! of those obligations (`prove` has them), machine code.

pub mod abi;
pub mod convention;
mod exec;
mod harvest;
mod inputs;
mod ops;
mod place;
mod required;
mod state;
mod stop;
mod value;

pub use state::{CallMade, Environment, Limits, Site, Source, State};
pub use stop::Stop;
pub use inputs::{inputs, meeting, InputArray, Inputs, Lengths, Rng};
pub use harvest::Sample;
pub use required::required;
pub use value::{concrete, known_length, scalars_of, with_lengths, RunArray, Value};

pub use santoku_bytes::layout;


#[cfg(test)]
mod tests;
