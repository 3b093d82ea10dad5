//! What a linker, or whatever starts the program, may still replace, move or leave out: it is not what the file holds here.
//!
//! Needs: sections and symbols as written.  Keeps: a reference to such a thing is never taken for the bytes that stand here,
//! nor are the instructions and constants that hold the reference.  Absent: what a linker does with it.

use std::collections::BTreeMap;

use object::elf;

use crate::raw::{Home, Raw, RawRelocation, RawSection, RawSymbol, SymbolKind};

/// Flags of sections whose meaning is known here.
const KNOWN_FLAGS: u64 = (elf::SHF_WRITE
    | elf::SHF_ALLOC
    | elf::SHF_EXECINSTR
    | elf::SHF_MERGE
    | elf::SHF_STRINGS
    | elf::SHF_INFO_LINK
    | elf::SHF_GROUP
    | elf::SHF_GNU_RETAIN) as u64;

/// Tables for unwinding and debugging: nothing is called through them.
pub(crate) fn is_written_anew(name: &str) -> bool {
    [".eh_frame", ".sframe", ".stab", ".note.gnu."].iter().any(|n| name.starts_with(n))
}

/// Why the code of a section, of an object or an image, is not taken for what will be executed.
pub(crate) fn of_writable_code(name: &str, flags: u64) -> Option<String> {
    let both = u64::from(elf::SHF_WRITE | elf::SHF_EXECINSTR);
    (flags & both == both).then(|| format!("section {name} holds code that the program may write over"))
}

/// Why the contents of a section of an object are not taken for what will be in memory.
pub(crate) fn of_section(name: &str, kind: u32, flags: u64, size: u64, entry: u64) -> Option<String> {
    let has = |flag: u32| flags & u64::from(flag) != 0;
    if let Some(why) = of_writable_code(name, flags) {
        return Some(why);
    }
    let why = if has(elf::SHF_TLS) {
        "holds thread-local variables, of which each thread has its own"
    } else if has(elf::SHF_EXCLUDE) {
        "is left out by the linker (SHF_EXCLUDE)"
    } else if has(elf::SHF_LINK_ORDER) {
        "is put in order by the linker (SHF_LINK_ORDER)"
    } else if flags & !KNOWN_FLAGS != 0 {
        "has flags that are not known here"
    } else if has(elf::SHF_MERGE) && (has(elf::SHF_WRITE) || has(elf::SHF_EXECINSTR)) {
        "is mergeable, and code or variables"
    } else if has(elf::SHF_MERGE) && (entry == 0 || !size.is_multiple_of(entry) || kind == elf::SHT_NOBITS) {
        "is mergeable, but no sequence of entries"
    } else if name.starts_with(".gnu.linkonce") {
        "is one of several of which the linker keeps one (.gnu.linkonce)"
    } else if name.starts_with(".gnu.warning") || name.starts_with(".gnu.lto") {
        "is left out by the linker"
    } else if is_written_anew(name) {
        "is written anew by the linker"
    } else if kind == elf::SHT_NOBITS && !has(elf::SHF_WRITE) {
        "has no bytes, and is not of variables either"
    } else if !matches!(kind, elf::SHT_PROGBITS | elf::SHT_NOBITS | elf::SHT_NOTE | elf::SHT_INIT_ARRAY | elf::SHT_FINI_ARRAY | elf::SHT_PREINIT_ARRAY) {
        "is of a type that is not known here"
    } else {
        return None;
    };
    Some(format!("section {name} {why}"))
}

/// Why a symbol's definition here may not be the one that is meant in the end; `from`: the COMDAT group of who uses it.
pub(crate) fn of_symbol(raw: &Raw, symbol: &RawSymbol, from: Option<usize>) -> Option<String> {
    let name = &symbol.name;
    if symbol.weak && symbol.home == Home::Undefined {
        return Some(format!("`{name}` is a weak symbol that the file does not define: it may be 0"));
    }
    if symbol.weak {
        return Some(format!("`{name}` is a weak symbol: a linker may put another definition in its place"));
    }
    match symbol.kind {
        SymbolKind::Indirect => return Some(format!("`{name}` is chosen when the program starts (IFUNC)")),
        SymbolKind::Other => return Some(format!("`{name}` is no symbol of code or data")),
        SymbolKind::Function | SymbolKind::Object | SymbolKind::Section | SymbolKind::Label => {}
    }
    match symbol.home {
        Home::Undefined => None,
        Home::Absolute => Some(format!("`{name}` is an absolute symbol: a number, not a place of this file")),
        Home::Common => Some(format!("`{name}` is a common symbol: a linker may take another definition")),
        Home::Section(n) => of_home(&raw.sections[n], name, from),
    }
}

fn of_home(section: &RawSection, name: &str, from: Option<usize>) -> Option<String> {
    if section.doubt.is_some() {
        return section.doubt.clone();
    }
    if section.group.is_some() && section.group != from {
        return Some(format!("`{name}` is in a COMDAT group: a linker may take that of another file"));
    }
    (!section.allocated).then(|| format!("`{name}` is in section {}, which is not loaded", section.name))
}

/// Why what a relocation refers to is not taken for what stands here.
pub(crate) fn of_relocation(raw: &Raw, r: &RawRelocation, is_data: bool) -> Option<String> {
    if r.symbol == 0 {
        return Some("a relocation names no symbol".into());
    }
    let symbol = &raw.symbols[r.symbol];
    if let Some(doubt) = of_symbol(raw, symbol, raw.sections[r.section].group) {
        return Some(doubt);
    }
    let Home::Section(n) = symbol.home else { return None };
    let section = &raw.sections[n];
    if section.size == 0 {
        return Some(format!("section {} is empty, and something in it is referred to", section.name));
    }
    let entries = section.merge?;
    // A linker looks an entry up by the place of the symbol, of a section by the place meant.
    let at = if symbol.kind == SymbolKind::Section { symbol.value.wrapping_add(r.addend as u64) } else { symbol.value };
    let bytes = section.bytes.as_deref().unwrap_or(&[]);
    if is_data {
        return Some(format!("a number holds an address in section {}, whose entries a linker moves", section.name));
    }
    entries.around(bytes, at).is_none().then(|| format!("there is no whole entry of the mergeable section {} where it is referred to", section.name))
}

/// Bytes with the reason why they are not taken for what they are, by address.
#[derive(Clone, Debug, Default)]
pub(crate) struct Doubts(BTreeMap<u64, (u64, String)>);

/// More bytes than any relocation patches.
const WIDEST: u64 = 16;

impl Doubts {
    pub(crate) fn add(&mut self, at: u64, size: u64, why: String) {
        self.0.entry(at).or_insert((size.min(WIDEST), why));
    }

    /// The first that any of these bytes are part of.
    pub(crate) fn of(&self, at: u64, size: u64) -> Option<&str> {
        let near = self.0.range(at.saturating_sub(WIDEST)..at.saturating_add(size));
        near.into_iter().find(|(from, (n, _))| from.saturating_add(*n) > at).map(|(_, (_, why))| why.as_str())
    }
}
