//! Proofs of linear facts for the judge: Fourier-Motzkin elimination that remembers what it added up.
//! Trusted: nothing: a wrong proof is refused.

use santoku_ir::interp::Int;
use santoku_judge::lin::{Atom, Atoms, Lin, Proof, Row};
use santoku_judge::Search;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Atoms looked at for one goal, and rows alive during an elimination.
const MAX_ATOMS: usize = 24;
const MAX_ROWS: usize = 240;

pub struct Elimination;

impl Search for Elimination {
    fn proof(&self, atoms: &Atoms, goal: &Lin, facts: &[Lin]) -> Option<Proof> {
        let mut system = System::default();
        for row in relevant(atoms, goal, facts) {
            let form = atoms.row(row, goal, facts, &[])?;
            system.sum(vec![(row, Int::Small(1))], form);
        }
        system.refute()
    }
}

/// Rows that share atoms with the goal, directly or through others.
fn relevant(atoms: &Atoms, goal: &Lin, facts: &[Lin]) -> BTreeSet<Row> {
    let mut rows = BTreeSet::from([Row::Negated]);
    let mut todo: Vec<Atom> = goal.terms.keys().copied().collect();
    let mut seen = BTreeSet::new();
    let quotients: Vec<Atom> = facts.iter().flat_map(|f| f.terms.keys().copied()).filter(|a| atoms.defined_as(*a).is_some()).collect();
    while let Some(a) = todo.pop() {
        if !seen.insert(a) || seen.len() > MAX_ATOMS {
            continue;
        }
        rows.extend([Row::Low(a), Row::High(a)]);
        if let Some((form, _)) = atoms.defined_as(a) {
            rows.extend([Row::Rest(a), Row::Below(a)]);
            todo.extend(form.terms.keys());
        }
        todo.extend(quotients.iter().filter(|q| atoms.defined_as(**q).is_some_and(|(f, _)| f.terms.contains_key(&a))));
        for (i, f) in facts.iter().enumerate().filter(|(_, f)| f.terms.contains_key(&a)) {
            rows.insert(Row::Fact(i));
            todo.extend(f.terms.keys());
        }
    }
    rows
}

#[derive(Default)]
struct System {
    /// Live rows by number.
    rows: Vec<usize>,
    sums: Vec<(Vec<(Row, Int)>, Lin)>,
    /// All rows by a hash of their forms. One that is no longer live has an atom that was eliminated, which no later one has.
    known: HashMap<u64, Vec<usize>>,
}

fn hash(form: &Lin) -> u64 {
    let mut h = DefaultHasher::new();
    form.terms.iter().for_each(|term| term.hash(&mut h));
    form.konst.hash(&mut h);
    h.finish()
}

impl System {
    fn sum(&mut self, parts: Vec<(Row, Int)>, form: Lin) {
        let form = form.tightened();
        if form.as_const().is_some_and(|k| !k.is_negative()) || self.row(&form).is_some() {
            return;
        }
        self.known.entry(hash(&form)).or_default().push(self.sums.len());
        self.rows.push(self.sums.len());
        self.sums.push((parts, form));
    }
    /// The row with this form.
    fn row(&self, form: &Lin) -> Option<usize> {
        self.known.get(&hash(form))?.iter().copied().find(|n| self.form(*n) == form)
    }
    fn form(&self, n: usize) -> &Lin {
        &self.sums[n].1
    }
    /// `x * a + y * b`, for factors that are not negative.
    fn add(&mut self, (x, a): (Int, usize), (y, b): (Int, usize)) {
        let form = self.form(a).scale(&x).plus(&y, self.form(b));
        self.sum(vec![(Row::Sum(a), x), (Row::Sum(b), y)], form);
    }
    fn refute(mut self) -> Option<Proof> {
        loop {
            if let Some(n) = self.rows.iter().copied().find(|n| self.form(*n).as_const().is_some()) {
                return Some(self.proof(n));
            }
            if let Some((a, up, down)) = self.equality() {
                let (with, without): (Vec<usize>, Vec<usize>) = self.rows.iter().partition(|n| self.form(**n).terms.contains_key(&a));
                self.rows = without;
                for n in with.into_iter().filter(|n| *n != up && *n != down) {
                    let c = self.form(n).terms[&a].clone();
                    let (by, c) = if c.is_negative() { (up, c.neg()) } else { (down, c) };
                    self.add((Int::Small(1), n), (c, by));
                }
                continue;
            }
            let mut uses: BTreeMap<Atom, (usize, usize)> = BTreeMap::new();
            for n in &self.rows {
                for (a, c) in &self.form(*n).terms {
                    let u = uses.entry(*a).or_default();
                    if c.is_negative() { u.1 += 1 } else { u.0 += 1 }
                }
            }
            let (a, _) = uses.into_iter().min_by_key(|(_, (p, n))| p * n)?;
            let (with, without): (Vec<usize>, Vec<usize>) = self.rows.iter().partition(|n| self.form(**n).terms.contains_key(&a));
            self.rows = without;
            let (neg, pos): (Vec<usize>, Vec<usize>) = with.into_iter().partition(|n| self.form(*n).terms[&a].is_negative());
            for p in &pos {
                for n in &neg {
                    let (x, y) = (self.form(*n).terms[&a].neg(), self.form(*p).terms[&a].clone());
                    self.add((x, *p), (y, *n));
                }
            }
            if self.rows.len() > MAX_ROWS {
                return None;
            }
        }
    }
    /// An atom with factor 1 in a row whose negation is a row, too: the row where it counts 1, the one where it counts -1.
    fn equality(&self) -> Option<(Atom, usize, usize)> {
        for n in &self.rows {
            let form = self.form(*n);
            let Some((a, _)) = form.terms.iter().find(|(_, c)| **c == Int::Small(1)) else { continue };
            let opposite = form.scale(&Int::Small(-1));
            if let Some(m) = self.row(&opposite) {
                return Some((*a, *n, m));
            }
        }
        None
    }
    /// The sums that the last one rests on, renumbered.
    fn proof(&self, last: usize) -> Proof {
        let mut needed = BTreeSet::from([last]);
        for n in (0..=last).rev().filter(|n| *n <= last) {
            if needed.contains(&n) {
                needed.extend(self.sums[n].0.iter().filter_map(|(r, _)| if let Row::Sum(m) = r { Some(*m) } else { None }));
            }
        }
        let place: BTreeMap<usize, usize> = needed.iter().enumerate().map(|(i, n)| (*n, i)).collect();
        let row = |r: &Row| if let Row::Sum(m) = r { Row::Sum(place[m]) } else { *r };
        needed.iter().map(|n| self.sums[*n].0.iter().map(|(r, k)| (row(r), k.clone())).collect()).collect()
    }
}
