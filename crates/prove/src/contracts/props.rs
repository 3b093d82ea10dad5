//! Conditions on integers, and facts.

use crate::algebra::Poly;
use num_bigint::BigInt;

/// A condition on integers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prop {
    True,
    False,
    /// `p == 0`
    Zero(Poly),
    /// `p ≡ 0 mod m`
    Cong(Poly, BigInt),
    /// `p >= 0`, with what is known of its interval.
    NonNeg(Poly),
    /// A 0/1 polynomial is 1.
    Flag(Poly),
    Not(Box<Prop>),
    And(Vec<Prop>),
    Or(Vec<Prop>),
    Implies(Box<Prop>, Box<Prop>),
    Iff(Box<Prop>, Box<Prop>),
}

impl Prop {
    pub fn and(ps: Vec<Prop>) -> Prop {
        let mut out = Vec::new();
        for p in ps {
            match p {
                Prop::True => {}
                Prop::False => return Prop::False,
                Prop::And(qs) => out.extend(qs),
                p => out.push(p),
            }
        }
        match out.len() {
            0 => Prop::True,
            1 => out.remove(0),
            _ => Prop::And(out),
        }
    }
    pub fn negate(self) -> Prop {
        match self {
            Prop::True => Prop::False,
            Prop::False => Prop::True,
            Prop::Not(p) => *p,
            Prop::NonNeg(p) => Prop::NonNeg(p.neg().sub(&Poly::constant(1))),
            Prop::Flag(p) => Prop::Flag(Poly::constant(1).sub(&p)),
            p => Prop::Not(Box::new(p)),
        }
    }
}

/// A polynomial that is zero, exactly or modulo a constant.
#[derive(Clone, Debug)]
pub struct Fact {
    pub p: Poly,
    pub modulus: Option<BigInt>,
}
