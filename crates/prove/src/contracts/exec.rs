//! Symbolic execution of one function: statements.
//!
//! Loops of constant trip count are unrolled while the budget lasts. Any other loop is run once on arbitrary values of
//! everything it assigns, and so are both sides of a public condition that is not constant: what is proved about such
//! a run holds for every real one, and facts learned in it are not carried out unless they hold unconditionally.

use crate::algebra::num::Num;
use crate::algebra::Poly;
use crate::itv::Itv;
use super::run::{Exec, Step, Stop};
use super::state::{self, Fresh, SVal};
use num_bigint::BigInt;
use num_traits::{One, ToPrimitive};
use santoku_ir::typing::Scope;
use santoku_ir::{Expr, Loc, LocalId, Place, Proj, Stmt, Ty};
use santoku_num::Bound;
use std::collections::BTreeSet;
use std::rc::Rc;

impl<'p> Exec<'p> {
    pub fn block(&mut self, body: &'p [Stmt]) -> Result<(), Stop> {
        body.iter().try_for_each(|s| self.stmt(s))
    }

    fn stmt(&mut self, s: &'p Stmt) -> Result<(), Stop> {
        self.fuel = self.fuel.saturating_sub(1);
        match s {
            Stmt::Assign { dst, src, loc } => {
                self.at(*loc);
                let v = self.eval(src)?;
                self.write(dst, v)
            }
            Stmt::Call { dsts, func, lens, args, loc } => {
                self.at(*loc);
                let lens = lens.iter().map(|e| self.eval(e)).collect::<Result<Vec<_>, _>>()?;
                let args = args.iter().map(|e| self.eval(e)).collect::<Result<Vec<_>, _>>()?;
                let rets = self.call(*func, lens, args, *loc)?;
                dsts.iter().zip(rets).try_for_each(|(d, v)| self.write(d, v))
            }
            Stmt::For { var, lo, hi, rev, body, loc, .. } => {
                self.at(*loc);
                let lo = self.scalar(lo)?;
                let hi = self.scalar(hi)?;
                self.for_loop(*var, &lo, &hi, *rev, body)
            }
            Stmt::If { cond, then, els, loc } => {
                self.at(*loc);
                let c = self.scalar(cond)?;
                self.branch(&c.p, then, els)
            }
            // Asserts are obligations of the safety engines and of no use here unless cheap to believe.
            Stmt::Assert { .. } | Stmt::Ghost { .. } => Ok(()),
        }
    }

    fn at(&mut self, loc: Loc) {
        if self.inlined == 0 {
            self.locs.push(loc);
            self.atoms.origin = self.locs.len() as u32 - 1;
        }
    }

    fn for_loop(&mut self, var: LocalId, lo: &Num, hi: &Num, rev: bool, body: &'p [Stmt]) -> Result<(), Stop> {
        if let (Some(a), Some(b)) = (lo.p.as_const(), hi.p.as_const()) {
            // More than a counter holds is more than the fuel.
            let trips = if b <= a { 0 } else { (&b - &a).to_u64().unwrap_or(u64::MAX) };
            let cost = super::cost::block(self.costs, body).max(1).saturating_mul(trips);
            if cost <= self.fuel {
                for i in 0..trips {
                    let at = if rev { &b - 1 - BigInt::from(i) } else { &a + BigInt::from(i) };
                    self.frame.vals[var.0 as usize] = SVal::num(Num::constant(at));
                    self.block(body)?;
                }
                return Ok(());
            }
        }
        self.arbitrary_iteration(var, lo, hi, body)
    }

    /// One run of the body on arbitrary values of whatever it assigns; afterwards these are arbitrary again.
    fn arbitrary_iteration(&mut self, var: LocalId, lo: &Num, hi: &Num, body: &'p [Stmt]) -> Result<(), Stop> {
        let touched = assigned(body);
        let iv = Itv { lo: lo.iv.lo.clone(), hi: hi.iv.hi.sub(&Bound::ONE) };
        if !iv.is_empty() {
            let outer = std::mem::replace(&mut self.conditional, true);
            self.forget(&touched);
            let name = self.frame.func.local(var).name.clone();
            let p = self.atoms.opaque(&name, iv.clone());
            self.frame.vals[var.0 as usize] = SVal::num(Num { p, iv });
            self.block(body)?;
            self.conditional = outer;
        }
        self.forget(&touched);
        Ok(())
    }

    fn forget(&mut self, touched: &BTreeSet<LocalId>) {
        for id in touched {
            let l = self.frame.func.local(*id);
            self.frame.vals[id.0 as usize] = state::fresh(self.prog, &mut self.atoms, &l.ty, &l.name, Fresh::Unknown);
        }
    }

    fn branch(&mut self, c: &Poly, then: &'p [Stmt], els: &'p [Stmt]) -> Result<(), Stop> {
        if let Some(v) = c.as_const() {
            return self.block(if v.is_one() { then } else { els });
        }
        let before = self.frame.vals.clone();
        let guard = self.guard.clone();
        let outer = std::mem::replace(&mut self.conditional, true);
        self.guard = guard.mul(c);
        self.block(then)?;
        let yes = std::mem::replace(&mut self.frame.vals, before);
        self.guard = guard.mul(&Poly::constant(1).sub(c));
        self.block(els)?;
        self.guard = guard;
        self.conditional = outer;
        let no = std::mem::take(&mut self.frame.vals);
        self.frame.vals = yes.iter().zip(&no).map(|(a, b)| state::select(c, a, b)).collect();
        Ok(())
    }

    /// Stores `v`; a scalar that goes into a place of declared range takes over that range, which is an obligation of
    /// the range engine.
    pub fn write(&mut self, dst: &Place, v: SVal) -> Result<(), Stop> {
        let santoku_ir::Base::Local(id) = dst.base else { return Err(Stop::Internal("a constant is assigned".into())) };
        let v = match v {
            SVal::Num(n) if !self.conditional => SVal::num(self.declared(dst, &n)),
            other => other,
        };
        let path = self.path(&dst.projs)?;
        if self.inlined == 0 {
            let element = path.iter().find_map(|s| if let Step::At(i) = s { Some(*i) } else { None });
            self.places.insert(self.atoms.origin, (id, element));
        }
        let slot = &mut self.frame.vals[id.0 as usize];
        match store(slot, &path, v.clone()) {
            Stored::Done => Ok(()),
            Stored::Unknown(at) => {
                // An unknown element of a known array: every element may have changed.
                let ty = Scope::of(self.prog, self.frame.func)
                    .place_ty(&Place { base: dst.base, projs: dst.projs[..at].to_vec() })
                    .ok_or_else(|| Stop::Internal("untyped place".into()))?;
                let name = self.frame.func.local(id).name.clone();
                let any = state::fresh(self.prog, &mut self.atoms, &ty, &name, Fresh::Unknown);
                let slot = &mut self.frame.vals[id.0 as usize];
                store(slot, &path[..at], any);
                Ok(())
            }
        }
    }

    fn declared(&self, dst: &Place, n: &Num) -> Num {
        match Scope::of(self.prog, self.frame.func).place_ty(dst) {
            Some(Ty::Int(Some(r))) => Num { p: n.p.clone(), iv: n.iv.meet(&Itv::from(&r)) },
            _ => n.clone(),
        }
    }

    /// Projections with their indices evaluated.
    pub fn path(&mut self, projs: &[Proj]) -> Result<Vec<Step>, Stop> {
        projs
            .iter()
            .map(|p| {
                Ok(match p {
                    Proj::Field(i) => Step::At(*i as usize),
                    Proj::Index(e) => self.index(e)?.map_or(Step::Any, Step::At),
                    Proj::Slice { off, len } => {
                        let n = *len as usize;
                        self.index(off)?.map_or(Step::AnySlice(n), |o| Step::Slice(o, n))
                    }
                })
            })
            .collect()
    }

    fn index(&mut self, e: &Expr) -> Result<Option<usize>, Stop> {
        Ok(self.scalar(e)?.p.as_const().and_then(|v| v.to_usize()))
    }
}

enum Stored {
    Done,
    /// The projection at this position is not a constant (or out of range, which another engine refuses).
    Unknown(usize),
}

fn store(slot: &mut SVal, path: &[Step], v: SVal) -> Stored {
    store_at(slot, path, v, 0)
}

fn store_at(slot: &mut SVal, path: &[Step], v: SVal, depth: usize) -> Stored {
    let Some(step) = path.get(depth) else {
        *slot = v;
        return Stored::Done;
    };
    let SVal::Agg(elems) = slot else { return Stored::Done };
    match *step {
        Step::At(i) => match Rc::make_mut(elems).get_mut(i) {
            Some(e) => store_at(e, path, v, depth + 1),
            None => Stored::Unknown(depth),
        },
        Step::Slice(off, n) if off + n <= elems.len() => {
            let elems = Rc::make_mut(elems);
            let mut part = SVal::agg(elems[off..off + n].to_vec());
            let done = store_at(&mut part, path, v, depth + 1);
            if let SVal::Agg(p) = part {
                if p.len() == n {
                    elems[off..off + n].clone_from_slice(&p);
                }
            }
            done
        }
        Step::Slice(..) | Step::Any | Step::AnySlice(_) => Stored::Unknown(depth),
    }
}

/// Locals that a block may assign.
pub fn assigned(body: &[Stmt]) -> BTreeSet<LocalId> {
    let mut out = BTreeSet::new();
    santoku_ir::visit::walk_stmts(body, &mut |s| {
        let mut add = |p: &Place| {
            if let santoku_ir::Base::Local(id) = p.base {
                out.insert(id);
            }
        };
        match s {
            Stmt::Assign { dst, .. } => add(dst),
            Stmt::Call { dsts, .. } => dsts.iter().for_each(add),
            Stmt::For { var, .. } => {
                out.insert(*var);
            }
            Stmt::If { .. } | Stmt::Assert { .. } | Stmt::Ghost { .. } => {}
        }
    });
    out
}
