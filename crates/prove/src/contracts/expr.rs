//! Symbolic execution of one function: expressions.

use crate::algebra::num::Num;
use crate::algebra::Poly;
use crate::itv::Itv;
use super::run::{Exec, Step, Stop};
use super::state::{self, Fresh, SVal};
use super::words;
use num_bigint::BigInt;
use num_traits::{One, ToPrimitive};
use santoku_ir::typing::Scope;
use santoku_ir::{Base, BinOp, CmpOp, Expr, ExprKind, Len, Place, Ty, UnOp};

impl Exec<'_> {
    pub fn scalar(&mut self, e: &Expr) -> Result<Num, Stop> {
        match self.eval(e)? {
            SVal::Num(n) => Ok((*n).clone()),
            SVal::Undef => {
                let iv = state::type_iv(&e.ty);
                Ok(Num { p: self.atoms.opaque("undefined", iv.clone()), iv })
            }
            SVal::Agg(_) | SVal::Opaque(_) => Err(Stop::Internal("an aggregate where a scalar belongs".into())),
        }
    }

    pub fn eval(&mut self, e: &Expr) -> Result<SVal, Stop> {
        Ok(match &e.kind {
            ExprKind::Const(v) => SVal::num(Num::constant(v.clone())),
            ExprKind::Read(p) => self.read(p)?,
            ExprKind::Un(op, a) => {
                let a = self.scalar(a)?;
                SVal::num(self.unary(*op, &a, &e.ty))
            }
            ExprKind::Bin(op, a, b) => {
                let (x, y) = (self.scalar(a)?, self.scalar(b)?);
                let n = self.binary(*op, &x, &y, &e.ty)?;
                if n.p.len() > self.terms_max {
                    return Err(Stop::TooLarge);
                }
                SVal::num(n)
            }
            ExprKind::Cmp(op, a, b) => {
                let (a, b) = (self.eval(a)?, self.eval(b)?);
                SVal::num(Num { p: self.compare(*op, &a, &b)?, iv: Itv::new(0, 1) })
            }
            ExprKind::Select(c, a, b) => {
                let c = self.scalar(c)?;
                let (a, b) = (self.eval(a)?, self.eval(b)?);
                state::select(&c.p, &a, &b)
            }
            ExprKind::Cast(a) => {
                let n = self.scalar(a)?;
                SVal::num(match e.ty {
                    Ty::Word(bits) => words::wrap(&mut self.atoms, n, bits),
                    Ty::Int(_) | Ty::Bool | Ty::Array { .. } | Ty::Struct(_) => n,
                })
            }
            ExprKind::Array(es) | ExprKind::Struct(_, es) => {
                SVal::agg(es.iter().map(|x| self.eval(x)).collect::<Result<_, _>>()?)
            }
            ExprKind::Repeat(x) => match &e.ty {
                Ty::Array { len: Len::Const(n), .. } => {
                    let v = self.eval(x)?;
                    SVal::agg(vec![v; n.to_usize().unwrap_or(0)])
                }
                _ => SVal::Opaque(e.ty.clone()),
            },
        })
    }

    fn unary(&mut self, op: UnOp, a: &Num, ty: &Ty) -> Num {
        let neg = Num { p: a.p.neg(), iv: a.iv.neg() };
        match (op, ty) {
            (UnOp::Neg, Ty::Word(bits)) => words::wrap(&mut self.atoms, neg, *bits),
            (UnOp::Neg, _) => neg,
            (UnOp::Not, Ty::Word(bits)) => minus(&Num::constant((BigInt::one() << *bits) - 1), a),
            (UnOp::Not, _) => minus(&Num::constant(1), a),
        }
    }

    fn binary(&mut self, op: BinOp, a: &Num, b: &Num, ty: &Ty) -> Result<Num, Stop> {
        let bits = match ty {
            Ty::Word(b) => Some(*b),
            Ty::Bool => Some(1),
            Ty::Int(_) | Ty::Array { .. } | Ty::Struct(_) => None,
        };
        let exact = match op {
            BinOp::Add => Num { p: a.p.add(&b.p), iv: a.iv.add(&b.iv) },
            BinOp::Sub => minus(a, b),
            BinOp::Mul => Num { p: a.p.mul(&b.p), iv: a.iv.mul(&b.iv) },
            BinOp::Div | BinOp::Mod => return self.division(op, a, b),
            BinOp::And | BinOp::Or | BinOp::Xor => return self.bitwise(op, a, b, bits),
            BinOp::Shl | BinOp::Shr | BinOp::Rotl | BinOp::Rotr => return self.shift(op, a, b, bits),
        };
        // Squares and cancelled terms: the monomials may know better than the operands did.
        let iv = exact.iv.meet(&self.atoms.poly_iv(&exact.p));
        let exact = Num { p: exact.p, iv };
        Ok(match bits {
            Some(bits) => words::wrap(&mut self.atoms, exact, bits),
            None => exact,
        })
    }

    fn division(&mut self, op: BinOp, a: &Num, b: &Num) -> Result<Num, Stop> {
        let d = b.p.as_const().filter(|d| *d > BigInt::from(0));
        let d = d.ok_or_else(|| Stop::Unsupported("division by a value that is not a positive constant".into()))?;
        let (q, r) = self.div_mod(a, &d);
        Ok(if op == BinOp::Div { q } else { r })
    }

    /// Quotient and remainder by a positive constant; the same atoms for the same operands.
    pub fn div_mod(&mut self, a: &Num, d: &BigInt) -> (Num, Num) {
        let key = (a.p.clone(), d.clone());
        match self.divs.get(&key) {
            Some(hit) => hit.clone(),
            None => {
                let qr = words::div_mod(&mut self.atoms, a, d);
                self.divs.insert(key, qr.clone());
                qr
            }
        }
    }

    fn bitwise(&mut self, op: BinOp, a: &Num, b: &Num, bits: Option<u32>) -> Result<Num, Stop> {
        let Some(bits) = bits else {
            // On exact integers: the remainder modulo a power of two.
            let mask = b.p.as_const().ok_or_else(|| Stop::Internal("`&` on integers needs a constant".into()))?;
            return Ok(self.div_mod(a, &(mask + 1)).1);
        };
        let at = &mut self.atoms;
        Ok(match op {
            BinOp::And => self.bits.and(at, a, b, bits),
            BinOp::Or => self.bits.or(at, a, b, bits),
            _ => self.bits.xor(at, a, b, bits),
        })
    }

    fn shift(&mut self, op: BinOp, a: &Num, b: &Num, bits: Option<u32>) -> Result<Num, Stop> {
        let Some(k) = b.p.as_const().and_then(|v| v.to_u32()).filter(|k| *k < 1 << 16) else {
            let iv = bits.map_or_else(|| Itv::TOP, Itv::word);
            return Ok(Num { p: self.atoms.opaque("shifted", iv.clone()), iv });
        };
        let r = self.shifted(op, a, k, bits)?;
        self.atoms.compare("shift", &[a], &r, |v| shifted_value(op, &v[0], k, bits));
        Ok(r)
    }

    fn shifted(&mut self, op: BinOp, a: &Num, k: u32, bits: Option<u32>) -> Result<Num, Stop> {
        let up = |n: &Num, k: u32| {
            let c = BigInt::one() << k;
            Num { p: n.p.scale(&c), iv: n.iv.scale(&c) }
        };
        Ok(match (op, bits) {
            (BinOp::Shl, None) => up(a, k),
            (BinOp::Shl, Some(w)) => {
                let low = if k >= w { Num::constant(0) } else { self.atoms.split(a, w - k).1 };
                up(&low, k)
            }
            (BinOp::Shr, _) => self.atoms.split(a, k).0,
            (_, Some(w)) => {
                let k = k % w;
                let left = if op == BinOp::Rotl { k } else { (w - k) % w };
                let (high, low) = self.atoms.split(a, w - left);
                let low = up(&low, left);
                Num { p: low.p.add(&high.p), iv: low.iv.add(&high.iv) }
            }
            (_, None) => return Err(Stop::Internal("rotation of an integer".into())),
        })
    }

    /// A 0/1 polynomial.
    pub fn compare(&mut self, op: CmpOp, a: &SVal, b: &SVal) -> Result<Poly, Stop> {
        if let (Some(xs), Some(ys)) = (a.elems(), b.elems()) {
            let (xs, ys) = (xs.to_vec(), ys.to_vec());
            let mut all = Poly::constant(1);
            for (x, y) in xs.iter().zip(&ys) {
                all = all.mul(&self.compare(CmpOp::Eq, x, y)?);
            }
            return Ok(if op == CmpOp::Ne { Poly::constant(1).sub(&all) } else { all });
        }
        let (SVal::Num(a), SVal::Num(b)) = (a, b) else {
            return Ok(self.atoms.opaque("compared", Itv::new(0, 1)));
        };
        let not = |p: Poly| Poly::constant(1).sub(&p);
        Ok(match op {
            CmpOp::Eq => self.atoms.is_zero(&minus(a, b)),
            CmpOp::Ne => not(self.atoms.is_zero(&minus(a, b))),
            CmpOp::Lt => self.atoms.is_negative(&minus(a, b)),
            CmpOp::Ge => not(self.atoms.is_negative(&minus(a, b))),
            CmpOp::Gt => self.atoms.is_negative(&minus(b, a)),
            CmpOp::Le => not(self.atoms.is_negative(&minus(b, a))),
        })
    }

    pub fn read(&mut self, p: &Place) -> Result<SVal, Stop> {
        let path = self.path(&p.projs)?;
        let root = match p.base {
            Base::Local(id) => self.frame.vals[id.0 as usize].clone(),
            Base::Const(id) => self.const_value(id),
        };
        let mut v = root;
        for step in &path {
            v = match (&v, step) {
                (SVal::Agg(es), Step::At(i)) if *i < es.len() => es[*i].clone(),
                (SVal::Agg(es), Step::Slice(o, n)) if o + n <= es.len() => SVal::agg(es[*o..o + n].to_vec()),
                _ => return self.unknown(p),
            };
        }
        Ok(v)
    }

    /// Whatever is stored at a place that cannot be followed.
    fn unknown(&mut self, p: &Place) -> Result<SVal, Stop> {
        let ty = Scope::of(self.prog, self.frame.func)
            .place_ty(p)
            .ok_or_else(|| Stop::Internal("untyped place".into()))?;
        Ok(state::fresh(self.prog, &mut self.atoms, &ty, "element", Fresh::Unknown))
    }
}

/// What a shift by `k` makes of a value; of a word where `bits` says so.
fn shifted_value(op: BinOp, v: &BigInt, k: u32, bits: Option<u32>) -> BigInt {
    let low = |v: BigInt, w: u32| v & ((BigInt::one() << w) - 1);
    match (op, bits) {
        (BinOp::Shr, _) => v >> k,
        (BinOp::Rotl | BinOp::Rotr, Some(w)) => {
            let left = if op == BinOp::Rotl { k % w } else { (w - k % w) % w };
            low(v << left, w) | (v >> (w - left))
        }
        (_, Some(w)) => low(v << k, w),
        (_, None) => v << k,
    }
}

fn minus(a: &Num, b: &Num) -> Num {
    Num { p: a.p.sub(&b.p), iv: a.iv.add(&b.iv.neg()) }
}
