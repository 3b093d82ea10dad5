//! Calls of the code beside the calls of the source.
//!
//! Needs: the calls of both with the conditions on which they are made.  Keeps: a call of the code counts as one of the source
//! only if its arguments are the source's wherever the code makes it, and the source makes it there, too.  Absent: what a call
//! gives ([`super::call`]).

use crate::source::CallMade;
use crate::term::{T, Terms};
use super::state::{Exec, Made, State};
use num_traits::One;
use santoku_ir::FuncId;

impl Exec<'_> {
    /// The arguments of the source's call that one with these is where it is made. A compiler that copies what follows a branch
    /// into both ways leaves the choice out of the arguments.
    pub(super) fn as_in_source(&mut self, state: &State, func: FuncId, args: Vec<T>) -> Vec<T> {
        if state.conditions.is_empty() {
            return args;
        }
        let (terms, facts) = (&mut *self.terms, &self.facts[..]);
        let here: Vec<usize> = (0..terms.samples()).filter(|n| terms.sample(state.path, *n).is_one()).collect();
        let there = |c: &&CallMade| c.func == func && alike(terms, &c.flat, &args, &here);
        let mut candidates: Vec<&CallMade> = self.calls.iter().filter(there).collect();
        candidates.sort_by_key(|c| c.flat != args);
        let found = candidates.into_iter().find(|c| {
            let mut same = |s: T, m: T| {
                let here = state.conditions.iter().fold(s, |s, c| terms.where_bit(s, *c));
                // An index of the code may wrap where it is not used: never here.
                here == m || terms.under(here, facts) == terms.under(m, facts)
            };
            c.flat.iter().zip(&args).all(|(s, m)| s == m || same(*s, *m)) && under(terms, (state.path, &state.conditions), c.path)
        });
        found.map_or(args, |c| c.flat.clone())
    }
}

impl Made {
    /// Whether the source makes this call wherever the code does.
    pub(crate) fn in_source(&self, terms: &mut Terms, calls: &[CallMade]) -> bool {
        calls.iter().any(|c| c.func == self.func && c.flat == self.args && under(terms, (self.path, &self.conditions), c.path))
    }

    /// Whether the source makes a call with these arguments on the samples.
    pub(crate) fn is_on_samples(&self, terms: &Terms, calls: &[CallMade]) -> bool {
        let all: Vec<usize> = (0..terms.samples()).collect();
        calls.iter().any(|c| c.func == self.func && alike(terms, &c.flat, &self.args, &all))
    }

    /// How this call differs from those of the source, of both sides.
    pub(crate) fn unlike(&self, terms: &Terms, calls: &[CallMade]) -> (String, String) {
        if let Some(same) = calls.iter().find(|c| c.func == self.func && c.flat == self.args) {
            let when = |path: T| format!("it where {}", terms.show(path, 3));
            return (when(self.path), when(same.path));
        }
        let known = |k: usize, a: &T| calls.iter().any(|c| c.func == self.func && c.flat.get(k) == Some(a));
        let k = self.args.iter().enumerate().position(|(k, a)| !known(k, a));
        let code = k.map_or("each argument fits another call".into(), |k| format!("argument word {k}: {}", terms.show(self.args[k], 3)));
        (code, "no such call".into())
    }
}

/// Whether the values on these samples are the same.
fn alike(terms: &Terms, a: &[T], b: &[T], samples: &[usize]) -> bool {
    let same = |(x, y): (&T, &T)| x == y || samples.iter().all(|n| terms.sample(*x, *n) == terms.sample(*y, *n));
    a.len() == b.len() && a.iter().zip(b).all(same)
}

/// Where the path is taken, `b` is 1.
fn under(terms: &mut Terms, (path, conditions): (T, &[T]), b: T) -> bool {
    implies(terms, path, b) || conditions.iter().any(|c| implies(terms, *c, b))
}

/// Where `a` is 1, so is `b`.
fn implies(terms: &mut Terms, a: T, b: T) -> bool {
    let not = terms.not_bit(b);
    let both = terms.and(a, not, 1);
    terms.same_bits(both, Terms::ZERO) || terms.never_all(&[a, not])
}
