//! C integer types and the choice of one from a proven range.

use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use santoku_ir::{Len, Range, StructId};

/// A C integer type of exact width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CInt {
    pub signed: bool,
    /// 8, 16, 32, 64 or 128.
    pub bits: u32,
}

pub const U32: CInt = CInt { signed: false, bits: 32 };
pub const U64: CInt = CInt { signed: false, bits: 64 };

pub fn pow2(k: u32) -> BigInt {
    BigInt::one() << k
}

impl CInt {
    pub fn unsigned(bits: u32) -> CInt {
        CInt { signed: false, bits }
    }

    pub fn name(self) -> &'static str {
        match (self.signed, self.bits) {
            (false, 8) => "uint8_t",
            (false, 16) => "uint16_t",
            (false, 32) => "uint32_t",
            (false, 64) => "uint64_t",
            (false, _) => "stk_u128",
            (true, 8) => "int8_t",
            (true, 16) => "int16_t",
            (true, 32) => "int32_t",
            (true, 64) => "int64_t",
            (true, _) => "stk_i128",
        }
    }

    pub fn range(self) -> Range {
        if self.signed {
            Range::new(-pow2(self.bits - 1), pow2(self.bits - 1) - 1)
        } else {
            Range::word(self.bits)
        }
    }

    pub fn holds(self, r: &Range) -> bool {
        self.range().contains(r)
    }

    /// The number of the type that is congruent modulo its width.
    pub fn wrapped(self, v: &BigInt) -> BigInt {
        let (whole, least) = (pow2(self.bits), self.range().lo.to_big());
        (((v - &least) % &whole) + &whole) % &whole + least
    }

    /// At least 32 bits: what C computes in without promotion to `int`.
    pub fn promoted(self) -> CInt {
        CInt { bits: self.bits.max(32), ..self }
    }

    /// The unsigned type of the same width.
    pub fn to_unsigned(self) -> CInt {
        CInt { signed: false, ..self }
    }
}

/// Narrowest type of at least `min_bits` that holds `r`; `None` if 128 bits are not enough.
pub fn narrowest(r: &Range, min_bits: u32) -> Option<CInt> {
    let signed = r.lo.is_negative();
    [8, 16, 32, 64, 128].into_iter().filter(|b| *b >= min_bits).map(|bits| CInt { signed, bits }).find(|t| t.holds(r))
}

/// Type in which storage of a word of `bits` bits is kept.
pub fn word_storage(bits: u32) -> CInt {
    let bits = [8, 16, 32, 64, 128].into_iter().find(|b| *b >= bits).unwrap_or(128);
    CInt::unsigned(bits)
}

/// Bits a range needs in two's complement, for messages.
pub fn bits_needed(r: &Range) -> u64 {
    let m = r.hi.bits().max(r.lo.bits());
    if r.lo.is_negative() {
        m + 1
    } else {
        m
    }
}

/// A literal of type `t`. `v` must be in range of `t`.
pub fn literal(v: &BigInt, t: CInt) -> String {
    match (t.signed, t.bits) {
        (false, 128) => {
            let lo = v % pow2(64);
            let hi: BigInt = v >> 64u32;
            if hi.is_zero() {
                format!("(stk_u128)UINT64_C({})", number(&lo))
            } else {
                format!("(((stk_u128)UINT64_C({}) << 64) | UINT64_C({}))", number(&hi), number(&lo))
            }
        }
        (true, 128) => {
            let least = *v == -pow2(127);
            let m = if least { pow2(127) - 1 } else { v.abs() };
            let lit = literal(&m, CInt::unsigned(128));
            match (least, v.is_negative()) {
                (true, _) => format!("(-(stk_i128){lit} - 1)"),
                (false, true) => format!("(-(stk_i128){lit})"),
                (false, false) => format!("((stk_i128){lit})"),
            }
        }
        (false, 64) => format!("UINT64_C({})", number(v)),
        (true, 64) => signed_literal(v, "INT64_C", 63),
        (false, _) => format!("UINT32_C({})", number(v)),
        (true, _) => signed_literal(v, "INT32_C", 31),
    }
}

fn signed_literal(v: &BigInt, wrap: &str, top: u32) -> String {
    if *v == -pow2(top) {
        return format!("(-{wrap}({}) - 1)", pow2(top) - 1);
    }
    if v.is_negative() {
        format!("(-{wrap}({}))", number(&v.abs()))
    } else {
        format!("{wrap}({})", number(v))
    }
}

/// Small numbers in decimal, masks and big ones in hexadecimal.
fn number(v: &BigInt) -> String {
    if *v < BigInt::from(4096) {
        v.to_string()
    } else {
        format!("0x{v:x}")
    }
}

/// A type as C stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CTy {
    Int(CInt),
    /// A SIMD register of lanes of this many bits (vector mode only).
    Vec(u32),
    Array(Box<CTy>, Len),
    Struct(StructId),
}

impl CTy {
    pub fn is_aggregate(&self) -> bool {
        matches!(self, CTy::Array(..) | CTy::Struct(_))
    }
    /// The scalar at the bottom of nested arrays.
    pub fn leaf(&self) -> &CTy {
        match self {
            CTy::Array(e, _) => e.leaf(),
            other => other,
        }
    }
    pub fn leaf_mut(&mut self) -> &mut CTy {
        match self {
            CTy::Array(e, _) => e.leaf_mut(),
            other => other,
        }
    }
}

/// No scalar is in an object of this type.
pub fn is_empty(t: &CTy) -> bool {
    matches!(t, CTy::Array(e, len) if *len == Len::Const(0) || is_empty(e))
}

/// Elements of one type are stored as the other, which holds all of their values.
pub fn adopts(have: CInt, want: CInt, values: Option<&Range>) -> bool {
    want.range().contains(&have.range()) || values.is_some_and(|r| want.holds(r)) && want.bits >= have.bits
}

/// Bits of the narrowest type that has so many.
pub fn enough(k: u32) -> u32 {
    [32, 64, 128].into_iter().find(|b| *b >= k).unwrap_or(128)
}
