//! Two programs of which one differs from the other in one place: never equal where some input tells them apart.
//!
//! Needs: a grown program.  Keeps: both run on every input.  Absent: rewrites by passes; those have tests of their own.

use crate::ast::{Ex, Op, Prog, Rel, St, Ty};
use crate::grow::{self, Grow};
use crate::judge::{compile, entry};
use crate::run::{inputs, Run, Seen, Val};
use santoku_ir::gen::Rng;
use santoku_prove::equiv;
use std::collections::BTreeSet;

#[derive(Default)]
pub struct Pairs {
    /// Pairs that some input tells apart.
    pub differ: usize,
    /// Pairs that are the same on every input, and how many of them are found equal.
    pub same: [usize; 2],
    pub found: Vec<String>,
}

pub fn attack(seeds: std::ops::Range<u64>, t: &mut Pairs) {
    for seed in seeds {
        let mut rng = Rng::new(seed.wrapping_mul(0x2545_f491) ^ 0x9a125);
        let Some(mut g) = grow::program(&mut rng) else { continue };
        g.f.result = g.digest();
        let mut before = g.prog.clone();
        before.funcs.push(g.f.clone());
        for _ in 0..6 {
            one(seed, &mut g, &before, t);
        }
    }
}

fn results(p: &Prog) -> Option<Val> {
    let f = p.main();
    let (mut env, n) = inputs(f)?;
    let seen = Seen::default();
    let run = Run { prog: p, func: f, n, seen: &seen };
    run.block(&mut env, &f.body)?;
    run.eval(&env, &f.result)
}

fn one(seed: u64, g: &mut Grow<'_>, before: &Prog, t: &mut Pairs) {
    let mut after = before.clone();
    let at = after.funcs.len() - 1;
    let f = &mut after.funcs[at];
    let mut nodes = 0;
    each(&mut f.body, &mut f.result, &mut |_| nodes += 1);
    let (pick, how) = (g.rng.below(nodes), g.rng.below(4));
    let mut nr = 0;
    each(&mut f.body, &mut f.result, &mut |e| {
        if nr == pick {
            twist(e, how);
        }
        nr += 1;
    });
    if after == *before {
        return;
    }
    let (Some(x), Some(y)) = (results(before), results(&after)) else { return };
    let (text, other) = (before.text(), after.text());
    let (Ok(p), Ok(q)) = (compile(&text), compile(&other)) else { return };
    let equal = equiv::check(&p, &q, &p.func(entry(&p)).name, &BTreeSet::new()).is_equal();
    if x == y {
        t.same[0] += 1;
        t.same[1] += usize::from(equal);
        return;
    }
    t.differ += 1;
    if equal {
        t.found.push(format!("// seed {seed}: equal to what follows\n{text}\n{other}"));
    }
}

/// Every expression, outer before inner.
fn each(body: &mut [St], result: &mut Ex, f: &mut dyn FnMut(&mut Ex)) {
    fn within(e: &mut Ex, f: &mut dyn FnMut(&mut Ex)) {
        f(e);
        match e {
            Ex::Bin(_, a, b) | Ex::Cmp(_, a, b) | Ex::Idx(a, b) | Ex::Slice(a, b, _) => {
                within(a, f);
                within(b, f);
            }
            Ex::Neg(a) | Ex::Not(a) | Ex::Cast(_, a) | Ex::Field(a, _) => within(a, f),
            Ex::Sel(a, b, c) => [a, b, c].into_iter().for_each(|e| within(e, f)),
            Ex::List(es) | Ex::Rec(_, es) | Ex::Call(_, es) => es.iter_mut().for_each(|e| within(e, f)),
            Ex::Lit(..) | Ex::Var(_) | Ex::Table(_) => {}
        }
    }
    fn statements(body: &mut [St], f: &mut dyn FnMut(&mut Ex)) {
        for s in body {
            match s {
                St::Let(_, e) | St::Set(_, e) => within(e, f),
                St::For { lo, hi, body, .. } => {
                    within(lo, f);
                    within(hi, f);
                    statements(body, f);
                }
                St::If(c, a, b) => {
                    within(c, f);
                    statements(a, f);
                    statements(b, f);
                }
            }
        }
    }
    statements(body, f);
    within(result, f);
}

/// Another expression of the same type.
fn twist(e: &mut Ex, how: u64) {
    match e {
        Ex::Lit(v, t) if *t != Ty::Bool => *v += if how % 2 == 0 { 1 } else { -1 },
        Ex::Bin(op, a, b) => match (how, *op) {
            (0, Op::Add) => *op = Op::Sub,
            (0, Op::Sub) => *op = Op::Add,
            (_, Op::Add | Op::Sub) => std::mem::swap(a, b),
            (_, Op::And) => *op = Op::Or,
            (0, Op::Or) => *op = Op::And,
            (_, Op::Or) => *op = Op::Xor,
            (_, Op::Xor) => *op = Op::Or,
            (_, Op::Shl) => *op = Op::Shr,
            (0, Op::Shr) => *op = Op::Shl,
            (_, Op::Shr) => *op = Op::Rotr,
            (_, Op::Rotl) => *op = Op::Rotr,
            (_, Op::Rotr) => *op = Op::Rotl,
            (_, Op::Div) => *op = Op::Mod,
            (_, Op::Mod) => *op = Op::Div,
            (_, Op::Mul) => std::mem::swap(a, b),
        },
        Ex::Cmp(r, ..) => {
            *r = match (how, *r) {
                (0, Rel::Lt) => Rel::Le,
                (_, Rel::Lt) => Rel::Gt,
                (_, Rel::Le) => Rel::Lt,
                (0, Rel::Gt) => Rel::Ge,
                (_, Rel::Gt) => Rel::Lt,
                (_, Rel::Ge) => Rel::Gt,
                (_, Rel::Eq) => Rel::Ne,
                (_, Rel::Ne) => Rel::Eq,
            }
        }
        Ex::Sel(_, a, b) => std::mem::swap(a, b),
        Ex::Neg(a) | Ex::Not(a) => *e = (**a).clone(),
        _ => {}
    }
}
