//! The hash of a function's meaning.
//!
//! Instructions go into the hash as they are, but for the immediates of those that refer to something outside the
//! function: there the thing referred to goes in instead, by name or by contents. A reference is a direct jump that leaves
//! the function, or a pair of an `auipc` or `lui` and an instruction that adds 12 bits to its result, found by following
//! registers through the code in order of address.
//!
//! Why equal hashes mean equal code. In an object every address comes from a relocation, so everything that depends on the
//! placement is a reference and the rest of the bytes are the same wherever the function is linked. A low part enters as
//! (place of its high part, thing referred to): it states that the sum of both immediates is the address of that thing,
//! which is plain arithmetic and true whatever path led there; and since the high part is a multiple of 4096 and the low
//! part has 12 bits, one such sum fixes the high part. A function of an image with the hash of one from an object is
//! therefore that function, linked. Two functions of images may share a hash although absolute addresses that neither
//! wrote as such a pair differ: hashes to be compared with should come from objects.

use sha2::{Digest, Sha256};

use crate::insn::{self, Format};
use crate::reloc::{Reference, Role};
use crate::{Access, Function, Image, Section};

const DOMAIN: &[u8] = b"santoku code hash 1\0";

pub(crate) fn of_file(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

#[derive(Clone, Copy)]
struct Insn {
    pc: u64,
    size: u64,
    word: u32,
}

/// A high part that a low part adds to.
#[derive(Clone, Copy)]
struct Pair {
    high: usize,
    target: u64,
}

impl Image {
    /// SHA-256 of what the function is: its instructions, with the functions it calls by name, the constants it reads by
    /// their bytes and the variables it uses by name and size. The same function has the same hash in an object and in an
    /// image linked from it, unless the linker rewrote it (relaxation: link with `--no-relax`, or compare against an
    /// equally linked image), or it points into constants that have no symbol in the image (labels of the compiler).
    /// The bytes of called functions are not part of it: who relies on a hash must look at those functions too.
    pub fn code_hash(&self, function: &Function) -> [u8; 32] {
        let mut hasher = Hasher { image: self, function, out: Sha256::new() };
        hasher.out.update(DOMAIN);
        hasher.number(u64::from(self.xlen));
        hasher.number(function.size);
        let code = self.instructions(function);
        let pairs = self.pairs(&code);
        for (n, insn) in code.iter().enumerate() {
            hasher.instruction(&code, &pairs, n, insn);
        }
        hasher.out.finalize().into()
    }

    /// Instructions in order of address; what cannot be fetched at the end of a function counts as absent, and the size
    /// in the hash still tells.
    fn instructions(&self, function: &Function) -> Vec<Insn> {
        let mut code = vec![];
        let mut pc = function.address;
        while pc - function.address < function.size {
            let Some(word) = self.fetch(pc) else { break };
            let size = insn::length(word as u16);
            code.push(Insn { pc, size, word });
            match pc.checked_add(size) {
                Some(next) => pc = next,
                None => break,
            }
        }
        code
    }

    /// For each instruction that adds a low part: its high part and the sum.
    fn pairs(&self, code: &[Insn]) -> Vec<Option<Pair>> {
        let mut highs: [Option<usize>; 32] = [None; 32];
        let mut pairs = vec![];
        for (n, insn) in code.iter().enumerate() {
            let high = low_format(insn).and(highs[insn::rs1(insn.word)]);
            pairs.push(high.and_then(|h| self.pair(&code[h], h, insn)));
            if insn::is_call(insn.word, insn.size, self.xlen) {
                insn::CALLER_SAVED.iter().for_each(|r| highs[*r] = None);
            }
            if let Some(rd) = insn::written(insn.word, insn.size, self.xlen) {
                highs[rd] = self.is_high(insn).then_some(n);
            }
            highs[0] = None;
        }
        pairs
    }

    fn is_high(&self, insn: &Insn) -> bool {
        if insn.size != 4 {
            return false;
        }
        let relocated = self.references.get(&insn.pc).is_some_and(|r| r.role == Role::High);
        match insn::opcode(insn.word) {
            insn::AUIPC => true,
            insn::LUI => relocated || self.linked,
            _ => false,
        }
    }

    fn pair(&self, high: &Insn, index: usize, low: &Insn) -> Option<Pair> {
        let base = if insn::opcode(high.word) == insn::AUIPC { high.pc } else { 0 };
        let sum = base.wrapping_add(Format::U.get(high.word) as u64).wrapping_add(low_format(low)?.get(low.word) as u64);
        let target = if self.xlen == 32 { sum & 0xffff_ffff } else { sum };
        let pair = Some(Pair { high: index, target });
        match (self.references.get(&high.pc), self.references.get(&low.pc)) {
            (Some(_), Some(r)) => pair.filter(|_| r.role == Role::Low && r.target == target),
            (Some(_), None) | (None, Some(_)) => None,
            // In an image a `lui` may as well make a number; it counts as an address if something is there.
            (None, None) if insn::opcode(high.word) == insn::LUI => pair.filter(|_| self.section(target).is_some()),
            (None, None) => pair,
        }
    }
}

/// Format of the immediate of an instruction that may add the low part of an address.
fn low_format(insn: &Insn) -> Option<Format> {
    if insn.size != 4 {
        return None;
    }
    match insn::opcode(insn.word) {
        insn::OP_IMM if insn::funct3(insn.word) == 0 => Some(Format::I),
        insn::LOAD | insn::LOAD_FP | insn::JALR => Some(Format::I),
        insn::STORE | insn::STORE_FP => Some(Format::S),
        _ => None,
    }
}

/// Bytes that a load of whole registers reads.
fn load_width(insn: &Insn) -> Option<u64> {
    let width = 1 << (insn::funct3(insn.word) & 3);
    (insn.size == 4 && insn::opcode(insn.word) == insn::LOAD).then_some(width)
}

struct Hasher<'a> {
    image: &'a Image,
    function: &'a Function,
    out: Sha256,
}

impl Hasher<'_> {
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

    fn instruction(&mut self, code: &[Insn], pairs: &[Option<Pair>], n: usize, insn: &Insn) {
        let Insn { pc, size, word } = *insn;
        let reference = self.image.references.get(&pc).copied();
        if let Some(pair) = pairs[n] {
            self.masked(b'L', insn, low_format(insn).map_or(0, Format::mask));
            self.number(code[pair.high].pc - self.function.address);
            self.target(pair.target, reference, load_width(insn));
        } else if self.image.is_high(insn) && pairs.iter().flatten().any(|p| p.high == n) {
            self.masked(b'H', insn, Format::U.mask());
        } else if let Some(r) = reference.filter(|r| r.role != Role::Jump) {
            let format = if r.role == Role::High { Some(Format::U) } else { low_format(insn) };
            self.masked(b'U', insn, format.map_or(0, Format::mask));
            self.target(r.target, reference, None);
        } else if insn.size == 4 && insn::opcode(word) == insn::AUIPC {
            self.masked(b'A', insn, 0);
            self.only_here(pc);
        } else if let Some(format) = insn::direct_jump(word, size, self.image.xlen) {
            self.jump(insn, format, reference);
        } else {
            self.masked(b'R', insn, 0);
        }
    }

    fn masked(&mut self, tag: u8, insn: &Insn, mask: u32) {
        self.tag(tag);
        self.out.update([insn.size as u8]);
        self.out.update((insn.word & !mask).to_le_bytes());
    }

    fn jump(&mut self, insn: &Insn, format: Format, reference: Option<Reference>) {
        let distance = format.get(insn.word) as u64;
        let target = insn.pc.wrapping_add(distance);
        if target.wrapping_sub(self.function.address) < self.function.size {
            return self.masked(b'R', insn, 0);
        }
        self.masked(b'J', insn, format.mask());
        self.target(target, reference, None);
    }

    /// The thing at an address. `load`: it is only read, this many bytes.
    fn target(&mut self, target: u64, reference: Option<Reference>, load: Option<u64>) {
        let image = self.image;
        // A pointer just past an object belongs to the object its symbol names, not to a neighbour.
        let anchor = reference.and_then(|r| r.anchor).unwrap_or(target);
        if target.wrapping_sub(self.function.address) < self.function.size {
            self.tag(b's');
            self.number(target - self.function.address);
        } else if let Some(name) = image.external(anchor) {
            self.named(b'n', name, target.wrapping_sub(anchor));
        } else if let Some(bytes) = load.and_then(|w| (0..w).map(|k| image.read_only(target.wrapping_add(k))).collect::<Option<Vec<u8>>>()) {
            self.tag(b'v');
            self.bytes(&bytes);
        } else if let Some(function) = image.function_at(anchor) {
            self.named(b'n', &function.name, target.wrapping_sub(function.address));
        } else if let Some(section) = image.section(anchor) {
            self.in_section(section, anchor, target, reference.is_some_and(|r| r.typed));
        } else {
            self.tag(b'a');
            self.number(target);
        }
    }

    fn named(&mut self, tag: u8, name: &str, offset: u64) {
        self.tag(tag);
        self.bytes(name.as_bytes());
        self.number(offset);
    }

    fn in_section(&mut self, section: &Section, anchor: u64, target: u64, typed: bool) {
        let object = self.image.data_at(anchor).filter(|_| self.image.linked || typed || self.one_object(section));
        let constant = section.access != Access::Writable;
        match object {
            Some(data) if constant => {
                self.tag(b'c');
                self.contents(section, data.address, data.size);
                self.number(target.wrapping_sub(data.address));
            }
            Some(data) => {
                self.named(b'w', &data.name, target.wrapping_sub(data.address));
                self.number(data.size);
            }
            None if self.image.linked => self.only_here(target),
            None if constant => {
                self.tag(b'b');
                self.contents(section, section.address, section.size);
                self.number(target.wrapping_sub(section.address));
            }
            None => {
                self.named(b'x', &section.name, target.wrapping_sub(section.address));
                self.number(section.size);
            }
        }
    }

    /// From a label of the compiler (a section anchor) code reaches everything in the section, so it stands for a data
    /// object only where that is alone.
    fn one_object(&self, section: &Section) -> bool {
        let mut inside = self.image.data.iter().filter(|d| section.contains(d.address));
        inside.next().is_some_and(|d| d.size == section.size) && inside.next().is_none()
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
    }

    /// Nothing of another file may compare equal.
    fn only_here(&mut self, address: u64) {
        self.tag(b'u');
        let digest = self.image.digest;
        self.out.update(digest);
        self.number(address);
    }
}
