//! `santoku lab`

use super::{lab_certify, lab_mutants};
use super::lab_common::{failure, json, levels, record, stamp, tree, Progress};
use crate::{files, report};
use santoku_driver::{Failure, GRANULARITY};
use santoku_lab::host::HostRun;
use santoku_lab::record::Row;
use santoku_target::Level;
use santoku_workbench::primitives::Tree;
use santoku_workbench::{ablate, cipher, p256, profile, sign_host, sign_table, BenchError};
use std::path::{Path, PathBuf};

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
    /// Where the cycles go: functions, and a flame graph
    Profile(ProfileArgs),
    /// Certify the library as compilers make it: every program, compiler and level
    Certify(lab_certify::CertifyArgs),
    /// Change single instructions of proved functions: the prover must refuse what computes something else
    Mutants(lab_mutants::MutantsArgs),
}

#[derive(clap::Args)]
struct TableArgs {
    /// Primitive, such as nacl.sign; an unknown name lists those there are
    name: String,
    /// Machine; default: the first the primitive is measured on
    #[arg(long)]
    machine: Option<String>,
    /// Levels of both compilers, separated by commas
    #[arg(long, value_name = "LEVELS", default_value = "O0,O1,O2,O3,Os")]
    levels: String,
    /// Ciphers: statements of one copy before the next copy's
    #[arg(long, default_value_t = GRANULARITY, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    granularity: u32,
    #[command(flatten)]
    output: Output,
}

#[derive(clap::Args)]
struct AblateArgs {
    /// Primitive: nacl.sign
    name: String,
    #[arg(long, default_value = "e31")]
    machine: String,
    /// Level of both compilers
    #[arg(long, value_name = "LEVEL", default_value = "O2")]
    level: String,
    /// Our target, with its algorithm: a file of `targets/` or `tuned/`
    #[arg(long, default_value = "rv32-spark")]
    target: String,
    #[command(flatten)]
    output: Output,
}

#[derive(clap::Args)]
struct ProfileArgs {
    /// Primitive, such as nacl.sign; an unknown name lists those there are
    name: String,
    /// Machine; default: the one of the primitive
    #[arg(long)]
    machine: Option<String>,
    /// Level of both compilers
    #[arg(long, value_name = "LEVEL", default_value = "O2")]
    level: String,
    /// Our target on e31: a file of `targets/` or `tuned/`
    #[arg(long, default_value = "rv32")]
    target: String,
    /// Write the flame graph, an SVG picture
    #[arg(short = 'o', value_name = "FILE.svg")]
    out: Option<PathBuf>,
    /// Print the functions as JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
struct Output {
    /// Print the rows of the record as JSON
    #[arg(long)]
    json: bool,
    /// Keep no record below `lab/runs/`
    #[arg(long)]
    no_record: bool,
}

pub fn run(args: &Args) -> Result<u8, Failure> {
    let tree = tree()?;
    match &args.command {
        Command::Table(args) => table(&tree, args),
        Command::Ablate(args) => ablation(&tree, args),
        Command::Profile(args) => profiled(&tree, args),
        Command::Certify(args) => lab_certify::run(&tree, args),
        Command::Mutants(args) => lab_mutants::run(&tree, args),
    }
}

fn table(tree: &Tree, args: &TableArgs) -> Result<u8, Failure> {
    let levels = levels(&args.levels)?;
    match (args.name.as_str(), args.machine.as_deref()) {
        ("nacl.sign", None | Some("e31")) => sign(tree, args, &levels),
        ("nacl.sign", Some("host")) => sign_host(tree, args),
        ("ecdsa.p256", None | Some("ckb")) => p256(tree, args),
        (name, None | Some("host")) if cipher::CIPHERS.iter().any(|c| c.name == name) => ciphers(tree, args),
        (name, machine) => Err(no_table(name, machine)),
    }
}

fn sign(tree: &Tree, args: &TableArgs, levels: &[Level]) -> Result<u8, Failure> {
    let runs = {
        let progress = Progress::start("lab", "measuring");
        sign_table::run(tree, levels, &|what| progress.tell(what)).map_err(failure)?
    };
    finish(tree, "nacl.sign-e31", &sign_table::rows(&runs, &stamp(tree)), &[], &sign_table::text(&runs), &args.output)
}

fn sign_host(tree: &Tree, args: &TableArgs) -> Result<u8, Failure> {
    let run = {
        let progress = Progress::start("lab", "timing");
        sign_host::run(tree, &|what| progress.tell(what)).map_err(failure)?
    };
    finish(tree, "nacl.sign-host", &sign_host::rows(&run, &stamp(tree)), &[host_json(&run)?], &sign_host::text(&run), &args.output)
}

fn p256(tree: &Tree, args: &TableArgs) -> Result<u8, Failure> {
    let runs = {
        let progress = Progress::start("lab", "measuring");
        p256::run(tree, &|what| progress.tell(what)).map_err(failure)?
    };
    finish(tree, "ecdsa.p256-ckb", &p256::rows(&runs, &stamp(tree)), &[], &p256::text(&runs), &args.output)
}

fn profiled(tree: &Tree, args: &ProfileArgs) -> Result<u8, Failure> {
    let level = levels(&args.level)?[0];
    let found = {
        let _progress = Progress::start("lab", "profiling");
        match (args.name.as_str(), args.machine.as_deref()) {
            ("nacl.sign", None | Some("e31")) => profile::sign(tree, &args.target, level),
            ("ecdsa.p256", None | Some("ckb")) => profile::verify(tree),
            (name, machine) => {
                let name = machine.map_or_else(|| name.to_string(), |m| format!("{name} on {m}"));
                let known = ["nacl.sign on e31", "ecdsa.p256 on ckb"].map(str::to_string).to_vec();
                Err(BenchError::Unknown { what: "profile", name, known })
            }
        }
        .map_err(failure)?
    };
    if let Some(path) = &args.out {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        files::write_all(folder, &[(name, found.svg.clone())])?;
    }
    if args.json {
        json(&found.leaves)?;
    } else {
        report::out(&found.text());
    }
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
    if (args.name.as_str(), args.machine.as_str()) != ("nacl.sign", "e31") {
        let name = format!("{} on {}", args.name, args.machine);
        return Err(failure(BenchError::Unknown { what: "ablation", name, known: vec!["nacl.sign on e31".into()] }));
    }
    let level = levels(&args.level)?[0];
    tree.target(&args.target).map_err(failure)?;
    let found = {
        let progress = Progress::start("lab", "measuring");
        ablate::run(tree, &args.target, level, &|what| progress.tell(what)).map_err(failure)?
    };
    let what = format!("nacl.sign-ablate-{}-{}", args.target, level.name());
    finish(tree, &what, &found.rows(&stamp(tree)), &[], &found.text(), &args.output)
}

/// Keeps the record and prints one form of the result.
fn finish(tree: &Tree, what: &str, rows: &[Row], more: &[(String, String)], text: &str, output: &Output) -> Result<u8, Failure> {
    let folder = match output.no_record {
        true => None,
        false => Some(record(tree, what, rows, more)?),
    };
    if output.json {
        json(&rows)?;
    } else {
        report::out(text);
        if let Some(folder) = folder {
            report::out(&format!("record: {}\n", folder.display()));
        }
    }
    Ok(report::DONE)
}

fn no_table(name: &str, machine: Option<&str>) -> Failure {
    let ciphers = cipher::CIPHERS.iter().map(|c| format!("{} (host)", c.name));
    let known = ["nacl.sign (e31, host)", "ecdsa.p256 (ckb)"].map(str::to_string).into_iter().chain(ciphers).collect();
    let name = machine.map_or_else(|| name.to_string(), |m| format!("{name} on {m}"));
    failure(BenchError::Unknown { what: "table", name, known })
}
