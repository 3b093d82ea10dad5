//! What the judge of meaning says to clauses: which of those that the engines closed it accepts, and which it closes by itself.
//!
//! Needs: what `santoku_meaning` says of a function, and the obligations about contracts as the engines left them.  Keeps: a clause
//! counts as accepted only if the judge answered yes for this very clause, at every call where it is asked.  Absent on purpose: proofs.
//! Trusted: field.

use crate::clauses::Finder;
use crate::obligation::{requires_text, Engine, Kind, Obligation, Outcome};
use santoku_ir::{FuncId, Program};
use santoku_meaning::{Clauses, Stop};
use serde::{Deserialize, Serialize};

/// What became of the clauses of one function: its `ensures`, and the `requires` of what it calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replayed {
    pub accepted: usize,
    /// Those that rest on the engines, and why.
    pub open: Vec<String>,
}

impl Replayed {
    pub fn asked(&self) -> usize {
        self.accepted + self.open.len()
    }
}

/// What the judge found of a function, and what stopped it.
pub type Judged = (Clauses, Option<Stop>);

/// What the judge says of a function. Where it does not accept all of it, claims are put into it that may cut the proof: what holds of the function
/// with more said of it holds of the function.
pub fn judged(p: &Program, id: FuncId) -> Judged {
    let found = santoku_meaning::claims(p, id, &Finder);
    if settles(&found) || santoku_meaning::ghost::in_body(&p.func(id).body) {
        return found;
    }
    let cut = crate::cuts::proposals(p, id).into_iter().map(|q| santoku_meaning::claims(&q, id, &Finder)).find(settles);
    cut.map_or(found, |(clauses, _)| (Clauses { claims: Default::default(), ..clauses }, None))
}

/// What was found, if nothing stopped it.
pub fn whole((found, stopped): &Judged) -> Result<&Clauses, &Stop> {
    stopped.as_ref().map_or(Ok(found), Err)
}

/// Whether the judge accepts every clause of a function and of what it calls.
pub fn settles(judged: &Judged) -> bool {
    whole(judged).is_ok_and(|c| c.ensures.values().chain(c.requires.values()).all(|held| *held))
}

/// Closes what the engines left open and the judge accepts.
pub fn close(p: &Program, judged: Option<&Judged>, obligations: &mut [Obligation]) {
    let Some(Ok(found)) = judged.map(whole) else { return };
    let open = |o: &&mut Obligation| matches!((o.kind, &o.outcome), (Kind::Ensures | Kind::Requires, Outcome::Failed { .. }));
    for o in obligations.iter_mut().filter(open) {
        if accepted(p, found, o) {
            o.outcome = Outcome::Proved { engine: Engine::Judge };
        }
    }
}

/// The clauses among these obligations, all closed.
pub fn replayed(p: &Program, judged: Option<&Judged>, obligations: &[Obligation]) -> Replayed {
    let mut all = Replayed::default();
    for o in obligations.iter().filter(|o| o.proved() && matches!(o.kind, Kind::Ensures | Kind::Requires)) {
        match judged.map(whole) {
            Some(Ok(found)) if accepted(p, found, o) => all.accepted += 1,
            Some(Ok(_)) => all.open.push(format!("`{}`: not found again by the judge's rules", o.text)),
            Some(Err(why)) => all.open.push(format!("`{}`: {}", o.text, why.0)),
            None => all.open.push(format!("`{}`: it was not judged", o.text)),
        }
    }
    all
}

/// Whether the judge accepts the clause of an obligation.
pub fn accepted(p: &Program, found: &Clauses, o: &Obligation) -> bool {
    let nr = o.nr as usize;
    match o.kind {
        Kind::Ensures => p.func(o.func).contracts.get(nr).is_some_and(|c| c.text == o.text) && found.ensures.get(&nr) == Some(&true),
        _ => {
            let text = |g: FuncId| p.func(g).contracts.get(nr).map(|c| requires_text(p.func(g), c));
            let mut here = found.requires.iter().filter(|((loc, g, n), _)| *loc == o.loc && *n == nr && text(*g).as_ref() == Some(&o.text)).peekable();
            here.peek().is_some() && here.all(|(_, held)| *held)
        }
    }
}
