//! `santoku lab mutants`

use super::lab_common::{failure, levels, stamp, Progress};
use crate::report;
use santoku_driver::Failure;
use santoku_workbench::mutants::Counts;
use santoku_workbench::mutants_job::{compressed, run as ask, total, quick, write_record, Wish, SYMBOLS};
use santoku_workbench::primitives::Tree;

#[derive(clap::Args)]
pub struct MutantsArgs {
    /// Changes of each function of each object
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    each: u32,
    /// Levels of the C compilers, separated by commas
    #[arg(long = "level", value_name = "LEVELS", default_value = "O1,O2,O3,Os")]
    levels: String,
    /// Only these functions, by symbol, separated by commas; default: some that are proved in a moment
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    function: Vec<String>,
    /// Keep no record below `lab/runs/`
    #[arg(long)]
    no_record: bool,
}

/// Exit 0 if no change passed that a run tells from the original, 1 otherwise.
pub fn run(tree: &Tree, args: &MutantsArgs) -> Result<u8, Failure> {
    let levels = levels(&args.levels)?;
    let known = quick(tree).map_err(failure)?;
    let named = if args.function.is_empty() { &known } else { &args.function };
    let functions: Vec<&str> = named.iter().map(String::as_str).collect();
    let rows = {
        let progress = Progress::start("mutants", "changing");
        let each = Counts { instructions: args.each as usize, objects: args.each as usize, symbols: SYMBOLS };
        let wish = Wish { functions: &functions, each, config: &compressed(&levels), seed: 0 };
        ask(tree, &wish, &|what| progress.tell(what)).map_err(failure)?
    };
    let sum = total(&rows);
    for (what, lines) in [("passed, equal on all inputs run", &sum.equal), ("PASSED AND WRONG", &sum.accepted)] {
        lines.iter().for_each(|line| report::out(&format!("{what}: {line}\n")));
    }
    report::out(&format!("{sum}\n"));
    report::answer(&sum)?;
    if !args.no_record {
        let path = write_record(tree, &rows, &stamp(tree)).map_err(failure)?;
        report::out(&format!("record: {}\n", path.display()));
    }
    Ok(if sum.holds() { report::DONE } else { report::FAILED })
}
