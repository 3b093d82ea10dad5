//! C files with a `main` to a program of a target: with the compiler's C library, or with start-up code and memory functions of our own.

use crate::cross::Cross;
use crate::error::LabError;
use santoku_target::{Executor, Run};
use std::path::{Path, PathBuf};

const CKB: &str = include_str!("bare/ckb.S");
const LINUX: &str = include_str!("bare/linux.c");
const CORTEX_M: &str = include_str!("bare/cortex_m.c");
const BOARD: &str = include_str!("bare/board.ld");
const MEM: &str = include_str!("bare/mem.c");
const HOSTED: &str = include_str!("bare/hosted.c");

/// A linked program, and the objects of the files that were given, in their order.
#[derive(Clone, Debug)]
pub struct Linked {
    pub program: PathBuf,
    pub objects: Vec<PathBuf>,
}

/// Compiles and links C files, one of which has a `main`; the program and objects stay in `work_dir`. `cflags` are
/// given after those of the target, and typically hold `-O3`.
///
/// # Errors
/// [`LabError::ToolFailed`] with what a compiler or linker said; [`LabError::MissingTool`]; [`LabError::Target`]: the description says
/// nothing of how programs are run; [`LabError::Io`].
pub fn build(work_dir: &Path, cross: &Cross, sources: &[PathBuf], include_dirs: &[PathBuf], cflags: &[&str]) -> Result<Linked, LabError> {
    let dir = std::path::absolute(work_dir).map_err(LabError::io(work_dir))?;
    std::fs::create_dir_all(&dir).map_err(LabError::io(&dir))?;
    let base = [cross.base_flags()?, cross.headers(&dir)?].concat();
    let text = |flags: &[&str]| flags.iter().map(|f| f.to_string()).collect::<Vec<_>>();
    let mut all: Vec<(PathBuf, Vec<String>)> = vec![];
    let run = cross.run()?;
    for (name, what, flags) in support(run) {
        let path = dir.join(name);
        std::fs::write(&path, what).map_err(LabError::io(&path))?;
        all.push((path, text(flags)));
    }
    let own = all.len();
    all.extend(sources.iter().map(|s| (s.clone(), text(cflags))));
    let absolute = |p: &PathBuf| std::path::absolute(p).map_err(LabError::io(p));
    let include_dirs = include_dirs.iter().map(absolute).collect::<Result<Vec<_>, _>>()?;
    let mut objects = vec![];
    for (n, (source, flags)) in all.iter().enumerate() {
        let object = dir.join(format!("{n}.o"));
        cross.object(&absolute(source)?, &[&base[..], flags].concat(), &include_dirs, &object)?;
        objects.push(object);
    }
    let program = dir.join("program.elf");
    cross.link(&script(run, &dir)?, &objects, &program)?;
    Ok(Linked { program, objects: objects.split_off(own) })
}

/// The linker script of a board, and the flags that name it; none where linkers know where things go.
fn script(run: &Run, dir: &Path) -> Result<Vec<String>, LabError> {
    let Some(memory) = run.memory else { return Ok(vec![]) };
    let places = [
        ("FLASH_START", memory.flash_start),
        ("FLASH_BYTES", memory.flash_bytes),
        ("RAM_START", memory.ram_start),
        ("RAM_BYTES", memory.ram_bytes),
    ];
    let text = places.iter().fold(BOARD.to_string(), |text, (name, value)| text.replace(name, &value.to_string()));
    let path = dir.join("board.ld");
    std::fs::write(&path, text).map_err(LabError::io(&path))?;
    Ok(vec!["-T".into(), path.display().to_string()])
}

/// Files that every program gets: name, text, flags.
fn support(run: &Run) -> Vec<(&'static str, &'static str, &'static [&'static str])> {
    const PLAIN: &[&str] = &["-O2", "-fno-builtin"];
    if !run.bare {
        return vec![("hosted.c", HOSTED, &["-O2"])];
    }
    match run.on {
        Executor::CkbVm | Executor::Rv64Vm => vec![("crt0.S", CKB, &[]), ("mem.c", MEM, PLAIN)],
        _ if run.memory.is_some() => vec![("cortex_m.c", CORTEX_M, PLAIN), ("mem.c", MEM, PLAIN)],
        _ => vec![("linux.c", LINUX, PLAIN), ("mem.c", MEM, PLAIN)],
    }
}
