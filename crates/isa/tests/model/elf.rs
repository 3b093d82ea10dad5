//! Static executables, as few bytes as Linux accepts.

use santoku_isa::Xlen;

/// A piece of memory: contents, then zeros up to `size`.
pub struct Segment<'a> {
    pub address: u64,
    pub bytes: &'a [u8],
    pub size: u64,
    pub executable: bool,
}

const PAGE: u64 = 0x1000;

/// An executable that starts at `entry`. Addresses are multiples of the page size.
pub fn executable(xlen: Xlen, entry: u64, segments: &[Segment]) -> Vec<u8> {
    let wide = xlen == Xlen::Rv64;
    let (header, entry_size) = if wide { (64, 56) } else { (52, 32) };
    let mut out = vec![0x7f, b'E', b'L', b'F', if wide { 2 } else { 1 }, 1, 1];
    out.resize(16, 0);
    let word = |out: &mut Vec<u8>, v: u64| out.extend(&v.to_le_bytes()[..if wide { 8 } else { 4 }]);
    out.extend([2, 0, 243, 0, 1, 0, 0, 0]);
    for v in [entry, header, 0] {
        word(&mut out, v);
    }
    // Flags: compressed instructions, no floating-point registers in calls.
    out.extend(1u32.to_le_bytes());
    for v in [header, entry_size, segments.len() as u64, 0, 0, 0] {
        out.extend((v as u16).to_le_bytes());
    }
    let mut offset = PAGE;
    for s in segments {
        assert_eq!(s.address % PAGE, 0, "segments start a page");
        let flags = if s.executable { 5u32 } else { 6 };
        let [at, len] = [offset, s.bytes.len() as u64];
        out.extend(1u32.to_le_bytes());
        if wide {
            out.extend(flags.to_le_bytes());
        }
        for v in [at, s.address, s.address, len, s.size.max(len)] {
            word(&mut out, v);
        }
        if !wide {
            out.extend(flags.to_le_bytes());
        }
        word(&mut out, PAGE);
        offset += len.next_multiple_of(PAGE);
    }
    for s in segments {
        out.resize(out.len().next_multiple_of(PAGE as usize), 0);
        out.extend(s.bytes);
    }
    out
}
