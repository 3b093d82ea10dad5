//! Values as terms over exact integers.

mod arena;
mod bits;
mod choice;
mod parts;
mod remainder;
#[cfg(test)]
mod tests;

pub use arena::{Atom, Bit, Root, Step, Terms, Var, T};
