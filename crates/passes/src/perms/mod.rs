//! Gives functions that permute the bits of a word few operations in place of one bit after the other.
//!
//! Needs: marked functions, see `santoku_ir::perm`.  Keeps: what the function gives for every input.
//! Leaves out: functions that the steps found would not make shorter.
//! Class: checked: both functions are run on zero and on every single bit, and are seen to be linear.
//! Page: docs/passes/perms.md.  Tests: src/tests/perms.rs.

mod network;
mod plan;
mod step;

use step::{Move, Step};
use crate::options::PassOptions;
use crate::util::each_function;
use num_bigint::BigInt;
use plan::{plan, Plan};
use santoku_ir::perm::{self, Perm};
use santoku_ir::{Expr, Func, Local, LocalId, LocalKind, Place, Program, Stmt, Ty};

pub fn run(program: &Program, _: &PassOptions) -> Program {
    each_function(program, |program, func| {
        if let Some(perm) = perm::of(program, func) {
            write(func, &perm, &plan(&perm));
        }
    })
}

/// The body of a permuting function as the steps of a plan.
fn write(func: &mut Func, perm: &Perm, plan: &Plan) {
    let (x, y) = (func.params[0], func.rets[0]);
    let (word, loc) = (Ty::Word(plan.bits), func.loc);
    let (mut body, mut locals) = (Vec::new(), func.locals.clone());
    let mut named = |src: Expr| {
        let id = LocalId(locals.len() as u32);
        locals.push(Local { name: format!("p{}", body.len()), ty: word.clone(), kind: LocalKind::Var, public: false, loc });
        body.push(Stmt::Assign { dst: Place::local(id), src, loc });
        Expr::read(Place::local(id), &word)
    };
    let mask = |m: u128| Expr::word(plan.bits, BigInt::from(m));
    let mut v = sized(Expr::read(Place::local(x), &Ty::Word(perm.inputs)), perm.inputs, plan.bits);
    for step in &plan.steps {
        v = match step {
            Step::Swap { shift, low } => {
                let v = named(v);
                let t = named((v.clone() ^ v.clone().shr(*shift)) & mask(*low));
                v ^ t.clone() ^ t.shl(*shift)
            }
            Step::Moves(moves) => {
                let v = named(v);
                let part = |m: &(Move, Option<u128>)| {
                    let moved = match m.0 {
                        Move::Left(0) => v.clone(),
                        Move::Left(k) => v.clone().shl(k),
                        Move::Right(k) => v.clone().shr(k),
                        Move::Around(k) => v.clone().rotl(k),
                    };
                    m.1.map_or(moved.clone(), |bits| moved & mask(bits))
                };
                moves.iter().map(part).reduce(|a, b| a ^ b).unwrap_or_else(|| mask(0))
            }
        };
    }
    let outputs = perm.from.len() as u32;
    body.push(Stmt::Assign { dst: Place::local(y), src: sized(v, plan.bits, outputs), loc });
    (func.body, func.locals) = (body, locals);
}

fn sized(e: Expr, from: u32, to: u32) -> Expr {
    if from == to { e } else { e.cast(Ty::Word(to)) }
}
