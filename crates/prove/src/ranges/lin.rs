//! Linear forms over atoms, and what can be shown about them.
//!
//! An atom stands for one integer value of one run: a length, a loop counter, a stored value, or the quotient
//! `floor(L / k)` of a linear form. Facts are linear forms known to be non-negative on the current path.

use crate::itv::Itv;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

pub type Atom = u32;

/// Longer forms are given up: the value gets an atom of its own.
const MAX_TERMS: usize = 12;
/// Substitutions of quotients when bounding a form.
const MAX_DEPTH: usize = 6;
/// Constraints alive during one elimination.
const MAX_ROWS: usize = 240;

/// `sum(coef * atom) + konst`; atoms ascending, no zero coefficient.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Lin {
    pub terms: Vec<(Atom, i128)>,
    pub konst: i128,
}

impl Lin {
    pub fn constant(k: i128) -> Lin {
        Lin { terms: Vec::new(), konst: k }
    }
    pub fn atom(a: Atom) -> Lin {
        Lin { terms: vec![(a, 1)], konst: 0 }
    }
    pub fn as_const(&self) -> Option<i128> {
        self.terms.is_empty().then_some(self.konst)
    }
    pub fn coef(&self, a: Atom) -> i128 {
        self.terms.iter().find(|t| t.0 == a).map_or(0, |t| t.1)
    }
    /// `self + k * o`; `None` when a coefficient leaves 128 bits.
    fn combine(&self, k: i128, o: &Lin) -> Option<Lin> {
        let (mut i, mut j) = (0, 0);
        let mut terms = Vec::with_capacity(self.terms.len() + o.terms.len());
        while i < self.terms.len() || j < o.terms.len() {
            let (a, b) = (self.terms.get(i), o.terms.get(j));
            let take_a = b.is_none_or(|b| a.is_some_and(|a| a.0 <= b.0));
            let take_b = a.is_none_or(|a| b.is_some_and(|b| b.0 <= a.0));
            let (mut at, mut c) = (0, 0i128);
            if let (true, Some(a)) = (take_a, a) {
                (at, c) = *a;
                i += 1;
            }
            if let (true, Some(b)) = (take_b, b) {
                at = b.0;
                c = c.checked_add(b.1.checked_mul(k)?)?;
                j += 1;
            }
            if c != 0 {
                terms.push((at, c));
            }
        }
        Some(Lin { terms, konst: self.konst.checked_add(o.konst.checked_mul(k)?)? })
    }
    fn capped(l: Option<Lin>) -> Option<Lin> {
        l.filter(|l| l.terms.len() <= MAX_TERMS)
    }
    pub fn add(&self, o: &Lin) -> Option<Lin> {
        Lin::capped(self.combine(1, o))
    }
    pub fn sub(&self, o: &Lin) -> Option<Lin> {
        Lin::capped(self.combine(-1, o))
    }
    pub fn scale(&self, k: i128) -> Option<Lin> {
        Lin::constant(0).combine(k, self)
    }
    pub fn plus(&self, k: i128) -> Option<Lin> {
        Some(Lin { terms: self.terms.clone(), konst: self.konst.checked_add(k)? })
    }
    /// The form with `a` replaced by `by`.
    pub fn replace(&self, a: Atom, by: &Lin) -> Option<Lin> {
        let c = self.coef(a);
        if c == 0 {
            return Some(self.clone());
        }
        let rest = Lin { terms: self.terms.iter().copied().filter(|t| t.0 != a).collect(), konst: self.konst };
        Lin::capped(rest.combine(c, by))
    }
    /// Divides a constraint `self >= 0` by the common divisor of its coefficients, rounding the constant down.
    fn tighten(mut self) -> Lin {
        let common = self.terms.iter().fold(0, |g, t| num_integer::gcd(g, t.1.unsigned_abs()));
        // 2^127, of a form whose only coefficient is -2^127, is no `i128`: left as it is.
        if let Some(g) = i128::try_from(common).ok().filter(|g| *g > 1) {
            self.terms.iter_mut().for_each(|t| t.1 /= g);
            self.konst = self.konst.div_euclid(g);
        }
        self
    }
}

#[derive(Clone, Debug)]
struct Info {
    itv: Itv,
    /// `self = floor(form / divisor)`
    quotient: Option<(Rc<Lin>, i128)>,
}

/// All atoms of one run, with their intervals and definitions.
#[derive(Clone, Debug, Default)]
pub struct Atoms {
    infos: Vec<Info>,
    memo: HashMap<(Lin, i128), Atom>,
}

impl Atoms {
    pub fn fresh(&mut self, itv: Itv) -> Atom {
        self.infos.push(Info { itv, quotient: None });
        self.infos.len() as Atom - 1
    }
    /// The atom `floor(form / k)`, shared between equal requests.
    pub fn quotient(&mut self, form: &Lin, k: i128, itv: Itv) -> Atom {
        if let Some(a) = self.memo.get(&(form.clone(), k)) {
            return *a;
        }
        let a = self.fresh(itv);
        self.infos[a as usize].quotient = Some((Rc::new(form.clone()), k));
        self.memo.insert((form.clone(), k), a);
        a
    }
    pub fn len(&self) -> Atom {
        self.infos.len() as Atom
    }
    pub fn itv(&self, a: Atom) -> &Itv {
        &self.infos[a as usize].itv
    }
    /// What a quotient divides, and by what.
    pub fn divided(&self, a: Atom) -> Option<(&Lin, i128)> {
        self.infos[a as usize].quotient.as_ref().map(|(form, k)| (&**form, *k))
    }
    fn plain_bound(&self, l: &Lin) -> Itv {
        l.terms.iter().fold(Itv::point(l.konst), |acc, (a, c)| acc.add(&self.itv(*a).mul(&Itv::point(*c))))
    }

    /// Bounds of a form: term by term, then with its newest quotients replaced by what they divide.
    pub fn bound(&self, l: &Lin) -> Itv {
        let mut best = self.plain_bound(l);
        // cur / den + rem / den equals the form, where rem collects the remainders.
        let (mut cur, mut den, mut rem) = (l.clone(), 1i128, Itv::point(0));
        for _ in 0..MAX_DEPTH {
            let newest = cur.terms.iter().rev().find_map(|(a, c)| {
                self.infos[*a as usize].quotient.as_ref().map(|q| (*a, *c, q))
            });
            let Some((a, c, (form, k))) = newest else { break };
            // c*q = c*(form - r)/k with 0 <= r < k; scale by k unless c is a multiple.
            let scale = if c % k == 0 { 1 } else { *k };
            let step = c / (k / scale);
            let without = Lin { terms: cur.terms.iter().copied().filter(|t| t.0 != a).collect(), konst: cur.konst };
            let next = without.scale(scale).and_then(|w| w.combine(step, form));
            let (Some(next), Some(d)) = (next, den.checked_mul(scale)) else { break };
            if next.terms.len() > 2 * MAX_TERMS {
                break;
            }
            rem = rem.mul(&Itv::point(scale)).sub(&Itv::new(0, k - 1).mul(&Itv::point(step)));
            (cur, den) = (next, d);
            let sum = self.plain_bound(&cur).add(&rem);
            let d = den.into();
            let (Some(lo), Some(hi)) = (sum.lo.div_ceil(&d), sum.hi.div_floor(&d)) else { break };
            best = best.meet(&Itv { lo, hi });
        }
        best
    }

    /// Whether `goal >= 0` follows from the facts, the intervals of the atoms and their definitions.
    pub fn implied(&self, goal: &Lin, facts: &[Lin]) -> bool {
        if !self.bound(goal).lo.is_negative() {
            return true;
        }
        let Some(negated) = goal.scale(-1).and_then(|g| g.plus(-1)) else { return false };
        let rows = self.relevant(&negated, facts);
        refute(rows)
    }

    /// Whether a new fact cannot be beside the others.
    pub fn contradicts(&self, new: &Lin, facts: &[Lin]) -> bool {
        refute(self.relevant(new, facts))
    }

    /// Rows (each `>= 0`) that share atoms with `start`, directly or through others.
    fn relevant(&self, start: &Lin, facts: &[Lin]) -> BTreeSet<Lin> {
        let mut rows = BTreeSet::from([start.clone()]);
        let mut todo: Vec<Atom> = start.terms.iter().map(|t| t.0).collect();
        let mut seen = BTreeSet::new();
        let mut used = vec![false; facts.len()];
        // Quotients that facts speak of, found from what they divide.
        let mut quotients: Vec<Atom> = facts.iter().flat_map(|f| f.terms.iter().map(|t| t.0)).collect();
        quotients.retain(|q| self.infos[*q as usize].quotient.is_some());
        while let Some(a) = todo.pop() {
            if !seen.insert(a) || seen.len() > 24 {
                continue;
            }
            let info = &self.infos[a as usize];
            if let Some(lo) = info.itv.lo.small() {
                rows.extend(lo.checked_neg().and_then(|k| Lin::atom(a).plus(k)));
            }
            if let Some(hi) = info.itv.hi.small() {
                rows.insert(Lin { terms: vec![(a, -1)], konst: hi });
            }
            if let Some((form, k)) = &info.quotient {
                let rest = form.combine(-*k, &Lin::atom(a));
                let above = rest.as_ref().and_then(|r| r.scale(-1)).and_then(|r| r.plus(k - 1));
                todo.extend(form.terms.iter().map(|t| t.0));
                rows.extend(rest.into_iter().chain(above));
            }
            let divides = |q: &&Atom| self.infos[**q as usize].quotient.as_ref().is_some_and(|(f, _)| f.coef(a) != 0);
            todo.extend(quotients.iter().filter(divides));
            for (i, f) in facts.iter().enumerate() {
                if !used[i] && f.coef(a) != 0 {
                    used[i] = true;
                    todo.extend(f.terms.iter().map(|t| t.0));
                    rows.insert(f.clone());
                }
            }
        }
        rows
    }
}

/// Fourier-Motzkin: whether the rows (each `>= 0`) have no rational solution after integer tightening.
fn refute(rows: BTreeSet<Lin>) -> bool {
    let mut rows: BTreeSet<Lin> = rows.into_iter().map(Lin::tighten).collect();
    loop {
        while let Some((a, by)) = equality(&rows) {
            rows = rows.iter().filter_map(|r| r.replace(a, &by)).map(Lin::tighten).collect();
            rows.retain(|r| r.as_const().is_none_or(|k| k < 0));
        }
        if rows.iter().any(|r| r.as_const().is_some_and(|k| k < 0)) {
            return true;
        }
        rows.retain(|r| !r.terms.is_empty());
        let mut uses: BTreeMap<Atom, (usize, usize)> = BTreeMap::new();
        for (a, c) in rows.iter().flat_map(|r| r.terms.iter()) {
            let u = uses.entry(*a).or_default();
            if *c > 0 { u.0 += 1 } else { u.1 += 1 }
        }
        let Some((&a, _)) = uses.iter().min_by_key(|(_, (p, n))| p * n) else { return false };
        let (with, without): (Vec<Lin>, Vec<Lin>) = rows.into_iter().partition(|r| r.coef(a) != 0);
        rows = without.into_iter().collect();
        let (pos, neg): (Vec<Lin>, Vec<Lin>) = with.into_iter().partition(|r| r.coef(a) > 0);
        for p in &pos {
            for n in &neg {
                let (cp, Some(cn)) = (p.coef(a), n.coef(a).checked_neg()) else { continue };
                let g = num_integer::gcd(cp, cn);
                let sum = p.scale(cn / g).and_then(|p| p.combine(cp / g, n));
                rows.extend(sum.map(Lin::tighten));
            }
        }
        if rows.len() > MAX_ROWS {
            return false;
        }
    }
}

/// An atom that two opposite rows fix as an integer form of others. Substituting it keeps integrality, which
/// plain elimination would lose.
fn equality(rows: &BTreeSet<Lin>) -> Option<(Atom, Lin)> {
    for r in rows.iter().filter(|r| !r.terms.is_empty()) {
        let opposite = r.scale(-1)?;
        if let (true, Some(&(a, c))) = (rows.contains(&opposite), r.terms.iter().find(|t| t.1.unsigned_abs() == 1)) {
            let rest = Lin { terms: r.terms.iter().copied().filter(|t| t.0 != a).collect(), konst: r.konst };
            return Some((a, rest.scale(-c)?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lin(terms: &[(Atom, i128)], konst: i128) -> Lin {
        Lin { terms: terms.to_vec(), konst }
    }

    /// n, q = n / 128, b in 0..<q, j in 0..127
    fn blocks() -> (Atoms, [Atom; 4], Vec<Lin>) {
        let mut at = Atoms::default();
        let n = at.fresh(Itv::new(0, (1i64 << 31) - 1));
        let q = at.quotient(&Lin::atom(n), 128, Itv::new(0, 1 << 24));
        let b = at.fresh(Itv::new(0, 1 << 24));
        let j = at.fresh(Itv::new(0, 127));
        let facts = vec![lin(&[(b, 1)], 0), lin(&[(q, 1), (b, -1)], -1)];
        (at, [n, q, b, j], facts)
    }

    #[test]
    fn index_of_a_block() {
        let (at, [n, _, b, j], facts) = blocks();
        let below = lin(&[(n, 1), (b, -128), (j, -1)], -1);
        assert!(at.implied(&below, &facts));
        assert!(!at.implied(&below.plus(-1).unwrap(), &facts), "one more would be wrong");
        assert!(!at.implied(&below, &facts[..1]), "without b < q");
    }

    /// The least number of 128 bits has no opposite among them.
    #[test]
    fn numbers_at_the_end_of_128_bits() {
        let mut at = Atoms::default();
        let (x, y) = (at.fresh(Itv::new(i128::MIN, 0)), at.fresh(Itv::new(0, 1)));
        assert!(!at.implied(&lin(&[(x, 1)], i128::MAX), &[]), "x = -2^127 is possible");
        assert!(at.implied(&lin(&[(y, 1)], 0), &[]));
        let facts = [lin(&[(x, i128::MIN), (y, 1)], 0), lin(&[(x, 3), (y, i128::MIN)], i128::MAX)];
        assert!(!at.implied(&lin(&[(y, 1)], -1), &facts), "x = y = 0 is possible");
    }

    #[test]
    fn slices_need_their_guard() {
        let (at, [n, _, b, _], mut facts) = blocks();
        let start = lin(&[(b, 128)], -32);
        assert!(!at.implied(&start, &facts));
        facts.push(lin(&[(b, 1)], -1));
        assert!(at.implied(&start, &facts));
        assert!(at.implied(&lin(&[(n, 1), (b, -128)], 32 - 128), &facts));
    }

    /// `v % 2 == 1` and `v <= 16` leave `v <= 15`.
    #[test]
    fn parity() {
        let mut at = Atoms::default();
        let v = at.fresh(Itv::new(0, 32));
        let q = at.quotient(&Lin::atom(v), 2, Itv::new(0, 16));
        let odd = lin(&[(v, 1), (q, -2)], -1);
        let facts = [odd.clone(), odd.scale(-1).unwrap(), lin(&[(v, -1)], 16)];
        assert!(at.implied(&lin(&[(v, -1)], 15), &facts));
        assert!(!at.implied(&lin(&[(v, -1)], 14), &facts));
        assert!(!at.implied(&lin(&[(v, -1)], 15), &facts[1..]));
    }

    #[test]
    fn signed_carry_leaves_a_balanced_remainder() {
        let mut at = Atoms::default();
        let h = at.fresh(Itv::new(-(1i64 << 40), 1i64 << 40));
        let shifted = lin(&[(h, 1)], 1 << 24);
        let q = at.quotient(&shifted, 1 << 25, Itv::new(-(1 << 16), 1 << 16));
        let left = lin(&[(h, 1), (q, -(1 << 25))], 0);
        assert_eq!(at.bound(&left), Itv::new(-(1 << 24), (1 << 24) - 1));
        let half = lin(&[(h, 1), (q, -(1 << 24))], 0);
        assert!(!Itv::new(-(1 << 25), 1 << 25).contains(&at.bound(&half)));
    }

    /// Every form bounded or implied on random small systems holds on every solution.
    #[test]
    fn sound_on_all_small_values() {
        let mut seed = 7u64;
        let mut next = |m: i128| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as i128 % (2 * m + 1) - m
        };
        let (mut yes, mut checks) = (0, 0);
        for _ in 0..600 {
            let mut at = Atoms::default();
            let (x, y) = (at.fresh(Itv::new(-4, 6)), at.fresh(Itv::new(0, 5)));
            let form = lin(&[(x, 1 + next(2).abs()), (y, 1)], next(5));
            let k = 2 + next(3).abs();
            let q = at.quotient(&form, k, Itv::TOP);
            let fact = Lin { terms: vec![(x, next(3)), (y, next(3))], konst: next(6) };
            let fact = Lin::constant(0).combine(1, &Lin { terms: fact.terms.into_iter().filter(|t| t.1 != 0).collect(), ..fact }).unwrap();
            let goal: Vec<(Atom, i128)> = [(x, next(3)), (y, next(3)), (q, next(6))].into_iter().filter(|t| t.1 != 0).collect();
            let goal = Lin { terms: goal, konst: next(12).abs() };
            let (implied, bound) = (at.implied(&goal, std::slice::from_ref(&fact)), at.bound(&goal));
            yes += usize::from(implied);
            for vx in -4..=6 {
                for vy in 0..=5 {
                    let value = |l: &Lin, vq: i128| l.konst + l.coef(x) * vx + l.coef(y) * vy + l.coef(q) * vq;
                    let vq = value(&form, 0).div_euclid(k);
                    assert!(bound.holds(value(&goal, vq)));
                    if implied && value(&fact, 0) >= 0 {
                        assert!(value(&goal, vq) >= 0, "{goal:?} from {fact:?}");
                    }
                    checks += 1;
                }
            }
        }
        assert!(yes > 20 && checks > 30_000, "{yes} {checks}");
    }
}
