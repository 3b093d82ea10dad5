//! `santoku dist --check`, second part: what `dist/certified.json` claims.

use super::lab_common::{failure, Progress};
use crate::cache::Cache;
use crate::report;
use santoku_diag::{Diagnostic, Sources};
use santoku_driver::Failure;
use santoku_workbench::certify::Outside;
use santoku_workbench::claims::{again, chosen, kept, program_faults, text_faults, Again, MANIFEST};
use santoku_workbench::primitives::Tree;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Says whose turn it is instead of the day.
const TURN: &str = "SANTOKU_CERTIFY_TURN";
const DAY: u64 = 24 * 60 * 60;
/// Faults named in one message.
const MOST: usize = 20;

/// Compares the files with the list, and certifies objects again: all, or those whose turn it is. A tree without a list claims nothing.
pub fn check(tree: &Tree, every: bool) -> Result<u8, Failure> {
    let Some(list) = kept(tree).map_err(failure)? else { return Ok(report::DONE) };
    let faults = text_faults(tree, &list).map_err(failure)?;
    if !faults.is_empty() {
        return Err(not_certified(&faults));
    }
    let faults = {
        let _progress = Progress::start("certify", "comparing programs");
        program_faults(tree, &list).map_err(failure)?
    };
    if !faults.is_empty() {
        return Err(not_certified(&faults));
    }
    report::out(&format!("{MANIFEST}: {} files, {} objects, {} functions\n", list.files.len(), list.objects.len(), list.functions.len()));
    let turn = turn()?;
    let objects = if every { list.objects.iter().collect() } else { chosen(&list, turn) };
    if !every {
        report::out(&format!("certified again, turn {turn} ({TURN} chooses another):\n"));
    }
    let cache = Cache::of_user();
    let (start, mut faults, mut theorems, mut skipped) = (Instant::now(), vec![], 0, 0);
    for o in &objects {
        let done = {
            let progress = Progress::start("certify", "certifying again");
            let outside = Outside { store: &cache, clock: &|| start.elapsed().as_micros() as u64, tell: &|what| progress.tell(what), judged: &|_| {} };
            again(tree, &list, o, &outside).map_err(failure)?
        };
        match done {
            Again::Holds(n) => {
                theorems += n;
                report::out(&format!("{}: {n} functions, as claimed\n", o.name()));
            }
            Again::Faults(more) => faults.extend(more),
            Again::Skipped(why) => {
                skipped += 1;
                match santoku_skips::note(o.name(), why) {
                    Ok(line) => report::out(&format!("{line}\n")),
                    Err(why) => faults.push(why),
                }
            }
        }
    }
    if !faults.is_empty() {
        return Err(not_certified(&faults));
    }
    report::answer(&serde_json::json!({ "certified_again": { "functions": theorems, "objects": objects.len() - skipped, "skipped": skipped } }))?;
    report::out(&format!("{theorems} functions of {} objects certified again, {skipped} skipped\n", objects.len() - skipped));
    Ok(report::DONE)
}

/// Days since 1970, or what the environment says.
fn turn() -> Result<u64, Failure> {
    match std::env::var(TURN) {
        Ok(text) => text.parse().map_err(|_| {
            let d = Diagnostic::error("bad-option", format!("{TURN} is `{text}`, no number"));
            Failure::refused(&Sources::default(), d.help("leave it out for the turn of the day"))
        }),
        Err(_) => Ok(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs() / DAY)),
    }
}

fn not_certified(faults: &[String]) -> Failure {
    let d = Diagnostic::error("not-certified", format!("{} of the claims of `{MANIFEST}` do not hold", faults.len()));
    let d = faults.iter().take(MOST).fold(d, |d, fault| d.note(format!("why: {fault}")));
    Failure::refused(&Sources::default(), d.help("`santoku lab certify --listed --write-manifest` makes the list anew: look at what is gone"))
}
