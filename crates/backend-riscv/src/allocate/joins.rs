//! Labels: every way arrives with values at the same places.
//! Trusted: nothing: the certifier looks at the bytes.

use super::{Allocator, Res, State};
use crate::code::{Inst, Label, Reg};
use crate::flow::BEHIND_LOOP;
use crate::mach::{At, Mach, CALLEE, SCRATCH, X};
use std::collections::BTreeSet;

impl Allocator<'_> {
    /// What is live at a label.
    fn live_at(&self, l: Label) -> BTreeSet<u32> {
        self.flow.block_of(l).map(|k| self.flow.next[k].keys().copied().collect()).unwrap_or_default()
    }

    pub(super) fn label(&mut self, l: Label, at: usize, reached: bool) -> Res<()> {
        if reached && !self.expected.contains_key(&l) {
            self.before_loop(at)?;
        }
        if reached {
            self.arrive(l, false)?;
        }
        self.state = self.expected.get(&l).cloned().unwrap_or_default();
        self.push(Mach::Label(l));
        Ok(())
    }

    pub(super) fn jump(&mut self, l: Label) -> Res<()> {
        self.arrive(l, false)?;
        self.push(Mach::Jump(l));
        Ok(())
    }

    pub(super) fn branch(&mut self, name: &'static str, (a, b): (Reg, Reg), l: Label, after: &[(u32, Option<u32>)]) -> Res<()> {
        let own: Vec<u32> = [a, b].into_iter().filter_map(crate::flow::number).collect();
        for r in [a, b] {
            self.read(r, &own)?;
        }
        if self.expected.contains_key(&l) {
            self.arrive(l, true)?;
        }
        let free = self.order(None).into_iter().filter(|x| self.is_free(*x) && (self.used.contains(x) || !CALLEE.contains(x)));
        let mut spare: Vec<X> = if self.all { free.take(2).collect() } else { free.take(1).chain([SCRATCH]).collect() };
        let mut xs: Vec<X> = vec![];
        for r in [a, b] {
            xs.push(match r {
                Reg::Zero => 0,
                Reg::Own(v) => match self.state.reg_of.get(&v) {
                    Some(x) => *x,
                    None => {
                        self.scratch |= spare.is_empty();
                        let x = spare.pop().unwrap_or(SCRATCH);
                        self.fetch(v, x, &own)?;
                        x
                    }
                },
            });
        }
        self.advance(after);
        self.drop_dead(after, &[]);
        if !self.expected.contains_key(&l) {
            let mut state = self.state.clone();
            state.keep(&self.live_at(l));
            self.expected.insert(l, state);
        }
        self.push(Mach::Branch(name, xs[0], xs[1], l));
        Ok(())
    }

    /// What no round of a loop reads leaves the registers that its rounds need; with calls in it, all leave those that calls do not keep.
    fn before_loop(&mut self, at: usize) -> Res<()> {
        let code = self.code;
        let Some((first, last)) = code.loops.iter().copied().find(|l| l.0 == at) else { return Ok(()) };
        let calls = code.insts[first..=last].iter().any(|i| matches!(i, Inst::Call { .. }));
        let mut held: Vec<(u32, u32, X)> = self.state.holder.iter().map(|(x, v)| (self.next.get(v).copied().unwrap_or(u32::MAX), *v, *x)).collect();
        held.sort_unstable();
        if calls {
            for (_, v, x) in held.into_iter().filter(|(_, _, x)| !CALLEE.contains(x)) {
                let free = CALLEE.iter().copied().filter(|c| self.is_free(*c)).collect::<Vec<_>>();
                let found = free.iter().find(|c| self.used.contains(c)).or(free.first()).copied().filter(|_| self.remade(v).is_none());
                match found {
                    Some(c) => {
                        self.used.insert(c);
                        self.push(Mach::Mv(c, x));
                        self.state.release(v);
                        self.state.hold(v, c);
                    }
                    None => {
                        self.put_away(v);
                        self.state.release(v);
                    }
                }
            }
            return Ok(());
        }
        let inside = (0..self.flow.blocks.len()).filter(|k| (first..=last).contains(&self.flow.blocks[*k].start));
        let most = inside.map(|k| self.flow.pressure[k]).max().unwrap_or(0);
        let registers = self.order(None).len();
        let far: Vec<u32> = held.iter().rev().filter(|h| h.0 >= BEHIND_LOOP).map(|h| h.1).collect();
        for v in far.into_iter().take(most.saturating_sub(registers - 2)) {
            self.put_away(v);
            self.state.release(v);
        }
        Ok(())
    }

    /// Puts values where the label expects them. The first way says where that is. `rest`: what the label does not expect is kept, for the way that
    /// goes past it.
    fn arrive(&mut self, l: Label, rest: bool) -> Res<()> {
        let live = self.live_at(l);
        let Some(want) = self.expected.get(&l) else {
            let mut state = self.state.clone();
            state.keep(&live);
            self.expected.insert(l, state);
            return Ok(());
        };
        let want: State = want.clone();
        let others: Vec<(u32, X)> = self.state.reg_of.iter().map(|(v, x)| (*v, *x)).filter(|(v, _)| rest && !want.reg_of.contains_key(v)).collect();
        let (displaced, others): (Vec<_>, Vec<_>) = others.into_iter().partition(|(_, x)| want.holder.contains_key(x));
        for (v, _) in displaced {
            self.put_away(v);
            // Where the label wants it in the frame it still has to be read.
            if !want.mem.contains(&v) || self.state.mem.contains(&v) {
                self.state.release(v);
            }
        }
        // First to the frame, then between registers, then from the frame.
        for v in &want.mem {
            if !self.state.mem.contains(v) {
                let x = self.state.reg_of.get(v).copied().ok_or("a value that is nowhere")?;
                self.push(Mach::Store(self.word_store(), x, self.home(*v), 0));
                if matches!(self.home(*v), At::Spilled(_)) {
                    self.spilled.insert(*v);
                }
                self.state.mem.insert(*v);
            }
        }
        let (mut moves, mut late) = (vec![], vec![]);
        for (x, v) in &want.holder {
            match self.state.reg_of.get(v) {
                Some(own) => moves.push((*x, *own)),
                None => late.push((*x, *v)),
            }
        }
        self.shuffle(&moves);
        let mem = self.state.mem.clone();
        self.state = State { mem: mem.clone(), ..want.clone() };
        // Addresses that others are made from come first.
        late.sort_by_key(|(_, v)| self.flow.remade[*v as usize].as_ref().map_or(0, |m| m.0.reads().len()));
        for (x, v) in late {
            let needs = self.flow.remade[v as usize].as_ref().and_then(|m| m.0.reads().first().copied());
            match needs {
                Some(Reg::Own(base)) if !self.state.reg_of.contains_key(&base) => {
                    self.fetch(base, x, &[])?;
                    let Some(Inst::Again(name, _, _, offset)) = self.flow.remade[v as usize].as_ref().map(|m| m.0.clone()) else { return Err("what is made again".into()) };
                    self.push(Mach::Load(name, x, At::Reg(x), offset));
                }
                _ => self.fetch(v, x, &[])?,
            }
        }
        self.state = want;
        if rest {
            self.state.mem.extend(mem);
            others.into_iter().for_each(|(v, x)| self.state.hold(v, x));
        }
        Ok(())
    }
}
