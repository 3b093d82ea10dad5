//! What functions of the shipped files leave on the stack below their caller, as it is found there after the call, on every machine that is described.

mod support;

use num_bigint::BigUint;
use santoku_lab::calls::{run, Job};
use santoku_lab::cross::Cross;
use santoku_lab::harness::{Arg, Call, Ret, Source};
use santoku_skips::{checked, lacking, seeds};
use santoku_target::{Level, Target};
use sha2::{Digest, Sha512};
use std::collections::BTreeMap;
use support::{c_file, tree};

/// What the stack is painted with, as in `c/residue.c`.
const PAINT: u8 = 0xa5;
/// The frame of the function itself, and what is above it.
const FRAMES: usize = 176;
/// Where every frame has 160 bytes for the registers of those that are called.
const FRAMES_S390X: usize = 400;
/// The group order of Ed25519 (RFC 8032, section 5.1).
const ORDER: &str = "7237005577332262213973186563042994240857116359379907606001950938285454250989";

/// A call of a shipped function.
struct Probe {
    unit: &'static str,
    declaration: &'static str,
    /// With `out` and `a`.
    call: &'static str,
    out: usize,
    input: Vec<u8>,
    /// Nothing of these may be seen.
    secrets: Vec<Vec<u8>>,
}

const SEED: [u8; 32] = *b"a seed that nobody else may know";

fn probes() -> Vec<Probe> {
    let expanded = Sha512::digest(SEED);
    let (mut scalar, prefix) = (expanded[..32].to_vec(), expanded[32..].to_vec());
    scalar[0] &= 248;
    scalar[31] = scalar[31] & 63 | 64;
    let message = b"message".repeat(4);
    let nonce = BigUint::from_bytes_le(&Sha512::digest([&prefix[..], &message].concat()));
    let nonce = (nonce % ORDER.parse::<BigUint>().expect("a number")).to_bytes_le();
    let key: Vec<u8> = SEED.iter().map(|b| b ^ 0x31).collect();
    let sign = Probe {
        unit: "nacl_sign",
        declaration: "int crypto_sign(unsigned char *sm, unsigned long long *smlen, const unsigned char *m, unsigned long long n, const unsigned char *sk)",
        call: "(void)crypto_sign((out), 0, (a) + 64, 28, (a))",
        out: 92,
        input: [&SEED[..], &[7; 32], &message].concat(),
        secrets: vec![scalar.clone(), prefix.clone(), nonce],
    };
    let pair = Probe {
        unit: "nacl_sign",
        declaration: "int crypto_sign_seed_keypair(unsigned char *pk, unsigned char *sk, const unsigned char *seed)",
        call: "(void)crypto_sign_seed_keypair((out), (out) + 32, (a))",
        out: 96,
        input: SEED.to_vec(),
        secrets: vec![SEED.to_vec(), scalar, prefix],
    };
    let shared = Probe {
        unit: "scalarmult_curve25519",
        declaration: "void santoku_x25519(uint8_t *result, const uint8_t *k, const uint8_t *u)",
        call: "santoku_x25519((out), (a), (a) + 32)",
        out: 32,
        input: [&key[..], &[9], &[0; 31]].concat(),
        secrets: vec![key.clone()],
    };
    let hash = Probe {
        unit: "hash_sha256",
        declaration: "void santoku_sha256(uint8_t *result, uint32_t n, const uint8_t *m)",
        call: "santoku_sha256((out), 100, (a))",
        out: 32,
        input: (0..100u8).map(|k| k.wrapping_mul(73) ^ 0x5c).collect(),
        secrets: vec![(64..100u8).map(|k| k.wrapping_mul(73) ^ 0x5c).collect()],
    };
    let seal = Probe {
        unit: "aead_chacha20poly1305",
        declaration: "void santoku_chacha20poly1305_seal(uint8_t *c, uint8_t *tag, uint32_t k, uint32_t n, const uint8_t *key, const uint8_t *nonce, const uint8_t *ad, const uint8_t *m)",
        // Long enough for eight blocks at once.
        call: "santoku_chacha20poly1305_seal((out), (out) + 700, 5, 700, (a), (a) + 32, (a) + 44, (a) + 49)",
        out: 716,
        input: [&key[..], &[9; 12], &[8; 5], &[7; 700]].concat(),
        secrets: vec![key.clone()],
    };
    let gcm = Probe {
        unit: "aead_aesgcm",
        declaration: "void santoku_aes256gcm_seal(uint8_t *c, uint8_t *tag, uint32_t k, uint32_t n, const uint8_t *key, const uint8_t *nonce, const uint8_t *ad, const uint8_t *m)",
        call: "santoku_aes256gcm_seal((out), (out) + 100, 5, 100, (a), (a) + 32, (a) + 44, (a) + 49)",
        out: 116,
        input: [&key[..], &[9; 12], &[8; 5], &[7; 100]].concat(),
        secrets: vec![key.clone()],
    };
    vec![sign, pair, shared, hash, gcm, seal]
}

/// The stack after the call, the lowest byte first.
fn left(cross: &Cross, probe: &Probe, level: Level, told: &str) -> Vec<u8> {
    let ram = cross.target.run.as_ref().and_then(|r| r.memory).map_or(usize::MAX, |m| m.ram_bytes as usize);
    let bytes = 8192.min(ram / 5);
    let folder = tree().root.join("dist/c").join(probe.unit);
    let text = std::fs::read_to_string(folder.join(format!("{}.c", probe.unit))).expect("shipped");
    let probing = std::fs::read_to_string(c_file("residue.c")).expect("in the tree");
    let defines = format!("#define PROBE_DECLARE {}\n#define PROBE_CALL(out, a) {}\n#define PROBE_BYTES {bytes}\n", probe.declaration, probe.call);
    let include = "#include <stdint.h>\n";
    let sources = vec![
        Source::Text { name: format!("{}.c", probe.unit), text: format!("{told}{text}") },
        Source::Text { name: "residue.c".into(), text: format!("{include}{defines}{probing}") },
    ];
    let call = Call {
        declaration: "void stk_residue(unsigned char *out, unsigned char *left, const unsigned char *a)".into(),
        function: "stk_residue".into(),
        args: vec![Arg::Out(probe.out), Arg::Out(bytes), Arg::In(probe.input.clone())],
        ret: Ret::Void,
    };
    let ran = run(cross, &Job { sources, include_dirs: vec![folder], calls: vec![call], level }).unwrap_or_else(|e| panic!("{}: {e}", cross.target.name));
    ran[0].buffers[1].clone().expect("the stack")
}

/// Bytes below the frames around the function that are neither paint nor zero.
fn dirty(target: &Target, stack: &[u8]) -> usize {
    let frames = if target.name == "s390x" { FRAMES_S390X } else { FRAMES };
    stack[..stack.len() - frames].iter().filter(|b| ![PAINT, 0].contains(*b)).count()
}

/// Eight bytes of a secret that are seen, if any.
fn seen(stack: &[u8], probe: &Probe) -> Option<String> {
    let windows = probe.secrets.iter().flat_map(|s| s.windows(8));
    windows.filter(|w| stack.windows(8).any(|x| x == *w)).map(|w| format!("{w:02x?}")).next()
}

/// Without assembly for the machine, the stack is cleared by a function of C, which leaves its own return addresses there.
fn clears_with_assembly(target: &Target) -> bool {
    target.name != "powerpc"
}

fn every_machine(all: bool) -> usize {
    let probes = probes();
    let (mut clean, mut shown, mut tried) = (0, 0, 0);
    // The deepest stack of each unit, frames of callers included.
    let mut deepest = BTreeMap::new();
    for name in santoku_target::names() {
        let target = tree().target(name).unwrap_or_else(|e| panic!("{e}"));
        let compilers: Vec<_> = target.compilers.iter().filter(|c| !c.levels.is_empty()).collect();
        for using in if all { compilers } else { seeds::one(compilers, tried) } {
            let cross = Cross::named(&target, Some(&using.name)).unwrap_or_else(|e| panic!("{e}"));
            for level in if all { using.levels.clone() } else { seeds::one(using.levels.clone(), tried) } {
                tried += 1;
                for (k, probe) in probes.iter().enumerate().filter(|(k, _)| all || (k + tried) % probes.len() < 2) {
                    let what = format!("{name} {} {level} {} {k}", using.name, probe.unit);
                    let stack = left(&cross, probe, level, "");
                    assert_eq!(seen(&stack, probe), None, "{what}");
                    if clears_with_assembly(&target) {
                        assert_eq!(dirty(&target, &stack), 0, "{what}: the stack is deeper than what is cleared");
                    }
                    clean += 1;
                    let kept = left(&cross, probe, level, "#define STK_KEEP_SECRETS\n");
                    assert!(dirty(&target, &kept) > 64, "{what}: nothing is left where nothing is cleared");
                    shown += usize::from(seen(&kept, probe).is_some());
                    let depth = kept.len() - kept.iter().position(|b| *b != PAINT).unwrap_or(kept.len());
                    let most = deepest.entry(probe.unit).or_insert((0, String::new()));
                    if depth > most.0 {
                        *most = (depth, what.clone());
                    }
                }
            }
        }
    }
    println!("tried: {clean} calls on {tried} builds leave nothing on the stack; where nothing is cleared, all leave something, {shown} of them bytes of a secret");
    println!("tried: deepest stacks: {deepest:?}");
    assert!(shown > 0, "no secret is ever seen: the check finds nothing");
    clean
}

#[test]
fn nothing_is_left_on_the_stack() {
    assert!(every_machine(false) >= 2 * santoku_target::names().len());
}

#[test]
#[ignore = "minutes; `make soak` runs it"]
fn soak_nothing_is_left_on_the_stack_by_any_compiler() {
    every_machine(true);
}

/// A stack that is said to be smaller than it is: what lies deeper is found.
#[test]
fn a_stack_that_is_cleared_in_part_is_found() {
    let target = tree().target("host64").unwrap_or_else(|e| panic!("{e}"));
    let cross = Cross::find(&target, None).unwrap_or_else(|e| panic!("{e}"));
    let (probe, level) = (&probes()[0], Level::O2);
    assert_eq!(dirty(&target, &left(&cross, probe, level, "")), 0);
    assert!(dirty(&target, &left(&cross, probe, level, "#define STK_STACK_NACL_SIGN 512\n")) > 64);
}

/// Kernels in registers of vectors leave nothing, either.
#[test]
fn nothing_is_left_where_blocks_are_made_at_once() {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let probe = probes().pop().expect("the last one is of many blocks");
    let mut clean = 0;
    for (k, unit) in santoku_target::vectors().expect("right").into_iter().filter(|u| u.guard().is_some()).enumerate() {
        if !unit.is_listed(&info) {
            lacking(format!("the stack of kernels in {}", unit.name), "this processor lacks its instructions");
            continue;
        }
        let mut target = tree().target("host64").unwrap_or_else(|e| panic!("{e}"));
        target.isas.iter_mut().for_each(|isa| isa.flags.extend(unit.flags.iter().cloned()));
        for compiler in seeds::one(["gcc", "clang"], k) {
            let cross = Cross::named(&target, Some(compiler)).unwrap_or_else(|e| panic!("{e}"));
            for level in [Level::O0, Level::O2, Level::O3] {
                let what = format!("{} by {compiler} {level}", unit.name);
                let stack = left(&cross, &probe, level, "");
                assert_eq!((seen(&stack, &probe), dirty(&target, &stack)), (None, 0), "{what}");
                let kept = left(&cross, &probe, level, "#define STK_KEEP_SECRETS\n");
                assert!(seen(&kept, &probe).is_some(), "{what}: no secret is seen where nothing is cleared");
                clean += 1;
            }
        }
    }
    checked(clean, "builds whose kernels leave nothing");
}
