//! Conditions, computed indices, cut calls, arrays of run-time length, loops, limits.

use super::agree::Env;
use crate::source::{inputs, Environment, Inputs, Lengths, Rng, Site, Source, State, Stop, Value};
use crate::term::{Terms, T};
use num_bigint::BigInt;
use santoku_ir::interp::{self, Interp};
use santoku_ir::text::parse;
use santoku_ir::{FuncId, Program};

fn program(text: &str) -> Program {
    parse(text).unwrap_or_else(|e| panic!("{e:?}"))
}
