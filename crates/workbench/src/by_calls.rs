//! What a function of an interface leaves: its row says which functions of the program it calls, the interpreter what these give.

use crate::interface::{functions, ArgumentRole, Function, Returns};
use crate::interface_row::FunctionRow;
use crate::interpreted::interpreted;
use crate::operation::{Case, Expectation};
use crate::primitives::Primitive;
use crate::BenchError;
use santoku_backend_c::Exported;
use santoku_ir::Program;
use std::collections::BTreeMap;

/// Puts what the calls of a row leave into a case of its function.
///
/// # Errors
/// `Declaration`: a call's argument has no value, or its row draws randomness; those of [`interpreted`].
pub fn by_calls(program: &Program, primitive: &Primitive, exported: &[Exported], (f, row): (&Function, &FunctionRow), case: &mut Case) -> Result<(), BenchError> {
    let bad = |reason: String| BenchError::Declaration { path: f.name.clone().into(), reason };
    if !row.random.is_empty() {
        return Err(bad("what it leaves is random".into()));
    }
    let lengths = case.lengths(f)?;
    let size = |name: &str| {
        let a = f.arguments.iter().find(|a| a.name == name)?;
        a.bytes.as_ref()?.get(&|n| lengths.get(n).copied())
    };
    let mut objects: BTreeMap<String, Vec<u8>> = case.inputs.clone();
    for name in &row.zeros {
        objects.insert(name.clone(), vec![0; size(name).ok_or_else(|| bad(format!("`{name}` has no length")))?]);
    }
    let inner = functions(&primitive.by_itself(), exported)?;
    let mut accepted = true;
    for call in &row.calls {
        let callee = inner.iter().find(|g| g.name == call.function).ok_or_else(|| bad(format!("the source exports no {}", call.function)))?;
        let own = |name: &str| call.pass.get(name).cloned().unwrap_or_else(|| name.to_string());
        let mut made = Case { id: case.id.clone(), function: callee.name.clone(), ..Case::default() };
        for a in callee.arguments.iter().filter(|a| a.role != ArgumentRole::Output) {
            let outer = own(&a.name);
            let value = match a.role {
                ArgumentRole::Length => lengths.get(&outer).map(|n| (*n as u64).to_le_bytes().to_vec()),
                _ => objects.get(&outer).cloned(),
            };
            made.inputs.insert(a.name.clone(), value.ok_or_else(|| bad(format!("`{outer}` has no value")))?);
        }
        interpreted(program, &inner, exported, &mut made)?;
        objects.extend(made.results.into_iter().map(|(name, bytes)| (own(&name), bytes)));
        if callee.returns == Returns::Verdict && made.returns == Expectation::Exactly(0) {
            accepted = false;
            break;
        }
    }
    if f.returns == Returns::Status {
        case.returns = Expectation::Exactly(if accepted { 0 } else { -1 });
    }
    for a in f.arguments.iter().filter(|a| accepted && a.role.is_written()) {
        let bytes = objects.remove(&a.name).ok_or_else(|| bad(format!("`{}` is never written", a.name)))?;
        case.results.insert(a.name.clone(), bytes);
    }
    Ok(())
}
