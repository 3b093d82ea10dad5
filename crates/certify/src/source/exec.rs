//! Symbolic execution of one IR function.
//!
//! Needs: [`super::value`], [`super::place`], [`super::ops`].  Keeps: one state (locals and path condition) that every
//! statement maps to the next, so that a loop can be cut at its head ([`Environment::cuts_loop`]).  Absent: asserts,
//! invariants and contracts, which are proved elsewhere.

use santoku_bytes::layout;
use num_bigint::BigInt;
use num_traits::{ToPrimitive, Zero};
use santoku_ir::interp::{Interp, Options};
use santoku_ir::{Base, CmpOp, ConstId, ConstValue, Expr, ExprKind, Func, FuncId, Len, Loc, Place, Program, Stmt, Ty};
use std::collections::{BTreeMap, BTreeSet};

use crate::term::{Array, Everywhere, OutSpec, T, Terms, Written};
use super::ops;
use super::state::{CallMade, Environment, Inputs, Limits, Path, Site, Source, State};
use super::stop::Stop;
use super::value::{concrete, known_length, scalars_of, with_lengths, Value};

/// Steps of the interpreter for one cut call on one sample.
const CALL_STEPS: u64 = 1 << 26;

impl<'a> Source<'a> {
    pub fn new(program: &'a Program, terms: &'a mut Terms, env: &'a dyn Environment) -> Source<'a> {
        let interp = Interp::with_options(program, Options { steps: CALL_STEPS, ..Options::default() });
        Source { program, terms, env, limits: Limits::default(), calls: vec![], watched: BTreeSet::new(), steps: 0, tables: BTreeMap::new(), interp }
    }

    /// The results of `func` on these lengths and arguments. The function itself is executed, cut or not.
    ///
    /// # Errors
    /// See [`Stop`].
    pub fn run(&mut self, func: FuncId, lens: &[T], args: Vec<Value>) -> Result<Vec<Value>, Stop> {
        let mut state = self.enter(func, lens, args, Terms::ONE)?;
        self.block(func, &self.program.func(func).body, &mut state)?;
        Ok(self.results(func, &state))
    }

    /// The state at the beginning of a function.
    ///
    /// # Errors
    /// [`Stop::Malformed`]: the numbers of lengths or arguments do not fit.
    pub fn enter(&mut self, func: FuncId, lens: &[T], args: Vec<Value>, path: T) -> Result<State, Stop> {
        let f = self.program.func(func);
        if lens.len() != f.lens.len() || args.len() != f.params.len() {
            return Err(Stop::Malformed(format!("arguments of `{}`", f.name)));
        }
        let known = self.known_lengths(f, lens);
        let mut locals = Vec::with_capacity(f.locals.len());
        for local in &f.locals {
            locals.push(Value::blank(self.program, &with_lengths(&local.ty, &known))?);
        }
        for (id, len) in f.lens.iter().zip(lens) {
            locals[id.0 as usize] = Value::Scalar(*len);
        }
        for (id, arg) in f.params.iter().zip(args) {
            locals[id.0 as usize] = arg;
        }
        self.spend(locals.len() as u64)?;
        Ok(State { locals, path })
    }

    /// The results as they stand in a state.
    pub fn results(&self, func: FuncId, state: &State) -> Vec<Value> {
        self.program.func(func).rets.iter().map(|r| state.locals[r.0 as usize].clone()).collect()
    }

    /// Lengths that are constants in a call.
    fn known_lengths<'f>(&self, f: &'f Func, lens: &[T]) -> impl Fn(&Len) -> Option<u64> + 'f {
        let known: Vec<Option<u64>> = lens.iter().map(|t| self.terms.as_const(*t).and_then(|v| v.to_u64())).collect();
        move |len| match len {
            Len::Const(n) => Some(*n),
            Len::Param { param, add } => {
                let at = f.lens.iter().position(|l| l == param)?;
                known[at]?.checked_add_signed(*add)
            }
        }
    }

    /// Counts work; stops at the limits.
    pub(super) fn spend(&mut self, steps: u64) -> Result<(), Stop> {
        self.steps += steps;
        if self.steps > self.limits.steps || self.terms.size() > self.limits.terms {
            return Err(Stop::TooBig);
        }
        Ok(())
    }

    /// Executes statements of `func`.
    ///
    /// # Errors
    /// See [`Stop`].
    pub fn block(&mut self, func: FuncId, body: &'a [Stmt], state: &mut State) -> Result<(), Stop> {
        body.iter().try_for_each(|s| self.stmt(func, s, state))
    }

    fn stmt(&mut self, func: FuncId, stmt: &'a Stmt, state: &mut State) -> Result<(), Stop> {
        self.spend(1)?;
        let f = self.program.func(func);
        match stmt {
            Stmt::Assign { dst, src, .. } => {
                let path = self.resolve(f, dst, state)?;
                let mut value = self.expr(f, src, state)?;
                if let Some(naming) = self.limits.naming {
                    value = value.map(&mut |t| self.terms.name_value(t, naming));
                }
                if self.limits.name_words {
                    value = self.named(value, &src.ty);
                }
                self.assign(dst, &path, value, state)
            }
            Stmt::Call { dsts, func: callee, lens, args, loc } => self.call(f, dsts, *callee, (lens, args), *loc, state),
            Stmt::For { .. } => self.for_loop(func, stmt, state),
            Stmt::If { cond, then, els, .. } => {
                let c = self.scalar(f, cond, state)?;
                match self.terms.as_const(c) {
                    Some(c) => self.block(func, if c.is_zero() { els } else { then }, state),
                    None => self.both(func, c, (then, els), state),
                }
            }
            Stmt::Assert { .. } | Stmt::Ghost { .. } => Ok(()),
        }
    }

    /// Words by their names ([`Terms::name_word`]).
    fn named(&mut self, value: Value, ty: &Ty) -> Value {
        match (&value, ty) {
            (Value::Scalar(t), Ty::Word(bits)) => Value::Scalar(self.terms.name_word(*t, *bits)),
            (Value::Parts(parts), Ty::Array { elem, .. }) => {
                Value::parts(parts.iter().map(|v| self.named(v.clone(), elem)).collect())
            }
            _ => value,
        }
    }

    /// Executes both branches, each under its condition, and joins the states.
    fn both(&mut self, func: FuncId, c: T, (then, els): (&'a [Stmt], &'a [Stmt]), state: &mut State) -> Result<(), Stop> {
        if self.limits.watch {
            self.terms.expect_condition(c);
        }
        let path = state.path;
        let not_c = self.terms.sub(Terms::ONE, c);
        let mut other = State { locals: state.locals.clone(), path: self.terms.and(path, not_c, 1) };
        state.path = self.terms.and(path, c, 1);
        if self.limits.by_induction.is_some() {
            for (state, bit) in [(&mut *state, c), (&mut other, not_c)] {
                for local in &mut state.locals {
                    *local = local.map(&mut |t| self.terms.settled_by(t, bit));
                }
            }
        }
        self.block(func, then, state)?;
        self.block(func, els, &mut other)?;
        self.join(c, state, &other)?;
        state.path = path;
        Ok(())
    }

    /// Locals of `state` where `c` is 1, of `other` where it is 0. The path condition of `state` stays.
    ///
    /// # Errors
    /// See [`Value::select`].
    pub fn join(&mut self, c: T, state: &mut State, other: &State) -> Result<(), Stop> {
        for (a, b) in state.locals.iter_mut().zip(&other.locals) {
            if a != b {
                *a = a.select(self.terms, c, b)?;
                if let Some(naming) = self.limits.naming {
                    *a = a.map(&mut |t| self.terms.name_value(t, naming));
                }
            }
        }
        Ok(())
    }

    fn for_loop(&mut self, func: FuncId, stmt: &'a Stmt, state: &mut State) -> Result<(), Stop> {
        let Stmt::For { var, lo, hi, rev, invariants, body, loc, .. } = stmt else { return Ok(()) };
        let f = self.program.func(func);
        let (lo, hi) = (self.scalar(f, lo, state)?, self.scalar(f, hi, state)?);
        let bounds = (self.terms.as_const(lo), self.terms.as_const(hi));
        let rounds = bounds.0.as_ref().zip(bounds.1.as_ref()).and_then(|(lo, hi)| (hi - lo).to_u64()).unwrap_or(0);
        let site = Site { func, var: *var, lo, hi, rev: *rev, rounds, invariants, body, loc: *loc };
        match bounds {
            (Some(lo), Some(hi)) if !self.env.cuts_loop(&site) => self.rounds(&site, lo, hi, state)?,
            _ => {
                let env = self.env;
                env.run_loop(self, &site, state)?;
            }
        }
        state.locals[var.0 as usize] = Value::Undef;
        Ok(())
    }

    fn rounds(&mut self, site: &Site<'a>, lo: BigInt, hi: BigInt, state: &mut State) -> Result<(), Stop> {
        let (mut at, end) = (lo, hi);
        let (first, last) = (at.clone(), &end - 1);
        while at < end {
            let counter: BigInt = if site.rev { &last - (&at - &first) } else { at.clone() };
            let counter = self.terms.int(counter);
            self.round(site, counter, state)?;
            at += 1;
        }
        Ok(())
    }

    /// One round of a loop, with this value of its counter.
    ///
    /// # Errors
    /// See [`Stop`].
    pub fn round(&mut self, site: &Site<'a>, counter: T, state: &mut State) -> Result<(), Stop> {
        self.spend(1)?;
        state.locals[site.var.0 as usize] = Value::Scalar(counter);
        self.block(site.func, site.body, state)
    }

    fn assign(&mut self, dst: &Place, path: &Path, value: Value, state: &mut State) -> Result<(), Stop> {
        let Base::Local(id) = dst.base else { return Err(Stop::Malformed("a write to a constant".into())) };
        let when = state.path;
        // Taken out, so that it is not shared with the state while it is written.
        let mut target = std::mem::replace(&mut state.locals[id.0 as usize], Value::Undef);
        let done = self.write_at(&mut target, path, value, when);
        state.locals[id.0 as usize] = target;
        done
    }

    fn call(
        &mut self,
        f: &'a Func,
        dsts: &'a [Place],
        func: FuncId,
        (lens, args): (&'a [Expr], &'a [Expr]),
        loc: Loc,
        state: &mut State,
    ) -> Result<(), Stop> {
        let paths = dsts.iter().map(|d| self.resolve(f, d, state)).collect::<Result<Vec<_>, _>>()?;
        let lens = lens.iter().map(|e| self.scalar(f, e, state)).collect::<Result<Vec<T>, _>>()?;
        let args = args.iter().map(|e| self.expr(f, e, state)).collect::<Result<Vec<Value>, _>>()?;
        let results = if self.env.cut(func) {
            self.uninterpreted(func, lens, args, loc, state.path)?
        } else {
            let mut inner = self.enter(func, &lens, args, state.path)?;
            self.block(func, &self.program.func(func).body, &mut inner)?;
            self.results(func, &inner)
        };
        for ((dst, path), value) in dsts.iter().zip(&paths).zip(results) {
            self.assign(dst, path, value, state)?;
        }
        Ok(())
    }

    /// Whether no scalar of the array of this number is secret.
    pub(crate) fn is_array_public(&mut self, number: T) -> bool {
        self.terms.is_array_public(&Inputs(self.env), number)
    }

    fn uninterpreted(&mut self, func: FuncId, lens: Vec<T>, args: Vec<Value>, loc: Loc, path: T) -> Result<Vec<Value>, Stop> {
        let callee = self.program.func(func);
        let mut flat = lens.clone();
        for arg in &args {
            flat.extend(arg.flat(self.terms)?);
        }
        // A function of public values alone has public results.
        let mut arrays_public = true;
        for arg in &args {
            if let Value::Run(run) = arg {
                let number = run.content.number(self.terms).ok_or(Stop::Undefined)?;
                arrays_public &= self.is_array_public(number);
            }
        }
        let public = arrays_public && flat.iter().all(|t| self.terms.public(*t));
        let known = self.known_lengths(callee, &lens);
        if let Some(here) = Everywhere::at(path) {
            for (id, arg) in callee.params.iter().zip(&args) {
                self.note_declared(here, &with_lengths(&callee.local(*id).ty, &known), arg)?;
            }
        }
        let (mut specs, mut types, mut fixed) = (vec![], vec![], vec![]);
        for (r, id) in callee.rets.iter().enumerate() {
            let local = callee.local(*id);
            let ty = with_lengths(&local.ty, &known);
            let object = layout::object(self.program, &ty, callee.gives_public(*id))?;
            let element = object.units.into_iter().map(|u| OutSpec { lo: u.lo, hi: u.hi, public: u.public || public });
            match (&ty, object.repeat) {
                (Ty::Array { elem, .. }, Some(_)) => {
                    let array = Array::Result(callee.name.clone(), flat.clone(), r);
                    let number = self.terms.array(array, &element.collect::<Vec<_>>());
                    types.push((Value::run(Written::of(number), (**elem).clone()), None));
                }
                _ => {
                    specs.extend(element);
                    fixed.push(r);
                    types.push((Value::Undef, Some(ty)));
                }
            }
        }
        self.spend((flat.len() + specs.len()) as u64)?;
        let mut values = vec![];
        if !self.terms.called(&callee.name, &flat) {
            for n in 0..self.terms.samples() {
                values.push(self.call_value(func, &lens, (&args, &fixed), n).filter(|v| v.len() == specs.len()));
            }
        }
        let mut outs = self.terms.call_valued(&callee.name, &flat, &specs, &values).into_iter();
        let mut results = vec![];
        for (array, ty) in types {
            results.push(ty.map_or(Ok(array), |ty| Value::build(self.program, &ty, &mut outs))?);
        }
        let made = CallMade { func, name: callee.name.clone(), flat, lens, args, results: results.clone(), path, loc };
        self.calls.push(made);
        if self.calls.len() >= self.limits.calls {
            return Err(Stop::TooBig);
        }
        Ok(results)
    }

    /// The scalars of these results of a call on a sample; `None` where it is not made with arguments it accepts.
    fn call_value(&mut self, func: FuncId, lens: &[T], (args, fixed): (&[Value], &[usize]), n: usize) -> Option<Vec<BigInt>> {
        let callee = self.program.func(func);
        let lens: Vec<u64> = lens.iter().map(|t| self.terms.sample(*t, n).to_u64()).collect::<Option<_>>()?;
        let mut given = vec![];
        for (id, arg) in callee.params.iter().zip(args) {
            given.push(match arg {
                // Those that are no inputs have no value here.
                Value::Run(run) => {
                    let number = run.content.number(self.terms)?;
                    self.env.array_value(self.terms.as_const(number)?.to_u32()?, n)?
                }
                Value::Undef | Value::Scalar(_) | Value::Parts(_) => {
                    let flat = arg.flat(self.terms).ok()?;
                    let mut scalars = flat.iter().map(|t| self.terms.sample(*t, n).clone());
                    let ty = with_lengths(&callee.local(*id).ty, &|len| known_length(callee, &lens, len));
                    concrete(self.program, &ty, &mut scalars)?
                }
            });
        }
        let results = self.interp.call(func, &lens, given).ok()?;
        Some(fixed.iter().filter_map(|r| results.get(*r)).flat_map(scalars_of).collect())
    }

    fn table(&mut self, id: ConstId) -> Result<Value, Stop> {
        if let Some(value) = self.tables.get(&id) {
            return Ok(value.clone());
        }
        let program = self.program;
        let constant = program.consts.get(id.0 as usize).ok_or_else(|| Stop::Malformed("no such constant".into()))?;
        let value = self.literal(&constant.value)?;
        self.tables.insert(id, value.clone());
        Ok(value)
    }

    fn literal(&mut self, value: &ConstValue) -> Result<Value, Stop> {
        self.spend(1)?;
        Ok(match value {
            ConstValue::Scalar(v) => Value::Scalar(self.terms.int(v.clone())),
            ConstValue::Array(vs) | ConstValue::Struct(vs) => {
                Value::parts(vs.iter().map(|v| self.literal(v)).collect::<Result<_, _>>()?)
            }
        })
    }

    /// A scalar expression in a state of `f`.
    ///
    /// # Errors
    /// See [`Stop`].
    pub fn scalar(&mut self, f: &'a Func, e: &'a Expr, state: &State) -> Result<T, Stop> {
        self.expr(f, e, state)?.scalar()
    }

    /// An expression in a state of `f`.
    ///
    /// # Errors
    /// See [`Stop`].
    pub fn expr(&mut self, f: &'a Func, e: &'a Expr, state: &State) -> Result<Value, Stop> {
        self.spend(1)?;
        let value = self.value_of(f, e, state)?;
        if let (Ty::Int(Some(range)), Value::Scalar(t), Some(here)) = (&e.ty, &value, Everywhere::at(state.path)) {
            self.note(here, *t, &range.lo.to_big(), &range.hi.to_big())?;
        }
        if let (Value::Scalar(t), true) = (&value, self.limits.watch) {
            self.watched.insert(*t);
        }
        Ok(value)
    }

    fn value_of(&mut self, f: &'a Func, e: &'a Expr, state: &State) -> Result<Value, Stop> {
        let scalar = match &e.kind {
            ExprKind::Const(v) => self.terms.int(v.clone()),
            ExprKind::Read(place) => return self.read(f, place, state),
            ExprKind::Un(op, a) => {
                let x = self.scalar(f, a, state)?;
                ops::unary(self.terms, *op, &a.ty, x)?
            }
            ExprKind::Bin(op, a, b) => {
                let (x, y) = (self.scalar(f, a, state)?, self.scalar(f, b, state)?);
                ops::binary(self.terms, *op, &a.ty, x, y)?
            }
            ExprKind::Cmp(op, a, b) => {
                let (x, y) = (self.expr(f, a, state)?, self.expr(f, b, state)?);
                self.compare(*op, &x, &y)?
            }
            ExprKind::Select(c, a, b) => {
                let c = self.scalar(f, c, state)?;
                let (a, b) = (self.expr(f, a, state)?, self.expr(f, b, state)?);
                return a.select(self.terms, c, &b);
            }
            ExprKind::Cast(a) => {
                let x = self.scalar(f, a, state)?;
                ops::cast(self.terms, &a.ty, &e.ty, x)?
            }
            ExprKind::Array(es) | ExprKind::Struct(_, es) => {
                let parts = es.iter().map(|e| self.expr(f, e, state)).collect::<Result<Vec<_>, _>>()?;
                return Ok(Value::parts(parts));
            }
            ExprKind::Repeat(a) => return self.repeat(f, a, &e.ty, state),
        };
        Ok(Value::Scalar(scalar))
    }

    fn read(&mut self, f: &'a Func, place: &'a Place, state: &State) -> Result<Value, Stop> {
        let path = self.resolve(f, place, state)?;
        match place.base {
            Base::Local(id) => self.read_at(&state.locals[id.0 as usize], &path, state.path),
            Base::Const(id) => {
                let table = self.table(id)?;
                self.read_at(&table, &path, state.path)
            }
        }
    }

    fn compare(&mut self, op: CmpOp, a: &Value, b: &Value) -> Result<T, Stop> {
        if let (Value::Scalar(a), Value::Scalar(b)) = (a, b) {
            return Ok(ops::compare(self.terms, op, *a, *b));
        }
        if [a, b].iter().any(|v| matches!(v, Value::Run(_))) {
            return Err(Stop::Unsupported("arrays of run-time length, compared".into()));
        }
        let (a, b) = (a.flat(self.terms)?, b.flat(self.terms)?);
        if a.len() != b.len() || !matches!(op, CmpOp::Eq | CmpOp::Ne) {
            return Err(Stop::Malformed("a comparison without meaning".into()));
        }
        let mut same = Terms::ONE;
        for (x, y) in a.into_iter().zip(b) {
            let eq = self.terms.eq(x, y);
            same = self.terms.and(same, eq, 1);
        }
        Ok(if op == CmpOp::Eq { same } else { self.terms.sub(Terms::ONE, same) })
    }

    fn repeat(&mut self, f: &'a Func, a: &'a Expr, ty: &Ty, state: &State) -> Result<Value, Stop> {
        let elem = self.expr(f, a, state)?;
        let lens = f.lens.iter().map(|l| state.locals[l.0 as usize].scalar()).collect::<Result<Vec<T>, _>>()?;
        let known = self.known_lengths(f, &lens);
        match ty {
            Ty::Array { elem: ty, len, .. } => match known(len) {
                Some(n) if n > layout::UNITS_MAX => Err(Stop::TooBig),
                Some(n) => Ok(Value::parts(vec![elem; n as usize])),
                None => {
                    let scalars = elem.flat(self.terms)?;
                    Ok(Value::run(Written::filled(self.terms, scalars), (**ty).clone()))
                }
            },
            _ => Err(Stop::Malformed("a repetition that is no array".into())),
        }
    }

    /// What is handed on lies in the ranges that the callee declares for it.
    fn note_declared(&mut self, here: Everywhere, ty: &Ty, arg: &Value) -> Result<(), Stop> {
        let object = layout::object(self.program, ty, false)?;
        if object.repeat.is_some() {
            return Ok(());
        }
        for (t, unit) in arg.flat(self.terms)?.into_iter().zip(&object.units) {
            self.note(here, t, &unit.lo, &unit.hi)?;
        }
        Ok(())
    }

    /// A fact about a value on every execution. A sample value that denies it stops the execution.
    pub(crate) fn note(&mut self, here: Everywhere, t: T, lo: &BigInt, hi: &BigInt) -> Result<(), Stop> {
        let (have_lo, have_hi) = self.terms.range(t);
        if have_lo >= *lo && have_hi <= *hi {
            return Ok(());
        }
        for n in 0..self.terms.samples() {
            let v = self.terms.sample(t, n);
            if v < lo || v > hi {
                return Err(Stop::Sample(format!("{lo}..={hi}: {v}")));
            }
        }
        self.terms.note(here, t, lo, hi);
        Ok(())
    }
}
