//! Arguments for an execution: variables for all lengths and parameters, with sample values that meet the preconditions.
//!
//! Needs: layouts for the ranges, the interpreter for the judgement of `requires`.  Keeps: the same inputs for the same
//! seed.  Absent: a search for rare inputs; a precondition that nothing tried meets makes [`Inputs::valid`] false.

use crate::term::{OutSpec, T, Terms, Var, Written};
use super::harvest::Sample;
use super::harvest;
use super::stop::Stop;
use super::value::{known_length, scalars_of, with_lengths, Value};
use santoku_num::SplitMix64;
use santoku_bytes::layout::{self, Object};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};
use santoku_ir::interp::{self, FaultKind, Int, Interp, Options};
use santoku_ir::{ConstValue, ContractKind, Func, FuncId, Len, LocalId, Program, Range, Ty};

/// Tries for one sample until its preconditions hold.
const TRIES: usize = 48;
/// Constants of the program kept as arguments for one parameter.
const CANDIDATES: usize = 32;
/// Levels of callers looked at for arguments.
const CALLERS: u32 = 3;
/// Longest sample length of an array of run-time length.
const LENGTH_MAX: u64 = 300;

/// Chooses inputs.
#[derive(Clone, Debug)]
pub struct Rng(SplitMix64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(SplitMix64::new(seed))
    }

    fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    fn below(&mut self, n: u64) -> u64 {
        self.0.below(n)
    }

    fn within(&mut self, range: &Range) -> BigInt {
        let span = range.count().to_big();
        let mut v = BigInt::zero();
        for _ in 0..=span.bits() / 64 {
            v = (v << 64u32) + self.next();
        }
        range.lo.to_big() + v.mod_floor(&span)
    }
}

/// Which lengths to execute with.
#[derive(Clone, Copy, Debug)]
pub enum Lengths<'l> {
    /// These constants.
    Fixed(&'l [u64]),
    /// Variables; arrays of run-time length become [`InputArray`]s.
    Symbolic,
}

/// An array of run-time length among the inputs.
#[derive(Clone, Debug)]
pub struct InputArray {
    /// Position of the parameter, and number of the array.
    pub number: u32,
    pub len: Len,
    /// Layout of one element.
    pub elem: Object,
    /// For each sample all scalars, element after element.
    pub samples: Vec<Vec<BigInt>>,
    /// For each sample the array as the interpreter takes it, for [`super::Environment::array_value`].
    pub values: Vec<interp::Value>,
}

impl InputArray {
    /// Scalar `index`, for [`super::Environment::read`].
    pub fn read(&self, terms: &mut Terms, index: T) -> T {
        let all: Vec<OutSpec> = self.elem.units.iter().map(|u| OutSpec { lo: u.lo.clone(), hi: u.hi.clone(), public: u.public }).collect();
        let spec = terms.spec_at(&all, index);
        let value = |n: usize, at: &BigInt| {
            let found = at.to_usize().and_then(|k| self.samples[n].get(k).cloned());
            // Outside on this sample: read under a condition that does not hold there.
            found.unwrap_or_else(|| spec.lo.clone())
        };
        terms.read(self.number, index, &spec, value)
    }
}

/// The inputs of one function.
#[derive(Clone, Debug)]
pub struct Inputs {
    pub lens: Vec<T>,
    pub args: Vec<Value>,
    pub arrays: Vec<InputArray>,
    /// For each sample the lengths and arguments as the interpreter takes them.
    pub concrete: Vec<(Vec<u64>, Vec<interp::Value>)>,
    /// All samples meet all preconditions. Otherwise they are only in range.
    pub valid: bool,
}

/// Fresh variables for the lengths and parameters of `func`, with [`Terms::samples`] samples.
///
/// # Errors
/// [`Stop::NoLayout`]; [`Stop::Malformed`] when fixed lengths do not fit.
pub fn inputs(program: &Program, terms: &mut Terms, func: FuncId, lengths: Lengths<'_>, rng: &mut Rng) -> Result<Inputs, Stop> {
    let f = program.func(func);
    if matches!(lengths, Lengths::Fixed(ns) if ns.len() != f.lens.len()) {
        return Err(Stop::Malformed("a number of lengths".into()));
    }
    let (concrete, valid) = samples(program, func, lengths, (terms.samples(), CALLERS), rng)?;
    let mut out = Inputs { lens: vec![], args: vec![], arrays: vec![], concrete, valid };
    for (k, id) in f.lens.iter().enumerate() {
        let values = out.concrete.iter().map(|(lens, _)| BigInt::from(lens[k])).collect();
        out.lens.push(match lengths {
            Lengths::Fixed(ns) => terms.int(ns[k]),
            Lengths::Symbolic => {
                let Range { lo, hi } = length_range(f, *id);
                let hi = hi.to_big().min(fitting(program, f, *id, terms.word())?);
                terms.var(Var { name: name_of(f, *id), lo: lo.into(), hi, public: true, values })
            }
        });
    }
    let known = known(f, lengths);
    for (k, id) in f.params.iter().enumerate() {
        let local = f.local(*id);
        let object = layout::object(program, &with_lengths(&local.ty, &known), local.public)?;
        let scalars: Vec<Vec<BigInt>> = out.concrete.iter().map(|(_, args)| scalars_of(&args[k])).collect();
        let arg = match object.repeat.clone() {
            Some(len) => {
                let Ty::Array { elem, .. } = &local.ty else { return Err(Stop::Malformed("a length without an array".into())) };
                let values = out.concrete.iter().map(|(_, args)| args[k].clone()).collect();
                out.arrays.push(InputArray { number: k as u32, len, elem: object, samples: scalars, values });
                Value::run(Written::of(terms.int(k as u32)), (**elem).clone())
            }
            None => {
                let single = local.ty.is_scalar();
                let mut vars = vec![];
                for (u, unit) in object.units.into_iter().enumerate() {
                    let name = if single { name_of(f, *id) } else { format!("{}[{u}]", name_of(f, *id)) };
                    let values = scalars.iter().map(|s| s[u].clone()).collect();
                    vars.push(terms.var(Var { name, lo: unit.lo, hi: unit.hi, public: unit.public, values }));
                }
                Value::build(program, &with_lengths(&local.ty, &known), &mut vars.into_iter())?
            }
        };
        out.args.push(arg);
    }
    Ok(out)
}

fn known<'l>(f: &'l Func, lengths: Lengths<'l>) -> impl Fn(&Len) -> Option<u64> + 'l {
    move |len| match (len, lengths) {
        (Len::Const(n), _) => Some(*n),
        (Len::Param { .. }, Lengths::Fixed(ns)) => known_length(f, ns, len),
        (Len::Param { .. }, Lengths::Symbolic) => None,
    }
}

/// What a length may be: what its type says, within 32 bits.
fn length_range(f: &Func, id: LocalId) -> Range {
    let all = Range::word(32);
    match &f.local(id).ty {
        Ty::Int(Some(r)) => r.meet(&all),
        _ => all,
    }
}

/// The greatest length with which every array of it fits into half the address space.
fn fitting(program: &Program, f: &Func, id: LocalId, word: u32) -> Result<BigInt, Stop> {
    let half: BigInt = (BigInt::one() << (word - 1)) - 1;
    let mut most = half.clone();
    for param in f.params.iter().chain(&f.rets) {
        let local = f.local(*param);
        let Ty::Array { len: Len::Param { param, add }, .. } = &local.ty else { continue };
        if *param == id {
            let size = layout::object(program, &local.ty, local.public)?.size.max(1);
            most = most.min(&half / size - add);
        }
    }
    Ok(most)
}

/// Name of a local, told apart from others of that name.
fn name_of(f: &Func, id: LocalId) -> String {
    let name = &f.local(id).name;
    let alone = f.lens.iter().chain(&f.params).filter(|o| f.local(**o).name == *name).count() == 1;
    if alone {
        name.clone()
    } else {
        format!("{name}#{}", id.0)
    }
}

/// How the scalars of one sample are drawn.
#[derive(Clone, Copy, Debug)]
enum Style {
    Min,
    Max,
    /// Zero, or what is nearest.
    Zero,
    /// Each scalar at either end.
    Ends,
    Uniform,
    /// Each scalar of some random size.
    Small,
}

const EDGES: [Style; 4] = [Style::Min, Style::Max, Style::Zero, Style::Ends];

/// One try for a sample.
struct Draw<'a> {
    program: &'a Program,
    lens: Vec<u64>,
    f: &'a Func,
    style: Style,
    rng: &'a mut Rng,
}

/// `count` samples, and whether they meet the preconditions. What nothing random meets is looked for in callers, so many
/// levels up.
fn samples(
    program: &Program,
    func: FuncId,
    lengths: Lengths<'_>,
    (count, levels): (usize, u32),
    rng: &mut Rng,
) -> Result<(Vec<Sample>, bool), Stop> {
    let f = program.func(func);
    let stub = stub(program, f);
    let mut judge = Interp::with_options(&stub, Options::checked());
    let constants: Vec<Vec<interp::Value>> = f.params.iter().map(|id| candidates(program, &f.local(*id).ty)).collect();
    let (mut found, mut valid): (Vec<Sample>, bool) = (vec![], true);
    for n in 0..count {
        let mut last = None;
        let mut good = None;
        for attempt in 0..TRIES {
            let style = match (EDGES.get(n), attempt) {
                (Some(edge), 0) => *edge,
                (_, a) if a % 3 == 1 => Style::Small,
                _ => Style::Uniform,
            };
            let sample = draw(program, f, lengths, style, attempt, &constants, rng)?;
            if meets(&mut judge, &sample)? {
                good = Some(sample);
                break;
            }
            last = Some(sample);
        }
        if good.is_none() && n == 0 && levels > 0 {
            let called = called_with(program, func, lengths, (count, levels), rng, &mut judge)?;
            if !called.is_empty() {
                return Ok((called.into_iter().cycle().take(count).collect(), true));
            }
        }
        let earlier = |found: &[Sample]| found.first().cloned().filter(|_| valid);
        match good.or_else(|| earlier(&found)) {
            Some(sample) => found.push(sample),
            None => {
                valid = false;
                found.extend(last);
            }
        }
    }
    Ok((found, valid))
}

/// What callers call `func` with, where that meets its preconditions.
fn called_with(
    program: &Program,
    func: FuncId,
    lengths: Lengths<'_>,
    (count, levels): (usize, u32),
    rng: &mut Rng,
    judge: &mut Interp<'_>,
) -> Result<Vec<Sample>, Stop> {
    let mut found = vec![];
    for caller in harvest::callers(program, func) {
        let Ok((theirs, true)) = samples(program, caller, Lengths::Symbolic, (count, levels - 1), rng) else { continue };
        for sample in &theirs {
            let Some(called) = harvest::first_call(program, caller, sample, func) else { continue };
            let fits = matches!(lengths, Lengths::Symbolic) || matches!(lengths, Lengths::Fixed(ns) if ns == called.0);
            if fits && meets(judge, &called)? {
                let other = with_other_scalars(program, func, &called, rng)?;
                found.push(called);
                if meets(judge, &other)? {
                    found.push(other);
                }
            }
        }
        if found.len() >= count {
            break;
        }
    }
    Ok(found)
}

/// The sample with random values for the parameters that are scalars: what is called first is often called with zeros.
fn with_other_scalars(program: &Program, func: FuncId, (lens, args): &Sample, rng: &mut Rng) -> Result<Sample, Stop> {
    let f = program.func(func);
    let mut draw = Draw { program, lens: lens.clone(), f, style: Style::Uniform, rng };
    let mut args = args.clone();
    for (arg, id) in args.iter_mut().zip(&f.params) {
        let ty = &f.local(*id).ty;
        if ty.is_scalar() {
            *arg = draw.value(ty, None)?;
        }
    }
    Ok((draw.lens, args))
}

fn draw(
    program: &Program,
    f: &Func,
    lengths: Lengths<'_>,
    style: Style,
    attempt: usize,
    constants: &[Vec<interp::Value>],
    rng: &mut Rng,
) -> Result<Sample, Stop> {
    let lens: Vec<u64> = match lengths {
        Lengths::Fixed(ns) => ns.to_vec(),
        Lengths::Symbolic => f.lens.iter().map(|id| sample_length(&length_range(f, *id), style, rng)).collect(),
    };
    let mut draw = Draw { program, lens, f, style, rng };
    let mut args = vec![];
    for (id, constants) in f.params.iter().zip(constants) {
        // Tables of the program meet what random values never do.
        if attempt % 2 == 1 && !constants.is_empty() {
            args.push(constants[draw.rng.below(constants.len() as u64) as usize].clone());
        } else {
            args.push(draw.value(&f.local(*id).ty, None)?);
        }
    }
    Ok((draw.lens, args))
}

fn sample_length(range: &Range, style: Style, rng: &mut Rng) -> u64 {
    let lo = range.lo.to_u64().unwrap_or(0);
    let hi = range.hi.to_u64().unwrap_or(u64::MAX).min(lo.saturating_add(LENGTH_MAX));
    match style {
        Style::Min => lo,
        Style::Max => hi,
        Style::Zero | Style::Ends | Style::Uniform | Style::Small => lo + rng.below(hi - lo + 1),
    }
}

impl Draw<'_> {
    fn value(&mut self, ty: &Ty, own: Option<&Range>) -> Result<interp::Value, Stop> {
        Ok(match ty {
            Ty::Word(_) | Ty::Bool | Ty::Int(_) => {
                let range = own.cloned().or_else(|| layout::scalar_range(ty)).ok_or(layout::NoLayout::Unranged)?;
                let v = self.scalar(&range);
                match ty {
                    Ty::Word(_) => interp::Value::Word(v.to_u128().unwrap_or(0)),
                    Ty::Bool => interp::Value::Bool(!v.is_zero()),
                    _ => interp::Value::Int(Int::from(v)),
                }
            }
            Ty::Array { elem, len, ranges } => {
                let n = known_length(self.f, &self.lens, len).unwrap_or(0);
                if n > layout::UNITS_MAX {
                    return Err(layout::NoLayout::TooLong.into());
                }
                let range = |k: u64| ranges.as_ref().and_then(|r| r.get(k as usize));
                interp::Value::array((0..n).map(|k| self.value(elem, range(k))).collect::<Result<_, _>>()?)
            }
            Ty::Struct(id) => {
                let program = self.program;
                let fields = &program.structs[id.0 as usize].fields;
                interp::Value::structure(fields.iter().map(|(_, t)| self.value(t, None)).collect::<Result<_, _>>()?)
            }
        })
    }

    fn scalar(&mut self, range: &Range) -> BigInt {
        let (lo, hi) = (range.lo.to_big(), range.hi.to_big());
        let clamp = |v: BigInt| v.max(lo.clone()).min(hi.clone());
        match self.style {
            Style::Min => lo,
            Style::Max => hi,
            Style::Zero => clamp(BigInt::zero()),
            Style::Ends if self.rng.below(2) == 0 => lo,
            Style::Ends => hi,
            Style::Uniform => self.rng.within(range),
            Style::Small => {
                let bits = range.lo.bits().max(range.hi.bits());
                let keep = self.rng.below(bits + 1);
                let v = self.rng.within(range);
                let cut = if v.is_negative() { -(v.abs() >> (bits - keep)) } else { v >> (bits - keep) };
                clamp(cut)
            }
        }
    }
}

/// A program of one function that only checks the preconditions of `f`.
fn stub(program: &Program, f: &Func) -> Program {
    let mut only = f.clone();
    only.body.clear();
    only.rets.clear();
    only.contracts.retain(|c| c.kind == ContractKind::Requires);
    Program {
        files: program.files.clone(),
        structs: program.structs.clone(),
        consts: program.consts.clone(),
        specs: program.specs.clone(),
        funcs: vec![only],
        tests: vec![],
    }
}

/// Those of some lengths and arguments that meet the preconditions of `func`.
///
/// # Errors
/// [`Stop::Malformed`]: a precondition cannot be evaluated.
pub fn meeting(program: &Program, func: FuncId, all: Vec<Sample>) -> Result<Vec<Sample>, Stop> {
    let stub = stub(program, program.func(func));
    let mut judge = Interp::with_options(&stub, Options::checked());
    let mut out = vec![];
    for sample in all {
        if meets(&mut judge, &sample)? {
            out.push(sample);
        }
    }
    Ok(out)
}

/// Whether the preconditions hold. A clause too long to evaluate counts as met.
fn meets(judge: &mut Interp<'_>, (lens, args): &Sample) -> Result<bool, Stop> {
    match judge.call(FuncId(0), lens, args.clone()) {
        Ok(_) => Ok(true),
        Err(fault) => match fault.kind {
            // A constant of the program may be of the shape but not in the range; a drawn length may be too short.
            FaultKind::Contract { .. } | FaultKind::BadArgument { .. } | FaultKind::RangeLeft { .. } => Ok(false),
            FaultKind::Length { .. } => Ok(false),
            _ => Err(Stop::Malformed(format!("preconditions: {fault}"))),
        },
    }
}

/// Constants of the program, and parts of them, of the shape of `ty`.
fn candidates(program: &Program, ty: &Ty) -> Vec<interp::Value> {
    let mut out = vec![];
    if !ty.is_scalar() {
        for c in &program.consts {
            collect(program, &c.ty, &c.value, ty, &mut out);
        }
    }
    out
}

fn collect(program: &Program, ty: &Ty, value: &ConstValue, want: &Ty, out: &mut Vec<interp::Value>) {
    if out.len() >= CANDIDATES || ty.is_scalar() {
        return;
    }
    if ty.same_shape(want) {
        out.push(constant(program, ty, value));
        return;
    }
    match (ty, value) {
        (Ty::Array { elem, .. }, ConstValue::Array(vs)) => vs.iter().for_each(|v| collect(program, elem, v, want, out)),
        (Ty::Struct(id), ConstValue::Struct(vs)) => {
            let fields = &program.structs[id.0 as usize].fields;
            fields.iter().zip(vs).for_each(|((_, t), v)| collect(program, t, v, want, out));
        }
        _ => {}
    }
}

fn constant(program: &Program, ty: &Ty, value: &ConstValue) -> interp::Value {
    match (ty, value) {
        (Ty::Word(_), ConstValue::Scalar(v)) => interp::Value::Word(v.to_u128().unwrap_or(0)),
        (Ty::Bool, ConstValue::Scalar(v)) => interp::Value::Bool(!v.is_zero()),
        (_, ConstValue::Scalar(v)) => interp::Value::Int(Int::from(v)),
        (Ty::Struct(id), ConstValue::Struct(vs)) => {
            let fields = &program.structs[id.0 as usize].fields;
            interp::Value::structure(fields.iter().zip(vs).map(|((_, t), v)| constant(program, t, v)).collect())
        }
        (Ty::Array { elem, .. }, ConstValue::Array(vs) | ConstValue::Struct(vs)) => {
            interp::Value::array(vs.iter().map(|v| constant(program, elem, v)).collect())
        }
        (_, ConstValue::Array(vs) | ConstValue::Struct(vs)) => {
            interp::Value::array(vs.iter().map(|v| constant(program, ty, v)).collect())
        }
    }
}
