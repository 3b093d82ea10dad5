//! `santoku lab bench` and `santoku lab compare`

use super::common::Library;
use super::lab_common::{failure, levels, write_picture, Progress};
use crate::report;
use santoku_diag::{Diagnostic, Sources};
use santoku_driver::{Checked, Failure, GRANULARITY};
use santoku_workbench::measure::{is_c, run as measure};
use santoku_workbench::report::{svg, text};
use santoku_num::from_hex;
use santoku_workbench::user::{Side, Wish};
use santoku_workbench::BenchError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct BenchArgs {
    /// A program, and one of its functions; without one: every exported function
    #[arg(value_name = "FILE.stk[::FUNCTION]")]
    program: String,
    /// Leave out the layouts of a function of one block
    #[arg(long)]
    no_layouts: bool,
    /// Layouts: statements of one copy before the next copy's
    #[arg(long, default_value_t = GRANULARITY, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    granularity: u32,
    #[command(flatten)]
    how: How,
}

#[derive(clap::Args)]
pub struct CompareArgs {
    /// A program and one of its functions
    #[arg(value_name = "FILE.stk[::FUNCTION]")]
    first: String,
    /// Another one that computes the same, or a function of a C or assembly file with the same interface
    #[arg(value_name = "FILE.stk[::FUNCTION] | FILE.c::FUNCTION | FILE.s::FUNCTION")]
    second: String,
    #[command(flatten)]
    how: How,
}

#[derive(clap::Args)]
struct How {
    /// Only these machines, separated by commas: e31, ckb-vm, zkvm, host
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    machine: Vec<String>,
    /// Levels of the C compilers, separated by commas; default: those of the machines' descriptions
    #[arg(long, value_name = "LEVELS")]
    levels: Option<String>,
    /// Elements of arrays of run-time length
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(0..=1_048_576))]
    length: u32,
    /// Bytes of an argument, numbers little-endian, in the place of random ones
    #[arg(long = "input", value_name = "NAME=HEX")]
    inputs: Vec<String>,
    /// Draw the figures, an SVG picture
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    library: Library,
}

pub fn bench(args: &BenchArgs) -> Result<u8, Failure> {
    let side = side(&args.program)?;
    if let Side::C { path, .. } = &side {
        let d = Diagnostic::error("bad-option", format!("`{}` is a C file", path.display()));
        return Err(refused(d.note("why: it does not say what its functions read and write").help("compare it with a program: `santoku lab compare FILE.stk::f FILE.c::f`")));
    }
    finish(&[side], &args.how, (!args.no_layouts).then_some(args.granularity as usize))
}

pub fn compare(args: &CompareArgs) -> Result<u8, Failure> {
    let (mut first, mut second) = (side(&args.first)?, side(&args.second)?);
    if let Side::C { path, .. } = &first {
        let d = Diagnostic::error("bad-option", format!("`{}` is a C file", path.display()));
        return Err(refused(d.note("why: the first side says what functions read and write").help("name the program first, then the C file")));
    }
    if first.name() == second.name() {
        rename(&mut first, "first");
        rename(&mut second, "second");
    }
    finish(&[first, second], &args.how, None)
}

fn refused(d: Diagnostic) -> Failure {
    Failure::refused(&Sources::default(), d)
}

fn rename(side: &mut Side, which: &str) {
    let (Side::Program { name, .. } | Side::C { name, .. }) = side;
    *name = format!("{name} ({which})");
}

/// `path::function`, or a path.
fn side(text: &str) -> Result<Side, Failure> {
    let (path, function) = match text.split_once("::") {
        Some((path, function)) => (path, Some(function.to_string())),
        None => (text, None),
    };
    let stem = Path::new(path).file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let name = function.as_ref().map_or_else(|| stem.clone(), |f| format!("{stem}::{f}"));
    if function.as_deref() == Some("") {
        return Err(refused(Diagnostic::error("bad-option", format!("`{text}` names no function")).help("write `FILE.stk::f`, or the file alone")));
    }
    if !is_c(Path::new(path)) {
        return Ok(Side::Program { name, path: path.into(), function });
    }
    let Some(function) = function else {
        return Err(refused(Diagnostic::error("bad-option", format!("`{text}` names no function")).help("write `FILE.c::f`")));
    };
    if !Path::new(path).is_file() {
        return Err(refused(crate::files::no_file(path)));
    }
    Ok(Side::C { name, path: path.into(), function })
}

fn finish(sides: &[Side], how: &How, layouts: Option<usize>) -> Result<u8, Failure> {
    let wish = Wish {
        machines: how.machine.clone(),
        levels: how.levels.as_ref().map(|l| levels(l)).transpose()?,
        length: how.length,
        inputs: inputs(&how.inputs)?,
    };
    let made = {
        let progress = Progress::start("lab", "measuring");
        let load = |path: &str, target: &str| Ok::<Checked, BenchError>(how.library.load(path, target)?);
        measure(sides, &load, &wish, layouts, &|what| progress.tell(what)).map_err(failure)?
    };
    if let Some(path) = &how.svg {
        write_picture(path, svg(&made).map_err(|reason| Failure::internal("picture", reason))?)?;
    }
    report::out(&text(&made));
    report::answer(&made)?;
    Ok(report::DONE)
}

fn inputs(all: &[String]) -> Result<BTreeMap<String, Vec<u8>>, Failure> {
    let mut out = BTreeMap::new();
    for text in all {
        let parsed = text.split_once('=').filter(|(name, _)| !name.is_empty()).and_then(|(name, hex)| Some((name.to_string(), from_hex(hex)?)));
        let Some((name, bytes)) = parsed else {
            let d = Diagnostic::error("bad-option", format!("`--input {text}` gives no bytes"));
            return Err(refused(d.help("write `--input key=00ff`, two hexadecimal digits a byte")));
        };
        out.insert(name, bytes);
    }
    Ok(out)
}
