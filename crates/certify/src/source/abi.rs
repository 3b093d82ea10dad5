//! How the arguments and results of an IR function travel, as terms, and under a convention that is not the source's.
//!
//! Needs: the calling convention ([`santoku_bytes::abi`]).  Keeps: the values of a narrow type without what it is extended with.
//! Absent: where arguments are.

use super::convention::Convention;
use crate::term::{Terms, T};
use num_bigint::BigInt;
use num_traits::One;
use santoku_bytes::abi::{signature_of, Passing};
pub use santoku_bytes::abi::{signature, Arg, Kind, Place, Role, Scalar, Signature};
use santoku_bytes::layout::NoLayout;
use santoku_ir::{Func, Program};

/// The signature that is left of a function's under a convention: without the arguments that the code does not get.
///
/// # Errors
/// Those of [`signature`]; [`NoLayout::Malformed`] for a convention that fits no function.
pub fn signature_under(program: &Program, func: &Func, xlen: u32, convention: &Convention) -> Result<Signature, NoLayout> {
    let passing = |role: Role| match convention.0.get(&role) {
        None => Passing::AsSaid,
        Some(change) if change.seat => Passing::Skipped,
        Some(_) => Passing::Absent,
    };
    signature_of(program, func, xlen, &passing, &|ty| convention.shape(func, ty).map_err(|_| NoLayout::Malformed))
}

/// Values in registers.
pub trait InRegisters {
    /// The register contents (or stack slots) of a value of this type, low part first: words of `xlen` bits.
    fn words(&self, terms: &mut Terms, value: T, xlen: u32) -> Vec<T>;
    /// The value in register contents, low part first. What a narrow value is extended with is not looked at.
    fn value(&self, terms: &mut Terms, words: &[T], xlen: u32) -> T;
}

impl InRegisters for Scalar {
    fn words(&self, terms: &mut Terms, value: T, xlen: u32) -> Vec<T> {
        let all = terms.mod2k(value, self.bits);
        if self.bits > xlen {
            return vec![terms.mod2k(all, xlen), terms.div2k(all, xlen)];
        }
        if self.bits == xlen {
            return vec![all];
        }
        // 32 bits in a register of 64: copies of bit 31 above.
        let signed = terms.signed(all, self.bits);
        vec![terms.mod2k(signed, xlen)]
    }

    fn value(&self, terms: &mut Terms, words: &[T], xlen: u32) -> T {
        let mut all = Terms::ZERO;
        for (k, word) in words.iter().enumerate() {
            let part = terms.scale(*word, &(BigInt::one() << (k as u32 * xlen)));
            all = terms.add(all, part);
        }
        let all = terms.mod2k(all, self.bits);
        if !self.signed {
            return all;
        }
        terms.signed(all, self.bits)
    }
}
