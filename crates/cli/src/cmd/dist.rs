//! `santoku dist`

use super::dist_claims;
use super::lab_common::{failure, tree, Progress};
use super::prove::{show_open, show_refused, show_resting, with_progress};
use crate::cache::Cache;
use crate::{files, report};
use santoku_diag::{Diagnostic, Sources};
use santoku_driver::{vacuous, Failure};
use santoku_workbench::compile::front;
use santoku_workbench::dist::{first_difference, units, Difference, Unit};
use santoku_workbench::parallel;
use santoku_workbench::primitives::{Primitive, Tree};
use serde_json::json;
use std::path::Path;

#[derive(clap::Args)]
pub struct Args {
    /// Primitive; default: all that are shipped
    name: Option<String>,
    /// Write nothing; exit code 2 and the first differing file, if the kept files are not as made
    #[arg(long)]
    check: bool,
    /// With `--check`: certify every object of dist/certified.json again, not only two
    #[arg(long, requires = "check")]
    every_object: bool,
}

/// Proves the primitives, then makes `dist/` or compares it. Exit 1, and nothing made, if anything is open or not accepted by the judge.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let tree = tree()?;
    let chosen = match &args.name {
        Some(name) => tree.primitive(name).map(|p| vec![p]),
        None => tree.shipped(),
    };
    let chosen = chosen.map_err(failure)?;
    if let Some(p) = chosen.iter().find(|p| !p.ship) {
        let d = Diagnostic::error("bad-option", format!("`{}` is not shipped", p.name));
        return Err(Failure::refused(&Sources::default(), d.help("remove `ship = false` from its row of `lib/primitives.toml` to ship it")));
    }
    if let Some(why) = not_proved(&tree, &chosen)? {
        return Ok(not_made(why));
    }
    let made = {
        let _progress = Progress::start("dist", "making dist");
        units(&tree, &chosen, args.name.is_none()).map_err(failure)?
    };
    if let Some(line) = made.iter().flat_map(|u| &u.believed).next() {
        return Ok(not_made(&format!("the judge does not accept {line}")));
    }
    if args.check {
        let found = first_difference(&tree, &made, args.name.is_none()).map_err(failure)?;
        let count: usize = made.iter().map(|u| u.files.len()).sum();
        return match found {
            Some((path, difference)) => Err(not_as_made(&path, &difference)),
            None => {
                report::out(&format!("{count} files as made\n"));
                report::answer(&json!({ "as_made": count }))?;
                match args.name {
                    None => dist_claims::check(&tree, args.every_object),
                    Some(_) => Ok(report::DONE),
                }
            }
        };
    }
    write(&tree, &made)
}

/// Says why nothing is written; the exit code.
pub(super) fn not_made(why: &str) -> u8 {
    report::err(&format!("error: not made, because {why}\n"));
    report::FAILED
}

/// Proves each primitive for each of its targets, and tells how much was proved. Whatever leaves the tree is accepted by the judge, too.
pub(super) fn not_proved(tree: &Tree, chosen: &[Primitive]) -> Result<Option<&'static str>, Failure> {
    let cache = Cache::of_user();
    let (mut why, mut all) = (None, vec![]);
    for p in chosen {
        let assembled: Vec<&String> = p.assemblies.iter().map(|a| &a.target).collect();
        let small = p.small.as_ref().map(|s| &s.target).filter(|s| !assembled.contains(s));
        for target in p.targets.iter().chain(small).chain(assembled.iter().copied()) {
            let checked = tree.target(target).and_then(|t| front(tree, &p.entry, t)).map_err(failure)?;
            let found = with_progress(&p.entry, &checked, &cache, parallel::threads())?;
            let empty = vacuous(&checked, &found, true);
            if !empty.is_empty() {
                return Err(Failure::Refused { sources: checked.sources, diagnostics: empty });
            }
            show_open(&checked, &found);
            let open = found.failed().count();
            report::out(&format!("{} for {target}: {} obligations, {} proved, {open} open\n", p.name, found.total(), found.total() - open));
            all.push(json!({ "primitive": p.name, "target": target, "obligations": found.total(), "open": open }));
            if show_refused(&found) {
                why.get_or_insert("the judge does not accept it as safe");
            }
            show_resting(&found);
            if !found.holds() {
                why = Some("it is not proved");
            }
        }
    }
    report::answer(&json!({ "proofs": all }))?;
    Ok(why)
}

fn write(tree: &Tree, made: &[Unit]) -> Result<u8, Failure> {
    let paths: Vec<_> = made.iter().flat_map(|u| u.files.iter().map(|(name, _)| u.folder.join(name))).collect();
    report::answer(&json!({ "files": paths }))?;
    for unit in made {
        files::write_all(&tree.root.join(&unit.folder), &unit.files)?;
        for (name, _) in &unit.files {
            report::out(&format!("{}\n", unit.folder.join(name).display()));
        }
    }
    Ok(report::DONE)
}

fn not_as_made(path: &Path, difference: &Difference) -> Failure {
    let d = Diagnostic::error("not-as-made", format!("`{}` is not what the compiler makes", path.display()));
    let d = match difference {
        Difference::Missing => d.note("why: it is missing"),
        Difference::Surplus => d.note("why: nothing makes it"),
        Difference::Line { line, kept, made } => {
            d.note(format!("why: line {line} differs")).note(format!("kept: {kept}")).note(format!("made: {made}"))
        }
    };
    Failure::refused(&Sources::default(), d.help("run `santoku dist` and look at the difference"))
}
