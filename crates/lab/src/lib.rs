//! (room `lab`)
