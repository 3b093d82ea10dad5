//! Text to tree and back: lexer, parser, formatter of `.stk`.
//!
//! Needs: `diag`.  Keeps: the parser never fails and never panics; it returns a tree and a list of errors.
//! Absent on purpose: names, types, meaning.

pub mod ast;
