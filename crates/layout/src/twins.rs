//! Every pass that is compared bit by bit, with one operation of its result changed at a time: the change is refused, or
//! the program still computes the same on random inputs.

use crate::bits::same;
use crate::isa::Layout;
use crate::request::Request;
use crate::steps::{Compared, Steps};
use crate::table::TABLE;
use num_bigint::BigInt;
use santoku_ir::interp::{Interp, Value};
use santoku_ir::{BinOp, Expr, ExprKind, FuncId, Len, Program, Ty, UnOp};
use santoku_num::SplitMix64;
use std::collections::{BTreeMap, BTreeSet};

/// Changed programs of one pass and sample.
const MOST: usize = 40;

const SAMPLES: [&str; 3] = [
    // Rotations, masks by keys of the round, narrow words.
    "@export(\"f\")\nfn f(x: [u16; 4], k: [[u16; 4]; 31]) -> [u16; 4] {\n  var s = x\n  for i in 0..<30 {\n    let t = [for j in 0..<4: s[j] ^ k[i][j]]\n    s = [(t[0] & t[1]) ^ (t[2] | t[3]), t[0] <<< 1, (t[3] ^ t[1]) <<< 12, u16(u8(t[2]) + 3)]\n  }\n  [for j in 0..<4: s[j] ^ k[30][j]]\n}\n",
    // What secrets decide, and words of the counter.
    "@export(\"f\")\nfn f(x: [u16; 4], k: u16) -> [u16; 4] {\n  var s = x\n  for i in 0..<3 {\n    s = [s[1] - k, if s[0] < s[2] { s[3] } else { s[0] + u16(5 * i) }, u16(int(s[2]) % 64 * 3), s[3] ^ s[0]]\n  }\n  s\n}\n",
    // Functions apart.
    "struct P { x: u16, on: bool }\n@noinline\nfn step(p: P, k: u16) -> P {\n  P { x: if p.on { p.x ^ k } else { p.x + k }, on: p.x == k }\n}\n@export(\"f\")\nfn f(x: [u16; 4], k: [u16; 3]) -> [u16; 4] {\n  var p = P { x: x[0], on: false }\n  for i in 0..<3 { p = step(p, k[i]) }\n  [p.x, x[1] & x[2], x[2], x[3] ^ p.x]\n}\n",
];

fn compared(text: &str, layout: Layout, isa: &str) -> Vec<Compared> {
    let load = &mut |p: &str| (p == "block.stk").then(|| text.to_string());
    let program = santoku_sema::compile("block.stk", &[], load, &Default::default()).unwrap_or_else(|f| panic!("{text}\n{:?}", f.diagnostics)).program;
    let request = Request {
        layout,
        isa: santoku_target::vector(isa).unwrap().unwrap(),
        interleave: 2,
        granularity: 3,
        shared: BTreeSet::from(["k".to_string()]),
        name: "k".into(),
        without: BTreeSet::new(),
        dump_after: None,
    };
    let circuits = santoku_passes::circuits(&program, &mut santoku_passes::Silent);
    let mut steps = Steps::start(&program, "f", &request, (60, &circuits)).unwrap();
    for pass in TABLE.iter().filter(|p| p.runs_in(&request)) {
        (pass.run)(&mut steps).unwrap();
    }
    steps.compared
}

/// The program with the `n`-th operation changed; `None` behind the last.
fn changed(program: &Program, n: usize) -> Option<Program> {
    let (mut out, mut seen, mut done) = (program.clone(), 0, false);
    for f in &mut out.funcs {
        santoku_ir::visit::map_exprs(&mut f.body, &mut |e| {
            if matches!(e.ty, Ty::Word(_)) {
                if let Some(new) = other(e) {
                    if seen == n {
                        (*e, done) = (new, true);
                    }
                    seen += 1;
                }
            }
        });
    }
    done.then_some(out)
}

/// Another operation in the place of one.
fn other(e: &Expr) -> Option<Expr> {
    let mut out = e.clone();
    match &mut out.kind {
        ExprKind::Bin(op @ (BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Add | BinOp::Sub), ..) => {
            *op = match op {
                BinOp::And => BinOp::Or,
                BinOp::Or => BinOp::Xor,
                BinOp::Xor => BinOp::And,
                BinOp::Add => BinOp::Sub,
                _ => BinOp::Add,
            };
        }
        ExprKind::Bin(BinOp::Rotl | BinOp::Shl | BinOp::Shr, _, k) => {
            let (Ty::Word(bits), ExprKind::Const(v)) = (&e.ty, &mut k.kind) else { return None };
            *v = (&*v + 1u32) % BigInt::from(*bits);
        }
        ExprKind::Un(UnOp::Not, a) => return Some((**a).clone()),
        ExprKind::Const(v) => *v = &*v ^ BigInt::from(1),
        _ => return None,
    }
    Some(out)
}

fn value(ty: &Ty, bits: &mut dyn FnMut() -> bool) -> Value {
    match ty {
        Ty::Array { elem, len: Len::Const(n), .. } => Value::array((0..*n).map(|_| value(elem, bits)).collect()),
        Ty::Word(n) => Value::Word((0..*n).fold(0, |w, k| w | u128::from(bits()) << k)),
        other => panic!("{other:?}"),
    }
}

fn flat(v: &Value, ty: &Ty, out: &mut Vec<bool>) {
    match (ty, v) {
        (Ty::Word(n), Value::Word(w)) => out.extend((0..*n).map(|k| w >> k & 1 == 1)),
        (Ty::Array { elem, .. }, v) => v.parts().unwrap().iter().for_each(|v| flat(v, elem, out)),
        other => panic!("{other:?}"),
    }
}

fn run(program: &Program, f: FuncId, seed: u64) -> Option<Vec<bool>> {
    let (mut rng, func) = (SplitMix64::new(seed), program.func(f));
    let args = func.params.iter().map(|p| value(&func.local(*p).ty, &mut || rng.next_u64() >> 63 == 1)).collect();
    let results = Interp::new(program).call(f, &[], args).ok()?;
    let mut out = Vec::new();
    func.rets.iter().zip(&results).for_each(|(r, v)| flat(v, &func.local(*r).ty, &mut out));
    Some(out)
}

#[test]
fn one_changed_operation_is_refused_in_every_pass() {
    let mut refused: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for text in SAMPLES {
        for (layout, isa) in [(Layout::Scalar, "portable64"), (Layout::Vertical, "avx512"), (Layout::Bitslice, "portable64"), (Layout::Bitslice, "avx512")] {
            for (pass, (before, f), (after, g)) in compared(text, layout, isa) {
                assert!(same(&before, f, &after, g).is_ok());
                let total = (0..).take_while(|n| changed(&after, *n).is_some()).count();
                for n in (0..total).step_by(total / MOST + 1) {
                    let wrong = changed(&after, n).unwrap();
                    let count = refused.entry(pass).or_default();
                    match same(&before, f, &wrong, g) {
                        Err(_) => count.0 += 1,
                        Ok(_) => {
                            count.1 += 1;
                            let agree = (0..32).all(|seed| run(&before, f, seed) == run(&wrong, g, seed));
                            assert!(agree, "{pass}, {} {isa}: change {n} was accepted\n{text}", layout.name());
                        }
                    }
                }
            }
        }
    }
    for (pass, (refused, same)) in &refused {
        println!("{pass}: {refused} changed programs refused, {same} accepted that compute the same");
        assert!(*refused >= 10, "{pass}");
    }
    let all: BTreeSet<&str> = TABLE.iter().map(|p| p.name).collect();
    let elsewhere = BTreeSet::from(["columns", "straighten", "cells"]);
    let compared: BTreeSet<&str> = refused.keys().copied().collect();
    assert_eq!(all.difference(&elsewhere).copied().collect::<BTreeSet<_>>(), compared, "passes without a twin");
}
