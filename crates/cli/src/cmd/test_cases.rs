//! Tests with cases in files, and tests as C.

use super::lab_common::failure;
use crate::{files, report};
use indicatif::ProgressBar;
use santoku_diag::Diagnostic;
use santoku_driver::{run_case, span, Checked, Failure};
use santoku_ir::Test;
use santoku_target::Level;
use santoku_workbench::cases::{suite, Case, Suite};
use santoku_workbench::on_target::run_all;
use serde::Serialize;
use std::collections::BTreeMap;

/// What was run, for the last line and `--json`.
#[derive(Default, Serialize)]
pub struct Count {
    pub passed: usize,
    pub failed: usize,
    pub tests: Vec<Done>,
}

/// One test.
#[derive(Serialize)]
pub struct Done {
    program: String,
    name: String,
    /// The target; none: in the interpreter.
    on: Option<String>,
    passed: bool,
    /// Clauses of contracts that were too large to evaluate, by the times they were met.
    not_decided: u64,
    /// Cases of a file: how many ran, how many failed, how many the test cannot take, by the reason.
    cases: Option<usize>,
    failed_cases: usize,
    left_out: BTreeMap<String, usize>,
}

impl Count {
    fn done(&mut self, program: &str, name: &str, passed: bool, on: Option<&str>) -> &mut Done {
        *(if passed { &mut self.passed } else { &mut self.failed }) += 1;
        let done = Done { program: program.into(), name: name.into(), on: on.map(str::to_string), passed, not_decided: 0, cases: None, failed_cases: 0, left_out: BTreeMap::new() };
        self.tests.push(done);
        let last = self.tests.len() - 1;
        &mut self.tests[last]
    }
}

/// Failures shown of one test.
const SHOWN: usize = 3;

/// The cases of a test, from its file.
fn cases(checked: &Checked, test: &Test, path: &str) -> Result<Suite, Failure> {
    let Some(given) = &test.cases else {
        return Ok(Suite { cases: vec![Case { id: String::new(), args: vec![] }], left_out: BTreeMap::new() });
    };
    let file = files::join(&files::parent(std::path::Path::new(path)), &given.file);
    let refused = |d: Diagnostic| {
        let d = d.note(format!("test: {}", test.name));
        Failure::refused(&checked.sources, match span(checked.program.func(test.func).loc) {
            Some(place) => d.at(place, "this test"),
            None => d,
        })
    };
    let text = match files::read_cases(&file).map_err(refused)? {
        Some(text) => text,
        None => return Err(refused(files::no_file(&file).help("the path is taken from the folder of the program"))),
    };
    suite(&checked.program, test, &file, &text).map_err(|why| {
        let d = Diagnostic::error("bad-vectors", format!("`{file}` does not give this test its cases"));
        refused(d.note(format!("why: {why}")).help("`santoku explain bad-vectors` says what is read and how"))
    })
}

/// A message that names the case of a file; the only run of a test without one has no name.
fn with_case(d: Diagnostic, id: &str) -> Diagnostic {
    if id.is_empty() { d } else { d.note(format!("case: {id}")) }
}

/// Runs a test in the interpreter, on each of its cases.
pub fn interpreted(checked: &Checked, test: &Test, path: &str, steps: u64, progress: &ProgressBar, count: &mut Count) -> Result<(), Failure> {
    let suite = cases(checked, test, path)?;
    report::stage("interpreter");
    let (mut wrong, mut open) = (vec![], 0);
    for (n, case) in suite.cases.iter().enumerate() {
        progress.set_message(format!("{path}: {}: {} of {} cases", test.name, n, suite.cases.len()));
        let done = run_case(checked, test, case.args.clone(), steps)?;
        open += done.stats.contracts_unevaluated + done.stats.inner_unevaluated;
        wrong.extend(done.failure.map(|d| with_case(d, &case.id)));
    }
    progress.suspend(|| {
        tell(checked, path, test, None, &suite, &wrong, count).not_decided = open;
        if open > 0 && wrong.is_empty() {
            report::err(&format!("note: {path}: {}: not decided: {open} times a clause of a contract was too large to evaluate\n", test.name));
        }
    });
    Ok(())
}

/// Builds all tests of a program as C, and runs them on its target.
pub fn on_target(checked: &Checked, path: &str, target: &str, progress: &ProgressBar, count: &mut Count) -> Result<(), Failure> {
    let suites: Vec<Suite> = checked.program.tests.iter().map(|t| cases(checked, t, path)).collect::<Result<_, _>>()?;
    report::stage("lab");
    let all: Vec<Vec<Case>> = suites.iter().map(|s| s.cases.clone()).collect();
    let done = run_all(checked, &all, Level::O2, &|what| progress.set_message(format!("{path} on {target}: {what}"))).map_err(failure)?;
    for ((test, suite), outcome) in checked.program.tests.iter().zip(&suites).zip(done) {
        let wrong: Vec<Diagnostic> = outcome.cases.iter().filter_map(|c| Some((c, c.wrong.as_ref()?))).map(|(case, (text, loc))| {
            let d = Diagnostic::error("run-assert", "an assertion does not hold").note(format!("on: {target}, as C"));
            let d = with_case(d, &case.id).help("run the test in the interpreter: if it passes there, please report this");
            match span(*loc) {
                Some(place) => d.at(place, format!("assertion failed: {text}")),
                None => d.note(format!("assertion: {text}")),
            }
        }).collect();
        if outcome.made == 0 {
            progress.suspend(|| report::out(&format!("skip  {path}: {} (on {target}, it has no assertion but ghost text)\n", test.name)));
            continue;
        }
        progress.suspend(|| {
            tell(checked, path, test, Some(target), suite, &wrong, count);
            if outcome.ghost > 0 {
                report::err(&format!("note: {path}: {}: {} assertions of ghost text are for the interpreter alone\n", test.name, outcome.ghost));
            }
        });
    }
    Ok(())
}

fn tell<'c>(checked: &Checked, path: &str, test: &Test, on: Option<&str>, suite: &Suite, wrong: &[Diagnostic], count: &'c mut Count) -> &'c mut Done {
    let mut more = on.map(|target| format!("on {target}")).into_iter().collect::<Vec<_>>();
    if test.cases.is_some() {
        more.push(if wrong.is_empty() { format!("{} cases", suite.cases.len()) } else { format!("{} of {} cases fail", wrong.len(), suite.cases.len()) });
        let left: usize = suite.left_out.values().sum();
        if left > 0 {
            let why: Vec<String> = suite.left_out.iter().map(|(why, n)| format!("{why}: {n}")).collect();
            more.push(format!("{left} left out: {}", why.join("; ")));
        }
    }
    let more = if more.is_empty() { String::new() } else { format!(" ({})", more.join(", ")) };
    report::out(&format!("{} {path}: {}{more}\n", if wrong.is_empty() { "ok   " } else { "FAIL " }, test.name));
    wrong.iter().take(SHOWN).for_each(|d| report::diagnostic(d, &checked.sources));
    let done = count.done(path, &test.name, wrong.is_empty(), on);
    done.cases = test.cases.is_some().then_some(suite.cases.len());
    done.failed_cases = wrong.len();
    done.left_out.clone_from(&suite.left_out);
    done
}
