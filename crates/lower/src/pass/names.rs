//! Numbers of values.
//! Trusted: nothing: nothing that ships is made of it.

use crate::data::{Block, Func, Inst, Value};

/// The first number that no value has.
pub(super) fn names(f: &Func) -> u32 {
    fn of(b: &Block, most: &mut u32) {
        let mut see = |v: Value| *most = (*most).max(v.0 + 1);
        for i in &b.insts {
            match i {
                Inst::Let { dst, .. } | Inst::Call { dst, .. } | Inst::If { dst, .. } => dst.iter().for_each(|d| see(d.0)),
                Inst::For(f) => f.dst.iter().chain(f.carried.iter().map(|c| &c.0)).chain([&f.counter]).for_each(|d| see(d.0)),
                Inst::Store { .. } | Inst::Copy { .. } => {}
            }
        }
        for i in &b.insts {
            match i {
                Inst::If { then, els, .. } => {
                    of(then, most);
                    of(els, most);
                }
                Inst::For(f) => of(&f.body, most),
                _ => {}
            }
        }
    }
    let mut most = f.params.iter().map(|p| p.value.0 + 1).max().unwrap_or(0);
    of(&f.body, &mut most);
    most
}
