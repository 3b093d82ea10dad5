//! Verdicts that are declassified: code may branch on them, in the program and in C by hand around it, and on nothing else that is secret.

use crate::support::{judged, made_so, object, of, Compiler, Made};
use santoku_certify::report::{ByHand, FileReport, ResidueState, Status};

/// Opening with a key that two parties share.
const PROGRAM: &str = "
@declassify
fn same(a: [u8; 16], b: [u8; 16]) -> public bool { a == b }

@noinline
fn tag(c: [u8; 16], key: [u8; 16]) -> [u8; 16] { [for i in 0..<16: (c[i] ^ key[i]) + key[(i + 1) % 16]] }

@export(\"authentic\")
fn authentic(c: [u8; 16], t: [u8; 16], key: [u8; 16]) -> public bool { same(tag(c, key), t) }

@export(\"opened\")
fn opened(c: [u8; 16], key: [u8; 16]) -> [u8; 16] { [for i in 0..<16: c[i] ^ key[i]] }

@export(\"agreed\")
fn agreed(a: [u8; 16], b: [u8; 16]) -> [u8; 16] { [for i in 0..<16: a[i] + b[i]] }

@export(\"raised\")
fn raised(x: u64) -> u64 { x + 1 }

@export(\"moved\")
fn moved(x: [u64; 2]) -> u64 { x[1] }

@export(\"first_where_same\")
fn first_where_same(a: [u8; 16], b: [u8; 16], x: u8) -> u8 {
  var r: u8 = 0
  if same(a, b) { r = tag(a, b)[0] + x }
  r
}
";

fn made() -> Made {
    made_so(PROGRAM, false)
}

/// The opener, by hand: `key` makes the key, `test` says whether it opens.
fn opener(made: &Made, key: &str, test: &str) -> String {
    format!(
        "{}\nstatic STK_BODY int opener_inside(uint8_t *m, const uint8_t *c, const uint8_t *t, const uint8_t *a, const uint8_t *b)\n{{\n    \
         uint8_t k[16];\n    {key}\n    if (!({test})) {{\n        return -1;\n    }}\n    unit_opened(m, c, k);\n    return 0;\n}}\n\
         int opener(uint8_t *m, const uint8_t *c, const uint8_t *t, const uint8_t *a, const uint8_t *b)\n{{\n    \
         int status;\n    status = opener_inside(m, c, t, a, b);\n    STK_CLEAR(STK_STACK_UNIT);\n    return status;\n}}\n",
        made.c
    )
}

/// Of the opener: whether nothing is left, and what its time shows.
fn told(report: &FileReport) -> (bool, Option<ByHand>) {
    let r = report.residues.iter().find(|r| r.symbol == "opener").unwrap_or_else(|| panic!("{:?}", report.residues));
    (r.state == ResidueState::Nothing, r.by_hand.clone())
}

const MARCHES: [(&str, &str); 4] = [("rv32im", "O1"), ("rv32imc", "O2"), ("rv64imc", "Os"), ("rv64im", "O3")];

#[test]
fn programs_and_code_by_hand_may_branch_on_a_verdict() {
    let made = made();
    let c = opener(&made, "unit_agreed(k, a, b);", "unit_authentic(c, t, k)");
    let mut seen = 0;
    for compiler in [Compiler::Gcc, Compiler::Clang] {
        for (march, level) in MARCHES {
            let Some(object) = object(compiler, march, level, "unit.c", &c) else { continue };
            let report = judged(&made, &object);
            let open: Vec<_> = report.open().map(|f| (&f.symbol, f.status.reason())).collect();
            assert!(report.holds(), "{compiler:?} {march} {level}: {open:?}");
            assert_eq!(told(&report), (true, Some(ByHand::ShowsNothing)), "{compiler:?} {march} {level}");
            assert!(report.leaves_nothing(), "{:?}", report.residues);
            seen += 1;
        }
    }
    santoku_skips::checked(seen, "objects that branch on verdicts alone");
}

/// The same C where the program does not say that the verdict may be seen, and C that looks at more than the verdict.
#[test]
fn whoever_branches_on_anything_else_is_found() {
    let made = made();
    let without = made_so(&PROGRAM.replace("@declassify", "@noinline").replace("public bool", "bool").replace("if same(a, b) { r = tag(a, b)[0] + x }", "r = if same(a, b) { tag(a, b)[0] + x } else { 0 }"), false);
    let (key, test) = ("unit_agreed(k, a, b);", "unit_authentic(c, t, k)");
    let shown = |f: &ByHand| matches!(f, ByHand::Shows { .. });
    let unknown = |f: &ByHand| matches!(f, ByHand::NotFollowed { reason } if reason.contains("an address in the frame"));
    let helper = "static STK_BODY void helper(uint8_t *k, int a, int b, int c, int d, int e, int f, int g, uint8_t *last) { k[0] = last[0] = (uint8_t)(a + b + c + d + e + f + g); }\n";
    let with_helper = |key: &str| opener(&made, key, test).replace("static STK_BODY int opener_inside", &format!("{helper}static STK_BODY int opener_inside"));
    let cases: [(&str, &Made, String, &dyn Fn(&ByHand) -> bool); 8] = [
        ("not declassified", &without, opener(&without, key, test), &shown),
        ("a byte of the key", &made, opener(&made, key, "unit_authentic(c, t, k) & k[3]"), &shown),
        ("a result that is no verdict", &made, opener(&made, key, "unit_first_where_same(c, k, 1)"), &shown),
        ("a byte of the key instead of a constant", &made, opener(&made, "k[3] = 1; unit_agreed(k, a, b);", "k[3] == 1"), &shown),
        ("the address comes back as a value", &made, opener(&made, "uint8_t *p = (uint8_t *)(uintptr_t)unit_raised((uintptr_t)k); unit_agreed(k, a, b); p[0] = k[3];", test), &unknown),
        ("the address comes back from an array", &made, opener(&made, "uint64_t w[2] = {0, (uintptr_t)k}; uint8_t *p = (uint8_t *)(uintptr_t)unit_moved(w); unit_agreed(k, a, b); p[0] = k[3];", test), &unknown),
        ("a function by hand gets the address", &made, with_helper("unit_agreed(k, a, b); helper(k, 1, 2, 3, 4, 5, 6, 7, m);"), &unknown),
        ("it gets the address on the stack", &made, with_helper("unit_agreed(k, a, b); helper(m, 1, 2, 3, 4, 5, 6, 7, k);"), &unknown),
    ];
    let mut seen = 0;
    for (what, made, c, wanted) in cases {
        for compiler in [Compiler::Gcc, Compiler::Clang] {
            for (march, level) in MARCHES {
                let Some(object) = object(compiler, march, level, "unit.c", &c) else { continue };
                let (_, by_hand) = told(&judged(made, &object));
                assert!(by_hand.as_ref().is_some_and(wanted), "{what}, {compiler:?} {march} {level}: {by_hand:?}");
                seen += 1;
            }
        }
    }
    santoku_skips::checked(seen, "ways to show more than a verdict");
}

/// What a function that is not proved writes through an address in the frame is not known.
#[test]
fn a_wrong_function_may_write_anywhere() {
    let made = made();
    let right = opener(&made, "unit_agreed(k, a, b);", "unit_authentic(c, t, k)");
    let start = right.find(" unit_agreed(uint8_t *").expect("it is there");
    let end = start + right[start..].find("\n}\n").expect("its end");
    let wrong = format!("{}{}{}", &right[..start], right[start..end].replace(" + ", " - "), &right[end..]);
    assert_ne!(wrong, right);
    let Some(object) = object(Compiler::Gcc, "rv32im", "O2", "unit.c", &wrong) else { return };
    let report = judged(&made, &object);
    assert!(!report.holds());
    let (nothing, by_hand) = told(&report);
    assert!(!nothing && matches!(by_hand, Some(ByHand::NotFollowed { .. })), "{by_hand:?}");
}

/// A verdict is public, the way to it is not: a comparison that ends at the first difference is refuted.
#[test]
fn a_comparison_that_ends_early_leaks() {
    let made = made();
    let start = made.c.find("unit_same(const uint8_t *a").expect("it is there");
    let body = start + made.c[start..].find("{\n").expect("its body");
    let end = body + made.c[body..].find("\n}\n").expect("its end");
    let early = format!("{}{{\n    int i;\n    for (i = 0; i < 16; i++) {{\n        if (a[i] != b[i]) {{\n            return 0;\n        }}\n    }}\n    return 1;{}", &made.c[..body], &made.c[end..]);
    let mut seen = 0;
    for compiler in [Compiler::Gcc, Compiler::Clang] {
        let Some(object) = object(compiler, "rv32im", "O2", "unit.c", &early) else { continue };
        let report = judged(&made, &object);
        let status = &of(&report, "unit_same").status;
        assert!(!report.holds() && matches!(status, Status::Leak { .. }), "{compiler:?}: {status:?}");
        seen += 1;
    }
    santoku_skips::checked(seen, "comparisons that end early");
}
