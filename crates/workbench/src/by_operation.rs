//! Every operation of an interface on a page: cycles and stack on each machine beside rivals, what is proved of it, and in how many objects it is certified.

use crate::dist::LEVEL;
use crate::primitives::{Primitive, Tree};
use crate::row::{Rival, TableRow, Workload};
use crate::subject::{ours, rival};
use crate::table::{described, find, in_lanes, rows, Bench, Line, NO_VECTORS};
use crate::text::{or_dash, table};
use crate::BenchError;
use santoku_certify::manifest::List;
use santoku_ir::{ContractKind, Program};
use santoku_lab::bench::{Measures, Subject};
use santoku_lab::record::{Row, Stamp};
use std::collections::{BTreeMap, BTreeSet};

/// One implementation on one machine.
#[derive(Clone, Debug)]
pub struct Figure {
    pub machine: String,
    /// Rival; none: ours.
    pub rival: Option<String>,
    pub operation: String,
    pub measures: Measures,
}

/// Ours, in records.
const OURS: &str = "santoku";
/// The smallest form of ours, among rivals.
const SMALLEST: &str = "smallest";

/// What is claimed of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// All functions of the program that it calls say what they compute.
    pub meaning: bool,
    /// Objects in which all of them are certified, of all objects.
    pub certified: (usize, usize),
}

/// The page.
#[derive(Clone, Debug)]
pub struct Page {
    pub primitive: Primitive,
    pub figures: Vec<Figure>,
    pub claims: BTreeMap<String, Claim>,
    /// Rows for the record.
    pub rows: Vec<Row>,
    /// Machine, implementation, bytes of code and constants.
    pub sizes: Vec<(String, String, u64)>,
    pub note: String,
}

/// Whether the tables of a primitive are of this kind.
pub fn is_page(primitive: &Primitive) -> bool {
    primitive.tables.iter().any(|t| t.by_operation)
}

/// Measures every operation on every machine that has such a table, or on one of them.
///
/// # Errors
/// Those of [`find`], of the compiler and of the lab; `WrongResult`: one computes something else. Nothing is reported then.
pub fn run(tree: &Tree, name: &str, machine: Option<&str>, certified: &List, stamp: &Stamp, tell: &dyn Fn(&str)) -> Result<Page, BenchError> {
    let (primitive, _) = find(tree, name, machine, "table")?;
    let mut page = Page { primitive: primitive.clone(), figures: vec![], claims: BTreeMap::new(), rows: vec![], sizes: vec![], note: String::new() };
    for row in primitive.tables.iter().filter(|t| machine.is_none_or(|m| m == t.machine)) {
        on_machine(tree, &primitive, row, &mut page, stamp, tell)?;
    }
    let program = crate::compile::front(tree, &primitive.entry, tree.target(&primitive.targets[0])?)?.program;
    page.claims = primitive.workloads.iter().map(|w| (w.operation.clone(), claim(&primitive, w, &program, certified))).collect();
    Ok(page)
}

/// Operations by the rivals that have them.
fn groups<'p>(primitive: &'p Primitive, machine: &'p str) -> BTreeMap<Vec<&'p str>, (Vec<&'p Rival>, Vec<Workload>)> {
    let mut groups: BTreeMap<Vec<&str>, (Vec<&Rival>, Vec<Workload>)> = BTreeMap::new();
    for w in &primitive.workloads {
        let has: Vec<&Rival> = primitive.rivals_on(machine).filter(|r| !r.lacks.contains(&w.function)).collect();
        let key = has.iter().map(|r| r.name.as_str()).collect();
        groups.entry(key).or_insert_with(|| (has, vec![])).1.push(w.clone());
    }
    groups
}

fn on_machine(tree: &Tree, primitive: &Primitive, row: &TableRow, page: &mut Page, stamp: &Stamp, tell: &dyn Fn(&str)) -> Result<(), BenchError> {
    let target = described(tree, row)?;
    tell(&format!("{}: compiling", row.machine));
    let own = ours(tree, primitive, &row.targets[0], LEVEL, &BTreeSet::new())?;
    // What calls must leave is found once: some take what others leave.
    let all = crate::workload::work(tree, primitive, &own.functions, &own.exported, &target)?;
    for (rivals, workloads) in groups(primitive, &row.machine).into_values() {
        tell(&format!("{}: {}", row.machine, workloads.iter().map(|w| w.operation.as_str()).collect::<Vec<_>>().join(", ")));
        let bench = Bench::with(primitive, target.clone(), own.clone(), all.of(&workloads))?;
        let calls = bench.calls()?;
        let mut subjects = vec![(Subject { level: LEVEL, ..bench.subject(tree, OURS, own.text.clone())? }, None)];
        for (name, text, flags) in in_lanes(&target, OURS, &own.text) {
            subjects.push((Subject { level: LEVEL, flags, ..bench.subject(tree, &name, text)? }, Some(name)));
        }
        for peer in &rivals {
            subjects.push((rival(tree, primitive, peer, &calls)?, Some(peer.name.clone())));
        }
        measured(page, &bench, subjects, (&row.machine, stamp))?;
    }
    smallest(tree, primitive, row, page, stamp, tell)
}

/// The smallest form, where its target's machine is this one.
fn smallest(tree: &Tree, primitive: &Primitive, row: &TableRow, page: &mut Page, stamp: &Stamp, tell: &dyn Fn(&str)) -> Result<(), BenchError> {
    let Some(small) = &primitive.small else { return Ok(()) };
    let here = tree.target(&small.target)?.run.is_some_and(|r| r.machine == row.machine);
    if !here {
        return Ok(());
    }
    tell(&format!("{}: the smallest form", row.machine));
    let target = described(tree, row)?;
    let own = ours(tree, primitive, &small.target, small.level, &BTreeSet::new())?;
    let work = crate::workload::work(tree, primitive, &own.functions, &own.exported, &target)?;
    let bench = Bench::with(primitive, target, own.clone(), work)?;
    let subject = Subject { level: small.level, ..bench.subject(tree, "santoku, smallest", own.text)? };
    measured(page, &bench, vec![(subject, Some(SMALLEST.into()))], (&row.machine, stamp))
}

/// Subjects, by the names that their figures have; ours has none.
fn measured(page: &mut Page, bench: &Bench, subjects: Vec<(Subject, Option<String>)>, (machine, stamp): (&str, &Stamp)) -> Result<(), BenchError> {
    let (subjects, names): (Vec<Subject>, Vec<Option<String>>) = subjects.into_iter().unzip();
    let mut built = bench.build(&subjects)?;
    let lines = bench.lines(&subjects, built.as_mut())?;
    if !built.note().is_empty() {
        page.note = built.note();
    }
    for (line, name) in lines.iter().zip(names) {
        note(page, machine, name, line, bench);
        page.rows.extend(rows(line, &bench.work, machine, stamp));
    }
    Ok(())
}

fn note(page: &mut Page, machine: &str, rival: Option<String>, line: &Line, bench: &Bench) {
    for (operation, measures) in bench.work.operations.iter().zip(&line.measures) {
        let (machine, rival, operation) = (machine.to_string(), rival.clone(), operation.name.clone());
        page.figures.push(Figure { machine, rival, operation, measures: measures.clone() });
    }
    if let Some(size) = line.fact.size_bytes {
        let found = (machine.to_string(), line.name.clone(), size);
        if !page.sizes.iter().any(|(m, n, _)| *m == found.0 && *n == found.1) {
            page.sizes.push(found);
        }
    }
}

/// What is claimed of the functions of the program behind an operation. Of C by hand, which calls several, nothing.
fn claim(primitive: &Primitive, w: &Workload, program: &Program, certified: &List) -> Claim {
    let row = primitive.functions.iter().find(|f| f.name == w.function);
    let called: BTreeSet<&str> = row.into_iter().flat_map(|f| &f.calls).map(|c| c.function.as_str()).collect();
    let says = |name: &&str| {
        let f = program.funcs.iter().find(|f| f.export.as_deref() == Some(*name));
        f.is_some_and(|f| f.contracts.iter().any(|c| c.kind == ContractKind::Ensures))
    };
    let objects: Vec<_> = certified.objects.iter().filter(|o| o.primitive == primitive.name).collect();
    let whole = objects.iter().filter(|o| {
        let has = |name: &&str| certified.functions.iter().any(|r| o.has(r) && r.symbol == **name);
        !called.is_empty() && called.iter().all(has)
    });
    Claim { meaning: !called.is_empty() && called.iter().all(says), certified: (whole.count(), if called.is_empty() { 0 } else { objects.len() }) }
}

impl Page {
    fn cycles(&self, machine: &str, rival: Option<&str>, operation: &str) -> Option<&Measures> {
        let found = |f: &&Figure| f.machine == machine && f.rival.as_deref() == rival && f.operation == operation;
        self.figures.iter().find(found).map(|f| &f.measures)
    }

    /// Ours with the widest registers of vectors of a machine, beside those that every processor of it has.
    fn widest(&self, m: &TableRow) -> Option<&str> {
        let mut names = self.figures.iter().filter(|f| f.machine == m.machine).filter_map(|f| f.rival.as_deref());
        names.find(|n| n.strip_prefix(OURS).is_some_and(|n| n.starts_with(", ") && !n.ends_with(NO_VECTORS)))
    }

    fn has_smallest(&self, m: &TableRow) -> bool {
        self.figures.iter().any(|f| f.machine == m.machine && f.rival.as_deref() == Some(SMALLEST))
    }

    /// The table, a line for each operation.
    pub fn text(&self) -> String {
        let machines: Vec<&TableRow> = self.primitive.tables.iter().filter(|t| self.figures.iter().any(|f| f.machine == t.machine)).collect();
        let mut header = vec!["operation".to_string(), "bytes".into()];
        for m in &machines {
            header.push(format!("{} cycles", m.machine));
            header.extend(self.widest(m).map(|name| format!("{} cycles", name.trim_start_matches(OURS).trim_start_matches(", "))));
            header.extend(self.primitive.rivals_on(&m.machine).map(|r| format!("{} x", r.name)));
            if self.figures.iter().any(|f| f.machine == m.machine && f.measures.stack_bound_bytes.is_some()) {
                header.push("stack".into());
                header.extend(self.primitive.rivals_on(&m.machine).map(|r| format!("{} stack", r.name)));
            }
            if self.has_smallest(m) {
                header.extend(["smallest cycles".to_string(), "smallest stack".into()]);
            }
        }
        header.extend(["proved".to_string(), "certified".into()]);
        let lines = self.primitive.workloads.iter().map(|w| self.line(w, &machines)).collect();
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let mut text = table(&header, 1, lines);
        for (machine, name, size) in &self.sizes {
            text += &format!("{name} on {machine}: {size} bytes of code and constants\n");
        }
        text += &format!("{} at -{}. x: cycles of the rival for one of ours, in the same run. stack: longest call path.\n", self.primitive.name, LEVEL.name());
        text += "proved: no overflow, index or secret branch (safe); also equal to its specification (meaning); -: C by hand over proved functions.\n";
        text += "certified: objects of two compilers, four levels and two widths in which all that it calls is proved equal to the source.\n";
        if !self.note.is_empty() {
            text += &format!("host: {}\n", self.note);
        }
        text + "Every program leaves the same results.\n"
    }

    fn line(&self, w: &Workload, machines: &[&TableRow]) -> Vec<String> {
        let mut cells = vec![w.operation.clone(), or_dash((w.bytes > 0).then_some(w.bytes))];
        for m in machines {
            let own = self.cycles(&m.machine, None, &w.operation);
            cells.push(or_dash(own.map(|m| m.cycles)));
            cells.extend(self.widest(m).map(|name| or_dash(self.cycles(&m.machine, Some(name), &w.operation).map(|m| m.cycles))));
            let rivals = || self.primitive.rivals_on(&m.machine).map(|r| self.cycles(&m.machine, Some(&r.name), &w.operation));
            cells.extend(rivals().map(|r| or_dash(r.zip(own).map(|(r, o)| format!("{:.2}", r.cycles as f64 / o.cycles.max(1) as f64)))));
            if self.figures.iter().any(|f| f.machine == m.machine && f.measures.stack_bound_bytes.is_some()) {
                cells.push(or_dash(own.and_then(|m| m.stack_bound_bytes)));
                cells.extend(rivals().map(|r| or_dash(r.and_then(|m| m.stack_bound_bytes))));
            }
            if self.has_smallest(m) {
                let small = self.cycles(&m.machine, Some(SMALLEST), &w.operation);
                cells.extend([or_dash(small.map(|m| m.cycles)), or_dash(small.and_then(|m| m.stack_bound_bytes))]);
            }
        }
        let claim = self.claims.get(&w.operation);
        let by_hand = claim.is_none_or(|c| c.certified.1 == 0);
        let proved = claim.map(|c| if by_hand { "-" } else if c.meaning { "meaning" } else { "safe" });
        cells.push(proved.unwrap_or("-").into());
        cells.push(or_dash(claim.filter(|_| !by_hand).map(|c| format!("{} of {}", c.certified.0, c.certified.1))));
        cells
    }
}
