//! From the core to the words of a machine: exact integers become words by their proven ranges, places become bytes of memory or names.
//!
//! Needs: a program whose integers carry ranges, as `widths` leaves it.  Keeps: what the program computes.  Absent: assertions and ghost text, which
//! are proved; which instructions a machine has.
//! Trusted: nothing: nothing that ships is made of it.

mod aggregate;
mod body;
mod call;
mod expr;
mod homes;
mod number;
mod place;
mod stmt;
mod wide;

use crate::data::{Machine, Module, Param, Table, Type, Value};
use crate::layout::Layout;
use body::Body;
use number::Words;
use santoku_ir::{ConstId, ConstValue, Func, FuncId, Loc, Program, Stmt};
use santoku_ir::visit::walk_stmts;
use std::collections::{BTreeMap, BTreeSet};

/// What the lowered IR does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotLowered {
    pub func: String,
    pub what: String,
    pub loc: Loc,
}

impl std::fmt::Display for NotLowered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.func, self.what)
    }
}

impl std::error::Error for NotLowered {}

/// A module, and which of its functions each function of the program is.
#[derive(Clone, Debug)]
pub struct Lowered {
    pub module: Module,
    pub funcs: BTreeMap<FuncId, u32>,
}

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
}

/// The functions that exported ones run, with them.
///
/// # Errors
/// The first thing that is not lowered.
pub fn legalise(program: &Program, machine: &Machine) -> Result<Lowered, NotLowered> {
    let mut shared = Shared {
        program,
        words: Words(machine.words.clone()),
        tables: vec![],
        table_of: BTreeMap::new(),
        funcs: BTreeMap::new(),
        big_endian: machine.big_endian,
    };
    let mut funcs = vec![];
    let runs = runs(program);
    for (k, f) in program.funcs.iter().enumerate().filter(|(k, _)| runs.contains(k)) {
        let lowered = function(&mut shared, f).map_err(|what| NotLowered { func: f.name.clone(), what, loc: f.loc })?;
        shared.funcs.insert(FuncId(k as u32), funcs.len() as u32);
        funcs.push(lowered);
    }
    Ok(Lowered { module: Module { machine: machine.clone(), tables: shared.tables, funcs }, funcs: shared.funcs })
}

/// How a machine holds numbers of a range: bits of a word, how many words, the lowest first.
pub fn held(machine: &Machine, range: &santoku_ir::Range) -> (u32, usize) {
    let rep = Words(machine.words.clone()).fit(range);
    (rep.bits, rep.words)
}

/// By number.
fn runs(program: &Program) -> BTreeSet<usize> {
    let mut all: BTreeSet<usize> = program.funcs.iter().enumerate().filter(|(_, f)| f.export.is_some()).map(|(k, _)| k).collect();
    for k in (0..program.funcs.len()).rev() {
        if all.contains(&k) {
            walk_stmts(&program.funcs[k].body, &mut |s| {
                if let Stmt::Call { func, .. } = s {
                    all.insert(func.0 as usize);
                }
            });
        }
    }
    all
}

fn function(shared: &mut Shared<'_>, f: &Func) -> Result<crate::data::Func, String> {
    let signature = Signature::of(f);
    let mut b = Body::new(shared, f)?;
    let mut params = vec![];
    b.parameters(&signature, &mut params)?;
    b.slots_of_locals()?;
    b.statements(&f.body)?;
    let results = b.results(&signature)?;
    let types = results.iter().map(|v| b.ty(*v)).collect::<Vec<Type>>();
    let (insts, slots) = b.finish();
    Ok(crate::data::Func {
        name: f.name.clone(),
        export: f.export.clone(),
        params,
        results: types,
        slots,
        body: crate::data::Block { insts, yields: results },
    })
}

impl Shared<'_> {
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
            let n = number::bits_of(v);
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
