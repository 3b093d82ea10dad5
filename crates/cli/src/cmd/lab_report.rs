//! `santoku lab report`

use super::lab_common::{failure, Progress};
use crate::{files, report};
use santoku_driver::Failure;
use santoku_workbench::primitives::Tree;
use santoku_workbench::{profile, release_report};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct ReportArgs {
    /// Folder for the page and its pictures
    #[arg(short = 'o', value_name = "DIR", default_value = "build/report")]
    out: PathBuf,
    /// No flame graphs: nothing is compiled or run
    #[arg(long)]
    no_profiles: bool,
}

/// Writes the page of a release: tables and pictures of the newest records, proofs, and flame graphs of what is shipped.
pub fn run(tree: &Tree, args: &ReportArgs) -> Result<u8, Failure> {
    let (mut flames, mut all) = (vec![], vec![]);
    if !args.no_profiles {
        let progress = Progress::start("lab", "profiling");
        for p in tree.shipped().map_err(failure)?.iter().filter(|p| !p.tables.is_empty()) {
            progress.tell(&p.name);
            let found = profile::run(tree, &p.name, &profile::Wish::default()).map_err(failure)?;
            let file = format!("{}-flames.svg", p.name);
            flames.push((format!("{}, {} cycles", p.title, found.cycles), file.clone()));
            all.push((file, found.svg));
        }
    }
    all.extend(release_report::report(tree, &flames).map_err(failure)?);
    all.push(("sign-cycles.svg".into(), release_report::front(tree).map_err(failure)?.1));
    files::write_all(&args.out, &all)?;
    let paths: Vec<PathBuf> = all.iter().map(|(name, _)| args.out.join(name)).collect();
    paths.iter().for_each(|p| report::out(&format!("{}\n", p.display())));
    report::answer(&serde_json::json!({ "files": paths }))?;
    Ok(report::DONE)
}
