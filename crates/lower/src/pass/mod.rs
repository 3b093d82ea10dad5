//! Rewrites of the lowered IR. None is believed: `certify` looks at the bytes, and tests run both sides on numbers.
//!
//! Needs: a module that [`crate::verify`] accepts.  Keeps: that it does; what exported functions compute; functions after those they call.
//! Absent: registers, latencies (the back ends).
//! Trusted: nothing: nothing that ships is made of it.

mod costs;
mod dead;
mod facts;
mod fold;
mod inline;
mod names;
mod overlay;
mod place;
mod promote;
mod root;
mod rules;
mod secrecy;
mod shared;

pub use costs::Costs;
pub use facts::Bounds;
pub use shared::sharing;

use crate::data::{Func, Inst, Module};
use rules::simpler;
use crate::legalise::Lowered;
use crate::verify::verify_one;
use santoku_ir::FuncId;
use std::collections::{BTreeMap, BTreeSet};

/// A rewrite.
pub struct Pass {
    /// Its name for `--without` and on its page.
    pub name: &'static str,
    /// One sentence.
    pub doc: &'static str,
    run: fn(&Func, &Module, &Costs) -> Func,
}

/// In the order in which each function goes through them; functions that are called go first.
pub static TABLE: &[Pass] = &[
    Pass { name: "lowered-inline", doc: "Puts short functions where they are called.", run: put_in },
    Pass { name: "lowered-promote", doc: "Keeps in registers what was in memory of the function's own, and reads nothing twice.", run: |f, _, _| promote::promote(f) },
    Pass { name: "lowered-fold", doc: "Computes constants, applies identities, and makes one carry of two.", run: folded },
    Pass { name: "lowered-place", doc: "Lets a call write its result where an argument lies.", run: |f, module, _| place::place(&dead::dead(f), module) },
    Pass { name: "lowered-overlay", doc: "Puts slots that are never in use together into the same bytes.", run: |f, _, _| overlay::overlay(&dead::dead(f)) },
    Pass { name: "lowered-dead", doc: "Removes what nothing reads.", run: |f, _, _| dead::dead(f) },
];

/// Which passes run.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Not these.
    pub without: BTreeSet<String>,
    /// None behind this one.
    pub last: Option<String>,
}

impl Choice {
    fn passes(&self) -> impl Iterator<Item = &'static Pass> + '_ {
        let end = self.last.as_ref().and_then(|last| TABLE.iter().position(|p| p.name == last));
        TABLE.iter().take(end.map_or(TABLE.len(), |k| k + 1)).filter(|p| !self.without.contains(p.name))
    }
}

/// The program with every function gone through the passes, without functions that nothing calls any more. A rewrite that [`crate::verify`] refuses is
/// dropped.
pub fn optimise(lowered: &Lowered, costs: &Costs, choice: &Choice) -> Lowered {
    let module = &lowered.module;
    let mut made = Module { funcs: vec![], ..module.clone() };
    for f in &module.funcs {
        let mut now = f.clone();
        for pass in choice.passes() {
            let next = (pass.run)(&now, &made, costs);
            made.funcs.push(next);
            // Alone, at its place: what stands before it was accepted.
            match verify_one(&made, made.funcs.len() - 1) {
                Ok(()) => now = made.funcs.pop().unwrap_or(now),
                Err(_) => drop(made.funcs.pop()),
            }
        }
        made.funcs.push(now);
    }
    called(made, &lowered.funcs)
}

/// Exported functions and what they call.
fn called(mut module: Module, funcs: &BTreeMap<FuncId, u32>) -> Lowered {
    let mut kept: BTreeSet<u32> = BTreeSet::new();
    for (k, f) in module.funcs.iter().enumerate().rev() {
        if f.export.is_some() || kept.contains(&(k as u32)) {
            kept.insert(k as u32);
            dead::calls(&f.body, &mut |g| {
                kept.insert(g);
            });
        }
    }
    let number: BTreeMap<u32, u32> = kept.iter().enumerate().map(|(new, old)| (*old, new as u32)).collect();
    let mut k = 0;
    module.funcs.retain(|_| {
        k += 1;
        kept.contains(&(k - 1))
    });
    for f in &mut module.funcs {
        f.body.each_mut(&mut |i| {
            if let Inst::Call { func, .. } = i {
                *func = number[func];
            }
        });
    }
    let funcs = funcs.iter().filter_map(|(id, old)| Some((*id, *number.get(old)?))).collect();
    Lowered { module, funcs }
}

fn put_in(f: &Func, module: &Module, costs: &Costs) -> Func {
    let made = inline::inline(f, &module.funcs, costs);
    if made == *f { made } else { secrecy::secrecy(&made, module, f.slots.len()) }
}

/// Twice: what the first walk leaves unread shows in the second.
fn folded(f: &Func, module: &Module, costs: &Costs) -> Func {
    let rules = fold::Rules { one: simpler::one, two: simpler::two };
    let once = fold::fold(&dead::dead(f), module, costs, rules);
    fold::fold(&dead::dead(&once), module, costs, rules)
}
