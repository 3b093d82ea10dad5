//! Programs that the judge must refuse, each beside a twin that differs where it matters and is accepted.

use santoku_num::Int;
use santoku_ir::{text, FuncId, LocalId, Program};
use santoku_judge::{Claims, Judge, NoSearch, Plan, Split};

fn parsed(source: &str) -> Program {
    text::parse(&format!("santoku-ir 1\n{source}")).unwrap_or_else(|e| panic!("{e}\n{source}"))
}

/// Judges all functions by one plan; the first refusal.
fn by(source: &str, plan: &Plan, modular: bool) -> Result<(), String> {
    let p = parsed(source);
    let judge = Judge::of(&p, &p, modular);
    let mut claims: Vec<Option<Claims>> = vec![];
    for id in 0..p.funcs.len() as u32 {
        let one = judge.function(FuncId(id), &claims, plan, &NoSearch).map_err(|e| format!("{}: {}", e.func, e.what))?;
        claims.push(Some(one));
    }
    Ok(())
}

/// The text with `@` refused with these words, whatever the plan, and accepted with the other one.
fn twins(source: &str, wrong: &str, right: &str, words: &str) {
    let plans = [Plan::default(), Plan { forms: true, ..Plan::default() }, Plan { callee: 1000, depth: 3, ..Plan::default() }];
    for plan in plans {
        let refusal = by(&source.replace('@', wrong), &plan, false).expect_err(&format!("accepted with {wrong}: {source}"));
        assert!(refusal.contains(words), "{refusal}\n{source}");
        by(&source.replace('@', right), &plan, false).unwrap_or_else(|e| panic!("refused with {right}: {e}\n{source}"));
    }
}

#[test]
fn every_kind_of_obligation_is_asked() {
    twins("fn f {\n param x: int 0..9\n ret r: int 0..12\n body { r#1 = (x#0 + @) }\n}", "4", "3", "is stored where");
    twins("fn f {\n param x: public int 0..9\n param a: [u8; @]\n ret r: u8\n body { r#2 = a#1[x#0] }\n}", "9", "10", "an index or slice");
    twins("fn f {\n param x: public int 0..@\n param a: u8\n ret r: u8\n body { r#2 = (a#1 << x#0) }\n}", "8", "7", "a shift count");
    twins("fn f {\n ret r: u8\n var v: [u8; 2]\n body {\n v#1[0] = 1u8\n r#0 = v#1[@]\n }\n}", "1", "0", "may be read before");
    twins("fn f {\n param x: public int 0..9\n ret r: u8\n body { if (x#0 < @) { r#1 = 1u8 } else { } }\n}", "9", "10", "may be left unwritten");
    twins("fn f {\n param x: int 0..9\n ret r: int 0..9\n ensures (#p r#1 < @) \"small\"\n body { r#1 = x#0 }\n}".replace("#p ", "").as_str(), "9", "10", "ensures");
    twins("fn g {\n param x: int 0..9\n ret r: int 0..9\n requires (x#0 < 5) \"x < 5\"\n body { r#1 = x#0 }\n}\nfn f {\n param y: int 0..9\n ret r: int 0..9\n body { call (r#1) = g#f0((y#0 @)) }\n}", "- 0", "& 3", "requires x < 5");
    twins("fn f {\n param x: int 0..9\n body { assert (x#0 < @) \"small\" }\n}", "9", "10", "an assertion");
}

/// Ranges inside clauses are judged by nobody: two readers of one clause must not read two elements.
#[test]
fn a_range_written_in_a_clause_says_nothing() {
    let f = "fn f {\n param i: public int @\n ret r: [int 0..9; 4]\n ensures (r#1[(i#0 : int 2..2)] == 7) \"seven\"\n body { r#1 = [0, 0, 7, 0] }\n}";
    twins(f, "0..3", "2..2", "ensures seven");
    let g = "fn f {\n param i: public int 0..3\n param a: [int 0..9; 4]\n ret r: int 7..7\n requires (a#1[(i#0 : int 2..2)] == 7) \"seven\"\n body { r#2 = a#1[2] }\n}";
    assert!(by(g, &Plan::default(), false).is_err(), "of a[2] nothing is required");
}

#[test]
fn an_inner_array_may_not_be_there() {
    let f = "fn f {\n len n: public int 0..3\n len m: public int 0..9\n param a: [[u8; n#0 - 5]; m#1]\n param b: [u8; 4]\n ret r: u8\n body { r#4 = b#3[@] }\n}";
    twins(f, "4", "3", "an index or slice");
}

#[test]
fn rounds_that_cannot_be_counted_are_refused() {
    let most = "170141183460469231731687303715884105727";
    let f = |body: &str| format!("fn f {{\n param b: [u8; 4]\n ret r: u8\n counter i: public int\n body {{ {body} }}\n}}");
    let half = "85070591730234615865843651857942052864";
    for body in [
        format!("r#1 = 0u8 for i#2 in -{half} ..< {half} {{ r#1 = b#0[100] }}"),
        format!("r#1 = 0u8 for i#2 in -{most} ..< -170141183460469231731687303715884105726 rev invariant (i#2 > -{most}) {{ r#1 = 1u8 }}"),
    ] {
        assert!(by(&f(&body), &Plan { steps: 1000, ..Plan::default() }, false).is_err(), "{body}");
    }
}

/// The first counter of a loop that runs down is below its upper bound, also where there is no round.
#[test]
fn the_first_counter_of_a_loop_without_rounds() {
    let f = "fn f {\n param lo: public int 5..6\n param hi: public int 3..4\n counter i: public int\n body { for i#2 in lo#0 ..< hi#1 @ invariant (i#2 >= 5) { } }\n}";
    twins(f, "rev", "", "an assertion or invariant");
}

#[test]
fn an_array_of_negative_length_is_refused() {
    let f = "fn f {\n len n: public int @\n ret r: u8\n body {\n if (repeat<[u8; n#0 - 5]>(0u8) == repeat<[u8; n#0 - 5]>(0u8)) { r#1 = 1u8 } else { r#1 = 0u8 }\n }\n}";
    twins(f, "0..9", "5..9", "an array of length");
}

#[test]
fn a_clause_without_a_value_is_refused() {
    twins("fn f {\n param a: [u8; 4]\n param i: public int 0..@\n ensures (a#0[i#1] >= 0) \"any\"\n body { }\n}", "9", "3", "an index or slice");
    twins("fn f {\n ensures @ \"truth\"\n body { }\n}", "5", "true", "no truth value");
}

/// That integers may be wide is no guess of a plan.
#[test]
fn wide_integers_are_a_matter_of_the_program() {
    let f = "fn f {\n param a: int 0..@\n ret r: u64\n body { r#1 = cast<u64>((a#0 * a#0)) }\n}";
    let (wide, narrow) = ("1267650600228229401496703205375", "18446744073709551615");
    twins(f, wide, narrow, "wider than 128 bits");
    assert_eq!(by(&f.replace('@', wide), &Plan::default(), true), Ok(()));
}

/// Guesses that name nothing, or ask for anything.
#[test]
fn a_plan_without_sense_is_no_harm() {
    let source = "fn f {\n param n: public int 0..9\n ret r: u8\n counter i: public int\n body { r#1 = 0u8 for i#2 in 0 ..< n#0 { r#1 = (r#1 + 1u8) } }\n}";
    let mut plan = Plan { forms: true, steps: u64::MAX, callee: u64::MAX, depth: u32::MAX, ..Plan::default() };
    for nr in 0..4 {
        plan.steady.insert(("f".into(), nr), vec![(LocalId(99), Int::from(1u8)), (LocalId(1), Int::from(1u8)), (LocalId(0), Int::from(-1i32))]);
        plan.splits.insert(("f".into(), nr), Split { local: LocalId(98), path: vec![7; 3], cuts: vec![Int::from(5u8), Int::from(-5i32)], statements: usize::MAX });
        plan.summarised.insert(("f".into(), nr));
    }
    plan.cases.insert(LocalId(97));
    let _ = by(source, &plan, false);
    assert!(by(source, &Plan::default(), false).is_ok());
}

/// A scalar that grows by another number than was guessed.
#[test]
fn a_wrong_guess_of_growth_is_refused() {
    let source = "fn f {\n param n: public int 0..9\n ret r: int 0..99\n counter i: public int\n body { r#1 = 0 for i#2 in 0 ..< n#0 { r#1 = ((r#1 + 2) & 63) } }\n}";
    for k in [0, 1, 2] {
        let mut plan = Plan { forms: true, ..Plan::default() };
        plan.steady.insert(("f".into(), 1), vec![(LocalId(1), Int::from(k))]);
        assert!(by(source, &plan, false).is_err_and(|e| e.contains("does not grow")), "by {k}");
    }
    assert!(by(source, &Plan { forms: true, ..Plan::default() }, false).is_ok());
}

/// What is judged is the source: ranges of variables and expressions may be added to it, and nothing else may differ.
#[test]
fn ranges_are_all_that_may_be_added_to_the_source() {
    let f = "struct P { x: u8 }\nconst K: [u8; 2] = [3, 4]\nfn f {\n param x: int 0..9\n ret r: int\n var v: int\n var w: int 0..20\n body {\n v#2 = (x#0 + 1)\n w#3 = v#2\n r#1 = (w#3 + v#2)\n }\n}";
    let source = parsed(f);
    // With the ranges that are missing, and one change.
    let accepts = |from: &str, to: &str| {
        let full = [("var v: int\n", "var v: int 0..10\n"), ("ret r: int\n", "ret r: int 1..20\n")].iter().fold(f.to_string(), |t, (a, b)| t.replacen(a, b, 1));
        assert!(full.contains(from), "{from}");
        Judge::of(&source, &parsed(&full.replacen(from, to, 1)), false).function(FuncId(0), &[], &Plan::default(), &NoSearch).map(|_| ()).map_err(|e| e.what)
    };
    assert_eq!(accepts("", ""), Ok(()));
    assert_eq!(accepts("var v: int 0..10", "var v: int 1..10"), Ok(()));
    let differ = [
        ("param x: int 0..9", "param x: int 0..5"),
        ("param x: int 0..9", "param x: int"),
        ("var w: int 0..20", "var w: int 0..30"),
        ("var w: int 0..20", "var w: int"),
        ("var v: int 0..10", "var v: u8"),
        ("(x#0 + 1)", "(x#0 + 0)"),
        ("w#3 = v#2\n", ""),
        ("{ x: u8 }", "{ x: u16 }"),
        ("[3, 4]", "[3, 5]"),
    ];
    for (from, to) in differ {
        assert_eq!(accepts(from, to), Err("it differs from the source in more than ranges".into()), "{from}: {to}");
    }
    assert!(accepts("var v: int 0..10", "var v: int 0..9").is_err_and(|e| e == "1..10 is stored where 0..9 is declared"), "an added range is judged");
}

/// Readers of an array look at the range of one element or at that of all: both must say the same.
#[test]
fn ranges_of_elements_add_up_to_that_of_all() {
    let text = |ty: &str| parsed(&format!("fn f {{\n ret r: {ty}\n body {{ r#0 = [5, 6] }}\n}}"));
    let source = text("[int; 2]");
    let judged = |p: &Program| Judge::of(&source, p, false).function(FuncId(0), &[], &Plan::default(), &NoSearch).map(|_| ()).map_err(|e| e.what);
    let with = |all: (i64, i64), each: &[(i64, i64)]| {
        let mut p = source.clone();
        let range = |(lo, hi): (i64, i64)| santoku_ir::Range::new(lo, hi);
        p.funcs[0].locals[0].ty = santoku_ir::Ty::Array { elem: Box::new(santoku_ir::Ty::Int(Some(range(all)))), len: santoku_ir::Len::Const(2), ranges: Some(each.iter().copied().map(range).collect()) };
        judged(&p)
    };
    assert_eq!(with((5, 6), &[(5, 5), (6, 6)]), Ok(()));
    for (all, each) in [((0, 0), &[(0, 9), (0, 9)][..]), ((5, 5), &[(5, 5), (6, 6)]), ((5, 5), &[(5, 5)]), ((5, 6), &[(5, 5), (6, 6), (5, 6)])] {
        assert_eq!(with(all, each), Err("it differs from the source in more than ranges".into()), "{all:?} {each:?}");
    }
}
