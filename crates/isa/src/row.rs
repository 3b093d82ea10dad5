//! What a row of the tables says: encoding, meaning, and the types of both.

/// Width of registers and addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Xlen {
    /// 32 bits.
    Rv32,
    /// 64 bits.
    Rv64,
}

impl Xlen {
    /// 32 or 64.
    pub fn bits(self) -> u32 {
        match self {
            Xlen::Rv32 => 32,
            Xlen::Rv64 => 64,
        }
    }

    /// All ones in the low [`Xlen::bits`].
    pub fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }
}

/// An instruction set: a base with the extensions present. The base instructions are always there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isa {
    /// Base.
    pub xlen: Xlen,
    /// Compressed instructions; instructions then lie at even addresses, else at multiples of four.
    pub c: bool,
    /// Multiplication and division.
    pub m: bool,
    /// Address generation.
    pub zba: bool,
    /// Basic bit manipulation.
    pub zbb: bool,
    /// Single bits.
    pub zbs: bool,
}

impl Isa {
    /// Whether instructions are taken at this address.
    pub const fn takes_at(&self, pc: u64) -> bool {
        pc % if self.c { 2 } else { 4 } == 0
    }

    const fn imc(xlen: Xlen, zb: bool) -> Isa {
        Isa { xlen, c: true, m: true, zba: zb, zbb: zb, zbs: zb }
    }

    /// RV32IMC.
    pub const fn rv32imc() -> Isa {
        Isa::imc(Xlen::Rv32, false)
    }

    /// RV64IMC.
    pub const fn rv64imc() -> Isa {
        Isa::imc(Xlen::Rv64, false)
    }

    /// RV32IMC with Zba, Zbb, Zbs.
    pub const fn rv32imc_zb() -> Isa {
        Isa::imc(Xlen::Rv32, true)
    }

    /// RV64IMC with Zba, Zbb, Zbs.
    pub const fn rv64imc_zb() -> Isa {
        Isa::imc(Xlen::Rv64, true)
    }

    /// Whether instructions of this extension exist.
    pub fn has(&self, ext: Ext) -> bool {
        match ext {
            Ext::I | Ext::System => true,
            Ext::M => self.m,
            Ext::Zba => self.zba,
            Ext::Zbb => self.zbb,
            Ext::Zbs => self.zbs,
        }
    }
}

/// Where an instruction belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ext {
    /// Base integer instructions.
    I,
    /// Fences, environment calls and control and status registers: named only.
    System,
    /// Multiplication and division.
    M,
    /// Address generation.
    Zba,
    /// Basic bit manipulation.
    Zbb,
    /// Single bits.
    Zbs,
}

/// Bases in which a row exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bases {
    /// RV32 and RV64.
    Both,
    /// RV32 only.
    Rv32,
    /// RV64 only.
    Rv64,
}

impl Bases {
    /// Whether `xlen` is among them.
    pub fn has(self, xlen: Xlen) -> bool {
        match self {
            Bases::Both => true,
            Bases::Rv32 => xlen == Xlen::Rv32,
            Bases::Rv64 => xlen == Xlen::Rv64,
        }
    }
}

/// Class of execution time: what may depend on operands on some machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Latency {
    /// The same for all operands on every machine in view.
    Fixed,
    /// Multiplications: operand-dependent on some small cores.
    Multiply,
    /// Divisions and remainders: operand-dependent nearly everywhere.
    Divide,
}

/// Width of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// XLEN.
    X,
    /// Twice XLEN.
    XX,
    /// So many bits.
    N(u32),
}

/// Operations on two values of one width; the result has it too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// Sum modulo 2^width.
    Add,
    /// Difference modulo 2^width.
    Sub,
    /// Product modulo 2^width.
    Mul,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Unsigned quotient; the divisor is not zero where the result is used.
    Udiv,
    /// Unsigned remainder; likewise.
    Urem,
    /// Signed quotient rounded towards zero; neither a zero divisor nor overflow where the result is used.
    Sdiv,
    /// Signed remainder with the dividend's sign; likewise.
    Srem,
}

/// Shifts. The count is taken modulo the width of what is shifted, a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    /// Left.
    Left,
    /// Right, zeros enter.
    Right,
    /// Right, copies of the sign enter.
    Arith,
}

/// Comparisons of two values of one width; the result has one bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// Equal.
    Eq,
    /// Less, unsigned.
    Ult,
    /// Less, signed.
    Slt,
}

/// Counts of bits; the result has the operand's width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// Zeros above the highest one; the width for 0.
    LeadingZeros,
    /// Zeros below the lowest one; the width for 0.
    TrailingZeros,
    /// Ones.
    Ones,
}

/// The meaning of a result. Operands of every node have the widths its kind asks for; a test walks all tables.
#[derive(Clone, Copy, Debug)]
pub enum Expr {
    /// First source register, XLEN bits.
    Rs1,
    /// Second source register, XLEN bits.
    Rs2,
    /// The immediate, sign-extended to XLEN (or not, as its field says).
    Imm,
    /// Address of the instruction, XLEN bits.
    Pc,
    /// A constant, sign-extended to XLEN.
    Const(i64),
    /// Complement.
    Not(&'static Expr),
    /// Two operands of one width.
    Bin(Binary, &'static Expr, &'static Expr),
    /// Value and count, of one width.
    Shift(Shift, &'static Expr, &'static Expr),
    /// Comparison: one bit.
    Cmp(Compare, &'static Expr, &'static Expr),
    /// Condition of one bit, then, else.
    If(&'static Expr, &'static Expr, &'static Expr),
    /// Widening with zeros.
    Zext(Width, &'static Expr),
    /// Widening with the sign.
    Sext(Width, &'static Expr),
    /// `Bits(lo, width, value)`: bits `lo .. lo + width`.
    Bits(u32, u32, &'static Expr),
    /// Upper half.
    High(&'static Expr),
    /// Parts put side by side, the highest first; not empty.
    Concat(&'static [Expr]),
    /// Count of bits.
    Count(Count, &'static Expr),
}

/// What an instruction does.
#[derive(Clone, Copy, Debug)]
pub enum Sem {
    /// Writes `rd`.
    Write(Expr),
    /// Reads memory into `rd`, extended to XLEN.
    Load {
        /// Byte address.
        address: Expr,
        /// 1, 2, 4 or 8.
        bytes: u8,
        /// Extended with the sign.
        signed: bool,
    },
    /// Writes the low bytes of `rs2` to memory.
    Store {
        /// Byte address.
        address: Expr,
        /// 1, 2, 4 or 8.
        bytes: u8,
    },
    /// Goes to `pc + imm` if the bit is set.
    Branch(Expr),
    /// Goes to the address and writes that of the next instruction to `rd`.
    Jump(Expr),
    /// Orders memory accesses.
    Fence,
    /// Calls the environment.
    EnvCall,
    /// Hands over to a debugger.
    Break,
    /// Reads or writes a control and status register (the number is the immediate).
    Csr,
}

/// One instruction of 32 bits.
#[derive(Debug)]
pub struct Row {
    /// Mnemonic, as in the manual, lower case.
    pub name: &'static str,
    /// Extension.
    pub ext: Ext,
    /// Bases in which this row is meant; a mnemonic encoded differently in each has a row for each.
    pub bases: Bases,
    /// Encoding as the manual prints it, bit 31 first; see [`crate::Pattern`] for the notation.
    pub pattern: &'static str,
    /// Class of execution time.
    pub latency: Latency,
    /// Meaning.
    pub sem: Sem,
}

impl Row {
    /// Whether the row is part of `isa`.
    pub fn is_in(&self, isa: &Isa) -> bool {
        self.bases.has(isa.xlen) && isa.has(self.ext)
    }

    fn has_field(&self, name: &str) -> bool {
        self.pattern.split(' ').any(|token| token == name)
    }
}

/// One compressed instruction of 16 bits.
#[derive(Debug)]
pub struct Short {
    /// Mnemonic.
    pub name: &'static str,
    /// Bases in which it exists.
    pub bases: Bases,
    /// Encoding, bit 15 first.
    pub pattern: &'static str,
    /// The instruction it abbreviates: `rd`, `rs1` and `rs2` of the long form in terms of this one's fields; the immediate is
    /// this one's own.
    pub long: &'static str,
}

/// A decoded instruction. Fields that the row does not have are 0.
#[derive(Clone, Copy, Debug)]
pub struct Inst {
    /// The instruction; for a compressed one, the instruction it abbreviates.
    pub row: &'static Row,
    /// Destination, 0 to 31.
    pub rd: u8,
    /// First source, 0 to 31.
    pub rs1: u8,
    /// Second source, 0 to 31.
    pub rs2: u8,
    /// Immediate, extended as its field says; a shift count, an offset, or `lui`'s value already shifted.
    pub imm: i64,
    /// Bytes: 2 or 4.
    pub len: u8,
    /// The encoding; above 16 bits zero if `len` is 2.
    pub bits: u32,
}

impl Inst {
    /// Whether the value of `rs1` matters.
    pub fn reads_rs1(&self) -> bool {
        self.row.has_field("rs1")
    }

    /// Whether the value of `rs2` matters.
    pub fn reads_rs2(&self) -> bool {
        self.row.has_field("rs2")
    }
}
