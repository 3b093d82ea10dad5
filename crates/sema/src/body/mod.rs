//! Lowering of one function body to draft statements.
//!
//! A value is a core expression; what needs statements (calls, `if`, comprehensions) writes into a place. Where
//! the place is known it is written directly, else into a fresh temporary that a following `let` adopts.

mod build;
mod call;
mod choice;
mod context;
mod control;
mod counted;
mod function;
mod ghost;
mod ops;
mod place;
mod step;
mod stmt;
mod value;
mod view;
pub mod words;

pub use function::{is_c_name, lower_function, lower_test, Lowered};
