//! Programs that are right and that C cannot have, and a library that is not there: the whole message, exit code 2, and nothing
//! written.

mod support;
use expect_test::expect;
use support::{refused, refused_files, Sandbox};

#[test]
fn a_library_that_is_not_there() {
    let files: &[(&str, &[u8])] = &[("main.stk", b"@export(\"f\")\nfn f(x: u8) -> u8 { x }\n")];
    refused_files(files, &["build", "main.stk", "--lib", "nowhere", "-o", "out"], expect![[r#"
        error[bad-option]: there is no folder `nowhere`
         |
         = why: `--lib` names the folder of the library
         = try: check the path; it is taken from the current folder

        1 error
    "#]]);
    refused_files(files, &["check", "main.stk", "--lib", "main.stk"], expect![[r#"
        error[bad-option]: there is no folder `main.stk`
         |
         = why: `--lib` names the folder of the library
         = try: check the path; it is taken from the current folder

        1 error
    "#]]);
}

#[test]
fn a_constant_wider_than_any_integer_of_c() {
    refused("const T: [int; 3] = [2^130, 1, 2]\n@export(\"f\")\nfn f(i: public int in 0..2) -> u8 { u8(T[i]) }\n", expect![[r#"
        error[too-wide]: an integer of 131 bits on a target that has at most 64
         --> main.stk:1:7
          |
        1 | const T: [int; 3] = [2^130, 1, 2]
          |       ^ needs more than the target has
          |
          = why: `constant main.T` computes an integer of 131 bits, the target has at most 64
          = try: split the value into limbs, choose an implementation with smaller ones (`--impl`), or another target (`--target host64`)

        1 error
    "#]]);
}

#[test]
fn a_field_wider_than_the_target_has() {
    refused("struct S { a: u8, c: int in 0..2^70 }\n@export(\"f\")\nfn f(s: S) -> u8 { s.a }\n", expect![[r#"
        error[too-wide]: an integer of 71 bits on a target that has at most 64
         --> main.stk:3:6
          |
        3 | fn f(s: S) -> u8 { s.a }
          |      ^ needs more than the target has
          |
          = why: `field main.S.c` computes an integer of 71 bits, the target has at most 64
          = try: split the value into limbs, choose an implementation with smaller ones (`--impl`), or another target (`--target host64`)

        1 error
    "#]]);
}

#[test]
fn an_array_in_a_struct_wider_than_the_target_has() {
    refused("struct S { a: [int in i..2^(30*i); i < 5], b: u8 }\n@export(\"f\")\nfn f(s: S) -> u8 { s.b + u8(s.a[1]) }\n", expect![[r#"
        error[too-wide]: an integer of 121 bits on a target that has at most 64
         --> main.stk:3:6
          |
        3 | fn f(s: S) -> u8 { s.b + u8(s.a[1]) }
          |      ^ needs more than the target has
          |
          = why: `field main.S.a` computes an integer of 121 bits, the target has at most 64
          = try: split the value into limbs, choose an implementation with smaller ones (`--impl`), or another target (`--target host64`)

        1 error
    "#]]);
}

#[test]
fn a_c_name_that_c_cannot_have() {
    refused("@export(\"int\")\nfn f(x: u8) -> u8 { x }\n", expect![[r#"
        error[bad-attribute]: C cannot have a function `int`
         --> main.stk:2:4
          |
        2 | fn f(x: u8) -> u8 { x }
          |    ^ exported under this name
          |
          = why: `int` cannot be the C name of a function: it is a word of C or C++
          = try: choose another name in `@export`

        1 error
    "#]]);
    for name in ["uint8_t", "class", "nullptr", "NULL", "memcpy", "main", "UINT32_MAX", "__asm", "_Bool", "stk_mask_u8", "SANTOKU_MAIN_H", "printf"] {
        let text = format!("@export(\"{name}\")\nfn f(x: u8) -> u8 {{ x }}\n");
        let sandbox = Sandbox::new(&[("main.stk", text.as_bytes())]);
        let run = sandbox.run(&["build", "main.stk", "-o", "out"]);
        assert!(run.code == 2 && run.stderr.contains(&format!("C cannot have a function `{name}`")) && run.stderr.contains("main.stk:2"), "{name}: {}", run.stderr);
        assert_eq!(sandbox.listing(), ["main.stk"]);
    }
}

/// What we name steps aside of it, and parameters may have any name.
#[test]
fn names_that_c_can_have() {
    for text in [
        "@export(\"main_g\")\nfn f(x: u8) -> u8 { g(x) }\n@noinline\nfn g(x: u8) -> u8 { x + 1 }\n",
        "@export(\"f\")\nfn f(int_: u8, void: u8, register: u8, restrict: u8, out: u8, r: u8, uint32_t: u8, memcpy: u8, f: u8, NULL: u8) -> u8 { int_ + void + register + restrict + out + r + uint32_t + memcpy + f + NULL }\n",
        "struct S { c: int in 0..2^70 }\n@export(\"f\")\nfn f(x: u8) -> u8 { x }\n",
    ] {
        let sandbox = Sandbox::new(&[("main.stk", text.as_bytes())]);
        let run = sandbox.run(&["build", "main.stk", "-o", "out"]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{text}");
    }
}

/// What C cannot have of an exported function itself: `check` and `prove` say it before anything is proved, as `build` does.
#[test]
fn check_and_prove_refuse_interfaces_that_c_cannot_have() {
    let wide = "error[too-wide]";
    let cases = [
        ("@export(\"f\")\nfn f(x: u128) -> u8 { u8(x) }\n", wide, 2),
        ("@export(\"f\")\nfn f(x: u8) -> u100 { u100(x) }\n", wide, 2),
        ("@export(\"f\")\nfn f(x: [u65; 3]) -> u8 { u8(x[0]) }\n", wide, 2),
        ("@export(\"f\")\nfn f(x: int in 0..2^64) -> u8 { u8(x) }\n", wide, 2),
        ("@export(\"f\")\nfn f(x: int in -1..2^63) -> u8 { u8(x) }\n", wide, 2),
        ("@export(\"f\")\nfn f(x: u8) -> int in 0..2^70 { int(x) }\n", wide, 2),
        ("@export(\"f\")\nfn f(x: [int in 0..2^(40*i); i < 3]) -> u8 { u8(x[0]) }\n", wide, 2),
        ("struct S { a: u8, c: int in 0..2^70 }\n@export(\"f\")\nfn f(s: S) -> u8 { s.a }\n", wide, 3),
        ("struct S { a: u8, c: u128 }\nstruct T { s: [S; 2] }\n@export(\"f\")\nfn f(t: T) -> u8 { t.s[0].a }\n", wide, 4),
        ("@export(\"int\")\nfn f(x: u8) -> u8 { x }\n", "error[bad-attribute]: C cannot have a function `int`", 2),
        ("@export(\"memcpy\")\nfn f(x: u8) -> u8 { x }\n", "error[bad-attribute]: C cannot have a function `memcpy`", 2),
    ];
    for (text, wanted, line) in cases {
        let s = Sandbox::new(&[("main.stk", text.as_bytes())]);
        let build = s.run(&["build", "main.stk", "-o", "out"]);
        assert!(build.code == 2 && build.stderr.contains(wanted) && build.stderr.contains(&format!("main.stk:{line}:")), "{text}: {}", build.stderr);
        for command in ["check", "prove"] {
            let run = s.run(&[command, "main.stk"]);
            assert_eq!((run.code, &run.stderr), (2, &build.stderr), "{command}: {text}");
        }
        // A target that has such integers has no objection.
        let there = s.run(&["check", "main.stk", "--target", "host64"]);
        assert_eq!(there.code == 0, wanted == wide, "{text}: {}", there.stderr);
    }
}

/// What nobody outside sees may be wider than anything in C, as long as it is not computed.
#[test]
fn what_is_not_exported_is_no_interface() {
    for text in [
        "fn g(x: u128) -> u8 { u8(x) }\n@export(\"f\")\nfn f(x: u8) -> u8 { x }\n",
        "struct S { c: int in 0..2^170 }\nconst K = [2^200, 1]\n@export(\"f\")\nfn f(x: u8) -> int { int(x) + K[1] }\n",
        "fn f(x: u128) -> u8 { u8(x) }\n",
    ] {
        let s = Sandbox::new(&[("main.stk", text.as_bytes())]);
        let run = s.run(&["check", "main.stk"]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{text}");
    }
}
