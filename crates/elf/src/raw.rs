//! A file as it was read: sections, symbols, relocations.

use crate::merge::Entries;

/// One section, by its index in the file.
#[derive(Clone, Debug)]
pub(crate) struct RawSection {
    pub name: String,
    /// As in the file for a linked image; for an object, given later.
    pub address: u64,
    pub size: u64,
    pub align: u64,
    pub allocated: bool,
    pub writable: bool,
    pub executable: bool,
    pub thread_local: bool,
    /// Of a mergeable section of an object.
    pub merge: Option<Entries>,
    /// The COMDAT group it is in, by the index of the group.
    pub group: Option<usize>,
    /// Why its contents are not what will be in memory.
    pub doubt: Option<String>,
    /// Empty unless the section is loaded or part of the line table. `None`: all zero.
    pub bytes: Option<Vec<u8>>,
}

/// Where a symbol lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    Undefined,
    Absolute,
    /// To be given room; the value is its alignment.
    Common,
    Section(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SymbolKind {
    Function,
    Object,
    Section,
    /// A label without a type.
    Label,
    /// A function that gives the address of another, chosen when the program starts.
    Indirect,
    /// Names of files, thread-local variables.
    Other,
}

#[derive(Clone, Debug)]
pub(crate) struct RawSymbol {
    pub name: String,
    pub value: u64,
    pub size: u64,
    pub kind: SymbolKind,
    pub local: bool,
    pub weak: bool,
    pub home: Home,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct RawRelocation {
    /// Index of the section that is patched.
    pub section: usize,
    pub offset: u64,
    pub kind: u32,
    /// Index of the symbol.
    pub symbol: usize,
    pub addend: i64,
}

#[derive(Clone, Debug)]
pub(crate) struct Raw {
    pub xlen: u32,
    pub compressed: bool,
    pub linked: bool,
    pub sections: Vec<RawSection>,
    pub symbols: Vec<RawSymbol>,
    /// In file order, which decides how several at one place combine. Empty for a linked image.
    pub relocations: Vec<RawRelocation>,
}
