//! The pipeline, from the text of programs to the text of C, as one table: [`stages`].
//!
//! Needs: every stage.  Keeps: text in, artefacts out; no file, clock or terminal is touched here (texts come from a
//! loader, times from a clock the caller gives). A fault of the user is [`Failure::Refused`] with diagnostics; a fault of
//! ours is [`Failure::Internal`] and names the stage.
//! Absent on purpose: rendering, arguments, files (`cli`); measuring (`lab`).
//! Trusted: nothing: the order of stages; what hands a program on says so itself.

// A failure ends the run: its size costs nothing.
#![allow(clippy::result_large_err)]

mod advice;
mod args;
mod assembly;
mod build;
mod check;
mod choices;
mod failure;
mod interpret;
mod lanes;
mod lay_out;
mod prove;
mod request;
mod stages;
mod target;

pub use args::{parse_arg, show_value};
pub use assembly::{assembly, has_assembly, lowered_passes, lowered_text, Choice, Counts, Emitted, Emitter, Lowering};
pub use build::{believed, build, build_watched, interface, printable, BuildOptions, Built, Step};
pub use check::{check, Checked};
pub use request::{Loader, Request};
pub use failure::{span, Failure};
pub use interpret::{call, find_function, run_case, TestOutcome, STEPS};
pub use lanes::lanes;
pub use lay_out::{lay_out, lay_out_watched, GRANULARITY, Isa, LaidOut, Layout, LayoutOptions};
pub use prove::{open_obligations, prove, prover_fault, ranges, vacuous};
pub use santoku_prove::cache::Store;
pub use santoku_prove::Report;
pub use santoku_passes::{Circuit, Observer};
pub use stages::{c_decisions, layout_passes, stages, Stage};
pub use target::{built_in, products, read_choices, read_machine, timing, unknown_target, Target, DEFAULT_TARGET};
