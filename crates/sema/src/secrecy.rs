//! Which locals are public: the greatest solution in which a local is public exactly when every value
//! assigned to it is, and what must be public is checked against it.

use crate::context::Cx;
use crate::draft::{assigned, find_in_projections, find_read, root, Draft};
use santoku_diag::{Diagnostic, Span};
use santoku_ir::{Expr, Local, LocalId, LocalKind, Place};

/// Why a value must be public.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    Index,
    Bound,
    Shift,
    Division,
    /// Argument of a `public` parameter.
    Argument,
    /// Declared `public`.
    Declared,
}

/// A value that must turn out public.
#[derive(Clone, Debug)]
pub struct Requirement {
    pub need: Need,
    pub expr: Expr,
    pub span: Span,
}

/// How a local became secret.
#[derive(Clone, Copy, Debug)]
struct Cause {
    span: Span,
    from: Option<LocalId>,
}

/// Result for one function.
pub struct Secrecy {
    causes: Vec<Option<Cause>>,
}

impl Secrecy {
    pub fn is_secret(&self, id: LocalId) -> bool {
        self.causes.get(id.0 as usize).is_some_and(Option::is_some)
    }
    /// First secret local an expression reads.
    pub fn secret_in(&self, e: &Expr) -> Option<LocalId> {
        find_read(e, &mut |id| self.is_secret(id))
    }
    fn secret_place(&self, place: &Place) -> Option<LocalId> {
        find_in_projections(place, &mut |id| self.is_secret(id))
    }
    fn mark(&mut self, id: LocalId, cause: Cause) -> bool {
        let slot = &mut self.causes[id.0 as usize];
        let new = slot.is_none();
        if new {
            *slot = Some(cause);
        }
        new
    }
}

/// Decides every local of a function. `spans` are the declarations.
pub fn decide(cx: &Cx, locals: &[Local], spans: &[Span], body: &[Draft]) -> Secrecy {
    let start = |(i, l): (usize, &Local)| {
        (l.kind == LocalKind::Param && !l.public).then(|| Cause { span: spans[i], from: None })
    };
    let mut secrecy = Secrecy { causes: locals.iter().enumerate().map(start).collect() };
    while walk(cx, body, &mut secrecy) {}
    secrecy
}

/// One pass over the statements; true when something became secret.
fn walk(cx: &Cx, body: &[Draft], s: &mut Secrecy) -> bool {
    let mut changed = false;
    for draft in body {
        match draft {
            Draft::Assign { dst, src, span } => {
                if let (Some(id), Some(from)) = (root(dst), s.secret_in(src).or_else(|| s.secret_place(dst))) {
                    changed |= s.mark(id, Cause { span: *span, from: Some(from) });
                }
            }
            Draft::Call { dsts, func, args, span, .. } => {
                let Some(from) = args.iter().find_map(|a| s.secret_in(a)) else { continue };
                let public = cx.signatures.get(func).map(|sig| sig.ret_public.as_slice()).unwrap_or_default();
                for (i, dst) in dsts.iter().enumerate() {
                    if let (Some(id), false) = (root(dst), public.get(i).copied().unwrap_or(false)) {
                        changed |= s.mark(id, Cause { span: *span, from: Some(from) });
                    }
                }
            }
            Draft::For { body, .. } => changed |= walk(cx, body, s),
            Draft::If { cond, then, els, inner, span } => {
                changed |= walk(cx, then, s) | walk(cx, els, s);
                if let Some(from) = s.secret_in(cond) {
                    let mut outer = Vec::new();
                    for branch in [then, els] {
                        assigned(branch, &mut |id| outer.extend((!inner.contains(&id.0)).then_some(id)));
                    }
                    for id in outer {
                        changed |= s.mark(id, Cause { span: *span, from: Some(from) });
                    }
                }
            }
            Draft::Assert { .. } | Draft::Ghost { .. } => {}
        }
    }
    changed
}

/// Reports every requirement that a secret value violates.
pub fn check(cx: &mut Cx, locals: &[Local], secrecy: &Secrecy, requirements: &[Requirement]) -> bool {
    let mut ok = true;
    for r in requirements {
        if let Some(id) = secrecy.secret_in(&r.expr) {
            ok = false;
            let d = explain(violation(r.need, r.span), locals, secrecy, id);
            cx.report(d);
        }
    }
    ok
}

/// The message where something secret stands and a public value is needed.
pub fn violation(need: Need, span: Span) -> Diagnostic {
    let (code, title, label, help) = match need {
        Need::Index => (
            "secret-index",
            "index depends on a secret",
            "this index is secret",
            "scan all elements and select, or declare what it comes from `public`",
        ),
        Need::Bound => (
            "secret-bound",
            "loop bound depends on a secret",
            "this bound is secret",
            "loop over a public bound and select inside, or declare what it comes from `public`",
        ),
        Need::Shift => (
            "secret-shift",
            "shift count depends on a secret",
            "this count is secret",
            "shift by public counts and select, or declare what it comes from `public`",
        ),
        Need::Division => (
            "secret-division",
            "division of a secret",
            "the dividend is secret and the divisor is no power of two",
            "multiply by the inverse, or divide by a power of two",
        ),
        Need::Argument => (
            "secret-argument",
            "secret passed as a public argument",
            "this argument is secret",
            "declare what it comes from `public`, or call a function that takes a secret",
        ),
        Need::Declared => (
            "secret-value",
            "a public variable or result holds a secret",
            "declared `public`, its value is secret",
            "remove `public`, or declare what the value comes from `public`",
        ),
    };
    Diagnostic::error(code, title).at(span, label).help(help)
}

/// Adds the way from the violation back to the parameter that is secret.
fn explain(mut d: Diagnostic, locals: &[Local], secrecy: &Secrecy, id: LocalId) -> Diagnostic {
    let mut at = id;
    for _ in 0..4 {
        let Some(cause) = secrecy.causes[at.0 as usize] else { break };
        let name = &locals[at.0 as usize].name;
        let Some(from) = cause.from else {
            return d.also(cause.span, format!("`{name}` is secret: a parameter without `public`"));
        };
        d = d.also(cause.span, format!("`{name}` becomes secret here"));
        at = from;
    }
    while let Some(Cause { from: Some(from), .. }) = secrecy.causes[at.0 as usize] {
        if from == at {
            break;
        }
        at = from;
    }
    match secrecy.causes[at.0 as usize] {
        Some(Cause { span, from: None }) => {
            d.also(span, format!("`{}` is secret: a parameter without `public`", locals[at.0 as usize].name))
        }
        _ => d,
    }
}
