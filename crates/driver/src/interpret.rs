//! Running functions and tests in the interpreter.

use crate::args::{lens_of, parse_arg};
use crate::check::Checked;
use crate::failure::{fault, Failure};
use santoku_diag::Diagnostic;
use santoku_ir::interp::{Interp, Options, Stats, Value};
use santoku_ir::{Func, FuncId, Test};

/// One `test` block.
#[derive(Clone, Debug)]
pub struct TestOutcome {
    pub name: String,
    /// None: passed.
    pub failure: Option<Diagnostic>,
    /// What was executed and checked.
    pub stats: Stats,
}

/// Steps of a run where nothing else is said: statements, rounds of loops, elements copied. Some ten seconds.
pub const STEPS: u64 = 1 << 30;

/// Operations of clauses of called functions for each step allowed: these are quicker, and a specification may be mathematics that
/// nobody can compute.
const STEPS_PER_SPEC_STEP: u64 = 8;

/// Contracts checked, and an end after so many steps.
fn options(steps: u64) -> Options {
    Options { steps, inner_spec_steps: steps / STEPS_PER_SPEC_STEP, ..Options::checked() }
}

/// Runs a test on values of its parameters, contracts checked, for so many steps.
///
/// # Errors
/// [`Failure::Internal`] when the interpreter finds the program malformed, or the values do not fit. A failing test is an outcome, not an error.
pub fn run_case(checked: &Checked, test: &Test, args: Vec<Value>, steps: u64) -> Result<TestOutcome, Failure> {
    let lens = lens_of(checked.program.func(test.func), &args).map_err(|why| Failure::internal("interpreter", format!("test {}: {why}", test.name)))?;
    let mut interp = Interp::with_options(&checked.program, options(steps));
    let failure = match interp.call(test.func, &lens, args) {
        Ok(_) => None,
        Err(f) => Some(fault(&f)?),
    };
    Ok(TestOutcome { name: test.name.clone(), failure, stats: interp.stats() })
}

/// The function `name` of the entry file.
///
/// # Errors
/// Code `unknown-function`, with the names there are.
pub fn find_function(checked: &Checked, name: &str) -> Result<FuncId, Failure> {
    let entry = |f: &Func| f.loc.file == 0 && !checked.program.tests.iter().any(|t| checked.program.func(t.func).name == f.name);
    let last = |f: &Func| f.name.rsplit('.').next().unwrap_or(&f.name).to_string();
    let all: Vec<(usize, String)> = checked.program.funcs.iter().enumerate().filter(|(_, f)| entry(f)).map(|(i, f)| (i, last(f))).collect();
    if let Some((i, _)) = all.iter().find(|(_, n)| n == name) {
        return Ok(FuncId(*i as u32));
    }
    let names: Vec<&str> = all.iter().map(|(_, n)| n.as_str()).collect();
    let d = Diagnostic::error("unknown-function", format!("no function `{name}` in this file that can be run"));
    let d = d.note(format!("functions: {}", if names.is_empty() { "none".to_string() } else { names.join(", ") }));
    Err(Failure::refused(&checked.sources, d.help("functions with `const` or `type` parameters run only through a caller that fixes them")))
}

/// Calls a function with arguments in text form, contracts checked, for so many steps. Lengths follow from the arguments.
///
/// # Errors
/// `bad-argument` and the codes of faults at run time.
pub fn call(checked: &Checked, func: FuncId, args: &[String], steps: u64) -> Result<Vec<Value>, Failure> {
    let f = checked.program.func(func);
    let refuse = |d: Diagnostic| Failure::refused(&checked.sources, d);
    if args.len() != f.params.len() {
        let d = Diagnostic::error("bad-argument", format!("{} arguments for {} parameters", args.len(), f.params.len()));
        return Err(refuse(d.note(format!("parameters: {}", params(f))).help("integers `5`, byte strings `hex:00ff`, arrays `[1, 2]`")));
    }
    let mut values = Vec::new();
    for (text, id) in args.iter().zip(&f.params) {
        let local = f.local(*id);
        let value = parse_arg(&checked.program, &local.ty, text).map_err(|why| {
            let d = Diagnostic::error("bad-argument", format!("argument for `{}` does not fit", local.name));
            refuse(d.note(format!("why: {why}")).help("integers `5`, byte strings `hex:00ff`, arrays `[1, 2]`"))
        })?;
        values.push(value);
    }
    let lens = lens_of(f, &values).map_err(|why| {
        refuse(Diagnostic::error("bad-argument", "lengths do not agree").note(format!("why: {why}")).help("give arrays of fitting lengths"))
    })?;
    let mut interp = Interp::with_options(&checked.program, options(steps));
    interp.call(func, &lens, values).map_err(|f| match fault(&f) {
        Ok(d) => refuse(d),
        Err(internal) => internal,
    })
}

fn params(f: &Func) -> String {
    f.params.iter().map(|id| f.local(*id).name.clone()).collect::<Vec<_>>().join(", ")
}
