//! CKB-VM's fused groups: rules, meanings and deviations against the crate, version 2 with fusion.

use crate::cases::{forms, random_inst, After, Form};
use crate::ckb::{ckb_decode, Ckb};
use crate::random::Random;
use ckb_vm::decoder::{build_decoder, Decoder};
use ckb_vm::instructions::{execute, extract_opcode, instruction_length, instruction_opcode_name};
use ckb_vm::machine::VERSION2;
use ckb_vm::{CoreMachine, Memory, ISA_B, ISA_IMC, ISA_MOP};
use santoku_isa::ckb::{fuse, fuse_by, may_go, step, Fused, Limit, Rule, DECODING, ISA, RULES};
use santoku_isa::{decode, rows, shorts, Fields, FlatMemory, Inst, Machine, Pattern, Row, Sem, Stop};
use std::collections::BTreeMap;

/// The VM with its decoder, which remembers what it decoded at an address: addresses are not used twice between resets.
struct Vm {
    ckb: Ckb<u64>,
    decoder: Decoder,
    next: u64,
}

const FIRST: u64 = 0x100;
const LAST: u64 = 0x1_f000;

/// What the VM executed at once.
struct Executed {
    name: &'static str,
    bytes: u64,
    after: After,
}

impl Vm {
    fn new() -> Vm {
        Vm { ckb: Ckb::new(), decoder: build_decoder::<u64>(ISA_IMC | ISA_B | ISA_MOP, VERSION2), next: FIRST }
    }

    /// An address not used before.
    fn place(&mut self, r: &mut Random) -> u64 {
        if self.next > LAST {
            self.next = FIRST;
            self.decoder.reset_instructions_cache();
        }
        self.next += 2 * r.below(3);
        self.next
    }

    /// Executes what it fuses, or the first instruction alone.
    fn run(&mut self, code: &[u8], pc: u64, regs: &[u64; 32]) -> Executed {
        let memory = self.ckb.vm.memory_mut();
        memory.store_bytes(pc, code).expect("in reach");
        self.next = pc + code.len() as u64;
        let inst = self.decoder.decode(memory, pc).expect("decodes");
        self.ckb.set(regs, pc);
        execute(inst, &mut self.ckb.vm).expect("executes");
        let name = instruction_opcode_name(extract_opcode(inst));
        Executed { name, bytes: u64::from(instruction_length(inst)), after: self.ckb.state() }
    }
}

fn code(insts: &[Inst]) -> Vec<u8> {
    let mut out: Vec<u8> = insts.iter().flat_map(|i| i.bits.to_le_bytes()[..usize::from(i.len)].to_vec()).collect();
    // An end that is no instruction.
    out.extend([0; 4]);
    out
}

/// Each instruction executed by itself.
fn one_by_one(insts: &[Inst], pc: u64, regs: &[u64; 32]) -> After {
    let mut machine = Machine { isa: ISA, pc, regs: *regs };
    let mut memory = FlatMemory { base: 0, bytes: vec![] };
    for inst in insts {
        assert_eq!(machine.execute(inst, &mut memory), Ok(Stop::Ran), "{inst}");
    }
    (machine.regs, machine.pc)
}

fn stepped(code: &[u8], pc: u64, regs: &[u64; 32]) -> After {
    let mut machine = Machine { isa: ISA, pc, regs: *regs };
    let mut memory = FlatMemory { base: pc, bytes: code.to_vec() };
    assert_eq!(step(&mut machine, &mut memory), Ok(Stop::Ran));
    (machine.regs, machine.pc)
}

#[derive(Default)]
struct Seen {
    fused: BTreeMap<&'static str, u64>,
    /// Groups whose outcome differs from their instructions'.
    deviated: BTreeMap<&'static str, u64>,
    alone: u64,
}

/// Compares one placement of `insts`; what the VM did at its start.
fn compare(vm: &mut Vm, insts: &[Inst], r: &mut Random, seen: &mut Seen) {
    let pc = vm.place(r);
    let mut regs = [0; 32];
    regs[1..].fill_with(|| r.operand());
    let bytes = code(insts);
    let found = vm.run(&bytes, pc, &regs);
    let text = || insts.iter().map(|i| i.to_string()).collect::<Vec<_>>().join("; ");
    let Some(Fused { rule, meaning, deviates }) = fuse(insts, pc) else {
        assert_eq!(found.bytes, u64::from(insts[0].len), "the VM fuses {} as {}", text(), found.name);
        assert_eq!(found.after, one_by_one(&insts[..1], pc, &regs), "{}", text());
        seen.alone += 1;
        return;
    };
    let group = &insts[..rule.group.len()];
    assert_eq!(found.name, rule.opcode, "{}", text());
    assert_eq!(found.bytes, group.iter().map(|i| u64::from(i.len)).sum::<u64>(), "{}", text());
    assert_eq!(found.after, one_by_one(&meaning, pc, &regs), "meaning of {} at {pc:#x} with {regs:x?}", text());
    assert_eq!(found.after, stepped(&bytes, pc, &regs), "{}", text());
    let same = found.after == one_by_one(group, pc, &regs);
    assert!(same || deviates, "an unlisted deviation: {} at {pc:#x} with {regs:x?}", text());
    *seen.fused.entry(rule.opcode).or_default() += 1;
    *seen.deviated.entry(rule.opcode).or_default() += u64::from(!same);
}

/// A random encoding of an instruction: compressed half the time where it can be.
fn encoded(row: &'static Row, f: Fields, r: &mut Random) -> Option<Inst> {
    let wanted = |i: &Inst| i.row.name == row.name && (i.rd, i.rs1, i.rs2, i.imm) == (f.rd, f.rs1, f.rs2, f.imm);
    if r.one_in(2) {
        for short in shorts().filter(|s| s.bases.has(ISA.xlen) && s.long.split(' ').next() == Some(row.name)) {
            let p = Pattern::parse(short.pattern, 16).expect("pattern");
            let bits = p.write(&f).and_then(|b| decode(&ISA, b));
            if let Some(inst) = bits.filter(|i| wanted(i)) {
                return Some(inst);
            }
        }
    }
    row.encode(&f).and_then(|b| decode(&ISA, b))
}

/// A group of the rule's shape with random registers of a small pool, one changed now and then.
fn group(rule: &Rule, r: &mut Random) -> Option<Vec<Inst>> {
    let pool: Vec<i64> = if r.one_in(4) { vec![0, 1, 10, 11, 12] } else { (8..14).chain([1]).collect() };
    let mut names: Vec<(&str, i64)> = vec![("0", 0), ("ra", 1)];
    let mut out = Vec::new();
    for t in rule.group {
        let row = rows().find(|row| row.name == t.name && row.is_in(&ISA)).expect("row");
        let mut fields = t.fields.map(|name| match names.iter().find(|(n, _)| *n == name) {
            _ if name.is_empty() => 0,
            Some((_, v)) => *v,
            None => {
                let v = match name {
                    "i" => (r.operand() as i32 & !0xfff) as i64,
                    "j" => (r.operand() as i64) << 52 >> 52,
                    _ => pool[r.below(pool.len() as u64) as usize],
                };
                names.push((name, v));
                v
            }
        });
        if r.one_in(24) {
            let k = r.below(3) as usize;
            fields[k] = if t.fields[k].is_empty() { 0 } else { pool[r.below(pool.len() as u64) as usize] };
        }
        // In a third of the groups, "any" is what it should be.
        if let Some((_, y)) = names.iter().find(|(n, _)| *n == "y").filter(|_| t.fields[2] == "any" && !r.one_in(3)) {
            fields[2] = *y;
        }
        let [rd, rs1, rs2] = [0, 1, 2].map(|k| fields[k] as u8);
        out.push(encoded(row, Fields { rd, rs1, rs2, imm: fields[3] }, r)?);
    }
    Some(out)
}

fn groups(rounds: u64, seed: u64) -> Seen {
    let (mut vm, mut r, mut seen) = (Vm::new(), Random::new(seed), Seen::default());
    for _ in 0..rounds {
        for rule in RULES {
            if let Some(insts) = group(rule, &mut r) {
                compare(&mut vm, &insts, &mut r, &mut seen);
            }
        }
    }
    println!("fused {:?}, of these unlike their instructions {:?}; alone {}", seen.fused, seen.deviated, seen.alone);
    seen
}

/// Every rule applies and is what the VM does; every listed deviation is there, and no other.
#[test]
fn fused_groups_are_as_listed() {
    let seen = groups(12_000, 3);
    assert!(seen.alone > 10_000, "near misses are not fused: {}", seen.alone);
    for rule in RULES {
        assert!(seen.fused[rule.opcode] > 1_000, "{}", rule.opcode);
        assert_eq!(seen.deviated[rule.opcode] > 0, rule.deviation.is_some(), "deviations of {}", rule.opcode);
    }
}

#[test]
#[ignore = "minutes"]
fn fused_groups_are_as_listed_for_long() {
    let seen = groups(1_000_000, 4);
    assert!(seen.fused.values().sum::<u64>() > 5_000_000);
}

/// Rules that are right but for one condition left out.
fn loosened() -> Vec<(String, usize, Rule)> {
    let mut out = Vec::new();
    for (at, rule) in RULES.iter().enumerate() {
        for n in 0..rule.distinct.len() {
            let mut distinct = rule.distinct.to_vec();
            let left_out = distinct.remove(n);
            out.push((format!("{} without {left_out:?}", rule.opcode), at, Rule { distinct: distinct.leak(), ..rule.clone() }));
        }
        if rule.limit != Limit::None {
            out.push((format!("{} without its limit", rule.opcode), at, Rule { limit: Limit::None, ..rule.clone() }));
        }
    }
    out
}

/// No condition is idle: without it, something is taken for fused that the VM does not fuse, or fuses otherwise.
#[test]
fn every_condition_is_needed() {
    let (mut vm, mut r) = (Vm::new(), Random::new(8));
    let all = loosened();
    for (what, at, rule) in &all {
        let mut rules = RULES.to_vec();
        rules[*at] = rule.clone();
        let rules: &'static [Rule] = rules.leak();
        let differs = (0..60_000).any(|_| {
            let Some(insts) = group(rule, &mut r) else { return false };
            let pc = vm.place(&mut r);
            let found = vm.run(&code(&insts), pc, &[0; 32]);
            let bytes = |f: &Fused| insts[..f.count()].iter().map(|i| u64::from(i.len)).sum::<u64>();
            match fuse_by(rules, &insts, pc) {
                None => found.bytes != u64::from(insts[0].len),
                Some(f) => found.bytes != bytes(&f) || found.name != f.rule.opcode,
            }
        });
        assert!(differs, "{what} is not refuted");
    }
    println!("{} conditions of {} rules are needed", all.len(), RULES.len());
    assert!(all.len() > 50);
}

/// What a linker may leave out is in no group that deviates but as its first, and no other group hides one that deviates once it is
/// gone: rules that begin alike go on otherwise. Who asks of a group with all of it left out asks of every part of it.
#[test]
fn what_a_linker_leaves_out_is_all_or_nothing() {
    let mut r = Random::new(11);
    let mut groups = 0;
    for rule in RULES.iter().filter(|r| r.deviation.is_some()) {
        let alone: &'static [Rule] = vec![rule.clone()].leak();
        for _ in 0..20_000 {
            let Some(insts) = group(rule, &mut r).filter(|g| fuse_by(alone, g, 0x1000).is_some_and(|f| f.deviates)) else { continue };
            assert!(insts[1..rule.group.len()].iter().all(|i| !may_go(i)), "{}", rule.opcode);
            assert!(fuse(&insts, 0x1000).is_some_and(|f| f.deviates && f.rule.opcode == rule.opcode), "{}", rule.opcode);
            groups += 1;
        }
    }
    let of = |bits: u32| decode(&ISA, bits).expect("an instruction");
    assert!([0x13, 0x1, 0x2b7, 0x297, 0x62c5].map(of).iter().all(may_go));
    assert!(![0x50513, 0x8522, 0x33, 0x80e7].map(of).iter().any(may_go));
    assert!(groups > 1_000);
}

/// Any instruction before any other: fused exactly when a rule says so.
#[test]
fn pairs_of_any_instructions() {
    let forms: Vec<Form> = forms(&ISA).into_iter().filter(|f| !memory(f)).collect();
    let (mut vm, mut r, mut seen) = (Vm::new(), Random::new(5), Seen::default());
    for first in &forms {
        for second in &forms {
            for _ in 0..12 {
                let insts = [random_inst(&ISA, first, &mut r), random_inst(&ISA, second, &mut r)];
                compare(&mut vm, &insts, &mut r, &mut seen);
            }
        }
    }
    println!("{} pairs of {} forms: {} alone, fused {:?}", forms.len().pow(2), forms.len(), seen.alone, seen.fused);
    assert!(seen.alone > 100_000);
}

fn memory(f: &Form) -> bool {
    let long = shorts().find(|s| s.name == f.name).map_or(f.name, |s| s.long.split(' ').next().expect("a name"));
    rows().any(|r| r.name == long && matches!(r.sem, Sem::Load { .. } | Sem::Store { .. }))
}

/// Who knows an encoding, the VM or the tables, if only one does.
fn only_one(bits: u32) -> Option<bool> {
    let (vm, tables) = (ckb_decode::<u64>(bits).is_some(), decode(&ISA, bits).is_some());
    (vm != tables).then_some(vm)
}

/// Every halfword and a sample of words: known to both or to none, but for the list.
#[test]
fn decoders_differ_as_listed() {
    let mut r = Random::new(6);
    for bits in (0..=0xffffu32).filter(|b| b & 3 != 3) {
        assert_eq!(only_one(bits), None, "{bits:#06x}");
    }
    let mut found = vec![0; DECODING.len()];
    let mut known = 0;
    for n in 0..4_000_000 {
        let mut bits = r.next() as u32 | 3;
        // Most words are nothing; these are nearer to something, or listed.
        if let Some(d) = DECODING.get(n % 32) {
            bits = bits & !d.mask | d.value;
        } else if n % 2 == 0 {
            bits = bits & !0xde00_0000 | 0x13;
        }
        known += u32::from(decode(&ISA, bits).is_some());
        let Some(vm) = only_one(bits) else { continue };
        let at = DECODING.iter().position(|d| bits & d.mask == d.value && d.vm == vm);
        found[at.unwrap_or_else(|| panic!("{bits:#010x}: known to the VM: {vm}"))] += 1;
    }
    println!("{known} of 4000000 words are instructions; differences {found:?}");
    assert!(known > 400_000);
    assert!(found.iter().all(|n| *n > 0), "a listed difference is not there: {found:?}");
}
