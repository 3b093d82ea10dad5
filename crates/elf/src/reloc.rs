//! Relocations of an object, applied to the bytes of its sections.
//!
//! Source: RISC-V ELF psABI, version 1.0, chapter 8.4.

use std::collections::{BTreeMap, BTreeSet};

use object::elf::*;

use crate::doubt::{self, Doubts};
use crate::error::Error;
use crate::insn::{self, Format};
use crate::patches::{self, Extent, Loose, Sort, POINTER_MAX};
use crate::place::Addresses;
use crate::raw::{Home, Raw, RawRelocation, SymbolKind};

/// What an instruction refers to, known from its relocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    pub role: Role,
    /// Symbol and addend: the address meant.
    pub target: u64,
    /// Address of the symbol, unless it stands for a whole section.
    pub anchor: Option<u64>,
    /// The symbol is that of a function or data object, not a label.
    pub typed: bool,
    /// The symbol is undefined.
    pub external: bool,
    /// The symbol is a label of the compiler's own (`.L`), which no other file can name.
    pub private: bool,
    /// Address of the section the symbol is in.
    pub home: Option<u64>,
    /// Of a low part: the `auipc` whose sum it completes.
    pub auipc: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// `lui` or `auipc`.
    High,
    /// The instruction that adds the low 12 bits.
    Low,
    /// A direct jump or branch.
    Jump,
}

/// References by address of the instruction.
pub(crate) type References = BTreeMap<u64, Reference>;

/// What relocations say beside the bytes they patch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Relocated {
    /// Of instructions.
    pub references: References,
    /// Places of numbers that depend on where things lie: pointers, distances.
    pub pointers: BTreeMap<u64, Pointer>,
    /// Places of numbers in data, and what they are made of.
    pub named: Vec<(u64, Reference)>,
    /// Instructions and numbers that refer to what is not final.
    pub doubts: Doubts,
    /// Code that a linker may drop or shorten.
    pub loose: Loose,
}

/// A number in data that depends on where things lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pointer {
    pub size: u64,
    /// What it is the address of; `None`: a distance, or something else made of addresses.
    pub to: Option<Reference>,
}

/// Patches the sections that `wanted` names by index.
pub(crate) fn apply(raw: &mut Raw, addresses: &Addresses, wanted: impl Fn(usize) -> bool) -> Result<Relocated, Error> {
    let relocations: Vec<RawRelocation> = raw.relocations.iter().copied().filter(|r| wanted(r.section)).collect();
    let loose = patches::check(raw, &relocations)?;
    let mut patcher = Patcher { raw, addresses, done: Relocated { loose, ..Relocated::default() }, highs: BTreeMap::new(), loose_highs: BTreeSet::new() };
    for relocation in &relocations {
        patcher.note_high(relocation)?;
    }
    for relocation in &relocations {
        patcher.one(relocation)?;
        patcher.note_doubt(relocation);
    }
    Ok(patcher.done)
}

struct Patcher<'a> {
    raw: &'a mut Raw,
    addresses: &'a Addresses,
    done: Relocated,
    /// Every `auipc` with a relocation: low parts name its address, not the symbol.
    highs: BTreeMap<u64, (Reference, RawRelocation)>,
    /// What a `lui` makes the upper part of that a linker may leave out.
    loose_highs: BTreeSet<u64>,
}

/// Two addresses of which one `lui` makes the upper part are less far from each other: as much as low parts reach.
const LOW_REACH: u64 = 2048;

impl Patcher<'_> {
    fn place(&self, r: &RawRelocation) -> u64 {
        self.raw.sections[r.section].address.wrapping_add(r.offset)
    }

    fn corrupt(&self, r: &RawRelocation, reason: impl std::fmt::Display) -> Error {
        let section = &self.raw.sections[r.section].name;
        Error::corrupt(format!("relocation of type {} at {:#x} of section {section}", r.kind, r.offset), reason)
    }

    fn reference(&self, r: &RawRelocation, role: Role) -> Reference {
        let symbol = &self.raw.symbols[r.symbol];
        let address = self.addresses.symbols[r.symbol];
        Reference {
            role,
            target: self.truncate(address.wrapping_add(r.addend as u64)),
            anchor: (symbol.kind != SymbolKind::Section).then_some(address),
            typed: matches!(symbol.kind, SymbolKind::Function | SymbolKind::Object),
            external: symbol.home == Home::Undefined && r.symbol != 0,
            private: symbol.local && symbol.kind == SymbolKind::Label && symbol.name.starts_with(".L"),
            home: if let Home::Section(n) = symbol.home { Some(self.raw.sections[n].address) } else { None },
            auipc: None,
        }
    }

    /// Addresses are taken modulo the size of the address space.
    fn truncate(&self, value: u64) -> u64 {
        if self.raw.xlen == 32 {
            value & 0xffff_ffff
        } else {
            value
        }
    }

    /// The same as a signed distance.
    fn signed(&self, value: u64) -> i64 {
        if self.raw.xlen == 32 {
            i64::from(value as i32)
        } else {
            value as i64
        }
    }

    fn note_high(&mut self, r: &RawRelocation) -> Result<(), Error> {
        if r.kind == R_RISCV_HI20 && self.done.loose.holds(self.place(r)) {
            self.loose_highs.insert(self.reference(r, Role::High).target);
        }
        if r.kind == R_RISCV_PCREL_HI20 {
            let (place, reference) = (self.place(r), self.reference(r, Role::High));
            if self.highs.insert(place, (reference, *r)).is_some() {
                return Err(self.corrupt(r, "the instruction has two targets"));
            }
        }
        Ok(())
    }

    /// What refers to a thing that is not final is not final either.
    fn note_doubt(&mut self, r: &RawRelocation) {
        let Some(Extent { sort, size }) = patches::extent(self.raw, r) else { return };
        if matches!(sort, Sort::Padding | Sort::Relax) {
            return;
        }
        let high = self.highs.get(&self.addresses.symbols[r.symbol]).filter(|_| is_pcrel_low(r.kind));
        let why = doubt::of_relocation(self.raw, r, sort != Sort::Code);
        let why = why.or_else(|| doubt::of_relocation(self.raw, &high?.1, false));
        let why = why.or_else(|| self.is_left_alone(r).then(|| "the instruction stays as it is when a linker leaves out the upper part that it completes".into()));
        if let Some(why) = why {
            self.done.doubts.add(self.place(r), size, why);
        }
    }

    /// A low part that no linker may shorten, of an upper part that one may leave out.
    fn is_left_alone(&self, r: &RawRelocation) -> bool {
        if self.done.loose.holds(self.place(r)) {
            return false;
        }
        match r.kind {
            R_RISCV_PCREL_LO12_I | R_RISCV_PCREL_LO12_S => self.done.loose.holds(self.addresses.symbols[r.symbol]),
            R_RISCV_LO12_I | R_RISCV_LO12_S => {
                let target = self.reference(r, Role::Low).target;
                self.loose_highs.range(target.saturating_sub(LOW_REACH)..target.saturating_add(LOW_REACH)).next().is_some()
            }
            _ => false,
        }
    }

    fn one(&mut self, r: &RawRelocation) -> Result<(), Error> {
        match r.kind {
            R_RISCV_NONE | R_RISCV_RELAX => Ok(()),
            // The padding does nothing, whether it stays or not; that it is padding was looked at.
            R_RISCV_ALIGN => Ok(()),
            R_RISCV_64 | R_RISCV_ADD64 | R_RISCV_SUB64 if self.raw.xlen == 32 => Err(self.corrupt(r, "a number of 64 bits in a file of 32")),
            R_RISCV_32 => self.data(r, 4, |_, s| s),
            R_RISCV_64 => self.data(r, 8, |_, s| s),
            R_RISCV_32_PCREL => {
                let place = self.place(r);
                self.data(r, 4, move |_, s| s.wrapping_sub(place))
            }
            R_RISCV_ADD8 => self.data(r, 1, u64::wrapping_add),
            R_RISCV_ADD16 => self.data(r, 2, u64::wrapping_add),
            R_RISCV_ADD32 => self.data(r, 4, u64::wrapping_add),
            R_RISCV_ADD64 => self.data(r, 8, u64::wrapping_add),
            R_RISCV_SUB8 => self.data(r, 1, u64::wrapping_sub),
            R_RISCV_SUB16 => self.data(r, 2, u64::wrapping_sub),
            R_RISCV_SUB32 => self.data(r, 4, u64::wrapping_sub),
            R_RISCV_SUB64 => self.data(r, 8, u64::wrapping_sub),
            R_RISCV_SET6 => self.data(r, 1, |old, s| old & 0xc0 | s & 0x3f),
            R_RISCV_SUB6 => self.data(r, 1, |old, s| old & 0xc0 | old.wrapping_sub(s) & 0x3f),
            R_RISCV_SET8 => self.data(r, 1, |_, s| s),
            R_RISCV_SET16 => self.data(r, 2, |_, s| s),
            R_RISCV_SET32 => self.data(r, 4, |_, s| s),
            R_RISCV_SET_ULEB128 => self.uleb128(r, |_, s| s),
            R_RISCV_SUB_ULEB128 => self.uleb128(r, u64::wrapping_sub),
            R_RISCV_BRANCH => self.jump(r, Format::B, 4, |w| insn::opcode(w) == insn::BRANCH),
            R_RISCV_JAL => self.jump(r, Format::J, 4, |w| insn::opcode(w) == insn::JAL),
            R_RISCV_RVC_BRANCH => self.jump(r, Format::Cb, 2, |w| w & 0xc003 == 0xc001),
            R_RISCV_RVC_JUMP => self.jump(r, Format::Cj, 2, |w| matches!(w & 0xe003, 0xa001 | 0x2001)),
            R_RISCV_CALL | R_RISCV_CALL_PLT => self.call(r),
            R_RISCV_PCREL_HI20 => {
                let reference = self.reference(r, Role::High);
                self.high(r, reference, insn::AUIPC)
            }
            R_RISCV_HI20 => {
                let reference = self.reference(r, Role::High);
                self.high(r, reference, insn::LUI)
            }
            R_RISCV_LO12_I | R_RISCV_LO12_S => {
                let reference = self.reference(r, Role::Low);
                self.low(r, r.offset, reference, reference.target, r.kind == R_RISCV_LO12_S)
            }
            R_RISCV_PCREL_LO12_I | R_RISCV_PCREL_LO12_S => self.pcrel_low(r),
            kind => {
                let reason = format!("type {} is not one of static code", kind_name(kind));
                let way_out = "compile with -fno-pic and without thread-local variables";
                Err(Error { place: self.corrupt(r, "").place, ..Error::unsupported("", reason, way_out) })
            }
        }
    }

    /// Little-endian bytes at the place, `size` of them.
    fn bytes(&mut self, r: &RawRelocation, offset: u64, size: usize) -> Result<&mut [u8], Error> {
        let outside = self.corrupt(r, "it patches bytes outside the section");
        let start = usize::try_from(offset).map_err(|_| outside.clone())?;
        let end = start.checked_add(size).ok_or_else(|| outside.clone())?;
        self.raw.sections[r.section].bytes.as_mut().and_then(|b| b.get_mut(start..end)).ok_or(outside)
    }

    fn data(&mut self, r: &RawRelocation, size: usize, new: impl Fn(u64, u64) -> u64) -> Result<(), Error> {
        let reference = self.reference(r, Role::Low);
        let target = reference.target;
        self.note_pointer(r, size as u64, matches!(r.kind, R_RISCV_32 | R_RISCV_64).then_some(reference));
        let bytes = self.bytes(r, r.offset, size)?;
        let value = new(load(bytes), target);
        bytes.copy_from_slice(&value.to_le_bytes()[..size]);
        Ok(())
    }

    /// Several relocations of one place make something that is no address.
    fn note_pointer(&mut self, r: &RawRelocation, size: u64, to: Option<Reference>) {
        let place = self.place(r);
        let named = self.reference(r, Role::Low);
        self.done.named.push((place, named));
        let noted = self.done.pointers.entry(place).or_insert(Pointer { size, to });
        if *noted != (Pointer { size, to }) {
            *noted = Pointer { size: size.max(noted.size), to: None };
        }
    }

    /// A number of 7-bit groups keeps its length.
    fn uleb128(&mut self, r: &RawRelocation, new: impl Fn(u64, u64) -> u64) -> Result<(), Error> {
        let target = self.reference(r, Role::Low).target;
        let size = patches::extent(self.raw, r).map_or(POINTER_MAX, |e| e.size);
        self.note_pointer(r, size, None);
        let mut old = 0;
        for n in 0..10 {
            let byte = self.bytes(r, r.offset.wrapping_add(n), 1)?[0];
            old |= u64::from(byte & 0x7f) << (7 * n);
            if byte & 0x80 == 0 {
                let value = new(old, target);
                for k in 0..=n {
                    let more = if k < n { 0x80 } else { 0 };
                    self.bytes(r, r.offset + k, 1)?[0] = (value >> (7 * k)) as u8 & 0x7f | more;
                }
                return Ok(());
            }
        }
        Err(self.corrupt(r, "the number has no end"))
    }

    fn patch(&mut self, r: &RawRelocation, offset: u64, size: usize, format: Format, value: u32) -> Result<(), Error> {
        let bytes = self.bytes(r, offset, size)?;
        let word = format.put(load(bytes) as u32, value);
        bytes.copy_from_slice(&word.to_le_bytes()[..size]);
        Ok(())
    }

    fn expect(&mut self, r: &RawRelocation, offset: u64, size: usize, is: impl Fn(u32) -> bool) -> Result<(), Error> {
        let word = load(self.bytes(r, offset, size)?) as u32;
        if is(word) {
            Ok(())
        } else {
            Err(self.corrupt(r, format!("instruction {word:#x} is not of the kind it patches")))
        }
    }

    /// Records the reference of the instruction at `offset`.
    fn record(&mut self, r: &RawRelocation, offset: u64, reference: Reference) -> Result<(), Error> {
        let address = self.raw.sections[r.section].address.wrapping_add(offset);
        match self.done.references.insert(address, reference) {
            None => Ok(()),
            Some(_) => Err(self.corrupt(r, "the instruction has two targets")),
        }
    }

    fn jump(&mut self, r: &RawRelocation, format: Format, size: usize, is: impl Fn(u32) -> bool) -> Result<(), Error> {
        self.expect(r, r.offset, size, is)?;
        let reference = self.reference(r, Role::Jump);
        let distance = self.signed(reference.target.wrapping_sub(self.place(r)));
        let reach = 1i64 << (format.width() - 1);
        if distance % 2 != 0 || !(-reach..reach).contains(&distance) {
            return Err(self.corrupt(r, format!("the target is {distance} bytes away")));
        }
        self.patch(r, r.offset, size, format, distance as u32)?;
        self.record(r, r.offset, reference)
    }

    /// Upper 20 bits of what an `auipc` or `lui` must add up to, rounded for the signed low part.
    fn high(&mut self, r: &RawRelocation, reference: Reference, opcode: u32) -> Result<(), Error> {
        self.expect(r, r.offset, 4, |w| insn::opcode(w) == opcode)?;
        let base = if opcode == insn::AUIPC { self.place(r) } else { 0 };
        let value = self.signed(reference.target.wrapping_sub(base)).wrapping_add(0x800);
        if self.raw.xlen == 64 && i64::from(value as i32) != value {
            return Err(self.corrupt(r, "the target is more than 2 GiB away"));
        }
        self.patch(r, r.offset, 4, Format::U, value as u32)?;
        self.record(r, r.offset, reference)
    }

    /// Low 12 bits of `value` into a load, an addition, a jump (`store` false) or a store.
    fn low(&mut self, r: &RawRelocation, offset: u64, reference: Reference, value: u64, store: bool) -> Result<(), Error> {
        let is_store = |w| matches!(insn::opcode(w), insn::STORE | insn::STORE_FP);
        let is_addition = |w| insn::opcode(w) == insn::OP_IMM && insn::funct3(w) == 0;
        let is_other = |w| is_addition(w) || matches!(insn::opcode(w), insn::LOAD | insn::LOAD_FP | insn::JALR);
        self.expect(r, offset, 4, |w| if store { is_store(w) } else { is_other(w) })?;
        let format = if store { Format::S } else { Format::I };
        self.patch(r, offset, 4, format, value as u32)?;
        self.record(r, offset, reference)
    }

    fn pcrel_low(&mut self, r: &RawRelocation) -> Result<(), Error> {
        if r.addend != 0 {
            return Err(self.corrupt(r, "it names the `auipc` and has an addend, which belongs to that one's relocation"));
        }
        let label = self.addresses.symbols[r.symbol];
        // A linker looks for it among the relocations of this section.
        let here = self.raw.symbols[r.symbol].home == Home::Section(r.section);
        let Some(&(high, _)) = self.highs.get(&label).filter(|_| here) else {
            return Err(self.corrupt(r, "there is no `auipc` at the label it names"));
        };
        let value = high.target.wrapping_sub(label);
        self.low(r, r.offset, Reference { role: Role::Low, auipc: Some(label), ..high }, value, r.kind == R_RISCV_PCREL_LO12_S)
    }

    fn call(&mut self, r: &RawRelocation) -> Result<(), Error> {
        let reference = self.reference(r, Role::High);
        self.high(r, reference, insn::AUIPC)?;
        let second = r.offset.wrapping_add(4);
        self.expect(r, second, 4, |w| insn::opcode(w) == insn::JALR)?;
        let value = reference.target.wrapping_sub(self.place(r));
        self.low(r, second, Reference { role: Role::Low, auipc: Some(self.place(r)), ..reference }, value, false)
    }
}

fn is_pcrel_low(kind: u32) -> bool {
    matches!(kind, R_RISCV_PCREL_LO12_I | R_RISCV_PCREL_LO12_S)
}

fn load(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b))
}

/// Names of the types that a user may meet and that are refused.
fn kind_name(kind: u32) -> String {
    let name = match kind {
        R_RISCV_GOT_HI20 => "R_RISCV_GOT_HI20",
        R_RISCV_TLS_GOT_HI20 => "R_RISCV_TLS_GOT_HI20",
        R_RISCV_TLS_GD_HI20 => "R_RISCV_TLS_GD_HI20",
        R_RISCV_TPREL_HI20 => "R_RISCV_TPREL_HI20",
        other => return other.to_string(),
    };
    name.into()
}
