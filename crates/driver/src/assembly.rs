//! From a built program to the words of a machine and to assembly.
//! Trusted: nothing: `certify` looks at the bytes.

use crate::build::Built;
use crate::failure::Failure;
use crate::target::Target;
use santoku_backend_riscv::{emit, guess, Latency, Nudges, Options, Product, Tuning};
use santoku_diag::{Diagnostic, Sources};
use santoku_lower::legalise::{legalise, Lowered, Spread};
use santoku_lower::pass::{optimise, Costs};
use santoku_lower::Machine;
use santoku_passes::Level;
use santoku_target::{ByteOrder, Executor, Schedule, Schedules};
use std::collections::{BTreeMap, BTreeSet};

pub use santoku_backend_riscv::{Counts, Emitted};
pub use santoku_lower::pass::Choice;

/// Names of the passes of the lowered IR, in the order in which they run.
pub fn lowered_passes() -> impl Iterator<Item = &'static str> {
    santoku_lower::pass::TABLE.iter().map(|p| p.name)
}

/// No longer than a call.
const SHORT_INLINE_MAX: usize = 4;

/// How the lowered program is made better.
#[derive(Clone, Debug)]
pub struct Lowering {
    pub choice: Choice,
    /// A function of no more instructions is put where it is called.
    pub inline_max: usize,
    /// Short code counts for more than fast code: arrays and structs are treated as a whole, and nothing is arranged for a pipeline.
    pub short: bool,
}

impl Lowering {
    pub fn of(level: Level) -> Lowering {
        let short = level == Level::Os;
        let inline_max = if short { SHORT_INLINE_MAX } else { Costs::default().inline_max };
        Lowering { choice: Choice::default(), inline_max, short }
    }
}

/// The name of a target's instruction set, if it is RISC-V: that of its runs, else the first.
fn instruction_set(target: &Target) -> Option<String> {
    let own = target.run.as_ref().map(|r| r.isa.clone()).or_else(|| target.isas.first().map(|i| i.name.clone()))?;
    own.starts_with("rv").then_some(own)
}

/// Whether our own back end knows the target.
pub fn has_assembly(target: &Target) -> bool {
    instruction_set(target).is_some()
}

/// As the description of the target's pipeline has it; a virtual machine has none.
fn latency(target: &Target) -> Option<Latency> {
    if target.run.as_ref().is_some_and(|r| matches!(r.on, Executor::CkbVm | Executor::Rv64Vm)) {
        return None;
    }
    let usual = Latency::default();
    let slots = |name: &str| target.costs.get(name).and_then(|n| usize::try_from(*n).ok());
    let product = match (slots("multiply"), slots("long_result")) {
        (Some(earliest), Some(after)) => Product::Late { earliest, after },
        (Some(slots), None) => Product::Pipelined { slots },
        _ => usual.product,
    };
    Some(Latency { load: slots("load_word").unwrap_or(usual.load), narrow_load: slots("load_narrow").unwrap_or(usual.narrow_load), product })
}

fn not_lowered(sources: &Sources, func: &str, what: &str) -> Failure {
    let d = Diagnostic::error("not-lowered", format!("`{func}` has no form in the lowered IR: {what}"));
    Failure::refused(sources, d.note("why: the lowered IR has words of the machine, and memory whose size is known when a function is entered").help("build C (`--emit c`)"))
}

/// What the passes ask of the machine. A multiplier that is not ready for the next operands in the next slot is used where sums of three shifts would do.
fn costs(target: &Target, how: &Lowering) -> Costs {
    let default = Costs::default();
    let usual = Costs { inline_max: how.inline_max, inline_in_loops_max: default.inline_in_loops_max.min(how.inline_max), carry_groups: target.fused.is_some(), ..default };
    match latency(target).map(|l| l.product) {
        Some(Product::Late { .. }) => Costs { wide_product: 3, ..usual },
        _ => usual,
    }
}

/// The program in words of the target's machine.
///
/// # Errors
/// `not-lowered`; [`Failure::Internal`] where what is made is none.
fn lowered(built: &Built, target: &Target, sources: &Sources, how: &Lowering) -> Result<Lowered, Failure> {
    let words = if target.word_bits == 32 { vec![32] } else { vec![32, 64] };
    let big_endian = target.byte_order == ByteOrder::Big;
    let spread = if how.short { Spread::short() } else { Spread::default() };
    let lowered = legalise(&built.program, &Machine { words, big_endian }, spread).map_err(|e| not_lowered(sources, &e.func, &e.what))?;
    santoku_lower::verify(&lowered.module).map_err(|p| Failure::internal("legalise", p.to_string()))?;
    let done = optimise(&lowered, &costs(target, how), &how.choice);
    santoku_lower::verify(&done.module).map_err(|p| Failure::internal("lowered passes", p.to_string()))?;
    Ok(done)
}

/// The same as text.
///
/// # Errors
/// As [`lowered`].
pub fn lowered_text(built: &Built, target: &Target, sources: &Sources, how: &Lowering) -> Result<String, Failure> {
    lowered(built, target, sources, how).map(|l| santoku_lower::text::print(&l.module))
}

/// The program as assembly. Functions of the header clear what they leave if it was built so.
///
/// # Errors
/// `no-assembly`, and as [`lowered`].
pub fn assembly(built: &Built, target: &Target, sources: &Sources, how: &Lowering) -> Result<String, Failure> {
    Ok(Emitter::new(built, target, sources, how)?.emit(sources, &target.schedules)?.text)
}

/// A program in words of its machine, of which assembly is made in one order or another.
pub struct Emitter {
    lowered: Lowered,
    options: Options,
    /// Functions with results that may lie in the place of what they read.
    sharing: BTreeSet<usize>,
}

impl Emitter {
    /// # Errors
    /// As [`assembly`].
    pub fn new(built: &Built, target: &Target, sources: &Sources, how: &Lowering) -> Result<Emitter, Failure> {
        let Some(isa) = instruction_set(target) else {
            let d = Diagnostic::error("no-assembly", format!("there is no assembly for the target \"{}\"", target.title));
            return Err(Failure::refused(sources, d.note("why: the back end knows RISC-V alone").help("choose another target (`--target rv32`), or build C (`--emit c`)")));
        };
        let lowered = lowered(built, target, sources, how)?;
        let mut symbols = vec![String::new(); lowered.module.funcs.len()];
        for (id, k) in &lowered.funcs {
            symbols[*k as usize] = built.names.get(id).cloned().unwrap_or_else(|| format!("f{k}"));
        }
        let latency = latency(target).filter(|_| !how.short);
        let options = Options { xlen: target.word_bits, zba: isa.contains("zba"), zbb: isa.contains("zbb"), symbols, latency, fused: target.fused.is_some(), short: how.short, tuned: BTreeMap::new() };
        let sharing = santoku_lower::pass::sharing(&lowered.module).into_iter().collect();
        Ok(Emitter { lowered, options, sharing })
    }

    /// The assembly, with what a search found for some of its functions.
    ///
    /// # Errors
    /// `not-lowered`.
    pub fn emit(&self, sources: &Sources, schedules: &Schedules) -> Result<Emitted, Failure> {
        let tuned = schedules.iter().map(|(name, s)| (name.clone(), tuning(s))).collect();
        let options = Options { tuned, ..self.options.clone() };
        emit(&self.lowered.module, &options).map_err(|e| not_lowered(sources, &e.func, &e.what))
    }

    /// What the back end takes a function to cost in an order, in itself and once: slots of the pipeline, or instructions.
    pub fn guess(&self, function: &str, schedule: &Schedule) -> Option<usize> {
        let k = self.lowered.module.funcs.iter().position(|f| f.name == function)?;
        let options = Options { tuned: [(function.to_string(), tuning(schedule))].into(), ..self.options.clone() };
        guess(&self.lowered.module, k, &options, self.sharing.contains(&k)).ok()
    }

    /// Names of the functions, by symbol.
    pub fn functions(&self) -> BTreeMap<String, String> {
        self.options.symbols.iter().cloned().zip(self.lowered.module.funcs.iter().map(|f| f.name.clone())).collect()
    }

    /// Whether the order of instructions is chosen for a pipeline.
    pub fn in_time(&self) -> bool {
        self.options.latency.is_some()
    }
}

fn tuning(s: &Schedule) -> Tuning {
    let nudges = |all: &[(u32, i32)]| Nudges(all.iter().copied().collect());
    Tuning { instructions: s.instructions, before: nudges(&s.before), spill: nudges(&s.spill), behind: nudges(&s.behind) }
}
