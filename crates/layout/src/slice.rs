//! Bitslicing: every bit of every word becomes a word of its own that holds this bit of many blocks.
//!
//! Rotations and shifts become renaming, additions become adders; anything else is refused with its place. Loops stay loops:
//! their bodies become functions from one state to the next, called in pairs so that no state is copied.

use crate::circuits::Bits;
use crate::error::LayoutError;
use crate::graph::{fresh, Graph, Inner, Op};
use crate::lut;
use num_bigint::BigInt;
use santoku_ir::visit::{callees, reached, read_locals, written_locals};
use santoku_ir::{Base, BinOp, ConstId, ConstValue, Expr, ExprKind, Func, FuncId, Inline, Len, Local, LocalId, LocalKind, Place, Program, Range, Stmt, StructDef, StructId, Ty, UnOp};
use std::collections::{BTreeMap, BTreeSet};

/// Adds the bitsliced form of `func` and of every function it calls, on words of `width` bits, as `FUNC$bits`; with `rolled`,
/// loops become calls.
///
/// # Errors
/// [`LayoutError::Operation`] for what has no bitsliced form.
pub fn bitslice(program: &Program, func: FuncId, width: u32, rolled: bool) -> Result<(Program, FuncId), LayoutError> {
    let mut p = program.clone();
    let old = program.structs.len() as u32;
    for s in &program.structs {
        let fields = s.fields.iter().map(|(n, ty)| (n.clone(), sliced(ty, width, old))).collect();
        p.structs.push(StructDef { name: format!("{}$bits", s.name), fields });
    }
    // What is called by name: cells come in front of all others and move them.
    let mut done = BTreeMap::new();
    for name in names(program, func) {
        let at = program.find(&name).unwrap_or(func);
        let id = one(program, &mut p, at, (width, rolled), &done)?;
        done.insert(name, p.func(id).name.clone());
    }
    let id = done.get(&program.func(func).name).and_then(|n| p.find(n));
    let id = id.ok_or_else(|| LayoutError::internal("bitslice", "the function is gone"))?;
    Ok((p, id))
}

/// Names of the functions that `func` reaches and that are no cells, callees first, itself last.
fn names(program: &Program, func: FuncId) -> Vec<String> {
    reached(program, [func]).into_iter().map(|id| program.func(id)).filter(|f| !lut::is_lut(f)).map(|f| f.name.clone()).collect()
}

fn one(program: &Program, p: &mut Program, func: FuncId, (width, rolled): (u32, bool), done: &BTreeMap<String, String>) -> Result<FuncId, LayoutError> {
    let mut f = program.func(func).clone();
    let name = f.name.clone();
    let luts = |id: FuncId| lut::is_lut(program.func(id)).then(|| lut::table_of(program, id)).flatten();
    let tables: BTreeSet<_> = callees(&f).into_iter().filter_map(luts).collect();
    for t in tables {
        lut::ensure(p, t, width);
    }
    let structs = program.structs.len() as u32;
    for l in &mut f.locals {
        l.ty = sliced(&l.ty, width, structs);
    }
    let tables = sliced_tables(program, p, &f, width);
    f.name = format!("{name}$bits");
    f.export = None;
    f.applies = None;
    f.contracts = vec![];
    let original = program.func(func).clone();
    let mut rounds = Vec::new();
    let body = std::mem::take(&mut f.body);
    let cx = Cx { program, new: p, original: &original, width, inner: Inner::of(program, &original), tables, done };
    f.body = block(&cx, &mut f, &body)?;
    if rolled {
        roll(p, &mut f, &mut rounds);
    }
    for r in rounds {
        p.add_func(r);
    }
    Ok(p.add_func(f))
}

/// The type in bits; structs have their sliced forms `structs` numbers behind.
fn sliced(ty: &Ty, width: u32, structs: u32) -> Ty {
    match ty {
        Ty::Word(n) => Ty::array(Ty::Word(width), u64::from(*n)),
        Ty::Array { elem, len, .. } => Ty::Array { elem: Box::new(sliced(elem, width, structs)), len: len.clone(), ranges: None },
        Ty::Struct(id) => Ty::Struct(StructId(id.0 + structs)),
        other => other.clone(),
    }
}

/// The constants that `f` reads at a place that is not known, bit by bit: what is all zeros or all ones in every block.
fn sliced_tables(program: &Program, new: &mut Program, f: &Func, width: u32) -> BTreeMap<ConstId, ConstId> {
    let mut ids = BTreeSet::new();
    santoku_ir::visit::walk_places(&f.body, &mut |p, _| {
        if let Base::Const(id) = p.base {
            ids.insert(id);
        }
    });
    let mut out = BTreeMap::new();
    for id in ids {
        let c = &program.consts[id.0 as usize];
        if let Some(value) = sliced_value(&c.ty, &c.value, width) {
            let name = format!("{}$bits", c.name);
            let there = new.consts.iter().position(|c| c.name == name && c.value == value);
            out.insert(id, there.map_or_else(|| new.add_const(name, sliced(&c.ty, width, 0), value), |k| ConstId(k as u32)));
        }
    }
    out
}

fn sliced_value(ty: &Ty, v: &ConstValue, width: u32) -> Option<ConstValue> {
    match (ty, v) {
        (Ty::Word(n), ConstValue::Scalar(v)) => {
            let all = (BigInt::from(1) << width) - 1u32;
            Some(ConstValue::Array((0..*n).map(|k| ConstValue::Scalar(if v.bit(k.into()) { all.clone() } else { 0.into() })).collect()))
        }
        (Ty::Array { elem, .. }, ConstValue::Array(vs)) => vs.iter().map(|v| sliced_value(elem, v, width)).collect::<Option<_>>().map(ConstValue::Array),
        _ => None,
    }
}

struct Cx<'a> {
    program: &'a Program,
    new: &'a Program,
    original: &'a Func,
    width: u32,
    inner: Inner,
    /// Constants and their sliced forms.
    tables: BTreeMap<ConstId, ConstId>,
    /// Functions apart, and what their sliced forms are called.
    done: &'a BTreeMap<String, String>,
}

impl Cx<'_> {
    fn refuse(&self, what: &str, loc: santoku_ir::Loc) -> LayoutError {
        let loc = if loc.line > 0 { loc } else { self.original.loc };
        LayoutError::Operation { func: self.original.name.clone(), what: what.into(), layout: "bitslice", loc }
    }
}

impl Cx<'_> {
    /// The first statement of a run that is no graph by itself; where only their order is at fault, the first of all. What a secret
    /// decides is in words by now.
    fn first_without_form(&self, run: &[Stmt]) -> LayoutError {
        let alone = |s: &&Stmt| Graph::of(self.program, self.original, std::slice::from_ref(s), &self.inner).is_none();
        let at = run.iter().find(alone).or(run.first());
        let what = match at {
            Some(Stmt::Call { .. }) => "call",
            Some(s @ Stmt::Assign { dst, .. }) if crate::graph::fixed(dst) => {
                let mut what = "operation like this";
                santoku_ir::visit::stmt_exprs(s, &mut |e| santoku_ir::visit::walk_expr(e, &mut |e| match (&e.kind, &e.ty) {
                    (ExprKind::Select(..), _) => what = "selection that changes from round to round",
                    (ExprKind::Cmp(..), _) if what == "operation like this" => what = "comparison that changes from round to round",
                    (ExprKind::Cast(a), Ty::Word(_)) if matches!(a.ty, Ty::Int(_)) && what == "operation like this" => what = "integer of the round as a word",
                    _ => {}
                }));
                what
            }
            _ => "assignment to an element that changes from round to round",
        };
        self.refuse(what, at.map_or_else(Default::default, Stmt::loc))
    }
}

fn block(cx: &Cx<'_>, f: &mut Func, body: &[Stmt]) -> Result<Vec<Stmt>, LayoutError> {
    let (mut out, mut run) = (Vec::new(), Vec::new());
    let flush = |run: &mut Vec<Stmt>, f: &mut Func, out: &mut Vec<Stmt>| -> Result<(), LayoutError> {
        if !run.is_empty() {
            let g = Graph::of(cx.program, cx.original, run, &cx.inner).ok_or_else(|| cx.first_without_form(run))?;
            let bits = bits(cx, &g)?;
            out.extend(bits.statements(f, cx.new));
            run.clear();
        }
        Ok(())
    };
    for s in body {
        match s {
            Stmt::Assert { .. } | Stmt::Ghost { .. } => {}
            s if crate::graph::is_apart(cx.program, s) => {
                flush(&mut run, f, &mut out)?;
                out.push(call(cx, s)?);
            }
            Stmt::Assign { .. } | Stmt::Call { .. } => run.push(s.clone()),
            Stmt::For { body, .. } => {
                flush(&mut run, f, &mut out)?;
                let inner = block(cx, f, body)?;
                let mut s = s.clone();
                if let Stmt::For { body, invariants, .. } = &mut s {
                    *body = inner;
                    invariants.clear();
                }
                out.push(s);
            }
            Stmt::If { cond, then, els, loc } => {
                flush(&mut run, f, &mut out)?;
                let (then, els) = (block(cx, f, then)?, block(cx, f, els)?);
                out.push(Stmt::If { cond: cond.clone(), then, els, loc: *loc });
            }
        }
    }
    flush(&mut run, f, &mut out)?;
    Ok(out)
}

/// A call of the sliced form of a function apart.
fn call(cx: &Cx<'_>, s: &Stmt) -> Result<Stmt, LayoutError> {
    let Stmt::Call { dsts, func, lens, args, loc } = s else { return Err(cx.refuse("call", s.loc())) };
    let structs = cx.program.structs.len() as u32;
    let made = cx.done.get(&cx.program.func(*func).name).and_then(|n| cx.new.find(n));
    let (Some(func), true) = (made, lens.is_empty()) else { return Err(cx.refuse("call of a function of run-time length", *loc)) };
    let arg = |a: &Expr| match (&a.kind, &a.ty) {
        (_, Ty::Int(_) | Ty::Bool) => Ok(a.clone()),
        (ExprKind::Read(p), ty) => Ok(Expr::read(p.clone(), &sliced(ty, cx.width, structs))),
        _ => Err(cx.refuse("call with a value like this", *loc)),
    };
    let args = args.iter().map(arg).collect::<Result<Vec<_>, _>>()?;
    Ok(Stmt::Call { dsts: dsts.clone(), func, lens: vec![], args, loc: *loc })
}

/// The graph of the bits.
fn bits(cx: &Cx<'_>, g: &Graph) -> Result<Graph, LayoutError> {
    let w = cx.width;
    let mut new = Graph::default();
    let mut held: Vec<Vec<u32>> = Vec::new();
    let need = g.needed();
    let constant = |new: &mut Graph, v: bool| Bits { graph: new, width: w }.constant(v);
    for (k, node) in g.nodes.iter().enumerate() {
        let n = node.bits as usize;
        new.at(g.locs[k]);
        if !need[k] {
            held.push(vec![]);
            continue;
        }
        let args: Vec<Vec<u32>> = node.args.iter().map(|a| held[*a as usize].clone()).collect();
        let at = |b: usize, new: &mut Graph, op: Op| {
            let args = args.iter().map(|a| a[b]).collect();
            new.node(op, args, w)
        };
        let value: Vec<u32> = match &node.op {
            Op::Leaf(Place { base: Base::Const(id), projs }) => {
                let Some(id) = cx.tables.get(id) else { return Err(cx.refuse("table of this type", g.locs[k])) };
                let p = Place { base: Base::Const(*id), projs: projs.clone() };
                (0..n).map(|b| new.node(Op::Leaf(p.clone().at(b as u64)), vec![], w)).collect()
            }
            Op::Resize => (0..n).map(|b| args[0].get(b).copied().unwrap_or_else(|| constant(&mut new, false))).collect(),
            Op::Leaf(p) => (0..n).map(|b| new.node(Op::Leaf(p.clone().at(b as u64)), vec![], w)).collect(),
            Op::Const(v) => (0..n).map(|b| constant(&mut new, v.bit(b as u64))).collect(),
            Op::Un(UnOp::Not) => args[0].iter().map(|a| Bits { graph: &mut new, width: w }.not(*a)).collect(),
            Op::Bin(op @ (BinOp::And | BinOp::Or | BinOp::Xor)) => {
                args[0].iter().zip(&args[1]).map(|(a, b)| Bits { graph: &mut new, width: w }.gate(*op, *a, *b)).collect()
            }
            Op::Lut(_) => (0..n).map(|b| at(b, &mut new, node.op.clone())).collect(),
            Op::Rotl(r) => (0..n).map(|b| args[0][(b + n - *r as usize) % n]).collect(),
            Op::Shl(r) => (0..n).map(|b| if b >= *r as usize { args[0][b - *r as usize] } else { constant(&mut new, false) }).collect(),
            Op::Shr(r) => (0..n).map(|b| args[0].get(b + *r as usize).copied().unwrap_or_else(|| constant(&mut new, false))).collect(),
            Op::Bin(BinOp::Add) => Bits { graph: &mut new, width: w }.add(&args[0], &args[1], false),
            Op::Bin(BinOp::Sub) => Bits { graph: &mut new, width: w }.subtract(&args[0], &args[1]),
            Op::Bin(BinOp::Mul) => Bits { graph: &mut new, width: w }.multiply(&args[0], &args[1]),
            Op::Un(UnOp::Neg) => {
                let zeros: Vec<u32> = (0..n).map(|_| constant(&mut new, false)).collect();
                Bits { graph: &mut new, width: w }.subtract(&zeros, &args[0])
            }
            Op::Bin(_) | Op::Part(_) | Op::Lookup(_) => return Err(cx.refuse("operation like this", g.locs[k])),
        };
        held.push(value);
    }
    for (p, n) in &g.writes {
        let bits = &held[*n as usize];
        new.writes.extend(bits.iter().enumerate().map(|(b, v)| (p.clone().at(b as u64), *v)));
    }
    Ok(new)
}

/// Loop bodies as functions from state to state.
fn roll(program: &Program, f: &mut Func, rounds: &mut Vec<Func>) {
    let body = std::mem::take(&mut f.body);
    let (mut out, mut partial) = (Vec::new(), BTreeSet::new());
    for s in body {
        match rolled_loop(program, f, &s, rounds.len()) {
            Some((stmts, round)) => {
                if let Stmt::For { body, .. } = &s {
                    partial.extend(written_locals(body).into_iter().filter(|id| !untouched(f, body, *id).is_empty()));
                }
                rounds.push(round);
                out.extend(stmts);
            }
            None => out.push(s),
        }
    }
    // What a step hands on without having written it is something from the start on.
    let ids: Vec<LocalId> = f.locals.iter().enumerate().filter(|(_, l)| l.kind != LocalKind::Param).map(|(k, _)| LocalId(k as u32)).collect();
    let handed_on = ids.into_iter().filter(|id| partial.contains(id)).map(|id| Stmt::assign(Place::local(id), zeros(&f.local(id).ty)));
    f.body = handed_on.chain(out).collect();
    crate::graph::drop_unused_locals(f);
}

fn rolled_loop(program: &Program, f: &mut Func, s: &Stmt, n: usize) -> Option<(Vec<Stmt>, Func)> {
    let Stmt::For { var, lo, hi, rev: false, body, loc, .. } = s else { return None };
    let (lo, hi) = (i64::try_from(lo.as_const()?).ok()?, i64::try_from(hi.as_const()?).ok()?);
    // One run alone reads everything before it writes anything.
    let of_run = |s: &Stmt| matches!(s, Stmt::Assign { .. } | Stmt::Call { .. }) && !crate::graph::is_apart(program, s);
    if lo != 0 || hi < 2 || !body.iter().all(of_run) {
        return None;
    }
    let (read, state) = (read_locals(body), written_locals(body));
    let array = |id: &LocalId| matches!(f.local(*id).ty, Ty::Array { .. });
    // Words of one bit are values of one round; whatever else is handed on is in arrays.
    let passing = |id: &LocalId| *id == *var || matches!(f.local(*id).ty, Ty::Word(_)) && state.contains(id);
    if !state.union(&read).all(|id| array(id) || passing(id)) {
        return None;
    }
    let (read, state): (BTreeSet<LocalId>, BTreeSet<LocalId>) = (read.into_iter().filter(array).collect(), state.iter().copied().filter(array).collect());
    let given: Vec<LocalId> = read.difference(&state).copied().collect();
    let round = round(f, *var, hi, body, (&state, &given), n);
    let id = FuncId((program.funcs.len() + n) as u32);
    let twin: BTreeMap<LocalId, LocalId> = state.iter().map(|s| (*s, fresh(f, "n", f.local(*s).ty.clone(), LocalKind::Var))).collect();
    let call = |f: &Func, from: &dyn Fn(LocalId) -> LocalId, to: &dyn Fn(LocalId) -> LocalId, i: Expr| {
        let whole = |id: LocalId| Expr::read(Place::local(id), &f.local(id).ty);
        let mut args: Vec<Expr> = state.iter().map(|s| whole(from(*s))).collect();
        args.extend(given.iter().map(|g| whole(*g)));
        args.push(i);
        Stmt::Call { dsts: state.iter().map(|s| Place::local(to(*s))).collect(), func: id, lens: vec![], args, loc: *loc }
    };
    let (here, there) = (|s: LocalId| s, |s: LocalId| twin[&s]);
    let i = Expr::read(Place::local(*var), &Ty::int());
    let twice = Expr::bin(BinOp::Mul, i, Expr::int(2));
    let mut out = vec![Stmt::for_range(
        *var,
        Expr::int(0),
        Expr::int(hi / 2),
        vec![call(f, &here, &there, twice.clone()), call(f, &there, &here, Expr::bin(BinOp::Add, twice, Expr::int(1)))],
    )];
    if hi % 2 == 1 {
        out.push(call(f, &here, &there, Expr::int(hi - 1)));
        out.extend(state.iter().map(|s| Stmt::Assign { dst: Place::local(*s), src: Expr::read(Place::local(twin[s]), &f.local(*s).ty), loc: *loc }));
    }
    Some((out, round))
}

fn zeros(ty: &Ty) -> Expr {
    match ty {
        Ty::Array { elem, len, .. } => Expr::repeat(zeros(elem), len.clone()),
        Ty::Word(b) => Expr::word(*b, 0),
        _ => Expr::int(0),
    }
}

/// The words of a local that a step does not write: the next state has them from this one.
fn untouched(f: &Func, body: &[Stmt], local: LocalId) -> Vec<(Place, Ty)> {
    let written: BTreeSet<&Place> = body.iter().flat_map(santoku_ir::visit::destinations).filter(|p| p.base == Base::Local(local)).collect();
    let mut out = Vec::new();
    let mut open = vec![(Place::local(local), f.local(local).ty.clone())];
    while let Some((p, ty)) = open.pop() {
        match &ty {
            _ if written.contains(&p) => {}
            Ty::Array { elem, len: Len::Const(n), .. } => open.extend((0..*n).rev().map(|k| (p.clone().at(k), (**elem).clone()))),
            _ => out.push((p, ty)),
        }
    }
    out
}

/// `state' = body(state, given, counter)`
fn round(f: &Func, var: LocalId, hi: i64, body: &[Stmt], (state, given): (&BTreeSet<LocalId>, &[LocalId]), n: usize) -> Func {
    let mut g = Func {
        name: format!("{}$round{n}", f.name),
        export: None,
        inline: Inline::Never,
        declassifies: false,
        applies: None,
        lens: vec![],
        params: vec![],
        rets: vec![],
        locals: f.locals.clone(),
        body: body.to_vec(),
        contracts: vec![],
        doc: "One step of the loop.".into(),
        loc: f.loc,
    };
    for l in &mut g.locals {
        l.kind = if l.kind == LocalKind::Counter { LocalKind::Counter } else { LocalKind::Var };
    }
    let kept: Vec<Stmt> = state.iter().flat_map(|s| untouched(f, body, *s)).map(|(p, ty)| Stmt::assign(p.clone(), Expr::read(p, &ty))).collect();
    g.body.extend(kept);
    let mut reads = BTreeMap::new();
    for s in state.iter().chain(given) {
        let id = fresh(&mut g, "p", f.local(*s).ty.clone(), LocalKind::Param);
        g.locals[id.0 as usize].name.clone_from(&f.local(*s).name);
        g.params.push(id);
        reads.insert(*s, id);
    }
    let counter = Ty::Int(Some(Range::new(0, hi - 1)));
    g.locals.push(Local { name: "step".into(), ty: counter, kind: LocalKind::Param, public: true, loc: f.loc });
    let step = LocalId(g.locals.len() as u32 - 1);
    g.params.push(step);
    reads.insert(var, step);
    santoku_ir::visit::map_exprs(&mut g.body, &mut |e| {
        if let ExprKind::Read(p) = &mut e.kind {
            if let Base::Local(id) = p.base {
                p.base = Base::Local(reads.get(&id).copied().unwrap_or(id));
            }
        }
    });
    for s in state {
        g.locals[s.0 as usize].kind = LocalKind::Ret;
        g.locals[s.0 as usize].name.push_str("_next");
        g.rets.push(*s);
    }
    crate::graph::drop_unused_locals(&mut g);
    g
}
