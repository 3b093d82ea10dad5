//! Safety: every exact integer in its range, every index in its array, every value defined.
//!
//! Needs: a verified core program.  Keeps: nothing between programs; a run is a function of the program and the
//! options.  Absent: secrecy, meaning (the algebra's), rendering.
//!
//! Engines in order: intervals; then, for functions with something left open, linear facts and case splits on
//! carries; then the solver, for what is still open. An obligation closed by one may rely on all others: at the
//! first violation of an execution every earlier obligation held, so the run that closed it was right about the
//! state before it.

mod annotate;
mod callee;
mod cases;
mod cond;
mod contracts;
mod eval;
mod exec;
mod found;
mod limits;
mod lin;
mod loops;
mod place;
mod record;
mod relate;
mod run;
mod settle;
pub(crate) mod show;
mod split;
mod value;
pub(crate) mod witness;

pub use annotate::{annotate, annotate_by_summaries, annotate_with, check_annotations, narrowed_with};
pub use contracts::is_simple;
pub use found::{Dead, FuncRanges, Options, Ranges, Round, Summary};
pub use limits::Limits;
pub use settle::analyse;
pub use show::Show;
pub use value::{Abs, Sc};

