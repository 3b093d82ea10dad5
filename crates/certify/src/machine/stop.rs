//! Why code was not followed to its end.

/// Why code could not be followed to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Halt {
    pub pc: u64,
    pub why: Why,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// A branch, an address or an operation of variable time depends on a secret: which, and the term.
    Secret(Leak, String),
    /// Memory is touched that the function may not touch.
    Memory(String),
    /// The calling convention is broken.
    Convention(String),
    /// What every call has to keep is not kept, whoever is called: the stack pointer's alignment, gp, tp, where a call returns to.
    Platform(String),
    /// Code the executor does not follow.
    Unsupported(String),
    /// A loop of run-time length that was not shown to go with a loop of the source: what it is like, and what those are.
    Loop { machine: String, source: String },
    /// A limit was reached.
    TooBig,
}

/// What would show a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leak {
    Branch,
    Address,
    Time,
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Why::Secret(leak, term) => {
                let what = match leak {
                    Leak::Branch => "a branch depends on a secret",
                    Leak::Address => "an address depends on a secret",
                    Leak::Time => "an operation whose time varies works on a secret",
                };
                write!(f, "{what}: {term}")
            }
            Why::Memory(what) | Why::Convention(what) | Why::Platform(what) | Why::Unsupported(what) => f.write_str(what),
            Why::Loop { machine, source } => write!(f, "no relation at the head of a loop: the code has {machine}, the source {source}"),
            Why::TooBig => f.write_str("the code is too long to follow"),
        }
    }
}
