//! Calls of a primitive's exported functions, made from what the compiler says of their interface: no primitive has a line of code here.

use crate::BenchError;
use santoku_backend_c::{Argument, Exported, Role};
use santoku_ir::{Len, Ty};
use santoku_lab::harness::{Arg, Call, CallOutput, Ret};
use santoku_target::ByteOrder;
use santoku_vectors::named::Vector;
use std::collections::BTreeMap;

/// Bytes of a scalar in C, at least four: smaller ones lie in arrays alone.
fn scalar_bytes(ty: &Ty) -> Option<usize> {
    match ty {
        Ty::Bool => Some(4),
        Ty::Word(bits) => [32, 64, 128].into_iter().find(|b| b >= bits).map(|b: u32| b as usize / 8),
        Ty::Int(_) | Ty::Array { .. } | Ty::Struct(_) => None,
    }
}

/// Bytes of an element of an array.
fn element_bytes(ty: &Ty) -> Option<usize> {
    match ty {
        Ty::Word(bits) => [8, 16, 32, 64, 128].into_iter().find(|b| b >= bits).map(|b: u32| b as usize / 8),
        _ => None,
    }
}

/// Bytes of one number in what an argument points to, or is.
fn unit(ty: &Ty) -> Option<usize> {
    match ty {
        Ty::Array { elem, .. } => element_bytes(elem),
        other => scalar_bytes(other),
    }
}

/// Little-endian numbers of `size` bytes as they lie in the memory of the machine, and back.
fn in_memory(bytes: &[u8], size: usize, order: ByteOrder) -> Vec<u8> {
    match order {
        ByteOrder::Little => bytes.to_vec(),
        ByteOrder::Big => bytes.chunks(size.max(1)).flat_map(|c| c.iter().rev().copied()).collect(),
    }
}

/// The call of a vector.
///
/// # Errors
/// `Declaration`: the function has another parameter than the vector, or a type of which there are no vectors.
pub fn call(exported: &[Exported], vector: &Vector, order: ByteOrder) -> Result<Call, BenchError> {
    let bad = |reason: String| BenchError::Declaration { path: vector.function.into(), reason: format!("{}: {reason}", vector.id) };
    let f = exported.iter().find(|f| f.name == vector.function).ok_or_else(|| bad("no such function is exported".into()))?;
    let input = |name: &str| vector.inputs.iter().find(|(n, _)| *n == name).map(|(_, bytes)| bytes);
    let lens = lengths(f, &input).map_err(bad)?;
    let mut args = vec![];
    for a in &f.arguments {
        let size = unit(&a.ty);
        args.push(match (a.role, &a.ty) {
            (Role::Length, _) => Arg::Word32(lens.get(&a.name).copied().ok_or_else(|| bad(format!("nothing has the length `{}`", a.name)))? as u32),
            (Role::Result, ty) => Arg::Out(extent(f, ty, &lens).ok_or_else(|| bad(format!("`{}` has a type without vectors", a.name)))?),
            (Role::Value, Ty::Array { .. }) => {
                let bytes = input(&a.name).ok_or_else(|| bad(format!("it says nothing of `{}`", a.name)))?;
                if extent(f, &a.ty, &lens) != Some(bytes.len()) {
                    return Err(bad(format!("`{}` has another length", a.name)));
                }
                Arg::In(in_memory(bytes, size.unwrap_or(1), order))
            }
            (Role::Value, _) => {
                let bytes = input(&a.name).ok_or_else(|| bad(format!("it says nothing of `{}`", a.name)))?;
                let value = bytes.iter().rev().fold(0u64, |v, b| v << 8 | u64::from(*b));
                if size == Some(8) { Arg::Word64(value) } else { Arg::Word32(value as u32) }
            }
        });
    }
    let ret = match &f.returned {
        None => Ret::Void,
        Some(ty) if scalar_bytes(ty) == Some(8) => Ret::Word64,
        Some(_) => Ret::Word32,
    };
    // Types of C99's headers are not known where a program is driven.
    let words = [("uint8_t", "unsigned char"), ("uint16_t", "unsigned short"), ("uint64_t", "unsigned long long"), ("restrict ", "")];
    let plain = words.iter().fold(f.declaration.clone(), |text, (from, to)| text.replace(from, to));
    Ok(Call { declaration: plain.replace("uint32_t", "__UINT32_TYPE__"), function: f.name.clone(), args, ret })
}

/// Lengths of arrays by the names of the parameters that they are.
fn lengths<'v>(f: &Exported, input: &dyn Fn(&str) -> Option<&'v Vec<u8>>) -> Result<BTreeMap<String, usize>, String> {
    let names: Vec<&Argument> = f.arguments.iter().filter(|a| a.role == Role::Length).collect();
    let mut found = BTreeMap::new();
    for a in f.arguments.iter().filter(|a| a.role == Role::Value) {
        let Ty::Array { elem, len: Len::Param { param, add: 0 }, .. } = &a.ty else { continue };
        let (Some(name), Some(size)) = (names.get(param.0 as usize), element_bytes(elem)) else { continue };
        let bytes = input(&a.name).ok_or_else(|| format!("it says nothing of `{}`", a.name))?;
        let n = bytes.len() / size;
        if found.insert(name.name.clone(), n).is_some_and(|other| other != n) {
            return Err(format!("`{}` has two lengths", name.name));
        }
    }
    Ok(found)
}

/// Bytes that an argument points to.
fn extent(f: &Exported, ty: &Ty, lens: &BTreeMap<String, usize>) -> Option<usize> {
    match ty {
        Ty::Array { elem, len, .. } => {
            let n = match len {
                Len::Const(n) => *n as usize,
                Len::Param { param, add } => {
                    let name = f.arguments.iter().filter(|a| a.role == Role::Length).nth(param.0 as usize)?;
                    usize::try_from(*lens.get(&name.name)? as i64 + add).ok()?
                }
            };
            Some(n * element_bytes(elem)?)
        }
        other => scalar_bytes(other),
    }
}

/// What is wrong with what a call left; `None`: it is as the vector says.
pub fn wrong(exported: &[Exported], vector: &Vector, left: &CallOutput, order: ByteOrder) -> Option<String> {
    let f = exported.iter().find(|f| f.name == vector.function)?;
    if let Some(expected) = vector.returned {
        if !expected.agrees(left.ret != 0) {
            return Some(format!("{}: returned {}", vector.id, left.ret));
        }
    }
    let results = f.arguments.iter().zip(&left.buffers).filter(|(a, _)| a.role == Role::Result);
    for (k, (a, buffer)) in results.enumerate() {
        let own = in_memory(buffer.as_deref().unwrap_or_default(), unit(&a.ty).unwrap_or(1), order);
        let wanted = vector.outputs.get(k).map_or(&[][..], Vec::as_slice);
        // Scalars of vectors may be shorter than those of C.
        let same = own.len() >= wanted.len() && own[..wanted.len()] == *wanted && own[wanted.len()..].iter().all(|b| *b == 0);
        let whole = matches!(a.ty, Ty::Array { .. }) && own.len() != wanted.len();
        if !same || whole {
            return Some(format!("{}: another `{}`", vector.id, a.name));
        }
    }
    None
}
