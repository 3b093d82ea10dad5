//! What variables hold something, and what of a parameter is still there when it is read.
//!
//! A variable that C declares inside a block holds nothing when the block begins, also in the next round of a loop: the program must assign what
//! it reads of it there before. A parameter that callers may give the same object as a result is read nowhere where the result was written before.

use crate::state::{Res, State, Use};
use crate::term::{Root, Step, T};
use santoku_ir::{LocalId, LocalKind, Ty};
use santoku_num::Int;
use std::collections::BTreeSet;

impl State<'_> {
    /// A statement of the program is done: it read what it read, and wrote these places.
    pub fn finish(&mut self, written: &[(Root, Vec<Step>, Option<T>, Ty)]) -> Res<()> {
        let mut reads = std::mem::take(&mut self.core_reads);
        reads.sort_unstable();
        reads.dedup();
        for (root, path) in &reads {
            self.holds(*root, path)?;
        }
        let c_reads = std::mem::take(&mut self.c_reads);
        for (root, path) in c_reads {
            if reads.binary_search(&(root, path.clone())).is_err() && !self.is_there(root, &path)? {
                let path = self.terms.show_path(&path);
                return self.fail(format!("C reads {root:?}{path}, which may not be there, and the program does not"));
            }
        }
        self.time += 1;
        let time = self.time;
        for (root, path) in reads {
            self.used(root, path, time, false);
        }
        for (root, path, from, ty) in written {
            let path = path.clone();
            self.used(*root, path.clone(), time, true);
            self.defines(*root, path, *from, ty)?;
        }
        Ok(())
    }

    /// Are the indices of a place surely those of elements?
    fn is_there(&mut self, root: Root, path: &[Step]) -> Res<bool> {
        let Some(mut ty) = self.root_ty(root) else { return Ok(false) };
        for s in path {
            if let (Step::Index(i), Ty::Array { len, .. }) = (s, &ty) {
                let n = self.length(&len.clone())?;
                if !self.below(*i, n) {
                    return Ok(false);
                }
            }
            match self.ty_behind(&ty, &[*s]) {
                Some(inner) => ty = inner,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Parameters that may be results, and results.
    fn used(&mut self, root: Root, path: Vec<Step>, time: usize, writes: bool) {
        let of = |ids: &[LocalId]| ids.iter().any(|id| self.locals[id.0 as usize] == Some(root));
        if of(if writes { &self.f.rets } else { &self.f.params }) {
            let around = self.around.clone();
            self.uses.push(Use { root, path, time, writes, loops: around.loops, sides: around.sides });
        }
    }

    fn holds(&mut self, root: Root, path: &[Step]) -> Res<()> {
        let Some(parts) = self.held.get(&root).cloned() else { return Ok(()) };
        if !self.matters(root) || parts.iter().any(|p| path.starts_with(p)) {
            return Ok(());
        }
        let below: Vec<Vec<Step>> = parts.iter().filter(|p| p.starts_with(path)).map(|p| p[path.len()..].to_vec()).collect();
        let ty = self.root_ty(root).and_then(|t| self.ty_behind(&t, path));
        if let Some(ty) = ty {
            if self.covered(&ty, &below)? {
                return Ok(());
            }
        }
        let (name, path) = (self.root_name(root), self.terms.show_path(path));
        self.fail(format!("`{name}{path}` is read where C has just declared it"))
    }

    pub fn root_name(&self, root: Root) -> String {
        match root {
            Root::Object(k) if !State::own(root) => self.name_of(LocalId(k)).to_string(),
            _ => format!("{root:?}"),
        }
    }

    pub fn defines(&mut self, root: Root, path: Vec<Step>, from: Option<T>, ty: &Ty) -> Res<()> {
        if !self.held.contains_key(&root) || !path.iter().all(|s| self.steady(s)) {
            return Ok(());
        }
        let mut new = vec![path.clone()];
        if let (Some(from), Ty::Array { len, .. }) = (from, ty) {
            let (n, first) = (self.length(len)?, self.terms.value(from));
            let (Some(n), Some(first)) = (self.terms.value(n).and_then(|n| n.to_u64()), first.and_then(|f| f.to_u64())) else { return Ok(()) };
            new = (first..first + n).map(|k| [path.clone(), vec![Step::Index(self.terms.int(i128::from(k)))]].concat()).collect();
        }
        let parts = self.held.get_mut(&root).map_or(&mut vec![], |p| p).clone();
        let mut parts: Vec<Vec<Step>> = [parts, new].concat().into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        if let Some(whole) = self.root_ty(root) {
            if self.covered(&whole, &parts)? {
                parts = vec![vec![]];
            }
        }
        self.held.insert(root, parts);
        Ok(())
    }

    /// The same wherever it is looked at, while the counters are.
    fn steady(&self, s: &Step) -> bool {
        let Step::Index(t) = s else { return true };
        self.terms.roots(*t).iter().all(|r| match r {
            Root::Object(k) if !State::own(*r) => matches!(self.f.locals[*k as usize].kind, LocalKind::Len | LocalKind::Param | LocalKind::Counter),
            Root::Const(_) => true,
            _ => false,
        })
    }

    /// A loop is left: what each round defines at the counter is defined at all indices; what each round defines is, if there surely is one.
    pub fn after_loop(&mut self, before: &[(Root, Vec<Vec<Step>>)], counter: T, (lo, hi): (T, T)) -> Res<()> {
        let runs = self.terms.value(lo).zip(self.terms.value(hi)).is_some_and(|(a, b)| a < b);
        let zero = self.terms.value(lo).is_some_and(|v| v.is_zero());
        for (root, old) in before {
            let inside = self.held.remove(root).unwrap_or_default();
            let mut parts = old.clone();
            for p in inside {
                let counted = p.iter().any(|s| matches!(s, Step::Index(t) if self.terms.contains(*t, counter)));
                if !counted && runs && !old.contains(&p) {
                    parts.push(p);
                } else if counted && zero {
                    let all = self.round(32, hi);
                    parts.push(p.iter().map(|s| self.terms.replace_step(*s, counter, all)).collect());
                }
            }
            if let Some(whole) = self.root_ty(*root) {
                if self.covered(&whole, &parts)? {
                    parts = vec![vec![]];
                }
            }
            self.held.insert(*root, parts);
        }
        Ok(())
    }

    /// After a branch: what both sides define.
    pub fn after_branch(&mut self, one: &[(Root, Vec<Vec<Step>>)], other: &[(Root, Vec<Vec<Step>>)]) {
        let within = |p: &Vec<Step>, parts: &[Vec<Step>]| parts.iter().any(|q| p.starts_with(q));
        for (root, a) in one {
            let b = other.iter().find(|o| o.0 == *root).map_or(&[][..], |o| &o.1);
            let both: BTreeSet<Vec<Step>> = a.iter().filter(|p| within(p, b)).chain(b.iter().filter(|p| within(p, a))).cloned().collect();
            self.held.insert(*root, both.into_iter().collect());
        }
    }

    pub fn held_now(&self) -> Vec<(Root, Vec<Vec<Step>>)> {
        self.held.iter().map(|(r, p)| (*r, p.clone())).collect()
    }

    /// Pairs of a result and a parameter that callers may give one object.
    pub fn pairs(&self) -> Vec<(Root, Root)> {
        let shared = &self.unit.pieces.shared[self.id.0 as usize];
        let root = |id: &LocalId| self.locals[id.0 as usize];
        let all = self.f.rets.iter().enumerate().flat_map(|(r, ret)| self.f.params.iter().enumerate().map(move |(p, param)| (r, ret, p, param)));
        all.filter(|(r, _, p, _)| shared[*r][*p]).filter_map(|(_, ret, _, param)| Some((root(ret)?, root(param)?))).collect()
    }

    /// No parameter is read where a result that may be the same object was written before.
    pub fn unharmed(&mut self) -> Res<()> {
        let uses = std::mem::take(&mut self.uses);
        for (ret, param) in self.pairs() {
            let of = |root: Root, writes: bool| uses.iter().filter(move |u| u.root == root && u.writes == writes);
            for w in of(ret, true) {
                for r in of(param, false) {
                    if !self.in_order(r, w) {
                        let (a, b) = (self.root_name(ret), self.root_name(param));
                        return self.fail(format!("`{a}` may be written where `{b}` is still read, and both may be one object"));
                    }
                }
            }
        }
        Ok(())
    }

    fn in_order(&mut self, r: &Use, w: &Use) -> bool {
        let common: Vec<T> = r.loops.iter().filter(|l| w.loops.contains(l)).map(|l| l.1).collect();
        let apart = r.sides.iter().any(|(k, side)| w.sides.iter().any(|(j, other)| k == j && side != other));
        let ordered = w.time >= r.time || apart;
        if common.is_empty() && ordered {
            return true;
        }
        let steady = r.path.iter().chain(&w.path).all(|s| self.steady(s));
        if steady && self.apart(&r.path, &w.path) {
            return true;
        }
        // Each round has elements of its own.
        let group = |s: &Step, counter: T| match s {
            Step::Index(t) => self.group(*t, counter),
            Step::Field(_) => None,
        };
        let own = |counter: &T| r.path.iter().zip(&w.path).any(|(a, b)| group(a, *counter).is_some_and(|size| group(b, *counter) == Some(size)));
        ordered && steady && !common.is_empty() && common.iter().all(own)
    }

    /// `c`, if an index is `c * counter + k` with `0 <= k < c`: no other round has it.
    fn group(&self, index: T, counter: T) -> Option<Int> {
        let (mut size, mut first) = (Int::ZERO, Int::ZERO);
        for (factors, c) in self.terms.monomials(index) {
            match factors[..] {
                [] => first = c,
                [one] if one == counter => size = c,
                _ => return None,
            }
        }
        (first >= Int::ZERO && first < size).then_some(size)
    }
}
