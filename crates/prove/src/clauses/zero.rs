//! Steps towards zero: facts solved for their newest atoms, multiples of the others, names written out.

use super::least::selection;
use santoku_ir::interp::Int;
use santoku_meaning::atoms::Def;
use santoku_meaning::poly::{inverse, Atom, Mono, Poly};
use santoku_meaning::proof::{Known, Step, Tree, Zero};
use std::collections::{BTreeMap, BTreeSet};

/// Steps, terms of what is being reduced, choices of leading terms, divisions.
const STEPS: usize = 4000;
const TERMS: usize = 3_000;
const CHOICES: usize = 256;
/// Products of terms in one step.
const PRODUCTS: usize = 30_000;
/// Facts that are combined.
const FACTS: usize = 64;
const DIVISIONS: usize = 4000;
/// Terms that divisions by all choices go over.
const DIVIDED: usize = 500_000;

/// Atoms that quotients are looked for in, and remainders that are known by their size.
const SEEN: usize = 2_000;
const LEMMAS: usize = 4;
/// Pairs of quotients by the same number, and cases in which what they are of is compared.
const PAIRS: usize = 16;
const FEW: usize = 8;
/// Cases inside cases, and cases in all.
const DEPTH: usize = 80;
const CASES: usize = 200;
/// Terms and bits of what is left to be pinned by bounds.
const PINNED: usize = 8;
const BITS: u64 = 64;

pub fn proof(known: &Known, goal: &Poly, m: Option<&Int>) -> Option<Zero> {
    if let Some(steps) = by_one_fact(known, goal, m) {
        return Some(Zero::Steps(steps));
    }
    let (known, lemmas) = remainders(known, goal);
    let found = by_cases(&known, goal, m, &mut { CASES }).or_else(|| congruent(&known, goal, m)).or_else(|| by_bits(&known, goal, m)).or_else(|| by_quotients(&known, goal, m)).or_else(|| by_size(&known, goal, m))?;
    Some(behind(lemmas, found))
}

fn behind(lemmas: Vec<(Poly, Zero)>, found: Zero) -> Zero {
    lemmas.into_iter().rev().fold(found, |then, (of, why)| Zero::Lemma { of, why: Box::new(why), then: Box::new(then) })
}

/// In each case of a bit that has a name, what it names is that bit.
fn by_bits(known: &Known, goal: &Poly, m: Option<&Int>) -> Option<Zero> {
    let named = |a: Atom| Some((known.name(a).filter(|_| a.is_bool())?.sub(&Poly::atom(a)), Zero::Steps(vec![Step::Expand(a)])));
    let lemmas: Vec<(Poly, Zero)> = goal.atoms().into_iter().filter_map(named).take(LEMMAS).collect();
    let then = lemmas.iter().fold(known.clone(), |then, (of, _)| then.with(of));
    let found = if lemmas.is_empty() { None } else { by_cases(&then, goal, m, &mut { CASES }) };
    Some(behind(lemmas, found?))
}

/// What is equal has equal quotients.
fn by_quotients(known: &Known, goal: &Poly, m: Option<&Int>) -> Option<Zero> {
    let divided = |a: Atom| if let Def::Quotient(p, d) = known.atoms.def(a) { Some((a, p.clone(), d.clone())) } else { None };
    let all: Vec<_> = Some(goal).filter(|g| g.len() <= PINNED)?.atoms().into_iter().filter_map(divided).collect();
    let (mut then, mut found, anywhere) = (known.clone(), vec![], Poly::constant(1u8));
    let pairs = all.iter().enumerate().flat_map(|(k, one)| all[..k].iter().map(move |other| (one, other)));
    for (one, other) in pairs.filter(|(a, b)| a.2 == b.2).take(PAIRS) {
        let apart = one.1.sub(&other.1);
        let Some(why) = by_cases(known, &apart, None, &mut { FEW }) else { continue };
        let (with, to) = (known.with(&apart), Poly::atom(one.0).sub(&Poly::atom(other.0)));
        let side = |p: &Poly| super::least::tree(&with, p, &anywhere);
        let Some(sides) = side(&to).zip(side(&to.scale(&Int::Small(-1)))) else { continue };
        let pinned = Zero::Pinned { steps: vec![], times: Int::Small(1), to: to.clone(), sides: Box::new(sides) };
        then = then.with(&to);
        found.push((to, Zero::Lemma { of: apart, why: Box::new(why), then: Box::new(pinned) }));
    }
    let last = if found.is_empty() { None } else { by_cases(&then, goal, m, &mut { CASES }) };
    Some(behind(found, last?))
}

/// A sum that has room for all of it: modulo the power of two that it is below, nothing is shifted out.
fn by_size(known: &Known, goal: &Poly, m: Option<&Int>) -> Option<Zero> {
    let itv = Some(goal).filter(|_| m.is_none()).and_then(|g| known.atoms.close(g))?;
    let by = Int::pow2(u32::try_from(itv.lo.bits().max(itv.hi.bits())).ok()?);
    let sides = sides(known, goal, &by)?;
    let modulo = Box::new(by_cases(known, goal, Some(&by), &mut { CASES })?);
    Some(Zero::Within { by, modulo, sides })
}

/// A remainder and what facts make congruent to it, both below the modulus.
fn congruent(known: &Known, goal: &Poly, m: Option<&Int>) -> Option<Zero> {
    if m.is_some() {
        return None;
    }
    let divisor = |a: Atom| if let Def::Quotient(_, d) = known.atoms.def(a) { Some(d.clone()) } else { None };
    let moduli: BTreeSet<Int> = goal.atoms().into_iter().filter_map(divisor).filter(|d| known.zeros.iter().any(|(_, n)| n.as_ref() == Some(d))).collect();
    moduli.into_iter().take(2).find_map(|by| {
        let sides = sides(known, goal, &by)?;
        let modulo = Box::new(by_cases(known, goal, Some(&by), &mut { CASES })?);
        Some(Zero::Within { by, modulo, sides })
    })
}

/// That something is below `m` in absolute value.
fn sides(known: &Known, of: &Poly, m: &Int) -> Option<Box<(Tree, Tree)>> {
    let most = m.sub(&Int::Small(1));
    let anywhere = Poly::constant(1u8);
    let side = |p: Poly| super::least::tree(known, &p.shift(most.clone()), &anywhere);
    Some(Box::new((side(of.clone())?, side(of.scale(&Int::Small(-1)))?)))
}

/// What is congruent to something, not negative and below the modulus is the remainder of that.
fn remainders<'r>(known: &Known<'r>, goal: &Poly) -> (Known<'r>, Vec<(Poly, Zero)>) {
    let (mut known, mut found) = (known.clone(), vec![]);
    let moduli: BTreeSet<Int> = known.zeros.iter().filter_map(|z| z.1.clone()).filter(|m| *m > Int::Small(1)).collect();
    if moduli.is_empty() {
        return (known, found);
    }
    // What was called may have spoken of a remainder that the goal does not name.
    let spoken = known.zeros.iter().flat_map(|z| z.0.atoms()).chain(goal.atoms()).collect();
    let all = quotients(&known, spoken);
    for (k, one) in all.iter().enumerate() {
        for other in all[..k].iter().filter(|o| o.2 == one.2 && moduli.contains(&o.2)) {
            if let Some((of, why)) = same_remainder(&known, one, other).filter(|_| found.len() < LEMMAS) {
                known = known.with(&of);
                found.push((of, why));
            }
        }
    }
    for (q, y, m) in quotients(&known, goal.atoms().into_iter().collect()) {
        let about = (0..known.zeros.len()).filter(|i| known.zeros[*i].1.as_ref() == Some(&m)).find_map(|fact| remainder(&known, fact, (q, &y, &m)));
        if let Some((of, why, x)) = about.filter(|_| found.len() < LEMMAS && moduli.contains(&m)) {
            known = known.with(&of);
            // Once more about the parts: the goal may speak of these.
            let parts = x.and_then(|x| Some((x, of.replace(x, &known.name(x)?, TERMS)?)));
            let again = vec![Step::Add { fact: known.zeros.len() - 1, times: Poly::constant(-1i32) }];
            found.push((of, why));
            if let Some((x, parts)) = parts {
                known = known.with(&parts);
                found.push((parts, Zero::Steps(again.into_iter().chain([Step::Expand(x)]).collect())));
            }
        }
    }
    (known, found)
}

/// What is congruent has the same remainder: the two differ by a multiple of the modulus, and by less.
fn same_remainder(known: &Known, one: &(Atom, Poly, Int), other: &(Atom, Poly, Int)) -> Option<(Poly, Zero)> {
    let m = &one.2;
    let apart = one.1.sub(&other.1);
    let modulo = Zero::Steps(by_one_fact(known, &apart, Some(m))?);
    let of = apart.plus(&m.neg(), &Poly::atom(one.0)).plus(m, &Poly::atom(other.0));
    within(known, of, m, modulo)
}

/// A multiple of `m` that is below it in absolute value.
fn within(known: &Known, of: Poly, m: &Int, modulo: Zero) -> Option<(Poly, Zero)> {
    let sides = sides(known, &of, m)?;
    Some((of, Zero::Within { by: m.clone(), modulo: Box::new(modulo), sides }))
}

fn remainder(known: &Known, fact: usize, (q, y, m): (Atom, &Poly, &Int)) -> Option<(Poly, Zero, Option<Atom>)> {
    [Int::Small(1), Int::Small(-1)].into_iter().find_map(|sign| {
        // x - y is a multiple of m, and x = y - m q.
        let f = known.fact(fact, Some(m))?.scale(&sign);
        let x = f.add(y);
        if x.len() >= f.len() {
            return None;
        }
        let by = x.constant_term().neg();
        let of = f.plus(m, &Poly::atom(q)).shift(by.clone());
        let modulo = Zero::Steps(vec![Step::Add { fact, times: Poly::constant(sign.neg()) }]);
        let (of, why) = within(known, of, m, modulo)?;
        Some((of, why, x.shift(by).as_atom()))
    })
}

/// Quotients among these atoms, also inside what is divided, with what they divide.
fn quotients(known: &Known, mut todo: Vec<Atom>) -> Vec<(Atom, Poly, Int)> {
    let (mut seen, mut found): (BTreeSet<Atom>, _) = (BTreeSet::new(), vec![]);
    while let Some(a) = todo.pop().filter(|_| seen.len() < SEEN) {
        if !seen.insert(a) {
            continue;
        }
        match known.atoms.def(a) {
            Def::Free => {}
            Def::Name(p) => todo.extend(p.atoms()),
            Def::Quotient(p, d) => {
                todo.extend(p.atoms());
                found.push((a, p.clone(), d.clone()));
            }
        }
    }
    found
}

/// The goal is a fact.
fn by_one_fact(known: &Known, goal: &Poly, m: Option<&Int>) -> Option<Vec<Step>> {
    let goal = reduced(known.here(goal), m)?;
    let (t, c) = goal.terms().next()?;
    (0..known.zeros.len()).rev().find_map(|fact| {
        let p = &known.zeros[fact].0;
        if known.fixed.is_empty() && (p.len() != goal.len() || p.terms().all(|(s, _)| s != t)) {
            return None;
        }
        let p = reduced(known.fact(fact, m)?, m)?;
        let (s, d) = p.terms().next()?;
        let times = match m {
            _ if s != t => return None,
            Some(m) => inverse(d, m)?.mul(c).neg(),
            None if d == c => Int::Small(-1),
            None if *d == c.neg() => Int::Small(1),
            None => return None,
        };
        let times = Poly::constant(times);
        reduced(goal.add(&p.mul(&times)), m)?.is_zero().then(|| vec![Step::Add { fact, times }])
    })
}

fn reduced(p: Poly, m: Option<&Int>) -> Option<Poly> {
    m.map_or(Some(p.clone()), |m| p.modulo(m))
}

fn by_cases(known: &Known, goal: &Poly, m: Option<&Int>, left: &mut usize) -> Option<Zero> {
    *left = left.checked_sub(1)?;
    let goal = known.here(goal);
    let renamed = renamed(known, &goal);
    let start = known.after(&renamed, &goal, m)?;
    let then = |steps: Vec<Step>| renamed.iter().cloned().chain(steps).collect::<Vec<_>>();
    if let Some(steps) = by_one_fact(known, &start, m) {
        return Some(Zero::Steps(then(steps)));
    }
    let open = selection(known, &start);
    let outermost = known.fixed.is_empty();
    // Cases that each are a fact are the cheapest; the whole at once is tried once.
    let a = open.filter(|_| known.fixed.len() < DEPTH);
    let by_case = |left: &mut usize| {
        let a = a?;
        let no = by_cases(&known.case(a, false), &goal, m, left)?;
        Some(Zero::Case(a, Box::new((no, by_cases(&known.case(a, true), &goal, m, left)?))))
    };
    if let Some(found) = by_case(left) {
        return Some(found);
    }
    if !outermost && open.is_some() {
        return None;
    }
    if let Some(steps) = steps(known, &start, m) {
        return Some(Zero::Steps(then(steps)));
    }
    let (steps, times, to, sides) = pinned(known, &start, m)?;
    Some(Zero::Pinned { steps: then(steps), times, to, sides: Box::new(sides) })
}

/// What is left when names are written out is a short combination, zero because of sizes.
fn pinned(known: &Known, goal: &Poly, m: Option<&Int>) -> Option<(Vec<Step>, Int, Poly, (Tree, Tree))> {
    let (rest, steps) = Rules::of(known, m, true).reduced(known, goal)?;
    let (_, first) = rest.terms().next().filter(|_| rest.len() <= PINNED)?;
    let (times, to) = match m {
        Some(m) => {
            let times = inverse(first, m).unwrap_or(Int::Small(1));
            let half = m.shr(1);
            let signed = |c: &Int| c.mul(&times).mod_floor(m).map(|c| if c > half { c.sub(m) } else { c });
            (times.clone(), Poly::of(rest.terms().map(|(t, c)| Some((t.clone(), signed(c)?))).collect::<Option<Vec<_>>>()?))
        }
        None => (Int::Small(1), rest.clone()),
    };
    if to.terms().any(|(_, c)| c.bits() > BITS && m.is_some()) {
        return None;
    }
    let anywhere = Poly::constant(1u8);
    let side = |p: &Poly| super::least::tree(known, p, &anywhere);
    let sides = (side(&to)?, side(&to.scale(&Int::Small(-1)))?);
    Some((steps, times, to, sides))
}

/// Names that the case makes the same as others.
fn renamed(known: &Known, goal: &Poly) -> Vec<Step> {
    if known.fixed.is_empty() {
        return vec![];
    }
    goal.atoms().into_iter().filter_map(|a| renaming(known, a)).collect()
}

fn renaming(known: &Known, a: Atom) -> Option<Step> {
    let varies = |a: Atom| known.fixed.iter().any(|(b, _)| known.atoms.mentions(a, *b));
    let p = Some(a).filter(|a| varies(*a)).and_then(|a| known.name(a)).filter(|p| p.as_const().is_none())?;
    known.atoms.name_of(&p).filter(|to| !varies(*to)).map(|to| Step::Rename(a, to))
}

fn steps(known: &Known, goal: &Poly, m: Option<&Int>) -> Option<Vec<Step>> {
    [(false, true), (true, true), (true, false)].into_iter().filter(|(_, solved)| *solved || known.fixed.is_empty()).find_map(|(names, solved)| {
        let rules = if solved { Rules::of(known, m, names) } else { Rules::none(known, m) };
        let (rest, steps) = rules.reduced(known, goal)?;
        if rest.is_zero() {
            return Some(steps);
        }
        let added = rules.combination(known, &rest)?;
        let sum = known.after(&added, goal, m)?;
        let (rest, steps) = rules.reduced(known, &sum)?;
        rest.is_zero().then(|| added.into_iter().chain(steps).collect())
    })
}

/// A name is as old as what it is about.
fn age(known: &Known, a: Atom) -> (usize, usize) {
    let own = match known.atoms.def(a) {
        Def::Name(p) => p.atoms().into_iter().map(Atom::nr).max().unwrap_or(0),
        _ => a.nr(),
    };
    (own, a.nr())
}

/// Which fact is solved for which atom, and the facts that are not.
struct Rules<'m> {
    m: Option<&'m Int>,
    names: bool,
    solved: BTreeMap<Atom, usize>,
    others: Vec<usize>,
}

impl<'m> Rules<'m> {
    fn of(known: &Known, m: Option<&'m Int>, names: bool) -> Rules<'m> {
        let mut rules = Rules { m, names, solved: BTreeMap::new(), others: vec![] };
        let mut depends: BTreeMap<Atom, BTreeSet<Atom>> = BTreeMap::new();
        for (nr, (p, _)) in known.zeros.iter().enumerate() {
            let mut atoms: Vec<Atom> = p.atoms().into_iter().collect();
            atoms.sort_by_key(|a| std::cmp::Reverse(age(known, *a)));
            let free = atoms.into_iter().find_map(|a| {
                let by = known.solved(nr, a, m).filter(|_| !rules.solved.contains_key(&a))?;
                // Nothing that is put in for an atom leads back to it.
                let mut all = by.atoms();
                all.extend(by.atoms().iter().filter_map(|b| depends.get(b)).flatten().copied().collect::<Vec<_>>());
                (!all.contains(&a)).then_some((a, all))
            });
            match free {
                Some((a, all)) => {
                    for set in depends.values_mut().filter(|s| s.contains(&a)) {
                        set.extend(all.iter().copied());
                    }
                    depends.insert(a, all);
                    rules.solved.insert(a, nr);
                }
                None => rules.others.push(nr),
            }
        }
        rules
    }

    /// No fact is solved for anything, names are written out.
    fn none(known: &Known, m: Option<&'m Int>) -> Rules<'m> {
        Rules { m, names: true, solved: BTreeMap::new(), others: (0..known.zeros.len()).collect() }
    }

    fn step(&self, known: &Known, p: &Poly) -> Option<Step> {
        let mut atoms: Vec<Atom> = p.atoms().into_iter().collect();
        atoms.sort_by_key(|a| std::cmp::Reverse(age(known, *a)));
        atoms.into_iter().find_map(|a| match self.solved.get(&a) {
            Some(fact) => Some(Step::Rewrite { fact: *fact, atom: a }),
            // What was chosen is in this case one of what it was chosen from, of which more may be known than what it names.
            None if renaming(known, a).is_some() => renaming(known, a),
            None if self.names && known.name(a).is_some() => Some(Step::Expand(a)),
            None => None,
        })
    }

    /// How many terms are multiplied in a step that replaces an atom.
    fn products(&self, known: &Known, p: &Poly, step: &Step) -> Option<usize> {
        let (a, by) = match step {
            Step::Rewrite { fact, atom } => (*atom, known.zeros[*fact].0.len().saturating_sub(1)),
            Step::Expand(atom) => (*atom, known.name(*atom)?.len()),
            Step::Rename(..) | Step::Add { .. } => return Some(0),
        };
        let of = |e: &Int| by.max(1).saturating_pow(e.to_u64().map_or(u32::MAX, |e| u32::try_from(e).unwrap_or(u32::MAX)));
        Some(p.terms().filter_map(|(t, _)| t.exponent(a)).fold(0usize, |all, e| all.saturating_add(of(e))))
    }

    /// What is left when every atom that can be replaced is, newest first.
    fn reduced(&self, known: &Known, p: &Poly) -> Option<(Poly, Vec<Step>)> {
        let (mut p, mut steps) = (p.clone(), vec![]);
        while let Some(step) = self.step(known, &p) {
            if self.products(known, &p, &step)? > PRODUCTS {
                return None;
            }
            p = known.after(std::slice::from_ref(&step), &p, self.m)?;
            steps.push(step);
            if steps.len() > STEPS || p.len() > TERMS {
                return None;
            }
        }
        Some((p, steps))
    }

    /// Multiples of the other facts that take `rest` away.
    fn combination(&self, known: &Known, rest: &Poly) -> Option<Vec<Step>> {
        let mut wanted = rest.atoms();
        let mut open: Vec<(usize, Poly)> = self.others.iter().filter_map(|nr| Some((*nr, self.reduced(known, &reduced(known.fact(*nr, self.m)?, self.m)?)?.0))).collect();
        let mut facts: Vec<(usize, Vec<Lead>)> = vec![];
        while let Some(i) = open.iter().position(|(_, p)| p.atoms().iter().any(|a| wanted.contains(a))).filter(|_| facts.len() < FACTS) {
            let (nr, p) = open.swap_remove(i);
            wanted.extend(p.atoms());
            let mut leads = leads(&p, self.m);
            if self.solved.is_empty() {
                // Parts of what was made last are taken out of everything.
                leads.retain(|l| l.lead.factors().len() == 1);
            }
            if !leads.is_empty() {
                facts.push((nr, leads));
            }
        }
        let (mut choice, mut left) = (vec![0; facts.len()], DIVIDED);
        for _ in 0..if self.solved.is_empty() { 4 } else { CHOICES } {
            let chosen: Vec<(usize, &Lead)> = facts.iter().zip(&choice).map(|((nr, leads), c)| (*nr, &leads[*c])).collect();
            if let Some(times) = divided(rest, &chosen, self.m, &mut left) {
                return Some(times.into_iter().map(|(fact, times)| Step::Add { fact, times }).collect());
            }
            let i = (0..choice.len()).find(|i| choice[*i] + 1 < facts[*i].1.len())?;
            choice[i] += 1;
            choice[..i].fill(0);
        }
        None
    }
}

/// A fact solved for one of its terms: `lead == rest`, where `lead - rest` is `by` times the fact.
struct Lead {
    lead: Mono,
    rest: Poly,
    by: Int,
}

fn leads(p: &Poly, m: Option<&Int>) -> Vec<Lead> {
    let mut out = vec![];
    for (t, c) in p.terms().filter(|(t, _)| !t.is_one()) {
        let by = match m {
            Some(m) => inverse(c, m),
            None => (*c == Int::Small(1) || *c == Int::Small(-1)).then(|| c.clone()),
        };
        let Some(by) = by else { continue };
        let whole = p.scale(&by.neg()).add(&Poly::of([(t.clone(), Int::Small(1))]));
        let rest = m.map_or(Some(whole.clone()), |m| whole.modulo(m));
        let Some(rest) = rest.filter(|r| r.terms().all(|(n, _)| n.over(t).is_none())) else { continue };
        out.push(Lead { lead: t.clone(), rest, by });
    }
    // Long products first: they are rewritten towards shorter ones; of as long ones the newest.
    out.sort_by_key(|l| std::cmp::Reverse((l.lead.factors().len(), l.lead.factors().iter().map(|f| f.0.nr()).max())));
    out
}

/// Multiples of the facts whose sum takes `p` to zero.
fn divided(p: &Poly, facts: &[(usize, &Lead)], m: Option<&Int>, left: &mut usize) -> Option<BTreeMap<usize, Poly>> {
    let (mut p, mut times) = (p.clone(), BTreeMap::<usize, Poly>::new());
    for _ in 0..DIVISIONS {
        if p.is_zero() {
            return Some(times);
        }
        let hit = p.terms().rev().find_map(|(t, c)| facts.iter().find_map(|(nr, l)| t.over(&l.lead).map(|q| (*nr, *l, Poly::of([(q, c.clone())]), t.clone(), c.clone()))));
        let (nr, l, q, t, c) = hit?;
        let taken = p.add(&q.mul(&l.rest)).sub(&Poly::of([(t, c)]));
        p = m.map_or(Some(taken.clone()), |m| taken.modulo(m))?;
        let at = times.entry(nr).or_default();
        *at = at.sub(&q.scale(&l.by));
        *left = left.checked_sub(p.len())?;
        if p.len() > TERMS {
            return None;
        }
    }
    None
}
