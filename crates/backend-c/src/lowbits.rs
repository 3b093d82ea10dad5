//! Values needed only modulo 2^k: sums, differences and products are computed in the narrowest unsigned
//! type of at least k bits, where wrapping is defined and harmless.

use crate::context::{FnCx, Res};
use crate::ctype::{enough, literal, CInt};
use crate::expr::{cast, Val};
use crate::known::const_count;
use santoku_ir::{BinOp, Expr, ExprKind, Ty, UnOp};

impl FnCx<'_> {
    /// A value congruent to `e` modulo 2^k, of an unsigned type of at least k bits.
    pub fn low_bits(&mut self, e: &Expr, k: u32) -> Res<Val> {
        let decided = (self.unit.opts.decisions.low_bits)(k);
        let t = CInt::unsigned(decided.unwrap_or_else(|| enough(k)));
        if t.bits > self.unit.opts.widest {
            return Err(crate::EmitError::TooWide { func: self.f.name.clone(), bits: k.into(), widest: self.unit.opts.widest, loc: self.loc });
        }
        let text = match decided {
            Some(_) => self.low_text(e, t)?,
            None => cast(self.emit(e)?, t),
        };
        Ok(Val { text, ty: t })
    }

    fn low_text(&mut self, e: &Expr, t: CInt) -> Res<String> {
        // Already as narrow as wanted: the exact value serves.
        if matches!(e.ty, Ty::Int(_)) && !matches!(e.kind, ExprKind::Const(_)) {
            let exact = self.range_of(e)?;
            let fits = crate::ctype::narrowest(&exact, 32).is_some_and(|n| n.bits <= t.bits);
            if fits && !matches!(e.kind, ExprKind::Bin(BinOp::Add | BinOp::Sub | BinOp::Mul, ..)) {
                let v = self.emit(e)?;
                return Ok(cast(v, t));
            }
        }
        match (&e.kind, &e.ty) {
            (ExprKind::Const(v), _) => Ok(literal(&t.wrapped(v), t)),
            (ExprKind::Bin(op @ (BinOp::Add | BinOp::Sub | BinOp::Mul), a, b), Ty::Int(_)) => {
                let (x, y) = (self.low_text(a, t)?, self.low_text(b, t)?);
                Ok(match op {
                    BinOp::Add => format!("({x} + {y})"),
                    BinOp::Sub => format!("({x} - {y})"),
                    _ => self.product((a, &x), (b, &y), t),
                })
            }
            (ExprKind::Un(UnOp::Neg, a), Ty::Int(_)) => {
                let x = self.low_text(a, t)?;
                Ok(format!("(0u - {x})"))
            }
            (ExprKind::Bin(BinOp::Shl, a, b), Ty::Int(_)) => match const_count(b) {
                Some(k) if k < t.bits => {
                    let x = self.low_text(a, t)?;
                    Ok(format!("({x} << {k})"))
                }
                Some(_) => Ok(literal(&0.into(), t)),
                None => Err(self.unsupported("a variable shift of an exact integer")),
            },
            _ => {
                let v = self.emit(e)?;
                Ok(cast(v, t))
            }
        }
    }
}
