//! Writes the calibration programs for the RTL bench, and compares the bench's answers with the model's.
//!
//! `rtl_bench write FOLDER BUILT` takes our assembly from `BUILT/ours` and our C from `BUILT/gcc`, and leaves one `NAME.flash` and `NAME.elf` a program; `rtl_bench compare FOLDER` reads `NAME.out`
//! beside them, prints one row a number, and writes `NAME.tsv` in the form committed under `crates/lab/tests/data`.
//! Exit status 1 when a program's total differs by more than 0.5 %, 2 on any other failure.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use santoku_lab::calibration::{build, micro_program, micro_tests, numbers, refill_program, refill_tests, run_on_model, timed_main};
use santoku_lab::harness::{Level, Code, Source, Toolchain};
use santoku_lab::peers;
use santoku_lab::rv32::Config;

const TOLERANCE: f64 = 0.005;
const INSTRUCTIONS: &str = "instructions";
/// In C: what was counted until here does not count.
const START: &str = "cycles = lab_cycle(); instructions = lab_instret();";

/// A calibration program: name, the name of each number it prints, and how it is built.
struct Program {
    name: String,
    rows: Vec<String>,
    sources: Vec<Source>,
    code: Code,
    level: Level,
}

/// Units of ours: assembly for the machine's choice of implementations, and C.
const UNITS: [&str; 2] = ["nacl_sign", "scalarmult_curve25519"];

/// `made`: the folder with what was built of them; elsewhere, programs are named but cannot be built.
fn programs(made: &Path) -> Result<Vec<Program>, Box<dyn Error>> {
    let tests = micro_tests();
    let rows: Vec<String> = tests.iter().map(|t| t.name.clone()).collect();
    let micro = |code: Code| Program {
        name: format!("micro-{}", if code == Code::Plain { "rv32im" } else { "rv32imc" }),
        rows: rows.clone(),
        sources: micro_program(&tests),
        code,
        level: Level::O2,
    };
    let refill = Program { name: "micro-refill".into(), rows: refill_tests(), sources: refill_program(), code: Code::Plain, level: Level::O2 };
    let mut programs = vec![micro(Code::Plain), micro(Code::Compressed), refill];
    let root = peers::find_root(Path::new(env!("CARGO_MANIFEST_DIR"))).ok_or("not inside the repository")?;
    let peer = peers::fetch(&root, "tweetnacl")?;
    for level in [Level::O0, Level::O1, Level::O2] {
        let main = timed_main(&fs::read_to_string(root.join("lab/rtl/tweetnacl.h"))?, "sign()");
        let sources = peer.sources.iter().cloned().map(Source::File).chain([main]).collect();
        programs.push(Program {
            name: format!("tweetnacl-sign-{}", level.name()),
            rows: vec!["cycles".into(), INSTRUCTIONS.into()],
            sources,
            code: Code::Compressed,
            level,
        });
    }
    for (by, extension) in [("ours", "s"), ("gcc", "c")] {
        for operation in ["sign", "verify", "x25519"] {
            let main = timed_main(&fs::read_to_string(root.join("lab/rtl/ours.h"))?, &format!("prepare(); {START} {operation}()"));
            programs.push(Program {
                name: format!("{by}-{operation}"),
                rows: vec!["cycles".into(), INSTRUCTIONS.into()],
                sources: UNITS.iter().map(|unit| Source::File(made.join(by).join(format!("{unit}.{extension}")))).chain([main]).collect(),
                code: Code::Compressed,
                level: Level::O2,
            });
        }
    }
    Ok(programs)
}

fn write(folder: &Path, made: &Path) -> Result<(), Box<dyn Error>> {
    let toolchain = Toolchain::find()?;
    fs::create_dir_all(folder)?;
    for program in programs(made)? {
        let (elf, flash) = build(&toolchain, &program.sources, program.code, program.level)?;
        fs::write(folder.join(&program.name).with_extension("elf"), elf)?;
        fs::write(folder.join(&program.name).with_extension("flash"), flash)?;
        println!("{}", program.name);
    }
    Ok(())
}

/// True when every program that has an answer is within the tolerance.
fn compare(folder: &Path) -> Result<bool, Box<dyn Error>> {
    let mut compared = 0;
    let mut within = true;
    for program in programs(folder)? {
        let path = |extension: &str| -> PathBuf { folder.join(format!("{}.{extension}", program.name)) };
        let Ok(answer) = fs::read_to_string(path("out")) else {
            println!("{}: no answer from the RTL, skipped", program.name);
            continue;
        };
        let rtl = numbers(&answer)?;
        let model = run_on_model(&fs::read(path("elf"))?, &Config::default())?;
        if rtl.len() != program.rows.len() || model.len() != rtl.len() {
            return Err(format!("{}: {} numbers, expected {}", program.name, rtl.len(), program.rows.len()).into());
        }
        let mut table = String::new();
        let mut exact = 0;
        for ((row, rtl), model) in program.rows.iter().zip(&rtl).zip(&model) {
            table.push_str(&format!("{row}\t{rtl}\n"));
            if rtl == model {
                exact += 1;
            } else {
                println!("{}: {row}: RTL {rtl}, model {model}", program.name);
            }
        }
        fs::write(path("tsv"), table)?;
        let cycles = |numbers: &[u64]| -> u64 {
            let rows = program.rows.iter().zip(numbers).filter(|(row, _)| *row != INSTRUCTIONS);
            rows.map(|(_, n)| n).sum()
        };
        let (rtl, model) = (cycles(&rtl), cycles(&model));
        let off = model as f64 / rtl as f64 - 1.0;
        println!("{}: {exact} of {} exact, total {:+.3} %", program.name, program.rows.len(), 100.0 * off);
        within &= off.abs() <= TOLERANCE;
        compared += 1;
    }
    Ok(within && compared > 0)
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    let done = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [_, "write", folder, made] => write(Path::new(folder), Path::new(made)).map(|()| true),
        [_, "compare", folder] => compare(Path::new(folder)),
        _ => Err("usage: rtl_bench write FOLDER BUILT, or rtl_bench compare FOLDER".into()),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("rtl_bench: {error}");
            ExitCode::from(2)
        }
    }
}
