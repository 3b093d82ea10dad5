//! From functions that are accepted to what rests on nothing else.
//!
//! Needs: what each function of a file rests on.  Keeps: a function is left only if everything that stands in the file under the name of
//! a function it calls is left, for the way in which it calls it.  Absent: how symbols are found.

use santoku_ir::FuncId;
use std::collections::{BTreeMap, BTreeSet};

/// A call: the function, and its results and parameters that are one object.
pub type Call = (FuncId, Vec<(usize, usize)>);
/// Code at an address as a function, with those of its results and parameters that are one object.
pub type Judged = (u64, Call);

/// Those of `accepted`, with the calls that each rests on, that rest on no others. `places`: where functions stand in the file.
pub fn closed(accepted: &BTreeMap<Judged, BTreeSet<Call>>, places: &BTreeMap<FuncId, BTreeSet<u64>>) -> BTreeSet<Judged> {
    let mut left: BTreeSet<Judged> = accepted.keys().cloned().collect();
    loop {
        let holds = |call: &Call| {
            let at = places.get(&call.0).filter(|all| !all.is_empty());
            at.is_some_and(|all| all.iter().all(|a| left.contains(&(*a, call.clone()))))
        };
        let lost: Vec<Judged> = left.iter().filter(|j| !accepted[*j].iter().all(holds)).cloned().collect();
        if lost.is_empty() {
            return left;
        }
        left.retain(|j| !lost.contains(j));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rests_on_another_goes_with_it() {
        let (f, g, h) = (FuncId(0), FuncId(1), FuncId(2));
        let call = |f| (f, vec![]);
        let places: BTreeMap<FuncId, BTreeSet<u64>> = [(f, [1].into()), (g, [2].into()), (h, [3, 4].into())].into();
        let rests = |of: &[Call]| of.iter().cloned().collect::<BTreeSet<Call>>();
        let mut accepted = BTreeMap::from([((1, call(f)), rests(&[call(g)])), ((2, call(g)), rests(&[call(h)])), ((3, call(h)), rests(&[]))]);
        // The function stands in two places, of which one is not accepted.
        assert_eq!(closed(&accepted, &places), [(3, call(h))].into());
        accepted.insert((4, call(h)), rests(&[]));
        assert_eq!(closed(&accepted, &places).len(), 4);
        // It is called with a result in the place of a parameter, and was not judged so.
        accepted.insert((1, call(f)), rests(&[(g, vec![(0, 0)])]));
        assert_eq!(closed(&accepted, &places).len(), 3);
        // What nobody knows is not accepted.
        accepted.insert((2, call(g)), rests(&[call(FuncId(9))]));
        assert_eq!(closed(&accepted, &places).len(), 2);
    }
}
