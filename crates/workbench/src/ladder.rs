//! A series of builds of one primitive on one machine, each with one thing more, as a row of the table names it.
//!
//! Needs: the machine's compilers.  Keeps: all are measured in one run and leave the same results.  Absent: what others published is quoted, not measured.

use crate::assembly::assembly_for;
use crate::compile::{front, Build};
use crate::primitives::{Primitive, Tree};
use crate::row::{AssemblyRow, Ladder, Rung};
use crate::subject::{of_assembly, ours_for};
use crate::table::{rows, Bench, Line};
use crate::text::{mega, or_dash, share, table};
use crate::workload::Work;
use crate::{parallel, BenchError};
use santoku_driver::Target;
use santoku_lab::bench::{Profile, Subject};
use santoku_lab::record::{Row, Stamp};
use santoku_passes::Level;
use std::collections::BTreeSet;

/// Functions of a build that are named.
const TOP: usize = 3;

/// One build and its figures.
pub struct Climbed {
    pub rung: Rung,
    pub line: Line,
    pub profile: Profile,
    work: Work,
}

/// A ladder that was measured.
pub struct Measured {
    pub ladder: Ladder,
    pub primitive: String,
    pub all: Vec<Climbed>,
}

/// Builds, checks and measures every rung of the ladder of this name.
///
/// # Errors
/// `Unknown`: there is no such ladder; those of the compiler and of the lab; `WrongResult`.
pub fn run(tree: &Tree, name: &str, tell: &(dyn Fn(&str) + Sync)) -> Result<Measured, BenchError> {
    let all = tree.primitives()?;
    let found = all.iter().find_map(|p| p.ladders.iter().find(|l| l.name == name).map(|l| (p, l)));
    let Some((primitive, ladder)) = found else {
        let known = all.iter().flat_map(|p| &p.ladders).map(|l| l.name.clone()).collect();
        return Err(BenchError::Unknown { what: "ladder", name: name.into(), known });
    };
    let climbed = parallel::map(&ladder.rungs, parallel::threads(), |rung| {
        tell(&rung.label);
        climb(tree, primitive, ladder, rung)
    })?;
    Ok(Measured { ladder: ladder.clone(), primitive: primitive.name.clone(), all: climbed })
}

/// The target as a rung has it.
fn target(tree: &Tree, ladder: &Ladder, rung: &Rung) -> Result<Target, BenchError> {
    let mut target = tree.target(&rung.target)?;
    target.impls.extend(rung.choices.iter().cloned());
    let wrong = |reason: String| BenchError::Declaration { path: "lib/primitives.toml".into(), reason: format!("{}: {}: {reason}", ladder.name, rung.label) };
    if let Some(isa) = rung.isa.as_ref().filter(|i| target.isa(i).is_none()) {
        return Err(wrong(format!("{} has no instruction set {isa:?}", rung.target)));
    }
    match &mut target.run {
        Some(run) if run.machine == ladder.machine => run.isa = rung.isa.clone().unwrap_or(run.isa.clone()),
        _ => return Err(wrong(format!("programs for {} do not run on {}", rung.target, ladder.machine))),
    }
    if rung.ungrouped {
        target.fused = None;
    }
    if !rung.searched {
        target.schedules.clear();
    }
    Ok(target)
}

fn climb(tree: &Tree, primitive: &Primitive, ladder: &Ladder, rung: &Rung) -> Result<Climbed, BenchError> {
    let target = target(tree, ladder, rung)?;
    let build = Build { target: target.clone(), level: crate::dist::LEVEL, without: BTreeSet::new() };
    let made = ours_for(tree, primitive, &build)?;
    let text = made.text.clone();
    let bench = Bench::new(tree, primitive, target.clone(), made)?;
    let subject = match &rung.compiler {
        Some(compiler) => Subject { level: rung.level, compiler: Some(compiler.clone()), ..bench.subject(tree, &rung.label, text)? },
        None => {
            let row = AssemblyRow { target: rung.target.clone(), level: Level::O2, inline: rung.inline };
            let text = assembly_for(&front(tree, &primitive.entry, target.clone())?, primitive, &row, &target)?.text;
            Subject { level: row.level, ..of_assembly(tree, primitive, &rung.label, text, bench.calls()?) }
        }
    };
    let at = bench.work.operations.iter().position(|o| o.name == ladder.operation);
    let at = at.ok_or_else(|| BenchError::Declaration { path: "lib/primitives.toml".into(), reason: format!("{}: there is no operation {:?}", ladder.name, ladder.operation) })?;
    let (line, mut built) = bench.line(&subject)?;
    let profile = built.profile(0, at, &rung.label).map_err(|e| BenchError::lab(&rung.label, e))?;
    Ok(Climbed { rung: rung.clone(), line, profile, work: bench.work })
}

impl Measured {
    /// Rows for the record, all operations of every rung.
    pub fn rows(&self, stamp: &Stamp) -> Vec<Row> {
        self.all.iter().flat_map(|c| rows(&c.line, &c.work, &self.ladder.machine, stamp)).collect()
    }

    /// The table for people, and what was published.
    pub fn text(&self) -> String {
        let mut before: Option<u64> = None;
        let lines = self.all.iter().map(|c| {
            let cycles = c.profile.cycles;
            let gain = before.map_or_else(|| "-".into(), |b| format!("{:.2}", b as f64 / cycles.max(1) as f64));
            before = Some(cycles);
            let top: Vec<String> = c.profile.leaves.iter().take(TOP).map(|l| format!("{} {}", l.function, share(l.self_cycles, cycles))).collect();
            vec![c.rung.label.clone(), mega(cycles), gain, or_dash(c.line.fact.size_bytes), top.join(", ")]
        });
        let mut text = table(&["build", "Mcycles", "times less", "size", "functions with most cycles"], 1, lines.collect());
        text += &format!("{}, {}, on {}: each build has one thing more than the one before, and leaves the same results.\n", self.primitive, self.ladder.operation, self.ladder.machine);
        if !self.ladder.published.is_empty() {
            let lines = self.ladder.published.iter().map(|p| vec![p.label.clone(), format!("{:.2}", p.mcycles)]).collect();
            text += &format!("\n{}published: {}\n", table(&["step of another series", "Mcycles"], 1, lines), self.ladder.source);
        }
        text
    }
}
