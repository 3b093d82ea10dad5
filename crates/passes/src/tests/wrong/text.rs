//! Mistakes in what a pass makes of the text, or in ranges only.

use super::Mistake;
use crate::util::local_of;
use crate::Level;
use num_bigint::BigInt;
use santoku_ir::visit::{map_exprs, rename_locals, rewrite_stmts};
use santoku_ir::{BinOp, CmpOp, Expr, ExprKind, Func, LocalId, LocalKind, Place, Program, Proj, Range, Stmt, Ty};
use Level::{Os, O0, O1, O2, O3};

fn func<'a>(p: &'a mut Program, name: &str) -> Option<&'a mut Func> {
    p.funcs.iter_mut().find(|f| f.name.ends_with(name))
}

fn local(f: &Func, name: &str) -> Option<LocalId> {
    f.locals.iter().position(|l| l.name == name).map(|i| LocalId(i as u32))
}

/// Changes the first expression of the program for which `change` returns true.
fn first(p: &mut Program, change: &dyn Fn(&mut Expr) -> bool) {
    let mut done = false;
    for f in &mut p.funcs {
        map_exprs(&mut f.body, &mut |e| {
            if !done {
                done = change(e);
            }
        });
    }
}

/// Leaves out the statement number `n` of those in functions with results that `fits`.
fn drop_nth(p: &mut Program, n: usize, fits: &dyn Fn(&Func, &Stmt) -> bool) {
    let mut seen = 0;
    for f in p.funcs.iter_mut().filter(|f| !f.rets.is_empty()) {
        let old = f.clone();
        rewrite_stmts(&mut f.body, &mut |s| {
            let hit = fits(&old, &s);
            seen += usize::from(hit);
            if hit && seen == n + 1 { Vec::new() } else { vec![s] }
        });
    }
}

fn writes(f: &Func, s: &Stmt, name: &str) -> bool {
    matches!(s, Stmt::Assign { dst, .. } if local_of(dst).is_some_and(|l| f.local(l).name == name))
}

fn writes_result(f: &Func, s: &Stmt) -> bool {
    matches!(s, Stmt::Assign { dst, .. } if local_of(dst).is_some_and(|l| f.rets.contains(&l)))
}

fn op(e: &mut Expr, from: BinOp, to: BinOp) -> bool {
    match &mut e.kind {
        ExprKind::Bin(o, _, b) if *o == from && b.as_const().is_none() => {
            *o = to;
            true
        }
        _ => false,
    }
}

fn count_by_one_more(e: &mut Expr, of: BinOp) -> bool {
    match &mut e.kind {
        ExprKind::Bin(o, _, k) if *o == of => match &mut k.kind {
            ExprKind::Const(v) => {
                *v += 1;
                true
            }
            _ => false,
        },
        _ => false,
    }
}

fn each_loop(p: &mut Program, f: &dyn Fn(&mut BigInt, &mut BigInt)) {
    for func in &mut p.funcs {
        rewrite_stmts(&mut func.body, &mut |mut s| {
            if let Stmt::For { lo, hi, .. } = &mut s {
                if let (ExprKind::Const(a), ExprKind::Const(b)) = (&mut lo.kind, &mut hi.kind) {
                    f(a, b);
                }
            }
            vec![s]
        });
    }
}

/// Halves the range written on the first expression that fits.
fn narrower(p: &mut Program, fits: &dyn Fn(&Expr) -> bool) {
    let wide = |e: &Expr| matches!(&e.ty, Ty::Int(Some(r)) if r.hi > 8.into() && r.lo < r.hi);
    let Some(top) = func(p, ".top").filter(|f| f.name.ends_with(".top")) else { return };
    let mut done = false;
    map_exprs(&mut top.body, &mut |e| {
        if !done && wide(e) && fits(e) {
            let Ty::Int(Some(r)) = &mut e.ty else { return };
            r.hi = r.lo.add(&r.hi).shr(2);
            r.lo = r.lo.clone().min(r.hi.clone());
            done = true;
        }
    });
}

/// Declares the local a quarter of its range.
fn small(p: &mut Program, of: &str, name: &dyn Fn(&str) -> bool) {
    let Some(f) = func(p, of) else { return };
    for l in f.locals.iter_mut().filter(|l| matches!(l.kind, LocalKind::Var | LocalKind::Counter) && name(&l.name)) {
        match &mut l.ty {
            Ty::Int(Some(r)) => r.hi = r.lo.mul(&3.into()).add(&r.hi).shr(2),
            ty @ Ty::Int(None) => *ty = Ty::Int(Some(Range::new(0, 3))),
            _ => {}
        }
    }
}

fn bare_bin(e: &Expr, op: BinOp) -> bool {
    matches!(&e.kind, ExprKind::Bin(o, ..) if *o == op)
}

fn tighten_facts(p: &mut Program, asserts: bool) {
    let tighten = |e: &mut Expr| {
        if let ExprKind::Cmp(CmpOp::Le, _, b) = &mut e.kind {
            **b = Expr::int(10);
        }
    };
    for f in p.funcs.iter_mut().filter(|f| !f.rets.is_empty()) {
        rewrite_stmts(&mut f.body, &mut |mut s| {
            match &mut s {
                Stmt::Assert { cond, .. } if asserts => tighten(cond),
                Stmt::For { invariants, .. } if !asserts => invariants.iter_mut().for_each(tighten),
                _ => {}
            }
            vec![s]
        });
    }
}

/// The variable that is only copied is built in the place it is copied to, whatever is declared of the two.
fn copy_free_without_the_test_of_types(p: &mut Program) {
    let Some(f) = func(p, ".top") else { return };
    let pair = f.body.iter().find_map(|s| match s {
        Stmt::Assign { dst, src, .. } if dst.projs.is_empty() => {
            let (to, from) = (local_of(dst)?, local_of(src.as_read().filter(|p| p.projs.is_empty())?)?);
            let wider = f.local(from).kind == LocalKind::Var && f.local(from).ty != f.local(to).ty;
            wider.then_some((from, to))
        }
        _ => None,
    });
    let Some((from, to)) = pair else { return };
    f.body.retain(|s| !matches!(s, Stmt::Assign { dst, src, .. } if local_of(dst) == Some(to) && src.as_read() == Some(&Place::local(from))));
    rename_locals(&mut f.body, &|l| if l == from { to } else { l });
}

fn annotated(p: &Program) -> bool {
    let mut found = false;
    for f in &p.funcs {
        santoku_ir::visit::walk_exprs(&f.body, &mut |e| found |= bare_bin(e, BinOp::Mul) && matches!(e.ty, Ty::Int(Some(_))));
    }
    found
}

/// `z = z & 0xff` goes where a later mask gives the results that the first one would have.
fn drop_the_first_mask(p: &mut Program) {
    if annotated(p) {
        drop_nth(p, 0, &|f, s| writes(f, s, "z") && matches!(s, Stmt::Assign { src, .. } if bare_bin(src, BinOp::And)));
    }
}

fn swap_selected(e: &mut Expr) -> bool {
    match &mut e.kind {
        ExprKind::Select(_, a, b) if a != b => {
            std::mem::swap(a, b);
            true
        }
        _ => false,
    }
}

/// Pass, level, what goes wrong.
pub const MISTAKES: &[(&str, Level, &str, Mistake)] = &[
    // Ranges alone.
    ("inline", O2, "a variable taken over is declared too narrow", |p| small(p, ".top", &|n| n.starts_with("d$"))),
    ("inline", O2, "a variable without a range is declared too narrow on the way", |p| small(p, ".top", &|n| n.starts_with("e$"))),
    ("copy-free", Os, "the test of declared types is left out", copy_free_without_the_test_of_types),
    ("cse", O2, "what is named is declared too narrow", |p| small(p, ".top", &|n| n == "common")),
    ("array-to-scalar", O3, "elements are declared too narrow", |p| small(p, ".top", &|n| n.starts_with("t_") || n.starts_with("t$") || n.starts_with("t."))),
    ("const-fold", O2, "an assertion is made stronger", |p| tighten_facts(p, true)),
    ("copy-prop", O2, "an assertion is made stronger", |p| tighten_facts(p, true)),
    ("dead-code", Os, "an assertion is made stronger", |p| tighten_facts(p, true)),
    ("copy-prop", Os, "an invariant is made stronger", |p| tighten_facts(p, false)),
    ("derive-width", O0, "an assertion is made stronger", |p| tighten_facts(p, true)),
    ("derive-width", O0, "a product is too narrow", |p| narrower(p, &|e| bare_bin(e, BinOp::Mul))),
    ("derive-width", O2, "a product is too narrow", |p| narrower(p, &|e| bare_bin(e, BinOp::Mul))),
    ("derive-width", O0, "a sum is too narrow", |p| narrower(p, &|e| bare_bin(e, BinOp::Add))),
    ("derive-width", Os, "a masked value is too narrow", |p| narrower(p, &|e| bare_bin(e, BinOp::And))),
    ("derive-width", O0, "a quotient is too narrow", |p| narrower(p, &|e| bare_bin(e, BinOp::Shr))),
    ("derive-width", O0, "what is read is too narrow", |p| narrower(p, &|e| matches!(e.kind, ExprKind::Read(_)))),
    ("derive-width", O0, "every range is 0..1", |p| p.funcs.iter_mut().for_each(|f| map_exprs(&mut f.body, &mut |e| {
        if let Ty::Int(Some(r)) = &mut e.ty {
            *r = Range::new(0, 1);
        }
    }))),
    ("derive-width", O0, "a variable is too narrow", |p| small(p, ".top", &|n| n == "z")),
    ("derive-width", O2, "a variable is too narrow", |p| small(p, ".top", &|n| n == "a")),
    ("derive-width", O0, "the result of a call is too narrow", |p| small(p, ".top", &|n| n == "q")),
    ("derive-width", O0, "the counters are too narrow", |p| small(p, ".top", &|n| n == "i")),
    ("derive-width", Os, "the counters are too narrow", |p| small(p, ".top", &|n| n == "i")),
    ("derive-width", O0, "a local of another function is too narrow", |p| small(p, ".twice", &|n| n == "e")),
    ("derive-width", O0, "an array's elements are too narrow", |p| {
        if let Some(f) = func(p, "field.mul") {
            for l in f.locals.iter_mut().filter(|l| l.name == "t") {
                if let Ty::Array { elem, ranges, .. } = &mut l.ty {
                    **elem = Ty::Int(Some(Range::new(0, 65535)));
                    ranges.iter_mut().flatten().for_each(|r| *r = Range::new(0, 65535));
                }
            }
        }
    }),
    ("drop-asserts", O2, "a product's range becomes narrower", |p| narrower(p, &|e| bare_bin(e, BinOp::Mul))),
    ("drop-asserts", O0, "what is read becomes narrower", |p| narrower(p, &|e| matches!(e.kind, ExprKind::Read(_)))),
    ("dead-code", O2, "a sum's range becomes narrower", |p| narrower(p, &|e| annotated_sum(e))),
    ("drop-asserts", O0, "a variable's range becomes narrower", |p| small(p, ".top", &|n| n == "z")),
    ("drop-asserts", Os, "a mask goes that no result needs", drop_the_first_mask),
    ("dead-code", Os, "a mask goes that no result needs", drop_the_first_mask),
    ("dead-code", O2, "a mask goes that no result needs", drop_the_first_mask),
    // What is computed.
    ("inline", O2, "a result is not taken over", |p| drop_nth(p, 0, &|f, s| writes(f, s, "q"))),
    ("inline", O3, "another function is put in", |p| {
        if let Some(f) = func(p, "top.user") {
            drop_first_copy(f);
        }
    }),
    ("inline", O1, "the key is another byte", |p| first(p, &|e| match &mut e.kind {
        ExprKind::Read(place) if e.ty == Ty::Word(8) => other_index(place),
        _ => false,
    })),
    ("const-fold", O1, "a rotation goes one further", |p| first(p, &|e| count_by_one_more(e, BinOp::Rotl))),
    ("const-fold", O1, "a shift goes one further", |p| first(p, &|e| count_by_one_more(e, BinOp::Shr))),
    ("const-fold", O2, "the sides of a selection change places", |p| first(p, &swap_selected)),
    ("const-fold", O1, "a bitwise or for an exclusive one", |p| first(p, &|e| op(e, BinOp::Xor, BinOp::Or))),
    ("const-fold", O1, "a difference for a sum", |p| first(p, &|e| op(e, BinOp::Add, BinOp::Sub))),
    ("const-fold", O1, "a sum for a product", |p| first(p, &|e| op(e, BinOp::Mul, BinOp::Add))),
    ("const-fold", O3, "38 is 37", |p| first(p, &|e| match &mut e.kind {
        ExprKind::Const(v) if *v == 38.into() => {
            *v -= 1;
            true
        }
        _ => false,
    })),
    ("const-fold", O1, "a comparison is turned", |p| first(p, &|e| match &mut e.kind {
        ExprKind::Cmp(c @ (CmpOp::Gt | CmpOp::Ge), ..) => {
            *c = CmpOp::Lt;
            true
        }
        _ => false,
    })),
    ("const-fold", O2, "a mask is one bit short", |p| first(p, &|e| match &mut e.kind {
        ExprKind::Bin(BinOp::And, _, m) if m.as_const() == Some(&BigInt::from(0xff)) => {
            **m = Expr::int(0x7f);
            true
        }
        _ => false,
    })),
    ("copy-prop", O1, "the origin is another element", |p| first(p, &|e| match &mut e.kind {
        ExprKind::Read(place) if e.ty == Ty::Word(32) => other_index(place),
        _ => false,
    })),
    ("copy-prop", O2, "a parameter is read for another", |p| {
        if let Some(f) = func(p, "field.mul") {
            if let (Some(a), Some(b)) = (local(f, "a"), local(f, "b")) {
                rename_locals(&mut f.body, &|l| if l == b { a } else { l });
            }
        }
    }),
    ("cse", O2, "two sums are one", |p| {
        if let Some(f) = func(p, ".top") {
            if let (Some(a), Some(b)) = (local(f, "a"), local(f, "b")) {
                map_exprs(&mut f.body, &mut |e| {
                    if e.as_read() == Some(&Place::local(b)) {
                        e.kind = ExprKind::Read(Place::local(a));
                    }
                });
            }
        }
    }),
    ("cse", O3, "a sum for an exclusive or", |p| first(p, &|e| op(e, BinOp::Xor, BinOp::Add))),
    ("unroll", Os, "the first round is left out", |p| each_loop(p, &|lo, hi| if *lo < *hi { *lo += 1 })),
    ("unroll", O1, "the last round is left out", |p| each_loop(p, &|lo, hi| if *lo < *hi { *hi -= 1 })),
    ("unroll", O3, "one statement of all rounds is left out", |p| drop_nth(p, 9, &|_, s| matches!(s, Stmt::Assign { .. }))),
    ("unroll", O2, "a statement stands twice", |p| {
        let mut seen = 0;
        if let Some(f) = func(p, ".top") {
            let old = f.clone();
            rewrite_stmts(&mut f.body, &mut |s| {
                seen += usize::from(writes(&old, &s, "x"));
                if seen == 2 && writes(&old, &s, "x") { vec![s.clone(), s] } else { vec![s] }
            });
        }
    }),
    ("loop-fusion", Os, "the loop before is left out", |p| drop_nth(p, 0, &|f, s| f.name.ends_with("field.add") && matches!(s, Stmt::Assign { .. }))),
    ("loop-fusion", Os, "a statement of the joint loop is left out", |p| drop_nth(p, 2, &|f, s| f.name.ends_with("field.add") && matches!(s, Stmt::Assign { .. }))),
    ("first-row-init", Os, "the first row is another", |p| first(p, &|e| match &mut e.kind {
        ExprKind::Bin(BinOp::Mul, a, b) if a.as_read().is_some() && b.as_read().is_some() => {
            **b = (**a).clone();
            true
        }
        _ => false,
    })),
    ("first-row-init", Os, "a row is left out", |p| each_loop(p, &|lo, hi| if *lo == 1.into() && *lo < *hi { *lo += 1 })),
    ("array-to-scalar", O2, "an element is not stored", |p| drop_nth(p, 0, &|f, s| writes_result(f, s))),
    ("array-to-scalar", O2, "the last element is not stored", |p| {
        let all = std::cell::Cell::new(0);
        drop_nth(&mut p.clone(), usize::MAX - 1, &|f, s| {
            all.set(all.get() + usize::from(writes_result(f, s)));
            false
        });
        drop_nth(p, all.get().max(1) - 1, &|f, s| writes_result(f, s));
    }),
    ("copy-free", O2, "the destination is another", |p| drop_nth(p, 1, &|f, s| writes_result(f, s))),
    ("copy-free", O3, "a copy is left out that something needs", |p| drop_nth(p, 0, &|_, s| matches!(s, Stmt::Assign { src, .. } if src.as_read().is_some()))),
    ("dead-code", O1, "a result is not written", |p| drop_nth(p, 0, &|f, s| writes_result(f, s))),
    ("dead-code", O2, "a public branch is left out", |p| drop_nth(p, 0, &|_, s| matches!(s, Stmt::If { .. }))),
    ("dead-code", O1, "a call is left out", |p| drop_nth(p, 0, &|_, s| matches!(s, Stmt::Call { .. }))),
    ("dead-code", Os, "a loop is left out", |p| drop_nth(p, 1, &|_, s| matches!(s, Stmt::For { .. }))),
    ("dead-functions", O1, "a call goes to another function", |p| {
        if let Some(carry) = p.find("field.carry") {
            let Some(f) = func(p, "top.user") else { return };
            rewrite_stmts(&mut f.body, &mut |mut s| {
                if let Stmt::Call { dsts, func, args, .. } = &mut s {
                    if dsts.len() == 1 && args.len() == 2 {
                        *func = carry;
                        args.truncate(1);
                    }
                }
                vec![s]
            });
        }
    }),
    ("drop-asserts", O1, "an assignment goes with them", |p| drop_nth(p, 0, &|f, s| writes_result(f, s))),
    ("drop-asserts", O0, "a loop goes with its invariant", |p| drop_nth(p, 1, &|_, s| matches!(s, Stmt::For { .. }))),
    ("drop-asserts", O0, "an assignment goes that something later reads", |p| drop_nth(p, 0, &|f, s| writes(f, s, "s"))),
];

fn annotated_sum(e: &Expr) -> bool {
    bare_bin(e, BinOp::Add)
}

/// A constant index becomes another one that is there too.
fn other_index(place: &mut Place) -> bool {
    match place.projs.last_mut() {
        Some(Proj::Index(i)) => match i.as_const().cloned() {
            Some(v) if v == 0.into() => {
                *i = Expr::int(1);
                true
            }
            Some(_) => {
                *i = Expr::int(0);
                true
            }
            None => false,
        },
        _ => false,
    }
}

/// Leaves out the first assignment to a variable that was taken over.
fn drop_first_copy(f: &mut Func) {
    let old = f.clone();
    let mut done = false;
    f.body.retain(|s| {
        let hit = !done && matches!(s, Stmt::Assign { dst, .. } if local_of(dst).is_some_and(|l| old.local(l).name.contains('$')));
        done |= hit;
        !hit
    });
}
