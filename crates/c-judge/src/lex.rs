//! Words of C text. Comments and space are between words; a line of the preprocessor is none.

use num_bigint::BigInt;
use santoku_num::Int;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    Name(String),
    /// `u` behind it.
    Number(Int, bool),
    Mark(&'static str),
}

/// Longest first.
const MARKS: [&str; 38] = [
    "<<", ">>", "<=", ">=", "==", "!=", "|=", "->", "++", "--", "&&", "||", "+=", "-=", "(", ")", "[", "]", "{", "}", ",", ";", "=", "<", ">", "+", "-", "*", "/",
    "%", "&", "|", "^", "~", "?", ":", ".", "!",
];

/// The words of `text`, each with its line, counted from 1; or the line that has none.
pub fn words(text: &str) -> Result<Vec<(Word, usize)>, usize> {
    let (mut out, mut rest, mut line) = (vec![], text, 1);
    while let Some(c) = rest.chars().next() {
        let taken = if c.is_whitespace() {
            c.len_utf8()
        } else if rest.starts_with("/*") {
            rest.find("*/").ok_or(line)? + 2
        } else if c.is_ascii_alphabetic() || c == '_' {
            let n = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            out.push((Word::Name(rest[..n].to_string()), line));
            n
        } else if c.is_ascii_digit() {
            let n = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
            out.push((number(&rest[..n]).ok_or(line)?, line));
            n
        } else {
            let mark = MARKS.iter().find(|m| rest.starts_with(**m)).ok_or(line)?;
            out.push((Word::Mark(mark), line));
            mark.len()
        };
        line += rest[..taken].matches('\n').count();
        rest = &rest[taken..];
    }
    Ok(out)
}

/// Decimal or hexadecimal; a number that begins with 0 would be octal.
fn number(text: &str) -> Option<Word> {
    let (digits, unsigned) = text.strip_suffix('u').map_or((text, false), |d| (d, true));
    let value = match digits.strip_prefix("0x") {
        Some(hex) => BigInt::parse_bytes(hex.as_bytes(), 16)?,
        None if digits.len() > 1 && digits.starts_with('0') => return None,
        None => BigInt::parse_bytes(digits.as_bytes(), 10)?,
    };
    Some(Word::Number(Int::from(value), unsigned))
}
