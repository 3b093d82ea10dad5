//! Secret `if`s become selections: both branches run, and every write to a variable that outlives them is
//! guarded by the condition. Then drafts become core statements.
//!
//! `if c { p = a } else { p = b }` gives `p = select(c, a, b)`; a write `p = a` that stands in one branch alone
//! gives `p = select(c, a, p)`. Calls run unconditionally (functions are total) into temporaries.

use crate::context::Cx;
use crate::draft::{assigned, root, Draft, LoopHead};
use crate::secrecy::Secrecy;
use santoku_diag::Span;
use santoku_ir::{BinOp, Expr, ExprKind, Ghost, Len, Local, LocalId, LocalKind, Place, Proj, Range, SpecExpr, Stmt, Ty, UnOp};
use std::collections::BTreeSet;

/// A finished body.
pub struct Finished {
    pub body: Vec<Stmt>,
    /// Where variables without a value had to be given one, because a guarded write reads them: the body with its
    /// secret `if`s still in place. It tells whether the *source* reads a variable before it has a value.
    pub branching: Option<Vec<Stmt>>,
}

/// Finishes the body of one function. `unset`: locals whose declaration gives them no value.
pub fn finish(cx: &Cx, locals: &mut Vec<Local>, secrecy: &Secrecy, unset: &[bool], body: Vec<Draft>) -> Finished {
    let drafted = locals.len() as u32;
    let mut p = Predicate { cx, locals, secrecy, drafted, guarded: BTreeSet::new() };
    let flat = p.flatten(body.clone());
    let guarded = std::mem::take(&mut p.guarded);
    let early = read_early(&flat, &guarded);
    let mut out = Vec::new();
    for id in guarded {
        if unset.get(id.0 as usize).copied().unwrap_or(false) || early.contains(&id) {
            let local = &p.locals[id.0 as usize];
            let src = zero(cx, &local.ty);
            out.push(Stmt::Assign { dst: Place::local(id), src, loc: local.loc });
        }
    }
    let statements = |ds: Vec<Draft>| ds.into_iter().map(|d| stmt(cx, d)).collect::<Vec<_>>();
    let branching = (!out.is_empty()).then(|| statements(body));
    out.extend(statements(flat));
    Finished { body: out, branching }
}

/// Of the `guarded` locals, those whose first write is a guarded one: it reads what nothing has written. A value that is
/// built where it goes is such a local, `let r = if secret { if public { a } else { b } } else { c }`.
fn read_early(body: &[Draft], guarded: &BTreeSet<LocalId>) -> BTreeSet<LocalId> {
    let mut walk = Early { guarded, found: BTreeSet::new() };
    walk.block(body, &mut BTreeSet::new());
    walk.found
}

struct Early<'a> {
    guarded: &'a BTreeSet<LocalId>,
    found: BTreeSet<LocalId>,
}

impl Early<'_> {
    /// `written`: places written on every way here. One with a computed index stands for its whole array; whether a loop
    /// wrote all of that is for the verifier and the prover to say.
    fn block(&mut self, body: &[Draft], written: &mut BTreeSet<Place>) {
        for draft in body {
            match draft {
                Draft::Assign { dst, src, .. } => {
                    let early = |id: &LocalId| self.guarded.contains(id) && reads_place(src, dst) && !covered(written, dst);
                    self.found.extend(root(dst).filter(early));
                    written.insert(steady(dst));
                }
                Draft::Call { dsts, .. } => written.extend(dsts.iter().map(steady)),
                Draft::For { body, .. } => self.block(body, written),
                Draft::If { then, els, .. } => {
                    let mut other = written.clone();
                    self.block(then, written);
                    self.block(els, &mut other);
                    let kept = written.iter().filter(|p| covered(&other, p));
                    let kept: BTreeSet<Place> = kept.chain(other.iter().filter(|p| covered(written, p))).cloned().collect();
                    *written = kept;
                }
                Draft::Assert { .. } | Draft::Ghost { .. } => {}
            }
        }
    }
}

/// Does the expression read exactly this place?
fn reads_place(e: &Expr, place: &Place) -> bool {
    let mut found = false;
    santoku_ir::visit::walk_expr(e, &mut |e| found |= e.as_read() == Some(place));
    found
}

/// The place up to its first computed index.
fn steady(place: &Place) -> Place {
    let fixed = |p: &&Proj| match p {
        Proj::Field(_) => true,
        Proj::Index(e) | Proj::Slice { off: e, .. } => e.as_const().is_some(),
    };
    Place { base: place.base, projs: place.projs.iter().take_while(fixed).cloned().collect() }
}

/// Is the place, or one that contains it, among these?
fn covered(written: &BTreeSet<Place>, place: &Place) -> bool {
    (0..=place.projs.len()).any(|n| written.contains(&Place { base: place.base, projs: place.projs[..n].to_vec() }))
}

struct Predicate<'a, 'w> {
    cx: &'a Cx<'w>,
    locals: &'a mut Vec<Local>,
    secrecy: &'a Secrecy,
    /// Locals from here on are temporaries of this pass.
    drafted: u32,
    /// Locals with a guarded write: the write reads them.
    guarded: BTreeSet<LocalId>,
}

/// A condition (a constant-size expression) and which side of it is taken.
struct Guard {
    cond: Expr,
    side: bool,
    inner: std::ops::Range<u32>,
}

impl Predicate<'_, '_> {
    /// Removes secret `if`s, innermost first.
    fn flatten(&mut self, body: Vec<Draft>) -> Vec<Draft> {
        let mut out = Vec::new();
        for draft in body {
            match draft {
                Draft::If { cond, then, els, inner, span } => {
                    let (then, els) = (self.flatten(then), self.flatten(els));
                    if self.secrecy.secret_in(&cond).is_some() {
                        self.select(cond, then, els, inner, span, &mut out);
                    } else {
                        out.push(Draft::If { cond, then, els, inner, span });
                    }
                }
                Draft::For { head, body, span } => {
                    let body = self.flatten(body);
                    out.push(Draft::For { head, body, span });
                }
                other => out.push(other),
            }
        }
        out
    }

    fn select(
        &mut self,
        cond: Expr,
        then: Vec<Draft>,
        els: Vec<Draft>,
        inner: std::ops::Range<u32>,
        span: Span,
        out: &mut Vec<Draft>,
    ) {
        let cond = self.stable(cond, &then, &els, span, out);
        let mut then = self.calls_into_temps(then, &inner);
        let mut els = self.calls_into_temps(els, &inner);
        let mut tails = Vec::new();
        while let (Some(Draft::Assign { dst: a, .. }), Some(Draft::Assign { dst: b, .. })) = (then.last(), els.last()) {
            if a != b || !self.is_outer(a, &inner) {
                break;
            }
            tails.extend(then.pop().zip(els.pop()));
        }
        let yes = Guard { cond: cond.clone(), side: true, inner: inner.clone() };
        let no = Guard { cond: cond.clone(), side: false, inner };
        self.guard_all(then, &yes, out);
        self.guard_all(els, &no, out);
        for tail in tails.into_iter().rev() {
            if let (Draft::Assign { dst, src: a, span }, Draft::Assign { src: b, .. }) = tail {
                out.push(Draft::Assign { dst, src: Expr::select(cond.clone(), a, b), span });
            }
        }
    }

    /// The condition as an expression that the branches cannot change.
    fn stable(&mut self, cond: Expr, then: &[Draft], els: &[Draft], span: Span, out: &mut Vec<Draft>) -> Expr {
        if let Some(id) = cond.as_read().filter(|p| p.projs.is_empty()).and_then(root) {
            let mut changes = false;
            for branch in [then, els] {
                assigned(branch, &mut |a| changes |= a == id);
            }
            if !changes {
                return cond;
            }
        }
        let id = self.temp("cond", Ty::Bool, span);
        out.push(Draft::Assign { dst: Place::local(id), src: cond, span });
        Expr::read(Place::local(id), &Ty::Bool)
    }

    fn temp(&mut self, name: &str, ty: Ty, span: Span) -> LocalId {
        let loc = self.cx.loc(span);
        self.locals.push(Local { name: name.to_string(), ty, kind: LocalKind::Var, public: false, loc });
        LocalId(self.locals.len() as u32 - 1)
    }

    fn is_outer(&self, place: &Place, inner: &std::ops::Range<u32>) -> bool {
        root(place).is_some_and(|id| id.0 < self.drafted && !inner.contains(&id.0))
    }

    fn place_ty(&self, place: &Place) -> Ty {
        let scope = santoku_ir::typing::Scope {
            structs: &self.cx.program.structs,
            consts: &self.cx.program.consts,
            locals: self.locals,
        };
        scope.place_ty(place).unwrap_or(Ty::Bool)
    }

    /// Splits calls that write outer places into a call and plain assignments.
    fn calls_into_temps(&mut self, body: Vec<Draft>, inner: &std::ops::Range<u32>) -> Vec<Draft> {
        let mut out = Vec::new();
        for draft in body {
            let Draft::Call { dsts, func, lens, args, span } = draft else {
                out.push(draft);
                continue;
            };
            let mut copies = Vec::new();
            let mut own = Vec::new();
            for dst in dsts {
                if !self.is_outer(&dst, inner) {
                    own.push(dst);
                    continue;
                }
                let ty = santoku_ir::typing::without_ranges(&self.place_ty(&dst));
                let id = self.temp("call", ty.clone(), span);
                own.push(Place::local(id));
                copies.push(Draft::Assign { dst, src: Expr::read(Place::local(id), &ty), span });
            }
            out.push(Draft::Call { dsts: own, func, lens, args, span });
            out.extend(copies);
        }
        out
    }

    fn guard_all(&mut self, body: Vec<Draft>, guard: &Guard, out: &mut Vec<Draft>) {
        for draft in self.calls_into_temps(body, &guard.inner) {
            let guarded = self.guard(draft, guard);
            out.push(guarded);
        }
    }

    fn guard(&mut self, draft: Draft, guard: &Guard) -> Draft {
        match draft {
            Draft::Assign { dst, src, span } if self.is_outer(&dst, &guard.inner) => {
                self.guarded.extend(root(&dst));
                let old = Expr::read(dst.clone(), &src.ty);
                let (yes, no) = if guard.side { (src, old) } else { (old, src) };
                Draft::Assign { dst, src: Expr::select(guard.cond.clone(), yes, no), span }
            }
            Draft::For { head, body, span } => {
                let LoopHead { var, lo, hi, rev, unroll, invariants } = *head;
                let invariants = invariants.into_iter().map(|i| implied(guard, i)).collect();
                let mut inside = Vec::new();
                self.guard_all(body, guard, &mut inside);
                let head = Box::new(LoopHead { var, lo, hi, rev, unroll, invariants });
                Draft::For { head, body: inside, span }
            }
            Draft::If { cond, then, els, inner, span } => {
                let (mut yes, mut no) = (Vec::new(), Vec::new());
                self.guard_all(then, guard, &mut yes);
                self.guard_all(els, guard, &mut no);
                Draft::If { cond, then: yes, els: no, inner, span }
            }
            Draft::Assert { cond, text, span } => Draft::Assert { cond: implied(guard, cond), text, span },
            Draft::Ghost { what, text, span } => Draft::Ghost { what: guarded(guard, what), text, span },
            other => other,
        }
    }
}

/// What a statement of ghost text says where both sides of a condition are executed. A condition that has no form in
/// specifications leaves nothing that could be shown.
fn guarded(guard: &Guard, what: Ghost) -> Ghost {
    let cond = in_spec(&guard.cond).map(|c| if guard.side { c } else { SpecExpr::Not(Box::new(c)) });
    let implied = |e: SpecExpr| match &cond {
        Some(c) => SpecExpr::Implies(Box::new(c.clone()), Box::new(e)),
        None => SpecExpr::Bool(false),
    };
    match (what, &cond) {
        (Ghost::Assert(e), _) => Ghost::Assert(implied(e)),
        (Ghost::Invariant(e), _) => Ghost::Invariant(implied(e)),
        // Declared inside, it is seen by nobody outside; else it keeps what it was on the other side.
        (Ghost::Let(id, e), Some(c)) if !guard.inner.contains(&id.0) => {
            Ghost::Let(id, SpecExpr::If(Box::new(c.clone()), Box::new(e), Box::new(SpecExpr::Place(Place::local(id)))))
        }
        (Ghost::Let(id, e), _) if guard.inner.contains(&id.0) => Ghost::Let(id, e),
        // What it requires may fail on the other side.
        (Ghost::Let(..) | Ghost::Lemma(..), _) => Ghost::Assert(SpecExpr::Bool(false)),
    }
}

/// A condition of code in a specification.
fn in_spec(e: &Expr) -> Option<SpecExpr> {
    let both = |a: &Expr, b: &Expr| Some((Box::new(in_spec(a)?), Box::new(in_spec(b)?)));
    match &e.kind {
        ExprKind::Const(v) if e.ty == Ty::Bool => Some(SpecExpr::Bool(*v == 1.into())),
        ExprKind::Const(v) => Some(SpecExpr::Int(v.clone())),
        ExprKind::Read(p) => Some(SpecExpr::Place(p.clone())),
        ExprKind::Un(UnOp::Not, a) if e.ty == Ty::Bool => Some(SpecExpr::Not(Box::new(in_spec(a)?))),
        ExprKind::Cmp(op, a, b) => both(a, b).map(|(a, b)| SpecExpr::Cmp(*op, a, b)),
        ExprKind::Bin(BinOp::And, a, b) if e.ty == Ty::Bool => both(a, b).map(|(a, b)| SpecExpr::And(a, b)),
        ExprKind::Bin(BinOp::Or, a, b) if e.ty == Ty::Bool => both(a, b).map(|(a, b)| SpecExpr::Or(a, b)),
        _ => None,
    }
}

/// `guard ==> cond`
fn implied(guard: &Guard, cond: Expr) -> Expr {
    let off = if guard.side { Expr::un(UnOp::Not, guard.cond.clone()) } else { guard.cond.clone() };
    Expr::bin(BinOp::Or, off, cond)
}

/// Some value of the type: zero where the range allows it, else the lower bound.
fn zero(cx: &Cx, ty: &Ty) -> Expr {
    let scalar = |r: &Range| Expr::int(if r.holds(0) { 0.into() } else { r.lo.to_big() });
    match ty {
        Ty::Word(bits) => Expr::word(*bits, 0),
        Ty::Bool => Expr::bool(false),
        Ty::Int(None) => Expr::int(0),
        Ty::Int(Some(range)) => scalar(range),
        Ty::Array { len: Len::Const(_), ranges: Some(ranges), .. } => {
            Expr::array(&Ty::Int(None), ranges.iter().map(scalar).collect())
        }
        Ty::Array { elem, len, .. } => Expr::repeat(zero(cx, elem), len.clone()),
        Ty::Struct(id) => {
            let fields = &cx.program.structs[id.0 as usize].fields;
            Expr::structure(*id, fields.iter().map(|f| zero(cx, &f.1)).collect())
        }
    }
}

fn stmt(cx: &Cx, draft: Draft) -> Stmt {
    match draft {
        Draft::Assign { dst, src, span } => Stmt::Assign { dst, src, loc: cx.loc(span) },
        Draft::Call { dsts, func, lens, args, span } => Stmt::Call { dsts, func, lens, args, loc: cx.loc(span) },
        Draft::For { head, body, span } => {
            let LoopHead { var, lo, hi, rev, unroll, invariants } = *head;
            let body = body.into_iter().map(|d| stmt(cx, d)).collect();
            Stmt::For { var, lo, hi, rev, unroll, invariants, body, loc: cx.loc(span) }
        }
        Draft::If { cond, then, els, span, .. } => Stmt::If {
            cond,
            then: then.into_iter().map(|d| stmt(cx, d)).collect(),
            els: els.into_iter().map(|d| stmt(cx, d)).collect(),
            loc: cx.loc(span),
        },
        Draft::Assert { cond, text, span } => Stmt::Assert { cond, text, loc: cx.loc(span) },
        Draft::Ghost { what, text, span } => Stmt::Ghost { what, text, loc: cx.loc(span) },
    }
}
