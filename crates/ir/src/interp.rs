//! (interp)
