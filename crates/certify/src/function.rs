//! One function: its machine code beside its source.
//!
//! Needs: both executors.  Keeps: `Equal` means that for every input meeting the preconditions the code returns with the
//! source's results, the callee-saved registers and the stack pointer restored, nothing else written, no branch, address or
//! operation of variable time dependent on a secret; given the same of the functions it calls, for the arguments it calls them
//! with.  Absent: which functions of a file are asked ([`crate::file`]).

use crate::loops::{self, Cut};
use crate::machine::code::{RA, SP};
use crate::machine::memory::{undefined, Kind, Object};
use crate::machine::{any_run, scalars_of};
use crate::machine::{Code, Exec, Halt, State, Why};
use crate::shared::{modelled, twin, unite};
use crate::source::abi::{self, InRegisters, Place, Role, Signature};
use crate::source::layout::Unit;
use crate::source::{self, inputs, Environment, Inputs, Lengths, Limits, Rng, Site, Source, Value};
use crate::term::{Given, Naming, T, Terms, Var, Written};
use num_bigint::{BigInt, Sign};
use num_traits::One;
use santoku_ir::{visit, BinOp, Expr, ExprKind, Func, FuncId, Stmt};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Monomials an attempt may make in which nothing is named: before others, and in the end.
const SHORT_MAX: usize = 100_000;
const FIRST_MAX: usize = 600_000;
/// Monomials an attempt may make that proves loops by induction: elements of tables at unknown positions are long.
const INDUCTION_MAX: usize = 4_000_000;
/// Monomials for following a long loop that was not proved by induction, without names: too few where a branch in it is open.
const FOLLOWED_MAX: usize = 150_000;
/// Monomials the second attempt may make, in which long words are named.
const SECOND_MAX: usize = 1_200_000;
/// All that fits a register.
const NAME_WORDS: Option<Naming> = Some(Naming { least: 2, words: 1 });
/// All that fits two.
const NAME_ALL: Option<Naming> = Some(Naming { least: 2, words: 2 });
/// Longer values of the source are not looked for in the code.
const WATCHED_BITS: u64 = 128;
/// Levels of atoms shown of terms that differ.
const DEPTH: u32 = 2;
/// Sample inputs of one proof.
const SAMPLES: usize = 6;
/// Sample inputs where they say what to ask the solver.
const MORE_SAMPLES: usize = 24;
/// Loops of so many rounds, in which there are branches, are proved by induction before they are followed.
const CUT_FROM: u64 = 192;
/// Registers a function hands back as they were: gp, tp, s0 to s11. The stack pointer is asked apart.
const KEPT: [usize; 14] = [3, 4, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27];
/// Addresses below and above are no objects'.
const EDGE: u64 = 4096;

/// What was found of one function.
#[derive(Clone, Debug)]
pub struct Found {
    pub verdict: Verdict,
    /// Instructions followed.
    pub steps: u64,
    /// Bytes of stack.
    pub stack: u64,
    /// Functions whose calls were replaced, with the results that share an object with a parameter.
    pub calls: BTreeSet<(FuncId, Vec<(usize, usize)>)>,
    /// Monomials of all terms.
    pub terms: usize,
    /// Results and words compared.
    pub compared: usize,
    /// Questions to the solver, and those answered with yes.
    pub asked: u64,
    pub settled: u64,
    /// The function called in another way than its source says, where that is why the code was not followed to its end.
    pub refused: Option<u64>,
    /// The last call that was not replaced: where, and the function called.
    pub(crate) calling: Option<(u64, u64)>,
    /// All that was read of the file is in the hashes of the function and of those without source that it runs.
    pub hashed: bool,
    /// It makes a call whose arguments have the values of no call of the source on the samples.
    pub other_call: bool,
    /// Why the judge of bytes does not accept it; nothing where it does.
    pub judged: Option<String>,
}

impl Found {
    /// A verdict, and nothing done for it.
    pub(crate) fn without_comparison(verdict: Verdict) -> Found {
        Found { verdict, steps: 0, stack: 0, calls: BTreeSet::new(), terms: 0, compared: 0, asked: 0, settled: 0, refused: None, calling: None, hashed: false, other_call: false, judged: Some("not found equal".into()) }
    }

    /// The function whose call is where the code is followed no further.
    pub(crate) fn stopped_at(&self) -> Option<u64> {
        let Verdict::Halted(Halt { pc, .. }) = &self.verdict else { return None };
        self.calling.filter(|(call, _)| call == pc).map(|(_, callee)| callee)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Equal,
    /// The code gives another value on this input.
    Differs(Difference),
    /// Not shown equal.
    NotProved(Difference),
    /// The code breaks a rule, or is not followed.
    Halted(Halt),
    /// The source is not followed.
    Source(String),
}

/// The first word that is not shown equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Which word.
    pub what: String,
    /// The smallest terms that differ.
    pub machine: String,
    pub source: String,
    /// Inputs and both values, where a sample shows the difference.
    pub witness: Option<(Vec<(String, String)>, String, String)>,
}

struct Env<'a> {
    inputs: &'a Inputs,
    cut: &'a dyn Fn(FuncId) -> bool,
    /// Loops of the source that were cut.
    loops: RefCell<Vec<Rc<Cut>>>,
    /// There were loops of at most one round.
    chosen: Cell<bool>,
    /// A round of one of them is being executed.
    in_round: Cell<bool>,
    /// Long loops of a constant number of rounds are cut, too.
    by_induction: Option<u64>,
    /// [`Limits::in_pairs`]
    in_pairs: bool,
}

impl Environment for Env<'_> {
    fn cut(&self, func: FuncId) -> bool {
        (self.cut)(func)
    }
    fn read(&self, terms: &mut Terms, array: u32, index: T) -> T {
        Given::read(self, terms, array, index)
    }
    fn array_public(&self, array: u32) -> bool {
        self.inputs.arrays.iter().any(|a| a.number == array && a.elem.units.iter().all(|u| u.public))
    }
    fn array_value(&self, array: u32, sample: usize) -> Option<santoku_ir::interp::Value> {
        self.inputs.arrays.iter().find(|a| a.number == array)?.values.get(sample).cloned()
    }
    fn cuts_loop(&self, site: &Site<'_>) -> bool {
        self.by_induction.is_some() && !self.in_round.get() && site.rounds >= CUT_FROM && branches(site.body)
    }
    fn run_loop<'s>(&self, source: &mut Source<'s>, site: &Site<'s>, state: &mut source::State) -> Result<(), source::Stop> {
        if loops::source::once_at_most(source, site) {
            self.chosen.set(true);
            return loops::source::choose(source, site, state);
        }
        if self.in_round.replace(true) {
            return Err(source::Stop::Unsupported("a loop of run-time length in another".into()));
        }
        // Names of unknowns: a loop has two cuts at most.
        let number = 2 * self.loops.borrow().len();
        let peeled = self.by_induction.unwrap_or(0).min(site.rounds);
        let rest = loops::source::peel(source, site, state, peeled)?;
        let cuts = match self.in_pairs {
            true => loops::source::cut_in_pairs(source, &rest, state, number)?,
            false => loops::source::cut(source, &rest, state, number)?.into_iter().collect(),
        };
        self.in_round.set(false);
        self.loops.borrow_mut().extend(cuts.into_iter().map(Rc::new));
        Ok(())
    }
}

impl Given for Env<'_> {
    fn read(&self, terms: &mut Terms, array: u32, index: T) -> T {
        match self.inputs.arrays.iter().find(|a| a.number == array) {
            Some(a) => a.read(terms, index),
            None => undefined(terms, format!("array {array}"), 8),
        }
    }
    fn array_public(&self, array: u32) -> bool {
        Environment::array_public(self, array)
    }
}

/// The machine's state at entry.
struct Entry {
    state: State,
    bases: Vec<T>,
    return_to: T,
    /// Object of each result by pointer.
    results: Vec<(usize, usize)>,
}

/// Compares the code at `pc` with `func`. `shared`: results and parameters that are the same object. `cut`: functions whose
/// calls are not looked into on either side.
pub fn compare(code: &Code, func: FuncId, pc: u64, shared: &[(usize, usize)], cut: &dyn Fn(FuncId) -> bool) -> Found {
    let mut found = followed(code, func, pc, shared, cut);
    if let Verdict::Halted(Halt { pc, why: Why::Loop { machine, source } }) = &found.verdict {
        let what = format!("the relation at the loop head {pc:#x}");
        found.verdict = Verdict::NotProved(Difference { what, machine: machine.clone(), source: source.clone(), witness: None });
    }
    found
}

fn followed(code: &Code, func: FuncId, pc: u64, shared: &[(usize, usize)], cut: &dyn Fn(FuncId) -> bool) -> Found {
    if !modelled(code.program.func(func), shared) {
        let why = "one object for several results, or for a result and parameters of several types, is not modelled";
        return Found::without_comparison(Verdict::Source(why.into()));
    }
    if !long_loops(code.program.func(func)) {
        return in_full(code, func, pc, shared, cut, FIRST_MAX);
    }
    let induced = by_induction(code, func, pc, shared, cut);
    if induced.verdict == Verdict::Equal {
        return induced;
    }
    // Some hundred rounds can be followed, too, with names for what each leaves.
    let found = in_full(code, func, pc, shared, cut, FOLLOWED_MAX);
    match found.verdict {
        Verdict::Halted(Halt { why: Why::TooBig, .. }) | Verdict::Source(_) => induced,
        _ => found,
    }
}

/// Both sides followed round by round: as they are at first, in so many monomials, then with names for long words and a solver.
fn in_full(code: &Code, func: FuncId, pc: u64, shared: &[(usize, usize)], cut: &dyn Fn(FuncId) -> bool, first_max: usize) -> Found {
    let rotates = rotates(code.program.func(func));
    if rotates {
        // Some compilers add the two parts of a choice one by one.
        for choices in [false, true] {
            let found = attempt(code, func, pc, shared, cut, Limits { terms: FIRST_MAX, name_words: true, choices, ..Limits::default() });
            if matches!(found.verdict, Verdict::Equal | Verdict::Differs(_)) {
                return found;
            }
        }
    }
    let short = if code.normal_form_only { first_max } else { first_max.min(SHORT_MAX) };
    let first = unnamed(code, func, pc, shared, cut, short);
    let too_big = |found: &Found| match &found.verdict {
        Verdict::Halted(h) => h.why == Why::TooBig,
        Verdict::Source(why) => *why == source::Stop::TooBig.to_string(),
        Verdict::Equal | Verdict::Differs(_) | Verdict::NotProved(_) => false,
    };
    let again = too_big(&first) && short < first_max;
    let order: &[Option<Naming>] = match &first.verdict {
        _ if code.normal_form_only => &[],
        Verdict::Halted(h) if matches!(h.why, Why::Memory(_) | Why::Convention(_) | Why::Platform(_)) => &[None],
        _ if too_big(&first) => &[NAME_ALL, NAME_WORDS],
        _ if is_wrong(&first) => &[],
        Verdict::NotProved(_) => &[NAME_WORDS, NAME_ALL, None],
        Verdict::Halted(_) | Verdict::Source(_) | Verdict::Equal | Verdict::Differs(_) => &[],
    };
    let limits = Limits { terms: SECOND_MAX, watch: true, ..Limits::default() };
    let mut last = first;
    for &naming in order {
        let forms: &[bool] = if rotates && naming == NAME_ALL { &[false, true] } else { &[false] };
        for &choices in forms {
            last = attempt(code, func, pc, shared, cut, Limits { naming, choices, ..limits });
            if last.verdict == Verdict::Equal || is_wrong(&last) {
                return last;
            }
        }
    }
    if again {
        let whole = unnamed(code, func, pc, shared, cut, first_max);
        if !too_big(&whole) {
            return whole;
        }
    }
    last
}

/// Where a sample shows another value there is nothing to settle.
fn is_wrong(found: &Found) -> bool {
    match &found.verdict {
        Verdict::Differs(_) => true,
        Verdict::NotProved(d) => d.witness.is_some() || found.other_call,
        Verdict::Equal | Verdict::Halted(_) | Verdict::Source(_) => false,
    }
}

/// Both sides as they are, in so many monomials.
fn unnamed(code: &Code, func: FuncId, pc: u64, shared: &[(usize, usize)], cut: &dyn Fn(FuncId) -> bool, most: usize) -> Found {
    let found = attempt(code, func, pc, shared, cut, Limits { terms: most, ..Limits::default() });
    if let Verdict::Halted(Halt { why: Why::Loop { .. }, .. }) = found.verdict {
        // Some compilers unroll a loop by two.
        let paired = attempt(code, func, pc, shared, cut, Limits { terms: most, in_pairs: true, ..Limits::default() });
        if paired.verdict == Verdict::Equal {
            return paired;
        }
    }
    found
}

/// Long loops are proved by induction, from the first round or from the second: compilers like to begin in the middle of one.
fn by_induction(code: &Code, func: FuncId, pc: u64, shared: &[(usize, usize)], cut: &dyn Fn(FuncId) -> bool) -> Found {
    let try_from = |peeled| attempt(code, func, pc, shared, cut, Limits { terms: INDUCTION_MAX, by_induction: Some(peeled), ..Limits::default() });
    let first = try_from(0);
    if first.verdict == Verdict::Equal {
        return first;
    }
    let second = try_from(1);
    if second.verdict == Verdict::Equal { second } else { first }
}

/// Whether there are loops to prove by induction that could be followed.
fn long_loops(f: &Func) -> bool {
    let mut found = false;
    visit::walk_stmts(&f.body, &mut |s| {
        if let Stmt::For { lo: Expr { kind: ExprKind::Const(lo), .. }, hi: Expr { kind: ExprKind::Const(hi), .. }, body, .. } = s {
            found |= hi - lo >= BigInt::from(CUT_FROM) && branches(body);
        }
    });
    found
}

fn branches(body: &[Stmt]) -> bool {
    let mut found = false;
    visit::walk_stmts(body, &mut |s| found |= matches!(s, Stmt::If { .. }));
    found
}

/// Ciphers and hashes mix every word with others in each round: their words are followed by names from the beginning.
pub(crate) fn rotates(f: &Func) -> bool {
    let mut found = false;
    visit::walk_exprs(&f.body, &mut |e| found |= matches!(e.kind, ExprKind::Bin(BinOp::Rotl | BinOp::Rotr, ..)));
    found
}

fn attempt(code: &Code, func: FuncId, pc: u64, shared: &[(usize, usize)], cut: &dyn Fn(FuncId) -> bool, limits: Limits) -> Found {
    let mut terms = Terms::new(code.xlen(), if limits.watch { MORE_SAMPLES } else { SAMPLES });
    if limits.choices {
        terms.split_choices();
    }
    let mut found = Found::without_comparison(Verdict::Equal);
    let result = compare_in(&mut terms, code, func, pc, shared, (cut, limits), &mut found);
    found.verdict = match (terms.broken(), result) {
        (Some(why), _) => Verdict::Source(format!("a rule of the prover is wrong: {why}")),
        (None, Ok(())) => Verdict::Equal,
        (None, Err(verdict)) => verdict,
    };
    found.terms = terms.size();
    (found.asked, found.settled) = terms.questions();
    found
}

fn compare_in(
    terms: &mut Terms,
    code: &Code,
    func: FuncId,
    pc: u64,
    shared: &[(usize, usize)],
    (cut, limits): (&dyn Fn(FuncId) -> bool, Limits),
    found: &mut Found,
) -> Result<(), Verdict> {
    let program = code.program;
    let stop = |s: source::Stop| Verdict::Source(s.to_string());
    let convention = code.convention_at(pc);
    if shared.iter().any(|(_, p)| convention.0.contains_key(&Role::Param(*p))) {
        return Err(Verdict::Source("a result in the place of a parameter that is not passed".into()));
    }
    let lens = convention.lengths(program.func(func)).map_err(stop)?;
    let lengths = lens.as_deref().map_or(Lengths::Symbolic, Lengths::Fixed);
    let mut inputs = inputs(program, terms, func, lengths, &mut Rng::new(0x5a17_0c0d_e000 + u64::from(func.0))).map_err(stop)?;
    convention.impose(program, func, terms, &mut inputs).map_err(stop)?;
    if shared.iter().any(|(_, p)| twin(shared, *p).is_some()) {
        unite(shared, &mut inputs.args);
        inputs.concrete.iter_mut().for_each(|(_, args)| unite(shared, args));
        inputs.valid &= source::meeting(program, func, inputs.concrete.clone()).map_err(stop)?.len() == inputs.concrete.len();
    }
    let Limits { by_induction, in_pairs, .. } = limits;
    let env = Env { inputs: &inputs, cut, loops: RefCell::default(), chosen: Cell::new(false), in_round: Cell::new(false), by_induction, in_pairs };
    let mut source = Source::new(program, terms, &env);
    source.limits = limits;
    let results = source.run(func, &inputs.lens, inputs.args.clone()).map_err(stop)?;
    let calls = std::mem::take(&mut source.calls);
    let watched = std::mem::take(&mut source.watched);
    if limits.watch {
        expect_words(terms, watched);
        terms.settle_on();
    }
    let signature = abi::signature_under(program, program.func(func), code.xlen(), &convention).map_err(|e| Verdict::Source(e.to_string()))?;
    let entry = entry(terms, code, func, &signature, &inputs, shared).map_err(stop)?;
    let mut exec = Exec::new(code, terms, entry.bases, &env, entry.return_to);
    exec.terms_max = limits.terms.saturating_mul(3);
    exec.cuts = env.loops.borrow().clone();
    exec.has_loops = env.chosen.get() || !exec.cuts.is_empty();
    exec.with_facts = limits.watch || !inputs.arrays.is_empty() || exec.has_loops;
    exec.stack_args = i64::from(signature.stack);
    for bit in source::required(exec.terms, program.func(func), &inputs) {
        match exec.terms.as_const(bit) {
            None => exec.assume(bit),
            Some(bit) if bit.is_one() => {}
            Some(_) => return Err(Verdict::Source("no input meets the preconditions".into())),
        }
    }
    exec.calls = calls;
    let before = entry.state.clone();
    let ran = exec.run(pc, entry.state);
    found.steps = exec.steps;
    found.stack = exec.deepest.unsigned_abs();
    (found.refused, found.calling) = (exec.refused, exec.calling);
    let (made, calls) = (std::mem::take(&mut exec.made), std::mem::take(&mut exec.calls));
    let state = ran.map_err(Verdict::Halted)?;
    found.calls = made.iter().map(|m| (m.func, m.shared.clone())).collect();
    for m in &made {
        if !m.in_source(terms, &calls) {
            found.other_call = !m.is_on_samples(terms, &calls);
            let (machine, source) = m.unlike(terms, &calls);
            return Err(Verdict::NotProved(Difference {
                what: format!("a call of `{}` at {:#x}, which the source does not make", program.func(m.func).name, m.pc),
                machine,
                source,
                witness: None,
            }));
        }
    }
    let followed = env.loops.borrow().is_empty();
    let mut check = Check { terms, inputs: &inputs, exact: calls.is_empty() && followed, followed, compared: 0 };
    let kept = check.kept(&before, &state);
    let same = kept.and_then(|()| check.results(&signature, &results, &entry.results, &state, code.xlen()));
    found.compared = check.compared;
    same
}

/// The machine's words of the source's values, so that the code's are recognised.
fn expect_words(terms: &mut Terms, values: BTreeSet<T>) {
    let word = terms.word();
    for t in values {
        let (lo, hi) = terms.range(t);
        let bits = lo.bits().max(hi.bits()) + u64::from(lo.sign() == Sign::Minus);
        if bits <= u64::from(word) && lo.sign() != Sign::Minus {
            terms.expect(t);
        } else if bits <= WATCHED_BITS {
            for k in 0..bits.div_ceil(u64::from(word)) as u32 {
                let piece = terms.div2k(t, k * word);
                let piece = terms.mod2k(piece, word);
                terms.expect(piece);
            }
        }
    }
}

fn entry(
    terms: &mut Terms,
    code: &Code,
    func: FuncId,
    signature: &Signature,
    inputs: &Inputs,
    shared: &[(usize, usize)],
) -> Result<Entry, source::Stop> {
    let xlen = code.xlen();
    let f = code.program.func(func);
    let mut objects = vec![Object::new("the stack", Kind::Stack, true)];
    let mut bases = vec![base(terms, xlen, 0, 16, 1 << 20)];
    let mut regs: Vec<T> = (0..32).map(|r| undefined(terms, format!("x{r} at entry"), xlen)).collect();
    regs[0] = Terms::ZERO;
    regs[SP] = bases[0];
    // Even, as every address of code is.
    let half = undefined(terms, "the caller".into(), xlen - 1);
    let return_to = terms.scale(half, &BigInt::from(2));
    regs[RA] = return_to;
    let mut seats: Vec<(Place, Vec<T>)> = vec![];
    let mut results = vec![];
    let mut object_of_param = std::collections::BTreeMap::new();
    for pass in [false, true] {
        for arg in &signature.args {
            let is_ret = matches!(arg.role, Role::Ret(_));
            if is_ret != pass {
                continue;
            }
            let words = match (&arg.kind, arg.role) {
                (abi::Kind::Scalar(s), Role::Len(k)) => s.words(terms, inputs.lens[k], xlen),
                (abi::Kind::Scalar(s), Role::Param(k)) => s.words(terms, inputs.args[k].scalar()?, xlen),
                (abi::Kind::Scalar(_), Role::Ret(_)) => continue,
                (abi::Kind::Pointer(o), role) => {
                    let k = match role {
                        Role::Ret(r) if shared.iter().any(|(x, _)| *x == r) => {
                            let p = shared.iter().find(|(x, _)| *x == r).map_or(0, |(_, p)| *p);
                            let k = object_of_param.get(&p).copied().unwrap_or(0);
                            objects[k].writable = true;
                            results.push((r, k));
                            k
                        }
                        Role::Ret(r) => {
                            let name = &f.local(f.rets[r]).name;
                            let kind = match &o.repeat {
                                None => Kind::Object { size: o.size },
                                Some(len) => {
                                    let length = scalars_of(terms, f, &inputs.lens, (o, len)).ok_or_else(|| source::Stop::Malformed("a length that is none".into()))?;
                                    Kind::Run { content: any_run(terms, format!("{name} at entry"), o), length, element: Rc::new(o.clone()) }
                                }
                            };
                            objects.push(Object::new(name, kind, true));
                            results.push((r, objects.len() - 1));
                            objects.len() - 1
                        }
                        Role::Param(p) if twin(shared, p).is_some() => {
                            twin(shared, p).and_then(|first| object_of_param.get(&first)).copied().unwrap_or(0)
                        }
                        Role::Param(p) | Role::Len(p) => {
                            objects.push(parameter(terms, f, inputs, (o, p))?);
                            object_of_param.insert(p, objects.len() - 1);
                            objects.len() - 1
                        }
                    };
                    if k == bases.len() {
                        // No array of run-time length is larger than half the address space.
                        let size = if o.repeat.is_some() { (o.size << 33).min(1 << (xlen - 1)) } else { o.size };
                        bases.push(base(terms, xlen, k, o.align, size));
                    }
                    vec![bases[k]]
                }
            };
            seats.push((arg.place, words));
        }
    }
    for (place, words) in seats {
        let slot = xlen / 8;
        for (n, w) in words.into_iter().enumerate() {
            let n = n as u32;
            match place {
                Place::Regs { first, .. } => regs[(10 + first + n) as usize] = w,
                Place::Split { .. } if n == 0 => regs[17] = w,
                Place::Split { offset } => objects[0].store(terms, i64::from(offset), slot, w),
                Place::Stack { offset } => objects[0].store(terms, i64::from(offset + n * slot), slot, w),
            }
        }
    }
    let state = State { regs, objects, path: Terms::ONE, conditions: vec![], frames: vec![] };
    Ok(Entry { state, bases, return_to, results })
}

/// The address of an object: a multiple of its alignment, the object inside the address space.
fn base(terms: &mut Terms, xlen: u32, k: usize, align: u64, size: u64) -> T {
    let top: BigInt = (BigInt::one() << xlen) - EDGE - size;
    let (lo, hi) = (BigInt::from(EDGE.div_ceil(align)), top / align);
    let values = (0..terms.samples()).map(|n| &lo + (k * 4096 + n * 64) as u64).collect();
    let q = terms.var(Var { name: format!("&{k}"), lo, hi, public: true, values });
    terms.scale(q, &BigInt::from(align))
}

fn parameter(terms: &mut Terms, f: &Func, inputs: &Inputs, (o, p): (&source::layout::Object, usize)) -> Result<Object, source::Stop> {
    let (name, arg) = (&f.local(f.params[p]).name, &inputs.args[p]);
    if let (Some(len), Value::Run(run)) = (&o.repeat, arg) {
        let length = scalars_of(terms, f, &inputs.lens, (o, len)).ok_or_else(|| source::Stop::Malformed("a length that is none".into()))?;
        return Ok(Object::new(name, Kind::Run { content: run.content.clone(), length, element: Rc::new(o.clone()) }, false));
    }
    let mut object = Object::new(name, Kind::Object { size: o.size }, false);
    for (u, v) in o.units.iter().zip(arg.flat(terms)?) {
        let w = terms.mod2k(v, 8 * u.bytes);
        object.store(terms, u.offset as i64, u.bytes, w);
    }
    Ok(object)
}

struct Check<'a> {
    terms: &'a mut Terms,
    inputs: &'a Inputs,
    /// No call was left out, so different samples are different values.
    exact: bool,
    /// No loop was left out: what is unknown behind one that is not matched differs on every sample.
    followed: bool,
    compared: usize,
}

impl Check<'_> {
    fn same(&mut self, what: impl FnOnce() -> String, machine: T, source: T) -> Result<(), Verdict> {
        self.compared += 1;
        if self.terms.settled(machine, source) {
            return Ok(());
        }
        let n = (0..self.terms.samples()).filter(|_| self.followed).find(|n| self.terms.sample(machine, *n) != self.terms.sample(source, *n));
        let witness = n.map(|n| {
            let (lens, args) = &self.inputs.concrete[n];
            let mut inputs: Vec<(String, String)> = lens.iter().map(|l| ("length".to_string(), l.to_string())).collect();
            inputs.extend(args.iter().enumerate().map(|(k, a)| (format!("argument {k}"), format!("{a:?}"))));
            (inputs, self.terms.sample(machine, n).to_string(), self.terms.sample(source, n).to_string())
        });
        let sure = witness.is_some() && self.exact && self.inputs.valid;
        let (m, s) = self.terms.smallest_difference(machine, source);
        let difference = Difference { what: what(), machine: self.terms.show(m, DEPTH), source: self.terms.show(s, DEPTH), witness };
        Err(if sure { Verdict::Differs(difference) } else { Verdict::NotProved(difference) })
    }

    fn kept(&mut self, before: &State, after: &State) -> Result<(), Verdict> {
        self.same(|| "the stack pointer".into(), after.regs[SP], before.regs[SP])?;
        for r in KEPT {
            self.same(|| format!("register {}", santoku_isa::register_name(r as u8)), after.regs[r], before.regs[r])?;
        }
        Ok(())
    }

    fn results(
        &mut self,
        signature: &Signature,
        results: &[Value],
        objects: &[(usize, usize)],
        state: &State,
        xlen: u32,
    ) -> Result<(), Verdict> {
        let stop = |s: source::Stop| Verdict::Source(s.to_string());
        if let Some(s) = &signature.returned {
            let value = results.first().ok_or_else(|| Verdict::Source("no result".into()))?.scalar().map_err(stop)?;
            let words = s.words(self.terms, value, xlen);
            for (k, w) in words.into_iter().enumerate() {
                self.same(|| format!("the result in a{k}"), state.regs[10 + k], w)?;
            }
        }
        for (r, k) in objects {
            if let (Value::Run(run), Kind::Run { content, length, .. }) = (&results[*r], &state.objects[*k].kind) {
                self.array((&state.objects[*k].name, *length), content, &run.content)?;
                continue;
            }
            let units = signature.args.iter().find_map(|a| match (&a.kind, a.role) {
                (abi::Kind::Pointer(o), Role::Ret(x)) if x == *r => Some(&o.units),
                _ => None,
            });
            let values = results[*r].flat(self.terms).map_err(stop)?;
            let object = &state.objects[*k];
            for (u, v) in units.into_iter().flatten().zip(values) {
                self.unit(object, u, v)?;
            }
        }
        Ok(())
    }

    /// Arrays of one number are equal, and those that began as one and were written alike.
    fn array(&mut self, (name, length): (&str, T), machine: &Written, source: &Written) -> Result<(), Verdict> {
        let (m, s) = (machine.number(self.terms), source.number(self.terms));
        if m.zip(s).is_some_and(|(m, s)| self.terms.same_arrays(m, s, length)) {
            self.compared += 1;
            return Ok(());
        }
        if let Some(pairs) = machine.pairs(source) {
            for (m, s) in pairs {
                let (m, s) = (self.terms.renamed(m), self.terms.renamed(s));
                self.same(|| format!("what is written to {name}"), m, s)?;
            }
            return Ok(());
        }
        let show = |w: &Written| w.show(self.terms, DEPTH);
        let difference = Difference { what: format!("all of {name}"), machine: show(machine), source: show(source), witness: None };
        Err(Verdict::NotProved(difference))
    }

    fn unit(&mut self, object: &Object, u: &Unit, value: T) -> Result<(), Verdict> {
        let want = self.terms.mod2k(value, 8 * u.bytes);
        let want = self.terms.renamed(want);
        let got = object.load(self.terms, u.offset as i64, u.bytes);
        let got = got.map(|t| self.terms.renamed(t));
        let got = got.unwrap_or_else(|| undefined(self.terms, format!("{}+{}, never written", object.name, u.offset), 8 * u.bytes));
        self.same(|| format!("{} bytes at offset {} of {}", u.bytes, u.offset, object.name), got, want)
    }
}
