//! Moves that happen at once, one after the other.
//! Trusted: nothing: the certifier looks at the bytes.

use crate::mach::X;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub to: X,
    pub from: X,
}

/// An order in which no register is written before it is read; what goes round takes the scratch register on its way, without which there is no such
/// order.
pub fn ordered(moves: &[(X, X)], scratch: Option<X>) -> Option<Vec<Step>> {
    let mut left: Vec<(X, X)> = moves.iter().copied().filter(|(d, s)| d != s).collect();
    let mut out = vec![];
    while !left.is_empty() {
        match left.iter().position(|(d, _)| !left.iter().any(|(_, s)| s == d)) {
            Some(k) => {
                let (to, from) = left.remove(k);
                out.push(Step { to, from });
            }
            None => {
                // All that is left goes round: the first one's source waits outside.
                let (_, source) = left[0];
                let scratch = scratch?;
                out.push(Step { to: scratch, from: source });
                left.iter_mut().filter(|(_, s)| *s == source).for_each(|(_, s)| *s = scratch);
            }
        }
    }
    Some(out)
}
