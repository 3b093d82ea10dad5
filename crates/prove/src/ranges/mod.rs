//! Safety: every exact integer in its range, every index in its array, every value defined.
