//! Registers of groups: which may be shared, and what is lost.
//! Trusted: nothing: the certifier looks at the bytes.

use super::{lives, Allocator, Res};
use crate::code::{length, Inst, Reg};
use crate::flow::{number, Remade};
use crate::forms::Kind;
use crate::mach::{Mach, X};

impl Allocator<'_> {
    pub(super) fn group(&mut self, kind: Kind, ins: &[Reg], outs: [Reg; 2], after: &[(u32, Option<u32>)]) -> Res<()> {
        let form = kind.form();
        let mut ins: Vec<u32> = ins.iter().copied().filter_map(number).collect();
        // The result may have the register of the second, if nothing reads that later.
        if form.commutes && lives(after, ins[1]) && !lives(after, ins[0]) {
            ins.swap(0, 1);
        }
        let keep = ins.clone();
        let mut xs: Vec<X> = vec![];
        for v in &ins {
            xs.push(self.ensure(*v, &keep)?);
        }
        if form.in_place {
            return self.in_place(kind, &ins, &xs, outs, after);
        }
        self.advance(after);
        // Each result: a register that nothing holds any more, but for those that it may not have.
        let mut given: Vec<X> = vec![];
        let dying: Vec<X> = ins.iter().zip(&xs).filter(|(v, _)| !self.next.contains_key(v)).map(|(_, x)| *x).collect();
        for (k, r) in outs.iter().enumerate() {
            let apart: Vec<X> = form.apart[k].iter().map(|j| xs[*j]).chain(given.iter().copied()).collect();
            let hint = number(*r).and_then(|v| self.hints.of_value(v)).filter(|x| dying.contains(x) || self.is_free(*x));
            let reused = hint.into_iter().chain(dying.iter().copied()).find(|x| !apart.contains(x));
            let x = match reused {
                Some(x) => x,
                None => self.take(number(*r), &keep, &apart)?,
            };
            // Nothing else gets it in between.
            if let Some(v) = self.state.holder.get(&x).copied() {
                self.state.release(v);
            }
            self.held_for(*r, x);
            given.push(x);
        }
        self.drop_dead(after, &[]);
        self.push(Mach::Group(kind, xs, given, vec![]));
        Ok(())
    }

    fn held_for(&mut self, r: Reg, x: X) {
        if let Some(v) = number(r) {
            self.state.mem.remove(&v);
            self.state.hold(v, x);
        }
    }

    /// What nothing reads holds no register.
    fn unheld(&mut self, outs: [Reg; 2]) {
        for v in outs.into_iter().filter_map(number) {
            if !self.next.contains_key(&v) {
                self.state.release(v);
            }
        }
    }

    /// A constant that is made by one instruction, or that only other ways read.
    fn is_cheap_later(&self, v: u32, after: &[(u32, Option<u32>)]) -> bool {
        let Some(Remade(Inst::Li(_, n))) = self.remade(v) else { return false };
        self.lazy && (length(*n) == 1 || after.iter().any(|(w, next)| *w == v && next.is_some_and(|at| at as usize >= self.block_end)))
    }

    /// What a group destroys and something reads later is copied before, or fetched again then.
    fn in_place(&mut self, kind: Kind, ins: &[u32], xs: &[X], outs: [Reg; 2], after: &[(u32, Option<u32>)]) -> Res<()> {
        let mut xs = xs.to_vec();
        let mut taken: Vec<X> = xs.clone();
        for k in 0..ins.len() {
            let again = ins[..k].contains(&ins[k]);
            if !again && !lives(after, ins[k]) {
                continue;
            }
            let free = self.order(None).iter().any(|x| self.is_free(*x) && !taken.contains(x));
            let kept = self.remade(ins[k]).is_some() || self.state.mem.contains(&ins[k]);
            if kept && (!free || self.is_cheap_later(ins[k], after)) && !again {
                // Its other copy is enough.
                self.state.release(ins[k]);
                continue;
            }
            let x = self.take(None, ins, &taken)?;
            self.push(Mach::Mv(x, xs[k]));
            xs[k] = x;
            taken.push(x);
        }
        let mut temporaries = vec![];
        for _ in 0..kind.form().temporaries {
            let x = self.take(None, ins, &taken)?;
            taken.push(x);
            temporaries.push(x);
        }
        self.advance(after);
        self.drop_dead(after, &[]);
        for (k, r) in outs.into_iter().enumerate() {
            self.held_for(r, xs[k]);
        }
        self.push(Mach::Group(kind, xs, vec![], temporaries));
        self.unheld(outs);
        Ok(())
    }
}
