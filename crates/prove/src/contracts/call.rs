//! Calls: by contract where the callee has one, otherwise executed in place, otherwise an arbitrary result.

use crate::itv::Itv;
use crate::obligation::{clauses, ensures_text, requires_text, Engine, Kind, Obligation, Outcome};
use super::props::Prop;
use super::run::{Exec, Frame, Stop, INLINE_COST_MAX, UNFOLD_COST_MAX};
use super::spec::SpecEval;
use super::state::{self, Fresh, SVal};
use santoku_ir::{ContractKind, Func, FuncId, Len, LocalKind, Loc, Program, Ty};
use std::time::Instant;

impl<'p> Exec<'p> {
    /// The results of a call.
    pub fn call(&mut self, id: FuncId, lens: Vec<SVal>, args: Vec<SVal>, loc: Loc) -> Result<Vec<SVal>, Stop> {
        let f = self.prog.func(id);
        let mut vals: Vec<SVal> = f.locals.iter().map(|l| state::undefined(self.prog, &l.ty)).collect();
        for (l, v) in f.lens.iter().zip(lens).chain(f.params.iter().zip(args)) {
            vals[l.0 as usize] = v;
        }
        let cost = self.costs[id.0 as usize];
        let mut sure = self.fits(f, &vals);
        for (i, _) in clauses(f, ContractKind::Requires) {
            sure &= self.check_requires(id, i, &vals, loc);
        }
        // A result without declared range tells less through its contract than its body does.
        let open_ended = f.rets.iter().any(|r| has_unranged(self.prog, &f.local(*r).ty));
        let look = f.contracts.is_empty() || open_ended || (self.unfold && cost <= UNFOLD_COST_MAX);
        if look && cost <= INLINE_COST_MAX && cost <= self.fuel {
            return self.execute_inline(id, vals);
        }
        for r in &f.rets {
            let l = f.local(*r);
            let name = format!("{}({})", short(&f.name), l.name);
            vals[r.0 as usize] = state::fresh(self.prog, &mut self.atoms, &l.ty, &name, Fresh::Unknown);
        }
        if sure || !self.conditional {
            for (_, c) in clauses(f, ContractKind::Ensures) {
                // A clause outside of what is understood is a fact less.
                if let Ok(p) = SpecEval::new(self, f, &vals).prop(&c.cond) {
                    self.assume(&p);
                }
            }
        }
        Ok(f.rets.iter().map(|r| vals[r.0 as usize].clone()).collect())
    }

    fn execute_inline(&mut self, id: FuncId, vals: Vec<SVal>) -> Result<Vec<SVal>, Stop> {
        let func = self.prog.func(id);
        let outer = std::mem::replace(&mut self.frame, Frame { id, func, vals });
        self.inlined += 1;
        let done = self.block(&func.body);
        self.inlined -= 1;
        let inner = std::mem::replace(&mut self.frame, outer);
        done?;
        Ok(func.rets.iter().map(|r| inner.vals[r.0 as usize].clone()).collect())
    }

    /// Whether the arguments are surely inside the parameters' types. Where a call happens on every execution the
    /// range engine has shown it; elsewhere the facts about the result are only used if it holds anyway.
    fn fits(&self, f: &Func, vals: &[SVal]) -> bool {
        f.params.iter().all(|p| fits_type(self.prog, &f.local(*p).ty, &vals[p.0 as usize]))
    }

    /// Judges clause `nr` of a callee; true where it holds on every execution.
    fn check_requires(&mut self, callee: FuncId, nr: usize, vals: &[SVal], loc: Loc) -> bool {
        // What is executed in place settles its own calls; an unfolded run is after the function's own clauses alone.
        if self.inlined > 0 || self.unfold {
            return !self.conditional;
        }
        let f = self.prog.func(callee);
        let c = &f.contracts[nr];
        if self.carried.requires.contains(&(loc, callee, nr)) {
            self.obligations.push(requires(self.frame.id, f, nr, loc, carried(), 0));
            return !self.conditional;
        }
        let started = Instant::now();
        self.atoms.contradiction.set(false);
        let prop = SpecEval::new(self, f, vals).prop(&c.cond);
        let (always, outcome) = match prop {
            Err(stop) => (false, failed(stop.of_clause())),
            Ok(Prop::True) => (true, Outcome::Proved { engine: Engine::Algebra }),
            Ok(p) => {
                let one = crate::algebra::Poly::constant(1);
                match self.prove(&p, &one) {
                    Ok(()) => (true, Outcome::Proved { engine: Engine::Algebra }),
                    Err(open) => {
                        let guard = self.guard.clone();
                        let here = if guard == one { Err(open) } else { self.prove(&p, &guard) };
                        match here {
                            Ok(()) => (false, Outcome::Proved { engine: Engine::Algebra }),
                            Err(open) => (false, failed(self.explain(&open))),
                        }
                    }
                }
            }
        };
        self.contradicted.call((loc, callee, nr), self.atoms.contradiction.get());
        self.obligations.push(requires(self.frame.id, f, nr, loc, outcome, started.elapsed().as_micros() as u64));
        always
    }

    /// Proves the clauses of the function itself, after its body has run on `entry`.
    pub fn check_ensures(&mut self, entry: &[SVal]) {
        let f = self.frame.func;
        let mut vals = entry.to_vec();
        for (i, l) in f.locals.iter().enumerate() {
            if l.kind == LocalKind::Ret {
                vals[i] = self.frame.vals[i].clone();
            }
        }
        self.atoms.contradiction.set(false);
        for (i, c) in clauses(f, ContractKind::Ensures) {
            let started = Instant::now();
            let outcome = match SpecEval::new(self, f, &vals).prop(&c.cond) {
                _ if self.carried.ensures.contains(&i) => carried(),
                Err(stop) => failed(stop.of_clause()),
                Ok(p) => match self.prove(&p, &crate::algebra::Poly::constant(1)) {
                    Ok(()) => Outcome::Proved { engine: Engine::Algebra },
                    Err(open) => failed(self.explain(&open)),
                },
            };
            self.obligations.push(ensures(self.frame.id, f, i, outcome, started.elapsed().as_micros() as u64));
        }
        self.contradicted.end = self.atoms.contradiction.get();
    }

    /// Learns the function's own `requires`.
    pub fn assume_requires(&mut self, entry: &[SVal]) {
        let f = self.frame.func;
        for (_, c) in clauses(f, ContractKind::Requires) {
            if let Ok(p) = SpecEval::new(self, f, entry).prop(&c.cond) {
                self.assume(&p);
            }
        }
    }
}

/// An obligation for one clause of a callee at a call.
pub fn requires(func: FuncId, callee: &Func, nr: usize, loc: Loc, outcome: Outcome, micros: u64) -> Obligation {
    let c = &callee.contracts[nr];
    Obligation { func, kind: Kind::Requires, loc, nr: nr as u32, text: requires_text(callee, c), outcome, micros }
}

/// An obligation for one clause of the function itself.
pub fn ensures(func: FuncId, f: &Func, nr: usize, outcome: Outcome, micros: u64) -> Obligation {
    let c = &f.contracts[nr];
    Obligation { func, kind: Kind::Ensures, loc: c.loc, nr: nr as u32, text: ensures_text(c), outcome, micros }
}

pub fn carried() -> Outcome {
    Outcome::Proved { engine: Engine::Carried }
}

pub fn failed(reason: String) -> Outcome {
    Outcome::Failed { reason, witness: None, origin: None }
}

fn has_unranged(p: &Program, ty: &Ty) -> bool {
    match ty {
        Ty::Int(r) => r.is_none(),
        Ty::Word(_) | Ty::Bool => false,
        Ty::Array { elem, ranges, .. } => ranges.is_none() && has_unranged(p, elem),
        Ty::Struct(s) => p.structs[s.0 as usize].fields.iter().any(|(_, t)| has_unranged(p, t)),
    }
}

fn short(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn fits_type(p: &Program, ty: &Ty, v: &SVal) -> bool {
    match (ty, v) {
        (Ty::Word(_) | Ty::Bool | Ty::Int(None), _) => true,
        (Ty::Int(Some(r)), SVal::Num(n)) => {
            let want = Itv::from(r);
            want.contains(&n.iv) || n.iv == want
        }
        (Ty::Array { elem, len: Len::Const(_), ranges }, SVal::Agg(es)) => es.iter().enumerate().all(|(i, e)| {
            match ranges.as_ref().and_then(|r| r.get(i)) {
                Some(r) => fits_type(p, &Ty::Int(Some(r.clone())), e),
                None => fits_type(p, elem, e),
            }
        }),
        (Ty::Struct(s), SVal::Agg(es)) => {
            p.structs[s.0 as usize].fields.iter().zip(es.iter()).all(|((_, t), e)| fits_type(p, t, e))
        }
        (Ty::Array { elem, .. }, SVal::Opaque(_)) => matches!(**elem, Ty::Word(_) | Ty::Bool),
        (Ty::Int(Some(_)) | Ty::Array { .. } | Ty::Struct(_), _) => false,
    }
}
