//! Words for exact integers.

use santoku_ir::{Program, Range, Ty};
use santoku_num::Int;

/// The word that holds an exact integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    pub bits: u32,
    pub signed: bool,
}

impl Held {
    /// The least word that has all of a range.
    pub fn of(range: &Range) -> Option<Held> {
        let need = |v: &Int| if v.is_negative() { v.neg().sub(&Int::ONE).bits() } else { v.bits() };
        let signed = range.lo.is_negative();
        let bits = need(&range.lo).max(need(&range.hi)).max(1) + u64::from(signed);
        Some(Held { bits: u32::try_from(bits).ok()?, signed })
    }
}

/// The word for integers of a type with a range.
pub fn of_type(ty: &Ty) -> Option<Held> {
    match ty {
        Ty::Int(Some(r)) => Held::of(r),
        Ty::Array { elem, .. } => of_type(elem),
        _ => None,
    }
}

/// Are there exact integers in it?
pub fn integers(program: &Program, ty: &Ty) -> bool {
    has(program, ty, &|ty| matches!(ty, Ty::Int(_)))
}

/// Is there a condition or an exact integer in it?
pub fn other_than_words(program: &Program, ty: &Ty) -> bool {
    has(program, ty, &|ty| matches!(ty, Ty::Int(_) | Ty::Bool))
}

/// Is a type, or one that it is made of, like this?
fn has(program: &Program, ty: &Ty, like: &dyn Fn(&Ty) -> bool) -> bool {
    like(ty)
        || match ty {
            Ty::Array { elem, .. } => has(program, elem, like),
            Ty::Struct(id) => program.structs[id.0 as usize].fields.iter().any(|(_, t)| has(program, t, like)),
            Ty::Word(_) | Ty::Int(_) | Ty::Bool => false,
        }
}
