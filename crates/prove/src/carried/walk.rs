//! The walk over one function: what is known at each point, loops to a fixed point.

use super::claim::{self, Part};
use super::facts::Facts;
use super::state::{ClaimId, Node, Said, State};
use crate::obligation::clauses;
use santoku_ir::{
    Base, BinOp, CmpOp, ConstValue, Contract, ContractKind, Expr, ExprKind, Func, FuncId, Len, Loc, LocalId, LocalKind, Place, Program,
    Proj, SpecExpr, Stmt, Ty,
};
use std::collections::{BTreeMap, BTreeSet};

/// Parts of values copied or compared before the walk is given up.
const WORK_MAX: u64 = 50_000_000;

/// A `requires` at a call: where, of whom, which clause of its contracts.
pub type Need = (Loc, FuncId, usize);

pub struct Walk<'p> {
    prog: &'p Program,
    func: &'p Func,
    pub facts: Facts<'p>,
    pub state: State,
    /// The values of parameters at entry.
    entry: Vec<Node>,
    /// Inside a loop whose fixed point is still sought, nothing is judged.
    seeking: bool,
    /// A `requires` met at every visit of its call.
    pub met: BTreeMap<Need, bool>,
    /// Parts of all values there are, and what is left of the budget: a branch or a round of a loop takes as many.
    size: u64,
    work: u64,
}

impl<'p> Walk<'p> {
    /// At the entry of `id`, its own `requires` known.
    pub fn new(prog: &'p Program, id: FuncId) -> Walk<'p> {
        let func = prog.func(id);
        let vals: Vec<Node> = func
            .locals
            .iter()
            .map(|l| match l.kind {
                LocalKind::Len | LocalKind::Param | LocalKind::Counter => Node::anything(),
                LocalKind::Ret | LocalKind::Var => Node::unwritten(),
            })
            .collect();
        let state = State { vals, if_true: BTreeMap::new() };
        let facts = Facts::new(prog);
        let size = func.locals.iter().fold(1, |n: u64, l| n.saturating_add(facts.parts(&l.ty).min(1 << 20)));
        let mut w = Walk { prog, func, facts, state, entry: Vec::new(), seeking: false, met: BTreeMap::new(), size, work: WORK_MAX };
        for c in clauses(func, ContractKind::Requires) {
            for (local, path, claim) in w.said(&c.1.cond) {
                w.learn(local, &path, claim);
            }
        }
        w.entry = w.state.vals.clone();
        w
    }

    /// Whether the clause holds of parameters at entry and results now.
    pub fn ensured(&mut self, c: &Contract) -> bool {
        let of = |w: &Self, id: LocalId| {
            let vals = if w.func.local(id).kind == LocalKind::Ret { &w.state.vals } else { &w.entry };
            Some(vals[id.0 as usize].clone())
        };
        self.holds(&c.cond, &of)
    }

    fn holds(&mut self, cond: &SpecExpr, of: &dyn Fn(&Self, LocalId) -> Option<Node>) -> bool {
        let Some(parts) = claim::parts(self.prog, cond) else { return false };
        parts.iter().all(|p| match p {
            Part::Relation => false,
            Part::Closed(c) => self.facts.closed(c),
            Part::Of { local, path, claim } => {
                let id = self.facts.claim(claim);
                of(self, *local).is_some_and(|n| self.facts.holds(&n.at(path), id))
            }
        })
    }

    /// The claims about single values that a clause makes.
    fn said(&mut self, cond: &SpecExpr) -> Vec<(LocalId, Vec<usize>, ClaimId)> {
        let parts = claim::parts(self.prog, cond).unwrap_or_default();
        let of = |p| match p {
            Part::Of { local, path, claim } => Some((local, path, self.facts.claim(&claim))),
            Part::Closed(_) | Part::Relation => None,
        };
        parts.into_iter().filter_map(of).collect()
    }

    fn learn(&mut self, local: LocalId, path: &[usize], claim: ClaimId) {
        let ty = &self.func.local(local).ty;
        self.facts.learn(&mut self.state.vals[local.0 as usize], ty, path, claim);
    }

    /// Whether the budget lasted: if not, nothing that was found counts.
    pub fn finished(&self) -> bool {
        self.work > 0
    }

    pub fn block(&mut self, body: &'p [Stmt]) {
        for s in body {
            if self.finished() {
                self.stmt(s);
            }
        }
    }

    fn stmt(&mut self, s: &'p Stmt) {
        match s {
            Stmt::Assign { dst, src, .. } => {
                let node = self.eval(src);
                let says = self.if_true(src);
                self.write(dst, node);
                self.tell(dst, says, &[dst]);
            }
            Stmt::Call { dsts, func, args, loc, .. } => self.call(dsts, *func, args, *loc),
            Stmt::For { var, body, .. } => self.repeat(*var, body),
            Stmt::If { cond, then, els, .. } => {
                self.work = self.work.saturating_sub(self.size);
                let before = self.state.clone();
                for s in self.if_true(cond) {
                    self.learn(s.local, &s.path, s.claim);
                }
                self.block(then);
                let yes = std::mem::replace(&mut self.state, before);
                self.block(els);
                self.state = self.facts.join_states(&yes, &self.state);
            }
            Stmt::Assert { .. } | Stmt::Ghost { .. } => {}
        }
    }

    fn repeat(&mut self, var: LocalId, body: &'p [Stmt]) {
        self.state.changed(var);
        self.state.vals[var.0 as usize] = Node::anything();
        let outer = std::mem::replace(&mut self.seeking, true);
        let stable = loop {
            self.work = self.work.saturating_sub(self.size);
            let before = self.state.clone();
            self.block(body);
            let after = self.facts.join_states(&before, &self.state);
            if after == before || !self.finished() {
                break before;
            }
            self.state = after;
        };
        self.seeking = outer;
        if !self.seeking {
            self.state = stable.clone();
            self.block(body);
        }
        self.state = stable;
    }

    fn call(&mut self, dsts: &[Place], id: FuncId, args: &[Expr], loc: Loc) {
        let callee = self.prog.func(id);
        let nodes: Vec<Node> = args.iter().map(|a| self.eval(a)).collect();
        let argument = |local: LocalId| callee.params.iter().position(|p| *p == local);
        if !self.seeking {
            for (i, c) in clauses(callee, ContractKind::Requires) {
                let met = self.holds(&c.cond, &|_, l| nodes.get(argument(l)?).cloned());
                *self.met.entry((loc, id, i)).or_insert(true) &= met;
            }
        }
        let mut results: Vec<Node> = callee.rets.iter().map(|_| Node::anything()).collect();
        let mut says: Vec<BTreeSet<Said>> = vec![BTreeSet::new(); results.len()];
        for (_, c) in clauses(callee, ContractKind::Ensures) {
            for (local, path, claim) in self.said(&c.cond) {
                if let Some(i) = callee.rets.iter().position(|r| *r == local) {
                    self.facts.learn(&mut results[i], &callee.local(local).ty, &path, claim);
                }
            }
            let Some((ret, told)) = truth_of(&c.cond) else { continue };
            let Some(i) = callee.rets.iter().position(|r| *r == ret) else { continue };
            for (local, path, claim) in self.said(told) {
                let Some((base, mut whole)) = argument(local).and_then(|a| fixed_read(args.get(a)?)) else { continue };
                whole.extend(path);
                says[i].insert(Said { local: base, path: whole, claim });
            }
        }
        for (dst, node) in dsts.iter().zip(results) {
            self.write(dst, node);
        }
        let all: Vec<&Place> = dsts.iter().collect();
        for (dst, told) in dsts.iter().zip(says) {
            self.tell(dst, told, &all);
        }
    }

    /// Notes what a boolean that was just written says, but of what was written with it.
    fn tell(&mut self, dst: &Place, mut says: BTreeSet<Said>, written: &[&Place]) {
        let (Base::Local(id), []) = (dst.base, &dst.projs[..]) else { return };
        says.retain(|s| !written.iter().any(|w| w.base == Base::Local(s.local)));
        if !says.is_empty() {
            self.state.if_true.insert(id, says);
        }
    }

    /// What holds where a condition does.
    fn if_true(&self, cond: &Expr) -> BTreeSet<Said> {
        match &cond.kind {
            ExprKind::Bin(BinOp::And, a, b) => self.if_true(a).union(&self.if_true(b)).cloned().collect(),
            ExprKind::Read(Place { base: Base::Local(id), projs }) if projs.is_empty() => {
                self.state.if_true.get(id).cloned().unwrap_or_default()
            }
            _ => BTreeSet::new(),
        }
    }

    fn eval(&mut self, e: &Expr) -> Node {
        match &e.kind {
            ExprKind::Const(v) => self.facts.known(&ConstValue::Scalar(v.clone()), &e.ty),
            ExprKind::Read(place) => self.read(place),
            ExprKind::Select(_, a, b) => {
                let (a, b) = (self.eval(a), self.eval(b));
                self.facts.join(&a, &b)
            }
            ExprKind::Struct(_, es) => Node::of_parts(es.iter().map(|e| self.eval(e)).collect()),
            ExprKind::Array(es) => match es.iter().map(|e| e.as_const().cloned().map(ConstValue::Scalar)).collect() {
                Some(values) => self.facts.known(&ConstValue::Array(values), &e.ty),
                None if self.facts.width(&e.ty).is_some() => Node::of_parts(es.iter().map(|e| self.eval(e)).collect()),
                None => Node::anything(),
            },
            ExprKind::Repeat(one) => self.eval_repeat(one, &e.ty),
            ExprKind::Un(..) | ExprKind::Bin(..) | ExprKind::Cmp(..) | ExprKind::Cast(_) => Node::anything(),
        }
    }

    fn eval_repeat(&mut self, one: &Expr, ty: &Ty) -> Node {
        match (one.as_const(), ty, self.facts.width(ty)) {
            (_, _, Some(n)) => Node::of_parts(vec![self.eval(one); n]),
            (Some(v), Ty::Array { len: Len::Const(n), .. }, None) if *n <= 64 => {
                self.facts.known(&ConstValue::Array(vec![ConstValue::Scalar(v.clone()); *n as usize]), ty)
            }
            _ => Node::anything(),
        }
    }

    fn read(&mut self, place: &Place) -> Node {
        let mut node = match place.base {
            Base::Local(id) => self.state.vals[id.0 as usize].clone(),
            Base::Const(id) => self.facts.constant(id),
        };
        for p in &place.projs {
            node = match p {
                Proj::Slice { .. } => return Node::anything(),
                Proj::Field(i) => node.at(&[*i as usize]),
                Proj::Index(e) => match e.as_const().and_then(|i| usize::try_from(i).ok()) {
                    Some(i) => node.at(&[i]),
                    None => node.any_part(&mut |a, b| self.facts.join(a, b)),
                },
            };
        }
        node
    }

    fn write(&mut self, dst: &Place, node: Node) {
        let Base::Local(id) = dst.base else { return };
        self.state.changed(id);
        let mut whole = std::mem::replace(&mut self.state.vals[id.0 as usize], Node::unwritten());
        self.write_part(&mut whole, &self.func.local(id).ty, &dst.projs, node, true);
        self.state.vals[id.0 as usize] = whole;
    }

    /// `surely`: this part is written, not one among several.
    fn write_part(&self, at: &mut Node, ty: &Ty, projs: &[Proj], new: Node, surely: bool) {
        let Some((first, rest)) = projs.split_first() else {
            *at = if surely { new } else { self.facts.join(at, &new) };
            return;
        };
        let width = self.facts.width(ty);
        if let Some(n) = width {
            at.open(n);
        }
        at.forget_whole();
        let index = match first {
            Proj::Field(i) => Some(*i as usize),
            Proj::Index(e) => e.as_const().and_then(|i| usize::try_from(i).ok()),
            Proj::Slice { .. } => {
                at.kids.clear();
                return;
            }
        };
        match index {
            Some(i) => {
                if let (Some(kid), Some(part)) = (at.kids.get_mut(i), self.facts.part_ty(ty, i)) {
                    self.write_part(kid, &part, rest, new, surely);
                }
            }
            None => {
                let Some(part) = self.facts.part_ty(ty, 0) else { return };
                for kid in &mut at.kids {
                    self.write_part(kid, &part, rest, new.clone(), false);
                }
            }
        }
    }
}

/// `result == cond` or `result ==> cond`: the variable, and what it says when true.
fn truth_of(clause: &SpecExpr) -> Option<(LocalId, &SpecExpr)> {
    let (SpecExpr::Cmp(CmpOp::Eq, a, b) | SpecExpr::Implies(a, b)) = clause else { return None };
    match &**a {
        SpecExpr::Place(Place { base: Base::Local(id), projs }) if projs.is_empty() => Some((*id, b)),
        _ => None,
    }
}

/// An argument that is a variable or a fixed part of one.
fn fixed_read(e: &Expr) -> Option<(LocalId, Vec<usize>)> {
    let place = e.as_read()?;
    let Base::Local(id) = place.base else { return None };
    Some((id, claim::fixed_path(&place.projs)?))
}
