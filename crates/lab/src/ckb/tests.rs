use crate::cross::{machine, Cross};
use crate::error::LabError;
use crate::program::build;
use super::*;
use ckb_vm::cost_model::estimate_cycles;
use std::path::{Path, PathBuf};

/// Adds two 4-word numbers given as input; the carry idiom is what the VM fuses.
const PROGRAM: &str = r#"
#include <stdint.h>
uint64_t a[4], b[4], sum[5];
static char text[] = "added";
__attribute__((noinline)) uint64_t mulhi(uint64_t x, uint64_t y) { return (uint64_t)(((unsigned __int128)x * y) >> 64); }
__attribute__((noinline)) void add(void)
{
  uint64_t carry = 0;
  for (int i = 0; i < 4; i++) {
    unsigned __int128 t = (unsigned __int128)a[i] + b[i] + carry;
    sum[i] = (uint64_t)t;
    carry = (uint64_t)(t >> 64);
  }
  sum[4] = carry;
}
__attribute__((noinline)) static void say(const char *s)
{
  register const char *a0 __asm__("a0") = s;
  register long a7 __asm__("a7") = 2177;
  __asm__ volatile("ecall" : : "r"(a0), "r"(a7) : "memory");
}
int main(int argc, char **argv)
{
  add();
  say(text);
  if (argc > 1) return 100 + argc;
  return mulhi(sum[0], 1) != 0 || a[3] == 9;
}
"#;

const CLANG: &str = "clang";
const GCC: &str = "gcc";

fn compiler(family: &str) -> Cross {
    Cross::find(&machine("ckb").expect("described"), Some(family)).expect("installed")
}

fn program(dir: &Path, family: &str, sources: &[PathBuf], include_dirs: &[PathBuf]) -> Result<Vec<u8>, LabError> {
    build(dir, &compiler(family), sources, include_dirs, &["-O3"]).map(|made| std::fs::read(made.program).expect("a program"))
}

fn compiled(family: &str, text: &str) -> Result<Vec<u8>, LabError> {
    let dir = tempfile::tempdir().expect("scratch folder");
    let source = dir.path().join("p.c");
    std::fs::write(&source, text).expect("write");
    program(dir.path(), family, &[source], &[])
}

fn words(w: &[u64]) -> Vec<u8> {
    w.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn adding(a: [u64; 4], b: [u64; 4]) -> CkbJob {
    CkbJob {
        inputs: vec![("a".into(), words(&a)), ("b".into(), words(&b))],
        outputs: vec!["sum".into()],
        max_cycles: 1_000_000,
        ..CkbJob::default()
    }
}

#[test]
fn both_compilers_run_and_profile_alike() {
    for compiler in [CLANG, GCC] {
        let elf = compiled(compiler, PROGRAM).expect("build");
        let job = adding([u64::MAX, u64::MAX, 3, 4], [1, 0, 5, u64::MAX]);
        let run = run(&elf, &job).expect("run").expect_exit(0).expect("code 0");
        assert_eq!(run.outputs["sum"], words(&[0, 0, 9, 3, 1]), "{compiler:?}");
        assert_eq!(run.debug, ["added"]);
        assert!(run.cycles > 500 && run.cycles < 2000, "the syscall alone costs 500: {}", run.cycles);
        assert!(run.load_cycles > 0);

        let profile = profile(&elf, &job).expect("profile");
        assert_eq!(profile.run.cycles, run.cycles, "stepping and tracing agree");
        let add = profile.functions.iter().find(|f| f.name == "add").expect("add is in the table");
        assert_eq!(add.calls, 1);
        let main = profile.functions.iter().find(|f| f.name == "main").expect("main");
        assert!(main.inclusive_cycles > add.inclusive_cycles && main.self_cycles < main.inclusive_cycles);
        let root = profile.functions.iter().find(|f| f.name == "_start").expect("_start");
        assert_eq!(root.inclusive_cycles, run.cycles);
        assert!(profile.folded.iter().any(|l| l.starts_with("_start;main;add ")), "{:?}", profile.folded);
        assert!(profile.ops.iter().any(|o| o.fused), "{compiler:?}: {:?}", profile.ops);
        let svg = profile.flame_graph("adding").expect("svg");
        assert!(svg.contains("<svg") && svg.contains("mulhi"));
    }
}

/// The VM's fusion table, one program per rule of interest: cycles of the fused sequence against an unfusable order.
#[test]
fn fused_sequences_are_counted_once() {
    let body = |first: &str| {
        format!(
            "__attribute__((naked)) int main(void) {{ __asm__(\".option norvc\\n li a3, 5\\n li a4, 7\\n {first}\\n li a0, 0\\n ret\"); }}"
        )
    };
    let fused = compiled(CLANG, &body("mulhu a1,a3,a4\\n mul a2,a3,a4")).expect("build");
    let apart = compiled(CLANG, &body("mul a2,a3,a4\\n mulhu a1,a3,a4")).expect("build");
    let job = CkbJob::default();
    let (fused, apart) = (profile(&fused, &job).expect("run"), profile(&apart, &job).expect("run"));
    assert_eq!(apart.run.cycles - fused.run.cycles, 5);
    assert_eq!(apart.operations - fused.operations, 1);
    assert!(fused.ops.iter().any(|o| o.name == "WIDE_MULU" && o.fused && o.cycles == 5), "{:?}", fused.ops);
}

/// By gcc, whose linker gives each segment pages of its own: version 0 wants that.
fn naked(body: &str) -> Vec<u8> {
    let text = format!("__attribute__((naked)) int main(void) {{ __asm__(\".option norvc\\n li a3, 5\\n li a4, 7\\n {}\\n li a0, 0\\n ret\"); }}", body.replace("; ", "\\n "));
    compiled(GCC, &text).expect("build")
}

/// Version 0 puts nothing on the stack of a program without arguments, where start-up code reads their number.
fn named() -> Vec<String> {
    vec!["main".into()]
}

/// Two halves that stand otherwise than the VM wants are named, with the reason; two that it executes as one are not, nor are two with other operands. Putting them
/// right saves the cycles that are said to be lost.
#[test]
fn pairs_that_are_not_executed_as_one_are_named_with_the_reason() {
    let on = |version| CkbJob { machine: Machine::Ckb(version), args: named(), near_misses: true, ..CkbJob::default() };
    let of_main = |body: &str, version| {
        let p = profile(&naked(body), &on(version)).expect("run");
        let misses: Vec<NearMiss> = p.near_misses.into_iter().filter(|m| m.function == "main").collect();
        (p.run.cycles, misses)
    };
    let cases = [
        ("mul a2,a3,a4; mulhu a1,a3,a4", "mulhu a1,a3,a4; mul a2,a3,a4", "the low word comes first"),
        ("mulhu a1,a3,a4; mul a2,a4,a3", "mulhu a1,a3,a4; mul a2,a3,a4", "the operands stand in another order"),
        ("mulh a1,a3,a4; li a5,1; mul a2,a3,a4", "mulh a1,a3,a4; mul a2,a3,a4; li a5,1", "1 instruction stands between"),
        ("mul a2,a3,a4; li a5,1; li a6,1; mulhsu a1,a3,a4", "mulhsu a1,a3,a4; mul a2,a3,a4; li a5,1; li a6,1", "the low word comes first; 2 instructions stand between"),
        ("add a1,a3,a4; sltu a2,a1,a4", "add a1,a3,a4; sltu a2,a1,a3", "the sum is compared with the second operand"),
        ("add a1,a3,a4; li a5,1; sltu a2,a1,a3", "add a1,a3,a4; sltu a2,a1,a3; li a5,1", "1 instruction stands between"),
        ("sltu a2,a3,a4; sub a1,a3,a4", "sub a1,a3,a4; sltu a2,a3,a4", "the borrow comes first"),
        ("sub a1,a3,a4; li a5,1; sltu a2,a3,a4", "sub a1,a3,a4; sltu a2,a3,a4; li a5,1", "1 instruction stands between"),
    ];
    for (apart, fused, why) in cases {
        let (slow, misses) = of_main(apart, Version::V2);
        let found: Vec<(&str, u64)> = misses.iter().map(|m| (m.why.as_str(), m.count)).collect();
        assert_eq!(found, [(why, 1)], "{apart}");
        let (fast, none) = of_main(fused, Version::V2);
        assert!(none.is_empty(), "{fused}: {none:?}");
        assert_eq!(slow - fast, misses[0].cycles, "{apart}");
        // Version 1 has no groups of two additions; version 0 has none at all.
        let (_, first) = of_main(apart, Version::V1);
        assert_eq!(first.len(), usize::from(apart.contains("mul")), "{apart}");
        assert!(of_main(apart, Version::V0).1.is_empty(), "{apart}");
    }
    for other in ["mul a2,a3,a4; mulhu a1,a3,a3", "mul a3,a3,a4; mulhu a1,a3,a4", "mulhu a3,a3,a4; mul a2,a3,a4", "add a1,a3,a4; sltu a2,a3,a4", "mul a2,a3,a4; li a3,9; mulhu a1,a3,a4", "add a3,a3,a4; li a4,1; sltu a2,a3,a4"] {
        let (_, misses) = of_main(other, Version::V2);
        assert!(misses.is_empty(), "{other}: {misses:?}");
    }
}

/// One program in three versions: the same result, each version faster than the one before.
#[test]
fn later_versions_fuse_more() {
    let elf = naked("mulhu a1,a3,a4; mul a2,a3,a4; add a1,a3,a4; sltu a2,a1,a3");
    let cycles: Vec<u64> = [Version::V0, Version::V1, Version::V2]
        .map(|version| {
            let job = CkbJob { machine: Machine::Ckb(version), args: named(), ..CkbJob::default() };
            let (run, stepped) = (run(&elf, &job).expect("run"), profile(&elf, &job).expect("run"));
            assert_eq!((run.exit_code, run.cycles), (0, stepped.run.cycles));
            run.cycles
        })
        .into();
    // Version 2 also takes `auipc, addi` for one, by which start-up code loads `gp`.
    assert_eq!([cycles[0] - cycles[1], cycles[1] - cycles[2]], [5, 2]);
    // Must fail: version 0 has no B.
    let b = naked("andn a1,a3,a4");
    let job = |version| CkbJob { machine: Machine::Ckb(version), args: named(), ..CkbJob::default() };
    assert!(matches!(run(&b, &job(Version::V0)), Err(CkbError::Trap { .. })));
    assert_eq!(run(&b, &job(Version::V1)).expect("run").exit_code, 0);
}

#[test]
fn arguments_reach_main() {
    let elf = compiled(CLANG, PROGRAM).expect("build");
    let job = CkbJob { args: vec!["x".into(), "y".into()], ..CkbJob::default() };
    assert_eq!(run(&elf, &job).expect("run").exit_code, 102);
}

#[test]
fn a_wrong_result_shows_in_the_exit_code() {
    let elf = compiled(CLANG, PROGRAM).expect("build");
    let err = run(&elf, &adding([0, 0, 0, 9], [0; 4])).expect("run").expect_exit(0).expect_err("a[3] is 9");
    assert!(matches!(err, CkbError::Exit { expected: 0, found: 1, .. }), "{err}");
    assert!(err.to_string().contains("it said: added"), "{err}");
}

#[test]
fn unusable_programs_are_refused() {
    let job = CkbJob::default();
    let err = run(b"\x7fELF and no more", &job).expect_err("not an ELF");
    assert!(matches!(err, CkbError::Elf { .. }), "{err}");
    let err = run(&[], &job).expect_err("empty");
    assert!(matches!(err, CkbError::Elf { .. }), "{err}");
    let mut elf = compiled(CLANG, PROGRAM).expect("build");
    elf.truncate(elf.len() / 2);
    assert!(run(&elf, &job).is_err(), "half an ELF");
    let err = compiled(GCC, "int main(void) { return missing(); }").expect_err("no such function");
    assert!(matches!(err, LabError::ToolFailed { .. }), "{err}");
}

#[test]
fn programs_that_misbehave_are_stopped() {
    let job = CkbJob { max_cycles: 10_000, ..CkbJob::default() };
    let stop = |text: &str| {
        let elf = compiled(CLANG, text).expect("build");
        let stepped = profile(&elf, &job).expect_err("must stop");
        let err = run(&elf, &job).expect_err("must stop");
        assert_eq!(std::mem::discriminant(&stepped), std::mem::discriminant(&err));
        err
    };
    let err = stop("int main(void) { for (;;) __asm__ volatile(\"\"); }");
    assert!(matches!(err, CkbError::Cycles { max_cycles: 10_000 }), "{err}");
    let err = stop("int main(void) { __asm__ volatile(\".word 0\"); return 0; }");
    assert!(matches!(&err, CkbError::Trap { .. }), "{err}");
    let err = stop("__attribute__((noinline)) void poke(volatile long *p) { *p = 1; } int main(void) { poke((long *)-8); return 0; }");
    assert!(matches!(&err, CkbError::Trap { function, .. } if function.starts_with("poke")), "{err}");
}

#[test]
fn inputs_must_fit_and_exist() {
    let elf = compiled(CLANG, PROGRAM).expect("build");
    let long = CkbJob { inputs: vec![("a".into(), vec![0; 33])], ..CkbJob::default() };
    assert!(matches!(run(&elf, &long), Err(CkbError::Input { len: 33, room: 32, .. })));
    let unknown = CkbJob { outputs: vec!["nothing".into()], ..CkbJob::default() };
    assert!(matches!(run(&elf, &unknown), Err(CkbError::NoVariable { .. })));
}

#[test]
fn a_missing_source_is_reported() {
    let dir = tempfile::tempdir().expect("scratch folder");
    let err = program(dir.path(), CLANG, &[PathBuf::from("/nonexistent/p.c")], &[]).expect_err("no file");
    assert!(matches!(err, LabError::ToolFailed { .. }), "{err}");
    assert!(Path::new(dir.path()).join("crt0.S").is_file());
}

/// A whole real program: TweetNaCl signs RFC 8032's TEST 2 inside the VM.
#[test]
fn tweetnacl_signs_in_the_vm() {
    const SEED: &str = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb";
    const SIGNATURE: &str = "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da\
                             085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00";
    let bytes = |hex: &str| -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).expect("hexadecimal")).collect()
    };
    let root = crate::peers::find_root(Path::new(env!("CARGO_MANIFEST_DIR"))).expect("tests run inside the repository");
    let peer = crate::peers::fetch(&root, "tweetnacl").expect("peer");
    let dir = tempfile::tempdir().expect("scratch folder");
    let main = dir.path().join("main.c");
    let text = r#"
        #include "tweetnacl.h"
        unsigned char seed[32], sm[65];
        static unsigned char pk[32], sk[64], opened[65];
        void randombytes(unsigned char *out, unsigned long long n) { while (n--) out[n] = seed[n]; }
        int main(void)
        {
          static const unsigned char message[1] = {0x72};
          unsigned long long n;
          crypto_sign_keypair(pk, sk);
          crypto_sign(sm, &n, message, 1, sk);
          return crypto_sign_open(opened, &n, sm, 65, pk);
        }
    "#;
    std::fs::write(&main, text).expect("write");
    let sources = [main, peer.sources[0].clone()];
    let elf = program(dir.path(), CLANG, &sources, &peer.include_dirs).expect("build");
    let job = CkbJob { inputs: vec![("seed".into(), bytes(SEED))], outputs: vec!["sm".into()], ..CkbJob::default() };
    let run = run(&elf, &job).expect("run").expect_exit(0).expect("it accepts its own signature");
    assert_eq!(run.outputs["sm"][..64], bytes(SIGNATURE), "{} cycles", run.cycles);
    // About 20 thousand field multiplications of 256 products, at 5 cycles a product.
    assert!(run.cycles > 20_000_000 && run.cycles < 400_000_000, "{}", run.cycles);
}

/// The table of the description is what a node counts, of every operation there is.
#[test]
fn the_described_costs_are_those_of_the_vm() {
    use ckb_vm::instructions::set_instruction_length_4;
    let target = machine("ckb").expect("described");
    let other = target.costs["other"];
    let (mut compared, mut named) = (0, std::collections::BTreeSet::new());
    for opcode in ckb_vm::ckb_vm_definitions::instructions::MINIMAL_OPCODE..=ckb_vm::ckb_vm_definitions::instructions::MAXIMUM_OPCODE {
        let name = ckb_vm::ckb_vm_definitions::instructions::instruction_opcode_name(opcode).to_lowercase();
        // Atomics are no part of the language's programs, and old versions' loads and jumps none of this version's.
        if name.starts_with("lr_") || name.starts_with("sc_") || name.starts_with("amo") || name.ends_with("_version0") {
            continue;
        }
        let name = name.trim_end_matches("_version1").to_string();
        let counted = estimate_cycles(set_instruction_length_4(ckb_vm::instructions::blank_instruction(opcode)));
        assert_eq!(target.costs.get(&name).copied().unwrap_or(other), counted, "{name}");
        named.insert(name);
        compared += 1;
    }
    let unknown: Vec<&String> = target.costs.keys().filter(|k| *k != "other" && !named.contains(*k)).collect();
    assert!(unknown.is_empty(), "no operation of the VM is called {unknown:?}");
    assert!(compared > 100, "{compared} operations");
}
