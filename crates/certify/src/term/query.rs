//! Residual questions cut out of the terms: few definitions, everything below them an unknown in its bounds.
//!
//! Needs: terms.  Keeps: a question that has no answer has none for the terms either: what is left out is only ever replaced by
//! an unknown that may take all its values and more.  Absent: text ([`super::smt`]), and when to ask ([`super::settle`]).

use super::atom::Atom;
use super::{Terms, A, T};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};
use std::collections::{BTreeMap, BTreeSet};

/// Definitions and summands of one question.
const ATOMS_MAX: usize = 160;
const SUMMANDS_MAX: usize = 2_500;

/// One summand's value beside its coefficient: 0 unless all bits are 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Summand {
    pub factor: BigInt,
    pub bits: Vec<A>,
    pub rest: Rest,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// 1
    Nothing,
    /// An atom whose definition is part of the question.
    Open(A),
    /// By position in [`Question::unknowns`].
    Unknown(usize),
}

/// A question in the order in which its parts are defined.
#[derive(Debug, Default)]
pub(super) struct Question {
    /// Bounds of what is free.
    pub unknowns: Vec<(BigInt, BigInt)>,
    /// Bits whose definition is not part of it.
    pub free_bits: BTreeSet<A>,
    pub open: BTreeSet<A>,
    pub sums: BTreeMap<T, Vec<Summand>>,
}

/// A product of atoms that stay closed.
type Leaf = Vec<A>;

impl Terms {
    /// Definitions of the roots, and of atoms in them down to `levels`. `None`: too many.
    pub(super) fn question(&self, roots: &[T], levels: u32) -> Option<Question> {
        let (open, sums) = self.cone(roots, levels)?;
        let mut leaves: BTreeMap<Leaf, usize> = BTreeMap::new();
        let mut q = Question { open, ..Question::default() };
        let mut plain: BTreeMap<Leaf, BTreeMap<T, BigInt>> = BTreeMap::new();
        let mut guarded: BTreeSet<Leaf> = BTreeSet::new();
        let mut split: BTreeMap<T, Vec<(BigInt, Vec<A>, Leaf)>> = BTreeMap::new();
        for t in sums {
            let mut list = vec![];
            for (m, c) in self.poly(t).iter() {
                let (bits, rest): (Vec<A>, Leaf) = self.monos[*m as usize].iter().partition(|a| self.atom_is_bit(**a));
                q.free_bits.extend(bits.iter().filter(|b| !q.open.contains(b)));
                let closed = !rest.is_empty() && !(rest.len() == 1 && q.open.contains(&rest[0]));
                if closed && bits.is_empty() {
                    plain.entry(rest.clone()).or_default().insert(t, c.clone());
                } else if closed {
                    guarded.insert(rest.clone());
                }
                list.push((c.clone(), bits, rest));
            }
            split.insert(t, list);
        }
        let together = self.together(&plain, &guarded, &mut q, &mut leaves);
        for (t, list) in split {
            let mut sum: Vec<Summand> = together.iter().filter_map(|(at, by)| by.get(&t).map(|c| (at, c))).map(|(at, c)| Summand { factor: c.clone(), bits: vec![], rest: Rest::Unknown(*at) }).collect();
            for (factor, bits, rest) in list {
                let rest = match &rest[..] {
                    [] => Rest::Nothing,
                    [a] if q.open.contains(a) => Rest::Open(*a),
                    _ if bits.is_empty() && !leaves.contains_key(&rest) => continue,
                    _ => Rest::Unknown(*leaves.entry(rest.clone()).or_insert_with(|| {
                        q.unknowns.push(self.product_bound(&rest));
                        q.unknowns.len() - 1
                    })),
                };
                sum.push(Summand { factor, bits, rest });
            }
            q.sums.insert(t, sum);
        }
        Some(q)
    }

    /// Leaves that occur in the same proportion everywhere count as one unknown: its position, and its factor in every sum.
    /// Leaves that occur under bits get one each.
    fn together(
        &self,
        plain: &BTreeMap<Leaf, BTreeMap<T, BigInt>>,
        guarded: &BTreeSet<Leaf>,
        q: &mut Question,
        leaves: &mut BTreeMap<Leaf, usize>,
    ) -> Vec<(usize, BTreeMap<T, BigInt>)> {
        let mut groups: BTreeMap<Vec<(T, BigInt)>, Vec<(BigInt, &Leaf)>> = BTreeMap::new();
        for leaf in guarded {
            q.unknowns.push(self.product_bound(leaf));
            leaves.insert(leaf.clone(), q.unknowns.len() - 1);
        }
        for (leaf, column) in plain.iter().filter(|(l, _)| !guarded.contains(*l)) {
            let g = column.values().fold(BigInt::zero(), |g, c| g.gcd(c));
            let g = if column.values().next().is_some_and(Signed::is_negative) { -g } else { g };
            let direction = column.iter().map(|(t, c)| (*t, c / &g)).collect();
            groups.entry(direction).or_default().push((g, leaf));
        }
        let mut out = vec![];
        for (direction, members) in groups {
            let common = members.iter().fold(BigInt::zero(), |g, (c, _)| g.gcd(c));
            let poly: Option<Vec<_>> = members.iter().map(|(c, l)| Some((*self.mono_of.get(*l)?, c / &common))).collect();
            let Some(mut poly) = poly else { continue };
            poly.sort_unstable_by_key(|(m, _)| *m);
            q.unknowns.push(self.bound(&poly));
            out.push((q.unknowns.len() - 1, direction.into_iter().map(|(t, c)| (t, c * &common)).collect()));
        }
        out
    }

    /// The atoms to define, and the sums they are defined by.
    fn cone(&self, roots: &[T], levels: u32) -> Option<(BTreeSet<A>, BTreeSet<T>)> {
        let mut open = BTreeSet::new();
        let mut sums: BTreeSet<T> = roots.iter().copied().collect();
        let mut edge: Vec<T> = roots.to_vec();
        let mut summands: usize = edge.iter().map(|t| self.poly(*t).len()).sum();
        for _ in 0..levels {
            let mut next = vec![];
            for t in edge {
                for (m, _) in self.poly(t).iter() {
                    for a in self.definable(*m) {
                        if open.insert(a) {
                            next.extend(self.arguments(a).into_iter().filter(|x| sums.insert(*x)));
                        }
                    }
                }
            }
            summands += next.iter().map(|t| self.poly(*t).len()).sum::<usize>();
            if open.len() > ATOMS_MAX || summands > SUMMANDS_MAX {
                return None;
            }
            edge = next;
        }
        Some((open, sums))
    }

    /// Atoms of a monomial whose definitions can be of use: bits, and the one that is none.
    fn definable(&self, m: u32) -> Vec<A> {
        let atoms = &self.monos[m as usize];
        let others = atoms.iter().filter(|a| !self.atom_is_bit(**a)).count();
        atoms.iter().copied().filter(|a| (others == 1 || self.atom_is_bit(*a)) && !self.arguments(*a).is_empty()).collect()
    }

    /// What an atom is defined by; nothing for unknowns.
    fn arguments(&self, a: A) -> Vec<T> {
        match &self.atoms[a as usize].atom {
            Atom::Div(t, _) | Atom::DivBy(t, _) | Atom::Neg(t) | Atom::Zero(t) | Atom::Name(t) => vec![*t],
            Atom::Pick(list, x) => list.iter().chain([x]).copied().collect(),
            Atom::Var(_) | Atom::Bits(_) | Atom::Or(_) | Atom::Read(..) | Atom::Out(..) => vec![],
        }
    }

    /// Bounds of a product.
    fn product_bound(&self, atoms: &[A]) -> (BigInt, BigInt) {
        if let Some(m) = self.mono_of.get(atoms) {
            return self.mono_bound(*m).clone();
        }
        atoms.iter().fold((BigInt::one(), BigInt::one()), |r, a| {
            let i = &self.atoms[*a as usize];
            let c = [&r.0 * &i.lo, &r.0 * &i.hi, &r.1 * &i.lo, &r.1 * &i.hi];
            (c.iter().min().cloned().unwrap_or_default(), c.iter().max().cloned().unwrap_or_default())
        })
    }
}
