//! Numbers of variables in words, for the notes of values.
//! Trusted: nothing: nothing that ships is made of it.

use crate::layout::range_of;
use santoku_ir::{Len, Local, Program, Range, Ty};
use santoku_num::{Int, Short};

/// Characters of a bound that a reader takes in.
const BOUND_MAX: usize = 12;

/// Number `k` of a local, and its range: `h.limbs[2] in 0..2^26-1`. A machine word holds what its width says.
pub(super) fn described(program: &Program, l: &Local, k: u32) -> String {
    let mut name = l.name.clone();
    let ty = step(program, &l.ty, u64::from(k), &mut name);
    match ty.filter(|t| matches!(t, Ty::Int(_))).as_ref().and_then(range_of) {
        Some(r) => format!("{name} in {}", range(&r)),
        None => name,
    }
}

/// Bounds that are not near a power of two are rounded outwards to one: `0..<2^97`.
fn range(r: &Range) -> String {
    let (lo, hi) = (Short(&r.lo).to_string(), Short(&r.hi).to_string());
    let bits = |n: &Int| n.to_big().bits();
    let lo = if lo.len() > BOUND_MAX { format!("-2^{}", bits(&r.lo)) } else { lo };
    if hi.len() > BOUND_MAX { format!("{lo}..<2^{}", bits(&r.hi)) } else { format!("{lo}..{hi}") }
}

/// The type of number `k`, which is named behind `name`.
fn step(program: &Program, ty: &Ty, k: u64, name: &mut String) -> Option<Ty> {
    match ty {
        Ty::Array { elem, ranges, .. } => {
            let each = numbers(program, elem)?.max(1);
            let at = k / each;
            name.push_str(&format!("[{at}]"));
            match ranges.as_ref().and_then(|r| r.get(usize::try_from(at).ok()?)) {
                Some(r) => Some(Ty::Int(Some(r.clone()))),
                None => step(program, elem, k % each, name),
            }
        }
        Ty::Struct(id) => {
            let mut left = k;
            for (field, ty) in &program.structs[id.0 as usize].fields {
                let n = numbers(program, ty)?;
                if left < n {
                    name.push_str(&format!(".{field}"));
                    return step(program, ty, left, name);
                }
                left -= n;
            }
            None
        }
        Ty::Word(_) | Ty::Int(_) | Ty::Bool => Some(ty.clone()),
    }
}

/// Numbers in a type.
fn numbers(program: &Program, ty: &Ty) -> Option<u64> {
    match ty {
        Ty::Array { elem, len: Len::Const(n), .. } => numbers(program, elem)?.checked_mul(*n),
        Ty::Array { .. } => None,
        Ty::Struct(id) => program.structs[id.0 as usize].fields.iter().map(|(_, t)| numbers(program, t)).sum(),
        Ty::Word(_) | Ty::Int(_) | Ty::Bool => Some(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bound is never narrowed.
    #[test]
    fn long_bounds_are_rounded_outwards() {
        let big = |k: u32, less: i64| Int::from(num_bigint::BigInt::from(1) << k).sub(&Int::from(less));
        let texts = [(0, 3, "0..3"), (-1, 0, "-1..0")].map(|(lo, hi, want)| (Range::new(lo, hi), want));
        let long = [
            (Range::new(Int::from(0), big(128, 2)), "0..2^128-2"),
            (Range::new(Int::from(0), big(128, 1 << 60)), "0..<2^128"),
            (Range::new(big(70, 1 << 40).neg(), big(64, 0)), "-2^70..2^64"),
            (Range::new(big(70, -5).neg(), big(70, -1 << 40)), "-(2^70+5)..<2^71"),
        ];
        for (r, want) in texts.into_iter().chain(long) {
            assert_eq!(range(&r), want);
        }
    }

    /// Numbers are counted in the order of memory.
    #[test]
    fn numbers_of_structs_and_arrays_have_their_path() {
        let mut program = Program::default();
        let ranges = Some(vec![Range::new(0, 7), Range::new(0, 9)]);
        program.structs.push(santoku_ir::StructDef { name: "s".into(), fields: vec![("a".into(), Ty::Bool), ("b".into(), Ty::Array { elem: Box::new(Ty::int()), len: Len::Const(2), ranges })] });
        let ty = Ty::array(Ty::Struct(santoku_ir::StructId(0)), 2);
        let l = Local { name: "v".into(), ty, kind: santoku_ir::LocalKind::Var, public: true, loc: Default::default() };
        let texts: Vec<String> = (0..6).map(|k| described(&program, &l, k)).collect();
        assert_eq!(texts, ["v[0].a", "v[0].b[0] in 0..7", "v[0].b[1] in 0..9", "v[1].a", "v[1].b[0] in 0..7", "v[1].b[1] in 0..9"]);
    }
}
