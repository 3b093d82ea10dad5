//! Ciphers and permutations of 1, 5, 12, 16 and 25 words: published vectors, then every layout and instruction set.

mod support;

use santoku_ir::interp::Interp;
use santoku_layout::{Isa, Layout};
use santoku_skips::{checked, lacking};
use support::{compile, runs_here, try_all, Case};

const ALL: [(&str, &str, &str); 4] = [
    ("Ascon-p", "ascon_p12", include_str!("support/ascon.stk")),
    ("Xoodoo", "xoodoo12", include_str!("support/xoodoo.stk")),
    ("Keccak-f[1600]", "keccak_f1600", include_str!("support/keccak.stk")),
    ("PRESENT", "present_encrypt", include_str!("support/present.stk")),
];

/// Every kernel of these programs, in the layouts that have one.
fn kernels(programs: &[(&str, &str, &str)], isas: &[Isa]) {
    let mut cases = Vec::new();
    for (name, export, text) in programs {
        let program = compile(text);
        for t in &program.tests {
            Interp::new(&program).call(t.func, &[], vec![]).unwrap_or_else(|f| panic!("{name}, {}: {f:?}", t.name));
        }
        assert!(!program.tests.is_empty(), "{name}: no published vector");
        for layout in Layout::ALL {
            for isa in isas.iter().copied().filter(|isa| if layout == Layout::Scalar { *isa == Isa::Portable64 } else { layout == Layout::Bitslice || *isa != Isa::Portable64 }) {
                if runs_here(isa) {
                    cases.push(Case { name: (*name).into(), text: text.replace(export, "f"), layout, isa, interleave: 1 });
                } else {
                    lacking(format!("{name}, {} {}", layout.name(), isa.name()), "this processor lacks its instructions");
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
    kernels(&ALL[..2], &Isa::ALL);
}

#[test]
fn present_in_every_layout() {
    kernels(&ALL[3..], &Isa::ALL);
}

#[test]
fn keccak_in_every_layout() {
    kernels(&ALL[2..3], &Isa::ALL);
}
