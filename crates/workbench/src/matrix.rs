//! Ways to compile the library for RISC-V: compiler, level, architecture. One table; objects in memory.

use crate::BenchError;
use santoku_lab::harness::{STDINT, STRING};
use std::path::Path;
use std::process::Command;

/// A pinned C compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Compiler {
    /// `riscv64-unknown-elf-gcc`, or what `SANTOKU_RV32_GCC` names.
    Gcc,
    /// `clang-19`, or what `SANTOKU_CLANG` names.
    Clang,
}

impl Compiler {
    pub const ALL: [Compiler; 2] = [Compiler::Gcc, Compiler::Clang];

    pub fn name(self) -> &'static str {
        match self {
            Compiler::Gcc => "gcc",
            Compiler::Clang => "clang",
        }
    }

    /// Major version that the results are stated for.
    pub fn pinned(self) -> &'static str {
        match self {
            Compiler::Gcc => "12",
            Compiler::Clang => "19",
        }
    }

    fn command(self) -> String {
        let (variable, usual) = match self {
            Compiler::Gcc => ("SANTOKU_RV32_GCC", "riscv64-unknown-elf-gcc"),
            Compiler::Clang => ("SANTOKU_CLANG", "clang-19"),
        };
        std::env::var(variable).unwrap_or_else(|_| usual.to_string())
    }

    fn package(self) -> &'static str {
        match self {
            Compiler::Gcc => "gcc-riscv64-unknown-elf",
            Compiler::Clang => "clang-19",
        }
    }

    /// Whether this version text is of the pinned major version.
    pub fn is_pinned(self, version: &str) -> bool {
        let number = version.split_whitespace().rev().find(|w| w.contains('.') && w.starts_with(|c: char| c.is_ascii_digit()));
        number.and_then(|n| n.split('.').next()) == Some(self.pinned())
    }
}

/// Level of optimisation of the C compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    O1,
    O2,
    O3,
    Os,
}

impl Level {
    pub const ALL: [Level; 4] = [Level::O1, Level::O2, Level::O3, Level::Os];

    pub fn name(self) -> &'static str {
        match self {
            Level::O1 => "O1",
            Level::O2 => "O2",
            Level::O3 => "O3",
            Level::Os => "Os",
        }
    }
}

/// An architecture objects are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    pub march: &'static str,
    pub mabi: &'static str,
    /// 32 or 64.
    pub xlen: u32,
    /// Only for units whose target has bit manipulation.
    pub bits: bool,
}

/// The architectures.
pub const MACHINES: [Machine; 5] = [
    Machine { march: "rv32im", mabi: "ilp32", xlen: 32, bits: false },
    Machine { march: "rv32imc", mabi: "ilp32", xlen: 32, bits: false },
    Machine { march: "rv64im", mabi: "lp64", xlen: 64, bits: false },
    Machine { march: "rv64imc", mabi: "lp64", xlen: 64, bits: false },
    Machine { march: "rv64imc_zba_zbb_zbs", mabi: "lp64", xlen: 64, bits: true },
];

/// Given to both compilers: lines for reports, and sections so that constants are told apart and linkers can drop.
const FLAGS: [&str; 4] = ["-g", "-ffunction-sections", "-fdata-sections", "-fno-pic"];

/// One way to compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    pub compiler: Compiler,
    pub level: Level,
    pub march: &'static str,
    pub mabi: &'static str,
    pub xlen: u32,
    /// See [`Machine::bits`].
    pub bits: bool,
    /// All other arguments, in order.
    pub flags: Vec<String>,
}

impl Config {
    fn new(machine: Machine, compiler: Compiler, level: Level) -> Config {
        let mut flags: Vec<String> = FLAGS.map(String::from).to_vec();
        if compiler == Compiler::Clang {
            flags.insert(0, format!("--target=riscv{}-unknown-elf", machine.xlen));
        }
        let Machine { march, mabi, xlen, bits } = machine;
        Config { compiler, level, march, mabi, xlen, bits, flags }
    }

    /// `rv32imc gcc O2`, unique in [`configs`].
    pub fn name(&self) -> String {
        format!("{} {} {}", self.march, self.compiler.name(), self.level.name())
    }

    /// Command line without files, as it goes into a manifest.
    pub fn arguments(&self) -> Vec<String> {
        let mut all = self.flags.clone();
        all.extend([format!("-march={}", self.march), format!("-mabi={}", self.mabi), format!("-{}", self.level.name())]);
        all
    }
}

/// Every machine, compiler and level, in this order.
pub fn configs() -> Vec<Config> {
    let mut all = vec![];
    for machine in MACHINES {
        for compiler in Compiler::ALL {
            all.extend(Level::ALL.map(|level| Config::new(machine, compiler, level)));
        }
    }
    all
}

/// First line of what the compiler says of itself.
///
/// # Errors
/// `Lab`: it is not installed.
pub fn compiler_version(config: &Config) -> Result<String, BenchError> {
    let text = run(Command::new(config.compiler.command()).arg("--version"), config.compiler)?;
    Ok(String::from_utf8_lossy(&text).lines().next().unwrap_or_default().to_string())
}

/// Name of the source in line tables.
pub const SOURCE: &str = "unit.c";

/// Compiles one C text to an object. Files go below `folder`, in a folder of this configuration; their place does not enter
/// the object, so equal text gives equal bytes.
///
/// # Errors
/// `Lab`: the compiler is not installed or refuses the text; `Io`: `folder` cannot be written.
pub fn compile(config: &Config, c_source: &str, folder: &Path) -> Result<Vec<u8>, BenchError> {
    let here = folder.join(config.name().replace(' ', "-"));
    let include = here.join("include");
    std::fs::create_dir_all(&include).map_err(|e| BenchError::io(&include, &e))?;
    let write = |path: std::path::PathBuf, text: &str| std::fs::write(&path, text).map_err(|e| BenchError::io(path, &e));
    write(here.join(SOURCE), c_source)?;
    write(include.join("string.h"), STRING)?;
    if config.compiler == Compiler::Gcc {
        // clang brings its own.
        write(include.join("stdint.h"), STDINT)?;
    }
    let here = here.canonicalize().map_err(|e| BenchError::io(&here, &e))?;
    let mut cc = Command::new(config.compiler.command());
    cc.current_dir(&here).args(config.arguments()).args(["-isystem", "include"]);
    cc.arg(format!("-fdebug-prefix-map={}=.", here.display())).args(["-c", SOURCE, "-o", "unit.o"]);
    run(&mut cc, config.compiler)?;
    let object = here.join("unit.o");
    std::fs::read(&object).map_err(|e| BenchError::io(object, &e))
}

fn run(command: &mut Command, compiler: Compiler) -> Result<Vec<u8>, BenchError> {
    let tool = command.get_program().to_string_lossy().into_owned();
    let missing = |_| BenchError::lab(&tool, format!("it was not found; on Debian: apt install {}", compiler.package()));
    let done = command.output().map_err(missing)?;
    if !done.status.success() {
        let what = format!("{command:?}");
        return Err(BenchError::lab(what, String::from_utf8_lossy(&done.stderr).trim_end()));
    }
    Ok(done.stdout)
}

/// The empty assembly that keeps compilers from seeing a condition through a mask.
const BARRIER: &str = "__asm__(\"\" : \"+r\"(x));";

/// The same C without value barriers: what a compiler may then make of selections shows what they are for. `None` if the
/// text has none.
pub fn without_barriers(c_source: &str) -> Option<String> {
    c_source.contains(BARRIER).then(|| c_source.replace(BARRIER, ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_table_has_every_way_once() {
        let all = configs();
        assert_eq!(all.len(), MACHINES.len() * 2 * 4);
        let names: BTreeSet<String> = all.iter().map(Config::name).collect();
        assert_eq!(names.len(), all.len());
        assert!(all.iter().all(|c| (c.xlen == 32) == c.march.starts_with("rv32") && (c.xlen == 32) == (c.mabi == "ilp32")));
    }

    #[test]
    fn versions_are_read_and_told_apart() {
        for compiler in Compiler::ALL {
            let config = configs().into_iter().find(|c| c.compiler == compiler).expect("a row");
            let version = compiler_version(&config).expect("installed");
            assert!(compiler.is_pinned(&version), "{version}");
        }
        assert!(Compiler::Gcc.is_pinned("riscv64-unknown-elf-gcc (12.2.0-14+11) 12.2.0"));
        assert!(!Compiler::Gcc.is_pinned("riscv64-unknown-elf-gcc (13.2.0-14+12.1) 13.2.0"));
        assert!(!Compiler::Clang.is_pinned("Debian clang version 18.1.8 (1)"));
        assert!(!Compiler::Clang.is_pinned("nonsense"));
    }

    const TEXT: &str = "#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\nvoid f(uint8_t *a, const uint8_t *b) { memcpy(a, b, 300); }\n";

    #[test]
    fn objects_do_not_depend_on_the_folder() {
        for config in configs().iter().filter(|c| c.level == Level::O2) {
            let (a, b) = (tempfile::tempdir().expect("scratch"), tempfile::tempdir().expect("scratch"));
            let first = compile(config, TEXT, a.path()).unwrap_or_else(|e| panic!("{}: {e}", config.name()));
            assert!(first.starts_with(b"\x7fELF") && first[4] == if config.xlen == 32 { 1 } else { 2 });
            assert_eq!(first, compile(config, TEXT, b.path()).expect("again"), "{}", config.name());
        }
    }

    #[test]
    fn what_is_no_c_is_refused_with_the_reason() {
        let folder = tempfile::tempdir().expect("scratch");
        for compiler in Compiler::ALL {
            let config = configs().into_iter().find(|c| c.compiler == compiler).expect("a row");
            let error = compile(&config, "int f(void) { return x; }\n", folder.path()).expect_err("refused").to_string();
            assert!(error.contains("unit.c:1:22"), "{error}");
        }
    }
}
