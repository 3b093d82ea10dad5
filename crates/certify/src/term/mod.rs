//! Exact integers in one canonical form.
//!
//! A term is a polynomial with integer coefficients over atoms, hash-consed: equal polynomials have the same number. Machine
//! words are integers in `0 ..= 2^w - 1`, exact integers of the IR are themselves, booleans are 0 or 1. Reduction mod `2^k`
//! is `p - 2^k floor(p / 2^k)`, so that halves of long values, carries, sign extensions, shifts and products of several words
//! meet in the same normal form without search.
//!
//! Every operation is total: it has a value for all integers, not only for words of the width it is meant for. Its result and
//! the bounds noted of that hold on all inputs, whatever a path says of the operands. What holds on a path alone is a fact
//! ([`crate::facts`]); it is kept outside of this module, which shows no way to remember it.
//!
//! Needs: big integers.  Keeps: for every term its exact value on a few sample inputs; each rule's result and every bound are
//! compared with those values, so that a wrong rule stops the proof instead of deciding it.  Absent: widths; they belong
//! to the operations; what is assumed.

mod atom;
mod bits;
mod booleans;
mod compare;
mod divide;
mod domain;
mod names;
mod poly;
mod query;
mod quick;
mod range;
mod select;
mod settle;
#[cfg(test)]
mod settle_tests;
mod show;
mod smt;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod total_tests;

pub use atom::{OutSpec, Var};
pub(crate) use atom::Atom;
pub use poly::Naming;
pub use range::Everywhere;

use atom::AtomInfo;
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use quick::Quick;
use std::collections::HashMap;
use std::rc::Rc;

/// Number of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct T(pub u32);

/// Number of an atom.
pub(crate) type A = u32;
/// Number of a monomial: a product of atoms. 0 is the empty product.
pub(crate) type M = u32;
/// Ascending by monomial, no zero coefficient.
pub(crate) type Poly = Rc<[(M, BigInt)]>;

/// The arena of all terms of one proof, both sides together.
#[derive(Debug)]
pub struct Terms {
    /// Bits of a machine word: longer bitwise operations are done word by word.
    word: u32,
    samples: usize,
    atoms: Vec<AtomInfo>,
    atom_of: HashMap<Atom, A>,
    monos: Vec<Vec<A>>,
    /// Bounds of the monomials.
    mono_bounds: Vec<(BigInt, BigInt)>,
    mono_of: HashMap<Vec<A>, M, Quick>,
    polys: Vec<Poly>,
    poly_of: HashMap<Poly, T, Quick>,
    /// Values on the sample inputs.
    values: Vec<Rc<[BigInt]>>,
    ranges: Vec<(BigInt, BigInt)>,
    divided: HashMap<(T, u32), T>,
    below: HashMap<T, T>,
    zero: HashMap<T, T>,
    named: HashMap<T, T>,
    renames: HashMap<T, T>,
    /// Bits of the words that have names.
    widths: Vec<u32>,
    /// Terms made by `or`: the operands.
    or_parts: HashMap<T, Vec<T>>,
    /// Sums of values no two of which have a bit in common.
    parts: HashMap<T, Vec<T>>,
    /// Terms made by `xor`: the operands.
    xor_parts: HashMap<T, (T, T)>,
    /// Sums of the two parts of a choice between two values, bit by bit: its products, and how many bits are chosen.
    choices: HashMap<T, (bits::Sum, u32)>,
    choices_split: bool,
    calls: HashMap<(String, Vec<T>), Vec<T>>,
    /// Which of two bits with names implies the other.
    ordered: HashMap<(A, A), Option<std::cmp::Ordering>>,
    /// How deep rules are nested at the moment.
    depth: u32,
    /// Operations since the outermost of those that are nested began.
    work: u32,
    /// The first rule whose result was not the operation's on a sample. Nothing counts as proved from then on.
    broken: Option<String>,
    /// Monomials made so far in all polynomials: what memory is bounded by.
    size: usize,
    settling: settle::Settling,
}

impl Terms {
    /// `word`: bits of a machine register. `samples`: how many sample inputs every variable comes with, at least one.
    pub fn new(word: u32, samples: usize) -> Terms {
        let mut terms = Terms {
            word,
            samples: samples.max(1),
            atoms: vec![],
            atom_of: HashMap::new(),
            monos: vec![vec![]],
            mono_bounds: vec![(BigInt::one(), BigInt::one())],
            mono_of: [(vec![], 0)].into_iter().collect(),
            polys: vec![],
            poly_of: HashMap::default(),
            values: vec![],
            ranges: vec![],
            divided: HashMap::new(),
            below: HashMap::new(),
            zero: HashMap::new(),
            named: HashMap::new(),
            renames: HashMap::new(),
            widths: vec![],
            or_parts: HashMap::new(),
            parts: HashMap::new(),
            xor_parts: HashMap::new(),
            choices: HashMap::new(),
            choices_split: false,
            calls: HashMap::new(),
            ordered: HashMap::new(),
            depth: 0,
            work: 0,
            broken: None,
            size: 0,
            settling: settle::Settling::default(),
        };
        terms.int(0);
        terms.int(1);
        terms
    }

    pub const ZERO: T = T(0);
    pub const ONE: T = T(1);

    pub fn samples(&self) -> usize {
        self.samples
    }

    pub fn word(&self) -> u32 {
        self.word
    }

    /// Terms made so far, weighed by their monomials.
    pub fn size(&self) -> usize {
        self.size
    }

    /// A rule of this engine that was seen to be wrong, if any.
    pub fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    pub fn int(&mut self, v: impl Into<BigInt>) -> T {
        let v = v.into();
        self.intern(if v.is_zero() { vec![] } else { vec![(0, v)] })
    }

    pub fn as_const(&self, t: T) -> Option<BigInt> {
        match &*self.polys[t.0 as usize] {
            [] => Some(BigInt::zero()),
            [(0, c)] => Some(c.clone()),
            _ => None,
        }
    }

    /// Value on sample input `n`.
    pub fn sample(&self, t: T, n: usize) -> &BigInt {
        &self.values[t.0 as usize][n]
    }

    /// No secret input is mentioned.
    pub fn public(&self, t: T) -> bool {
        self.poly(t).iter().all(|(m, _)| self.monos[*m as usize].iter().all(|a| self.atoms[*a as usize].public))
    }

    /// Summands.
    pub(crate) fn weight(&self, t: T) -> usize {
        self.poly(t).len()
    }

    pub(crate) fn poly(&self, t: T) -> &Poly {
        &self.polys[t.0 as usize]
    }

    /// `p` is ascending by monomial and without zeros.
    pub(crate) fn intern(&mut self, p: Vec<(M, BigInt)>) -> T {
        if let Some(t) = self.poly_of.get(p.as_slice()) {
            return *t;
        }
        let p: Poly = p.into();
        let t = T(self.polys.len() as u32);
        self.size += p.len() + 1;
        let values: Rc<[BigInt]> = (0..self.samples).map(|n| self.evaluate(&p, n)).collect();
        let range = self.bound(&p);
        self.polys.push(p.clone());
        self.poly_of.insert(p, t);
        self.values.push(values);
        self.ranges.push(range);
        self.bounds_hold(t);
        t
    }

    fn evaluate(&self, p: &Poly, n: usize) -> BigInt {
        let mut sum = BigInt::zero();
        for (m, c) in p.iter() {
            let value = |a: &A| &self.atoms[*a as usize].values[n];
            match &self.monos[*m as usize][..] {
                [] => sum += c,
                [a] if c.is_one() => sum += value(a),
                [a, rest @ ..] => sum += rest.iter().fold(c * value(a), |v, a| v * value(a)),
            }
        }
        sum
    }

    /// The term of one atom.
    pub(crate) fn atom(&mut self, atom: Atom, make: impl FnOnce(&Terms) -> AtomInfo) -> T {
        let a = match self.atom_of.get(&atom) {
            Some(a) => *a,
            None => {
                let info = make(self);
                if info.lo == info.hi {
                    return self.int(info.lo);
                }
                if let Some(v) = info.values.iter().find(|v| **v < info.lo || **v > info.hi) {
                    self.fault(format!("an atom: {v} outside {}..={} for {:?}", info.lo, info.hi, info.atom));
                }
                let a = self.atoms.len() as A;
                self.atoms.push(info);
                self.atom_of.insert(atom, a);
                a
            }
        };
        self.atom_term(a)
    }

    /// The term of an atom that is there.
    pub(crate) fn atom_term(&mut self, a: A) -> T {
        let m = self.mono(vec![a]);
        self.intern(vec![(m, BigInt::one())])
    }

    pub(crate) fn mono(&mut self, atoms: Vec<A>) -> M {
        if let Some(m) = self.mono_of.get(&atoms) {
            return *m;
        }
        let m = self.monos.len() as M;
        let bounds = self.atoms_bound(&atoms);
        self.mono_bounds.push(bounds);
        self.monos.push(atoms.clone());
        self.mono_of.insert(atoms, m);
        m
    }

    /// The atom a term is, if it is one with coefficient 1.
    pub(crate) fn as_atom(&self, t: T) -> Option<A> {
        match &**self.poly(t) {
            [(m, c)] if c.is_one() => match self.monos[*m as usize].as_slice() {
                [a] => Some(*a),
                _ => None,
            },
            _ => None,
        }
    }

    /// What an atom stands for.
    pub(crate) fn kind(&self, a: A) -> &Atom {
        &self.atoms[a as usize].atom
    }

    /// The atoms of a monomial.
    pub(crate) fn factors(&self, m: M) -> &[A] {
        &self.monos[m as usize]
    }

    /// A rule was seen to be wrong. The first one is told.
    pub(crate) fn fault(&mut self, why: String) {
        self.broken.get_or_insert(why);
    }

    /// Compares the result of a rule with the operation on the samples.
    pub(crate) fn check(&mut self, rule: &str, t: T, op: impl Fn(&Terms, usize) -> BigInt) -> T {
        if self.broken.is_none() {
            for n in 0..self.samples {
                let want = op(self, n);
                if *self.sample(t, n) != want {
                    self.broken = Some(format!("{rule}: {} instead of {want} for {}", self.sample(t, n), self.show(t, 4)));
                    break;
                }
            }
        }
        t
    }

    /// 0 or 1.
    pub(crate) fn is_bit(&self, t: T) -> bool {
        let (lo, hi) = &self.ranges[t.0 as usize];
        !lo.is_negative() && *hi <= BigInt::one()
    }
}
