//! `santoku lab differential`

use super::lab_common::{failure, Progress};
use crate::report;
use santoku_driver::Failure;
use santoku_workbench::differential;
use santoku_workbench::primitives::Tree;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(clap::Args)]
pub struct DifferentialArgs {
    /// Primitive with an interface that rivals have, too; an unknown name lists those there are
    name: String,
    /// Calls of a function, with those that make its arguments, for each rival and each width of words
    #[arg(long, default_value_t = 25_000, value_parser = clap::value_parser!(u32).range(1..))]
    cases: u32,
    /// Which inputs; the same number gives the same inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// What `--json` prints of a rival and a width.
#[derive(Serialize)]
struct Row<'a> {
    rival: &'a str,
    flags: String,
    calls: &'a BTreeMap<String, usize>,
    accepted: &'a BTreeMap<String, usize>,
    left_out: usize,
}

/// Exit 0 if no call differs, 1 otherwise.
pub fn run(tree: &Tree, args: &DifferentialArgs) -> Result<u8, Failure> {
    let runs = {
        let progress = Progress::start("differential", "calling");
        differential::run(tree, &args.name, args.cases as usize, args.seed, &|what| progress.tell(what)).map_err(failure)?
    };
    let primitive = tree.primitive(&args.name).map_err(failure)?;
    let (mut rows, mut calls, mut differ) = (vec![], 0, false);
    for run in &runs {
        let what = format!("{} ({})", run.rival, run.flags.join(" "));
        match &run.found {
            Ok(all) => {
                calls += all.calls();
                report::out(&format!("{what}: {} calls of {} functions, {} accepted by both, no difference; {} left out that it refuses\n", all.calls(), all.calls.len(), all.accepted(), all.left_out));
                rows.push(Row { rival: &run.rival, flags: run.flags.join(" "), calls: &all.calls, accepted: &all.accepted, left_out: all.left_out });
            }
            Err(d) => {
                differ = true;
                report::out(&format!("{what}: DIFFERENT, seed {}: {}\n{}\n", args.seed, d.what, differential::describe(&d.plan, &d.functions, &primitive.functions)));
            }
        }
    }
    report::out(&format!("{calls} calls without a difference\n"));
    report::answer(&rows)?;
    Ok(if differ || calls == 0 { report::FAILED } else { report::DONE })
}
