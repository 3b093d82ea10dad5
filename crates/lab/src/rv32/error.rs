//! Why a simulated run could not be completed.

use thiserror::Error;

/// A program or image the simulator refuses or had to stop. Addresses are in the simulated machine.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SimError {
    /// Not an executable this machine can load; the text says what is wrong with it.
    #[error("not a loadable RV32 executable: {0}")]
    BadElf(String),
    /// The description of the machine lacks a cost, or has one that the model has not.
    #[error("the description of the machine: {0}")]
    Costs(String),
    /// The program counter left the loaded code.
    #[error("execution left the loaded code at {pc:#010x}")]
    FetchFault { pc: u32 },
    /// An encoding outside RV32IMC + Zicsr was reached.
    #[error("illegal instruction {bits:#010x} at {pc:#010x}")]
    IllegalInstruction { pc: u32, bits: u32 },
    /// A load or store outside flash, RAM and the bench device; stores to flash count.
    #[error("{} of {bytes} bytes at {addr:#010x} is outside memory (at {pc:#010x})", if *.store { "store" } else { "load" })]
    AccessFault { pc: u32, addr: u32, bytes: u32, store: bool },
    /// A load or store that is not naturally aligned: the E31 traps on it.
    #[error("access of {bytes} bytes at {addr:#010x} is not aligned (at {pc:#010x})")]
    Misaligned { pc: u32, addr: u32, bytes: u32 },
    /// `ecall`, or an `ebreak` that is no known semihosting request (`request` is register a0).
    #[error("trap with unknown request {request:#x} at {pc:#010x}")]
    UnknownTrap { pc: u32, request: u32 },
    /// A measuring window was opened inside another, or closed without being open.
    #[error("measuring marker out of order at {pc:#010x}")]
    UnbalancedMarker { pc: u32 },
    /// The step limit was reached before the program ended.
    #[error("no end after {steps} instructions")]
    StepLimit { steps: u64 },
    /// The image defines no such symbol, or it is smaller than the access asked for.
    #[error("the program defines no usable symbol `{0}`")]
    UnknownSymbol(String),
}
