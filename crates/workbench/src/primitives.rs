//! The declarations: which primitives there are, and what each target chooses.

use crate::BenchError;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A row of `lib/primitives.toml`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Primitive {
    /// Dotted name, `nacl.sign`.
    pub name: String,
    pub title: String,
    /// Source file, from the root of the tree.
    pub entry: String,
    /// Stem of the generated C files.
    pub unit: String,
    /// Hand-written C over the exported functions.
    pub api_source: Option<String>,
    pub api_header: Option<String>,
    /// Targets in the generated file: the last one is the fallback, earlier ones need 128-bit integers.
    pub targets: Vec<String>,
}

/// `tuned/<name>.toml`: choices for a target, never needed for correctness.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Target {
    #[serde(skip)]
    pub name: String,
    /// Bits of a machine register.
    pub word_bits: u32,
    /// Widest integer the C compiler has there.
    pub widest: u32,
    /// Interface module -> implementation.
    #[serde(rename = "impl", default)]
    pub impls: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    primitive: Vec<Primitive>,
}

/// The tree: folder that holds `lib/` and `tuned/`.
#[derive(Clone, Debug)]
pub struct Tree {
    pub root: PathBuf,
}

impl Tree {
    /// The nearest folder at or above `from` with a `lib/primitives.toml`.
    pub fn find(from: &Path) -> Option<Tree> {
        from.ancestors().find(|d| d.join("lib/primitives.toml").is_file()).map(|d| Tree { root: d.to_path_buf() })
    }

    pub fn read(&self, path: &str) -> Result<String, BenchError> {
        let full = self.root.join(path);
        std::fs::read_to_string(&full).map_err(|e| BenchError::io(full, &e))
    }

    pub fn primitives(&self) -> Result<Vec<Primitive>, BenchError> {
        let path = "lib/primitives.toml";
        let table: Table = toml::from_str(&self.read(path)?).map_err(|e| self.bad(path, &e))?;
        Ok(table.primitive)
    }

    pub fn primitive(&self, name: &str) -> Result<Primitive, BenchError> {
        let all = self.primitives()?;
        let known = all.iter().map(|p| p.name.clone()).collect();
        all.into_iter().find(|p| p.name == name).ok_or(BenchError::Unknown { what: "primitive", name: name.into(), known })
    }

    pub fn target(&self, name: &str) -> Result<Target, BenchError> {
        let path = format!("tuned/{name}.toml");
        if !self.root.join(&path).is_file() {
            return Err(BenchError::Unknown { what: "target", name: name.into(), known: self.target_names() });
        }
        let target: Target = toml::from_str(&self.read(&path)?).map_err(|e| self.bad(&path, &e))?;
        Ok(Target { name: name.into(), ..target })
    }

    pub fn target_names(&self) -> Vec<String> {
        let Ok(dir) = std::fs::read_dir(self.root.join("tuned")) else { return vec![] };
        let stem = |e: std::fs::DirEntry| e.file_name().to_str()?.strip_suffix(".toml").map(str::to_string);
        let mut names: Vec<String> = dir.flatten().filter_map(stem).collect();
        names.sort();
        names
    }

    fn bad(&self, path: &str, e: &toml::de::Error) -> BenchError {
        BenchError::Declaration { path: self.root.join(path), reason: e.to_string() }
    }
}
