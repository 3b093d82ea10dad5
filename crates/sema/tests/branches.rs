//! `if`s inside `if`s as values, public and secret ones mixed: a secret one evaluates both sides, a public one takes a
//! branch, and a value that is built where it goes is written by both. The text is compiled and run on every choice of
//! its conditions; what it should give is computed from the tree it was printed from.

mod common;
use common::{accept, holds, refusal};
use santoku_ir::interp::{Interp, Options, Value};
use santoku_num::SplitMix64 as Rng;
use std::fmt::Write as _;

#[test]
fn a_public_if_inside_a_secret_one_writes_a_place_that_has_no_value_yet() {
    holds(
        r#"
struct P { a: u8, b: [u8; 2] }
fn scalar(s: bool, p: public bool, x: u8, y: u8) -> u8 {
  let r: u8 = if s { if p { x } else { y } } else { 7 }
  r
}
fn elements(s: bool, p: public bool, x: u8, y: u8) -> [u8; 2] {
  let a: [u8; 2] = [x, if s { if p { x } else { y } } else { 7 }]
  a
}
fn loops(s: bool, p: public bool, x: u8, y: u8) -> [u8; 3] {
  let a: [u8; 3] = [for i in 0..<3: if s { if p { x + u8(i) } else { y } } else { 7 }]
  a
}
fn fields(s: bool, p: public bool, x: u8, y: u8) -> P {
  let r: P = P { a: if s { if p { x } else { y } } else { 7 }, b: [x, y] }
  r
}
fn ranged(s: bool, p: public bool) -> int in 5..9 {
  let r: int in 5..9 = if s { if p { 5 } else { 6 } } else { 9 }
  r
}
fn built(s: bool, x: u8) -> [u8; 2] {
  let a: [u8; 2] = if s { [for i in 0..<2: x + u8(i)] } else { [x, x] }
  a
}
test "t" {
  assert scalar(true, true, 1, 2) == 1 && scalar(true, false, 1, 2) == 2 && scalar(false, true, 1, 2) == 7
  assert elements(true, true, 1, 2) == [1, 1] && elements(true, false, 1, 2) == [1, 2] && elements(false, true, 1, 2) == [1, 7]
  assert loops(true, true, 1, 2) == [1, 2, 3] && loops(true, false, 1, 2) == [2, 2, 2] && loops(false, true, 1, 2) == [7, 7, 7]
  assert fields(true, false, 1, 2).a == 2 && fields(false, false, 1, 2).a == 7
  assert ranged(true, true) == 5 && ranged(true, false) == 6 && ranged(false, false) == 9
  assert built(true, 1) == [1, 2] && built(false, 1) == [1, 1]
}
"#,
    );
}

#[test]
fn a_variable_that_the_source_leaves_unset_is_still_refused() {
    let source = "fn f(s: bool, p: public bool, x: u8) -> u8 {\n  var r: u8\n  if s { if p { r = x } } else { r = 7 }\n  r\n}\n";
    let said = refusal(&[("main.stk", source)], &[]).concat();
    assert!(said.contains("unset-variable"), "{said}");
}

/// A value of the language, as far as it matters here.
enum Tree {
    Name(&'static str),
    Const(u8),
    Add(Box<Tree>, Box<Tree>),
    /// `twice(x)`, a call.
    Twice(Box<Tree>),
    If(usize, Box<Tree>, Box<Tree>),
    /// `{ let t = a; t ^ b }` stands where a branch stands.
    Let(Box<Tree>, Box<Tree>),
}

/// Conditions: text, and what they are for (s0, s1, p0, p1). The first three are secret.
const CONDS: [(&str, fn(&Point) -> bool); 6] = [
    ("s0", |v| v.s0),
    ("s1", |v| v.s1),
    ("s0 && p0", |v| v.s0 && v.p0),
    ("p0", |v| v.p0),
    ("p1 == 1", |v| v.p1 == 1),
    ("p1 < 2", |v| v.p1 < 2),
];

struct Point {
    s0: bool,
    s1: bool,
    p0: bool,
    p1: u8,
    x: u8,
    y: u8,
    i: u8,
}

impl Tree {
    fn random(rng: &mut Rng, depth: u32, names: &[&'static str]) -> Tree {
        let sub = |rng: &mut Rng| Box::new(Tree::random(rng, depth - 1, names));
        match if depth == 0 { rng.below(3) } else { rng.below(12) } {
            0 | 1 => Tree::Name(names[rng.below(names.len() as u64) as usize]),
            2 => Tree::Const(rng.below(256) as u8),
            3 => Tree::Add(sub(rng), sub(rng)),
            4 => Tree::Twice(sub(rng)),
            5 => Tree::Let(sub(rng), sub(rng)),
            _ => Tree::If(rng.below(CONDS.len() as u64) as usize, sub(rng), sub(rng)),
        }
    }

    fn text(&self) -> String {
        match self {
            Tree::Name(n) if *n == "i" => "u8(i)".into(),
            Tree::Name(n) => (*n).to_string(),
            Tree::Const(c) => format!("u8({c})"),
            Tree::Add(a, b) => format!("({} + {})", a.text(), b.text()),
            Tree::Twice(a) => format!("twice({})", a.text()),
            Tree::If(c, a, b) => format!("if {} {{ {} }} else {{ {} }}", CONDS[*c].0, a.block(), b.block()),
            // Outside a branch there is no block to put it in.
            Tree::Let(a, b) => format!("({} ^ {})", a.text(), b.text()),
        }
    }

    fn block(&self) -> String {
        match self {
            Tree::Let(a, b) => format!("let t: u8 = {}\n t ^ {}", a.text(), b.text()),
            _ => self.text(),
        }
    }

    fn value(&self, v: &Point) -> u8 {
        match self {
            Tree::Name("x") => v.x,
            Tree::Name("y") => v.y,
            Tree::Name(_) => v.i,
            Tree::Const(c) => *c,
            Tree::Add(a, b) => a.value(v).wrapping_add(b.value(v)),
            Tree::Twice(a) => a.value(v).wrapping_mul(2),
            Tree::If(c, a, b) => if CONDS[*c].1(v) { a.value(v) } else { b.value(v) },
            Tree::Let(a, b) => a.value(v) ^ b.value(v),
        }
    }

    /// Is there a public `if` somewhere inside a secret one?
    fn mixed(&self, secret: bool) -> bool {
        match self {
            Tree::Name(_) | Tree::Const(_) => false,
            Tree::Add(a, b) | Tree::Let(a, b) => a.mixed(secret) || b.mixed(secret),
            Tree::Twice(a) => a.mixed(secret),
            Tree::If(c, a, b) => secret && *c > 2 || a.mixed(secret || *c < 3) || b.mixed(secret || *c < 3),
        }
    }
}

/// A function that puts four trees where values are built; gives its body and what it returns on a point.
fn body(shape: u64, t: &[Tree; 4]) -> (String, Box<dyn Fn(&Point) -> [u8; 4] + '_>) {
    let w: Vec<String> = t.iter().map(Tree::text).collect();
    let mut s = String::new();
    let all = |v: &Point| [t[0].value(v), t[1].value(v), t[2].value(v), t[3].value(v)];
    let done = match shape {
        0 => write!(s, "let a: u8 = {}\nvar b: u8 = {}\nlet c = {}\nb = b + {}\n[a, b, c, a]", w[0], w[1], w[2], w[3]),
        1 => write!(s, "let a: [u8; 4] = [{}, {}, {}, {}]\na", w[0], w[1], w[2], w[3]),
        2 => write!(s, "let a: [u8; 4] = [for i in 0..<4: {}]\na", w[0]),
        3 => write!(s, "let p: P = P {{ a: {}, b: [{}, {}] }}\nlet c: u8 = {}\n[p.a, p.b[0], p.b[1], c]", w[0], w[1], w[2], w[3]),
        4 => write!(s, "let (a, b) = if s0 {{ if p0 {{ ({}, {}) }} else {{ (x, y) }} }} else {{ ({}, {}) }}\n[a, b, x, y]", w[0], w[1], w[2], w[3]),
        5 => write!(s, "var r: [u8; 4] = if s0 {{ if p1 == 1 {{ [{}, x, x, y] }} else {{ [x, {}, y, y] }} }} else {{ [y; 4] }}\nif s1 {{ r[2] = {} }}\nr[3] = {}\nr", w[0], w[1], w[2], w[3]),
        _ => write!(s, "[{}, {}, {}, {}]", w[0], w[1], w[2], w[3]),
    };
    done.expect("text");
    let meaning: Box<dyn Fn(&Point) -> [u8; 4]> = match shape {
        0 => Box::new(move |v| {
            let [a, b, c, d] = all(v);
            [a, b.wrapping_add(d), c, a]
        }),
        2 => Box::new(move |v| [0, 1, 2, 3].map(|i| t[0].value(&Point { i, ..*v }))),
        4 => Box::new(move |v| {
            let ((a, b), (c, d)) = ((all(v)[0], all(v)[1]), (all(v)[2], all(v)[3]));
            let (a, b) = match (v.s0, v.p0) {
                (true, true) => (a, b),
                (true, false) => (v.x, v.y),
                (false, _) => (c, d),
            };
            [a, b, v.x, v.y]
        }),
        5 => Box::new(move |v| {
            let mut r = match (v.s0, v.p1 == 1) {
                (true, true) => [all(v)[0], v.x, v.x, v.y],
                (true, false) => [v.x, all(v)[1], v.y, v.y],
                (false, _) => [v.y; 4],
            };
            if v.s1 {
                r[2] = all(v)[2];
            }
            r[3] = all(v)[3];
            r
        }),
        _ => Box::new(all),
    };
    (s, meaning)
}

#[test]
fn nested_ifs_mean_what_they_say_on_every_choice_of_their_conditions() {
    let seeds = std::env::var("SANTOKU_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(210);
    let (mut runs, mut mixed) = (0, 0);
    for seed in 0..seeds {
        let mut rng = Rng::new(seed * 77 + 5);
        let shape = seed % 7;
        let names: &[&str] = if shape == 2 { &["x", "y", "i"] } else { &["x", "y"] };
        let trees = [(); 4].map(|()| Tree::random(&mut rng, 4, names));
        mixed += usize::from(trees.iter().any(|t| t.mixed(false)));
        let (body, meaning) = body(shape, &trees);
        let source = format!(
            "struct P {{ a: u8, b: [u8; 2] }}\nfn twice(x: u8) -> u8 {{ x + x }}\n\
             fn f(s0: bool, s1: bool, p0: public bool, p1: public int in 0..3, x: u8, y: u8) -> [u8; 4] {{\n{body}\n}}\n"
        );
        let program = accept(&[("main.stk", source.as_str())], &[]).program;
        let id = program.funcs.iter().position(|f| f.name.ends_with('f')).expect("f");
        let mut interp = Interp::with_options(&program, Options::checked());
        for n in 0..32u8 {
            let v = Point { s0: n & 1 != 0, s1: n & 2 != 0, p0: n & 4 != 0, p1: n >> 3, x: 3 + n, y: 250 - 7 * n, i: 0 };
            let args = vec![
                Value::Bool(v.s0),
                Value::Bool(v.s1),
                Value::Bool(v.p0),
                Value::int(v.p1),
                Value::word(v.x),
                Value::word(v.y),
            ];
            let got = interp.call(santoku_ir::FuncId(id as u32), &[], args).unwrap_or_else(|f| panic!("seed {seed}: {f:?}\n{source}"));
            let want = Value::array(meaning(&v).iter().map(|b| Value::word(*b)).collect());
            assert_eq!(got, vec![want], "seed {seed}, choice {n}\n{source}");
            runs += 1;
        }
    }
    println!("tried: {seeds} programs, {mixed} with a public if inside a secret one, {runs} runs agree");
    assert!(runs >= seeds * 32 && mixed * 2 > seeds as usize);
}
