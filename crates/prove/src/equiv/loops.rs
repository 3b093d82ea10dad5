//! Loops: executed step by step, or kept as one term.
//!
//! Needs: [`super::exec`].  Keeps: two loops that carry the same state from the same values by the same step are one
//! term, whatever else they compute and however their locals are numbered.  Absent: induction. A loop whose trip count
//! is changed by a pass is only compared by executing it.

use super::dag::{Carried, Dag, Id, Node, Stop, LOOP_DEPTH_MAX};
use super::exec::{Exec, State, Write};
use super::value::{Step, Value};
use num_traits::{Signed, ToPrimitive};
use santoku_ir::{Func, Stmt};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Aggregates with more scalars than this are carried whole.
const CARRIED_LEAVES_MAX: u64 = 128;
/// Rounds in which the set of carried places may still grow.
const ROUNDS_MAX: usize = 12;

/// A place the loop body writes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Slot {
    local: usize,
    path: Vec<u32>,
    cut: bool,
}

/// The slots with their leaves at the start of an iteration and their terms at its end.
struct Iteration {
    leaves: Vec<Id>,
    nexts: Vec<Id>,
    log: Vec<Write>,
}

impl Exec<'_, '_> {
    pub(super) fn for_loop(&mut self, f: &Func, stmt: &Stmt, state: &mut State) -> Result<(), Stop> {
        let Stmt::For { var, lo, hi, rev, body, .. } = stmt else { return Ok(()) };
        let (lo, hi) = (self.term(f, lo, state)?, self.term(f, hi, state)?);
        let trips = self.dag.const_difference(hi, lo).map(|d| if d.is_negative() { 0.into() } else { d });
        let trips = trips.and_then(|t| t.to_u64());
        let counter = var.0 as usize;
        match trips {
            Some(n) if n <= self.trips_max.max(1) => {
                for k in 0..n {
                    let shift = self.dag.int(if *rev { n - 1 - k } else { k });
                    state[counter] = Value::Term(self.dag.add(lo, shift));
                    self.block(f, body, state)?;
                }
                self.forget(counter, state);
                Ok(())
            }
            _ => {
                self.kept_loop |= trips.is_some();
                self.kept_any = true;
                self.keep(f, counter, (lo, hi, *rev), body, state)
            }
        }
    }

    /// The counter has no meaning outside its loop.
    fn forget(&mut self, counter: usize, state: &mut State) {
        let sort = state[counter].sort(self.dag);
        state[counter] = Value::Term(self.dag.intern(Node::Undef, sort));
    }

    /// The loop as terms: one per written place.
    fn keep(
        &mut self,
        f: &Func,
        counter: usize,
        (lo, hi, rev): (Id, Id, bool),
        body: &[Stmt],
        state: &mut State,
    ) -> Result<(), Stop> {
        if self.depth >= LOOP_DEPTH_MAX {
            return Err(Stop::Unknown("loops nested too deep".to_string()));
        }
        let outer_log = std::mem::take(&mut self.log);
        let (slots, trial) = self.discover(f, counter, body, state)?;
        // A place that ends every iteration as it began is not carried at all.
        let changed: Vec<usize> = (0..slots.len()).filter(|&i| trial.leaves[i] != trial.nexts[i]).collect();
        let used = self.mentioned(&trial.nexts, &trial.leaves);
        let slots: Vec<Slot> = changed.iter().map(|&i| slots[i].clone()).collect();
        let reads: Vec<bool> = changed.iter().map(|&i| used.contains(&trial.leaves[i])).collect();
        let leaves = self.name_leaves(f, &slots, &reads, state);
        let last = self.iterate(f, counter, body, (&slots, leaves), state)?;

        let inits: Vec<Id> = slots.iter().map(|s| self.at(s, state)).collect();
        let counter_leaf = self.counter_leaf();
        let shape = Shape { lo, hi, rev, counter: counter_leaf, depth: self.depth };
        let reads = self.reads(&shape, &last);
        let outs: Vec<Id> = (0..slots.len()).map(|k| self.out(&shape, k, (&last, &reads), &inits)).collect();
        for (slot, out) in slots.iter().zip(outs) {
            let steps: Vec<Step> = slot.path.iter().map(|k| Step::Part(*k)).collect();
            state[slot.local].write(self.dag, &steps, Value::Term(out));
        }
        self.log = outer_log;
        self.log.extend(slots.into_iter().map(|s| Write { local: s.local, path: s.path, cut: s.cut }));
        self.forget(counter, state);
        Ok(())
    }

    fn counter_leaf(&mut self) -> Id {
        let key = self.dag.name("");
        let zero = self.dag.int(0);
        self.dag.intern(
            Node::LoopVar { depth: self.depth, key, tie: 0, init: zero },
            super::dag::Sort::Int,
        )
    }

    /// Runs the body until the set of written places is stable.
    fn discover(
        &mut self,
        f: &Func,
        counter: usize,
        body: &[Stmt],
        state: &State,
    ) -> Result<(Vec<Slot>, Iteration), Stop> {
        let mut slots: Vec<Slot> = Vec::new();
        let mut log: Vec<Write> = Vec::new();
        let mut seen: BTreeSet<Write> = BTreeSet::new();
        for _ in 0..ROUNDS_MAX {
            let leaves = self.trial_leaves(&slots, state);
            let round = self.iterate(f, counter, body, (&slots, leaves), state)?;
            for write in &round.log {
                if seen.insert(write.clone()) {
                    log.push(write.clone());
                }
            }
            let grown = self.slots_of(&log, state);
            if grown == slots {
                return Ok((slots, round));
            }
            slots = grown;
        }
        Err(Stop::Unknown("written places of a loop keep growing".to_string()))
    }

    /// One iteration from `state` with a leaf in every slot.
    fn iterate(
        &mut self,
        f: &Func,
        counter: usize,
        body: &[Stmt],
        (slots, leaves): (&[Slot], Vec<Id>),
        state: &State,
    ) -> Result<Iteration, Stop> {
        let mut trial = state.clone();
        trial[counter] = Value::Term(self.counter_leaf());
        for (slot, leaf) in slots.iter().zip(&leaves) {
            let steps: Vec<Step> = slot.path.iter().map(|k| Step::Part(*k)).collect();
            trial[slot.local].write(self.dag, &steps, Value::Term(*leaf));
        }
        let saved = std::mem::take(&mut self.log);
        self.depth += 1;
        let done = self.block(f, body, &mut trial);
        self.depth -= 1;
        done?;
        let log = std::mem::replace(&mut self.log, saved);
        let nexts = slots.iter().map(|s| self.at(s, &trial)).collect();
        Ok(Iteration { leaves, nexts, log })
    }

    fn at(&mut self, slot: &Slot, state: &State) -> Id {
        let mut value = state[slot.local].clone();
        for k in &slot.path {
            value = value.step(self.dag, Step::Part(*k));
        }
        value.term(self.dag)
    }

    fn trial_leaves(&mut self, slots: &[Slot], state: &State) -> Vec<Id> {
        let key = self.dag.name("?");
        let mut leaves = Vec::with_capacity(slots.len());
        for (tie, slot) in slots.iter().enumerate() {
            let init = self.at(slot, state);
            let sort = self.dag.sort(init);
            let node = Node::LoopVar { depth: self.depth, key, tie: tie as u32, init };
            leaves.push(self.dag.intern(node, sort));
        }
        leaves
    }

    /// Leaves that do not depend on the numbering of locals: named by initial value and by source name and path (or the
    /// order of first writes); those the body reads are numbered apart from the rest, so that a dropped temporary renames nothing.
    fn name_leaves(&mut self, f: &Func, slots: &[Slot], reads: &[bool], state: &State) -> Vec<Id> {
        let mut ties: BTreeMap<(u32, Id, bool), u32> = BTreeMap::new();
        let mut leaves = Vec::with_capacity(slots.len());
        for (slot, &read) in slots.iter().zip(reads) {
            let init = self.at(slot, state);
            let sort = self.dag.sort(init);
            let key = if self.by_name { label(f, slot) } else { "state".to_string() };
            let key = self.dag.name(&key);
            let tie = ties.entry((key, init, read)).or_insert(0);
            let number = 2 * *tie + u32::from(!read);
            *tie += 1;
            let node = Node::LoopVar { depth: self.depth, key, tie: number, init };
            leaves.push(self.dag.intern(node, sort));
        }
        leaves
    }

    /// The places a list of writes comes down to: scalars where the shape is fixed and small, else whole aggregates.
    fn slots_of(&mut self, log: &[Write], state: &State) -> Vec<Slot> {
        let mut whole: BTreeSet<(usize, Vec<u32>)> = BTreeSet::new();
        for w in log {
            let slot = Slot { local: w.local, path: w.path.clone(), cut: w.cut };
            let term = self.at(&slot, state);
            let sort = self.dag.sort(term);
            if w.cut || self.dag.leaves(sort).is_none_or(|n| n > CARRIED_LEAVES_MAX) {
                whole.insert((w.local, w.path.clone()));
            }
        }
        let mut slots = Vec::new();
        let mut seen = BTreeSet::new();
        for w in log {
            if let Some(top) = (0..=w.path.len()).find(|&n| whole.contains(&(w.local, w.path[..n].to_vec()))) {
                let path = w.path[..top].to_vec();
                if seen.insert((w.local, path.clone())) {
                    slots.push(Slot { local: w.local, path, cut: true });
                }
                continue;
            }
            self.split((w.local, w.path.clone()), &whole, state, (&mut seen, &mut slots));
        }
        slots
    }

    fn split(
        &mut self,
        (local, path): (usize, Vec<u32>),
        whole: &BTreeSet<(usize, Vec<u32>)>,
        state: &State,
        out: (&mut BTreeSet<(usize, Vec<u32>)>, &mut Vec<Slot>),
    ) {
        let (seen, slots) = out;
        let cut = whole.contains(&(local, path.clone()));
        let slot = Slot { local, path: path.clone(), cut };
        let term = self.at(&slot, state);
        let sort = self.dag.sort(term);
        match self.dag.parts(sort) {
            Some(parts) if !cut => {
                for k in 0..parts.len() as u32 {
                    let mut longer = path.clone();
                    longer.push(k);
                    self.split((local, longer), whole, state, (seen, slots));
                }
            }
            _ => {
                if seen.insert((local, path)) {
                    slots.push(slot);
                }
            }
        }
    }

    /// Which of `leaves` occur in `terms`.
    fn mentioned(&self, terms: &[Id], leaves: &[Id]) -> BTreeSet<Id> {
        let wanted: BTreeSet<Id> = leaves.iter().copied().collect();
        leaves_in(self.dag, terms, self.depth).intersection(&wanted).copied().collect()
    }

    /// For each slot: the slots its next value reads, and whether it reads the counter.
    fn reads(&self, shape: &Shape, it: &Iteration) -> Vec<(Vec<usize>, bool)> {
        let slot_of: BTreeMap<Id, usize> = it.leaves.iter().enumerate().map(|(i, &l)| (l, i)).collect();
        let one = |next: &Id| {
            let leaves = leaves_in(self.dag, &[*next], shape.depth);
            let slots = leaves.iter().filter_map(|l| slot_of.get(l).copied()).collect();
            (slots, leaves.contains(&shape.counter))
        };
        it.nexts.iter().map(one).collect()
    }

    /// The value of slot `k` after the loop, as a term of the state it depends on and nothing else.
    fn out(&mut self, shape: &Shape, k: usize, (it, reads): (&Iteration, &[(Vec<usize>, bool)]), inits: &[Id]) -> Id {
        let mut carried: BTreeSet<usize> = BTreeSet::new();
        let mut work = vec![k];
        let mut counted = false;
        while let Some(i) = work.pop() {
            counted |= reads[i].1;
            work.extend(reads[i].0.iter().copied().filter(|j| carried.insert(*j)));
        }
        let runs = self.dag.const_difference(shape.hi, shape.lo).is_some_and(|d| d.is_positive());
        if runs && carried.is_empty() && !counted {
            return it.nexts[k];
        }
        let mut list: Vec<Carried> = carried
            .iter()
            .map(|&i| Carried { leaf: it.leaves[i], init: inits[i], next: it.nexts[i] })
            .collect();
        list.sort_unstable();
        let Shape { lo, hi, rev, counter, depth } = *shape;
        let node = Node::Loop { depth, counter, lo, hi, rev, carried: list };
        let of = self.dag.intern(node, super::dag::Sort::Int);
        // What was there before matters only where the loop may run zero times.
        let sort = self.dag.sort(it.nexts[k]);
        let init = if runs { self.dag.intern(Node::Undef, sort) } else { inits[k] };
        self.dag.intern(Node::LoopOut { of, next: it.nexts[k], init }, sort)
    }
}

/// What a kept loop is besides its state.
#[derive(Clone, Copy)]
struct Shape {
    lo: Id,
    hi: Id,
    rev: bool,
    counter: Id,
    depth: u32,
}

/// Source name and path of a slot. Passes that split or copy a local keep its name before `$` and write
/// parts as `.k`, so that the same state is named the same before and after.
fn label(f: &Func, slot: &Slot) -> String {
    let name = f.locals.get(slot.local).map_or("assert", |l| l.name.as_str());
    let mut label = name.split('$').next().unwrap_or("").to_string();
    for k in &slot.path {
        label.push('.');
        label.push_str(&k.to_string());
    }
    label
}

/// Variables of the loop at `depth` that occur free in terms.
fn leaves_in(dag: &Dag, terms: &[Id], depth: u32) -> BTreeSet<Id> {
    let mut found = BTreeSet::new();
    let mut seen = HashSet::new();
    let mut work: Vec<Id> = terms.to_vec();
    while let Some(id) = work.pop() {
        if !dag.mentions(id, depth) || !seen.insert(id) {
            continue;
        }
        match dag.node(id) {
            Node::LoopVar { depth: d, .. } => {
                if *d == depth {
                    found.insert(id);
                }
            }
            _ => work.extend(dag.operands(id)),
        }
    }
    found
}
