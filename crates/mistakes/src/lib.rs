//! The prover with wrong rules in it, one at a time, for the judges to refuse what comes of them.
//!
//! Beside it, as the module `numbers`, `num` with wrong lines in it, for the tests of `num` to fail.
//!
//! Needs: the sources of `prove` and `num`, which the build copies, and the tables in `mistakes`.  Keeps: with no mistake made the copy is the prover;
//! the judges, and the numbers that both use, are the real ones.  Absent on purpose: use by anything but this package's tests.
#![allow(warnings)]

include!(concat!(env!("OUT_DIR"), "/prove/lib.rs"));

/// Which mistake is being made. Of one thread: a run of the engines does not leave the thread it began in.
pub mod mistake {
    use std::cell::{Cell, RefCell};
    use std::collections::BTreeSet;

    thread_local! {
        static MADE: Cell<Option<usize>> = const { Cell::new(None) };
        static BLIND: Cell<bool> = const { Cell::new(false) };
        static MET: RefCell<BTreeSet<usize>> = const { RefCell::new(BTreeSet::new()) };
    }

    /// Whether mistake number `nr` of the table is being made; asked where it would be.
    pub fn made(nr: usize) -> bool {
        match MADE.get() {
            // All that could have been made here.
            None => {
                MET.with_borrow_mut(|m| m.insert(nr));
                false
            }
            made => made == Some(nr),
        }
    }
    /// `f` with a mistake being made, or none.
    pub fn with<T>(nr: Option<usize>, f: impl FnOnce() -> T) -> T {
        let outer = MADE.replace(nr);
        let out = f();
        MADE.set(outer);
        out
    }
    /// Whether the algebra leaves its steps uncompared with sample inputs.
    pub fn blind() -> bool {
        BLIND.get()
    }
    /// `f` without such comparisons, or with them.
    pub fn blindly<T>(blind: bool, f: impl FnOnce() -> T) -> T {
        let outer = BLIND.replace(blind);
        let out = f();
        BLIND.set(outer);
        out
    }
    /// The mistakes that could have been made since this was asked before.
    pub fn met() -> BTreeSet<usize> {
        MET.take()
    }
}
