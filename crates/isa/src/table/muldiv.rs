//! Chapter "M Extension for Integer Multiplication and Division": sections "Multiplication Operations" and "Division Operations"
//! with its table of division by zero and overflow.

use crate::row::Bases::{self, Both, Rv64};
use crate::row::Binary::{And, Mul, Sdiv, Srem, Udiv, Urem};
use crate::row::Compare::Eq;
use crate::row::Expr::{self, Bin, Bits, Cmp, Const, High, If, Rs1, Rs2, Sext, Shift, Zext};
use crate::row::Sem::Write;
use crate::row::Shift::Left;
use crate::row::Width::{X, XX};
use crate::row::{Ext, Latency, Row};

const fn mul(name: &'static str, bases: Bases, pattern: &'static str, value: Expr) -> Row {
    Row { name, ext: Ext::M, bases, pattern, latency: Latency::Multiply, sem: Write(value) }
}

const fn div(name: &'static str, bases: Bases, pattern: &'static str, value: Expr) -> Row {
    Row { name, ext: Ext::M, bases, pattern, latency: Latency::Divide, sem: Write(value) }
}

const ZERO: Expr = Const(0);
const ALL_ONES: Expr = Const(-1);
/// The most negative number: one shifted as far as it goes.
const MIN: Expr = Shift(Left, &Const(1), &ALL_ONES);
/// Dividend most negative, divisor -1: the only quotient that does not fit.
const OVERFLOW: Expr = Bin(And, &Cmp(Eq, &Rs1, &MIN), &Cmp(Eq, &Rs2, &ALL_ONES));
const BY_ZERO: Expr = Cmp(Eq, &Rs2, &ZERO);

/// The same for the low 32 bits.
const A: Expr = Bits(0, 32, &Rs1);
const B: Expr = Bits(0, 32, &Rs2);
const ZERO_W: Expr = Bits(0, 32, &ZERO);
const ALL_ONES_W: Expr = Bits(0, 32, &ALL_ONES);
const MIN_W: Expr = Shift(Left, &Bits(0, 32, &Const(1)), &ALL_ONES_W);
const OVERFLOW_W: Expr = Bin(And, &Cmp(Eq, &A, &MIN_W), &Cmp(Eq, &B, &ALL_ONES_W));
const BY_ZERO_W: Expr = Cmp(Eq, &B, &ZERO_W);

#[rustfmt::skip]
pub static M: &[Row] = &[
    mul("mul",    Both, "0000001 rs2 rs1 000 rd 0110011", Bin(Mul, &Rs1, &Rs2)),
    mul("mulh",   Both, "0000001 rs2 rs1 001 rd 0110011", High(&Bin(Mul, &Sext(XX, &Rs1), &Sext(XX, &Rs2)))),
    mul("mulhsu", Both, "0000001 rs2 rs1 010 rd 0110011", High(&Bin(Mul, &Sext(XX, &Rs1), &Zext(XX, &Rs2)))),
    mul("mulhu",  Both, "0000001 rs2 rs1 011 rd 0110011", High(&Bin(Mul, &Zext(XX, &Rs1), &Zext(XX, &Rs2)))),
    mul("mulw",   Rv64, "0000001 rs2 rs1 000 rd 0111011", Sext(X, &Bin(Mul, &A, &B))),
    div("div",    Both, "0000001 rs2 rs1 100 rd 0110011", If(&BY_ZERO, &ALL_ONES, &If(&OVERFLOW, &MIN, &Bin(Sdiv, &Rs1, &Rs2)))),
    div("divu",   Both, "0000001 rs2 rs1 101 rd 0110011", If(&BY_ZERO, &ALL_ONES, &Bin(Udiv, &Rs1, &Rs2))),
    div("rem",    Both, "0000001 rs2 rs1 110 rd 0110011", If(&BY_ZERO, &Rs1, &If(&OVERFLOW, &ZERO, &Bin(Srem, &Rs1, &Rs2)))),
    div("remu",   Both, "0000001 rs2 rs1 111 rd 0110011", If(&BY_ZERO, &Rs1, &Bin(Urem, &Rs1, &Rs2))),
    div("divw",   Rv64, "0000001 rs2 rs1 100 rd 0111011", Sext(X, &If(&BY_ZERO_W, &ALL_ONES_W, &If(&OVERFLOW_W, &MIN_W, &Bin(Sdiv, &A, &B))))),
    div("divuw",  Rv64, "0000001 rs2 rs1 101 rd 0111011", Sext(X, &If(&BY_ZERO_W, &ALL_ONES_W, &Bin(Udiv, &A, &B)))),
    div("remw",   Rv64, "0000001 rs2 rs1 110 rd 0111011", Sext(X, &If(&BY_ZERO_W, &A, &If(&OVERFLOW_W, &ZERO_W, &Bin(Srem, &A, &B))))),
    div("remuw",  Rv64, "0000001 rs2 rs1 111 rd 0111011", Sext(X, &If(&BY_ZERO_W, &A, &Bin(Urem, &A, &B)))),
];
