//! Tokens of the text form.

use super::ParseError;
use num_bigint::BigInt;

/// Longest number, in digits.
const DIGITS: usize = 20_000;

/// What a reference refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RefKind {
    Local,
    Const,
    Struct,
    Func,
    Spec,
    Var,
}

impl RefKind {
    /// The letter before the number.
    pub fn letter(self) -> &'static str {
        match self {
            RefKind::Local => "",
            RefKind::Const => "c",
            RefKind::Struct => "s",
            RefKind::Func => "f",
            RefKind::Spec => "p",
            RefKind::Var => "v",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Ident(String),
    Text(String),
    /// A number, with the width of a word literal (`255u8`).
    Number(BigInt, Option<u32>),
    Ref { kind: RefKind, id: u32, name: Option<String> },
    Symbol(&'static str),
    End,
}

/// Longest first, so that the first match is the longest.
const SYMBOLS: [&str; 39] = [
    "==>", "<<<", ">>>", "..<", "**", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "->", "..", "(", ")", "[", "]",
    "{", "}", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^", "=", ":", ";", ",", ".", "@", "!", "~",
];

pub(super) fn is_ident_start(c: u8) -> bool {
    c.is_ascii_alphabetic() || c == b'_'
}

pub(super) fn is_ident(c: u8) -> bool {
    is_ident_start(c) || c.is_ascii_digit() || c == b'.' || c == b'$'
}

/// All tokens with their lines, [`Token::End`] last.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, u32)>, ParseError> {
    let mut lexer = Lexer { bytes: text.as_bytes(), text, at: 0, line: 1 };
    let mut out = Vec::new();
    loop {
        lexer.space();
        let line = lexer.line;
        let token = lexer.token()?;
        let end = token == Token::End;
        out.push((token, line));
        if end {
            return Ok(out);
        }
    }
}

struct Lexer<'t> {
    bytes: &'t [u8],
    text: &'t str,
    at: usize,
    line: u32,
}

impl Lexer<'_> {
    fn error<T>(&self, message: &str) -> Result<T, ParseError> {
        Err(ParseError { line: self.line, message: message.to_string() })
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn space(&mut self) {
        while self.at < self.bytes.len() {
            match self.peek(0) {
                b'\n' => {
                    self.line = self.line.saturating_add(1);
                    self.at += 1;
                }
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'/' if self.peek(1) == b'/' => {
                    while self.at < self.bytes.len() && self.peek(0) != b'\n' {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    /// The longest run of bytes that satisfy `f`; only for tests that hold on ASCII bytes alone.
    fn run(&mut self, f: impl Fn(u8) -> bool) -> &str {
        let start = self.at;
        while self.at < self.bytes.len() && f(self.bytes[self.at]) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    fn token(&mut self) -> Result<Token, ParseError> {
        if self.at >= self.bytes.len() {
            return Ok(Token::End);
        }
        match self.peek(0) {
            b'"' => self.string(),
            b'#' => self.reference(None),
            c if c.is_ascii_digit() => self.number(false),
            b'-' if self.peek(1).is_ascii_digit() => {
                self.at += 1;
                self.number(true)
            }
            c if is_ident_start(c) => {
                let name = self.run(is_ident).to_string();
                match self.peek(0) {
                    b'#' => self.reference(Some(name)),
                    _ => Ok(Token::Ident(name)),
                }
            }
            _ => match SYMBOLS.iter().find(|s| self.bytes[self.at..].starts_with(s.as_bytes())) {
                Some(symbol) => {
                    self.at += symbol.len();
                    Ok(Token::Symbol(symbol))
                }
                None => self.error("this character has no meaning here"),
            },
        }
    }

    fn number(&mut self, negative: bool) -> Result<Token, ParseError> {
        let hex = self.peek(0) == b'0' && self.peek(1) == b'x';
        if hex {
            self.at += 2;
        }
        let digits = if hex { self.run(|c| c.is_ascii_hexdigit()) } else { self.run(|c| c.is_ascii_digit()) };
        if digits.len() > DIGITS {
            return self.error("this number has too many digits");
        }
        let Some(v) = BigInt::parse_bytes(digits.as_bytes(), if hex { 16 } else { 10 }) else {
            return self.error("this is no number");
        };
        let width = if self.peek(0) == b'u' {
            self.at += 1;
            Some(self.small()?)
        } else {
            None
        };
        Ok(Token::Number(if negative { -v } else { v }, width))
    }

    fn small(&mut self) -> Result<u32, ParseError> {
        match self.run(|c| c.is_ascii_digit()).parse() {
            Ok(n) => Ok(n),
            Err(_) => self.error("a number below 2^32 is expected"),
        }
    }

    fn reference(&mut self, name: Option<String>) -> Result<Token, ParseError> {
        self.at += 1;
        let kinds = [RefKind::Const, RefKind::Struct, RefKind::Func, RefKind::Spec, RefKind::Var];
        let kind = kinds.into_iter().find(|k| k.letter().as_bytes() == [self.peek(0)]).unwrap_or(RefKind::Local);
        self.at += kind.letter().len();
        Ok(Token::Ref { kind, id: self.small()?, name })
    }

    fn string(&mut self) -> Result<Token, ParseError> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let Some(c) = self.text[self.at..].chars().next() else { return self.error("a text does not end") };
            self.at += c.len_utf8();
            match c {
                '"' => return Ok(Token::Text(out)),
                '\\' => out.push(self.escape()?),
                '\n' => return self.error("a text does not end in its line"),
                c => out.push(c),
            }
        }
    }

    fn escape(&mut self) -> Result<char, ParseError> {
        let c = self.peek(0);
        self.at += 1;
        match c {
            b'"' => Ok('"'),
            b'\\' => Ok('\\'),
            b'n' => Ok('\n'),
            b'u' if self.peek(0) == b'{' => {
                self.at += 1;
                let code = u32::from_str_radix(self.run(|c| c.is_ascii_hexdigit()), 16).ok().and_then(char::from_u32);
                match (code, self.peek(0)) {
                    (Some(c), b'}') => {
                        self.at += 1;
                        Ok(c)
                    }
                    _ => self.error("this is no character code"),
                }
            }
            _ => {
                // The byte may be the start of a longer character: step back onto it.
                self.at -= 1;
                self.error("this escape has no meaning")
            }
        }
    }
}

/// `s` as it stands in the text.
pub(super) fn quoted(s: &str) -> String {
    let mut out = String::from("\"");
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push_str(&format!("\\u{{{:x}}}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
