//! Draft statements: core statements before it is known which variables are public.
//!
//! Expressions are already core expressions. An `If` here may still have a secret condition; [`crate::predicate`]
//! turns those into selections once [`crate::secrecy`] has decided.

use santoku_diag::Span;
use santoku_ir::{Base, Expr, ExprKind, FuncId, Ghost, LocalId, Place, Proj, Unroll};

#[derive(Clone, Debug)]
pub enum Draft {
    Assign { dst: Place, src: Expr, span: Span },
    Call { dsts: Vec<Place>, func: FuncId, lens: Vec<Expr>, args: Vec<Expr>, span: Span },
    For { head: Box<LoopHead>, body: Vec<Draft>, span: Span },
    /// `inner`: locals declared inside the branches; nobody outside sees them.
    If { cond: Expr, then: Vec<Draft>, els: Vec<Draft>, inner: std::ops::Range<u32>, span: Span },
    Assert { cond: Expr, text: String, span: Span },
    Ghost { what: Ghost, text: String, span: Span },
}

#[derive(Clone, Debug)]
pub struct LoopHead {
    pub var: LocalId,
    pub lo: Expr,
    pub hi: Expr,
    pub rev: bool,
    pub unroll: Unroll,
    pub invariants: Vec<Expr>,
}

/// The local a place belongs to; `None` for constants.
pub fn root(place: &Place) -> Option<LocalId> {
    match place.base {
        Base::Local(id) => Some(id),
        Base::Const(_) => None,
    }
}

/// First local read by an expression (indices and offsets included) for which `wanted` holds.
pub fn find_read(e: &Expr, wanted: &mut dyn FnMut(LocalId) -> bool) -> Option<LocalId> {
    match &e.kind {
        ExprKind::Const(_) => None,
        ExprKind::Read(place) => {
            root(place).filter(|id| wanted(*id)).or_else(|| find_in_projections(place, wanted))
        }
        ExprKind::Un(_, a) | ExprKind::Cast(a) | ExprKind::Repeat(a) => find_read(a, wanted),
        ExprKind::Bin(_, a, b) | ExprKind::Cmp(_, a, b) => find_read(a, wanted).or_else(|| find_read(b, wanted)),
        ExprKind::Select(c, a, b) => {
            find_read(c, wanted).or_else(|| find_read(a, wanted)).or_else(|| find_read(b, wanted))
        }
        ExprKind::Array(parts) | ExprKind::Struct(_, parts) => parts.iter().find_map(|p| find_read(p, wanted)),
    }
}

/// The same for the index and offset expressions of a place.
pub fn find_in_projections(place: &Place, wanted: &mut dyn FnMut(LocalId) -> bool) -> Option<LocalId> {
    place.projs.iter().find_map(|p| match p {
        Proj::Field(_) => None,
        Proj::Index(e) | Proj::Slice { off: e, .. } => find_read(e, wanted),
    })
}

/// Calls `f` with every local that the statements assign (counters aside).
pub fn assigned(drafts: &[Draft], f: &mut dyn FnMut(LocalId)) {
    for d in drafts {
        match d {
            Draft::Assign { dst, .. } => root(dst).into_iter().for_each(&mut *f),
            Draft::Call { dsts, .. } => dsts.iter().filter_map(root).for_each(&mut *f),
            Draft::For { body, .. } => assigned(body, f),
            Draft::If { then, els, .. } => {
                assigned(then, f);
                assigned(els, f);
            }
            Draft::Assert { .. } | Draft::Ghost { .. } => {}
        }
    }
}
