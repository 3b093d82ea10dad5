//! How often code touches the stack: an estimate of what a compiler could not keep in registers.

use crate::cross::{tool, Cross};
use crate::error::LabError;
use serde::Serialize;
use std::path::PathBuf;
use std::process::Command;

/// Counted in the disassembly of objects, without regard to how often an instruction runs; saved registers count too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StackAccesses {
    /// Loads and stores relative to the stack or frame pointer.
    pub accesses: u64,
    pub instructions: u64,
}

/// Of objects that a compiler of the target made, by the disassembler of the first of its compilers that has one.
pub fn count(cross: &Cross, objects: &[PathBuf]) -> Result<StackAccesses, LabError> {
    let wrong = |reason: String| LabError::Target { name: cross.target.name.clone(), reason };
    let all = santoku_target::compilers().map_err(|e| wrong(e.reason))?;
    let found = cross.target.compilers.iter().filter_map(|c| all.0.get(&c.name)).find_map(|c| Some((c.objdump.as_ref()?, &c.packages)));
    let (objdump, packages) = found.ok_or_else(|| wrong("`targets/compilers.toml` names no `objdump` of any of its compilers".into()))?;
    let said = tool(Command::new(objdump).args(["-d", "--no-show-raw-insn"]).args(objects), packages)?;
    Ok(of_text(&String::from_utf8_lossy(&said.stdout)))
}

fn of_text(text: &str) -> StackAccesses {
    let mut all = StackAccesses::default();
    for line in text.lines() {
        // `  12:<tab>ld<tab>a0,8(sp)`
        let Some((address, instruction)) = line.split_once(":\t") else { continue };
        if !address.trim().bytes().all(|b| b.is_ascii_hexdigit()) || address.trim().is_empty() {
            continue;
        }
        all.instructions += 1;
        let address_only = instruction.starts_with("lea");
        let operands = ["(sp)", "(s0)", "(%rsp", "(%rbp", "[sp", "[x29"];
        if !address_only && operands.iter().any(|o| instruction.contains(o)) {
            all.accesses += 1;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_and_stores_of_the_stack_are_counted() {
        let text = "u.o:     file format elf64\n\n0000000000000000 <f>:\n   0:\tmov    %rax,0x8(%rsp)\n   5:\tlea    0x8(%rsp),%rdi\n   a:\tadd    %rax,%rbx\n   c:\tlw\ta0,12(sp)\n";
        assert_eq!(of_text(text), StackAccesses { accesses: 2, instructions: 4 });
        assert_eq!(of_text("nothing"), StackAccesses::default());
    }
}
