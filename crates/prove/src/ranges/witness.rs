//! Concrete inputs that break an obligation: corners first, then random ones, always confirmed by the interpreter.
//!
//! Deterministic: the seed is the function's name.

use santoku_num::SplitMix64;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use santoku_ir::interp::{Fault, FaultKind, Interp, Options as RunOptions, Value};
use santoku_ir::{visit, ContractKind, Func, FuncId, Len, Loc, LocalId, Program, Range, Ty};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::obligation::{Kind, Obligation, Outcome, Witness};
use super::found::Options;
use santoku_num::{Bound, Int};

/// Interpreter steps per input.
const RUN_STEPS: u64 = 300_000;
/// Interpreter steps per function.
const TOTAL_STEPS: u64 = 3_000_000;
/// Operations per contract clause: long ones are not judged here.
const SPEC_STEPS: u64 = 2_000;
/// Scalars of one argument set.
const MAX_SCALARS: u64 = 1 << 16;

/// Gives each open obligation of `func` inputs that break it, where the search finds some.
pub fn search(p: &Program, func: FuncId, opts: &Options, obligations: &mut [Obligation]) {
    let f = p.func(func);
    let mut rng = Rng::of(f);
    let mut interp = Interp::with_options(p, RunOptions { steps: RUN_STEPS, spec_steps: SPEC_STEPS, ..RunOptions::checked() });
    for round in 0..opts.witness_tries {
        let open = obligations.iter().any(|o| waiting(o).is_some());
        if !open || interp.stats().steps > TOTAL_STEPS {
            return;
        }
        let Some(inputs) = Inputs::make(p, f, round, MAX_SCALARS, &mut rng) else { return };
        try_inputs(p, func, &mut interp, &inputs, obligations);
    }
}

/// Runs one set of inputs and hands what breaks to the obligation it breaks.
fn try_inputs(p: &Program, func: FuncId, interp: &mut Interp, inputs: &Inputs, obligations: &mut [Obligation]) {
    let f = p.func(func);
    let Err(fault) = interp.call(func, &inputs.lens, inputs.args.clone()) else { return };
    let hit = obligations.iter_mut().find(|o| waiting(o).is_some() && breaks(p, f, o, &fault));
    if let Some(Outcome::Failed { witness, .. }) = hit.map(|o| &mut o.outcome) {
        *witness = Some(Witness { inputs: inputs.named(f), message: fault.to_string() });
    }
}

/// The open obligation without a witness yet.
fn waiting(o: &Obligation) -> Option<Kind> {
    matches!(&o.outcome, Outcome::Failed { witness: None, .. }).then_some(o.kind)
}

/// Whether the fault is the one the obligation rules out.
fn breaks(p: &Program, f: &Func, o: &Obligation, fault: &Fault) -> bool {
    let kind = match &fault.kind {
        FaultKind::RangeLeft { .. } => Kind::Range,
        FaultKind::IndexOutOfBounds { .. } | FaultKind::SliceOutOfBounds { .. } | FaultKind::Length { .. } => Kind::Index,
        FaultKind::ShiftCount { .. } => Kind::Shift,
        FaultKind::Assertion { .. } | FaultKind::Invariant { .. } => Kind::Assert,
        FaultKind::Contract { kind: ContractKind::Requires, .. } => Kind::Requires,
        FaultKind::Contract { kind: ContractKind::Ensures, .. } => Kind::Ensures,
        FaultKind::Undefined { .. } => Kind::Defined,
        FaultKind::IntTooLarge => Kind::Width,
        FaultKind::OutOfSteps | FaultKind::BadArgument { .. } | FaultKind::Internal { .. } => return false,
    };
    if kind != o.kind {
        return false;
    }
    if fault.func == f.name {
        // A broken `requires` of the function itself means the inputs were not allowed.
        return kind != Kind::Requires && (fault.loc == o.loc || fault.loc == Loc::default());
    }
    // What a call hands over is checked on the callee's side.
    let called = p.funcs.iter().any(|g| g.name == fault.func) && o.text.contains(&fault.func);
    called && matches!(kind, Kind::Range | Kind::Requires)
}

/// Lengths and arguments of one call.
pub struct Inputs {
    pub lens: Vec<u64>,
    pub args: Vec<Value>,
}

impl Inputs {
    /// `None` when the parameters have more than `most` scalars.
    pub fn make(p: &Program, f: &Func, round: u32, most: u64, rng: &mut Rng) -> Option<Inputs> {
        const LENGTHS: [u64; 12] = [0, 1, 2, 3, 7, 8, 63, 64, 65, 127, 128, 200];
        let mut map = BTreeMap::new();
        let mut lens = Vec::new();
        for id in &f.lens {
            let n = if rng.below(4) == 0 { rng.below(260) } else { LENGTHS[rng.below(LENGTHS.len() as u64) as usize] };
            let n = allowed_length(&f.local(*id).ty, n);
            lens.push(n);
            map.insert(*id, n);
        }
        let mut left = most;
        // The first rounds are all-low, all-high; then one corner for all, then a mix.
        let style = match round {
            0 => Style::All(0),
            1 => Style::All(1),
            2..=12 => Style::All(round as usize),
            r if r % 3 == 0 => Style::Corners,
            r if r % 3 == 1 => Style::Mixed,
            _ => Style::Nearly(rng.below(2) as usize),
        };
        let args = f.params.iter().map(|id| value(p, &f.local(*id).ty, &map, style, rng, &mut left)).collect::<Option<_>>()?;
        Some(Inputs { lens, args })
    }

    fn named(&self, f: &Func) -> Vec<(String, String)> {
        let name = |id: &LocalId| f.local(*id).name.clone();
        let lens = f.lens.iter().zip(&self.lens).map(|(id, n)| (name(id), n.to_string()));
        lens.chain(f.params.iter().zip(&self.args).map(|(id, v)| (name(id), v.to_string()))).collect()
    }
}

#[derive(Clone, Copy)]
enum Style {
    /// The same corner everywhere.
    All(usize),
    Corners,
    /// Corners and random values.
    Mixed,
    /// One corner nearly everywhere.
    Nearly(usize),
}

fn value(p: &Program, ty: &Ty, lens: &BTreeMap<LocalId, u64>, style: Style, rng: &mut Rng, left: &mut u64) -> Option<Value> {
    *left = left.checked_sub(1)?;
    match ty {
        Ty::Bool => Some(Value::Bool(rng.below(2) == 1)),
        Ty::Word(bits) => {
            let r = Range::word(*bits);
            Some(Value::Word(scalar(&r, style, rng).to_u128()?))
        }
        Ty::Int(r) => Some(Value::int(scalar(r.as_ref()?, style, rng))),
        Ty::Array { elem, len, ranges } => {
            let n = match len {
                Len::Const(n) => *n,
                Len::Param { param, add } => lens.get(param)?.checked_add_signed(*add)?,
            };
            let mut out = Vec::new();
            for i in 0..n {
                let own = ranges.as_ref().and_then(|r| r.get(i as usize)).map(|r| Ty::Int(Some(r.clone())));
                out.push(value(p, own.as_ref().unwrap_or(elem), lens, style, rng, left)?);
            }
            Some(Value::Array(Arc::new(out)))
        }
        Ty::Struct(id) => {
            let fields = &p.structs[id.0 as usize].fields;
            let all = fields.iter().map(|(_, t)| value(p, t, lens, style, rng, left)).collect::<Option<Vec<_>>>()?;
            Some(Value::Struct(Arc::new(all)))
        }
    }
}

fn scalar(r: &Range, style: Style, rng: &mut Rng) -> BigInt {
    match style {
        Style::All(nr) => corner(r, nr),
        Style::Corners => rng.corner(r),
        Style::Mixed if rng.below(2) == 0 => rng.corner(r),
        Style::Nearly(nr) if rng.below(4) > 0 => corner(r, nr),
        Style::Mixed | Style::Nearly(_) => random(r, rng),
    }
}

/// Lowest, highest, zero, one, minus one, and around powers of two, brought into the range.
fn corner(r: &Range, nr: usize) -> BigInt {
    let bits = r.lo.bits().max(r.hi.bits()) as u32;
    let v = match nr {
        0 => r.lo.clone(),
        1 => r.hi.clone(),
        2 => Int::ZERO,
        3 => Int::ONE,
        4 => Int::ONE.neg(),
        5 => Int::pow2(bits / 2),
        6 => Int::mask(bits / 2),
        7 => Int::pow2(bits.saturating_sub(1)),
        8 => Int::mask(bits.saturating_sub(1)),
        9 => Int::pow2(bits.saturating_sub(1)).neg(),
        10 => r.hi.sub(&Int::ONE),
        11 => r.lo.add(&Int::ONE),
        _ => r.hi.shr(1),
    };
    v.clamp(r.lo.clone(), r.hi.clone()).into()
}

fn random(r: &Range, rng: &mut Rng) -> BigInt {
    let span = r.count().to_big();
    let wide = (0..=span.bits() / 64).fold(BigInt::from(0), |acc, _| (acc << 64u32) + rng.random.next_u64());
    r.lo.to_big() + wide % span
}

/// The constants a function mentions, with their neighbours: where its behaviour changes.
fn landmarks(f: &Func) -> Vec<BigInt> {
    let mut seen = BTreeSet::new();
    visit::walk_exprs(&f.body, &mut |e| {
        if let (Some(k), true) = (e.as_const(), seen.len() < 256) {
            seen.extend([k - 1, k.clone(), k + 1]);
        }
    });
    seen.into_iter().collect()
}

fn seed(name: &str) -> u64 {
    name.bytes().fold(0x5a17, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}

/// Numbers without meaning, and the values worth trying.
pub struct Rng {
    random: SplitMix64,
    landmarks: Vec<BigInt>,
}

impl Rng {
    /// The same values for a function of the same name and the same constants.
    pub fn of(f: &Func) -> Rng {
        Rng { random: SplitMix64::new(seed(&f.name)), landmarks: landmarks(f) }
    }
    fn below(&mut self, n: u64) -> u64 {
        self.random.below(n)
    }
    fn corner(&mut self, r: &Range) -> BigInt {
        let nr = self.below(13 + self.landmarks.len().min(13) as u64) as usize;
        if nr < 13 {
            return corner(r, nr);
        }
        let at = self.below(self.landmarks.len() as u64) as usize;
        self.landmarks[at].clone().clamp(r.lo.to_big(), r.hi.to_big())
    }
}

/// Inputs from a solver's model: `None` for a scalar the solver left free.
pub fn from_model(p: &Program, func: FuncId, model: &mut dyn FnMut(LocalId, &[usize]) -> Option<Int>, obligations: &mut [Obligation]) {
    let f = p.func(func);
    if !f.lens.is_empty() {
        return;
    }
    let args: Option<Vec<Value>> = f.params.iter().map(|id| modelled(p, *id, &f.local(*id).ty, &mut Vec::new(), model)).collect();
    if let Some(args) = args {
        let mut interp = Interp::with_options(p, RunOptions { steps: RUN_STEPS, spec_steps: SPEC_STEPS, ..RunOptions::checked() });
        try_inputs(p, func, &mut interp, &Inputs { lens: Vec::new(), args }, obligations);
    }
}

fn modelled(p: &Program, id: LocalId, ty: &Ty, path: &mut Vec<usize>, model: &mut dyn FnMut(LocalId, &[usize]) -> Option<Int>) -> Option<Value> {
    let mut part = |i: usize, ty: &Ty, path: &mut Vec<usize>| {
        path.push(i);
        let v = modelled(p, id, ty, path, model);
        path.pop();
        v
    };
    match ty {
        Ty::Array { elem, len: Len::Const(n), ranges } => {
            let own = |i: usize| ranges.as_ref().and_then(|r| r.get(i)).map(|r| Ty::Int(Some(r.clone())));
            let all = (0..*n as usize).map(|i| part(i, own(i).as_ref().unwrap_or(elem), path)).collect::<Option<Vec<_>>>()?;
            Some(Value::Array(Arc::new(all)))
        }
        Ty::Struct(s) => {
            let fields = &p.structs[s.0 as usize].fields;
            let all = fields.iter().enumerate().map(|(i, (_, t))| part(i, t, path)).collect::<Option<Vec<_>>>()?;
            Some(Value::Struct(Arc::new(all)))
        }
        Ty::Array { .. } => None,
        scalar => {
            let range = super::value::scalar_itv(scalar);
            let v = model(id, path).map(Bound::from).unwrap_or_else(|| if range.holds(0) { Bound::ZERO } else { range.lo.clone() });
            let v = v.max(range.lo).min(range.hi).to_big()?;
            Some(match scalar {
                Ty::Word(_) => Value::Word(v.to_u128()?),
                Ty::Bool => Value::Bool(v != BigInt::from(0)),
                _ => Value::int(v),
            })
        }
    }
}

/// The length nearest to `n` that a parameter of this type takes.
pub fn allowed_length(ty: &Ty, n: u64) -> u64 {
    let Ty::Int(Some(r)) = ty else { return n };
    n.max(r.lo.to_u64().unwrap_or(0)).min(r.hi.to_u64().unwrap_or(u64::MAX))
}
