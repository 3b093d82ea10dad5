//! Statements.

use crate::draft::{Draft, LoopHead};
use crate::limits;
use crate::secrecy::Need;
use crate::sty::STy;
use super::build::{overlaps, whole};
use super::context::{Binding, Dst, FnCx, One, Val};
use super::place::root_name;
use num_bigint::BigInt;
use santoku_diag::{Diagnostic, Span};
use santoku_ir::{Expr, Ghost, LocalId, LocalKind, Place, Ty, Unroll};
use santoku_syntax::ast::{self, Attr, BinOp, Block, ExprKind, Ident, Stmt, StmtKind};

impl FnCx<'_, '_> {
    /// A block of statements without a value.
    pub fn statements(&mut self, block: &Block) -> Option<()> {
        let ok = self.each_statement(block);
        match &block.result {
            None => ok,
            Some(e) => match &e.kind {
                ExprKind::If { cond, then, els } => self.if_statement(cond, then, Some(els), e.span).and(ok),
                _ => self.fail(
                    Diagnostic::error("unused-value", "this value is not used")
                        .at(e.span, "computed and dropped")
                        .help("bind it with `let`, or assign it"),
                ),
            },
        }
    }

    /// All statements; goes on after one with an error, so that the next is checked too.
    pub fn each_statement(&mut self, block: &Block) -> Option<()> {
        self.stmt_depth += 1;
        let mut ok = Some(());
        if self.stmt_depth > limits::STMT_NESTING {
            ok = self.too_deep(block.span, "block", limits::STMT_NESTING, "move the inner blocks into functions");
        } else {
            for s in &block.stmts {
                if self.statement(s).is_none() {
                    ok = None;
                }
            }
        }
        self.stmt_depth -= 1;
        ok
    }

    fn statement(&mut self, s: &Stmt) -> Option<()> {
        match &s.kind {
            StmtKind::Let { mutable, names, tuple, ty, value } => {
                let done = self.let_statement(*mutable, names, *tuple, ty.as_ref(), value.as_ref(), s.span);
                if done.is_none() {
                    for name in names {
                        self.bind(&name.name, Binding::Poison, true, name.span);
                    }
                }
                done
            }
            StmtKind::Assign { place, op, value } => self.assignment(place, *op, value, s.span),
            StmtKind::For { attrs, var, rev, lo, hi, inclusive, step, invariants, body } => {
                let unroll = self.loop_attributes(attrs)?;
                let step = self.step_of(step.as_ref())?;
                let (first, end) = self.bounds(lo, hi, *inclusive, &step)?;
                if step > 1.into() {
                    return self.stepped_loop(var, (first, end, *rev, unroll), &step, invariants, body, s.span);
                }
                self.loop_over(var, (first, end, *rev, unroll), invariants, body, s.span)
            }
            StmtKind::If { cond, then, els } => self.if_statement(cond, then, els.as_ref(), s.span),
            StmtKind::Ghost(what) => self.ghost_statement(what, s.span),
            StmtKind::Assert(e) if self.is_ghost(e) => self.ghost_claim(Ghost::Assert, e),
            StmtKind::Assert(e) => {
                let cond = self.typed(e, &Ty::Bool)?;
                let text = self.cx.text(e.span);
                self.out.push(Draft::Assert { cond, text, span: s.span });
                Some(())
            }
            StmtKind::Error => None,
        }
    }

    fn let_statement(
        &mut self,
        mutable: bool,
        names: &[Ident],
        tuple: bool,
        ty: Option<&ast::Type>,
        value: Option<&ast::Expr>,
        span: Span,
    ) -> Option<()> {
        let declared = match ty {
            None => None,
            Some(t) => {
                let mut env = self.env.clone();
                Some((self.cx.any_type(&mut env, t)?, t.span))
            }
        };
        let Some(value) = value else {
            let ((ty, type_span), [name]) = (declared?, names) else { return None };
            let binding = self.declare(&ty, name, type_span, true);
            self.bind(&name.name, binding, mutable, name.span);
            return Some(());
        };
        if let (Some((ty @ STy::One { .. }, type_span)), [name], false) = (&declared, names, tuple) {
            let first = self.locals.len() as u32;
            let binding = self.declare(ty, name, *type_span, false);
            self.into(&whole(LocalId(first)), value, Some(ty))?;
            self.bind(&name.name, binding, mutable, name.span);
            return Some(());
        }
        if let (false, false, None, [name]) = (mutable, tuple, &declared, names) {
            if self.named_view(name, value)? {
                return Some(());
            }
        }
        let val = self.value(value, None)?;
        let possible = if mutable || tuple { None } else { self.possible_values(value) };
        let val = match &declared {
            None => val,
            Some((ty, type_span)) => self.declared_tuple(val, ty, *type_span, span)?,
        };
        match (tuple, val) {
            (false, val) => {
                self.name_value_as(val, &names[0], mutable)?;
                self.note_possible(&names[0].name, possible);
                Some(())
            }
            (true, Val::Tuple(parts)) if parts.len() == names.len() => {
                names.iter().zip(parts).try_for_each(|(name, v)| self.name_value_as(v, name, mutable))
            }
            (true, val) => {
                let found = self.cx.show_sty(&val.sty());
                self.fail(
                    Diagnostic::error("type-mismatch", format!("{} names for a value of type {found}", names.len()))
                        .at(value.span, format!("this is {found}"))
                        .help("give one name per part of the tuple"),
                )
            }
        }
    }

    /// New locals of a declared type. `unset`: no value follows.
    fn declare(&mut self, ty: &STy, name: &Ident, type_span: Span, unset: bool) -> Binding {
        match ty {
            STy::One { ty, public } => {
                let id = self.local(&name.name, ty.clone(), LocalKind::Var, name.span);
                self.facts[id.0 as usize].unset = unset;
                if *public {
                    let expr = self.read_local(id).expr;
                    self.need(Need::Declared, &expr, type_span);
                }
                Binding::Local(id)
            }
            STy::Tuple(parts) => Binding::Tuple(parts.iter().map(|p| self.declare(p, name, type_span, unset)).collect()),
        }
    }

    /// A tuple value with a declared type: each part becomes a local of its type.
    fn declared_tuple(&mut self, val: Val, ty: &STy, type_span: Span, span: Span) -> Option<Val> {
        let unnamed = Ident { name: "t".to_string(), span };
        let first = self.locals.len() as u32;
        let binding = self.declare(ty, &unnamed, type_span, false);
        let ids: Vec<LocalId> = (first..self.locals.len() as u32).map(LocalId).collect();
        let dst = super::function::dst_of(ty, &mut ids.iter());
        self.store(&dst, val, Some(ty), span)?;
        ids.iter().for_each(|id| self.facts[id.0 as usize].temp = true);
        self.binding_value(&binding)
    }

    /// Gives a name to a value; a temporary is adopted, not copied.
    pub fn name_value_as(&mut self, val: Val, name: &Ident, mutable: bool) -> Option<()> {
        let binding = self.adopt(val, name);
        self.bind(&name.name, binding, mutable, name.span);
        Some(())
    }

    fn adopt(&mut self, val: Val, name: &Ident) -> Binding {
        match val {
            Val::Tuple(parts) => Binding::Tuple(parts.into_iter().map(|p| self.adopt(p, name)).collect()),
            Val::One(one) => {
                if let Some(id) = self.fresh_temp(&one.expr) {
                    let loc = self.cx.loc(name.span);
                    let local = &mut self.locals[id.0 as usize];
                    local.name.clone_from(&name.name);
                    local.loc = loc;
                    let facts = &mut self.facts[id.0 as usize];
                    facts.temp = false;
                    facts.span = name.span;
                    return Binding::Local(id);
                }
                let ty = one.expr.ty.clone();
                let id = self.local(&name.name, ty, LocalKind::Var, name.span);
                self.assign(Place::local(id), one.expr, name.span);
                Binding::Local(id)
            }
        }
    }

    fn assignment(&mut self, target: &ast::Expr, op: Option<BinOp>, value: &ast::Expr, span: Span) -> Option<()> {
        if let Some(form) = self.word_in_bytes(target) {
            return self.store_word(form, target, op, value, span);
        }
        // A part of a tuple-typed variable, or the whole of it, is one place or several.
        if let (None, Some(Binding::Tuple(parts))) = (op, self.named_binding(target)) {
            return self.assign_tuple(target, &parts, value);
        }
        if let (None, true) = (op, self.is_long_slice(target)) {
            return self.store_slice(target, value, span);
        }
        let (place, ty) = self.assignable(target)?;
        match op {
            Some(op) => {
                let old = One::new(Expr::read(place.clone(), &ty), ty.clone());
                let new = self.update(op, old, target.span, value, span)?;
                let expr = self.coerce(new, &ty, span)?;
                self.assign(place, expr, span);
            }
            None if self.builds(value) && root_name(target).is_some_and(|n| !overlaps(value, &n.name)) => {
                let want = STy::one(ty);
                self.into(&Dst::One(place), value, Some(&want))?;
            }
            None => {
                let expr = self.typed(value, &ty)?;
                self.assign(place, expr, span);
            }
        }
        Some(())
    }

    fn assign_tuple(&mut self, target: &ast::Expr, parts: &[Binding], value: &ast::Expr) -> Option<()> {
        if let Some(variable) = root_name(target).and_then(|n| self.variable(&n.name)) {
            if !variable.mutable {
                let declared = variable.span;
                return self.fail(
                    Diagnostic::error("assign-to-immutable", "this tuple cannot be assigned to")
                        .at(target.span, "assigned here")
                        .also(declared, "declared without `var`")
                        .help("declare it with `var`"),
                );
            }
        }
        let val = self.value(value, None)?;
        let (dst, ty) = self.tuple_target(parts)?;
        // The parts may read the tuple: first all values, then all writes.
        let held = match val {
            Val::Tuple(vals) => Val::Tuple(vals.into_iter().map(|v| self.hold(v, value.span)).collect()),
            one => one,
        };
        self.store(&dst, held, Some(&ty), value.span)?;
        Some(())
    }

    fn tuple_target(&self, parts: &[Binding]) -> Option<(Dst, STy)> {
        let mut dsts = Vec::new();
        let mut tys = Vec::new();
        for p in parts {
            let (dst, ty) = match p {
                Binding::Local(id) => (whole(*id), STy::one(self.locals[id.0 as usize].ty.clone())),
                Binding::Tuple(inner) => self.tuple_target(inner)?,
                Binding::View(_) | Binding::Poison => return None,
            };
            dsts.push(dst);
            tys.push(ty);
        }
        Some((Dst::Tuple(dsts), STy::Tuple(tys)))
    }

    pub fn hold(&mut self, val: Val, span: Span) -> Val {
        match val {
            Val::Tuple(parts) => Val::Tuple(parts.into_iter().map(|p| self.hold(p, span)).collect()),
            Val::One(one) if one.flex => Val::One(one),
            Val::One(one) => {
                let id = self.temp(&one.ty, span);
                self.assign(Place::local(id), one.expr, span);
                Val::One(self.read_local(id))
            }
        }
    }

    fn loop_attributes(&mut self, attrs: &[Attr]) -> Option<Unroll> {
        let mut unroll = Unroll::Auto;
        for attr in attrs {
            unroll = match (attr.name.name.as_str(), &attr.arg) {
                ("unroll", None) => Unroll::Always,
                ("rolled", None) => Unroll::Never,
                _ => {
                    return self.fail(
                        Diagnostic::error("bad-attribute", format!("unknown attribute `@{}`", attr.name.name))
                            .at(attr.span, "not an attribute of loops")
                            .help("loops take `@unroll` and `@rolled`"),
                    )
                }
            };
        }
        Some(unroll)
    }

    /// Loop bounds: first value and one past the last.
    fn bounds(&mut self, lo: &ast::Expr, hi: &ast::Expr, inclusive: bool, step: &BigInt) -> Option<(Expr, Expr)> {
        let first = self.public_int(lo, Need::Bound)?;
        let last = self.public_int(hi, Need::Bound)?;
        let end = match (last.as_const(), inclusive) {
            (_, false) => last,
            (Some(v), true) => Expr::int(v + 1),
            (None, true) => last + Expr::int(1),
        };
        if let (Some(a), Some(b)) = (first.as_const(), end.as_const()) {
            let trips = super::step::rounds(&(b - a), step);
            if trips > BigInt::from(limits::LOOP_TRIPS) {
                return self.fail(
                    Diagnostic::error("loop-too-long", "loop runs too often")
                        .at(lo.span.to(hi.span), format!("{} iterations", crate::arith::show(&trips)))
                        .help("a loop with constant bounds runs at most 2^24 times; check the bound"),
                );
            }
        }
        Some((first, end))
    }

    fn loop_over(
        &mut self,
        var: &Ident,
        (lo, hi, rev, unroll): (Expr, Expr, bool, Unroll),
        invariants: &[ast::Expr],
        body: &Block,
        span: Span,
    ) -> Option<()> {
        let counter = self.local(&var.name, Ty::Int(None), LocalKind::Counter, var.span);
        if let (Some(a), Some(b)) = (lo.as_const(), hi.as_const()) {
            self.counters.insert(counter, (a.clone(), b.clone()));
        }
        let mut facts = Vec::new();
        let (drafts, ok) = self.block(|b| {
            b.bind(&var.name, Binding::Local(counter), false, var.span);
            let hints = b.invariants(invariants, rev, &mut facts);
            b.statements(body).and(hints)
        });
        let head = LoopHead { var: counter, lo, hi, rev, unroll, invariants: facts };
        self.out.push(Draft::For { head: Box::new(head), body: drafts, span });
        ok
    }

    /// Those that are ghost text begin the body.
    pub fn invariants(&mut self, invariants: &[ast::Expr], rev: bool, out: &mut Vec<Expr>) -> Option<()> {
        for e in invariants {
            if self.is_ghost(e) {
                if rev {
                    return self.ghost_counting_down(e.span);
                }
                self.ghost_claim(Ghost::Invariant, e)?;
                continue;
            }
            let before = self.out.len();
            let cond = self.typed(e, &Ty::Bool)?;
            if self.out.len() > before {
                return self.fail(
                    Diagnostic::error("bad-invariant", "an invariant cannot call functions or build arrays")
                        .at(e.span, "needs statements of its own")
                        .help("compute the value before the loop with `let`"),
                );
            }
            out.push(cond);
        }
        Some(())
    }

    pub fn if_statement(&mut self, cond: &ast::Expr, then: &Block, els: Option<&Block>, span: Span) -> Option<()> {
        let c = self.condition(cond)?;
        if let Some(v) = c.as_const() {
            let taken = if *v == 1.into() { Some(then) } else { els };
            let Some(block) = taken else { return Some(()) };
            let (drafts, ok) = self.block(|b| b.statements(block));
            self.out.extend(drafts);
            return ok;
        }
        let first = self.locals.len() as u32;
        let (then_out, then_ok) = self.block(|b| b.statements(then));
        let (els_out, els_ok) = match els {
            None => (Vec::new(), Some(())),
            Some(els) => self.block(|b| b.statements(els)),
        };
        let inner = first..self.locals.len() as u32;
        if self.known_secret(&c) {
            for branch in [&then_out, &els_out] {
                crate::draft::assigned(branch, &mut |id| {
                    if !inner.contains(&id.0) {
                        self.facts[id.0 as usize].secret = true;
                    }
                });
            }
        }
        self.out.push(Draft::If { cond: c, then: then_out, els: els_out, inner, span });
        then_ok.and(els_ok)
    }
}
