//! Secrecy, recomputed from the core alone: no secret steers a branch, a loop bound, an index, a slice offset or a shift
//! count, and none goes into an operation whose time depends on its operands.
//!
//! Needs: the core and a list of variable-time operations of the target.  Keeps: independence from the front end, whose
//! `public` marks on variables are judged here and not believed.  Absent on purpose: machine code (a compiler may add
//! branches), speculation, frequency.
//! Trusted: safe, field.

use crate::obligation::{Engine, Kind, Obligation, Outcome};
use num_traits::{One, Signed};
use santoku_ir::visit;
use santoku_ir::{Base, BinOp, Expr, ExprKind, Func, FuncId, Loc, LocalId, LocalKind, Place, Program, Proj, Stmt};
use std::collections::BTreeSet;

/// What a target computes in a time that depends on the values. Division by anything but a power of two always is.
#[derive(Clone, Debug, Default)]
pub struct Timing {
    /// `(operation, least word size in bits from which it is variable-time)`, as for early-terminating multipliers.
    pub variable_time: Vec<(BinOp, u32)>,
}

/// Secret locals of one function: those that a secret parameter may have flowed into.
pub struct Taint {
    secret: BTreeSet<LocalId>,
}

impl Taint {
    /// Least set closed under assignments and calls. A result of a call is secret if any argument is, unless the callee
    /// marks it public, which is judged there, or declassifies, which is its author's word.
    pub fn of(p: &Program, f: &Func) -> Taint {
        Taint::from(p, f, f.params.iter().copied().filter(|p| !f.local(*p).public).collect())
    }

    /// The same where these locals are secret at the start.
    pub fn from(p: &Program, f: &Func, secret: BTreeSet<LocalId>) -> Taint {
        let mut t = Taint { secret };
        loop {
            let before = t.secret.len();
            visit::walk_stmts(&f.body, &mut |s| t.flow(p, s));
            if t.secret.len() == before {
                return t;
            }
        }
    }
    fn flow(&mut self, p: &Program, s: &Stmt) {
        match s {
            Stmt::Assign { dst, src, .. } => {
                if self.expr(src) || self.indices(dst) {
                    self.mark(dst);
                }
            }
            Stmt::Call { dsts, func, lens, args, .. } => {
                let callee = p.func(*func);
                let tainted = lens.iter().chain(args).any(|e| self.expr(e));
                for (d, r) in dsts.iter().zip(&callee.rets) {
                    if self.indices(d) || (tainted && !callee.gives_public(*r)) {
                        self.mark(d);
                    }
                }
            }
            Stmt::For { var, lo, hi, .. } => {
                if self.expr(lo) || self.expr(hi) {
                    self.secret.insert(*var);
                }
            }
            // A branch on a secret is refused, so it can pass nothing on.
            Stmt::If { .. } | Stmt::Assert { .. } | Stmt::Ghost { .. } => {}
        }
    }
    fn mark(&mut self, p: &Place) {
        if let Base::Local(id) = p.base {
            self.secret.insert(id);
        }
    }
    /// Whether the value of an expression may depend on a secret.
    pub fn expr(&self, e: &Expr) -> bool {
        let mut found = false;
        visit::walk_expr(e, &mut |x| {
            if let ExprKind::Read(p) = &x.kind {
                found |= matches!(p.base, Base::Local(id) if self.secret.contains(&id));
            }
        });
        found
    }
    fn indices(&self, p: &Place) -> bool {
        let mut found = false;
        visit::place_exprs(p, &mut |e| found |= self.expr(e));
        found
    }
    pub fn local(&self, id: LocalId) -> bool {
        self.secret.contains(&id)
    }
}

struct Checker<'a> {
    p: &'a Program,
    id: FuncId,
    taint: Taint,
    timing: &'a Timing,
    out: Vec<Obligation>,
}

/// One obligation for every place where a secret would show, for every argument of a `public` parameter and for every
/// variable marked public.
pub fn check(p: &Program, id: FuncId, timing: &Timing) -> Vec<Obligation> {
    let f = p.func(id);
    let mut c = Checker { p, id, taint: Taint::of(p, f), timing, out: Vec::new() };
    for (i, l) in f.locals.iter().enumerate() {
        if l.public && matches!(l.kind, LocalKind::Var | LocalKind::Counter | LocalKind::Ret) {
            let secret = c.taint.local(LocalId(i as u32));
            c.note(secret, l.loc, format!("`{}` is public", l.name), "a secret flows into it");
        }
    }
    visit::walk_stmts(&f.body, &mut |s| c.stmt(s));
    c.out
}

impl Checker<'_> {
    fn note(&mut self, secret: bool, loc: Loc, text: String, why: &str) {
        let outcome = if secret {
            Outcome::Failed { reason: why.to_string(), witness: None, origin: None }
        } else {
            Outcome::Proved { engine: Engine::Syntactic }
        };
        self.out.push(Obligation { func: self.id, kind: Kind::Secrecy, loc, nr: 0, text, outcome, micros: 0 });
    }

    fn steer(&mut self, e: &Expr, loc: Loc, what: &str) {
        // A constant steers nothing.
        if e.as_const().is_none() {
            let secret = self.taint.expr(e);
            self.note(secret, loc, format!("{what} is public"), &format!("{what} depends on a secret"));
        }
    }

    fn stmt(&mut self, s: &Stmt) {
        let loc = s.loc();
        match s {
            Stmt::If { cond, .. } => self.steer(cond, loc, "a branch condition"),
            Stmt::For { lo, hi, .. } => {
                self.steer(lo, loc, "a loop bound");
                self.steer(hi, loc, "a loop bound");
            }
            Stmt::Call { dsts, func, lens, args, .. } => {
                dsts.iter().for_each(|d| self.place(d, loc));
                lens.iter().for_each(|e| self.steer(e, loc, "a length"));
                let callee = self.p.func(*func);
                for (param, e) in callee.params.iter().zip(args) {
                    if callee.local(*param).public {
                        let what = format!("argument `{}` of `{}`", callee.local(*param).name, callee.name);
                        self.steer(e, loc, &what);
                    }
                }
            }
            Stmt::Assign { dst, .. } => self.place(dst, loc),
            Stmt::Assert { .. } | Stmt::Ghost { .. } => {}
        }
        visit::stmt_exprs(s, &mut |e| {
            let mut found: Vec<&Expr> = Vec::new();
            visit::walk_expr(e, &mut |x| found.push(x));
            found.into_iter().for_each(|x| self.expr(x, loc));
        });
    }

    fn place(&mut self, p: &Place, loc: Loc) {
        for proj in &p.projs {
            match proj {
                Proj::Field(_) => {}
                Proj::Index(e) => self.steer(e, loc, "an index"),
                Proj::Slice { off, .. } => self.steer(off, loc, "a slice offset"),
            }
        }
    }

    fn expr(&mut self, e: &Expr, loc: Loc) {
        match &e.kind {
            ExprKind::Read(p) => self.place(p, loc),
            ExprKind::Bin(op, a, b) => self.operation(*op, a, b, loc),
            _ => {}
        }
    }

    fn operation(&mut self, op: BinOp, a: &Expr, b: &Expr, loc: Loc) {
        match op {
            BinOp::Shl | BinOp::Shr | BinOp::Rotl | BinOp::Rotr => self.steer(b, loc, "a shift count"),
            BinOp::Div | BinOp::Mod => {
                let shift = b.as_const().is_some_and(|d| d.is_positive() && (d & (d - num_bigint::BigInt::one())) == 0.into());
                if !shift {
                    let secret = self.taint.expr(a) || self.taint.expr(b);
                    let what = "the operands of a division are public";
                    self.note(secret, loc, what.into(), "a division by no power of two takes a time that depends on a secret");
                }
            }
            _ => {
                let bits = match a.ty {
                    santoku_ir::Ty::Word(b) => b,
                    _ => 128,
                };
                if self.timing.variable_time.iter().any(|(o, least)| *o == op && bits >= *least) {
                    let secret = self.taint.expr(a) || self.taint.expr(b);
                    let what = format!("the operands of {op:?} are public");
                    self.note(secret, loc, what, "the target computes it in a time that depends on a secret");
                }
            }
        }
    }
}
