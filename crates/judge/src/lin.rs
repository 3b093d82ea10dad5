//! Linear facts. A form is a sum of atoms; that one follows from others is not found here, only checked: a proof is a list of
//! sums of what is known, each divided by the common divisor of its coefficients, of which the last is absurd.

use santoku_num::{Int, Itv};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// A value that one evaluation had.
pub type Atom = u32;

/// `sum(coefficient * atom) + constant`, without zero coefficients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lin {
    pub terms: BTreeMap<Atom, Int>,
    pub konst: Int,
}

impl Lin {
    pub fn constant(k: impl Into<Int>) -> Lin {
        Lin { terms: BTreeMap::new(), konst: k.into() }
    }
    pub fn atom(a: Atom) -> Lin {
        Lin { terms: [(a, Int::Small(1))].into(), konst: Int::ZERO }
    }
    pub fn as_const(&self) -> Option<&Int> {
        self.terms.is_empty().then_some(&self.konst)
    }
    /// `self + k * o`
    pub fn plus(&self, k: &Int, o: &Lin) -> Lin {
        let mut out = self.clone();
        for (a, c) in &o.terms {
            let at = out.terms.entry(*a).or_insert(Int::ZERO);
            *at = at.add(&c.mul(k));
            if *at == Int::ZERO {
                out.terms.remove(a);
            }
        }
        out.konst = out.konst.add(&o.konst.mul(k));
        out
    }
    pub fn add(&self, o: &Lin) -> Lin {
        self.plus(&Int::Small(1), o)
    }
    pub fn sub(&self, o: &Lin) -> Lin {
        self.plus(&Int::Small(-1), o)
    }
    pub fn scale(&self, k: &Int) -> Lin {
        Lin::constant(0u8).plus(k, self)
    }
    pub fn shift(&self, k: impl Into<Int>) -> Lin {
        self.add(&Lin::constant(k))
    }
    /// `self >= 0` says of integers that this is so, too.
    pub fn tightened(self) -> Lin {
        let common = self.terms.values().fold(Int::ZERO, |g, c| gcd(g, c.clone()));
        if common <= Int::Small(1) {
            return self;
        }
        let divided = |v: &Int| v.div_floor(&common).unwrap_or_else(|| v.clone());
        Lin { terms: self.terms.iter().map(|(a, c)| (*a, divided(c))).collect(), konst: divided(&self.konst) }
    }
}

fn gcd(mut a: Int, mut b: Int) -> Int {
    while b != Int::ZERO {
        let r = a.mod_floor(&b).unwrap_or(Int::ZERO);
        (a, b) = (b, r);
    }
    if a.is_negative() { a.neg() } else { a }
}

/// What is known, each `>= 0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Row {
    /// A fact of the path.
    Fact(usize),
    /// The negation of what is to be shown.
    Negated,
    /// An atom and its lower bound; its upper bound.
    Low(Atom),
    High(Atom),
    /// Of an atom that is a quotient by `k`: the remainder is not negative; it is below `k`.
    Rest(Atom),
    Below(Atom),
    /// A sum made before.
    Sum(usize),
}

/// Sums of rows with factors that are not negative.
pub type Proof = Vec<Vec<(Row, Int)>>;

#[derive(Clone, Debug)]
struct Info {
    itv: Itv,
    /// `floor(form / divisor)`
    quotient: Option<(Rc<Lin>, Int)>,
}

/// All atoms, each with bounds that hold wherever it is mentioned.
#[derive(Clone, Debug, Default)]
pub struct Atoms {
    infos: Vec<Info>,
    known: HashMap<(Vec<(Atom, Int)>, Int, Int), Atom>,
}

impl Atoms {
    pub fn len(&self) -> Atom {
        self.infos.len() as Atom
    }
    pub fn is_empty(&self) -> bool {
        self.infos.is_empty()
    }
    pub fn fresh(&mut self, itv: Itv) -> Atom {
        self.infos.push(Info { itv, quotient: None });
        self.len() - 1
    }
    /// The atom `floor(form / k)`, `k > 0`; its bounds are those of the form, which hold on every path.
    pub fn quotient(&mut self, form: &Lin, k: &Int) -> Option<Atom> {
        let key = (form.terms.clone().into_iter().collect(), form.konst.clone(), k.clone());
        if let Some(a) = self.known.get(&key) {
            return Some(*a);
        }
        let itv = self.bound(form).div_floor(k)?;
        let a = self.fresh(itv);
        self.infos[a as usize].quotient = Some((Rc::new(form.clone()), k.clone()));
        self.known.insert(key, a);
        Some(a)
    }
    pub fn itv(&self, a: Atom) -> &Itv {
        &self.infos[a as usize].itv
    }
    pub fn defined_as(&self, a: Atom) -> Option<(&Lin, &Int)> {
        self.infos.get(a as usize)?.quotient.as_ref().map(|(f, k)| (&**f, k))
    }
    /// Bounds of a form, term by term.
    pub fn bound(&self, l: &Lin) -> Itv {
        l.terms.iter().fold(Itv::point(l.konst.clone()), |acc, (a, c)| acc.add(&self.itv(*a).mul(&Itv::point(c.clone()))))
    }
    /// The form of a row. `None`: there is no such row.
    pub fn row(&self, row: Row, goal: &Lin, facts: &[Lin], sums: &[Lin]) -> Option<Lin> {
        let known = |a: Atom| self.infos.get(a as usize);
        let one = Int::Small(1);
        match row {
            Row::Fact(n) => facts.get(n).cloned(),
            Row::Negated => Some(goal.scale(&Int::Small(-1)).shift(-1i32)),
            Row::Low(a) => Some(Lin::atom(a).shift(known(a)?.itv.lo.neg())),
            Row::High(a) => Some(Lin::constant(known(a)?.itv.hi.clone()).sub(&Lin::atom(a))),
            Row::Rest(a) => self.defined_as(a).map(|(f, k)| f.plus(&k.neg(), &Lin::atom(a))),
            Row::Below(a) => self.defined_as(a).map(|(f, k)| Lin::constant(k.sub(&one)).sub(&f.plus(&k.neg(), &Lin::atom(a)))),
            Row::Sum(n) => sums.get(n).cloned(),
        }
    }
    /// Whether the proof shows `goal >= 0` where all `facts` are `>= 0`.
    pub fn shows(&self, proof: &Proof, goal: &Lin, facts: &[Lin]) -> bool {
        let mut sums: Vec<Lin> = Vec::with_capacity(proof.len());
        for parts in proof {
            let mut sum = Lin::constant(0u8);
            for (row, factor) in parts {
                match self.row(*row, goal, facts, &sums) {
                    Some(row) if !factor.is_negative() => sum = sum.plus(factor, &row),
                    _ => return false,
                }
            }
            sums.push(sum.tightened());
        }
        sums.last().and_then(Lin::as_const).is_some_and(Int::is_negative)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lin(terms: &[(Atom, i64)], k: i64) -> Lin {
        terms.iter().fold(Lin::constant(k), |l, (a, c)| l.plus(&Int::from(*c), &Lin::atom(*a)))
    }

    /// `2x <= 5` gives `x <= 2`, and no more.
    #[test]
    fn a_sum_is_rounded_down_and_no_further() {
        let mut at = Atoms::default();
        let x = at.fresh(Itv::between(0u8, 100u8).unwrap());
        let facts = [lin(&[(x, -2)], 5)];
        let proof = vec![vec![(Row::Fact(0), Int::from(1u8))], vec![(Row::Sum(0), Int::from(1u8)), (Row::Negated, Int::from(1u8))]];
        assert!(at.shows(&proof, &lin(&[(x, -1)], 2), &facts));
        assert!(!at.shows(&proof, &lin(&[(x, -1)], 1), &facts));
        assert!(!at.shows(&proof, &lin(&[(x, -1)], 2), &[]), "without the fact");
    }

    #[test]
    fn what_is_no_proof_shows_nothing() {
        let mut at = Atoms::default();
        let x = at.fresh(Itv::between(0u8, 9u8).unwrap());
        let goal = lin(&[(x, 1)], -1);
        let one = || Int::from(1u8);
        for proof in [
            vec![],
            vec![vec![]],
            vec![vec![(Row::Negated, one()), (Row::Low(x), one()), (Row::High(x), Int::from(-1i32))]],
            vec![vec![(Row::Sum(0), one())]],
            vec![vec![(Row::Fact(0), one())]],
            vec![vec![(Row::Rest(x), one())]],
            vec![vec![(Row::Low(7), one())]],
            vec![vec![(Row::Low(x), one()), (Row::Negated, one())]],
        ] {
            assert!(!at.shows(&proof, &goal, &[]), "{proof:?}");
        }
        assert!(at.shows(&vec![vec![(Row::Low(x), one()), (Row::Negated, one())]], &lin(&[(x, 1)], 0), &[]));
    }

    #[test]
    fn a_quotient_is_what_it_divides() {
        let mut at = Atoms::default();
        let h = at.fresh(Itv::between(-1000i32, 1000i32).unwrap());
        let form = lin(&[(h, 1)], 8);
        let q = at.quotient(&form, &Int::from(16u8)).unwrap();
        assert_eq!(at.quotient(&form, &Int::from(16u8)), Some(q));
        assert_eq!(*at.itv(q), Itv::between(-62i32, 63i32).unwrap());
        // h - 16q in -8..7
        let left = lin(&[(h, 1), (q, -16)], 0);
        let one = || Int::from(1u8);
        assert!(at.shows(&vec![vec![(Row::Rest(q), one()), (Row::Negated, one())]], &left.shift(8u8), &[]));
        assert!(at.shows(&vec![vec![(Row::Below(q), one()), (Row::Negated, one())]], &Lin::constant(7u8).sub(&left), &[]));
        assert!(!at.shows(&vec![vec![(Row::Rest(q), one()), (Row::Negated, one())]], &left.shift(7u8), &[]));
        assert!(at.quotient(&form, &Int::ZERO).is_none());
    }
}
