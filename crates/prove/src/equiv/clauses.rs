//! Clauses about words: `ensures result == spec(x)` holds if code and specification are the same term, or the same bits.
//!
//! Needs: the function and the specification functions.  Keeps: a clause holds on every input that meets the obligations of the function,
//! provided that what it calls keeps its own clauses; what is not decided is open.  Absent: search, run-time lengths, induction.
//! Trusted: engines.

use super::blast::Blast;
use super::dag::{Dag, Id, Lens, Node, Stop};
use super::exec::{self, Exec, How};
use super::print;
use super::spec::{Call, SpecEval};
use super::CELLS_MAX;
use num_traits::{One, Zero};
use santoku_ir::spec_words::of_bits;
use santoku_ir::{visit, Base, CmpOp, ContractKind, Func, FuncId, LocalId, Place, Program, SpecExpr};
use std::collections::{BTreeMap, BTreeSet};

/// Of each clause about words, by its place among the contracts: why it is not shown, if it is not.
pub type Found = BTreeMap<usize, Result<(), String>>;

/// Calls around a value that are named.
const CALLS_NAMED: usize = 4;

/// Looks at the `ensures` of a function that are about words.
pub fn check(p: &Program, id: FuncId) -> Found {
    let f = p.func(id);
    let wanted = |c: &santoku_ir::Contract| c.kind == ContractKind::Ensures && of_bits(p, &c.cond);
    let nrs: Vec<usize> = (0..f.contracts.len()).filter(|i| wanted(&f.contracts[*i])).collect();
    if nrs.is_empty() {
        return Found::new();
    }
    let mut dag = Dag::of_words(CELLS_MAX);
    let expand: BTreeSet<String> = p.funcs.iter().map(|f| f.name.clone()).collect();
    let how = How { trips_max: 1 << 20, by_name: true };
    let mut exec = Exec::new(&mut dag, p, &expand, how);
    exec.contracts = Some(Box::new(SpecEval::new(p)));
    let run = exec::run(&mut exec, id);
    let spec = exec.contracts.take();
    let (outs, mut spec) = match (run, spec) {
        (Ok(outs), Some(spec)) => (outs, spec),
        (Err(stop), _) => return nrs.into_iter().map(|i| (i, Err(format!("the code is not followed: {}", reason(&stop))))).collect(),
        (_, None) => return Found::new(),
    };
    spec.of_code = Some(dag.size());
    let inputs = f.lens.iter().chain(&f.params).enumerate().map(|(n, l)| {
        let sort = dag.sort_of(p, &f.local(*l).ty, &Lens::new());
        (*l, dag.intern(Node::Input(n as u32), sort))
    });
    spec.places = inputs.collect();
    spec.places.extend(f.rets.iter().copied().zip(outs));
    let mut blast = Blast::default();
    nrs.into_iter().map(|i| (i, clause(&mut dag, (&mut spec, &mut blast), (p, f), &f.contracts[i].cond))).collect()
}

fn reason(stop: &Stop) -> String {
    match stop {
        Stop::TooBig => "it takes too many steps or terms".to_string(),
        Stop::Unknown(why) => why.clone(),
    }
}

fn clause(dag: &mut Dag, (spec, blast): (&mut SpecEval, &mut Blast), (p, f): (&Program, &Func), cond: &SpecExpr) -> Result<(), String> {
    spec.first_new = None;
    let found = match cond {
        SpecExpr::Cmp(CmpOp::Eq, a, b) => sides(dag, (spec, blast), a, b),
        _ => spec.eval(dag, cond).map(|t| {
            let always = dag.bool(true);
            (!dag.as_const(t).is_some_and(One::is_one) && !blast.same(dag, t, always)).then(|| (String::new(), t, t))
        }),
    };
    match found {
        Err(stop) => Err(format!("the specification is not followed: {}", reason(&stop))),
        Ok(None) => Ok(()),
        Ok(Some((place, a, b))) => {
            let first = spec.first_new.take().map_or(String::new(), |calls| new_value(dag, p, &calls));
            Err(format!("{}{first}", different(dag, f, &place, a, b)))
        }
    }
}

/// The first scalars that are not the same, with the place where they are.
fn sides(dag: &mut Dag, (spec, blast): (&mut SpecEval, &mut Blast), a: &SpecExpr, b: &SpecExpr) -> Result<Option<(String, Id, Id)>, Stop> {
    let (a, b) = (spec.eval(dag, a)?, spec.eval(dag, b)?);
    let pairs = spec.pairs(dag, a, b)?;
    let many = pairs.len() > 1;
    for (k, (x, y)) in pairs.into_iter().enumerate() {
        let same = spec.equal(dag, x, y);
        if dag.as_const(same).is_none_or(Zero::is_zero) && !blast.same(dag, x, y) {
            let place = if many { format!(" at element {k}") } else { String::new() };
            return Ok(Some((place, spec.words.short(dag, x), spec.words.short(dag, y))));
        }
    }
    Ok(None)
}

fn different(dag: &Dag, f: &Func, place: &str, a: Id, b: Id) -> String {
    if a == b {
        return format!("as terms the clause is not always true{place}");
    }
    let names = print::Names::of(f);
    let (a, b) = print::smallest(dag, a, b);
    format!("as terms the sides differ first{place}: `{}` is not `{}`", print::term(dag, a, &names), print::term(dag, b, &names))
}

fn new_value(dag: &Dag, p: &Program, calls: &[Call]) -> String {
    let show = |(id, args): &Call| {
        let args: Vec<String> = args.iter().map(|a| dag.as_const(*a).map_or("..".to_string(), ToString::to_string)).collect();
        format!("`{}({})`", p.specs[id.0 as usize].name, args.join(", "))
    };
    let named: Vec<String> = calls.iter().rev().take(CALLS_NAMED).map(show).collect();
    format!("; the first value of the specification that the code does not compute is {}", named.join(" in "))
}

impl Exec<'_, '_> {
    /// The results of a call that the clauses of the callee define, as its specification gives them.
    pub(super) fn by_contract(&mut self, callee: &Func, inputs: &[Id]) -> Result<Option<Vec<Id>>, Stop> {
        let program = self.program;
        let defined: Option<Vec<&SpecExpr>> = callee.rets.iter().map(|r| definition(program, callee, *r)).collect();
        let Some(defined) = defined.filter(|d| !d.is_empty()) else { return Ok(None) };
        let Some(mut spec) = self.contracts.take() else { return Ok(None) };
        let outer = std::mem::replace(&mut spec.places, callee.lens.iter().chain(&callee.params).copied().zip(inputs.iter().copied()).collect());
        let results = callee.rets.iter().zip(defined).map(|(r, e)| {
            let value = spec.eval(self.dag, e)?;
            spec.typed(self.dag, value, &callee.local(*r).ty)
        });
        let results = results.collect::<Result<Vec<Id>, Stop>>();
        spec.places = outer;
        self.contracts = Some(spec);
        // What a specification is not followed in is what the body says.
        Ok(results.ok())
    }
}

/// `e` of a clause `r == e` about words that mentions no result.
fn definition<'p>(p: &Program, f: &'p Func, r: LocalId) -> Option<&'p SpecExpr> {
    let is = |e: &SpecExpr| *e == SpecExpr::Place(Place::local(r));
    let mentions_result = |e: &SpecExpr| {
        let mut found = false;
        visit::walk_spec(e, &mut |e| found |= matches!(e, SpecExpr::Place(Place { base: Base::Local(l), .. }) if f.rets.contains(l)));
        found
    };
    f.contracts.iter().filter(|c| c.kind == ContractKind::Ensures && of_bits(p, &c.cond)).find_map(|c| match &c.cond {
        SpecExpr::Cmp(CmpOp::Eq, a, b) if is(a) && !mentions_result(b) => Some(&**b),
        SpecExpr::Cmp(CmpOp::Eq, a, b) if is(b) && !mentions_result(a) => Some(&**a),
        _ => None,
    })
}
