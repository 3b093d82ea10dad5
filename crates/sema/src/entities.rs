//! Declarations of the program: a name and its module. What a path means is [`crate::resolve`]'s.

use crate::modules::{ModId, World};
use crate::names::{closest, Item};
use santoku_diag::Diagnostic;
use santoku_syntax::ast::{
    ConstFunction, Expr, Function, Ident, ItemKind, Means, ModuleParam, SpecFunction, Type,
};

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
