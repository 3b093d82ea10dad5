//! By what instances of functions, modules and tables are told apart.

use crate::entities::Entity;
use crate::modules::ModId;
use crate::values::CVal;
use num_bigint::BigInt;
use santoku_diag::Span;
use santoku_ir::{FuncId, Ty};
use santoku_syntax::ast::{Function, GenericKind};
use std::collections::BTreeMap;

/// Value of a generic parameter as far as it distinguishes instances.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GenericKey {
    Const(BigInt),
    Type(Ty),
    /// Lengths stay parameters.
    Len,
}

/// Length of the array that a slice lies in: a constant, or a length and a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Backing {
    Const(u64),
    Length(i64),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct InstanceKey {
    pub entity: Entity,
    pub generics: Vec<GenericKey>,
    /// Parameters, by position, that are slices of run-time length of other arrays.
    pub views: BTreeMap<usize, Backing>,
}

#[derive(Clone, Copy, Debug)]
pub enum Instance {
    Failed,
    Done(FuncId),
}

/// The key of a function without `const` and `type` parameters.
pub fn plain_key(entity: Entity, f: &Function) -> Option<InstanceKey> {
    let all_len = f.generics.iter().all(|g| g.kind == GenericKind::Len);
    all_len.then(|| InstanceKey { entity, generics: vec![GenericKey::Len; f.generics.len()], views: BTreeMap::new() })
}

/// Value of a module's parameter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Arg {
    Const(CVal),
    Type(Ty),
    Module(ModId),
}

/// A module with parameters and their values.
pub struct ModuleInstance {
    pub id: ModId,
    /// `curve.p256.F`: the file and name that first asked for it, or the file that stands for it.
    pub name: String,
    pub args: BTreeMap<String, Arg>,
    /// Where it was asked for.
    pub span: Span,
}

/// A constant function and its arguments.
pub type ConstCall = (Entity, Vec<CVal>);

/// What a table is applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Applied {
    /// A word that may be secret.
    Word,
    /// A public word: an address.
    Public,
    /// Words of so many bits, one for each input.
    Columns(u32),
}
