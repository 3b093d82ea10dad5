//! Levels of optimisation, of our passes and of C compilers alike.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A level of optimisation. The names are those of gcc and clang.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Level {
    O0,
    O1,
    O2,
    O3,
    Os,
}

impl Level {
    /// All levels, in the order of tables.
    pub const ALL: [Level; 5] = [Level::O0, Level::O1, Level::O2, Level::O3, Level::Os];

    /// Name without the dash: `O2`.
    pub fn name(self) -> &'static str {
        match self {
            Level::O0 => "O0",
            Level::O1 => "O1",
            Level::O2 => "O2",
            Level::O3 => "O3",
            Level::Os => "Os",
        }
    }

    /// As compilers take it: `-O2`.
    pub fn flag(self) -> String {
        format!("-{}", self.name())
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text was none of `O0 O1 O2 O3 Os` (with or without a leading `-`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseLevelError(pub String);

impl fmt::Display for ParseLevelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no optimisation level: O0, O1, O2, O3 or Os", self.0)
    }
}

impl std::error::Error for ParseLevelError {}

impl FromStr for Level {
    type Err = ParseLevelError;
    fn from_str(s: &str) -> Result<Level, ParseLevelError> {
        let name = s.strip_prefix('-').unwrap_or(s);
        Level::ALL.into_iter().find(|l| l.name() == name).ok_or_else(|| ParseLevelError(s.to_string()))
    }
}
