//! Functions of the program by the function of the text that they were made of.

use crate::document::{Document, Known};
use santoku_ir::{Func, Program};
use santoku_syntax::ast::Function;

/// The functions of the program that were made of one of the text.
pub fn instances<'k>(known: &'k Known, doc: &'k Document, function: &'k Function) -> impl Iterator<Item = (&'k Program, &'k Func)> {
    let checked = known.checked.as_deref();
    let program = known.ranges.as_deref().or(checked.map(|c| &c.program));
    let inside = move |f: &Func| f.loc.start >= function.span.start && f.loc.end <= function.span.end;
    let here = move |f: &Func| checked.is_some_and(|c| c.program.files.get(f.loc.file as usize).is_some_and(|name| *name == doc.path));
    program.into_iter().flat_map(move |p| p.funcs.iter().filter(move |f| here(f) && inside(f)).map(move |f| (p, f)))
}
