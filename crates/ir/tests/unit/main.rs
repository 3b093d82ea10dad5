//! Of modules by themselves.

mod gen;
mod interp;
mod text;
mod verify;
mod value;
mod visit;
