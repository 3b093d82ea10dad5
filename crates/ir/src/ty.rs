//! Types of the core: shapes, ranges, lengths.
//!
//! Type *shape* (word size, int, bool, array, struct) must match exactly wherever a value flows.
//! The *range* of an exact integer is a refinement: it is never part of shape equality; leaving a
//! declared range is a proof obligation where a value flows into a declared place.

/// Index into [`crate::Program::structs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StructId(pub u32);

/// Index into [`crate::Func::locals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalId(pub u32);

/// Bounds of an exact integer; `lo <= hi` (the verifier checks it).
pub type Range = santoku_num::Itv;

/// Length of an array: a constant, or a public length of the enclosing function plus a constant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Len {
    Const(u64),
    /// `param + add`, where `param` is one of [`crate::Func::lens`] (a public exact integer).
    Param { param: LocalId, add: i64 },
}

/// A type of the core.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ty {
    /// Machine word of 1..=128 bits; arithmetic wraps.
    Word(u32),
    /// Exact integer. `None`: the range is inferred (locals and intermediate values).
    Int(Option<Range>),
    Bool,
    /// `ranges`, where present, holds one range per element (constant length, element type
    /// `Int`); it refines `elem`'s own range, which then is the join of them all.
    Array { elem: Box<Ty>, len: Len, ranges: Option<Vec<Range>> },
    Struct(StructId),
}

impl Ty {
    pub fn array(elem: Ty, n: u64) -> Ty {
        Ty::Array { elem: Box::new(elem), len: Len::Const(n), ranges: None }
    }
    pub fn int() -> Ty {
        Ty::Int(None)
    }
    pub fn is_scalar(&self) -> bool {
        matches!(self, Ty::Word(_) | Ty::Int(_) | Ty::Bool)
    }
    /// Equality that ignores integer ranges. Parametric lengths compare structurally.
    pub fn same_shape(&self, other: &Ty) -> bool {
        match (self, other) {
            (Ty::Word(a), Ty::Word(b)) => a == b,
            (Ty::Int(_), Ty::Int(_)) | (Ty::Bool, Ty::Bool) => true,
            (Ty::Array { elem: a, len: m, .. }, Ty::Array { elem: b, len: n, .. }) => m == n && a.same_shape(b),
            (Ty::Struct(a), Ty::Struct(b)) => a == b,
            (Ty::Word(_) | Ty::Int(_) | Ty::Bool | Ty::Array { .. } | Ty::Struct(_), _) => false,
        }
    }
}

/// A named record type. Field order is the storage order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructDef {
    pub name: String,
    pub fields: Vec<(String, Ty)>,
}
