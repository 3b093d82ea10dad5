//! Chapters "RV32I Base Integer Instruction Set" and "RV64I Base Integer Instruction Set", sections named beside the rows; encodings
//! from "RV32/64G Instruction Set Listings".

use crate::row::Bases::{self, Both, Rv32, Rv64};
use crate::row::Binary::{Add, And, Or, Sub, Xor};
use crate::row::Compare::{Eq, Slt, Ult};
use crate::row::Expr::{self, Bin, Bits, Cmp, Const, Imm, Not, Pc, Rs1, Rs2, Sext, Shift, Zext};
use crate::row::Sem::{self, Branch, Jump, Load, Store, Write};
use crate::row::Shift::{Arith, Left, Right};
use crate::row::Width::X;
use crate::row::{Ext, Latency, Row};

const fn i(name: &'static str, bases: Bases, pattern: &'static str, sem: Sem) -> Row {
    Row { name, ext: Ext::I, bases, pattern, latency: Latency::Fixed, sem }
}

const fn load(name: &'static str, bases: Bases, pattern: &'static str, bytes: u8, signed: bool) -> Row {
    i(name, bases, pattern, Load { address: BASE_OFFSET, bytes, signed })
}

const fn store(name: &'static str, bases: Bases, pattern: &'static str, bytes: u8) -> Row {
    i(name, bases, pattern, Store { address: BASE_OFFSET, bytes })
}

const BASE_OFFSET: Expr = Bin(Add, &Rs1, &Imm);
/// The low 32 bits of the sources: operands of the `W` forms.
const A: Expr = Bits(0, 32, &Rs1);
const B: Expr = Bits(0, 32, &Rs2);
const I: Expr = Bits(0, 32, &Imm);

#[rustfmt::skip]
pub static BASE: &[Row] = &[
    // RV32I: Integer Register-Immediate Instructions; on RV64, shift counts have six bits
    i("addi",  Both, "imm[11:0] rs1 000 rd 0010011", Write(Bin(Add, &Rs1, &Imm))),
    i("slti",  Both, "imm[11:0] rs1 010 rd 0010011", Write(Zext(X, &Cmp(Slt, &Rs1, &Imm)))),
    i("sltiu", Both, "imm[11:0] rs1 011 rd 0010011", Write(Zext(X, &Cmp(Ult, &Rs1, &Imm)))),
    i("xori",  Both, "imm[11:0] rs1 100 rd 0010011", Write(Bin(Xor, &Rs1, &Imm))),
    i("ori",   Both, "imm[11:0] rs1 110 rd 0010011", Write(Bin(Or, &Rs1, &Imm))),
    i("andi",  Both, "imm[11:0] rs1 111 rd 0010011", Write(Bin(And, &Rs1, &Imm))),
    i("slli",  Rv32, "0000000 uimm[4:0] rs1 001 rd 0010011", Write(Shift(Left, &Rs1, &Imm))),
    i("srli",  Rv32, "0000000 uimm[4:0] rs1 101 rd 0010011", Write(Shift(Right, &Rs1, &Imm))),
    i("srai",  Rv32, "0100000 uimm[4:0] rs1 101 rd 0010011", Write(Shift(Arith, &Rs1, &Imm))),
    i("slli",  Rv64, "000000 uimm[5:0] rs1 001 rd 0010011", Write(Shift(Left, &Rs1, &Imm))),
    i("srli",  Rv64, "000000 uimm[5:0] rs1 101 rd 0010011", Write(Shift(Right, &Rs1, &Imm))),
    i("srai",  Rv64, "010000 uimm[5:0] rs1 101 rd 0010011", Write(Shift(Arith, &Rs1, &Imm))),
    i("lui",   Both, "imm[31:12] rd 0110111", Write(Imm)),
    i("auipc", Both, "imm[31:12] rd 0010111", Write(Bin(Add, &Pc, &Imm))),
    // RV64I: Integer Register-Immediate Instructions
    i("addiw", Rv64, "imm[11:0] rs1 000 rd 0011011", Write(Sext(X, &Bin(Add, &A, &I)))),
    i("slliw", Rv64, "0000000 uimm[4:0] rs1 001 rd 0011011", Write(Sext(X, &Shift(Left, &A, &I)))),
    i("srliw", Rv64, "0000000 uimm[4:0] rs1 101 rd 0011011", Write(Sext(X, &Shift(Right, &A, &I)))),
    i("sraiw", Rv64, "0100000 uimm[4:0] rs1 101 rd 0011011", Write(Sext(X, &Shift(Arith, &A, &I)))),
    // RV32I: Integer Register-Register Operations
    i("add",   Both, "0000000 rs2 rs1 000 rd 0110011", Write(Bin(Add, &Rs1, &Rs2))),
    i("sub",   Both, "0100000 rs2 rs1 000 rd 0110011", Write(Bin(Sub, &Rs1, &Rs2))),
    i("sll",   Both, "0000000 rs2 rs1 001 rd 0110011", Write(Shift(Left, &Rs1, &Rs2))),
    i("slt",   Both, "0000000 rs2 rs1 010 rd 0110011", Write(Zext(X, &Cmp(Slt, &Rs1, &Rs2)))),
    i("sltu",  Both, "0000000 rs2 rs1 011 rd 0110011", Write(Zext(X, &Cmp(Ult, &Rs1, &Rs2)))),
    i("xor",   Both, "0000000 rs2 rs1 100 rd 0110011", Write(Bin(Xor, &Rs1, &Rs2))),
    i("srl",   Both, "0000000 rs2 rs1 101 rd 0110011", Write(Shift(Right, &Rs1, &Rs2))),
    i("sra",   Both, "0100000 rs2 rs1 101 rd 0110011", Write(Shift(Arith, &Rs1, &Rs2))),
    i("or",    Both, "0000000 rs2 rs1 110 rd 0110011", Write(Bin(Or, &Rs1, &Rs2))),
    i("and",   Both, "0000000 rs2 rs1 111 rd 0110011", Write(Bin(And, &Rs1, &Rs2))),
    // RV64I: Integer Register-Register Operations
    i("addw",  Rv64, "0000000 rs2 rs1 000 rd 0111011", Write(Sext(X, &Bin(Add, &A, &B)))),
    i("subw",  Rv64, "0100000 rs2 rs1 000 rd 0111011", Write(Sext(X, &Bin(Sub, &A, &B)))),
    i("sllw",  Rv64, "0000000 rs2 rs1 001 rd 0111011", Write(Sext(X, &Shift(Left, &A, &B)))),
    i("srlw",  Rv64, "0000000 rs2 rs1 101 rd 0111011", Write(Sext(X, &Shift(Right, &A, &B)))),
    i("sraw",  Rv64, "0100000 rs2 rs1 101 rd 0111011", Write(Sext(X, &Shift(Arith, &A, &B)))),
    // RV32I: Unconditional Jumps
    i("jal",   Both, "imm[20|10:1|11|19:12] rd 1101111", Jump(Bin(Add, &Pc, &Imm))),
    i("jalr",  Both, "imm[11:0] rs1 000 rd 1100111", Jump(Bin(And, &BASE_OFFSET, &Const(-2)))),
    // RV32I: Conditional Branches
    i("beq",   Both, "imm[12|10:5] rs2 rs1 000 imm[4:1|11] 1100011", Branch(Cmp(Eq, &Rs1, &Rs2))),
    i("bne",   Both, "imm[12|10:5] rs2 rs1 001 imm[4:1|11] 1100011", Branch(Not(&Cmp(Eq, &Rs1, &Rs2)))),
    i("blt",   Both, "imm[12|10:5] rs2 rs1 100 imm[4:1|11] 1100011", Branch(Cmp(Slt, &Rs1, &Rs2))),
    i("bge",   Both, "imm[12|10:5] rs2 rs1 101 imm[4:1|11] 1100011", Branch(Not(&Cmp(Slt, &Rs1, &Rs2)))),
    i("bltu",  Both, "imm[12|10:5] rs2 rs1 110 imm[4:1|11] 1100011", Branch(Cmp(Ult, &Rs1, &Rs2))),
    i("bgeu",  Both, "imm[12|10:5] rs2 rs1 111 imm[4:1|11] 1100011", Branch(Not(&Cmp(Ult, &Rs1, &Rs2)))),
    // RV32I and RV64I: Load and Store Instructions
    load("lb",  Both, "imm[11:0] rs1 000 rd 0000011", 1, true),
    load("lh",  Both, "imm[11:0] rs1 001 rd 0000011", 2, true),
    load("lw",  Both, "imm[11:0] rs1 010 rd 0000011", 4, true),
    load("ld",  Rv64, "imm[11:0] rs1 011 rd 0000011", 8, true),
    load("lbu", Both, "imm[11:0] rs1 100 rd 0000011", 1, false),
    load("lhu", Both, "imm[11:0] rs1 101 rd 0000011", 2, false),
    load("lwu", Rv64, "imm[11:0] rs1 110 rd 0000011", 4, false),
    store("sb", Both, "imm[11:5] rs2 rs1 000 imm[4:0] 0100011", 1),
    store("sh", Both, "imm[11:5] rs2 rs1 001 imm[4:0] 0100011", 2),
    store("sw", Both, "imm[11:5] rs2 rs1 010 imm[4:0] 0100011", 4),
    store("sd", Rv64, "imm[11:5] rs2 rs1 011 imm[4:0] 0100011", 8),
];

const fn system(name: &'static str, pattern: &'static str, sem: Sem) -> Row {
    Row { name, ext: Ext::System, bases: Both, pattern, latency: Latency::Fixed, sem }
}

/// RV32I: Memory Ordering Instructions (reserved fields of `fence` are ignored), Environment Call and Breakpoints; Zicsr: CSR
/// Instructions, of which bits 19:15 of the last three are not kept.
#[rustfmt::skip]
pub static SYSTEM: &[Row] = &[
    system("fence",  "xxxxxxxxxxxx xxxxx 000 xxxxx 0001111", Sem::Fence),
    system("ecall",  "000000000000 00000 000 00000 1110011", Sem::EnvCall),
    system("ebreak", "000000000001 00000 000 00000 1110011", Sem::Break),
    system("csrrw",  "uimm[11:0] rs1 001 rd 1110011", Sem::Csr),
    system("csrrs",  "uimm[11:0] rs1 010 rd 1110011", Sem::Csr),
    system("csrrc",  "uimm[11:0] rs1 011 rd 1110011", Sem::Csr),
    system("csrrwi", "uimm[11:0] xxxxx 101 rd 1110011", Sem::Csr),
    system("csrrsi", "uimm[11:0] xxxxx 110 rd 1110011", Sem::Csr),
    system("csrrci", "uimm[11:0] xxxxx 111 rd 1110011", Sem::Csr),
];
