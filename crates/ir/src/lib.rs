//! The typed core of Santoku: what every stage after `sema` speaks.
//!
//! A program is a set of pure, total functions over words, exact integers, booleans, arrays and
//! structs. Locals are mutable inside a function, values are copied on assignment (no aliasing),
//! loops are counted over public bounds, calls are statements whose results go into places.
//!
//! Needs: big integers.  Keeps: the meaning of the language ([`interp`] is that meaning).
//! Absent on purpose: source text, diagnostics rendering, optimisation, target knowledge.
//!
//! This crate is trusted: it depends on `num` alone of ours.
//! Trusted: safe, field, c, bytes, leaks, certifier, text.

pub mod build;
pub mod data;
pub mod each;
pub mod expr;
#[cfg(feature = "testing")]
pub mod gen;
pub mod interp;
pub mod limits;
pub mod spec;
pub mod spec_eval;
pub mod spec_words;
pub mod perm;
pub mod table;
pub mod text;
pub mod ty;
pub mod typing;
pub mod verify;
pub mod visit;

pub use data::*;
pub use spec::*;
pub use ty::*;
