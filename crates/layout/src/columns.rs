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
        if !applies(&out, id, &table, bits) {
            return Err(LayoutError::internal("columns", format!("`{}` is no longer its table", f.name)));
        }
    }
    Ok(out)
}

/// Does the function apply this table to columns of bits? It is run on every column there is.
fn applies(program: &Program, id: FuncId, table: &Table, bits: u32) -> bool {
    on_columns(program, id, table.inputs, bits).as_ref() == Some(&table.entries)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circuit_with_another_gate_is_refused() {
        let table = Table { inputs: 4, outputs: 4, entries: vec![6, 5, 12, 10, 1, 14, 7, 9, 11, 0, 3, 13, 8, 15, 4, 2] };
        let circuit = santoku_circuit::circuit3(table.inputs, table.outputs, &table.entries).unwrap();
        let empty = Program::default();
        let mut b = FuncBuilder::new(&empty, "sbox");
        b.ret("y", Ty::array(Ty::Word(16), 4));
        let f = b.finish();
        let made = |c: &Circuit| {
            let mut p = Program::default();
            for g in &c.gates {
                if let Gate::Lut(_, t) = g {
                    lut::ensure(&mut p, *t, 16);
                }
            }
            let g = rewritten(&p, &f, (&table, 16), c);
            let id = p.add_func(g);
            applies(&p, id, &table, 16)
        };
        assert!(made(&circuit));
        let mut tried = 0;
        for k in 0..circuit.gates.len() {
            for flip in 0..8 {
                let mut wrong = circuit.clone();
                if let Gate::Lut(_, t) = &mut wrong.gates[k] {
                    *t ^= 1 << flip;
                    tried += 1;
                    // An entry that no column reaches makes no difference.
                    let same = (0..16).all(|x| wrong.evaluate(x) == circuit.evaluate(x));
                    assert_eq!(made(&wrong), same, "gate {k}, entry {flip}");
                }
            }
        }
        println!("compared: {tried} circuits with one entry of a gate changed");
        assert!(tried >= 40);
    }
}
