//! A straight run of word assignments as a graph of values, and back.
//!
//! Keeps: every read of the run sees what it saw. Runs with anything but word operations on scalar places are left alone.

use crate::{lookup, lut};
use num_bigint::BigInt;
use num_traits::{ToPrimitive, Zero};
use santoku_ir::typing::{without_ranges, Scope};
use santoku_ir::{Base, BinOp, ConstId, ConstValue, Expr, ExprKind, Func, FuncId, Len, Local, LocalId, LocalKind, Loc, Place, Program, Proj, Stmt, Ty, UnOp};
use std::collections::{BTreeMap, BTreeSet};

/// What a node computes from its operands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// A place as it is before the run.
    Leaf(Place),
    Const(BigInt),
    Un(UnOp),
    Bin(BinOp),
    Rotl(u32),
    Shl(u32),
    Shr(u32),
    /// Cut off, or zeros added, to the bits of the node.
    Resize,
    /// A three-input cell.
    Lut(u8),
    /// A call of this function of three words (see `cells`).
    Part(u32),
    /// An entry of this table of bytes (see `lookup`).
    Lookup(ConstId),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node {
    pub op: Op,
    pub args: Vec<u32>,
    pub bits: u32,
}

/// Values (operands first) and, in order of first writing, the places that hold them afterwards.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub nodes: Vec<Node>,
    pub writes: Vec<(Place, u32)>,
    index: BTreeMap<Node, u32>,
    /// Source position of each node.
    pub locs: Vec<Loc>,
    loc: Loc,
}

/// Variables that one run alone mentions.
#[derive(Clone, Debug, Default)]
pub struct Inner(BTreeSet<LocalId>);

impl Inner {
    pub fn of(program: &Program, func: &Func) -> Inner {
        let mut runs: BTreeMap<LocalId, u32> = BTreeMap::new();
        let mut count = |ids: BTreeSet<LocalId>, n: u32| ids.into_iter().for_each(|id| *runs.entry(id).or_default() += n);
        santoku_ir::visit::walk_stmts(&func.body, &mut |s| {
            if matches!(s, Stmt::For { .. } | Stmt::If { .. }) || is_apart(program, s) {
                santoku_ir::visit::stmt_exprs(s, &mut |e| count(santoku_ir::visit::expr_locals(e), 2));
            }
            if is_apart(program, s) {
                count(santoku_ir::visit::written_locals(std::slice::from_ref(s)), 2);
            }
        });
        each_run(program, func.body.clone(), &mut |run| {
            let all = santoku_ir::visit::read_locals(&run).union(&santoku_ir::visit::written_locals(&run)).copied().collect();
            count(all, 1);
            run
        });
        let var = |id: &LocalId| func.local(*id).kind == LocalKind::Var;
        Inner(runs.into_iter().filter(|(id, n)| *n == 1 && var(id)).map(|(id, _)| id).collect())
    }
}

impl Graph {
    /// The graph of a run, or `None` where it holds something else than word operations.
    pub fn of(program: &Program, func: &Func, run: &[Stmt], inner: &Inner) -> Option<Graph> {
        let mut g = Graph::default();
        for s in run {
            g.loc = s.loc();
            match s {
                // What it says was proved, and nothing here asks it.
                Stmt::Assert { .. } | Stmt::Ghost { .. } => {}
                Stmt::Assign { dst, src, .. } => {
                    let mut values = Vec::new();
                    g.scalars(program, src, dst, &mut values)?;
                    for (dst, v) in values {
                        g.write(program, func, &dst, v)?;
                    }
                }
                Stmt::Call { dsts, func: callee, args, .. } if lut::is_lut(program.func(*callee)) => {
                    let table = lut::table_of(program, *callee)?;
                    let args = args.iter().map(|a| g.expr(program, a)).collect::<Option<Vec<u32>>>()?;
                    let bits = g.nodes[*args.first()? as usize].bits;
                    let v = g.node(Op::Lut(table), args, bits);
                    g.write(program, func, dsts.first()?, v)?;
                }
                Stmt::Call { dsts, func: callee, args, .. } => {
                    let table = lookup::table_of(program, program.func(*callee))?;
                    let x = g.expr(program, args.first()?)?;
                    let v = g.node(Op::Lookup(table), vec![x], 8);
                    g.write(program, func, dsts.first()?, v)?;
                }
                _ => return None,
            }
        }
        g.forget(inner);
        Some(g)
    }

    /// Drops writes to variables that only this run mentions and that it writes before it reads them.
    fn forget(&mut self, inner: &Inner) {
        let read: BTreeSet<Base> = self.nodes.iter().filter_map(|n| if let Op::Leaf(p) = &n.op { Some(p.base) } else { None }).collect();
        self.writes.retain(|(p, _)| read.contains(&p.base) || !matches!(p.base, Base::Local(id) if inner.0.contains(&id)));
    }

    /// All words of a value, each with its place under `dst`.
    fn scalars(&mut self, program: &Program, e: &Expr, dst: &Place, out: &mut Vec<(Place, u32)>) -> Option<()> {
        if let Ty::Struct(id) = &e.ty {
            for (k, (_, ty)) in (0..).zip(&program.structs[id.0 as usize].fields) {
                let part = match &e.kind {
                    ExprKind::Read(p) => Expr::read(p.clone().field(k), ty),
                    ExprKind::Struct(_, es) => es.get(k as usize)?.clone(),
                    _ => return None,
                };
                self.scalars(program, &part, &dst.clone().field(k), out)?;
            }
            return Some(());
        }
        let Ty::Array { elem, len: Len::Const(n), .. } = &e.ty else {
            out.push((dst.clone(), self.expr(program, e)?));
            return Some(());
        };
        for k in 0..*n {
            let part = match &e.kind {
                ExprKind::Read(p) => Expr::read(p.clone().at(k), elem),
                ExprKind::Array(es) => es.get(k as usize)?.clone(),
                ExprKind::Repeat(e) => (**e).clone(),
                _ => return None,
            };
            self.scalars(program, &part, &dst.clone().at(k), out)?;
        }
        Some(())
    }

    fn write(&mut self, program: &Program, func: &Func, dst: &Place, v: u32) -> Option<()> {
        let Base::Local(_) = dst.base else { return None };
        if !fixed(dst) || place_bits(program, func, dst)? != self.nodes[v as usize].bits {
            return None;
        }
        match self.writes.iter_mut().find(|(p, _)| p == dst) {
            Some((_, w)) => *w = v,
            None => self.writes.push((dst.clone(), v)),
        }
        Some(())
    }

    /// Value of an expression of words.
    pub fn expr(&mut self, program: &Program, e: &Expr) -> Option<u32> {
        let Ty::Word(bits) = e.ty else { return None };
        Some(match &e.kind {
            ExprKind::Const(v) => self.node(Op::Const(v.clone()), vec![], bits),
            ExprKind::Read(p) if constant_at(program, p).is_some() => self.node(Op::Const(constant_at(program, p)?), vec![], bits),
            ExprKind::Read(p) => {
                if let Some((_, v)) = self.writes.iter().find(|(q, _)| p == q) {
                    return Some(*v);
                }
                if self.writes.iter().any(|(q, _)| q.base == p.base && !(fixed(p) && fixed(q))) {
                    return None;
                }
                self.node(Op::Leaf(p.clone()), vec![], bits)
            }
            ExprKind::Un(op, a) => {
                let a = self.expr(program, a)?;
                self.node(Op::Un(*op), vec![a], bits)
            }
            ExprKind::Bin(op @ (BinOp::Shl | BinOp::Shr | BinOp::Rotl | BinOp::Rotr), a, k) => {
                let a = self.expr(program, a)?;
                let k = k.as_const()?.to_u32().filter(|k| *k < bits)?;
                match op {
                    BinOp::Shl => self.node(Op::Shl(k), vec![a], bits),
                    BinOp::Shr => self.node(Op::Shr(k), vec![a], bits),
                    BinOp::Rotl => self.node(Op::Rotl(k), vec![a], bits),
                    _ => self.node(Op::Rotl((bits - k) % bits), vec![a], bits),
                }
            }
            ExprKind::Bin(op, a, b) => {
                let (a, b) = (self.expr(program, a)?, self.expr(program, b)?);
                self.node(Op::Bin(*op), vec![a, b], bits)
            }
            ExprKind::Cast(a) => match (&a.kind, &a.ty) {
                (ExprKind::Const(v), Ty::Int(_)) => {
                    let size = BigInt::from(1) << bits;
                    self.node(Op::Const(((v % &size) + &size) % &size), vec![], bits)
                }
                (_, Ty::Word(_)) => {
                    let a = self.expr(program, a)?;
                    self.node(Op::Resize, vec![a], bits)
                }
                _ => return None,
            },
            _ => return None,
        })
    }

    /// The node of this value, shared; exclusive or cancels and rotations by nothing vanish.
    pub fn node(&mut self, op: Op, args: Vec<u32>, bits: u32) -> u32 {
        match (&op, args.as_slice()) {
            (Op::Rotl(0) | Op::Shl(0) | Op::Shr(0), [a]) => return *a,
            (Op::Resize, [a]) if self.nodes[*a as usize].bits == bits => return *a,
            (Op::Rotl(k), [a]) => {
                if let Node { op: Op::Rotl(j), args: inner, .. } = self.nodes[*a as usize].clone() {
                    return self.node(Op::Rotl((k + j) % bits), inner, bits);
                }
            }
            (Op::Bin(BinOp::Xor), [a, b]) => {
                if let Some(v) = self.cancel(*a, *b) {
                    return v;
                }
            }
            _ => {}
        }
        let node = Node { op, args, bits };
        if let Some(n) = self.index.get(&node) {
            return *n;
        }
        let n = self.nodes.len() as u32;
        self.index.insert(node.clone(), n);
        self.nodes.push(node);
        self.locs.push(self.loc);
        n
    }

    /// `(x ^ b) ^ b = x`
    fn cancel(&self, a: u32, b: u32) -> Option<u32> {
        let half = |x: u32, y: u32| match &self.nodes[x as usize] {
            Node { op: Op::Bin(BinOp::Xor), args, .. } if args[0] == y => Some(args[1]),
            Node { op: Op::Bin(BinOp::Xor), args, .. } if args[1] == y => Some(args[0]),
            _ => None,
        };
        half(a, b).or_else(|| half(b, a))
    }

    /// What is made from here on stands at this place.
    pub fn at(&mut self, loc: Loc) {
        self.loc = loc;
    }

    /// The same graph with every node made anew by `f`, which sees the new graph, the old node and its new operands.
    pub fn rebuilt(&self, f: &mut dyn FnMut(&mut Graph, &Node, Vec<u32>) -> u32) -> Graph {
        let mut g = Graph::default();
        let mut place = Vec::new();
        for (n, node) in self.nodes.iter().enumerate() {
            g.loc = self.locs[n];
            let args = node.args.iter().map(|a| place[*a as usize]).collect();
            place.push(f(&mut g, node, args));
        }
        g.writes = self.writes.iter().map(|(p, n)| (p.clone(), place[*n as usize])).collect();
        g
    }

    /// Nodes that some write needs.
    pub fn needed(&self) -> Vec<bool> {
        let mut need = vec![false; self.nodes.len()];
        self.writes.iter().for_each(|(_, n)| need[*n as usize] = true);
        for n in (0..self.nodes.len()).rev() {
            if need[n] {
                self.nodes[n].args.iter().for_each(|a| need[*a as usize] = true);
            }
        }
        need
    }

    /// Adds what the live writes read; says whether anything was new.
    fn keep_live(&mut self, func: &Func, live: &mut BTreeSet<LocalId>) -> bool {
        let before = live.len();
        let mut mine = self.clone();
        mine.writes.retain(|(p, _)| alive(func, p, live));
        let need = mine.needed();
        for (_, node) in self.nodes.iter().enumerate().filter(|(n, _)| need[*n]) {
            if let Op::Leaf(p) = &node.op {
                live.extend(santoku_ir::visit::expr_locals(&Expr::read(p.clone(), &Ty::Word(node.bits))));
            }
        }
        live.len() > before
    }

    /// Nodes of constants and public variables alone: their variables are public too, and scalars in C. A part is none, whatever
    /// it is left to read: it becomes a cell, and a cell's result is a register.
    pub fn public(&self, func: &Func) -> Vec<bool> {
        let mut public: Vec<bool> = Vec::new();
        for node in &self.nodes {
            public.push(match &node.op {
                Op::Leaf(Place { base: Base::Local(id), .. }) => func.local(*id).public,
                Op::Leaf(_) | Op::Const(_) => true,
                Op::Part(_) | Op::Lookup(_) => false,
                _ => node.args.iter().all(|a| public[*a as usize]),
            });
        }
        public
    }

    /// Reads a leaf, a constant or a variable that holds the node.
    fn operand(&self, n: u32, held: &BTreeMap<u32, LocalId>) -> Expr {
        let node = &self.nodes[n as usize];
        match (&node.op, held.get(&n)) {
            (_, Some(id)) => Expr::read(Place::local(*id), &Ty::Word(node.bits)),
            (Op::Leaf(p), None) => Expr::read(p.clone(), &Ty::Word(node.bits)),
            (Op::Const(v), None) => Expr::new(ExprKind::Const(v.clone()), Ty::Word(node.bits)),
            _ => Expr::word(node.bits, 0),
        }
    }

    /// Statements, one operation each, in an order that finishes a written value as soon as it can be.
    pub fn statements(&self, func: &mut Func, program: &Program) -> Vec<Stmt> {
        let written: BTreeSet<&Place> = self.writes.iter().map(|(p, _)| p).collect();
        let public = self.public(func);
        let mut held = BTreeMap::new();
        let mut out = Vec::new();
        for n in self.order() {
            let node = &self.nodes[n as usize];
            let (ty, loc) = (Ty::Word(node.bits), self.locs[n as usize]);
            let arg = |k: usize| self.operand(node.args[k], &held);
            let src = match &node.op {
                Op::Const(_) => continue,
                Op::Leaf(p) if !written.contains(p) => continue,
                Op::Leaf(p) => Some(Expr::read(p.clone(), &ty)),
                Op::Un(op) => Some(Expr::un(*op, arg(0))),
                Op::Bin(op) => Some(Expr::bin(*op, arg(0), arg(1))),
                Op::Rotl(k) => Some(arg(0).rotl(*k)),
                Op::Shl(k) => Some(arg(0).shl(*k)),
                Op::Shr(k) => Some(arg(0).shr(*k)),
                Op::Resize => Some(Expr::new(ExprKind::Cast(Box::new(arg(0))), ty.clone())),
                // A scalar is no operand of `vpternlog`.
                Op::Lut(t) if public[n as usize] => Some(crate::lut::expression(*t, &[arg(0), arg(1), arg(2)], node.bits)),
                Op::Lut(_) | Op::Part(_) | Op::Lookup(_) => None,
            };
            let args = if src.is_none() { (0..node.args.len()).map(arg).collect() } else { vec![] };
            let id = fresh(func, "t", ty, LocalKind::Var);
            func.locals[id.0 as usize].public = public[n as usize];
            let dst = Place::local(id);
            out.push(match (src, &node.op) {
                (Some(src), _) => Stmt::Assign { dst, src, loc },
                (None, Op::Lut(t)) => Stmt::Call { dsts: vec![dst], func: lut::existing(program, *t, node.bits), lens: vec![], args, loc },
                (None, Op::Part(id)) => Stmt::Call { dsts: vec![dst], func: FuncId(*id), lens: vec![], args, loc },
                (None, Op::Lookup(t)) => Stmt::Call { dsts: vec![dst], func: lookup::existing(program, *t), lens: vec![], args, loc },
                (None, _) => continue,
            });
            held.insert(n, id);
        }
        for (p, n) in &self.writes {
            out.push(Stmt::Assign { dst: p.clone(), src: self.operand(*n, &held), loc: self.locs[*n as usize] });
        }
        out
    }

    /// Needed nodes, operands first; the write that needs the fewest new nodes next (where there are not too many).
    fn order(&self) -> Vec<u32> {
        let mut left: Vec<u32> = self.writes.iter().map(|(_, n)| *n).collect();
        let mut walk = Walk { graph: self, seen: vec![0; self.nodes.len()], round: 0 };
        let mut order = Vec::new();
        let greedy = left.len() <= 256 && left.len() * left.len() * self.nodes.len() <= ORDER_MAX;
        while !left.is_empty() {
            let at = match greedy {
                true => (0..left.len()).min_by_key(|k| walk.new_nodes(left[*k]).len()).unwrap_or(0),
                false => 0,
            };
            let new = walk.new_nodes(left.remove(at));
            new.iter().for_each(|n| walk.seen[*n as usize] = DONE);
            order.extend(new);
        }
        order
    }
}

const DONE: u32 = u32::MAX;
/// Steps that choosing the next write may take.
const ORDER_MAX: usize = 20_000_000;

/// Walks under nodes, past those that are done.
struct Walk<'a> {
    graph: &'a Graph,
    /// Round in which a node was last seen, or [`DONE`].
    seen: Vec<u32>,
    round: u32,
}

impl Walk<'_> {
    /// Nodes under `n` that are not done, operands first.
    fn new_nodes(&mut self, n: u32) -> Vec<u32> {
        self.round += 1;
        let mut new = Vec::new();
        self.visit(n, &mut new);
        new
    }

    /// Without recursion: a chain of carries may be longer than the machine's stack.
    fn visit(&mut self, n: u32, new: &mut Vec<u32>) {
        let mut open = vec![(n, false)];
        while let Some((n, operands_done)) = open.pop() {
            if operands_done {
                new.push(n);
                continue;
            }
            let seen = &mut self.seen[n as usize];
            if *seen == DONE || *seen == self.round {
                continue;
            }
            *seen = self.round;
            open.push((n, true));
            open.extend(self.graph.nodes[n as usize].args.iter().rev().map(|a| (*a, false)));
        }
    }
}

/// A new local.
pub fn fresh(func: &mut Func, stem: &str, ty: Ty, kind: LocalKind) -> LocalId {
    let id = LocalId(func.locals.len() as u32);
    func.locals.push(Local { name: format!("{stem}{}", id.0), ty, kind, public: false, loc: Loc::default() });
    id
}

/// The word at a place of a constant, where every index is known.
fn constant_at(program: &Program, p: &Place) -> Option<BigInt> {
    let Base::Const(id) = p.base else { return None };
    let mut v = &program.consts[id.0 as usize].value;
    for j in &p.projs {
        let k = match j {
            Proj::Index(e) => e.as_const()?.to_usize()?,
            Proj::Field(k) => *k as usize,
            Proj::Slice { .. } => return None,
        };
        v = match v {
            ConstValue::Array(vs) | ConstValue::Struct(vs) => vs.get(k)?,
            ConstValue::Scalar(_) => return None,
        };
    }
    if let ConstValue::Scalar(v) = v { Some(v.clone()) } else { None }
}

/// Every index a constant, no slices.
pub fn fixed(p: &Place) -> bool {
    p.projs.iter().all(|j| match j {
        Proj::Index(e) => e.as_const().is_some(),
        Proj::Field(_) => true,
        Proj::Slice { .. } => false,
    })
}

/// Bits of the word at a place.
fn place_bits(program: &Program, func: &Func, p: &Place) -> Option<u32> {
    match Scope::of(program, func).place_ty(p)? {
        Ty::Word(b) => Some(b),
        _ => None,
    }
}

/// A call of a function that stays one: it is neither a cell nor a table that the machine looks up in.
pub fn is_apart(program: &Program, s: &Stmt) -> bool {
    let Stmt::Call { func, .. } = s else { return false };
    let callee = program.func(*func);
    !lut::is_lut(callee) && lookup::table_of(program, callee).is_none()
}

/// Applies `f` to each maximal straight run of a body, inner blocks first.
pub fn each_run(program: &Program, body: Vec<Stmt>, f: &mut dyn FnMut(Vec<Stmt>) -> Vec<Stmt>) -> Vec<Stmt> {
    let (mut out, mut run) = (Vec::new(), Vec::new());
    for mut s in body {
        if matches!(s, Stmt::Assign { .. } | Stmt::Call { .. } | Stmt::Assert { .. } | Stmt::Ghost { .. }) && !is_apart(program, &s) {
            run.push(s);
            continue;
        }
        if !run.is_empty() {
            out.extend(f(std::mem::take(&mut run)));
        }
        for inner in santoku_ir::visit::blocks_mut(&mut s) {
            *inner = each_run(program, std::mem::take(inner), f);
        }
        out.push(s);
    }
    if !run.is_empty() {
        out.extend(f(run));
    }
    out
}

/// The constant zero, or all ones, of a word: what bitwise functions may contain.
pub fn uniform(v: &BigInt, bits: u32) -> Option<bool> {
    if v.is_zero() {
        return Some(false);
    }
    (v + 1u32 == BigInt::from(1) << bits).then_some(true)
}

/// Is the place read later, or a result?
fn alive(func: &Func, p: &Place, live: &BTreeSet<LocalId>) -> bool {
    matches!(p.base, Base::Local(id) if func.local(id).kind != LocalKind::Var || live.contains(&id))
}

/// Rewrites every run as its graph's statements and removes variables that nothing reads.
pub fn normalise(program: &Program, func: &mut Func) {
    santoku_ir::visit::map_exprs(&mut func.body, &mut |e| {
        if let Ty::Int(_) = e.ty {
            e.ty = Ty::int();
        }
    });
    let inner = Inner::of(program, func);
    let mut graphs = Vec::new();
    let mut live = BTreeSet::new();
    let body = each_run(program, std::mem::take(&mut func.body), &mut |run| {
        let g = Graph::of(program, func, &run, &inner);
        if g.is_none() {
            live.extend(santoku_ir::visit::read_locals(&run));
        }
        graphs.push(g);
        run
    });
    santoku_ir::visit::walk_stmts(&body, &mut |s| {
        if matches!(s, Stmt::For { .. } | Stmt::If { .. }) || is_apart(program, s) {
            santoku_ir::visit::stmt_exprs(s, &mut |e| live.extend(santoku_ir::visit::expr_locals(e)));
        }
    });
    while graphs.iter_mut().flatten().any(|g| g.keep_live(func, &mut live)) {}
    let mut graphs = graphs.into_iter();
    func.body = each_run(program, body, &mut |run| match graphs.next().flatten() {
        Some(mut g) => {
            g.writes.retain(|(p, _)| alive(func, p, &live));
            g.statements(func, program)
        }
        None => run,
    });
    drop_unused_locals(func);
}

/// Gives a variable to every value that a call of a function apart takes, where it is no place of a local.
pub fn name_arguments(program: &Program, func: &mut Func) {
    let mut body = std::mem::take(&mut func.body);
    santoku_ir::visit::rewrite_stmts(&mut body, &mut |mut s| {
        let mut out = Vec::new();
        if is_apart(program, &s) {
            if let Stmt::Call { args, loc, .. } = &mut s {
                for a in args.iter_mut().filter(|a| !matches!((&a.kind, &a.ty), (ExprKind::Read(Place { base: Base::Local(_), .. }), _) | (_, Ty::Int(_) | Ty::Bool))) {
                    let id = fresh(func, "a", without_ranges(&a.ty), LocalKind::Var);
                    let read = Expr::read(Place::local(id), &a.ty);
                    out.push(Stmt::Assign { dst: Place::local(id), src: std::mem::replace(a, read), loc: *loc });
                }
            }
        }
        out.push(s);
        out
    });
    func.body = body;
}

/// Removes variables that the body does not mention.
pub fn drop_unused_locals(func: &mut Func) {
    let mut used = santoku_ir::visit::read_locals(&func.body);
    used.extend(santoku_ir::visit::written_locals(&func.body));
    santoku_ir::visit::walk_stmts(&func.body, &mut |s| {
        if let Stmt::For { var, .. } = s {
            used.insert(*var);
        }
    });
    let mut map = Vec::new();
    let mut kept = Vec::new();
    for (n, local) in func.locals.iter().enumerate() {
        let id = LocalId(n as u32);
        map.push(LocalId(kept.len() as u32));
        if !matches!(local.kind, LocalKind::Var | LocalKind::Counter) || used.contains(&id) {
            kept.push(local.clone());
        }
    }
    func.locals = kept;
    santoku_ir::visit::rename_locals(&mut func.body, &|id| map[id.0 as usize]);
    for list in [&mut func.lens, &mut func.params, &mut func.rets] {
        list.iter_mut().for_each(|id| *id = map[id.0 as usize]);
    }
}
