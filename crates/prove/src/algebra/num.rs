//! Values of expressions: polynomials with what is known of their size.

use super::iv::Iv;
use super::poly::Poly;
use num_bigint::BigInt;

/// A polynomial with an interval that may be tighter than its monomials tell.
#[derive(Clone, Debug)]
pub struct Num {
    pub p: Poly,
    pub iv: Iv,
}

impl Num {
    pub fn constant(c: impl Into<BigInt>) -> Num {
        let c = c.into();
        Num { iv: Iv::point(&c), p: Poly::constant(c) }
    }
}
