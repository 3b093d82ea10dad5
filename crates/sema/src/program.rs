//! The whole program: what the entry file asks for, in order.

use crate::context::Cx;
use crate::entities::Entity;
use crate::keys::{plain_key, Instance};
use crate::modules::{ModId, World};
use crate::names::Item;
use crate::verified::{exports, internal, opened, span_of, verify, verify_branching};
use crate::{body, limits, Compiled, Failed};
use santoku_diag::{Diagnostic, Severity, Span};
use santoku_ir::{Cases, Test};
use santoku_syntax::ast::{Block, Item as SourceItem, ItemKind, TestCases};
use std::collections::{BTreeMap, BTreeSet};

/// Analyses a loaded world, on a thread whose stack bears the nesting that the limits allow.
pub fn analyse(world: World) -> Result<Compiled, Failed> {
    let run = || {
        let mut cx = Cx::new(&world);
        everything(&mut cx);
        if cx.diagnostics.iter().all(|d| d.severity != Severity::Error) {
            verify(&mut cx);
            verify_branching(&mut cx);
        }
        (cx.program, cx.diagnostics)
    };
    let result = std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(limits::STACK_BYTES);
        builder.spawn_scoped(scope, run).map(std::thread::ScopedJoinHandle::join)
    });
    let (program, diagnostics) = match result {
        Ok(Ok(done)) => done,
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        Err(e) => {
            let d = Diagnostic::error("internal", format!("cannot start the analysis thread: {e}"))
                .note("pass: sema")
                .help("free some memory and try again");
            return Err(Failed { sources: world.sources, diagnostics: vec![d] });
        }
    };
    if diagnostics.iter().any(|d| d.severity == Severity::Error) {
        return Err(Failed { sources: world.sources, diagnostics });
    }
    Ok(Compiled { program, sources: world.sources, warnings: diagnostics })
}

fn everything(cx: &mut Cx) {
    opened(cx);
    let own = cx.own.clone();
    for module in &own {
        declarations(cx, *module);
    }
    for module in &own {
        functions(cx, *module, |_| true);
    }
    for (module, _) in cx.exported.clone() {
        functions(cx, module, exports);
    }
    for module in &own {
        tests(cx, *module);
    }
    nothing_lost(cx);
    crate::probes::check(cx);
    exported_once(cx);
}

/// What failed must have said why: a function left out in silence would be a lie.
fn nothing_lost(cx: &mut Cx) {
    let silent = cx.diagnostics.iter().all(|d| d.severity != Severity::Error);
    let lost = cx.instances.iter().find(|(_, i)| matches!(i, Instance::Failed)).map(|(key, _)| key.entity);
    if let (true, Some(entity)) = (silent, lost) {
        let name = cx.entity_name(entity);
        internal(cx, format!("`{name}` was dropped without a reason"), None);
    }
}

/// Constants, types, structs, tables and specifications of a module, used or not.
fn declarations(cx: &mut Cx, module: ModId) {
    let world = cx.world;
    for (index, item) in world.module(module).file.items.iter().enumerate() {
        match &item.kind {
            ItemKind::Const { name, .. } => {
                cx.constant(Entity { module, item: Item::Const(index) }, name.span);
            }
            ItemKind::Type { ty, means, .. } => {
                let mut env = cx.env(module);
                cx.any_type(&mut env, ty);
                if means.is_some() {
                    cx.meaning_id(Entity { module, item: Item::Type(index) });
                }
            }
            ItemKind::Struct { name, .. } => {
                cx.struct_id(Entity { module, item: Item::Struct(index) }, name.span);
            }
            ItemKind::Table { name, .. } => {
                cx.table_info(Entity { module, item: Item::Table(index) }, name.span);
            }
            ItemKind::Perm { name, .. } => {
                cx.perm_info(Entity { module, item: Item::Perm(index) }, name.span);
            }
            _ => {}
        }
    }
    crate::spec::all_of(cx, module);
}

fn functions(cx: &mut Cx, module: ModId, wanted: fn(&SourceItem) -> bool) {
    let world = cx.world;
    for (index, item) in world.module(module).file.items.iter().enumerate() {
        let ItemKind::Fn(f) = &item.kind else { continue };
        if !wanted(item) {
            continue;
        }
        // Of two functions with one name the first counts; the other has been reported.
        if world.module(module).items.get(&f.name.name) != Some(&Item::Fn(index)) {
            continue;
        }
        let entity = Entity { module, item: Item::Fn(index) };
        if let Some(key) = plain_key(entity, f) {
            cx.instance(key, f.name.span);
        }
    }
}

fn tests(cx: &mut Cx, module: ModId) {
    let world = cx.world;
    let mut names: BTreeMap<&str, Span> = BTreeMap::new();
    for item in &world.module(module).file.items {
        let ItemKind::Test { name, cases, body } = &item.kind else { continue };
        if let Some(before) = names.insert(name, item.span) {
            cx.report(
                Diagnostic::error("duplicate-name", format!("test \"{name}\" appears twice"))
                    .at(item.span, "second test of this name")
                    .also(before, "first")
                    .help("rename one of them"),
            );
        }
        test(cx, module, name, cases.as_ref(), body, item.span);
    }
}

fn test(cx: &mut Cx, module: ModId, name: &str, cases: Option<&TestCases>, body: &Block, span: Span) {
    let base = cx.qualified(module, &format!("test${}", cx.program.tests.len()));
    let full = cx.fresh_func_name(&base);
    let env = cx.env(module);
    match body::lower_test(cx, env, cases, body, full, span) {
        Some(func) => {
            let id = cx.program.add_func(func);
            let cases = cases.map(|c| Cases { file: c.file.clone(), fields: c.params.iter().zip(&c.fields).map(|(p, f)| f.clone().unwrap_or_else(|| p.name.name.clone())).collect() });
            cx.program.tests.push(Test { name: name.to_string(), func: id, cases });
        }
        None if cx.diagnostics.iter().all(|d| d.severity != Severity::Error) => {
            internal(cx, format!("test \"{name}\" was dropped without a reason"), Some(span));
        }
        None => {}
    }
}

fn exported_once(cx: &mut Cx) {
    let named: Vec<(String, Span)> = cx.program.funcs.iter().filter_map(|f| Some((f.export.clone()?, span_of(f.loc)))).collect();
    let mut found = BTreeSet::new();
    for (name, span) in named {
        let d = Diagnostic::error("duplicate-name", format!("two functions are exported as `{name}`"));
        if !found.insert(name) {
            cx.report(d.at(span, "second export of this name").help("give each exported function its own C name"));
        }
    }
}
