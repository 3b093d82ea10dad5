//! Floor division by powers of two, and by other constants.

use super::atom::{Atom, AtomInfo};
use super::{Terms, A, M, T};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};

/// A carry is merged into the sum it is added to while the result has at most this many summands.
const FLATTEN_MAX: usize = 1200;

/// `c = 2^k q + r` with `-2^(k-1) < r <= 2^(k-1)`, for k of 1 or more.
fn nearest(c: &BigInt, k: u32) -> (BigInt, BigInt) {
    let (half, unit) = (BigInt::one() << (k - 1), BigInt::one() << k);
    // ceil((c - half) / unit) rounds to nearest, halves down
    let q: BigInt = -((half - c).div_floor(&unit));
    let r = c - &q * &unit;
    (q, r)
}

impl Terms {
    /// `floor(t / 2^k)`
    pub fn div2k(&mut self, t: T, k: u32) -> T {
        if k == 0 {
            return t;
        }
        if let Some(q) = self.divided.get(&(t, k)) {
            return *q;
        }
        self.begin();
        let q = self.divide(t, k);
        self.end();
        let unit = BigInt::one() << k;
        let (lo, hi) = self.range(t);
        self.note_range(q, &lo.div_floor(&unit), &hi.div_floor(&unit));
        let q = self.check("div2k", q, |s, n| s.sample(t, n).div_floor(&unit));
        self.divided.insert((t, k), q);
        q
    }

    /// `t mod 2^k`, in `0 ..= 2^k - 1`.
    pub fn mod2k(&mut self, t: T, k: u32) -> T {
        if let Some(low) = self.low_bits(t, k) {
            self.note_range(low, &BigInt::zero(), &((BigInt::one() << k) - 1));
            return self.check("mod2k", low, |s, n| s.sample(t, n).mod_floor(&(BigInt::one() << k)));
        }
        let q = self.div2k(t, k);
        let unit = BigInt::one() << k;
        let r = self.combine(t, &-&unit, q);
        self.note_range(r, &BigInt::zero(), &(unit - 1));
        r
    }

    /// `floor((x + 2^(k-1)) / 2^k) = floor(x / 2^(k-1)) - floor(x / 2^k)`, for sums of which a part counts half a unit: they have
    /// this one form whether the constant does, too, or not.
    fn round_half(&mut self, t: T, k: u32) -> Option<T> {
        let p = self.poly(t).clone();
        let half = BigInt::one() << (k - 1);
        let (0, c) = p.first()? else { return None };
        let halves = k == 1 || p.iter().any(|(m, c)| *m != 0 && c.magnitude() == half.magnitude());
        let by = if k == 1 { c.clone() } else { nearest(c, k - 1).0 };
        if !halves || by.is_even() {
            return None;
        }
        let minus = by.is_negative();
        let half = self.int(if minus { -half } else { half });
        let x = self.sub(t, half);
        let (a, b) = (self.div2k(x, k - 1), self.div2k(x, k));
        let q = self.sub(a, b);
        Some(if minus { self.sub(q, Terms::ONE) } else { q })
    }

    /// The two's complement reading of the low `w` bits: `t - 2^w floor((t + 2^(w-1)) / 2^w)`.
    pub fn signed(&mut self, t: T, w: u32) -> T {
        let half: BigInt = BigInt::one() << (w - 1);
        let t = self.multiples(t, w).map_or(t, |(_, rest)| rest);
        let up = self.int(half.clone());
        let up = self.add(t, up);
        let q = self.div2k(up, w);
        let r = self.combine(t, &-(BigInt::one() << w), q);
        self.note_range(r, &-&half, &(half - 1));
        r
    }

    fn divide(&mut self, t: T, k: u32) -> T {
        let (lo, hi) = self.range(t);
        let unit = BigInt::one() << k;
        let (qlo, qhi) = (lo.div_floor(&unit), hi.div_floor(&unit));
        if qlo == qhi {
            return self.int(qlo);
        }
        if let Some(high) = self.high_bits(t, k) {
            return high;
        }
        if let Some(q) = self.divide_parts(t, k) {
            return q;
        }
        let (whole, rest) = self.pull_out(t, k);
        if whole != Terms::ZERO {
            let low = self.div2k(rest, k);
            return self.add(whole, low);
        }
        if self.is_too_deep() {
            return self.quotient_atom(t, k, qlo, qhi);
        }
        if let Some(q) = self.round_half(t, k) {
            return q;
        }
        if let Some(bit) = self.bit_beside(t) {
            return self.in_cases(t, bit, |s, x| s.div2k(x, k));
        }
        if let Some((high, j)) = self.drop_low(t, k - 1) {
            return self.div2k(high, k - j);
        }
        if qlo == -BigInt::one() && qhi.is_zero() {
            let below = self.lt0(t);
            return self.neg(below);
        }
        // floor((-p - 1) / 2^k) = -1 - floor(p / 2^k)
        if k > 1 && self.poly(t).last().is_some_and(|(_, c)| c.is_negative()) {
            let other = self.flip(t);
            let q = self.div2k(other, k);
            return self.flip(q);
        }
        if let Some((joined, j)) = self.flatten(t) {
            return self.div2k(joined, k + j);
        }
        self.quotient_atom(t, k, qlo, qhi)
    }

    /// Of parts side by side, each lies wholly below the border or wholly above.
    fn divide_parts(&mut self, t: T, k: u32) -> Option<T> {
        let parts = self.parts.get(&t)?.clone();
        let mut sum = Terms::ZERO;
        for part in parts {
            if self.range(part).1.bits() <= u64::from(k) {
                continue;
            }
            if !self.poly(part).iter().all(|(_, c)| c.trailing_zeros() >= Some(u64::from(k))) {
                return None;
            }
            let q = self.exactly(part, &(BigInt::one() << k));
            sum = self.add(sum, q);
        }
        Some(sum)
    }

    /// `floor(t / 2^k) = floor((t + 2^k) / 2^(k+1)) + floor(t / 2^(k+1))`, where the first of these, the rounded quotient, is
    /// there already.
    fn by_rounded(&mut self, t: T, k: u32) -> Option<T> {
        if self.atom_of.contains_key(&Atom::Div(t, k)) {
            return None;
        }
        let unit = BigInt::one() << k;
        for (shift, more) in [(unit.clone(), 0), (-unit, 1)] {
            let Some(up) = self.known_sum(t, &shift) else { continue };
            let Some(rounded) = self.divided.get(&(up, k + 1)).copied() else { continue };
            let more = self.int(more);
            let rounded = self.add(rounded, more);
            let longer = self.div2k(t, k + 1);
            return Some(self.add(rounded, longer));
        }
        None
    }

    /// `t + c`, if it is there.
    fn known_sum(&self, t: T, c: &BigInt) -> Option<T> {
        let p = self.poly(t);
        let (constant, rest) = match p.first() {
            Some((0, d)) => (c + d, &p[1..]),
            _ => (c.clone(), &p[..]),
        };
        let constant = Some((0, constant)).filter(|(_, c): &(M, BigInt)| !c.is_zero());
        let sum: Vec<(M, BigInt)> = constant.into_iter().chain(rest.iter().cloned()).collect();
        self.poly_of.get(sum.as_slice()).copied()
    }

    fn quotient_atom(&mut self, t: T, k: u32, lo: BigInt, hi: BigInt) -> T {
        if let Some(q) = self.by_rounded(t, k) {
            return q;
        }
        self.atom(Atom::Div(t, k), |s| AtomInfo {
            atom: Atom::Div(t, k),
            lo,
            hi,
            public: s.public(t),
            values: (0..s.samples).map(|n| s.sample(t, n).div_floor(&(BigInt::one() << k))).collect(),
            spread: 0,
        })
    }

    /// `-1 - t`
    pub(crate) fn flip(&mut self, t: T) -> T {
        let minus = self.neg(t);
        self.sub(minus, Terms::ONE)
    }

    /// The smallest k with `-2^k <= t < 2^k`.
    pub(crate) fn spread(&self, t: T) -> u32 {
        let (lo, hi) = self.range(t);
        let below = if lo.is_negative() { (-lo - 1u32).bits() } else { 0 };
        below.max(hi.bits()) as u32
    }

    /// `t = 2^k whole + rest`, the summands with a multiple of `2^k` for coefficient apart; `None` if there are no such but
    /// constants.
    pub(crate) fn multiples(&mut self, t: T, k: u32) -> Option<(T, T)> {
        let p = self.poly(t).clone();
        let is_multiple = |m: &M, c: &BigInt| *m != 0 && c.trailing_zeros() >= Some(u64::from(k));
        if k == 0 || !p.iter().any(|(m, c)| is_multiple(m, c)) {
            return None;
        }
        let (mut whole, mut rest) = (vec![], vec![]);
        for (m, c) in p.iter() {
            if *m == 0 {
                let (q, r) = nearest(c, k);
                whole.push((0, q));
                rest.push((0, r));
            } else if is_multiple(m, c) {
                whole.push((*m, c >> k));
            } else {
                rest.push((*m, c.clone()));
            }
        }
        whole.retain(|(_, c): &(M, BigInt)| !c.is_zero());
        rest.retain(|(_, c)| !c.is_zero());
        Some((self.intern(whole), self.intern(rest)))
    }

    /// `t = 2^k whole + rest`, every coefficient of the rest in `-2^(k-1) + 1 ..= 2^(k-1)`.
    fn pull_out(&mut self, t: T, k: u32) -> (T, T) {
        if self.poly(t).iter().all(|(_, c)| c.bits() < u64::from(k)) {
            return (Terms::ZERO, t);
        }
        let unit = BigInt::one() << k;
        let mut whole: Vec<(M, BigInt)> = vec![];
        let mut rest: Vec<(M, BigInt)> = vec![];
        for (m, c) in self.poly(t).clone().iter() {
            let (mut q, mut r) = nearest(c, k);
            // Half way: a comparison stays minus a quotient, so that it joins the sum it is the carry of.
            if r == &unit >> 1 && matches!(self.monos[*m as usize][..], [a] if matches!(self.atoms[a as usize].atom, Atom::Neg(_))) {
                (q, r) = (q + 1, r - &unit);
            }
            if !q.is_zero() {
                whole.push((*m, q));
            }
            if !r.is_zero() {
                rest.push((*m, r));
            }
        }
        let (whole, rest) = (self.intern(whole), self.intern(rest));
        let ((lo, hi), (wlo, whi)) = (self.range(t), self.range(whole));
        self.note_range(rest, &(lo - whi * &unit), &(hi - wlo * &unit));
        (whole, rest)
    }

    /// `t = 2^j high + low` where `floor(low / 2^j)` is a constant, which is then in `high`; the largest such `j <= most`.
    /// Both `floor(t / 2^k)` for `k >= j` and `t < 0` depend on `high` alone.
    pub(crate) fn drop_low(&mut self, t: T, most: u32) -> Option<(T, u32)> {
        let p = self.poly(t).clone();
        let mut steps: Vec<u64> = p.iter().filter(|(m, _)| *m != 0).filter_map(|(_, c)| c.trailing_zeros()).collect();
        steps.sort_unstable();
        steps.dedup();
        for j in steps.into_iter().rev() {
            if j == 0 || j > u64::from(most) {
                continue;
            }
            let unit = BigInt::one() << j;
            let (mut high, mut low) = (vec![], vec![]);
            for (m, c) in p.iter() {
                if *m == 0 {
                    let (q, r) = c.div_mod_floor(&unit);
                    high.push((0, q));
                    low.push((0, r));
                } else if c.trailing_zeros() >= Some(j) {
                    high.push((*m, c >> j));
                } else {
                    low.push((*m, c.clone()));
                }
            }
            low.retain(|(_, c)| !c.is_zero());
            high.retain(|(_, c)| !c.is_zero());
            let carry = match self.settled_floor(&low, &unit) {
                Some(_) => None,
                None => match self.own_carry(&low, &high, &unit) {
                    Some(carry) => Some(carry),
                    None => continue,
                },
            };
            let (mut low, mut high) = (self.intern(low), self.intern(high));
            if let Some((a, sign)) = carry {
                let carry = self.atom_term(a);
                low = self.combine(low, &(&unit * sign), carry);
                high = self.combine(high, &BigInt::from(-sign), carry);
            }
            if let Some(f) = self.settled_floor(&self.poly(low).clone(), &unit) {
                let f = self.int(f);
                let high = self.add(high, f);
                let (lo, hi) = self.range(t);
                self.note_range(high, &lo.div_floor(&unit), &hi.div_floor(&unit));
                return Some((high, j as u32));
            }
        }
        None
    }

    /// The floor quotient by `unit`, if it is the same on every input.
    fn settled_floor(&self, p: &[(M, BigInt)], unit: &BigInt) -> Option<BigInt> {
        let (lo, hi) = self.bound(p);
        let f = lo.div_floor(unit);
        (f == hi.div_floor(unit)).then_some(f)
    }

    /// An atom of `high` and a sign such that with that many units of it `low` stays within one unit: `low` is then a value
    /// reduced to a word, or the complement of one, of which the atom is the carry or the borrow.
    fn own_carry(&self, low: &[(M, BigInt)], high: &[(M, BigInt)], unit: &BigInt) -> Option<(A, i32)> {
        let lead = low.last()?.0;
        high.iter().find_map(|(m, _)| {
            let [a] = self.monos[*m as usize][..] else { return None };
            let (q, sign) = match self.atoms[a as usize].atom {
                Atom::Div(q, _) => (q, -1),
                Atom::Neg(q) => (q, 1),
                _ => return None,
            };
            self.poly(q).iter().find(|(n, _)| *n == lead)?;
            let at = low.partition_point(|(n, _)| n < m);
            [sign, -sign].into_iter().find_map(|sign| {
                let mut with = low.to_vec();
                with.insert(at, (*m, unit * sign));
                self.settled_floor(&with, unit).map(|_| (a, sign))
            })
        })
    }

    /// `t = p + floor(q / 2^j)`: the sum `2^j p + q` and `j`. A comparison `[q < 0]` is minus such a quotient.
    pub(crate) fn flatten(&mut self, t: T) -> Option<(T, u32)> {
        let p = self.poly(t).clone();
        for (m, c) in p.iter().rev() {
            let [a] = self.monos[*m as usize][..] else { continue };
            let Some((q, j, up)) = self.quotient(a, c) else { continue };
            if p.len() + self.poly(q).len() > FLATTEN_MAX {
                continue;
            }
            let rest = p.iter().filter(|(n, _)| n != m).map(|(n, c)| (*n, c << j)).collect();
            let rest = self.intern(rest);
            // -floor(q / 2^j) = floor((2^j - 1 - q) / 2^j)
            let q = if up { self.not(q, j) } else { q };
            let joined = self.add(rest, q);
            let (lo, hi) = self.range(t);
            self.note_range(joined, &(lo << j), &(((hi + 1u32) << j) - 1u32));
            return Some((joined, j));
        }
        None
    }

    /// `q` and `j` of a quotient with coefficient 1, or with -1 (true).
    fn quotient(&self, a: A, c: &BigInt) -> Option<(T, u32, bool)> {
        let minus = *c == -BigInt::one();
        if !c.is_one() && !minus {
            return None;
        }
        match self.atoms[a as usize].atom {
            Atom::Div(q, j) => Some((q, j, minus)),
            Atom::Neg(q) => Some((q, self.atoms[a as usize].spread, !minus)),
            _ => None,
        }
    }

    /// `t = d whole + rest`: the summands with a multiple of `d` for coefficient apart, of the constant what is a multiple.
    pub(crate) fn whole(&mut self, t: T, d: &BigInt) -> (T, T) {
        let (mut whole, mut rest) = (vec![], vec![]);
        for (m, c) in self.poly(t).iter() {
            let (q, r) = c.div_mod_floor(d);
            if *m != 0 && !r.is_zero() {
                rest.push((*m, c.clone()));
                continue;
            }
            whole.extend(Some((*m, q)).filter(|(_, q)| !q.is_zero()));
            rest.extend(Some((*m, r)).filter(|(_, r)| !r.is_zero()));
        }
        (self.intern(whole), self.intern(rest))
    }

    /// `floor(t / d)` for `d > 0`.
    pub fn div(&mut self, t: T, d: &BigInt) -> T {
        let z = d.trailing_zeros().unwrap_or(0);
        if (d >> z).is_one() {
            return self.div2k(t, z as u32);
        }
        let mut whole = vec![];
        let mut rest = vec![];
        for (m, c) in self.poly(t).clone().iter() {
            let (q, r) = c.div_mod_floor(d);
            if !q.is_zero() {
                whole.push((*m, q));
            }
            if !r.is_zero() {
                rest.push((*m, r));
            }
        }
        let (whole, rest) = (self.intern(whole), self.intern(rest));
        let (lo, hi) = self.range(rest);
        let (lo, hi) = (lo.div_floor(d), hi.div_floor(d));
        let low = if lo == hi {
            self.int(lo)
        } else {
            let atom = Atom::DivBy(rest, d.clone());
            self.atom(atom.clone(), |s| AtomInfo {
                atom,
                lo,
                hi,
                public: s.public(rest),
                values: (0..s.samples).map(|n| s.sample(rest, n).div_floor(d)).collect(),
                spread: 0,
            })
        };
        let q = self.add(whole, low);
        self.check("div", q, |s, n| s.sample(t, n).div_floor(d))
    }

    /// `t mod d` for `d > 0`, in `0 ..= d - 1`.
    pub fn rem(&mut self, t: T, d: &BigInt) -> T {
        let q = self.div(t, d);
        let r = self.combine(t, &-d, q);
        self.note_range(r, &BigInt::zero(), &(d - 1));
        r
    }
}
