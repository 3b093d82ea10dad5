//! Addresses that are kept for one reason alone: what was loaded from there could be loaded again.
//! Trusted: nothing: the certifier looks at the bytes.

use super::Allocator;
use crate::code::{Base, Inst, Reg};
use crate::flow::Remade;
use crate::mach::X;

impl Allocator<'_> {
    /// The register of an address that no instruction of its own reads any more, where all that was loaded from there is in registers and neither
    /// leaves this block. What was loaded is from now on what is not made again.
    pub(super) fn spare_base(&mut self, not: &[X]) -> Option<X> {
        if !self.lazy {
            return None;
        }
        let held = self.state.holder.iter().filter(|(x, _)| !not.contains(x));
        let (x, base, loaded) = held.map(|(x, b)| (*x, *b, self.loaded_from(*b))).find(|(_, b, loaded)| !loaded.is_empty() && self.is_spare(*b, loaded))?;
        loaded.into_iter().for_each(|v| self.flow.remade[v as usize] = None);
        self.state.release(base);
        Some(x)
    }

    /// What is live and is made again with this address.
    fn loaded_from(&self, base: u32) -> Vec<u32> {
        let from = |v: &u32| matches!(self.remade(*v), Some(Remade(Inst::Again(_, _, Base::Reg(Reg::Own(b)), _))) if *b == base);
        self.next.keys().copied().filter(from).collect()
    }

    fn is_spare(&self, base: u32, loaded: &[u32]) -> bool {
        let ends = |v: u32| self.flow.spans[v as usize].is_some_and(|s| s.1 < self.block_end);
        let read = self.code.insts[self.at as usize..self.block_end].iter().any(|i| i.reads().contains(&Reg::Own(base)));
        ends(base) && !read && loaded.iter().all(|v| ends(*v) && self.state.reg_of.contains_key(v))
    }
}
