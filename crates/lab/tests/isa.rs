//! The simulator against the trusted machine model, with which it shares no table: decoding, and programs run to their end.

use santoku_num::SplitMix64;
use santoku_isa::{decode, rows, Ext, Fields, Isa, Latency, Machine as Model, Memory, Pattern, Row, Sem, Stop};
use santoku_lab::rv32::{self, Config, Image, Machine, Op, BENCH_EXIT, FLASH_BASE, RAM_BASE};
use std::collections::{BTreeMap, BTreeSet};

const ISA: Isa = Isa::rv32imc();
const RAM_BYTES: usize = 1 << 16;
/// Registers' first values, values to load later, and where the program leaves the last ones.
const START: u32 = RAM_BASE;
const MORE: i64 = 0x100;
const END: i64 = 0x400;
/// Scratch memory for loads and stores under test: offsets from here stay below and above.
const SCRATCH: u32 = RAM_BASE + 0x2000;

struct Random(SplitMix64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// Half the time at an edge.
    fn operand(&mut self) -> u32 {
        match self.below(4) {
            0 => [0, 1, u32::MAX, 1 << 31, (1 << 31) - 1, 31, 32][self.below(7) as usize],
            1 => 1 << self.below(32),
            2 => (self.next() >> self.below(64)) as u32,
            _ => self.next() as u32,
        }
    }
}

/// Why the two readings of `bits` differ; `None` if they do not.
fn difference(bits: u32) -> Option<String> {
    let (lab, model) = (rv32::decode(bits), decode(&ISA, bits));
    let said = format!("{bits:#010x}: {lab:?}, {model:?}");
    let Some(model) = model else { return (lab.op != Op::Illegal).then_some(said) };
    let name = format!("{:?}", lab.op).to_lowercase() == model.row.name;
    // Of these, the model keeps no fields, or fewer.
    let fields = model.row.ext == Ext::System || {
        (lab.rd, lab.rs1, lab.rs2, i64::from(lab.imm)) == (model.rd, model.rs1, model.rs2, i64::from(model.imm as i32))
    };
    (!(name && fields && lab.len == model.len)).then_some(said)
}

#[test]
fn decodes_as_the_model() {
    let mut r = Random(SplitMix64::new(1));
    let (mut legal, mut illegal) = (0, 0);
    let shorts = (0..=0xffff).filter(|b| b & 3 != 3);
    let words: Vec<u32> = (0..2_000_000).map(|_| r.next() as u32 | 3).collect();
    // Random words are mostly illegal; these are instructions but for one bit.
    let patterns: Vec<Pattern> = rows().filter(|r| r.is_in(&ISA)).map(|r| Pattern::parse(r.pattern, 32).expect("pattern")).collect();
    let near: Vec<u32> = (0..500_000)
        .map(|n| {
            let p = &patterns[n % patterns.len()];
            (r.next() as u32 & !p.mask | p.value) ^ ((n / patterns.len() % 2) as u32) << (2 + r.below(30))
        })
        .collect();
    for bits in shorts.chain(words).chain(near) {
        // The simulator takes `fence.i`, of Zifencei, for a fence; its code never changes.
        if bits & 0x707f == 0x100f {
            continue;
        }
        assert_eq!(difference(bits), None);
        *if decode(&ISA, bits).is_some() { &mut legal } else { &mut illegal } += 1;
    }
    println!("{legal} instructions and {illegal} other encodings are decoded alike");
    assert!(legal > 400_000 && illegal > 400_000);
    assert!(difference(0x0ff0_000f).is_none() && rv32::decode(0x2062_c2b3).op == Op::Illegal, "no Zba");
}

struct Program {
    code: Vec<u8>,
    seen: BTreeMap<&'static str, u32>,
}

impl Program {
    fn emit(&mut self, name: &str, rd: u8, rs1: u8, rs2: u8, imm: i64) {
        let row = rows().find(|r| r.name == name && r.is_in(&ISA)).expect("row");
        self.code.extend(row.encode(&Fields { rd, rs1, rs2, imm }).expect("fits").to_le_bytes());
    }

    /// The start of a page into x31.
    fn base(&mut self, page: u32) {
        self.emit("lui", 31, 0, 0, i64::from(page as i32));
    }

    /// One instruction under test, its registers fresh from memory half the time.
    fn random(&mut self, row: &'static Row, r: &mut Random) {
        let reg = |r: &mut Random| r.below(31) as u8;
        let (rd, rs1, rs2) = (reg(r), reg(r), reg(r));
        let imm = Pattern::parse(row.pattern, 32).expect("pattern").read_imm(r.next() as u32);
        match row.sem {
            Sem::Load { bytes, .. } | Sem::Store { bytes, .. } => {
                self.base(SCRATCH);
                self.emit(row.name, rd, 31, rs2, imm & !(i64::from(bytes) - 1));
            }
            // Over one instruction, or not.
            Sem::Branch(_) => {
                self.emit(row.name, 0, rs1, rs2, 8);
                self.emit("xori", rd, rs1, 0, imm >> 1 & 0x7ff);
            }
            Sem::Jump(_) if row.name == "jal" => {
                self.emit("jal", rd, 0, 0, 8);
                self.emit("ebreak", 0, 0, 0, 0);
            }
            Sem::Jump(_) => {
                self.emit("auipc", 31, 0, 0, 0);
                self.emit("jalr", rd, 31, 0, 12 + (imm & 1));
                self.emit("ebreak", 0, 0, 0, 0);
            }
            _ => {
                if r.below(2) == 0 {
                    self.base(START);
                    self.emit("lw", rs1, 31, 0, MORE + 4 * r.below(64) as i64);
                    self.emit("lw", rs2, 31, 0, MORE + 4 * r.below(64) as i64);
                }
                self.emit(row.name, rd, rs1, rs2, imm);
            }
        }
        *self.seen.entry(row.name).or_default() += 1;
    }
}

/// Immediate bits of an arbitrary word, as the pattern reads them.
trait ReadImm {
    fn read_imm(&self, any: u32) -> i64;
}

impl ReadImm for Pattern {
    fn read_imm(&self, any: u32) -> i64 {
        self.read(any & !self.mask | self.value).map_or(0, |f| f.imm)
    }
}

fn random_program(r: &mut Random, length: u32) -> (Program, Vec<u8>) {
    let under_test: Vec<&Row> = rows().filter(|r| r.is_in(&ISA) && r.ext != Ext::System).collect();
    let mut p = Program { code: vec![], seen: BTreeMap::new() };
    p.base(START);
    for n in 1..31 {
        p.emit("lw", n, 31, 0, 4 * i64::from(n));
    }
    for _ in 0..length {
        p.random(under_test[r.below(under_test.len() as u64) as usize], r);
    }
    p.base(START);
    for n in 0..31 {
        p.emit("sw", 0, 31, n, END + 4 * i64::from(n));
    }
    p.base(BENCH_EXIT & !0xfff);
    p.emit("sw", 0, 31, 0, i64::from(BENCH_EXIT & 0xfff));
    let mut ram: Vec<u8> = (0..RAM_BYTES).map(|_| r.next() as u8).collect();
    for word in ram[..0x300].chunks_mut(4) {
        word.copy_from_slice(&r.operand().to_le_bytes());
    }
    (p, ram)
}

/// The board's memory for the model: flash, RAM, and the address that ends a run.
struct Board {
    flash: Vec<u8>,
    ram: Vec<u8>,
    exit: bool,
}

impl Memory for Board {
    fn load(&mut self, address: u64, bytes: u8) -> Option<u64> {
        let (piece, base) = if address >= u64::from(RAM_BASE) { (&self.ram, RAM_BASE) } else { (&self.flash, FLASH_BASE) };
        let from = address.checked_sub(u64::from(base))? as usize;
        Some(piece.get(from..from + usize::from(bytes))?.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b)))
    }

    fn store(&mut self, address: u64, bytes: u8, value: u64) -> Option<()> {
        self.exit |= address == u64::from(BENCH_EXIT);
        if self.exit {
            return Some(());
        }
        let from = address.checked_sub(u64::from(RAM_BASE))? as usize;
        self.ram.get_mut(from..from + usize::from(bytes))?.copy_from_slice(&value.to_le_bytes()[..usize::from(bytes)]);
        Some(())
    }
}

/// All RAM after the program, and instructions, from the simulator and from the model.
fn run_both(p: &Program, ram: &[u8]) -> [(Vec<u8>, u64); 2] {
    let segments = vec![(FLASH_BASE, p.code.clone()), (RAM_BASE, ram.to_vec())];
    let image = Image { entry: FLASH_BASE, segments, symbols: BTreeMap::new() };
    let config = Config { ram_bytes: RAM_BYTES as u32, step_limit: 100_000, ..Config::default() };
    let mut lab = Machine::new(&image, &config).expect("loads");
    let run = lab.run().expect("runs");
    let simulated = lab.read(RAM_BASE, RAM_BYTES).expect("RAM").to_vec();
    let mut board = Board { flash: p.code.clone(), ram: ram.to_vec(), exit: false };
    let mut model = Model::new(ISA, u64::from(FLASH_BASE));
    let mut steps = 0;
    while !board.exit {
        assert_eq!(model.step(&mut board), Ok(Stop::Ran), "at {:#x}", model.pc);
        steps += 1;
    }
    [(simulated, run.whole.instret), (board.ram, steps)]
}

#[test]
fn programs_run_as_in_the_model() {
    let (mut r, mut seen, mut steps) = (Random(SplitMix64::new(2)), BTreeMap::new(), 0);
    for _ in 0..400 {
        let (program, ram) = random_program(&mut r, 400);
        let [simulated, model] = run_both(&program, &ram);
        assert!(simulated.0 == model.0, "memory differs");
        // The store that ends a run is not retired in the simulator.
        assert!(model.1.abs_diff(simulated.1) <= 1, "{} instructions, {} in the model", simulated.1, model.1);
        steps += model.1;
        for (name, n) in program.seen {
            *seen.entry(name).or_insert(0) += n;
        }
    }
    println!("{steps} instructions in 400 programs: {seen:?}");
    let names: BTreeSet<_> = rows().filter(|r| r.is_in(&ISA) && r.ext != Ext::System).map(|r| r.name).collect();
    assert!(names.iter().all(|n| seen.get(n).is_some_and(|c| *c > 1000)), "every row runs: {seen:?}");
    assert!(rows().any(|r| r.latency == Latency::Divide && names.contains(r.name)));
}

/// A program in which one instruction is another one leaves another memory, unless its result is written over: short programs.
#[test]
fn another_program_is_told_apart() {
    let (mut told, mut made, mut r) = (0, 0, Random(SplitMix64::new(3)));
    for _ in 0..100 {
        let (program, ram) = random_program(&mut r, 12);
        let [before, _] = run_both(&program, &ram);
        for at in (0..program.code.len()).step_by(4) {
            let word = u32::from_le_bytes(program.code[at..at + 4].try_into().expect("four bytes"));
            // `add` for `sub` and back.
            if word & 0xbe00_707f != 0x0000_0033 || word >> 7 & 31 == 0 {
                continue;
            }
            let mut code = program.code.clone();
            code[at..at + 4].copy_from_slice(&(word ^ 1 << 30).to_le_bytes());
            let [simulated, model] = run_both(&Program { code, seen: BTreeMap::new() }, &ram);
            assert!(simulated.0 == model.0);
            made += 1;
            told += u32::from(simulated.0 != before.0);
        }
    }
    println!("{told} of {made} exchanged instructions change the memory");
    assert!(made > 20 && told * 2 > made);
}
