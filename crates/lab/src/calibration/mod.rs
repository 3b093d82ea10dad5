//! Programs on which the timing model and the Rocket RTL are compared.
//!
//! Needs the cross compiler. Each program prints decimal numbers, one a line, and runs unchanged on the simulator and in
//! the RTL bench of `lab/rtl`, so a comparison is a comparison of two texts. The RTL's answers are committed under
//! `crates/lab/tests/data/`. Absent on purpose: any use of the figures by the model itself.

mod micro;
mod print;
mod refill;

use std::fmt::Write;

use crate::error::LabError;
use crate::harness::{Code, Level, Source, Toolchain};
use crate::rv32::{Config, Image, Machine, FLASH_BASE};

use print::PRINT;

pub use micro::{micro_tests, MicroTest};
pub use refill::{refill_program, refill_tests};

/// Sources of a program that runs the micro-tests and prints the cycles of each.
pub fn micro_program(tests: &[MicroTest]) -> Vec<Source> {
    let mut assembly = String::from(".text\n");
    let mut main = format!("{PRINT}static unsigned buffer[64] __attribute__((aligned(64)));\n");
    let mut body = String::new();
    for (n, test) in tests.iter().enumerate() {
        let _ = write!(
            assembly,
            ".globl micro{n}\n.p2align 6\nmicro{n}:\n addi sp,sp,-16\n sw s0,0(sp)\n sw s1,4(sp)\n mv s0,a0\n li s1,12\n\
             .p2align 3\n9: li a0,0x12345\n li a1,0x6789\n fence\n csrr t0,mcycle\n{} csrr t1,mcycle\n sub t6,t1,t0\n\
             addi s1,s1,-1\n bnez s1,9b\n mv a0,t6\n lw s0,0(sp)\n lw s1,4(sp)\n addi sp,sp,16\n ret\n",
            test.body
        );
        let _ = writeln!(main, "unsigned micro{n}(unsigned *);");
        let _ = writeln!(body, "    print(micro{n}(buffer));");
    }
    let _ = write!(main, "int main(void)\n{{\n{body}    return 0;\n}}\n");
    vec![Source::Text { name: "main.c".into(), text: main }, Source::Text { name: "micro.S".into(), text: assembly }]
}

/// Source of a `main` that evaluates `expression` once and prints the cycles and instructions it took; `declarations`
/// are C text in front of it.
pub fn timed_main(declarations: &str, expression: &str) -> Source {
    let text = format!(
        "{PRINT}unsigned lab_cycle(void), lab_instret(void);\n{declarations}\nint main(void)\n{{\n    \
         unsigned instructions = lab_instret(), cycles = lab_cycle();\n    {expression};\n    \
         cycles = lab_cycle() - cycles;\n    instructions = lab_instret() - instructions;\n    \
         print(cycles);\n    print(instructions);\n    return 0;\n}}\n"
    );
    Source::Text { name: "main.c".into(), text }
}

/// Builds a program for the RTL bench: the executable, and the flash image from [`FLASH_BASE`] on.
pub fn build(
    toolchain: &Toolchain,
    sources: &[Source],
    code: Code,
    level: Level,
) -> Result<(Vec<u8>, Vec<u8>), LabError> {
    let elf = toolchain.build_plain(sources, code, level, true)?;
    let image = Image::parse(&elf)?;
    let mut flash = Vec::new();
    for (addr, bytes) in &image.segments {
        let offset = addr.wrapping_sub(FLASH_BASE) as usize;
        flash.resize(flash.len().max(offset + bytes.len()), 0);
        flash[offset..offset + bytes.len()].copy_from_slice(bytes);
    }
    Ok((elf, flash))
}

/// Runs a program on the model and gives the numbers it printed.
pub fn run_on_model(elf: &[u8], config: &Config) -> Result<Vec<u64>, LabError> {
    let run = Machine::new(&Image::parse(elf)?, config)?.run()?;
    if run.exit_status != 0 {
        return Err(LabError::ExitStatus(run.exit_status));
    }
    numbers(&String::from_utf8_lossy(&run.console))
}

/// Parses the numbers a program printed.
pub fn numbers(text: &str) -> Result<Vec<u64>, LabError> {
    let parse = |line: &str| line.parse().map_err(|_| LabError::BadJob(format!("`{line}` is no printed number")));
    text.lines().map(parse).collect()
}
