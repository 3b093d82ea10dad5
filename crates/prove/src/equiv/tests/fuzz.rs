//! Terms evaluated on concrete inputs against the interpreter: the rewriting rules are sound where this agrees.

use crate::equiv::blast::Blast;
use crate::equiv::dag::{Dag, Id, Sort};
use crate::equiv::eval::{Con, Eval};
use crate::equiv::exec::{run, Exec, How};
use santoku_ir::gen::{args, program_with, Config};
use santoku_ir::interp::Interp;
use santoku_ir::{FuncId, Program};
use std::collections::BTreeSet;

/// Compares every result of every function of a program; gives the number of results compared.
fn compare(p: &Program, seed: u64, how: How, expand: &BTreeSet<String>, bits: &mut usize) -> usize {
    let mut compared = 0;
    for at in 0..p.funcs.len() {
        let id = FuncId(at as u32);
        let mut dag = Dag::new(2_000_000);
        let outs = match run(&mut Exec::new(&mut dag, p, expand, how), id) {
            Ok(outs) => outs,
            Err(stop) => {
                assert_eq!(stop, crate::equiv::dag::Stop::TooBig, "seed {seed}");
                continue;
            }
        };
        for shot in 0..4 {
            let (lens, values) = args(p, id, seed * 17 + shot);
            let wanted = Interp::new(p).call(id, &lens, values.clone()).expect("generated programs do not fault");
            let inputs = lens.iter().map(|n| Con::Num((*n).into())).chain(values.iter().map(Con::of)).collect();
            let mut eval = Eval::new(&dag, p, inputs);
            *bits += by_bits(&dag, &mut eval, &outs, seed);
            for (n, (out, want)) in outs.iter().zip(&wanted).enumerate() {
                let got = eval.value(*out);
                assert!(same(&got, &Con::of(want)), "seed {seed}, {}, result {n}, {how:?}: {got:?} for {want}", p.func(id).name);
                compared += 1;
            }
        }
    }
    compared
}

/// The gates of scalar results have the values of the terms, where what is unknown to them has its value. Gives their number.
fn by_bits(dag: &Dag, eval: &mut Eval, outs: &[Id], seed: u64) -> usize {
    let mut blast = Blast::default();
    let mut compared = 0;
    for out in outs.iter().filter(|o| !matches!(dag.sort(**o), Sort::Agg(_))) {
        // Its gates first: which leaves there are shows then.
        if blast.value(dag, *out, &|_| false).is_none() {
            continue;
        }
        let leaves: Vec<(u32, Con)> = blast.leaves().to_vec().into_iter().map(|(id, first)| (first, eval.value(id))).collect();
        if leaves.iter().any(|(_, v)| !matches!(v, Con::Num(_))) {
            continue;
        }
        let input = |n: u32| {
            let (first, Con::Num(v)) = leaves.iter().rev().find(|(first, _)| *first <= n).expect("one of them") else { return false };
            v.bit(u64::from(n - first))
        };
        let (bits, Con::Num(term)) = (blast.value(dag, *out, &input), eval.value(*out)) else { continue };
        assert_eq!(bits, Some(term), "seed {seed}");
        compared += 1;
    }
    compared
}

/// Equal, an array of run-time length that was never written having any number of undefined elements.
fn same(got: &Con, want: &Con) -> bool {
    match (got, want) {
        (Con::Agg(a), Con::Agg(b)) => a.len() >= b.len() && a.iter().zip(b).all(|(x, y)| same(x, y)),
        (Con::Undef, Con::Agg(b)) => b.iter().all(|y| *y == Con::Undef),
        (a, b) => a == b,
    }
}

#[test]
fn terms_have_the_values_the_interpreter_computes() {
    let (mut compared, mut bits) = (0, 0);
    for seed in 0..100 {
        let config = if seed % 2 == 0 { Config::all() } else { Config::default() };
        let p = program_with(seed, &config);
        let all: BTreeSet<String> = p.funcs.iter().map(|f| f.name.clone()).collect();
        for trips_max in [1, 1 << 20] {
            let by_name = seed % 3 == 0;
            compared += compare(&p, seed, How { trips_max, by_name }, &BTreeSet::new(), &mut bits);
            compared += compare(&p, seed, How { trips_max, by_name }, &all, &mut bits);
        }
    }
    assert!(compared > 3_000, "only {compared} results compared");
    assert!(bits > 3_000, "only {bits} compared bit by bit");
}
