//! Which bytes relocations patch: each byte by one thing alone.
//!
//! Source: RISC-V ELF psABI, version 1.0, chapters 8.4 and 8.5; GNU ld 2.40.

use object::elf::*;

use crate::error::Error;
use crate::raw::{Raw, RawRelocation};

/// What a relocation does with the bytes at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    /// One or two instructions.
    Code,
    /// A number, written.
    Number,
    /// A number that several relocations put together, of this many bits; 0: of 7-bit groups.
    Sum(u32),
    /// Instructions that do nothing.
    Padding,
    /// The linker may shorten what the relocation before is of.
    Relax,
}

/// Code that a linker may drop or shorten: first byte and end, in order of address, disjoint.
#[derive(Clone, Debug, Default)]
pub(crate) struct Loose(Vec<(u64, u64)>);

impl Loose {
    pub(crate) fn add(&mut self, from: u64, end: u64) {
        if from < end {
            self.0.push((from, end));
        }
    }

    /// Sections need not be in order of address.
    pub(crate) fn in_order(mut self) -> Loose {
        self.0.sort_unstable();
        self
    }

    /// Whether the byte at an address is part of such code.
    pub(crate) fn holds(&self, at: u64) -> bool {
        self.between(at, at.saturating_add(1))
    }

    /// Whether an address is inside of such code, behind its first byte: what is there once linked is not known.
    pub(crate) fn splits(&self, at: u64) -> bool {
        let after = self.0.partition_point(|(_, end)| *end <= at);
        self.0.get(after).is_some_and(|(from, _)| *from < at)
    }

    /// Whether the distance of two addresses may become another.
    pub(crate) fn between(&self, a: u64, b: u64) -> bool {
        let (low, high) = (a.min(b), a.max(b));
        let after = self.0.partition_point(|(_, end)| *end <= low);
        self.0.get(after).is_some_and(|(from, _)| *from < high)
    }
}

/// Bytes of the longest number that relocations make.
pub(crate) const POINTER_MAX: u64 = 10;

pub(crate) struct Extent {
    pub sort: Sort,
    pub size: u64,
}

/// What is patched, as far as the type says; `None`: nothing.
pub(crate) fn extent(raw: &Raw, r: &RawRelocation) -> Option<Extent> {
    extent_in(raw.sections[r.section].bytes.as_deref().unwrap_or(&[]), r)
}

/// The same, in a section of these bytes.
fn extent_in(bytes: &[u8], r: &RawRelocation) -> Option<Extent> {
    let some = |sort, size| Some(Extent { sort, size });
    match r.kind {
        R_RISCV_NONE => None,
        R_RISCV_RELAX => some(Sort::Relax, 0),
        R_RISCV_ALIGN => some(Sort::Padding, u64::try_from(r.addend).unwrap_or(u64::MAX)),
        R_RISCV_32 | R_RISCV_32_PCREL => some(Sort::Number, 4),
        R_RISCV_64 => some(Sort::Number, 8),
        R_RISCV_SET6 | R_RISCV_SUB6 => some(Sort::Sum(6), 1),
        R_RISCV_ADD8 | R_RISCV_SUB8 | R_RISCV_SET8 => some(Sort::Sum(8), 1),
        R_RISCV_ADD16 | R_RISCV_SUB16 | R_RISCV_SET16 => some(Sort::Sum(16), 2),
        R_RISCV_ADD32 | R_RISCV_SUB32 | R_RISCV_SET32 => some(Sort::Sum(32), 4),
        R_RISCV_ADD64 | R_RISCV_SUB64 => some(Sort::Sum(64), 8),
        R_RISCV_SET_ULEB128 | R_RISCV_SUB_ULEB128 => {
            let from = usize::try_from(r.offset).ok().and_then(|o| bytes.get(o..)).unwrap_or(&[]);
            some(Sort::Sum(0), from.iter().take(POINTER_MAX as usize).take_while(|b| **b & 0x80 != 0).count() as u64 + 1)
        }
        R_RISCV_CALL | R_RISCV_CALL_PLT => some(Sort::Code, 8),
        R_RISCV_RVC_BRANCH | R_RISCV_RVC_JUMP => some(Sort::Code, 2),
        // Whatever else there is is refused where it is applied, or of four bytes.
        _ => some(Sort::Code, 4),
    }
}

/// Whether a relocation patches nothing outside a section of these bytes: a linker does not ask, and another section may come to lie there.
pub(crate) fn is_inside(bytes: &[u8], r: &RawRelocation) -> bool {
    let size = extent_in(bytes, r).map_or(0, |e| e.size);
    r.offset.checked_add(size).is_some_and(|end| end <= bytes.len() as u64)
}

fn corrupt(raw: &Raw, r: &RawRelocation, reason: &str) -> Error {
    let section = &raw.sections[r.section].name;
    Error::corrupt(format!("relocation of type {} at {:#x} of section {section}", r.kind, r.offset), reason)
}

fn rank(sort: Sort) -> u8 {
    match sort {
        Sort::Padding => 0,
        Sort::Code | Sort::Number | Sort::Sum(_) => 1,
        Sort::Relax => 2,
    }
}

/// Looks at all relocations together; gives the code that a linker may drop or shorten.
pub(crate) fn check(raw: &Raw, relocations: &[RawRelocation]) -> Result<Loose, Error> {
    let mut all: Vec<(&RawRelocation, Extent)> = relocations.iter().filter_map(|r| Some((r, extent(raw, r)?))).collect();
    // What shortens stands behind what it shortens, whatever the order in the file.
    all.sort_by_key(|(r, e)| (r.section, r.offset, rank(e.sort)));
    let (mut loose, mut last): (Loose, Option<(&RawRelocation, u64, Sort)>) = (Loose::default(), None);
    for (r, Extent { sort, size }) in all {
        let end = r.offset.checked_add(size).ok_or_else(|| corrupt(raw, r, "it patches bytes outside the section"))?;
        let before = last.filter(|(b, _, _)| b.section == r.section);
        if sort == Sort::Relax {
            let Some((_, end, _)) = before.filter(|(b, _, sort)| b.offset == r.offset && *sort == Sort::Code) else {
                return Err(corrupt(raw, r, "it lets the linker shorten what no relocation describes"));
            };
            let start = raw.sections[r.section].address;
            loose.add(start.wrapping_add(r.offset), start.wrapping_add(end));
            continue;
        }
        if let Some((b, end_before, sort_before)) = before {
            let together = matches!(sort, Sort::Sum(_)) && sort == sort_before && b.offset == r.offset;
            if r.offset < end_before && !together {
                return Err(corrupt(raw, r, "another relocation patches the same bytes"));
            }
        }
        pairs(raw, r, before.map(|(b, _, _)| b))?;
        if sort == Sort::Code && !raw.sections[r.section].executable {
            return Err(corrupt(raw, r, "it patches an instruction where no code is"));
        }
        if sort == Sort::Padding {
            let (from, end) = padding(raw, r, end)?;
            loose.add(from, end);
        }
        last = Some((r, end, sort));
    }
    if let Some((r, _, _)) = last {
        unfinished(raw, Some(r))?;
    }
    Ok(loose.in_order())
}

/// A distance in 7-bit groups is what is set less what is taken off, one right after the other.
fn pairs(raw: &Raw, r: &RawRelocation, before: Option<&RawRelocation>) -> Result<(), Error> {
    let set = before.is_some_and(|b| b.kind == R_RISCV_SET_ULEB128 && b.offset == r.offset);
    match r.kind {
        R_RISCV_SUB_ULEB128 if set => Ok(()),
        R_RISCV_SUB_ULEB128 => Err(corrupt(raw, r, "nothing is set that it takes something off")),
        _ => unfinished(raw, before),
    }
}

fn unfinished(raw: &Raw, last: Option<&RawRelocation>) -> Result<(), Error> {
    match last.filter(|b| b.kind == R_RISCV_SET_ULEB128) {
        Some(b) => Err(corrupt(raw, b, "nothing is taken off what it sets")),
        None => Ok(()),
    }
}

const NOP: u32 = 0x13;
const SHORT_NOP: u16 = 1;

/// Padding must be whole instructions that do nothing: the linker keeps as many as it needs.
fn padding(raw: &Raw, r: &RawRelocation, end: u64) -> Result<(u64, u64), Error> {
    let section = &raw.sections[r.section];
    if r.addend < 0 || !section.executable {
        return Err(corrupt(raw, r, "only code is aligned so, with a number of bytes that is not negative"));
    }
    let range = usize::try_from(r.offset).ok().zip(usize::try_from(end).ok());
    let bytes = range.and_then(|(a, b)| section.bytes.as_deref()?.get(a..b));
    let mut bytes = bytes.ok_or_else(|| corrupt(raw, r, "it pads with bytes outside the section"))?;
    while !bytes.is_empty() {
        bytes = match bytes {
            [a, b, c, d, rest @ ..] if u32::from_le_bytes([*a, *b, *c, *d]) == NOP => rest,
            [a, b, rest @ ..] if u16::from_le_bytes([*a, *b]) == SHORT_NOP => rest,
            _ => return Err(corrupt(raw, r, "what the linker may drop is not made of instructions that do nothing")),
        };
    }
    Ok((section.address.wrapping_add(r.offset), section.address.wrapping_add(end)))
}
