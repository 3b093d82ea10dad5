//! Checks that cannot be made here, counted: one convention for all tests.
//!
//! Needs: nothing.  Keeps: a skipped check is printed, and written to the file that `SANTOKU_SKIPS` names, a line each, for whoever
//! counts; with `SANTOKU_STRICT=1`, where everything is installed, it is a failure; a test that checked nothing and skipped
//! nothing fails.  Absent: what a check needs.
//! Trusted: nothing: for tests.

pub mod seeds;

use std::cell::Cell;
use std::fmt::Display;
use std::io::Write;
use std::process::{Command, Stdio};

thread_local! {
    /// Skips of this test: each has a thread of its own.
    static SKIPPED: Cell<usize> = const { Cell::new(0) };
}

/// Notes that a check is left out, and why. Gives the line.
///
/// # Errors
/// With `SANTOKU_STRICT=1` nothing may be left out.
pub fn note(what: impl Display, reason: impl Display) -> Result<String, String> {
    match std::env::var("SANTOKU_STRICT") {
        Ok(v) if v == "1" => Err(format!("{what}: {reason}; SANTOKU_STRICT=1 allows no skips")),
        _ => write(what, reason),
    }
}

fn write(what: impl Display, reason: impl Display) -> Result<String, String> {
    let line = format!("skipped: {what}: {reason}").replace('\n', " ");
    SKIPPED.set(SKIPPED.get() + 1);
    if let Some(path) = std::env::var_os("SANTOKU_SKIPS") {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&path);
        let written = file.and_then(|mut f| f.write_all(format!("{line}\n").as_bytes()));
        written.map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(line)
}

/// Leaves a check of a test out: prints what and why, and counts it.
///
/// # Panics
/// With `SANTOKU_STRICT=1`, or if the line cannot be written.
pub fn skip(what: impl Display, reason: impl Display) {
    match note(what, reason) {
        Ok(line) => println!("{line}"),
        Err(why) => panic!("{why}"),
    }
}

/// The same where no installation would help: this processor lacks what the check needs. Never a failure.
///
/// # Panics
/// If the line cannot be written.
pub fn lacking(what: impl Display, reason: impl Display) {
    match write(what, reason) {
        Ok(line) => println!("{line}"),
        Err(why) => panic!("{why}"),
    }
}

/// Those of these commands that can be started; what is missing is skipped.
///
/// # Panics
/// As [`skip`].
pub fn installed<'c>(commands: &[&'c str]) -> Vec<&'c str> {
    let starts = |c: &&&str| Command::new(c).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success());
    let (here, missing): (Vec<&str>, Vec<&str>) = commands.iter().partition(starts);
    missing.into_iter().for_each(|c| skip(c, "it is not installed"));
    here
}

/// Prints how much a test has checked.
///
/// # Panics
/// If that is nothing, unless this test has skipped something.
pub fn checked(count: usize, what: impl Display) {
    println!("{count} {what}");
    assert!(count > 0 || SKIPPED.get() > 0, "nothing was checked: 0 {what}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_a_failure_unless_something_was_skipped() {
        checked(1, "objects");
        assert!(std::panic::catch_unwind(|| checked(0, "objects")).is_err());
        // The other way, where skips are allowed.
        if note("a check of this test", "it shows how skips are written").is_ok() {
            checked(0, "objects");
        }
    }
}
