//! `santoku prove`

use super::common::{each_target, load_for, named_or_project, warned, Source};
use crate::cache::Cache;
use crate::{files, report};
use indicatif::ProgressBar;
use santoku_driver::{interface, printable, open_obligations, prove, prover_fault, vacuous, Checked, Failure, Report, Store};
use santoku_workbench::parallel;
use serde::Serialize;

#[derive(clap::Args)]
pub struct Args {
    /// Files, and folders with `.stk` files; default: the modules of the project
    paths: Vec<String>,
    /// Prove everything anew
    #[arg(long)]
    no_cache: bool,
    /// Threads
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=64))]
    threads: u8,
    #[command(flatten)]
    source: Source,
}

/// What `--json` prints. `report` is the prover's own form, see `santoku_prove::Report::json`.
#[derive(Serialize)]
struct Json {
    holds: bool,
    obligations: usize,
    programs: Vec<JsonProgram>,
}

#[derive(Serialize)]
struct JsonProgram {
    program: String,
    target: String,
    report: serde_json::Value,
}

/// Proves each file with what it imports. Exit 1 if anything is open, or if there is nothing to prove.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let cache = if args.no_cache { Cache::in_memory() } else { Cache::of_user() };
    let mut json = Json { holds: true, obligations: 0, programs: Vec::new() };
    let (mut open, mut accepted, mut functions, mut clauses) = (0, 0, 0, (0, 0));
    let threads = usize::from(args.threads);
    let paths = files::collect(&named_or_project(&args.paths)?)?;
    let programs = each_target(&args.source, &paths)?;
    let progress = spinner();
    let work = |(path, target): &(String, String)| -> Result<_, Failure> {
        let checked = load_for(&args.source, path, target)?;
        progress.set_message(format!("proving {path}"));
        let found = interface(&checked).and_then(|()| proved(&checked, &cache, threads));
        Ok((checked, found))
    };
    let take = |(path, target): &(String, String), done: Result<(Checked, Result<Report, Failure>), Failure>| progress.suspend(|| {
        let (checked, found) = done?;
        let (checked, found) = (warned(checked), found?);
        json.obligations += found.total();
        open += found.failed().count();
        accepted += found.accepted();
        functions += found.functions.len();
        clauses = (clauses.0 + found.clauses().0, clauses.1 + found.clauses().1);
        if report::json() {
            let value = serde_json::from_str(&found.json()).map_err(|e| Failure::internal("prove", e.to_string()))?;
            json.programs.push(JsonProgram { program: path.clone(), target: target.clone(), report: value });
        } else if found.total() > 0 {
            let which = if programs.len() > paths.len() { format!("{path} for {target}") } else { path.clone() };
            report::out(&format!("{which}\n{}\n", found.table()));
        }
        show_open(&checked, &found);
        if found.failed().next().is_none() {
            has_c(&checked, path, args.paths.contains(path))?;
        }
        show_unrun(&found);
        show_declassified(&found);
        show_refused(&found);
        show_resting(&found);
        Ok(())
    });
    let done = parallel::in_order(&programs, threads, work, take);
    progress.finish_and_clear();
    done?;
    json.holds = open == 0 && json.obligations > 0;
    if report::json() {
        report::answer(&json)?;
    } else {
        report::out(&format!("{} obligations, {} proved, {open} open\n", json.obligations, json.obligations - open));
        if functions > 0 {
            report::out(&format!("the judge accepts {accepted} of {} as safe\n", self::functions(functions)));
        }
        if clauses.1 > 0 {
            report::out(&format!("the judge of meaning accepts {} of {} clauses of contracts\n", clauses.0, clauses.1));
        }
    }
    if json.obligations == 0 {
        report::err("error: there is nothing to prove; a proof of nothing is no success\n");
    }
    Ok(if json.holds { report::DONE } else { report::FAILED })
}

/// A program that was asked for by name has C for its target; of a folder, what has none is said.
fn has_c(checked: &Checked, path: &str, named: bool) -> Result<(), Failure> {
    match printable(checked) {
        Err(Failure::Refused { diagnostics, .. }) if !named => {
            let why = diagnostics.first().map_or(String::new(), |d| format!(": {}", d.title));
            report::err(&format!("note: {path} has no C for this target{why}\n"));
            Ok(())
        }
        other => other,
    }
}

/// Functions whose proof no run on an input stands beside.
fn show_unrun(found: &Report) {
    let names: Vec<&str> = found.unrun().map(|f| f.name.as_str()).collect();
    if !names.is_empty() {
        report::err(&format!("note: {} proved without a run on any input: {}\n", functions(names.len()), names.join(", ")));
    }
}

/// What is public by its author's word.
fn show_declassified(found: &Report) {
    for (name, loc) in &found.declassified {
        let file = found.files.get(loc.file as usize).map_or("", String::as_str);
        report::err(&format!("note: {name} declassifies its result ({file}:{}): that it may be seen is not proved\n", loc.line));
    }
}

/// Functions whose safety rests on the engines, because the judge cannot follow them. Whether there are any.
pub fn show_refused(found: &Report) -> bool {
    let mut any = false;
    for (f, why) in found.refused() {
        any = true;
        report::err(&format!("note: the safety of {} rests on the engines of the prover; the judge cannot follow it: {why}\n", f.name));
    }
    any
}

/// Clauses of contracts that rest on the engines, because the judge of meaning does not find them again.
pub fn show_resting(found: &Report) {
    for (f, open) in found.resting() {
        report::err(&format!("note: {} rests on the engines of the prover in {}\n", f.name, open.join("; ")));
    }
}

fn functions(n: usize) -> String {
    if n == 1 { "1 function".into() } else { format!("{n} functions") }
}

/// The messages of what is vacuous and of what is open.
pub fn show_open(checked: &Checked, found: &Report) {
    let mut all = vacuous(checked, found, false);
    all.extend(open_obligations(checked, found));
    if !all.is_empty() {
        report::diagnostics(&all, &checked.sources);
    }
}

/// Proves with a sign of life on a terminal.
pub fn with_progress(path: &str, checked: &Checked, store: &dyn Store, threads: usize) -> Result<Report, Failure> {
    let progress = spinner().with_message(format!("proving {path}"));
    let found = proved(checked, store, threads);
    progress.finish_and_clear();
    found
}

fn spinner() -> ProgressBar {
    let progress = ProgressBar::new_spinner();
    progress.enable_steady_tick(std::time::Duration::from_millis(200));
    progress
}

/// A prover that contradicts itself is a fault of ours.
fn proved(checked: &Checked, store: &dyn Store, threads: usize) -> Result<Report, Failure> {
    report::stage("prove");
    let found = prove(checked, store, threads);
    prover_fault(checked, &found).map_or(Ok(found), Err)
}
