//! Refutations without a linear program: quotients go out newest first, each by the bound of what it leaves, and what is left is put
//! together to values and products of values again.
//!
//! After the rounds of a Montgomery product `t R = a b + m M`: of the `L^2` carries none is left once the `L` quotients of which `m` is
//! made are out.

use santoku_ir::interp::Int;
use santoku_meaning::atoms::Def;
use santoku_meaning::poly::{Atom, Mono, Poly};
use santoku_meaning::proof::{Known, Row, Tree};
use std::collections::BTreeMap;

/// Steps, terms and bits of what is being refuted.
const STEPS: usize = 64;
const TERMS: usize = 1_000;
const BITS: u64 = 1 << 13;
/// Values that are put together again.
const VALUES: usize = 24;

/// A sum of rows that is not negative if the goal is.
#[derive(Clone)]
struct Sum {
    p: Poly,
    rows: Vec<(Row, Int)>,
}

impl Sum {
    /// `scale * self + times * row`
    fn with(&self, known: &Known, (goal, guard): (&Poly, &Poly), scale: &Int, row: Row, times: &Int) -> Option<Sum> {
        let (p, _) = known.row(row, goal, guard)?;
        let p = self.p.scale(scale).plus(times, &p);
        let rows = self.rows.iter().map(|(r, k)| (*r, k.mul(scale))).chain([(row, times.clone())]).collect();
        let short = p.len() <= TERMS && p.terms().all(|(_, c)| c.bits() <= BITS);
        short.then_some(Sum { p, rows })
    }
}

/// A refutation of `goal < 0`.
pub fn tree(known: &Known, goal: &Poly, guard: &Poly) -> Option<Tree> {
    let one = Int::Small(1);
    let about = (goal, guard);
    let mut sum = Sum { p: known.row(Row::Negated, goal, guard)?.0, rows: vec![(Row::Negated, one.clone())] };
    let values = values(known);
    for _ in 0..STEPS {
        // A name by what it names.
        let name = sum.p.atoms().into_iter().rev().find_map(|a| Some((a, known.name(a)?, sum.p.linear_in(a)?.0)));
        if let Some((a, _, c)) = name.filter(|(_, p, _)| p.atoms().into_iter().any(|b| quotient(known, b).is_some())) {
            sum = sum.with(known, about, &one, Row::Name(a), &c)?;
            continue;
        }
        let together = together(known, about, &values, &sum);
        if known.atoms.bound(&together.p).is_some_and(|i| i.hi.is_negative()) {
            return Some(Tree::Leaf(vec![together.rows]));
        }
        let (a, d) = sum.p.atoms().into_iter().rev().find_map(|a| Some((a, quotient(known, a)?)))?;
        let (c, _) = sum.p.linear_in(a)?;
        // c q + (c / d) (y - d q) for a positive c; of a negative one the other side.
        let (row, times) = if c.is_negative() { (Row::Below(a), c.neg()) } else { (Row::Rest(a), c) };
        let common = gcd(&times, &d);
        sum = sum.with(known, about, &d.div_floor(&common)?, row, &times.div_floor(&common)?)?;
    }
    None
}

fn quotient(known: &Known, a: Atom) -> Option<Int> {
    if let Def::Quotient(_, d) = known.atoms.def(a) { Some(d.clone()) } else { None }
}

fn gcd(a: &Int, b: &Int) -> Int {
    Int::from(num_integer::Integer::gcd(&a.to_big(), &b.to_big()))
}

/// Names of sums of parts that nothing else is known of, the parts of one by its last.
fn values(known: &Known) -> Vec<(Atom, Poly, Atom)> {
    let free = |p: &Poly| p.atoms().into_iter().all(|a| matches!(known.atoms.def(a), Def::Free));
    let linear = |p: &Poly| p.terms().all(|(t, _)| t.factors().len() <= 1);
    let named = known.atoms.names().filter_map(|a| {
        let p = known.name(a).filter(|p| p.len() > 1 && linear(p) && free(p))?;
        let last = p.atoms().into_iter().next_back()?;
        Some((a, p, last))
    });
    named.take(VALUES).collect()
}

/// Products of parts as products of values, parts as values, where that makes it shorter.
fn together(known: &Known, about: (&Poly, &Poly), values: &[(Atom, Poly, Atom)], sum: &Sum) -> Sum {
    let mut sum = sum.clone();
    let coefficients: BTreeMap<Mono, Int> = sum.p.terms().map(|(t, c)| (t.clone(), c.clone())).collect();
    let put = |sum: &mut Sum, part: Mono, row: Row, by: Option<Int>| -> Option<()> {
        let c = coefficients.get(&part)?;
        let times = c.mod_floor(&by.clone()?).filter(|r| *r == Int::ZERO).and_then(|_| c.div_floor(&by?))?.neg();
        let next = sum.with(known, about, &Int::Small(1), row, &times)?;
        if next.p.len() < sum.p.len() {
            *sum = next;
        }
        Some(())
    };
    for (i, (a, p, last)) in values.iter().enumerate() {
        for (b, q, other) in &values[i..] {
            let by = Some(coefficient(p, *last).mul(&coefficient(q, *other)));
            put(&mut sum, Mono::atom(*last).mul(&Mono::atom(*other)), Row::Product(*a, *b), by);
        }
        put(&mut sum, Mono::atom(*last), Row::Name(*a), Some(coefficient(p, *last)));
    }
    sum
}

fn coefficient(p: &Poly, a: Atom) -> Int {
    p.terms().find(|(t, _)| **t == Mono::atom(a)).map_or(Int::Small(1), |(_, c)| c.clone())
}
