//! The arguments of a call of a function that does not get all of them.
//!
//! Needs: the convention of the function called, the calls of the source.  Keeps: what is not passed has the value that the
//! convention states, or, where the function does not depend on it, the value that it has in a call of the source with the
//! same other arguments.  Absent: whether the source makes this call, which is asked at the end ([`super::made`]).

use crate::source::CallMade;
use crate::source::abi::Role;
use crate::source::convention::{Convention, Fact};
use crate::term::T;
use super::state::{Exec, State};
use num_traits::One;
use santoku_ir::FuncId;

/// One argument: its words, or none where the function does not depend on it.
type Piece = Option<Vec<T>>;

impl Exec<'_> {
    /// All arguments in order of the source. `given`: those that are passed, with the place in `params` where each begins.
    pub(super) fn all_given(
        &mut self,
        state: &State,
        func: FuncId,
        convention: &Convention,
        (lens, params, given): (&[T], &[T], &[(Role, usize)]),
    ) -> Result<Vec<T>, String> {
        let f = self.code.program.func(func);
        let passed_lens: Vec<Role> = given.iter().map(|(r, _)| *r).filter(|r| matches!(r, Role::Len(_))).collect();
        let all = (0..f.lens.len()).map(Role::Len).chain((0..f.params.len()).map(Role::Param));
        let mut pieces: Vec<Piece> = vec![];
        for role in all {
            pieces.push(match convention.0.get(&role).map(|c| &c.fact) {
                Some(Fact::Always(scalars)) => Some(scalars.iter().map(|v| self.terms.int(v.clone())).collect()),
                Some(Fact::Unread) => None,
                None if matches!(role, Role::Len(_)) => {
                    let at = passed_lens.iter().position(|r| *r == role).and_then(|k| lens.get(k));
                    Some(vec![*at.ok_or("a length is missing")?])
                }
                None => {
                    let at = given.iter().position(|(r, _)| *r == role).ok_or("an argument is missing")?;
                    let end = given.get(at + 1).map_or(params.len(), |(_, k)| *k);
                    Some(params[given[at].1..end].to_vec())
                }
            });
        }
        if pieces.iter().all(Option::is_some) {
            return Ok(pieces.into_iter().flatten().flatten().collect());
        }
        self.filled(state, func, &pieces)
    }

    /// The pieces with those of a call of the source in the place of what is missing.
    fn filled(&mut self, state: &State, func: FuncId, pieces: &[Piece]) -> Result<Vec<T>, String> {
        let here: Vec<usize> = (0..self.terms.samples()).filter(|n| self.terms.sample(state.path, *n).is_one()).collect();
        let candidates: Vec<CallMade> = self.calls.iter().filter(|c| c.func == func).cloned().collect();
        let mut found: Option<(usize, Vec<T>)> = None;
        for call in candidates {
            let lens = call.lens.iter().map(|t| vec![*t]);
            let mut theirs: Vec<Vec<T>> = lens.collect();
            for arg in &call.args {
                theirs.push(arg.flat(self.terms).map_err(|e| e.to_string())?);
            }
            if theirs.len() != pieces.len() {
                continue;
            }
            let whole: Vec<T> = pieces.iter().zip(theirs).flat_map(|(own, their)| own.clone().unwrap_or(their)).collect();
            let alike = |(a, b): (&T, &T)| a == b || here.iter().all(|n| self.terms.sample(*a, *n) == self.terms.sample(*b, *n));
            let rank = match () {
                () if whole == call.flat => 0,
                () if whole.len() == call.flat.len() && whole.iter().zip(&call.flat).all(alike) => 1,
                () => 2,
            };
            if found.as_ref().is_none_or(|(best, _)| rank < *best) {
                found = Some((rank, whole));
            }
        }
        found.map(|(_, whole)| whole).ok_or_else(|| "the source makes no call of it".into())
    }
}
