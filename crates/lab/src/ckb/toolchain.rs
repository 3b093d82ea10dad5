//! C to a CKB-VM program: our start-up code, no C library, the memory functions compilers call.

use super::CkbError;
use std::path::{Path, PathBuf};
use std::process::Command;

const CRT0: &str = include_str!("crt0.S");
const MEM_C: &str = include_str!("mem.c");

/// Compilers that make CKB-VM programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compiler {
    /// `clang-19` with `ld.lld-19`.
    Clang,
    /// `riscv64-unknown-elf-gcc` with its own linker.
    Gcc,
}

impl Compiler {
    /// Command.
    pub fn command(self) -> &'static str {
        match self {
            Compiler::Clang => "clang-19",
            Compiler::Gcc => "riscv64-unknown-elf-gcc",
        }
    }

    fn package(self) -> &'static str {
        match self {
            Compiler::Clang => "clang-19 lld-19",
            Compiler::Gcc => "gcc-riscv64-unknown-elf",
        }
    }

    /// Flags for the VM's instruction set and for code without a C library. Optimisation is the caller's choice.
    pub fn flags(self) -> Vec<&'static str> {
        let mut flags = vec!["-march=rv64imc_zba_zbb_zbc_zbs", "-mabi=lp64", "-ffreestanding", "-fno-pic", "-ffunction-sections", "-fdata-sections"];
        flags.extend(match self {
            Compiler::Clang => ["--target=riscv64-unknown-elf", "-mcmodel=medany"],
            Compiler::Gcc => ["-mcmodel=medany", "-fno-stack-protector"],
        });
        flags
    }
}

/// Compiles and links C files with a `main`; returns the ELF file's bytes. `cflags` typically holds `-O3`. Objects and the
/// program stay in `work_dir`.
pub fn build(
    work_dir: &Path,
    compiler: Compiler,
    sources: &[PathBuf],
    include_dirs: &[PathBuf],
    cflags: &[&str],
) -> Result<Vec<u8>, CkbError> {
    let dir = absolute(work_dir)?;
    std::fs::create_dir_all(&dir).map_err(|source| CkbError::Io { path: dir.clone(), source })?;
    write(&dir.join("crt0.S"), CRT0)?;
    write(&dir.join("mem.c"), MEM_C)?;
    let runtime = [(dir.join("crt0.S"), &[][..]), (dir.join("mem.c"), &["-O2", "-fno-builtin"][..])];
    let given = sources.iter().map(|s| (s.clone(), cflags));
    let mut objects = Vec::new();
    for (n, (source, flags)) in runtime.into_iter().chain(given).enumerate() {
        let object = dir.join(format!("{n}.o"));
        let mut cc = Command::new(compiler.command());
        cc.args(compiler.flags()).args(flags);
        for include in include_dirs {
            cc.arg("-I").arg(absolute(include)?);
        }
        cc.arg("-c").arg(absolute(&source)?).arg("-o").arg(&object);
        checked(cc, compiler)?;
        objects.push(object);
    }
    let program = dir.join("program.elf");
    checked(linker(compiler, &objects, &program), compiler)?;
    std::fs::read(&program).map_err(|source| CkbError::Io { path: program, source })
}

/// Both linkers get their default layout: the one in gcc's picolibc specs is for a small flash and does not fit.
fn linker(compiler: Compiler, objects: &[PathBuf], program: &Path) -> Command {
    let mut ld = match compiler {
        Compiler::Clang => Command::new("ld.lld-19"),
        Compiler::Gcc => {
            let mut gcc = Command::new(compiler.command());
            gcc.args(["-march=rv64imc", "-mabi=lp64", "-nostdlib", "-nostartfiles", "-Wl,--gc-sections"]);
            gcc
        }
    };
    ld.args(["-static", "-o"]).arg(program).args(objects);
    match compiler {
        Compiler::Clang => ld.arg("--gc-sections"),
        Compiler::Gcc => ld.arg("-lgcc"),
    };
    ld
}

fn checked(mut cmd: Command, compiler: Compiler) -> Result<(), CkbError> {
    let tool = cmd.get_program().to_string_lossy().into_owned();
    let out = cmd.output().map_err(|source| CkbError::Tool { tool, package: compiler.package().into(), source })?;
    if out.status.success() {
        return Ok(());
    }
    let words = std::iter::once(cmd.get_program()).chain(cmd.get_args()).map(|a| a.to_string_lossy());
    let command = words.collect::<Vec<_>>().join(" ");
    Err(CkbError::Build { command, stderr: String::from_utf8_lossy(&out.stderr).into_owned() })
}

fn absolute(path: &Path) -> Result<PathBuf, CkbError> {
    std::path::absolute(path).map_err(|source| CkbError::Io { path: path.into(), source })
}

fn write(path: &Path, text: &str) -> Result<(), CkbError> {
    std::fs::write(path, text).map_err(|source| CkbError::Io { path: path.into(), source })
}
