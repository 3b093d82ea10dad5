//! What is tried, before it is calls.

use std::collections::BTreeMap;

/// A call of a function, and of those that make its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub function: usize,
    pub length: usize,
    /// Bytes of inputs, by name; shorter ones are repeated.
    pub inputs: BTreeMap<String, Vec<u8>>,
    /// What outputs hold before.
    pub fill: u64,
    /// Which output is which input's object.
    pub same: Option<usize>,
    /// A byte of what another function made is changed: its place, and what is added.
    pub change: Option<(usize, u8)>,
    /// Nothing is made by another function.
    pub fresh: bool,
    pub null: bool,
}

impl Plan {
    pub fn bytes(&self, name: &str, size: usize) -> Vec<u8> {
        match self.inputs.get(name).filter(|b| !b.is_empty()) {
            Some(bytes) => bytes.iter().cycle().take(size).copied().collect(),
            None => vec![0; size],
        }
    }

    /// Plans with less in them, those with much less first.
    pub fn smaller(&self) -> Vec<Plan> {
        let mut all = vec![];
        let shorter = [0, self.length / 2, self.length.saturating_sub(16), self.length.saturating_sub(1)];
        all.extend(shorter.into_iter().filter(|n| *n < self.length).map(|length| Plan { length, ..self.clone() }));
        if self.same.is_some() {
            all.push(Plan { same: None, ..self.clone() });
        }
        if self.change.is_some() {
            all.push(Plan { change: None, ..self.clone() });
        }
        for (name, bytes) in &self.inputs {
            let half = bytes.len() / 2;
            let zero = |from: usize, to: usize| {
                let mut less = bytes.clone();
                less[from..to].fill(0);
                less
            };
            for less in [zero(0, bytes.len()), zero(0, half), zero(half, bytes.len())] {
                if less != *bytes {
                    let inputs = self.inputs.iter().map(|(n, b)| (n.clone(), if n == name { less.clone() } else { b.clone() })).collect();
                    all.push(Plan { inputs, ..self.clone() });
                }
            }
        }
        all
    }
}
