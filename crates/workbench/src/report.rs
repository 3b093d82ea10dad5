//! Figures of anybody's functions for people: tables, and a picture.

use crate::bars::{Bar, Panel};
use crate::measure::{Figure, LayoutFigure, Report};
use crate::text::{or_dash, table};
use std::collections::BTreeSet;

/// The tables. With two sides, each line says how long the second takes for a cycle of the first.
pub fn text(report: &Report) -> String {
    let mut parts = vec![];
    if !report.figures.is_empty() {
        parts.push(figures(report));
    }
    if !report.layouts.is_empty() {
        parts.push(layouts(&report.layouts));
    }
    let mut text = parts.join("\n");
    for (what, why) in &report.left_out {
        text += &format!("left out: {what}: {why}\n");
    }
    if !report.note.is_empty() {
        text += &format!("host: {}\n", report.note);
    }
    text + "Every result equals what the interpreter makes of the source. Nothing is proved here: `santoku prove`.\n"
}

fn sides(figures: &[Figure]) -> Vec<&str> {
    let mut seen: Vec<&str> = vec![];
    for f in figures {
        if !seen.contains(&f.side.as_str()) {
            seen.push(&f.side);
        }
    }
    seen
}

fn figures(report: &Report) -> String {
    let all = &report.figures;
    let several = sides(all).len() > 1;
    let operations: BTreeSet<&str> = all.iter().map(|f| f.operation.as_str()).collect();
    let mut header = vec!["machine", "compiler", "level"];
    header.extend((operations.len() > 1).then_some("function"));
    header.extend(several.then_some("program"));
    let names = header.len();
    header.extend(["cycles", "10%..90%", "/byte", "IPC", "stack", "size", "spills"]);
    header.extend(several.then_some("x first"));
    let first = sides(all).first().map(|s| s.to_string()).unwrap_or_default();
    let line = |f: &Figure| {
        let mut cells = vec![f.machine.clone(), f.compiler.clone(), f.level.clone()];
        cells.extend((operations.len() > 1).then(|| f.operation.clone()));
        cells.extend(several.then(|| f.side.clone()));
        cells.extend([
            f.measures.cycles.to_string(),
            or_dash(f.measures.spread.map(|[a, b]| format!("{a}..{b}"))),
            or_dash(f.cycles_per_byte.map(|c| format!("{c:.2}"))),
            or_dash(f.ipc.map(|i| format!("{i:.2}"))),
            or_dash(f.measures.stack_bound_bytes.or(f.measures.stack_bytes)),
            or_dash(f.size_bytes),
            or_dash(f.stack_accesses.map(|s| format!("{} of {}", s.accesses, s.instructions))),
        ]);
        cells.extend(several.then(|| or_dash(ratio(all, f, &first))));
        cells
    };
    table(&header, names, all.iter().map(line).collect())
        + "cycles: exact on e31, ckb-vm and zkvm; the median, in core cycles, on host. IPC: instructions for each cycle. size, spills: of the\n\
           object; spills: instructions that touch the stack. stack: longest call path on e31, seen elsewhere.\n"
}

/// Cycles of the first side over those of this figure, built the same way.
fn ratio(all: &[Figure], f: &Figure, first: &str) -> Option<String> {
    let same = |x: &&Figure| x.side == first && (&x.machine, &x.compiler, &x.level, &x.operation) == (&f.machine, &f.compiler, &f.level, &f.operation);
    let base = all.iter().find(same)?.measures.cycles;
    Some(format!("{:.2}", base as f64 / f.measures.cycles.max(1) as f64))
}

fn layouts(all: &[LayoutFigure]) -> String {
    let mut rows: Vec<&LayoutFigure> = all.iter().collect();
    rows.sort_by(|a, b| a.operation.cmp(&b.operation).then(a.cycles_per_byte.total_cmp(&b.cycles_per_byte)));
    let line = |f: &&LayoutFigure| {
        let per_block = (f.lanes > 0).then(|| format!("{:.1}", f.operations as f64 / f64::from(f.lanes)));
        vec![
            f.operation.clone(),
            f.side.clone(),
            f.variant.clone(),
            format!("{:.3}", f.cycles_per_byte),
            format!("{:.3}..{:.3}", f.spread[0], f.spread[1]),
            or_dash(f.ipc.map(|i| format!("{i:.2}"))),
            if f.operations > 0 { f.operations.to_string() } else { "-".into() },
            or_dash(per_block),
        ]
    };
    table(&["in", "program", "layout", "cycles/byte", "10%..90%", "IPC", "gates", "/block"], 3, rows.iter().map(line).collect())
        + "blocks: bytes in, bytes out; core: registers in, registers out. gates: operations on registers of one copy; /block: of these for each block.\n"
}

/// A picture: a panel a machine, a bar a build, cycles to the right.
///
/// # Errors
/// What the plotting library says; there is nothing to draw.
pub fn svg(report: &Report) -> Result<String, String> {
    let sides = sides(&report.figures);
    let several = report.figures.iter().any(|f| f.operation != report.figures[0].operation);
    let mut panels: Vec<Panel> = vec![];
    for f in &report.figures {
        let title = format!("{}: cycles", f.machine);
        let at = panels.iter().position(|p| p.title == title).unwrap_or(panels.len());
        if at == panels.len() {
            panels.push(Panel { title, bars: vec![] });
        }
        let what = if several { &f.operation } else { &f.side };
        panels[at].bars.push(Bar {
            label: format!("{what} {} -{}", f.compiler, f.level),
            value: f.measures.cycles as f64,
            spread: f.measures.spread.map(|s| s.map(|c| c as f64)),
            group: sides.iter().position(|s| *s == f.side).unwrap_or(0),
        });
    }
    crate::bars::svg(&panels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use santoku_lab::bench::Measures;

    fn figure(side: &str, cycles: u64) -> Figure {
        Figure {
            machine: "e31".into(),
            target: "rv32".into(),
            side: side.into(),
            operation: "f".into(),
            compiler: "cc".into(),
            level: "O2".into(),
            measures: Measures { cycles, spread: Some([cycles, cycles + 10]), ..Measures::default() },
            cycles_per_byte: None,
            ipc: None,
            size_bytes: Some(10),
            stack_accesses: None,
        }
    }

    #[test]
    fn two_sides_have_a_ratio_and_a_bar_each() {
        let report = Report { figures: vec![figure("a<b", 100), figure("c", 50)], ..Report::default() };
        let said = text(&report);
        assert!(said.contains("| 2.00 |") || said.contains("2.00 |"), "{said}");
        let picture = svg(&report).expect("drawn");
        assert!(picture.starts_with("<svg") && picture.contains("a&lt;b cc -O2"), "{picture}");
        // Two bars, and the background.
        assert!(picture.matches("<rect").count() >= 3);
        assert!(svg(&Report::default()).is_err());
    }
}
