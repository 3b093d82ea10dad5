//! The lies about ranges written in the table.

use crate::ask::{self, Way, WAYS};
use crate::judge;
use crate::table::Mistake;
use crate::{of_each, tables};
use num_bigint::BigInt;
use santoku_ir::interp::{Fault, FaultKind, Int, Interp, Options as Checks, Value};
use santoku_ir::{ContractKind, Program, Ty};

/// Of one run.
const STEPS: u64 = 1 << 20;

/// What the table and the prover come to be.
struct Found {
    made: bool,
    way: Option<Way>,
    wrong: Vec<String>,
}

fn value(p: &Program, ty: &Ty, v: &toml::Value) -> Value {
    match (ty, v) {
        (Ty::Word(_), toml::Value::Integer(i)) => Value::Word(u128::try_from(*i).expect("a word")),
        (Ty::Word(_), toml::Value::String(s)) => Value::Word(s.parse().expect("a word")),
        (Ty::Bool, toml::Value::Boolean(b)) => Value::Bool(*b),
        (Ty::Int(_), toml::Value::Integer(i)) => Value::Int(Int::from(*i)),
        (Ty::Int(_), toml::Value::String(s)) => Value::Int(Int::from(&s.parse::<BigInt>().expect("an integer"))),
        (Ty::Array { elem, .. }, toml::Value::Array(vs)) => Value::array(vs.iter().map(|v| value(p, elem, v)).collect()),
        _ => panic!("{v:?} is no {ty:?}"),
    }
}

/// The run of the mistake's input.
pub fn run(p: &Program, m: &Mistake) -> Option<Box<Fault>> {
    let main = judge::entry(p);
    let f = p.func(main);
    assert_eq!((f.params.len(), f.lens.len()), (m.input.len(), m.lens.len()), "{}: arguments", m.what);
    let args = f.params.iter().zip(&m.input).map(|(id, v)| value(p, &f.local(*id).ty, v)).collect();
    Interp::with_options(p, Checks { steps: STEPS, ..Checks::checked() }).call(main, &m.lens, args).err()
}

/// The truth may be that there is no such input.
pub fn excluded(f: &Fault) -> bool {
    let requires = matches!(f.kind, FaultKind::Contract { kind: ContractKind::Requires, .. }) && f.call.is_none();
    requires || matches!(f.kind, FaultKind::BadArgument { .. })
}

pub fn program(m: &Mistake, put: &str) -> (String, Program) {
    let text = m.program.replace('$', put);
    let p = judge::compile(&text).unwrap_or_else(|e| panic!("{}: {e}\n{text}", m.what));
    (text, p)
}

fn look(nr: usize, m: &Mistake) -> Found {
    let mut wrong = Vec::new();
    let (text, p) = program(m, &m.lie);
    let (true_text, q) = program(m, &m.truth);
    if let Some(f) = run(&q, m).filter(|f| !excluded(f)) {
        wrong.push(format!("the truth does not hold: {f}"));
    }
    let follows = |way| {
        let (_, annotated) = ask::engines(&q, way, None);
        ask::verdicts(&q, &annotated).iter().flatten().all(|v| v.is_ok())
    };
    if !WAYS.into_iter().any(follows) {
        let (_, annotated) = ask::engines(&q, Way::Eager, None);
        wrong.push(format!("the judge does not follow the truth: {:?}\n{true_text}", ask::verdicts(&q, &annotated)));
    }
    let Some(fault) = run(&p, m) else {
        wrong.push("the lie holds".into());
        return Found { made: m.made, way: None, wrong };
    };
    let mut fooled = None;
    for way in WAYS {
        if ask::fooled(&p, &text, &fault, &ask::engines(&p, way, None).0) {
            wrong.push(format!("without the mistake, too ({way:?}), the prover believes what breaks: {fault}"));
        }
        let (all, annotated) = ask::engines(&p, way, Some(nr));
        if fooled.is_none() && ask::fooled(&p, &text, &fault, &all) {
            fooled = Some(way);
        }
        if ask::accepted(&p, &annotated, &fault) {
            wrong.push(format!("THE JUDGE ACCEPTS ({way:?}) what breaks: {fault}"));
        }
    }
    match fooled {
        None => {
            let (all, _) = ask::engines(&p, Way::Eager, Some(nr));
            let open: Vec<String> = all.iter().filter(|o| !o.proved()).map(|o| format!("{:?} {:?} {}: {:?}", o.kind, o.loc, o.text, o.outcome)).collect();
            wrong.push(format!("nobody is fooled; what breaks: {fault}; open: {open:#?}\n{text}"));
        }
        Some(Way::Solver) if !m.solver => wrong.push("only the solver is fooled, and the table does not say so".into()),
        _ => {}
    }
    Found { made: m.made, way: fooled, wrong }
}

/// Mistake by mistake.
#[test]
fn every_mistake_proves_its_lie_and_the_judge_refuses_it() {
    let only = std::env::var("MISTAKE").ok();
    let [ranges, _] = tables();
    let all: Vec<(usize, Mistake)> = ranges.into_iter().enumerate().filter(|(_, m)| only.as_ref().is_none_or(|o| m.what.contains(o))).collect();
    let what: Vec<String> = all.iter().map(|(_, m)| m.what.clone()).collect();
    let found = of_each(all, |(nr, m)| look(nr, &m));
    let made = found.iter().filter(|f| f.made).count();
    let by = |way| found.iter().filter(|f| f.way == Some(way)).count();
    let [own, eager, solver] = WAYS.map(by);
    println!("tried: {} mistakes, {made} of them made in earnest; lies proved: {} ({own} by the engines, {eager} with linear facts everywhere, {solver} by the solver)", found.len(), own + eager + solver);
    let wrong: Vec<String> = what.iter().zip(&found).filter(|(_, f)| !f.wrong.is_empty()).map(|(w, f)| format!("{w}: {}", f.wrong.join("\n    "))).collect();
    wrong.iter().for_each(|w| println!("{w}"));
    assert!(wrong.is_empty(), "{} of {} entries are wrong", wrong.len(), found.len());
    assert!(only.is_some() || found.len() >= 60 && made >= 6, "{} mistakes, {made} made in earnest", found.len());
}

/// An entry whose mistake changes nothing is no entry.
#[test]
fn a_mistake_that_fools_nobody_is_told() {
    let [ranges, others] = tables();
    let found = look(ranges.len() + others.len(), &ranges[0]);
    assert!(found.way.is_none() && found.wrong.len() == 1 && found.wrong[0].starts_with("nobody is fooled"), "{:?}", found.wrong);
}
