//! Text to tree and back: lexer, parser, formatter of `.stk`.
//!
//! Needs: `diag`.  Keeps: the parser never fails and never panics; it returns a tree and a list of errors, in time
//! linear in the text. Expressions are at most [`DEPTH_MAX`] high, brackets, blocks and types at most [`NESTING_MAX`] deep, so
//! recursion over a tree is safe.
//! Absent on purpose: names, types, meaning.
//! Trusted: text.

pub mod ast;
mod format;
mod lexer;
mod parser;
mod token;

pub use format::format;
pub use lexer::INT_BITS_MAX;
pub use parser::{parse, DEPTH_MAX, FILE_BYTES_MAX, NESTING_MAX};

/// Every keyword, sorted; word types apart.
pub fn keywords() -> impl Iterator<Item = &'static str> {
    token::KEYWORDS.iter().map(|(word, _)| *word)
}
