//! A target's C compiler: found, and run with the flags that the target's description names.

use crate::error::LabError;
use santoku_target::{Compiler, InstructionSet, Level, Run, Target, Use};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// `stdint.h` for compilers without a C library.
pub const STDINT: &str = include_str!("include/stdint.h");
/// The part of `string.h` that generated code needs.
pub const STRING: &str = include_str!("include/string.h");

/// A compiler of a target.
#[derive(Clone, Debug)]
pub struct Cross {
    pub target: Target,
    pub using: Use,
    pub compiler: Compiler,
    version: String,
}

/// The target of this name that is compiled in, choices of implementations included.
///
/// # Errors
/// [`LabError::Target`]: there is none, or its file does not describe one.
pub fn machine(name: &str) -> Result<Target, LabError> {
    let wrong = |reason: String| LabError::Target { name: name.to_string(), reason };
    santoku_target::built_in(name).map_err(|e| wrong(e.reason))?.ok_or_else(|| wrong("there is none of that name".into()))
}

impl Cross {
    /// Finds a compiler of `target`: the one of this family (`gcc`, `clang`), or its first.
    ///
    /// # Errors
    /// [`LabError::Target`]: the target names no such compiler; [`LabError::MissingTool`]: it is not installed.
    pub fn find(target: &Target, family: Option<&str>) -> Result<Cross, LabError> {
        Cross::first(target, &|compiler| family.is_none_or(|f| f == compiler.family), family)
    }

    /// Finds a compiler of `target` by its name in `targets/compilers.toml`; none: its first.
    ///
    /// # Errors
    /// As [`Cross::find`].
    pub fn named(target: &Target, name: Option<&str>) -> Result<Cross, LabError> {
        Cross::first(target, &|compiler| name.is_none_or(|n| n == compiler.name), name)
    }

    fn first(target: &Target, wanted: &dyn Fn(&Compiler) -> bool, what: Option<&str>) -> Result<Cross, LabError> {
        let wrong = |reason: String| LabError::Target { name: target.name.clone(), reason };
        let all = santoku_target::compilers().map_err(|e| wrong(e.reason))?;
        for using in &target.compilers {
            let compiler = all.0.get(&using.name).ok_or_else(|| wrong(format!("`targets/compilers.toml` has no `{}`", using.name)))?;
            if wanted(compiler) {
                let version = version(compiler)?;
                return Ok(Cross { target: target.clone(), using: using.clone(), compiler: compiler.clone(), version });
            }
        }
        Err(wrong(format!("its description names no compiler{}", what.map(|f| format!(" `{f}`")).unwrap_or_default())))
    }

    /// First line of the compiler's version text.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// How programs are executed.
    ///
    /// # Errors
    /// [`LabError::Target`]: the description does not say.
    pub fn run(&self) -> Result<&Run, LabError> {
        self.target.run.as_ref().ok_or_else(|| LabError::Target { name: self.target.name.clone(), reason: "its description has no `[run]`".into() })
    }

    /// The instruction set that programs are compiled for.
    ///
    /// # Errors
    /// Those of [`Cross::run`].
    pub fn isa(&self) -> Result<&InstructionSet, LabError> {
        let name = &self.run()?.isa;
        self.target.isa(name).ok_or_else(|| LabError::Target { name: self.target.name.clone(), reason: format!("no `[[isa]]` is called `{name}`") })
    }

    /// The flags of every source, without a level.
    ///
    /// # Errors
    /// Those of [`Cross::isa`].
    pub fn base_flags(&self) -> Result<Vec<String>, LabError> {
        Ok([&self.using.select[..], &self.isa()?.flags, &self.using.flags].concat())
    }

    /// All flags of a source at a level.
    ///
    /// # Errors
    /// Those of [`Cross::isa`].
    pub fn flags(&self, level: Level) -> Result<Vec<String>, LabError> {
        Ok([self.base_flags()?, vec![level.flag()]].concat())
    }

    /// Writes the headers that the compiler lacks into `folder`, and gives the flags that make them found.
    ///
    /// # Errors
    /// [`LabError::Io`].
    pub fn headers(&self, folder: &Path) -> Result<Vec<String>, LabError> {
        let include = folder.join("include");
        write_headers(&self.compiler, &include)?;
        Ok(if self.bare() { vec!["-isystem".into(), include.display().to_string()] } else { vec![] })
    }

    /// Programs bring their own start-up code.
    pub fn bare(&self) -> bool {
        self.target.run.as_ref().is_some_and(|r| r.bare)
    }

    /// Compiles one source to `object`. `flags` are all there are.
    ///
    /// # Errors
    /// [`LabError::ToolFailed`] with what the compiler said; [`LabError::MissingTool`].
    pub fn object(&self, source: &Path, flags: &[String], include_dirs: &[PathBuf], object: &Path) -> Result<(), LabError> {
        let mut cc = Command::new(self.compiler.command());
        cc.args(flags);
        for include in include_dirs {
            cc.arg("-I").arg(include);
        }
        cc.arg("-c").arg(source).arg("-o").arg(object);
        tool(&mut cc, &self.compiler.packages).map(drop)
    }

    /// Links objects to `program`; `flags` come after those of the description.
    ///
    /// # Errors
    /// As [`Cross::object`].
    pub fn link(&self, flags: &[String], objects: &[PathBuf], program: &Path) -> Result<(), LabError> {
        let own = self.using.linker.is_some();
        let mut ld = Command::new(self.using.linker.clone().unwrap_or_else(|| self.compiler.command()));
        if !own {
            ld.args(&self.using.select);
        }
        ld.args(&self.using.link).args(flags).arg("-o").arg(program).args(objects).args(&self.using.libs);
        tool(&mut ld, &self.compiler.packages).map(drop)
    }
}

/// Writes the headers that a compiler lacks where there is no C library.
///
/// # Errors
/// [`LabError::Io`].
pub fn write_headers(compiler: &Compiler, include: &Path) -> Result<(), LabError> {
    std::fs::create_dir_all(include).map_err(LabError::io(include))?;
    for name in &compiler.lacks {
        let path = include.join(name);
        std::fs::write(&path, if name == "stdint.h" { STDINT } else { STRING }).map_err(LabError::io(path))?;
    }
    Ok(())
}

/// Instructions and calls of an object whose time depends on their operands by the target's description: function, line of the disassembly.
///
/// # Errors
/// [`LabError::Target`]: the compiler's description names no disassembler; those of running it.
pub fn variable_time(cross: &Cross, object: &Path) -> Result<Vec<(String, String)>, LabError> {
    let slow = &cross.target.variable_time;
    let wrong = || LabError::Target { name: cross.target.name.clone(), reason: format!("`targets/compilers.toml` names no `objdump` of `{}`", cross.compiler.name) };
    let objdump = cross.compiler.objdump.as_ref().ok_or_else(wrong)?;
    let said = tool(Command::new(objdump).args(["-d", "-r", "--no-show-raw-insn"]).arg(object), &cross.compiler.packages)?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    let names = |line: &str| line.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|w| slow.instructions.iter().chain(&slow.functions).any(|n| n == w));
    let (mut function, mut found) = (String::new(), vec![]);
    for line in text.lines() {
        if let Some((_, name)) = line.strip_suffix(">:").and_then(|l| l.split_once('<')) {
            function = name.to_string();
        } else if names(line) {
            found.push((function.clone(), line.trim().to_string()));
        }
    }
    Ok(found)
}

/// First line of what a compiler says of itself.
///
/// # Errors
/// [`LabError::MissingTool`].
pub fn version(compiler: &Compiler) -> Result<String, LabError> {
    let said = tool(Command::new(compiler.command()).arg("--version"), &compiler.packages)?;
    Ok(String::from_utf8_lossy(&said.stdout).lines().next().unwrap_or_default().to_string())
}

/// Runs a tool to its end.
///
/// # Errors
/// [`LabError::MissingTool`] where it cannot be started, [`LabError::ToolFailed`] with what it said.
pub fn tool(command: &mut Command, packages: &[String]) -> Result<Output, LabError> {
    let name = command.get_program().to_string_lossy().into_owned();
    let done = command.output().map_err(|_| LabError::MissingTool { tool: name, package: packages.join(" ") })?;
    if !done.status.success() {
        let words = std::iter::once(command.get_program()).chain(command.get_args()).map(|a| a.to_string_lossy());
        let command = words.collect::<Vec<_>>().join(" ");
        return Err(LabError::ToolFailed { command, stderr: String::from_utf8_lossy(&done.stderr).trim_end().to_string() });
    }
    Ok(done)
}
