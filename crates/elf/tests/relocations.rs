//! Relocations that are not exactly those of the psABI, sections and symbols that a linker treats in a way of its own, program
//! headers that contradict the sections: refused, each beside a twin that is read.

use santoku_elf::{load, ErrorKind, Image, Ledger, What};
use std::process::Command;

/// An object of this assembly, or an image linked from it.
fn made(text: &str, link: bool) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("scratch");
    std::fs::write(folder.path().join("a.s"), format!(".option norelax\n.text\n{text}\n")).expect("scratch");
    let run = |program: &str, args: &[&str]| {
        let done = Command::new(program).args(args).current_dir(folder.path()).output().unwrap_or_else(|e| panic!("{program}: {e}"));
        assert!(done.status.success(), "{}\n{text}", String::from_utf8_lossy(&done.stderr));
    };
    run("riscv64-unknown-elf-as", &["-march=rv32imc", "-mabi=ilp32", "a.s", "-o", "a.o"]);
    if link {
        run("riscv64-unknown-elf-ld", &["-m", "elf32lriscv", "--no-relax", "-e", "0", "a.o", "-o", "a.elf"]);
    }
    std::fs::read(folder.path().join(if link { "a.elf" } else { "a.o" })).expect("made")
}

fn why(text: &str) -> String {
    load(&made(text, false)).err().map_or_else(|| panic!("it is read:\n{text}"), |e| e.to_string())
}

fn read(text: &str) -> Image {
    load(&made(text, false)).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

const PAIR: &str = "f:\n1: auipc t0,%pcrel_hi(v)\n addi t0,t0,%pcrel_lo(1b)\n ret\n.data\nv: .word 1,2\n";

#[test]
fn relocations_on_other_things_than_theirs_are_refused() {
    read(PAIR);
    read(".section .debug_x\n1: .half 0,0\n .reloc 1b, R_RISCV_32, v\n");
    let cases = [
        ("an addend of the low part", PAIR.replace("(1b)", "(1b+4)"), "addend"),
        ("an address put into a shift", ".globl v,f\nf: lui t0,%hi(v)\n1: slli t0,t0,0\n .reloc 1b, R_RISCV_LO12_I, v\n".into(), "kind"),
        ("a load's part in a store", ".globl v,f\nf: lui t0,%hi(v)\n1: sw t0,0(t0)\n .reloc 1b, R_RISCV_LO12_I, v\n".into(), "kind"),
        ("a store's part in a load", ".globl v,f\nf: lui t0,%hi(v)\n1: lw t0,0(t0)\n .reloc 1b, R_RISCV_LO12_S, v\n".into(), "kind"),
        ("an upper part on auipc", "f:\n1: auipc t0,0\n .reloc 1b, R_RISCV_HI20, v\n".into(), "kind"),
        ("a short jump on a long one", "f:\n1: jal x0,.\n .reloc 1b, R_RISCV_RVC_JUMP, f\n".into(), "bytes"),
        ("two of one instruction", "f:\n1: lui t0,%hi(v)\n .reloc 1b, R_RISCV_HI20, w\n".into(), "bytes"),
        ("a number over a call", "f:\n1: call g\n .reloc 1b+4, R_RISCV_32, g\n".into(), "bytes"),
        ("a number of 64 bits", ".data\n1: .word 0,0\n .reloc 1b, R_RISCV_64, g\n".into(), "64 bits"),
        ("two numbers at one place", ".data\n1: .word v\n .reloc 1b, R_RISCV_32, w\n".into(), "bytes"),
        ("a sum beside a number", ".data\n1: .word v\n .reloc 1b, R_RISCV_SUB32, w\n".into(), "bytes"),
        ("parts of a sum that overlap", ".data\n1: .word 0,0\n .reloc 1b, R_RISCV_ADD32, v\n .reloc 1b+2, R_RISCV_SUB32, w\n".into(), "bytes"),
        ("beyond the end", ".data\n1: .half 0\n .reloc 1b, R_RISCV_32, v\n".into(), "outside"),
        ("beyond the end of what is not loaded", ".section .debug_x\n1: .half 0\n .reloc 1b, R_RISCV_32, v\n".into(), "outside"),
        ("a low part of another section's auipc", PAIR.replace("\n addi", "\n.section .text.g,\"ax\"\ng: addi"), "auipc"),
        ("the offset table", "f:\n1: auipc t0,%got_pcrel_hi(v)\n lw t0,%pcrel_lo(1b)(t0)\n".into(), "R_RISCV_GOT_HI20"),
        ("thread-local", "f: lui t0,%tprel_hi(v)\n".into(), "R_RISCV_TPREL_HI20"),
        ("a shortening of nothing", "f:\n1: nop\n .reloc 1b, R_RISCV_RELAX\n".into(), "shorten"),
        ("an address put into an instruction in data", ".section .rodata\n1: .word 0x2b7\n .reloc 1b, R_RISCV_HI20, v\n".into(), "no code"),
    ];
    for (what, text, reason) in &cases {
        let said = why(text);
        assert!(said.contains(reason), "{what}: {said}");
    }
    println!("tried: {} relocations on other things than theirs, all refused", cases.len());
}

/// A linker writes where it is told, be it into another section.
#[test]
fn relocations_of_what_is_not_loaded_stay_inside_it() {
    let good = made(".section .debug_x\n1: .word 0,0\n .reloc 1b+4, R_RISCV_32, v\n", false);
    assert!(load(&good).is_ok());
    let entry = |w: &[u8]| w[..5] == [4, 0, 0, 0, 1] && w[6..] == [0; 6];
    let at = good.windows(12).position(entry).expect("the relocation");
    let with = |offset: u32| {
        let mut bad = good.clone();
        bad[at..at + 4].copy_from_slice(&offset.to_le_bytes());
        load(&bad)
    };
    assert!((0..=4).all(|offset| with(offset).is_ok()));
    let outside: Vec<u32> = (5..300).chain([0x7fff_ffff, 0x8000_0000, u32::MAX - 3, u32::MAX]).collect();
    for offset in &outside {
        assert!(with(*offset).expect_err("refused").reason.contains("outside"), "{offset:#x}");
    }
    println!("tried: {} places outside a section that is not loaded, all refused", outside.len());
}

#[test]
fn padding_is_made_of_nothing_else() {
    for (bytes, right) in [
        (".half 1", true),
        (".word 0x13\n.half 1", true),
        (".half 1\n.word 0x13", true),
        ("add a0,a0,a1", false),
        (".word 0x00000093", false),
        (".half 1\n.half 0x13", false),
        (".half 0x9002", false),
    ] {
        let size = if bytes.contains('\n') && bytes.contains("word") { 6 } else if bytes.starts_with(".half") && !bytes.contains('\n') { 2 } else { 4 };
        let text = format!("f: ret\n.option norvc\n1: {bytes}\n .reloc 1b, R_RISCV_ALIGN, {size}\ng: ret\n");
        match load(&made(&text, false)) {
            Ok(_) => assert!(right, "{text}"),
            Err(e) => assert!(!right && e.to_string().contains("do nothing"), "{e}\n{text}"),
        }
    }
    // No part of an instruction, nothing else's bytes, nothing negative, no data.
    assert!(why("f:\n.option norvc\n1: .word 0x13\n .reloc 1b, R_RISCV_ALIGN, 3\n").contains("do nothing"));
    assert!(why("f:\n.option norvc\n1: .word 0x13\n .reloc 1b, R_RISCV_ALIGN, -4\n").contains("negative"));
    assert!(why("f:\n.option norvc\n1: .word 0x13\n .reloc 1b, R_RISCV_ALIGN, 8\n").contains("outside"));
    assert!(why(".data\n1: .word 0x13\n .reloc 1b, R_RISCV_ALIGN, 4\n").contains("only code"));
    assert!(why("f:\n.option norvc\n1: addi zero,zero,0\n .reloc 1b, R_RISCV_ALIGN, 4\n .reloc 1b, R_RISCV_LO12_I, f\n").contains("bytes"));
}

/// No bits are handed out where a linker may put others.
#[test]
fn what_is_not_final_is_not_fetched() {
    let call = "f: call g\n ret\n";
    let cases = [
        ("a function of the file", ".globl g\n.type g,@function\ng: ret\n", None),
        ("a function that the file lacks", "", None),
        ("a weak function", ".weak g\n.type g,@function\ng: ret\n", Some("`g` is a weak symbol: a linker may")),
        ("a weak function that the file lacks", ".weak g\n", Some("it may be 0")),
        ("a function of a COMDAT group", ".section .x,\"axG\",@progbits,g,comdat\n.globl g\n.type g,@function\ng: ret\n", Some("COMDAT")),
        ("one that the linker keeps once", ".section .gnu.linkonce.t.g,\"ax\"\n.globl g\ng: ret\n", Some("linkonce")),
        ("a function chosen at the start", ".type g,@gnu_indirect_function\ng: ret\n", Some("IFUNC")),
        ("a number", ".globl g\ng = 64\n", Some("absolute")),
        ("in a section that is left out", ".section .x,\"axe\"\ng: ret\n", Some("SHF_EXCLUDE")),
        ("in a section that is not loaded", ".section .x\ng: ret\n", Some("not loaded")),
        ("in an empty section", ".section .x,\"ax\"\ng:\n", Some("empty")),
        ("in a section that the linker writes anew", ".section .eh_frame,\"ax\"\ng: ret\n", Some("written anew")),
        ("thread-local", ".section .tdata,\"awT\"\ng: .word 1\n", Some("no symbol of code or data")),
        ("a common symbol", ".comm g,4\n", Some("common")),
    ];
    for (what, text, reason) in &cases {
        let image = read(&format!("{call}{text}"));
        let f = image.section(0x1_0000).expect("code").address;
        assert!(image.word(f).is_some(), "{what}");
        match reason {
            None => assert!(image.fetch(f).is_some() && image.doubt(f).is_none(), "{what}: {:?}", image.doubt(f)),
            Some(reason) => {
                let why = image.doubt(f).unwrap_or_default();
                assert!(why.contains(reason) && image.fetch(f).is_none(), "{what}: {why}");
            }
        }
    }
    println!("tried: {} things that are called", cases.len());
}

#[test]
fn numbers_in_code_are_not_fetched() {
    for (text, held) in [
        ("f: nop\n1: .word 0x13\n", true),
        ("f: nop\n1: .word 0x13\n .reloc 1b, R_RISCV_32, f\n", false),
        ("f: nop\n1: .word 0x13\n .reloc 1b+3, R_RISCV_SET8, f\n", false),
        ("f: nop\n1: .word 0x13\n .reloc 1b, R_RISCV_ADD16, f\n .reloc 1b, R_RISCV_SUB16, f\n", false),
    ] {
        let image = read(text);
        let at = image.sections[0].address + 2;
        assert_eq!(image.fetch(at).is_some(), held, "{text}");
        assert!(image.fetch(at - 2).is_some() && image.fetch(at + 4).is_none(), "{text}: the one before stands");
    }
}

/// A jump that no relocation describes stays in its section, and does not pass what a linker may drop.
#[test]
fn distances_that_a_linker_may_change_are_not_firm() {
    let firm = |text: &str| {
        let image = read(text);
        let to = |name: &str| image.function(name).expect("there").address;
        image.is_firm(to("f"), to("g"))
    };
    let (f, g) = (".globl f\nf: .half 1\n", ".globl g\ng: ret\n");
    assert!(firm(&format!("{f}{g}")));
    assert!(!firm(&format!("{f}.section .text.g,\"ax\"\n{g}")));
    assert!(firm(&format!("1: .half 1\n .reloc 1b, R_RISCV_ALIGN, 2\n{f}{g}")));
    assert!(!firm(&format!("{f}1: .half 1\n .reloc 1b, R_RISCV_ALIGN, 2\n{g}")));
    assert!(!firm(&format!("{g}1: .half 1\n .reloc 1b, R_RISCV_ALIGN, 2\n{f}")));
    assert!(!firm(&format!("{f}1: .half 1\n{g}.half 1\n .reloc 1b, R_RISCV_ALIGN, 2\n .half 1\n")));
    // What a linker may shorten, before, between, behind and from within.
    // auipc ra,0; jalr ra,0(ra)
    let call = |relax: &str| format!("1: .word 0x97,0x80e7\n .reloc 1b, R_RISCV_CALL_PLT, h\n{relax}");
    let (loose, kept) = (call(" .reloc 1b, R_RISCV_RELAX\n"), call(""));
    assert!(firm(&format!("{loose}{f}{g}")));
    assert!(!firm(&format!("{f}{loose}{g}")));
    assert!(!firm(&format!("{g}{loose}{f}")));
    assert!(firm(&format!("{f}{g}{loose}")));
    assert!(firm(&format!("{f}{kept}{g}")));
    assert!(!firm(&format!("{f}1: .word 0x97\n.globl g\ng: .word 0x80e7\n .reloc 1b, R_RISCV_CALL_PLT, h\n .reloc 1b, R_RISCV_RELAX\n")));
    // Other instructions of which there may be shorter ones, or none.
    let upper = |relax: &str| format!("1: .word 0x2b7\n .reloc 1b, R_RISCV_HI20, h\n{relax}");
    let near = |relax: &str| format!("1: .word 0x297\n .reloc 1b, R_RISCV_PCREL_HI20, h\n{relax}");
    let jump = |relax: &str| format!("1: .word 0x6f\n .reloc 1b, R_RISCV_JAL, f\n{relax}");
    for one in [upper, near, jump] {
        assert!(!firm(&format!("{f}{}{g}", one(" .reloc 1b, R_RISCV_RELAX\n"))));
        assert!(firm(&format!("{f}{}{g}", one(""))));
    }
    // By a relocation: a linker moves symbols, and leaves addends as they are.
    let by = |to: &str, between: &str| firm(&format!(".globl f\nf: .half 0xa001\n .reloc f, R_RISCV_RVC_JUMP, {to}\n.globl k\nk: {between}{g}"));
    assert!(by("g", &loose) && by("k+8", &kept));
    assert!(!by("k+8", &loose));
}

/// The address of an instruction counts from the symbol that the relocation names.
#[test]
fn addresses_of_code_behind_what_may_shrink_are_none() {
    let what = |to: &str, relax: &str| {
        let call = format!("1: .word 0x97,0x80e7\n .reloc 1b, R_RISCV_CALL_PLT, h\n{relax}");
        let image = read(&format!(".globl k\nk: {call}.globl g\ng: ret\n.section .rodata\n.type p,@object\np: .word {to}\n.size p,4\n"));
        let at = image.data.iter().find(|d| d.name == "p").expect("there").address;
        let place = Ledger::new(&image).pointer(at, 4).expect("whole").expect("an address");
        place.what
    };
    let relax = " .reloc 1b, R_RISCV_RELAX\n";
    assert_eq!([what("g", relax), what("k", relax), what("k+8", "")], [What::Code; 3]);
    assert_eq!([what("k+8", relax), what("k+4", relax), what("g-8", relax)], [What::Other; 3]);
}

/// Where the bytes of one instruction are part of an address, no other instruction is made of them.
#[test]
fn bytes_that_are_relocated_are_of_one_instruction() {
    let image = read(".globl v,f\nf: lui t0,%hi(v)\n.globl m\n.set m,f+2\n ret\n");
    let at = image.function("f").expect("there").address;
    assert!(image.fetch(at).is_some() && image.fetch(at + 4).is_some());
    assert!(image.doubt(at + 2).is_some_and(|w| w.contains("another one")), "{:?}", image.doubt(at + 2));
    // One before it that reaches into it.
    let image = read(".globl v,f\nf: .half 0x0013\n1: lui t0,%hi(v)\n ret\n");
    let at = image.function("f").expect("there").address;
    assert!(image.doubt(at).is_some_and(|w| w.contains("another one")) && image.fetch(at + 2).is_some());
}

/// Of an address that a linker makes in a shorter way both parts are marked so.
#[test]
fn a_low_part_stays_with_its_upper_part() {
    let relax = |n: u32| format!(" .reloc {n}b, R_RISCV_RELAX\n");
    let far = |a: &str, b: &str, to: &str| format!(".globl v,f\nf:\n1: lui t0,%hi(v)\n{a}2: lw t0,%lo({to})(t0)\n{b} ret\n");
    let near = |a: &str, b: &str, _: &str| format!(".globl v,f\nf:\n1: auipc t0,%pcrel_hi(v)\n{a}2: lw t0,%pcrel_lo(1b)(t0)\n{b} ret\n");
    let lone = |text: String| {
        let image = read(&text);
        image.doubt(image.function("f").expect("there").address + 4).is_some_and(|w| w.contains("leaves out the upper part"))
    };
    for way in [far, near] {
        assert!(!lone(way("", "", "v")) && !lone(way(&relax(1), &relax(2), "v")) && !lone(way("", &relax(2), "v")));
        assert!(lone(way(&relax(1), "", "v")));
    }
    assert!(lone(far(&relax(1), "", "v+4")) && !lone(far(&relax(1), "", "w")));
}

/// A segment that loads other bytes, fewer, at another place, or none.
#[test]
fn program_headers_say_what_the_sections_say() {
    let good = made("f: li a0,1\n li a1,2\n ret\n.section .rodata\nv: .word 3,4\n.data\nw: .word 5\n.bss\n.zero 64\n", true);
    assert!(load(&good).is_ok_and(|i| i.linked));
    let word = |at: usize| u32::from_le_bytes([good[at], good[at + 1], good[at + 2], good[at + 3]]);
    let (table, count) = (word(28) as usize, usize::from(good[44]));
    let mut refused = 0;
    for n in (0..count).filter(|n| word(table + 32 * n) == 1) {
        let at = table + 32 * n;
        let size = word(at + 16);
        let changes = [
            (0, 4, "a note"),
            (4, word(at + 4).wrapping_add(4), "other bytes"),
            (8, word(at + 8).wrapping_add(4), "another place"),
            (8, word(at + 8) ^ 0x4000_0000, "a far place"),
            (16, 0, "no bytes of the file"),
            (20, size / 2, "less room than bytes"),
        ];
        for (field, value, what) in changes {
            let mut bad = good.clone();
            bad[at + field..at + field + 4].copy_from_slice(&value.to_le_bytes());
            let e = load(&bad).expect_err(what);
            assert_eq!(e.kind, ErrorKind::Corrupt, "{what}: {e}");
            refused += 1;
        }
    }
    let mut bad = good.clone();
    let code = (0..count).map(|n| table + 32 * n).find(|at| word(*at) == 1 && word(at + 24) & 1 == 1).expect("code");
    bad[code + 24] &= !1;
    assert!(load(&bad).expect_err("not executable").reason.contains("executed"));
    // Two that load one address; what stands last in the table would win.
    let mut bad = good.clone();
    let loads: Vec<usize> = (0..count).map(|n| table + 32 * n).filter(|at| word(*at) == 1).collect();
    if let [a, b, ..] = loads[..] {
        bad.copy_within(a..a + 32, b);
        assert!(load(&bad).is_err());
    }
    println!("tried: {refused} program headers that contradict the sections, all refused");
    assert!(refused >= 6);
}
