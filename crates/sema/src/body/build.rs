//! Values written into a place, part by part where that avoids a copy; array and struct literals.

use crate::draft::{Draft, LoopHead};
use crate::secrecy::Need;
use crate::sty::STy;
use crate::values::CVal;
use super::context::{bare, Dst, FnCx, One, Val};
use santoku_diag::{Diagnostic, Span};
use santoku_ir::typing::without_ranges;
use santoku_ir::{Expr, Len, LocalId, LocalKind, Place, Ty, Unroll};
use santoku_syntax::ast::{self, ExprKind, Ident, Path};

impl FnCx<'_, '_> {
    /// Writes the value of `e` to `dst`, which `e` does not read. `want` is the type it must have; without it
    /// the type that turns out is given back.
    pub fn into(&mut self, dst: &Dst, e: &ast::Expr, want: Option<&STy>) -> Option<STy> {
        let entered = self.deeper_expr(e.span);
        let result = entered.and_then(|()| self.write(dst, e, want));
        self.expr_depth -= 1;
        result
    }

    fn write(&mut self, dst: &Dst, e: &ast::Expr, want: Option<&STy>) -> Option<STy> {
        let hint = match want {
            Some(STy::One { ty, .. }) => Some(ty),
            _ => None,
        };
        match (&e.kind, dst) {
            (ExprKind::Comprehension { .. }, _) if self.is_constant(e, &mut Vec::new()) => {
                let val = Val::One(self.constant_value(e, hint)?);
                self.store(dst, val, want, e.span)
            }
            (ExprKind::Paren(inner), _) => self.into(dst, inner, want),
            (ExprKind::If { cond, then, els }, _) => self.if_into(dst, (cond, then, els), want, e.span),
            (ExprKind::Tuple(parts), Dst::Tuple(dsts)) if parts.len() == dsts.len() => {
                self.tuple_into(dsts, parts, want, e.span)
            }
            (ExprKind::Call { callee, generics, args }, _) if self.builds(e) => {
                let val = self.call(callee, generics, args, hint, Some(dst), e.span)?;
                self.check_type(&val.sty(), want, e.span)?;
                self.store_unless(dst, val, e.span)
            }
            (ExprKind::Comprehension { var, lo, hi, inclusive, elem }, Dst::One(place)) => {
                let ty = self.comprehension(place, var, (lo, hi, *inclusive), elem, hint, e.span)?;
                self.check_type(&STy::one(ty.clone()), want, e.span)?;
                Some(STy::one(ty))
            }
            (ExprKind::Struct { path, fields }, Dst::One(place)) if self.builds(e) => {
                let ty = self.struct_into(place, path, fields, e.span)?;
                self.check_type(&STy::one(ty.clone()), want, e.span)?;
                Some(STy::one(ty))
            }
            (ExprKind::Array(parts), Dst::One(place)) if self.builds(e) => {
                let ty = self.array_into(place, parts, hint)?;
                self.check_type(&STy::one(ty.clone()), want, e.span)?;
                Some(STy::one(ty))
            }
            (_, Dst::One(place)) => match self.view_of(e)? {
                Some(view) => {
                    let ty = STy::one(view.ty());
                    self.check_type(&ty, want, e.span)?;
                    self.has_place(&view.len, e.span)?;
                    self.copy(&view, place, &santoku_ir::Expr::int(0), e.span);
                    Some(ty)
                }
                None => self.write_value(dst, e, want),
            },
            _ => self.write_value(dst, e, want),
        }
    }

    fn write_value(&mut self, dst: &Dst, e: &ast::Expr, want: Option<&STy>) -> Option<STy> {
        let hint = match want {
            Some(STy::One { ty, .. }) => Some(ty),
            _ => None,
        };
        let val = self.value(e, hint)?;
        self.store(dst, val, want, e.span)
    }

    /// Assigns a value to a destination of the same structure.
    pub fn store(&mut self, dst: &Dst, val: Val, want: Option<&STy>, span: Span) -> Option<STy> {
        match (dst, val, want) {
            (Dst::One(place), Val::One(one), Some(STy::One { ty, .. })) => {
                let expr = self.coerce(one, ty, span)?;
                self.assign(place.clone(), expr, span);
                Some(STy::one(ty.clone()))
            }
            (Dst::One(place), Val::One(one), None) => {
                let ty = one.ty.clone();
                self.assign(place.clone(), one.expr, span);
                Some(STy::one(ty))
            }
            (Dst::Tuple(dsts), Val::Tuple(vals), want) if dsts.len() == vals.len() => {
                let mut tys = Vec::new();
                for (i, (d, v)) in dsts.iter().zip(vals).enumerate() {
                    let part = match want {
                        Some(STy::Tuple(parts)) => parts.get(i),
                        _ => None,
                    };
                    tys.push(self.store(d, v, part, span)?);
                }
                Some(STy::Tuple(tys))
            }
            (_, val, want) => {
                let found = val.sty();
                let expected = want.cloned();
                self.structure_mismatch(&found, expected.as_ref(), span)
            }
        }
    }

    fn structure_mismatch<T>(&mut self, found: &STy, want: Option<&STy>, span: Span) -> Option<T> {
        let f = self.cx.show_sty(found);
        let title = match want {
            Some(w) => format!("expected {}, found {f}", self.cx.show_sty(w)),
            None => format!("{f} does not fit here"),
        };
        self.fail(
            Diagnostic::error("type-mismatch", title)
                .at(span, format!("this is {f}"))
                .help("take tuples apart with `let (a, b) = ..`"),
        )
    }

    fn check_type(&mut self, found: &STy, want: Option<&STy>, span: Span) -> Option<()> {
        match (found, want) {
            (_, None) => Some(()),
            (STy::One { ty: f, .. }, Some(STy::One { ty: w, .. })) if f.same_shape(w) => Some(()),
            (STy::One { ty: f, .. }, Some(STy::One { ty: w, .. })) => self.mismatch(f, w, span),
            (STy::Tuple(fs), Some(STy::Tuple(ws))) if fs.len() == ws.len() => {
                fs.iter().zip(ws).try_for_each(|(f, w)| self.check_type(f, Some(w), span))
            }
            (f, w) => self.structure_mismatch(f, w, span),
        }
    }

    /// After a call that wrote to `dst`: nothing to do, unless it gave a constant or a converted value.
    fn store_unless(&mut self, dst: &Dst, val: Val, span: Span) -> Option<STy> {
        let ty = val.sty();
        if let (Dst::One(place), Val::One(one)) = (dst, val) {
            if one.expr.as_read() != Some(place) {
                return self.store(dst, Val::One(one), None, span);
            }
        }
        Some(ty)
    }

    fn tuple_into(&mut self, dsts: &[Dst], parts: &[ast::Expr], want: Option<&STy>, span: Span) -> Option<STy> {
        let wants: Option<&Vec<STy>> = match want {
            Some(STy::Tuple(wants)) if wants.len() == parts.len() => Some(wants),
            None => None,
            Some(other) => {
                let title = format!("expected {}, found a tuple of {}", self.cx.show_sty(other), parts.len());
                return self.fail(
                    Diagnostic::error("type-mismatch", title)
                        .at(span, format!("a tuple of {}", parts.len()))
                        .help("give as many parts as the type has"),
                );
            }
        };
        let mut tys = Vec::new();
        for (i, (dst, part)) in dsts.iter().zip(parts).enumerate() {
            tys.push(self.into(dst, part, wants.map(|w| &w[i]))?);
        }
        Some(STy::Tuple(tys))
    }

    /// `[for i in lo..<hi: elem]` as a loop over the places.
    fn comprehension(
        &mut self,
        place: &Place,
        var: &Ident,
        (lo, hi, inclusive): (&ast::Expr, &ast::Expr, bool),
        elem: &ast::Expr,
        hint: Option<&Ty>,
        span: Span,
    ) -> Option<Ty> {
        for bound in [lo, hi] {
            if !self.is_constant(bound, &mut Vec::new()) {
                let one = self.one(bound, None)?;
                if one.ty.is_scalar() && self.known_secret(&one.expr) {
                    return self.secret(Need::Bound, &one.expr, bound.span);
                }
            }
        }
        let len = self.comprehension_length(lo, hi, inclusive)?;
        let start = self.public_int(lo, Need::Bound)?;
        let end = self.len_value(&len).expr;
        let counter = self.local(&var.name, Ty::Int(None), LocalKind::Counter, var.span);
        // The loop counts from 0; the variable's value is the counter plus the start.
        let elem_hint = match hint {
            Some(Ty::Array { elem, .. }) => Some(STy::one((**elem).clone())),
            _ => None,
        };
        let index = Expr::int_local(counter);
        let dst = Dst::One(place.clone().index(index.clone()));
        let first = start.as_const().cloned();
        let zero = first.as_ref().is_some_and(|v| *v == 0.into());
        let (body, found) = self.block(|b| {
            let binding = if zero {
                counter
            } else {
                let id = b.local(&var.name, Ty::Int(None), LocalKind::Var, var.span);
                b.assign(Place::local(id), start + index, var.span);
                id
            };
            b.bind(&var.name, super::context::Binding::Local(binding), false, var.span);
            if let (Some(first), Len::Const(n)) = (&first, &len) {
                b.counters.insert(binding, (first.clone(), first + n));
            }
            b.into(&dst, elem, elem_hint.as_ref())
        });
        let STy::One { ty, .. } = found? else { return self.misplaced_tuple(elem.span) };
        let head = LoopHead { var: counter, lo: Expr::int(0), hi: end, rev: false, unroll: Unroll::Auto, invariants: vec![] };
        self.out.push(Draft::For { head: Box::new(head), body, span });
        let elem = Box::new(if elem_hint.is_some() { ty } else { without_ranges(&ty) });
        let array = Ty::Array { elem, len, ranges: None };
        if self.cx.elements(&array) > crate::limits::ARRAY_ELEMENTS {
            return self.fail(
                Diagnostic::error("const-too-large", "array too large")
                    .at(span, "more than 2^22 elements")
                    .help("arrays of constant length hold at most 2^22 scalars"),
            );
        }
        Some(array)
    }

    pub fn comprehension_length(&mut self, lo: &ast::Expr, hi: &ast::Expr, inclusive: bool) -> Option<Len> {
        let length = ast::Expr {
            kind: ExprKind::Bin { op: ast::BinOp::Sub, lhs: Box::new(hi.clone()), rhs: Box::new(lo.clone()) },
            span: hi.span,
        };
        let mut env = self.env.clone();
        let length = match inclusive {
            false => length,
            true => ast::Expr {
                kind: ExprKind::Bin {
                    op: ast::BinOp::Add,
                    lhs: Box::new(length),
                    rhs: Box::new(ast::Expr { kind: ExprKind::Int(1.into()), span: hi.span }),
                },
                span: hi.span,
            },
        };
        self.cx.length(&mut env, &length)
    }

    fn struct_into(&mut self, place: &Place, path: &Path, fields: &[(Ident, ast::Expr)], span: Span) -> Option<Ty> {
        let mut env = self.env.clone();
        let id = self.cx.struct_path(&mut env, path)?;
        let order = self.cx.field_order(id, fields, span)?;
        let types: Vec<Ty> = self.cx.program.structs[id.0 as usize].fields.iter().map(|f| f.1.clone()).collect();
        let mut ok = true;
        for (at, (_, value)) in fields.iter().enumerate() {
            let field = order.iter().position(|o| *o == at)?;
            let dst = Dst::One(place.clone().field(field as u32));
            ok &= self.into(&dst, value, Some(&STy::one(types[field].clone()))).is_some();
        }
        ok.then_some(Ty::Struct(id))
    }

    /// A struct literal whose fields are plain values.
    pub fn structure(&mut self, path: &Path, fields: &[(Ident, ast::Expr)], span: Span) -> Option<One> {
        let mut env = self.env.clone();
        let id = self.cx.struct_path(&mut env, path)?;
        let order = self.cx.field_order(id, fields, span)?;
        let types: Vec<Ty> = self.cx.program.structs[id.0 as usize].fields.iter().map(|f| f.1.clone()).collect();
        let mut values = Vec::new();
        for (at, ty) in order.into_iter().zip(&types) {
            values.push(self.typed(&fields[at].1, ty)?);
        }
        Some(One::fresh(Expr::structure(id, values)))
    }

    fn array_into(&mut self, place: &Place, parts: &[ast::Expr], hint: Option<&Ty>) -> Option<Ty> {
        let mut elem = match hint {
            Some(Ty::Array { elem, .. }) => Some((**elem).clone()),
            _ => None,
        };
        for (i, part) in parts.iter().enumerate() {
            let dst = Dst::One(place.clone().at(i as u64));
            let want = elem.clone().map(STy::one);
            let STy::One { ty, .. } = self.into(&dst, part, want.as_ref())? else {
                return self.misplaced_tuple(part.span);
            };
            elem.get_or_insert(without_ranges(&ty));
        }
        Some(Ty::array(elem.unwrap_or(Ty::Int(None)), parts.len() as u64))
    }

    /// An array literal whose elements are plain values.
    pub fn array(&mut self, parts: &[ast::Expr], hint: Option<&Ty>, span: Span) -> Option<One> {
        let own = match hint {
            Some(Ty::Array { elem, .. }) => Some((**elem).clone()),
            _ => None,
        };
        let mut ones = Vec::new();
        let mut elem = own;
        for part in parts {
            let one = self.one(part, elem.as_ref())?;
            if elem.is_none() && !one.flex {
                elem = Some(without_ranges(&one.ty));
            }
            ones.push(one);
        }
        let elem = elem.unwrap_or(Ty::Int(None));
        let mut exprs = Vec::new();
        for (one, part) in ones.into_iter().zip(parts) {
            exprs.push(self.coerce(one, &elem, part.span)?);
        }
        if let Some(values) = exprs.iter().map(constant).collect::<Option<Vec<_>>>() {
            if !values.is_empty() {
                return Some(self.literal(values, &elem, span));
            }
        }
        Some(One::fresh(Expr::array(&elem, exprs)))
    }

    /// `[e; n]`
    pub fn repeat(&mut self, elem: &ast::Expr, len: &ast::Expr, hint: Option<&Ty>, span: Span) -> Option<One> {
        let mut env = self.env.clone();
        let length = self.cx.length(&mut env, len)?;
        let one = match hint {
            Some(Ty::Array { elem: want, .. }) => {
                let want = without_ranges(want);
                One::fresh(self.typed(elem, &want)?)
            }
            _ => self.one(elem, None)?,
        };
        let value = Expr::repeat(one.expr, length);
        if self.cx.elements(&value.ty) > crate::limits::ARRAY_ELEMENTS {
            return self.fail(
                Diagnostic::error("const-too-large", "array too large")
                    .at(span, "more than 2^22 elements")
                    .help("arrays of constant length hold at most 2^22 scalars"),
            );
        }
        Some(One::fresh(value))
    }
}

/// A literal scalar as a constant.
fn constant(e: &Expr) -> Option<CVal> {
    let v = e.as_const()?.clone();
    Some(match e.ty {
        Ty::Word(bits) => CVal::Word(bits, v),
        Ty::Int(_) => CVal::Int(v),
        Ty::Bool => CVal::Bool(v == 1.into()),
        Ty::Array { .. } | Ty::Struct(_) => return None,
    })
}

/// Whether `name` occurs in the expression (as any name: shadowing only makes the answer too careful).
pub fn mentions(e: &ast::Expr, name: &str) -> bool {
    let m = |e: &ast::Expr| mentions(e, name);
    match &e.kind {
        ExprKind::Name(path) => path.module.is_none() && path.name.name == name,
        ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::Bytes { .. } | ExprKind::Error => false,
        ExprKind::Power { exp: a, .. }
        | ExprKind::Paren(a)
        | ExprKind::Un { arg: a, .. }
        | ExprKind::Convert { arg: a, .. }
        | ExprKind::Field { base: a, .. }
        | ExprKind::TupleField { base: a, .. } => m(a),
        ExprKind::Call { args, .. } => args.iter().any(m),
        ExprKind::Index { base: a, index: b }
        | ExprKind::Bin { lhs: a, rhs: b, .. }
        | ExprKind::Repeat { elem: a, len: b } => m(a) || m(b),
        ExprKind::Slice { base, off, len } => m(base) || m(off) || m(len),
        ExprKind::Congruent { lhs, rhs, modulus } => m(lhs) || m(rhs) || modulus.as_deref().is_some_and(m),
        ExprKind::If { cond, then, els } => m(cond) || block_mentions(then, name) || block_mentions(els, name),
        ExprKind::Tuple(parts) | ExprKind::Array(parts) => parts.iter().any(m),
        ExprKind::Comprehension { lo, hi, elem: body, .. }
        | ExprKind::Sum { lo, hi, body, .. }
        | ExprKind::Forall { lo, hi, body, .. } => m(lo) || m(hi) || m(body),
        ExprKind::Struct { fields, .. } => fields.iter().any(|f| m(&f.1)),
    }
}

fn block_mentions(b: &ast::Block, name: &str) -> bool {
    let m = |e: &ast::Expr| mentions(e, name);
    let in_stmt = |s: &ast::Stmt| match &s.kind {
        ast::StmtKind::Let { value, .. } => value.as_ref().is_some_and(m),
        ast::StmtKind::Assign { place, value, .. } => m(place) || m(value),
        ast::StmtKind::For { lo, hi, step, body, .. } => m(lo) || m(hi) || step.as_ref().is_some_and(m) || block_mentions(body, name),
        ast::StmtKind::If { cond, then, els } => {
            m(cond) || block_mentions(then, name) || els.as_ref().is_some_and(|b| block_mentions(b, name))
        }
        ast::StmtKind::Assert(e) => m(e),
        ast::StmtKind::Ghost(_) | ast::StmtKind::Error => false,
    };
    b.stmts.iter().any(in_stmt) || b.result.as_ref().is_some_and(|r| mentions(r, name))
}

/// Whether writing `e` part by part could overwrite what it still reads from `name`.
pub fn overlaps(e: &ast::Expr, name: &str) -> bool {
    !matches!(bare(e).kind, ExprKind::Call { .. }) && mentions(e, name)
}

/// The temporary or variable `id` as a destination.
pub fn whole(id: LocalId) -> Dst {
    Dst::One(Place::local(id))
}
