//! Layouts of programs of one block: scalar, one lane per block, one bit per register; several copies interleaved.
//!
//! Needs: a verified core program, the passes, the C printer's vector mode.  Keeps: the function. Every pass of [`TABLE`] is
//! checked on every run (terms, bits, or all inputs of a table), see [`Kernel::checks`]; what has no form in a layout is refused
//! with its place.  Absent on purpose: files, compilers, timing; choosing the best variant (the lab measures, the tuner chooses).
//! Trusted: c.

mod ahead;
mod api;
pub mod bits;
mod cells;
mod choices;
mod circuits;
mod columns;
mod count;
mod embed;
mod error;
mod graph;
mod held;
pub mod interleave;
mod isa;
mod kernel;
mod lookup;
mod lut;
mod print;
mod ranges;
mod request;
mod run;
mod slice;
mod steps;
mod table;
mod tables;
mod transpose;
#[cfg(test)]
mod twins;
mod widen;
mod words;

pub use embed::{embedded, Embedded};
pub use error::LayoutError;

pub use isa::{Isa, Layout};
pub use kernel::{build, build_watched};
pub use request::{Kernel, Request, GRANULARITY};
pub use slice::bitslice;
pub use table::{find, LayoutPass, TABLE};
pub use transpose::Block;
