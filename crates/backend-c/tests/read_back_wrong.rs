//! Mistakes of the printer that no exchange of a word makes, one by one: each is refused, with the place.

mod support;

use santoku_c_judge::{compare, Pieces};
use santoku_ir::Program;
use support::in_pieces;

const PROGRAM: &str = "santoku-ir 1
struct P { a: [u32; 2], b: [u32; 2] }
const T: [u32; 4] = [1, 2, 3, 4]
fn swapped noinline {
  param x: [u32; 2]
  ret r: [u32; 2]
  body {
    r#1[0] = x#0[1]
    r#1[1] = x#0[0]
  }
}
fn doubled noinline {
  param x: [u32; 2]
  counter i: public int 0..1
  ret r: [u32; 2]
  body {
    for i#1 in 0 ..< 2 {
      r#2[i#1] = (x#0[i#1] + x#0[i#1])
    }
  }
}
fn f export \"f\" {
  len n: public int 0..9
  param x: [u32; n#0 + 2]
  param s: u32
  param k: public int 0..1
  counter i: public int 0..9
  var t: u32
  var p: P#s0
  ret r: [u32; 2]
  ret o: u32
  body {
    o#8 = T#c0[k#3]
    for i#4 in 0 ..< n#0 {
      t#5 = (x#1[i#4] ^ s#2)
      o#8 = (o#8 + t#5)
    }
    p#6 = P#s0{[s#2, o#8], repeat<[u32; 2]>(x#1[k#3])}
    call (r#7) = swapped#f0(p#6.0)
    call (r#7) = doubled#f1(r#7)
    r#7 = select((p#6.0 == p#6.1), r#7, p#6.1)
  }
}
";

fn made() -> (Program, Pieces) {
    in_pieces(PROGRAM)
}

/// Why the text with `from` replaced in a part of it is refused.
fn refused(from: &str, to: &str, part: impl Fn(&mut Pieces) -> &mut String) -> String {
    let (p, mut pieces) = made();
    let text = part(&mut pieces);
    assert!(text.contains(from), "no `{from}` in\n{text}");
    *text = text.replacen(from, to, 1);
    match compare(&p, &pieces) {
        Err(e) => e.to_string(),
        Ok(_) => panic!("`{to}` for `{from}` is not seen"),
    }
}

#[test]
fn mistakes_are_told_with_their_place() {
    let in_f = |from: &str, to: &str| refused(from, to, |p| {
        let k = p.functions.len() - 1;
        &mut p.functions[k].text
    });
    let text = made().1.functions[2].text.clone();
    let cases: Vec<(&str, &str, &str)> = vec![
        // A length that nobody checks, or that is checked against a greater one.
        ("    STK_LENGTH(size_n, 9u);\n", "", "is not checked"),
        ("STK_LENGTH(size_n, 9u)", "STK_LENGTH(size_n, 10u)", "is not checked"),
        // The variable of the round before is read.
        ("        t = x[i] ^ s;\n", "", ""),
        // A secret is an index, and decides.
        ("x[i]", "x[s]", "a secret is an index"),
        ("for (i = 0; i < n; i++)", "for (i = 0; i < s; i++)", "a secret is compared"),
        // A loop that runs once more, once less, or not from the beginning.
        ("i < n", "i <= n", "another test"),
        ("i = 0;", "i = 1;", "begins elsewhere"),
        ("i++", "i--", "another step"),
        // Another field, another object, another function.
        ("p.a[0] = s", "p.b[0] = s", ""),
        ("swapped(r, p.a)", "swapped(r, p.b)", "C passes"),
        ("swapped(r, p.a)", "swapped(p.b, p.a)", ""),
        ("swapped(r, p.a)", "doubled(r, p.a)", "the program has another"),
        ("swapped(r, p.a)", "swapped(r, r)", ""),
        // Differences that are forgotten, or of which one counts.
        ("|= (uint64_t)p.a", "|= (uint64_t)p.b", ""),
        // A type that does not hold the values.
        ("uint32_t i;", "uint8_t t2;", ""),
        ("    uint32_t t;", "    uint16_t t;", ""),
    ];
    let mut told = 0;
    for (from, to, why) in &cases {
        assert!(text.contains(from), "no `{from}` in\n{text}");
        let said = in_f(from, to);
        assert!(said.contains(why) && said.starts_with("f, line "), "`{to}` for `{from}`: {said}");
        told += 1;
    }
    println!("{told} mistakes refused");
    assert_eq!(told, cases.len());
}

#[test]
fn types_tables_and_names_are_read() {
    let said = refused("UINT32_C(3)", "UINT32_C(5)", |p| &mut p.tables);
    assert!(said.contains("has not the type and the values of `T`"), "{said}");
    let said = refused("uint32_t T[4]", "uint16_t T[4]", |p| &mut p.tables);
    assert!(said.contains("has not the type and the values"), "{said}");
    let said = refused("uint32_t a[2]", "uint32_t a[3]", |p| &mut p.types);
    assert!(said.contains("has not the fields of `P`"), "{said}");
    let said = refused("uint32_t a[2]", "uint16_t a[2]", |p| &mut p.types);
    assert!(said.contains("has not the fields of `P`"), "{said}");
}

/// `swapped` reads its parameter after it wrote the result: that they may be one object is a mistake of the printer, which `doubled` may have.
#[test]
fn what_may_be_one_object_is_found_out_again() {
    let (p, mut pieces) = made();
    assert!(!pieces.shared[0][0][0] && pieces.shared[1][0][0], "{:?}", pieces.shared);
    pieces.shared[0][0][0] = true;
    let said = compare(&p, &pieces).expect_err("refused").to_string();
    assert!(said.contains("`restrict` where something else may point there"), "{said}");
    let text = &mut pieces.functions[0].text;
    *text = text.replace("restrict ", "");
    let said = compare(&p, &pieces).expect_err("refused").to_string();
    assert!(said.contains("may be written where `x` is still read"), "{said}");
}

/// What holds of an accepted text is counted; nothing compared is no success that anybody takes for one.
#[test]
fn what_is_compared_is_counted() {
    let (p, pieces) = made();
    let all = compare(&p, &pieces).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((all.functions, all.tables), (3, 1));
    assert!(all.statements >= 10, "{all:?}");
}
