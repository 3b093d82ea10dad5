//! `santoku lab run`: a program on CKB-VM, and where its cycles go.

use super::lab_common::write_picture;
use crate::{files, report};
use santoku_diag::{Diagnostic, Sources};
use santoku_driver::Failure;
use santoku_lab::ckb::{self, CkbError, CkbJob, Machine, Profile, Version};
use santoku_workbench::text::{share, table};
use std::path::PathBuf;

/// Rows of a table that are shown.
const ROWS: usize = 30;

#[derive(clap::Args)]
pub struct RunArgs {
    /// The program: a static 64-bit RISC-V ELF file
    elf: PathBuf,
    /// `ckb-vm`, or `ckb-vm:0`, `ckb-vm:1`, `ckb-vm:2` for a version of it; 2 is the newest
    #[arg(long, default_value = "ckb-vm")]
    machine: String,
    /// Cycles after which the run is given up
    #[arg(long, value_name = "N", default_value_t = 10_000_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    max_cycles: u64,
    /// Write the flame graph, an SVG picture
    #[arg(short = 'o', value_name = "FILE.svg")]
    out: Option<PathBuf>,
    /// Write the stacks, one line each with its cycles: what programs that draw flame graphs read
    #[arg(long, value_name = "FILE")]
    folded: Option<PathBuf>,
    /// Arguments of the program
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<String>,
}

pub fn run(args: &RunArgs) -> Result<u8, Failure> {
    let refused = |d: Diagnostic| Failure::refused(&Sources::default(), d);
    let version = match args.machine.as_str() {
        "ckb-vm" | "ckb-vm:2" => Version::V2,
        "ckb-vm:1" => Version::V1,
        "ckb-vm:0" => Version::V0,
        other => return Err(refused(Diagnostic::error("bad-option", format!("there is no machine `{other}` here")).help("there are: ckb-vm, ckb-vm:0, ckb-vm:1, ckb-vm:2"))),
    };
    let elf = std::fs::read(&args.elf).map_err(|_| refused(files::no_file(&args.elf.display().to_string())))?;
    let job = CkbJob { args: args.args.clone(), max_cycles: args.max_cycles, machine: Machine::Ckb(version), near_misses: true, ..CkbJob::default() };
    report::stage("lab");
    let found = ckb::profile(&elf, &job).map_err(|e| match e {
        CkbError::Internal(why) => Failure::internal("lab", why),
        e => refused(Diagnostic::error("not-measured", format!("`{}` was not measured", args.elf.display())).note(format!("why: {e}")).help("`santoku explain not-measured`")),
    })?;
    if let Some(path) = &args.out {
        let title = args.elf.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let svg = found.flame_graph(&format!("{title}, {}", args.machine)).map_err(|e| Failure::internal("lab", e.to_string()))?;
        write_picture(path, svg)?;
    }
    if let Some(path) = &args.folded {
        write_picture(path, found.folded.join("\n") + "\n")?;
    }
    report::out(&text(&found));
    report::answer(&found)?;
    Ok(report::DONE)
}

fn text(p: &Profile) -> String {
    let all = p.run.cycles;
    let functions = p.functions.iter().take(ROWS).map(|f| vec![f.name.clone(), f.calls.to_string(), f.self_cycles.to_string(), share(f.self_cycles, all), f.inclusive_cycles.to_string()]).collect();
    let ops = p.ops.iter().take(ROWS).map(|o| vec![o.name.clone(), if o.fused { "fused".into() } else { String::new() }, o.count.to_string(), o.cycles.to_string(), share(o.cycles, all)]).collect();
    let mut text = table(&["function", "calls", "self", "share", "with callees"], 1, functions);
    text += "\n";
    text += &table(&["operation", "", "executed", "cycles", "share"], 2, ops);
    if !p.near_misses.is_empty() {
        let rows = p.near_misses.iter().take(ROWS).map(|m| vec![format!("{:#x}", m.pc), m.function.clone(), m.pair.to_string(), m.why.clone(), m.count.to_string(), m.cycles.to_string()]).collect();
        let lost: u64 = p.near_misses.iter().map(|m| m.cycles).sum();
        text += &format!("\n{}", table(&["at", "function", "not fused", "why", "executed", "lost"], 4, rows));
        text += &format!("{} pairs are not fused, {lost} cycles\n", p.near_misses.len());
    }
    for line in &p.run.debug {
        text += &format!("it said: {line}\n");
    }
    text + &format!("ended with code {}: {all} cycles, {} to load it, {} operations\n", p.run.exit_code, p.run.load_cycles, p.operations)
}
