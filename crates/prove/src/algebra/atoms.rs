//! The table of atoms: range, definition, age, and the values each takes on a few sample inputs.

use santoku_num::SplitMix64;
use crate::itv::Itv;
use super::mono::{Atom, Exp, Mono};
use super::poly::Poly;
use super::num::Num;
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// What all linear programs of one proof may cost together, in units of `simplex`: about a second.
const WORK_MAX: u64 = 4_000_000;

/// What an atom equals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Def {
    /// `atom == poly`
    Exact(Poly),
    /// `2^k * atom == poly`
    Frac(Poly, u32),
    /// `atom ≡ poly mod m`
    Cong(Poly, BigInt),
}

/// `2^k * (base + sign * atom) + rem == x`, with `0 <= rem < 2^k`; `sign` is 1 or -1.
#[derive(Clone, Debug)]
pub struct Quot {
    pub x: Poly,
    pub k: u32,
    pub rem: Poly,
    pub base: BigInt,
    pub sign: i32,
}

/// Everything known about one atom.
#[derive(Clone, Debug)]
pub struct Info {
    pub name: String,
    pub iv: Itv,
    pub def: Option<Def>,
    /// Substitution goes from the highest age down.
    pub age: u64,
    /// A name given to a sum of others (`value(x)`): substituted only when asked for.
    pub named: bool,
    pub quot: Option<Quot>,
    /// `(x, k)` when this is `x mod 2^k`.
    pub rem_of: Option<(Poly, u32)>,
    /// Values on the sample inputs; `None` when it depends on something without samples.
    pub sim: Option<Rc<[BigInt]>>,
    /// Which statement introduced it (index given by the caller).
    pub origin: u32,
}

/// All atoms of one proof.
#[derive(Debug, Default)]
pub struct Atoms {
    pub(super) infos: Vec<Info>,
    pub(super) splits: HashMap<(Poly, u32), (Poly, Poly)>,
    pub(super) eqs: HashMap<Poly, Atom>,
    pub(super) names: HashMap<Poly, Atom>,
    congs: HashMap<(Poly, BigInt), Atom>,
    /// Pivot leaf -> the names that can absorb it, each with the leaf solved for.
    pub(super) pivots: BTreeMap<Atom, Vec<(Atom, Poly)>>,
    clock: u64,
    rng: SplitMix64,
    samples: usize,
    /// Statement that atoms made from now on belong to.
    pub origin: u32,
    /// Every sample is an input that the function allows: what disagrees with one is wrong.
    pub samples_count: bool,
    /// The first step of ours that samples contradict. Nothing derived from such atoms counts.
    pub fault: Option<String>,
    /// A proof was found from hypotheses that cannot all be: it was not used.
    pub contradiction: Cell<bool>,
    /// Comparisons of samples so far.
    pub compared: u64,
    /// Work that linear programs may still do in this proof, in units of `simplex`.
    pub(super) work: Cell<u64>,
}

impl Atoms {
    /// `samples` sample inputs are carried along (0: none); `seed` makes them repeatable.
    pub fn new(samples: usize, seed: u64) -> Atoms {
        Atoms { samples, rng: SplitMix64::new(seed | 1), work: Cell::new(WORK_MAX), ..Atoms::default() }
    }
    /// What linear programs may still cost.
    pub fn limit_work(&mut self, most: u64) {
        self.work.set(self.work.get().min(most));
    }
    pub fn len(&self) -> usize {
        self.infos.len()
    }
    pub fn is_empty(&self) -> bool {
        self.infos.is_empty()
    }
    pub fn all(&self) -> impl Iterator<Item = &Info> {
        self.infos.iter()
    }
    pub fn info(&self, a: Atom) -> &Info {
        &self.infos[a.index()]
    }
    pub(super) fn info_mut(&mut self, a: Atom) -> &mut Info {
        &mut self.infos[a.index()]
    }
    pub fn iv(&self, a: Atom) -> &Itv {
        &self.info(a).iv
    }
    /// Narrows the range of an atom by a fact. Samples outside are dropped: they no longer speak about this proof.
    pub fn narrow(&mut self, a: Atom, iv: &Itv) {
        let i = self.info_mut(a);
        i.iv = i.iv.meet(iv);
        if i.sim.as_ref().is_some_and(|s| s.iter().any(|v| !iv.holds(v))) {
            i.sim = None;
        }
    }
    pub(super) fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }
    pub(super) fn make(&mut self, name: String, iv: Itv, boolean: bool, sim: Option<Rc<[BigInt]>>) -> Atom {
        let a = Atom::new(self.infos.len(), boolean);
        let age = self.tick();
        let origin = self.origin;
        self.infos.push(Info { name, iv, def: None, age, named: false, quot: None, rem_of: None, sim, origin });
        a
    }
    /// An input: sampled at its corners and at random.
    pub fn input(&mut self, name: &str, iv: Itv) -> Poly {
        if let Some(v) = iv.single() {
            return Poly::constant(v.clone());
        }
        let sim = self.sample(&iv);
        let boolean = iv == Itv::new(0, 1);
        Poly::atom(self.make(name.to_string(), iv, boolean, sim))
    }
    /// A value of which only the range is known (result of a call): no samples.
    pub fn opaque(&mut self, name: &str, iv: Itv) -> Poly {
        self.opaque_sampled(name, iv, None)
    }
    pub fn opaque_sampled(&mut self, name: &str, iv: Itv, sim: Option<Rc<[BigInt]>>) -> Poly {
        if let Some(v) = iv.single() {
            return Poly::constant(v.clone());
        }
        let boolean = iv.at_least(&BigInt::zero()) && iv.below(&BigInt::from(2));
        Poly::atom(self.make(name.to_string(), iv, boolean, sim))
    }
    fn sample(&mut self, iv: &Itv) -> Option<Rc<[BigInt]>> {
        let (lo, hi) = (iv.lo.to_big()?, iv.hi.to_big()?);
        let span: BigInt = &hi - &lo + 1;
        Some(
            (0..self.samples)
                .map(|i| match (i, self.rng.next_u64() % 8) {
                    (0, _) => lo.clone(),
                    (1, _) | (_, 0) => hi.clone(),
                    (_, 1) => lo.clone(),
                    _ => {
                        let mut v = BigInt::zero();
                        for _ in 0..span.bits() / 64 + 1 {
                            v = (v << 64) + self.rng.next_u64();
                        }
                        &lo + v % &span
                    }
                })
                .collect(),
        )
    }
    /// Values of a polynomial on the samples.
    pub fn sim(&self, p: &Poly) -> Option<Rc<[BigInt]>> {
        (0..self.samples)
            .map(|i| p.eval(&mut |a| self.info(a).sim.as_ref().map(|s| s[i].clone())))
            .collect::<Option<Vec<_>>>()
            .map(Rc::from)
    }
    /// Holds the result of an operation against what the operation gives on every sample.
    pub fn compare(&mut self, what: &str, operands: &[&Num], result: &Num, f: impl Fn(&[BigInt]) -> BigInt) {
        if !self.samples_count || self.fault.is_some() {
            return;
        }
        let Some(sims) = operands.iter().map(|n| self.sim(&n.p)).collect::<Option<Vec<_>>>() else { return };
        let found = self.sim(&result.p);
        for i in 0..self.samples {
            let v: Vec<BigInt> = sims.iter().map(|s| s[i].clone()).collect();
            // An operand outside its range: an obligation before this one is open, and nothing is to be learned behind it.
            if operands.iter().zip(&v).any(|(n, v)| !n.iv.holds(v)) {
                continue;
            }
            let want = f(&v);
            self.compared += 1;
            let same = found.as_ref().is_none_or(|s| s[i] == want) && result.iv.holds(&want);
            if !same {
                let got = found.as_ref().map_or_else(|| format!("{:?}", result.iv), |s| s[i].to_string());
                let operands: Vec<String> = v.iter().map(ToString::to_string).collect();
                self.fault = Some(format!("`{what}` of {} is {want}, the algebra has {got}", operands.join(" and ")));
                return;
            }
        }
    }
    pub fn samples(&self) -> usize {
        self.samples
    }
    /// Interval of a polynomial, monomial by monomial.
    pub fn poly_iv(&self, p: &Poly) -> Itv {
        let mut s = Itv::new(0, 0);
        for (m, c) in p.terms() {
            s = s.add(&match m.as_atom() {
                Some(a) => self.iv(a).scale(c),
                None => self.mono_iv(m).scale(c),
            });
            if s == Itv::TOP {
                break;
            }
        }
        s
    }
    fn mono_iv(&self, m: &Mono) -> Itv {
        let factor = |(a, e): &(Atom, Exp)| match e.small() {
            Some(1) => self.iv(*a).clone(),
            Some(e) if e <= 16 => self.iv(*a).pow(e),
            _ => Itv::TOP,
        };
        m.factors().iter().map(factor).reduce(|a, b| a.mul(&b)).unwrap_or_else(|| Itv::new(1, 1))
    }

    /// Gives the value of a specification function a name, so that what follows speaks of `value(a)` and not of limbs.
    pub fn name_value(&mut self, what: &str, p: &Poly) -> Poly {
        if p.len() < 2 || p.len() > 4096 {
            return p.clone();
        }
        if let Some(a) = self.names.get(p) {
            return Poly::atom(*a);
        }
        let q = self.collapse(p);
        if q.len() < p.len() && q.atoms().iter().all(|a| self.is_name(*a) || a.is_bool()) {
            return q;
        }
        let iv = self.poly_iv(p);
        let sim = self.sim(p);
        let v = self.make(what.to_string(), iv, false, sim);
        self.info_mut(v).def = Some(Def::Exact(p.clone()));
        self.info_mut(v).named = true;
        self.names.insert(p.clone(), v);
        self.add_pivot(v, p);
        Poly::atom(v)
    }
    /// A single atom (or term) standing for `p`, for powers with large exponents.
    pub fn name_base(&mut self, p: &Poly) -> Poly {
        let q = self.collapse(p);
        if q.len() <= 1 {
            return q;
        }
        if let Some(a) = self.names.get(p).or_else(|| self.names.get(&q)) {
            return Poly::atom(*a);
        }
        let (iv, sim) = (self.poly_iv(p), self.sim(p));
        let v = self.make("base".into(), iv, false, sim);
        let i = self.info_mut(v);
        i.def = Some(Def::Exact(q.clone()));
        i.named = true;
        self.names.insert(q, v);
        Poly::atom(v)
    }
    /// The boolean `p ≡ 0 mod m`; the same one for the same normal form.
    pub fn cong_flag(&mut self, p: Poly, m: BigInt) -> Poly {
        if let Some(a) = self.congs.get(&(p.clone(), m.clone())) {
            return Poly::atom(*a);
        }
        let sim = self.sim(&p).map(|s| s.iter().map(|v| BigInt::from(i32::from((v % &m).is_zero()))).collect());
        let n = self.len();
        let a = self.make(format!("cong{n}"), Itv::new(0, 1), true, sim);
        self.congs.insert((p, m), a);
        Poly::atom(a)
    }
    /// A name (of a value, or of a call's value).
    pub fn is_name(&self, a: Atom) -> bool {
        let i = self.info(a);
        i.named || matches!(i.def, Some(Def::Cong(..)))
    }
    fn add_pivot(&mut self, v: Atom, p: &Poly) {
        for (m, c) in p.terms() {
            let Some(a) = m.as_atom() else { continue };
            if !(c.is_one() || (-c).is_one()) || self.info(a).def.is_some() || self.pivots.contains_key(&a) {
                continue;
            }
            if p.linear_in(a).is_none() {
                continue;
            }
            // a = c * (v - (p - c a)), as c is 1 or -1
            let mut solved = p.scale(&-c);
            solved.add_term(Mono::atom(a), c * c);
            solved.add_term(Mono::atom(v), c.clone());
            self.pivots.entry(a).or_default().push((v, solved));
            return;
        }
    }
    /// The names that a limb was chosen to absorb, with the limb solved for.
    pub fn names_at(&self, limb: Atom) -> impl Iterator<Item = (Atom, &Poly)> {
        self.pivots.get(&limb).into_iter().flatten().map(|(v, p)| (*v, p))
    }
    /// Rewrites limbs back into names wherever that makes the polynomial shorter.
    pub fn collapse(&self, p: &Poly) -> Poly {
        let mut p = p.clone();
        for (a, list) in self.pivots.range(..) {
            if !p.has(*a) {
                continue;
            }
            for (_, solved) in list {
                if let Some(q) = super::poly::substitute(&p, *a, solved, None) {
                    if q.len() < p.len() {
                        p = q;
                        break;
                    }
                }
            }
        }
        p
    }
    /// Makes the name `v` the primary thing and its pivot limb a derived one. `v` then has no definition.
    /// False when `v` has no pivot or its pivot has been defined since.
    pub fn flip(&mut self, v: Atom) -> bool {
        if !self.info(v).named {
            return self.info(v).def.is_none();
        }
        let Some((pivot, solved)) =
            self.pivots.iter().find_map(|(p, l)| l.iter().find(|(w, _)| *w == v).map(|(_, s)| (*p, s.clone())))
        else {
            return false;
        };
        if self.info(pivot).def.is_some() {
            return false;
        }
        let age = self.tick();
        let i = self.info_mut(pivot);
        i.def = Some(Def::Exact(solved));
        i.age = age;
        let i = self.info_mut(v);
        i.def = None;
        i.named = false;
        true
    }
    /// Adds the fact `a == def` (or a congruence). The caller has checked that `def` does not depend on `a`.
    pub fn define(&mut self, a: Atom, def: Def) {
        self.info_mut(a).def = Some(def);
    }
    /// Whether `p`, through definitions, depends on `a`.
    pub fn depends(&self, p: &Poly, a: Atom) -> bool {
        let mut seen = std::collections::BTreeSet::new();
        let mut todo: Vec<Atom> = p.atoms().into_iter().collect();
        while let Some(b) = todo.pop() {
            if b == a {
                return true;
            }
            if seen.insert(b) {
                if let Some(Def::Exact(d) | Def::Frac(d, _) | Def::Cong(d, _)) = &self.info(b).def {
                    todo.extend(d.atoms());
                }
            }
        }
        false
    }
    /// Whether giving `a` the definition `p` would close a circle: `p` depends on `a`, or on the limb that `a` absorbs.
    pub fn depends_through(&self, p: &Poly, a: Atom) -> bool {
        let pivot = self.pivots.iter().find(|(_, l)| l.iter().any(|(v, _)| *v == a)).map(|(b, _)| *b);
        self.depends(p, a) || pivot.is_some_and(|b| self.depends(p, b))
    }
    /// Prints a polynomial with names, largest coefficients shortened, at most `n_max` terms.
    pub fn show(&self, p: &Poly, n_max: usize) -> String {
        if p.is_zero() {
            return "0".into();
        }
        let mut out = String::new();
        for (i, (m, c)) in p.terms().enumerate() {
            if i == n_max {
                out.push_str(&format!(" … ({} terms)", p.len()));
                break;
            }
            let sign = if c.is_negative() { "-" } else { "+" };
            if i > 0 || c.is_negative() {
                out.push_str(if i > 0 { " " } else { "" });
                out.push_str(sign);
                out.push_str(if i > 0 { " " } else { "" });
            }
            let mut fs: Vec<String> = Vec::new();
            let abs = c.abs();
            if !abs.is_one() || m.is_one() {
                fs.push(show_coeff(&abs));
            }
            for (a, e) in m.factors() {
                let name = &self.info(*a).name;
                fs.push(match e.small() {
                    Some(1) => name.clone(),
                    Some(e) => format!("{name}^{e}"),
                    None => format!("{name}^({} bits)", e.to_big().bits()),
                });
            }
            out.push_str(&fs.join("*"));
        }
        out
    }
}

fn show_coeff(c: &BigInt) -> String {
    let bits = c.bits();
    if bits > 20 && c.trailing_zeros() == Some(bits - 1) {
        format!("2^{}", bits - 1)
    } else if bits <= 64 {
        c.to_string()
    } else if c.trailing_zeros().is_some_and(|t| t > 20) {
        let t = c.trailing_zeros().unwrap_or(0);
        format!("{}*2^{t}", show_coeff(&(c >> t)))
    } else {
        format!("0x{c:x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_that_a_sample_contradicts_is_noticed() {
        let check = |value: i64, iv: Itv, count: bool| {
            let mut atoms = Atoms::new(6, 1);
            atoms.samples_count = count;
            let x = atoms.input("x", Itv::new(0, 7));
            let x = atoms.num(x);
            let doubled = Num { p: x.p.scale(&BigInt::from(value)), iv };
            atoms.compare("double", &[&x], &doubled, |v| &v[0] * 2);
            (atoms.fault.is_some(), atoms.compared > 0)
        };
        assert_eq!(check(2, Itv::new(0, 14), true), (false, true));
        assert_eq!(check(3, Itv::new(0, 21), true), (true, true), "another value");
        assert_eq!(check(2, Itv::new(0, 13), true), (true, true), "an interval without it");
        // Of inputs that a `requires` may exclude nothing is concluded.
        assert_eq!(check(3, Itv::new(0, 21), false), (false, false));
    }
}
