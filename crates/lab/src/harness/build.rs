//! Compiling and linking measured programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::driver;
use super::{Constants, Level, March, Object, Program, Rv32Job, Source};
use crate::error::LabError;
use crate::rv32::Image;

const CRT0: &str = include_str!("crt0.S");
const LINKER_SCRIPT: &str = include_str!("link.ld");
const RUN_TIME: &str = include_str!("runtime.c");
/// `stdint.h` for the cross compiler without a C library.
pub const STDINT: &str = include_str!("include/stdint.h");
/// The part of `string.h` that generated code needs.
pub const STRING: &str = include_str!("include/string.h");
const CONSTANT_SECTIONS: &str = "*(.rodata .rodata.* .srodata .srodata.*)";

/// The cross compiler.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// Command that runs it.
    pub gcc: String,
    version: String,
}

impl Toolchain {
    /// Finds `riscv64-unknown-elf-gcc`, or what the environment variable `SANTOKU_RV32_GCC` names instead.
    pub fn find() -> Result<Self, LabError> {
        let gcc = std::env::var("SANTOKU_RV32_GCC").unwrap_or_else(|_| "riscv64-unknown-elf-gcc".to_string());
        let version = output(Command::new(&gcc).arg("--version"), &gcc)?;
        let version = String::from_utf8_lossy(&version).lines().next().unwrap_or_default().to_string();
        Ok(Toolchain { gcc, version })
    }

    /// First line of the compiler's version text.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Builds the program of a job.
    pub fn build(&self, job: &Rv32Job) -> Result<Program, LabError> {
        if job.sources.is_empty() {
            return Err(LabError::BadJob("no source to measure".into()));
        }
        let scratch = tempfile::tempdir().map_err(LabError::io(std::env::temp_dir()))?;
        let dir = scratch.path();
        self.write_support(dir)?;
        let mut flags = target_flags(job.march);
        flags.push(format!("-{}", job.level.name()));
        flags.extend(job.flags.iter().cloned());
        let mut objects = Vec::new();
        let mut linked = Vec::new();
        for (n, source) in job.sources.iter().enumerate() {
            let (name, path) = materialise(dir, n, source)?;
            let object = self.compile(dir, &path, &format!("measured{n}"), &flags, &job.include_dirs)?;
            objects.push(Object {
                name,
                bytes: read(&object)?,
                call_graph: String::from_utf8_lossy(&read(&object.with_extension("ci"))?).into_owned(),
            });
            linked.push(object);
        }
        let plain = [target_flags(job.march), vec![level_flag(Level::O2), "-fno-tree-loop-distribute-patterns".into()]];
        let plain = plain.concat();
        let mut supports = vec![
            Source::Text { name: "driver.c".into(), text: driver::text(&job.calls)? },
            Source::Text { name: "runtime.c".into(), text: RUN_TIME.into() },
        ];
        supports.extend(job.support.iter().cloned());
        for (n, source) in supports.iter().enumerate() {
            let (_, path) = materialise(dir, job.sources.len() + n, source)?;
            linked.push(self.compile(dir, &path, &format!("support{n}"), &plain, &job.include_dirs)?);
        }
        let run_time = String::from_utf8_lossy(&read(&dir.join("support1.ci"))?).into_owned();
        let elf = self.link(dir, job.march, job.constants, job.ram_bytes, &linked, &[])?;
        Ok(Program {
            image: Image::parse(&elf)?,
            elf,
            objects,
            compiler: self.version.clone(),
            flags,
            calls: job.calls.clone(),
            run_time,
            ram_bytes: job.ram_bytes,
        })
    }

    /// Builds a program that brings its own `main`, in C or assembly, for the simulator, QEMU or the RTL bench
    /// (`bench`: exit and console through the bench device).
    pub fn build_plain(
        &self,
        sources: &[Source],
        march: March,
        level: Level,
        bench: bool,
    ) -> Result<Vec<u8>, LabError> {
        const BOARD_RAM: u32 = 16 << 10;
        let scratch = tempfile::tempdir().map_err(LabError::io(std::env::temp_dir()))?;
        let dir = scratch.path();
        self.write_support(dir)?;
        let flags =
            [target_flags(march), vec![level_flag(level), "-fno-tree-loop-distribute-patterns".into()]].concat();
        let run_time = Source::Text { name: "runtime.c".into(), text: RUN_TIME.into() };
        let mut linked = Vec::new();
        for (n, source) in sources.iter().chain([&run_time]).enumerate() {
            let (_, path) = materialise(dir, n, source)?;
            linked.push(self.compile(dir, &path, &format!("plain{n}"), &flags, &[])?);
        }
        let defines: &[&str] = if bench { &["-DLAB_BENCH"] } else { &[] };
        self.link(dir, march, Constants::Ram, BOARD_RAM, &linked, defines)
    }

    fn write_support(&self, dir: &Path) -> Result<(), LabError> {
        let include = dir.join("include");
        fs::create_dir_all(&include).map_err(LabError::io(&include))?;
        write(&include.join("stdint.h"), STDINT)?;
        write(&include.join("string.h"), STRING)?;
        write(&dir.join("crt0.S"), CRT0)
    }

    fn compile(
        &self,
        dir: &Path,
        source: &Path,
        stem: &str,
        flags: &[String],
        include_dirs: &[PathBuf],
    ) -> Result<PathBuf, LabError> {
        let object = dir.join(stem).with_extension("o");
        let mut command = Command::new(&self.gcc);
        command.args(flags).arg("-fcallgraph-info=su,da").arg("-isystem").arg(dir.join("include"));
        for include in include_dirs {
            command.arg("-I").arg(include);
        }
        if source.extension().is_some_and(|e| e == "S") {
            // Assembly may read counters; the last architecture named wins, and compression stays as the flags say.
            command.arg(format!("{}_zicsr", flags[0]));
        }
        command.arg("-c").arg(source).arg("-o").arg(&object);
        output(&mut command, &self.gcc)?;
        Ok(object)
    }

    fn link(
        &self,
        dir: &Path,
        march: March,
        constants: Constants,
        ram_bytes: u32,
        objects: &[PathBuf],
        defines: &[&str],
    ) -> Result<Vec<u8>, LabError> {
        let (flash, ram) = match constants {
            Constants::Flash => (CONSTANT_SECTIONS, ""),
            Constants::Ram => ("", CONSTANT_SECTIONS),
        };
        let script = LINKER_SCRIPT
            .split_once("*/")
            .map_or(LINKER_SCRIPT, |(_, after)| after)
            .replace("FLASH_CONSTANTS", flash)
            .replace("RAM_CONSTANTS", ram)
            .replace("LAB_RAM_BYTES", &ram_bytes.to_string());
        write(&dir.join("link.ld"), &script)?;
        let crt0 = dir.join("crt0.o");
        // The control-register extension is named for this one unit only: named at the link it would select the
        // wrong multilib.
        let mut assemble = Command::new(&self.gcc);
        assemble.args([&format!("-march={}_zicsr", march.name()), "-mabi=ilp32", "-c"]).args(defines);
        assemble.arg(dir.join("crt0.S")).arg("-o").arg(&crt0);
        output(&mut assemble, &self.gcc)?;
        let elf = dir.join("program.elf");
        let mut link = Command::new(&self.gcc);
        link.args(target_flags(march)).args(["-nostdlib", "-static", "-T"]).arg(dir.join("link.ld"));
        link.arg(&crt0).args(objects).args(["-lgcc", "-o"]).arg(&elf);
        output(&mut link, &self.gcc)?;
        read(&elf)
    }
}

fn target_flags(march: March) -> Vec<String> {
    vec![format!("-march={}", march.name()), "-mabi=ilp32".to_string()]
}

fn level_flag(level: Level) -> String {
    format!("-{}", level.name())
}

/// File name and path of a source; text is written to the scratch folder first, each in its own folder so that equal
/// names do not meet.
fn materialise(dir: &Path, n: usize, source: &Source) -> Result<(String, PathBuf), LabError> {
    match source {
        Source::File(path) => {
            let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            Ok((name, path.clone()))
        }
        Source::Text { name, text } => {
            if name.contains(['/', '\\']) || name.starts_with('.') || name.is_empty() {
                return Err(LabError::BadJob(format!("`{name}` is no plain file name")));
            }
            let folder = dir.join(format!("text{n}"));
            fs::create_dir_all(&folder).map_err(LabError::io(&folder))?;
            let path = folder.join(name);
            write(&path, text)?;
            Ok((name.clone(), path))
        }
    }
}

fn read(path: &Path) -> Result<Vec<u8>, LabError> {
    fs::read(path).map_err(LabError::io(path))
}

fn write(path: &Path, text: &str) -> Result<(), LabError> {
    fs::write(path, text).map_err(LabError::io(path))
}

/// Runs a tool and gives its standard output.
fn output(command: &mut Command, tool: &str) -> Result<Vec<u8>, LabError> {
    let done = command
        .output()
        .map_err(|_| LabError::MissingTool { tool: tool.to_string(), package: "gcc-riscv64-unknown-elf" })?;
    if !done.status.success() {
        return Err(LabError::ToolFailed {
            command: format!("{command:?}"),
            stderr: String::from_utf8_lossy(&done.stderr).trim_end().to_string(),
        });
    }
    Ok(done.stdout)
}
