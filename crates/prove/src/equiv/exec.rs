//! Symbolic execution of one function into the term graph.
//!
//! Needs: [`super::dag`], [`super::value`].  Keeps: the meaning of statements as the interpreter has it, on every
//! input that meets the obligations (indices in range, no read of an unwritten place).  Absent: asserts and
//! invariants of functions with results, which are proved elsewhere and may be dropped by a pass.

use super::dag::{Agg, Dag, Id, Lens, Node, Sort, Stop};
use super::spec::SpecEval;
use super::value::{Step, Value};
use num_traits::{ToPrimitive, Zero};
use santoku_ir::{Base, ConstId, ConstValue, Expr, ExprKind, Func, FuncId, Len, Place, Program, Proj, Stmt, Ty};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Statements one run may execute, a bound for loops whose bodies make no new terms.
const STEPS_MAX: u64 = 4_000_000;

/// Locals of one call, and last the conjunction of the asserts met so far.
pub type State = Vec<Value>;

/// Where a place leads: steps, and for a trailing slice its offset and length.
type Path = (Vec<Step>, Option<(Id, u64)>);

/// One write: local, parts of fixed number on the way, and whether the way went on through a computed index.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Write {
    pub local: usize,
    pub path: Vec<u32>,
    pub cut: bool,
}

/// How loops are treated.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// Loops with a constant trip count up to this are executed step by step.
    pub trips_max: u64,
    /// Carried places of kept loops are told apart by source name, else by the order of their first writes. A pass may
    /// change either, so both are tried.
    pub by_name: bool,
}

/// An execution in progress.
pub struct Exec<'d, 'a> {
    pub dag: &'d mut Dag,
    pub program: &'a Program,
    /// Functions whose calls are executed instead of left uninterpreted.
    pub expand: &'a BTreeSet<String>,
    pub(super) trips_max: u64,
    /// Set when a loop with a constant trip count was above the limit.
    pub kept_loop: bool,
    /// Set when any loop was kept as a term.
    pub kept_any: bool,
    pub(super) depth: u32,
    pub(super) log: Vec<Write>,
    /// Constant lengths of the function being executed.
    lens: Lens,
    /// See [`How::by_name`].
    pub(super) by_name: bool,
    steps: u64,
    tables: BTreeMap<ConstId, Id>,
    /// Calls whose results a clause about words defines are what the clause says.
    pub(super) contracts: Option<Box<SpecEval<'a>>>,
}

/// Terms of the results, then (for a function without results) of "every assert held".
pub fn run(exec: &mut Exec, func: FuncId) -> Result<Vec<Id>, Stop> {
    let f = exec.program.func(func);
    let mut inputs = Vec::new();
    for (n, id) in f.lens.iter().chain(&f.params).enumerate() {
        let sort = exec.dag.sort_of(exec.program, &f.local(*id).ty, &Lens::new());
        inputs.push(Value::Term(exec.dag.intern(Node::Input(n as u32), sort)));
    }
    let truth = Value::Term(exec.dag.bool(true));
    let mut state = exec.enter(f, inputs, truth);
    exec.block(f, &f.body, &mut state)?;
    let mut outs: Vec<Id> = f.rets.iter().map(|r| state[r.0 as usize].term(exec.dag)).collect();
    if outs.is_empty() {
        outs.push(state[f.locals.len()].term(exec.dag));
    }
    Ok(outs)
}

impl<'d, 'a> Exec<'d, 'a> {
    pub fn new(dag: &'d mut Dag, program: &'a Program, expand: &'a BTreeSet<String>, how: How) -> Exec<'d, 'a> {
        Exec {
            dag,
            program,
            expand,
            trips_max: how.trips_max,
            kept_loop: false,
            kept_any: false,
            depth: 0,
            log: Vec::new(),
            lens: Lens::new(),
            by_name: how.by_name,
            steps: 0,
            tables: BTreeMap::new(),
            contracts: None,
        }
    }

    fn enter(&mut self, f: &Func, inputs: Vec<Value>, asserts: Value) -> State {
        let mut state: State = Vec::with_capacity(f.locals.len() + 1);
        self.lens = self.known(f, &inputs);
        for local in &f.locals {
            let sort = self.dag.sort_of(self.program, &local.ty, &self.lens);
            state.push(Value::Term(self.dag.intern(Node::Undef, sort)));
        }
        for (id, value) in f.lens.iter().chain(&f.params).zip(inputs) {
            state[id.0 as usize] = value;
        }
        state.push(asserts);
        state
    }

    /// The lengths among the inputs of a function that are constants.
    fn known(&mut self, f: &Func, inputs: &[Value]) -> Lens {
        let terms: Vec<Id> = inputs[..f.lens.len()].iter().map(|v| v.term(self.dag)).collect();
        let known = f.lens.iter().zip(terms).filter_map(|(l, t)| Some((*l, self.dag.as_const(t)?.to_u64()?)));
        known.collect()
    }

    pub(super) fn block(&mut self, f: &Func, body: &[Stmt], state: &mut State) -> Result<(), Stop> {
        body.iter().try_for_each(|stmt| self.stmt(f, stmt, state))
    }

    fn stmt(&mut self, f: &Func, stmt: &Stmt, state: &mut State) -> Result<(), Stop> {
        self.steps += 1;
        if self.dag.full() || self.steps > STEPS_MAX {
            return Err(Stop::TooBig);
        }
        match stmt {
            Stmt::Assign { dst, src, .. } => {
                let value = self.expr(f, src, state)?;
                let end = self.destination(f, dst, state)?;
                self.write_to(end, value, state);
                Ok(())
            }
            Stmt::Call { dsts, func, lens, args, .. } => self.call(f, dsts, *func, (lens, args), state),
            Stmt::For { .. } => self.for_loop(f, stmt, state),
            Stmt::If { cond, then, els, .. } => {
                let c = self.term(f, cond, state)?;
                if let Some(v) = self.dag.as_const(c) {
                    return self.block(f, if v.is_zero() { els } else { then }, state);
                }
                let mut other = state.clone();
                self.block(f, then, state)?;
                self.block(f, els, &mut other)?;
                for (a, b) in state.iter_mut().zip(&other) {
                    *a = a.select(self.dag, c, b);
                }
                Ok(())
            }
            Stmt::Assert { cond, .. } if f.rets.is_empty() => {
                let c = self.term(f, cond, state)?;
                let local = f.locals.len();
                let so_far = state[local].term(self.dag);
                state[local] = Value::Term(self.dag.and(so_far, c));
                self.note(Write { local, path: Vec::new(), cut: false });
                Ok(())
            }
            Stmt::Assert { .. } | Stmt::Ghost { .. } => Ok(()),
        }
    }

    fn call(
        &mut self,
        f: &Func,
        dsts: &[Place],
        func: FuncId,
        (lens, args): (&[Expr], &[Expr]),
        state: &mut State,
    ) -> Result<(), Stop> {
        let mut inputs = Vec::with_capacity(lens.len() + args.len());
        for e in lens.iter().chain(args) {
            inputs.push(self.expr(f, e, state)?);
        }
        let callee = self.program.func(func);
        let results = if let Some(results) = self.specified(callee, &inputs)? {
            results
        } else if self.expand.contains(&callee.name) {
            self.expanded(callee, inputs, state[f.locals.len()].clone())?
        } else {
            self.uninterpreted(callee, inputs)
        };
        // Where the results go is settled before the first is written.
        let ends = dsts.iter().map(|d| self.destination(f, d, state)).collect::<Result<Vec<_>, _>>()?;
        for (end, value) in ends.into_iter().zip(results) {
            self.write_to(end, value, state);
        }
        Ok(())
    }

    fn specified(&mut self, callee: &Func, inputs: &[Value]) -> Result<Option<Vec<Value>>, Stop> {
        if self.contracts.is_none() {
            return Ok(None);
        }
        let ids: Vec<Id> = inputs.iter().map(|v| v.term(self.dag)).collect();
        Ok(self.by_contract(callee, &ids)?.map(|ids| ids.into_iter().map(Value::Term).collect()))
    }

    fn expanded(&mut self, callee: &Func, inputs: Vec<Value>, asserts: Value) -> Result<Vec<Value>, Stop> {
        let (log, lens) = (std::mem::take(&mut self.log), std::mem::take(&mut self.lens));
        let mut inner = self.enter(callee, inputs, asserts);
        self.block(callee, &callee.body, &mut inner)?;
        (self.log, self.lens) = (log, lens);
        Ok(callee.rets.iter().map(|r| inner[r.0 as usize].clone()).collect())
    }

    fn uninterpreted(&mut self, callee: &Func, inputs: Vec<Value>) -> Vec<Value> {
        let lens = self.known(callee, &inputs);
        let ids = inputs.iter().map(|v| v.term(self.dag)).collect();
        let name = self.dag.name(&callee.name);
        let call = self.dag.intern(Node::Call(name, ids), Sort::Int);
        let mut results = Vec::with_capacity(callee.rets.len());
        for (n, ret) in callee.rets.iter().enumerate() {
            let sort = self.dag.sort_of(self.program, &callee.local(*ret).ty, &lens);
            results.push(Value::Term(self.dag.intern(Node::Result(call, n as u32), sort)));
        }
        results
    }

    /// Where a place leads: steps, and for a trailing slice its offset and length.
    fn resolve(&mut self, f: &Func, place: &Place, state: &State) -> Result<Path, Stop> {
        let mut steps = Vec::with_capacity(place.projs.len());
        let mut slice: Option<(Id, u64)> = None;
        for proj in &place.projs {
            match proj {
                Proj::Field(k) => steps.push(Step::Part(*k)),
                Proj::Index(e) => {
                    let mut index = self.term(f, e, state)?;
                    if let Some((off, _)) = slice.take() {
                        index = self.dag.add(off, index);
                    }
                    steps.push(self.step_to(index));
                }
                Proj::Slice { off, len } => {
                    let mut start = self.term(f, off, state)?;
                    if let Some((outer, _)) = slice {
                        start = self.dag.add(outer, start);
                    }
                    slice = Some((start, *len));
                }
            }
        }
        Ok((steps, slice))
    }

    fn step_to(&self, index: Id) -> Step {
        match self.dag.as_const(index).and_then(ToPrimitive::to_u32) {
            Some(k) => Step::Part(k),
            None => Step::At(index),
        }
    }

    fn destination(&mut self, f: &Func, place: &Place, state: &State) -> Result<(usize, Path), Stop> {
        let Base::Local(id) = place.base else { return Err(Stop::Unknown("write to a constant".to_string())) };
        Ok((id.0 as usize, self.resolve(f, place, state)?))
    }

    fn write_to(&mut self, (local, (mut steps, slice)): (usize, Path), value: Value, state: &mut State) {
        let Some((off, len)) = slice else { return self.write_at(local, &steps, value, state) };
        for k in 0..len {
            let shift = self.dag.int(k);
            let index = self.dag.add(off, shift);
            let part = value.step(self.dag, Step::Part(k as u32));
            steps.push(self.step_to(index));
            self.write_at(local, &steps, part, state);
            steps.pop();
        }
    }

    fn write_at(&mut self, local: usize, steps: &[Step], value: Value, state: &mut State) {
        let kept = state[local].write(self.dag, steps, value);
        let fixed = steps[..kept].iter().filter_map(|s| match s {
            Step::Part(k) => Some(*k),
            Step::At(_) => None,
        });
        let write = Write { local, path: fixed.collect(), cut: kept < steps.len() };
        self.note(write);
    }

    /// Writes are recorded inside kept loops only.
    fn note(&mut self, write: Write) {
        if self.depth > 0 {
            self.log.push(write);
        }
    }

    fn read(&mut self, f: &Func, place: &Place, state: &State) -> Result<Value, Stop> {
        let mut value = match place.base {
            Base::Local(id) => state[id.0 as usize].clone(),
            Base::Const(id) => Value::Term(self.table(id)),
        };
        let (steps, slice) = self.resolve(f, place, state)?;
        for step in steps {
            value = value.step(self.dag, step);
        }
        let Some((off, len)) = slice else { return Ok(value) };
        let Sort::Agg(agg) = value.sort(self.dag) else {
            return Err(Stop::Unknown("slice of a scalar".to_string()));
        };
        let Agg::Arr(elem, _) = *self.dag.agg(agg) else {
            return Err(Stop::Unknown("slice of a record".to_string()));
        };
        let mut parts = Vec::with_capacity(len as usize);
        for k in 0..len {
            let shift = self.dag.int(k);
            let index = self.dag.add(off, shift);
            let step = self.step_to(index);
            parts.push(value.step(self.dag, step));
        }
        let sort = self.dag.agg_sort(Agg::Arr(elem, Some(len)));
        Ok(Value::Parts(Rc::new(parts), sort))
    }

    fn table(&mut self, id: ConstId) -> Id {
        if let Some(&term) = self.tables.get(&id) {
            return term;
        }
        let constant = &self.program.consts[id.0 as usize];
        let sort = self.dag.sort_of(self.program, &constant.ty, &Lens::new());
        let term = self.literal(&constant.value, sort);
        self.tables.insert(id, term);
        term
    }

    fn literal(&mut self, value: &ConstValue, sort: Sort) -> Id {
        match value {
            ConstValue::Scalar(v) => self.dag.constant(v.clone(), sort),
            ConstValue::Array(vs) | ConstValue::Struct(vs) => {
                let sorts = self.dag.parts(sort).unwrap_or_default();
                let parts = vs.iter().zip(sorts).map(|(v, s)| self.literal(v, s)).collect();
                self.dag.aggregate(parts, sort)
            }
        }
    }

    /// A scalar (or any value as one term).
    pub(super) fn term(&mut self, f: &Func, e: &Expr, state: &State) -> Result<Id, Stop> {
        Ok(self.expr(f, e, state)?.term(self.dag))
    }

    fn expr(&mut self, f: &Func, e: &Expr, state: &State) -> Result<Value, Stop> {
        let sort = self.dag.sort_of(self.program, &e.ty, &self.lens);
        Ok(Value::Term(match &e.kind {
            ExprKind::Const(v) => self.dag.constant(v.clone(), sort),
            ExprKind::Read(place) => return self.read(f, place, state),
            ExprKind::Un(op, a) => {
                let a = self.term(f, a, state)?;
                self.dag.unary(*op, a)
            }
            ExprKind::Bin(op, a, b) => {
                let (a, b) = (self.term(f, a, state)?, self.term(f, b, state)?);
                self.dag.binary(*op, a, b)
            }
            ExprKind::Cmp(op, a, b) => {
                let (a, b) = (self.term(f, a, state)?, self.term(f, b, state)?);
                self.compare_any(*op, a, b)
            }
            ExprKind::Select(c, a, b) => {
                let c = self.term(f, c, state)?;
                let (a, b) = (self.expr(f, a, state)?, self.expr(f, b, state)?);
                return Ok(a.select(self.dag, c, &b));
            }
            ExprKind::Cast(a) => {
                let a = self.term(f, a, state)?;
                self.dag.cast(a, sort).ok_or_else(|| Stop::Unknown("conversion without meaning".to_string()))?
            }
            ExprKind::Array(es) | ExprKind::Struct(_, es) => {
                let parts = es.iter().map(|e| self.expr(f, e, state)).collect::<Result<Vec<_>, _>>()?;
                return Ok(Value::Parts(Rc::new(parts), sort));
            }
            ExprKind::Repeat(a) => return self.repeat(f, a, (&e.ty, sort), state),
        }))
    }

    fn compare_any(&mut self, op: santoku_ir::CmpOp, a: Id, b: Id) -> Id {
        if !matches!(self.dag.sort(a), Sort::Agg(_)) {
            return self.dag.compare(op, a, b);
        }
        let same = self.dag.equal(a, b);
        if op == santoku_ir::CmpOp::Eq {
            same
        } else {
            self.dag.not(same)
        }
    }

    fn repeat(&mut self, f: &Func, a: &Expr, (ty, sort): (&Ty, Sort), state: &State) -> Result<Value, Stop> {
        let elem = self.expr(f, a, state)?;
        if let Some(parts) = self.dag.parts(sort) {
            return Ok(Value::Parts(Rc::new(vec![elem; parts.len()]), sort));
        }
        match ty {
            Ty::Array { len: Len::Param { param, add }, .. } => {
                let base = state[param.0 as usize].term(self.dag);
                let shift = self.dag.int(*add);
                let len = self.dag.add(base, shift);
                let elem = elem.term(self.dag);
                Ok(Value::Term(self.dag.intern(Node::Repeat(elem, len), sort)))
            }
            Ty::Array { .. } | Ty::Word(_) | Ty::Int(_) | Ty::Bool | Ty::Struct(_) => {
                Err(Stop::Unknown("repetition that is no array".to_string()))
            }
        }
    }
}
