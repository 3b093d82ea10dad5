//! Arguments that a function gets from its callers: what meets preconditions that no random value meets.
//!
//! Needs: the executor, which on constants is an interpreter that can be watched.  Keeps: the arguments of the first call
//! met.  Absent: judgement; the caller of this file checks the preconditions.

use crate::term::{T, Terms};
use super::state::{Environment, Source};
use super::stop::Stop;
use super::value::{concrete, known_length, with_lengths, Value};
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use santoku_ir::interp;
use santoku_ir::visit::walk_stmts;
use santoku_ir::{FuncId, Len, Program, Stmt, Ty};

/// Lengths and arguments.
pub type Sample = (Vec<u64>, Vec<interp::Value>);

/// Work until the call is met.
const STEPS: u64 = 400_000;

/// The functions that call `func`.
pub fn callers(program: &Program, func: FuncId) -> Vec<FuncId> {
    let calls = |f: &santoku_ir::Func| {
        let mut found = false;
        walk_stmts(&f.body, &mut |s| found |= matches!(s, Stmt::Call { func: callee, .. } if *callee == func));
        found
    };
    (0..program.funcs.len()).filter(|k| calls(&program.funcs[*k])).map(|k| FuncId(k as u32)).collect()
}

struct Watch(FuncId);

impl Environment for Watch {
    fn cut(&self, func: FuncId) -> bool {
        func == self.0
    }
    fn read(&self, _terms: &mut Terms, _array: u32, _index: T) -> T {
        Terms::ZERO // All lengths are constants: no array has a number.
    }
}

/// What `caller`, run on `sample`, first calls `func` with; `None` where it does not, or too late.
pub fn first_call(program: &Program, caller: FuncId, sample: &Sample, func: FuncId) -> Option<Sample> {
    let mut terms = Terms::new(32, 1);
    let lens: Vec<T> = sample.0.iter().map(|n| terms.int(*n)).collect();
    let args = sample.1.iter().map(|v| symbolic(&mut terms, v)).collect::<Option<Vec<Value>>>()?;
    let env = Watch(func);
    let mut source = Source::new(program, &mut terms, &env);
    source.limits.steps = STEPS;
    source.limits.calls = 1;
    if !matches!(source.run(caller, &lens, args), Ok(_) | Err(Stop::TooBig)) {
        return None;
    }
    let made = source.calls.first()?;
    let (lens, flat) = (made.lens.clone(), made.flat.clone());
    let constants = |ts: &[T]| ts.iter().map(|t| terms.as_const(*t)).collect::<Option<Vec<BigInt>>>();
    let lens: Vec<u64> = constants(&lens)?.iter().map(|n| n.to_u64()).collect::<Option<_>>()?;
    let mut scalars = constants(&flat)?.into_iter().skip(lens.len());
    let f = program.func(func);
    let known = |len: &Len| known_length(f, &lens, len);
    let types: Vec<Ty> = f.params.iter().map(|id| with_lengths(&f.local(*id).ty, &known)).collect();
    let args = types.iter().map(|ty| concrete(program, ty, &mut scalars)).collect::<Option<Vec<_>>>()?;
    Some((lens, args))
}

/// A value of the interpreter as constants.
fn symbolic(terms: &mut Terms, value: &interp::Value) -> Option<Value> {
    match value.parts() {
        Some(parts) => Some(Value::parts(parts.iter().map(|p| symbolic(terms, p)).collect::<Option<_>>()?)),
        None => Some(Value::Scalar(terms.int(value.to_integer()?))),
    }
}
