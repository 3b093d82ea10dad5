//! A file, ready to be asked.

use crate::reloc::{References, Role};
use crate::{doubt, insn, lines, merge, patches, reloc};
use std::collections::BTreeMap;

/// A function: a symbol with code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Symbol; of several at one address a global one, then the first in order of bytes.
    pub name: String,
    /// The others, in order.
    pub aliases: Vec<String>,
    pub address: u64,
    /// Bytes; where the symbol does not say (hand-written assembly), up to the next symbol of the sort or the end of the
    /// section.
    pub size: u64,
    /// Not visible to other files (`static`).
    pub local: bool,
    /// Of its names, those under which a linker may put another function, and why.
    pub(crate) doubts: BTreeMap<String, String>,
}

impl Function {
    /// Why what is called by this name need not be the code here: the symbol is weak, the section in a COMDAT group.
    pub fn doubt(&self, name: &str) -> Option<&str> {
        self.doubts.get(name).map(String::as_str)
    }
}

/// A named variable or constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    pub name: String,
    pub aliases: Vec<String>,
    pub address: u64,
    pub size: u64,
    pub local: bool,
    /// Lies in a section that the program may write.
    pub writable: bool,
}

/// What a section may be used for, as its flags say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Executable and not writable; its bytes count as constant too.
    Code,
    /// Neither writable nor executable.
    Constant,
    /// Writable, whether or not it can be executed.
    Writable,
}

/// A section that the program loads.
#[derive(Clone, Debug)]
pub struct Section {
    pub name: String,
    pub address: u64,
    pub size: u64,
    pub access: Access,
    pub(crate) executable: bool,
    /// Alignment that its addresses have wherever it is linked.
    pub(crate) align: u64,
    pub(crate) merge: Option<merge::Entries>,
    /// Why its contents are not what will be in memory.
    pub(crate) doubt: Option<String>,
    /// `None`: all zero.
    pub(crate) bytes: Option<Vec<u8>>,
}

impl Section {
    pub(crate) fn contains(&self, address: u64) -> bool {
        address.checked_sub(self.address).is_some_and(|o| o < self.size)
    }

    pub(crate) fn byte(&self, address: u64) -> Option<u8> {
        let offset = address.checked_sub(self.address).filter(|o| *o < self.size)?;
        match &self.bytes {
            None => Some(0),
            Some(bytes) => bytes.get(usize::try_from(offset).ok()?).copied(),
        }
    }
}

/// A file, ready to be asked.
#[derive(Clone, Debug)]
pub struct Image {
    /// Width of registers: 32 or 64.
    pub xlen: u32,
    /// The code may hold 16-bit instructions.
    pub compressed: bool,
    /// A linked image, not an object.
    pub linked: bool,
    /// By address, disjoint starts.
    pub functions: Vec<Function>,
    /// Names that can be called and at which this file has no code: a function of which nothing is left, a variable. In order of
    /// symbols, sizes 0; their addresses may be those of something else.
    pub without_code: Vec<Function>,
    /// By address.
    pub data: Vec<Data>,
    /// By address, disjoint; sections of no bytes are left out.
    pub sections: Vec<Section>,
    /// Why there are no source lines although the file has a line table.
    pub line_fault: Option<String>,
    pub(crate) externals: Vec<(u64, String)>,
    pub(crate) references: References,
    /// Places of constants that depend on where things lie.
    pub(crate) pointers: BTreeMap<u64, reloc::Pointer>,
    /// Places of numbers in data and what they are made of, where relocations say so.
    pub(crate) named: Vec<(u64, reloc::Reference)>,
    pub(crate) doubts: doubt::Doubts,
    /// Code that a linker may drop or shorten.
    pub(crate) loose: patches::Loose,
    pub(crate) lines: lines::Lines,
    pub(crate) digest: [u8; 32],
}

impl Image {
    /// Code at `pc`, relocated: 32 bits, or 16 (zero-extended) if the two lowest bits are not both set. `None` outside
    /// executable sections, at odd addresses, in a file without 16-bit instructions at addresses that 4 does not
    /// divide, and where [`Image::doubt`] says why these may not be the bytes that are executed.
    pub fn fetch(&self, pc: u64) -> Option<u32> {
        self.word(pc).filter(|_| self.doubt(pc).is_none())
    }

    /// Why the instruction that stands at `pc` is not handed out: it refers to what a linker may replace, a number is
    /// relocated into it, or part of an address as of another instruction, or its section is not loaded as it is.
    pub fn doubt(&self, pc: u64) -> Option<String> {
        let size = insn::length(self.word(pc)? as u16);
        if let Some(why) = self.section(pc).and_then(|s| s.doubt.clone()).or_else(|| self.doubts.of(pc, size).map(str::to_string)) {
            return Some(why);
        }
        if let Some(at) = self.pointers_in(pc, size).next() {
            return Some(format!("a number is relocated into the instruction, at {at:#x}"));
        }
        // What is relocated has at most four bytes.
        let near = self.references.range(pc.saturating_sub(3)..pc.saturating_add(size)).map(|(at, _)| *at);
        let mut others = near.filter(|at| *at != pc && self.word(*at).is_some_and(|w| at.saturating_add(insn::length(w as u16)) > pc));
        others.next().map(|at| format!("the instruction has bytes of another one, which is relocated, at {at:#x}"))
    }

    /// The bits of [`Image::fetch`], whatever they will be: for looking at code that is not executed.
    pub fn word(&self, pc: u64) -> Option<u32> {
        let step = if self.compressed { 2 } else { 4 };
        let section = self.section(pc).filter(|s| s.executable && pc % step == 0)?;
        let half = |at: u64| Some(u16::from_le_bytes([section.byte(at)?, section.byte(at.checked_add(1)?)?]));
        let low = half(pc)?;
        if insn::length(low) == 2 {
            return Some(low.into());
        }
        Some(u32::from(low) | u32::from(half(pc.checked_add(2)?)?) << 16)
    }

    /// Byte of a section that is not writable, relocated. `None` too where it is part of a number that refers to what a
    /// linker may replace, or its section is not loaded as it is.
    pub fn read_only(&self, address: u64) -> Option<u8> {
        self.final_byte(address, |s| s.access != Access::Writable)
    }

    /// The byte at an address in such a section, if it is for certain what will be in memory.
    pub(crate) fn final_byte(&self, address: u64, wanted: impl Fn(&Section) -> bool) -> Option<u8> {
        let section = self.section(address).filter(|s| wanted(s) && s.doubt.is_none())?;
        section.byte(address).filter(|_| self.doubts.of(address, 1).is_none())
    }

    /// The section an address lies in.
    pub fn section(&self, address: u64) -> Option<&Section> {
        let after = self.sections.partition_point(|s| s.address <= address);
        self.sections[..after].last().filter(|s| s.contains(address))
    }

    /// Its name.
    pub fn section_of(&self, address: u64) -> Option<&str> {
        self.section(address).map(|s| s.name.as_str())
    }

    /// The function whose code holds `pc`.
    pub fn function_at(&self, pc: u64) -> Option<&Function> {
        let after = self.functions.partition_point(|f| f.address <= pc);
        self.functions[..after].iter().rev().find(|f| pc - f.address < f.size)
    }

    /// The function of this name or alias: a global one first, else the one at the lowest address (static functions of
    /// several files may share a name in an image).
    pub fn function(&self, name: &str) -> Option<&Function> {
        let named = || self.functions.iter().filter(|f| f.name == name || f.aliases.iter().any(|a| a == name));
        named().find(|f| !f.local).or_else(|| named().next())
    }

    /// The variable or constant that covers an address.
    pub fn data_at(&self, address: u64) -> Option<&Data> {
        let after = self.data.partition_point(|d| d.address <= address);
        self.data[..after].iter().rev().find(|d| address - d.address < d.size)
    }

    /// SHA-256 of the file.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// The undefined symbol that the relocated instruction at `pc` refers to: either half of a call pair or of an
    /// address, or a direct jump. Always `None` in a linked image.
    pub fn external_at(&self, pc: u64) -> Option<&str> {
        let reference = self.references.get(&pc).filter(|r| r.external)?;
        self.external(reference.anchor.unwrap_or(reference.target))
    }

    /// What the relocated instruction at `pc` refers to: a symbol and an addend.
    pub fn meant_at(&self, pc: u64) -> Option<u64> {
        self.references.get(&pc).map(|r| r.target)
    }

    /// Whether it refers to an instruction that a linker may move away from what is referred to.
    pub fn wanders(&self, pc: u64) -> bool {
        self.references.get(&pc).is_some_and(|r| !self.moves_along(r))
    }

    /// Addresses that the data of the file holds, or that numbers in it are made of: by relocations in an object, by their value in
    /// words that lie at multiples of their size in an image. Tables for unwinding are left out. Where a linker may move what is at
    /// such an address, those of all functions.
    pub fn addresses_in_data(&self) -> Vec<u64> {
        let counts = |at: u64| self.section(at).is_some_and(|s| !doubt::is_written_anew(&s.name));
        if !self.linked {
            let named: Vec<&reloc::Reference> = self.named.iter().filter(|(place, _)| counts(*place)).map(|(_, r)| r).collect();
            let anywhere = named.iter().any(|r| !self.moves_along(r));
            let all = self.functions.iter().filter(|_| anywhere).map(|f| f.address);
            return named.iter().map(|r| r.target).chain(all).collect();
        }
        let word = u64::from(self.xlen / 8);
        let data = self.sections.iter().filter(|s| !s.executable && s.bytes.is_some() && counts(s.address));
        let words = data.flat_map(|s| {
            let first = s.address.next_multiple_of(word);
            let value = move |at: u64| (0..word).rev().try_fold(0u64, |v, k| Some(v << 8 | u64::from(s.byte(at.checked_add(k)?)?)));
            (first..s.address.saturating_add(s.size)).step_by(word as usize).filter_map(value)
        });
        words.collect()
    }

    /// Whether a relocation patched the instruction at `pc`.
    pub fn is_relocated(&self, pc: u64) -> bool {
        self.references.contains_key(&pc)
    }

    /// Whether a linker may drop the instruction at `pc`, or make a shorter one of it and what it belongs to. Never in a linked image.
    pub fn is_loose(&self, pc: u64) -> bool {
        !self.linked && self.loose.holds(pc)
    }

    /// The instructions of a function that [`Image::is_loose`] says so of, by their distance from its beginning.
    pub fn loose_in(&self, function: &Function) -> Vec<u64> {
        let code = self.instructions(function);
        code.iter().filter(|i| self.is_loose(i.pc)).map(|i| i.pc - function.address).collect()
    }

    /// Whether the jump at `pc`, which arrives at `to` here, arrives at the same function wherever a linker puts the sections
    /// of this object and the functions it lacks: both are in one section with nothing between them that a linker may shorten, or the
    /// jump's relocation names what is at `to`. A jump to the low half of an address counts only right behind the instruction
    /// that makes the high half.
    pub fn is_firm(&self, pc: u64, to: u64) -> bool {
        let home = |at: u64| self.section(at).map(|s| s.address);
        let Some(r) = self.references.get(&pc).filter(|_| !self.linked) else {
            let fixed = || !self.loose.between(pc, to) && !self.loose.splits(to);
            return self.linked || home(pc).is_some_and(|h| home(to) == Some(h)) && fixed();
        };
        let high = || pc.checked_sub(4).and_then(|before| self.references.get(&before));
        let whole = match r.role {
            Role::Jump => true,
            Role::Low => high().is_some_and(|h| h.role == Role::High && (h.target, h.anchor, h.home) == (r.target, r.anchor, r.home)),
            Role::High => false,
        };
        let there = if r.external { r.anchor == Some(to) } else { r.home.is_some_and(|h| home(to) == Some(h)) };
        whole && r.target == to && there && self.moves_along(r)
    }

    /// Whether what a reference means lies where it lies here, counted from the symbol: a linker that shortens code moves symbols, and
    /// leaves addends as they are.
    pub(crate) fn moves_along(&self, r: &reloc::Reference) -> bool {
        let from = r.anchor.or(r.home).unwrap_or(r.target);
        !self.loose.between(from, r.target) && !self.loose.splits(r.target)
    }

    /// The undefined symbol for which an address stands: where a call to it arrives.
    pub fn external(&self, address: u64) -> Option<&str> {
        let at = self.externals.binary_search_by_key(&address, |e| e.0).ok()?;
        Some(&self.externals[at].1)
    }

    /// Undefined symbols and the addresses that stand for them.
    pub fn externals(&self) -> impl Iterator<Item = (u64, &str)> {
        self.externals.iter().map(|(address, name)| (*address, name.as_str()))
    }

    /// Source file and line (from 1) of the instruction at `pc`, where the file has a line table.
    pub fn line(&self, pc: u64) -> Option<(String, u32)> {
        self.lines.at(pc).map(|(file, line)| (file.to_string(), line))
    }
}
