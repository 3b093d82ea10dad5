//! The safety prover from outside: what it proves, what it refuses, and that what it infers is so.

mod limbs;
mod support;
