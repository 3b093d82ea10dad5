//! Operators.

use crate::arith::{self, Fault};
use crate::secrecy::Need;
use super::context::{bare, FnCx, One};
use num_traits::{Signed, ToPrimitive, Zero};
use santoku_diag::{Diagnostic, Span};
use santoku_ir::typing::without_ranges;
use santoku_ir::{BinOp as Op, CmpOp, Expr, Ty, UnOp as Uop};
use santoku_syntax::ast::{self, BinOp, ExprKind, UnOp};

impl FnCx<'_, '_> {
    pub fn unary(&mut self, op: UnOp, arg: &ast::Expr, hint: Option<&Ty>) -> Option<One> {
        let one = self.operand(arg, hint)?;
        if let (UnOp::Neg, Some(v)) = (op, one.flex_value()) {
            return Some(One::flex(-v.clone()));
        }
        let one = match (op, hint, one.flex) {
            (UnOp::BitNot, Some(want @ Ty::Word(_)), true) => One::fresh(self.coerce(one, want, arg.span)?),
            _ => one,
        };
        match (op, &one.ty) {
            (UnOp::Neg, Ty::Int(_) | Ty::Word(_)) => Some(One::fresh(Expr::un(Uop::Neg, one.expr))),
            (UnOp::BitNot, Ty::Word(_)) | (UnOp::Not, Ty::Bool) => Some(One::fresh(Expr::un(Uop::Not, one.expr))),
            (op, ty) => {
                let found = self.cx.show(ty);
                let (sign, help) = match op {
                    UnOp::Neg => ("-", "negation needs a word or an integer"),
                    UnOp::BitNot => ("~", "`~` flips the bits of a word; `!` is for bools"),
                    UnOp::Not => ("!", "`!` is for bools; `~` flips the bits of a word"),
                };
                self.fail(
                    Diagnostic::error("bad-operator", format!("`{sign}` on {found}"))
                        .at(arg.span, format!("this is {found}"))
                        .help(help),
                )
            }
        }
    }

    pub fn binary(&mut self, op: BinOp, lhs: &ast::Expr, rhs: &ast::Expr, hint: Option<&Ty>, span: Span) -> Option<One> {
        match op {
            BinOp::And | BinOp::Or | BinOp::Implies => {
                let (a, b) = (self.typed(lhs, &Ty::Bool)?, self.typed(rhs, &Ty::Bool)?);
                Some(One::fresh(match op {
                    BinOp::And => a & b,
                    BinOp::Or => a | b,
                    _ => !a | b,
                }))
            }
            BinOp::Shl | BinOp::Shr | BinOp::Rotl | BinOp::Rotr => {
                let a = self.operand(lhs, hint)?;
                self.shift(op, a, lhs.span, rhs, hint, span)
            }
            BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => {
                let (a, b) = self.operands(lhs, rhs, None)?;
                self.comparison(op, a, b, span)
            }
            _ => {
                let hint = hint.filter(|t| t.is_scalar());
                let (a, b) = self.operands(lhs, rhs, hint)?;
                self.arithmetic(op, a, b, span)
            }
        }
    }

    /// `place op= rhs`: the left operand is already a value.
    pub fn update(&mut self, op: BinOp, old: One, place_span: Span, rhs: &ast::Expr, span: Span) -> Option<One> {
        if matches!(op, BinOp::Shl | BinOp::Shr | BinOp::Rotl | BinOp::Rotr) {
            return self.shift(op, old, place_span, rhs, None, span);
        }
        let b = self.operand(rhs, Some(&old.ty.clone()))?;
        let (a, b) = self.unify(old, place_span, b, rhs.span)?;
        self.arithmetic(op, a, b, span)
    }

    /// An operand, which may be outside the range that is wanted of the result or that the other operand has.
    fn operand(&mut self, e: &ast::Expr, hint: Option<&Ty>) -> Option<One> {
        self.one(e, hint.map(without_ranges).as_ref())
    }

    /// Both operands, at one type. The one that has a type of its own is lowered first and gives it to the other.
    fn operands(&mut self, lhs: &ast::Expr, rhs: &ast::Expr, hint: Option<&Ty>) -> Option<(One, One)> {
        let (a, b) = if self.literal_like(lhs) && !self.literal_like(rhs) {
            let b = self.operand(rhs, hint)?;
            let a = self.operand(lhs, Some(&b.ty.clone()))?;
            (a, b)
        } else {
            let a = self.operand(lhs, hint)?;
            let ty = a.ty.clone();
            let b = self.operand(rhs, if a.flex { hint } else { Some(&ty) })?;
            (a, b)
        };
        self.unify(a, lhs.span, b, rhs.span)
    }

    fn unify(&mut self, a: One, a_span: Span, b: One, b_span: Span) -> Option<(One, One)> {
        match (a.flex, b.flex) {
            (true, false) => {
                let ty = b.ty.clone();
                let a = self.coerce(a, &without_ranges(&ty), a_span)?;
                Some((One::new(a, ty), b))
            }
            (false, true) => {
                let ty = a.ty.clone();
                let b = self.coerce(b, &without_ranges(&ty), b_span)?;
                Some((a, One::new(b, ty)))
            }
            _ if a.ty.same_shape(&b.ty) => Some((a, b)),
            _ => {
                let (x, y) = (self.cx.show(&a.ty), self.cx.show(&b.ty));
                self.fail(
                    Diagnostic::error("type-mismatch", format!("operands of different types: {x} and {y}"))
                        .at(b_span, format!("this is {y}"))
                        .also(a_span, format!("this is {x}"))
                        .help("convert one of them: `u32(..)`, `int(..)`"),
                )
            }
        }
    }

    /// Whether the expression takes its type from the context.
    fn literal_like(&self, e: &ast::Expr) -> bool {
        match &bare(e).kind {
            ExprKind::Int(_) | ExprKind::Power { .. } => true,
            ExprKind::Name(path) => {
                let name = &path.name.name;
                let variable = path.module.is_none() && self.variable(name).is_some();
                !variable && !matches!(self.env.generics.get(name), Some(crate::values::Generic::Len(_)))
            }
            ExprKind::Un { arg, .. } => self.literal_like(arg),
            ExprKind::Bin { op: BinOp::Shl | BinOp::Shr, lhs, .. } => self.literal_like(lhs),
            ExprKind::Bin { lhs, rhs, .. } => self.literal_like(lhs) && self.literal_like(rhs),
            ExprKind::Array(parts) => parts.iter().all(|p| self.literal_like(p)),
            ExprKind::Repeat { elem, .. } | ExprKind::Comprehension { elem, .. } => self.literal_like(elem),
            ExprKind::If { then, els, .. } => {
                let last = |b: &ast::Block| b.result.as_ref().is_some_and(|r| self.literal_like(r));
                last(then) && last(els)
            }
            _ => false,
        }
    }

    fn comparison(&mut self, op: BinOp, a: One, b: One, span: Span) -> Option<One> {
        if let (Some(x), Some(y)) = (a.flex_value(), b.flex_value()) {
            let value = arith::compare(op, x, y)?;
            return Some(One::fresh(Expr::bool(value)));
        }
        let cmp = match op {
            BinOp::Eq => CmpOp::Eq,
            BinOp::Ne => CmpOp::Ne,
            BinOp::Lt => CmpOp::Lt,
            BinOp::Le => CmpOp::Le,
            BinOp::Gt => CmpOp::Gt,
            _ => CmpOp::Ge,
        };
        let ordered = !matches!(cmp, CmpOp::Eq | CmpOp::Ne);
        if ordered && !matches!(a.ty, Ty::Word(_) | Ty::Int(_)) {
            let found = self.cx.show(&a.ty);
            return self.fail(
                Diagnostic::error("bad-operator", format!("{found} has no order"))
                    .at(span, format!("compares {found}"))
                    .help("`<` and its kin compare words and integers; `==` compares all values"),
            );
        }
        Some(One::fresh(Expr::cmp(cmp, a.expr, b.expr)))
    }

    fn shift(&mut self, op: BinOp, a: One, a_span: Span, rhs: &ast::Expr, hint: Option<&Ty>, span: Span) -> Option<One> {
        let count = self.public_int(rhs, Need::Shift)?;
        let known = count.as_const().cloned();
        if !matches!(a.ty, Ty::Word(_)) && self.known_secret(&count) {
            return self.secret(Need::Shift, &count, rhs.span);
        }
        if let (Some(x), Some(k)) = (a.flex_value(), &known) {
            return match arith::int_op(op, x, k) {
                Ok(v) => Some(One::flex(v)),
                Err(fault) => self.fail(fault.diagnostic(span)),
            };
        }
        let a = match hint {
            Some(want @ Ty::Word(_)) if a.flex => One::fresh(self.coerce(a, want, a_span)?),
            _ => a,
        };
        let core = match op {
            BinOp::Shl => Op::Shl,
            BinOp::Shr => Op::Shr,
            BinOp::Rotl => Op::Rotl,
            _ => Op::Rotr,
        };
        match (&a.ty, core) {
            (Ty::Word(bits), _) => {
                let bad = known.as_ref().is_some_and(|k| k.is_negative() || k.to_u32().is_none_or(|k| k >= *bits));
                if bad {
                    return self.fail(Fault::Count.diagnostic(rhs.span));
                }
                Some(One::fresh(Expr::bin(core, a.expr, count)))
            }
            (Ty::Int(_), Op::Shl | Op::Shr) => {
                let Some(k) = known else { return self.shift_by_choice(core, a, count, rhs, span) };
                if k.is_negative() || k.to_u64().is_none_or(|k| k > crate::limits::CONST_BITS) {
                    return self.fail(Fault::Count.diagnostic(rhs.span));
                }
                Some(One::fresh(Expr::bin(core, a.expr, count)))
            }
            _ => self.bad_operands(op, &a.ty.clone(), a_span),
        }
    }

    fn arithmetic(&mut self, op: BinOp, a: One, b: One, span: Span) -> Option<One> {
        if let (Some(x), Some(y)) = (a.flex_value(), b.flex_value()) {
            return match arith::int_op(op, x, y) {
                Ok(v) => Some(One::flex(v)),
                Err(fault) => self.fail(fault.diagnostic(span)),
            };
        }
        let simple = match op {
            BinOp::Add => Some(Op::Add),
            BinOp::Sub => Some(Op::Sub),
            BinOp::Mul => Some(Op::Mul),
            _ => None,
        };
        let bitwise = match op {
            BinOp::BitAnd => Some(Op::And),
            BinOp::BitOr => Some(Op::Or),
            BinOp::BitXor => Some(Op::Xor),
            _ => None,
        };
        match (&a.ty, simple, bitwise) {
            (Ty::Int(_) | Ty::Word(_), Some(core), _) | (Ty::Word(_) | Ty::Bool, _, Some(core)) => {
                Some(One::fresh(Expr::bin(core, a.expr, b.expr)))
            }
            (Ty::Int(_), _, Some(Op::And)) => self.int_mask(a, b, span),
            (Ty::Int(_) | Ty::Word(_), None, None) => self.division(op, a, b, span),
            _ => self.bad_operands(op, &a.ty.clone(), span),
        }
    }

    fn bad_operands<T>(&mut self, op: BinOp, ty: &Ty, span: Span) -> Option<T> {
        let found = self.cx.show(ty);
        let help = match (ty, op) {
            (Ty::Int(_), BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor | BinOp::Rotl | BinOp::Rotr) => {
                "convert to a word first: `u64(x)`; on integers only `& (2^k - 1)` exists"
            }
            (Ty::Bool, _) => "convert with `int(b)` or `u32(b)` to compute with a bool",
            (Ty::Array { .. }, _) => "write a loop or a comprehension: `[for i in 0..<n: a[i] ^ b[i]]`",
            _ => "the operation does not exist on this type",
        };
        self.fail(
            Diagnostic::error("bad-operator", format!("this operation does not exist on {found}"))
                .at(span, format!("operand of type {found}"))
                .help(help),
        )
    }

    /// `x & (2^k - 1)` on exact integers, in either order.
    fn int_mask(&mut self, a: One, b: One, span: Span) -> Option<One> {
        let is_mask = |e: &Expr| e.as_const().is_some_and(|m| arith::log2_exact(&(m + 1)).is_some());
        if is_mask(&b.expr) {
            return Some(One::fresh(a.expr & b.expr));
        }
        if is_mask(&a.expr) {
            return Some(One::fresh(b.expr & a.expr));
        }
        self.bad_operands(BinOp::BitAnd, &Ty::Int(None), span)
    }

    fn division(&mut self, op: BinOp, a: One, b: One, span: Span) -> Option<One> {
        let Some(d) = b.expr.as_const().cloned() else {
            return self.fail(
                Diagnostic::error("bad-divisor", "divisor is not a constant")
                    .at(span, "`/` and `%` are by constants only")
                    .help("multiply by an inverse, or count with a loop"),
            );
        };
        if !d.is_positive() {
            return self.fail(Fault::Divisor.diagnostic(span));
        }
        let power = arith::log2_exact(&d);
        match (&a.ty, power) {
            (Ty::Int(_), _) => {
                if power.is_none() {
                    self.need(Need::Division, &a.expr, span);
                }
                let core = if op == BinOp::Div { Op::Div } else { Op::Mod };
                Some(One::fresh(Expr::bin(core, a.expr, b.expr)))
            }
            (Ty::Word(bits), Some(k)) => Some(One::fresh(word_division(op, a.expr, *bits, k))),
            _ => self.fail(
                Diagnostic::error("bad-divisor", "words are divided by powers of two only")
                    .at(span, "the divisor is no power of two")
                    .help("convert a public word with `int(..)` and divide that"),
            ),
        }
    }
}

/// `w / 2^k` and `w % 2^k` on words of `bits` bits.
fn word_division(op: BinOp, a: Expr, bits: u32, k: u32) -> Expr {
    match op {
        BinOp::Div if k.is_zero() => a,
        BinOp::Div => a.shr(k),
        _ => a & Expr::word(bits, arith::mask(k)),
    }
}
