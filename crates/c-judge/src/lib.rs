//! Reads C text back and compares it with the program it was printed from: what is believed of the printer is what this finds.
//!
//! Needs: a program with proved ranges, and the text of its types, tables and functions, with the names that they have in C.  Keeps: for each
//! function, statement by statement, that the C stores what the program assigns, in whatever types it computes: no sum, product or shift leaves
//! its type where that matters, no index or pointer is another, nothing is read before it was stored or after it was overwritten, and no secret
//! is branched on or an index.  Absent: the fixed text of units, whose meaning is written here; the header; text by hand.  C11 is meant with an
//! `int` of 32 bits, two's complement and arithmetic shifts.
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
mod pieces;
mod place;
mod reads;
mod state;
mod term;
mod tree;
mod unit;
mod walk;

pub use pieces::{Compared, Piece, Pieces, Refused};
use santoku_ir::Program;

/// Compares all parts of a unit with the program.
///
/// # Errors
/// The first place where they part, or what is no C of ours.
pub fn compare(program: &Program, pieces: &Pieces) -> Result<Compared, Refused> {
    let unit = unit::Unit::read(program, pieces)?;
    let mut all = Compared { tables: unit.tables.len(), ..Compared::default() };
    for (piece, function) in pieces.functions.iter().zip(&unit.read) {
        all.statements += function::compare(&unit, piece, function).map_err(|e| e.with(&piece.text))?;
        all.functions += 1;
    }
    Ok(all)
}
