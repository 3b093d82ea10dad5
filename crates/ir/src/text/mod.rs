//! The text form of a program: readable, and exact. `parse(print(p)) == p` for every program within the limits.
//!
//! Needs: nothing but the data types.  Keeps: everything, locations and ranges on expressions included.
//! Absent: judgement. Ill-typed programs print and parse like others; [`crate::verify`] judges.
//!
//! ```text
//! santoku-ir 1
//! file "field.stk"
//! struct Point { x: [int 0..65535; 16], ok: bool }
//! const K: [u32; 2] = [7, 9] @0:3:1
//! spec square(x) = (#v0 * #v0)
//! fn add @0:7:1+90:190 {
//!   len n: public int 0..2147483647
//!   param x: [u8; n#0 + 1]
//!   ret r: u8
//!   counter i: public int
//!   requires (n#0 >= 1) "n >= 1"
//!   body {
//!     r#2 = 0u8
//!     for i#3 in 0 ..< (n#0 + 1) { r#2 = (r#2 + x#1[i#3]) }
//!   }
//! }
//! fn check {
//!   var r: u8
//!   body {
//!     call (r#0) = add#f0<1>([1u8, 2u8])
//!     assert (r#0 == 3u8) "add"
//!   }
//! }
//! test "sum" check#f1
//! ```
//! A reference is `name#id`, with `c`, `s`, `f`, `p`, `v` before the number for constants, structs, functions,
//! spec fns and spec variables; the name is for readers, may be left out, and must be right where it stands.
//! An expression whose type does not follow from its parts is written `(e : type)`.
//! Trusted: nothing: people and tests read the text of the core, no claim rests on it.

mod error;
mod lex;
mod natural;
mod parse;
mod parse_expr;
mod print;
mod spec;

use crate::data::Program;

pub use error::ParseError;
pub use print::{expr_text, func_text, place_text, ty_text};

/// The text of a program.
pub fn print(program: &Program) -> String {
    print::program(program)
}

/// The program of a text.
///
/// # Errors
/// The first place where the text is no program, or exceeds [`crate::limits`].
pub fn parse(text: &str) -> Result<Program, ParseError> {
    parse::program(text)
}
