//! What the measuring commands share: the tree, progress, records, and faults of the workbench as messages.

use crate::{files, report};
use indicatif::{ProgressBar, ProgressStyle};
use santoku_diag::{Diagnostic, Sources};
use santoku_driver::Failure;
use santoku_lab::record::{Row, Run, Stamp};
use santoku_target::Level;
use santoku_workbench::primitives::Tree;
use santoku_workbench::BenchError;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The tree around the current folder.
pub fn tree() -> Result<Tree, Failure> {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    Tree::find(&here).ok_or_else(|| {
        let d = files::no_file("lib/primitives.toml");
        Failure::refused(&Sources::default(), d.help("this command works inside the source tree of the library"))
    })
}

/// `O2,Os`, in the order given.
pub fn levels(text: &str) -> Result<Vec<Level>, Failure> {
    let one = |wish: &str| {
        wish.trim().parse().map_err(|_| {
            let d = Diagnostic::error("bad-option", format!("`{}` is no level", wish.trim()));
            Failure::refused(&Sources::default(), d.help(format!("levels: {}; separate them by commas", Level::ALL.map(Level::name).join(", "))))
        })
    };
    text.split(',').map(one).collect()
}

/// The user's faults become messages, ours internal errors.
pub fn failure(e: BenchError) -> Failure {
    let refused = |d: Diagnostic| Failure::refused(&Sources::default(), d);
    match e {
        BenchError::Source(b) => Failure::Refused { sources: b.0, diagnostics: b.1 },
        BenchError::Declaration { path, reason } => {
            let d = Diagnostic::error("bad-description", format!("`{}` cannot be read", path.display()));
            let page = if path.ends_with("package.toml") { "docs/packages.md" } else { "docs/primitives.md" };
            refused(d.note(format!("why: {reason}")).help(format!("`{page}` describes the fields")))
        }
        BenchError::Unknown { what, name, known } => {
            let d = Diagnostic::error("bad-option", format!("there is no {what} `{name}`"));
            refused(d.help(format!("there are: {}", known.join(", "))))
        }
        BenchError::Io { path, reason } => {
            let d = Diagnostic::error("unreadable", format!("`{}` cannot be used", path.display()));
            refused(d.note(format!("why: {reason}")).help("check that it exists and its permissions"))
        }
        BenchError::Lab { what, reason } => {
            let d = Diagnostic::error("not-measured", format!("{what} was not measured"));
            refused(d.note(format!("why: {reason}")).help("`santoku explain not-measured`"))
        }
        BenchError::Differ { what, reason } => {
            let d = Diagnostic::error("not-measured", format!("{what} computes something else than what it is compared with"));
            refused(d.note(format!("why: {reason}")).help("compare functions that give the same results; `--input NAME=HEX` chooses what they are given"))
        }
        BenchError::Internal { stage, reason } => Failure::internal(&stage, reason),
        e @ BenchError::WrongResult { .. } => Failure::internal("lab", e.to_string()),
    }
}

/// A sign of life on a terminal; silent in a pipe.
pub struct Progress(ProgressBar);

impl Progress {
    /// `stage` is named should it fail by a fault of ours.
    pub fn start(stage: &str, what: &str) -> Progress {
        report::stage(stage);
        let style = ProgressStyle::with_template("{spinner} {elapsed_precise} {prefix}: {msg}");
        let bar = ProgressBar::new_spinner().with_prefix(what.to_string());
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        bar.enable_steady_tick(Duration::from_millis(200));
        Progress(bar)
    }

    pub fn tell(&self, what: &str) {
        self.0.set_message(what.to_string());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Writes the record of a run and further files beside its rows; gives the folder, from the root of the tree.
pub fn record(tree: &Tree, what: &str, rows: &[Row], more: &[(String, String)]) -> Result<PathBuf, Failure> {
    let run = Run { what: what.to_string(), rows: rows.to_vec() };
    let folder = run.write(&tree.root.join("lab/runs")).map_err(|e| failure(BenchError::lab(what, e)))?;
    files::write_all(&folder, more)?;
    Ok(folder.strip_prefix(&tree.root).map_or_else(|_| folder.clone(), Path::to_path_buf))
}

pub fn stamp(tree: &Tree) -> Stamp {
    Stamp::now(&tree.root)
}

/// Writes one file, made whole or not at all.
pub fn write_picture(path: &Path, text: String) -> Result<(), Failure> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    files::write_all(folder, &[(name, text)])
}
