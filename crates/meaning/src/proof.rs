//! Proofs, which somebody finds and this checks: that a polynomial is zero, by substitutions and multiples of facts; that it
//! is not negative, by sums of what is known, in cases of 0/1 atoms.

use crate::atoms::{Atoms, Def};
use crate::poly::{inverse, Atom, Mono, Poly};
use santoku_num::Int;
use std::borrow::Cow;

/// What is known where a proof is asked for.
#[derive(Clone, Debug)]
pub struct Known<'r> {
    pub atoms: &'r Atoms,
    /// The case at hand: 0/1 atoms with what they are.
    pub fixed: Vec<(Atom, bool)>,
    /// Not negative in this case.
    pub assumed: Vec<Poly>,
    /// Zero, exactly or modulo a number.
    pub zeros: Cow<'r, [(Poly, Option<Int>)]>,
    /// Not negative where the second is 1.
    pub least: &'r [(Poly, Poly)],
}

/// A step towards zero.
#[derive(Clone, Debug)]
pub enum Step {
    /// An atom becomes what a fact, solved for it, says.
    Rewrite { fact: usize, atom: Atom },
    /// A name becomes what it names.
    Expand(Atom),
    /// A name becomes another one of the same.
    Rename(Atom, Atom),
    /// A multiple of a fact is added.
    Add { fact: usize, times: Poly },
}

/// Why something is zero.
#[derive(Clone, Debug)]
pub enum Zero {
    Steps(Vec<Step>),
    /// The atom is 0; it is 1.
    Case(Atom, Box<(Zero, Zero)>),
    /// What the steps leave, times a number that has an inverse, is this polynomial, which is neither positive nor negative.
    Pinned { steps: Vec<Step>, times: Int, to: Poly, sides: Box<(Tree, Tree)> },
    /// It is zero modulo a number, more than minus that number, and less than it.
    Within { by: Int, modulo: Box<Zero>, sides: Box<(Tree, Tree)> },
    /// Something else is zero, and is a fact from then on.
    Lemma { of: Poly, why: Box<Zero>, then: Box<Zero> },
}

/// What is not negative; of those marked `= 0`, the opposite neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    Least(usize),
    /// What the case assumes.
    Assumed(usize),
    /// A fact that is exact, `= 0`.
    Zero(usize),
    /// The guard less 1, `= 0`.
    Guard,
    /// The opposite of what is to be shown, less 1.
    Negated,
    /// Of a quotient: the remainder; the divisor less the remainder less 1.
    Rest(Atom),
    Below(Atom),
    /// A name less what it names, `= 0`.
    Name(Atom),
    /// A product of two names less that of what they name, `= 0`.
    Product(Atom, Atom),
    /// Of a truth that something is zero: that times the truth, `= 0`; what is never negative, and the truth, less 1.
    Flag(Atom),
    Unless(Atom),
    /// A sum made before.
    Sum(usize),
}

#[derive(Clone, Debug)]
pub enum Tree {
    /// Sums of rows, each divided by the common divisor of its coefficients and rounded down; the last cannot be.
    Leaf(Vec<Vec<(Row, Int)>>),
    /// The atom is 0; it is 1.
    Case(Atom, Box<(Tree, Tree)>),
    /// The atom is at most this; it is more.
    Split(Atom, Int, Box<(Tree, Tree)>),
}

impl Known<'_> {
    /// The same where a 0/1 atom is fixed.
    pub fn case(&self, atom: Atom, to: bool) -> Self {
        let others = self.atoms.others(atom).filter(|_| to).map(|b| (b, false));
        Known { fixed: self.fixed.iter().copied().chain([(atom, to)]).chain(others).collect(), ..self.clone() }
    }

    /// The same where a polynomial is not negative.
    pub fn assuming(&self, p: Poly) -> Self {
        Known { assumed: self.assumed.iter().cloned().chain([p]).collect(), ..self.clone() }
    }

    /// The same with another fact.
    pub fn with(&self, zero: &Poly) -> Self {
        Known { zeros: self.zeros.iter().cloned().chain([(zero.clone(), None)]).collect(), ..self.clone() }
    }

    /// A polynomial in the case at hand.
    pub fn here(&self, p: &Poly) -> Poly {
        p.fixed(&self.fixed)
    }

    /// What a name names here.
    pub fn name(&self, a: Atom) -> Option<Poly> {
        if let Def::Name(p) = self.atoms.def(a) { Some(self.here(p)) } else { None }
    }

    /// A fact usable modulo `m`.
    pub fn fact(&self, nr: usize, m: Option<&Int>) -> Option<Poly> {
        let (p, n) = self.zeros.get(nr)?;
        let usable = match (n, m) {
            (None, _) => true,
            (Some(n), Some(m)) => n.mod_floor(m)? == Int::ZERO,
            (Some(_), None) => false,
        };
        usable.then(|| self.here(p))
    }

    /// What a fact says that an atom is.
    pub fn solved(&self, nr: usize, atom: Atom, m: Option<&Int>) -> Option<Poly> {
        let (c, rest) = self.fact(nr, m)?.linear_in(atom)?;
        let inv = match m {
            Some(m) => inverse(&c, m)?,
            None if c == Int::Small(1) || c == Int::Small(-1) => c,
            None => return None,
        };
        let by = rest.scale(&inv.neg());
        m.map_or(Some(by.clone()), |m| by.modulo(m))
    }

    fn step(&self, p: &Poly, step: &Step, m: Option<&Int>) -> Option<Poly> {
        let next = match step {
            Step::Rewrite { fact, atom } => p.replace(*atom, &self.solved(*fact, *atom, m)?, TERMS)?,
            Step::Expand(atom) => p.replace(*atom, &self.name(*atom)?, TERMS)?,
            Step::Rename(atom, to) if self.name(*atom)? == self.name(*to)? => p.replace(*atom, &Poly::atom(*to), TERMS)?,
            Step::Rename(..) => return None,
            Step::Add { fact, times } => p.add(&self.fact(*fact, m)?.mul(times)),
        };
        m.map_or(Some(next.clone()), |m| next.modulo(m))
    }

    /// What the steps make of a polynomial; it is zero (modulo `m`) if this is.
    pub fn after(&self, steps: &[Step], p: &Poly, m: Option<&Int>) -> Option<Poly> {
        let first = m.map_or(Some(p.clone()), |m| p.modulo(m))?;
        steps.iter().try_fold(first, |p, s| self.step(&p, s, m))
    }

    pub fn is_zero(&self, proof: &Zero, p: &Poly, m: Option<&Int>) -> bool {
        match proof {
            Zero::Steps(steps) => self.after(steps, &self.here(p), m).is_some_and(|p| p.is_zero()),
            Zero::Pinned { steps, times, to, sides } => self.is_pinned(steps, times, to, sides, p, m).unwrap_or(false),
            Zero::Within { by, modulo, sides } => {
                let above = |p: Poly| p.shift(by.sub(&Int::Small(1)));
                let (low, high, anywhere) = (above(p.clone()), above(p.scale(&Int::Small(-1))), Poly::constant(1u8));
                *by > Int::ZERO && self.is_zero(modulo, p, Some(by)) && self.is_least(&sides.0, &low, &anywhere) && self.is_least(&sides.1, &high, &anywhere)
            }
            Zero::Lemma { of, why, then } => self.is_zero(why, of, None) && self.with(of).is_zero(then, p, m),
            Zero::Case(a, sides) => a.is_bool() && self.case(*a, false).is_zero(&sides.0, p, m) && self.case(*a, true).is_zero(&sides.1, p, m),
        }
    }

    fn is_pinned(&self, steps: &[Step], times: &Int, to: &Poly, sides: &(Tree, Tree), p: &Poly, m: Option<&Int>) -> Option<bool> {
        let left = self.after(steps, &self.here(p), m)?.scale(times).sub(to);
        let same = match m {
            Some(m) => inverse(times, m).is_some() && left.modulo(m)?.is_zero(),
            None => *times != Int::ZERO && left.is_zero(),
        };
        let anywhere = Poly::constant(1u8);
        Some(same && self.is_least(&sides.0, to, &anywhere) && self.is_least(&sides.1, &to.scale(&Int::Small(-1)), &anywhere))
    }

    /// Whether `goal >= 0` wherever the 0/1 polynomial `guard` is 1.
    pub fn is_least(&self, tree: &Tree, goal: &Poly, guard: &Poly) -> bool {
        match tree {
            Tree::Leaf(sums) => self.absurd(sums, goal, guard).unwrap_or(false),
            Tree::Split(a, at, sides) => {
                let above = Poly::atom(*a).shift(at.neg());
                self.assuming(above.scale(&Int::Small(-1))).is_least(&sides.0, goal, guard) && self.assuming(above.shift(-1i32)).is_least(&sides.1, goal, guard)
            }
            Tree::Case(a, sides) => a.is_bool() && self.case(*a, false).is_least(&sides.0, goal, guard) && self.case(*a, true).is_least(&sides.1, goal, guard),
        }
    }

    /// A fact that is not negative wherever `guard` is 1.
    fn fact_of_order(&self, nr: usize, guard: &Poly) -> Option<Poly> {
        let (p, where_) = self.least.get(nr)?;
        let guard = self.here(guard);
        (guard.mul(&self.here(where_)) == guard).then(|| p.clone())
    }

    /// The polynomial of a row, and whether it is zero.
    pub fn row(&self, row: Row, goal: &Poly, guard: &Poly) -> Option<(Poly, bool)> {
        let rest = |a: Atom| if let Def::Quotient(p, d) = self.atoms.def(a) { Some((p.plus(&d.neg(), &Poly::atom(a)), d)) } else { None };
        let (p, zero) = match row {
            Row::Least(n) => (self.fact_of_order(n, guard)?, false),
            Row::Assumed(n) => (self.assumed.get(n)?.clone(), false),
            Row::Zero(n) => (self.zeros.get(n).filter(|z| z.1.is_none())?.0.clone(), true),
            Row::Guard => (guard.shift(-1i32), true),
            Row::Negated => (goal.scale(&Int::Small(-1)).shift(-1i32), false),
            Row::Rest(a) => (rest(a)?.0, false),
            Row::Below(a) => rest(a).map(|(r, d)| (Poly::constant(d.sub(&Int::Small(1))).sub(&r), false))?,
            Row::Name(a) => (self.name(a)?.sub(&Poly::atom(a)), true),
            Row::Product(a, b) => (self.name(a)?.mul(&self.name(b)?).sub(&Poly::atom(a).mul(&Poly::atom(b))), true),
            Row::Flag(a) => (self.atoms.zero_of(a)?.mul(&Poly::atom(a)), true),
            Row::Unless(a) => {
                let p = self.atoms.zero_of(a).filter(|p| self.atoms.bound(p).is_some_and(|i| !i.lo.is_negative()))?;
                (p.add(&Poly::atom(a)).shift(-1i32), false)
            }
            Row::Sum(_) => return None,
        };
        Some((self.here(&p), zero))
    }

    fn absurd(&self, sums: &[Vec<(Row, Int)>], goal: &Poly, guard: &Poly) -> Option<bool> {
        let mut made: Vec<Poly> = vec![];
        for parts in sums {
            let mut sum = Poly::default();
            for (row, factor) in parts {
                let (p, zero) = match row {
                    Row::Sum(n) => (made.get(*n)?.clone(), false),
                    row => self.row(*row, goal, guard)?,
                };
                if factor.is_negative() && !zero {
                    return None;
                }
                sum = sum.plus(factor, &p);
            }
            made.push(tightened(&sum)?);
        }
        Some(self.atoms.bound(made.last()?)?.hi.is_negative())
    }
}

/// `p >= 0` says of integers that this is so, too.
pub fn tightened(p: &Poly) -> Option<Poly> {
    let mut common = Int::ZERO;
    for (_, c) in p.terms().filter(|(m, _)| !m.is_one()) {
        let (mut a, mut b) = (common, c.clone());
        while b != Int::ZERO {
            let r = a.mod_floor(&b)?;
            (a, b) = (b, r);
        }
        common = if a.is_negative() { a.neg() } else { a };
    }
    if common <= Int::Small(1) {
        return Some(p.clone());
    }
    let terms: Option<Vec<(Mono, Int)>> = p.terms().map(|(m, c)| Some((m.clone(), c.div_floor(&common)?))).collect();
    Some(Poly::of(terms?))
}

/// Longest polynomial, most statements, callees inside callees.
pub const TERMS: usize = 20_000;

/// Finds proofs. Whatever it answers is checked.
pub trait Search {
    /// Why `goal` is zero (modulo `m`).
    fn zero(&self, known: &Known, goal: &Poly, m: Option<&Int>) -> Option<Zero>;
    /// A proof of `goal >= 0` wherever the 0/1 polynomial `guard` is 1.
    fn least(&self, known: &Known, goal: &Poly, guard: &Poly) -> Option<Tree>;
}
