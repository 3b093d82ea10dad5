//! `santoku test`

use super::common::{check, named_or_project, Limit, Source};
use crate::{files, report};
use indicatif::ProgressBar;
use santoku_driver::{run_tests, Failure, TestOutcome};
use serde::Serialize;
use santoku_syntax::ast::ItemKind;

#[derive(clap::Args)]
pub struct Args {
    /// Files, and folders with `.stk` files; default: the modules of the project
    paths: Vec<String>,
    /// Run only tests whose name contains this
    #[arg(long)]
    only: Option<String>,
    #[command(flatten)]
    limit: Limit,
    #[command(flatten)]
    source: Source,
}

#[derive(Default, Serialize)]
struct Count {
    passed: usize,
    failed: usize,
    tests: Vec<Done>,
}

/// One test, for `--json`.
#[derive(Serialize)]
struct Done {
    program: String,
    name: String,
    passed: bool,
    /// Clauses of contracts that were too large to evaluate, by the times they were met.
    not_decided: u64,
}

/// Runs all tests in the interpreter with contracts checked. No test at all is a failure.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let mut count = Count::default();
    for path in files::collect(&named_or_project(&args.paths)?)? {
        if has_tests(&files::read_entry(&path)?) {
            run_file(args, &path, &mut count)?;
        }
    }
    report::out(&format!("{} passed, {} failed\n", count.passed, count.failed));
    report::answer(&count)?;
    if count.passed + count.failed == 0 {
        report::err("error: there is no test to run; a `test \"name\" { .. }` block is one\n");
        return Ok(report::FAILED);
    }
    Ok(if count.failed > 0 { report::FAILED } else { report::DONE })
}

/// A file with errors may have tests: compiling it tells the errors.
fn has_tests(text: &str) -> bool {
    let (file, errors) = santoku_syntax::parse(santoku_diag::FileId(0), text);
    !errors.is_empty() || file.items.iter().any(|i| matches!(i.kind, ItemKind::Test { .. }))
}

fn run_file(args: &Args, path: &str, count: &mut Count) -> Result<(), Failure> {
    let mut checked = check(&args.source, path)?;
    if let Some(part) = &args.only {
        checked.program.tests.retain(|t| t.name.contains(part.as_str()));
    }
    report::stage("interpreter");
    // Hidden unless stderr is a terminal.
    let progress = ProgressBar::new_spinner().with_message(path.to_string());
    progress.enable_steady_tick(std::time::Duration::from_millis(200));
    let mut each = |t: &TestOutcome| {
        let open = t.stats.contracts_unevaluated + t.stats.inner_unevaluated;
        count.tests.push(Done { program: path.to_string(), name: t.name.clone(), passed: t.failure.is_none(), not_decided: open });
        progress.suspend(|| match &t.failure {
            None => {
                count.passed += 1;
                report::out(&format!("ok    {path}: {}\n", t.name));
                if open > 0 {
                    report::err(&format!("note: {path}: {}: not decided: {open} times a clause of a contract was too large to evaluate\n", t.name));
                }
            }
            Some(d) => {
                count.failed += 1;
                report::out(&format!("FAIL  {path}: {}\n", t.name));
                report::diagnostic(d, &checked.sources);
            }
        });
    };
    run_tests(&checked, args.limit.steps, &mut each)?;
    progress.finish_and_clear();
    Ok(())
}
