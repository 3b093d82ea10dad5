//! The machine model *(trusted)*: RV32IMC and RV64IMC with Zba, Zbb and Zbs; decoding and meaning as data.
//!
//! Needs: nothing. Keeps: one definition of every instruction, written from *The RISC-V Instruction Set Manual, Volume I:
//! Unprivileged Architecture* (release 20240411; chapters and sections are named beside the tables), used concretely by [`Machine`] and
//! symbolically by whoever implements [`Domain`]; no two rows of one [`Isa`] share an encoding.
//! Absent on purpose: privileged state, control and status registers (named, no meaning), atomics, floating point, memory
//! ordering, traps of misaligned accesses, time. The register x0 is the caller's: [`effect`] gives the value an instruction
//! would write, [`Machine`] drops it.
//!
//! [`ckb`] is a second machine on the same tables: what CKB-VM makes of neighbouring instructions that it fuses.
//!
//! How it is checked: `tests/model` runs every row and compressed form against `ckb-vm` and QEMU on random and adversarial
//! operands, reads encodings with objdump, and refutes thousands of tables with one wrong meaning each.
//! Trusted: bytes, leaks, certifier.

pub mod ckb;
mod decode;
mod disasm;
mod domain;
mod effect;
mod machine;
mod pattern;
mod row;
mod table;

pub use decode::{decode, decode_short, rows, shorts};
pub use disasm::register_name;
pub use domain::{Domain, Word, Words};
pub use effect::{effect, Effect};
pub use machine::{Fault, FlatMemory, Machine, Memory, Stop};
pub use pattern::{Field, Fields, Pattern};
pub use row::{Bases, Binary, Compare, Count, Expr, Ext, Inst, Isa, Latency, Row, Sem, Shift, Short, Width, Xlen};
