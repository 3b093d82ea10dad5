//! Entries of mergeable sections: a linker moves each for itself, and keeps one of equal ones.

/// How a mergeable section is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entries {
    /// Bytes of an entry, or of a character of a string. Not 0.
    pub size: u64,
    /// Entries end behind a character that is 0.
    pub strings: bool,
}

impl Entries {
    /// First byte and number of bytes of the entry around an offset.
    pub(crate) fn around(self, bytes: &[u8], offset: u64) -> Option<(u64, u64)> {
        let (size, at) = (usize::try_from(self.size).ok()?, usize::try_from(offset).ok().filter(|o| *o < bytes.len())?);
        let first = at / size * size;
        if !self.strings {
            return (first + size <= bytes.len()).then_some((first as u64, self.size));
        }
        let ends = |k: usize| bytes.get(k..k + size).map(|c| c.iter().all(|b| *b == 0));
        let (mut start, mut last) = (first, first);
        while start > 0 && ends(start - size) == Some(false) {
            start -= size;
        }
        while !ends(last)? {
            last += size;
        }
        Some((start as u64, (last + size - start) as u64))
    }

    /// What the address of the entry at this offset is a multiple of wherever it is moved; `section`: alignment of the section.
    pub(crate) fn align(self, start: u64, section: u64) -> u64 {
        let of = if self.strings { start } else { self.size };
        section.max(1).min(if of == 0 { u64::MAX } else { 1 << of.trailing_zeros() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_around_an_offset() {
        let fixed = Entries { size: 4, strings: false };
        assert_eq!([0, 3, 4, 7, 8].map(|o| fixed.around(&[1; 10], o)), [Some((0, 4)), Some((0, 4)), Some((4, 4)), Some((4, 4)), None]);
        let text = Entries { size: 1, strings: true };
        let bytes = b"ab\0\0cd\0e";
        let found = [0, 1, 2, 3, 4, 6, 7, 8].map(|o| text.around(bytes, o));
        assert_eq!(found, [Some((0, 3)), Some((0, 3)), Some((0, 3)), Some((3, 1)), Some((4, 3)), Some((4, 3)), None, None]);
        assert_eq!([(0, 8), (4, 8), (6, 8)].map(|(o, a)| text.align(o, a)), [8, 4, 2]);
        assert_eq!([(0, 8), (8, 2)].map(|(o, a)| fixed.align(o, a)), [4, 2]);
    }
}
