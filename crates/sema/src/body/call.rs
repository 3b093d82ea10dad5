//! Calls: arguments, generic parameters, where the results go.

use crate::context::Cx;
use crate::draft::Draft;
use crate::entities::Entity;
use crate::names::{closest, Item};
use crate::secrecy::Need;
use crate::sty::STy;
use crate::values::Generic;
use super::context::{Dst, FnCx, One, Val, View};
use super::function::dst_of;
use super::view::takes_length;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use santoku_diag::{Diagnostic, Span};
use santoku_ir::{Expr, FuncId, Len, LocalId, Place, Ty};
use santoku_syntax::ast::{self, GenericArg, Path};
use std::collections::BTreeMap;

/// A call whose arguments are values.
struct Ready {
    func: FuncId,
    lens: Vec<Expr>,
    args: Vec<Expr>,
    /// In terms of the caller's lengths.
    ret: STy,
}

/// See [`FnCx::mapped_call`].
type Mapping<'a> = (u32, &'a dyn Fn(&BigInt) -> Expr, fn(&mut Cx, Entity, &Ty, Span) -> Option<(FuncId, Ty)>);

impl FnCx<'_, '_> {
    /// A call as a value. `dst`: where a function's result is to be written; a fresh temporary without it.
    pub fn call(
        &mut self,
        callee: &Path,
        generics: &[GenericArg],
        args: &[ast::Expr],
        hint: Option<&Ty>,
        dst: Option<&Dst>,
        span: Span,
    ) -> Option<Val> {
        if callee.module.is_none() && callee.name.name == "len" {
            return self.len_of(args, span).map(Val::One);
        }
        if let (None, Some(Generic::Type(ty))) = (&callee.module, self.env.generics.get(&callee.name.name)) {
            let ty = ty.clone();
            return self.conversion_call(&ty, args, span).map(Val::One);
        }
        let entity = match self.cx.resolve(self.env.module, callee) {
            Ok(entity) => entity,
            Err(_) if super::words::form(callee).is_some() => {
                return self.load_word(super::words::form(callee)?, args, span).map(Val::One);
            }
            Err(d) => {
                let builtins = super::words::NAMES.iter().copied().chain(["len"]);
                let d = match closest(&callee.name.name, builtins) {
                    Some(near) if callee.module.is_none() => d.map(|d| Box::new(d.help(format!("did you mean `{near}`?")))),
                    _ => d,
                };
                return self.cx.unresolved(d);
            }
        };
        match entity.item {
            Item::Fn(_) if self.cx.world.function(entity).is_some_and(|f| f.lemma) => self.ghost_in_code(&callee.name.name, span),
            Item::Fn(_) => {
                let ready = self.prepare(entity, generics, args, hint, span)?;
                self.emit_call(ready, dst, span)
            }
            Item::Table(_) => self.table_call(entity, args, dst, span).map(Val::One),
            Item::Perm(_) => self.perm_call(entity, args, dst, span).map(Val::One),
            Item::ConstFn(_) => self.const_function_value(callee, args, hint, span).map(Val::One),
            Item::Type(_) | Item::Param(_) => {
                let alias = ast::Type { kind: ast::TypeKind::Named(callee.clone()), span: callee.span };
                let mut env = self.env.clone();
                let to = self.cx.plain_type(&mut env, &alias)?;
                self.conversion_call(&to, args, span).map(Val::One)
            }
            other => self.not_callable(other, span),
        }
    }

    /// A constant function in code: its arguments are constants, or depend on a loop counter; so does its value.
    fn const_function_value(&mut self, callee: &Path, args: &[ast::Expr], hint: Option<&Ty>, span: Span) -> Option<One> {
        let kind = ast::ExprKind::Call { callee: callee.clone(), generics: Vec::new(), args: args.to_vec() };
        let e = ast::Expr { kind, span };
        if !self.is_constant(&e, &mut Vec::new()) && self.counted(&e) {
            return self.counter_table(&e, hint);
        }
        self.constant_value(&e, hint)
    }

    fn not_callable<T>(&mut self, item: Item, span: Span) -> Option<T> {
        let help = match item {
            Item::Spec(_) | Item::SharedSpec(..) => "specifications stand in contracts only; write a `fn` for code",
            Item::Struct(_) => "build a struct with `S { field: value }`",
            _ => "only functions, tables and types are called",
        };
        self.fail(
            Diagnostic::error("not-callable", format!("this {} cannot be called here", item.noun()))
                .at(span, "called here")
                .help(help),
        )
    }

    fn conversion_call(&mut self, to: &Ty, args: &[ast::Expr], span: Span) -> Option<One> {
        let [arg] = args else { return self.wrong_arguments("conversion", 1, args.len(), span) };
        self.convert(to, arg, span)
    }

    pub fn wrong_arguments<T>(&mut self, name: &str, wanted: usize, found: usize, span: Span) -> Option<T> {
        self.fail(
            Diagnostic::error("wrong-arguments", format!("`{name}` takes {wanted} arguments, {found} given"))
                .at(span, "wrong number of arguments")
                .help("give one value per parameter"),
        )
    }

    /// Lowers the arguments and finds the instance.
    fn prepare(
        &mut self,
        entity: Entity,
        generics: &[GenericArg],
        args: &[ast::Expr],
        hint: Option<&Ty>,
        span: Span,
    ) -> Option<Ready> {
        let f = self.cx.world.function(entity)?;
        if f.params.len() != args.len() {
            return self.wrong_arguments(&f.name.name, f.params.len(), args.len(), span);
        }
        if f.generics.is_empty() && generics.is_empty() {
            return self.prepare_plain(entity, f, args, span);
        }
        let mut env = self.cx.env(entity.module);
        self.explicit(f, generics, &mut env)?;
        // Arguments in order; a parameter type whose generics are all known gives constants their type.
        let mut values: Vec<Option<One>> = Vec::new();
        let mut views: BTreeMap<usize, View> = BTreeMap::new();
        let mut complete = true;
        for (at, (param, arg)) in f.params.iter().zip(args).enumerate() {
            if takes_length(f, &param.ty) {
                if let Some(view) = self.view_of(arg)? {
                    crate::infer::unify(self.cx, &mut env, f, &param.ty, &view.ty());
                    values.push(Some(One::new(Expr::read(view.base.clone(), &view.base_ty()), view.ty())));
                    views.insert(at, view);
                    continue;
                }
            }
            let wanted = match crate::infer::unbound_in(&env, f, &param.ty) {
                true => self.literal_hint(&mut env, f, &param.ty, arg),
                false => self.cx.one_type(&mut env, &param.ty).map(|(ty, _)| ty),
            };
            let value = self.one(arg, wanted.as_ref());
            if let (Some(v), false) = (&value, value.as_ref().is_some_and(|v| v.flex)) {
                crate::infer::unify(self.cx, &mut env, f, &param.ty, &v.ty);
            }
            complete &= value.is_some();
            values.push(value);
        }
        if !complete {
            return None;
        }
        for (param, value) in f.params.iter().zip(&values) {
            if let Some(v) = value.as_ref().filter(|v| v.flex) {
                crate::infer::unify(self.cx, &mut env, f, &param.ty, &v.ty);
            }
        }
        if let (Some(ret), Some(hint)) = (&f.ret, hint) {
            crate::infer::unify(self.cx, &mut env, f, ret, hint);
        }
        let mut key = crate::infer::instance_key(self.cx, entity, f, &env, span)?;
        key.views = views.iter().map(|(at, v)| (*at, v.backing())).collect();
        let mut lens = self.length_arguments(f, &env);
        let mut lowered = Vec::new();
        for (at, ((param, arg), value)) in f.params.iter().zip(args).zip(values).enumerate() {
            let (want, public) = self.cx.one_type(&mut env, &param.ty)?;
            if let Some(view) = views.get(&at) {
                let whole = self.coerce(value?, &want, arg.span)?;
                if public {
                    self.need(Need::Argument, &whole, arg.span);
                }
                if let Len::Param { param, .. } = view.total {
                    lens.push(self.read_local(param).expr);
                }
                lowered.extend([whole, view.at.clone()]);
                continue;
            }
            let expr = self.coerce(value?, &want, arg.span)?;
            if public {
                self.need(Need::Argument, &expr, arg.span);
            }
            lowered.push(expr);
        }
        let ret = self.cx.any_type(&mut env, f.ret.as_ref()?)?;
        let func = self.cx.instance(key, span)?;
        Some(Ready { func, lens, args: lowered, ret })
    }

    /// The type of an array written out, where the parameter leaves its length open and says what its elements are.
    fn literal_hint(&mut self, env: &mut crate::values::Env, f: &ast::Function, t: &ast::Type, arg: &ast::Expr) -> Option<Ty> {
        let ast::TypeKind::Array { elem, .. } = &t.kind else { return None };
        if crate::infer::unbound_in(env, f, elem) {
            return None;
        }
        let len = match &super::context::bare(arg).kind {
            ast::ExprKind::Array(parts) => Len::Const(parts.len() as u64),
            ast::ExprKind::Repeat { len, .. } => self.cx.length(&mut self.env.clone(), len)?,
            ast::ExprKind::Comprehension { lo, hi, inclusive, .. } => self.comprehension_length(lo, hi, *inclusive)?,
            _ => return None,
        };
        let (elem, _) = self.cx.one_type(env, elem)?;
        Some(Ty::Array { elem: Box::new(elem), len, ranges: None })
    }

    /// A call of a function without generic parameters.
    fn prepare_plain(&mut self, entity: Entity, f: &ast::Function, args: &[ast::Expr], span: Span) -> Option<Ready> {
        let key = crate::keys::plain_key(entity, f)?;
        let func = self.cx.instance(key, span);
        let signature = func.and_then(|id| self.cx.signatures.get(&id).cloned());
        let mut lowered = Vec::new();
        let mut complete = true;
        for (i, arg) in args.iter().enumerate() {
            let param = signature.as_ref().map(|s| &s.params[i]);
            let value = self.one(arg, param.map(|p| &p.0));
            let expr = match (value, param) {
                (Some(v), Some((want, _))) => self.coerce(v, want, arg.span),
                _ => None,
            };
            if let (Some(expr), Some((_, true))) = (&expr, param) {
                self.need(Need::Argument, expr, arg.span);
            }
            complete &= expr.is_some();
            lowered.extend(expr);
        }
        let ret = signature?.ret;
        complete.then_some(Ready { func: func?, lens: Vec::new(), args: lowered, ret })
    }

    /// `f::<16, u32>`: binds generics from the left.
    fn explicit(&mut self, f: &ast::Function, given: &[GenericArg], env: &mut crate::values::Env) -> Option<()> {
        if given.len() > f.generics.len() {
            return self.wrong_arguments(&format!("{}::<..>", f.name.name), f.generics.len(), given.len(), f.name.span);
        }
        for (g, arg) in f.generics.iter().zip(given) {
            let bound = self.generic_argument(g, arg)?;
            env.generics.insert(g.name.name.clone(), bound);
        }
        Some(())
    }

    fn generic_argument(&mut self, g: &ast::Generic, arg: &GenericArg) -> Option<Generic> {
        let mut own = self.env.clone();
        match (g.kind, arg) {
            (ast::GenericKind::Type, GenericArg::Type(t)) => self.cx.plain_type(&mut own, t).map(Generic::Type),
            (ast::GenericKind::Type, GenericArg::Expr(e)) => match &e.kind {
                ast::ExprKind::Name(path) => {
                    let t = ast::Type { kind: ast::TypeKind::Named(path.clone()), span: e.span };
                    self.cx.plain_type(&mut own, &t).map(Generic::Type)
                }
                _ => self.wrong_generic(g, e.span),
            },
            (ast::GenericKind::Const, GenericArg::Expr(e)) => self.const_int(e).map(Generic::Const),
            (ast::GenericKind::Len, GenericArg::Expr(e)) => self.cx.length(&mut own, e).map(Generic::Len),
            (_, GenericArg::Type(t)) => match &t.kind {
                // The parser cannot tell a constant's name from a type's.
                ast::TypeKind::Named(path) => {
                    let e = ast::Expr { kind: ast::ExprKind::Name(path.clone()), span: t.span };
                    self.generic_argument(g, &GenericArg::Expr(e))
                }
                _ => self.wrong_generic(g, t.span),
            },
        }
    }

    fn wrong_generic<T>(&mut self, g: &ast::Generic, span: Span) -> Option<T> {
        let wanted = match g.kind {
            ast::GenericKind::Type => "a type",
            ast::GenericKind::Const => "a constant",
            ast::GenericKind::Len => "a length",
        };
        self.fail(
            Diagnostic::error("wrong-arguments", format!("`{}` needs {wanted}", g.name.name))
                .at(span, format!("not {wanted}"))
                .help("generic arguments follow the order of the parameters in `<..>`"),
        )
    }

    fn length_arguments(&mut self, f: &ast::Function, env: &crate::values::Env) -> Vec<Expr> {
        let mut out = Vec::new();
        for g in f.generics.iter().filter(|g| g.kind == ast::GenericKind::Len) {
            if let Some(Generic::Len(len)) = env.generics.get(&g.name.name) {
                out.push(self.len_value(len).expr);
            }
        }
        out
    }

    /// Writes the call; the results go to `dst` or to temporaries.
    fn emit_call(&mut self, ready: Ready, dst: Option<&Dst>, span: Span) -> Option<Val> {
        let flat = ready.ret.flat();
        let fresh: Vec<LocalId> = match dst {
            Some(_) => Vec::new(),
            None => flat.iter().map(|(ty, _)| self.temp(ty, span)).collect(),
        };
        let temps = dst_of(&ready.ret, &mut fresh.iter());
        let target = dst.unwrap_or(&temps);
        let mut places = Vec::new();
        self.flatten(target, &ready.ret, &mut places, span)?;
        let secret = ready.args.iter().any(|a| self.known_secret(a));
        let public = self.cx.signatures.get(&ready.func).map(|s| s.ret_public.clone()).unwrap_or_default();
        for (i, place) in places.iter().enumerate() {
            self.note_secret(place, secret && !public.get(i).copied().unwrap_or(false));
        }
        let result = result_value(target, &ready.ret);
        self.out.push(Draft::Call { dsts: places, func: ready.func, lens: ready.lens, args: ready.args, span });
        Some(result)
    }

    /// Places in the order of the flattened results; structure and shapes must agree.
    fn flatten(&mut self, dst: &Dst, ty: &STy, out: &mut Vec<Place>, span: Span) -> Option<()> {
        match (dst, ty) {
            (Dst::One(place), STy::One { .. }) => {
                out.push(place.clone());
                Some(())
            }
            (Dst::Tuple(dsts), STy::Tuple(tys)) if dsts.len() == tys.len() => {
                dsts.iter().zip(tys).try_for_each(|(d, t)| self.flatten(d, t, out, span))
            }
            (_, ty) => {
                let found = self.cx.show_sty(ty);
                self.fail(
                    Diagnostic::error("type-mismatch", format!("result of type {found} does not fit here"))
                        .at(span, format!("this is {found}"))
                        .help("take a tuple apart with `let (a, b) = ..`"),
                )
            }
        }
    }

    /// A `table` applied to a word, or to the columns of an array of words.
    fn table_call(&mut self, entity: Entity, args: &[ast::Expr], dst: Option<&Dst>, span: Span) -> Option<One> {
        let info = self.cx.table_info(entity, span)?;
        let of = |v: &BigInt| Expr::word(info.outputs, v.to_usize().and_then(|i| info.entries.get(i).copied()).unwrap_or(0));
        self.mapped_call(entity, args, dst, span, (info.inputs, &of, |cx, e, ty, at| cx.table_function(e, ty, at)))
    }

    /// A `perm` applied to a word, or to an array of words.
    fn perm_call(&mut self, entity: Entity, args: &[ast::Expr], dst: Option<&Dst>, span: Span) -> Option<One> {
        let info = self.cx.perm_info(entity, span)?;
        let of = |v: &BigInt| Expr::word(info.from.len() as u32, crate::arith::applied(&info, v));
        self.mapped_call(entity, args, dst, span, (info.inputs, &of, |cx, e, ty, at| cx.perm_function(e, ty, at)))
    }

    /// A map of words applied to one argument: bits of its input, what it makes of a constant, and its function for a type of argument.
    fn mapped_call(&mut self, entity: Entity, args: &[ast::Expr], dst: Option<&Dst>, span: Span, (inputs, of, function): Mapping) -> Option<One> {
        let name = self.cx.world.table(entity)?.name.name.clone();
        let [arg] = args else { return self.wrong_arguments(&name, 1, args.len(), span) };
        let one = self.one(arg, Some(&Ty::Word(inputs)))?;
        if let Some(v) = one.flex_value().cloned() {
            self.cx.fits(&v, &crate::sty::word_range(inputs), &Ty::Word(inputs), arg.span)?;
            return Some(One::fresh(of(&v)));
        }
        let (func, ret) = function(self.cx, entity, &one.ty, arg.span)?;
        self.emit_one(Ready { func, lens: Vec::new(), args: vec![one.expr], ret: STy::one(ret) }, dst, span)
    }

    /// A call that gives one value.
    fn emit_one(&mut self, ready: Ready, dst: Option<&Dst>, span: Span) -> Option<One> {
        match self.emit_call(ready, dst, span)? {
            Val::One(one) => Some(one),
            Val::Tuple(_) => None,
        }
    }
}

/// What a destination reads as after the call.
fn result_value(dst: &Dst, ty: &STy) -> Val {
    match (dst, ty) {
        (Dst::Tuple(dsts), STy::Tuple(tys)) => Val::Tuple(dsts.iter().zip(tys).map(|(d, t)| result_value(d, t)).collect()),
        (Dst::One(place), STy::One { ty, .. }) => Val::One(One::new(Expr::read(place.clone(), ty), ty.clone())),
        _ => Val::Tuple(Vec::new()),
    }
}
