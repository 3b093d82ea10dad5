//! One-block programs in every layout and instruction set: right, or refused with a place. Never a fault of ours.

mod support;

use santoku_layout::Layout;
use santoku_prove::equiv::Rng;
use santoku_skips::seeds;
use support::{try_all, Case, Count};

/// Every machine that has the layout.
const WAYS: [(Layout, &'static str); 10] = [
    (Layout::Scalar, "portable64"),
    (Layout::Vertical, "avx2"),
    (Layout::Vertical, "avx512vl"),
    (Layout::Vertical, "avx512"),
    (Layout::Bitslice, "portable64"),
    (Layout::Bitslice, "avx2"),
    (Layout::Bitslice, "avx512vl"),
    (Layout::Bitslice, "avx512"),
    (Layout::Vertical, "sse2"),
    (Layout::Bitslice, "sse2"),
];

/// One machine of each kind: with and without gates of three inputs.
const FEW: [(Layout, &'static str); 6] = [WAYS[0], WAYS[1], WAYS[3], WAYS[4], WAYS[6], WAYS[8]];

/// Programs that ended in an internal error, and what they have that did it.
const ONCE_INTERNAL: &[(&str, &str)] = &[
    (
        "indices with division and remainder, in a loop that stays one",
        "@export(\"f\")\nfn f(x: [u8; 16]) -> [u8; 16] {\n  var s = x\n  for r in 0..<3 {\n    let o = s\n    for i in 0..<16 {\n      s[i] = (o[i / 4 * 4 + (i + 1) % 4] <<< 3) ^ (o[i] & o[(i + r) % 16])\n    }\n  }\n  s\n}\n",
    ),
    (
        "the counter converted to a word",
        "@export(\"f\")\nfn f(x: [u32; 4]) -> [u32; 4] {\n  var s = x\n  for r in 0..<90 {\n    s = [s[1], s[2] ^ u32(3 * r + 1), s[3] <<< 5, (s[0] & s[1]) ^ s[3]]\n  }\n  s\n}\n",
    ),
    (
        "a table of constants in a loop that stays one",
        "const RC: [u32; 80] = [for i in 0..<80: u32(77 * i + 5)]\nfn round(s: [u32; 4], c: u32) -> [u32; 4] {\n  [s[1] ^ c, s[2] & s[0], s[3] <<< 5, (s[0] & s[1]) ^ s[3]]\n}\n@export(\"f\")\nfn f(x: [u32; 4]) -> [u32; 4] {\n  var s = x\n  for i in 0..<80 { s = round(s, RC[i]) }\n  s\n}\n",
    ),
    (
        "a rotation by a table of constants in a loop that stays one",
        "const R: [u5; 4] = [7, 12, 0, 22]\n@export(\"f\")\nfn f(x: [u32; 4]) -> [u32; 4] {\n  var s = x\n  for r in 0..<20 {\n    s = [s[1], s[2] ^ s[0], s[3] <<< int(R[r % 4]), (s[0] & s[1]) ^ (s[3] >>> int(R[r % 4]))]\n  }\n  s\n}\n",
    ),
    (
        "a loop that never writes a word it reads",
        "@export(\"f\")\nfn f(x: [u32; 4]) -> [u32; 4] {\n  var s = x\n  for r in 0..<91 {\n    let t = s[0]\n    s[0] = s[1] ^ (s[3] & t)\n    s[1] = t <<< 3\n  }\n  s\n}\n",
    ),
];

#[test]
fn what_once_was_an_internal_error_is_right_in_every_layout() {
    let mut cases = Vec::new();
    for (name, text) in ONCE_INTERNAL {
        for (layout, isa) in FEW {
            cases.push(Case { name: (*name).into(), text: (*text).into(), layout, isa, interleave: 1 + u32::from(layout == Layout::Vertical) });
        }
    }
    let cases = seeds::some(cases, 2);
    let count = try_all(&cases);
    print(&count);
    assert!(count.refused.is_empty(), "{:?}", count.refused);
    assert!(count.left_out.is_empty(), "{:?}", count.left_out);
    assert_eq!(count.made.values().sum::<usize>(), cases.len());
    assert!(count.agreed >= seeds::least(2 * ONCE_INTERNAL.len(), 2));
}

/// What lies behind an operand that makes no difference is no part of a cell: it was written out, and took all memory.
#[test]
fn an_operand_that_makes_no_difference_hides_nothing_large() {
    let text = "const RC: [u32; 6] = [3725133732, 1965857832, 1047619449, 2676924343, 1264017170, 1053185052]\nfn mix(x: [u32; 8], c: u32) -> [u32; 8] {\n  var s = x\n  s[5] ^= c\n  let o = s\n  for j in 0..<8 { s[j] = o[j] ^ (s[6] & s[3]) }\n  s[6] = s[3] & 48\n  s\n}\n@export(\"f\")\nfn f(x: [u32; 8], k: [u32; 40]) -> [u32; 8] {\n  var s = x\n  s[2] = s[0] >>> 4\n  for i in 0..<40 {\n    if i % 2 == 0 { s[5] = ~(s[2] & k[i]) | RC[(i * 3 + 3) % 6] } else { s[4] ^= ~(s[2] & k[i]) | RC[(i * 3 + 3) % 6] }\n    s = mix(s, (RC[(i + 2) % 6] ^ s[(5 * i + 6) % 8 / 2]) & RC[(i * 3 + 3) % 6])\n    if i % 2 == 0 { s[0] = (s[5] & RC[(5 * i + 2) % 6 / 2]) & k[i] } else { s[2] ^= (s[5] & RC[(5 * i + 2) % 6 / 2]) & k[i] }\n    s[1] ^= (RC[(i / 2 * 2 + (i + 1) % 2) % 6] << 28) & (~k[i] | RC[(i * 3 + 3) % 6])\n  }\n  s[5] = s[1] ^ 12\n  s\n}\n";
    let count = try_all(&[Case { name: "no difference".into(), text: text.into(), layout: Layout::Bitslice, isa: "avx512vl", interleave: 1 }]);
    print(&count);
    assert!(count.refused.is_empty(), "{:?}", count.refused);
}

/// Scalars beside registers: `vpternlog` takes registers alone, so a cell of constants does not compile.
#[test]
fn what_constants_alone_decide_stays_a_scalar() {
    let body = |result: &str| format!("@export(\"f\")\nfn f(x: [u32; 4], k: u32) -> [u32; 4] {{\n  {result}\n}}\n");
    let mut cases = Vec::new();
    for (name, result) in [
        ("sums of bits that shifts left constant", "[(x[0] << 9) + 5, (x[1] << 11) + (x[2] << 10), ~(x[3] << 21) + (k << 12), (k << 4) + 3]"),
        ("gates that a constant decides", "[(x[0] & (x[1] ^ x[1])) ^ k, x[1] | ~(k ^ k), x[2] & ((x[3] & (k ^ k)) ^ 77), ~(x[3] << 21) | 99]"),
        ("keys alone", "[x[0] ^ (k & (k ^ 5)), x[1] ^ ((k & 12) | (k + 3)), x[2], (k ^ 6) & (k | 9)]"),
    ] {
        for (layout, isa) in WAYS {
            cases.push(Case { name: name.into(), text: body(result), layout, isa, interleave: 2 });
        }
    }
    let count = try_all(&seeds::some(cases, 2));
    print(&count);
    assert!(count.refused.is_empty() && count.left_out.is_empty(), "{:?} {:?}", count.refused, count.left_out);
}

/// What a secret decides, as an expression of `x[0]` to `x[3]` and `k`.
const DECIDED: &[(&str, &str)] = &[
    ("a selection", "[if x[0] < x[1] { x[2] } else { x[3] ^ k }, x[1], x[0], x[3]]"),
    ("a selection of arrays", "if x[0] >= k { x } else { [x[3], x[2], x[1] ^ k, x[0]] }"),
    ("equality of arrays", "[if x == [k, x[1], x[1], 0] { x[2] } else { 7 }, x[1], if [x[0], x[1]] != [x[2], x[0]] { 1 } else { x[0] }, k]"),
    ("conditions in words", "[u32(x[0] <= x[1]), u32(x[1] > k || !(x[2] == 5)), x[2], if (x[0] == x[1]) == (x[2] == x[3]) { k } else { x[1] }]"),
    ("exact integers", "[u32(int(x[0]) * 5 - int(x[1]) / 8), x[1], x[2], u32((int(x[3]) + int(k)) % 1024)]"),
    ("exact integers below zero", "[u32((int(x[0]) % 256 - int(x[1]) % 512) / 4), x[1], u32(-(int(x[2]) % 16) * 3), k]"),
    ("comparisons of exact integers", "[if int(x[0]) % 64 * 3 < int(x[1]) % 128 { x[2] } else { x[3] }, if int(x[0] >> 9) - int(k >> 8) < 0 { k } else { x[1] }, x[2], k]"),
    ("narrower words", "[u32(u16(x[0]) <<< 3), x[1], u32(u8(x[2]) - u8(k)), k]"),
    ("negation", "[-x[0], x[1], x[2] - k, x[3]]"),
    ("multiplication", "[x[0] * x[1], x[1], 77 * x[2], x[3] + k]"),
];

#[test]
fn what_secrets_decide_is_right_in_every_layout() {
    let program = |result: &str| format!("@export(\"f\")\nfn f(x: [u32; 4], k: u32) -> [u32; 4] {{\n  {result}\n}}\n");
    right_in_every_layout(DECIDED.iter().map(|(name, result)| (*name, program(result))).collect());
}

/// None is refused, no pass is left out, and those that have their turn agree.
fn right_in_every_layout(programs: Vec<(&str, String)>) {
    let mut cases = Vec::new();
    for (name, text) in &programs {
        for (layout, isa) in WAYS {
            cases.push(Case { name: (*name).into(), text: text.clone(), layout, isa, interleave: 2 });
        }
    }
    let count = try_all(&seeds::some(cases, 7));
    print(&count);
    assert!(count.refused.is_empty() && count.left_out.is_empty(), "{:?} {:?}", count.refused, count.left_out);
    assert!(count.agreed >= seeds::least(2 * programs.len(), 7));
}

/// Functions that stay functions, with structs, conditions and integers going in and out.
const APART: &[(&str, &str)] = &[
    (
        "structs",
        "struct P { x: u32, y: u32 }\n@noinline\nfn mix(p: P, k: u32) -> P {\n  P { x: (p.x <<< 7) + p.y, y: p.y ^ k }\n}\n@export(\"f\")\nfn f(b: [u32; 2], k: [u32; 9]) -> [u32; 2] {\n  var p = P { x: b[0], y: b[1] }\n  for i in 0..<9 { p = mix(p, k[i]) }\n  [p.x, p.y]\n}\n",
    ),
    (
        "a key that is handed on, and one parameter of its name that is not",
        "@noinline\nfn inner(x: u32, k: u32) -> u32 {\n  (x & k) + (k >>> 3)\n}\n@noinline\nfn outer(s: [u32; 4], k: u32) -> [u32; 4] {\n  [s[1], inner(s[2], k), inner(s[3], s[0]), s[0] ^ k]\n}\n@export(\"f\")\nfn f(x: [u32; 4], k: [u32; 12]) -> [u32; 4] {\n  var s = x\n  for i in 0..<12 { s = outer(s, k[i]) }\n  s\n}\n",
    ),
    (
        "conditions and integers",
        "struct H { w: [u16; 4], on: bool, n: int in 0..<16 }\nconst RC: [u16; 20] = [for i in 0..<20: u16(771 * i + 5)]\n@noinline\nfn step(h: H, k: u16, i: public int in 0..<20) -> H {\n  let t = if h.on { h.w[0] + k } else { (h.w[0] ^ RC[i]) - h.w[1] }\n  let m = if i % 2 == 0 { t <<< 3 } else { t ^ k }\n  H { w: [h.w[1] <<< 5, m, h.w[3], h.w[2] ^ u16(3 * i)], on: t > h.w[1] || t == 7, n: (h.n + int(t) % 4) % 16 }\n}\n@export(\"f\")\nfn f(b: [u16; 4], k: [u16; 20]) -> [u16; 4] {\n  var h = H { w: b, on: false, n: 3 }\n  for i in 0..<20 { h = step(h, k[i], i) }\n  [h.w[0] ^ u16(h.n), if h.on { h.w[1] } else { h.w[0] }, h.w[2], h.w[3]]\n}\n",
    ),
    (
        "a table, and a branch on what is public",
        "table sbox: u4 -> u4 = [6, 5, 12, 10, 1, 14, 7, 9, 11, 0, 3, 13, 8, 15, 4, 2]\n@noinline\nfn substitute(s: [u16; 4]) -> [u16; 4] {\n  sbox(s)\n}\n@noinline\nfn round(s: [u16; 4], k: [u16; 4], i: public int in 0..<30) -> [u16; 4] {\n  var t = s\n  if i % 3 == 1 { t[0] ^= k[1] } else { t = [s[1], s[2], s[3], s[0] <<< 1] }\n  let u = substitute(t)\n  [u[0] ^ k[0], u[1] <<< 1, u[2] <<< 12, u[3] <<< 13]\n}\n@export(\"f\")\nfn f(x: [u16; 4], k: [[u16; 4]; 30]) -> [u16; 4] {\n  var s = x\n  for i in 0..<30 { s = round(s, k[i], i) }\n  s\n}\n",
    ),
    (
        "arrays of conditions",
        "@export(\"f\")\nfn f(x: [u8; 16], k: [u8; 16]) -> [u8; 16] {\n  var flags: [bool; 16]\n  for i in 0..<16 { flags[i] = x[i] > k[i] }\n  var n: int in 0..<17 = 0\n  var s = x\n  for i in 0..<16 {\n    if i % 2 == 0 { s[i] = if flags[i] { k[i] } else { x[i] } } else { s[i] = s[i] + 1 }\n  }\n  for i in 0..<16 { s[i] = s[i] ^ u8(flags[(i + 1) % 16]) }\n  s\n}\n",
    ),
    (
        "structs in arrays in structs, and two results",
        "struct Q { a: [u32; 2], f: [bool; 2] }\nstruct R { q: [Q; 2], c: u32 }\n@noinline\nfn g(r: R, k: u32) -> R {\n  var o = r\n  for i in 0..<2 {\n    o.q[i].a[1] = if r.q[i].f[0] { r.q[1 - i].a[0] } else { k }\n    o.q[i].f[1] = o.q[i].a[1] == r.c\n  }\n  o.c = r.c - k\n  o\n}\n@noinline\nfn two(x: u32, y: u32) -> (u32, bool) {\n  (x * y, x < y)\n}\n@export(\"f\")\nfn f(x: [u32; 4], k: u32) -> [u32; 4] {\n  var r = R { q: [Q { a: [x[0], x[1]], f: [true, false] }, Q { a: [x[2], x[3]], f: [false, x[0] == 3] }], c: 5 }\n  for i in 0..<3 { r = g(r, k) }\n  let (p, b) = two(r.c, x[0])\n  [r.q[0].a[1], if b { p } else { x[1] }, r.q[1].a[0], if r.q[1].f[1] == r.q[0].f[0] { 1 } else { 0 }]\n}\n",
    ),
    (
        "residues modulo 3329, in range by what was compared",
        "fn modadd(a: int in 0..<3329, b: int in 0..<3329) -> int in 0..<3329 {\n  let s = a + b\n  if s >= 3329 { s - 3329 } else { s }\n}\n@noinline\nfn sub3(a: int in 0..<3329, b: int in 0..<3329) -> int in 0..<3329 {\n  let s = a - b\n  if s < 0 { s + 3329 } else { s }\n}\n@export(\"f\")\nfn f(x: [u16; 4], k: u16) -> [u16; 4] {\n  let a = int(x[0] & 2047)\n  let b = int(x[1] & 2047)\n  let c = modadd(a, b)\n  let d = sub3(c, int(k & 2047))\n  [u16(c), u16(d), x[2] * k, -x[3]]\n}\n",
    ),
    (
        "a table of secrets, read at a secret",
        "@noinline\nfn pick(t: [u32; 4], i: u32) -> u32 {\n  var r: u32 = 0\n  for j in 0..<4 { r |= if u32(j) == i & 3 { t[j] } else { 0 } }\n  r\n}\n@export(\"f\")\nfn f(x: [u32; 4], k: [u32; 4]) -> [u32; 4] {\n  [pick(k, x[0]), pick(x, x[1]), pick([1, 2, 3, x[3]], k[2]), x[3]]\n}\n",
    ),
];

#[test]
fn functions_that_stay_apart_are_laid_out_too() {
    right_in_every_layout(APART.iter().map(|(name, text)| (*name, (*text).into())).collect());
}

#[test]
fn integers_wider_than_words_are_refused() {
    let program = |w: u32, result: &str| format!("@export(\"f\")\nfn f(x: [u{w}; 4], k: u{w}) -> [u{w}; 4] {{\n  {result}\n}}\n");
    let lane = program(32, "[u32((int(x[0]) * int(x[1])) >> 32), x[1], x[2], k]");
    let word = program(64, "[u64((int(x[0]) * int(x[1]) * int(x[2] >> 60)) >> 100), x[1], x[2], k]");
    let mut cases = Vec::new();
    for (layout, isa) in FEW {
        cases.push(Case { name: "more than 128 bits".into(), text: word.clone(), layout, isa, interleave: 2 });
        if layout == Layout::Vertical {
            cases.push(Case { name: "a shift of what a lane cannot hold".into(), text: lane.clone(), layout, isa, interleave: 2 });
        }
    }
    let count = try_all(&cases);
    print(&count);
    assert_eq!((count.refused.values().sum::<usize>(), count.made.len()), (cases.len(), 0), "{:?}", count.refused);
}

#[test]
fn shared_words_and_words_of_every_size_reach_the_kernel() {
    let mut cases = Vec::new();
    for bits in [8, 16, 24, 64] {
        let text = format!(
            "@export(\"f\")\nfn f(x: [u{bits}; 8], k: u{bits}, m: [[u{bits}; 2]; 3]) -> [u{bits}; 8] {{\n  var s = x\n  for i in 0..<3 {{\n    s[i] = (s[i] ^ k) + m[i][1]\n    s[i + 1] = (s[i] <<< 3) & ~(s[i + 1] ^ m[i][0])\n  }}\n  s\n}}\n"
        );
        for (layout, isa) in FEW {
            if layout != Layout::Vertical || matches!(bits, 8 | 16 | 32 | 64) {
                cases.push(Case { name: format!("words of {bits} bits"), text: text.clone(), layout, isa, interleave: 2 });
            }
        }
    }
    let count = try_all(&seeds::some(cases, 2));
    print(&count);
    assert!(count.refused.is_empty() && count.agreed > seeds::least(10, 2), "{:?}", count.refused);
}

/// The last group of a block begins before the end of the one before it; a block shorter than a group has one of its own.
#[test]
fn blocks_of_any_number_of_words_come_in_and_go_out() {
    let mut cases = Vec::new();
    let all = [(1, 64), (5, 64), (12, 32), (25, 64), (7, 32), (3, 32), (5, 16), (9, 16), (3, 8), (11, 8), (17, 8), (5, 24)];
    for (words, bits) in all {
        // Every word gets something of its own, so that two that changed places show.
        let text = format!("@export(\"f\")\nfn f(x: [u{bits}; {words}], k: u{bits}) -> [u{bits}; {words}] {{\n  [for i in 0..<{words}: (x[(2 * i + 1) % {words}] <<< 3) ^ (x[i] & k) ^ u{bits}(7 * i + 1)]\n}}\n");
        for (layout, isa) in WAYS {
            if layout != Layout::Vertical || bits != 24 {
                cases.push(Case { name: format!("{words} words of {bits} bits"), text: text.clone(), layout, isa, interleave: 2 });
            }
        }
    }
    let count = try_all(&seeds::some(cases, 13));
    print(&count);
    assert!(count.refused.is_empty() && count.left_out.is_empty(), "{:?} {:?}", count.refused, count.left_out);
    let least = if seeds::whole() { 2 * all.len() } else { 2 };
    assert!(count.agreed >= least, "the portable ones run everywhere: {}", count.agreed);
}

/// What has no transposition is refused: words of other sizes in lanes, blocks beyond the stack.
#[test]
fn blocks_without_a_transposition_are_refused() {
    let text = |words: u32, bits: u32| format!("@export(\"f\")\nfn f(x: [u{bits}; {words}]) -> [u{bits}; {words}] {{\n  x\n}}\n");
    let mut cases = Vec::new();
    for (layout, isa, words, bits) in [(Layout::Vertical, "avx2", 5, 24), (Layout::Vertical, "avx2", 257, 64), (Layout::Bitslice, "portable64", 5, 12), (Layout::Bitslice, "portable64", 1025, 64)] {
        cases.push(Case { name: format!("{words} words of {bits} bits"), text: text(words, bits), layout, isa, interleave: 1 });
    }
    let count = try_all(&cases);
    print(&count);
    assert_eq!((count.refused.values().sum::<usize>(), count.made.len()), (4, 0), "{:?}", count.refused);
}

fn print(c: &Count) {
    println!("tried: {} tried, made {:?}, {} agreed with the interpreter, steps left out {:?}, refused {:?}", c.tried, c.made, c.agreed, c.left_out, c.refused);
}

fn random_cases(seeds: std::ops::Range<u64>) -> Count {
    let mut cases = Vec::new();
    for seed in seeds {
        let mut r = Pick(Rng::new(seed + 1));
        let text = Gen::program(&mut r);
        for layout in Layout::ALL {
            let all: Vec<&'static str> = WAYS.iter().filter(|w| w.0 == layout).map(|w| w.1).collect();
            let isa = all[r.below(all.len() as u64) as usize];
            cases.push(Case { name: format!("seed {seed}"), text: text.clone(), layout, isa, interleave: 1 + r.below(2) as u32 });
        }
    }
    let count = try_all(&cases);
    print(&count);
    let (left_out, made) = (count.left_out.values().sum::<usize>(), count.made.values().sum::<usize>());
    assert!(left_out * 5 <= made, "{left_out} steps of {made} kernels could not be checked");
    count
}

#[test]
fn random_programs_are_right_or_refused_with_a_place() {
    let n = seeds::count(8);
    let c = random_cases(0..n);
    let made: usize = c.made.values().sum();
    assert!(c.made.len() >= 2 && made as u64 > n && c.agreed as u64 > n && made < c.tried, "{made} made");
}

#[test]
#[ignore = "long"]
fn soak_random_programs_are_right_or_refused_with_a_place() {
    let mut agreed = 0;
    let first = seeds::first();
    for k in (0..seeds::count(120)).step_by(20) {
        agreed += random_cases(first + k..first + k + 20).agreed;
    }
    assert!(agreed > 0);
}

struct Pick(Rng);

impl Pick {
    fn below(&mut self, n: u64) -> u64 {
        self.0.next_u64() % n
    }
    fn one(&mut self, of: &[&str]) -> String {
        of[self.below(of.len() as u64) as usize].to_string()
    }
}

/// A random cipher of one block: a state of `n` words of `w` bits, rounds, tables, a key or none.
struct Gen<'r> {
    r: &'r mut Pick,
    w: u64,
    n: u64,
    /// What rounds may contain besides moves, logic and rotations: the other operations are rare, for few layouts have them.
    odd: bool,
    key: bool,
}

/// Entries of the tables.
const TABLE: u64 = 6;

impl Gen<'_> {
    fn program(r: &mut Pick) -> String {
        let (w, n) = ([8, 16, 32, 64][r.below(4) as usize], [2, 4, 8][r.below(3) as usize]);
        let n = if w * n < 64 { 8 } else { n };
        let (odd, key) = (r.below(3) == 0, r.below(2) == 0);
        let mut g = Gen { r, w, n, odd, key };
        // What becomes circuits is long when it is written out.
        let rounds = [1, 2, 5, 12, if odd { 3 } else { 40 }][g.r.below(5) as usize];
        let table = |g: &mut Gen<'_>, bits: u64| (0..TABLE).map(|_| (g.r.below(1 << bits.min(40))).to_string()).collect::<Vec<_>>().join(", ");
        let log = w.ilog2();
        let (rc, rot) = (table(&mut g, w), table(&mut g, u64::from(log)));
        let mut t = format!("const RC: [u{w}; {TABLE}] = [{rc}]\nconst R: [u{log}; {TABLE}] = [{rot}]\nstruct S {{ a: [u{w}; {n}], b: u{w} }}\n");
        let helper = g.statements(2, 1, "0");
        let apart = |g: &mut Gen<'_>| g.r.one(&["", "", "@noinline\n"]);
        t += &apart(&mut g);
        t += &format!("fn mix(x: [u{w}; {n}], c: u{w}) -> [u{w}; {n}] {{\n  var s = x\n  s[{}] ^= c\n{helper}  s\n}}\n", g.r.below(n));
        t += &apart(&mut g);
        t += &format!("fn pair(p: S, c: u{w}) -> S {{\n  S {{ a: mix(p.a, p.b ^ c), b: p.a[{}] & c }}\n}}\n", g.r.below(n));
        let keys = if key { format!(", k: [u{w}; {rounds}]") } else { String::new() };
        let count = 1 + g.r.below(4);
        let (before, body, after) = (g.statements(1, 1, "0"), g.statements(count, 2, "i"), g.statements(1, 1, "0"));
        t += &format!("@export(\"f\")\nfn f(x: [u{w}; {n}]{keys}) -> [u{w}; {n}] {{\n  var s = x\n{before}  for i in 0..<{rounds} {{\n{body}  }}\n{after}  s\n}}\n");
        t
    }

    fn word(&mut self) -> String {
        format!("s[{}]", self.r.below(self.n))
    }

    /// An index below `m` made of `i`.
    fn index(&mut self, i: &str, m: u64) -> String {
        let c = self.r.below(m);
        match self.r.below(4) {
            0 => format!("({i} + {c}) % {m}"),
            1 => format!("({i} * 3 + {c}) % {m}"),
            2 => format!("({i} / 2 * 2 + ({i} + 1) % 2) % {m}"),
            _ => format!("(5 * {i} + {c}) % {m} / 2"),
        }
    }

    fn value(&mut self, depth: u64, i: &str) -> String {
        let (w, n) = (self.w, self.n);
        if depth == 0 {
            return match self.r.below(6) {
                0 => format!("RC[{}]", self.index(i, TABLE)),
                1 if self.key && i != "0" => format!("k[{i}]"),
                2 => format!("u{w}({})", self.index(i, 100)),
                3 => format!("s[{}]", self.index(i, n)),
                _ => self.word(),
            };
        }
        let a = self.value(depth - 1, i);
        let less = self.r.below(depth);
        let b = self.value(less, i);
        let shift = 1 + self.r.below(w - 1);
        match self.r.below(if self.odd { 16 } else { 10 }) {
            0 | 1 => format!("({a} ^ {b})"),
            2 | 3 => format!("({a} & {b})"),
            4 => format!("(~{a} | {b})"),
            5 => format!("({a} {} {shift})", self.r.one(&["<<<", ">>>"])),
            6 => format!("({a} {} {shift})", self.r.one(&["<<", ">>"])),
            7 => format!("({a} {} int(R[{}]))", self.r.one(&["<<<", ">>>", "<<", ">>"]), self.index(i, TABLE)),
            8 => format!("({a} + {b})"),
            9 => format!("({a} ^ u{w}({}))", self.index(i, 7)),
            // A product of bits is w * w full adders.
            10 => format!("({a} {} {b})", self.r.one(if w <= 16 { &["-", "*"] } else { &["-"] })),
            11 => format!("(-{a})"),
            12 => format!("u{w}(u{}({a}))", w / 2),
            13 => {
                let (by, also) = (self.r.one(&["<", "<=", ">", ">=", "==", "!="]), self.r.one(&["", "", " && s[0] != s[1]", " || s[1] == 3"]));
                format!("(if {a} {by} {b}{also} {{ {} }} else {{ {} }})", self.word(), self.word())
            }
            14 => format!("u{w}(int({a}) * 3 - int({b}) / 4)"),
            _ => format!("(if {a} == {b} {{ {a} }} else {{ {} }})", self.word()),
        }
    }

    fn statements(&mut self, count: u64, depth: u64, i: &str) -> String {
        (0..count).map(|_| self.statement(depth, i)).collect()
    }

    fn statement(&mut self, depth: u64, i: &str) -> String {
        let (w, n) = (self.w, self.n);
        let v = self.value(depth, i);
        // The helpers come before `mix`, which only rounds call.
        let calls = if i == "0" { 6 } else { 9 };
        match self.r.below(calls) {
            0 | 1 => format!("    {} = {v}\n", self.word()),
            2 => format!("    {} ^= {v}\n", self.word()),
            3 => {
                let at = self.index("j", n);
                format!("    let o{depth} = s\n    for j in 0..<{n} {{ s[j] = o{depth}[{at}] ^ {v} }}\n").replace(&format!("o{depth}"), &format!("o{}", self.r.below(1 << 30)))
            }
            4 => format!("    for j in 0..<{} {{ s[j] = s[j + 1] {} {v} }}\n", n - 1, self.r.one(&["^", "&"])),
            5 => format!("    for j in rev 0..<{n} {{ s[j] ^= {v} }}\n"),
            6 => format!("    s = mix(s, {v})\n"),
            7 => format!("    s = pair(S {{ a: s, b: {v} }}, u{w}({i})).a\n"),
            _ => format!("    if {i} % 2 == 0 {{ {} = {v} }} else {{ {} ^= {v} }}\n", self.word(), self.word()),
        }
    }
}
