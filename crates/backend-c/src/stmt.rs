//! Statements.

use crate::context::{FnCx, Res};
use crate::ctype::{CTy, U32};
use crate::expr::strip_parens;
use crate::scope::BlockPath;
use num_traits::Signed;
use santoku_ir::{Expr, ExprKind, LocalId, Place, Stmt};

impl FnCx<'_> {
    pub fn block(&mut self, stmts: &[Stmt], path: &mut BlockPath) -> Res<()> {
        self.declare_block(path)?;
        let mut k = 0;
        while k < stmts.len() {
            k += match self.store_word(&stmts[k..])? {
                Some(statements) => statements,
                None => {
                    self.stmt(&stmts[k], k, path)?;
                    1
                }
            };
        }
        Ok(())
    }

    fn stmt(&mut self, s: &Stmt, at: usize, path: &mut BlockPath) -> Res<()> {
        match s {
            Stmt::Assign { dst, src, loc } => {
                self.loc = *loc;
                let whole = |p: &Place, id: LocalId| *p == Place::local(id);
                if self.one.is_some_and(|(var, ret)| whole(dst, ret) && matches!(&src.kind, ExprKind::Read(p) if whole(p, var))) {
                    return Ok(());
                }
                let (text, cty) = self.place(dst)?;
                if cty.is_aggregate() {
                    return self.assign_aggregate(dst, &text, &cty, src);
                }
                self.assign_scalar(&text, &cty, src)
            }
            Stmt::Call { dsts, func, lens, args, loc } => {
                self.loc = *loc;
                self.call(dsts, *func, lens, args)
            }
            Stmt::For { var, lo, hi, rev, body, loc, .. } => {
                self.loc = *loc;
                self.for_header(*var, lo, hi, *rev)?;
                path.push((at, 0));
                self.block(body, path)?;
                path.pop();
                self.close();
                Ok(())
            }
            Stmt::If { cond, then, els, loc } => {
                self.loc = *loc;
                self.branch(cond, then, els, at, path)
            }
            // `settle` leaves none.
            Stmt::Assert { .. } | Stmt::Ghost { .. } => Ok(()),
        }
    }

    pub fn assign_scalar(&mut self, text: &str, cty: &CTy, src: &Expr) -> Res<()> {
        match cty {
            CTy::Int(t) => {
                let value = if matches!(src.kind, ExprKind::Const(_)) {
                    self.emit_as(src, *t)?
                } else {
                    let v = self.emit(src)?;
                    if v.ty == *t {
                        strip_parens(&v.text)
                    } else {
                        format!("({}){}", t.name(), v.text)
                    }
                };
                self.line(&format!("{text} = {value};"));
                Ok(())
            }
            CTy::Vec(_) => {
                let value = self.vector(src)?;
                self.line(&format!("{text} = {value};"));
                Ok(())
            }
            CTy::Array(..) | CTy::Struct(_) => Err(self.unsupported("an aggregate where a scalar is expected")),
        }
    }

    fn for_header(&mut self, var: LocalId, lo: &Expr, hi: &Expr, rev: bool) -> Res<()> {
        let (i, cty) = (self.names[var.0 as usize].clone(), self.ctys[var.0 as usize].clone());
        let CTy::Int(t) = cty else { return Err(self.unsupported("a loop counter that is not an integer")) };
        // Bounds may leave the counter's own range (an empty loop); compare in a type that holds both.
        let wide = self.fit(&self.range_of(lo)?.join(&self.range_of(hi)?))?;
        let (from, to) = if rev { (hi, lo) } else { (lo, hi) };
        let (a, b) = (self.emit_as(from, t)?, self.emit_as(to, wide)?);
        let (a, b) = (plain(from, &a), plain(to, &b));
        // What the counter holds in a test lies between the bounds: the cast keeps it.
        let now = if t.signed == wide.signed { i.clone() } else { format!("({}){i}", wide.name()) };
        match (rev, t.signed || wide.signed) {
            (false, _) => self.open(&format!("for ({i} = {a}; {now} < {b}; {i}++) {{")),
            // The last test steps below the bound, which unsigned counters may.
            (true, false) => self.open(&format!("for ({i} = {a}; {i}-- > {b};) {{")),
            (true, true) => {
                self.open(&format!("for ({i} = {a}; {now} > {b};) {{"));
                self.line(&format!("{i}--;"));
            }
        }
        Ok(())
    }

    fn branch(&mut self, cond: &Expr, then: &[Stmt], els: &[Stmt], at: usize, path: &mut BlockPath) -> Res<()> {
        let c = self.emit_as(cond, U32)?;
        self.open(&format!("if ({}) {{", strip_parens(c.strip_prefix("(uint32_t)").unwrap_or(&c))));
        path.push((at, 0));
        self.block(then, path)?;
        path.pop();
        if !els.is_empty() {
            self.indent -= 1;
            self.open("} else {");
            path.push((at, 1));
            self.block(els, path)?;
            path.pop();
        }
        self.close();
        Ok(())
    }
}

/// Small constant bounds are printed bare.
fn plain(e: &Expr, text: &str) -> String {
    match &e.kind {
        ExprKind::Const(v) if !v.is_negative() && v.bits() < 31 => v.to_string(),
        _ => text.to_string(),
    }
}
