//! The arena: terms are made and looked at here.

use super::array::Arrays;
use super::atom::{Atom, AtomInfo, Var};
use super::ids::{Poly, Sum, A, M, T};
use super::quick::Quick;
use super::settling::Settling;
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use std::collections::HashMap;
use std::rc::Rc;

/// The arena of all terms of one proof, both sides together.
#[derive(Debug)]
pub struct Terms {
    /// Bits of a machine word: longer bitwise operations are done word by word.
    pub(super) word: u32,
    pub(super) samples: usize,
    pub(super) atoms: Vec<AtomInfo>,
    pub(super) atom_of: HashMap<Atom, A>,
    pub(super) monos: Vec<Vec<A>>,
    /// Bounds of the monomials.
    pub(super) mono_bounds: Vec<(BigInt, BigInt)>,
    pub(super) mono_of: HashMap<Vec<A>, M, Quick>,
    pub(super) polys: Vec<Poly>,
    pub(super) poly_of: HashMap<Poly, T, Quick>,
    /// Values on the sample inputs.
    pub(super) values: Vec<Rc<[BigInt]>>,
    pub(super) ranges: Vec<(BigInt, BigInt)>,
    pub(super) divided: HashMap<(T, u32), T>,
    pub(super) below: HashMap<T, T>,
    pub(super) zero: HashMap<T, T>,
    pub(super) named: HashMap<T, T>,
    pub(super) renames: HashMap<T, T>,
    /// Bits of the words that have names.
    pub(super) widths: Vec<u32>,
    /// Terms made by `or`: the operands.
    pub(super) or_parts: HashMap<T, Vec<T>>,
    /// Sums of values no two of which have a bit in common.
    pub(super) parts: HashMap<T, Vec<T>>,
    /// Terms made by `xor`: the operands.
    pub(super) xor_parts: HashMap<T, (T, T)>,
    /// Sums of the two parts of a choice between two values, bit by bit: its products, and how many bits are chosen.
    pub(super) choices: HashMap<T, (Sum, u32)>,
    pub(super) choices_split: bool,
    pub(super) calls: HashMap<(String, Vec<T>), Vec<T>>,
    /// Which of two bits with names implies the other.
    pub(super) ordered: HashMap<(A, A), Option<std::cmp::Ordering>>,
    /// How deep rules are nested at the moment.
    pub(super) depth: u32,
    /// Operations since the outermost of those that are nested began.
    pub(super) work: u32,
    /// The first rule whose result was not the operation's on a sample. Nothing counts as proved from then on.
    pub(super) broken: Option<String>,
    /// Monomials made so far in all polynomials: what memory is bounded by.
    pub(super) size: usize,
    pub(super) settling: Settling,
    pub(super) arrays: Arrays,
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
            settling: Settling::default(),
            arrays: Arrays::default(),
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

    /// An input, told apart by its name.
    pub fn var(&mut self, var: Var) -> T {
        let atom = Atom::Var(var.name);
        let info = AtomInfo { atom: atom.clone(), lo: var.lo, hi: var.hi, public: var.public, values: var.values, spread: 0 };
        self.atom(atom, |_| info)
    }

    pub(crate) fn range_values(&self, t: T) -> Vec<BigInt> {
        self.values[t.0 as usize].to_vec()
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
