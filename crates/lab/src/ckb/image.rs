//! Functions and variables of an ELF file, by name and address.

use super::error::CkbError;
use object::{Object, ObjectSymbol, SymbolKind};
use std::collections::BTreeMap;

/// A variable's place.
#[derive(Clone, Copy)]
pub struct Variable {
    pub addr: u64,
    pub size: u64,
}

/// Symbols of a program.
pub struct Image {
    /// The file says that it has compressed instructions.
    pub compressed: bool,
    functions: BTreeMap<u64, String>,
    variables: BTreeMap<String, Variable>,
}

impl Image {
    pub fn parse(elf: &[u8]) -> Result<Self, CkbError> {
        let file = object::File::parse(elf).map_err(|e| CkbError::Elf { reason: e.to_string() })?;
        let compressed = matches!(file.flags(), object::FileFlags::Elf { e_flags, .. } if e_flags & object::elf::EF_RISCV_RVC != 0);
        let mut image = Image { compressed, functions: BTreeMap::new(), variables: BTreeMap::new() };
        for symbol in file.symbols().filter(|s| s.is_definition()) {
            let Ok(name) = symbol.name() else { continue };
            match symbol.kind() {
                SymbolKind::Text if symbol.size() > 0 => {
                    image.functions.entry(symbol.address()).or_insert_with(|| name.to_string());
                }
                SymbolKind::Data => {
                    image.variables.insert(name.to_string(), Variable { addr: symbol.address(), size: symbol.size() });
                }
                _ => {}
            }
        }
        Ok(image)
    }

    pub fn variable(&self, name: &str) -> Result<Variable, CkbError> {
        self.variables.get(name).copied().ok_or_else(|| CkbError::NoVariable { name: name.to_string() })
    }

    /// First address of a function.
    pub fn function(&self, name: &str) -> Option<u64> {
        self.functions.iter().find(|(_, n)| *n == name).map(|(addr, _)| *addr)
    }

    /// First address of the function that holds `pc`; 0 for code before the first function.
    pub fn function_at(&self, pc: u64) -> u64 {
        self.functions.range(..=pc).next_back().map_or(0, |(addr, _)| *addr)
    }

    pub fn function_name(&self, entry: u64) -> String {
        self.functions.get(&entry).cloned().unwrap_or_else(|| format!("{entry:#x}"))
    }
}
