//! What each optimisation brings: one pass switched off at a time, and all of them switched on one after the other in the order
//! of SPARKNaCl's published series. Every build passes the checks of its passes, and every program signs correctly.

use crate::compile::{Checks, DERIVE_WIDTH};
use crate::primitives::Tree;
use crate::published::SPARKNACL_SERIES;
use crate::sign::{measure, Setting, SignRun};
use crate::sign_table::{setting, NAME};
use crate::subject::{ours, variant};
use crate::text::{mega, table};
use crate::{parallel, BenchError};
use santoku_lab::harness::{Code, Level, Toolchain};
use santoku_lab::record::{Row, Stamp};
use std::collections::BTreeSet;

/// Passes that a build cannot go without or that change no code: a signature has no tables.
const NEUTRAL: [&str; 4] = ["dead-functions", "drop-asserts", "perms", "tables"];

/// A step of the series: what is switched on, and its counterpart there.
struct Step {
    label: &'static str,
    adds: &'static [&'static str],
    code: Code,
    /// Tag of the published step.
    tag: &'static str,
}

const fn step(label: &'static str, adds: &'static [&'static str], tag: &'static str) -> Step {
    Step { label, adds, code: Code::Compressed, tag }
}

/// In the published order. What has no counterpart there comes last.
const SERIES: [Step; 11] = [
    step("baseline: no pass, all in 64 bits", &[], "Baseline"),
    step("initialisation: dead-code", &["dead-code"], "Relax_Init"),
    step("loop redundancy: const-fold, copy-prop, cse", &["const-fold", "copy-prop", "cse"], "PRE_Scalarmult"),
    step("unrolled multiply: unroll", &["unroll"], "Unroll_Multiply"),
    step("slices: array-to-scalar", &["array-to-scalar"], "No_Slices"),
    Step { label: "uncompressed code", adds: &[], code: Code::Plain, tag: "RV32IM_Not_C" },
    Step { label: "copy-free results: copy-free", adds: &["copy-free"], code: Code::Plain, tag: "RSO" },
    step("narrow storage and multiply: derive-width; compressed", &[DERIVE_WIDTH], "RV32IMC_A4"),
    step("loop fusion: loop-fusion", &["loop-fusion"], "Loop_Fusion"),
    step("first row as initialiser: first-row-init", &["first-row-init"], "Unroll_First_Mul"),
    step("inlining: inline", &["inline"], ""),
];

/// One build and its figures.
#[derive(Clone, Debug)]
pub struct Trial {
    pub label: String,
    /// Published step it corresponds to, if any.
    pub tag: &'static str,
    pub checks: Checks,
    pub run: SignRun,
}

/// Both halves of an ablation.
#[derive(Clone, Debug)]
pub struct Ablation {
    pub level: Level,
    /// All passes, then without each.
    pub one_by_one: Vec<Trial>,
    pub series: Vec<Trial>,
}

/// What one trial switches off, and how it is compiled.
struct Plan {
    label: String,
    tag: &'static str,
    without: BTreeSet<String>,
    setting: Setting,
}

/// Builds and measures every trial.
///
/// # Errors
/// Those of the compiler and of [`measure`]; one failed check or wrong signature is a failure of the whole ablation.
pub fn run(tree: &Tree, target: &str, level: Level, tell: &(dyn Fn(&str) + Sync)) -> Result<Ablation, BenchError> {
    let toolchain = Toolchain::find().map_err(|e| BenchError::lab("RV32", e))?;
    let primitive = tree.primitive(NAME)?;
    let (single, series) = (one_by_one(level), series(level));
    let first = single.len();
    let plans: Vec<Plan> = single.into_iter().chain(series).collect();
    let trials = parallel::map(&plans, parallel::threads(), |plan| {
        tell(&plan.label);
        let mut subject = ours(tree, &primitive, target, level, &plan.without)?;
        subject.variant = format!("{}: {}", variant(target), plan.label);
        let run = measure(&toolchain, &subject, plan.setting)?;
        Ok::<Trial, BenchError>(Trial { label: plan.label.clone(), tag: plan.tag, checks: subject.checks, run })
    })?;
    let (one_by_one, series) = trials.split_at(first);
    Ok(Ablation { level, one_by_one: one_by_one.to_vec(), series: series.to_vec() })
}

/// Passes that run at the level and can be missed.
fn switches(level: Level) -> Vec<&'static str> {
    let passes = santoku_passes::TABLE.iter().filter(|p| p.runs_at(level));
    passes.map(|p| p.name).filter(|n| !NEUTRAL.contains(n)).collect()
}

fn one_by_one(level: Level) -> Vec<Plan> {
    let plan = |label: String, without: &[&str], setting: Setting| Plan {
        label,
        tag: "",
        without: without.iter().map(|n| n.to_string()).collect(),
        setting,
    };
    let mut plans = vec![plan("all passes".into(), &[], setting(level))];
    plans.extend(switches(level).into_iter().map(|name| plan(format!("without {name}"), &[name], setting(level))));
    plans.push(plan("uncompressed code".into(), &[], Setting { code: Code::Plain, ..setting(level) }));
    plans
}

fn series(level: Level) -> Vec<Plan> {
    let mut off: BTreeSet<String> = switches(level).into_iter().map(str::to_string).collect();
    let plan = |step: &Step| {
        off.retain(|name| !step.adds.contains(&name.as_str()));
        let setting = Setting { code: step.code, ..setting(level) };
        Plan { label: step.label.into(), tag: step.tag, without: off.clone(), setting }
    };
    SERIES.iter().map(plan).collect()
}

impl Ablation {
    /// Rows for the record, sign and open of every trial.
    pub fn rows(&self, stamp: &Stamp) -> Vec<Row> {
        let numbered = |(n, t): (usize, &Trial)| {
            let mut rows = t.run.rows(stamp);
            rows.iter_mut().for_each(|r| r.variant = format!("{} [series {n}]", r.variant));
            rows
        };
        let single = self.one_by_one.iter().flat_map(|t| t.run.rows(stamp));
        single.chain(self.series.iter().enumerate().flat_map(numbered)).collect()
    }

    /// Both tables for people.
    pub fn text(&self) -> String {
        let core = |t: &Trial| t.run.sign.measure.cycles_core;
        let full = self.one_by_one.first().map_or(1, core);
        let single = self.one_by_one.iter().map(|t| line(t, change(core(t), full), "-".into())).collect();
        let mut before = None;
        let series = self.series.iter().map(|t| {
            let step = before.map_or_else(|| "-".into(), |b| change(core(t), b));
            before = Some(core(t));
            line(t, step, published(t.tag, self.level))
        });
        let series = series.collect();
        let header = |what| ["trial", "sign core", what, "sign board", "open core", "WCSU sign", "size", "checked", "published"];
        format!(
            "{}\n{}Sign of 256 bytes at -{}, Mcycles. Every trial: passes checked on this build (functions shown equal + ranges proved again),\n\
             signature right. published: board Mcycles of the step of SPARKNaCl's series that does the like, quoted.\n",
            table(&header("to all"), 1, single),
            table(&header("to last"), 1, series),
            self.level.name(),
        )
    }
}

/// `+12.3 %` of `before`.
fn change(now: u64, before: u64) -> String {
    format!("{:+.1} %", (now as f64 / before as f64 - 1.0) * 100.0)
}

fn line(t: &Trial, change: String, published: String) -> Vec<String> {
    let put_back = if t.checks.put_back > 0 { format!(", {} kept as they were", t.checks.put_back) } else { String::new() };
    vec![
        t.label.clone(),
        mega(t.run.sign.measure.cycles_core),
        change,
        mega(t.run.sign.measure.cycles_board),
        mega(t.run.open.measure.cycles_core),
        t.run.sign.stack_bound.to_string(),
        t.run.size_bytes.to_string(),
        format!("{} + {}{put_back}", t.checks.equal, t.checks.ranges),
        published,
    ]
}

fn published(tag: &str, level: Level) -> String {
    let at = Level::ALL.iter().position(|l| *l == level).unwrap_or(0);
    let step = SPARKNACL_SERIES.iter().find(|s| s.tag == tag);
    match step.and_then(|s| s.board_mcycles[at]) {
        Some(mcycles) => format!("{tag} {mcycles:.2}"),
        None => "-".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_switches_every_pass_on_once_and_names_published_steps() {
        let added: Vec<&str> = SERIES.iter().flat_map(|s| s.adds).copied().collect();
        let all: BTreeSet<&str> = switches(Level::O2).into_iter().collect();
        assert_eq!(added.iter().copied().collect::<BTreeSet<_>>(), all);
        assert_eq!(added.len(), all.len());
        let plans = series(Level::O2);
        assert_eq!(plans[0].without.len(), all.len());
        assert!(plans.last().is_some_and(|p| p.without.is_empty()));
        for s in SERIES.iter().filter(|s| !s.tag.is_empty()) {
            assert!(SPARKNACL_SERIES.iter().any(|p| p.tag == s.tag), "{}", s.tag);
        }
    }

    #[test]
    fn changes_are_signed_percentages() {
        assert_eq!((change(50, 100).as_str(), change(110, 100).as_str()), ("-50.0 %", "+10.0 %"));
    }
}
