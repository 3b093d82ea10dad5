//! Random functions, grown statement by statement; what would break on some input is not kept.
//!
//! Needs: a seed.  Keeps: every function runs on all of its inputs.  Absent: programs whose proof needs cleverness; these
//! are for the edges of each rule: signs, wraps, odd widths, counts of 0 and width - 1, single values.

use crate::ast::{Ex, Func, Op, Prog, Rel, St, Table, Ty, Var};
use crate::run::{bounds, count, inputs, Env, Run, Seen, Val};
use num_bigint::BigInt;
use num_traits::{One, Zero};
use santoku_ir::gen::Rng;

/// Inputs of one function, at most.
const INPUTS: u64 = 320;
/// Widths that rules have edges at.
const WIDTHS: [u32; 24] = [1, 2, 3, 4, 5, 7, 8, 8, 9, 13, 16, 17, 24, 31, 32, 33, 48, 63, 64, 64, 65, 96, 127, 128];

pub struct Grow<'r> {
    pub rng: &'r mut Rng,
    pub prog: Prog,
    pub f: Func,
    pub env: Env,
    pub n: usize,
    pub widths: Vec<u32>,
    /// Positions inside positions.
    pub deep: u32,
}

pub fn lit(v: impl Into<BigInt>) -> Ex {
    Ex::Lit(v.into(), Ty::Int)
}

pub fn bin(op: Op, a: Ex, b: Ex) -> Ex {
    Ex::Bin(op, Box::new(a), Box::new(b))
}

/// A program: tables, structs, up to two helpers, then `main` with its body and values at its end.
pub fn program(rng: &mut Rng) -> Option<Grow<'_>> {
    let widths: Vec<u32> = (0..2 + rng.below(2)).map(|_| if rng.one_in(3) { 1 + rng.below(128) as u32 } else { *rng.pick(&WIDTHS) }).collect();
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

pub fn constant(rng: &mut Rng, ty: &Ty) -> BigInt {
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
