//! Programs in which a public value steers, with one parameter it depends on made secret: refused, by the front end, by the
//! core's verifier and by the prover, each on its own.
//!
//! Needs: a grown program.  Keeps: the value really varies with the parameter.  Absent: leaks that only the machine has.

use crate::ast::{Ex, Prog, Rel, Tail};
use crate::grow::{self, Grow};
use crate::judge::{compile, entry};
use crate::run::bounds;
use num_bigint::BigInt;
use santoku_ir::gen::Rng;
use santoku_ir::{LocalKind, Program};
use santoku_prove::secrecy::{self, Timing};
use std::collections::BTreeMap;

#[derive(Default)]
pub struct Leaks {
    pub by_kind: BTreeMap<String, usize>,
    pub tried: usize,
    pub accepted: Vec<String>,
    /// Public twins that were refused: what they steer is then not tried.
    pub unclear: usize,
}

pub const WAYS: [&str; 7] = ["directly", "by a local", "by a field", "by an element", "by a call", "by a selection", "by a loop"];
pub const ENDS: [&str; 8] = ["index", "write", "slice", "shift", "rotation", "bound", "division", "argument"];

pub fn attack(seeds: std::ops::Range<u64>, t: &mut Leaks) {
    for seed in seeds {
        let mut rng = Rng::new(seed.wrapping_mul(0x51ed_2701) ^ 0x1ea4);
        let Some(mut g) = grow::program(&mut rng) else { continue };
        for _ in 0..4 {
            one(seed, &mut g, t);
        }
    }
}

/// A parameter that the value varies with when all others stay.
fn varies(g: &Grow<'_>, e: &Ex) -> Option<usize> {
    let v = g.vals(e)?;
    let columns: Vec<Vec<BigInt>> = (0..g.f.params).map(|p| g.vals(&Ex::Var(p))).collect::<Option<_>>()?;
    (0..g.f.params).filter(|p| g.f.vars[*p].public).find(|p| {
        let mut seen: BTreeMap<Vec<&BigInt>, &BigInt> = BTreeMap::new();
        (0..g.n).any(|i| {
            let others: Vec<&BigInt> = (0..g.f.params).filter(|q| q != p).map(|q| &columns[q][i]).collect();
            *seen.entry(others).or_insert(&v[i]) != &v[i]
        })
    })
}

fn one(seed: u64, g: &mut Grow<'_>, t: &mut Leaks) {
    let e = g.int(2, true);
    let (Some(v), true) = (g.vals(&e), g.public(&e)) else { return };
    let (lo, hi) = bounds(&v);
    let Some(param) = varies(g, &e) else { return };
    if &hi - &lo > BigInt::from(60) {
        return;
    }
    let span = &hi - &lo;
    let (way, end) = (*g.rng.pick(&WAYS), *g.rng.pick(&ENDS));
    let x = format!("({} - {lo})", g.prog.show(&g.f, &e).replace("--", "- -"));
    let x = if lo < BigInt::from(0) { format!("({} + {})", g.prog.show(&g.f, &e), -&lo) } else { x };
    let mut items = String::new();
    let mut lines = Vec::new();
    let w = match way {
        "directly" => x,
        "by a local" => {
            lines.push(format!("var w: int in 0..{span} = {x}"));
            "w".into()
        }
        "by a field" => {
            items.push_str(&format!("struct W {{ a: u8, b: public int in 0..{span} }}\n").replace("public ", ""));
            lines.push(format!("let w = W {{ a: 1, b: {x} }}"));
            "w.b".into()
        }
        "by an element" => {
            lines.push("var w: [int; 2] = [0, 0]".into());
            lines.push(format!("w[1] = {x}"));
            "w[1]".into()
        }
        "by a call" => {
            items.push_str(&format!("fn same(x: int in 0..{span}) -> int in 0..{span} {{\n  x\n}}\n"));
            format!("same({x})")
        }
        "by a selection" => {
            let c = Ex::Cmp(Rel::Le, Box::new(e.clone()), Box::new(Ex::Lit(lo.clone(), crate::ast::Ty::Int)));
            lines.push("var w: int in 0..1 = 0".into());
            lines.push(format!("if {} {{ w = 1 }} else {{ w = 0 }}", g.prog.show(&g.f, &c)));
            "w".into()
        }
        _ => {
            lines.push("var w: int in 0..2000 = 0".into());
            lines.push(format!("for i in 0..<2 {{ w = {x} }}"));
            "w".into()
        }
    };
    let n = &span + 1;
    lines.push(match end {
        "index" => format!("let y: [u8; {n}] = [0; {n}]; let z = y[{w}]"),
        "write" => format!("var y: [u8; {n}] = [0; {n}]; y[{w}] = 1"),
        "slice" => format!("let y: [u8; {0}] = [0; {0}]; let z = y[{w}; 2]", n + 1),
        "shift" => format!("let y: u128 = 1; let z = y << {w}"),
        "rotation" => format!("let y: u128 = 1; let z = y >>> {w}"),
        "bound" => format!("var y: u8 = 0; for j in 0..<{w} {{ y += 1 }}"),
        "division" => format!("let z = {w} / 3"),
        _ => {
            items.push_str("fn open(x: public int in 0..70) -> int {\n  x\n}\n");
            format!("let z = open({w})")
        }
    });
    let tail = Tail { lines, ret: "int".into(), result: "0".into() };
    let mut p: Prog = g.prog.clone();
    let mut f = g.f.clone();
    f.tail = Some(tail);
    p.items = items;
    p.funcs.push(f);
    let open = compile(&p.text());
    let at = p.funcs.len() - 1;
    p.funcs[at].vars[param].public = false;
    let text = p.text();
    let Ok(open) = open else {
        t.unclear += 1;
        return;
    };
    t.tried += 1;
    *t.by_kind.entry(end.to_string()).or_default() += 1;
    *t.by_kind.entry(way.to_string()).or_default() += 1;
    if compile(&text).is_ok() {
        t.accepted.push(format!("// seed {seed}, {end} {way}: the front end accepts\n{text}"));
    }
    for all in [false, true] {
        core(seed, &open, param, all, &format!("{end} {way}\n{text}"), t);
    }
}

/// The same in the core: the parameter's mark is taken away, alone or with that of every variable.
fn core(seed: u64, open: &Program, param: usize, all: bool, what: &str, t: &mut Leaks) {
    let mut p = open.clone();
    let main = entry(&p);
    let f = &mut p.funcs[main.0 as usize];
    let id = f.params[param];
    f.locals[id.0 as usize].public = false;
    if all {
        f.locals.iter_mut().filter(|l| matches!(l.kind, LocalKind::Var)).for_each(|l| l.public = false);
    }
    t.tried += 1;
    let by_prover = secrecy::check(&p, main, &Timing::default()).iter().any(|o| !o.proved());
    if !by_prover {
        t.accepted.push(format!("// seed {seed}, all {all}: the prover accepts {what}"));
    }
    if santoku_ir::verify::verify(&p).is_empty() {
        t.accepted.push(format!("// seed {seed}, all {all}: the core's verifier accepts {what}"));
    }
}
