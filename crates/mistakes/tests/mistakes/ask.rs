//! The copy of the prover asked with one mistake made, and the judge about what it found.

use crate::judge;
use santoku_ir::interp::Fault;
use santoku_ir::{FuncId, Program};
use santoku_prove::judged::Verdict;
use santoku_prove::obligation::Obligation;
use santoku_prove::ranges::{self, Options};
use santoku_mistakes::mistake;
use santoku_prove::judged;

/// Ways in which the range engines are asked: as they are, with linear facts everywhere, with the solver.
pub const WAYS: [Way; 3] = [Way::Own, Way::Eager, Way::Solver];

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    Own,
    Eager,
    Solver,
}

impl Way {
    fn options(self) -> Options {
        let smt = (self == Way::Solver).then_some(50_000);
        Options { smt, eager: self == Way::Eager, witness_tries: 0, steps: 200_000, split_steps: 100_000, ..Options::default() }
    }
}

/// What the engines say, and the program with the ranges they found.
pub fn engines(p: &Program, way: Way, made: Option<usize>) -> (Vec<Obligation>, Program) {
    mistake::with(made, || {
        let (ranges, all) = ranges::analyse(p, &way.options());
        (all, ranges::annotate_with(p, &ranges))
    })
}

/// Whether the engines close what an input breaks.
pub fn fooled(p: &Program, text: &str, fault: &Fault, all: &[Obligation]) -> bool {
    judge::fooled(p, text, fault, all).is_some()
}

/// What the judge says of every function.
pub fn verdicts(p: &Program, annotated: &Program) -> Vec<Option<Verdict>> {
    judged::program(p, annotated, false)
}

/// The function that a fault is to be refused in: where something went wrong, or who called with what was wrong.
pub fn blamed(p: &Program, fault: &Fault) -> FuncId {
    let name = fault.call.as_ref().map_or(&fault.func, |(caller, _)| caller);
    FuncId(p.funcs.iter().position(|f| f.name == *name).expect("the function of a fault") as u32)
}

/// Whether the judge says that it cannot happen.
pub fn accepted(p: &Program, annotated: &Program, fault: &Fault) -> bool {
    matches!(verdicts(p, annotated)[blamed(p, fault).0 as usize], Some(Ok(_)))
}
