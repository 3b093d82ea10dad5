//! (room `sema`)
