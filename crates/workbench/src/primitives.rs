//! The declarations in the tree: which primitives and targets there are.

use crate::BenchError;
use santoku_driver::{read_choices, read_machine, unknown_target, Failure, Target};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

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
    /// Kept in `dist/`, with its objects certified. A new primitive is built and tested on every target before that.
    #[serde(default = "yes")]
    pub ship: bool,
}

fn yes() -> bool {
    true
}

impl Primitive {
    /// Why the row describes nothing that can be made: names become those of files and folders, the title stands in a comment of C.
    fn wrong(&self) -> Option<String> {
        let word = |s: &str, more: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || more.contains(char::from(b)));
        let inside = |s: &str| !s.is_empty() && Path::new(s).components().all(|c| matches!(c, Component::Normal(_)));
        let files = [Some(&self.entry), self.api_source.as_ref(), self.api_header.as_ref()];
        let distinct: BTreeSet<&String> = self.targets.iter().collect();
        if !word(&self.name, "._") || self.name.split('.').any(str::is_empty) {
            return Some("a name is lower-case words and digits, joined by dots".into());
        }
        if !word(&self.unit, "_") {
            return Some(format!("the unit {:?} is not of lower-case letters, digits and `_`", self.unit));
        }
        if self.title.trim().is_empty() || self.title.contains("*/") || self.title.chars().any(char::is_control) {
            return Some("the title is not one line that can stand in a comment of C".into());
        }
        if let Some(path) = files.into_iter().flatten().find(|f| !inside(f)) {
            return Some(format!("{path:?} is not a path below the root of the tree"));
        }
        if self.targets.is_empty() || distinct.len() < self.targets.len() {
            return Some("`targets` names at least one target, and none twice".into());
        }
        None
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    primitive: Vec<Primitive>,
}

/// The tree: folder that holds `lib/`, `targets/` and `tuned/`.
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
        let bad = |reason: String| BenchError::Declaration { path: self.root.join(path), reason };
        let table: Table = toml::from_str(&self.read(path)?).map_err(|e| bad(e.to_string()))?;
        if table.primitive.is_empty() {
            return Err(bad("it names no primitive".into()));
        }
        let mut seen = BTreeSet::new();
        for row in &table.primitive {
            if let Some(reason) = row.wrong() {
                return Err(bad(format!("{:?}: {reason}", row.name)));
            }
            if let Some(twice) = [("name", &row.name), ("unit", &row.unit)].into_iter().find(|one| !seen.insert(*one)) {
                return Err(bad(format!("two rows have the {} {:?}", twice.0, twice.1)));
            }
        }
        Ok(table.primitive)
    }

    /// The primitives that `dist/` has.
    pub fn shipped(&self) -> Result<Vec<Primitive>, BenchError> {
        Ok(self.primitives()?.into_iter().filter(|p| p.ship).collect())
    }

    pub fn primitive(&self, name: &str) -> Result<Primitive, BenchError> {
        let all = self.primitives()?;
        let known = all.iter().map(|p| p.name.clone()).collect();
        all.into_iter().find(|p| p.name == name).ok_or(BenchError::Unknown { what: "primitive", name: name.into(), known })
    }

    /// A target: a file of `tuned/` or `targets/`.
    ///
    /// # Errors
    /// `Source`: there is no such target, or its file does not describe one.
    pub fn target(&self, name: &str) -> Result<Target, BenchError> {
        let known = self.target_names();
        if !known.iter().any(|k| k == name) {
            return Err(unknown_target(name, &known).into());
        }
        let choices = format!("tuned/{name}.toml");
        if !self.root.join(&choices).is_file() {
            return Ok(self.machine(name)?.ok_or_else(|| unknown_target(name, &known))?);
        }
        let text = self.read(&choices)?;
        Ok(read_choices(name, &choices, &text, &mut |of| self.machine(of))?)
    }

    fn machine(&self, name: &str) -> Result<Option<Target>, Failure> {
        let path = format!("targets/{name}.toml");
        match std::fs::read_to_string(self.root.join(&path)) {
            Ok(text) => read_machine(name, &path, &text).map(Some),
            Err(_) => Ok(None),
        }
    }

    /// Names of all targets, sorted.
    pub fn target_names(&self) -> Vec<String> {
        let stem = |e: std::fs::DirEntry| e.file_name().to_str()?.strip_suffix(".toml").map(str::to_string);
        let folders = ["targets", "tuned"].into_iter().flat_map(|folder| std::fs::read_dir(self.root.join(folder)).into_iter().flatten());
        let mut names: Vec<String> = folders.flatten().filter_map(stem).filter(|name| name != "compilers").collect();
        names.sort();
        names
    }
}
