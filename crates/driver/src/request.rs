//! What is asked of the pipeline.

use crate::target::Target;
use santoku_diag::Diagnostic;
use std::collections::BTreeMap;

/// Gives the text of a path: `Ok(None)` where there is no file, a diagnostic where there is one that cannot be used.
pub type Loader<'a> = dyn FnMut(&str) -> Result<Option<String>, Diagnostic> + 'a;

/// What is to be compiled, for which target, and how interfaces are served.
#[derive(Clone, Debug)]
pub struct Request {
    /// Path of the file, as the loader understands it.
    pub entry: String,
    pub target: Target,
    /// Library roots, searched in order after the importing file's folder.
    pub roots: Vec<String>,
    /// `--impl`: interface to variant. Goes before the target's choices.
    pub impls: BTreeMap<String, String>,
    /// Paths of the programs beside the entry and below the roots: where an interface may be meant by its last name, and
    /// what messages list.
    pub library: Vec<String>,
}

impl Request {
    /// A program without a library.
    pub fn new(entry: impl Into<String>, target: Target) -> Request {
        Request { entry: entry.into(), target, roots: vec![], impls: BTreeMap::new(), library: vec![] }
    }
}
