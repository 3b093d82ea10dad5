//! Loops whose rounds are not counted here, in two programs.
//!
//! Of the first program one round is run from arbitrary values of what the loop changes, and remembered. The loop of the second has to have
//! the same bounds; a scalar that it changes is taken for one of the first that is the same before the loop, and both have to be the same
//! after a round that begins with what they share. Then they are the same after any number of rounds. What is taken for what is a guess by
//! names: a wrong one is given up.
//!
//! Needs: an execution beside another.  Keeps: scalars of the second program have values of the first only where this induction holds.
//! Absent: loops that one program has and the other has not.
//! Trusted: nothing: a second opinion on the passes; the term graph, which is believed, has to agree.

use crate::atoms::Num;
use crate::found::{known, stop, Res};
use crate::state::{Carried, Loop, Run};
use crate::value::{flat, Val};
use santoku_ir::{visit, LocalId, Stmt, Ty};
use santoku_num::Itv;

impl<'a> Run<'a> {
    pub(crate) fn rounds_beside(&mut self, var: LocalId, (lo, hi): (&Num, &Num), rev: bool, body: &'a [Stmt]) -> Res<()> {
        let mut changed: Vec<LocalId> = visit::written_locals(body).into_iter().filter(|l| *l != var).collect();
        // Of an array that is written part by part what was written before is carried; a scalar that has no value yet has none at the head
        // of a round either.
        for l in &changed {
            let ty = &self.f.local(*l).ty;
            if self.locals[l.0 as usize].is_none() && matches!(ty, Ty::Array { .. } | Ty::Struct(_)) {
                self.locals[l.0 as usize] = Some(self.unwritten(ty));
            }
        }
        changed.retain(|l| self.locals[l.0 as usize].is_some());
        let mut before = vec![];
        for l in &changed {
            let mut own = vec![];
            known(self.locals[l.0 as usize].as_ref().and_then(|v| flat(v, &mut own)), "an array that is not followed")?;
            before.push(own);
        }
        let first = match self.outside.as_mut().and_then(|o| o.beside.as_mut()) {
            Some(b) if b.follows => {
                // What no result needs may have gone.
                let at = b.loops.iter().position(|l| l.lo == lo.p && l.hi == hi.p && l.rev == rev);
                let at = known(at, "a loop that the other program does not have")?;
                b.loops.drain(..at);
                b.loops.pop_front()
            }
            _ => None,
        };
        match first {
            None => self.first(var, (lo, hi), rev, body, &changed, &before),
            Some(l) => self.second(var, l, body, &changed, &before),
        }
    }

    /// Gives the changed locals these scalars.
    fn give(&mut self, changed: &[LocalId], mut scalar: impl FnMut(usize, usize) -> Num) {
        for (n, l) in changed.iter().enumerate() {
            let mut k = 0;
            if let Some(v) = self.locals[l.0 as usize].take() {
                let v = replaced(&v, &mut || {
                    k += 1;
                    scalar(n, k - 1)
                });
                self.locals[l.0 as usize] = Some(v);
            }
        }
    }

    /// One round; its scalars at the end, and the loops in it.
    fn round(&mut self, var: LocalId, counter: &Num, body: &'a [Stmt], (changed, before): (&[LocalId], &[Vec<Num>]), inner: Vec<Loop>) -> Res<(Vec<Vec<Num>>, Vec<Loop>)> {
        let outer_loops = self.outside.as_mut().and_then(|o| o.beside.as_mut()).map(|b| std::mem::replace(&mut b.loops, inner.into()));
        let locals = self.locals.clone();
        self.locals[var.0 as usize] = Some(Val::Num(counter.clone()));
        self.block(body)?;
        let end = std::mem::replace(&mut self.locals, locals);
        let inner = self.outside.as_mut().and_then(|o| o.beside.as_mut()).zip(outer_loops).map(|(b, outer)| std::mem::replace(&mut b.loops, outer));
        let mut next = vec![];
        for l in changed {
            let mut own = vec![];
            known(end[l.0 as usize].as_ref().and_then(|v| flat(v, &mut own)), "an array that is not followed")?;
            next.push(own);
        }
        if lengths(&next) != lengths(before) {
            return stop("an array that changes its length");
        }
        Ok((next, inner.unwrap_or_default().into()))
    }

    fn first(&mut self, var: LocalId, (lo, hi): (&Num, &Num), rev: bool, body: &'a [Stmt], changed: &[LocalId], before: &[Vec<Num>]) -> Res<()> {
        // No round may be run: then its counter says nothing.
        let last = hi.itv.as_ref().map(|i| i.hi.sub(&1u8.into()));
        let itv = lo.itv.as_ref().zip(last).and_then(|(lo, hi)| Itv::between(lo.lo.clone(), hi));
        let counter = self.atoms.fresh(itv);
        let [heads, behinds] = [(); 2].map(|()| self.unknown(changed));
        if lengths(&heads) != lengths(before) || lengths(&behinds) != lengths(before) {
            return stop("an array of another length than its type's");
        }
        self.give(changed, |n, k| heads[n][k].clone());
        let (next, inner) = self.round(var, &counter, body, (changed, before), vec![])?;
        let mut carried = vec![];
        for (n, l) in changed.iter().enumerate() {
            for k in 0..before[n].len() {
                let name = scalar_name(&self.f.local(*l).name, k, before[n].len());
                carried.push(Carried { name, before: before[n][k].p.clone(), head: heads[n][k].clone(), next: next[n][k].p.clone(), behind: behinds[n][k].clone() });
            }
        }
        self.give(changed, |n, k| behinds[n][k].clone());
        self.locals[var.0 as usize] = None;
        let done = Loop { lo: lo.p.clone(), hi: hi.p.clone(), rev, counter, carried, inner };
        if let Some(b) = self.outside.as_mut().and_then(|o| o.beside.as_mut()) {
            b.loops.push_back(done);
        }
        Ok(())
    }

    /// Arbitrary values of locals, by scalar.
    fn unknown(&mut self, locals: &[LocalId]) -> Vec<Vec<Num>> {
        locals.iter().map(|l| {
            let ty = self.f.local(*l).ty.clone();
            let mut own = vec![];
            let v = self.anything(&ty);
            flat(&v, &mut own).map(|()| own).unwrap_or_default()
        }).collect()
    }

    fn second(&mut self, var: LocalId, first: Loop, body: &'a [Stmt], changed: &[LocalId], before: &[Vec<Num>]) -> Res<()> {
        let [own, behinds] = [(); 2].map(|()| self.unknown(changed));
        if lengths(&own) != lengths(before) || lengths(&behinds) != lengths(before) {
            return stop("an array of another length than its type's");
        }
        self.spend(first.carried.len().saturating_mul(own.iter().map(Vec::len).sum()))?;
        let mut pairs = self.guess(&first, changed, before, &own);
        // What is learned of values while a wrong guess stands is not true.
        let atoms = self.atoms.clone();
        loop {
            self.give(changed, |n, k| pairs[n][k].map_or_else(|| own[n][k].clone(), |i| first.carried[i].head.clone()));
            let (next, _) = self.round(var, &first.counter, body, (changed, before), first.inner.clone())?;
            let mut broken = false;
            for (pair, next) in pairs.iter_mut().flatten().zip(next.iter().flatten()) {
                if pair.is_some_and(|i| next.p != first.carried[i].next) {
                    (*pair, broken) = (None, true);
                }
            }
            if !broken {
                break;
            }
            let looked = self.atoms.looked.get();
            self.atoms = atoms.clone();
            self.atoms.looked.set(looked);
        }
        // Behind the loop, what is no scalar of the first program is anything: not what it was at the head.
        self.give(changed, |n, k| pairs[n][k].map_or_else(|| behinds[n][k].clone(), |i| first.carried[i].behind.clone()));
        self.locals[var.0 as usize] = None;
        Ok(())
    }

    /// For each scalar that is changed one of the first program with the same value before the loop and the same bounds in it.
    fn guess(&self, first: &Loop, changed: &[LocalId], before: &[Vec<Num>], own: &[Vec<Num>]) -> Vec<Vec<Option<usize>>> {
        let mut taken = vec![false; first.carried.len()];
        changed.iter().zip(before.iter().zip(own)).map(|(l, (before, own))| {
            let name = |k| scalar_name(&self.f.local(*l).name, k, before.len());
            before.iter().enumerate().map(|(k, b)| {
                let same = (0..first.carried.len()).filter(|i| first.carried[*i].before == b.p && first.carried[*i].head.itv == own[k].itv);
                let best = same.max_by_key(|i| (likeness(&first.carried[*i].name, &name(k)), !taken[*i], std::cmp::Reverse(*i)))?;
                taken[best] = true;
                Some(best)
            }).collect()
        }).collect()
    }
}

/// The same with other scalars.
fn replaced(v: &Val, scalar: &mut dyn FnMut() -> Num) -> Val {
    match v {
        Val::Num(_) => Val::Num(scalar()),
        Val::Agg(es) => Val::agg(es.iter().map(|e| replaced(e, scalar)).collect()),
        Val::Unknown | Val::Open(_) => Val::Unknown,
    }
}

fn lengths(vs: &[Vec<Num>]) -> Vec<usize> {
    vs.iter().map(Vec::len).collect()
}

/// What a scalar of a local would be called if it were a local of its own.
fn scalar_name(local: &str, k: usize, of: usize) -> String {
    match local.split_once('$') {
        _ if of == 1 => local.to_string(),
        Some((base, copy)) => format!("{base}.{k}${copy}"),
        None => format!("{local}.{k}"),
    }
}

fn likeness(a: &str, b: &str) -> u8 {
    let same_base = a.split('$').next() == b.split('$').next();
    u8::from(same_base) + u8::from(a == b)
}
