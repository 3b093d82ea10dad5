//! RISC-V ELF files: code after relocation, constants, functions, source lines.
//!
//! Needs the bytes of an object (`.o`) or of a statically linked image, 32 or 64 bit, with its symbol table; nothing of
//! ours. Keeps every address of one file in one space: an image keeps its own, the sections of an object get distinct
//! ones, and undefined symbols stand at addresses of their own behind them. Trusted: what is proved about bytes is
//! proved about what [`Image::fetch`] and [`Image::read_only`] hand out. A file that cannot be read is an [`Error`] with
//! place, reason and way out; no input panics.
//! Absent on purpose: decoding instructions (but for immediates that are relocated), dynamic linking, archives,
//! compressed debug sections, writing ELF files.
//! Trusted: bytes, leaks, certifier.

mod code;
mod doubt;
mod error;
mod hash;
mod image;
mod insn;
mod ledger;
mod lines;
mod merge;
mod patches;
mod place;
mod raw;
mod read;
mod reloc;
mod segments;
mod symbols;

pub use error::{Error, ErrorKind};
pub use hash::Cover;
pub use image::{Access, Data, Function, Image, Section};
pub use ledger::{Island, Ledger, Part, Place, Seen, What};

use std::collections::BTreeSet;

use raw::Raw;
use reloc::Relocated;

/// Reads a file.
///
/// # Errors
/// Any file that is not a RISC-V object or statically linked image with symbols, or that contradicts itself. A line
/// table that cannot be read is no error: see [`Image::line_fault`].
pub fn load(bytes: &[u8]) -> Result<Image, Error> {
    let mut raw = read::read(bytes)?;
    let addresses = place::place(&mut raw)?;
    let loaded: BTreeSet<usize> = (0..raw.sections.len()).filter(|i| raw.sections[*i].allocated).collect();
    let Relocated { references, pointers, named, doubts, loose } = reloc::apply(&mut raw, &addresses, |s| loaded.contains(&s))?;
    let of_lines: BTreeSet<usize> =
        (0..raw.sections.len()).filter(|i| read::LINE_SECTIONS.contains(&raw.sections[*i].name.as_str())).collect();
    let lines = reloc::apply(&mut raw, &addresses, |s| of_lines.contains(&s) && !loaded.contains(&s))
        .map_err(|e| e.to_string())
        .and_then(|_| lines::read(&raw));
    let (lines, line_fault) = match lines {
        Ok(lines) => (lines, None),
        Err(reason) => (lines::Lines::default(), Some(reason)),
    };
    let sections = sections(&mut raw);
    let functions = symbols::functions(&raw, &addresses.symbols, &sections);
    Ok(Image {
        xlen: raw.xlen,
        compressed: raw.compressed,
        linked: raw.linked,
        without_code: symbols::without_code(&raw, &addresses.symbols, &functions),
        functions,
        data: symbols::data(&raw, &addresses.symbols, &sections),
        sections,
        line_fault,
        externals: addresses.externals,
        references,
        pointers,
        named,
        doubts,
        loose,
        lines,
        digest: hash::of_file(bytes),
    })
}

fn sections(raw: &mut Raw) -> Vec<Section> {
    let kept = raw.sections.iter_mut().filter(|s| place::takes_room(s));
    let mut sections: Vec<Section> = kept
        .map(|s| Section {
            name: s.name.clone(),
            address: s.address,
            size: s.size,
            access: match (s.writable, s.executable) {
                (true, _) => Access::Writable,
                (false, true) => Access::Code,
                (false, false) => Access::Constant,
            },
            executable: s.executable,
            align: s.align.max(1),
            merge: s.merge,
            doubt: s.doubt.clone(),
            bytes: s.bytes.take(),
        })
        .collect();
    sections.sort_by_key(|s| s.address);
    sections
}
