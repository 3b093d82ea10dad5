//! From a checked program to C.
//! Trusted: c.

use crate::check::Checked;
use crate::failure::{c_needs, emit_error, pass_failure, unknown_pass, Failure};
use crate::target::products;
use santoku_backend_c::{Clears, Compared, Decisions};
use santoku_diag::Diagnostic;
use santoku_ir::FuncId;
use santoku_passes::{circuits, Circuits, Level, Observer, PassOptions, Silent};
use santoku_prove::products::widest_secret_product;
use std::collections::{BTreeMap, BTreeSet};

pub use santoku_passes::believed;

/// How a program is built, its target apart: that is the one it was checked for.
#[derive(Clone, Debug)]
pub struct BuildOptions {
    pub level: Level,
    /// Passes left out, and decisions of the C printer.
    pub without: BTreeSet<String>,
    /// Show the program after each run of this pass; `sema` for the program before all passes.
    pub dump_after: Option<String>,
    /// Base name of the files made: letters, digits, `_`.
    pub unit: String,
    /// First comment of both files.
    pub provenance: String,
    /// Functions of the header leave what they put on the stack.
    pub keep_secrets: bool,
}

/// What one pass did.
pub type Step = santoku_passes::StepReport;

/// What a build makes: texts, nothing written.
#[derive(Clone, Debug)]
pub struct Built {
    /// Base name of the files made.
    pub unit: String,
    pub level: Level,
    /// File name and text, in order of name.
    pub files: Vec<(String, String)>,
    /// Core text after each run of the pass asked for, with the name of the file it wants to be.
    pub dumps: Vec<(String, String)>,
    pub steps: Vec<Step>,
    /// What a second look at all passes together found.
    pub again: santoku_passes::Again,
    /// The program after all passes: what the C was printed from.
    pub program: santoku_ir::Program,
    /// What was read back from the C and compared with that program.
    pub compared: Compared,
    /// The C name of every function that is printed.
    pub names: BTreeMap<FuncId, String>,
}

/// Refuses what no build for the program's target can have, before anything is proved or optimised.
///
/// # Errors
/// `too-wide`, `bad-attribute`, `not-in-c`.
pub fn interface(checked: &Checked) -> Result<(), Failure> {
    let options = santoku_backend_c::Options { widest: checked.target.widest, products: products(&checked.target), ..santoku_backend_c::Options::new("unit", None) };
    let refused = |e: santoku_backend_c::EmitError| emit_error(&e, &checked.sources);
    santoku_backend_c::interface(&checked.program, &options).map_err(refused)?;
    if !checked.exports() {
        return Ok(());
    }
    // What becomes a result at every level needs no storage.
    let in_place = santoku_passes::find("copy-free").map(|p| (p.run)(&checked.program, &PassOptions::new(Level::O0, checked.target.word_bits)));
    santoku_backend_c::storage(in_place.as_ref().unwrap_or(&checked.program)).map_err(refused)
}

/// Refuses a proved program that has no C for its target, above all for integers wider than the target has: what `build` would say
/// at `-O0`. Programs that export nothing have no C to be judged by.
///
/// # Errors
/// `too-wide`, `not-in-c`; [`Failure::Internal`] where the printer is at fault.
pub fn printable(checked: &Checked) -> Result<(), Failure> {
    if !checked.exports() {
        return Ok(());
    }
    let options = PassOptions { keep_tests: false, ..PassOptions::new(Level::O0, checked.target.word_bits) };
    let passes = santoku_passes::PIPELINE.iter().filter_map(|name| santoku_passes::find(name)).filter(|p| p.runs_at(Level::O0));
    let program = passes.fold(checked.program.clone(), |program, pass| (pass.run)(&program, &options));
    let c = santoku_backend_c::Options { widest: checked.target.widest, products: products(&checked.target), ..santoku_backend_c::Options::new("unit", None) };
    santoku_backend_c::emit(&program, &c).map(drop).map_err(|e| emit_error(&e, &checked.sources))
}

/// Optimises and prints a checked program. Each pass is checked on the way.
///
/// # Errors
/// `unknown-pass`, `needed-pass`, `too-wide`, `not-in-c`, `nothing-exported`; [`Failure::Internal`] where a pass or the printer is at fault.
pub fn build(checked: &Checked, options: &BuildOptions, clock: &dyn Fn() -> u64) -> Result<Built, Failure> {
    build_watched(checked, options, clock, &mut Silent)
}

/// As [`build`]; `watch` is told of searches for circuits of tables.
///
/// # Errors
/// As [`build`].
pub fn build_watched(checked: &Checked, options: &BuildOptions, clock: &dyn Fn() -> u64, watch: &mut dyn Observer) -> Result<Built, Failure> {
    if let Some(name) = options.dump_after.as_deref().filter(|n| *n != "sema" && santoku_passes::find(n).is_none()) {
        return Err(Failure::refused(&checked.sources, unknown_pass(name)));
    }
    if !checked.exports() {
        let d = Diagnostic::error("nothing-exported", "the program exports no function, so there is nothing to build");
        return Err(Failure::refused(&checked.sources, d.help("put `@export(\"c_name\")` before the functions C should see")));
    }
    if let Some(pass) = santoku_passes::TABLE.iter().find(|p| p.writes_ranges && options.without.contains(p.name)) {
        return Err(Failure::refused(&checked.sources, c_needs(pass.name)));
    }
    interface(checked)?;
    let mut dumps = Vec::new();
    let mut dump = |pass: &str, program: &santoku_ir::Program| {
        if pass.is_empty() {
            // The passes start over.
            dumps.retain(|(name, _): &(String, String)| name.contains(".after-sema."));
        } else if options.dump_after.as_deref() == Some(pass) {
            dumps.push((format!("{}.after-{pass}.{}.ir", options.unit, dumps.len() + 1), santoku_ir::text::print(program)));
        }
    };
    dump("sema", &checked.program);
    let circuits = if options.without.contains("tables") { Circuits::new() } else { circuits(&checked.program, watch) };
    let pass_options = PassOptions { keep_tests: false, circuits, ..PassOptions::new(options.level, checked.target.word_bits) };
    let (decisions, without) = Decisions::without(&options.without);
    let done = santoku_passes::optimise_with(&checked.program, options.level, &without, &pass_options, &mut |n, p| dump(n, p), clock);
    let done = done.map_err(|e| pass_failure(&e, &checked.sources))?;
    let c_options = santoku_backend_c::Options {
        lanes: crate::lanes::lanes(checked, &options.without)?,
        widest: checked.target.widest,
        products: products(&checked.target),
        provenance: options.provenance.clone(),
        clears: if options.keep_secrets { Clears::Nothing } else { Clears::Estimated },
        decisions,
        ..santoku_backend_c::Options::new(&options.unit, widest_secret_product(&done.program))
    };
    let emitted = santoku_backend_c::emit(&done.program, &c_options).map_err(|e| emit_error(&e, &checked.sources))?;
    let files = vec![(format!("{}.c", options.unit), emitted.source), (format!("{}.h", options.unit), emitted.header)];
    Ok(Built { unit: options.unit.clone(), level: options.level, files, dumps, steps: done.steps, again: done.again, program: done.program, compared: emitted.compared, names: emitted.functions })
}
