//! The judge accepts what the range engines found of the library.

use santoku_ir::Program;
use santoku_prove::judged;
use santoku_prove::ranges::{annotate, annotate_by_summaries};

fn load(entry: &str, impls: &[(&str, &str)]) -> Program {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lib");
    let mut read = |path: &str| std::fs::read_to_string(path).ok();
    let mut options = santoku_sema::Options::default();
    options.impls.extend(impls.iter().map(|(a, b)| (a.to_string(), b.to_string())));
    match santoku_sema::compile(&format!("{root}/{entry}.stk"), &[root.to_string()], &mut read, &options) {
        Ok(c) => c.program,
        Err(f) => panic!("{entry}: {:?}", f.diagnostics),
    }
}

#[test]
fn the_library_is_accepted() {
    let (mut accepted, mut obligations) = (0, 0);
    for (entry, impls) in [
        ("cipher/chacha20", &[][..]),
        ("cipher/rectangle", &[]),
        ("ecdsa/p256", &[]),
        ("nacl/sign", &[("field.fe25519", "radix25_5")]),
        ("nacl/sign", &[("field.fe25519", "radix51")]),
        ("nacl/sign", &[("field.fe25519", "radix16")]),
    ] {
        let p = load(entry, impls);
        for verdict in judged::program(&p, &annotate(&p), false).into_iter().flatten() {
            let asked = verdict.unwrap_or_else(|e| panic!("{entry} {impls:?}: {e:?}"));
            accepted += 1;
            obligations += asked;
        }
    }
    println!("tried: {accepted} functions of the library accepted by the judge, {obligations} obligations asked");
    assert!(accepted > 300 && obligations > 10_000);
}

fn compiled(text: &str) -> Program {
    let mut load = |path: &str| (path == "t.stk").then(|| text.to_string());
    santoku_sema::compile("t.stk", &[], &mut load, &santoku_sema::Options::default()).unwrap_or_else(|f| panic!("{:?}", f.diagnostics)).program
}

fn verdicts(text: &str) -> Vec<judged::Verdict> {
    let p = compiled(text);
    judged::program(&p, &annotate(&p), false).into_iter().flatten().collect()
}

/// More rounds than any plan has steps for: one of them stands for all.
#[test]
fn a_long_loop_is_judged_by_one_round() {
    let text = "fn f(x: u8) -> u8 {\n  var s: int in 0..255 = int(x)\n  @rolled for i in 0..<16000000 { s = (s + i) & 255 }\n  u8(s)\n}\n";
    assert!(verdicts(text).iter().all(Result::is_ok), "{:?}", verdicts(text));
    let wrong = verdicts(&text.replace("& 255 }", "& 511 }"));
    assert!(wrong[0].as_ref().is_err_and(|e| e.what.contains("is stored where")), "{wrong:?}");
}

/// Every function calls the one before twice: what is refused is refused without a walk along every path to it.
#[test]
fn calls_within_calls_take_no_longer() {
    let mut text = "fn f0(x: int in 0..5) -> int in 0..5 { x >> 1 }\n".to_string();
    (1..40).for_each(|i| text.push_str(&format!("fn f{i}(x: int in 0..5) -> int in 0..5 {{ f{0}(f{0}(x)) }}\n", i - 1)));
    text.push_str("fn g(x: int in 0..9) -> int in 0..5 { f39(x) }\n");
    let all = verdicts(&text);
    assert!(all.len() == 41 && all[..40].iter().all(Result::is_ok) && all[40].is_err(), "{:?}", all.last());
}

/// What a callee of a long loop gives for narrow arguments is found by the engines and not by the judge. By what it gives of any, its
/// caller is accepted.
#[test]
fn callees_are_known_by_their_summaries_too() {
    let p = load("onetimeauth/poly1305", &[]);
    let annotated = annotate(&p);
    let refused = |verdicts: Vec<Option<judged::Verdict>>| verdicts.into_iter().flatten().filter(Result::is_err).count();
    assert!(refused(judged::program(&p, &annotated, false)) > 0, "this test asks for nothing");
    assert_eq!(refused(judged::program_or(&p, &annotated, &[&|| annotate_by_summaries(&p)])), 0);
}

/// No other ranges make a value fit that does not.
#[test]
fn what_leaves_its_range_is_refused_by_every_set_of_ranges() {
    let text = |start: u32, n: u32| format!("fn go(start: int in 0..100, n: public int in 0..1000) -> int in 0..100 {{\n  var h: int in 0..100 = start\n  @rolled for i in 0..<n {{ h = h & 63 }}\n  h\n}}\nfn f(n: public int in {n}..1000) -> int in 0..63 {{ go({start}, n) }}\n");
    let verdicts = |text: String| {
        let p = compiled(&text);
        judged::program_or(&p, &annotate(&p), &[&|| annotate_by_summaries(&p), &|| annotate(&p)]).into_iter().flatten().map(|v| v.is_ok()).collect::<Vec<_>>()
    };
    assert_eq!(verdicts(text(64, 0)), [true, false]);
    assert_eq!(verdicts(text(100, 0)), [true, false]);
    assert!(verdicts(text(0, 0))[0]);
}
