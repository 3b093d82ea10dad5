//! Behind an instruction, where in the source its result comes from, which variable it is, and its range.
//! Trusted: nothing: the certifier looks at the bytes.

use santoku_lower::Note;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

/// Where comments begin, counted from the instruction.
const COLUMN: usize = 32;

pub(crate) struct Comments<'n> {
    /// The function's file: places there are lines alone.
    pub file: &'n str,
    pub notes: &'n BTreeMap<u32, Note>,
    /// The place in the last comment.
    pub last: Option<(Arc<str>, u32)>,
}

impl Comments<'_> {
    /// Puts a comment on the last line of the text, whose result is this register. Another instruction of the same line of the source gets one
    /// only where a variable has its value.
    pub fn behind(&mut self, text: &mut String, of: Option<u32>) {
        let Some(note) = of.and_then(|r| self.notes.get(&r)) else { return };
        let place = Some((note.file.clone(), note.line));
        if note.variable.is_none() && place == self.last {
            return;
        }
        self.last = place;
        text.truncate(text.trim_end().len());
        let line = text.lines().next_back().unwrap_or_default().trim_start();
        let pad = COLUMN.saturating_sub(line.chars().count());
        let _ = writeln!(text, "{:pad$} # {}", "", note.text(self.file));
    }
}
