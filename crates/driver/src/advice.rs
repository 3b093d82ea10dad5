//! What is said to an obligation that stayed open: its title, and a way out that fits what is known of it.

use santoku_prove::obligation::{Kind, Obligation, Outcome};

pub(crate) struct Advice {
    pub code: &'static str,
    pub title: &'static str,
    pub help: &'static str,
    /// Of `docs/how-to-get-a-proof.md`, if one fits.
    pub section: Option<&'static str>,
}

/// What to read about it.
pub(crate) fn read(code: &str, section: Option<&str>) -> String {
    section.map_or_else(|| format!("`santoku explain {code}`"), |s| format!("`santoku explain proof {s}`"))
}

pub(crate) fn advice(o: &Obligation) -> Advice {
    let (help, section) = way_out(o);
    Advice { code: o.kind.name(), title: title(o.kind), help, section }
}

fn title(kind: Kind) -> &'static str {
    match kind {
        Kind::Range => "an integer may leave its range",
        Kind::Index => "an index may lie outside its array",
        Kind::Shift => "a shift count may reach the width of the word",
        Kind::Defined => "a value may be read before it is assigned",
        Kind::Assert => "an assertion or invariant is not proved",
        Kind::Requires => "a call may break what the callee requires",
        Kind::Ensures => "a function may break what it ensures",
        Kind::Width => "an intermediate value needs more than 128 bits",
        Kind::Total => "a function may not end for some input",
        Kind::Secrecy => "a secret steers time or addresses",
        Kind::Pass => "a pass is not shown to keep the meaning of a function",
    }
}

type WayOut = (&'static str, Option<&'static str>);

fn way_out(o: &Obligation) -> WayOut {
    let Outcome::Failed { reason, witness, origin } = &o.outcome else { return ("", None) };
    let seen = witness.is_some();
    if o.undecided() {
        return ("make the specification smaller: fewer values under `sum` and `forall`, no double recursion, `pow` for powers", Some("specification"));
    }
    match o.kind {
        Kind::Range if o.text.starts_with("the counter") => ("leave out the range of the counter, or narrow the bounds of the loop", Some("range")),
        Kind::Range if origin.as_ref().is_some_and(|o| o.found.0.is_none() || o.found.1.is_none()) => {
            ("the loop lets it grow: say with `invariant` what bounds it in each round", Some("invariant"))
        }
        Kind::Range if is_element(&o.text) => ("carry before: move what exceeds the limb into the next one; or widen the declared range", Some("carry")),
        Kind::Range if seen => ("the witness leaves the range: narrow what flows in, or widen the declared range", Some("range")),
        Kind::Range => ("narrow what flows in, widen the declared range, or say with `assert` or `invariant` what keeps it inside", Some("range")),
        Kind::Index => ("narrow the bounds of the loop, or check the index with a public `if`", None),
        Kind::Shift => ("narrow the range of the count", None),
        Kind::Defined => ("give the variable a value, or assign every element before", None),
        Kind::Assert if seen => ("the witness breaks it: correct the condition, or what comes before it", None),
        Kind::Assert if o.text.ends_with("(behind a round)") => {
            ("give what a round does to a function that ensures it, of words above all; or say with `assert` what the claim follows from", Some("message"))
        }
        Kind::Assert => ("say what it follows from: an `assert` before it, an `invariant` of the loop it stands in, or a narrower range", Some("invariant")),
        Kind::Requires if seen => ("the witness breaks it: establish the condition before the call, or require it of your callers", Some("claim")),
        Kind::Requires => ("establish the condition before the call, require it of your callers, or give the claim a name that travels with the value", Some("claim")),
        Kind::Ensures if seen => ("the witness shows where they differ: correct the function or the clause", None),
        Kind::Ensures if too_much(reason) => ("cut the body: say with `assert` what named values are, or give each step to a function that ensures it", Some("cut")),
        Kind::Ensures if compares(&o.text) => ("compare from the lowest limb up with a borrow, so that one number decides; or ensure the values and not the order", Some("limbs")),
        Kind::Ensures if reason.contains("false on sample inputs") => ("what is left over should be zero: compare its first terms with the body, where a factor or a carry is missing; or correct the clause", Some("cut")),
        Kind::Ensures => ("no input is known that breaks it: look at the statement named above, and cut the body: say with `assert` what named values are, or give each step to a function that ensures it", Some("cut")),
        Kind::Width if reason.contains("inf:") => ("the loop lets it grow: say with `invariant` what bounds it in each round", Some("invariant")),
        Kind::Width => ("carry or reduce before multiplying", Some("carry")),
        Kind::Total => ("narrow the bounds of its loops", None),
        Kind::Secrecy if reason.contains("in a time that") => ("compute it with narrower words, whose time is fixed there, or build for another target", None),
        Kind::Secrecy if reason.contains("takes a time that") => ("divide by a power of two, or multiply by an inverse", None),
        Kind::Secrecy => ("select with `if` on values instead of branching; index by public values only", Some("secret-index")),
        Kind::Pass => ("leave it out with `--without`, and report it", None),
    }
}

/// "`e` fits `r[i]`": what is written is a limb.
fn is_element(claim: &str) -> bool {
    claim.rsplit('`').nth(1).is_some_and(|place| place.contains('['))
}

fn too_much(reason: &str) -> bool {
    ["budget", "symbolic execution stopped", "outside of what the prover follows"].iter().any(|w| reason.contains(w))
}

/// A truth value that says how two numbers lie to each other.
fn compares(clause: &str) -> bool {
    [" < ", " <= ", " > ", " >= "].iter().any(|op| clause.contains(op))
}
