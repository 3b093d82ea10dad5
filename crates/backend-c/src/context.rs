//! What is at hand while a unit is printed, and while one of its functions is.

use crate::EmitError;
use crate::alias::InPlace;
use crate::ctype::{bits_needed, narrowest, word_storage, CInt, CTy};
use crate::known::scalar_range;
use crate::names::Names;
use crate::options::Options;
use crate::scope::BlockPath;
use santoku_ir::{ConstId, Expr, Func, Loc, LocalId, Program, Range, StructId, Ty};
use std::collections::BTreeMap;
use std::fmt::Write;

pub type Res<T> = Result<T, EmitError>;

/// Shared by all functions of the unit.
pub struct UnitCx<'a> {
    pub program: &'a Program,
    pub opts: &'a Options,
    pub signatures: Vec<Signature>,
    pub in_place: Vec<InPlace>,
    pub globals: Names,
    pub struct_names: Vec<String>,
    /// `None`: of no type of C, and nothing has it.
    pub struct_fields: Vec<Option<Vec<(String, CTy)>>>,
    pub const_names: Vec<String>,
    pub const_types: Vec<CTy>,
    pub const_used: Vec<bool>,
    pub index: BTreeMap<String, usize>,
}

impl UnitCx<'_> {
    pub fn fields(&self, id: StructId) -> Vec<(String, CTy)> {
        self.struct_fields[id.0 as usize].clone().unwrap_or_default()
    }
    pub fn const_root(&self, id: ConstId) -> (String, CTy) {
        (self.const_names[id.0 as usize].clone(), self.const_types[id.0 as usize].clone())
    }
    pub fn index_of(&self, f: &Func) -> usize {
        self.index[&f.name]
    }
    pub fn scalar_name(&self, t: &CTy) -> String {
        match t {
            CTy::Int(t) => t.name().to_string(),
            CTy::Vec(_) => self.opts.vector.as_ref().map_or("V", |v| &v.type_name).to_string(),
            CTy::Struct(id) => self.struct_names[id.0 as usize].clone(),
            CTy::Array(e, _) => self.scalar_name(e),
        }
    }
}

/// The part of a function its callers need.
#[derive(Clone, Debug)]
pub struct Signature {
    pub name: String,
    pub params: Vec<CTy>,
    pub rets: Vec<CTy>,
    /// The only result is a scalar and is the C return value.
    pub returns: bool,
    /// Users may have another name for it.
    pub renamed: bool,
    /// Lengths are given as `size_t`: others call it.
    pub sizes: bool,
    /// The function that others call in its place, which calls it and clears the stack.
    pub outer: Option<Outer>,
}

/// A function of the header around another.
#[derive(Clone, Debug)]
pub struct Outer {
    pub name: String,
    /// As in [`Signature::renamed`].
    pub renamed: bool,
}

impl Signature {
    /// How the name is written where the function is declared, defined and called: users may have another for it.
    pub fn written(&self) -> String {
        written(&self.name, self.renamed)
    }

    /// The same of the function that others call.
    pub fn written_outside(&self) -> String {
        self.outer.as_ref().map_or_else(|| self.written(), |o| written(&o.name, o.renamed))
    }

    /// Its name for others.
    pub fn outside(&self) -> &String {
        self.outer.as_ref().map_or(&self.name, |o| &o.name)
    }
}

fn written(name: &str, renamed: bool) -> String {
    if renamed { format!("STK_NAME({name})") } else { name.to_string() }
}

/// Everything needed while one function is printed.
pub struct FnCx<'a> {
    pub unit: &'a UnitCx<'a>,
    pub f: &'a Func,
    pub loc: Loc,
    /// C name and type of each local.
    pub names: Vec<String>,
    pub ctys: Vec<CTy>,
    /// Scalar results beyond the first come back through pointers.
    pub by_pointer: Vec<bool>,
    pub fresh: Names,
    pub out: String,
    pub indent: usize,
    pub declared_at: BTreeMap<BlockPath, Vec<LocalId>>,
    /// A variable that is the same object as a result: the last statement, which copies it there, is none.
    pub one: Option<(LocalId, LocalId)>,
}

pub enum StorageError {
    Unannotated,
    TooWide(u64),
}

impl StorageError {
    /// The error as the user sees it, for local `what` of `f`.
    pub fn of(self, unit: &UnitCx<'_>, f: &Func, what: &str) -> EmitError {
        match self {
            StorageError::Unannotated => EmitError::Unannotated { func: f.name.clone(), what: format!("`{what}`"), loc: f.loc },
            StorageError::TooWide(bits) => EmitError::TooWide { func: f.name.clone(), bits, widest: unit.opts.widest, loc: f.loc },
        }
    }

    /// The same for what belongs to no function.
    pub fn of_item(self, unit: &UnitCx<'_>, what: &str, loc: santoku_ir::Loc) -> EmitError {
        match self {
            StorageError::Unannotated => EmitError::Unannotated { func: String::new(), what: what.into(), loc },
            StorageError::TooWide(bits) => EmitError::TooWide { func: what.replace('`', ""), bits, widest: unit.opts.widest, loc },
        }
    }
}

/// Storage type of an element. `public` words stay scalars in vector mode.
pub fn storage(unit: &UnitCx<'_>, ty: &Ty, public: bool) -> Result<CTy, StorageError> {
    Ok(match ty {
        Ty::Word(b) if unit.opts.vector.is_some() && !public => CTy::Vec(*b),
        Ty::Word(b) if word_storage(*b).bits > unit.opts.widest => return Err(StorageError::TooWide((*b).into())),
        Ty::Word(b) => CTy::Int(word_storage(*b)),
        Ty::Bool => CTy::Int(CInt::unsigned(8)),
        Ty::Int(None) => return Err(StorageError::Unannotated),
        Ty::Int(Some(r)) => CTy::Int(int_storage(unit, r)?),
        Ty::Array { elem, len, .. } => match leaf_range_here(ty) {
            Some(r) => CTy::Array(Box::new(CTy::Int(int_storage(unit, &r)?)), len.clone()),
            None => CTy::Array(Box::new(storage(unit, elem, public)?), len.clone()),
        },
        Ty::Struct(id) => CTy::Struct(*id),
    })
}

/// Range of the elements of a flat integer array.
fn leaf_range_here(ty: &Ty) -> Option<Range> {
    match ty {
        Ty::Array { ranges: Some(rs), .. } => rs.iter().cloned().reduce(|a, b| a.join(&b)),
        _ => None,
    }
}

pub fn int_storage(unit: &UnitCx<'_>, r: &Range) -> Result<CInt, StorageError> {
    narrowest(r, 8).filter(|t| t.bits <= unit.opts.widest).ok_or_else(|| StorageError::TooWide(crate::ctype::bits_needed(r)))
}

impl FnCx<'_> {
    pub fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{:indent$}{text}", "", indent = self.indent * 4);
    }

    pub fn open(&mut self, text: &str) {
        self.line(text);
        self.indent += 1;
    }

    pub fn close(&mut self) {
        self.indent -= 1;
        self.line("}");
    }

    /// The value range of a scalar expression as its C computation sees it.
    pub fn range_of(&self, e: &Expr) -> Res<Range> {
        scalar_range(e).ok_or_else(|| match &e.ty {
            Ty::Int(_) => EmitError::Unannotated { func: self.f.name.clone(), what: "an integer expression".into(), loc: self.loc },
            _ => self.unsupported("an aggregate where a scalar is expected"),
        })
    }

    pub fn unsupported(&self, what: impl Into<String>) -> EmitError {
        EmitError::Unsupported { func: self.f.name.clone(), what: what.into(), loc: self.loc }
    }

    /// Narrowest type for a range, within what the target has.
    pub fn fit(&self, r: &Range) -> Res<CInt> {
        narrowest(r, 32).filter(|t| t.bits <= self.unit.opts.widest).ok_or_else(|| EmitError::TooWide {
            func: self.f.name.clone(),
            bits: bits_needed(r),
            widest: self.unit.opts.widest,
            loc: self.loc,
        })
    }
}
