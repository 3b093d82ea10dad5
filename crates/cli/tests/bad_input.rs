//! Bad input of every kind: the whole message, exit code 2, and nothing written.

mod support;
use expect_test::expect;
use support::{refused, refused_files, Sandbox};

#[test]
fn a_good_program_writes_its_two_files() {
    // The twin of all tests below: with nothing wrong, there is output.
    let sandbox = Sandbox::new(&[("main.stk", b"@export(\"f\")\nfn f(x: u8) -> u8 { x + 1 }\n")]);
    let run = sandbox.run(&["build", "main.stk", "-o", "out"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert_eq!(run.stdout, "out/main.c\nout/main.h\n");
    assert_eq!(sandbox.listing(), ["main.stk", "out/main.c", "out/main.h"]);
}

#[test]
fn missing_file() {
    refused_files(&[], &["check", "nowhere.stk"], expect![[r#"
        error[missing-file]: there is no file `nowhere.stk`
         |
         = try: check the path; it is taken from the current folder

        1 error
    "#]]);
}

#[test]
fn folder_given() {
    refused_files(&[("d/x.stk", b"")], &["build", "d"], expect![[r#"
        error[not-a-file]: `d` is a folder
         |
         = try: name a file that ends in `.stk`

        1 error
    "#]]);
}

#[test]
fn not_utf8() {
    refused_files(&[("main.stk", b"const A = 1\n// \xff\n")], &["check", "main.stk"], expect![[r#"
        error[not-utf8]: `main.stk` is not UTF-8 text
         |
         = why: byte 15, in line 2, does not belong to UTF-8
         = try: convert the file; programs are UTF-8

        1 error
    "#]]);
}

#[test]
fn imported_file_is_not_utf8() {
    refused_files(&[("main.stk", b"use a\n"), ("a.stk", b"\xff")], &["check", "main.stk"], expect![[r#"
        error[not-utf8]: `a.stk` is not UTF-8 text
         |
         = why: byte 0, in line 1, does not belong to UTF-8
         = try: convert the file; programs are UTF-8

        1 error
    "#]]);
}

#[test]
fn file_too_large() {
    let text = vec![b' '; (4 << 20) + 1];
    refused_files(&[("main.stk", &text)], &["check", "main.stk"], expect![[r#"
        error[file-too-large]: `main.stk` has more than 4194304 bytes
         |
         = try: split it into several modules

        1 error
    "#]]);
}

#[test]
fn several_syntax_errors_at_once() {
    refused("const A = )\nfn f(x: u8) -> u8 {\n  let = 3\n  return x\n}\n", expect![[r#"
        error[syntax]: expected an expression, found `)`
         --> main.stk:1:11
          |
        1 | const A = )
          |           ^ expected an expression

        error[syntax]: expected a name, found `=`
         --> main.stk:3:7
          |
        3 |   let = 3
          |       ^ expected a name

        error[syntax]: expected the end of the line, found `x`
         --> main.stk:4:10
          |
        4 |   return x
          |          ^ expected the end of the line
          |
          = try: the last expression of a function is its result; there is no `return`

        3 errors
    "#]]);
}

#[test]
fn deep_nesting() {
    let text = format!("const A = {}1{}\n", "(".repeat(200), ")".repeat(200));
    refused_files(&[("main.stk", text.as_bytes())], &["check", "main.stk"], expect![[r#"
        error[nesting-too-deep]: expression or block nested deeper than 100 levels, or of more than 400 operators
         --> main.stk:1:111
          |
        1 | ...((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((...
          |                                               ^ the limit is met here
          |
          = try: name a part of it with `let`, or use a loop

        1 error
    "#]]);
}

#[test]
fn wrong_type() {
    refused("@export(\"f\")\nfn f(x: u8, y: u16) -> u16 {\n  x + y\n}\n", expect![[r#"
        error[type-mismatch]: operands of different types: u8 and u16
         --> main.stk:3:7
          |
        3 |   x + y
          |   -   ^ this is u16
          |   |
          |   this is u8
          |
          = try: convert one of them: `u32(..)`, `int(..)`

        1 error
    "#]]);
}

#[test]
fn secret_index() {
    refused("@export(\"f\")\nfn f(t: [u8; 4], key: u8) -> u8 {\n  let i = int(key) & 3\n  t[i]\n}\n", expect![[r#"
        error[secret-index]: index depends on a secret
         --> main.stk:4:5
          |
        2 | fn f(t: [u8; 4], key: u8) -> u8 {
          |                  --- `key` is secret: a parameter without `public`
        3 |   let i = int(key) & 3
          |       - `i` becomes secret here
        4 |   t[i]
          |     ^ this index is secret
          |
          = try: scan all elements and select, or declare what it comes from `public`

        1 error
    "#]]);
}

#[test]
fn secret_branch_bound() {
    refused("@export(\"f\")\nfn f(n: int in 0..9) -> u8 {\n  var r: u8 = 0\n  for i in 0..<n { r += 1 }\n  r\n}\n", expect![[r#"
        error[secret-bound]: loop bound depends on a secret
         --> main.stk:4:16
          |
        2 | fn f(n: int in 0..9) -> u8 {
          |      - `n` is secret: a parameter without `public`
        3 |   var r: u8 = 0
        4 |   for i in 0..<n { r += 1 }
          |                ^ this bound is secret
          |
          = try: loop over a public bound and select inside, or declare what it comes from `public`

        1 error
    "#]]);
}

#[test]
fn secret_for_a_public_parameter() {
    refused("fn g(x: public u8) -> u8 { x }\n@export(\"f\")\nfn f(x: u8) -> u8 { g(x) }\n", expect![[r#"
        error[secret-argument]: secret passed as a public argument
         --> main.stk:3:23
          |
        3 | fn f(x: u8) -> u8 { g(x) }
          |      -                ^ this argument is secret
          |      |
          |      `x` is secret: a parameter without `public`
          |
          = try: declare what it comes from `public`, or call a function that takes a secret

        1 error
    "#]]);
}

#[test]
fn aliasing_output() {
    refused("fn g(x: u8) -> (u8, u8) { (x, x) }\n@export(\"f\")\nfn f(x: u8) -> u8 {\n  let (a, a) = g(x)\n  a\n}\n", expect![[r#"
        error[duplicate-name]: `a` takes two results
         --> main.stk:4:11
          |
        4 |   let (a, a) = g(x)
          |        -  ^ the second time
          |        |
          |        the first time
          |
          = try: give each result a name of its own

        1 error
    "#]]);
}

#[test]
fn cyclic_import() {
    let files: &[(&str, &[u8])] = &[("main.stk", b"use a\n"), ("a.stk", b"use b\n"), ("b.stk", b"use a\n")];
    refused_files(files, &["check", "main.stk"], expect![[r#"
        error[cyclic-import]: imports form a cycle
         --> b.stk:1:1
          |
        1 | use a
          | ^^^^^ closes the cycle
          |
          = chain: a.stk -> b.stk -> a.stk
          = try: move what both need into a third module

        1 error
    "#]]);
}

#[test]
fn missing_module() {
    refused("use field.fe25591 as F\n", expect![[r#"
        error[missing-module]: module `field.fe25591` not found
         --> main.stk:1:1
          |
        1 | use field.fe25591 as F
          | ^^^^^^^^^^^^^^^^^^^^^^ no such file
          |
          = note: paths tried: field/fe25591.stk, santoku:lib/field/fe25591.stk
          = try: check the name; it is looked up beside this file, then below the roots of the library, which `--lib DIR` sets

        1 error
    "#]]);
}

#[test]
fn gigantic_constant() {
    refused("const A = 2^(2^64)\n", expect![[r#"
        error[const-too-large]: constant beyond 2^4096
         --> main.stk:1:11
          |
        1 | const A = 2^(2^64)
          |           ^^^^^^^^ this value has more than 4096 bits
          |
          = try: constants are limited to 2^4096 in magnitude; check the exponent or shift

        1 error
    "#]]);
}

#[test]
fn gigantic_literal() {
    refused(&format!("const A = {}\n", "9".repeat(5000)), expect![[r#"
        error[integer-too-large]: integer literal above 2^4096
         --> main.stk:1:11
          |
        1 | ... = 99999999999999999999999999999999999999...99999999999999999999999999999999999999
          |       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^...^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ 5000 digits
          |
          = why: constants are exact integers, and 2^4096 is the largest this language computes with
          = try: store large data as a byte string: `hex".."`

        1 error
    "#]]);
}

#[test]
fn gigantic_array() {
    refused("fn f(x: [u8; 2^40]) -> u8 { x[0] }\n", expect![[r#"
        error[const-too-large]: array too large
         --> main.stk:1:14
          |
        1 | fn f(x: [u8; 2^40]) -> u8 { x[0] }
          |              ^^^^ more than 2^22 elements
          |
          = try: arrays of constant length hold at most 2^22 scalars

        1 error
    "#]]);
}

#[test]
fn loop_bound_of_2_to_the_40() {
    refused("@export(\"f\")\nfn f(x: u8) -> u8 {\n  var r = x\n  for i in 0..<2^40 { r += 1 }\n  r\n}\n", expect![[r#"
        error[loop-too-long]: loop runs too often
         --> main.stk:4:12
          |
        4 |   for i in 0..<2^40 { r += 1 }
          |            ^^^^^^^^ 1099511627776 iterations
          |
          = try: a loop with constant bounds runs at most 2^24 times; check the bound

        1 error
    "#]]);
}

#[test]
fn recursion() {
    refused("@export(\"f\")\nfn f(x: u8) -> u8 { f(x) }\n", expect![[r#"
        error[recursive-function]: `main.f` calls itself
         --> main.stk:2:21
          |
        2 | fn f(x: u8) -> u8 { f(x) }
          |                     ^^^^ closes the cycle of calls
          |
          = cycle: main.f -> main.f
          = try: write a loop; only `spec fn` may be recursive

        1 error
    "#]]);
}

#[test]
fn nothing_exported() {
    refused("fn f(x: u8) -> u8 { x }\n", expect![[r#"
        error[nothing-exported]: the program exports no function, so there is nothing to build
         |
         = try: put `@export("c_name")` before the functions C should see

        1 error
    "#]]);
}

const GOOD: &[u8] = b"@export(\"f\")\nfn f(x: u8) -> u8 { x }\n";

#[test]
fn unknown_pass() {
    refused_files(&[("main.stk", GOOD)], &["build", "main.stk", "-o", "out", "--without", "inlining"], expect![[r#"
        error[unknown-pass]: there is no pass `inlining`
         |
         = passes: tables, perms, inline, first-row-init, loop-fusion, unroll, const-fold, array-to-scalar, copy-prop, cse, copy-free, dead-code, dead-functions, derive-width, drop-asserts
         = note: with `--layout`, also: columns, straighten, words, one-each, widen, keys-ahead, prepare-keys, cells, bitslice, interleave
         = note: decisions of the C printer, for `--without`: c-in-place, c-one-object, c-callee-types, c-blocks, c-carries, c-low-bits
         = try: `santoku passes` lists them with what they do

        1 error
    "#]]);
    refused_files(&[("main.stk", GOOD)], &["build", "main.stk", "-o", "out", "--dump-after", "inlining"], expect![[r#"
        error[unknown-pass]: there is no pass `inlining`
         |
         = passes: tables, perms, inline, first-row-init, loop-fusion, unroll, const-fold, array-to-scalar, copy-prop, cse, copy-free, dead-code, dead-functions, derive-width, drop-asserts
         = note: with `--layout`, also: columns, straighten, words, one-each, widen, keys-ahead, prepare-keys, cells, bitslice, interleave
         = note: decisions of the C printer, for `--without`: c-in-place, c-one-object, c-callee-types, c-blocks, c-carries, c-low-bits
         = try: `santoku passes` lists them with what they do

        1 error
    "#]]);
}

#[test]
fn a_pass_that_c_needs() {
    refused_files(&[("main.stk", GOOD)], &["build", "main.stk", "-o", "out", "--without", "derive-width"], expect![[r#"
        error[needed-pass]: C cannot be printed without `derive-width`
         |
         = why: it writes the proven range of each integer, which the machine types are chosen by
         = try: build without `--without derive-width`

        1 error
    "#]]);
}

const LONG: &[u8] = b"fn f(x: u8) -> u8 {\n  var r: u8 = x\n  for i in 0..<2^24 { for j in 0..<2^24 { for k in 0..<2^24 { r += 1 } } }\n  r\n}\ntest \"t\" { assert f(1) == 1 }\n";

#[test]
fn a_run_that_takes_too_long() {
    let sandbox = Sandbox::new(&[("main.stk", LONG)]);
    let run = sandbox.run(&["run", "--steps", "100000", "main.stk::f", "1"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{}", run.stderr);
    assert!(run.stderr.contains("error[run-too-long]") && run.stderr.contains("--steps"), "{}", run.stderr);
    let run = sandbox.run(&["test", "main.stk", "--steps", "100000"]);
    // A test that does not end in time has failed, as any other that fails.
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.stderr.contains("error[run-too-long]") && run.stderr.contains("--steps"), "{}", run.stderr);
    assert_eq!(run.stdout, "FAIL  main.stk: t\n0 passed, 1 failed\n");
}

#[test]
fn unknown_level() {
    refused_files(&[("main.stk", GOOD)], &["build", "main.stk", "-O9"], expect![[r#"
        error: invalid value '9' for '-O <LEVEL>'
          [possible values: 0, 1, 2, 3, s]

        For more information, try '--help'.
    "#]]);
}

#[test]
fn unknown_target() {
    let text = b"fn f(x: u8) -> u8 { x }\ntest \"t\" { assert f(1) == 1 }\n";
    refused_files(&[("main.stk", text)], &["build", "main.stk", "--target", "z80"], expect![[r#"
        error[unknown-target]: there is no target `z80`
         |
         = targets: aarch64, ckb, ckb-ecdsa, cortex-m0, cortex-m3, cortex-m4, e31, host64, portable, portable64, powerpc, rv32, rv32-small, rv32-spark, rv64, rv64im, s390x, zkvm-ecdsa
         = try: choose one of these, or write a file `targets/<target>.toml`

        1 error
    "#]]);
    for command in ["check", "prove", "test"] {
        let run = Sandbox::new(&[("main.stk", text)]).run(&[command, "main.stk", "--target", "z80"]);
        assert!(run.code == 2 && run.stderr.starts_with("error[unknown-target]"), "{command}: {}", run.stderr);
    }
    // The library may bring targets of its own, and a name is no path.
    let files: &[(&str, &[u8])] = &[("lib/main.stk", GOOD), ("targets/z80.toml", b"word_bits = 32\nwidest = 64\n"), ("x.toml", b"")];
    refused_files(files, &["check", "lib/main.stk", "--target", "../x"], expect![[r#"
        error[unknown-target]: there is no target `../x`
         |
         = targets: aarch64, ckb, ckb-ecdsa, cortex-m0, cortex-m3, cortex-m4, e31, host64, portable, portable64, powerpc, rv32, rv32-small, rv32-spark, rv64, rv64im, s390x, z80, zkvm-ecdsa
         = try: choose one of these, or write a file `targets/<target>.toml`

        1 error
    "#]]);
    assert_eq!(Sandbox::new(files).run(&["check", "lib/main.stk", "--target", "z80"]).code, 0);
}

const FE: &[(&str, &[u8])] = &[
    ("lib/field/fe.stk", b"interface fe {\n  default a\n  fn one() -> u8\n}\n"),
    ("lib/field/fe_a.stk", b"implements field.fe as a\nfn one() -> u8 { 1 }\n"),
    ("lib/field/fe_b.stk", b"implements field.fe as b\nfn one() -> u8 { 2 }\n"),
    ("lib/field/fe_pow.stk", b"const A = 1\n"),
    ("lib/main.stk", b"use field.fe as F\nfn f(x: u8) -> u8 { x + F::one() }\n"),
    ("targets/chosen.toml", b"word_bits = 32\nwidest = 64\n[impl]\n\"field.fe\" = \"b\"\n"),
    ("targets/wrong.toml", b"word_bits = 32\nwidest = 64\n[impl]\n\"field.fe\" = \"c\"\n"),
    ("targets/nowhere.toml", b"word_bits = 32\nwidest = 64\n[impl]\n\"field.fee\" = \"a\"\n"),
];

#[test]
fn unknown_implementation() {
    let check = |option: &str, value: &str, want| refused_files(FE, &["check", "lib/main.stk", option, value], want);
    check("--impl", "field.fee=a", expect![[r#"
        error[unknown-implementation]: there is no interface `field.fee`
         |
         = why: chosen by `--impl`
         = interfaces: cipher.aes_words, cipher.batch, curve.base_comb, curve.base_window, curve.ed25519_base, curve.ed25519_odd, curve.ed25519_vartime, curve.public_scalars, field.fe, field.fe1305, field.fe2519, field.fe25519, field.fe41417, field.fe5211, field.fep224, field.fep256, field.fep384, field.fep521, field.fesecp256k1, field.inversion, field.prime, field.products, field.secret_fep256, field.secret_fesecp256k1, field.secret_prime, field.unsaturated, field.word, hash.digest, integer.carryless, onetimeauth.accumulator
         = try: name its module, or the last part of that alone

        1 error
    "#]]);
    check("--impl", "fe=c", expect![[r#"
        error[unknown-implementation]: the interface `fe` has no implementation `c`
         |
         = why: chosen by `--impl`
         = implementations: a, b
         = try: choose one of these, or write `lib/field/fe_c.stk`

        1 error
    "#]]);
    // A file of the right name that does not begin with `implements`.
    check("--impl", "field.fe=pow", expect![[r#"
        error[unknown-implementation]: the interface `field.fe` has no implementation `pow`
         |
         = why: chosen by `--impl`
         = implementations: a, b
         = try: choose one of these, or write `lib/field/fe_pow.stk`

        1 error
    "#]]);
    check("--target", "wrong", expect![[r#"
        error[unknown-implementation]: the interface `field.fe` has no implementation `c`
         |
         = why: chosen by `targets/wrong.toml`
         = implementations: a, b
         = try: choose one of these, or write `lib/field/fe_c.stk`

        1 error
    "#]]);
    check("--target", "nowhere", expect![[r#"
        error[unknown-implementation]: there is no interface `field.fee`
         |
         = why: chosen by `targets/nowhere.toml`
         = interfaces: cipher.aes_words, cipher.batch, curve.base_comb, curve.base_window, curve.ed25519_base, curve.ed25519_odd, curve.ed25519_vartime, curve.public_scalars, field.fe, field.fe1305, field.fe2519, field.fe25519, field.fe41417, field.fe5211, field.fep224, field.fep256, field.fep384, field.fep521, field.fesecp256k1, field.inversion, field.prime, field.products, field.secret_fep256, field.secret_fesecp256k1, field.secret_prime, field.unsaturated, field.word, hash.digest, integer.carryless, onetimeauth.accumulator
         = try: name its module, or the last part of that alone

        1 error
    "#]]);
    // A program that does not use the interface: the choice is judged all the same.
    let mut files = FE.to_vec();
    files.push(("lib/alone.stk", GOOD));
    refused_files(&files, &["check", "lib/alone.stk", "--impl", "fe=c"], expect![[r#"
        error[unknown-implementation]: the interface `fe` has no implementation `c`
         |
         = why: chosen by `--impl`
         = implementations: a, b
         = try: choose one of these, or write `lib/field/fe_c.stk`

        1 error
    "#]]);
    assert_eq!(Sandbox::new(&files).run(&["check", "lib/alone.stk", "--impl", "fe=b"]).code, 0);
}

#[test]
fn choices_of_implementations_are_followed() {
    let s = Sandbox::new(FE);
    let run = |options: &[&str]| s.run(&[&["run", "--target"], options, &["lib/main.stk::f", "0"]].concat()).stdout;
    assert_eq!(run(&["portable"]), "0x1\n");
    assert_eq!(run(&["chosen"]), "0x2\n");
    // What is said goes before what the target says, by whichever name.
    assert_eq!(run(&["chosen", "--impl", "field.fe=a"]), "0x1\n");
    assert_eq!(run(&["chosen", "--impl", "fe=a"]), "0x1\n");
    // Compiled in: the machine alone.
    assert_eq!(run(&["rv32-spark"]), "0x1\n");
}

#[test]
fn malformed_impl_option() {
    refused_files(&[("main.stk", GOOD)], &["build", "main.stk", "--impl", "radix51"], expect![[r#"
        error[bad-option]: `--impl radix51` does not name an interface and a variant
         |
         = try: write `--impl fe25519=radix51`

        1 error
    "#]]);
}

#[test]
fn unwritable_output() {
    refused_files(&[("main.stk", GOOD), ("out", b"a file")], &["build", "main.stk", "-o", "out"], expect![[r#"
        error[unwritable]: `out` cannot be written
         |
         = why: File exists (os error 17)
         = try: choose another place with `-o`, or change its permissions

        1 error
    "#]]);
    refused_files(&[("main.stk", GOOD), ("out/main.h/x", b"")], &["build", "main.stk", "-o", "out"], expect![[r#"
        error[unwritable]: `out/main.h` cannot be written
         |
         = why: a folder of that name is there
         = try: choose another place with `-o`, or change its permissions

        1 error
    "#]]);
}

#[test]
fn malformed_tuning_file() {
    refused_files(&[("lib/main.stk", GOOD), ("tuned/mine.toml", b"machine = \"z80\"\n")], &["check", "lib/main.stk", "--target", "mine"], expect![[r#"
        error[bad-description]: `tuned/mine.toml` does not describe a target
         |
         = why: `machine` is `z80`, which is no file of `targets/`
         = try: `santoku explain bad-description` shows a whole file

        1 error
    "#]]);
    let tuned = |text: &str, want| refused_files(&[("lib/main.stk", GOOD), ("targets/portable.toml", text.as_bytes())], &["check", "lib/main.stk"], want);
    tuned("[impl\n", expect![[r#"
        error[bad-description]: `targets/portable.toml` does not describe a target
         --> targets/portable.toml:1:6
          |
        1 | [impl
          |      ^ invalid table header
          |
          = try: `santoku explain bad-description` shows a whole file

        1 error
    "#]]);
    tuned("word_bits = 32\nwidest = 64\n[impls]\nfe = \"a\"\n", expect![[r#"
        error[bad-description]: `targets/portable.toml` does not describe a target
         --> targets/portable.toml:3:2
          |
        3 | [impls]
          |  ^^^^^ unknown field `impls`, expected one of `title`, `word_bits`, `widest`, `byte_order`, `variable_time`, `impl`, `isa`, `compiler`, `vector`, `certify`, `run`, `costs`, `fused`
          |
          = try: `santoku explain bad-description` shows a whole file

        1 error
    "#]]);
    tuned("word_bits = 32\n", expect![[r#"
        error[bad-description]: `targets/portable.toml` does not describe a target
         --> targets/portable.toml:1:1
          |
        1 | word_bits = 32
          | ^^^^^^^^^^^^^^ missing field `widest`
          |
          = try: `santoku explain bad-description` shows a whole file

        1 error
    "#]]);
    tuned("word_bits = 16\nwidest = 64\n", expect![[r#"
        error[bad-description]: `targets/portable.toml` does not describe a target
         |
         = why: `word_bits` is 32 or 64
         = try: `santoku explain bad-description` shows a whole file

        1 error
    "#]]);
}

#[test]
fn run_with_bad_arguments() {
    let file: &[(&str, &[u8])] = &[("main.stk", b"fn f(x: u8, y: [u8; 2]) -> u8 { x + y[0] }\n")];
    refused_files(file, &["run", "main.stk::g", "1"], expect![[r#"
        error[unknown-function]: no function `g` in this file that can be run
         |
         = functions: f
         = try: functions with `const` or `type` parameters run only through a caller that fixes them

        1 error
    "#]]);
    refused_files(file, &["run", "main.stk", "1"], expect![[r#"
        error[bad-option]: `main.stk` does not name a function
         |
         = try: write `FILE.stk::function`

        1 error
    "#]]);
    refused_files(file, &["run", "main.stk::f", "1"], expect![[r#"
        error[bad-argument]: 1 arguments for 2 parameters
         |
         = parameters: x, y
         = try: integers `5`, byte strings `hex:00ff`, arrays `[1, 2]`

        1 error
    "#]]);
    refused_files(file, &["run", "main.stk::f", "256", "0102"], expect![[r#"
        error[bad-argument]: argument for `x` does not fit
         |
         = why: 256 is not a word of 8 bits
         = try: integers `5`, byte strings `hex:00ff`, arrays `[1, 2]`

        1 error
    "#]]);
    refused_files(file, &["run", "main.stk::f", "1", "01"], expect![[r#"
        error[bad-argument]: argument for `y` does not fit
         |
         = why: 1 elements for an array of 2
         = try: integers `5`, byte strings `hex:00ff`, arrays `[1, 2]`

        1 error
    "#]]);
    refused_files(file, &["run", "main.stk::f", "1", "[1, 2, 3]"], expect![[r#"
        error[bad-argument]: argument for `y` does not fit
         |
         = why: 3 elements for an array of 2
         = try: integers `5`, byte strings `hex:00ff`, arrays `[1, 2]`

        1 error
    "#]]);
    refused_files(file, &["run", "main.stk::f", "1", "[1, x]"], expect![[r#"
        error[bad-argument]: argument for `y` does not fit
         |
         = why: `x` is not an integer
         = try: integers `5`, byte strings `hex:00ff`, arrays `[1, 2]`

        1 error
    "#]]);
}

#[test]
fn a_run_that_leaves_a_range() {
    let file: &[(&str, &[u8])] = &[("main.stk", b"fn f(x: int in 0..9) -> int in 0..9 {\n  x + 1\n}\n")];
    refused_files(file, &["run", "main.stk::f", "9"], expect![[r#"
        error[run-range]: an integer leaves its range
         --> main.stk:2:3
          |
        2 |   x + 1
          |   ^^^^^ result would be 10, outside 0..9
          |
          = function: main.f
          = try: widen the declared range, or reduce the value before

        1 error
    "#]]);
}

#[test]
fn fmt_of_a_file_with_errors_changes_no_file() {
    let files: &[(&str, &[u8])] = &[("a.stk", b"const  A=1\n"), ("b.stk", b"const B =\n")];
    refused_files(files, &["fmt", "a.stk", "b.stk"], expect![[r#"
        error[syntax]: expected an expression, found the end of the file
         --> b.stk:2:1
          |
        2 |
          | ^ expected an expression

        1 error
    "#]]);
}

#[test]
fn explain_of_an_unknown_code() {
    refused_files(&[], &["explain", "rnage"], expect![[r#"
        error[unknown-code]: there is no diagnostic `rnage`
         |
         = try: `santoku explain` without a code lists them all

        1 error
    "#]]);
}
