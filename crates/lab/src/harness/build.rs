//! Compiling and linking measured programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use santoku_target::Level;

use crate::cross::{machine, tool, Cross};
use crate::error::LabError;
use crate::rv32::Image;
use super::driver;
use super::job::{Code, Constants, Object, Program, Rv32Job, Source};

const CRT0: &str = include_str!("crt0.S");
const LINKER_SCRIPT: &str = include_str!("link.ld");
const RUN_TIME: &str = include_str!("runtime.c");
const CONSTANT_SECTIONS: &str = "*(.rodata .rodata.* .srodata .srodata.*)";

/// The cross compiler.
#[derive(Clone, Debug)]
pub struct Toolchain {
    cross: Cross,
}

impl Toolchain {
    /// Finds the compiler of the simulated machine's description.
    ///
    /// # Errors
    /// [`LabError::MissingTool`]: it is not installed.
    pub fn find() -> Result<Self, LabError> {
        // Stacks are bounded by call graphs, which this family writes.
        Ok(Toolchain { cross: Cross::find(&machine("rv32")?, Some("gcc"))? })
    }

    /// First line of the compiler's version text.
    pub fn version(&self) -> &str {
        self.cross.version()
    }

    /// The compiler, and the target that it is of.
    pub(crate) fn cross(&self) -> &Cross {
        &self.cross
    }

    /// Flags that choose the instruction set, and what assembly that reads counters takes besides.
    fn isa(&self, code: Code) -> Result<(Vec<String>, Vec<String>), LabError> {
        let compressed = self.cross.isa()?;
        let found = match code {
            Code::Compressed => Some(compressed),
            Code::Plain => self.cross.target.isas.iter().find(|i| i.name != compressed.name),
        };
        let isa = found.ok_or_else(|| LabError::Target { name: self.cross.target.name.clone(), reason: "it has one instruction set".into() })?;
        Ok((isa.flags.clone(), isa.counters.clone()))
    }

    /// Builds the program of a job.
    pub fn build(&self, job: &Rv32Job) -> Result<Program, LabError> {
        if job.sources.is_empty() {
            return Err(LabError::BadJob("no source to measure".into()));
        }
        let scratch = tempfile::tempdir().map_err(LabError::io(std::env::temp_dir()))?;
        let dir = scratch.path();
        self.write_support(dir)?;
        let (isa, _) = self.isa(job.code)?;
        let mut flags = isa.clone();
        flags.push(job.level.flag());
        flags.extend(job.flags.iter().cloned());
        let mut objects = Vec::new();
        let mut linked = Vec::new();
        for (n, source) in job.sources.iter().enumerate() {
            let (name, path) = materialise(dir, n, source)?;
            let object = self.compile(dir, &path, &format!("measured{n}"), &flags, &job.include_dirs)?;
            // Compilers write no graph for assembly: its stack has no bound here, and is measured alone.
            let assembly = path.extension().is_some_and(|e| e == "s" || e == "S");
            let graph = if assembly { vec![] } else { read(&object.with_extension("ci"))? };
            objects.push(Object { name, bytes: read(&object)?, call_graph: String::from_utf8_lossy(&graph).into_owned() });
            linked.push(object);
        }
        let plain = [isa, vec![Level::O2.flag(), "-fno-tree-loop-distribute-patterns".into()]].concat();
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
        let elf = self.link(dir, job.code, job.constants, job.ram_bytes, &linked, &[])?;
        Ok(Program {
            image: Image::parse(&elf)?,
            elf,
            objects,
            compiler: self.version().to_string(),
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
        code: Code,
        level: Level,
        bench: bool,
    ) -> Result<Vec<u8>, LabError> {
        const BOARD_RAM: u32 = 16 << 10;
        let scratch = tempfile::tempdir().map_err(LabError::io(std::env::temp_dir()))?;
        let dir = scratch.path();
        self.write_support(dir)?;
        let (isa, counters) = self.isa(code)?;
        let flags = [isa, vec![level.flag(), "-fno-tree-loop-distribute-patterns".into()]].concat();
        let run_time = Source::Text { name: "runtime.c".into(), text: RUN_TIME.into() };
        let mut linked = Vec::new();
        for (n, source) in sources.iter().chain([&run_time]).enumerate() {
            let (_, path) = materialise(dir, n, source)?;
            // Assembly may read counters; the last architecture named wins, and compression stays as the flags say.
            let assembly = path.extension().is_some_and(|e| e == "S");
            let flags = if assembly { [flags.clone(), counters.clone()].concat() } else { flags.clone() };
            linked.push(self.compile(dir, &path, &format!("plain{n}"), &flags, &[])?);
        }
        let defines: &[&str] = if bench { &["-DLAB_BENCH"] } else { &[] };
        self.link(dir, code, Constants::Ram, BOARD_RAM, &linked, defines)
    }

    fn write_support(&self, dir: &Path) -> Result<(), LabError> {
        self.cross.headers(dir)?;
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
        let include = dir.join("include").display().to_string();
        let flags = [flags, &["-fcallgraph-info=su,da".to_string(), "-isystem".to_string(), include]].concat();
        self.cross.object(source, &flags, include_dirs, &object)?;
        Ok(object)
    }

    fn link(
        &self,
        dir: &Path,
        code: Code,
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
        let (isa, counters) = self.isa(code)?;
        let defines: Vec<String> = defines.iter().map(|d| d.to_string()).collect();
        self.cross.object(&dir.join("crt0.S"), &[isa.clone(), counters, defines].concat(), &[], &crt0)?;
        let elf = dir.join("program.elf");
        let mut link = Command::new(self.cross.compiler.command());
        link.args(isa).args(["-nostdlib", "-static", "-T"]).arg(dir.join("link.ld"));
        link.arg(&crt0).args(objects).args(&self.cross.using.libs).arg("-o").arg(&elf);
        tool(&mut link, &self.cross.compiler.packages)?;
        read(&elf)
    }
}

/// File name and path of a source; text is written to the scratch folder first, each in its own folder so that equal
/// names do not meet.
pub(crate) fn materialise(dir: &Path, n: usize, source: &Source) -> Result<(String, PathBuf), LabError> {
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
