//! Text to tokens, in one pass, linear in the length of the text.
//!
//! Keeps: tokens cover the text in order; every fault is reported and the scan goes on behind it.

use crate::token::{Comment, Tok, Token, KEYWORDS, P, PUNCTS};
use num_bigint::BigInt;
use santoku_diag::{Diagnostic, FileId, Span};

/// Integer literals are at most 2^this.
pub const INT_BITS_MAX: u64 = 4096;
/// Decimal digits of 2^4096: a literal with more is refused before it is converted.
const DECIMAL_DIGITS_MAX: usize = 1234;

/// The tokens of a file and their payloads.
#[derive(Debug, Default)]
pub struct Lexed {
    /// Never empty: the last is `Eof`.
    pub tokens: Vec<Token>,
    pub comments: Vec<Comment>,
    pub ints: Vec<BigInt>,
    pub bytes: Vec<Vec<u8>>,
    pub strings: Vec<String>,
    pub errors: Vec<Diagnostic>,
}

struct Lexer<'a> {
    file: FileId,
    text: &'a str,
    pos: usize,
    /// Open brackets: the newline rule asks only for the innermost.
    open: Vec<P>,
    line_start: bool,
    spaced: bool,
    out: Lexed,
}

/// Scans a whole file.
pub fn lex(file: FileId, text: &str) -> Lexed {
    let mut lx = Lexer { file, text, pos: 0, open: Vec::new(), line_start: true, spaced: true, out: Lexed::default() };
    if text.starts_with('\u{feff}') {
        lx.pos = 3;
    }
    if let Some((at, c)) = text.char_indices().find(|(_, c)| is_bidi(*c)) {
        lx.error(bidi_error(Span { file, start: at as u32, end: (at + c.len_utf8()) as u32 }));
    }
    lx.trivia();
    while lx.pos < text.len() {
        lx.token();
        lx.trivia();
    }
    lx.push(Tok::Eof, text.len());
    lx.out
}

fn is_ident_start(b: u8) -> bool {
    b.is_ascii_alphabetic() || b == b'_'
}

fn is_ident(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

/// Characters that reorder what a reader sees.
fn is_bidi(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

impl Lexer<'_> {
    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.pos + ahead).copied().unwrap_or(0)
    }

    fn span(&self, start: usize) -> Span {
        Span { file: self.file, start: start as u32, end: self.pos as u32 }
    }

    fn error(&mut self, d: Diagnostic) {
        self.out.errors.push(d);
    }

    /// Skips white space and comments, noting newlines.
    fn trivia(&mut self) {
        loop {
            match self.byte(0) {
                b'\n' => {
                    self.line_start = true;
                    self.spaced = true;
                    self.pos += 1;
                }
                b' ' | b'\t' | b'\r' => {
                    self.spaced = true;
                    self.pos += 1;
                }
                b'/' if self.byte(1) == b'/' => self.comment(),
                b'/' if self.byte(1) == b'*' => self.block_comment(),
                _ => return,
            }
        }
    }

    fn comment(&mut self) {
        let start = self.pos;
        let rest = &self.text[start..];
        let len = rest.find('\n').unwrap_or(rest.len());
        let body = rest[..len].trim_end();
        self.pos = start + len;
        self.spaced = true;
        self.out.comments.push(Comment {
            start: start as u32,
            end: (start + body.len()) as u32,
            doc: body.starts_with("///") && !body.starts_with("////"),
            line_start: self.line_start,
        });
    }

    fn block_comment(&mut self) {
        let start = self.pos;
        let rest = &self.text[start + 2..];
        self.pos = rest.find("*/").map_or(self.text.len(), |i| start + 2 + i + 2);
        self.spaced = true;
        self.line_start |= self.text[start..self.pos].contains('\n');
        let span = Span { end: start as u32 + 2, ..self.span(start) };
        self.error(
            Diagnostic::error("bad-character", "there are no block comments")
                .at(span, "`/*` opens nothing")
                .help("start every line of the comment with `//`"),
        );
    }

    fn push(&mut self, tok: Tok, start: usize) {
        let in_round = matches!(self.open.last(), Some(P::LParen | P::LBracket));
        let nl = self.line_start
            && !in_round
            && !self.out.tokens.last().is_some_and(|t| match t.tok {
                Tok::P(p) => p.continues_line(),
                Tok::Kw(k) => matches!(k, crate::token::Kw::Mod | crate::token::Kw::In),
                _ => false,
            });
        self.out.tokens.push(Token {
            tok,
            start: start as u32,
            end: self.pos as u32,
            line_start: self.line_start,
            nl,
            spaced: self.spaced,
            comments_before: self.out.comments.len() as u32,
        });
        self.line_start = false;
        self.spaced = false;
    }

    fn token(&mut self) {
        let start = self.pos;
        let b = self.byte(0);
        if b == b'"' {
            let text = self.quoted(start);
            self.out.strings.push(String::from_utf8_lossy(&text).into_owned());
            let index = self.out.strings.len() as u32 - 1;
            self.push(Tok::Str(index), start);
        } else if b == b'b' && self.byte(1) == b'"' {
            self.pos += 1;
            let bytes = self.quoted(start);
            self.push_bytes(bytes, false, start);
        } else if self.text[start..].starts_with("hex\"") {
            self.pos += 3;
            let bytes = self.hex_bytes(start);
            self.push_bytes(bytes, true, start);
        } else if is_ident_start(b) {
            self.word();
        } else if b.is_ascii_digit() {
            self.integer();
        } else {
            self.punct();
        }
    }

    fn push_bytes(&mut self, bytes: Vec<u8>, hex: bool, start: usize) {
        self.out.bytes.push(bytes);
        let index = self.out.bytes.len() as u32 - 1;
        self.push(Tok::Bytes { index, hex }, start);
    }

    fn word(&mut self) {
        let start = self.pos;
        while is_ident(self.byte(0)) {
            self.pos += 1;
        }
        let word = &self.text[start..self.pos];
        let tok = match KEYWORDS.binary_search_by(|(k, _)| (*k).cmp(word)) {
            Ok(i) => Tok::Kw(KEYWORDS[i].1),
            Err(_) => word_type(word).map_or(Tok::Ident, Tok::Word),
        };
        self.push(tok, start);
    }

    fn integer(&mut self) {
        let start = self.pos;
        let radix = match (self.byte(0), self.byte(1)) {
            (b'0', b'x') => 16,
            (b'0', b'b') => 2,
            _ => 10,
        };
        if radix != 10 {
            self.pos += 2;
        }
        let digits_at = self.pos;
        while is_ident(self.byte(0)) {
            self.pos += 1;
        }
        let digits: String = self.text[digits_at..self.pos].chars().filter(|c| *c != '_').collect();
        let value = self.integer_value(&digits, radix, start);
        self.out.ints.push(value);
        let index = self.out.ints.len() as u32 - 1;
        self.push(Tok::Int(index), start);
    }

    fn integer_value(&mut self, digits: &str, radix: u32, start: usize) -> BigInt {
        let span = self.span(start);
        let digits = digits.trim_start_matches('0');
        if let Some(bad) = digits.chars().find(|c| !c.is_digit(radix)) {
            self.error(
                Diagnostic::error("bad-literal", format!("`{bad}` is not a digit of base {radix}"))
                    .at(span, "in this integer")
                    .help("integers are written `123`, `0xff` or `0b101`; `_` may stand between digits"),
            );
            return BigInt::default();
        }
        if radix != 10 && span.end - span.start == 2 {
            self.error(Diagnostic::error("bad-literal", "integer without digits").at(span, "digits must follow").help("write `0` for zero"));
            return BigInt::default();
        }
        let digits_max = match radix {
            16 => INT_BITS_MAX as usize / 4 + 1,
            2 => INT_BITS_MAX as usize + 1,
            _ => DECIMAL_DIGITS_MAX,
        };
        let value = if digits.len() > digits_max { None } else { BigInt::parse_bytes(format!("0{digits}").as_bytes(), radix) };
        match value {
            Some(v) if v <= BigInt::from(1) << INT_BITS_MAX => v,
            _ => {
                self.error(
                    Diagnostic::error("integer-too-large", "integer literal above 2^4096")
                        .at(span, format!("{} digits", digits.len()))
                        .note("why: constants are exact integers, and 2^4096 is the largest this language computes with")
                        .help("store large data as a byte string: `hex\"..\"`"),
                );
                BigInt::default()
            }
        }
    }

    /// At an opening quote: the bytes up to the closing one. Strings end at the end of the line.
    fn quoted(&mut self, start: usize) -> Vec<u8> {
        self.pos += 1;
        let mut out = Vec::new();
        loop {
            let b = self.byte(0);
            if self.pos >= self.text.len() || b == b'\n' {
                let span = self.span(start);
                self.error(
                    Diagnostic::error("bad-literal", "string without a closing quote")
                        .at(span, "opened here, still open at the end of the line")
                        .help("close it with `\"`"),
                );
                return out;
            }
            self.pos += 1;
            match b {
                b'"' => return out,
                b'\\' => self.escape(&mut out),
                _ => out.push(b),
            }
        }
    }

    fn escape(&mut self, out: &mut Vec<u8>) {
        let at = self.pos - 1;
        let code = self.byte(0);
        let simple = match code {
            b'n' => Some(b'\n'),
            b't' => Some(b'\t'),
            b'r' => Some(b'\r'),
            b'0' => Some(0),
            b'\\' | b'"' => Some(code),
            _ => None,
        };
        if let Some(b) = simple {
            self.pos += 1;
            out.push(b);
            return;
        }
        let hex = self.text.get(self.pos + 1..self.pos + 3).filter(|h| code == b'x' && h.bytes().all(|b| b.is_ascii_hexdigit()));
        if let Some(h) = hex {
            out.push(u8::from_str_radix(h, 16).unwrap_or(0));
            self.pos += 3;
            return;
        }
        let len = self.text[self.pos..].chars().next().filter(|c| *c != '\n' && *c != '"').map_or(0, char::len_utf8);
        self.pos += len;
        let span = self.span(at);
        self.error(
            Diagnostic::error("bad-literal", "unknown escape in a string")
                .at(span, "not an escape")
                .help("the escapes are `\\n` `\\t` `\\r` `\\0` `\\\\` `\\\"` and `\\xHH`"),
        );
    }

    /// At the quote of `hex"..."`; white space, newlines too, may stand between digits.
    fn hex_bytes(&mut self, start: usize) -> Vec<u8> {
        self.pos += 1;
        let mut nibbles: Vec<u8> = Vec::new();
        let fault = loop {
            let Some(c) = self.text[self.pos..].chars().next() else { break Some("byte string without a closing quote") };
            if !(c == '"' || c.is_ascii_whitespace() || c.is_ascii_hexdigit()) {
                // The scan resumes behind the closing quote of this line, if there is one.
                let line = &self.text[self.pos..];
                let line_len = line.find('\n').unwrap_or(line.len());
                self.pos += line[..line_len].find('"').map_or(line_len, |i| i + 1);
                break Some("byte string with a character that is not a hexadecimal digit");
            }
            self.pos += c.len_utf8();
            match c {
                '"' if nibbles.len() % 2 == 1 => break Some("byte string with half a byte"),
                '"' => break None,
                _ => nibbles.extend(c.to_digit(16).map(|d| d as u8)),
            }
        };
        if let Some(title) = fault {
            let span = self.span(start);
            self.error(
                Diagnostic::error("bad-literal", title)
                    .at(span, "in this byte string")
                    .help("`hex\"00 ff\"` takes pairs of hexadecimal digits, with white space where you like"),
            );
        }
        nibbles.chunks_exact(2).map(|p| p[0] << 4 | p[1]).collect()
    }

    fn punct(&mut self) {
        let start = self.pos;
        let rest = &self.text[start..];
        if let Some((text, p)) = PUNCTS.iter().find(|(text, _)| rest.starts_with(text)) {
            self.pos += text.len();
            // The newline flag of a closing bracket is decided inside, of an opening one outside.
            self.push(Tok::P(*p), start);
            self.bracket(*p);
            return;
        }
        // One report for a run of such characters.
        let len = rest.find(|c: char| c.is_ascii()).unwrap_or(rest.len()).max(rest.chars().next().map_or(1, char::len_utf8));
        self.pos += len;
        self.spaced = true;
        let span = self.span(start);
        let c = rest.chars().next().unwrap_or(' ');
        let shown = if c.is_control() || c == '\u{feff}' || is_bidi(c) { format!("U+{:04X}", c as u32) } else { format!("`{c}`") };
        self.error(
            Diagnostic::error("bad-character", format!("{shown} has no meaning here"))
                .at(span, "not part of the language")
                .help("outside comments and strings, a program is ASCII, and `≡`"),
        );
    }

    /// Keeps the stack of open brackets. A `}` also closes round brackets left open inside its block,
    /// so that one forgotten `)` does not swallow the newlines of the rest of the file.
    fn bracket(&mut self, p: P) {
        match p {
            P::LParen | P::LBracket | P::LBrace => self.open.push(p),
            P::RParen if self.open.last() == Some(&P::LParen) => drop(self.open.pop()),
            P::RBracket if self.open.last() == Some(&P::LBracket) => drop(self.open.pop()),
            P::RBrace => {
                while self.open.pop().is_some_and(|o| o != P::LBrace) {}
            }
            _ => {}
        }
    }
}

fn bidi_error(span: Span) -> Diagnostic {
    Diagnostic::error("bad-character", "a character that changes the direction of text")
        .at(span, "here")
        .note("why: with it, a program can read differently from what is compiled")
        .help("remove it")
}

/// `u1 .. u128`
fn word_type(word: &str) -> Option<u32> {
    let digits = word.strip_prefix('u')?;
    if digits.is_empty() || digits.len() > 3 || digits.starts_with('0') || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().filter(|n| (1..=128).contains(n))
}
