//! The prover with wrong rules in it, one at a time, for the judges to refuse what comes of them; and its numbers with wrong lines, for their tests to see.
//!
//! The build copies the sources of `prove` and `num` and puts the wrong expressions of the tables in `mistakes` beside the right ones. `tests/mistakes`
//! compiles the copy, with the tests inside those files; here is what chooses a mistake.
//!
//! Needs: those sources and tables.  Keeps: with no mistake made the copy is the prover; the judges, and the numbers that both use, are the real ones.
//! Absent on purpose: use by anything but this package's tests.

/// Which mistake is being made. Of one thread: a run of the engines does not leave the thread it began in.
pub mod mistake {
    use std::cell::{Cell, RefCell};
    use std::collections::BTreeSet;

    thread_local! {
        static MADE: Cell<usize> = const { Cell::new(NONE) };
        static BLIND: Cell<bool> = const { Cell::new(false) };
        static MET: RefCell<BTreeSet<usize>> = const { RefCell::new(BTreeSet::new()) };
    }

    /// Numbers of no mistake: none is made, and none is made but all are noted that could have been.
    const NONE: usize = usize::MAX;
    const NOTED: usize = usize::MAX - 1;

    /// Whether mistake number `nr` of the table is being made; asked where it would be.
    pub fn made(nr: usize) -> bool {
        let made = MADE.get();
        if made == NOTED {
            MET.with_borrow_mut(|m| m.insert(nr));
        }
        made == nr
    }
    /// `f` without a mistake, and those that could have been made.
    pub fn noted<T>(f: impl FnOnce() -> T) -> (T, BTreeSet<usize>) {
        let outer = MADE.replace(NOTED);
        let out = f();
        MADE.set(outer);
        (out, MET.take())
    }
    /// `f` with a mistake being made, or none.
    pub fn with<T>(nr: Option<usize>, f: impl FnOnce() -> T) -> T {
        let Some(nr) = nr else { return f() };
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
}
