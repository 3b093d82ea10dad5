//! (room `driver`)
