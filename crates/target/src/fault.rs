//! Why a description is refused.

use std::ops::Range;

/// Why a text does not describe a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub reason: String,
    /// Bytes of the text.
    pub at: Option<Range<usize>>,
}

impl Fault {
    pub(crate) fn plain(reason: impl Into<String>) -> Fault {
        Fault { reason: reason.into(), at: None }
    }

    pub(crate) fn of(e: &toml::de::Error) -> Fault {
        Fault { reason: e.message().lines().next().unwrap_or_default().to_string(), at: e.span() }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Fault {}
