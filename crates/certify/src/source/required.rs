//! What a function's preconditions say of lengths and scalars, as terms.
//!
//! Needs: inputs.  Keeps: only comparisons of sums are understood; what is left out is not assumed.  Absent: aggregates.

use crate::term::{T, Terms};
use super::inputs::Inputs;
use super::ops;
use super::value::Value;
use santoku_ir::{Base, ContractKind, Func, LocalId, SpecExpr, SpecOp};

/// Bits that are 1 on every input that meets the preconditions of `f`.
pub fn required(terms: &mut Terms, f: &Func, inputs: &Inputs) -> Vec<T> {
    let mut found = vec![];
    for c in f.contracts.iter().filter(|c| c.kind == ContractKind::Requires) {
        clause(terms, f, inputs, &c.cond, &mut found);
    }
    found
}

fn clause(terms: &mut Terms, f: &Func, inputs: &Inputs, e: &SpecExpr, found: &mut Vec<T>) {
    match e {
        SpecExpr::And(a, b) => {
            clause(terms, f, inputs, a, found);
            clause(terms, f, inputs, b, found);
        }
        SpecExpr::Cmp(op, a, b) => {
            if let (Some(a), Some(b)) = (value(terms, f, inputs, a), value(terms, f, inputs, b)) {
                found.push(ops::compare(terms, *op, a, b));
            }
        }
        _ => {}
    }
}

fn value(terms: &mut Terms, f: &Func, inputs: &Inputs, e: &SpecExpr) -> Option<T> {
    Some(match e {
        SpecExpr::Int(v) => terms.int(v.clone()),
        SpecExpr::Place(p) if p.projs.is_empty() => match p.base {
            Base::Local(id) => scalar(f, inputs, id)?,
            Base::Const(_) => return None,
        },
        SpecExpr::Neg(a) => {
            let a = value(terms, f, inputs, a)?;
            terms.neg(a)
        }
        SpecExpr::Bin(op, a, b) => {
            let (a, b) = (value(terms, f, inputs, a)?, value(terms, f, inputs, b)?);
            match op {
                SpecOp::Add => terms.add(a, b),
                SpecOp::Sub => terms.sub(a, b),
                SpecOp::Mul => terms.mul(a, b),
                _ => return None,
            }
        }
        _ => return None,
    })
}

fn scalar(f: &Func, inputs: &Inputs, id: LocalId) -> Option<T> {
    if let Some(k) = f.lens.iter().position(|l| *l == id) {
        return inputs.lens.get(k).copied();
    }
    let k = f.params.iter().position(|p| *p == id)?;
    match inputs.args.get(k)? {
        Value::Scalar(t) => Some(*t),
        _ => None,
    }
}
