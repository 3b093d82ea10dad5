//! The file as it is written: sections, symbols and relocations with checked indices, nothing placed or patched yet.

use object::elf;
use object::read::elf::{FileHeader, Rela, SectionHeader, SectionTable, Sym, SymbolTable};
use object::{LittleEndian, SectionIndex};

use crate::error::{Error, ErrorKind};
use crate::merge::Entries;
use crate::raw::{Home, Raw, RawRelocation, RawSection, RawSymbol, SymbolKind};
use crate::{doubt, patches, segments};

/// Sections whose bytes are kept although no program loads them: those of the line table.
pub(crate) const LINE_SECTIONS: [&str; 3] = [".debug_line", ".debug_line_str", ".debug_str"];

/// Reads either class.
pub(crate) fn read(bytes: &[u8]) -> Result<Raw, Error> {
    let ident = bytes.get(..16).filter(|i| i.starts_with(&elf::ELFMAG)).ok_or_else(|| Error {
        kind: ErrorKind::NotElf,
        place: "the file's first bytes".into(),
        reason: "this is no ELF file".into(),
        way_out: "give an object (.o) or a linked ELF image".into(),
    })?;
    let (class, order) = (ident[4], ident[5]);
    if order != elf::ELFDATA2LSB {
        return Err(not_riscv("the byte order is not little-endian"));
    }
    match class {
        elf::ELFCLASS32 => Reader::<elf::FileHeader32<LittleEndian>>::new(bytes)?.raw(32),
        elf::ELFCLASS64 => Reader::<elf::FileHeader64<LittleEndian>>::new(bytes)?.raw(64),
        other => Err(Error::corrupt("the ELF header", format!("class {other} is neither 32 nor 64 bit"))),
    }
}

fn not_riscv(reason: impl Into<String>) -> Error {
    Error {
        kind: ErrorKind::NotRiscv,
        place: "the ELF header".into(),
        reason: reason.into(),
        way_out: "give a file compiled for little-endian RISC-V".into(),
    }
}

struct Reader<'a, E: FileHeader<Endian = LittleEndian>> {
    bytes: &'a [u8],
    header: &'a E,
    sections: SectionTable<'a, E, &'a [u8]>,
    symbols: SymbolTable<'a, E, &'a [u8]>,
    linked: bool,
}

const LE: LittleEndian = LittleEndian;

impl<'a, E: FileHeader<Endian = LittleEndian>> Reader<'a, E> {
    fn new(bytes: &'a [u8]) -> Result<Self, Error> {
        let bad = |place: &'static str| move |e: object::Error| Error::corrupt(place, e);
        let header = E::parse(bytes).map_err(bad("the ELF header"))?;
        if header.e_machine(LE) != elf::EM_RISCV {
            return Err(not_riscv(format!("machine {} is not RISC-V", header.e_machine(LE))));
        }
        let linked = match header.e_type(LE) {
            elf::ET_REL => false,
            elf::ET_EXEC => true,
            other => {
                let reason = format!("a file of type {other} is neither an object nor a statically linked image");
                return Err(Error::unsupported("the ELF header", reason, "link with -static -no-pie, or give the objects"));
            }
        };
        if header.e_flags(LE) & elf::EF_RISCV_RVE != 0 {
            let reason = "the base is RV32E, whose calling convention has fewer registers";
            return Err(Error::unsupported("the ELF header", reason, "compile for rv32i or rv64i"));
        }
        let sections = header.sections(LE, bytes).map_err(bad("the section table"))?;
        strings(header, &sections, bytes)?;
        let symbols = sections.symbols(LE, bytes, elf::SHT_SYMTAB).map_err(bad("the symbol table"))?;
        if symbols.is_empty() {
            let way_out = "give a file that was not stripped (link without -s)";
            return Err(Error::unsupported("the symbol table", "there is none, so no function has a name", way_out));
        }
        Ok(Reader { bytes, header, sections, symbols, linked })
    }

    fn raw(&self, xlen: u32) -> Result<Raw, Error> {
        Ok(Raw {
            xlen,
            compressed: self.header.e_flags(LE) & elf::EF_RISCV_RVC != 0,
            linked: self.linked,
            sections: self.all_sections()?,
            symbols: self.all_symbols()?,
            relocations: if self.linked { vec![] } else { self.all_relocations()? },
        })
    }

    fn all_sections(&self) -> Result<Vec<RawSection>, Error> {
        let mut kept = 0usize;
        let mut all = vec![];
        for (index, header) in self.sections.iter().enumerate() {
            let section = self.section(index, header)?;
            kept += section.bytes.as_ref().map_or(0, Vec::len);
            if kept > self.bytes.len() {
                return Err(Error::corrupt("the section table", "sections share bytes of the file"));
            }
            all.push(section);
        }
        if self.linked {
            segments::check(self.header, self.bytes, &all)?;
        } else {
            self.note_groups(&mut all)?;
        }
        Ok(all)
    }

    fn section(&self, index: usize, header: &E::SectionHeader) -> Result<RawSection, Error> {
        let name = self.sections.section_name(LE, header).map_err(|e| Error::corrupt(format!("section {index}"), e))?;
        let name = text(name, || format!("section {index}"))?;
        let flags: u64 = header.sh_flags(LE).into();
        let has = |flag: u32| flags & u64::from(flag) != 0;
        let kind = header.sh_type(LE);
        let allocated = has(elf::SHF_ALLOC) && kind != elf::SHT_NULL;
        let wanted = allocated || LINE_SECTIONS.contains(&name.as_str());
        if wanted && has(elf::SHF_COMPRESSED) {
            let place = format!("section {name}");
            return Err(Error::unsupported(place, "it is compressed", "compile with -gz=none"));
        }
        let bytes = match (wanted, kind) {
            (_, elf::SHT_NOBITS) => None,
            (false, _) => Some(vec![]),
            (true, _) => {
                let data = header.data(LE, self.bytes).map_err(|e| Error::corrupt(format!("section {name}"), e))?;
                Some(data.to_vec())
            }
        };
        let entry: u64 = header.sh_entsize(LE).into();
        Ok(RawSection {
            address: if self.linked { header.sh_addr(LE).into() } else { 0 },
            size: header.sh_size(LE).into(),
            align: header.sh_addralign(LE).into(),
            allocated,
            writable: has(elf::SHF_WRITE),
            executable: has(elf::SHF_EXECINSTR),
            thread_local: has(elf::SHF_TLS),
            merge: (has(elf::SHF_MERGE) && !self.linked).then_some(Entries { size: entry, strings: has(elf::SHF_STRINGS) }).filter(|e| e.size > 0),
            group: None,
            doubt: match (allocated, self.linked) {
                (false, _) => None,
                (true, true) => doubt::of_writable_code(&name, flags),
                (true, false) => doubt::of_section(&name, kind, flags, header.sh_size(LE).into(), entry),
            },
            name,
            bytes,
        })
    }

    /// Of sections of a COMDAT group a linker may take those of another file.
    fn note_groups(&self, all: &mut [RawSection]) -> Result<(), Error> {
        let mut grouped = vec![false; all.len()];
        for (index, header) in self.sections.iter().enumerate() {
            let place = || format!("section group {index}");
            let Some((flags, members)) = header.group(LE, self.bytes).map_err(|e| Error::corrupt(place(), e))? else { continue };
            for member in members {
                let n = member.get(LE) as usize;
                if n >= all.len() || std::mem::replace(&mut grouped[n], true) {
                    return Err(Error::corrupt(place(), format!("section {n} is not there, or in two groups")));
                }
                if flags != 0 {
                    all[n].group = Some(index);
                }
            }
        }
        for (n, header) in self.sections.iter().enumerate() {
            let flags: u64 = header.sh_flags(LE).into();
            if flags & u64::from(elf::SHF_GROUP) != 0 && !grouped[n] {
                return Err(Error::corrupt(format!("section {}", all[n].name), "it says that it is in a group, and is in none"));
            }
        }
        Ok(())
    }

    fn all_symbols(&self) -> Result<Vec<RawSymbol>, Error> {
        self.symbols.enumerate().map(|(index, symbol)| self.symbol(index, symbol)).collect()
    }

    fn symbol(&self, index: object::SymbolIndex, symbol: &E::Sym) -> Result<RawSymbol, Error> {
        let place = || format!("symbol {}", index.0);
        let name = self.symbols.symbol_name(LE, symbol).map_err(|e| Error::corrupt(place(), e))?;
        let shndx = symbol.st_shndx(LE);
        let home = match shndx {
            elf::SHN_UNDEF => Home::Undefined,
            elf::SHN_ABS => Home::Absolute,
            elf::SHN_COMMON => Home::Common,
            _ => match self.symbols.symbol_section(LE, symbol, index) {
                Ok(Some(SectionIndex(section))) if section < self.sections.len() => Home::Section(section),
                Ok(_) => return Err(Error::corrupt(place(), format!("it lies in section {shndx}, which is not there"))),
                Err(e) => return Err(Error::corrupt(place(), e)),
            },
        };
        let kind = match symbol.st_type() {
            elf::STT_FUNC => SymbolKind::Function,
            elf::STT_OBJECT => SymbolKind::Object,
            elf::STT_SECTION => SymbolKind::Section,
            elf::STT_NOTYPE => SymbolKind::Label,
            elf::STT_COMMON => SymbolKind::Object,
            elf::STT_GNU_IFUNC => SymbolKind::Indirect,
            _ => SymbolKind::Other,
        };
        Ok(RawSymbol {
            name: text(name, place)?,
            value: symbol.st_value(LE).into(),
            size: symbol.st_size(LE).into(),
            kind,
            local: symbol.st_bind() == elf::STB_LOCAL,
            // Whatever else there may be is not taken for final either.
            weak: !matches!(symbol.st_bind(), elf::STB_LOCAL | elf::STB_GLOBAL),
            home,
        })
    }

    fn all_relocations(&self) -> Result<Vec<RawRelocation>, Error> {
        let mut all = vec![];
        let mut patched = vec![false; self.sections.len()];
        for (index, header) in self.sections.iter().enumerate() {
            let place = || format!("relocation section {index}");
            let kind = header.sh_type(LE);
            if matches!(kind, elf::SHT_REL | elf::SHT_RELR | elf::SHT_CREL) {
                let way_out = "assemble with explicit addends (RELA), the form of the RISC-V ABI";
                return Err(Error::unsupported(place(), "relocations of this form are not read", way_out));
            }
            let Some((entries, table)) = header.rela(LE, self.bytes).map_err(|e| Error::corrupt(place(), e))? else { continue };
            let section = header.sh_info(LE) as usize;
            if section == 0 || section >= self.sections.len() {
                return Err(Error::corrupt(place(), format!("it patches section {section}, which is not there")));
            }
            if std::mem::replace(&mut patched[section], true) {
                return Err(Error::corrupt(place(), format!("it is the second that patches section {section}")));
            }
            if table != self.symbols.section() {
                return Err(Error::corrupt(place(), "it does not use the symbol table"));
            }
            let unloaded = self.unloaded(section)?;
            for entry in entries {
                let symbol = entry.r_sym(LE, false) as usize;
                if symbol >= self.symbols.len() {
                    return Err(Error::corrupt(place(), format!("it uses symbol {symbol}, which is not there")));
                }
                let relocation = RawRelocation {
                    section,
                    offset: entry.r_offset(LE).into(),
                    kind: entry.r_type(LE, false),
                    symbol,
                    addend: entry.r_addend(LE).into(),
                };
                if unloaded.is_some_and(|bytes| !patches::is_inside(bytes, &relocation)) {
                    return Err(Error::corrupt(place(), format!("it patches bytes outside section {section}, at {:#x}", relocation.offset)));
                }
                all.push(relocation);
            }
        }
        Ok(all)
    }

    /// The bytes of a section that no program loads, in which relocations are not applied one by one; `None`: of another.
    fn unloaded(&self, section: usize) -> Result<Option<&'a [u8]>, Error> {
        let place = || format!("section {section}");
        let header = self.sections.section(SectionIndex(section)).map_err(|e| Error::corrupt(place(), e))?;
        let flags: u64 = header.sh_flags(LE).into();
        if flags & u64::from(elf::SHF_ALLOC) != 0 {
            return Ok(None);
        }
        if flags & u64::from(elf::SHF_COMPRESSED) != 0 {
            return Err(Error::unsupported(place(), "it is compressed", "compile with -gz=none"));
        }
        header.data(LE, self.bytes).map(Some).map_err(|e| Error::corrupt(place(), e))
    }
}

/// Whether the names of sections and symbols are in tables of names: linkers pass over the symbols of a file where they are not.
fn strings<'a, E: FileHeader<Endian = LittleEndian>>(header: &E, sections: &SectionTable<'a, E, &'a [u8]>, bytes: &'a [u8]) -> Result<(), Error> {
    let of_sections = header.shstrndx(LE, bytes).map_err(|e| Error::corrupt("the ELF header", e))? as usize;
    let of_symbols = sections.iter().filter(|s| s.sh_type(LE) == elf::SHT_SYMTAB).map(|s| s.sh_link(LE) as usize);
    for index in of_symbols.chain([of_sections]) {
        let place = || format!("section {index}");
        let header = sections.section(SectionIndex(index)).map_err(|e| Error::corrupt(place(), e))?;
        let data = header.data(LE, bytes).map_err(|e| Error::corrupt(place(), e))?;
        if header.sh_type(LE) != elf::SHT_STRTAB || data.last() != Some(&0) {
            return Err(Error::corrupt(place(), "names are taken from it, but it is no table of strings"));
        }
    }
    Ok(())
}

fn text(bytes: &[u8], place: impl Fn() -> String) -> Result<String, Error> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_string()),
        Err(_) => Err(Error::corrupt(place(), "its name is not UTF-8")),
    }
}
