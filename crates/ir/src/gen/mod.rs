//! Random well-formed programs and arguments, for differential tests of passes and back ends.
//!
//! Needs: a seed.  Keeps: the promise that every program passes [`crate::verify`] with nothing left undecided,
//! and that no run on [`args`] faults, contracts checked; so any difference or fault after a transformation is
//! the transformation's.  Absent: programs that look like cryptography, or that are hard to prove.
//!
//! Ranges are such that interval arithmetic alone proves them.
//! Trusted: nothing: it makes random programs for tests.

mod choice;
mod expr;
mod func;

pub use choice::{Config, Rng};

use crate::data::*;
use crate::interp::{Int, Value};
use crate::ty::{Len, Range, StructId, Ty};
use choice::declared_range;
use func::FuncGen;

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
