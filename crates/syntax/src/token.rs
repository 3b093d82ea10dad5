//! Tokens, their printed names, and the flags the newline rule needs.

/// Keywords of the language, word types apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kw {
    Use,
    As,
    Implements,
    Interface,
    Type,
    Struct,
    Const,
    Table,
    Fn,
    Spec,
    Test,
    Requires,
    Ensures,
    Invariant,
    Ghost,
    Lemma,
    Let,
    Var,
    For,
    In,
    Rev,
    If,
    Else,
    Public,
    Int,
    Len,
    True,
    False,
    Assert,
    Mod,
    Sum,
    Forall,
    Bool,
}

/// Every keyword with its spelling.
pub const KEYWORDS: &[(&str, Kw)] = &[
    ("as", Kw::As),
    ("assert", Kw::Assert),
    ("bool", Kw::Bool),
    ("const", Kw::Const),
    ("else", Kw::Else),
    ("ensures", Kw::Ensures),
    ("false", Kw::False),
    ("fn", Kw::Fn),
    ("for", Kw::For),
    ("forall", Kw::Forall),
    ("ghost", Kw::Ghost),
    ("if", Kw::If),
    ("implements", Kw::Implements),
    ("in", Kw::In),
    ("int", Kw::Int),
    ("interface", Kw::Interface),
    ("invariant", Kw::Invariant),
    ("lemma", Kw::Lemma),
    ("len", Kw::Len),
    ("let", Kw::Let),
    ("mod", Kw::Mod),
    ("public", Kw::Public),
    ("requires", Kw::Requires),
    ("rev", Kw::Rev),
    ("spec", Kw::Spec),
    ("struct", Kw::Struct),
    ("sum", Kw::Sum),
    ("table", Kw::Table),
    ("test", Kw::Test),
    ("true", Kw::True),
    ("type", Kw::Type),
    ("use", Kw::Use),
    ("var", Kw::Var),
];

/// What a token is. Payloads too big to copy live in [`crate::lexer::Lexed`] and are named by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tok {
    Ident,
    /// `u1 .. u128`
    Word(u32),
    Kw(Kw),
    /// Index into `Lexed::ints`.
    Int(u32),
    /// Index into `Lexed::bytes`; `hex` tells the spelling.
    Bytes { index: u32, hex: bool },
    /// Index into `Lexed::strings`.
    Str(u32),
    /// An operator or bracket, by its spelling.
    P(P),
    Eof,
}

macro_rules! puncts {
    ($($name:ident $text:literal),* $(,)?) => {
        /// Operators and brackets.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum P { $($name),* }
        /// Every operator and bracket with its spelling, longest first among those sharing a prefix.
        pub const PUNCTS: &[(&str, P)] = &[$(($text, P::$name)),*];
    };
}

puncts! {
    RotlEq "<<<=", RotrEq ">>>=",
    Rotl "<<<", Rotr ">>>", ShlEq "<<=", ShrEq ">>=", Congruent "===", Implies "==>", DotDotLt "..<",
    Shl "<<", Shr ">>", EqEq "==", Ne "!=", Le "<=", Ge ">=", AndAnd "&&", OrOr "||", DotDot "..", ColonColon "::",
    Arrow "->", PlusEq "+=", MinusEq "-=", StarEq "*=", AmpEq "&=", PipeEq "|=", CaretEq "^=",
    CongruentSign "≡", LParen "(", RParen ")", LBracket "[", RBracket "]", LBrace "{", RBrace "}",
    Plus "+", Minus "-", Star "*", Slash "/", Percent "%", Amp "&", Caret "^", Pipe "|", Tilde "~", Bang "!",
    Lt "<", Gt ">", Eq "=", Dot ".", Comma ",", Colon ":", Semi ";", At "@",
}

impl P {
    /// The spelling.
    pub fn text(self) -> &'static str {
        PUNCTS.iter().find(|(_, p)| *p == self).map_or("?", |(t, _)| t)
    }

    /// A line ending in this continues on the next.
    pub fn continues_line(self) -> bool {
        !matches!(self, P::RParen | P::RBracket | P::RBrace | P::Semi | P::At | P::Colon | P::ColonColon | P::Dot | P::Tilde | P::Bang)
    }
}

/// A token: byte range, and what stands before it.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    pub tok: Tok,
    pub start: u32,
    pub end: u32,
    /// A newline stands before it (of any kind).
    pub line_start: bool,
    /// A newline stands before it that ends a statement.
    pub nl: bool,
    /// White space, a comment or a newline stands before it.
    pub spaced: bool,
    /// Number of comments of the file that start before it.
    pub comments_before: u32,
}

/// A `//` comment.
#[derive(Clone, Copy, Debug)]
pub struct Comment {
    pub start: u32,
    pub end: u32,
    /// `///`, and not `////`.
    pub doc: bool,
    /// First on its line.
    pub line_start: bool,
}
