//! An execution of the source: its variables, what it may assume, what it called.

use crate::term::{Given, Naming, T, Terms};
use super::stop::Stop;
use super::value::Value;
use santoku_ir::interp::{self, Interp};
use santoku_ir::{ConstId, Expr, FuncId, Loc, LocalId, Program, Stmt};
use std::collections::{BTreeMap, BTreeSet};

/// What the executor does not decide itself.
pub trait Environment {
    /// Calls of this function stay uninterpreted.
    fn cut(&self, func: FuncId) -> bool;

    /// Scalar `index` (elements laid out one after the other, each in storage order) of the input array of this number.
    fn read(&self, terms: &mut Terms, array: u32, index: T) -> T;

    /// Whether that array is public.
    fn array_public(&self, _array: u32) -> bool {
        false
    }

    /// The value of that array on a sample. It is needed for the values of cut calls alone.
    fn array_value(&self, _array: u32, _sample: usize) -> Option<interp::Value> {
        None
    }

    /// This loop is left to [`Environment::run_loop`]. Loops whose bounds are not constant always are.
    fn cuts_loop(&self, _site: &Site<'_>) -> bool {
        false
    }

    /// Executes a loop the executor does not follow step by step. On return, `state` is the state after it.
    ///
    /// [`Source::round`] executes one round. The ranges written on its expressions are proved of rounds that take place,
    /// with the counter in `lo..hi`: a round that may not take place belongs under a path condition, and places given
    /// invented values need their declared ranges.
    ///
    /// # Errors
    /// Whatever stops the execution; unless overridden, [`Stop::Loop`].
    fn run_loop<'a>(&self, source: &mut Source<'a>, site: &Site<'a>, _state: &mut State) -> Result<(), Stop> {
        let f = source.program.func(site.func);
        Err(Stop::Loop(f.name.clone(), f.local(site.var).name.clone(), site.loc.line))
    }
}

/// The arrays among the inputs, as an environment knows them.
pub(super) struct Inputs<'e>(pub &'e dyn Environment);

impl Given for Inputs<'_> {
    fn read(&self, terms: &mut Terms, array: u32, index: T) -> T {
        self.0.read(terms, array, index)
    }
    fn array_public(&self, array: u32) -> bool {
        self.0.array_public(array)
    }
}

/// A loop, its bounds evaluated.
#[derive(Clone, Debug)]
pub struct Site<'a> {
    pub func: FuncId,
    pub var: LocalId,
    pub lo: T,
    pub hi: T,
    pub rev: bool,
    /// Their number, where it is known; 0 where it is not.
    pub rounds: u64,
    pub invariants: &'a [Expr],
    pub body: &'a [Stmt],
    pub loc: Loc,
}

/// How much one execution may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Statements, expressions and elements touched.
    pub steps: u64,
    /// [`Terms::size`] at the end of any statement.
    pub terms: usize,
    /// Cut calls: the one with this number, from 1, ends the execution.
    pub calls: usize,
    /// Words of so many summands get a name where they are assigned: for long chains of additions, which would otherwise
    /// repeat all that came before.
    pub naming: Option<Naming>,
    /// Values met are kept in [`Source::watched`].
    pub watch: bool,
    /// Every word that is computed gets a name where it is assigned ([`Terms::name_word`]).
    pub name_words: bool,
    /// Long loops with branches are proved by induction, after so many rounds that are followed.
    pub by_induction: Option<u64>,
    /// Loops of run-time length are taken two rounds at a time.
    pub in_pairs: bool,
    /// [`Terms::split_choices`].
    pub choices: bool,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            steps: 20_000_000,
            terms: 20_000_000,
            calls: usize::MAX,
            naming: None,
            watch: false,
            name_words: false,
            by_induction: None,
            in_pairs: false,
            choices: false,
        }
    }
}

/// Where the execution of one activation stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// By [`LocalId`].
    pub locals: Vec<Value>,
    /// 0 or 1: whether execution comes here.
    pub path: T,
}

/// A call that was not looked into.
#[derive(Clone, Debug)]
pub struct CallMade {
    pub func: FuncId,
    pub name: String,
    /// The arguments as [`Terms::call`] got them: lengths, then the scalars of all parameters in storage order.
    pub flat: Vec<T>,
    pub lens: Vec<T>,
    pub args: Vec<Value>,
    pub results: Vec<Value>,
    /// 0 or 1: whether it is made.
    pub path: T,
    pub loc: Loc,
}

/// An execution in progress.
pub struct Source<'a> {
    pub program: &'a Program,
    pub terms: &'a mut Terms,
    pub env: &'a dyn Environment,
    pub limits: Limits,
    /// Cut calls in the order of execution, both branches of conditions included.
    pub calls: Vec<CallMade>,
    /// Scalars met in expressions.
    pub watched: BTreeSet<T>,
    pub(crate) steps: u64,
    pub(crate) tables: BTreeMap<ConstId, Value>,
    /// For the values of cut calls on the samples.
    pub(crate) interp: Interp<'a>,
}

/// One step into an aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Field(u32),
    At(T),
}

/// Where a place leads: steps, and for a trailing slice its offset and length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    pub steps: Vec<Step>,
    pub slice: Option<(T, u64)>,
}
