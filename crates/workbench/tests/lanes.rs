//! Shipped functions that do several blocks at once in registers of vectors: what they compute is what they compute without, at every length, by
//! every compiler; and nothing of it stays on the stack.

mod support;

use santoku_lab::host::HostProgram;
use santoku_skips::{checked, lacking, seeds};
use santoku_target::{vectors, VectorUnit};
use support::shipped_unit;

/// A unit, the declaration of a function, and its call for a message `m` of `n` bytes to `out`, with `key` and `nonce`.
const SHIPPED: [(&str, &str, &str); 3] = [
    (
        "aead_chacha20poly1305",
        "",
        "santoku_chacha20poly1305_seal(out, out + n, n % 40, n, key, nonce, m, m)",
    ),
    (
        "aead_xchacha20poly1305",
        "",
        "santoku_xchacha20poly1305_seal(out, out + n, n % 40, n, key, nonce, m, m)",
    ),
    (
        "nacl_box",
        "void randombytes(unsigned char *x, unsigned long long n) { memset(x, 1, n); }\n",
        "(memset(m, 0, 32), crypto_secretbox(out, m, n < 32 ? 32 : n, nonce, key))",
    ),
];

/// Messages of every length up to this one.
const LONGEST: usize = 1700;
/// Bytes that a call writes at most.
const OUT: usize = LONGEST + 64;

/// The unit, and a program that writes what it gives for each length.
fn program(text: &str, (more, call): (&str, &str)) -> String {
    format!(
        "{text}\n#include <stdio.h>\n#include <string.h>\n{more}\
         static uint8_t m[{LONGEST} + 1], out[{OUT}], key[32], nonce[24];\n\
         int main(void)\n{{\n    size_t n, k;\n    uint32_t x = 1;\n    for (k = 0; k < 32; k++) {{ key[k] = (uint8_t)(k * 7 + 3); nonce[k % 24] = (uint8_t)(k * 5); }}\n    \
         for (n = 0; n <= {LONGEST}; n++) {{\n        for (k = 0; k < n; k++) {{ x = x * 1664525 + 1013904223; m[k] = (uint8_t)(x >> 24); }}\n        \
         memset(out, 0, sizeof out);\n        (void){call};\n        if (fwrite(out, 1, n + 32, stdout) != n + 32) return 1;\n    }}\n    return 0;\n}}\n"
    )
}

fn results(compiler: &str, flags: &[&str], text: &str) -> Vec<u8> {
    let all: Vec<&str> = ["-std=c99", "-Wall", "-Werror", "-Wno-unused-function"].iter().chain(flags).copied().collect();
    HostProgram::build(compiler, &all, &[("main.c", text)]).and_then(|p| p.run(&[], &[])).unwrap_or_else(|e| panic!("{compiler} {flags:?}: {e}"))
}

/// The vector units that this processor has.
fn here() -> Vec<VectorUnit> {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let (here, others): (Vec<VectorUnit>, Vec<VectorUnit>) =
        vectors().expect("right").into_iter().filter(|u| u.guard().is_some()).partition(|u| u.is_listed(&info));
    for unit in others {
        lacking(format!("kernels in {}", unit.name), "this processor lacks its instructions");
    }
    here
}

#[test]
fn blocks_at_once_are_the_blocks_one_by_one() {
    let mut tried = 0;
    for (nr, (unit, more, call)) in SHIPPED.iter().enumerate() {
        let text = program(&shipped_unit(unit), (more, call));
        assert!(text.contains("STK_LANES == "), "{unit} has no kernels");
        let want = results("gcc", &["-O2", "-DSTK_NO_VECTORS"], &text);
        for (k, vector) in here().iter().enumerate() {
            let flags: Vec<&str> = vector.flags.iter().map(String::as_str).collect();
            for compiler in seeds::one(["gcc", "clang-19"], nr + k) {
                for level in seeds::one(["-O0", "-O2", "-O3", "-Os"], nr + k) {
                    assert!(results(compiler, &[&[level], &flags[..]].concat(), &text) == want, "{unit} in {} by {compiler} {level} is wrong", vector.name);
                    tried += LONGEST + 1;
                }
            }
        }
    }
    checked(tried, "messages in registers of vectors as without");
}

/// Each of the kernels of a file with one rotation wrong: found.
#[test]
fn a_wrong_kernel_is_found() {
    let mut found = 0;
    for (unit, more, call) in SHIPPED {
        let text = program(&shipped_unit(unit), (more, call));
        let want = results("gcc", &["-O1", "-DSTK_NO_VECTORS"], &text);
        for (vector, flags) in here().iter().map(|v| (v, v.flags.iter().map(String::as_str).collect::<Vec<_>>())) {
            // In this unit alone: the texts of the units follow each other.
            let wrong: String = text.split("#e").map(|part| part.replacen(", 7);", ", 6);", 1)).collect::<Vec<_>>().join("#e");
            assert_ne!(wrong, text);
            // The C of the program is as it was.
            let scalar = results("gcc", &["-O1", "-DSTK_NO_VECTORS"], &wrong);
            assert!(scalar == want, "{unit}: the change is not in a kernel");
            assert!(results("gcc", &[&["-O1"], &flags[..]].concat(), &wrong) != want, "{unit} in {}: a wrong kernel is not found", vector.name);
            found += 1;
        }
    }
    checked(found, "wrong kernels found");
}
