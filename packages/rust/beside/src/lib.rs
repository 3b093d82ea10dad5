//! Nothing but tests and benches: `tests/`, `benches/`.
