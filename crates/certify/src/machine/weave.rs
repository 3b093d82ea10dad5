//! Several ways through a loop, followed side by side.
//!
//! Compilers lead the ways of a branch back to the head of the loop without letting them meet before, and leave loops in the
//! middle. Followed one after the other, each way would run through all rounds that are left by itself. Here all ways take
//! turns: the one furthest behind goes first, counted by steps back to a head of a loop and then by position, and ways that
//! come to the same point after the same number of such steps are joined there.
//!
//! Needs: the flow of the code.  Keeps: a joined state is each of its parts wherever that part's path is taken.  Absent: loops
//! whose rounds differ from way to way; their ways join at the end.

use crate::term::{T, Terms};
use super::state::{End, Exec, Region, State};
use super::stop::{Halt, Why};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Ways followed at a time.
const WAYS_MAX: usize = 64;

/// Steps back to a head of a loop, position in the code, address, and a number for those that are not joined.
type Place = (u32, usize, u64, usize);

/// Ways to follow.
#[derive(Default)]
struct Ways {
    open: BTreeMap<Place, State>,
    count: usize,
}

impl Exec<'_> {
    /// The loop to weave at the branch at `pc`, if its ways lead back to the loop's head before they meet.
    pub(super) fn region_of(&self, pc: u64, state: &State, stop: Option<u64>) -> Option<Region> {
        let flow = self.code.flow_of(pc)?;
        if !flow.turns_back(pc) {
            return None;
        }
        let body: Rc<BTreeSet<u64>> = flow.around(pc, stop)?;
        let mut end = flow.meet(pc);
        while let Some(at) = end.filter(|at| body.contains(at)) {
            end = flow.meet(at);
        }
        let end = end.or_else(|| state.frames.last().copied());
        let counters = Rc::new(self.counters(&body));
        Some(Region { flow, frames: state.frames.len(), end, counters })
    }

    /// Registers that these instructions change by adding constants, and in no other way.
    fn counters(&self, body: &BTreeSet<u64>) -> Vec<u8> {
        let (mut added, mut other) = (BTreeSet::new(), BTreeSet::from([0]));
        for inst in body.iter().filter_map(|pc| self.code.decode(*pc)) {
            let step = matches!(inst.row.name, "addi" | "addiw") && inst.rd == inst.rs1;
            if step { added.insert(inst.rd) } else { other.insert(inst.rd) };
        }
        added.difference(&other).copied().collect()
    }

    /// Whether the step from one instruction to the next leads back to the head of a loop in the region being woven.
    pub(super) fn is_back(&self, from: Option<u64>, to: u64, state: &State) -> bool {
        let Some((region, from)) = self.region.as_ref().zip(from) else { return false };
        region.frames == state.frames.len() && region.flow.is_in_loop(from, to)
    }

    /// Whether the weaver is to follow the ways of the branch at `pc`.
    pub(super) fn splits(&self, pc: u64, state: &State) -> bool {
        self.region.as_ref().is_some_and(|r| r.frames == state.frames.len() && r.flow.turns_back(pc))
    }

    /// Follows both ways of a branch and all they lead to, up to the region's end.
    pub(super) fn weave(&mut self, region: Region, c: T, ways: (u64, u64), state: State) -> Result<(State, End), Halt> {
        let (path, base, known) = (state.path, state.conditions.len(), self.known());
        let outer = self.region.replace(region.clone());
        self.forks += 1;
        let woven = self.follow(&region, c, ways, state, base);
        self.forks -= 1;
        self.region = outer;
        self.forget(known);
        let (mut joined, end) = woven?;
        joined.path = path;
        joined.conditions.truncate(base);
        Ok((joined, end))
    }

    fn follow(&mut self, region: &Region, c: T, ways: (u64, u64), state: State, base: usize) -> Result<(State, End), Halt> {
        let known = self.known();
        let mut open = Ways::default();
        let mut ended: Vec<(State, End)> = vec![];
        self.divide(region, &mut open, 0, c, ways, state)?;
        while let Some(((steps, _, pc, _), state)) = open.open.pop_first() {
            if open.open.len() > WAYS_MAX {
                return Err(Halt { pc, why: Why::TooBig });
            }
            for c in state.conditions[base..].to_vec() {
                self.assume(c);
            }
            let ran = self.run_to(pc, state, region.end);
            self.forget(known);
            let (state, end) = ran?;
            match end {
                End::Back(head) => self.arrive(region, &mut open, (steps + 1, head), state)?,
                End::Split(c, yes, no) => self.divide(region, &mut open, steps, c, (yes, no), state)?,
                End::Stop | End::Return | End::Left => ended.push((state, end)),
            }
        }
        // What ended last was split off last.
        let Some((mut joined, end)) = ended.pop() else {
            return Err(Halt { pc: ways.0, why: Why::Unsupported("no way leads out of a loop".into()) });
        };
        while let Some((state, other)) = ended.pop() {
            if other != end {
                return Err(Halt { pc: ways.0, why: Why::Unsupported("the ways of a branch do not meet".into()) });
            }
            joined = self.merge(state, joined, region.end)?;
        }
        Ok((joined, end))
    }

    /// The two ways of a branch.
    fn divide(&mut self, region: &Region, open: &mut Ways, steps: u32, c: T, (yes, no): (u64, u64), state: State) -> Result<(), Halt> {
        self.forked(yes)?;
        let not = self.terms.not_bit(c);
        for (bit, to) in [(c, yes), (not, no)] {
            let path = self.terms.and(state.path, bit, 1);
            if path == Terms::ZERO {
                continue;
            }
            let mut way = State { path, ..state.clone() };
            way.conditions.push(bit);
            self.arrive(region, open, (steps, to), way)?;
        }
        Ok(())
    }

    fn arrive(&mut self, region: &Region, open: &mut Ways, (steps, pc): (u32, u64), state: State) -> Result<(), Halt> {
        let alike = |(place, there): &(&Place, &State)| {
            let counters = region.counters.iter().all(|r| there.regs[*r as usize] == state.regs[*r as usize]);
            place.2 == pc && counters && (place.0 == steps || !region.counters.is_empty())
        };
        let found = open.open.iter().find(alike).map(|(place, _)| *place);
        let (steps, state) = match found.and_then(|place| Some((place, open.open.remove(&place)?))) {
            Some((place, there)) => (steps.max(place.0), self.merge(there, state, Some(pc))?),
            None => (steps, state),
        };
        open.count += 1;
        open.open.insert((steps, region.flow.order(pc), pc, open.count), state);
        Ok(())
    }

    /// The conditions of `a` that hold in `b` too.
    fn holding(&mut self, a: &State, b: &State) -> Vec<T> {
        let known = self.known();
        for c in &b.conditions {
            self.assume(*c);
        }
        let mut found = vec![];
        for c in &a.conditions {
            let not = self.terms.not_bit(*c);
            if b.conditions.contains(c) || self.with_facts && self.excluded(b.path, not) {
                found.push(*c);
            }
        }
        self.forget(known);
        found
    }

    /// Whether one of two paths that exclude each other is taken: `c` where it is the first. A bit also where bounds do not show
    /// that the sum is one.
    fn either_path(&mut self, c: Option<T>, a: T, b: T) -> T {
        let sum = self.terms.add(a, b);
        match c {
            _ if self.terms.is_bit(sum) => sum,
            Some(c) => self.terms.ite(c, a, b),
            None => self.terms.or(a, b, 1),
        }
    }

    /// One state at `pc` for two paths that exclude each other.
    fn merge(&mut self, a: State, b: State, pc: Option<u64>) -> Result<State, Halt> {
        if a.frames != b.frames {
            return Err(Halt { pc: pc.unwrap_or(0), why: Why::Unsupported("the ways of a branch do not meet".into()) });
        }
        let mut conditions = self.holding(&a, &b);
        for c in self.holding(&b, &a) {
            if !conditions.contains(&c) {
                conditions.push(c);
            }
        }
        let opposite = a.conditions.iter().copied().find(|c| b.conditions.contains(&self.terms.not_bit(*c)));
        let path = self.either_path(opposite, a.path, b.path);
        let mut joined = match opposite {
            Some(c) => self.join(c, a, &b, pc),
            None if self.terms.weight(a.path) <= self.terms.weight(b.path) => self.join(a.path, a, &b, pc),
            None => self.join(b.path, b, &a, pc),
        };
        joined.path = path;
        joined.conditions = conditions;
        Ok(joined)
    }
}
