//! Inputs for runs: what meets the preconditions, and pairs that differ in secrets alone.

use crate::source::{self, concrete, known_length, scalars_of, with_lengths, Lengths, Rng};
use crate::term::Terms;
use num_bigint::BigInt;
use santoku_ir::interp::Value;
use santoku_ir::{ConstValue, FuncId, Len, Program, Ty};

/// Lengths and arguments of one call, as the interpreter takes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    pub lens: Vec<u64>,
    pub args: Vec<Value>,
}

impl Input {
    pub(super) fn scalar(&self, k: usize) -> Result<BigInt, String> {
        self.args.get(k).and_then(Value::to_integer).ok_or_else(|| "an argument is no scalar".into())
    }
}

/// `count` inputs: the edges of every range first, then random ones. Empty where none was found that meets the
/// preconditions; the same for the same seed.
pub fn inputs(program: &Program, func: FuncId, xlen: u32, count: usize, seed: u64) -> Vec<Input> {
    drawn(program, func, xlen, (count, Lengths::Symbolic), seed)
}

fn drawn(program: &Program, func: FuncId, xlen: u32, (count, lengths): (usize, Lengths), seed: u64) -> Vec<Input> {
    // The samples of a proof's inputs are what is wanted; their terms are thrown away.
    let mut terms = Terms::new(xlen, count);
    let found = source::inputs(program, &mut terms, func, lengths, &mut Rng::new(seed)).ok().filter(|i| i.valid);
    let all = found.into_iter().flat_map(|i| i.concrete).map(|(lens, args)| Input { lens, args });
    let mut out: Vec<Input> = vec![];
    for input in all {
        if !out.contains(&input) {
            out.push(input);
        }
    }
    out
}

/// Pairs of inputs with the same lengths and public parameters whose secrets differ.
pub fn pairs(program: &Program, func: FuncId, xlen: u32, count: usize, seed: u64) -> Vec<(Input, Input)> {
    let f = program.func(func);
    let public = |k: usize| f.local(f.params[k]).public;
    let mut out = vec![];
    for (n, first) in inputs(program, func, xlen, count, seed).into_iter().enumerate() {
        let mut others = drawn(program, func, xlen, (count, Lengths::Fixed(&first.lens)), seed.wrapping_add(n as u64 + 1));
        others.extend(special(program, func, &first));
        let mix = |other: Input| {
            let args = first.args.iter().zip(other.args).enumerate();
            Input { lens: first.lens.clone(), args: args.map(|(k, (a, b))| if public(k) { a.clone() } else { b }).collect() }
        };
        let mixed = others.into_iter().map(mix).filter(|second| *second != first).collect();
        out.extend(meeting(program, func, mixed).into_iter().map(|second| (first.clone(), second)));
    }
    out
}

/// The input with special scalars in one of its arrays: a constant of the program with zeros behind it, or a single one among
/// zeros. A modulus is such a constant, powers of a radix are such scalars: random numbers are never next to them.
fn special(program: &Program, func: FuncId, input: &Input) -> Vec<Input> {
    let mut out = vec![];
    for param in 0..input.args.len() {
        let room = scalars_of(&input.args[param]).len();
        if room < 2 {
            continue;
        }
        let constants = program.consts.iter().filter_map(|c| numbers(&c.value)).filter(|c| c.len() <= room && 4 * c.len() > room);
        let ones = (0..room).step_by(room.div_ceil(ONES)).map(|k| (0..=k).map(|n| BigInt::from(u8::from(n == k))).collect());
        for mut scalars in constants.chain(ones) {
            scalars.resize(room, BigInt::ZERO);
            out.extend(with_scalars(program, func, input, param, scalars));
        }
    }
    out
}

/// Places of a single one that are tried.
const ONES: usize = 40;

fn numbers(value: &ConstValue) -> Option<Vec<BigInt>> {
    let ConstValue::Array(parts) = value else { return None };
    parts.iter().map(|v| if let ConstValue::Scalar(v) = v { Some(v.clone()) } else { None }).collect()
}

/// Those that meet the preconditions.
pub fn meeting(program: &Program, func: FuncId, all: Vec<Input>) -> Vec<Input> {
    let all = all.into_iter().map(|i| (i.lens, i.args)).collect();
    let met = source::meeting(program, func, all).unwrap_or_default();
    met.into_iter().map(|(lens, args)| Input { lens, args }).collect()
}

/// All scalars of an input's secret parameters: parameter, position in it, value.
pub fn secrets(program: &Program, func: FuncId, input: &Input) -> Vec<(usize, usize, BigInt)> {
    let f = program.func(func);
    let secret = input.args.iter().enumerate().filter(|(k, _)| !f.local(f.params[*k]).public);
    secret.flat_map(|(k, a)| scalars_of(a).into_iter().enumerate().map(move |(n, v)| (k, n, v))).collect()
}

/// The input with other scalars in one parameter; `None` if they do not fit its type.
pub fn with_scalars(program: &Program, func: FuncId, input: &Input, param: usize, scalars: Vec<BigInt>) -> Option<Input> {
    let f = program.func(func);
    let known = |len: &Len| known_length(f, &input.lens, len);
    let ty = with_lengths(&f.local(*f.params.get(param)?).ty, &known);
    let mut out = input.clone();
    *out.args.get_mut(param)? = concrete(program, &ty, &mut scalars.into_iter())?;
    Some(out)
}

/// A value in short: bytes as one hexadecimal number in order of memory, other scalars one by one.
pub fn show(ty: &Ty, value: &Value) -> String {
    let scalars = scalars_of(value);
    match ty {
        Ty::Array { elem, .. } if **elem == Ty::Word(8) => {
            let bytes = scalars.iter().map(|v| format!("{v:02x}"));
            format!("{{{}}}", bytes.collect::<String>())
        }
        Ty::Array { .. } | Ty::Struct(_) => format!("[{}]", scalars.iter().map(BigInt::to_string).collect::<Vec<_>>().join(", ")),
        Ty::Word(_) | Ty::Int(_) | Ty::Bool => scalars.first().map(BigInt::to_string).unwrap_or_default(),
    }
}
