//! `santoku lab`: what it prints in the source tree, and what it refuses.

mod support;
use expect_test::expect;
use std::process::Command;
use support::{Run, Sandbox};

/// In the source tree.
fn lab(args: &[&str]) -> Run {
    let out = Command::new(env!("CARGO_BIN_EXE_santoku")).arg("lab").args(args).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    Run::of(out)
}

#[test]
fn a_profile_lists_functions_by_their_own_cycles() {
    let run = lab(&["profile", "ecdsa.p256"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let lines: Vec<&str> = run.stdout.lines().collect();
    let cells = |line: &str| line.split('|').map(|c| c.trim().to_string()).filter(|c| !c.is_empty()).collect::<Vec<_>>();
    assert_eq!(cells(lines[0]), ["function", "calls", "self", "share", "with callees"]);
    assert_eq!(cells(lines[2])[0], "field_fep256_mont64_mul", "multiplication takes most");
    let own: Vec<u64> = lines[2..lines.len() - 1].iter().map(|l| cells(l)[2].parse().unwrap()).collect();
    assert!(own.len() > 5 && own.is_sorted_by(|a, b| a >= b), "{own:?}");
    let total: u64 = lines.last().and_then(|l| l.strip_suffix(" cycles")).unwrap().parse().unwrap();
    assert!(own.iter().sum::<u64>() <= total);
}

#[test]
fn a_profile_as_json_has_these_fields() {
    let s = Sandbox::new(&[]);
    let picture = s.path("flames.svg");
    let run = lab(&["profile", "ecdsa.p256", "--json", "-o", &picture]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let rows: Vec<std::collections::BTreeMap<String, serde_json::Value>> = serde_json::from_value(json["functions"].clone()).unwrap();
    assert!(rows.len() > 5);
    for row in &rows {
        assert_eq!(row.keys().collect::<Vec<_>>(), ["calls", "function", "inclusive_cycles", "self_cycles"]);
    }
    assert!(s.read("flames.svg").contains("field_fep256_mont64_mul"));
}

#[test]
fn programs_of_the_matrix_are_listed_one_a_line() {
    let run = lab(&["certify", "--list"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let names: std::collections::BTreeSet<&str> = run.stdout.lines().collect();
    assert_eq!(names.len(), run.stdout.lines().count(), "each once");
    for name in ["nacl.sign@rv32", "nacl.sign@host64", "ecdsa.p256@ckb", "cipher.chacha20@portable"] {
        assert!(names.contains(name), "{names:?}");
    }
    assert_eq!(lab(&["certify", "nacl.sign", "--list"]).code, 2, "a name chooses nothing here");
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let refused = |args: &[&str], want: expect_test::Expect| {
        let run = lab(args);
        want.assert_eq(&run.stderr);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    };
    refused(&["table", "nacl.box"], expect![[r#"
        error[bad-option]: there is no table `nacl.box`
         |
         = try: there are: nacl.sign (e31, host, ckb-vm, zkvm), nacl (e31, host), ecdsa.p256 (ckb-vm, zkvm, host), hash.sha256 (e31, host, ckb-vm, zkvm), scalarmult.curve25519 (e31, host, ckb-vm, zkvm), aead.chacha20poly1305 (e31, host, ckb-vm, zkvm), aead.aesgcm (e31, host), hash.sha3 (e31, host), aead.xchacha20poly1305 (e31, host), ecdsa.secp256k1 (ckb-vm, zkvm, host), cipher.rectangle (host), cipher.chacha20 (host)

        1 error
    "#]]);
    refused(&["table", "ecdsa.p256", "--machine", "e31"], expect![[r#"
        error[bad-option]: there is no table `ecdsa.p256 on e31`
         |
         = try: there are: nacl.sign (e31, host, ckb-vm, zkvm), nacl (e31, host), ecdsa.p256 (ckb-vm, zkvm, host), hash.sha256 (e31, host, ckb-vm, zkvm), scalarmult.curve25519 (e31, host, ckb-vm, zkvm), aead.chacha20poly1305 (e31, host, ckb-vm, zkvm), aead.aesgcm (e31, host), hash.sha3 (e31, host), aead.xchacha20poly1305 (e31, host), ecdsa.secp256k1 (ckb-vm, zkvm, host), cipher.rectangle (host), cipher.chacha20 (host)

        1 error
    "#]]);
    refused(&["ladder", "ckb-p255"], expect![[r#"
        error[bad-option]: there is no ladder `ckb-p255`
         |
         = try: there are: ckb-p256

        1 error
    "#]]);
    refused(&["table", "nacl.sign", "--levels", "O2,O9"], expect![[r#"
        error[bad-option]: `O9` is no level
         |
         = try: levels: O0, O1, O2, O3, Os; separate them by commas

        1 error
    "#]]);
    refused(&["ablate", "nacl.sign", "--target", "z80"], expect![[r#"
        error[unknown-target]: there is no target `z80`
         |
         = targets: aarch64, ckb, ckb-ecdsa, cortex-m0, cortex-m3, cortex-m4, e31, host64, portable, portable64, powerpc, rv32, rv32-small, rv32-spark, rv64, rv64im, s390x, zkvm-ecdsa
         = try: choose one of these, or write a file `targets/<target>.toml`

        1 error
    "#]]);
    refused(&["ablate", "ecdsa.p256", "--machine", "host"], expect![[r#"
        error[bad-option]: there is no ablation `ecdsa.p256 on host, whose figures vary`
         |
         = try: there are: nacl.sign on e31, nacl.sign on ckb-vm, nacl.sign on zkvm, nacl on e31, ecdsa.p256 on ckb-vm, ecdsa.p256 on zkvm, hash.sha256 on e31, hash.sha256 on ckb-vm, hash.sha256 on zkvm, scalarmult.curve25519 on e31, scalarmult.curve25519 on ckb-vm, scalarmult.curve25519 on zkvm, aead.chacha20poly1305 on e31, aead.chacha20poly1305 on ckb-vm, aead.chacha20poly1305 on zkvm, aead.aesgcm on e31, hash.sha3 on e31, aead.xchacha20poly1305 on e31, ecdsa.secp256k1 on ckb-vm, ecdsa.secp256k1 on zkvm

        1 error
    "#]]);
    refused(&["ablate", "nacl.sign", "--target", "aarch64"], expect![[r#"
        error[bad-option]: there is no ablation `nacl.sign on qemu-aarch64`
         |
         = try: there are: nacl.sign (e31, host, ckb-vm, zkvm), nacl (e31, host), ecdsa.p256 (ckb-vm, zkvm, host), hash.sha256 (e31, host, ckb-vm, zkvm), scalarmult.curve25519 (e31, host, ckb-vm, zkvm), aead.chacha20poly1305 (e31, host, ckb-vm, zkvm), aead.aesgcm (e31, host), hash.sha3 (e31, host), aead.xchacha20poly1305 (e31, host), ecdsa.secp256k1 (ckb-vm, zkvm, host)

        1 error
    "#]]);
    refused(&["profile", "nacl.sign", "--operation", "seal"], expect![[r#"
        error[bad-option]: there is no operation `seal`
         |
         = try: there are: sign, open

        1 error
    "#]]);
    refused(&["table", "nacl.sign", "--machine", "host", "--levels", "O0"], expect![[r#"
        error[bad-option]: there is no level on this machine `O0`
         |
         = try: there are: O2, O3

        1 error
    "#]]);
    refused(&["profile", "cipher.chacha20"], expect![[r#"
        error[bad-option]: there is no profile `cipher.chacha20`
         |
         = try: there are: nacl.sign (e31, host, ckb-vm, zkvm), nacl (e31, host), ecdsa.p256 (ckb-vm, zkvm, host), hash.sha256 (e31, host, ckb-vm, zkvm), scalarmult.curve25519 (e31, host, ckb-vm, zkvm), aead.chacha20poly1305 (e31, host, ckb-vm, zkvm), aead.aesgcm (e31, host), hash.sha3 (e31, host), aead.xchacha20poly1305 (e31, host), ecdsa.secp256k1 (ckb-vm, zkvm, host)

        1 error
    "#]]);
    let outside = Sandbox::new(&[]).run(&["lab", "table", "nacl.sign"]);
    expect![[r#"
        error[missing-file]: there is no file `lib/primitives.toml`
         |
         = try: this command works inside the source tree of the library

        1 error
    "#]].assert_eq(&outside.stderr);
    assert_eq!(outside.code, 2);
}

const SUM: &str = "\
@export(\"total\")
fn total<n: len>(x: [u32; n]) -> u32 {
  var s: u32 = 0
  for i in 0..<n { s = s + x[i] }
  s
}

/// The same from the other end.
fn backwards<n: len>(x: [u32; n]) -> u32 {
  var s: u32 = 0
  for i in rev 0..<n { s = s + x[i] }
  s
}

fn other<n: len>(x: [u32; n]) -> u32 {
  var s: u32 = 0
  for i in 0..<n { s = s ^ x[i] }
  s
}

fn wide(x: [u64; 4]) -> u64 { x[0] ^ x[3] }

/// Signed limbs, each of a range of its own; what is given is negative half of the time.
fn limbs(x: [int in -2^45..2^45; 4], y: int in -100..100) -> [int; 4] {
  [for i in 0..<4: x[i] * 3 - y]
}

fn sign(x: int in -1000..1000) -> int { x - 5 }

fn large(x: u64) -> u64 { x | (1 << 63) }

/// Takes few of its inputs.
fn small(x: u32) -> u32
  requires x < 1000
{ x + 1 }

/// Takes none.
fn none(x: u32) -> u32
  requires x + 1 == x
{ x }

test \"all are used\" {
  let x: [u32; 3] = [1, 2, 3]
  assert backwards(x) == total(x)
  assert other(x) == 0
}
";

const C: &str = "\
#include <stdint.h>
uint32_t total(uint32_t n, const uint32_t *x);
uint32_t wrong(uint32_t n, const uint32_t *x);
uint32_t total(uint32_t n, const uint32_t *x) { uint32_t s = 0; while (n) s += x[--n]; return s; }
uint32_t wrong(uint32_t n, const uint32_t *x) { uint32_t s = 1; while (n) s += x[--n]; return s; }
";

/// Simulators alone: their figures repeat.
const EXACT: [&str; 4] = ["--machine", "e31,ckb-vm,zkvm", "--levels", "O2"];

#[test]
fn a_function_of_any_program_is_measured_on_every_machine() {
    let s = Sandbox::new(&[("sum.stk", SUM.as_bytes())]);
    let picture = s.path("sum.svg");
    let run = s.run(&["lab", "bench", "sum.stk", "--length", "100", "--svg", &picture]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    for machine in ["e31", "ckb-vm", "zkvm", "host"] {
        assert!(run.stdout.contains(&format!("| {machine} ")), "{}", run.stdout);
        assert!(s.read("sum.svg").contains(&format!("{machine}: cycles")));
    }
    let json = s.run(&[&["lab", "bench", "sum.stk::total", "--json", "--length", "100"][..], &EXACT].concat());
    assert_eq!((json.code, json.stderr.as_str()), (0, ""));
    let report: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let figures = report["figures"].as_array().unwrap();
    assert_eq!(figures.len(), 8, "one compiler on e31, two on the others; our own back end on each");
    assert_eq!(figures.iter().filter(|f| f["compiler"] == "own back end").count(), 3);
    for f in figures {
        let cycles = f["cycles"].as_u64().unwrap();
        assert!((100..4000).contains(&cycles) && f["instret"].as_u64().unwrap() > 200, "{f}");
        assert!(f["size_bytes"].as_u64().unwrap() > 10 && f["stack_accesses"]["instructions"].as_u64().unwrap() > 3);
        assert_eq!(f["cycles_per_byte"].as_f64().unwrap(), cycles as f64 / 400.0);
    }
}

#[test]
fn integers_of_any_sign_and_size_are_given_and_compared() {
    let s = Sandbox::new(&[("sum.stk", SUM.as_bytes())]);
    for function in ["limbs", "sign", "large"] {
        let run = s.run(&[&["lab", "bench", &format!("sum.stk::{function}"), "--json"][..], &EXACT].concat());
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{function}");
        let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(report["figures"].as_array().unwrap().len(), 8, "{function}: {}", run.stdout);
    }
    let sign = |x: &str| s.run(&[&["lab", "bench", "sum.stk::sign", "--input", x][..], &EXACT].concat());
    assert_eq!((sign("x=fdffffff").code, sign("x=fdffffff").stderr.as_str()), (0, ""), "-3");
    let short = sign("x=fd");
    assert!(short.code == 2 && short.stderr.contains("all bytes of each"), "{}", short.stderr);
}

#[test]
fn contracts_choose_inputs_and_no_inputs_are_an_error() {
    let s = Sandbox::new(&[("sum.stk", SUM.as_bytes())]);
    let run = |args: &[&str]| s.run(&[&["lab", "bench"][..], args, &EXACT].concat());
    assert_eq!(run(&["sum.stk::small"]).code, 0);
    assert_eq!(run(&["sum.stk::small", "--input", "x=03000000"]).code, 0);
    let none = run(&["sum.stk::none"]);
    assert!(none.code == 2 && none.stderr.contains("no inputs were found") && none.stderr.contains("--input NAME=HEX"), "{}", none.stderr);
    assert!(run(&["sum.stk::small", "--input", "x=ffffffff"]).stderr.contains("no inputs were found"));
    let wrong = run(&["sum.stk::small", "--input", "y=00"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("there is no argument `y`") && wrong.stderr.contains("there are: x"), "{}", wrong.stderr);
}

#[test]
fn layouts_of_a_function_of_one_block_are_timed() {
    // Compilers take a minute for 25 rounds in every layout.
    let text = std::fs::read_to_string("../../lib/cipher/rectangle.stk").expect("the cipher");
    let text = text.split("/// Round constants").next().expect("a text").replace("[Block; 26]", "[Block; 4]").replace("0..<25", "0..<3").replace("keys[25]", "keys[3]");
    let s = Sandbox::new(&[("rectangle.stk", text.as_bytes())]);
    let run = s.run(&["lab", "bench", "rectangle.stk::rectangle_encrypt", "--machine", "host", "--levels", "O2", "--json"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let layouts = report["layouts"].as_array().unwrap();
    let of = |name: &str| layouts.iter().find(|l| l["variant"].as_str().unwrap().starts_with(name)).unwrap_or_else(|| panic!("no {name}"));
    // 3 rounds of 12 gates and 4 additions of key bits in each of 16 columns, and the last key.
    assert_eq!(of("bitslice portable64")["operations"], serde_json::json!(3 * 16 * (12 + 4) + 64));
    // With clang, 64 lanes take a sixth of the time of one on a machine of their own; gcc vectorises the scalar loop, which then takes little more.
    let cost = |name: &str| of(name)["cycles_per_byte"].as_f64().unwrap();
    let (scalar, sliced) = (cost("scalar portable64 K=1 clang"), cost("bitslice portable64 K=1 clang"));
    assert!(scalar > sliced, "{scalar} cycles per byte in one lane, {sliced} in 64");
}

const MIXED: &str = "@export(\"mixed\")\nfn mixed(a: [u32; 8], b: [u32; 8]) -> [u32; 8] {\n  [for i in 0..<8: a[i] * b[7 - i] + (a[(i + 1) % 8] * b[i] ^ b[i])]\n}\n";
const ROW: &str = "[[primitive]]\nname = \"test.mixed\"\ntitle = \"Products\"\nentry = \"lib/mixed.stk\"\nunit = \"mixed\"\ntargets = [\"rv32\"]\nship = false\n[[primitive.workload]]\noperation = \"mix\"\n\
                   function = \"mixed\"\ninputs.a = { bytes = 32, start = 3, step = 7 }\ninputs.b = { bytes = 32, start = 91, step = 29 }\n[[primitive.assembly]]\ntarget = \"mine\"\n";

#[test]
fn a_search_writes_what_it_finds_and_says_how_much_it_is() {
    let read = |name: &str| std::fs::read(format!("../../targets/{name}")).expect("a description");
    let choices = "# Mine.\nmachine = \"rv32\"\n";
    let files = [("lib/primitives.toml", ROW.as_bytes()), ("lib/mixed.stk", MIXED.as_bytes()), ("targets/rv32.toml", &read("rv32.toml")), ("targets/compilers.toml", &read("compilers.toml")), ("tuned/mine.toml", choices.as_bytes())];
    let s = Sandbox::new(&files);
    let search = |more: &[&str]| s.run(&[&["lab", "search", "test.mixed", "--target", "mine", "--rounds", "2"][..], more].concat());
    let dry = search(&["--dry-run"]);
    assert_eq!((dry.code, dry.stderr.as_str()), (0, ""));
    assert!(dry.stdout.contains("nothing written") && s.read("tuned/mine.toml") == choices, "{}", dry.stdout);
    let wet = search(&["--json"]);
    assert_eq!((wet.code, wet.stderr.as_str()), (0, ""));
    let report: serde_json::Value = serde_json::from_str(&wet.stdout).unwrap();
    let cycles = |which: &str| report[which][0]["cycles"].as_u64().unwrap();
    assert!(cycles("after") < cycles("before") && report["taken"].as_u64() > Some(0), "{}", wet.stdout);
    let written = s.read("tuned/mine.toml");
    assert!(written.starts_with(choices) && written.contains("[schedule.\"mixed.mixed\"]"), "{written}");
    for wrong in [&["lab", "search", "test.other", "--target", "mine"][..], &["lab", "search", "test.mixed", "--target", "rv32"]] {
        let run = s.run(wrong);
        assert!(run.code == 2 && run.stderr.contains("test.mixed"), "{wrong:?}: {}", run.stderr);
    }
    assert_eq!(s.read("tuned/mine.toml"), written);
}

#[test]
fn two_functions_are_compared_only_if_they_compute_the_same() {
    let s = Sandbox::new(&[("sum.stk", SUM.as_bytes()), ("sum.c", C.as_bytes())]);
    let run = |a: &str, b: &str| s.run(&[&["lab", "compare", a, b][..], &EXACT].concat());
    // Our own back end makes nothing of a C file.
    for (a, b, count) in [("sum.stk::total", "sum.stk::backwards", 16), ("sum.stk::backwards", "sum.c::total", 13), ("sum.stk::total", "sum.stk::total", 16)] {
        let good = run(a, b);
        assert_eq!((good.code, good.stderr.as_str()), (0, ""), "{a} {b}");
        let lines: Vec<&str> = good.stdout.lines().filter(|l| l.starts_with("| ckb-vm") || l.starts_with("| e31") || l.starts_with("| zkvm")).collect();
        assert_eq!(lines.len(), count, "{}", good.stdout);
        let first = a.rsplit("::").next().unwrap();
        let own: Vec<&&str> = lines.iter().filter(|l| l.contains(&format!("sum::{first} ")) && !l.contains("(second)")).collect();
        assert!(own.len() == 8 && own.iter().all(|l| l.trim_end().ends_with("1.00 |")), "{}", good.stdout);
    }
    for (a, b, why) in [
        ("sum.stk::total", "sum.stk::other", "other results than `total`"),
        ("sum.stk::total", "sum.c::wrong", "returned"),
        ("sum.stk::total", "sum.stk::wide", "other types"),
        ("sum.c::total", "sum.stk::total", "name the program first"),
        ("sum.stk::total", "sum.c", "names no function"),
        ("sum.stk::total", "none.c::f", "there is no file `none.c`"),
        ("sum.stk::total", "sum.c::missing", "was not measured"),
        ("sum.stk::total", "sum.stk::", "names no function"),
    ] {
        let bad = run(a, b);
        assert!(bad.code == 2 && bad.stdout.is_empty() && bad.stderr.contains(why), "{a} {b}: {} {}", bad.code, bad.stderr);
    }
}

/// A program that leaves with 7, one product not fused: its functions, operations and near miss; a picture and stacks; other versions.
#[test]
fn a_program_is_run_on_ckb_vm() {
    let s = Sandbox::new(&[("p.s", b".option norvc\n.globl _start\n.type _start, @function\n_start:\n li a3, 5\n mul a2, a3, a3\n mulhu a1, a3, a3\n jal ra, leave\n unimp\n.size _start, . - _start\n.type leave, @function\nleave:\n li a0, 7\n li a7, 93\n ecall\n.size leave, . - leave\n")]);
    let elf = s.path("p.elf");
    let made = Command::new("riscv64-unknown-elf-gcc").args(["-march=rv64im", "-mabi=lp64", "-nostdlib", "-static", "-Wl,--no-relax", &s.path("p.s"), "-o", &elf]).output().expect("the compiler of set-up");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let (picture, stacks) = (s.path("p.svg"), s.path("p.txt"));
    let run = lab(&["run", &elf, "-o", &picture, "--folded", &stacks]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    for part in ["| _start ", "| leave ", "| MULHU ", "the low word comes first", "1 pairs are not fused, 5 cycles", "ended with code 7: "] {
        assert!(run.stdout.contains(part), "no `{part}`: {}", run.stdout);
    }
    assert!(s.read("p.svg").contains("<svg") && s.read("p.txt").contains("_start;leave "));
    let json: serde_json::Value = serde_json::from_str(&lab(&["run", &elf, "--json"]).stdout).unwrap();
    assert_eq!((json["run"]["exit_code"].as_i64(), json["near_misses"][0]["cycles"].as_u64()), (Some(7), Some(5)));
    let old = lab(&["run", &elf, "--machine", "ckb-vm:0"]);
    assert!(old.code == 0 && !old.stdout.contains("not fused"), "{}", old.stdout);
    // What is no program, no file, no machine, or does not end.
    for (args, code, part) in [
        (vec!["run", &s.path("p.s")], 2, "not a CKB-VM program"),
        (vec!["run", &s.path("none.elf")], 2, "there is no file"),
        (vec!["run", &elf, "--machine", "e31"], 2, "there are: ckb-vm, ckb-vm:0, ckb-vm:1, ckb-vm:2"),
        (vec!["run", &elf, "--max-cycles", "20"], 2, "not finished after 20 cycles"),
    ] {
        let run = lab(&args);
        assert_eq!((run.code, run.stdout.as_str()), (code, ""), "{args:?}");
        assert!(run.stderr.contains(part) && run.stderr.contains("try:"), "{args:?}: {}", run.stderr);
    }
}
