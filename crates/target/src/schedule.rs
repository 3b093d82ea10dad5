//! Orders of instructions that a search found: tables `[schedule."module.function"]` of a file of `tuned/`.

use crate::Fault;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// By the name of the function.
pub type Schedules = BTreeMap<String, Schedule>;

/// What our back end does otherwise in one function. Any numbers give code that computes the same: they are never needed for correctness.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// Instructions that are selected for the function. Where there are more or fewer, the order is for other code, and is not used.
    pub instructions: usize,
    /// Instructions as selected, by number: how many slots later each counts before registers are given; on machines without a pipeline, how many
    /// places it goes back.
    #[serde(default)]
    pub before: Vec<(u32, i32)>,
    /// Values, by number: how much farther away each counts as read when one has to leave its register.
    #[serde(default)]
    pub spill: Vec<(u32, i32)>,
    /// Instructions with registers, by number: how many slots later each counts.
    #[serde(default)]
    pub behind: Vec<(u32, i32)>,
}

impl Schedule {
    /// Numbers in it.
    pub fn len(&self) -> usize {
        self.lists().iter().map(|(_, all)| all.len()).sum()
    }

    /// Nothing is done otherwise.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lists(&self) -> [(&'static str, &Vec<(u32, i32)>); 3] {
        [("before", &self.before), ("spill", &self.spill), ("behind", &self.behind)]
    }

    pub(crate) fn check(&self, function: &str) -> Result<(), Fault> {
        for (name, all) in self.lists() {
            let mut seen = BTreeSet::new();
            if let Some((k, _)) = all.iter().find(|(k, _)| !seen.insert(*k)) {
                return Err(Fault::plain(format!("`{name}` of `[schedule.\"{function}\"]` has two numbers for {k}")));
            }
        }
        Ok(())
    }
}

/// The text of a file of `tuned/` with these tables in the place of its own, which stand last.
pub fn replaced(file: &str, all: &Schedules) -> String {
    let own = file.find("\n[schedule.").map_or(file, |at| &file[..at]);
    format!("{}\n{}", own.trim_end(), text(all))
}

/// The tables, as a file of `tuned/` has them.
fn text(all: &Schedules) -> String {
    let mut text = String::new();
    for (function, schedule) in all.iter().filter(|(_, s)| !s.is_empty()) {
        let _ = write!(text, "\n[schedule.\"{function}\"]\ninstructions = {}\n", schedule.instructions);
        for (name, numbers) in schedule.lists().iter().filter(|(_, all)| !all.is_empty()) {
            let numbers: Vec<String> = numbers.iter().map(|(k, by)| format!("[{k}, {by}]")).collect();
            let _ = writeln!(text, "{name} = [{}]", numbers.join(", "));
        }
    }
    text
}
