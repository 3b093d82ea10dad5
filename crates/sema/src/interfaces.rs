//! Interfaces: an implementation defines every member, with the same shapes.

use crate::context::Cx;
use crate::entities::Entity;
use crate::modules::ModId;
use crate::names::Item;
use crate::sty::STy;
use crate::values::{Env, Generic};
use santoku_diag::{Diagnostic, Span};
use santoku_ir::{Len, LocalId, Ty};
use santoku_syntax::ast::{Function, GenericKind, Ident, Interface, SpecFunction};

/// Checks a module that implements an interface; modules without one pass.
pub fn check(cx: &mut Cx, module: ModId) {
    let world = cx.world;
    let m = world.module(module);
    for id in world.interfaces(m.implements) {
        let Some(interface) = world.module(id).interface() else { continue };
        let place = m.file.items.first().map_or(interface.name.span, |i| i.span);
        let check = Check { module, interface, declared: id, place };
        check.members(cx);
    }
}

struct Check<'w> {
    module: ModId,
    interface: &'w Interface,
    /// The interface's module.
    declared: ModId,
    /// The `implements` line.
    place: Span,
}

impl Check<'_> {
    fn members(&self, cx: &mut Cx) {
        for name in &self.interface.consts {
            self.constant(cx, name);
        }
        for ty in &self.interface.types {
            self.member(cx, ty, "type", |i| matches!(i, Item::Type(_) | Item::Struct(_)));
        }
        for f in &self.interface.const_fns {
            let own = self.member(cx, &f.name, "const fn", |i| matches!(i, Item::ConstFn(_)));
            let own = own.and_then(|e| cx.world.const_function(e));
            if let Some(own) = own.filter(|own| own.params.len() != f.params.len()) {
                self.differs(cx, &own.name, &f.name, "the numbers of parameters differ");
            }
        }
        for f in self.interface.specs.iter().filter(|f| f.body.is_none()) {
            if self.member(cx, &f.name, "spec fn", |i| matches!(i, Item::Spec(_))).is_some() {
                self.spec(cx, f);
            }
        }
        for f in &self.interface.fns {
            if let Some(own) = self.member(cx, &f.name, "fn", |i| matches!(i, Item::Fn(_))) {
                self.inherits(cx, f, own);
                self.function(cx, f, own);
            }
        }
    }

    /// A constant stands in the implementation, or in an interface that extends this one; where in both, it is one value.
    fn constant(&self, cx: &mut Cx, name: &Ident) {
        let world = cx.world;
        let interfaces = world.interfaces(world.module(self.module).implements);
        let above = interfaces.into_iter().find_map(|id| {
            let item = *world.module(id).items.get(&name.name)?;
            matches!(item, Item::Const(_)).then_some(Entity { module: id, item })
        });
        let own = cx.defined(self.module, &name.name).filter(|e| world.is_constant(*e));
        match (own, above) {
            (None, None) => self.missing(cx, name, "const"),
            (Some(own), Some(above)) => {
                let values = (cx.constant(own, name.span), cx.constant(above, name.span));
                let (Some(a), Some(b)) = values else { return };
                if a.1 != b.1 {
                    let place = world.constant_name(above).map_or(name.span, |n| n.span);
                    let title = format!("`{}` has another value than in its interface", name.name);
                    cx.report(
                        Diagnostic::error("interface-mismatch", title)
                            .at(self.place, "this implementation has another value")
                            .also(place, "the value of the interface")
                            .help(format!("pass the interface's constant on: `{} = {}`", name.name, name.name)),
                    );
                }
            }
            _ => {}
        }
    }

    /// The implementation's definition of a member, if it is of the right kind.
    fn member(&self, cx: &mut Cx, name: &Ident, noun: &str, right: fn(Item) -> bool) -> Option<Entity> {
        let found = cx.defined(self.module, &name.name).filter(|e| right(e.item));
        if found.is_none() {
            self.missing(cx, name, noun);
        }
        found
    }

    fn missing(&self, cx: &mut Cx, name: &Ident, noun: &str) {
        let interface = &self.interface.name.name;
        cx.report(
            Diagnostic::error("missing-member", format!("`{noun} {}` of interface `{interface}` is not defined", name.name))
                .at(self.place, "this implementation is incomplete")
                .also(name.span, "declared in the interface")
                .help(format!("define `{noun} {}` in this file", name.name)),
        );
    }

    /// A function of an instance that the file stands for must have been proved against the contracts of this interface:
    /// its module implements the interface as well.
    fn inherits(&self, cx: &mut Cx, declared: &Function, own: Entity) {
        let world = cx.world;
        let promised = world.interfaces(world.module(own.module).implements);
        if own.module == self.module || promised.contains(&self.declared) || declared.contracts.is_empty() {
            return;
        }
        let (there, here) = (cx.module_name(own.module).to_string(), cx.module_name(self.declared).to_string());
        cx.report(
            Diagnostic::error("interface-mismatch", format!("`{}` is not bound by the contracts of its interface", declared.name.name))
                .at(self.place, format!("it comes from `{there}`, which does not implement `{here}`"))
                .also(declared.name.span, "declared with contracts")
                .help(format!("begin that module with `implements {here}`, or define a function here that calls it")),
        );
    }

    fn spec(&self, cx: &mut Cx, declared: &SpecFunction) {
        let world = cx.world;
        let own = cx.lookup(self.module, &declared.name.name).and_then(|e| world.spec_function(e));
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

    fn function(&self, cx: &mut Cx, declared: &Function, entity: Entity) {
        let world = cx.world;
        let Some(own) = world.function(entity) else { return };
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
        let (mut a, mut b) = (self.env(cx, entity.module, own), self.env(cx, self.module, declared));
        for (g, h) in own.generics.iter().zip(&declared.generics) {
            let (Some(takes), Some(wanted)) = (cx.length_range(&mut a, g), cx.length_range(&mut b, h)) else { return };
            if !takes.contains(&wanted) {
                let why = format!("the length `{}` has narrower bounds", g.name.name);
                return self.differs(cx, &own.name, &declared.name, &why);
            }
        }
        for (p, q) in own.params.iter().zip(&declared.params) {
            let pair = (cx.one_type(&mut a, &p.ty), cx.one_type(&mut b, &q.ty));
            let (Some((ty, public)), Some((wanted, wanted_public))) = pair else { return };
            let why = format!("parameter `{}` has another type", p.name.name);
            // What takes secrets takes public values too, and then gives public ones.
            if public && !wanted_public {
                return self.differs(cx, &own.name, &declared.name, &format!("parameter `{}` is public here, and secrets may be given to it", p.name.name));
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
    fn env(&self, cx: &Cx, module: ModId, f: &Function) -> Env {
        let mut env = cx.env(module);
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
