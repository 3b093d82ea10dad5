//! Bounds of terms.

use super::atom::Atom;
use super::{Terms, A, M, T};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};

/// How many carries one bound may look through.
const DEPTH: u32 = 4;

/// Leave to note something of a term: what is known at a point that every execution comes to. There is none for what a path
/// says: that is a fact ([`crate::facts`]), which no term remembers.
#[derive(Clone, Copy, Debug)]
pub struct Everywhere(());

impl Everywhere {
    /// At a point with this path condition; `None` where it may be missed.
    pub fn at(path: T) -> Option<Everywhere> {
        (path == Terms::ONE).then_some(Everywhere(()))
    }
}

impl Terms {
    /// Inclusive bounds that hold on every input.
    pub fn range(&self, t: T) -> (BigInt, BigInt) {
        self.ranges[t.0 as usize].clone()
    }

    /// A fact from outside: where it is known is reached on every input. Terms made before keep the forms they have.
    pub fn note(&mut self, _: Everywhere, t: T, lo: &BigInt, hi: &BigInt) {
        self.note_range(t, lo, hi);
    }

    /// What a rule says of its result: on every input, whatever the operands are, the value lies in `lo ..= hi`. The samples are
    /// asked each time a bound becomes narrower.
    pub(super) fn note_range(&mut self, t: T, lo: &BigInt, hi: &BigInt) {
        let r = &mut self.ranges[t.0 as usize];
        let (above, below) = (*lo > r.0, *hi < r.1);
        if above {
            r.0 = lo.clone();
        }
        if below {
            r.1 = hi.clone();
        }
        if above || below {
            self.bounds_hold(t);
        }
    }

    /// Compares the bounds of a term with its values on the samples.
    pub(super) fn bounds_hold(&mut self, t: T) {
        let ((lo, hi), values) = (&self.ranges[t.0 as usize], &self.values[t.0 as usize]);
        if let Some(v) = values.iter().find(|v| *v < lo || *v > hi) {
            let why = format!("bounds: {v} outside {lo}..={hi} for {}", self.show(t, 4));
            self.fault(why);
        }
    }

    /// Bounds of the product of a monomial's atoms.
    pub(super) fn mono_bound(&self, m: M) -> &(BigInt, BigInt) {
        &self.mono_bounds[m as usize]
    }

    /// Those bounds, made once: an atom keeps its own.
    pub(super) fn atoms_bound(&self, atoms: &[A]) -> (BigInt, BigInt) {
        if let [a] = atoms {
            let i = &self.atoms[*a as usize];
            return (i.lo.clone(), i.hi.clone());
        }
        let mut r = (BigInt::one(), BigInt::one());
        let mut k = 0;
        while k < atoms.len() {
            let i = &self.atoms[atoms[k] as usize];
            let square = atoms.get(k + 1) == Some(&atoms[k]);
            let (lo, hi) = if square {
                k += 1;
                let top = (&i.lo * &i.lo).max(&i.hi * &i.hi);
                let low = if i.lo.is_positive() { &i.lo * &i.lo } else if i.hi.is_negative() { &i.hi * &i.hi } else { BigInt::zero() };
                (low, top)
            } else {
                (i.lo.clone(), i.hi.clone())
            };
            let c = [&r.0 * &lo, &r.0 * &hi, &r.1 * &lo, &r.1 * &hi];
            r = (c.iter().min().cloned().unwrap_or_default(), c.iter().max().cloned().unwrap_or_default());
            k += 1;
        }
        r
    }

    pub(crate) fn bound(&self, p: &[(M, BigInt)]) -> (BigInt, BigInt) {
        self.bound_deep(p, DEPTH)
    }

    fn plain(&self, p: &[(M, BigInt)]) -> (BigInt, BigInt) {
        let (mut lo, mut hi) = (BigInt::zero(), BigInt::zero());
        for (m, c) in p {
            let (a, b) = self.mono_bound(*m);
            if c.is_one() {
                lo += a;
                hi += b;
            } else if c.is_positive() {
                lo += a * c;
                hi += b * c;
            } else {
                lo += b * c;
                hi += a * c;
            }
        }
        (lo, hi)
    }

    fn bound_deep(&self, p: &[(M, BigInt)], depth: u32) -> (BigInt, BigInt) {
        if let Some(t) = self.poly_of.get(p) {
            return self.range(*t);
        }
        let mut best = self.plain(p);
        // A fact noted of the rest serves the sum with a constant too.
        if let Some((0, c)) = p.first() {
            if let Some(rest) = self.poly_of.get(&p[1..]) {
                let (lo, hi) = self.range(*rest);
                best = (best.0.max(lo + c), best.1.min(hi + c));
            }
        }
        if let Some((lo, hi)) = self.two_quotients(p) {
            best = (best.0.max(lo), best.1.min(hi));
        }
        if depth == 0 {
            return best;
        }
        // Newest first: a carry is younger than what it is the carry of.
        let mut looked = 0;
        for (m, c) in p.iter().rev() {
            let [a] = self.monos[*m as usize][..] else { continue };
            let Some((rest, lo, hi)) = self.through(p, a, c) else { continue };
            let (rlo, rhi) = self.bound_deep(&rest, depth - 1);
            best.0 = best.0.max(rlo + lo);
            best.1 = best.1.min(rhi + hi);
            looked += 1;
            if looked == 2 {
                break;
            }
        }
        best
    }

    /// Bounds of `floor(x / 2^k) - floor(y / 2^k) + c`, where x and y differ by a constant.
    fn two_quotients(&self, p: &[(M, BigInt)]) -> Option<(BigInt, BigInt)> {
        let (c, rest) = match p {
            [(0, c), rest @ ..] => (c.clone(), rest),
            rest => (BigInt::zero(), rest),
        };
        let [(m, a), (n, b)] = rest else { return None };
        let (x, y) = match (a.is_one() && (-b).is_one(), b.is_one() && (-a).is_one()) {
            (true, _) => (*m, *n),
            (_, true) => (*n, *m),
            _ => return None,
        };
        let quotient = |m: M| match self.monos[m as usize][..] {
            [a] => match self.atoms[a as usize].atom {
                Atom::Div(t, k) => Some((t, k)),
                _ => None,
            },
            _ => None,
        };
        let ((x, k), (y, j)) = (quotient(x)?, quotient(y)?);
        let split = |t: T| match &**self.poly(t) {
            [(0, c), rest @ ..] => (c.clone(), rest.to_vec()),
            rest => (BigInt::zero(), rest.to_vec()),
        };
        let ((cx, x), (cy, y)) = (split(x), split(y));
        if k != j || x != y {
            return None;
        }
        let (d, unit) = (cx - cy, BigInt::one() << k);
        Some((d.div_floor(&unit) + &c, d.div_ceil(&unit) + c))
    }

    /// For the atom `a` = floor(q / 2^k) or `[q < 0]` with coefficient `c` in `p`: `p` is a multiple of `q`'s remainder plus
    /// the rest returned; the remainder's part lies in the bounds returned.
    fn through(&self, p: &[(M, BigInt)], a: A, c: &BigInt) -> Option<(Vec<(M, BigInt)>, BigInt, BigInt)> {
        match self.atoms[a as usize].atom {
            Atom::Div(q, k) => {
                if let Some(r) = self.through_shorter(p, a, q, |m, j| (j < k && -(m << (k - j)) == *c).then_some(k)) {
                    return Some(r);
                }
                let (m, odd) = (-c).div_mod_floor(&(BigInt::one() << k));
                if !odd.is_zero() {
                    return None;
                }
                let rest = self.minus(p, &m, q, a);
                let top: BigInt = &m * ((BigInt::one() << k) - 1);
                Some((rest, BigInt::zero().min(top.clone()), BigInt::zero().max(top)))
            }
            Atom::Neg(q) => {
                // minus a quotient by any power from `spread` on
                let far = |m: &BigInt, j: u32| {
                    let (e, odd) = c.div_mod_floor(m);
                    let k = j + e.trailing_zeros()? as u32;
                    (odd.is_zero() && e.is_positive() && e == BigInt::one() << (k - j) && k >= self.atoms[a as usize].spread).then_some(k)
                };
                if let Some(r) = self.through_shorter(p, a, q, far) {
                    return Some(r);
                }
                let lead = self.poly(q).last()?;
                let (_, in_p) = p.iter().find(|(m, _)| *m == lead.0)?;
                let (m, odd) = in_p.div_mod_floor(&lead.1);
                if !odd.is_zero() || m.is_zero() {
                    return None;
                }
                let rest = self.minus(p, &m, q, a);
                let (qlo, qhi) = self.range(q);
                if !qlo.is_negative() || qhi.is_negative() {
                    return None;
                }
                // m q + c [q < 0], in the two cases
                let ends = [BigInt::zero(), &m * &qhi, &m * &qlo + c, -&m + c];
                Some((rest, ends.iter().min()?.clone(), ends.iter().max()?.clone()))
            }
            _ => None,
        }
    }

    /// As [`Terms::through`], for `floor(q / 2^k)` beside `floor(q / 2^j)`, j below k: bits j to k of q. `k` is found from the
    /// coefficient of the second and j.
    fn through_shorter(
        &self,
        p: &[(M, BigInt)],
        a: A,
        q: T,
        k: impl Fn(&BigInt, u32) -> Option<u32>,
    ) -> Option<(Vec<(M, BigInt)>, BigInt, BigInt)> {
        for (n, m) in p {
            let [b] = self.monos[*n as usize][..] else { continue };
            let Atom::Div(r, j) = self.atoms[b as usize].atom else { continue };
            if r != q {
                continue;
            }
            let Some(k) = k(m, j) else { continue };
            let rest = p.iter().filter(|(x, _)| x != n && self.monos[*x as usize] != [a]).cloned().collect();
            let top: BigInt = m * ((BigInt::one() << (k - j)) - 1);
            return Some((rest, BigInt::zero().min(top.clone()), BigInt::zero().max(top)));
        }
        None
    }

    /// `p - m q` without the atom `a` alone.
    fn minus(&self, p: &[(M, BigInt)], m: &BigInt, q: T, a: A) -> Vec<(M, BigInt)> {
        let mut out: Vec<(M, BigInt)> = Vec::with_capacity(p.len());
        let q = self.poly(q);
        let (mut i, mut j) = (0, 0);
        while i < p.len() || j < q.len() {
            let take_p = j >= q.len() || i < p.len() && p[i].0 <= q[j].0;
            let take_q = i >= p.len() || j < q.len() && q[j].0 <= p[i].0;
            let mono = if take_p { p[i].0 } else { q[j].0 };
            let mut c = BigInt::zero();
            if take_p {
                c += &p[i].1;
                i += 1;
            }
            if take_q {
                c -= &q[j].1 * m;
                j += 1;
            }
            if !c.is_zero() && self.monos[mono as usize] != [a] {
                out.push((mono, c));
            }
        }
        out
    }

    /// Bits that may be set; for values that are not negative.
    pub(crate) fn ones(&self, t: T) -> Option<BigInt> {
        let (lo, hi) = &self.ranges[t.0 as usize];
        if lo.is_negative() {
            return None;
        }
        if let Some(parts) = self.parts.get(&t) {
            return parts.iter().try_fold(BigInt::zero(), |sum, p| Some(sum | self.ones(*p)?));
        }
        let low = self.poly(t).iter().filter_map(|(_, c)| c.trailing_zeros()).min().unwrap_or(0);
        let all = ((BigInt::one() << hi.bits()) - 1u32) >> low << low;
        let mut sum = BigInt::zero();
        for (m, c) in self.poly(t).iter() {
            let (mlo, mhi) = self.mono_bound(*m);
            if c.is_negative() || mlo.is_negative() {
                return Some(all);
            }
            let z = c.trailing_zeros().unwrap_or(0);
            let mine: BigInt = ((BigInt::one() << (mhi * (c >> z)).bits()) - 1u32) << z;
            if !(&sum & &mine).is_zero() {
                return Some(all);
            }
            sum |= mine;
        }
        Some(sum & all)
    }
}
