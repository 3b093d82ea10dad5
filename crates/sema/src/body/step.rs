//! Loops with a step: `for i in lo..<hi step s`.
//!
//! The core counts rounds from 0; the variable is `lo + s * round`. `rev` visits the same values, the last first.

use crate::draft::{Draft, LoopHead};
use super::context::{Binding, FnCx};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::Signed;
use santoku_diag::{Diagnostic, Span};
use santoku_ir::visit::{self, substitute_expr};
use santoku_ir::{BinOp, Expr, ExprKind, Ghost, LocalId, LocalKind, Place, SpecExpr, SpecOp, Ty, Unroll};
use santoku_syntax::ast::{self, Block, Ident};

/// Rounds of a loop over `distance` values, of which every `step`-th is visited.
pub fn rounds(distance: &BigInt, step: &BigInt) -> BigInt {
    (distance + step - 1i32).div_floor(step)
}

impl FnCx<'_, '_> {
    /// The step of a loop: 1 where none is given.
    pub fn step_of(&mut self, step: Option<&ast::Expr>) -> Option<BigInt> {
        let Some(e) = step else { return Some(1.into()) };
        let v = self.const_int(e)?;
        if v.is_positive() && v.bits() < 32 {
            return Some(v);
        }
        self.fail(
            Diagnostic::error("bad-step", "the step of a loop is no positive constant")
                .at(e.span, format!("this is {}", crate::arith::show(&v)))
                .help("steps are 1..2^32-1; write `rev` in front of the range to go down"),
        )
    }

    pub fn stepped_loop(
        &mut self,
        var: &Ident,
        (lo, hi, rev, unroll): (Expr, Expr, bool, Unroll),
        step: &BigInt,
        invariants: &[ast::Expr],
        body: &Block,
        span: Span,
    ) -> Option<()> {
        // The body may change what the lower bound is computed from.
        let lo = if lo.as_const().is_some() { lo } else { self.held_int(lo, var.span) };
        let round = self.local(&format!("{}_round", var.name), Ty::Int(None), LocalKind::Counter, var.span);
        let id = self.local(&var.name, Ty::Int(None), LocalKind::Var, var.span);
        if let (Some(a), Some(b)) = (lo.as_const(), hi.as_const()) {
            self.counters.insert(id, (a.clone(), b.clone()));
            self.steps.insert(id, (step.clone(), round));
        }
        let walked = Expr::int(step.clone()) * Expr::int_local(round);
        let zero = lo.as_const().is_some_and(|v| *v == BigInt::ZERO);
        let value = if zero { walked } else { lo.clone() + walked };
        let mut facts = Vec::new();
        let (mut drafts, ok) = self.block(|b| {
            b.bind(&var.name, Binding::Local(id), false, var.span);
            let hints = b.invariants(invariants, rev, &mut facts);
            b.assign(Place::local(id), value.clone(), var.span);
            b.statements(body).and(hints)
        });
        // An invariant is judged outside of the round that sets the variable.
        facts.iter_mut().for_each(|fact| substitute_expr(fact, id, &value));
        in_rounds(&mut drafts, id, &at_round(&lo, step, round));
        let count = number_of_rounds(lo, hi, step);
        let head = LoopHead { var: round, lo: Expr::int(0), hi: count, rev, unroll, invariants: facts };
        self.out.push(Draft::For { head: Box::new(head), body: drafts, span });
        ok
    }

    /// An integer in a variable that nothing else writes.
    pub fn held_int(&mut self, value: Expr, span: Span) -> Expr {
        Expr::int_local(self.held(value, span))
    }

    /// The variable that holds it.
    pub fn held(&mut self, value: Expr, span: Span) -> LocalId {
        let id = self.local("t", Ty::Int(None), LocalKind::Var, span);
        self.assign(Place::local(id), value, span);
        id
    }
}

/// `(hi - lo + step - 1) / step`; not positive where there is no round.
fn number_of_rounds(lo: Expr, hi: Expr, step: &BigInt) -> Expr {
    let (above, hi) = match (hi.as_const(), lo.as_const()) {
        (Some(b), Some(a)) => return Expr::int(rounds(&(b - a), step)),
        (Some(b), None) => (b + step - 1i32, None),
        (None, Some(a)) => (step - 1i32 - a, Some(hi)),
        (None, None) => (step - 1i32, Some(hi)),
    };
    let lo = if lo.as_const().is_some() { None } else { Some(lo) };
    let sum = match (hi, lo) {
        (Some(hi), None) => plus(hi, above),
        (Some(hi), Some(lo)) => plus(hi - lo, above),
        (None, Some(lo)) => Expr::int(above) - lo,
        (None, None) => Expr::int(above),
    };
    Expr::bin(BinOp::Div, sum, Expr::int(step.clone()))
}

/// `lo + step * round` in ghost text.
fn at_round(lo: &Expr, step: &BigInt, round: LocalId) -> SpecExpr {
    let first = match (lo.as_const(), &lo.kind) {
        (Some(v), _) => SpecExpr::Int(v.clone()),
        (None, ExprKind::Read(p)) => SpecExpr::Place(p.clone()),
        (None, other) => unreachable!("the lower bound of a stepped loop is held in a variable, not {other:?}"),
    };
    let walked = SpecExpr::Bin(SpecOp::Mul, Box::new(SpecExpr::Int(step.clone())), Box::new(SpecExpr::Place(Place::local(round))));
    SpecExpr::Bin(SpecOp::Add, Box::new(first), Box::new(walked))
}

/// The invariants that begin a body, said of the round that sets the variable later.
fn in_rounds(body: &mut [Draft], var: LocalId, value: &SpecExpr) {
    fn replace(e: &mut SpecExpr, var: LocalId, value: &SpecExpr) {
        if *e == SpecExpr::Place(Place::local(var)) {
            *e = value.clone();
        } else {
            visit::spec_children_mut(e, &mut |part| replace(part, var, value));
        }
    }
    for d in body {
        let Draft::Ghost { what: Ghost::Invariant(e), .. } = d else { return };
        replace(e, var, value);
    }
}

fn plus(e: Expr, k: BigInt) -> Expr {
    if k == BigInt::ZERO {
        e
    } else {
        e + Expr::int(k)
    }
}
