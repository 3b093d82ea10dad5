//! The few facts about instruction words that relocating and hashing need: where immediates are, which register is written.
//!
//! Source: The RISC-V Instruction Set Manual, Volume I, version 20191213, sections 2.2, 2.3 and 16.2 to 16.8.

/// Major opcodes.
pub(crate) const LOAD: u32 = 0x03;
pub(crate) const LOAD_FP: u32 = 0x07;
pub(crate) const MISC_MEM: u32 = 0x0f;
pub(crate) const OP_IMM: u32 = 0x13;
pub(crate) const AUIPC: u32 = 0x17;
pub(crate) const STORE: u32 = 0x23;
pub(crate) const STORE_FP: u32 = 0x27;
pub(crate) const LUI: u32 = 0x37;
pub(crate) const BRANCH: u32 = 0x63;
pub(crate) const JALR: u32 = 0x67;
pub(crate) const JAL: u32 = 0x6f;

/// Bytes of the instruction that starts with this halfword; longer formats than 32 bits are not told apart.
pub(crate) fn length(low: u16) -> u64 {
    if low & 3 == 3 {
        4
    } else {
        2
    }
}

pub(crate) fn opcode(word: u32) -> u32 {
    word & 0x7f
}

pub(crate) fn rd(word: u32) -> usize {
    (word >> 7 & 31) as usize
}

pub(crate) fn rs1(word: u32) -> usize {
    (word >> 15 & 31) as usize
}

pub(crate) fn funct3(word: u32) -> u32 {
    word >> 12 & 7
}

/// Formats with an immediate that a relocation fills. For each: mask of its bits, bits from a value, value from the bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// `lui`, `auipc`: value is the whole 32-bit quantity, low 12 bits zero.
    U,
    I,
    S,
    B,
    J,
    /// `c.beqz`, `c.bnez`.
    Cb,
    /// `c.j`, `c.jal`.
    Cj,
}

impl Format {
    /// Pairs (bit of the value, bit of the instruction, number of bits).
    fn fields(self) -> &'static [(u32, u32, u32)] {
        match self {
            Format::U => &[(12, 12, 20)],
            Format::I => &[(0, 20, 12)],
            Format::S => &[(0, 7, 5), (5, 25, 7)],
            Format::B => &[(1, 8, 4), (5, 25, 6), (11, 7, 1), (12, 31, 1)],
            Format::J => &[(1, 21, 10), (11, 20, 1), (12, 12, 8), (20, 31, 1)],
            Format::Cb => &[(1, 3, 2), (3, 10, 2), (5, 2, 1), (6, 5, 2), (8, 12, 1)],
            Format::Cj => &[(1, 3, 3), (4, 11, 1), (5, 2, 1), (6, 7, 1), (7, 6, 1), (8, 9, 2), (10, 8, 1), (11, 12, 1)],
        }
    }

    /// Bits of a value that fits, its sign among them.
    pub(crate) fn width(self) -> u32 {
        self.fields().iter().map(|f| f.0 + f.2).max().unwrap_or(0)
    }

    pub(crate) fn mask(self) -> u32 {
        self.fields().iter().fold(0, |m, &(_, at, n)| m | ((1 << n) - 1) << at)
    }

    /// The instruction with this immediate; bits of `value` that have no place are dropped.
    pub(crate) fn put(self, word: u32, value: u32) -> u32 {
        let spread = self.fields().iter().fold(0, |m, &(from, at, n)| m | (value >> from & ((1 << n) - 1)) << at);
        word & !self.mask() | spread
    }

    /// The immediate, sign-extended.
    pub(crate) fn get(self, word: u32) -> i64 {
        let value = self.fields().iter().fold(0u32, |v, &(from, at, n)| v | (word >> at & ((1 << n) - 1)) << from);
        let unused = 32 - self.width();
        i64::from((value << unused) as i32 >> unused)
    }
}

/// A direct jump or branch and its format; `None` for anything else.
pub(crate) fn direct_jump(word: u32, size: u64, xlen: u32) -> Option<Format> {
    if size == 4 {
        return match opcode(word) {
            BRANCH => Some(Format::B),
            JAL => Some(Format::J),
            _ => None,
        };
    }
    match (word & 3, word >> 13 & 7) {
        (1, 5) => Some(Format::Cj),
        (1, 1) if xlen == 32 => Some(Format::Cj),
        (1, 6 | 7) => Some(Format::Cb),
        _ => None,
    }
}

/// Register written, where the instruction may write one. Never misses one: floating-point destinations count too.
pub(crate) fn written(word: u32, size: u64, xlen: u32) -> Option<usize> {
    if size == 4 {
        return match opcode(word) {
            BRANCH | STORE | STORE_FP | MISC_MEM => None,
            _ => Some(rd(word)),
        };
    }
    let short = |at: u32| Some((word >> at & 7) as usize + 8);
    match (word & 3, word >> 13 & 7) {
        (0, 0..=4) => short(2),
        (0, _) => None,
        (1, 1) if xlen == 32 => Some(1),
        (1, 4) => short(7),
        (1, 0..=3) => Some(rd(word)),
        (1, _) => None,
        (_, 4) if word >> 2 & 31 != 0 => Some(rd(word)),
        (_, 4) => (word >> 12 & 1 == 1).then_some(1),
        (_, 0..=3) => Some(rd(word)),
        _ => None,
    }
}

/// A jump that keeps a return address: afterwards the caller-saved registers hold what the callee left.
pub(crate) fn is_call(word: u32, size: u64, xlen: u32) -> bool {
    match size {
        4 => matches!(opcode(word), JAL | JALR) && rd(word) != 0,
        _ => (word & 0xe003 == 0x2001 && xlen == 32) || (word & 0xf07f == 0x9002 && rd(word) != 0),
    }
}

/// ra, t0 to t2, a0 to a7, t3 to t6.
pub(crate) const CALLER_SAVED: [usize; 16] = [1, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29, 30, 31];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn immediates_come_back() {
        let formats = [Format::U, Format::I, Format::S, Format::B, Format::J, Format::Cb, Format::Cj];
        for format in formats {
            let low = format.fields().iter().map(|f| f.0).min().expect("a field");
            assert_eq!(format.mask().count_ones(), format.width() - low, "{format:?}: fields overlap or leave a gap");
            for bit in low..format.width() {
                let value = 1u32 << bit;
                let word = format.put(0xffff_ffff, value);
                let unused = 32 - format.width();
                assert_eq!(format.get(word), i64::from((value << unused) as i32 >> unused), "{format:?} bit {bit}");
                assert_eq!(word | format.mask(), 0xffff_ffff);
            }
        }
    }

    /// Words from GNU as.
    #[test]
    fn known_words() {
        assert_eq!(Format::J.get(0xff5f_f0ef), -12); // jal ra, .-12
        assert_eq!(Format::B.get(0xfe05_0ee3), -4); // beqz a0, .-4
        assert_eq!(Format::S.get(0x0081_2623), 12); // sw s0, 12(sp)
        assert_eq!(Format::I.get(0xff01_0113), -16); // addi sp, sp, -16
        assert_eq!(Format::Cj.get(0xbff5), -4); // c.j .-4
        assert_eq!(Format::Cb.get(0xdd75), -4); // c.beqz a0, .-4
    }

    #[test]
    fn destinations() {
        assert_eq!(written(0x0081_2623, 4, 32), None); // sw
        assert_eq!(written(0x1141, 2, 32), Some(2)); // c.addi sp, -16
        assert_eq!(written(0x8082, 2, 32), None); // ret
        assert_eq!(written(0x9502, 2, 32), Some(1)); // c.jalr a0
        assert_eq!(written(0x852e, 2, 32), Some(10)); // c.mv a0, a1
        assert_eq!(written(0x4198, 2, 32), Some(14)); // c.lw a4, 0(a1)
        assert!(is_call(0x9502, 2, 32) && !is_call(0x8082, 2, 32) && !is_call(0x8502, 2, 32));
    }
}
