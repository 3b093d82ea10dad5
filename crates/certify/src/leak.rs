//! What makes a leak visible: two inputs that differ in secrets alone, and what an observer sees of each.
//!
//! Needs: runs on the concrete machine.  Keeps: both inputs meet the preconditions; what is told was seen in two runs of the
//! very code.  Absent: that there are none: secrets that show only on rare inputs are found by the proof, not here.
//! Trusted: nothing: it shows leaks that were found.

use crate::concrete::inputs::{meeting, pairs, secrets, show, with_scalars, Input};
use crate::concrete::{Bench, Ran, Shown};
use num_bigint::BigInt;
use santoku_ir::{FuncId, Program};
use serde::{Deserialize, Serialize};

/// Inputs drawn, each with as many others.
const INPUTS: usize = 10;
/// Instructions of one run, and of all.
const STEPS: u64 = 2_000_000;
const STEPS_IN_ALL: u64 = 40_000_000;
/// Rounds in which secrets that play no part are made equal.
const ROUNDS: usize = 64;

/// Two runs that an observer tells apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Lengths and parameters that are the same in both, name and value.
    pub same: Vec<(String, String)>,
    /// Secret parameters that differ: name, value in the first run, value in the second.
    pub secrets: Vec<(String, String, String)>,
    /// Of the executions of the instruction, which one shows the secret, from 1.
    pub execution: usize,
    /// What is seen there in each run.
    pub first: String,
    pub second: String,
}

/// A search for evidence of one leak.
struct Search<'a> {
    bench: &'a Bench<'a>,
    program: &'a Program,
    func: FuncId,
    pc: u64,
    /// Instructions run so far.
    steps: u64,
}

/// Looks for two inputs with the same public part for which the instruction at `pc` shows different things.
pub fn evidence(bench: &Bench, (program, func): (&Program, FuncId), xlen: u32, pc: u64) -> Option<Evidence> {
    let mut search = Search { bench, program, func, pc, steps: 0 };
    let all = pairs(program, func, xlen, INPUTS, 0x001e_a4ed ^ u64::from(func.0));
    let (a, mut b) = all.into_iter().find(|(a, b)| search.apart(a, b).is_some())?;
    // One part after the other becomes what it is in the first: what is left is what shows.
    let mut width = secrets(program, func, &a).len();
    let mut rounds = 0;
    while width > 0 && rounds < ROUNDS {
        let count = secrets(program, func, &a).len();
        for from in (0..count).step_by(width) {
            rounds += 1;
            let nearer = search.nearer(&a, &b, from..from + width);
            if let Some(nearer) = nearer.filter(|n| *n != b && search.apart(&a, n).is_some()) {
                b = nearer;
            }
        }
        width /= 2;
    }
    let (execution, first, second) = search.apart(&a, &b)?;
    Some(search.told(&a, &b, (execution, first, second)))
}

impl Search<'_> {
    fn run(&mut self, input: &Input) -> Option<Ran> {
        if self.steps > STEPS_IN_ALL {
            return None;
        }
        // The same noise: what is seen differs by the secrets alone.
        let ran = self.bench.run(input, 7, STEPS);
        self.steps += ran.steps;
        Some(ran)
    }

    /// The first execution of the instruction that shows different things, and what.
    fn apart(&mut self, a: &Input, b: &Input) -> Option<(usize, String, String)> {
        let (a, b) = (self.run(a)?, self.run(b)?);
        let here = |ran: &Ran| -> Vec<Shown> { ran.seen.iter().filter(|(pc, _)| *pc == self.pc).map(|(_, s)| s.clone()).collect() };
        let (a, b) = (here(&a), here(&b));
        let k = a.iter().zip(&b).position(|(x, y)| x != y)?;
        Some((k + 1, a[k].to_string(), b[k].to_string()))
    }

    /// `b` with some of its secrets as in `a`.
    fn nearer(&self, a: &Input, b: &Input, part: std::ops::Range<usize>) -> Option<Input> {
        let (of_a, of_b) = (secrets(self.program, self.func, a), secrets(self.program, self.func, b));
        let mixed = of_a.iter().zip(&of_b).enumerate().map(|(n, (x, y))| if part.contains(&n) { x } else { y }.clone());
        let mixed: Vec<(usize, usize, BigInt)> = mixed.collect();
        let mut out = b.clone();
        for k in 0..b.args.len() {
            let own: Vec<BigInt> = mixed.iter().filter(|(p, ..)| *p == k).map(|(.., v)| v.clone()).collect();
            if !own.is_empty() {
                out = with_scalars(self.program, self.func, &out, k, own)?;
            }
        }
        meeting(self.program, self.func, vec![out]).pop()
    }

    fn told(&self, a: &Input, b: &Input, (execution, first, second): (usize, String, String)) -> Evidence {
        let f = self.program.func(self.func);
        let lens = f.lens.iter().zip(&a.lens).map(|(id, n)| (f.local(*id).name.clone(), n.to_string()));
        let mut told = Evidence { same: lens.collect(), secrets: vec![], execution, first, second };
        for ((id, x), y) in f.params.iter().zip(&a.args).zip(&b.args) {
            let (name, ty) = (f.local(*id).name.clone(), &f.local(*id).ty);
            match x == y {
                true => told.same.push((name, show(ty, x))),
                false => told.secrets.push((name, show(ty, x), show(ty, y))),
            }
        }
        told
    }
}

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Shown::Branch(true) => f.write_str("the branch is taken"),
            Shown::Branch(false) => f.write_str("the branch is not taken"),
            Shown::Address(place) => write!(f, "the address is {place}"),
            Shown::Jump(to) => write!(f, "the jump leads to {to:#x}"),
            Shown::Operands(a, b) => write!(f, "the operands are {a:#x} and {b:#x}"),
        }
    }
}
