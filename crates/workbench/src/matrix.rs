//! Ways to compile the library for the machines that there are models of: instruction set, compiler, level. Objects in memory.

use crate::BenchError;
use santoku_lab::cross::{machine, tool, version, write_headers};
pub use santoku_target::{Compiler, Level};
use santoku_target::{InstructionSet, Target, Use};
use std::path::Path;
use std::process::Command;

/// One way to compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    pub compiler: Compiler,
    pub level: Level,
    /// Name of the instruction set.
    pub march: String,
    /// 32 or 64.
    pub xlen: u32,
    /// Flags that choose the instruction set.
    isa: Vec<String>,
    /// All other arguments, in order.
    pub flags: Vec<String>,
}

impl Config {
    fn new(target: &Target, isa: &InstructionSet, using: &Use, compiler: &Compiler, level: Level) -> Config {
        let certify = target.certify.iter().flat_map(|c| c.flags.iter());
        Config {
            compiler: compiler.clone(),
            level,
            march: isa.name.clone(),
            xlen: target.word_bits,
            isa: isa.flags.clone(),
            flags: using.select.iter().chain(certify).cloned().collect(),
        }
    }

    /// How assembly becomes an object; `level` is that of our own passes.
    pub(crate) fn assembler(target: &Target, isa: &InstructionSet, compiler: &Compiler, level: Level) -> Config {
        let mut compiler = compiler.clone();
        compiler.family = ASSEMBLER.into();
        Config {
            compiler,
            level,
            march: isa.name.clone(),
            xlen: target.word_bits,
            isa: isa.flags.clone(),
            flags: vec!["-x".into(), "assembler".into()],
        }
    }

    /// Instruction set, compiler and level in words, unique in [`configs`].
    pub fn name(&self) -> String {
        format!("{} {} {}", self.march, self.compiler.family, self.level.name())
    }

    /// Command line without files, as it goes into a manifest.
    pub fn arguments(&self) -> Vec<String> {
        [&self.flags[..], &self.isa, &[self.level.flag()]].concat()
    }
}

/// Every instruction set that has a model, compiler and level: what the `[certify]` of all targets say. Sorted by instruction set, gcc before
/// clang.
///
/// # Errors
/// `Declaration`: a description is wrong.
pub fn configs() -> Result<Vec<Config>, BenchError> {
    let bad = |reason: String| BenchError::Declaration { path: "targets".into(), reason };
    let compilers = santoku_target::compilers().map_err(|e| bad(e.reason))?;
    let mut all: Vec<Config> = vec![];
    for name in santoku_target::machine_names() {
        let target = machine(name).map_err(|e| bad(e.to_string()))?;
        let certify = target.certify.clone().unwrap_or_default();
        for isa in certify.isas.iter().filter_map(|name| target.isa(name)) {
            // Two machines may have the same instruction set.
            if all.iter().any(|c| c.march == isa.name) {
                continue;
            }
            for using in &target.compilers {
                let compiler = compilers.0.get(&using.name).ok_or_else(|| bad(format!("{name}: there is no compiler `{}`", using.name)))?;
                all.extend(certify.levels.iter().map(|level| Config::new(&target, isa, using, compiler, *level)));
            }
        }
    }
    all.sort_by(|a, b| (&a.march, &b.compiler.family, a.level).cmp(&(&b.march, &a.compiler.family, b.level)));
    Ok(all)
}

/// First line of what the compiler says of itself.
///
/// # Errors
/// `Lab`: it is not installed.
pub fn compiler_version(config: &Config) -> Result<String, BenchError> {
    version(&config.compiler).map_err(|e| BenchError::lab(config.compiler.command(), e))
}

/// The kind of what assembles, beside kinds of compilers.
pub const ASSEMBLER: &str = "assembler";

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
    write_headers(&config.compiler, &include).map_err(|e| BenchError::lab(config.name(), e))?;
    let here = here.canonicalize().map_err(|e| BenchError::io(&here, &e))?;
    let mut cc = Command::new(config.compiler.command());
    cc.current_dir(&here).args(config.arguments()).args(["-isystem", "include"]);
    cc.arg(format!("-fdebug-prefix-map={}=.", here.display())).args(["-c", SOURCE, "-o", "unit.o"]);
    tool(&mut cc, &config.compiler.packages).map_err(|e| BenchError::lab(config.name(), e))?;
    let object = here.join("unit.o");
    std::fs::read(&object).map_err(|e| BenchError::io(object, &e))
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

    fn all() -> Vec<Config> {
        configs().expect("described")
    }

    #[test]
    fn the_table_has_every_way_once() {
        let all = all();
        let names: BTreeSet<String> = all.iter().map(Config::name).collect();
        assert_eq!((all.len(), names.len()), (5 * 2 * 4, 5 * 2 * 4));
        let first: Vec<String> = all.iter().step_by(8).map(Config::name).collect();
        assert!(first.iter().all(|n| n.ends_with(" gcc O1")), "{first:?}");
        assert_eq!(all.iter().filter(|c| c.xlen == 32).count(), 16);
    }

    #[test]
    fn versions_are_read_and_told_apart() {
        let mut tried = 0;
        for compiler in santoku_target::compilers().expect("described").0.values() {
            let said = version(compiler).unwrap_or_else(|e| panic!("{e}"));
            assert!(compiler.is_pinned(&said), "{}: {said}", compiler.name);
            for other in ["", "nonsense", "13", "cc (Debian 3.2.0-14+12.1) 3.2.0", "Debian clang version 18.1.8 (1)"] {
                assert!(!compiler.is_pinned(other), "{}: {other}", compiler.name);
            }
            tried += 1;
        }
        assert!(tried >= 7);
    }

    const TEXT: &str = "#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\nvoid f(uint8_t *a, const uint8_t *b) { memcpy(a, b, 300); }\n";

    #[test]
    fn objects_do_not_depend_on_the_folder() {
        for config in all().iter().filter(|c| c.level == Level::O2) {
            let (a, b) = (tempfile::tempdir().expect("scratch"), tempfile::tempdir().expect("scratch"));
            let first = compile(config, TEXT, a.path()).unwrap_or_else(|e| panic!("{}: {e}", config.name()));
            assert!(first.starts_with(b"\x7fELF") && first[4] == if config.xlen == 32 { 1 } else { 2 });
            assert_eq!(first, compile(config, TEXT, b.path()).expect("again"), "{}", config.name());
        }
    }

    #[test]
    fn what_is_no_c_is_refused_with_the_reason() {
        let folder = tempfile::tempdir().expect("scratch");
        for config in all().iter().filter(|c| c.level == Level::O2) {
            let error = compile(config, "int f(void) { return x; }\n", folder.path()).expect_err("refused").to_string();
            assert!(error.contains("unit.c:1:22"), "{error}");
        }
    }
}
