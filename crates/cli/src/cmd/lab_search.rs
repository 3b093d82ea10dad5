//! `santoku lab search`

use super::lab_common::{failure, Progress};
use crate::{files, report};
use santoku_driver::Failure;
use santoku_target::schedule;
use santoku_workbench::primitives::Tree;
use santoku_workbench::search::{self, Wish};
use santoku_workbench::BenchError;

#[derive(clap::Args)]
pub struct SearchArgs {
    /// Primitive by its name in `lib/primitives.toml`; an unknown name lists those there are
    name: String,
    /// The file of `tuned/` that the assembly is made for, and that the search writes
    #[arg(long)]
    target: String,
    /// Where the search goes: the same seed from the same file goes the same way, with any number of threads
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Rounds; each tries eight changed programs. A search may be stopped at any time, and goes on from what it has written
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    rounds: u32,
    /// Write nothing
    #[arg(long)]
    dry_run: bool,
}

pub fn run(tree: &Tree, args: &SearchArgs) -> Result<u8, Failure> {
    let wish = Wish { target: args.target.clone(), seed: args.seed, rounds: args.rounds as usize };
    let name = format!("{}.toml", args.target);
    let folder = tree.root.join("tuned");
    let path = format!("tuned/{name}");
    let found = {
        let progress = Progress::start("lab", "searching");
        let mut keep = |all: &schedule::Schedules| {
            if args.dry_run {
                return Ok(());
            }
            let text = schedule::replaced(&tree.read(&path)?, all);
            files::write_all(&folder, &[(name.clone(), text)]).map_err(BenchError::from)
        };
        search::run(tree, &args.name, &wish, &|what| progress.tell(what), &mut keep).map_err(failure)?
    };
    report::out(&found.text());
    report::out(&if args.dry_run { "nothing written\n".into() } else { format!("written: {path}; `santoku dist` makes the assembly, `santoku lab certify` proves it\n") });
    report::answer(&serde_json::json!({ "operations": found.operations, "before": found.before.measures, "after": found.after.measures, "programs": found.tried, "taken": found.taken }))?;
    Ok(report::DONE)
}
