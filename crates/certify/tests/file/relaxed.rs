//! What a linker that relaxes makes of an object: upper parts of addresses go, `gp` or x0 takes the place of the register that held them, calls
//! become short, padding goes. Code that is right as it stands and wrong then is refused, by the certifier and by the judge of
//! bytes; each wrong object stands beside a twin that is right either way.

use crate::support::{accepted, image, judged_with, made, object, of, Compiler, Made, Memory};
use santoku_certify::report::Status;
use santoku_certify::Options;
use std::process::Command;

const SOURCE: &str = "@export(\"five\")\nfn five(x: u32) -> u32 { x + 5 }\n";

/// Code of `five` and what stands behind it.
struct Case<'a> {
    what: &'a str,
    body: &'a str,
    more: &'a str,
    /// What the certifier says; nothing where it is right.
    refused: Option<&'a str>,
    /// The linker of the tests makes wrong code of it.
    shown: bool,
}

const fn right(what: &'static str, body: &'static str, more: &'static str) -> Case<'static> {
    Case { what, body, more, refused: None, shown: false }
}

/// Shown by the linker.
const fn wrong(what: &'static str, body: &'static str, more: &'static str, why: &'static str) -> Case<'static> {
    Case { what, body, more, refused: Some(why), shown: true }
}

/// No other result by the linker of the tests, which does not count from `gp` here or says that it cannot.
const fn unseen(what: &'static str, body: &'static str, more: &'static str, why: &'static str) -> Case<'static> {
    Case { shown: false, ..wrong(what, body, more, why) }
}

#[rustfmt::skip]
const CASES: [Case<'static>; 36] = [
    right("an upper part and the rest", "lui t0,%hi(TT); lw t0,%lo(TT+4)(t0); add a0,a0,t0; ret", ""),
    right("one upper part for two", "lui t0,%hi(TT); lw t1,%lo(TT)(t0); lw t0,%lo(TT+4)(t0); add a0,a0,t0; ret", ""),
    right("an upper part in another register", "lui t0,%hi(TT); mv t2,t0; li t0,0; lw t0,%lo(TT+4)(t2); add a0,a0,t0; ret", ""),
    right("an upper part on the stack", "addi sp,sp,-16; lui t0,%hi(TT); sw t0,0(sp); lw t1,0(sp); addi sp,sp,16; lw t0,%lo(TT+4)(t1); add a0,a0,t0; ret", ""),
    right("relative to the code", "1: auipc t0,%pcrel_hi(TT+4); lw t0,%pcrel_lo(1b)(t0); add a0,a0,t0; ret", ""),
    wrong("something added in between", "lui t0,%hi(TT); addi t0,t0,4; lw t0,%lo(TT)(t0); add a0,a0,t0; ret", "", "none of its upper part"),
    wrong("an index added in between", "li t1,4; lui t0,%hi(TT); add t0,t0,t1; lw t0,%lo(TT)(t0); add a0,a0,t0; ret", "", "none of its upper part"),
    wrong("an index added to the sum's upper part", "li t1,4; lui t0,%hi(TT); add t0,t0,t1; addi t0,t0,%lo(TT); lw t0,0(t0); add a0,a0,t0; ret", "", "none of its upper part"),
    unseen("something added, relative to the code", "1: auipc t0,%pcrel_hi(TT); addi t0,t0,4; lw t0,%pcrel_lo(1b)(t0); add a0,a0,t0; ret", "", "none of its upper part"),
    right("something added behind", "lui t0,%hi(TT); addi t0,t0,%lo(TT); lw t0,4(t0); add a0,a0,t0; ret", ""),
    wrong("the difference of two upper parts", "mv t0,a0; lui t0,%hi(TT); lui t1,%hi(TT); sub t0,t0,t1; addi t0,t0,5; add a0,a0,t0; ret", "", ""),
    unseen("such a difference that stays", ".option norelax; mv t0,a0; lui t0,%hi(TT); lui t1,%hi(TT); sub t0,t0,t1; addi t0,t0,5; add a0,a0,t0; ret", "", ""),
    wrong("an upper part and itself, twice", "mv t0,a0; lui t0,%hi(TT); mv t1,t0; li t0,0; lui t0,%hi(TT); sub t0,t0,t1; addi t0,t0,5; add a0,a0,t0; ret", "", ""),
    unseen("a branch on what is there without an upper part", "mv t0,a0; lui t0,%hi(TT); beqz t0,1f; nop; 1: addi a0,a0,5; ret", "", "has no value here"),
    unseen("such a branch where it stays", ".option norelax; mv t0,a0; lui t0,%hi(TT); beqz t0,1f; nop; 1: addi a0,a0,5; ret", "", "has no value here"),
    wrong("a rest that stays", "mv t0,a0; lui t0,%hi(TT); .option norelax; lw t0,%lo(TT+4)(t0); add a0,a0,t0; ret", "", "leaves out the upper part"),
    right("an upper part that stays", ".option norelax; lui t0,%hi(TT); .option relax; lw t0,%lo(TT+4)(t0); add a0,a0,t0; ret", ""),
    unseen("gp is something else for a while", "mv t1,gp; li gp,0; lui t0,%hi(TT); lw t0,%lo(TT+4)(t0); mv gp,t1; add a0,a0,t0; ret", "", "register gp is written"),
    unseen("gp is something else, and nothing is read", "mv t1,gp; addi gp,a0,5; mv a0,gp; mv gp,t1; ret", "", "register gp is written"),
    unseen("tp is something else for a while", "mv t1,tp; addi tp,a0,5; mv a0,tp; mv tp,t1; ret", "", "register tp is written"),
    unseen("gp is linked", "mv t1,gp; jal gp,1f; 1: mv gp,t1; addi a0,a0,5; ret", "", "register gp is written"),
    right("gp is kept elsewhere", "mv t1,gp; addi a0,a0,5; ret", ""),
    wrong("a distance over what may go", ".word 0x00000863; lui t0,%hi(TT); addi t0,t0,%lo(TT); nop; addi a0,a0,5; ret", "", "may change"),
    wrong("a jump's distance over what may go", ".word 0x0100006f; lui t0,%hi(TT); addi t0,t0,%lo(TT); nop; addi a0,a0,5; ret", "", "does not name"),
    wrong("a distance back over what may go", "j 2f; ret; 1: addi a0,a0,5; ret; lui t0,%hi(TT); addi t0,t0,%lo(TT); 2: .word 0xfe0008e3", "", "may change"),
    right("a distance over what stays", ".option norelax; .word 0x00000863; lui t0,%hi(TT); addi t0,t0,%lo(TT); nop; addi a0,a0,5; ret", ""),
    right("a jump to behind a symbol, over what stays", ".option norelax; 1: .word 0x6f; .reloc 1b, R_RISCV_JAL, K+12; K: lui t0,%hi(TT); addi t0,t0,%lo(TT); nop; addi a0,a0,5; ret", ""),
    right("a branch over what may go", "beq x0,x0,1f; lui t0,%hi(TT); addi t0,t0,%lo(TT); nop; 1: addi a0,a0,5; ret", ""),
    wrong("a distance over a call that may be short", ".word 0x00000663; call other; addi a0,a0,5; ret", "other: ret", "may change"),
    right("a branch over such a call", "beq x0,x0,1f; call other; 1: addi a0,a0,5; ret", "other: ret"),
    wrong("a jump to behind a symbol, over what may go", "1: .word 0x6f; .reloc 1b, R_RISCV_JAL, K+12; K: lui t0,%hi(TT); addi t0,t0,%lo(TT); nop; addi a0,a0,5; ret", "", "does not name"),
    right("a jump to a symbol", "1: .word 0x6f; .reloc 1b, R_RISCV_JAL, K; lui t0,%hi(TT); addi t0,t0,%lo(TT); nop; K: addi a0,a0,5; ret", ""),
    wrong("a pointer to behind a symbol", "lui t0,%hi(q); lw t0,%lo(q)(t0); jr t0; K: lui t0,%hi(TT); addi t0,t0,%lo(TT); nop; addi a0,a0,5; ret", ".section .rodata; .balign 4; .type q,@object; q: .word K+12; .size q,4; .text", "computed address"),
    right("a pointer to a symbol", "lui t0,%hi(q); lw t0,%lo(q)(t0); jr t0; lui t0,%hi(TT); addi t0,t0,%lo(TT); K: addi a0,a0,5; ret", ".section .rodata; .balign 4; .type q,@object; q: .word K; .size q,4; .text"),
    unseen("a jump into the second half of an address", ".option rvc; j 1f+2; 1: lui t0,%hi(TT); addi a0,a0,5; ret", "", ""),
    right("a jump to the address", ".option rvc; j 1f; 1: lui t0,%hi(TT); addi a0,a0,5; ret", ""),
];

fn text(c: &Case) -> String {
    let lines = |t: &str| t.replace("; ", "\n ").replace(';', "\n");
    format!(
        ".option relax\n.text\n.globl five\n.type five,@function\nfive:\n {}\n.size five,.-five\n.option relax\n.text\n{}\n\
         .section .rodata\n.balign 16\n.type TT,@object\nTT: .word 1,5,9,77\n.size TT,16\n",
        lines(c.body), lines(c.more)
    )
}

fn status(made: &Made, object: &[u8], store: &Memory) -> Status {
    let options = Options { only: Some("five".into()), ..Options::default() };
    of(&judged_with(made, object, &options, store), "five").status.clone()
}

/// What GNU ld makes of an object that it relaxes, constants lying where no upper part is needed.
fn relaxed(object: &[u8]) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("scratch");
    std::fs::write(folder.path().join("unit.o"), object).expect("scratch");
    let mut ld = Command::new("riscv64-unknown-elf-ld");
    ld.args(["-m", "elf32lriscv", "--relax", "-e", "0", "-Ttext=0x20000", "--section-start=.rodata=0x400", "unit.o", "-o", "unit.elf"]);
    let done = ld.current_dir(folder.path()).output().expect("a linker");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    std::fs::read(folder.path().join("unit.elf")).expect("an image")
}

/// The right ones first: what is kept of them must not be found for the wrong ones.
#[test]
fn what_a_linker_shortens_is_proved_only_if_it_is_right_then() {
    let made = made(SOURCE);
    let (mut proved, mut refused, mut shown) = (0, 0, 0);
    let store = Memory::default();
    let mut cases: Vec<&Case> = CASES.iter().collect();
    cases.sort_by_key(|c| c.refused.is_some());
    for c in cases {
        let Some(object) = object(Compiler::Gcc, "rv32im", "O1", "unit.S", &text(c)) else { return };
        let (status, by_bytes) = (status(&made, &object, &store), accepted(&made, &image(&object), "five"));
        assert_eq!(by_bytes, c.refused.is_none(), "{}: the judge of bytes", c.what);
        match c.refused {
            None => {
                assert_eq!(status, Status::Equal, "{}", c.what);
                proved += 1;
            }
            Some(why) => {
                assert!(!status.holds() && format!("{status:?}").contains(why), "{}: {status:?}", c.what);
                refused += 1;
            }
        }
        let linked = self::status(&made, &relaxed(&object), &store);
        if c.refused.is_none() {
            assert_eq!(linked, Status::Equal, "{}: once linked", c.what);
        } else if c.shown {
            assert_ne!(linked, Status::Equal, "{}: once linked", c.what);
            shown += 1;
        }
    }
    println!("tried: {proved} right objects proved, and proved again once relaxed; {refused} wrong ones refused, {shown} of them wrong in the image");
}

/// Two ways that make the upper part, of one address and of two.
#[test]
fn an_upper_part_may_be_made_on_every_way() {
    let made = made("@export(\"five\")\nfn five(x: u32, n: public u32) -> u32 { if n > 0 { x + 5 } else { x + 6 } }\n");
    let other = ".section .rodata.b,\"a\"; .balign 16; .type UU,@object; UU: .word 1,5; .size UU,8; .text";
    let mut tried = 0;
    for (name, right) in [("TT", true), ("UU", false)] {
        let body = "beqz a1,1f; lui t0,%hi(TT); j 2f; 1: lui t0,%hi(NAME); addi a0,a0,1; 2: lw t0,%lo(TT+4)(t0); add a0,a0,t0; ret".replace("NAME", name);
        let case = Case { what: name, body: &body, more: other, refused: None, shown: false };
        let Some(object) = object(Compiler::Gcc, "rv32im", "O1", "unit.S", &text(&case)) else { return };
        let found = status(&made, &object, &Memory::default());
        assert_eq!(found == Status::Equal, right, "{name}: {found:?}");
        tried += 1;
    }
    santoku_skips::checked(tried, "upper parts on two ways");
}
