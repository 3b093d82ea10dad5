//! Rules: an operation on known operands, and what is simpler.
//!
//! Each gives a value that equals the operation's result for all operands that have the facts stated.
//! Trusted: nothing: nothing that ships is made of it.

mod arith;
mod carry;
mod product;
pub(super) mod simpler;
