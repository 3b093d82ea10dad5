//! Random inputs within declared ranges, and the search for one on which two programs disagree.
//!
//! Needs: the interpreter.  Keeps: determinism; the generator is seeded by a constant.  Absent: guidance by the
//! difference found. Preconditions are not solved for: runs that fault on either side say nothing.
//! Trusted: nothing: it looks for inputs that show a difference.

use santoku_num::SplitMix64;
use num_bigint::{BigInt, Sign};
use num_traits::{One, ToPrimitive};
use santoku_ir::interp::{Int, Interp, Options, Value};
use santoku_ir::{Func, FuncId, Len, Program, Range, Ty};

/// Runs tried by [`search`].
const RUNS: u64 = 40;
/// Steps one run may take, and all together.
const STEPS: u64 = 3_000_000;
const STEPS_ALL: u64 = 12_000_000;

/// Chooses inputs of functions that are compared.
#[derive(Clone, Debug)]
pub struct Rng(SplitMix64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(SplitMix64::new(seed))
    }
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }
    pub fn below(&mut self, n: u64) -> u64 {
        self.0.below(n)
    }

    /// A value of `0..2^bits`: zero, all ones, small, or uniform.
    fn bits(&mut self, bits: u64) -> BigInt {
        let all: BigInt = (BigInt::one() << bits) - 1;
        match self.below(8) {
            0 => BigInt::from(0),
            1 => all,
            2 => BigInt::from(self.below(4)) & all,
            _ => {
                let words = (0..bits.div_ceil(32)).map(|_| self.next_u64() as u32).collect::<Vec<_>>();
                BigInt::from_slice(Sign::Plus, &words) & all
            }
        }
    }

    fn in_range(&mut self, range: &Range) -> BigInt {
        let (lo, hi) = (range.lo.to_big(), range.hi.to_big());
        let width: BigInt = &hi - &lo;
        match self.below(6) {
            0 => lo,
            1 => hi,
            _ => lo + self.bits(width.bits() + 1) % (width + 1),
        }
    }
}

/// Lengths and arguments of one call.
#[derive(Clone, Debug)]
pub struct Inputs {
    pub lens: Vec<u64>,
    pub args: Vec<Value>,
}

/// A call on which two programs disagree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// Input name and value.
    pub inputs: Vec<(String, String)>,
    pub before: String,
    pub after: String,
}

/// Inputs of a function within their declared ranges.
pub fn random_inputs(program: &Program, func: &Func, rng: &mut Rng) -> Inputs {
    let lens: Vec<u64> = func.lens.iter().map(|_| rng.below(9)).collect();
    let len_of = |len: &Len| match len {
        Len::Const(n) => *n,
        Len::Param { param, add } => {
            let at = func.lens.iter().position(|l| l == param).unwrap_or(0);
            lens.get(at).map_or(0, |n| n.saturating_add_signed(*add))
        }
    };
    let args = func.params.iter().map(|p| random_value(program, &func.local(*p).ty, &len_of, rng)).collect();
    Inputs { lens, args }
}

fn random_value(program: &Program, ty: &Ty, len_of: &dyn Fn(&Len) -> u64, rng: &mut Rng) -> Value {
    match ty {
        Ty::Word(bits) => Value::word(rng.bits(u64::from(*bits)).to_u128().unwrap_or(0)),
        Ty::Int(None) => Value::int(Int::Small(i128::from(rng.below(64)))),
        Ty::Int(Some(range)) => int(rng.in_range(range)),
        Ty::Bool => Value::Bool(rng.below(2) == 1),
        Ty::Array { elem, len, ranges } => {
            let n = len_of(len);
            let element = |k: u64, rng: &mut Rng| match ranges.as_ref().and_then(|r| r.get(k as usize)) {
                Some(range) => int(rng.in_range(range)),
                None => random_value(program, elem, len_of, rng),
            };
            Value::array((0..n).map(|k| element(k, rng)).collect())
        }
        Ty::Struct(id) => {
            let fields = &program.structs[id.0 as usize].fields;
            Value::structure(fields.iter().map(|(_, t)| random_value(program, t, len_of, rng)).collect())
        }
    }
}

fn int(v: BigInt) -> Value {
    Value::int(Int::from(v))
}

/// Looks for inputs on which the function gives different results.
pub fn search(before: &Program, after: &Program, name: &str) -> Option<Witness> {
    let (old, new) = (before.find(name)?, after.find(name)?);
    let func = before.func(old);
    let options = Options { steps: STEPS, ..Options::default() };
    let mut left = Interp::with_options(before, options.clone());
    let mut right = Interp::with_options(after, options);
    let mut rng = Rng::new(0x5a17);
    for _ in 0..RUNS {
        if left.stats().steps + right.stats().steps > STEPS_ALL {
            return None;
        }
        let inputs = random_inputs(before, func, &mut rng);
        let outs = (result(&mut left, old, &inputs), result(&mut right, new, &inputs));
        // A run that faults before the rewrite breaks an obligation and proves nothing.
        let (Some(a), b) = outs else { continue };
        if Some(&a) != b.as_ref() {
            let names = func.lens.iter().chain(&func.params).map(|id| func.local(*id).name.clone());
            let values = inputs.lens.iter().map(u64::to_string).chain(inputs.args.iter().map(Value::to_string));
            return Some(Witness {
                inputs: names.zip(values).collect(),
                before: show(&a),
                after: b.map_or_else(|| "a fault".to_string(), |b| show(&b)),
            });
        }
    }
    None
}

fn result(interp: &mut Interp, func: FuncId, inputs: &Inputs) -> Option<Vec<Value>> {
    interp.call(func, &inputs.lens, inputs.args.clone()).ok()
}

fn show(values: &[Value]) -> String {
    values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
}
