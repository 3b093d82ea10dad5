//! Programs whose C was wrong once, each by the name of what went wrong.

mod support;

use santoku_ir::interp::{Int, Value};
use santoku_skips::installed;
use support::{annotated, build, call, differing, edges, random, Call, Mode, Subject, COMPILERS};

fn subject(name: &str, text: &str, widest: u32) -> Result<Subject, santoku_backend_c::EmitError> {
    let p = santoku_ir::text::parse(&format!("santoku-ir 1\n{text}")).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(santoku_ir::verify::verify(&p), vec![], "{text}");
    let ranged = annotated(&p);
    Subject::on(name, p, ranged, widest)
}

/// Both compilers, sanitizers on, give what the interpreter gives; on lengths and integers of the caller where inputs at
/// random would run for ever.
fn sound(name: &str, text: &str, widest: u32, inputs: &[(&[u64], &[i128])]) -> String {
    let s = [subject(name, text, widest).unwrap_or_else(|e| panic!("{name}: {e}"))];
    let mut calls: Vec<Call> = vec![];
    for (e, id) in s[0].entries.iter().enumerate() {
        let given = inputs.iter().map(|(lens, ints)| (lens.to_vec(), ints.iter().map(|v| Value::Int(Int::from(*v))).collect()));
        let drawn = random(&s[0].program, *id, 30, 7).into_iter().chain(edges(&s[0].program, *id)).filter(|_| inputs.is_empty());
        calls.extend(given.chain(drawn).map(|(lens, args)| call(&s, 0, e, &lens, args)));
    }
    let mut ran = 0;
    for compiler in installed(&COMPILERS) {
        let program = build(compiler, &s, Mode::Strict).unwrap_or_else(|e| panic!("{e}"));
        let wrong = differing(&program, &calls).unwrap_or_else(|e| panic!("{name} by {compiler}: {e}\n{}", s[0].text()));
        assert!(wrong.is_empty(), "{name} by {compiler}: {}\n{}", wrong[0].what(), s[0].text());
        ran += 1;
    }
    assert!(ran > 0, "no compiler");
    s[0].text()
}

/// `for i in lo ..< hi`, folded into `y` and counted so that a round too many is out of bounds.
fn loop_text(params: &str, of: u32, bounds: &str) -> String {
    let (rounds, i, first) = (of + 1, of + 2, bounds.split(" ..<").next().expect("a bound"));
    format!(
        "fn f {{
  {params}
  ret y: u64
  ret r: [u8; 16]
  counter i: public int
  body {{
    y#{of} = 1u64
    r#{rounds} = repeat<[u8; 16]>(0u8)
    for i#{i} in {bounds} rolled {{
      y#{of} = ((y#{of} * 3u64) + cast<u64>(i#{i}))
      r#{rounds}[(i#{i} - {first})] = 1u8
    }}
  }}
}}
"
    )
}

#[test]
fn reversed_loops_whose_last_bound_may_be_negative_end() {
    let to = loop_text("param hi: public int -1..2147483653", 1, "0 ..< hi#0 rev");
    sound("to", &to, 128, &[(&[], &[-1]), (&[], &[0]), (&[], &[3]), (&[], &[16])]);
    let length = loop_text("len n: public int 0..2147483647", 1, "0 ..< ((n#0 + n#0) - 5) rev");
    sound("length", &length, 64, &[(&[0], &[]), (&[2], &[]), (&[3], &[]), (&[7], &[])]);
}

#[test]
fn reversed_loops_down_to_the_least_value_of_a_type_do_not_step_below_it() {
    for (name, least) in [("of32", -(1i128 << 31)), ("of64", -(1i128 << 63))] {
        let params = format!("param lo: public int {least}..{0}\n  param hi: public int {least}..{0}", least + 5);
        let inputs: Vec<[i128; 2]> = vec![[least, least], [least, least + 5], [least + 3, least + 1]];
        let inputs: Vec<(&[u64], &[i128])> = inputs.iter().map(|i| (&[][..], &i[..])).collect();
        sound(name, &loop_text(&params, 2, "lo#0 ..< hi#1 rev"), 64, &inputs);
        sound(&format!("constant{name}"), &loop_text("", 0, &format!("{least} ..< {} rev", least + 4)), 64, &[(&[], &[])]);
    }
}

#[test]
fn loops_that_start_beyond_the_type_of_their_values_make_no_round() {
    for lo in [0, -1] {
        let params = format!("param lo: public int {lo}..8589934592\n  param hi: public int 0..5");
        for bounds in ["lo#0 ..< hi#1", "lo#0 ..< hi#1 rev"] {
            let inputs: [(&[u64], &[i128]); 4] = [(&[], &[4294967296, 3]), (&[], &[8589934592, 5]), (&[], &[1, 3]), (&[], &[lo, 0])];
            sound("beyond", &loop_text(&params, 2, bounds), 128, &inputs);
        }
    }
}

#[test]
fn quotients_and_remainders_next_to_the_ends_of_a_type_do_not_overflow() {
    let text = "fn f {
  param x: public int -2147483648..2147483647
  param y: public int -9223372036854775808..9223372036854775807
  param z: public int -170141183460469231731687303715884105728..170141183460469231731687303715884105727
  ret a: int -306783379..306783379
  ret b: int 0..2147483646
  ret c: int -2..1
  ret d: int -922337203685477581..922337203685477581
  ret e: int 0..9223372036854775781
  ret f: int 0..170141183460469231731687303715884105726
  ret g: int -17014118346046923173168730371588410573..17014118346046923173168730371588410573
  body {
    a#3 = (x#0 / 7)
    b#4 = (x#0 % 2147483647)
    c#5 = (x#0 / 2147483647)
    d#6 = (y#1 / 10)
    e#7 = (y#1 % 9223372036854775782)
    f#8 = (z#2 % 170141183460469231731687303715884105727)
    g#9 = (z#2 / 10)
  }
}
";
    sound("divisions", text, 128, &[]);
}

#[test]
fn shifts_of_minus_one_into_the_sign_need_no_wider_type() {
    let text = "fn f {
  param x: int 0..1
  ret a: int -2147483648..0
  ret b: int -9223372036854775808..0
  ret c: int 0..5
  body {
    a#1 = (neg(x#0) << 31)
    b#2 = (neg(x#0) << 63)
    c#3 = (x#0 & 1361129467683753853853498429727072845823)
  }
}
";
    sound("shifts", text, 64, &[]);
}

#[test]
fn the_least_integer_of_128_bits_is_no_negated_literal() {
    let text = "fn f {
  param x: int -170141183460469231731687303715884105728..5
  param c: bool
  ret r: int -170141183460469231731687303715884105728..5
  body { r#2 = select(c#1, x#0, -170141183460469231731687303715884105728) }
}
";
    sound("least", text, 128, &[]);
}

#[test]
fn a_selection_between_parts_of_its_destination_reads_them_first() {
    let text = "struct S { a: [u32; 4], b: u32, m: [[u8; 2]; 3] }
fn f {
  param x: [u8; 8]
  param s: S#s0
  param c: bool
  param p: public int 0..1
  ret t: [u8; 8]
  ret u: S#s0
  ret v: [u8; 8]
  body {
    t#4 = x#0
    t#4[1; 6] = select(c#2, t#4[0; 6], x#0[2; 6])
    t#4 = select((p#3 == 1), [t#4[1], t#4[0], t#4[3], t#4[2], t#4[5], t#4[4], t#4[7], t#4[6]], t#4)
    u#5 = s#1
    u#5.0[1; 3] = select(c#2, u#5.0[0; 3], [u#5.0[2], u#5.0[1], u#5.1])
    u#5.2[1] = select(c#2, u#5.2[p#3], [u#5.2[1][1], u#5.2[0][0]])
    u#5 = S#s0{select(c#2, [u#5.0[1], u#5.0[0], u#5.1, u#5.0[2]], u#5.0), u#5.0[3], u#5.2}
    v#6 = x#0
    v#6 = select(c#2, v#6, x#0)
  }
}
";
    let text = sound("selection", text, 128, &[]);
    assert!(text.contains("v[k_") && !text.contains("memmove(v, tmp"), "a selection with the destination itself needs no copy:\n{text}");
}

#[test]
fn an_index_that_stands_in_the_destination_is_read_once() {
    let text = "fn f {
  param q: public [[int 0..2; 3]; 3]
  param x: [[u8; 3]; 3]
  ret r: [[int 0..2; 3]; 3]
  ret s: [int 0..200; 3]
  var t: public [[int 0..2; 3]; 3]
  var w: public [int 0..2; 3]
  body {
    t#4 = q#0
    t#4[t#4[0][0]] = [1, 2, 0]
    t#4[t#4[0][1]] = [t#4[2][2], t#4[0][1], 1]
    w#5 = t#4[0]
    w#5 = select((w#5[0] == w#5[1]), t#4[w#5[0]], t#4[w#5[1]])
    r#2 = t#4
    s#3 = w#5
  }
}
";
    sound("index", text, 128, &[]);
}

#[test]
fn a_call_in_place_permutes_no_row_over_itself() {
    let text = "fn swap noinline {
  param a: [[u8; 2]; 4]
  ret r: [[u8; 2]; 4]
  counter i: public int
  body { for i#2 in 0 ..< 4 { r#1[i#2] = [a#0[i#2][1], a#0[i#2][0]] } }
}
fn same noinline {
  param a: [[u8; 2]; 4]
  ret r: [[u8; 2]; 4]
  counter i: public int
  body { for i#2 in 0 ..< 4 rev { r#1[i#2] = a#0[i#2] } }
}
fn f {
  param x: [[u8; 2]; 4]
  ret r: [[u8; 2]; 4]
  body {
    call (r#1) = swap#f0(x#0)
    call (r#1) = swap#f0(r#1)
    call (r#1) = swap#f0(r#1)
    call (r#1) = same#f1(r#1)
  }
}
";
    let text = sound("rows", text, 128, &[]);
    assert!(text.contains("void rows_swap(uint8_t (*restrict r)[2]") && text.contains("void rows_same(uint8_t (*r)[2]"), "{text}");
}

#[test]
fn a_scalar_result_goes_into_no_argument_that_is_still_read() {
    let text = "fn turned noinline {
  param a: [u32; 2]
  ret x: u32
  ret y: u32
  body {
    x#1 = a#0[1]
    y#2 = a#0[0]
  }
}
fn f {
  param a: [u32; 2]
  ret r: [u32; 2]
  body {
    r#1 = a#0
    call (r#1[0], r#1[1]) = turned#f0(r#1)
  }
}
";
    sound("scalar", text, 128, &[]);
}

#[test]
fn words_that_the_target_has_not_are_refused() {
    let text = "fn f {
  param x: u64
  ret y: u64
  body { y#1 = cast<u64>(((cast<u128>(x#0) * 5u128) >> 3)) }
}
";
    assert!(subject("words", text, 128).is_ok());
    assert!(matches!(subject("words", text, 64).err(), Some(santoku_backend_c::EmitError::TooWide { bits: 128, widest: 64, .. })));
}

#[test]
fn a_table_of_both_signs_is_as_wide_as_its_values() {
    let text = "const k: [int; 3] = [-1, 1099511627776, 7]
fn f {
  param i: public int 0..2
  ret r: int -1..1099511627776
  body { r#1 = k#c0[i#0] }
}
";
    let text = sound("table", text, 64, &[]);
    assert!(text.contains("int64_t table_k[3]"), "{text}");
}

/// An array whose elements leave the range of the result on the way: the result's object holds them, without a second array, as long as C has the same
/// type for both.
#[test]
fn a_variable_that_becomes_the_result_is_the_result() {
    let text = include_str!("support/merged.ir");
    let text = sound("merged", text, 128, &[]);
    let body = |name: &str| {
        let from = text.rfind(&format!("void merged_{name}(")).unwrap_or_else(|| panic!("{name}\n{text}"));
        text[from..].split("\n}\n").next().expect("a body").to_string()
    };
    for (name, one) in [("narrowed", true), ("turned", true), ("smaller", false), ("read", false)] {
        assert_eq!(!body(name).contains("v[8]"), one, "{name}: {}", body(name));
    }
    // It may be called in place where each element is read before it is written, and not where the parameter is read behind.
    assert!(body("narrowed").contains("int16_t *r") && body("turned").contains("restrict r"), "{} {}", body("narrowed"), body("turned"));
}
