//! Static functions that code may enter which is not compared: nothing rests on how the compared code calls them.

use crate::conventions::{in_doubt, text, PROGRAM};
use crate::support::{judged, made, object, of, Compiler};
use santoku_certify::report::Status;
use santoku_skips::seeds;

/// In the place of `text`'s function: in a section of its own, behind what `before` says.
fn behind(before: &str) -> String {
    let section = ".section .text.q,\\\"ax\\\",@progbits\\n";
    let moved = text("").replace("static __attribute__((noipa))", "__attribute__((noipa, section(\".text.q\"))) static");
    format!("__asm__(\"{section}{before}.text\\n\");\n{moved}")
}

#[test]
fn a_convention_holds_only_where_nothing_else_enters() {
    let made = made(PROGRAM);
    let global = ".globl api\\n.type api,@function\\napi:\\n";
    let asm = |lines: &str| text(&format!("__asm__(\"{lines}\\n.text\\n\");"));
    let ways = [
        ("a variable", text("void *table = (void *)unit_total;")),
        ("a constant", text("void *const table = (void *)unit_total;")),
        ("a static variable that is read", text("static void *volatile table = (void *)unit_total; void *get(void) { return table; }")),
        ("a result", text("void *get(void) { return (void *)unit_total; }")),
        ("a distance", asm(".data\\n.globl far\\nfar: .word unit_total - other\\nother: .word 1")),
        ("code of a local label", asm(".section .text.api,\\\"ax\\\"\\nhidden: li a2,9\\n tail unit_total\\n.data\\n.globl entry\\nentry: .word hidden")),
        ("a jump over what is no code", asm(&format!(".section .text.api,\\\"ax\\\"\\n{global} li a2,9\\n j 1f\\n .half 0x0013\\n1: tail unit_total\\n.size api,.-api"))),
        ("a jump from code without a size", asm(&format!(".section .text.api,\\\"ax\\\"\\n{global} li a2,9\\n tail unit_total"))),
        ("a branch", asm(&format!(".text\\n{global} li a2,9\\n bnez a0,unit_total\\n ret\\n.size api,.-api"))),
        ("code before it", behind(&format!("{global} mv a1,a1\\n.size api,.-api\\n"))),
        ("code before it, by a local label", format!("{}\nextern char hidden; void *get(void) {{ return &hidden; }}", behind("hidden: mv a1,a1\\n"))),
    ];
    let ways = seeds::some(ways, 3);
    for (what, c) in &ways {
        for march in ["rv32imc", "rv64imc"] {
            let text = if march == "rv64imc" { c.replace("\\n.word unit", "\\n.dword unit").replace("far: .word", "far: .dword").replace("entry: .word", "entry: .dword") } else { c.clone() };
            let Some(object) = object(Compiler::Gcc, march, "O1", "unit.c", &text) else { return };
            let report = judged(&made, &object);
            assert!(!report.holds(), "{what} {march}");
            in_doubt(&report);
        }
    }
    // The same without anything that enters.
    for c in [text(""), behind(&format!("{global} ret\\n.size api,.-api\\n")), behind("unused: mv a1,a1\\n ret\\n")] {
        let Some(object) = object(Compiler::Gcc, "rv32imc", "O1", "unit.c", &c) else { return };
        let report = judged(&made, &object);
        assert!(report.holds(), "{c}: {:?}", report.open().map(|f| (&f.symbol, f.status.reason())).collect::<Vec<_>>());
    }
    println!("tried: {} ways into a function under a convention of its own, none proved", 2 * ways.len());
}

/// Right for the arguments that `f` passes, and for no others.
const INSIDE: &str = ".text
.type unit_g,@function
unit_g: andi a0,a0,255
 mul a0,a0,a1
 addi a0,a0,1
 ret
.size unit_g,.-unit_g
.globl f
.type f,@function
f: addi sp,sp,-16
 STORE ra,8(sp)
 andi a0,a0,255
 li a1,7
 call unit_g
 LOAD ra,8(sp)
 addi a0,a0,2
 addi sp,sp,16
 ret
.size f,.-f
";

#[test]
fn what_is_proved_inside_its_callers_has_no_others() {
    let made = made("@noinline\nfn g(x: u32, k: u32) -> u32 { x * k + 1 }\n@export(\"f\")\nfn f(x: u32) -> u32 { g(x & 255, 7) + 2 }\n");
    let get = ".globl get\n.type get,@function\nget: ";
    // A linker makes one instruction of two: what is meant here is another function's code once linked.
    let goes = ".option push\n.option relax\n lui t0,%hi(far)\n.option pop\n";
    let over = |how: &str| format!(".text\nk: {goes} ret\n ret\nelse: ret\n.data\n.globl far,table\n.balign 8\nfar: .word 1\n{how}");
    let ways = [
        ("what may go", over(""), true),
        ("an address over what may go", over("table: .word k + 8\n"), false),
        ("the same from a symbol", over("table: .word else\n"), true),
        ("a distance over what may go", format!("{}.text\n{get} .word 0x00c0006f\n{goes} ret\n ret\n ret\n.size get,.-get\n", over("")), false),
        ("nothing", String::new(), true),
        ("a constant", ".section .rodata\n.globl table\n.balign 8\ntable: .word unit_g\n".into(), false),
        ("a variable", ".data\n.globl table\n.balign 8\ntable: .word unit_g + 0\n".into(), false),
        ("its middle", ".data\n.globl table\n.balign 8\ntable: .word unit_g + 4\n".into(), false),
        ("a result", format!("{get} lui a0,%hi(unit_g)\n addi a0,a0,%lo(unit_g)\n ret\n.size get,.-get\n"), false),
        ("a result, made by way of pc", format!("{get} lla a0,unit_g\n ret\n.size get,.-get\n"), false),
        ("a result, its halves apart", format!("{get} lui a5,%hi(unit_g)\n li a1,1\n mv a4,a5\n addi a0,a4,%lo(unit_g)\n ret\n.size get,.-get\n"), false),
        ("a jump", format!("{get} j unit_g\n.size get,.-get\n"), false),
        ("a table for unwinding", ".section .eh_frame,\"a\"\n.balign 8\n.word unit_g\n".into(), true),
    ];
    for (what, more, right) in &ways {
        let text = INSIDE.replace("STORE", "sw").replace("LOAD", "lw") + more;
        let Some(object) = object(Compiler::Gcc, "rv32imc", "O1", "unit.S", &text) else { return };
        let report = judged(&made, &object);
        assert_eq!(of(&report, "f").status, Status::Equal, "{what}");
        assert_eq!(report.holds(), *right, "{what}: {:?}", of(&report, "unit_g").status);
        assert_eq!(matches!(of(&report, "unit_g").status, Status::Inside { .. }), *right, "{what}");
    }
    println!("tried: {} ways to enter a function that is right inside its callers alone", ways.len());
}

#[test]
fn code_that_the_program_may_write_over_is_not_proved() {
    let made = made("@export(\"f\")\nfn f(x: u32) -> u32 { x + 1 }\n");
    for (flags, right) in [("ax", true), ("awx", false)] {
        let text = format!(".section .own,\"{flags}\",@progbits\n.globl f\n.type f,@function\nf: addi a0,a0,1\n ret\n.size f,.-f\n");
        let Some(object) = object(Compiler::Gcc, "rv32im", "O1", "unit.S", &text) else { return };
        assert_eq!(judged(&made, &object).holds(), right, "{flags}");
    }
}
