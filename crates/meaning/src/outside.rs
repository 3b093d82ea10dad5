//! Executions that are compared with others: calls are functions of what is passed, and nothing is left open.
//!
//! Needs: an execution.  Keeps: a call has the results that it has wherever the same is passed; whatever stops the execution stops it.
//! Absent: contracts.
//! Trusted: bytes, leaks.

use crate::atoms::Atoms;
use crate::found::{known, stop, Res};
use crate::poly::Poly;
use crate::proof::{Known, Search, Tree, Zero};
use crate::state::{Call, Outside, Run, DEPTH};
use crate::value::{flat, Val};
use santoku_num::Int;
use santoku_ir::{FuncId, LocalId, Place, Program};
use std::collections::BTreeMap;

impl Run<'_> {
    pub(crate) fn call_outside(&mut self, dsts: &[Place], id: FuncId, mut frame: Vec<Option<Val>>) -> Res<()> {
        let g = self.p.func(id);
        if self.outside.as_ref().is_some_and(|o| o.cut.contains(&id)) {
            if !self.is_beside() && self.guard.as_const() != Some(Int::Small(1)) {
                return stop("a call under a condition");
            }
            let mut passed = vec![];
            for l in g.lens.iter().chain(&g.params) {
                known(frame[l.0 as usize].as_ref().and_then(|v| flat(v, &mut passed)), "an argument that is not followed")?;
            }
            let call = (id, passed.into_iter().map(|n| n.p).collect());
            let results = match self.outside.as_ref().and_then(|o| o.made.get(&call)) {
                Some(results) => results.clone(),
                None if self.outside.as_ref().and_then(|o| o.beside.as_ref()).is_some_and(|b| b.follows) => return stop("a call that the other program does not make"),
                None if self.is_beside() => {
                    // Lengths are those that are passed.
                    let outer = std::mem::replace(&mut self.locals, frame.clone());
                    let results = g.rets.iter().map(|r| self.anything(&g.local(*r).ty)).collect();
                    self.locals = outer;
                    results
                }
                None => g.rets.iter().map(|r| Val::any(self.p, &mut self.atoms, &g.local(*r).ty)).collect(),
            };
            g.rets.iter().zip(&results).for_each(|(r, v)| frame[r.0 as usize] = Some(v.clone()));
            self.outside.as_mut().map(|o| o.made.insert(call, results));
        } else {
            if self.depth >= DEPTH {
                return stop("calls in calls");
            }
            let outer = (std::mem::replace(&mut self.f, g), std::mem::replace(&mut self.locals, frame));
            self.depth += 1;
            let done = self.block(&g.body);
            self.depth -= 1;
            frame = std::mem::replace(&mut self.locals, outer.1);
            self.f = outer.0;
            done?;
        }
        for (d, r) in dsts.iter().zip(&g.rets) {
            let v = match frame[r.0 as usize].take() {
                None if self.is_beside() => return stop("a result that is not written as a whole"),
                v => known(v, "a result that was not written")?,
            };
            self.write(d, v)?;
        }
        Ok(())
    }
}

/// What a function gives for any arguments: these, its results, the calls it makes, and the atoms of all.
pub struct Executed {
    pub params: Vec<Val>,
    pub rets: Vec<Val>,
    pub calls: BTreeMap<Call, Vec<Val>>,
    pub atoms: Atoms,
}

pub(crate) struct NoSearch;

impl Search for NoSearch {
    fn zero(&self, _: &Known, _: &Poly, _: Option<&Int>) -> Option<Zero> {
        None
    }
    fn least(&self, _: &Known, _: &Poly, _: &Poly) -> Option<Tree> {
        None
    }
}

/// Executes a function on any arguments. Parameters in `united` get the value of the parameter beside them.
///
/// # Errors
/// What stopped the execution.
pub fn execute(p: &Program, id: FuncId, outside: Outside, limits: (u64, usize), merged: usize, united: &[(usize, usize)]) -> Res<Executed> {
    let mut run = Run::new(p, id, &NoSearch);
    let f = run.f;
    if !f.lens.is_empty() {
        return stop("an array of run-time length");
    }
    (run.limits, run.outside, run.atoms.merged) = (limits, Some(outside), merged);
    for (to, from) in united {
        run.locals[f.params[*to].0 as usize] = run.locals[f.params[*from].0 as usize].clone();
    }
    let of = |run: &Run, ids: &[LocalId]| known(ids.iter().map(|l| run.locals[l.0 as usize].clone()).collect::<Option<Vec<Val>>>(), "a value that was not written");
    let params = of(&run, &f.params)?;
    run.block(&f.body)?;
    let rets = of(&run, &f.rets)?;
    let calls = run.outside.take().map(|o| o.made).unwrap_or_default();
    Ok(Executed { params, rets, calls, atoms: run.atoms })
}
