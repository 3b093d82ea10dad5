//! Slices of run-time length.
//!
//! The core slices by constant lengths alone. A longer or shorter slice is a view: an array, an offset and a length.
//! A function that is given a view is lowered for it: its parameter is the whole array, and the offset another
//! parameter, with `offset + length <= length of the array` required of callers. Where a view is needed as a value of
//! its own, its elements are copied.

use crate::draft::{find_read, root, Draft, LoopHead};
use crate::keys::Backing;
use crate::limits;
use crate::secrecy::Need;
use crate::spec::lies_inside;
use super::context::{bare, Binding, FnCx, One, View};
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};
use santoku_diag::{Diagnostic, Span};
use santoku_ir::{BinOp, CmpOp, Contract, ContractKind, Expr, ExprKind as Core, Len, LocalId, LocalKind, Place, Proj, Ty, Unroll};
use santoku_syntax::ast::{self, ExprKind};

impl FnCx<'_, '_> {
    /// The view that an expression is, if it is one.
    pub fn view_of(&mut self, e: &ast::Expr) -> Option<Option<View>> {
        match &bare(e).kind {
            ExprKind::Name(path) if path.module.is_none() => Some(match self.variable(&path.name.name).map(|v| &v.binding) {
                Some(Binding::View(view)) => Some((**view).clone()),
                _ => None,
            }),
            ExprKind::Slice { base, off, len } if self.is_long_slice(e) => {
                self.sliced(base, off, len, e.span).map(Some)
            }
            _ => Some(None),
        }
    }

    fn sliced(&mut self, base: &ast::Expr, off: &ast::Expr, len: &ast::Expr, span: Span) -> Option<View> {
        let of = match self.view_of(base)? {
            Some(view) => view,
            None => {
                let (place, ty) = self.place(base)?;
                let Ty::Array { elem, len, .. } = ty else { return self.not_indexed(&ty, off.span) };
                View { base: place, total: len.clone(), elem: *elem, at: Expr::int(0), len, param: false }
            }
        };
        let start = self.public_int(off, Need::Index)?;
        let count = self.public_int(len, Need::Index)?;
        let count = self.as_length(count, len.span);
        let text = self.cx.text(span);
        let whole = self.cx.text(base.span);
        let text = format!("{text} lies inside {whole}");
        self.inside(&start, &count, &of.len, &text, span);
        Some(View { at: sum(of.at, start), len: count, param: false, ..of })
    }

    /// A length as its value at this place.
    fn as_length(&mut self, e: Expr, span: Span) -> Len {
        let of = |e: &Expr| e.as_read().filter(|p| p.projs.is_empty()).and_then(root);
        let linear = match &e.kind {
            Core::Read(_) => of(&e).map(|id| (id, BigInt::from(0))),
            Core::Bin(op @ (BinOp::Add | BinOp::Sub), a, b) => of(a).zip(b.as_const()).map(|(id, c)| (id, if *op == BinOp::Add { c.clone() } else { -c })),
            _ => None,
        };
        if let Some((param, add)) = linear.filter(|l| self.is_settled(l.0)).and_then(|(id, c)| Some((id, c.to_i64()?))) {
            return Len::Param { param, add };
        }
        // What has the same text and reads nothing that changes is the same length.
        let key = format!(" {e:?}");
        if let Some(Binding::Local(id)) = self.variable(&key).map(|v| &v.binding) {
            return Len::Param { param: *id, add: 0 };
        }
        let steady = self.is_steady(&e);
        let id = self.held(e, span);
        if steady {
            self.bind(&key, Binding::Local(id), false, span);
        }
        Len::Param { param: id, add: 0 }
    }

    /// Whether an expression has one value for as long as its names are in scope.
    fn is_steady(&self, e: &Expr) -> bool {
        find_read(e, &mut |id| !self.is_settled(id)).is_none()
    }

    /// A parameter, a length, or what a name stands for that cannot be assigned.
    fn is_settled(&self, id: LocalId) -> bool {
        if matches!(self.locals[id.0 as usize].kind, LocalKind::Param | LocalKind::Len) {
            return true;
        }
        let own = |v: &super::context::Variable| matches!(v.binding, Binding::Local(other) if other == id);
        let mut all = self.scopes.iter().flat_map(|s| s.values()).filter(|v| own(v)).peekable();
        all.peek().is_some() && all.all(|v| !v.mutable)
    }

    /// Claims that `count` elements from `start` are among `len` elements, as far as that is not evident.
    fn inside(&mut self, start: &Expr, count: &Len, len: &Len, text: &str, span: Span) {
        let number = self.len_value(count).expr;
        let claims = [
            (!self.is_natural(start)).then(|| Expr::cmp(CmpOp::Ge, start.clone(), Expr::int(0))),
            (!self.is_natural(&number)).then(|| Expr::cmp(CmpOp::Ge, number.clone(), Expr::int(0))),
            (!fits(start, count, len)).then(|| Expr::cmp(CmpOp::Le, sum(start.clone(), number.clone()), self.len_value(len).expr)),
        ];
        for cond in claims.into_iter().flatten() {
            self.out.push(Draft::Assert { cond, text: text.to_string(), span });
        }
    }

    /// Seen not to be negative.
    fn is_natural(&self, e: &Expr) -> bool {
        match &e.kind {
            Core::Const(v) => !v.is_negative(),
            Core::Read(p) => p.projs.is_empty() && root(p).is_some_and(|id| self.locals[id.0 as usize].kind == LocalKind::Len),
            Core::Bin(BinOp::Add | BinOp::Mul, a, b) => self.is_natural(a) && self.is_natural(b),
            Core::Bin(BinOp::Div | BinOp::Mod, a, _) => self.is_natural(a),
            _ => false,
        }
    }

    /// The place of `count` elements of a view from an index: one by its index, several as a slice.
    pub fn in_view(&mut self, view: &View, index: Expr, count: Option<u64>, span: Span) -> (Place, Ty) {
        if !view.param {
            let text = self.cx.text(span);
            let text = format!("{text} is an index of the slice");
            self.inside(&index, &Len::Const(count.unwrap_or(1)), &view.len, &text, span);
        }
        let at = sum(view.at.clone(), index);
        let mut place = view.base.clone();
        let ty = match count {
            None => view.elem.clone(),
            Some(n) => Ty::Array { elem: Box::new(view.elem.clone()), len: Len::Const(n), ranges: None },
        };
        place.projs.push(count.map_or_else(|| Proj::Index(at.clone()), |len| Proj::Slice { off: at.clone(), len }));
        (place, ty)
    }

    /// The array of a view, and the index in it of a word of so many bytes.
    pub fn word_in_view(&mut self, view: &View, index: Expr, bytes: u32, span: Span) -> (Place, Expr) {
        let (mut place, _) = self.in_view(view, index, Some(bytes.into()), span);
        let at = match place.projs.pop() {
            Some(Proj::Slice { off, .. }) => off,
            _ => Expr::int(0),
        };
        (place, at)
    }

    /// The elements as a value of their own.
    pub fn copied(&mut self, view: &View, span: Span) -> Option<One> {
        self.has_place(&view.len, span)?;
        let id = self.temp(&view.ty(), span);
        self.copy(view, &Place::local(id), &Expr::int(0), span);
        Some(self.read_local(id))
    }

    /// Writes the elements to `to`, from index `from` on.
    pub fn copy(&mut self, view: &View, to: &Place, from: &Expr, span: Span) {
        // The loop must not change where it reads and writes.
        let [first, from] = [&view.at, from].map(|e| if self.is_steady(e) { e.clone() } else { self.held_int(e.clone(), span) });
        let counter = self.local("i", Ty::Int(None), LocalKind::Counter, span);
        let i = Expr::int_local(counter);
        let source = view.base.clone().index(sum(first, i.clone()));
        let src = Expr::read(source, &view.elem);
        let (body, ()) = self.block(|b| b.assign(to.clone().index(sum(from, i)), src, span));
        let hi = self.len_value(&view.len).expr;
        let head = LoopHead { var: counter, lo: Expr::int(0), hi, rev: false, unroll: Unroll::Auto, invariants: vec![] };
        self.out.push(Draft::For { head: Box::new(head), body, span });
    }

    /// Whether arrays of this length can be declared.
    pub fn has_place(&mut self, len: &Len, span: Span) -> Option<()> {
        match len {
            Len::Param { param, .. } if self.locals[param.0 as usize].kind != LocalKind::Len => self.fail(
                Diagnostic::error("bad-length", "an array of this length has no place")
                    .at(span, "as long as a value that is known at run time only")
                    .help("lengths of arrays are constants, or a `len` parameter plus a constant; give the slice to a function with a `len` parameter, or copy it in a loop"),
            ),
            _ => Some(()),
        }
    }

    /// Whether two types are arrays of lengths that are known at run time only, and not seen to be equal.
    pub fn of_unlike_lengths(&self, a: &Ty, b: &Ty) -> bool {
        let own = |t: &Ty| matches!(t, Ty::Array { len: Len::Param { param, .. }, .. } if self.locals[param.0 as usize].kind != LocalKind::Len);
        matches!((a, b), (Ty::Array { len: m, .. }, Ty::Array { len: n, .. }) if m != n) && (own(a) || own(b))
    }

    /// Arrays whose length is no length of the function.
    pub fn all_have_place(&mut self) -> Option<()> {
        let mut ok = Some(());
        for i in 0..self.locals.len() {
            if let Ty::Array { len, .. } = &self.locals[i].ty {
                let (len, span) = (len.clone(), self.facts[i].span);
                ok = self.has_place(&len, span).and(ok);
            }
        }
        ok
    }

    /// `let v = x[a; k]` names the elements, where nothing can change them.
    pub fn named_view(&mut self, name: &ast::Ident, value: &ast::Expr) -> Option<bool> {
        let Some(view) = self.view_of(value)? else { return Some(false) };
        if !self.is_steady(&Expr::read(view.base.clone(), &view.base_ty())) {
            let one = self.copied(&view, value.span)?;
            self.name_value_as(super::context::Val::One(one), name, false)?;
            return Some(true);
        }
        let at = match view.at.as_const() {
            Some(_) => view.at.clone(),
            None => self.held_int(view.at.clone(), name.span),
        };
        self.bind(&name.name, Binding::View(std::rc::Rc::new(View { at, ..view })), false, name.span);
        Some(true)
    }

    /// Whether what is assigned to is a slice of run-time length.
    pub fn is_long_slice(&mut self, target: &ast::Expr) -> bool {
        matches!(&bare(target).kind, ExprKind::Slice { len, .. } if !self.is_constant(len, &mut Vec::new()))
    }

    /// `x[off; k] = value`
    pub fn store_slice(&mut self, target: &ast::Expr, value: &ast::Expr, span: Span) -> Option<()> {
        let mut whole = bare(target);
        while let ExprKind::Slice { base, .. } = &whole.kind {
            whole = bare(base);
        }
        self.assignable(whole)?;
        let Some(to) = self.view_of(target)? else { return None };
        let source = match self.view_of(value)? {
            Some(view) if root(&view.base) == root(&to.base) => {
                let one = self.copied(&view, value.span)?;
                self.as_view(one, value.span)?
            }
            Some(view) => view,
            None => {
                let hint = Ty::Array { elem: Box::new(to.elem.clone()), len: to.len.clone(), ranges: None };
                let one = self.one(value, Some(&hint))?;
                let one = match one.expr.as_read() {
                    Some(p) if root(p) != root(&to.base) => one,
                    _ => match self.hold(super::context::Val::One(one), value.span) {
                        super::context::Val::One(one) => one,
                        super::context::Val::Tuple(_) => return None,
                    },
                };
                self.as_view(one, value.span)?
            }
        };
        let (have, want) = (source.ty(), to.ty());
        if !have.same_shape(&want) {
            return self.mismatch(&have, &want, value.span);
        }
        self.copy(&source, &to.base, &to.at, span);
        Some(())
    }

    /// An array as the view of all its elements.
    fn as_view(&mut self, one: One, span: Span) -> Option<View> {
        let Ty::Array { elem, len, .. } = &one.ty else { return self.not_indexed(&one.ty, span) };
        let base = one.expr.as_read()?.clone();
        Some(View { base, total: len.clone(), elem: (**elem).clone(), at: Expr::int(0), len: len.clone(), param: false })
    }

    /// What callers keep of the slices that they give.
    pub fn slices_inside(&self, f: &ast::Function) -> Vec<Contract> {
        let each = f.params.iter().filter_map(|p| {
            let Binding::View(view) = &self.scopes[0].get(&p.name.name)?.binding else { return None };
            let at = view.at.as_read().and_then(root)?;
            let text = format!("the slice that is given for `{}` lies inside its array", p.name.name);
            Some(Contract { kind: ContractKind::Requires, cond: lies_inside(at, &view.len, &view.total), text, loc: self.cx.loc(p.name.span) })
        });
        each.collect()
    }

    /// The parameter that a view is given for: the whole array, and the offset.
    pub fn view_param(&mut self, name: &ast::Ident, ty: &Ty, backing: Backing, lens: &mut Vec<LocalId>) -> Option<(LocalId, LocalId)> {
        let Ty::Array { elem, len, .. } = ty else { return None };
        let total = match backing {
            Backing::Const(n) => Len::Const(n),
            Backing::Length(add) => {
                let range = santoku_ir::Range::new(0, limits::RUNTIME_LENGTH);
                let id = self.local(&format!("{}_whole", name.name), Ty::Int(Some(range)), LocalKind::Len, name.span);
                lens.push(id);
                Len::Param { param: id, add }
            }
        };
        let whole = Ty::Array { elem: elem.clone(), len: total.clone(), ranges: None };
        let base = self.local(&name.name, whole, LocalKind::Param, name.span);
        let range = santoku_ir::Range::new(0, limits::RUNTIME_LENGTH);
        let at = self.local(&format!("{}_at", name.name), Ty::Int(Some(range)), LocalKind::Param, name.span);
        self.locals[at.0 as usize].public = true;
        let view = View { base: Place::local(base), total, elem: (**elem).clone(), at: Expr::int_local(at), len: len.clone(), param: true };
        self.bind(&name.name, Binding::View(std::rc::Rc::new(view)), false, name.span);
        Some((base, at))
    }
}

/// Whether a parameter's type leaves the length to a `len` parameter.
pub fn takes_length(f: &ast::Function, t: &ast::Type) -> bool {
    match &t.kind {
        ast::TypeKind::Public(inner) => takes_length(f, inner),
        ast::TypeKind::Array { len, .. } => f.generics.iter().any(|g| g.kind == ast::GenericKind::Len && super::build::mentions(len, &g.name.name)),
        _ => false,
    }
}

/// Seen to be so: `start + count <= len`.
fn fits(start: &Expr, count: &Len, len: &Len) -> bool {
    let Some(start) = start.as_const() else { return false };
    match (count, len) {
        (Len::Const(k), Len::Const(n)) => start + k <= BigInt::from(*n),
        (Len::Param { param: a, add: k }, Len::Param { param: b, add: n }) => a == b && start + k <= BigInt::from(*n),
        _ => false,
    }
}

fn sum(a: Expr, b: Expr) -> Expr {
    let zero = |e: &Expr| e.as_const().is_some_and(|v| *v == BigInt::from(0));
    match (a.as_const(), b.as_const()) {
        (Some(x), Some(y)) => Expr::int(x + y),
        _ if zero(&a) => b,
        _ if zero(&b) => a,
        _ => a + b,
    }
}
