//! ECDSA verification on CKB-VM: exact cycles, and every published vector in the VM.

use crate::amalgam::amalgam;
use crate::primitives::Tree;
use crate::profile::Profiled;
use crate::text::{mega, table};
use crate::{parallel, BenchError};
use santoku_lab::ckb::{self, CkbJob, Profile};
use santoku_lab::cross::Cross;
use santoku_lab::record::{Row, Stamp};
use santoku_vectors::ecdsa::{wycheproof_p256, P256Vector};
use std::collections::BTreeSet;
use santoku_target::Level;

/// Name of the primitive.
pub const NAME: &str = "ecdsa.p256";
/// Target of the table.
const TARGET: &str = "ckb";
/// A run that takes this long is a hang.
const MAX_CYCLES: u64 = 1 << 30;

/// A program for the VM: exit code 0 accepts, 1 rejects.
pub struct VmProgram {
    pub elf: Vec<u8>,
    /// The command, and what it says of itself.
    pub command: String,
    pub compiler: String,
    pub flags: String,
    /// `.text` and `.rodata` of the whole program, start-up code included.
    pub size_bytes: u64,
}

/// Figures of one build.
#[derive(Clone, Debug)]
pub struct VerifyRun {
    pub compiler: String,
    pub level: Level,
    /// A valid signature, and the same on another digest.
    pub valid: u64,
    pub invalid: u64,
    /// Least, mean and most over the valid vectors.
    pub spread: [u64; 3],
    pub vectors: usize,
    pub accepted: usize,
    pub size_bytes: u64,
    pub version: String,
    pub flags: String,
    pub profile: Profile,
}

/// C of the primitive: source and header.
pub fn source(tree: &Tree) -> Result<(String, String, String), BenchError> {
    let primitive = tree.primitive(NAME)?;
    let made = amalgam(tree, &primitive, crate::dist::LEVEL, &BTreeSet::new(), "")?.emitted;
    Ok((primitive.unit, made.source, made.header))
}

/// Builds a program that verifies the signature in its variables `digest`, `signature` and `key`.
pub fn program(unit: &str, source: &str, header: &str, cross: &Cross, level: Level) -> Result<VmProgram, BenchError> {
    let dir = tempfile::tempdir().map_err(|e| BenchError::io(std::env::temp_dir(), &e))?;
    let main = format!(
        "#include \"{unit}.h\"\nuint8_t digest[32] = {{1}}, signature[64] = {{1}}, key[64] = {{1}};\n\
         int main(void) {{ return {unit}(digest, signature, key) ? 0 : 1; }}\n"
    );
    let files = [(format!("{unit}.c"), source), (format!("{unit}.h"), header), ("main.c".to_string(), main.as_str())];
    for (name, text) in &files {
        let path = dir.path().join(name);
        std::fs::write(&path, text).map_err(|e| BenchError::io(path, &e))?;
    }
    let sources = [dir.path().join(&files[0].0), dir.path().join("main.c")];
    let command = cross.compiler.command();
    let path = santoku_lab::program::build(dir.path(), cross, &sources, &[], &[&level.flag()]).map_err(|e| BenchError::lab(&command, e))?;
    let elf = std::fs::read(&path).map_err(|e| BenchError::io(path, &e))?;
    let flags = cross.flags(level).map_err(|e| BenchError::lab(&command, e))?.join(" ");
    let size_bytes = santoku_lab::size::text_rodata(&elf).map_err(|e| BenchError::lab("CKB-VM", e))?;
    Ok(VmProgram { elf, command, compiler: cross.version().to_string(), flags, size_bytes })
}

/// A compiler of the target by its name there; none: its first.
pub fn compiler(tree: &Tree, name: Option<&str>) -> Result<Cross, BenchError> {
    Cross::named(&tree.target(TARGET)?, name).map_err(|e| BenchError::lab(TARGET, e))
}

fn job(v: &P256Vector, rs: &[u8; 64]) -> CkbJob {
    let inputs = [("digest", v.digest.to_vec()), ("signature", rs.to_vec()), ("key", v.public[1..].to_vec())];
    let inputs = inputs.into_iter().map(|(n, b)| (n.to_string(), b)).collect();
    CkbJob { inputs, max_cycles: MAX_CYCLES, ..CkbJob::default() }
}

/// Verdict and cycles of one vector.
pub fn verify(program: &VmProgram, v: &P256Vector, rs: &[u8; 64]) -> Result<(bool, u64), BenchError> {
    let run = ckb::run(&program.elf, &job(v, rs)).map_err(|e| BenchError::lab(&v.id, e))?;
    match run.exit_code {
        0 => Ok((true, run.cycles)),
        1 => Ok((false, run.cycles)),
        code => Err(BenchError::WrongResult { program: v.id.clone(), reason: format!("exit code {code}") }),
    }
}

/// Wycheproof's vectors with well-formed signatures (64 bytes): malformed ones do not reach the function.
pub fn vectors() -> Vec<(P256Vector, [u8; 64])> {
    wycheproof_p256().into_iter().filter_map(|v| v.rs().map(|rs| (v, rs))).collect()
}

/// Builds with every compiler, runs all vectors, profiles one valid signature.
///
/// # Errors
/// `WrongResult` if one verdict is wrong.
pub fn run(tree: &Tree, tell: &(dyn Fn(&str) + Sync)) -> Result<Vec<VerifyRun>, BenchError> {
    tell("compiling");
    let (unit, source, header) = source(tree)?;
    let vectors = vectors();
    let mut builds = vec![];
    for using in &tree.target(TARGET)?.compilers {
        let cross = compiler(tree, Some(&using.name))?;
        builds.extend(using.levels.iter().map(|level| (cross.clone(), *level)));
    }
    parallel::map(&builds, parallel::threads(), |(cross, level)| {
        tell(&format!("{} {}", cross.compiler.command(), level.flag()));
        let program = program(&unit, &source, &header, cross, *level)?;
        figures(&program, &vectors, *level)
    })
}

/// All vectors and one profile on a built program.
pub fn figures(program: &VmProgram, vectors: &[(P256Vector, [u8; 64])], level: Level) -> Result<VerifyRun, BenchError> {
    let mut cycles = vec![];
    let mut first = None;
    for (v, rs) in vectors {
        let (accepted, taken) = verify(program, v, rs)?;
        if !v.expected.agrees(accepted) {
            return Err(BenchError::WrongResult { program: v.id.clone(), reason: format!("accepted: {accepted}; {}", v.comment) });
        }
        if accepted {
            cycles.push(taken);
            first = first.or(Some((v, rs, taken)));
        }
    }
    let Some((v, rs, valid)) = first else {
        return Err(BenchError::WrongResult { program: NAME.into(), reason: "no vector is accepted".into() });
    };
    let mut other = v.clone();
    other.digest[31] ^= 1;
    let (accepted, invalid) = verify(program, &other, rs)?;
    if accepted {
        return Err(BenchError::WrongResult { program: NAME.into(), reason: "a signature of another digest is accepted".into() });
    }
    let profile = ckb::profile(&program.elf, &job(v, rs)).map_err(|e| BenchError::lab(NAME, e))?;
    let mean = cycles.iter().sum::<u64>() / cycles.len() as u64;
    let ends = cycles.iter().min().zip(cycles.iter().max());
    Ok(VerifyRun {
        compiler: program.command.clone(),
        level,
        valid,
        invalid,
        spread: ends.map_or([0; 3], |(least, most)| [*least, mean, *most]),
        vectors: vectors.len(),
        accepted: cycles.len(),
        size_bytes: program.size_bytes,
        version: program.compiler.clone(),
        flags: program.flags.clone(),
        profile,
    })
}

/// Rows for the record: a valid and an invalid signature.
pub fn rows(runs: &[VerifyRun], stamp: &Stamp) -> Vec<Row> {
    let row = |run: &VerifyRun, what: &str, cycles: u64| Row {
        program: format!("{NAME}.verify-{what}"),
        variant: format!("santoku {}", run.compiler),
        machine: "ckb-vm".into(),
        level: run.level.name().into(),
        cycles_core: cycles,
        cycles_board: None,
        instret: None,
        icache_misses: None,
        flash_words: None,
        stack_bytes: None,
        stack_bound_bytes: None,
        size_bytes: Some(run.size_bytes),
        trace_hash: None,
        compiler: run.version.clone(),
        flags: run.flags.clone(),
        date: stamp.date.clone(),
        commit: stamp.commit.clone(),
    };
    runs.iter().flat_map(|r| [row(r, "valid", r.valid), row(r, "invalid", r.invalid)]).collect()
}

/// The table for people, and the leaf table of the fastest build.
pub fn text(runs: &[VerifyRun]) -> String {
    let line = |r: &VerifyRun| {
        let [least, mean, most] = r.spread;
        let counts = format!("{} ({} accepted)", r.vectors, r.accepted);
        let numbers = [r.valid, r.invalid, least, mean, most].map(mega);
        [vec![r.compiler.clone(), r.level.to_string()], numbers.to_vec(), vec![r.size_bytes.to_string(), counts]].concat()
    };
    let header = ["compiler", "level", "valid", "invalid", "least", "mean", "most", "size", "vectors right"];
    let mut text = table(&header, 2, runs.iter().map(line).collect());
    text += "ECDSA P-256 verification, VM version 2, Mcycles; least, mean, most: over the valid vectors of Wycheproof (SHA-256, P1363).\n";
    if let Some(best) = runs.iter().min_by_key(|r| r.valid) {
        text += &format!("\n{} -{}, the valid signature:\n{}", best.compiler, best.level, Profiled::of_vm(&best.profile, String::new()).text());
    }
    text
}
