//! Contracts and specification functions: names resolve, binders bind, places exist.
//!
//! Kinds of values (integer, truth value, array) are not inferred; the evaluator and the prover refuse a
//! clause that mixes them.

use super::types::Judged;
use super::check::{exprs_within, FuncCheck};
use crate::data::*;
use crate::limits::EXPR_DEPTH;
use crate::spec::{Contract, ContractKind, Ghost, SpecExpr, SpecFn};
use crate::ty::Ty;
use crate::typing::Scope;
use crate::visit;
use std::collections::BTreeSet;

/// Judges a specification function.
pub(super) fn spec_fn(program: &Program, f: &SpecFn) -> Judged {
    within(&f.body)?;
    let scope = Scope { structs: &program.structs, consts: &program.consts, locals: &[] };
    let place = |p: &Place| {
        if matches!(p.base, Base::Local(_)) {
            return Err(("contract", "a spec fn mentions a local".to_string()));
        }
        let mut constant = true;
        visit::place_exprs(p, &mut |e| constant &= e.as_const().is_some() && matches!(e.ty, Ty::Int(_)));
        match scope.place_ty(p) {
            Some(_) if constant => Ok(()),
            Some(_) => Err(("contract", "a spec fn indexes a place by something that is no constant".to_string())),
            None if scope.base_ty(p.base).is_none() => Err(("id", "a place has no base".to_string())),
            None => Err(("projection", "a place does not fit its type".to_string())),
        }
    };
    names(program, &f.body, &(0..f.params.len() as u32).collect(), &place)
}

fn within(e: &SpecExpr) -> Judged {
    let mut work = vec![(e, 1)];
    while let Some((e, depth)) = work.pop() {
        if depth > EXPR_DEPTH {
            return Err(("nesting", format!("a specification nests more than {EXPR_DEPTH} deep")));
        }
        if let SpecExpr::Place(p) = e {
            let mut exprs = Vec::new();
            visit::place_exprs(p, &mut |e| exprs.push((e, 1)));
            if !exprs_within(exprs) {
                return Err(("nesting", format!("an expression nests more than {EXPR_DEPTH} deep")));
            }
        }
        visit::spec_children(e, &mut |c| work.push((c, depth + 1)));
    }
    Ok(())
}

/// Variables are bound, calls have their arguments, places pass `place`.
fn names(program: &Program, e: &SpecExpr, bound: &BTreeSet<u32>, place: &dyn Fn(&Place) -> Judged) -> Judged {
    let under = |slot: u32, body: &SpecExpr| {
        let mut inner = bound.clone();
        inner.insert(slot);
        names(program, body, &inner, place)
    };
    match e {
        SpecExpr::Var(slot) if !bound.contains(slot) => Err(("contract", format!("variable {slot} is not bound"))),
        SpecExpr::Place(p) => place(p),
        SpecExpr::Let(slot, a, b) => {
            names(program, a, bound, place)?;
            under(*slot, b)
        }
        SpecExpr::Sum { slot, lo, hi, body } | SpecExpr::Forall { slot, lo, hi, body } => {
            names(program, lo, bound, place)?;
            names(program, hi, bound, place)?;
            under(*slot, body)
        }
        SpecExpr::Call(id, args) => {
            let Some(f) = program.specs.get(id.0 as usize) else {
                return Err(("id", format!("no spec fn {}", id.0)));
            };
            if f.params.len() != args.len() {
                return Err(("arity", format!("{} arguments for spec fn {}", args.len(), f.name)));
            }
            args.iter().try_for_each(|a| names(program, a, bound, place))
        }
        _ => {
            let mut verdict = Ok(());
            visit::spec_children(e, &mut |c| {
                if verdict.is_ok() {
                    verdict = names(program, c, bound, place);
                }
            });
            verdict
        }
    }
}

impl FuncCheck<'_> {
    /// Ghost text speaks of all locals; what it defines is of ghost text alone; lemmas come before what uses them.
    pub(super) fn ghost(&self, what: &Ghost) -> Judged {
        let place = |p: &Place| {
            let mut verdict = self.place(p).map(drop);
            visit::place_exprs(p, &mut |e| {
                if verdict.is_ok() {
                    verdict = self.expr(e);
                }
            });
            verdict
        };
        what.exprs().iter().try_for_each(|e| within(e).and_then(|()| names(self.program, e, &BTreeSet::new(), &place)))?;
        match what {
            Ghost::Let(id, _) => match self.func.locals.get(id.0 as usize) {
                Some(Local { kind: LocalKind::Var, ty: Ty::Int(None) | Ty::Bool, .. }) => Ok(()),
                _ => Err(("ghost", format!("{} is no variable of ghost text", self.name(*id)))),
            },
            Ghost::Lemma(id, args) => match self.program.funcs.get(id.0 as usize) {
                Some(_) if id.0 as usize >= self.at => Err(("order", "a lemma that is not earlier in the program".to_string())),
                Some(f) if f.rets.is_empty() && f.lens.is_empty() && f.params.len() == args.len() => Ok(()),
                _ => Err(("arity", "a lemma that takes or gives something else".to_string())),
            },
            Ghost::Assert(_) | Ghost::Invariant(_) => Ok(()),
        }
    }

    /// Code neither reads nor writes what ghost text defines, and invariants stand at the head of a loop that counts up.
    pub(super) fn apart(&mut self) {
        let mut own = BTreeSet::new();
        visit::walk_stmts(&self.func.body, &mut |s| {
            if let Stmt::Ghost { what: Ghost::Let(id, _), .. } = s {
                own.insert(*id);
            }
        });
        visit::walk_places(&self.func.body, &mut |p, _| {
            if matches!(p.base, Base::Local(id) if own.contains(&id)) {
                self.error("ghost", "code touches what ghost text defines");
            }
        });
        let mut blocks: Vec<(&[Stmt], bool)> = vec![(&self.func.body, false)];
        while let Some((body, head)) = blocks.pop() {
            let is_claim = |s: &&Stmt| matches!(s, Stmt::Ghost { what: Ghost::Invariant(_), .. });
            let first = if head { body.iter().take_while(is_claim).count() } else { 0 };
            if let Some(s) = body[first..].iter().find(is_claim) {
                self.loc = s.loc();
                self.error("ghost", "an invariant that is not at the head of a loop");
            }
            for s in body {
                let head = matches!(s, Stmt::For { rev: false, .. });
                blocks.extend(visit::blocks(s).into_iter().map(|b| (b, head)));
            }
        }
    }

    pub(super) fn contracts(&mut self) {
        for contract in &self.func.contracts {
            self.loc = contract.loc;
            if let Err((code, message)) = self.contract(contract) {
                self.error(code, format!("{message} in `{}`", contract.text));
            }
        }
        self.loc = self.func.loc;
        self.apart();
    }

    fn contract(&self, contract: &Contract) -> Judged {
        within(&contract.cond)?;
        let place = |p: &Place| {
            let mut verdict = Ok(());
            visit::place_exprs(p, &mut |e| {
                if verdict.is_ok() {
                    verdict = self.expr(e).and_then(|()| self.visible_in(e, contract.kind));
                }
            });
            verdict?;
            self.place(p)?;
            self.visible(p, contract.kind)
        };
        names(self.program, &contract.cond, &BTreeSet::new(), &place)
    }

    fn visible_in(&self, e: &Expr, kind: ContractKind) -> Judged {
        let mut verdict = Ok(());
        visit::walk_expr(e, &mut |e| {
            if let (ExprKind::Read(p), true) = (&e.kind, verdict.is_ok()) {
                verdict = self.visible(p, kind);
            }
        });
        verdict
    }

    /// A contract speaks to callers: they see lengths and parameters, and results afterwards.
    fn visible(&self, p: &Place, kind: ContractKind) -> Judged {
        let Base::Local(id) = p.base else { return Ok(()) };
        match (self.func.local(id).kind, kind) {
            (LocalKind::Len | LocalKind::Param, _) | (LocalKind::Ret, ContractKind::Ensures) => Ok(()),
            _ => Err(("contract", format!("{} is not visible to callers", self.name(id)))),
        }
    }
}
