//! Blocks, and for every place when a register is read next.
//!
//! Needs: code.  Keeps: a register is live exactly where a distance is known.  Absent: registers of the machine.
//! Trusted: nothing: the certifier looks at the bytes.

use crate::code::{Base, Code, Inst, Label, Reg};
use std::collections::HashMap;
use std::ops::Range;

/// Instructions to a register's next read.
pub type Next = HashMap<u32, u32>;

/// What leaving a loop counts for: what is read behind it can wait.
pub const BEHIND_LOOP: u32 = 1 << 20;

/// How a register gets its value again, if it is written once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remade(pub Inst);

pub struct Flow {
    pub blocks: Vec<Range<usize>>,
    /// At the start of each block.
    pub next: Vec<Next>,
    pub remade: Vec<Option<Remade>>,
    /// The first and last place where each register is live.
    pub spans: Vec<Option<(usize, usize)>>,
    /// The most registers that are live at once in each block.
    pub pressure: Vec<usize>,
    block_of_label: HashMap<Label, usize>,
}

impl Flow {
    pub fn of(code: &Code) -> Flow {
        let blocks = blocks(code);
        let block_of_label = blocks.iter().enumerate().filter_map(|(k, b)| match code.insts[b.start] {
            Inst::Label(l) => Some((l, k)),
            _ => None,
        }).collect();
        let count = blocks.len();
        let mut flow = Flow { blocks, next: vec![Next::new(); count], remade: remade(code), spans: vec![None; code.registers as usize], pressure: vec![0; count], block_of_label };
        flow.distances(code);
        flow.measure(code);
        flow
    }

    pub fn block_of(&self, l: Label) -> Option<usize> {
        self.block_of_label.get(&l).copied()
    }

    /// What an instruction reads, and what is needed to make that again.
    pub fn reads(&self, i: &Inst) -> Vec<u32> {
        let mut all: Vec<u32> = i.reads().into_iter().filter_map(number).collect();
        let mut k = 0;
        while k < all.len() {
            if let Some(Remade(make)) = &self.remade[all[k] as usize] {
                all.extend(make.reads().into_iter().filter_map(number));
            }
            k += 1;
        }
        all
    }

    /// When registers are read next behind a block, in distances from its end.
    fn behind(&self, code: &Code, k: usize) -> Next {
        let mut all = Next::new();
        let last = self.blocks[k].end - 1;
        for to in self.successors(code, k) {
            let head = self.blocks[to].start;
            let leaves = code.loops.iter().filter(|(a, b)| (*a..=*b).contains(&last) && !(*a..=*b).contains(&head)).count() as u32;
            for (v, d) in &self.next[to] {
                let d = d.saturating_add(leaves * BEHIND_LOOP).min(u32::MAX / 4);
                all.entry(*v).and_modify(|old| *old = d.min(*old)).or_insert(d);
            }
        }
        all
    }

    fn successors(&self, code: &Code, k: usize) -> Vec<usize> {
        let label = |l: &Label| self.block_of(*l);
        let following = (k + 1 < self.blocks.len()).then_some(k + 1);
        match &code.insts[self.blocks[k].end - 1] {
            Inst::Branch(_, _, _, l) => label(l).into_iter().chain(following).collect(),
            Inst::Jump(l) => label(l).into_iter().collect(),
            Inst::Return(_) | Inst::Stop => vec![],
            _ => following.into_iter().collect(),
        }
    }

    fn distances(&mut self, code: &Code) {
        loop {
            let mut same = true;
            for k in (0..self.blocks.len()).rev() {
                let (start, end) = (self.blocks[k].start, self.blocks[k].end);
                let mut at: HashMap<u32, u32> = self.behind(code, k).into_iter().map(|(v, d)| (v, d + end as u32)).collect();
                for i in (start..end).rev() {
                    at.retain(|v, _| !code.insts[i].writes().contains(&Reg::Own(*v)));
                    at.extend(self.reads(&code.insts[i]).into_iter().map(|v| (v, i as u32)));
                }
                let next: Next = at.into_iter().map(|(v, p)| (v, p - start as u32)).collect();
                same &= next == self.next[k];
                self.next[k] = next;
            }
            if same {
                return;
            }
        }
    }

    /// For each instruction of a block, when what it reads and writes is read next behind it: a place, or none.
    pub fn after(&self, code: &Code, k: usize) -> Vec<Vec<(u32, Option<u32>)>> {
        let (start, end) = (self.blocks[k].start, self.blocks[k].end);
        let mut at: HashMap<u32, u32> = self.behind(code, k).into_iter().map(|(v, d)| (v, d + end as u32)).collect();
        let mut all = vec![vec![]; end - start];
        for i in (start..end).rev() {
            let (reads, writes) = (self.reads(&code.insts[i]), code.insts[i].writes());
            let writes: Vec<u32> = writes.into_iter().filter_map(number).collect();
            all[i - start] = reads.iter().chain(&writes).map(|v| (*v, at.get(v).copied())).collect();
            at.retain(|v, _| !writes.contains(v));
            at.extend(reads.iter().map(|v| (*v, i as u32)));
        }
        all
    }

    fn measure(&mut self, code: &Code) {
        for k in 0..self.blocks.len() {
            let mut live: HashMap<u32, u32> = self.behind(code, k);
            let seen: Vec<u32> = live.keys().copied().collect();
            let (start, end) = (self.blocks[k].start, self.blocks[k].end);
            seen.into_iter().for_each(|v| self.spanned(v, end));
            for i in (start..end).rev() {
                for v in code.insts[i].writes().into_iter().filter_map(number) {
                    live.remove(&v);
                    self.spanned(v, i);
                }
                for v in self.reads(&code.insts[i]) {
                    live.insert(v, 0);
                    self.spanned(v, i);
                }
                let kept = live.keys().filter(|v| self.remade[**v as usize].is_none()).count();
                self.pressure[k] = self.pressure[k].max(kept);
            }
            let seen: Vec<u32> = live.keys().copied().collect();
            seen.into_iter().for_each(|v| self.spanned(v, start));
        }
    }

    fn spanned(&mut self, v: u32, at: usize) {
        let s = self.spans[v as usize].get_or_insert((at, at));
        *s = (s.0.min(at), s.1.max(at));
    }
}

pub fn number(r: Reg) -> Option<u32> {
    match r {
        Reg::Own(n) => Some(n),
        Reg::Zero => None,
    }
}

fn blocks(code: &Code) -> Vec<Range<usize>> {
    let n = code.insts.len();
    let mut starts = vec![0];
    for (k, i) in code.insts.iter().enumerate() {
        if matches!(i, Inst::Label(_)) && k > 0 {
            starts.push(k);
        }
        if matches!(i, Inst::Branch(..) | Inst::Jump(_) | Inst::Return(_) | Inst::Stop) && k + 1 < n {
            starts.push(k + 1);
        }
    }
    starts.sort_unstable();
    starts.dedup();
    starts.iter().enumerate().map(|(k, s)| *s..starts.get(k + 1).copied().unwrap_or(n)).collect()
}

/// Registers that are written once, by what needs nothing, or by a load from what does not change.
fn remade(code: &Code) -> Vec<Option<Remade>> {
    let mut writes = vec![0u32; code.registers as usize];
    for v in code.insts.iter().flat_map(|i| i.writes()).filter_map(number) {
        writes[v as usize] += 1;
    }
    let mut all = vec![None; code.registers as usize];
    for i in &code.insts {
        let Some(d) = i.writes().first().copied().and_then(number).filter(|d| writes[*d as usize] == 1) else { continue };
        let short = match i {
            Inst::Li(..) | Inst::Slot(..) | Inst::Table(..) => true,
            Inst::Again(_, _, Base::Reg(Reg::Own(b)), _) => writes[*b as usize] == 1,
            Inst::Again(..) => true,
            _ => false,
        };
        if short {
            all[d as usize] = Some(Remade(i.clone()));
        }
    }
    all
}
