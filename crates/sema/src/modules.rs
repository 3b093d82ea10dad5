//! Modules: which files belong to a program, who imports whom, which implementation an interface gets.
//!
//! A file is read once, whatever the number of imports. Imports form no cycle; the message shows the chain.

mod parameters;

use crate::names::{self, Item};
use crate::{Failed, Options};
use santoku_diag::{Diagnostic, Severity, Sources, Span};
use santoku_syntax::ast::{File, GenericArg, Ident, Interface, ItemKind, ModuleParam, ModuleRef};
use std::collections::BTreeMap;

/// A module: a file, and which instance of it if it takes parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModId {
    /// Index into [`World::modules`].
    pub file: u32,
    /// 0: the file itself. Otherwise an instance, by order of demand.
    pub instance: u32,
}

impl ModId {
    pub fn plain(file: usize) -> ModId {
        ModId { file: file as u32, instance: 0 }
    }
}

/// Another module as a file names it, with its arguments by parameter.
#[derive(Clone, Debug)]
pub struct Import {
    pub target: ModId,
    pub args: BTreeMap<String, Argument>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Argument {
    /// A constant or a type.
    Value(GenericArg),
    /// A module that the file knows under this name.
    Known(Ident),
    File(ModId, Span),
}

/// One file.
#[derive(Debug)]
pub struct Module {
    /// Dotted name below the library root: `field.fe25519`.
    pub name: String,
    pub file: File,
    /// Top-level names. The first definition wins; a second one is an error.
    pub items: BTreeMap<String, Item>,
    /// Aliases of `use`.
    pub imports: BTreeMap<String, Import>,
    /// Parameters that are modules, with the interface each has to satisfy.
    pub module_params: BTreeMap<String, ModId>,
    /// `implements`: the interface's module.
    pub implements: Option<ModId>,
    /// Of an interface: the one whose members it has too.
    pub extends: Option<ModId>,
    /// `instance`: the module that this file is another name of.
    pub stands_for: Option<Import>,
    /// `example`s of a module with parameters.
    pub examples: Vec<Import>,
    /// Of a module with an interface: the implementation the build takes. `None` while nobody uses it.
    pub chosen: Option<ModId>,
}

impl Module {
    /// The module's interface, if it declares one.
    pub fn interface(&self) -> Option<&Interface> {
        self.file.items.iter().find_map(|i| match &i.kind {
            ItemKind::Interface(interface) => Some(interface),
            _ => None,
        })
    }

    pub fn params(&self) -> &[ModuleParam] {
        params(&self.file)
    }
}

fn params(file: &File) -> &[ModuleParam] {
    let found = file.items.iter().find_map(|i| match &i.kind {
        ItemKind::Module { params } => Some(&params[..]),
        _ => None,
    });
    found.unwrap_or_default()
}

/// All files of one program.
#[derive(Debug)]
pub struct World {
    pub modules: Vec<Module>,
    pub entry: ModId,
    pub sources: Sources,
    /// Warnings so far.
    pub diagnostics: Vec<Diagnostic>,
}

impl World {
    pub fn module(&self, id: ModId) -> &Module {
        &self.modules[id.file as usize]
    }
}

enum State {
    Open,
    Done(ModId),
}

struct Loader<'a> {
    roots: &'a [String],
    load: &'a mut dyn FnMut(&str) -> Option<String>,
    opts: &'a Options,
    sources: Sources,
    diagnostics: Vec<Diagnostic>,
    modules: Vec<Module>,
    state: BTreeMap<String, State>,
    /// Paths being loaded, outermost first.
    chain: Vec<String>,
}

/// Loads the entry file and everything it imports.
pub fn load_world(
    entry: &str,
    roots: &[String],
    load: &mut dyn FnMut(&str) -> Option<String>,
    opts: &Options,
) -> Result<World, Failed> {
    let mut loader = Loader {
        roots,
        load,
        opts,
        sources: Sources::default(),
        diagnostics: Vec::new(),
        modules: Vec::new(),
        state: BTreeMap::new(),
        chain: Vec::new(),
    };
    let path = normalise(entry);
    let id = match (loader.load)(&path) {
        Some(text) => loader.module(&path, text),
        None => {
            loader.diagnostics.push(
                Diagnostic::error("missing-file", format!("cannot read `{entry}`"))
                    .help("check the path; programs are files ending in `.stk`"),
            );
            None
        }
    };
    if let Some(id) = id {
        // An interface that only others extend has no implementation of its own.
        if loader.variant(id).is_some() {
            loader.choose(id, None);
        }
    }
    let failed = loader.diagnostics.iter().any(|d| d.severity == Severity::Error);
    match id {
        Some(entry) if !failed => Ok(World {
            modules: loader.modules,
            entry,
            sources: loader.sources,
            diagnostics: loader.diagnostics,
        }),
        _ => Err(Failed { sources: loader.sources, diagnostics: loader.diagnostics }),
    }
}

impl Loader<'_> {
    /// Parses one file and loads its imports. `None`: the file is part of a cycle (reported).
    fn module(&mut self, path: &str, text: String) -> Option<ModId> {
        self.state.insert(path.to_string(), State::Open);
        self.chain.push(path.to_string());
        let file_id = self.sources.add(path, text);
        let (file, diagnostics) = santoku_syntax::parse(file_id, self.sources.text(file_id));
        self.diagnostics.extend(diagnostics);
        let items = names::collect(&file, &mut self.diagnostics);
        let implements = self.implemented(path, &file);
        let extends = self.extended(path, &file);
        let module_params = self.module_params(path, &file);
        let mut known: Vec<String> = module_params.keys().cloned().collect();
        let imports = self.imports(path, &file, &mut known);
        let stands_for = self.instance(path, &file, &known);
        let id = ModId::plain(self.modules.len());
        let name = self.fresh_name(self.module_name(path));
        let examples = Vec::new();
        self.modules.push(Module { name, file, items, imports, module_params, implements, extends, stands_for, examples, chosen: None });
        self.modules[id.file as usize].examples = self.examples(path, id, &known);
        self.state.insert(path.to_string(), State::Done(id));
        self.chain.pop();
        Some(id)
    }

    fn imports(&mut self, path: &str, file: &File, known: &mut Vec<String>) -> BTreeMap<String, Import> {
        let mut imports = BTreeMap::new();
        let mut places: BTreeMap<String, Span> = BTreeMap::new();
        for item in &file.items {
            let ItemKind::Use { module, alias } = &item.kind else { continue };
            let Some(name) = alias.as_ref().or(module.path.last()) else { continue };
            let before = places.insert(name.name.clone(), name.span);
            let before = before.or_else(|| params(file).iter().find(|p| p.name.name == name.name).map(|p| p.name.span));
            if let Some(before) = before {
                self.diagnostics.push(
                    Diagnostic::error("duplicate-name", format!("`{}` is imported twice", name.name))
                        .at(name.span, "second import under this name")
                        .also(before, "first import")
                        .help("give one of them another name with `as`"),
                );
                continue;
            }
            let Some(import) = self.import(path, module, known, item.span) else { continue };
            known.push(name.name.clone());
            imports.insert(name.name.clone(), import);
        }
        imports
    }

    /// A module with its arguments; of an interface, the implementation is chosen.
    fn import(&mut self, path: &str, module: &ModuleRef, known: &[String], span: Span) -> Option<Import> {
        let target = self.find(path, &module.path, span)?;
        if self.modules[target.file as usize].interface().is_some() {
            self.choose(target, Some(span))?;
        }
        let args = self.arguments(path, target, &module.args, known, span)?;
        Some(Import { target, args, span })
    }

    fn implemented(&mut self, path: &str, file: &File) -> Option<ModId> {
        let found = file.items.iter().enumerate().find_map(|(i, item)| match &item.kind {
            ItemKind::Implements { path, .. } => Some((i, path, item.span)),
            _ => None,
        });
        let (position, segments, span) = found?;
        if position != 0 {
            self.diagnostics.push(
                Diagnostic::error("misplaced-implements", "`implements` is not the first item of its file")
                    .at(span, "items stand before it")
                    .help("move the line to the top of the file"),
            );
        }
        self.interface(path, segments, span)
    }

    /// A module that has to declare an interface.
    fn interface(&mut self, path: &str, segments: &[Ident], span: Span) -> Option<ModId> {
        let id = self.find(path, segments, span)?;
        if self.modules[id.file as usize].interface().is_none() {
            self.diagnostics.push(
                Diagnostic::error("not-an-interface", format!("`{}` declares no interface", dotted(segments)))
                    .at(span, "this module is not an interface")
                    .help("declare `interface NAME { .. }` there, or import the module with `use`"),
            );
            return None;
        }
        Some(id)
    }

    /// Loads (once) the module that `segments` names, seen from the file `from`.
    fn find(&mut self, from: &str, segments: &[Ident], span: Span) -> Option<ModId> {
        let relative = segments.iter().map(|s| s.name.as_str()).collect::<Vec<_>>().join("/") + ".stk";
        let mut tried = vec![join(folder(from), &relative)];
        tried.extend(self.roots.iter().map(|r| join(r, &relative)));
        tried.dedup();
        for path in &tried {
            match self.state.get(path) {
                Some(State::Done(id)) => return Some(*id),
                Some(State::Open) => {
                    self.cycle(path, span);
                    return None;
                }
                None => {}
            }
            if let Some(text) = (self.load)(path) {
                return self.module(&path.clone(), text);
            }
        }
        self.diagnostics.push(
            Diagnostic::error("missing-module", format!("module `{}` not found", dotted(segments)))
                .at(span, "no such file")
                .note(format!("paths tried: {}", tried.join(", ")))
                .help("check the name; it is looked up beside this file, then below the roots of the library, which `--lib DIR` sets"),
        );
        None
    }

    fn cycle(&mut self, path: &str, span: Span) {
        let start = self.chain.iter().position(|p| p == path).unwrap_or(0);
        let mut chain: Vec<&str> = self.chain[start..].iter().map(String::as_str).collect();
        chain.push(path);
        self.diagnostics.push(
            Diagnostic::error("cyclic-import", "imports form a cycle")
                .at(span, "closes the cycle")
                .note(format!("chain: {}", chain.join(" -> ")))
                .help("move what both need into a third module"),
        );
    }

    /// The variant that the caller or the interface itself chooses.
    fn variant(&self, interface: ModId) -> Option<String> {
        let module = &self.modules[interface.file as usize];
        let declared = module.interface()?;
        let last = module.name.rsplit('.').next().unwrap_or(&module.name);
        let wanted = self.opts.impls.get(&module.name).or_else(|| self.opts.impls.get(last)).cloned();
        wanted.or_else(|| declared.default.as_ref().map(|d| d.name.clone()))
    }

    /// Finds the implementation of an interface and loads it.
    fn choose(&mut self, interface: ModId, span: Option<Span>) -> Option<ModId> {
        let module = &self.modules[interface.file as usize];
        if let Some(chosen) = module.chosen {
            return Some(chosen);
        }
        let name = module.name.clone();
        let declared = module.interface()?;
        let last = name.rsplit('.').next().unwrap_or(&name);
        let place = declared.name.span;
        let Some(variant) = self.variant(interface) else {
            self.diagnostics.push(
                Diagnostic::error("no-implementation", format!("no implementation of `{name}` is chosen"))
                    .at(span.unwrap_or(place), "needs an implementation")
                    .help(format!("write `default VARIANT` in the interface, or build with `--impl {last}=VARIANT`")),
            );
            return None;
        };
        let interface_path = self.path_of(interface);
        let stem = interface_path.strip_suffix(".stk").unwrap_or(&interface_path);
        let path = format!("{stem}_{variant}.stk");
        let id = self.implementation(&path, &variant, &name, span.unwrap_or(place))?;
        if self.modules[id.file as usize].implements != Some(interface) {
            self.diagnostics.push(
                Diagnostic::error("not-an-implementation", format!("`{path}` does not implement `{name}`"))
                    .at(span.unwrap_or(place), format!("variant `{variant}` is needed here"))
                    .help(format!("begin that file with `implements {name} as {variant}`")),
            );
            return None;
        }
        self.modules[interface.file as usize].chosen = Some(id);
        Some(id)
    }

    fn implementation(&mut self, path: &str, variant: &str, name: &str, span: Span) -> Option<ModId> {
        match self.state.get(path) {
            Some(State::Done(id)) => return Some(*id),
            Some(State::Open) => {
                self.cycle(path, span);
                return None;
            }
            None => {}
        }
        if let Some(text) = (self.load)(path) {
            return self.module(path, text);
        }
        self.diagnostics.push(
            Diagnostic::error("missing-module", format!("`{name}` has no implementation `{variant}`"))
                .at(span, "needs an implementation")
                .note(format!("path tried: {path}"))
                .help("choose another variant, or write that file"),
        );
        None
    }

    fn path_of(&self, id: ModId) -> String {
        let found = self.state.iter().find(|(_, s)| matches!(s, State::Done(d) if *d == id));
        found.map(|(p, _)| p.clone()).unwrap_or_default()
    }

    /// Two files outside every root may share a stem; names in the program stay distinct.
    fn fresh_name(&self, base: String) -> String {
        let taken = |name: &str| self.modules.iter().any(|m| m.name == name);
        let mut candidates = std::iter::once(base.clone()).chain((2u32..).map(|n| format!("{base}${n}")));
        candidates.find(|c| !taken(c)).unwrap_or(base)
    }

    /// Dotted name: the path below the first root that contains it, else the file's stem.
    fn module_name(&self, path: &str) -> String {
        let stem = path.strip_suffix(".stk").unwrap_or(path);
        let below = self.roots.iter().find_map(|r| {
            let root = normalise(r);
            if root.is_empty() {
                return (!stem.starts_with('/') && !stem.starts_with("..")).then_some(stem);
            }
            stem.strip_prefix(&root)?.strip_prefix('/')
        });
        below.unwrap_or_else(|| stem.rsplit('/').next().unwrap_or(stem)).replace('/', ".")
    }
}

/// `a.b.c` of a `use` path.
pub fn dotted(segments: &[Ident]) -> String {
    segments.iter().map(|s| s.name.as_str()).collect::<Vec<_>>().join(".")
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(f, _)| f)
}

fn join(folder: &str, relative: &str) -> String {
    if folder.is_empty() {
        normalise(relative)
    } else {
        normalise(&format!("{folder}/{relative}"))
    }
}

/// Removes `.` and resolves `..` where a folder stands before it.
fn normalise(path: &str) -> String {
    let mut out: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if out.last().is_some_and(|p| *p != "..") => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    let absolute = if path.starts_with('/') { "/" } else { "" };
    format!("{absolute}{}", out.join("/"))
}

#[cfg(test)]
mod tests {
    use super::normalise;

    #[test]
    fn paths_are_normalised() {
        assert_eq!(normalise("./lib//field/../a.stk"), "lib/a.stk");
        assert_eq!(normalise("../a/./b"), "../a/b");
        assert_eq!(normalise("/x/../y"), "/y");
    }
}
