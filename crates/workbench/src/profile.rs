//! Where the cycles of a primitive go: functions, and a flame graph.

use crate::primitives::Tree;
use crate::subject::{ours, variant};
use crate::table::{find, Bench};
use crate::text::{share, table};
use crate::BenchError;
use santoku_lab::bench::{Profile, Subject};
use santoku_passes::Level;
use std::collections::BTreeSet;

/// What to look at.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// Machine; none: the first that the primitive is measured on.
    pub machine: Option<String>,
    /// Our target; none: the first of the table.
    pub target: Option<String>,
    /// Operation; none: the first.
    pub operation: Option<String>,
    pub level: Option<Level>,
}

/// Profiles one operation of our build of a primitive, by the machine's first compiler.
///
/// # Errors
/// `Unknown`: no such primitive, machine or operation; `Lab`: the machine does not tell functions apart; `WrongResult`.
pub fn run(tree: &Tree, name: &str, wish: &Wish) -> Result<Profile, BenchError> {
    let (primitive, row) = find(tree, name, wish.machine.as_deref(), "profile")?;
    let chosen = wish.target.as_ref().unwrap_or(&row.targets[0]);
    let target = tree.target(chosen)?;
    if target.run.as_ref().is_none_or(|r| r.machine != row.machine) {
        return Err(BenchError::Unknown { what: "target of this machine", name: chosen.clone(), known: row.targets.clone() });
    }
    let level = wish.level.unwrap_or(crate::dist::LEVEL);
    let made = ours(tree, &primitive, chosen, if row.passes_at_level { level } else { crate::dist::LEVEL }, &BTreeSet::new())?;
    let bench = Bench::new(tree, &primitive, target, made)?;
    let names = || bench.work.operations.iter().map(|o| o.name.clone()).collect::<Vec<_>>();
    let at = match &wish.operation {
        None => 0,
        Some(name) => names().iter().position(|n| n == name).ok_or_else(|| BenchError::Unknown { what: "operation", name: name.clone(), known: names() })?,
    };
    let subject = Subject { level, ..bench.subject(tree, &variant(chosen), bench.first.text.clone())? };
    let (line, mut built) = bench.line(&subject)?;
    let title = format!("{}, {}, {}, {} -{}", bench.work.programs[at], subject.name, row.machine, line.fact.command, level.name());
    built.profile(0, at, &title).map_err(|e| BenchError::lab(name, e))
}

/// Functions that took at least a thousandth of the run.
pub fn text(profile: &Profile) -> String {
    let total = profile.cycles.max(1);
    let line = |l: &santoku_lab::profile::Leaf| {
        vec![l.function.clone(), l.calls.to_string(), l.self_cycles.to_string(), share(l.self_cycles, total), l.inclusive_cycles.to_string()]
    };
    let shown = profile.leaves.iter().filter(|l| l.self_cycles * 1000 >= total).map(line).collect();
    format!("{}{} cycles\n", table(&["function", "calls", "self", "share", "with callees"], 1, shown), profile.cycles)
}
