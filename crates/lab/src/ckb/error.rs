//! Why a CKB-VM run gave no result.

/// Failures of loading and running a program.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CkbError {
    /// Not a program CKB-VM loads.
    #[error("not a CKB-VM program: {reason}. It must be a static 64-bit RISC-V ELF with no segment both writable and executable")]
    Elf {
        /// What the loader said.
        reason: String,
    },
    /// No variable of this name in the ELF's symbol table.
    #[error("the program has no variable `{name}`: it must be a global, used, and not stripped")]
    NoVariable {
        /// Name asked for.
        name: String,
    },
    /// The variable cannot be accessed.
    #[error("variable `{name}`: {reason}; inputs must not be const")]
    Variable {
        /// Name.
        name: String,
        /// What the VM's memory said.
        reason: String,
    },
    /// More input than the variable holds.
    #[error("input of {len} bytes does not fit variable `{name}` of {room} bytes")]
    Input {
        /// Name.
        name: String,
        /// Bytes given.
        len: usize,
        /// Bytes the variable has.
        room: u64,
    },
    /// The VM stopped the program.
    #[error("stopped at {pc:#x} in `{function}`: {reason}")]
    Trap {
        /// Program counter.
        pc: u64,
        /// Function it lies in.
        function: String,
        /// What the VM said.
        reason: String,
    },
    /// The program did not end within its cycles.
    #[error("not finished after {max_cycles} cycles")]
    Cycles {
        /// The limit given.
        max_cycles: u64,
    },
    /// The program ended, with another code than it should.
    #[error("ended with code {found}, not {expected}{}", .debug.iter().map(|l| format!("\n  it said: {l}")).collect::<String>())]
    Exit {
        /// Code expected.
        expected: i8,
        /// Code found.
        found: i8,
        /// What it printed.
        debug: Vec<String>,
    },
    /// Our own fault.
    #[error("internal error in lab::ckb: {0}")]
    Internal(String),
}

impl CkbError {
    /// The VM's refusal to go on, at `pc` in a function.
    pub(super) fn trap(error: ckb_vm::Error, pc: u64, function: String, max_cycles: u64) -> Self {
        match error {
            ckb_vm::Error::CyclesExceeded => CkbError::Cycles { max_cycles },
            other => CkbError::Trap { pc, function, reason: other.to_string() },
        }
    }
}
