//! All of NaCl against TweetNaCl's C and libsodium: the same calls, and the same results.

mod support;

use santoku_workbench::differential::{compare, describe, ours, rival, shared, Compared, Difference, Generator, Side};
use santoku_workbench::dist::folder;
use santoku_workbench::interface::functions;
use santoku_workbench::primitives::{Primitive, Tree};
use support::tree;

/// The shipped C and header of a primitive.
fn shipped(tree: &Tree, primitive: &Primitive) -> [String; 2] {
    ["c", "h"].map(|ending| tree.read(&folder(&primitive.unit).join(format!("{}.{ending}", primitive.unit)).to_string_lossy()).unwrap_or_else(|e| panic!("{e}")))
}

fn tried(name: &str, flags: &[&str], count: usize, spoil: &dyn Fn(String) -> String) -> Result<Compared, Difference> {
    let tree = tree();
    let primitive = tree.primitive("nacl").expect("declared");
    let other = primitive.rivals.iter().find(|r| r.name == name).expect("a rival");
    let all = functions(&primitive, &[]).expect("an interface");
    let functions = shared(&primitive, &all, other);
    let [c, h] = shipped(&tree, &primitive);
    let c = spoil(c);
    let own: Side = ours(&primitive, &functions, [&c, &h], "gcc", flags).unwrap_or_else(|e| panic!("{e}"));
    let theirs = rival(&tree.root, &primitive, other, &functions).unwrap_or_else(|e| panic!("{e}"));
    let mut generator = Generator::new(&primitive, other, &functions, 0x5a170c0).expect("rows");
    let found = compare(&mut generator, [&own, &theirs], count, &mut |_| {}).unwrap_or_else(|e| panic!("{e}"));
    if let Ok(compared) = &found {
        let calls: usize = compared.calls.values().sum();
        println!("tried: {calls} calls of {} functions against {name}, {} accepted, {} plans left out that it refuses", compared.calls.len(), compared.accepted.values().sum::<usize>(), compared.left_out);
        for (f, n) in &compared.calls {
            println!("  {f}: {n}, {} accepted", compared.accepted[f]);
        }
        assert_eq!(compared.calls.len(), functions.len(), "every function is called");
        // Of every function some calls are accepted and, where it can refuse, some are not.
        for (f, n) in &compared.accepted {
            assert!(*n > 0, "{f}: no call was accepted");
        }
        for f in ["crypto_box_open", "crypto_secretbox_open", "crypto_sign_open", "crypto_onetimeauth_verify"] {
            assert!(compared.accepted[f] < compared.calls[f], "{f}: every call was accepted");
        }
    }
    found
}

fn well(found: Result<Compared, Difference>) {
    if let Err(d) = found {
        let tree = tree();
        let primitive = tree.primitive("nacl").expect("declared");
        panic!("{}\n{}", d.what, describe(&d.plan, &d.functions, &primitive.functions));
    }
}

const HALF32: &str = "-DSANTOKU_32BIT";

#[test]
fn against_tweetnacl() {
    well(tried("tweetnacl", &["-O2", "-DSTK_DEBUG"], 50_000, &|c| c));
}

#[test]
fn against_libsodium_in_32_bits() {
    well(tried("libsodium", &["-O2", HALF32], 50_000, &|c| c));
}

#[test]
fn the_smallest_form_against_libsodium() {
    well(tried("libsodium", &["-Os", "-DSANTOKU_SMALL"], 20_000, &|c| c));
}

#[test]
#[ignore = "soak: 10^7 calls, half an hour"]
fn long() {
    let runs = santoku_workbench::differential::run(&tree(), "nacl", 2_250_000, 0x10_000_000, &|_| {}).unwrap_or_else(|e| panic!("{e}"));
    let mut calls = 0;
    for run in runs {
        calls += run.found.as_ref().map_or(0, Compared::calls);
        well(run.found);
    }
    assert!(calls >= 10_000_000, "{calls}");
}

#[test]
fn with_sanitizers() {
    let flags = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    well(tried("libsodium", &flags, 4_000, &|c| c));
    well(tried("libsodium", &[&flags[..], &[HALF32]].concat(), 4_000, &|c| c));
}

#[test]
fn what_is_wrong_is_found_and_made_small() {
    // The bound of a length, the zeros in front of a message.
    for (old, new) in [("n < 32 || ", "n < 33 || "), ("memset(m, 0, 32);", "memset(m, 0, 31);")] {
        let found = tried("tweetnacl", &["-O1"], 20_000, &|c| {
            assert!(c.contains(old), "{old}");
            c.replace(old, new)
        });
        let d = found.expect_err(old);
        assert!(d.plan.length <= 40 && d.plan.same.is_none() && d.plan.change.is_none(), "{old}: not small: {d:?}");
    }
    // A verdict that is not looked at.
    let found = tried("tweetnacl", &["-O1"], 20_000, &|c| c.replace("if (!santoku_secretbox_authentic", "if (0 && !santoku_secretbox_authentic"));
    assert!(found.expect_err("a verdict").what.contains("returns"));
}
