//! One module for each command.

pub mod build;
pub mod check;
pub mod common;
pub mod explain;
pub mod fmt;
pub mod passes;
pub mod prove;
pub mod run;
pub mod test;
