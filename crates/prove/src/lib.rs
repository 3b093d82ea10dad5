//! (room `prove`)

pub mod algebra;
pub mod contracts;
pub mod equiv;
pub mod obligation;
pub mod ranges;
