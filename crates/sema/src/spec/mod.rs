//! Specifications: `spec fn`s and contracts, lowered to unbounded mathematics.
//!
//! Types are informal here: words, exact integers and constants are all integers, lengths do not matter.

use crate::arith;
use crate::context::Cx;
use crate::entities::Entity;
use crate::modules::ModId;
use crate::names::Item;
use crate::values::{CVal, Generic};
use num_bigint::BigInt;
use num_traits::One;
use santoku_diag::{Diagnostic, Span};
use santoku_ir::{CmpOp, Place, SpecExpr, SpecFn, SpecId, SpecOp, Ty};
use santoku_syntax::ast::{BinOp, Block, Expr, ExprKind, Ident, Path, StmtKind, Type, TypeKind, UnOp};
use std::collections::{BTreeMap, BTreeSet};

mod bits;
mod contracts;
mod scope;
mod stands;
mod views;

pub use contracts::{contracts, Subject};
pub use scope::{of_local, Scope, SpecTy, SpecVal};
use scope::{bin, length, spec_of, Binder, View};
pub use views::{lies_inside, view_of};

impl Cx<'_> {
    /// The specification function of an entity, lowered at the first request. Recursion is allowed.
    pub fn spec_id(&mut self, entity: Entity) -> Option<SpecId> {
        self.spec_given(entity, BTreeSet::new())
    }

    /// The same where the arguments at some positions are slices of run-time length: each is an array, an offset and a length.
    fn spec_given(&mut self, entity: Entity, views: BTreeSet<usize>) -> Option<SpecId> {
        if let Some(id) = self.specs.get(&(entity, views.clone())) {
            return Some(*id);
        }
        let f = self.world.spec_function(entity)?;
        let id = SpecId(self.program.specs.len() as u32);
        self.specs.insert((entity, views.clone()), id);
        let parts = |(at, p): (usize, &santoku_syntax::ast::Param)| {
            let name = p.name.name.clone();
            if views.contains(&at) { vec![name.clone(), format!("{name}_at"), format!("{name}_len")] } else { vec![name] }
        };
        let params = f.params.iter().enumerate().flat_map(parts).collect();
        let loc = self.loc(f.name.span);
        let name = self.qualified(entity.module, &f.name.name);
        self.program.specs.push(SpecFn { name, params, body: SpecExpr::Int(BigInt::ZERO), loc });
        // Only members of an interface lack a body, and those resolve to the implementation's definition.
        let body = f.body.as_ref()?;
        let (module, types) = (entity.module, f.params.iter().map(|p| (p.name.name.clone(), &p.ty)));
        let (mut vars, mut places) = (Vec::new(), BTreeMap::new());
        for (at, (name, ty)) in types.enumerate() {
            let ty = self.spec_ty(module, &BTreeMap::new(), ty)?;
            let slot = vars.len() as u32;
            match ty.bare() {
                SpecTy::Array(elem) if views.contains(&at) => {
                    // Under no name: what the parameter's name stands for is made of them.
                    vars.extend([(String::new(), ty), (String::new(), SpecTy::Int), (String::new(), SpecTy::Int)]);
                    let [base, at, len] = [slot, slot + 1, slot + 2].map(SpecExpr::Var);
                    places.insert(name, SpecVal::View(Box::new(View { base, elem: *elem, at, len })));
                }
                _ => vars.push((name, ty)),
            }
        }
        let mut scope = Scope::new(self, module, &BTreeMap::new());
        scope.vars = vars;
        scope.places = places;
        let (body, found) = scope.block(body)?;
        let want = scope.cx.spec_ty(module, &BTreeMap::new(), &f.ret)?;
        let body = scope.fit(body, &found, &want, f.ret.span)?;
        self.program.specs[id.0 as usize].body = body;
        Some(id)
    }
}

impl Scope<'_, '_> {
    fn fail<T>(&mut self, d: Diagnostic) -> Option<T> {
        self.cx.fail(d)
    }

    fn one(&mut self, e: &Expr) -> Option<(SpecExpr, SpecTy)> {
        match self.value(e)? {
            SpecVal::One(x, ty) => Some((x, ty)),
            SpecVal::Tuple(_) => self.fail(
                Diagnostic::error("misplaced-tuple", "a tuple cannot stand here")
                    .at(e.span, "this is a tuple")
                    .help("take its parts: `result.0`, `result.1`"),
            ),
            SpecVal::View(_) => self.bad_form(e.span, "a slice of run-time length stands in calls of `spec fn`s, indices, `len` and `==`"),
        }
    }

    fn of(&mut self, e: &Expr, want: &SpecTy) -> Option<SpecExpr> {
        let (x, ty) = self.one(e)?;
        self.fit(x, &ty, want, e.span)
    }

    fn int(&mut self, e: &Expr) -> Option<SpecExpr> {
        self.of(e, &SpecTy::Int)
    }

    /// A value that ghost text can give a name to, and the type of a local that holds it.
    pub fn scalar(&mut self, e: &Expr) -> Option<(SpecExpr, Ty)> {
        match self.one(e)? {
            (x, SpecTy::Int) => Some((x, Ty::Int(None))),
            (x, SpecTy::Bool) => Some((x, Ty::Bool)),
            (_, other) => self.cx.spec_mismatch(&other, &SpecTy::Int, e.span),
        }
    }

    /// A value for a parameter of this type.
    pub fn like(&mut self, e: &Expr, ty: &Ty) -> Option<SpecExpr> {
        self.of(e, &spec_of(ty))
    }

    pub fn bool(&mut self, e: &Expr) -> Option<SpecExpr> {
        self.of(e, &SpecTy::Bool)
    }

    fn value(&mut self, e: &Expr) -> Option<SpecVal> {
        let (x, ty) = match &e.kind {
            ExprKind::Int(v) => (SpecExpr::Int(v.clone()), SpecTy::Int),
            ExprKind::Bool(b) => (SpecExpr::Bool(*b), SpecTy::Bool),
            ExprKind::Bytes { bytes, .. } => {
                let parts = bytes.iter().map(|b| SpecExpr::Int((*b).into())).collect();
                (SpecExpr::Array(parts), SpecTy::Array(Box::new(SpecTy::Int)))
            }
            ExprKind::Name(path) => return self.name(path, e.span),
            ExprKind::Power { base, exp } => {
                let exp = self.int(exp)?;
                (bin(SpecOp::Pow, SpecExpr::Int(base.clone()), exp), SpecTy::Int)
            }
            ExprKind::Call { callee, args, .. } => self.call(callee, args, e.span)?,
            ExprKind::Convert { to, arg } => self.convert(to, arg)?,
            ExprKind::Index { base, index } => match self.view(base)? {
                Some(view) => (view.element(self.int(index)?), view.elem),
                None => {
                    let (a, elem) = self.array(base)?;
                    let i = self.int(index)?;
                    (SpecExpr::Index(Box::new(a), Box::new(i)), elem)
                }
            },
            ExprKind::Slice { base, off, len } => match self.view(e)? {
                Some(view) => return Some(SpecVal::View(Box::new(view))),
                None => self.slice(base, off, len)?,
            },
            ExprKind::Field { base, field } => self.field(base, field)?,
            ExprKind::TupleField { base, index } => return self.tuple_field(base, *index, e.span),
            ExprKind::Un { op, arg } => match op {
                UnOp::Neg => (SpecExpr::Neg(Box::new(self.int(arg)?)), SpecTy::Int),
                UnOp::Not => (SpecExpr::Not(Box::new(self.bool(arg)?)), SpecTy::Bool),
                UnOp::BitNot => return self.bad_operator(e.span),
            },
            ExprKind::Bin { op, lhs, rhs } => self.binary(*op, lhs, rhs, e.span)?,
            ExprKind::Congruent { lhs, rhs, modulus } => {
                self.congruent(lhs, rhs, modulus.as_deref(), e.span)?
            }
            ExprKind::If { cond, then, els } => {
                let c = self.bool(cond)?;
                let (a, ty) = self.block(then)?;
                let (b, other) = self.block(els)?;
                let b = self.fit(b, &other, &ty, els.span)?;
                (SpecExpr::If(Box::new(c), Box::new(a), Box::new(b)), ty)
            }
            ExprKind::Tuple(parts) => {
                return Some(SpecVal::Tuple(parts.iter().map(|p| self.value(p)).collect::<Option<_>>()?));
            }
            ExprKind::Array(parts) => self.array_literal(parts, e.span)?,
            ExprKind::Sum { var, lo, hi, inclusive, body } => {
                let (slot, lo, hi, body) = self.binder(var, lo, hi, *inclusive, body, &SpecTy::Int)?;
                (SpecExpr::Sum { slot, lo, hi, body }, SpecTy::Int)
            }
            ExprKind::Forall { var, lo, hi, inclusive, body } => {
                let (slot, lo, hi, body) = self.binder(var, lo, hi, *inclusive, body, &SpecTy::Bool)?;
                (SpecExpr::Forall { slot, lo, hi, body }, SpecTy::Bool)
            }
            ExprKind::Repeat { elem, len } => self.repeated(elem, len)?,
            ExprKind::Comprehension { var, lo, hi, inclusive, elem } => self.comprehension(var, (lo, hi, *inclusive), elem)?,
            ExprKind::Struct { .. } => return self.bad_form(e.span, "structs are not built in specifications"),
            ExprKind::Paren(inner) => return self.value(inner),
            ExprKind::Error => return None,
        };
        Some(SpecVal::One(x, ty))
    }

    fn bad_operator<T>(&mut self, span: Span) -> Option<T> {
        self.fail(
            Diagnostic::error("bad-operator", "this operation needs a number of bits, and integers have none")
                .at(span, "specifications compute with integers")
                .help("write it with `/`, `%`, `*` and powers of two; `&`, `|` and `^` exist for integers that are not negative"),
        )
    }

    fn bad_form<T>(&mut self, span: Span, why: &str) -> Option<T> {
        self.fail(
            Diagnostic::error("bad-specification", "this form cannot stand in a specification")
                .at(span, why)
                .help("write the mathematics with `sum`, `if`, arrays and `spec fn`s"),
        )
    }

    fn name(&mut self, path: &Path, span: Span) -> Option<SpecVal> {
        if path.module.is_none() {
            let name = &path.name.name;
            if let Some(slot) = self.vars.iter().rposition(|(n, _)| n == name) {
                return Some(SpecVal::One(SpecExpr::Var(slot as u32), self.vars[slot].1.clone()));
            }
            if let Some(v) = self.places.get(name) {
                return Some(v.clone());
            }
            match self.generics.get(name) {
                Some(Generic::Const(v)) => return Some(SpecVal::One(SpecExpr::Int(v.clone()), SpecTy::Int)),
                Some(Generic::Len(len)) => return Some(SpecVal::One(length(len), SpecTy::Int)),
                Some(Generic::Type(_)) | None => {}
            }
            if name == "result" {
                return self.fail(
                    Diagnostic::error("unknown-name", "`result` has no meaning here")
                        .at(span, "the result exists in `ensures` only")
                        .help("use the parameters in `requires`"),
                );
            }
        }
        match self.cx.resolve(self.module, path) {
            Err(d) => self.cx.unresolved(d),
            Ok(entity) if self.cx.world.is_constant(entity) => self.constant(entity, span),
            Ok(other) => self.bad_form(span, &format!("this is a {}", other.item.noun())),
        }
    }

    fn constant(&mut self, entity: Entity, span: Span) -> Option<SpecVal> {
        let constant = self.cx.constant(entity, span)?;
        let (ty, value) = &*constant;
        let declared = self.cx.world.constant(entity).and_then(|c| c.1);
        let ty = match declared.filter(|_| matches!(value, CVal::Array(_) | CVal::Struct(..))) {
            Some(t) => self.cx.spec_ty(entity.module, &BTreeMap::new(), t)?,
            None => spec_of(ty),
        };
        Some(match value {
            CVal::Int(v) | CVal::Word(_, v) => SpecVal::One(SpecExpr::Int(v.clone()), SpecTy::Int),
            CVal::Bool(b) => SpecVal::One(SpecExpr::Bool(*b), SpecTy::Bool),
            CVal::Array(_) | CVal::Struct(..) => {
                let name = self.cx.world.constant_name(entity)?;
                let id = self.cx.const_id(entity, &name.name, name.span)?;
                SpecVal::One(SpecExpr::Place(Place::constant(id)), ty)
            }
        })
    }

    /// An array whose value is known at compile time.
    fn constant_array(&mut self, e: &Expr) -> Option<(SpecExpr, SpecTy)> {
        let mut env = self.cx.env(self.module);
        env.generics.clone_from(&self.generics);
        let v = self.cx.const_expr(&mut env, e)?;
        let ty = spec_of(&crate::values::const_ty(&v));
        Some((constant_expr(&v), ty))
    }

    fn call(&mut self, callee: &Path, args: &[Expr], span: Span) -> Option<(SpecExpr, SpecTy)> {
        if let (None, "len", [arg]) = (&callee.module, callee.name.name.as_str(), args) {
            return Some((self.whole(arg)?.len, SpecTy::Int));
        }
        let entity = match self.cx.resolve(self.module, callee) {
            Ok(entity) => entity,
            Err(d) => return self.cx.unresolved(d),
        };
        if let Item::ConstFn(_) = entity.item {
            let kind = ExprKind::Call { callee: callee.clone(), generics: Vec::new(), args: args.to_vec() };
            return self.constant_array(&Expr { kind, span });
        }
        if !matches!(entity.item, Item::Spec(_) | Item::SharedSpec(..)) {
            return self.fail(
                Diagnostic::error("not-callable", format!("this {} cannot be called in a specification", entity.item.noun()))
                    .at(span, "not a `spec fn`")
                    .help("state the meaning with a `spec fn`"),
            );
        }
        let f = self.cx.world.spec_function(entity)?;
        if f.params.len() != args.len() {
            return self.fail(
                Diagnostic::error(
                    "wrong-arguments",
                    format!("`{}` takes {} arguments, {} given", f.name.name, f.params.len(), args.len()),
                )
                .at(span, "wrong number of arguments")
                .help("give one value per parameter"),
            );
        }
        let (mut values, mut views) = (Vec::new(), BTreeSet::new());
        for (at, (p, arg)) in f.params.iter().zip(args).enumerate() {
            let want = self.cx.spec_ty(entity.module, &BTreeMap::new(), &p.ty)?;
            match self.view(arg)? {
                Some(View { base, elem, at: first, len }) => {
                    let have = SpecTy::Array(Box::new(elem));
                    if have.bare() != want.bare() {
                        return self.cx.spec_mismatch(&have, &want, arg.span);
                    }
                    views.insert(at);
                    values.extend([base, first, len]);
                }
                None => values.push(self.of(arg, &want)?),
            }
        }
        let id = self.cx.spec_given(entity, views)?;
        let ret = self.cx.spec_ty(entity.module, &BTreeMap::new(), &f.ret)?;
        Some((SpecExpr::Call(id, values), ret))
    }

    fn convert(&mut self, to: &Type, arg: &Expr) -> Option<(SpecExpr, SpecTy)> {
        let (x, ty) = self.one(arg)?;
        let x = match ty {
            SpecTy::Int => x,
            SpecTy::Stands(..) => self.fit(x, &ty, &SpecTy::Int, arg.span)?,
            SpecTy::Bool => SpecExpr::If(Box::new(x), Box::new(SpecExpr::Int(1.into())), Box::new(SpecExpr::Int(0.into()))),
            other => return self.cx.spec_mismatch(&other, &SpecTy::Int, arg.span),
        };
        match &to.kind {
            TypeKind::Word(bits) => Some((bin(SpecOp::Mod, x, SpecExpr::Int(BigInt::one() << *bits)), SpecTy::Int)),
            _ => Some((x, SpecTy::Int)),
        }
    }

    fn array(&mut self, e: &Expr) -> Option<(SpecExpr, SpecTy)> {
        match self.one(e)? {
            (x, ty) if matches!(ty.bare(), SpecTy::Array(_)) => match ty.into_bare() {
                SpecTy::Array(elem) => Some((x, *elem)),
                _ => None,
            },
            (_, other) => self.cx.spec_mismatch(&other, &SpecTy::Array(Box::new(SpecTy::Int)), e.span),
        }
    }

    /// `x[off; k]` with constant `k`, element by element.
    fn slice(&mut self, base: &Expr, off: &Expr, len: &Expr) -> Option<(SpecExpr, SpecTy)> {
        let of = self.whole(base)?;
        let start = self.int(off)?;
        let mut env = self.cx.env(self.module);
        env.generics.clone_from(&self.generics);
        let k = self.cx.const_int(&mut env, len)?;
        let k = u64::try_from(k).ok().filter(|k| *k <= 1 << 12);
        let Some(k) = k else { return self.bad_form(len.span, "a slice of at most 4096 elements is needed") };
        let parts = (0..k).map(|i| {
            let at = bin(SpecOp::Add, start.clone(), SpecExpr::Int(i.into()));
            of.element(at)
        });
        Some((SpecExpr::Array(parts.collect()), SpecTy::Array(Box::new(of.elem.clone()))))
    }

    fn field(&mut self, base: &Expr, field: &Ident) -> Option<(SpecExpr, SpecTy)> {
        let (x, ty) = self.one(base)?;
        let SpecTy::Struct(id) = ty.into_bare() else {
            return self.bad_form(base.span, "only structs have fields");
        };
        let fields = self.cx.program.structs[id.0 as usize].fields.clone();
        match fields.iter().position(|f| f.0 == field.name) {
            Some(i) => Some((SpecExpr::Field(Box::new(x), i as u32), self.cx.field_ty(id, i)?)),
            None => {
                let names: Vec<String> = fields.into_iter().map(|f| f.0).collect();
                self.cx.unknown_field(&names, field)
            }
        }
    }

    fn tuple_field(&mut self, base: &Expr, index: u32, span: Span) -> Option<SpecVal> {
        match self.value(base)? {
            SpecVal::Tuple(mut parts) if (index as usize) < parts.len() => Some(parts.swap_remove(index as usize)),
            _ => self.fail(
                Diagnostic::error("unknown-field", format!("no part {index} here"))
                    .at(span, "outside the tuple")
                    .help("`result.0` is the first part of a tuple result"),
            ),
        }
    }

    fn array_literal(&mut self, parts: &[Expr], span: Span) -> Option<(SpecExpr, SpecTy)> {
        let mut elem: Option<SpecTy> = None;
        let mut out = Vec::new();
        for p in parts {
            let (x, ty) = self.one(p)?;
            let want = elem.get_or_insert_with(|| ty.clone()).clone();
            if want.bare() != ty.bare() {
                return self.bad_form(span, "elements of different kinds");
            }
            out.push(x);
        }
        Some((SpecExpr::Array(out), SpecTy::Array(Box::new(elem.unwrap_or(SpecTy::Int)))))
    }

    fn binder(
        &mut self,
        var: &Ident,
        lo: &Expr,
        hi: &Expr,
        inclusive: bool,
        body: &Expr,
        want: &SpecTy,
    ) -> Option<Binder> {
        let (lo, hi) = (self.int(lo)?, self.int(hi)?);
        let hi = if inclusive { bin(SpecOp::Add, hi, SpecExpr::Int(1.into())) } else { hi };
        let slot = self.vars.len() as u32;
        self.vars.push((var.name.clone(), SpecTy::Int));
        let body = self.of(body, want);
        self.vars.pop();
        Some((slot, Box::new(lo), Box::new(hi), Box::new(body?)))
    }

    fn block(&mut self, block: &Block) -> Option<(SpecExpr, SpecTy)> {
        let depth = self.vars.len();
        let mut lets = Vec::new();
        for s in &block.stmts {
            let StmtKind::Let { mutable: false, names, tuple: false, value: Some(value), .. } = &s.kind else {
                return self.bad_form(s.span, "only `let` can stand here");
            };
            let (x, ty) = self.one(value)?;
            lets.push((self.vars.len() as u32, x));
            self.vars.push((names[0].name.clone(), ty));
        }
        let found = match &block.result {
            Some(result) => self.one(result),
            None => self.bad_form(block.span, "this branch has no value"),
        };
        self.vars.truncate(depth);
        let (body, ty) = found?;
        let body = lets.into_iter().rev().fold(body, |b, (slot, x)| SpecExpr::Let(slot, Box::new(x), Box::new(b)));
        Some((body, ty))
    }

    fn binary(&mut self, op: BinOp, lhs: &Expr, rhs: &Expr, span: Span) -> Option<(SpecExpr, SpecTy)> {
        let arithmetic = match op {
            BinOp::Add => Some(SpecOp::Add),
            BinOp::Sub => Some(SpecOp::Sub),
            BinOp::Mul => Some(SpecOp::Mul),
            BinOp::Div => Some(SpecOp::Div),
            BinOp::Rem => Some(SpecOp::Mod),
            _ => None,
        };
        if let Some(op) = arithmetic {
            return Some((bin(op, self.int(lhs)?, self.int(rhs)?), SpecTy::Int));
        }
        match op {
            BinOp::And => Some((SpecExpr::And(Box::new(self.bool(lhs)?), Box::new(self.bool(rhs)?)), SpecTy::Bool)),
            BinOp::Or => Some((SpecExpr::Or(Box::new(self.bool(lhs)?), Box::new(self.bool(rhs)?)), SpecTy::Bool)),
            BinOp::Implies => {
                Some((SpecExpr::Implies(Box::new(self.bool(lhs)?), Box::new(self.bool(rhs)?)), SpecTy::Bool))
            }
            BinOp::Shl | BinOp::Shr => {
                let two = bin(SpecOp::Pow, SpecExpr::Int(2.into()), self.int(rhs)?);
                let op = if op == BinOp::Shl { SpecOp::Mul } else { SpecOp::Div };
                Some((bin(op, self.int(lhs)?, two), SpecTy::Int))
            }
            BinOp::BitAnd => self.mask(lhs, rhs),
            BinOp::BitXor => Some((bin(SpecOp::Xor, self.int(lhs)?, self.int(rhs)?), SpecTy::Int)),
            BinOp::BitOr => Some((bin(SpecOp::Or, self.int(lhs)?, self.int(rhs)?), SpecTy::Int)),
            BinOp::Rotl | BinOp::Rotr => self.bad_operator(span),
            _ => self.comparison(op, lhs, rhs),
        }
    }

    /// `x & (2^k - 1)` is a remainder, of negative integers too.
    fn mask(&mut self, lhs: &Expr, rhs: &Expr) -> Option<(SpecExpr, SpecTy)> {
        let (x, m) = (self.int(lhs)?, self.int(rhs)?);
        let low = bits::constant(&m).map(|m| m + 1).filter(|m| arith::log2_exact(m).is_some());
        Some((low.map_or_else(|| bin(SpecOp::And, x.clone(), m), |m| bin(SpecOp::Mod, x.clone(), SpecExpr::Int(m))), SpecTy::Int))
    }

    fn comparison(&mut self, op: BinOp, lhs: &Expr, rhs: &Expr) -> Option<(SpecExpr, SpecTy)> {
        if let (BinOp::Eq | BinOp::Ne, Some(same)) = (op, self.alike(lhs, rhs)?) {
            return Some((if op == BinOp::Eq { same } else { SpecExpr::Not(Box::new(same)) }, SpecTy::Bool));
        }
        let (a, b, ty) = self.both(op, lhs, rhs)?;
        let cmp = match op {
            BinOp::Eq => CmpOp::Eq,
            BinOp::Ne => CmpOp::Ne,
            BinOp::Lt => CmpOp::Lt,
            BinOp::Le => CmpOp::Le,
            BinOp::Gt => CmpOp::Gt,
            _ => CmpOp::Ge,
        };
        if !matches!(cmp, CmpOp::Eq | CmpOp::Ne) && ty != SpecTy::Int {
            return self.cx.spec_mismatch(&ty, &SpecTy::Int, lhs.span);
        }
        Some((SpecExpr::Cmp(cmp, Box::new(a), Box::new(b)), SpecTy::Bool))
    }
}

fn constant_expr(v: &CVal) -> SpecExpr {
    match v {
        CVal::Int(v) | CVal::Word(_, v) => SpecExpr::Int(v.clone()),
        CVal::Bool(b) => SpecExpr::Bool(*b),
        CVal::Array(vs) | CVal::Struct(_, vs) => SpecExpr::Array(vs.iter().map(constant_expr).collect()),
    }
}

/// Lowers every specification a module declares, reachable or not.
pub fn all_of(cx: &mut Cx, module: ModId) {
    let world = cx.world;
    for (name, item) in &world.module(module).items {
        if matches!(item, Item::Spec(_) | Item::SharedSpec(..)) {
            if let Some(entity) = cx.lookup(module, name) {
                cx.spec_id(entity);
            }
        }
    }
}
