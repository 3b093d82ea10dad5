//! The machine's side of a loop: one lap from a state related to the source's.
//!
//! Needs: the machine executor.  Keeps: a loop is replaced by its end only when the relation was shown to hold at the first
//! arrival, from lap to lap, and where the loop is left; what has no relation is unknown behind the loop.  Absent: loops in
//! loops of unknown count.

use crate::machine::code::SP;
use crate::machine::state::{End, Lap};
use crate::machine::{Exec, Halt, State, Why};
use crate::term::{T, Terms, Written};
use super::Cut;
use super::relation::{Index, Relation};
use super::source::When;
use num_bigint::BigInt;
use num_traits::One;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Tries until the relation holds from lap to lap.
const TRIES: usize = 10;
/// Instructions that may follow a loop that is not the source's.
const BESIDE_STEPS: u64 = 10_000;
/// Laps in one execution.
const LAPS_MAX: u32 = 64;

/// What one lap leads to.
struct Done {
    exits: Vec<(T, u64, State)>,
    /// `None`: it is left for certain, by the last exit.
    back: Option<State>,
}

/// A loop that is not shown to go with the source's: what it is like.
fn unlike(head: u64, what: impl Into<String>) -> Halt {
    Halt { pc: head, why: Why::Loop { machine: what.into(), source: String::new() } }
}

/// What stops a lap that starts from an invented state says something of the relation, unless it is a limit.
fn in_lap(head: u64, halt: Halt) -> Halt {
    match halt.why {
        Why::TooBig => halt,
        why => unlike(head, format!("a round that stops at {:#x}: {why}", halt.pc)),
    }
}

/// A register or a word of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seat {
    Register(usize),
    Word(usize, i64, u32),
    /// All of an array of run-time length that may be written.
    Array(usize),
}

impl Seat {
    fn bits(self, xlen: u32) -> u32 {
        match self {
            Seat::Register(_) | Seat::Array(_) => xlen,
            Seat::Word(_, _, bytes) => 8 * bytes,
        }
    }

    fn offset(self) -> Option<i64> {
        match self {
            Seat::Register(_) | Seat::Array(_) => None,
            Seat::Word(_, at, _) => Some(at),
        }
    }

    fn load(self, terms: &mut Terms, state: &State) -> Option<T> {
        match self {
            Seat::Register(r) => Some(state.regs[r]),
            Seat::Word(k, at, bytes) => state.objects[k].load(terms, at, bytes),
            Seat::Array(k) => state.objects[k].content()?.number(terms),
        }
    }
}

impl Exec<'_> {
    /// A condition that holds from here on.
    pub(crate) fn assume(&mut self, c: T) {
        self.assumed.push(c);
        if !self.with_facts {
            return;
        }
        let more = self.terms.facts(c, &self.facts);
        self.facts.extend(more);
        for cut in self.cuts.clone().iter().filter(|cut| !cut.constant && cut.each == 1) {
            let rounds = self.terms.sub(cut.hi, cut.lo);
            if c == cut.some {
                let more = self.terms.sub(rounds, Terms::ONE);
                self.facts.push(more);
            } else if c == self.terms.not_bit(cut.some) {
                let none = self.terms.neg(rounds);
                self.facts.push(none);
            }
        }
    }

    /// How much is assumed, for [`Exec::forget`].
    pub(crate) fn known(&self) -> (usize, usize) {
        (self.assumed.len(), self.facts.len())
    }

    pub(crate) fn forget(&mut self, (assumed, facts): (usize, usize)) {
        self.assumed.truncate(assumed);
        self.facts.truncate(facts);
    }

    /// `bad` is 0 wherever `path` is 1.
    pub(crate) fn excluded(&mut self, path: T, bad: T) -> bool {
        if self.terms.and(path, bad, 1) == Terms::ZERO {
            return true;
        }
        self.terms.never_under(bad, &self.facts)
    }

    fn loop_at(&self, pc: u64) -> Option<Rc<BTreeSet<u64>>> {
        self.code.flow_of(pc)?.loops.get(&pc).cloned()
    }

    /// Whether the lap being executed has come to a point outside its loop.
    pub(crate) fn left(&mut self, pc: u64, state: &State) -> Result<bool, Halt> {
        let Some(lap) = self.lap.as_mut().filter(|l| l.frames == state.frames.len() && !l.body.contains(&pc)) else {
            return Ok(false);
        };
        if lap.forks == self.forks {
            lap.exits.push((Terms::ONE, pc, state.clone()));
            return Ok(true);
        }
        Err(Halt { pc, why: Why::Unsupported("a loop is left inside a branch".into()) })
    }

    /// Takes a branch that leaves the loop of the lap: notes the way out and stays inside.
    pub(crate) fn exits(&mut self, c: T, (yes, no): (u64, u64), pc: &mut u64, state: &mut State) -> bool {
        let Some(lap) = self.lap.as_mut().filter(|l| l.frames == state.frames.len() && l.forks == self.forks) else {
            return false;
        };
        let not = self.terms.not_bit(c);
        let (out, stay, to, at) = match (lap.body.contains(&yes), lap.body.contains(&no)) {
            (true, false) => (not, c, no, yes),
            (false, true) => (c, not, yes, no),
            _ => return false,
        };
        lap.exits.push((out, to, state.clone()));
        state.path = self.terms.and(state.path, stay, 1);
        state.conditions.push(stay);
        *pc = at;
        self.assume(stay);
        true
    }

    /// One lap from the head to the head.
    fn lap(&mut self, head: u64, body: &Rc<BTreeSet<u64>>, state: State) -> Result<Done, Halt> {
        self.laps += 1;
        if self.laps > LAPS_MAX {
            return Err(Halt { pc: head, why: Why::TooBig });
        }
        let (forks, known, refused) = (self.forks, self.known(), self.refused);
        self.lap = Some(Lap { body: body.clone(), forks, frames: state.frames.len(), started: false, exits: vec![] });
        let ran = self.run_to(head, state, Some(head)).map(|(back, end)| (self.simpler(&back), end));
        self.forks = forks;
        // Calls in a lap from an invented state say nothing of the convention.
        self.refused = refused;
        self.forget(known);
        let exits = self.lap.take().map_or(vec![], |l| l.exits);
        let (back, end) = ran?;
        match end {
            End::Stop => Ok(Done { exits, back: Some(back) }),
            End::Left => Ok(Done { exits, back: None }),
            End::Return | End::Back(_) | End::Split(..) => {
                Err(Halt { pc: head, why: Why::Unsupported("the function ends in a loop".into()) })
            }
        }
    }

    /// At a head of a loop that the source has too: the state behind it and where that is.
    pub(crate) fn cut_loop(&mut self, head: u64, state: &State) -> Result<Option<(u64, State)>, Halt> {
        if self.cuts.is_empty() || self.lap.is_some() || self.plain.contains(&head) {
            return Ok(None);
        }
        let Some(body) = self.loop_at(head) else { return Ok(None) };
        let state = &self.simpler(state);
        let made = self.made.len();
        let first = self.lap(head, &body, state.clone());
        self.made.truncate(made);
        // With a known number of rounds no way out is open in the first.
        let mut constant = false;
        let first = match first {
            Ok(done) if done.back.is_some() && !done.exits.is_empty() => Some(done),
            Ok(done) if done.back.is_some() && self.cuts.iter().any(|c| c.constant) => {
                constant = true;
                Some(done)
            }
            Ok(_) => {
                self.plain.insert(head);
                return Ok(None);
            }
            // Nothing was invented so far.
            Err(halt) if matches!(halt.why, Why::TooBig | Why::Secret(..)) => return Err(halt),
            Err(_) => None,
        };
        let (mut machine, mut source) = (vec![], vec![]);
        for cut in self.cuts.clone().into_iter().filter(|c| c.constant || !constant) {
            match self.attempt(&cut, head, &body, state, first.as_ref()) {
                Err(Halt { why: Why::Loop { machine: why, .. }, .. }) => machine.push(why),
                other => return other.map(Some),
            }
            source.push(cut.show(self.terms));
            self.made.truncate(made);
        }
        if constant {
            // A short loop beside it, or the one that is meant in a form that is not understood: not worth much more.
            self.plain.insert(head);
            self.steps_max = self.steps_max.min(self.steps + BESIDE_STEPS);
            return Ok(None);
        }
        machine.dedup();
        Err(Halt { pc: head, why: Why::Loop { machine: machine.join("; "), source: source.join("; ") } })
    }

    /// A public term with what is known here used, in functions that have loops to match.
    pub(crate) fn simple(&mut self, t: T) -> T {
        if !self.has_loops || !self.terms.public(t) {
            return t;
        }
        self.terms.under(t, &self.facts)
    }

    /// The state with what is known of its path used.
    fn simpler(&mut self, state: &State) -> State {
        let mut new = state.clone();
        let known = self.terms.pinned(&state.regs, &self.assumed, &self.facts);
        for seat in all_seats(state) {
            match seat {
                Seat::Register(r) => new.regs[r] = self.terms.given(state.regs[r], &known),
                Seat::Array(k) => {
                    if let Some(number) = seat.load(self.terms, state) {
                        let given = self.terms.given(number, &known);
                        if given != number {
                            new.objects[k].set_content(Written::of(given));
                        }
                    }
                }
                Seat::Word(k, at, bytes) => {
                    let Some(t) = seat.load(self.terms, state) else { continue };
                    let given = self.terms.given(t, &known);
                    if given != t {
                        new.objects[k].store(self.terms, at, bytes, given);
                    }
                }
            }
        }
        new
    }

    /// A lap from what is known where there is one, for the guesses alone.
    fn first_lap(&mut self, cut: &Cut, head: u64, body: &Rc<BTreeSet<u64>>, state: &State) -> Option<Done> {
        let more = cut.facts(self.terms, cut.lo);
        let facts = self.facts.len();
        self.facts.extend(more);
        let done = self.lap(head, body, state.clone());
        self.facts.truncate(facts);
        done.ok().filter(|done| done.back.is_some())
    }

    fn attempt(
        &mut self,
        cut: &Cut,
        head: u64,
        body: &Rc<BTreeSet<u64>>,
        state: &State,
        first: Option<&Done>,
    ) -> Result<(u64, State), Halt> {
        let elsewhere = self.terms.not_bit(cut.path);
        if !self.never(state, elsewhere) {
            return Err(unlike(head, "inputs that do not come to the source's loop"));
        }
        if cut.zero.is_some_and(|zero| !self.excluded(state.path, zero)) {
            return Err(unlike(head, "laps that may be of other rounds"));
        }
        let made = self.made.len();
        let own = if first.is_none() { self.first_lap(cut, head, body, state) } else { None };
        let first = first.or(own.as_ref());
        self.made.truncate(made);
        let mut index = Index::before();
        let mut seats = vec![];
        for seat in seats_for(cut, state) {
            let bits = seat.bits(self.code.xlen());
            let Some(before) = seat.load(self.terms, state) else { continue };
            let later = first.and_then(|f| seat.load(self.terms, f.back.as_ref()?));
            let gone = first.is_some() && later.is_none();
            let guesses = match seat {
                _ if gone => vec![Relation::Nothing],
                Seat::Array(_) => index.array_guesses(cut, before, later),
                _ => index.guesses(self.terms, cut, (bits, seat.offset()), before, later),
            };
            seats.push((seat, guesses));
        }
        let next_at = self.terms.add(cut.at, Terms::ONE);
        for _ in 0..TRIES {
            self.made.truncate(made);
            let mut from = self.related(cut, &seats, state, (cut.at, When::Head));
            // Where a round takes place, there is one. Of pairs the path may say so already, in the form that the source's calls have.
            let none = self.terms.not_bit(cut.some);
            if cut.zero.is_none() || !self.excluded(state.path, none) {
                from.path = self.terms.and(state.path, cut.some, 1);
                from.conditions.push(cut.some);
            }
            let (facts, more) = (self.facts.len(), cut.facts(self.terms, cut.at));
            self.facts.extend(more);
            let done = self.lap(head, body, from);
            self.facts.truncate(facts);
            let done = done.map_err(|halt| in_lap(head, halt))?;
            let Some(back) = &done.back else { return Err(unlike(head, "no second round")) };
            if back.regs[SP] != state.regs[SP] || back.frames != state.frames {
                return Err(unlike(head, "a round that moves the stack pointer"));
            }
            let mut changed = false;
            for (seat, guesses) in &mut seats {
                let got = seat.load(self.terms, back);
                while guesses[0].holds(self.terms, cut, (next_at, When::Next), got) == Some(false) {
                    guesses.remove(0);
                    changed = true;
                }
            }
            if !changed {
                return self.leave(cut, (head, body), &seats, state, done);
            }
        }
        Err(unlike(head, "values that follow the source in no way tried"))
    }

    /// The state behind the loop, once the relation is known to hold in every lap.
    fn leave(
        &mut self,
        cut: &Cut,
        (head, body): (u64, &Rc<BTreeSet<u64>>),
        seats: &[(Seat, Vec<Relation>)],
        state: &State,
        done: Done,
    ) -> Result<(u64, State), Halt> {
        let gap = self.terms.sub(cut.hi, cut.at);
        let left = self.terms.sub(gap, Terms::ONE);
        match &done.exits[..] {
            [(out, to, exit)] if self.means(cut, *out, left) => {
                // The test follows the round: there is one.
                let (some, less) = (self.terms.lt(cut.lo, cut.hi), self.terms.sub(cut.lo, cut.hi));
                let none = self.terms.not_bit(some);
                let facts = [self.facts.clone(), cut.entered(self.terms)].concat();
                if !self.excluded(state.path, none) && !self.terms.negative_under(less, &facts) {
                    return Err(unlike(head, "a round where the source has none"));
                }
                if exit.frames != state.frames || exit.regs[SP] != state.regs[SP] {
                    return Err(unlike(head, "a way out inside a call"));
                }
                let kept = self.kept(cut, seats, exit);
                Ok((*to, self.related(cut, &kept, state, (cut.hi, When::End))))
            }
            [] => self.last_arrival(cut, (head, body), seats, state),
            [(out, _, _)] if self.means(cut, *out, gap) => self.last_arrival(cut, (head, body), seats, state),
            [(out, _, _)] => Err(unlike(head, format!("a way out when {}", self.terms.show(*out, 4)))),
            exits => Err(unlike(head, format!("{} ways out", exits.len()))),
        }
    }

    /// Whether a bit is 1 in just the laps in which none is left.
    fn means(&mut self, cut: &Cut, bit: T, left: T) -> bool {
        let bits = self.ended(left);
        if bits.contains(&bit) {
            return true;
        }
        let mut facts = [self.facts.clone(), cut.facts(self.terms, cut.at)].concat();
        let more = self.terms.facts(cut.some, &facts);
        facts.extend(more);
        bits.into_iter().any(|b| self.terms.same_test_under(bit, b, &facts)) || self.terms.tests_end(bit, left, &facts)
    }

    /// What is known of the seats where the loop is left after a round: the relation, and words of what the round made.
    fn kept(&mut self, cut: &Cut, seats: &[(Seat, Vec<Relation>)], exit: &State) -> Vec<(Seat, Vec<Relation>)> {
        let position = self.terms.add(cut.at, Terms::ONE);
        let mut index = Index::next();
        let mut kept = vec![];
        for seat in all_seats(exit) {
            let Some(t) = seat.load(self.terms, exit) else { continue };
            let known = seats.iter().find(|(s, _)| *s == seat).map(|(_, guesses)| guesses[0].clone());
            let known = known.filter(|r| r.holds(self.terms, cut, (position, When::Next), Some(t)) == Some(true));
            let found = known.or_else(|| match seat {
                Seat::Array(_) => index.find_array(cut, t),
                _ => index.find(self.terms, cut, seat.bits(self.code.xlen()), t),
            });
            kept.extend(found.map(|r| (seat, vec![r])));
        }
        kept
    }

    /// A test before the round: with no round left, the way from the head leads out.
    fn last_arrival(
        &mut self,
        cut: &Cut,
        (head, body): (u64, &Rc<BTreeSet<u64>>),
        seats: &[(Seat, Vec<Relation>)],
        state: &State,
    ) -> Result<(u64, State), Halt> {
        let wrong = self.terms.lt(cut.hi, cut.lo);
        if !self.excluded(state.path, wrong) {
            return Err(unlike(head, "a test that misses bounds the wrong way round"));
        }
        let from = self.related(cut, seats, state, (cut.hi, When::After));
        let mut done = self.lap(head, body, from).map_err(|halt| in_lap(head, halt))?;
        match (done.exits.pop(), done.exits.is_empty(), done.back) {
            (Some((_, to, exit)), true, None) => Ok((to, exit)),
            _ => Err(unlike(head, "no way out after the source's last round")),
        }
    }

    /// The conditions that mean "none is left".
    fn ended(&mut self, left: T) -> [T; 2] {
        let below = self.terms.sub(left, Terms::ONE);
        [self.terms.eq(left, Terms::ZERO), self.terms.lt0(below)]
    }

    /// The state at a position of the loop; what no seat names is unknown.
    fn related(&mut self, cut: &Cut, seats: &[(Seat, Vec<Relation>)], state: &State, (at, when): (T, When)) -> State {
        let mut new = state.clone();
        for r in (1..32).filter(|r| *r != SP) {
            new.regs[r] = self.unknown("register in a loop", self.code.xlen());
        }
        for object in &mut new.objects {
            object.forget_below(i64::MAX);
            if let Some(element) = object.element().filter(|_| object.writable).cloned() {
                object.set_content(self.unknown_run("an array in a loop", &element));
            }
        }
        for (seat, guesses) in seats {
            let Some(mut t) = guesses[0].value(self.terms, cut, at, when) else { continue };
            if let Relation::Low(_) = guesses[0] {
                let high = self.unknown("half of a register in a loop", 32);
                let high = self.terms.scale(high, &(BigInt::one() << 32));
                t = self.terms.add(t, high);
            }
            match *seat {
                Seat::Register(r) => new.regs[r] = t,
                Seat::Word(k, at, bytes) => new.objects[k].store(self.terms, at, bytes, t),
                Seat::Array(k) => new.objects[k].set_content(Written::of(t)),
            }
        }
        new
    }
}

/// The seats at the head of a loop. A result that the source carries is taken by its scalars: as what memory was cleared or
/// copied there says nothing.
fn seats_for(cut: &Cut, state: &State) -> Vec<Seat> {
    let carried = |k: usize| cut.carried.iter().filter(move |c| k > 0 && !c.is_array && c.local == state.objects[k].name);
    let cells = all_seats(state).into_iter().filter(|s| !matches!(s, Seat::Word(k, ..) if carried(*k).next().is_some()));
    let results = (0..state.objects.len()).flat_map(|k| carried(k).map(move |c| Seat::Word(k, c.unit.offset as i64, c.unit.bytes)));
    cells.chain(results).collect()
}

fn all_seats(state: &State) -> Vec<Seat> {
    let registers = (1..32).filter(|r| *r != SP).map(Seat::Register);
    let words = state.objects.iter().enumerate().flat_map(|(k, o)| o.cells().iter().map(move |(at, c)| Seat::Word(k, *at, c.bytes)));
    let arrays = state.objects.iter().enumerate().filter(|(_, o)| o.writable && o.content().is_some()).map(|(k, _)| Seat::Array(k));
    registers.chain(words).chain(arrays).collect()
}
