//! Dated raw records of measurements, the only source of numbers in documents.
//!
//! A run is a folder `lab/runs/<date>-<what>/` with `raw.ndjson` (one [`Row`] a line) and `summary.md` (a table of them).
//! Field names are stable and described in `docs/lab.md`; fields a machine does not have are left out. A record is never
//! overwritten: a second run of a day gets a number.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::error::LabError;

/// One measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// What was measured, e.g. `nacl.sign`.
    pub program: String,
    /// Which implementation, e.g. `santoku`, `tweetnacl`.
    pub variant: String,
    /// What it ran on, e.g. `e31`.
    pub machine: String,
    /// Optimisation level of the C compiler, e.g. `O2`.
    pub level: String,
    /// Cycles with all data in RAM.
    pub cycles_core: u64,
    /// Cycles on the board: with flash reads and refills. An estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles_board: Option<u64>,
    /// Instructions retired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instret: Option<u64>,
    /// Instruction-cache lines fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icache_misses: Option<u64>,
    /// Data reads served by flash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flash_words: Option<u64>,
    /// Stack used in the run, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack_bytes: Option<u64>,
    /// Worst-case stack by the call graph, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack_bound_bytes: Option<u64>,
    /// `.text` and `.rodata` of the implementation's objects, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// Hash of all program counters and data addresses, 16 hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_hash: Option<String>,
    /// First line of the compiler's version text.
    pub compiler: String,
    /// Compiler flags, separated by spaces.
    pub flags: String,
    /// Day of the measurement, `YYYY-MM-DD`, UTC.
    pub date: String,
    /// Commit measured; ends in `+` when the tree had changes.
    pub commit: String,
}

/// When and of which tree a measurement was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// See [`Row::date`].
    pub date: String,
    /// See [`Row::commit`].
    pub commit: String,
}

impl Stamp {
    /// Today, and the commit checked out at `root` (`unknown` outside a repository).
    pub fn now(root: &Path) -> Self {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
        let git = |args: &[&str]| {
            let done = Command::new("git").arg("-C").arg(root).args(args).output().ok()?;
            done.status.success().then(|| String::from_utf8_lossy(&done.stdout).trim().to_string())
        };
        let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".to_string());
        let changed = git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|s| !s.is_empty());
        Stamp { date: civil_date(seconds / 86_400), commit: commit + if changed { "+" } else { "" } }
    }
}

/// Gregorian date of a day counted from 1970-01-01.
fn civil_date(day: u64) -> String {
    // Years start in March, so that the leap day is the last of the year; eras are 400 years of 146,097 days.
    let day = day + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day_of_month = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day_of_month:02}")
}

/// A set of rows measured together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// What was measured, in a few letters: part of the folder's name.
    pub what: String,
    /// The rows.
    pub rows: Vec<Row>,
}

const RAW: &str = "raw.ndjson";
const SUMMARY: &str = "summary.md";

impl Run {
    /// Writes the run under `runs` (normally `lab/runs`) and gives its folder. Refuses a run without rows.
    pub fn write(&self, runs: &Path) -> Result<PathBuf, LabError> {
        let Some(first) = self.rows.first() else {
            return Err(LabError::Record("a run without rows".into()));
        };
        if self.what.is_empty() || !self.what.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)) {
            return Err(LabError::Record(format!("`{}` does not name a folder", self.what)));
        }
        let mut raw = String::new();
        for row in &self.rows {
            raw.push_str(&serde_json::to_string(row).map_err(|e| LabError::Record(e.to_string()))?);
            raw.push('\n');
        }
        let folder = new_folder(runs, &format!("{}-{}", first.date, self.what))?;
        for (name, text) in [(RAW, raw), (SUMMARY, self.summary())] {
            let path = folder.join(name);
            fs::write(&path, text).map_err(LabError::io(&path))?;
        }
        Ok(folder)
    }

    /// Reads a run back from its folder.
    pub fn read(folder: &Path) -> Result<Run, LabError> {
        let path = folder.join(RAW);
        let text = fs::read_to_string(&path).map_err(LabError::io(&path))?;
        let row = |(n, line): (usize, &str)| {
            serde_json::from_str(line).map_err(|e| LabError::Record(format!("{}:{}: {e}", path.display(), n + 1)))
        };
        let rows = text.lines().enumerate().map(row).collect::<Result<_, _>>()?;
        let name = folder.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        // The date takes ten characters and a dash.
        Ok(Run { what: name.get(11..).unwrap_or_default().to_string(), rows })
    }

    fn summary(&self) -> String {
        let mut text = format!("# {}\n\n", self.what);
        if let Some(row) = self.rows.first() {
            text.push_str(&format!("{}, commit {}, {}\n\n", row.date, row.commit, row.compiler));
        }
        text.push_str(
            "| program | variant | machine | level | core | board | instructions | stack | bound | size | trace |\n",
        );
        text.push_str("|---|---|---|---|---|---|---|---|---|---|---|\n");
        let number = |n: Option<u64>| n.map_or("-".to_string(), |n| n.to_string());
        for row in &self.rows {
            text.push_str(&format!(
                "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
                row.program,
                row.variant,
                row.machine,
                row.level,
                row.cycles_core,
                number(row.cycles_board),
                number(row.instret),
                number(row.stack_bytes),
                number(row.stack_bound_bytes),
                number(row.size_bytes),
                row.trace_hash.as_deref().unwrap_or("-"),
            ));
        }
        text
    }
}

/// Creates `runs/name`, or `runs/name-2` and so on when it is taken.
fn new_folder(runs: &Path, name: &str) -> Result<PathBuf, LabError> {
    fs::create_dir_all(runs).map_err(LabError::io(runs))?;
    for n in 1..1000 {
        let folder = runs.join(if n == 1 { name.to_string() } else { format!("{name}-{n}") });
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(LabError::io(&folder)(e)),
        }
    }
    Err(LabError::Record(format!("{name} was recorded too often")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(program: &str) -> Row {
        Row {
            program: program.into(),
            variant: "santoku".into(),
            machine: "e31".into(),
            level: "O2".into(),
            cycles_core: 17,
            cycles_board: None,
            instret: Some(12),
            icache_misses: None,
            flash_words: None,
            stack_bytes: Some(96),
            stack_bound_bytes: None,
            size_bytes: None,
            trace_hash: Some("00ff".into()),
            compiler: "cc 1".into(),
            flags: "-O2".into(),
            date: "2026-01-31".into(),
            commit: "abc+".into(),
        }
    }

    #[test]
    fn days_become_dates() {
        let known = [
            (0, "1970-01-01"),
            (58, "1970-02-28"),
            (11_016, "2000-02-29"),
            (20_512, "2026-02-28"),
            (20_513, "2026-03-01"),
        ];
        for (day, date) in known {
            assert_eq!(civil_date(day), date);
        }
    }

    #[test]
    fn a_run_reads_back_as_written_and_is_never_overwritten() {
        let runs = tempfile::tempdir().unwrap();
        let run = Run { what: "nacl.sign".into(), rows: vec![row("a"), row("b")] };
        let first = run.write(runs.path()).unwrap();
        let second = run.write(runs.path()).unwrap();
        assert!(first.ends_with("2026-01-31-nacl.sign") && second.ends_with("2026-01-31-nacl.sign-2"));
        assert_eq!(Run::read(&first).unwrap(), run);
        let raw = fs::read_to_string(first.join(RAW)).unwrap();
        assert!(raw.contains("\"cycles_core\":17") && !raw.contains("cycles_board"));
        assert!(fs::read_to_string(first.join(SUMMARY)).unwrap().contains("| a | santoku | e31 | O2 | 17 | - | 12 |"));
    }

    #[test]
    fn broken_records_are_refused() {
        let runs = tempfile::tempdir().unwrap();
        assert!(Run { what: "x".into(), rows: vec![] }.write(runs.path()).is_err());
        assert!(Run { what: "../x".into(), rows: vec![row("a")] }.write(runs.path()).is_err());
        fs::write(runs.path().join(RAW), "{\"program\":1}\n").unwrap();
        assert!(Run::read(runs.path()).unwrap_err().to_string().contains("raw.ndjson:1"));
    }
}
