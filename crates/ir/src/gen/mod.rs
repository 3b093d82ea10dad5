//! Random well-formed programs and arguments, for differential tests of passes and back ends.
//!
//! Needs: a seed.  Keeps: the promise that every program passes [`crate::verify`] with nothing left undecided,
//! and that no run on [`args`] faults, contracts checked; so any difference or fault after a transformation is
//! the transformation's.  Absent: programs that look like cryptography, or that are hard to prove.
//!
//! Ranges are such that interval arithmetic alone proves them.
//! Trusted: nothing: it makes random programs for tests.

mod expr;
mod func;
#[cfg(test)]
mod tests;

use santoku_num::SplitMix64;
use crate::data::*;
use crate::interp::{Int, Value};
use crate::ty::{Len, Range, StructId, Ty};
use func::FuncGen;
use num_bigint::BigInt;
use num_traits::One;

/// What generated programs may contain.
#[derive(Clone, Debug)]
pub struct Config {
    /// Widths of words.
    pub words: Vec<u32>,
    /// No exact integer, intermediate ones included, has a magnitude of `2^int_bits` or more.
    pub int_bits: u32,
    /// Public length parameters and arrays of such lengths.
    pub lens: bool,
    pub structs: bool,
    pub calls: bool,
    /// Statements per block, at most.
    pub statements: u64,
    /// Nesting of loops and branches, at most.
    pub nesting: u32,
    /// Depth of expressions, at most.
    pub depth: u32,
}

impl Default for Config {
    /// What every back end handles: whole machine words and integers of 62 bits.
    fn default() -> Config {
        Config {
            words: vec![8, 16, 32, 64],
            int_bits: 62,
            lens: true,
            structs: true,
            calls: true,
            statements: 5,
            nesting: 2,
            depth: 3,
        }
    }
}

impl Config {
    /// Everything the language has: odd word sizes and integers far beyond machine words.
    pub fn all() -> Config {
        Config { words: vec![1, 4, 7, 8, 16, 24, 32, 33, 64, 65, 127, 128], int_bits: 300, ..Config::default() }
    }
    /// Words, constant-length arrays and loops only.
    pub fn plain() -> Config {
        Config { lens: false, structs: false, calls: false, ..Config::default() }
    }
}

/// Chooses programs and values.
#[derive(Clone, Debug)]
pub struct Rng(SplitMix64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(SplitMix64::new(seed))
    }
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }
    /// A number below `n`; 0 for `n = 0`.
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 { 0 } else { self.0.below(n) }
    }
    /// True once in `n` times.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
    /// An element of a list that is not empty.
    pub fn pick<'v, T>(&mut self, from: &'v [T]) -> &'v T {
        &from[self.below(from.len() as u64) as usize]
    }
    fn bits128(&mut self) -> u128 {
        u128::from(self.next_u64()) << 64 | u128::from(self.next_u64())
    }
    /// A word of `bits` bits, extreme values often.
    pub fn word(&mut self, bits: u32) -> u128 {
        let top = u128::MAX >> (128 - bits.clamp(1, 128));
        match self.below(6) {
            0 => 0,
            1 => top,
            2 => 1u128 << self.below(u64::from(bits)),
            3 => u128::from(self.below(4)) & top,
            _ => self.bits128() & top,
        }
    }
    /// An integer of a range, its ends often.
    pub fn int_in(&mut self, range: &Range) -> BigInt {
        let (lo, hi) = (range.lo.to_big(), range.hi.to_big());
        let width = &hi - &lo + BigInt::one();
        match self.below(5) {
            0 => lo,
            1 => hi,
            2 if range.holds(0) => BigInt::from(0),
            _ => {
                let noise = (0..width.bits() / 128 + 2).fold(BigInt::from(0), |v, _| (v << 128) + self.bits128());
                lo + noise % width
            }
        }
    }
}

/// A random program with [`Config::default`].
pub fn program(seed: u64) -> Program {
    program_with(seed, &Config::default())
}

/// A random program: up to three helper functions, then `main`, which may call them.
pub fn program_with(seed: u64, config: &Config) -> Program {
    let mut rng = Rng::new(seed);
    let mut program = Program { files: vec!["generated.stk".to_string()], ..Program::default() };
    if config.structs {
        add_structs(&mut program, &mut rng, config);
    }
    for i in 0..rng.below(3) {
        let bits = *rng.pick(&config.words);
        let n = 1 + rng.below(6);
        let values = (0..n).map(|_| rng.word(bits)).collect::<Vec<_>>();
        program.add_const(format!("K{i}"), Ty::array(Ty::Word(bits), n), ConstValue::ints(values));
    }
    let helpers = if config.calls { rng.below(4) } else { 0 };
    for i in 0..helpers {
        let func = FuncGen::new(&program, &mut rng, config, format!("helper{i}")).finish();
        program.add_func(func);
    }
    let main = FuncGen::new(&program, &mut rng, config, "main".to_string()).finish();
    program.add_func(main);
    program
}

/// The function to run: the last one.
pub fn entry(program: &Program) -> FuncId {
    FuncId(program.funcs.len().saturating_sub(1) as u32)
}

fn add_structs(program: &mut Program, rng: &mut Rng, config: &Config) {
    let word = Ty::Word(*rng.pick(&config.words));
    let range = declared_range(rng, config);
    let n = 1 + rng.below(4);
    let fields = vec![
        ("w".to_string(), word.clone()),
        ("v".to_string(), Ty::array(Ty::Int(Some(range.clone())), n)),
        ("b".to_string(), Ty::Bool),
    ];
    let inner = program.add_struct("Inner", fields);
    if rng.one_in(2) {
        let fields = vec![("s".to_string(), Ty::Struct(inner)), ("x".to_string(), Ty::array(word, n + 1))];
        program.add_struct("Outer", fields);
    }
}

/// A range to declare, well inside what integers may grow to.
fn declared_range(rng: &mut Rng, config: &Config) -> Range {
    let bits = 1 + rng.below(u64::from(config.int_bits / 3)) as u32;
    let top = BigInt::one() << bits;
    match rng.below(4) {
        0 => Range::new(-&top, top),
        1 => Range::new(-&top, &top - BigInt::one()),
        2 => Range::new(0, top),
        _ => Range::new(0, top - BigInt::one()),
    }
}

/// Random lengths (0..=5) and arguments for a function, extreme values often.
pub fn args(program: &Program, func: FuncId, seed: u64) -> (Vec<u64>, Vec<Value>) {
    let mut rng = Rng::new(seed ^ 0x6172_6773);
    let func = program.func(func);
    let lens: Vec<u64> = func.lens.iter().map(|_| rng.below(6)).collect();
    let len = |len: &Len| match len {
        Len::Const(n) => *n,
        Len::Param { param, add } => {
            let at = func.lens.iter().position(|l| l == param).unwrap_or(0);
            lens.get(at).copied().unwrap_or(0).saturating_add_signed(*add)
        }
    };
    let values = func.params.iter().map(|p| value(program, &func.local(*p).ty, &len, &mut rng)).collect();
    (lens, values)
}

/// A random value of a type; an undeclared integer range is taken as 62 bits.
pub fn value(program: &Program, ty: &Ty, len: &dyn Fn(&Len) -> u64, rng: &mut Rng) -> Value {
    match ty {
        Ty::Word(bits) => Value::Word(rng.word(*bits)),
        Ty::Bool => Value::Bool(rng.one_in(2)),
        Ty::Int(Some(range)) => Value::Int(Int::from(rng.int_in(range))),
        Ty::Int(None) => Value::Int(Int::from(rng.int_in(&Range::new(-(1i64 << 61), 1i64 << 61)))),
        Ty::Array { elem, len: n, ranges } => {
            let one = |i: u64| match ranges.as_ref().and_then(|r| r.get(i as usize)) {
                Some(range) => Value::Int(Int::from(rng.int_in(range))),
                None => value(program, elem, len, rng),
            };
            Value::array((0..len(n)).map(one).collect())
        }
        Ty::Struct(StructId(id)) => {
            let fields = &program.structs[*id as usize].fields;
            Value::structure(fields.iter().map(|(_, t)| value(program, t, len, rng)).collect())
        }
    }
}
