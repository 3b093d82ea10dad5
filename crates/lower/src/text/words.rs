//! Names of operations, for printing and reading alike.
//! Trusted: nothing: nothing that ships is made of it.

use crate::data::{BinOp, CmpOp, ConvertOp, ShiftOp};

pub const BIN: [(&str, BinOp); 11] = [
    ("add", BinOp::Add),
    ("sub", BinOp::Sub),
    ("mul", BinOp::Mul),
    ("mulhu", BinOp::MulHu),
    ("mulhs", BinOp::MulHs),
    ("mulhsu", BinOp::MulHsu),
    ("and", BinOp::And),
    ("or", BinOp::Or),
    ("xor", BinOp::Xor),
    ("divu", BinOp::DivU),
    ("remu", BinOp::RemU),
];

pub const SHIFT: [(&str, ShiftOp); 5] =
    [("shl", ShiftOp::Shl), ("shru", ShiftOp::ShrU), ("shrs", ShiftOp::ShrS), ("rotl", ShiftOp::RotL), ("rotr", ShiftOp::RotR)];

pub const CMP: [(&str, CmpOp); 4] = [("eq", CmpOp::Eq), ("ne", CmpOp::Ne), ("ltu", CmpOp::LtU), ("lts", CmpOp::LtS)];

pub const CONVERT: [(&str, ConvertOp); 3] = [("zext", ConvertOp::Zext), ("sext", ConvertOp::Sext), ("trunc", ConvertOp::Trunc)];

/// The name of an operation in its table.
pub fn name<T: PartialEq + Copy>(table: &[(&'static str, T)], op: T) -> &'static str {
    table.iter().find(|(_, o)| *o == op).map_or("?", |(n, _)| n)
}

/// The operation of a name.
pub fn find<T: Copy>(table: &[(&'static str, T)], word: &str) -> Option<T> {
    table.iter().find(|(n, _)| *n == word).map(|(_, o)| *o)
}
