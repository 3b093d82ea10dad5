//! Moves that happen at once, one after the other.
//! Trusted: nothing: the certifier looks at the bytes.

use crate::allocate::Place;

/// An order in which no place is written before it is read; what goes round takes the scratch place on its way.
pub fn ordered(moves: &[(Place, Place)], scratch: Place) -> Vec<(Place, Place)> {
    let mut left: Vec<(Place, Place)> = moves.iter().copied().filter(|(d, s)| d != s).collect();
    let mut out = vec![];
    while !left.is_empty() {
        match left.iter().position(|(d, _)| !left.iter().any(|(_, s)| s == d)) {
            Some(k) => out.push(left.remove(k)),
            None => {
                // All that is left goes round: the first one's source waits outside.
                let (_, source) = left[0];
                out.push((scratch, source));
                left.iter_mut().filter(|(_, s)| *s == source).for_each(|(_, s)| *s = scratch);
            }
        }
    }
    out
}
