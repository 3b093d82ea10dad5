//! Orders, equalities and what is chosen by them.

use super::arena::{Bit, Node, Terms, T};
use super::remainder::centred;
use santoku_num::{Int, Itv};

impl Terms {
    pub fn lt(&mut self, a: T, b: T) -> T {
        let (x, y) = (self.range(a), self.range(b));
        if x.hi < y.lo || x.lo >= y.hi || a == b {
            return self.int(Int::from(i128::from(x.hi < y.lo)));
        }
        if let (Some(zero), [(m, p), (n, q)]) = (self.value(b), self.monomials(a).as_slice()) {
            // C's remainder is negative exactly where its quotient is cut.
            for (m, p, n, q) in [(m, p, n, q), (n, q, m, p)] {
                if let ([r], [c]) = (m.as_slice(), n.as_slice()) {
                    if let (Node::Rem(x, d), Node::Cut(y, e)) = (self.node(*r), self.node(*c)) {
                        if zero.is_zero() && *p == Int::ONE && x == y && d == e && q.neg() == *d {
                            return *c;
                        }
                    }
                }
            }
        }
        self.add_node(Node::Lt(a, b))
    }

    pub fn eq(&mut self, a: T, b: T) -> T {
        if a == b {
            return self.int(1);
        }
        let (x, y) = (self.range(a), self.range(b));
        if x.hi < y.lo || y.hi < x.lo {
            return self.int(0);
        }
        let d = self.sub(a, b);
        let words = [32, 64, 128].into_iter().filter(|k| Itv::word(*k).contains(&x.join(&y))).collect::<Vec<u32>>();
        for k in words {
            let p = self.stripped(d, k);
            let (r, whole) = (self.range(p), Int::pow2(k));
            if r.lo > whole.neg() && r.hi < whole {
                return self.is_zero(p);
            }
        }
        self.is_zero(d)
    }

    /// 1 for 0, else 0.
    pub fn is_zero(&mut self, d: T) -> T {
        let r = self.range(d);
        if !r.holds(Int::ZERO) {
            return self.int(0);
        }
        if self.value(d).is_some() {
            return self.int(1);
        }
        // With a condition that is 0, and with one that is 1.
        for (m, k) in self.monomials(d) {
            if let [c] = m.as_slice() {
                if self.within(*c, &Itv::bool()) {
                    let part = self.scale(*c, &k);
                    let rest = self.sub(d, part);
                    let r = self.range(rest);
                    if !r.holds(Int::ZERO) && !r.holds(k.neg()) {
                        return self.int(0);
                    }
                }
            }
        }
        let other = self.neg(d);
        self.add_node(Node::Zero(d.min(other)))
    }

    /// A number that is congruent modulo `2^k`, without remainders by that.
    pub fn stripped(&mut self, t: T, k: u32) -> T {
        match self.node(t).clone() {
            Node::Mod(u, j) if j >= k => self.stripped(u, k),
            Node::Sel(c, a, b) => {
                let (a, b) = (self.stripped(a, k), self.stripped(b, k));
                self.select(c, a, b)
            }
            Node::Poly(ms) => {
                let mut sum = self.int(0);
                for (m, c) in ms {
                    let mut one = self.int(centred(&c, k));
                    for f in m {
                        let f = self.stripped(f, k);
                        one = self.mul(one, f);
                    }
                    sum = self.add(sum, one);
                }
                sum
            }
            _ => t,
        }
    }

    pub fn not(&mut self, t: T) -> T {
        let one = self.int(1);
        self.sub(one, t)
    }

    pub fn select(&mut self, c: T, a: T, b: T) -> T {
        if a == b {
            return a;
        }
        match (self.value(c), self.value(a), self.value(b)) {
            (Some(c), ..) => if c.is_zero() { b } else { a },
            (None, Some(x), Some(y)) if y.is_zero() && x == Int::ONE => c,
            (None, Some(x), Some(y)) if x.is_zero() && y == Int::ONE => self.not(c),
            // A remainder is made from it.
            (None, Some(x), Some(y)) if matches!(self.node(c), Node::Cut(..)) => {
                let up = self.scale(c, &x.sub(&y));
                self.add(up, b)
            }
            _ => self.add_node(Node::Sel(c, a, b)),
        }
    }

    /// 1 where all of these are 0, for all indices in them.
    pub fn zeros(&mut self, mut all: Vec<T>) -> T {
        if all.iter().any(|t| self.value(*t).is_some_and(|v| !v.is_zero())) {
            return self.int(0);
        }
        all.retain(|t| self.value(*t).is_none());
        all.sort_unstable();
        all.dedup();
        // A sign that equality with a number without one shows.
        for t in all.clone() {
            if let Node::Shr(m, k) = *self.node(t) {
                let shown = all.iter().any(|u| match self.node(*u).clone() {
                    Node::Bits(Bit::Xor, ts) => ts.len() == 2 && ts.contains(&m) && ts.iter().any(|y| *y != m && self.within(*y, &Itv::word(k))),
                    _ => false,
                });
                if shown {
                    all.retain(|u| *u != t);
                }
            }
        }
        if all.is_empty() { self.int(1) } else { self.add_node(Node::Zeros(all)) }
    }

    /// The two halves of what a word of 128 bits has, or the word: what is or-ed together to see whether anything is there.
    pub fn gathered(&self, t: T) -> Vec<T> {
        match self.node(t) {
            Node::Bits(Bit::Or, ts) => ts.iter().flat_map(|u| self.gathered(*u)).collect(),
            _ => vec![t],
        }
    }
}
