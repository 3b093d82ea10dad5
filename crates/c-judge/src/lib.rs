//! Reads C text back and compares it with the program it was printed from: what is believed of the printer is what this finds.
//!
//! Needs: a program with proved ranges, and the text of its types, tables and functions, with the names that they have in C.  Keeps: for each
//! function, statement by statement, that the C stores what the program assigns, in whatever types it computes: no sum, product or shift leaves
//! its type where that matters, no index or pointer is another, nothing is read after it was overwritten, and no secret is branched on or an
//! index.  Absent: where variables are declared, which arguments may be one object (`scope`, `alias` of the printer), and the fixed text of
//! units, whose meaning is written here.  C11 is meant with an `int` of 32 bits, two's complement and arithmetic shifts.
//! Trusted: c.

mod aggregate;
mod call;
mod core;
mod defined;
mod eval;
mod exec;
mod function;
mod lex;
mod parse;
mod place;
mod reads;
mod state;
mod term;
mod tree;
mod unit;
mod walk;

use santoku_ir::{FuncId, Program};
use std::collections::BTreeMap;

/// The text of a unit in its parts, and what names stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pieces {
    pub types: String,
    pub tables: String,
    pub functions: Vec<Piece>,
    /// C names of structs, in the order of the program; none for those without a C type.
    pub structs: Vec<Option<String>>,
    pub consts: Vec<String>,
    /// The type of registers, where words are in lanes.
    pub lanes: Option<String>,
    /// Functions that are macros of the unit.
    pub macros: BTreeMap<String, Vec<FuncId>>,
    /// Of each function, for result and parameter: callers may give one object for both.
    pub shared: Vec<Vec<Vec<bool>>>,
}

/// The text of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub func: FuncId,
    pub text: String,
    /// C names of its locals.
    pub names: Vec<String>,
    /// The function that others call, which calls this one and clears the stack.
    pub outer: String,
}

/// What was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    pub functions: usize,
    /// Statements of the program that have C text.
    pub statements: usize,
    pub tables: usize,
}

impl Compared {
    /// Both together.
    #[must_use]
    pub fn and(self, other: &Compared) -> Compared {
        Compared { functions: self.functions + other.functions, statements: self.statements + other.statements, tables: self.tables + other.tables }
    }
}

/// Where the text and the program part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The function, or which part of the unit.
    pub place: String,
    /// In the text of that.
    pub line: usize,
    pub why: String,
    /// What stands there.
    pub text: String,
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, line {} of its C, `{}`: {}", self.place, self.line, self.text, self.why)
    }
}

impl std::error::Error for Refused {}

/// Compares all parts of a unit with the program.
///
/// # Errors
/// The first place where they part, or what is no C of ours.
pub fn compare(program: &Program, pieces: &Pieces) -> Result<Compared, Refused> {
    let unit = unit::Unit::read(program, pieces)?;
    let mut all = Compared { tables: unit.tables.len(), ..Compared::default() };
    for (piece, function) in pieces.functions.iter().zip(&unit.read) {
        let with_text = |e: Refused| Refused { text: piece.text.lines().nth(e.line - 1).unwrap_or("").trim().to_string(), ..e };
        all.statements += function::compare(&unit, piece, function).map_err(with_text).map_err(|e| { if std::env::var("SHOWC").is_ok() { eprintln!("{}\n{}", piece.text, santoku_ir::text::print(program)); } e })?;
        all.functions += 1;
    }
    Ok(all)
}
