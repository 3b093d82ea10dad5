//! (room `passes`)
