//! What C gets wrong most easily, one small program each; every program also with its C spoiled in one place, which must show.

mod support;

use santoku_backend_c::{emit, Options};
use santoku_ir::Program;
use santoku_lab::host::{HostError, HostProgram};
use santoku_skips::installed;
use support::{annotated, build, call, differing, edges, random, Mode, Subject, COMPILERS};

fn parse(text: &str) -> Program {
    let p = santoku_ir::text::parse(&format!("santoku-ir 1\n{text}")).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(santoku_ir::verify::verify(&p), vec![], "{text}");
    p
}

fn subject(name: &str, text: &str) -> Subject {
    let p = parse(text);
    let ranged = annotated(&p);
    Subject::new(name, p, ranged).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Calls of every function whose results differ, and all calls made.
fn wrong(compiler: &str, subjects: &[Subject], mode: Mode) -> Result<(usize, usize), HostError> {
    let mut calls = vec![];
    for (k, s) in subjects.iter().enumerate() {
        for (e, id) in s.entries.iter().enumerate() {
            let inputs = random(&s.program, *id, 40, 7).into_iter().chain(edges(&s.program, *id));
            calls.extend(inputs.map(|(lens, args)| call(subjects, k, e, &lens, args)));
        }
    }
    assert!(!calls.is_empty(), "a check of nothing");
    let program = build(compiler, subjects, mode)?;
    let wrong = differing(&program, &calls)?;
    wrong.iter().take(3).for_each(|c| println!("differs: {}", c.what()));
    Ok((wrong.len(), calls.len()))
}

/// The program computes what it should by every compiler here; with `from` replaced by `to` in its C it does not.
fn check(name: &str, text: &str, (from, to): (&str, &str)) {
    let mut ran = 0;
    for compiler in installed(&COMPILERS) {
        let (differ, calls) = wrong(compiler, &[subject(name, text)], Mode::Strict).unwrap_or_else(|e| panic!("{compiler}: {e}"));
        assert_eq!(differ, 0, "{name} by {compiler}: of {calls} calls");
        ran += 1;
    }
    assert!(ran > 0, "no compiler");
    let mut spoiled = subject(name, text);
    assert!(spoiled.mutate(from, to, 0), "{name}: no `{from}` in\n{}", spoiled.text());
    let (differ, _) = wrong("gcc", &[spoiled], Mode::Lenient).unwrap_or_else(|e| panic!("{e}"));
    assert!(differ > 0, "{name}: `{to}` for `{from}` is not seen");
}

#[test]
fn right_shifts_and_divisions_of_negative_values_round_down() {
    check(
        "floor",
        "fn f {
  param x: public int -70000..70000
  param y: int -1000000000000000000000000..1000000000000000000000000
  ret a: int -1100..1100
  ret b: int -2..0
  ret c: int -70000..70000
  ret d: int 0..9
  ret e: int -100000..100000
  ret g: int 0..63
  body {
    a#2 = (x#0 >> 6)
    b#3 = ((x#0 >> 40) + (x#0 >> 17))
    c#4 = (x#0 / 7)
    d#5 = (x#0 % 10)
    e#6 = (y#1 >> 64)
    g#7 = (y#1 % 64)
  }
}
",
        ("x >> 6", "x / 64"),
    );
}

#[test]
fn a_result_that_its_argument_still_feeds_is_copied() {
    let text = "fn reversed noinline {
  param x: [u32; 4]
  ret r: [u32; 4]
  counter i: public int
  body { for i#2 in 0 ..< 4 { r#1[i#2] = x#0[(3 - i#2)] } }
}
fn doubled noinline {
  param x: [u32; 4]
  ret r: [u32; 4]
  counter i: public int
  body { for i#2 in 0 ..< 4 { r#1[i#2] = (x#0[i#2] + x#0[i#2]) } }
}
fn both {
  param x: [u32; 4]
  ret r: [u32; 4]
  body {
    r#1 = x#0
    call (r#1) = reversed#f0([r#1[1], r#1[0], r#1[3], r#1[2]])
    call (r#1) = reversed#f0(r#1)
    call (r#1) = doubled#f1(r#1)
    r#1 = [r#1[2], r#1[3], r#1[0], r#1[1]]
  }
}
";
    check("alias", text, ("alias_reversed(tmp_2, r)", "alias_reversed(r, r)"));
    let s = subject("alias", text).text();
    assert!(s.contains("void alias_reversed(uint32_t *restrict r, const uint32_t *x)"), "{s}");
    assert!(s.contains("void alias_doubled(uint32_t *r, const uint32_t *x)") && s.contains("alias_doubled(r, r);"), "{s}");
}

#[test]
fn products_of_128_bits_are_whole() {
    check(
        "wide",
        "fn f {
  param x: u64
  param y: u64
  param v: int -9223372036854775808..9223372036854775807
  param w: int -9223372036854775808..9223372036854775807
  ret hi: u64
  ret lo: u64
  ret s: int -4611686018427387904..4611686018427387904
  ret t: int -4294967296..4294967295
  ret u: u128
  body {
    hi#4 = cast<u64>(((cast<int>(x#0) * cast<int>(y#1)) >> 64))
    lo#5 = cast<u64>(((cast<int>(x#0) * cast<int>(y#1)) & 18446744073709551615))
    s#6 = ((v#2 * w#3) >> 64)
    t#7 = (((v#2 * w#3) + cast<int>(x#0)) >> 95)
    u#8 = ((cast<u128>(x#0) * cast<u128>(y#1)) - cast<u128>(v#2))
  }
}
",
        (">> 64", ">> 63"),
    );
}

#[test]
fn narrow_stores_wrap_and_keep_their_sign() {
    check(
        "narrow",
        "fn f {
  param x: [u8; 5]
  param y: u7
  param k: public int 0..7
  param s: [int -128..127; 3]
  ret r: [u8; 5]
  ret q: u7
  ret t: [int -128..127; 3]
  ret m: int -384..381
  counter i: public int
  body {
    for i#8 in 0 ..< 5 { r#4[i#8] = ((x#0[i#8] * x#0[(4 - i#8)]) - (x#0[0] <<< k#2)) }
    q#5 = ((y#1 * 0x55u7) + not(y#1))
    q#5 = (q#5 >>> 3)
    for i#8 in 0 ..< 3 { t#6[i#8] = (-1 - s#3[i#8]) }
    m#7 = ((t#6[0] + t#6[1]) + s#3[2])
  }
}
",
        ("* (uint32_t)x", "+ (uint32_t)x"),
    );
}

#[test]
fn selections_of_every_width_take_the_right_side() {
    check(
        "select",
        "struct Pair { w: u128, v: [int -5..70000; 3] }
fn f {
  param c: bool
  param a: u128
  param b: u128
  param x: int -100000000000000000000000000000000..100000000000000000000000000000000
  param y: int -3..3
  param p: Pair#s0
  param q: Pair#s0
  param d: [u16; 4]
  ret r: u128
  ret s: int -100000000000000000000000000000000..100000000000000000000000000000000
  ret t: Pair#s0
  ret e: [u16; 4]
  ret n: u64
  body {
    r#8 = select((c#0 ^ (a#1 < b#2)), a#1, b#2)
    s#9 = select((x#3 < y#4), x#3, y#4)
    t#10 = select(c#0, p#5, q#6)
    e#11 = select(not(c#0), d#7, [1u16, 2u16, 3u16, d#7[0]])
    n#12 = select((y#4 <= -1), 0xffffffff00000000u64, cast<u64>(a#1))
  }
}
",
        ("stk_select_lt_u128(a, b)", "stk_select_lt_u128(b, a)"),
    );
}

#[test]
fn arrays_of_different_ranges_are_compared_by_value() {
    check(
        "equal",
        "fn f {
  param a: [int 0..255; 2]
  param b: [int -1..70000; 2]
  param u: [int 0..18446744073709551615; 1]
  param v: [int -9223372036854775808..9223372036854775807; 1]
  param w: [u128; 2]
  param x: int 0..400
  ret r: [bool; 6]
  body {
    r#6 = [(a#0 == b#1), (a#0 != [x#5, 255]), (u#2 == v#3), (v#3 == [-1]), (w#4 == [0u128, 0x80000000000000000000000000000000u128]), ([x#5, 368] == a#0)]
  }
}
",
        ("^ 1u", "^ 0u"),
    );
}

#[test]
fn rotations_by_a_variable_public_count() {
    check(
        "rotate",
        "fn f {
  param x: [u128; 2]
  param y: u8
  param z: u33
  param k: public int 0..7
  ret r: [u128; 2]
  ret s: u8
  ret t: u33
  body {
    r#4 = [(x#0[0] <<< k#3), (x#0[1] >>> (k#3 + 120))]
    s#5 = (y#1 <<< k#3)
    t#6 = (z#2 >>> k#3)
  }
}
",
        ("y << k", "y >> k"),
    );
}

#[test]
fn bounds_are_those_before_the_first_round() {
    check(
        "bounds",
        "fn f {
  param p: public int 0..7
  param a: [u32; 8]
  ret r: u32
  var m: public int 0..7
  counter i: public int
  counter j: public int
  body {
    m#3 = p#0
    r#2 = 0u32
    for i#4 in 0 ..< m#3 {
      m#3 = (m#3 & 3)
      r#2 = (r#2 + a#1[i#4])
    }
    for j#5 in m#3 ..< 8 rev {
      m#3 = ((m#3 + j#5) & 7)
      r#2 = ((r#2 <<< 3) ^ a#1[j#5])
    }
  }
}
",
        ("r = r + a", "r = r - a"),
    );
}

/// The sanitizers are on and end the program.
#[test]
fn a_product_in_too_narrow_a_type_is_reported() {
    let text = "fn f {
  param x: int -2147483648..2147483647
  param y: int -2147483648..2147483647
  ret r: int -4611686018427387904..4611686018427387904
  body { r#2 = (x#0 * y#1) }
}
";
    let mut s = subject("narrow", text);
    assert_eq!(wrong("gcc", &[subject("narrow", text)], Mode::Strict).ok().map(|w| w.0), Some(0));
    assert!(s.mutate("(int64_t)x * (int64_t)y", "(int64_t)(x * y)", 0), "{}", s.text());
    match wrong("gcc", &[s], Mode::Strict) {
        Err(HostError::Crashed { stderr, .. }) => assert!(stderr.contains("signed integer overflow"), "{stderr}"),
        other => panic!("{other:?}"),
    }
}

/// Each type is defined once, in the header where that names it, whether entries are exported or only not called.
#[test]
fn structs_and_wide_words_in_an_interface_compile() {
    let text = "struct Pair { w: u128, v: [u32; 2] }
fn f NAME {
  param p: Pair#s0
  ret r: u128
  body { r#1 = p#0.0 }
}
";
    for name in ["export \"unit_f\"", ""] {
        let p = annotated(&parse(&text.replace("NAME", name)));
        let out = emit(&p, &Options::new("unit", None)).unwrap_or_else(|e| panic!("{e}"));
        assert!(out.header.contains("} Pair;") && !out.source.contains("} Pair;"), "{}", out.source);
        assert!(out.header.contains("typedef unsigned __int128 stk_u128;"), "{}", out.header);
        let files = [("unit.c", out.source.as_str()), ("unit.h", &out.header)];
        HostProgram::build("gcc", &["-std=c99", "-Wall", "-Wextra", "-Werror", "-c"], &files).unwrap_or_else(|e| panic!("{e}"));
    }
    let p = annotated(&parse(&text.replace("NAME", "")));
    let own = Options { export: false, ..Options::new("unit", None) };
    let out = emit(&p, &own).unwrap_or_else(|e| panic!("{e}"));
    assert!(out.source.contains("} Pair;") && !out.header.contains("Pair") && !out.header.contains("stk_u128"), "{}", out.header);
}

/// Documentation stays inside its comment.
#[test]
fn documentation_cannot_end_its_comment() {
    let mut p = annotated(&parse("fn f export \"unit_f\" {\n  param x: u32\n  ret r: u32\n  body { r#1 = x#0 }\n}\n"));
    p.funcs[0].doc = "ends here */\n#error out /* and in\n".into();
    let out = emit(&p, &Options::new("unit", None)).unwrap_or_else(|e| panic!("{e}"));
    let files = [("unit.c", out.source.as_str()), ("unit.h", &out.header)];
    HostProgram::build("gcc", &["-std=c99", "-Wall", "-Wextra", "-Werror", "-c"], &files).unwrap_or_else(|e| panic!("{e}"));
}
