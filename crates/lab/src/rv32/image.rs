//! Reading an RV32 executable: loadable bytes by physical address, and its symbols.

use std::collections::BTreeMap;

use object::elf::{EM_RISCV, PT_LOAD};
use object::read::elf::{ElfFile32, FileHeader, ProgramHeader};
use object::{LittleEndian, Object, ObjectSymbol, SymbolKind};

use super::error::SimError;

/// A symbol with an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Run-time address.
    pub addr: u32,
    /// Size in bytes, 0 when the object does not say.
    pub size: u32,
    /// True for functions.
    pub function: bool,
}

/// A loaded executable, independent of any machine.
#[derive(Clone, Debug)]
pub struct Image {
    /// First program counter.
    pub entry: u32,
    /// Load address (physical: where a programmer would flash it) and bytes of each segment.
    pub segments: Vec<(u32, Vec<u8>)>,
    /// All named symbols.
    pub symbols: BTreeMap<String, Symbol>,
}

impl Image {
    /// Parses an ELF file. Refuses anything but a 32-bit little-endian RISC-V file with at least one loadable byte.
    pub fn parse(bytes: &[u8]) -> Result<Self, SimError> {
        let bad = |e: object::Error| SimError::BadElf(e.to_string());
        let file = ElfFile32::<LittleEndian>::parse(bytes).map_err(bad)?;
        if file.elf_header().e_machine(LittleEndian) != EM_RISCV {
            return Err(SimError::BadElf("machine is not RISC-V".into()));
        }
        let mut segments = Vec::new();
        for header in file.elf_program_headers() {
            if header.p_type(LittleEndian) != PT_LOAD || header.p_filesz(LittleEndian) == 0 {
                continue;
            }
            let data =
                header.data(LittleEndian, bytes).map_err(|()| SimError::BadElf("segment outside the file".into()))?;
            segments.push((header.p_paddr(LittleEndian), data.to_vec()));
        }
        if segments.is_empty() {
            return Err(SimError::BadElf("no loadable segment".into()));
        }
        let mut symbols = BTreeMap::new();
        for symbol in file.symbols() {
            let (Ok(name), addr) = (symbol.name(), symbol.address() as u32) else { continue };
            if name.is_empty() || matches!(symbol.kind(), SymbolKind::Section | SymbolKind::File) {
                continue;
            }
            let function = symbol.kind() == SymbolKind::Text && symbol.size() > 0;
            symbols.insert(name.to_string(), Symbol { addr, size: symbol.size() as u32, function });
        }
        let entry = u32::try_from(file.entry()).map_err(|_| SimError::BadElf("entry beyond 4 GiB".into()))?;
        Ok(Image { entry, segments, symbols })
    }

    /// Looks a symbol up by name.
    pub fn symbol(&self, name: &str) -> Result<&Symbol, SimError> {
        self.symbols.get(name).ok_or_else(|| SimError::UnknownSymbol(name.to_string()))
    }

    /// Loadable bytes by load address, if one segment holds them all. Code and flash constants run where they load.
    pub fn bytes(&self, load_addr: u32, len: usize) -> Option<&[u8]> {
        self.segments.iter().find_map(|(base, data)| {
            let offset = load_addr.checked_sub(*base)? as usize;
            data.get(offset..offset.checked_add(len)?)
        })
    }

    /// Overwrites loadable bytes at a load address. The range must lie inside one segment.
    pub fn patch(&mut self, load_addr: u32, bytes: &[u8]) -> Result<(), SimError> {
        for (base, data) in &mut self.segments {
            let Some(offset) = load_addr.checked_sub(*base).map(|o| o as usize) else { continue };
            if let Some(target) = offset.checked_add(bytes.len()).and_then(|end| data.get_mut(offset..end)) {
                target.copy_from_slice(bytes);
                return Ok(());
            }
        }
        Err(SimError::BadElf(format!("{} bytes at {load_addr:#010x} are not loaded data", bytes.len())))
    }
}
