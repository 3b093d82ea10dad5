//! One execution of a function for all inputs at once: its state, the path's facts, and refusals.

use santoku_num::{Int, Itv};
use crate::lin::{Atoms, Lin};
use crate::place::Covers;
use crate::plan::address;
use crate::value::{Cond, Sc, Val};
use crate::{Claims, Plan, Refusal, Search, Split};
use santoku_ir::{Func, Loc, LocalId, Program, Stmt};
use std::cell::Cell;
use std::collections::HashMap;

/// A plan may not ask for more.
const MOST_STEPS: u64 = 100_000_000;
/// What looking for a proof counts as, beside the facts looked through.
const SEARCH: u64 = 100;

pub type Res<T> = Result<T, Refusal>;

/// The locals at one point; `dead`: no execution gets here.
#[derive(Clone, Debug)]
pub struct State {
    pub locals: Vec<Val>,
    /// Counts writes: a condition on an older value says nothing.
    pub versions: Vec<u64>,
    pub covers: Covers,
    pub dead: bool,
}

pub struct Run<'a> {
    pub p: &'a Program,
    pub f: &'a Func,
    pub claims: &'a [Option<Claims>],
    pub consts: &'a [Option<Val>],
    pub plan: &'a Plan,
    pub search: &'a dyn Search,
    /// Numbers of statements, by address, and the one at hand.
    pub numbers: &'a HashMap<usize, usize>,
    pub statement: Option<usize>,
    pub atoms: Atoms,
    /// Forms that are `>= 0` on this path.
    pub facts: Vec<Lin>,
    /// The activation whose locals are in scope, and how many there were.
    pub frame: (u64, u64),
    pub clock: u64,
    pub steps: Cell<u64>,
    /// Inside what was judged before: obligations hold there.
    pub trusted: u32,
    /// Inside a clause, whose text nobody judges: ranges written there say nothing.
    pub clauses: u32,
    /// Obligations that were asked.
    pub asked: Cell<u64>,
    /// Nested callees and selections.
    pub depth: u32,
    /// Whether only the value mod a power of two is used next, and whether it may be wide then.
    pub modular: bool,
    pub modular_allowed: bool,
    pub loc: Loc,
}

impl<'a> Run<'a> {
    pub fn refuse<T>(&self, what: impl Into<String>) -> Res<T> {
        Err(Refusal { func: self.f.name.clone(), loc: self.loc, statement: self.statement, what: what.into() })
    }
    /// An obligation. What was judged before keeps its own.
    pub fn must(&self, ok: bool, what: impl FnOnce() -> String) -> Res<()> {
        self.asked.set(self.asked.get() + u64::from(self.trusted == 0));
        if ok || self.trusted > 0 { Ok(()) } else { self.refuse(what()) }
    }
    pub fn known<T>(&self, v: Option<T>, what: &str) -> Res<T> {
        v.map_or_else(|| self.refuse(what), Ok)
    }
    /// Counts work, which the plan bounds.
    pub fn step(&self) -> Res<()> {
        self.charge(1);
        self.affords(0)
    }
    /// Refuses at once what takes so many steps more, where the plan does not have them.
    pub fn affords(&self, steps: i128) -> Res<()> {
        let all = i128::from(self.steps.get()).saturating_add(steps);
        if all > i128::from(self.plan.steps.min(MOST_STEPS)) { self.refuse("more steps than the plan has") } else { Ok(()) }
    }
    /// Work beyond a step, told with the next one.
    pub fn charge(&self, work: u64) {
        self.steps.set(self.steps.get().saturating_add(work));
    }

    /// The form of a written integer.
    pub fn form(&self, s: &Sc) -> Option<Lin> {
        if !self.plan.forms {
            return None;
        }
        let value = s.itv.as_ref().and_then(Itv::single).map(|v| Lin::constant(v.clone()));
        value.or_else(|| s.form.as_deref().cloned())
    }

    /// Whether `goal >= 0` on this path: by the bounds of its atoms, or by a proof that somebody found.
    pub fn shown(&self, goal: &Lin) -> bool {
        if !self.atoms.bound(goal).lo.is_negative() {
            return true;
        }
        self.charge(SEARCH + self.facts.len() as u64);
        let proof = self.search.proof(&self.atoms, goal, &self.facts);
        proof.is_some_and(|proof| self.atoms.shows(&proof, goal, &self.facts))
    }
    /// Whether a scalar lies between these bounds: by its interval or by its form.
    pub fn within(&self, s: &Sc, lo: Option<&Int>, hi: Option<&Int>) -> bool {
        let Some(itv) = &s.itv else { return false };
        let form = self.form(s);
        let low = lo.is_none_or(|lo| *lo <= itv.lo || form.as_ref().is_some_and(|f| self.shown(&f.shift(lo.neg()))));
        low && hi.is_none_or(|hi| itv.hi <= *hi || form.as_ref().is_some_and(|f| self.shown(&Lin::constant(hi.clone()).sub(f))))
    }

    /// Makes a condition hold, or not. Where that cannot be, nothing gets there.
    pub fn assume(&self, st: &mut State, cond: &Cond, truth: bool) -> Vec<Lin> {
        for v in cond.vars.iter().filter(|v| v.frame == self.frame.0) {
            if st.versions.get(v.local.0 as usize) != Some(&v.version) {
                continue;
            }
            let Some(leaf) = st.locals[v.local.0 as usize].at_mut(&v.path).filter(|s| s.def) else { continue };
            let known = if truth { &v.yes } else { &v.no };
            match leaf.itv.as_ref().zip(known.as_ref()).and_then(|(a, b)| a.common(b)) {
                Some(met) => leaf.itv = Some(met),
                None => st.dead = true,
            }
        }
        let forms = if truth { &cond.yes } else { &cond.no };
        let new = if self.plan.forms { forms.clone() } else { vec![] };
        st.dead |= new.iter().any(|f| self.atoms.bound(f).hi.is_negative());
        new
    }

    /// Whether a condition certainly holds, or certainly not.
    pub fn decided(&self, s: &Sc) -> Option<bool> {
        let itv = s.itv.as_ref().filter(|i| Itv::bool().contains(i))?;
        if let Some(v) = itv.single() {
            return Some(*v != Int::ZERO);
        }
        let cond = s.cond.as_ref().filter(|_| self.plan.forms)?;
        let all = |exact: bool, forms: &[Lin]| exact && !forms.is_empty() && forms.iter().all(|f| self.shown(f));
        if all(cond.exact.0, &cond.yes) {
            return Some(true);
        }
        all(cond.exact.1, &cond.no).then_some(false)
    }

    /// What holds in both states.
    pub fn join(&mut self, a: State, b: State) -> State {
        if a.dead {
            return b;
        }
        if b.dead {
            return a;
        }
        // Equal versions are equal histories; others get a new number.
        self.clock += 1;
        let clock = self.clock;
        let versions = a.versions.iter().zip(&b.versions).map(|(x, y)| if x == y { *x } else { clock }).collect();
        let both = |l: &LocalId, x: Vec<(Lin, Lin)>| Some((*l, b.covers.get(l).map(|y| x.into_iter().filter(|c| y.contains(c)).collect())?));
        let covers = a.covers.into_iter().filter_map(|(l, x)| both(&l, x)).collect();
        let changed = a.versions.iter().zip(&b.versions).zip(&a.locals).filter(|((x, y), _)| x != y);
        self.charge(changed.map(|(_, l)| l.elements()).sum());
        let locals = a.locals.iter().zip(&b.locals).map(|(x, y)| x.join(y)).collect();
        State { locals, versions, covers, dead: false }
    }

    /// What was judged before, done again: its obligations hold.
    pub fn trusting<T>(&mut self, body: impl FnOnce(&mut Self) -> Res<T>) -> Res<T> {
        self.trusted += 1;
        let out = body(self);
        self.trusted -= 1;
        out
    }

    pub fn touch(&mut self, st: &mut State, l: LocalId) {
        self.clock += 1;
        st.versions[l.0 as usize] = self.clock;
    }

    pub fn block(&mut self, st: &mut State, body: &'a [Stmt]) -> Res<()> {
        let mut rest = body;
        while let (Some(s), false) = (rest.first(), st.dead) {
            let nr = self.numbers.get(&address(s)).copied();
            let split = nr.and_then(|nr| self.plan.splits.get(&(self.f.name.clone(), nr)));
            let (group, after) = rest.split_at(split.map_or(1, |s| s.statements.clamp(1, rest.len())));
            match split {
                Some(split) => self.cases(st, split, group)?,
                None => self.single(st, s)?,
            }
            rest = after;
        }
        Ok(())
    }

    fn single(&mut self, st: &mut State, s: &'a Stmt) -> Res<()> {
        (self.loc, self.statement) = (s.loc(), self.numbers.get(&address(s)).copied());
        self.stmt(st, s)
    }

    /// The statements once for every part of the integers that the cuts make, as far as the stored integer can be there.
    fn cases(&mut self, st: &mut State, split: &Split, group: &'a [Stmt]) -> Res<()> {
        let leaf = st.locals.get(split.local.0 as usize).and_then(|v| v.at(&split.path)).filter(|s| s.def);
        let Some(itv) = leaf.and_then(|s| s.itv.clone()) else {
            self.single(st, &group[0])?;
            return self.block(st, &group[1..]);
        };
        let below = |c: &Int| c.sub(&Int::Small(1));
        let from = std::iter::once(itv.lo.clone()).chain(split.cuts.iter().cloned());
        let to = split.cuts.iter().map(below).chain([itv.hi.clone()]);
        let mut end = State { dead: true, ..st.clone() };
        for part in from.zip(to).filter_map(|(a, b)| Itv::between(a, b)?.common(&itv)) {
            let (mut one, facts) = (st.clone(), self.facts.len());
            if let Some(leaf) = one.locals[split.local.0 as usize].at_mut(&split.path) {
                leaf.itv = Some(part);
            }
            if !one.dead {
                self.single(&mut one, &group[0])?;
                self.block(&mut one, &group[1..])?;
            }
            self.facts.truncate(facts);
            end = self.join(end, one);
        }
        *st = end;
        Ok(())
    }

    /// Runs with the locals of another function in scope.
    pub fn inside<T>(&mut self, f: &'a Func, locals: Vec<Val>, body: impl FnOnce(&mut Self, &mut State) -> Res<T>) -> Res<(T, State)> {
        let outer = (self.f, self.frame.0, self.loc, self.statement, self.modular);
        self.f = f;
        self.frame = (self.frame.1 + 1, self.frame.1 + 1);
        let mut st = State { versions: vec![0; locals.len()], locals, covers: Covers::new(), dead: false };
        self.modular = false;
        let out = body(self, &mut st);
        (self.f, self.frame.0, self.loc, self.statement, self.modular) = outer;
        Ok((out?, st))
    }
}
