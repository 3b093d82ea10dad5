//! `santoku explain`

use crate::report;
use santoku_diag::{Diagnostic, Sources, CODES};
use santoku_driver::Failure;
use serde_json::json;

include!(concat!(env!("OUT_DIR"), "/pages.rs"));

#[derive(clap::Args)]
pub struct Args {
    /// The code between brackets in a message, or `proof` for how to get one; without it, all codes
    code: Option<String>,
    /// A section of `proof`
    section: Option<String>,
}

/// `docs/how-to-get-a-proof.md`.
const PROOF: &str = include_str!("../../../../docs/how-to-get-a-proof.md");

/// Prints the page of a code.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let Some(code) = &args.code else {
        report::out("proof                  how to get a proof, with examples\n");
        let codes: Vec<_> = CODES.iter().map(|(code, summary)| json!({ "code": code, "summary": summary })).collect();
        report::answer(&json!({ "codes": codes }))?;
        report::out(&CODES.iter().map(|(c, summary)| format!("{c:<22} {summary}\n")).collect::<String>());
        return Ok(report::DONE);
    };
    if code == "proof" {
        return proof(args.section.as_deref());
    }
    let Some((_, page)) = PAGES.iter().find(|(c, _)| c == code) else {
        let d = Diagnostic::error("unknown-code", format!("there is no diagnostic `{code}`"));
        return Err(Failure::refused(&Sources::default(), d.help("`santoku explain` without a code lists them all")));
    };
    report::out(page);
    report::answer(&json!({ "code": code, "page": page }))?;
    Ok(report::DONE)
}

/// Names and texts of the sections, each headed by `## name: ...`.
fn sections() -> impl Iterator<Item = (&'static str, &'static str)> {
    PROOF.split("\n## ").skip(1).filter_map(|s| Some((s.split_once(':')?.0, s)))
}

/// Prints the page, or one section of it.
fn proof(section: Option<&str>) -> Result<u8, Failure> {
    let Some(wanted) = section else {
        report::out(PROOF);
        report::answer(&json!({ "code": "proof", "page": PROOF }))?;
        return Ok(report::DONE);
    };
    let Some((_, text)) = sections().find(|(name, _)| *name == wanted) else {
        let names: Vec<&str> = sections().map(|(name, _)| name).collect();
        let d = Diagnostic::error("unknown-code", format!("`proof` has no section `{wanted}`")).note(format!("sections: {}", names.join(", ")));
        return Err(Failure::refused(&Sources::default(), d.help("`santoku explain proof` prints them all")));
    };
    let page = format!("## {}\n", text.trim_end());
    report::out(&page);
    report::answer(&json!({ "code": "proof", "section": wanted, "page": page }))?;
    Ok(report::DONE)
}
