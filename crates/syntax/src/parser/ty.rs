//! Types.

use super::{Parsed, Parser};
use crate::ast::{BinOp, Expr, ExprKind, Ident, Type, TypeKind};
use crate::token::{Kw, Tok, P};

impl Parser<'_> {
    pub fn ty(&mut self) -> Parsed<Type> {
        self.nested(Self::ty_inner)
    }

    fn ty_inner(&mut self) -> Parsed<Type> {
        let first = self.tok();
        let kind = match first.tok {
            Tok::Word(bits) => {
                self.bump();
                TypeKind::Word(bits)
            }
            Tok::Kw(Kw::Bool) => {
                self.bump();
                TypeKind::Bool
            }
            Tok::Kw(Kw::Int) => {
                self.bump();
                TypeKind::Int(self.int_range()?)
            }
            Tok::Kw(Kw::Public) => {
                self.bump();
                TypeKind::Public(Box::new(self.ty()?))
            }
            Tok::P(P::LBracket) => self.array_type()?,
            Tok::P(P::LParen) => {
                self.bump();
                let mut parts = self.list(P::RParen, "`,` or `)`", Self::ty)?;
                match parts.len() {
                    0 => {
                        self.pos -= 1;
                        return Err(self.unexpected("a type"));
                    }
                    1 => return Ok(parts.remove(0)),
                    _ => TypeKind::Tuple(parts),
                }
            }
            Tok::Ident => TypeKind::Named(self.path()?),
            _ => return Err(self.unexpected("a type")),
        };
        Ok(Type { kind, span: self.since(first) })
    }

    /// After `int` or `len`: `in lo..hi`, if given.
    pub fn int_range(&mut self) -> Parsed<Option<(Box<Expr>, Box<Expr>)>> {
        if !self.at_kw(Kw::In) || self.tok().nl {
            return Ok(None);
        }
        self.bump();
        let (lo, hi, inclusive) = self.range()?;
        let hi = if inclusive { hi } else { less_one(hi) };
        Ok(Some((Box::new(lo), Box::new(hi))))
    }

    /// `[T; n]`, `[T; i < n]`
    fn array_type(&mut self) -> Parsed<TypeKind> {
        self.expect(P::LBracket)?;
        let elem = Box::new(self.ty()?);
        self.expect(P::Semi)?;
        let mut index: Option<Ident> = None;
        if self.tok().tok == Tok::Ident && self.peek(1).tok == Tok::P(P::Lt) {
            index = Some(self.ident("an index")?);
            self.bump();
        }
        let len = Box::new(self.bound()?);
        self.expect(P::RBracket)?;
        Ok(TypeKind::Array { elem, index, len })
    }
}

/// `hi - 1`: the last value of a range that excludes `hi`.
fn less_one(hi: Expr) -> Expr {
    let span = hi.span;
    let one = Expr { kind: ExprKind::Int(1.into()), span };
    Expr { kind: ExprKind::Bin { op: BinOp::Sub, lhs: Box::new(hi), rhs: Box::new(one) }, span }
}
