//! (room `syntax`)
