//! A local search for the order of instructions, and for what leaves its register, in our own assembly: the machine itself is the judge.
//!
//! Needs: a primitive with assembly for a machine whose counts repeat.  Keeps: everything is decided by the seed, whatever the number of threads; what
//! is taken leaves the right results and takes fewer cycles as a whole.  Absent: correctness does not rest on it; `certify` looks at the bytes that come out.

use crate::assembly::lowering;
use crate::compile::front;
use crate::primitives::{Primitive, Tree};
use crate::subject::{of_assembly, ours_for};
use crate::table::{takes_turns, Bench, Line};
use crate::text::table;
use crate::{parallel, BenchError};
use santoku_driver::{build, Checked, Counts, Emitter, Target};
use santoku_lab::bench::Subject;
use santoku_num::SplitMix64;
use santoku_target::{Schedule, Schedules};
use std::collections::{BTreeMap, BTreeSet};

/// Changed programs that are tried before the best is taken.
const BATCH: usize = 8;
/// A function with a smaller share of the cycles, in thousandths, is left alone.
const SHARE: u64 = 3;
/// Changes that the back end is asked about before the machine is.
const GUESSES: usize = 60;
/// Numbers of a function.
const SIZE_MAX: usize = 200;
/// How far a number goes at most, as a power of two.
const FAR: u32 = 5;

/// What to search.
#[derive(Clone, Debug)]
pub struct Wish {
    /// A file of `tuned/` for which the primitive has assembly.
    pub target: String,
    pub seed: u64,
    pub rounds: usize,
}

/// What a search came to.
pub struct Found {
    /// All orders for the target: those of other programs are as they were.
    pub schedules: Schedules,
    pub operations: Vec<String>,
    pub before: Line,
    pub after: Line,
    /// Functions that were changed: name, cycles in themselves before and after.
    pub functions: Vec<(String, u64, u64)>,
    /// Programs that were run.
    pub tried: usize,
    /// Rounds after which something was taken.
    pub taken: usize,
}

/// Searches from what the target has now. `keep` is given every better state as soon as it is found.
///
/// # Errors
/// `Unknown`: no such primitive, or none of its assembly is for the target; those of the compiler, of the lab and of `keep`; `WrongResult`.
pub fn run(tree: &Tree, name: &str, wish: &Wish, tell: &(dyn Fn(&str) + Sync), keep: &mut dyn FnMut(&Schedules) -> Result<(), BenchError>) -> Result<Found, BenchError> {
    let job = Job::new(tree, name, wish)?;
    let mut state = job.measured(job.target.schedules.clone())?;
    let before = job.checked(&state.schedules)?;
    let (first, mut after) = (state.clone(), before.clone());
    let (mut tried, mut taken) = (1, 0);
    for round in 0..wish.rounds {
        tell(&format!("round {} of {}, {} cycles, {} at first", round + 1, wish.rounds, state.cycles, first.cycles));
        let seeds: Vec<u64> = (0..BATCH as u64).map(|k| stream(&[wish.seed, round as u64, k]).next_u64()).collect();
        let tries = parallel::map(&seeds, parallel::threads(), |seed| job.measured(job.changed(&state, *seed)))?;
        let merged = job.best(&state, &tries);
        tried += tries.len();
        if merged == state.schedules {
            continue;
        }
        let next = job.measured(merged)?;
        tried += 1;
        if next.cycles <= state.cycles {
            after = job.checked(&next.schedules)?;
            keep(&next.schedules)?;
            state = next;
            taken += 1;
        }
    }
    let functions = first.own.iter().map(|(f, n)| (f.clone(), *n, state.own.get(f).copied().unwrap_or(0))).filter(|(_, a, b)| a != b).collect();
    let operations = job.bench.work.operations.iter().map(|o| o.name.clone()).collect();
    Ok(Found { schedules: state.schedules, operations, before, after, functions, tried, taken })
}

/// A program of which one order or another is made.
struct Job<'t> {
    tree: &'t Tree,
    primitive: Primitive,
    target: Target,
    checked: Checked,
    emitter: Emitter,
    /// Names of its functions, by symbol.
    functions: BTreeMap<String, String>,
    bench: Bench,
}

/// An order, and what it costs.
#[derive(Clone)]
struct State {
    schedules: Schedules,
    counts: BTreeMap<String, Counts>,
    /// Cycles of each function in itself, over all operations.
    own: BTreeMap<String, u64>,
    cycles: u64,
}

impl<'t> Job<'t> {
    fn new(tree: &'t Tree, name: &str, wish: &Wish) -> Result<Job<'t>, BenchError> {
        let primitive = tree.primitive(name)?.by_itself();
        let searched = |p: &Primitive| p.assemblies.iter().filter(|a| !p.workloads.is_empty() && tree.root.join(format!("tuned/{}.toml", a.target)).is_file()).cloned().collect::<Vec<_>>();
        let Some(row) = searched(&primitive).into_iter().find(|a| a.target == wish.target) else {
            let all = tree.primitives()?;
            let known = all.iter().map(Primitive::by_itself).flat_map(|p| searched(&p).into_iter().map(move |a| format!("{} for {}", p.name, a.target)));
            return Err(BenchError::Unknown { what: "assembly to search", name: format!("{name} for {}", wish.target), known: known.collect() });
        };
        let target = tree.target(&row.target)?;
        let checked = front(tree, &primitive.entry, target.clone())?;
        let (options, how) = lowering(&primitive, &row);
        let built = build(&checked, &options, &|| 0)?;
        let emitter = Emitter::new(&built, &target, &checked.sources, &how)?;
        let first = ours_for(tree, &primitive, &crate::compile::Build { target: target.clone(), level: crate::dist::LEVEL, without: BTreeSet::new() })?;
        let bench = Bench::new(tree, &primitive, target.clone(), first)?;
        if takes_turns(&bench.target) {
            return Err(BenchError::Unknown { what: "machine whose counts repeat", name: target.name.clone(), known: vec![] });
        }
        Ok(Job { tree, primitive, target, checked, functions: emitter.functions(), emitter, bench })
    }

    fn subject(&self, text: String) -> Result<Subject, BenchError> {
        Ok(of_assembly(self.tree, &self.primitive, "search", text, self.bench.calls()?))
    }

    /// Runs it and compares what it leaves.
    fn checked(&self, schedules: &Schedules) -> Result<Line, BenchError> {
        let text = self.emitter.emit(&self.checked.sources, schedules)?.text;
        Ok(self.bench.line(&self.subject(text)?)?.0)
    }

    fn measured(&self, schedules: Schedules) -> Result<State, BenchError> {
        let made = self.emitter.emit(&self.checked.sources, &schedules)?;
        let mut built = self.bench.build(&[self.subject(made.text)?])?;
        let (mut own, mut cycles) = (BTreeMap::new(), 0);
        for operation in 0..self.bench.work.operations.len() {
            let profile = built.profile(0, operation, "search").map_err(|e| BenchError::lab("search", e))?;
            for leaf in &profile.leaves {
                if let Some(f) = self.functions.get(&leaf.function) {
                    *own.entry(f.clone()).or_insert(0) += leaf.self_cycles;
                }
            }
            cycles += profile.cycles;
        }
        Ok(State { schedules, counts: made.counts.into_iter().collect(), own, cycles })
    }

    /// The functions that it pays to change.
    fn hot<'s>(&self, state: &'s State) -> impl Iterator<Item = (&'s String, u64)> {
        let least = state.cycles * SHARE / 1000;
        state.own.iter().filter(move |(_, n)| **n >= least.max(1)).map(|(f, n)| (f, *n))
    }

    /// Every hot function changed where the back end takes it to be better.
    fn changed(&self, state: &State, seed: u64) -> Schedules {
        let mut all = state.schedules.clone();
        for (k, (f, _)) in self.hot(state).enumerate() {
            let Some(counts) = state.counts.get(f) else { continue };
            let now = all.remove(f).filter(|s| s.instructions == counts.instructions);
            let now = now.unwrap_or(Schedule { instructions: counts.instructions, ..Schedule::default() });
            all.insert(f.clone(), self.climbed(f, now, counts, &mut stream(&[seed, k as u64])));
        }
        all
    }

    /// Changes one after the other, of which those stay that the back end takes to be no worse. The first stays whatever it takes it to be.
    fn climbed(&self, f: &str, start: Schedule, counts: &Counts, numbers: &mut SplitMix64) -> Schedule {
        let mut best = start;
        nudge(&mut best, counts, self.emitter.in_time(), numbers);
        let mut cost = self.emitter.guess(f, &best).unwrap_or(usize::MAX);
        for _ in 0..GUESSES {
            let mut next = best.clone();
            for _ in 0..=numbers.below(2) {
                nudge(&mut next, counts, self.emitter.in_time(), numbers);
            }
            let Some(guess) = self.emitter.guess(f, &next).filter(|_| next.len() <= SIZE_MAX) else { continue };
            if guess < cost || guess == cost && (next.len() <= best.len() || numbers.below(4) == 0) {
                (best, cost) = (next, guess);
            }
        }
        best
    }

    /// Of each function what took the fewest cycles.
    fn best(&self, state: &State, tries: &[State]) -> Schedules {
        let mut all = state.schedules.clone();
        for (f, now) in self.hot(state) {
            let cost = |s: &State| s.own.get(f).copied().unwrap_or(u64::MAX);
            let size = |s: &Schedules| s.get(f).map_or(0, Schedule::len);
            let best = tries.iter().min_by_key(|t| (cost(t), size(&t.schedules)));
            if let Some(best) = best.filter(|t| (cost(t), size(&t.schedules)) < (now, size(&state.schedules))) {
                all.extend(best.schedules.get(f).map(|s| (f.clone(), s.clone())));
            }
        }
        all.retain(|_, s| !s.is_empty());
        all
    }
}

/// The numbers that belong to a key.
fn stream(key: &[u64]) -> SplitMix64 {
    key.iter().fold(SplitMix64::new(0), |mut n, k| SplitMix64::new(n.next_u64() ^ k))
}

/// One number more, another, or one fewer.
fn nudge(schedule: &mut Schedule, counts: &Counts, in_time: bool, numbers: &mut SplitMix64) {
    let stage = numbers.below(if in_time { 5 } else { 3 });
    let (list, count) = match stage {
        0 | 1 => (&mut schedule.before, counts.instructions),
        2 => (&mut schedule.spill, counts.registers),
        _ => (&mut schedule.behind, counts.lines),
    };
    if !list.is_empty() && numbers.below(4) == 0 {
        list.remove(numbers.below(list.len() as u64) as usize);
        return;
    }
    let at = numbers.below(count.max(1) as u64) as u32;
    let most = 1 << numbers.below(u64::from(FAR) + 1);
    let by = 1 + numbers.below(most) as i32;
    list.retain(|(k, _)| *k != at);
    list.push((at, if numbers.below(2) == 0 { by } else { -by }));
    list.sort_unstable();
}

impl Found {
    /// What changed, for people.
    pub fn text(&self) -> String {
        let rows = self.functions.iter().map(|(f, a, b)| vec![f.clone(), a.to_string(), b.to_string()]).collect();
        let mut text = table(&["function", "cycles before", "cycles after"], 1, rows);
        for ((name, a), b) in self.operations.iter().zip(&self.before.measures).zip(&self.after.measures) {
            text += &format!("{name}: {} cycles, {} before ({})\n", b.cycles, a.cycles, crate::ablate::change(b.cycles, a.cycles));
        }
        text + &format!("{} programs run, {} changes taken\n", self.tried, self.taken)
    }
}
