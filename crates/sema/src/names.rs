//! Top-level names: what a file declares. Of which module a declaration is, [`crate::entities`] says.

use santoku_diag::{Diagnostic, Span};
use santoku_syntax::ast::{File, Ident, ItemKind, ModuleParamKind};
use std::collections::BTreeMap;

/// A top-level declaration: index into the file's items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Item {
    Const(usize),
    Type(usize),
    Struct(usize),
    Table(usize),
    Perm(usize),
    Fn(usize),
    ConstFn(usize),
    Spec(usize),
    /// Constant or type that the module takes: position among its parameters.
    Param(usize),
    /// Specification with a body inside an interface: item and position in it.
    SharedSpec(usize, usize),
    /// Member of an interface that an implementation defines.
    Member(usize),
}

impl Item {
    /// What messages call it.
    pub fn noun(self) -> &'static str {
        match self {
            Item::Const(_) => "constant",
            Item::Type(_) => "type",
            Item::Struct(_) => "struct",
            Item::Table(_) => "table",
            Item::Perm(_) => "permutation",
            Item::Fn(_) => "function",
            Item::ConstFn(_) => "constant function",
            Item::Param(_) => "module parameter",
            Item::Spec(_) | Item::SharedSpec(..) => "specification",
            Item::Member(_) => "interface member",
        }
    }
}

/// Names a file declares. Reports duplicates.
pub fn collect(file: &File, diagnostics: &mut Vec<Diagnostic>) -> BTreeMap<String, Item> {
    let mut names = Names { items: BTreeMap::new(), places: BTreeMap::new(), diagnostics };
    let mut interfaces = 0;
    for (i, item) in file.items.iter().enumerate() {
        match &item.kind {
            ItemKind::Const { name, .. } => names.add(name, Item::Const(i)),
            ItemKind::Type { name, .. } => names.add(name, Item::Type(i)),
            ItemKind::Struct { name, .. } => names.add(name, Item::Struct(i)),
            ItemKind::Table { name, .. } => names.add(name, Item::Table(i)),
            ItemKind::Perm { name, .. } => names.add(name, Item::Perm(i)),
            ItemKind::Fn(f) => names.add(&f.name, Item::Fn(i)),
            ItemKind::ConstFn(f) => names.add(&f.name, Item::ConstFn(i)),
            ItemKind::Spec(f) => names.add(&f.name, Item::Spec(i)),
            ItemKind::Module { params } => {
                let values = params.iter().enumerate().filter(|(_, p)| !matches!(p.kind, ModuleParamKind::Module(_)));
                values.for_each(|(k, p)| names.add(&p.name, Item::Param(k)));
            }
            ItemKind::Interface(interface) => {
                interfaces += 1;
                if interfaces > 1 {
                    names.diagnostics.push(
                        Diagnostic::error("duplicate-name", "a file declares at most one interface")
                            .at(interface.name.span, "second interface")
                            .help("move it to a file of its own"),
                    );
                }
                for name in interface.types.iter().chain(&interface.consts) {
                    names.add(name, Item::Member(i));
                }
                for f in &interface.const_fns {
                    names.add(&f.name, Item::Member(i));
                }
                for f in &interface.fns {
                    names.add(&f.name, Item::Member(i));
                }
                for (k, f) in interface.specs.iter().enumerate() {
                    names.add(&f.name, if f.body.is_some() { Item::SharedSpec(i, k) } else { Item::Member(i) });
                }
            }
            ItemKind::Use { .. }
            | ItemKind::Implements { .. }
            | ItemKind::Instance { .. }
            | ItemKind::Example { .. }
            | ItemKind::Test { .. }
            | ItemKind::Error => {}
        }
    }
    names.items
}

struct Names<'a> {
    items: BTreeMap<String, Item>,
    places: BTreeMap<String, Span>,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Names<'_> {
    fn add(&mut self, name: &Ident, item: Item) {
        if let Some(before) = self.places.get(&name.name) {
            self.diagnostics.push(
                Diagnostic::error("duplicate-name", format!("`{}` is defined twice", name.name))
                    .at(name.span, "second definition")
                    .also(*before, "first definition")
                    .help("rename one of them"),
            );
            return;
        }
        self.places.insert(name.name.clone(), name.span);
        self.items.insert(name.name.clone(), item);
    }
}

/// The candidate within two edits of `name`, if there is one; the nearest, then the first.
pub fn closest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = if name.chars().count() <= 3 { 1 } else { 2 };
    candidates.map(|c| (distance(name, c), c)).filter(|(d, c)| *d <= limit && *c != name).min().map(|(_, c)| c)
}

/// Levenshtein distance, at most 3 (names are short; longer differences do not matter).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    if a.len().abs_diff(b.len()) > 2 {
        return 3;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let next = (diagonal + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = row[j + 1];
            row[j + 1] = next;
        }
    }
    row[b.len()].min(3)
}

#[cfg(test)]
mod tests {
    use super::{closest, distance};

    #[test]
    fn near_names_are_found() {
        assert_eq!(distance("carry", "cary"), 1);
        assert_eq!(closest("valeu", ["mul", "value"].into_iter()), Some("value"));
        assert_eq!(closest("xyz", ["mul", "value"].into_iter()), None);
    }
}
