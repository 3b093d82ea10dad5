//! A project: the folder that `santoku.toml` stands in.
//!
//! Needs: the file.  Keeps: an unknown key, a name or a folder that is none is refused at its place.  Absent: what a target is (`common`).

use crate::files;
use santoku_diag::{Diagnostic, Sources, Span};
use santoku_driver::Failure;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// Its file.
pub const MANIFEST: &str = "santoku.toml";

/// What the file says.
#[derive(Debug)]
pub struct Project {
    /// The folder of the file. Descriptions of machines are looked for in its `targets` and `tuned`.
    pub root: PathBuf,
    pub name: String,
    pub version: String,
    /// Folder of the modules, from the current folder.
    pub library: PathBuf,
    /// What programs are for where no target is named; the first where there can be one only. Empty: the default of this command.
    pub targets: Vec<String>,
    /// Implementations of interfaces, behind those of `--impl`.
    pub impls: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    project: About,
    #[serde(default, rename = "impl")]
    impls: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    name: Spanned<String>,
    version: Spanned<String>,
    library: Option<Spanned<String>>,
    #[serde(default)]
    targets: Vec<String>,
}

impl Project {
    /// The project that holds `path`: `santoku.toml` in its folder or above; else in the current folder or above.
    ///
    /// # Errors
    /// `bad-project`; those of reading.
    pub fn of(path: &str) -> Result<Option<Project>, Failure> {
        let Some(root) = files::above(path, &|folder| folder.join(MANIFEST).is_file()) else { return Ok(None) };
        let file = files::join(&root, MANIFEST);
        read(&file, &files::read_entry(&file)?, root).map(Some)
    }

    /// The project of the current folder.
    ///
    /// # Errors
    /// `no-project`: there is none; those of [`Project::of`].
    pub fn here() -> Result<Project, Failure> {
        Project::of(MANIFEST)?.ok_or_else(|| {
            let d = Diagnostic::error("no-project", "no file is named, and this is no project");
            let d = d.note(format!("why: there is no `{MANIFEST}` in the current folder or above it"));
            files::refused(d.help("name files or folders, or make a project: `santoku new NAME`"))
        })
    }
}

/// Whether modules and units can have this name: a lower-case letter, then lower-case letters, digits and `_`.
pub fn plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Three numbers, and more behind `-` or `+` (Semantic Versioning 2.0.0, without its finer points).
fn is_version(text: &str) -> bool {
    let numbers = text.split(['-', '+']).next().unwrap_or("");
    let parts: Vec<&str> = numbers.split('.').collect();
    let rest = &text[numbers.len()..];
    parts.len() == 3
        && parts.iter().all(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()))
        && rest.len() != 1
        && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b"-+.".contains(&b))
}

fn read(path: &str, text: &str, root: PathBuf) -> Result<Project, Failure> {
    let refused = |at: Option<Range<usize>>, why: &str| {
        let mut sources = Sources::default();
        let file = sources.add(path, text);
        let d = Diagnostic::error("bad-project", format!("`{path}` does not describe a project"));
        let d = match at {
            Some(at) => d.at(Span { file, start: at.start as u32, end: at.end as u32 }, why),
            None => d.note(format!("why: {why}")),
        };
        Failure::refused(&sources, d.help("`santoku explain bad-project` shows a whole file"))
    };
    let said: Text = toml::from_str(text).map_err(|e| refused(e.span(), e.message()))?;
    let About { name, version, library, targets } = said.project;
    if !plain(name.as_ref()) {
        return Err(refused(Some(name.span()), "a name is lower-case letters, digits and `_`, a letter first"));
    }
    if !is_version(version.as_ref()) {
        return Err(refused(Some(version.span()), "a version is three numbers: \"0.1.0\""));
    }
    let (folder, at) = library.map_or(("lib".to_string(), None), |l| (l.get_ref().clone(), Some(l.span())));
    let library_path = if folder == "." { root.clone() } else { root.join(&folder) };
    let inside = Path::new(&folder).components().all(|c| matches!(c, std::path::Component::Normal(_) | std::path::Component::CurDir));
    if !inside || !(library_path.as_os_str().is_empty() || library_path.is_dir()) {
        return Err(refused(at, &format!("there is no folder `{folder}` inside the project; it holds the modules")));
    }
    Ok(Project { root, name: name.into_inner(), version: version.into_inner(), library: library_path, targets, impls: said.impls })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_versions() {
        assert!(plain("a") && plain("chacha20_b") && !plain("") && !plain("A") && !plain("9a") && !plain("a-b"));
        assert!(["0.1.0", "1.20.3-rc.1", "1.0.0+x"].iter().all(|v| is_version(v)));
        assert!(["", "1", "1.2", "1.2.3.4", "1..2", "1.2.x", "1.2.3-", "1.2.3 x"].iter().all(|v| !is_version(v)));
    }
}
