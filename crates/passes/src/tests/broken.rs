//! Broken passes: each does what a plausible mistake would, and the check must catch it.

use super::samples::{options, program};
use crate::run::step;
use crate::util::{local_of, overlap};
use crate::{find, Level, Pass, PassFailure, PassOptions, Rewrite};
use num_bigint::BigInt;
use santoku_ir::visit::{
    map_exprs, rename_locals, rewrite_stmts, substitute, walk_stmts,
};
use santoku_ir::{BinOp, Expr, ExprKind, Func, LocalId, Place, Program, Proj, Range, Stmt, Ty};

/// What became of a rewrite.
enum End {
    /// This many functions changed for good.
    Kept(usize),
    /// Not shown equal: the program is as before.
    PutBack,
    Caught(PassFailure),
}

fn attempt(pass: &'static str, level: Level, run: Rewrite) -> End {
    let pass = Pass { run, ..*find(pass).expect("a pass") };
    match step(&pass, &program(), &options(level)) {
        Err(e) => End::Caught(e),
        Ok((_, report)) if report.reverted.is_empty() => End::Kept(report.changed.len() + report.removed.len()),
        Ok((after, report)) => {
            assert_eq!(after, program(), "only part was put back: {:?}", report.reverted);
            End::PutBack
        }
    }
}

fn failure(pass: &'static str, level: Level, run: Rewrite) -> PassFailure {
    match attempt(pass, level, run) {
        End::Caught(e) => e,
        End::PutBack => panic!("{pass}: put back"),
        End::Kept(n) => panic!("{pass}: passed, {n} functions changed"),
    }
}

/// One function of a program, changed.
fn edit(p: &Program, name: &str, f: impl Fn(&mut Func)) -> Program {
    let mut q = p.clone();
    let id = q.find(name).expect("function");
    f(&mut q.funcs[id.0 as usize]);
    q
}

fn real(pass: &str, p: &Program, o: &PassOptions) -> Program {
    (find(pass).expect("a pass").run)(p, o)
}

/// Drops the `n`-th statement (outer before inner) that fits.
fn drop_stmt(func: &mut Func, n: usize, fits: &dyn Fn(&Stmt) -> bool) {
    let mut seen = 0;
    rewrite_stmts(&mut func.body, &mut |s| {
        if fits(&s) {
            seen += 1;
            if seen == n + 1 {
                return Vec::new();
            }
        }
        vec![s]
    });
    assert!(seen > n, "nothing to break");
}

fn local(func: &Func, name: &str) -> LocalId {
    LocalId(func.locals.iter().position(|l| l.name == name).expect("local") as u32)
}

fn inline_without_renaming(p: &Program, o: &PassOptions) -> Program {
    let q = real("inline", p, o);
    edit(&q, "top.user", |f| {
        let old = f.locals.clone();
        let at = |id: LocalId| {
            let (base, copy) = old[id.0 as usize].name.split_once('$')?;
            let same = old.iter().position(|l| l.name == base && l.ty == old[id.0 as usize].ty)?;
            (!copy.is_empty()).then_some(LocalId(same as u32))
        };
        rename_locals(&mut f.body, &|id| at(id).unwrap_or(id));
    })
}

fn inline_argument_read_late(p: &Program, o: &PassOptions) -> Program {
    let q = real("inline", p, o);
    // The result is written while an argument is still read through.
    edit(&q, "top.user", |f| {
        let (msg, m) = (local(f, "msg"), local(f, "m"));
        rename_locals(&mut f.body, &|id| if id == msg { m } else { id });
    })
}

fn unroll_off_by_one(p: &Program, o: &PassOptions) -> Program {
    let short = edit(p, "field.carry", |f| {
        rewrite_stmts(&mut f.body, &mut |mut s| {
            if let Stmt::For { hi, .. } = &mut s {
                *hi = Expr::int(hi.as_const().expect("constant") - 1);
            }
            vec![s]
        });
    });
    real("unroll", &short, o)
}

fn unroll_backwards(p: &Program, o: &PassOptions) -> Program {
    let turned = edit(p, "field.carry", |f| {
        rewrite_stmts(&mut f.body, &mut |mut s| {
            if let Stmt::For { rev, .. } = &mut s {
                *rev = !*rev;
            }
            vec![s]
        });
    });
    real("unroll", &turned, o)
}

fn fold_wrong_sign(p: &Program, _: &PassOptions) -> Program {
    edit(p, "hash.mix", |f| {
        map_exprs(&mut f.body, &mut |e| {
            if let ExprKind::Bin(op @ BinOp::Add, _, b) = &mut e.kind {
                if b.as_const().is_none() {
                    *op = BinOp::Sub;
                }
            }
        });
    })
}

fn fold_mask_away(p: &Program, _: &PassOptions) -> Program {
    edit(p, "field.carry", |f| {
        map_exprs(&mut f.body, &mut |e| {
            if let ExprKind::Bin(BinOp::And, a, _) = &e.kind {
                *e = (**a).clone();
            }
        });
    })
}

fn fold_floor_as_truncation(p: &Program, _: &PassOptions) -> Program {
    // -((-x) >> 16) rounds the other way.
    edit(p, "field.carry", |f| {
        map_exprs(&mut f.body, &mut |e| {
            if let ExprKind::Bin(BinOp::Shr, a, k) = &e.kind {
                *e = -Expr::bin(BinOp::Shr, -(**a).clone(), (**k).clone());
            }
        });
    })
}

fn copy_prop_across_reassignment(p: &Program, _: &PassOptions) -> Program {
    edit(p, "hash.mix", |f| {
        let (old, a) = (local(f, "old"), local(f, "a"));
        let value = Expr::read(Place::local(a), &Ty::Word(32));
        substitute(&mut f.body, old, &value);
    })
}

fn cse_ignores_a_write(p: &Program, o: &PassOptions) -> Program {
    // Without the write to `a` in between, all occurrences are one.
    let mut calm = p.clone();
    let id = calm.find("hash.mix").expect("there");
    let f = &mut calm.funcs[id.0 as usize];
    let a = local(f, "a");
    let writes_a = |s: &Stmt| matches!(s, Stmt::Assign { dst, .. } if local_of(dst) == Some(a));
    let at = f.body.iter().rposition(writes_a).expect("a write");
    let write = std::mem::replace(&mut f.body[at], Stmt::assert(Expr::bool(true), "here"));
    let q = real("cse", &calm, o);
    edit(&q, "hash.mix", |f| {
        rewrite_stmts(&mut f.body, &mut |s| match s {
            Stmt::Assert { .. } => vec![write.clone()],
            other => vec![other],
        });
    })
}

fn copy_free_into_a_live_place(p: &Program, _: &PassOptions) -> Program {
    // The sum is built in `t`, which is still read.
    edit(p, "top.user", |f| {
        let (t, u) = (local(f, "t"), local(f, "u"));
        rename_locals(&mut f.body, &|id| if id == u { t } else { id });
    })
}

fn dead_code_drops_a_live_store(p: &Program, _: &PassOptions) -> Program {
    edit(p, "hash.mix", |f| {
        drop_stmt(f, 0, &|s| matches!(s, Stmt::Assign { dst, .. } if !dst.projs.is_empty()));
    })
}

fn dead_code_forgets_the_back_edge(p: &Program, _: &PassOptions) -> Program {
    // `s[1]` is read by the next iteration only.
    edit(p, "hash.mix", |f| {
        let s = local(f, "s");
        rewrite_stmts(&mut f.body, &mut |mut stmt| {
            if let Stmt::For { body, .. } = &mut stmt {
                body.retain(|i| !matches!(i, Stmt::Assign { dst, .. } if local_of(dst) == Some(s)));
            }
            vec![stmt]
        });
    })
}

fn dead_functions_takes_a_root(p: &Program, o: &PassOptions) -> Program {
    let hidden = edit(p, "top.user", |f| f.export = None);
    real("dead-functions", &hidden, o)
}

fn dead_functions_redirects_a_call(p: &Program, o: &PassOptions) -> Program {
    let q = real("dead-functions", p, o);
    let mul = q.find("field.mul").expect("there");
    edit(&q, "top.user", |f| {
        rewrite_stmts(&mut f.body, &mut |mut s| {
            if let Stmt::Call { func, .. } = &mut s {
                if *func == q.find("field.add").expect("there") {
                    *func = mul;
                }
            }
            vec![s]
        });
    })
}

fn scalars_swapped_in_sequence(p: &Program, _: &PassOptions) -> Program {
    // `s = [s[1], s[0]]` without holding the old value.
    edit(p, "hash.mix", |f| {
        let s = local(f, "s");
        rewrite_stmts(&mut f.body, &mut |stmt| match &stmt {
            Stmt::Assign { dst, src, loc } if local_of(dst) == Some(s) && dst.projs.is_empty() => match &src.kind {
                ExprKind::Array(es) => es
                    .iter()
                    .enumerate()
                    .map(|(k, e)| Stmt::Assign { dst: Place::local(s).at(k as u64), src: e.clone(), loc: *loc })
                    .collect(),
                _ => vec![stmt.clone()],
            },
            _ => vec![stmt.clone()],
        });
    })
}

fn fusion_without_lag(p: &Program, _: &PassOptions) -> Program {
    edit(p, "field.add", |f| {
        let (mut first, second) = (f.body[0].clone(), f.body[1].clone());
        let (Stmt::For { var, body, .. }, Stmt::For { var: other, body: tail, .. }) = (&mut first, second) else {
            panic!("two loops")
        };
        let mut tail = tail;
        substitute(&mut tail, other, &Expr::int_local(*var));
        // The last iteration of the carry pass would be out of range: leave it to a branch on the counter.
        let inside = Expr::cmp(santoku_ir::CmpOp::Lt, Expr::int_local(*var), Expr::int(super::samples::LIMBS - 1));
        body.push(Stmt::if_else(inside, tail, Vec::new()));
        // Something must be there to be added to.
        let r = local(f, "r");
        let zero = Expr::repeat(Expr::int(0), santoku_ir::Len::Const(super::samples::LIMBS));
        f.body = vec![Stmt::assign(Place::local(r), zero), first];
    })
}

fn first_row_forgets_an_element(p: &Program, o: &PassOptions) -> Program {
    let q = real("first-row-init", p, o);
    edit(&q, "field.mul", |f| {
        drop_stmt(f, 0, &|s| matches!(s, Stmt::Assign { src: Expr { kind: ExprKind::Repeat(_), .. }, .. }));
    })
}

fn first_row_counted_twice(p: &Program, o: &PassOptions) -> Program {
    let q = real("first-row-init", p, o);
    edit(&q, "field.mul", |f| {
        let mut outer = 0;
        rewrite_stmts(&mut f.body, &mut |mut s| {
            if let Stmt::For { lo, body, .. } = &mut s {
                if matches!(body.as_slice(), [Stmt::For { .. }]) {
                    outer += 1;
                    *lo = Expr::int(0);
                }
            }
            vec![s]
        });
        assert_eq!(outer, 1);
    })
}

fn one_bit_too_narrow(p: &Program, o: &PassOptions) -> Program {
    let q = real("derive-width", p, o);
    edit(&q, "field.mul", |f| {
        map_exprs(&mut f.body, &mut |e| {
            if let (ExprKind::Bin(BinOp::Mul, ..), Ty::Int(Some(Range { hi, .. }))) = (&e.kind, &mut e.ty) {
                *hi = hi.shr(1);
            }
        });
    })
}

fn width_changes_a_constant(p: &Program, o: &PassOptions) -> Program {
    let q = real("derive-width", p, o);
    edit(&q, "field.carry", |f| {
        map_exprs(&mut f.body, &mut |e| {
            if let ExprKind::Const(v) = &mut e.kind {
                if *v == BigInt::from(38) {
                    *v += 1;
                    e.ty = Ty::Int(None);
                }
            }
        });
    })
}

fn asserts_of_tests_dropped(p: &Program, _: &PassOptions) -> Program {
    edit(p, "top.test", |f| f.body.retain(|s| !matches!(s, Stmt::Assert { .. })))
}

/// The lowest bit of an entry comes out as the highest.
fn tables_exchanges_outputs(p: &Program, o: &PassOptions) -> Program {
    let mut o = o.clone();
    o.circuits.values_mut().for_each(|c| c.outputs.rotate_left(1));
    crate::tables::run(p, &o)
}

/// The result of the last step comes one bit further down.
fn perms_shifts_the_result(p: &Program, o: &PassOptions) -> Program {
    let q = real("perms", p, o);
    edit(&q, "cipher.p", |f| {
        let Some(Stmt::Assign { src, .. }) = f.body.last_mut() else { panic!("nothing to break") };
        *src = src.clone().shr(1);
    })
}

/// Pass, level, the mistake.
const BROKEN: &[(&str, Level, Rewrite)] = &[
    ("tables", Level::O1, tables_exchanges_outputs),
    ("perms", Level::O0, perms_shifts_the_result),
    ("inline", Level::O3, inline_without_renaming),
    ("inline", Level::O1, inline_argument_read_late),
    ("unroll", Level::O2, unroll_off_by_one),
    ("unroll", Level::O2, unroll_backwards),
    ("const-fold", Level::O1, fold_wrong_sign),
    ("const-fold", Level::O1, fold_mask_away),
    ("const-fold", Level::O1, fold_floor_as_truncation),
    ("copy-prop", Level::O1, copy_prop_across_reassignment),
    ("cse", Level::O2, cse_ignores_a_write),
    ("copy-free", Level::O1, copy_free_into_a_live_place),
    ("dead-code", Level::O1, dead_code_drops_a_live_store),
    ("dead-code", Level::O1, dead_code_forgets_the_back_edge),
    ("dead-functions", Level::O1, dead_functions_takes_a_root),
    ("dead-functions", Level::O1, dead_functions_redirects_a_call),
    ("array-to-scalar", Level::O2, scalars_swapped_in_sequence),
    ("loop-fusion", Level::Os, fusion_without_lag),
    ("first-row-init", Level::Os, first_row_forgets_an_element),
    ("first-row-init", Level::Os, first_row_counted_twice),
    ("derive-width", Level::O0, one_bit_too_narrow),
    ("derive-width", Level::O0, width_changes_a_constant),
    ("drop-asserts", Level::O0, asserts_of_tests_dropped),
];

#[test]
fn every_broken_pass_is_caught_and_the_real_one_is_not() {
    let (mut caught, mut put_back) = (0, Vec::new());
    for (name, level, run) in BROKEN {
        match attempt(name, *level, *run) {
            End::Kept(changed) => panic!("broken {name} (number {caught}) passed, {changed} functions changed"),
            End::PutBack => put_back.push(*name),
            End::Caught(e) => {
                assert_eq!(e.pass, *name);
                assert!(e.to_string().contains("internal error: pass"), "{e}");
            }
        }
        caught += 1;
        match attempt(name, *level, find(name).expect("a pass").run) {
            End::Kept(changed) => assert!(changed > 0 || *name == "drop-asserts", "{name} did nothing to break"),
            End::PutBack => panic!("{name}: put back"),
            End::Caught(e) => panic!("{e}"),
        }
    }
    // A test block has no inputs to disagree on: its asserts cannot be shown to be missing, only not to be the same.
    assert_eq!(put_back, ["drop-asserts"]);
    assert_eq!(caught, BROKEN.len());
    let covered: std::collections::BTreeSet<&str> = BROKEN.iter().map(|b| b.0).collect();
    assert_eq!(covered.len(), crate::TABLE.len(), "a pass without a broken twin");
}

#[test]
fn a_difference_shows_terms_and_inputs() {
    let text = failure("unroll", Level::O2, unroll_off_by_one).to_string();
    for part in ["unroll", "field.carry", "before:", "after:", "x =", "before it gives"] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}

#[test]
fn a_changed_interface_is_caught() {
    let renamed: Rewrite = |p, _| edit(p, "top.user", |f| f.export = Some("other".into()));
    let e = failure("unroll", Level::O2, renamed);
    assert!(e.to_string().contains("export name"), "{e}");
    let added: Rewrite = |p, _| {
        let mut q = p.clone();
        let mut f = q.funcs[0].clone();
        f.name = "new".into();
        q.add_func(f);
        q
    };
    let e = failure("unroll", Level::O2, added);
    assert!(e.to_string().contains("appeared"), "{e}");
}

#[test]
fn overlap_of_places() {
    let x = Place::local(LocalId(0));
    let i = Expr::int_local(LocalId(1));
    let cases = [
        (x.clone().at(0), x.clone().at(1), false),
        (x.clone().at(0), x.clone().at(0), true),
        (x.clone().at(0), x.clone().index(i.clone()), true),
        (x.clone().field(0), x.clone().field(1), false),
        (x.clone().at(2), x.clone(), true),
        (x.clone().at(2), Place::local(LocalId(2)).at(2), false),
        (x.clone().slice(Expr::int(0), 2), x.clone().at(3), true),
        (x.clone().index(i).at(0), x.clone().at(1).at(1), true),
    ];
    for (a, b, expected) in cases {
        assert_eq!(overlap(&a, &b), expected, "{a:?} {b:?}");
        assert_eq!(overlap(&b, &a), expected);
    }
    let mut n = 0;
    walk_stmts(&program().funcs[0].body, &mut |s| n += usize::from(matches!(s, Stmt::Assign { dst, .. } if matches!(dst.projs.first(), Some(Proj::Index(_))))));
    assert!(n > 0);
}
