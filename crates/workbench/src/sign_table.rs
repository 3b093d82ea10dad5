//! `crypto_sign` on the E31 model: ours, ours with SPARKNaCl's algorithm, and TweetNaCl, at every level, with published figures.

use crate::primitives::Tree;
use crate::published::{SIGN_BOARD, SPARKNACL_2025_CORE_MCYCLES};
use crate::sign::{measure, Setting, SignRun};
use crate::subject::{ours, tweetnacl, variant};
use crate::text::{mega, or_dash, table};
use crate::{parallel, BenchError};
use santoku_lab::harness::{Code, Constants, Level, Toolchain};
use santoku_lab::record::{Row, Stamp};
use std::collections::BTreeSet;

/// Name of the primitive.
pub const NAME: &str = "nacl.sign";
/// Our builds in the table.
pub const TARGETS: [&str; 2] = ["rv32", "rv32-spark"];

/// Compressed code, constants in flash: as the published figures were made. The core column does not depend on the place.
pub fn setting(level: Level) -> Setting {
    Setting { code: Code::Compressed, level, constants: Constants::Flash }
}

/// One cell of work: our build for a target, or the rival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cell {
    Ours(&'static str),
    TweetNaCl,
}

/// Measures every program at every level. `tell` hears what begins; it is called from several threads.
///
/// # Errors
/// Those of the compiler and of [`measure`]: nothing is reported if one program is wrong.
pub fn run(tree: &Tree, levels: &[Level], tell: &(dyn Fn(&str) + Sync)) -> Result<Vec<SignRun>, BenchError> {
    let toolchain = Toolchain::find().map_err(|e| BenchError::lab("RV32", e))?;
    let primitive = tree.primitive(NAME)?;
    let rival = tweetnacl(tree)?;
    let cells = TARGETS.map(Cell::Ours).into_iter().chain([Cell::TweetNaCl]);
    let jobs: Vec<(Level, Cell)> = levels.iter().flat_map(|l| cells.clone().map(|c| (*l, c))).collect();
    parallel::map(&jobs, parallel::threads(), |(level, cell)| {
        let subject = match cell {
            Cell::Ours(target) => {
                tell(&format!("{} -{}", variant(target), level.name()));
                ours(tree, &primitive, target, *level, &BTreeSet::new())?
            }
            Cell::TweetNaCl => {
                tell(&format!("tweetnacl -{}", level.name()));
                rival.clone()
            }
        };
        measure(&toolchain, &subject, setting(*level))
    })
}

/// Rows for the record.
pub fn rows(runs: &[SignRun], stamp: &Stamp) -> Vec<Row> {
    runs.iter().flat_map(|r| r.rows(stamp)).collect()
}

/// The table for people: measured rows, then published ones of the same levels.
pub fn text(runs: &[SignRun]) -> String {
    let header = ["level", "program", "sign core", "sign board", "open core", "WCSU sign", "seen", "WCSU open", "seen", "size"];
    let mut lines: Vec<Vec<String>> = vec![];
    for (n, run) in runs.iter().enumerate() {
        lines.push(measured(run));
        if runs.get(n + 1).is_none_or(|next| next.level != run.level) {
            lines.extend(quoted(run.level));
        }
    }
    let notes = "Sign and open of 256 bytes; Mcycles, bytes. Same signature from every program. core: E31 model, all data in RAM; board: core\n\
        plus flash, an estimate. WCSU: longest call path; seen: measured in the run. Rows marked published are quoted, not measured:\n\
        HiFive1 rev B, GCC 10.3; SPARKNaCl 2025: rebuilt with GNAT 12.2 at -O2 and run on this model.\n";
    format!("{}{notes}", table(&header, 2, lines))
}

fn measured(run: &SignRun) -> Vec<String> {
    vec![
        run.level.name().into(),
        run.variant.clone(),
        mega(run.sign.measure.cycles_core),
        mega(run.sign.measure.cycles_board),
        mega(run.open.measure.cycles_core),
        run.sign.stack_bound.to_string(),
        run.sign.measure.stack_bytes.to_string(),
        run.open.stack_bound.to_string(),
        run.open.measure.stack_bytes.to_string(),
        run.size_bytes.to_string(),
    ]
}

fn quoted(level: Level) -> Vec<Vec<String>> {
    let dash = || "-".to_string();
    let mut lines: Vec<Vec<String>> = SIGN_BOARD
        .iter()
        .filter(|p| p.level == level.name())
        .map(|p| {
            let board = format!("{:.2}", p.board_mcycles);
            let (stack, size) = (or_dash(p.stack_bytes), or_dash(p.size_bytes));
            vec![p.level.into(), p.variant.into(), dash(), board, dash(), stack, dash(), dash(), dash(), size]
        })
        .collect();
    if level == Level::O2 {
        let core = format!("{SPARKNACL_2025_CORE_MCYCLES:.1}");
        let name = "SPARKNaCl 2025, reproduced".to_string();
        lines.push(vec!["O2".into(), name, core, dash(), dash(), dash(), dash(), dash(), dash(), dash()]);
    }
    lines
}
