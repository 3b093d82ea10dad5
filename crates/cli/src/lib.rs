//! (room `cli`)
