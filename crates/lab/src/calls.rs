//! Calls of C functions on any target: built, executed, results read back.
//!
//! Needs the target's compiler and what executes its programs. A program makes all calls in order and leaves results and buffers: in variables
//! where a simulator lets them be read, on standard output elsewhere, byte by byte, whatever the order of bytes in memory.

use crate::cross::Cross;
use crate::error::LabError;
use crate::harness::driver::{self, number};
use crate::harness::{self, Arg, Call, CallOutput, Ret, Rv32Job, Source, Toolchain};
use crate::{ckb, program};
use santoku_target::{Executor, Level};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// C files, and the calls to make.
#[derive(Clone, Debug)]
pub struct Job {
    pub sources: Vec<Source>,
    pub include_dirs: Vec<PathBuf>,
    pub calls: Vec<Call>,
    pub level: Level,
}

/// Marks around calls, which only the E31's model measures.
const WINDOWS: &str = "void lab_window_begin(void) {}\nvoid lab_window_end(void) {}\n";
/// Bytes of memory that a program on the E31's model may use: more than the board has, so that long messages can be tried.
pub(crate) const RAM_BYTES: u32 = 16 << 20;
/// Cycles of a virtual machine after which a program is given up.
pub(crate) const MAX_CYCLES: u64 = 200_000_000_000;

/// Makes the calls on the target, and gives what each left behind.
///
/// # Errors
/// Those of building; of the simulators; [`LabError::ExitStatus`] where the program does not end well; [`LabError::BadJob`] where its output is
/// not what the calls leave.
pub fn run(cross: &Cross, job: &Job) -> Result<Vec<CallOutput>, LabError> {
    let dir = tempfile::tempdir().map_err(LabError::io(std::env::temp_dir()))?;
    match cross.run()?.on {
        Executor::E31 => on_e31(job),
        on @ (Executor::CkbVm | Executor::Rv64Vm) => on_vm(cross, on, job, dir.path()),
        Executor::Native | Executor::Emulator => printed(cross, job, dir.path()),
    }
}

fn on_e31(job: &Job) -> Result<Vec<CallOutput>, LabError> {
    let job = Rv32Job {
        include_dirs: job.include_dirs.clone(),
        level: job.level,
        ram_bytes: RAM_BYTES,
        constants: harness::Constants::Flash,
        ..Rv32Job::new(job.sources.clone(), job.calls.clone())
    };
    let program = Toolchain::find()?.build(&job)?;
    Ok(program.run(&crate::rv32::Config { step_limit: u64::MAX, ..Default::default() })?.outputs)
}

/// Builds a program of the job's files and this `main`.
fn built(cross: &Cross, job: &Job, dir: &Path, main: &str) -> Result<PathBuf, LabError> {
    let main = Source::Text { name: "main.c".into(), text: main.into() };
    let mut paths = vec![];
    for (n, source) in job.sources.iter().chain([&main]).enumerate() {
        paths.push(harness::materialise(dir, n, source)?.1);
    }
    let level = job.level.flag();
    Ok(program::build(dir, cross, &paths, &job.include_dirs, &[&level])?.program)
}

fn on_vm(cross: &Cross, on: Executor, job: &Job, dir: &Path) -> Result<Vec<CallOutput>, LabError> {
    let elf = built(cross, job, dir, &(driver::text(&job.calls)? + WINDOWS))?;
    let elf = std::fs::read(&elf).map_err(LabError::io(&elf))?;
    let outputs = job.calls.iter().enumerate().flat_map(|(n, call)| variables(n, call)).collect();
    let machine = virtual_machine(cross, on)?;
    let run = ckb::run(&elf, &ckb::CkbJob { outputs, max_cycles: MAX_CYCLES, machine, ..Default::default() });
    let run = run.and_then(|r| r.expect_exit(0)).map_err(|e| LabError::BadJob(e.to_string()))?;
    Ok(job.calls.iter().enumerate().map(|(n, call)| left(n, call, &run.outputs)).collect())
}

/// Variables of a program that hold what a call leaves.
pub(crate) fn variables(n: usize, call: &Call) -> Vec<String> {
    let result = (call.ret != Ret::Void).then(|| driver::result(n));
    let buffers = call.args.iter().enumerate().filter(|(_, a)| length(a).is_some()).map(|(a, _)| driver::buffer(n, a));
    result.into_iter().chain(buffers).collect()
}

/// What a call left, by the contents of these variables.
pub(crate) fn left(n: usize, call: &Call, outputs: &BTreeMap<String, Vec<u8>>) -> CallOutput {
    let bytes = |name: &str, len: usize| outputs.get(name).and_then(|b| b.get(..len)).map(<[u8]>::to_vec);
    CallOutput {
        ret: bytes(&driver::result(n), 8).map_or(0, |b| number(&b)),
        buffers: call.args.iter().enumerate().map(|(a, arg)| length(arg).and_then(|len| bytes(&driver::buffer(n, a), len))).collect(),
    }
}

/// The virtual machine that a target is.
pub(crate) fn virtual_machine(cross: &Cross, on: Executor) -> Result<ckb::Machine, LabError> {
    let wrong = || LabError::Target { name: cross.target.name.clone(), reason: "`[costs]` has no `instruction`".into() };
    match on {
        Executor::Rv64Vm => Ok(ckb::Machine::Rv64im(*cross.target.costs.get("instruction").ok_or_else(wrong)?)),
        _ => Ok(ckb::Machine::Ckb(ckb::Version::V2)),
    }
}

/// Bytes of a buffer argument.
pub(crate) fn length(arg: &Arg) -> Option<usize> {
    match arg {
        Arg::In(bytes) => Some(bytes.len()),
        Arg::Out(len) => Some(*len),
        Arg::Null | Arg::Word32(_) | Arg::Word64(_) => None,
    }
}

fn printed(cross: &Cross, job: &Job, dir: &Path) -> Result<Vec<CallOutput>, LabError> {
    let program = printing_program(cross, job, dir)?;
    read_back(&job.calls, &emulate(cross, &program, &[])?)
}

/// A program that makes the calls and prints what they leave.
pub(crate) fn printing_program(cross: &Cross, job: &Job, dir: &Path) -> Result<PathBuf, LabError> {
    built(cross, job, dir, &printing(&job.calls)?)
}

/// Runs a program with the emulator of the description and these further options of it, or as it is where the description names none; what it printed.
pub(crate) fn emulate(cross: &Cross, program: &Path, options: &[String]) -> Result<Vec<u8>, LabError> {
    let described = cross.run()?;
    let mut run = match described.command.split_first() {
        None => Command::new(program),
        Some((emulator, args)) => {
            let mut run = Command::new(emulator);
            run.args(options).args(args).arg(program);
            run
        }
    };
    let tool = run.get_program().to_string_lossy().into_owned();
    let done = run.output().map_err(|_| LabError::MissingTool { tool, package: described.packages.join(" ") })?;
    match done.status.code() {
        Some(0) => Ok(done.stdout),
        Some(code) => Err(LabError::ExitStatus(code as u32)),
        None => Err(LabError::BadJob(format!("the program was stopped: {}", done.status))),
    }
}

/// A driver that writes each call's result, eight bytes with the lowest first, then its buffers in order.
fn printing(calls: &[Call]) -> Result<String, LabError> {
    let mut text = driver::text(calls)?.replace("int main(void)", "static int made(void)") + WINDOWS;
    text.push_str(
        "long lab_write(const void *, unsigned long);\n\
         static void number(unsigned long long x)\n{\n    unsigned char b[8];\n    int i;\n    for (i = 0; i < 8; i++) {\n        b[i] = (unsigned char)(x >> (8 * i));\n    }\n    \
         lab_write(b, 8);\n}\nint main(void)\n{\n    made();\n",
    );
    for (n, call) in calls.iter().enumerate() {
        let _ = writeln!(text, "    number({});", driver::result(n));
        for (a, len) in call.args.iter().enumerate().filter_map(|(a, arg)| Some((a, length(arg)?))).filter(|(_, len)| *len > 0) {
            let _ = writeln!(text, "    lab_write({}, {len});", driver::buffer(n, a));
        }
    }
    text.push_str("    return 0;\n}\n");
    Ok(text)
}

fn read_back(calls: &[Call], mut bytes: &[u8]) -> Result<Vec<CallOutput>, LabError> {
    let mut take = |n: usize| {
        let (head, tail) = bytes.split_at_checked(n).ok_or_else(|| LabError::BadJob("the program wrote less than its calls leave".into()))?;
        bytes = tail;
        Ok::<_, LabError>(head.to_vec())
    };
    let mut out = vec![];
    for call in calls {
        let ret = number(&take(8)?);
        let ret = if call.ret == Ret::Void { 0 } else { ret };
        let buffers = call.args.iter().map(|arg| length(arg).map(&mut take).transpose()).collect::<Result<_, _>>()?;
        out.push(CallOutput { ret, buffers });
    }
    match bytes.is_empty() {
        true => Ok(out),
        false => Err(LabError::BadJob(format!("the program wrote {} bytes too many", bytes.len()))),
    }
}
