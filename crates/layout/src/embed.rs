//! A kernel inside of a C file: the text of one function that does the same to every element of an array.
//!
//! Needs: a program with such a function ([`santoku_ir::each`]).  Keeps: the passes of the table with their checks.  Absent: the C around it.
//! Trusted: c.

use crate::error::LayoutError;
use crate::isa::{Isa, Layout};
use crate::kernel::{passed, with_loops};
use crate::request::{Request, GRANULARITY};
use crate::transpose::functions;
use santoku_backend_c::{LanesOf, Stack};
use santoku_ir::each::{self, Each};
use santoku_ir::{FuncId, Program};
use santoku_passes::Circuits;
use std::collections::BTreeSet;

/// A kernel, and what its preamble needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Embedded {
    pub kernel: LanesOf,
    /// Functions of three bits, as tables.
    pub ternary: Vec<u8>,
}

/// The kernel of a function that applies another to each element of an array, in vertical layout. `None`: it does not, or the elements do not fill
/// registers of this machine. `circuits`: those of the program's tables.
///
/// # Errors
/// See [`LayoutError`]: what is applied has no such layout.
pub fn embedded(program: &Program, func: FuncId, isa: &Isa, without: &BTreeSet<String>, circuits: &Circuits) -> Result<Option<Embedded>, LayoutError> {
    let f = program.func(func);
    let Some(found) = each::of(program, f) else { return Ok(None) };
    let name = format!("{}_lanes", f.name.replace(|c: char| !c.is_ascii_alphanumeric(), "_"));
    let request = Request {
        layout: Layout::Vertical,
        isa: isa.clone(),
        interleave: 1,
        granularity: GRANULARITY as usize,
        shared: BTreeSet::new(),
        name: name.clone(),
        without: without.clone(),
        dump_after: None,
    };
    let apart = apart(program, &name);
    with_loops(|unroll| made(&apart, found, &request, (unroll, circuits))).map_err(|e| e.without(&format!("{name}.")))
}

fn made(apart: &Program, found: Each, request: &Request, how: (u64, &Circuits)) -> Result<Option<Embedded>, LayoutError> {
    let (name, isa) = (&request.name, &request.isa);
    let mut steps = passed(apart, &apart.func(found.func).name, request, how)?;
    let lanes = u64::from(steps.lanes());
    if lanes == 0 || found.count == 0 || found.count % lanes != 0 || found.count / lanes > COPIES_MAX {
        return Ok(None);
    }
    let (out, ternary, lookups) = steps.inner()?;
    let block = steps.block;
    let (registers, all) = (u64::from(block.registers(Layout::Vertical)), found.count * u64::from(block.bytes()));
    let entry = format!("{name}_all");
    // The same text for registers of any size.
    let batch = format!(
        "static void {entry}(uint8_t *out, const uint8_t *in)\n{{\n    enum {{ COPY = {registers} * sizeof(V), COPIES = {all} / COPY }};\n    \
         V o[{registers}], p[{registers} * COPIES];\n    int c;\n    \
         for (c = 0; c < COPIES; c++) {{ {name}_in(p + c * {registers}, in + c * COPY); }}\n    \
         for (c = 0; c < COPIES; c++) {{\n        {name}_core(o, p + c * {registers});\n        {name}_out(out + c * COPY, o);\n    }}\n}}\n"
    );
    let text = format!("{lookups}{}{}{batch}", out.text, functions(name, block, Layout::Vertical, isa));
    // Arrays of registers for one copy and for all. Registers of transpositions, too, have a place where nothing is optimised.
    let own = u64::from(isa.register_bits / 8) * registers + all + FRAME;
    let more = |below: u32, times: u64| u32::try_from(u64::from(below) + times * own).unwrap_or(u32::MAX / 2);
    let stack = Stack { optimised: more(out.stack.optimised, 1), plain: more(out.stack.plain, 2) };
    let mut names = out.names;
    names.extend(["in", "out", "all"].map(|part| format!("{name}_{part}")));
    Ok(Some(Embedded { kernel: LanesOf { text, entry, names, stack }, ternary }))
}

/// Copies one after the other have an array of registers each.
const COPIES_MAX: u64 = 8;
/// Bytes of a frame beside its arrays.
const FRAME: u64 = 256;

/// The program with names that no other text in the file has.
fn apart(program: &Program, prefix: &str) -> Program {
    let mut p = program.clone();
    p.funcs.iter_mut().for_each(|f| f.name = format!("{prefix}.{}", f.name));
    p.consts.iter_mut().for_each(|c| c.name = format!("{prefix}.{}", c.name));
    p.structs.iter_mut().for_each(|s| s.name = format!("{prefix}.{}", s.name));
    p
}
