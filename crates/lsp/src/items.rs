//! What a module defines, and where: names at top level, followed through imports.

use crate::document::parse;
use crate::names::Name;
use crate::world::World;
use santoku_syntax::ast::{File, Ident, Item, ItemKind};
use std::collections::BTreeMap;

/// Texts as the editor has them, else as they are kept.
pub struct Texts<'w> {
    pub world: &'w dyn World,
    pub open: &'w BTreeMap<String, String>,
}

impl Texts<'_> {
    pub fn get(&self, path: &str) -> Option<String> {
        self.open.get(path).cloned().or_else(|| self.world.text(path).ok().flatten())
    }
}

/// A definition: bytes of `text`.
pub struct Found {
    pub path: String,
    pub text: String,
    pub name: (u32, u32),
    /// What it says of itself, without its body.
    pub header: String,
    pub doc: Vec<String>,
}

/// Imports followed before giving up: they are not cyclic in a program without errors.
const DEPTH: usize = 16;

/// The definition of a name in `path`, or in the module it is reached through.
pub fn find(texts: &Texts, path: &str, text: &str, file: &File, name: &Name) -> Option<Found> {
    match name.module {
        Some(alias) => {
            let target = used(texts, path, file, alias)?;
            in_module(texts, &target, name.name, DEPTH)
        }
        None => own(path, text, file, name.name)
            .or_else(|| used(texts, path, file, name.name).and_then(|target| whole(texts, target)))
            .or_else(|| elsewhere(texts, path, file, name.name, DEPTH)),
    }
}

/// The file of the module that is imported under this name.
fn used(texts: &Texts, path: &str, file: &File, alias: &str) -> Option<String> {
    file.items.iter().find_map(|i| match &i.kind {
        ItemKind::Use { module, alias: given } => {
            let name = given.as_ref().or(module.path.last())?;
            if name.name == alias { module_file(texts, path, &module.path) } else { None }
        }
        _ => None,
    })
}

fn in_module(texts: &Texts, path: &str, name: &str, depth: usize) -> Option<Found> {
    let text = texts.get(path)?;
    let file = parse(&text);
    own(path, &text, &file, name).or_else(|| elsewhere(texts, path, &file, name, depth))
}

/// Through the instance that a file is another name of, and the interface that it implements.
fn elsewhere(texts: &Texts, path: &str, file: &File, name: &str, depth: usize) -> Option<Found> {
    let depth = depth.checked_sub(1)?;
    let further = file.items.iter().filter_map(|i| match &i.kind {
        ItemKind::Instance { module } => Some(&module.path),
        ItemKind::Implements { path, .. } => Some(path),
        ItemKind::Interface(interface) => interface.extends.as_ref(),
        _ => None,
    });
    further.filter_map(|segments| module_file(texts, path, segments)).find_map(|target| in_module(texts, &target, name, depth))
}

/// The file of a module: beside the importing file, then below the roots.
fn module_file(texts: &Texts, from: &str, segments: &[Ident]) -> Option<String> {
    let relative = segments.iter().map(|s| s.name.as_str()).collect::<Vec<_>>().join("/") + ".stk";
    let beside = from.rfind('/').map(|i| from[..i].to_string());
    let mut folders = beside.into_iter().chain(texts.world.roots(from));
    folders.find_map(|folder| Some(format!("{folder}/{relative}")).filter(|path| texts.get(path).is_some()))
}

/// A module as a whole.
fn whole(texts: &Texts, path: String) -> Option<Found> {
    let text = texts.get(&path)?;
    let about: Vec<String> = text.lines().take_while(|l| l.starts_with("//")).map(|l| l.trim_start_matches('/').to_string()).collect();
    Some(Found { header: format!("module {path}"), doc: about, name: (0, 0), path, text })
}

/// A name that the file defines itself; members of an interface are names of its file.
fn own(path: &str, text: &str, file: &File, name: &str) -> Option<Found> {
    let found = |ident: &Ident, doc: &[String], start: u32, end: u32| {
        let header = text.get(start as usize..end as usize).unwrap_or_default().trim_end().to_string();
        Found { path: path.to_string(), text: text.to_string(), name: (ident.span.start, ident.span.end), header, doc: doc.to_vec() }
    };
    for item in &file.items {
        if let ItemKind::Interface(i) = &item.kind {
            let to_line = |ident: &Ident| line_end(text, ident.span.end);
            let plain = i.types.iter().chain(&i.consts).find(|n| n.name == name).map(|n| found(n, &[], n.span.start, to_line(n)));
            let fns = || i.fns.iter().find(|f| f.name.name == name).map(|f| found(&f.name, &f.doc, f.span.start, f.span.end));
            let specs = || i.specs.iter().find(|s| s.name.name == name).map(|s| found(&s.name, &s.doc, s.span.start, s.span.end));
            let consts = || i.const_fns.iter().find(|s| s.name.name == name).map(|s| found(&s.name, &s.doc, s.span.start, s.span.end));
            if let Some(f) = plain.or_else(fns).or_else(specs).or_else(consts) {
                return Some(f);
            }
        }
        if let Some(ident) = name_of(item).filter(|n| n.name == name) {
            let (doc, end) = about(item, text);
            return Some(found(ident, doc, start_of(item), end));
        }
    }
    None
}

/// The name that an item defines.
pub fn name_of(item: &Item) -> Option<&Ident> {
    match &item.kind {
        ItemKind::Const { name, .. } | ItemKind::Type { name, .. } | ItemKind::Struct { name, .. } | ItemKind::Table { name, .. } | ItemKind::Perm { name, .. } => Some(name),
        ItemKind::Fn(f) => Some(&f.name),
        ItemKind::Spec(s) => Some(&s.name),
        ItemKind::ConstFn(c) => Some(&c.name),
        ItemKind::Interface(i) => Some(&i.name),
        ItemKind::Use { .. } | ItemKind::Implements { .. } | ItemKind::Module { .. } | ItemKind::Instance { .. } | ItemKind::Example { .. } | ItemKind::Test { .. } | ItemKind::Error => None,
    }
}

/// Functions start behind their attributes.
fn start_of(item: &Item) -> u32 {
    match &item.kind {
        ItemKind::Fn(f) => f.span.start.max(f.attrs.last().map_or(0, |a| a.span.end)),
        _ => item.span.start,
    }
}

/// Its documentation, and where what it says of itself ends: before the body; one line of a long constant.
fn about<'i>(item: &'i Item, text: &str) -> (&'i [String], u32) {
    match &item.kind {
        ItemKind::Fn(f) => (if f.doc.is_empty() { &item.doc } else { &f.doc }, f.body.as_ref().map_or(f.span.end, |b| b.span.start)),
        ItemKind::Const { value, .. } => (&item.doc, if value.span.end - value.span.start > SHORT { line_end(text, item.span.start) } else { item.span.end }),
        ItemKind::Table { entries, .. } | ItemKind::Perm { entries, .. } => (&item.doc, entries.span.start),
        ItemKind::Interface(i) => (&item.doc, line_end(text, i.name.span.end)),
        ItemKind::Spec(s) => (if s.doc.is_empty() { &item.doc } else { &s.doc }, item.span.end),
        ItemKind::ConstFn(c) => (if c.doc.is_empty() { &item.doc } else { &c.doc }, item.span.end),
        _ => (&item.doc, item.span.end),
    }
}

/// Bytes of a constant that is shown whole.
const SHORT: u32 = 200;

fn line_end(text: &str, from: u32) -> u32 {
    let from = from as usize;
    text.get(from..).and_then(|rest| rest.find('\n')).map_or(text.len(), |n| from + n) as u32
}
