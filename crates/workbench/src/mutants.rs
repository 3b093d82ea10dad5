//! Proved functions with one instruction, one relocation or one constant changed, put before the prover: nothing that computes something
//! else may pass.
//!
//! Needs: objects, the prover, the concrete machine.  Keeps: the judge of a change is independent of the prover: the changed code is run
//! beside the original on many inputs, held to the rules of calls; a change that passes both is listed.  Absent: how objects are made.

use crate::mutate::{mutants, Kind, Mutant};
use crate::objects::{changes, Change};
use crate::parallel;
use santoku_certify::concrete::inputs::{inputs, pairs, Input};
use santoku_certify::concrete::{Bench, End, Ran};
use santoku_certify::function::{compare, Verdict};
use santoku_certify::machine::Code;
use santoku_elf::Image;
use santoku_ir::interp::{self, Interp};
use santoku_ir::{FuncId, Program};
use santoku_isa::Isa;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Inputs that every change is run on, and those for a change that passed.
const INPUTS: usize = 10;
const MORE_INPUTS: usize = 200;
/// Instructions the original may take.
const STEPS: u64 = 4_000_000;

/// An object with its program.
pub struct Subject<'a> {
    pub object: &'a [u8],
    pub image: &'a Image,
    pub isa: Isa,
    pub program: &'a Program,
    /// By symbol.
    pub symbols: BTreeMap<String, FuncId>,
    /// Multiplications of secrets count as a leak.
    pub secret_mul_leaks: bool,
}

/// What became of the changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Functions changed.
    pub functions: usize,
    /// Changes asked about.
    pub mutants: usize,
    /// Of those, told apart from the original by a run.
    pub different: usize,
    /// Refused by the prover.
    pub refused: usize,
    /// By how the prover refused them.
    pub verdicts: BTreeMap<String, usize>,
    /// By the kind of change.
    pub kinds: BTreeMap<Kind, usize>,
    /// Passed, and no run tells them from the original.
    pub equal: Vec<String>,
    /// Passed although a run tells them apart: the prover is wrong.
    pub accepted: Vec<String>,
    /// Inputs run for a change that passed, at least.
    pub runs: usize,
}

impl Tally {
    pub fn add(&mut self, other: Tally) {
        self.functions += other.functions;
        self.mutants += other.mutants;
        self.different += other.different;
        self.refused += other.refused;
        other.verdicts.into_iter().for_each(|(k, n)| *self.verdicts.entry(k).or_default() += n);
        other.kinds.into_iter().for_each(|(k, n)| *self.kinds.entry(k).or_default() += n);
        self.equal.extend(other.equal);
        self.accepted.extend(other.accepted);
        self.runs = if self.runs == 0 { other.runs } else { self.runs.min(other.runs) };
    }

    /// Something was asked, and nothing wrong passed.
    pub fn holds(&self) -> bool {
        self.mutants > 0 && self.different > 0 && self.accepted.is_empty()
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} changes of {} functions: {} told apart by runs; {} refused {:?}, {} passed and equal, {} passed and wrong",
            self.mutants,
            self.functions,
            self.different,
            self.refused,
            self.verdicts,
            self.equal.len(),
            self.accepted.len()
        )
    }
}

/// How many changes of a function.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    /// Of single instructions.
    pub instructions: usize,
    /// Of calls, relocations and constants.
    pub objects: usize,
    /// Other symbols, of which the former take the symbol of a relocation; no more than there are.
    pub symbols: usize,
}

/// One change.
enum Way {
    Instruction(Mutant),
    Object(Change),
}

impl Way {
    fn kind(&self) -> Kind {
        match self {
            Way::Instruction(m) => m.kind,
            Way::Object(c) => c.kind,
        }
    }

    fn moved(&self) -> Option<&str> {
        match self {
            Way::Instruction(_) => None,
            Way::Object(c) => c.moved.as_deref(),
        }
    }

    fn line(&self, symbol: &str, entry: u64) -> String {
        match self {
            Way::Instruction(m) => format!("{symbol}+{:#x}: {} -> {}", m.pc - entry, m.from, m.to),
            Way::Object(c) => format!("{symbol}: {}", c.what),
        }
    }

    /// `None`: a file that is not read.
    fn image(&self, subject: &Subject) -> Option<Image> {
        match self {
            Way::Instruction(m) => subject.image.replaced(m.pc, &m.bytes),
            Way::Object(c) => santoku_elf::load(&c.apply(subject.object)).ok(),
        }
    }
}

/// Changes one function in up to so many ways.
///
/// # Errors
/// The function is not there, is not proved, or does not do what the source does: a change of it says nothing.
pub fn judge(subject: &Subject, symbol: &str, (counts, seed): (Counts, u64), threads: usize) -> Result<Tally, String> {
    let f = subject.image.function(symbol).ok_or_else(|| format!("there is no {symbol}"))?;
    let func = *subject.symbols.get(symbol).ok_or_else(|| format!("{symbol} is not of the program"))?;
    let task = Task { subject, func, symbol };
    let verdict = on_large_stack(|| task.verdict(subject.image, f.address));
    if verdict != Verdict::Equal {
        return Err(format!("{symbol} is not proved: {verdict:?}"));
    }
    let xlen = subject.image.xlen;
    let few = inputs(subject.program, func, xlen, INPUTS, seed);
    let steps = 4 * task.agrees_with_source(&few)? + 1000;
    let more = inputs(subject.program, func, xlen, MORE_INPUTS, seed + 1);
    let pairs = pairs(subject.program, func, xlen, 4, seed + 2);
    let old = task.bench(subject.image, f.address)?;
    let given = |all: Vec<Input>| -> Vec<(Input, Ran)> { all.into_iter().map(|i| (i.clone(), old.run(&i, 0, steps))).collect() };
    let runs = Runs { few: given(few), more: given(more), pairs, steps };
    let mut all: Vec<Way> = mutants(subject.image, &subject.isa, f, counts.instructions, seed).into_iter().map(Way::Instruction).collect();
    let of_object = changes(subject.object, symbol, counts.symbols, seed);
    let step = of_object.len().div_ceil(counts.objects.max(1)).max(1);
    all.extend(of_object.into_iter().skip(seed as usize % step).step_by(step).take(counts.objects).map(Way::Object));
    let done = parallel::map(&all, threads, |way| task.one(way.image(subject), way.moved(), &runs))?;
    let mut tally = Tally { functions: 1, runs: runs.more.len(), ..Tally::default() };
    for (way, one) in all.iter().zip(done) {
        tally.mutants += 1;
        *tally.kinds.entry(way.kind()).or_default() += 1;
        tally.different += usize::from(one.different);
        match one.refused {
            Some(word) => {
                tally.refused += 1;
                *tally.verdicts.entry(word.to_string()).or_default() += 1;
            }
            None if one.different => tally.accepted.push(way.line(symbol, f.address)),
            None => tally.equal.push(way.line(symbol, f.address)),
        }
    }
    Ok(tally)
}

/// Inputs, and what the original does with them.
struct Runs {
    few: Vec<(Input, Ran)>,
    /// For changes that pass.
    more: Vec<(Input, Ran)>,
    /// With the same public part.
    pairs: Vec<(Input, Input)>,
    /// Instructions a changed function may take.
    steps: u64,
}

struct Judged {
    /// How the prover refused it.
    refused: Option<&'static str>,
    /// A run tells it from the original.
    different: bool,
}

struct Task<'a> {
    subject: &'a Subject<'a>,
    func: FuncId,
    symbol: &'a str,
}

impl Task<'_> {
    fn verdict(&self, image: &Image, entry: u64) -> Verdict {
        let s = self.subject;
        let mut code = Code::new(image, s.isa, s.program, s.symbols.clone());
        code.secret_mul_leaks = s.secret_mul_leaks;
        // The attempts with a solver take up to a minute where there is nothing to find.
        code.normal_form_only = true;
        let named = |n: &String| image.function(n).is_some();
        let cut: BTreeSet<FuncId> = s.symbols.iter().filter(|(n, _)| named(n)).map(|(_, f)| *f).collect();
        compare(&code, self.func, entry, &[], &|f| cut.contains(&f)).verdict
    }

    fn bench<'b>(&'b self, image: &'b Image, entry: u64) -> Result<Bench<'b>, String> {
        let bench = Bench::new((image, self.subject.isa), self.subject.program, self.func, entry, &[])?;
        let mut bench = bench.with_calls(&self.subject.symbols)?;
        bench.multiplications_show = self.subject.secret_mul_leaks;
        Ok(bench)
    }

    /// The original, run, gives what the source gives. The most instructions a run took.
    fn agrees_with_source(&self, inputs: &[Input]) -> Result<u64, String> {
        if inputs.is_empty() {
            return Err(format!("{}: no input meets the preconditions", self.symbol));
        }
        let entry = self.subject.image.function(self.symbol).map_or(0, |f| f.address);
        let bench = self.bench(self.subject.image, entry)?;
        let mut source = Interp::with_options(self.subject.program, interp::Options::default());
        let mut most = 0;
        for (n, input) in inputs.iter().enumerate() {
            let want = source.call(self.func, &input.lens, input.args.clone()).map_err(|e| e.to_string())?;
            let ran = bench.run(input, n as u64, STEPS);
            if ran.end != End::Returned || ran.results != bench.expected(&want) {
                return Err(format!("{}: proved, and yet a run ends with {:?} and other results", self.symbol, ran.end));
            }
            most = most.max(ran.steps);
        }
        Ok(most)
    }

    /// `moved`: a symbol that is somewhere else. Where it is one of a function, what is proved of its callers rests on its own proof.
    fn one(&self, image: Option<Image>, moved: Option<&str>, runs: &Runs) -> Result<Judged, String> {
        let Some((image, entry)) = image.and_then(|i| i.function(self.symbol).map(|f| f.address).map(|at| (i, at))) else {
            return Ok(Judged { refused: Some("not read"), different: true });
        };
        let callee = moved.and_then(|name| {
            let (func, at) = (*self.subject.symbols.get(name)?, image.function(name)?.address);
            Some(Task { subject: self.subject, func, symbol: name }.verdict(&image, at))
        });
        let refused = match self.verdict(&image, entry) {
            Verdict::Equal if callee.is_some_and(|v| v != Verdict::Equal) => Some("rests on another"),
            Verdict::Equal => None,
            Verdict::Differs(_) => Some("refuted"),
            Verdict::NotProved(_) => Some("not proved"),
            Verdict::Halted(_) => Some("halted"),
            Verdict::Source(_) => Some("source"),
        };
        let new = self.bench(&image, entry)?;
        let differs = |n: usize, (input, was): &(Input, Ran)| {
            let ran = new.run(input, n as u64 + 1, runs.steps);
            ran.end != End::Returned || was.results != ran.results
        };
        let mut different = runs.few.iter().enumerate().any(|(n, i)| differs(n, i));
        if refused.is_none() && !different {
            let shows = |(a, b): &(Input, Input)| new.run(a, 5, runs.steps).seen != new.run(b, 5, runs.steps).seen;
            different = runs.more.iter().enumerate().any(|(n, i)| differs(n, i)) || runs.pairs.iter().any(shows);
        }
        Ok(Judged { refused, different })
    }
}

/// Terms are walked recursively.
fn on_large_stack<R: Send>(work: impl Fn() -> R + Sync) -> R {
    let done = parallel::map(&[()], 1, |()| Ok::<R, ()>(work()));
    match done.ok().and_then(|mut all| all.pop()) {
        Some(r) => r,
        None => work(),
    }
}
