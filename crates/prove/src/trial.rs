//! Concrete runs in the interpreter: all inputs where they are few, otherwise a search for inputs that break a claim.
//!
//! Needs: the interpreter with contracts checked.  Keeps: a witness is always confirmed by a run; "all inputs" means every
//! one was run.  Absent on purpose: cleverness; corners and random values only, from a fixed seed.
//! Trusted: engines.

use santoku_num::SplitMix64;
use crate::excuse::{kind_of, lemmas, Excuses};
use crate::obligation::{Kind, Witness};
use crate::ranges::witness::allowed_length;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use santoku_ir::interp::{Fault, FaultKind, Int, Interp, Options, Value};
use santoku_ir::{ContractKind, FuncId, Len, Loc, Program, Ty};

/// Inputs up to which a function is tried on all of them.
pub const EXHAUSTIVE_MAX: u64 = 1 << 16;
/// Interpreter steps one trial may take.
const STEPS: u64 = 2_000_000;
/// Interpreter steps all trials of one function may take.
const STEPS_ALL: u64 = 40_000_000;
/// Operations of clauses in all trials of one function.
const SPEC_STEPS_ALL: u64 = 1 << 22;
/// Operations of a clause where it decides whether an input is allowed.
const SPEC_STEPS_IN_FULL: u64 = 1 << 22;
const INNER_SPEC_STEPS_IN_FULL: u64 = 1 << 24;
/// Lengths tried for public length parameters.
const LENGTHS: [u64; 6] = [0, 1, 2, 31, 64, 200];

/// How a search ended.
pub enum Trial {
    /// Every input was run and every clause held.
    AllInputs(u64),
    Broken(Box<Broken>),
    /// Every input was run, and none is allowed.
    NoInput,
    Nothing,
}

/// An input that breaks something, what and where.
pub struct Broken {
    pub witness: Witness,
    pub kind: Kind,
    /// In the function that was called from outside.
    pub own: bool,
    pub loc: Loc,
    /// Where it went wrong.
    pub func: String,
    /// If that is at its entry: who called it, and where.
    pub call: Option<(String, Loc)>,
    /// The clause, if it is one of a contract.
    pub clause: Option<String>,
}

/// Runs `id` on all inputs, if there are at most [`EXHAUSTIVE_MAX`]; otherwise on `tries` corner and random ones.
pub fn search(p: &Program, id: FuncId, tries: u32) -> Trial {
    let f = p.func(id);
    let tys: Vec<&Ty> = f.params.iter().map(|x| &f.local(*x).ty).collect();
    let mut run = Runner::new(p, Options { steps: STEPS, spec_steps: 1 << 18, ..Options::checked() });
    if f.lens.is_empty() {
        if let Some(total) = tys.iter().try_fold(1u64, |n, t| n.checked_mul(count(p, t)?)).filter(|n| *n <= EXHAUSTIVE_MAX) {
            return run.all(id, &tys, total);
        }
    }
    let mut rng = Rng(SplitMix64::new(0x5eed_5a17 ^ u64::from(id.0)));
    for n in 0..tries {
        let length = |id: &santoku_ir::LocalId| allowed_length(&f.local(*id).ty, LENGTHS[rng.below(LENGTHS.len() as u64) as usize]);
        let lens: Vec<u64> = f.lens.iter().map(length).collect();
        let env: Vec<(santoku_ir::LocalId, u64)> = f.lens.iter().copied().zip(lens.iter().copied()).collect();
        let args: Option<Vec<Value>> = tys.iter().map(|t| random(p, t, &env, &mut rng, n)).collect();
        let Some(args) = args else { return Trial::Nothing };
        if run.steps() > STEPS_ALL || run.spec_steps() > SPEC_STEPS_ALL {
            return Trial::Nothing;
        }
        match run.once(id, &lens, args, None) {
            Once::Broken(b) => return Trial::Broken(b),
            Once::Exhausted => return Trial::Nothing,
            Once::Held { .. } | Once::NotAllowed | Once::Excused => {}
        }
    }
    Trial::Nothing
}

/// Runs functions of one program.
pub struct Runner<'p> {
    p: &'p Program,
    interp: Interp<'p>,
    /// Steps that one run may take.
    limit: u64,
    /// Operations of clauses in runs made to know whether an input is allowed.
    doubts: u64,
}

/// How one run ended.
pub enum Once {
    /// `judged`: no clause was too large to be evaluated; of many that callees require the first.
    Held { judged: bool },
    /// The input does not meet a `requires` or a declared range.
    NotAllowed,
    Broken(Box<Broken>),
    /// What went wrong was to be expected.
    Excused,
    Exhausted,
}

impl<'p> Runner<'p> {
    pub fn new(p: &'p Program, options: Options) -> Runner<'p> {
        Runner { p, limit: options.steps, interp: Interp::with_options(p, options), doubts: 0 }
    }

    /// Steps of all runs so far.
    pub fn steps(&self) -> u64 {
        self.interp.stats().steps
    }

    /// Operations of clauses in all runs so far.
    pub fn spec_steps(&self) -> u64 {
        self.interp.stats().spec_steps + self.doubts
    }

    /// Activations of a function in the last run, all clauses judged.
    pub fn judged(&self, id: FuncId) -> u64 {
        self.interp.judged(id)
    }

    /// The fault on an input, and whether every clause before it was judged. `None`: a clause that may exclude the input is too long even
    /// so, or there is no fault.
    fn in_full(&mut self, id: FuncId, lens: &[u64], args: Vec<Value>) -> Option<(Box<Fault>, bool)> {
        let options = Options { steps: self.limit.max(STEPS), spec_steps: SPEC_STEPS_IN_FULL, inner_spec_steps: INNER_SPEC_STEPS_IN_FULL, ..Options::checked() };
        let mut interp = Interp::with_options(self.p, options);
        let result = interp.call(id, lens, args);
        self.doubts += interp.stats().spec_steps;
        let fault = result.err()?;
        (!interp.doubtful()).then(|| (fault, interp.stats().contracts_unevaluated + interp.stats().inner_unevaluated == 0))
    }

    fn excluded(&self, id: FuncId, fault: &Fault) -> bool {
        let f = self.p.func(id);
        (fault.func.is_empty() || fault.func == f.name) && f.contracts.iter().any(|c| c.kind == ContractKind::Requires)
    }

    fn all(&mut self, id: FuncId, tys: &[&Ty], total: u64) -> Trial {
        let mut ran = 0;
        for n in 0..total {
            let mut rest = n;
            let args: Vec<Value> = tys.iter().map(|t| nth(self.p, t, &mut rest)).collect();
            if self.steps() > STEPS_ALL || self.spec_steps() > SPEC_STEPS_ALL {
                return Trial::Nothing;
            }
            match self.once(id, &[], args, None) {
                Once::Held { .. } => ran += 1,
                Once::NotAllowed | Once::Excused => {}
                Once::Broken(b) => return Trial::Broken(b),
                Once::Exhausted => return Trial::Nothing,
            }
        }
        // A clause or claim too large to evaluate was not checked, and what a lemma requires is not.
        let stats = self.interp.stats();
        let unchecked = stats.contracts_unevaluated + stats.inner_unevaluated > 0 || !lemmas(self.p.func(id)).is_empty();
        if ran == 0 && !unchecked {
            return Trial::NoInput;
        }
        if ran == 0 || unchecked {
            return Trial::Nothing;
        }
        Trial::AllInputs(ran)
    }

    /// Runs a function on one input. `excuses` say of what goes wrong that nothing is to be learned from it; without them it is asked what
    /// goes wrong first.
    pub fn once(&mut self, id: FuncId, lens: &[u64], args: Vec<Value>, excuses: Option<&Excuses>) -> Once {
        let excused = |f: &Fault| excuses.is_some_and(|e| e.explain(id, f));
        let before = self.interp.stats();
        let result = self.interp.call(id, lens, args.clone());
        let after = self.interp.stats();
        let judged = after.contracts_unevaluated == before.contracts_unevaluated;
        let mut fault = match result {
            Ok(_) => return Once::Held { judged },
            Err(f) => f,
        };
        // What excludes the input may be a clause that was not judged, and to know takes longer still.
        if matches!(fault.kind, FaultKind::OutOfSteps) {
            return Once::Exhausted;
        }
        let judged = judged && after.inner_unevaluated == before.inner_unevaluated;
        if excused(&fault) {
            return Once::Excused;
        }
        if !judged {
            match self.in_full(id, lens, args.clone()) {
                Some((f, _)) if excused(&f) => return Once::Excused,
                // A clause that was not judged is at most what goes wrong before this does.
                Some((f, complete)) if complete || excuses.is_some_and(Excuses::is_empty) => fault = f,
                _ => return Once::Exhausted,
            }
        }
        let kind = match kind_of(&fault.kind) {
            _ if matches!(fault.kind, FaultKind::BadArgument { .. }) => return Once::NotAllowed,
            // Seen before the `requires` that may exclude it.
            _ if matches!(fault.kind, FaultKind::Length { .. }) && self.excluded(id, &fault) => return Once::NotAllowed,
            Some(kind) => kind,
            None => return Once::Exhausted,
        };
        let f = self.p.func(id);
        let own = fault.func.is_empty() || fault.func == f.name;
        if own && kind == Kind::Requires {
            return Once::NotAllowed;
        }
        let names = f.lens.iter().chain(&f.params).map(|l| f.local(*l).name.clone());
        let values = lens.iter().map(u64::to_string).chain(args.iter().map(Value::to_string));
        let message = if own { fault.kind.to_string() } else { format!("{} in `{}`", fault.kind, fault.func) };
        let witness = Witness { inputs: names.zip(values).collect(), message };
        let Fault { func, loc, call, kind: what, .. } = *fault;
        let clause = if let FaultKind::Contract { text, .. } = what { Some(text) } else { None };
        Once::Broken(Box::new(Broken { witness, kind, own, loc, func, call, clause }))
    }
}

/// Number of values of a type, if it is small.
fn count(p: &Program, ty: &Ty) -> Option<u64> {
    match ty {
        Ty::Word(b) => (*b <= 16).then(|| 1 << b),
        Ty::Bool => Some(2),
        Ty::Int(r) => {
            r.as_ref()?.count().to_u64()
        }
        Ty::Array { elem, len: Len::Const(n), ranges } => match ranges {
            Some(rs) => rs.iter().try_fold(1u64, |n, r| n.checked_mul(r.count().to_u64()?)),
            None => {
                let one = count(p, elem)?;
                if one == 1 {
                    return Some(1);
                }
                one.checked_pow(u32::try_from(*n).ok()?)
            }
        },
        Ty::Array { .. } => None,
        Ty::Struct(s) => p.structs[s.0 as usize].fields.iter().try_fold(1u64, |n, (_, t)| n.checked_mul(count(p, t)?)),
    }
}

/// The value with number `rest mod count`; the quotient stays in `rest`.
fn nth(p: &Program, ty: &Ty, rest: &mut u64) -> Value {
    let mut digit = |n: u64| {
        let d = *rest % n.max(1);
        *rest /= n.max(1);
        d
    };
    match ty {
        Ty::Word(b) => Value::word(digit(1 << b)),
        Ty::Bool => Value::Bool(digit(2) == 1),
        Ty::Int(Some(r)) => Value::Int(r.lo.add(&digit(r.count().to_u64().unwrap_or(1)).into())),
        Ty::Int(None) => int(&BigInt::from(0)),
        Ty::Array { elem, len, ranges } => {
            let n = if let Len::Const(n) = len { *n } else { 0 };
            Value::array(
                (0..n as usize)
                    .map(|i| match ranges.as_ref().and_then(|r| r.get(i)) {
                        Some(r) => nth(p, &Ty::Int(Some(r.clone())), rest),
                        None => nth(p, elem, rest),
                    })
                    .collect(),
            )
        }
        Ty::Struct(s) => Value::structure(p.structs[s.0 as usize].fields.iter().map(|(_, t)| nth(p, t, rest)).collect()),
    }
}

struct Rng(SplitMix64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0.next_u64()
    }
    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
    /// From `lo..=hi`: try 0 takes the lower corner, try 1 the upper, later ones mix corners and anything between.
    fn pick(&mut self, lo: &BigInt, hi: &BigInt, attempt: u32) -> BigInt {
        match (attempt, self.below(6)) {
            (0, _) | (2.., 0) => lo.clone(),
            (1, _) | (2.., 1) => hi.clone(),
            _ => {
                let span: BigInt = hi - lo + 1;
                let mut v = BigInt::from(0);
                for _ in 0..span.bits() / 64 + 1 {
                    v = (v << 64) + self.next();
                }
                lo + v % span
            }
        }
    }
}

fn int(v: &BigInt) -> Value {
    Value::Int(Int::from(v))
}

fn random(p: &Program, ty: &Ty, lens: &[(santoku_ir::LocalId, u64)], rng: &mut Rng, attempt: u32) -> Option<Value> {
    Some(match ty {
        Ty::Word(b) => {
            let hi = (BigInt::from(1) << *b) - 1;
            Value::Word(rng.pick(&BigInt::from(0), &hi, attempt).to_u128()?)
        }
        Ty::Bool => Value::Bool(rng.below(2) == 1),
        Ty::Int(r) => {
            let r = r.as_ref()?;
            int(&rng.pick(&r.lo.to_big(), &r.hi.to_big(), attempt))
        }
        Ty::Array { elem, len, ranges } => {
            let n = match len {
                Len::Const(n) => *n,
                Len::Param { param, add } => {
                    let base = lens.iter().find(|(l, _)| l == param)?.1;
                    base.checked_add_signed(*add)?
                }
            };
            let one = |i: usize, rng: &mut Rng| match ranges.as_ref().and_then(|r| r.get(i)) {
                Some(r) => random(p, &Ty::Int(Some(r.clone())), lens, rng, attempt),
                None => random(p, elem, lens, rng, attempt),
            };
            Value::array((0..n as usize).map(|i| one(i, rng)).collect::<Option<_>>()?)
        }
        Ty::Struct(s) => {
            let fields = &p.structs[s.0 as usize].fields;
            Value::structure(fields.iter().map(|(_, t)| random(p, t, lens, rng, attempt)).collect::<Option<_>>()?)
        }
    })
}
