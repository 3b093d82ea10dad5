//! Bitslicing: every bit of every word becomes a word of its own that holds this bit of many blocks.
//!
//! Rotations and shifts become renaming, additions become adders; anything else is refused with its place. Loops stay loops:
//! their bodies become functions from one state to the next, called in pairs so that no state is copied.

use crate::error::LayoutError;
use crate::graph::{fresh, Graph, Inner, Op};
use crate::lut;
use num_bigint::BigInt;
use santoku_ir::visit::{read_locals, written_locals};
use santoku_ir::{Base, BinOp, ConstId, ConstValue, Expr, ExprKind, Func, FuncId, Inline, Len, Local, LocalId, LocalKind, Place, Program, Range, Stmt, Ty, UnOp};
use std::collections::{BTreeMap, BTreeSet};

/// Adds the bitsliced form of `func`, on words of `width` bits, as `FUNC$bits`; with `rolled`, loops become calls.
///
/// # Errors
/// [`LayoutError::Operation`] for what has no bitsliced form.
pub fn bitslice(program: &Program, func: FuncId, width: u32, rolled: bool) -> Result<(Program, FuncId), LayoutError> {
    let mut p = program.clone();
    let mut tables = BTreeSet::new();
    let mut f = program.func(func).clone();
    let name = f.name.clone();
    let luts = |id: FuncId| lut::is_lut(program.func(id)).then(|| lut::table_of(program, id)).flatten();
    santoku_ir::visit::walk_stmts(&f.body, &mut |s| {
        if let Stmt::Call { func, .. } = s {
            tables.extend(luts(*func));
        }
    });
    for t in tables {
        lut::ensure(&mut p, t, width);
    }
    for l in &mut f.locals {
        l.ty = sliced(&l.ty, width);
    }
    let tables = sliced_tables(program, &mut p, &f, width);
    f.name = format!("{name}$bits");
    f.export = None;
    f.contracts = vec![];
    let original = program.func(func).clone();
    let mut rounds = Vec::new();
    let body = std::mem::take(&mut f.body);
    f.body = block(&Cx { program, new: &p, original: &original, width, inner: Inner::of(&original), tables }, &mut f, &body)?;
    if rolled {
        roll(&p, &mut f, &mut rounds);
    }
    for r in rounds {
        p.add_func(r);
    }
    let id = p.add_func(f);
    Ok((p, id))
}

fn sliced(ty: &Ty, width: u32) -> Ty {
    match ty {
        Ty::Word(n) => Ty::array(Ty::Word(width), u64::from(*n)),
        Ty::Array { elem, len, .. } => Ty::Array { elem: Box::new(sliced(elem, width)), len: len.clone(), ranges: None },
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
            out.insert(id, new.add_const(format!("{}$bits", c.name), sliced(&c.ty, width), value));
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
}

impl Cx<'_> {
    fn refuse(&self, what: &str, loc: santoku_ir::Loc) -> LayoutError {
        let loc = if loc.line > 0 { loc } else { self.original.loc };
        LayoutError::Operation { func: self.original.name.clone(), what: what.into(), layout: "bitslice", loc }
    }
}

impl Cx<'_> {
    /// The first statement of a run that is no graph by itself; where only their order is at fault, the first of all.
    fn first_without_form(&self, run: &[Stmt]) -> LayoutError {
        let alone = |s: &&Stmt| Graph::of(self.program, self.original, std::slice::from_ref(s), &self.inner).is_none();
        let at = run.iter().find(alone).or(run.first());
        let what = match at {
            Some(Stmt::Call { .. }) => "call",
            Some(s @ Stmt::Assign { dst, .. }) if crate::graph::fixed(dst) => {
                let mut what = "operation like this";
                santoku_ir::visit::stmt_exprs(s, &mut |e| santoku_ir::visit::walk_expr(e, &mut |e| match (&e.kind, &e.ty) {
                    (ExprKind::Select(..), _) => what = "selection by a secret",
                    (ExprKind::Cmp(..), _) if what == "operation like this" => what = "comparison",
                    (ExprKind::Cast(a), Ty::Word(_)) if matches!(a.ty, Ty::Int(_)) && what == "operation like this" => what = "exact integer",
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
            Stmt::If { loc, .. } => return Err(cx.refuse("branch", *loc)),
        }
    }
    flush(&mut run, f, &mut out)?;
    Ok(out)
}

/// The graph of the bits.
fn bits(cx: &Cx<'_>, g: &Graph) -> Result<Graph, LayoutError> {
    let w = cx.width;
    let mut new = Graph::default();
    let mut held: Vec<Vec<u32>> = Vec::new();
    let need = g.needed();
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
            Op::Resize => (0..n).map(|b| args[0].get(b).copied().unwrap_or_else(|| constant(&mut new, false, w))).collect(),
            Op::Leaf(p) => (0..n).map(|b| new.node(Op::Leaf(p.clone().at(b as u64)), vec![], w)).collect(),
            Op::Const(v) => (0..n).map(|b| constant(&mut new, v.bit(b as u64), w)).collect(),
            Op::Un(UnOp::Not) | Op::Bin(BinOp::And | BinOp::Or | BinOp::Xor) | Op::Lut(_) => {
                (0..n).map(|b| at(b, &mut new, node.op.clone())).collect()
            }
            Op::Rotl(r) => (0..n).map(|b| args[0][(b + n - *r as usize) % n]).collect(),
            Op::Shl(r) => (0..n).map(|b| if b >= *r as usize { args[0][b - *r as usize] } else { constant(&mut new, false, w) }).collect(),
            Op::Shr(r) => (0..n).map(|b| args[0].get(b + *r as usize).copied().unwrap_or_else(|| constant(&mut new, false, w))).collect(),
            Op::Bin(BinOp::Add) => adder(&mut new, &args[0], &args[1], w),
            Op::Bin(BinOp::Sub) => return Err(cx.refuse("subtraction", g.locs[k])),
            Op::Bin(BinOp::Mul) => return Err(cx.refuse("multiplication", g.locs[k])),
            Op::Un(UnOp::Neg) => return Err(cx.refuse("negation", g.locs[k])),
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

fn constant(g: &mut Graph, v: bool, w: u32) -> u32 {
    let all = (BigInt::from(1) << w) - 1u32;
    g.node(Op::Const(if v { all } else { 0.into() }), vec![], w)
}

/// Full adders from the lowest bit up; the first has no carry in.
fn adder(g: &mut Graph, a: &[u32], b: &[u32], w: u32) -> Vec<u32> {
    let mut carry = None;
    let mut out = Vec::new();
    for (k, (&x, &y)) in a.iter().zip(b).enumerate() {
        let p = g.node(Op::Bin(BinOp::Xor), vec![x, y], w);
        out.push(match carry {
            None => p,
            Some(c) => g.node(Op::Bin(BinOp::Xor), vec![p, c], w),
        });
        if k + 1 == a.len() {
            break;
        }
        let both = g.node(Op::Bin(BinOp::And), vec![x, y], w);
        carry = Some(match carry {
            None => both,
            Some(c) => {
                let t = g.node(Op::Bin(BinOp::And), vec![p, c], w);
                g.node(Op::Bin(BinOp::Xor), vec![both, t], w)
            }
        });
    }
    out
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
    if lo != 0 || hi < 2 || !body.iter().all(|s| matches!(s, Stmt::Assign { .. } | Stmt::Call { .. })) {
        return None;
    }
    let arrays = |ids: BTreeSet<LocalId>| ids.into_iter().filter(|id| matches!(f.local(*id).ty, Ty::Array { .. })).collect::<BTreeSet<_>>();
    let (read, state) = (arrays(read_locals(body)), arrays(written_locals(body)));
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
