//! What the functions of a module share: tables, numbers of functions, how each is called.
//! Trusted: nothing: nothing that ships is made of it.

use super::homes::Spread;
use super::number::{bits_of, Words};
use crate::data::{Param, Table, Type, Value};
use crate::layout::Layout;
use crate::notes::Note;
use santoku_ir::{ConstId, ConstValue, Func, FuncId, Loc, Program};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How a function is called, in the order of C: results that are written, lengths, parameters.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    /// The only result is a number and is returned.
    pub returns: bool,
}

impl Signature {
    pub fn of(f: &Func) -> Signature {
        Signature { returns: f.rets.len() == 1 && f.local(f.rets[0]).ty.is_scalar() }
    }
}

/// Shared by the functions of a module.
pub(crate) struct Shared<'p> {
    pub program: &'p Program,
    pub words: Words,
    pub tables: Vec<Table>,
    pub table_of: BTreeMap<ConstId, u32>,
    pub funcs: BTreeMap<FuncId, u32>,
    pub big_endian: bool,
    pub spread: Spread,
    /// Paths of the program's files.
    pub files: Vec<Arc<str>>,
}

impl Shared<'_> {
    /// The line of a place; nothing where that is not known.
    pub(crate) fn note(&self, at: Loc) -> Option<Note> {
        let file = self.files.get(at.file as usize).filter(|_| at.line > 0)?;
        Some(Note { file: file.clone(), line: at.line, variable: None })
    }

    /// The table of a constant array or struct.
    pub(crate) fn table(&mut self, id: ConstId) -> Result<u32, String> {
        if let Some(k) = self.table_of.get(&id) {
            return Ok(*k);
        }
        let c = &self.program.consts[id.0 as usize];
        let layout = Layout::of(self.program, &self.constant_type(id))?;
        let mut bytes = vec![0u8; layout.bytes().ok_or("a constant of run-time length")? as usize];
        fill(&layout, &c.value, 0, self.big_endian, &mut bytes)?;
        let k = self.tables.len() as u32;
        self.tables.push(Table { name: c.name.clone(), align: layout.align(), bytes });
        self.table_of.insert(id, k);
        Ok(k)
    }

    /// Its type; integers without a range have that of their values.
    pub(crate) fn constant_type(&self, id: ConstId) -> santoku_ir::Ty {
        let c = &self.program.consts[id.0 as usize];
        ranged(&c.ty, &c.value)
    }
}

fn ranged(ty: &santoku_ir::Ty, value: &ConstValue) -> santoku_ir::Ty {
    use santoku_ir::{Range, Ty};
    fn values(v: &ConstValue) -> Option<Range> {
        match v {
            ConstValue::Scalar(n) => Some(Range::new(n.clone(), n.clone())),
            ConstValue::Array(all) | ConstValue::Struct(all) => all.iter().filter_map(values).reduce(|a, b| a.join(&b)),
        }
    }
    match ty {
        Ty::Int(None) => Ty::Int(values(value)),
        Ty::Array { elem, len, ranges: None } => Ty::Array { elem: Box::new(ranged(elem, value)), len: len.clone(), ranges: None },
        other => other.clone(),
    }
}

fn fill(layout: &Layout, value: &ConstValue, at: u64, big_endian: bool, out: &mut [u8]) -> Result<(), String> {
    match (layout, value) {
        (Layout::Scalar(s), ConstValue::Scalar(v)) => {
            let n = bits_of(v);
            for k in 0..s.bytes {
                let place = if big_endian { s.bytes - 1 - k } else { k };
                out[(at + u64::from(place)) as usize] = (n >> (8 * k)) as u8;
            }
            Ok(())
        }
        (Layout::Array { elem, .. }, ConstValue::Array(all)) => {
            let stride = elem.bytes().ok_or("an array of arrays of run-time length")?;
            all.iter().enumerate().try_for_each(|(k, v)| fill(elem, v, at + k as u64 * stride, big_endian, out))
        }
        (Layout::Struct { fields, .. }, ConstValue::Struct(all)) => fields.iter().zip(all).try_for_each(|((o, l), v)| fill(l, v, at + o, big_endian, out)),
        _ => Err("a constant of another type".into()),
    }
}

/// What a parameter of the lowered function is called.
pub(crate) fn param(value: Value, ty: Type, name: &str, written: bool) -> Param {
    Param { value, ty, name: name.into(), written, most: None }
}
