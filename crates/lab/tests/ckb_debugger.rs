//! Cycles on CKB-VM beside `ckb-debugger`, the chain's own tool: the same programs must end with the same code after exactly as many cycles.
//!
//! `tools/setup.sh ckb` installs the debugger, which takes minutes to build. Without it, what it said is read from `data/ckb-debugger.tsv`;
//! with it and `UPDATE_EXPECT=1`, that is written anew.

use santoku_lab::ckb::{self, CkbJob, Machine, Version};
use santoku_num::SplitMix64;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const VERSIONS: [(&str, Version); 3] = [("0", Version::V0), ("1", Version::V1), ("2", Version::V2)];
const GENERATED: u64 = 40;
/// Few registers, so that neighbours often read what was written.
const REGS: [&str; 7] = ["a1", "a2", "a3", "a4", "a5", "t0", "s1"];

fn of(r: &mut SplitMix64, all: &[&'static str]) -> &'static str {
    all[r.below(all.len() as u64) as usize]
}

/// One instruction, or several that the machine may execute as one: products of both words, quotients with remainders, sums with carries.
fn piece(r: &mut SplitMix64, out: &mut String, k: u64, extended: bool) {
    let (d, e, a, b, c) = (of(r, &REGS), of(r, &REGS), of(r, &REGS), of(r, &REGS), of(r, &REGS));
    let _ = match r.below(14) {
        0 => writeln!(out, " {} {d}, {a}, {b}\n mul {e}, {a}, {b}", of(r, &["mulhu", "mulh", "mulhsu"])),
        1 => writeln!(out, " mul {e}, {a}, {b}\n mulhu {d}, {a}, {b}"),
        2 => writeln!(out, " {0} {d}, {a}, {b}\n {1} {e}, {a}, {b}", of(r, &["div", "divu"]), of(r, &["rem", "remu"])),
        3 => writeln!(out, " add {a}, {b}, {a}\n sltu {d}, {a}, {b}\n add {e}, {a}, {c}\n sltu {c}, {e}, {c}\n or {c}, {d}, {c}"),
        4 => writeln!(out, " add {d}, {a}, {b}\n sltu {e}, {d}, {}", of(r, &[a, b])),
        5 => writeln!(out, " sub {d}, {a}, {b}\n sltu {e}, {a}, {}\n sub {a}, {d}, {c}\n sltu {c}, {d}, {a}\n or {c}, {c}, {e}", of(r, &[b, d])),
        6 => writeln!(out, " sltu {d}, {a}, {b}\n sub {e}, {a}, {b}\n sltu {c}, {e}, {d}\n sub {e}, {e}, {d}\n add {c}, {c}, {d}"),
        7 => writeln!(out, " lui {d}, {}\n addiw {d}, {d}, {}", r.below(1 << 20), r.below(2048)),
        8 => writeln!(out, " sd {a}, {0}(sp)\n ld {d}, {0}(sp)\n {1} {e}, {2}(sp)", 8 * r.below(16), of(r, &["lb", "lbu", "lh", "lhu", "lw", "lwu"]), 8 * r.below(16)),
        9 => writeln!(out, " {} {a}, {b}, past{k}\n xor {d}, {a}, {b}\npast{k}:", of(r, &["beq", "bne", "bltu", "bge"])),
        10 if extended => writeln!(out, " {} {d}, {a}, {b}", of(r, &["sh1add", "sh2add", "sh3add", "andn", "xnor", "rol", "max", "minu", "clmul", "clmulh", "clmulr", "bset", "add.uw"])),
        11 if extended => writeln!(out, " {} {d}, {a}", of(r, &["clz", "ctz", "cpop", "rev8", "orc.b", "sext.b", "zext.h"])),
        12 => writeln!(out, " jal ra, g{}", r.below(2)),
        _ => writeln!(out, " {} {d}, {a}, {b}", of(r, &["add", "sub", "xor", "or", "and", "sll", "srl", "sra", "slt", "addw", "subw", "mulw", "divw", "sltu", "remuw"])),
    };
}

/// A loop of such pieces; what the registers hold at last decides the code it ends with.
fn generated(seed: u64) -> String {
    let mut r = SplitMix64::new(seed);
    let extended = seed % 2 == 1;
    let compressed = seed % 4 < 2;
    let mut text = String::from(if compressed { "" } else { " .option norvc\n" });
    text += " .globl _start\n_start:\n addi sp, sp, -256\n";
    // From memory: assemblers differ in what they make of a long constant.
    text += " lla t2, numbers\n";
    let mut numbers = String::from(" .section .rodata\n .balign 8\nnumbers:\n");
    for (k, x) in REGS.iter().enumerate() {
        let _ = writeln!(text, " ld {x}, {}(t2)", 8 * k);
        let _ = writeln!(numbers, " .dword {}", r.below(1 << 52) << r.below(12));
    }
    for k in 0..16 {
        let _ = writeln!(text, " sd {}, {}(sp)", REGS[k % REGS.len()], 8 * k);
    }
    text += " li s2, 25\nround:\n";
    for k in 0..60 {
        piece(&mut r, &mut text, k, extended);
    }
    // Farther than a branch goes in its short form.
    text += " addi s2, s2, -1\n beqz s2, over\n j round\nover:\n";
    for x in REGS {
        let _ = writeln!(text, " xor a0, a0, {x}");
    }
    text += " andi a0, a0, 63\n li a7, 93\n ecall\ng0: add a1, a1, a2\n ret\ng1: sltu a3, a4, a5\n mul a4, a4, a5\n ret\n";
    text + &numbers
}

/// Verification of a signature that is none, by the shipped assembly: its groups, tables and rare ways.
fn shipped() -> Vec<(String, String)> {
    let dist = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dist/riscv/ckb-ecdsa");
    let mut all = vec![];
    for (file, entry) in [("p256_ecdsa_verify.s", "p256_ecdsa_verify"), ("secp256k1_ecdsa_verify.s", "secp256k1_ecdsa_verify")] {
        let unit = std::fs::read_to_string(dist.join(file)).expect("the shipped assembly");
        // The base point as the key: r and s in range, so that all is computed.
        let start = format!(
            " .globl _start\n_start:\n addi sp, sp, -16\n lla a0, digest\n lla a1, sig\n lla a2, key\n call {entry}\n andi a0, a0, 63\n li a7, 93\n ecall\n .section .rodata\ndigest: .fill 32, 1, 0x5a\nsig: .fill 64, 1, 0x33\nkey:\n{}",
            bytes(key(file))
        );
        // Bytes are moved by a function of the C library: this one takes the same cycles whatever compiler is here.
        let memmove = "\n .text\n .weak memmove\nmemmove:\n beqz a2, 2f\n bltu a0, a1, 3f\n add a0, a0, a2\n add a1, a1, a2\n1: addi a0, a0, -1\n addi a1, a1, -1\n lbu t0, 0(a1)\n sb t0, 0(a0)\n addi a2, a2, -1\n bnez a2, 1b\n2: ret\n3: mv t1, a0\n4: lbu t0, 0(a1)\n sb t0, 0(t1)\n addi a1, a1, 1\n addi t1, t1, 1\n addi a2, a2, -1\n bnez a2, 4b\n ret\n";
        all.push((file.split('_').next().unwrap_or_default().to_string(), format!("{unit}\n .text\n{start}{memmove}")));
    }
    all
}

/// Base points: SEC 2, sections 2.4.1 and 2.4.2.
fn key(file: &str) -> &'static str {
    if file.starts_with("p256") {
        "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c2964fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"
    } else {
        "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8"
    }
}

fn bytes(hex: &str) -> String {
    (0..hex.len()).step_by(2).map(|k| format!(" .byte 0x{}\n", &hex[k..k + 2])).collect()
}

fn executable(folder: &Path, name: &str, text: &str) -> PathBuf {
    let (source, elf) = (folder.join(format!("{name}.s")), folder.join(name));
    std::fs::write(&source, text).expect("scratch is writable");
    let made = Command::new("riscv64-unknown-elf-gcc")
        .args(["-march=rv64imc_zba_zbb_zbc_zbs", "-mabi=lp64", "-nostdlib", "-static", "-Wl,--no-relax", "-o"])
        .args([&elf, &source])
        .output()
        .expect("the compiler of set-up");
    assert!(made.status.success(), "{name}: {}", String::from_utf8_lossy(&made.stderr));
    elf
}

/// The debugger of set-up, or one that is installed.
fn debugger() -> Option<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../build/ckb-debugger/bin/ckb-debugger");
    [own, "ckb-debugger".into()].into_iter().find(|p| Command::new(p).arg("--version").output().is_ok_and(|o| o.status.success()))
}

/// Code and cycles, those for loading included, as the debugger prints them.
fn asked(debugger: &Path, elf: &Path, version: &str) -> (i64, u64) {
    let out = Command::new(debugger).arg("--bin").arg(elf).args(["--script-version", version]).output().expect("it starts");
    let text = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    let after = |mark: &str| text.lines().find_map(|l| l.strip_prefix(mark)).unwrap_or_else(|| panic!("no `{mark}`: {text}"));
    let cycles = after("All cycles: ").split('(').next().unwrap_or_default();
    (after("Run result: ").trim().parse().expect("a code"), cycles.parse().expect("cycles"))
}

#[test]
fn cycles_are_those_of_the_chains_debugger() {
    if santoku_skips::installed(&["riscv64-unknown-elf-gcc"]).is_empty() {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let debugger = debugger();
    let mut programs: Vec<(String, String)> = (0..GENERATED).map(|seed| (format!("generated{seed}"), generated(seed))).collect();
    programs.extend(shipped());
    let (mut lines, mut fused, mut compared) = (String::from("# program, version of the VM, code, running cycles: as ckb-debugger 1.1.1 gives them\n"), 0, 0);
    for (name, text) in &programs {
        let elf = executable(folder.path(), name, text);
        let image = std::fs::read(&elf).expect("it was made");
        let mut before = None;
        for (number, version) in VERSIONS {
            let job = CkbJob { machine: Machine::Ckb(version), ..CkbJob::default() };
            let Ok(run) = ckb::run(&image, &job) else {
                // The oldest version has not these instructions.
                assert!(version == Version::V0, "{name} on version {number}");
                continue;
            };
            let profiled = ckb::profile(&image, &job).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(profiled.run.cycles, run.cycles, "{name} on version {number}: the profile counts otherwise");
            fused += usize::from(before.is_some_and(|c| run.cycles < c));
            before = Some(run.cycles);
            if let Some(debugger) = &debugger {
                let want = asked(debugger, &elf, number);
                assert_eq!((i64::from(run.exit_code), run.cycles + run.load_cycles), want, "{name} on version {number}");
                compared += 1;
            }
            let _ = writeln!(lines, "{name}\t{number}\t{}\t{}", run.exit_code, run.cycles);
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/ckb-debugger.tsv");
    match debugger {
        None => santoku_skips::lacking("the debugger of CKB on this very machine", "it is not installed (`tools/setup.sh ckb`); its recorded counts are compared"),
        Some(_) if std::env::var_os("UPDATE_EXPECT").is_some() => std::fs::write(&path, &lines).expect("the tree is writable"),
        Some(_) => {}
    }
    let recorded = std::fs::read_to_string(&path).expect("what the debugger said");
    assert_eq!(recorded, lines, "other counts than the debugger gave");
    let runs = lines.lines().count() - 1;
    println!("tried: {} programs, {runs} runs as ckb-debugger counts them, {compared} of them asked now; a newer version fuses more in {fused}", programs.len());
    assert!(runs >= 100 && fused >= 20, "{runs} {fused}");
}
