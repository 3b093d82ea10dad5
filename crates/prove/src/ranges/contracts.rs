//! Contracts that speak of ranges and public integers only: settled at calls, used at entry and after calls.

use crate::obligation::{ensures_text, requires_text, Kind, NOT_DECIDED};
use super::cases::Step;
use super::cond::Target;
use crate::itv::Itv;
use santoku_num::Int;
use super::place::concrete;
use super::record::Failure;
use super::run::{Run, State};
use super::value::{Abs, Fact, Sc};
use num_traits::ToPrimitive;
use santoku_ir::{visit, Base, BinOp, ContractKind, ExprKind, FuncId, Len, Place, SpecExpr, SpecOp, Ty};

/// Longest `forall` that is spelled out.
const MAX_FORALL: i128 = 4096;

/// Whether a clause is made of comparisons of integers only: no congruence, sum or specification function.
/// Such clauses are settled here; all others are the algebra's.
pub fn is_simple(e: &SpecExpr) -> bool {
    let mut simple = true;
    visit::walk_spec(e, &mut |e| {
        simple &= match e {
            SpecExpr::Congruent(..) | SpecExpr::Sum { .. } | SpecExpr::Call(..) | SpecExpr::Let(..) | SpecExpr::Array(_) => false,
            SpecExpr::Int(_)
            | SpecExpr::Bool(_)
            | SpecExpr::Var(_)
            | SpecExpr::Place(_)
            | SpecExpr::Index(..)
            | SpecExpr::Field(..)
            | SpecExpr::Len(_)
            | SpecExpr::Neg(_)
            | SpecExpr::Bin(..)
            | SpecExpr::Cmp(..)
            | SpecExpr::Not(_)
            | SpecExpr::And(..)
            | SpecExpr::Or(..)
            | SpecExpr::Implies(..)
            | SpecExpr::If(..)
            | SpecExpr::Forall { .. } => true,
        };
    });
    simple
}

impl<'a> Run<'a> {
    /// Runs `body` with the locals of `func` in scope and nothing noted down.
    pub fn in_frame<T>(&mut self, func: FuncId, locals: &mut Vec<Abs>, body: impl FnOnce(&mut Self, &mut State) -> T) -> T {
        let outer = std::mem::replace(&mut self.f, self.p.func(func));
        let frame = self.frame.0;
        self.frame = (self.frame.1 + 1, self.frame.1 + 1);
        let versions = vec![0; locals.len()];
        let mut st = State { locals: std::mem::take(locals), versions, covers: Default::default(), dead: false };
        self.mute += 1;
        let fails = self.fails;
        let out = body(self, &mut st);
        self.fails = fails;
        self.mute -= 1;
        self.f = outer;
        self.frame.0 = frame;
        *locals = st.locals;
        out
    }

    /// Settles the simple `requires` of a callee whose parameters stand in `frame`.
    pub fn requires(&mut self, frame: &mut Vec<Abs>, func: FuncId, at: usize) {
        let callee = self.p.func(func);
        for (nr, c) in callee.contracts.iter().enumerate() {
            if c.kind != ContractKind::Requires || !is_simple(&c.cond) {
                continue;
            }
            let ok = self.in_frame(func, frame, |run, st| {
                let v = run.spec(st, &c.cond, &mut Vec::new());
                run.decided(&v) == Some(true)
            });
            let (name, spent) = (&callee.name, self.clauses_spent());
            self.check(
                at,
                Kind::Requires,
                nr as u32,
                ok,
                |_| requires_text(callee, c),
                |_| Failure { reason: if spent { NOT_DECIDED.into() } else { format!("`{}` of `{name}` is not known to hold here", c.text) }, origin: None },
            );
        }
    }

    /// Makes the function's own simple `requires` hold at entry.
    pub fn assume_requires(&mut self, st: &mut State) {
        let f = self.f;
        for c in f.contracts.iter().filter(|c| c.kind == ContractKind::Requires && is_simple(&c.cond)) {
            self.mute += 1;
            let fails = self.fails;
            self.assume_spec(st, &c.cond);
            self.fails = fails;
            self.mute -= 1;
        }
    }

    fn assume_spec(&mut self, st: &mut State, e: &SpecExpr) {
        if let SpecExpr::And(a, b) = e {
            self.assume_spec(st, a);
            self.assume_spec(st, b);
            return;
        }
        if let SpecExpr::Forall { slot, lo, hi, body } = e {
            let (lo, hi) = (self.spec(st, lo, &mut Vec::new()), self.spec(st, hi, &mut Vec::new()));
            for i in steps(&lo, &hi).into_iter().flatten() {
                if self.clauses_spent() {
                    return;
                }
                let mut slots = slot_with(&[], *slot, i);
                let v = self.spec(st, body, &mut slots);
                if let Fact::Cond(c) = v.fact() {
                    self.assume(st, c, true);
                }
            }
            return;
        }
        let v = self.spec(st, e, &mut Vec::new());
        if let Fact::Cond(c) = v.fact() {
            self.assume(st, c, true);
        }
    }

    /// Results of a call: what the callee's own run inferred, sharpened by its simple `ensures`. `None`: these cannot all hold
    /// here.
    pub fn results(&mut self, func: FuncId, frame: &mut Vec<Abs>) -> Option<Vec<Abs>> {
        let callee = self.p.func(func);
        let inferred = self.summary(func, frame);
        for (id, v) in callee.rets.iter().zip(inferred) {
            frame[id.0 as usize] = v;
        }
        let clauses = callee.contracts.iter().filter(|c| c.kind == ContractKind::Ensures && is_simple(&c.cond));
        for c in clauses {
            let dead = self.in_frame(func, frame, |run, st| {
                run.assume_spec(st, &c.cond);
                st.dead
            });
            if dead {
                return None;
            }
        }
        Some(callee.rets.iter().map(|id| frame[id.0 as usize].clone()).collect())
    }

    /// Settles the function's own simple `ensures` at its end; parameters mean their values at entry.
    pub fn ensures(&mut self, st: &mut State, entry: &[Abs]) {
        let (f, at) = (self.f, self.func_addr());
        let written = visit::written_locals(&f.body);
        let mut end = st.clone();
        for id in f.params.iter().chain(&f.lens).filter(|id| written.contains(id)) {
            end.locals[id.0 as usize] = entry[id.0 as usize].strip();
            self.touch(&mut end, *id);
        }
        for (nr, c) in f.contracts.iter().enumerate() {
            if c.kind != ContractKind::Ensures || !is_simple(&c.cond) {
                continue;
            }
            self.mute += 1;
            let fails = self.fails;
            let v = self.spec(&mut end, &c.cond, &mut Vec::new());
            self.fails = fails;
            self.mute -= 1;
            let (ok, spent) = (self.decided(&v) == Some(true), self.clauses_spent());
            self.loc = c.loc;
            self.check(
                at,
                Kind::Ensures,
                nr as u32,
                ok,
                |_| ensures_text(c),
                |_| Failure { reason: if spent { NOT_DECIDED.into() } else { format!("`{}` is not known to hold at the end", c.text) }, origin: None },
            );
        }
    }

    /// A simple specification expression: an integer or a truth value.
    fn spec(&mut self, st: &mut State, e: &SpecExpr, slots: &mut Vec<Option<i128>>) -> Sc {
        let unknown = || Sc::new(Itv::TOP);
        self.clause_steps += 1;
        if self.clauses_spent() {
            return Sc::new(if is_truth(e) { Itv::BOOL } else { Itv::TOP });
        }
        match e {
            SpecExpr::Int(v) => self.known(&Itv::point(v)),
            SpecExpr::Bool(b) => Sc::new(Itv::point(i128::from(*b))),
            SpecExpr::Var(slot) => match slots.get(*slot as usize).copied().flatten() {
                Some(i) => self.known(&Itv::point(i)),
                None => unknown(),
            },
            SpecExpr::Place(_) | SpecExpr::Index(..) | SpecExpr::Field(..) => match self.spec_target(st, e, slots) {
                Some(t) => self.stored(st, &t),
                None => self.spec_read(st, e),
            },
            SpecExpr::Len(a) => match &**a {
                SpecExpr::Place(p) => self.spec_len(st, p),
                _ => unknown(),
            },
            SpecExpr::Neg(a) => {
                let x = self.spec(st, a, slots);
                self.sub_from(Int::ZERO, &x)
            }
            SpecExpr::Bin(op, a, b) => {
                let (x, y) = (self.spec(st, a, slots), self.spec(st, b, slots));
                self.spec_bin(*op, &x, &y)
            }
            SpecExpr::Cmp(op, a, b) => {
                let (x, y) = (self.spec(st, a, slots), self.spec(st, b, slots));
                let (ta, tb) = (self.spec_target(st, a, slots), self.spec_target(st, b, slots));
                self.comparison(st, *op, (&x, ta), (&y, tb))
            }
            SpecExpr::Not(a) => self.spec(st, a, slots).negated(),
            SpecExpr::And(a, b) => super::cond::combine(BinOp::And, &self.spec(st, a, slots), &self.spec(st, b, slots)),
            SpecExpr::Or(a, b) => super::cond::combine(BinOp::Or, &self.spec(st, a, slots), &self.spec(st, b, slots)),
            SpecExpr::Implies(a, b) => {
                let (a, b) = (self.spec(st, a, slots).negated(), self.spec(st, b, slots));
                super::cond::combine(BinOp::Or, &a, &b)
            }
            SpecExpr::If(c, a, b) => {
                let c = self.spec(st, c, slots);
                match self.decided(&c) {
                    Some(true) => self.spec(st, a, slots),
                    Some(false) => self.spec(st, b, slots),
                    None => Sc::new(self.spec(st, a, slots).itv().join(&self.spec(st, b, slots).itv())),
                }
            }
            SpecExpr::Forall { slot, lo, hi, body } => {
                let (lo, hi) = (self.spec(st, lo, slots), self.spec(st, hi, slots));
                let Some(range) = steps(&lo, &hi) else { return Sc::new(Itv::BOOL) };
                let mut all = Sc::new(Itv::point(1));
                for i in range {
                    if self.clauses_spent() {
                        return Sc::new(Itv::BOOL);
                    }
                    let v = self.spec(st, body, &mut slot_with(slots, *slot, i));
                    match self.decided(&v) {
                        Some(true) => {}
                        Some(false) => return Sc::new(Itv::point(0)),
                        None => all = Sc::new(Itv::BOOL),
                    }
                }
                all
            }
            SpecExpr::Congruent(..) | SpecExpr::Sum { .. } | SpecExpr::Call(..) | SpecExpr::Let(..) | SpecExpr::Array(_) => unknown(),
        }
    }

    /// Of a clause that is not evaluated to its end nothing is known.
    fn clauses_spent(&self) -> bool {
        self.clause_steps > self.opts.limits.clause_steps
    }

    fn known(&mut self, itv: &Itv) -> Sc {
        self.named(&Sc::new(itv.clone()))
    }

    fn spec_bin(&mut self, op: SpecOp, x: &Sc, y: &Sc) -> Sc {
        match op {
            SpecOp::Add => self.add(x, y),
            SpecOp::Sub => self.sub(x, y),
            SpecOp::Mul => self.mul(x, y, false),
            SpecOp::Div | SpecOp::Mod => match y.itv().single().filter(|d| **d > Int::ZERO) {
                Some(d) if op == SpecOp::Div => self.quotient(x, d),
                Some(d) => self.remainder(x, d),
                None => Sc::new(Itv::TOP),
            },
            SpecOp::Pow => match (x.itv().single(), y.itv().single().and_then(Int::small).and_then(|k| k.to_u32())) {
                (Some(b), Some(k)) if k <= 4096 => {
                    let v = (0..k).fold(Int::ONE, |acc, _| acc.mul(b));
                    self.known(&Itv::point(v))
                }
                _ => Sc::new(Itv::TOP),
            },
            SpecOp::And | SpecOp::Or | SpecOp::Xor => Sc::new(Itv::TOP),
        }
    }

    /// The stored scalar a clause names, where its element is known.
    fn spec_target(&mut self, st: &mut State, e: &SpecExpr, slots: &mut Vec<Option<i128>>) -> Option<Target> {
        let mut path = Vec::new();
        let mut at = e;
        let place = loop {
            match at {
                SpecExpr::Place(p) => break p,
                SpecExpr::Field(a, i) => {
                    path.push(*i as usize);
                    at = a;
                }
                SpecExpr::Index(a, i) => {
                    let i = self.spec(st, i, slots).itv().clone();
                    path.push(i.single()?.small()?.to_usize()?);
                    at = a;
                }
                _ => return None,
            }
        };
        let Base::Local(local) = place.base else { return None };
        let mut full = concrete(&self.within(Step::Clause, |run| run.steps_of(st, place)))?;
        full.extend(path.into_iter().rev());
        st.locals[local.0 as usize].at(&full).filter(|s| s.def())?;
        Some(Target { local, path: full, add: Int::ZERO })
    }

    fn stored(&mut self, st: &mut State, t: &Target) -> Sc {
        let leaf = st.locals[t.local.0 as usize].at(&t.path).cloned().unwrap_or_else(|| Sc::new(Itv::TOP));
        if !self.relational() || *leaf.fact() != Fact::None {
            return leaf;
        }
        let named = self.named(&leaf);
        if let Some(slot) = st.locals[t.local.0 as usize].at_mut(&t.path) {
            *slot = named.clone();
        }
        named
    }

    /// A scalar that is a constant, or an element not known exactly.
    fn spec_read(&mut self, st: &mut State, e: &SpecExpr) -> Sc {
        let SpecExpr::Place(p) = e else { return Sc::new(Itv::TOP) };
        let ty = santoku_ir::typing::Scope::of(self.p, self.f).place_ty(p).unwrap_or(Ty::Int(None));
        let read = santoku_ir::Expr { kind: ExprKind::Read(p.clone()), ty };
        self.within(Step::Clause, |run| run.eval(st, &read)).as_sc().cloned().unwrap_or_else(|| Sc::new(Itv::TOP))
    }

    fn spec_len(&mut self, st: &State, p: &Place) -> Sc {
        let ty = santoku_ir::typing::Scope::of(self.p, self.f).place_ty(p);
        let Some(Ty::Array { len, .. }) = ty else { return Sc::new(Itv::TOP) };
        match len {
            Len::Const(n) => self.known(&Itv::point(i128::from(n))),
            Len::Param { .. } => {
                let (itv, form) = self.length(st, &len);
                form.map_or_else(|| Sc::new(itv.clone()), |f| self.of_form(f).narrowed(&itv))
            }
        }
    }
}

fn is_truth(e: &SpecExpr) -> bool {
    match e {
        SpecExpr::Bool(_) | SpecExpr::Cmp(..) | SpecExpr::Congruent(..) | SpecExpr::Not(_) | SpecExpr::And(..) | SpecExpr::Or(..) | SpecExpr::Implies(..) | SpecExpr::Forall { .. } => true,
        SpecExpr::If(_, a, _) => is_truth(a),
        _ => false,
    }
}

fn steps(lo: &Sc, hi: &Sc) -> Option<std::ops::Range<i128>> {
    let (lo, hi) = (lo.itv().single()?.small()?, hi.itv().single()?.small()?);
    (hi.checked_sub(lo)? <= MAX_FORALL).then_some(lo..hi)
}

fn slot_with(slots: &[Option<i128>], slot: u32, v: i128) -> Vec<Option<i128>> {
    let mut out = slots.to_vec();
    out.resize(out.len().max(slot as usize + 1), None);
    out[slot as usize] = Some(v);
    out
}
