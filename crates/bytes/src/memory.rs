//! Memory as objects apart from each other, byte ranges holding words.
//!
//! Needs: polynomials.  Keeps: every access is at a number from an object's beginning and inside it.  Absent: where objects lie.

use crate::{known, stop, Res};
use santoku_num::{Int, Itv};
use santoku_meaning::atoms::{Atoms, Num};
use std::collections::BTreeMap;

/// Bytes of the longest cell.
const CELL: i64 = 16;

/// An object: bytes from `lo` to `hi`, of which the cells are known.
#[derive(Clone, Debug)]
pub struct Object {
    pub lo: i64,
    pub hi: i64,
    pub writable: bool,
    /// By offset, disjoint: bytes, and the word they hold.
    cells: BTreeMap<i64, (u32, Num)>,
}

/// Bytes `skip .. skip + bytes` of a word.
fn slice(atoms: &mut Atoms, v: &Num, skip: u32, bytes: u32) -> Option<Num> {
    let high = atoms.divide(v, &Int::pow2(8 * skip))?.0;
    if high.fits(8 * bytes) {
        return Some(high);
    }
    Some(atoms.divide(&high, &Int::pow2(8 * bytes))?.1)
}

impl Object {
    pub fn new((lo, hi): (i64, i64), writable: bool) -> Object {
        Object { lo, hi, writable, cells: BTreeMap::new() }
    }

    fn touching(&self, at: i64, end: i64) -> Vec<(i64, u32, Num)> {
        let cells = self.cells.range(at - CELL..end);
        cells.filter(|(k, c)| *k + i64::from(c.0) > at).map(|(k, c)| (*k, c.0, c.1.clone())).collect()
    }

    fn holds(&self, at: i64, bytes: u32) -> Res<i64> {
        let end = at.checked_add(i64::from(bytes)).filter(|end| at >= self.lo && *end <= self.hi);
        known(end, "bytes outside of the object")
    }

    pub fn store(&mut self, atoms: &mut Atoms, at: i64, bytes: u32, v: Num) -> Res<()> {
        let end = self.holds(at, bytes)?;
        if !v.fits(8 * bytes) {
            return stop("a value that does not fit its bytes");
        }
        for (k, old, cell) in self.touching(at, end) {
            self.cells.remove(&k);
            if k < at {
                let kept = (at - k) as u32;
                self.cells.insert(k, (kept, known(slice(atoms, &cell, 0, kept), "part of a word")?));
            }
            if k + i64::from(old) > end {
                let (kept, skip) = ((k + i64::from(old) - end) as u32, (end - k) as u32);
                self.cells.insert(end, (kept, known(slice(atoms, &cell, skip, kept), "part of a word")?));
            }
        }
        self.cells.insert(at, (bytes, v));
        Ok(())
    }

    pub fn load(&self, atoms: &mut Atoms, at: i64, bytes: u32) -> Res<Num> {
        let end = self.holds(at, bytes)?;
        if let Some((_, v)) = self.cells.get(&at).filter(|c| c.0 == bytes) {
            return Ok(v.clone());
        }
        let (mut next, mut sum) = (at, Num::constant(0u8));
        for (k, size, cell) in self.touching(at, end) {
            if k > next {
                return stop("bytes are read that nothing wrote");
            }
            let to = (k + i64::from(size)).min(end);
            let part = known(slice(atoms, &cell, (next - k) as u32, (to - next) as u32), "part of a word")?;
            let unit = Int::pow2(8 * (next - at) as u32);
            let itv = sum.itv.as_ref().zip(part.itv.as_ref()).map(|(s, p)| s.add(&p.mul(&Itv::point(unit.clone()))));
            sum = atoms.num(sum.p.plus(&unit, &part.p), itv);
            next = to;
        }
        if next == end { Ok(sum) } else { stop("bytes are read that nothing wrote") }
    }

    /// Forgets what begins below an offset.
    pub fn forget_below(&mut self, to: i64) {
        self.cells = self.cells.split_off(&to);
    }

    /// Cells from one offset to another, as offsets from the first and sizes, if they are whole.
    pub fn cut(&self, from: i64, to: i64) -> Vec<(i64, u32)> {
        self.cells.range(from..to).filter(|(k, c)| **k + i64::from(c.0) <= to).map(|(k, c)| (k - from, c.0)).collect()
    }
}
