//! `santoku check`

use super::common::{check, Source};
use crate::report;
use santoku_driver::Failure;

#[derive(clap::Args)]
pub struct Args {
    /// The program
    file: String,
    #[command(flatten)]
    source: Source,
}

/// Prints how much was checked.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let checked = check(&args.source, &args.file)?;
    let p = &checked.program;
    report::out(&format!("{}: {} functions, {} tests, {} files\n", args.file, p.funcs.len() - p.tests.len(), p.tests.len(), p.files.len()));
    Ok(report::DONE)
}
