//! Circuits found in this run of the program: the same table is not searched for again.
//! Trusted: text.

use crate::search::{search, Found, FULL};
use crate::Observer;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Sizes and entries of a table.
type Table = (u32, u32, Vec<u64>);

/// A search is the same whenever it runs, so it makes no difference who asked for it first.
static FOUND: Mutex<BTreeMap<Table, Found>> = Mutex::new(BTreeMap::new());

/// Tables that are remembered.
const TABLES_MAX: usize = 1024;

/// What the search finds for a table, now or before in this run.
pub fn found(inputs: u32, outputs: u32, entries: &[u64], observer: &mut dyn Observer) -> Found {
    let table = (inputs, outputs, entries.to_vec());
    if let Some(f) = FOUND.lock().ok().and_then(|all| all.get(&table).cloned()) {
        return f;
    }
    let f = search(inputs, outputs, entries, &FULL, observer);
    observer.done(&f.two);
    if let Ok(mut all) = FOUND.lock() {
        if all.len() >= TABLES_MAX {
            all.clear();
        }
        all.insert(table, f.clone());
    }
    f
}
