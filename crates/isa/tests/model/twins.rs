//! Must-fail twins.
