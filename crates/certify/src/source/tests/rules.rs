//! Conditions, computed indices, cut calls, arrays of run-time length, loops, limits.

use super::agree::{compare, flat, Env};
use crate::source::{inputs, Environment, Inputs, Lengths, Rng, Site, Source, State, Stop, Value};
use crate::term::{Terms, T};
use santoku_ir::interp::Interp;
use santoku_ir::text::parse;
use santoku_ir::verify::verify;
use santoku_ir::{FuncId, Program};
use std::cell::RefCell;

const SAMPLES: usize = 9;

fn program(functions: &str) -> Program {
    let p = parse(&format!("santoku-ir 1\n{functions}")).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(verify(&p), vec![]);
    p
}

/// All functions agree with the interpreter.
fn agrees(p: &Program) {
    for k in 0..p.funcs.len() as u32 {
        let done = compare(p, p, FuncId(k), Lengths::Fixed(&[]), SAMPLES).unwrap_or_else(|e| panic!("{e}"));
        assert!(done.valid && done.varying > 0 && done.differing == 0, "{done:?}");
    }
}

#[test]
fn branches_are_joined() {
    agrees(&program(
        "fn f {
  param c: public int 0..3
  param x: [u8; 3]
  ret r: [u8; 3]
  body {
    r#2 = x#1
    if ((c#0 : int 0..3) < (2 : int 2..2)) {
      r#2[1] = (x#1[2] + 7u8)
      if ((c#0 : int 0..3) == (1 : int 1..1)) { r#2[2] = 0u8 } else { r#2[0] = 1u8 }
    } else {
      r#2[0] = (x#1[0] ^ x#1[1])
    }
  }
}
",
    ));
}

/// Under its condition alone does the index lie inside.
#[test]
fn computed_indices() {
    agrees(&program(
        "struct S { a: u8, b: [u16; 2] }
const K: [u8; 4] = [3, 1, 4, 1]
fn read {
  param i: public int 0..7
  param x: [S#s0; 4]
  ret r: [u16; 4]
  body {
    r#2 = repeat<[u16; 4]>(9u16)
    if ((i#0 : int 0..7) < (4 : int 4..4)) {
      r#2[0] = x#1[(i#0 : int 0..7)].1[1]
      r#2[1] = cast<u16>(K#c0[(i#0 : int 0..7)])
      r#2[(i#0 : int 0..7)] = cast<u16>(x#1[1].0)
    }
  }
}
fn write {
  param i: public int 0..2
  param x: [u8; 4]
  ret r: [[u8; 2]; 2]
  var y: [u8; 4]
  body {
    y#3 = x#1
    y#3[(i#0 : int 0..2); 2] = x#1[((2 : int 2..2) - (i#0 : int 0..2) : int 0..2); 2]
    r#2 = ([y#3[0; 2], y#3[2; 2]] : [[u8; 2]; 2])
    r#2[((i#0 : int 0..2) / (2 : int 2..2) : int 0..1)][1] = y#3[1; 3][(i#0 : int 0..2)]
  }
}
",
    ));
}

#[test]
fn shifts_by_computed_counts() {
    agrees(&program(
        "fn f {
  param k: public int 3..12
  param x: u24
  ret r: [u24; 4]
  body { r#2 = ([(x#1 << (k#0 : int 3..12)), (x#1 >> (k#0 : int 3..12)), (x#1 <<< (k#0 : int 3..12)), (x#1 >>> (k#0 : int 3..12))] : [u24; 4]) }
}
",
    ));
}

const CALLS: &str = "fn g noinline {
  param a: [int 0..9; 2]
  param b: u8
  ret r: [int -3..5; 3]
  ret s: bool
  body {
    r#2 = repeat<[int -3..5; 3]>((5 : int 5..5))
    s#3 = true
  }
}
fn f {
  param c: public bool
  param x: [int 0..9; 2]
  ret r: int -3..5
  ret s: bool
  var t: [int -3..5; 3]
  var u: bool
  body {
    call (t#4, s#3) = g#f0(x#1, 1u8)
    if c#0 { call (t#4, u#5) = g#f0(x#1, 2u8) }
    r#2 = (t#4[2] : int -3..5)
    call (t#4, u#5) = g#f0(x#1, 1u8)
  }
}
";

#[test]
fn cut_calls_are_recorded() {
    let p = program(CALLS);
    let mut terms = Terms::new(32, SAMPLES);
    let made = inputs(&p, &mut terms, FuncId(1), Lengths::Symbolic, &mut Rng::new(1)).expect("inputs");
    let env = Env { cut: vec![FuncId(0)], ..Env::of(&made) };
    let mut source = Source::new(&p, &mut terms, &env);
    let results = source.run(FuncId(1), &made.lens, made.args.clone()).expect("executed");
    let calls = std::mem::take(&mut source.calls);
    let c = made.args[0].scalar().expect("a scalar");
    assert_eq!(calls.iter().map(|c| c.path).collect::<Vec<_>>(), [Terms::ONE, c, Terms::ONE]);
    // Lengths, then parameters, scalar by scalar; equal arguments give equal results.
    let x = made.args[1].flat(&mut terms).expect("scalars");
    let one = terms.int(1);
    assert_eq!(calls[0].flat, [x[0], x[1], one]);
    assert_eq!(calls[0].results, calls[2].results);
    assert_ne!(calls[0].results, calls[1].results);
    let (t, u) = (calls[0].results[0].flat(&mut terms).expect("3"), calls[1].results[0].flat(&mut terms).expect("3"));
    assert_eq!((t.len(), terms.range(t[2])), (3, ((-3).into(), 5.into())));
    assert_eq!(results[0].scalar(), Ok(terms.ite(c, u[2], t[2])));
    assert_eq!(results[1], calls[0].results[1]);
}

const RUN: &str = "struct P { a: u8, b: u16 }
fn f {
  len n: public int 0..1000
  param m: [P#s0; n#0 + 2]
  param i: public int 0..1
  ret r: [u16; 3]
  ret out: [u16; n#0]
  counter k: public int 0..1000
  body {
    out#4 = repeat<[u16; n#0]>(7u16)
    if ((n#0 : int 0..1000) > (3 : int 3..3)) {
      out#4[(i#2 : int 0..1)] = m#1[(i#2 : int 0..1)].1
      if ((i#2 : int 0..1) == (1 : int 1..1)) { out#4[0] = cast<u16>(m#1[(n#0 : int 0..1000)].0) }
      r#3 = out#4[0; 3]
    } else { r#3 = repeat<[u16; 3]>(m#1[1].1) }
    LOOP
  }
}
";

fn symbolic(p: &Program, env: &dyn Fn(&Inputs) -> Box<dyn Environment>) -> (Terms, Inputs, Result<Vec<Value>, Stop>) {
    let mut terms = Terms::new(32, SAMPLES);
    let made = inputs(p, &mut terms, FuncId(0), Lengths::Symbolic, &mut Rng::new(3)).expect("inputs");
    let env = env(&made);
    let done = Source::new(p, &mut terms, &*env).run(FuncId(0), &made.lens, made.args.clone());
    (terms, made, done)
}

#[test]
fn arrays_of_run_time_length() {
    let p = program(&RUN.replace("LOOP", ""));
    let (mut terms, made, done) = symbolic(&p, &|made| Box::new(Env::of(made)));
    let results = done.expect("executed");
    let r = results[0].flat(&mut terms).expect("scalars");
    let mut interp = Interp::new(&p);
    let mut seen = std::collections::BTreeSet::new();
    for (n, (lens, args)) in made.concrete.iter().enumerate() {
        let want = flat(&interp.call(FuncId(0), lens, args.clone()).expect("it runs")[0]);
        let got: Vec<_> = r.iter().map(|t| terms.sample(*t, n).clone()).collect();
        assert_eq!(got, want, "sample {n}, length {lens:?}");
        seen.insert(want);
    }
    assert!(seen.len() > 3 && terms.broken().is_none());
    // What was written has a number of its own.
    let number = results[1].flat(&mut terms).expect("a number");
    assert!(matches!(number[..], [n] if n != Terms::ZERO));
    assert_eq!(made.args[0].flat(&mut terms), Ok(vec![Terms::ZERO]));
}

/// Executes one round of any loop with a counter it invents, and forgets it.
struct OneRound {
    env: Env,
    /// Loops with constant bounds too.
    all: bool,
    seen: RefCell<Vec<(T, T)>>,
}

impl Environment for OneRound {
    fn cut(&self, func: FuncId) -> bool {
        self.env.cut(func)
    }
    fn read(&self, terms: &mut Terms, array: u32, index: T) -> T {
        self.env.read(terms, array, index)
    }
    fn cuts_loop(&self, _site: &Site<'_>) -> bool {
        self.all
    }
    fn run_loop<'a>(&self, source: &mut Source<'a>, site: &Site<'a>, state: &mut State) -> Result<(), Stop> {
        self.seen.borrow_mut().push((site.lo, site.hi));
        let mut after = state.clone();
        source.round(site, site.lo, &mut after)?;
        let some = source.terms.lt(site.lo, site.hi);
        source.join(some, &mut after, state)?;
        *state = after;
        Ok(())
    }
}

#[test]
fn loops_without_constant_bounds_are_left_to_the_environment() {
    let p = program(&RUN.replace("LOOP", "for k#5 in (2 : int 2..2) ..< (n#0 : int 0..1000) { r#3[2] = (r#3[2] + cast<u16>((k#5 : int 0..1000))) }"));
    let (_, _, stopped) = symbolic(&p, &|made| Box::new(Env::of(made)));
    assert_eq!(stopped, Err(Stop::Loop("f".into(), "k".into(), 0)));
    let (terms, made, done) = symbolic(&p, &|made| Box::new(OneRound { env: Env::of(made), all: false, seen: RefCell::default() }));
    let without = program(&RUN.replace("LOOP", ""));
    let results = done.expect("executed");
    let Value::Parts(r) = &results[0] else { panic!("{results:?}") };
    let mut interp = Interp::new(&without);
    for (n, (lens, args)) in made.concrete.iter().enumerate() {
        let want = flat(&interp.call(FuncId(0), lens, args.clone()).expect("it runs")[0])[2].clone();
        let more = if lens[0] > 2 { 2 } else { 0 };
        assert_eq!(*terms.sample(r[2].scalar().expect("a scalar"), n), (want + more) % 65536);
    }
}

#[test]
fn loops_with_constant_bounds_can_be_cut() {
    let p = program("fn f {\n  param x: u8\n  ret r: u8\n  counter i: public int 0..9\n  body {\n    r#1 = x#0\n    for i#2 in 0 ..< 9 { r#1 = (r#1 + 1u8) }\n  }\n}\n");
    for (all, added, cuts) in [(false, 9, 0), (true, 1, 1)] {
        let mut terms = Terms::new(32, SAMPLES);
        let made = inputs(&p, &mut terms, FuncId(0), Lengths::Symbolic, &mut Rng::new(3)).expect("inputs");
        let env = OneRound { env: Env::of(&made), all, seen: RefCell::default() };
        let r = Source::new(&p, &mut terms, &env).run(FuncId(0), &[], made.args.clone()).expect("executed")[0].scalar().expect("a scalar");
        let x = made.args[0].scalar().expect("a scalar");
        assert!((0..SAMPLES).all(|n| *terms.sample(r, n) == (terms.sample(x, n) + added) % 256));
        assert_eq!(env.seen.borrow().len(), cuts);
    }
}

#[test]
fn limits_end_an_execution() {
    let p = program("fn f {\n  param x: u8\n  ret r: u8\n  counter i: public int 0..1000000000\n  body {\n    r#1 = x#0\n    for i#2 in 0 ..< 1000000000 { r#1 = (r#1 + 1u8) }\n  }\n}\n");
    let mut terms = Terms::new(32, 1);
    let made = inputs(&p, &mut terms, FuncId(0), Lengths::Symbolic, &mut Rng::new(1)).expect("inputs");
    let env = Env::of(&made);
    let mut source = Source::new(&p, &mut terms, &env);
    source.limits.steps = 10_000;
    assert_eq!(source.run(FuncId(0), &[], made.args), Err(Stop::TooBig));
}

#[test]
fn samples_meet_the_preconditions() {
    let text = |clause: &str| program(&format!("fn f {{\n  param x: [int 0..200; 2]\n  param k: public int 0..20\n  ret r: int 0..400\n  requires {clause} \"it\"\n  body {{ r#2 = ((x#0[0] : int 0..200) + (x#0[1] : int 0..200) : int 0..400) }}\n}}\n"));
    let made = |p: &Program| inputs(p, &mut Terms::new(32, SAMPLES), FuncId(0), Lengths::Symbolic, &mut Rng::new(5)).expect("inputs");
    let p = text("((x#0[0] + x#0[1]) < 200)");
    let met = made(&p);
    assert!(met.valid);
    let mut sums: Vec<i64> = met.concrete.iter().map(|(_, a)| flat(&a[0]).iter().map(|v| i64::try_from(v).expect("small")).sum()).collect();
    assert!(sums.iter().all(|s| *s < 200), "{sums:?}");
    sums.dedup();
    assert!(sums.len() > 4, "{sums:?}");
    // Nothing meets it, and it is said.
    let none = made(&text("(x#0[0] > 200)"));
    assert!(!none.valid && none.concrete.len() == SAMPLES);
}

/// A range that a sample denies is never taken for a fact.
#[test]
fn wrong_ranges_stop_the_execution() {
    let p = program("fn f {\n  param x: int 0..9\n  ret r: int 0..18\n  body { r#1 = ((x#0 : int 0..9) + (x#0 : int 0..9) : int 0..17) }\n}\n");
    let stopped = compare(&p, &p, FuncId(0), Lengths::Fixed(&[]), SAMPLES).map(|_| ());
    assert!(matches!(stopped, Err(Stop::Sample(_))), "{stopped:?}");
}
