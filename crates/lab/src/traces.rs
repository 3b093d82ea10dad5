//! What an emulated machine does, as an observer of branches and addresses sees it: a hash of every instruction's address and every access's.
//!
//! Needs QEMU with plugins and a C compiler of this machine.  Keeps: windows in the order in which they ran.  Absent: what a window should be.

use crate::calls::{emulate, printing_program, Job};
use crate::cross::{tool, Cross};
use crate::error::LabError;
use std::process::Command;

const TRACER: &str = include_str!("tracer.c");

/// One window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Trace {
    pub hash: u64,
    pub instructions: u64,
    /// Reads and writes of memory.
    pub accesses: u64,
}

/// Runs the job's calls on an emulated target; the windows between the first instruction of the function `begin` and that of the function `end`.
///
/// # Errors
/// Those of [`crate::calls::run`]; `BadJob`: the target is not emulated as a whole machine, or there is no window.
pub fn traces(cross: &Cross, job: &Job, [begin, end]: [&str; 2]) -> Result<Vec<Trace>, LabError> {
    let dir = tempfile::tempdir().map_err(LabError::io(std::env::temp_dir()))?;
    let (source, plugin, out) = (dir.path().join("tracer.c"), dir.path().join("tracer.so"), dir.path().join("windows"));
    std::fs::write(&source, TRACER).map_err(LabError::io(&source))?;
    tool(Command::new("gcc").args(["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-fvisibility=hidden", "-o"]).arg(&plugin).arg(&source), &["gcc".into()])?;
    let program = printing_program(cross, job, dir.path())?;
    let more = ["-plugin".to_string(), format!("{},out={},begin={begin},end={end}", plugin.display(), out.display())];
    emulate(cross, &program, &more)?;
    let text = std::fs::read_to_string(&out).map_err(LabError::io(&out))?;
    let windows: Option<Vec<Trace>> = text.lines().map(window).collect();
    windows.filter(|w| !w.is_empty()).ok_or_else(|| LabError::BadJob(format!("`{begin}` and `{end}` mark no window")))
}

fn window(line: &str) -> Option<Trace> {
    let [hash, instructions, accesses] = line.split_whitespace().collect::<Vec<_>>()[..] else { return None };
    Some(Trace { hash: u64::from_str_radix(hash, 16).ok()?, instructions: instructions.parse().ok()?, accesses: accesses.parse().ok()? })
}
