//! Words as integers: wrapping arithmetic, and bit operations as sums wherever bits do not overlap.

use crate::algebra::num::Num;
use crate::algebra::split::interpolate;
use crate::algebra::{Atom, Atoms, Poly};
use crate::itv::Itv;
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, ToPrimitive, Zero};
use std::collections::{BTreeMap, BTreeSet};

/// Runs of ones in a mask that are handled by shifts; beyond, the result is an unknown word.
const RUNS_MAX: usize = 16;

/// Memory of bit operations that are no sums, so that equal operations give equal atoms.
#[derive(Debug, Default)]
pub struct Bits {
    ands: BTreeMap<(u32, Poly, Poly), Poly>,
    xors: BTreeMap<(u32, BTreeSet<Poly>), Atom>,
    xor_of: BTreeMap<Atom, BTreeSet<Poly>>,
}

/// `n mod 2^bits`
pub fn wrap(atoms: &mut Atoms, n: Num, bits: u32) -> Num {
    if n.iv.fits(bits) {
        return n;
    }
    let iv = n.iv.meet(&atoms.poly_iv(&n.p));
    if iv.fits(bits) {
        return Num { p: n.p, iv };
    }
    let r = atoms.split(&n, bits).1;
    atoms.compare("wrap", &[&n], &r, |v| v[0].mod_floor(&(BigInt::one() << bits)));
    r
}

fn ones(bits: u32) -> BigInt {
    (BigInt::one() << bits) - 1
}

/// Bits that may be one, for a value that is not negative and has an upper bound. Term by term only where no term can be
/// negative: one that is borrows from the bits of the others.
fn support(atoms: &Atoms, n: &Num) -> BigInt {
    let mut mask = BigInt::zero();
    for (m, c) in n.p.terms() {
        let iv = atoms.poly_iv(&Poly::term(m.clone(), c.clone()));
        let Some(hi) = iv.hi.bits().filter(|_| iv.is_nonneg()) else {
            return coarse(n);
        };
        let low = c.trailing_zeros().unwrap_or(0);
        let part = if m.is_one() { c.clone() } else { (BigInt::one() << hi) - (BigInt::one() << low) };
        if !(&mask & &part).is_zero() {
            return coarse(n);
        }
        mask |= part;
    }
    mask & coarse(n)
}

fn coarse(n: &Num) -> BigInt {
    let low = n.p.trailing_zeros().unwrap_or(0);
    let high = n.iv.hi.bits().map_or(0, u64::from);
    if high <= low {
        return BigInt::zero();
    }
    (BigInt::one() << high) - (BigInt::one() << low)
}

fn runs(mask: &BigInt) -> Vec<(u32, u32)> {
    let mut out = Vec::new();
    let mut at = 0u64;
    while at < mask.bits() {
        if mask.bit(at) {
            let start = at;
            while mask.bit(at) {
                at += 1;
            }
            out.push((start.to_u32().unwrap_or(u32::MAX), (at - start).to_u32().unwrap_or(u32::MAX)));
        } else {
            at += 1;
        }
    }
    out
}

/// A boolean that makes one operand a constant in one of its cases: a mask, or a masked difference.
fn mask_bool(a: &Poly, b: &Poly) -> Option<Atom> {
    for x in [a, b] {
        for c in x.atoms().into_iter().filter(|c| c.is_bool()) {
            if x.with_bool(c, false).as_const().is_some() || x.with_bool(c, true).as_const().is_some() {
                return Some(c);
            }
        }
    }
    None
}

impl Bits {
    fn cases(&mut self, atoms: &mut Atoms, a: &Num, b: &Num, bits: u32, f: impl Fn(&mut Bits, &mut Atoms, &Num, &Num) -> Num) -> Option<Num> {
        let c = mask_bool(&a.p, &b.p)?;
        let mut iv: Option<Itv> = None;
        let p = interpolate(&[c], |v| {
            // The operand's own interval speaks of the real case only; both cases must be words for every execution.
            let at = |n: &Num, atoms: &Atoms| Some(atoms.num(n.p.with_bool(c, v[0]))).filter(|fitting| fitting.iv.fits(bits));
            let (x, y) = (at(a, atoms)?, at(b, atoms)?);
            let r = f(self, atoms, &x, &y);
            iv = Some(iv.as_ref().map_or(r.iv.clone(), |i| i.join(&r.iv)));
            Some(r.p)
        })?;
        Some(Num { p, iv: iv? })
    }

    /// Bitwise and of two words of `bits` bits.
    pub fn and(&mut self, atoms: &mut Atoms, a: &Num, b: &Num, bits: u32) -> Num {
        let r = self.conjunction(atoms, a, b, bits);
        atoms.compare("and", &[a, b], &r, |v| &v[0] & &v[1]);
        r
    }

    fn conjunction(&mut self, atoms: &mut Atoms, a: &Num, b: &Num, bits: u32) -> Num {
        if a.p == b.p {
            return a.clone();
        }
        if (support(atoms, a) & support(atoms, b)).is_zero() {
            return Num::constant(0);
        }
        match (a.p.as_const(), b.p.as_const()) {
            (Some(x), Some(y)) => return Num::constant(x & y),
            (Some(m), None) => return self.mask(atoms, b, &m, bits),
            (None, Some(m)) => return self.mask(atoms, a, &m, bits),
            (None, None) => {}
        }
        if bits == 1 {
            return Num { p: a.p.mul(&b.p), iv: Itv::new(0, 1) };
        }
        if let Some(r) = self.cases(atoms, a, b, bits, |s, at, x, y| s.conjunction(at, x, y, bits)) {
            return r;
        }
        let hi = support(atoms, a) & support(atoms, b);
        let (x, y) = if a.p <= b.p { (a, b) } else { (b, a) };
        let key = (bits, x.p.clone(), y.p.clone());
        if let Some(p) = self.ands.get(&key) {
            return atoms.num(p.clone());
        }
        let sim = pairwise(atoms, &x.p, &y.p, |u, v| u & v);
        let p = atoms.opaque_sampled("and", Itv::new(0, hi), sim);
        self.ands.insert(key, p.clone());
        atoms.num(p)
    }

    fn mask(&mut self, atoms: &mut Atoms, a: &Num, mask: &BigInt, bits: u32) -> Num {
        if *mask == ones(bits) {
            return a.clone();
        }
        let rs = runs(mask);
        if rs.len() > RUNS_MAX {
            let sim = atoms.sim(&a.p).map(|s| s.iter().map(|v| v & mask).collect());
            let p = atoms.opaque_sampled("and", Itv::new(0, mask.clone()), sim);
            return atoms.num(p);
        }
        let mut out = Poly::zero();
        for (lo, n) in rs {
            let high = atoms.split(a, lo).0;
            let part = atoms.split(&high, n).1;
            out.add_scaled(&part.p, &(BigInt::one() << lo));
        }
        let iv = Itv::new(0, mask.clone()).meet(&atoms.poly_iv(&out));
        Num { p: out, iv }
    }

    /// Bitwise or.
    pub fn or(&mut self, atoms: &mut Atoms, a: &Num, b: &Num, bits: u32) -> Num {
        let both = self.conjunction(atoms, a, b, bits);
        let p = a.p.add(&b.p).sub(&both.p);
        let top = support(atoms, a) | support(atoms, b);
        let iv = Itv::new(0, ones(bits).min(top)).meet(&atoms.poly_iv(&p));
        let r = Num { p, iv };
        atoms.compare("or", &[a, b], &r, |v| &v[0] | &v[1]);
        r
    }

    /// Bitwise exclusive or; cancels what occurs twice.
    pub fn xor(&mut self, atoms: &mut Atoms, a: &Num, b: &Num, bits: u32) -> Num {
        let r = self.difference(atoms, a, b, bits);
        atoms.compare("xor", &[a, b], &r, |v| &v[0] ^ &v[1]);
        r
    }

    fn difference(&mut self, atoms: &mut Atoms, a: &Num, b: &Num, bits: u32) -> Num {
        if let (Some(x), Some(y)) = (a.p.as_const(), b.p.as_const()) {
            return Num::constant(x ^ y);
        }
        if bits == 1 {
            let p = a.p.add(&b.p).sub(&a.p.mul(&b.p).scale(&BigInt::from(2)));
            return Num { p, iv: Itv::new(0, 1) };
        }
        for (x, y) in [(a, b), (b, a)] {
            if x.p.as_const() == Some(ones(bits)) {
                return Num { p: x.p.sub(&y.p), iv: Itv::point(&ones(bits)).add(&y.iv.neg()) };
            }
        }
        if (support(atoms, a) & support(atoms, b)).is_zero() {
            return Num { p: a.p.add(&b.p), iv: a.iv.add(&b.iv) };
        }
        if let Some(r) = self.cases(atoms, a, b, bits, |s, at, x, y| s.difference(at, x, y, bits)) {
            return r;
        }
        let set: BTreeSet<Poly> =
            self.xor_parts(&a.p).symmetric_difference(&self.xor_parts(&b.p)).cloned().collect();
        let mut it = set.iter();
        match (it.next(), it.next()) {
            (None, _) => return Num::constant(0),
            (Some(p), None) => return Num { p: p.clone(), iv: atoms.poly_iv(p).meet(&Itv::word(bits)) },
            (Some(_), Some(_)) => {}
        }
        let key = (bits, set);
        if let Some(x) = self.xors.get(&key) {
            return atoms.num(Poly::atom(*x));
        }
        let sim = pairwise(atoms, &a.p, &b.p, |u, v| u ^ v);
        let p = atoms.opaque_sampled("xor", Itv::new(0, ones(bits).min(support(atoms, a) | support(atoms, b))), sim);
        if let Some(x) = p.as_atom() {
            self.xor_of.insert(x, key.1.clone());
            self.xors.insert(key, x);
        }
        atoms.num(p)
    }

    fn xor_parts(&self, p: &Poly) -> BTreeSet<Poly> {
        match p.as_atom().and_then(|a| self.xor_of.get(&a)) {
            Some(s) => s.clone(),
            None if p.is_zero() => BTreeSet::new(),
            None => BTreeSet::from([p.clone()]),
        }
    }
}

fn pairwise(atoms: &Atoms, a: &Poly, b: &Poly, f: impl Fn(&BigInt, &BigInt) -> BigInt) -> Option<std::rc::Rc<[BigInt]>> {
    Some(atoms.sim(a)?.iter().zip(atoms.sim(b)?.iter()).map(|(x, y)| f(x, y)).collect())
}

/// `x / d` and `x mod d` (floor) for a positive constant.
pub fn div_mod(atoms: &mut Atoms, x: &Num, d: &BigInt) -> (Num, Num) {
    let (q, r) = parts(atoms, x, d);
    atoms.compare("quotient", &[x], &q, |v| v[0].div_floor(d));
    atoms.compare("remainder", &[x], &r, |v| v[0].mod_floor(d));
    (q, r)
}

fn parts(atoms: &mut Atoms, x: &Num, d: &BigInt) -> (Num, Num) {
    if let Some(k) = d.trailing_zeros().filter(|t| d.bits() == t + 1).and_then(|t| t.to_u32()) {
        return atoms.split(x, k);
    }
    if let Some(c) = x.p.as_const() {
        return (Num::constant(c.div_floor(d)), Num::constant(c.mod_floor(d)));
    }
    let q_iv = x.iv.div_floor(&d.into()).unwrap_or(Itv::TOP);
    let sim = atoms.sim(&x.p).map(|s| s.iter().map(|v| v.div_floor(d)).collect());
    let q = atoms.opaque_sampled("quotient", q_iv.clone(), sim);
    let r = x.p.sub(&q.scale(d));
    (Num { p: q, iv: q_iv }, Num { p: r, iv: Itv::new(0, d - 1) })
}
