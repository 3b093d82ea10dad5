//! Chapter "B Extension for Bit Manipulation": sections "Zba: Address generation", "Zbb: Basic bit-manipulation" and "Zbs:
//! Single-bit instructions"; encodings and meanings from "Instructions (in alphabetical order)".
//!
//! A rotation is two shifts whose counts add up to the width; counts are taken modulo the width, so the second is the first one
//! negated, and a rotation by nothing is a value joined with itself.

use crate::row::Bases::{self, Both, Rv32, Rv64};
use crate::row::Binary::{Add, And, Or, Sub, Xor};
use crate::row::Compare::{Eq, Slt, Ult};
use crate::row::Count::{LeadingZeros, Ones, TrailingZeros};
use crate::row::Expr::{self, Bin, Bits, Cmp, Concat, Const, Count, If, Imm, Not, Rs1, Rs2, Sext, Shift, Zext};
use crate::row::Sem::Write;
use crate::row::Shift::{Left, Right};
use crate::row::Width::X;
use crate::row::{Ext, Latency, Row};

const fn row(ext: Ext, name: &'static str, bases: Bases, pattern: &'static str, value: Expr) -> Row {
    Row { name, ext, bases, pattern, latency: Latency::Fixed, sem: Write(value) }
}

const fn zba(name: &'static str, bases: Bases, pattern: &'static str, value: Expr) -> Row {
    row(Ext::Zba, name, bases, pattern, value)
}

const fn zbb(name: &'static str, bases: Bases, pattern: &'static str, value: Expr) -> Row {
    row(Ext::Zbb, name, bases, pattern, value)
}

const fn zbs(name: &'static str, bases: Bases, pattern: &'static str, value: Expr) -> Row {
    row(Ext::Zbs, name, bases, pattern, value)
}

/// The low 32 bits of the sources.
const A: Expr = Bits(0, 32, &Rs1);
const B: Expr = Bits(0, 32, &Rs2);
const I: Expr = Bits(0, 32, &Imm);
/// The low 32 bits of `rs1`, zero-extended.
const UW: Expr = Zext(X, &A);

const MINUS_RS2: Expr = Bin(Sub, &Const(0), &Rs2);
const MINUS_IMM: Expr = Bin(Sub, &Const(0), &Imm);
const MINUS_B: Expr = Bits(0, 32, &MINUS_RS2);
const MINUS_I: Expr = Bits(0, 32, &MINUS_IMM);

/// A one at the index, taken modulo XLEN.
const BIT_RS2: Expr = Shift(Left, &Const(1), &Rs2);
const BIT_IMM: Expr = Shift(Left, &Const(1), &Imm);

#[rustfmt::skip]
pub static ZB: &[Row] = &[
    zba("sh1add", Both, "0010000 rs2 rs1 010 rd 0110011", Bin(Add, &Shift(Left, &Rs1, &Const(1)), &Rs2)),
    zba("sh2add", Both, "0010000 rs2 rs1 100 rd 0110011", Bin(Add, &Shift(Left, &Rs1, &Const(2)), &Rs2)),
    zba("sh3add", Both, "0010000 rs2 rs1 110 rd 0110011", Bin(Add, &Shift(Left, &Rs1, &Const(3)), &Rs2)),
    zba("add.uw",    Rv64, "0000100 rs2 rs1 000 rd 0111011", Bin(Add, &UW, &Rs2)),
    zba("sh1add.uw", Rv64, "0010000 rs2 rs1 010 rd 0111011", Bin(Add, &Shift(Left, &UW, &Const(1)), &Rs2)),
    zba("sh2add.uw", Rv64, "0010000 rs2 rs1 100 rd 0111011", Bin(Add, &Shift(Left, &UW, &Const(2)), &Rs2)),
    zba("sh3add.uw", Rv64, "0010000 rs2 rs1 110 rd 0111011", Bin(Add, &Shift(Left, &UW, &Const(3)), &Rs2)),
    zba("slli.uw",   Rv64, "000010 uimm[5:0] rs1 001 rd 0011011", Shift(Left, &UW, &Imm)),

    zbb("andn", Both, "0100000 rs2 rs1 111 rd 0110011", Bin(And, &Rs1, &Not(&Rs2))),
    zbb("orn",  Both, "0100000 rs2 rs1 110 rd 0110011", Bin(Or, &Rs1, &Not(&Rs2))),
    zbb("xnor", Both, "0100000 rs2 rs1 100 rd 0110011", Not(&Bin(Xor, &Rs1, &Rs2))),
    zbb("clz",  Both, "0110000 00000 rs1 001 rd 0010011", Count(LeadingZeros, &Rs1)),
    zbb("ctz",  Both, "0110000 00001 rs1 001 rd 0010011", Count(TrailingZeros, &Rs1)),
    zbb("cpop", Both, "0110000 00010 rs1 001 rd 0010011", Count(Ones, &Rs1)),
    zbb("clzw",  Rv64, "0110000 00000 rs1 001 rd 0011011", Zext(X, &Count(LeadingZeros, &A))),
    zbb("ctzw",  Rv64, "0110000 00001 rs1 001 rd 0011011", Zext(X, &Count(TrailingZeros, &A))),
    zbb("cpopw", Rv64, "0110000 00010 rs1 001 rd 0011011", Zext(X, &Count(Ones, &A))),
    zbb("max",  Both, "0000101 rs2 rs1 110 rd 0110011", If(&Cmp(Slt, &Rs1, &Rs2), &Rs2, &Rs1)),
    zbb("maxu", Both, "0000101 rs2 rs1 111 rd 0110011", If(&Cmp(Ult, &Rs1, &Rs2), &Rs2, &Rs1)),
    zbb("min",  Both, "0000101 rs2 rs1 100 rd 0110011", If(&Cmp(Slt, &Rs1, &Rs2), &Rs1, &Rs2)),
    zbb("minu", Both, "0000101 rs2 rs1 101 rd 0110011", If(&Cmp(Ult, &Rs1, &Rs2), &Rs1, &Rs2)),
    zbb("sext.b", Both, "0110000 00100 rs1 001 rd 0010011", Sext(X, &Bits(0, 8, &Rs1))),
    zbb("sext.h", Both, "0110000 00101 rs1 001 rd 0010011", Sext(X, &Bits(0, 16, &Rs1))),
    zbb("zext.h", Rv32, "0000100 00000 rs1 100 rd 0110011", Zext(X, &Bits(0, 16, &Rs1))),
    zbb("zext.h", Rv64, "0000100 00000 rs1 100 rd 0111011", Zext(X, &Bits(0, 16, &Rs1))),
    zbb("rol",  Both, "0110000 rs2 rs1 001 rd 0110011", Bin(Or, &Shift(Left, &Rs1, &Rs2), &Shift(Right, &Rs1, &MINUS_RS2))),
    zbb("ror",  Both, "0110000 rs2 rs1 101 rd 0110011", Bin(Or, &Shift(Right, &Rs1, &Rs2), &Shift(Left, &Rs1, &MINUS_RS2))),
    zbb("rori", Rv32, "0110000 uimm[4:0] rs1 101 rd 0010011", Bin(Or, &Shift(Right, &Rs1, &Imm), &Shift(Left, &Rs1, &MINUS_IMM))),
    zbb("rori", Rv64, "011000 uimm[5:0] rs1 101 rd 0010011", Bin(Or, &Shift(Right, &Rs1, &Imm), &Shift(Left, &Rs1, &MINUS_IMM))),
    zbb("rolw",  Rv64, "0110000 rs2 rs1 001 rd 0111011", Sext(X, &Bin(Or, &Shift(Left, &A, &B), &Shift(Right, &A, &MINUS_B)))),
    zbb("rorw",  Rv64, "0110000 rs2 rs1 101 rd 0111011", Sext(X, &Bin(Or, &Shift(Right, &A, &B), &Shift(Left, &A, &MINUS_B)))),
    zbb("roriw", Rv64, "0110000 uimm[4:0] rs1 101 rd 0011011", Sext(X, &Bin(Or, &Shift(Right, &A, &I), &Shift(Left, &A, &MINUS_I)))),

    zbs("bclr", Both, "0100100 rs2 rs1 001 rd 0110011", Bin(And, &Rs1, &Not(&BIT_RS2))),
    zbs("bext", Both, "0100100 rs2 rs1 101 rd 0110011", Bin(And, &Shift(Right, &Rs1, &Rs2), &Const(1))),
    zbs("binv", Both, "0110100 rs2 rs1 001 rd 0110011", Bin(Xor, &Rs1, &BIT_RS2)),
    zbs("bset", Both, "0010100 rs2 rs1 001 rd 0110011", Bin(Or, &Rs1, &BIT_RS2)),
    zbs("bclri", Rv32, "0100100 uimm[4:0] rs1 001 rd 0010011", Bin(And, &Rs1, &Not(&BIT_IMM))),
    zbs("bexti", Rv32, "0100100 uimm[4:0] rs1 101 rd 0010011", Bin(And, &Shift(Right, &Rs1, &Imm), &Const(1))),
    zbs("binvi", Rv32, "0110100 uimm[4:0] rs1 001 rd 0010011", Bin(Xor, &Rs1, &BIT_IMM)),
    zbs("bseti", Rv32, "0010100 uimm[4:0] rs1 001 rd 0010011", Bin(Or, &Rs1, &BIT_IMM)),
    zbs("bclri", Rv64, "010010 uimm[5:0] rs1 001 rd 0010011", Bin(And, &Rs1, &Not(&BIT_IMM))),
    zbs("bexti", Rv64, "010010 uimm[5:0] rs1 101 rd 0010011", Bin(And, &Shift(Right, &Rs1, &Imm), &Const(1))),
    zbs("binvi", Rv64, "011010 uimm[5:0] rs1 001 rd 0010011", Bin(Xor, &Rs1, &BIT_IMM)),
    zbs("bseti", Rv64, "001010 uimm[5:0] rs1 001 rd 0010011", Bin(Or, &Rs1, &BIT_IMM)),
];

const fn byte(lo: u32) -> Expr {
    Bits(lo, 8, &Rs1)
}

/// All ones where a byte of `rs1` has any.
macro_rules! orc {
    ($lo:literal) => {
        If(&Cmp(Eq, &Bits($lo, 8, &Rs1), &Bits(0, 8, &Const(0))), &Bits(0, 8, &Const(0)), &Bits(0, 8, &Const(-1)))
    };
}

/// Byte by byte, so with a row for each base.
#[rustfmt::skip]
pub static ZB_BYTES: &[Row] = &[
    zbb("orc.b", Rv32, "001010000111 rs1 101 rd 0010011", Concat(&[orc!(24), orc!(16), orc!(8), orc!(0)])),
    zbb("orc.b", Rv64, "001010000111 rs1 101 rd 0010011",
        Concat(&[orc!(56), orc!(48), orc!(40), orc!(32), orc!(24), orc!(16), orc!(8), orc!(0)])),
    zbb("rev8", Rv32, "011010011000 rs1 101 rd 0010011", Concat(&[byte(0), byte(8), byte(16), byte(24)])),
    zbb("rev8", Rv64, "011010111000 rs1 101 rd 0010011",
        Concat(&[byte(0), byte(8), byte(16), byte(24), byte(32), byte(40), byte(48), byte(56)])),
];
