//! Wrong expressions beside right ones, chosen when the program runs.

use std::path::Path;

pub struct Wrong<'t> {
    /// Of the module of mistakes: whether it is chosen.
    pub when: String,
    pub what: &'t str,
    pub right: &'t str,
    pub wrong: &'t str,
}

/// Part of a file that some mistakes replace.
struct Span<'t> {
    from: usize,
    to: usize,
    of: Vec<&'t Wrong<'t>>,
}

/// The file with all its mistakes. A right expression that is not there exactly once stops the build: the table is out of date.
pub fn spliced(path: &Path, text: &str, wrong: &[Wrong]) -> String {
    // Tests inside the file are no rules of the prover.
    let code = &text[..text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len())];
    let mut spans: Vec<Span> = Vec::new();
    for w in wrong {
        let found: Vec<usize> = code.match_indices(w.right).map(|(at, _)| at).collect();
        let [from] = found[..] else { panic!("{}: {}: `{}` is there {} times", path.display(), w.what, w.right, found.len()) };
        let to = from + w.right.len();
        match spans.iter_mut().find(|s| (s.from, s.to) == (from, to)) {
            Some(s) => s.of.push(w),
            None => spans.push(Span { from, to, of: vec![w] }),
        }
    }
    spans.sort_by_key(|s| (s.from, std::cmp::Reverse(s.to)));
    for (a, b) in spans.iter().flat_map(|a| spans.iter().map(move |b| (a, b))) {
        assert!(!(a.from < b.from && b.from < a.to && a.to < b.to), "{}: {} and {} overlap", path.display(), a.of[0].what, b.of[0].what);
    }
    written(text, (0, text.len()), &spans)
}

/// The text between two places with the given spans inside it, outer before inner.
fn written(text: &str, (from, to): (usize, usize), spans: &[Span]) -> String {
    let (mut out, mut at, mut i) = (String::new(), from, 0);
    while i < spans.len() {
        let s = &spans[i];
        let inner = spans[i + 1..].iter().take_while(|t| t.to <= s.to).count();
        out.push_str(&text[at..s.from]);
        out.push('(');
        for w in &s.of {
            out.push_str(&format!("if crate::mistake::{} {{ {} }} else ", w.when, w.wrong));
        }
        out.push_str(&format!("{{ {} }})", written(text, (s.from, s.to), &spans[i + 1..=i + inner])));
        (at, i) = (s.to, i + 1 + inner);
    }
    out.push_str(&text[at..to]);
    out
}
