//! What the interpreter makes of an exported function on the bytes of a case.

use crate::interface::{Argument, ArgumentRole, Function, Returns};
use crate::operation::{Case, Expectation};
use crate::BenchError;
use num_bigint::BigInt;
use santoku_backend_c::Exported;
use santoku_driver::STEPS;
use santoku_ir::interp::{Interp, Options, Value};
use santoku_ir::{FuncId, Program, Ty};
use santoku_num::little;

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
