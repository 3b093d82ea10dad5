//! One primitive for one target: source to core IR, passes, C.

use crate::primitives::{Primitive, Target, Tree};
use crate::BenchError;
use santoku_backend_c::{Emitted, Options};
use santoku_ir::Program;
use santoku_passes::{Level, PassOptions, StepReport};
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
}

/// Front end only: the core IR of an entry file with the target's implementations.
pub fn front(tree: &Tree, entry: &str, target: &Target) -> Result<Program, BenchError> {
    let options = santoku_sema::Options { impls: target.impls.clone() };
    let mut load = |path: &str| std::fs::read_to_string(tree.root.join(path)).ok();
    match santoku_sema::compile(entry, &["lib".to_string()], &mut load, &options) {
        Ok(c) => Ok(c.program),
        Err(f) => Err(BenchError::Source(Box::new((f.sources, f.diagnostics)))),
    }
}

/// Front end and passes.
pub fn compile(tree: &Tree, primitive: &Primitive, build: &Build) -> Result<Compiled, BenchError> {
    let program = front(tree, &primitive.entry, &build.target)?;
    let options = PassOptions { keep_tests: false, ..PassOptions::new(build.level, build.target.word_bits) };
    let done = santoku_passes::optimise(&program, build.level, &build.without, &options)?;
    Ok(Compiled { program: done.program, steps: done.steps })
}

/// C text of a compiled program. With an API of its own, generated functions are `static`.
pub fn emit(primitive: &Primitive, build: &Build, compiled: &Compiled, provenance: &str) -> Result<Emitted, BenchError> {
    let options = Options {
        unit: primitive.unit.clone(),
        widest: build.target.widest,
        provenance: provenance.to_string(),
        export: primitive.api_source.is_none(),
        ..Options::default()
    };
    Ok(santoku_backend_c::emit(&compiled.program, &options)?)
}
