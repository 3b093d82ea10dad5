//! `santoku trust`

use crate::report;
use santoku_driver::Failure;
use santoku_trust::Claim;
use std::fmt::Write;

#[derive(clap::Args)]
pub struct Args {
    /// Name every file, too
    #[arg(long)]
    files: bool,
}

/// Derived from the sources of this very command when it was built.
const CLAIMS: &str = include_str!(concat!(env!("OUT_DIR"), "/trust.json"));

/// Prints, for each claim, what is believed.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let internal = |e: serde_json::Error| Failure::internal("trust", e.to_string());
    let claims: Vec<Claim> = serde_json::from_str(CLAIMS).map_err(internal)?;
    report::out(&table(&claims, args.files));
    report::answer(&serde_json::json!({ "claims": claims }))?;
    Ok(report::DONE)
}

fn table(claims: &[Claim], files: bool) -> String {
    let mut out = String::from("What is believed for each claim: lines of code (no blank lines, comments or tests), SHA-256 of the sources.\n");
    for c in claims {
        let _ = writeln!(out, "\n{}: {}", c.name, c.what);
        for part in &c.components {
            let _ = writeln!(out, "  {:<12} {:>6}  {}", part.name, part.lines, &part.digest[..16]);
            for (path, lines) in part.files.iter().filter(|_| files) {
                let _ = writeln!(out, "    {lines:>5} {path}");
            }
        }
        let _ = writeln!(out, "  {:<12} {:>6}  beside {}", "together", c.lines, if c.outside.is_empty() { "nothing".into() } else { c.outside.join(", ") });
    }
    out
}
