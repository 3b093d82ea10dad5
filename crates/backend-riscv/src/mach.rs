//! Instructions on registers of the machine; places in the frame have no number yet.
//! Trusted: nothing: the certifier looks at the bytes.

use crate::code::Label;
use crate::forms::Kind;

/// `x0` to `x31`.
pub type X = u8;

/// Where memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    Reg(X),
    Slot(u32),
    /// The word of a register that is kept in the frame.
    Spilled(u32),
    /// A word that the caller put on the stack.
    Incoming(u32),
    /// A word for a callee on the stack.
    Outgoing(u32),
    /// The word of a register that the caller wants back.
    Saved(u32),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mach {
    Three(&'static str, X, X, X),
    Imm(&'static str, X, X, i64),
    Li(X, i64),
    Table(X, u32),
    Slot(X, u32, i64),
    Load(&'static str, X, At, i64),
    Store(&'static str, X, At, i64),
    Mv(X, X),
    Group(Kind, Vec<X>, Vec<X>, Vec<X>),
    Label(Label),
    Jump(Label),
    Branch(&'static str, X, X, Label),
    Call(String),
    Return,
    Stop,
    /// It writes no register and does nothing.
    Fill,
}

/// An instruction, and the function's register that it gives a value, for the reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub mach: Mach,
    pub of: Option<u32>,
}

impl From<Mach> for Line {
    fn from(mach: Mach) -> Line {
        Line { mach, of: None }
    }
}

impl Mach {
    /// The register of the machine that it writes, of one that writes one.
    pub fn writes(&self) -> Option<X> {
        match self {
            Mach::Three(_, d, ..) | Mach::Imm(_, d, ..) | Mach::Mv(d, _) | Mach::Li(d, _) | Mach::Table(d, _) | Mach::Slot(d, ..) | Mach::Load(_, d, ..) => Some(*d),
            _ => None,
        }
    }
}

/// A load and a store of a whole register.
pub fn word_access(xlen: u32) -> (&'static str, &'static str) {
    if xlen == 64 { ("ld", "sd") } else { ("lw", "sw") }
}

/// `ra`, `sp`.
pub const RA: X = 1;
pub const SP: X = 2;
/// For distances that are far, and for values on their way round; nothing stays there.
pub const SCRATCH: X = 31;
/// `a0` to `a7`, `t0` to `t5`.
pub const CALLER: [X; 14] = [10, 11, 12, 13, 14, 15, 16, 17, 5, 6, 7, 28, 29, 30];
/// `s0` to `s11`.
pub const CALLEE: [X; 12] = [8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27];
