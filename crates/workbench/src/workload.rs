//! The calls of a primitive that are measured: what the rows say, with results by the interpreter where they say none.

use crate::by_calls::by_calls;
use crate::compile::front;
use crate::interface::Function;
use crate::interpreted::interpreted;
use crate::operation::{Case, Expectation};
use crate::primitives::{Primitive, Tree};
use crate::row::Workload;
use crate::BenchError;
use santoku_backend_c::Exported;
use santoku_driver::Target;
use santoku_lab::bench::Operation;
use std::collections::BTreeMap;

/// What is measured of a primitive: its operations, and the case of each.
#[derive(Clone, Debug)]
pub struct Work {
    pub operations: Vec<Operation>,
    /// Name of each in records.
    pub programs: Vec<String>,
    pub cases: Vec<Case>,
}

impl Work {
    /// These of the operations.
    pub(crate) fn of(&self, workloads: &[Workload]) -> Work {
        let of = |k: &usize| workloads.iter().any(|w| w.operation == self.operations[*k].name);
        let kept: Vec<usize> = (0..self.operations.len()).filter(of).collect();
        Work {
            operations: kept.iter().map(|k| self.operations[*k].clone()).collect(),
            programs: kept.iter().map(|k| self.programs[*k].clone()).collect(),
            cases: kept.iter().map(|k| self.cases[*k].clone()).collect(),
        }
    }
}

/// The workloads of a primitive.
///
/// # Errors
/// `Unknown`: it has none; `Declaration`: one does not fit its function; those of the front end.
pub fn work(tree: &Tree, primitive: &Primitive, functions: &[Function], exported: &[Exported], target: &Target) -> Result<Work, BenchError> {
    if primitive.workloads.is_empty() {
        let known = tree.primitives()?.into_iter().filter(|p| !p.workloads.is_empty()).map(|p| p.name).collect();
        return Err(BenchError::Unknown { what: "workload of", name: primitive.name.clone(), known });
    }
    let mut program = None;
    let mut work = Work { operations: vec![], programs: vec![], cases: vec![] };
    for w in &primitive.workloads {
        let mut case = case(w);
        taken(w, &work, &mut case)?;
        if case.results.is_empty() && case.returns == Expectation::Any {
            if program.is_none() {
                program = Some(front(tree, &primitive.entry, target.clone())?.program);
            }
            let Some(program) = &program else { continue };
            let row = primitive.functions.iter().find(|r| r.name == case.function && !r.calls.is_empty());
            match row.zip(functions.iter().find(|f| f.name == case.function)) {
                Some((row, f)) => by_calls(program, primitive, exported, (f, row), &mut case)?,
                None => interpreted(program, functions, exported, &mut case)?,
            }
        }
        work.operations.push(Operation { name: w.operation.clone(), bytes: w.bytes });
        work.programs.push(w.program.clone().unwrap_or_else(|| format!("{}.{}", primitive.name, w.operation)));
        work.cases.push(case);
    }
    Ok(work)
}

/// Inputs that are what an earlier call leaves.
fn taken(w: &Workload, work: &Work, case: &mut Case) -> Result<(), BenchError> {
    for (name, from) in &w.from {
        let made = from.rsplit_once('.').and_then(|(operation, result)| {
            let at = work.operations.iter().position(|o| o.name == operation)?;
            work.cases[at].results.get(result).cloned()
        });
        let bytes = made.ok_or_else(|| BenchError::Declaration { path: w.function.clone().into(), reason: format!("no earlier operation leaves {from:?}") })?;
        case.inputs.insert(name.clone(), bytes);
    }
    Ok(())
}

fn case(w: &Workload) -> Case {
    // Rows were read: their digits are hexadecimal.
    let bytes = |all: &BTreeMap<String, crate::row::Bytes>| all.iter().map(|(n, b)| (n.clone(), b.get().unwrap_or_default())).collect();
    Case {
        id: w.operation.clone(),
        function: w.function.clone(),
        inputs: bytes(&w.inputs),
        results: bytes(&w.results),
        returns: w.returns.map_or(Expectation::Any, |n| Expectation::Exactly(n.into())),
    }
}
