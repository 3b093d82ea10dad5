//! The declarations in the tree: which primitives and targets there are.

pub use crate::row::{Cipher, Primitive};
use crate::BenchError;
use santoku_driver::{read_choices, read_machine, unknown_target, Failure, Target};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    primitive: Vec<Primitive>,
    #[serde(default)]
    cipher: Vec<Cipher>,
}

/// Gives primitives what their parts have of an interface.
fn put_together(all: &mut [Primitive]) -> Result<(), String> {
    let before = all.to_vec();
    for row in all {
        for name in row.parts.clone() {
            match before.iter().find(|p| p.name == name && p.parts.is_empty()) {
                Some(part) => row.take_in(part),
                None => return Err(format!("{:?}: there is no primitive {name:?} without parts of its own", row.name)),
            }
        }
    }
    Ok(())
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
        Ok(self.table()?.primitive)
    }

    pub fn ciphers(&self) -> Result<Vec<Cipher>, BenchError> {
        Ok(self.table()?.cipher)
    }

    fn table(&self) -> Result<Table, BenchError> {
        let path = "lib/primitives.toml";
        let bad = |reason: String| BenchError::Declaration { path: self.root.join(path), reason };
        let mut table: Table = toml::from_str(&self.read(path)?).map_err(|e| bad(e.to_string()))?;
        if table.primitive.is_empty() {
            return Err(bad("it names no primitive".into()));
        }
        put_together(&mut table.primitive).map_err(bad)?;
        let mut seen = BTreeSet::new();
        for row in &table.primitive {
            if let Some(reason) = row.wrong() {
                return Err(bad(format!("{:?}: {reason}", row.name)));
            }
            if let Some(twice) = [("name", &row.name), ("unit", &row.unit)].into_iter().find(|one| !seen.insert(*one)) {
                return Err(bad(format!("two rows have the {} {:?}", twice.0, twice.1)));
            }
        }
        for row in &table.cipher {
            if let Some(reason) = row.wrong() {
                return Err(bad(format!("{:?}: {reason}", row.name)));
            }
            if !seen.insert(("name", &row.name)) {
                return Err(bad(format!("two rows have the name {:?}", row.name)));
            }
        }
        Ok(table)
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
