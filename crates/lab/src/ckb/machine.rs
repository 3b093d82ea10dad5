//! The machine with a program in it, what it is given and what it answers.

use super::error::CkbError;
use super::image::Image;
use ckb_vm::cost_model::estimate_cycles;
use ckb_vm::machine::{VERSION0, VERSION1, VERSION2};
use ckb_vm::registers::{A0, A1, A2, A7};
use ckb_vm::{
    Bytes, CoreMachine, DefaultCoreMachine, Instruction, DefaultMachine, DefaultMachineBuilder, Memory, Register,
    SparseMemory, SupportMachine, Syscalls, WXorXMemory, ISA_B, ISA_IMC, ISA_MOP,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use serde::Serialize;

/// A version of the chain's machine (CKB RFCs 0003, 0033, 0049). A script's hash type says which one runs it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// IMC, nothing fused.
    V0,
    /// With B and the first fused groups.
    V1,
    /// With groups for sums with a carry.
    #[default]
    V2,
}

impl Version {
    /// As the VM's crate counts.
    pub(crate) fn number(self) -> u32 {
        match self {
            Version::V0 => VERSION0,
            Version::V1 => VERSION1,
            Version::V2 => VERSION2,
        }
    }
}

/// What executes: the chain's machine, or the guest of a zkVM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// Cycles as a node counts them.
    Ckb(Version),
    /// RV64IM, each instruction so many cycles.
    Rv64im(u64),
}

impl Machine {
    pub(crate) fn isa(self) -> u8 {
        match self {
            Machine::Ckb(Version::V1 | Version::V2) => ISA_IMC | ISA_B | ISA_MOP,
            Machine::Ckb(Version::V0) | Machine::Rv64im(_) => ISA_IMC,
        }
    }

    /// The version of the VM that executes it.
    pub(crate) fn version(self) -> u32 {
        match self {
            Machine::Ckb(version) => version.number(),
            Machine::Rv64im(_) => VERSION2,
        }
    }

    /// Cycles of an instruction.
    pub(crate) fn cost(self) -> Box<dyn Fn(Instruction) -> u64 + Send + Sync> {
        match self {
            Machine::Ckb(_) => Box::new(estimate_cycles),
            Machine::Rv64im(each) => Box::new(move |_| each),
        }
    }
}

const SYSCALL_DEBUG: u64 = 2177;

/// Bytes of one debug line that are kept; a program that prints without end is cut here.
const DEBUG_LINE_MAX: usize = 4096;

const DEBUG_LINES_MAX: usize = 1024;

pub(crate) type Core = DefaultCoreMachine<u64, WXorXMemory<SparseMemory<u64>>>;

pub(crate) type Vm = DefaultMachine<Core>;

/// What a program is given and how long it may run.
#[derive(Clone, Debug)]
pub struct CkbJob {
    /// `argv`, the program's name not included by itself.
    pub args: Vec<String>,
    /// Variable name and bytes; no longer than the variable.
    pub inputs: Vec<(String, Vec<u8>)>,
    /// Data that system calls load in part, as the chain's do (CKB RFC 0009: address, place of the length, offset), by the number of the call.
    pub loads: BTreeMap<u64, Vec<u8>>,
    /// Variables to read at the end.
    pub outputs: Vec<String>,
    /// Cycles after which the run is given up.
    pub max_cycles: u64,
    /// What executes the program.
    pub machine: Machine,
    /// Function whose stack [`profile`] measures.
    pub stack_of: Option<String>,
    /// [`profile`] also looks for pairs that are not executed as one.
    ///
    /// [`profile`]: super::profile()
    pub near_misses: bool,
}

impl Default for CkbJob {
    /// No input, no output, 10^10 cycles.
    fn default() -> Self {
        CkbJob { args: Vec::new(), inputs: Vec::new(), loads: BTreeMap::new(), outputs: Vec::new(), max_cycles: 10_000_000_000, machine: Machine::Ckb(Version::V2), stack_of: None, near_misses: false }
    }
}

/// A finished run.
#[derive(Clone, Debug, Serialize)]
pub struct CkbRun {
    /// Value the program ended with.
    pub exit_code: i8,
    /// Running cycles, fused instructions counted as the VM fuses them. Loading is not included.
    pub cycles: u64,
    /// Cycles a node charges for loading: a quarter per byte, rounded up.
    pub load_cycles: u64,
    /// Final bytes of the variables asked for.
    pub outputs: BTreeMap<String, Vec<u8>>,
    /// Lines printed through the debug syscall.
    pub debug: Vec<String>,
}

impl CkbRun {
    /// The run itself if it ended with `expected`, an error saying both codes otherwise.
    pub fn expect_exit(self, expected: i8) -> Result<CkbRun, CkbError> {
        match self.exit_code == expected {
            true => Ok(self),
            false => Err(CkbError::Exit { expected, found: self.exit_code, debug: self.debug }),
        }
    }
}

/// A program in its machine, inputs in place.
pub(crate) struct Loaded {
    pub(crate) vm: Vm,
    pub(crate) image: Image,
    pub(crate) load_cycles: u64,
    pub(crate) debug: Arc<Mutex<Vec<String>>>,
}

impl Loaded {
    pub(crate) fn new(elf: &[u8], job: &CkbJob) -> Result<Self, CkbError> {
        let image = Image::parse(elf)?;
        if matches!(job.machine, Machine::Rv64im(_)) && image.compressed {
            return Err(CkbError::Elf { reason: "it has compressed instructions, which this machine has not".into() });
        }
        let debug = Arc::new(Mutex::new(Vec::new()));
        let core = <Core as SupportMachine>::new(job.machine.isa(), job.machine.version(), job.max_cycles);
        let mut vm = DefaultMachineBuilder::new(core)
            .instruction_cycle_func(job.machine.cost())
            .syscall(Box::new(DebugPrint(debug.clone())))
            .syscall(Box::new(Loads(job.loads.clone())))
            .build();
        let program = Bytes::copy_from_slice(elf);
        let args: Vec<Bytes> = job.args.iter().map(|a| Bytes::copy_from_slice(a.as_bytes())).collect();
        let bytes =
            vm.load_program(&program, args.into_iter().map(Ok)).map_err(|e| CkbError::Elf { reason: e.to_string() })?;
        for (name, data) in &job.inputs {
            let var = image.variable(name)?;
            if data.len() as u64 > var.size {
                return Err(CkbError::Input { name: name.clone(), len: data.len(), room: var.size });
            }
            vm.memory_mut().store_bytes(var.addr, data).map_err(|e| CkbError::Variable { name: name.clone(), reason: e.to_string() })?;
        }
        Ok(Loaded { vm, image, load_cycles: bytes.div_ceil(4), debug })
    }

    pub(crate) fn finish(mut self, exit_code: i8, job: &CkbJob) -> Result<CkbRun, CkbError> {
        let mut outputs = BTreeMap::new();
        for name in &job.outputs {
            let var = self.image.variable(name)?;
            let bytes = self.vm.memory_mut().load_bytes(var.addr, var.size);
            let bytes = bytes.map_err(|e| CkbError::Variable { name: name.clone(), reason: e.to_string() })?;
            outputs.insert(name.clone(), bytes.to_vec());
        }
        let debug = self.debug.lock().map(|d| d.clone()).unwrap_or_default();
        Ok(CkbRun { exit_code, cycles: self.vm.cycles(), load_cycles: self.load_cycles, outputs, debug })
    }
}

/// System calls that load data: the length that was there is the room, and becomes the size of what is left from the offset.
struct Loads(BTreeMap<u64, Vec<u8>>);

impl<M: SupportMachine> Syscalls<M> for Loads {
    fn initialize(&mut self, _: &mut M) -> Result<(), ckb_vm::Error> {
        Ok(())
    }

    fn ecall(&mut self, machine: &mut M) -> Result<bool, ckb_vm::Error> {
        let Some(data) = self.0.get(&machine.registers()[A7].to_u64()) else { return Ok(false) };
        let (to, length, offset) = (machine.registers()[A0].to_u64(), machine.registers()[A1].clone(), machine.registers()[A2].to_u64());
        let left = usize::try_from(offset).ok().and_then(|from| data.get(from..)).unwrap_or_default();
        let room = machine.memory_mut().load64(&length)?.to_u64();
        machine.memory_mut().store64(&length, &M::REG::from_u64(left.len() as u64))?;
        machine.memory_mut().store_bytes(to, &left[..left.len().min(usize::try_from(room).unwrap_or(usize::MAX))])?;
        machine.set_register(A0, M::REG::zero());
        Ok(true)
    }
}

/// The chain's `debug` syscall: prints a string that ends with a zero byte.
struct DebugPrint(Arc<Mutex<Vec<String>>>);

impl<M: SupportMachine> Syscalls<M> for DebugPrint {
    fn initialize(&mut self, _: &mut M) -> Result<(), ckb_vm::Error> {
        Ok(())
    }

    fn ecall(&mut self, machine: &mut M) -> Result<bool, ckb_vm::Error> {
        if machine.registers()[A7].to_u64() != SYSCALL_DEBUG {
            return Ok(false);
        }
        let mut line = Vec::new();
        let mut addr = machine.registers()[A0].to_u64();
        while line.len() < DEBUG_LINE_MAX {
            match machine.memory_mut().load8(&M::REG::from_u64(addr))?.to_u8() {
                0 => break,
                byte => line.push(byte),
            }
            addr = addr.wrapping_add(1);
        }
        if let Ok(mut lines) = self.0.lock() {
            if lines.len() < DEBUG_LINES_MAX {
                lines.push(String::from_utf8_lossy(&line).trim_end().to_string());
            }
        }
        Ok(true)
    }
}
