//! SHA-512 of a message of any length is FIPS 180-4's, and nothing else is accepted in its place.

use santoku_meaning::Clauses;
use santoku_prove::clauses::Finder;
use santoku_skips::seeds;

const CODE: &str = include_str!("../../../lib/hash/sha512.stk");
const SPEC: &str = include_str!("../../../lib/hash/sha512_spec.stk");
/// Uses with heads of no bytes, of some, and of a whole block.
const HEADS: &str = "
fn some<n: len>(head: [u8; 37], m: [u8; n]) -> [u8; 64]
  ensures result == S::hash(head, m)
{ hash_with_prefix(head, m) }
fn block<n: len>(head: [u8; 128], m: [u8; n]) -> [u8; 64]
  ensures result == S::hash(head, m)
{ hash_with_prefix(head, m) }
fn behind<n: len>(c: [u8; n + 64]) -> [u8; 64]
  ensures result == S::hash([], c[64; n])
{ hash(c[64; n]) }
fn nested<n: len>(c: [u8; n + 4]) -> [u8; 64]
  ensures result == S::hash(c[0; 37], c[n; 4])
  requires n >= 37
{
  let all = c[0; n + 4]
  hash_with_prefix(all[0; 37], all[n; 4])
}
fn half<n: len>(c: [u8; n]) -> [u8; 64]
  ensures result == S::hash([], c[n / 2; n - n / 2])
{
  let k = n / 2
  let upper = c[k; n - k]
  hash(upper)
}
";
/// The functions for slices that those make.
const SLICED: [&str; 7] = ["first_block$0$slice", "tail$0$slice", "hash_with_prefix$0$slice", "hash$slice", "behind", "nested", "half"];

/// What the judge says of a function. `Err`: it gave up.
fn judged(code: &str, spec: &str, name: &str) -> Result<Clauses, String> {
    judged_with(code, spec, HEADS, name)
}

fn judged_with(code: &str, spec: &str, heads: &str, name: &str) -> Result<Clauses, String> {
    let (code, spec, name) = (format!("{code}{heads}"), spec.to_string(), format!("main.{name}"));
    let work = move || {
        let mut read = |path: &str| match path {
            "main.stk" => Some(code.clone()),
            "hash/sha512_spec.stk" => Some(spec.clone()),
            _ => None,
        };
        let p = santoku_sema::compile("main.stk", &[], &mut read, &santoku_sema::Options::default()).unwrap_or_else(|f| panic!("{:?}", f.diagnostics)).program;
        let id = p.find(&name).unwrap_or_else(|| panic!("{name} is there"));
        let (found, stopped) = santoku_meaning::claims(&p, id, &Finder);
        stopped.map_or(Ok(found), |s| Err(s.0))
    };
    std::thread::Builder::new().stack_size(256 << 20).spawn(work).expect("a thread").join().expect("no panic")
}

fn all(found: &Clauses) -> bool {
    found.ensures.values().chain(found.requires.values()).chain(found.claims.values()).all(|held| *held)
}

#[test]
fn a_message_of_any_length() {
    let heads = [0, 37, 128].iter().flat_map(|k| ["first_block", "tail", "hash_with_prefix"].map(|f| format!("{f}${k}")));
    let mut clauses = 0;
    for name in heads.chain(["with_length", "finish", "hash", "some", "block"].into_iter().chain(SLICED).map(String::from)) {
        let found = judged(CODE, SPEC, &name).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert!(all(&found) && !found.ensures.is_empty(), "{name}: {found:?}");
        clauses += found.ensures.len() + found.claims.len();
    }
    println!("SHA-512: {clauses} clauses and claims accepted");
}

/// Function, text of the code or of the specification, text in its place.
const WRONG: &[(&str, &str, &str)] = &[
    ("hash_with_prefix$37", "invariant h == S::state(head, m, b)", "invariant h == S::state(head, m, b + 1)"),
    ("hash_with_prefix$37", "m[128*b - k; 128]", "m[128*(blocks - b) - k; 128]"),
    ("hash_with_prefix$37", "h = compress(h, m[", "h = compress(IV, m["),
    ("hash_with_prefix$37", "for b in 1..<blocks", "for b in 2..<blocks"),
    ("hash_with_prefix$37", "finish(h, tail(head, m), total)", "finish(IV, tail(head, m), total)"),
    ("hash_with_prefix$37", "finish(h, tail(head, m), total)", "finish(h, tail(head, m), total - k)"),
    ("hash_with_prefix$37", "l / 128), block(head, m, l / 128), l)", "l / 128), block(head, m, l / 128 + 1), l)"),
    ("hash_with_prefix$37", "compress(state(head, m, i - 1), block(head, m, i - 1))", "compress(state(head, m, i - 1), block(head, m, i))"),
    ("hash_with_prefix$37", "if i == 0 { IV }", "if i == 0 { K }"),
    ("first_block$37", "p[i] = m[i - k]", "p[i] = m[i - k + 1]"),
    ("first_block$37", "j < len(head) { head[j] }", "j < len(head) { head[len(head) - 1 - j] }"),
    ("tail$37", "p[i] = head[i]", "p[i] = head[k - 1 - i]"),
    ("tail$37", "if blocks == 0 {", "if blocks <= 1 {"),
    ("tail$37", "{ p[k + i] = 0x80 }", "{ p[k + i] = 0x40 }"),
    ("tail$37", "{ p[i] = 0x80 }", "{ p[i] = 0x40 }"),
    ("tail$37", "128 * (blocks - 1) + (128 - k)", "128 * (blocks - 1) + (127 - k)"),
    ("tail$0", "128 * blocks + i < n", "128 * blocks + i < n - n % 2"),
    ("tail$37", "at == len(m) { 0x80 } else { 0 }", "at == len(m) { 0x80 } else { 1 }"),
    ("tail$37", "i == 0 && j < len(head)", "i == 1 && j < len(head)"),
    ("with_length", "p[112 + i] = 0", "p[112 + i] = 1"),
    ("with_length", "u64(total) << 3", "u64(total) << 2"),
    ("with_length", "8 * (127 - j)) % 256", "8 * (128 - j)) % 256"),
    ("finish", ">= 112", ">= 111"),
    ("finish", "s = compress(s, with_length(p, total))", "s = compress(h, with_length(p, total))"),
    ("finish", "    p = [0; 128]", "    p[127] = 0"),
    ("finish", "    s = compress(s, p)\n", ""),
    ("finish", "(56 - 8*j))\n", "(48 - 8*j))\n"),
    ("finish", "d[8*i + j]", "d[8*j + i]"),
    ("finish", "l % 128 < 112", "l % 128 <= 112"),
    ("finish", "if is_last(l) { block[j] } else { 0 }", "block[j]"),
    ("finish", "{ h[i] } else { compress(h, block)[i] }", "{ h[i] } else { h[i] }"),
    ("hash", "hash_with_prefix(none, m)", "hash_with_prefix([0], m)"),
    ("behind", "{ hash(c[64; n]) }", "{ hash(c[63; n]) }"),
    ("behind", "S::hash([], c[64; n])", "S::hash([], c[0; n])"),
    ("behind", "S::hash([], c[64; n])", "S::hash([], c[64; n - 1])"),
    ("nested", "hash_with_prefix(all[0; 37], all[n; 4])", "hash_with_prefix(all[1; 37], all[n; 4])"),
    ("nested", "S::hash(c[0; 37], c[n; 4])", "S::hash(c[0; 37], c[n - 1; 4])"),
    ("half", "let upper = c[k; n - k]", "let upper = c[0; n - k]"),
    ("half", "c[n / 2; n - n / 2])", "c[n / 2; n / 2])"),
    ("first_block$0$slice", "p[i] = m[i - k]", "p[i] = m[i - k + 1]"),
    ("tail$0$slice", "{ p[k + i] = 0x80 }", "{ p[k + i] = 0x40 }"),
    ("hash_with_prefix$0$slice", "h = compress(h, m[", "h = compress(IV, m["),
];

#[test]
fn another_hash_is_refused() {
    let mut refused = 0;
    let wrong = seeds::some(WRONG, 3);
    for (name, from, to) in &wrong {
        let uses = HEADS.contains(from);
        assert!((CODE.contains(from) != SPEC.contains(from)) != uses, "in one of the three texts: {from}");
        let (code, spec, heads) = (CODE.replace(from, to), SPEC.replace(from, to), HEADS.replace(from, if uses { to } else { from }));
        if let Ok(found) = judged_with(&code, &spec, &heads, name) {
            assert!(!found.ensures.values().any(|held| *held), "{name}: `{from}` is `{to}`: {found:?}");
        }
        refused += 1;
    }
    println!("SHA-512: {refused} wrong texts refused");
    assert_eq!(refused, wrong.len());
}
