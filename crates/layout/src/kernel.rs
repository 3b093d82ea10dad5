//! From one-block source to C: the passes of the table in order.

use crate::error::LayoutError;
use crate::request::{Kernel, Request};
use crate::steps::Steps;
use crate::table::TABLE;
use santoku_ir::Program;
use santoku_passes::{circuits, Circuits, Observer, Silent};

/// Loops are unrolled when their copies together stay within this size (see `PassOptions`): those over the words of a block,
/// not those over rounds.
const UNROLL: u64 = 400;
/// Where a loop as it is has no form in the layout, rounds are written out up to this size.
const UNROLL_ALL: u64 = 12_000;

/// Builds the kernel of `func` (by name or C name).
///
/// # Errors
/// See [`LayoutError`].
pub fn build(program: &Program, func: &str, request: &Request) -> Result<Kernel, LayoutError> {
    build_watched(program, func, request, &mut Silent)
}

/// As [`build`]; `watch` is told of searches for circuits of tables.
///
/// # Errors
/// As [`build`].
pub fn build_watched(program: &Program, func: &str, request: &Request, watch: &mut dyn Observer) -> Result<Kernel, LayoutError> {
    let circuits = circuits(program, watch);
    with_loops(|unroll| passed(program, func, request, (unroll, &circuits))?.print())
}

/// Makes a kernel with the loops over rounds as they are, or else written out.
pub fn with_loops<T>(mut make: impl FnMut(u64) -> Result<T, LayoutError>) -> Result<T, LayoutError> {
    match make(UNROLL) {
        // Indices, rotations and constants that change from round to round are known once the rounds are written out.
        Err(first @ LayoutError::Operation { .. }) => match make(UNROLL_ALL) {
            Err(LayoutError::Internal { step, reason }) => Err(LayoutError::Internal { step, reason }),
            Err(_) => Err(first),
            made => made,
        },
        made => made,
    }
}

/// The program behind all passes.
pub fn passed<'a>(program: &Program, func: &str, request: &'a Request, (unroll, circuits): (u64, &'a Circuits)) -> Result<Steps<'a>, LayoutError> {
    let mut made = Steps::start(program, func, request, (unroll, circuits))?;
    for pass in TABLE.iter().filter(|p| p.runs_in(request)) {
        (pass.run)(&mut made)?;
        if request.dump_after.as_deref() == Some(pass.name) {
            made.dump = santoku_ir::text::print(&made.program);
        }
    }
    Ok(made)
}
