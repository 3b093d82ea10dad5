//! Calls of functions that the file does not hold: where they arrive is computed, copies that overlap are told, and the compiler's
//! helpers are not trusted.

use crate::contract::{by_chance, judge, right, wrong, Case};
use crate::support::{judged, made, object, of, Compiler};
use santoku_certify::report::Status;

const PROGRAM: &str = "
@export(\"copied\")
fn copied(a: [u8; 40]) -> [u8; 40] { a }

@export(\"shifted\")
fn shifted(a: [u8; 40]) -> [u8; 40] {
  var r: [u8; 40] = a
  for i in 4..<40 { r[i] = a[i - 4] }
  r
}

@export(\"product\")
fn product(x: u32, y: u32) -> u32 { x * y }
";

const LIBRARY: &str = "
void *memcpy(void *, const void *, __SIZE_TYPE__);
void *memmove(void *, const void *, __SIZE_TYPE__);
void *uses[2] = {(void *)memmove, (void *)memcpy};
";

const CASES: [Case; 16] = [
    right("a jump to memmove", "copied", "li a2,40; tail memmove"),
    right("a jump to memcpy", "copied", "li a2,40; tail memcpy"),
    right("a call", "copied", "addi sp,sp,-16; sw ra,12(sp); li a2,40; call memmove; lw ra,12(sp); addi sp,sp,16; ret"),
    right("a near call", "copied", "addi sp,sp,-16; sw ra,12(sp); li a2,40; jal ra,memmove; lw ra,12(sp); addi sp,sp,16; ret"),
    wrong("behind the beginning", "copied", "addi sp,sp,-16; sw ra,12(sp); li a2,40; call memmove+108; lw ra,12(sp); addi sp,sp,16; ret", "elsewhere"),
    wrong("before it", "copied", "addi sp,sp,-16; sw ra,12(sp); li a2,40; call memmove-4; lw ra,12(sp); addi sp,sp,16; ret", ""),
    by_chance("where another function stands by chance", "copied", "addi sp,sp,-16; sw ra,12(sp); li a2,40; call memmove+0x1010; lw ra,12(sp); addi sp,sp,16; ret", "does not name"),
    wrong("a call by another register than the one made", "copied", "addi sp,sp,-16; sw ra,12(sp); mv t4,a1; li a2,40; 1: auipc ra,0; jalr ra,0(t4); .reloc 1b, R_RISCV_CALL_PLT, memmove; lw ra,12(sp); addi sp,sp,16; ret", "none of its upper part"),
    wrong("the low half of an address added to anything", "copied", "addi sp,sp,-16; sw ra,12(sp); li t2,4096; li a2,40; jalr ra,%lo(memmove)(t2); lw ra,12(sp); addi sp,sp,16; ret", "none of its upper part"),
    wrong("the low half of one address added to the high half of another", "copied", "addi sp,sp,-16; sw ra,12(sp); li a2,40; lui t2,%hi(memcpy); jalr ra,%lo(memmove)(t2); lw ra,12(sp); addi sp,sp,16; ret", "none of its upper part"),
    by_chance("both halves, with something between", "copied", "addi sp,sp,-16; sw ra,12(sp); lui t2,%hi(memmove); li a2,40; jalr ra,%lo(memmove)(t2); lw ra,12(sp); addi sp,sp,16; ret", "does not name"),
    wrong("s1 linked", "copied", "addi sp,sp,-16; sw ra,12(sp); sw s1,8(sp); li a2,40; jal s1,memmove; lw s1,8(sp); lw ra,12(sp); addi sp,sp,16; ret", "stack pointer"),
    right("moved over itself", "shifted", "addi sp,sp,-16; sw ra,12(sp); sw a0,8(sp); li a2,40; call memmove; lw a1,8(sp); addi a0,a1,4; li a2,36; call memmove; lw ra,12(sp); addi sp,sp,16; ret"),
    right("copied from elsewhere", "shifted", "addi sp,sp,-16; sw ra,12(sp); sw a0,8(sp); sw a1,4(sp); li a2,40; call memcpy; lw a0,8(sp); addi a0,a0,4; lw a1,4(sp); li a2,36; call memcpy; lw ra,12(sp); addi sp,sp,16; ret"),
    wrong("copied over itself", "shifted", "addi sp,sp,-16; sw ra,12(sp); sw a0,8(sp); li a2,40; call memmove; lw a1,8(sp); addi a0,a1,4; li a2,36; call memcpy; lw ra,12(sp); addi sp,sp,16; ret", "apart"),
    wrong("a multiplication that the file does not hold", "product", "tail __mulsi3", "same time"),
];

#[test]
fn calls_of_functions_that_the_file_does_not_hold_arrive_where_they_say() {
    let made = made(PROGRAM);
    let Some((proved, refused)) = judge(&made, "rv32im", LIBRARY, &CASES) else { return };
    println!("tried: calls of the C library by hand: {proved} right ones proved, {refused} wrong ones refused and shown by runs");
    assert!(proved >= 6 && refused >= 9);
}

/// gcc for a machine without multiplication calls libgcc's, which branches on its operands.
#[test]
fn helpers_of_the_compiler_are_refused_by_name() {
    let made = made("@export(\"product\")\nfn product(x: u64, y: u64) -> u64 { x * y }\n@export(\"small\")\nfn small(x: u32, y: u32) -> u32 { x * y }\n");
    let mut refused = 0;
    for (march, helpers) in [("rv32i", ["__mul", "__muldi3"]), ("rv64i", ["__mul", "__muldi3"])] {
        // The unit itself refuses such a machine, unless told otherwise.
        for level in ["O1 -DSTK_ALLOW_VARIABLE_TIME", "Os -DSTK_ALLOW_VARIABLE_TIME"] {
            let Some(object) = object(Compiler::Gcc, march, level, "unit.c", &made.c) else { return };
            let report = judged(&made, &object);
            for symbol in ["product", "small"] {
                let Status::Broken { reason, .. } = &of(&report, symbol).status else { panic!("{march} {level} {symbol}: {:?}", of(&report, symbol).status) };
                assert!(helpers.iter().any(|h| reason.contains(h)) && reason.contains("same time"), "{reason}");
                refused += 1;
            }
        }
    }
    println!("tried: {refused} functions that call the compiler's multiplication, all refused");
    assert_eq!(refused, 8);
}
