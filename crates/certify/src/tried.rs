//! Code that is not proved, run: a wrong value is a refutation, two inputs show a leak, and what does not even run has another convention.
//!
//! Needs: the concrete machine, the interpreter.  Keeps: a verdict only gets worse or clearer here, never `Equal`.  Absent: proofs.
//! Trusted: nothing: it runs what is not proved.

use crate::concrete::inputs::{inputs, meeting, show};
use crate::concrete::{Bench, End};
use crate::function::{Difference, Found, Verdict};
use crate::leak::{evidence, Evidence};
use crate::machine::{Code, Halt, Why};
use crate::shared::unite;
use santoku_elf::Image;
use santoku_ir::interp::{Interp, Options};
use santoku_ir::{FuncId, Program};

/// Calls made.
const CALLS: usize = 6;
/// Instructions of one call, and steps of the interpreter.
const STEPS: u64 = 2_000_000;
const SOURCE_STEPS: u64 = 1 << 24;

/// Runs the code at `address` if it was not proved, and says what is seen.
pub fn try_out(image: &Image, code: &Code, (func, address, shared): (FuncId, u64, &[(usize, usize)]), mut found: Found) -> (Found, Option<Evidence>) {
    if found.verdict == Verdict::Equal || matches!(found.verdict, Verdict::Differs(_)) {
        return (found, None);
    }
    let Ok(mut bench) = Bench::new((image, code.isa), code.program, func, address, shared) else { return (found, None) };
    bench.multiplications_show = code.secret_mul_leaks;
    bench.ckb_vm = code.ckb_vm;
    let of = (code.program, func);
    let seen = run(&bench, of, shared, code.xlen());
    match (&mut found.verdict, seen) {
        (Verdict::Halted(Halt { why: why @ Why::Secret(..), .. }), Some(Seen::Broken(broken))) => *why = Why::Convention(broken),
        (Verdict::Halted(Halt { why, .. }), _) if no_input(why).is_some() => {
            *why = Why::Convention(format!("{} is used, which has no value here", no_input(why).unwrap_or_default()));
        }
        (Verdict::Halted(Halt { pc, why: Why::Secret(..) }), _) => {
            let evidence = evidence(&bench, of, code.xlen(), *pc);
            return (found, evidence);
        }
        // A broken rule stays what it is.
        (Verdict::Halted(Halt { why: Why::Memory(_) | Why::Convention(_) | Why::Platform(_), .. }), _) => {}
        (Verdict::NotProved(old), Some(Seen::Wrong(new))) => {
            let (machine, source) = (old.machine.clone(), old.source.clone());
            found.verdict = Verdict::Differs(Difference { machine, source, ..new });
        }
        (verdict, Some(Seen::Wrong(new))) => *verdict = Verdict::Differs(new),
        _ => {}
    }
    (found, None)
}

/// Whether the code at `address`, which others can call, is seen to give a wrong value or to break a rule.
pub fn is_wrong(image: &Image, code: &Code, (func, address, shared): (FuncId, u64, &[(usize, usize)])) -> bool {
    let Ok(mut bench) = Bench::new((image, code.isa), code.program, func, address, shared) else { return false };
    bench.ckb_vm = code.ckb_vm;
    run(&bench, (code.program, func), shared, code.xlen()).is_some()
}

/// What a leak shows, if that is no input of the source: a register at entry, memory nobody wrote. Names of inputs have neither
/// blanks nor question marks in them, those of all else have.
fn no_input(why: &Why) -> Option<String> {
    let Why::Secret(_, text) = why else { return None };
    let (name, _) = text.split_once(" in ")?;
    name.contains([' ', '?']).then(|| name.to_string())
}

enum Seen {
    /// Another value than the source's.
    Wrong(Difference),
    /// It does not run as the source is called.
    Broken(String),
}

fn run(bench: &Bench, (program, func): (&Program, FuncId), shared: &[(usize, usize)], xlen: u32) -> Option<Seen> {
    let mut source = Interp::with_options(program, Options { steps: SOURCE_STEPS, ..Options::default() });
    let f = program.func(func);
    let mut all = inputs(program, func, xlen, CALLS, 0x0000_b4ea ^ u64::from(func.0));
    all.iter_mut().for_each(|input| unite(shared, &mut input.args));
    for (input, noise) in meeting(program, func, all).into_iter().zip(1..) {
        let ran = bench.run(&input, noise, STEPS);
        match ran.end {
            End::Endless | End::Unknown { .. } => return None,
            End::Fault { pc, why } => return Some(Seen::Broken(format!("called as the source is, it ends at {pc:#x}: {why}"))),
            End::Returned => {}
        }
        let want = bench.expected(&source.call(func, &input.lens, input.args.clone()).ok()?);
        let Some(n) = ran.results.iter().zip(&want).position(|(a, b)| a != b) else { continue };
        let lens = f.lens.iter().zip(&input.lens).map(|(id, n)| (f.local(*id).name.clone(), n.to_string()));
        let args = f.params.iter().zip(&input.args).map(|(id, v)| (f.local(*id).name.clone(), show(&f.local(*id).ty, v)));
        let witness = Some((lens.chain(args).collect(), ran.results[n].to_string(), want[n].to_string()));
        let what = format!("word {n} of the result, run");
        return Some(Seen::Wrong(Difference { what, machine: ran.results[n].to_string(), source: want[n].to_string(), witness }));
    }
    None
}
