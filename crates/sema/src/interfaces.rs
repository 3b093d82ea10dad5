//! Interfaces: an implementation defines every member, with the same shapes.

use crate::consts::{Env, Generic};
use crate::context::Cx;
use crate::modules::ModId;
use crate::names::Item;
use crate::types::STy;
use santoku_diag::{Diagnostic, Span};
use santoku_ir::{Len, LocalId, Ty};
use santoku_syntax::ast::{Function, GenericKind, Ident, Interface, SpecFunction};

/// Checks a module that implements an interface; modules without one pass.
pub fn check(cx: &mut Cx, module: ModId) {
    let world = cx.world;
    let m = world.module(module);
    let Some(declared) = m.implements.and_then(|id| world.module(id).interface()) else { return };
    let place = m.file.items.first().map_or(declared.name.span, |i| i.span);
    let check = Check { module, interface: declared, place };
    for ty in &declared.types {
        check.member(cx, ty, "type", |i| matches!(i, Item::Type(_) | Item::Struct(_)));
    }
    for f in declared.specs.iter().filter(|f| f.body.is_none()) {
        if check.member(cx, &f.name, "spec fn", |i| matches!(i, Item::Spec(_))) {
            check.spec(cx, f);
        }
    }
    for f in &declared.fns {
        if check.member(cx, &f.name, "fn", |i| matches!(i, Item::Fn(_))) {
            check.function(cx, f);
        }
    }
}

struct Check<'w> {
    module: ModId,
    interface: &'w Interface,
    /// The `implements` line.
    place: Span,
}

impl Check<'_> {
    /// Whether the implementation defines a member of the right kind.
    fn member(&self, cx: &mut Cx, name: &Ident, noun: &str, right: fn(Item) -> bool) -> bool {
        let found = cx.world.module(self.module).items.get(&name.name).copied();
        if found.is_some_and(right) {
            return true;
        }
        let interface = &self.interface.name.name;
        cx.report(
            Diagnostic::error("missing-member", format!("`{noun} {}` of interface `{interface}` is not defined", name.name))
                .at(self.place, "this implementation is incomplete")
                .also(name.span, "declared in the interface")
                .help(format!("define `{noun} {}` in this file", name.name)),
        );
        false
    }

    fn spec(&self, cx: &mut Cx, declared: &SpecFunction) {
        let world = cx.world;
        let own = world.lookup(self.module, &declared.name.name).and_then(|e| world.spec_function(e));
        let Some(own) = own else { return };
        if own.params.len() != declared.params.len() {
            self.differs(cx, &own.name, &declared.name, "the numbers of parameters differ");
        }
    }

    fn differs(&self, cx: &mut Cx, own: &Ident, declared: &Ident, why: &str) {
        cx.report(
            Diagnostic::error("interface-mismatch", format!("`{}` differs from its interface", own.name))
                .at(own.span, why)
                .also(declared.span, "declared in the interface")
                .help("give it the parameters and result of the interface"),
        );
    }

    fn function(&self, cx: &mut Cx, declared: &Function) {
        let world = cx.world;
        let own = world.lookup(self.module, &declared.name.name).and_then(|e| world.function(e));
        let Some(own) = own else { return };
        let kinds = |f: &Function| f.generics.iter().map(|g| g.kind).collect::<Vec<_>>();
        if kinds(own) != kinds(declared) {
            return self.differs(cx, &own.name, &declared.name, "the generic parameters differ");
        }
        if own.params.len() != declared.params.len() {
            return self.differs(cx, &own.name, &declared.name, "the numbers of parameters differ");
        }
        if kinds(own).iter().any(|k| *k != GenericKind::Len) {
            return;
        }
        let (mut a, mut b) = (self.env(cx, own), self.env(cx, declared));
        for (p, q) in own.params.iter().zip(&declared.params) {
            let pair = (cx.one_type(&mut a, &p.ty), cx.one_type(&mut b, &q.ty));
            let (Some((ty, public)), Some((wanted, wanted_public))) = pair else { return };
            let why = format!("parameter `{}` has another type", p.name.name);
            if public != wanted_public {
                return self.differs(cx, &own.name, &declared.name, &format!("parameter `{}` differs in `public`", p.name.name));
            }
            if !ty.same_shape(&wanted) || !within(&wanted, &ty) {
                return self.differs(cx, &own.name, &declared.name, &why);
            }
        }
        if let (Some(p), Some(q)) = (&own.ret, &declared.ret) {
            let (Some(ty), Some(wanted)) = (cx.any_type(&mut a, p), cx.any_type(&mut b, q)) else { return };
            if !result_fits(&ty, &wanted) {
                self.differs(cx, &own.name, &declared.name, "the result has another type");
            }
        }
    }

    /// The implementation's names; lengths by position.
    fn env(&self, cx: &Cx, f: &Function) -> Env {
        let mut env = cx.env(self.module);
        for (i, g) in f.generics.iter().enumerate() {
            let len = Len::Param { param: LocalId(i as u32), add: 0 };
            env.generics.insert(g.name.name.clone(), Generic::Len(len));
        }
        env
    }
}

fn result_fits(own: &STy, declared: &STy) -> bool {
    match (own, declared) {
        (STy::One { ty: a, public: p }, STy::One { ty: b, public: q }) => a.same_shape(b) && within(a, b) && (*p || !*q),
        (STy::Tuple(xs), STy::Tuple(ys)) => xs.len() == ys.len() && xs.iter().zip(ys).all(|(x, y)| result_fits(x, y)),
        _ => false,
    }
}

/// Whether every value of `a` is one of `b`, for types of one shape. No range: not yet known, taken as fitting
/// only where the other has none either.
fn within(a: &Ty, b: &Ty) -> bool {
    match (a, b) {
        (_, Ty::Int(None)) => true,
        (Ty::Int(Some(x)), Ty::Int(Some(y))) => y.contains(x),
        (Ty::Int(None), Ty::Int(Some(_))) => false,
        (Ty::Array { elem: x, ranges: Some(r), .. }, Ty::Array { ranges: Some(s), elem: y, .. }) => {
            within(x, y) && r.iter().zip(s).all(|(r, s)| s.contains(r))
        }
        (Ty::Array { elem: x, .. }, Ty::Array { elem: y, ranges: None, .. }) => within(x, y),
        (Ty::Array { elem: x, .. }, Ty::Array { ranges: Some(s), .. }) => {
            s.iter().all(|s| within(x, &Ty::Int(Some(s.clone()))))
        }
        _ => true,
    }
}
