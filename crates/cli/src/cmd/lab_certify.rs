//! `santoku lab certify`

use super::lab_common::{failure, levels, stamp, Progress};
use crate::cache::Cache;
use crate::{files, report};
use santoku_driver::Failure;
use santoku_workbench::certify::{faultless, holds, rows, run as certify, text, write_records, Outside, Wish};
use santoku_workbench::carry::carried;
use santoku_workbench::claims::{with_files, kept, manifest, MANIFEST};
use santoku_workbench::matrix_units::all_units;
use santoku_workbench::parallel;
use santoku_workbench::primitives::Tree;
use serde_json::json;
use std::path::Path;
use std::time::Instant;

#[derive(clap::Args)]
pub struct CertifyArgs {
    /// Primitive, or one program of it with its target behind `@`, as `--list` prints them; default: all
    name: Option<String>,
    /// Print the names of the programs, a line each, and judge nothing
    #[arg(long, conflicts_with = "name")]
    list: bool,
    /// Only compilers of this kind: gcc, clang
    #[arg(long)]
    compiler: Option<String>,
    /// Levels of the C compiler, separated by commas
    #[arg(long = "level", value_name = "LEVELS", default_value = "O1,O2,O3,Os")]
    levels: String,
    /// Only this instruction set, by its name in a file of `targets/`
    #[arg(long)]
    march: Option<String>,
    /// Put the hashes of what is proved into dist/certified.json
    #[arg(long)]
    write_manifest: bool,
    /// Only the objects that dist/certified.json has
    #[arg(long)]
    listed: bool,
    /// Prove nothing: take over what dist/certified.json says of objects in which every function has the hash of the list, because only comments of their C changed
    #[arg(long, conflicts_with_all = ["name", "write_manifest", "listed", "again"])]
    carry: bool,
    /// Judge objects again that were judged before: functions that were not proved get another try
    #[arg(long)]
    again: bool,
    /// Fail only if code is found wrong: refuted, or leaking as two inputs show; not because something is open
    #[arg(long)]
    faults_only: bool,
    /// Compare everything anew
    #[arg(long)]
    no_cache: bool,
    /// Keep no record below `lab/runs/`
    #[arg(long)]
    no_record: bool,
}

/// Takes the list over for objects with the same code; exit 1 if there are others.
fn carry(tree: &Tree) -> Result<u8, Failure> {
    let list = kept(tree).map_err(failure)?.unwrap_or_default();
    let done = {
        let progress = Progress::start("certify", "comparing");
        carried(tree, list, &|what| progress.tell(what)).map_err(failure)?
    };
    write_list(tree, with_files(tree, done.list).map_err(failure)?)?;
    done.left.iter().for_each(|line| report::out(&format!("{line}\n")));
    report::answer(&json!({ "taken_over": done.taken, "same_text": done.same, "left": done.left }))?;
    report::out(&format!("{} objects of another text have the same functions, {} are of the same text, {} are left as they were\n", done.taken, done.same, done.left.len()));
    Ok(if done.left.is_empty() && done.taken + done.same > 0 { report::DONE } else { report::FAILED })
}

fn write_list(tree: &Tree, list: String) -> Result<(), Failure> {
    let path = Path::new(MANIFEST);
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    files::write_all(&tree.root.join(path.parent().unwrap_or(Path::new("."))), &[(name, list)])?;
    report::out(&format!("{MANIFEST}\n"));
    Ok(())
}

/// Exit 0 if everything is proved, 1 otherwise; the record and the list are written in both cases.
pub fn run(tree: &Tree, args: &CertifyArgs) -> Result<u8, Failure> {
    if args.list {
        let names: Vec<String> = all_units(tree).map_err(failure)?.into_iter().map(|u| u.name).collect();
        names.iter().for_each(|name| report::out(&format!("{name}\n")));
        report::answer(&json!({ "programs": names }))?;
        return Ok(report::DONE);
    }
    if args.carry {
        return carry(tree);
    }
    let listed = match args.listed {
        true => kept(tree).map_err(failure)?.map(|list| list.objects.into_iter().map(|o| (format!("{}@{}", o.primitive, o.target), o.march, o.flags)).collect()),
        false => None,
    };
    let wish = Wish {
        listed,
        name: args.name.clone(),
        compiler: args.compiler.clone(),
        levels: levels(&args.levels)?,
        march: args.march.clone(),
        threads: parallel::threads(),
        again: args.again,
    };
    let cache = if args.no_cache { Cache::in_memory() } else { Cache::of_user() };
    let cells = {
        let progress = Progress::start("certify", "certifying");
        let start = Instant::now();
        let outside = Outside {
            store: &cache,
            clock: &|| start.elapsed().as_micros() as u64,
            tell: &|what| progress.tell(what),
            judged: &|cell| report::err(&format!("{cell}\n")),
        };
        certify(tree, &wish, &outside).map_err(failure)?
    };
    report::out(&text(&cells));
    report::answer(&json!({ "objects": rows(&cells) }))?;
    if !args.no_record {
        for path in write_records(tree, &cells, &stamp(tree)).map_err(failure)? {
            report::out(&format!("record: {}\n", path.display()));
        }
    }
    if args.write_manifest {
        write_list(tree, manifest(tree, &cells).map_err(failure)?)?;
    }
    let clean = || cells.iter().all(|c| c.report.leaves_nothing());
    let good = if args.faults_only { faultless(&cells) } else { holds(&cells) && clean() };
    Ok(if good { report::DONE } else { report::FAILED })
}
