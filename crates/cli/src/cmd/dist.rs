//! `santoku dist`

use super::lab_common::{failure, tree, Progress};
use crate::{files, report};
use santoku_driver::Failure;
use santoku_workbench::dist::{first_difference, units, Difference};

#[derive(clap::Args)]
pub struct Args {
    /// Primitive, such as `nacl.sign`; default: all
    name: Option<String>,
    /// Write nothing; exit code 1 and the first differing file, if the kept files are not as made
    #[arg(long)]
    check: bool,
}

/// Makes `dist/c/`, or compares it.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let tree = tree()?;
    let chosen = match &args.name {
        Some(name) => tree.primitive(name).map(|p| vec![p]),
        None => tree.primitives(),
    };
    let chosen = chosen.map_err(failure)?;
    let made = {
        let _progress = Progress::start("making dist");
        units(&tree, &chosen).map_err(failure)?
    };
    if args.check {
        let found = first_difference(&tree, &made, args.name.is_none()).map_err(failure)?;
        let Some((path, difference)) = found else {
            let count: usize = made.iter().map(|u| u.files.len()).sum();
            report::out(&format!("{count} files as made\n"));
            return Ok(report::DONE);
        };
        let how = match difference {
            Difference::Missing => "is missing".to_string(),
            Difference::Surplus => "is made by nothing".to_string(),
            Difference::Line { line, kept, made } => format!("differs from what is made, first in line {line}\n  kept: {kept}\n  made: {made}"),
        };
        report::err(&format!("{} {how}\nrun `santoku dist` and look at the difference\n", path.display()));
        return Ok(report::FAILED);
    }
    for unit in &made {
        files::write_all(&tree.root.join(&unit.folder), &unit.files)?;
        for (name, _) in &unit.files {
            report::out(&format!("{}\n", unit.folder.join(name).display()));
        }
    }
    Ok(report::DONE)
}
