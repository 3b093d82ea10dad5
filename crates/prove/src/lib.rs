//! (room `prove`)

pub mod equiv;
pub mod obligation;
pub mod ranges;
