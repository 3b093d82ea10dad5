//! Tests of the checker: its rules against the interpreter, and what it must and must not call equal.

mod fuzz;
mod pairs;
mod rules;
