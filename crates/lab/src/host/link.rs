//! Builds the bench: every implementation becomes one relocatable object whose only global symbol is its `bench_impl_N`.

use crate::cross::{machine, Cross};
use super::error::HostError;
use super::job::{HostImpl, Workload};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

const BENCH_C: &str = include_str!("bench.c");
const BENCH_H: &str = include_str!("bench.h");

/// A linked bench.
pub struct Built {
    pub program: PathBuf,
    /// First line of each implementation's compiler's `--version`.
    pub compilers: Vec<String>,
}

pub fn build(work_dir: &Path, impls: &[HostImpl], workload: &Workload) -> Result<Built, HostError> {
    let dir = absolute(work_dir)?;
    make_dir(&dir)?;
    write(&dir.join("bench.h"), BENCH_H)?;
    write(&dir.join("bench.c"), BENCH_C)?;
    write(&dir.join("bench_config.h"), &config(impls, workload))?;
    let mut objects = Vec::new();
    let mut compilers = Vec::new();
    for (n, imp) in impls.iter().enumerate() {
        compilers.push(version(&imp.compiler)?);
        objects.push(isolate(&dir, n, imp)?);
    }
    let program = dir.join("bench");
    let host = machine("host64").and_then(|t| Cross::find(&t, None)).map_err(|e| HostError::Internal(e.to_string()))?;
    let mut cc = Command::new(host.compiler.command());
    cc.current_dir(&dir).args(["-O2", "-Wall", "-o", "bench", "bench.c"]).args(&objects).args(["-lpthread", "-ldl"]);
    checked(cc, "the bench", &host.compiler.packages.join(" "))?;
    Ok(Built { program, compilers })
}

/// Runs the bench and returns what it printed.
pub fn run(program: &Path) -> Result<String, HostError> {
    // All benches of this process want the same processor: one at a time.
    static RUNNING: Mutex<()> = Mutex::new(());
    let _alone = RUNNING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut cmd = Command::new(program);
    let out = output(&mut cmd, "none, it was just built")?;
    // Code 3: an adapter refused; its line on standard output says which.
    if !out.status.success() && out.status.code() != Some(3) {
        let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
        return Err(HostError::Crashed { status: out.status.to_string(), stderr });
    }
    String::from_utf8(out.stdout).map_err(|e| HostError::Internal(format!("bench output: {e}")))
}

fn config(impls: &[HostImpl], workload: &Workload) -> String {
    let mut s = String::new();
    let bytes = |b: &[u8]| b.iter().map(u8::to_string).collect::<Vec<_>>().join(",");
    let _ = writeln!(s, "#define ROUNDS {}\n#define BATCH_MICROSECONDS {}\n#define COUNT_INSTRUCTIONS {}", workload.rounds, workload.batch_us, u8::from(workload.count));
    let _ = writeln!(s, "const uint8_t bench_key[64] = {{{}}};", bytes(&workload.key()));
    let _ = writeln!(s, "const size_t bench_msg_len = {};", workload.message_len);
    let _ = writeln!(s, "const uint8_t bench_msg[] = {{{}}};", bytes(&workload.message()));
    for n in 0..impls.len() {
        let _ = writeln!(s, "extern const struct bench_impl bench_impl_{n};");
    }
    let _ = writeln!(s, "static const struct {{ const char *name; const struct bench_impl *impl; }} bench_impls[] = {{");
    for (n, imp) in impls.iter().enumerate() {
        let name: String = imp.name.chars().flat_map(char::escape_default).collect();
        let _ = writeln!(s, "  {{\"{name}\", &bench_impl_{n}}},");
    }
    let _ = writeln!(s, "}};\nstatic const size_t bench_nimpls = {};", impls.len());
    s
}

/// Compiles implementation `n` and merges it with what it draws from its libraries, all symbols but its own entry local.
fn isolate(dir: &Path, n: usize, imp: &HostImpl) -> Result<PathBuf, HostError> {
    let sub = dir.join(format!("impl_{n}"));
    make_dir(&sub)?;
    let adapter = sub.join("adapter.c");
    write(&adapter, &imp.adapter)?;
    let mut objects = Vec::new();
    for (i, source) in imp.sources.iter().map(PathBuf::as_path).chain([adapter.as_path()]).enumerate() {
        let object = sub.join(format!("{i}.o"));
        let mut cc = Command::new(&imp.compiler);
        cc.args(&imp.cflags).arg(format!("-DBENCH_IMPL=bench_impl_{n}")).arg("-I").arg(dir);
        for include in &imp.include_dirs {
            cc.arg("-I").arg(absolute(include)?);
        }
        cc.arg("-c").arg(absolute(source)?).arg("-o").arg(&object);
        checked(cc, &imp.name, &imp.compiler)?;
        objects.push(object);
    }
    let merged = sub.join("merged.o");
    let mut ld = Command::new("ld");
    // `-d`: what C calls common gets its place here, or two implementations that take one library would share it.
    ld.args(["-r", "-d", "-o"]).arg(&merged).args(&objects).args(&imp.libs);
    checked(ld, &imp.name, "binutils")?;
    let mut objcopy = Command::new("objcopy");
    objcopy.arg(format!("--keep-global-symbol=bench_impl_{n}")).arg(&merged);
    checked(objcopy, &imp.name, "binutils")?;
    Ok(merged)
}

fn version(compiler: &str) -> Result<String, HostError> {
    let out = output(Command::new(compiler).arg("--version"), compiler)?;
    Ok(String::from_utf8_lossy(&out.stdout).lines().next().unwrap_or(compiler).to_string())
}

fn output(cmd: &mut Command, package: &str) -> Result<Output, HostError> {
    let tool = cmd.get_program().to_string_lossy().into_owned();
    cmd.output().map_err(|source| HostError::Tool { tool, package: package.into(), source })
}

/// Runs a compiler or linker; its complaints are the error.
pub fn checked(mut cmd: Command, implementation: &str, package: &str) -> Result<(), HostError> {
    let out = output(&mut cmd, package)?;
    if out.status.success() {
        return Ok(());
    }
    let command = std::iter::once(cmd.get_program()).chain(cmd.get_args()).map(|a| a.to_string_lossy()).collect::<Vec<_>>();
    Err(HostError::Build {
        implementation: implementation.into(),
        command: command.join(" "),
        stderr: String::from_utf8_lossy(&out.stderr).into_owned(),
    })
}

fn absolute(path: &Path) -> Result<PathBuf, HostError> {
    std::path::absolute(path).map_err(|source| HostError::Io { path: path.into(), source })
}

fn make_dir(path: &Path) -> Result<(), HostError> {
    std::fs::create_dir_all(path).map_err(|source| HostError::Io { path: path.into(), source })
}

fn write(path: &Path, text: &str) -> Result<(), HostError> {
    std::fs::write(path, text).map_err(|source| HostError::Io { path: path.into(), source })
}
