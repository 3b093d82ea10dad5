//! Values of expressions: polynomials with what is known of their size.

use crate::itv::Itv;
use super::poly::Poly;
use num_bigint::BigInt;

/// A polynomial with an interval that may be tighter than its monomials tell.
#[derive(Clone, Debug)]
pub struct Num {
    pub p: Poly,
    pub iv: Itv,
}

impl Num {
    pub fn constant(c: impl Into<BigInt>) -> Num {
        let c = c.into();
        Num { iv: Itv::point(&c), p: Poly::constant(c) }
    }
}
