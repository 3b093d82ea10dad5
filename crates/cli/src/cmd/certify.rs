//! `santoku certify`

use super::build::unit_of;
use super::certify_match;
use super::common::{check, Source};
use super::prove::{show_open, show_refused, with_progress};
use crate::cache::Cache;
use crate::{files, report};
use indicatif::{ProgressBar, ProgressStyle};
use santoku_certify::leak::Evidence;
use santoku_certify::report::{ByHand, FileReport, FunctionReport, ResidueState, Status};
use santoku_certify::{certify, isa_of, symbols, Options, World};
use santoku_diag::{Diagnostic, Sources};
use santoku_driver::{build, timing, BuildOptions, Built, Checked, Failure};
use santoku_elf::{ErrorKind, Image};
use santoku_isa::Isa;
use santoku_passes::Level;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub struct Args {
    /// An object file or a linked image, RISC-V
    elf: String,
    /// The program that its C was made from
    #[arg(long, value_name = "FILE", required_unless_present = "matching")]
    entry: Option<String>,
    /// Look the functions of the file up in a list of proved hashes, without the program
    #[arg(long = "match", conflicts_with = "entry")]
    matching: bool,
    /// The list for `--match`; default: the one that came with this command
    #[arg(long, value_name = "FILE", requires = "matching")]
    manifest: Option<PathBuf>,
    /// Level at which the C was made
    #[arg(short = 'O', value_name = "LEVEL", default_value = "2", value_parser = ["0", "1", "2", "3", "s"])]
    level: String,
    /// Instruction set of the processor, such as rv32imc or rv64imc_zba_zbb_zbs; default: rv32imc or rv64imc
    #[arg(long)]
    march: Option<String>,
    /// Only this function, by its symbol or its name in the program, with all that it calls; with `--match` (any number of times):
    /// the functions that must be there and proved
    #[arg(long, value_name = "NAME")]
    function: Vec<String>,
    /// Compare everything anew
    #[arg(long)]
    no_cache: bool,
    /// Certify against a program of which something is not proved; the result says so
    #[arg(long)]
    allow_unproved: bool,
    /// Succeed although secrets are left on the stack or in registers; the result says so
    #[arg(long)]
    allow_residue: bool,
    /// Threads
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=64))]
    threads: u8,
    #[command(flatten)]
    source: Source,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Json<'a> {
    holds: bool,
    /// No function that handles secrets leaves any behind; not asked of single functions.
    leaves_nothing: Option<bool>,
    file: &'a str,
    /// The program's file; `program` in the report is the hash of what it says.
    entry: &'a str,
    target: &'a str,
    /// Every obligation of the program is proved.
    source_proved: bool,
    #[serde(flatten)]
    report: &'a FileReport,
}

/// Exit 0 if every function of the program that the file has is proved, 1 otherwise.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let image = load(&args.elf)?;
    let Some(entry) = &args.entry else {
        return certify_match::run(&args.elf, &image, args.manifest.as_deref(), &args.function);
    };
    if args.function.len() > 1 {
        let d = Diagnostic::error("bad-option", "`--function` is given more than once");
        return Err(Failure::refused(&Sources::default(), d.help("name one function, or leave it out for all; several go with `--match`")));
    }
    let isa = instruction_set(args.march.as_deref(), &args.elf, &image)?;
    let checked = check(&args.source, entry)?;
    let cache = if args.no_cache { Cache::in_memory() } else { Cache::of_user() };
    let found = with_progress(entry, &checked, &cache, usize::from(args.threads))?;
    if !found.holds() && !args.allow_unproved {
        show_open(&checked, &found);
        report::err("error: nothing is compared, because the program is not proved\n");
        return Ok(report::FAILED);
    }
    show_refused(&found);
    let built = program(&checked, entry, &args.level)?;
    let leaks = !timing(&checked.target).variable_time.is_empty();
    let options = Options { secret_mul_leaks: leaks, ckb_vm: checked.target.ckb_vm(), only: args.function.first().cloned(), threads: usize::from(args.threads) };
    let done = compare(&image, isa, &built, &options, &cache);
    if done.totals.functions == 0 {
        return Err(nothing(args, entry, &image, &built));
    }
    if report::json() {
        let target = args.source.target_name(entry)?;
        let json = Json { holds: done.holds(), leaves_nothing: args.function.is_empty().then(|| done.leaves_nothing()), file: &args.elf, entry, target: &target, source_proved: found.holds(), report: &done };
        report::answer(&json)?;
    } else {
        report::out(&table(&done));
        report::out(&left_behind(&done));
        if !found.holds() {
            report::out("NOT PROVED: some obligations of the program are open\n");
        }
    }
    let clean = args.allow_residue && !done.shows() || done.leaves_nothing();
    Ok(if done.holds() && clean { report::DONE } else { report::FAILED })
}

/// The program and its names in C, as `santoku build` makes them.
fn program(checked: &Checked, entry: &str, level: &str) -> Result<Built, Failure> {
    report::stage("passes");
    let level: Level = format!("O{level}").parse().map_err(|e: santoku_passes::ParseLevelError| Failure::internal("start", e.to_string()))?;
    let options =
        BuildOptions { level, without: Default::default(), dump_after: None, provenance: String::new(), unit: unit_of(entry)?, keep_secrets: false };
    build(checked, &options, &|| 0)
}

fn compare(image: &Image, isa: Isa, built: &Built, options: &Options, cache: &Cache) -> FileReport {
    report::stage("certify");
    let style = ProgressStyle::with_template("{spinner} {elapsed_precise} [{bar:30}] {pos}/{len} {msg}");
    let bar = ProgressBar::new(0);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(200));
    let start = Instant::now();
    let world = World {
        store: cache,
        clock: &|| start.elapsed().as_micros() as u64,
        tell: &|done, known, symbol| {
            bar.set_length(known as u64);
            bar.set_position(done as u64);
            bar.set_message(symbol.to_string());
        },
    };
    let symbols = symbols(image, &built.program, &built.names);
    let done = certify(image, isa, &built.program, symbols, options, &world);
    bar.finish_and_clear();
    done
}

/// One line a function, the reasons of what is open, the sums.
fn table(done: &FileReport) -> String {
    let width = done.functions.iter().map(|f| f.symbol.chars().count()).max().unwrap_or(0).min(60);
    let mut text = format!("{:<width$} {:<19} {:>7} {:>12} {:>9} {:>6} {:>8}  {}\n", "function", "verdict", "bytes", "instructions", "compared", "solver", "ms", "hash");
    for f in &done.functions {
        text += &row(f, width);
    }
    for f in done.functions.iter().filter(|f| !f.convention.is_empty()) {
        text += &format!("\n{}: not called as the source says: {}\n", f.symbol, f.convention.join("; "));
    }
    for f in done.open() {
        text += &format!("\n{}: {}\n", f.symbol, f.status.word());
        text += &details(&f.status);
    }
    let t = &done.totals;
    text += &format!(
        "\n{} of {} functions proved for {}: {} on their own, {} inside their callers; {} also with results in the place of parameters\n",
        t.proved,
        t.functions,
        done.isa,
        t.equal,
        t.proved - t.equal,
        t.shared,
    );
    text += &format!("the judge of bytes accepts {} of {}", t.judged, t.equal);
    text += if t.judged < t.equal { ", of the others the certifier is believed: see `believed` with --json\n" } else { "\n" };
    let unhashed = done.functions.iter().filter(|f| f.status.holds() && f.function.is_some() && !f.hashed).count();
    if unhashed > 0 {
        text += &format!("{unhashed} of them read what their hash does not cover, or lie in an image: proved of this file alone\n");
    }
    if t.without_source > 0 {
        text += &format!("{} functions of the file are not in the program, nothing is said of them\n", t.without_source);
    }
    let absent: Vec<&str> = done.without_symbol.iter().filter(|w| w.exported).map(|w| w.function.as_str()).collect();
    if !absent.is_empty() {
        text += &format!("exported by the program, and not in the file: {}\n", absent.join(", "));
    }
    text
}

/// What functions that handle secrets leave on the stack and in registers.
fn left_behind(done: &FileReport) -> String {
    let width = done.residues.iter().map(|r| r.symbol.chars().count()).max().unwrap_or(0).min(60);
    let mut text = String::new();
    if done.residues.is_empty() && done.functions.iter().any(|f| !f.local) {
        text += "no function that other files can call was asked what it leaves behind: none gets secrets, or a single one was named\n";
    }
    for r in &done.residues {
        let what = match &r.state {
            ResidueState::Nothing => format!("leaves no secret: {} bytes of stack were overwritten, and all registers that callers save", r.overwritten),
            ResidueState::Remains { place } => format!("LEAVES A SECRET, perhaps: {place}; it and what it calls use {} bytes of stack", r.deepest),
            ResidueState::NotFollowed { reason } => format!("not shown to leave no secret: {reason}"),
        };
        let by_hand = match &r.by_hand {
            None => String::new(),
            Some(ByHand::ShowsNothing) => "; code without a source branches on no secret, and has none in an address".to_string(),
            Some(ByHand::Shows { place }) => format!("; CODE WITHOUT A SOURCE MAY SHOW A SECRET: {place}"),
            Some(ByHand::NotFollowed { reason }) => format!("; whether code without a source shows a secret is not known: {reason}"),
        };
        text += &format!("{:<width$} {what}{by_hand}\n", r.symbol);
    }
    text
}

fn row(f: &FunctionReport, width: usize) -> String {
    let time = if f.work.cached { "kept".to_string() } else { format!("{:.1}", f.work.micros as f64 / 1e3) };
    let hash: String = f.hash.chars().take(12).collect();
    let (word, bytes) = (f.status.word(), f.bytes);
    if f.function.is_none() {
        return format!("{:<width$} {word:<19} {bytes:>7} {:>12} {:>9} {:>6} {:>8}  {hash}\n", f.symbol, "-", "-", "-", "-");
    }
    let (steps, compared, solver) = (f.work.instructions, f.work.compared, f.work.settled);
    format!("{:<width$} {word:<19} {bytes:>7} {steps:>12} {compared:>9} {solver:>6} {time:>8}  {hash}\n", f.symbol)
}

fn details(status: &Status) -> String {
    let mut text = format!("  why: {}\n", status.reason().unwrap_or_default());
    if let Status::Refuted(d) | Status::NotProved(d) = status {
        text += &format!("  code:   {}\n  source: {}\n", d.machine, d.source);
        for (name, value) in d.witness.iter().flat_map(|w| &w.inputs) {
            text += &format!("  {name} = {value}\n");
        }
    }
    if let Status::Leak { evidence, .. } = status {
        text += &shown(evidence);
    }
    // No input is known that tells the two apart: smaller pieces may be shown equal.
    if matches!(status, Status::NotProved(_) | Status::NotFollowed { .. } | Status::SourceNotFollowed { .. }) {
        text += "  try: give the body of the loop, or the step that stands there, to a function of its own (`@noinline`): it is compared by itself\n";
    }
    text
}

/// Two inputs that show a leak.
fn shown(e: &Evidence) -> String {
    let which = if e.execution == 1 { String::new() } else { format!(" (when the instruction is executed for the {}th time)", e.execution) };
    let mut text = format!("  two inputs that differ in secrets alone show it{which}:\n");
    let [first, second] = [0, 1].map(|k| e.secrets.iter().map(move |(n, a, b)| format!("{n} = {}", if k == 0 { a } else { b })).collect::<Vec<_>>());
    text += &format!("    {}: {}\n    {}: {}\n", first.join(", "), e.first, second.join(", "), e.second);
    for (name, value) in &e.same {
        let short: String = value.chars().take(VALUE_CHARS).collect();
        let more = if short.len() < value.len() { " .." } else { "" };
        text += &format!("    in both {name} = {short}{more}\n");
    }
    text
}

/// Of a value that is the same in both; `--json` has all of it.
const VALUE_CHARS: usize = 100;

/// Reads an ELF file.
fn load(path: &str) -> Result<Image, Failure> {
    let refused = |d: Diagnostic| Failure::refused(&Sources::default(), d);
    report::stage("elf");
    let bytes = files::read_bytes(path)?;
    santoku_elf::load(&bytes).map_err(|e| {
        let d = match e.kind {
            ErrorKind::NotElf => Diagnostic::error("not-elf", format!("`{path}` is no ELF file")),
            ErrorKind::NotRiscv => Diagnostic::error("wrong-machine", format!("`{path}` is not for RISC-V")),
            ErrorKind::Unsupported | ErrorKind::Corrupt => Diagnostic::error("bad-object", format!("`{path}` cannot be certified")),
        };
        refused(d.note(format!("where: {}", e.place)).note(format!("why: {}", e.reason)).help(e.way_out))
    })
}

fn instruction_set(march: Option<&str>, path: &str, image: &Image) -> Result<Isa, Failure> {
    let refused = |d: Diagnostic| Failure::refused(&Sources::default(), d);
    let Some(name) = march else {
        return Ok(if image.xlen == 32 { Isa::rv32imc() } else { Isa::rv64imc() });
    };
    let Some(isa) = isa_of(name) else {
        let d = Diagnostic::error("bad-option", format!("`--march {name}` is no instruction set that there is a model of"));
        return Err(refused(d.help("write rv32i or rv64i, then m, c, _zba, _zbb, _zbs as far as the processor has them, in this order")));
    };
    if isa.xlen.bits() != image.xlen {
        let d = Diagnostic::error("wrong-machine", format!("`{path}` is not for {name}"));
        let d = d.note(format!("why: the file is for registers of {} bits", image.xlen));
        return Err(refused(d.help("leave `--march` out to take the width from the file")));
    }
    Ok(isa)
}

fn nothing(args: &Args, entry: &str, image: &Image, built: &Built) -> Failure {
    let list = |names: Vec<&str>| match names.len() {
        0 => "none".to_string(),
        n if n > 8 => format!("{}, and {} more", names[..8].join(", "), n - 8),
        _ => names.join(", "),
    };
    let in_file: Vec<&str> = image.functions.iter().map(|f| f.name.as_str()).collect();
    let d = match args.function.first() {
        Some(name) => Diagnostic::error("nothing-to-certify", format!("`{}` holds no function `{name}` of `{entry}`", args.elf)),
        None => Diagnostic::error("nothing-to-certify", format!("`{}` holds no function of `{entry}`", args.elf)),
    };
    let names: BTreeMap<_, _> = built.names.iter().map(|(func, name)| (*func, built.program.func(*func).export.as_ref().unwrap_or(name))).collect();
    let d = d.note(format!("functions of the file: {}", list(in_file)));
    let d = d.note(format!("functions of the program: {}", list(names.values().map(|n| n.as_str()).collect())));
    Failure::refused(&Sources::default(), d.help("compare with the program that the C was made from, with the same `--target` and `-O`"))
}
