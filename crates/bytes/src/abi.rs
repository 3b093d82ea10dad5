//! How the arguments and results of an IR function travel in RISC-V machine code: ilp32 and lp64, integers alone.
//!
//! Source: RISC-V ELF psABI, "Integer calling convention". Scalars of up to XLEN bits take one register (a0 to a7) or one
//! stack slot, those of 2 XLEN bits two; with one register left, the low half is in a7 and the high half on the stack. No
//! pair of registers is aligned, for no function here has a variable number of arguments. On the stack, offsets count from
//! the stack pointer at entry and are multiples of the alignment of the type, at least XLEN. What is narrower than XLEN is
//! extended to 32 bits by its own sign, then *sign-extended* to XLEN: an unsigned 32-bit value on lp64 too.
//!
//! Needs: [`crate::layout`].  Keeps: the order of the C prototype (results by pointer, lengths, parameters).  Absent: what a
//! compiler does to functions nobody else can call, which its caller says.
//! Trusted: bytes, leaks, certifier.

use crate::layout::{object, passed, scalar_range, NoLayout, Object, Unit, Width};
use num_bigint::BigInt;
use santoku_ir::{Func, Local, Program, Range, Ty};

/// Registers that carry arguments.
const ARG_REGS: u32 = 8;

/// Which result, length or parameter of the IR function (by position) an argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    Ret(usize),
    Len(usize),
    Param(usize),
}

/// A scalar by value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// Of the C type: 32, 64 or 128.
    pub bits: u32,
    pub signed: bool,
    /// What the value may be, inclusive.
    pub lo: BigInt,
    pub hi: BigInt,
    pub public: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The address of an object, aligned to `object.align`.
    Pointer(Object),
    Scalar(Scalar),
}

/// Where an argument is at entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// `count` registers from a`first` on, the low part first.
    Regs { first: u32, count: u32 },
    /// Bytes above the stack pointer.
    Stack { offset: u32 },
    /// Low half in a7, high half on the stack at this offset.
    Split { offset: u32 },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arg {
    pub role: Role,
    pub kind: Kind,
    pub place: Place,
}

/// A function as its machine code sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    pub args: Vec<Arg>,
    /// The only result, a scalar, in a0 (and a1 when it is twice as wide as a register).
    pub returned: Option<Scalar>,
    /// Bytes of arguments on the stack.
    pub stack: u32,
}

/// The signature of `func` for registers of `xlen` (32 or 64) bits.
///
/// # Errors
/// [`NoLayout::TooWide`] for scalars of more than two registers; others for types without layout.
pub fn signature(program: &Program, func: &Func, xlen: u32) -> Result<Signature, NoLayout> {
    signature_of(program, func, xlen, &|_| Passing::AsSaid, &|ty| Ok(ty.clone()))
}

/// How an argument reaches the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    AsSaid,
    /// Its registers are left free.
    Skipped,
    /// Those behind it move up.
    Absent,
}

/// The signature that is left where the code does not get all arguments, or knows the lengths of some.
///
/// # Errors
/// Those of [`signature`], and of `shape`.
pub fn signature_of(program: &Program, func: &Func, xlen: u32, passing: &dyn Fn(Role) -> Passing, shape: &dyn Fn(&Ty) -> Result<Ty, NoLayout>) -> Result<Signature, NoLayout> {
    let returned = match func.rets[..] {
        [only] if func.local(only).ty.is_scalar() => Some(scalar(func.local(only), xlen)?),
        _ => None,
    };
    let mut seats = Seats { xlen, reg: 0, stack: 0 };
    let mut args = vec![];
    let mut push = |role: Role, kind: Kind| match passing(role) {
        Passing::AsSaid => {
            let place = seats.next(&kind);
            args.push(Arg { role, kind, place });
        }
        Passing::Skipped => {
            seats.next(&kind);
        }
        Passing::Absent => {}
    };
    if returned.is_none() {
        for (k, id) in func.rets.iter().enumerate() {
            push(Role::Ret(k), Kind::Pointer(result(program, func.local(*id))?));
        }
    }
    for (k, id) in func.lens.iter().enumerate() {
        push(Role::Len(k), Kind::Scalar(length(func.local(*id))));
    }
    for (k, id) in func.params.iter().enumerate() {
        let local = func.local(*id);
        let kind = match local.ty.is_scalar() {
            true => Kind::Scalar(scalar(local, xlen)?),
            false => Kind::Pointer(object(program, &shape(&local.ty)?, local.public)?),
        };
        push(Role::Param(k), kind);
    }
    Ok(Signature { args, returned, stack: seats.stack })
}

/// A length: a `uint32_t`.
fn length(local: &Local) -> Scalar {
    let mut range = Range::word(32);
    if let Ty::Int(Some(r)) = &local.ty {
        range = range.meet(r);
    }
    Scalar { bits: 32, signed: false, lo: range.lo.into(), hi: range.hi.into(), public: true }
}

fn scalar(local: &Local, xlen: u32) -> Result<Scalar, NoLayout> {
    let Width { bits, signed } = passed(&local.ty)?;
    if bits > 2 * xlen {
        return Err(NoLayout::TooWide);
    }
    let range = scalar_range(&local.ty).ok_or(NoLayout::Unranged)?;
    Ok(Scalar { bits, signed, lo: range.lo.into(), hi: range.hi.into(), public: local.public })
}

/// The object that a result by pointer is written to; a scalar takes its parameter type.
fn result(program: &Program, local: &Local) -> Result<Object, NoLayout> {
    if !local.ty.is_scalar() {
        return object(program, &local.ty, local.public);
    }
    let width = passed(&local.ty)?;
    let range = scalar_range(&local.ty).ok_or(NoLayout::Unranged)?;
    let bytes = width.bits / 8;
    let unit = Unit { offset: 0, bytes, signed: width.signed, lo: range.lo.into(), hi: range.hi.into(), public: local.public };
    Ok(Object { units: vec![unit], size: u64::from(bytes), align: u64::from(bytes), repeat: None })
}

/// Registers and stack slots taken so far.
struct Seats {
    xlen: u32,
    reg: u32,
    /// Bytes.
    stack: u32,
}

impl Seats {
    fn next(&mut self, kind: &Kind) -> Place {
        let bits = match kind {
            Kind::Pointer(_) => self.xlen,
            Kind::Scalar(s) => s.bits,
        };
        let slot = self.xlen / 8;
        let count = bits.div_ceil(self.xlen);
        let left = ARG_REGS - self.reg;
        if count <= left {
            let first = self.reg;
            self.reg += count;
            return Place::Regs { first, count };
        }
        if left == 1 {
            // Only a scalar of two registers comes here, and then nothing is on the stack yet.
            self.reg = ARG_REGS;
            let offset = self.stack;
            self.stack += slot;
            return Place::Split { offset };
        }
        let offset = self.stack.next_multiple_of(count * slot);
        self.stack = offset + count * slot;
        Place::Stack { offset }
    }
}
