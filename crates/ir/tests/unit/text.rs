//! Round trips of generated and of odd programs; refusals that name the line.

use santoku_ir::text::*;
use santoku_ir::build::FuncBuilder;
use santoku_ir::data::*;
use santoku_ir::gen;
use santoku_ir::interp::{Interp, Options};
use santoku_ir::spec::*;
use santoku_ir::ty::*;
use proptest::prelude::*;

fn round_trip(program: &Program) -> String {
    let text = print(program);
    match parse(&text) {
        Ok(again) if again == *program => text,
        Ok(again) => panic!("another program came back:\n{text}\n---\n{}", print(&again)),
        Err(e) => panic!("{e}\n{text}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_programs_round_trip(seed in any::<u64>(), rich in any::<bool>()) {
        let config = if rich { gen::Config::all() } else { gen::Config::default() };
        round_trip(&gen::program_with(seed, &config));
    }

    #[test]
    fn what_comes_back_runs_alike(seed in any::<u64>()) {
        let program = gen::program(seed);
        let again = parse(&print(&program)).expect("round trip");
        let main = gen::entry(&program);
        let (lens, args) = gen::args(&program, main, seed);
        let run = |p: &Program| Interp::with_options(p, Options::checked()).call(main, &lens, args.clone());
        prop_assert_eq!(run(&program), run(&again));
    }

    /// A text with a piece cut out, doubled or replaced is refused or is another program; it never panics.
    #[test]
    fn damaged_text_is_refused_in_order(seed in 0u64..50, at in any::<u32>(), len in 0usize..12, by in ".{0,3}") {
        let text = print(&gen::program(seed));
        let mut from = at as usize % text.len();
        while !text.is_char_boundary(from) {
            from -= 1;
        }
        let mut to = (from + len).min(text.len());
        while !text.is_char_boundary(to) {
            to -= 1;
        }
        let damaged = format!("{}{by}{}", &text[..from], &text[to.max(from)..]);
        if let Ok(p) = parse(&damaged) {
            prop_assert_eq!(parse(&print(&p)), Ok(p.clone()));
            let _ = santoku_ir::verify::verify(&p);
        }
    }

    #[test]
    fn any_text_is_refused_in_order(noise in "[-a-z0-9#@(){}\\[\\]<>:;,.\"=+ \n]{0,60}") {
        let _ = parse(&format!("santoku-ir 1\nfn f {{ body {{ {noise}"));
        let _ = parse(&noise);
    }
}

fn loc(file: u32, line: u32, col: u32, start: u32, end: u32) -> Loc {
    Loc { file, line, col, start, end }
}

/// Everything the generator does not make.
fn odd() -> Program {
    let int = |v: i64| Box::new(SpecExpr::Int(v.into()));
    let var = |v: u32| Box::new(SpecExpr::Var(v));
    let mut p = Program { files: vec!["a \"quoted\"\\\n.stk".into(), "ü.stk".into()], ..Program::default() };
    p.add_struct("P$1", vec![("x".into(), Ty::Int(None)), ("0".into(), Ty::Bool)]);
    p.add_struct("has space", vec![]);
    let pair = ConstValue::Struct(vec![ConstValue::int(-5), ConstValue::int(1)]);
    let ty = Ty::array(Ty::Struct(StructId(0)), 1);
    p.consts.push(Const { name: "K.a".into(), ty, value: ConstValue::Array(vec![pair]), loc: loc(1, 2, 3, 0, 0) });
    p.add_const("T", Ty::array(Ty::Word(8), 40), ConstValue::ints(0..40u8));
    let bodies = vec![
        SpecExpr::Let(1, int(3), Box::new(SpecExpr::Bin(SpecOp::Pow, var(0), var(1)))),
        SpecExpr::Sum { slot: 1, lo: int(0), hi: Box::new(SpecExpr::Len(var(0))), body: Box::new(SpecExpr::Index(var(0), var(1))) },
        SpecExpr::Forall { slot: 1, lo: int(-1), hi: int(2), body: Box::new(SpecExpr::Not(Box::new(SpecExpr::Bool(false)))) },
        SpecExpr::If(Box::new(SpecExpr::Bool(true)), Box::new(SpecExpr::Neg(var(0))), Box::new(SpecExpr::Field(var(0), 2))),
        SpecExpr::Congruent(var(0), Box::new(SpecExpr::Call(SpecId(0), vec![*int(1)])), int(7)),
        SpecExpr::Implies(
            Box::new(SpecExpr::And(Box::new(SpecExpr::Cmp(CmpOp::Ne, var(0), int(1))), Box::new(SpecExpr::Bool(true)))),
            Box::new(SpecExpr::Or(Box::new(SpecExpr::Bool(true)), Box::new(SpecExpr::Bool(false)))),
        ),
        SpecExpr::Array(vec![SpecExpr::Place(Place::constant(ConstId(0)).at(0).field(1)), *int(0)]),
        SpecExpr::Bin(SpecOp::Xor, Box::new(SpecExpr::Bin(SpecOp::And, var(0), int(6))), Box::new(SpecExpr::Bin(SpecOp::Or, int(1), var(1)))),
        SpecExpr::Array(vec![]),
    ];
    for body in bodies {
        let spec = SpecFn { name: "sp".into(), params: vec!["x".into(), "two words".into()], body, loc: loc(0, 1, 1, 5, 9) };
        p.specs.push(spec);
    }
    let mut b = FuncBuilder::new(&p, "curve.ed25519.add$16");
    let n = b.len("n");
    let x = b.param("x", Ty::Array { elem: Box::new(Ty::Word(8)), len: Len::Param { param: n, add: -3 }, ranges: None });
    let y = b.param("for", Ty::Array { elem: Box::new(Ty::Word(1)), len: Len::Param { param: n, add: i64::MIN }, ranges: None });
    b.ret("r", Ty::Word(8));
    let noted = Expr::new(ExprKind::Read(Place::local(n)), Ty::Int(Some(Range::new(-4, 9))));
    let wrong = Expr::new(ExprKind::Read(Place::local(LocalId(99)).field(3)), Ty::Word(0));
    let empty = Expr::array(&Ty::Bool, vec![]);
    let bad_const = Expr::new(ExprKind::Const((-7).into()), Ty::Bool);
    for e in [noted.clone(), wrong, empty, bad_const, Expr::word(128, -1), Expr::new(ExprKind::Const(1.into()), Ty::Struct(StructId(5)))] {
        b.push(Stmt::Assign { dst: Place::local(x).index(noted.clone()), src: e, loc: loc(0, 9, 9, 1, 2) });
    }
    let invariants = vec![Expr::bool(true), Expr::cmp(CmpOp::Lt, Expr::int(1), Expr::int(2))];
    let at = loc(0, 4, 4, 0, 0);
    let inner = vec![Stmt::If { cond: Expr::bool(false), then: vec![], els: vec![Stmt::assert(Expr::bool(true), "\"")], loc: at }];
    b.push(Stmt::For { var: n, lo: Expr::int(-1), hi: noted, rev: true, unroll: Unroll::Never, invariants, body: inner, loc: at });
    b.call(vec![Place::local(y), Place::constant(ConstId(1))], FuncId(7), vec![Expr::int(1), -Expr::int(2)], vec![]);
    b.contract(ContractKind::Requires, SpecExpr::Place(Place::local(x).slice(Expr::int(1), 4)), "a\tb");
    let mut f = b.finish();
    f.export = Some("crypto_sign".into());
    f.inline = Inline::Never;
    f.declassifies = true;
    f.applies = Some(Applies::Table(ConstId(0)));
    f.doc = "Two\nlines.".into();
    f.params.reverse();
    f.rets.clear();
    f.loc = loc(3, 2, 1, u32::MAX, 0);
    f.locals[1].public = true;
    f.locals[1].loc = at;
    p.add_func(f.clone());
    f.name = "permuted".into();
    f.applies = Some(Applies::Perm(ConstId(1)));
    p.add_func(f.clone());
    f.name = "applied".into();
    f.applies = Some(Applies::Each);
    p.add_func(f);
    p.add_test("RFC 8032, \"7.1\"", FuncId(0));
    p
}

#[test]
fn odd_programs_round_trip() {
    round_trip(&odd());
    round_trip(&Program::default());
}

#[test]
fn the_text_is_readable() {
    let mut p = Program::default();
    let mut b = FuncBuilder::new(&p, "sum");
    let n = b.len("n");
    let x = b.param("x", Ty::Array { elem: Box::new(Ty::Word(8)), len: Len::Param { param: n, add: 1 }, ranges: None });
    let (r, i) = (b.ret("r", Ty::Word(8)), b.counter("i"));
    b.assign(Place::local(r), Expr::word(8, 0));
    let e = b.get(r) + b.read(Place::local(x).index(Expr::int_local(i))).rotl(3);
    let body = vec![Stmt::assign(Place::local(r), e)];
    b.push(Stmt::for_range(i, Expr::int(0), Expr::int_local(n) + Expr::int(1), body));
    let f = b.finish();
    p.add_func(f);
    let expect = "\
santoku-ir 1
fn sum {
  len n: public int 0..2147483647
  param x: [u8; n#0 + 1]
  ret r: u8
  counter i: public int
  body {
    r#2 = 0u8
    for i#3 in 0 ..< (n#0 + 1) {
      r#2 = (r#2 + (x#1[i#3] <<< 3))
    }
  }
}
";
    assert_eq!(print(&p), expect);
}

#[test]
fn refusals_name_line_and_reason() {
    let refused = |text: &str| parse(text).expect_err("this is no program").to_string();
    assert_eq!(refused(""), "line 1: `santoku` is expected");
    assert_eq!(refused("santoku-ir 2"), "line 1: this version of the text form is not known");
    let body = |s: &str| format!("santoku-ir 1\nfn f {{\n  var x: int\n  body {{\n    {s}\n  }}\n}}\n");
    assert_eq!(refused(&body("x#0 = (1 + )")), "line 5: an expression is expected");
    assert_eq!(refused(&body("y#0 = 1")), "line 5: this is called x, not y");
    assert_eq!(refused(&body("x#0 = []")), "line 5: the type of this does not follow from its parts: write `(e : type)`");
    assert_eq!(refused(&body("x#0 = (1 + [] : int)")).split(':').next(), Some("line 5"));
    assert_eq!(refused(&body("x#0 = (1)")), "line 5: an operator is expected");
    assert_eq!(refused(&body("x#0 = 1 \"")), "line 5: a text does not end in its line");
    assert_eq!(refused(&body("x#0.4294967296 = 1")), "line 5: a number below 2^32 is expected");
    assert_eq!(refused(&body("x#0 = é")), "line 5: this character has no meaning here");
    let deep = format!("x#0 = {}1{}", "neg(".repeat(100_000), ")".repeat(100_000));
    assert_eq!(refused(&body(&deep)), "line 5: this nests too deeply");
    let blocks = format!("{}{}", "if true { ".repeat(100_000), "}".repeat(100_000));
    assert_eq!(refused(&body(&blocks)), "line 5: this nests too deeply");
    let long = format!("x#0 = {}", "9".repeat(30_000));
    assert_eq!(refused(&body(&long)), "line 5: this number has too many digits");
}

#[test]
fn names_beside_references_are_checked_where_known() {
    let text = "santoku-ir 1\nconst K: u8 = 1\nfn f {\n  var x: u8\n  body {\n    x#0 = WHO#c0\n  }\n}\n";
    assert_eq!(parse(text).expect_err("K is not WHO").to_string(), "line 6: this is called K, not WHO");
    assert!(parse(&text.replace("WHO", "K")).is_ok());
    assert!(parse(&text.replace("WHO", "")).is_ok());
}

/// A test with cases in a file has a parameter for each field, and says so in its text.
#[test]
fn tests_with_cases_round_trip_and_are_checked() {
    let text = "santoku-ir 1\nfn t {\n  len n: public int 0..9\n  param m: [u8; n#0]\n  body {\n  }\n}\ntest \"W\" t#f0 from \"x.json\" \"msg\"\n";
    let program = parse(text).unwrap_or_else(|e| panic!("{e}"));
    let cases = program.tests[0].cases.as_ref().expect("cases");
    assert_eq!((cases.file.as_str(), cases.fields.as_slice()), ("x.json", &["msg".to_string()][..]));
    assert_eq!(parse(&santoku_ir::text::print(&program)).expect("it parses"), program);
    assert_eq!(santoku_ir::verify::verify(&program), vec![]);
    let mut fewer = program.clone();
    fewer.tests[0].cases.as_mut().expect("cases").fields.clear();
    let mut none = program;
    none.tests[0].cases = None;
    for wrong in [fewer, none] {
        assert_eq!(santoku_ir::verify::verify(&wrong).iter().filter(|e| e.code == "test").count(), 1);
    }
}

#[test]
fn the_example_of_the_documentation_is_a_program() {
    let doc: Vec<&str> = include_str!("../../src/text/mod.rs").lines().filter_map(|l| l.strip_prefix("//! ")).collect();
    let example = doc.split(|l| l.starts_with("```")).nth(1).expect("an example");
    let program = parse(&example.join("\n")).expect("it parses");
    assert_eq!(santoku_ir::verify::verify(&program), vec![]);
    let mut interp = Interp::with_options(&program, Options::checked());
    assert_eq!(interp.run_test(&program.tests[0]), Ok(()));
    assert_eq!((interp.stats().asserts, interp.stats().contracts), (1, 1));
}
