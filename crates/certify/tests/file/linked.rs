//! What a linker makes of an object: where it may make something else than what stands there, nothing is proved. Every wrong
//! object stands beside its right twin.

use crate::support::{judged_with, made, object, of, Compiler, Dice, Made, Memory};
use santoku_certify::report::{FileReport, FunctionReport, Status};
use santoku_certify::{certify, Options, World};
use santoku_isa::Isa;
use santoku_skips::seeds;
use std::path::Path;
use std::process::Command;

const SOURCE: &str = "
const T: [u32; 4] = [1, 5, 9, 77]
@export(\"tab\")
fn tab(i: public int in 0..3) -> u32 { T[i] }
@export(\"add\")
fn add(x: u32, y: u32) -> u32 { x + y }
@export(\"five\")
fn five(x: u32) -> u32 { x + 5 }
@export(\"copied\")
fn copied(a: [u8; 40]) -> [u8; 40] { a }
";

/// Several functions in one section call each other.
const WHOLE: &str = "
const T: [u32; 4] = [1, 5, 9, 77]
@export(\"tab\")
fn tab(i: public int in 0..3) -> u32 { T[i] }
@noinline
fn mix(x: u32, y: u32) -> u32 { (x ^ y) + 0x12345678 }
@export(\"twice\")
fn twice(x: u32, y: u32) -> u32 { mix(mix(x, y), y) }
@export(\"most\")
fn most(x: public u32, y: public u32) -> u32 { if x < y { mix(y, x) } else { mix(x, y) } }
";

fn function(name: &str, body: &str) -> String {
    format!(".option norelax\n.text\n.globl {name}\n.type {name},@function\n{name}:\n{body}\n.size {name},.-{name}\n")
}

const CALL: &str = " addi sp,sp,-16\n sw ra,12(sp)\n call helper\n lw ra,12(sp)\n addi sp,sp,16\n ret";
const HELPER: &str = ".type helper,@function\nhelper: add a0,a0,a1\n ret\n.size helper,.-helper\n";
const LOOK: &str = " lui t0,%hi(TT)\n addi t0,t0,%lo(TT)\n slli a0,a0,2\n add a0,a0,t0\n lw a0,0(a0)\n ret";
const NEAR: &str = ".L1: auipc t0,%pcrel_hi(TT)\n addi t0,t0,%pcrel_lo(.L1)\n slli a0,a0,2\n add a0,a0,t0\n lw a0,0(a0)\n ret";
const FIVE: &str = " lui t0,%hi(TT)\n lw t0,%lo(TT)(t0)\n add a0,a0,t0\n ret";
const TABLE: &str = ".type TT,@object\n.balign 16\nTT: .word 1,5,9,77\n.size TT,.-TT\n";

/// What it is, the function, the assembly, and why it is not proved.
fn cases() -> Vec<(&'static str, &'static str, String, Option<&'static str>)> {
    let add = |body: &str, more: &str| function("add", body) + more;
    let tab = |body: &str, section: &str, table: &str| function("tab", body) + &format!(".section {section}\n{table}");
    let five = |section: &str, table: &str| function("five", FIVE) + &format!(".section {section}\n{table}");
    let copied = |more: &str| function("copied", " li a2,40\n tail memcpy") + more;
    let word = "1: .word 0x00b50533\n ret\n";
    let (sum, branch) = (" add a0,a0,a1\n ret", " beq x0,x0,g\n ret");
    let g = ".type g,@function\ng: add a0,a0,a1\n ret\n.size g,.-g\n";
    let cst = |size: u32| format!(".rodata.cst{size},\"aM\",@progbits,{size}");
    vec![
        ("a call", "add", add(CALL, &format!(".globl helper\n{HELPER}")), None),
        ("a call of a static function", "add", add(CALL, HELPER), None),
        ("a call of a weak function", "add", add(CALL, &format!(".weak helper\n{HELPER}")), Some("`helper` is a weak symbol")),
        ("a call into a COMDAT group", "add", add(CALL, &format!(".section .x,\"axG\",@progbits,helper,comdat\n.globl helper\n{HELPER}")), Some("COMDAT")),
        ("a call of an indirect function", "add", add(CALL, &HELPER.replace("@function", "@gnu_indirect_function")), Some("IFUNC")),
        ("a weak entry", "add", add(sum, ".weak add\n").replace(".globl add\n", ""), Some("`add` is a weak symbol")),
        ("a copy", "copied", copied(""), None),
        ("a copy by a weak function", "copied", copied(".weak memcpy\n"), Some("`memcpy` is a weak symbol that the file does not define")),
        ("a table", "tab", tab(LOOK, ".rodata", TABLE), None),
        ("a table near the code", "tab", tab(NEAR, ".rodata", TABLE), None),
        ("a weak table", "tab", tab(LOOK, ".rodata", &format!(".weak TT\n{TABLE}")), Some("`TT` is a weak symbol")),
        ("a table in an entry", "tab", tab(LOOK, &cst(16), TABLE), None),
        ("a table over entries", "tab", tab(LOOK, &cst(4), TABLE), Some("outside the constant")),
        ("a table over entries, near", "tab", tab(NEAR, &cst(8), TABLE), Some("outside the constant")),
        ("a table in a string", "tab", tab(LOOK, ".rodata.str4.4,\"aMS\",@progbits,4", &format!("{TABLE}.word 0\n")), None),
        ("a table over strings", "tab", tab(LOOK, ".rodata.str1.4,\"aMS\",@progbits,1", &format!("{TABLE}.word 0\n")), Some("outside the constant")),
        ("a table in a string without end", "tab", tab(LOOK, ".rodata.str4.4,\"aMS\",@progbits,4", TABLE), Some("no whole entry")),
        ("a table behind its section", "tab", tab(LOOK, ".rodata", &format!("TT = .+272\n.word 3,3,3,3\n.section .rodata.b,\"a\"\n{}", TABLE.replace("TT", "UU"))), Some("outside the constant")),
        ("a table in thread-local data", "tab", tab(LOOK, ".x,\"aT\"", TABLE), Some("no symbol of code or data")),
        ("a table that is left out", "tab", tab(LOOK, ".x,\"ae\"", TABLE), Some("SHF_EXCLUDE")),
        ("a table that is a number", "tab", tab(LOOK, ".rodata", &format!(".globl TT\nTT = 0x10100\n{}", TABLE.replace("TT", "UU"))), Some("absolute")),
        ("a constant in an entry", "five", five(&cst(4), ".balign 4\n.word 9\nTT: .word 5\n.word 7\n"), None),
        ("a constant in an entry of eight", "five", five(&cst(8), ".balign 8\n.word 9,9\nTT: .word 5,6\n"), None),
        ("a constant over entries", "five", five(".rodata.cst2,\"aM\",@progbits,2", ".balign 4\nTT: .half 5,0\n"), Some("outside the constant")),
        ("a word that is less aligned", "five", five(".rodata.cst8,\"aM\",@progbits,8", ".balign 2\nTT: .word 5,6\n"), Some("multiple")),
        ("a branch", "add", add(branch, g), None),
        ("a branch to another section", "add", add(branch, &format!(".section .text.g,\"ax\"\n.globl g\n{g}")), None),
        ("a distance to another section", "add", add(" .word 0x30000863\n ret", &format!(".section .text.g,\"ax\"\n.globl g\n{g}")), Some("may change")),
        ("a jump's distance to another section", "add", add(" .word 0x3100006f\n ret", &format!(".section .text.g,\"ax\"\n.globl g\n{g}")), Some("does not name")),
        ("a fall to the next section", "add", add(" add a0,a0,a1", ".section .text.g,\"ax\"\ng: ret\n"), Some("no instruction")),
        ("a branch over padding by number", "add", add(" .word 0x00000463\n1: nop\n .reloc 1b, R_RISCV_ALIGN, 4\n add a0,a0,a1\n ret", ""), Some("may change")),
        ("a branch over padding", "add", add(" beq x0,x0,2f\n1: nop\n .reloc 1b, R_RISCV_ALIGN, 4\n2: add a0,a0,a1\n ret", ""), None),
        ("an instruction as a word", "add", add(word, ""), None),
        ("a word put together", "add", add(&format!("{word} .reloc 1b, R_RISCV_ADD32, add\n .reloc 1b, R_RISCV_SUB32, add\n"), ""), Some("a number is relocated")),
        ("a part of a word", "add", add(&format!("{word} .reloc 1b+3, R_RISCV_ADD8, add\n .reloc 1b+3, R_RISCV_SUB8, add\n"), ""), Some("a number is relocated")),
    ]
}

fn only(made: &Made, object: &[u8], symbol: &str, store: &Memory) -> FunctionReport {
    let options = Options { only: Some(symbol.into()), ..Options::default() };
    of(&judged_with(made, object, &options, store), symbol).clone()
}

/// The right ones first: what is kept of them must not be found for the wrong ones.
#[test]
fn what_a_linker_may_change_is_not_proved() {
    let made = made(SOURCE);
    let store = Memory::default();
    let (mut all, mut wrong) = (cases(), 0);
    all.sort_by_key(|c| c.3.is_some());
    for (what, symbol, text, reason) in &all {
        let Some(object) = object(Compiler::Gcc, "rv32im", "O1", "unit.S", text) else { return };
        let f = only(&made, &object, symbol, &store);
        match reason {
            None => assert_eq!(f.status, Status::Equal, "{what}: {:?}", f.status.reason()),
            Some(reason) => {
                let why = f.status.reason().unwrap_or_else(|| panic!("{what}: {:?}", f.status));
                assert!(why.contains(reason), "{what}: {why}");
                wrong += 1;
            }
        }
    }
    println!("tried: {} objects, {wrong} that a linker may make something else of, none proved", all.len());
}

/// A processor without 16-bit instructions, in a file that says it has some.
#[test]
fn instructions_lie_where_the_processor_takes_them() {
    let made = made(SOURCE);
    let jump = |half: &str| function("add", &format!(".option norvc\n j 1f\n{half}\n1: add a0,a0,a1\n ret"));
    let judged = |text: &str, isa: Isa| {
        let object = object(Compiler::Gcc, "rv32imc", "O1", "unit.S", text)?;
        let world = World { store: &Memory::default(), clock: &|| 0, tell: &|_, _, _| {} };
        Some(of(&certify(&santoku_elf::load(&object).expect("object"), isa, &made.program, made.symbols.clone(), &Options::default(), &world), "add").status.clone())
    };
    let (with, without) = (Isa::rv32imc(), Isa { c: false, ..Isa::rv32imc() });
    for (text, equal) in [
        (jump(""), true),
        (jump(".word 0"), true),
        (jump(".half 1"), false),
        (function("add", " c.add a0,a1\n ret"), false),
        (format!(".half 1\n{}", jump("")), false),
    ] {
        let (Some(a), Some(b)) = (judged(&text, with), judged(&text, without)) else { return };
        assert_eq!(a, Status::Equal, "{text}");
        assert_eq!(b == Status::Equal, equal, "{text}: {b:?}");
    }
}

const GNU: &str = "riscv64-unknown-elf-ld";

/// What the linker makes of an object, of another before it and one behind it, whose definitions count where the object's are weak; `None`: it refuses.
fn link(folder: &Path, linker: &str, object: &[u8]) -> Option<Vec<u8>> {
    std::fs::write(folder.join("unit.o"), object).expect("scratch");
    let mut ld = Command::new(linker);
    ld.args(["-m", "elf32lriscv", "--no-relax", "-e", "0", "-Ttext=0x20000", "-z", "muldefs", "before.o", "unit.o", "behind.o", "-o", "unit.elf"]);
    let done = ld.current_dir(folder).output().ok()?;
    done.status.success().then(|| std::fs::read(folder.join("unit.elf")).expect("an image"))
}

/// One byte of the section headers, the relocations or the symbols is another.
fn mutated(good: &[u8], below: &mut dyn FnMut(usize) -> usize) -> Vec<u8> {
    let word = |at: usize| u32::from_le_bytes([good[at], good[at + 1], good[at + 2], good[at + 3]]) as usize;
    let (table, count) = (word(0x20), usize::from(good[0x30]));
    let tables: Vec<(usize, usize)> = (0..count)
        .filter(|n| matches!(word(table + 40 * n + 4), 2 | 4) && word(table + 40 * n + 20) > 0)
        .map(|n| (word(table + 40 * n + 16), word(table + 40 * n + 20)))
        .collect();
    let at = match below(3) {
        0 => table + below(40 * count),
        _ => {
            let (from, size) = tables[below(tables.len())];
            from + below(size)
        }
    };
    const VALUES: [u8; 24] = [0, 1, 2, 3, 4, 8, 16, 17, 18, 19, 20, 23, 24, 26, 27, 28, 32, 34, 35, 43, 51, 54, 0xf1, 0xff];
    let mut bad = good.to_vec();
    bad[at] = if below(2) == 0 { good[at] ^ 1 << below(8) } else { VALUES[below(VALUES.len())] };
    bad
}

/// Mutated objects of which something is still said to be equal are linked behind another object, and the image is judged.
fn linked_as_judged(seeds: usize, first: u64) {
    let made = made(WHOLE);
    let asm = function("tab", LOOK) + ".section .rodata.cst16,\"aM\",@progbits,16\n.balign 16\n.word 9,9,9,9\nTT: .word 1,5,9,77\n";
    // Its constants come first and are merged with the others.
    let before = ".section .text.before,\"ax\"\nnop\nnop\nnop\n.section .rodata,\"a\"\n.word 7,7,7,7\n.section .rodata.cst16,\"aM\",@progbits,16\n.balign 16\n.word 3,3,3,3\n.word 9,9,9,9\n";
    let Some(before) = object(Compiler::Gcc, "rv32imc", "O1", "before.S", before) else { return };
    let names = ["tab", "twice", "most", "TT"];
    let behind: String = names.iter().map(|n| format!(".globl {n}\n{n}:\n")).collect();
    let Some(behind) = object(Compiler::Gcc, "rv32imc", "O1", "behind.S", &format!(".text\n{behind} li a0,99\n ret\n")) else { return };
    let folder = tempfile::tempdir().expect("scratch");
    std::fs::write(folder.path().join("before.o"), before).expect("scratch");
    std::fs::write(folder.path().join("behind.o"), behind).expect("scratch");
    let mut dice = Dice::new(0x51ed_270b_9f3c_aa17 ^ first);
    let mut below = |n: usize| dice.below(n);
    let (mut refused, mut open, mut no_image, mut images) = (0, 0, 0, 0);
    let files = [
        (object(Compiler::Gcc, "rv32imc", "O1", "unit.c", &made.c), GNU),
        (object(Compiler::Gcc, "rv32im", "O2 -mcmodel=medany -fno-data-sections", "unit.c", &made.c), GNU),
        // GNU ld 2.40 breaks off at clang's debug information.
        (object(Compiler::Clang, "rv32imc", "Os", "unit.c", &made.c), "ld.lld-19"),
        (object(Compiler::Gcc, "rv32im", "O1", "unit.S", &asm), GNU),
    ];
    for (good, linker) in files.into_iter().filter_map(|(o, l)| Some((o?, l))) {
        assert!(link(folder.path(), linker, &good).is_some(), "the linker is there");
        for n in 0..=seeds {
            let bad = if n == 0 { good.clone() } else { mutated(&good, &mut below) };
            let Ok(image) = santoku_elf::load(&bad) else {
                refused += 1;
                continue;
            };
            if image.xlen != 32 || image.linked {
                continue;
            }
            let report = judged_with(&made, &bad, &Options::default(), &Memory::default());
            let equal: Vec<&FunctionReport> = report.functions.iter().filter(|f| f.status == Status::Equal).collect();
            assert!(n > 0 || report.holds(), "{:?}", report.open().map(|f| f.status.reason()).collect::<Vec<_>>());
            if equal.is_empty() {
                open += 1;
                continue;
            }
            let Some(elf) = link(folder.path(), linker, &bad) else {
                no_image += 1;
                continue;
            };
            agree(&made, &bad, &elf, &equal, n);
            images += 1;
        }
    }
    println!("tried: {images} linked images of changed objects compute what was said; {refused} objects refused, {open} not proved, {no_image} not linked");
    santoku_skips::checked(images, "images of changed objects");
}

/// Every function that is equal in the object is so in the image.
fn agree(made: &Made, object: &[u8], elf: &[u8], equal: &[&FunctionReport], n: usize) {
    let keep = || {
        let place = std::env::temp_dir().join(format!("changed_{n}.o"));
        std::fs::write(&place, object).expect("scratch");
        place
    };
    let image: FileReport = match santoku_elf::load(elf) {
        Ok(_) => judged_with(made, elf, &Options::default(), &Memory::default()),
        Err(e) => panic!("{e}: {:?}", keep()),
    };
    for f in equal {
        // A symbol may have become local, or another name of the same place.
        let Some(there) = image.functions.iter().find(|g| g.symbol == f.symbol) else { continue };
        assert!(there.status.holds(), "{} is equal in the object, and once linked {:?}: {:?}", f.symbol, there.status.reason(), keep());
    }
}

#[test]
fn linked_images_compute_what_was_said_of_their_objects() {
    linked_as_judged(30, 1000 * seeds::turn());
}

#[test]
#[ignore = "long"]
fn soak_linked_images_compute_what_was_said_of_their_objects() {
    linked_as_judged(seeds::count(600) as usize, seeds::first());
}
