//! Results and parameters that are one object.
//!
//! Needs: pairs of positions.  Keeps: parameters in the place of one result have one value, on both sides.  Absent: which pairs
//! a caller makes.

use santoku_ir::Func;
use std::collections::BTreeSet;

/// Results and parameters, by position, that are the same object.
pub type Shared = Vec<(usize, usize)>;

/// Every result has the object of parameters that are like each other, and every other parameter one of its own.
pub(crate) fn modelled(f: &Func, shared: &[(usize, usize)]) -> bool {
    let params: BTreeSet<usize> = shared.iter().map(|(_, p)| *p).collect();
    let like = |(_, p): &(usize, usize)| {
        let (a, b) = (f.local(f.params[twin(shared, *p).unwrap_or(*p)]), f.local(f.params[*p]));
        a.ty == b.ty && a.public == b.public
    };
    params.len() == shared.len() && shared.iter().all(like)
}

/// The first parameter that is one object with `p` and a result, if that is not `p`.
pub(crate) fn twin(shared: &[(usize, usize)], p: usize) -> Option<usize> {
    let (r, _) = shared.iter().find(|(_, x)| *x == p)?;
    shared.iter().find(|(x, _)| x == r).map(|(_, first)| *first).filter(|first| *first != p)
}

/// Gives parameters that are one object one value.
pub(crate) fn unite<V: Clone>(shared: &[(usize, usize)], args: &mut [V]) {
    for (_, p) in shared {
        if let Some(first) = twin(shared, *p) {
            args[*p] = args[first].clone();
        }
    }
}
