//! Values of the language.

use num_bigint::BigInt;
use santoku_num::Int;
use std::fmt;
use std::sync::Arc;

/// A value. Aggregates are shared on copy and copied on write, so that passing an array costs nothing
/// and the meaning stays "values are copied".
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// A machine word, below `2^bits` of its type (the type is not stored).
    Word(u128),
    Int(Int),
    Bool(bool),
    Array(Arc<Vec<Value>>),
    Struct(Arc<Vec<Value>>),
    /// Never assigned. Lives inside the interpreter only: reading it faults.
    Undef,
}

impl Value {
    pub fn word(v: impl Into<u128>) -> Value {
        Value::Word(v.into())
    }
    pub fn int(v: impl Into<Int>) -> Value {
        Value::Int(v.into())
    }
    pub fn array(elems: Vec<Value>) -> Value {
        Value::Array(Arc::new(elems))
    }
    pub fn structure(fields: Vec<Value>) -> Value {
        Value::Struct(Arc::new(fields))
    }
    /// `[u8; n]`, one word per byte.
    pub fn from_bytes(bytes: &[u8]) -> Value {
        Value::words(bytes)
    }
    /// An array of words.
    pub fn words<W: Copy + Into<u128>>(words: &[W]) -> Value {
        Value::array(words.iter().map(|w| Value::Word((*w).into())).collect())
    }
    /// An array of exact integers.
    pub fn ints<I: Into<Int>>(ints: impl IntoIterator<Item = I>) -> Value {
        Value::array(ints.into_iter().map(Value::int).collect())
    }
    /// The bytes of a `[u8; n]`; `None` for anything else.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let Value::Array(elems) = self else { return None };
        elems.iter().map(|e| u8::try_from(e.as_word()?).ok()).collect()
    }
    pub fn as_word(&self) -> Option<u128> {
        match self {
            Value::Word(w) => Some(*w),
            _ => None,
        }
    }
    /// Elements of an array or fields of a struct.
    pub fn parts(&self) -> Option<&[Value]> {
        match self {
            Value::Array(v) | Value::Struct(v) => Some(v),
            _ => None,
        }
    }
    /// The mathematical reading of a scalar: words and booleans are non-negative integers.
    pub fn to_integer(&self) -> Option<BigInt> {
        match self {
            Value::Word(w) => Some(BigInt::from(*w)),
            Value::Int(v) => Some(v.to_big()),
            Value::Bool(b) => Some(BigInt::from(u8::from(*b))),
            Value::Array(_) | Value::Struct(_) | Value::Undef => None,
        }
    }
    /// Some scalar in here was never assigned.
    pub fn has_undef(&self) -> bool {
        match self {
            Value::Undef => true,
            Value::Array(v) | Value::Struct(v) => v.iter().any(Value::has_undef),
            Value::Word(_) | Value::Int(_) | Value::Bool(_) => false,
        }
    }
}

impl fmt::Display for Value {
    /// Words in hexadecimal, integers in decimal; long arrays are cut after 64 elements.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 64;
        let list = |f: &mut fmt::Formatter<'_>, vs: &[Value]| {
            for (i, v) in vs.iter().take(SHOWN).enumerate() {
                write!(f, "{}{v}", if i == 0 { "" } else { ", " })?;
            }
            if vs.len() > SHOWN {
                write!(f, ", ... {} more", vs.len() - SHOWN)?;
            }
            Ok(())
        };
        match self {
            Value::Word(w) => write!(f, "{w:#x}"),
            Value::Int(v) => write!(f, "{v}"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Array(vs) => {
                f.write_str("[")?;
                list(f, vs)?;
                f.write_str("]")
            }
            Value::Struct(vs) => {
                f.write_str("{")?;
                list(f, vs)?;
                f.write_str("}")
            }
            Value::Undef => f.write_str("undefined"),
        }
    }
}
