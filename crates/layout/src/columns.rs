//! Table functions written anew for the machine's gates.
//!
//! A function of one array of words that only combines bits of the same column is its table; the table is read off by running
//! it on all columns, and the circuit put in its place is run on all columns again.

use crate::error::LayoutError;
use crate::lut;
use santoku_circuit::{Basis, Circuit, Gate};
use santoku_ir::interp::{Interp, Value};
use santoku_ir::visit::{walk_expr, walk_exprs, walk_stmts};
use santoku_ir::{build::FuncBuilder, BinOp, Expr, ExprKind, Func, FuncId, Inline, Len, Place, Program, Stmt, Ty, UnOp};

/// Sizes of a table function.
struct Shape {
    inputs: u32,
    outputs: u32,
    bits: u32,
}

/// Gives every table function of the program the best circuit for `basis`, where that is smaller than what it has.
///
/// # Errors
/// [`LayoutError::Internal`] if a new function is not the table.
pub fn retarget(program: &Program, basis: Basis) -> Result<Program, LayoutError> {
    let mut out = program.clone();
    for f in &program.funcs {
        let Some(shape) = shape(f) else { continue };
        let Some(id) = out.find(&f.name) else { continue };
        let Some(entries) = entries(&out, id, &shape) else { continue };
        let found = match basis {
            Basis::Two => santoku_circuit::circuit(shape.inputs, shape.outputs, &entries),
            Basis::Lut3 => santoku_circuit::circuit3(shape.inputs, shape.outputs, &entries),
        };
        let Some(circuit) = found.filter(|c| c.gates.len() < operations(f)) else { continue };
        for g in &circuit.gates {
            if let Gate::Lut(_, t) = g {
                lut::ensure(&mut out, *t, shape.bits);
            }
        }
        let Some(id) = out.find(&f.name) else { continue };
        out.funcs[id.0 as usize] = rewritten(&out, f, &shape, &circuit);
        if self::entries(&out, id, &shape).as_ref() != Some(&entries) {
            return Err(LayoutError::internal("tables", format!("`{}` is no longer its table", f.name)));
        }
    }
    Ok(out)
}

/// The sizes, if every operation works on columns.
fn shape(f: &Func) -> Option<Shape> {
    let array = |ty: &Ty| match ty {
        Ty::Array { elem, len: Len::Const(n), .. } => match **elem {
            Ty::Word(b) if (1..=u64::from(santoku_circuit::BITS_MAX)).contains(n) => Some((*n as u32, b)),
            _ => None,
        },
        _ => None,
    };
    let ([p], [r], true) = (f.params.as_slice(), f.rets.as_slice(), f.lens.is_empty()) else { return None };
    let ((inputs, bits), (outputs, same)) = (array(&f.local(*p).ty)?, array(&f.local(*r).ty)?);
    let mut columns = bits == same && operations(f) > 0;
    walk_stmts(&f.body, &mut |s| columns &= matches!(s, Stmt::Assign { .. }));
    for s in &f.body {
        if let Stmt::Assign { dst, src, .. } = s {
            columns &= crate::graph::fixed(dst);
            walk_expr(src, &mut |e| columns &= columnwise(e, bits));
        }
    }
    columns.then_some(Shape { inputs, outputs, bits })
}

fn columnwise(e: &Expr, bits: u32) -> bool {
    match (&e.kind, &e.ty) {
        // Indices of places.
        (ExprKind::Const(_), Ty::Int(_)) => true,
        (ExprKind::Const(v), Ty::Word(b)) => crate::graph::uniform(v, *b).is_some(),
        (ExprKind::Read(p), Ty::Word(b)) => *b == bits && crate::graph::fixed(p),
        (ExprKind::Un(UnOp::Not, _) | ExprKind::Bin(BinOp::And | BinOp::Or | BinOp::Xor, ..), Ty::Word(_)) => true,
        (ExprKind::Array(_), Ty::Array { .. }) => true,
        _ => false,
    }
}

fn operations(f: &Func) -> usize {
    let mut n = 0;
    walk_exprs(&f.body, &mut |e| n += usize::from(matches!(e.kind, ExprKind::Un(..) | ExprKind::Bin(..))));
    n
}

/// The table, by running the function on every column; as many columns at a time as its words have bits.
fn entries(program: &Program, id: FuncId, shape: &Shape) -> Option<Vec<u64>> {
    let (mut interp, mut table) = (Interp::new(program), Vec::new());
    let width = shape.bits.min(64);
    for from in (0..1u64 << shape.inputs).step_by(width as usize) {
        let word = |i: u32| (0..width).fold(0u64, |w, k| w | ((from + u64::from(k)) >> i & 1) << k);
        let arg = Value::words(&(0..shape.inputs).map(word).collect::<Vec<u64>>());
        let out = interp.call(id, &[], vec![arg]).ok()?;
        let words: Vec<u128> = out.first()?.parts()?.iter().map(Value::as_word).collect::<Option<_>>()?;
        for k in 0..u64::from(width).min((1 << shape.inputs) - from) {
            table.push(words.iter().enumerate().fold(0, |e, (o, w)| e | ((w >> k & 1) as u64) << o));
        }
    }
    Some(table)
}

fn rewritten(program: &Program, f: &Func, shape: &Shape, circuit: &Circuit) -> Func {
    let mut b = FuncBuilder::new(program, f.name.clone());
    let ty = Ty::Word(shape.bits);
    let x = b.param("x", Ty::array(ty.clone(), shape.inputs.into()));
    let y = b.ret("y", Ty::array(ty.clone(), shape.outputs.into()));
    let mut nodes: Vec<Expr> = (0..shape.inputs).map(|i| b.read(Place::local(x).at(i.into()))).collect();
    for (k, g) in circuit.gates.iter().enumerate() {
        let at = |n: u32| nodes[n as usize].clone();
        let v = b.var(format!("g{k}"), ty.clone());
        let zero = Expr::word(shape.bits, 0);
        let src = match *g {
            Gate::And(p, q) => at(p) & at(q),
            Gate::Or(p, q) => at(p) | at(q),
            Gate::Xor(p, q) => at(p) ^ at(q),
            Gate::Not(p) => !at(p),
            Gate::Const(c) => if c { !zero } else { zero },
            Gate::Lut(abc, t) => {
                b.call(vec![Place::local(v)], lut::existing(program, t, shape.bits), vec![], abc.map(at).to_vec());
                nodes.push(b.get(v));
                continue;
            }
        };
        b.assign(Place::local(v), src);
        nodes.push(b.get(v));
    }
    for (o, n) in circuit.outputs.iter().enumerate() {
        b.assign(Place::local(y).at(o as u64), nodes[*n as usize].clone());
    }
    let mut out = b.finish();
    out.inline = Inline::Always;
    out.doc.clone_from(&f.doc);
    out.loc = f.loc;
    out
}
