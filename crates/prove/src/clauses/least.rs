//! Refutations by linear programs over terms as variables, in cases of 0/1 atoms.

use crate::algebra::simplex::{self, Answer, Bounds};
use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::One;
use santoku_ir::interp::Int;
use santoku_meaning::atoms::Def;
use santoku_meaning::poly::{Atom, Mono, Poly};
use santoku_meaning::proof::{tightened, Known, Row, Tree};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Rows of one program, tried in this order; cases inside cases, and programs in all.
const ROWS: [usize; 3] = [30, 120, 400];
const DEPTH: usize = 24;
const PROGRAMS: usize = 40;
/// Values of an atom that are told apart.
const FEW: u32 = 8;
/// Products of values that are looked at.
const PRODUCTS: usize = 16;
/// Cases of values that are chosen among.
const SELECTED: usize = 300;
/// What the programs of one search may cost together: the largest of the library takes a third of it.
const WORK: u64 = 1_000_000;

pub fn tree(known: &Known, goal: &Poly, guard: &Poly) -> Option<Tree> {
    // Of a product of conditions each holds.
    let all = guard.terms().next().filter(|_| guard.len() == 1).map(|(t, _)| t.factors().iter().map(|f| f.0).collect::<Vec<_>>()).unwrap_or_default();
    if let Some(a) = all.into_iter().find(|a| a.is_bool() && known.fixed.iter().all(|(b, _)| a != b)) {
        let no = Tree::Leaf(vec![vec![(Row::Guard, Int::Small(1))]]);
        return Some(Tree::Case(a, Box::new((no, tree(&known.case(a, true), goal, guard)?))));
    }
    if let Some(row) = (0..known.least.len()).rev().find(|i| known.least[*i].0.len() == goal.len() && follows(&known.least[*i].0, goal) && known.row(Row::Least(*i), goal, guard).is_some()) {
        return Some(Tree::Leaf(vec![vec![(Row::Negated, Int::Small(1)), (Row::Least(row), Int::Small(1))]]));
    }
    if let Some(tree) = by_selection(known, goal, guard, &mut { SELECTED }) {
        return Some(tree);
    }
    if let Some(tree) = super::sizes::tree(known, goal, guard) {
        return Some(tree);
    }
    let mut before = 0;
    ROWS.into_iter().find_map(|most| {
        let rows = relevant(known, goal, guard, most);
        if rows.len() == before {
            return None;
        }
        before = rows.len();
        let mut cases = Cases { goal, guard, rows, left: PROGRAMS, work: WORK };
        cases.refuted(known)
    })
}

/// What is chosen among values of which each has the bound.
fn by_selection(known: &Known, goal: &Poly, guard: &Poly, left: &mut usize) -> Option<Tree> {
    *left = left.checked_sub(1)?;
    // A name below a number, or above it.
    let (name, _) = goal.atoms().into_iter().next().and_then(|a| Some((a, known.name(a)?))).filter(|_| goal.atoms().len() == 1)?;
    if known.here(guard).is_zero() {
        return Some(Tree::Leaf(vec![vec![(Row::Guard, Int::Small(1))]]));
    }
    let (c, _) = goal.linear_in(name)?;
    let own = known.name(name)?;
    let leaf = |facts: Vec<(Row, Int)>| {
        let sums = vec![[vec![(Row::Negated, Int::Small(1)), (Row::Name(name), c.neg())], facts].concat()];
        let tree = Tree::Leaf(sums);
        known.is_least(&tree, goal, guard).then_some(tree)
    };
    let alike = |b: Atom| b == name || known.name(b).is_some_and(|p| p == own);
    let by_fact = (0..known.least.len()).rev().find_map(|i| {
        let p = &known.least[i].0;
        // A number, and a multiple of one atom.
        let (b, (d, _)) = Some(p).filter(|p| p.len() <= 2)?.atoms().into_iter().next().filter(|_| p.atoms().len() == 1).and_then(|b| Some((b, p.linear_in(b)?)))?;
        if d != c || !alike(b) {
            return None;
        }
        leaf(vec![(Row::Least(i), Int::Small(1)), (Row::Name(b), c.clone())])
    });
    if let Some(tree) = by_fact.or_else(|| leaf(vec![])) {
        return Some(tree);
    }
    let a = selection(known, &goal.add(guard))?;
    let no = by_selection(&known.case(a, false), goal, guard, left)?;
    Some(Tree::Case(a, Box::new((no, by_selection(&known.case(a, true), goal, guard, left)?))))
}

/// The same but for a constant that is no smaller.
fn follows(fact: &Poly, goal: &Poly) -> bool {
    goal.sub(fact).as_const().is_some_and(|c| !c.is_negative())
}

/// Rows that speak of the atoms of the goal, and of those that these rows speak of, nearest first.
fn relevant(known: &Known, goal: &Poly, guard: &Poly, most: usize) -> Vec<Row> {
    let mut rows = vec![Row::Negated, Row::Guard];
    let (mut seen, mut todo) = (BTreeSet::new(), VecDeque::new());
    let facts = || known.least.iter().map(|l| &l.0).chain(known.zeros.iter().filter(|z| z.1.is_none()).map(|z| &z.0));
    let spoken: BTreeSet<Atom> = facts().flat_map(Poly::atoms).filter(|a| !matches!(known.atoms.def(*a), Def::Free)).collect();
    // Whether something is zero is a fact about it; of an index that is told apart it is known anyway.
    let says = |a: Atom| known.atoms.others(a).next().is_none() && known.atoms.zero_of(a).is_some();
    todo.extend(known.fixed.iter().map(|f| f.0).filter(|a| says(*a)));
    todo.extend(goal.atoms().into_iter().rev());
    todo.extend(guard.atoms());
    while let Some(a) = todo.pop_front() {
        if rows.len() >= most || !seen.insert(a) {
            continue;
        }
        let mut new: Vec<Row> = match known.atoms.def(a) {
            Def::Free if a.is_bool() && says(a) => vec![Row::Flag(a), Row::Unless(a)],
            Def::Free => vec![],
            Def::Quotient(..) => vec![Row::Rest(a), Row::Below(a)],
            Def::Name(_) => vec![Row::Name(a)],
        };
        new.extend((0..known.least.len()).filter(|i| known.least[*i].0.has(a)).map(Row::Least));
        new.extend((0..known.zeros.len()).filter(|i| known.zeros[*i].1.is_none() && known.zeros[*i].0.has(a)).map(Row::Zero));
        // Facts about a value are facts about its parts.
        new.extend(spoken.iter().filter(|n| known.atoms.mentions(**n, a)).flat_map(|n| match known.atoms.def(*n) {
            Def::Quotient(..) => vec![Row::Rest(*n), Row::Below(*n)],
            _ => vec![Row::Name(*n)],
        }));
        for row in new.into_iter().filter(|r| !rows.contains(r)).collect::<Vec<_>>() {
            let spoken = match row {
                Row::Least(i) => known.least[i].0.atoms().into_iter().chain(known.least[i].1.atoms()).collect(),
                row => known.row(row, goal, guard).map(|(p, _)| p.atoms()).unwrap_or_default(),
            };
            todo.extend(spoken.into_iter().rev());
            rows.push(row);
        }
    }
    products(known, &spoken, &mut rows, goal, guard);
    rows
}

/// Products of values where products of their parts occur.
fn products(known: &Known, spoken: &BTreeSet<Atom>, rows: &mut Vec<Row>, goal: &Poly, guard: &Poly) {
    let mut pairs: BTreeSet<(Atom, Atom)> = BTreeSet::new();
    for row in rows.iter() {
        for (t, _) in known.row(*row, goal, guard).iter().flat_map(|(p, _)| p.terms()) {
            if let [(a, _), (b, _)] = t.factors() {
                pairs.insert((*a, *b));
            }
        }
    }
    let of = |a: Atom| spoken.iter().copied().filter(move |n| known.name(*n).is_some() && known.atoms.mentions(*n, a));
    let found: BTreeSet<(Atom, Atom)> = pairs.into_iter().flat_map(|(a, b)| of(a).flat_map(move |n| of(b).map(move |m| (n.min(m), n.max(m))))).collect();
    rows.extend(found.into_iter().take(PRODUCTS).map(|(a, b)| Row::Product(a, b)));
}

struct Cases<'k> {
    goal: &'k Poly,
    guard: &'k Poly,
    rows: Vec<Row>,
    left: usize,
    work: u64,
}

impl Cases<'_> {
    fn refuted(&mut self, known: &Known) -> Option<Tree> {
        self.left = self.left.checked_sub(1).filter(|_| known.fixed.len() <= DEPTH)?;
        // A fact of another branch says nothing here.
        let nothing = || (Poly::default(), false);
        let rows: Vec<Row> = self.rows.iter().copied().chain((0..known.assumed.len()).map(Row::Assumed)).collect();
        let mut polys: Vec<(Poly, bool)> = rows.iter().map(|r| known.row(*r, self.goal, self.guard).unwrap_or_else(nothing)).collect();
        // Of integers: what is at least a half is at least 1.
        let negated = rows.iter().position(|r| *r == Row::Negated);
        let rounded = negated.and_then(|i| Some((i, tightened(&polys[i].0)?))).filter(|(i, p)| *p != polys[*i].0);
        let own = rounded.as_ref().map(|(i, _)| *i);
        if let Some((i, p)) = rounded {
            polys[i].0 = p;
        }
        let impossible = |p: &Poly| known.atoms.bound(p).is_some_and(|i| i.hi.is_negative());
        // A row that cannot be by itself.
        if let Some(i) = polys.iter().position(|(p, zero)| impossible(p) || *zero && impossible(&p.scale(&Int::Small(-1)))) {
            let sign = if impossible(&polys[i].0) { 1 } else { -1 };
            return Some(Tree::Leaf(vec![vec![(rows[i], Int::Small(sign))]]));
        }
        let mut program = Program::of(known, &polys);
        let point = match simplex::solve(&program.bounds, &program.forms, &mut self.work) {
            Answer::Infeasible(factors) => return leaf(&rows, &factors, own),
            Answer::Unknown => return None,
            Answer::Point(point) => point,
        };
        if let Some(a) = program.open(&point) {
            let no = self.refuted(&known.case(a, false))?;
            return Some(Tree::Case(a, Box::new((no, self.refuted(&known.case(a, true))?))));
        }
        let (a, at) = program.between(&point)?;
        let above = Poly::atom(a).shift(at.neg());
        let low = self.refuted(&known.assuming(above.scale(&Int::Small(-1))))?;
        Some(Tree::Split(a, at, Box::new((low, self.refuted(&known.assuming(above.shift(-1i32)))?))))
    }
}

/// Factors as whole numbers. `rounded`: a row that is divided and rounded before.
fn leaf(rows: &[Row], factors: &[(usize, BigRational)], rounded: Option<usize>) -> Option<Tree> {
    let common = factors.iter().fold(BigInt::one(), |d, (_, f)| d.lcm(f.denom()));
    let whole = |f: &BigRational| Int::from((f * BigRational::from(common.clone())).to_integer());
    let row = |i: usize| if rounded == Some(i) { Some(Row::Sum(0)) } else { rows.get(i).copied() };
    let sum = factors.iter().map(|(i, f)| Some((row(*i)?, whole(f)))).collect::<Option<_>>()?;
    let before = rounded.and_then(|i| rows.get(i)).map(|r| vec![(*r, Int::Small(1))]);
    Some(Tree::Leaf(before.into_iter().chain([sum]).collect()))
}

struct Program {
    monos: Vec<Mono>,
    bounds: Vec<Bounds>,
    forms: Vec<(BTreeMap<usize, BigInt>, Bounds)>,
}

impl Program {
    fn of(known: &Known, rows: &[(Poly, bool)]) -> Program {
        let (mut index, mut out) = (BTreeMap::<Mono, usize>::new(), Program { monos: vec![], bounds: vec![], forms: vec![] });
        for (p, zero) in rows {
            let (mut form, mut konst) = (BTreeMap::new(), BigInt::from(0));
            for (t, c) in p.terms() {
                if t.is_one() {
                    konst = c.to_big();
                    continue;
                }
                let at = *index.entry(t.clone()).or_insert_with(|| {
                    let itv = known.atoms.bound(&Poly::of([(t.clone(), Int::Small(1))]));
                    out.bounds.push((itv.as_ref().map(|i| i.lo.to_big()), itv.as_ref().map(|i| i.hi.to_big())));
                    out.monos.push(t.clone());
                    out.monos.len() - 1
                });
                form.insert(at, c.to_big());
            }
            let least = -konst;
            out.forms.push((form, (Some(least.clone()), zero.then_some(least))));
        }
        out
    }

    /// An atom of few values that the point leaves between two.
    fn between(&self, point: &[BigRational]) -> Option<(Atom, Int)> {
        let few = |b: &Bounds| b.0.as_ref().zip(b.1.as_ref()).is_some_and(|(lo, hi)| hi - lo < BigInt::from(FEW));
        let single = |m: &Mono| if let [(a, e)] = m.factors() { (*e == Int::Small(1)).then_some(*a) } else { None };
        let at = |i: usize| Some((single(&self.monos[i])?, Int::from(point[i].floor().to_integer())));
        (0..self.monos.len()).filter(|i| few(&self.bounds[*i]) && !point[*i].is_integer()).find_map(at)
    }

    /// A 0/1 atom that the point leaves between, or whose product with something it gets wrong.
    fn open(&mut self, point: &[BigRational]) -> Option<Atom> {
        let index: BTreeMap<&Mono, usize> = self.monos.iter().enumerate().map(|(i, m)| (m, i)).collect();
        let value = |a: Atom| index.get(&Mono::atom(a)).map(|i| &point[*i]);
        let mut found: BTreeSet<Atom> = BTreeSet::new();
        for (i, m) in self.monos.iter().enumerate() {
            let bools = m.factors().iter().map(|f| f.0).filter(|a| a.is_bool());
            if let [(_, _)] = m.factors() {
                found.extend(bools.filter(|_| !point[i].is_integer()));
                continue;
            }
            let product = m.factors().iter().try_fold(BigRational::one(), |p, (a, e)| {
                (0..e.to_u64().filter(|e| *e <= 4)?).try_fold(p, |p, _| Some(p * value(*a)?))
            });
            if product.as_ref() != Some(&point[i]) {
                found.extend(bools);
            }
        }
        found.into_iter().next_back()
    }
}

/// The newest 0/1 atom that a name of the goal depends on.
pub fn selection(known: &Known, goal: &Poly) -> Option<Atom> {
    let inside = goal.atoms().into_iter().flat_map(|a| known.name(a).filter(|_| !a.is_bool()).map(|p| p.atoms()).unwrap_or_else(|| [a].into()));
    inside.filter(|a| a.is_bool()).max_by_key(|a| a.nr())
}
