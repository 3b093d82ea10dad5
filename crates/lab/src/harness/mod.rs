//! From C sources and binary test vectors to measurements on the RV32 machine.
//!
//! Needs the cross compiler that `targets/rv32.toml` names. A job names C sources, the calls to make and the bytes to pass; the harness writes a
//! driver, compiles each source to its own object, links it with its own start-up code and memory layout (no C library;
//! libgcc of the right multilib), runs it, and reads the results back by symbol. Each call is one measuring window:
//! from just before the arguments are loaded to just after the return. Keeps nothing on disk.

mod build;
pub(crate) mod driver;
mod job;

use crate::error::LabError;
use crate::rv32::{Config, Machine, Measure, Run, SimError};
use crate::size::text_rodata;
use crate::stack::{leaf_frame, moved_by_assembly, CallGraph, StackBound};

pub use crate::cross::{STDINT, STRING};
pub(crate) use build::materialise;
pub use build::Toolchain;
pub use job::{Arg, Call, Code, Constants, Object, Program, Ret, Rv32Job, Source};
pub use santoku_target::Level;

/// What a call left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallOutput {
    /// Returned value, 0 for `void`.
    pub ret: u64,
    /// Contents of the buffer arguments after the call; `None` for the others.
    pub buffers: Vec<Option<Vec<u8>>>,
}

/// A finished run of a program.
pub struct Rv32Run {
    /// What the machine measured: one window a call.
    pub run: Run,
    /// What each call left behind.
    pub outputs: Vec<CallOutput>,
}

/// Everything known about a job after one run.
pub struct Rv32Report {
    /// One measurement a call.
    pub measures: Vec<Measure>,
    /// What each call left behind.
    pub outputs: Vec<CallOutput>,
    /// Worst-case stack of each called function.
    pub stack_bounds: Vec<StackBound>,
    /// Bytes of `.text` and `.rodata` of the measured sources' objects.
    pub size_bytes: u64,
    /// The program, for further runs.
    pub program: Program,
}

/// Builds the job, runs it once, and bounds its stack.
pub fn run_rv32(toolchain: &Toolchain, job: &Rv32Job) -> Result<Rv32Report, LabError> {
    let program = toolchain.build(job)?;
    let ran = program.run(&Config::default())?;
    let mut stack_bounds = Vec::new();
    for call in &job.calls {
        stack_bounds.push(program.stack_bound(&call.function)?);
    }
    Ok(Rv32Report {
        measures: ran.run.windows,
        outputs: ran.outputs,
        stack_bounds,
        size_bytes: program.size_bytes()?,
        program,
    })
}

impl Program {
    /// Runs the program. `config.ram_bytes` is replaced by the size it was linked for.
    pub fn run(&self, config: &Config) -> Result<Rv32Run, LabError> {
        let config = Config { ram_bytes: self.ram_bytes, ..config.clone() };
        let mut machine = Machine::new(&self.image, &config)?;
        let run = machine.run()?;
        if run.exit_status != 0 {
            return Err(LabError::ExitStatus(run.exit_status));
        }
        if run.windows.len() != self.calls.len() {
            return Err(LabError::BadJob(format!("{} windows for {} calls", run.windows.len(), self.calls.len())));
        }
        let outputs = self.calls.iter().enumerate().map(|(n, call)| read_output(&machine, n, call));
        Ok(Rv32Run { outputs: outputs.collect::<Result<_, _>>()?, run })
    }

    /// Replaces the bytes of an [`Arg::In`] argument for later runs. The length must be the same.
    pub fn set_input(&mut self, call: usize, arg: usize, bytes: &[u8]) -> Result<(), LabError> {
        match self.calls.get(call).and_then(|c| c.args.get(arg)) {
            Some(Arg::In(old)) if old.len() == bytes.len() => {}
            _ => {
                return Err(LabError::BadJob(format!(
                    "argument {arg} of call {call} is no input of {} bytes",
                    bytes.len()
                )))
            }
        }
        if bytes.is_empty() {
            return Ok(());
        }
        let addr = |name: &str| self.image.symbol(name).map(|s| s.addr);
        // Inputs are initialised data: start-up code copies them from this place in flash.
        let load =
            addr(&driver::buffer(call, arg))?.wrapping_sub(addr("__data_start")?).wrapping_add(addr("__data_load")?);
        self.image.patch(load, bytes)?;
        Ok(())
    }

    /// The function of known frame whose code stands at the address of `name`.
    fn folded_into(&self, name: &str, graph: &CallGraph) -> Option<String> {
        let (file, symbol) = name.rsplit_once(':').map_or(("", name), |(f, s)| (f, s));
        let at = self.image.symbols.get(symbol).filter(|s| s.size > 0)?;
        let same = self.image.symbols.iter().filter(|(n, s)| s.addr == at.addr && s.size == at.size && *n != symbol);
        same.flat_map(|(n, _)| [format!("{file}:{n}"), n.clone()]).find(|n| graph.knows(n))
    }

    /// Worst-case stack of a function of the program, from the compiler's call graph and libgcc's machine code.
    pub fn stack_bound(&self, function: &str) -> Result<StackBound, LabError> {
        let mut graph = CallGraph::default();
        for object in &self.objects {
            graph.add(&object.call_graph)?;
        }
        graph.add(&self.run_time)?;
        let unknown: Vec<String> = graph.unknown().map(str::to_string).collect();
        for name in unknown {
            if let Some(same) = self.folded_into(&name, &graph) {
                graph.add_alias(&name, &same);
            } else if let Some(bytes) = leaf_frame(&self.image, &name) {
                graph.add_leaf(&name, bytes)?;
            }
        }
        let bound = graph.bound(function)?;
        // What clears the stack goes as deep as it clears, below its own frame.
        let cleared = match moved_by_assembly(&self.image, function) {
            0 => 0,
            moved => graph.frame(function).unwrap_or(0) + moved,
        };
        Ok(if cleared > bound.bytes { StackBound { bytes: cleared, path: vec![function.to_string()] } } else { bound })
    }

    /// Bytes of `.text` and `.rodata` of the measured sources' objects, together.
    pub fn size_bytes(&self) -> Result<u64, LabError> {
        self.objects.iter().map(|object| text_rodata(&object.bytes)).sum()
    }
}

fn read_output(machine: &Machine, n: usize, call: &Call) -> Result<CallOutput, SimError> {
    let ret = match call.ret {
        Ret::Void => 0,
        Ret::Word32 | Ret::Word64 => {
            let bytes = machine.read_symbol(&driver::result(n), 8)?;
            driver::number(bytes)
        }
    };
    let buffer = |(a, arg): (usize, &Arg)| match arg {
        Arg::In(bytes) => machine.read_symbol(&driver::buffer(n, a), bytes.len()).map(|b| Some(b.to_vec())),
        Arg::Out(len) => machine.read_symbol(&driver::buffer(n, a), *len).map(|b| Some(b.to_vec())),
        Arg::Null | Arg::Word32(_) | Arg::Word64(_) => Ok(None),
    };
    Ok(CallOutput { ret, buffers: call.args.iter().enumerate().map(buffer).collect::<Result<_, _>>()? })
}
