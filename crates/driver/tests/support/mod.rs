//! What tests with damaged texts share.

/// The text in pieces: words, and single other characters.
pub fn pieces(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for c in text.chars() {
        let word = c.is_alphanumeric() || c == '_';
        match out.last_mut().filter(|l| word && l.ends_with(|e: char| e.is_alphanumeric() || e == '_')) {
            Some(last) => last.push(c),
            None => out.push(c.to_string()),
        }
    }
    out
}
