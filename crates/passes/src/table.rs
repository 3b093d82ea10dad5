//! The one table of passes.
//!
//! Needs: the passes.  Keeps: order, names, documentation, trust class and levels, which the command line, the pages and
//! the ablation switches are derived from.  Absent: options, see [`crate::PassOptions`].

use crate::options::{Level, PassOptions};
use santoku_ir::Program;

/// Why a pass may be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Its rewrites hold by a proof made once.
    Proved,
    /// Every run of it is checked by the equivalence checker.
    Checked,
    /// Believed, for the reason stated.
    Trusted,
}

/// A rewrite of a whole program.
pub type Rewrite = fn(&Program, &PassOptions) -> Program;

/// One pass.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Name on the command line (`--without NAME`, `--dump-after NAME`) and of its page.
    pub name: &'static str,
    /// One sentence.
    pub doc: &'static str,
    pub class: Class,
    /// What the class rests on.
    pub why: &'static str,
    /// It replaces calls by bodies: its check executes the calls that went.
    pub expands: bool,
    /// Levels that run it.
    pub levels: &'static [Level],
    pub run: Rewrite,
}

impl Pass {
    pub fn runs_at(&self, level: Level) -> bool {
        self.levels.contains(&level)
    }
}

const ALL: &[Level] = &Level::ALL;
const OPT: &[Level] = &[Level::O1, Level::O2, Level::O3, Level::Os];
const FAST: &[Level] = &[Level::O1, Level::O2, Level::O3];
const FASTER: &[Level] = &[Level::O2, Level::O3];

const EQUAL: &str = "the function before and after is executed symbolically; the results must be the same terms";

/// Every pass, in the order in which it first runs.
pub static TABLE: &[Pass] = &[
    Pass {
        name: "inline",
        doc: "Replaces calls of small functions, and of functions marked `@inline`, by their bodies.",
        class: Class::Checked,
        why: "the function before and after is executed symbolically, inlined calls included, to the same terms",
        expands: true,
        levels: OPT,
        run: crate::inline::run,
    },
    Pass {
        name: "first-row-init",
        doc: "Starts an accumulator with its first summand instead of zero.",
        class: Class::Checked,
        why: EQUAL,
        expands: false,
        levels: OPT,
        run: crate::first_row_init::run,
    },
    Pass {
        name: "loop-fusion",
        doc: "Joins neighbouring loops into one, so that a value is used while it is at hand.",
        class: Class::Checked,
        why: EQUAL,
        expands: false,
        levels: OPT,
        run: crate::loop_fusion::run,
    },
    Pass {
        name: "unroll",
        doc: "Replaces loops with a small constant trip count by copies of their body.",
        class: Class::Checked,
        why: EQUAL,
        expands: false,
        levels: OPT,
        run: crate::unroll::run,
    },
    Pass {
        name: "const-fold",
        doc: "Computes constants and applies identities such as `x + 0` and `x ^ x`.",
        class: Class::Checked,
        why: EQUAL,
        expands: false,
        levels: OPT,
        run: crate::const_fold::run,
    },
    Pass {
        name: "array-to-scalar",
        doc: "Gives each element of an array that is indexed by constants only a variable of its own.",
        class: Class::Checked,
        why: EQUAL,
        expands: false,
        levels: FAST,
        run: crate::array_to_scalar::run,
    },
    Pass {
        name: "copy-prop",
        doc: "Reads the original instead of its copy.",
        class: Class::Checked,
        why: EQUAL,
        expands: false,
        levels: OPT,
        run: crate::copy_prop::run,
    },
    Pass {
        name: "cse",
        doc: "Computes a repeated expression once.",
        class: Class::Checked,
        why: EQUAL,
        expands: false,
        levels: FASTER,
        run: crate::cse::run,
    },
    Pass {
        name: "copy-free",
        doc: "Builds results where they are wanted instead of copying them there.",
        class: Class::Checked,
        why: EQUAL,
        expands: false,
        levels: OPT,
        run: crate::copy_free::run,
    },
    Pass {
        name: "dead-code",
        doc: "Removes assignments, calls, loops and variables that no result depends on.",
        class: Class::Checked,
        why: EQUAL,
        expands: false,
        levels: OPT,
        run: crate::dead_code::run,
    },
    Pass {
        name: "dead-functions",
        doc: "Removes functions that nothing exported reaches.",
        class: Class::Checked,
        why: "the functions that stay must have the same text, and every root must stay",
        expands: false,
        levels: OPT,
        run: crate::dead_functions::run,
    },
    Pass {
        name: "derive-width",
        doc: "Writes the proven range on every exact integer, so that the back end picks the narrowest machine type.",
        class: Class::Checked,
        why: "every range written is proved again from the text, and the function must stay equal",
        expands: false,
        levels: ALL,
        run: crate::derive_width::run,
    },
    Pass {
        name: "drop-asserts",
        doc: "Removes proved assertions and loop invariants, which no machine code is made for.",
        class: Class::Checked,
        why: EQUAL,
        expands: false,
        levels: ALL,
        run: crate::drop_asserts::run,
    },
];

/// The run order. Cleaning passes run again after those that make work for them.
pub static PIPELINE: &[&str] = &[
    "inline",
    "const-fold",
    "copy-prop",
    "dead-code",
    "first-row-init",
    "loop-fusion",
    "unroll",
    "const-fold",
    "array-to-scalar",
    "copy-prop",
    "const-fold",
    "copy-prop",
    "cse",
    "copy-free",
    "dead-code",
    "dead-functions",
    "derive-width",
    "drop-asserts",
    "dead-code",
];

/// A pass by name.
pub fn find(name: &str) -> Option<&'static Pass> {
    TABLE.iter().find(|p| p.name == name)
}
