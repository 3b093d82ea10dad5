//! Constants: exact evaluation of the expressions that must be known at compile time.
//!
//! Only literals, constants, operators, arrays, comprehensions, structs, `if`, `sum`, tables and `const fn`s take
//! part. Everything is bounded: magnitude, elements, steps.

use crate::arith::{self, Fault};
use crate::context::{Cached, Cx};
use crate::entities::Entity;
use crate::keys::Arg;
use crate::limits;
use crate::names::Item;
use crate::sty::word_range;
use crate::values::{const_ty, weight, with_value_ranges, CVal, Env, Generic};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, ToPrimitive};
use santoku_diag::{Diagnostic, Span};
use santoku_ir::{Len, Range, Ty};
use santoku_syntax::ast::{BinOp, Expr, ExprKind, Ident, Path, UnOp};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A constant item and indices into it.
type Element = (Rc<(Ty, CVal)>, Vec<(BigInt, Span)>);

impl<'w> Cx<'w> {
    /// Value and type of a `const` item, computed once.
    pub fn constant(&mut self, entity: Entity, span: Span) -> Option<Rc<(Ty, CVal)>> {
        self.once(entity, span, |cx| &mut cx.constants, |cx| cx.evaluate_constant(entity).map(Rc::new))
    }

    /// What an item is, computed at the first request; refused where that leads back to the item.
    pub fn once<T: Clone>(
        &mut self,
        entity: Entity,
        span: Span,
        known: for<'c> fn(&'c mut Cx<'w>) -> &'c mut BTreeMap<Entity, Cached<T>>,
        compute: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        match known(self).get(&entity) {
            Some(Cached::Done(done)) => return Some(done.clone()),
            Some(Cached::Failed) => return None,
            Some(Cached::Busy) => {
                return self.fail(
                    Diagnostic::error("cyclic-constant", "a constant is defined by itself")
                        .at(span, "leads back to the constant being computed")
                        .help("break the cycle by writing one value out"),
                )
            }
            None => {}
        }
        known(self).insert(entity, Cached::Busy);
        let result = compute(self);
        let state = result.clone().map_or(Cached::Failed, Cached::Done);
        known(self).insert(entity, state);
        result
    }

    fn evaluate_constant(&mut self, entity: Entity) -> Option<(Ty, CVal)> {
        if let Item::Param(_) = entity.item {
            return self.const_parameter(entity);
        }
        let (_, ty, expr) = self.world.constant(entity)?;
        let mut env = self.env(entity.module);
        let value = self.const_expr(&mut env, expr)?;
        match ty {
            None => Some((const_ty(&value), value)),
            Some(t) => {
                let ty = self.plain_type(&mut env, t)?;
                let value = self.coerce(value, &ty, expr.span)?;
                let ranged = with_value_ranges(&ty, &value);
                Some((ranged, value))
            }
        }
    }

    fn const_parameter(&mut self, entity: Entity) -> Option<(Ty, CVal)> {
        let name = &self.world.param(entity)?.name;
        match self.module_args(entity.module).and_then(|args| args.get(&name.name)) {
            Some(Arg::Const(v)) => Some((const_ty(v), v.clone())),
            _ => self.not_constant(name.span, "a parameter of a module has a value in instances only"),
        }
    }

    /// A constant that must be an integer.
    pub fn const_int(&mut self, env: &mut Env, e: &Expr) -> Option<BigInt> {
        match self.const_expr(env, e)? {
            CVal::Int(v) => Some(v),
            other => {
                let found = self.show(&const_ty(&other));
                self.fail(
                    Diagnostic::error("type-mismatch", "an exact integer is needed")
                        .at(e.span, format!("this is {found}"))
                        .help("convert with `int(..)`"),
                )
            }
        }
    }

    /// Evaluates a constant expression.
    pub fn const_expr(&mut self, env: &mut Env, e: &Expr) -> Option<CVal> {
        self.step(e.span)?;
        match &e.kind {
            ExprKind::Int(v) => self.limited(v.clone(), e.span),
            ExprKind::Bool(b) => Some(CVal::Bool(*b)),
            ExprKind::Bytes { bytes, .. } => {
                self.spend(bytes.len() as u64, e.span)?;
                Some(CVal::Array(bytes.iter().map(|b| CVal::Word(8, (*b).into())).collect()))
            }
            ExprKind::Paren(inner) => self.const_expr(env, inner),
            ExprKind::Name(path) => self.const_name(env, path, e.span),
            ExprKind::Power { base, exp } => {
                let exponent = self.const_int(env, exp)?;
                self.int_result(arith::power(base, &exponent), e.span)
            }
            ExprKind::Un { op, arg } => {
                let v = self.const_expr(env, arg)?;
                self.const_unary(*op, v, e.span)
            }
            ExprKind::Bin { op, lhs, rhs } => {
                let (a, b) = (self.const_expr(env, lhs)?, self.const_expr(env, rhs)?);
                self.const_binary(*op, a, b, e.span)
            }
            ExprKind::If { cond, then, els } => match self.const_expr(env, cond)? {
                CVal::Bool(c) => self.const_block(env, if c { then } else { els }),
                _ => self.not_constant(cond.span, "the condition is not a bool"),
            },
            ExprKind::Array(parts) => {
                let values = parts.iter().map(|p| self.const_expr(env, p)).collect::<Option<Vec<_>>>()?;
                self.spend(values.iter().map(weight).sum(), e.span)?;
                self.uniform(values, e.span)
            }
            ExprKind::Repeat { elem, len } => {
                let v = self.const_expr(env, elem)?;
                let n = self.const_int(env, len)?.to_u64().filter(|n| *n <= limits::ARRAY_ELEMENTS);
                let Some(n) = n else { return self.too_many(len.span) };
                self.spend(n.saturating_mul(weight(&v)), e.span)?;
                Some(CVal::Array(vec![v; n as usize]))
            }
            ExprKind::Comprehension { var, lo, hi, inclusive, elem } => {
                let values = self.const_each(env, var, (lo, hi, *inclusive), elem)?;
                self.uniform(values, e.span)
            }
            ExprKind::Sum { var, lo, hi, inclusive, body } => {
                let values = self.const_each(env, var, (lo, hi, *inclusive), body)?;
                values.into_iter().try_fold(CVal::Int(BigInt::ZERO), |a, v| self.const_binary(BinOp::Add, a, v, e.span))
            }
            ExprKind::Index { base, index } => {
                if let Some((constant, indices)) = self.element_of_constant(env, e)? {
                    return self.const_element(&constant.1, &indices);
                }
                let v = self.const_expr(env, base)?;
                let i = self.const_int(env, index)?;
                self.const_element(&v, &[(i, index.span)])
            }
            ExprKind::Slice { base, off, len } => {
                let v = self.const_expr(env, base)?;
                let (off, len) = (self.const_int(env, off)?, self.const_int(env, len)?);
                self.const_slice(v, &off, &len, e.span)
            }
            ExprKind::Field { base, field } => {
                let v = self.const_expr(env, base)?;
                self.const_field(v, field)
            }
            ExprKind::Convert { to, arg } => {
                let v = self.const_expr(env, arg)?;
                let ty = self.plain_type(env, to)?;
                self.const_convert(v, &ty, e.span)
            }
            ExprKind::Struct { path, fields } => self.const_struct(env, path, fields, e.span),
            ExprKind::Call { callee, args, .. } => self.const_call(env, callee, args, e.span),
            ExprKind::Error => None,
            ExprKind::Tuple(_)
            | ExprKind::TupleField { .. }
            | ExprKind::Congruent { .. }
            | ExprKind::Forall { .. } => self.not_constant(e.span, "this form cannot stand in a constant"),
        }
    }

    fn const_name(&mut self, env: &Env, path: &Path, span: Span) -> Option<CVal> {
        if path.module.is_none() {
            if let Some(v) = env.var(&path.name.name) {
                return Some(v.clone());
            }
            if env.hidden.contains(&path.name.name) {
                return self.not_constant(span, "a variable, known only at run time");
            }
            match env.generic(&path.name.name) {
                Some(Generic::Const(v)) => return Some(CVal::Int(v.clone())),
                Some(Generic::Len(Len::Const(n))) => return Some(CVal::Int((*n).into())),
                Some(Generic::Len(Len::Param { .. })) => return self.not_constant(span, "a length is known only at run time"),
                Some(Generic::Type(_)) => return self.not_constant(span, "this is a type"),
                None => {}
            }
        }
        match self.resolve(env.module, path) {
            Err(d) => self.unresolved(d),
            Ok(entity) if self.world.is_constant(entity) => self.constant(entity, span).map(|c| c.1.clone()),
            Ok(other) => self.not_constant(span, format!("this is a {}", other.item.noun())),
        }
    }

    fn const_call(&mut self, env: &mut Env, callee: &Path, args: &[Expr], span: Span) -> Option<CVal> {
        if callee.module.is_none() && callee.name.name == "len" && args.len() == 1 {
            return match self.const_expr(env, &args[0])? {
                CVal::Array(vs) => Some(CVal::Int(vs.len().into())),
                _ => self.not_constant(args[0].span, "`len` needs an array"),
            };
        }
        if let (None, Some(Generic::Type(ty)), [arg]) = (&callee.module, env.generics.get(&callee.name.name), args) {
            let ty = ty.clone();
            let v = self.const_expr(env, arg)?;
            return self.const_convert(v, &ty, span);
        }
        match self.resolve(env.module, callee) {
            Err(d) => self.unresolved(d),
            Ok(entity @ Entity { item: Item::ConstFn(_), .. }) => self.const_function_call(env, entity, args, span),
            Ok(entity @ Entity { item: Item::Table(_), .. }) if args.len() == 1 => {
                let v = self.const_expr(env, &args[0])?;
                let table = self.table_info(entity, span)?;
                let CVal::Word(_, index) = self.coerce(v, &Ty::Word(table.inputs), args[0].span)? else { return None };
                let entry = table.entries[index.to_usize().unwrap_or(0)];
                Some(CVal::Word(table.outputs, entry.into()))
            }
            Ok(entity @ Entity { item: Item::Perm(_), .. }) if args.len() == 1 => {
                let v = self.const_expr(env, &args[0])?;
                let perm = self.perm_info(entity, span)?;
                let CVal::Word(_, x) = self.coerce(v, &Ty::Word(perm.inputs), args[0].span)? else { return None };
                Some(CVal::Word(perm.from.len() as u32, crate::arith::applied(&perm, &x)))
            }
            Ok(_) => self.not_constant(span, "only `const fn`s are evaluated at compile time"),
        }
    }

    fn const_each(
        &mut self,
        env: &mut Env,
        var: &Ident,
        (lo, hi, inclusive): (&Expr, &Expr, bool),
        body: &Expr,
    ) -> Option<Vec<CVal>> {
        let (lo, last) = (self.const_int(env, lo)?, self.const_int(env, hi)?);
        let end = if inclusive { last + 1 } else { last };
        let trips = (&end - &lo).max(BigInt::ZERO);
        if trips > BigInt::from(limits::ARRAY_ELEMENTS) {
            return self.too_many(hi.span);
        }
        let mut out = Vec::new();
        let mut i = lo;
        while i < end {
            env.vars.push((var.name.clone(), CVal::Int(i.clone())));
            let v = self.const_expr(env, body);
            env.vars.pop();
            let v = v?;
            self.spend(weight(&v), body.span)?;
            out.push(v);
            i += 1;
        }
        Some(out)
    }

    /// `K[i][j]` of a constant item: the item and the indices. Whole tables are not copied.
    fn element_of_constant(&mut self, env: &mut Env, e: &Expr) -> Option<Option<Element>> {
        match &e.kind {
            ExprKind::Paren(inner) => self.element_of_constant(env, inner),
            ExprKind::Index { base, index } => {
                let Some((constant, mut indices)) = self.element_of_constant(env, base)? else { return Some(None) };
                indices.push((self.const_int(env, index)?, index.span));
                Some(Some((constant, indices)))
            }
            ExprKind::Name(path) if path.module.is_some() || !env.binds(&path.name.name) => {
                match self.resolve(env.module, path) {
                    Ok(entity) if self.world.is_constant(entity) => Some(Some((self.constant(entity, e.span)?, Vec::new()))),
                    _ => Some(None),
                }
            }
            _ => Some(None),
        }
    }

    fn const_element(&mut self, v: &CVal, indices: &[(BigInt, Span)]) -> Option<CVal> {
        let [(i, span), rest @ ..] = indices else { return Some(v.clone()) };
        let CVal::Array(vs) = v else { return self.not_constant(*span, "only arrays are indexed") };
        match i.to_usize().and_then(|i| vs.get(i)) {
            Some(element) => self.const_element(element, rest),
            None => self.outside(i, vs.len() as u64, *span),
        }
    }

    /// An index beyond its array.
    pub fn outside<T>(&mut self, index: &BigInt, len: u64, span: Span) -> Option<T> {
        self.fail(
            Diagnostic::error("index-out-of-range", format!("index {} outside an array of {len}", arith::show(index)))
                .at(span, "outside")
                .help(if len == 0 { "the array is empty".into() } else { format!("indices are 0 to {}", len - 1) }),
        )
    }

    fn const_slice(&mut self, v: CVal, off: &BigInt, len: &BigInt, span: Span) -> Option<CVal> {
        let CVal::Array(vs) = v else { return self.not_constant(span, "only arrays are sliced") };
        match (off.to_usize(), (off + len).to_usize()) {
            (Some(a), Some(b)) if a <= b && b <= vs.len() => Some(CVal::Array(vs[a..b].to_vec())),
            _ => self.outside(&(off + len - 1), vs.len() as u64, span),
        }
    }

    fn const_unary(&mut self, op: UnOp, v: CVal, span: Span) -> Option<CVal> {
        Some(match (op, v) {
            (UnOp::Neg, CVal::Int(v)) => CVal::Int(-v),
            (UnOp::Neg, CVal::Word(b, v)) => CVal::Word(b, (-v).mod_floor(&(BigInt::one() << b))),
            (UnOp::BitNot, CVal::Word(b, v)) => CVal::Word(b, arith::mask(b) - v),
            (UnOp::Not, CVal::Bool(v)) => CVal::Bool(!v),
            _ => return self.fail(Fault::Operator.diagnostic(span)),
        })
    }

    fn const_binary(&mut self, op: BinOp, a: CVal, b: CVal, span: Span) -> Option<CVal> {
        let shift = matches!(op, BinOp::Shl | BinOp::Shr | BinOp::Rotl | BinOp::Rotr);
        match (a, b) {
            (CVal::Int(a), CVal::Int(b)) => match arith::compare(op, &a, &b) {
                Some(v) => Some(CVal::Bool(v)),
                None => self.int_result(arith::int_op(op, &a, &b), span),
            },
            (CVal::Word(bits, a), CVal::Int(b)) if shift => self.word_result(bits, arith::word_op(op, bits, &a, &b), span),
            (CVal::Word(bits, a), CVal::Int(b)) => {
                let b = self.coerce(CVal::Int(b), &Ty::Word(bits), span)?;
                self.const_binary(op, CVal::Word(bits, a), b, span)
            }
            (CVal::Int(a), CVal::Word(bits, b)) if !shift => {
                let a = self.coerce(CVal::Int(a), &Ty::Word(bits), span)?;
                self.const_binary(op, a, CVal::Word(bits, b), span)
            }
            (CVal::Word(m, a), CVal::Word(n, b)) if m == n && !shift => match arith::compare(op, &a, &b) {
                Some(v) => Some(CVal::Bool(v)),
                None => self.word_result(m, arith::word_op(op, m, &a, &b), span),
            },
            (CVal::Bool(a), CVal::Bool(b)) => match op {
                BinOp::And | BinOp::BitAnd => Some(CVal::Bool(a && b)),
                BinOp::Or | BinOp::BitOr => Some(CVal::Bool(a || b)),
                BinOp::Ne | BinOp::BitXor => Some(CVal::Bool(a != b)),
                BinOp::Eq => Some(CVal::Bool(a == b)),
                _ => self.fail(Fault::Operator.diagnostic(span)),
            },
            (a, b) if op == BinOp::Eq => Some(CVal::Bool(a == b)),
            (a, b) if op == BinOp::Ne => Some(CVal::Bool(a != b)),
            _ => self.fail(Fault::Operator.diagnostic(span)),
        }
    }

    fn const_convert(&mut self, v: CVal, ty: &Ty, span: Span) -> Option<CVal> {
        let number = match &v {
            CVal::Int(v) | CVal::Word(_, v) => v.clone(),
            CVal::Bool(b) => BigInt::from(u8::from(*b)),
            CVal::Array(_) | CVal::Struct(..) => return self.fail(Fault::Operator.diagnostic(span)),
        };
        match ty {
            Ty::Word(bits) => Some(CVal::Word(*bits, number.mod_floor(&(BigInt::one() << *bits)))),
            Ty::Int(range) => self.coerce(CVal::Int(number), &Ty::Int(range.clone()), span),
            Ty::Bool | Ty::Array { .. } | Ty::Struct(_) => self.fail(Fault::Operator.diagnostic(span)),
        }
    }

    /// The constant as a value of a declared type: literals become words, ranges and lengths are checked.
    pub fn coerce(&mut self, v: CVal, ty: &Ty, span: Span) -> Option<CVal> {
        match (v, ty) {
            (CVal::Int(v), Ty::Word(bits)) => {
                self.fits(&v, &word_range(*bits), &Ty::Word(*bits), span)?;
                Some(CVal::Word(*bits, v))
            }
            (CVal::Int(v), Ty::Int(range)) => {
                if let Some(range) = range {
                    self.fits(&v, range, ty, span)?;
                }
                Some(CVal::Int(v))
            }
            (CVal::Word(b, v), Ty::Word(bits)) if b == *bits => Some(CVal::Word(b, v)),
            (CVal::Bool(b), Ty::Bool) => Some(CVal::Bool(b)),
            (CVal::Array(vs), Ty::Array { elem, len: Len::Const(n), ranges }) if vs.len() as u64 == *n => {
                let mut out = Vec::new();
                for (i, v) in vs.into_iter().enumerate() {
                    let own = ranges.as_ref().map(|r| Ty::Int(Some(r[i].clone())));
                    out.push(self.coerce(v, own.as_ref().unwrap_or(elem), span)?);
                }
                Some(CVal::Array(out))
            }
            (CVal::Struct(a, vs), Ty::Struct(b)) if a == *b => Some(CVal::Struct(a, vs)),
            (v, ty) => {
                let (found, wanted) = (self.show(&const_ty(&v)), self.show(ty));
                self.fail(
                    Diagnostic::error("type-mismatch", format!("expected {wanted}, found {found}"))
                        .at(span, format!("this is {found}"))
                        .help("change the declared type or the value"),
                )
            }
        }
    }

    /// Refuses a constant outside the range of its type.
    pub fn fits(&mut self, v: &BigInt, range: &Range, ty: &Ty, span: Span) -> Option<()> {
        if range.holds(v) {
            return Some(());
        }
        let shown = self.show(ty);
        self.fail(
            Diagnostic::error("out-of-range", format!("{} does not fit {shown}", arith::show(v)))
                .at(span, "constant outside its type")
                .note(format!("declared: {}", arith::show_range(range)))
                .help(match ty {
                    Ty::Word(bits) => format!("`u{bits}(..)` reduces mod 2^{bits}"),
                    _ => "widen the type, or correct the constant".to_string(),
                }),
        )
    }

    fn uniform(&mut self, values: Vec<CVal>, span: Span) -> Option<CVal> {
        let word = values.iter().find_map(|v| if let CVal::Word(b, _) = v { Some(*b) } else { None });
        let values = match word {
            Some(bits) => values.into_iter().map(|v| self.coerce(v, &Ty::Word(bits), span)).collect::<Option<Vec<_>>>()?,
            None => values,
        };
        if let [first, rest @ ..] = &values[..] {
            let ty = const_ty(first);
            if let Some(other) = rest.iter().map(const_ty).find(|t| !t.same_shape(&ty)) {
                let (a, b) = (self.show(&ty), self.show(&other));
                return self.fail(
                    Diagnostic::error("type-mismatch", format!("elements of different types: {a} and {b}"))
                        .at(span, "all elements of an array have one type")
                        .help("convert the elements to one type"),
                );
            }
        }
        Some(CVal::Array(values))
    }

    pub fn not_constant<T>(&mut self, span: Span, why: impl Into<String>) -> Option<T> {
        self.fail(
            Diagnostic::error("not-constant", "a compile-time constant is needed here")
                .at(span, why)
                .help("use literals, `const` items and `const` parameters"),
        )
    }

    fn limited(&mut self, v: BigInt, span: Span) -> Option<CVal> {
        self.int_result(arith::limited(v), span)
    }

    fn int_result(&mut self, r: Result<BigInt, Fault>, span: Span) -> Option<CVal> {
        match r {
            Ok(v) => Some(CVal::Int(v)),
            Err(fault) => self.fail(fault.diagnostic(span)),
        }
    }

    fn word_result(&mut self, bits: u32, r: Result<BigInt, Fault>, span: Span) -> Option<CVal> {
        match r {
            Ok(v) => Some(CVal::Word(bits, v)),
            Err(fault) => self.fail(fault.diagnostic(span)),
        }
    }

    fn step(&mut self, span: Span) -> Option<()> {
        match self.steps_left.checked_sub(1) {
            Some(left) => {
                self.steps_left = left;
                Some(())
            }
            None => self.too_many(span),
        }
    }

    /// Accounts for `n` elements of constants.
    pub fn spend(&mut self, n: u64, span: Span) -> Option<()> {
        match self.elements_left.checked_sub(n) {
            Some(left) => {
                self.elements_left = left;
                Some(())
            }
            None => self.too_many(span),
        }
    }

    fn too_many<T>(&mut self, span: Span) -> Option<T> {
        self.fail(
            Diagnostic::error("const-too-large", "constant too large to evaluate")
                .at(span, "too many elements or steps")
                .help("constants of one program hold at most 2^22 elements and take at most 2^24 steps"),
        )
    }
}
