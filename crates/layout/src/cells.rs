//! Three-input cells over whole runs.
//!
//! Two steps, each checked. First, parts of a run are cut out as functions of three words with the very operations they had:
//! term-graph equality. Then each such function is replaced by the cell of its table: all eight inputs.

use crate::bits::{same, Unequal};
use crate::error::LayoutError;
use crate::graph::{each_run, uniform, Graph, Inner, Node, Op};
use crate::lut;
use num_bigint::BigInt;
use santoku_circuit::{Cell, Node as Net};
use santoku_ir::{build::FuncBuilder, BinOp, Expr, Func, FuncId, LocalId, Place, Program, Ty, UnOp};
use santoku_prove::equiv::{check, Verdict};
use std::collections::{BTreeMap, BTreeSet};

/// Calls of parts are numbered from here until the parts have their place.
const PARTS: u32 = 1 << 30;

/// Covers the runs of `func` by cells. Gives the program and where the function now is, or why the step was not checked.
///
/// # Errors
/// [`LayoutError::Internal`] if the step changed the function.
pub fn cover(program: &Program, func: FuncId) -> Result<Result<(Program, FuncId), Unequal>, LayoutError> {
    let mut f = program.func(func).clone();
    let inner = Inner::of(program, &f);
    let mut parts: Vec<Func> = Vec::new();
    let body = std::mem::take(&mut f.body);
    f.body = each_run(program, body, &mut |run| match Graph::of(program, &f, &run, &inner) {
        Some(g) => {
            let g = cut(&g, &f, &mut parts);
            g.statements(&mut f, program)
        }
        None => run,
    });
    let cut_out = place(program, func, f, parts.clone());
    let at = FuncId(func.0 + parts.len() as u32);
    match same_terms(program, func, &cut_out, at, &parts) {
        Ok(()) => with_cells(cut_out, at, func.0, parts.len() as u32).map(Ok),
        Err(Unequal::Differ(bit)) => Err(LayoutError::internal("cells", format!("bit {bit} of the result is not the same"))),
        Err(other) => Ok(Err(other)),
    }
}

/// Is the function with parts cut out the function before?
fn same_terms(program: &Program, func: FuncId, cut_out: &Program, at: FuncId, parts: &[Func]) -> Result<(), Unequal> {
    let cells = program.funcs.iter().filter(|g| lut::is_lut(g)).map(|g| g.name.clone());
    let expand: BTreeSet<String> = parts.iter().map(|p| p.name.clone()).chain(cells).collect();
    match check(program, cut_out, &program.func(func).name, &expand) {
        Verdict::Equal { .. } => Ok(()),
        Verdict::Differ(_) | Verdict::TooBig | Verdict::Unknown(_) => same(program, func, cut_out, at).map(|_| ()),
    }
}

/// The program with parts before the function, calls numbered accordingly.
fn place(program: &Program, func: FuncId, f: Func, parts: Vec<Func>) -> Program {
    let mut p = program.clone();
    p.funcs[func.0 as usize] = f;
    let n = parts.len() as u32;
    for f in &mut p.funcs {
        lut::renumber(&mut f.body, &|id| match id.0 {
            k if k >= PARTS => FuncId(k - PARTS + func.0),
            k if k >= func.0 => FuncId(k + n),
            _ => id,
        });
    }
    for t in &mut p.tests {
        if t.func.0 >= func.0 {
            t.func.0 += n;
        }
    }
    p.funcs.splice(func.0 as usize..func.0 as usize, parts);
    p
}

/// Replaces the parts `first .. first + n` by cells of the same table.
fn with_cells(mut p: Program, at: FuncId, first: u32, n: u32) -> Result<(Program, FuncId), LayoutError> {
    let mut tables = BTreeMap::new();
    for k in first..first + n {
        let func = p.func(FuncId(k));
        let Ty::Word(bits) = func.local(func.rets[0]).ty else { return Err(LayoutError::internal("cells", "a part of no word")) };
        let table = lut::table_of(&p, FuncId(k)).ok_or_else(|| LayoutError::internal("cells", "a part without a table"))?;
        tables.insert(func.name.clone(), (table, bits));
    }
    let before = p.funcs.len();
    for (table, bits) in tables.values() {
        lut::ensure(&mut p, *table, *bits);
    }
    let shift = (p.funcs.len() - before) as u32;
    let at = FuncId(at.0 + shift);
    let target: BTreeMap<u32, FuncId> = p
        .funcs
        .iter()
        .enumerate()
        .filter_map(|(k, f)| tables.get(&f.name).map(|(t, b)| (k as u32, lut::existing(&p, *t, *b))))
        .collect();
    let mut body = std::mem::take(&mut p.funcs[at.0 as usize].body);
    lut::renumber(&mut body, &|id| target.get(&id.0).copied().unwrap_or(id));
    p.funcs[at.0 as usize].body = body;
    Ok((p, at))
}

/// The graph with covered parts as calls. What is public stays as it is: its words are scalars, and a cell takes registers.
fn cut(g: &Graph, f: &Func, parts: &mut Vec<Func>) -> Graph {
    let (need, public) = (g.needed(), g.public(f));
    let scalar = |n: usize| public[n] && !matches!(g.nodes[n].op, Op::Const(_));
    let net: Vec<Net> = g.nodes.iter().enumerate().map(|(n, node)| if need[n] && !scalar(n) { net(node) } else { Net::Leaf }).collect();
    let mut roots: BTreeSet<u32> = g.writes.iter().map(|(_, n)| *n).collect();
    for (n, node) in g.nodes.iter().enumerate() {
        if need[n] && net[n] == Net::Leaf {
            roots.extend(node.args.iter().copied());
        }
    }
    let roots: Vec<u32> = roots.into_iter().collect();
    let cells: BTreeMap<u32, Cell> =
        santoku_circuit::cover(&net, &roots).into_iter().map(|c| (c.node, c)).collect();
    let mut new = Graph::default();
    let mut held: BTreeMap<u32, u32> = BTreeMap::new();
    for (n, node) in g.nodes.iter().enumerate() {
        new.at(g.locs[n]);
        let n = n as u32;
        let made = match cells.get(&n) {
            Some(cell) if plain(node, &cell.leaves) => {
                let args = node.args.iter().map(|a| held[a]).collect();
                new.node(node.op.clone(), args, node.bits)
            }
            Some(cell) if cell.leaves.is_empty() => new.node(Op::Const(filled(cell.table, node.bits)), vec![], node.bits),
            Some(cell) => {
                let args = (0..3).map(|k| held[cell.leaves.get(k).unwrap_or(&cell.leaves[cell.leaves.len() - 1])]).collect();
                parts.push(part(g, cell, format!("{}$part{}", f.name, parts.len())));
                new.node(Op::Part(PARTS + parts.len() as u32 - 1), args, node.bits)
            }
            None if need[n as usize] && net[n as usize] == Net::Leaf => {
                let args = node.args.iter().map(|a| held[a]).collect();
                new.node(node.op.clone(), args, node.bits)
            }
            None => continue,
        };
        held.insert(n, made);
    }
    new.writes = g.writes.iter().map(|(p, n)| (p.clone(), held[n])).collect();
    new
}

/// Is the cell no more than one operation the machine has anyway? Constants stay too.
fn plain(node: &Node, leaves: &[u32]) -> bool {
    let two = matches!(node.op, Op::Bin(_)) && leaves.len() == 2 && node.args.iter().all(|a| leaves.contains(a));
    two || leaves.is_empty() && matches!(node.op, Op::Const(_))
}

/// The word all of whose bits are the constant function of this table.
fn filled(table: u8, bits: u32) -> BigInt {
    match table {
        0 => BigInt::ZERO,
        _ => (BigInt::from(1) << bits) - 1u32,
    }
}

fn net(node: &Node) -> Net {
    let table = match &node.op {
        Op::Un(UnOp::Not) => 0x55,
        Op::Bin(BinOp::And) => 0x88,
        Op::Bin(BinOp::Or) => 0xee,
        Op::Bin(BinOp::Xor) => 0x66,
        Op::Lut(t) => *t,
        Op::Const(v) => match uniform(v, node.bits) {
            Some(one) => if one { 0xff } else { 0 },
            None => return Net::Leaf,
        },
        Op::Leaf(_) | Op::Un(_) | Op::Bin(_) | Op::Rotl(_) | Op::Shl(_) | Op::Shr(_) | Op::Resize | Op::Part(_) | Op::Lookup(_) => return Net::Leaf,
    };
    Net::Function { operands: node.args.clone(), table }
}

/// The operations between the cell's leaves and its node as a function of three words. A leaf that makes no difference is none of
/// the cell's, and what lies behind it may be large: then the function is that of the table.
fn part(g: &Graph, cell: &Cell, name: String) -> Func {
    let empty = Program::default();
    let bits = g.nodes[cell.node as usize].bits;
    let mut b = FuncBuilder::new(&empty, name);
    let params: Vec<LocalId> = ["a", "b", "c"].iter().map(|p| b.param(*p, Ty::Word(bits))).collect();
    let ret = b.ret("r", Ty::Word(bits));
    let mut known: BTreeMap<u32, Expr> = cell.leaves.iter().zip(&params).map(|(l, p)| (*l, b.get(*p))).collect();
    let words: Vec<Expr> = params.iter().map(|p| b.get(*p)).collect();
    let value = cone(g, cell.node, &mut known, &mut { CONE_MAX }).unwrap_or_else(|| lut::expression(cell.table, &words, bits));
    b.assign(Place::local(ret), value);
    b.func_mut().inline = santoku_ir::Inline::Never;
    b.finish()
}

/// Operations of a part, each as often as it is used.
const CONE_MAX: usize = 64;

/// `None`: too many operations, or something that is no bitwise operation.
fn cone(g: &Graph, n: u32, known: &mut BTreeMap<u32, Expr>, left: &mut usize) -> Option<Expr> {
    *left = left.checked_sub(1)?;
    if let Some(e) = known.get(&n) {
        return Some(e.clone());
    }
    let node = &g.nodes[n as usize];
    let args: Vec<Expr> = node.args.iter().map(|a| cone(g, *a, known, left)).collect::<Option<_>>()?;
    Some(match (&node.op, args.as_slice()) {
        (Op::Un(op), [a]) => Expr::un(*op, a.clone()),
        (Op::Bin(op), [a, b]) => Expr::bin(*op, a.clone(), b.clone()),
        (Op::Const(v), _) => Expr::new(santoku_ir::ExprKind::Const(v.clone()), Ty::Word(node.bits)),
        (Op::Lut(t), abc) => lut::expression(*t, abc, node.bits),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_takes_another_word_is_refused() {
        let mut p = Program::default();
        let mut b = FuncBuilder::new(&p, "f");
        let x = b.param("x", Ty::array(Ty::Word(16), 4));
        let r = b.ret("r", Ty::Word(16));
        let word = |b: &mut FuncBuilder<'_>, k: u64| b.read(Place::local(x).at(k));
        let (x0, x1, x2, x3) = (word(&mut b, 0), word(&mut b, 1), word(&mut b, 2), word(&mut b, 3));
        b.assign(Place::local(r), ((x0 & x1) ^ x2) | x3);
        let f = b.finish();
        let id = p.add_func(f);
        let mut g = p.func(id).clone();
        let inner = Inner::of(&p, &g);
        let mut parts = Vec::new();
        let body = std::mem::take(&mut g.body);
        g.body = each_run(&p, body, &mut |run| {
            let cut = cut(&Graph::of(&p, &g, &run, &inner).unwrap(), &g, &mut parts);
            cut.statements(&mut g, &p)
        });
        let at = FuncId(id.0 + parts.len() as u32);
        let good = place(&p, id, g, parts.clone());
        assert_eq!(same_terms(&p, id, &good, at, &parts), Ok(()));
        let (mut tried, mut k) = (0, 0);
        loop {
            let (mut bad, mut seen) = (good.clone(), 0);
            santoku_ir::visit::map_places(&mut bad.funcs[at.0 as usize].body, &mut |p, _| {
                if p.base == santoku_ir::Base::Local(x) {
                    if seen == k {
                        *p = Place::local(x).at(if *p == Place::local(x).at(0) { 3 } else { 0 });
                    }
                    seen += 1;
                }
            });
            if k >= seen {
                break;
            }
            assert!(same_terms(&p, id, &bad, at, &parts).is_err(), "place {k}");
            (tried, k) = (tried + 1, k + 1);
        }
        println!("refused: {tried} of {tried} exchanged words");
        assert!(tried >= 4);
    }
}
