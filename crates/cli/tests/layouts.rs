//! `santoku build --layout`: kernels for many blocks out of a one-block program.

mod support;
use expect_test::expect;
use support::Sandbox;

const CIPHER: &[u8] = include_bytes!("../../../lib/cipher/rectangle.stk");
const TWO: &[u8] = b"@export(\"a\")\nfn a(x: [u32; 2]) -> [u32; 2] { [x[1], x[0] + x[1]] }\n@export(\"b\")\nfn b(x: [u32; 2]) -> [u32; 2] { x }\n";
const PRODUCT: &[u8] = b"@export(\"a\")\nfn a(x: [u64; 2]) -> [u64; 2] { [x[1], u64((int(x[0]) * int(x[1])) >> 64)] }\n";

#[test]
fn every_layout_is_made_and_says_how_to_compile_it() {
    let s = Sandbox::new(&[("r.stk", CIPHER)]);
    let mut made = 0;
    for (layout, isa, copies, says) in [
        ("scalar", "portable64", "4", "4 blocks a batch; compile with -O3\n"),
        ("vertical", "avx2", "1", "16 blocks a batch; compile with -O3 -mavx2\n"),
        ("bitslice", "portable64", "2", "128 blocks a batch; compile with -O3\n"),
    ] {
        let args = ["build", "r.stk", "--layout", layout, "--isa", isa, "--interleave", copies, "--granularity", "7", "-o", layout];
        let run = s.run(&args);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{layout}");
        assert_eq!(run.stdout, format!("{layout}/r.c\n{layout}/r.h\n{says}"));
        let text = s.read(&format!("{layout}/r.c"));
        let again = format!("santoku build r.stk --layout {layout} --isa {isa} --interleave {copies} --granularity 7 --target portable --unit r");
        assert!(text.contains(&again), "{text}");
        assert!(text.contains("void r_blocks("), "{text}");
        made += 1;
    }
    assert_eq!(made, 3);
}

#[test]
fn what_has_no_layout_is_refused_and_nothing_is_written() {
    let s = Sandbox::new(&[("r.stk", CIPHER), ("two.stk", TWO), ("product.stk", PRODUCT)]);
    let before = s.listing();
    let refused = |args: &[&str]| {
        let all: Vec<&str> = ["build"].iter().chain(args).chain(&["-o", "out"]).copied().collect();
        let run = s.run(&all);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}");
        assert_eq!(s.listing(), before, "{args:?}");
        run.stderr
    };
    expect![[r#"
        error[not-in-layout]: this program has no such layout
         |
         = why: portable64 has no lanes for a vertical layout
         = try: choose another instruction set or layout

        1 error
    "#]].assert_eq(&refused(&["r.stk", "--layout", "vertical"]));
    expect![[r#"
        error[no-block-function]: several functions take one block and give one: a, b
         |
         = try: choose one with `--block`

        1 error
    "#]].assert_eq(&refused(&["two.stk", "--layout", "scalar"]));
    expect![[r#"
        error[no-block-function]: there is no function `c`
         |
         = try: exported are: a, b

        1 error
    "#]].assert_eq(&refused(&["two.stk", "--layout", "scalar", "--block", "c"]));
    expect![[r#"
        error[not-in-layout]: this program has no such layout
         --> product.stk:2:33
          |
        2 | fn a(x: [u64; 2]) -> [u64; 2] { [x[1], u64((int(x[0]) * int(x[1])) >> 64)] }
          |                                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ this
          |
          = why: `product.a`: vertical layout has no exact integer of 128 bits: there are words of 64 at most
          = try: choose another layout: `scalar` has every operation

        1 error
    "#]].assert_eq(&refused(&["product.stk", "--layout", "vertical", "--isa", "avx2"]));
    expect![[r#"
        error: invalid value 'sideways' for '--layout <LAYOUT>': layouts are scalar, vertical, bitslice

        For more information, try '--help'.
    "#]].assert_eq(&refused(&["r.stk", "--layout", "sideways"]));
    expect![[r#"
        error: the following required arguments were not provided:
          --layout <LAYOUT>

        Usage: santoku build --layout <LAYOUT> --interleave <K> -o <DIR> <FILE>

        For more information, try '--help'.
    "#]].assert_eq(&refused(&["r.stk", "--interleave", "2"]));
}

/// `check` says beforehand what `build` would, word for word.
#[test]
fn check_refuses_what_has_no_layout() {
    let s = Sandbox::new(&[("r.stk", CIPHER), ("two.stk", TWO), ("product.stk", PRODUCT)]);
    let cases: [&[&str]; 4] = [
        &["r.stk", "--layout", "vertical"],
        &["two.stk", "--layout", "scalar"],
        &["two.stk", "--layout", "scalar", "--block", "c"],
        &["product.stk", "--layout", "vertical", "--isa", "avx2"],
    ];
    for args in cases {
        let run = |command: &str| s.run(&[&[command], args].concat());
        let (check, build) = (run("check"), run("build"));
        assert_eq!((check.code, &check.stderr, check.stdout.as_str()), (2, &build.stderr, ""), "{args:?}");
    }
    let fine = s.run(&["check", "r.stk", "--layout", "bitslice", "--isa", "avx2"]);
    assert_eq!((fine.code, fine.stderr.as_str()), (0, ""));
}

/// Passes that only make a kernel faster can be left out; what is behind a pass can be seen.
#[test]
fn passes_are_left_out_and_shown() {
    let s = Sandbox::new(&[("r.stk", CIPHER)]);
    let made = |without: &[&str], to: &str| {
        let args = [&["build", "r.stk", "--layout", "vertical", "--isa", "avx512vl", "-o", to], without].concat();
        let run = s.run(&args);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{without:?}");
        s.read(&format!("{to}/r.c"))
    };
    let whole = made(&[], "whole");
    assert!(whole.contains("V_LUT_") && whole.contains("r_prepare("));
    let cells = made(&["--without", "cells"], "cells");
    // The circuit of the table has such gates in any case.
    let gates = |text: &str| text.matches("V_LUT_").count();
    assert!(gates(&cells) < gates(&whole) && cells.contains("r_prepare(") && cells.contains("--without cells"));
    let ahead = made(&["--without", "keys-ahead"], "ahead");
    assert!(ahead.contains("V_LUT_") && !ahead.contains("r_prepare("));
    let both = made(&["--without", "prepare-keys", "--without", "cse", "--dump-after", "keys-ahead"], "both");
    assert!(!both.contains("r_prepare("));
    let shown = s.read("both/r.after-keys-ahead.ir");
    assert!(shown.contains("fn @r.encrypt") || shown.contains("encrypt"), "{shown}");

    let refused = |args: &[&str]| {
        let run = s.run(&[&["build", "r.stk", "--layout", "vertical", "--isa", "avx2", "-o", "out"], args].concat());
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}");
        run.stderr
    };
    expect![[r#"
        error[needed-pass]: there is no kernel without `widen`
         |
         = why: it does not make kernels faster, but possible
         = try: build without `--without widen`

        1 error
    "#]].assert_eq(&refused(&["--without", "widen"]));
    expect![[r#"
        error[needed-pass]: C cannot be printed without `derive-width`
         |
         = why: it writes the proven range of each integer, which the machine types are chosen by
         = try: build without `--without derive-width`

        1 error
    "#]].assert_eq(&refused(&["--without", "derive-width"]));
    expect![[r#"
        error[unknown-pass]: there is no pass `bitslicing`
         |
         = passes: tables, perms, inline, first-row-init, loop-fusion, unroll, const-fold, array-to-scalar, copy-prop, cse, copy-free, dead-code, dead-functions, derive-width, drop-asserts
         = note: with `--layout`, also: columns, straighten, words, one-each, widen, keys-ahead, prepare-keys, cells, bitslice, interleave
         = note: decisions of the C printer, for `--without`: c-in-place, c-one-object, c-callee-types, c-blocks, c-carries, c-low-bits
         = try: `santoku passes` lists them with what they do

        1 error
    "#]].assert_eq(&refused(&["--without", "bitslicing"]));
    expect![[r#"
        error[bad-option]: `cells` does not run, so there is nothing behind it to show
         |
         = why: it is for another layout or instruction set, or left out
         = try: `docs/layouts.md` says which pass is for which layout

        1 error
    "#]].assert_eq(&refused(&["--dump-after", "cells"]));
    expect![[r#"
        error[bad-option]: `--dump-after cse` shows nothing of a layout
         |
         = why: the passes of layouts are columns, straighten, words, one-each, widen, keys-ahead, prepare-keys, cells, bitslice, interleave
         = try: name one of them, or leave out `--layout`

        1 error
    "#]].assert_eq(&refused(&["--dump-after", "cse"]));
    assert!(!s.listing().iter().any(|f| f.starts_with("out")));
}
