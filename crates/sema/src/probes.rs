//! Functions with `const` and `type` parameters that nothing calls, compiled at sample values.
//!
//! Keeps: nothing of a sample enters the program, each has a context of its own; a message is given only if it comes in
//! the same words at every sample at which nothing that depends on a value is wrong.
//! Trusted: nothing: messages only.

use crate::context::Cx;
use crate::entities::Entity;
use crate::keys::{GenericKey, Instance, InstanceKey};
use crate::names::Item;
use crate::{verified, written};
use santoku_diag::{Diagnostic, Severity, Span};
use santoku_ir::{Range, Ty};
use santoku_syntax::ast::{Function, GenericKind, ItemKind};
use std::collections::BTreeSet;

/// Values of `const` parameters; several parameters take neighbours too.
const VALUES: [i64; 14] = [4, 1, 2, 3, 5, 7, 8, 16, 17, 32, 64, 128, 255, 2_147_483_647];

/// Codes of what is wrong whatever the values are.
const SURE: &[&str] = &[
    "assign-in-expression",
    "assign-to-immutable",
    "bad-attribute",
    "bad-conversion",
    "bad-invariant",
    "bad-operator",
    "bad-specification",
    "duplicate-name",
    "missing-field",
    "missing-range",
    "missing-result",
    "misplaced-public",
    "misplaced-tuple",
    "not-a-place",
    "not-a-type",
    "not-a-value",
    "not-callable",
    "recursive-function",
    "secret-argument",
    "secret-bound",
    "secret-division",
    "secret-index",
    "secret-shift",
    "secret-value",
    "spec-only",
    "type-mismatch",
    "unknown-field",
    "unknown-module",
    "unknown-name",
    "unset-variable",
    "unused-value",
    "wrong-arguments",
];

/// Checks what no instance has checked.
pub fn check(cx: &mut Cx) {
    let world = cx.world;
    let mut found = Vec::new();
    for module in cx.own.clone() {
        found.extend(written::module(&mut scratch(cx), module, false));
        for (index, item) in world.module(module).file.items.iter().enumerate() {
            let entity = Entity { module, item: Item::Fn(index) };
            let ItemKind::Fn(f) = &item.kind else { continue };
            let first = world.module(module).items.get(&f.name.name) == Some(&entity.item);
            if first && f.body.is_some() && written::is_generic(f) && !used(cx, entity) {
                found.extend(function(cx, entity, f));
            }
        }
    }
    let bare = !world.module(world.entry).params().is_empty() && cx.own.is_empty();
    if bare {
        found.extend(written::module(&mut scratch(cx), world.entry, true));
    }
    found.into_iter().for_each(|d| cx.report(d));
}

fn used(cx: &Cx, entity: Entity) -> bool {
    cx.instances.iter().any(|(key, i)| key.entity == entity && matches!(i, Instance::Done(_)))
}

/// A context in which the modules of the entry file have the same numbers.
fn scratch<'w>(cx: &Cx<'w>) -> Cx<'w> {
    // Without a size: nothing is allocated.
    let mut own = Cx::new(cx.world);
    verified::opened(&mut own);
    own
}

type Word = (&'static str, Option<Span>, String);

/// What is said of one sample, and whether only what is sure is wrong with it.
struct Sample {
    shown: String,
    said: Vec<Diagnostic>,
    fits: bool,
}

fn word(d: &Diagnostic) -> Word {
    (d.code, d.primary.as_ref().map(|p| p.0), d.title.clone())
}

fn function(cx: &Cx, entity: Entity, f: &Function) -> Vec<Diagnostic> {
    let samples: Vec<Sample> = keys(f).into_iter().map(|generics| sample(cx, entity, f, generics)).collect();
    let fitting = samples.iter().any(|s| s.fits);
    let counted: Vec<&Sample> = samples.iter().filter(|s| s.fits || !fitting).collect();
    let Some((first, rest)) = counted.split_first() else { return Vec::new() };
    let everywhere = |d: &Diagnostic| rest.iter().all(|s| s.said.iter().any(|e| word(e) == word(d)));
    let said = first.said.iter().filter(|d| SURE.contains(&d.code) && everywhere(d));
    said.map(|d| d.clone().note(format!("checked: `{}` with sample values of its parameters, such as {}", f.name.name, first.shown))).collect()
}

/// Sample values of all parameters.
fn keys(f: &Function) -> Vec<Vec<GenericKey>> {
    let types = [Ty::Word(8), Ty::Word(32), Ty::Int(Some(Range::new(0, 255)))];
    let of = |at: usize, turn: usize| {
        let value = |(nr, kind): (usize, GenericKind)| match kind {
            GenericKind::Len => GenericKey::Len,
            GenericKind::Const => GenericKey::Const(VALUES[(at + nr * turn) % VALUES.len()].into()),
            GenericKind::Type => GenericKey::Type(types[(at + nr * turn) % types.len()].clone()),
        };
        f.generics.iter().map(|g| g.kind).enumerate().map(value).collect::<Vec<_>>()
    };
    let count = if f.generics.iter().any(|g| g.kind == GenericKind::Const) { VALUES.len() } else { types.len() };
    let mut seen = BTreeSet::new();
    (0..2).flat_map(|turn| (0..count).map(move |at| (at, turn))).map(|(at, turn)| of(at, turn)).filter(|k| seen.insert(k.clone())).collect()
}

fn sample(cx: &Cx, entity: Entity, f: &Function, generics: Vec<GenericKey>) -> Sample {
    let mut own = scratch(cx);
    let before = own.diagnostics.len();
    let shown = shown(&own, f, &generics);
    let made = own.instance(InstanceKey { entity, generics, views: Default::default() }, f.name.span);
    if made.is_some() && own.diagnostics.len() == before {
        verified::verify(&mut own);
        verified::verify_branching(&mut own);
    }
    let said: Vec<Diagnostic> = own.diagnostics.split_off(before).into_iter().filter(|d| d.severity == Severity::Error).collect();
    let fits = said.iter().all(|d| SURE.contains(&d.code));
    Sample { shown, said, fits }
}

fn shown(cx: &Cx, f: &Function, generics: &[GenericKey]) -> String {
    let value = |g: &GenericKey| match g {
        GenericKey::Const(v) => Some(v.to_string()),
        GenericKey::Type(ty) => Some(cx.show(ty)),
        GenericKey::Len => None,
    };
    let each = f.generics.iter().zip(generics).filter_map(|(g, v)| Some(format!("{} = {}", g.name.name, value(v)?)));
    each.collect::<Vec<_>>().join(", ")
}
