//! Bitwise operations on words.
//!
//! Needs: division.  Keeps: operands are taken mod `2^w`, so that every operation has a value for all integers: the code's
//! registers may hold terms that are words on some path alone.  Absent: words of no width.

use super::atom::{Atom, AtomInfo};
use super::ids::Sum;
use super::{Terms, A, T};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};
use std::collections::{BTreeSet, HashMap};

/// Exclusive sums of more products than this are not multiplied out.
const PRODUCTS_MAX: usize = 24;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Op {
    And,
    Or,
    Xor,
}

fn ones(w: u32) -> BigInt {
    (BigInt::one() << w) - 1
}

/// The operands of two values that may themselves be remembered by theirs.
fn joined(known: &HashMap<T, Vec<T>>, a: T, b: T) -> Vec<T> {
    [a, b].iter().flat_map(|t| known.get(t).cloned().unwrap_or_else(|| vec![*t])).collect()
}

impl Terms {
    /// From now on a choice between two values, bit by bit, is the sum of its parts.
    pub fn split_choices(&mut self) {
        self.choices_split = true;
    }

    /// The low `w` bits of both, bit by bit.
    pub fn and(&mut self, a: T, b: T, w: u32) -> T {
        self.bitwise(Op::And, a, b, w)
    }

    pub fn or(&mut self, a: T, b: T, w: u32) -> T {
        let [a, b] = [a, b].map(|t| self.as_word(t, w));
        let mut parts = joined(&self.or_parts, a, b);
        parts.sort_unstable();
        parts.dedup();
        let r = match self.or_of_many(a, b, &parts) {
            Some(r) => r,
            None => self.bitwise(Op::Or, a, b, w),
        };
        self.note_sign_of_or(a, b, r, w);
        if self.as_const(r).is_none() && !self.is_bit(r) && parts.len() > 1 && !parts.contains(&r) {
            self.or_parts.entry(r).or_insert(parts);
        }
        r
    }

    /// What gathers differences: not multiplied out.
    fn or_of_many(&mut self, a: T, b: T, parts: &[T]) -> Option<T> {
        let bits = |s: &Terms, t: T| s.as_const(t).is_some() || s.is_bit(t);
        if parts.len() < 3 || parts.contains(&Terms::ZERO) || bits(self, a) || bits(self, b) || a == b {
            return None;
        }
        let (x, y) = (self.ones(a)?, self.ones(b)?);
        if (&x & &y).is_zero() {
            return None;
        }
        let atom = Atom::Or(parts.to_vec());
        let hi = ones((x | y).bits() as u32);
        let r = self.atom(atom.clone(), |s| AtomInfo {
            atom,
            lo: BigInt::zero(),
            hi,
            public: parts.iter().all(|t| s.public(*t)),
            values: (0..s.samples).map(|n| parts.iter().fold(BigInt::zero(), |v, t| v | s.sample(*t, n))).collect(),
            spread: 0,
        });
        Some(self.check("or", r, |s, n| s.sample(a, n) | s.sample(b, n)))
    }

    /// The top bit of `a | -a` says whether `a` is not zero.
    fn note_sign_of_or(&mut self, a: T, b: T, r: T, w: u32) {
        let Some(bit) = self.is_minus(a, b, w) else { return };
        if !self.divided.contains_key(&(r, w - 1)) {
            self.check("sign of or", bit, |s, n| s.sample(r, n) >> (w - 1));
            self.divided.insert((r, w - 1), bit);
        }
    }

    /// `[a != 0]` where `b` is `-a mod 2^w`.
    fn is_minus(&mut self, a: T, b: T, w: u32) -> Option<T> {
        let sum = self.add(a, b);
        let unit = BigInt::one() << w;
        if sum == Terms::ZERO || !self.poly(sum).iter().all(|(_, c)| (c % &unit).is_zero()) {
            return None;
        }
        let bit = self.exactly(sum, &unit);
        self.is_bit(bit).then_some(bit)
    }

    pub fn xor(&mut self, a: T, b: T, w: u32) -> T {
        let [a, b] = [a, b].map(|t| self.as_word(t, w));
        let r = self.bitwise(Op::Xor, a, b, w);
        if self.as_const(r).is_none() && !self.is_bit(r) {
            self.xor_parts.entry(r).or_insert((a, b));
        }
        r
    }

    /// `2^w - 1 - a`
    pub fn not(&mut self, a: T, w: u32) -> T {
        let all = self.int(ones(w));
        self.sub(all, a)
    }

    /// The term mod `2^w`: itself, where it is known to be such a word on every input.
    pub(crate) fn as_word(&mut self, t: T, w: u32) -> T {
        let (lo, hi) = &self.ranges[t.0 as usize];
        if !lo.is_negative() && hi.bits() <= u64::from(w) {
            return t;
        }
        self.mod2k(t, w)
    }

    /// The low `w` bits turned left by `k`, less than `w`.
    pub fn rotl(&mut self, a: T, k: u32, w: u32) -> T {
        let a = self.as_word(a, w);
        if k == 0 {
            return a;
        }
        let up = self.shl(a, k);
        let (high, low) = (self.mod2k(up, w), self.div2k(a, w - k));
        let r = self.add(high, low);
        self.note_range(r, &BigInt::zero(), &ones(w));
        r
    }

    fn bitwise(&mut self, op: Op, a: T, b: T, w: u32) -> T {
        let [a, b] = [a, b].map(|t| self.as_word(t, w));
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        let r = self.bitwise_rules(op, a, b, w);
        let (top_a, top_b) = (self.range(a).1, self.range(b).1);
        let top = match op {
            Op::And => top_a.min(top_b),
            Op::Or | Op::Xor => ones(top_a.bits().max(top_b.bits()) as u32),
        };
        self.note_range(r, &BigInt::zero(), &top);
        self.check("bitwise", r, |s, n| {
            let (x, y) = (s.sample(a, n), s.sample(b, n));
            match op {
                Op::And => x & y,
                Op::Or => x | y,
                Op::Xor => x ^ y,
            }
        })
    }

    fn bitwise_rules(&mut self, op: Op, a: T, b: T, w: u32) -> T {
        for (x, y) in [(a, b), (b, a)] {
            if let Some(c) = self.as_const(x) {
                if let Some((bit, n)) = self.mask(y) {
                    let low = c.mod_floor(&(BigInt::one() << n));
                    let both = self.scale(bit, &low);
                    return self.from_and(op, a, b, both);
                }
                if op == Op::Xor && self.has_names() && self.is_bits_alone(y) && c != ones(w) {
                    return self.sum_of_products(op, a, b, w);
                }
                return self.with_constant(op, y, &c);
            }
        }
        if a == b {
            return if op == Op::Xor { Terms::ZERO } else { a };
        }
        if self.is_bit(a) && self.is_bit(b) {
            let both = self.mul(a, b);
            return self.from_and(op, a, b, both);
        }
        if let (Some(x), Some(y)) = (self.ones(a), self.ones(b)) {
            if (x & y).is_zero() {
                return if op == Op::And { Terms::ZERO } else { self.side_by_side(a, b) };
            }
        }
        if op == Op::Or && self.is_minus(a, b, w).is_some() {
            return self.from_products(Sum::from([vec![a], vec![b], vec![a, b]]), w);
        }
        if let Some(r) = self.of_extended(op, a, b, w) {
            return r;
        }
        for (x, y) in [(a, b), (b, a)] {
            if let Some((c, n)) = self.mask(x) {
                let low = self.mod2k(y, n);
                let both = self.mul(c, low);
                return self.from_and(op, a, b, both);
            }
        }
        if let Some(r) = self.by_bit(op, a, b, w) {
            return r;
        }
        let word = self.word;
        if w > word {
            let (al, bl) = (self.mod2k(a, word), self.mod2k(b, word));
            let (ah, bh) = (self.div2k(a, word), self.div2k(b, word));
            let low = self.bitwise(op, al, bl, word);
            let high = self.bitwise(op, ah, bh, w - word);
            let high = self.shl(high, word);
            return self.add(low, high);
        }
        let bits = [a, b].map(|t| (self.range(t).1.bits() as u32).clamp(1, w));
        let least = bits[0].min(bits[1]);
        if op == Op::And && (bits[0] > least || bits[1] > least) {
            let (x, y) = (self.mod2k(a, least), self.mod2k(b, least));
            if (x, y) != (a, b) {
                return self.bitwise(op, x, y, least);
            }
        }
        // As short as the operands are, so that complements are those of their bits alone.
        self.sum_of_products(op, a, b, bits[0].max(bits[1]))
    }

    /// Of sign extensions of half words: the extension of the operation on the half words.
    fn of_extended(&mut self, op: Op, a: T, b: T, w: u32) -> Option<T> {
        let half = w / 2;
        let long = |s: &Terms, t: T| s.range(t).1.bits() > u64::from(half);
        if w != self.word || half != 32 || !long(self, a) && !long(self, b) {
            return None;
        }
        let mut low = [a, b];
        for t in &mut low {
            let x = self.mod2k(*t, half);
            if self.extended(x, half) != *t {
                return None;
            }
            *t = x;
        }
        let r = self.bitwise(op, low[0], low[1], half);
        Some(self.extended(r, half))
    }

    pub(crate) fn is_bitwise(&self, a: A) -> bool {
        matches!(self.atoms[a as usize].atom, Atom::Bits(_) | Atom::Or(_))
    }

    /// The sum of values without a common bit. Its parts are remembered: they can be shifted one by one.
    fn side_by_side(&mut self, a: T, b: T) -> T {
        let r = self.add(a, b);
        if self.as_const(r).is_none() && !self.parts.contains_key(&r) {
            let parts = joined(&self.parts, a, b);
            if !parts.contains(&r) {
                self.parts.insert(r, parts);
            }
        }
        r
    }

    /// From `and`: `or = a + b - and`, `xor = a + b - 2 and`.
    fn from_and(&mut self, op: Op, a: T, b: T, both: T) -> T {
        let sum = self.add(a, b);
        match op {
            Op::And => both,
            Op::Or => self.combine(sum, &-BigInt::one(), both),
            Op::Xor => self.combine(sum, &BigInt::from(-2), both),
        }
    }

    /// Conjunction with a constant is a sum of slices, one for each run of ones.
    fn with_constant(&mut self, op: Op, x: T, c: &BigInt) -> T {
        let mut both = Terms::ZERO;
        let mut at = 0u32;
        let mut left = c.clone();
        while let Some(z) = left.trailing_zeros() {
            left >>= z;
            at += z as u32;
            let run = (&left + 1u32).trailing_zeros().unwrap_or(0) as u32;
            let high = self.div2k(x, at);
            let slice = self.mod2k(high, run);
            let slice = self.shl(slice, at);
            both = self.add(both, slice);
            left >>= run;
            at += run;
        }
        let c = self.int(c.clone());
        self.from_and(op, x, c, both)
    }

    /// `(2^n - 1) c` for a bit c: the bit and n, at least 2.
    fn mask(&mut self, t: T) -> Option<(T, u32)> {
        let g = self.poly(t).iter().fold(BigInt::zero(), |g, (_, c)| g.gcd(c));
        let n = g.bits();
        if n < 2 || g != ones(n as u32) {
            return None;
        }
        let c = self.exactly(t, &g);
        self.is_bit(c).then_some((c, n as u32))
    }

    /// Where one operand is a product with a bit: the two cases of that bit. The other operand is split with it, unless its
    /// bounds then are not known.
    fn by_bit(&mut self, op: Op, a: T, b: T, w: u32) -> Option<T> {
        let fits = |s: &Terms, t: T| {
            let (lo, hi) = s.range(t);
            !lo.is_negative() && hi <= ones(w)
        };
        for (t, other) in [(a, b), (b, a)] {
            for bit in self.bit_factors(t) {
                let (t0, t1) = (self.with_bit(t, bit, false), self.with_bit(t, bit, true));
                if t0 == Terms::ZERO && self.with_bit(other, bit, true) == Terms::ZERO {
                    return Some(if op == Op::And { Terms::ZERO } else { self.side_by_side(a, b) });
                }
                if !fits(self, t0) || !fits(self, t1) {
                    continue;
                }
                let (mut o0, mut o1) = (self.with_bit(other, bit, false), self.with_bit(other, bit, true));
                if !fits(self, o0) || !fits(self, o1) {
                    (o0, o1) = (other, other);
                }
                let (r0, r1) = (self.bitwise(op, t0, o0, w), self.bitwise(op, t1, o1, w));
                let c = self.atom_term(bit);
                return Some(self.ite_raw(c, r1, r0));
            }
        }
        None
    }

    /// The low bits of a bitwise value: the same operation on the low bits of its operands.
    pub(crate) fn low_bits(&mut self, t: T, k: u32) -> Option<T> {
        let (lo, hi) = self.range(t);
        if !lo.is_negative() && hi.bits() <= u64::from(k) {
            return None;
        }
        let unit = BigInt::one() << k;
        if let Some((a, b)) = self.with_constant_added(t) {
            let [a, b] = [a, b].map(|x| self.mod2k(x, k));
            return Some(self.bitwise(Op::Xor, a, b, k));
        }
        if let Some((_, rest)) = self.multiples(t, k) {
            if self.is_bits_alone(rest) {
                return Some(self.mod2k(rest, k));
            }
        }
        // 2^w - 1 - x
        let minus = self.poly(t).last().is_some_and(|(_, c)| c.is_negative());
        if let Some((0, c)) = self.poly(t).first().filter(|(_, c)| minus && ((c + 1u32) % &unit).is_zero()) {
            let c = c.clone();
            let x = self.int(c);
            let x = self.sub(x, t);
            if self.as_atom(x).is_some_and(|a| self.is_bitwise(a)) {
                let low = self.mod2k(x, k);
                return Some(self.not(low, k));
            }
        }
        self.bit_by_bit(t, |s, x| {
            let low = s.mod2k(x, k);
            s.renamed(low)
        })
    }

    /// `t` as another term, made before it, and a constant, added bit by bit.
    fn with_constant_added(&self, t: T) -> Option<(T, T)> {
        let (a, b) = self.xor_parts.get(&t).copied()?;
        let (x, c) = if self.as_const(a).is_some() { (b, a) } else { (a, b) };
        // Each of two may be known by the other.
        (self.as_const(c).is_some() && x < t).then_some((x, c))
    }

    /// The bits of a bitwise value above a border: the same operation on those of its operands.
    pub(crate) fn high_bits(&mut self, t: T, k: u32) -> Option<T> {
        let w = self.range(t).1.bits() as u32;
        if w <= k || self.is_too_deep() {
            return None;
        }
        self.bit_by_bit(t, |s, x| s.div2k(x, k))
    }

    fn bit_by_bit(&mut self, t: T, part: impl Fn(&mut Terms, T) -> T) -> Option<T> {
        let products: Vec<Vec<T>> = match self.atoms[self.as_atom(t)? as usize].atom.clone() {
            Atom::Bits(products) => products,
            Atom::Or(list) => {
                let list: Vec<T> = list.into_iter().map(|x| part(self, x)).collect();
                let w = list.iter().map(|x| self.range(*x).1.bits()).max().unwrap_or(0) as u32;
                return Some(list.into_iter().fold(Terms::ZERO, |sum, x| self.or(sum, x, w)));
            }
            _ => return None,
        };
        let products: Vec<Vec<T>> = products.iter().map(|p| p.iter().map(|x| part(self, *x)).collect()).collect();
        let w = products.iter().flatten().map(|x| self.range(*x).1.bits()).max().unwrap_or(0) as u32;
        let mut sum = Terms::ZERO;
        for product in products {
            let mut one: Option<T> = None;
            for x in product {
                one = Some(match one {
                    None => x,
                    Some(y) => self.bitwise(Op::And, y, x, w),
                });
            }
            // So that a constant among the products is still known as one that was added.
            sum = self.xor(sum, one.unwrap_or(Terms::ZERO), w);
        }
        Some(sum)
    }

    /// Bits without which, or without whose negation, the term vanishes.
    fn bit_factors(&mut self, t: T) -> Vec<A> {
        let p = self.poly(t).clone();
        let Some((m, _)) = p.last() else { return vec![] };
        let candidates: Vec<A> = self.monos[*m as usize].iter().copied().filter(|a| self.atom_is_bit(*a)).collect();
        candidates.into_iter().filter(|a| [true, false].into_iter().any(|one| self.with_bit(t, *a, one) == Terms::ZERO)).collect()
    }

    fn sum_of_products(&mut self, op: Op, a: T, b: T, w: u32) -> T {
        // Where words have names, a constant that is added bit by bit is a summand like others: compilers move it about.
        let keep = op == Op::Xor && self.has_names();
        let (mut x, mut y) = (self.products(a, w, keep), self.products(b, w, keep));
        let many = if op == Op::Xor { x.len() + y.len() } else { x.len() * y.len() };
        if many > PRODUCTS_MAX {
            (x, y) = (Sum::from([vec![a]]), Sum::from([vec![b]]));
        }
        let xor = |x: &Sum, y: &Sum| x.symmetric_difference(y).cloned().collect::<Sum>();
        let both = if op == Op::Xor { Sum::new() } else { multiply(&x, &y) };
        let sum = match op {
            Op::And => both,
            Op::Xor => xor(&x, &y),
            Op::Or => xor(&xor(&x, &y), &both),
        };
        self.from_products(sum, w)
    }

    /// The operand as a sum of products over others.
    fn products(&mut self, t: T, w: u32, keep: bool) -> Sum {
        // A complement is one of as many bits as the choice was made for.
        if let Some((sum, _)) = self.choices.get(&t).filter(|(sum, bits)| *bits == w || !sum.contains(&vec![])) {
            return sum.clone();
        }
        if let Some((x, c)) = self.with_constant_added(t).filter(|_| keep) {
            if self.as_const(c).is_some_and(|c| c != ones(w)) {
                let mut sum = self.products(x, w, keep);
                if !sum.remove(&vec![c]) {
                    sum.insert(vec![c]);
                }
                return sum;
            }
        }
        let (base, flipped) = if self.poly(t).last().is_some_and(|(_, c)| c.is_negative()) {
            let other = self.not(t, w);
            if self.range(other).0.is_negative() { (t, false) } else { (other, true) }
        } else {
            (t, false)
        };
        let mut sum = match self.as_atom(base).map(|a| &self.atoms[a as usize].atom) {
            Some(Atom::Bits(products)) => products.iter().cloned().collect(),
            _ => Sum::from([vec![base]]),
        };
        if flipped {
            sum.insert(vec![]);
        }
        sum
    }

    fn from_products(&mut self, sum: Sum, w: u32) -> T {
        let Some((one, other)) = self.choices_split.then(|| choice(&sum)).flatten() else { return self.from_one_sum(sum, w) };
        let [one, other] = [one, other].map(|s| self.from_one_sum(s, w));
        let r = self.side_by_side(one, other);
        self.choices.entry(r).or_insert((sum, w));
        r
    }

    fn from_one_sum(&mut self, sum: Sum, w: u32) -> T {
        let mut sum = self.without_bits(sum);
        let mut flipped = sum.remove(&vec![]);
        let constants: Vec<T> = sum.iter().filter(|p| p.len() == 1).map(|p| p[0]).filter(|t| self.as_const(*t).is_some()).collect();
        if constants.len() > 1 {
            let c = constants.iter().fold(BigInt::zero(), |c, t| c ^ self.as_const(*t).unwrap_or_default());
            sum.retain(|p| p.len() != 1 || !constants.contains(&p[0]));
            if c == ones(w) {
                flipped = !flipped;
            } else if !c.is_zero() {
                sum.insert(vec![self.int(c)]);
            }
        }
        let products: Vec<Vec<T>> = sum.into_iter().collect();
        let t = match &products[..] {
            [] => Terms::ZERO,
            [one] if one.len() == 1 => one[0],
            _ => {
                let hi = self.possible(&products, w);
                let atom = Atom::Bits(products.clone());
                self.atom(atom.clone(), |s| AtomInfo {
                    atom,
                    lo: BigInt::zero(),
                    hi,
                    public: products.iter().flatten().all(|t| s.public(*t)),
                    values: (0..s.samples).map(|n| s.value_of(&products, n)).collect(),
                    spread: 0,
                })
            }
        };
        if flipped {
            self.not(t, w)
        } else {
            t
        }
    }

    /// A product of which one factor is 0 or 1 is one of the lowest bits alone.
    fn without_bits(&mut self, sum: Sum) -> Sum {
        let mut out = Sum::new();
        for mut product in sum {
            if product.len() > 1 && product.iter().any(|t| self.is_bit(*t)) {
                let bit = product.iter().fold(Terms::ONE, |all, t| {
                    let low = self.mod2k(*t, 1);
                    self.mul(all, low)
                });
                product = vec![bit];
            }
            if product != [Terms::ZERO] && !out.remove(&product) {
                out.insert(product);
            }
        }
        out
    }

    /// Bits that may be set in the sum.
    fn possible(&self, products: &[Vec<T>], w: u32) -> BigInt {
        let all = ones(w);
        products.iter().fold(BigInt::zero(), |sum, p| {
            sum | p.iter().fold(all.clone(), |m, t| m & self.ones(*t).unwrap_or_else(|| all.clone()))
        })
    }

    fn value_of(&self, products: &[Vec<T>], n: usize) -> BigInt {
        products.iter().fold(BigInt::zero(), |sum, p| {
            let mut factors = p.iter().map(|t| self.sample(*t, n).clone());
            let first = factors.next().unwrap_or_default();
            sum ^ factors.fold(first, |x, y| x & y)
        })
    }
}

/// `a & p ^ !a & q` for three values, each complemented or not: its two parts, which have no bit in common. Some compilers add
/// them, and one by one to other summands.
fn choice(sum: &Sum) -> Option<(Sum, Sum)> {
    let literal = |s: &Sum| match s.iter().filter(|p| !p.is_empty()).collect::<Vec<_>>()[..] {
        [one] if one.len() == 1 => Some(one[0]),
        _ => None,
    };
    if sum.len() > 5 || sum.iter().any(|p| p.len() > 2) {
        return None;
    }
    let names: BTreeSet<T> = sum.iter().flatten().copied().collect();
    names.into_iter().find_map(|a| {
        let (with, without): (Sum, Sum) = sum.iter().cloned().partition(|p| p.contains(&a));
        let with: Sum = with.into_iter().map(|p| p.into_iter().filter(|t| *t != a).collect()).collect();
        let chosen: Sum = with.symmetric_difference(&without).cloned().collect();
        let (p, q) = (literal(&chosen)?, literal(&without)?);
        let a = Sum::from([vec![a]]);
        let not_a = a.iter().cloned().chain([vec![]]).collect();
        (p != q).then(|| (multiply(&a, &chosen), multiply(&not_a, &without)))
    })
}

fn multiply(x: &Sum, y: &Sum) -> Sum {
    let mut out = Sum::new();
    for p in x {
        for q in y {
            let mut r: Vec<T> = p.iter().chain(q).copied().collect();
            r.sort_unstable();
            r.dedup();
            if !out.remove(&r) {
                out.insert(r);
            }
        }
    }
    out
}
