//! Functions of columns written anew for the machine's gates.
//!
//! Of a `table` the entries are known. A function of one array of words that only combines bits of the same column is a table too: it is read
//! off by running it on all columns. The circuit put in its place is run on all columns again.

use crate::error::LayoutError;
use crate::lut;
use santoku_circuit::{Basis, Circuit, Gate};
use santoku_ir::table::{self, Form, Table};
use santoku_ir::visit::walk_exprs;
use santoku_ir::{build::FuncBuilder, Expr, ExprKind, Func, FuncId, Inline, Place, Program, Ty};
use santoku_passes::gate;
use santoku_prove::equiv::everywhere::{of_columns, on_columns};

/// Gives every table function of the program the best circuit for `basis`, where that is smaller than what it has.
///
/// # Errors
/// [`LayoutError::Internal`] if a new function is not the table.
pub fn retarget(program: &Program, basis: Basis) -> Result<Program, LayoutError> {
    let mut out = program.clone();
    for (at, f) in program.funcs.iter().enumerate() {
        let form = match table::of(program, f) {
            // Gates of two inputs are a pass's work, where a function is said to apply a table.
            Some((_, Form::Columns(_))) if basis == Basis::Two => None,
            Some((table, Form::Columns(bits))) => Some((table, bits)),
            Some((_, Form::Word)) => None,
            None if operations(f) > 0 => of_columns(program, FuncId(at as u32)),
            None => None,
        };
        let Some((table, bits)) = form else { continue };
        let found = match basis {
            Basis::Two => santoku_circuit::circuit(table.inputs, table.outputs, &table.entries),
            Basis::Lut3 => santoku_circuit::circuit3(table.inputs, table.outputs, &table.entries),
        };
        let Some(circuit) = found.filter(|c| f.applies.is_some() || c.gates.len() < operations(f)) else { continue };
        for g in &circuit.gates {
            if let Gate::Lut(_, t) = g {
                lut::ensure(&mut out, *t, bits);
            }
        }
        let Some(id) = out.find(&f.name) else { continue };
        out.funcs[id.0 as usize] = rewritten(&out, f, (&table, bits), &circuit);
        if on_columns(&out, id, table.inputs, bits).as_ref() != Some(&table.entries) {
            return Err(LayoutError::internal("tables", format!("`{}` is no longer its table", f.name)));
        }
    }
    Ok(out)
}

fn operations(f: &Func) -> usize {
    let mut n = 0;
    walk_exprs(&f.body, &mut |e| n += usize::from(matches!(e.kind, ExprKind::Un(..) | ExprKind::Bin(..))));
    n
}

fn rewritten(program: &Program, f: &Func, (table, bits): (&Table, u32), circuit: &Circuit) -> Func {
    let mut b = FuncBuilder::new(program, f.name.clone());
    let ty = Ty::Word(bits);
    let x = b.param("x", Ty::array(ty.clone(), table.inputs.into()));
    let y = b.ret("y", Ty::array(ty.clone(), table.outputs.into()));
    let mut nodes: Vec<Expr> = (0..table.inputs).map(|i| b.read(Place::local(x).at(i.into()))).collect();
    for (k, g) in circuit.gates.iter().enumerate() {
        let v = b.var(format!("g{k}"), ty.clone());
        if let Gate::Lut(abc, t) = g {
            let args = abc.iter().map(|n| nodes[*n as usize].clone()).collect();
            b.call(vec![Place::local(v)], lut::existing(program, *t, bits), vec![], args);
        } else if let Some(src) = gate(g, &nodes, bits) {
            b.assign(Place::local(v), src);
        }
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
