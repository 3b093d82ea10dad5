//! Tables for the terminal.

use comfy_table::{presets, CellAlignment, Table};

/// A table; the first `names` columns are text, all others numbers.
pub fn table(header: &[&str], names: usize, rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_preset(presets::ASCII_MARKDOWN).set_header(header.iter().copied());
    for row in rows {
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(names) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    format!("{table}\n")
}

/// A part of all, which may be nothing.
pub fn share(part: u64, all: u64) -> String {
    format!("{:.1} %", part as f64 * 100.0 / all.max(1) as f64)
}

/// Millions with three decimals.
pub fn mega(n: u64) -> String {
    format!("{:.3}", n as f64 / 1e6)
}

/// `-` where there is none.
pub fn or_dash<T: std::fmt::Display>(value: Option<T>) -> String {
    value.map_or_else(|| "-".to_string(), |v| v.to_string())
}
