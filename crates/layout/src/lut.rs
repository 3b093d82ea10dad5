//! Functions of three words, bit by bit, as callees: what `vpternlog` computes in one instruction.
//!
//! In the program a cell is an ordinary function whose body says what it computes; the printer replaces its calls by the
//! instruction after [`table_of`] has evaluated that body on all inputs.

use santoku_ir::interp::{Interp, Value};
use santoku_ir::{build::FuncBuilder, Expr, Func, FuncId, Inline, Place, Program, Stmt, Ty};

const PREFIX: &str = "lut3$";

/// Name of the cell with this table on words of `bits`.
pub fn name(table: u8, bits: u32) -> String {
    format!("{PREFIX}{table:02x}$u{bits}")
}

/// Is this one of our cells?
pub fn is_lut(func: &Func) -> bool {
    func.name.starts_with(PREFIX)
}

/// Bit `a + 2b + 4c` of the result is the value at bits `a`, `b`, `c`: found by evaluating the function, not from its name.
pub fn table_of(program: &Program, id: FuncId) -> Option<u8> {
    let func = program.func(id);
    let Ty::Word(bits) = func.local(*func.rets.first()?).ty else { return None };
    if func.params.len() != 3 {
        return None;
    }
    // Narrow words see the columns a few at a time.
    let (mut interp, mut table, step) = (Interp::new(program), 0u8, bits.min(8));
    for from in (0..8u32).step_by(step as usize) {
        let column = |m: u32| Value::word((m >> from) & ((1 << step) - 1));
        let out = interp.call(id, &[], vec![column(0xaa), column(0xcc), column(0xf0)]).ok()?;
        table |= ((out.first()?.as_word()? & ((1 << step) - 1)) as u8) << from;
    }
    Some(table)
}

/// The cell, put into the program in front of all others if it is not there.
pub fn ensure(program: &mut Program, table: u8, bits: u32) -> FuncId {
    let name = name(table, bits);
    if let Some(id) = program.find(&name) {
        return id;
    }
    let func = define(program, name, table, bits);
    insert_first(program, func)
}

/// The cell of this table, of a program that has it. A call of an id that is none is refused by the verifier.
pub fn existing(program: &Program, table: u8, bits: u32) -> FuncId {
    program.find(&name(table, bits)).unwrap_or(FuncId(u32::MAX))
}

/// Puts a function that calls nothing in front of all others.
pub fn insert_first(program: &mut Program, func: Func) -> FuncId {
    program.funcs.insert(0, func);
    for f in &mut program.funcs {
        renumber(&mut f.body, &|id| FuncId(id.0 + 1));
    }
    for t in &mut program.tests {
        t.func.0 += 1;
    }
    FuncId(0)
}

/// Renumbers the callees of a body.
pub fn renumber(body: &mut [Stmt], map: &dyn Fn(FuncId) -> FuncId) {
    for stmt in body {
        if let Stmt::Call { func, .. } = stmt {
            *func = map(*func);
        }
        for block in santoku_ir::visit::blocks_mut(stmt) {
            renumber(block, map);
        }
    }
}

/// Expansion along `c`, then `b`, then `a`, with the constants taken out.
fn define(program: &Program, name: String, table: u8, bits: u32) -> Func {
    let mut b = FuncBuilder::new(program, name);
    let ty = Ty::Word(bits);
    let args: Vec<_> = ["a", "b", "c"].iter().map(|n| b.param(*n, ty.clone())).collect();
    let ret = b.ret("r", ty);
    let vars: Vec<Expr> = args.iter().map(|a| b.get(*a)).collect();
    let value = expression(table, &vars, bits);
    b.assign(Place::local(ret), value);
    b.func_mut().inline = Inline::Never;
    b.finish()
}

/// The function of this table of three expressions.
pub fn expression(table: u8, args: &[Expr], bits: u32) -> Expr {
    expand(args, u32::from(table), bits)
}

fn expand(vars: &[Expr], table: u32, bits: u32) -> Expr {
    let rows = 1u32 << vars.len();
    let all = if rows == 32 { u32::MAX } else { (1 << rows) - 1 };
    let zero = Expr::word(bits, 0);
    if table == 0 {
        return zero;
    }
    if table == all {
        return !zero;
    }
    let Some((x, rest)) = vars.split_last() else { return zero };
    let half = rows / 2;
    let low_mask = (1 << half) - 1;
    let (low, high) = (table & low_mask, table >> half);
    let sub = |t: u32| expand(rest, t, bits);
    match (low, high) {
        _ if low == high => sub(low),
        (0, h) if h == low_mask => x.clone(),
        (l, 0) if l == low_mask => !x.clone(),
        (0, h) => x.clone() & sub(h),
        (l, 0) => !x.clone() & sub(l),
        (l, h) if h == low_mask => x.clone() | sub(l),
        (l, h) if l == low_mask => !x.clone() | sub(h),
        (l, h) if l ^ h == low_mask => x.clone() ^ sub(l),
        (l, h) => sub(l) ^ (x.clone() & sub(l ^ h)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_computes_its_table() {
        for bits in [1, 16, 64] {
            let mut p = Program::default();
            for table in 0..=255u8 {
                let id = ensure(&mut p, table, bits);
                assert_eq!(table_of(&p, id), Some(table));
            }
            assert_eq!(p.funcs.len(), 256);
        }
    }

    #[test]
    fn the_name_is_not_believed() {
        let mut p = Program::default();
        ensure(&mut p, 0x96, 16);
        p.funcs[0].name = name(0xe8, 16);
        assert_eq!(table_of(&p, FuncId(0)), Some(0x96));
    }
}
