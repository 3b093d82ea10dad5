//! C compilers: how each is called, and which version results are stated for.

use crate::Fault;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A C compiler.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compiler {
    /// Name by which target files call it.
    #[serde(skip)]
    pub name: String,
    /// Its kind, as tables and lists of proofs name it: `gcc`, `clang`.
    pub family: String,
    command: String,
    /// Variable of the environment whose value replaces the command.
    variable: Option<String>,
    /// Debian packages that have it and what it needs.
    pub packages: Vec<String>,
    /// Major version that results are stated for.
    pub version: String,
    /// Its disassembler.
    pub objdump: Option<String>,
    /// Headers of C that it does not bring where there is no C library: `stdint.h`, `string.h`.
    #[serde(default)]
    pub lacks: Vec<String>,
}

impl Compiler {
    /// The command that runs it: the usual one, or what its variable of the environment names.
    pub fn command(&self) -> String {
        self.variable.as_ref().and_then(|v| std::env::var(v).ok()).unwrap_or_else(|| self.command.clone())
    }

    /// Whether this version text is of the major version that results are stated for.
    pub fn is_pinned(&self, text: &str) -> bool {
        // The last word that begins as a version does.
        let number = text.split_whitespace().rev().find(|w| w.contains('.') && w.starts_with(|c: char| c.is_ascii_digit()));
        number.and_then(|n| n.split('.').next()) == Some(&self.version)
    }
}

/// All compilers, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compilers(pub BTreeMap<String, Compiler>);

impl Compilers {
    /// Reads the text of `targets/compilers.toml`.
    ///
    /// # Errors
    /// [`Fault`]: malformed, an unknown or missing field.
    pub fn parse(text: &str) -> Result<Compilers, Fault> {
        let mut all: BTreeMap<String, Compiler> = toml::from_str(text).map_err(|e| Fault::of(&e))?;
        for (name, compiler) in &mut all {
            compiler.name.clone_from(name);
        }
        Ok(Compilers(all))
    }
}
