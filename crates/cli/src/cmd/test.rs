//! `santoku test`

use super::common::{check, check_for, named_or_project, Limit, Source};
use super::test_cases::{self, Count};
use crate::{files, report};
use indicatif::ProgressBar;
use santoku_driver::Failure;
use santoku_syntax::ast::ItemKind;

#[derive(clap::Args)]
pub struct Args {
    /// Files, and folders with `.stk` files; default: the modules of the project
    paths: Vec<String>,
    /// Run only tests whose name contains this
    #[arg(long)]
    only: Option<String>,
    /// Run them as C: `c` (this machine), or a target that programs can be run for, such as rv32. Default: in the interpreter
    #[arg(long, value_name = "TARGET", conflicts_with = "target")]
    on: Option<String>,
    #[command(flatten)]
    limit: Limit,
    #[command(flatten)]
    source: Source,
}

/// The target of the machine itself.
const NATIVE: &str = "host64";

/// Runs all tests: in the interpreter, with contracts checked, or as C. No test at all is a failure.
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
    let on = args.on.as_deref().map(|name| if name == "c" { NATIVE } else { name });
    let mut checked = match on {
        Some(target) => check_for(&args.source, path, target)?,
        None => check(&args.source, path)?,
    };
    if let Some(part) = &args.only {
        checked.program.tests.retain(|t| t.name.contains(part.as_str()));
    }
    if checked.program.tests.is_empty() {
        return Ok(());
    }
    // Hidden unless stderr is a terminal.
    let progress = ProgressBar::new_spinner().with_message(path.to_string());
    progress.enable_steady_tick(std::time::Duration::from_millis(200));
    let done = match on {
        Some(target) => test_cases::on_target(&checked, path, target, &progress, count),
        None => checked.program.tests.iter().try_for_each(|test| test_cases::interpreted(&checked, test, path, args.limit.steps, &progress, count)),
    };
    progress.finish_and_clear();
    done
}
