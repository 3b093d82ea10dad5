//! Words narrower than a lane, in lanes: vertical registers have lanes of one size, that of the block's words.
//!
//! Keeps: every value, with zeros above it. What an operation carries beyond the narrow word is masked off.
//! Absent on purpose: words wider than a lane.
//! Trusted: nothing: what it makes is compared with the program before.

use crate::graph::{each_run, Graph, Inner, Node, Op};
use crate::lut;
use num_bigint::BigInt;
use santoku_ir::{Base, BinOp, ExprKind, FuncId, Len, LocalKind, Place, Program, Ty, UnOp};
use std::collections::{BTreeMap, BTreeSet};

/// The program with every variable, constant and operation of the functions `of` in words of `lane` bits; `None` where there is
/// nothing to widen, or something that has no such form. The inputs and the result of `root` stay as they are.
pub fn widen(program: &Program, of: &[String], root: FuncId, lane: u32) -> Option<Program> {
    let narrow = |ty: &Ty| element(ty).is_some_and(|b| b < lane);
    let mut graphs: BTreeMap<&str, Vec<Graph>> = BTreeMap::new();
    for name in of {
        let old = program.func(program.find(name)?);
        let (inner, mut runs) = (Inner::of(program, old), Vec::new());
        each_run(program, old.body.clone(), &mut |run| {
            runs.push(Graph::of(program, old, &run, &inner));
            run
        });
        graphs.insert(name, runs.into_iter().collect::<Option<Vec<Graph>>>()?);
    }
    let nodes = || graphs.values().flatten().flat_map(|g| &g.nodes);
    if nodes().all(|n| n.bits == lane) || nodes().any(|n| n.bits > lane) {
        return None;
    }
    let mut p = program.clone();
    for s in &mut p.structs {
        for (_, ty) in s.fields.iter_mut().filter(|(_, ty)| narrow(ty)) {
            *ty = in_lanes(ty, lane)?;
        }
    }
    for n in nodes() {
        if let Op::Lut(t) = n.op {
            lut::ensure(&mut p, t, lane);
        }
    }
    let constants = constants(&mut p, nodes(), &narrow, lane)?;
    for (name, runs) in &graphs {
        let at = p.find(name)?;
        let mut f = p.func(at).clone();
        let outside = *name == program.func(root).name;
        for l in &mut f.locals {
            if narrow(&l.ty) && (l.kind == LocalKind::Var || !outside) {
                l.ty = in_lanes(&l.ty, lane)?;
            }
        }
        let mut runs = runs.iter();
        let body = std::mem::take(&mut f.body);
        f.body = each_run(&p, body, &mut |run| match runs.next() {
            Some(g) => g.rebuilt(&mut |g, n, args| node(g, n, args, lane, &constants)).statements(&mut f, &p),
            None => run,
        });
        santoku_ir::visit::map_exprs(&mut f.body, &mut |e| {
            if matches!(e.kind, ExprKind::Read(_)) && narrow(&e.ty) {
                e.ty = in_lanes(&e.ty, lane).unwrap_or_else(|| e.ty.clone());
            }
        });
        crate::graph::drop_unused_locals(&mut f);
        p.funcs[at.0 as usize] = f;
    }
    santoku_ir::verify::verify(&p).is_empty().then_some(p)
}

/// Bits of the words of a type.
fn element(ty: &Ty) -> Option<u32> {
    match ty {
        Ty::Word(b) => Some(*b),
        Ty::Array { elem, .. } => element(elem),
        _ => None,
    }
}

fn in_lanes(ty: &Ty, lane: u32) -> Option<Ty> {
    match ty {
        Ty::Word(_) => Some(Ty::Word(lane)),
        Ty::Array { elem, len: Len::Const(n), .. } => Some(Ty::array(in_lanes(elem, lane)?, *n)),
        _ => None,
    }
}

/// Tables of narrow words once more, in lanes.
fn constants<'a>(p: &mut Program, nodes: impl Iterator<Item = &'a Node>, narrow: &dyn Fn(&Ty) -> bool, lane: u32) -> Option<BTreeMap<Base, Base>> {
    let read: BTreeSet<Base> = nodes.filter_map(|n| if let Op::Leaf(Place { base, .. }) = &n.op { Some(*base) } else { None }).collect();
    let mut made = BTreeMap::new();
    for base in read {
        let Base::Const(id) = base else { continue };
        let c = p.consts[id.0 as usize].clone();
        if narrow(&c.ty) {
            let new = p.add_const(format!("layout$lanes{}", p.consts.len()), in_lanes(&c.ty, lane)?, c.value);
            made.insert(base, Base::Const(new));
        }
    }
    Some(made)
}

fn node(g: &mut Graph, n: &Node, args: Vec<u32>, lane: u32, constants: &BTreeMap<Base, Base>) -> u32 {
    let all = (BigInt::from(1) << n.bits) - 1u32;
    match &n.op {
        Op::Leaf(p) => {
            let base = constants.get(&p.base).copied().unwrap_or(p.base);
            g.node(Op::Leaf(Place { base, projs: p.projs.clone() }), args, lane)
        }
        // Zeros are above a narrower operand already; a wider one is cut off.
        Op::Resize => masked(g, args[0], all, lane),
        _ if n.bits == lane => g.node(n.op.clone(), args, lane),
        Op::Const(_) | Op::Bin(BinOp::And | BinOp::Or | BinOp::Xor) | Op::Shr(_) => g.node(n.op.clone(), args, lane),
        Op::Un(UnOp::Not) => {
            let ones = g.node(Op::Const(all), vec![], lane);
            g.node(Op::Bin(BinOp::Xor), vec![args[0], ones], lane)
        }
        Op::Rotl(k) => {
            let up = g.node(Op::Shl(*k), args.clone(), lane);
            let down = g.node(Op::Shr(n.bits - k), args, lane);
            let both = g.node(Op::Bin(BinOp::Or), vec![up, down], lane);
            masked(g, both, all, lane)
        }
        Op::Un(_) | Op::Bin(_) | Op::Shl(_) | Op::Lut(_) | Op::Part(_) | Op::Lookup(_) => {
            let v = g.node(n.op.clone(), args, lane);
            masked(g, v, all, lane)
        }
    }
}

fn masked(g: &mut Graph, v: u32, all: BigInt, lane: u32) -> u32 {
    if all.bits() == u64::from(lane) {
        return v;
    }
    let all = g.node(Op::Const(all), vec![], lane);
    g.node(Op::Bin(BinOp::And), vec![v, all], lane)
}
