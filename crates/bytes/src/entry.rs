//! What holds at entry, and what has to hold at the return.
//!
//! Needs: both executions.  Keeps: every word of the results is compared, and every register that a function hands back.

use crate::abi::{self, Kind, Place, Role, Scalar, Signature};
use crate::machine::{Base, Code, Machine, Thing, EDGE, PLATFORM, RA, SP};
use crate::memory::Object;
use crate::{known, stop, words, Res, Stop};
use santoku_ir::FuncId;
use santoku_num::{Int, Itv};
use santoku_meaning::atoms::{Atoms, Num};
use santoku_meaning::outside::execute;
use santoku_meaning::state::Outside;
use santoku_meaning::value::flat;
use santoku_meaning::poly::Poly;
use santoku_meaning::value::Val;
use santoku_meaning::words::wrap;
use std::collections::{BTreeMap, BTreeSet};

/// Registers that a function hands back as they were: gp, tp, s0 to s11. The stack pointer is asked apart.
const KEPT: [usize; 14] = [3, 4, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27];
/// Bytes of stack below the stack pointer at entry.
const STACK: i64 = 1 << 20;

/// How hard to try. Nothing of it has to be right.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Words of more terms get names.
    pub names: Option<usize>,
    /// Terms that may be looked at on each side.
    pub terms: u64,
    /// Statements, and terms of one polynomial.
    pub limits: (u64, usize),
    /// Terms of a dividend that is put together of a quotient and what is beside it.
    pub merged: usize,
}

/// What the code of a function rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// Functions that have to be accepted with these of their results and parameters being one object.
    pub calls: BTreeSet<(FuncId, Vec<(usize, usize)>)>,
    /// Words compared.
    pub compared: usize,
}

/// A value of a type in registers of `xlen` bits, low part first.
pub fn in_registers(atoms: &mut Atoms, s: &Scalar, v: &Num, xlen: u32) -> Option<Vec<Num>> {
    let all = wrap(atoms, v, s.bits)?;
    if s.bits > xlen {
        let (high, low) = atoms.divide(&all, &Int::pow2(xlen))?;
        return Some(vec![low, high]);
    }
    if s.bits == xlen {
        return Some(vec![all]);
    }
    // 32 bits in a register of 64: copies of bit 31 above.
    let signed = words::signed(atoms, &all, s.bits)?;
    Some(vec![wrap(atoms, &signed, xlen)?])
}

/// The value in registers. What a narrow value is extended with is not looked at.
pub fn of_registers(atoms: &mut Atoms, s: &Scalar, words_in: &[Num], xlen: u32) -> Option<Num> {
    let mut all = Num::constant(0u8);
    for (k, w) in words_in.iter().enumerate() {
        let unit = Int::pow2(k as u32 * xlen);
        let itv = all.itv.as_ref().zip(w.itv.as_ref()).map(|(a, w)| a.add(&w.mul(&Itv::point(unit.clone()))));
        all = atoms.num(all.p.plus(&unit, &w.p), itv);
    }
    let all = wrap(atoms, &all, s.bits)?;
    if s.signed { words::signed(atoms, &all, s.bits) } else { Some(all) }
}

/// Judges the code at `pc` beside a function. `shared`: results and parameters that are one object. `cut`: functions whose calls are not
/// looked into on either side.
///
/// # Errors
/// Why it is not accepted.
pub fn check(code: &Code, func: FuncId, pc: u64, shared: &[(usize, usize)], cut: &BTreeSet<FuncId>, effort: Effort) -> Result<Accepted, Stop> {
    let f = code.program.func(func);
    let once = |of: fn(&(usize, usize)) -> usize| shared.iter().map(of).collect::<BTreeSet<_>>().len() == shared.len();
    if !once(|s| s.0) || !once(|s| s.1) {
        return stop("several results or parameters in one place");
    }
    let xlen = code.isa.xlen.bits();
    let signature = known(abi::signature(code.program, f, xlen).ok(), "a function that cannot be called")?;
    let outside = Outside { cut: cut.clone(), made: BTreeMap::new(), terms: effort.terms, names: effort.names, word: xlen, beside: None };
    let core = execute(code.program, func, outside, effort.limits, effort.merged, &[]).map_err(|s| Stop(format!("the core: {}", s.0)))?;
    let mut m = Machine::new(code, core.atoms, core.calls, effort.names);
    m.terms = m.atoms.looked.get().saturating_add(effort.terms);
    let results = enter(&mut m, &signature, &core.params, shared)?;
    if shared.iter().any(|(r, p)| *r >= f.rets.len() || *p >= f.params.len() || !results.contains_key(r)) {
        return stop("a result or a parameter that there is not");
    }
    let before = m.regs.clone();
    m.run(pc)?;
    let mut compared = 0;
    let mut same = |a: &Poly, b: &Poly| {
        compared += 1;
        a == b
    };
    if !same(&m.regs[SP].p, &before[SP].p) || !KEPT.iter().all(|r| same(&m.regs[*r].p, &before[*r].p)) {
        return stop("a register is not handed back");
    }
    let mut values = vec![];
    for v in &core.rets {
        let mut own = vec![];
        known(flat(v, &mut own), "a result that is not followed")?;
        values.push(own);
    }
    if let Some(s) = &signature.returned {
        let v = known(values.first().and_then(|v| v.first()).cloned(), "a result")?;
        let want = known(in_registers(&mut m.atoms, s, &v, xlen), "a result")?;
        if !want.iter().enumerate().all(|(k, w)| same(&m.regs[10 + k].p, &w.p)) {
            return stop("the result in a register");
        }
    }
    for arg in &signature.args {
        let (Role::Ret(r), Kind::Pointer(o)) = (arg.role, &arg.kind) else { continue };
        let k = *known(results.get(&r), "a result")?;
        if o.units.len() != values[r].len() {
            return stop("a result of another shape");
        }
        for (u, v) in o.units.iter().zip(&values[r]) {
            let want = known(wrap(&mut m.atoms, v, 8 * u.bytes), "a result")?;
            let got = m.objects[k].load(&mut m.atoms, u.offset as i64, u.bytes)?;
            if !same(&got.p, &want.p) {
                return stop(format!("bytes {} to {} of result {r}", u.offset, u.offset + u64::from(u.bytes)));
            }
        }
    }
    Ok(Accepted { calls: m.made, compared })
}

/// The state at entry; the object of each result by pointer.
fn enter(m: &mut Machine, signature: &Signature, params: &[Val], shared: &[(usize, usize)]) -> Res<BTreeMap<usize, usize>> {
    let xlen = m.xlen();
    m.objects.push(Object::new((-STACK, i64::from(signature.stack)), true));
    let sp = m.base(Base { thing: Thing::Object(0), align: 16, residue: 0 }, (STACK as u64, u64::from(signature.stack)))?;
    m.regs = (0..32).map(|_| m.unknown()).collect();
    m.regs[0] = Num::constant(0u8);
    m.regs[SP] = m.atoms.num(sp, None);
    // Even, as every address of code is.
    let half = m.atoms.fresh(Itv::between(EDGE, Int::mask(xlen - 1)));
    m.regs[RA] = m.atoms.num(half.p.scale(&Int::Small(2)), None);
    m.return_to = m.regs[RA].p.clone();
    m.platform = PLATFORM.map(|r| m.regs[r].p.clone());
    m.stack_args = i64::from(signature.stack);
    let (mut objects, mut results, mut seats): (BTreeMap<usize, usize>, BTreeMap<usize, usize>, Vec<(Place, Vec<Num>)>) = Default::default();
    let mut addresses: BTreeMap<usize, Num> = BTreeMap::new();
    // Parameters first: results may lie in their place.
    for of_results in [false, true] {
        for arg in signature.args.iter().filter(|a| matches!(a.role, Role::Ret(_)) == of_results) {
            let words = match (&arg.kind, arg.role) {
                (Kind::Scalar(s), Role::Param(p)) => {
                    let mut own = vec![];
                    known(flat(&params[p], &mut own), "a parameter")?;
                    known(in_registers(&mut m.atoms, s, known(own.first(), "a parameter")?, xlen), "a parameter")?
                }
                (Kind::Pointer(o), role) if o.repeat.is_none() => {
                    let place = if let Role::Ret(r) = role { shared.iter().find(|s| s.0 == r).map(|s| objects.get(&s.1).copied()) } else { None };
                    let k = match place {
                        Some(k) => known(k, "a result in the place of a scalar")?,
                        None => m.objects.len(),
                    };
                    if k == m.objects.len() {
                        m.objects.push(Object::new((0, known(i64::try_from(o.size).ok(), "an object")?), false));
                        let at = m.base(Base { thing: Thing::Object(k), align: o.align, residue: 0 }, (0, o.size))?;
                        addresses.insert(k, m.atoms.num(at, None));
                    }
                    match role {
                        Role::Ret(r) => {
                            if m.objects[k].hi.unsigned_abs() != o.size {
                                return stop("a result in the place of something else");
                            }
                            m.objects[k].writable = true;
                            results.insert(r, k);
                        }
                        Role::Param(p) | Role::Len(p) => {
                            fill(m, k, o, &params[p])?;
                            objects.insert(p, k);
                        }
                    }
                    vec![addresses[&k].clone()]
                }
                _ => return stop("an argument that is not followed"),
            };
            seats.push((arg.place, words));
        }
    }
    let slot = xlen / 8;
    for (place, words) in seats {
        for (n, w) in words.into_iter().enumerate() {
            let n = n as u32;
            match place {
                Place::Regs { first, .. } => m.regs[(10 + first + n) as usize] = w,
                Place::Split { .. } if n == 0 => m.regs[17] = w,
                Place::Split { offset } => m.objects[0].store(&mut m.atoms, i64::from(offset), slot, w)?,
                Place::Stack { offset } => m.objects[0].store(&mut m.atoms, i64::from(offset + n * slot), slot, w)?,
            }
        }
    }
    Ok(results)
}

/// Gives an object the scalars of a parameter; what lies between them may be anything.
fn fill(m: &mut Machine, k: usize, o: &crate::layout::Object, v: &Val) -> Res<()> {
    let mut own = vec![];
    known(flat(v, &mut own), "a parameter")?;
    if own.len() != o.units.len() {
        return stop("a parameter of another shape");
    }
    for (u, v) in o.units.iter().zip(&own) {
        let w = known(wrap(&mut m.atoms, v, 8 * u.bytes), "a parameter")?;
        m.objects[k].store(&mut m.atoms, u.offset as i64, u.bytes, w)?;
    }
    let mut next = 0;
    for (at, end) in o.units.iter().map(|u| (u.offset, u.offset + u64::from(u.bytes))).chain([(o.size, o.size)]) {
        for byte in next..at {
            let any = m.atoms.fresh(Some(Itv::word(8)));
            m.objects[k].store(&mut m.atoms, byte as i64, 1, any)?;
        }
        next = end;
    }
    Ok(())
}
