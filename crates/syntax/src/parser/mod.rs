//! Tokens to tree: recursive descent, with recovery at statements and items.
//!
//! Keeps: an error is reported once, where it stands, and parsing goes on behind it; every loop consumes a token or ends.

mod expr;
mod item;
mod module;
mod stmt;
mod ty;

use crate::ast::{File, Ident, Path};
use crate::lexer::{lex, Lexed};
use crate::token::{Kw, Tok, Token, KEYWORDS, P};
use santoku_diag::{Diagnostic, FileId, Span};

/// Bytes of a source file, at most.
pub const FILE_BYTES_MAX: usize = 4 << 20;
/// Brackets, blocks and types inside one another, at most.
pub const NESTING_MAX: u32 = 100;
/// Height of an expression tree, at most: long operator chains count one per operator.
pub const DEPTH_MAX: u32 = 400;
/// Errors reported per file, at most.
const ERRORS_MAX: usize = 50;

/// The error has been reported already; who catches it resynchronises.
#[derive(Debug)]
pub(crate) struct Reported;
pub(crate) type Parsed<T> = Result<T, Reported>;

/// What the parser knows of a token and its text does not tell: the formatter reads it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// First token of an item, statement, or interface member.
    pub starts: bool,
    /// `-` with one operand.
    pub unary: bool,
    /// `<` or `>` around generics.
    pub angle: bool,
    /// `{` or `}` around statements or interface members (not around fields).
    pub block: bool,
    /// `requires`, `ensures`, `invariant`: on a line of its own.
    pub clause: bool,
    /// `^` of a power: no spaces.
    pub power: bool,
}

pub(crate) struct Parser<'a> {
    pub file: FileId,
    pub text: &'a str,
    pub lexed: Lexed,
    pub pos: usize,
    pub errors: Vec<Diagnostic>,
    pub marks: Vec<Mark>,
    pub depth: u32,
    /// Height of the highest expression tree parsed since the enclosing construct began.
    pub height: u32,
    /// Nothing more is reported: the limit of errors or of nesting was met.
    pub gave_up: bool,
}

/// Parses a whole file. The tree holds what could be understood; a program is well-formed only if no error is returned.
///
/// Codes: `syntax`, `bad-character`, `bad-literal`, `integer-too-large`, `reserved-word`, `comparison-chain`, `power-spacing`,
/// `not-a-place`, `unused-value`, `unclosed`, `nesting-too-deep`, `file-too-large`, `too-many-errors`.
pub fn parse(file: FileId, text: &str) -> (File, Vec<Diagnostic>) {
    let parsed = parse_marked(file, text);
    (parsed.tree, parsed.errors)
}

/// A parse with what the formatter needs besides the tree.
pub(crate) struct Marked {
    pub tree: File,
    pub errors: Vec<Diagnostic>,
    pub lexed: Lexed,
    pub marks: Vec<Mark>,
}

pub(crate) fn parse_marked(file: FileId, text: &str) -> Marked {
    if text.len() > FILE_BYTES_MAX {
        let d = Diagnostic::error("file-too-large", format!("file of {} bytes, above the limit of {FILE_BYTES_MAX}", text.len()))
            .at(Span { file, start: 0, end: 0 }, "this file")
            .help("split it into several modules");
        return Marked { tree: File { items: vec![] }, errors: vec![d], lexed: Lexed::default(), marks: vec![] };
    }
    let mut lexed = lex(file, text);
    let lex_errors = std::mem::take(&mut lexed.errors);
    let marks = vec![Mark::default(); lexed.tokens.len()];
    let mut p = Parser { file, text, lexed, pos: 0, errors: Vec::new(), marks, depth: 0, height: 0, gave_up: false };
    let tree = p.file_items();
    let mut errors = lex_errors;
    errors.append(&mut p.errors);
    // A fault of a character is better news than what the parser makes of the hole it leaves.
    errors.sort_by_key(|d| d.primary.as_ref().map_or(0, |(s, _)| s.start));
    if errors.len() > ERRORS_MAX {
        let last = errors[ERRORS_MAX].primary.as_ref().map(|(s, _)| *s);
        errors.truncate(ERRORS_MAX);
        let d = Diagnostic::error("too-many-errors", format!("more than {ERRORS_MAX} errors, the rest is not shown"));
        let d = d.help("mend the first ones; the others may follow from them");
        errors.push(match last {
            Some(s) => d.at(s, "the next one"),
            None => d,
        });
    }
    Marked { tree, errors, lexed: p.lexed, marks: p.marks }
}

impl<'a> Parser<'a> {
    pub fn tok(&self) -> Token {
        self.lexed.tokens[self.pos]
    }

    pub fn peek(&self, ahead: usize) -> Token {
        let last = self.lexed.tokens.len() - 1;
        self.lexed.tokens[(self.pos + ahead).min(last)]
    }

    pub fn bump(&mut self) -> Token {
        let t = self.tok();
        if t.tok != Tok::Eof {
            self.pos += 1;
        }
        t
    }

    pub fn at(&self, p: P) -> bool {
        self.tok().tok == Tok::P(p)
    }

    pub fn at_kw(&self, k: Kw) -> bool {
        self.tok().tok == Tok::Kw(k)
    }

    pub fn at_eof(&self) -> bool {
        self.tok().tok == Tok::Eof
    }

    /// Consumes `p` if it is next.
    pub fn eat(&mut self, p: P) -> bool {
        let yes = self.at(p);
        if yes {
            self.pos += 1;
        }
        yes
    }

    pub fn eat_kw(&mut self, k: Kw) -> bool {
        let yes = self.at_kw(k);
        if yes {
            self.pos += 1;
        }
        yes
    }

    pub fn expect(&mut self, p: P) -> Parsed<Token> {
        if self.at(p) {
            return Ok(self.bump());
        }
        Err(self.unexpected(&format!("`{}`", p.text())))
    }

    pub fn expect_kw(&mut self, k: Kw) -> Parsed<Token> {
        if self.at_kw(k) {
            return Ok(self.bump());
        }
        let word = KEYWORDS.iter().find(|(_, x)| *x == k).map_or("", |(w, _)| w);
        Err(self.unexpected(&format!("`{word}`")))
    }

    pub fn span_of(&self, t: Token) -> Span {
        Span { file: self.file, start: t.start, end: t.end }
    }

    pub fn slice(&self, t: Token) -> &'a str {
        &self.text[t.start as usize..t.end as usize]
    }

    /// The span of the last consumed token.
    pub fn prev_span(&self) -> Span {
        let i = self.pos.saturating_sub(1);
        self.span_of(self.lexed.tokens[i])
    }

    /// From the start of `first` to the last consumed token.
    pub fn since(&self, first: Token) -> Span {
        let end = self.prev_span().end.max(first.start);
        Span { file: self.file, start: first.start, end }
    }

    pub fn report(&mut self, d: Diagnostic) -> Reported {
        if !self.gave_up {
            self.errors.push(d);
            self.gave_up = self.errors.len() > ERRORS_MAX;
        }
        Reported
    }

    /// How a token is named in messages.
    pub fn describe(&self, t: Token) -> String {
        match t.tok {
            Tok::Eof => "the end of the file".into(),
            Tok::Str(_) | Tok::Bytes { .. } => "a string".into(),
            _ => {
                let text = self.slice(t);
                let short: String = text.chars().take(24).collect();
                format!("`{short}{}`", if short.len() < text.len() { ".." } else { "" })
            }
        }
    }

    pub fn unexpected(&mut self, wanted: &str) -> Reported {
        let t = self.tok();
        let found = self.describe(t);
        let label = if wanted.len() > 40 { "not expected here".to_string() } else { format!("expected {wanted}") };
        let mut d = Diagnostic::error("syntax", format!("expected {wanted}, found {found}")).at(self.span_of(t), label);
        if let Some(h) = self.hint(t) {
            d = d.help(h);
        }
        self.report(d)
    }

    /// A way out for what newcomers write.
    fn hint(&self, t: Token) -> Option<&'static str> {
        let before = self.pos.checked_sub(1).map_or("", |i| self.slice(self.lexed.tokens[i]));
        match (before, t.tok) {
            ("return", _) => return Some("the last expression of a function is its result; there is no `return`"),
            ("while" | "loop", _) => return Some("loops are counted, so that every function ends: `for i in 0..<n { }`"),
            ("mut", _) => return Some("`var x = ...` declares what can be assigned"),
            ("let" | "var", Tok::Ident) => return Some("`let name = expression`"),
            _ => {}
        }
        match t.tok {
            Tok::P(P::Plus | P::Minus | P::Star | P::Pipe | P::AndAnd | P::OrOr | P::Caret) if t.line_start => {
                Some("a line goes on when it ends in an operator: put the operator at the end of the line before")
            }
            Tok::P(P::DotDotLt | P::DotDot) => Some("put the bounds in parentheses if they are compared"),
            _ => None,
        }
    }

    /// Runs `f` one level deeper, or gives up on the file when that is too deep.
    pub fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= NESTING_MAX {
            return Err(self.too_deep());
        }
        let above = std::mem::take(&mut self.height);
        self.depth += 1;
        let out = f(self);
        self.depth -= 1;
        self.raise()?;
        self.height = self.height.max(above);
        out
    }

    /// One more node on top of what has been parsed since `height` was last set.
    pub fn raise(&mut self) -> Parsed<()> {
        self.height += 1;
        if self.height > DEPTH_MAX && !self.gave_up {
            return Err(self.too_deep());
        }
        Ok(())
    }

    /// Reports `nesting-too-deep` and skips the rest of the file.
    pub fn too_deep(&mut self) -> Reported {
        let t = self.tok();
        let d = Diagnostic::error("nesting-too-deep", format!("expression or block nested deeper than {NESTING_MAX} levels, or of more than {DEPTH_MAX} operators"))
            .at(self.span_of(t), "the limit is met here")
            .help("name a part of it with `let`, or use a loop");
        let r = self.report(d);
        self.gave_up = true;
        self.pos = self.lexed.tokens.len() - 1;
        r
    }

    /// A name. Keywords and word types in its place are reported and taken as the name.
    pub fn ident(&mut self, what: &str) -> Parsed<Ident> {
        let t = self.tok();
        let name = self.slice(t).to_string();
        let span = self.span_of(t);
        match t.tok {
            Tok::Ident => {}
            Tok::Kw(_) | Tok::Word(_) if !t.nl => {
                let kind = if matches!(t.tok, Tok::Word(_)) { "a word type" } else { "a keyword" };
                let title = format!("`{name}` is {kind} and cannot be a name");
                // Its uses follow from its declaration: once is enough.
                if !self.errors.iter().any(|d| d.title == title) {
                    let d = Diagnostic::error("reserved-word", title).at(span, format!("expected {what}"));
                    self.report(d.help(format!("write another name, `{name}_` for instance")));
                }
            }
            _ => return Err(self.unexpected(what)),
        }
        self.bump();
        Ok(Ident { name, span })
    }

    /// `a` or `M::a`, at an identifier.
    pub fn path(&mut self) -> Parsed<Path> {
        let first = self.ident("a name")?;
        if self.at(P::ColonColon) && self.peek(1).tok != Tok::P(P::Lt) {
            self.bump();
            let name = self.ident("a name after `::`")?;
            let span = first.span.to(name.span);
            return Ok(Path { module: Some(first), name, span });
        }
        let span = first.span;
        Ok(Path { module: None, name: first, span })
    }

    /// `a.b.c`
    pub fn dotted(&mut self) -> Parsed<Vec<Ident>> {
        let mut out = vec![self.ident("a module name")?];
        while self.eat(P::Dot) {
            out.push(self.ident("a module name")?);
        }
        Ok(out)
    }

    /// `first (, more)* ,?` up to `close`, which is consumed. Newlines stand for commas where they count.
    pub fn list<T>(&mut self, close: P, wanted: &str, mut one: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut out = Vec::new();
        while !self.at(close) {
            out.push(one(self)?);
            if !self.eat(P::Comma) && !self.at(close) && !self.tok().nl {
                return Err(self.unexpected(wanted));
            }
        }
        self.bump();
        Ok(out)
    }

    /// The statement or item must end here.
    pub fn expect_end(&mut self) -> Parsed<()> {
        if self.eat(P::Semi) || self.tok().nl || self.at(P::RBrace) || self.at_eof() {
            return Ok(());
        }
        Err(self.unexpected("the end of the line"))
    }

    pub fn mark(&mut self) -> &mut Mark {
        &mut self.marks[self.pos]
    }
}
