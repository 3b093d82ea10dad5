//! Addresses that a linker decides on as terms.
//!
//! Needs: what relocations say of instructions and of data.  Keeps: in an object, the address of a constant, of code or of a
//! variable is a term of its own, not the number that the reader placed it at: what is proved holds wherever a linker puts it. A
//! byte is read only through the thing that was named, inside it; a jump arrives only where a relocation or a link says.
//! Absent: linked images, whose addresses are numbers; their proofs are of that very file.

use crate::term::{T, Var};
use super::state::{Exec, UpperOf};
use super::stop::Why;
use num_bigint::BigInt;
use num_traits::{One, ToPrimitive};
use santoku_elf::{Island, Place, What};
use santoku_isa::{Inst, Sem};

/// Addresses below and above are nothing's.
const EDGE: u64 = 4096;

impl Exec<'_> {
    /// The instruction at `pc` with what its relocation says of an address: the instruction and first operand that are
    /// executed, or the value that it writes.
    pub(super) fn placed(&mut self, pc: u64, inst: Inst, rs1: T) -> Result<(Inst, T, Option<T>), Why> {
        let Some(part) = self.code.image.part(pc) else {
            let made = (inst.row.name == "auipc" && !self.code.image.is_linked()).then(|| self.beside(pc, inst.imm));
            return Ok((inst, rs1, made));
        };
        let key = (part.place.island, part.pair);
        // A linker that leaves the upper part out puts another register in place of this operand: it must hold the upper part
        // and nothing else.
        let completes = self.constants.uppers.get(&rs1) == Some(&key);
        match (part.high, inst.row.name, inst.row.sem) {
            (true, "lui" | "auipc", _) => Ok((inst, rs1, Some(self.upper(key)))),
            (false, "addi", _) | (false, _, Sem::Load { .. }) if completes => Ok((Inst { imm: 0, ..inst }, self.address_of(&part.place), None)),
            // Where it arrives is asked with the jump.
            (false, "jalr", _) if completes => Ok((Inst { imm: 0, ..inst }, self.terms.int(part.place.target), None)),
            _ => Err(Why::Unsupported("part of an address, in an instruction that makes none of its upper part".into())),
        }
    }

    /// The address of an instruction and a distance that no relocation knows of.
    fn beside(&mut self, pc: u64, distance: i64) -> T {
        let here = self.code_address(pc);
        let distance = self.terms.int(distance);
        let sum = self.terms.add(here, distance);
        self.terms.mod2k(sum, self.code.xlen())
    }

    /// The address of an instruction.
    pub(super) fn code_address(&mut self, pc: u64) -> T {
        match self.code.image.is_linked() {
            true => self.terms.int(pc),
            false => self.address_of(&Place::code(pc)),
        }
    }

    /// The instruction at an address that is known to be one's.
    pub(super) fn code_at(&self, address: T) -> Option<u64> {
        match self.code.image.is_linked() {
            true => self.terms.as_const(address)?.to_u64(),
            false => self.constants.codes.get(&address).copied(),
        }
    }

    fn address_of(&mut self, place: &Place) -> T {
        let base = self.base_of(place);
        let beyond = self.terms.int(BigInt::from(place.target) - place.island.start);
        self.terms.add(base, beyond)
    }

    /// The address of what is reached: any multiple of its alignment, and what it is off that.
    fn base_of(&mut self, place: &Place) -> T {
        let Island { start, size } = place.island;
        if let Some(base) = self.constants.bases.get(&place.island) {
            return *base;
        }
        let align = place.align;
        let top: BigInt = (BigInt::one() << self.code.xlen()) - EDGE - size - align;
        let (lo, hi) = (BigInt::from(EDGE / align), top / align);
        let values = (0..self.terms.samples()).map(|n| BigInt::from((start / align + 4097 * n as u64) % (1 << 27)).max(lo.clone())).collect();
        let what = match place.what {
            What::Constant => "constant",
            What::Code => "code",
            What::Other => "variable",
        };
        let q = self.terms.var(Var { name: format!("&{what} {start:#x}"), lo, hi, public: true, values });
        let off = self.terms.int(place.residue);
        let base = self.terms.scale(q, &BigInt::from(align));
        let base = self.terms.add(base, off);
        self.constants.bases.insert(place.island, base);
        if place.what == What::Code {
            self.constants.codes.insert(base, start);
        }
        base
    }

    /// What `lui` or `auipc` leave. Nothing is known of it but that the rest added to it is the address: where a linker leaves the
    /// instruction out the register keeps what it held, another word each time, which may be a secret. So it is where no relocation
    /// allows that, for the proof's hash does not tell.
    fn upper(&mut self, key: UpperOf) -> T {
        let any = self.unknown("upper part of an address", self.code.xlen());
        self.constants.uppers.insert(any, key);
        any
    }

    /// Two upper parts of one address that two ways leave in a register: one of them.
    pub(super) fn either_upper(&mut self, x: T, y: T) -> Option<T> {
        let key = *self.constants.uppers.get(&x)?;
        (self.constants.uppers.get(&y) == Some(&key)).then(|| self.upper(key))
    }

    /// The constant that an address is made through, and the address as the file has it.
    pub(super) fn in_constant(&mut self, address: T) -> Option<(Island, T)> {
        let all: Vec<(Island, T)> = self.constants.bases().collect();
        all.into_iter().find_map(|(island, base)| {
            // The residue is a summand of its own.
            let offset = self.terms.without(address, base)?;
            let start = self.terms.int(island.start);
            Some((island, self.terms.add(offset, start)))
        })
    }

    /// Bytes of a constant as a word.
    pub(super) fn constant(&mut self, at: i64, bytes: u32) -> Result<T, Why> {
        let through = self.constants.through;
        let first = self.code.mask(at as u64);
        if let Some(island) = through.filter(|i| i.size == 0) {
            return Err(Why::Memory(format!("memory at {:#x} is read, which is no constant", island.start)));
        }
        if through.is_none() && !self.code.image.is_linked() {
            return Err(Why::Memory(format!("address {first:#x} is read, a number that no relocation names: what lies there is up to a linker")));
        }
        let mut v = 0u64;
        for k in 0..bytes {
            let address = self.code.mask(first.wrapping_add(u64::from(k)));
            if through.is_some_and(|island| !island.contains(address)) {
                return Err(Why::Memory(format!("address {address:#x} is read, outside the constant that the code names")));
            }
            let byte = self.code.image.read_only(through, address);
            let byte = byte.ok_or_else(|| Why::Memory(format!("address {address:#x} is read, which is no constant of the file")))?;
            v |= u64::from(byte) << (8 * k);
        }
        let part = || Why::Memory(format!("part of an address is read as a constant, or a distance that a linker decides on, at {first:#x}"));
        match self.code.image.pointer(first, u64::from(bytes)).map_err(|()| part())? {
            Some(place) => Ok(self.address_of(&place)),
            None => Ok(self.terms.int(v)),
        }
    }

    /// Addresses of all objects and constants.
    pub(super) fn all_bases(&self) -> Vec<T> {
        let constants = self.constants.bases().map(|(_, base)| base);
        self.bases.iter().copied().chain(constants).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::Terms;

    /// The last summand of a base is its variable: `Terms::without` looks for that one.
    #[test]
    fn a_base_with_a_residue_is_found_in_a_sum() {
        let mut terms = Terms::new(32, 2);
        let var = |terms: &mut Terms, name: &str| {
            let values = vec![BigInt::from(300), BigInt::from(301)];
            terms.var(Var { name: name.into(), lo: BigInt::from(256), hi: BigInt::from(1 << 20), public: true, values })
        };
        let (q, i) = (var(&mut terms, "q"), var(&mut terms, "i"));
        let (base, off) = (terms.scale(q, &BigInt::from(16)), terms.int(8));
        let base = terms.add(base, off);
        let index = terms.scale(i, &BigInt::from(4));
        let address = terms.add(base, index);
        assert_eq!(terms.without(address, base), Some(index));
        assert_eq!(terms.without(index, base), None);
    }
}
