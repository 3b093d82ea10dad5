//! One function, executed symbolically and by the interpreter on the same samples.

use crate::source::{inputs, Environment, InputArray, Inputs, Lengths, Rng, Source, Stop, Value};
use crate::term::{Terms, T};
use num_bigint::BigInt;
use santoku_ir::interp::{self, Interp};
use santoku_ir::{FuncId, Program};

/// Follows every call but those of the functions named.
pub struct Env {
    pub arrays: Vec<InputArray>,
    pub cut: Vec<FuncId>,
}

impl Env {
    pub fn of(inputs: &Inputs) -> Env {
        Env { arrays: inputs.arrays.clone(), cut: vec![] }
    }
}

impl Environment for Env {
    fn cut(&self, func: FuncId) -> bool {
        self.cut.contains(&func)
    }
    fn read(&self, terms: &mut Terms, array: u32, index: T) -> T {
        self.arrays.iter().find(|a| a.number == array).expect("an input array").read(terms, index)
    }
    fn array_value(&self, array: u32, sample: usize) -> Option<interp::Value> {
        self.arrays.iter().find(|a| a.number == array).map(|a| a.values[sample].clone())
    }
}

/// Scalars of an interpreter's value in storage order.
pub fn flat(value: &interp::Value) -> Vec<BigInt> {
    match value.parts() {
        Some(parts) => parts.iter().flat_map(flat).collect(),
        None => vec![value.to_integer().expect("a scalar")],
    }
}

/// What was compared.
#[derive(Debug, Default)]
pub struct Compared {
    pub scalars: usize,
    /// Scalars that are not the same constant on every sample.
    pub varying: usize,
    pub differing: usize,
    pub valid: bool,
}

/// Executes `func` of `program` and compares every result on every sample with `meant`.
pub fn compare(program: &Program, meant: &Program, func: FuncId, lengths: Lengths<'_>, samples: usize) -> Result<Compared, Stop> {
    let mut terms = Terms::new(32, samples);
    let made = inputs(program, &mut terms, func, lengths, &mut Rng::new(7))?;
    let env = Env::of(&made);
    let mut source = Source::new(program, &mut terms, &env);
    let results = source.run(func, &made.lens, made.args.clone())?;
    let mut got = vec![];
    for r in &results {
        got.extend(Value::flat(r, &mut terms)?);
    }
    assert_eq!(terms.broken(), None, "{}", program.func(func).name);
    let mut interp = Interp::new(meant);
    let mut out = Compared { valid: made.valid, ..Compared::default() };
    out.varying = got.iter().filter(|t| (1..samples).any(|n| terms.sample(**t, n) != terms.sample(**t, 0))).count();
    for (n, (lens, args)) in made.concrete.iter().enumerate() {
        let want: Vec<BigInt> = match interp.call(func, lens, args.clone()) {
            Ok(values) => values.iter().flat_map(flat).collect(),
            Err(fault) => panic!("{}: {fault}", program.func(func).name),
        };
        assert_eq!(want.len(), got.len());
        out.scalars += want.len();
        out.differing += want.iter().zip(&got).filter(|(w, t)| terms.sample(**t, n) != *w).count();
        for (w, t) in want.iter().zip(&got) {
            let (lo, hi) = terms.range(*t);
            assert!(lo <= *w && *w <= hi || out.differing > 0, "{}: {w} outside {lo}..={hi}", program.func(func).name);
        }
    }
    Ok(out)
}
