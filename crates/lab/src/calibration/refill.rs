//! Code that is executed once: what fetching it into the instruction cache costs. Micro-tests never see that, because their bodies ran before.

use crate::harness::Source;
use std::fmt::Write;

use super::print::PRINT;

/// Lines of code, passed straight through or touched by a jump each.
const STRAIGHT: [usize; 4] = [1, 4, 16, 64];
const JUMPS: [usize; 3] = [4, 16, 48];

/// Name and body of each test; a body begins at a line's start and ends at one.
fn bodies() -> Vec<(String, String)> {
    let straight = STRAIGHT.iter().map(|n| (format!("{n} lines straight through"), format!(".rept {}\nadd a5,a5,a5\n.endr\n", 16 * n)));
    let jumps = JUMPS.iter().map(|n| (format!("{n} lines, a jump in each"), format!(".rept {n}\nj 1f\n.p2align 6\n1:\n.endr\n")));
    straight.chain(jumps).collect()
}

/// Their names, in the order of the recorded figures.
pub fn refill_tests() -> Vec<String> {
    bodies().into_iter().map(|b| b.0).collect()
}

/// Sources of a program that runs each body once and prints its cycles, the line behind it included.
pub fn refill_program() -> Vec<Source> {
    let mut assembly = String::from(".text\n.option norvc\n");
    let mut main = PRINT.to_string();
    let mut calls = String::new();
    for (n, (_, body)) in bodies().iter().enumerate() {
        // The first reading is the last instruction of its line.
        let _ = write!(assembly, ".globl refill{n}\n.p2align 6\nrefill{n}:\n.rept 15\nnop\n.endr\ncsrr t0,mcycle\n{body}csrr t1,mcycle\nsub a0,t1,t0\nret\n");
        let _ = writeln!(main, "unsigned refill{n}(void);");
        let _ = writeln!(calls, "    print(refill{n}());");
    }
    let _ = write!(main, "int main(void)\n{{\n{calls}    return 0;\n}}\n");
    vec![Source::Text { name: "main.c".into(), text: main }, Source::Text { name: "refill.S".into(), text: assembly }]
}
