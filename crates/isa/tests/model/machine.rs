//! The concrete machine where it stops, and a small program.

use santoku_isa::{rows, Fault, Fields, FlatMemory, Isa, Machine, Memory, Stop};

const AT: u64 = 0x1000;

fn word(isa: &Isa, name: &str, rd: u8, rs1: u8, rs2: u8, imm: i64) -> u32 {
    let row = rows().find(|r| r.name == name && r.is_in(isa)).expect("row");
    row.encode(&Fields { rd, rs1, rs2, imm }).expect("fits")
}

fn memory(words: &[u32]) -> FlatMemory {
    FlatMemory { base: AT, bytes: words.iter().flat_map(|w| w.to_le_bytes()).collect() }
}

/// What one step gives, and that a machine which stops is unchanged.
fn step(isa: Isa, words: &[u32], pc: u64, set: &[(usize, u64)]) -> (Result<Stop, Fault>, Machine) {
    let mut m = Machine::new(isa, pc);
    for (n, value) in set {
        m.regs[*n] = *value;
    }
    let before = m.clone();
    let mut memory = memory(words);
    let bytes = memory.bytes.clone();
    let result = m.step(&mut memory);
    if result != Ok(Stop::Ran) {
        assert_eq!((m.pc, m.regs), (before.pc, before.regs));
        assert_eq!(memory.bytes, bytes);
    }
    (result, m)
}

#[test]
fn stops_and_faults_change_nothing() {
    let isa = Isa::rv64imc();
    let one = |name: &str, rs1: u8, imm: i64| step(isa, &[word(&isa, name, 5, rs1, 6, imm)], AT, &[(6, 7)]).0;
    assert_eq!(one("ecall", 0, 0), Ok(Stop::EnvCall));
    assert_eq!(one("ebreak", 0, 0), Ok(Stop::Break));
    assert_eq!(one("csrrs", 0, 0xc00), Ok(Stop::Csr));
    assert_eq!(one("lw", 0, -4), Err(Fault::Load { pc: AT, address: u64::MAX - 3 }));
    assert_eq!(one("sd", 0, 8), Err(Fault::Store { pc: AT, address: 8 }));
    assert_eq!(step(isa, &[0], AT, &[]).0, Err(Fault::Illegal { pc: AT, bits: 0 }));
    assert_eq!(step(isa, &[0x13], AT + 4, &[]).0, Err(Fault::Fetch { pc: AT + 4 }));
    assert_eq!(step(isa, &[0x13 << 16], AT + 2, &[]).0, Err(Fault::Fetch { pc: AT + 2 }), "half an instruction");
    let bare = Isa { c: false, ..isa };
    assert_eq!(step(bare, &[0x13, 0x13], AT + 2, &[]).0, Err(Fault::Fetch { pc: AT + 2 }), "not aligned");
    assert_eq!(step(bare, &[0x13, 0x13], AT + 4, &[]).0, Ok(Stop::Ran));
}

#[test]
fn x0_stays_zero_and_addresses_wrap() {
    let isa = Isa::rv32imc();
    let (ran, m) = step(isa, &[word(&isa, "addi", 0, 5, 0, 1)], AT, &[(5, 9)]);
    assert_eq!((ran, m.regs[0], m.pc), (Ok(Stop::Ran), 0, AT + 4));
    let (ran, m) = step(isa, &[word(&isa, "jalr", 1, 5, 0, 2)], AT, &[(5, 0xffff_ffff)]);
    assert_eq!((ran, m.regs[1], m.pc), (Ok(Stop::Ran), AT + 4, 0), "the lowest bit of 1 is dropped");
    let mut top = FlatMemory { base: 0xffff_fffe, bytes: vec![0x01, 0x00] };
    let mut m = Machine::new(isa, 0xffff_fffe);
    assert_eq!((m.step(&mut top), m.pc), (Ok(Stop::Ran), 0));
}

/// The sum of 1 to 10 by a loop, stored and loaded back, on both bases.
#[test]
fn a_loop_runs() {
    for isa in [Isa::rv32imc(), Isa::rv64imc()] {
        let code = [
            word(&isa, "addi", 5, 0, 0, 10),
            word(&isa, "add", 6, 6, 5, 0),
            word(&isa, "addi", 5, 5, 0, -1),
            word(&isa, "bne", 0, 5, 0, -8),
            word(&isa, "lui", 7, 0, 0, AT as i64),
            word(&isa, "sw", 0, 7, 6, 32),
            word(&isa, "lh", 8, 7, 0, 32),
            word(&isa, "ebreak", 0, 0, 0, 0),
            0,
        ];
        let mut memory = memory(&code);
        let mut m = Machine::new(isa, AT);
        let steps = (0..100).take_while(|_| m.step(&mut memory) == Ok(Stop::Ran)).count();
        assert_eq!((steps, m.regs[8], memory.load(AT + 32, 4)), (1 + 3 * 10 + 3, 55, Some(55)), "{:?}", isa.xlen);
    }
}
