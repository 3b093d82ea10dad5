//! Tables of figures: our builds of a primitive and its rivals on one machine, at every level, with what others published.

use crate::assembly::assembly;
use crate::cipher::runs_here;
use crate::operation::Case;
use crate::primitives::{Primitive, Tree};
use crate::row::TableRow;
use crate::subject::{of_assembly, of_text, ours, rival, variant, Ours};
use crate::workload::{work, Work};
use crate::{parallel, BenchError};
use santoku_driver::Target;
use santoku_lab::bench::{self, Built, Fact, Machine, Measures, Subject};
use santoku_lab::harness::Call;
use santoku_lab::record::{Row, Stamp};
use santoku_passes::Level;
use std::collections::{BTreeMap, BTreeSet};

/// One implementation at one level.
#[derive(Clone, Debug)]
pub struct Line {
    pub name: String,
    pub level: Level,
    pub fact: Fact,
    /// One an operation.
    pub measures: Vec<Measures>,
    /// Cycles over all vectors of one operation.
    pub vectors: Option<Vectors>,
}

/// Figures over the vectors of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vectors {
    pub ran: usize,
    pub accepted: usize,
    /// Least, mean and most cycles of the accepted ones.
    pub spread: [u64; 3],
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    pub primitive: Primitive,
    pub row: TableRow,
    pub work: Work,
    pub lines: Vec<Line>,
    /// How the figures came about.
    pub note: String,
    /// The whole run of a machine that keeps more than a record has.
    pub raw: Option<String>,
}

/// What to measure.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// Machine; none: the primitive's first.
    pub machine: Option<String>,
    /// Levels; none: those of the description.
    pub levels: Option<Vec<Level>>,
}

/// A build of the table before it is one.
struct Plan {
    subject: Subject,
    /// Not a rival's.
    ours: bool,
}

/// The table of a primitive that a machine has; `what` is wanted of it: `table`, `profile`, `ablation`.
///
/// # Errors
/// `Unknown`: no primitive, no table on that machine.
pub fn find(tree: &Tree, name: &str, machine: Option<&str>, what: &'static str) -> Result<(Primitive, TableRow), BenchError> {
    let all = tree.primitives()?;
    let found = all.iter().find(|p| p.name == name).and_then(|p| Some((p.clone(), p.table(machine)?.clone())));
    found.ok_or_else(|| {
        let on = |p: &Primitive| format!("{} ({})", p.name, p.tables.iter().map(|t| t.machine.as_str()).collect::<Vec<_>>().join(", "));
        let ciphers = tree.ciphers().unwrap_or_default().into_iter().filter(|_| what == "table").map(|c| format!("{} (host)", c.name));
        let known = all.iter().filter(|p| !p.tables.is_empty()).map(on).chain(ciphers).collect();
        let name = machine.map_or_else(|| name.to_string(), |m| format!("{name} on {m}"));
        BenchError::Unknown { what, name, known }
    })
}

/// Our C for a target, once for each level of our passes.
struct Library<'t> {
    tree: &'t Tree,
    primitive: &'t Primitive,
    made: BTreeMap<(String, Level), Ours>,
}

impl<'t> Library<'t> {
    pub fn new(tree: &'t Tree, primitive: &'t Primitive) -> Library<'t> {
        Library { tree, primitive, made: BTreeMap::new() }
    }

    pub fn get(&mut self, target: &str, level: Level) -> Result<&Ours, BenchError> {
        let key = (target.to_string(), level);
        if !self.made.contains_key(&key) {
            let made = ours(self.tree, self.primitive, target, level, &BTreeSet::new())?;
            self.made.insert(key.clone(), made);
        }
        Ok(&self.made[&key])
    }
}

/// Measures every program. `tell` hears what begins; it is called from several threads.
///
/// # Errors
/// Those of [`find`], of the compiler and of the lab; `WrongResult`: one computes something else. Nothing is reported then.
pub fn run(tree: &Tree, name: &str, wish: &Wish, tell: &(dyn Fn(&str) + Sync)) -> Result<Table, BenchError> {
    let (primitive, row) = find(tree, name, wish.machine.as_deref(), "table")?;
    let target = described(tree, &row)?;
    let mut library = Library::new(tree, &primitive);
    tell("compiling");
    let first = library.get(&row.targets[0], crate::dist::LEVEL)?.clone();
    let bench = Bench::new(tree, &primitive, target, first)?;
    let plans = plans(&mut library, &row, wish, &bench)?;
    let (lines, note, raw) = if takes_turns(&bench.target) {
        tell("building and timing");
        let subjects: Vec<Subject> = plans.into_iter().map(|p| p.subject).collect();
        let mut built = bench.build(&subjects)?;
        (bench.lines(&subjects, built.as_mut())?, built.note(), built.raw())
    } else {
        let lines = parallel::map(&plans, parallel::threads(), |plan| {
            tell(&format!("{} -{}", plan.subject.name, plan.subject.level.name()));
            let (mut line, mut built) = bench.line(&plan.subject)?;
            if let Some(operation) = row.vectors.as_ref().filter(|_| plan.ours) {
                line.vectors = Some(bench.vectors(operation, built.as_mut(), &|_| true)?);
            }
            Ok::<Line, BenchError>(line)
        })?;
        (lines, String::new(), None)
    };
    Ok(Table { work: bench.work, primitive, row, lines, note, raw })
}

/// The description of a table's machine: that of its first target.
pub(crate) fn described(tree: &Tree, row: &TableRow) -> Result<Target, BenchError> {
    let mut first = None;
    for name in &row.targets {
        let target = tree.target(name)?;
        if target.run.as_ref().is_none_or(|r| r.machine != row.machine) {
            let reason = format!("programs for {name} do not run on {:?}", row.machine);
            return Err(BenchError::Declaration { path: "lib/primitives.toml".into(), reason });
        }
        first = first.or(Some(target));
    }
    first.ok_or_else(|| BenchError::Declaration { path: "lib/primitives.toml".into(), reason: format!("the table of {:?} has no target", row.machine) })
}

/// Whether the machine is shared, so that implementations take turns.
pub(crate) fn takes_turns(target: &Target) -> bool {
    target.run.as_ref().is_some_and(|r| r.on == santoku_target::Executor::Native)
}

/// Compilers of a target and their levels; of these the ones that are wished for, if any are named.
pub(crate) fn builds(target: &Target, levels: Option<&[Level]>) -> Vec<(String, Level)> {
    let wanted = |level: &Level| levels.is_none_or(|all| all.contains(level));
    target.compilers.iter().flat_map(|c| c.levels.iter().filter(|l| wanted(l)).map(|l| (c.name.clone(), *l))).collect()
}

fn plans(library: &mut Library<'_>, row: &TableRow, wish: &Wish, bench: &Bench) -> Result<Vec<Plan>, BenchError> {
    let (tree, primitive, target) = (library.tree, library.primitive, &bench.target);
    let builds = builds(target, wish.levels.as_deref());
    if builds.is_empty() {
        let known = target.compilers.iter().flat_map(|c| c.levels.iter().map(|l| l.name().to_string())).collect::<BTreeSet<_>>().into_iter().collect();
        let name = wish.levels.iter().flatten().map(|l| l.name()).collect::<Vec<_>>().join(",");
        return Err(BenchError::Unknown { what: "level on this machine", name, known });
    }
    let several = target.compilers.iter().filter(|c| !c.levels.is_empty()).count() > 1;
    let mut all = vec![];
    let mut rivals = vec![];
    let calls = bench.calls()?;
    for peer in primitive.rivals_on(&row.machine) {
        rivals.push(rival(tree, primitive, peer, &calls)?);
    }
    let mut done = BTreeSet::new();
    for (compiler, level) in &builds {
        for name in &row.targets {
            let passes = if row.passes_at_level { *level } else { crate::dist::LEVEL };
            let made = library.get(name, passes)?.clone();
            let who = if several { format!("{} {compiler}", variant(name)) } else { variant(name) };
            // What clearing costs, at the level that files are shipped at.
            let kept = (*level == crate::dist::LEVEL && made.text.contains("STK_CLEAR(")).then(|| (format!("{who}, secrets kept"), format!("#define STK_KEEP_SECRETS\n{}", made.text)));
            let lanes = if *level == crate::dist::LEVEL { in_lanes(target, &who, &made.text) } else { vec![] };
            for (name, text, flags) in std::iter::once((who, made.text, vec![])).chain(kept.map(|(name, text)| (name, text, vec![]))).chain(lanes) {
                let subject = bench.subject(tree, &name, text)?;
                all.push(Plan { subject: Subject { level: *level, compiler: Some(compiler.clone()), flags, ..subject }, ours: true });
            }
        }
        if row.passes_at_level && done.insert(*level) {
            all.extend(rivals.iter().map(|r| Plan { subject: Subject { level: *level, compiler: Some(compiler.clone()), ..r.clone() }, ours: false }));
        }
    }
    all.extend(assemblies(tree, primitive, row, bench)?);
    if !row.passes_at_level {
        all.extend(rivals.into_iter().map(|subject| Plan { subject, ours: false }));
    }
    Ok(all)
}

/// How the name of ours ends where it uses no registers of vectors.
pub(crate) const NO_VECTORS: &str = "no vectors";

/// Name, text and flags of a text with kernels for registers of vectors: without them, and with the widest that this machine has.
pub(crate) fn in_lanes(target: &Target, who: &str, text: &str) -> Vec<(String, String, Vec<String>)> {
    if !takes_turns(target) || !text.contains("STK_LANES == ") {
        return vec![];
    }
    let widest = target.vectors.iter().rev().find(|unit| unit.lanes && unit.guard().is_some() && runs_here(unit));
    let without = (format!("{who}, {NO_VECTORS}"), format!("#define STK_NO_VECTORS\n{text}"), vec![]);
    std::iter::once(without).chain(widest.map(|unit| (format!("{who}, {}", unit.name), text.to_string(), unit.flags.clone()))).collect()
}

/// Our own assembly for the machine. Where C is written by hand around the program, it is not what the calls are made of.
fn assemblies(tree: &Tree, primitive: &Primitive, row: &TableRow, bench: &Bench) -> Result<Vec<Plan>, BenchError> {
    let mut all = vec![];
    for declared in primitive.assemblies.iter().filter(|_| !primitive.has_interface()) {
        let target = tree.target(&declared.target)?;
        if target.run.as_ref().is_some_and(|r| r.machine == row.machine) {
            let (name, text) = (format!("{} assembly", variant(&declared.target)), assembly(tree, primitive, declared)?.text);
            let subject = of_assembly(tree, primitive, &name, text, bench.calls()?);
            all.push(Plan { subject: Subject { level: declared.level, ..subject }, ours: true });
        }
    }
    Ok(all)
}

/// A primitive on a machine, and what programs of it must compute there.
pub struct Bench {
    pub primitive: Primitive,
    pub target: Target,
    pub work: Work,
    /// Our build whose functions all programs have.
    pub first: Ours,
    machine: Box<dyn Machine>,
}

impl Bench {
    /// `first`: a build of ours for the target, or for another of the same machine.
    ///
    /// # Errors
    /// Those of [`work`]; `Lab`: the target's machine does not measure.
    pub fn new(tree: &Tree, primitive: &Primitive, target: Target, first: Ours) -> Result<Bench, BenchError> {
        let work = work(tree, primitive, &first.functions, &first.exported, &target)?;
        Bench::with(primitive, target, first, work)
    }

    /// With calls that are known already.
    ///
    /// # Errors
    /// `Lab`: the target's machine does not measure.
    pub(crate) fn with(primitive: &Primitive, target: Target, first: Ours, work: Work) -> Result<Bench, BenchError> {
        let machine = bench::machine(&target).map_err(|e| BenchError::lab(&target.name, e))?;
        Ok(Bench { primitive: primitive.clone(), target, work, first, machine })
    }

    /// C of ours as the lab builds it.
    ///
    /// # Errors
    /// `Declaration`: a workload does not fit its function.
    pub fn subject(&self, tree: &Tree, name: &str, text: String) -> Result<Subject, BenchError> {
        Ok(of_text(tree, &self.primitive, name, text, self.calls()?))
    }

    /// The calls of the workloads.
    ///
    /// # Errors
    /// `Declaration`: a workload does not fit its function.
    pub fn calls(&self) -> Result<Vec<Call>, BenchError> {
        self.work.cases.iter().map(|c| c.call(&self.first.functions, self.target.byte_order)).collect()
    }

    /// # Errors
    /// `Lab`: something does not build.
    pub fn build(&self, subjects: &[Subject]) -> Result<Box<dyn Built>, BenchError> {
        let what = subjects.first().map_or("", |s| s.name.as_str());
        self.machine.build(subjects, &self.work.operations).map_err(|e| BenchError::lab(what, e))
    }

    /// Runs all operations of all implementations and checks what they leave.
    ///
    /// # Errors
    /// `WrongResult`: no figure is given then; `Lab`: a program does not end well.
    pub fn lines(&self, subjects: &[Subject], built: &mut dyn Built) -> Result<Vec<Line>, BenchError> {
        let facts = built.facts().to_vec();
        let line = |(s, fact): (&Subject, Fact)| Line { name: s.name.clone(), level: s.level, fact, measures: vec![], vectors: None };
        let mut lines: Vec<Line> = subjects.iter().zip(facts).map(line).collect();
        for (n, case) in self.work.cases.iter().enumerate() {
            let outcomes = built.run(n).map_err(|e| BenchError::lab(&case.id, e))?;
            for (line, outcome) in lines.iter_mut().zip(outcomes) {
                if let Some(reason) = case.wrong(&self.first.functions, &outcome.left, self.target.byte_order) {
                    return Err(BenchError::WrongResult { program: format!("{} at -{}", line.name, line.level.name()), reason });
                }
                line.measures.push(outcome.measures);
            }
        }
        Ok(lines)
    }

    /// One implementation, built and measured.
    ///
    /// # Errors
    /// Those of [`Bench::build`] and [`Bench::lines`].
    pub fn line(&self, subject: &Subject) -> Result<(Line, Box<dyn Built>), BenchError> {
        let one = std::slice::from_ref(subject);
        let mut built = self.build(one)?;
        let line = self.lines(one, built.as_mut())?.remove(0);
        Ok((line, built))
    }

    /// Runs the vectors of an operation's function that `take` does not leave out.
    ///
    /// # Errors
    /// `WrongResult`: a vector fails, or none is accepted.
    pub fn vectors(&self, operation: &str, built: &mut dyn Built, take: &dyn Fn(usize) -> bool) -> Result<Vectors, BenchError> {
        let at = self.work.operations.iter().position(|o| o.name == operation).unwrap_or(0);
        let function = &self.work.cases[at].function;
        let names: Vec<&str> = self.first.functions.iter().filter(|f| f.name == *function).flat_map(|f| f.arguments.iter().map(|a| a.name.as_str())).collect();
        let accepts = |returned| self.first.functions.iter().find(|f| f.name == *function).is_some_and(|f| f.returns.accepts(returned));
        let (mut ran, mut cycles) = (0, vec![]);
        let all = santoku_vectors::named::of(&self.primitive.name).unwrap_or_default();
        for (_, v) in all.iter().filter(|v| v.function == *function).enumerate().filter(|(n, _)| take(*n)) {
            let case = Case::of(&self.first.functions, v)?;
            let inputs: Vec<(usize, Vec<u8>)> = case.inputs.iter().filter_map(|(n, b)| Some((names.iter().position(|x| x == n)?, b.clone()))).collect();
            let outcome = built.run_on(0, at, &inputs).map_err(|e| BenchError::lab(&case.id, e))?;
            if let Some(reason) = case.wrong(&self.first.functions, &outcome.left, self.target.byte_order) {
                return Err(BenchError::WrongResult { program: function.clone(), reason });
            }
            ran += 1;
            if accepts(outcome.left.ret) {
                cycles.push(outcome.measures.cycles);
            }
        }
        let (Some(least), Some(most)) = (cycles.iter().min(), cycles.iter().max()) else {
            return Err(BenchError::WrongResult { program: self.primitive.name.clone(), reason: "no vector is accepted".into() });
        };
        let spread = [*least, cycles.iter().sum::<u64>() / cycles.len() as u64, *most];
        Ok(Vectors { ran, accepted: cycles.len(), spread })
    }
}

impl Table {
    /// Rows for the record.
    pub fn rows(&self, stamp: &Stamp) -> Vec<Row> {
        self.lines.iter().flat_map(|line| rows(line, &self.work, &self.row.machine, stamp)).collect()
    }
}

/// The rows of one implementation, one an operation.
pub(crate) fn rows(line: &Line, work: &Work, machine: &str, stamp: &Stamp) -> Vec<Row> {
    let row = |(program, m): (&String, &Measures)| Row {
        program: program.clone(),
        variant: line.name.clone(),
        machine: machine.into(),
        level: line.level.name().into(),
        cycles_core: m.cycles,
        cycles_board: m.cycles_board,
        instret: m.instret,
        icache_misses: m.icache_misses,
        flash_words: m.flash_words,
        stack_bytes: m.stack_bytes,
        stack_bound_bytes: m.stack_bound_bytes,
        size_bytes: line.fact.size_bytes,
        trace_hash: m.trace_hash.map(|h| format!("{h:016x}")),
        compiler: line.fact.compiler.clone(),
        flags: line.fact.flags.join(" "),
        date: stamp.date.clone(),
        commit: stamp.commit.clone(),
    };
    work.programs.iter().zip(&line.measures).map(row).collect()
}
