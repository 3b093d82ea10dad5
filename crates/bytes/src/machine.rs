//! Machine code executed instruction by instruction.
//!
//! Needs: the instruction model, [`crate::memory`], what relocations say of addresses.  Keeps: the way through the code is the same for
//! all inputs, and so is every address beside where objects lie; in a file that is not linked nothing rests on the numbers that a linker
//! may change.  Absent: calls ([`crate::call`]).

use crate::memory::Object;
use crate::words::{signed, Values, Word};
use crate::{known, stop, Res};
use santoku_elf::{Island, Ledger, Place, What};
use santoku_ir::{FuncId, Program};
use santoku_isa::ckb::{fuse, may_go, RULES};
use santoku_isa::{effect, Effect, Inst, Isa, Latency, Sem};
use santoku_num::{Int, Itv};
use santoku_meaning::atoms::{Atoms, Num};
use santoku_meaning::state::Call;
use santoku_meaning::poly::Poly;
use santoku_meaning::value::Val;
use santoku_meaning::words;
use std::collections::{BTreeMap, BTreeSet};

pub const RA: usize = 1;
pub const SP: usize = 2;
/// gp and tp, which belong to the platform.
pub const PLATFORM: [usize; 2] = [3, 4];
/// Addresses below and above are nothing's.
pub const EDGE: u64 = 4096;
/// Instructions one execution may follow.
const STEPS: u64 = 2_000_000;
/// Terms of one word.
const TERMS: usize = 4_000;

/// A file with what is known of it.
pub struct Code<'a> {
    pub image: &'a Ledger<'a>,
    pub isa: Isa,
    pub program: &'a Program,
    /// Functions of the program by their symbol in the file.
    pub symbols: &'a BTreeMap<String, FuncId>,
    /// Multiplications of what is no number count as a leak.
    pub secret_mul_leaks: bool,
    /// The processor is CKB-VM, which executes some groups of instructions as one.
    pub ckb_vm: bool,
}

/// What an address is counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thing {
    Object(usize),
    Island(Island),
    Code(u64),
}

/// A thing at `align` times any number, and `residue`.
#[derive(Clone, Copy, Debug)]
pub struct Base {
    pub thing: Thing,
    pub align: u64,
    pub residue: u64,
}

/// Where an address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    Object(usize, i64),
    /// A constant of the file, by its address there, and what it is reached through.
    Constant(u64, Option<Island>),
}

/// What an upper part is of: [`santoku_elf::Part`].
type UpperOf = (Island, (bool, u64));

pub struct Machine<'a> {
    pub code: &'a Code<'a>,
    pub atoms: Atoms,
    pub regs: Vec<Num>,
    /// The stack first.
    pub objects: Vec<Object>,
    /// By the atom of the address.
    pub bases: BTreeMap<santoku_meaning::poly::Atom, Base>,
    places: BTreeMap<(u64, u64), Poly>,
    /// What upper parts of addresses are of, by what a register holds.
    uppers: BTreeMap<Poly, UpperOf>,
    pub return_to: Poly,
    /// Bytes of arguments on the stack.
    pub stack_args: i64,
    /// What the source's calls give.
    pub known_calls: BTreeMap<Call, Vec<Val>>,
    /// Calls made, with results and parameters that are one object.
    pub made: BTreeSet<(FuncId, Vec<(usize, usize)>)>,
    /// gp and tp at entry.
    pub platform: [Poly; 2],
    /// Words of more terms get names.
    pub names: Option<usize>,
    steps: u64,
    /// Terms that may have been looked at.
    pub terms: u64,
}

impl<'a> Machine<'a> {
    pub fn new(code: &'a Code<'a>, atoms: Atoms, known_calls: BTreeMap<Call, Vec<Val>>, names: Option<usize>) -> Machine<'a> {
        Machine { code, atoms, regs: vec![], objects: vec![], bases: BTreeMap::new(), places: BTreeMap::new(), uppers: BTreeMap::new(), return_to: Poly::default(), stack_args: 0, known_calls, made: BTreeSet::new(), platform: Default::default(), names, steps: 0, terms: 0 }
    }

    pub fn xlen(&self) -> u32 {
        self.code.isa.xlen.bits()
    }

    pub fn unknown(&mut self) -> Num {
        let w = self.xlen();
        self.atoms.fresh(Some(Itv::word(w)))
    }

    fn wrapped(&mut self, p: Poly, itv: Option<Itv>) -> Res<Num> {
        let (v, w) = (self.atoms.num(p, itv), self.xlen());
        known(words::wrap(&mut self.atoms, &v, w), "a word that is not followed")
    }

    /// Executes from `pc` to the return of the function.
    pub fn run(&mut self, mut pc: u64) -> Res<()> {
        let mut before = None;
        loop {
            self.steps += 1;
            if self.steps > STEPS {
                return stop("too many instructions");
            }
            let inst = self.decoded(pc)?;
            let (rs1, rs2) = (self.regs[inst.rs1 as usize].clone(), self.regs[inst.rs2 as usize].clone());
            self.time(&inst, [&rs1, &rs2])?;
            let (inst, rs1, made) = self.placed(pc, inst, rs1)?;
            let (w, isa) = (self.xlen(), self.code.isa);
            let mut values = Values { atoms: &mut self.atoms, missing: None };
            let done = effect(&mut values, &isa, &inst, pc, &Word { v: rs1, w }, &Word { v: rs2, w });
            if let Some(what) = values.missing {
                return stop(what);
            }
            let next = pc.wrapping_add(u64::from(inst.len)) & isa.xlen.mask();
            let mut to = Some(next);
            match (made, done) {
                (Some(v), _) => self.write(inst.rd, v)?,
                (None, Effect::Write { value }) => {
                    let v = match self.names.filter(|_| matches!(inst.row.name, "add" | "addi" | "sub" | "xor" | "xori")) {
                        Some(least) => words::named(&mut self.atoms, &value.v, (least, w)),
                        None => value.v,
                    };
                    self.write(inst.rd, v)?;
                }
                (None, Effect::Load { address, bytes, signed: is_signed }) => {
                    let v = self.load(&address.v.p, bytes)?;
                    let v = if is_signed { self.extended(&v, 8 * u32::from(bytes))? } else { v };
                    self.write(inst.rd, v)?;
                }
                (None, Effect::Store { address, bytes, value }) => self.store(&address.v.p, bytes, value.v)?,
                (None, Effect::Branch { taken, target }) => {
                    if !self.code.image.is_firm(pc, target) {
                        return stop("a branch at a distance that a linker may change");
                    }
                    let taken = known(taken.v.p.as_const(), "a branch on what is no number")?;
                    to = Some(if taken == Int::ZERO { next } else { target });
                }
                (None, Effect::Jump { target, link }) => to = self.jump(&inst, (before, pc), (&target.v.p, link))?,
                (None, Effect::Fence) => {}
                (None, Effect::EnvCall | Effect::Break | Effect::Csr) => return stop("an instruction for the environment"),
            }
            before = Some(pc);
            match to {
                Some(to) => pc = to,
                None => return Ok(()),
            }
        }
    }

    /// The instruction at `pc`, where CKB-VM makes nothing else of it and those behind it.
    fn decoded(&self, pc: u64) -> Res<Inst> {
        let c = self.code;
        let word = known(c.image.fetch(pc).filter(|_| c.isa.takes_at(pc)), "no instruction")?;
        let inst = known(santoku_isa::decode(&c.isa, word), "no known instruction")?;
        if c.ckb_vm {
            if inst.row.name == "fence" && (inst.rd, inst.rs1) != (0, 0) {
                return stop("a fence that CKB-VM does not know");
            }
            let deviates = |shortened| fuse(&self.group(pc, shortened), pc).is_some_and(|f| f.deviates);
            if deviates(false) || deviates(true) {
                return stop("a group that CKB-VM executes otherwise");
            }
        }
        Ok(inst)
    }

    /// As many instructions from `pc` on as CKB-VM may execute as one. `shortened`: without what a linker may leave out behind the first.
    fn group(&self, pc: u64, shortened: bool) -> Vec<Inst> {
        let longest = RULES.iter().map(|r| r.group.len()).max().unwrap_or(1);
        let (mut group, mut at) = (vec![], pc);
        while group.len() < longest {
            let Some(inst) = self.code.image.guess(at).and_then(|word| santoku_isa::decode(&self.code.isa, word)) else { break };
            let goes = self.code.image.is_loose(at) || self.code.image.part(at).is_some_and(|p| p.high);
            let stays = group.is_empty() || !shortened || !(goes && may_go(&inst));
            at = at.wrapping_add(u64::from(inst.len)) & self.code.isa.xlen.mask();
            if stays {
                group.push(inst);
            }
        }
        group
    }

    /// Operations whose time depends on their operands work on numbers.
    fn time(&self, inst: &Inst, operands: [&Num; 2]) -> Res<()> {
        let varies = match inst.row.latency {
            Latency::Fixed => false,
            Latency::Multiply => self.code.secret_mul_leaks,
            Latency::Divide => true,
        };
        match varies && operands.iter().any(|v| v.p.as_const().is_none()) {
            true => stop("an operation of variable time on what is no number"),
            false => Ok(()),
        }
    }

    pub fn write(&mut self, rd: u8, v: Num) -> Res<()> {
        if rd == 0 {
            return Ok(());
        }
        // Linkers count addresses from gp wherever they like.
        if PLATFORM.contains(&(rd as usize)) {
            return stop("gp or tp is written");
        }
        if self.atoms.looked.get() > self.terms || v.p.len() > TERMS {
            return stop("too many terms");
        }
        self.regs[rd as usize] = v;
        if rd as usize == SP {
            let at = self.stack_offset()?;
            if at > 0 {
                return stop("the stack pointer leaves the frame");
            }
            // What lies below the stack pointer may change at any moment.
            self.objects[0].forget_below(at);
        }
        Ok(())
    }

    /// The low `bits` extended with their sign to a register.
    pub fn extended(&mut self, v: &Num, bits: u32) -> Res<Num> {
        let s = known(signed(&mut self.atoms, v, bits), "a word that is not followed")?;
        self.wrapped(s.p, s.itv)
    }

    pub fn stack_offset(&self) -> Res<i64> {
        match self.spot(&self.regs[SP].p) {
            Ok((Spot::Object(0, at), _)) => Ok(at),
            _ => stop("the stack pointer is lost"),
        }
    }

    /// Where an address is, and the power of two by which it can be divided for certain.
    pub fn spot(&self, address: &Poly) -> Res<(Spot, u64)> {
        if let Some(at) = address.as_const() {
            let at = known(at.to_u64().filter(|_| self.code.image.is_linked()), "a number as an address")?;
            return Ok((Spot::Constant(at, None), 1 << at.trailing_zeros().min(16)));
        }
        let (base, offset) = known(self.from_base(address), "a computed address")?;
        let at = known(i128::from(base.residue).checked_add(i128::from(offset)), "a computed address")?;
        let align = base.align.min(1 << at.trailing_zeros().min(16));
        Ok((match base.thing {
            Thing::Object(k) => Spot::Object(k, offset),
            Thing::Island(i) => Spot::Constant(i.start.wrapping_add_signed(offset) & self.code.isa.xlen.mask(), Some(i)),
            Thing::Code(_) => return stop("code as data"),
        }, align))
    }

    fn from_base(&self, address: &Poly) -> Option<(Base, i64)> {
        let constant = address.constant_term();
        let rest = address.shift(constant.neg());
        let (m, c) = rest.terms().next().filter(|_| rest.len() == 1)?;
        let [(atom, e)] = m.factors() else { return None };
        let base = self.bases.get(atom).filter(|b| *c == Int::from(b.align) && *e == Int::Small(1))?;
        let offset = constant.sub(&Int::from(base.residue)).to_big();
        Some((*base, i64::try_from(offset).ok()?))
    }

    pub fn load(&mut self, address: &Poly, bytes: u8) -> Res<Num> {
        let (spot, align) = self.spot(address)?;
        if align < u64::from(bytes) {
            return stop("a load that is not aligned for certain");
        }
        self.load_at(spot, u32::from(bytes))
    }

    pub fn load_at(&mut self, spot: Spot, bytes: u32) -> Res<Num> {
        match spot {
            Spot::Object(k, at) => {
                self.in_frame(k, at, bytes)?;
                self.objects[k].load(&mut self.atoms, at, bytes)
            }
            Spot::Constant(at, through) => self.constant(at, through, bytes),
        }
    }

    pub fn store(&mut self, address: &Poly, bytes: u8, v: Num) -> Res<()> {
        let (spot, align) = self.spot(address)?;
        if align < u64::from(bytes) {
            return stop("a store that is not aligned for certain");
        }
        self.store_at(spot, u32::from(bytes), v)
    }

    pub fn store_at(&mut self, spot: Spot, bytes: u32, v: Num) -> Res<()> {
        let Spot::Object(k, at) = spot else { return stop("a constant is written") };
        self.in_frame(k, at, bytes)?;
        if !self.objects[k].writable {
            return stop("an object is written that is no result");
        }
        self.objects[k].store(&mut self.atoms, at, bytes, v)
    }

    /// Of the stack: the frame, and the arguments above it.
    fn in_frame(&self, object: usize, at: i64, bytes: u32) -> Res<()> {
        let end = at.saturating_add(i64::from(bytes));
        let own = object != 0 || at >= self.stack_offset()? && (end <= 0 || at >= 0 && end <= self.stack_args);
        if own { Ok(()) } else { stop("the stack outside of the frame") }
    }

    fn constant(&mut self, first: u64, through: Option<Island>, bytes: u32) -> Res<Num> {
        let mut v = 0u128;
        for k in 0..bytes {
            let at = first.wrapping_add(u64::from(k)) & self.code.isa.xlen.mask();
            if through.is_some_and(|island| !island.contains(at)) {
                return stop("bytes outside of the constant that the code names");
            }
            let byte = known(self.code.image.read_only(through, at), "what is no constant of the file")?;
            v |= u128::from(byte) << (8 * k);
        }
        match self.code.image.pointer(first, u64::from(bytes)) {
            Ok(None) => Ok(Num::constant(num_bigint::BigInt::from(v))),
            Ok(Some(place)) => self.address_of(&place),
            Err(()) => stop("part of an address as a constant"),
        }
    }

    /// The instruction at `pc` with what its relocation says of an address: the instruction and the first operand that are executed, or
    /// the value that it writes.
    fn placed(&mut self, pc: u64, inst: Inst, rs1: Num) -> Res<(Inst, Num, Option<Num>)> {
        let Some(part) = self.code.image.part(pc) else {
            if inst.row.name == "auipc" && !self.code.image.is_linked() {
                return stop("an address beside an instruction, which no relocation knows of");
            }
            return Ok((inst, rs1, None));
        };
        let key = (part.place.island, part.pair);
        // Linkers put another register in the place of the upper part: nothing else may have been added to it.
        let completes = self.uppers.get(&rs1.p) == Some(&key);
        match (part.high, inst.row.name, inst.row.sem) {
            (true, "lui" | "auipc", _) => {
                // Where a linker leaves it out the register keeps what it held, another word each time.
                let any = self.unknown();
                self.uppers.insert(any.p.clone(), key);
                Ok((inst, rs1, Some(any)))
            }
            // The sum is the address, whatever the upper part is.
            (false, "addi", _) | (false, _, Sem::Load { .. }) if completes => {
                let address = self.address_of(&part.place)?;
                Ok((Inst { imm: 0, ..inst }, address, None))
            }
            (false, "jalr", _) if completes => Ok((Inst { imm: 0, ..inst }, Num::constant(part.place.target), None)),
            _ => stop("part of an address in an instruction that makes none"),
        }
    }

    /// A base of its own, with so many bytes below and above: its address.
    pub fn base(&mut self, base: Base, (below, above): (u64, u64)) -> Res<Poly> {
        let top = Int::pow2(self.xlen()).sub(&Int::from(EDGE)).sub(&Int::from(above)).sub(&Int::from(base.align));
        let itv = Itv::between((EDGE + below).div_ceil(base.align), known(top.div_floor(&Int::from(base.align)), "an alignment")?);
        let q = self.atoms.fresh(itv);
        self.bases.insert(known(q.p.as_atom(), "an address")?, base);
        Ok(q.p.scale(&Int::from(base.align)).shift(base.residue))
    }

    fn address_of(&mut self, place: &Place) -> Res<Num> {
        let Island { start, size } = place.island;
        if !self.places.contains_key(&(start, size)) {
            let thing = if place.what == What::Code { Thing::Code(start) } else { Thing::Island(place.island) };
            let p = self.base(Base { thing, align: place.align, residue: place.residue }, (0, size))?;
            self.places.insert((start, size), p);
        }
        let beyond = Int::from(place.target).sub(&Int::from(start));
        let at = self.places[&(start, size)].shift(beyond);
        self.wrapped(at, None)
    }

    fn code_address(&mut self, pc: u64) -> Res<Num> {
        match self.code.image.is_linked() {
            true => Ok(Num::constant(pc)),
            false => self.address_of(&Place::code(pc)),
        }
    }

    /// The instruction that an address is known to be one's.
    pub fn code_at(&self, address: &Poly) -> Option<u64> {
        match self.from_base(address) {
            Some((Base { thing: Thing::Code(pc), .. }, 0)) => Some(pc),
            _ => address.as_const()?.to_u64().filter(|_| self.code.image.is_linked()),
        }
    }

    /// Goes on at the target, or behind a call. `None`: the function has returned.
    fn jump(&mut self, inst: &Inst, (before, pc): (Option<u64>, u64), (target, link): (&Poly, u64)) -> Res<Option<u64>> {
        if inst.rd == 0 && *target == self.return_to {
            return Ok(None);
        }
        let image = self.code.image;
        let named = self.code_at(target);
        let to = match named {
            Some(to) => to,
            None if inst.row.name == "jalr" && !image.is_relocated(pc) => return stop("a jump that no relocation names"),
            None => known(target.as_const().and_then(|t| t.to_u64()), "a jump to a computed address")?,
        };
        // Distances that a linker may change, and parts that addresses have in common, are no facts.
        if named.is_none() && !(image.is_firm(pc, to) && self.is_paired(before, pc)) {
            return stop("a jump that arrives where its relocation does not say");
        }
        let link = self.code_address(link)?;
        self.write(inst.rd, link)?;
        if let Some(name) = image.external(to) {
            self.external(&name.to_string())?;
        } else if image.external_at(pc).is_some() {
            return stop("a jump that leads elsewhere than its relocation says");
        } else if let Some(func) = self.function_at(to).filter(|_| !self.stays(pc, to, inst.rd != 0)) {
            self.call(func)?;
        } else {
            return Ok(Some(to));
        }
        self.returned()
    }

    /// The low half of an address is added to the high half that was made right before.
    fn is_paired(&self, before: Option<u64>, pc: u64) -> bool {
        let Ok(inst) = self.decoded(pc) else { return false };
        if inst.row.name != "jalr" || !self.code.image.is_relocated(pc) {
            return true;
        }
        let high = before.filter(|b| b.wrapping_add(4) == pc).and_then(|b| self.decoded(b).ok());
        high.is_some_and(|h| h.rd == inst.rs1 && matches!(h.row.name, "auipc" | "lui"))
    }

    /// The function of the program whose code begins here.
    fn function_at(&self, to: u64) -> Option<FuncId> {
        let f = self.code.image.function_at(to).filter(|f| f.address == to)?;
        std::iter::once(&f.name).chain(&f.aliases).find_map(|n| self.code.symbols.get(n).copied())
    }

    /// A jump inside a function, but for one that links to its beginning.
    fn stays(&self, pc: u64, to: u64, links: bool) -> bool {
        let (Some(f), Some(g)) = (self.code.image.function_at(pc), self.code.image.function_at(to)) else { return false };
        f.address == g.address && !(links && g.address == to)
    }
}
