//! The table of the pipeline.

use santoku_passes::{Class, TABLE};

/// A stage or pass, in the order in which it first runs.
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    pub name: &'static str,
    /// One sentence.
    pub doc: &'static str,
    /// None: a checker, which makes nothing that must be believed.
    pub class: Option<Class>,
    /// What the class rests on.
    pub why: &'static str,
}

/// Stages before the passes.
const FRONT: &[Stage] = &[
    Stage { name: "load", doc: "Reads the file and everything it imports.", class: Some(Class::Trusted), why: "texts are taken as given" },
    Stage {
        name: "sema",
        doc: "Parses, resolves names, checks types and secrecy, evaluates constants, makes instances.",
        class: Some(Class::Trusted),
        why: "the meaning of a program is what it produces; the verifier and the prover judge the result",
    },
    Stage { name: "verify", doc: "Checks that the core program is well formed.", class: None, why: "a checker" },
    Stage { name: "prove", doc: "Proves ranges, indices, contracts, termination and secrecy.", class: None, why: "a checker" },
];

/// Stages behind the passes.
const BACK: &[Stage] = &[
    Stage {
        name: "backend-c",
        doc: "Prints C99: every integer in the narrowest machine type its proven range allows.",
        class: Some(Class::Checked),
        why: "the text is read back and compared with the program, statement by statement",
    },
    Stage { name: "c-judge", doc: "Reads the C back.", class: None, why: "a checker" },
];

/// Names of what the C printer decides and can do without, each with a sentence.
pub fn c_decisions() -> impl Iterator<Item = (&'static str, &'static str)> {
    santoku_backend_c::DECISIONS.iter().map(|d| (d.name, d.doc))
}

/// Names of the passes of layouts, in their order.
pub fn layout_passes() -> impl Iterator<Item = &'static str> {
    santoku_layout::TABLE.iter().map(|p| p.name)
}

/// The whole pipeline, passes included. Those of layouts run with `--layout`.
pub fn stages() -> Vec<Stage> {
    let laid_out = |p: &santoku_layout::LayoutPass| Stage { name: p.name, doc: p.doc, class: Some(Class::Checked), why: p.why };
    let pass = |p: &santoku_passes::Pass| Stage { name: p.name, doc: p.doc, class: Some(p.class), why: p.why };
    FRONT.iter().copied().chain(TABLE.iter().map(pass)).chain(santoku_layout::TABLE.iter().map(laid_out)).chain(BACK.iter().copied()).collect()
}
