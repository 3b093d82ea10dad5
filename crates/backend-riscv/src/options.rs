//! What is asked of the back end, and what it has no code for.
//! Trusted: nothing: the certifier looks at the bytes.

/// For what machine, and what functions are called.
#[derive(Clone, Debug)]
pub struct Options {
    /// Bits of a register.
    pub xlen: u32,
    /// Sums with a shifted addend are instructions.
    pub zba: bool,
    /// Rotations are instructions.
    pub zbb: bool,
    /// The symbol of each function of the module. Where that is not the name of an exported function, a function of this name stands around it,
    /// which overwrites the stack that was used and the registers that callers save.
    pub symbols: Vec<String>,
    /// `None`: every instruction takes its own time, whatever stands around it.
    pub latency: Option<Latency>,
    /// The groups of [`crate::forms`] are executed as one.
    pub fused: bool,
}

/// Slots of the machine from an instruction to the use of its result; 1: the next one may use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Latency {
    /// Of words.
    pub load: usize,
    /// Of bytes and half words.
    pub narrow_load: usize,
    /// To the use of a product.
    pub multiply: usize,
}

impl Default for Latency {
    /// Of machines that say nothing: as on many small cores.
    fn default() -> Latency {
        Latency { load: 2, narrow_load: 3, multiply: 3 }
    }
}

/// What there is no code for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotEmitted {
    pub func: String,
    pub what: String,
}

impl std::fmt::Display for NotEmitted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.func, self.what)
    }
}

impl std::error::Error for NotEmitted {}
