//! From syntax trees to the typed core: modules, names, constants, types, secrecy, monomorphisation.
//!
//! Needs: `syntax` (trees), `diag` (messages), `ir` (what it produces).  Keeps: every program it returns is
//! well formed (callees before callers, no recursion, indices and branches public) and every refusal is a
//! diagnostic with a place and a way out; the same input gives the same output, byte for byte.
//! Absent on purpose: files (texts come from the caller's `load`), proofs (ranges, bounds, contracts),
//! optimisation.
//!
//! Order of reading: [`modules`] loads, [`names`] lists, [`resolve`] finds, [`consts`], [`const_fns`] and [`types`] evaluate,
//! [`instances`] asks for one function after another, [`body`] lowers it, [`secrecy`] and [`predicate`]
//! finish it; [`values`], [`sty`] and [`keys`] are what they speak of; [`written`] and [`probes`] check what no instance does; [`spec`], [`interfaces`] and [`tables`] stand beside.
//! Trusted: text.

mod arith;
mod body;
mod const_fns;
mod consts;
mod compiled;
mod context;
mod draft;
mod fields;
mod infer;
mod instances;
mod interfaces;
mod keys;
mod limits;
mod modules;
mod entities;
mod names;
mod predicate;
mod probes;
mod program;
mod verified;
mod perms;
mod resolve;
mod secrecy;
mod spec;
mod sty;
mod tables;
mod types;
mod values;
mod written;

pub use compiled::{Compiled, Failed, Options};

/// Compiles the file `entry` and everything it imports.
///
/// `entry` is a path as `load` understands it (`lib/nacl/sign.stk`); `roots` are library roots, searched in
/// order after the importing file's folder; `load` gives the text of a path, or `None` where there is no
/// such file. The result holds every function of the entry file without `const` or `type` parameters, its
/// tests, and whatever they reach.
///
/// # Errors
/// [`Failed`] with at least one diagnostic of severity error.
pub fn compile(
    entry: &str,
    roots: &[String],
    load: &mut dyn FnMut(&str) -> Option<String>,
    opts: &Options,
) -> Result<Compiled, Failed> {
    program::analyse(modules::load_world(entry, roots, load, opts)?)
}
