//! Calls of a primitive's functions on given bytes, and what they must leave.

use crate::interface::{Argument, ArgumentRole, Function, Returns};
use crate::BenchError;
use santoku_lab::harness::{Arg, Call, CallOutput, Ret};
use santoku_target::ByteOrder;
use santoku_vectors::named::Vector;
use std::collections::BTreeMap;

/// What a call is given and must leave. Numbers are little-endian.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Case {
    /// Source and number.
    pub id: String,
    pub function: String,
    /// By the names of arguments.
    pub inputs: BTreeMap<String, Vec<u8>>,
    /// By the names of results; a longer room may hold more.
    pub results: BTreeMap<String, Vec<u8>>,
    pub returns: Expectation,
}

/// What a call must return.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expectation {
    /// Nothing is said.
    #[default]
    Any,
    Exactly(i128),
    /// A verdict that the vector's author leaves open or not.
    Verdict(santoku_vectors::Expected),
}

/// Little-endian numbers of `size` bytes as they lie in the memory of the machine, and back.
fn in_memory(bytes: &[u8], size: usize, order: ByteOrder) -> Vec<u8> {
    match order {
        ByteOrder::Little => bytes.to_vec(),
        ByteOrder::Big => bytes.chunks(size.max(1)).flat_map(|c| c.iter().rev().copied()).collect(),
    }
}

impl Case {
    /// A vector of the library's primitives, for the function that it names: its outputs are those of the function, in order.
    ///
    /// # Errors
    /// `Declaration`: the function has fewer outputs, or there is none of that name.
    pub fn of(functions: &[Function], v: &Vector) -> Result<Case, BenchError> {
        let f = find(functions, v.function, &v.id)?;
        let outputs: Vec<&Argument> = f.arguments.iter().filter(|a| a.role.is_written()).collect();
        if outputs.len() < v.outputs.len() {
            return Err(bad(v.function, &v.id, "it has fewer results"));
        }
        Ok(Case {
            id: v.id.clone(),
            function: v.function.into(),
            inputs: v.inputs.iter().map(|(n, b)| (n.to_string(), b.clone())).collect(),
            results: outputs.iter().zip(&v.outputs).map(|(a, b)| (a.name.clone(), b.clone())).collect(),
            returns: v.returned.map_or(Expectation::Any, Expectation::Verdict),
        })
    }

    /// Lengths, by the inputs that have them, or as the case gives them, where no input has them.
    pub(crate) fn lengths(&self, f: &Function) -> Result<BTreeMap<String, usize>, BenchError> {
        let mut found = BTreeMap::new();
        for a in f.arguments.iter().filter(|a| a.role == ArgumentRole::Length) {
            if let Some(given) = self.inputs.get(&a.name) {
                found.insert(a.name.clone(), santoku_num::little(given) as usize);
            }
        }
        for a in f.arguments.iter().filter(|a| a.role.is_read()) {
            let Some((of, e)) = a.bytes.as_ref().and_then(|e| Some((e.of.clone()?, e))) else { continue };
            let given = self.inputs.get(&a.name).ok_or_else(|| bad(&f.name, &self.id, &format!("it says nothing of `{}`", a.name)))?;
            let n = usize::try_from(given.len() as i64 - e.add).ok().filter(|n| n % e.times.max(1) == 0).map(|n| n / e.times.max(1));
            let n = n.ok_or_else(|| bad(&f.name, &self.id, &format!("`{}` has another length", a.name)))?;
            if found.insert(of.clone(), n).is_some_and(|other| other != n) {
                return Err(bad(&f.name, &self.id, &format!("`{of}` has two values")));
            }
        }
        Ok(found)
    }

    /// The call.
    ///
    /// # Errors
    /// `Declaration`: the function has other arguments than the case.
    pub fn call(&self, functions: &[Function], order: ByteOrder) -> Result<Call, BenchError> {
        let f = find(functions, &self.function, &self.id)?;
        let lengths = self.lengths(f)?;
        let length = |name: &str| lengths.get(name).copied();
        let mut args = vec![];
        for a in &f.arguments {
            let say = |what: &str| bad(&f.name, &self.id, &format!("`{}` {what}", a.name));
            let bytes = |e: &Option<crate::interface::Extent>| e.as_ref().and_then(|e| e.get(&length));
            args.push(match a.role {
                ArgumentRole::Length => number(a.number, length(&a.name).ok_or_else(|| say("is the length of nothing"))? as u64),
                ArgumentRole::Output => Arg::Out(bytes(&a.room).or_else(|| bytes(&a.bytes)).ok_or_else(|| say("has no length"))?),
                ArgumentRole::Input | ArgumentRole::Changed => {
                    let given = self.inputs.get(&a.name).ok_or_else(|| say("is not given"))?;
                    if bytes(&a.bytes) != Some(given.len()) {
                        return Err(say("has another length"));
                    }
                    Arg::In(in_memory(given, a.number, order))
                }
                ArgumentRole::Value => {
                    let given = self.inputs.get(&a.name).ok_or_else(|| say("is not given"))?;
                    number(a.number, santoku_num::little(given) as u64)
                }
            });
        }
        let ret = match f.returns {
            Returns::Nothing => Ret::Void,
            Returns::Word64 => Ret::Word64,
            Returns::Verdict | Returns::Status | Returns::Word32 => Ret::Word32,
        };
        Ok(Call { declaration: f.declaration.clone(), function: f.name.clone(), args, ret })
    }

    /// What is wrong with what the call left; `None`: it is as the case says.
    pub fn wrong(&self, functions: &[Function], left: &CallOutput, order: ByteOrder) -> Option<String> {
        let f = functions.iter().find(|f| f.name == self.function)?;
        let returned = left.ret as u32 as i32;
        // C says whether a number is signed; its bytes are the same.
        let is = |n: i128| match f.returns {
            Returns::Word64 => n == i128::from(left.ret) || n == i128::from(left.ret as i64),
            _ => n == i128::from(left.ret as u32) || n == i128::from(returned),
        };
        match self.returns {
            Expectation::Exactly(n) if !is(n) => return Some(format!("{}: returned {} instead of {n}", self.id, left.ret as i64)),
            Expectation::Verdict(e) if !e.agrees(f.returns.accepts(left.ret)) => return Some(format!("{}: returned {returned}", self.id)),
            _ => {}
        }
        for (name, wanted) in &self.results {
            let Some(at) = f.arguments.iter().position(|a| a.name == *name && a.role.is_written()) else {
                return Some(format!("{}: there is no result `{name}`", self.id));
            };
            let a = &f.arguments[at];
            let own = in_memory(left.buffers.get(at).and_then(|b| b.as_deref()).unwrap_or_default(), a.number, order);
            let same = own.len() >= wanted.len() && own[..wanted.len()] == *wanted;
            // Scalars of vectors may be shorter than those of C; of a room that others may fill, the rest is theirs.
            let rest = a.room.is_some() || own.len() == wanted.len() || a.number > 1 && own.iter().skip(wanted.len()).all(|b| *b == 0);
            if !same || !rest {
                return Some(format!("{}: another `{name}`", self.id));
            }
        }
        None
    }
}

fn number(bytes: usize, value: u64) -> Arg {
    if bytes == 8 {
        Arg::Word64(value)
    } else {
        Arg::Word32(value as u32)
    }
}

fn find<'f>(functions: &'f [Function], name: &str, id: &str) -> Result<&'f Function, BenchError> {
    functions.iter().find(|f| f.name == name).ok_or_else(|| bad(name, id, "there is no such function"))
}

fn bad(function: &str, id: &str, what: &str) -> BenchError {
    BenchError::Declaration { path: function.into(), reason: format!("{id}: {what}") }
}
