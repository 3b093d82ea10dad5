//! `santoku build --layout`: kernels for many blocks out of a one-block program.

mod support;
use expect_test::expect;
use support::Sandbox;

const CIPHER: &[u8] = include_bytes!("../../../lib/cipher/rectangle.stk");
const TWO: &[u8] = b"@export(\"a\")\nfn a(x: [u32; 2]) -> [u32; 2] { [x[1], x[0] + x[1]] }\n@export(\"b\")\nfn b(x: [u32; 2]) -> [u32; 2] { x }\n";
const PRODUCT: &[u8] = b"@export(\"a\")\nfn a(x: [u32; 2]) -> [u32; 2] { [x[1], x[0] * x[1]] }\n";

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
        2 | fn a(x: [u32; 2]) -> [u32; 2] { [x[1], x[0] * x[1]] }
          |                                 ^^^^^^^^^^^^^^^^^^^ this
          |
          = why: `product.a`: bitslice layout has no multiplication
          = try: choose another layout: `scalar` has every operation

        1 error
    "#]].assert_eq(&refused(&["product.stk", "--layout", "bitslice"]));
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
        &["product.stk", "--layout", "bitslice"],
    ];
    for args in cases {
        let run = |command: &str| s.run(&[&[command], args].concat());
        let (check, build) = (run("check"), run("build"));
        assert_eq!((check.code, &check.stderr, check.stdout.as_str()), (2, &build.stderr, ""), "{args:?}");
    }
    let fine = s.run(&["check", "r.stk", "--layout", "bitslice", "--isa", "avx2"]);
    assert_eq!((fine.code, fine.stderr.as_str()), (0, ""));
}
