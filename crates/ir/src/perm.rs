//! Functions that permute the bits of a word: [`Applies::Perm`].
//! Trusted: text.

use crate::data::{Applies, ConstValue, Func, Program};
use crate::ty::{Len, Ty};
use num_traits::ToPrimitive;

/// Most bits of a word, on either side.
pub const BITS_MAX: u32 = 128;

/// Each bit of the result is a bit of the input; input bits may be taken more than once, or not at all.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Perm {
    /// Bits of the input.
    pub inputs: u32,
    /// For each bit of the result, least significant first, the number of the input's bit that it is; below `inputs`.
    pub from: Vec<u32>,
}

/// The permutation that a function is said to be. `None` where it is said to be none, and where constant, parameter and result are not
/// those of one.
pub fn of(program: &Program, func: &Func) -> Option<Perm> {
    let Some(Applies::Perm(id)) = func.applies else { return None };
    let ([x], [y], true) = (func.params.as_slice(), func.rets.as_slice(), func.lens.is_empty()) else { return None };
    let (Ty::Word(inputs), Ty::Word(outputs)) = (&func.local(*x).ty, &func.local(*y).ty) else { return None };
    let c = program.consts.get(id.0 as usize)?;
    let (Ty::Array { elem, len: Len::Const(n), .. }, ConstValue::Array(values)) = (&c.ty, &c.value) else { return None };
    let number = |v: &ConstValue| if let ConstValue::Scalar(v) = v { v.to_u32().filter(|v| v < inputs) } else { None };
    let from = values.iter().map(number).collect::<Option<Vec<_>>>()?;
    let sized = *n == u64::from(*outputs) && from.len() as u64 == *n && (*inputs).max(*outputs) <= BITS_MAX;
    (matches!(**elem, Ty::Int(_)) && sized).then_some(Perm { inputs: *inputs, from })
}
