//! What is compared, and what comes of it.

use santoku_ir::FuncId;
use std::collections::BTreeMap;

/// The text of a unit in its parts, and what names stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pieces {
    pub types: String,
    pub tables: String,
    pub functions: Vec<Piece>,
    /// C names of structs, in the order of the program; none for those without a C type.
    pub structs: Vec<Option<String>>,
    pub consts: Vec<String>,
    /// The type of registers, where words are in lanes.
    pub lanes: Option<String>,
    /// Functions that are macros of the unit.
    pub macros: BTreeMap<String, Vec<FuncId>>,
    /// Of each function, for result and parameter: callers may give one object for both.
    pub shared: Vec<Vec<Vec<bool>>>,
}

/// The text of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub func: FuncId,
    pub text: String,
    /// C names of its locals.
    pub names: Vec<String>,
    /// The function that others call, which calls this one and clears the stack.
    pub outer: String,
}

/// What was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    pub functions: usize,
    /// Statements of the program that have C text.
    pub statements: usize,
    pub tables: usize,
}

impl Compared {
    /// Both together.
    #[must_use]
    pub fn and(self, other: &Compared) -> Compared {
        Compared { functions: self.functions + other.functions, statements: self.statements + other.statements, tables: self.tables + other.tables }
    }
}

/// Where the text and the program part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The function, or which part of the unit.
    pub place: String,
    /// In the text of that.
    pub line: usize,
    pub why: String,
    /// What stands there.
    pub text: String,
}

impl Refused {
    /// With the line of the text.
    pub(crate) fn with(self, text: &str) -> Refused {
        Refused { text: text.lines().nth(self.line.saturating_sub(1)).unwrap_or("").trim().to_string(), ..self }
    }
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, line {} of its C, `{}`: {}", self.place, self.line, self.text, self.why)
    }
}

impl std::error::Error for Refused {}
