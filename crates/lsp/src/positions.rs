//! Places in a text: bytes here, lines and columns at the editor.

use lsp_types::{Position, PositionEncodingKind, Range};

/// How the editor counts columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    Utf8,
    Utf16,
}

impl Columns {
    /// UTF-8 if the editor offers it, else what every editor has to know.
    pub fn of(offered: Option<&[PositionEncodingKind]>) -> Columns {
        if offered.is_some_and(|all| all.contains(&PositionEncodingKind::UTF8)) { Columns::Utf8 } else { Columns::Utf16 }
    }

    pub fn kind(self) -> PositionEncodingKind {
        match self {
            Columns::Utf8 => PositionEncodingKind::UTF8,
            Columns::Utf16 => PositionEncodingKind::UTF16,
        }
    }

    fn width(self, text: &str) -> u32 {
        match self {
            Columns::Utf8 => text.len() as u32,
            Columns::Utf16 => text.encode_utf16().count() as u32,
        }
    }

    /// The position of a byte; one inside a character counts as its start, one behind the end as the end.
    pub fn position(self, text: &str, offset: u32) -> Position {
        let mut at = (offset as usize).min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let start = text[..at].rfind('\n').map_or(0, |n| n + 1);
        Position { line: text[..at].matches('\n').count() as u32, character: self.width(&text[start..at]) }
    }

    pub fn range(self, text: &str, start: u32, end: u32) -> Range {
        Range { start: self.position(text, start), end: self.position(text, end) }
    }

    /// The byte at a position; one behind the end of its line is the end of the line, one behind the last line the end of the text.
    pub fn offset(self, text: &str, at: Position) -> u32 {
        let mut start = 0;
        for _ in 0..at.line {
            match text[start..].find('\n') {
                Some(n) => start += n + 1,
                None => return text.len() as u32,
            }
        }
        let line = text[start..].split(['\n', '\r']).next().unwrap_or_default();
        let mut column = 0;
        for (byte, c) in line.char_indices() {
            if column >= at.character {
                return (start + byte) as u32;
            }
            column += self.width(c.encode_utf8(&mut [0; 4]));
        }
        (start + line.len()) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every boundary of a text comes back, in both ways of counting.
    #[test]
    fn places_come_back() {
        let text = "fn f() {\r\n  a ≡ b // 𝔽\n}\n";
        for columns in [Columns::Utf8, Columns::Utf16] {
            for at in (0..=text.len()).filter(|i| text.is_char_boundary(*i) && !text[..*i].ends_with('\r')) {
                assert_eq!(columns.offset(text, columns.position(text, at as u32)), at as u32, "{columns:?} {at}");
            }
        }
        let at = text.find('}').unwrap() as u32 - 1;
        assert_eq!(Columns::Utf16.position(text, at), Position { line: 1, character: 13 });
        assert_eq!(Columns::Utf8.position(text, at), Position { line: 1, character: 17 });
    }

    #[test]
    fn what_lies_outside_is_the_nearest() {
        let at = |line, character| Columns::Utf16.offset("ab\ncd", Position { line, character });
        assert_eq!((at(0, 9), at(1, 1), at(1, 9), at(7, 0)), (2, 4, 5, 5));
        assert_eq!(Columns::Utf16.position("ab", 9), Position { line: 0, character: 2 });
        assert_eq!(Columns::Utf16.position("é", 1), Position { line: 0, character: 0 });
    }
}
