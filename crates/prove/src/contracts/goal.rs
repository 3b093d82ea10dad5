//! Facts and goals: learning conditions, proving conditions.

use crate::algebra::mono::Mono;
use crate::algebra::reduce::{self, Limits};
use crate::algebra::{bound, ideal, Atom, Def, Poly};
use crate::itv::Itv;
use super::props::{Fact, Prop};
use super::run::Exec;
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};
use santoku_num::Bound;

/// Why a goal is open: what is left of it, and the statement of its newest part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    pub residual: String,
    /// Index into [`Exec::locs`].
    pub origin: Option<u32>,
    /// What its newest part is.
    pub newest: &'static str,
    /// The samples show that the goal is false for some input (of a function without `requires`).
    pub refuted: bool,
}

/// Longest residual for which bounds are tried.
const BOUND_TERMS: usize = 8;
/// Terms of a residual that are printed.
const SHOW_TERMS: usize = 8;

impl Exec<'_> {
    /// Adds a condition to what is known. What cannot be used is dropped, which is always sound.
    pub fn assume(&mut self, p: &Prop) {
        match p {
            Prop::And(ps) => ps.iter().for_each(|q| self.assume(q)),
            Prop::Zero(d) => self.assume_zero(d, None),
            Prop::Cong(d, m) => self.assume_zero(d, Some(m)),
            Prop::NonNeg(d) => self.assume_nonneg(d),
            Prop::Flag(f) => self.assume_zero(&f.sub(&Poly::constant(1)), None),
            Prop::Implies(a, b) => {
                if self.prove(a, &Poly::constant(1)).is_ok() {
                    self.assume(b);
                } else if let Some(g) = self.as_flag(a) {
                    self.assume_guarded(&g, b);
                }
            }
            Prop::Iff(a, b) => {
                if let (Some(x), Some(y)) = (self.as_flag(a), self.as_flag(b)) {
                    self.assume_zero(&x.sub(&y), None);
                }
            }
            Prop::Not(q) => {
                if let Some(f) = self.as_flag(q) {
                    self.assume_zero(&f, None);
                }
            }
            Prop::True | Prop::False | Prop::Or(_) => {}
        }
    }

    fn assume_guarded(&mut self, g: &Poly, b: &Prop) {
        match b {
            Prop::And(ps) => ps.iter().for_each(|q| self.assume_guarded(g, q)),
            Prop::Zero(d) => self.facts.push(Fact { p: g.mul(d), modulus: None }),
            Prop::Cong(d, m) => self.facts.push(Fact { p: g.mul(d), modulus: Some(m.clone()) }),
            Prop::Flag(f) => self.facts.push(Fact { p: g.mul(&f.sub(&Poly::constant(1))), modulus: None }),
            _ => {}
        }
    }

    /// Solves for the newest atom that allows it; otherwise keeps the polynomial as a hypothesis.
    fn assume_zero(&mut self, d: &Poly, modulus: Option<&BigInt>) {
        let mut cand: Vec<Atom> = d.atoms().into_iter().collect();
        cand.sort_by_key(|a| std::cmp::Reverse(self.atoms.info(*a).age));
        for a in cand {
            let Some(c) = d.linear_in(a) else { continue };
            let inv = match modulus {
                Some(m) => match c.modinv(m) {
                    Some(v) => v,
                    None => continue,
                },
                None if c.abs().is_one() => c.clone(),
                None => continue,
            };
            let mut def = d.scale(&-inv.clone());
            def.add_term(Mono::atom(a), &inv * &c);
            if let Some(m) = modulus {
                def = def.reduce_coeffs(m);
            }
            let open = self.atoms.info(a).def.is_none() || self.atoms.info(a).named;
            if !open || def.has(a) || self.atoms.depends_through(&def, a) || !self.atoms.flip(a) {
                continue;
            }
            let def = match modulus {
                Some(m) => Def::Cong(self.shorten(&def, m), m.clone()),
                None => {
                    let iv = self.atoms.poly_iv(&def);
                    self.atoms.narrow(a, &iv);
                    Def::Exact(def)
                }
            };
            self.atoms.define(a, def);
            return;
        }
        self.facts.push(Fact { p: d.clone(), modulus: modulus.cloned() });
    }

    /// Normal form of a definition modulo `m` when it is a single term: chains of squarings stay short.
    fn shorten(&self, def: &Poly, m: &BigInt) -> Poly {
        let lim = Limits { steps: 64, terms: 64, names: false };
        match reduce::eliminate(&self.atoms, def, Some(m), &lim) {
            Some(p) if p.len() <= 1 => p,
            _ => def.clone(),
        }
    }

    fn assume_nonneg(&mut self, d: &Poly) {
        if d.atoms().len() > 1 {
            self.bounds.push(d.clone());
        }
        for a in d.atoms() {
            let Some(c) = d.linear_in(a) else { continue };
            let mut rest = d.clone();
            rest.add_term(Mono::atom(a), -c.clone());
            // c a + rest >= 0
            let Some(hi) = self.atoms.poly_iv(&rest).hi.to_big() else { continue };
            let iv = if c.is_positive() {
                Itv::new(-hi.div_floor(&c), Bound::PosInf)
            } else {
                Itv::new(Bound::NegInf, hi.div_floor(&-c))
            };
            self.atoms.narrow(a, &iv);
        }
    }

    /// A condition as a 0/1 polynomial.
    pub fn as_flag(&mut self, p: &Prop) -> Option<Poly> {
        let one = Poly::constant(1);
        Some(match p {
            Prop::True => one,
            Prop::False => Poly::zero(),
            Prop::Flag(f) => f.clone(),
            Prop::Not(q) => one.sub(&self.as_flag(q)?),
            Prop::Zero(d) => {
                let n = self.atoms.num(d.clone());
                self.atoms.is_zero(&n)
            }
            Prop::NonNeg(d) => {
                let n = self.atoms.num(d.clone());
                one.sub(&self.atoms.is_negative(&n))
            }
            Prop::And(ps) => {
                let mut all = one;
                for q in ps {
                    all = all.mul(&self.as_flag(q)?);
                }
                all
            }
            Prop::Or(ps) => {
                let mut none = one.clone();
                for q in ps {
                    none = none.mul(&one.sub(&self.as_flag(q)?));
                }
                one.sub(&none)
            }
            Prop::Implies(a, b) => {
                let (x, y) = (self.as_flag(a)?, self.as_flag(b)?);
                one.sub(&x.mul(&one.sub(&y)))
            }
            Prop::Iff(a, b) => {
                let (x, y) = (self.as_flag(a)?, self.as_flag(b)?);
                one.sub(&x).sub(&y).add(&x.mul(&y).scale(&BigInt::from(2)))
            }
            Prop::Cong(d, m) => self.congruence_flag(d, m),
        })
    }

    fn congruence_flag(&mut self, d: &Poly, m: &BigInt) -> Poly {
        let lim = Limits { steps: 2000, terms: 2000, names: false };
        let nf = reduce::eliminate(&self.atoms, d, Some(m), &lim).unwrap_or_else(|| d.clone());
        if nf.is_zero() {
            return Poly::constant(1);
        }
        let neg = nf.neg().reduce_coeffs(m);
        self.atoms.cong_flag(if nf <= neg { nf } else { neg }, m.clone())
    }

    /// Proves `p` wherever `guard` is 1.
    pub fn prove(&mut self, p: &Prop, guard: &Poly) -> Result<(), Open> {
        match p {
            Prop::True => Ok(()),
            Prop::And(ps) => ps.iter().try_for_each(|q| self.prove(q, guard)),
            Prop::Zero(d) => self.prove_zero(&guard.mul(d), None),
            Prop::Cong(d, m) => self.prove_zero(&guard.mul(d), Some(m)),
            Prop::Flag(f) => self.prove_zero(&guard.mul(&f.sub(&Poly::constant(1))), None),
            Prop::NonNeg(d) => self.prove_nonneg(d, guard),
            Prop::False => self.prove_zero(guard, None),
            Prop::Implies(a, b) => match self.as_flag(a) {
                Some(g) => self.prove(b, &guard.mul(&g)),
                None => Err(self.open(guard, None)),
            },
            Prop::Iff(a, b) => match (self.as_flag(a), self.as_flag(b)) {
                (Some(x), Some(y)) => {
                    let same = self.prove_zero(&guard.mul(&x.sub(&y)), None);
                    if same.is_ok() {
                        return same;
                    }
                    let not = |p: &Poly| Poly::constant(1).sub(p);
                    self.prove(b, &guard.mul(&x))
                        .and_then(|()| self.prove(&b.as_ref().clone().negate(), &guard.mul(&not(&x))))
                        .or_else(|_| {
                            self.prove(a, &guard.mul(&y))?;
                            self.prove(&a.as_ref().clone().negate(), &guard.mul(&not(&y)))
                        })
                        .map_err(|_: Open| same.err().unwrap_or_else(|| self.open(&x.sub(&y), None)))
                }
                _ => Err(self.open(guard, None)),
            },
            Prop::Or(ps) => {
                if ps.iter().any(|q| self.prove(q, guard).is_ok()) {
                    return Ok(());
                }
                // One alternative may assume that the others fail.
                let (first, rest) = ps.split_first().map(|(f, r)| (f.clone(), r.to_vec())).unwrap_or((Prop::False, vec![]));
                match self.as_flag(&first) {
                    Some(g) if !rest.is_empty() => {
                        let g = guard.mul(&Poly::constant(1).sub(&g));
                        let rest = if rest.len() == 1 { rest[0].clone() } else { Prop::Or(rest) };
                        self.prove(&rest, &g)
                    }
                    _ => Err(self.open(guard, None)),
                }
            }
            Prop::Not(q) => match self.as_flag(q) {
                Some(f) => self.prove_zero(&guard.mul(&f), None),
                None => Err(self.open(guard, None)),
            },
        }
    }

    fn prove_zero(&mut self, d: &Poly, modulus: Option<&BigInt>) -> Result<(), Open> {
        let lim = Limits::default();
        let Some(a) = reduce::eliminate(&self.atoms, d, modulus, &lim) else { return Err(self.too_large()) };
        if a.is_zero() {
            return Ok(());
        }
        let hyps = self.hypotheses(modulus, false);
        let by_hyps = ideal::reduce(&a, &hyps, modulus);
        if by_hyps.is_zero() {
            return Ok(());
        }
        let Some(b) = reduce::eliminate(&self.atoms, &a, modulus, &Limits { names: true, ..lim }) else {
            return Err(self.open(&by_hyps, modulus));
        };
        if b.is_zero() {
            return Ok(());
        }
        let hyps = self.hypotheses(modulus, true);
        let c = ideal::reduce(&b, &hyps, modulus);
        if c.is_zero() {
            return Ok(());
        }
        for left in [&by_hyps, &c] {
            let tests = self.zero_tests(left, modulus);
            if !tests.is_empty() && ideal::reduce(left, &tests, modulus).is_zero() {
                return Ok(());
            }
        }
        let refuted = self.sampled_nonzero(d, modulus);
        if !refuted && modulus.is_none() && self.zero_by_size(d, &[&by_hyps, &c]) {
            return Ok(());
        }
        if !refuted && [&a, &b].iter().any(|r| self.zero_by_bounds(r, modulus)) {
            return Ok(());
        }
        let high = if by_hyps.len() <= a.len() { by_hyps } else { a };
        let mut low = if c.len() <= b.len() { c } else { b };
        let gathered = self.atoms.collapse(&low);
        if gathered.len() < low.len() {
            low = gathered;
        }
        let mut open = self.open(&low, modulus);
        if high != low && high.len() <= SHOW_TERMS {
            open.residual = format!("{}, that is {}", self.open(&high, modulus).residual, open.residual);
        }
        open.refuted = refuted;
        Err(open)
    }

    /// What is left is a multiple of a power of two, and `d` is below that: of a sum that has room for all of it, nothing is shifted out.
    fn zero_by_size(&self, d: &Poly, left: &[&Poly]) -> bool {
        let itv = self.atoms.poly_iv(d);
        let (Some(lo), Some(hi)) = (itv.lo.to_big(), itv.hi.to_big()) else { return false };
        let by = BigInt::one() << lo.bits().max(hi.bits());
        left.iter().any(|p| p.reduce_coeffs(&by).is_zero())
    }

    /// A short combination of carries that is zero because of their sizes: `q - q'` for the same carry found twice.
    fn zero_by_bounds(&self, p: &Poly, modulus: Option<&BigInt>) -> bool {
        let carry = |a: &Atom| a.is_bool() || self.atoms.info(*a).quot.is_some();
        if p.len() > BOUND_TERMS || !p.atoms().iter().any(carry) {
            return false;
        }
        let p = match (modulus, p.terms().next()) {
            (Some(m), Some((_, c))) => match c.modinv(m) {
                Some(inv) => Poly::from_terms(p.terms().map(|(t, c)| (t.clone(), symmetric(&(c * &inv), m)))),
                None => return false,
            },
            _ => p.clone(),
        };
        p.terms().all(|(_, c)| c.bits() <= 64) && bound::zero(&self.atoms, &self.bounds, &p, &Poly::constant(1))
    }

    /// Of each test `x == 0` that occurs in `p`: it times `x` is zero.
    fn zero_tests(&self, p: &Poly, modulus: Option<&BigInt>) -> Vec<Poly> {
        let lim = Limits { steps: 2000, terms: 2000, names: false };
        let all = self.atoms.tested_zero(&p.atoms());
        all.into_iter().filter_map(|(flag, x)| reduce::eliminate(&self.atoms, &x.mul(&Poly::atom(flag)), modulus, &lim)).filter(|h| !h.is_zero()).collect()
    }

    /// Facts usable modulo `modulus`, in normal form.
    fn hypotheses(&self, modulus: Option<&BigInt>, names: bool) -> Vec<Poly> {
        let lim = Limits { steps: 2000, terms: 4000, names };
        self.facts
            .iter()
            .filter(|f| match (&f.modulus, modulus) {
                (None, _) => true,
                (Some(n), Some(m)) => (n % m).is_zero(),
                (Some(_), None) => false,
            })
            .filter_map(|f| reduce::eliminate(&self.atoms, &f.p, modulus, &lim))
            .filter(|p| !p.is_zero())
            .collect()
    }

    fn sampled_nonzero(&self, d: &Poly, modulus: Option<&BigInt>) -> bool {
        self.samples_allowed
            && self.atoms.sim(d).is_some_and(|s| {
                s.iter().any(|v| match modulus {
                    Some(m) => !v.mod_floor(m).is_zero(),
                    None => !v.is_zero(),
                })
            })
    }

    fn prove_nonneg(&mut self, d: &Poly, guard: &Poly) -> Result<(), Open> {
        if bound::nonnegative(&self.atoms, &self.bounds, d, guard) {
            return Ok(());
        }
        Err(self.open(d, None))
    }

    /// What an atom is, for people.
    fn part(&self, a: Atom) -> &'static str {
        let i = self.atoms.info(a);
        match () {
            () if i.quot.is_some() && a.is_bool() => "the carry or borrow",
            () if i.quot.is_some() => "what is shifted out",
            () if i.rem_of.is_some() => "the low bits",
            () if a.is_bool() => "the condition",
            () => "the value",
        }
    }

    fn too_large(&self) -> Open {
        Open { residual: "the goal grew beyond the budget of the algebra engine".into(), origin: None, newest: "", refuted: false }
    }

    fn open(&self, p: &Poly, modulus: Option<&BigInt>) -> Open {
        let p = match modulus {
            Some(m) => Poly::from_terms(p.terms().map(|(t, c)| (t.clone(), symmetric(c, m)))),
            None => p.clone(),
        };
        let newest = p.atoms().into_iter().max_by_key(|a| self.atoms.info(*a).age);
        Open {
            residual: self.atoms.show(&p, SHOW_TERMS),
            origin: newest.map(|a| self.atoms.info(a).origin),
            newest: newest.map_or("", |a| self.part(a)),
            refuted: false,
        }
    }
}

/// Representative of least absolute value.
fn symmetric(c: &BigInt, m: &BigInt) -> BigInt {
    let r = c.mod_floor(m);
    if &r * 2 > *m {
        r - m
    } else {
        r
    }
}
