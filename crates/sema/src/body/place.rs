//! Places: variables, constants and their parts.

use crate::secrecy::Need;
use super::context::{bare, Binding, FnCx, Val};
use num_traits::{Signed, ToPrimitive};
use santoku_diag::{Diagnostic, Span};
use santoku_ir::{Expr, Len, Place, Proj, Ty};
use santoku_syntax::ast::{self, ExprKind, Ident};

impl FnCx<'_, '_> {
    /// The place an expression denotes, with its declared type; a value that is no place is first put into a
    /// temporary.
    pub fn place(&mut self, e: &ast::Expr) -> Option<(Place, Ty)> {
        if let Some(found) = self.place_or_none(e)? {
            return Some(found);
        }
        let one = self.one(e, None)?;
        if let Some(place) = one.expr.as_read() {
            return Some((place.clone(), one.ty));
        }
        let id = self.temp(&one.ty, e.span);
        self.assign(Place::local(id), one.expr, e.span);
        Some((Place::local(id), one.ty))
    }

    /// The same without a temporary: `Some(None)` where the expression is no place.
    pub fn place_or_none(&mut self, e: &ast::Expr) -> Option<Option<(Place, Ty)>> {
        match &e.kind {
            ExprKind::Paren(inner) => self.place_or_none(inner),
            ExprKind::Name(path) if path.module.is_none() && self.is_ghost_name(&path.name.name) => self.ghost_in_code(&path.name.name, e.span),
            ExprKind::Name(_) | ExprKind::TupleField { .. } => match self.named_binding(e) {
                Some(Binding::Local(id)) => Some(Some((Place::local(id), self.locals[id.0 as usize].ty.clone()))),
                Some(Binding::View(_)) => Some(None),
                Some(Binding::Poison) => None,
                Some(Binding::Tuple(_)) => self.misplaced_tuple(e.span),
                None => Some(None),
            },
            ExprKind::Index { base, index } => {
                if let Some(view) = self.view_of(base)? {
                    let i = self.public_int(index, Need::Index)?;
                    return Some(Some(self.in_view(&view, i, None, index.span)));
                }
                let (place, ty) = self.place(base)?;
                self.index(place, &ty, index).map(Some)
            }
            ExprKind::Slice { .. } if self.is_long_slice(e) => Some(None),
            ExprKind::Slice { base, off, len } => {
                if let Some(view) = self.view_of(base)? {
                    let start = self.public_int(off, Need::Index)?;
                    let k = self.slice_length(len)?;
                    return Some(Some(self.in_view(&view, start, Some(k), off.span)));
                }
                let (place, ty) = self.place(base)?;
                self.slice(place, &ty, off, len).map(Some)
            }
            ExprKind::Field { base, field } => {
                let (place, ty) = self.place(base)?;
                self.field(place, &ty, field, base.span).map(Some)
            }
            _ => Some(None),
        }
    }

    fn project(&mut self, mut place: Place, ty: &Ty, proj: Proj) -> Option<(Place, Ty)> {
        let result = self.scope().project(ty, &proj)?;
        place.projs.push(proj);
        Some((place, result))
    }

    fn index(&mut self, place: Place, ty: &Ty, index: &ast::Expr) -> Option<(Place, Ty)> {
        let Ty::Array { len, .. } = ty else { return self.not_indexed(ty, index.span) };
        let i = self.public_int(index, Need::Index)?;
        if let (Some(v), Len::Const(n)) = (i.as_const(), len) {
            if v.is_negative() || v.to_u64().is_none_or(|v| v >= *n) {
                let v = v.clone();
                return self.cx.outside(&v, *n, index.span);
            }
        }
        self.project(place, ty, Proj::Index(i))
    }

    pub fn not_indexed<T>(&mut self, ty: &Ty, span: Span) -> Option<T> {
        let found = self.cx.show(ty);
        self.fail(
            Diagnostic::error("type-mismatch", format!("{found} cannot be indexed"))
                .at(span, "index on something that is no array")
                .help("bits of a word are taken with shifts: `(x >> i) & 1`"),
        )
    }

    fn slice(&mut self, place: Place, ty: &Ty, off: &ast::Expr, len: &ast::Expr) -> Option<(Place, Ty)> {
        let Ty::Array { len: total, .. } = ty else { return self.not_indexed(ty, off.span) };
        let start = self.public_int(off, Need::Index)?;
        let k = self.slice_length(len)?;
        if let Len::Const(n) = total {
            let end = start.as_const().map_or_else(|| k.into(), |s| s + k);
            let negative = start.as_const().is_some_and(Signed::is_negative);
            if negative || end.to_u64().is_none_or(|e| e > *n) {
                return self.cx.outside(&(end - 1), *n, off.span.to(len.span));
            }
        }
        self.project(place, ty, Proj::Slice { off: start, len: k })
    }

    /// The constant length of a slice.
    fn slice_length(&mut self, len: &ast::Expr) -> Option<u64> {
        let count = self.const_int(len)?;
        match count.to_u64().filter(|k| *k <= crate::limits::ARRAY_ELEMENTS) {
            None => self.cx.outside(&count, 0, len.span),
            some => some,
        }
    }

    fn field(&mut self, place: Place, ty: &Ty, field: &Ident, span: Span) -> Option<(Place, Ty)> {
        let Ty::Struct(id) = ty else {
            let found = self.cx.show(ty);
            return self.fail(
                Diagnostic::error("type-mismatch", format!("{found} has no fields"))
                    .at(span, format!("this is {found}"))
                    .help("only structs have fields; arrays are indexed with `x[i]`"),
            );
        };
        let names: Vec<String> = self.cx.program.structs[id.0 as usize].fields.iter().map(|f| f.0.clone()).collect();
        match names.iter().position(|n| *n == field.name) {
            Some(i) => self.project(place, ty, Proj::Field(i as u32)),
            None => self.cx.unknown_field(&names, field),
        }
    }

    /// A place that may be assigned: a part of a `var`.
    pub fn assignable(&mut self, e: &ast::Expr) -> Option<(Place, Ty)> {
        let Some(name) = root_name(e) else {
            return self.fail(
                Diagnostic::error("not-a-place", "this cannot be assigned to")
                    .at(e.span, "a value, not a place")
                    .help("places are a `var` and its parts: `x`, `x[i]`, `x.f`, `x[off; k]`"),
            );
        };
        let Some(variable) = self.variable(&name.name).cloned() else {
            let _: Option<Val> = self.value(e, None);
            return self.fail(
                Diagnostic::error("not-a-place", format!("`{}` cannot be assigned to", name.name))
                    .at(name.span, "not a variable")
                    .help("only a `var` can be assigned"),
            );
        };
        if let (false, Binding::Local(_) | Binding::Tuple(_) | Binding::View(_)) = (variable.mutable, &variable.binding) {
            return self.fail(
                Diagnostic::error("assign-to-immutable", format!("`{}` cannot be assigned to", name.name))
                    .at(name.span, "assigned here")
                    .also(variable.span, "declared without `var`")
                    .help(format!("copy it into a variable first: `var {0} = {0}`", name.name)),
            );
        }
        if self.is_long_slice(e) {
            return self.fail(
                Diagnostic::error("not-a-place", "a slice of run-time length is assigned as a whole")
                    .at(e.span, "as long as is known at run time only")
                    .help("write `x[off; k] = value`, or a loop over its elements"),
            );
        }
        let found = self.place(e)?;
        if let Some(id) = crate::draft::root(&found.0) {
            if id.0 < self.frozen {
                return self.fail(
                    Diagnostic::error("assign-in-expression", format!("`{}` is assigned inside an expression", name.name))
                        .at(name.span, "declared outside this `if` expression")
                        .help("write the `if` as a statement, or assign its value: `x = if c { a } else { b }`"),
                );
            }
        }
        Some(found)
    }

    /// A temporary without projections that holds this value, if it is one: a `let` can adopt it.
    pub fn fresh_temp(&self, e: &Expr) -> Option<santoku_ir::LocalId> {
        let place = e.as_read().filter(|p| p.projs.is_empty())?;
        crate::draft::root(place).filter(|id| self.facts[id.0 as usize].temp)
    }
}

/// The variable at the root of a place expression.
pub fn root_name(e: &ast::Expr) -> Option<&Ident> {
    match &bare(e).kind {
        ExprKind::Name(path) if path.module.is_none() => Some(&path.name),
        ExprKind::Index { base, .. }
        | ExprKind::Slice { base, .. }
        | ExprKind::Field { base, .. }
        | ExprKind::TupleField { base, .. } => root_name(base),
        _ => None,
    }
}
