//! (room `prove`)
