//! Ghost text in a body: claims in the language of contracts, names for values of it, lemmas.

use crate::draft::Draft;
use crate::entities::Entity;
use crate::names::Item;
use crate::spec::{self, SpecVal};
use super::context::{bare, Binding, FnCx};
use santoku_diag::{Diagnostic, Span};
use santoku_ir::{Ghost, LocalId, LocalKind, SpecExpr, Ty};
use santoku_syntax::ast::{self, BinOp, ExprKind, GhostKind, Ident, Path};
use std::collections::BTreeMap;

impl FnCx<'_, '_> {
    /// Whether an `assert` or `invariant` needs the language of contracts: otherwise it is an expression of the program.
    pub fn is_ghost(&mut self, e: &ast::Expr) -> bool {
        let e = bare(e);
        match &e.kind {
            ExprKind::Congruent { .. } | ExprKind::Sum { .. } | ExprKind::Forall { .. } | ExprKind::Bin { op: BinOp::Implies, .. } => true,
            ExprKind::Name(path) => path.module.is_none() && self.is_ghost_name(&path.name.name),
            ExprKind::Call { callee, .. } if self.is_spec(callee) => true,
            // Code may not divide so; ghost text, which nothing is compiled of, may.
            ExprKind::Bin { op: BinOp::Div | BinOp::Rem, lhs, rhs } if self.is_secret(lhs) && self.is_odd_divisor(rhs) => true,
            _ => parts(e).into_iter().any(|part| self.is_ghost(part)),
        }
    }

    /// Whether a value is seen to come from a secret.
    fn is_secret(&mut self, e: &ast::Expr) -> bool {
        let e = bare(e);
        if let ExprKind::Name(path) = &e.kind {
            let local = self.variable(&path.name.name).filter(|_| path.module.is_none());
            return match local.map(|v| &v.binding) {
                Some(Binding::Local(id)) => self.facts[id.0 as usize].secret,
                Some(Binding::View(view)) => crate::draft::root(&view.base).is_some_and(|id| self.facts[id.0 as usize].secret),
                _ => false,
            };
        }
        parts(e).into_iter().any(|part| self.is_secret(part))
    }

    /// A constant that is no power of two.
    fn is_odd_divisor(&mut self, e: &ast::Expr) -> bool {
        let mut env = self.env.clone();
        let value = if self.is_constant(e, &mut Vec::new()) { self.cx.const_int(&mut env, e) } else { None };
        value.is_some_and(|v| v > 0.into() && v.magnitude().count_ones() != 1)
    }

    fn is_spec(&mut self, callee: &Path) -> bool {
        let entity = self.cx.resolve(self.env.module, callee);
        matches!(entity, Ok(Entity { item: Item::Spec(_) | Item::SharedSpec(..), .. }))
    }

    /// Whether a name stands for a variable of ghost text.
    pub fn is_ghost_name(&self, name: &str) -> bool {
        matches!(self.variable(name).map(|v| &v.binding), Some(Binding::Local(id)) if self.facts[id.0 as usize].ghost)
    }

    /// A name that code must not use.
    pub fn ghost_in_code<T>(&mut self, name: &str, span: Span) -> Option<T> {
        self.fail(
            Diagnostic::error("ghost-in-code", format!("`{name}` belongs to ghost text"))
                .at(span, "stands in code that is compiled")
                .help("use it in `assert`, `invariant` and other `ghost` statements only"),
        )
    }

    pub fn spec_value(&self, b: &Binding) -> Option<SpecVal> {
        match b {
            Binding::Local(id) => Some(spec::of_local(*id, &self.locals[id.0 as usize].ty)),
            Binding::Tuple(parts) => Some(SpecVal::Tuple(parts.iter().map(|p| self.spec_value(p)).collect::<Option<_>>()?)),
            Binding::View(view) => Some(spec::view_of(&view.base, &view.at, &view.len, &view.elem)),
            Binding::Poison => None,
        }
    }

    /// Runs `f` where every variable in scope can be spoken of.
    fn in_spec<T>(&mut self, f: impl FnOnce(&mut spec::Scope<'_, '_>) -> Option<T>) -> Option<T> {
        let mut places = BTreeMap::new();
        for (name, v) in self.scopes.iter().flatten() {
            match self.spec_value(&v.binding) {
                Some(value) => drop(places.insert(name.clone(), value)),
                None => drop(places.remove(name)),
            }
        }
        f(&mut spec::Scope::new(&mut *self.cx, self.env.module, &self.env.generics).among(places))
    }

    fn say(&mut self, what: Ghost, span: Span) -> Option<()> {
        let text = self.cx.text(span);
        self.out.push(Draft::Ghost { what, text, span });
        Some(())
    }

    /// `what`: an `assert` or an `invariant`.
    pub fn ghost_claim(&mut self, what: fn(SpecExpr) -> Ghost, e: &ast::Expr) -> Option<()> {
        let cond = self.in_spec(|s| s.bool(e))?;
        self.say(what(cond), e.span)
    }

    pub fn ghost_counting_down<T>(&mut self, span: Span) -> Option<T> {
        self.fail(
            Diagnostic::error("bad-invariant", "ghost text at the head of a loop that counts down")
                .at(span, "an invariant in the language of contracts needs a loop that counts up")
                .help("count up, and index with what is left: `let j = n - 1 - i`"),
        )
    }

    pub fn ghost_statement(&mut self, what: &GhostKind, span: Span) -> Option<()> {
        match what {
            GhostKind::Let { mutable, name, value } => {
                let (value, ty) = self.in_spec(|s| s.scalar(value))?;
                let id = self.local(&name.name, ty, LocalKind::Var, name.span);
                self.facts[id.0 as usize].ghost = true;
                self.say(Ghost::Let(id, value), span)?;
                self.bind(&name.name, Binding::Local(id), *mutable, name.span);
                Some(())
            }
            GhostKind::Assign { name, value } => {
                let id = self.ghost_variable(name)?;
                let (value, ty) = self.in_spec(|s| s.scalar(value))?;
                let own = self.locals[id.0 as usize].ty.clone();
                if own != ty {
                    return self.mismatch(&ty, &own, span);
                }
                self.say(Ghost::Let(id, value), span)
            }
            GhostKind::Lemma(e) => self.lemma(e),
        }
    }

    fn ghost_variable(&mut self, name: &Ident) -> Option<LocalId> {
        match self.variable(&name.name).cloned() {
            Some(v) if self.is_ghost_name(&name.name) && v.mutable => match v.binding {
                Binding::Local(id) => Some(id),
                _ => None,
            },
            _ => self.fail(
                Diagnostic::error("not-a-place", format!("`{}` cannot be assigned to", name.name))
                    .at(name.span, "no variable of ghost text")
                    .help("declare it with `ghost var`"),
            ),
        }
    }

    fn lemma(&mut self, e: &ast::Expr) -> Option<()> {
        let ExprKind::Call { callee, args, .. } = &e.kind else { return None };
        let entity = match self.cx.resolve(self.env.module, callee) {
            Ok(entity) => entity,
            Err(why) => return self.cx.unresolved(why),
        };
        let Some(f) = self.cx.world.function(entity).filter(|f| f.lemma) else {
            return self.fail(
                Diagnostic::error("not-callable", format!("this {} is no lemma", entity.item.noun()))
                    .at(e.span, "called by ghost text")
                    .help("ghost text calls what is declared with `lemma`"),
            );
        };
        if f.params.len() != args.len() {
            return self.wrong_arguments(&f.name.name, f.params.len(), args.len(), e.span);
        }
        let key = crate::keys::plain_key(entity, f)?;
        let id = self.cx.instance(key, e.span)?;
        let wanted: Vec<Ty> = {
            let g = self.cx.program.func(id);
            g.params.iter().map(|p| g.local(*p).ty.clone()).collect()
        };
        let values: Vec<SpecExpr> = self.in_spec(|s| args.iter().zip(&wanted).map(|(a, ty)| s.like(a, ty)).collect())?;
        self.say(Ghost::Lemma(id, values), e.span)
    }
}

/// The expressions that an expression is made of.
fn parts(e: &ast::Expr) -> Vec<&ast::Expr> {
    match &e.kind {
        ExprKind::Call { args, .. } | ExprKind::Tuple(args) | ExprKind::Array(args) => args.iter().collect(),
        ExprKind::Convert { arg: a, .. }
        | ExprKind::Power { exp: a, .. }
        | ExprKind::Field { base: a, .. }
        | ExprKind::TupleField { base: a, .. }
        | ExprKind::Un { arg: a, .. } => vec![a],
        ExprKind::Bin { lhs: a, rhs: b, .. } | ExprKind::Index { base: a, index: b } | ExprKind::Repeat { elem: a, len: b } => vec![a, b],
        ExprKind::Slice { base, off, len } => vec![base, off, len],
        ExprKind::If { cond, then, els } => [Some(&**cond), alone(then), alone(els)].into_iter().flatten().collect(),
        _ => vec![],
    }
}

fn alone(b: &ast::Block) -> Option<&ast::Expr> {
    b.result.as_deref().filter(|_| b.stmts.is_empty())
}
