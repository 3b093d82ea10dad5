//! One primitive for one target: source to core IR, passes, C.
//! Trusted: c.

use crate::primitives::{Primitive, Tree};
use crate::widen::widen;
use crate::BenchError;
use santoku_backend_c::{Clears, Decisions, Emitted, Lanes, Measured, Options, Stack};
use santoku_driver::{check, lanes, products, Checked, Request, Target};
use santoku_ir::Program;
use santoku_passes::{Again, Level, PassOptions, StepReport};
use santoku_prove::products::widest_secret_product;
use std::collections::BTreeSet;

/// What a build chooses.
#[derive(Clone, Debug)]
pub struct Build {
    pub target: Target,
    pub level: Level,
    /// Passes switched off.
    pub without: BTreeSet<String>,
}

/// An optimised program and how it came about.
#[derive(Clone, Debug)]
pub struct Compiled {
    pub program: Program,
    pub steps: Vec<StepReport>,
    pub again: Again,
    /// Of its C.
    pub decisions: Decisions,
    /// Functions that machines with registers of vectors have in another text.
    pub lanes: Vec<Lanes>,
}

/// Front end only: an entry file with the target's implementations, nothing proved.
pub fn front(tree: &Tree, entry: &str, target: Target) -> Result<Checked, BenchError> {
    let request = Request { roots: vec!["lib".to_string()], ..Request::new(entry, target) };
    let mut load = |path: &str| Ok(std::fs::read_to_string(tree.root.join(path)).ok());
    Ok(check(&request, &mut load)?)
}

/// Front end and passes.
pub fn compile(tree: &Tree, primitive: &Primitive, build: &Build) -> Result<Compiled, BenchError> {
    let checked = front(tree, &primitive.entry, build.target.clone())?;
    let lanes = lanes(&checked, &build.without)?;
    Ok(Compiled { lanes, ..optimised(&checked.program, &build.target, build.level, &build.without)? })
}

/// Passes alone.
pub fn optimised(program: &Program, target: &Target, level: Level, without: &BTreeSet<String>) -> Result<Compiled, BenchError> {
    let circuits = santoku_passes::circuits(program, &mut santoku_passes::Silent);
    let options = PassOptions { keep_tests: false, circuits, ..PassOptions::new(level, target.word_bits) };
    let (decisions, mut without) = Decisions::without(without);
    let wide = without.remove(DERIVE_WIDTH);
    let done = santoku_passes::optimise(program, level, &without, &options)?;
    let program = if wide { widened(&done.program)? } else { done.program };
    Ok(Compiled { program, steps: done.steps, again: done.again, decisions, lanes: vec![] })
}

/// C needs some width: without this pass, the widths of code without proved ranges are taken.
pub const DERIVE_WIDTH: &str = "derive-width";

fn widened(program: &Program) -> Result<Program, BenchError> {
    let wide = widen(program);
    match santoku_ir::verify::verify(&wide).into_iter().next() {
        None => Ok(wide),
        Some(e) => Err(BenchError::Internal { stage: "widen".into(), reason: e.to_string() }),
    }
}

/// What the judges do not accept of what the passes made, a line for each function.
pub(crate) fn believed(steps: &[StepReport], again: &Again) -> Vec<String> {
    let ranges = santoku_passes::believed(steps).map(|(pass, func, why)| format!("ranges of {func} written by {pass}: {why}"));
    ranges.chain(again.believed.iter().map(|(func, why)| format!("what the passes made of {func}: {why}"))).collect()
}

impl Compiled {
    /// What the judges do not accept of what the passes made, a line for each function.
    pub fn believed(&self) -> Vec<String> {
        believed(&self.steps, &self.again)
    }

    /// What validation said, over all passes.
    pub fn checks(&self) -> Checks {
        let sum = |f: fn(&StepReport) -> usize| self.steps.iter().map(f).sum();
        Checks { equal: sum(|s| s.equal), ranges: sum(|s| s.ranges), put_back: sum(|s| s.reverted.len()) }
    }
}

/// Checks of the passes. A check that fails ends the build, so these are the ones that held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Checks {
    /// Functions shown equal before and after a pass.
    pub equal: usize,
    /// Ranges proved again.
    pub ranges: usize,
    /// Functions left as they were, because equality was not shown.
    pub put_back: usize,
}

impl Checks {
    pub fn add(&mut self, other: Checks) {
        self.equal += other.equal;
        self.ranges += other.ranges;
        self.put_back += other.put_back;
    }
}

/// C text of a compiled program. With an API of its own, generated functions are `static`.
pub fn emit(primitive: &Primitive, build: &Build, compiled: &Compiled, provenance: &str) -> Result<Emitted, BenchError> {
    let options = Options {
        widest: build.target.widest,
        products: products(&build.target),
        provenance: provenance.to_string(),
        export: !primitive.has_interface(),
        renamed: true,
        clears: primitive.stack.of(build.target.word_bits).map_or(Clears::Estimated, |s| Clears::Stack(Stack { optimised: s.optimised, plain: s.plain })),
        measured: Measured {
            bytes: primitive.measured_stack.get(&build.target.name).cloned().unwrap_or_default(),
            for_size: build.level == Level::Os,
        },
        decisions: compiled.decisions,
        lanes: compiled.lanes.clone(),
        ..Options::new(&primitive.unit, widest_secret_product(&compiled.program))
    };
    Ok(santoku_backend_c::emit(&compiled.program, &options)?)
}
