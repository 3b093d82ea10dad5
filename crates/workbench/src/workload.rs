//! The calls of a primitive that are measured: what the rows say, with results by the interpreter where they say none.

use crate::by_calls::by_calls;
use crate::compile::front;
use crate::interface::{Argument, ArgumentRole, Function, Returns};
use crate::operation::{Case, Expectation};
use crate::primitives::{Primitive, Tree};
use crate::row::Workload;
use crate::BenchError;
use santoku_backend_c::Exported;
use num_bigint::BigInt;
use santoku_driver::{Target, STEPS};
use santoku_ir::interp::{Interp, Options, Value};
use santoku_ir::{FuncId, Program, Ty};
use santoku_lab::bench::Operation;
use santoku_num::little;
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

/// Puts what the interpreter makes of the source into a case.
///
/// # Errors
/// `Declaration`: the program has no such function; `Source`: what it requires does not hold of the inputs, or its run ends in a fault.
pub fn interpreted(program: &Program, functions: &[Function], exported: &[Exported], case: &mut Case) -> Result<(), BenchError> {
    let bad = |reason: String| BenchError::Declaration { path: case.function.clone().into(), reason };
    let f = functions.iter().find(|f| f.name == case.function).ok_or_else(|| bad("there is no such function".into()))?;
    let types = exported.iter().find(|e| e.name == case.function).ok_or_else(|| bad("the source exports no such function: name its results".into()))?;
    let at = program.funcs.iter().position(|x| x.export.as_deref() == Some(&case.function)).ok_or_else(|| bad("the source exports no such function".into()))?;
    let lengths = case.lengths(f)?;
    let lens: Vec<u64> = f.arguments.iter().filter(|a| a.role == ArgumentRole::Length).map(|a| lengths.get(&a.name).copied().unwrap_or(0) as u64).collect();
    let mut args = vec![];
    for (a, t) in f.arguments.iter().zip(&types.arguments).filter(|(a, _)| matches!(a.role, ArgumentRole::Input | ArgumentRole::Value)) {
        let given = case.inputs.get(&a.name).ok_or_else(|| bad(format!("`{}` is not given", a.name)))?;
        args.push(value(a, &t.ty, given));
    }
    let options = Options { steps: STEPS, inner_spec_steps: 0, ..Options::checked() };
    let made = Interp::with_options(program, options).call(FuncId(at as u32), &lens, args).map_err(|fault| bad(fault.to_string()))?;
    let mut made = made.into_iter();
    if f.returns != Returns::Nothing {
        let value = made.next().and_then(|v| v.to_integer()).and_then(|v| i128::try_from(v).ok());
        case.returns = Expectation::Exactly(value.ok_or_else(|| bad("it gives no number".into()))?);
    }
    for (a, value) in f.arguments.iter().filter(|a| a.role == ArgumentRole::Output).zip(made) {
        let mut bytes = vec![];
        number_bytes(&value, a.number, &mut bytes);
        case.results.insert(a.name.clone(), bytes);
    }
    Ok(())
}


/// A number as C reads it.
fn integer(bytes: &[u8], signed: bool) -> BigInt {
    let word = little(bytes);
    let unused = 128 - 8 * bytes.len().min(16) as u32;
    match signed {
        true => BigInt::from((word << unused) as i128 >> unused),
        false => BigInt::from(word),
    }
}

fn value(a: &Argument, ty: &Ty, bytes: &[u8]) -> Value {
    match ty {
        Ty::Array { elem, .. } => {
            let size = crate::interface::scalars(elem).unwrap_or(1) * a.number;
            Value::array(bytes.chunks(size.max(1)).map(|b| value(a, elem, b)).collect())
        }
        Ty::Bool => Value::Bool(little(bytes) != 0),
        Ty::Int(_) => Value::int(integer(bytes, a.signed)),
        _ => Value::Word(little(bytes)),
    }
}

pub(crate) fn number_bytes(value: &Value, size: usize, out: &mut Vec<u8>) {
    match value {
        Value::Word(w) => out.extend(&w.to_le_bytes()[..size]),
        Value::Bool(b) => out.extend(&u64::from(*b).to_le_bytes()[..size]),
        // Two's complement: integers of C have at most 128 bits.
        Value::Int(v) => out.extend(&v.low_bits(u128::MAX).to_le_bytes()[..size]),
        other => other.parts().into_iter().flatten().for_each(|v| number_bytes(v, size, out)),
    }
}
