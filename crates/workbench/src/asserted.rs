//! Tests as functions that C can call: they return the number of the first assertion that does not hold, from 1, or 0.

use santoku_ir::{BinOp, CmpOp, Expr, ExprKind, Func, Loc, Local, LocalId, LocalKind, Place, Base, Program, Stmt, Ty};
use santoku_ir::visit::blocks_mut;

/// A program of tests alone.
#[derive(Clone, Debug)]
pub struct Asserted {
    /// Exports a function for each test, and nothing else.
    pub program: Program,
    /// In order of the tests.
    pub tests: Vec<Assertions>,
}

/// The assertions of a test.
#[derive(Clone, Debug)]
pub struct Assertions {
    /// Name in C.
    pub function: String,
    /// Text and place of each.
    pub all: Vec<(String, Loc)>,
    /// Assertions of ghost text, which no C has.
    pub ghost: usize,
}

const RESULT: Ty = Ty::Word(32);

/// Turns the tests of a program into functions.
pub fn asserted(program: &Program) -> Asserted {
    let mut program = program.clone();
    program.funcs.iter_mut().for_each(|f| f.export = None);
    let mut tests = vec![];
    for (n, test) in std::mem::take(&mut program.tests).into_iter().enumerate() {
        let f = &mut program.funcs[test.func.0 as usize];
        let mut found = Assertions { function: format!("santoku_test_{n}"), all: vec![], ghost: 0 };
        let result = LocalId(f.locals.len() as u32);
        f.locals.push(Local { name: "first_wrong".into(), ty: RESULT, kind: LocalKind::Ret, public: false, loc: f.loc });
        let mut body = vec![Stmt::Assign { dst: whole(result), src: number(0), loc: f.loc }];
        body.append(&mut f.body);
        rewrite(&mut body, result, &mut found);
        finish(f, body, result, &found.function);
        tests.push(found);
    }
    Asserted { program, tests }
}

fn finish(f: &mut Func, body: Vec<Stmt>, result: LocalId, export: &str) {
    f.body = body;
    f.rets = vec![result];
    f.export = Some(export.to_string());
}

fn whole(id: LocalId) -> Place {
    Place { base: Base::Local(id), projs: vec![] }
}

fn number(n: usize) -> Expr {
    Expr { kind: ExprKind::Const(n.into()), ty: RESULT }
}

fn rewrite(body: &mut Vec<Stmt>, result: LocalId, found: &mut Assertions) {
    for stmt in body.iter_mut() {
        blocks_mut(stmt).into_iter().for_each(|block| rewrite(block, result, found));
        if let Stmt::Ghost { .. } = stmt {
            found.ghost += 1;
        }
        if let Stmt::Assert { cond, text, loc } = stmt {
            found.all.push((text.clone(), *loc));
            let read = || Expr { kind: ExprKind::Read(whole(result)), ty: RESULT };
            let none = Expr { kind: ExprKind::Cmp(CmpOp::Eq, Box::new(read()), Box::new(number(0))), ty: Ty::Bool };
            let wrong = Expr { kind: ExprKind::Un(santoku_ir::UnOp::Not, Box::new(cond.clone())), ty: Ty::Bool };
            let first = Expr { kind: ExprKind::Bin(BinOp::And, Box::new(none), Box::new(wrong)), ty: Ty::Bool };
            let src = Expr { kind: ExprKind::Select(Box::new(first), Box::new(number(found.all.len())), Box::new(read())), ty: RESULT };
            *stmt = Stmt::Assign { dst: whole(result), src, loc: *loc };
        }
    }
}
