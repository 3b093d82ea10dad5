//! What a register or a word of the stack holds, as far as it matters for what a function leaves behind.
//!
//! Needs: the domain of the machine model.  Keeps: whatever is computed from a value that may depend on a secret may too.  Absent: memory.
//! Trusted: certifier.

use santoku_isa::{Domain, Word, Words};

/// A value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum V {
    Known(Word),
    /// The stack pointer at entry, and so many bytes.
    Stack(i64),
    /// What a register had at entry.
    Entry(u8),
    /// The word of the caller's arguments so many bytes above the stack pointer at entry: no secret.
    Handed(i64),
    /// Result register 10 + n of the last call.
    Result(u8),
    /// The low 32 bits of such a register of 64.
    LowEntry(u8),
    LowResult(u8),
    /// Any value: whether it may depend on a secret, and whether it may be an address in the frame.
    Any { secret: bool, frame: bool },
}

/// Any value that depends on no secret.
pub(crate) const PUBLIC: V = V::Any { secret: false, frame: false };
/// Any value.
pub(crate) const SECRET: V = V::Any { secret: true, frame: false };

impl V {
    /// It may be an address in the frame.
    pub fn is_of_frame(self) -> bool {
        matches!(self, V::Stack(_) | V::Any { frame: true, .. })
    }
}

/// What a function is known to get and to give.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Interface {
    /// Registers that hold secrets at entry, one bit each.
    pub secret_entry: u32,
    /// What it returns is a secret.
    pub secret_result: bool,
    /// As in [`Values`].
    pub narrow_entry: u32,
    pub narrow_result: bool,
    /// Registers in which it returns something, from a0 on.
    pub results: u32,
    /// Registers in which it gets something, from a0 on.
    pub arguments: u32,
    /// Bytes of arguments on the stack.
    pub stack: u32,
}

/// Values under what is known of the function's arguments and of what it calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Values {
    /// Registers that hold secrets at entry, one bit each.
    pub secret_entry: u32,
    /// A secret is what calls give back.
    pub secret_result: bool,
    /// Registers that hold a value of 32 bits at entry, extended with its sign as the convention says.
    pub narrow_entry: u32,
    /// So is what calls give back.
    pub narrow_result: bool,
    /// Of registers.
    pub xlen: u32,
}

impl Values {
    pub fn is_secret(&self, v: V) -> bool {
        match v {
            V::Known(_) | V::Stack(_) | V::Handed(_) => false,
            V::Entry(r) | V::LowEntry(r) => self.secret_entry >> r & 1 == 1,
            V::Result(_) | V::LowResult(_) => self.secret_result,
            V::Any { secret, .. } => secret,
        }
    }

    /// Any value that is computed from these.
    pub fn some(&self, all: &[V]) -> V {
        V::Any { secret: all.iter().any(|v| self.is_secret(*v)), frame: all.iter().any(|v| v.is_of_frame()) }
    }

    /// What either value may be.
    pub fn join(&self, a: V, b: V) -> V {
        if a == b { a } else { self.some(&[a, b]) }
    }

    fn two(&self, a: &V, b: &V, known: impl Fn(&mut Words, &Word, &Word) -> Word) -> V {
        match (a, b) {
            (V::Known(a), V::Known(b)) => V::Known(known(&mut Words, a, b)),
            _ => self.some(&[*a, *b]),
        }
    }

    fn one(&self, a: &V, known: impl Fn(&mut Words, &Word) -> Word) -> V {
        match a {
            V::Known(a) => V::Known(known(&mut Words, a)),
            _ => self.some(&[*a]),
        }
    }

    /// Two places of the stack are compared by their distance: it reaches over no end of the address space.
    fn compared(&self, a: &V, b: &V, places: impl Fn(i64, i64) -> bool, known: impl Fn(&mut Words, &Word, &Word) -> Word) -> V {
        match (a, b) {
            (V::Stack(a), V::Stack(b)) => V::Known(Word::new(u128::from(places(*a, *b)), 1)),
            _ => self.two(a, b, known),
        }
    }
}

/// A number as a distance.
fn distance(w: &Word) -> Option<i64> {
    i64::try_from(w.signed()).ok()
}

impl Domain for Values {
    type V = V;

    fn constant(&mut self, value: u128, width: u32) -> V {
        V::Known(Word::new(value, width))
    }
    fn add(&mut self, a: &V, b: &V) -> V {
        match (a, b) {
            (V::Stack(s), V::Known(w)) | (V::Known(w), V::Stack(s)) if w.width == self.xlen => distance(w).and_then(|d| s.checked_add(d)).map_or_else(|| self.some(&[*a, *b]), V::Stack),
            // How copies of registers are written.
            (v @ (V::Entry(_) | V::Result(_) | V::Handed(_)), V::Known(Word { bits: 0, width })) | (V::Known(Word { bits: 0, width }), v @ (V::Entry(_) | V::Result(_) | V::Handed(_)))
                if *width == self.xlen => *v,
            (v @ (V::LowEntry(_) | V::LowResult(_)), V::Known(Word { bits: 0, width: 32 })) => *v,
            _ => self.two(a, b, Words::add),
        }
    }
    fn sub(&mut self, a: &V, b: &V) -> V {
        match (a, b) {
            (V::Stack(s), V::Known(w)) if w.width == self.xlen => distance(w).and_then(|d| s.checked_sub(d)).map_or_else(|| self.some(&[*a, *b]), V::Stack),
            _ => self.two(a, b, Words::sub),
        }
    }
    fn mul(&mut self, a: &V, b: &V) -> V {
        self.two(a, b, Words::mul)
    }
    fn and(&mut self, a: &V, b: &V) -> V {
        self.two(a, b, Words::and)
    }
    fn or(&mut self, a: &V, b: &V) -> V {
        self.two(a, b, Words::or)
    }
    fn xor(&mut self, a: &V, b: &V) -> V {
        self.two(a, b, Words::xor)
    }
    fn not(&mut self, a: &V) -> V {
        self.one(a, Words::not)
    }
    fn shl(&mut self, a: &V, count: &V) -> V {
        self.two(a, count, Words::shl)
    }
    fn lshr(&mut self, a: &V, count: &V) -> V {
        self.two(a, count, Words::lshr)
    }
    fn ashr(&mut self, a: &V, count: &V) -> V {
        self.two(a, count, Words::ashr)
    }
    fn ult(&mut self, a: &V, b: &V) -> V {
        self.compared(a, b, |a, b| a < b, Words::ult)
    }
    fn slt(&mut self, a: &V, b: &V) -> V {
        self.two(a, b, Words::slt)
    }
    fn eq(&mut self, a: &V, b: &V) -> V {
        self.compared(a, b, |a, b| a == b, Words::eq)
    }
    fn ite(&mut self, c: &V, a: &V, b: &V) -> V {
        match c {
            V::Known(c) => if c.bits == 1 { *a } else { *b },
            _ => self.some(&[*c, *a, *b]),
        }
    }
    fn zext(&mut self, a: &V, width: u32) -> V {
        self.one(a, |d, a| d.zext(a, width))
    }
    fn sext(&mut self, a: &V, width: u32) -> V {
        match a {
            V::LowEntry(r) if width == self.xlen && self.narrow_entry >> r & 1 == 1 => V::Entry(*r),
            V::LowResult(n) if width == self.xlen && self.narrow_result => V::Result(*n),
            _ => self.one(a, |d, a| d.sext(a, width)),
        }
    }
    fn extract(&mut self, a: &V, lo: u32, width: u32) -> V {
        match a {
            V::Entry(r) if (lo, width) == (0, 32) => V::LowEntry(*r),
            V::Result(n) if (lo, width) == (0, 32) => V::LowResult(*n),
            _ => self.one(a, |d, a| d.extract(a, lo, width)),
        }
    }
    fn concat(&mut self, hi: &V, lo: &V) -> V {
        self.two(hi, lo, Words::concat)
    }
    fn udiv(&mut self, a: &V, b: &V) -> V {
        self.two(a, b, Words::udiv)
    }
    fn urem(&mut self, a: &V, b: &V) -> V {
        self.two(a, b, Words::urem)
    }
    fn sdiv(&mut self, a: &V, b: &V) -> V {
        self.two(a, b, Words::sdiv)
    }
    fn srem(&mut self, a: &V, b: &V) -> V {
        self.two(a, b, Words::srem)
    }
    fn clz(&mut self, a: &V) -> V {
        self.one(a, Words::clz)
    }
    fn ctz(&mut self, a: &V) -> V {
        self.one(a, Words::ctz)
    }
    fn cpop(&mut self, a: &V) -> V {
        self.one(a, Words::cpop)
    }
}
