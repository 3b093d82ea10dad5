//! Damaged programs of the library: whatever comes out, it is never a fault of ours.

use proptest::prelude::*;
use santoku_driver::{check, Failure, Request, Target};
use std::path::Path;

const PROGRAMS: &[&str] = &["hash/sha512.stk", "cipher/chacha20.stk", "cipher/rectangle.stk", "field/fe25519_radix51.stk", "curve/ed25519.stk"];

fn lib(path: &str) -> Option<String> {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)).ok()
}

/// The text in pieces: words, and single other characters.
fn pieces(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for c in text.chars() {
        let word = c.is_alphanumeric() || c == '_';
        match out.last_mut().filter(|l| word && l.ends_with(|e: char| e.is_alphanumeric() || e == '_')) {
            Some(last) => last.push(c),
            None => out.push(c.to_string()),
        }
    }
    out
}

fn outcome(entry: &str, text: &str) -> Result<(), Failure> {
    let target = Target::built_in("portable").unwrap().unwrap();
    let request = Request { roots: vec!["lib".into()], ..Request::new(entry, target) };
    let mut load = |path: &str| Ok(if path == entry { Some(text.to_string()) } else { lib(path) });
    check(&request, &mut load).map(drop)
}

#[test]
fn undamaged_programs_are_accepted() {
    for p in PROGRAMS {
        let entry = format!("lib/{p}");
        let text = lib(&entry).unwrap();
        assert!(outcome(&entry, &text).is_ok(), "{p}: {:?}", outcome(&entry, &text).err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, max_shrink_iters: 50, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_program_is_the_users_fault(
        program in proptest::sample::select(PROGRAMS),
        at in any::<prop::sample::Index>(),
        from in any::<prop::sample::Index>(),
        how in 0..3u8,
    ) {
        let entry = format!("lib/{program}");
        let mut parts = pieces(&lib(&entry).unwrap());
        let (i, j) = (at.index(parts.len()), from.index(parts.len()));
        match how {
            0 => drop(parts.remove(i)),
            1 => parts[i] = parts[j].clone(),
            _ => parts.insert(i, parts[j].clone()),
        }
        if let Err(Failure::Internal { stage, message }) = outcome(&entry, &parts.concat()) {
            return Err(TestCaseError::fail(format!("internal error in {stage}: {message}")));
        }
    }
}
