//! One symbolic run of a function: what it has computed, knows, and may still spend.

use crate::algebra::num::Num;
use crate::algebra::{Atoms, Poly};
use crate::itv::Itv;
use crate::carried::Carried;
use crate::obligation::{Obligation, NOT_DECIDED};
use super::props::Fact;
use super::state::{self, Fresh, SVal};
use super::words::Bits;
use num_bigint::BigInt;
use santoku_ir::{ConstId, ContractKind, Func, FuncId, Loc, LocalId, LocalKind, Program};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Why symbolic execution ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The program is outside of what this engine can follow.
    Unsupported(String),
    /// Polynomials grew beyond the budget.
    TooLarge,
    /// A specification takes more steps to write out than there are.
    Specification,
    /// The core is not well formed; the verifier should have said so.
    Internal(String),
}

impl Stop {
    /// Why a clause is open that was not written out.
    pub(crate) fn of_clause(&self) -> String {
        match self {
            Stop::Specification => NOT_DECIDED.into(),
            _ => format!("the clause is outside of what the prover follows: {}", self.reason()),
        }
    }

    /// The reason in words.
    pub fn reason(&self) -> String {
        match self {
            Stop::Unsupported(s) => s.clone(),
            Stop::TooLarge => "the polynomials grew beyond the budget".into(),
            Stop::Specification => NOT_DECIDED.into(),
            Stop::Internal(s) => format!("internal error in pass prove: {s}"),
        }
    }
}

/// Where what is known contradicts itself: no input gets there, or the prover is wrong. Nothing was proved from it.
#[derive(Clone, Debug, Default)]
pub struct Contradicted {
    /// At the end of the function.
    pub end: bool,
    /// Clauses of callees at calls: how often judged, how often with a contradiction.
    pub(crate) calls: BTreeMap<(Loc, FuncId, usize), [u32; 2]>,
}

impl Contradicted {
    pub(crate) fn call(&mut self, at: (Loc, FuncId, usize), contradiction: bool) {
        let [all, bad] = self.calls.entry(at).or_default();
        *all += 1;
        *bad += u32::from(contradiction);
    }
    /// Calls that no execution gets to, whatever the round of a loop.
    pub fn calls(&self) -> BTreeSet<(Loc, FuncId)> {
        self.calls.iter().filter(|(_, [all, bad])| all == bad).map(|((loc, callee, _), _)| (*loc, *callee)).collect()
    }
    pub fn any(&self) -> bool {
        self.end || self.calls.values().any(|[_, bad]| *bad > 0)
    }
    pub(crate) fn join(&mut self, other: Contradicted) {
        self.end |= other.end;
        other.calls.into_iter().for_each(|(at, n)| {
            self.calls.entry(at).or_insert(n);
        });
    }
}

/// Statements executed per function before loops are no longer unrolled.
pub const FUEL: u64 = 400_000;

/// Steps of all clauses that one run evaluates.
pub const SPEC_STEPS: u64 = 1 << 22;

/// Longest polynomial of an ordinary run, and of one that looks into callees with contracts.
pub const TERMS_MAX: usize = 20_000;

pub const TERMS_UNFOLDED_MAX: usize = 2_000;

/// Estimated statements up to which a callee with a contract is looked into.
pub const UNFOLD_COST_MAX: u64 = 300;

/// Estimated statements up to which a function without contract is executed at its call.
pub const INLINE_COST_MAX: u64 = 20_000;

/// One evaluated projection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    At(usize),
    /// An index that is not a constant.
    Any,
    Slice(usize, usize),
    AnySlice(usize),
}

/// Variables of the function being executed.
pub struct Frame<'p> {
    pub id: FuncId,
    pub func: &'p Func,
    pub vals: Vec<SVal>,
}

/// One symbolic run.
pub struct Exec<'p> {
    pub prog: &'p Program,
    pub atoms: Atoms,
    pub bits: Bits,
    pub facts: Vec<Fact>,
    /// Polynomials known to be at least 0.
    pub bounds: Vec<Poly>,
    pub frame: Frame<'p>,
    pub fuel: u64,
    /// Steps left for clauses of contracts.
    pub spec_steps: u64,
    /// Not every execution comes here (see the module text).
    pub conditional: bool,
    /// Every sample input is an allowed one: the function has no `requires`.
    pub samples_allowed: bool,
    /// Callees are executed in place even where they have contracts, as far as the budget allows.
    pub unfold: bool,
    /// Polynomials longer than this end the run.
    pub terms_max: usize,
    /// Inside a callee executed in place: its own obligations are its own.
    pub inlined: u32,
    /// Condition under which this point is reached, as a product of booleans.
    pub guard: Poly,
    pub obligations: Vec<Obligation>,
    pub contradicted: Contradicted,
    pub locs: Vec<Loc>,
    /// What the statement at one of these wrote, and which element.
    pub places: HashMap<u32, (LocalId, Option<usize>)>,
    pub costs: &'p [u64],
    /// What needs no arithmetic.
    pub carried: &'p Carried,
    pub divs: BTreeMap<(Poly, BigInt), (Num, Num)>,
    pub(crate) consts: BTreeMap<ConstId, SVal>,
}

impl<'p> Exec<'p> {
    /// Starts at the entry of `id`, every length and parameter an input.
    pub fn new(prog: &'p Program, id: FuncId, costs: &'p [u64], carried: &'p Carried, samples: usize, seed: u64) -> Exec<'p> {
        let func = prog.func(id);
        let mut atoms = Atoms::new(samples, seed);
        let allowed = func.contracts.iter().all(|c| c.kind != ContractKind::Requires);
        atoms.samples_count = allowed;
        let vals = func
            .locals
            .iter()
            .map(|l| match l.kind {
                LocalKind::Len => SVal::num(Num { p: atoms.input(&l.name, Itv::word(31)), iv: Itv::word(31) }),
                LocalKind::Param => state::fresh(prog, &mut atoms, &l.ty, &l.name, Fresh::Input),
                LocalKind::Ret | LocalKind::Var | LocalKind::Counter => state::undefined(prog, &l.ty),
            })
            .collect();
        Exec {
            prog,
            atoms,
            bits: Bits::default(),
            facts: Vec::new(),
            bounds: Vec::new(),
            frame: Frame { id, func, vals },
            fuel: FUEL,
            spec_steps: SPEC_STEPS,
            conditional: false,
            samples_allowed: allowed,
            unfold: false,
            terms_max: TERMS_MAX,
            inlined: 0,
            guard: Poly::constant(1),
            obligations: Vec::new(),
            contradicted: Contradicted::default(),
            locs: vec![func.loc],
            places: HashMap::new(),
            costs,
            carried,
            divs: BTreeMap::new(),
            consts: BTreeMap::new(),
        }
    }

    /// A constant table, converted once.
    pub fn const_value(&mut self, id: ConstId) -> SVal {
        let prog = self.prog;
        self.consts.entry(id).or_insert_with(|| state::constant(&prog.consts[id.0 as usize].value)).clone()
    }
}
