//! From a checked one-block program to a kernel for many blocks.

use crate::check::Checked;
use crate::failure::{c_needs, span, unknown_pass, Failure};
use crate::stages::{c_decisions, layout_passes};
use santoku_diag::Diagnostic;
use santoku_ir::{Func, LocalKind, Ty};
pub use santoku_layout::{Isa, Layout, GRANULARITY};
use santoku_layout::{LayoutError, Request};
use santoku_passes::{Observer, Silent};
use std::collections::BTreeSet;

/// How blocks lie in registers, and how the kernel is called.
#[derive(Clone, Debug)]
pub struct LayoutOptions {
    pub layout: Layout,
    pub isa: Isa,
    /// Copies of the computation in one function, at least 1.
    pub interleave: u32,
    /// Statements of one copy before the next copy's, at least 1.
    pub granularity: usize,
    /// The function of one block, by its C name or its name; None: the only one of that shape that is exported.
    pub block: Option<String>,
    /// Base name of the files made and of everything in them: letters, digits, `_`.
    pub unit: String,
    /// First comment of both files.
    pub provenance: String,
    /// Passes to leave out, by name: those of layouts that only make a kernel faster, those of [`santoku_passes::TABLE`], and decisions
    /// of the C printer.
    pub without: BTreeSet<String>,
    /// Also give the core program as it is behind this pass of layouts.
    pub dump_after: Option<String>,
}

/// A kernel: texts, nothing written.
#[derive(Clone, Debug)]
pub struct LaidOut {
    /// File name and text, the program that was asked for with [`LayoutOptions::dump_after`] last.
    pub files: Vec<(String, String)>,
    /// Flags that gcc and clang need.
    pub cflags: Vec<String>,
    /// Blocks in one batch.
    pub blocks: u32,
    /// What was checked on the way, a line each.
    pub checks: Vec<String>,
    /// Steps that were left out because they could not be checked, a line each; the kernel is right without them.
    pub left_out: Vec<String>,
}

/// Lays the function of one block out; its other parameters are shared by all blocks. Each step is checked on the way.
///
/// # Errors
/// `no-block-function`, `not-in-layout`, `unknown-pass`, `needed-pass`, `bad-option`; [`Failure::Internal`] where a step is at fault.
pub fn lay_out(checked: &Checked, options: &LayoutOptions) -> Result<LaidOut, Failure> {
    lay_out_watched(checked, options, &mut Silent)
}

/// As [`lay_out`]; `watch` is told of searches for circuits of tables.
///
/// # Errors
/// As [`lay_out`].
pub fn lay_out_watched(checked: &Checked, options: &LayoutOptions, watch: &mut dyn Observer) -> Result<LaidOut, Failure> {
    let func = find(checked, options.block.as_deref())?;
    let request = Request {
        layout: options.layout,
        isa: options.isa.clone(),
        interleave: options.interleave,
        granularity: options.granularity,
        shared: func.params.iter().skip(1).map(|id| func.local(*id).name.clone()).collect::<BTreeSet<_>>(),
        name: options.unit.clone(),
        without: options.without.clone(),
        dump_after: options.dump_after.clone(),
    };
    names_of_passes(&request).map_err(|d| Failure::refused(&checked.sources, d))?;
    let kernel = santoku_layout::build_watched(&checked.program, &func.name, &request, watch).map_err(|e| refused(&e, checked))?;
    let first: String = options.provenance.lines().map(|l| format!(" * {l}\n")).collect();
    let with = |text: &str| format!("/*\n{first} */\n{text}");
    let mut files = vec![(format!("{}.c", options.unit), with(&kernel.source)), (format!("{}.h", options.unit), with(&kernel.header))];
    files.extend(options.dump_after.iter().map(|pass| (format!("{}.after-{pass}.ir", options.unit), kernel.dump.clone())));
    Ok(LaidOut {
        files,
        cflags: kernel.cflags,
        blocks: kernel.blocks,
        checks: kernel.checks,
        left_out: kernel.left_out,
    })
}

/// Is everything that is left out or shown a pass that can be?
fn names_of_passes(request: &Request) -> Result<(), Diagnostic> {
    for name in &request.without {
        match (santoku_layout::find(name), santoku_passes::find(name)) {
            (Some(p), _) if p.optional => {}
            (Some(_), _) => {
                let d = Diagnostic::error("needed-pass", format!("there is no kernel without `{name}`"));
                return Err(d.note("why: it does not make kernels faster, but possible").help(format!("build without `--without {name}`")));
            }
            (None, Some(p)) if !p.writes_ranges => {}
            (None, None) if c_decisions().any(|d| d.0 == name) => {}
            (None, Some(_)) => return Err(c_needs(name)),
            (None, None) => return Err(unknown_pass(name)),
        }
    }
    let Some(name) = &request.dump_after else { return Ok(()) };
    let (Some(pass), None) = (santoku_layout::find(name), santoku_passes::find(name)) else {
        let layouts: Vec<&str> = layout_passes().collect();
        let d = Diagnostic::error("bad-option", format!("`--dump-after {name}` shows nothing of a layout"));
        return Err(d.note(format!("why: the passes of layouts are {}", layouts.join(", "))).help("name one of them, or leave out `--layout`"));
    };
    if pass.runs_in(request) {
        return Ok(());
    }
    let d = Diagnostic::error("bad-option", format!("`{name}` does not run, so there is nothing behind it to show"));
    Err(d.note("why: it is for another layout or instruction set, or left out").help("`docs/layouts.md` says which pass is for which layout"))
}

fn find<'c>(checked: &'c Checked, name: Option<&str>) -> Result<&'c Func, Failure> {
    let funcs = &checked.program.funcs;
    let none = |title: String, help: String| Failure::refused(&checked.sources, Diagnostic::error("no-block-function", title).help(help));
    if let Some(name) = name {
        let known = || funcs.iter().filter_map(|f| f.export.clone()).collect::<Vec<_>>().join(", ");
        let found = funcs.iter().find(|f| f.name == name || f.export.as_deref() == Some(name));
        return found.ok_or_else(|| none(format!("there is no function `{name}`"), format!("exported are: {}", known())));
    }
    let fitting: Vec<&Func> = funcs.iter().filter(|f| f.export.is_some() && takes_and_gives_a_block(f)).collect();
    match fitting[..] {
        [f] => Ok(f),
        [] => Err(none(
            "no exported function takes one block and gives one".into(),
            "write the cipher for one block, `fn f(block: [uN; n], keys: ..) -> [uN; n]`, with `@export(\"c_name\")` before it".into(),
        )),
        _ => {
            let names: Vec<&str> = fitting.iter().filter_map(|f| f.export.as_deref()).collect();
            Err(none(format!("several functions take one block and give one: {}", names.join(", ")), "choose one with `--block`".into()))
        }
    }
}

/// `fn f(block: [uN; n], ..) -> [uN; n]`.
fn takes_and_gives_a_block(f: &Func) -> bool {
    let ([first, ..], [ret]) = (&f.params[..], &f.rets[..]) else { return false };
    let ty = &f.local(*first).ty;
    let words = matches!(ty, Ty::Array { elem, .. } if matches!(**elem, Ty::Word(_)));
    f.local(*first).kind == LocalKind::Param && words && ty.same_shape(&f.local(*ret).ty)
}

pub(crate) fn refused(e: &LayoutError, checked: &Checked) -> Failure {
    if let LayoutError::Internal { step, reason } = e {
        return Failure::internal(&format!("layout, {step}"), reason.clone());
    }
    let mut d = Diagnostic::error("not-in-layout", "this program has no such layout").note(format!("why: {e}"));
    if let Some(s) = e.loc().and_then(span) {
        d = d.at(s, "this");
    }
    Failure::refused(&checked.sources, d.help(e.help()))
}
