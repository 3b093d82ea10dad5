//! Expressions: precedence climbing over the levels of the reference.

use super::{Parsed, Parser};
use crate::ast::{BinOp, Expr, ExprKind, GenericArg, Ident, Path, Type, TypeKind, UnOp};
use crate::token::{Kw, Tok, Token, P};
use santoku_diag::Diagnostic;

// Levels, loosest first.
const IMPLIES: u8 = 1;
const OR: u8 = 2;
const AND: u8 = 3;
const COMPARE: u8 = 4;
const BIT_OR: u8 = 5;
const XOR: u8 = 6;
const BIT_AND: u8 = 7;
const SHIFT: u8 = 8;
const ADD: u8 = 9;
const MUL: u8 = 10;

fn binary(t: Tok) -> Option<(u8, BinOp)> {
    let Tok::P(p) = t else { return None };
    Some(match p {
        P::Implies => (IMPLIES, BinOp::Implies),
        P::OrOr => (OR, BinOp::Or),
        P::AndAnd => (AND, BinOp::And),
        P::EqEq => (COMPARE, BinOp::Eq),
        P::Ne => (COMPARE, BinOp::Ne),
        P::Lt => (COMPARE, BinOp::Lt),
        P::Le => (COMPARE, BinOp::Le),
        P::Gt => (COMPARE, BinOp::Gt),
        P::Ge => (COMPARE, BinOp::Ge),
        P::Pipe => (BIT_OR, BinOp::BitOr),
        P::Caret => (XOR, BinOp::BitXor),
        P::Amp => (BIT_AND, BinOp::BitAnd),
        P::Shl => (SHIFT, BinOp::Shl),
        P::Shr => (SHIFT, BinOp::Shr),
        P::Rotl => (SHIFT, BinOp::Rotl),
        P::Rotr => (SHIFT, BinOp::Rotr),
        P::Plus => (ADD, BinOp::Add),
        P::Minus => (ADD, BinOp::Sub),
        P::Star => (MUL, BinOp::Mul),
        P::Slash => (MUL, BinOp::Div),
        P::Percent => (MUL, BinOp::Rem),
        _ => return None,
    })
}

fn is_congruent(t: Tok) -> bool {
    matches!(t, Tok::P(P::Congruent | P::CongruentSign))
}

impl Parser<'_> {
    /// Any expression.
    pub fn expr(&mut self) -> Parsed<Expr> {
        self.operators(IMPLIES)
    }

    /// A bound of a range, a length: no comparison outside parentheses.
    pub fn bound(&mut self) -> Parsed<Expr> {
        self.operators(BIT_OR)
    }

    /// `a..b` or `a..<b`; the flag tells whether b is included.
    pub fn range(&mut self) -> Parsed<(Expr, Expr, bool)> {
        let lo = self.bound()?;
        let inclusive = self.at(P::DotDot);
        if !inclusive && !self.at(P::DotDotLt) {
            return Err(self.unexpected("`..` or `..<`"));
        }
        self.bump();
        let hi = self.bound()?;
        Ok((lo, hi, inclusive))
    }

    fn operators(&mut self, level_min: u8) -> Parsed<Expr> {
        let first = self.tok();
        let above = std::mem::take(&mut self.height);
        let mut lhs = self.unary()?;
        let mut compared: Option<Token> = None;
        loop {
            let t = self.tok();
            if t.nl {
                break;
            }
            if is_congruent(t.tok) && level_min <= COMPARE {
                self.not_compared_twice(compared.replace(t), t);
                lhs = self.congruence(lhs, first)?;
                continue;
            }
            let Some((level, op)) = binary(t.tok).filter(|(level, _)| *level >= level_min) else { break };
            if op == BinOp::BitXor {
                self.xor_is_spaced(t);
            }
            self.bump();
            let left = std::mem::take(&mut self.height);
            let rhs = if level == IMPLIES { self.nested(|p| p.operators(IMPLIES))? } else { self.operators(level + 1)? };
            self.height = self.height.max(left);
            self.raise()?;
            if level == COMPARE {
                self.not_compared_twice(compared.replace(t), t);
            }
            lhs = Expr { kind: ExprKind::Bin { op, lhs: Box::new(lhs), rhs: Box::new(rhs) }, span: self.since(first) };
            if level < COMPARE {
                compared = None;
            }
        }
        self.height = self.height.max(above);
        Ok(lhs)
    }

    /// At `≡`: `b mod m`, or `b` alone
    fn congruence(&mut self, lhs: Expr, first: Token) -> Parsed<Expr> {
        self.bump();
        let left = std::mem::take(&mut self.height);
        let rhs = self.operators(BIT_OR)?;
        let modulus = if self.eat_kw(Kw::Mod) { Some(Box::new(self.operators(BIT_OR)?)) } else { None };
        self.height = self.height.max(left);
        self.raise()?;
        let kind = ExprKind::Congruent { lhs: Box::new(lhs), rhs: Box::new(rhs), modulus };
        Ok(Expr { kind, span: self.since(first) })
    }

    fn not_compared_twice(&mut self, before: Option<Token>, t: Token) {
        if let Some(b) = before {
            let d = Diagnostic::error("comparison-chain", "comparisons do not chain")
                .at(self.span_of(t), "second comparison")
                .also(self.span_of(b), "first comparison")
                .help("join two comparisons with `&&`, or put one in parentheses");
            self.report(d);
        }
    }

    fn xor_is_spaced(&mut self, caret: Token) {
        if caret.spaced && self.peek(1).spaced {
            return;
        }
        let d = Diagnostic::error("power-spacing", "`^` between values without spaces")
            .at(self.span_of(caret), "power or exclusive or?")
            .note("why: `2^k` without spaces is a power and needs an integer literal before `^`; `x ^ y` with spaces is exclusive or")
            .help("write spaces on both sides for exclusive or; write powers of other values as products, or with a `spec fn`");
        self.report(d);
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let first = self.tok();
        let op = match first.tok {
            Tok::P(P::Minus) => UnOp::Neg,
            Tok::P(P::Tilde) => UnOp::BitNot,
            Tok::P(P::Bang) => UnOp::Not,
            _ => return self.postfix(),
        };
        self.mark().unary = true;
        self.bump();
        let arg = Box::new(self.nested(Self::unary)?);
        Ok(Expr { kind: ExprKind::Un { op, arg }, span: self.since(first) })
    }

    fn postfix(&mut self) -> Parsed<Expr> {
        let first = self.tok();
        let mut e = self.primary()?;
        loop {
            let t = self.tok();
            // A power or a literal takes no index: `2^k[i]` would hide which is meant.
            let indexable = !matches!(e.kind, ExprKind::Int(_) | ExprKind::Power { .. } | ExprKind::Bool(_));
            let left = std::mem::take(&mut self.height);
            let kind = match t.tok {
                Tok::P(P::LBracket) if !t.nl && indexable => self.index(e)?,
                Tok::P(P::Dot) if !t.nl && indexable => self.field(e)?,
                _ => {
                    self.height = left;
                    return Ok(e);
                }
            };
            self.height = self.height.max(left);
            self.raise()?;
            e = Expr { kind, span: self.since(first) };
        }
    }

    fn index(&mut self, base: Expr) -> Parsed<ExprKind> {
        self.bump();
        let base = Box::new(base);
        let index = Box::new(self.nested(Self::expr)?);
        if self.eat(P::Semi) {
            let len = Box::new(self.nested(Self::expr)?);
            self.expect(P::RBracket)?;
            return Ok(ExprKind::Slice { base, off: index, len });
        }
        self.expect(P::RBracket)?;
        Ok(ExprKind::Index { base, index })
    }

    fn field(&mut self, base: Expr) -> Parsed<ExprKind> {
        self.bump();
        let base = Box::new(base);
        let t = self.tok();
        if let Tok::Int(_) = t.tok {
            let Ok(index) = self.slice(t).parse::<u32>() else { return Err(self.unexpected("the number of a tuple element")) };
            self.bump();
            return Ok(ExprKind::TupleField { base, index });
        }
        Ok(ExprKind::Field { base, field: self.ident("the name of a field")? })
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let first = self.tok();
        let kind = match first.tok {
            Tok::Int(_) => self.int_or_power()?,
            Tok::Bytes { index, hex } => {
                self.bump();
                let bytes = std::mem::take(&mut self.lexed.bytes[index as usize]);
                ExprKind::Bytes { bytes, hex }
            }
            Tok::Kw(k @ (Kw::True | Kw::False)) => {
                self.bump();
                ExprKind::Bool(k == Kw::True)
            }
            Tok::Kw(Kw::If) => self.nested(Self::if_expr)?,
            Tok::Kw(Kw::Sum | Kw::Forall) => self.nested(Self::quantifier)?,
            Tok::Kw(Kw::Len) => {
                self.bump();
                let span = self.span_of(first);
                let name = Ident { name: "len".into(), span };
                self.call(Path { module: None, name, span })?
            }
            Tok::Kw(Kw::Int) => self.conversion(TypeKind::Int(None))?,
            Tok::Word(bits) if self.peek(1).tok == Tok::P(P::LParen) => self.conversion(TypeKind::Word(bits))?,
            Tok::Word(_) => ExprKind::Name(self.path()?),
            Tok::P(P::LParen) => self.nested(Self::paren)?,
            Tok::P(P::LBracket) => self.nested(Self::array)?,
            Tok::Ident => self.named()?,
            _ => return Err(self.unexpected("an expression")),
        };
        Ok(Expr { kind, span: self.since(first) })
    }

    fn int_or_power(&mut self) -> Parsed<ExprKind> {
        let t = self.bump();
        let Tok::Int(index) = t.tok else { return Err(self.unexpected("an integer")) };
        let value = self.lexed.ints[index as usize].clone();
        let caret = self.tok();
        let exp = self.peek(1);
        let is_power = caret.tok == Tok::P(P::Caret) && !caret.spaced && !exp.spaced && matches!(exp.tok, Tok::Int(_) | Tok::Ident | Tok::P(P::LParen));
        if !is_power {
            return Ok(ExprKind::Int(value));
        }
        self.mark().power = true;
        self.bump();
        let exp = Box::new(self.nested(Self::exponent)?);
        Ok(ExprKind::Power { base: value, exp })
    }

    /// A literal (itself perhaps the base of a power), a name, or a parenthesis.
    fn exponent(&mut self) -> Parsed<Expr> {
        let first = self.tok();
        let kind = match first.tok {
            Tok::Int(_) => self.int_or_power()?,
            Tok::Ident => ExprKind::Name(self.path()?),
            _ => self.nested(Self::paren)?,
        };
        Ok(Expr { kind, span: self.since(first) })
    }

    /// `u32(x)`, `int(x)`
    fn conversion(&mut self, to: TypeKind) -> Parsed<ExprKind> {
        let t = self.bump();
        let to = Box::new(Type { kind: to, span: self.span_of(t) });
        self.expect(P::LParen)?;
        let arg = Box::new(self.nested(Self::expr)?);
        self.expect(P::RParen)?;
        Ok(ExprKind::Convert { to, arg })
    }

    /// A name, a call, or a struct value.
    fn named(&mut self) -> Parsed<ExprKind> {
        let path = self.path()?;
        let t = self.tok();
        match t.tok {
            Tok::P(P::LParen | P::ColonColon) if !t.nl => self.call(path),
            // `S {` begins a struct value only where `f:` follows: blocks never begin so.
            Tok::P(P::LBrace) if !t.nl && self.peek(1).tok == Tok::Ident && self.peek(2).tok == Tok::P(P::Colon) => {
                self.bump();
                let fields = self.nested(|p| p.list(P::RBrace, "`,` or `}`", Self::field_value))?;
                Ok(ExprKind::Struct { path, fields })
            }
            _ => Ok(ExprKind::Name(path)),
        }
    }

    fn field_value(&mut self) -> Parsed<(Ident, Expr)> {
        let name = self.ident("the name of a field")?;
        self.expect(P::Colon)?;
        Ok((name, self.expr()?))
    }

    fn call(&mut self, callee: Path) -> Parsed<ExprKind> {
        let mut generics = Vec::new();
        if self.eat(P::ColonColon) {
            self.mark().angle = true;
            self.expect(P::Lt)?;
            loop {
                generics.push(self.generic_arg()?);
                if !self.eat(P::Comma) {
                    break;
                }
            }
            self.mark().angle = true;
            self.expect(P::Gt)?;
        }
        self.expect(P::LParen)?;
        let args = self.nested(|p| p.list(P::RParen, "`,` or `)`", Self::expr))?;
        Ok(ExprKind::Call { callee, generics, args })
    }

    /// A type where it can only be one; a lone name is an expression, and name resolution decides.
    pub(super) fn generic_arg(&mut self) -> Parsed<GenericArg> {
        match self.tok().tok {
            Tok::Word(_) | Tok::Kw(Kw::Bool | Kw::Int | Kw::Public) => Ok(GenericArg::Type(self.ty()?)),
            Tok::P(P::LBracket) if self.at_array_type() => Ok(GenericArg::Type(self.ty()?)),
            _ => Ok(GenericArg::Expr(self.operators(ADD)?)),
        }
    }

    /// Whether the bracket here opens `[T; n]`: a `;` stands in it, and no literal before that.
    fn at_array_type(&self) -> bool {
        let mut depth = 0u32;
        for ahead in 1.. {
            match self.peek(ahead).tok {
                Tok::P(P::LBracket | P::LParen) => depth += 1,
                Tok::P(P::RBracket | P::RParen) if depth > 0 => depth -= 1,
                Tok::P(P::Semi) if depth == 0 => return !matches!(self.peek(1).tok, Tok::Int(_) | Tok::Bytes { .. }),
                Tok::P(P::RBracket | P::Comma) | Tok::Eof if depth == 0 => return false,
                Tok::Eof => return false,
                _ => {}
            }
        }
        false
    }

    /// `(e)` or `(a, b)`
    fn paren(&mut self) -> Parsed<ExprKind> {
        let open = self.expect(P::LParen)?;
        let mut parts = self.list(P::RParen, "`,` or `)`", Self::expr)?;
        match parts.len() {
            0 => {
                let d = Diagnostic::error("syntax", "expected an expression, found `()`").at(self.since(open), "there is no empty value");
                Err(self.report(d.help("a function that has nothing to say has no reason to be: give it a result")))
            }
            1 => Ok(ExprKind::Paren(Box::new(parts.remove(0)))),
            _ => Ok(ExprKind::Tuple(parts)),
        }
    }

    /// `[a, b]`, `[e; n]`, `[for i in a..<b: e]`
    fn array(&mut self) -> Parsed<ExprKind> {
        self.bump();
        if self.eat_kw(Kw::For) {
            let var = self.ident("the name of the index")?;
            self.expect_kw(Kw::In)?;
            let (lo, hi, inclusive) = self.range()?;
            self.expect(P::Colon)?;
            let elem = Box::new(self.expr()?);
            self.expect(P::RBracket)?;
            return Ok(ExprKind::Comprehension { var, lo: Box::new(lo), hi: Box::new(hi), inclusive, elem });
        }
        if self.eat(P::RBracket) {
            return Ok(ExprKind::Array(Vec::new()));
        }
        let first = self.expr()?;
        if self.eat(P::Semi) {
            let len = Box::new(self.expr()?);
            self.expect(P::RBracket)?;
            return Ok(ExprKind::Repeat { elem: Box::new(first), len });
        }
        let mut elems = vec![first];
        if self.eat(P::Comma) {
            elems.extend(self.list(P::RBracket, "`,` or `]`", Self::expr)?);
        } else {
            self.expect_close_bracket()?;
        }
        Ok(ExprKind::Array(elems))
    }

    fn expect_close_bracket(&mut self) -> Parsed<()> {
        if self.eat(P::RBracket) {
            return Ok(());
        }
        Err(self.unexpected("`,`, `;` or `]`"))
    }

    /// `if` as a value: both blocks must have one.
    fn if_expr(&mut self) -> Parsed<ExprKind> {
        let first = self.tok();
        let (cond, then, els) = self.if_parts()?;
        let Some(els) = els else {
            let d = Diagnostic::error("syntax", "`if` as a value without `else`").at(self.span_of(first), "has no value when the condition is false");
            return Err(self.report(d.help("add `else { .. }` with a value of the same type")));
        };
        for b in [&then, &els] {
            if b.result.is_none() {
                let d = Diagnostic::error("syntax", "block without a value in an `if` used as a value")
                    .at(b.span, "must end in an expression")
                    .also(self.span_of(first), "the value of this `if` is used");
                self.report(d.help("let the last line of the block be the value"));
            }
        }
        Ok(ExprKind::If { cond: Box::new(cond), then, els })
    }

    /// `sum(i in a..<b) e` takes a product as `e`; `forall(i in a..<b) e` all that follows.
    fn quantifier(&mut self) -> Parsed<ExprKind> {
        let is_sum = self.bump().tok == Tok::Kw(Kw::Sum);
        self.expect(P::LParen)?;
        let var = self.ident("the name of the index")?;
        self.expect_kw(Kw::In)?;
        let (lo, hi, inclusive) = self.range()?;
        self.expect(P::RParen)?;
        let (lo, hi) = (Box::new(lo), Box::new(hi));
        let body = Box::new(if is_sum { self.operators(MUL)? } else { self.operators(IMPLIES)? });
        Ok(if is_sum { ExprKind::Sum { var, lo, hi, inclusive, body } } else { ExprKind::Forall { var, lo, hi, inclusive, body } })
    }
}
