//! Is a polynomial never negative, or always zero? Intervals first, then equal forms of the polynomial: quotients
//! written as `(x - r) / 2^k` along carry chains, remainders as `x - 2^k q`, limbs gathered into named values, and
//! cases on booleans, in each of which the equation that defines the boolean may be added.

use super::atoms::{Atoms, Def};
use super::mono::{Atom, Mono};
use super::poly::Poly;
use super::reduce::{self, Limits};
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use std::collections::{BTreeSet, VecDeque};

/// Forms looked at per search, rewrites in a row, links of a carry chain.
const FORMS_MAX: usize = 120;
const DEPTH_MAX: usize = 5;
const CHAIN_MAX: usize = 80;
/// Booleans on which cases are made.
const CASES_MAX: usize = 4;
const TERMS_MAX: usize = 3000;

/// `scale * original`: the original is an integer, so it is at least 0 as soon as this is above `-scale`.
#[derive(Clone)]
struct Form {
    p: Poly,
    scale: BigInt,
}

impl Form {
    fn settled(&self, atoms: &Atoms) -> bool {
        atoms.poly_iv(&self.p).lo.is_some_and(|lo| lo > -&self.scale)
    }
}

/// True only if `p >= 0` in every execution in which the 0/1 polynomial `guard` is 1.
pub fn nonnegative(atoms: &Atoms, p: &Poly, guard: &Poly) -> bool {
    let f = Form { p: p.clone(), scale: BigInt::one() };
    chain(atoms, &f).iter().any(|f| f.settled(atoms)) || search(atoms, &f, FORMS_MAX) || by_cases(atoms, p, guard)
}

/// True only if `p == 0` wherever `guard` is 1.
pub fn zero(atoms: &Atoms, p: &Poly, guard: &Poly) -> bool {
    nonnegative(atoms, p, guard) && nonnegative(atoms, &p.neg(), guard)
}

/// The forms that come from expanding quotients, newest first.
fn chain(atoms: &Atoms, f: &Form) -> Vec<Form> {
    let mut out = vec![f.clone()];
    for _ in 0..CHAIN_MAX {
        let last = &out[out.len() - 1];
        let mut vars: Vec<Atom> = last.p.atoms().into_iter().collect();
        vars.sort_by_key(|a| std::cmp::Reverse(atoms.info(*a).age));
        let Some(next) = vars.iter().find_map(|a| without_quotient(atoms, last, *a)) else { break };
        if next.p.len() > TERMS_MAX {
            break;
        }
        out.push(next);
    }
    out
}

fn search(atoms: &Atoms, f: &Form, forms_max: usize) -> bool {
    let mut seen: BTreeSet<Poly> = BTreeSet::new();
    let mut todo: VecDeque<(Form, usize)> = VecDeque::from([(f.clone(), 0)]);
    while let Some((g, depth)) = todo.pop_front() {
        if g.settled(atoms) {
            return true;
        }
        if depth == DEPTH_MAX || seen.len() >= forms_max || g.p.len() > TERMS_MAX || !seen.insert(g.p.clone()) {
            continue;
        }
        todo.extend(forms(atoms, &g).into_iter().map(|n| (n, depth + 1)));
    }
    false
}

/// Positive multiples of `g` written differently.
fn forms(atoms: &Atoms, g: &Form) -> Vec<Form> {
    let mut out = Vec::new();
    let mut vars: Vec<Atom> = g.p.atoms().into_iter().collect();
    vars.sort_by_key(|a| std::cmp::Reverse(atoms.info(*a).age));
    out.extend(vars.iter().filter_map(|a| without_quotient(atoms, g, *a)).take(2));
    let mut rems = 0;
    for a in vars {
        let info = atoms.info(a);
        if let Some(Def::Exact(d)) = &info.def {
            if rems < 2 || info.named {
                out.extend(reduce::substitute(&g.p, a, d, None).map(|p| Form { p, scale: g.scale.clone() }));
                rems += usize::from(!info.named);
            }
        }
    }
    let c = atoms.collapse_all(&g.p);
    if c != g.p {
        out.push(Form { p: c, scale: g.scale.clone() });
    }
    out
}

/// With the linear quotient atom `a` replaced by what it divides.
fn without_quotient(atoms: &Atoms, g: &Form, a: Atom) -> Option<Form> {
    let q = atoms.info(a).quot.as_ref()?;
    let c = g.p.linear_in(a)?;
    let mut r = g.p.clone();
    r.add_term(Mono::atom(a), -c.clone());
    let by = BigInt::one() << q.k;
    r = r.scale(&by);
    // 2^k (base + sign a) = x - rem
    let mut d = q.x.sub(&q.rem);
    d.add_term(Mono::one(), -(&q.base * &by));
    r.add_scaled(&d, &(c * q.sign));
    Some(Form { p: r, scale: &g.scale * by })
}

fn by_cases(atoms: &Atoms, p: &Poly, guard: &Poly) -> bool {
    let mut bools: BTreeSet<Atom> = p.atoms();
    bools.extend(guard.atoms());
    let bools: Vec<Atom> = bools.into_iter().filter(|a| a.is_bool()).collect();
    if bools.is_empty() || bools.len() > CASES_MAX {
        return false;
    }
    (0..1u32 << bools.len()).all(|corner| {
        let vals: Vec<bool> = (0..bools.len()).map(|i| corner >> i & 1 == 1).collect();
        let here = at_corner(guard, &bools, &vals);
        here.is_zero() || in_case(atoms, &at_corner(p, &bools, &vals), &bools, &vals)
    })
}

fn at_corner(p: &Poly, bools: &[Atom], vals: &[bool]) -> Poly {
    bools.iter().zip(vals).fold(p.clone(), |g, (a, v)| g.with_bool(*a, *v))
}

/// The goal in one case: its forms, each plus a multiple of an equation of the case that cancels one of its monomials.
fn in_case(atoms: &Atoms, g: &Poly, bools: &[Atom], vals: &[bool]) -> bool {
    let start = Form { p: g.clone(), scale: BigInt::one() };
    if chain(atoms, &start).iter().any(|f| f.settled(atoms)) {
        return true;
    }
    let targets = variants(atoms, &start, bools, vals);
    for (a, v) in bools.iter().zip(vals) {
        let Some(eq) = case_equation(atoms, *a, *v) else { continue };
        for z in variants(atoms, &Form { p: eq, scale: BigInt::one() }, bools, vals) {
            if targets.iter().any(|t| cancel_somewhere(atoms, t, &z.p)) {
                return true;
            }
        }
    }
    search(atoms, &start, FORMS_MAX / 2)
}

/// The form itself, its end of chain, and its normal form with and without names.
fn variants(atoms: &Atoms, f: &Form, bools: &[Atom], vals: &[bool]) -> Vec<Form> {
    let fix = |f: Form| Form { p: at_corner(&f.p, bools, vals), scale: f.scale };
    let mut out = vec![f.clone()];
    let mut last = f.clone();
    // Booleans of the case are put in as they come up, so that their own chains are not followed.
    for _ in 0..CHAIN_MAX {
        let mut vars: Vec<Atom> = last.p.atoms().into_iter().collect();
        vars.sort_by_key(|a| std::cmp::Reverse(atoms.info(*a).age));
        let Some(next) = vars.iter().find_map(|a| without_quotient(atoms, &last, *a)) else { break };
        last = fix(next);
        if last.p.len() > TERMS_MAX {
            break;
        }
    }
    out.push(last.clone());
    for names in [false, true] {
        let lim = Limits { steps: 5000, terms: TERMS_MAX, names };
        for g in [f, &last] {
            // A scaled result has the same sign, but its scale is unknown: only the strict test applies to it.
            if let Some(p) = reduce::eliminate(atoms, &g.p, None, &lim) {
                out.push(fix(Form { p, scale: BigInt::one() }));
            }
        }
    }
    let gathered: Vec<Form> =
        out.iter().map(|g| Form { p: atoms.collapse_all(&g.p), scale: g.scale.clone() }).collect();
    out.extend(gathered);
    out.dedup_by(|a, b| a.p == b.p);
    out
}

fn cancel_somewhere(atoms: &Atoms, target: &Form, zero: &Poly) -> bool {
    target.p.terms().filter(|(m, _)| !m.is_one()).any(|(m, c)| {
        let e = zero.coeff(m);
        if e.is_zero() {
            return false;
        }
        let (s, t) = if e.is_positive() { (e.clone(), -c.clone()) } else { (-e.clone(), c.clone()) };
        let mut p = target.p.scale(&s);
        p.add_scaled(zero, &t);
        Form { p, scale: &target.scale * s }.settled(atoms)
    })
}

/// A polynomial that is zero when the boolean quotient `a` has value `v`.
fn case_equation(atoms: &Atoms, a: Atom, v: bool) -> Option<Poly> {
    let q = atoms.info(a).quot.as_ref()?;
    let mut z = q.x.sub(&q.rem);
    let val = &q.base + BigInt::from(q.sign * i32::from(v));
    z.add_term(Mono::one(), -(val << q.k));
    Some(z)
}
