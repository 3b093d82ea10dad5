//! The tables of mistakes as the build and the tests read them.

use serde::Deserialize;

/// What the range engines can get wrong, and what the engines behind contracts can; numbered in this order.
#[allow(dead_code)]
pub const TABLES: [&str; 2] = ["mistakes/ranges.toml", "mistakes/meaning.toml"];

/// What the numbers can get wrong, which engines and judges share; numbered behind the others.
pub const NUMBERS: &str = "mistakes/numbers.toml";

/// That file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Numbers {
    pub mistake: Vec<Number>,
}

/// A wrong line of `num`: its tests have to fail.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
pub struct Number {
    /// What is wrong, for people.
    pub what: String,
    /// Below the sources of `num`.
    pub file: String,
    pub right: String,
    pub wrong: String,
}

/// One of the other files.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    pub mistake: Vec<Mistake>,
}

/// A wrong rule, and a program about which the prover believes a lie because of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
pub struct Mistake {
    /// What is wrong, for people.
    pub what: String,
    /// Where: all of them wrong at once.
    pub edits: Vec<Edit>,
    /// The prover made it once.
    #[serde(default)]
    pub made: bool,
    /// Only the solver is fooled.
    #[serde(default)]
    pub solver: bool,
    /// A program with `$` where its lie or truth is put.
    pub program: String,
    pub lie: String,
    /// Put there instead, it holds, and the judge follows.
    pub truth: String,
    /// Lengths of the arrays of `main`, if it has such.
    #[serde(default)]
    pub lens: Vec<u64>,
    /// Arguments of `main` on which the lie shows.
    pub input: Vec<toml::Value>,
}

/// An expression of the prover, which occurs once in its file, and the wrong one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
pub struct Edit {
    /// Below the sources of the prover.
    pub file: String,
    pub right: String,
    pub wrong: String,
}
