//! What C can have of a program: storage of arrays of run-time length, and widths. `check` or `prove` refuse what `build` would.

use santoku_driver::{build, check, interface, printable, BuildOptions, Checked, Failure, Request};
use santoku_ir::gen::{program_with, Config};
use santoku_passes::Level;
use std::collections::BTreeSet;

fn checked(text: &str, target: &str) -> Checked {
    let target = santoku_driver::built_in(target).ok().flatten().expect("a built-in target");
    let mut load = |path: &str| Ok((path == "main.stk").then(|| text.to_string()));
    check(&Request::new("main.stk", target), &mut load).unwrap_or_else(|f| panic!("{f:?}\n{text}"))
}

fn built(checked: &Checked, level: Level) -> Result<(), Failure> {
    let options = BuildOptions { level, without: BTreeSet::new(), dump_after: None, unit: "main".into(), provenance: String::new(), keep_secrets: true };
    build(checked, &options, &|| 0).map(drop)
}

/// Code and place of a refusal.
fn refused(f: Failure) -> (&'static str, u32) {
    match f {
        Failure::Refused { diagnostics, .. } => (diagnostics[0].code, diagnostics[0].primary.as_ref().map_or(0, |p| p.0.start)),
        Failure::Internal { stage, message } => panic!("{stage}: {message}"),
    }
}

const AEAD: &str = "
fn crypt<n: len>(k: u8, m: [u8; n]) -> [u8; n] {
  var r = m
  for i in 0..<n { r[i] ^= k + u8(i) }
  r
}
fn tag<n: len>(k: u8, c: [u8; n]) -> u8 {
  var t = k
  for i in 0..<n { t = (t <<< 3) + c[i] }
  t
}
@export(\"seal\")
fn seal<n: len>(k: u8, m: [u8; n]) -> ([u8; n], u8) {
  var c = crypt(k, m)
  (c, tag(k, c))
}
";

#[test]
fn a_result_that_is_still_read_is_built_in_place() {
    for level in Level::ALL {
        let c = checked(AEAD, "rv32");
        interface(&c).and_then(|()| built(&c, level)).unwrap_or_else(|f| panic!("{level:?}: {:?}", refused(f)));
    }
}

/// Where an index is known, as in the last round here, the printed text has the number: no index of a group that belongs to a round.
#[test]
fn a_round_apart_is_printed_as_it_is() {
    let all = ["j == 7", "j == 0", "j >= 7", "j < 1", "j != 3"];
    for (level, apart) in Level::ALL.into_iter().flat_map(|l| all.map(|a| (l, a))) {
        let text = format!(
            "@export(\"f\")\nfn f(a: [u16; 8]) -> [u16; 8] {{ g(g(a)) }}\n@noinline\nfn g(a: [u16; 8]) -> [u16; 8] {{ [for j in 0..<8: if {apart} {{ a[j] & 15 }} else {{ a[j] }}] }}\n"
        );
        built(&checked(&text, "host64"), level).unwrap_or_else(|f| panic!("{level:?}, {apart}: {:?}", refused(f)));
    }
}

#[test]
fn an_array_without_storage_is_refused_by_check() {
    let wrong = [
        // It is written behind the copy: two arrays are alive.
        (AEAD, "  (c, tag(k, c))", "  let d = c\n  for i in 0..<n { c[i] = 0 }\n  (d, tag(k, c))"),
        // It is no result.
        (AEAD, "([u8; n], u8) {\n  var c = crypt(k, m)\n  (c, tag(k, c))", "u8 {\n  var c = crypt(k, m)\n  tag(k, c)"),
        // A result of another length.
        (AEAD, "([u8; n], u8) {\n  var c = crypt(k, m)\n  (c, tag(k, c))", "[u8; n + 1] {\n  var c = crypt(k, m)\n  var r: [u8; n + 1] = [0; n + 1]\n  for i in 0..<n { r[i] = c[i] }\n  r"),
    ];
    for (text, from, to) in wrong {
        assert!(text.contains(from));
        let text = text.replace(from, to);
        let (code, place) = refused(interface(&checked(&text, "rv32")).expect_err(&text));
        assert_eq!(code, "not-in-c", "{text}");
        assert!(text[place as usize..].starts_with("c = crypt") || text[place as usize..].starts_with("d = c"), "{}", &text[place as usize..]);
        // A bound of the length gives it storage, at every level.
        let bounded = text.replace("fn seal<n: len>", "fn seal<n: len in 0..64>");
        for level in Level::ALL {
            let c = checked(&bounded, "rv32");
            interface(&c).and_then(|()| built(&c, level)).unwrap_or_else(|f| panic!("{level:?}: {:?}\n{bounded}", refused(f)));
        }
        let much = text.replace("fn seal<n: len>", "fn seal<n: len in 0..65537>");
        assert_eq!(refused(interface(&checked(&much, "rv32")).expect_err(&much)).0, "not-in-c");
    }
}

#[test]
fn widths_are_those_of_the_target() {
    let export = |body: &str| format!("@export(\"f\")\nfn f(x: int in 0..2^40, y: int in 0..2^40) -> u32 {{ {body} }}\n");
    for (body, narrow) in [
        ("u32(x + y)", true),
        ("u32((x + y) >> 5)", true),
        // Only the low bits are used.
        ("u32(x * y)", true),
        ("u32((x * y) & 0xffff)", true),
        ("u32((x * y) >> 30)", false),
        ("u32((x * y) >> 30 & 7)", false),
        ("if x * y < 77 { 1 } else { 0 }", false),
        ("u32(((x - y) << 30) >> 31)", false),
    ] {
        let text = export(body);
        for (target, fits) in [("rv32", narrow), ("host64", true)] {
            let c = checked(&text, target);
            assert_eq!(printable(&c).map_err(|f| refused(f).0), if fits { Ok(()) } else { Err("too-wide") }, "{body} for {target}");
            for level in Level::ALL {
                assert_eq!(built(&c, level).is_ok(), fits, "{body} for {target} at {level:?}");
            }
        }
    }
    // What a private function takes is judged before anything is proved.
    let private = "fn g(x: int in 0..2^70) -> u8 { u8(x) }\n@export(\"f\")\nfn f(x: u8) -> u8 { g(int(x)) }\n";
    assert_eq!(refused(interface(&checked(private, "rv32")).expect_err("too wide")).0, "too-wide");
    assert!(interface(&checked(private, "host64")).is_ok());
    // A module that exports nothing has no C.
    assert!(printable(&checked(&private.replace("@export(\"f\")\n", ""), "rv32")).is_ok());
}

#[test]
fn random_programs_that_are_printable_are_built_and_no_others() {
    let (mut yes, mut no, mut why) = (0, 0, BTreeSet::new());
    for seed in 0..60 {
        let mut c = checked("@export(\"f\")\nfn f(x: u8) -> u8 { x }\n", "rv32");
        let config = Config { words: vec![1, 8, 32, 64], int_bits: 40 + 20 * (seed % 3) as u32, ..Config::default() };
        c.program = program_with(seed, &config);
        for f in &mut c.program.funcs {
            f.export = Some(format!("c_{}", f.name));
        }
        let fits = interface(&c).and_then(|()| printable(&c)).map_err(refused);
        let built = interface(&c).and_then(|()| built(&c, Level::O0)).map_err(refused);
        assert_eq!(fits, built, "seed {seed}");
        match fits {
            Ok(()) => yes += 1,
            Err((code, _)) => {
                no += 1;
                why.insert(code);
            }
        }
    }
    assert!(yes > 5 && no > 5, "{yes} printed, {no} refused: {why:?}");
}
