//! (room `diag`)
