//! What the prover says of a claim, engine by engine, and what the interpreter says.
//!
//! Needs: source text.  Keeps: the engines are asked without the trial of inputs, which would hide what they get wrong; an
//! obligation counts as proved if any engine closes it.  Absent: fixes.

use crate::ast::{Prog, Ty};
use crate::run::inputs;
use num_bigint::BigInt;
use num_traits::{ToPrimitive, Zero};
use santoku_ir::gen::Rng;
use santoku_ir::interp::{Fault, FaultKind, Interp, Int, Options as Checks, Value};
use santoku_ir::{ContractKind, FuncId, Program};
use santoku_prove::contracts::{self, cost};
use santoku_prove::obligation::{Engine, Kind, Obligation, Outcome};
use santoku_prove::ranges::Limits;
use santoku_prove::{prove, ranges, ProveOptions};

pub fn compile(text: &str) -> Result<Program, String> {
    let mut load = |path: &str| (path == "claims.stk").then(|| text.to_string());
    match santoku_sema::compile("claims.stk", &[], &mut load, &santoku_sema::Options::default()) {
        Ok(c) => match santoku_ir::verify::verify(&c.program).first() {
            Some(e) => Err(format!("verifier: {e}")),
            None => Ok(c.program),
        },
        Err(f) => Err(f.diagnostics.iter().map(|d| format!("{} {}", d.code, d.title)).collect::<Vec<_>>().join("; ")),
    }
}

pub fn entry(p: &Program) -> FuncId {
    let at = p.funcs.iter().position(|f| f.name.rsplit('.').next() == Some("main"));
    FuncId(at.expect("a main function") as u32)
}

/// The arguments of input number `k`.
pub fn args(p: &Prog, k: usize) -> Vec<Value> {
    let f = p.main();
    let (env, _) = inputs(f).expect("few inputs");
    let scalar = |ty: &Ty, v: &BigInt| match ty {
        Ty::Word(_) => Value::Word(v.to_u128().expect("a word")),
        Ty::Bool => Value::Bool(!v.is_zero()),
        _ => Value::Int(Int::from(v)),
    };
    f.vars[..f.params]
        .iter()
        .zip(&env)
        .map(|(v, val)| match (&v.ty, val) {
            (Ty::Arr(t, _), Some(crate::run::Val::Agg(vs))) => {
                Value::array(vs.iter().map(|x| scalar(t, &x.sc().expect("scalars")[k])).collect())
            }
            (t, Some(crate::run::Val::Sc(x))) => scalar(t, &x[k]),
            _ => unreachable!("parameters are set"),
        })
        .collect()
}

/// Runs one input, everything checked.
pub fn fault(p: &Program, args: Vec<Value>) -> Option<Box<Fault>> {
    Interp::with_options(p, Checks::checked()).call(entry(p), &[], args).err()
}

/// Which engines to ask.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ask {
    /// Intervals and linear facts; the algebra.
    Own,
    /// Linear facts everywhere, and the algebra.
    Eager,
    /// The solver too.
    Solver,
    /// The whole prover.
    All,
    /// As `Own` or `Eager`, with every budget of the ranges at a small value drawn from this seed.
    Short(u64),
    /// As `Own`, with so many steps for callees run in place.
    InPlace(u64),
    /// As `Own`, of which only what the judge accepts counts.
    Judge,
    /// Of clauses, what the judge of meaning accepts, whatever the engines say; nothing else.
    Meaning,
}

impl Ask {
    /// The same for program number `seed`.
    pub fn of(self, seed: u64) -> Ask {
        match self {
            Ask::Short(_) => Ask::Short(seed),
            other => other,
        }
    }
}

/// Budgets that end in the middle of small programs.
fn short(seed: u64) -> ranges::Options {
    let mut rng = Rng::new(seed ^ 0x5407);
    let mut most = |n: u64| rng.below(n + 1);
    let limits = Limits {
        small_callee: most(400),
        tiny_callee: most(400),
        in_place_steps: most(300),
        inlined: most(3) as u32,
        special_cases: most(3) as usize,
        window: 1 + most(40) as usize,
        candidates: 1 + most(40) as usize,
        split_tries: 1 + most(3) as u32,
        free_trips: i128::from(most(4)),
        exact_rounds: most(3) as u32,
        hard_rounds: most(6) as u32,
        last_round: most(12) as u32,
        selects: most(3) as u32,
        public_cases: most(20) as usize,
        clause_steps: most(600),
        queries: 0,
        ..Limits::default()
    };
    let eager = most(1) == 0;
    ranges::Options { smt: None, eager, witness_tries: 0, steps: most(600), split_steps: most(4000), limits, ..ranges::Options::default() }
}

/// What the engines say. None may contradict itself, nor what an input shows.
pub fn obligations(p: &Program, ask: Ask) -> Vec<Obligation> {
    let all = judged(p, ask);
    if let Some(o) = all.iter().find(|o| o.fault()) {
        panic!("{ask:?}: the prover contradicts itself: {o:#?}\n{}", santoku_ir::text::print(p));
    }
    all
}

fn judged(p: &Program, ask: Ask) -> Vec<Obligation> {
    if ask == Ask::All {
        let report = prove(p, &ProveOptions { threads: 1, tries: 20, ..ProveOptions::default() });
        return report.functions.into_iter().flat_map(|f| f.obligations).collect();
    }
    let smt = (ask == Ask::Solver).then_some(50_000);
    let own = ranges::Options { smt, eager: ask == Ask::Eager, witness_tries: 0, steps: 200_000, split_steps: 100_000, ..ranges::Options::default() };
    let opts = match ask {
        Ask::Short(seed) => short(seed),
        Ask::InPlace(in_place_steps) => ranges::Options { limits: Limits { in_place_steps, ..Limits::default() }, ..own },
        _ => own,
    };
    let (ranges, mut all) = ranges::analyse(p, &opts);
    if ask == Ask::Judge {
        accept(&santoku_prove::judged::program(p, &ranges::annotate_with(p, &ranges), false), &mut all);
        return all;
    }
    let costs = cost::of_program(p);
    for id in 0..p.funcs.len() as u32 {
        all.extend(contracts::check(p, FuncId(id), &costs));
    }
    if ask == Ask::Meaning {
        accept_clauses(p, &mut all);
    }
    all
}

/// Clauses are as the judge of meaning says; what else was asked is open.
fn accept_clauses(p: &Program, all: &mut [Obligation]) {
    let judged: Vec<_> = (0..p.funcs.len() as u32).map(|id| santoku_prove::replay::judged(p, FuncId(id))).collect();
    for o in all {
        let clause = matches!(o.kind, Kind::Ensures | Kind::Requires);
        let held = clause && santoku_prove::replay::whole(&judged[o.func.0 as usize]).is_ok_and(|found| santoku_prove::replay::accepted(p, found, o));
        o.outcome = match held {
            true => Outcome::Proved { engine: Engine::Algebra },
            false => Outcome::Failed { reason: "not accepted".into(), witness: None, origin: None },
        };
    }
}

/// Everything that was asked of a function is as the judge says.
fn accept(verdicts: &[Option<santoku_prove::judged::Verdict>], all: &mut [Obligation]) {
    for o in all {
        o.outcome = match &verdicts[o.func.0 as usize] {
            Some(Ok(_)) => Outcome::Proved { engine: Engine::Relational },
            other => Outcome::Failed { reason: format!("{other:?}"), witness: None, origin: None },
        };
    }
}

fn kind(fault: &FaultKind) -> Kind {
    match fault {
        FaultKind::RangeLeft { .. } => Kind::Range,
        FaultKind::ShiftCount { .. } => Kind::Shift,
        FaultKind::Assertion { .. } | FaultKind::Invariant { .. } => Kind::Assert,
        FaultKind::Undefined { .. } => Kind::Defined,
        FaultKind::Contract { kind: ContractKind::Requires, .. } => Kind::Requires,
        FaultKind::Contract { kind: ContractKind::Ensures, .. } => Kind::Ensures,
        _ => Kind::Index,
    }
}

/// The obligations that a fault breaks: of its kind, in its function, at its line.
pub fn broken<'o>(p: &Program, text: &str, fault: &Fault, all: &'o [Obligation]) -> Vec<&'o Obligation> {
    let kind = kind(&fault.kind);
    let callee = fault.func.ends_with("need");
    let func = if callee { p.func(entry(p)).name.as_str() } else { fault.func.as_str() };
    let line = match callee {
        true => text.lines().position(|l| l.contains("= need(")).map_or(0, |n| n as u32 + 1),
        false => fault.loc.line,
    };
    // A clause reads otherwise in the true twin, but there is only one.
    let here = |o: &Obligation| match kind {
        Kind::Ensures => true,
        Kind::Requires if callee => o.loc.line == line && o.text.starts_with(&format!("{} requires", fault.func)),
        _ => o.loc.line == line,
    };
    all.iter().filter(|o| o.kind == kind && p.func(o.func).name == func && here(o)).collect()
}

/// The engines that closed what the fault breaks; `None` where something is left open, as it must be.
pub fn fooled(p: &Program, text: &str, fault: &Fault, all: &[Obligation]) -> Option<Vec<Engine>> {
    let broken = broken(p, text, fault, all);
    let clause = matches!(fault.kind, FaultKind::Contract { .. });
    if clause {
        // Two lists judge a clause; one that proves it is enough to be wrong, if it proves it at every visit.
        let engines: Vec<Engine> = broken.iter().filter_map(|o| o.engine()).collect();
        let arithmetic = |e: &Engine| matches!(e, Engine::Algebra | Engine::Carried);
        let lists: [Vec<&&Obligation>; 2] = [
            broken.iter().filter(|o| o.engine().is_some_and(|e| arithmetic(&e))).collect(),
            broken.iter().filter(|o| o.engine().is_some_and(|e| !arithmetic(&e))).collect(),
        ];
        return lists.iter().any(|l| !l.is_empty()).then_some(engines);
    }
    broken.iter().all(|o| o.proved()).then(|| broken.iter().filter_map(|o| o.engine()).collect())
}
