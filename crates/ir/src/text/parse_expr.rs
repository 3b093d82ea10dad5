//! Parser of expressions, places and types.

use super::lex::{RefKind, Token};
use super::natural::natural_ty;
use super::parse::{Parse, Parser};
use super::print::{bin_symbol, cmp_symbol};
use crate::data::*;
use crate::ty::{Len, LocalId, Range, StructId, Ty};
use crate::typing::Scope;

const BIN_OPS: [BinOp; 12] = [
    BinOp::Add,
    BinOp::Sub,
    BinOp::Mul,
    BinOp::Div,
    BinOp::Mod,
    BinOp::And,
    BinOp::Or,
    BinOp::Xor,
    BinOp::Shl,
    BinOp::Shr,
    BinOp::Rotl,
    BinOp::Rotr,
];
const CMP_OPS: [CmpOp; 6] = [CmpOp::Eq, CmpOp::Ne, CmpOp::Lt, CmpOp::Le, CmpOp::Gt, CmpOp::Ge];

impl Parser {
    pub fn place(&mut self) -> Parse<Place> {
        let base = match self.peek() {
            Token::Ref { kind: RefKind::Const, .. } => Base::Const(ConstId(self.reference(RefKind::Const)?)),
            _ => Base::Local(LocalId(self.reference(RefKind::Local)?)),
        };
        let mut projs = Vec::new();
        loop {
            if self.eat(".") {
                projs.push(Proj::Field(self.number_u32()?));
            } else if self.eat("[") {
                let e = self.expr()?;
                projs.push(if self.eat(";") { Proj::Slice { off: e, len: self.number_u64()? } } else { Proj::Index(e) });
                self.symbol("]")?;
            } else {
                return Ok(Place { base, projs });
            }
        }
    }

    pub fn expr(&mut self) -> Parse<Expr> {
        self.deeper(Self::expr_here)
    }

    fn boxed(&mut self) -> Parse<Box<Expr>> {
        self.expr().map(Box::new)
    }

    fn expr_here(&mut self) -> Parse<Expr> {
        let type_may_follow = std::mem::take(&mut self.type_may_follow);
        let kind = match self.peek().clone() {
            Token::Number(v, width) => {
                self.next();
                return Ok(Expr::new(ExprKind::Const(v), width.map_or(Ty::Int(None), Ty::Word)));
            }
            Token::Symbol("(") => return self.parens(),
            Token::Symbol("[") => {
                self.next();
                ExprKind::Array(self.list("]", Self::expr)?)
            }
            Token::Ref { kind: RefKind::Struct, .. } => {
                let id = StructId(self.reference(RefKind::Struct)?);
                self.symbol("{")?;
                ExprKind::Struct(id, self.list("}", Self::expr)?)
            }
            Token::Ref { .. } => ExprKind::Read(self.place()?),
            Token::Ident(word) => {
                self.next();
                match word.as_str() {
                    "true" => return Ok(Expr::bool(true)),
                    "false" => return Ok(Expr::bool(false)),
                    "cast" | "repeat" => return self.with_type(&word),
                    _ => self.function(&word)?,
                }
            }
            _ => return self.error("an expression is expected"),
        };
        self.typed(kind, type_may_follow)
    }

    /// `cast<T>(e)` or `repeat<T>(e)` after its word.
    fn with_type(&mut self, word: &str) -> Parse<Expr> {
        self.symbol("<")?;
        let ty = self.ty()?;
        self.symbol(">")?;
        self.symbol("(")?;
        let a = self.boxed()?;
        self.symbol(")")?;
        let kind = if word == "cast" { ExprKind::Cast(a) } else { ExprKind::Repeat(a) };
        Ok(Expr::new(kind, ty))
    }

    fn function(&mut self, word: &str) -> Parse<ExprKind> {
        self.symbol("(")?;
        let a = self.boxed()?;
        let kind = match word {
            "neg" => ExprKind::Un(UnOp::Neg, a),
            "not" => ExprKind::Un(UnOp::Not, a),
            "select" => {
                self.symbol(",")?;
                let b = self.boxed()?;
                self.symbol(",")?;
                ExprKind::Select(a, b, self.boxed()?)
            }
            _ => return self.error("an expression is expected"),
        };
        self.symbol(")")?;
        Ok(kind)
    }

    /// `(a op b)`, `(a op b : T)` or `(e : T)`.
    fn parens(&mut self) -> Parse<Expr> {
        self.symbol("(")?;
        self.type_may_follow = true;
        let a = self.expr()?;
        let kind = match self.operator() {
            None if *self.peek() == Token::Symbol(":") => a.kind,
            None => return self.error("an operator is expected"),
            Some(Operator::Bin(op)) => ExprKind::Bin(op, Box::new(a), self.boxed()?),
            Some(Operator::Cmp(op)) => ExprKind::Cmp(op, Box::new(a), self.boxed()?),
        };
        let e = if self.eat(":") { Expr::new(kind, self.ty()?) } else { self.typed(kind, false)? };
        self.symbol(")")?;
        Ok(e)
    }

    /// The infix operator that stands next, consumed.
    fn operator(&mut self) -> Option<Operator> {
        let Token::Symbol(symbol) = *self.peek() else { return None };
        let bin = BIN_OPS.into_iter().find(|op| bin_symbol(*op) == symbol).map(Operator::Bin);
        let found = bin.or(CMP_OPS.into_iter().find(|op| cmp_symbol(*op) == symbol).map(Operator::Cmp));
        self.at += usize::from(found.is_some());
        found
    }

    /// Gives an expression its natural type. Where it has none, the type must follow (and replaces what is
    /// put here).
    fn typed(&self, kind: ExprKind, type_may_follow: bool) -> Parse<Expr> {
        let scope = Scope { structs: &self.program.structs, consts: &self.program.consts, locals: &self.locals };
        match natural_ty(&kind, scope) {
            Some(ty) => Ok(Expr::new(kind, ty)),
            None if type_may_follow && *self.peek() == Token::Symbol(":") => Ok(Expr::new(kind, Ty::Bool)),
            None => self.error_before("the type of this does not follow from its parts: write `(e : type)`"),
        }
    }

    pub fn ty(&mut self) -> Parse<Ty> {
        self.deeper(Self::ty_here)
    }

    fn ty_here(&mut self) -> Parse<Ty> {
        if let Token::Ref { kind: RefKind::Struct, .. } = self.peek() {
            return Ok(Ty::Struct(StructId(self.reference(RefKind::Struct)?)));
        }
        if self.eat("[") {
            let elem = Box::new(self.ty()?);
            self.symbol(";")?;
            let len = self.len()?;
            let ranges = if self.eat("|") { Some(self.list("]", Self::range)?) } else { None };
            if ranges.is_none() {
                self.symbol("]")?;
            }
            return Ok(Ty::Array { elem, len, ranges });
        }
        let Token::Ident(word) = self.next() else { return self.error_before("a type is expected") };
        match word.as_str() {
            "bool" => Ok(Ty::Bool),
            "int" => match self.peek() {
                Token::Number(..) => Ok(Ty::Int(Some(self.range()?))),
                _ => Ok(Ty::Int(None)),
            },
            _ => match word.strip_prefix('u').and_then(|bits| bits.parse().ok()) {
                Some(bits) => Ok(Ty::Word(bits)),
                None => self.error_before("a type is expected"),
            },
        }
    }

    fn range(&mut self) -> Parse<Range> {
        let lo = self.number()?;
        self.symbol("..")?;
        Ok(Range::new(lo, self.number()?))
    }

    fn len(&mut self) -> Parse<Len> {
        if let Token::Number(..) = self.peek() {
            return Ok(Len::Const(self.number_u64()?));
        }
        let param = LocalId(self.reference(RefKind::Local)?);
        let negative = *self.peek() == Token::Symbol("-");
        if !negative && *self.peek() != Token::Symbol("+") {
            return Ok(Len::Param { param, add: 0 });
        }
        self.next();
        let add = i128::from(self.number_u64()?);
        match i64::try_from(if negative { -add } else { add }) {
            Ok(add) => Ok(Len::Param { param, add }),
            Err(_) => self.error_before("this number is too large"),
        }
    }
}

enum Operator {
    Bin(BinOp),
    Cmp(CmpOp),
}
