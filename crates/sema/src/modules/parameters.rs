//! What files say about parameters of modules: which they take, what they give to others.
//!
//! Keeps: every [`Import`] has exactly one argument per parameter, of the parameter's kind. Values are evaluated later.
//! Trusted: text.

use super::{dotted, params, Argument, Import, Loader, ModId};
use crate::names::closest;
use santoku_diag::{Diagnostic, Span};
use santoku_syntax::ast::{Expr, ExprKind, File, GenericArg, Ident, ItemKind, ModuleArg, ModuleParam, ModuleParamKind};
use std::collections::BTreeMap;

impl Loader<'_> {
    /// The interface that the file's own interface extends.
    pub(super) fn extended(&mut self, path: &str, file: &File) -> Option<ModId> {
        let extends = file.items.iter().find_map(|i| match &i.kind {
            ItemKind::Interface(interface) => interface.extends.as_ref(),
            _ => None,
        })?;
        self.interface(path, extends, place_of(extends))
    }

    pub(super) fn module_params(&mut self, path: &str, file: &File) -> BTreeMap<String, ModId> {
        self.one_header(file);
        let mut out = BTreeMap::new();
        for p in params(file) {
            if let ModuleParamKind::Module(segments) = &p.kind {
                if let Some(id) = self.interface(path, segments, place_of(segments)) {
                    out.insert(p.name.name.clone(), id);
                }
            }
        }
        out
    }

    /// `module<..>` stands once and before what it binds; so does `instance`.
    fn one_header(&mut self, file: &File) {
        let words: [(&str, fn(&ItemKind) -> bool); 2] = [
            ("module<..>", |k| matches!(k, ItemKind::Module { .. })),
            ("instance", |k| matches!(k, ItemKind::Instance { .. })),
        ];
        for (word, is) in words {
            let mut places = file.items.iter().filter(|i| is(&i.kind)).map(|i| i.span);
            if let (Some(first), Some(second)) = (places.next(), places.next()) {
                self.diagnostics.push(
                    Diagnostic::error("misplaced-module", format!("`{word}` stands twice in one file"))
                        .at(second, "second")
                        .also(first, "first")
                        .help("keep one of them; a file is one module"),
                );
            }
        }
        let before = |k: &ItemKind| matches!(k, ItemKind::Implements { .. });
        let late = file.items.iter().position(|i| matches!(i.kind, ItemKind::Module { .. }));
        if let Some(late) = late.filter(|at| !file.items[..*at].iter().all(|i| before(&i.kind))) {
            self.diagnostics.push(
                Diagnostic::error("misplaced-module", "`module<..>` does not stand at the top of its file")
                    .at(file.items[late].span, "items stand before it")
                    .help("move the line to the top; only `implements` may stand before it"),
            );
        }
    }

    pub(super) fn instance(&mut self, path: &str, file: &File, known: &[String]) -> Option<Import> {
        let (module, span) = file.items.iter().find_map(|i| match &i.kind {
            ItemKind::Instance { module } => Some((module, i.span)),
            _ => None,
        })?;
        self.import(path, module, known, span)
    }

    pub(super) fn examples(&mut self, path: &str, own: ModId, known: &[String]) -> Vec<Import> {
        let file = &self.modules[own.file as usize].file;
        let examples: Vec<(Vec<ModuleArg>, Span)> = file
            .items
            .iter()
            .filter_map(|i| match &i.kind {
                ItemKind::Example { args } => Some((args.clone(), i.span)),
                _ => None,
            })
            .collect();
        let mut out = Vec::new();
        for (args, span) in examples {
            if let Some(args) = self.arguments(path, own, &args, known, span) {
                out.push(Import { target: own, args, span });
            }
        }
        out
    }

    /// Gives each parameter of `target` its argument.
    pub(super) fn arguments(
        &mut self,
        path: &str,
        target: ModId,
        args: &[ModuleArg],
        known: &[String],
        span: Span,
    ) -> Option<BTreeMap<String, Argument>> {
        let module = &self.modules[target.file as usize];
        let (name, params) = (module.name.clone(), module.params().to_vec());
        let mut out = BTreeMap::new();
        let mut complete = true;
        for (i, arg) in args.iter().enumerate() {
            let Some(param) = self.parameter(&name, &params, args, i) else {
                complete = false;
                continue;
            };
            if out.contains_key(&param.name.name) {
                self.refuse(arg.span, format!("`{}` is given twice", param.name.name), "given again", "remove one of them");
                complete = false;
                continue;
            }
            match self.argument(path, &param, arg, known) {
                Some(argument) => drop(out.insert(param.name.name.clone(), argument)),
                None => complete = false,
            }
        }
        let missing: Vec<&str> = params.iter().map(|p| p.name.name.as_str()).filter(|p| !out.contains_key(*p)).collect();
        if complete && !missing.is_empty() {
            let example: Vec<String> = params.iter().map(|p| format!("{} = ..", p.name.name)).collect();
            let why = format!("`{}` has no value", missing.join("`, `"));
            self.refuse(span, format!("module `{name}` takes parameters"), &why, &format!("write `{name}<{}>`", example.join(", ")));
            complete = false;
        }
        complete.then_some(out)
    }

    /// The parameter that the `i`th argument is for.
    fn parameter(&mut self, module: &str, params: &[ModuleParam], args: &[ModuleArg], i: usize) -> Option<ModuleParam> {
        let arg = &args[i];
        let list = || params.iter().map(|p| p.name.name.as_str()).collect::<Vec<_>>().join(", ");
        let Some(name) = &arg.name else {
            if args[..i].iter().any(|a| a.name.is_some()) {
                let way = format!("write `NAME = value`; parameters: {}", list());
                self.refuse(arg.span, "an argument without a name follows one with a name".into(), "which parameter?", &way);
                return None;
            }
            if i >= params.len() {
                let title = format!("module `{module}` takes {} parameters, {} given", params.len(), args.len());
                let way = if params.is_empty() { "remove `<..>`".into() } else { format!("parameters: {}", list()) };
                self.refuse(arg.span, title, "one too many", &way);
                return None;
            }
            return Some(params[i].clone());
        };
        let found = params.iter().find(|p| p.name.name == name.name);
        if found.is_none() {
            let way = match closest(&name.name, params.iter().map(|p| p.name.name.as_str())) {
                Some(near) => format!("did you mean `{near}`?"),
                None if params.is_empty() => "it takes none: remove `<..>`".to_string(),
                None => format!("parameters: {}", list()),
            };
            self.refuse(name.span, format!("module `{module}` has no parameter `{}`", name.name), "no parameter of this name", &way);
        }
        found.cloned()
    }

    fn argument(&mut self, path: &str, param: &ModuleParam, arg: &ModuleArg, known: &[String]) -> Option<Argument> {
        if !matches!(param.kind, ModuleParamKind::Module(_)) {
            return Some(Argument::Value(arg.value.clone()));
        }
        let segments = match &arg.value {
            GenericArg::Expr(e) => segments(e),
            GenericArg::Type(_) => None,
        };
        let Some(segments) = segments else {
            let way = "name a module: one imported with `use`, or a path such as `field.fe25519`";
            self.refuse(arg.span, format!("`{}` needs a module", param.name.name), "not a module", way);
            return None;
        };
        if let [one] = &segments[..] {
            if known.contains(&one.name) {
                return Some(Argument::Known(one.clone()));
            }
        }
        let id = self.find(path, &segments, arg.span)?;
        let module = &self.modules[id.file as usize];
        if !module.params().is_empty() {
            let way = format!("import it with its arguments first: `use {}<..> as X`", dotted(&segments));
            self.refuse(arg.span, format!("module `{}` takes parameters", dotted(&segments)), "which instance?", &way);
            return None;
        }
        if module.interface().is_some() {
            self.choose(id, Some(arg.span))?;
        }
        Some(Argument::File(id, arg.span))
    }

    fn refuse(&mut self, span: Span, title: String, why: &str, way: &str) {
        self.diagnostics.push(Diagnostic::error("module-arguments", title).at(span, why).help(way));
    }
}

/// `a.b.c` written as an expression.
fn segments(e: &Expr) -> Option<Vec<Ident>> {
    match &e.kind {
        ExprKind::Name(path) if path.module.is_none() => Some(vec![path.name.clone()]),
        ExprKind::Field { base, field } => {
            let mut out = segments(base)?;
            out.push(field.clone());
            Some(out)
        }
        _ => None,
    }
}

fn place_of(path: &[Ident]) -> Span {
    let (first, last) = (path[0].span, path[path.len() - 1].span);
    Span { end: last.end, ..first }
}
