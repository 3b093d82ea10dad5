//! The lowered IR: the words of a machine, memory as bytes, calls with a convention. Machines differ from here on.
//!
//! Needs: the core with proven ranges.  Keeps: what the core computes: `legalise` is compared with the core's interpreter on whole programs.
//! Absent: what a machine's instructions are.
//! Trusted: nothing: nothing that ships is made of it.

mod data;
pub mod exec;
mod layout;
pub mod legalise;
mod memory;
mod notes;
pub mod pass;
pub mod text;
mod verify;

pub use data::{Address, BinOp, Block, CmpOp, ConvertOp, Count, For, Func, Inst, Kind, Machine, Module, Named, Op, Param, ShiftOp, Slot, Table, Type, Value};
pub use layout::{range_of, Layout, Scalar};
pub use notes::{Note, Notes};
pub use verify::{verify, Problem};
