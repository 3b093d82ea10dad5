//! Inferred ranges hold on every execution of random programs.
//!
//! The proven ranges are written into the program; the interpreter then checks every annotated expression and
//! local while it runs.

use santoku_ir::gen;
use santoku_ir::interp::{Interp, Options as Run};
use santoku_ir::{Func, Program, Range, Ty};
use santoku_prove::ranges::{analyse, annotate_with, check_annotations, Options};

fn seeds() -> impl Iterator<Item = u64> {
    0..120
}

#[test]
fn executions_stay_inside_inferred_ranges() {
    stay_inside(&Options::default(), 0..120);
}

#[test]
fn executions_stay_inside_what_the_relational_engine_infers() {
    stay_inside(&Options { eager: true, ..Options::default() }, 1000..1100);
}

fn stay_inside(opts: &Options, seeds: std::ops::Range<u64>) {
    let (mut checks, mut runs) = (0, 0);
    for seed in seeds {
        let p = gen::program(seed);
        let (ranges, all) = analyse(&p, opts);
        let open: Vec<_> = all.iter().filter(|o| !o.proved()).collect();
        assert!(open.is_empty(), "seed {seed}: {open:#?}");
        let a = annotate_with(&p, &ranges);
        let main = gen::entry(&p);
        let (mut plain, mut checked) = (Interp::new(&p), Interp::with_options(&a, Run::checked()));
        for k in 0..6 {
            let (lens, args) = gen::args(&p, main, seed * 100 + k);
            let want = plain.call(main, &lens, args.clone()).expect("generated programs do not fault");
            let got = checked.call(main, &lens, args).unwrap_or_else(|f| panic!("seed {seed}: {f}"));
            assert_eq!(want, got);
            runs += 1;
        }
        checks += checked.stats().ranges;
    }
    assert!(runs > 500 && checks > 100_000, "{runs} runs, {checks} comparisons");
}

#[test]
fn annotations_survive_their_own_check() {
    let mut checked = 0;
    for seed in seeds().step_by(4) {
        let p = gen::program(seed);
        let again = check_annotations(&annotate_with(&p, &analyse(&p, &Options::default()).0));
        let open: Vec<_> = again.iter().filter(|o| !o.proved()).collect();
        assert!(open.is_empty(), "seed {seed}: {open:#?}");
        checked += again.len();
    }
    assert!(checked > 1000);
}

/// One annotation at a time made too narrow: the check must notice whenever an execution would.
#[test]
fn narrowed_annotations_that_break_a_run_are_refused() {
    let (mut refused, mut broken) = (0, 0);
    for seed in seeds().step_by(2) {
        let p = gen::program(seed);
        let a = annotate_with(&p, &analyse(&p, &Options::default()).0);
        let main = gen::entry(&a);
        for nr in 0..a.func(main).locals.len() {
            let mut twin: Program = a.clone();
            if !narrow(&mut twin.funcs[main.0 as usize], nr) {
                continue;
            }
            let mut run = Interp::with_options(&twin, Run::checked());
            let breaks = (0..4).any(|k| {
                let (lens, args) = gen::args(&a, main, seed * 100 + k);
                run.call(main, &lens, args).is_err()
            });
            if breaks {
                broken += 1;
                refused += usize::from(check_annotations(&twin).iter().any(|o| !o.proved()));
            }
        }
    }
    assert!(broken > 20, "only {broken} twins break");
    assert_eq!(refused, broken);
}

/// Takes the upper half from a variable's range.
fn narrow(f: &mut Func, nr: usize) -> bool {
    let local = &mut f.locals[nr];
    match (&mut local.ty, local.kind) {
        (Ty::Int(Some(r)), santoku_ir::LocalKind::Var) if r.lo < r.hi => {
            *r = Range::new(&r.lo, r.lo.add(&r.hi).shr(1));
            true
        }
        _ => false,
    }
}
