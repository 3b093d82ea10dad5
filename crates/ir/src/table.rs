//! Functions that apply a table: [`Applies::Table`].
//! Trusted: text.

use crate::data::{Applies, ConstId, ConstValue, Func, Program};
use crate::ty::{Len, Ty};
use num_traits::ToPrimitive;

/// Most inputs and outputs of a table.
pub const BITS_MAX: u32 = 8;

/// A total map on small words: entry `i` is what it gives for `i`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Table {
    pub inputs: u32,
    pub outputs: u32,
    /// `2^inputs` values below `2^outputs`.
    pub entries: Vec<u64>,
}

/// What a table is applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// A word of as many bits as there are inputs.
    Word,
    /// An array of words of so many bits, one word for each input: each column of bits is an input, word 0 the least significant.
    Columns(u32),
}

/// The table that a function is said to apply, and to what. `None` where it is said to apply none, and where constant, parameter and result
/// are not those of a table.
pub fn of(program: &Program, func: &Func) -> Option<(Table, Form)> {
    let Some(Applies::Table(id)) = func.applies else { return None };
    let table = constant(program, id)?;
    let ([x], [y], true) = (func.params.as_slice(), func.rets.as_slice(), func.lens.is_empty()) else { return None };
    let form = match (&func.local(*x).ty, &func.local(*y).ty) {
        (Ty::Word(i), Ty::Word(o)) if (*i, *o) == (table.inputs, table.outputs) => Form::Word,
        (x, y) => match (columns(x)?, columns(y)?) {
            ((i, bits), (o, same)) if (i, o) == (table.inputs, table.outputs) && bits == same => Form::Columns(bits),
            _ => return None,
        },
    };
    Some((table, form))
}

/// A constant array as a table.
fn constant(program: &Program, id: ConstId) -> Option<Table> {
    let c = program.consts.get(id.0 as usize)?;
    let (Ty::Array { elem, len: Len::Const(n), .. }, ConstValue::Array(values)) = (&c.ty, &c.value) else { return None };
    let Ty::Word(outputs) = **elem else { return None };
    let inputs = n.trailing_zeros();
    let small = |bits: u32| (1..=BITS_MAX).contains(&bits);
    let entries = values.iter().map(|v| if let ConstValue::Scalar(v) = v { v.to_u64() } else { None }).collect::<Option<Vec<_>>>()?;
    (n.is_power_of_two() && small(inputs) && small(outputs) && entries.len() as u64 == *n).then_some(Table { inputs, outputs, entries })
}

/// Words of a flat array of words: how many, and their bits.
pub fn columns(ty: &Ty) -> Option<(u32, u32)> {
    match ty {
        Ty::Array { elem, len: Len::Const(n), .. } => match **elem {
            Ty::Word(bits) => Some((u32::try_from(*n).ok()?, bits)),
            _ => None,
        },
        _ => None,
    }
}
