//! (room `vectors`)
