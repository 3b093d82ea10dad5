//! The declarations in the tree: which primitives and targets there are.

use crate::BenchError;
use santoku_driver::{unknown_target, Target};
use serde::Deserialize;
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

    /// # Errors
    /// `Source`: there is no such target, or its file does not describe one.
    pub fn target(&self, name: &str) -> Result<Target, BenchError> {
        let known = self.target_names();
        if !known.iter().any(|k| k == name) {
            return Err(unknown_target(name, &known).into());
        }
        let path = format!("tuned/{name}.toml");
        Ok(Target::parse(name, &path, &self.read(&path)?)?)
    }

    fn target_names(&self) -> Vec<String> {
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
