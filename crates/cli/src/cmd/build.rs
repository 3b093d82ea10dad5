//! `santoku build`

use super::common::{check, Source};
use super::lay_out;
use super::prove::{show_open, show_refused, with_progress};
use crate::cache::Cache;
use crate::tables::Tables;
use crate::project::Project;
use crate::{files, report};
use santoku_diag::{Diagnostic, Sources};
use santoku_driver::{assembly, believed, build_watched, c_decisions, interface, lowered_passes, lowered_text, BuildOptions, Built, Checked, Choice, Failure, Lowering, Step};
use santoku_passes::{Again, Level};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(clap::Args)]
pub struct Args {
    /// The program
    file: String,
    /// Level of optimisation
    #[arg(short = 'O', value_name = "LEVEL", default_value = "2", value_parser = ["0", "1", "2", "3", "s"])]
    level: String,
    /// Leave out a pass, or a decision of the C printer
    #[arg(long, value_name = "PASS")]
    without: Vec<String>,
    /// Write the core program after each run of a pass (`sema`: before all passes)
    #[arg(long, value_name = "PASS")]
    dump_after: Option<String>,
    /// Folder for the result; default: `build/<unit>`
    #[arg(short = 'o', value_name = "DIR")]
    out: Option<PathBuf>,
    /// Base name of the files made; default: the module's name
    #[arg(long, value_name = "NAME")]
    unit: Option<String>,
    /// Build although something is not proved; the result says so
    #[arg(long)]
    allow_unproved: bool,
    /// Let functions of the header leave secrets on the stack and in registers: they are overwritten otherwise
    #[arg(long)]
    keep_secrets: bool,
    /// What to write: C, RISC-V assembly, or the text of the lowered IR, from which assembly is made
    #[arg(long, value_name = "FORM", default_value = "c", value_parser = ["c", "asm", "lowered"])]
    emit: String,
    /// Assembly: functions of up to so many instructions are put where they are called
    #[arg(long, value_name = "N")]
    inline: Option<usize>,
    /// Print what each pass did and how it was checked
    #[arg(long)]
    verbose: bool,
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    lay_out: lay_out::LayOut,
}

/// Writes `<unit>.c` and `<unit>.h`, and prints their paths.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let level: Level = format!("O{}", args.level).parse().map_err(|e: santoku_passes::ParseLevelError| Failure::internal("start", e.to_string()))?;
    let unit = match &args.unit {
        Some(name) => plain_name(name)?,
        None => unit_of(&args.file)?,
    };
    let checked = check(&args.source, &args.file)?;
    interface(&checked)?;
    let found = with_progress(&args.file, &checked, &Cache::of_user(), 2)?;
    show_open(&checked, &found);
    show_refused(&found);
    if !found.holds() && !args.allow_unproved {
        report::err("error: not built, because it is not proved\n");
        return Ok(report::FAILED);
    }
    let folder = args.out.clone().unwrap_or_else(|| Path::new("build").join(&unit));
    if let Some(layout) = args.lay_out.layout {
        if args.emit != "c" {
            let d = Diagnostic::error("no-assembly", format!("a layout has no form `{}`", args.emit));
            return Err(Failure::refused(&checked.sources, d.note("why: layouts are printed as C").help("leave out `--emit` or `--layout`")));
        }
        let provenance = provenance(args, &unit, found.holds())?;
        let choice = lay_out::Choice { unit: &unit, without: &args.without, dump_after: &args.dump_after, verbose: args.verbose };
        return lay_out::run(&args.lay_out, layout, &checked, choice, provenance, &folder);
    }
    report::stage("passes");
    let options = BuildOptions {
        level,
        without: args.without.iter().filter(|p| !is_lowered(args, p)).cloned().collect(),
        dump_after: args.dump_after.clone().filter(|p| !is_lowered(args, p)),
        provenance: provenance(args, &unit, found.holds())?,
        unit,
        keep_secrets: args.keep_secrets,
    };
    let start = Instant::now();
    let clock = || start.elapsed().as_micros() as u64;
    let built = build_watched(&checked, &options, &clock, &mut Tables::new())?;
    report::stage("write");
    let made = written(args, &checked, &built)?;
    let all: Vec<(String, String)> = made.into_iter().chain(built.dumps.iter().cloned()).collect();
    files::write_all(&folder, &all)?;
    if args.verbose {
        report::out(&steps(&built.steps));
        report::out(&second_look(&built.again));
        report::out(&read_back(&built));
    }
    report::err(&put_back(&built.steps));
    report::err(&on_engines(&built.steps));
    report::err(&on_term_graph(&built.again));
    let paths: Vec<String> = all.iter().map(|(name, _)| folder.join(name).display().to_string()).collect();
    paths.iter().for_each(|path| report::out(&format!("{path}\n")));
    report::answer(&Json { files: &paths, proved: found.holds(), steps: built.steps.iter().map(JsonStep::of).collect(), second_look: JsonAgain::of(&built.again), read_back: JsonCompared { functions: built.compared.functions, statements: built.compared.statements, tables: built.compared.tables } })?;
    Ok(report::DONE)
}

/// The files of the form that was asked for, with the header for what can be called.
fn written(args: &Args, checked: &Checked, built: &Built) -> Result<Vec<(String, String)>, Failure> {
    let header = || built.files.iter().filter(|(name, _)| name.ends_with(".h")).cloned();
    let named = |ending: &str| format!("{}.{ending}", built.unit);
    let usual = Lowering::of(built.level);
    let lowering = Lowering {
        choice: Choice { without: args.without.iter().filter(|p| is_lowered(args, p)).cloned().collect(), last: None },
        inline_max: args.inline.unwrap_or(usual.inline_max),
        ..usual
    };
    if args.inline.is_some() && args.emit == "c" {
        let d = Diagnostic::error("bad-option", "`--inline` says nothing about C").note("why: C compilers put functions where they are called as they see fit");
        return Err(Failure::refused(&checked.sources, d.help("add `--emit asm`, or leave it out")));
    }
    if let Some(name) = args.without.iter().find(|n| args.emit != "c" && c_decisions().any(|d| d.0 == **n)) {
        let d = Diagnostic::error("bad-option", format!("`--without {name}` says nothing about what `--emit {}` writes", args.emit)).note("why: it is a decision of the C printer");
        return Err(Failure::refused(&checked.sources, d.help("leave it out, or build C")));
    }
    let text = |how: &Lowering| lowered_text(built, &checked.target, &checked.sources, how);
    let mut files: Vec<(String, String)> = match args.emit.as_str() {
        "asm" => header().chain([(named("s"), assembly(built, &checked.target, &checked.sources, &lowering)?)]).collect(),
        "lowered" => vec![(named("low"), text(&lowering)?)],
        _ => built.files.clone(),
    };
    if let Some(pass) = args.dump_after.as_ref().filter(|p| is_lowered(args, p)) {
        let choice = Choice { last: Some(pass.clone()), ..lowering.choice.clone() };
        files.push((named(&format!("after-{pass}.low")), text(&Lowering { choice, ..lowering })?));
    }
    Ok(files)
}

/// A pass of the lowered IR, which C is not made from.
fn is_lowered(args: &Args, pass: &str) -> bool {
    args.emit != "c" && lowered_passes().any(|p| p == pass)
}

/// What `--json` prints.
#[derive(Serialize)]
struct Json<'a> {
    files: &'a [String],
    /// Every obligation of the program is proved.
    proved: bool,
    steps: Vec<JsonStep<'a>>,
    second_look: JsonAgain<'a>,
    read_back: JsonCompared,
}

/// Functions, statements and tables of the C that are those of the program.
#[derive(Serialize)]
struct JsonCompared {
    functions: usize,
    statements: usize,
    tables: usize,
}

/// One run of a pass.
#[derive(Serialize)]
struct JsonStep<'a> {
    pass: &'a str,
    changed: usize,
    proved_equal: usize,
    /// Functions put back, and why.
    put_back: &'a [(String, String)],
    micros: u64,
}

/// The last program compared with the first: functions, and those that the judge cannot follow.
#[derive(Serialize)]
struct JsonAgain<'a> {
    asked: usize,
    accepted: usize,
    believed: &'a [(String, String)],
}

impl<'a> JsonStep<'a> {
    fn of(s: &'a Step) -> JsonStep<'a> {
        JsonStep { pass: s.pass, changed: s.changed.len(), proved_equal: s.equal, put_back: &s.reverted, micros: s.micros }
    }
}

impl<'a> JsonAgain<'a> {
    fn of(a: &'a Again) -> JsonAgain<'a> {
        JsonAgain { asked: a.asked, accepted: a.accepted, believed: &a.believed }
    }
}

fn steps(steps: &[Step]) -> String {
    let row = |s: &Step| format!("{:<16} {:>4} changed {:>4} proved equal {:>8} us\n", s.pass, s.changed.len(), s.equal, s.micros);
    steps.iter().map(row).collect()
}

/// A line for every change that was not shown to keep the meaning: pass, function, reason.
fn put_back(steps: &[Step]) -> String {
    let line = |pass: &str, func: &str, why: &str| {
        let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("put back: {pass} in {func}: {why}\n")
    };
    steps.iter().flat_map(|s| s.reverted.iter().map(|(func, why)| line(s.pass, func, why))).collect()
}

/// A line for every function whose ranges the judge does not accept.
fn on_engines(steps: &[Step]) -> String {
    let line = |(pass, func, why)| format!("note: ranges of `{func}` written by {pass} rest on the engines of the prover; the judge cannot follow them: {why}\n");
    believed(steps).map(line).collect()
}

fn second_look(again: &Again) -> String {
    format!("second look: {} of {} functions compute what the source does, {} scalars compared\n", again.accepted, again.asked, again.scalars)
}

fn read_back(built: &Built) -> String {
    let c = &built.compared;
    format!("read back: {} functions of the C, {} statements and {} tables are the program's\n", c.functions, c.statements, c.tables)
}

/// A line for every function of which the term graph alone says that the passes kept what it computes.
fn on_term_graph(again: &Again) -> String {
    let line = |(func, why): &(String, String)| format!("note: what the passes made of `{func}` is trusted to the term graph; the judge cannot follow it: {why}\n");
    again.believed.iter().map(line).collect()
}

/// `lib/nacl/sign.stk` is `nacl_sign`: the path below the modules of the project, or below the last folder `lib`.
pub fn unit_of(file: &str) -> Result<String, Failure> {
    let parts = |path: &Path| path.with_extension("").components().map(|c| c.as_os_str().to_string_lossy().into_owned()).collect::<Vec<String>>();
    let own = Project::of(file)?.and_then(|p| below(Path::new(file), &p.library));
    Ok(match own {
        Some(path) => c_name(&parts(&path)),
        None => {
            let all = parts(Path::new(file));
            let start = all.iter().rposition(|p| p == "lib").map_or(all.len().saturating_sub(1), |i| i + 1);
            c_name(&all[start.min(all.len())..])
        }
    })
}

/// The path of a file from a folder that holds it.
fn below(file: &Path, folder: &Path) -> Option<PathBuf> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let (file, folder) = (std::fs::canonicalize(file).ok()?, std::fs::canonicalize(folder).ok()?);
    file.strip_prefix(folder).ok().map(Path::to_path_buf)
}

fn c_name(parts: &[String]) -> String {
    let plain: String = parts.join("_").chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if plain.starts_with(|c: char| c.is_ascii_alphabetic()) {
        plain
    } else {
        format!("unit_{plain}")
    }
}

fn plain_name(name: &str) -> Result<String, Failure> {
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain {
        return Ok(name.to_string());
    }
    let d = Diagnostic::error("bad-option", format!("`--unit {name}` is not a C name"));
    Err(Failure::refused(&Sources::default(), d.help("letters, digits and `_`, a letter first")))
}

/// How to make the files again, in their first comment.
fn provenance(args: &Args, unit: &str, proved: bool) -> Result<String, Failure> {
    let project = Project::of(&args.file)?.map_or(String::new(), |p| format!(" ({} {})", p.name, p.version));
    let without: String = args.without.iter().map(|p| format!(" --without {p}")).collect();
    let impls: String = args.source.impl_args().map(|i| format!(" --impl {i}")).collect();
    let warning = if proved { "" } else { "\nNOT PROVED: some obligations of this program are open." };
    // A layout has steps of its own, not those of a level.
    let how = if args.lay_out.layout.is_some() { args.lay_out.text() } else { format!(" -O{}", args.level) };
    let text = format!(
        "Made by santoku {} from {}{project}. Do not edit; make it again by:\nsantoku build {}{how} --target {}{impls}{without} --unit {unit}{warning}",
        env!("CARGO_PKG_VERSION"),
        args.file,
        args.file,
        args.source.target_name(&args.file)?,
    );
    // It stands in a C comment, which the name of a folder must not end.
    Ok(text.replace("*/", "* /").replace("/*", "/ *"))
}
