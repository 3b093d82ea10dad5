//! Signing and verifying on this machine: the shipped C beside libsodium, TweetNaCl and OpenSSL, interleaved in one run.

use crate::primitives::Tree;
use crate::sign::MESSAGE_BYTES;
use crate::text::table;
use crate::{dist, BenchError};
use santoku_lab::cross::Cross;
use santoku_lab::host::rivals::{ours, rival};
use santoku_lab::host::{compare, HostImpl, HostRow, HostRun, Workload};
use santoku_lab::record::{Row, Stamp};

/// Target of this machine.
pub const TARGET: &str = "host64";
/// The rival every ratio is to.
pub const REFERENCE: &str = "libsodium";

/// Builds all and times them.
///
/// # Errors
/// `Lab` if something does not build, or two implementations disagree on a signature.
pub fn run(tree: &Tree, tell: &(dyn Fn(&str) + Sync)) -> Result<HostRun, BenchError> {
    let lab = |e: &dyn std::fmt::Display| BenchError::lab("this machine", e);
    let unit = tree.primitive(crate::sign_table::NAME)?.unit;
    let source = tree.root.join(dist::folder(&unit)).join(format!("{unit}.c"));
    let mut impls: Vec<HostImpl> = vec![];
    let compilers = compilers(tree)?;
    for (compiler, using) in compilers.iter().zip(&tree.target(TARGET)?.compilers) {
        for level in using.levels.iter().map(|l| l.flag()) {
            let made = ours(&format!("santoku {compiler} {level}"), &source, &format!("{unit}.h"), &tree.root, compiler, &[&level]);
            impls.push(made.map_err(|e| lab(&e))?);
        }
    }
    for (name, level) in [(REFERENCE, "-O2"), ("tweetnacl", "-O3"), ("openssl", "-O2")] {
        tell(name);
        impls.push(rival(&tree.root, name, "sign", &compilers[0], &[level]).map_err(|e| lab(&e))?);
    }
    tell("building and timing");
    let scratch = tempfile::tempdir().map_err(|e| BenchError::io(std::env::temp_dir(), &e))?;
    compare(scratch.path(), &impls, &Workload::new(crate::sign_table::NAME, MESSAGE_BYTES)).map_err(|e| lab(&e))
}

/// Commands of this machine's compilers, at least one.
pub fn compilers(tree: &Tree) -> Result<Vec<String>, BenchError> {
    let target = tree.target(TARGET)?;
    let found = target.compilers.iter().map(|c| Cross::named(&target, Some(&c.name)).map(|c| c.compiler.command()));
    let found = found.collect::<Result<Vec<_>, _>>().map_err(|e| BenchError::lab("this machine", e))?;
    match found.is_empty() {
        false => Ok(found),
        true => Err(BenchError::lab(TARGET, "its description names no compiler")),
    }
}

/// Rows for the record: medians, in core cycles.
pub fn rows(run: &HostRun, stamp: &Stamp) -> Vec<Row> {
    run.rows.iter().map(|r| row(&format!("nacl.{}", r.op), r, stamp)).collect()
}

/// A row of host timing: the median, in core cycles.
pub fn row(program: &str, r: &HostRow, stamp: &Stamp) -> Row {
    Row {
        program: program.into(),
        variant: r.implementation.clone(),
        machine: "host".into(),
        level: r.cflags.split(' ').rev().find_map(|f| f.strip_prefix('-').filter(|l| l.starts_with('O'))).unwrap_or("-").into(),
        cycles_core: r.cycles_core.median.round() as u64,
        cycles_board: None,
        instret: None,
        icache_misses: None,
        flash_words: None,
        stack_bytes: None,
        stack_bound_bytes: None,
        size_bytes: None,
        trace_hash: None,
        compiler: r.compiler.clone(),
        flags: r.cflags.clone(),
        date: stamp.date.clone(),
        commit: stamp.commit.clone(),
    }
}

/// The table for people, with the reference's time over ours.
pub fn text(run: &HostRun) -> String {
    let reference = |op: &str| run.rows.iter().find(|r| r.implementation == REFERENCE && r.op == op).map(|r| r.cycles_tsc.median);
    let line = |r: &HostRow| {
        let speed = reference(&r.op).map_or_else(|| "-".into(), |base| format!("{:.2}", base / r.cycles_tsc.median));
        let spread = format!("{:.0}..{:.0}", r.cycles_core.p10, r.cycles_core.p90);
        vec![r.op.clone(), r.implementation.clone(), format!("{:.0}", r.cycles_core.median), spread, format!("{:.0}", r.ops_per_second), speed]
    };
    let mut ops: Vec<&str> = vec![];
    for row in &run.rows {
        if !ops.contains(&row.op.as_str()) {
            ops.push(&row.op);
        }
    }
    let lines = ops.iter().flat_map(|op| run.rows.iter().filter(move |r| r.op == **op)).map(line).collect();
    let header = ["operation", "implementation", "core cycles", "10%..90%", "per second", "x libsodium"];
    format!(
        "{}{} bytes. {}, pinned to processor {}; {}. Libraries as the distribution builds them.\n",
        table(&header, 2, lines),
        run.message_len,
        run.machine.cpu,
        crate::text::or_dash(run.machine.pinned_cpu),
        run.samples(),
    )
}
