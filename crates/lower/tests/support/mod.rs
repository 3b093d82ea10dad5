//! Functions of a lowered module beside the core's interpreter.
#![allow(dead_code)] // each test binary uses its part

#[path = "../../../backend-c/tests/support/inputs.rs"]
mod inputs;

#[allow(unused_imports)] // as above
pub use inputs::{edges, random, Input};

use num_bigint::BigInt;
use num_traits::One;
use santoku_ir::interp::{Interp, Value};
use santoku_ir::{Func, FuncId, Len, LocalId, Program, Ty};
use santoku_isa::{Domain, Word, Words};
use santoku_lower::exec::{At, Exec, Held, Object};
use santoku_lower::legalise::{held, Lowered};
use santoku_lower::{range_of, Layout, Machine, Module, Scalar};

/// Machines by name: their words.
pub const MACHINES: [(&str, &[u32]); 3] = [("32", &[32]), ("64", &[32, 64]), ("c64", &[32, 64, 128])];

pub fn machine(words: &[u32], big_endian: bool) -> Machine {
    Machine { words: words.to_vec(), big_endian }
}

/// Numbers in order, in two's complement of 128 bits.
pub fn flatten(v: &Value, out: &mut Vec<u128>) {
    match v.parts() {
        Some(parts) => parts.iter().for_each(|p| flatten(p, out)),
        None => out.push(low(&v.to_integer().expect("defined").into())),
    }
}

fn low(n: &BigInt) -> u128 {
    let modulus = BigInt::one() << 128u32;
    let low: BigInt = ((n % &modulus) + &modulus) % &modulus;
    low.try_into().expect("below 2^128")
}

/// Numbers in a layout, with their offsets; `lens` are the lengths of this call.
fn leaves(layout: &Layout, f: &Func, lens: &[u64], at: u64, out: &mut Vec<(u64, Scalar)>) {
    match layout {
        Layout::Scalar(s) => out.push((at, s.clone())),
        Layout::Struct { fields, .. } => fields.iter().for_each(|(o, l)| leaves(l, f, lens, at + o, out)),
        Layout::Array { elem, len } => {
            let stride = elem.bytes().expect("elements of constant length");
            (0..length(len, f, lens)).for_each(|k| leaves(elem, f, lens, at + k * stride, out));
        }
    }
}

fn length(len: &Len, f: &Func, lens: &[u64]) -> u64 {
    match len {
        Len::Const(n) => *n,
        Len::Param { param, add } => lens[f.lens.iter().position(|l| l == param).expect("a length")].saturating_add_signed(*add),
    }
}

fn size(layout: &Layout, f: &Func, lens: &[u64]) -> u64 {
    layout.bytes().unwrap_or_else(|| match layout {
        Layout::Array { elem, len } => length(len, f, lens) * elem.bytes().expect("elements of constant length"),
        _ => 0,
    })
}

/// The words of a number.
fn words(machine: &Machine, ty: &Ty, n: u128, negative: bool) -> Vec<Held<Word>> {
    let (bits, count) = held(machine, &range_of(ty).expect("a range"));
    let fill = if negative { u128::MAX } else { 0 };
    let word = |k: u32| if k * bits >= 128 { fill } else { n >> (k * bits) | if negative && k > 0 { fill << (128 - k * bits) } else { 0 } };
    (0..count as u32).map(|k| Held::Word(Word::new(word(k), bits))).collect()
}

/// How many numbers were compared.
///
/// # Errors
/// What differs, or what a run does that none may do.
pub fn same(program: &Program, made: &Program, lowered: &Lowered, id: FuncId, (lens, args): &Input, steps: u64) -> Result<usize, String> {
    let f = made.func(id);
    let expected = Interp::new(program).call(id, lens, args.clone()).map_err(|fault| format!("the interpreter: {fault}"))?;
    let (module, index) = (&lowered.module, lowered.funcs[&id]);
    let mut run = Exec::new(module, Words);
    run.steps = steps;
    let returns = f.rets.len() == 1 && f.local(f.rets[0]).ty.is_scalar();
    let mut given = vec![];
    let mut outs: Vec<(Object, Vec<(u64, Scalar)>)> = vec![];
    for id in f.rets.iter().filter(|_| !returns) {
        let layout = out_layout(made, f, *id);
        let object = run.memory.object("out", size(&layout, f, lens), layout.align());
        let mut all = vec![];
        leaves(&layout, f, lens, 0, &mut all);
        outs.push((object, all));
        given.push(Held::Ptr(At { object, offset: 0 }));
    }
    given.extend(f.lens.iter().zip(lens).flat_map(|(id, n)| words(&module.machine, &f.local(*id).ty, (*n).into(), false)));
    for (id, v) in f.params.iter().zip(args) {
        let ty = &f.local(*id).ty;
        let mut numbers = vec![];
        flatten(v, &mut numbers);
        if ty.is_scalar() {
            let negative = v.to_integer().is_some_and(|n| BigInt::from(n) < BigInt::from(0));
            given.extend(words(&module.machine, ty, numbers[0], negative));
            continue;
        }
        let layout = Layout::of(made, ty)?;
        let object = run.memory.object("in", size(&layout, f, lens), layout.align());
        let mut all = vec![];
        leaves(&layout, f, lens, 0, &mut all);
        for ((offset, s), n) in all.iter().zip(&numbers) {
            let v = run.domain.constant(Word::new(*n, 8 * s.bytes).bits, 8 * s.bytes);
            run.memory.store(At { object, offset: *offset as i64 }, s.bytes, &v)?;
        }
        given.push(Held::Ptr(At { object, offset: 0 }));
    }
    let results = run.call(index, given)?;
    let mut wanted = vec![];
    expected.iter().for_each(|v| flatten(v, &mut wanted));
    let mut got = vec![];
    if returns {
        let mut at = 0;
        let mut n = 0u128;
        for r in &results {
            let Held::Word(w) = r else { return Err("an address is returned".into()) };
            n |= if at < 128 { w.bits << at } else { 0 };
            at += w.width;
        }
        got.push((n, at.min(128)));
    }
    for (object, all) in outs {
        for (offset, s) in all {
            let v = run.memory.load(&mut run.domain, At { object, offset: offset as i64 }, s.bytes)?;
            got.push((v.bits, 8 * s.bytes));
        }
    }
    if got.len() != wanted.len() {
        return Err(format!("{} numbers instead of {}", got.len(), wanted.len()));
    }
    for (k, ((n, bits), want)) in got.iter().zip(&wanted).enumerate() {
        if Word::new(*want, *bits).bits != *n {
            return Err(format!("number {k} is {n:#x} instead of {want:#x}"));
        }
    }
    Ok(got.len())
}

fn out_layout(program: &Program, f: &Func, id: LocalId) -> Layout {
    let ty = &f.local(id).ty;
    match ty.is_scalar() {
        true => Layout::Scalar(Scalar::of(&range_of(ty).expect("a range"), 32).expect("in memory")),
        false => Layout::of(program, ty).expect("a layout"),
    }
}

/// Checks a module, and that its text reads back as the module.
pub fn sound(module: &Module) -> Result<(), String> {
    santoku_lower::verify(module).map_err(|p| p.to_string())?;
    let text = santoku_lower::text::print(module);
    let again = santoku_lower::text::parse(&text).map_err(|e| format!("{e}\n{text}"))?;
    if again == *module { Ok(()) } else { Err(format!("another module is read:\n{text}\n{}", santoku_lower::text::print(&again))) }
}
