//! Top-level names: what a module declares. What a path means is [`crate::resolve`]'s.

use crate::modules::{ModId, World};
use santoku_diag::{Diagnostic, Span};
use santoku_syntax::ast::{
    ConstFunction, Expr, File, Function, Ident, ItemKind, Means, ModuleParam, ModuleParamKind, SpecFunction, Type,
};
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

/// A declaration of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Entity {
    pub module: ModId,
    pub item: Item,
}

/// Parts of a `table` or `perm` item.
pub struct TableItem<'w> {
    pub name: &'w Ident,
    pub input: &'w Type,
    pub output: &'w Type,
    pub entries: &'w Expr,
}

impl World {
    fn kind(&self, entity: Entity, index: usize) -> &ItemKind {
        &self.module(entity.module).file.items[index].kind
    }
    pub fn function(&self, e: Entity) -> Option<&Function> {
        match e.item {
            Item::Fn(i) => match self.kind(e, i) {
                ItemKind::Fn(f) => Some(f),
                _ => None,
            },
            _ => None,
        }
    }
    pub fn spec_function(&self, e: Entity) -> Option<&SpecFunction> {
        match e.item {
            Item::Spec(i) => match self.kind(e, i) {
                ItemKind::Spec(f) => Some(f),
                _ => None,
            },
            Item::SharedSpec(i, k) => match self.kind(e, i) {
                ItemKind::Interface(interface) => interface.specs.get(k),
                _ => None,
            },
            _ => None,
        }
    }
    pub fn const_function(&self, e: Entity) -> Option<&ConstFunction> {
        match e.item {
            Item::ConstFn(i) => match self.kind(e, i) {
                ItemKind::ConstFn(f) => Some(f),
                _ => None,
            },
            _ => None,
        }
    }
    pub fn param(&self, e: Entity) -> Option<&ModuleParam> {
        match e.item {
            Item::Param(i) => self.module(e.module).params().get(i),
            _ => None,
        }
    }
    /// The name of a constant, or of the parameter that gives it.
    pub fn constant_name(&self, e: Entity) -> Option<&Ident> {
        self.constant(e).map(|c| c.0).or_else(|| self.param(e).map(|p| &p.name))
    }
    pub fn constant(&self, e: Entity) -> Option<(&Ident, Option<&Type>, &Expr)> {
        match e.item {
            Item::Const(i) => match self.kind(e, i) {
                ItemKind::Const { name, ty, value } => Some((name, ty.as_ref(), value)),
                _ => None,
            },
            _ => None,
        }
    }
    pub fn type_alias(&self, e: Entity) -> Option<(&Ident, &Type)> {
        match e.item {
            Item::Type(i) => match self.kind(e, i) {
                ItemKind::Type { name, ty, .. } => Some((name, ty)),
                _ => None,
            },
            _ => None,
        }
    }
    /// What values of a type stand for, where it says so.
    pub fn means(&self, e: Entity) -> Option<&Means> {
        match e.item {
            Item::Type(i) => match self.kind(e, i) {
                ItemKind::Type { means, .. } => means.as_ref(),
                _ => None,
            },
            _ => None,
        }
    }
    pub fn structure(&self, e: Entity) -> Option<(&Ident, &[(Ident, Type)])> {
        match e.item {
            Item::Struct(i) => match self.kind(e, i) {
                ItemKind::Struct { name, fields } => Some((name, fields)),
                _ => None,
            },
            _ => None,
        }
    }
    pub fn table(&self, e: Entity) -> Option<TableItem<'_>> {
        match e.item {
            Item::Table(i) | Item::Perm(i) => match self.kind(e, i) {
                ItemKind::Table { name, input, output, entries } | ItemKind::Perm { name, input, output, entries } => {
                    Some(TableItem { name, input, output, entries })
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Aliases known inside a module: its own, those of the interface it implements, its parameters.
    fn aliases(&self, from: ModId) -> Vec<&str> {
        let m = self.module(from);
        m.imports.keys().chain(m.module_params.keys()).map(String::as_str).collect()
    }

    pub fn unknown_alias(&self, from: ModId, alias: &Ident) -> Diagnostic {
        let error = Diagnostic::error("unknown-module", format!("no module `{}` here", alias.name))
            .at(alias.span, "not imported under this name");
        match closest(&alias.name, self.aliases(from).into_iter()) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help("import it at the top of the file with `use path.to.module`"),
        }
    }

    /// An interface and those it extends, nearest first.
    pub fn interfaces(&self, first: Option<ModId>) -> Vec<ModId> {
        let mut out = Vec::new();
        let mut next = first;
        while let Some(id) = next {
            out.push(id);
            next = self.module(id).extends;
        }
        out
    }

    pub fn unknown(&self, module: ModId, name: &Ident) -> Diagnostic {
        let m = self.module(module);
        let error = Diagnostic::error("unknown-name", format!("`{}` is not defined", name.name))
            .at(name.span, format!("not found in module `{}`", m.name));
        if matches!(m.items.get(&name.name), Some(Item::Member(_))) {
            return error.help("it is a member of the interface without a chosen implementation; import the interface with `use`");
        }
        match closest(&name.name, m.items.keys().map(String::as_str)) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help("define it, or import the module that does with `use`"),
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
