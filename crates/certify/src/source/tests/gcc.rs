//! The RISC-V C compiler, asked for facts.

use std::path::Path;
use std::process::Command;

/// Architecture and ABI for registers of this many bits.
pub fn machine(xlen: u32) -> [String; 2] {
    let abi = if xlen == 32 { "ilp32" } else { "lp64" };
    [format!("-march=rv{xlen}imc"), format!("-mabi={abi}")]
}

fn run(command: &mut Command) {
    let out = command.output().expect("the compiler runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
}

/// The assembly text of C.
pub fn assembly(text: &str, xlen: u32) -> String {
    let dir = tempfile::tempdir().expect("a folder");
    let (c, s) = (dir.path().join("x.c"), dir.path().join("x.s"));
    std::fs::write(&c, text).expect("written");
    run(Command::new("riscv64-unknown-elf-gcc").args(machine(xlen)).args(["-O1", "-ffreestanding", "-S", "-o"]).arg(&s).arg(&c));
    std::fs::read_to_string(s).expect("assembly")
}

/// The values of constant C expressions after `text`, as 64-bit numbers.
pub fn constants(text: &str, expressions: &[String], xlen: u32, headers: &[(String, String)]) -> Vec<u64> {
    let dir = tempfile::tempdir().expect("a folder");
    let (c, o, bin) = (dir.path().join("x.c"), dir.path().join("x.o"), dir.path().join("x.bin"));
    for (name, header) in headers {
        std::fs::write(dir.path().join(name), header).expect("written");
    }
    let list = expressions.join(",\n");
    let probe = "__attribute__((section(\".probe\"), used)) static const unsigned long long probe[]";
    std::fs::write(&c, format!("#include <stddef.h>\n{text}\n{probe} = {{\n{list}\n}};\n")).expect("written");
    run(Command::new("riscv64-unknown-elf-gcc").args(machine(xlen)).args(["-ffreestanding", "-c", "-o"]).arg(&o).arg(&c));
    run(Command::new("riscv64-unknown-elf-objcopy").args(["-O", "binary", "-j", ".probe"]).arg(&o).arg(&bin));
    let values: Vec<u64> = bytes(&bin).chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().expect("8 bytes"))).collect();
    assert_eq!(values.len(), expressions.len());
    values
}

fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).expect("a file")
}
