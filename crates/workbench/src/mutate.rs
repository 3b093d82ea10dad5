//! Single instructions changed: other code that is nearly right.
//!
//! Needs: the tables of `isa`, for encodings.  Keeps: a changed instruction is a valid one of the same length and other bits; the same
//! changes for the same seed.  Absent: whether a change matters ([`crate::mutants`]).

use santoku_num::SplitMix64;
use santoku_elf::{Function, Image};
use santoku_isa::{decode, decode_short, rows, shorts, Field, Fields, Inst, Isa, Pattern};
use serde::Serialize;
use std::collections::BTreeSet;

/// How an instruction is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Another instruction with the same fields.
    Opcode,
    /// Another register in one field.
    Register,
    /// The immediate off by one step, or with one bit flipped.
    Immediate,
    /// Source registers exchanged.
    Swapped,
    /// Nothing in its place.
    Dropped,
    /// Another register in a call.
    CallRegister,
    /// Another addend of a relocation.
    Addend,
    /// Another symbol of a relocation.
    Symbol,
    /// A symbol at the place of another.
    Aliased,
    /// Another constant.
    Constant,
    /// Another section in the place of one.
    Moved,
}

impl Kind {
    /// Of single instructions.
    pub const ALL: [Kind; 5] = [Kind::Opcode, Kind::Register, Kind::Immediate, Kind::Swapped, Kind::Dropped];
}

/// One changed instruction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mutant {
    pub pc: u64,
    pub kind: Kind,
    /// In assembly.
    pub from: String,
    pub to: String,
    /// The new encoding: 2 or 4 bytes.
    pub bytes: Vec<u8>,
}

/// Up to `count` different changes of a function, spread over its instructions and over all kinds.
pub fn mutants(image: &Image, isa: &Isa, f: &Function, count: usize, seed: u64) -> Vec<Mutant> {
    let code = instructions(image, isa, f);
    let mut draw = Draw { isa: *isa, seed: Seed::new(seed) };
    let (mut seen, mut out) = (BTreeSet::new(), vec![]);
    // A short function has fewer changes than asked for.
    for round in 0..20 * count {
        if out.len() == count || code.is_empty() {
            break;
        }
        let (pc, inst) = code[draw.below(code.len())];
        let Some(bits) = draw.change(&inst, Kind::ALL[round % Kind::ALL.len()]) else { continue };
        let bytes = bits.to_le_bytes()[..usize::from(inst.len)].to_vec();
        let Some(new) = decode(isa, bits).filter(|new| new.len == inst.len && bits != inst.bits) else { continue };
        if image.replaced(pc, &bytes).is_some() && seen.insert((pc, bits)) {
            out.push(Mutant { pc, kind: Kind::ALL[round % Kind::ALL.len()], from: inst.to_string(), to: new.to_string(), bytes });
        }
    }
    out
}

fn instructions(image: &Image, isa: &Isa, f: &Function) -> Vec<(u64, Inst)> {
    let (mut pc, mut out) = (f.address, vec![]);
    while pc < f.address + f.size {
        let Some(inst) = image.fetch(pc).and_then(|word| decode(isa, word)) else { break };
        out.push((pc, inst));
        pc += u64::from(inst.len);
    }
    out
}

/// Chooses by a seed.
pub(crate) struct Seed(SplitMix64);

impl Seed {
    pub fn new(seed: u64) -> Seed {
        Seed(SplitMix64::new(seed))
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0.below(n as u64) as usize
    }
}

/// Draws changes of instructions.
struct Draw {
    isa: Isa,
    seed: Seed,
}

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.seed.below(n)
    }

    /// The encoding of the changed instruction, where this kind of change has one.
    fn change(&mut self, inst: &Inst, kind: Kind) -> Option<u32> {
        let (text, width) = self.pattern_of(inst)?;
        let pattern = Pattern::parse(text, width).ok()?;
        let fields = pattern.read(inst.bits)?;
        match kind {
            Kind::Opcode => {
                let others = self.alike(text, width);
                let other = others.get(self.below(others.len()))?;
                Pattern::parse(other, width).ok()?.write(&fields)
            }
            Kind::Register => {
                let all: Vec<Field> = [Field::Rd, Field::Rs1, Field::Rs2].into_iter().filter(|f| pattern.has(*f)).collect();
                let field = *all.get(self.below(all.len()))?;
                let n = self.below(32) as u8;
                pattern.write(&with(fields, field, n))
            }
            Kind::Immediate => {
                let (low, bits) = (pattern.imm_low(), pattern.imm_bits());
                let step = 1i64 << low;
                let imm = match self.below(3) {
                    _ if !pattern.has_imm() => return None,
                    0 => fields.imm + step,
                    1 => fields.imm - step,
                    _ => fields.imm ^ (step << self.below((bits - low) as usize)),
                };
                // The sign bit, flipped, changes all above it.
                let up = 64 - bits;
                let imm = if pattern.imm_signed() { imm << up >> up } else { imm };
                pattern.write(&Fields { imm, ..fields })
            }
            Kind::Swapped if pattern.has(Field::Rs1) && pattern.has(Field::Rs2) => {
                pattern.write(&Fields { rs1: fields.rs2, rs2: fields.rs1, ..fields })
            }
            Kind::Swapped => None,
            Kind::Dropped => Some(if inst.len == 2 { 0x0001 } else { 0x0000_0013 }),
            Kind::CallRegister | Kind::Addend | Kind::Symbol | Kind::Aliased | Kind::Constant | Kind::Moved => None,
        }
    }

    fn pattern_of(&self, inst: &Inst) -> Option<(&'static str, u32)> {
        match inst.len {
            2 => decode_short(&self.isa, inst.bits).map(|(short, _)| (short.pattern, 16)),
            _ => Some((inst.row.pattern, 32)),
        }
    }

    /// Other patterns with the same fields in the same places.
    fn alike(&self, text: &str, width: u32) -> Vec<&'static str> {
        let all: Vec<&'static str> = match width {
            16 => shorts().filter(|s| s.bases.has(self.isa.xlen)).map(|s| s.pattern).collect(),
            _ => rows().filter(|r| r.is_in(&self.isa)).map(|r| r.pattern).collect(),
        };
        all.into_iter().filter(|p| *p != text && shape(p) == shape(text)).collect()
    }
}

/// The fields of a pattern, without its fixed bits.
fn shape(pattern: &str) -> Vec<&str> {
    let literal = |token: &&str| token.bytes().all(|b| b"01x".contains(&b));
    pattern.split(' ').filter(|t| !literal(t)).map(|t| t.split('!').next().unwrap_or(t)).collect()
}

fn with(fields: Fields, field: Field, n: u8) -> Fields {
    match field {
        Field::Rd => Fields { rd: n, ..fields },
        Field::Rs1 => Fields { rs1: n, ..fields },
        Field::Rs2 => Fields { rs2: n, ..fields },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(isa: Isa, bits: u32, kind: Kind) -> BTreeSet<String> {
        let inst = decode(&isa, bits).expect("an instruction");
        let mut draw = Draw { isa, seed: Seed::new(1) };
        let all = (0..400).filter_map(|_| draw.change(&inst, kind)).filter_map(|b| decode(&isa, b));
        all.filter(|new| new.len == inst.len).map(|i| i.to_string()).collect()
    }

    #[test]
    fn every_kind_changes_one_thing() {
        let isa = Isa::rv32imc();
        let add = 0x00c5_8533; // add a0, a1, a2
        let opcodes = changes(isa, add, Kind::Opcode);
        assert!(["sub", "mulhu", "sltu", "or"].iter().all(|n| opcodes.iter().any(|o| o == &format!("{n} a0, a1, a2"))), "{opcodes:?}");
        assert_eq!(changes(isa, add, Kind::Swapped), ["add a0, a2, a1".to_string()].into());
        assert_eq!(changes(isa, add, Kind::Dropped), ["addi zero, zero, 0".to_string()].into());
        let registers = changes(isa, add, Kind::Register);
        assert!(registers.contains("add a0, a1, t0") && registers.contains("add s1, a1, a2") && registers.len() > 60);
        assert!(changes(isa, add, Kind::Immediate).is_empty());
        let addi = 0x0055_8513; // addi a0, a1, 5
        let immediates = changes(isa, addi, Kind::Immediate);
        assert!(["4", "6", "1029", "-2043"].iter().all(|n| immediates.contains(&format!("addi a0, a1, {n}"))), "{immediates:?}");
        assert!(changes(isa, addi, Kind::Swapped).is_empty());
    }

    #[test]
    fn short_instructions_stay_short() {
        let isa = Isa::rv64imc();
        let c_addw = 0x9d2d; // c.addw a0, a1
        for kind in [Kind::Opcode, Kind::Register, Kind::Dropped] {
            assert!(!changes(isa, c_addw, kind).is_empty(), "{kind:?}");
        }
        assert!(changes(isa, c_addw, Kind::Opcode).iter().any(|o| o.starts_with("xor a0, a0, a1")));
    }
}
