//! Goal-directed backward substitution: definitions are put in for atoms, newest first, until none is left.

use super::atoms::{Atoms, Def};
use super::mono::{Atom, Exp};
use super::poly::{substitute, Poly};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Zero};
use std::collections::BTreeSet;

/// Bounds of one elimination; beyond them it gives up (which proves nothing, so is sound).
#[derive(Clone, Debug)]
pub struct Limits {
    pub steps: usize,
    pub terms: usize,
    /// Also substitute names such as `value(a)` by their limbs.
    pub names: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { steps: 200_000, terms: 60_000, names: false }
    }
}

/// Normal form of `goal` modulo `modulus` (exactly, without one). In exact mode the result may be the goal times a
/// power of two, which is zero exactly when the goal is. `None`: too large.
pub fn eliminate(atoms: &Atoms, goal: &Poly, modulus: Option<&BigInt>, limits: &Limits) -> Option<Poly> {
    let mut p = match modulus {
        Some(m) => goal.reduce_coeffs(m),
        None => goal.clone(),
    };
    let mut stuck: BTreeSet<Atom> = BTreeSet::new();
    for _ in 0..limits.steps {
        let pick = p
            .atoms()
            .into_iter()
            .filter(|a| !stuck.contains(a) && usable(atoms, *a, modulus, limits))
            .max_by_key(|a| atoms.info(*a).age);
        let Some(a) = pick else { return Some(p) };
        match step(atoms, &p, a, modulus) {
            Some(next) => p = next,
            None => {
                stuck.insert(a);
            }
        }
        if p.len() > limits.terms {
            return None;
        }
    }
    None
}

fn usable(atoms: &Atoms, a: Atom, modulus: Option<&BigInt>, limits: &Limits) -> bool {
    let i = atoms.info(a);
    match (&i.def, modulus) {
        (None, _) => false,
        (Some(_), _) if i.named && !limits.names => false,
        (Some(Def::Exact(_)), _) => true,
        (Some(Def::Frac(..)), Some(m)) => m.is_odd(),
        (Some(Def::Frac(..)), None) => true,
        (Some(Def::Cong(_, n)), Some(m)) => (n % m).is_zero(),
        (Some(Def::Cong(..)), None) => false,
    }
}

fn step(atoms: &Atoms, p: &Poly, a: Atom, modulus: Option<&BigInt>) -> Option<Poly> {
    match (atoms.info(a).def.as_ref()?, modulus) {
        (Def::Exact(d), _) | (Def::Cong(d, _), Some(_)) => substitute(p, a, d, modulus),
        (Def::Frac(d, k), Some(m)) => {
            let inv = (BigInt::one() << k).modinv(m)?;
            substitute(p, a, &d.scale(&inv), modulus)
        }
        (Def::Frac(d, k), None) => substitute_scaled(p, a, d, *k),
        (Def::Cong(..), None) => None,
    }
}

/// Linear occurrences of `a` with `2^k a = d`: the goal is scaled by `2^k` unless all coefficients allow the division.
fn substitute_scaled(p: &Poly, a: Atom, d: &Poly, k: u32) -> Option<Poly> {
    let (mut with, mut rest) = (Poly::zero(), Poly::zero());
    for (m, c) in p.terms() {
        match m.exp_of(a) {
            None => rest.add_term(m.clone(), c.clone()),
            Some(Exp::Small(1)) => with.add_term(m.without(a), c.clone()),
            Some(_) => return None,
        }
    }
    if with.trailing_zeros().is_some_and(|t| t >= u64::from(k)) {
        with = with.shr_exact(k);
    } else {
        rest = rest.scale(&(BigInt::one() << k));
    }
    for (m, c) in with.terms() {
        rest.add_shifted(d, m, c);
    }
    Some(rest)
}

