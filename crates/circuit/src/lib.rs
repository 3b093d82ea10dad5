//! Circuits of small tables: gates on record, search, and covers by functions of three inputs.
//!
//! Needs: nothing.  Keeps: [`circuit`] and [`circuit3`] prove what they return on every input of the table.
//! Absent on purpose: any knowledge of programs; optimality.
//! Trusted: text.

mod assemble;
mod builder;
mod cover;
mod field;
mod gates;
mod greedy;
mod improve;
mod known;
mod linear;
mod map;
mod middle;
mod net;
mod observer;
mod plan;
mod pool;
mod random;
mod rest;
mod run;
mod scout;
mod search;
mod small;
mod starts;
mod ternary;
mod tower;
mod truth;

pub use cover::{cover, covered, Cell, Node};
pub use gates::{lut, table_of, Basis, Circuit, Gate};
pub use observer::{Observer, Silent};

/// Most inputs and outputs of a table.
pub const BITS_MAX: u32 = 8;

/// Gates of at most two inputs for a table: bit `i` of the index is node `i`, bit `o` of an entry is output `o`.
///
/// `None` unless `1 <= inputs <= 8`, `1 <= outputs <= 8` and `entries` holds `2^inputs` values below `2^outputs`. The
/// circuit is proved on all inputs.
pub fn circuit(inputs: u32, outputs: u32, entries: &[u64]) -> Option<Circuit> {
    circuit_observed(inputs, outputs, entries, &mut Silent)
}

/// As [`circuit`]; `observer` is told of the search, if there is one.
pub fn circuit_observed(inputs: u32, outputs: u32, entries: &[u64], observer: &mut dyn Observer) -> Option<Circuit> {
    proved(Basis::Two, inputs, outputs, entries, observer)
}

/// Gates of at most three inputs for a table; conditions as for [`circuit`].
pub fn circuit3(inputs: u32, outputs: u32, entries: &[u64]) -> Option<Circuit> {
    proved(Basis::Lut3, inputs, outputs, entries, &mut Silent)
}

/// Whatever the record or the search says, it leaves here only if it is the table.
fn proved(basis: Basis, inputs: u32, outputs: u32, entries: &[u64], observer: &mut dyn Observer) -> Option<Circuit> {
    if !well_formed(inputs, outputs, entries) {
        return None;
    }
    let best = known::known(basis, inputs, outputs, entries).unwrap_or_else(|| {
        let found = run::found(inputs, outputs, entries, observer);
        match basis {
            Basis::Two => found.two,
            Basis::Lut3 => found.three,
        }
    });
    best.computes(entries).then_some(best)
}

fn well_formed(inputs: u32, outputs: u32, entries: &[u64]) -> bool {
    let sizes = (1..=BITS_MAX).contains(&inputs) && (1..=BITS_MAX).contains(&outputs);
    sizes && entries.len() == 1 << inputs && entries.iter().all(|e| e >> outputs == 0)
}

#[cfg(test)]
mod tests;
