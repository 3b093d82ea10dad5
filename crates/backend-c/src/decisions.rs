//! What the printer decides where C has several texts for one program. Each decision can be left out by its name: the text is then longer or
//! slower, and `c-judge` reads it back all the same.
//!
//! Needs: nothing.  Keeps: whatever is decided, a text that computes anything else is refused.  Absent: the machine types of integers, which the
//! pass `derive-width` decides by the ranges that it writes; what is settled ([`crate::settle`]), which `c-judge` takes for settled, too.
//! Page: docs/c-text.md.  Tests: src/decided_tests.rs.

use crate::alias::InPlace;
use crate::ctype::CInt;
use crate::scope::BlockPath;
use santoku_ir::{Func, LocalId, Range};
use std::collections::{BTreeMap, BTreeSet};

/// A decision.
pub struct Decision {
    /// Its name for `--without` and on its page.
    pub name: &'static str,
    /// One sentence.
    pub doc: &'static str,
    leave_out: fn(&mut Decisions),
}

/// In the order in which they are made.
pub static DECISIONS: &[Decision] = &[
    Decision { name: "c-in-place", doc: "Lets a result lie where an argument lies, if no element is read after it was written.", leave_out: |d| d.in_place = |f, _| InPlace::none(f) },
    Decision { name: "c-one-object", doc: "Makes one object of a result and the variable that becomes it.", leave_out: |d| d.one_object = |_| None },
    Decision { name: "c-callee-types", doc: "Gives an array that is handed to a call the element type of the callee, so that it is not converted.", leave_out: |d| d.adopts = |_, _, _| false },
    Decision { name: "c-blocks", doc: "Declares a variable in the innermost block that has all its uses.", leave_out: |d| d.blocks = crate::scope::at_the_head },
    Decision { name: "c-carries", doc: "Finds the carry of a sum of two numbers of 64 bits by a comparison.", leave_out: |d| d.carries = |_| false },
    Decision { name: "c-low-bits", doc: "Computes what is needed modulo a power of two in the narrowest type that has so many bits.", leave_out: |d| d.low_bits = |_| None },
];

/// How each is made.
#[derive(Clone, Copy, Debug)]
pub struct Decisions {
    /// Which results may lie where which arguments lie, by the answers for callees.
    pub(crate) in_place: fn(&Func, &[InPlace]) -> InPlace,
    /// The variable, and the result that it becomes.
    pub(crate) one_object: fn(&Func) -> Option<(LocalId, LocalId)>,
    /// Whether elements of the first type, with values in a range, are stored as the second.
    pub(crate) adopts: fn(CInt, CInt, Option<&Range>) -> bool,
    /// Locals to declare at the head of each block.
    pub(crate) blocks: fn(&Func) -> BTreeMap<BlockPath, Vec<LocalId>>,
    /// Whether what a sum leaves behind a shift by so many bits is its carry.
    pub(crate) carries: fn(u32) -> bool,
    /// The width in which a value is computed of which so many low bits count; none: in its own.
    pub(crate) low_bits: fn(u32) -> Option<u32>,
}

impl Default for Decisions {
    /// All.
    fn default() -> Decisions {
        Decisions {
            in_place: InPlace::of,
            one_object: crate::merge::merged,
            adopts: crate::ctype::adopts,
            blocks: crate::scope::place_locals,
            carries: |k| k == 64,
            low_bits: |k| Some(crate::ctype::enough(k)),
        }
    }
}

impl Decisions {
    /// All but those of these names, and the names that are of something else.
    pub fn without(names: &BTreeSet<String>) -> (Decisions, BTreeSet<String>) {
        let (mut all, mut others) = (Decisions::default(), names.clone());
        DECISIONS.iter().filter(|d| others.remove(d.name)).for_each(|d| (d.leave_out)(&mut all));
        (all, others)
    }
}
