//! Ghost text: what a loop over a message of any length means, and that nothing else is accepted in its place.

use santoku_ir::{Base, FuncId, Ghost, LocalId, Program, SpecExpr, Stmt};
use santoku_meaning::{Clauses, Moment};
use santoku_prove::clauses::Finder;
use santoku_skips::seeds;

const POLY1305: &str = include_str!("../../../lib/onetimeauth/poly1305.stk");

/// A file of the repository.
fn file(path: &str) -> Option<String> {
    std::fs::read_to_string(format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))).ok()
}

/// The program of a text and of what it imports from the library, with some words in the place of others everywhere.
fn compiled_as(source: &str, radix: &str, edit: (&str, &str)) -> Program {
    let text = |path: &str| if path == "main.stk" { Some(source.to_string()) } else { file(path) };
    let mut read = |path: &str| text(path).map(|text| text.replace(edit.0, edit.1));
    let mut options = santoku_sema::Options::default();
    options.impls.insert("onetimeauth.accumulator".into(), radix.into());
    santoku_sema::compile("main.stk", &["lib".into()], &mut read, &options).unwrap_or_else(|f| panic!("{:?}", f.diagnostics)).program
}

fn compiled(source: &str) -> Program {
    compiled_as(source, RADIX, SAME)
}

const RADIX: &str = "radix26";
const SAME: (&str, &str) = ("\u{0}", "");

/// What the judge says of a function. `Err`: it gave up.
fn judged_as(source: &str, radix: &str, edit: (&str, &str), name: &str) -> Result<Clauses, String> {
    let work = || {
        let p = compiled_as(source, radix, edit);
        let found = |prefix: String| p.find(&format!("{prefix}.{name}"));
        let id = found("main".into()).or_else(|| found(format!("onetimeauth.accumulator_{radix}"))).expect("the function is there");
        let (found, stopped) = santoku_meaning::claims(&p, id, &Finder);
        stopped.map_or(Ok(found), |s| Err(s.0))
    };
    std::thread::scope(|s| std::thread::Builder::new().stack_size(256 << 20).spawn_scoped(s, work).expect("a thread").join().expect("no panic"))
}

fn judged(source: &str, name: &str) -> Result<Clauses, String> {
    judged_as(source, RADIX, SAME, name)
}

fn all(found: &Clauses) -> bool {
    found.ensures.values().chain(found.requires.values()).chain(found.claims.values()).all(|held| *held)
}

const EVERYWHERE: [&str; 10] = ["load", "step", "canonical", "tag", "rest", "whole_blocks", "blocks", "evaluated", "point", "authenticate"];
/// What is in the program by the implementation of the accumulator: a function that nothing calls is not.
const BY_RADIX: [(&str, &[&str]); 2] = [("radix26", &["carried", "add", "mul"]), ("radix64", &["sum_of"])];

#[test]
fn poly1305_is_the_rule_of_horner() {
    for (radix, own) in BY_RADIX {
        for name in EVERYWHERE.iter().chain(own) {
            let found = judged_as(POLY1305, radix, SAME, name).expect("judged");
            assert!(all(&found) && !found.ensures.is_empty(), "{radix} {name}: {found:?}");
        }
    }
}

/// The tag of a part of what is given.
const PART: &str = "
fn part<n: len>(c: [u8; n + 16], key: [u8; 32]) -> [u8; 16]
  ensures le(result) == (whole(c[16; n], clamped(key)) % P + le(key[16; 16])) % 2^128
{ authenticate(c[16; n], key) }
";

#[test]
fn poly1305_of_a_slice_is_the_rule_of_horner() {
    let text = format!("{POLY1305}{PART}");
    for (radix, _) in BY_RADIX {
        for name in ["rest$slice", "whole_blocks$slice", "blocks$slice", "evaluated$slice", "authenticate$slice", "part"] {
            let found = judged_as(&text, radix, SAME, name).expect("judged");
            assert!(all(&found) && !found.ensures.is_empty(), "{radix} {name}: {found:?}");
        }
    }
    let wrong = [
        ("radix26", "part", "whole(c[16; n], clamped", "whole(c[15; n], clamped"),
        ("radix64", "part", "whole(c[16; n], clamped", "whole(c[16; n - 1], clamped"),
        ("radix26", "part", "whole(c[16; n], clamped", "whole(c, clamped"),
        ("radix64", "part", "authenticate(c[16; n], key)", "authenticate(c[0; n], key)"),
        ("radix26", "whole_blocks$slice", "load(m[16 * i; 16]), 1", "load(m[16 * i; 16]), 0"),
        ("radix64", "whole_blocks$slice", "load(m[16 * i; 16])", "load(m[0; 16])"),
        ("radix26", "rest$slice", "start + j == n", "start + j > n"),
        ("radix64", "blocks$slice", "len(m) / 16 + 1)", "len(m) / 16 + 2)"),
    ];
    refused(&text, &seeds::some(wrong.to_vec(), 3));
}

/// Radix, function, text, text in its place: no clause of the function holds then.
fn refused(source: &str, wrong: &[(&str, &str, &str, &str)]) {
    for (radix, name, from, to) in wrong {
        let accumulator = file(&format!("lib/onetimeauth/accumulator_{radix}.stk")).expect("it is there");
        assert!(source.contains(from) || accumulator.contains(from), "{from}");
        if let Ok(found) = judged_as(source, radix, (from, to), name) {
            assert!(!found.ensures.values().any(|held| *held), "{radix} {name}: `{from}` is `{to}`: {found:?}");
        }
    }
}

#[test]
fn another_rule_is_refused() {
    let both = [
        ("blocks", "len(m) / 16 + 1)", "len(m) / 16 + 2)"),
        ("rest", "{ 1 } else { 0 }", "{ 0 } else { 0 }"),
        ("rest", "if start + j == n { last[j] = 1 }", "if start + j == n { last[j] = 2 }"),
        ("rest", "start + j == n", "start + j > n"),
        ("blocks", "if 16 * (n / 16) < n {", "if 16 * (n / 16) + 1 < n {"),
        ("blocks", "F::element(0)", "F::element(1)"),
        ("authenticate", "le(key[16; 16])) % 2^128", "le(key[16; 16])) % 2^129"),
        ("authenticate", "ensures le(result) == (whole(m, clamped(key)) % P", "ensures le(result) == (whole(m, clamped(key))"),
        ("authenticate", "tag(c, key[16; 16])", "tag(c, key[0; 16])"),
        ("point", "key[i] % 16", "key[i] % 32"),
    ];
    let by_one = [
        ("whole_blocks", "{ 2^128 }", "{ 0 }"),
        ("whole_blocks", "(horner(m, r, i - 1) + block(m, i - 1)) * r", "horner(m, r, i - 1) * r + block(m, i - 1)"),
        ("whole_blocks", "(horner(m, r, i - 1) + block(m, i - 1))", "(horner(m, r, i - 1) + block(m, i))"),
        ("whole_blocks", "{ 1 } else { weight(r, i - 1) * r }", "{ 1 } else { weight(r, i - 1) }"),
        ("whole_blocks", "{ 1 } else { weight(r, i - 1) * r }", "{ 2 } else { weight(r, i - 1) * r }"),
        ("whole_blocks", "h * weight(r, i) +", "h +"),
        ("whole_blocks", "load(m[16 * i; 16]), 1", "load(m[16 * i; 16]), 0"),
        ("carried", "5 * t[i + 5]", "4 * t[i + 5]"),
        ("mul", "a[i] * r[j]", "a[i] * r[i]"),
    ];
    let in_words = [
        ("whole_blocks", "for i in 0..<count", "for i in 1..<count"),
        ("whole_blocks", "{ 2^128 }", "{ 2^129 }"),
        ("step", "5 * r[1]", "4 * r[1]"),
        ("step", "c + h[3]", "c"),
        ("step", "h[2] + top", "h[2]"),
        ("step", "u64(d) + u64(e)", "u64(d)"),
        ("step", "int(a * u64(r[0]))", "int(a * u64(s))"),
        ("step", "5 * (w >> 2)", "4 * (w >> 2)"),
        ("step", "w & 3, carry]", "w & 3, 0]"),
        ("sum_of", "(a + b) >> 64)", "a >> 64)"),
    ];
    let of = |radix, all: &[(&'static str, &'static str, &'static str)]| all.iter().map(|(name, from, to)| (radix, *name, *from, *to)).collect::<Vec<_>>();
    let wrong = [of("radix26", &both[..5]), of("radix64", &both[5..]), of("radix26", &by_one), of("radix64", &in_words)].concat();
    refused(POLY1305, &seeds::some(wrong, 3));
}

/// Signed digits of a scalar, which make it up.
const DIGITS: &str = "spec fn value(s: [u8; 32]) -> int = sum(i in 0..<32) s[i] * 256^i
fn digits(s: [u8; 32]) -> [int in -8..8; 64]
  requires s[31] <= 127
  ensures sum(i in 0..<64) result[i] * 16^i == value(s)
{
  var e: [int; 64]
  for i in 0..<32 {
    e[2 * i] = int(s[i] & 15)
    e[2 * i + 1] = int(s[i] >> 4)
  }
  assert sum(i in 0..<64) e[i] * 16^i == value(s)
  var carry: int in 0..1 = 0
  for i in 0..<63 {
    let t = e[i] + carry
    carry = (t + 8) >> 4
    e[i] = t - (carry << 4)
  }
  e[63] += carry
  e
}
";

#[test]
fn digits_make_up_the_scalar() {
    assert!(all(&judged(DIGITS, "digits").expect("judged")));
    for (from, to) in [("e[63] += carry", "e[63] += 0"), ("s[i] >> 4", "s[i] >> 3"), ("(carry << 4)", "(carry << 3)"), ("result[i] * 16^i", "result[i] * 8^i")] {
        assert!(judged(&DIGITS.replace(from, to), "digits").map_or(true, |found| !all(&found)), "{from}");
    }
}

const TOTAL: &str = "spec fn total(m: [u8; n], i: int) -> int = if i == 0 { 0 } else { total(m, i - 1) + m[i - 1] }\n";

#[test]
fn a_failed_claim_takes_all_with_it_and_says_when_it_failed() {
    let sum = |first: &str, add: &str| format!("{TOTAL}fn f<n: len>(m: [u8; n]) -> u64\n  ensures result == result\n  ensures result ≡ total(m, n) mod 2^64\n{{\n  var s: u64 = {first}\n  for i in 0..<n\n    invariant s ≡ total(m, i) mod 2^64\n  {{\n    s = s + {add}\n  }}\n  s\n}}\n");
    for (first, add, entry, step) in [("0", "u64(m[i])", true, true), ("3", "u64(m[i])", false, true), ("0", "u64(m[i]) + 1", true, false), ("0", "u64(m[n - 1 - i])", true, false)] {
        let found = judged(&sum(first, add), "f").expect("judged");
        let when = |m: Moment| found.claims.iter().filter(|((_, w), _)| *w == m).all(|(_, held)| *held);
        assert_eq!((when(Moment::Entry), when(Moment::Step)), (entry, step), "{first} {add}");
        assert!(found.ensures.values().all(|held| *held == (entry && step)), "{first} {add}: {found:?}");
    }
}

/// What a round learns of its own counter is not known of another.
#[test]
fn what_a_round_learns_ends_with_it() {
    let source = format!("{TOTAL}fn f<n: len>(m: [u8; n]) -> u8\n  ensures total(m, n) == 0\n  ensures n >= 1\n{{\n  var s: u8 = 0\n  for i in 0..<n\n    invariant total(m, i) == total(m, i)\n  {{\n    assert i < n ==> n >= 1\n    s = m[i]\n  }}\n  s\n}}\n");
    let found = judged(&source, "f").expect("judged");
    assert!(found.claims.values().all(|held| *held), "{found:?}");
    assert!(found.ensures.values().all(|held| !held), "{found:?}");
}

/// A power with an exponent that is no constant is a value of its function, of which its text says how it goes on from the one before.
#[test]
fn powers_with_any_exponent() {
    let text = |step: &str, from: &str, ensures: &str| {
        format!(
            "spec fn power(r: int, i: int) -> int = if i == 0 {{ 1 }} else {{ {step} }}\nfn f(r: u8, n: public int in 0..9) -> u8\n  ensures result ≡ {ensures} mod 2^8\n{{\n  \
             var h: u8 = {from}\n  for i in 0..<n\n    invariant h ≡ {ensures_i} mod 2^8\n  {{\n    h = h * r\n  }}\n  h\n}}\n",
            ensures_i = ensures.replace("n)", "i)")
        )
    };
    for step in ["power(r, i - 1) * r", "r * power(r, i - 1)"] {
        assert!(all(&judged(&text(step, "1", "power(r, n)"), "f").expect("judged")), "{step}");
    }
    let wrong = [("power(r, i - 1) * r", "2", "power(r, n)"), ("power(r, i - 1) + r", "1", "power(r, n)"), ("r * power(r, i - 1)", "1", "power(r + 1, n)"), ("r * power(r, i - 1)", "1", "(power(r, n) + 1)")];
    for (step, from, ensures) in wrong {
        assert!(judged(&text(step, from, ensures), "f").map_or(true, |found| !all(&found)), "{step}, {from}, {ensures}");
    }
}

/// Functions without a value have no equations: neither those that grow, nor those that call each other.
#[test]
fn recursion_that_does_not_end_says_nothing() {
    for (body, ends) in [("g(i - 1)", true), ("g(i - 3)", true), ("g(i + 1)", false), ("g(2 * i)", false), ("g(10 - i)", false), ("g(i - 0)", false), ("h(i - 1)", false)] {
        let source = format!("spec fn h(i: int) -> int = g(i + 1)\nspec fn g(i: int) -> int = if i == 0 {{ 0 }} else {{ 1 + {body} }}\nfn f(i: public int in 1..9) -> u8\n  ensures g(i) == 1 + {body}\n{{ 0 }}\n");
        let held = judged(&source, "f").is_ok_and(|found| found.ensures[&0]);
        assert_eq!(held, ends, "{body}");
    }
}

#[test]
fn ghost_text_is_a_statement_of_its_own() {
    let p = compiled(POLY1305);
    let text = santoku_ir::text::print(&p);
    assert!(text.contains("ghost invariant") && text.contains("ghost assert"));
    let again = santoku_ir::text::parse(&text).expect("it is read");
    assert_eq!(again.funcs, p.funcs);
    assert!(santoku_ir::verify::verify(&p).is_empty());
    let broken = |source: &str, edit: &dyn Fn(&mut Stmt)| {
        let mut p = compiled(source);
        assert!(santoku_ir::verify::verify(&p).is_empty());
        p.funcs.last_mut().expect("a function").body.iter_mut().for_each(edit);
        santoku_ir::verify::verify(&p).into_iter().map(|e| e.code).collect::<Vec<_>>()
    };
    // A lemma that is not earlier in the program; code that writes what ghost text defines; an invariant without a loop.
    let lemma = "lemma l(a: int)\n  ensures a * 2 == a + a\n{\n}\nfn f(x: int in 0..9) -> int in 0..9 {\n  ghost l(x)\n  x\n}\n";
    let later = broken(lemma, &|s| if let Stmt::Ghost { what: Ghost::Lemma(id, _), .. } = s { *id = FuncId(id.0 + 1) });
    assert_eq!(later, ["order"]);
    let named = "fn f(x: int in 0..9) -> int in 0..9 {\n  ghost let y = x * x\n  ghost let z = y\n  x\n}\n";
    let written = broken(named, &|s| if let Stmt::Assign { dst, .. } = s { dst.base = Base::Local(LocalId(1)) });
    assert!(written.contains(&"ghost") || written.contains(&"unassigned"), "{written:?}");
    let loose = broken(named, &|s| if let Stmt::Ghost { what, .. } = s { *what = Ghost::Invariant(SpecExpr::Bool(true)) });
    assert!(loose.iter().all(|c| *c == "ghost") && !loose.is_empty(), "{loose:?}");
}

/// Values that an assertion spoke of are any of their size behind it: what is known of them otherwise is no longer known, and what the assertion
/// says is not known unless it holds.
#[test]
fn an_assertion_that_cuts_says_what_is_known() {
    let text = |claim: &str, ensures: &str| {
        format!(
            "spec fn value(a: int, b: int) -> int = a + 2^8 * b\nfn f(x: int in 0..2^16 - 1, y: int in 0..2^16 - 1) -> int in 0..2^18\n  ensures {ensures}\n{{\n  \
             let s = x + y\n  let lo = s & 255\n  let hi = s >> 8\n  assert {claim}\n  lo + 256 * hi\n}}\n"
        )
    };
    assert!(all(&judged(&text("value(lo, hi) == x + y", "result == x + y"), "f").expect("judged")));
    for (claim, ensures) in [("value(lo, hi) == x - y", "result == x - y"), ("value(lo, hi) == x + y + 1", "result == x + y + 1"), ("value(lo, 0) == x + y", "result == x + y"), ("value(lo, hi) == x + y", "result == x")] {
        assert!(judged(&text(claim, ensures), "f").map_or(true, |found| !all(&found)), "{claim}, {ensures}");
    }
}
