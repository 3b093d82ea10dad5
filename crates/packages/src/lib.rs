//! Packages for programs in other languages: the C of some primitives, bindings that are generated from their `<unit>.abi.json`, and what is written by hand in
//! `packages/<name>/`.

mod abi;
mod call;
mod description;
mod ocaml;
mod package;
mod python;
mod rust;
mod vectors;

pub use description::Language;
pub use package::{bindings, names, Assembled, Package};
