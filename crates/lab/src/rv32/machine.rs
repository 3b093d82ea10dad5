//! The machine: executes an image instruction by instruction, and measures it.

use super::calltree::CallTree;
use super::error::SimError;
use super::frontend::{Frontend, Outcome};
use super::image::Image;
use super::isa::{decode, Class, Inst, Op};
use super::measure::{Measure, Recorder};
use super::memory::{Memory, Source, BENCH_CONSOLE, BENCH_EXIT, FLASH_BASE};
use super::pipeline::{divide_latency, Pipeline, Timing};
use super::predict::Transfer;

/// Names of the functions whose entry opens and closes a measuring window, if the image defines them.
pub const MARKERS: [&str; 2] = ["lab_window_begin", "lab_window_end"];

/// What to simulate with.
#[derive(Clone, Debug)]
pub struct Config {
    /// Pipeline and memory timing; none: that of the E31.
    pub timing: Option<Timing>,
    /// RAM in bytes, at most 256 MiB. The board has 16 KiB; measuring does not need to fit it.
    pub ram_bytes: u32,
    /// Instructions after which a run is given up.
    pub step_limit: u64,
    /// Whether to build the call tree (costs about a third of the speed).
    pub profile: bool,
}

impl Default for Config {
    fn default() -> Self {
        Config { timing: None, ram_bytes: 1 << 20, step_limit: 4_000_000_000, profile: false }
    }
}

/// A finished run.
pub struct Run {
    /// The whole run, from reset to exit.
    pub whole: Measure,
    /// The measuring windows, in order.
    pub windows: Vec<Measure>,
    /// Status the program ended with, 0 for success.
    pub exit_status: u32,
    /// What the program printed.
    pub console: Vec<u8>,
    /// Call tree of the last window (of the whole run if there was none), when asked for.
    pub calls: Option<CallTree>,
}

#[derive(Clone, Copy)]
struct Decoded {
    inst: Inst,
    class: Class,
    mark: Mark,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    None,
    Begin,
    End,
}

/// Why execution does not go on. Boxed where instructions return it, so that going on costs no memory traffic.
enum Stop {
    Exit(u32),
    Fault(SimError),
}

impl From<SimError> for Box<Stop> {
    fn from(error: SimError) -> Self {
        Box::new(Stop::Fault(error))
    }
}

/// A machine with a program loaded. [`Machine::run`] may be called once; memory can be read afterwards.
pub struct Machine {
    x: [u32; 32],
    pc: u32,
    memory: Memory,
    code: Vec<Decoded>,
    pipeline: Pipeline,
    frontend: Frontend,
    recorder: Recorder,
    mscratch: u32,
    console: Vec<u8>,
    calls: Option<CallTree>,
    step_limit: u64,
    symbols: Image,
}

impl Machine {
    /// Loads an image.
    pub fn new(image: &Image, config: &Config) -> Result<Self, SimError> {
        if config.ram_bytes > 1 << 28 {
            return Err(SimError::BadElf("more RAM asked for than the address map has".into()));
        }
        let memory = Memory::new(image, config.ram_bytes)?;
        let code = predecode(image, memory.flash());
        let timing = config.timing.map_or_else(Timing::e31, Ok)?;
        Ok(Machine {
            x: [0; 32],
            pc: image.entry & !1,
            frontend: Frontend::new(code.len()),
            calls: config.profile.then(|| CallTree::new(image, code.len())),
            recorder: Recorder::new(memory.ram_end(), timing),
            memory,
            code,
            pipeline: Pipeline::new(timing),
            mscratch: 0,
            console: Vec::new(),
            step_limit: config.step_limit,
            symbols: Image { entry: image.entry, segments: Vec::new(), symbols: image.symbols.clone() },
        })
    }

    /// Runs to the program's end: a store to the bench device's exit register, or a semihosting exit.
    pub fn run(&mut self) -> Result<Run, SimError> {
        let stop = if self.calls.is_some() { self.execute::<true>() } else { self.execute::<false>() };
        let exit_status = match *stop {
            Stop::Exit(status) => status,
            Stop::Fault(error) => return Err(error),
        };
        let measured = self.recorder.finish(&self.pipeline, self.frontend.icache_misses);
        let (whole, windows) = measured.ok_or(SimError::UnbalancedMarker { pc: self.pc })?;
        Ok(Run { whole, windows, exit_status, console: std::mem::take(&mut self.console), calls: self.calls.take() })
    }

    /// Bytes of memory, by address.
    pub fn read(&self, addr: u32, len: usize) -> Option<&[u8]> {
        self.memory.read(addr, len)
    }

    /// The first `len` bytes of a named object.
    pub fn read_symbol(&self, name: &str, len: usize) -> Result<&[u8], SimError> {
        let addr = self.symbols.symbol(name)?.addr;
        self.read(addr, len).ok_or_else(|| SimError::UnknownSymbol(name.to_string()))
    }

    fn execute<const PROFILE: bool>(&mut self) -> Box<Stop> {
        while self.recorder.instret < self.step_limit {
            if let Err(stop) = self.advance::<PROFILE>() {
                return stop;
            }
        }
        SimError::StepLimit { steps: self.step_limit }.into()
    }

    /// Fetches, issues, executes and accounts for the next instruction.
    #[inline(always)]
    fn advance<const PROFILE: bool>(&mut self) -> Result<(), Box<Stop>> {
        let pc = self.pc;
        let index = (pc.wrapping_sub(FLASH_BASE) >> 1) as usize;
        let Some(&decoded) = self.code.get(index) else { return Err(SimError::FetchFault { pc }.into()) };
        let before = self.pipeline.next;
        let pipeline = &mut self.pipeline;
        let fetched = self.frontend.fetch(pc, decoded.inst.len, before, &pipeline.timing, &mut pipeline.stalls);
        let slot = pipeline.issue(&decoded.inst, decoded.class, fetched);
        self.frontend.take(slot);
        self.recorder.pc(pc);
        self.pc = self.step(&decoded, pc, slot)?;
        self.recorder.instret += 1;
        if decoded.inst.rd == 2 {
            self.recorder.sp(self.x[2]);
        }
        if PROFILE {
            if let Some(tree) = &mut self.calls {
                tree.charge(self.pipeline.next - before);
            }
        }
        if matches!(decoded.class, Class::Jump | Class::Branch) {
            self.transfer::<PROFILE>(&decoded, index, pc)?;
        }
        Ok(())
    }

    /// Executes one instruction that issues in `slot`.
    #[inline(always)]
    fn step(&mut self, d: &Decoded, pc: u32, slot: u64) -> Result<u32, Box<Stop>> {
        let i = &d.inst;
        let mut next = pc.wrapping_add(u32::from(i.len));
        let mut slot = slot;
        let mut taken = true;
        match d.class {
            Class::Alu => {
                self.write(i.rd, alu(i, pc, self.reg(i.rs1), self.reg(i.rs2)));
                self.pipeline.result(slot, i.rd, 1);
            }
            Class::Load => slot = self.load(i, pc, slot)?,
            Class::Store => self.store(i, pc, slot)?,
            Class::MulDiv => self.muldiv(i, slot),
            Class::Branch => {
                taken = branch_taken(i.op, self.reg(i.rs1), self.reg(i.rs2));
                if taken {
                    next = pc.wrapping_add(i.imm as u32);
                }
            }
            Class::Jump => {
                let base = if i.op == Op::Jal { pc } else { self.reg(i.rs1) };
                let target = base.wrapping_add(i.imm as u32) & !1;
                self.write(i.rd, next);
                self.pipeline.result(slot, i.rd, 1);
                next = target;
            }
            Class::Csr => self.csr(i, pc, slot)?,
            Class::Other => self.system(i, pc)?,
        }
        self.pipeline.retire(slot, d.class);
        if matches!(d.class, Class::Branch | Class::Jump) {
            self.frontend.transfer(outcome(i, pc, next, taken), slot, &self.pipeline.timing);
        }
        Ok(next)
    }

    #[inline]
    fn reg(&self, r: u8) -> u32 {
        self.x[(r & 31) as usize]
    }

    #[inline]
    fn write(&mut self, r: u8, value: u32) {
        self.x[(r & 31) as usize] = value;
        self.x[0] = 0;
    }

    #[inline]
    fn load(&mut self, i: &Inst, pc: u32, slot: u64) -> Result<u64, Box<Stop>> {
        let addr = self.reg(i.rs1).wrapping_add(i.imm as u32);
        let bytes: u32 = match i.op {
            Op::Lw => 4,
            Op::Lh | Op::Lhu => 2,
            _ => 1,
        };
        if addr & (bytes - 1) != 0 {
            return Err(SimError::Misaligned { pc, addr, bytes }.into());
        }
        let (value, source) = match i.op {
            Op::Lw => self.memory.load(addr).map(|(b, s)| (u32::from_le_bytes(b), s)),
            Op::Lh => self.memory.load(addr).map(|(b, s)| (i16::from_le_bytes(b) as u32, s)),
            Op::Lhu => self.memory.load(addr).map(|(b, s)| (u32::from(u16::from_le_bytes(b)), s)),
            Op::Lb => self.memory.load(addr).map(|(b, s)| (i8::from_le_bytes(b) as u32, s)),
            _ => self.memory.load(addr).map(|(b, s)| (u32::from(u8::from_le_bytes(b)), s)),
        }
        .ok_or(SimError::AccessFault { pc, addr, bytes, store: false })?;
        self.recorder.data(addr);
        let slot = match source {
            Source::Ram => self.pipeline.load(slot, addr, bytes),
            Source::Flash => {
                self.recorder.flash_words += 1;
                slot
            }
        };
        self.write(i.rd, value);
        let timing = &self.pipeline.timing;
        let latency = if bytes == 4 { timing.load_word } else { timing.load_narrow };
        self.pipeline.result(slot, i.rd, latency);
        Ok(slot)
    }

    /// Stores; a store to the bench device may end the run with a status.
    #[inline]
    fn store(&mut self, i: &Inst, pc: u32, slot: u64) -> Result<(), Box<Stop>> {
        let addr = self.reg(i.rs1).wrapping_add(i.imm as u32);
        let value = self.reg(i.rs2);
        let bytes: u32 = match i.op {
            Op::Sw => 4,
            Op::Sh => 2,
            _ => 1,
        };
        if addr & (bytes - 1) != 0 {
            return Err(SimError::Misaligned { pc, addr, bytes }.into());
        }
        let done = match i.op {
            Op::Sw => self.memory.store(addr, value.to_le_bytes()),
            Op::Sh => self.memory.store(addr, (value as u16).to_le_bytes()),
            _ => self.memory.store(addr, [value as u8]),
        };
        if done.is_none() {
            match addr {
                BENCH_CONSOLE => self.console.push(value as u8),
                BENCH_EXIT => return Err(Box::new(Stop::Exit(value))),
                _ => return Err(SimError::AccessFault { pc, addr, bytes, store: true }.into()),
            }
        }
        self.recorder.data(addr);
        self.pipeline.store(slot, addr, bytes);
        Ok(())
    }

    #[inline]
    fn muldiv(&mut self, i: &Inst, slot: u64) {
        let (a, b) = (self.reg(i.rs1), self.reg(i.rs2));
        let wide = |a: i64, b: i64| (a.wrapping_mul(b) >> 32) as u32;
        let (sa, sb, ub) = (i64::from(a as i32), i64::from(b as i32), i64::from(b));
        let value = match i.op {
            Op::Mul => a.wrapping_mul(b),
            Op::Mulh => wide(sa, sb),
            Op::Mulhsu => wide(sa, ub),
            Op::Mulhu => ((u64::from(a) * u64::from(b)) >> 32) as u32,
            // Division by zero and the one overflow have defined results (chapter 7.2).
            Op::Div if b == 0 => u32::MAX,
            Op::Div => (a as i32).wrapping_div(b as i32) as u32,
            Op::Divu => a.checked_div(b).unwrap_or(u32::MAX),
            Op::Rem if b == 0 => a,
            Op::Rem => (a as i32).wrapping_rem(b as i32) as u32,
            _ => a.checked_rem(b).unwrap_or(a),
        };
        let latency = match i.op {
            Op::Mul | Op::Mulh | Op::Mulhsu | Op::Mulhu => self.pipeline.timing.multiply,
            _ => divide_latency(a, b, matches!(i.op, Op::Div | Op::Rem), matches!(i.op, Op::Rem | Op::Remu)),
        };
        self.write(i.rd, value);
        self.pipeline.start_long(slot, i.rd, latency);
    }

    /// Reads the counters; mscratch is the one writable register, writes to the others are ignored as on a machine
    /// whose counters are not preset.
    fn csr(&mut self, i: &Inst, pc: u32, slot: u64) -> Result<(), SimError> {
        let number = i.imm as u32 & 0xfff;
        let old = match number {
            0xb00 | 0xc00 => slot as u32,
            0xb80 | 0xc80 => (slot >> 32) as u32,
            0xb02 | 0xc02 => self.recorder.instret as u32,
            0xb82 | 0xc82 => (self.recorder.instret >> 32) as u32,
            0x300 | 0x304 | 0x305 | 0x306 => 0,
            0x340 => self.mscratch,
            _ => return Err(SimError::IllegalInstruction { pc, bits: i.imm as u32 }),
        };
        let operand = match i.op {
            Op::Csrrwi | Op::Csrrsi | Op::Csrrci => i.imm as u32 >> 16,
            _ => self.reg(i.rs1),
        };
        if number == 0x340 {
            self.mscratch = match i.op {
                Op::Csrrw | Op::Csrrwi => operand,
                Op::Csrrs | Op::Csrrsi => old | operand,
                _ => old & !operand,
            };
        }
        self.write(i.rd, old);
        self.pipeline.result(slot, i.rd, self.pipeline.timing.csr);
        Ok(())
    }

    /// `fence` does nothing here; `ebreak` is a semihosting request (*RISC-V Semihosting*, version 0.2).
    fn system(&mut self, i: &Inst, pc: u32) -> Result<(), Box<Stop>> {
        const SYS_WRITEC: u32 = 3;
        const SYS_EXIT: u32 = 0x18;
        const SYS_EXIT_EXTENDED: u32 = 0x20;
        const STOPPED_APPLICATION_EXIT: u32 = 0x20026;
        let (request, argument) = (self.x[10], self.x[11]);
        let fault = |bytes| SimError::AccessFault { pc, addr: argument, bytes, store: false };
        match (i.op, request) {
            (Op::Fence, _) => Ok(()),
            (Op::Ebreak, SYS_WRITEC) => {
                let ([byte], _) = self.memory.load(argument).ok_or(fault(1))?;
                self.console.push(byte);
                Ok(())
            }
            (Op::Ebreak, SYS_EXIT) => Err(Box::new(Stop::Exit(u32::from(argument != STOPPED_APPLICATION_EXIT)))),
            (Op::Ebreak, SYS_EXIT_EXTENDED) => {
                let ([_, _, _, _, status @ ..], _) = self.memory.load::<8>(argument).ok_or(fault(8))?;
                Err(Box::new(Stop::Exit(u32::from_le_bytes(status))))
            }
            (Op::Illegal, _) => Err(SimError::IllegalInstruction { pc, bits: i.imm as u32 }.into()),
            _ => Err(SimError::UnknownTrap { pc, request }.into()),
        }
    }

    /// After a control transfer: windows, and the call tree.
    #[inline]
    fn transfer<const PROFILE: bool>(&mut self, d: &Decoded, index: usize, pc: u32) -> Result<(), SimError> {
        let target = (self.pc.wrapping_sub(FLASH_BASE) >> 1) as usize;
        let Some(landed) = self.code.get(target) else { return Err(SimError::FetchFault { pc: self.pc }) };
        let mark = landed.mark;
        if PROFILE && d.class == Class::Jump {
            if let Some(tree) = &mut self.calls {
                let back = FLASH_BASE.wrapping_add(2 * index as u32).wrapping_add(u32::from(d.inst.len));
                match (d.inst.rd, d.inst.op, d.inst.rs1) {
                    (0, Op::Jalr, 1) => tree.ret(self.pc),
                    (0, ..) => tree.jump(target),
                    _ => tree.call(target, back),
                }
            }
        }
        if mark != Mark::None {
            self.marker(mark, pc)?;
        }
        Ok(())
    }

    fn marker(&mut self, mark: Mark, pc: u32) -> Result<(), SimError> {
        let misses = self.frontend.icache_misses;
        let done = match mark {
            Mark::Begin => self.recorder.open(&self.pipeline, misses, self.x[2]),
            _ => self.recorder.close(&self.pipeline, misses),
        };
        done.ok_or(SimError::UnbalancedMarker { pc })?;
        if let Some(tree) = &mut self.calls {
            match mark {
                Mark::Begin => tree.restart(),
                _ => tree.stop(),
            }
        }
        Ok(())
    }
}

fn predecode(image: &Image, flash: &[u8]) -> Vec<Decoded> {
    let half = |i: usize| flash.get(2 * i..2 * i + 2).map_or(0, |b| u32::from(u16::from_le_bytes([b[0], b[1]])));
    let mut code: Vec<Decoded> = (0..flash.len() / 2)
        .map(|i| {
            let inst = decode(half(i) | half(i + 1) << 16);
            Decoded { inst, class: inst.op.class(), mark: Mark::None }
        })
        .collect();
    for (name, mark) in MARKERS.into_iter().zip([Mark::Begin, Mark::End]) {
        let index = image.symbols.get(name).map(|s| (s.addr.wrapping_sub(FLASH_BASE) >> 1) as usize);
        if let Some(decoded) = index.and_then(|i| code.get_mut(i)) {
            decoded.mark = mark;
        }
    }
    code
}

#[inline]
fn alu(i: &Inst, pc: u32, a: u32, b: u32) -> u32 {
    let imm = i.imm as u32;
    let (sa, sb) = (a as i32, b as i32);
    match i.op {
        Op::Lui => imm,
        Op::Auipc => pc.wrapping_add(imm),
        Op::Addi => a.wrapping_add(imm),
        Op::Slti => u32::from(sa < i.imm),
        Op::Sltiu => u32::from(a < imm),
        Op::Xori => a ^ imm,
        Op::Ori => a | imm,
        Op::Andi => a & imm,
        Op::Slli => a.wrapping_shl(imm),
        Op::Srli => a.wrapping_shr(imm),
        Op::Srai => sa.wrapping_shr(imm) as u32,
        Op::Add => a.wrapping_add(b),
        Op::Sub => a.wrapping_sub(b),
        Op::Sll => a.wrapping_shl(b),
        Op::Slt => u32::from(sa < sb),
        Op::Sltu => u32::from(a < b),
        Op::Xor => a ^ b,
        Op::Srl => a.wrapping_shr(b),
        Op::Sra => sa.wrapping_shr(b) as u32,
        Op::Or => a | b,
        Op::And => a & b,
        _ => unreachable!("only operations of class Alu come here"),
    }
}

/// How the front end sees a control transfer. Link registers are told by their odd number, as the hardware does.
#[inline]
fn outcome(i: &Inst, pc: u32, target: u32, taken: bool) -> Outcome {
    let links = i.rd & 1 == 1;
    let kind = match i.op {
        Op::Jal if links => Transfer::Call,
        Op::Jal => Transfer::Jump,
        Op::Jalr if links => Transfer::IndirectCall,
        Op::Jalr if i.rs1 == 1 || i.rs1 == 5 => Transfer::Return,
        Op::Jalr => Transfer::IndirectJump,
        _ => Transfer::Branch,
    };
    Outcome { next: pc.wrapping_add(u32::from(i.len)), target, taken, kind }
}

#[inline]
fn branch_taken(op: Op, a: u32, b: u32) -> bool {
    let (sa, sb) = (a as i32, b as i32);
    match op {
        Op::Beq => a == b,
        Op::Bne => a != b,
        Op::Blt => sa < sb,
        Op::Bge => sa >= sb,
        Op::Bltu => a < b,
        _ => a >= b,
    }
}
