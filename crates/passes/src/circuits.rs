//! Circuits of the tables of a program: found before the passes run, so that these search nothing.
//!
//! Needs: marked functions.  Keeps: one circuit a table; what is found depends on the table alone.
//! Trusted: nothing: what is made of them is run on every input.

use crate::options::Circuits;
use santoku_circuit::Observer;
use santoku_ir::table;
use santoku_ir::{Func, Program};

/// A circuit for each table that is applied to a secret; `watch` is told of each search.
pub fn circuits(program: &Program, watch: &mut dyn Observer) -> Circuits {
    let mut all = Circuits::new();
    for f in program.funcs.iter().filter(|f| !loads(f)) {
        let Some((t, _)) = table::of(program, f).filter(|(t, _)| !all.contains_key(t)) else { continue };
        watch.table(&format!("{}: u{} -> u{}", name(f), t.inputs, t.outputs));
        if let Some(c) = santoku_circuit::circuit_observed(t.inputs, t.outputs, &t.entries, watch) {
            all.insert(t, c);
        }
    }
    all
}

/// Its word is public: it reads the table.
pub fn loads(f: &Func) -> bool {
    f.params.iter().all(|x| f.local(*x).public)
}

/// The table's name in its module.
fn name(f: &Func) -> &str {
    let full = f.name.split('$').next().unwrap_or(&f.name);
    full.rsplit('.').next().unwrap_or(full)
}
