//! Operations on bits, and selections that are made of them.

use super::arena::{Bit, Node, Terms, Var, T};
use santoku_num::{Int, Itv};

impl Terms {
    /// Bitwise, of numbers that are not negative; a mask `2^k - 1` takes the remainder of any number.
    pub fn bits(&mut self, op: Bit, args: Vec<T>) -> T {
        let mut flat = vec![];
        for t in args {
            match self.node(t) {
                Node::Bits(o, ts) if *o == op => flat.extend(ts.iter().copied()),
                _ => flat.push(t),
            }
        }
        flat.sort_unstable();
        if op == Bit::Xor {
            flat = self.toggled(flat);
        }
        let (constants, mut rest): (Vec<T>, Vec<T>) = flat.into_iter().partition(|t| self.value(*t).is_some());
        if op == Bit::Xor {
            rest = odd(&rest);
        } else {
            rest.dedup();
        }
        let constant = constants.iter().filter_map(|t| self.value(*t)).reduce(|a, b| match op {
            Bit::And => a.and(&b),
            Bit::Or => a.or(&b),
            Bit::Xor => a.xor(&b),
        });
        if rest.is_empty() {
            return self.int(constant.unwrap_or(Int::ZERO));
        }
        if let Some(c) = constant {
            if c.is_zero() {
                return if op == Bit::And { self.int(0) } else { self.bits(op, rest) };
            }
            if let (Bit::And, [one]) = (op, rest.as_slice()) {
                if let Node::Mask(cond, k) = *self.node(*one) {
                    let c = self.int(c);
                    let c = self.modulo(c, k);
                    return self.add_node(Node::Masked(cond, c));
                }
            }
            if let (Bit::And, Some(k)) = (op, c.add(&Int::ONE).log2()) {
                let all = self.bits(op, rest);
                return self.modulo(all, k);
            }
            if op == Bit::Xor && c == Int::ONE && rest.iter().all(|t| !matches!(self.node(*t), Node::Masked(..))) {
                let all = self.bits(op, rest.clone());
                if self.within(all, &Itv::bool()) {
                    return self.not(all);
                }
            }
            if op == Bit::And && !c.is_negative() {
                // Higher bits do not matter.
                let k = c.bits() as u32;
                rest = rest.into_iter().map(|t| self.modulo(t, k)).collect();
                rest.sort_unstable();
                rest.dedup();
            }
            let c = self.int(c);
            rest.push(c);
            rest.sort_unstable();
        }
        match rest.as_slice() {
            [one] => match *self.node(*one) {
                Node::Masked(c, x) if op == Bit::Xor => {
                    let zero = self.int(0);
                    self.select(c, x, zero)
                }
                _ => *one,
            },
            _ => self.masked(op, rest),
        }
    }

    /// With conditions themselves in the place of their opposites, and a 1 for each.
    pub fn toggled(&mut self, ts: Vec<T>) -> Vec<T> {
        let mut out = vec![];
        for t in ts {
            let other = self.not(t);
            let sum = |t: T, me: &Terms| matches!(me.node(t), Node::Poly(_));
            let opposite = sum(t, self) && self.value(t).is_none() && self.within(other, &Itv::bool()) && (!sum(other, self) || other < t);
            if !opposite {
                out.push(t);
                continue;
            }
            match self.node(other) {
                Node::Bits(Bit::Xor, us) => out.extend(us.clone()),
                _ => out.push(other),
            }
            out.push(self.int(1));
        }
        out.sort_unstable();
        out
    }

    /// `mask & x`, and `y ^ (mask & (x ^ y))`.
    pub fn masked(&mut self, op: Bit, ts: Vec<T>) -> T {
        let t = self.masked_bits(op, ts);
        // Some bits are known, and no others are there.
        match self.range(t).single().cloned() {
            Some(v) => self.int(v),
            None => t,
        }
    }

    pub fn masked_bits(&mut self, op: Bit, ts: Vec<T>) -> T {
        let at = ts.iter().position(|t| match (op, self.node(*t)) {
            (Bit::And, Node::Mask(..)) => true,
            (Bit::Xor, Node::Masked(..)) => true,
            _ => false,
        });
        let Some(at) = at else { return self.add_node(Node::Bits(op, ts)) };
        let mut rest = ts.clone();
        let found = rest.remove(at);
        match (self.node(found).clone(), rest.as_slice()) {
            (Node::Mask(c, k), [x]) if self.within(*x, &Itv::word(k)) => {
                self.add_node(Node::Masked(c, *x))
            }
            (Node::Masked(c, x), _) => {
                let y = self.bits(op, rest);
                let x = self.bits(op, vec![x, y]);
                self.select(c, x, y)
            }
            _ => self.add_node(Node::Bits(op, ts)),
        }
    }

    pub fn mask(&mut self, c: T, k: u32) -> T {
        match self.value(c) {
            Some(v) => self.int(if v.is_zero() { Int::ZERO } else { Int::mask(k) }),
            None => self.add_node(Node::Mask(c, k)),
        }
    }

    /// A word of `bits` bits, shifted or rotated by a count below that.
    pub fn by_count(&mut self, how: Var, t: T, count: T, bits: u32) -> T {
        match (how, self.value(count).and_then(|v| v.to_u64())) {
            (Var::Shl, Some(k)) if k < u64::from(bits) => {
                let up = self.scale(t, &Int::pow2(k as u32));
                self.modulo(up, bits)
            }
            (Var::Shr, Some(k)) if k < u64::from(bits) => self.shr(t, k as u32),
            (Var::Rotl, Some(k)) => {
                let k = (k % u64::from(bits)) as u32;
                let up = self.scale(t, &Int::pow2(k));
                let up = self.modulo(up, bits);
                let down = self.shr(t, bits - k);
                self.bits(Bit::Or, vec![up, down])
            }
            _ => self.add_node(Node::Var(how, t, count, bits)),
        }
    }

    /// All bits of a word of `k` bits flipped.
    pub fn complement(&mut self, t: T, k: u32) -> T {
        let ones = self.int(Int::mask(k));
        match *self.node(t) {
            Node::Mod(u, j) if j >= k => {
                let flipped = self.sub(ones, u);
                self.modulo(flipped, k)
            }
            _ => self.sub(ones, t),
        }
    }
}

/// Those that occur an odd number of times, in order.
fn odd(ts: &[T]) -> Vec<T> {
    let mut out: Vec<T> = vec![];
    for t in ts {
        if out.last() == Some(t) {
            out.pop();
        } else {
            out.push(*t);
        }
    }
    out
}
