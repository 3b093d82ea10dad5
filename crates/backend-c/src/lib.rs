//! (room `backend-c`)
