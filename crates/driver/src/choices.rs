//! Choices of implementations, judged before they are used: what names nothing is refused, not ignored.

use crate::request::{Loader, Request};
use crate::failure::Failure;
use santoku_diag::{Diagnostic, FileId, Sources};
use santoku_syntax::ast::{File, ItemKind};
use std::collections::BTreeSet;

/// Checks that every choice of the request names an interface and one of its implementations, used by the program or not.
///
/// # Errors
/// `unknown-implementation`, with the names there are; the loader's.
pub(crate) fn check(request: &Request, load: &mut Loader) -> Result<(), Failure> {
    let mut library = Library { request, load };
    for (interface, variant) in &request.target.impls {
        library.check(&request.target.path, interface, variant)?;
    }
    for (interface, variant) in &request.impls {
        library.check("--impl", interface, variant)?;
    }
    Ok(())
}

struct Library<'a, 'b> {
    request: &'a Request,
    load: &'a mut Loader<'b>,
}

impl Library<'_, '_> {
    fn check(&mut self, origin: &str, interface: &str, variant: &str) -> Result<(), Failure> {
        let refused = |title: String, known: String, help: &str| {
            let d = Diagnostic::error("unknown-implementation", title).note(format!("why: chosen by `{origin}`")).note(known);
            Err(Failure::refused(&Sources::default(), d.help(help)))
        };
        let places = self.interfaces(interface)?;
        if places.is_empty() {
            let known = format!("interfaces: {}", list(self.all_interfaces()?));
            return refused(format!("there is no interface `{interface}`"), known, "name its module, or the last part of that alone");
        }
        for place in &places {
            if self.is(&format!("{place}_{variant}.stk"), implements)? {
                return Ok(());
            }
        }
        let known = format!("implementations: {}", list(self.variants(&places)?));
        let first = format!("choose one of these, or write `{}_{variant}.stk`", places[0]);
        refused(format!("the interface `{interface}` has no implementation `{variant}`"), known, &first)
    }

    /// Paths, less `.stk`, of the interfaces that a name may mean: a module, or the last part of one.
    fn interfaces(&mut self, name: &str) -> Result<Vec<String>, Failure> {
        let below = name.replace('.', "/");
        let mut found: Vec<String> = self.folders().iter().map(|f| join(f, &below)).collect();
        let last = |stem: &&str| stem.rsplit('/').next() == Some(name);
        found.extend(self.request.library.iter().filter_map(|p| p.strip_suffix(".stk")).filter(last).map(str::to_string));
        let mut seen = BTreeSet::new();
        found.retain(|stem| seen.insert(stem.clone()));
        let mut out = vec![];
        for stem in found {
            if self.is(&format!("{stem}.stk"), declares_interface)? {
                out.push(stem);
            }
        }
        Ok(out)
    }

    fn all_interfaces(&mut self) -> Result<BTreeSet<String>, Failure> {
        let mut out = BTreeSet::new();
        for path in &self.request.library {
            if self.is(path, declares_interface)? {
                out.insert(self.module(path));
            }
        }
        Ok(out)
    }

    fn variants(&mut self, places: &[String]) -> Result<BTreeSet<String>, Failure> {
        let mut out = BTreeSet::new();
        for path in &self.request.library {
            let variant = places.iter().find_map(|p| path.strip_prefix(p.as_str())?.strip_prefix('_')?.strip_suffix(".stk"));
            if let Some(variant) = variant {
                if self.is(path, implements)? {
                    out.insert(variant.to_string());
                }
            }
        }
        Ok(out)
    }

    /// Where modules are looked for: beside the program, then below the roots.
    fn folders(&self) -> Vec<String> {
        let beside = self.request.entry.rsplit_once('/').map_or("", |(f, _)| f);
        std::iter::once(beside.to_string()).chain(self.request.roots.clone()).collect()
    }

    /// Dotted name of a file: its path below a root, or its stem.
    fn module(&self, path: &str) -> String {
        let stem = path.strip_suffix(".stk").unwrap_or(path);
        let below = self.request.roots.iter().find_map(|r| stem.strip_prefix(r.as_str())?.strip_prefix('/'));
        below.unwrap_or_else(|| stem.rsplit('/').next().unwrap_or(stem)).replace('/', ".")
    }

    fn is(&mut self, path: &str, what: fn(&File) -> bool) -> Result<bool, Failure> {
        let text = (self.load)(path).map_err(|d| Failure::refused(&Sources::default(), d))?;
        Ok(text.is_some_and(|t| what(&santoku_syntax::parse(FileId(0), &t).0)))
    }
}

fn declares_interface(file: &File) -> bool {
    file.items.iter().any(|i| matches!(i.kind, ItemKind::Interface(_)))
}

fn implements(file: &File) -> bool {
    file.items.first().is_some_and(|i| matches!(i.kind, ItemKind::Implements { .. }))
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_string()
    } else {
        format!("{folder}/{name}")
    }
}

fn list(names: BTreeSet<String>) -> String {
    if names.is_empty() {
        return "none".to_string();
    }
    names.into_iter().collect::<Vec<_>>().join(", ")
}
