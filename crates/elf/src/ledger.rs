//! Bytes handed out and written down: what a proof read of a file.
//!
//! Needs: a placed image.  Keeps: whoever holds a [`Ledger`] and no [`Image`] gets no byte that is not in [`Seen`].  Addresses of
//! constants are named by the thing that the relocation names (an [`Island`]), so that a proof can be made without a number
//! that a linker may change.  Absent: what is done with the bytes.

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::insn;
use crate::reloc::{Reference, Role};
use crate::{Access, Function, Image, Section};

/// The constant that a reference may reach: a data object, or a whole section where a label of the compiler stands for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Island {
    pub start: u64,
    pub size: u64,
}

impl Island {
    pub fn contains(&self, address: u64) -> bool {
        address.wrapping_sub(self.start) < self.size
    }
}

/// An instruction that makes a part of the address of a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub island: Island,
    /// The address meant; it need not lie in the island.
    pub target: u64,
    /// The upper part: `lui` or `auipc`; otherwise the instruction that adds the rest.
    pub high: bool,
    /// The same for an upper part and those that complete it, another for every other: whether it is relative to the code,
    /// and a number.
    pub pair: (bool, u64),
    /// What the island's address is a multiple of, but for `residue`, wherever a linker puts it.
    pub align: u64,
    pub residue: u64,
}

/// What was handed out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Functions with instructions that were executed, by address; for code outside of functions that of the instruction.
    pub code: BTreeSet<u64>,
    /// Bytes of constants with the island they were reached through; `None`: by a number.
    pub data: BTreeSet<(Option<Island>, u64)>,
}

/// A file that writes down what is read of it.
pub struct Ledger<'a> {
    image: &'a Image,
    seen: RefCell<Seen>,
}

impl<'a> Ledger<'a> {
    pub fn new(image: &'a Image) -> Ledger<'a> {
        Ledger { image, seen: RefCell::default() }
    }

    /// [`Image::fetch`].
    pub fn fetch(&self, pc: u64) -> Option<u32> {
        let entry = self.image.function_at(pc).map_or(pc, |f| f.address);
        self.seen.borrow_mut().code.insert(entry);
        self.image.fetch(pc)
    }

    /// [`Image::fetch`] that is not written down: for guesses on which nothing rests.
    pub fn guess(&self, pc: u64) -> Option<u32> {
        self.image.fetch(pc)
    }

    /// [`Image::doubt`].
    pub fn doubt(&self, pc: u64) -> Option<String> {
        self.image.doubt(pc)
    }

    /// [`Image::read_only`], reached through an island or by a number.
    pub fn read_only(&self, island: Option<Island>, address: u64) -> Option<u8> {
        self.seen.borrow_mut().data.insert((island, address));
        self.image.read_only(address)
    }

    /// What was handed out since the last time.
    pub fn take(&self) -> Seen {
        self.seen.take()
    }

    /// [`Image::part`].
    pub fn part(&self, pc: u64) -> Option<Part> {
        self.image.part(pc)
    }

    /// [`Image::function_at`].
    pub fn function_at(&self, pc: u64) -> Option<&'a Function> {
        self.image.function_at(pc)
    }

    /// [`Image::function`].
    pub fn function(&self, name: &str) -> Option<&'a Function> {
        self.image.function(name)
    }

    /// [`Image::external`].
    pub fn external(&self, address: u64) -> Option<&'a str> {
        self.image.external(address)
    }

    /// [`Image::external_at`].
    pub fn external_at(&self, pc: u64) -> Option<&'a str> {
        self.image.external_at(pc)
    }

    /// [`Image::is_firm`].
    pub fn is_firm(&self, pc: u64, to: u64) -> bool {
        self.image.is_firm(pc, to)
    }

    /// [`Image::is_relocated`].
    pub fn is_relocated(&self, pc: u64) -> bool {
        self.image.is_relocated(pc)
    }
}

/// Alignment of sections that is counted on.
const ALIGN: u64 = 16;

impl Section {
    /// The entry of a mergeable section that holds an address.
    pub(crate) fn entry_at(&self, address: u64) -> Option<Island> {
        let (start, size) = self.merge?.around(self.bytes.as_deref()?, address.checked_sub(self.address)?)?;
        Some(Island { start: self.address + start, size })
    }

    /// Of a mergeable section: its alignment, the bytes of an entry or character, and whether entries are strings.
    pub fn entries(&self) -> Option<(u64, u64, bool)> {
        self.merge.map(|m| (self.align, m.size, m.strings))
    }

    /// What the address of an entry is a multiple of.
    fn entry_align(&self, island: Island) -> Option<u64> {
        Some(self.merge?.align(island.start - self.address, self.align))
    }
}

impl Image {
    /// The instruction at `pc` makes a part of the address of a constant, as its relocation says. Always `None` in a linked image.
    pub fn part(&self, pc: u64) -> Option<Part> {
        let reference = self.references.get(&pc).filter(|r| r.role != Role::Jump)?;
        let island = self.island_of(reference)?;
        let word = self.fetch(pc)?;
        let high = reference.role == Role::High;
        let relative = if high { (insn::opcode(word) == insn::AUIPC).then_some(pc) } else { reference.auipc };
        // All addresses in one block of the section's alignment have one upper part.
        let section = self.section(island.start)?;
        let align = section.entry_align(island).unwrap_or(section.align).clamp(1, 2048);
        let pair = (relative.is_some(), relative.unwrap_or(reference.target / align * align));
        let align = section.entry_align(island).unwrap_or(ALIGN).min(ALIGN);
        Some(Part { island, target: reference.target, high, pair, align, residue: island.start % align })
    }

    /// The constant that a reference may reach, the one whose bytes are in the hash.
    pub(crate) fn island_of(&self, reference: &Reference) -> Option<Island> {
        let anchor = reference.anchor.unwrap_or(reference.target);
        if self.linked || reference.external {
            return None;
        }
        // A symbol may lie outside of its section, where the reader has put another.
        let section = self.section(reference.home?).filter(|s| s.access == Access::Constant)?;
        if section.merge.is_some() {
            return section.entry_at(anchor);
        }
        if !section.contains(anchor) {
            return Some(Island { start: section.address, size: section.size });
        }
        let object = self.data_at(anchor).filter(|d| !d.writable && (reference.typed || self.one_object(section)));
        Some(object.map_or(Island { start: section.address, size: section.size }, |d| Island { start: d.address, size: d.size }))
    }

    /// Whether a reference reaches beyond its symbol's section, or reads from more than one entry of a mergeable one: what is
    /// there stands there in this file alone.
    pub(crate) fn strays(&self, reference: &Reference, load: Option<u64>) -> bool {
        let Some(section) = reference.home.and_then(|h| self.section(h)) else { return false };
        let (anchor, size) = (reference.anchor.unwrap_or(reference.target), load.unwrap_or(1));
        let elsewhere = |at: u64| self.section(at).is_some_and(|s| s.address != section.address);
        let held = |i: Island| i.contains(reference.target) && i.contains(reference.target.wrapping_add(size - 1));
        let apart = section.merge.is_some() && load.is_some() && !section.entry_at(anchor).is_some_and(held);
        elsewhere(anchor) || elsewhere(reference.target) || apart
    }

    /// From a label of the compiler (a section anchor) code reaches everything in the section, so it stands for a data
    /// object only where that is alone.
    pub(crate) fn one_object(&self, section: &Section) -> bool {
        let mut inside = self.data.iter().filter(|d| section.contains(d.address));
        inside.next().is_some_and(|d| d.size == section.size) && inside.next().is_none()
    }

    /// Whether relocations patch any of these bytes.
    pub(crate) fn holds_pointers(&self, address: u64, size: u64) -> bool {
        let from = address.saturating_sub(9);
        self.pointers.range(from..address.saturating_add(size)).next().is_some()
    }
}
