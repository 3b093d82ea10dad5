//! `santoku package`

use super::dist::not_proved;
use super::lab_common::{failure, tree, Progress};
use crate::{files, report};
use santoku_driver::Failure;
use santoku_packages::Package;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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
        report::err(&format!("error: not made, because {why}\n"));
        return Ok(report::FAILED);
    }
    let made = {
        let _progress = Progress::start("package", "making the package");
        package.assemble(&tree).map_err(failure)?
    };
    if let Some(line) = made.believed.first() {
        report::err(&format!("error: not made, because the judge does not accept {line}\n"));
        return Ok(report::FAILED);
    }
    let folder = args.output.clone().unwrap_or_else(|| tree.root.join("build/packages").join(&args.name));
    write(&folder, &made.files)?;
    report::out(&format!("{} files in {}\n", made.files.len(), folder.display()));
    report::answer(&json!({ "folder": folder, "files": made.files.iter().map(|(path, _)| path).collect::<Vec<_>>() }))?;
    Ok(report::DONE)
}

fn write(folder: &Path, all: &[(PathBuf, String)]) -> Result<(), Failure> {
    let mut folders: BTreeMap<PathBuf, Vec<(String, String)>> = BTreeMap::new();
    for (path, text) in all {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        folders.entry(folder.join(path.parent().unwrap_or(Path::new("")))).or_default().push((name, text.clone()));
    }
    folders.iter().try_for_each(|(folder, files)| files::write_all(folder, files))
}
