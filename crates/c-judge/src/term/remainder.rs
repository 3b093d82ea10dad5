//! Remainders and quotients: what wraps, and what is shown not to.

use super::arena::{Monomial, Node, Terms, T};
use santoku_num::{Int, Itv};

impl Terms {
    /// The remainder by `2^k` that is not negative.
    pub fn modulo(&mut self, t: T, k: u32) -> T {
        if k == 0 {
            return self.int(0);
        }
        let r = self.range(t);
        if Itv::word(k).contains(&r) {
            return t;
        }
        match self.node(t).clone() {
            Node::Mod(u, j) if j >= k => self.modulo(u, k),
            Node::Bits(op, ts) => {
                let ts = ts.into_iter().map(|u| self.modulo(u, k)).collect();
                self.bits(op, ts)
            }
            Node::Sel(c, a, b) => {
                let (a, b) = (self.modulo(a, k), self.modulo(b, k));
                self.select(c, a, b)
            }
            Node::Poly(ms) => self.poly_modulo(t, ms, k),
            _ if r.lo.shr(k) == r.hi.shr(k) => {
                let below = self.int(r.lo.shr(k).shl(k));
                self.sub(t, below)
            }
            _ => self.add_node(Node::Mod(t, k)),
        }
    }

    /// What a number of a type of `k` bits is to be told from, whatever is known of the choice that it is.
    pub fn residue(&mut self, t: T, k: u32) -> T {
        match *self.node(t) {
            Node::Sel(c, a, b) => {
                let (a, b) = (self.residue(a, k), self.residue(b, k));
                self.select(c, a, b)
            }
            Node::Mod(u, j) if j >= k => self.residue(u, k),
            Node::Bits(op, ref ts) => {
                let ts = ts.clone().into_iter().map(|u| self.residue(u, k)).collect();
                self.bits(op, ts)
            }
            _ => self.modulo(t, k),
        }
    }

    pub fn poly_modulo(&mut self, t: T, ms: Vec<(Monomial, Int)>, k: u32) -> T {
        let whole = Int::pow2(k);
        let mut sum = self.int(0);
        for (m, c) in ms {
            let c = centred(&c, k);
            let mut one = self.int(c.clone());
            for f in m {
                let f = match *self.node(f) {
                    _ if c.is_zero() => f,
                    Node::Mod(u, j) if j >= k => u,
                    Node::Sel(..) | Node::Bits(..) => self.residue(f, k),
                    _ => f,
                };
                one = self.mul(one, f);
            }
            sum = self.add(sum, one);
        }
        if sum != t {
            return self.modulo(sum, k);
        }
        let r = self.range(t);
        let below = r.lo.shr(k).shl(k);
        if r.hi.sub(&below) < whole {
            let below = self.int(below);
            return self.sub(t, below);
        }
        // Or, with every factor below 2^k.
        let up: Vec<_> = self.monomials(t).into_iter().map(|(m, c)| (m, c.mod_floor(&whole).unwrap_or(c))).collect();
        let up = self.sum(up);
        if self.within(up, &Itv::word(k)) {
            return up;
        }
        self.of_condition(t, k).unwrap_or_else(|| self.add_node(Node::Mod(t, k)))
    }

    /// `a + b*c` of a condition `c`, or of a product that is one: one of two numbers.
    pub fn of_condition(&mut self, t: T, k: u32) -> Option<T> {
        let (ms, whole) = (self.monomials(t), Int::pow2(k));
        let (a, (m, b)) = match ms.as_slice() {
            [(m, b)] => (Int::ZERO, (m, b)),
            [(one, a), (m, b)] if one.is_empty() => (a.clone(), (m, b)),
            _ => return None,
        };
        let c = self.poly(vec![(m.clone(), Int::ONE)]);
        if !self.within(c, &Itv::bool()) {
            return None;
        }
        let (none, one) = (a.mod_floor(&whole)?, a.add(b).mod_floor(&whole)?);
        let up = self.scale(c, &one.sub(&none));
        let none = self.int(none);
        Some(self.add(none, up))
    }

    /// The number of a signed type of `k` bits that is congruent.
    pub fn signed(&mut self, t: T, k: u32) -> T {
        let half = Int::pow2(k - 1);
        if self.within(t, &Itv::new(half.neg(), half.sub(&Int::ONE))) {
            return t;
        }
        match *self.node(t) {
            Node::Mod(u, j) if j >= k => self.signed(u, k),
            Node::Sel(c, a, b) => {
                let (a, b) = (self.signed(a, k), self.signed(b, k));
                self.select(c, a, b)
            }
            _ => {
                let half = self.int(half);
                let up = self.add(t, half);
                let up = self.modulo(up, k);
                self.sub(up, half)
            }
        }
    }

    pub fn shr(&mut self, t: T, k: u32) -> T {
        let r = self.range(t);
        if k == 0 {
            return t;
        }
        if r.lo.shr(k) == r.hi.shr(k) {
            return self.int(r.lo.shr(k));
        }
        match self.node(t).clone() {
            Node::Shr(u, j) => self.add_node(Node::Shr(u, j + k)),
            Node::Poly(ms) if ms.iter().all(|(_, c)| c.shr(k).shl(k) == *c) => self.sum(ms.into_iter().map(|(m, c)| (m, c.shr(k)))),
            _ => self.add_node(Node::Shr(t, k)),
        }
    }

    /// The floor of a quotient by a positive constant.
    pub fn div(&mut self, t: T, d: &Int) -> T {
        if let Some(k) = d.log2() {
            return self.shr(t, k);
        }
        let r = self.range(t);
        match (r.lo.div_floor(d), r.hi.div_floor(d)) {
            (Some(a), Some(b)) if a == b => self.int(a),
            _ => self.add_node(Node::Div(t, d.clone())),
        }
    }

    pub fn rem(&mut self, t: T, d: &Int) -> T {
        if let Some(k) = d.log2() {
            return self.modulo(t, k);
        }
        if self.within(t, &Itv::new(Int::ZERO, d.sub(&Int::ONE))) {
            return t;
        }
        self.add_node(Node::Rem(t, d.clone()))
    }

    /// 1 where C's quotient by a positive constant, which is cut towards zero, is not the floor.
    pub fn cut(&mut self, t: T, d: &Int) -> T {
        if !self.range(t).lo.is_negative() {
            return self.int(0);
        }
        self.add_node(Node::Cut(t, d.clone()))
    }

    /// `t` divided by a constant, exactly.
    pub fn exact(&mut self, t: T, d: &Int) -> Option<T> {
        let ms = self.monomials(t);
        let divided = ms.into_iter().map(|(m, c)| Some((m, c.div_floor(d).filter(|q| q.mul(d) == c)?))).collect::<Option<Vec<_>>>()?;
        Some(self.sum(divided))
    }
}

/// The number above `-2^(k-1)`, at most `2^(k-1)`, that is congruent modulo `2^k`.
pub fn centred(c: &Int, k: u32) -> Int {
    let half = Int::pow2(k - 1);
    half.sub(&half.sub(c).mod_floor(&Int::pow2(k)).unwrap_or(Int::ZERO))
}
