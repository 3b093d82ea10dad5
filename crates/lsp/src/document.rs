//! Open documents, and what is known of each.

use santoku_driver::{Checked, Failure, Report};
use santoku_ir::Program;
use santoku_syntax::ast::File;
use std::sync::Arc;

/// A text in the editor.
pub struct Document {
    pub path: String,
    pub version: i32,
    pub text: String,
    pub tree: File,
    /// Of this very text or an older one: see [`Known::version`].
    pub known: Known,
    /// A proof was asked for and is not there yet.
    pub proving: bool,
}

/// What was found of a text.
#[derive(Default)]
pub struct Known {
    /// The version of the text that was looked at.
    pub version: i32,
    pub checked: Option<Arc<Checked>>,
    /// The program with proven ranges written into it.
    pub ranges: Option<Arc<Program>>,
    pub report: Option<Arc<Report>>,
    pub refused: Option<Failure>,
}

impl Document {
    pub fn new(path: String, version: i32, text: String) -> Document {
        let tree = parse(&text);
        Document { path, version, text, tree, known: Known::default(), proving: false }
    }

    pub fn change(&mut self, version: i32, text: String) {
        self.tree = parse(&text);
        self.version = version;
        self.text = text;
    }

    /// What is known of the text as it is now.
    pub fn current(&self) -> Option<&Known> {
        (self.known.version == self.version).then_some(&self.known)
    }
}

/// The tree of a text, as far as it has one.
pub fn parse(text: &str) -> File {
    santoku_syntax::parse(santoku_diag::FileId(0), text).0
}
