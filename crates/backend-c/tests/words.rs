//! Words in bytes: the form that the language gives them is printed as one helper, and computes what the interpreter computes;
//! any other form is printed as it stands.

mod support;

use santoku_backend_c::{emit, Options};
use santoku_ir::build::FuncBuilder;
use santoku_ir::*;
use santoku_skips::installed;
use support::{annotated, build, call, differing, edges, random, Mode, Subject, COMPILERS};

const LENGTH: u64 = 24;

fn shift(bytes: u64, k: u64, little: bool) -> u32 {
    8 * if little { k } else { bytes - 1 - k } as u32
}

/// `r = le32(b, at)` or the like; `at` is a parameter or a constant.
fn load(bytes: u64, little: bool, at: Option<u64>, swapped: bool) -> Func {
    let p = Program::default();
    let word = Ty::Word(8 * bytes as u32);
    let mut b = FuncBuilder::new(&p, format!("load_{}{}{}", if little { "le" } else { "be" }, 8 * bytes, at.map_or("i".into(), |a| a.to_string())));
    let bs = b.param("b", Ty::array(Ty::Word(8), LENGTH));
    let i = b.local(LocalKind::Param, "i", Ty::Int(Some(Range::new(0, LENGTH - bytes))), true);
    let r = b.ret("r", word.clone());
    let index = |k: u64| match at {
        Some(at) => Expr::int(at + k),
        None if k == 0 => Expr::int_local(i),
        None => Expr::int_local(i) + Expr::int(k),
    };
    let term = |s: u32| {
        let mut k = (0..bytes).find(|k| shift(bytes, *k, little) == s).unwrap_or(0);
        if swapped && k < 2 {
            k = 1 - k;
        }
        let byte = Expr::read(Place::local(bs).index(index(k)), &Ty::Word(8)).cast(word.clone());
        if s == 0 { byte } else { byte.shl(s) }
    };
    let e = (1..bytes).fold(term(0), |low, j| term(8 * j as u32) | low);
    b.assign(Place::local(r), e);
    b.finish()
}

/// `r = b` and `le32(r, i) = w`. `twisted`: two bytes change places.
fn store(bytes: u64, little: bool, twisted: bool) -> Func {
    let p = Program::default();
    let word = Ty::Word(8 * bytes as u32);
    let mut b = FuncBuilder::new(&p, format!("store_{}{}", if little { "le" } else { "be" }, 8 * bytes));
    let bs = b.param("b", Ty::array(Ty::Word(8), LENGTH));
    let i = b.local(LocalKind::Param, "i", Ty::Int(Some(Range::new(0, LENGTH - bytes))), true);
    let w = b.param("w", word.clone());
    let r = b.ret("r", Ty::array(Ty::Word(8), LENGTH));
    let whole = b.get(bs);
    b.assign(Place::local(r), whole);
    for k in (0..bytes).rev() {
        let s = shift(bytes, if twisted && k < 2 { 1 - k } else { k }, little);
        let at = if k == 0 { Expr::int_local(i) } else { Expr::int_local(i) + Expr::int(k) };
        let v = Expr::read(Place::local(w), &word);
        let v = if s == 0 { v } else { v.shr(s) };
        b.assign(Place::local(r).index(at), v.cast(Ty::Word(8)));
    }
    b.finish()
}

fn all() -> Program {
    let mut p = Program::default();
    for bytes in [2, 4, 8] {
        for little in [true, false] {
            for at in [None, Some(0), Some(5)] {
                p.add_func(load(bytes, little, at, false));
            }
            p.add_func(store(bytes, little, false));
        }
    }
    assert_eq!(verify::verify(&p), vec![]);
    p
}

fn text(f: Func) -> String {
    let mut p = Program::default();
    p.add_func(f);
    let mut made = annotated(&p);
    made.funcs[0].export = Some("f".into());
    let out = emit(&made, &Options::new("unit", None)).unwrap_or_else(|e| panic!("{e}"));
    out.source
}

#[test]
fn loads_and_stores_are_one_helper_each_and_right() {
    let p = all();
    let source = Subject::new("words", p.clone(), annotated(&p)).unwrap_or_else(|e| panic!("{e}"));
    for bits in [16, 32, 64] {
        for order in ["le", "be"] {
            assert_eq!(source.text().matches(&format!("stk_words_load_{order}{bits}(")).count(), 4, "{}", source.text());
            assert_eq!(source.text().matches(&format!("stk_words_store_{order}{bits}(")).count(), 2, "{}", source.text());
        }
    }
    let subjects = [source];
    let mut calls = vec![];
    for (e, id) in subjects[0].entries.iter().enumerate() {
        let inputs = random(&subjects[0].program, *id, 40, 7).into_iter().chain(edges(&subjects[0].program, *id));
        calls.extend(inputs.map(|(lens, args)| call(&subjects, 0, e, &lens, args)));
    }
    assert!(!calls.is_empty(), "a check of nothing");
    for compiler in installed(&COMPILERS) {
        let program = build(compiler, &subjects, Mode::Strict).unwrap_or_else(|e| panic!("{compiler}: {e}"));
        let wrong = differing(&program, &calls).unwrap_or_else(|e| panic!("{compiler}: {e}"));
        assert!(wrong.is_empty(), "{compiler}: {}", wrong[0].what());
    }
}

#[test]
fn a_form_with_two_bytes_exchanged_is_no_word() {
    for bytes in [4, 8] {
        for little in [true, false] {
            let loaded = text(load(bytes, little, None, true));
            assert!(!loaded.contains("stk_load") && loaded.contains("<<"), "{loaded}");
            let stored = text(store(bytes, little, true));
            assert!(!stored.contains("stk_store") && stored.contains(">>"), "{stored}");
        }
    }
    // Of two bytes exchanged the other order is left.
    assert!(text(load(2, true, None, true)).contains("stk_load_be16("));
    assert!(text(store(2, true, true)).contains("stk_store_be16("));
}
