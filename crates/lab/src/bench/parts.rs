//! What is measured and what comes of it, whatever the machine.

use crate::cross::Cross;
use crate::error::LabError;
use crate::harness::{Call, CallOutput, Code, Level, Source};
use crate::profile::Leaf;
use crate::size::text_rodata;
use super::spills::{self, StackAccesses};
use santoku_target::Target;
use serde::Serialize;
use std::path::PathBuf;

/// An implementation: C files, how they are compiled, and the call of every operation.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Name in tables and records; with compiler and level unique in a build.
    pub name: String,
    pub sources: Vec<Source>,
    /// Sources that the program needs besides and that no figure counts, such as a source of randomness.
    pub support: Vec<Source>,
    pub include_dirs: Vec<PathBuf>,
    /// Static libraries.
    pub libs: Vec<PathBuf>,
    /// Compiler flags beside those of the machine and the level.
    pub flags: Vec<String>,
    pub level: Level,
    /// Compiler by its name in `targets/compilers.toml`; none: the machine's first.
    pub compiler: Option<String>,
    /// Compressed instructions or not, where the machine has both.
    pub code: Code,
    /// A C function without arguments that is run before anything is timed, and gives 0 if all is well.
    pub setup: Option<String>,
    /// One call an operation, in the order of the operations.
    pub calls: Vec<Call>,
}

impl Subject {
    /// Sources and calls alone, by the machine's first compiler at `-O2`.
    pub fn new(name: &str, sources: Vec<Source>, calls: Vec<Call>) -> Subject {
        Subject {
            name: name.into(),
            sources,
            support: vec![],
            include_dirs: vec![],
            libs: vec![],
            flags: vec![],
            level: Level::O2,
            compiler: None,
            code: Code::Compressed,
            setup: None,
            calls,
        }
    }
}

/// What calls do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    pub name: String,
    /// Bytes that one call processes; 0: cycles per byte say nothing.
    pub bytes: usize,
}

/// What a call cost. What a machine does not have is left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Measures {
    /// Exact on simulators; on this machine the median, in core cycles.
    pub cycles: u64,
    /// Tenth and ninetieth percentile of repeated runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<[u64; 2]>,
    /// With flash reads and refills of the board. An estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles_board: Option<u64>,
    /// Instructions retired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instret: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icache_misses: Option<u64>,
    /// Data reads served by flash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flash_words: Option<u64>,
    /// Bytes of stack used in this run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack_bytes: Option<u64>,
    /// Longest path through the call graph, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack_bound_bytes: Option<u64>,
    /// Hash of all program counters and data addresses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_hash: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_second: Option<f64>,
}

impl Measures {
    /// Instructions per cycle.
    pub fn ipc(&self) -> Option<f64> {
        self.instret.map(|n| n as f64 / self.cycles.max(1) as f64)
    }
}

/// A call made: what it left, what it cost.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub left: CallOutput,
    pub measures: Measures,
}

/// What is known of an implementation once it is built.
#[derive(Clone, Debug)]
pub struct Fact {
    /// First line of what the compiler says of itself.
    pub compiler: String,
    /// Its command.
    pub command: String,
    pub flags: Vec<String>,
    /// Bytes of `.text` and `.rodata` of the implementation's own objects; none where it is a library of others.
    pub size_bytes: Option<u64>,
    /// Instructions of these objects, and those of them that touch the stack: an estimate of spills.
    pub stack_accesses: Option<StackAccesses>,
}

/// Where the cycles of one call went.
pub struct Profile {
    /// Most cycles in themselves first.
    pub leaves: Vec<Leaf>,
    /// Flame graph.
    pub svg: String,
    pub cycles: u64,
}

/// A machine that measures.
pub trait Machine: Send + Sync {
    /// Builds all implementations of the operations.
    ///
    /// # Errors
    /// Those of compilers and linkers; [`LabError::BadJob`]: an implementation has not one call an operation.
    fn build(&self, subjects: &[Subject], operations: &[Operation]) -> Result<Box<dyn Built>, LabError>;
}

/// Implementations, built.
pub trait Built: Send {
    /// One an implementation, in order.
    fn facts(&self) -> &[Fact];

    /// Runs an operation of all implementations: one outcome each, in order.
    ///
    /// # Errors
    /// A program that crashes, hangs, or ends otherwise than it should; [`LabError::BadJob`]: there is no such operation.
    fn run(&mut self, operation: usize) -> Result<Vec<Outcome>, LabError>;

    /// Runs an operation of one implementation on other bytes: `inputs` are numbers of arguments and what replaces them, of the same length.
    ///
    /// # Errors
    /// Those of [`Built::run`]; [`LabError::BadJob`]: the machine keeps its inputs.
    fn run_on(&mut self, _subject: usize, _operation: usize, _inputs: &[(usize, Vec<u8>)]) -> Result<Outcome, LabError> {
        Err(LabError::BadJob("this machine runs programs on the inputs that they were built with".into()))
    }

    /// Where the cycles of an operation go.
    ///
    /// # Errors
    /// Those of [`Built::run`]; [`LabError::BadJob`]: the machine does not say.
    fn profile(&mut self, _subject: usize, _operation: usize, _title: &str) -> Result<Profile, LabError> {
        Err(LabError::BadJob("this machine does not tell functions apart".into()))
    }

    /// How the figures came about, for those who read them; empty where they are exact.
    fn note(&self) -> String {
        String::new()
    }

    /// The whole run as JSON, where it holds more than the outcomes do.
    fn raw(&self) -> Option<String> {
        None
    }
}

pub(crate) fn check(subjects: &[Subject], operations: &[Operation]) -> Result<(), LabError> {
    if subjects.is_empty() || operations.is_empty() {
        return Err(LabError::BadJob("nothing to measure".into()));
    }
    match subjects.iter().find(|s| s.calls.len() != operations.len()) {
        Some(s) => Err(LabError::BadJob(format!("{}: {} calls for {} operations", s.name, s.calls.len(), operations.len()))),
        None => Ok(()),
    }
}

pub(crate) fn no_operation(n: usize) -> LabError {
    LabError::BadJob(format!("there is no operation {n}"))
}

pub(crate) fn no_subject(n: usize) -> LabError {
    LabError::BadJob(format!("there is no implementation {n}"))
}

/// Bytes of `.text` and `.rodata` of objects, and their accesses to the stack.
pub(crate) fn own(cross: &Cross, objects: &[PathBuf]) -> Result<(u64, StackAccesses), LabError> {
    let mut size = 0;
    for object in objects {
        size += text_rodata(&std::fs::read(object).map_err(LabError::io(object))?)?;
    }
    Ok((size, spills::count(cross, objects)?))
}

/// A compiler of a machine for a subject.
pub(crate) fn compiler(target: &Target, subject: &Subject) -> Result<Cross, LabError> {
    Cross::named(target, subject.compiler.as_deref())
}
