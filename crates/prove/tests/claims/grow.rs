//! Random functions, grown statement by statement; what would break on some input is not kept.
//!
//! Needs: a seed.  Keeps: every function runs on all of its inputs.  Absent: programs whose proof needs cleverness; these
//! are for the edges of each rule: signs, wraps, odd widths, counts of 0 and width - 1, single values.

use crate::ast::{Ex, Func, Op, Prog, Rel, St, Table, Ty, Var};
use crate::run::{bounds, count, inputs, ones, within, Env, Run, Seen, Val};
use num_bigint::BigInt;
use num_traits::{One, Zero};
use santoku_ir::gen::Rng;

/// Inputs of one function, at most.
const INPUTS: u64 = 320;
const WIDTHS: [u32; 24] = [1, 2, 3, 4, 5, 7, 8, 8, 9, 13, 16, 17, 24, 31, 32, 33, 48, 63, 64, 64, 65, 96, 127, 128];

pub struct Grow<'r> {
    pub rng: &'r mut Rng,
    pub prog: Prog,
    pub f: Func,
    pub env: Env,
    pub n: usize,
    pub widths: Vec<u32>,
    /// Positions inside positions.
    deep: u32,
}

fn lit(v: impl Into<BigInt>) -> Ex {
    Ex::Lit(v.into(), Ty::Int)
}

fn bin(op: Op, a: Ex, b: Ex) -> Ex {
    Ex::Bin(op, Box::new(a), Box::new(b))
}

/// A program: tables, structs, up to two helpers, then `main` with its body and values at its end.
pub fn program(rng: &mut Rng) -> Option<Grow<'_>> {
    let widths: Vec<u32> = (0..2 + rng.below(2)).map(|_| *rng.pick(&WIDTHS)).collect();
    let mut prog = Prog::default();
    for _ in 0..rng.below(3) {
        let elem = if rng.one_in(2) { Ty::Int } else { Ty::Word(*rng.pick(&widths)) };
        let n = 1 + rng.below(7) as usize;
        let values = (0..n).map(|_| constant(rng, &elem)).collect();
        prog.tables.push(Table { elem, values });
    }
    for _ in 0..rng.below(2) {
        let fields = (0..1 + rng.below(3))
            .map(|_| match rng.below(2) {
                0 => (Ty::Word(*rng.pick(&widths)), None),
                _ => (Ty::Int, Some((BigInt::from(-300), BigInt::from(300 + rng.below(200))))),
            })
            .collect();
        prog.structs.push(fields);
    }
    let helpers = rng.below(3);
    let mut g = Grow { rng, prog, f: empty("h0"), env: Vec::new(), n: 0, widths, deep: 0 };
    for i in 0..helpers {
        g.helper(i)?;
    }
    g.start("main", INPUTS);
    let statements = 1 + g.rng.below(7);
    for _ in 0..statements {
        g.statement(2);
    }
    Some(g)
}

fn empty(name: &str) -> Func {
    Func {
        name: name.into(),
        vars: Vec::new(),
        params: 0,
        body: Vec::new(),
        result: lit(0),
        ret: None,
        needs: Vec::new(),
        clauses: Vec::new(),
        tail: None,
    }
}

fn constant(rng: &mut Rng, ty: &Ty) -> BigInt {
    match ty {
        Ty::Word(b) => BigInt::from(rng.word(*b)),
        _ => match rng.below(4) {
            0 => BigInt::from(rng.below(5)),
            1 => BigInt::from(rng.below(41)) - 20,
            2 => (BigInt::one() << rng.below(20)) - BigInt::from(rng.below(3)),
            _ => BigInt::from(rng.below(3)) - (BigInt::one() << rng.below(34)),
        },
    }
}

impl Grow<'_> {
    /// A fresh function with random parameters, all inputs listed.
    fn start(&mut self, name: &str, most: u64) {
        self.f = empty(name);
        let mut total = 1;
        for i in 0..1 + self.rng.below(3) {
            let (ty, range) = match self.rng.below(8) {
                0..=4 => {
                    let lo = BigInt::from(self.rng.below(12)) - 7;
                    let hi = &lo + 1 + self.rng.below(9);
                    (Ty::Int, Some((lo, hi)))
                }
                5 => (Ty::Word(1 + self.rng.below(5) as u32), None),
                6 => (Ty::Bool, None),
                _ if self.rng.one_in(2) => (Ty::Arr(Box::new(Ty::Word(1 + self.rng.below(2) as u32)), 2), None),
                _ => (Ty::Arr(Box::new(Ty::Int), 2), Some((BigInt::from(-1), BigInt::from(1 + self.rng.below(3))))),
            };
            let n = count(&ty, &range).unwrap_or(u64::MAX);
            if n * total > most {
                continue;
            }
            total *= n;
            let public = self.rng.one_in(2);
            self.f.vars.push(Var { name: format!("p{i}"), ty, range, public, mutable: false });
        }
        self.f.params = self.f.vars.len();
        self.need();
        if let Some((env, n)) = inputs(&self.f) {
            (self.env, self.n) = (env, n);
        }
    }

    /// Sometimes the parameters are related.
    fn need(&mut self) {
        let ints: Vec<usize> = (0..self.f.params).filter(|v| self.f.vars[*v].ty == Ty::Int).collect();
        if ints.is_empty() || self.rng.below(3) > 0 {
            return;
        }
        let (x, y) = (Ex::Var(*self.rng.pick(&ints)), Ex::Var(*self.rng.pick(&ints)));
        let sum = match self.rng.below(4) {
            0 => bin(Op::Add, x, y),
            1 => bin(Op::Sub, x, bin(Op::Mul, y, lit(2))),
            _ => bin(Op::Sub, x, y),
        };
        let rel = *self.rng.pick(&[Rel::Le, Rel::Ge, Rel::Lt, Rel::Eq, Rel::Ne]);
        let c = self.rng.below(9) as i64 - 4;
        self.f.needs.push(Ex::Cmp(rel, Box::new(sum), Box::new(lit(c))));
        if inputs(&self.f).is_none() {
            self.f.needs.clear();
        }
    }

    fn helper(&mut self, nr: u64) -> Option<()> {
        self.start(&format!("h{nr}"), 64);
        for _ in 0..self.rng.below(3) {
            self.statement(1);
        }
        let result = match self.rng.below(6) {
            0 => self.cond(2, false),
            1 => Ex::List((0..1 + self.rng.below(3)).map(|_| self.int(1, false)).collect()),
            2 | 3 => self.int(2, false),
            _ => self.some_word(2, false),
        };
        let ty = self.prog.ty(&self.f, &result);
        if let (true, Some(v)) = (ty != Ty::Bool, self.vals(&result)) {
            let (lo, hi) = bounds(&v);
            if ty == Ty::Int && self.rng.one_in(2) {
                self.f.ret = Some((lo.clone(), hi.clone()));
            }
            if self.rng.one_in(3) {
                self.f.clauses.push(format!("ensures result <= {hi}"));
                self.f.clauses.push(format!("ensures result >= {lo}"));
            }
        }
        self.f.result = result;
        let f = std::mem::replace(&mut self.f, empty("none"));
        self.prog.funcs.push(f);
        Some(())
    }

    pub fn eval(&self, e: &Ex) -> Option<Val> {
        let seen = Seen::default();
        Run { prog: &self.prog, func: &self.f, n: self.n, seen: &seen }.eval(&self.env, e)
    }
    pub fn vals(&self, e: &Ex) -> Option<Vec<BigInt>> {
        self.eval(e)?.sc().map(<[BigInt]>::to_vec)
    }
    pub fn public(&self, e: &Ex) -> bool {
        let seen = Seen::default();
        Run { prog: &self.prog, func: &self.f, n: self.n, seen: &seen }.public(e)
    }

    /// `make`, tried until it runs on all inputs.
    fn tried(&mut self, fallback: Ex, make: impl Fn(&mut Self) -> Option<Ex>) -> Ex {
        for _ in 0..4 {
            if let Some(e) = make(self).filter(|e| self.eval(e).is_some()) {
                return e;
            }
        }
        fallback
    }

    fn var(&mut self, ok: impl Fn(&Var) -> bool) -> Option<usize> {
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

    fn word(&mut self, bits: u32, depth: u32, public: bool) -> Ex {
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

    fn call(&mut self, ty: &Ty, public: bool) -> Option<Ex> {
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

    fn fresh(&mut self, ty: Ty, public: bool, mutable: bool) -> usize {
        let name = format!("v{}", self.f.vars.len());
        self.f.vars.push(Var { name, ty, range: None, public, mutable });
        self.env.push(None);
        self.f.vars.len() - 1
    }

    /// Adds a statement if it runs on every input.
    fn statement(&mut self, nesting: u32) {
        let before = (self.f.vars.len(), self.env.clone());
        for _ in 0..3 {
            if let Some(s) = self.make(nesting) {
                self.env.truncate(before.0);
                let mut env = before.1.clone();
                env.resize(self.f.vars.len(), None);
                if self.runs(&mut env, &s) {
                    self.env = env;
                    self.f.body.push(s);
                    return;
                }
            }
            self.f.vars.truncate(before.0);
            self.env.clone_from(&before.1);
        }
    }

    fn runs(&self, env: &mut Env, s: &St) -> bool {
        let seen = Seen::default();
        Run { prog: &self.prog, func: &self.f, n: self.n, seen: &seen }.statement(env, s).is_some()
    }

    fn make(&mut self, nesting: u32) -> Option<St> {
        match self.rng.below(10) {
            0..=2 => self.scalar(false),
            3 => self.scalar(true),
            4 => self.set(false),
            5 => self.array(),
            6 => self.record(),
            7 if nesting > 0 => self.repeat(nesting),
            8 | 9 if nesting > 0 => self.branch(nesting),
            _ => self.set(false),
        }
    }

    fn scalar(&mut self, mutable: bool) -> Option<St> {
        let public = self.rng.one_in(2);
        let e = match self.rng.below(9) {
            // A single value, whatever is computed from it.
            8 => {
                let ty = if self.rng.one_in(2) { Ty::Int } else { Ty::Word(*self.rng.pick(&self.widths)) };
                Ex::Lit(constant(self.rng, &ty), ty)
            }
            0..=3 => self.int(2, public),
            4..=6 => self.some_word(2, public),
            _ => self.cond(1, public),
        };
        let (ty, public) = (self.prog.ty(&self.f, &e), self.public(&e));
        let v = self.fresh(ty, public, mutable);
        Some(St::Let(v, e))
    }

    /// Any expression of a scalar type.
    fn of(&mut self, ty: &Ty, depth: u32, public: bool) -> Ex {
        match ty {
            Ty::Int => self.int(depth, public),
            Ty::Word(b) => self.word(*b, depth, public),
            _ => self.cond(depth, public),
        }
    }

    fn array(&mut self) -> Option<St> {
        let ty = if self.rng.one_in(2) { Ty::Int } else { Ty::Word(*self.rng.pick(&self.widths)) };
        let public = self.rng.one_in(2);
        let n = 1 + self.rng.below(5) as usize;
        if let Some(e) = self.call(&Ty::Arr(Box::new(Ty::Int), n.min(3)), public) {
            let (public, mutable) = (self.public(&e), self.rng.one_in(2));
            let v = self.fresh(Ty::Arr(Box::new(Ty::Int), n.min(3)), public, mutable);
            return Some(St::Let(v, e));
        }
        let es: Vec<Ex> = (0..n).map(|_| self.of(&ty, 1, public)).collect();
        let public = es.iter().all(|e| self.public(e));
        let mutable = self.rng.below(3) > 0;
        let v = self.fresh(Ty::Arr(Box::new(ty), es.len()), public, mutable);
        Some(St::Let(v, Ex::List(es)))
    }

    fn record(&mut self) -> Option<St> {
        if self.prog.structs.is_empty() {
            return None;
        }
        let s = self.rng.below(self.prog.structs.len() as u64) as usize;
        let fields = self.prog.structs[s].clone();
        let es: Vec<Ex> = fields.iter().map(|(t, _)| self.of(t, 1, false)).collect();
        let v = self.fresh(Ty::Struct(s), false, false);
        Some(St::Let(v, Ex::Rec(s, es)))
    }

    /// A variable, an element or a slice is written. `secret`: the condition around it is.
    fn set(&mut self, secret: bool) -> Option<St> {
        let v = self.var(|v| v.mutable && !(secret && v.public))?;
        let var = self.f.vars[v].clone();
        let place = Box::new(Ex::Var(v));
        Some(match var.ty {
            Ty::Arr(t, n) if self.rng.below(3) > 0 || n == 1 => {
                let at = Box::new(self.position(n, 1));
                St::Set(Ex::Idx(place, at), self.of(&t, 1, var.public))
            }
            Ty::Arr(_, n) => {
                let k = 1 + self.rng.below(n as u64 - 1) as usize;
                let (to, from) = (self.position(n, k), self.position(n, k));
                // Of the same array: source and destination may overlap.
                St::Set(Ex::Slice(place.clone(), Box::new(to), k), Ex::Slice(place, Box::new(from), k))
            }
            Ty::Struct(_) => return None,
            ty => {
                let e = self.of(&ty, 2, var.public);
                St::Set(*place, e)
            }
        })
    }

    fn inner(&mut self, nesting: u32, secret: bool) -> Vec<St> {
        let outer = std::mem::take(&mut self.f.body);
        for _ in 0..1 + self.rng.below(3) {
            if self.rng.below(3) > 0 || secret {
                let before = self.env.clone();
                if let Some(s) = self.set(secret) {
                    let mut env = before;
                    if self.runs(&mut env, &s) {
                        self.env = env;
                        self.f.body.push(s);
                    }
                }
            } else {
                self.statement(nesting - 1);
            }
        }
        std::mem::replace(&mut self.f.body, outer)
    }

    fn repeat(&mut self, nesting: u32) -> Option<St> {
        let lo = self.rng.below(4) as i64 - 1;
        let hi = lo + 1 + self.rng.below(5) as i64;
        let (mut from, mut to) = (lit(lo), lit(hi));
        // Bounds that only the run knows: the loop is followed by what holds in every round.
        if self.rng.one_in(2) {
            let e = self.int(1, true);
            if let Some((a, b)) = self.vals(&e).map(|v| bounds(&v)).filter(|(a, b)| b - a < BigInt::from(9) && a != b) {
                if self.rng.below(4) > 0 {
                    to = bin(Op::Add, e, lit(BigInt::from(lo) - a + self.rng.below(2)));
                } else {
                    from = bin(Op::Add, e, lit(BigInt::from(hi) - b - self.rng.below(2)));
                }
            }
        }
        let rev = self.rng.one_in(3);
        let var = self.fresh(Ty::Int, true, false);
        let env = self.env.clone();
        let keep: Vec<usize> = {
            let (a, b) = (self.vals(&from)?, self.vals(&to)?);
            (0..self.n).filter(|i| a[*i] < b[*i]).collect()
        };
        let n = self.n;
        let at = if rev { bin(Op::Sub, to.clone(), lit(1)) } else { from.clone() };
        self.env[var] = self.eval(&at);
        self.env = self.env.iter().map(|v| v.as_ref().map(|v| v.at(&keep))).collect();
        self.n = keep.len();
        let body = if keep.is_empty() { Vec::new() } else { self.inner(nesting, false) };
        (self.env, self.n) = (env, n);
        self.env.resize(self.f.vars.len(), None);
        (!body.is_empty()).then_some(St::For { var, lo: from, hi: to, rev, invariants: Vec::new(), body })
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

    fn branch(&mut self, nesting: u32) -> Option<St> {
        let public = self.rng.one_in(2);
        let c = self.cond(1, public);
        let secret = !self.public(&c);
        let truth = self.vals(&c)?;
        let then = self.side(nesting, secret, truth.iter().map(|v| !v.is_zero()))?;
        let els = if self.rng.one_in(2) { self.side(nesting, secret, truth.iter().map(Zero::is_zero))? } else { Vec::new() };
        (!then.is_empty()).then_some(St::If(c, then, els))
    }

    /// One side of a branch, grown for the inputs that go there.
    fn side(&mut self, nesting: u32, secret: bool, goes: impl Iterator<Item = bool>) -> Option<Vec<St>> {
        let keep: Vec<usize> = goes.enumerate().filter(|(_, g)| *g || secret).map(|(i, _)| i).collect();
        if keep.is_empty() {
            return None;
        }
        let (env, n) = (self.env.clone(), self.n);
        self.env = env.iter().map(|v| v.as_ref().map(|v| v.at(&keep))).collect();
        self.n = keep.len();
        let body = self.inner(nesting, secret);
        (self.env, self.n) = (env, n);
        self.env.resize(self.f.vars.len(), None);
        Some(body)
    }
}
