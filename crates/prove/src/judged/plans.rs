//! Guesses how a function can be judged: cheap plans first, then cases at the statement where the judge stops.

use super::search::Elimination;
use num_bigint::BigInt;
use santoku_ir::interp::Int;
use santoku_ir::{visit, Base, BinOp, ExprKind, Func, FuncId, Len, LocalId, Program, Stmt, Ty};
use santoku_judge::{Claims, Judge, NoSearch, Plan, Refusal, Split};
use std::collections::BTreeSet;

/// Callees of so many steps are run for the arguments at hand, so deep.
const CALLEE: u64 = 20_000;
const DEPTH: u32 = 3;
/// Values of a parameter that are judged one by one; parts that a stored integer is told apart in; elements looked at.
const FEW_VALUES: u32 = 64;
const FEW_PARTS: usize = 4;
const ELEMENTS: u64 = 64;
/// Statements at which cases are told apart, and cases tried in all.
const SPLITS: usize = 8;
const TRIES: usize = 400;

/// The first plan by which the function is accepted, and what callers may use of it.
pub fn accepted(judge: &Judge, id: FuncId, claims: &[Option<Claims>]) -> Result<(Plan, Claims), Refusal> {
    let mut last = None;
    for plan in plans(judge.program(), id) {
        match ask(judge, id, claims, &plan) {
            Ok(claims) => return Ok((plan, claims)),
            Err(e) => last = Some(e),
        }
    }
    Err(last.expect("there are plans"))
}

/// The same with cases told apart where the judge stops.
pub fn accepted_by_cases(judge: &Judge, id: FuncId, claims: &[Option<Claims>]) -> Option<(Plan, Claims)> {
    let p = judge.program();
    let ask = |plan: &Plan| ask(judge, id, claims, plan);
    let forms = plans(p, id).pop();
    [narrow()].into_iter().chain(forms).find_map(|plan| with_cases(p, id, plan, &ask))
}

fn ask(judge: &Judge, id: FuncId, claims: &[Option<Claims>], plan: &Plan) -> Result<Claims, Refusal> {
    judge.function(id, claims, plan, if plan.forms { &Elimination } else { &NoSearch })
}

/// What is found of a function by running its callees for the arguments at hand.
pub fn closer(judge: &Judge, id: FuncId, claims: &[Option<Claims>]) -> Option<Claims> {
    ask(judge, id, claims, &narrow()).ok()
}

fn narrow() -> Plan {
    Plan { callee: CALLEE, depth: DEPTH, ..Plan::default() }
}

fn plans(p: &Program, id: FuncId) -> Vec<Plan> {
    let f = p.func(id);
    let plain = Plan::default();
    let mut forms = Plan { forms: true, ..plain.clone() };
    for f in &p.funcs {
        steady(f, &mut forms);
    }
    let both = Plan { callee: CALLEE, depth: DEPTH, ..forms.clone() };
    let few = |id: &LocalId| f.local(*id).public && matches!(&f.local(*id).ty, Ty::Int(Some(r)) if &r.hi - &r.lo < FEW_VALUES.into());
    let cases: BTreeSet<LocalId> = f.lens.iter().chain(&f.params).copied().filter(few).collect();
    let one_by_one = (!cases.is_empty()).then(|| Plan { cases, ..plain.clone() });
    [plain].into_iter().chain(one_by_one).chain([narrow(), forms, both]).collect()
}

/// Statements `x = x + c` in the bodies of loops.
fn steady(f: &Func, plan: &mut Plan) {
    let mut nr = 0;
    visit::walk_stmts(&f.body, &mut |s| {
        if let Stmt::For { body, .. } = s {
            plan.steady.insert((f.name.clone(), nr), body.iter().filter_map(growth).collect());
        }
        nr += 1;
    });
}

fn growth(s: &Stmt) -> Option<(LocalId, Int)> {
    let Stmt::Assign { dst, src, .. } = s else { return None };
    let (Base::Local(l), Ty::Int(_)) = (dst.base, &src.ty) else { return None };
    let ExprKind::Bin(op @ (BinOp::Add | BinOp::Sub), a, b) = &src.kind else { return None };
    let k = Int::from(b.as_const()?);
    (dst.projs.is_empty() && a.as_read() == Some(dst)).then(|| (l, if *op == BinOp::Add { k } else { k.neg() }))
}

/// The plan with cases told apart where the judge stops, as long as that takes it further.
fn with_cases(p: &Program, id: FuncId, mut plan: Plan, ask: &dyn Fn(&Plan) -> Result<Claims, Refusal>) -> Option<(Plan, Claims)> {
    let f = p.func(id);
    let mut last = match ask(&plan) {
        Ok(claims) => return Some((plan, claims)),
        Err(e) => e,
    };
    let mut tries = 0;
    for _ in 0..SPLITS {
        let at = last.statement.filter(|_| last.func == f.name)?;
        let mut further = None;
        for split in candidates(p, f, at) {
            tries += 1;
            if tries > TRIES {
                return None;
            }
            plan.splits.insert((f.name.clone(), at), split);
            match ask(&plan) {
                Ok(claims) => return Some((plan, claims)),
                Err(e) if e.statement > last.statement => {
                    further = Some(e);
                    break;
                }
                Err(_) => {}
            }
        }
        last = further?;
    }
    None
}

/// Stored integers that a statement reads and that few quotients by a power of two are possible of.
fn candidates(p: &Program, f: &Func, nr: usize) -> Vec<Split> {
    let (mut at, mut found) = (0, None);
    visit::walk_stmts(&f.body, &mut |s| {
        if at == nr {
            found = Some(s.clone());
        }
        at += 1;
    });
    let statement = found.as_slice();
    let mut out = vec![];
    for k in shifts(p, statement) {
        for l in visit::read_locals(statement) {
            parts(l, &f.local(l).ty, k, &mut vec![], &mut out);
        }
    }
    out
}

/// Constants that a statement, or what it calls, shifts integers by.
fn shifts(p: &Program, body: &[Stmt]) -> BTreeSet<u32> {
    let mut out = BTreeSet::new();
    visit::walk_exprs(body, &mut |e| {
        if let (ExprKind::Bin(BinOp::Shr, _, k), Ty::Int(_)) = (&e.kind, &e.ty) {
            out.extend(k.as_const().and_then(|k| u32::try_from(k).ok()).filter(|k| *k < 1024));
        }
    });
    visit::walk_stmts(body, &mut |s| {
        if let Stmt::Call { func, .. } = s {
            out.extend(shifts(p, &p.func(*func).body));
        }
    });
    out
}

fn parts(local: LocalId, ty: &Ty, k: u32, path: &mut Vec<usize>, out: &mut Vec<Split>) {
    match ty {
        Ty::Int(Some(r)) => {
            let (lo, hi): (BigInt, BigInt) = (&r.lo >> k, &r.hi >> k);
            let cuts: Vec<Int> = (1..=FEW_PARTS).map(|i| &lo + i).take_while(|q| *q <= hi).map(|q| Int::from(q << k)).collect();
            if (1..FEW_PARTS).contains(&cuts.len()) {
                out.push(Split { local, path: path.clone(), cuts, statements: 1 });
            }
        }
        Ty::Array { elem, len: Len::Const(n), ranges } if *n <= ELEMENTS => {
            for i in 0..*n as usize {
                let own = ranges.as_ref().and_then(|r| r.get(i)).map(|r| Ty::Int(Some(r.clone())));
                path.push(i);
                parts(local, own.as_ref().unwrap_or(elem), k, path, out);
                path.pop();
            }
        }
        _ => {}
    }
}
