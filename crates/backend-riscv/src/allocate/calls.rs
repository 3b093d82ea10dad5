//! Calls, parameters, results.
//! Trusted: nothing: the certifier looks at the bytes.

use super::{lives, Allocator, Res};
use crate::code::Reg;
use crate::flow::number;
use crate::mach::{At, Mach, CALLEE, SCRATCH, X};
use crate::moves::{ordered, Step};

/// Values that change hands in registers.
const AT_ONCE: usize = 10;

impl Allocator<'_> {
    pub(super) fn enter(&mut self, regs: &[Reg], after: &[(u32, Option<u32>)]) -> Res<()> {
        self.advance(after);
        for (k, r) in regs.iter().enumerate() {
            let Some(v) = number(*r).filter(|v| self.next.contains_key(v)) else { continue };
            if k >= 8 {
                self.incoming.insert(v, k as u32 - 8);
                self.state.mem.insert(v);
            } else {
                self.state.hold(v, 10 + k as X);
            }
        }
        Ok(())
    }

    pub(super) fn finish(&mut self, regs: &[Reg]) -> Res<()> {
        self.arguments(regs)?;
        self.push(Mach::Return);
        Ok(())
    }

    /// Values to the registers, and words of the stack, of the convention.
    fn arguments(&mut self, regs: &[Reg]) -> Res<()> {
        let own: Vec<u32> = regs.iter().copied().filter_map(number).collect();
        for (k, r) in regs.iter().enumerate().skip(8) {
            let x = self.read(*r, &own)?;
            self.push(Mach::Store(self.word_store(), x, At::Outgoing(k as u32 - 8), 0));
        }
        let mut moves = vec![];
        let mut late = vec![];
        for (k, r) in regs.iter().enumerate().take(8) {
            let to = 10 + k as X;
            match r {
                Reg::Zero => late.push((to, None)),
                Reg::Own(v) => match self.state.reg_of.get(v) {
                    Some(x) => moves.push((to, *x)),
                    None => late.push((to, Some(*v))),
                },
            }
        }
        // What is made again from an address that a move would overwrite is made before.
        for (to, v) in late.clone() {
            let Some(v) = v else { continue };
            let needs = self.flow.remade[v as usize].as_ref().is_some_and(|m| !m.0.reads().is_empty());
            if needs {
                let x = self.ensure(v, &own)?;
                late.retain(|(t, _)| *t != to);
                moves.push((to, x));
            }
        }
        // Registers may have changed hands.
        for m in &mut moves {
            if let Some(Reg::Own(v)) = regs.get(usize::from(m.0 - 10)) {
                m.1 = self.state.reg_of.get(v).copied().ok_or("an argument without a register")?;
            }
        }
        self.shuffle(&moves);
        for (to, v) in late {
            match v {
                None => self.push(Mach::Li(to, 0)),
                Some(v) => self.fetch(v, to, &own)?,
            }
        }
        Ok(())
    }

    /// Moves that happen at once.
    pub(super) fn shuffle(&mut self, moves: &[(X, X)]) {
        let steps = ordered(moves, (!self.all).then_some(SCRATCH));
        self.scratch |= steps.is_none();
        for Step { to, from } in steps.unwrap_or_default() {
            self.push(Mach::Mv(to, from));
        }
    }

    pub(super) fn call(&mut self, symbol: &str, args: &[Reg], results: &[Reg], after: &[(u32, Option<u32>)]) -> Res<()> {
        // What is read behind the call must not be where the callee may write.
        let held: Vec<(X, u32)> = self.state.holder.iter().map(|(x, v)| (*x, *v)).filter(|(x, _)| !CALLEE.contains(x)).collect();
        let behind = |v: u32| match after.iter().find(|(w, _)| *w == v) {
            Some((_, next)) => next.is_some(),
            None => self.next.contains_key(&v),
        };
        let live: Vec<(X, u32)> = held.into_iter().filter(|(_, v)| behind(*v)).collect();
        let mut safe = vec![];
        for (x, v) in live {
            if self.remade(v).is_some() || self.state.mem.contains(&v) {
                continue;
            }
            let free = CALLEE.iter().copied().filter(|c| self.is_free(*c) && !safe.iter().any(|(_, t, _)| t == c));
            let free: Vec<X> = free.collect();
            match free.iter().find(|c| self.used.contains(c)).or(free.first()) {
                Some(c) => {
                    self.used.insert(*c);
                    self.push(Mach::Mv(*c, x));
                    safe.push((v, *c, x));
                }
                None => self.put_away(v),
            }
        }
        for (v, c, _) in &safe {
            self.state.release(*v);
            self.state.hold(*v, *c);
        }
        self.arguments(args)?;
        self.push(Mach::Call(symbol.to_string()));
        self.advance(after);
        let gone: Vec<u32> = self.state.holder.iter().filter(|(x, _)| !CALLEE.contains(x)).map(|(_, v)| *v).collect();
        gone.into_iter().for_each(|v| self.state.release(v));
        self.drop_dead(after, &[]);
        for (k, r) in results.iter().enumerate() {
            let Some(v) = number(*r) else { continue };
            self.state.mem.remove(&v);
            self.state.release(v);
            if self.next.contains_key(&v) {
                self.state.hold(v, 10 + k as X);
            }
        }
        Ok(())
    }

    /// What is more than registers can change at once goes through the frame, if nothing that changes with it reads it.
    fn through_frame(&mut self, moves: &[(Reg, Reg)], after: &[(u32, Option<u32>)]) -> Res<Vec<(Reg, Reg)>> {
        let mut kept: Vec<(Reg, Reg)> = vec![];
        let sources: Vec<Reg> = moves.iter().map(|m| m.1).collect();
        let mut excess = moves.len().saturating_sub(AT_ONCE);
        for (d, s) in moves {
            let Some(v) = number(*d).filter(|_| excess > 0 && !sources.contains(d)) else {
                kept.push((*d, *s));
                continue;
            };
            excess -= 1;
            self.state.release(v);
            self.state.mem.remove(&v);
            if lives(after, v) {
                let own: Vec<u32> = number(*s).into_iter().collect();
                let x = self.read(*s, &own)?;
                self.push(Mach::Store(self.word_store(), x, self.home(v), 0));
                self.state.mem.insert(v);
                self.spilled.insert(v);
            }
        }
        if kept.len() > 2 * AT_ONCE { Err("too many values change at once".into()) } else { Ok(kept) }
    }

    /// Names change hands; what is still read under its old name is copied.
    pub(super) fn moves(&mut self, moves: &[(Reg, Reg)], after: &[(u32, Option<u32>)]) -> Res<()> {
        let moves = &self.through_frame(moves, after)?[..];
        let sources: Vec<u32> = moves.iter().filter_map(|m| number(m.1)).collect();
        let targets: Vec<u32> = moves.iter().filter_map(|m| number(m.0)).collect();
        let mut from: Vec<Option<X>> = vec![];
        for (d, s) in moves {
            let read = number(*d).is_some_and(|d| lives(after, d));
            from.push(match s {
                Reg::Own(v) if read => Some(self.ensure(*v, &sources)?),
                _ => None,
            });
        }
        self.advance(after);
        let mut taken: Vec<X> = from.iter().flatten().copied().collect();
        let mut given: Vec<(u32, X)> = vec![];
        for ((d, s), x) in moves.iter().zip(&from) {
            let Some(d) = number(*d) else { continue };
            if !self.next.contains_key(&d) {
                continue;
            }
            let kept = |v: u32| self.next.contains_key(&v) && !targets.contains(&v);
            let to = match (number(*s), x) {
                (Some(v), Some(x)) if !kept(v) && !given.iter().any(|(_, t)| t == x) => *x,
                (_, x) => {
                    let keep: Vec<u32> = sources.clone();
                    let to = self.take(Some(d), &keep, &taken)?;
                    taken.push(to);
                    self.push(match x {
                        Some(x) => Mach::Mv(to, *x),
                        None => Mach::Li(to, 0),
                    });
                    to
                }
            };
            given.push((d, to));
        }
        for v in targets.iter().chain(&sources) {
            if targets.contains(v) || !self.next.contains_key(v) {
                self.state.release(*v);
                self.state.mem.remove(v);
            }
        }
        for (d, x) in given {
            if let Some(old) = self.state.holder.get(&x).copied() {
                self.state.release(old);
            }
            self.state.hold(d, x);
        }
        self.towards(&targets);
        Ok(())
    }

    /// What has a new name goes where the names behind it are expected, if that is free or becomes it.
    fn towards(&mut self, names: &[u32]) {
        let held: Vec<(u32, X)> = names.iter().filter_map(|v| Some((*v, *self.state.reg_of.get(v)?))).collect();
        let mut moves: Vec<(u32, X, X)> = held.iter().filter_map(|(v, x)| Some((*v, self.hints.of_value(*v).filter(|to| to != x)?, *x))).collect();
        loop {
            let leaves = |x: &X| moves.iter().any(|m| m.2 == *x);
            let before = moves.len();
            let possible: Vec<bool> = moves.iter().enumerate().map(|(k, m)| (self.is_free(m.1) || leaves(&m.1)) && !moves[..k].iter().any(|o| o.1 == m.1)).collect();
            let mut kept = possible.iter();
            moves.retain(|_| *kept.next().unwrap_or(&false));
            if moves.len() == before {
                break;
            }
        }
        self.shuffle(&moves.iter().map(|m| (m.1, m.2)).collect::<Vec<_>>());
        moves.iter().for_each(|m| self.state.release(m.0));
        for (v, to, _) in moves {
            self.used.insert(to);
            self.state.hold(v, to);
        }
        for (v, x) in held {
            let x = self.state.reg_of.get(&v).copied().unwrap_or(x);
            self.hints.settle(v, x);
        }
    }
}
