//! The same C on RISC-V: 32 bits in the model of the E31, 64 bits on CKB-VM. No sanitizer there: other machines, other compilers.

use super::driver::{text, Place, ENTRY};
use super::{input, wrong, Call, Subject};
use santoku_lab::ckb::{self, CkbJob};
use santoku_lab::cross::{machine, Cross};
use santoku_lab::harness::{self, Arg, Level, Ret, Rv32Job, Source, Toolchain, STRING};
use santoku_lab::rv32::Config;

/// A machine, by what compiles for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Machine {
    /// RV32IMC by gcc; no integers of 128 bits.
    E31,
    /// RV64IMC with Zba, Zbb, Zbc, Zbs by clang.
    Ckb,
}

impl Machine {
    pub const ALL: [Machine; 2] = [Machine::E31, Machine::Ckb];

    /// Whether its compiler has the integers that the C of a subject needs.
    pub fn takes(self, s: &Subject) -> bool {
        self != Machine::E31 || s.widest <= 64
    }
}

/// What was compared on a machine: calls, and those of them that differ.
pub struct Ran<'c> {
    pub calls: Vec<&'c Call>,
    pub wrong: Vec<&'c Call>,
}

/// Runs the calls of the subjects that the machine takes, compiled at a level (`O0` to `Os`).
pub fn run<'c>(machine: Machine, subjects: &[Subject], calls: &'c [Call], level: Level) -> Result<Ran<'c>, String> {
    let taken = || subjects.iter().enumerate().filter(|(_, s)| machine.takes(s));
    let calls: Vec<&Call> = calls.iter().filter(|c| machine.takes(&subjects[c.subject])).collect();
    if calls.is_empty() {
        return Ok(Ran { calls, wrong: vec![] });
    }
    let (c, bytes) = (text(taken(), Place::Memory), input(&calls));
    let room: usize = calls.iter().map(|c| 16 * c.expected.len()).sum();
    let output = match machine {
        Machine::E31 => on_e31(c, bytes, room, level)?,
        Machine::Ckb => on_ckb(&c, bytes, room, level)?,
    };
    let wrong = wrong(&calls, &output);
    Ok(Ran { calls, wrong })
}

fn on_e31(c: String, bytes: Vec<u8>, room: usize, level: Level) -> Result<Vec<u8>, String> {
    let n = bytes.len() as u64;
    let call = harness::Call { declaration: ENTRY.into(), function: "drive".into(), args: vec![Arg::Out(room), Arg::In(bytes), Arg::Word64(n)], ret: Ret::Word64 };
    let mut job = Rv32Job::new(vec![Source::Text { name: "units.c".into(), text: c }], vec![call]);
    (job.level, job.ram_bytes) = (level, 16 << 20);
    let program = Toolchain::find().and_then(|t| t.build(&job)).map_err(|e| e.to_string())?;
    let ran = program.run(&Config::default()).map_err(|e| e.to_string())?;
    if ran.outputs[0].ret != room as u64 {
        return Err(format!("{} bytes of {room}", ran.outputs[0].ret));
    }
    ran.outputs[0].buffers[0].clone().ok_or_else(|| "no output".into())
}

fn on_ckb(c: &str, bytes: Vec<u8>, room: usize, level: Level) -> Result<Vec<u8>, String> {
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    let main = format!("{c}unsigned char given[{}], made[{room}];\nint main(void) {{ return drive(made, given, sizeof given) != sizeof made; }}\n", bytes.len());
    let file = dir.path().join("units.c");
    for (path, text) in [(&file, main.as_str()), (&dir.path().join("string.h"), STRING)] {
        std::fs::write(path, text).map_err(|e| e.to_string())?;
    }
    let flags = ["-std=c99", &format!("-{}", level.name())];
    let cross = machine("ckb").and_then(|t| Cross::find(&t, Some("clang"))).map_err(|e| e.to_string())?;
    let elf = santoku_lab::program::build(dir.path(), &cross, &[file], &[dir.path().into()], &flags).map_err(|e| e.to_string())?.program;
    let elf = std::fs::read(elf).map_err(|e| e.to_string())?;
    let job = CkbJob { inputs: vec![("given".into(), bytes)], outputs: vec!["made".into()], ..CkbJob::default() };
    let mut run = ckb::run(&elf, &job).and_then(|r| r.expect_exit(0)).map_err(|e| e.to_string())?;
    run.outputs.remove("made").ok_or_else(|| "no output".into())
}
