//! The judge accepts what the range engines found of the library.

use santoku_ir::Program;
use santoku_prove::judged;
use santoku_prove::ranges::annotate;

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
    let mut accepted = 0;
    for (entry, impls) in [
        ("cipher/chacha20", &[][..]),
        ("cipher/rectangle", &[]),
        ("ecdsa/p256", &[]),
        ("nacl/sign", &[("field.fe25519", "radix25_5")]),
        ("nacl/sign", &[("field.fe25519", "radix51")]),
        ("nacl/sign", &[("field.fe25519", "radix16")]),
    ] {
        let p = annotate(&load(entry, impls));
        for verdict in judged::program(&p, false).into_iter().flatten() {
            let plan = verdict.unwrap_or_else(|e| panic!("{entry} {impls:?}: {e:?}"));
            accepted += 1;
            assert!(plan.steps > 0);
        }
    }
    println!("tried: {accepted} functions of the library accepted by the judge");
    assert!(accepted > 300);
}
