//! What the rules of the core say of what was made, and which modules the entry file is.

use crate::body::is_c_name;
use crate::context::Cx;
use crate::interfaces;
use crate::modules::ModId;
use santoku_diag::{Diagnostic, Span};
use santoku_ir::verify::VerifyError;
use santoku_syntax::ast::{Attr, Item, ItemKind};
use std::collections::BTreeSet;

/// The modules of the entry file. Instances of modules get their numbers in this order.
pub(crate) fn opened(cx: &mut Cx) {
    let world = cx.world;
    for i in (0..world.modules.len()).filter(|i| world.modules[*i].params().is_empty()) {
        interfaces::check(cx, ModId::plain(i));
    }
    cx.own = own_modules(cx);
    cx.exported = exported_modules(cx);
}

/// What the entry file itself is: its module, the implementation chosen for its interface, the instance it stands for;
/// of a module with parameters, its examples.
fn own_modules(cx: &mut Cx) -> Vec<ModId> {
    let world = cx.world;
    let entry = world.module(world.entry);
    if !entry.params().is_empty() {
        let mut own = Vec::new();
        for (i, example) in entry.examples.iter().enumerate() {
            let name = format!("{}.example{}", entry.name, i + 1);
            own.extend(cx.instantiate(world.entry, example, name));
        }
        return own;
    }
    let mut own = Vec::new();
    whole(cx, world.entry, &mut own);
    own
}

/// A module, the implementation chosen for its interface, and what they stand for, behind those that are there.
fn whole(cx: &mut Cx, module: ModId, all: &mut Vec<ModId>) {
    let mut at = all.len();
    for m in std::iter::once(module).chain(cx.world.module(module).chosen) {
        if !all.contains(&m) {
            all.push(m);
        }
    }
    while at < all.len() {
        let target = cx.stands_for(all[at]);
        all.extend(target.filter(|t| !all.contains(t)));
        at += 1;
    }
}

/// What the entry file, and each of these modules, imports with `@export use`, and what stands before its names.
fn exported_modules(cx: &mut Cx) -> Vec<(ModId, String)> {
    let world = cx.world;
    let own = cx.own.len();
    let mut all: Vec<(ModId, String)> = cx.own.iter().map(|m| (*m, String::new())).collect();
    let mut at = 0;
    while at < all.len() {
        let (from, outer) = all[at].clone();
        for item in &world.module(from).file.items {
            let ItemKind::Use { module, alias } = &item.kind else { continue };
            let Some(attr) = item.attrs.first() else { continue };
            let Some(name) = alias.as_ref().or(module.path.last()) else { continue };
            let Some(prefix) = with_prefix(cx, &outer, attr) else { continue };
            let Some(Some(target)) = cx.import(from, &name.name) else { continue };
            exported_module(cx, item, target, prefix, &mut all);
        }
        at += 1;
    }
    all.split_off(own)
}

/// `outer`, and behind it what `@export("p")` says.
fn with_prefix(cx: &mut Cx, outer: &str, attr: &Attr) -> Option<String> {
    match &attr.arg {
        None => Some(outer.to_string()),
        Some(p) if is_c_name(p) => Some(format!("{outer}{p}_")),
        Some(_) => cx.fail(
            Diagnostic::error("bad-attribute", "`@export` needs the beginning of a C identifier")
                .at(attr.span, "no usable name given")
                .help("write `@export(\"toy\") use a.b`: a function that `a.b` exports as `hash` is `toy_hash` then"),
        ),
    }
}

/// The modules that one import exports, behind those that are there.
fn exported_module(cx: &mut Cx, item: &Item, target: ModId, prefix: String, all: &mut Vec<(ModId, String)>) {
    let world = cx.world;
    let mut its = Vec::new();
    whole(cx, target, &mut its);
    if !its.iter().any(|m| world.module(*m).file.items.iter().any(exports)) {
        cx.report(
            Diagnostic::error("bad-attribute", format!("`{}` exports nothing", world.module(target).name))
                .at(item.span, "`@export use` exports what the module exports")
                .help("remove `@export`, or put `@export(\"c_name\")` before a function of that module"),
        );
    }
    for m in its {
        match all.iter().find(|(other, _)| *other == m) {
            None => all.push((m, prefix.clone())),
            Some((_, before)) if *before == prefix => {}
            Some((_, before)) => cx.report(
                Diagnostic::error("bad-attribute", format!("`{}` is exported with `{before}` and with `{prefix}` before its names", world.module(m).name))
                    .at(item.span, "the second of them")
                    .help("a function has one name in C: export the module once, or write functions that call its own"),
            ),
        }
    }
}

/// Whether an item is a function that has a name in C, or a module that is exported.
pub fn exports(item: &Item) -> bool {
    let attrs = match &item.kind {
        ItemKind::Fn(f) => &f.attrs,
        ItemKind::Use { .. } => &item.attrs,
        _ => return false,
    };
    attrs.iter().any(|a| a.name.name == "export")
}

/// The first unset variable of each function; later ones mostly follow from it.
fn unset_variables(cx: &mut Cx, errors: &[VerifyError]) {
    let mut functions: BTreeSet<&str> = BTreeSet::new();
    for e in errors.iter().filter(|e| e.code == "unassigned") {
        if functions.insert(&e.func) {
            cx.report(
                Diagnostic::error("unset-variable", "a variable is read before it has a value")
                    .at(span_of(e.loc), &e.message)
                    .help("give the variable a value where it is declared, or on every way to this place"),
            );
        }
    }
}

/// Variables without a value, in functions whose selections read (and so had to set) them.
pub fn verify_branching(cx: &mut Cx) {
    let bodies = std::mem::take(&mut cx.branching);
    if bodies.is_empty() {
        return;
    }
    let mut program = cx.program.clone();
    for f in &mut program.funcs {
        // Secrecy has been judged; here branches stand on secrets.
        f.locals.iter_mut().for_each(|l| l.public = true);
        if let Some(body) = bodies.get(&f.name) {
            f.body.clone_from(body);
        }
    }
    unset_variables(cx, &santoku_ir::verify::verify(&program));
}

/// The core's own rules. A value read before it is written is the user's fault; anything else is ours.
pub fn verify(cx: &mut Cx) {
    let errors = santoku_ir::verify::verify(&cx.program);
    unset_variables(cx, &errors);
    for e in errors.iter().filter(|e| e.code != "unassigned") {
        internal(cx, e.to_string(), Some(span_of(e.loc)));
    }
}

pub fn internal(cx: &mut Cx, title: String, place: Option<Span>) {
    let d = Diagnostic::error("internal", title)
        .note("pass: sema")
        .help("this is a fault of the compiler; please report it");
    cx.report(match place {
        Some(span) => d.at(span, "while compiling this"),
        None => d,
    });
}

pub fn span_of(loc: santoku_ir::Loc) -> Span {
    Span { file: santoku_diag::FileId(loc.file), start: loc.start, end: loc.end }
}
