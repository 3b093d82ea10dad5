//! Random expressions over what is in scope; what would break on some input is tried again.
//!
//! Needs: a function half grown.  Keeps: every expression has a value on every input.  Absent: statements.

use crate::ast::{Ex, Op, Rel, Ty, Var};
use crate::grow::{bin, constant, lit, Grow};
use crate::run::{bounds, ones, within};
use num_bigint::BigInt;
use num_traits::{One, Zero};

impl Grow<'_> {
    /// `make`, tried until it runs on all inputs.
    pub fn tried(&mut self, fallback: Ex, make: impl Fn(&mut Self) -> Option<Ex>) -> Ex {
        for _ in 0..4 {
            if let Some(e) = make(self).filter(|e| self.eval(e).is_some()) {
                return e;
            }
        }
        fallback
    }

    pub fn var(&mut self, ok: impl Fn(&Var) -> bool) -> Option<usize> {
        let all: Vec<usize> = (0..self.f.vars.len()).filter(|v| self.env[*v].is_some() && ok(&self.f.vars[*v])).collect();
        (!all.is_empty()).then(|| *self.rng.pick(&all))
    }

    /// An integer of any sort in scope, or a literal.
    fn leaf(&mut self, ty: &Ty, public: bool) -> Ex {
        let fits = |v: &Var| v.public || !public;
        if self.rng.below(8) > 0 {
            if let Some(v) = self.var(|v| fits(v) && v.ty == *ty) {
                return Ex::Var(v);
            }
        }
        if self.rng.one_in(2) {
            if let Some(v) = self.var(|v| fits(v) && matches!(&v.ty, Ty::Arr(t, _) if **t == *ty)) {
                if let Ty::Arr(_, n) = self.f.vars[v].ty {
                    let at = self.position(n, 1);
                    return Ex::Idx(Box::new(Ex::Var(v)), Box::new(at));
                }
            }
            let structs = self.prog.structs.clone();
            if let Some(v) = self.var(|v| fits(v) && matches!(v.ty, Ty::Struct(_))) {
                if let Ty::Struct(s) = self.f.vars[v].ty {
                    if let Some(i) = structs[s].iter().position(|(t, _)| t == ty) {
                        return Ex::Field(Box::new(Ex::Var(v)), i);
                    }
                }
            }
        }
        if self.rng.one_in(3) {
            if let Some(t) = (0..self.prog.tables.len()).find(|t| self.prog.tables[*t].elem == *ty) {
                let n = self.prog.tables[t].values.len();
                let at = self.position(n, 1);
                return Ex::Idx(Box::new(Ex::Table(t)), Box::new(at));
            }
        }
        Ex::Lit(constant(self.rng, ty), ty.clone())
    }

    /// A public position of `k` elements in `n`.
    pub fn position(&mut self, n: usize, k: usize) -> Ex {
        let last = BigInt::from(n) - k;
        if self.rng.below(4) > 0 && self.deep == 0 {
            for _ in 0..3 {
                self.deep += 1;
                let e = self.int(1, true);
                self.deep -= 1;
                let Some(v) = self.vals(&e) else { continue };
                let (lo, hi) = bounds(&v);
                if &hi - &lo <= last && lo != hi {
                    let add = -&lo + BigInt::from(self.rng.below(2)).min(&last - (&hi - &lo));
                    let e = if add.is_zero() { e } else { bin(Op::Add, e, lit(add)) };
                    return e;
                }
            }
        }
        lit(self.rng.below(n as u64 - k as u64 + 1))
    }

    pub fn int(&mut self, depth: u32, public: bool) -> Ex {
        let leaf = self.leaf(&Ty::Int, public);
        if depth == 0 {
            return leaf;
        }
        self.tried(leaf, |g| {
            let kind = g.rng.below(17);
            let a = Box::new(if kind == 9 { lit(0) } else { g.int(depth - 1, public) });
            let k = g.rng.below(9);
            let pow = || lit(BigInt::one() << k);
            Some(match kind {
                0 | 1 => Ex::Bin(Op::Add, a, Box::new(g.int(depth - 1, public))),
                2 => Ex::Bin(Op::Sub, a, Box::new(g.int(depth - 1, public))),
                3 => Ex::Bin(Op::Mul, a, Box::new(g.int(depth - 1, public))),
                4 => Ex::Bin(Op::Mul, a, Box::new(pow())),
                5 => Ex::Bin(*g.rng.pick(&[Op::Shl, Op::Shr]), a, Box::new(lit(k))),
                6 => Ex::Bin(Op::And, a, Box::new(lit(ones(k as u32)))),
                7 => {
                    let d = if g.public(&a) && g.rng.one_in(2) { lit(1 + g.rng.below(12)) } else { pow() };
                    Ex::Bin(*g.rng.pick(&[Op::Div, Op::Mod]), a, Box::new(d))
                }
                8 => Ex::Neg(a),
                9 | 10 => Ex::Cast(Ty::Int, Box::new(g.some_word(depth - 1, public))),
                11 => {
                    let c = Box::new(g.cond(depth - 1, public));
                    Ex::Sel(c, a, Box::new(g.int(depth - 1, public)))
                }
                12 => g.call(&Ty::Int, public)?,
                13 => g.parts(*a, k as u32),
                14 => {
                    // Distance, larger, smaller, clamped: the condition says something of the values.
                    let b = Box::new(g.int(0, public));
                    let c = Box::new(Ex::Cmp(*g.rng.pick(&[Rel::Le, Rel::Lt, Rel::Gt]), a.clone(), b.clone()));
                    let less = |x: &Ex, y: &Ex| Box::new(bin(Op::Sub, x.clone(), y.clone()));
                    match g.rng.below(3) {
                        0 => Ex::Sel(c, less(&b, &a), less(&a, &b)),
                        1 => Ex::Sel(c, a, b),
                        _ => Ex::Sel(c, b, a),
                    }
                }
                15 => {
                    // The carry or borrow of a word.
                    let (x, w) = (g.some_word(0, public), |v: i32, t: &Ty| Box::new(Ex::Lit(v.into(), t.clone())));
                    let Ty::Word(bits) = g.prog.ty(&g.f, &x) else { return None };
                    let (y, t) = (g.word(bits, 0, public), Ty::Int);
                    let sum = bin(*g.rng.pick(&[Op::Add, Op::Sub]), x.clone(), y);
                    Ex::Sel(Box::new(Ex::Cmp(*g.rng.pick(&[Rel::Lt, Rel::Gt]), Box::new(sum), Box::new(x))), w(1, &t), w(0, &t))
                }
                _ => *a,
            })
        })
    }

    /// A value cut in two at bit `k`, and put together again, more or less.
    fn parts(&mut self, a: Ex, k: u32) -> Ex {
        let high = bin(Op::Shr, a.clone(), lit(k));
        let low = bin(Op::And, a.clone(), lit(ones(k)));
        match self.rng.below(4) {
            0 => bin(Op::Add, bin(Op::Shl, high, lit(k)), low),
            1 => bin(Op::Sub, a, bin(Op::Mul, high, lit(BigInt::one() << k))),
            2 => bin(Op::Add, high, low),
            _ => bin(Op::Sub, a, low),
        }
    }

    pub fn some_word(&mut self, depth: u32, public: bool) -> Ex {
        let bits = *self.rng.pick(&self.widths);
        let old = self.var(|v| matches!(v.ty, Ty::Word(_)) && (v.public || !public));
        match old.filter(|_| self.rng.one_in(2)).map(|v| self.f.vars[v].ty.clone()) {
            Some(Ty::Word(b)) => self.word(b, depth, public),
            _ => self.word(bits, depth, public),
        }
    }

    pub fn word(&mut self, bits: u32, depth: u32, public: bool) -> Ex {
        let ty = Ty::Word(bits);
        let leaf = self.leaf(&ty, public);
        if depth == 0 {
            if matches!(leaf, Ex::Lit(..)) {
                let e = self.leaf(&Ty::Int, public);
                return Ex::Cast(ty, Box::new(e));
            }
            return leaf;
        }
        self.tried(leaf, |g| {
            let kind = g.rng.below(13);
            let a = Box::new(if kind >= 10 { lit(0) } else { g.word(bits, depth - 1, public) });
            Some(match kind {
                0..=5 => {
                    let op = [Op::Add, Op::Sub, Op::Mul, Op::And, Op::Or, Op::Xor][kind as usize];
                    let b = if g.rng.one_in(3) { Ex::Lit(g.mask(bits), ty.clone()) } else { g.word(bits, depth - 1, public) };
                    if matches!((&*a, &b), (Ex::Lit(..), Ex::Lit(..))) {
                        return None;
                    }
                    Ex::Bin(op, a, Box::new(b))
                }
                6 | 7 => {
                    let op = *g.rng.pick(&[Op::Shl, Op::Shr, Op::Rotl, Op::Rotr]);
                    let count = match g.rng.below(4) {
                        0 => lit(bits - 1),
                        1 => lit(g.rng.below(u64::from(bits))),
                        _ => g.position(bits as usize, 1),
                    };
                    Ex::Bin(op, a, Box::new(count))
                }
                8 => Ex::Neg(a),
                9 => Ex::Not(a),
                10 => Ex::Cast(ty.clone(), Box::new(g.int(depth - 1, public))),
                11 => Ex::Cast(ty.clone(), Box::new(g.some_word(depth - 1, public))),
                _ if g.rng.one_in(4) => g.call(&ty, public)?,
                _ => {
                    let (c, a) = (g.cond(depth - 1, public), g.word(bits, depth - 1, public));
                    Ex::Sel(Box::new(c), Box::new(a), Box::new(g.word(bits, depth - 1, public)))
                }
            })
        })
    }

    fn mask(&mut self, bits: u32) -> BigInt {
        let run = ones(1 + self.rng.below(u64::from(bits)) as u32);
        match self.rng.below(4) {
            0 => BigInt::from(self.rng.word(bits)),
            1 => (run << self.rng.below(u64::from(bits))) & ones(bits),
            2 => BigInt::one() << self.rng.below(u64::from(bits)),
            _ => run,
        }
    }

    pub fn cond(&mut self, depth: u32, public: bool) -> Ex {
        if self.rng.one_in(6) {
            if let Some(v) = self.var(|v| v.ty == Ty::Bool && (v.public || !public)) {
                return Ex::Var(v);
            }
        }
        if self.rng.one_in(8) {
            if let Some(e) = self.call(&Ty::Bool, public).filter(|e| self.eval(e).is_some()) {
                return e;
            }
        }
        if depth > 0 && self.rng.one_in(5) {
            let (a, b) = (self.cond(depth - 1, public), self.cond(depth - 1, public));
            return match self.rng.below(4) {
                0 => Ex::Not(Box::new(a)),
                1 => bin(Op::And, a, b),
                2 => bin(Op::Or, a, b),
                _ => bin(Op::Xor, a, b),
            };
        }
        let rel = *self.rng.pick(&[Rel::Eq, Rel::Ne, Rel::Lt, Rel::Le, Rel::Gt, Rel::Ge]);
        let a = if self.rng.below(3) > 0 { self.int(depth, public) } else { self.some_word(depth, public) };
        let Some(v) = self.vals(&a) else { return Ex::Cmp(rel, Box::new(a), Box::new(lit(0))) };
        let ty = self.prog.ty(&self.f, &a);
        let b = match (self.rng.below(2), &ty) {
            // A bound inside the values, so that both sides occur.
            (0, _) => Ex::Lit(self.rng.pick(&v).clone(), ty.clone()),
            (_, Ty::Word(w)) => self.word(*w, depth, public),
            _ => self.int(depth, public),
        };
        Ex::Cmp(rel, Box::new(a), Box::new(b))
    }

    pub fn call(&mut self, ty: &Ty, public: bool) -> Option<Ex> {
        let fits = |g: &usize| self.prog.ty(&self.prog.funcs[*g], &self.prog.funcs[*g].result) == *ty;
        let all: Vec<usize> = (0..self.prog.funcs.len()).filter(fits).collect();
        if all.is_empty() {
            return None;
        }
        let g = *self.rng.pick(&all);
        let params: Vec<Var> = self.prog.funcs[g].vars[..self.prog.funcs[g].params].to_vec();
        let mut args = Vec::new();
        for p in params {
            let one = |s: &mut Self, t: &Ty| s.tried(Ex::Lit(p.range.as_ref().map_or(BigInt::zero(), |r| r.0.clone()), t.clone()), |s| {
                let e = match t {
                    Ty::Int => s.int(1, public || p.public),
                    Ty::Word(b) => s.word(*b, 1, public || p.public),
                    _ => s.cond(0, public || p.public),
                };
                let v = s.eval(&e)?;
                within(&v, &p.range).then_some(e)
            });
            args.push(match &p.ty {
                Ty::Arr(t, n) => Ex::List((0..*n).map(|_| one(self, t)).collect()),
                t => one(self, t),
            });
        }
        Some(Ex::Call(g, args))
    }

    /// Any expression of a scalar type.
    pub fn of(&mut self, ty: &Ty, depth: u32, public: bool) -> Ex {
        match ty {
            Ty::Int => self.int(depth, public),
            Ty::Word(b) => self.word(*b, depth, public),
            _ => self.cond(depth, public),
        }
    }

    /// A sum in which everything in scope counts.
    pub fn digest(&mut self) -> Ex {
        let mut sum = self.int(1, false);
        for v in 0..self.f.vars.len() {
            let part = match (&self.env[v], self.f.vars[v].ty.clone()) {
                (None, _) => continue,
                (_, Ty::Int) => Ex::Var(v),
                (_, Ty::Word(_)) => Ex::Cast(Ty::Int, Box::new(Ex::Var(v))),
                (_, Ty::Arr(t, n)) => {
                    let e = Ex::Idx(Box::new(Ex::Var(v)), Box::new(lit(self.rng.below(n as u64))));
                    if *t == Ty::Int { e } else { Ex::Cast(Ty::Int, Box::new(e)) }
                }
                _ => continue,
            };
            let weighted = bin(Op::Mul, part, lit(1 + self.rng.below(5)));
            let more = bin(Op::Add, sum.clone(), weighted);
            if self.eval(&more).is_some() {
                sum = more;
            }
        }
        sum
    }

    /// Signed limbs packed into a word, and bits of it taken out or put in.
    pub fn packed(&mut self) -> Option<Ex> {
        let bits = *self.rng.pick(&[8, 16, 32, 64, 64, 128]);
        let sum = |g: &mut Self| {
            let mut all: Option<Ex> = None;
            for _ in 0..1 + g.rng.below(3) {
                let power = BigInt::one() << g.rng.below(u64::from(bits) - 1);
                let leaf = g.int(0, false);
                let term = if matches!(leaf, Ex::Lit(..)) { Ex::Cast(Ty::Int, Box::new(g.some_word(0, false))) } else { leaf };
                let term = bin(Op::Mul, term, lit(if g.rng.one_in(6) { -power } else { power }));
                all = Some(match all {
                    Some(a) => bin(Op::Add, a, term),
                    None => term,
                });
            }
            Ex::Cast(Ty::Word(bits), Box::new(all.unwrap_or_else(|| lit(0))))
        };
        let a = sum(self);
        let b = if self.rng.one_in(2) { sum(self) } else { Ex::Lit(self.mask(bits), Ty::Word(bits)) };
        let op = *self.rng.pick(&[Op::And, Op::And, Op::Or, Op::Xor]);
        let e = bin(op, a, b);
        self.eval(&e).map(|_| e)
    }
}
