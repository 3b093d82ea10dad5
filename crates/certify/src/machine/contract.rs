//! The contract of a call: what must hold where it is made and what is known behind it, clause by clause.
//!
//! Where it is made:
//! 1. the address jumped to, computed, is the beginning of the function, and would be wherever a linker puts the sections and the
//!    functions that the file does not hold ([`Code::callee`]);
//! 2. `sp` is a multiple of 16 ([`Exec::may_call`]), `gp` and `tp` are the caller's ([`Exec::keeps_platform`]);
//! 3. a scalar fills its registers as the convention extends it ([`Exec::extended`]);
//! 4. the address of an object is public and a multiple of the object's alignment, all its bytes are there, those between its
//!    scalars too ([`Exec::pointer`], [`Exec::whole`]);
//! 5. a result overlaps no other argument's object but one that it is, and no object the arguments passed on the stack, which
//!    belong to the callee ([`Exec::apart_from_all`]);
//! 6. `memcpy` copies between objects that are apart, or one onto itself, which compilers ask of it ([`Exec::may_copy`]);
//! 7. it is a call of the source ([`super::made`]).
//!
//! Behind it:
//! 8. execution goes on where `ra` led when it was made, whatever register the jump linked ([`Exec::back_from`]);
//! 9. registers that belong to the callee, the stack below the arguments, the arguments on the stack and the bytes between the
//!    scalars of a result hold anything ([`Exec::clobber`], [`Exec::spoil`]).
//!
//! Needs: the state at the call.  Keeps: a clause that is not shown ends the execution.  Absent: results ([`super::call`]).

use crate::source::abi::{InRegisters, Scalar};
use crate::source::layout;
use crate::term::{T, Terms};
use super::code::{Code, GP, RA, TP};
use super::state::{Exec, State};
use super::stop::{Leak, Why};
use num_bigint::BigInt;
use santoku_ir::FuncId;

/// Registers a callee may change: ra, t0 to t6, a0 to a7.
pub(crate) const CALLER_SAVED: [usize; 16] = [1, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29, 30, 31];
/// To a multiple of which the stack pointer is aligned at calls (psABI, "Integer Calling Convention").
const STACK_ALIGN: u32 = 16;
/// Conditions that choose between objects in one address.
const CHOICES_DEPTH: u32 = 4;

/// What a jump out of the code that is being followed calls.
pub(crate) enum Callee {
    /// A function that the file does not hold.
    External(String),
    /// A function of the program.
    Source(FuncId),
}

/// The object an address lies in and the offset there; no object: constants of the file.
pub(crate) type Spot = (Option<usize>, T);

/// An object that a call passes.
pub(crate) struct Passed {
    /// Position among results or parameters.
    pub position: usize,
    pub is_result: bool,
    /// Several where a condition chooses.
    pub spots: Vec<Spot>,
    pub size: u64,
}

impl Code<'_> {
    /// The function that the jump at `pc` to `to` calls, if it is to be replaced. `before`: the instruction executed last. `links`: it leaves a
    /// return address behind. `named_so`: what was jumped to is the address of that instruction wherever it is linked.
    pub(crate) fn callee(&self, before: Option<u64>, pc: u64, to: u64, links: bool, named_so: bool) -> Result<Option<Callee>, Why> {
        let named = self.image.external_at(pc);
        let callee = match self.image.external(to) {
            Some(name) => Some(Callee::External(name.to_string())),
            None if named.is_some() => {
                let name = named.unwrap_or_default();
                return Err(Why::Unsupported(format!("a jump by a relocation against `{name}` that leads elsewhere, to {to:#x}")));
            }
            None => self.cut_at(to).filter(|_| !self.stays(pc, to, links)).map(Callee::Source),
        };
        // Distances between what a linker may put elsewhere, and parts that their addresses have in common, are no facts.
        if !named_so && (!self.image.is_firm(pc, to) || !self.is_paired(before, pc)) {
            let name = self.image.external(to).or_else(|| self.image.function_at(to).map(|f| f.name.as_str()));
            return Err(Why::Unsupported(format!("a jump that arrives at `{}`, which its relocation does not name", name.unwrap_or("?"))));
        }
        Ok(callee)
    }

    /// The low half of an address is added to the high half that was made right before.
    fn is_paired(&self, before: Option<u64>, pc: u64) -> bool {
        let Some(inst) = self.decode(pc).filter(|i| i.row.name == "jalr" && self.image.is_relocated(pc)) else { return true };
        let high = before.filter(|b| b.wrapping_add(4) == pc).and_then(|b| self.decode(b));
        high.is_some_and(|h| h.rd == inst.rs1 && matches!(h.row.name, "auipc" | "lui"))
    }
}

/// Why the call of a function that the file does not hold is not followed.
pub(crate) fn not_followed(name: &str) -> Why {
    if name.starts_with("__riscv_save_") || name.starts_with("__riscv_restore_") {
        return Why::Unsupported(format!("a call of `{name}`, which the file does not hold: compile without -msave-restore, or link it"));
    }
    if is_helper(name) {
        return Why::Convention(format!(
            "a call of `{name}`, a function of the compiler's library that is not known to take the same time for all operands: \
             compile for a machine that has the operation (multiplication: M), or link the helper, so that it is followed"
        ));
    }
    Why::Unsupported(format!("a call of `{name}`, which the file does not hold"))
}

/// Functions with which libgcc and compiler-rt make up for instructions that a machine lacks. All are taken for what the
/// common ones are: loops that end early, branches on operands.
fn is_helper(name: &str) -> bool {
    const OPERATIONS: [&str; 34] = [
        "mul", "mulsu", "div", "udiv", "mod", "umod", "divmod", "udivmod", "ashl", "ashr", "lshr", "neg", "abs", "absv", "addv",
        "subv", "mulv", "negv", "mulo", "cmp", "ucmp", "ffs", "clz", "ctz", "clrsb", "parity", "popcount", "bswap", "rotl", "rotr",
        "add", "sub", "fix", "float",
    ];
    let Some(name) = name.strip_prefix("__").map(|n| n.strip_prefix("riscv_").unwrap_or(n)) else { return false };
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let modes = ["qi", "hi", "si", "di", "ti", "sf", "df", "tf"];
    let without_mode = |rest: &str| modes.iter().find_map(|m| rest.strip_prefix(m)).map(str::to_string);
    // One mode, or two where it converts.
    let is_modes = |rest: &str| rest.is_empty() || without_mode(rest).is_some_and(|r| r.is_empty() || without_mode(&r).is_some_and(|r| r.is_empty()));
    OPERATIONS.iter().filter_map(|op| name.strip_prefix(op)).any(is_modes)
}

impl Exec<'_> {
    /// Clause 2.
    pub(crate) fn may_call(&mut self, state: &State) -> Result<(), Why> {
        let at = self.stack_offset(state)?;
        if at % i64::from(STACK_ALIGN) != 0 {
            return Err(Why::Platform(format!("a call with the stack pointer at {at} from entry, no multiple of {STACK_ALIGN}")));
        }
        Ok(())
    }

    /// `gp` and `tp` hold at every instruction what they hold at entry: a linker that relaxes counts addresses from `gp` wherever it
    /// likes, and whoever interrupts the function does as well.
    pub(crate) fn keeps_platform(&self, rd: u8, t: T) -> Result<(), Why> {
        let given = [GP, TP].iter().position(|r| *r == usize::from(rd)).map(|k| self.platform[k]);
        if given.is_none_or(|given| given == t) {
            return Ok(());
        }
        let name = santoku_isa::register_name(rd);
        Err(Why::Platform(format!("register {name} is written, if only for a while: it belongs to the platform, and linkers count addresses from it")))
    }

    /// Clause 3.
    pub(crate) fn extended(&mut self, s: &Scalar, words: &[T], value: T) -> Result<(), String> {
        let want = s.words(self.terms, value, self.code.xlen());
        let mut same = |a: T, b: T| {
            a == b || self.terms.settled(b, a) || self.with_facts && self.terms.under(a, &self.facts) == self.terms.under(b, &self.facts)
        };
        match want.iter().zip(words).position(|(a, b)| !same(*a, *b)) {
            None => Ok(()),
            Some(k) => Err(format!("an argument of {} bits is not extended to the register: {}", s.bits, self.terms.show(words[k], 2))),
        }
    }

    /// Where an address may lie.
    fn spots(&mut self, address: T, depth: u32) -> Result<Vec<Spot>, String> {
        let Some(c) = self.terms.bit_of_base(address, &self.bases) else { return Ok(vec![self.split(address)]) };
        if depth == 0 {
            return Err("an address that many conditions choose".into());
        }
        let not = self.terms.not_bit(c);
        let mut all = vec![];
        for holds in [c, not] {
            let there = self.terms.where_bit(address, holds);
            all.extend(self.spots(there, depth - 1)?);
        }
        Ok(all)
    }

    /// Clause 4, but for the object's scalars, which are read or written one by one.
    pub(crate) fn pointer(&mut self, address: T, object: &layout::Object) -> Result<Vec<Spot>, Why> {
        let spots = self.spots(address, CHOICES_DEPTH).map_err(Why::Unsupported)?;
        for (k, offset) in &spots {
            if !self.terms.public(*offset) {
                return Err(Why::Secret(Leak::Address, self.secret(*offset)));
            }
            let base = k.map_or(Terms::ZERO, |k| self.bases[k]);
            let at = self.terms.add(base, *offset);
            if self.terms.mod2k(at, object.align.trailing_zeros()) != Terms::ZERO {
                let what = format!("an object is passed at an address that is not known to be a multiple of {}", object.align);
                return Err(Why::Memory(what));
            }
        }
        Ok(spots)
    }

    /// The bytes between an object's scalars are there, too: whoever gets it may read them.
    pub(crate) fn whole(&mut self, state: &mut State, address: T, object: &layout::Object) -> Result<(), Why> {
        for at in between(object) {
            let at = self.at(address, at);
            self.load(state, at, 1)?;
        }
        Ok(())
    }

    /// Clause 5: results that are an object with a parameter. `stack`: bytes of arguments on the stack.
    pub(crate) fn apart_from_all(&mut self, state: &State, all: &[Passed], stack: u64) -> Result<Vec<(usize, usize)>, String> {
        let sp = self.stack_offset(state).map_err(|w| w.to_string())?;
        let sp = self.terms.int(sp);
        let mut shared = vec![];
        for (i, a) in all.iter().enumerate() {
            if stack > 0 && !self.spots_apart((&a.spots, a.size), (&[(Some(0), sp)], stack)) {
                return Err("an object overlaps the arguments that are passed on the stack".into());
            }
            for (_, b) in all.iter().enumerate().filter(|(j, _)| a.is_result && i != *j) {
                let one = a.spots == b.spots && a.spots.len() == 1;
                if one && !b.is_result && a.size == b.size {
                    shared.push((a.position, b.position));
                } else if !self.spots_apart((&a.spots, a.size), (&b.spots, b.size)) {
                    return Err("a result overlaps another argument in part".into());
                }
            }
        }
        shared.sort_unstable();
        Ok(shared)
    }

    fn spots_apart(&mut self, (a, so): (&[Spot], u64), (b, sp): (&[Spot], u64)) -> bool {
        a.iter().all(|(ka, oa)| {
            b.iter().all(|(kb, ob)| {
                let d = self.terms.sub(*ob, *oa);
                // Objects do not overlap each other, nor constants.
                ka != kb || ka.is_none() || self.apart(d, so, sp)
            })
        })
    }

    /// Whether what begins `d` bytes behind `so` bytes and is `sp` bytes long shares none of them.
    fn apart(&mut self, d: T, so: u64, sp: u64) -> bool {
        let (lo, hi) = self.terms.range(d);
        if so == 0 || sp == 0 || lo >= BigInt::from(so) || hi <= -BigInt::from(sp) {
            return true;
        }
        let d = self.terms.short_under(d, &self.facts);
        let (so, sp) = (self.terms.int(so), self.terms.int(sp));
        let (before, after) = (self.terms.sub(so, d), self.terms.add(d, sp));
        [before, after].into_iter().any(|t| {
            let t = self.terms.sub(t, Terms::ONE);
            self.terms.negative_under(t, &self.facts)
        })
    }

    /// Clause 6, for at most `count` bytes.
    pub(crate) fn may_copy(&mut self, name: &str, dst: T, src: T, count: i64) -> Result<(), Why> {
        if name != "memcpy" || dst == src {
            return Ok(());
        }
        let (to, from) = (self.spots(dst, CHOICES_DEPTH), self.spots(src, CHOICES_DEPTH));
        let (to, from) = (to.map_err(Why::Unsupported)?, from.map_err(Why::Unsupported)?);
        let count = count.unsigned_abs();
        match self.spots_apart((&to, count), (&from, count)) {
            true => Ok(()),
            false => Err(Why::Memory(format!("`memcpy` of {count} bytes between places that are not known to be apart"))),
        }
    }

    /// Clause 8: where execution goes on behind a call that was replaced. `ra`: what it held when the call was made; `link`:
    /// the address behind the jump. `None`: the function that is followed has returned.
    pub(crate) fn back_from(&mut self, state: &mut State, ra: T, link: u64) -> Result<Option<u64>, Why> {
        if ra == self.return_to && state.frames.is_empty() {
            return Ok(None);
        }
        let to = self.code_at(ra);
        if to == Some(link) {
            return Ok(to);
        }
        if to.is_some() && state.frames.last().copied() == to {
            state.frames.pop();
            return Ok(to);
        }
        let ra = self.terms.show(ra, 2);
        Err(Why::Platform(format!("a call that does not return behind the jump, nor to the caller: ra is {ra}")))
    }

    /// Clause 9, registers and stack.
    pub(crate) fn clobber(&mut self, state: &mut State, stack_args: u32) -> Result<(), Why> {
        let xlen = self.code.xlen();
        for r in CALLER_SAVED {
            state.regs[r] = self.unknown("register", xlen);
        }
        let sp = self.stack_offset(state)?;
        state.objects[0].forget_below(sp + i64::from(stack_args));
        Ok(())
    }

    /// Clause 9, what lies between the scalars of a result.
    pub(crate) fn spoil(&mut self, state: &mut State, address: T, object: &layout::Object) -> Result<(), Why> {
        for at in between(object) {
            let at = self.at(address, at);
            let any = self.unknown("padding", 8);
            self.store(state, at, 1, any)?;
        }
        Ok(())
    }

    pub(crate) fn at(&mut self, base: T, offset: u64) -> T {
        let offset = self.terms.int(offset);
        self.terms.add(base, offset)
    }

    /// What `ra` holds.
    pub(crate) fn ra(state: &State) -> T {
        state.regs[RA]
    }

    /// The bytes of the stack that may be touched: the frame, and the arguments above it.
    pub(crate) fn in_frame(&mut self, state: &State, at: i64, bytes: u32) -> Result<bool, Why> {
        let sp = self.stack_offset(state)?;
        let end = at.saturating_add(i64::from(bytes));
        Ok(at >= sp && (end <= 0 || at >= 0 && end <= self.stack_args))
    }
}

/// Offsets of the bytes of an object that belong to no scalar.
fn between(object: &layout::Object) -> Vec<u64> {
    let (mut next, mut found) = (0, vec![]);
    for u in &object.units {
        found.extend(next..u.offset);
        next = u.offset + u64::from(u.bytes);
    }
    found.extend(next..object.size);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::layout::{Object, Unit};

    #[test]
    fn bytes_between_scalars_are_found() {
        let unit = |offset: u64, bytes: u32| Unit { offset, bytes, signed: false, lo: BigInt::ZERO, hi: BigInt::from(1), public: false };
        let object = |units: Vec<Unit>, size| Object { units, size, align: 4, repeat: None };
        assert_eq!(between(&object(vec![unit(0, 1), unit(4, 4), unit(8, 2)], 12)), [1, 2, 3, 10, 11]);
        assert_eq!(between(&object(vec![unit(0, 4), unit(4, 4)], 8)), [0u64; 0]);
        assert_eq!(between(&object(vec![], 4)), [0, 1, 2, 3]);
    }

    #[test]
    fn helpers_of_compilers_are_told_from_other_functions() {
        for name in ["__muldi3", "__mulsi3", "__udivdi3", "__ashldi3", "__lshrti3", "__multi3", "__umodsi3", "__clzsi2", "__riscv_mul"] {
            assert!(is_helper(name), "{name}");
        }
        for name in ["memcpy", "__stack_chk_fail", "muldi3", "__multiply_all", "__riscv_save_4", "randombytes"] {
            assert!(!is_helper(name), "{name}");
        }
        let Why::Convention(why) = not_followed("__muldi3") else { panic!("refused") };
        assert!(why.contains("`__muldi3`") && why.contains("same time"), "{why}");
    }
}
