//! Targets as the driver takes them: their faults as diagnostics, and what the prover must not let a secret meet.

use crate::failure::Failure;
use santoku_backend_c::Products;
use santoku_diag::{Diagnostic, Sources, Span};
use santoku_ir::BinOp;
use santoku_prove::secrecy::Timing;
pub use santoku_target::{Target, DEFAULT_TARGET};
use santoku_target::Fault;
use std::collections::BTreeMap;

/// Reads the text of `path`, the file `targets/<name>.toml`.
///
/// # Errors
/// `bad-description`: malformed, an unknown or missing field, a value out of range.
pub fn read_machine(name: &str, path: &str, text: &str) -> Result<Target, Failure> {
    Target::parse(name, path, text).map_err(|e| bad(path, text, &e))
}

/// Reads the text of `path`, the file `tuned/<name>.toml`: choices for a machine, which `machine` finds by its name.
///
/// # Errors
/// `bad-description`: malformed, an unknown or missing field, no such machine; those of `machine`.
pub fn read_choices(name: &str, path: &str, text: &str, machine: &mut dyn FnMut(&str) -> Result<Option<Target>, Failure>) -> Result<Target, Failure> {
    let mut failed = None;
    let read = Target::choose(name, path, text, &mut |of| match machine(of) {
        Ok(found) => Ok(found),
        Err(e) => {
            failed = Some(e);
            Ok(None)
        }
    });
    match failed {
        Some(e) => Err(e),
        None => read.map_err(|e| bad(path, text, &e)),
    }
}

fn bad(path: &str, text: &str, fault: &Fault) -> Failure {
    let mut sources = Sources::default();
    let file = sources.add(path, text);
    let d = Diagnostic::error("bad-description", format!("`{path}` does not describe a target"));
    let d = match &fault.at {
        Some(at) => d.at(Span { file, start: at.start as u32, end: at.end as u32 }, fault.reason.as_str()),
        None => d.note(format!("why: {}", fault.reason)),
    };
    Failure::refused(&sources, d.help("`santoku explain bad-description` shows a whole file"))
}

/// A target that is compiled in. A machine comes without implementations, which belong to a library; a choice is nothing without them.
/// `Ok(None)`: there is none of that name.
///
/// # Errors
/// [`Failure::Internal`]: its file does not describe a target.
pub fn built_in(name: &str) -> Result<Option<Target>, Failure> {
    let found = santoku_target::built_in(name).map_err(|e| Failure::internal("targets", e.to_string()))?;
    let machine = santoku_target::machine_names().any(|m| m == name);
    Ok(found.map(|target| if machine { Target { impls: BTreeMap::new(), ..target } } else { target }))
}

/// What the prover must not let a secret meet: operations whose time depends on their operands, where C cannot do without them.
pub fn timing(target: &Target) -> Timing {
    let mul = target.variable_time.mul.filter(|least| target.products() >= *least);
    Timing { variable_time: mul.map(|least| (BinOp::Mul, least)).into_iter().collect() }
}

/// How C makes 64-bit products of secrets for a target. One without wider integers may be any 32-bit processor that has a C compiler, so the
/// compiler finds out.
pub fn products(target: &Target) -> Products {
    match target.products() {
        32 => Products::Parts,
        _ if target.widest == 64 => Products::Chosen,
        _ => Products::Whole,
    }
}

/// No target has this name.
pub fn unknown_target(name: &str, known: &[String]) -> Failure {
    let d = Diagnostic::error("unknown-target", format!("there is no target `{name}`"));
    let d = d.note(format!("targets: {}", known.join(", ")));
    Failure::refused(&Sources::default(), d.help("choose one of these, or write a file `targets/<target>.toml`"))
}
