//! Secrecy: what is public is computed from public values alone, and only public values steer.
//!
//! An expression is public when all it reads is. A result of a call is public when all arguments are (functions
//! are pure), when the callee's own check showed its result local public, or when the callee declassifies.

use super::check::FuncCheck;
use crate::data::*;
use crate::visit;
use num_bigint::BigInt;
use num_traits::Zero;

impl FuncCheck<'_> {
    pub(super) fn secrecy(&mut self) {
        let func = self.func;
        visit::walk_stmts(&func.body, &mut |stmt| {
            self.loc = stmt.loc();
            self.steering(stmt);
            self.flows(stmt);
        });
    }

    fn is_public(&self, place: &Place) -> bool {
        match place.base {
            Base::Const(_) => true,
            Base::Local(id) => {
                let local = self.func.local(id);
                local.public || matches!(local.kind, LocalKind::Len | LocalKind::Counter)
            }
        }
    }

    /// The first secret place an expression reads.
    fn secret_in<'e>(&self, e: &'e Expr) -> Option<&'e Place> {
        let mut found = None;
        visit::walk_expr(e, &mut |e| {
            if let ExprKind::Read(p) = &e.kind {
                if found.is_none() && !self.is_public(p) {
                    found = Some(p);
                }
            }
        });
        found
    }

    fn must_be_public(&mut self, e: &Expr, what: &str) {
        if let Some(Place { base: Base::Local(id), .. }) = self.secret_in(e) {
            let name = self.name(*id);
            self.error("secret", format!("{what} depends on the secret {name}"));
        }
    }

    /// Conditions, bounds, indices, shift counts, divisions.
    fn steering(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::If { cond, .. } => self.must_be_public(cond, "a branch"),
            Stmt::For { lo, hi, .. } => {
                self.must_be_public(lo, "a loop bound");
                self.must_be_public(hi, "a loop bound");
            }
            Stmt::Call { lens, .. } => lens.iter().for_each(|l| self.must_be_public(l, "a length")),
            Stmt::Assign { .. } | Stmt::Assert { .. } | Stmt::Ghost { .. } => {}
        }
        for dst in visit::destinations(stmt) {
            visit::place_exprs(dst, &mut |i| self.must_be_public(i, "an index"));
        }
        visit::stmt_exprs(stmt, &mut |e| visit::walk_expr(e, &mut |e| self.steering_expr(e)));
    }

    fn steering_expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Read(place) => visit::place_exprs(place, &mut |i| self.must_be_public(i, "an index")),
            ExprKind::Bin(BinOp::Shl | BinOp::Shr | BinOp::Rotl | BinOp::Rotr, _, count) => {
                self.must_be_public(count, "a shift count");
            }
            ExprKind::Bin(BinOp::Div | BinOp::Mod, a, b) => {
                let power = b.as_const().is_some_and(|v| (v & (v - BigInt::from(1))).is_zero());
                if !power {
                    self.must_be_public(a, "a division by something that is no power of two");
                }
            }
            _ => {}
        }
    }

    /// Values into places marked public.
    fn flows(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Assign { dst, src, .. } if self.is_public(dst) => self.must_be_public(src, "a public place"),
            Stmt::Call { dsts, func, args, .. } => {
                let callee = self.program.func(*func);
                for (arg, param) in args.iter().zip(&callee.params) {
                    if callee.local(*param).public {
                        self.must_be_public(arg, &format!("the public argument {}", callee.local(*param).name));
                    }
                }
                for (dst, ret) in dsts.iter().zip(&callee.rets) {
                    if self.is_public(dst) && !callee.gives_public(*ret) {
                        args.iter().for_each(|a| self.must_be_public(a, "a public place"));
                    }
                }
            }
            Stmt::Assign { .. } | Stmt::For { .. } | Stmt::If { .. } | Stmt::Assert { .. } | Stmt::Ghost { .. } => {}
        }
    }
}
