//! Expressions as values.

use crate::arith;
use crate::entities::Entity;
use crate::names::Item;
use crate::secrecy::Need;
use crate::values::{CVal, Generic};
use super::context::{bare, Binding, Dst, FnCx, One, Val};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::One as _;
use santoku_diag::{Diagnostic, Span};
use santoku_ir::{Expr, Len, LocalId, Place, Ty};
use santoku_syntax::ast::{self, ExprKind, Path, Type};

impl FnCx<'_, '_> {
    /// The value of an expression. `hint` is the type that constants in it take; it does not convert.
    pub fn value(&mut self, e: &ast::Expr, hint: Option<&Ty>) -> Option<Val> {
        let entered = self.deeper_expr(e.span);
        let result = entered.and_then(|()| self.value_inner(e, hint));
        self.expr_depth -= 1;
        result
    }

    fn value_inner(&mut self, e: &ast::Expr, hint: Option<&Ty>) -> Option<Val> {
        let one = match &e.kind {
            ExprKind::Bin { .. } | ExprKind::Power { .. } if self.counted(e) => self.counter_table(e, hint)?,
            ExprKind::Int(v) => match arith::limited(v.clone()) {
                Ok(v) => One::flex(v),
                Err(fault) => return self.fail(fault.diagnostic(e.span)),
            },
            ExprKind::Bool(b) => One::fresh(Expr::bool(*b)),
            ExprKind::Bytes { bytes, .. } => self.bytes(bytes, e.span)?,
            ExprKind::Name(path) => return self.name_value(path, e.span),
            ExprKind::Power { base, exp } => self.power(base, exp, e.span)?,
            ExprKind::Call { callee, generics, args } => return self.call(callee, generics, args, hint, None, e.span),
            ExprKind::Convert { to, arg } => self.conversion(to, arg, e.span)?,
            ExprKind::Slice { .. } if self.is_long_slice(e) => {
                let view = self.view_of(e)??;
                self.copied(&view, e.span)?
            }
            ExprKind::Index { .. } | ExprKind::Slice { .. } | ExprKind::Field { .. } => {
                let (place, ty) = self.place(e)?;
                self.read(place, ty)
            }
            ExprKind::TupleField { base, index } => return self.tuple_field(base, *index, e.span),
            ExprKind::Un { op, arg } => self.unary(*op, arg, hint)?,
            ExprKind::Bin { op, lhs, rhs } => self.binary(*op, lhs, rhs, hint, e.span)?,
            ExprKind::If { cond, then, els } => return self.if_value(cond, then, els, hint, e.span),
            ExprKind::Tuple(parts) => {
                return Some(Val::Tuple(parts.iter().map(|p| self.value(p, None)).collect::<Option<_>>()?));
            }
            ExprKind::Array(parts) if parts.iter().any(|p| self.builds(p)) => self.build_temp(e, hint)?,
            ExprKind::Array(parts) => self.array(parts, hint, e.span)?,
            ExprKind::Repeat { elem, len } => self.repeat(elem, len, hint, e.span)?,
            ExprKind::Struct { fields, .. } if fields.iter().any(|f| self.builds(&f.1)) => self.build_temp(e, hint)?,
            ExprKind::Struct { path, fields } => self.structure(path, fields, e.span)?,
            ExprKind::Comprehension { .. } if self.is_constant(e, &mut Vec::new()) => self.constant_value(e, hint)?,
            ExprKind::Comprehension { .. } => self.build_temp(e, hint)?,
            ExprKind::Paren(inner) => return self.value(inner, hint),
            ExprKind::Congruent { .. } | ExprKind::Sum { .. } | ExprKind::Forall { .. } => return self.spec_only(e.span),
            ExprKind::Error => return None,
        };
        Some(Val::One(one))
    }

    fn spec_only<T>(&mut self, span: Span) -> Option<T> {
        self.fail(
            Diagnostic::error("spec-only", "this form belongs to specifications")
                .at(span, "stands in code that is compiled")
                .help("move it into `requires`, `ensures` or a `spec fn`; in code write a loop"),
        )
    }

    /// The value of an expression that is one core value.
    pub fn one(&mut self, e: &ast::Expr, hint: Option<&Ty>) -> Option<One> {
        match self.value(e, hint)? {
            Val::One(one) => Some(one),
            Val::Tuple(_) => self.misplaced_tuple(e.span),
        }
    }

    pub fn misplaced_tuple<T>(&mut self, span: Span) -> Option<T> {
        self.fail(
            Diagnostic::error("misplaced-tuple", "a tuple cannot stand here")
                .at(span, "this is a tuple")
                .help("take its parts with `let (a, b) = ..` or `.0`, `.1`"),
        )
    }

    /// A value of a known type.
    pub fn typed(&mut self, e: &ast::Expr, want: &Ty) -> Option<Expr> {
        let one = self.one(e, Some(want))?;
        self.coerce(one, want, e.span)
    }

    /// An exact integer that must be public.
    pub fn public_int(&mut self, e: &ast::Expr, need: Need) -> Option<Expr> {
        let one = self.one(e, None)?;
        if !matches!(one.ty, Ty::Int(_)) {
            // A conversion would only be refused again.
            if one.ty.is_scalar() && self.known_secret(&one.expr) {
                return self.secret(need, &one.expr, e.span);
            }
            return self.mismatch(&one.ty, &Ty::Int(None), e.span);
        }
        self.need(need, &one.expr, e.span);
        Some(one.expr)
    }

    pub fn read(&mut self, place: Place, ty: Ty) -> One {
        if let Some(v) = self.constant_at(&place) {
            return self.scalar_or_read(&v, place, ty);
        }
        One::new(Expr::read(place, &ty), ty)
    }

    fn scalar_or_read(&mut self, v: &santoku_ir::ConstValue, place: Place, ty: Ty) -> One {
        match (v, &ty) {
            (santoku_ir::ConstValue::Scalar(v), Ty::Int(_)) => One::flex(v.clone()),
            (santoku_ir::ConstValue::Scalar(v), Ty::Word(bits)) => One::fresh(Expr::word(*bits, v.clone())),
            _ => One::new(Expr::read(place, &ty), ty),
        }
    }

    /// The value at a place inside a program constant whose indices are constants.
    fn constant_at(&self, place: &Place) -> Option<santoku_ir::ConstValue> {
        use num_traits::ToPrimitive;
        let santoku_ir::Base::Const(id) = place.base else { return None };
        let mut v = &self.cx.program.consts[id.0 as usize].value;
        for proj in &place.projs {
            v = match (v, proj) {
                (santoku_ir::ConstValue::Array(vs), santoku_ir::Proj::Index(i)) => vs.get(i.as_const()?.to_usize()?)?,
                (santoku_ir::ConstValue::Struct(vs), santoku_ir::Proj::Field(i)) => vs.get(*i as usize)?,
                _ => return None,
            };
        }
        matches!(v, santoku_ir::ConstValue::Scalar(_)).then(|| v.clone())
    }

    fn bytes(&mut self, bytes: &[u8], span: Span) -> Option<One> {
        self.cx.spend(bytes.len() as u64, span)?;
        let values: Vec<CVal> = bytes.iter().map(|b| CVal::Word(8, (*b).into())).collect();
        Some(self.literal(values, &Ty::Word(8), span))
    }

    /// An array of constants: long ones become a named constant of the program.
    pub fn literal(&mut self, values: Vec<CVal>, elem: &Ty, span: Span) -> One {
        const LONG: usize = 16;
        if values.len() >= LONG {
            return self.const_one(&CVal::Array(values), span);
        }
        let elems = values.iter().map(|v| self.const_one(v, span).expr).collect();
        One::fresh(Expr::array(elem, elems))
    }

    fn name_value(&mut self, path: &Path, span: Span) -> Option<Val> {
        if path.module.is_none() {
            if self.is_ghost_name(&path.name.name) {
                return self.ghost_in_code(&path.name.name, span);
            }
            if let Some(variable) = self.variable(&path.name.name) {
                let binding = variable.binding.clone();
                if let Binding::View(view) = &binding {
                    return self.copied(view, span).map(Val::One);
                }
                return self.binding_value(&binding);
            }
            match self.env.generics.get(&path.name.name) {
                Some(Generic::Const(v)) => return Some(Val::One(One::flex(v.clone()))),
                Some(Generic::Type(_)) => return self.not_a_value("type", span),
                Some(Generic::Len(_)) | None => {}
            }
        }
        let entity = match self.cx.resolve(self.env.module, path) {
            Ok(entity) => entity,
            Err(d) => {
                let d = d.map(|d| Box::new(self.nearby_variable(*d, path)));
                return self.cx.unresolved(d);
            }
        };
        if self.cx.world.is_constant(entity) {
            return self.constant(entity, span).map(Val::One);
        }
        self.not_a_value(entity.item.noun(), span)
    }

    fn nearby_variable(&self, d: Diagnostic, path: &Path) -> Diagnostic {
        let names = self.scopes.iter().flat_map(|s| s.keys().map(String::as_str));
        match crate::names::closest(&path.name.name, names) {
            Some(near) if path.module.is_none() => d.help(format!("did you mean `{near}`?")),
            _ => d,
        }
    }

    fn not_a_value<T>(&mut self, noun: &str, span: Span) -> Option<T> {
        self.fail(
            Diagnostic::error("not-a-value", format!("this {noun} is not a value"))
                .at(span, "a value is needed here")
                .help(if noun == "function" { "call it: `f(x)`" } else { "name a variable or a constant" }),
        )
    }

    fn constant(&mut self, entity: Entity, span: Span) -> Option<One> {
        let constant = self.cx.constant(entity, span)?;
        let (ty, value) = &*constant;
        match value {
            CVal::Array(_) | CVal::Struct(..) => {
                let name = self.cx.world.constant_name(entity)?;
                let id = self.cx.const_id(entity, &name.name, name.span)?;
                Some(One::new(Expr::read(Place::constant(id), ty), ty.clone()))
            }
            scalar => Some(self.const_one(scalar, span)),
        }
    }

    fn power(&mut self, base: &BigInt, exp: &ast::Expr, span: Span) -> Option<One> {
        let one = self.one(exp, None)?;
        let Some(exponent) = one.flex_value() else {
            return self.fail(
                Diagnostic::error("not-constant", "the exponent is not a constant")
                    .at(exp.span, "known only at run time")
                    .help("powers are constants; shift a word instead: `u64(1) << i`"),
            );
        };
        match arith::power(base, exponent) {
            Ok(v) => Some(One::flex(v)),
            Err(fault) => self.fail(fault.diagnostic(span)),
        }
    }

    fn conversion(&mut self, to: &Type, arg: &ast::Expr, span: Span) -> Option<One> {
        let mut env = self.env.clone();
        let ty = self.cx.plain_type(&mut env, to)?;
        self.convert(&ty, arg, span)
    }

    /// `u32(x)`, `int(x)`: to a scalar type.
    pub fn convert(&mut self, to: &Ty, arg: &ast::Expr, span: Span) -> Option<One> {
        let one = self.one(arg, None)?;
        if let (Some(v), Ty::Word(bits)) = (one.flex_value(), to) {
            return Some(One::fresh(Expr::word(*bits, v.mod_floor(&(BigInt::one() << *bits)))));
        }
        if let (Some(v), Ty::Int(Some(range))) = (one.flex_value().cloned(), to) {
            self.cx.fits(&v, range, to, span)?;
            return Some(one);
        }
        match (&one.ty, to) {
            (Ty::Word(a), Ty::Word(b)) if a == b => Some(one),
            (Ty::Int(_), Ty::Int(_)) => Some(one),
            (Ty::Word(_) | Ty::Int(_) | Ty::Bool, Ty::Word(_)) | (Ty::Word(_) | Ty::Bool, Ty::Int(_)) => {
                let target = santoku_ir::typing::without_ranges(to);
                Some(One::fresh(one.expr.cast(target)))
            }
            _ => {
                let (f, t) = (self.cx.show(&one.ty), self.cx.show(to));
                self.fail(
                    Diagnostic::error("bad-conversion", format!("no conversion from {f} to {t}"))
                        .at(span, format!("converts {f}"))
                        .help("words, integers and bools convert to words and integers; for a bool compare: `x != 0`"),
                )
            }
        }
    }

    /// `len(x)`
    pub fn len_of(&mut self, args: &[ast::Expr], span: Span) -> Option<One> {
        let [arg] = args else { return self.wrong_arguments("len", 1, args.len(), span) };
        let ty = match self.view_of(arg)? {
            Some(view) => view.ty(),
            None => match self.place_or_none(arg)? {
                Some((_, ty)) => ty,
                None => self.one(arg, None)?.ty,
            },
        };
        match ty {
            Ty::Array { len, .. } => Some(self.len_value(&len)),
            other => {
                let found = self.cx.show(&other);
                self.fail(
                    Diagnostic::error("type-mismatch", format!("`len` needs an array, found {found}"))
                        .at(arg.span, format!("this is {found}"))
                        .help("only arrays have a length"),
                )
            }
        }
    }

    pub fn len_value(&self, len: &Len) -> One {
        match len {
            Len::Const(n) => One::flex(*n),
            Len::Param { param, add } => {
                let n = self.read_local(*param).expr;
                One::fresh(if *add == 0 { n } else { n + Expr::int(*add) })
            }
        }
    }

    fn tuple_field(&mut self, base: &ast::Expr, index: u32, span: Span) -> Option<Val> {
        match self.value(base, None)? {
            Val::Tuple(mut parts) if (index as usize) < parts.len() => Some(parts.swap_remove(index as usize)),
            Val::Tuple(parts) => self.fail(
                Diagnostic::error("unknown-field", format!("no part {index} in a tuple of {}", parts.len()))
                    .at(span, "outside the tuple")
                    .help(format!("parts are .0 to .{}", parts.len().saturating_sub(1))),
            ),
            Val::One(one) => {
                let found = self.cx.show(&one.ty);
                self.fail(
                    Diagnostic::error("type-mismatch", format!("{found} is not a tuple"))
                        .at(base.span, format!("this is {found}"))
                        .help("arrays are indexed with `x[i]`, structs with `x.name`"),
                )
            }
        }
    }

    /// Whether the expression is best built in place: its parts are written one by one.
    pub fn builds(&mut self, e: &ast::Expr) -> bool {
        match &bare(e).kind {
            ExprKind::Comprehension { .. } => !self.is_constant(e, &mut Vec::new()),
            ExprKind::If { .. } => true,
            ExprKind::Call { callee, .. } => self.is_function(callee),
            ExprKind::Struct { fields, .. } => fields.iter().any(|f| self.builds(&f.1)),
            ExprKind::Array(parts) => parts.iter().any(|p| self.builds(p)),
            _ => false,
        }
    }

    fn is_function(&mut self, callee: &Path) -> bool {
        let entity = self.cx.resolve(self.env.module, callee);
        matches!(entity, Ok(Entity { item: Item::Fn(_) | Item::Table(_) | Item::Perm(_), .. }))
    }

    /// Builds an aggregate in a temporary.
    fn build_temp(&mut self, e: &ast::Expr, hint: Option<&Ty>) -> Option<One> {
        let id = self.temp(hint.unwrap_or(&Ty::Bool), e.span);
        let want = hint.map(|t| crate::sty::STy::one(t.clone()));
        let found = self.into(&Dst::One(Place::local(id)), e, want.as_ref())?;
        let crate::sty::STy::One { ty, .. } = found else { return self.misplaced_tuple(e.span) };
        self.settle(id, &ty);
        Some(self.read_local(id))
    }

    /// Gives a temporary the type that turned out.
    pub fn settle(&mut self, id: LocalId, ty: &Ty) {
        self.locals[id.0 as usize].ty = santoku_ir::typing::without_ranges(ty);
    }

    /// The variable or tuple part that an expression names.
    pub fn named_binding(&self, e: &ast::Expr) -> Option<Binding> {
        match &bare(e).kind {
            ExprKind::Name(path) if path.module.is_none() => Some(self.variable(&path.name.name)?.binding.clone()),
            ExprKind::TupleField { base, index } => match self.named_binding(base)? {
                Binding::Tuple(parts) => parts.get(*index as usize).cloned(),
                Binding::Local(_) | Binding::View(_) | Binding::Poison => None,
            },
            _ => None,
        }
    }
}
