//! What one run may touch: its objects, the stack, the constants of the file.

use num_bigint::{BigInt, Sign};
use num_traits::{One, Signed};
use santoku_elf::Image;
use santoku_isa::Memory;
use santoku_num::little;

/// One object, or the stack.
#[derive(Clone, Debug)]
pub(super) struct Region {
    pub name: String,
    pub base: u64,
    pub bytes: Vec<u8>,
    pub writable: bool,
}

impl Region {
    fn at(&self, address: u64, bytes: u64) -> Option<std::ops::Range<usize>> {
        let from = usize::try_from(address.checked_sub(self.base)?).ok()?;
        let to = from.checked_add(usize::try_from(bytes).ok()?)?;
        (to <= self.bytes.len()).then_some(from..to)
    }

    /// The integer stored at an offset.
    pub fn value(&self, offset: u64, bytes: u32, signed: bool) -> BigInt {
        let from = offset as usize;
        let raw = self.bytes.get(from..from + bytes as usize).unwrap_or_default();
        let v = BigInt::from_bytes_le(Sign::Plus, raw);
        if signed && v.bit(u64::from(8 * bytes - 1)) {
            return v - (BigInt::one() << (8 * bytes));
        }
        v
    }

    /// Stores an integer, negative ones in two's complement.
    pub fn put(&mut self, offset: u64, bytes: u32, value: &BigInt) {
        let from = offset as usize;
        let raw = modulo(value, 8 * bytes).to_bytes_le().1;
        if let Some(place) = self.bytes.get_mut(from..from + bytes as usize) {
            place.fill(0);
            place.iter_mut().zip(raw).for_each(|(to, from)| *to = from);
        }
    }
}

/// The value mod `2^bits`, not negative.
pub(super) fn modulo(value: &BigInt, bits: u32) -> BigInt {
    let all = BigInt::one() << bits;
    let rest = value % &all;
    if rest.is_negative() { rest + all } else { rest }
}

/// The memory of a run.
pub(super) struct Space<'a> {
    pub image: &'a Image,
    /// The stack first.
    pub regions: Vec<Region>,
    /// The stack pointer at the moment: nothing below it is touched.
    pub sp: u64,
    /// What it was at entry, and the bytes of arguments above: nothing above those is touched.
    pub entry_sp: u64,
    pub stack_args: u64,
    /// The address of the last access.
    pub touched: Option<u64>,
}

impl Space<'_> {
    /// The region that holds these bytes, and where in it. Of the stack only the frame and the arguments above count.
    fn find(&self, address: u64, bytes: u64) -> Option<(usize, std::ops::Range<usize>)> {
        let (k, range) = self.regions.iter().enumerate().find_map(|(k, r)| Some((k, r.at(address, bytes)?)))?;
        let end = address + bytes;
        let in_frame = address >= self.sp && (end <= self.entry_sp || address >= self.entry_sp && end <= self.entry_sp + self.stack_args);
        (k != 0 || in_frame).then_some((k, range))
    }

    /// Whether all these bytes may be read, or written.
    pub fn may(&self, address: u64, bytes: u64, written: bool) -> bool {
        match self.find(address, bytes) {
            Some((k, _)) => !written || self.regions[k].writable,
            None => !written && (0..bytes).all(|k| address.checked_add(k).is_some_and(|a| self.image.read_only(a).is_some())),
        }
    }

    /// `name+offset` of an address, or the address.
    pub fn place(&self, address: u64) -> String {
        let inside = |r: &&Region| r.at(address, 0).is_some();
        if let Some(r) = self.regions.iter().find(inside) {
            return format!("{}+{}", r.name, address - r.base);
        }
        match self.image.data_at(address) {
            Some(d) => format!("{}+{}", d.name, address - d.address),
            None => format!("{address:#x}"),
        }
    }
}

impl Memory for Space<'_> {
    fn load(&mut self, address: u64, bytes: u8) -> Option<u64> {
        self.touched = Some(address);
        if let Some((k, range)) = self.find(address, bytes.into()) {
            return Some(little(&self.regions[k].bytes[range]) as u64);
        }
        (0..u64::from(bytes)).rev().try_fold(0, |v, k| Some(v << 8 | u64::from(self.image.read_only(address.checked_add(k)?)?)))
    }

    fn store(&mut self, address: u64, bytes: u8, value: u64) -> Option<()> {
        self.touched = Some(address);
        let (k, range) = self.find(address, bytes.into())?;
        let r = self.regions.get_mut(k).filter(|r| r.writable)?;
        r.bytes[range].copy_from_slice(&value.to_le_bytes()[..usize::from(bytes)]);
        Some(())
    }
}
