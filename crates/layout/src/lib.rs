//! (room `layout`)
