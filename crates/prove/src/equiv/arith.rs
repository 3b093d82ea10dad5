//! Sums, products, floor division: linear forms over words and exact integers.
//!
//! Needs: [`super::dag`].  Keeps: the value of every term. Words are modulo `2^bits` throughout, so the same
//! forms serve both sorts.  Absent: facts about ranges; a rule holds for every value of its operands.

use super::dag::{Dag, Id, Node, Sort};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

const PROD_FACTORS_MAX: usize = 4;

impl Dag {
    /// A constant, reduced to its sort.
    pub fn constant(&mut self, v: impl Into<BigInt>, sort: Sort) -> Id {
        let v = reduce(v.into(), sort);
        self.intern(Node::Const(v), sort)
    }
    pub fn int(&mut self, v: impl Into<BigInt>) -> Id {
        self.constant(v, Sort::Int)
    }
    pub fn bool(&mut self, b: bool) -> Id {
        self.constant(u8::from(b), Sort::Bool)
    }

    /// A term as `sum(coefficient * term) + constant`.
    fn linear(&self, x: Id) -> (Vec<(Id, BigInt)>, BigInt) {
        match self.node(x) {
            Node::Const(v) => (Vec::new(), v.clone()),
            Node::Sum(terms, c) => (terms.clone(), c.clone()),
            _ => (vec![(x, BigInt::one())], BigInt::zero()),
        }
    }

    /// `sum(coefficient * term) + constant` in normal form; the terms are no sums themselves.
    fn sum(&mut self, mut terms: Vec<(Id, BigInt)>, c: BigInt, sort: Sort) -> Id {
        terms.sort_by_key(|t| t.0);
        let mut merged: Vec<(Id, BigInt)> = Vec::with_capacity(terms.len());
        for (id, k) in terms {
            match merged.last_mut() {
                Some(last) if last.0 == id => last.1 += k,
                _ => merged.push((id, k)),
            }
        }
        for term in &mut merged {
            term.1 = reduce(std::mem::take(&mut term.1), sort);
        }
        merged.retain(|t| !t.1.is_zero());
        let c = reduce(c, sort);
        match merged.as_slice() {
            [] => self.constant(c, sort),
            [(id, k)] if k.is_one() && c.is_zero() => *id,
            _ => self.intern(Node::Sum(merged, c), sort),
        }
    }

    /// `a + k * b`
    fn add_scaled(&mut self, a: Id, b: Id, k: &BigInt) -> Id {
        let sort = self.sort(a);
        let (mut terms, c) = self.linear(a);
        let (more, d) = self.linear(b);
        if terms.len() + more.len() > self.sum_terms_max {
            return self.sum(vec![(a, BigInt::one()), (b, k.clone())], BigInt::zero(), sort);
        }
        terms.extend(more.into_iter().map(|(id, m)| (id, m * k)));
        self.sum(terms, c + d * k, sort)
    }

    pub fn add(&mut self, a: Id, b: Id) -> Id {
        self.add_scaled(a, b, &BigInt::one())
    }
    pub fn sub(&mut self, a: Id, b: Id) -> Id {
        self.add_scaled(a, b, &BigInt::from(-1))
    }
    pub fn neg(&mut self, a: Id) -> Id {
        self.scale(a, &BigInt::from(-1))
    }
    /// `k * a`
    pub fn scale(&mut self, a: Id, k: &BigInt) -> Id {
        let sort = self.sort(a);
        let (terms, c) = self.linear(a);
        self.sum(terms.into_iter().map(|(id, m)| (id, m * k)).collect(), c * k, sort)
    }

    /// `coefficient * product of factors` of a term.
    fn factors(&self, x: Id) -> (BigInt, Vec<Id>) {
        match self.node(x) {
            Node::Sum(terms, c) if c.is_zero() && terms.len() == 1 => {
                (terms[0].1.clone(), self.factors(terms[0].0).1)
            }
            Node::Prod(xs) => (BigInt::one(), xs.clone()),
            _ => (BigInt::one(), vec![x]),
        }
    }

    pub fn mul(&mut self, a: Id, b: Id) -> Id {
        if let Some(k) = self.as_const(a).cloned() {
            return self.scale(b, &k);
        }
        if let Some(k) = self.as_const(b).cloned() {
            return self.scale(a, &k);
        }
        let sort = self.sort(a);
        let (k, mut xs) = self.factors(a);
        let (m, ys) = self.factors(b);
        if xs.len() + ys.len() > PROD_FACTORS_MAX {
            xs = vec![a.min(b), a.max(b)];
            return self.intern(Node::Prod(xs), sort);
        }
        xs.extend(ys);
        xs.sort_unstable();
        let product = self.intern(Node::Prod(xs), sort);
        self.scale(product, &(k * m))
    }

    /// Floor division of an int by a positive constant: what `d` divides leaves the quotient.
    pub fn div(&mut self, x: Id, d: &BigInt) -> Id {
        if d.is_one() {
            return x;
        }
        let (whole, rest) = self.split(x, d);
        let quotient = match self.node(rest).clone() {
            Node::Const(v) => self.int(v.div_floor(d)),
            Node::Div(y, e) => self.div(y, &(e * d)),
            _ if fits(self.bits_max(rest), d) => self.int(0),
            _ => self.intern(Node::Div(rest, d.clone()), Sort::Int),
        };
        self.add(whole, quotient)
    }

    /// Floor remainder of an int by a positive constant.
    pub fn modulo(&mut self, x: Id, d: &BigInt) -> Id {
        if d.is_one() {
            return self.int(0);
        }
        let (_, rest) = self.split(x, d);
        match self.node(rest).clone() {
            Node::Const(v) => self.int(v.mod_floor(d)),
            Node::Mod(y, e) if e.is_multiple_of(d) => self.modulo(y, d),
            _ if fits(self.bits_max(rest), d) => rest,
            _ => self.intern(Node::Mod(rest, d.clone()), Sort::Int),
        }
    }

    /// `x = d * whole + rest`, where no coefficient of `rest` is a multiple of `d` and its constant is in `0..d`.
    fn split(&mut self, x: Id, d: &BigInt) -> (Id, Id) {
        let (terms, c) = self.linear(x);
        let (multiples, others): (Vec<_>, Vec<_>) = terms.into_iter().partition(|t| t.1.is_multiple_of(d));
        let whole = multiples.into_iter().map(|(id, k)| (id, k / d)).collect();
        let (q, r) = c.div_mod_floor(d);
        (self.sum(whole, q, Sort::Int), self.sum(others, r, Sort::Int))
    }

    /// Difference of two ints or words when it does not depend on any input.
    pub fn const_difference(&mut self, a: Id, b: Id) -> Option<BigInt> {
        let d = self.sub(a, b);
        self.as_const(d).cloned()
    }

    /// `a < b`; words compare unsigned.
    pub fn lt(&mut self, a: Id, b: Id) -> Id {
        if a == b {
            return self.bool(false);
        }
        if let (Some(x), Some(y)) = (self.as_const(a), self.as_const(b)) {
            let less = x < y;
            return self.bool(less);
        }
        if self.sort(a) != Sort::Int {
            return self.intern(Node::Lt(a, b), Sort::Bool);
        }
        // a - b = p + c < 0 where p has no constant: p < -c.
        let difference = self.sub(a, b);
        let (terms, c) = self.linear(difference);
        if terms.is_empty() {
            return self.bool(c.is_negative());
        }
        let p = self.sum(terms, BigInt::zero(), Sort::Int);
        let bound = self.int(-c);
        self.intern(Node::Lt(p, bound), Sort::Bool)
    }

    /// Equality of two scalars of one sort.
    pub fn eq_scalar(&mut self, a: Id, b: Id) -> Id {
        if a == b {
            return self.bool(true);
        }
        let sort = self.sort(a);
        if sort == Sort::Bool {
            let differ = self.xor(a, b);
            return self.not(differ);
        }
        let Some(difference) = self.const_difference(a, b) else {
            return self.intern(Node::Eq(a.min(b), a.max(b)), Sort::Bool);
        };
        self.bool(difference.is_zero())
    }
}

/// The representative of a constant in its sort.
pub fn reduce(v: BigInt, sort: Sort) -> BigInt {
    match sort {
        Sort::Word(bits) if v.is_negative() || v.bits() > u64::from(bits) => {
            v.mod_floor(&(BigInt::one() << bits))
        }
        Sort::Bool => v.mod_floor(&BigInt::from(2)),
        Sort::Word(_) | Sort::Int | Sort::Agg(_) => v,
    }
}

/// Is everything below `2^bits` below `d`?
fn fits(bits: u32, d: &BigInt) -> bool {
    bits != u32::MAX && u64::from(bits) < d.bits()
}

/// `k` when `v = 2^k`.
pub fn log2(v: &BigInt) -> Option<u32> {
    let k = v.bits().checked_sub(1)?;
    (v.is_positive() && v.trailing_zeros() == Some(k)).then(|| k.to_u32())?
}
