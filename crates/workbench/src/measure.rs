//! Figures of functions of anybody's programs: one side, or two that compute the same, on every machine that measures.

use crate::cipher::{self, Sliced};
use crate::operation::{Case, Expectation};
use crate::table::{builds, takes_turns};
use crate::user::{self, Asked, Prepared, Side, Wish};
use crate::interpreted::interpreted;
use crate::BenchError;
use santoku_driver::Checked;
use santoku_lab::bench::{self, Measures, StackAccesses, Subject};
use santoku_lab::host::HostRow;
use santoku_lab::harness::CallOutput;
use serde::Serialize;
use std::path::Path;

/// Among compilers: ours, which makes assembly of RISC-V.
pub const OWN: &str = "own back end";

/// Figures of one function, built one way.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    pub machine: String,
    pub target: String,
    /// Which of the sides.
    pub side: String,
    pub operation: String,
    pub compiler: String,
    pub level: String,
    #[serde(flatten)]
    pub measures: Measures,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles_per_byte: Option<f64>,
    /// Instructions per cycle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipc: Option<f64>,
    /// Of everything that this side's files hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// Instructions that touch the stack, of all in the object: an estimate of spills.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack_accesses: Option<StackAccesses>,
}

/// Figures of a function of one block in one layout on this machine.
#[derive(Clone, Debug, Serialize)]
pub struct LayoutFigure {
    pub side: String,
    /// Layout, registers, copies, compiler.
    pub variant: String,
    /// `core`: registers in, registers out; `blocks`: bytes in, bytes out.
    pub operation: String,
    pub cycles_per_byte: f64,
    /// Tenth and ninetieth percentile.
    pub spread: [f64; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipc: Option<f64>,
    /// Operations on registers, of all blocks that one copy computes: gates, where the layout is bitslice.
    pub operations: u64,
    /// Blocks that one copy computes.
    pub lanes: u32,
}

/// Everything that was measured.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    pub figures: Vec<Figure>,
    pub layouts: Vec<LayoutFigure>,
    /// Machines and layouts that have no figures, and why.
    pub left_out: Vec<(String, String)>,
    /// How figures of this machine came about.
    pub note: String,
}

/// Finds a program, by its path, for a target.
pub type Load<'l> = dyn Fn(&str, &str) -> Result<Checked, BenchError> + 'l;

/// Measures the sides. `layouts`: how many statements of one copy go before the next copy's, for functions that have layouts; none: they are not
/// tried.
///
/// # Errors
/// `Differ`: two sides compute different things; those of the first machine, if no machine has figures.
pub fn run(sides: &[Side], load: &Load<'_>, wish: &Wish, layouts: Option<usize>, tell: &(dyn Fn(&str) + Sync)) -> Result<Report, BenchError> {
    let mut report = Report::default();
    let mut first = None;
    for (machine, target) in user::machines(&wish.machines)? {
        tell(&machine);
        let before = report.figures.len();
        match on_machine(sides, load, wish, (&machine, &target), &mut report) {
            Ok(()) => {}
            // What one machine cannot build another one may; these are no better elsewhere.
            Err(e @ (BenchError::Internal { .. } | BenchError::WrongResult { .. } | BenchError::Unknown { .. } | BenchError::Differ { .. })) => return Err(e),
            Err(e) => {
                // A machine has figures of all sides or of none.
                report.figures.truncate(before);
                report.left_out.push((machine, reason(&e)));
                first = first.or(Some(e));
            }
        }
    }
    match first {
        Some(e) if report.figures.is_empty() => return Err(e),
        _ => {}
    }
    if let Some(granularity) = layouts.filter(|_| wish.machines.is_empty() || wish.machines.iter().any(|m| m == "host")) {
        for side in sides {
            in_layouts(side, load, wish, granularity, &mut report, tell)?;
        }
    }
    Ok(report)
}

/// An error in a line.
fn reason(e: &BenchError) -> String {
    let text = match e {
        BenchError::Source(s) => s.1.first().map_or_else(|| e.to_string(), |d| d.title.clone()),
        BenchError::Lab { reason, .. } => reason.clone(),
        other => other.to_string(),
    };
    text.lines().next().unwrap_or_default().to_string()
}

/// What a side is built of on a machine.
struct Plan {
    /// What compilers of C take.
    c: Subject,
    /// Our own back end's, each for a level; or why there is none.
    assembly: Result<Vec<Subject>, String>,
    /// Cases of the operations.
    prepared: Option<Prepared>,
}

fn plan(side: &Side, (load, target): (&Load<'_>, &str), (wish, before): (&Wish, Option<&Prepared>)) -> Result<Plan, BenchError> {
    let name = side.name();
    match (side, before) {
        (Side::Program { path, function, .. }, before) => {
            let checked = load(path, target)?;
            let mut prepared = user::prepare(&checked, function.as_deref(), wish)?;
            if let Some(first) = before {
                same_inputs(first, &mut prepared, name)?;
            }
            let c = user::subject(&prepared, name)?;
            let assembly = match user::in_assembly(checked, &prepared, &c, wish.levels.as_deref()) {
                Err(e @ BenchError::Internal { .. }) => return Err(e),
                other => other.map_err(|e| reason(&e)),
            };
            Ok(Plan { c, assembly, prepared: Some(prepared) })
        }
        (Side::C { path, function, .. }, Some(first)) => Ok(Plan { c: user::c_subject(first, name, path, function)?, assembly: Ok(vec![]), prepared: None }),
        (Side::C { .. }, None) => Err(BenchError::lab(name, "a C file has no interface of its own: name a program first")),
    }
}

/// Gives the second side the inputs of the first, argument by argument; its source must give the same results.
fn same_inputs(first: &Prepared, second: &mut Prepared, name: &str) -> Result<(), BenchError> {
    let differ = |why: &str| BenchError::Differ { what: name.to_string(), reason: why.to_string() };
    let types = second.exported.clone();
    let ([a], [b]) = (&first.asked[..], &mut second.asked[..]) else { return Err(differ("it or the other has several functions: name one of each, `FILE.stk::function`")) };
    let shape = |x: &Asked| x.function.arguments.iter().map(|a| (a.role, a.number, a.bytes.as_ref().map(|e| (e.of.is_some(), e.times, e.add)))).collect::<Vec<_>>();
    if shape(a) != shape(b) || a.function.returns != b.function.returns {
        return Err(differ("its arguments or results have other types"));
    }
    let rename = |n: &String| a.function.arguments.iter().position(|x| x.name == *n).map(|at| b.function.arguments[at].name.clone());
    let inputs = a.case.inputs.iter().filter_map(|(n, bytes)| Some((rename(n)?, bytes.clone()))).collect();
    let mut case = Case { id: b.case.id.clone(), function: b.case.function.clone(), inputs, results: Default::default(), returns: Expectation::Any };
    interpreted(&second.program, std::slice::from_ref(&b.function), &types, &mut case).map_err(|e| differ(&e.to_string()))?;
    let wanted: Vec<Option<&Vec<u8>>> = a.function.arguments.iter().map(|x| a.case.results.get(&x.name)).collect();
    let found: Vec<Option<&Vec<u8>>> = b.function.arguments.iter().map(|x| case.results.get(&x.name)).collect();
    if wanted != found || a.case.returns != case.returns {
        return Err(differ(&format!("on the same inputs it gives other results than `{}`", a.function.name)));
    }
    b.case = case;
    b.operation.name.clone_from(&a.operation.name);
    Ok(())
}

fn on_machine(sides: &[Side], load: &Load<'_>, wish: &Wish, (machine, target): (&str, &str), report: &mut Report) -> Result<(), BenchError> {
    let mut plans: Vec<Subject> = vec![];
    let mut own: Vec<Subject> = vec![];
    let mut first: Option<Prepared> = None;
    for side in sides {
        let plan = plan(side, (load, target), (wish, first.as_ref()))?;
        plans.push(plan.c);
        first = first.or(plan.prepared);
        match plan.assembly {
            Ok(all) => own.extend(all),
            Err(why) => report.left_out.push((format!("{machine}, {OWN}, {}", side.name()), why)),
        }
    }
    let Some(first) = first else { return Err(BenchError::lab(machine, "nothing to measure")) };
    let described = &first.target;
    let lab = |e: santoku_lab::LabError| BenchError::lab(machine, e);
    let measuring = bench::machine(described).map_err(lab)?;
    let mut subjects = vec![];
    for (compiler, level) in builds(described, wish.levels.as_deref()) {
        subjects.extend(plans.iter().map(|s| Subject { level, compiler: Some(compiler.clone()), ..s.clone() }));
    }
    if subjects.is_empty() {
        return Err(BenchError::lab(machine, "its compilers have none of these levels"));
    }
    subjects.extend(own);
    let operations: Vec<_> = first.asked.iter().map(|a| a.operation.clone()).collect();
    // One after the other where nothing is gained by turns: memory is freed between them.
    let batches: Vec<&[Subject]> = if takes_turns(described) { vec![&subjects[..]] } else { subjects.chunks(1).collect() };
    for batch in batches {
        let mut programs = measuring.build(batch, &operations).map_err(lab)?;
        let facts = programs.facts().to_vec();
        for (n, asked) in first.asked.iter().enumerate() {
            let outcomes = programs.run(n).map_err(lab)?;
            for ((subject, fact), outcome) in batch.iter().zip(&facts).zip(outcomes) {
                check(asked, subject, &outcome.left, described)?;
                let m = outcome.measures;
                report.figures.push(Figure {
                    machine: machine.into(),
                    target: target.into(),
                    side: subject.name.clone(),
                    operation: asked.operation.name.clone(),
                    compiler: if user::is_own(subject) { OWN.into() } else { fact.command.clone() },
                    level: subject.level.name().into(),
                    cycles_per_byte: (asked.operation.bytes > 0).then(|| m.cycles as f64 / asked.operation.bytes as f64),
                    ipc: m.ipc(),
                    size_bytes: fact.size_bytes,
                    stack_accesses: fact.stack_accesses,
                    measures: m,
                });
            }
        }
        if !programs.note().is_empty() {
            report.note = programs.note();
        }
    }
    Ok(())
}

/// What a program leaves is what the interpreter says. Ours otherwise: our fault; a C file: the user's.
fn check(asked: &Asked, subject: &Subject, left: &CallOutput, target: &santoku_driver::Target) -> Result<(), BenchError> {
    let Some(reason) = asked.case.wrong(std::slice::from_ref(&asked.function), left, target.byte_order) else { return Ok(()) };
    match subject.sources.first() {
        Some(santoku_lab::harness::Source::File(_)) => Err(BenchError::Differ { what: subject.name.clone(), reason }),
        _ => Err(BenchError::WrongResult { program: format!("{} at -{}", subject.name, subject.level.name()), reason }),
    }
}

/// Layouts of a function of one block.
fn in_layouts(side: &Side, load: &Load<'_>, wish: &Wish, granularity: usize, report: &mut Report, tell: &(dyn Fn(&str) + Sync)) -> Result<(), BenchError> {
    let Side::Program { path, function: Some(function), .. } = side else { return Ok(()) };
    let checked = load(path, cipher::TARGET)?;
    let prepared = user::prepare(&checked, Some(function), wish)?;
    let [asked] = &prepared.asked[..] else { return Ok(()) };
    let f = prepared.program.funcs.iter().find(|f| f.export.as_deref() == Some(&asked.function.name));
    let Some((f, block)) = f.and_then(|f| Some((f, cipher::block_bytes(&prepared.program, f)?))) else {
        report.left_out.push((format!("layouts of {}", side.name()), "it is no function of one block".into()));
        return Ok(());
    };
    let shared = f.params.iter().skip(1).map(|id| f.local(*id).name.clone());
    let shared = shared.map(|name| (name.clone(), asked.case.inputs.get(&name).cloned().unwrap_or_default())).collect();
    let sliced = Sliced {
        name: asked.operation.name.clone(),
        program: &prepared.program,
        function: asked.function.name.clone(),
        shared,
        message_bytes: cipher::BATCH * block,
        bitslice: vec![1],
    };
    let cipher::Slices { run, kernels, left_out } = match cipher::slice(&cipher::host_compilers()?, &sliced, granularity, (&[], true), tell) {
        Ok(made) => made,
        Err(BenchError::Lab { what, reason }) => {
            report.left_out.push((format!("layouts of {what}"), reason));
            return Ok(());
        }
        Err(e) => return Err(e),
    };
    report.left_out.extend(left_out.into_iter().map(|(variant, why)| (format!("{}, {variant}", side.name()), why)));
    for row in &run.rows {
        let kernel = kernels.iter().find(|(name, _)| row.implementation.starts_with(name.as_str()));
        report.layouts.push(layout_figure(side.name(), row, run.message_len, kernel.map_or((0, 0), |(_, k)| *k)));
    }
    Ok(())
}

fn layout_figure(side: &str, row: &HostRow, message: usize, (operations, lanes): (u64, u32)) -> LayoutFigure {
    let per = |x: f64| x / message.max(1) as f64;
    LayoutFigure {
        side: side.into(),
        variant: row.implementation.clone(),
        operation: row.op.clone(),
        cycles_per_byte: per(row.cycles_core.median),
        spread: [per(row.cycles_core.p10), per(row.cycles_core.p90)],
        ipc: row.instructions.map(|n| n as f64 / row.cycles_core.median.max(1.0)),
        operations,
        lanes,
    }
}

/// Whether a path names a C file, or assembly, which C compilers take as well.
pub fn is_c(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "c" || e == "s" || e == "S")
}
