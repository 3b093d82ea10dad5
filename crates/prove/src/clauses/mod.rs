//! Proofs of clauses for the judge of meaning: substitutions that make a goal zero, and refutations by linear programs that
//! remember what they added up.
//!
//! Needs: what `santoku_meaning` knows at a goal.  Keeps: nothing is accepted here.  Absent on purpose: trust.
//! Trusted: nothing: a wrong proof is refused.

mod least;
mod sizes;
mod zero;

use santoku_ir::interp::Int;
use santoku_meaning::poly::Poly;
use santoku_meaning::proof::{Known, Tree, Zero};
use santoku_meaning::Search;

pub struct Finder;

impl Search for Finder {
    fn zero(&self, known: &Known, goal: &Poly, m: Option<&Int>) -> Option<Zero> {
        zero::proof(known, goal, m)
    }
    fn least(&self, known: &Known, goal: &Poly, guard: &Poly) -> Option<Tree> {
        least::tree(known, goal, guard)
    }
}
