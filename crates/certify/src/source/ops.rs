//! The scalar operations of the IR as terms.
//!
//! Needs: terms.  Keeps: the meanings of [`santoku_ir::BinOp`] and its kin; words wrap, integers are exact.  Absent:
//! aggregates, ranges noted.

use crate::term::{T, Terms};
use super::stop::Stop;
use num_bigint::BigInt;
use num_traits::{One, Signed, ToPrimitive};
use santoku_ir::{BinOp, CmpOp, Ty, UnOp};

/// Largest count by which an integer is shifted.
const SHIFT_MAX: u32 = 1 << 16;

fn malformed<X>(what: &str) -> Result<X, Stop> {
    Err(Stop::Malformed(what.into()))
}

pub fn unary(terms: &mut Terms, op: UnOp, ty: &Ty, a: T) -> Result<T, Stop> {
    match (op, ty) {
        (UnOp::Neg, Ty::Word(bits)) => {
            let minus = terms.neg(a);
            Ok(terms.mod2k(minus, *bits))
        }
        (UnOp::Neg, Ty::Int(_)) => Ok(terms.neg(a)),
        (UnOp::Not, Ty::Word(bits)) => {
            let all = terms.int((BigInt::one() << *bits) - 1);
            Ok(terms.sub(all, a))
        }
        (UnOp::Not, Ty::Bool) => Ok(terms.sub(Terms::ONE, a)),
        (UnOp::Neg | UnOp::Not, _) => malformed("a unary operator on another type"),
    }
}

/// `ty`: type of the left operand.
pub fn binary(terms: &mut Terms, op: BinOp, ty: &Ty, a: T, b: T) -> Result<T, Stop> {
    match ty {
        Ty::Word(bits) => word(terms, op, *bits, a, b),
        Ty::Int(_) => int(terms, op, a, b),
        Ty::Bool => match op {
            BinOp::And => Ok(terms.and(a, b, 1)),
            BinOp::Or => Ok(terms.or(a, b, 1)),
            BinOp::Xor => Ok(terms.xor(a, b, 1)),
            _ => malformed("arithmetic on booleans"),
        },
        Ty::Array { .. } | Ty::Struct(_) => malformed("an operator on an aggregate"),
    }
}

fn word(terms: &mut Terms, op: BinOp, bits: u32, a: T, b: T) -> Result<T, Stop> {
    let exact = match op {
        BinOp::Add => terms.add(a, b),
        BinOp::Sub => terms.sub(a, b),
        BinOp::Mul => terms.mul(a, b),
        BinOp::And => return Ok(terms.and(a, b, bits)),
        BinOp::Or => return Ok(terms.or(a, b, bits)),
        BinOp::Xor => return Ok(terms.xor(a, b, bits)),
        BinOp::Shl | BinOp::Shr | BinOp::Rotl | BinOp::Rotr => return shift(terms, op, bits, a, b),
        BinOp::Div | BinOp::Mod => return malformed("division of words"),
    };
    Ok(terms.mod2k(exact, bits))
}

/// Shift by a count that is below `bits` on every execution: one value for each possible count.
fn shift(terms: &mut Terms, op: BinOp, bits: u32, a: T, count: T) -> Result<T, Stop> {
    if let Some(k) = terms.as_const(count) {
        return match k.to_u32().filter(|k| *k < bits) {
            Some(k) => shift_by(terms, op, bits, a, k),
            None => Err(Stop::OutOfRange("a shift count".into())),
        };
    }
    let (_, hi) = terms.range(count);
    let top = hi.to_u32().unwrap_or(u32::MAX).min(bits - 1);
    let shifted = (0..=top).map(|k| shift_by(terms, op, bits, a, k)).collect::<Result<Vec<T>, Stop>>()?;
    terms.pick(&shifted, count).ok_or_else(|| Stop::OutOfRange("a shift count".into()))
}

fn shift_by(terms: &mut Terms, op: BinOp, bits: u32, a: T, k: u32) -> Result<T, Stop> {
    let back = (bits - k) % bits;
    Ok(match op {
        BinOp::Shl => shl(terms, bits, a, k),
        BinOp::Shr => terms.div2k(a, k),
        BinOp::Rotl => terms.rotl(a, k, bits),
        BinOp::Rotr => terms.rotl(a, back, bits),
        _ => return malformed("a shift that is none"),
    })
}

fn shl(terms: &mut Terms, bits: u32, a: T, k: u32) -> T {
    let up = terms.scale(a, &(BigInt::one() << k));
    terms.mod2k(up, bits)
}

fn int(terms: &mut Terms, op: BinOp, a: T, b: T) -> Result<T, Stop> {
    match op {
        BinOp::Add => return Ok(terms.add(a, b)),
        BinOp::Sub => return Ok(terms.sub(a, b)),
        BinOp::Mul => return Ok(terms.mul(a, b)),
        BinOp::Or | BinOp::Xor | BinOp::Rotl | BinOp::Rotr => return malformed("bits of an exact integer"),
        BinOp::Div | BinOp::Mod | BinOp::And | BinOp::Shl | BinOp::Shr => {}
    }
    let Some(b) = terms.as_const(b) else {
        return Err(Stop::Unsupported("division or shift of an integer by something not constant".into()));
    };
    match op {
        BinOp::Shl | BinOp::Shr => {
            let Some(k) = b.to_u32().filter(|k| *k <= SHIFT_MAX) else { return Err(Stop::OutOfRange("a shift count".into())) };
            Ok(if op == BinOp::Shl { terms.scale(a, &(BigInt::one() << k)) } else { terms.div2k(a, k) })
        }
        BinOp::And => match power_of_two(&(b + 1u32)) {
            Some(k) => Ok(terms.mod2k(a, k)),
            None => malformed("bits of an exact integer"),
        },
        _ if !b.is_positive() => malformed("division by no positive constant"),
        BinOp::Div => Ok(match power_of_two(&b) {
            Some(k) => terms.div2k(a, k),
            None => terms.div(a, &b),
        }),
        _ => Ok(match power_of_two(&b) {
            Some(k) => terms.mod2k(a, k),
            None => terms.rem(a, &b),
        }),
    }
}

/// `k` where `v` is `2^k`.
fn power_of_two(v: &BigInt) -> Option<u32> {
    let k = v.trailing_zeros()?;
    (v.is_positive() && v.bits() == k + 1).then(|| k.to_u32()).flatten()
}

/// Scalars; words and booleans compare as the integers they are.
pub fn compare(terms: &mut Terms, op: CmpOp, a: T, b: T) -> T {
    let (holds, negated) = match op {
        CmpOp::Eq => (terms.eq(a, b), false),
        CmpOp::Ne => (terms.eq(a, b), true),
        CmpOp::Lt => (terms.lt(a, b), false),
        CmpOp::Ge => (terms.lt(a, b), true),
        CmpOp::Gt => (terms.lt(b, a), false),
        CmpOp::Le => (terms.lt(b, a), true),
    };
    if negated {
        terms.sub(Terms::ONE, holds)
    } else {
        holds
    }
}

pub fn cast(terms: &mut Terms, from: &Ty, to: &Ty, a: T) -> Result<T, Stop> {
    match (from, to) {
        (Ty::Word(_) | Ty::Bool, Ty::Int(_)) => Ok(a),
        (Ty::Word(m), Ty::Word(n)) if m <= n => Ok(a),
        (Ty::Bool, Ty::Word(_)) => Ok(a),
        (Ty::Int(_) | Ty::Word(_), Ty::Word(n)) => Ok(terms.mod2k(a, *n)),
        (_, _) => malformed("a conversion without meaning"),
    }
}
