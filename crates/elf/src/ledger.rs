//! Bytes handed out and written down: what a proof read of a file.
//!
//! Needs: a placed image.  Keeps: whoever holds a [`Ledger`] and no [`Image`] gets no byte that is not in [`Seen`].  Addresses of
//! constants are named by the thing that the relocation names (an [`Island`]), so that a proof can be made without a number
//! that a linker may change.  Absent: what is done with the bytes.

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::insn;
use crate::patches::POINTER_MAX;
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

/// An address that a linker decides on, or the file itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// What is reached through it; of no size where that is no constant.
    pub island: Island,
    pub what: What,
    /// The address meant; it need not lie in the island.
    pub target: u64,
    /// Where the island's start lies wherever it is linked: this much beyond a multiple of `align`.
    pub align: u64,
    pub residue: u64,
}

/// What lies at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Constant,
    Code,
    /// A variable, or something of another file.
    Other,
}

/// An instruction that makes a part of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub place: Place,
    /// The upper part: `lui` or `auipc`; otherwise the instruction that adds the rest.
    pub high: bool,
    /// The same for an upper part and those that complete it, another for every other: whether it is relative to the code,
    /// and a number.
    pub pair: (bool, u64),
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

    /// [`Image::read_only`], reached through an island or by a number: of a linked image only, where numbers are what they are.
    pub fn read_only(&self, island: Option<Island>, address: u64) -> Option<u8> {
        self.seen.borrow_mut().data.insert((island, address));
        match island {
            None if !self.image.linked => None,
            None => self.image.read_only(address),
            Some(_) => self.image.in_island(address),
        }
    }

    /// Whether addresses are numbers: those of a linked image.
    pub fn is_linked(&self) -> bool {
        self.image.linked
    }

    /// What the word of `size` bytes at an address is the address of, as its relocation says. It is of no use to another file:
    /// what lies there is in no hash.
    ///
    /// # Errors
    /// Relocations make these bytes, or some of them, and no address of a whole word.
    pub fn pointer(&self, address: u64, size: u64) -> Result<Option<Place>, ()> {
        let found = self.image.pointer(address, size);
        if found != Ok(None) {
            self.seen.borrow_mut().data.insert((None, address));
        }
        found
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

    /// [`Image::is_loose`].
    pub fn is_loose(&self, pc: u64) -> bool {
        self.image.is_loose(pc)
    }

    /// [`Image::is_relocated`].
    pub fn is_relocated(&self, pc: u64) -> bool {
        self.image.is_relocated(pc)
    }
}

/// Instructions lie at multiples of this wherever they are linked (psABI, the alignment of the C extension).
const CODE_ALIGN: u64 = 2;
/// Bytes of a constant that compilers keep in small data.
const SMALL: u64 = 8;

impl Place {
    /// The address of an instruction.
    pub fn code(pc: u64) -> Place {
        Place { island: Island { start: pc, size: 0 }, what: What::Code, target: pc, align: CODE_ALIGN, residue: 0 }
    }
}

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

    /// Writable only because compilers keep constants of a few bytes beside variables of a few bytes: those under labels of
    /// their own nobody else can name.
    fn is_small_data(&self) -> bool {
        !self.executable && (self.name == ".sdata" || self.name.starts_with(".sdata."))
    }
}

impl Image {
    /// The instruction at `pc` makes a part of an address, as its relocation says. Always `None` in a linked image.
    pub fn part(&self, pc: u64) -> Option<Part> {
        let reference = self.references.get(&pc).filter(|r| !self.linked && r.role != Role::Jump)?;
        let place = self.place(reference);
        let word = self.fetch(pc)?;
        let high = reference.role == Role::High;
        let relative = if high { (insn::opcode(word) == insn::AUIPC).then_some(pc) } else { reference.auipc };
        // All addresses in one block of the section's alignment have one upper part.
        let block = if place.what == What::Constant { self.align_of(place.island).min(2048) } else { 1 };
        let pair = (relative.is_some(), relative.unwrap_or(place.target / block * block));
        Some(Part { place, high, pair })
    }

    /// What a constant is aligned to wherever it is linked: as its section asks, or its entry, which lies anywhere that allows.
    fn align_of(&self, island: Island) -> u64 {
        let asked = self.section(island.start).map_or(1, |s| s.entry_align(island).unwrap_or(s.align).max(1));
        // Of a number that is no power of two, which linkers refuse, as much as is one.
        1 << asked.trailing_zeros()
    }

    /// Where the thing lies that a relocation names.
    fn place(&self, reference: &Reference) -> Place {
        let target = reference.target;
        let none = Place { island: Island { start: target, size: 0 }, what: What::Other, target, align: 1, residue: 0 };
        if let Some(island) = self.island_of(reference) {
            // The reader places sections at multiples of 16, so no smaller alignment tells what is off one from where it lies here.
            let align = self.align_of(island).min(16);
            return Place { island, what: What::Constant, align, residue: island.start % align, ..none };
        }
        match self.section(target) {
            _ if reference.external => none,
            Some(s) if s.executable && target % CODE_ALIGN == 0 && self.moves_along(reference) => Place::code(target),
            _ => none,
        }
    }

    fn pointer(&self, address: u64, size: u64) -> Result<Option<Place>, ()> {
        if self.linked || !self.holds_pointers(address, size) {
            return Ok(None);
        }
        let pointer = self.pointers.get(&address).filter(|p| p.size == size && size == u64::from(self.xlen / 8));
        let alone = self.pointers_in(address, size).count() == 1;
        pointer.filter(|_| alone).and_then(|p| p.to).map(|to| Some(self.place(&to))).ok_or(())
    }

    /// The constant that a reference may reach, the one whose bytes are in the hash.
    pub(crate) fn island_of(&self, reference: &Reference) -> Option<Island> {
        let anchor = reference.anchor.unwrap_or(reference.target);
        if self.linked || reference.external {
            return None;
        }
        // A symbol may lie outside of its section, where the reader has put another.
        let section = self.section(reference.home?)?;
        if section.is_small_data() && reference.private && section.contains(anchor) {
            return Some(Island { start: anchor, size: SMALL.min(section.address + section.size - anchor) });
        }
        if section.access != Access::Constant {
            return None;
        }
        if section.merge.is_some() {
            return section.entry_at(anchor);
        }
        if !section.contains(anchor) {
            return Some(Island { start: section.address, size: section.size });
        }
        let object = self.data_at(anchor).filter(|d| !d.writable && (reference.typed || self.one_object(section)));
        Some(object.map_or(Island { start: section.address, size: section.size }, |d| Island { start: d.address, size: d.size }))
    }

    /// A byte that a reference may reach.
    fn in_island(&self, address: u64) -> Option<u8> {
        self.final_byte(address, |s| s.access == Access::Constant || s.is_small_data())
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
        self.pointers_in(address, size).next().is_some()
    }

    pub(crate) fn pointers_in(&self, address: u64, size: u64) -> impl Iterator<Item = u64> + '_ {
        let near = self.pointers.range(address.saturating_sub(POINTER_MAX)..address.saturating_add(size));
        near.filter(move |(place, p)| place.saturating_add(p.size) > address).map(|(place, _)| *place)
    }
}
