//! The copy of the prover asked about clauses of contracts with one mistake made, and the judge of meaning with proofs that the copy finds.

use santoku_ir::interp::{Fault, FaultKind, Int};
use santoku_ir::{ContractKind, FuncId, Loc, Program};
use santoku_meaning::poly::Poly;
use santoku_meaning::proof::{Known, Tree, Zero};
use santoku_meaning::{Clauses, Search};
use santoku_prove::clauses::Finder;
use santoku_prove::contracts::{self, cost};
use santoku_mistakes::mistake;
use santoku_prove::obligation::{Kind, Obligation};
use santoku_prove::whole;
use std::cell::Cell;

/// A clause at the place where it is to hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clause {
    /// Who is to show it: the function itself, or who calls.
    pub of: FuncId,
    /// The call and its callee, of what that requires.
    pub call: Option<(Loc, FuncId)>,
    pub nr: usize,
}

/// The clause that a fault breaks; `None` where something else went wrong.
pub fn broken(p: &Program, fault: &Fault) -> Option<Clause> {
    let FaultKind::Contract { kind, text } = &fault.kind else { return None };
    let find = |name: &str| p.funcs.iter().position(|f| f.name == name).map(|at| FuncId(at as u32));
    let own = find(&fault.func)?;
    let nr = p.func(own).contracts.iter().position(|c| c.kind == *kind && c.text == *text)?;
    match (kind, &fault.call) {
        (ContractKind::Ensures, _) => Some(Clause { of: own, call: None, nr }),
        // The test's own input is not allowed.
        (ContractKind::Requires, None) => None,
        (ContractKind::Requires, Some((caller, loc))) => Some(Clause { of: find(caller)?, call: Some((*loc, own)), nr }),
    }
}

/// What the engines behind contracts leave to be believed of a function.
pub fn engines(p: &Program, id: FuncId, made: Option<usize>, blind: bool) -> Vec<Obligation> {
    let all = || whole::join(vec![], contracts::check(p, id, &cost::of_program(p)));
    mistake::blindly(blind, || mistake::with(made, all))
}

/// The obligations about a clause.
pub fn about<'o>(c: &'o Clause, all: &'o [Obligation]) -> impl Iterator<Item = &'o Obligation> {
    let kind = if c.call.is_some() { Kind::Requires } else { Kind::Ensures };
    all.iter().filter(move |o| o.kind == kind && o.nr as usize == c.nr && c.call.is_none_or(|(loc, _)| o.loc == loc))
}

/// Whether something is left open of a clause. What is lost is believed, too.
pub fn open(c: &Clause, all: &[Obligation]) -> bool {
    about(c, all).any(|o| !o.proved())
}

/// The finder of the copy, and how many of its proofs are none.
#[derive(Default)]
struct Handed {
    refused: Cell<usize>,
}

impl Handed {
    fn count<T>(&self, proof: Option<T>, good: impl Fn(&T) -> bool) -> Option<T> {
        if proof.as_ref().is_some_and(|p| !good(p)) {
            self.refused.set(self.refused.get() + 1);
        }
        proof
    }
}

impl Search for Handed {
    fn zero(&self, known: &Known, goal: &Poly, m: Option<&Int>) -> Option<Zero> {
        self.count(Finder.zero(known, goal, m), |proof| known.is_zero(proof, goal, m))
    }
    fn least(&self, known: &Known, goal: &Poly, guard: &Poly) -> Option<Tree> {
        self.count(Finder.least(known, goal, guard), |tree| known.is_least(tree, goal, guard))
    }
}

/// What the judge of meaning says of a function, and how many proofs it was handed that it refused.
pub struct Judged {
    pub found: Option<Clauses>,
    pub refused: usize,
}

pub fn judged(p: &Program, id: FuncId, made: Option<usize>) -> Judged {
    let handed = Handed::default();
    let found = mistake::with(made, || santoku_meaning::check(p, id, &handed)).ok();
    Judged { found, refused: handed.refused.get() }
}

/// Whether the judge answered yes to the same clause of a program in which other words stand before it.
pub fn accepted_there(c: &Clause, judged: &Judged) -> bool {
    let (Some(found), Some((loc, callee))) = (&judged.found, c.call) else { return accepted(c, judged) };
    let mut here = found.requires.iter().filter(|((at, g, nr), _)| (at.line, *g, *nr) == (loc.line, callee, c.nr)).peekable();
    here.peek().is_some() && here.all(|(_, held)| *held)
}

/// Whether the judge answered yes.
pub fn accepted(c: &Clause, judged: &Judged) -> bool {
    let Some(found) = &judged.found else { return false };
    match c.call {
        None => found.ensures.get(&c.nr) == Some(&true),
        Some((loc, callee)) => found.requires.get(&(loc, callee, c.nr)) == Some(&true),
    }
}
