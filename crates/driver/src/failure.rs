//! Why a request ended without its result, and how faults of stages become messages.

use santoku_backend_c::EmitError;
use santoku_diag::{Diagnostic, FileId, Sources, Span};
use santoku_ir::interp::{Fault, FaultKind, Value};
use santoku_ir::Loc;
use santoku_passes::{PassFailure, Reason};

/// Why there is no result.
#[derive(Clone, Debug)]
pub enum Failure {
    /// The user's fault. At least one diagnostic of severity error; spans point into `sources`.
    Refused { sources: Sources, diagnostics: Vec<Diagnostic> },
    /// Our fault: the stage, and what it did.
    Internal { stage: String, message: String },
}

impl Failure {
    /// One diagnostic that points nowhere, or into `sources`.
    pub fn refused(sources: &Sources, d: Diagnostic) -> Failure {
        Failure::Refused { sources: sources.clone(), diagnostics: vec![d] }
    }

    pub fn internal(stage: &str, message: impl Into<String>) -> Failure {
        Failure::Internal { stage: stage.into(), message: message.into() }
    }
}

/// The place of a location of the core; None where it is unknown.
pub fn span(loc: Loc) -> Option<Span> {
    (loc.line > 0).then_some(Span { file: FileId(loc.file), start: loc.start, end: loc.end })
}

fn place(d: Diagnostic, loc: Loc, label: impl Into<String>) -> Diagnostic {
    match span(loc) {
        Some(s) => d.at(s, label),
        None => d,
    }
}

/// A value in a message: long ones are cut.
fn short(v: &Value) -> String {
    let text = v.to_string();
    match text.char_indices().nth(120) {
        Some((i, _)) => format!("{}..", &text[..i]),
        None => text,
    }
}

/// What stopped a run of the interpreter. `Err`: it was no fault of the program.
pub(crate) fn fault(f: &Fault) -> Result<Diagnostic, Failure> {
    let (code, title, help) = match &f.kind {
        FaultKind::RangeLeft { .. } => ("run-range", "an integer leaves its range", "widen the declared range, or reduce the value before"),
        FaultKind::IndexOutOfBounds { .. } | FaultKind::SliceOutOfBounds { .. } => {
            ("run-index", "an index is outside its array", "correct the index; `santoku prove` finds such places without running")
        }
        FaultKind::ShiftCount { .. } => ("run-shift", "a shift by too much", "shift counts of words are below their bits"),
        FaultKind::Length { .. } => ("run-length", "a length that is not possible", "lengths are 0..2^31-1"),
        FaultKind::Assertion { .. } | FaultKind::Invariant { .. } => ("run-assert", "an assertion does not hold", "one of the two sides is wrong: the values are above"),
        FaultKind::Contract { .. } => ("run-contract", "a contract does not hold", "correct the function, its caller, or the contract"),
        FaultKind::OutOfSteps => ("run-too-long", "the run was stopped: too many steps", "allow more with `--steps N`, interpret a smaller case, or build the program and run that"),
        FaultKind::Undefined { .. } => ("run-undefined", "a value is read before it is assigned", "assign every element before the first read"),
        FaultKind::IntTooLarge => ("run-too-large", "an exact integer grows beyond what is supported", "reduce it on the way"),
        FaultKind::BadArgument { .. } => ("bad-argument", "an argument does not fit its parameter", "see the function's parameters"),
        FaultKind::Internal { reason } => return Err(Failure::internal("interpreter", reason.clone())),
    };
    let mut d = place(Diagnostic::error(code, title), f.loc, f.kind.to_string());
    if d.primary.is_none() {
        d = d.note(format!("why: {}", f.kind));
    }
    if !f.func.is_empty() {
        d = d.note(format!("function: {}", f.func));
    }
    for (name, value) in &f.values {
        d = d.note(format!("value: {name} = {}", short(value)));
    }
    Ok(d.help(help))
}

/// Why the C back end refused.
pub(crate) fn emit_error(e: &EmitError, sources: &Sources) -> Failure {
    match e {
        EmitError::TooWide { loc, bits, widest, .. } => {
            let d = Diagnostic::error("too-wide", format!("an integer of {bits} bits on a target that has at most {widest}"));
            let d = place(d, *loc, "needs more than the target has").note(format!("why: {e}"));
            Failure::refused(sources, d.help("split the value into limbs, choose an implementation with smaller ones (`--impl`), or another target (`--target host64`)"))
        }
        EmitError::Storage { loc, length, .. } => {
            let d = place(Diagnostic::error("not-in-c", "a local array of run-time length needs storage in C"), *loc, "this array").note(format!("why: {e}"));
            let least = "return the array, take it as a parameter";
            Failure::refused(sources, d.help(format!("{least}, or give `{length}` a bound: `<{length}: len in 0..1024>`")))
        }
        EmitError::Unsupported { loc, .. } => {
            let d = place(Diagnostic::error("not-in-c", "this cannot be printed as C"), *loc, "this").note(format!("why: {e}"));
            Failure::refused(sources, d.help("build with another option, or write it in another way"))
        }
        EmitError::Name { name, loc, .. } => {
            let d = place(Diagnostic::error("bad-attribute", format!("C cannot have a function `{name}`")), *loc, "exported under this name");
            Failure::refused(sources, d.note(format!("why: {e}")).help("choose another name in `@export`"))
        }
        EmitError::Unannotated { .. } | EmitError::Misprinted(_) => Failure::internal("backend-c", e.to_string()),
    }
}

/// Why the passes stopped: unknown names are the user's fault, all else is ours.
pub(crate) fn pass_failure(e: &PassFailure, sources: &Sources) -> Failure {
    match &e.reason {
        Reason::UnknownPass(name) => Failure::refused(sources, unknown_pass(name)),
        _ => Failure::internal(e.pass, e.to_string()),
    }
}

/// A build is to leave out the pass that writes ranges.
pub(crate) fn c_needs(pass: &str) -> Diagnostic {
    Diagnostic::error("needed-pass", format!("C cannot be printed without `{pass}`"))
        .note("why: it writes the proven range of each integer, which the machine types are chosen by")
        .help(format!("build without `--without {pass}`"))
}

/// No pass has this name.
pub(crate) fn unknown_pass(name: &str) -> Diagnostic {
    let known: Vec<&str> = santoku_passes::TABLE.iter().map(|p| p.name).collect();
    let layouts: Vec<&str> = crate::stages::layout_passes().collect();
    let decisions: Vec<&str> = crate::stages::c_decisions().map(|d| d.0).collect();
    Diagnostic::error("unknown-pass", format!("there is no pass `{name}`"))
        .note(format!("passes: {}", known.join(", ")))
        .note(format!("with `--layout`, also: {}", layouts.join(", ")))
        .note(format!("decisions of the C printer, for `--without`: {}", decisions.join(", ")))
        .help("`santoku passes` lists them with what they do")
}
