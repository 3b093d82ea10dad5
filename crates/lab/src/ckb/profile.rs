//! Where the cycles of a run go.

use super::calls::CallTree;
use super::error::CkbError;
use super::machine::{CkbJob, CkbRun, Loaded};
use super::near::{self, NearMiss};
use ckb_vm::ckb_vm_definitions::instructions as ops;
use ckb_vm::decoder::build_decoder;
use ckb_vm::instructions::{execute, extract_opcode, instruction_length, is_basic_block_end_instruction, Itype, Utype};
use ckb_vm::registers::{RA, SP, T0};
use ckb_vm::{CoreMachine, Instruction, SupportMachine, ISA_MOP};
use serde::Serialize;
use std::collections::BTreeMap;

/// Cost of one function over the run.
#[derive(Clone, Debug, Serialize)]
pub struct FunctionCost {
    /// Symbol, or address for code without one.
    pub name: String,
    /// Times entered.
    pub calls: u64,
    /// Cycles in the function itself.
    pub self_cycles: u64,
    /// Cycles in it and all it called; recursion counted once.
    pub inclusive_cycles: u64,
}

/// Cost of one operation as the VM executes it: a fused sequence is one operation.
#[derive(Clone, Debug, Serialize)]
pub struct OpCost {
    /// The VM's name.
    pub name: String,
    /// Whether it stands for several instructions.
    pub fused: bool,
    /// Times executed.
    pub count: u64,
    /// Cycles.
    pub cycles: u64,
}

/// A run taken apart. Each table's cycles sum to [`CkbRun::cycles`].
#[derive(Clone, Debug, Serialize)]
pub struct Profile {
    /// Result of the run.
    pub run: CkbRun,
    /// Operations executed, fused ones counted once.
    pub operations: u64,
    /// Functions, most self cycles first.
    pub functions: Vec<FunctionCost>,
    /// Operations, most cycles first.
    pub ops: Vec<OpCost>,
    /// Lines `outer;inner;leaf cycles`, sorted: the form flame-graph tools read.
    pub folded: Vec<String>,
    /// Pairs that this machine executes as one where they stand otherwise, most cycles first; none unless [`CkbJob::near_misses`].
    pub near_misses: Vec<NearMiss>,
    /// Bytes of stack that the function of [`CkbJob::stack_of`] and its callees used; 0 if it was not entered.
    pub stack_bytes: u64,
}

impl Profile {
    /// Flame graph of the run as SVG text, width by cycles.
    pub fn flame_graph(&self, title: &str) -> Result<String, CkbError> {
        let mut options = inferno::flamegraph::Options::default();
        options.title = title.to_string();
        options.count_name = "cycles".to_string();
        options.deterministic = true;
        let mut svg = Vec::new();
        inferno::flamegraph::from_lines(&mut options, self.folded.iter().map(String::as_str), &mut svg)
            .map_err(|e| CkbError::Internal(format!("flame graph: {e}")))?;
        String::from_utf8(svg).map_err(|e| CkbError::Internal(format!("flame graph: {e}")))
    }
}

/// What a control transfer means for the call tree.
enum Flow {
    Call,
    Return,
    Jump,
}

fn flow(instruction: Instruction) -> Flow {
    let links = |r: usize| r == RA || r == T0;
    match extract_opcode(instruction) {
        // The fused far jumps always leave the return address in a register.
        ops::OP_FAR_JUMP_REL | ops::OP_FAR_JUMP_ABS => Flow::Call,
        ops::OP_JAL if links(Utype(instruction).rd()) => Flow::Call,
        ops::OP_JALR_VERSION0 | ops::OP_JALR_VERSION1 => match Itype(instruction) {
            i if links(i.rd()) => Flow::Call,
            i if links(i.rs1()) => Flow::Return,
            _ => Flow::Jump,
        },
        _ => Flow::Jump,
    }
}

fn is_fused(op: ops::InstructionOpcode) -> bool {
    (ops::OP_WIDE_MUL..=ops::OP_CUSTOM_LOAD_IMM).contains(&op) || op == ops::OP_FAR_JUMP_REL || op == ops::OP_FAR_JUMP_ABS
}

pub fn profile(mut loaded: Loaded, job: &CkbJob) -> Result<Profile, CkbError> {
    let mut decoder = build_decoder::<u64>(job.machine.isa(), job.machine.version());
    let cost = job.machine.cost();
    let fuses = job.near_misses && job.machine.isa() & ISA_MOP != 0;
    let mut halves: BTreeMap<u64, u64> = BTreeMap::new();
    let mut histogram: BTreeMap<ops::InstructionOpcode, (u64, u64)> = BTreeMap::new();
    let (vm, image) = (&mut loaded.vm, &loaded.image);
    let mut tree = CallTree::new(image.function_at(*vm.pc()));
    let watched = job.stack_of.as_ref().and_then(|name| image.function(name));
    // Stack pointers: where the function is entered, and the lowest since.
    let mut stack: Option<(u64, u64)> = None;
    vm.set_running(true);
    while vm.running() {
        let pc = *vm.pc();
        if Some(pc) == watched && stack.is_none() {
            stack = Some((vm.registers()[SP], vm.registers()[SP]));
        }
        let mut step = || -> Result<Instruction, ckb_vm::Error> {
            let instruction = decoder.decode(vm.memory_mut(), pc)?;
            let cycles = cost(instruction);
            vm.add_cycles(cycles)?;
            let entry = histogram.entry(extract_opcode(instruction)).or_default();
            entry.0 += 1;
            entry.1 += cycles;
            tree.charge(cycles);
            if fuses && near::is_half(instruction) {
                *halves.entry(pc).or_default() += 1;
            }
            execute(instruction, vm)?;
            Ok(instruction)
        };
        let instruction = step().map_err(|e| CkbError::trap(e, pc, image.function_name(image.function_at(pc)), job.max_cycles))?;
        if let Some((_, lowest)) = &mut stack {
            *lowest = (*lowest).min(vm.registers()[SP]);
        }
        if is_basic_block_end_instruction(instruction) {
            let next = pc + u64::from(instruction_length(instruction));
            transfer(&mut tree, instruction, *vm.pc(), next, |pc| image.function_at(pc));
        }
    }
    let exit_code = vm.exit_code();
    let near_misses = near::misses(&halves, job.machine, vm, image);
    let tables = tables(&loaded, &tree, &histogram);
    let run = loaded.finish(exit_code, job)?;
    let profile = tables.check(run)?;
    Ok(Profile { near_misses, stack_bytes: stack.map_or(0, |(entry, lowest)| entry - lowest), ..profile })
}

/// Updates the tree after a jump to `pc`; `next` is the address behind the jump.
fn transfer(tree: &mut CallTree, instruction: Instruction, pc: u64, next: u64, function_at: impl Fn(u64) -> u64) {
    let target = function_at(pc);
    match flow(instruction) {
        // `jal ra, .+4` reads the program counter.
        Flow::Call if pc != next => tree.call(target, next),
        Flow::Return if tree.ret(pc) => {}
        _ if pc != next && target != tree.function() => tree.tail_call(target),
        _ => {}
    }
}

struct Tables {
    functions: Vec<FunctionCost>,
    ops: Vec<OpCost>,
    folded: Vec<String>,
}

fn tables(loaded: &Loaded, tree: &CallTree, histogram: &BTreeMap<ops::InstructionOpcode, (u64, u64)>) -> Tables {
    let name = |entry: u64| loaded.image.function_name(entry);
    let mut by_function: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    let mut folded = Vec::new();
    for (n, node) in tree.nodes.iter().enumerate() {
        let entry = by_function.entry(node.function).or_default();
        entry.0 += node.calls;
        entry.1 += node.self_cycles;
        if node.self_cycles > 0 {
            let chain: Vec<String> = tree.chain(n).into_iter().map(name).collect();
            folded.push(format!("{} {}", chain.join(";"), node.self_cycles));
        }
    }
    folded.sort();
    let inclusive = tree.inclusive();
    let mut functions: Vec<FunctionCost> = by_function
        .into_iter()
        .map(|(f, (calls, self_cycles))| FunctionCost { name: name(f), calls, self_cycles, inclusive_cycles: inclusive[&f] })
        .collect();
    functions.sort_by(|a, b| b.self_cycles.cmp(&a.self_cycles).then_with(|| a.name.cmp(&b.name)));
    let mut ops: Vec<OpCost> = histogram
        .iter()
        .map(|(op, &(count, cycles))| OpCost {
            name: ops::instruction_opcode_name(*op).to_string(),
            fused: is_fused(*op),
            count,
            cycles,
        })
        .collect();
    ops.sort_by(|a, b| b.cycles.cmp(&a.cycles).then_with(|| a.name.cmp(&b.name)));
    Tables { functions, ops, folded }
}

impl Tables {
    /// Every cycle of the run is in both tables, or the profile is wrong and is not given out. Cycles of a syscall's handler
    /// would be missing from both; ours charges none.
    fn check(self, run: CkbRun) -> Result<Profile, CkbError> {
        let by_function: u64 = self.functions.iter().map(|f| f.self_cycles).sum();
        let by_op: u64 = self.ops.iter().map(|o| o.cycles).sum();
        if by_function != run.cycles || by_op != run.cycles {
            let sums = format!("{} cycles, {by_function} by function, {by_op} by operation", run.cycles);
            return Err(CkbError::Internal(sums));
        }
        let operations = self.ops.iter().map(|o| o.count).sum();
        Ok(Profile { run, operations, functions: self.functions, ops: self.ops, folded: self.folded, near_misses: vec![], stack_bytes: 0 })
    }
}
