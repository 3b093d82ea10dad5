//! Scalar expressions.
//! Trusted: nothing: nothing that ships is made of it.

use super::body::{Body, Res};
use super::homes::constant;
use super::number::{Num, Rep};
use crate::data::{BinOp as Machine, CmpOp as Order, Op, ShiftOp};
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};
use santoku_ir::{BinOp, CmpOp, Expr, ExprKind, Ty, UnOp};

impl Body<'_, '_> {
    /// The value of a scalar, held as its range is.
    pub fn scalar(&mut self, e: &Expr) -> Res<Num> {
        let rep = match (&e.kind, &e.ty) {
            (ExprKind::Const(v), Ty::Int(_)) => self.shared.words.fit(&santoku_ir::Range::new(v.clone(), v.clone())),
            _ => self.rep_of(&e.ty)?,
        };
        let n = match &e.kind {
            ExprKind::Const(v) => self.number(v, rep),
            ExprKind::Read(p) => self.read(p)?,
            ExprKind::Un(op, a) => {
                let a = self.scalar(a)?;
                match (op, &e.ty) {
                    (UnOp::Not, ty) => {
                        let bits = if let Ty::Word(b) = ty { *b } else { 1 };
                        let ones = self.number(&((BigInt::from(1) << bits) - 1), rep);
                        self.each(Machine::Xor, &a, &ones, rep)
                    }
                    (UnOp::Neg, _) => {
                        let zero = self.number(&BigInt::from(0), rep);
                        self.difference(&zero, &a, rep)
                    }
                }
            }
            ExprKind::Bin(op, a, b) => match &e.ty {
                Ty::Int(_) => self.exact(*op, a, b, e)?,
                _ => self.wrapping(*op, a, b, e)?,
            },
            ExprKind::Cmp(op, a, b) => self.comparison(*op, a, b)?,
            ExprKind::Select(c, a, b) => {
                let (c, a, b) = (self.scalar(c)?, self.scalar(a)?, self.scalar(b)?);
                self.selected(&c, &a, &b, rep)
            }
            ExprKind::Cast(a) => self.scalar(a)?,
            ExprKind::Array(_) | ExprKind::Repeat(_) | ExprKind::Struct(..) => return Err("an aggregate where a number is needed".into()),
        };
        // Of a word only its own bits count; an exact integer is in its range.
        match &e.ty {
            Ty::Word(b) if !is_clean(e) && n.rep().total() > *b => {
                let low = self.low(&n, *b);
                Ok(self.converted(&low, rep))
            }
            _ => Ok(self.converted(&n, rep)),
        }
    }

    /// Of exact integers.
    fn exact(&mut self, op: BinOp, a: &Expr, b: &Expr, e: &Expr) -> Res<Num> {
        let rep = self.rep_of(&e.ty)?;
        let by = match &b.kind {
            ExprKind::Const(v) => Some(v.clone()),
            _ => constant(b).map(BigInt::from),
        };
        let x = self.scalar(a)?;
        let power = by.as_ref().and_then(power_of_two);
        match (op, by) {
            (BinOp::Add, _) => {
                let y = self.scalar(b)?;
                // A borrow of 0 or -1 is taken away as 0 or 1: one chain of borrows comes of it.
                if let Some(taken) = self.taken(&b.ty, &y) {
                    return Ok(self.difference(&x, &taken, rep));
                }
                if let Some(taken) = self.taken(&a.ty, &x) {
                    return Ok(self.difference(&y, &taken, rep));
                }
                Ok(self.sum(&x, &y, rep))
            }
            (BinOp::Sub, _) => {
                let y = self.scalar(b)?;
                Ok(self.difference(&x, &y, rep))
            }
            (BinOp::Mul, _) => {
                let y = self.scalar(b)?;
                Ok(self.product(&x, &y, rep))
            }
            (BinOp::Shl, Some(k)) => Ok(self.left(&x, small(&k)?, rep)),
            (BinOp::Shr, Some(k)) => Ok(self.right(&x, small(&k)?)),
            (BinOp::Div, Some(_)) if power.is_some() => Ok(self.right(&x, power.unwrap_or(0))),
            (BinOp::Mod, Some(_)) if power.is_some() => Ok(self.low(&x, power.unwrap_or(0))),
            (BinOp::And, Some(mask)) => {
                let k = power_of_two(&(mask + 1)).ok_or("a remainder by what is no power of two")?;
                Ok(self.low(&x, k))
            }
            (BinOp::Div | BinOp::Mod, Some(d)) => self.divided(op, &x, &d),
            _ => Err(format!("`{op:?}` of such integers")),
        }
    }

    /// The negative of a number that is 0 or -1.
    fn taken(&mut self, ty: &Ty, n: &Num) -> Option<Num> {
        let range = crate::layout::range_of(ty)?;
        let bit = range.lo == santoku_num::Int::from(-1) && range.hi == santoku_num::Int::ZERO;
        let rep = Rep { bits: n.bits, words: 1, signed: false };
        if !bit {
            return None;
        }
        let zero = self.number(&BigInt::from(0), rep);
        Some(self.difference(&zero, n, rep))
    }

    /// Of words and bools.
    fn wrapping(&mut self, op: BinOp, a: &Expr, b: &Expr, e: &Expr) -> Res<Num> {
        let rep = self.rep_of(&e.ty)?;
        let bits = if let Ty::Word(b) = e.ty { b } else { 1 };
        let x = self.scalar(a)?;
        let ring = match op {
            BinOp::Add => Some(Body::sum as fn(&mut Self, &Num, &Num, Rep) -> Num),
            BinOp::Sub => Some(Body::difference as _),
            BinOp::Mul => Some(Body::product as _),
            _ => None,
        };
        if let Some(ring) = ring {
            let y = self.scalar(b)?;
            return Ok(ring(self, &x, &y, rep));
        }
        let logic = match op {
            BinOp::And => Some(Machine::And),
            BinOp::Or => Some(Machine::Or),
            BinOp::Xor => Some(Machine::Xor),
            _ => None,
        };
        if let Some(logic) = logic {
            let y = self.scalar(b)?;
            return Ok(self.each(logic, &x, &y, rep));
        }
        match constant(b) {
            Some(k) => self.shifted(op, &x, u32::try_from(k).map_err(|_| "a shift by too much")?, bits),
            None => self.shifted_by(op, &x, b, bits),
        }
    }

    /// Shifts and rotations of words of so many bits by a constant.
    fn shifted(&mut self, op: BinOp, x: &Num, k: u32, bits: u32) -> Res<Num> {
        let rep = x.rep();
        let k = if matches!(op, BinOp::Rotl | BinOp::Rotr) { k % bits } else { k };
        let up = match op {
            BinOp::Shl => return Ok(self.left(x, k, rep)),
            BinOp::Shr => return Ok(self.right(x, k)),
            BinOp::Rotl => k,
            BinOp::Rotr => (bits - k) % bits,
            _ => return Err(format!("`{op:?}` of words")),
        };
        match (up, rep.words) {
            (0, _) => Ok(x.clone()),
            (_, 1) if rep.bits == bits => {
                let n = self.constant(up.into(), bits);
                Ok(Num { words: vec![self.word(Op::Shift(ShiftOp::RotL, x.words[0], n), bits)], ..x.clone() })
            }
            _ => {
                let (high, low) = (self.left(x, up, rep), self.right(x, bits - up));
                Ok(self.each(Machine::Or, &high, &low, rep))
            }
        }
    }

    /// The same by a public count that is known at run time.
    fn shifted_by(&mut self, op: BinOp, x: &Num, count: &Expr, bits: u32) -> Res<Num> {
        let n = self.scalar(count)?;
        let ([v], [by], width) = (&x.words[..], &n.words[..], x.bits) else { return self.step_by_step(op, x, &n, bits) };
        let how = match op {
            BinOp::Shl => ShiftOp::Shl,
            BinOp::Shr => ShiftOp::ShrU,
            BinOp::Rotl if bits == width => ShiftOp::RotL,
            BinOp::Rotr if bits == width => ShiftOp::RotR,
            _ => return self.step_by_step(op, x, &n, bits),
        };
        Ok(Num { words: vec![self.word(Op::Shift(how, *v, *by), width)], ..x.clone() })
    }

    /// Every word by less than its bits, with what comes from its neighbour.
    fn within_words(&mut self, left: bool, x: &Num, count: &Num) -> Num {
        let (bits, one) = (x.bits, self.constant(1, x.bits));
        let count = self.converted(count, Rep { bits, words: 1, signed: false }).words[0];
        let most = self.constant(u128::from(bits - 1), bits);
        let by = self.bin(Machine::And, count, most, bits);
        let rest = self.bin(Machine::Xor, by, most, bits);
        let (there, back) = if left { (ShiftOp::Shl, ShiftOp::ShrU) } else { (ShiftOp::ShrU, ShiftOp::Shl) };
        let words = (0..x.words.len()).map(|i| {
            let own = self.word(Op::Shift(there, x.words[i], by), bits);
            let neighbour = if left { i.checked_sub(1) } else { Some(i + 1) };
            match neighbour.and_then(|k| x.words.get(k).copied()) {
                None => own,
                Some(v) => {
                    // By one first: all bits go where none is wanted.
                    let v = self.word(Op::Shift(back, v, one), bits);
                    let v = self.word(Op::Shift(back, v, rest), bits);
                    self.bin(Machine::Or, own, v, bits)
                }
            }
        });
        Num { words: words.collect(), ..*x }
    }

    /// The first number if the bit is 1, else the second. Whole words of 0 take nothing to choose; where the bit is known, nothing is left of the other number.
    fn masked(&mut self, bit: &Num, a: &Num, b: &Num) -> Num {
        let rep = a.rep();
        let (zero, one) = (self.constant(0, rep.bits), self.constant(1, rep.bits));
        let bit = self.converted(bit, Rep { bits: rep.bits, words: 1, signed: false }).words[0];
        let (first, second) = (self.bin(Machine::Sub, zero, bit, rep.bits), self.bin(Machine::Sub, bit, one, rep.bits));
        let words = a.words.iter().zip(&b.words).map(|(x, y)| {
            let (x, y) = (self.bin(Machine::And, *x, first, rep.bits), self.bin(Machine::And, *y, second, rep.bits));
            self.bin(Machine::Or, x, y, rep.bits)
        });
        Num { words: words.collect(), ..*a }
    }

    /// By each power of two that is in the count; those below the bits of a word together, where whole words are shifted.
    fn step_by_step(&mut self, op: BinOp, x: &Num, count: &Num, bits: u32) -> Res<Num> {
        let mut x = x.clone();
        let steps = u32::BITS - (bits - 1).leading_zeros();
        let together = matches!(op, BinOp::Shl | BinOp::Shr) && x.words.len() > 1 && bits % x.bits == 0 && count.words.len() == 1 && !x.signed;
        let first = if together { x.bits.trailing_zeros() } else { 0 };
        if together {
            x = self.within_words(op == BinOp::Shl, &x, count);
        }
        for j in first..steps {
            let moved = self.shifted(op, &x, 1 << j, bits)?;
            let moved = self.low(&moved, bits);
            let rest = self.right(count, j);
            let one = self.low(&rest, 1);
            x = if together { self.masked(&one, &moved, &x) } else { self.selected(&one, &moved, &x, x.rep()) };
        }
        Ok(x)
    }

    /// Floor quotient and remainder by a positive constant.
    fn divided(&mut self, op: BinOp, x: &Num, d: &BigInt) -> Res<Num> {
        let [v] = x.words[..] else { return Err(format!("`{op:?}` of an integer of several words")) };
        let bits = x.bits;
        let divisor = self.number(d, x.rep()).words[0];
        // The quotient of a negative x is the complement of that of x's complement, which is not negative.
        let turn = if x.signed {
            let count = self.constant((bits - 1).into(), bits);
            self.word(Op::Shift(ShiftOp::ShrS, v, count), bits)
        } else {
            self.constant(0, bits)
        };
        let turned = self.bin(Machine::Xor, v, turn, bits);
        let quotient = self.bin(Machine::DivU, turned, divisor, bits);
        let quotient = self.bin(Machine::Xor, quotient, turn, bits);
        let word = match op {
            BinOp::Div => quotient,
            _ => {
                let whole = self.bin(Machine::Mul, quotient, divisor, bits);
                self.bin(Machine::Sub, v, whole, bits)
            }
        };
        Ok(Num { words: vec![word], bits, signed: x.signed && op == BinOp::Div })
    }

    fn comparison(&mut self, op: CmpOp, a: &Expr, b: &Expr) -> Res<Num> {
        if !a.ty.is_scalar() {
            return self.aggregates_equal(op, a, b);
        }
        let (x, y) = (self.scalar(a)?, self.scalar(b)?);
        let rep = self.shared.words.of_bits(1);
        let not = |b: &mut Self, n: Num| {
            let one = b.number(&BigInt::from(1), rep);
            b.each(Machine::Xor, &n, &one, rep)
        };
        Ok(match op {
            CmpOp::Eq => self.equal(&x, &y, Order::Eq),
            CmpOp::Ne => self.equal(&x, &y, Order::Ne),
            CmpOp::Lt => self.less(&x, &y),
            CmpOp::Gt => self.less(&y, &x),
            CmpOp::Ge => {
                let n = self.less(&x, &y);
                not(self, n)
            }
            CmpOp::Le => {
                let n = self.less(&y, &x);
                not(self, n)
            }
        })
    }

    fn aggregates_equal(&mut self, op: CmpOp, a: &Expr, b: &Expr) -> Res<Num> {
        let rep = self.shared.words.of_bits(1);
        let all = match self.rows_equal(a, b)? {
            Some(all) => all,
            None => {
                let (xs, ys) = (self.values(a)?, self.values(b)?);
                let mut all = self.number(&BigInt::from(1), rep);
                for (x, y) in xs.iter().zip(&ys) {
                    let same = self.equal(x, y, Order::Eq);
                    all = self.each(Machine::And, &all, &same, rep);
                }
                all
            }
        };
        match op {
            CmpOp::Eq => Ok(all),
            CmpOp::Ne => {
                let one = self.number(&BigInt::from(1), rep);
                Ok(self.each(Machine::Xor, &all, &one, rep))
            }
            _ => Err("an order of aggregates".into()),
        }
    }

    /// A public number that is not negative, in one word.
    pub fn index(&mut self, e: &Expr) -> Res<crate::data::Value> {
        let n = self.scalar(e)?;
        match &n.words[..] {
            [v] => Ok(*v),
            _ => Err("an index of several words".into()),
        }
    }
}

/// Whatever computes it leaves nothing above its bits.
fn is_clean(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Const(_) | ExprKind::Read(_) | ExprKind::Cmp(..) | ExprKind::Select(..) => true,
        ExprKind::Bin(op, ..) => matches!(op, BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Shr),
        ExprKind::Un(op, _) => *op == UnOp::Not,
        _ => false,
    }
}

/// `k` of `2^k`.
fn power_of_two(v: &BigInt) -> Option<u32> {
    let k = v.trailing_zeros().filter(|_| v.is_positive())?;
    (*v == BigInt::from(1) << k).then_some(k as u32)
}

fn small(k: &BigInt) -> Res<u32> {
    k.to_u32().ok_or_else(|| "a shift by too much".into())
}
