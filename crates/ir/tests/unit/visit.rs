//! Of `visit`.

use santoku_ir::visit::*;
use santoku_ir::*;
use santoku_ir::ty::{LocalId, Ty};
use std::collections::BTreeSet;

/// `for i in 0..<4 { x[i] = y + a[i + y] }`
fn sample() -> (Vec<Stmt>, LocalId, LocalId, LocalId, LocalId) {
    let (i, x, y, a) = (LocalId(0), LocalId(1), LocalId(2), LocalId(3));
    let index = Expr::int_local(i) + Expr::int_local(y);
    let src = Expr::int_local(y) + Expr::read(Place::local(a).index(index), &Ty::int());
    let body = vec![Stmt::assign(Place::local(x).index(Expr::int_local(i)), src)];
    (vec![Stmt::for_range(i, Expr::int(0), Expr::int(4), body)], i, x, y, a)
}

#[test]
fn reads_and_writes_include_indices() {
    let (body, i, x, y, a) = sample();
    assert_eq!(read_locals(&body), BTreeSet::from([i, y, a]));
    assert_eq!(written_locals(&body), BTreeSet::from([i, x]));
}

#[test]
fn substitution_reaches_indices_and_rebases() {
    let (mut body, _, _, y, a) = sample();
    substitute(&mut body, y, &Expr::int(7));
    assert!(!read_locals(&body).contains(&y));
    let b = Place::local(LocalId(9)).field(1);
    substitute(&mut body, a, &Expr::read(b, &Ty::array(Ty::int(), 8)));
    let mut fields = 0;
    walk_places(&body, &mut |p, _| fields += usize::from(p.projs.first() == Some(&Proj::Field(1))));
    assert_eq!((fields, read_locals(&body).contains(&a)), (1, false));
}

#[test]
fn renaming_is_total_and_invertible() {
    let (body, ..) = sample();
    let mut there = body.clone();
    rename_locals(&mut there, &|l| LocalId(l.0 + 10));
    assert!(read_locals(&there).iter().chain(&written_locals(&there)).all(|l| l.0 >= 10));
    rename_locals(&mut there, &|l| LocalId(l.0 - 10));
    assert_eq!(there, body);
}

#[test]
fn rewriting_may_drop_and_multiply() {
    let (mut body, ..) = sample();
    rewrite_stmts(&mut body, &mut |s| match s {
        Stmt::Assign { .. } => vec![s.clone(), s],
        other => vec![other],
    });
    let mut count = 0;
    walk_stmts(&body, &mut |_| count += 1);
    assert_eq!(count, 3);
    rewrite_stmts(&mut body, &mut |_| Vec::new());
    assert!(body.is_empty());
}
