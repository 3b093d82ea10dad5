//! Rows of `lib/primitives.toml` that describe an interface of C over a program: its functions, what they are made of, and their other names.

use serde::Deserialize;
use std::collections::BTreeMap;

/// A function of an interface, in C's order of arguments.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct FunctionRow {
    pub name: String,
    /// What it does, for the header.
    #[serde(default)]
    pub about: String,
    /// `status`: 0, or -1 for failure. `n % 128`: that number. None: nothing is returned.
    pub returns: Option<String>,
    pub arguments: Vec<ArgumentRow>,
    /// Functions of the program that it calls, in order. None: it is written by hand.
    #[serde(default)]
    pub calls: Vec<CallRow>,
    /// Outputs that are filled by `randombytes` before anything is called.
    #[serde(default)]
    pub random: Vec<String>,
    /// Outputs that are filled with zeros before anything is called.
    #[serde(default)]
    pub zeros: Vec<String>,
    /// Objects of so many bytes that calls hand on to later ones.
    #[serde(default)]
    pub locals: BTreeMap<String, usize>,
    /// It takes milliseconds: tests call it less often.
    #[serde(default)]
    pub slow: bool,
    /// What its arguments stand for: where it is a part's function, what that says.
    #[serde(skip)]
    pub encodings: BTreeMap<String, String>,
}

/// A call of a function of the program. If that returns a verdict and says no, -1 is returned, and nothing is called any more.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct CallRow {
    pub function: String,
    /// Argument of the interface, or local, by the callee's name for it; where a name is missing, it is the same.
    #[serde(default)]
    pub pass: BTreeMap<String, String>,
}

/// At least one of `input`, `output`, `length` is there; `input` and `output` together: read, then written.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ArgumentRow {
    pub name: String,
    /// Bytes read: `32`, `n`, `n + 64`, `n - 64`.
    pub input: Option<String>,
    /// Bytes written.
    pub output: Option<String>,
    /// Bytes that some implementations write, where these are more.
    pub room: Option<String>,
    /// An integer of so many bytes, the length of an input.
    pub length: Option<usize>,
    /// Bytes of one number in what is pointed to; none: 1.
    pub number: Option<usize>,
    #[serde(default)]
    pub public: bool,
    /// May be a null pointer.
    #[serde(default)]
    pub null: bool,
    /// Arguments that it may overlap.
    #[serde(default)]
    pub overlaps: Vec<String>,
    /// Arguments whose object it may be.
    #[serde(default)]
    pub same: Vec<String>,
    /// So many bytes at its beginning are 0, as callers have to see to.
    #[serde(default)]
    pub zeros: usize,
    /// Where tests take it from: `crypto_sign.sm`, what that function leaves there for the same arguments.
    pub of: Option<String>,
    /// An argument that it mostly equals in tests.
    pub like: Option<String>,
}

impl ArgumentRow {
    /// Function and argument that tests take it from.
    pub fn made_by(&self) -> Option<(&str, &str)> {
        self.of.as_deref()?.split_once('.')
    }
}

/// Names of NaCl's kind: an operation, and the primitive that it is by default.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct NamesRow {
    /// `crypto_box`.
    pub operation: String,
    /// `curve25519xsalsa20poly1305`.
    pub primitive: String,
    /// The functions have the operation's name alone; otherwise both.
    #[serde(default)]
    pub default: bool,
    /// They have both, and the operation's name alone stands for them, too.
    #[serde(default)]
    pub also_alone: bool,
    /// What their names have behind that: nothing, `open`.
    pub functions: Vec<String>,
    /// Sizes: `PUBLICKEYBYTES = 32`.
    #[serde(default)]
    pub constants: BTreeMap<String, u32>,
}

impl NamesRow {
    /// Operation and primitive: `crypto_box_curve25519xsalsa20poly1305`.
    pub fn long(&self) -> String {
        format!("{}_{}", self.operation, self.primitive)
    }

    /// How the functions' own names begin.
    pub fn own(&self) -> String {
        if self.default { self.operation.clone() } else { self.long() }
    }
}
