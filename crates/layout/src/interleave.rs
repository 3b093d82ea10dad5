//! Several copies of one computation in one function, their statements taken in turn.
//!
//! Shared inputs are not copied; loops keep one body.

use crate::bits::{same, Unequal};
use crate::error::LayoutError;
use santoku_ir::visit::rename_locals;
use santoku_ir::{build::FuncBuilder, Func, FuncId, LocalId, LocalKind, Place, Program, Stmt};
use santoku_prove::equiv::{check, Verdict};
use std::collections::BTreeSet;

/// Name of the function of `k` copies.
pub fn name(func: &str, k: u32) -> String {
    format!("{func}$x{k}")
}

/// Adds `FUNC$xK` to the program: `k` copies of `func`, `granularity` statements of each in turn. Parameters in `shared` (by
/// name) are given once, after those of all copies. Checked: every copy equals a call of `func`.
///
/// # Errors
/// [`LayoutError::Internal`] if a copy is another function, [`LayoutError::Unchecked`] where that is not decided,
/// [`LayoutError::Shape`] for `k = 0`.
pub fn interleave(program: &Program, func: FuncId, shared: &BTreeSet<String>, k: u32, granularity: usize) -> Result<(Program, FuncId), LayoutError> {
    let c = copies(program, func, shared, k, granularity)?;
    let f = program.func(func);
    let expand = BTreeSet::from([f.name.clone()]);
    let verdict = check(&c.reference, &c.program, &name(&f.name, k), &expand);
    if verdict.is_equal() {
        return Ok((c.program, c.func));
    }
    let unchecked = |reason: String| LayoutError::Unchecked { func: f.name.clone(), step: "interleave", reason, loc: f.loc };
    match same(&c.reference, c.func, &c.program, c.func) {
        Ok(_) => Ok((c.program, c.func)),
        // One copy is the function itself.
        Err(_) if k == 1 => Ok((program.clone(), func)),
        Err(Unequal::Differ(bit)) => Err(LayoutError::internal("interleave", format!("bit {bit} of the result is not the same"))),
        Err(why) => Err(match verdict {
            Verdict::Differ(d) if d.witness.is_some() => LayoutError::internal("interleave", format!("{d:?}")),
            Verdict::Unknown(other) => unchecked(format!("{why}; {other}")),
            _ => unchecked(why.to_string()),
        }),
    }
}

/// Copies not yet checked, and the calls they must equal; both functions have the same number.
pub(crate) struct Copies {
    pub program: Program,
    pub reference: Program,
    pub func: FuncId,
}

pub(crate) fn copies(program: &Program, func: FuncId, shared: &BTreeSet<String>, k: u32, granularity: usize) -> Result<Copies, LayoutError> {
    let f = program.func(func);
    if k == 0 {
        return Err(LayoutError::Shape { func: f.name.clone(), reason: "no copies asked for".into(), loc: f.loc });
    }
    let copies = together(f, shared, k, granularity.max(1));
    let calls = apart(program, func, shared, k, &copies);
    let add = |g: Func| {
        let mut p = program.clone();
        let id = p.add_func(g);
        (p, id)
    };
    let ((reference, _), (program, func)) = (add(calls), add(copies));
    Ok(Copies { program, reference, func })
}

/// The function of `k` copies.
fn together(f: &Func, shared: &BTreeSet<String>, k: u32, granularity: usize) -> Func {
    let mut out = Func { name: name(&f.name, k), export: None, locals: vec![], params: vec![], rets: vec![], body: vec![], contracts: vec![], ..f.clone() };
    let once = |id: LocalId| {
        let l = f.local(id);
        l.kind == LocalKind::Counter || l.kind == LocalKind::Param && shared.contains(&l.name)
    };
    let mut bodies = Vec::new();
    let mut first: Vec<LocalId> = Vec::new();
    for copy in 0..k {
        let mut map = Vec::new();
        for (n, local) in f.locals.iter().enumerate() {
            if copy > 0 && once(LocalId(n as u32)) {
                map.push(first[n]);
                continue;
            }
            map.push(LocalId(out.locals.len() as u32));
            let mut local = local.clone();
            if !once(LocalId(n as u32)) {
                local.name = format!("{}_{copy}", local.name);
            }
            out.locals.push(local);
        }
        let mine = |ids: &[LocalId]| ids.iter().filter(|id| !once(**id)).map(|id| map[id.0 as usize]).collect::<Vec<_>>();
        out.params.extend(mine(&f.params));
        out.rets.extend(mine(&f.rets));
        let mut body = f.body.clone();
        rename_locals(&mut body, &|id| map[id.0 as usize]);
        bodies.push(body);
        if copy == 0 {
            first = map;
        }
    }
    out.params.extend(f.params.iter().filter(|id| once(**id)).map(|id| first[id.0 as usize]));
    out.body = zip(bodies, granularity);
    out
}

/// Bodies of the same shape into one.
fn zip(bodies: Vec<Vec<Stmt>>, granularity: usize) -> Vec<Stmt> {
    let simple = |s: &Stmt| matches!(s, Stmt::Assign { .. } | Stmt::Call { .. } | Stmt::Assert { .. } | Stmt::Ghost { .. });
    let length = bodies.first().map_or(0, Vec::len);
    let (mut out, mut at) = (Vec::new(), 0);
    while at < length {
        let end = (at..length).find(|n| !simple(&bodies[0][*n])).unwrap_or(length);
        for from in (at..end).step_by(granularity) {
            for body in &bodies {
                out.extend_from_slice(&body[from..end.min(from + granularity)]);
            }
        }
        at = end;
        if at < length {
            out.push(joined(bodies.iter().map(|b| &b[at]).collect(), granularity));
            at += 1;
        }
    }
    out
}

/// One loop or branch that does what each of these does; their headers are public and the same.
fn joined(stmts: Vec<&Stmt>, granularity: usize) -> Stmt {
    let mut out = stmts[0].clone();
    let inner = |pick: fn(&Stmt) -> &Vec<Stmt>| zip(stmts.iter().map(|s| pick(s).clone()).collect(), granularity);
    const EMPTY: &Vec<Stmt> = &Vec::new();
    match &mut out {
        Stmt::For { body, .. } => *body = inner(|s| if let Stmt::For { body, .. } = s { body } else { EMPTY }),
        Stmt::If { then, els, .. } => {
            *then = inner(|s| if let Stmt::If { then, .. } = s { then } else { EMPTY });
            *els = inner(|s| if let Stmt::If { els, .. } = s { els } else { EMPTY });
        }
        Stmt::Assign { .. } | Stmt::Call { .. } | Stmt::Assert { .. } | Stmt::Ghost { .. } => {}
    }
    out
}

/// The reference: `k` calls, with the signature of `copies`.
fn apart(program: &Program, func: FuncId, shared: &BTreeSet<String>, k: u32, copies: &Func) -> Func {
    let f = program.func(func);
    let mut b = FuncBuilder::new(program, copies.name.clone());
    let params: Vec<LocalId> = copies.params.iter().map(|p| b.param(copies.local(*p).name.clone(), copies.local(*p).ty.clone())).collect();
    let rets: Vec<LocalId> = copies.rets.iter().map(|p| b.ret(copies.local(*p).name.clone(), copies.local(*p).ty.clone())).collect();
    let own = f.params.iter().filter(|p| !shared.contains(&f.local(**p).name)).count();
    for copy in 0..k as usize {
        let (mut mine, mut once) = (own * copy, own * k as usize);
        let mut args = Vec::new();
        for p in &f.params {
            let at = if shared.contains(&f.local(*p).name) { &mut once } else { &mut mine };
            args.push(b.get(params[*at]));
            *at += 1;
        }
        let n = f.rets.len();
        let dsts = rets[n * copy..n * (copy + 1)].iter().map(|r| Place::local(*r)).collect();
        b.call(dsts, func, vec![], args);
    }
    b.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use santoku_ir::{Expr, Ty};

    /// `for i in 0..<3 { s = (s + x) ^ k[i]; s = s <<< 3 }`
    fn sample() -> (Program, FuncId) {
        let mut p = Program::default();
        let mut b = FuncBuilder::new(&p, "f");
        let (x, k) = (b.param("x", Ty::Word(16)), b.param("k", Ty::array(Ty::Word(16), 3)));
        let (r, s, i) = (b.ret("r", Ty::Word(16)), b.var("s", Ty::Word(16)), b.counter("i"));
        let x0 = b.get(x);
        b.assign(Place::local(s), x0);
        let body = b.block(|b| {
            let key = b.read(Place::local(k).index(b.get(i)));
            let (sv, xv) = (b.get(s), b.get(x));
            b.assign(Place::local(s), (sv + xv) ^ key);
            let sv = b.get(s);
            b.assign(Place::local(s), sv.rotl(3));
        });
        b.push(Stmt::for_range(i, Expr::int(0), Expr::int(3), body));
        let sv = b.get(s);
        b.assign(Place::local(r), sv);
        let f = b.finish();
        let id = p.add_func(f);
        (p, id)
    }

    #[test]
    fn copies_are_the_function() {
        let (p, f) = sample();
        let shared = BTreeSet::from(["k".to_string()]);
        for k in 1..=4 {
            for g in [1, 2, 7] {
                let (out, id) = interleave(&p, f, &shared, k, g).unwrap();
                let f = out.func(id);
                assert_eq!(f.params.len(), k as usize + 1);
                let loops = f.body.iter().filter(|s| matches!(s, Stmt::For { .. })).count();
                assert_eq!(loops, 1);
                assert!(santoku_ir::verify::verify(&out).is_empty());
            }
        }
    }

    #[test]
    fn a_copy_that_takes_anothers_value_is_refused() {
        let (p, f) = sample();
        let shared = BTreeSet::from(["k".to_string()]);
        let good = together(p.func(f), &shared, 2, 1);
        let reference = apart(&p, f, &shared, 2, &good);
        let mut bad = good.clone();
        let (x0, x1) = (bad.params[0], bad.params[1]);
        let mut hit = 0;
        santoku_ir::visit::map_places(&mut bad.body, &mut |p, _| {
            if *p == Place::local(x1) && hit == 0 {
                *p = Place::local(x0);
                hit += 1;
            }
        });
        assert_eq!(hit, 1);
        let with = |g: Func| {
            let mut q = p.clone();
            q.add_func(g);
            q
        };
        let expand = BTreeSet::from(["f".to_string()]);
        assert!(check(&with(reference.clone()), &with(good), "f$x2", &expand).is_equal());
        assert!(!check(&with(reference), &with(bad), "f$x2", &expand).is_equal());
    }
}
