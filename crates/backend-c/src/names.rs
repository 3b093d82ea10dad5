//! C identifiers for source names: unique, readable, never a C keyword or a helper of ours.

use std::collections::{BTreeMap, BTreeSet};

const RESERVED: &[&str] = &[
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern", "float", "for",
    "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed", "sizeof", "static", "struct",
    "switch", "typedef", "union", "unsigned", "void", "volatile", "while", "main", "memcpy", "memset", "memmove", "asm", "errno",
    "bool", "true", "false", "complex", "unix", "linux", "index", "exp", "log", "y0", "y1", "j0", "j1", "yn", "jn", "V",
];

/// Replaces what C does not allow in a name.
pub fn mangle(name: &str) -> String {
    let mut s: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if s.is_empty() || s.starts_with(|c: char| c.is_ascii_digit()) {
        s.insert(0, '_');
    }
    if RESERVED.contains(&s.as_str()) || s.starts_with("stk_") || s.starts_with("STK_") {
        s.push('_');
    }
    s
}

/// Hands out names that are unique within one scope.
#[derive(Clone, Debug, Default)]
pub struct Names {
    used: BTreeSet<String>,
    next: BTreeMap<String, u32>,
}

impl Names {
    pub fn fresh(&mut self, name: &str) -> String {
        let base = mangle(name);
        if self.used.insert(base.clone()) {
            return base;
        }
        let n = self.next.entry(base.clone()).or_insert(1);
        loop {
            *n += 1;
            let candidate = format!("{base}_{n}");
            if self.used.insert(candidate.clone()) {
                return candidate;
            }
        }
    }
    pub fn reserve(&mut self, name: &str) {
        self.used.insert(name.to_string());
    }
}
