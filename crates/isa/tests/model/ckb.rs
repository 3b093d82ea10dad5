//! Against the `ckb-vm` crate: its decoder and its interpreter, instruction by instruction, no fusion.

use crate::cases::{forms, model, random_case, scratch, After, Case, Tally, SCRATCH, SCRATCH_BYTES, SETS};
use crate::random::Random;
use ckb_vm::instructions::{b, execute, i, m, rvc, Instruction};
use ckb_vm::machine::VERSION2;
use ckb_vm::{
    CoreMachine, DefaultCoreMachine, DefaultMachine, DefaultMachineBuilder, FlatMemory, Memory, Register, SupportMachine, ISA_B, ISA_IMC,
};
use santoku_isa::{Isa, Xlen};

pub struct Ckb<R: Register> {
    pub vm: DefaultMachine<DefaultCoreMachine<R, FlatMemory<R>>>,
}

pub fn ckb_decode<R: Register>(bits: u32) -> Option<Instruction> {
    let factories = [rvc::factory::<R>, i::factory::<R>, m::factory::<R>, b::factory::<R>];
    factories.iter().find_map(|f| f(bits, VERSION2))
}

impl<R: Register> Ckb<R> {
    pub fn new() -> Ckb<R> {
        let core = DefaultCoreMachine::<R, FlatMemory<R>>::new_with_memory(ISA_IMC | ISA_B, VERSION2, u64::MAX, 1 << 18);
        let mut vm = DefaultMachineBuilder::new(core).build();
        vm.memory_mut().store_bytes(SCRATCH, &scratch().bytes).expect("scratch");
        Ckb { vm }
    }

    pub fn set(&mut self, regs: &[u64; 32], pc: u64) {
        for (n, value) in regs.iter().enumerate() {
            self.vm.set_register(n, R::from_u64(*value));
        }
        self.vm.update_pc(R::from_u64(pc));
        self.vm.commit_pc();
    }

    pub fn state(&self) -> After {
        let mut regs = [0; 32];
        for (to, from) in regs.iter_mut().zip(self.vm.registers()) {
            *to = from.to_u64();
        }
        (regs, self.vm.pc().to_u64())
    }

    /// `None` if the machine has no such instruction.
    pub fn run(&mut self, case: &Case) -> Option<After> {
        let inst = ckb_decode::<R>(case.inst.bits)?;
        self.set(&case.regs, case.pc);
        execute(inst, &mut self.vm).unwrap_or_else(|e| panic!("{}: {e}", case.inst));
        Some(self.state())
    }

    pub fn scratch(&mut self) -> Vec<u8> {
        self.vm.memory_mut().load_bytes(SCRATCH, SCRATCH_BYTES).expect("scratch").to_vec()
    }
}

/// What its decoder lacks: on RV32 it knows RV64's encodings of these only.
pub fn absent(isa: &Isa) -> &'static [&'static str] {
    match isa.xlen {
        Xlen::Rv32 => &["zext.h", "rev8"],
        Xlen::Rv64 => &[],
    }
}

/// Runs `rounds` cases of every form in both; the number of cases.
fn agree<R: Register>(isa: &Isa, rounds: u64, seed: u64) -> u64 {
    let forms = forms(isa);
    let mut tally = Tally::new(&forms, absent(isa));
    let (mut ckb, mut memory, mut r) = (Ckb::<R>::new(), scratch(), Random::new(seed));
    for _ in 0..rounds {
        for form in &forms {
            let case = random_case(isa, form, &mut r);
            let Some(found) = ckb.run(&case) else {
                assert!(absent(isa).contains(&form.name), "ckb-vm has no {} ({:#x})", case.inst, case.inst.bits);
                continue;
            };
            let want = model(isa, &case, &case.inst, &mut memory).expect("data is in reach");
            assert_eq!(want, found, "model and ckb-vm: {} ({:#x}) at {:#x} with {:x?}", case.inst, case.inst.bits, case.pc, case.regs);
            tally.add(form.name);
        }
    }
    assert!(memory.bytes == ckb.scratch(), "memory differs after the same stores");
    tally.finish(&format!("ckb-vm {:?}", isa.xlen))
}

fn both(rounds: u64, seed: u64) -> u64 {
    agree::<u32>(&SETS[0], rounds, seed) + agree::<u64>(&SETS[1], rounds, seed)
}

#[test]
fn agrees_with_ckb_vm() {
    let cases = both(6_000, 1);
    assert!(cases > 1_000_000, "{cases}");
}

#[test]
#[ignore = "minutes"]
fn agrees_with_ckb_vm_for_long() {
    let cases: u64 = (2..12).map(|seed| both(30_000, seed)).sum();
    assert!(cases > 50_000_000, "{cases}");
}
