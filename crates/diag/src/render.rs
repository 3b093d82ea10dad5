//! Rendering of diagnostics to text.
