//! Decoding and names against GNU objdump, a third reader of encodings.

use crate::cases::{forms, SETS};
use crate::random::Random;
use santoku_isa::{decode, register_name, Inst, Isa};
use std::process::Command;

const TOOLS: [&str; 2] = ["riscv64-unknown-elf-as", "riscv64-unknown-elf-objdump"];

/// objdump's text for each word; `None` where the tools are not installed. The words pass through the assembler as numbers, so
/// that the object says which extensions it uses.
fn dumped(isa: &Isa, words: &[u32]) -> Option<Vec<String>> {
    let dir = tempfile::tempdir().expect("scratch folder");
    let [source, object] = ["words.s", "words.o"].map(|n| dir.path().join(n));
    let text: String = words.iter().map(|w| format!(".insn {w:#x}\n")).collect();
    std::fs::write(&source, text).expect("write");
    let march = format!("-march=rv{}imc_zba_zbb_zbs", isa.xlen.bits());
    let assembled = Command::new(TOOLS[0]).arg(march).arg(&source).arg("-o").arg(&object).output().ok()?;
    assert!(assembled.status.success(), "{}", String::from_utf8_lossy(&assembled.stderr));
    let out = Command::new(TOOLS[1]).args(["-d", "-z", "-M", "no-aliases"]).arg(&object).output().ok()?;
    let text = String::from_utf8(out.stdout).expect("text");
    let lines = text.lines().filter_map(|l| l.trim_start().split_once(":\t"));
    Some(lines.map(|(_, rest)| rest.split_once('\t').map_or("", |(_, inst)| inst).trim().to_string()).collect())
}

/// Mnemonic, registers and numbers, without layout.
fn parts(text: &str) -> Vec<String> {
    let text = text.split('#').next().unwrap_or("").split('<').next().unwrap_or("");
    text.split([' ', ',', '(', ')', '\t']).filter(|p| !p.is_empty()).map(str::to_string).collect()
}

/// Names, registers and immediates of full-length instructions are read alike.
#[test]
fn objdump_reads_the_same() {
    let mut done = 0;
    for isa in &SETS {
        let mut r = Random::new(31);
        let mut words = Vec::new();
        for form in forms(isa).iter().filter(|f| !f.short && f.name != "fence") {
            words.extend((0..40).map(|_| form.random_bits(&mut r)));
        }
        let Some(lines) = dumped(isa, &words) else {
            santoku_skips::skip("objdump beside the model", format!("no {} (Debian: gcc-riscv64-unknown-elf)", TOOLS[1]));
            return;
        };
        assert_eq!(lines.len(), words.len());
        for (n, (line, bits)) in lines.iter().zip(&words).enumerate() {
            let alike = |bits| alike(&decode(isa, bits).expect("an instruction"), line, n as u64 * 4, isa);
            assert!(alike(*bits), "{line}: {bits:#010x}");
            // Bit 7 belongs to rd or to the immediate.
            assert!(!alike(*bits ^ 0x80), "{line}: another instruction is read alike");
            done += 1;
        }
    }
    println!("{done} instructions are read alike by objdump");
    assert!(done > 5_000);
    assert_eq!(register_name(10), "a0");
}

/// Whether our text and objdump's say the same of the instruction at `pc`.
fn alike(inst: &Inst, line: &str, pc: u64, isa: &Isa) -> bool {
    let (ours, theirs) = (parts(&inst.to_string()), parts(line));
    let same = |(a, b): (&String, &String)| match a.strip_prefix('.') {
        // A distance, against objdump's target: hexadecimal without a sign of it.
        Some(far) => number(far, pc, isa) == number(&format!("0x{b}"), 0, isa),
        None => number(a, 0, isa) == number(b, 0, isa),
    };
    ours.len() == theirs.len() && ours.iter().zip(&theirs).all(same)
}

/// A number, in decimal or hexadecimal, plus `base` modulo 2^XLEN; or the text itself.
fn number(text: &str, base: u64, isa: &Isa) -> Result<u64, String> {
    let value = match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse::<i64>().ok().map(|v| v as u64),
    };
    value.map(|v| v.wrapping_add(base) & isa.xlen.mask()).ok_or(text.to_string())
}
