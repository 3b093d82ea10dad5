//! The last engine: integer queries to an external solver (`z3`), and models as candidates for witnesses.
//!
//! Needs: `z3` on the path (Debian package `z3`); where it is missing every query is simply left open.  Keeps:
//! determinism, by a resource limit instead of a clock.  Absent: any use of it where intervals, linear facts or
//! the algebra suffice.
//! Trusted: certifier.

mod emit;
mod process;
mod slice;

use crate::itv::Itv;

pub use process::{available, Session};
pub use slice::{Answer, Model, Node, Slice, Term, Verdict};

/// Terms in one query.
const MAX_CONE: usize = 6_000;
/// Products of unknowns in a query that takes them literally: more are hopeless.
const MAX_PRODUCTS: usize = 4;

impl Slice {
    /// No terms; at most `queries` queries of `limit` solver steps each.
    pub fn new(limit: u64, queries: u32) -> Slice {
        Slice { nodes: vec![(Node::Free, Itv::TOP)], limit, queries, models: Vec::new() }
    }

    /// A new term with an interval it is known to lie in.
    pub fn add(&mut self, node: Node, itv: Itv) -> Term {
        self.nodes.push((node, itv));
        self.nodes.len() as Term - 1
    }

    /// Whether `t`, known to lie in `known`, always lies in `wanted`. It counts only if the solver also says that the
    /// hypotheses can be met: from what cannot be, everything follows.
    pub fn inside(&mut self, t: Term, known: &Itv, wanted: &Itv) -> Verdict {
        if t == 0 || self.queries == 0 {
            return Verdict::Open;
        }
        let cone = self.cone(t);
        if cone.len() > MAX_CONE {
            return Verdict::Open;
        }
        self.queries -= 1;
        let products = cone.iter().filter(|t| self.nonlinear(**t)).count();
        // Products as unknowns first: cheap, and enough where only the carries matter.
        let mut exact = false;
        let mut answer = self.ask(&cone, t, known, Some(wanted), exact);
        if (1..=MAX_PRODUCTS).contains(&products) && answer != Answer::Holds {
            exact = true;
            answer = self.ask(&cone, t, known, Some(wanted), exact);
        }
        match answer {
            Answer::Holds => match self.ask(&cone, t, known, None, exact) {
                Answer::Maybe(_) => Verdict::Holds,
                Answer::Holds => Verdict::Contradiction,
                Answer::Unknown => Verdict::Open,
            },
            Answer::Maybe(model) => {
                self.models.push(model);
                Verdict::Open
            }
            Answer::Unknown => Verdict::Open,
        }
    }

    /// Without `wanted` the hypotheses alone: `Holds` says that they contradict each other.
    fn ask(&self, cone: &[Term], t: Term, known: &Itv, wanted: Option<&Itv>, exact: bool) -> Answer {
        let query = emit::query(self, cone, t, known, wanted, exact, self.limit);
        process::run(&query.text).map_or(Answer::Unknown, |reply| emit::answer(&query, &reply))
    }

    fn node(&self, t: Term) -> &(Node, Itv) {
        &self.nodes[t as usize]
    }

    fn constant(&self, t: Term) -> bool {
        matches!(self.node(t).0, Node::Const(_))
    }

    fn nonlinear(&self, t: Term) -> bool {
        matches!(self.node(t).0, Node::Mul(a, b) if !self.constant(a) && !self.constant(b))
    }

    /// The terms `t` depends on, operands first.
    fn cone(&self, t: Term) -> Vec<Term> {
        let mut seen = vec![false; t as usize + 1];
        seen[t as usize] = true;
        for at in (1..=t).rev().filter(|at| *at > 0) {
            if seen[at as usize] {
                self.operands(at).into_iter().for_each(|o| seen[o as usize] = true);
            }
        }
        (1..=t).filter(|at| seen[*at as usize]).collect()
    }

    fn operands(&self, t: Term) -> Vec<Term> {
        match &self.node(t).0 {
            Node::Input(..) | Node::Free | Node::Const(_) => Vec::new(),
            Node::Add(a, b) | Node::Sub(a, b) | Node::Mul(a, b) | Node::Cmp(_, a, b) => vec![*a, *b],
            Node::Div(a, _) | Node::Mod(a, _) => vec![*a],
            Node::Select(c, a, b) => vec![*c, *a, *b],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use santoku_num::Int;
    use santoku_ir::LocalId;

    /// `x - 2 * (x / 2)` for `x` in 0..9, against `0..hi`.
    fn parity(hi: i128) -> (bool, Vec<Model>) {
        let mut s = Slice::new(1_000_000, 4);
        let itv = Itv::new(0, 9);
        let x = s.add(Node::Input(LocalId(3), vec![1]), itv.clone());
        let q = s.add(Node::Div(x, Int::from(2)), Itv::TOP);
        let two = s.add(Node::Const(Int::from(2)), Itv::TOP);
        let d = s.add(Node::Mul(two, q), Itv::TOP);
        let r = s.add(Node::Sub(x, d), Itv::TOP);
        (s.inside(r, &Itv::TOP, &Itv::new(0, hi)) == Verdict::Holds, s.models)
    }

    #[test]
    fn proves_and_gives_models() {
        if !available() {
            return santoku_skips::skip("questions to the solver", "z3 is not installed");
        }
        assert_eq!(parity(1), (true, vec![]));
        let (holds, models) = parity(0);
        assert!(!holds);
        let value = models[0][&(LocalId(3), vec![1])].small().unwrap();
        assert_eq!(value % 2, 1, "{value} is no counterexample");
    }

    #[test]
    fn an_empty_allowance_proves_nothing() {
        let mut s = Slice::new(1, 0);
        let x = s.add(Node::Const(Int::ONE), Itv::new(1, 1));
        assert_eq!(s.inside(x, &Itv::TOP, &Itv::new(1, 1)), Verdict::Open);
    }

    /// A term beside an interval that its value cannot lie in: the negation of a byte taken for the negation itself.
    #[test]
    fn hypotheses_that_contradict_each_other_prove_nothing() {
        assert!(available(), "the tests need z3");
        let mut s = Slice::new(1_000_000, 4);
        let one = s.add(Node::Const(Int::ONE), Itv::TOP);
        let zero = s.add(Node::Const(Int::ZERO), Itv::TOP);
        let minus = s.add(Node::Sub(zero, one), Itv::TOP);
        assert_eq!(s.inside(minus, &Itv::new(127, 127), &Itv::new(0, 3)), Verdict::Contradiction);
        assert_eq!(s.inside(minus, &Itv::new(-1, 127), &Itv::new(0, 3)), Verdict::Open);
        assert_eq!(s.inside(minus, &Itv::new(-1, 127), &Itv::new(-2, 3)), Verdict::Holds);
    }
}
