//! A function of two programs: whether both give the same for all inputs.
//!
//! Both are executed on the same polynomials. Calls that the second still makes are functions of what is passed, provided that the same is
//! asked of every function that is called; others are executed. What is compared are the scalars of the results.
//!
//! Needs: two programs that the verifier of the core accepts.  Keeps: a function is accepted only if both have the same results wherever both are
//! defined.  Absent: declared ranges, which play no part; search; a reason that would tell a wrong rewrite from one that is not followed.
//! Trusted: nothing: a second opinion on the passes; the term graph, which is believed, has to agree.

use crate::found::{known, stop, Res, Stop};
use crate::outside::NoSearch;
use crate::poly::Poly;
use crate::state::{Beside, Call, Outside, Run};
use crate::value::{flat, Val};
use santoku_ir::typing::without_ranges;
use santoku_ir::{visit, Func, FuncId, LocalId, Program, Stmt, Ty};
use std::collections::{BTreeMap, BTreeSet};

/// Words of more terms than this get names, in the first attempt.
const NAMED: usize = 4;
/// Statements, and terms of one polynomial.
const LIMITS: (u64, usize) = (1_000_000, 4_000);
/// Terms that may be looked at in one execution: some seconds.
const LOOKED: u64 = 2_000_000;

/// Compares a function of `q` with that of the same name in `p`; the scalars that were compared.
///
/// # Errors
/// Why it is not accepted: what stopped the first attempt.
pub fn check(p: &Program, q: &Program, func: FuncId) -> Res<usize> {
    let g = q.func(func);
    let first = known(p.find(&g.name), "a function that the other program does not have")?;
    if p.structs != q.structs || p.consts != q.consts {
        return stop("other structures or constants");
    }
    if !same_signature(p.func(first), g) {
        return stop("another signature");
    }
    let mut called = BTreeSet::new();
    visit::walk_stmts(&g.body, &mut |s| {
        if let Stmt::Call { func, .. } = s {
            called.insert(*func);
        }
    });
    let mut why = None;
    let cuts = if called.is_empty() { vec![called] } else { vec![called, BTreeSet::new()] };
    for cut in cuts {
        for names in [Some(NAMED), None] {
            match compare((p, first), (q, func), &cut, names) {
                Ok(n) => return Ok(n),
                Err(e) => why = why.or(Some(e)),
            }
        }
    }
    Err(why.unwrap_or_else(|| Stop("nothing was tried".into())))
}

fn same_signature(f: &Func, g: &Func) -> bool {
    let types = |f: &Func, ids: &[LocalId]| ids.iter().map(|l| without_ranges(&f.local(*l).ty)).collect::<Vec<Ty>>();
    f.lens == g.lens && types(f, &f.lens) == types(g, &g.lens) && f.params == g.params && types(f, &f.params) == types(g, &g.params) && types(f, &f.rets) == types(g, &g.rets)
}

/// One function of one program.
type Of<'a> = (&'a Program, FuncId);

fn compare((p, f): Of, (q, g): Of, cut: &BTreeSet<FuncId>, names: Option<usize>) -> Res<usize> {
    let there: BTreeSet<FuncId> = cut.iter().filter_map(|g| p.find(&q.func(*g).name)).collect();
    let mut one = Run::new(p, f, &NoSearch);
    start(&mut one, names, there, BTreeMap::new(), Beside::default());
    for l in one.f.lens.iter().chain(&one.f.params) {
        let ty = one.f.local(*l).ty.clone();
        one.locals[l.0 as usize] = Some(one.anything(&ty));
    }
    let f = one.f;
    let inputs = values(&mut one, f.lens.iter().chain(&f.params));
    one.block(&one.f.body)?;
    let old = scalars(&mut one)?;

    let Outside { made, beside, .. } = one.outside.take().unwrap_or_default();
    let made: BTreeMap<_, _> = made.into_iter().filter_map(|((id, passed), results)| Some(((q.find(&p.func(id).name)?, passed), results))).collect();
    let beside = Beside { follows: true, loops: beside.unwrap_or_default().loops };
    let mut two = Run::new(q, g, &NoSearch);
    two.atoms = one.atoms;
    start(&mut two, names, cut.clone(), made, beside);
    for (l, v) in two.f.lens.iter().chain(&two.f.params).zip(inputs) {
        two.locals[l.0 as usize] = Some(v);
    }
    two.block(&two.f.body)?;
    let new = scalars(&mut two)?;
    if old.len() != new.len() {
        return stop("results of another shape");
    }
    match old.iter().zip(&new).position(|(a, b)| a != b) {
        Some(k) => stop(&format!("scalar {k} of the results")),
        None => Ok(old.len()),
    }
}

fn start(run: &mut Run, names: Option<usize>, cut: BTreeSet<FuncId>, made: BTreeMap<Call, Vec<Val>>, beside: Beside) {
    run.limits = LIMITS;
    let terms = run.atoms.looked.get().saturating_add(LOOKED);
    run.outside = Some(Outside { cut, made, terms, names, word: u32::MAX, beside: Some(beside) });
}

fn values<'l>(run: &mut Run, ids: impl Iterator<Item = &'l LocalId>) -> Vec<Val> {
    ids.map(|l| run.locals[l.0 as usize].clone().unwrap_or_else(|| run.unwritten(&run.f.local(*l).ty))).collect()
}

fn scalars(run: &mut Run) -> Res<Vec<Poly>> {
    let mut out = vec![];
    let f = run.f;
    for v in values(run, f.rets.iter()) {
        known(flat(&v, &mut out), "a result that is not followed")?;
    }
    Ok(out.into_iter().map(|n| n.p).collect())
}
