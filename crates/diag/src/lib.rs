//! Spans, source files, diagnostics as values, and the registry of diagnostic codes.
//!
//! Needs: nothing of ours.  Keeps: every message a user can see has a code, a place, a reason and a way out.
//! Absent on purpose: terminal detection and I/O ([`render`] returns text; `cli` prints it).
//! Trusted: nothing: messages and places.

/// A file known to this run: index into [`Sources`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A byte range of a source file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
}

impl Span {
    /// From the start of `self` to the end of `other` (same file).
    pub fn to(self, other: Span) -> Span {
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// The source texts of one run.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<(String, String)>,
}

impl Sources {
    /// Adds a file by display name and text.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        self.files.push((name.into(), text.into()));
        FileId(self.files.len() as u32 - 1)
    }
    /// Whether `file` names one of these texts.
    pub fn contains(&self, file: FileId) -> bool {
        (file.0 as usize) < self.files.len()
    }
    pub fn name(&self, file: FileId) -> &str {
        &self.files[file.0 as usize].0
    }
    pub fn text(&self, file: FileId) -> &str {
        &self.files[file.0 as usize].1
    }
    pub fn names(&self) -> Vec<String> {
        self.files.iter().map(|f| f.0.clone()).collect()
    }
    /// 1-based line and column (in characters) of a byte offset.
    pub fn line_col(&self, file: FileId, offset: u32) -> (u32, u32) {
        let text = self.text(file);
        let before = &text[..text.floor_char_boundary_compat(offset as usize)];
        let line = before.matches('\n').count() as u32 + 1;
        let col = before.rsplit('\n').next().map_or(0, |l| l.chars().count()) as u32 + 1;
        (line, col)
    }
}

trait FloorBoundary {
    fn floor_char_boundary_compat(&self, i: usize) -> usize;
}

impl FloorBoundary for str {
    fn floor_char_boundary_compat(&self, i: usize) -> usize {
        let mut i = i.min(self.len());
        while !self.is_char_boundary(i) {
            i -= 1;
        }
        i
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Error,
    Warning,
}

/// A message for the user. `code` is in kebab case and registered in [`CODES`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    pub code: &'static str,
    /// What is wrong, without a final stop.
    pub title: String,
    /// Primary place and the short text under it; None for faults without a place (missing file).
    pub primary: Option<(Span, String)>,
    /// Further places with their texts.
    pub secondary: Vec<(Span, String)>,
    /// `why:`, `declared:`, `witness:` ... lines.
    pub notes: Vec<String>,
    /// `try:` line: the way out.
    pub help: Option<String>,
    /// `more:` line: what to read.
    pub more: Option<String>,
}

impl Diagnostic {
    pub fn error(code: &'static str, title: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Error, code, title: title.into(), primary: None, secondary: vec![], notes: vec![], help: None, more: None }
    }
    pub fn warning(code: &'static str, title: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, title) }
    }
    pub fn at(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.primary = Some((span, label.into()));
        self
    }
    pub fn also(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.secondary.push((span, label.into()));
        self
    }
    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(text.into());
        self
    }
    pub fn more(mut self, text: impl Into<String>) -> Diagnostic {
        self.more = Some(text.into());
        self
    }
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }
}

/// Every diagnostic code, its one-line summary; `docs/diagnostics/<code>.md` is its page.
pub mod codes;
pub mod render;
pub use codes::CODES;
