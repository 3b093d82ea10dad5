//! What is certified, and the comparisons that are made for it.
//! Trusted: bytes, leaks, certifier.

use crate::function::Found;
use crate::leak::Evidence;
use crate::shared::Shared;
use crate::source::convention::Convention;
use santoku_elf::{Function, Image};
use santoku_ir::{FuncId, Program};
use santoku_isa::Isa;
use santoku_prove::cache::Store;
use std::collections::{BTreeMap, BTreeSet};

/// How a file is certified.
#[derive(Clone, Debug)]
pub struct Options {
    /// Multiplications of secrets count as a leak.
    pub secret_mul_leaks: bool,
    /// The processor is CKB-VM: some groups of instructions are one, with another result.
    pub ckb_vm: bool,
    /// Only this function, by symbol or by name in the program, and what it calls.
    pub only: Option<String>,
    /// At least 1.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { secret_mul_leaks: false, ckb_vm: false, only: None, threads: 2 }
    }
}

/// What the work needs from outside.
pub struct World<'a> {
    pub store: &'a dyn Store,
    /// Microseconds since some moment.
    pub clock: &'a (dyn Fn() -> u64 + Sync),
    /// Told of every finished comparison: how many are done, how many are known of, the symbol.
    pub tell: &'a (dyn Fn(usize, usize, &str) + Sync),
}

/// One comparison.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Job {
    pub address: u64,
    pub func: FuncId,
    pub shared: Shared,
}

/// Its result.
#[derive(Clone, Debug)]
pub(crate) struct Done {
    pub found: Found,
    pub micros: u64,
    pub cached: bool,
    /// Two inputs that show a leak.
    pub evidence: Option<Evidence>,
}

/// A file and a program, with the symbols that stand for functions.
pub(crate) struct Subject<'a> {
    pub image: &'a Image,
    pub isa: Isa,
    pub program: &'a Program,
    pub symbols: BTreeMap<String, FuncId>,
    /// Functions that are not called as the source says, by address.
    pub conventions: BTreeMap<u64, Convention>,
    pub options: &'a Options,
}

/// Which symbol of a file stands for which function. `names`: the C name of each function that was printed; a file in which it is not, but
/// that under which the function is exported, was made without a function around it that clears the stack.
pub fn symbols(image: &Image, program: &Program, names: &BTreeMap<FuncId, String>) -> BTreeMap<String, FuncId> {
    let there = |name: &String| image.function(name).is_some();
    let own = |(func, name): (&FuncId, &String)| {
        let exported = program.func(*func).export.as_ref().filter(|e| !there(name) && there(e));
        (exported.unwrap_or(name).clone(), *func)
    };
    names.iter().map(own).collect()
}

impl<'a> Subject<'a> {
    /// The functions of the program that a symbol stands for: more than one where equal functions were folded.
    pub fn functions_of(&self, f: &Function) -> BTreeSet<FuncId> {
        std::iter::once(&f.name).chain(&f.aliases).filter_map(|n| self.symbols.get(n).copied()).collect()
    }

    /// All functions with source, and where they are.
    pub fn known(&self) -> BTreeMap<FuncId, BTreeSet<u64>> {
        let mut all: BTreeMap<FuncId, BTreeSet<u64>> = BTreeMap::new();
        for f in &self.image.functions {
            for func in self.functions_of(f) {
                all.entry(func).or_default().insert(f.address);
            }
        }
        all
    }

    /// Why the code at a function's symbol is not for certain what is called by the name.
    pub(crate) fn doubt(&self, f: &Function, func: FuncId) -> Option<String> {
        if !self.isa.takes_at(f.address) {
            return Some("it begins where a processor without 16-bit instructions takes none".into());
        }
        let names = || std::iter::once(&f.name).chain(&f.aliases).filter(|n| self.symbols.get(*n) == Some(&func));
        let doubts: Vec<&str> = names().filter_map(|n| f.doubt(n)).collect();
        doubts.first().filter(|_| doubts.len() == names().count()).map(ToString::to_string)
    }

    pub(crate) fn without(&self, addresses: &BTreeSet<u64>) -> Subject<'a> {
        let gone = |name: &str| self.image.function(name).is_some_and(|f| addresses.contains(&f.address));
        let symbols = self.symbols.iter().filter(|(name, _)| !gone(name)).map(|(n, f)| (n.clone(), *f)).collect();
        Subject { symbols, conventions: self.conventions.clone(), ..*self }
    }

    /// How the function at an address is called.
    pub fn convention_at(&self, address: u64) -> Convention {
        self.conventions.get(&address).cloned().unwrap_or_default()
    }

    /// The same with these conventions.
    pub fn with(&self, conventions: BTreeMap<u64, Convention>) -> Subject<'a> {
        Subject { symbols: self.symbols.clone(), conventions, ..*self }
    }

    pub fn wanted(&self, f: &Function, func: FuncId) -> bool {
        let Some(only) = &self.options.only else { return true };
        f.name == *only || f.aliases.contains(only) || self.program.func(func).name == *only
    }
}
