//! Tables with one wrong meaning, made systematically: each must disagree with an executor somewhere.

use crate::cases::{forms, model, random_case, scratch, After, Case, SETS};
use crate::ckb::{absent, Ckb};
use crate::random::Random;
use ckb_vm::Register;
use santoku_isa::{rows, Binary, Compare, Count, Expr, FlatMemory, Inst, Isa, Row, Sem, Shift};
use std::collections::BTreeMap;

fn leak(e: Expr) -> &'static Expr {
    Box::leak(Box::new(e))
}

const BINARY: [Binary; 10] = [
    Binary::Add,
    Binary::Sub,
    Binary::Mul,
    Binary::And,
    Binary::Or,
    Binary::Xor,
    Binary::Udiv,
    Binary::Urem,
    Binary::Sdiv,
    Binary::Srem,
];

/// Expressions that differ from `e` in one node and have its width.
fn twins(e: &Expr, x: u32) -> Vec<Expr> {
    let mut out = here(e, x);
    let one = |a: &Expr, f: &dyn Fn(&'static Expr) -> Expr| twins(a, x).into_iter().map(|t| f(leak(t))).collect::<Vec<_>>();
    match *e {
        Expr::Not(a) => out.extend(one(a, &Expr::Not)),
        Expr::Zext(w, a) => out.extend(one(a, &|a| Expr::Zext(w, a))),
        Expr::Sext(w, a) => out.extend(one(a, &|a| Expr::Sext(w, a))),
        Expr::Bits(lo, w, a) => out.extend(one(a, &|a| Expr::Bits(lo, w, a))),
        Expr::High(a) => out.extend(one(a, &Expr::High)),
        Expr::Count(op, a) => out.extend(one(a, &|a| Expr::Count(op, a))),
        Expr::Bin(op, a, b) => {
            out.extend(one(a, &|a| Expr::Bin(op, a, b)));
            out.extend(one(b, &|b| Expr::Bin(op, a, b)));
        }
        Expr::Shift(op, a, b) => {
            out.extend(one(a, &|a| Expr::Shift(op, a, b)));
            out.extend(one(b, &|b| Expr::Shift(op, a, b)));
        }
        Expr::Cmp(op, a, b) => {
            out.extend(one(a, &|a| Expr::Cmp(op, a, b)));
            out.extend(one(b, &|b| Expr::Cmp(op, a, b)));
        }
        Expr::If(c, a, b) => {
            out.extend(one(c, &|c| Expr::If(c, a, b)));
            out.extend(one(a, &|a| Expr::If(c, a, b)));
            out.extend(one(b, &|b| Expr::If(c, a, b)));
        }
        Expr::Concat(parts) => {
            for n in 0..parts.len() {
                out.extend(one(&parts[n], &|t| {
                    let mut parts = parts.to_vec();
                    parts[n] = *t;
                    Expr::Concat(parts.leak())
                }));
            }
        }
        Expr::Rs1 | Expr::Rs2 | Expr::Imm | Expr::Pc | Expr::Const(_) => {}
    }
    out
}

/// Changes of the topmost node.
fn here(e: &Expr, x: u32) -> Vec<Expr> {
    match *e {
        Expr::Rs1 => vec![Expr::Rs2, Expr::Const(0)],
        Expr::Rs2 => vec![Expr::Rs1, Expr::Const(0)],
        Expr::Imm | Expr::Pc => vec![Expr::Rs1, Expr::Const(0)],
        Expr::Const(c) => vec![Expr::Const(c + 1), Expr::Const(c - 1)],
        Expr::Not(a) => vec![*a],
        Expr::Bin(op, a, b) => {
            // On one bit, a product is a conjunction.
            let one_bit = matches!(a, Expr::Cmp(..));
            let others = BINARY.iter().filter(|o| **o != op && !(one_bit && **o == Binary::Mul));
            let mut out: Vec<_> = others.map(|o| Expr::Bin(*o, a, b)).collect();
            if !matches!(op, Binary::Add | Binary::Mul | Binary::And | Binary::Or | Binary::Xor) {
                out.push(Expr::Bin(op, b, a));
            }
            out
        }
        Expr::Shift(op, a, b) => {
            let mut out = vec![Expr::Shift(op, b, a)];
            out.extend([Shift::Left, Shift::Right, Shift::Arith].iter().filter(|o| **o != op).map(|o| Expr::Shift(*o, a, b)));
            out
        }
        Expr::Cmp(op, a, b) => {
            let mut out: Vec<_> =
                [Compare::Eq, Compare::Ult, Compare::Slt].iter().filter(|o| **o != op).map(|o| Expr::Cmp(*o, a, b)).collect();
            if op != Compare::Eq {
                out.push(Expr::Cmp(op, b, a));
            }
            out
        }
        Expr::If(c, a, b) => vec![Expr::If(c, b, a), *a, *b],
        // A count of 32 bits is not negative.
        Expr::Zext(_, Expr::Count(..)) => vec![],
        Expr::Zext(w, a) => narrower(a).into_iter().map(|a| Expr::Zext(w, leak(a))).chain([Expr::Sext(w, a)]).collect(),
        Expr::Sext(w, a) => narrower(a).into_iter().map(|a| Expr::Sext(w, leak(a))).chain([Expr::Zext(w, a)]).collect(),
        // All bits are alike.
        Expr::Bits(_, _, Expr::Const(0 | -1)) => vec![],
        Expr::Bits(lo, w, a) => vec![Expr::Bits(if lo > 0 { lo - 1 } else { 1 }, w, a)].into_iter().filter(|_| lo > 0 || w < x).collect(),
        Expr::High(a) => vec![Expr::Bits(0, x, a), Expr::Bits(x - 1, x, a)],
        Expr::Concat(parts) => {
            let reversed: Vec<_> = parts.iter().rev().copied().collect();
            vec![Expr::Concat(reversed.leak())]
        }
        Expr::Count(op, a) => {
            let ops = [Count::LeadingZeros, Count::TrailingZeros, Count::Ones];
            ops.iter().filter(|o| **o != op).map(|o| Expr::Count(*o, a)).collect()
        }
    }
}

/// What is widened may be a bit narrower without breaking widths.
fn narrower(a: &Expr) -> Option<Expr> {
    match *a {
        Expr::Bits(lo, w, a) => Some(Expr::Bits(lo, w - 1, a)),
        _ => None,
    }
}

/// Meanings that differ from a row's in one place.
pub fn wrong(row: &Row, isa: &Isa) -> Vec<Sem> {
    let x = isa.xlen.bits();
    let of = |e: &Expr, f: &dyn Fn(Expr) -> Sem| twins(e, x).into_iter().map(f).collect::<Vec<_>>();
    let sizes = |bytes: u8| [1, 2, 4, 8].into_iter().filter(move |b| *b != bytes && u32::from(*b) * 8 <= x);
    match row.sem {
        Sem::Write(e) => of(&e, &Sem::Write),
        Sem::Branch(e) => of(&e, &Sem::Branch),
        Sem::Jump(e) => of(&e, &Sem::Jump),
        Sem::Load { address, bytes, signed } => {
            let mut out = of(&address, &|address| Sem::Load { address, bytes, signed });
            out.extend(sizes(bytes).map(|bytes| Sem::Load { address, bytes, signed }));
            // Nothing is extended where the load is as wide as a register.
            if u32::from(bytes) * 8 < x {
                out.push(Sem::Load { address, bytes, signed: !signed });
            }
            out
        }
        Sem::Store { address, bytes } => {
            let mut out = of(&address, &|address| Sem::Store { address, bytes });
            out.extend(sizes(bytes).map(|bytes| Sem::Store { address, bytes }));
            out
        }
        Sem::Fence | Sem::EnvCall | Sem::Break | Sem::Csr => vec![],
    }
}

/// The case's outcome as an executor saw it: registers and address, and the memory it may have written.
pub struct Observed {
    pub case: Case,
    pub after: After,
    pub memory: Vec<u8>,
}

/// Registers and address after, and all memory, with `row`'s meaning for the case's instruction.
pub fn seen(isa: &Isa, case: &Case, row: &'static Row, start: &FlatMemory) -> Option<(After, Vec<u8>)> {
    let mut memory = start.clone();
    let inst = Inst { row, ..case.inst };
    let after = model(isa, case, &inst, &mut memory).ok()?;
    Some((after, memory.bytes))
}

fn observe<R: Register>(isa: &Isa, cases: usize) -> BTreeMap<&'static str, Vec<Observed>> {
    let mut r = Random::new(11);
    let mut out = BTreeMap::new();
    for form in forms(isa).iter().filter(|f| !f.short && !absent(isa).contains(&f.name)) {
        let mut list = Vec::new();
        let mut ckb = Ckb::<R>::new();
        for _ in 0..cases {
            let case = random_case(isa, form, &mut r);
            let stores = matches!(case.inst.row.sem, Sem::Store { .. });
            let after = ckb.run(&case).expect("known to ckb-vm");
            let memory = if stores { ckb.scratch() } else { Vec::new() };
            if stores {
                ckb = Ckb::new();
            }
            list.push(Observed { case, after, memory });
        }
        out.insert(form.name, list);
    }
    out
}

/// Whether some observation refutes `sem`.
pub fn caught(isa: &Isa, row: &Row, sem: Sem, observed: &[Observed]) -> bool {
    let row: &'static Row = Box::leak(Box::new(Row { sem, ..*row }));
    let start = scratch();
    observed.iter().any(|o| match seen(isa, &o.case, row, &start) {
        None => true,
        Some((after, memory)) => after != o.after || (!o.memory.is_empty() && memory != o.memory),
    })
}

/// What differs in form only: row, part of the meaning, why.
const ALIKE: &[(&str, &str, &str)] = &[
    ("bext", "Shift(Arith", "one bit is taken, and it is one of the register's"),
    ("bexti", "Shift(Arith", "one bit is taken, and it is one of the register's"),
];

fn refuted<R: Register>(isa: &Isa) -> (usize, Vec<String>) {
    let observed = observe::<R>(isa, 600);
    let (mut count, mut alive) = (0, Vec::new());
    for row in rows().filter(|r| r.is_in(isa)) {
        let Some(list) = observed.get(row.name) else { continue };
        assert!(!caught(isa, row, row.sem, list), "{}: the row itself is right", row.name);
        for sem in wrong(row, isa) {
            count += 1;
            if !caught(isa, row, sem, list) {
                alive.push(format!("{} {:?}: {sem:?}", row.name, isa.xlen));
            }
        }
    }
    (count, alive)
}

#[test]
fn every_wrong_meaning_is_refuted() {
    let (n32, mut alive) = refuted::<u32>(&SETS[0]);
    let (n64, more) = refuted::<u64>(&SETS[1]);
    alive.extend(more);
    println!("{} wrong meanings, {} not refuted", n32 + n64, alive.len());
    for (row, part, _) in ALIKE {
        let before = alive.len();
        alive.retain(|a| !(a.starts_with(&format!("{row} ")) && a.contains(part)));
        assert!(alive.len() < before, "{row} {part}: no longer made, or refuted");
    }
    assert!(alive.is_empty(), "not refuted:\n{}", alive.join("\n"));
    assert!(n32 + n64 > 1000);
}
