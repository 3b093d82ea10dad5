//! `santoku fmt`

use super::common::named_or_project;
use crate::{files, report};
use santoku_diag::Sources;
use santoku_driver::Failure;
use serde_json::json;
use std::path::Path;

#[derive(clap::Args)]
pub struct Args {
    /// Change nothing; name the files that are not formatted, and exit with 1 if there are any
    #[arg(long)]
    check: bool,
    /// Files, and folders with `.stk` files; `-` alone: standard input, formatted to standard output; default: the modules of the project
    files: Vec<String>,
}

/// Formats all files, or none if one has errors.
pub fn run(args: &Args) -> Result<u8, Failure> {
    report::stage("fmt");
    if args.files == ["-"] {
        return stdin(args.check);
    }
    let paths = files::collect(&named_or_project(&args.files)?)?;
    let mut sources = Sources::default();
    let mut errors = Vec::new();
    let mut changed = Vec::new();
    for path in &paths {
        let text = files::read_entry(path)?;
        let file = sources.add(path.as_str(), text.as_str());
        match santoku_syntax::format(file, &text) {
            Ok(new) if new == text => {}
            Ok(new) => changed.push((path, new)),
            Err(mut e) => errors.append(&mut e),
        }
    }
    if !errors.is_empty() {
        return Err(Failure::Refused { sources, diagnostics: errors });
    }
    report::answer(&json!({ "changed": changed.iter().map(|(path, _)| path).collect::<Vec<_>>() }))?;
    for (path, new) in &changed {
        report::out(&format!("{path}\n"));
        if !args.check {
            write(path, new)?;
        }
    }
    Ok(if args.check && !changed.is_empty() { report::FAILED } else { report::DONE })
}

/// Formats what comes in.
fn stdin(check: bool) -> Result<u8, Failure> {
    let text = files::read_stdin()?;
    let mut sources = Sources::default();
    let file = sources.add("<stdin>", text.as_str());
    match santoku_syntax::format(file, &text) {
        Ok(new) => {
            report::answer(&json!({ "text": new, "changed": new != text }))?;
            if check {
                return Ok(if new == text { report::DONE } else { report::FAILED });
            }
            report::out(&new);
            Ok(report::DONE)
        }
        Err(diagnostics) => Err(Failure::Refused { sources, diagnostics }),
    }
}

fn write(path: &str, text: &str) -> Result<(), Failure> {
    let path = Path::new(path);
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    files::write_all(folder, &[(name, text.to_string())])
}
