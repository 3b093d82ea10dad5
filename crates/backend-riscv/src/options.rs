//! What is asked of the back end, and what it has no code for.
//! Trusted: nothing: the certifier looks at the bytes.

use crate::tuning::Tuning;
use std::collections::BTreeMap;

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
    /// Short code and small frames count for more than fast code.
    pub short: bool,
    /// What a search found, by the function's name in the module.
    pub tuned: BTreeMap<String, Tuning>,
}

/// Slots of the machine from an instruction to the use of its result; 1: the next one may use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Latency {
    /// Of words.
    pub load: usize,
    /// Of bytes and half words.
    pub narrow_load: usize,
    pub product: Product,
}

/// How a multiplier gives its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// So many slots later, and takes the next operands at once.
    Pipelined { slots: usize },
    /// `earliest` slots later, but in a slot in which no other instruction writes a register. `after` slots behind that it is there, and the
    /// multiplier takes operands again.
    Late { earliest: usize, after: usize },
}

impl Product {
    /// From the operands to the result, if nothing is in the way.
    pub fn slots(self) -> usize {
        match self {
            Product::Pipelined { slots } => slots,
            Product::Late { earliest, after } => earliest + after,
        }
    }
}

impl Default for Latency {
    /// Of machines that say nothing: as on many small cores.
    fn default() -> Latency {
        Latency { load: 2, narrow_load: 3, product: Product::Pipelined { slots: 3 } }
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
