//! The schedule before registers are given.
//! Trusted: nothing: the certifier looks at the bytes.

use super::order::{unit, width, Piece, Place, Placed, Root, Way};
use crate::code::{length, Base, Code, Inst, Reg};
use crate::flow::number;
use crate::options::Latency;
use crate::pipeline::{Step, Unit};
use std::collections::BTreeMap;

/// How many instructions ahead one is looked for that need not wait.
const WINDOW: usize = 20;

pub fn schedule(code: &mut Code, latency: &Latency) {
    let mut out = Vec::with_capacity(code.insts.len());
    let mut run = vec![];
    // Labels, jumps, calls and moves stay where they are, and so do loops.
    for inst in std::mem::take(&mut code.insts) {
        if is_fixed(&inst) {
            out.extend(ordered(std::mem::take(&mut run), latency));
            out.push(inst);
        } else {
            run.push(inst);
        }
    }
    out.extend(ordered(run, latency));
    code.insts = out;
}

fn is_fixed(i: &Inst) -> bool {
    matches!(i, Inst::Move(_) | Inst::Label(_) | Inst::Jump(_) | Inst::Branch(..) | Inst::Call { .. } | Inst::Enter(_) | Inst::Return(_) | Inst::Stop)
}

fn ordered(insts: Vec<Inst>, latency: &Latency) -> Vec<Inst> {
    let order = piece(&insts, latency).order(latency, Way { window: WINDOW, by_height: false });
    let mut insts: Vec<Option<Inst>> = insts.into_iter().map(Some).collect();
    let steps = order.into_iter().filter_map(|p| match p {
        Placed::Step(k) => Some(k),
        Placed::Fill => None,
    });
    steps.filter_map(|k| insts[k].take()).collect()
}

fn piece(insts: &[Inst], latency: &Latency) -> Piece {
    let mut last: BTreeMap<u32, usize> = BTreeMap::new();
    let mut piece = Piece { steps: vec![], places: vec![] };
    for (k, i) in insts.iter().enumerate() {
        let numbers = |all: Vec<Reg>| all.into_iter().filter_map(number).collect::<Vec<u32>>();
        let unit = match i {
            Inst::Load(name, ..) | Inst::Again(name, ..) | Inst::Three(name, ..) => unit(name, latency),
            Inst::Store(..) => Unit::Store,
            Inst::Li(_, n) => Unit::Plain(length(*n)),
            Inst::Table(..) => Unit::Plain(2),
            _ => Unit::Plain(1),
        };
        piece.places.push(match i {
            Inst::Load(name, _, base, offset) | Inst::Store(name, _, base, offset) => {
                let base = match base {
                    Base::Slot(k) => Root::Slot(*k),
                    Base::Reg(r) => Root::Register(number(*r).unwrap_or(u32::MAX), number(*r).and_then(|v| last.get(&v).copied())),
                };
                Some(Place { base, first: *offset, bytes: width(name), write: unit == Unit::Store })
            }
            _ => None,
        });
        let step = Step { unit, reads: numbers(i.reads()), writes: numbers(i.writes()) };
        step.writes.iter().for_each(|v| {
            last.insert(*v, k);
        });
        piece.steps.push(step);
    }
    piece
}
