//! Objects changed where linkers look: the registers of call sequences, symbols and addends of relocations, constants, places of
//! sections. Instructions alone are changed by [`crate::mutate`].
//!
//! Needs: little-endian ELF objects with one function a section.  Keeps: a change overwrites bytes and moves none; the same changes for
//! the same seed.  Absent: whether a change matters ([`crate::mutants`]).

use crate::mutate::{Kind, Seed};

/// Bytes to overwrite in an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub kind: Kind,
    /// In words.
    pub what: String,
    at: usize,
    bytes: Vec<u8>,
    /// A second place, for what is exchanged.
    other: Option<(usize, Vec<u8>)>,
    /// The symbol that is somewhere else: calls of it are judged where it is.
    pub moved: Option<String>,
}

impl Change {
    /// Of one place.
    fn one(kind: Kind, what: String, at: usize, bytes: Vec<u8>) -> Change {
        Change { kind, what, at, bytes, other: None, moved: None }
    }

    /// The object with the change.
    pub fn apply(&self, object: &[u8]) -> Vec<u8> {
        let mut out = object.to_vec();
        for (at, bytes) in std::iter::once((self.at, &self.bytes)).chain(self.other.iter().map(|(at, b)| (*at, b))) {
            if let Some(place) = out.get_mut(at..at + bytes.len()) {
                place.copy_from_slice(bytes);
            }
        }
        out
    }
}

const RELA: u32 = 4;
const SYMTAB: u32 = 2;
/// The kind of a symbol.
const FUNCTION: u8 = 2;
/// Allocated and neither written nor executed: what the flags of constants say.
const CONSTANT: u64 = 2;
const ACCESS: u64 = 7;
/// Calls, jumps and branches: BRANCH, JAL, CALL, CALL_PLT, RVC_BRANCH, RVC_JUMP.
const JUMPS: [u32; 6] = [16, 17, 18, 19, 44, 45];
/// Far calls: two instructions.
const FAR: [u32; 2] = [18, 19];
/// The one instruction with a register for the address behind it: JAL.
const NEAR: u32 = 17;
/// Addresses of data: PCREL_HI20, PCREL_LO12_I, PCREL_LO12_S, HI20, LO12_I, LO12_S.
const ADDRESSES: [u32; 6] = [23, 24, 25, 26, 27, 28];
/// HI20.
const HIGH: u32 = 26;
/// What is added to an addend.
const STEPS: [i64; 10] = [1, 2, -2, 4, -4, 8, 16, -16, 108, 4112];
/// Other places tried for one symbol.
const OTHERS: usize = 6;

struct Section {
    at: usize,
    kind: u32,
    flags: u64,
    offset: usize,
    size: usize,
    link: usize,
    info: usize,
}

/// A relocation: where it is in the file, and what it says.
struct Rela {
    at: usize,
    offset: usize,
    symbol: usize,
    kind: u32,
    addend: i64,
}

/// The tables of an object.
struct Elf<'a> {
    bytes: &'a [u8],
    wide: bool,
    sections: Vec<Section>,
}

impl<'a> Elf<'a> {
    fn read(bytes: &'a [u8]) -> Option<Elf<'a>> {
        let wide = *bytes.get(4)? == 2;
        let mut elf = Elf { bytes, wide, sections: vec![] };
        let (offset, count) = if wide { (elf.word(0x28)?, elf.half(0x3c)?) } else { (elf.word(0x20)?, elf.half(0x30)?) };
        for n in 0..count {
            let at = offset as usize + n * if wide { 64 } else { 40 };
            let w = |k: usize| elf.word(at + 8 + k * if wide { 8 } else { 4 });
            let ints = if wide { at + 40 } else { at + 24 };
            let (flags, offset, size) = (w(0)?, w(2)? as usize, w(3)? as usize);
            let section = Section { at, kind: elf.int(at + 4)?, flags, offset, size, link: elf.int(ints)? as usize, info: elf.int(ints + 4)? as usize };
            elf.sections.push(section);
        }
        Some(elf)
    }

    fn half(&self, at: usize) -> Option<usize> {
        Some(u16::from_le_bytes(self.bytes.get(at..at + 2)?.try_into().ok()?).into())
    }

    fn int(&self, at: usize) -> Option<u32> {
        Some(u32::from_le_bytes(self.bytes.get(at..at + 4)?.try_into().ok()?))
    }

    fn word(&self, at: usize) -> Option<u64> {
        match self.wide {
            true => Some(u64::from_le_bytes(self.bytes.get(at..at + 8)?.try_into().ok()?)),
            false => self.int(at).map(u64::from),
        }
    }

    fn sized(&self, value: u64) -> Vec<u8> {
        value.to_le_bytes()[..if self.wide { 8 } else { 4 }].to_vec()
    }

    fn symbols(&self) -> usize {
        self.sections.iter().find(|s| s.kind == SYMTAB).map_or(0, |s| s.size / if self.wide { 24 } else { 16 })
    }

    /// The table of symbols, and where a symbol's value, kind and section stand in the file.
    fn entry(&self, n: usize) -> Option<(&Section, usize, [usize; 3])> {
        let table = self.sections.iter().find(|s| s.kind == SYMTAB)?;
        let at = table.offset + n * if self.wide { 24 } else { 16 };
        Some((table, at, if self.wide { [at + 8, at + 4, at + 6] } else { [at + 4, at + 12, at + 14] }))
    }

    /// Name, place in memory (section and offset there) and kind of a symbol.
    fn symbol(&self, n: usize) -> Option<(String, usize, u64, u8)> {
        let (table, at, [value, info, home]) = self.entry(n)?;
        let names = self.sections.get(table.link)?;
        let text = self.bytes.get(names.offset + self.int(at)? as usize..)?;
        let name = text.split(|b| *b == 0).next().map(|t| String::from_utf8_lossy(t).into_owned())?;
        Some((name, self.half(home)?, self.word(value)?, self.bytes.get(info)? & 15))
    }

    /// The section a function has for itself.
    fn home(&self, function: &str) -> Option<usize> {
        (0..self.symbols()).filter_map(|n| self.symbol(n)).find(|(name, .., kind)| name == function && *kind == FUNCTION).map(|s| s.1)
    }

    fn relocations(&self, section: usize) -> Vec<Rela> {
        let step = if self.wide { 24 } else { 12 };
        let tables = self.sections.iter().filter(|s| s.kind == RELA && s.info == section);
        let all = tables.flat_map(|s| (s.offset..s.offset + s.size).step_by(step));
        all.filter_map(|at| self.relocation(at)).collect()
    }

    fn relocation(&self, at: usize) -> Option<Rela> {
        let w = if self.wide { 8 } else { 4 };
        let (offset, info, addend) = (self.word(at)? as usize, self.word(at + w)?, self.word(at + 2 * w)?);
        let addend = if self.wide { addend as i64 } else { i64::from(addend as u32 as i32) };
        let (symbol, kind) = if self.wide { (info >> 32, info as u32) } else { (info >> 8, info as u32 & 0xff) };
        Some(Rela { at, offset, symbol: symbol as usize, kind, addend })
    }

    fn info(&self, symbol: usize, kind: u32) -> Vec<u8> {
        self.sized((symbol as u64) << if self.wide { 32 } else { 8 } | u64::from(kind))
    }
}

/// All changes of the calls, addresses and constants of a function, in order of the file; of those of one sort as many as make sense.
/// `symbols`: so many others in place of the symbol of a relocation, or all.
pub fn changes(object: &[u8], function: &str, symbols: usize, seed: u64) -> Vec<Change> {
    let Some(elf) = Elf::read(object) else { return vec![] };
    let Some(home) = elf.home(function) else { return vec![] };
    let mut seed = Seed::new(seed);
    let mut out = vec![];
    let relocations = elf.relocations(home);
    for r in &relocations {
        if JUMPS.contains(&r.kind) {
            registers(&elf, home, r, &mut out);
        }
        if JUMPS.contains(&r.kind) || ADDRESSES.contains(&r.kind) {
            targets(&elf, r, symbols, &mut seed, &mut out);
        }
    }
    let mut named: Vec<usize> = relocations.iter().filter(|r| JUMPS.contains(&r.kind) || ADDRESSES.contains(&r.kind)).map(|r| r.symbol).collect();
    named.sort_unstable();
    named.dedup();
    for symbol in named.iter().copied() {
        aliases(&elf, symbol, &mut seed, &mut out);
    }
    let mut read: Vec<usize> = relocations.iter().filter(|r| ADDRESSES.contains(&r.kind)).filter_map(|r| elf.symbol(r.symbol)).map(|s| s.1).collect();
    read.sort_unstable();
    read.dedup();
    for section in read {
        constants(&elf, section, &mut seed, &mut out);
    }
    moved(&elf, home, None, &mut out);
    for symbol in named {
        if let Some((name, section, _, FUNCTION)) = elf.symbol(symbol).filter(|s| s.1 != home) {
            moved(&elf, section, Some(name), &mut out);
        }
    }
    out
}

/// Every register in every field of a call.
fn registers(elf: &Elf, home: usize, r: &Rela, out: &mut Vec<Change>) {
    let at = elf.sections[home].offset + r.offset;
    let fields: &[(usize, u32)] = match r.kind {
        kind if FAR.contains(&kind) => &[(0, 7), (4, 7), (4, 15)],
        NEAR => &[(0, 7)],
        _ => &[],
    };
    for (behind, shift) in fields {
        let Some(old) = elf.int(at + behind) else { continue };
        for n in (0..32).filter(|n| old >> shift & 31 != *n) {
            let new = old & !(31 << shift) | n << shift;
            let what = format!("call at {:#x}: x{n} at bit {shift} of instruction {}", r.offset, behind / 4);
            out.push(Change::one(Kind::CallRegister, what, at + behind, new.to_le_bytes().to_vec()));
        }
    }
}

/// Other addends and symbols of a relocation.
fn targets(elf: &Elf, r: &Rela, symbols: usize, seed: &mut Seed, out: &mut Vec<Change>) {
    let w = if elf.wide { 8 } else { 4 };
    for step in STEPS {
        // The high half of an address does not see the low one.
        let step = if r.kind == HIGH { 4096 * step } else { step };
        let what = format!("addend {} at {:#x} to {}", r.addend, r.offset, r.addend.wrapping_add(step));
        out.push(Change::one(Kind::Addend, what, r.at + 2 * w, elf.sized(r.addend.wrapping_add(step) as u64)));
    }
    let Some(own) = elf.symbol(r.symbol) else { return };
    let count = elf.symbols();
    let others: Vec<usize> = if symbols < count { (0..symbols).map(|_| seed.below(count)).collect() } else { (0..count).collect() };
    for n in others {
        let Some(s) = elf.symbol(n).filter(|s| (s.1, s.2) != (own.1, own.2) || s.1 == 0) else { continue };
        if n == 0 || s.0 == own.0 {
            continue;
        }
        let what = format!("{} at {:#x} for `{}`", if s.0.is_empty() { "a section" } else { &s.0 }, r.offset, own.0);
        out.push(Change::one(Kind::Symbol, what, r.at + w, elf.info(n, r.kind)));
    }
}

/// A symbol moved to where another of its kind is.
fn aliases(elf: &Elf, symbol: usize, seed: &mut Seed, out: &mut Vec<Change>) {
    let (Some(own), Some((_, _, [value, _, home]))) = (elf.symbol(symbol), elf.entry(symbol)) else { return };
    // Section 0: another file has it.
    let like = |s: &(String, usize, u64, u8)| s.3 == own.3 && s.1 != 0 && own.1 != 0 && (s.1, s.2) != (own.1, own.2) && !s.0.is_empty();
    for _ in 0..OTHERS {
        let n = seed.below(elf.symbols());
        let Some(s) = elf.symbol(n).filter(like) else { continue };
        let Some(section) = elf.entry(n).and_then(|(_, _, [_, _, home])| elf.bytes.get(home..home + 2)) else { continue };
        let what = format!("`{}` where `{}` is", own.0, s.0);
        out.push(Change { kind: Kind::Aliased, what, at: value, bytes: elf.sized(s.2), other: Some((home, section.to_vec())), moved: Some(own.0.clone()) });
    }
}

/// Bits of a section of constants, and its place exchanged with another's.
fn constants(elf: &Elf, n: usize, seed: &mut Seed, out: &mut Vec<Change>) {
    let Some(section) = elf.sections.get(n).filter(|s| s.flags & ACCESS == CONSTANT && s.kind == 1 && s.size > 0) else { return };
    for _ in 0..section.size.min(24) {
        let at = section.offset + seed.below(section.size);
        let bit = seed.below(8);
        let Some(old) = elf.bytes.get(at) else { continue };
        let what = format!("bit {bit} of byte {:#x} of section {n}", at - section.offset);
        out.push(Change::one(Kind::Constant, what, at, vec![old ^ 1 << bit]));
    }
    moved(elf, n, None, out);
}

/// A section with the bytes of others like it, no shorter; `name`: the function that is called there.
fn moved(elf: &Elf, n: usize, name: Option<String>, out: &mut Vec<Change>) {
    let Some(section) = elf.sections.get(n).filter(|s| s.kind == 1) else { return };
    let like = |(k, s): &(usize, &Section)| *k != n && s.flags & ACCESS == section.flags & ACCESS && s.kind == 1 && s.size >= section.size;
    for (k, other) in elf.sections.iter().enumerate().filter(like).take(2) {
        // Where the section's bytes are in the file.
        let field = if elf.wide { 24 } else { 16 };
        let what = format!("section {n} with the bytes of section {k}");
        let change = Change::one(Kind::Moved, what, section.at + field, elf.sized(other.offset as u64));
        out.push(Change { moved: name.clone(), ..change });
    }
}
