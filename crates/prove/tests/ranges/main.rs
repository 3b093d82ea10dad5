//! The safety prover from outside: what it proves, what it refuses, and that what it infers is so.

mod lengths;
mod limbs;
mod random;
mod rules;
mod solver;
mod support;
