//! Random programs of the core, lowered for machines of several widths: they compute what the core's interpreter does.

mod support;

use santoku_ir::gen::{program_with, Config};
use santoku_ir::{FuncId, Program};
use santoku_lower::legalise::{legalise, Lowered, Spread};
use santoku_lower::pass::{optimise, Choice, Costs, TABLE};
use santoku_lower::{BinOp, Inst, Module, Op};
use santoku_passes::{find, Level, PassOptions};
use std::collections::{BTreeMap, BTreeSet};
use support::{edges, machine, random, same, sound, MACHINES};

/// Programs to try; a longer run sets the variable.
fn seeds() -> u64 {
    std::env::var("SANTOKU_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(120)
}

fn config(seed: u64) -> Config {
    match seed % 4 {
        0 => Config::plain(),
        1 => Config { words: vec![1, 7, 8, 24, 33, 64, 65, 127, 128], int_bits: 120, ..Config::default() },
        _ => Config::default(),
    }
}

/// The program with its proven ranges, all of it exported.
fn annotated(program: &Program) -> Program {
    let pass = find("derive-width").expect("the pass has this name");
    let mut made = (pass.run)(program, &PassOptions::new(Level::O0, 64));
    made.funcs.iter_mut().for_each(|f| f.export = Some(f.name.clone()));
    made
}

/// Lowered programs of these seeds, and why others are not.
fn lowered(seeds: std::ops::Range<u64>, words: &[u32]) -> (Vec<(u64, Program, Program, Lowered)>, BTreeMap<String, usize>) {
    let (mut made, mut refused) = (vec![], BTreeMap::new());
    for seed in seeds {
        let program = program_with(seed, &config(seed));
        let ranged = annotated(&program);
        let spread = if seed % 2 == 0 { Spread::default() } else { Spread::short() };
        match legalise(&ranged, &machine(words, seed % 5 == 0), spread) {
            Ok(l) => made.push((seed, program, ranged, l)),
            Err(e) => *refused.entry(e.what.split('`').last().unwrap_or_default().split('(').next().unwrap_or_default().to_string()).or_default() += 1,
        }
    }
    (made, refused)
}

/// Numbers compared; what differs.
fn compared(program: &Program, made: &Program, l: &Lowered, seed: u64) -> (usize, Vec<String>) {
    let (mut numbers, mut wrong) = (0, vec![]);
    for k in 0..program.funcs.len() {
        let id = FuncId(k as u32);
        for input in random(program, id, 6, seed).into_iter().chain(edges(program, id)) {
            match same(program, made, l, id, &input, 200_000) {
                Ok(n) => numbers += n,
                Err(why) => wrong.push(format!("{}: {why}", program.func(id).name)),
            }
        }
    }
    (numbers, wrong)
}

#[test]
fn random_programs_compute_what_the_interpreter_does() {
    for (name, words) in MACHINES {
        let (all, refused) = lowered(0..seeds(), words);
        let mut numbers = 0;
        for (seed, program, made, l) in &all {
            sound(&l.module).unwrap_or_else(|why| panic!("{name}, seed {seed}: {why}"));
            let (n, wrong) = compared(program, made, l, *seed);
            assert!(wrong.is_empty(), "{name}, seed {seed}: {:?}\n{}", &wrong[..wrong.len().min(3)], santoku_lower::text::print(&l.module));
            numbers += n;
        }
        println!("tried: words of {words:?}: {} programs lowered, {numbers} numbers compared, refused: {refused:?}", all.len());
        assert!(all.len() as u64 * 2 > seeds() && numbers > 2000, "{name}: {} programs, {numbers} numbers, refused: {refused:?}", all.len());
    }
}

/// Every instruction of a block and of blocks in it.
fn each(insts: &mut [Inst], f: &mut dyn FnMut(&mut Inst)) {
    for i in insts {
        f(i);
        match i {
            Inst::If { then, els, .. } => {
                each(&mut then.insts, f);
                each(&mut els.insts, f);
            }
            Inst::For(l) => each(&mut l.body.insts, f),
            _ => {}
        }
    }
}

/// Exchanges the operator of instruction `nth` of those that have one.
fn spoiled(module: &Module, nth: usize) -> Option<Module> {
    let mut out = module.clone();
    let (mut seen, mut done) = (0, false);
    for f in &mut out.funcs {
        each(&mut f.body.insts, &mut |i| {
            let Inst::Let { op, .. } = i else { return };
            let new = match *op {
                Op::Bin(BinOp::Add, a, b) => Op::Bin(BinOp::Sub, a, b),
                Op::Bin(BinOp::Sub, a, b) => Op::Bin(BinOp::Add, a, b),
                Op::Bin(BinOp::And, a, b) => Op::Bin(BinOp::Or, a, b),
                Op::Bin(BinOp::Xor, a, b) => Op::Bin(BinOp::Or, a, b),
                Op::Bin(BinOp::MulHu, a, b) => Op::Bin(BinOp::Mul, a, b),
                Op::Select(c, a, b) => Op::Select(c, b, a),
                Op::AddCarry(a, b, c) => Op::SubBorrow(a, b, c),
                _ => return,
            };
            if seen == nth {
                *op = new;
                done = true;
            }
            seen += 1;
        });
    }
    done.then_some(out)
}

/// The same comparison sees an operator exchanged, wherever it matters to a result.
#[test]
fn a_wrong_operator_is_seen() {
    let (mut tried, mut seen) = (0, 0);
    for (_, words) in MACHINES {
        let (all, _) = lowered(0..24, words);
        for (seed, program, made, l) in &all {
            for nth in [0, 3, 11] {
                let Some(module) = spoiled(&l.module, nth) else { continue };
                let (_, wrong) = compared(program, made, &Lowered { module, funcs: l.funcs.clone() }, *seed);
                tried += 1;
                seen += usize::from(!wrong.is_empty());
            }
        }
    }
    println!("{seen} of {tried} spoiled programs seen");
    assert!(tried > 60 && seen * 2 > tried, "{seen} of {tried}");
}

/// Everything that is short enough for a test goes where it is called.
fn costs(seed: u64) -> Costs {
    let inline_max = [12, 400][seed as usize % 2];
    Costs { inline_max, inline_in_loops_max: inline_max, wide_product: [2, 5][seed as usize / 2 % 2], ..Costs::default() }
}

#[test]
fn passes_keep_what_random_programs_compute() {
    for (name, words) in MACHINES {
        let (all, _) = lowered(0..seeds(), words);
        let (mut numbers, mut before, mut after) = (0, 0, 0);
        for (seed, program, made, l) in &all {
            let done = optimise(l, &costs(*seed), &Choice::default());
            sound(&done.module).unwrap_or_else(|why| panic!("{name}, seed {seed}: {why}"));
            let (n, wrong) = compared(program, made, &done, *seed);
            assert!(wrong.is_empty(), "{name}, seed {seed}: {:?}\n{}", &wrong[..wrong.len().min(3)], santoku_lower::text::print(&done.module));
            let count = |m: &Module| m.funcs.iter().map(santoku_lower::Func::count).sum::<usize>();
            numbers += n;
            before += count(&l.module);
            after += count(&done.module);
        }
        println!("tried: words of {words:?}: {} programs, {before} instructions became {after}, {numbers} numbers compared", all.len());
        assert!(numbers > 2000 && after < before, "{name}: {numbers} numbers, {before} to {after}");
    }
}

#[test]
fn every_pass_alone_keeps_what_programs_compute() {
    for pass in TABLE {
        let others = TABLE.iter().map(|p| p.name.to_string()).filter(|n| n != pass.name).collect();
        let choice = Choice { without: others, last: None };
        let (mut numbers, mut changed) = (0, 0);
        for (_, words) in MACHINES {
            for (seed, program, made, l) in &lowered(0..seeds() / 4, words).0 {
                let done = optimise(l, &costs(seed | 1), &choice);
                changed += usize::from(done.module != l.module);
                let (n, wrong) = compared(program, made, &done, *seed);
                assert!(wrong.is_empty(), "{}, seed {seed}: {:?}", pass.name, &wrong[..wrong.len().min(3)]);
                numbers += n;
            }
        }
        println!("tried: {}: {changed} programs changed, {numbers} numbers compared", pass.name);
        assert!(changed > 0 && numbers > 500, "{}: {changed} programs changed, {numbers} numbers", pass.name);
    }
}

/// A rewrite that is wrong: it exchanges operands of a difference, forgets a store, takes one value for another, or puts a slot onto one that is in use.
fn twisted(module: &Module, kind: usize) -> Option<Module> {
    let mut out = module.clone();
    let mut done = false;
    for f in &mut out.funcs {
        let mut slots = BTreeSet::new();
        each(&mut f.body.insts, &mut |i| {
            if done {
                return;
            }
            match (kind, i) {
                (3, Inst::Let { dst, op: Op::Slot(_) }) => {
                    slots.insert(dst[0].0);
                }
                (3, Inst::Let { op: Op::At(a), .. }) if slots.contains(&a.base) && a.offset > 0 => {
                    a.offset = 0;
                    done = true;
                }
                (0, Inst::Let { op: Op::Bin(BinOp::Sub, a, b), .. } | Inst::Let { op: Op::SubBorrow(a, b, _), .. }) if a != b => {
                    std::mem::swap(a, b);
                    done = true;
                }
                (1, Inst::Let { op: Op::AddCarry(_, b, c), .. }) if b != c => {
                    *c = *b;
                    done = true;
                }
                _ => {}
            }
        });
        if kind == 2 && !done {
            let before = f.body.insts.len();
            if let Some(k) = f.body.insts.iter().position(|i| matches!(i, Inst::Store { .. })) {
                f.body.insts.remove(k);
            }
            done = f.body.insts.len() < before;
        }
    }
    done.then_some(out)
}

/// The same comparison sees rewrites that are wrong.
#[test]
fn a_wrong_rewrite_is_seen() {
    let (mut tried, mut seen) = ([0; 4], [0; 4]);
    for (_, words) in MACHINES {
        for (seed, program, made, l) in &lowered(0..seeds() / 3, words).0 {
            let done = optimise(l, &costs(*seed), &Choice::default());
            for kind in 0..4 {
                let Some(module) = twisted(&done.module, kind) else { continue };
                let (_, wrong) = compared(program, made, &Lowered { module, funcs: done.funcs.clone() }, *seed);
                tried[kind] += 1;
                seen[kind] += usize::from(!wrong.is_empty());
            }
        }
    }
    println!("wrong rewrites seen: {seen:?} of {tried:?}: operands exchanged, a carry taken for another value, a store forgotten, a slot put onto another");
    assert!((0..4).all(|k| tried[k] >= 5 && seen[k] * 2 > tried[k]), "{seen:?} of {tried:?}");
}
