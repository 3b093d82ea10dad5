//! (room `ir`)
