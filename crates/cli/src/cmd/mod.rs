//! One module for each command.

pub mod build;
pub mod cache;
pub mod certify;
mod certify_match;
pub mod check;
pub mod common;
pub mod dist;
mod dist_claims;
pub mod explain;
pub mod fmt;
pub mod lab;
mod lab_bench;
mod lab_certify;
mod lab_common;
mod lab_mutants;
mod lab_report;
mod lab_run;
mod lab_search;
mod lay_out;
pub mod lsp;
pub mod new;
pub mod passes;
pub mod prove;
pub mod run;
pub mod test;
mod test_cases;
pub mod trust;
