//! Equality of a function before and after a rewrite.
//!
//! Needs: the two programs.  Keeps: soundness. `Equal` means that every input that meets the obligations of the
//! function gives the same results; anything the checker cannot decide is not `Equal`.  Absent: search. Both sides are
//! executed symbolically into one graph of normalised terms, and the results are the same terms or they are not.
//!
//! Loops are first kept as terms, then, where that does not settle it, executed step by step in growing steps.
//! Trusted: c.

mod arith;
mod bits;
mod blast;
pub mod clauses;
mod dag;
mod data;
#[cfg(test)]
mod eval;
pub mod everywhere;
mod exec;
mod linear;
mod loops;
mod print;
mod spec;
#[cfg(test)]
mod tests;
mod value;
mod witness;
mod words;

pub use witness::{random_inputs, Inputs, Rng, Witness};

use dag::{Dag, Id, Stop};
use exec::{Exec, How};
use santoku_ir::{Func, FuncId, Program};
use std::collections::BTreeSet;

/// Operands one check may build, both sides together.
pub const CELLS_MAX: usize = 3_000_000;
/// Constant trip counts up to which loops are executed, tried in this order.
const TRIPS: [u64; 4] = [1, 16, 80, 1 << 20];

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The same on every input; size of the graph.
    Equal { nodes: usize },
    Differ(Box<Difference>),
    /// The graph outgrew [`CELLS_MAX`]. Not validated.
    TooBig,
    /// The checker has no answer, for this reason. Not validated.
    Unknown(String),
}

impl Verdict {
    pub fn is_equal(&self) -> bool {
        matches!(self, Verdict::Equal { .. })
    }
}

/// The first result that is not the same term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Result (and part of it) that differs first.
    pub result: String,
    /// The smallest terms that differ there, in source names.
    pub before: String,
    pub after: String,
    /// No loop and no call was left as a term: different terms are very likely different values.
    pub exact: bool,
    /// Inputs on which the interpreter gives different results, where some were found.
    pub witness: Option<Witness>,
}

/// Is `func` of `after` the same function as in `before`? Calls of functions in `expand` are executed, each with
/// its own program's body; other calls are equal when callee, lengths and arguments are.
pub fn check(before: &Program, after: &Program, func: &str, expand: &BTreeSet<String>) -> Verdict {
    let (old, new) = match both(before, after, func) {
        Ok(both) => both,
        Err(why) => return Verdict::Unknown(why),
    };
    let mut last = Verdict::TooBig;
    let ways = TRIPS.into_iter().flat_map(|trips_max| [true, false].map(|by_name| How { trips_max, by_name }));
    let mut settled = None;
    for how in ways {
        if settled.is_some_and(|trips| trips != how.trips_max) {
            break;
        }
        let mut dag = Dag::new(CELLS_MAX);
        match sides(&mut dag, (before, after), (old, new), expand, how) {
            Err(Stop::TooBig) => return if matches!(last, Verdict::Unknown(_)) { last } else { Verdict::TooBig },
            Err(Stop::Unknown(why)) => last = Verdict::Unknown(why),
            Ok(sides) => {
                if sides.old == sides.new {
                    return Verdict::Equal { nodes: dag.size() };
                }
                last = Verdict::Differ(Box::new(difference(&mut dag, before.func(old), &sides)));
                // Without loops to execute, only the naming of what is carried is left to try.
                if !sides.kept_loop {
                    settled = Some(how.trips_max);
                }
                if !sides.kept_any {
                    break;
                }
            }
        }
    }
    if let Verdict::Differ(d) = &mut last {
        d.witness = witness::search(before, after, func);
    }
    last
}

/// The function of this name in each program, where both have it with one signature.
fn both(before: &Program, after: &Program, func: &str) -> Result<(FuncId, FuncId), String> {
    let found = before.find(func).zip(after.find(func));
    let (old, new) = found.ok_or_else(|| format!("`{func}` is not in both programs"))?;
    if !same_signature((before, before.func(old)), (after, after.func(new))) {
        return Err(format!("`{func}` changed its signature"));
    }
    Ok((old, new))
}

struct Sides {
    old: Vec<Id>,
    new: Vec<Id>,
    kept_loop: bool,
    kept_any: bool,
}

fn sides(
    dag: &mut Dag,
    (before, after): (&Program, &Program),
    (old, new): (FuncId, FuncId),
    expand: &BTreeSet<String>,
    how: How,
) -> Result<Sides, Stop> {
    let (mut kept_loop, mut kept_any) = (false, false);
    let mut run = |program, func| {
        let mut exec = Exec::new(dag, program, expand, how);
        let outs = exec::run(&mut exec, func)?;
        kept_loop |= exec.kept_loop;
        kept_any |= exec.kept_any;
        Ok(outs)
    };
    let (old, new) = (run(before, old)?, run(after, new)?);
    Ok(Sides { old, new, kept_loop, kept_any })
}

/// Lengths, parameters and results have the same shapes in the same order.
fn same_signature((p, f): (&Program, &Func), (q, g): (&Program, &Func)) -> bool {
    let mut dag = Dag::new(usize::MAX);
    let mut shape = |p: &Program, f: &Func| {
        let ids = f.lens.iter().chain(&f.params).chain(&f.rets);
        ids.map(|id| dag.sort_of(p, &f.local(*id).ty, &dag::Lens::new())).collect::<Vec<_>>()
    };
    let same_shapes = shape(p, f) == shape(q, g);
    same_shapes && f.lens.len() == g.lens.len() && f.params.len() == g.params.len()
}

fn difference(dag: &mut Dag, func: &Func, sides: &Sides) -> Difference {
    let names = print::Names::of(func);
    for (n, (&a, &b)) in sides.old.iter().zip(&sides.new).enumerate() {
        if a == b {
            continue;
        }
        let name = func.rets.get(n).map_or("the asserts", |r| func.local(*r).name.as_str());
        let (path, a, b) = print::first_part(dag, a, b);
        let exact = !print::opaque(dag, &[a, b]);
        let (a, b) = print::smallest(dag, a, b);
        return Difference {
            result: format!("{name}{path}"),
            before: print::term(dag, a, &names),
            after: print::term(dag, b, &names),
            exact,
            witness: None,
        };
    }
    Difference { result: "number of results".into(), before: String::new(), after: String::new(), exact: true, witness: None }
}
