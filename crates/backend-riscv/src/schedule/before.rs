//! The schedule before registers are given.
//! Trusted: nothing: the certifier looks at the bytes.

use super::order::{between, unit, width, Piece, Place, Placed, Root, Way};
use crate::code::{length, Base, Code, Inst, Reg};
use crate::flow::number;
use crate::options::Latency;
use crate::tuning::Nudges;
use crate::pipeline::{Step, Unit};

/// How many instructions ahead one is looked for that need not wait.
const WINDOW: usize = 40;

/// `nudges`: as [`crate::Tuning::before`]. Without latencies nothing else changes its place.
pub fn schedule(code: &mut Code, latency: Option<&Latency>, nudges: &Nudges) {
    if latency.is_none() && nudges.is_empty() {
        return;
    }
    // Labels, jumps, calls and moves stay where they are, and so do loops.
    code.insts = between(std::mem::take(&mut code.insts), is_fixed, |first, run| ordered(run, latency, &|k| nudges.of(first + k)));
}

fn is_fixed(i: &Inst) -> bool {
    matches!(i, Inst::Move(_) | Inst::Label(_) | Inst::Jump(_) | Inst::Branch(..) | Inst::Call { .. } | Inst::Enter(_) | Inst::Return(_) | Inst::Stop)
}

fn ordered(insts: Vec<Inst>, latency: Option<&Latency>, later: &dyn Fn(usize) -> i64) -> Vec<Inst> {
    let way = Way { window: WINDOW, by_height: false, later };
    let order = match latency {
        Some(latency) => piece(&insts, latency).order(latency, way),
        None => piece(&insts, &Latency::default()).moved(way),
    };
    let mut insts: Vec<Option<Inst>> = insts.into_iter().map(Some).collect();
    let steps = order.into_iter().filter_map(|p| match p {
        Placed::Step(k) => Some(k),
        Placed::Fill => None,
    });
    steps.filter_map(|k| insts[k].take()).collect()
}

fn piece(insts: &[Inst], latency: &Latency) -> Piece {
    let mut piece = Piece::default();
    for i in insts {
        let numbers = |all: Vec<Reg>| all.into_iter().filter_map(number).collect::<Vec<u32>>();
        let unit = match i {
            Inst::Load(name, ..) | Inst::Again(name, ..) | Inst::Three(name, ..) => unit(name, latency),
            Inst::Store(..) => Unit::Store,
            Inst::Li(_, n) => Unit::Plain(length(*n)),
            Inst::Table(..) => Unit::Plain(2),
            _ => Unit::Plain(1),
        };
        let place = match i {
            Inst::Load(name, _, base, offset) | Inst::Store(name, _, base, offset) => {
                let base = match base {
                    Base::Slot(k) => Root::Slot(*k),
                    Base::Reg(r) => piece.register(number(*r).unwrap_or(u32::MAX)),
                };
                Some(Place { base, first: *offset, bytes: width(name), write: unit == Unit::Store })
            }
            _ => None,
        };
        piece.push(Step { unit, reads: numbers(i.reads()), writes: numbers(i.writes()) }, place);
    }
    piece
}
