//! Searches for circuits of tables, as the user sees them: a line for each, and what goes on while it lasts.

use crate::report;
use indicatif::ProgressBar;
use santoku_driver::{Circuit, Observer};
use std::time::{Duration, Instant};

/// Shows the search at work, where stderr is a terminal.
pub struct Tables {
    name: String,
    stage: String,
    start: Instant,
    bar: Option<ProgressBar>,
}

impl Tables {
    pub fn new() -> Tables {
        Tables { name: String::new(), stage: String::new(), start: Instant::now(), bar: None }
    }
}

impl Observer for Tables {
    fn table(&mut self, name: &str) {
        self.name = name.to_string();
        self.start = Instant::now();
    }

    fn stage(&mut self, name: &str) {
        self.stage = name.to_string();
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::new_spinner();
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        bar.set_message(format!("table {}: {name}", self.name));
    }

    fn found(&mut self, gates: usize) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("table {}: {}, {gates} gates", self.name, self.stage));
        }
    }

    fn done(&mut self, circuit: &Circuit) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        let seconds = self.start.elapsed().as_secs_f64();
        report::err(&format!("table {}: {} gates, depth {}, {seconds:.1} s\n", self.name, circuit.count(), circuit.depth()));
    }
}
