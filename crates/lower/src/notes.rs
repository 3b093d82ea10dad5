//! What a reader wants to know of a value: where in the source it comes from, which variable it is, in which range.
//!
//! Needs: nothing.  Keeps: nothing of it is part of the meaning: functions that differ in notes alone are equal, and no pass asks for one.
//! Absent: values that passes make; most have none.
//! Trusted: nothing: nothing that ships is made of it.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Of one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Path of the file.
    pub file: Arc<str>,
    /// From 1.
    pub line: u32,
    /// Variable and range, such as `carry in 0..3`, where it is the value of one.
    pub variable: Option<Arc<str>>,
}

/// Of a function's values.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// Where the function itself begins.
    pub place: Option<Note>,
    /// By number.
    pub values: BTreeMap<u32, Note>,
}

impl PartialEq for Notes {
    fn eq(&self, _: &Notes) -> bool {
        true
    }
}

impl Eq for Notes {}

impl Notes {
    pub fn of(&self, value: u32) -> Option<&Note> {
        self.values.get(&value)
    }

    /// The function's file; nothing where that is not known.
    pub fn file(&self) -> &str {
        self.place.as_ref().map_or("", |p| &p.file)
    }

    /// `to` is what `from` says; nothing said, nothing noted.
    pub fn copy(&mut self, to: u32, from: Option<&Note>) {
        if let Some(note) = from {
            self.values.insert(to, note.clone());
        }
    }
}

impl Note {
    /// In a file that is not `here`, with its name.
    pub fn text(&self, here: &str) -> String {
        let stem = || self.file.rsplit('/').next().and_then(|f| f.split('.').next()).unwrap_or_default();
        let place = if *self.file == *here { self.line.to_string() } else { format!("{}:{}", stem(), self.line) };
        match &self.variable {
            Some(v) => format!("{place}: {v}"),
            None => place,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_other_files_have_a_name() {
        let note = |variable: Option<&str>| Note { file: "lib/field/fe25519.stk".into(), line: 7, variable: variable.map(Into::into) };
        assert_eq!(note(None).text("lib/field/fe25519.stk"), "7");
        assert_eq!(note(Some("c in 0..3")).text("lib/curve/edwards.stk"), "fe25519:7: c in 0..3");
    }
}
