//! Tables of figures for people.

use crate::row::PublishedRow;
use crate::table::{Line, Table};
use crate::text::{mega, or_dash, table};
use santoku_lab::bench::Measures;

/// Cycles from which on tables count millions.
const MILLIONS_FROM: u64 = 1_000_000;

/// How cycles are printed: all of a table alike.
#[derive(Clone, Copy)]
struct Unit {
    millions: bool,
}

impl Unit {
    fn of(lines: &[Line]) -> Unit {
        let most = lines.iter().flat_map(|l| &l.measures).map(|m| m.cycles).max().unwrap_or(0);
        Unit { millions: most >= MILLIONS_FROM }
    }

    fn print(self, cycles: u64) -> String {
        match self.millions {
            true => mega(cycles),
            false => cycles.to_string(),
        }
    }

    /// What was published in millions.
    fn quoted(self, mcycles: Option<f64>) -> String {
        or_dash(mcycles.map(|m| if self.millions { format!("{m:.2}") } else { format!("{:.0}", m * 1e6) }))
    }

    fn name(self) -> &'static str {
        if self.millions { "Mcycles" } else { "cycles" }
    }
}

impl Table {
    /// The table for people.
    pub fn text(&self) -> String {
        let timed = self.lines.iter().flat_map(|l| &l.measures).any(|m| m.spread.is_some());
        if timed { self.timed() } else { self.exact() }
    }

    /// One line an implementation and level, a column a figure; then what others published of the same level.
    fn exact(&self) -> String {
        let unit = Unit::of(&self.lines);
        let has = |f: fn(&Measures) -> bool| self.lines.iter().flat_map(|l| &l.measures).any(f);
        let (board, bound) = (has(|m| m.cycles_board.is_some()), has(|m| m.stack_bound_bytes.is_some()));
        let vectors = self.lines.iter().any(|l| l.vectors.is_some());
        let mut header = vec!["level".to_string(), "program".to_string()];
        for o in &self.work.operations {
            header.push(if board { format!("{} core", o.name) } else { o.name.clone() });
            header.extend(board.then(|| format!("{} board", o.name)));
            header.extend((o.bytes > 0).then(|| "/byte".to_string()));
        }
        for o in &self.work.operations {
            header.extend(bound.then(|| format!("WCSU {}", o.name)));
            header.push(if bound { "seen".into() } else { format!("stack {}", o.name) });
        }
        header.push("size".into());
        header.extend(vectors.then(|| ["least", "mean", "most", "vectors right"].map(String::from)).into_iter().flatten());
        let mut rows = vec![];
        for (n, line) in self.lines.iter().enumerate() {
            rows.push(self.measured(line, unit, (board, bound, vectors)));
            if self.lines.get(n + 1).is_none_or(|next| next.level != line.level) {
                rows.extend(self.published(line, unit, &header));
            }
        }
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        format!("{}{}", table(&header, 2, rows), self.notes(unit, board))
    }

    fn measured(&self, line: &Line, unit: Unit, (board, bound, vectors): (bool, bool, bool)) -> Vec<String> {
        let mut cells = vec![line.level.name().to_string(), line.name.clone()];
        for (o, m) in self.work.operations.iter().zip(&line.measures) {
            cells.push(unit.print(m.cycles));
            cells.extend(board.then(|| or_dash(m.cycles_board.map(|c| unit.print(c)))));
            cells.extend((o.bytes > 0).then(|| format!("{:.1}", m.cycles as f64 / o.bytes as f64)));
        }
        for m in &line.measures {
            cells.extend(bound.then(|| or_dash(m.stack_bound_bytes)));
            cells.push(or_dash(m.stack_bytes));
        }
        cells.push(or_dash(line.fact.size_bytes));
        if vectors {
            let spread = line.vectors.map(|v| v.spread.map(|c| unit.print(c)));
            cells.extend(spread.unwrap_or_else(|| ["-", "-", "-"].map(String::from)));
            cells.push(or_dash(line.vectors.map(|v| format!("{} ({} accepted)", v.ran, v.accepted))));
        }
        cells
    }

    /// Published figures of the level of a line, under the headings that they belong to.
    fn published(&self, line: &Line, unit: Unit, header: &[String]) -> Vec<Vec<String>> {
        let mut rows = vec![];
        for p in self.primitive.published.iter().filter(|p| p.machine == self.row.machine) {
            for row in p.rows.iter().filter(|r| r.level == line.level) {
                rows.push(header.iter().map(|h| quoted(h, row, (&p.operation, &p.variant), unit)).collect());
            }
        }
        rows
    }

    fn notes(&self, unit: Unit, board: bool) -> String {
        let mut text = format!("{} on {}: {}, bytes. Every program leaves the same results.", self.primitive.name, self.row.machine, unit.name());
        if board {
            text += "\ncore: E31 model, all data in RAM; board: core plus flash, an estimate. WCSU: longest call path; seen: measured in the run.";
        }
        let published: Vec<String> = self.primitive.published.iter().filter(|p| p.machine == self.row.machine).map(|p| format!("{}: {}", p.variant, p.source)).collect();
        if !published.is_empty() {
            text += &format!("\nQuoted, not measured: {}.", published.join("; "));
        }
        if let Some(operation) = self.row.vectors.as_ref() {
            text += &format!("\nleast, mean, most: {operation} over the valid vectors of Wycheproof.");
        }
        text + "\n"
    }

    /// Operation by operation, with spreads and the reference's time over ours.
    fn timed(&self) -> String {
        let mut rows = vec![];
        for (n, o) in self.work.operations.iter().enumerate() {
            let reference = self.lines.iter().find(|l| Some(&l.name) == self.row.reference.as_ref()).map(|l| l.measures[n].cycles);
            for line in &self.lines {
                let m = &line.measures[n];
                let speed = or_dash(reference.map(|r| format!("{:.2}", r as f64 / m.cycles.max(1) as f64)));
                let spread = or_dash(m.spread.map(|[a, b]| format!("{a}..{b}")));
                let per_byte = if o.bytes > 0 { format!("{:.2}", m.cycles as f64 / o.bytes as f64) } else { "-".into() };
                rows.push(vec![
                    o.name.clone(),
                    line.name.clone(),
                    line.level.name().into(),
                    m.cycles.to_string(),
                    spread,
                    per_byte,
                    or_dash(m.ipc().map(|i| format!("{i:.2}"))),
                    or_dash(m.per_second.map(|p| format!("{p:.0}"))),
                    or_dash(line.fact.size_bytes),
                    speed,
                ]);
            }
        }
        let times = format!("x {}", self.row.reference.as_deref().unwrap_or("reference"));
        let header = ["operation", "implementation", "level", "core cycles", "10%..90%", "/byte", "IPC", "per second", "size", times.as_str()];
        format!("{}{}\nLibraries as the distribution builds them.\n", table(&header, 3, rows), self.note)
    }
}

fn quoted(heading: &str, row: &PublishedRow, (operation, variant): (&str, &str), unit: Unit) -> String {
    match heading {
        "level" => row.level.name().into(),
        "program" => variant.into(),
        "size" => or_dash(row.size_bytes),
        h if h == format!("{operation} core") => unit.quoted(row.core_mcycles),
        h if h == format!("{operation} board") => unit.quoted(row.board_mcycles),
        h if h == format!("WCSU {operation}") => or_dash(row.stack_bytes),
        _ => "-".into(),
    }
}
