//! The language server: messages, proven ranges, secrecy, definitions, formatting and the state of proofs, at the editor.
//!
//! Needs: `driver`, and a [`World`] that finds files.  Keeps: the editor is answered at once (checking and proving go on beside it), and what was
//! found of one text is never shown of another.  Absent on purpose: files, options and the store of proofs (`cli`).
//! Trusted: nothing: it shows what others found.

// A failure ends a run: its size costs nothing.
#![allow(clippy::result_large_err)]

mod convert;
mod definition;
mod document;
mod hover;
mod instances;
mod items;
mod lens;
mod names;
mod positions;
mod server;
mod show;
mod symbols;
mod work;
mod world;

pub use server::serve;
pub use world::World;
