//! The workbench: library primitives built for a target, handed to the lab, and their figures put side by side.
//!
//! Needs: the driver, the stages behind it, and the lab.  Keeps: one declaration per primitive (`lib/primitives.toml`) and per target
//! (`targets/*.toml`, `tuned/*.toml`); rivals are measured in the same run; every figure printed is also a row of a record.
//! Absent on purpose: argument parsing and colours (see `cli`); measuring itself (see `lab`).
//! Trusted: nothing: it measures; what joins the shipped files says so itself.

pub mod ablate;
pub mod amalgam;
pub mod assembly;
pub mod asserted;
mod bars;
mod by_calls;
pub mod by_operation;
pub mod carry;
pub mod cases;
pub mod certify;
pub mod cipher;
pub mod claims;
pub mod compile;
pub mod differential;
pub mod dist;
pub mod error;
pub mod interface;
pub mod interface_row;
pub mod ladder;
pub mod matrix;
pub mod matrix_units;
pub mod measure;
pub mod mutants;
pub mod mutants_job;
pub mod mutate;
pub mod objects;
pub mod on_target;
pub mod operation;
mod interpreted;
mod names;
mod pages;
pub mod parallel;
pub mod primitives;
pub mod profile;
pub mod report;
pub mod release_report;
pub mod row;
pub mod search;
pub mod shim;
pub mod subject;
pub mod table;
mod table_text;
pub mod text;
pub mod user;
mod widen;
pub mod workload;

pub use error::BenchError;
