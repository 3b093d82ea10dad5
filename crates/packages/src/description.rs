//! `packages/<name>/package.toml`: what a package is made of.

use serde::Deserialize;

/// Folder of a package for C files, where they do not lie beside the bindings.
pub const C_FOLDER: &str = "csrc";

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    Ocaml,
    Python,
    Rust,
}

/// A package.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// In what its bindings are.
    pub language: Language,
    /// Primitives, by their names in `lib/primitives.toml`.
    pub primitives: Vec<String>,
    /// Folder of the package for bindings, and of OCaml's for C files.
    pub code: String,
    /// File for test vectors of these primitives.
    pub vectors: String,
    /// Files of the root of the tree that the package has, too.
    #[serde(default)]
    pub also: Vec<String>,
}
