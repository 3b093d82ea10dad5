//! Why a program cannot be printed.

/// Why a program cannot be printed as C for the chosen target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmitError {
    /// A value needs more than the widest integer of the target (`bits`: what it needs).
    TooWide { func: String, bits: u64, widest: u32, loc: santoku_ir::Loc },
    /// An occurrence carries no proven range: the width pass did not run or did not reach it.
    Unannotated { func: String, what: String, loc: santoku_ir::Loc },
    /// A function is to have a C name that it cannot have.
    Name { name: String, why: String, loc: santoku_ir::Loc },
    /// A local array whose greatest length is unknown, or too great: C has to set its storage aside.
    Storage { func: String, array: String, length: String, loc: santoku_ir::Loc },
    /// A construct this back end does not print.
    Unsupported { func: String, what: String, loc: santoku_ir::Loc },
    /// The text that was printed is not what the program says: a mistake of this back end.
    Misprinted(santoku_c_judge::Refused),
}

/// Bytes that a local array of run-time length may take.
pub const LOCAL_BYTES: u64 = 1 << 16;

impl std::fmt::Display for EmitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            EmitError::TooWide { func, bits, widest, .. } => {
                write!(f, "`{func}` computes an integer of {bits} bits, the target has at most {widest}")
            }
            EmitError::Name { name, why, .. } => write!(f, "`{name}` cannot be the C name of a function: {why}"),
            EmitError::Unannotated { func, what, .. } => write!(f, "`{func}`: no proven range for {what}"),
            EmitError::Storage { func, array, length, .. } => {
                write!(f, "`{func}`: the array `{array}` does not become a result, and C has to set storage aside for the greatest `{length}`, which is not known to fit {LOCAL_BYTES} bytes")
            }
            EmitError::Misprinted(refused) => write!(f, "the C text is not the program: {refused}"),
            EmitError::Unsupported { func, what, .. } => write!(f, "`{func}`: {what}"),
        }
    }
}

impl std::error::Error for EmitError {}
