//! Round keys one step ahead.
//!
//! A loop that begins with `s ^= k[i]` begins instead with `s` already masked, and ends by masking for the next step, where a
//! three-input gate does it for nothing. A mask behind a rotation moves in front of it as the key rotated back.
//! Trusted: nothing: what it makes is compared with the program before.

use crate::graph::{fixed, Graph, Inner, Node, Op};
use santoku_ir::visit::{substitute_expr, walk_expr};
use santoku_ir::{Base, BinOp, Expr, ExprKind, Func, Len, LocalId, Place, Program, Proj, Stmt, Ty};
use std::collections::{BTreeMap, BTreeSet};

/// One variable of a loop that is masked by a key before anything else.
struct Masked {
    var: LocalId,
    bits: u32,
    /// The node `var ^ key`.
    sum: u32,
    key: Place,
}

/// Moves masks ahead in every loop at the top of the function; gives the number of variables moved.
pub fn ahead(program: &Program, func: &mut Func, shared: &BTreeSet<LocalId>) -> usize {
    let inner = Inner::of(program, func);
    let mut moved = 0;
    let mut out = Vec::new();
    for stmt in std::mem::take(&mut func.body) {
        match one_loop(program, func, &stmt, shared, &inner) {
            Some((stmts, n)) => {
                moved += n;
                out.extend(stmts);
            }
            None => out.push(stmt),
        }
    }
    func.body = out;
    moved
}

fn one_loop(program: &Program, func: &mut Func, stmt: &Stmt, shared: &BTreeSet<LocalId>, inner: &Inner) -> Option<(Vec<Stmt>, usize)> {
    let Stmt::For { var, lo, hi, rev: false, body, loc, unroll, .. } = stmt else { return None };
    let (first, end) = (lo.as_const()?, hi.as_const()?);
    let g = Graph::of(program, func, body, inner)?;
    let steps = u64::try_from(end).ok()?;
    let found: Vec<Masked> = masked(func, &g, *var, shared).into_iter().filter(|m| length(func, &m.key) > Some(steps)).collect();
    if found.is_empty() || first >= end {
        return None;
    }
    let g = moved(&g, &found, *var);
    let new_body = g.statements(func, program);
    let mask = |m: &Masked, at: &Expr| Stmt::Assign {
        dst: Place::local(m.var),
        src: Expr::read(Place::local(m.var), &Ty::Word(m.bits)) ^ Expr::read(indexed(&m.key, *var, at), &Ty::Word(m.bits)),
        loc: *loc,
    };
    let mut out: Vec<Stmt> = found.iter().map(|m| mask(m, &Expr::int(first.clone()))).collect();
    out.push(Stmt::For {
        var: *var,
        lo: lo.clone(),
        hi: hi.clone(),
        rev: false,
        unroll: *unroll,
        invariants: vec![],
        body: new_body,
        loc: *loc,
    });
    out.extend(found.iter().map(|m| mask(m, &Expr::int(end.clone()))));
    Some((out, found.len()))
}

fn masked(func: &Func, g: &Graph, counter: LocalId, shared: &BTreeSet<LocalId>) -> Vec<Masked> {
    let need = g.needed();
    let mut found = Vec::new();
    for (place, _) in &g.writes {
        let (Base::Local(var), true) = (place.base, place.projs.is_empty()) else { continue };
        let Some(leaf) = g.nodes.iter().position(|n| n.op == Op::Leaf(place.clone())) else { continue };
        let users: Vec<usize> =
            (0..g.nodes.len()).filter(|n| need[*n] && g.nodes[*n].args.contains(&(leaf as u32))).collect();
        let ([user], false) = (users.as_slice(), g.writes.iter().any(|(_, w)| *w == leaf as u32)) else { continue };
        let Node { op: Op::Bin(BinOp::Xor), args, bits } = &g.nodes[*user] else { continue };
        let other = if args[0] == leaf as u32 { args[1] } else { args[0] };
        let Op::Leaf(key) = &g.nodes[other as usize].op else { continue };
        if stepped(key, counter) && matches!(key.base, Base::Local(k) if shared.contains(&k)) && func.local(var).kind == santoku_ir::LocalKind::Var {
            found.push(Masked { var, bits: *bits, sum: *user as u32, key: key.clone() });
        }
    }
    found
}

/// Is the first index the counter itself and every other a constant?
fn stepped(key: &Place, counter: LocalId) -> bool {
    let Some((Proj::Index(first), rest)) = key.projs.split_first() else { return false };
    let plain = matches!(&first.kind, ExprKind::Read(p) if *p == Place::local(counter));
    plain && fixed(&Place { base: key.base, projs: rest.to_vec() })
}

fn length(func: &Func, key: &Place) -> Option<u64> {
    let Base::Local(id) = key.base else { return None };
    match &func.local(id).ty {
        Ty::Array { len: Len::Const(n), .. } => Some(*n),
        _ => None,
    }
}

/// The place with another value for the counter.
fn indexed(key: &Place, counter: LocalId, value: &Expr) -> Place {
    let mut p = key.clone();
    for j in &mut p.projs {
        if let Proj::Index(e) = j {
            substitute_expr(e, counter, value);
        }
    }
    p
}

/// The body with the masks at its end.
fn moved(g: &Graph, found: &[Masked], counter: LocalId) -> Graph {
    let sums: BTreeMap<u32, LocalId> = found.iter().map(|m| (m.sum, m.var)).collect();
    let mut n = 0;
    let mut new = g.rebuilt(&mut |h, node, args| {
        let at = n;
        n += 1;
        match sums.get(&at) {
            Some(var) => h.node(Op::Leaf(Place::local(*var)), vec![], node.bits),
            None => h.node(node.op.clone(), args, node.bits),
        }
    });
    let next = Expr::bin(BinOp::Add, Expr::read(Place::local(counter), &Ty::int()), Expr::int(1));
    for m in found {
        let Some(w) = new.writes.iter().position(|(p, _)| *p == Place::local(m.var)) else { continue };
        let key = new.node(Op::Leaf(indexed(&m.key, counter, &next)), vec![], m.bits);
        new.writes[w].1 = mask(&mut new, w, key, m.bits);
    }
    new
}

/// `value ^ key`, the key moved through a rotation.
fn mask(g: &mut Graph, write: usize, key: u32, bits: u32) -> u32 {
    let value = g.writes[write].1;
    match g.nodes[value as usize].clone() {
        Node { op: Op::Rotl(k), args, .. } => {
            let back = g.node(Op::Rotl((bits - k) % bits), vec![key], bits);
            let sum = g.node(Op::Bin(BinOp::Xor), vec![args[0], back], bits);
            g.node(Op::Rotl(k), vec![sum], bits)
        }
        _ => g.node(Op::Bin(BinOp::Xor), vec![value, key], bits),
    }
}

/// Operations of an expression that is computed ahead.
const HOISTED_MAX: usize = 4_000;

/// What depends on shared inputs and the counter alone is computed once, outside: `func` gets a parameter for each such
/// expression, and the second function computes them. `None` where there is nothing to compute.
pub fn hoist(program: &Program, func: &mut Func, shared: &BTreeSet<LocalId>) -> Option<Func> {
    let mut prepare = santoku_ir::build::FuncBuilder::new(program, format!("{}$prepare", func.name));
    let mut names = BTreeMap::new();
    for id in shared {
        names.insert(*id, prepare.param(func.local(*id).name.clone(), func.local(*id).ty.clone()));
    }
    let mut any = false;
    let inner = Inner::of(program, func);
    let mut body = std::mem::take(&mut func.body);
    for stmt in &mut body {
        let Stmt::For { var, lo, hi, rev: false, body, .. } = stmt else { continue };
        let (Some(true), Some(steps)) = (lo.as_const().map(|v| *v == 0.into()), hi.as_const().and_then(|v| u64::try_from(v).ok())) else {
            continue;
        };
        let Some(g) = Graph::of(program, func, body, &inner) else { continue };
        let (g, done) = split(&g, func, *var, steps, shared);
        if done.is_empty() {
            continue;
        }
        any = true;
        *body = g.statements(func, program);
        for (param, expr) in done {
            let counter = prepare.counter("i");
            let ret = prepare.ret(func.local(param).name.clone(), func.local(param).ty.clone());
            let mut expr = expr;
            santoku_ir::visit::rename_expr_locals(&mut expr, &|id| if id == *var { counter } else { names.get(&id).copied().unwrap_or(id) });
            let at = Expr::read(Place::local(counter), &Ty::int());
            let set = Stmt::assign(Place::local(ret).index(at), expr);
            prepare.push(Stmt::for_range(counter, Expr::int(0), Expr::int(steps), vec![set]));
        }
    }
    func.body = body;
    any.then(|| prepare.finish())
}

/// Replaces the largest nodes of shared leaves by reads of new parameters.
fn split(g: &Graph, func: &mut Func, counter: LocalId, steps: u64, shared: &BTreeSet<LocalId>) -> (Graph, Vec<(LocalId, Expr)>) {
    let mut of_shared = Vec::new();
    for n in &g.nodes {
        of_shared.push(match &n.op {
            Op::Leaf(p) => shared_leaf(p, counter, shared),
            Op::Const(_) => true,
            Op::Lut(_) | Op::Part(_) | Op::Lookup(_) => false,
            _ => n.args.iter().all(|a| of_shared[*a as usize]),
        });
    }
    // As an expression a shared node counts wherever it is used.
    let mut sizes: Vec<usize> = Vec::new();
    for n in &g.nodes {
        sizes.push(n.args.iter().fold(1usize, |sum, a| sum.saturating_add(sizes[*a as usize])));
    }
    let (need, mut done, mut n) = (g.needed(), Vec::new(), 0);
    let wanted = |n: usize| need[n] && of_shared[n] && !matches!(g.nodes[n].op, Op::Leaf(_) | Op::Const(_));
    let top = |n: usize| {
        wanted(n)
            && sizes[n] <= HOISTED_MAX
            && (g.writes.iter().any(|(_, w)| *w as usize == n)
                || (0..g.nodes.len()).any(|u| need[u] && !of_shared[u] && g.nodes[u].args.contains(&(n as u32))))
    };
    let new = g.rebuilt(&mut |h, node, args| {
        let at = n;
        n += 1;
        if !top(at) {
            return h.node(node.op.clone(), args, node.bits);
        }
        let ty = Ty::array(Ty::Word(node.bits), steps);
        let param = crate::graph::fresh(func, "pre", ty, santoku_ir::LocalKind::Param);
        func.params.push(param);
        done.push((param, as_expr(g, at as u32)));
        let place = Place::local(param).index(Expr::read(Place::local(counter), &Ty::int()));
        h.node(Op::Leaf(place), vec![], node.bits)
    });
    (new, done)
}

fn shared_leaf(p: &Place, counter: LocalId, shared: &BTreeSet<LocalId>) -> bool {
    let root = matches!(p.base, Base::Local(id) if shared.contains(&id)) || matches!(p.base, Base::Const(_));
    let mut locals = true;
    for j in &p.projs {
        if let Proj::Index(e) = j {
            walk_expr(e, &mut |e| {
                if let ExprKind::Read(q) = &e.kind {
                    locals &= *q == Place::local(counter);
                }
            });
        }
    }
    root && locals
}

fn as_expr(g: &Graph, n: u32) -> Expr {
    let node = &g.nodes[n as usize];
    let arg = |k: usize| as_expr(g, node.args[k]);
    match &node.op {
        Op::Leaf(p) => Expr::read(p.clone(), &Ty::Word(node.bits)),
        Op::Const(v) => Expr::new(ExprKind::Const(v.clone()), Ty::Word(node.bits)),
        Op::Un(op) => Expr::un(*op, arg(0)),
        Op::Bin(op) => Expr::bin(*op, arg(0), arg(1)),
        Op::Rotl(k) => arg(0).rotl(*k),
        Op::Shl(k) => arg(0).shl(*k),
        Op::Shr(k) => arg(0).shr(*k),
        Op::Resize => Expr::new(ExprKind::Cast(Box::new(arg(0))), Ty::Word(node.bits)),
        Op::Lut(_) | Op::Part(_) | Op::Lookup(_) => Expr::word(node.bits, 0),
    }
}

