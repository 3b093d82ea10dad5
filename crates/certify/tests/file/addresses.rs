//! Addresses are what a linker makes them: code whose result is the number at which the reader has placed something is not
//! proved, and no byte is read by such a number. Jumps arrive where a relocation or a link says.

use crate::support::{judged_with, made, object, of, Compiler, Memory};
use santoku_certify::report::Status;
use santoku_certify::Options;
use santoku_elf::{load, Image};

/// What is made, by which instructions, and where the reader has placed it.
type Way = (&'static str, &'static str, fn(&Image) -> u64);

const WAYS: [Way; 8] = [
    ("a function", " lui t0,%hi(g)\n addi t0,t0,%lo(g)", |i| i.function("g").expect("g").address),
    ("a function, relative to the code", "1: auipc t0,%pcrel_hi(g)\n addi t0,t0,%pcrel_lo(1b)", |i| i.function("g").expect("g").address),
    ("a label of the function", " lui t0,%hi(.Lend)\n addi t0,t0,%lo(.Lend)", |i| i.function("f").expect("f").address + 16),
    ("a variable", " lui t0,%hi(v)\n addi t0,t0,%lo(v)", |i| named(i, "v")),
    ("the instruction itself", " nop\n auipc t0,0", |i| i.function("f").expect("f").address + 4),
    ("the return address of a link", " jal t0,1f\n1: nop", |i| i.function("f").expect("f").address + 4),
    ("a function of another file", " lui t0,%hi(other)\n addi t0,t0,%lo(other)", |i| i.externals().find(|e| e.1 == "other").expect("other").0),
    ("a pointer in a constant", " lui t0,%hi(p)\n lw t0,%lo(p)(t0)", |i| i.function("g").expect("g").address),
];

fn named(image: &Image, name: &str) -> u64 {
    image.data.iter().find(|d| d.name == name).expect("a variable").address
}

fn text(body: &str, more: &str) -> String {
    format!(
        ".option norelax\n.text\n.globl f\n.type f,@function\nf:\n{body}\n.size f,.-f\n.type g,@function\ng: ret\n.size g,.-g\n\
         .data\n.type v,@object\nv: .word 1\n.size v,4\n.section .rodata\n.balign 4\n.type p,@object\np: .word g\n.size p,4\n{more}\n"
    )
}

fn status(source: &str, text: &str) -> Option<Status> {
    let made = made(source);
    let object = object(Compiler::Gcc, "rv32im", "O1", "unit.S", text)?;
    let options = Options { only: Some("f".into()), ..Options::default() };
    Some(of(&judged_with(&made, &object, &options, &Memory::default()), "f").status.clone())
}

#[test]
fn where_the_reader_has_placed_something_is_no_fact() {
    let mut tried = 0;
    for (what, way, at) in WAYS {
        let text = text(&format!("{way}\n add a0,a0,t0\n ret\n.Lend:"), "");
        let Some(object) = object(Compiler::Gcc, "rv32im", "O1", "unit.S", &text) else { continue };
        let number = at(&load(&object).expect("an object"));
        let source = format!("@export(\"f\")\nfn f(x: u32) -> u32 {{ x + {number} }}\n");
        let found = status(&source, &text).expect("compiled before");
        assert!(!found.holds(), "{what} is taken for {number:#x}");
        // The same number, given by the code.
        let twin = format!(".option norelax\n.text\n.globl f\n.type f,@function\nf: li t0,{number}\n add a0,a0,t0\n ret\n.size f,.-f\n");
        assert_eq!(status(&source, &twin), Some(Status::Equal), "{what}: {number:#x} as a number");
        tried += 1;
    }
    santoku_skips::checked(tried, "ways to make an address, none a number");
}

/// What it is, the code, what stands behind it, and whether it is proved to add 5.
const JUMPS: [(&str, &str, &str, bool); 14] = [
    ("a piece taken out, linked by t0", " jal t0,piece\n ret\npiece: addi a0,a0,5\n jr t0", "", true),
    ("a piece that returns behind its link", " jal t0,piece\n nop\n ret\npiece: addi a0,a0,5\n jr 4(t0)", "", false),
    ("a piece that is left by another register", " jal t0,piece\n ret\npiece: addi a0,a0,5\n jr t1", "", false),
    ("a piece in a piece", " jal t0,one\n ret\none: mv t2,t0\n jal t0,two\n addi a0,a0,2\n jr t2\ntwo: addi a0,a0,3\n jr t0", "", true),
    ("pieces that return to each other", " jal t0,one\n ret\none: mv t2,t0\n jal t0,two\n addi a0,a0,2\n jr t0\ntwo: addi a0,a0,3\n jr t2", "", false),
    ("a jump through a pointer in a constant", " lui t0,%hi(q)\n lw t0,%lo(q)(t0)\n jr t0\n.Lhere: addi a0,a0,5\n ret", "q: .word .Lhere", true),
    ("a jump through a pointer to a function", " lui t0,%hi(q)\n lw t0,%lo(q)(t0)\n jr t0", "q: .word add5\n.text\nadd5: addi a0,a0,5\n ret", true),
    ("a jump through a pointer to a weak function", " lui t0,%hi(q)\n lw t0,%lo(q)(t0)\n jr t0", "q: .word add5\n.text\n.weak add5\nadd5: addi a0,a0,5\n ret", false),
    ("a jump behind what the pointer names", " lui t0,%hi(q)\n lw t0,%lo(q)(t0)\n jr 4(t0)\n.Lhere: nop\n addi a0,a0,5\n ret", "q: .word .Lhere", false),
    ("a jump by a number", " lui t0,16\n jr 8(t0)\n addi a0,a0,5\n ret", "", false),
    ("half of a pointer", " lui t0,%hi(q)\n lhu t1,%lo(q)(t0)\n addi a0,a0,5\n ret", "q: .word .Lhere\n.text\n.Lhere: nop", false),
    ("a load from a number", " lui t0,16\n lw t1,0(t0)\n addi a0,a0,5\n ret", "", false),
    ("a constant in small data", " lui t0,%hi(.L5)\n lw t0,%lo(.L5)(t0)\n add a0,a0,t0\n ret", ".section .sdata,\"aw\"\n.balign 4\n.L5: .word 5", true),
    ("a variable in small data", " lui t0,%hi(five)\n lw t0,%lo(five)(t0)\n add a0,a0,t0\n ret", ".section .sdata,\"aw\"\n.balign 4\nfive: .word 5", false),
];

#[test]
fn jumps_and_loads_go_where_they_are_named() {
    let mut tried = 0;
    for (what, body, more, right) in JUMPS {
        let Some(found) = status("@export(\"f\")\nfn f(x: u32) -> u32 { x + 5 }\n", &text(body, more)) else { continue };
        assert_eq!(found == Status::Equal, right, "{what}: {found:?}");
        tried += 1;
    }
    santoku_skips::checked(tried, "jumps and loads by address");
}

/// A length that no object has ends in a reason, at once.
#[test]
fn a_copy_of_any_length_is_judged_at_once() {
    let source = "@export(\"f\")\nfn f(a: [u8; 40]) -> [u8; 40] { a }\n";
    for (length, right) in [("40", true), ("-1", false), ("0x7ffff000", false), ("41", false)] {
        let Some(found) = status(source, &text(&format!(" li a2,{length}\n tail memcpy"), "")) else { continue };
        assert_eq!(found == Status::Equal, right, "{length}: {found:?}");
    }
}
