//! The library inside of this command: what programs use that have none of their own.
//!
//! Needs: nothing.  Keeps: the texts of `lib/` as they were when the command was built.  Absent: files.

include!(concat!(env!("OUT_DIR"), "/library.rs"));

/// Root of its paths. No file system has a folder of this name beside a program.
pub const ROOT: &str = "santoku:lib";

/// The text at a path below [`ROOT`]; `None`: another root's, or there is none.
pub fn text(path: &str) -> Option<&'static str> {
    let relative = below(path)?;
    LIBRARY.binary_search_by_key(&relative, |(name, _)| name).ok().map(|at| LIBRARY[at].1)
}

/// The path without the root.
pub fn below(path: &str) -> Option<&str> {
    path.strip_prefix(ROOT)?.strip_prefix('/')
}

/// Paths of all programs but those that one of these roots has under the same name.
pub fn programs(hidden: impl Fn(&str) -> bool) -> Vec<String> {
    LIBRARY.iter().filter(|(name, _)| !hidden(name)).map(|(name, _)| format!("{ROOT}/{name}")).collect()
}
