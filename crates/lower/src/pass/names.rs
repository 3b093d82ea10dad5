//! Numbers of values.
//! Trusted: nothing: nothing that ships is made of it.

use crate::data::{Func, Inst, Value};

/// The first number that no value has.
pub(super) fn names(f: &Func) -> u32 {
    let mut most = 0;
    let mut see = |v: Value| most = most.max(v.0 + 1);
    f.params.iter().for_each(|p| see(p.value));
    f.body.each(&mut |i| match i {
        Inst::Let { dst, .. } | Inst::Call { dst, .. } | Inst::If { dst, .. } => dst.iter().for_each(|d| see(d.0)),
        Inst::For(f) => f.dst.iter().chain(f.carried.iter().map(|c| &c.0)).chain([&f.counter]).for_each(|d| see(d.0)),
        Inst::Store { .. } | Inst::Copy { .. } => {}
    });
    most
}
