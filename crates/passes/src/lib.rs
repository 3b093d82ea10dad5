//! Optimisation: rewrites of the core IR, each checked on every run.
//!
//! Needs: a verified program.  Keeps: the meaning of every function (results on all inputs that meet its obligations),
//! its signature and its contracts.  Absent: target instructions (the back ends), layouts (`layout`), search for good
//! settings (`tune`).
//!
//! [`TABLE`] is the list of passes: names, documentation, trust class, levels. [`optimise`] runs [`PIPELINE`] and checks
//! each step.
//! Trusted: nothing: rewrites are checked; what checks them says so itself.

mod again;
mod array_to_scalar;
mod blame;
mod circuits;
mod compact;
mod const_fold;
mod copy_free;
mod copy_prop;
mod cse;
mod dead_code;
mod dead_functions;
mod derive_width;
mod drop_asserts;
mod erase;
mod first_row_init;
mod fold;
mod inline;
mod kept;
mod loop_fusion;
mod options;
mod perms;
mod run;
mod table;
mod tables;
mod unroll;
mod util;

pub use again::Again;
pub use circuits::circuits;
pub use options::{Circuits, Level, PassOptions, ParseLevelError};
pub use santoku_circuit::{Circuit, Observer, Silent};
pub use run::{believed, optimise, optimise_with, Optimised, PassFailure, Reason, StepReport};
pub use tables::gate;
pub use table::{find, Class, Pass, Rewrite, PIPELINE, TABLE};

#[cfg(test)]
mod tests;
