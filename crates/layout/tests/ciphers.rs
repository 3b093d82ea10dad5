//! Ciphers and permutations of 1, 5, 12, 16 and 25 words: published vectors, then every layout and instruction set.

mod support;

use santoku_ir::interp::Interp;
use santoku_layout::Layout;
use santoku_skips::{checked, lacking};
use support::{compile, runs_here, try_all, Case};

const ALL: [(&str, &str, &str); 4] = [
    ("Ascon-p", "ascon_p12", include_str!("support/ascon.stk")),
    ("Xoodoo", "xoodoo12", include_str!("support/xoodoo.stk")),
    ("Keccak-f[1600]", "keccak_f1600", include_str!("support/keccak.stk")),
    ("PRESENT", "present_encrypt", include_str!("support/present.stk")),
];

const UNITS: [&str; 5] = ["portable64", "sse2", "avx2", "avx512vl", "avx512"];

/// The kernels of these programs in these layouts, for every instruction set that has the layout.
fn kernels(programs: &[(&str, &str, &str)], layouts: &[Layout]) {
    let mut cases = Vec::new();
    for (name, export, text) in programs {
        let program = compile(text);
        for t in &program.tests {
            Interp::new(&program).call(t.func, &[], vec![]).unwrap_or_else(|f| panic!("{name}, {}: {f:?}", t.name));
        }
        assert!(!program.tests.is_empty(), "{name}: no published vector");
        for layout in layouts.iter().copied() {
            for isa in UNITS.into_iter().filter(|isa| if layout == Layout::Scalar { *isa == "portable64" } else { layout == Layout::Bitslice || *isa != "portable64" }) {
                if runs_here(isa) {
                    cases.push(Case { name: (*name).into(), text: text.replace(export, "f"), layout, isa, interleave: 1 });
                } else {
                    lacking(format!("{name}, {} {}", layout.name(), isa), "this processor lacks its instructions");
                }
            }
        }
    }
    let count = try_all(&cases);
    assert!(count.refused.is_empty(), "{:?}", count.refused);
    assert_eq!(count.agreed, cases.len());
    checked(count.agreed, "kernels");
}

#[test]
fn ascon_and_xoodoo_in_every_layout() {
    kernels(&ALL[..2], &Layout::ALL);
}

#[test]
fn present_in_every_layout() {
    kernels(&ALL[3..], &Layout::ALL);
}

#[test]
fn keccak_in_words() {
    kernels(&ALL[2..3], &[Layout::Scalar, Layout::Vertical]);
}

#[test]
#[ignore = "long"]
fn keccak_bitsliced() {
    kernels(&ALL[2..3], &[Layout::Bitslice]);
}
