//! The schedule of code with registers.
//! Trusted: nothing: the certifier looks at the bytes.

use super::order::{between, unit, width, Piece, Place, Placed, Root, Way};
use crate::code::{length, small};
use crate::mach::{At, Line, Mach, SCRATCH, X};
use crate::options::Latency;
use crate::tuning::Nudges;
use crate::pipeline::{Pipeline, Step, Unit};

/// How many instructions ahead one is looked for that need not wait.
const WINDOW: usize = 100;

/// `stack`: the distance of a place from the stack pointer, which several places may share. `nudges`: as [`crate::Tuning::behind`].
pub fn schedule_again(code: Vec<Line>, latency: &Latency, stack: &dyn Fn(At) -> i64, nudges: &Nudges) -> Vec<Line> {
    between(code, |i| is_fixed(&i.mach) || is_far(&i.mach, stack), |first, run| ordered(&run, latency, stack, &|k| nudges.of(first + k)))
}

/// Slots that code takes if each instruction is executed once. A call takes its time in what is called.
pub fn slots(code: &[Line], latency: &Latency) -> usize {
    let mut pipeline = Pipeline::new(latency);
    for i in code.iter().map(|l| &l.mach) {
        match i {
            Mach::Label(_) => {}
            Mach::Fill => pipeline.fill(),
            i => pipeline.issue(&step(i, latency)),
        }
    }
    pipeline.next()
}

fn step(i: &Mach, latency: &Latency) -> Step {
    let unit = match i {
        Mach::Load(name, ..) | Mach::Three(name, ..) => unit(name, latency),
        Mach::Store(..) | Mach::Branch(..) => Unit::Store,
        Mach::Li(_, n) => Unit::Plain(length(*n)),
        Mach::Table(..) => Unit::Plain(2),
        _ => Unit::Plain(1),
    };
    let (reads, writes) = effects(i);
    let own = |x: &X| *x != 0;
    Step { unit, reads: reads.into_iter().filter(own).map(u32::from).collect(), writes: writes.into_iter().filter(own).map(u32::from).collect() }
}

fn is_fixed(i: &Mach) -> bool {
    matches!(i, Mach::Label(_) | Mach::Jump(_) | Mach::Branch(..) | Mach::Call(_) | Mach::Return | Mach::Stop | Mach::Group(..) | Mach::Fill) || touched(i).contains(&SCRATCH)
}

fn ordered(insts: &[Line], latency: &Latency, stack: &dyn Fn(At) -> i64, later: &dyn Fn(usize) -> i64) -> Vec<Line> {
    let order = piece(insts, latency, stack).order(latency, Way { window: WINDOW, by_height: true, later });
    let placed = order.into_iter().map(|p| match p {
        Placed::Step(k) => insts[k].clone(),
        Placed::Fill => Mach::Fill.into(),
    });
    placed.collect()
}

/// Its distance from the stack pointer takes the scratch register.
fn is_far(i: &Mach, stack: &dyn Fn(At) -> i64) -> bool {
    match i {
        Mach::Slot(_, k, offset) => !small(stack(At::Slot(*k)) + offset),
        Mach::Load(_, _, At::Reg(_), offset) | Mach::Store(_, _, At::Reg(_), offset) => !small(*offset),
        Mach::Load(_, _, at, offset) | Mach::Store(_, _, at, offset) => !small(stack(*at) + offset),
        _ => false,
    }
}

fn touched(i: &Mach) -> Vec<X> {
    let (reads, writes) = effects(i);
    reads.into_iter().chain(writes).collect()
}

/// What it reads, and what it writes.
fn effects(i: &Mach) -> (Vec<X>, Option<X>) {
    let of = |at: &At| match at {
        At::Reg(x) => Some(*x),
        _ => None,
    };
    let reads = match i {
        Mach::Three(_, _, a, b) => vec![*a, *b],
        Mach::Imm(_, _, a, _) | Mach::Mv(_, a) => vec![*a],
        Mach::Load(_, _, at, _) => of(at).into_iter().collect(),
        Mach::Store(_, v, at, _) => of(at).into_iter().chain([*v]).collect(),
        _ => vec![],
    };
    (reads, i.writes())
}

fn piece(insts: &[Line], latency: &Latency, stack: &dyn Fn(At) -> i64) -> Piece {
    let mut piece = Piece::default();
    for i in insts.iter().map(|l| &l.mach) {
        let step = step(i, latency);
        let place = match i {
            Mach::Load(name, _, at, offset) | Mach::Store(name, _, at, offset) => {
                let (base, start) = match at {
                    At::Slot(_) => (Root::Shown, stack(*at)),
                    At::Spilled(_) | At::Incoming(_) | At::Outgoing(_) | At::Saved(_) => (Root::Hidden, stack(*at)),
                    At::Reg(x) => (piece.register(u32::from(*x)), 0),
                };
                Some(Place { base, first: start + offset, bytes: width(name), write: step.unit == Unit::Store })
            }
            _ => None,
        };
        piece.push(step, place);
    }
    piece
}
