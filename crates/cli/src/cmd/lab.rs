//! `santoku lab`

use super::{lab_bench, lab_certify, lab_differential, lab_mutants, lab_report, lab_run, lab_search};
use super::lab_common::{failure, levels, record, stamp, tree, write_picture, Progress};
use crate::report;
use santoku_driver::{Failure, GRANULARITY};
use santoku_lab::host::HostRun;
use santoku_lab::record::Row;
use santoku_workbench::primitives::Tree;
use santoku_workbench::{ablate, by_operation, cipher, claims, ladder, profile, table, BenchError};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Cycles, stack and size of a primitive beside its rivals
    Table(TableArgs),
    /// What each optimisation brings: switched off one by one, and on in the order of the published series
    Ablate(AblateArgs),
    /// A series of builds, each with one thing more, beside a published one
    Ladder(LadderArgs),
    /// Search for the order of instructions in our own assembly, with the machine as the judge
    Search(lab_search::SearchArgs),
    /// A function of any program on every machine, at every level, in every layout
    Bench(lab_bench::BenchArgs),
    /// Two functions that compute the same, of programs or of a program and a C file, on every machine
    Compare(lab_bench::CompareArgs),
    /// Where the cycles go: functions, and a flame graph
    Profile(ProfileArgs),
    /// A program on CKB-VM: cycles, functions, operations, and pairs that are not executed as one
    Run(lab_run::RunArgs),
    /// Certify the library as compilers make it: every program, compiler and level
    Certify(lab_certify::CertifyArgs),
    /// Change single instructions of proved functions: the prover must refuse what computes something else
    Mutants(lab_mutants::MutantsArgs),
    /// Every function of an interface and of its rivals on the same inputs, random and on edges: the first difference
    Differential(lab_differential::DifferentialArgs),
    /// The page of a release: newest records as tables and pictures, proofs, flame graphs
    Report(lab_report::ReportArgs),
}

#[derive(clap::Args)]
struct TableArgs {
    /// Primitive or cipher by its name in `lib/primitives.toml`; an unknown name lists those there are
    name: String,
    /// Machine: e31, ckb-vm, zkvm, host; default: the first the primitive is measured on
    #[arg(long)]
    machine: Option<String>,
    /// Levels of the C compiler, separated by commas; default: those of the machine's description
    #[arg(long, value_name = "LEVELS")]
    levels: Option<String>,
    /// Ciphers: statements of one copy before the next copy's
    #[arg(long, default_value_t = GRANULARITY, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    granularity: u32,
    #[command(flatten)]
    output: Output,
}

#[derive(clap::Args)]
struct AblateArgs {
    /// Primitive; an unknown name lists those there are
    name: String,
    /// Machine; default: the first the primitive is measured on
    #[arg(long, conflicts_with = "target")]
    machine: Option<String>,
    /// Level of both compilers
    #[arg(long, value_name = "LEVEL", default_value = "O2")]
    level: String,
    /// Our target, with its algorithm: a file of `targets/` or `tuned/`; default: the first of the table
    #[arg(long)]
    target: Option<String>,
    #[command(flatten)]
    output: Output,
}

#[derive(clap::Args)]
struct LadderArgs {
    /// Ladder by its name in `lib/primitives.toml`; an unknown name lists those there are
    name: String,
    #[command(flatten)]
    output: Output,
}

#[derive(clap::Args)]
struct ProfileArgs {
    /// Primitive; an unknown name lists those there are
    name: String,
    /// Machine; default: the first the primitive is measured on
    #[arg(long)]
    machine: Option<String>,
    /// Operation; default: the first
    #[arg(long)]
    operation: Option<String>,
    /// Level of the C compiler; default: O2
    #[arg(long, value_name = "LEVEL")]
    level: Option<String>,
    /// Our target: a file of `targets/` or `tuned/`; default: the first of the table
    #[arg(long)]
    target: Option<String>,
    /// Write the flame graph, an SVG picture
    #[arg(short = 'o', value_name = "FILE.svg")]
    out: Option<PathBuf>,
}

#[derive(clap::Args)]
struct Output {
    /// Keep no record below `lab/runs/`
    #[arg(long)]
    no_record: bool,
}

pub fn run(args: &Args) -> Result<u8, Failure> {
    match &args.command {
        Command::Table(args) => table(&tree()?, args),
        Command::Ablate(args) => ablation(&tree()?, args),
        Command::Ladder(args) => climbed(&tree()?, args),
        Command::Search(args) => lab_search::run(&tree()?, args),
        Command::Profile(args) => profiled(&tree()?, args),
        Command::Run(args) => lab_run::run(args),
        Command::Certify(args) => lab_certify::run(&tree()?, args),
        Command::Mutants(args) => lab_mutants::run(&tree()?, args),
        Command::Differential(args) => lab_differential::run(&tree()?, args),
        Command::Report(args) => lab_report::run(&tree()?, args),
        Command::Bench(args) => lab_bench::bench(args),
        Command::Compare(args) => lab_bench::compare(args),
    }
}

fn table(tree: &Tree, args: &TableArgs) -> Result<u8, Failure> {
    let levels = args.levels.as_ref().map(|l| levels(l)).transpose()?;
    if tree.ciphers().map_err(failure)?.iter().any(|c| c.name == args.name) && args.machine.as_deref().is_none_or(|m| m == "host") {
        return ciphers(tree, args);
    }
    if tree.primitives().map_err(failure)?.iter().any(|p| p.name == args.name && by_operation::is_page(p)) {
        return page(tree, args);
    }
    let wish = table::Wish { machine: args.machine.clone(), levels };
    let made = {
        let progress = Progress::start("lab", "measuring");
        table::run(tree, &args.name, &wish, &|what| progress.tell(what)).map_err(failure)?
    };
    let more: Vec<(String, String)> = made.raw.iter().map(|raw| (format!("{}.json", made.row.machine), raw.clone())).collect();
    finish(tree, &format!("{}-{}", args.name, made.row.machine), &made.rows(&stamp(tree)), &more, &made.text(), &args.output)
}

/// A line for each operation, all machines side by side.
fn page(tree: &Tree, args: &TableArgs) -> Result<u8, Failure> {
    if args.levels.is_some() {
        let known = vec![santoku_workbench::dist::LEVEL.name().to_string()];
        return Err(failure(BenchError::Unknown { what: "level of a table by operations", name: args.levels.clone().unwrap_or_default(), known }));
    }
    let certified = claims::kept(tree).map_err(failure)?.unwrap_or_default();
    let made = {
        let progress = Progress::start("lab", "measuring");
        by_operation::run(tree, &args.name, args.machine.as_deref(), &certified, &stamp(tree), &|what| progress.tell(what)).map_err(failure)?
    };
    finish(tree, &args.name, &made.rows, &[], &made.text(), &args.output)
}

fn profiled(tree: &Tree, args: &ProfileArgs) -> Result<u8, Failure> {
    let level = args.level.as_ref().map(|l| levels(l)).transpose()?.map(|l| l[0]);
    let wish = profile::Wish { machine: args.machine.clone(), target: args.target.clone(), operation: args.operation.clone(), level };
    let found = {
        let _progress = Progress::start("lab", "profiling");
        profile::run(tree, &args.name, &wish).map_err(failure)?
    };
    if let Some(path) = &args.out {
        write_picture(path, found.svg.clone())?;
    }
    report::out(&profile::text(&found));
    report::answer(&serde_json::json!({ "functions": found.leaves }))?;
    Ok(report::DONE)
}

fn ciphers(tree: &Tree, args: &TableArgs) -> Result<u8, Failure> {
    let run = {
        let progress = Progress::start("lab", "timing");
        cipher::run(tree, &args.name, args.granularity as usize, &|what| progress.tell(what)).map_err(failure)?
    };
    finish(tree, &format!("{}-host", args.name), &cipher::rows(&run, &stamp(tree)), &[host_json(&run)?], &cipher::text(&run), &args.output)
}

/// The spread, the processor and the number of samples, which have no field in a row.
fn host_json(run: &HostRun) -> Result<(String, String), Failure> {
    let raw = serde_json::to_string_pretty(run).map_err(|e| Failure::internal("lab", e.to_string()))?;
    Ok(("host.json".to_string(), raw + "\n"))
}

fn ablation(tree: &Tree, args: &AblateArgs) -> Result<u8, Failure> {
    let level = levels(&args.level)?[0];
    let target = match &args.target {
        Some(name) => name.clone(),
        None => table::find(tree, &args.name, args.machine.as_deref(), "ablation").map_err(failure)?.1.targets[0].clone(),
    };
    let found = {
        let progress = Progress::start("lab", "measuring");
        ablate::run(tree, &args.name, &target, level, &|what| progress.tell(what)).map_err(failure)?
    };
    let what = format!("{}-ablate-{target}-{}", args.name, level.name());
    finish(tree, &what, &found.rows(&stamp(tree)), &[], &found.text(), &args.output)
}

fn climbed(tree: &Tree, args: &LadderArgs) -> Result<u8, Failure> {
    let found = {
        let progress = Progress::start("lab", "measuring");
        ladder::run(tree, &args.name, &|what| progress.tell(what)).map_err(failure)?
    };
    finish(tree, &format!("ladder-{}", args.name), &found.rows(&stamp(tree)), &[], &found.text(), &args.output)
}

/// Keeps the record and prints one form of the result.
fn finish(tree: &Tree, what: &str, rows: &[Row], more: &[(String, String)], text: &str, output: &Output) -> Result<u8, Failure> {
    let folder = match output.no_record {
        true => None,
        false => Some(record(tree, what, rows, more)?),
    };
    report::out(text);
    if let Some(folder) = &folder {
        report::out(&format!("record: {}\n", folder.display()));
    }
    report::answer(&serde_json::json!({ "rows": rows, "record": folder }))?;
    Ok(report::DONE)
}
