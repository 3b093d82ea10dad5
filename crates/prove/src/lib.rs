//! (room `prove`)

pub mod obligation;
pub mod ranges;
