//! Is a polynomial never negative, or always zero? Intervals first; then carry chains unrolled, digits summed up again;
//! then linear programming over everything that defines the atoms involved, in cases on booleans.

use super::atoms::{Atoms, Def};
use super::mono::{Atom, Mono};
use super::poly::{self, Poly};
use super::simplex::{self, Answer, Bounds};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::One;
use santoku_num::Bound;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Links of a carry chain, digits summed up, terms of any form.
const CHAIN_MAX: usize = 80;
const TELESCOPE_MAX: usize = 120;
const TERMS_MAX: usize = 400;
/// Booleans fixed at once, programs solved, equations of one linear program.
const CASES_MAX: usize = 10;
const NODES_MAX: usize = 40;
const EQUATIONS: [usize; 3] = [25, 100, 400];

/// `scale * original`: the original is an integer, so it is at least 0 as soon as this is above `-scale`.
#[derive(Clone)]
struct Form {
    p: Poly,
    scale: BigInt,
}

impl Form {
    fn settled(&self, atoms: &Atoms) -> bool {
        atoms.poly_iv(&self.p).lo > Bound::from(-&self.scale)
    }
}

/// True only if `p >= 0` in every execution in which the 0/1 polynomial `guard` is 1. Each of `facts` is never negative.
pub fn nonnegative(atoms: &Atoms, facts: &[Poly], p: &Poly, guard: &Poly) -> bool {
    let f = Form { p: p.clone(), scale: BigInt::one() };
    chain_settles(atoms, &f) || telescope_settles(atoms, &f) || by_cases(atoms, facts, p, guard)
}

/// True only if `p == 0` wherever `guard` is 1.
pub fn zero(atoms: &Atoms, facts: &[Poly], p: &Poly, guard: &Poly) -> bool {
    nonnegative(atoms, facts, p, guard) && nonnegative(atoms, facts, &p.neg(), guard)
}

fn newest_first(atoms: &Atoms, p: &Poly) -> Vec<Atom> {
    let mut vars: Vec<Atom> = p.atoms().into_iter().collect();
    vars.sort_by_key(|a| std::cmp::Reverse(atoms.info(*a).age));
    vars
}

/// Quotients replaced by what they divide, newest first.
fn chain_settles(atoms: &Atoms, f: &Form) -> bool {
    let mut f = f.clone();
    for _ in 0..CHAIN_MAX {
        if f.settled(atoms) {
            return true;
        }
        match newest_first(atoms, &f.p).into_iter().find_map(|a| without_quotient(atoms, &f, a)) {
            Some(next) if next.p.len() <= TERMS_MAX => f = next,
            _ => return false,
        }
    }
    false
}

/// Remainders written out, newest first: the weighted sum of a carry chain's digits folds back into what went in.
fn telescope_settles(atoms: &Atoms, f: &Form) -> bool {
    let mut f = f.clone();
    for _ in 0..TELESCOPE_MAX {
        let newest = newest_first(atoms, &f.p).into_iter().find_map(|a| match &atoms.info(a).def {
            Some(Def::Exact(d)) => Some((a, d)),
            _ => None,
        });
        let Some((a, d)) = newest else { return false };
        match poly::substitute(&f.p, a, d, None) {
            Some(n) if n.len() <= TERMS_MAX => f.p = n,
            _ => return false,
        }
        if f.settled(atoms) {
            return true;
        }
    }
    false
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

/// Linear programs over the equations of the atoms involved, with branches on booleans that a solution splits.
fn by_cases(atoms: &Atoms, facts: &[Poly], p: &Poly, guard: &Poly) -> bool {
    let p = expand_names(atoms, p);
    let mut before = 0;
    for size in EQUATIONS {
        let mut equations = equations(atoms, facts, &p, guard, size);
        if equations.len() == before {
            break;
        }
        before = equations.len();
        // Only executions with guard 1 matter.
        equations.push(guard.sub(&Poly::constant(1)));
        let mut search = Search { atoms, equations, facts, p: Some(p.clone()), nodes: NODES_MAX };
        if search.impossible(&mut Vec::new()) {
            search.equations.pop();
            return possible(search);
        }
    }
    false
}

/// Whether what a refutation took for granted, the guard aside, can be met. If not it would refute anything: it counts for nothing,
/// and the run is told.
fn possible(mut hypotheses: Search<'_>) -> bool {
    if hypotheses.sampled() {
        return true;
    }
    hypotheses.p = None;
    hypotheses.nodes = NODES_MAX;
    let contradictory = hypotheses.impossible(&mut Vec::new());
    if contradictory {
        hypotheses.atoms.contradiction.set(true);
    }
    !contradictory
}

/// Names that stand for selections: their booleans are what cases are made of.
fn expand_names(atoms: &Atoms, p: &Poly) -> Poly {
    let mut p = p.clone();
    for a in p.atoms() {
        let i = atoms.info(a);
        if let (true, Some(Def::Exact(d))) = (i.named, &i.def) {
            if d.atoms().iter().any(|b| b.is_bool()) {
                p = poly::substitute(&p, a, d, None).unwrap_or(p);
            }
        }
    }
    p
}

/// Polynomials that are zero: whatever defines the atoms of the goal, and of these, and so on.
fn equations(atoms: &Atoms, facts: &[Poly], p: &Poly, guard: &Poly, size: usize) -> Vec<Poly> {
    let mut out: BTreeSet<Poly> = BTreeSet::new();
    let mut list: Vec<Poly> = Vec::new();
    let mut seen: BTreeSet<Atom> = BTreeSet::new();
    // Nearest to the goal first.
    let mut todo: VecDeque<Atom> =
        p.atoms().into_iter().chain(guard.atoms()).chain(facts.iter().flat_map(Poly::atoms)).collect();
    while let Some(a) = todo.pop_front() {
        if list.len() >= size || !seen.insert(a) {
            continue;
        }
        for e in defining(atoms, a) {
            if out.insert(e.clone()) {
                todo.extend(newest_first(atoms, &e));
                list.push(e);
            }
        }
    }
    products_of_names(atoms, &seen, &mut list);
    list
}

fn defining(atoms: &Atoms, a: Atom) -> Vec<Poly> {
    let info = atoms.info(a);
    let mut out = Vec::new();
    if let Some(q) = &info.quot {
        let mut e = q.x.sub(&q.rem);
        e.add_term(Mono::one(), -(&q.base << q.k));
        e.add_term(Mono::atom(a), -(BigInt::from(q.sign) << q.k));
        out.push(e);
    }
    match &info.def {
        Some(Def::Exact(d)) => out.push(d.sub(&Poly::atom(a))),
        Some(Def::Frac(d, k)) => out.push(d.sub(&Poly::atom(a).scale(&(BigInt::one() << *k)))),
        Some(Def::Cong(..)) | None => {}
    }
    out.extend(atoms.names_at(a).map(|(_, solved)| solved.sub(&Poly::atom(a))));
    out
}

/// Where products of limbs occur: the product of the values they belong to, written out.
fn products_of_names(atoms: &Atoms, seen: &BTreeSet<Atom>, list: &mut Vec<Poly>) {
    let monos: BTreeSet<Mono> = list.iter().flat_map(|e| e.terms().map(|(m, _)| m.clone()).collect::<Vec<_>>()).collect();
    let names: Vec<(Atom, Atom, Poly)> = seen
        .iter()
        .flat_map(|a| atoms.names_at(*a).map(|(v, solved)| (*a, v, solved.clone())))
        .filter(|(_, _, s)| s.is_linear() && s.len() <= 40)
        .collect();
    for (i, (a, v, x)) in names.iter().enumerate() {
        for (b, w, y) in &names[i..] {
            if monos.contains(&Mono::atom(*a).mul(&Mono::atom(*b))) {
                // x and y are the pivots solved for: a = x(v, ...), so v = a - (x - v).
                let value = |v: Atom, a: Atom, x: &Poly| {
                    let c = x.coeff(&Mono::atom(v));
                    let rest = x.sub(&Poly::term(Mono::atom(v), c.clone()));
                    Poly::atom(a).sub(&rest).scale(&c)
                };
                let e = value(*v, *a, x).mul(&value(*w, *b, y)).sub(&Poly::atom(*v).mul(&Poly::atom(*w)));
                list.push(e);
            }
        }
    }
}

/// A refutation of `p <= -1`, or without `p` of the equations and facts themselves.
struct Search<'a> {
    atoms: &'a Atoms,
    equations: Vec<Poly>,
    facts: &'a [Poly],
    p: Option<Poly>,
    nodes: usize,
}

impl Search<'_> {
    /// Some sample meets every equation and fact.
    fn sampled(&self) -> bool {
        let values = |p: &Poly| self.atoms.sim(p);
        let Some(zero) = self.equations.iter().map(values).collect::<Option<Vec<_>>>() else { return false };
        let Some(least) = self.facts.iter().map(values).collect::<Option<Vec<_>>>() else { return false };
        let none = BigInt::from(0);
        (0..self.atoms.samples()).any(|i| zero.iter().all(|s| s[i] == none) && least.iter().all(|s| s[i] >= none))
    }

    /// No execution in which the booleans are as in `fixed` satisfies the equations, the facts and `p <= -1`.
    fn impossible(&mut self, fixed: &mut Vec<(Atom, bool)>) -> bool {
        if self.nodes == 0 || fixed.len() > CASES_MAX {
            return false;
        }
        self.nodes -= 1;
        let Some((index, bounds, forms)) = self.program(fixed) else { return true };
        let point = match self.solve(&bounds, &forms) {
            Answer::Infeasible(_) => return true,
            Answer::Unknown => return false,
            Answer::Point(values) => values,
        };
        let Some(a) = self.branch(&index, &point) else { return false };
        [false, true].into_iter().all(|v| {
            fixed.push((a, v));
            let done = self.impossible(fixed);
            fixed.pop();
            done
        })
    }

    fn solve(&self, bounds: &[Bounds], forms: &[(BTreeMap<usize, BigInt>, Bounds)]) -> Answer {
        let mut work = self.atoms.work.get();
        let answer = simplex::solve(bounds, forms, &mut work);
        self.atoms.work.set(work);
        answer
    }

    /// Monomials as variables, with bounds, and the conditions on them; `None` if a condition is a false constant.
    #[allow(clippy::type_complexity)] // Three tables that only `impossible` takes apart.
    fn program(&self, fixed: &[(Atom, bool)]) -> Option<(BTreeMap<Mono, usize>, Vec<Bounds>, Vec<(BTreeMap<usize, BigInt>, Bounds)>)> {
        let mut index: BTreeMap<Mono, usize> = BTreeMap::new();
        let mut bounds: Vec<Bounds> = Vec::new();
        let mut forms = Vec::new();
        let range = |lo: Option<i32>, hi: Option<i32>| (lo.map(BigInt::from), hi.map(BigInt::from));
        let all = self
            .equations
            .iter()
            .map(|e| (e, range(Some(0), Some(0))))
            .chain(self.facts.iter().map(|f| (f, range(Some(0), None))))
            .chain(self.p.iter().map(|p| (p, range(None, Some(-1)))));
        for (e, b) in all {
            let e = fixed.iter().fold(e.clone(), |g, (a, v)| g.with_bool(*a, *v));
            let c = e.constant_part();
            let mut row = BTreeMap::new();
            for (m, k) in e.terms().filter(|(m, _)| !m.is_one()) {
                let id = *index.entry(m.clone()).or_insert_with(|| {
                    let iv = self.atoms.poly_iv(&Poly::term(m.clone(), BigInt::one()));
                    bounds.push((iv.lo.to_big(), iv.hi.to_big()));
                    bounds.len() - 1
                });
                row.insert(id, k.clone());
            }
            if row.is_empty() {
                let inside = b.0.as_ref().is_none_or(|lo| *lo <= c) && b.1.as_ref().is_none_or(|hi| c <= *hi);
                if !inside {
                    return None;
                }
                continue;
            }
            let less = |v: Option<BigInt>| v.map(|v| v - &c);
            forms.push((row, (less(b.0), less(b.1))));
        }
        Some((index, bounds, forms))
    }

    /// The newest boolean that the point gives a fraction, or whose product with something the point gets wrong.
    fn branch(&self, index: &BTreeMap<Mono, usize>, point: &[BigRational]) -> Option<Atom> {
        let value = |a: Atom| index.get(&Mono::atom(a)).map(|i| &point[*i]);
        let mut found: Vec<Atom> = Vec::new();
        for (m, i) in index {
            let bools = || m.factors().iter().map(|f| f.0).filter(|a| a.is_bool());
            if m.as_atom().is_some() {
                found.extend(bools().filter(|_| !point[*i].is_integer()));
                continue;
            }
            let product = m.factors().iter().try_fold(BigRational::one(), |p, (a, e)| {
                (0..e.small().filter(|e| *e <= 4)?).try_fold(p, |p, _| Some(p * value(*a)?))
            });
            if product.as_ref() != Some(&point[*i]) {
                found.extend(bools());
            }
        }
        found.into_iter().max_by_key(|a| self.atoms.info(*a).age)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::itv::Itv;

    /// Whether `x >= 6` is found to follow from facts about `x` in 0..9 and an unknown `y`, and whether these were seen to
    /// contradict each other.
    fn follows(facts: impl Fn(&Poly, &Poly) -> Vec<Poly>) -> (bool, bool) {
        let mut atoms = Atoms::new(0, 1);
        let (x, y) = (atoms.opaque("x", Itv::new(0, 9)), atoms.opaque("y", Itv::TOP));
        let facts = facts(&x, &y);
        // `x` again, put together from its parts: the goal is nothing that intervals settle.
        let (q, r) = atoms.split(&atoms.num(x), 1);
        let goal = q.p.scale(&BigInt::from(2)).add(&r.p).sub(&Poly::constant(6));
        (nonnegative(&atoms, &facts, &goal, &Poly::constant(1)), atoms.contradiction.get())
    }

    #[test]
    fn what_contradicts_itself_proves_nothing() {
        let at_least = |p: Poly, n: i64| p.sub(&Poly::constant(n));
        let through_y = |x: &Poly, y: &Poly| vec![at_least(x.sub(y), 0), at_least(y.clone(), 6)];
        assert_eq!(follows(through_y), (true, false));
        let too_weak = |x: &Poly, y: &Poly| vec![at_least(x.sub(y), 0), at_least(y.clone(), 5)];
        assert_eq!(follows(too_weak), (false, false));
        let impossible = |x: &Poly, y: &Poly| vec![at_least(x.sub(y), 1), at_least(y.sub(x), 1)];
        assert_eq!(follows(impossible), (false, true));
    }
}
