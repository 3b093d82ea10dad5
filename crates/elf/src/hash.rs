//! The hash of a function's meaning.
//!
//! Instructions go into the hash as they are, but for the immediates of those that refer to something outside the
//! function: there the thing referred to goes in instead, by name or by contents. A reference is a call or direct jump that
//! leaves the function, or a pair of an `auipc` or `lui` and an instruction that adds 12 bits to its result, found by
//! following registers through the code in order of address. Places inside the function count as steps, not bytes, and a
//! call is one step in its long form and in the short ones linkers relax it to.
//!
//! Why equal hashes mean equal code. In an object every address comes from a relocation, so everything that depends on the
//! placement is a reference and the rest of the bytes are the same wherever the function is linked. A low part enters as
//! (place of its high part, thing referred to): it states that the sum of both immediates is the address of that thing,
//! which is plain arithmetic and true whatever path led there; and since the high part is a multiple of 4096 and the low
//! part has 12 bits, one such sum fixes the high part. A function of an image with the hash of one from an object is
//! therefore that function, linked. Two functions of images may share a hash although absolute addresses that neither
//! wrote as such a pair differ: hashes to be compared with should come from objects.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use crate::code::{load_width, low_format, Insn, Pair};
use crate::insn::{self, Format};
use crate::reloc::{Reference, Role};
use crate::{Access, Data, Function, Image, Island, Section};

/// Which bytes of constants are in a hash: the island that was referred to, first byte, number of bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cover(BTreeSet<(Island, u64, u64)>);

impl Cover {
    /// Takes another function's in.
    pub fn extend(&mut self, other: Cover) {
        self.0.extend(other.0);
    }

    /// Whether this byte, reached through this island, is in the hash.
    pub fn holds(&self, island: Island, address: u64) -> bool {
        self.0.iter().any(|(i, from, size)| *i == island && address.wrapping_sub(*from) < *size)
    }
}

const DOMAIN: &[u8] = b"santoku code hash 1\0";

pub(crate) fn of_file(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

impl Image {
    /// SHA-256 of what the function is: its instructions, with the functions it calls by name, the constants it reads by
    /// their bytes and the variables it uses by name and size. The same function has the same hash in an object and in an
    /// image linked from it, also where the linker shortened its calls; but not where the linker rewrote the address of
    /// data (relative to `gp` or to 0), dropped padding inside the function, or where it points into constants that have no
    /// symbol in the image (labels of the compiler: compile with `-fdata-sections`).
    /// The bytes of called functions are not part of it: who relies on a hash must look at those functions too.
    pub fn code_hash(&self, function: &Function) -> [u8; 32] {
        self.hash_reading(function, &BTreeSet::new()).0
    }

    /// The constants whose bytes are in [`Image::code_hash`].
    pub fn cover(&self, function: &Function) -> Cover {
        self.hash_reading(function, &BTreeSet::new()).1
    }

    /// The hashes that a function of an image may have had in its object, that of [`Image::code_hash`] first. There are
    /// several where an address is both the end of a constant and the start of its neighbour: either was meant, both
    /// are true. For an object there is one.
    pub fn code_hashes(&self, function: &Function) -> Vec<[u8; 32]> {
        let mut hashes = vec![];
        for reading in subsets(&self.two_readings(function)) {
            let hash = self.hash_reading(function, &reading).0;
            if !hashes.contains(&hash) {
                hashes.push(hash);
            }
        }
        hashes
    }

    /// Addresses the function makes that are an end and a start.
    fn two_readings(&self, function: &Function) -> Vec<u64> {
        if !self.linked {
            return vec![];
        }
        let code = self.instructions(function);
        let targets: BTreeSet<u64> = self.pairs(&code).iter().flatten().map(|p| p.target).collect();
        let both = |t: &u64| {
            let ends = self.data_at(t.wrapping_sub(1)).is_some_and(|d| d.address.wrapping_add(d.size) == *t);
            ends && self.data_at(*t).is_some()
        };
        targets.into_iter().filter(both).collect()
    }

    /// `ends`: addresses that are read as ends although something starts there.
    fn hash_reading(&self, function: &Function, ends: &BTreeSet<u64>) -> ([u8; 32], Cover) {
        let code = self.instructions(function);
        let pairs = self.pairs(&code);
        let mut steps = BTreeMap::new();
        let mut n = 0;
        while n < code.len() {
            steps.insert(code[n].pc, steps.len() as u64);
            n += self.call(function, &code, &pairs, n).map_or(1, |c| c.length);
        }
        let into = |p: &Pair| self.data_at(p.target).map(|d| d.address);
        let mentioned = if self.linked { pairs.iter().flatten().filter_map(into).collect() } else { BTreeSet::new() };
        let mut hasher = Hasher { image: self, function, steps, mentioned, ends, cover: Cover::default(), out: Sha256::new() };
        hasher.out.update(DOMAIN);
        hasher.number(u64::from(self.xlen));
        hasher.number(hasher.steps.len() as u64);
        // Bytes at the end that are no whole instruction.
        let end = code.last().map_or(function.address, |i| i.pc.wrapping_add(i.size));
        hasher.number(function.address.wrapping_add(function.size).wrapping_sub(end));
        hasher.code(&code, &pairs);
        // The same bits may be other code elsewhere.
        if code.iter().any(|i| self.doubt(i.pc).is_some()) {
            hasher.only_here(function.address);
        }
        (hasher.out.finalize().into(), hasher.cover)
    }
}

/// More readings than of this many addresses are not tried.
const MOST_DOUBTS: usize = 6;

/// The empty set first. Beyond the limit only the empty and the whole set.
fn subsets(of: &[u64]) -> Vec<BTreeSet<u64>> {
    if of.len() > MOST_DOUBTS {
        return vec![BTreeSet::new(), of.iter().copied().collect()];
    }
    let one = |bits: usize| of.iter().enumerate().filter(|(k, _)| bits >> k & 1 == 1).map(|(_, a)| *a).collect();
    (0..1 << of.len()).map(one).collect()
}

struct Hasher<'a> {
    image: &'a Image,
    function: &'a Function,
    /// Number of the step that starts at an address.
    steps: BTreeMap<u64, u64>,
    /// In an image: data objects that the function points into.
    mentioned: BTreeSet<u64>,
    ends: &'a BTreeSet<u64>,
    cover: Cover,
    out: Sha256,
}

impl<'a> Hasher<'a> {
    fn number(&mut self, n: u64) {
        self.out.update(n.to_le_bytes());
    }

    fn tag(&mut self, tag: u8) {
        self.out.update([tag]);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.out.update(bytes);
    }

    fn code(&mut self, code: &[Insn], pairs: &[Option<Pair>]) {
        let used: BTreeSet<usize> = pairs.iter().flatten().map(|p| p.high).collect();
        let mut n = 0;
        while n < code.len() {
            match self.image.call(self.function, code, pairs, n) {
                Some(call) => {
                    self.tag(b'J');
                    self.number(call.link as u64);
                    let reference = self.image.references.get(&code[n].pc).copied();
                    self.loose(&code[n], call.target);
                    self.target(call.target, reference, None);
                    n += call.length;
                }
                None => {
                    self.instruction(&code[n], pairs[n].map(|p| (code[p.high].pc, p.target)), used.contains(&n));
                    n += 1;
                }
            }
        }
    }

    /// `low`: it adds a low part to the high part at the first address, which makes the second. `high`: something adds a low
    /// part to it.
    fn instruction(&mut self, insn: &Insn, low: Option<(u64, u64)>, high: bool) {
        let reference = self.image.references.get(&insn.pc).copied();
        if let Some((at, target)) = low {
            self.masked(b'L', insn, low_format(insn).map_or(0, Format::mask));
            self.step(at);
            self.loose(insn, target);
            self.target(target, reference, load_width(insn));
        } else if high {
            self.masked(b'H', insn, Format::U.mask());
        } else if let Some(r) = reference.filter(|r| r.role != Role::Jump) {
            let format = if r.role == Role::High { Some(Format::U) } else { low_format(insn) };
            self.masked(b'U', insn, format.map_or(0, Format::mask));
            self.target(r.target, reference, None);
        } else if insn.size == 4 && insn::opcode(insn.word) == insn::AUIPC {
            self.masked(b'A', insn, 0);
            self.only_here(insn.pc);
        } else if let Some(target) = self.image.jump_target(insn) {
            let format = insn::direct_jump(insn.word, insn.size, self.image.xlen);
            self.masked(b'B', insn, format.map_or(0, Format::mask));
            self.loose(insn, target);
            self.target(target, reference, None);
        } else {
            self.masked(b'R', insn, 0);
        }
    }

    fn masked(&mut self, tag: u8, insn: &Insn, mask: u32) {
        self.tag(tag);
        self.out.update([insn.size as u8]);
        self.out.update((insn.word & !mask).to_le_bytes());
    }

    /// A place inside the function, by its number.
    fn step(&mut self, address: u64) {
        match self.steps.get(&address).copied() {
            Some(number) => {
                self.tag(b's');
                self.number(number);
            }
            None => self.only_here(address),
        }
    }

    /// A distance that no relocation describes is one of this file alone where a linker may change it.
    fn loose(&mut self, insn: &Insn, target: u64) {
        if !self.image.linked && !self.image.is_relocated(insn.pc) && !self.image.is_firm(insn.pc, target) {
            self.only_here(insn.pc);
        }
    }

    /// The thing at an address. `load`: it is only read, this many bytes.
    fn target(&mut self, target: u64, reference: Option<Reference>, load: Option<u64>) {
        let image = self.image;
        // A pointer just past an object belongs to the object its symbol names, not to a neighbour.
        let anchor = reference.and_then(|r| r.anchor).unwrap_or(target);
        let value = |w: u64| (0..w).map(|k| image.read_only(target.wrapping_add(k))).collect::<Option<Vec<u8>>>();
        // Another file with these bytes may have what may shrink elsewhere.
        let strays = |r: &Reference| !image.linked && (image.strays(r, load) || !image.moves_along(r));
        if reference.as_ref().is_some_and(strays) {
            self.only_here(target);
        } else if target.wrapping_sub(self.function.address) < self.function.size {
            self.step(target);
        } else if let Some(name) = image.external(anchor) {
            self.named(b'n', name, target.wrapping_sub(anchor));
        } else if let Some(bytes) = load.and_then(value) {
            self.tag(b'v');
            self.bytes(&bytes);
            let size = bytes.len() as u64;
            self.placed(target, size);
            let island = reference.and_then(|r| image.island_of(&r));
            self.cover.0.extend(island.map(|island| (island, target, size)));
        } else if let Some(data) = self.ended(target) {
            self.object(data, target);
        } else if let Some(function) = image.function_at(anchor) {
            self.code_of(function, target);
        } else if let Some(section) = image.section(anchor) {
            self.in_section(section, anchor, target, reference.is_some_and(|r| r.typed));
        } else {
            self.tag(b'a');
            self.number(target);
        }
    }

    /// A linker may have moved what is not at the start of another function.
    fn code_of(&mut self, function: &Function, target: u64) {
        match target.wrapping_sub(function.address) {
            offset if offset != 0 && self.image.linked => self.only_here(target),
            offset => self.named(b'n', &function.name, offset),
        }
    }

    fn named(&mut self, tag: u8, name: &str, offset: u64) {
        self.tag(tag);
        self.bytes(name.as_bytes());
        self.number(offset);
    }

    fn in_section(&mut self, section: &Section, anchor: u64, target: u64, typed: bool) {
        let object = self.image.data_at(anchor).filter(|_| self.image.linked || typed || self.image.one_object(section));
        let constant = section.access != Access::Writable;
        match object {
            _ if !self.image.linked && section.merge.is_some() => match section.entry_at(anchor) {
                // Wherever the linker moves it, it keeps its name.
                Some(entry) if object.is_some_and(|d| (d.address, d.size) == (entry.start, entry.size)) => self.contained(b'c', entry, section, target),
                Some(entry) => self.contained(b'm', entry, section, target),
                None => self.only_here(target),
            },
            Some(data) => self.object(data, target),
            None if self.image.linked => self.only_here(target),
            None if constant => self.contained(b'b', Island { start: section.address, size: section.size }, section, target),
            None => {
                self.named(b'x', &section.name, target.wrapping_sub(section.address));
                self.number(section.size);
            }
        }
    }

    /// The object that ends at this address, if an image's function points into it too: where loops over it stop.
    fn ended(&self, target: u64) -> Option<&'a Data> {
        let before = self.image.data_at(target.wrapping_sub(1))?;
        let ends = before.address.wrapping_add(before.size) == target;
        let meant = self.ends.contains(&target) || self.image.data_at(target).is_none();
        (ends && meant && self.mentioned.contains(&before.address)).then_some(before)
    }

    fn object(&mut self, data: &Data, target: u64) {
        match self.image.section(data.address).filter(|_| !data.writable) {
            Some(section) => self.contained(b'c', Island { start: data.address, size: data.size }, section, target),
            None => {
                self.named(b'w', &data.name, target.wrapping_sub(data.address));
                self.number(data.size);
            }
        }
    }

    /// A constant by its bytes, and where in it the target is.
    fn contained(&mut self, tag: u8, of: Island, section: &Section, target: u64) {
        self.tag(tag);
        self.contents(section, of.start, of.size);
        self.number(target.wrapping_sub(of.start));
    }

    fn contents(&mut self, section: &Section, address: u64, size: u64) {
        self.number(size);
        match &section.bytes {
            None => self.tag(b'0'),
            Some(all) => {
                let from = (address - section.address) as usize;
                self.bytes(all.get(from..from.saturating_add(size as usize)).unwrap_or(&[]));
            }
        }
        self.placed(address, size);
        self.cover.0.insert((Island { start: address, size }, address, size));
    }

    /// Constants that hold addresses mean what lies there, which is not followed.
    fn placed(&mut self, address: u64, size: u64) {
        if self.image.holds_pointers(address, size) {
            self.only_here(address);
        }
    }

    /// Nothing of another file may compare equal.
    fn only_here(&mut self, address: u64) {
        self.tag(b'u');
        let digest = self.image.digest;
        self.out.update(digest);
        self.number(address);
    }
}

impl Image {
    /// The same file with another instruction of the same length (2 or 4 bytes) at `pc`: for asking a judge about changed
    /// code. A branch or jump that referred to a symbol then leads where its own bits say. `None` where no code is, and for
    /// either half of an address or a far call, which mean something only together.
    pub fn replaced(&self, pc: u64, bytes: &[u8]) -> Option<Image> {
        if self.references.get(&pc).is_some_and(|r| r.role != Role::Jump || r.external) {
            return None;
        }
        let old = self.fetch(pc)?;
        let width = if insn::length(old as u16) == 2 { 2 } else { 4 };
        let mut image = self.clone();
        let section = image.sections.iter_mut().find(|s| s.contains(pc))?;
        let from = usize::try_from(pc - section.address).ok()?;
        let place = section.bytes.as_mut()?.get_mut(from..from + width).filter(|p| p.len() == bytes.len())?;
        place.copy_from_slice(bytes);
        image.references.remove(&pc);
        image.digest = of_file(&[&self.digest[..], &pc.to_le_bytes(), bytes].concat());
        Some(image)
    }
}
