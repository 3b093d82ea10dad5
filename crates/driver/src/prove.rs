//! Proofs of a checked program, and open obligations as messages.

use crate::advice::{advice, read, Advice};
use crate::check::Checked;
use crate::failure::{span, Failure};
use num_bigint::BigInt;
use santoku_diag::Diagnostic;
use santoku_prove::cache::Store;
use santoku_prove::obligation::{Obligation, Origin, Outcome};
use santoku_ir::{FuncId, Program};
use santoku_prove::narrow::narrow;
use santoku_prove::report::{Vacuous, Why};
use santoku_prove::{ProveOptions, Report};

/// Proves everything there is to prove, secrecy by the timing of the program's target. `store` keeps results by content; `threads` is at least 1.
pub fn prove(checked: &Checked, store: &dyn Store, threads: usize) -> Report {
    santoku_prove::prove(&checked.program, &ProveOptions { timing: crate::target::timing(&checked.target), store, threads, ..ProveOptions::default() })
}

/// The program with the range of every exact integer that has a finite one: expressions by the values of that occurrence, locals by all values
/// ever stored in them. Obligations may be open all the same.
pub fn ranges(checked: &Checked) -> Program {
    santoku_prove::ranges::annotate(&checked.program)
}

/// The message of every open obligation, in order of the report.
pub fn open_obligations(checked: &Checked, report: &Report) -> Vec<Diagnostic> {
    let of = |o: &Obligation| match &o.outcome {
        // A fault is no message about the program: see `prover_fault`.
        Outcome::Proved { .. } | Outcome::Fault { .. } => None,
        Outcome::Failed { reason, witness, origin } => {
            let Advice { code, title, help, section } = advice(o);
            let mut d = Diagnostic::error(code, title);
            d = match span(o.loc) {
                Some(s) => d.at(s, reason.clone()),
                None => d.note(format!("why: {reason}")),
            };
            d = d.note(format!("claim: {}", o.text)).note(format!("function: {}", checked.name(o.func)));
            if let Some(origin) = origin {
                d = with_origin(d, origin);
            }
            if let Some(w) = witness {
                let inputs: Vec<String> = w.inputs.iter().map(|(name, value)| format!("{name} = {value}")).collect();
                d = d.note(format!("witness: {}", inputs.join(", "))).note(format!("result: {}", without_place(&w.message)));
            }
            if section == Some("cut") {
                d = with_cuts(d, checked, o.func);
            }
            Some(d.help(help).more(read(code, section)))
        }
    };
    report.functions.iter().flat_map(|f| &f.obligations).filter_map(of).collect()
}

/// Where the prover contradicts itself: a fault of ours, that says nothing of the program.
pub fn prover_fault(checked: &Checked, report: &Report) -> Option<Failure> {
    let o = report.faults().next()?;
    let Outcome::Fault { engine, reason, witness } = &o.outcome else { return None };
    let place = span(o.loc).map_or(String::new(), |s| {
        let (line, column) = checked.sources.line_col(s.file, s.start);
        format!(" ({}:{line}:{column})", checked.sources.name(s.file))
    });
    let mut text = format!("engine {} is wrong about `{}` in {}{place}: {reason}", engine.name(), o.text, checked.name(o.func));
    if let Some(w) = witness {
        let inputs: Vec<String> = w.inputs.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        text.push_str(&format!("\n  witness: {}\n  result: {}", inputs.join(", "), without_place(&w.message)));
    }
    Some(Failure::internal("prove", text))
}

/// Contracts and assertions that hold for want of an input. `strict`: errors instead of warnings.
pub fn vacuous(checked: &Checked, report: &Report, strict: bool) -> Vec<Diagnostic> {
    let of = |(func, v): (FuncId, &Vacuous)| {
        let (title, why, help) = match v.why {
            Why::Requires => ("no input meets what a function requires", "these conditions exclude each other", "correct the `requires`: as they stand the function can never be called"),
            Why::Unreached => ("an assertion is never reached", "no input gets here", "assert it where inputs get, or leave it out"),
        };
        let d = if strict { Diagnostic::error("vacuous", title) } else { Diagnostic::warning("vacuous", title) };
        let d = match span(v.loc) {
            Some(s) => d.at(s, why),
            None => d.note(format!("why: {why}")),
        };
        d.note(format!("condition: {}", v.text)).note(format!("function: {}", checked.name(func))).help(help)
    };
    report.vacuous().map(of).collect()
}

/// The message of a run without its numeric place: the place is shown above.
fn without_place(message: &str) -> &str {
    message.split(" (file ").next().unwrap_or(message)
}

/// Where a claim about few values would cut the proof.
fn with_cuts(d: Diagnostic, checked: &Checked, func: FuncId) -> Diagnostic {
    let places = narrow(&checked.program, checked.program.func(func));
    places.into_iter().filter_map(|n| Some((span(n.loc)?, n.names))).fold(d, |d, (place, values)| {
        let names: Vec<String> = values.iter().map(|v| format!("`{v}`")).collect();
        d.also(place, format!("cut behind this: only {} {} on", names.join(", "), if names.len() == 1 { "goes" } else { "go" }))
    })
}

fn with_origin(mut d: Diagnostic, origin: &Origin) -> Diagnostic {
    let bound = |b: &Option<BigInt>| b.as_ref().map_or("?".to_string(), ToString::to_string);
    if let Some((lo, hi)) = &origin.wanted {
        d = d.note(format!("declared: int in {lo}..{hi}"));
    }
    d = d.note(format!("found: {} in {}..{}", origin.site, bound(&origin.found.0), bound(&origin.found.1)));
    for (operand, range) in &origin.operands {
        d = d.note(format!("operand: {operand} in {range}"));
    }
    let elsewhere = origin.declared_at.and_then(span).filter(|s| d.primary.as_ref().is_none_or(|(p, _)| p != s));
    if let Some(s) = elsewhere {
        d = d.also(s, "declared here");
    }
    d
}
