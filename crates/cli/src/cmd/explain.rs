//! `santoku explain`

use crate::report;
use santoku_diag::{Diagnostic, Sources, CODES};
use santoku_driver::Failure;

include!(concat!(env!("OUT_DIR"), "/pages.rs"));

#[derive(clap::Args)]
pub struct Args {
    /// The code between brackets in a message; without it, all codes
    code: Option<String>,
}

/// Prints the page of a code.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let Some(code) = &args.code else {
        report::out(&CODES.iter().map(|(c, summary)| format!("{c:<22} {summary}\n")).collect::<String>());
        return Ok(report::DONE);
    };
    let Some((_, page)) = PAGES.iter().find(|(c, _)| c == code) else {
        let d = Diagnostic::error("unknown-code", format!("there is no diagnostic `{code}`"));
        return Err(Failure::refused(&Sources::default(), d.help("`santoku explain` without a code lists them all")));
    };
    report::out(page);
    Ok(report::DONE)
}
