//! What files say of themselves: the claims they are trusted for.

use crate::Source;
use std::collections::{BTreeMap, BTreeSet};

/// Of each file with such a header: the claims it names.
pub(crate) type Marks = BTreeMap<String, BTreeSet<String>>;

const MARK: &str = "//! Trusted: ";

pub(crate) fn marks(sources: &[Source]) -> Result<Marks, Vec<String>> {
    let (mut marks, mut wrong) = (Marks::new(), Vec::new());
    for s in sources.iter().filter(|s| s.path.ends_with(".rs")) {
        let header = s.text.lines().take_while(|l| l.starts_with("//!"));
        let all: Vec<&str> = header.filter_map(|l| l.strip_prefix(MARK)).collect();
        let names: BTreeSet<String> = match all[..] {
            [] => continue,
            [one] if one.starts_with("nothing: ") && one.len() > 15 => BTreeSet::new(),
            [one] => one.trim_end_matches('.').split(", ").map(str::to_string).collect(),
            _ => BTreeSet::from(["twice".to_string()]),
        };
        for name in names.iter().filter(|n| !CLAIMS.iter().any(|(c, _)| c == n)) {
            wrong.push(format!("{}: `{name}` is no claim", s.path));
        }
        marks.insert(s.path.clone(), names);
    }
    if wrong.is_empty() { Ok(marks) } else { Err(wrong) }
}

/// The header that holds for a file: its own, or that of the nearest module or crate around it.
pub(crate) fn of<'m>(marks: &'m Marks, path: &str) -> Option<&'m BTreeSet<String>> {
    if let Some(own) = marks.get(path) {
        return Some(own);
    }
    let mut folder = path;
    while let Some((up, _)) = folder.rsplit_once('/') {
        folder = up;
        let around = [format!("{folder}/mod.rs"), format!("{folder}.rs"), format!("{folder}/lib.rs")];
        if let Some(found) = around.iter().filter(|a| *a != path).find_map(|a| marks.get(a)) {
            return Some(found);
        }
    }
    None
}

/// Every claim: the name that headers use, and what it says.
pub const CLAIMS: [(&str, &str); 8] = [
    ("safe", "the core program is safe: ranges, indices, written values, widths, shift counts, secrecy, termination"),
    ("field", "the core program is safe, and field code equals its integer specification (`ensures`, `requires`) in every clause that the judge of meaning accepts"),
    ("engines", "beside `field`, the clauses that it does not accept, which `santoku prove` names: searched for, or all inputs run"),
    ("c", "the C text computes the core program"),
    ("bytes", "machine code computes the core program, in every function that the judge of bytes accepts"),
    ("leaks", "machine code leaks no secret by branches, addresses or times of operations, in every function that the judge of bytes accepts"),
    ("certifier", "both of all other functions that `santoku certify` proves, whose reports say `believed`"),
    ("text", "the core program is what its source text says"),
];
