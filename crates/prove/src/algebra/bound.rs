//! Is a polynomial never negative? Intervals first, then a bounded search over equal forms of it: a quotient written as
//! `(x - r) / 2^k`, a remainder as `x - 2^k q`, limbs gathered into named values, and cases on booleans.

use super::atoms::{Atoms, Def};
use super::mono::{Atom, Mono};
use super::poly::Poly;
use super::reduce;
use num_bigint::BigInt;
use num_traits::{One, Zero};
use std::collections::{BTreeSet, VecDeque};

/// Forms looked at per goal, and rewrites in a row.
const FORMS_MAX: usize = 400;
const DEPTH_MAX: usize = 6;

/// True only if `p >= 0` in every execution in which the 0/1 polynomial `guard` is 1.
pub fn nonnegative(atoms: &Atoms, p: &Poly, guard: &Poly) -> bool {
    search(atoms, p, FORMS_MAX) || by_cases(atoms, p, guard)
}

fn search(atoms: &Atoms, p: &Poly, forms_max: usize) -> bool {
    let mut seen: BTreeSet<Poly> = BTreeSet::new();
    let mut todo: VecDeque<(Poly, usize)> = VecDeque::from([(p.clone(), 0)]);
    while let Some((g, depth)) = todo.pop_front() {
        if atoms.poly_iv(&g).is_nonneg() {
            return true;
        }
        if depth == DEPTH_MAX || seen.len() >= forms_max || g.len() > 3000 || !seen.insert(g.clone()) {
            continue;
        }
        for next in forms(atoms, &g) {
            todo.push_back((next, depth + 1));
        }
    }
    false
}

/// Positive multiples of `g` written differently.
fn forms(atoms: &Atoms, g: &Poly) -> Vec<Poly> {
    let mut out = Vec::new();
    let mut vars: Vec<Atom> = g.atoms().into_iter().collect();
    vars.sort_by_key(|a| std::cmp::Reverse(atoms.info(*a).age));
    let mut quots = 0;
    let mut rems = 0;
    for a in vars {
        if quots < 2 && g.linear_in(a).is_some() {
            if let Some(n) = without_quotient(atoms, g, a) {
                out.push(n);
                quots += 1;
            }
        }
        let info = atoms.info(a);
        if let Some(Def::Exact(d)) = &info.def {
            if rems < 2 || info.named {
                out.extend(reduce::substitute(g, a, d, None));
                rems += usize::from(!info.named);
            }
        }
    }
    let c = atoms.collapse_all(g);
    if c != *g {
        out.push(c);
    }
    if let Some(e) = reduce::eliminate(atoms, g, None, &reduce::Limits { steps: 5000, terms: 3000, names: false }) {
        // Scaling by powers of two keeps the sign.
        if e != *g {
            out.push(e);
        }
    }
    out
}

/// `2^k * g` with the linear quotient atom `a` replaced by what it divides.
fn without_quotient(atoms: &Atoms, g: &Poly, a: Atom) -> Option<Poly> {
    let q = atoms.info(a).quot.as_ref()?;
    let c = g.linear_in(a)?;
    let mut r = g.clone();
    r.add_term(Mono::atom(a), -c.clone());
    let scale = BigInt::one() << q.k;
    r = r.scale(&scale);
    // 2^k (base + sign a) = x - rem
    let mut d = q.x.sub(&q.rem);
    d.add_term(Mono::one(), -(&q.base * &scale));
    r.add_scaled(&d, &(c * q.sign));
    Some(r)
}

fn by_cases(atoms: &Atoms, p: &Poly, guard: &Poly) -> bool {
    let mut bools: BTreeSet<Atom> = p.atoms();
    bools.extend(guard.atoms());
    let bools: Vec<Atom> = bools.into_iter().filter(|a| a.is_bool()).collect();
    if bools.is_empty() || bools.len() > 4 {
        return false;
    }
    (0..1u32 << bools.len()).all(|corner| {
        let vals: Vec<bool> = (0..bools.len()).map(|i| corner >> i & 1 == 1).collect();
        let (mut g, mut here) = (p.clone(), guard.clone());
        for (a, v) in bools.iter().zip(&vals) {
            g = g.with_bool(*a, *v);
            here = here.with_bool(*a, *v);
        }
        here.is_zero() || with_case_facts(atoms, &g, &bools, &vals)
    })
}

/// In the case `c == v` the equation of `c` holds with `v` put in: adding any multiple of it to the goal is allowed.
fn with_case_facts(atoms: &Atoms, g: &Poly, bools: &[Atom], vals: &[bool]) -> bool {
    if search(atoms, g, 60) {
        return true;
    }
    let plain = |p: &Poly| {
        let lim = reduce::Limits { steps: 5000, terms: 3000, names: true };
        reduce::eliminate(atoms, p, None, &lim)
    };
    let Some(base) = plain(g) else { return false };
    for (a, v) in bools.iter().zip(vals) {
        let Some(zero) = case_equation(atoms, *a, *v) else { continue };
        // Cancel the leading monomial of the goal against the equation, both signs and scales.
        for target in [g, &base] {
            for (m, c) in target.terms() {
                let e = zero.coeff(m);
                if e.is_zero() || m.is_one() {
                    continue;
                }
                let (s, t) = if e > BigInt::zero() { (e.clone(), -c.clone()) } else { (-e.clone(), c.clone()) };
                let mut cand = target.scale(&s);
                cand.add_scaled(&zero, &t);
                if atoms.poly_iv(&cand).is_nonneg() {
                    return true;
                }
            }
        }
    }
    false
}

/// A polynomial that is zero when the boolean quotient `a` has value `v`.
fn case_equation(atoms: &Atoms, a: Atom, v: bool) -> Option<Poly> {
    let q = atoms.info(a).quot.as_ref()?;
    let mut z = q.x.sub(&q.rem);
    let val = &q.base + BigInt::from(q.sign * i32::from(v));
    z.add_term(Mono::one(), -(val << q.k));
    Some(z)
}
