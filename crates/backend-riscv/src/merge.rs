//! Operations of one block that become one group.
//! Trusted: nothing: the certifier looks at the bytes.

use santoku_lower::{BinOp, Block, Inst, Named, Op, Value};
use std::collections::{BTreeMap, BTreeSet};

/// What goes together.
#[derive(Default)]
pub struct Merges {
    /// Both words of a product, by either: the high one, the low one.
    pub wide: BTreeMap<Value, (Named, Named)>,
    /// By a carry that one sum alone reads: what it is added to, and that sum.
    pub carried: BTreeMap<Value, (Value, Named)>,
}

/// `reads`: how often each value of the function is read.
pub fn merges(b: &Block, reads: &BTreeMap<Value, u32>) -> Merges {
    let mut all = Merges::default();
    let mut high: BTreeMap<(Value, Value), Named> = BTreeMap::new();
    let mut low: BTreeMap<(Value, Value), Named> = BTreeMap::new();
    // Where the carries of the block were made, and all that was named since.
    let mut carries: BTreeMap<Value, usize> = BTreeMap::new();
    let mut named: BTreeMap<Value, usize> = BTreeMap::new();
    let mut merged: BTreeSet<Value> = BTreeSet::new();
    for (k, i) in b.insts.iter().enumerate() {
        let Inst::Let { dst, op } = i else {
            // What blocks within name is not seen here.
            let given: &[Named] = match i {
                Inst::Call { dst, .. } | Inst::If { dst, .. } => dst,
                Inst::For(f) => &f.dst,
                _ => &[],
            };
            named.extend(given.iter().map(|d| (d.0, k)));
            continue;
        };
        match op {
            Op::Bin(BinOp::MulHu, x, y) => drop(high.insert(ordered(*x, *y), dst[0])),
            Op::Bin(BinOp::Mul, x, y) => drop(low.insert(ordered(*x, *y), dst[0])),
            Op::AddCarry(..) if reads.get(&dst[1].0) == Some(&1) => drop(carries.insert(dst[1].0, k)),
            Op::Bin(BinOp::Add, x, y) => {
                for (carry, other) in [(x, y), (y, x)] {
                    let Some(made) = carries.get(carry) else { continue };
                    // What the carry is added to was there before, in this block or around it.
                    if named.get(other).is_none_or(|at| at < made) && carry != other && merged.insert(*carry) {
                        all.carried.insert(*carry, (*other, dst[0]));
                        break;
                    }
                }
            }
            _ => {}
        }
        named.extend(dst.iter().map(|d| (d.0, k)));
    }
    for (operands, h) in high {
        if let Some(l) = low.get(&operands).filter(|l| l.1.bits() == h.1.bits()) {
            all.wide.insert(h.0, (h, *l));
            all.wide.insert(l.0, (h, *l));
        }
    }
    all
}

fn ordered(a: Value, b: Value) -> (Value, Value) {
    if a <= b { (a, b) } else { (b, a) }
}
