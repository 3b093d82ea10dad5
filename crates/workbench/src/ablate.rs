//! What each optimisation brings: one pass or decision of the C printer switched off at a time, and all of them switched on one after the other in the order of the series
//! that the row names. Every build passes the checks of its passes, and every program computes what it should.

use crate::compile::{Checks, DERIVE_WIDTH};
use crate::primitives::{Primitive, Tree};
use crate::row::Step;
use crate::subject::{ours, variant};
use crate::table::{find, rows, takes_turns, Bench, Line};
use crate::text::{mega, or_dash, table};
use crate::workload::Work;
use crate::{parallel, BenchError};
use santoku_lab::bench::Subject;
use santoku_lab::harness::Code;
use santoku_lab::record::{Row, Stamp};
use santoku_passes::Level;
use santoku_target::Executor;
use std::collections::BTreeSet;

/// Passes that a build cannot go without or that change no code of a program without tables.
const NEUTRAL: [&str; 4] = ["dead-functions", "drop-asserts", "perms", "tables"];

/// One build and its figures.
#[derive(Clone, Debug)]
pub struct Trial {
    pub label: String,
    /// Published step it corresponds to, and its board Mcycles at this level.
    pub published: Option<(String, Option<f64>)>,
    pub checks: Checks,
    pub line: Line,
}

/// Both halves of an ablation.
#[derive(Clone, Debug)]
pub struct Ablation {
    pub level: Level,
    pub machine: String,
    pub work: Work,
    /// All passes, then without each, then without each decision of the C printer.
    pub one_by_one: Vec<Trial>,
    /// Empty for a primitive whose row has no series.
    pub series: Vec<Trial>,
    /// Trials that have no C, and why.
    pub left_out: Vec<(String, String)>,
}

/// What one trial switches off, and how it is compiled.
struct Plan {
    label: String,
    published: Option<(String, Option<f64>)>,
    without: BTreeSet<String>,
    code: Code,
}

/// Builds and measures every trial.
///
/// # Errors
/// Those of the compiler and of the lab; one failed check or wrong result is a failure of the whole ablation. `Unknown`: the primitive is not
/// measured on the machine that the target describes, or that machine is shared: differences of some per cent would be noise. `Declaration`: the series names a pass that there is not.
pub fn run(tree: &Tree, name: &str, target: &str, level: Level, tell: &(dyn Fn(&str) + Sync)) -> Result<Ablation, BenchError> {
    let described = tree.target(target)?;
    let machine = described.run.as_ref().map(|r| r.machine.clone()).unwrap_or_default();
    let (primitive, _) = find(tree, name, Some(&machine), "ablation")?;
    if takes_turns(&described) {
        let exact = |p: Primitive| p.tables.iter().filter(|t| t.machine != machine).map(|t| format!("{} on {}", p.name, t.machine)).collect::<Vec<_>>();
        let known = tree.primitives()?.into_iter().flat_map(exact).collect();
        return Err(BenchError::Unknown { what: "ablation", name: format!("{name} on {machine}, whose figures vary"), known });
    }
    let compresses = described.run.as_ref().is_some_and(|r| r.on == Executor::E31);
    let (single, series) = (one_by_one(level, compresses), series(&primitive, level)?);
    let first = single.len();
    let plans: Vec<Plan> = single.into_iter().chain(series).collect();
    let full = ours(tree, &primitive, target, level, &BTreeSet::new())?;
    let bench = Bench::new(tree, &primitive, described, full)?;
    let trials = parallel::map(&plans, parallel::threads(), |plan| {
        tell(&plan.label);
        match trial(tree, target, (level, plan), &bench) {
            Ok(trial) => Ok((Some(trial), None)),
            // Widened products may be wider than anything that C has.
            Err(BenchError::Internal { reason, .. }) if plan.without.contains(DERIVE_WIDTH) => Ok((None, Some((plan.label.clone(), reason)))),
            Err(e) => Err(e),
        }
    })?;
    let (mut made, left_out): (Vec<Option<Trial>>, Vec<_>) = trials.into_iter().unzip();
    let series = made.split_off(first).into_iter().flatten().collect();
    let one_by_one = made.into_iter().flatten().collect();
    Ok(Ablation { level, machine, work: bench.work, one_by_one, series, left_out: left_out.into_iter().flatten().collect() })
}

fn trial(tree: &Tree, target: &str, (level, plan): (Level, &Plan), bench: &Bench) -> Result<Trial, BenchError> {
    let made = ours(tree, &bench.primitive, target, level, &plan.without)?;
    let subject = bench.subject(tree, &format!("{}: {}", variant(target), plan.label), made.text)?;
    let (line, _) = bench.line(&Subject { level, code: plan.code, ..subject })?;
    Ok(Trial { label: plan.label.clone(), published: plan.published.clone(), checks: made.checks, line })
}

/// Passes that run at the level and can be missed.
fn switches(level: Level) -> Vec<&'static str> {
    let passes = santoku_passes::TABLE.iter().filter(|p| p.runs_at(level));
    passes.map(|p| p.name).filter(|n| !NEUTRAL.contains(n)).collect()
}

/// `compresses`: the machine has instructions of two lengths, and programs without the short ones.
fn one_by_one(level: Level, compresses: bool) -> Vec<Plan> {
    let plan = |label: String, without: &[&str], code: Code| Plan {
        label,
        published: None,
        without: without.iter().map(|n| n.to_string()).collect(),
        code,
    };
    let mut plans = vec![plan("all passes".into(), &[], Code::Compressed)];
    let decisions = santoku_backend_c::DECISIONS.iter().map(|d| d.name);
    plans.extend(switches(level).into_iter().chain(decisions).map(|name| plan(format!("without {name}"), &[name], Code::Compressed)));
    plans.extend(compresses.then(|| plan("uncompressed code".into(), &[], Code::Plain)));
    plans
}

fn series(primitive: &Primitive, level: Level) -> Result<Vec<Plan>, BenchError> {
    let mut off: BTreeSet<String> = switches(level).into_iter().map(str::to_string).collect();
    let mut plans = vec![];
    for step in &primitive.series {
        if let Some(name) = step.adds.iter().find(|a| santoku_passes::TABLE.iter().all(|p| p.name != **a)) {
            return Err(BenchError::Declaration { path: "lib/primitives.toml".into(), reason: format!("{}: there is no pass {name:?}", primitive.name) });
        }
        off.retain(|name| !step.adds.contains(name));
        plans.push(plan(step, level, off.clone()));
    }
    Ok(plans)
}

fn plan(step: &Step, level: Level, without: BTreeSet<String>) -> Plan {
    let code = if step.plain_code { Code::Plain } else { Code::Compressed };
    let published = step.published.as_ref().map(|p| (p.tag.clone(), p.board_mcycles.get(&level).copied()));
    Plan { label: step.label.clone(), published, without, code }
}

impl Ablation {
    /// Rows for the record, all operations of every trial.
    pub fn rows(&self, stamp: &Stamp) -> Vec<Row> {
        let of = |t: &Trial| rows(&t.line, &self.work, &self.machine, stamp);
        let numbered = |(n, t): (usize, &Trial)| {
            let mut rows = of(t);
            rows.iter_mut().for_each(|r| r.variant = format!("{} [series {n}]", r.variant));
            rows
        };
        self.one_by_one.iter().flat_map(of).chain(self.series.iter().enumerate().flat_map(numbered)).collect()
    }

    /// Both tables for people.
    pub fn text(&self) -> String {
        let core = |t: &Trial| t.line.measures[0].cycles;
        let full = self.one_by_one.first().map_or(1, core);
        let single = self.one_by_one.iter().map(|t| self.line(t, change(core(t), full))).collect();
        let mut before = None;
        let series: Vec<Vec<String>> = self
            .series
            .iter()
            .map(|t| {
                let step = before.map_or_else(|| "-".into(), |b| change(core(t), b));
                before = Some(core(t));
                self.line(t, step)
            })
            .collect();
        let operations: Vec<&str> = self.work.operations.iter().map(|o| o.name.as_str()).collect();
        let first = operations.first().copied().unwrap_or_default();
        let header = |what: &str| -> Vec<String> {
            let mut all = vec!["trial".to_string(), format!("{first} core"), what.to_string(), format!("{first} board")];
            all.extend(operations.iter().skip(1).map(|o| format!("{o} core")));
            all.extend([format!("stack {first}"), "size".into(), "checked".into(), "published".into()]);
            all
        };
        let print = |what: &str, rows: Vec<Vec<String>>| table(&header(what).iter().map(String::as_str).collect::<Vec<_>>(), 1, rows);
        let mut text = print("to all", single);
        if !series.is_empty() {
            text += &format!("\n{}", print("to last", series));
        }
        for (label, why) in &self.left_out {
            text += &format!("left out: {label}: {why}\n");
        }
        text + &format!(
            "{} at -{}, Mcycles. Every trial: passes checked on this build (functions shown equal + ranges proved again), results right.\n\
             published: board Mcycles of the step of a published series that does the like, quoted.\n",
            self.work.programs.join(", "),
            self.level.name(),
        )
    }

    fn line(&self, t: &Trial, change: String) -> Vec<String> {
        let put_back = if t.checks.put_back > 0 { format!(", {} kept as they were", t.checks.put_back) } else { String::new() };
        let m = &t.line.measures;
        let mut cells = vec![t.label.clone(), mega(m[0].cycles), change, or_dash(m[0].cycles_board.map(mega))];
        cells.extend(m.iter().skip(1).map(|m| mega(m.cycles)));
        let published = t.published.as_ref().and_then(|(tag, mcycles)| mcycles.map(|m| format!("{tag} {m:.2}")));
        cells.extend([
            or_dash(m[0].stack_bound_bytes.or(m[0].stack_bytes)),
            or_dash(t.line.fact.size_bytes),
            format!("{} + {}{put_back}", t.checks.equal, t.checks.ranges),
            or_dash(published),
        ]);
        cells
    }
}

/// `+12.3 %` of `before`.
pub(crate) fn change(now: u64, before: u64) -> String {
    format!("{:+.1} %", (now as f64 / before as f64 - 1.0) * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_of_the_library_switches_every_pass_on_once() {
        let tree = Tree::find(std::path::Path::new(env!("CARGO_MANIFEST_DIR"))).expect("inside the repository");
        let with_series: Vec<Primitive> = tree.primitives().expect("described").into_iter().filter(|p| !p.series.is_empty()).collect();
        assert!(!with_series.is_empty());
        for p in &with_series {
            let added: Vec<&str> = p.series.iter().flat_map(|s| &s.adds).map(String::as_str).collect();
            let all: BTreeSet<&str> = switches(Level::O2).into_iter().collect();
            assert_eq!(added.iter().copied().collect::<BTreeSet<_>>(), all);
            assert_eq!(added.len(), all.len());
            let plans = series(p, Level::O2).expect("known passes");
            assert_eq!(plans[0].without.len(), all.len());
            assert!(plans.last().is_some_and(|p| p.without.is_empty()));
        }
        let unknown = Step { label: "x".into(), adds: vec!["no-pass".into()], plain_code: false, published: None };
        assert!(series(&Primitive { series: vec![unknown], ..with_series[0].clone() }, Level::O2).is_err());
    }

    #[test]
    fn changes_are_signed_percentages() {
        assert_eq!((change(50, 100).as_str(), change(110, 100).as_str()), ("-50.0 %", "+10.0 %"));
    }
}
