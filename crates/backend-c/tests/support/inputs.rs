//! Arguments: random ones, and the corners of every declared range.

use num_bigint::BigInt;
use num_traits::One;
use santoku_ir::gen;
use santoku_ir::interp::{Int, Value};
use santoku_ir::{Func, FuncId, Len, Program, Range, Ty};

/// Lengths and arguments of one call.
pub type Input = (Vec<u64>, Vec<Value>);

/// A value in a range, for the scalar of this number.
type Pick<'a> = dyn Fn(&Range, usize) -> BigInt + 'a;

pub fn random(p: &Program, id: FuncId, count: u64, seed: u64) -> Vec<Input> {
    (0..count).map(|k| gen::args(p, id, seed.wrapping_mul(1009).wrapping_add(k))).collect()
}

/// All lows, all highs, next to zero, and lows and highs in turn; with the shortest and the longest lengths.
pub fn edges(p: &Program, id: FuncId) -> Vec<Input> {
    let f = p.func(id);
    let near_zero = |r: &Range| if r.holds(0) { BigInt::from(0) } else { r.lo.to_big() };
    let minus_one = |r: &Range| if r.holds(-1) { BigInt::from(-1) } else { r.hi.to_big() };
    let picks: [&Pick<'_>; 6] = [
        &|r, _| r.lo.to_big(),
        &|r, _| r.hi.to_big(),
        &|r, _| near_zero(r),
        &|r, _| minus_one(r),
        &|r, k| if k % 2 == 0 { r.lo.to_big() } else { r.hi.to_big() },
        &|r, k| if k % 2 == 0 { r.hi.to_big() } else { minus_one(r) },
    ];
    let make = |n: u64, pick: &Pick<'_>| {
        let lens = vec![n; f.lens.len()];
        let mut nth = 0;
        let args = f.params.iter().map(|id| value(p, f, &f.local(*id).ty, &lens, None, &mut nth, pick)).collect();
        (lens, args)
    };
    picks.iter().enumerate().map(|(k, pick)| make(5 * (k as u64 % 2), pick)).collect()
}

fn value(p: &Program, f: &Func, ty: &Ty, lens: &[u64], own: Option<&Range>, nth: &mut usize, pick: &Pick<'_>) -> Value {
    *nth += 1;
    match ty {
        Ty::Word(bits) => {
            let all = pick(&Range::new(0, (BigInt::one() << *bits) - 1), *nth);
            Value::Word(all.try_into().expect("in the range of the word"))
        }
        Ty::Bool => Value::Bool(pick(&Range::new(0, 1), *nth).is_one()),
        Ty::Int(declared) => {
            let wide = Range::new(-(1i64 << 61), 1i64 << 61);
            Value::Int(Int::from(pick(own.or(declared.as_ref()).unwrap_or(&wide), *nth)))
        }
        Ty::Array { elem, len, ranges } => {
            let n = match len {
                Len::Const(n) => *n,
                Len::Param { param, add } => {
                    let at = f.lens.iter().position(|l| l == param).expect("a length parameter");
                    lens[at].saturating_add_signed(*add)
                }
            };
            let range = |i: u64| ranges.as_ref().and_then(|r| r.get(i as usize));
            Value::array((0..n).map(|i| value(p, f, elem, lens, range(i), nth, pick)).collect())
        }
        Ty::Struct(id) => {
            let fields = &p.structs[id.0 as usize].fields;
            Value::structure(fields.iter().map(|(_, t)| value(p, f, t, lens, None, nth, pick)).collect())
        }
    }
}
