//! The model against its own rules and against independent executors.

mod cases;
mod ckb;
mod elf;
mod fusion;
mod machine;
mod names;
mod program;
mod qemu;
mod random;
mod table;
mod terms;
mod twins;
