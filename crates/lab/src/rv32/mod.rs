//! RV32IM(C) simulator with the timing of a SiFive E31 (the core of the HiFive1 rev B board).
//!
//! Needs an executable: code in flash at [`FLASH_BASE`], data and stack in RAM at [`RAM_BASE`]. Counts cycles, retired
//! instructions, cache misses, flash reads and stack use exactly and repeatably, for the whole run and for windows that
//! the program opens and closes by calling the functions named in [`MARKERS`]. Absent on purpose: interrupts,
//! privilege levels, floating point, atomics, and stores to code.

mod calltree;
mod error;
mod frontend;
mod icache;
mod image;
mod isa;
mod machine;
mod measure;
mod memory;
mod pipeline;
mod predict;

pub use calltree::{CallTree, Node};
pub use error::SimError;
pub use image::{Image, Symbol};
pub use isa::{decode, Class, Inst, Op};
pub use machine::{Config, Machine, Run, MARKERS};
pub use measure::Measure;
pub use memory::{BENCH_CONSOLE, BENCH_EXIT, FLASH_BASE, RAM_BASE};
pub use pipeline::{Stalls, Timing};
