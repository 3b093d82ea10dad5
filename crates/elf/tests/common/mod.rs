//! Objects made by the compilers that are there, and images linked from them.
#![allow(dead_code)]

use std::path::PathBuf;
use std::process::Command;

pub const SAMPLE: &str = include_str!("sample.c");

/// One way to compile.
#[derive(Clone, Debug)]
pub struct Way {
    pub compiler: &'static str,
    pub xlen: u32,
    pub march: &'static str,
    pub flags: Vec<&'static str>,
}

impl Way {
    pub fn name(&self) -> String {
        format!("{} {} {}", self.compiler, self.march, self.flags.join(" "))
    }

    fn emulation(&self) -> String {
        format!("elf{}lriscv", self.xlen)
    }
}

/// Both compilers and widths, with and without 16-bit instructions, sections a function or not, both code models.
pub fn ways() -> Vec<Way> {
    let mut all = vec![];
    for compiler in ["riscv64-unknown-elf-gcc", "clang-19"] {
        for march in ["rv32im", "rv32imc", "rv64im", "rv64imc"] {
            for sections in [&["-ffunction-sections", "-fdata-sections"][..], &[][..]] {
                for model in ["-mcmodel=medlow", "-mcmodel=medany"] {
                    let xlen = if march.starts_with("rv32") { 32 } else { 64 };
                    let flags = ["-O2", "-g", model].into_iter().chain(sections.iter().copied()).collect();
                    all.push(Way { compiler, xlen, march, flags });
                }
            }
        }
    }
    all
}

pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().expect("scratch folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn compile(&self, way: &Way, source: &str) -> Vec<u8> {
        let (c, o) = (self.path("sample.c"), self.path("sample.o"));
        std::fs::write(&c, source).expect("source");
        let mut cc = Command::new(way.compiler);
        if way.compiler.starts_with("clang") {
            cc.arg(format!("--target=riscv{}-unknown-elf", way.xlen));
        }
        cc.arg(format!("-march={}", way.march)).arg(if way.xlen == 32 { "-mabi=ilp32" } else { "-mabi=lp64" });
        cc.args(["-ffreestanding", "-fno-pic", "-fno-stack-protector"]).args(&way.flags).arg("-c").arg(&c).arg("-o").arg(&o);
        run(&mut cc);
        std::fs::read(&o).expect("object")
    }

    /// Links the last object, with the linker of the compiler's family (GNU ld 2.40 breaks off at clang's debug information); `script` may place its sections.
    pub fn link(&self, way: &Way, script: &str, flags: &[String]) -> Vec<u8> {
        let (ld, elf) = (self.path("link.ld"), self.path("image.elf"));
        std::fs::write(&ld, script).expect("script");
        let mut link = Command::new(if way.compiler.starts_with("clang") { "ld.lld-19" } else { "riscv64-unknown-elf-ld" });
        link.args(["-m", &way.emulation(), "-static", "-nostdlib", "-e", "0", "-T"]).arg(&ld).args(flags);
        run(link.arg(self.path("sample.o")).arg("-o").arg(&elf));
        std::fs::read(&elf).expect("image")
    }
}

fn run(command: &mut Command) {
    let done = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(done.status.success(), "{command:?}: {} {}", done.status, String::from_utf8_lossy(&done.stderr));
}
