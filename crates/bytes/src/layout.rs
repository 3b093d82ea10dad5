//! Where the bytes of IR values lie in memory, as the RISC-V C ABIs store the C types that stand for IR types.
//!
//! Needs: types with their ranges.  Keeps: independence of the C back end, which must store values in the same way: this
//! file follows the rules (the narrowest of 8, 16, 32, 64 or 128 bits that holds the range, natural alignment), not its
//! tables, and the tests ask the C compiler.  Absent: registers ([`super::abi`]), endianness (RISC-V is little-endian).
//!
//! All integer types are aligned to their size on both ABIs, 64-bit ones on ilp32 too (RISC-V psABI, "C type details").
//! Trusted: bytes, leaks, certifier.

use num_bigint::BigInt;
use santoku_ir::{Len, Program, Range, StructId, Ty};
use santoku_num::Int;

/// One scalar in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Byte offset in the object, or in the element of an array of run-time length.
    pub offset: u64,
    /// 1, 2, 4, 8 or 16.
    pub bytes: u32,
    /// Negative values are stored in two's complement.
    pub signed: bool,
    /// What this very element may be, inclusive: narrower than what the bytes could hold.
    pub lo: BigInt,
    pub hi: BigInt,
    pub public: bool,
}

/// An object in memory: its scalars in storage order (ascending offset, that is the order of elements and fields).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// For an array of run-time length: the scalars of one element.
    pub units: Vec<Unit>,
    /// Bytes, padding at the end included; of one element for an array of run-time length.
    pub size: u64,
    pub align: u64,
    /// An array of run-time length: element `i` starts at byte `i * size`; its length.
    pub repeat: Option<Len>,
}

/// Why a type has no layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoLayout {
    /// An integer without a range: the width pass did not reach it.
    Unranged,
    /// More than 128 bits.
    TooWide,
    /// A run-time length below the outermost array.
    InnerLength,
    /// More scalars than [`UNITS_MAX`].
    TooLong,
    Malformed,
}

impl std::fmt::Display for NoLayout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            NoLayout::Unranged => "an integer without a range",
            NoLayout::TooWide => "an integer of more than 128 bits",
            NoLayout::InnerLength => "a run-time length inside an aggregate",
            NoLayout::TooLong => "an object of too many scalars",
            NoLayout::Malformed => "a type of no meaning",
        })
    }
}

/// Scalars one object may have.
pub const UNITS_MAX: u64 = 1 << 20;

/// A C integer type: bits (8, 16, 32, 64, 128) and whether it is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    pub bits: u32,
    pub signed: bool,
}

/// The inclusive range of a scalar type; `None` for an integer without one and for aggregates.
pub fn scalar_range(ty: &Ty) -> Option<Range> {
    match ty {
        Ty::Word(bits) => Some(Range::word(*bits)),
        Ty::Bool => Some(Range::bool()),
        Ty::Int(range) => range.clone(),
        Ty::Array { .. } | Ty::Struct(_) => None,
    }
}

/// The narrowest C type for values of a range.
pub fn width_of(range: &Range) -> Result<Width, NoLayout> {
    let signed = range.lo.is_negative();
    // -2^(n-1) needs n bits, and so does 2^(n-1) - 1.
    let magnitude = |v: &Int| if v.is_negative() { v.add(&Int::ONE).bits() } else { v.bits() };
    let needed = magnitude(&range.lo).max(magnitude(&range.hi)) + u64::from(signed);
    let bits = [8u32, 16, 32, 64, 128].into_iter().find(|b| u64::from(*b) >= needed).ok_or(NoLayout::TooWide)?;
    Ok(Width { bits, signed })
}

/// The C type of a scalar in memory, inside an aggregate.
pub fn stored(ty: &Ty) -> Result<Width, NoLayout> {
    match ty {
        Ty::Array { .. } | Ty::Struct(_) => Err(NoLayout::Malformed),
        Ty::Word(_) | Ty::Int(_) | Ty::Bool => width_of(&scalar_range(ty).ok_or(NoLayout::Unranged)?),
    }
}

/// The C type of a scalar as a parameter or result: at least 32 bits.
pub fn passed(ty: &Ty) -> Result<Width, NoLayout> {
    let width = stored(ty)?;
    Ok(Width { bits: width.bits.max(32), ..width })
}

/// The scalar with which every element of an array with a range per element is stored.
fn joined(ranges: &[Range]) -> Option<Range> {
    ranges.iter().cloned().reduce(|a, b| a.join(&b))
}

struct Lay<'p> {
    program: &'p Program,
    public: bool,
    units: Vec<Unit>,
}

/// The layout of an object of type `ty`, all of whose scalars are public or all secret.
///
/// # Errors
/// See [`NoLayout`].
pub fn object(program: &Program, ty: &Ty, public: bool) -> Result<Object, NoLayout> {
    let mut lay = Lay { program, public, units: vec![] };
    if let Ty::Array { elem, len: len @ Len::Param { .. }, ranges: None } = ty {
        let (size, align) = lay.at(elem, 0)?;
        return Ok(Object { units: lay.units, size, align, repeat: Some(len.clone()) });
    }
    let (size, align) = lay.at(ty, 0)?;
    Ok(Object { units: lay.units, size, align, repeat: None })
}

impl Lay<'_> {
    /// Lays a value out from `offset`, which is aligned for it; size and alignment.
    fn at(&mut self, ty: &Ty, offset: u64) -> Result<(u64, u64), NoLayout> {
        match ty {
            Ty::Word(_) | Ty::Int(_) | Ty::Bool => {
                let range = scalar_range(ty).ok_or(NoLayout::Unranged)?;
                self.scalar(stored(ty)?, range, offset)
            }
            Ty::Array { elem, len, ranges } => {
                let Len::Const(n) = len else { return Err(NoLayout::InnerLength) };
                self.array(elem, *n, ranges.as_deref(), offset)
            }
            Ty::Struct(id) => self.record(*id, offset),
        }
    }

    fn scalar(&mut self, width: Width, range: Range, offset: u64) -> Result<(u64, u64), NoLayout> {
        if self.units.len() as u64 >= UNITS_MAX {
            return Err(NoLayout::TooLong);
        }
        let bytes = width.bits / 8;
        self.units.push(Unit { offset, bytes, signed: width.signed, lo: range.lo.into(), hi: range.hi.into(), public: self.public });
        Ok((u64::from(bytes), u64::from(bytes)))
    }

    fn array(&mut self, elem: &Ty, n: u64, ranges: Option<&[Range]>, offset: u64) -> Result<(u64, u64), NoLayout> {
        if n > UNITS_MAX {
            return Err(NoLayout::TooLong);
        }
        if let Some(joined) = ranges.and_then(joined) {
            let width = width_of(&joined)?;
            let bytes = u64::from(width.bits / 8);
            for (k, range) in ranges.unwrap_or_default().iter().enumerate() {
                self.scalar(width, range.clone(), offset + k as u64 * bytes)?;
            }
            return Ok((bytes * n, bytes));
        }
        // C has no empty arrays: one without elements takes the place of one with one.
        let before = self.units.len();
        let (size, align) = self.at(elem, offset)?;
        if n == 0 {
            self.units.truncate(before);
            return Ok((size, align));
        }
        for k in 1..n {
            self.at(elem, offset + k * size)?;
        }
        Ok((n * size, align))
    }

    fn record(&mut self, id: StructId, offset: u64) -> Result<(u64, u64), NoLayout> {
        let def = self.program.structs.get(id.0 as usize).ok_or(NoLayout::Malformed)?;
        let (mut size, mut align) = (0u64, 1u64);
        for (_, ty) in &def.fields {
            let own = alignment(self.program, ty)?;
            size = size.next_multiple_of(own);
            size += self.at(ty, offset + size)?.0;
            align = align.max(own);
        }
        Ok((size.next_multiple_of(align), align))
    }
}

/// Bytes to a multiple of which objects of this type are aligned.
fn alignment(program: &Program, ty: &Ty) -> Result<u64, NoLayout> {
    match ty {
        Ty::Word(_) | Ty::Int(_) | Ty::Bool => Ok(u64::from(stored(ty)?.bits / 8)),
        Ty::Array { elem, ranges, .. } => match ranges.as_deref().and_then(joined) {
            Some(range) => Ok(u64::from(width_of(&range)?.bits / 8)),
            None => alignment(program, elem),
        },
        Ty::Struct(id) => {
            let def = program.structs.get(id.0 as usize).ok_or(NoLayout::Malformed)?;
            def.fields.iter().try_fold(1, |most, (_, t)| Ok(alignment(program, t)?.max(most)))
        }
    }
}
