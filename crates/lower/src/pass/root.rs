//! Where addresses lead: every one is a place in a slot, in a table, or in what a parameter points to.
//! Trusted: nothing: nothing that ships is made of it.

use crate::data::{Block, Func, Inst, Kind, Op, Value};
use std::collections::BTreeMap;

/// Memory that lies apart from what other roots lead to, as far as one of the two is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Root {
    Slot(u32),
    Table(u32),
    /// By its place among the parameters.
    Param(usize),
}

pub(super) fn roots(f: &Func) -> BTreeMap<Value, Root> {
    let mut all: BTreeMap<Value, Root> = f.params.iter().enumerate().filter(|(_, p)| p.ty.kind == Kind::Ptr).map(|(k, p)| (p.value, Root::Param(k))).collect();
    within(&f.body, &mut all);
    all
}

fn within(b: &Block, all: &mut BTreeMap<Value, Root>) {
    for i in &b.insts {
        match i {
            Inst::Let { dst, op } => {
                let root = match op {
                    Op::Slot(k) => Some(Root::Slot(*k)),
                    Op::Table(k) => Some(Root::Table(*k)),
                    Op::At(a) => all.get(&a.base).copied(),
                    _ => None,
                };
                if let (Some(root), [d]) = (root, &dst[..]) {
                    all.insert(d.0, root);
                }
            }
            Inst::If { then, els, .. } => {
                within(then, all);
                within(els, all);
            }
            Inst::For(f) => within(&f.body, all),
            Inst::Store { .. } | Inst::Copy { .. } | Inst::Call { .. } => {}
        }
    }
}
