//! Functions of a program that have another text on machines with registers of vectors.
//! Trusted: c.

use crate::check::Checked;
use crate::failure::Failure;
use crate::lay_out::refused;
use crate::target::Target;
use santoku_backend_c::Lanes;
use santoku_ir::{each, FuncId};
use santoku_layout::{embedded, Isa};
use santoku_passes::{circuits, Silent};
use std::collections::{BTreeMap, BTreeSet};

/// The vector units of the program's target, the widest first, each with the functions that have a kernel in it. What a unit has not enough
/// blocks for is left to the next, and to C.
///
/// # Errors
/// `not-in-layout`: what such a function applies has no vertical layout; [`Failure::Internal`] where a step is at fault.
pub fn lanes(checked: &Checked, without: &BTreeSet<String>) -> Result<Vec<Lanes>, Failure> {
    let program = &checked.program;
    let marked: Vec<FuncId> = (0..program.funcs.len() as u32).map(FuncId).filter(|id| each::of(program, program.func(*id)).is_some()).collect();
    let mut all = vec![];
    if marked.is_empty() {
        return Ok(all);
    }
    let circuits = circuits(program, &mut Silent);
    for (k, (isa, guard)) in units(&checked.target).into_iter().enumerate() {
        let (mut kernels, mut ternary) = (BTreeMap::new(), BTreeSet::new());
        for id in &marked {
            if let Some(made) = embedded(program, *id, isa, without, &circuits).map_err(|e| refused(&e, checked))? {
                ternary.extend(made.ternary);
                kernels.insert(program.func(*id).name.clone(), made.kernel);
            }
        }
        if !kernels.is_empty() {
            let tables: Vec<u8> = ternary.into_iter().collect();
            all.push(Lanes { number: k + 1, guard, preamble: isa.operations_text(), gates: isa.gates(&tables), kernels });
        }
    }
    Ok(all)
}

/// Each vector unit with lanes, and when a compiler has it.
fn units(target: &Target) -> Vec<(&Isa, String)> {
    target.vectors.iter().rev().filter(|isa| isa.lanes).filter_map(|isa| Some((isa, isa.guard()?))).collect()
}
