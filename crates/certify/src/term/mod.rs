//! Exact integers in one canonical form.
//!
//! A term is a polynomial with integer coefficients over atoms, hash-consed: equal polynomials have the same number. Machine
//! words are integers in `0 ..= 2^w - 1`, exact integers of the IR are themselves, booleans are 0 or 1. Reduction mod `2^k`
//! is `p - 2^k floor(p / 2^k)`, so that halves of long values, carries, sign extensions, shifts and products of several words
//! meet in the same normal form without search.
//!
//! Every operation is total: it has a value for all integers, not only for words of the width it is meant for. Its result and
//! the bounds noted of that hold on all inputs, whatever a path says of the operands. What holds on a path alone is a fact
//! ([`crate::facts`]); it is kept outside of this module, which shows no way to remember it.
//!
//! Needs: big integers.  Keeps: for every term its exact value on a few sample inputs; each rule's result and every bound are
//! compared with those values, so that a wrong rule stops the proof instead of deciding it.  Absent: widths; they belong
//! to the operations; what is assumed.

mod arena;
mod array;
mod arrays;
mod atom;
mod bits;
mod booleans;
mod columns;
mod compare;
mod conditions;
#[cfg(test)]
mod conditions_tests;
mod divide;
mod domain;
mod ids;
mod names;
mod poly;
mod query;
mod quick;
mod range;
mod select;
mod settle;
mod settling;
#[cfg(test)]
mod settle_tests;
mod show;
mod smt;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod total_tests;

pub use arena::Terms;
pub use array::{Array, Written};
pub use arrays::Given;
pub use atom::{OutSpec, Var};
pub(crate) use atom::Atom;
pub use ids::T;
pub(crate) use ids::{A, M};
pub use poly::Naming;
pub use range::Everywhere;
