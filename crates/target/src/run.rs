//! How programs are executed and what their instructions cost.

use serde::Deserialize;
use std::collections::BTreeMap;

/// What executes programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Executor {
    /// This very machine, under its operating system.
    Native,
    /// A user-mode emulator, named by `command`.
    Emulator,
    /// The simulated SiFive E31.
    E31,
    /// The virtual machine of CKB: 64-bit RISC-V that fuses groups of instructions.
    CkbVm,
    /// A 64-bit RISC-V machine that counts instructions, without an operating system: the guest of a zkVM.
    Rv64Vm,
}

/// How programs for a target are executed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Name in tables and records.
    pub machine: String,
    pub on: Executor,
    /// Instruction set that programs are compiled for, one of `[[isa]]`.
    pub isa: String,
    /// The emulator and its arguments.
    #[serde(default)]
    pub command: Vec<String>,
    /// Debian packages that have the executor.
    #[serde(default)]
    pub packages: Vec<String>,
    /// Programs bring their own start-up code: compilers are not given a C library.
    #[serde(default)]
    pub bare: bool,
    /// Memory of a board without an operating system.
    pub memory: Option<Memory>,
}

/// Memory of a board: where it begins, and how many bytes it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    pub flash_start: u32,
    pub flash_bytes: u32,
    pub ram_start: u32,
    pub ram_bytes: u32,
}

/// What instructions cost, in cycles; names are those of the executor.
pub type Costs = BTreeMap<String, u64>;
