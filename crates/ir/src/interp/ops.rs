//! The scalar operations: the table of meanings behind [`BinOp`], [`UnOp`] and [`CmpOp`].

use super::fault::{Fault, FaultKind};
use super::value::Value;
use crate::data::{BinOp, CmpOp, UnOp};
use crate::limits::INT_BITS;
use santoku_num::Int;
use std::cmp::Ordering;

pub(super) type Run<T> = Result<T, Box<Fault>>;

/// What the operands of an operation are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// `mask` is the greatest word of `bits` bits.
    Word { bits: u32, mask: u128 },
    Int,
    Bool,
}

/// The greatest word of `bits` (1..=128) bits.
pub(super) fn mask(bits: u32) -> u128 {
    u128::MAX >> (128 - bits.clamp(1, 128))
}

fn mismatch(what: &str) -> Box<Fault> {
    Fault::internal(format!("operands of {what} do not fit their type"))
}

pub(super) fn unary(op: UnOp, kind: Kind, a: Value) -> Run<Value> {
    match (op, kind, a) {
        (UnOp::Neg, Kind::Word { mask, .. }, Value::Word(w)) => Ok(Value::Word(w.wrapping_neg() & mask)),
        (UnOp::Neg, Kind::Int, Value::Int(v)) => Ok(Value::Int(v.neg())),
        (UnOp::Not, Kind::Word { mask, .. }, Value::Word(w)) => Ok(Value::Word(!w & mask)),
        (UnOp::Not, Kind::Bool, Value::Bool(b)) => Ok(Value::Bool(!b)),
        _ => Err(mismatch("a unary operator")),
    }
}

pub(super) fn binary(op: BinOp, kind: Kind, a: Value, b: Value) -> Run<Value> {
    match (kind, a, b) {
        (Kind::Int, Value::Int(x), Value::Int(y)) => int_binary(op, &x, &y).map(Value::Int),
        (Kind::Word { mask, .. }, Value::Word(x), Value::Word(y)) => word_binary(op, mask, x, y).map(Value::Word),
        (Kind::Word { bits, mask }, Value::Word(x), Value::Int(count)) => {
            word_shift(op, bits, mask, x, &count).map(Value::Word)
        }
        (Kind::Bool, Value::Bool(x), Value::Bool(y)) => match op {
            BinOp::And => Ok(Value::Bool(x & y)),
            BinOp::Or => Ok(Value::Bool(x | y)),
            BinOp::Xor => Ok(Value::Bool(x ^ y)),
            BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Mod => Err(mismatch("arithmetic")),
            BinOp::Shl | BinOp::Shr | BinOp::Rotl | BinOp::Rotr => Err(mismatch("a shift")),
        },
        _ => Err(mismatch("a binary operator")),
    }
}

fn word_binary(op: BinOp, mask: u128, x: u128, y: u128) -> Run<u128> {
    Ok(match op {
        BinOp::Add => x.wrapping_add(y) & mask,
        BinOp::Sub => x.wrapping_sub(y) & mask,
        BinOp::Mul => x.wrapping_mul(y) & mask,
        BinOp::And => x & y,
        BinOp::Or => x | y,
        BinOp::Xor => x ^ y,
        BinOp::Div | BinOp::Mod => return Err(mismatch("division")),
        BinOp::Shl | BinOp::Shr | BinOp::Rotl | BinOp::Rotr => return Err(mismatch("a shift")),
    })
}

fn word_shift(op: BinOp, bits: u32, mask: u128, x: u128, count: &Int) -> Run<u128> {
    let k = match count.to_u64() {
        Some(k) if k < u64::from(bits) => k as u32,
        _ => return Err(Fault::new(FaultKind::ShiftCount { count: count.clone(), bits })),
    };
    // A rotation by 0 must not shift by the whole width: it joins the word with itself.
    let back = (bits - k) % bits;
    Ok(match op {
        BinOp::Shl => (x << k) & mask,
        BinOp::Shr => x >> k,
        BinOp::Rotl => ((x << k) | (x >> back)) & mask,
        BinOp::Rotr => ((x >> k) | (x << back)) & mask,
        BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Mod | BinOp::And | BinOp::Or | BinOp::Xor => {
            return Err(mismatch("a word operation"))
        }
    })
}

fn int_binary(op: BinOp, x: &Int, y: &Int) -> Run<Int> {
    let nonzero = |v: Option<Int>| v.ok_or_else(|| mismatch("a division by zero"));
    let value = match op {
        BinOp::Add => x.add(y),
        BinOp::Sub => x.sub(y),
        BinOp::Mul => {
            bounded(x.bits() + y.bits())?;
            x.mul(y)
        }
        BinOp::Div => nonzero(x.div_floor(y))?,
        BinOp::Mod => nonzero(x.mod_floor(y))?,
        BinOp::And => {
            // The right operand is 2^k - 1; the meaning is the floor remainder mod 2^k.
            let modulus = y.add(&Int::from(1));
            nonzero(x.mod_floor(&modulus))?
        }
        BinOp::Shl | BinOp::Shr => {
            let fault = || Fault::new(FaultKind::ShiftCount { count: y.clone(), bits: 0 });
            let k = y.to_u64().and_then(|k| u32::try_from(k).ok()).ok_or_else(fault)?;
            if op == BinOp::Shr {
                x.shr(k)
            } else {
                bounded(x.bits() + u64::from(k))?;
                x.shl(k)
            }
        }
        BinOp::Or | BinOp::Xor | BinOp::Rotl | BinOp::Rotr => return Err(mismatch("a bit operation")),
    };
    if let Int::Big(_) = value {
        bounded(value.bits())?;
    }
    Ok(value)
}

fn bounded(bits: u64) -> Run<()> {
    if bits > INT_BITS {
        return Err(Fault::new(FaultKind::IntTooLarge));
    }
    Ok(())
}

/// Equality of any two values of one shape; order of words (unsigned) and integers.
pub(super) fn compare(op: CmpOp, a: &Value, b: &Value) -> Run<bool> {
    let order = match (a, b) {
        (Value::Word(x), Value::Word(y)) => x.cmp(y),
        (Value::Int(x), Value::Int(y)) => x.cmp(y),
        _ => match op {
            CmpOp::Eq => return Ok(a == b),
            CmpOp::Ne => return Ok(a != b),
            CmpOp::Lt | CmpOp::Le | CmpOp::Gt | CmpOp::Ge => return Err(mismatch("an order")),
        },
    };
    Ok(holds(op, order))
}

/// Whether two values in this order satisfy the comparison.
pub(crate) fn holds(op: CmpOp, order: Ordering) -> bool {
    match op {
        CmpOp::Eq => order.is_eq(),
        CmpOp::Ne => order.is_ne(),
        CmpOp::Lt => order.is_lt(),
        CmpOp::Le => order.is_le(),
        CmpOp::Gt => order.is_gt(),
        CmpOp::Ge => order.is_ge(),
    }
}

/// Word or boolean to integer.
pub(super) fn to_int(v: Value) -> Run<Value> {
    match v {
        Value::Word(w) => Ok(Value::int(w)),
        Value::Bool(b) => Ok(Value::int(u8::from(b))),
        _ => Err(mismatch("a conversion to an integer")),
    }
}

/// Integer (mod `2^bits`), word (truncate or extend) or boolean to word.
pub(super) fn to_word(v: Value, mask: u128) -> Run<Value> {
    match v {
        Value::Int(v) => Ok(Value::Word(v.low_bits(mask))),
        Value::Word(w) => Ok(Value::Word(w & mask)),
        Value::Bool(b) => Ok(Value::Word(u128::from(b))),
        _ => Err(mismatch("a conversion to a word")),
    }
}

pub(super) fn to_usize(n: u64) -> Run<usize> {
    usize::try_from(n).map_err(|_| Fault::internal("a length exceeds this machine"))
}
