//! `if` expressions.
//!
//! On a constant condition one side exists. On a condition that is certainly secret, with plain values on both
//! sides, the result is a selection at once. Otherwise both sides write a destination under an `if`, and secrecy
//! decides later.

use crate::draft::Draft;
use crate::sty::STy;
use super::context::{Dst, FnCx, One, Val};
use santoku_diag::{Diagnostic, Span};
use santoku_ir::{Expr, LocalId, Ty};
use santoku_syntax::ast::{self, Block, ExprKind};

impl FnCx<'_, '_> {
    pub fn condition(&mut self, cond: &ast::Expr) -> Option<Expr> {
        self.typed(cond, &Ty::Bool)
    }

    pub fn if_value(&mut self, cond: &ast::Expr, then: &Block, els: &Block, hint: Option<&Ty>, span: Span) -> Option<Val> {
        let c = self.condition(cond)?;
        if let Some(v) = c.as_const() {
            let taken = if *v == 1.into() { then } else { els };
            return self.block_value(taken, hint);
        }
        if let ([], Some(a), [], Some(b)) = (&then.stmts[..], &then.result, &els.stmts[..], &els.result) {
            if self.known_secret(&c) && !self.builds(a) && !self.builds(b) {
                return self.selection(c, a, b, hint, span);
            }
        }
        let arity = self.tuple_arity(then).or_else(|| self.tuple_arity(els));
        let ids: Vec<LocalId> = (0..arity.unwrap_or(1)).map(|_| self.temp(hint.unwrap_or(&Ty::Bool), span)).collect();
        let dst = match arity {
            None => super::build::whole(ids[0]),
            Some(_) => Dst::Tuple(ids.iter().map(|id| super::build::whole(*id)).collect()),
        };
        let want = hint.filter(|_| arity.is_none()).map(|t| STy::one(t.clone()));
        let found = self.branches_into(&dst, c, (then, els), want.as_ref(), span)?;
        for (id, (ty, _)) in ids.iter().zip(found.flat()) {
            self.settle(*id, &ty);
        }
        match arity {
            None => Some(Val::One(self.read_local(ids[0]))),
            Some(_) => Some(Val::Tuple(ids.iter().map(|id| Val::One(self.read_local(*id))).collect())),
        }
    }

    pub fn if_into(
        &mut self,
        dst: &Dst,
        (cond, then, els): (&ast::Expr, &Block, &Block),
        want: Option<&STy>,
        span: Span,
    ) -> Option<STy> {
        let c = self.condition(cond)?;
        match c.as_const() {
            Some(v) => {
                let taken = if *v == 1.into() { then } else { els };
                self.taken_into(dst, taken, want)
            }
            None => self.branches_into(dst, c, (then, els), want, span),
        }
    }

    /// The branch of a constant condition, in the enclosing block.
    fn taken_into(&mut self, dst: &Dst, block: &Block, want: Option<&STy>) -> Option<STy> {
        let (drafts, found) = self.block(|b| b.branch_into(dst, block, want));
        self.out.extend(drafts);
        found
    }

    fn block_value(&mut self, block: &Block, hint: Option<&Ty>) -> Option<Val> {
        let (drafts, found) = self.block(|b| {
            b.each_statement(block)?;
            let result = b.block_result(block)?;
            b.value(result, hint)
        });
        self.out.extend(drafts);
        found
    }

    fn block_result<'b>(&mut self, block: &'b Block) -> Option<&'b ast::Expr> {
        match &block.result {
            Some(result) => Some(result),
            None => self.fail(
                Diagnostic::error("missing-result", "this branch has no value")
                    .at(block.span, "ends without a value")
                    .help("end both branches with an expression, or use `if` as a statement"),
            ),
        }
    }

    fn branches_into(
        &mut self,
        dst: &Dst,
        cond: Expr,
        (then, els): (&Block, &Block),
        want: Option<&STy>,
        span: Span,
    ) -> Option<STy> {
        let frozen = std::mem::replace(&mut self.frozen, self.locals.len() as u32);
        let first = self.locals.len() as u32;
        // Without a wanted type, the side that has a type of its own goes first and gives it to the other.
        let els_first = want.is_none() && then.result.as_ref().is_some_and(|r| constant_like(r));
        let (a, b) = if els_first { (els, then) } else { (then, els) };
        let (a_out, a_ty) = self.block(|x| x.branch_into(dst, a, want));
        let b_want = want.cloned().or(a_ty.clone());
        let (b_out, b_ty) = self.block(|x| x.branch_into(dst, b, b_want.as_ref()));
        self.frozen = frozen;
        let inner = first..self.locals.len() as u32;
        let (then, els) = if els_first { (b_out, a_out) } else { (a_out, b_out) };
        if self.known_secret(&cond) {
            let mut ids = Vec::new();
            super::function::roots(dst, &mut ids);
            ids.iter().for_each(|id| self.facts[id.0 as usize].secret = true);
        }
        self.out.push(Draft::If { cond, then, els, inner, span });
        b_ty?;
        a_ty
    }

    fn branch_into(&mut self, dst: &Dst, block: &Block, want: Option<&STy>) -> Option<STy> {
        self.each_statement(block)?;
        let result = self.block_result(block)?;
        self.into(dst, result, want)
    }

    /// Both sides as plain values under a secret condition.
    fn selection(&mut self, c: Expr, a: &ast::Expr, b: &ast::Expr, hint: Option<&Ty>, span: Span) -> Option<Val> {
        let (x, y) = match (self.value(a, hint)?, self.value(b, hint)?) {
            (Val::One(x), Val::One(y)) => (x, y),
            (Val::Tuple(xs), Val::Tuple(ys)) if xs.len() == ys.len() => {
                let pairs = xs.into_iter().zip(ys);
                let parts = pairs.map(|(x, y)| match (x, y) {
                    (Val::One(x), Val::One(y)) => self.select_one(c.clone(), x, a.span, y, b.span, None).map(Val::One),
                    _ => self.misplaced_tuple(span),
                });
                return Some(Val::Tuple(parts.collect::<Option<_>>()?));
            }
            _ => return self.misplaced_tuple(span),
        };
        self.select_one(c, x, a.span, y, b.span, hint).map(Val::One)
    }

    fn select_one(&mut self, c: Expr, x: One, x_span: Span, y: One, y_span: Span, hint: Option<&Ty>) -> Option<One> {
        let ty = match (x.flex, y.flex, hint) {
            (true, true, Some(hint)) if hint.is_scalar() => hint.clone(),
            (true, false, _) => y.ty.clone(),
            _ => x.ty.clone(),
        };
        let ty = santoku_ir::typing::without_ranges(&ty);
        let (x, y) = (self.coerce(x, &ty, x_span)?, self.coerce(y, &ty, y_span)?);
        Some(One::fresh(Expr::select(c, x, y)))
    }

    /// Number of parts when a block's result is visibly a tuple.
    fn tuple_arity(&mut self, block: &Block) -> Option<usize> {
        let result = super::context::bare(block.result.as_ref()?);
        match &result.kind {
            ExprKind::Tuple(parts) => Some(parts.len()),
            ExprKind::If { then, els, .. } => self.tuple_arity(then).or_else(|| self.tuple_arity(els)),
            ExprKind::Name(_) | ExprKind::TupleField { .. } => match self.named_binding(result)? {
                super::context::Binding::Tuple(parts) => Some(parts.len()),
                super::context::Binding::Local(_) | super::context::Binding::View(_) | super::context::Binding::Poison => None,
            },
            ExprKind::Call { callee, .. } => {
                let entity = self.cx.resolve(self.env.module, callee).ok()?;
                match &self.cx.world.function(entity)?.ret.as_ref()?.kind {
                    ast::TypeKind::Tuple(parts) => Some(parts.len()),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// Literals and operations on them: they take their type from elsewhere.
fn constant_like(e: &ast::Expr) -> bool {
    match &super::context::bare(e).kind {
        ExprKind::Int(_) | ExprKind::Power { .. } => true,
        ExprKind::Un { arg, .. } => constant_like(arg),
        ExprKind::Bin { lhs, rhs, .. } => constant_like(lhs) && constant_like(rhs),
        ExprKind::Array(parts) => parts.iter().all(constant_like),
        ExprKind::Repeat { elem, .. } => constant_like(elem),
        _ => false,
    }
}
