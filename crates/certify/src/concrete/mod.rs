//! One function run on one input by the concrete machine of `isa`, with all it calls: the other way of asking what code does.
//!
//! Needs: the instruction model, the calling convention, layouts.  Keeps: registers and memory that a caller leaves without
//! meaning hold noise, so that code which reads them gives another result with other noise; a run sees what an observer of
//! branches, addresses and operands of variable time sees; a call breaks no rule ([`contract`]).  Absent: terms, proofs; how inputs are found
//! ([`inputs`]).
//! Trusted: nothing: it runs code to show what is wrong.

mod bench;
mod contract;
pub mod inputs;
mod memory;

use santoku_num::SplitMix64;

use crate::shared::twin;
use crate::source::abi::{self, Kind, Place, Role, Scalar};
use crate::source::scalars_of;
pub use bench::{Bench, End, Ran, Shown};
use bench::Run;
use inputs::Input;
use memory::{modulo, Region, Space};
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use santoku_elf::Image;
use santoku_ir::{FuncId, Len, Program, Ty};
use santoku_isa::ckb::{fuse, RULES};
use santoku_isa::{decode, effect, Effect, Inst, Isa, Latency, Machine, Memory, Sem, Stop, Word, Words};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

/// Bytes of stack below the stack pointer at entry.
const STACK: u64 = 1 << 17;
/// Bytes of the caller's frame above the arguments.
const FRAME: u64 = 64;
/// Where stack and objects may lie, in an image that has its code in the first place.
const PLACES: [u64; 2] = [0x5000_0000, 0x2000_0000];
/// Room of one object and the space behind it.
const STRIDE: u64 = 1 << 20;
/// Registers a function hands back as they were: sp, gp, tp, s0 to s11.
const KEPT: [usize; 15] = [2, 3, 4, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27];
/// Bytes the C library's functions may move in one call.
const COPY_MAX: u64 = 1 << 20;

/// Why a run does not go on.
enum Stopped {
    Fault(String),
    Unknown(String),
}

impl From<String> for Stopped {
    fn from(rule: String) -> Stopped {
        Stopped::Fault(rule)
    }
}

impl<'a> Bench<'a> {
    /// `shared`: results and parameters that are the same object.
    ///
    /// # Errors
    /// The signature cannot be passed, or there is no room beside the file's addresses.
    pub fn new(
        (image, isa): (&'a Image, Isa),
        program: &'a Program,
        func: FuncId,
        entry: u64,
        shared: &[(usize, usize)],
    ) -> Result<Bench<'a>, String> {
        let signature = abi::signature(program, program.func(func), image.xlen).map_err(|e| e.to_string())?;
        let room = STRIDE * (signature.args.len() as u64 + 2);
        let free = |at: &u64| image.sections.iter().all(|s| s.address >= at + room || s.address.saturating_add(s.size) <= *at);
        let place = PLACES.into_iter().find(free).ok_or("the file leaves no room for objects")?;
        let decoded = RefCell::default();
        let shared = shared.to_vec();
        Ok(Bench { image, isa, program, func, entry, shared, signature, place, decoded, callees: BTreeMap::new(), multiplications_show: false, ckb_vm: false })
    }

    /// Runs the function. `noise`: what everything without meaning holds; `steps`: instructions at most.
    pub fn run(&self, input: &Input, noise: u64, steps: u64) -> Ran {
        let mut run = match self.enter(input, noise) {
            Ok(run) => run,
            Err(why) => return Ran { end: End::Unknown { pc: self.entry, why }, results: vec![], seen: vec![], steps: 0 },
        };
        let before = (run.machine.regs, run.space.regions[0].bytes.clone());
        let end = run.go(steps);
        let end = if end == End::Returned { run.kept(&before) } else { end };
        let results = if end == End::Returned { self.results(&run) } else { vec![] };
        Ran { end, results, seen: run.seen, steps: run.steps }
    }

    fn enter(&self, input: &Input, noise: u64) -> Result<Run<'_>, String> {
        let mut noise = SplitMix64::new(noise);
        let mask = self.isa.xlen.mask();
        let top = STACK + u64::from(self.signature.stack) + FRAME;
        let mut stack = Region { name: "the stack".into(), base: self.place, bytes: noise.bytes(top as usize), writable: true };
        let sp = self.place + STACK;
        let mut machine = Machine::new(self.isa, self.entry);
        machine.regs.iter_mut().skip(1).for_each(|r| *r = noise.next_u64() & mask);
        // Inside the region of no object, and even.
        let return_to = self.place + STRIDE * (self.signature.args.len() as u64 + 1);
        (machine.regs[1], machine.regs[2]) = (return_to, sp);
        let (mut regions, mut outs, mut of_param) = (Vec::<Region>::new(), vec![], HashMap::<usize, usize>::new());
        let f = self.program.func(self.func);
        // Parameters first: results may take their places.
        let (results, params): (Vec<_>, Vec<_>) = self.signature.args.iter().partition(|a| matches!(a.role, Role::Ret(_)));
        for arg in params.into_iter().chain(results) {
            let base = self.place + STRIDE * (regions.len() as u64 + 1);
            let words = match (&arg.kind, arg.role) {
                (Kind::Scalar(s), Role::Len(k)) => words(s, &BigInt::from(*input.lens.get(k).ok_or("too few lengths")?), self.image.xlen),
                (Kind::Scalar(s), Role::Param(k)) => words(s, &input.scalar(k)?, self.image.xlen),
                (Kind::Scalar(_), Role::Ret(_)) => continue,
                (Kind::Pointer(_), Role::Param(p)) if twin(&self.shared, p).is_some() => {
                    let first = twin(&self.shared, p).and_then(|first| of_param.get(&first));
                    vec![first.map(|k| regions[*k].base).ok_or("parameters out of order")?]
                }
                (Kind::Pointer(o), Role::Param(p) | Role::Len(p)) => {
                    let scalars = scalars_of(input.args.get(p).ok_or("too few arguments")?);
                    let count = scalars.len().checked_div(o.units.len()).unwrap_or(0).max(1) as u64;
                    let size = o.size.checked_mul(count).filter(|n| *n < STRIDE / 2).ok_or("an argument is too long")?;
                    let name = f.local(f.params[p]).name.clone();
                    let mut region = Region { name, base, bytes: noise.bytes(size as usize), writable: false };
                    for (n, v) in scalars.iter().enumerate() {
                        let (unit, element) = (&o.units[n % o.units.len()], (n / o.units.len()) as u64);
                        region.put(element * o.size + unit.offset, unit.bytes, v);
                    }
                    of_param.insert(p, regions.len());
                    regions.push(region);
                    vec![base]
                }
                (Kind::Pointer(o), Role::Ret(r)) => {
                    let with = self.shared.iter().find(|(x, _)| *x == r).and_then(|(_, p)| of_param.get(p).copied());
                    let at = with.unwrap_or(regions.len());
                    let count = elements(&f.local(f.rets[r]).ty, input)?;
                    if with.is_none() {
                        let name = f.local(f.rets[r]).name.clone();
                        let size = o.size.checked_mul(count).filter(|n| *n < STRIDE / 2).ok_or("a result is too long")?;
                        regions.push(Region { name, base, bytes: noise.bytes(size as usize), writable: true });
                    }
                    regions[at].writable = true;
                    // Behind the stack.
                    outs.push((r, at + 1, count));
                    vec![regions[at].base]
                }
            };
            let slot = self.image.xlen / 8;
            for (n, word) in words.into_iter().enumerate() {
                let n = n as u32;
                let on_stack = |offset: u32| STACK + u64::from(offset);
                match arg.place {
                    Place::Regs { first, .. } => machine.regs[(10 + first + n) as usize] = word,
                    Place::Split { .. } if n == 0 => machine.regs[17] = word,
                    Place::Split { offset } => stack.put(on_stack(offset), slot, &word.into()),
                    Place::Stack { offset } => stack.put(on_stack(offset + n * slot), slot, &word.into()),
                }
            }
        }
        regions.insert(0, stack);
        let space = Space { image: self.image, regions, sp, entry_sp: sp, stack_args: self.signature.stack.into(), touched: None };
        let platform = [machine.regs[3], machine.regs[4]];
        Ok(Run { bench: self, machine, space, outs, return_to, noise, platform, lowest: sp, calls: vec![], seen: vec![], steps: 0, taken: 0..0 })
    }

    /// Results in order of the source.
    fn results(&self, run: &Run) -> Vec<BigInt> {
        let mut out = vec![];
        if let Some(s) = &self.signature.returned {
            // The whole registers: what a narrow value is extended with is part of the convention.
            let words = s.bits.div_ceil(self.image.xlen).max(1) as usize;
            out.extend((0..words).map(|k| BigInt::from(run.machine.regs[10 + k])));
        }
        for arg in &self.signature.args {
            let (Kind::Pointer(o), Role::Ret(r)) = (&arg.kind, arg.role) else { continue };
            let Some((_, k, count)) = run.outs.iter().find(|(x, ..)| *x == r) else { continue };
            let region = &run.space.regions[*k];
            let element = |n: u64| o.units.iter().map(move |u| region.value(n * o.size + u.offset, u.bytes, u.signed));
            out.extend((0..*count).flat_map(element));
        }
        out
    }

    /// What the source gives, in the form of [`Ran::results`].
    pub fn expected(&self, results: &[santoku_ir::interp::Value]) -> Vec<BigInt> {
        let flat = results.iter().flat_map(scalars_of);
        match &self.signature.returned {
            Some(s) => flat.flat_map(|v| words(s, &v, self.image.xlen)).map(BigInt::from).collect(),
            None => flat.collect(),
        }
    }

    fn decode(&self, pc: u64) -> Option<Inst> {
        if let Some(inst) = self.decoded.borrow().get(&pc) {
            return Some(*inst);
        }
        let word = self.image.fetch(pc).filter(|_| self.isa.takes_at(pc))?;
        let inst = decode(&self.isa, word)?;
        self.decoded.borrow_mut().insert(pc, inst);
        Some(inst)
    }
}

/// How many times its object a result is: an array of run-time length is so many elements, all else is one.
fn elements(ty: &Ty, input: &Input) -> Result<u64, String> {
    let Ty::Array { len: Len::Param { param, add }, .. } = ty else { return Ok(1) };
    let n = *input.lens.get(param.0 as usize).ok_or("too few lengths")?;
    i64::try_from(n).ok().and_then(|n| n.checked_add(*add)).and_then(|n| u64::try_from(n).ok()).ok_or_else(|| "a negative length".into())
}

/// Register contents of a scalar, the low part first; narrower ones extended by bit 31.
fn words(s: &Scalar, value: &BigInt, xlen: u32) -> Vec<u64> {
    let all = modulo(value, s.bits);
    let part = |k: u32| modulo(&(&all >> (k * xlen)), xlen).to_u64().unwrap_or(0);
    match s.bits < xlen {
        true => vec![i64::from(part(0) as u32 as i32) as u64],
        false => (0..s.bits / xlen).map(part).collect(),
    }
}

impl Run<'_> {
    fn go(&mut self, steps: u64) -> End {
        while self.machine.pc != self.return_to {
            if self.steps >= steps {
                return End::Endless;
            }
            self.steps += 1;
            let pc = self.machine.pc;
            self.returned();
            match self.step(pc) {
                Ok(()) => {}
                Err(Stopped::Fault(why)) => return End::Fault { pc, why },
                Err(Stopped::Unknown(why)) => return End::Unknown { pc, why },
            }
        }
        End::Returned
    }

    fn step(&mut self, pc: u64) -> Result<(), Stopped> {
        if let Some(name) = self.space.image.external(pc) {
            return self.external(name);
        }
        if self.bench.ckb_vm && self.group(pc)? {
            return Ok(());
        }
        let inst = self.bench.decode(pc).ok_or_else(|| Stopped::Unknown("no instruction is known here".into()))?;
        let taken = self.taken(&inst, pc);
        let operands = (self.machine.regs[usize::from(inst.rs1)], self.machine.regs[usize::from(inst.rs2)]);
        self.space.sp = self.machine.regs[2];
        self.lowest = self.lowest.min(self.space.sp);
        self.space.touched = None;
        let done = self.machine.execute(&inst, &mut self.space);
        // Who jumps into a group finds its instructions alone.
        if self.machine.pc != pc.wrapping_add(u64::from(inst.len)) {
            self.taken = 0..0;
        }
        let address = self.space.touched.map(|a| self.space.place(a));
        if done.map_err(|_| format!("memory is touched that it may not touch: {}", address.clone().unwrap_or_default()))? != Stop::Ran {
            return Err(Stopped::Unknown(format!("`{}`", inst.row.name)));
        }
        if let (Sem::Load { bytes, .. } | Sem::Store { bytes, .. }, Some(at)) = (inst.row.sem, self.space.touched) {
            if at % u64::from(bytes) != 0 {
                return Err(format!("{bytes} bytes at an address that is no multiple of {bytes}").into());
            }
        }
        if matches!(inst.row.sem, Sem::Jump(_)) {
            self.called(pc)?;
        }
        let varies = match inst.row.latency {
            Latency::Fixed => false,
            Latency::Multiply => self.bench.multiplications_show,
            Latency::Divide => true,
        };
        let shown = match inst.row.sem {
            Sem::Branch(_) => Some(Shown::Branch(taken)),
            Sem::Jump(_) => Some(Shown::Jump(self.machine.pc)),
            _ if varies => Some(Shown::Operands(operands.0, operands.1)),
            _ => address.map(Shown::Address),
        };
        self.seen.extend(shown.map(|s| (pc, s)));
        Ok(())
    }

    /// Executes a group that CKB-VM takes for one instruction, where that has another result; notes where other groups end.
    fn group(&mut self, pc: u64) -> Result<bool, String> {
        if self.taken.contains(&pc) {
            return Ok(false);
        }
        let longest = RULES.iter().map(|r| r.group.len()).max().unwrap_or(1);
        let (mut insts, mut at) = (vec![], pc);
        while let Some(inst) = self.bench.decode(at).filter(|_| insts.len() < longest) {
            at = at.wrapping_add(u64::from(inst.len));
            insts.push(inst);
        }
        let Some(fused) = fuse(&insts, pc) else { return Ok(false) };
        if fused.deviates {
            for inst in &fused.meaning {
                self.machine.execute(inst, &mut self.space).map_err(|_| "memory is touched in a group")?;
            }
        } else {
            self.taken = pc..pc + fused.meaning.iter().map(|i| u64::from(i.len)).sum::<u64>();
        }
        Ok(fused.deviates)
    }

    /// Whether a branch is about to be taken: its target may be the next instruction.
    fn taken(&self, inst: &Inst, pc: u64) -> bool {
        let of = |r: u8| Word::new(u128::from(self.machine.regs[usize::from(r)]), self.bench.image.xlen);
        let done = effect(&mut Words, &self.bench.isa, inst, pc, &of(inst.rs1), &of(inst.rs2));
        matches!(done, Effect::Branch { taken, .. } if taken.bits == 1)
    }

    /// `memcpy`, `memmove`, `memset`; afterwards the registers of callees hold noise.
    fn external(&mut self, name: &str) -> Result<(), Stopped> {
        let pc = self.machine.pc;
        if !["memcpy", "memmove", "memset"].contains(&name) {
            return Err(Stopped::Unknown(format!("a call of `{name}`, which the file does not hold")));
        }
        let [to, second, count] = [10, 11, 12].map(|r| self.machine.regs[r]);
        if count > COPY_MAX {
            return Err(format!("`{name}` of {count} bytes").into());
        }
        self.space.sp = self.machine.regs[2];
        if name == "memcpy" && to != second && to.abs_diff(second) < count {
            return Err("`memcpy` between places that overlap".to_string().into());
        }
        let outside = || format!("`{name}` touches what it may not touch");
        let bytes: Vec<u64> = match name {
            "memset" => vec![second & 0xff; count as usize],
            _ => (0..count).map(|k| self.space.load(second.wrapping_add(k), 1)).collect::<Option<_>>().ok_or_else(outside)?,
        };
        for (k, byte) in bytes.into_iter().enumerate() {
            self.space.store(to.wrapping_add(k as u64), 1, byte).ok_or_else(outside)?;
        }
        self.seen.push((pc, Shown::Address(self.space.place(to))));
        self.seen.push((pc, Shown::Operands(second & u64::from(name != "memset").wrapping_neg(), count)));
        self.machine.pc = self.machine.regs[1];
        self.spoil(1, 0);
        Ok(())
    }

    /// Registers that belong to the caller, and its frame.
    fn kept(&self, (regs, stack): &([u64; 32], Vec<u8>)) -> End {
        let pc = self.machine.pc;
        if let Some(r) = KEPT.into_iter().find(|r| self.machine.regs[*r] != regs[*r]) {
            return End::Fault { pc, why: format!("register {} is not as it was", santoku_isa::register_name(r as u8)) };
        }
        let above = (STACK + u64::from(self.bench.signature.stack)) as usize;
        if self.space.regions[0].bytes[above..] != stack[above..] {
            return End::Fault { pc, why: "the frame of the caller is changed".into() };
        }
        End::Returned
    }
}
