//! Ghost text: what the judge of meaning says to its claims.
//!
//! Needs: the judge's answer.  Keeps: every claim of ghost text is an obligation, an invariant two: where
//! the loop is reached, and behind a round.  Absent on purpose: proofs; a claim that the judge does not accept is open.
//! Trusted: engines.

use super::call;
use crate::obligation::{clauses, requires_text, Engine, Kind, Obligation, Outcome};
use crate::replay::Judged;
use santoku_ir::{visit, ContractKind, FuncId, Ghost, Program, Stmt};
use santoku_meaning::{Clauses, Moment, Stop};

/// The obligations of ghost text.
pub fn claims(p: &Program, id: FuncId, (found, stopped): &Judged) -> Vec<Obligation> {
    let mut out = Vec::new();
    visit::walk_stmts(&p.func(id).body, &mut |s| {
        let Stmt::Ghost { what, text, loc } = s else { return };
        let mut claim = |when: Moment, text: String| {
            let outcome = outcome(found, stopped.as_ref(), found.claims.get(&(*loc, when)).copied(), when);
            out.push(Obligation { func: id, kind: Kind::Assert, loc: *loc, nr: 0, text, outcome, micros: 0 });
        };
        match what {
            Ghost::Assert(_) => claim(Moment::Here, text.clone()),
            Ghost::Invariant(_) => {
                claim(Moment::Entry, format!("{text} (where the loop is reached)"));
                claim(Moment::Step, format!("{text} (behind a round)"));
            }
            Ghost::Lemma(g, _) => {
                let g = p.func(*g);
                claim(Moment::Here, format!("`{}` takes what it is given", g.name.rsplit('.').next().unwrap_or(&g.name)));
                clauses(g, ContractKind::Requires).for_each(|(_, c)| claim(Moment::Here, requires_text(g, c)));
            }
            Ghost::Let(..) => {}
        }
    });
    out
}

/// Says of open clauses that they wait for claims that are open themselves: no engine knows what an invariant says.
pub fn waiting((found, _): &Judged, obligations: &mut [Obligation]) {
    if found.claims.values().all(|held| *held) {
        return;
    }
    for o in obligations.iter_mut().filter(|o| matches!(o.kind, Kind::Ensures | Kind::Requires)) {
        if let Outcome::Failed { reason, .. } = &mut o.outcome {
            *reason = "not looked at before the claims in the body are proved".into();
        }
    }
}

fn outcome(found: &Clauses, stopped: Option<&Stop>, held: Option<bool>, when: Moment) -> Outcome {
    let rests = found.claims.values().any(|h| !h);
    match (held, stopped) {
        (Some(false), _) => call::failed(match when {
            Moment::Here => "it is not seen to follow from what is known here".into(),
            Moment::Entry => "it is not seen to hold where the loop is reached, for the first value of the counter".into(),
            Moment::Step => "it is not seen to be kept by a round: it is taken to hold at the head and asked for the next value of the counter".into(),
        }),
        (None, Some(_)) if rests => call::failed("what stands before it does not hold".into()),
        // A claim that held so far may be asked again, in another round.
        (_, Some(why)) => call::failed(format!("ghost text is not followed: {}", why.0)),
        // Never asked: no execution gets here.
        (Some(true) | None, None) => Outcome::Proved { engine: Engine::Judge },
    }
}
