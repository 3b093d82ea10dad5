//! Gives functions that apply a table the form that costs least: gates in place of a scan.
//!
//! Needs: circuits of tables, see [`crate::circuits`].  Keeps: what the function gives for every input; that its word is never an address.
//! Leaves out: tables without a circuit, and at `-Os` those with a large one, which stay scans; those of a public word, which stay loads.
//! Class: checked: both functions are run on every input.
//! Page: docs/passes/tables.md.  Tests: src/tests/tables.rs.

use crate::circuits::loads;
use crate::options::{Level, PassOptions};
use crate::util::each_function;
use santoku_circuit::{Circuit, Gate};
use santoku_ir::table::{self, Form, Table};
use santoku_ir::{Expr, Func, Local, LocalId, LocalKind, Place, Program, Stmt, Ty};

/// Gates of a word's table above which its scan is smaller: no table is larger than this many machine instructions.
const SMALL: usize = 256;

pub fn run(program: &Program, options: &PassOptions) -> Program {
    each_function(program, |program, func| {
        let Some((table, form)) = table::of(program, func).filter(|_| !loads(func)) else { return };
        if let Some(circuit) = options.circuits.get(&table).filter(|c| !(options.level == Level::Os && form == Form::Word && c.gates.len() > SMALL)) {
            write(func, &table, form, circuit);
        }
    })
}

/// The body of a table's function as the gates of `circuit`, one a variable. With a gate of three inputs it stays as it is.
fn write(func: &mut Func, table: &Table, form: Form, circuit: &Circuit) {
    let (x, y) = (func.params[0], func.rets[0]);
    let bits = match form {
        Form::Word => table.outputs,
        Form::Columns(bits) => bits,
    };
    let word = Ty::Word(bits);
    let (mut body, mut locals) = (Vec::new(), func.locals.clone());
    let mut nodes: Vec<Expr> = (0..table.inputs).map(|i| input(x, i, table, form)).collect();
    for (k, g) in circuit.gates.iter().enumerate() {
        let Some(src) = gate(g, &nodes, bits) else { return };
        let id = LocalId(locals.len() as u32);
        locals.push(Local { name: format!("g{k}"), ty: word.clone(), kind: LocalKind::Var, public: false, loc: func.loc });
        body.push(Stmt::Assign { dst: Place::local(id), src, loc: func.loc });
        nodes.push(Expr::read(Place::local(id), &word));
    }
    let outs: Vec<Expr> = circuit.outputs.iter().map(|n| nodes[*n as usize].clone()).collect();
    body.extend(output(y, outs, table, form).into_iter().map(|(dst, src)| Stmt::Assign { dst, src, loc: func.loc }));
    (func.body, func.locals) = (body, locals);
}

fn input(x: LocalId, i: u32, table: &Table, form: Form) -> Expr {
    if let Form::Columns(bits) = form {
        return Expr::read(Place::local(x).at(u64::from(i)), &Ty::Word(bits));
    }
    let v = Expr::read(Place::local(x), &Ty::Word(table.inputs));
    let bit = if i == 0 { v } else { v.shr(i) };
    if table.inputs == table.outputs { bit } else { bit.cast(Ty::Word(table.outputs)) }
}

/// A gate on words of `bits`; `None` of one with three inputs, which no operator computes.
pub fn gate(g: &Gate, nodes: &[Expr], bits: u32) -> Option<Expr> {
    let at = |n: u32| nodes[n as usize].clone();
    let zero = Expr::word(bits, 0);
    Some(match *g {
        Gate::And(a, b) => at(a) & at(b),
        Gate::Or(a, b) => at(a) | at(b),
        Gate::Xor(a, b) => at(a) ^ at(b),
        Gate::Not(a) => !at(a),
        Gate::Const(c) => if c { !zero } else { zero },
        Gate::Lut(..) => return None,
    })
}

fn output(y: LocalId, outs: Vec<Expr>, table: &Table, form: Form) -> Vec<(Place, Expr)> {
    if let Form::Columns(_) = form {
        return outs.into_iter().enumerate().map(|(i, src)| (Place::local(y).at(i as u64), src)).collect();
    }
    let parts = outs.into_iter().enumerate().map(|(i, e)| {
        let bit = e & Expr::word(table.outputs, 1);
        if i == 0 { bit } else { bit.shl(i as u32) }
    });
    parts.reduce(|a, b| a | b).map(|src| (Place::local(y), src)).into_iter().collect()
}
