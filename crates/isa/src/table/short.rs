//! Chapter "C Extension for Compressed Instructions": "RVC Instruction Set Listings", meanings from the sections before it. Integer
//! instructions only: no floating-point loads and stores.
//!
//! Reserved code points do not decode; code points for hints decode to instructions without effect ("HINT Instructions"). On RV32, shift
//! counts of 32 and more are for custom extensions and do not decode.

use crate::row::Bases::{self, Both, Rv32, Rv64};
use crate::row::Short;

const fn c(name: &'static str, bases: Bases, pattern: &'static str, long: &'static str) -> Short {
    Short { name, bases, pattern, long }
}

#[rustfmt::skip]
pub(crate) static SHORTS: &[Short] = &[
    // Quadrant 0
    c("c.addi4spn", Both, "000 nzuimm[5:4|9:6|2|3] rd' 00", "addi rd=rd rs1=x2"),
    c("c.lw", Both, "010 uimm[5:3] rs1' uimm[2|6] rd' 00", "lw rd=rd rs1=rs1"),
    c("c.ld", Rv64, "011 uimm[5:3] rs1' uimm[7:6] rd' 00", "ld rd=rd rs1=rs1"),
    c("c.sw", Both, "110 uimm[5:3] rs1' uimm[2|6] rs2' 00", "sw rs1=rs1 rs2=rs2"),
    c("c.sd", Rv64, "111 uimm[5:3] rs1' uimm[7:6] rs2' 00", "sd rs1=rs1 rs2=rs2"),
    // Quadrant 1; `c.nop` is the first with rd = x0
    c("c.addi", Both, "000 imm[5] rd imm[4:0] 01", "addi rd=rd rs1=rd"),
    c("c.jal", Rv32, "001 imm[11|4|9:8|10|6|7|3:1|5] 01", "jal rd=x1"),
    c("c.addiw", Rv64, "001 imm[5] rd!=0 imm[4:0] 01", "addiw rd=rd rs1=rd"),
    c("c.li", Both, "010 imm[5] rd imm[4:0] 01", "addi rd=rd rs1=x0"),
    c("c.addi16sp", Both, "011 nzimm[9] 00010 nzimm[4|6|8:7|5] 01", "addi rd=x2 rs1=x2"),
    c("c.lui", Both, "011 nzimm[17] rd!=2 nzimm[16:12] 01", "lui rd=rd"),
    c("c.srli", Rv32, "100 0 00 rd' uimm[4:0] 01", "srli rd=rd rs1=rd"),
    c("c.srai", Rv32, "100 0 01 rd' uimm[4:0] 01", "srai rd=rd rs1=rd"),
    c("c.srli", Rv64, "100 uimm[5] 00 rd' uimm[4:0] 01", "srli rd=rd rs1=rd"),
    c("c.srai", Rv64, "100 uimm[5] 01 rd' uimm[4:0] 01", "srai rd=rd rs1=rd"),
    c("c.andi", Both, "100 imm[5] 10 rd' imm[4:0] 01", "andi rd=rd rs1=rd"),
    c("c.sub", Both, "100 0 11 rd' 00 rs2' 01", "sub rd=rd rs1=rd rs2=rs2"),
    c("c.xor", Both, "100 0 11 rd' 01 rs2' 01", "xor rd=rd rs1=rd rs2=rs2"),
    c("c.or",  Both, "100 0 11 rd' 10 rs2' 01", "or rd=rd rs1=rd rs2=rs2"),
    c("c.and", Both, "100 0 11 rd' 11 rs2' 01", "and rd=rd rs1=rd rs2=rs2"),
    c("c.subw", Rv64, "100 1 11 rd' 00 rs2' 01", "subw rd=rd rs1=rd rs2=rs2"),
    c("c.addw", Rv64, "100 1 11 rd' 01 rs2' 01", "addw rd=rd rs1=rd rs2=rs2"),
    c("c.j", Both, "101 imm[11|4|9:8|10|6|7|3:1|5] 01", "jal rd=x0"),
    c("c.beqz", Both, "110 imm[8|4:3] rs1' imm[7:6|2:1|5] 01", "beq rs1=rs1 rs2=x0"),
    c("c.bnez", Both, "111 imm[8|4:3] rs1' imm[7:6|2:1|5] 01", "bne rs1=rs1 rs2=x0"),
    // Quadrant 2
    c("c.slli", Rv32, "000 0 rd uimm[4:0] 10", "slli rd=rd rs1=rd"),
    c("c.slli", Rv64, "000 uimm[5] rd uimm[4:0] 10", "slli rd=rd rs1=rd"),
    c("c.lwsp", Both, "010 uimm[5] rd!=0 uimm[4:2|7:6] 10", "lw rd=rd rs1=x2"),
    c("c.ldsp", Rv64, "011 uimm[5] rd!=0 uimm[4:3|8:6] 10", "ld rd=rd rs1=x2"),
    c("c.jr", Both, "100 0 rs1!=0 00000 10", "jalr rd=x0 rs1=rs1"),
    c("c.mv", Both, "100 0 rd rs2!=0 10", "add rd=rd rs1=x0 rs2=rs2"),
    c("c.ebreak", Both, "100 1 00000 00000 10", "ebreak"),
    c("c.jalr", Both, "100 1 rs1!=0 00000 10", "jalr rd=x1 rs1=rs1"),
    c("c.add", Both, "100 1 rd rs2!=0 10", "add rd=rd rs1=rd rs2=rs2"),
    c("c.swsp", Both, "110 uimm[5:2|7:6] rs2 10", "sw rs1=x2 rs2=rs2"),
    c("c.sdsp", Rv64, "111 uimm[5:3|8:6] rs2 10", "sd rs1=x2 rs2=rs2"),
];
