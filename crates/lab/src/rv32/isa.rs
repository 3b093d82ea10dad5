//! Decoder for RV32IM, the compressed extension without floating point, and the Zicsr instructions.
//!
//! Source: *The RISC-V Instruction Set Manual, Volume I*, version 20191213, chapters 2, 7, 9, 16 and 24.
//! Reserved and custom encodings decode to [`Op::Illegal`]. Register fields an instruction does not use are zero,
//! so that hazard checks need no per-format masks (x0 is never pending).

/// Operation of a decoded instruction. Compressed forms decode to the operation they abbreviate.
#[allow(missing_docs)] // the names are the manual's mnemonics
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Op {
    Illegal,
    Lui,
    Auipc,
    Jal,
    Jalr,
    Beq,
    Bne,
    Blt,
    Bge,
    Bltu,
    Bgeu,
    Lb,
    Lh,
    Lw,
    Lbu,
    Lhu,
    Sb,
    Sh,
    Sw,
    Addi,
    Slti,
    Sltiu,
    Xori,
    Ori,
    Andi,
    Slli,
    Srli,
    Srai,
    Add,
    Sub,
    Sll,
    Slt,
    Sltu,
    Xor,
    Srl,
    Sra,
    Or,
    And,
    Fence,
    Ecall,
    Ebreak,
    Csrrw,
    Csrrs,
    Csrrc,
    Csrrwi,
    Csrrsi,
    Csrrci,
    Mul,
    Mulh,
    Mulhsu,
    Mulhu,
    Div,
    Divu,
    Rem,
    Remu,
}

/// What an operation does to the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Writes its result one slot later.
    Alu,
    /// Reads memory.
    Load,
    /// Writes memory, no register.
    Store,
    /// Conditional branch, no register.
    Branch,
    /// `jal` or `jalr`.
    Jump,
    /// Multiplication or division in the shared long-latency unit.
    MulDiv,
    /// Reads or writes a control register.
    Csr,
    /// `fence`, `ecall`, `ebreak`, illegal: no register.
    Other,
}

impl Op {
    /// Pipeline class of the operation.
    pub fn class(self) -> Class {
        use Op::*;
        match self {
            Lui | Auipc | Addi | Slti | Sltiu | Xori | Ori | Andi | Slli | Srli | Srai | Add | Sub | Sll | Slt
            | Sltu | Xor | Srl | Sra | Or | And => Class::Alu,
            Lb | Lh | Lw | Lbu | Lhu => Class::Load,
            Sb | Sh | Sw => Class::Store,
            Beq | Bne | Blt | Bge | Bltu | Bgeu => Class::Branch,
            Jal | Jalr => Class::Jump,
            Mul | Mulh | Mulhsu | Mulhu | Div | Divu | Rem | Remu => Class::MulDiv,
            Csrrw | Csrrs | Csrrc | Csrrwi | Csrrsi | Csrrci => Class::Csr,
            Fence | Ecall | Ebreak | Illegal => Class::Other,
        }
    }
}

/// One decoded instruction. `imm` holds the sign-extended immediate; for control-register instructions it is
/// `csr | zimm << 16`; for an illegal encoding it is the raw bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inst {
    /// Operation.
    pub op: Op,
    /// Destination register, 0 when none.
    pub rd: u8,
    /// First source register, 0 when none.
    pub rs1: u8,
    /// Second source register, 0 when none.
    pub rs2: u8,
    /// Immediate, see the type.
    pub imm: i32,
    /// Encoded length in bytes: 2 or 4.
    pub len: u8,
}

impl Inst {
    const fn new(op: Op, rd: u32, rs1: u32, rs2: u32, imm: i32, len: u8) -> Self {
        Inst { op, rd: rd as u8, rs1: rs1 as u8, rs2: rs2 as u8, imm, len }
    }

    fn illegal(bits: u32, len: u8) -> Self {
        Self::new(Op::Illegal, 0, 0, 0, bits as i32, len)
    }
}

/// Bits `hi..=lo` of `w`, right-aligned.
const fn bits(w: u32, hi: u32, lo: u32) -> u32 {
    (w >> lo) & (u32::MAX >> (31 - (hi - lo)))
}

/// Sign-extends the low `width` bits of `v`.
const fn sext(v: u32, width: u32) -> i32 {
    ((v << (32 - width)) as i32) >> (32 - width)
}

/// Decodes the instruction whose first halfword is in the low bits of `w`.
/// A compressed instruction ignores the upper halfword.
pub fn decode(w: u32) -> Inst {
    if w & 3 == 3 {
        decode_full(w)
    } else {
        decode_compressed(w & 0xffff)
    }
}

fn decode_full(w: u32) -> Inst {
    let (rd, rs1, rs2) = (bits(w, 11, 7), bits(w, 19, 15), bits(w, 24, 20));
    let (f3, f7) = (bits(w, 14, 12) as usize, bits(w, 31, 25));
    let imm_i = (w as i32) >> 20;
    let imm_s = sext(f7 << 5 | rd, 12);
    let imm_b = sext(bits(w, 31, 31) << 12 | bits(w, 7, 7) << 11 | bits(w, 30, 25) << 5 | bits(w, 11, 8) << 1, 13);
    let imm_j = sext(bits(w, 31, 31) << 20 | bits(w, 19, 12) << 12 | bits(w, 20, 20) << 11 | bits(w, 30, 21) << 1, 21);
    let imm_u = (w & 0xffff_f000) as i32;
    use Op::*;
    let full = |op, rd, rs1, rs2, imm| Inst::new(op, rd, rs1, rs2, imm, 4);
    let inst = match w & 0x7f {
        0x37 => full(Lui, rd, 0, 0, imm_u),
        0x17 => full(Auipc, rd, 0, 0, imm_u),
        0x6f => full(Jal, rd, 0, 0, imm_j),
        0x67 if f3 == 0 => full(Jalr, rd, rs1, 0, imm_i),
        0x63 => full([Beq, Bne, Illegal, Illegal, Blt, Bge, Bltu, Bgeu][f3], 0, rs1, rs2, imm_b),
        0x03 => full([Lb, Lh, Lw, Illegal, Lbu, Lhu, Illegal, Illegal][f3], rd, rs1, 0, imm_i),
        0x23 => full([Sb, Sh, Sw, Illegal, Illegal, Illegal, Illegal, Illegal][f3], 0, rs1, rs2, imm_s),
        0x13 => {
            let op = match (f3, f7) {
                (1, 0) => Slli,
                (5, 0) => Srli,
                (5, 0x20) => Srai,
                (1 | 5, _) => Illegal,
                _ => [Addi, Illegal, Slti, Sltiu, Xori, Illegal, Ori, Andi][f3],
            };
            let imm = if f3 == 1 || f3 == 5 { imm_i & 31 } else { imm_i };
            full(op, rd, rs1, 0, imm)
        }
        0x33 => {
            let op = match (f7, f3) {
                (0, _) => [Add, Sll, Slt, Sltu, Xor, Srl, Or, And][f3],
                (1, _) => [Mul, Mulh, Mulhsu, Mulhu, Div, Divu, Rem, Remu][f3],
                (0x20, 0) => Sub,
                (0x20, 5) => Sra,
                _ => Illegal,
            };
            full(op, rd, rs1, rs2, 0)
        }
        0x0f if f3 <= 1 => full(Fence, 0, 0, 0, 0),
        0x73 => decode_system(w, rd, rs1, f3),
        _ => Inst::illegal(w, 4),
    };
    if inst.op == Illegal {
        Inst::illegal(w, 4)
    } else {
        inst
    }
}

fn decode_system(w: u32, rd: u32, rs1: u32, f3: usize) -> Inst {
    use Op::*;
    let csr = (w >> 20) as i32;
    match (f3, w) {
        (0, 0x0000_0073) => Inst::new(Ecall, 0, 0, 0, 0, 4),
        (0, 0x0010_0073) => Inst::new(Ebreak, 0, 0, 0, 0, 4),
        (1..=3, _) => Inst::new([Csrrw, Csrrs, Csrrc][f3 - 1], rd, rs1, 0, csr, 4),
        (5..=7, _) => Inst::new([Csrrwi, Csrrsi, Csrrci][f3 - 5], rd, 0, 0, csr | (rs1 << 16) as i32, 4),
        _ => Inst::illegal(w, 4),
    }
}

fn decode_compressed(c: u32) -> Inst {
    let inst = match c & 3 {
        0 => quadrant0(c),
        1 => quadrant1(c),
        _ => quadrant2(c),
    };
    if inst.op == Op::Illegal {
        Inst::illegal(c, 2)
    } else {
        inst
    }
}

const ILLEGAL: Inst = Inst::new(Op::Illegal, 0, 0, 0, 0, 2);

const fn short(op: Op, rd: u32, rs1: u32, rs2: u32, imm: i32) -> Inst {
    Inst::new(op, rd, rs1, rs2, imm, 2)
}

/// Quadrant 0: stack-pointer arithmetic and register-relative word accesses on x8..x15.
fn quadrant0(c: u32) -> Inst {
    let (rd, rs1) = (8 + bits(c, 4, 2), 8 + bits(c, 9, 7));
    let word_offset = (bits(c, 12, 10) << 3 | bits(c, 6, 6) << 2 | bits(c, 5, 5) << 6) as i32;
    match c >> 13 {
        0 => {
            let imm = bits(c, 12, 11) << 4 | bits(c, 10, 7) << 6 | bits(c, 6, 6) << 2 | bits(c, 5, 5) << 3;
            if imm == 0 {
                ILLEGAL
            } else {
                short(Op::Addi, rd, 2, 0, imm as i32)
            }
        }
        2 => short(Op::Lw, rd, rs1, 0, word_offset),
        6 => short(Op::Sw, 0, rs1, rd, word_offset),
        _ => ILLEGAL,
    }
}

/// Quadrant 1: immediates, arithmetic on x8..x15, jumps and branches.
fn quadrant1(c: u32) -> Inst {
    let rd = bits(c, 11, 7);
    let imm6 = sext(bits(c, 12, 12) << 5 | bits(c, 6, 2), 6);
    let jump = sext(
        bits(c, 12, 12) << 11
            | bits(c, 11, 11) << 4
            | bits(c, 10, 9) << 8
            | bits(c, 8, 8) << 10
            | bits(c, 7, 7) << 6
            | bits(c, 6, 6) << 7
            | bits(c, 5, 3) << 1
            | bits(c, 2, 2) << 5,
        12,
    );
    let branch = sext(
        bits(c, 12, 12) << 8 | bits(c, 11, 10) << 3 | bits(c, 6, 5) << 6 | bits(c, 4, 3) << 1 | bits(c, 2, 2) << 5,
        9,
    );
    let rs1 = 8 + bits(c, 9, 7);
    match c >> 13 {
        0 => short(Op::Addi, rd, rd, 0, imm6),
        1 => short(Op::Jal, 1, 0, 0, jump),
        2 => short(Op::Addi, rd, 0, 0, imm6),
        3 if imm6 == 0 => ILLEGAL,
        3 if rd == 2 => {
            let imm = sext(
                bits(c, 12, 12) << 9
                    | bits(c, 6, 6) << 4
                    | bits(c, 5, 5) << 6
                    | bits(c, 4, 3) << 7
                    | bits(c, 2, 2) << 5,
                10,
            );
            short(Op::Addi, 2, 2, 0, imm)
        }
        3 => short(Op::Lui, rd, 0, 0, imm6 << 12),
        4 => quadrant1_arithmetic(c, rs1, imm6),
        5 => short(Op::Jal, 0, 0, 0, jump),
        6 => short(Op::Beq, 0, rs1, 0, branch),
        _ => short(Op::Bne, 0, rs1, 0, branch),
    }
}

fn quadrant1_arithmetic(c: u32, rd: u32, imm6: i32) -> Inst {
    let rs2 = 8 + bits(c, 4, 2);
    let shift_is_64_bit = bits(c, 12, 12) == 1;
    match bits(c, 11, 10) {
        0 | 1 if shift_is_64_bit => ILLEGAL,
        0 => short(Op::Srli, rd, rd, 0, imm6),
        1 => short(Op::Srai, rd, rd, 0, imm6),
        2 => short(Op::Andi, rd, rd, 0, imm6),
        _ if bits(c, 12, 12) == 1 => ILLEGAL,
        _ => short([Op::Sub, Op::Xor, Op::Or, Op::And][bits(c, 6, 5) as usize], rd, rd, rs2, 0),
    }
}

/// Quadrant 2: stack-relative accesses, register moves, indirect jumps.
fn quadrant2(c: u32) -> Inst {
    let (rd, rs2) = (bits(c, 11, 7), bits(c, 6, 2));
    match (c >> 13, bits(c, 12, 12)) {
        (0, 0) => short(Op::Slli, rd, rd, 0, rs2 as i32),
        (2, _) if rd != 0 => {
            let imm = bits(c, 12, 12) << 5 | bits(c, 6, 4) << 2 | bits(c, 3, 2) << 6;
            short(Op::Lw, rd, 2, 0, imm as i32)
        }
        (4, 0) if rs2 == 0 && rd != 0 => short(Op::Jalr, 0, rd, 0, 0),
        (4, 0) if rs2 != 0 => short(Op::Add, rd, 0, rs2, 0),
        (4, 1) if rs2 == 0 && rd == 0 => short(Op::Ebreak, 0, 0, 0, 0),
        (4, 1) if rs2 == 0 => short(Op::Jalr, 1, rd, 0, 0),
        (4, 1) => short(Op::Add, rd, rd, rs2, 0),
        (6, _) => short(Op::Sw, 0, 2, rs2, (bits(c, 12, 9) << 2 | bits(c, 8, 7) << 6) as i32),
        _ => ILLEGAL,
    }
}
