//! (build)
