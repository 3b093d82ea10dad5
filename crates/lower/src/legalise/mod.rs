//! From the core to the words of a machine: exact integers become words by their proven ranges, places become bytes of memory or names.
//!
//! Needs: a program whose integers carry ranges, as `widths` leaves it.  Keeps: what the program computes.  Absent: assertions and ghost text, which
//! are proved; which instructions a machine has.
//! Trusted: nothing: nothing that ships is made of it.

mod aggregate;
mod body;
mod call;
mod described;
mod expr;
mod homes;
mod number;
mod place;
mod rows;
mod shared;
mod stmt;
mod wide;

use crate::data::{Machine, Module, Type};
use body::Body;
pub use homes::Spread;
use number::Words;
use shared::{Shared, Signature};
use santoku_ir::{Func, FuncId, Loc, Program};
use santoku_ir::visit::reached;
use std::collections::BTreeMap;

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

/// The functions that exported ones run, with them.
///
/// # Errors
/// The first thing that is not lowered.
pub fn legalise(program: &Program, machine: &Machine, spread: Spread) -> Result<Lowered, NotLowered> {
    let mut shared = Shared {
        program,
        words: Words(machine.words.clone()),
        tables: vec![],
        table_of: BTreeMap::new(),
        funcs: BTreeMap::new(),
        big_endian: machine.big_endian,
        spread,
        files: program.files.iter().map(|f| f.as_str().into()).collect(),
    };
    let mut funcs = vec![];
    let exported = (0..program.funcs.len() as u32).map(FuncId).filter(|id| program.func(*id).export.is_some());
    for id in reached(program, exported) {
        let f = program.func(id);
        let lowered = function(&mut shared, f).map_err(|what| NotLowered { func: f.name.clone(), what, loc: f.loc })?;
        shared.funcs.insert(id, funcs.len() as u32);
        funcs.push(lowered);
    }
    Ok(Lowered { module: Module { machine: machine.clone(), tables: shared.tables, funcs }, funcs: shared.funcs })
}

/// How a machine holds numbers of a range: bits of a word, how many words, the lowest first.
pub fn held(machine: &Machine, range: &santoku_ir::Range) -> (u32, usize) {
    let rep = Words(machine.words.clone()).fit(range);
    (rep.bits, rep.words)
}

fn function(shared: &mut Shared<'_>, f: &Func) -> Result<crate::data::Func, String> {
    let signature = Signature::of(f);
    let mut b = Body::new(shared, f)?;
    let mut params = vec![];
    b.parameters(&signature, &mut params)?;
    b.slots_of_locals()?;
    b.statements(&f.body)?;
    let results = b.results(&signature)?;
    let types = results.iter().map(|v| b.ty(*v)).map(|t| Type { secret: t.secret && !f.declassifies, ..t }).collect::<Vec<Type>>();
    let (insts, slots, notes) = b.finish();
    Ok(crate::data::Func {
        name: f.name.clone(),
        export: f.export.clone(),
        apart: f.inline == santoku_ir::Inline::Never,
        declassifies: f.declassifies,
        params,
        results: types,
        slots,
        body: crate::data::Block { insts, yields: results },
        notes,
    })
}
