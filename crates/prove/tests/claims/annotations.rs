//! Ranges written into programs, one of them made narrower: where an input leaves it, the judge must not accept the function.
//!
//! Needs: a seed.  Keeps: a range counts as false only where a run in the interpreter left it.  Absent: other claims; `claim` has them.

use crate::{claim, grow, judge, run};
use santoku_ir::gen::Rng;
use santoku_ir::interp::Interp;
use santoku_ir::{visit, Program, Range, Ty};
use santoku_prove::{judged, ranges};

/// Ranges made narrower per program.
const CHANGES: usize = 12;

#[derive(Default)]
pub struct Tried {
    pub programs: usize,
    pub false_ones: usize,
    /// Narrowed ranges that no input left, and those accepted.
    pub kept: [usize; 2],
    /// Functions with the ranges as found, and those accepted.
    pub functions: [usize; 2],
    pub found: Vec<String>,
}

pub fn attack(seed: u64, t: &mut Tried) {
    let (mut rng, mut other) = (Rng::new(seed ^ 0x7a61_9e55), Rng::new(!seed));
    let Some(mut g) = grow::program(&mut rng) else { return };
    let Some(c) = claim::KINDS.iter().find_map(|kind| claim::make(&mut g, kind)) else { return };
    let (Ok(p), Some((_, inputs))) = (judge::compile(&c.truth.text()), run::inputs(c.truth.main())) else { return };
    t.programs += 1;
    let found = ranges::annotate(&p);
    let verdicts = judged::program(&p, &found, false);
    t.functions[0] += verdicts.iter().flatten().count();
    t.functions[1] += verdicts.iter().flatten().filter(|v| v.is_ok()).count();
    for _ in 0..CHANGES {
        let mut narrowed = found.clone();
        if !narrow(&mut narrowed, &mut other) {
            return;
        }
        let leaves = (0..inputs).any(|k| Interp::with_options(&narrowed, santoku_ir::interp::Options::checked()).call(judge::entry(&narrowed), &[], judge::args(&c.truth, k)).is_err());
        let whole = judged::program(&narrowed, &narrowed, false).iter().flatten().all(Result::is_ok);
        match (leaves, whole) {
            (true, true) => t.found.push(format!("// seed {seed}: accepted\n{}", santoku_ir::text::print(&narrowed))),
            (false, true) => t.kept[1] += 1,
            _ => {}
        }
        if leaves { t.false_ones += 1 } else { t.kept[0] += 1 }
    }
}

/// Makes one range narrower, at one end and mostly by one; false if there is none.
fn narrow(p: &mut Program, rng: &mut Rng) -> bool {
    let mut count = 0;
    each(p, &mut |r| count += u64::from(r.lo < r.hi));
    if count == 0 {
        return false;
    }
    let (chosen, low, far) = (rng.below(count), rng.one_in(2), rng.one_in(4));
    let mut nr = 0;
    each(p, &mut |r| {
        if r.lo < r.hi {
            if nr == chosen {
                let by = if far { r.count().shr(1) } else { 1.into() };
                if low { r.lo = r.lo.add(&by) } else { r.hi = r.hi.sub(&by) }
            }
            nr += 1;
        }
    });
    true
}

/// Every range of an occurrence or a variable; what is declared of parameters and results is the program's own.
fn each(p: &mut Program, f: &mut dyn FnMut(&mut Range)) {
    for func in &mut p.funcs {
        for l in &mut func.locals {
            if matches!(l.kind, santoku_ir::LocalKind::Var | santoku_ir::LocalKind::Counter) {
                in_type(&mut l.ty, f);
            }
        }
        visit::map_exprs(&mut func.body, &mut |e| {
            if e.as_const().is_none() {
                in_type(&mut e.ty, f);
            }
        });
    }
}

fn in_type(ty: &mut Ty, f: &mut dyn FnMut(&mut Range)) {
    if let Ty::Int(Some(r)) = ty {
        f(r);
    }
}
