//! Carries, and the groups that a machine executes as one.
//! Trusted: nothing: the certifier looks at the bytes.

use super::{Res, Select};
use crate::code::{Inst, Reg};
use crate::forms::Kind as Group;
use santoku_lower::{Named, Value};

impl Select<'_> {
    /// A group with its results.
    pub(super) fn grouped(&mut self, kind: Group, ins: Vec<Reg>, outs: [Named; 2]) {
        // A register of the machine that holds 0 cannot be written, and is in no group.
        let ins = ins.into_iter().map(|r| if r == Reg::Zero { self.number(0) } else { r }).collect();
        let outs = [self.named(&outs[0]), self.named(&outs[1])];
        self.push(Inst::Group(kind, ins, outs));
    }

    /// Words of a register in groups; `false`: there is none for it.
    pub(super) fn in_group(&mut self, dst: &[Named], (a, b, c): (Value, Value, Value), bits: u32, sum: bool) -> bool {
        if !self.options.fused || bits < self.xlen() || !self.is_read(dst[1].0) && self.constant(b).is_some() {
            return false;
        }
        let outs = [dst[0], dst[1]];
        let (two, three) = if sum { (Group::AddCarryOut, Group::AddCarry) } else { (Group::SubBorrowOut, Group::SubBorrow) };
        let zero = |s: &Self, v: Value| s.constant(v) == Some(0);
        let pair = match (zero(self, b), zero(self, c)) {
            (_, true) => Some((a, b)),
            (true, false) => Some((a, c)),
            (false, false) => None,
        };
        if sum && pair.is_none() && a == b && self.options.zba {
            // Twice a word and a carry: nothing is destroyed.
            let (x, c) = (self.reg(a), self.reg(c));
            let top = i64::from(bits) - 1;
            let carry = self.imm("srli", x, top);
            let twice = self.three("sh1add", x, c);
            self.both(dst, twice, Some(carry), bits);
            return true;
        }
        let Some((x, y)) = pair else {
            let ins = vec![self.reg(a), self.reg(b), self.reg(c)];
            self.grouped(three, ins, outs);
            return true;
        };
        if !self.is_read(dst[1].0) {
            return false;
        }
        match self.merges.carried.get(&dst[1].0).copied().filter(|_| sum) {
            Some((w, z)) => {
                let ins = vec![self.reg(x), self.reg(y), self.reg(w)];
                self.grouped(Group::AddCarryTo, ins, [dst[0], z]);
            }
            None => {
                let ins = vec![self.reg(x), self.reg(y)];
                self.grouped(two, ins, outs);
            }
        }
        true
    }

    pub(super) fn add_carry(&mut self, dst: &[Named], (a, b, c): (Value, Value, Value), bits: u32) -> Res<()> {
        if self.in_group(dst, (a, b, c), bits, true) {
            return Ok(());
        }
        // A carry alone is a word like others.
        let (b, c) = if self.constant(b) == Some(0) { (c, b) } else { (b, c) };
        let wants_carry = self.is_read(dst[1].0);
        let add = self.sized(bits, "add", "addw");
        let (x, y) = (self.reg(a), self.reg(b));
        let first = self.three(add, x, y);
        let over = wants_carry.then(|| self.three("sltu", first, x));
        let (sum, carry) = match self.constant(c) {
            Some(0) => (first, over),
            _ => {
                let c = self.reg(c);
                let sum = self.three(add, first, c);
                let more = wants_carry.then(|| self.three("sltu", sum, c));
                (sum, over.zip(more).map(|(o, m)| self.three("or", o, m)))
            }
        };
        self.both(dst, sum, carry, bits);
        Ok(())
    }

    pub(super) fn sub_borrow(&mut self, dst: &[Named], (a, b, c): (Value, Value, Value), bits: u32) -> Res<()> {
        if self.in_group(dst, (a, b, c), bits, false) {
            return Ok(());
        }
        // A carry alone is a word like others.
        let (b, c) = if self.constant(b) == Some(0) { (c, b) } else { (b, c) };
        let wants_borrow = self.is_read(dst[1].0);
        let sub = self.sized(bits, "sub", "subw");
        let (x, y) = (self.reg(a), self.reg(b));
        let wants_first = self.is_read(dst[0].0) || self.constant(c) != Some(0);
        let first = if wants_first { self.three(sub, x, y) } else { Reg::Zero };
        let whole = self.constant(c) == Some(0);
        // Of two borrows each is told by what it makes greater: the certifier knows a chain of such.
        let under = wants_borrow.then(|| if whole && !wants_first { self.three("sltu", x, y) } else { self.three("sltu", x, first) });
        let (difference, borrow) = match self.constant(c) {
            Some(0) => (first, under),
            _ => {
                let c = self.reg(c);
                let difference = self.three(sub, first, c);
                let more = wants_borrow.then(|| self.three("sltu", first, difference));
                (difference, under.zip(more).map(|(u, m)| self.three("or", u, m)))
            }
        };
        self.both(dst, difference, borrow, bits);
        Ok(())
    }

    pub(super) fn both(&mut self, dst: &[Named], first: Reg, second: Option<Reg>, bits: u32) {
        self.regs.insert(dst[0].0, first);
        self.regs.insert(dst[1].0, second.unwrap_or(Reg::Zero));
        self.bits.extend(dst.iter().map(|d| (d.0, bits)));
    }
}
