//! Conditions.
//! Trusted: field.

use crate::poly::Poly;
use santoku_num::Int;

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Prop {
    /// `p == 0`, or `p ≡ 0` modulo a number.
    Zero(Poly, Option<Int>),
    /// `p >= 0`
    Least(Poly),
    /// A 0/1 polynomial is 1.
    Truth(Poly),
    Not(Box<Prop>),
    All(Vec<Prop>),
    Any(Vec<Prop>),
    Same(Box<(Prop, Prop)>),
}

impl Prop {
    pub fn is(truth: bool) -> Prop {
        Prop::Truth(Poly::constant(u8::from(truth)))
    }
    pub fn negated(self) -> Prop {
        match self {
            Prop::Not(p) => *p,
            Prop::Least(p) => Prop::Least(p.scale(&Int::Small(-1)).shift(-1i32)),
            Prop::Truth(p) => Prop::Truth(Poly::constant(1u8).sub(&p)),
            Prop::All(ps) => Prop::Any(ps.into_iter().map(Prop::negated).collect()),
            Prop::Any(ps) => Prop::All(ps.into_iter().map(Prop::negated).collect()),
            p => Prop::Not(Box::new(p)),
        }
    }
    /// Whether it is known to be so, or not so, whatever the atoms are.
    pub fn constant(&self) -> Option<bool> {
        match self {
            Prop::Truth(p) | Prop::Zero(p, None) | Prop::Least(p) => {
                let c = p.as_const()?;
                Some(match self {
                    Prop::Truth(_) => c != Int::ZERO,
                    Prop::Zero(..) => c == Int::ZERO,
                    _ => !c.is_negative(),
                })
            }
            Prop::Zero(p, Some(m)) => p.modulo(m)?.as_const().map(|c| c == Int::ZERO),
            Prop::Not(p) => p.constant().map(|t| !t),
            Prop::All(ps) if ps.iter().any(|p| p.constant() == Some(false)) => Some(false),
            Prop::All(ps) => ps.iter().map(Prop::constant).collect::<Option<Vec<_>>>().map(|_| true),
            Prop::Any(ps) if ps.iter().any(|p| p.constant() == Some(true)) => Some(true),
            Prop::Any(ps) => ps.iter().map(Prop::constant).collect::<Option<Vec<_>>>().map(|_| false),
            Prop::Same(two) => Some(two.0.constant()? == two.1.constant()?),
        }
    }
}
