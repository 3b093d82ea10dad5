//! Registers that a value had better have: the one that another way, or the round before, brought it in.
//! Trusted: nothing: the certifier looks at the bytes.

use crate::code::{Code, Inst};
use crate::flow::number;
use crate::mach::X;
use std::collections::{BTreeSet, HashMap};

/// How many names a value is followed through.
const FOLLOWED: usize = 4;

pub(super) struct Hints {
    /// The name under which a value goes on where ways meet.
    becomes: HashMap<u32, u32>,
    /// Where the first way brought what several ways bring.
    settled: HashMap<u32, X>,
    /// All of these registers.
    expected: BTreeSet<X>,
}

impl Hints {
    pub fn of(code: &Code) -> Hints {
        let moves = code.insts.iter().filter_map(|i| match i {
            Inst::Move(all) => Some(all),
            _ => None,
        });
        let becomes = moves.flatten().filter_map(|(d, s)| Some((number(*s)?, number(*d)?))).collect();
        Hints { becomes, settled: HashMap::new(), expected: BTreeSet::new() }
    }

    /// A value has come under this name.
    pub fn settle(&mut self, v: u32, x: X) {
        let x = *self.settled.entry(v).or_insert(x);
        self.expected.insert(x);
    }

    pub fn is_expected(&self, x: X) -> bool {
        self.expected.contains(&x)
    }

    pub fn of_value(&self, v: u32) -> Option<X> {
        let names = std::iter::successors(Some(v), |v| self.becomes.get(v).copied());
        names.take(FOLLOWED).find_map(|v| self.settled.get(&v).copied())
    }
}
