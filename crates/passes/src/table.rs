//! The one table of passes.
//!
//! Needs: the passes.  Keeps: order, names, documentation, trust class and levels, which the command line, the pages and
//! the ablation switches are derived from.  Absent: options, see [`crate::PassOptions`].
//! Trusted: c.

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
    /// A variable it makes may not be seen to be assigned where the array element before it was.
    pub may_lose_assignment: bool,
    /// The ranges on expressions are its work and are proved again. What runs later may only leave statements out.
    pub writes_ranges: bool,
    /// What both functions give for every input is known from runs; no terms are compared.
    pub on_all_inputs: bool,
    /// It leaves locals behind that nothing mentions; they go after its check.
    pub leaves_locals: bool,
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

/// What most passes are.
const PLAIN: Pass = Pass {
    name: "",
    doc: "",
    class: Class::Checked,
    why: EQUAL,
    expands: false,
    may_lose_assignment: false,
    writes_ranges: false,
    on_all_inputs: false,
    leaves_locals: false,
    levels: OPT,
    run: |program, _| program.clone(),
};

/// Every pass, in the order in which it first runs.
pub static TABLE: &[Pass] = &[
    Pass {
        name: "tables",
        doc: "Gives functions that apply a `table` their gates in place of a scan of all entries.",
        why: "the function before and after is run on every input of the table",
        on_all_inputs: true,
        levels: ALL,
        run: crate::tables::run,
        ..PLAIN
    },
    Pass {
        name: "perms",
        doc: "Gives functions that apply a `perm` few operations in place of one bit after the other.",
        why: "the function before and after is linear, and is run on zero and on every single bit",
        on_all_inputs: true,
        levels: ALL,
        run: crate::perms::run,
        ..PLAIN
    },
    Pass {
        name: "inline",
        doc: "Replaces calls of small functions, and of functions marked `@inline`, by their bodies.",
        why: "the function before and after is executed symbolically, inlined calls included, to the same terms",
        expands: true,
        run: crate::inline::run,
        ..PLAIN
    },
    Pass {
        name: "first-row-init",
        doc: "Starts an accumulator with its first summand instead of zero.",
        run: crate::first_row_init::run,
        ..PLAIN
    },
    Pass {
        name: "loop-fusion",
        doc: "Joins neighbouring loops into one, so that a value is used while it is at hand.",
        run: crate::loop_fusion::run,
        ..PLAIN
    },
    Pass {
        name: "unroll",
        doc: "Replaces loops with a small constant trip count by copies of their body.",
        run: crate::unroll::run,
        ..PLAIN
    },
    Pass {
        name: "const-fold",
        doc: "Computes constants and applies identities such as `x + 0` and `x ^ x`.",
        run: crate::const_fold::run,
        ..PLAIN
    },
    Pass {
        name: "array-to-scalar",
        doc: "Gives each element of an array that is indexed by constants only a variable of its own.",
        levels: FAST,
        run: crate::array_to_scalar::run,
        may_lose_assignment: true,
        ..PLAIN
    },
    Pass {
        name: "copy-prop",
        doc: "Reads the original instead of its copy.",
        run: crate::copy_prop::run,
        ..PLAIN
    },
    Pass {
        name: "cse",
        doc: "Computes a repeated expression once.",
        levels: FASTER,
        run: crate::cse::run,
        ..PLAIN
    },
    Pass {
        name: "copy-free",
        doc: "Builds results where they are wanted instead of copying them there.",
        levels: ALL,
        run: crate::copy_free::run,
        ..PLAIN
    },
    Pass {
        name: "dead-code",
        doc: "Removes assignments, calls, loops and variables that no result depends on.",
        run: crate::dead_code::run,
        leaves_locals: true,
        ..PLAIN
    },
    Pass {
        name: "dead-functions",
        doc: "Removes functions that nothing exported reaches.",
        why: "the functions that stay must have the same text, and every root must stay",
        run: crate::dead_functions::run,
        ..PLAIN
    },
    Pass {
        name: "derive-width",
        doc: "Writes the proven range on every exact integer, so that the back end picks the narrowest machine type.",
        why: "every range written is proved again from the text, which must otherwise stay the same or compute the same",
        levels: ALL,
        run: crate::derive_width::run,
        writes_ranges: true,
        ..PLAIN
    },
    Pass {
        name: "drop-asserts",
        doc: "Removes proved assertions and loop invariants, which no machine code is made for.",
        levels: ALL,
        run: crate::drop_asserts::run,
        ..PLAIN
    },
];

/// The run order. Cleaning passes run again after those that make work for them.
pub static PIPELINE: &[&str] = &[
    "tables",
    "perms",
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
