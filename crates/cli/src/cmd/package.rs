//! `santoku package`

use super::dist::{not_made, not_proved};
use super::lab_common::{failure, tree, Progress};
use crate::{files, report};
use santoku_driver::Failure;
use santoku_packages::Package;
use serde_json::json;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Args {
    /// A folder of `packages/`
    name: String,
    /// Folder that is made [default: build/packages/NAME]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Proves the primitives of a package, then makes it. Exit 1, and nothing made, if anything is open or not accepted by the judge.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let tree = tree()?;
    let package = Package::read(&tree, &args.name).map_err(failure)?;
    if let Some(why) = not_proved(&tree, &package.primitives)? {
        return Ok(not_made(why));
    }
    let made = {
        let _progress = Progress::start("package", "making the package");
        package.assemble(&tree).map_err(failure)?
    };
    if let Some(line) = made.believed.first() {
        return Ok(not_made(&format!("the judge does not accept {line}")));
    }
    let folder = args.output.clone().unwrap_or_else(|| tree.root.join("build/packages").join(&args.name));
    files::write_all(&folder, &made.files)?;
    report::out(&format!("{} files in {}\n", made.files.len(), folder.display()));
    report::answer(&json!({ "folder": folder, "files": made.files.iter().map(|(name, _)| name).collect::<Vec<_>>() }))?;
    Ok(report::DONE)
}
