//! Calls: of functions of the program, and of the C library's memory functions.
//!
//! Needs: the calling convention.  Keeps: a call of the program's function is one that the core makes with the same scalars; it
//! gets whole, aligned objects, its results go to objects apart from all else that is passed or to a parameter's own; what it may change is not
//! known behind it.  Absent: what it does.

use crate::abi::{self, Kind, Place, Role, Scalar};
use crate::entry::{in_registers, of_registers};
use crate::layout::{object, Object};
use crate::machine::{Machine, Spot, PLATFORM, RA};
use crate::{known, stop, Res};
use santoku_ir::{FuncId, Ty};
use santoku_num::Itv;
use santoku_meaning::atoms::Num;
use santoku_meaning::value::flat;
use santoku_meaning::words;

/// Registers that a callee may change: ra, t0 to t6, a0 to a7.
const CALLER_SAVED: [usize; 16] = [1, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29, 30, 31];
/// To a multiple of which the stack pointer is aligned at calls (psABI, "Integer Calling Convention").
const STACK_ALIGN: i64 = 16;
/// Bytes of the longest copy.
const COPY: u64 = 1 << 20;

/// An object that is passed.
struct Passed {
    /// Position, and whether it is a result.
    role: (usize, bool),
    spot: Spot,
    object: Object,
}

fn moved(spot: Spot, by: u64) -> Spot {
    match spot {
        Spot::Object(k, at) => Spot::Object(k, at.saturating_add_unsigned(by)),
        Spot::Constant(at, i) => Spot::Constant(at.wrapping_add(by), i),
    }
}

impl Machine<'_> {
    /// Replaces the call of a function of the program by what the core says it gives.
    pub fn call(&mut self, func: FuncId) -> Res<()> {
        let (program, xlen) = (self.code.program, self.xlen());
        let f = program.func(func);
        self.may_call()?;
        let signature = known(abi::signature(program, f, xlen).ok(), "a function that cannot be called")?;
        let lens = self.lengths(&signature, f.lens.len())?;
        let (mut scalars, mut passed): (Vec<Num>, Vec<Passed>) = (lens.iter().map(|n| Num::constant(*n)).collect(), vec![]);
        for arg in signature.args.iter().filter(|a| !matches!(a.role, Role::Len(_))) {
            let words = self.words_at(&arg.place, &arg.kind)?;
            let mut object = match &arg.kind {
                Kind::Scalar(s) => {
                    scalars.push(self.scalar(s, &words)?);
                    continue;
                }
                Kind::Pointer(o) => o.clone(),
            };
            if let (Some(_), Role::Param(p)) = (&object.repeat, arg.role) {
                object = self.of_length(func, p, &lens)?;
            }
            let (spot, align) = self.spot(&words[0].p)?;
            if align < object.align || object.repeat.is_some() {
                return stop("an object that is not known to be aligned or of a length");
            }
            if let Role::Param(p) = arg.role {
                self.read(spot, &object, &mut scalars)?;
                passed.push(Passed { role: (p, false), spot, object });
            } else if let Role::Ret(r) = arg.role {
                passed.push(Passed { role: (r, true), spot, object });
            }
        }
        let shared = self.apart(&passed, i64::from(signature.stack))?;
        let call = (func, scalars.into_iter().map(|n| n.p).collect());
        let given = known(self.known_calls.get(&call).cloned(), "a call that the core does not make")?;
        self.made.insert((func, shared));
        self.clobber(signature.stack)?;
        let mut results = vec![];
        known(given.iter().try_for_each(|v| flat(v, &mut results)), "a result that is not followed")?;
        let mut results = results.into_iter();
        if let Some(s) = &signature.returned {
            let v = known(results.next(), "a result")?;
            for (k, w) in known(in_registers(&mut self.atoms, s, &v, xlen), "a result")?.into_iter().enumerate() {
                self.regs[10 + k] = w;
            }
        }
        for p in passed.iter().filter(|p| p.role.1) {
            for at in 0..p.object.size {
                let any = self.atoms.fresh(Some(Itv::word(8)));
                self.store_at(moved(p.spot, at), 1, any)?;
            }
            for u in &p.object.units {
                let v = known(results.next(), "a result")?;
                let v = known(words::wrap(&mut self.atoms, &v, 8 * u.bytes), "a result")?;
                self.store_at(moved(p.spot, u.offset), u.bytes, v)?;
            }
        }
        Ok(())
    }

    fn may_call(&self) -> Res<()> {
        let own = PLATFORM.iter().zip(&self.platform).all(|(r, p)| self.regs[*r].p == *p);
        match self.stack_offset()? % STACK_ALIGN {
            0 if own => Ok(()),
            _ => stop("a call with a stack pointer, gp or tp that is not as it has to be"),
        }
    }

    /// Lengths, which are numbers.
    fn lengths(&mut self, signature: &abi::Signature, count: usize) -> Res<Vec<u64>> {
        let mut lens = vec![0; count];
        for arg in &signature.args {
            let (Role::Len(k), Kind::Scalar(s)) = (arg.role, &arg.kind) else { continue };
            let words = self.words_at(&arg.place, &arg.kind)?;
            let n = self.scalar(s, &words)?;
            lens[k] = known(n.p.as_const().and_then(|n| n.to_u64()), "a length that is no number")?;
        }
        Ok(lens)
    }

    /// An array of run-time length where that is known.
    fn of_length(&self, func: FuncId, param: usize, lens: &[u64]) -> Res<Object> {
        let f = self.code.program.func(func);
        let local = f.local(f.params[param]);
        let Ty::Array { elem, len: santoku_ir::Len::Param { param, add }, .. } = &local.ty else { return stop("an array") };
        let at = known(f.lens.iter().position(|l| l == param), "a length")?;
        let n = known(lens[at].checked_add_signed(*add).filter(|n| *n <= COPY), "a length")?;
        let ty = Ty::Array { elem: elem.clone(), len: santoku_ir::Len::Const(n), ranges: None };
        known(object(self.code.program, &ty, local.public).ok(), "an array")
    }

    /// An argument by value, extended as the convention says.
    fn scalar(&mut self, s: &Scalar, passed: &[Num]) -> Res<Num> {
        let xlen = self.xlen();
        let v = known(of_registers(&mut self.atoms, s, passed, xlen), "an argument")?;
        let want = known(in_registers(&mut self.atoms, s, &v, xlen), "an argument")?;
        match want.iter().zip(passed).all(|(a, b)| a.p == b.p) {
            true => Ok(v),
            false => stop("an argument that is not extended to the register"),
        }
    }

    /// All scalars of an object, the bytes between which are there, too.
    fn read(&mut self, spot: Spot, o: &Object, out: &mut Vec<Num>) -> Res<()> {
        let mut next = 0;
        for u in &o.units {
            for at in next..u.offset {
                self.load_at(moved(spot, at), 1)?;
            }
            let v = self.load_at(moved(spot, u.offset), u.bytes)?;
            out.push(if u.signed { known(crate::words::signed(&mut self.atoms, &v, 8 * u.bytes), "an argument")? } else { v });
            next = u.offset + u64::from(u.bytes);
        }
        (next..o.size).try_for_each(|at| self.load_at(moved(spot, at), 1).map(|_| ()))
    }

    fn words_at(&mut self, place: &Place, kind: &Kind) -> Res<Vec<Num>> {
        let (xlen, sp) = (self.xlen(), self.stack_offset()?);
        let slot = xlen / 8;
        let mut stack = |offset: u32| self.load_at(Spot::Object(0, sp + i64::from(offset)), slot);
        Ok(match *place {
            Place::Regs { first, count } => (0..count).map(|k| self.regs[(10 + first + k) as usize].clone()).collect(),
            Place::Split { offset } => {
                let high = stack(offset)?;
                vec![self.regs[17].clone(), high]
            }
            Place::Stack { offset } => {
                let bits = if let Kind::Scalar(s) = kind { s.bits } else { xlen };
                (0..bits.div_ceil(xlen)).map(|k| stack(offset + k * slot)).collect::<Res<_>>()?
            }
        })
    }

    /// Results that are one object with a parameter; every other result is apart from all else that is passed.
    fn apart(&self, all: &[Passed], stack: i64) -> Res<Vec<(usize, usize)>> {
        let sp = self.stack_offset()?;
        let overlap = |a: &Spot, na: u64, b: &Spot, nb: u64| match (a, b) {
            (Spot::Object(k, x), Spot::Object(l, y)) => k == l && *x < y.saturating_add_unsigned(nb) && *y < x.saturating_add_unsigned(na),
            _ => false,
        };
        let mut shared = vec![];
        for (i, a) in all.iter().enumerate() {
            if overlap(&a.spot, a.object.size, &Spot::Object(0, sp), stack.unsigned_abs()) {
                return stop("an object overlaps the arguments on the stack");
            }
            if a.role.1 && matches!(a.spot, Spot::Constant(..)) {
                return stop("a result in the place of a constant");
            }
            for (_, b) in all.iter().enumerate().filter(|(j, _)| a.role.1 && i != *j) {
                if !b.role.1 && a.spot == b.spot && a.object.size == b.object.size {
                    shared.push((a.role.0, b.role.0));
                } else if overlap(&a.spot, a.object.size, &b.spot, b.object.size) {
                    return stop("a result overlaps another argument in part");
                }
            }
        }
        shared.sort_unstable();
        Ok(shared)
    }

    fn clobber(&mut self, stack_args: u32) -> Res<()> {
        // Where the call returns to is asked of what `ra` held, which the callee jumps to.
        for r in CALLER_SAVED.into_iter().filter(|r| *r != RA) {
            self.regs[r] = self.unknown();
        }
        let sp = self.stack_offset()?;
        self.objects[0].forget_below(sp + i64::from(stack_args));
        Ok(())
    }

    /// Where execution goes on behind a call. `None`: the function that is followed has returned.
    pub fn returned(&mut self) -> Res<Option<u64>> {
        let any = self.unknown();
        let ra = std::mem::replace(&mut self.regs[RA], any);
        if ra.p == self.return_to {
            return Ok(None);
        }
        known(self.code_at(&ra.p), "a call that returns nowhere").map(Some)
    }

    /// `memcpy`, `memmove` and `memset`, of lengths that are numbers.
    pub fn external(&mut self, name: &str) -> Res<()> {
        self.may_call()?;
        let (dst, second) = (self.regs[10].clone(), self.regs[11].clone());
        let n = known(self.regs[12].p.as_const().and_then(|n| n.to_u64()).filter(|n| *n <= COPY), "a copy of a length that is no number")?;
        let (to, _) = self.spot(&dst.p)?;
        match name {
            "memcpy" | "memmove" => {
                let (from, _) = self.spot(&second.p)?;
                self.copy(name, to, from, n)?;
            }
            "memset" => {
                let byte = known(words::wrap(&mut self.atoms, &second, 8), "a byte")?;
                (0..n).try_for_each(|k| self.store_at(moved(to, k), 1, byte.clone()))?;
            }
            _ => return stop("a function that the file does not hold"),
        }
        self.clobber(0)?;
        self.regs[10] = dst;
        Ok(())
    }

    fn copy(&mut self, name: &str, to: Spot, from: Spot, n: u64) -> Res<()> {
        if let (Spot::Object(k, x), Spot::Object(l, y), "memcpy") = (to, from, name) {
            if k == l && x != y && x.abs_diff(y) < n {
                return stop("`memcpy` between places that overlap");
            }
        }
        // In words as they are there; all are read before the first is written.
        let cells = match from {
            Spot::Object(k, at) => self.objects[k].cut(at, at.saturating_add_unsigned(n)),
            Spot::Constant(at, _) => self.constant_words(at, n as i64),
        };
        let (mut parts, mut next) = (vec![], 0i64);
        for (at, bytes) in cells {
            parts.extend((next..at).map(|k| (k, 1)));
            parts.push((at, bytes));
            next = at + i64::from(bytes);
        }
        parts.extend((next..n as i64).map(|k| (k, 1)));
        let words = parts.iter().map(|(at, bytes)| self.load_at(moved(from, *at as u64), *bytes)).collect::<Res<Vec<Num>>>()?;
        parts.iter().zip(words).try_for_each(|((at, bytes), w)| self.store_at(moved(to, *at as u64), *bytes, w))
    }

    /// Pointers in a constant are copied whole.
    fn constant_words(&self, first: u64, n: i64) -> Vec<(i64, u32)> {
        let (word, mut k, mut words) = (self.xlen() / 8, 0, vec![]);
        while k + 4 <= n {
            let fits = k + i64::from(word) <= n;
            let holds_pointer = || matches!(self.code.image.pointer(first.wrapping_add_signed(k), word.into()), Ok(Some(_)));
            let bytes = if fits && holds_pointer() { word } else { 4 };
            words.push((k, bytes));
            k += i64::from(bytes);
        }
        words
    }
}
