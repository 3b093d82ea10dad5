//! Running resolved functions.

use super::code::{Claim, Code, Condition, Lower, Node, Op, OpKind, Path, Step};
use super::fault::{Fault, FaultKind};
use super::judged::{Call, Judged};
use super::ops::{self, Run};
use super::store::{self, Walked};
use super::value::Value;
use super::{Options, Stats};
use crate::data::*;
use crate::limits::{EXPR_DEPTH, RUN_DEPTH};
use crate::spec::{ContractKind, Ghost, SpecExpr};
use crate::spec_eval::{SpecRun, SpecStop};
use crate::ty::{Len, LocalId};
use santoku_num::Int;
use std::cell::Cell;
use std::collections::BTreeSet;

/// One run: what is shared by all activations.
pub(super) struct Machine<'a, 'p> {
    pub program: &'p Program,
    pub codes: &'a [Option<Code<'p>>],
    pub consts: &'a [Value],
    pub options: &'a Options,
    pub lower: Lower<'p>,
    pub steps_left: u64,
    pub inner_spec_left: u64,
    pub judged: Judged,
    pub stats: Stats,
    /// Resolved projections of the destinations being written; used as a stack.
    pub walked: Vec<Walked>,
    pub depth: usize,
}

/// One activation of a function.
pub(super) struct Frame<'a, 'p> {
    id: FuncId,
    code: &'a Code<'p>,
    slots: Vec<Value>,
    /// Ghost text took too much: no more of it is executed here.
    lost: bool,
    /// The local is known to hold no undefined element, now and from now on.
    defined: Vec<Cell<bool>>,
}

impl<'p> Frame<'_, 'p> {
    fn name(&self, slot: usize) -> &'p str {
        &self.code.func.locals[slot].name
    }
    /// Value of a length parameter plus a constant.
    fn len(&self, len: &Len) -> Result<usize, FaultKind> {
        let value = match len {
            Len::Const(n) => Int::from(*n),
            Len::Param { param, add } => match self.slots.get(param.0 as usize) {
                Some(Value::Int(v)) => v.add(&Int::from(*add)),
                _ => return Err(FaultKind::Internal { reason: "a length is not a length parameter".into() }),
            },
        };
        let fits = value.to_u64().and_then(|n| usize::try_from(n).ok());
        fits.ok_or(FaultKind::Length { value })
    }
}

fn internal<T>(reason: &str) -> Run<T> {
    Err(Fault::internal(reason))
}

impl<'a, 'p> Machine<'a, 'p> {
    fn spend(&mut self, steps: u64) -> Run<()> {
        match self.steps_left.checked_sub(steps) {
            Some(left) => {
                self.steps_left = left;
                Ok(())
            }
            None => Err(Fault::new(FaultKind::OutOfSteps)),
        }
    }

    /// Runs `id`. No `call`: the arguments come from outside the program and are checked to the last element.
    pub fn run(&mut self, id: FuncId, lens: &[Int], args: Vec<Value>, call: Option<Call>) -> Run<Vec<Value>> {
        let Some(Some(code)) = self.codes.get(id.0 as usize) else { return internal("call of an unknown function") };
        if self.depth >= RUN_DEPTH {
            return internal("blocks and calls nest too deeply");
        }
        self.depth += 1;
        let count = code.func.locals.len();
        let mut frame =
            Frame { id, code, slots: vec![Value::Undef; count], lost: false, defined: vec![Cell::new(false); count] };
        let result = self.activate(&mut frame, lens, args, call).map_err(|mut f| {
            if f.func.is_empty() {
                f.func.clone_from(&code.func.name);
                if f.loc == Loc::default() {
                    f.loc = code.func.loc;
                }
            }
            f
        });
        self.depth -= 1;
        result
    }

    fn activate(&mut self, frame: &mut Frame<'a, 'p>, lens: &[Int], args: Vec<Value>, call: Option<Call>) -> Run<Vec<Value>> {
        let func = frame.code.func;
        let entered = self.enter(frame, lens, args, call).map_err(|mut f| {
            f.call = call.and_then(|c| Some((self.program.funcs.get(c.caller.0 as usize)?.name.clone(), c.loc)));
            f
        })?;
        let body = &frame.code.body;
        self.block(frame, body)?;
        for id in &func.rets {
            if frame.slots[id.0 as usize].has_undef() {
                return Err(Fault::new(FaultKind::Undefined { place: frame.name(id.0 as usize).to_string() }));
            }
        }
        if self.options.check_contracts && self.check_contracts(frame, ContractKind::Ensures, call)? && entered {
            self.judged.note(frame.id);
        }
        // Cloned, not taken: a local might be listed twice.
        Ok(func.rets.iter().map(|id| frame.slots[id.0 as usize].clone()).collect())
    }

    /// Hands the arguments over. Whether all that is required of them was judged.
    fn enter(&mut self, frame: &mut Frame<'a, 'p>, lens: &[Int], args: Vec<Value>, call: Option<Call>) -> Run<bool> {
        let (func, outside) = (frame.code.func, call.is_none());
        if lens.len() != func.lens.len() || args.len() != func.params.len() {
            return Err(bad_argument(outside, "wrong number of lengths or arguments"));
        }
        for (id, n) in func.lens.iter().zip(lens) {
            frame.slots[id.0 as usize] = Value::Int(n.clone());
            self.check_flow(frame, id.0 as usize, &[], &Value::Int(n.clone()))?;
        }
        for (id, v) in func.params.iter().zip(args) {
            let slot = id.0 as usize;
            if outside {
                let ty = &func.locals[slot].ty;
                store::fits(self.program, ty, &v, &|len| frame.len(len))
                    .map_err(|reason| bad_argument(true, &format!("{} {reason}", frame.name(slot))))?;
            }
            self.check_flow(frame, slot, &[], &v)?;
            frame.slots[slot] = v;
        }
        for slot in &frame.code.maybe_vacuous {
            let ty = &func.locals[*slot].ty;
            if let Some(v) = store::vacuous(self.program, ty, &|len| frame.len(len))? {
                frame.slots[*slot] = v;
            }
        }
        Ok(self.options.check_contracts && self.check_contracts(frame, ContractKind::Requires, call)?)
    }

    fn block(&mut self, frame: &mut Frame<'a, 'p>, ops: &'a [Op<'p>]) -> Run<()> {
        if self.depth >= RUN_DEPTH {
            return internal("blocks and calls nest too deeply");
        }
        self.depth += 1;
        for op in ops {
            if let Err(mut fault) = self.op(frame, op) {
                if fault.func.is_empty() {
                    fault.func.clone_from(&frame.code.func.name);
                    fault.loc = op.loc;
                }
                return Err(fault);
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn op(&mut self, frame: &mut Frame<'a, 'p>, op: &'a Op<'p>) -> Run<()> {
        self.spend(1)?;
        match &op.kind {
            OpKind::Assign { dst, src } => {
                let from = self.walked.len();
                self.walk(frame, dst)?;
                let value = self.eval(frame, src)?;
                self.write(frame, dst, from, self.walked.len(), value)?;
                self.walked.truncate(from);
                Ok(())
            }
            OpKind::Call { .. } => self.call(frame, op),
            OpKind::For { .. } => self.repeat(frame, op),
            OpKind::If { cond, then, els } => {
                let branch = if self.eval_bool(frame, cond)? { then } else { els };
                self.block(frame, branch)
            }
            OpKind::Assert { cond, text } => {
                self.stats.asserts += 1;
                let fault = || FaultKind::Assertion { text: (*text).to_string() };
                self.condition(frame, cond, &fault)
            }
            OpKind::Ghost(claim) => self.ghost(frame, claim),
        }
    }

    fn call(&mut self, frame: &mut Frame<'a, 'p>, op: &'a Op<'p>) -> Run<()> {
        let OpKind::Call { dsts, func, lens, args } = &op.kind else { return internal("not a call") };
        let from = self.walked.len();
        let mut ends = Vec::with_capacity(dsts.len());
        for dst in dsts {
            self.walk(frame, dst)?;
            ends.push(self.walked.len());
        }
        let lens = lens.iter().map(|l| self.eval_int(frame, l)).collect::<Run<Vec<Int>>>()?;
        let args = args.iter().map(|a| self.eval(frame, a)).collect::<Run<Vec<Value>>>()?;
        let call = Call { caller: frame.id, loc: op.loc, nr: std::ptr::from_ref(op) as usize };
        let results = self.run(*func, &lens, args, Some(call))?;
        if results.len() != dsts.len() {
            return internal("a call has the wrong number of destinations");
        }
        let mut start = from;
        for ((dst, end), value) in dsts.iter().zip(ends).zip(results) {
            self.write(frame, dst, start, end, value)?;
            start = end;
        }
        self.walked.truncate(from);
        Ok(())
    }

    fn repeat(&mut self, frame: &mut Frame<'a, 'p>, op: &'a Op<'p>) -> Run<()> {
        let OpKind::For { var, lo, hi, rev, invariants, claims, body } = &op.kind else { return internal("not a loop") };
        let lo = self.eval_int(frame, lo)?;
        let hi = self.eval_int(frame, hi)?;
        let one = Int::from(1);
        let empty = hi <= lo;
        let (mut at, step) = if *rev { (hi.sub(&one), one.neg()) } else { (lo.clone(), one.clone()) };
        self.invariants(frame, *var, &at, (invariants, claims))?;
        while !empty && (if *rev { at >= lo } else { at < hi }) {
            self.spend(1)?;
            let value = Value::Int(at.clone());
            self.check_flow(frame, *var, &[], &value)?;
            frame.slots[*var] = value;
            self.block(frame, body)?;
            at = at.add(&step);
            self.invariants(frame, *var, &at, (invariants, claims))?;
        }
        frame.slots[*var] = Value::Undef;
        Ok(())
    }

    fn invariants(&mut self, frame: &mut Frame<'a, 'p>, var: usize, at: &Int, (all, claims): (&'a [Condition], &'a [Claim<'p>])) -> Run<()> {
        if !self.options.check_contracts || all.is_empty() && claims.is_empty() {
            return Ok(());
        }
        frame.slots[var] = Value::Int(at.clone());
        for (position, cond) in all.iter().enumerate() {
            self.stats.invariants += 1;
            self.condition(frame, cond, &|| FaultKind::Invariant { position })?;
        }
        claims.iter().try_for_each(|c| self.ghost(frame, c))
    }

    /// Ghost text is executed while there is a budget for it; lemmas are proved once and for all.
    fn ghost(&mut self, frame: &mut Frame<'a, 'p>, claim: &Claim<'p>) -> Run<()> {
        let ([e], false, true) = (claim.what.exprs(), frame.lost || matches!(claim.what, Ghost::Lemma(..)), self.options.check_contracts) else { return Ok(()) };
        let steps = self.options.spec_steps.min(self.inner_spec_left);
        let (here, program): (&Frame<'a, 'p>, _) = (frame, self.program);
        let mut place = |p: &Place| self.contract_place(here, p);
        let mut run = SpecRun::new(program, steps, &mut place);
        let value = run.eval(e);
        let spent = steps - run.steps_left();
        self.inner_spec_left = self.inner_spec_left.saturating_sub(spent);
        let at = |fault: Fault| Box::new(Fault { loc: claim.loc, func: frame.code.func.name.clone(), ..fault });
        match (claim.what, value) {
            (Ghost::Let(id, _), Ok(v)) => frame.slots[id.0 as usize] = v,
            (_, Ok(Value::Bool(true))) => {}
            (_, Ok(Value::Bool(false))) => {
                let mut fault = *Fault::new(FaultKind::Assertion { text: claim.text.to_string() });
                fault.values = named(frame, contract_locals(e).into_iter());
                return Err(at(fault));
            }
            (_, Err(SpecStop::Budget)) => {
                self.stats.inner_unevaluated += 1;
                frame.lost = true;
            }
            (_, Err(SpecStop::Fault(fault))) => return Err(at(*fault)),
            (_, Ok(_)) => return Err(at(*Fault::internal("a condition is not a truth value"))),
            (_, Err(SpecStop::IllFormed(reason))) => return Err(at(*Fault::internal(format!("{reason} in `{}`", claim.text)))),
        }
        Ok(())
    }

    fn condition(&mut self, frame: &Frame<'a, 'p>, cond: &'a Condition, kind: &dyn Fn() -> FaultKind) -> Run<()> {
        if self.eval_bool(frame, &cond.node)? {
            return Ok(());
        }
        let mut fault = Fault::new(kind());
        fault.values = named(frame, cond.locals.iter().copied());
        Err(fault)
    }

    fn eval_bool(&mut self, frame: &Frame<'a, 'p>, node: &Node) -> Run<bool> {
        match self.eval(frame, node)? {
            Value::Bool(b) => Ok(b),
            _ => internal("a condition is not a boolean"),
        }
    }

    fn eval_int(&mut self, frame: &Frame<'a, 'p>, node: &Node) -> Run<Int> {
        match self.eval(frame, node)? {
            Value::Int(v) => Ok(v),
            _ => internal("an index, length or bound is not an integer"),
        }
    }

    pub(super) fn eval(&mut self, frame: &Frame<'a, 'p>, node: &Node) -> Run<Value> {
        match node {
            Node::Const(v) => Ok(v.clone()),
            Node::Local(slot) => self.read_local(frame, *slot),
            Node::Path(path) => self.read_path(frame, path),
            Node::Un(op, kind, a) => ops::unary(*op, *kind, self.eval(frame, a)?),
            Node::Bin(op, kind, ab) => {
                let a = self.eval(frame, &ab.0)?;
                let b = self.eval(frame, &ab.1)?;
                let value = ops::binary(*op, *kind, a, b)?;
                if let Value::Int(v @ Int::Big(_)) = &value {
                    self.spend(v.cost())?;
                }
                Ok(value)
            }
            Node::Cmp(op, ab) => {
                let a = self.eval(frame, &ab.0)?;
                let b = self.eval(frame, &ab.1)?;
                self.spend(a.parts().map_or(0, |p| p.len() as u64))?;
                ops::compare(*op, &a, &b).map(Value::Bool)
            }
            Node::Select(cab) => {
                let c = self.eval_bool(frame, &cab.0)?;
                let a = self.eval(frame, &cab.1)?;
                let b = self.eval(frame, &cab.2)?;
                Ok(if c { a } else { b })
            }
            Node::ToInt(a) => ops::to_int(self.eval(frame, a)?),
            Node::ToWord(mask, a) => ops::to_word(self.eval(frame, a)?, *mask),
            Node::Array(nodes) => Ok(Value::array(self.eval_all(frame, nodes)?)),
            Node::Struct(nodes) => Ok(Value::structure(self.eval_all(frame, nodes)?)),
            Node::Repeat(a, len) => {
                let value = self.eval(frame, a)?;
                let n = frame.len(len).map_err(Fault::new)?;
                self.spend(n as u64)?;
                Ok(Value::array(vec![value; n]))
            }
            Node::Ranged(a, bounds) => {
                let value = self.eval(frame, a)?;
                self.stats.ranges += 1;
                match store::in_range(bounds, &value) {
                    Ok(()) => Ok(value),
                    Err(kind) => Err(Fault::new(kind.at("an expression"))),
                }
            }
        }
    }

    fn eval_all(&mut self, frame: &Frame<'a, 'p>, nodes: &[Node]) -> Run<Vec<Value>> {
        nodes.iter().map(|n| self.eval(frame, n)).collect()
    }

    fn read_local(&mut self, frame: &Frame<'a, 'p>, slot: usize) -> Run<Value> {
        let value = &frame.slots[slot];
        if !frame.defined[slot].get() {
            if value.has_undef() {
                return Err(undefined(frame.name(slot)));
            }
            // A counter becomes undefined again after its loop; everything else stays defined.
            frame.defined[slot].set(frame.code.func.locals[slot].kind != LocalKind::Counter);
        }
        Ok(value.clone())
    }

    fn read_path(&mut self, frame: &Frame<'a, 'p>, path: &Path) -> Run<Value> {
        let consts = self.consts;
        let (mut at, known) = match path.base {
            Base::Local(id) => (&frame.slots[id.0 as usize], frame.defined[id.0 as usize].get()),
            Base::Const(id) => match consts.get(id.0 as usize) {
                Some(v) => (v, true),
                None => return internal("no such constant"),
            },
        };
        let mut window: Option<(usize, usize)> = None;
        for step in &path.steps {
            match (step, at) {
                (_, Value::Undef) => return Err(undefined(self.base_name(frame, path.base))),
                (Step::Field(i), Value::Struct(fields)) if window.is_none() => match fields.get(*i) {
                    Some(v) => at = v,
                    None => return internal("no such field"),
                },
                (Step::Index(node), Value::Array(elems)) => {
                    let index = self.eval_int(frame, node)?;
                    let (off, len) = window.take().unwrap_or((0, elems.len()));
                    at = &elems[off + store::index_in(&index, len)?];
                }
                (Step::Slice(node, count), Value::Array(elems)) => {
                    let start = self.eval_int(frame, node)?;
                    let (off, len) = window.unwrap_or((0, elems.len()));
                    window = Some((off + store::slice_in(&start, *count, len)?, *count));
                }
                _ => return internal("a projection does not fit its value"),
            }
        }
        let value = match (window, at) {
            (None, v) => v.clone(),
            (Some((off, n)), Value::Array(elems)) => {
                self.spend(n as u64)?;
                Value::array(elems[off..off + n].to_vec())
            }
            (Some(_), _) => return internal("a slice of something that is no array"),
        };
        if !known && value.has_undef() {
            return Err(undefined(self.base_name(frame, path.base)));
        }
        Ok(value)
    }

    fn base_name(&self, frame: &Frame<'a, 'p>, base: Base) -> &'p str {
        match base {
            Base::Local(id) => frame.name(id.0 as usize),
            Base::Const(id) => self.program.consts.get(id.0 as usize).map_or("a constant", |c| &c.name),
        }
    }

    /// Evaluates the indices of a destination onto the `walked` stack.
    fn walk(&mut self, frame: &Frame<'a, 'p>, path: &Path) -> Run<()> {
        for step in &path.steps {
            let walked = match step {
                Step::Field(i) => Walked::Field(*i),
                Step::Index(node) => Walked::Index(self.eval_int(frame, node)?),
                Step::Slice(node, count) => Walked::Slice(self.eval_int(frame, node)?, *count),
            };
            self.walked.push(walked);
        }
        Ok(())
    }

    /// Writes `value` to the place whose resolved steps are `walked[start..end]`.
    fn write(&mut self, frame: &mut Frame<'a, 'p>, dst: &Path, start: usize, end: usize, value: Value) -> Run<()> {
        let Base::Local(id) = dst.base else { return internal("assignment to a constant") };
        let slot = id.0 as usize;
        let walked = std::mem::take(&mut self.walked);
        let result = self.write_steps(frame, slot, &walked[start..end], value);
        self.walked = walked;
        result
    }

    fn write_steps(&mut self, frame: &mut Frame<'a, 'p>, slot: usize, steps: &[Walked], value: Value) -> Run<()> {
        self.check_flow(frame, slot, steps, &value)?;
        if steps.is_empty() {
            frame.slots[slot] = value;
            return Ok(());
        }
        let ty = &frame.code.func.locals[slot].ty;
        let mut target = std::mem::replace(&mut frame.slots[slot], Value::Undef);
        let mut cost = 0;
        let lens = |len: &Len| frame.len(len);
        let result = store::store(self.program, &mut target, ty, steps, value, &lens, &mut cost, self.steps_left);
        frame.slots[slot] = target;
        self.spend(cost)?;
        result
    }

    /// Declared ranges of the place, when they are checked at all.
    fn check_flow(&mut self, frame: &Frame<'a, 'p>, slot: usize, steps: &[Walked], value: &Value) -> Run<()> {
        if !self.options.check_contracts || !frame.code.ranged[slot] {
            return Ok(());
        }
        let ty = &frame.code.func.locals[slot].ty;
        let mut checked = 0;
        let result = store::flow(self.program, ty, steps, value, &mut checked);
        self.stats.ranges += checked;
        result.map_err(|kind| Fault::new(kind.at(frame.name(slot))))
    }

    /// Whether all clauses of the kind were judged; a fault if one is false.
    fn check_contracts(&mut self, frame: &Frame<'a, 'p>, kind: ContractKind, call: Option<Call>) -> Run<bool> {
        let func = frame.code.func;
        if func.contracts.iter().all(|c| c.kind != kind) {
            return Ok(true);
        }
        let (mut all, whole) = (true, self.judged.whole(frame.id, kind, call));
        for contract in func.contracts.iter().filter(|c| c.kind == kind) {
            let steps = if whole { self.options.spec_steps } else { self.options.spec_steps.min(self.inner_spec_left) };
            let program = self.program;
            let mut place = |p: &Place| self.contract_place(frame, p);
            let mut run = SpecRun::new(program, steps, &mut place);
            let verdict = run.truth(&contract.cond);
            let spent = steps - run.steps_left();
            self.stats.spec_steps += spent;
            if call.is_some() {
                self.inner_spec_left = self.inner_spec_left.saturating_sub(spent);
            }
            let fault = match verdict {
                Ok(true) => {
                    self.stats.contracts += 1;
                    continue;
                }
                Err(SpecStop::Budget) if steps < self.options.spec_steps => {
                    self.inner_spec_left = 0;
                    self.stats.inner_unevaluated += 1;
                    all = false;
                    continue;
                }
                Err(SpecStop::Budget) => {
                    self.stats.contracts_unevaluated += 1;
                    self.judged.too_long(frame.id, kind, call);
                    all = false;
                    continue;
                }
                Ok(false) => {
                    let mut fault = Fault::new(FaultKind::Contract { kind, text: contract.text.clone() });
                    fault.values = named(frame, contract_locals(&contract.cond).into_iter());
                    fault
                }
                Err(SpecStop::Fault(fault)) => fault,
                Err(SpecStop::IllFormed(reason)) => Fault::internal(format!("{reason} in `{}`", contract.text)),
            };
            return Err(Box::new(Fault { loc: contract.loc, func: func.name.clone(), ..*fault }));
        }
        Ok(all)
    }

    fn contract_place(&mut self, frame: &Frame<'a, 'p>, place: &Place) -> Run<Value> {
        let path = self.lower.path(frame.code.func, place, EXPR_DEPTH)?;
        match (path.base, path.steps.is_empty()) {
            (Base::Local(id), true) => self.read_local(frame, id.0 as usize),
            _ => self.read_path(frame, &path),
        }
    }
}

fn named<'p>(frame: &Frame<'_, 'p>, locals: impl Iterator<Item = LocalId>) -> Vec<(String, Value)> {
    locals.map(|id| (frame.name(id.0 as usize).to_string(), frame.slots[id.0 as usize].clone())).collect()
}

fn contract_locals(cond: &SpecExpr) -> BTreeSet<LocalId> {
    let mut seen = BTreeSet::new();
    crate::visit::walk_spec(cond, &mut |e| {
        if let SpecExpr::Place(Place { base: Base::Local(id), .. }) = e {
            seen.insert(*id);
        }
    });
    seen
}

fn undefined(place: &str) -> Box<Fault> {
    Fault::new(FaultKind::Undefined { place: place.to_string() })
}

fn bad_argument(outside: bool, reason: &str) -> Box<Fault> {
    if outside {
        Fault::new(FaultKind::BadArgument { reason: reason.to_string() })
    } else {
        Fault::internal(reason)
    }
}
