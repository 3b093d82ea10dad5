//! The total interpreter: the meaning of the language.
//!
//! Needs: a program (the verifier's approval is not assumed: a malformed program faults, it never panics).
//! Keeps: the text of [`crate::data`], operation by operation. Absent: any knowledge of passes or targets.
//!
//! Points of meaning fixed here:
//! - A statement first evaluates the indices of its destinations, then its operands, then writes.
//! - A loop evaluates its bounds once. Its counter is undefined after it.
//! - Invariants hold at entry with the counter at its first value, and after each step with the counter at the
//!   next value (`hi` after the last step, `lo - 1` for `rev`), also where there is no step.
//! - Asserts are always executed; contracts, invariants and ranges when [`Options::check_contracts`] is set.
//! Trusted: engines.

mod code;
mod fault;
mod judged;
mod machine;
pub(crate) mod ops;
mod options;
mod store;
mod value;

pub use fault::{Fault, FaultKind};
pub use options::{Options, Stats};
pub use santoku_num::Int;
pub use value::Value;

use crate::data::{FuncId, Program, Test};
use code::{Code, Lower};
use judged::Judged;
use machine::Machine;

/// Interpreter of one program. Functions are resolved when first needed and kept.
pub struct Interp<'p> {
    program: &'p Program,
    options: Options,
    codes: Vec<Option<Code<'p>>>,
    /// All constants, once the first call has converted them.
    consts: Option<Vec<Value>>,
    struct_ranged: Vec<bool>,
    stats: Stats,
    /// Of the last call.
    judged: Judged,
}

impl<'p> Interp<'p> {
    /// An interpreter that checks nothing but what every run must.
    pub fn new(program: &'p Program) -> Interp<'p> {
        Interp::with_options(program, Options::default())
    }

    pub fn with_options(program: &'p Program, options: Options) -> Interp<'p> {
        Interp {
            program,
            options,
            codes: program.funcs.iter().map(|_| None).collect(),
            consts: None,
            struct_ranged: code::ranged_structs(program),
            stats: Stats::default(),
            judged: Judged::default(),
        }
    }

    /// Calls a function with its lengths and arguments, in order; gives its results in order.
    ///
    /// # Errors
    /// [`FaultKind::BadArgument`] when lengths or arguments do not fit; any other fault of the run.
    pub fn call(&mut self, func: FuncId, lens: &[u64], args: Vec<Value>) -> Result<Vec<Value>, Box<Fault>> {
        self.judged = Judged::default();
        self.prepare(func)?;
        let lens = lens.iter().map(|n| store::len_value(*n)).collect::<Result<Vec<Int>, _>>()?;
        let mut machine = Machine {
            program: self.program,
            codes: &self.codes,
            consts: self.consts.as_deref().unwrap_or_default(),
            options: &self.options,
            lower: Lower { program: self.program, check_ranges: self.options.check_contracts },
            steps_left: self.options.steps,
            inner_spec_left: self.options.inner_spec_steps,
            judged: Judged::default(),
            stats: self.stats,
            walked: Vec::new(),
            depth: 0,
        };
        let result = machine.run(func, &lens, args, None);
        let (stats, left) = (machine.stats, machine.steps_left);
        self.judged = machine.judged;
        self.stats = stats;
        self.stats.steps += self.options.steps - left;
        result
    }

    /// Runs a `test` block.
    ///
    /// # Errors
    /// The fault of the first assertion (or anything else) that failed.
    pub fn run_test(&mut self, test: &Test) -> Result<(), Box<Fault>> {
        self.call(test.func, &[], Vec::new()).map(drop)
    }

    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// The activations of a function in the last [`Interp::call`] that returned with every clause of its own judged; none if one of
    /// these, or one that it has to meet where it calls, exceeded [`Options::spec_steps`]. What it has to meet is sure to be judged once at
    /// each call in it that was made. 0 unless contracts are checked.
    pub fn judged(&self, func: FuncId) -> u64 {
        self.judged.activations(func)
    }

    /// Whether what the last [`Interp::call`] was given may be excluded by a clause that exceeded [`Options::spec_steps`].
    pub fn doubtful(&self) -> bool {
        self.judged.doubtful()
    }

    fn prepare(&mut self, root: FuncId) -> Result<(), Box<Fault>> {
        if self.consts.is_none() {
            if let Some(at) = crate::typing::first_bad_struct(&self.program.structs) {
                return Err(Fault::internal(format!("struct {} is not possible", self.program.structs[at].name)));
            }
            let depth = crate::limits::TYPE_DEPTH;
            let all = self.program.consts.iter().map(|c| code::const_value(self.program, &c.ty, &c.value, depth));
            self.consts = Some(all.collect::<Result<_, _>>()?);
        }
        if matches!(self.codes.get(root.0 as usize), Some(Some(_))) {
            return Ok(());
        }
        let lower = Lower { program: self.program, check_ranges: self.options.check_contracts };
        for id in Lower::reachable(self.program, root)? {
            let at = id.0 as usize;
            if self.codes[at].is_none() {
                let func = &self.program.funcs[at];
                let code = lower.func(func, &self.struct_ranged).map_err(|mut f| {
                    f.func.clone_from(&func.name);
                    f
                })?;
                self.codes[at] = Some(code);
            }
        }
        Ok(())
    }
}
