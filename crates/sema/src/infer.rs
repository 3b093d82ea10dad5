//! Generic parameters: what arguments say about them, and the key of an instance.

use crate::context::Cx;
use crate::entities::Entity;
use crate::keys::{GenericKey, InstanceKey};
use crate::sty::open_int;
use crate::values::{Env, Generic};
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use santoku_diag::{Diagnostic, Span};
use santoku_ir::{Len, Ty};
use santoku_syntax::ast::{BinOp, Expr, ExprKind, Function, GenericKind, Path, Type, TypeKind};

/// The generic parameter of `f` that a path names, if it has no value yet.
fn pending<'f>(env: &Env, f: &'f Function, path: &Path) -> Option<&'f santoku_syntax::ast::Generic> {
    if path.module.is_some() || env.generics.contains_key(&path.name.name) {
        return None;
    }
    f.generics.iter().find(|g| g.name.name == path.name.name)
}

/// Whether a type mentions a generic parameter without a value.
pub fn unbound_in(env: &Env, f: &Function, t: &Type) -> bool {
    match &t.kind {
        TypeKind::Named(path) => pending(env, f, path).is_some(),
        TypeKind::Array { elem, len, .. } => unbound_in(env, f, elem) || unbound_in_expr(env, f, len),
        TypeKind::Tuple(parts) => parts.iter().any(|p| unbound_in(env, f, p)),
        TypeKind::Public(inner) => unbound_in(env, f, inner),
        TypeKind::Int(Some((lo, hi))) => unbound_in_expr(env, f, lo) || unbound_in_expr(env, f, hi),
        TypeKind::Word(_) | TypeKind::Bool | TypeKind::Int(None) | TypeKind::Error => false,
    }
}

fn unbound_in_expr(env: &Env, f: &Function, e: &Expr) -> bool {
    let any = |es: &[&Expr]| es.iter().any(|e| unbound_in_expr(env, f, e));
    match &e.kind {
        ExprKind::Name(path) => pending(env, f, path).is_some(),
        ExprKind::Paren(a) | ExprKind::Un { arg: a, .. } | ExprKind::Power { exp: a, .. } => any(&[a]),
        ExprKind::Bin { lhs, rhs, .. } => any(&[lhs, rhs]),
        ExprKind::Index { base, index } => any(&[base, index]),
        ExprKind::Call { args, .. } => args.iter().any(|a| unbound_in_expr(env, f, a)),
        _ => false,
    }
}

/// Binds what a parameter's type and an argument's type together determine.
pub fn unify(cx: &mut Cx, env: &mut Env, f: &Function, t: &Type, ty: &Ty) {
    match (&t.kind, ty) {
        (TypeKind::Public(inner), _) => unify(cx, env, f, inner, ty),
        (TypeKind::Named(path), _) => {
            if let Some(g) = pending(env, f, path).filter(|g| g.kind == GenericKind::Type) {
                env.generics.insert(g.name.name.clone(), Generic::Type(ty.clone()));
            }
        }
        (TypeKind::Array { elem, len, .. }, Ty::Array { elem: found, len: length, .. }) => {
            unify(cx, env, f, elem, found);
            unify_length(cx, env, f, len, length);
        }
        _ => {}
    }
}

/// Solves `n`, `n + c`, `c + n`, `n - c` for the generic parameter `n`.
fn unify_length(cx: &mut Cx, env: &mut Env, f: &Function, e: &Expr, found: &Len) {
    match &e.kind {
        ExprKind::Paren(inner) => unify_length(cx, env, f, inner, found),
        ExprKind::Name(path) => {
            if let Some(g) = pending(env, f, path) {
                bind_length(env, &g.name.name, g.kind, found);
            }
        }
        ExprKind::Bin { op: op @ (BinOp::Add | BinOp::Sub), lhs, rhs } => {
            let (unknown, known, sign) = match (unbound_in_expr(env, f, lhs), unbound_in_expr(env, f, rhs), op) {
                (true, false, BinOp::Add) => (lhs, rhs, -1),
                (true, false, _) => (lhs, rhs, 1),
                (false, true, BinOp::Add) => (rhs, lhs, -1),
                _ => return,
            };
            let Some(c) = cx.const_int(env, known).and_then(|c| c.to_i64()) else { return };
            if let Some(len) = c.checked_mul(sign).and_then(|by| shifted(found, by)) {
                unify_length(cx, env, f, unknown, &len);
            }
        }
        _ => {}
    }
}

fn shifted(len: &Len, by: i64) -> Option<Len> {
    match len {
        Len::Const(n) => u64::try_from(i64::try_from(*n).ok()?.checked_add(by)?).ok().map(Len::Const),
        Len::Param { param, add } => Some(Len::Param { param: *param, add: add.checked_add(by)? }),
    }
}

fn bind_length(env: &mut Env, name: &str, kind: GenericKind, found: &Len) {
    match (kind, found) {
        (GenericKind::Len, len) => {
            env.generics.insert(name.to_string(), Generic::Len(len.clone()));
        }
        (GenericKind::Const, Len::Const(n)) => {
            env.generics.insert(name.to_string(), Generic::Const(BigInt::from(*n)));
        }
        _ => {}
    }
}

/// Every generic parameter must have a value by now.
pub fn instance_key(cx: &mut Cx, entity: Entity, f: &Function, env: &Env, span: Span) -> Option<InstanceKey> {
    let mut generics = Vec::new();
    for g in &f.generics {
        let name = &g.name.name;
        let key = match (g.kind, env.generics.get(name)) {
            (GenericKind::Len, Some(Generic::Len(_))) => GenericKey::Len,
            (GenericKind::Const, Some(Generic::Const(v))) => GenericKey::Const(v.clone()),
            (GenericKind::Type, Some(Generic::Type(ty))) if open_int(ty) => {
                let title = format!("`{name}` would be `int` without a range");
                return cx.fail(
                    Diagnostic::error("missing-range", title)
                        .at(span, "the type argument has no range")
                        .help(format!("give it: `{}::<int in a..b>(..)`, or declare the variable's range", f.name.name)),
                );
            }
            (GenericKind::Type, Some(Generic::Type(ty))) if !runtime_length(ty) => GenericKey::Type(ty.clone()),
            (GenericKind::Type, Some(Generic::Type(_))) => {
                return cx.fail(
                    Diagnostic::error("bad-type-argument", format!("`{name}` would be an array of run-time length"))
                        .at(span, "type arguments need a constant size")
                        .help("use a `len` parameter: `fn f<n: len>(x: [u8; n])`"),
                )
            }
            _ => {
                return cx.fail(
                    Diagnostic::error("cannot-infer", format!("cannot infer `{name}` of `{}`", f.name.name))
                        .at(span, "the arguments do not determine it")
                        .help(format!("give it explicitly: `{}::<..>(..)`", f.name.name)),
                )
            }
        };
        generics.push(key);
    }
    Some(InstanceKey { entity, generics, views: Default::default() })
}

fn runtime_length(ty: &Ty) -> bool {
    match ty {
        Ty::Array { elem, len, .. } => matches!(len, Len::Param { .. }) || runtime_length(elem),
        Ty::Word(_) | Ty::Int(_) | Ty::Bool | Ty::Struct(_) => false,
    }
}
