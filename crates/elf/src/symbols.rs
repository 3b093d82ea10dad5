//! Functions and data objects, from the symbols.

use std::collections::BTreeMap;

use crate::raw::{Home, Raw, RawSymbol, SymbolKind};
use crate::{doubt, Access, Data, Function, Section};

fn in_section(sections: &[Section], address: u64) -> Option<&Section> {
    let after = sections.partition_point(|s| s.address <= address);
    sections[..after].last().filter(|s| s.contains(address))
}

/// Symbols at one address.
struct Group<'a> {
    symbols: Vec<&'a RawSymbol>,
}

impl Group<'_> {
    /// Chosen name, the others, and whether all are local.
    fn names(mut self) -> (String, Vec<String>, bool) {
        self.symbols.sort_by(|a, b| (a.local, &a.name).cmp(&(b.local, &b.name)));
        let mut names = self.symbols.iter().map(|s| s.name.clone());
        let name = names.next().unwrap_or_default();
        let mut aliases: Vec<String> = names.filter(|n| *n != name).collect();
        aliases.dedup();
        (name, aliases, self.symbols[0].local)
    }

    fn size(&self) -> u64 {
        self.symbols.iter().map(|s| s.size).max().unwrap_or(0)
    }
}

fn groups<'a>(raw: &'a Raw, addresses: &[u64], wanted: impl Fn(&RawSymbol, &Section) -> bool, sections: &[Section]) -> BTreeMap<u64, Group<'a>> {
    let mut found: BTreeMap<u64, Group<'a>> = BTreeMap::new();
    for (symbol, &address) in raw.symbols.iter().zip(addresses) {
        let Home::Section(home) = symbol.home else { continue };
        let Some(section) = in_section(sections, address) else { continue };
        if raw.sections[home].address == section.address && !symbol.name.is_empty() && wanted(symbol, section) {
            found.entry(address).or_insert_with(|| Group { symbols: vec![] }).symbols.push(symbol);
        }
    }
    found
}

/// Symbols typed as functions, and global labels in code, which is how hand-written assembly names functions.
pub(crate) fn functions(raw: &Raw, addresses: &[u64], sections: &[Section]) -> Vec<Function> {
    let wanted = |symbol: &RawSymbol, section: &Section| {
        let label = symbol.kind == SymbolKind::Label && !symbol.local && section.access == Access::Code;
        section.executable && (symbol.kind == SymbolKind::Function || label)
    };
    let groups = groups(raw, addresses, wanted, sections);
    let starts: Vec<u64> = groups.keys().copied().collect();
    let mut functions = vec![];
    for (n, (address, group)) in groups.into_iter().enumerate() {
        let end_of_section = in_section(sections, address).map_or(address, |s| s.address + (s.size - 1)).saturating_add(1);
        let next = starts.get(n + 1).copied().unwrap_or(u64::MAX).min(end_of_section);
        let size = match group.size() {
            0 => next - address,
            size => size,
        };
        let doubt = |s: &&RawSymbol| Some((s.name.clone(), doubt::of_symbol(raw, s, None)?));
        let doubts = if raw.linked { BTreeMap::new() } else { group.symbols.iter().filter_map(doubt).collect() };
        let (name, aliases, local) = group.names();
        functions.push(Function { name, aliases, address, size, local, doubts });
    }
    functions
}

/// Names that the file defines where it has no code: those of functions, and whatever else other files can call.
pub(crate) fn without_code(raw: &Raw, addresses: &[u64], functions: &[Function]) -> Vec<Function> {
    let known = |name: &String| functions.iter().any(|f| f.name == *name || f.aliases.contains(name));
    let callable = |s: &RawSymbol| match s.kind {
        SymbolKind::Function | SymbolKind::Indirect => true,
        SymbolKind::Object | SymbolKind::Label => !s.local,
        SymbolKind::Section | SymbolKind::Other => false,
    };
    let named = raw.symbols.iter().zip(addresses).filter(|(s, _)| s.home != Home::Undefined && !s.name.is_empty());
    let empty = named.filter(|(s, _)| callable(s) && !known(&s.name));
    empty.map(|(s, &address)| Function { name: s.name.clone(), aliases: vec![], address, size: 0, local: s.local, doubts: BTreeMap::new() }).collect()
}

/// Symbols typed as objects that have a size.
pub(crate) fn data(raw: &Raw, addresses: &[u64], sections: &[Section]) -> Vec<Data> {
    let wanted = |symbol: &RawSymbol, _: &Section| symbol.kind == SymbolKind::Object && symbol.size > 0;
    let groups = groups(raw, addresses, wanted, sections);
    let one = |(address, group): (u64, Group<'_>)| {
        let writable = in_section(sections, address).is_some_and(|s| s.access == Access::Writable);
        let size = group.size();
        let (name, aliases, local) = group.names();
        Data { name, aliases, address, size, local, writable }
    };
    groups.into_iter().map(one).collect()
}
