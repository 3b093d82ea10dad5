//! The lies about contracts written in the table.

use crate::false_clauses::{self, Clause};
use crate::table::Mistake;
use crate::written::{excluded, program, run};
use crate::{of_each, ranges, table};

/// Whom a mistake fools.
#[derive(Clone, Copy, Debug, PartialEq)]
enum By {
    /// An engine, even where its steps are compared with sample inputs.
    Seeing,
    /// An engine whose steps are not compared.
    Blind,
    /// An engine that is no longer asked about the clause.
    Unasked,
    /// The finder hands a proof that the judge refuses.
    Finder,
}

struct Found {
    made: bool,
    by: Option<By>,
    wrong: Vec<String>,
}

/// Whom the mistake fools about a clause that does not hold.
fn fooled(p: &santoku_ir::Program, c: &Clause, nr: usize, finder: bool) -> Option<By> {
    if finder {
        return (false_clauses::judged(p, c.of, Some(nr)).refused > 0).then_some(By::Finder);
    }
    [(false, By::Seeing), (true, By::Blind)].into_iter().find_map(|(blind, by)| {
        let all = false_clauses::engines(p, c.of, Some(nr), blind);
        let asked = false_clauses::about(c, &all).next().is_some();
        (!false_clauses::open(c, &all)).then_some(if asked { by } else { By::Unasked })
    })
}

fn look(nr: usize, m: &Mistake) -> Found {
    let (text, p) = program(m, &m.lie);
    let (true_text, q) = program(m, &m.truth);
    let none = |why: String| Found { made: m.made, by: None, wrong: vec![why] };
    let Some(fault) = run(&p, m) else { return none("the lie holds".into()) };
    let Some(c) = false_clauses::broken(&p, &fault) else { return none(format!("no clause is broken: {fault}")) };
    let finder = m.edits.iter().all(|e| e.file.starts_with("clauses/"));
    let mut wrong = vec![];
    if let Some(f) = run(&q, m).filter(|f| !excluded(f)) {
        wrong.push(format!("the truth does not hold: {f}"));
    }
    // The truth is the same clause, at the same place.
    let truth = false_clauses::judged(&q, c.of, None);
    if !false_clauses::accepted_there(&c, &truth) {
        wrong.push(format!("the judge does not follow the truth: {:?}\n{true_text}", truth.found));
    }
    for blind in [false, true] {
        if !false_clauses::open(&c, &false_clauses::engines(&p, c.of, None, blind)) {
            wrong.push(format!("without the mistake, too, the prover believes what breaks: {fault}"));
        }
    }
    for made in [None, Some(nr)] {
        let judged = false_clauses::judged(&p, c.of, made);
        if false_clauses::accepted(&c, &judged) {
            wrong.push(format!("THE JUDGE ACCEPTS (mistake: {made:?}) what breaks: {fault}\n{text}"));
        }
        if made.is_none() && judged.refused > 0 {
            wrong.push("without the mistake, too, proofs are handed that are none".into());
        }
    }
    let by = fooled(&p, &c, nr, finder);
    if by.is_none() {
        let open: Vec<String> = false_clauses::about(&c, &false_clauses::engines(&p, c.of, Some(nr), true)).map(|o| format!("{} {:?}", o.text, o.outcome)).collect();
        wrong.push(format!("nobody is fooled; what breaks: {fault}; open: {open:?}\n{text}"));
    }
    Found { made: m.made, by, wrong }
}

/// Mistake by mistake.
#[test]
fn every_mistake_proves_its_clause_and_the_judge_of_meaning_refuses_it() {
    let only = std::env::var("MISTAKE").ok();
    let numbered = table().into_iter().enumerate().skip(ranges());
    let all: Vec<(usize, Mistake)> = numbered.filter(|(_, m)| only.as_ref().is_none_or(|o| m.what.contains(o))).collect();
    let what: Vec<String> = all.iter().map(|(_, m)| m.what.clone()).collect();
    let found = of_each(all, |(nr, m)| look(nr, &m));
    let made = found.iter().filter(|f| f.made).count();
    let by = |by| found.iter().filter(|f| f.by == Some(by)).count();
    let [seeing, blind, unasked, finder] = [By::Seeing, By::Blind, By::Unasked, By::Finder].map(by);
    println!(
        "tried: {} mistakes about contracts, {made} of them made in earnest; false clauses proved by the engines: {seeing}, where nothing is compared with samples: {blind} more, no longer asked about: {unasked}; \
         wrong proofs handed to the judge of meaning by the finder alone: {finder}",
        found.len()
    );
    let wrong: Vec<String> = what.iter().zip(&found).filter(|(_, f)| !f.wrong.is_empty()).map(|(w, f)| format!("{w}: {}", f.wrong.join("\n    "))).collect();
    wrong.iter().for_each(|w| println!("{w}"));
    assert!(wrong.is_empty(), "{} of {} entries are wrong", wrong.len(), found.len());
    assert!(only.is_some() || found.len() >= 100 && made >= 7 && seeing >= 75 && finder >= 8, "{} mistakes, {made} made in earnest", found.len());
}

/// An entry whose mistake changes nothing is no entry.
#[test]
fn a_mistake_about_contracts_that_fools_nobody_is_told() {
    let all = table();
    let found = look(all.len(), &all[ranges()]);
    assert!(found.by.is_none() && found.wrong.len() == 1 && found.wrong[0].starts_with("nobody is fooled"), "{:?}", found.wrong);
}
