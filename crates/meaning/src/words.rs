//! Words as integers below a power of two.

use crate::atoms::{twos, Atoms, Num};
use crate::poly::{Atom, Poly};
use santoku_ir::interp::Int;
use santoku_ir::BinOp;
use santoku_judge::itv::{pow2, Itv};

/// Terms of a product that is tried.
const PRODUCT: usize = 64;
/// Runs of ones in a mask.
const RUNS: usize = 16;

pub fn wrap(at: &mut Atoms, x: &Num, bits: u32) -> Option<Num> {
    if x.fits(bits) {
        return Some(x.clone());
    }
    Some(at.divide(x, &pow2(bits))?.1)
}

fn up(x: &Num, k: u32) -> Num {
    let d = pow2(k);
    Num { p: x.p.scale(&d), itv: x.itv.as_ref().map(|i| i.mul(&Itv::point(d))) }
}

/// A shift or rotation of a word by a number of bits below its width.
pub fn shifted(at: &mut Atoms, op: BinOp, x: &Num, k: u32, bits: u32) -> Option<Num> {
    Some(match op {
        BinOp::Shr => at.divide(x, &pow2(k))?.0,
        BinOp::Shl => up(&at.divide(x, &pow2(bits - k))?.1, k),
        _ => {
            let left = if op == BinOp::Rotl { k } else { (bits - k) % bits };
            let (high, low) = at.divide(x, &pow2(bits - left))?;
            let low = up(&low, left);
            let itv = low.itv.as_ref().zip(high.itv.as_ref()).map(|(a, b)| a.add(b));
            at.num(low.p.add(&high.p), itv)
        }
    })
}

/// Bits that may be ones, as runs `[from, to)`. `None`: nothing is known.
fn support(at: &Atoms, x: &Num) -> Option<Vec<(u64, u64)>> {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    let apart = x.p.terms().all(|(m, c)| {
        let term = Poly::of([(m.clone(), c.clone())]);
        let Some(itv) = at.bound(&term).filter(|i| !i.lo.is_negative()) else { return false };
        // Of 0/1 atoms a term is its coefficient or nothing.
        let run = (u64::from(twos(c)), itv.hi.bits());
        let free = runs.iter().all(|(a, b)| run.1 <= *a || *b <= run.0);
        runs.push(run);
        free
    });
    if apart {
        return Some(runs);
    }
    let low = x.p.terms().map(|(_, c)| twos(c)).min().unwrap_or(0);
    x.itv.as_ref().filter(|i| !i.lo.is_negative()).map(|i| vec![(u64::from(low), i.hi.bits())])
}

fn disjoint(at: &Atoms, x: &Num, y: &Num) -> bool {
    let both = support(at, x).zip(support(at, y));
    both.is_some_and(|(a, b)| a.iter().all(|(l, h)| b.iter().all(|(m, i)| h <= m || i <= l))) || x.p.len() * y.p.len() <= PRODUCT && x.p.mul(&y.p).is_zero()
}

/// `x & mask`
fn masked(at: &mut Atoms, x: &Num, mask: &Int) -> Option<Option<Num>> {
    let (mut rest, mut from, mut out) = (mask.clone(), 0, Num::constant(0u8));
    for _ in 0..RUNS {
        if rest == Int::ZERO {
            return Some(Some(out));
        }
        let skip = twos(&rest);
        let len = twos(&rest.shr(skip).add(&Int::Small(1)));
        from += skip;
        let high = at.divide(x, &pow2(from))?.0;
        let part = up(&at.divide(&high, &pow2(len))?.1, from);
        let itv = out.itv.as_ref().zip(part.itv.as_ref()).map(|(a, b)| a.add(b));
        out = at.num(out.p.add(&part.p), itv);
        from += len;
        rest = rest.shr(skip + len);
    }
    Some(None)
}

/// A 0/1 polynomial `c` where `x` is all ones or nothing by it.
fn all_or_nothing(x: &Num, bits: u32) -> Option<Poly> {
    let (c, rest) = x.p.divided(&Itv::word(bits).hi)?;
    let atom = c.atoms();
    (rest.is_zero() && atom.iter().all(|a| a.is_bool()) && atom.len() == 1 && corners(&c, *atom.first()?).iter().all(|v| Itv::bool().contains(&Itv::point(v.clone())))).then_some(c)
}

fn corners(c: &Poly, a: Atom) -> Vec<Int> {
    [false, true].iter().filter_map(|v| c.fixed(a, *v).as_const()).collect()
}

pub fn and(at: &mut Atoms, x: &Num, y: &Num, bits: u32) -> Option<Num> {
    if x.p == y.p {
        return Some(x.clone());
    }
    if disjoint(at, x, y) {
        return Some(Num::constant(0u8));
    }
    for (x, y) in [(x, y), (y, x)] {
        if let Some(m) = y.p.as_const() {
            if let Some(v) = masked(at, x, &m)? {
                return Some(v);
            }
        }
        if let Some(c) = all_or_nothing(y, bits) {
            let itv = x.itv.as_ref().map(|i| i.join(&Itv::point(0u8)));
            return Some(at.num(c.mul(&x.p), itv));
        }
    }
    if bits == 1 {
        return Some(Num::truth(x.p.mul(&y.p)));
    }
    if let Some(v) = by_cases(at, x, y, bits) {
        return Some(v);
    }
    Some(at.common(x, y))
}

/// Where one operand is a constant as soon as a 0/1 atom is fixed: each case by itself.
fn by_cases(at: &mut Atoms, x: &Num, y: &Num, bits: u32) -> Option<Num> {
    let fixes = |p: &Poly, a: Atom| p.fixed(a, false).as_const().is_some() || p.fixed(a, true).as_const().is_some();
    let a = [x, y].into_iter().flat_map(|n| n.p.atoms().into_iter().filter(|a| a.is_bool() && fixes(&n.p, *a)).collect::<Vec<_>>()).next()?;
    let mut found = Vec::new();
    for v in [false, true] {
        // Both cases have to be words for every value of the other atoms.
        let case = |at: &Atoms, n: &Num| Some(at.num(n.p.fixed(a, v), None)).filter(|n| n.fits(bits));
        let (x, y) = (case(at, x)?, case(at, y)?);
        found.push(and(at, &x, &y, bits)?);
    }
    let (no, yes) = (&found[0], &found[1]);
    let itv = no.itv.as_ref().zip(yes.itv.as_ref()).map(|(a, b)| a.join(b));
    Some(at.num(no.p.add(&Poly::atom(a).mul(&yes.p.sub(&no.p))), itv))
}

/// `or` and `xor` by what the words have in common.
pub fn or(at: &mut Atoms, x: &Num, y: &Num, bits: u32, common: i32) -> Option<Num> {
    let both = and(at, x, y, bits)?;
    let p = x.p.add(&y.p).plus(&Int::from(-common), &both.p);
    let itv = x.itv.as_ref().zip(y.itv.as_ref()).map(|(a, b)| if common == 1 { a.or(b, bits) } else { a.xor(b) });
    Some(at.num(p, itv))
}
