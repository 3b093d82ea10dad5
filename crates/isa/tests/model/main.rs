//! The model against its own rules and against independent executors.

mod cases;
mod ckb;
mod random;
mod table;
mod twins;
