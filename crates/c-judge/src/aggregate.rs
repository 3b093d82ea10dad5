//! What C stored beside what the program assigns.

use crate::state::{Res, State, Store};
use crate::term::{Root, Step, T};
use crate::tree::Num;
use santoku_ir::{Expr, ExprKind, Len, Ty};

/// What a place becomes.
#[derive(Clone, Copy)]
pub enum Source<'e> {
    Value(&'e Expr),
    /// A result of the call at hand.
    Result(u32),
}

impl State<'_> {
    /// Compares everything stored in the place so far; true once all of it is.
    pub fn claim(&mut self, dst: &(Root, Vec<Step>, Option<T>, Ty), src: Source<'_>) -> Res<bool> {
        let (root, path, from, ty) = dst;
        let mut parts = vec![];
        for k in 0..self.stores.len() {
            let s = self.stores[k].clone();
            if s.root != *root || s.path.len() < path.len() || s.path[..path.len()] != path[..] {
                continue;
            }
            let mut part = s.path[path.len()..].to_vec();
            if let (Some(from), Some(Step::Index(i))) = (from, part.first()) {
                part[0] = Step::Index(self.terms.sub(*i, *from));
            }
            if !s.claimed {
                if !self.inside(ty, &part)? {
                    continue;
                }
                self.same(&s, &part, (src, ty))?;
                self.stores[k].claimed = true;
            }
            parts.push(part);
        }
        self.covered(ty, &parts)
    }

    /// Indices are those of elements.
    fn inside(&mut self, ty: &Ty, part: &[Step]) -> Res<bool> {
        let (Some(Step::Index(i)), Ty::Array { len, .. }) = (part.first(), ty) else { return Ok(true) };
        let n = self.length(len)?;
        Ok(self.below(*i, n))
    }

    fn same(&mut self, s: &Store, part: &[Step], (src, ty): (Source<'_>, &Ty)) -> Res<()> {
        // Rounds of what is inside are others than those around it.
        let depth = 64 + s.path.len() as u32;
        for rest in self.leaves(&s.ty, depth)? {
            let path = [part.to_vec(), rest.clone()].concat();
            let each = match src {
                Source::Value(e) => self.spread(e, &path)?,
                Source::Result(_) => vec![vec![]],
            };
            for bound in each {
                let (path, rest) = (self.bound(&path, &bound), self.bound(&rest, &bound));
                let want = match src {
                    Source::Value(e) => self.part(e, &path)?,
                    Source::Result(r) => self.held(self.result_root(r), path.clone())?,
                };
                let got = self.stored(&s.what, &bound, &rest)?;
                // Whatever is assigned fits what it becomes, and the C type of that.
                let declared = self.ty_behind(ty, &path).and_then(|t| crate::unit::declared_range(&t));
                if let Some(r) = &declared {
                    self.terms.fact(want, r);
                }
                if got != want && !self.congruent(got, want, s.ty.leaf_behind(&rest)) {
                    return self.fail(format!("C stores {}, the program assigns {}", self.terms.show(got), self.terms.show(want)));
                }
            }
        }
        Ok(())
    }

    pub fn bound(&mut self, path: &[Step], bound: &[(T, T)]) -> Vec<Step> {
        path.iter().map(|s| bound.iter().fold(*s, |s, (from, to)| self.terms.replace_step(s, *from, *to))).collect()
    }

    /// What indices of all elements have to stand for, one after the other, where a list of values has another for each.
    pub fn spread(&mut self, e: &Expr, path: &[Step]) -> Res<Vec<Vec<(T, T)>>> {
        let mut done = vec![vec![]];
        let (mut es, mut at) = (vec![e], 0);
        while let (Some(step), false) = (path.get(at), es.is_empty()) {
            let mut inner = vec![];
            let mut count = None;
            for e in es {
                match (&e.kind, step) {
                    (ExprKind::Array(all), Step::Index(i)) if self.terms.value(*i).is_none() => {
                        count = Some(all.len());
                        inner.extend(all);
                    }
                    (ExprKind::Array(all), _) => inner.extend(all),
                    (ExprKind::Repeat(a), _) => inner.push(a),
                    (ExprKind::Struct(_, all), Step::Field(k)) => inner.extend(all.get(*k as usize)),
                    _ => {}
                }
            }
            if let (Some(n), Step::Index(i)) = (count, step) {
                let all: Vec<T> = (0..n).map(|k| self.terms.int(k as i128)).collect();
                done = done.into_iter().flat_map(|b: Vec<(T, T)>| all.iter().map(move |k| [b.clone(), vec![(*i, *k)]].concat())).collect();
            }
            (es, at) = (inner, at + 1);
        }
        Ok(done)
    }

    /// Two numbers of one type that are the same modulo its width.
    pub fn congruent(&mut self, a: T, b: T, ty: Option<Num>) -> bool {
        let Some(ty) = ty.filter(|ty| self.terms.within(a, &ty.range()) && self.terms.within(b, &ty.range())) else { return false };
        self.terms.residue(a, ty.bits) == self.terms.residue(b, ty.bits)
    }

    /// Do the parts make up all of a type?
    pub fn covered(&mut self, ty: &Ty, parts: &[Vec<Step>]) -> Res<bool> {
        if parts.iter().any(Vec::is_empty) {
            return Ok(true);
        }
        let behind = |first: &Step| parts.iter().filter(|p| p.first() == Some(first)).map(|p| p[1..].to_vec()).collect::<Vec<_>>();
        match ty {
            Ty::Word(_) | Ty::Int(_) | Ty::Bool => Ok(false),
            Ty::Struct(id) => {
                let fields = self.unit.program.structs[id.0 as usize].fields.clone();
                for (k, (_, t)) in fields.iter().enumerate() {
                    if !self.covered(t, &behind(&Step::Field(k as u32)))? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Ty::Array { len: Len::Const(0), .. } => Ok(true),
            Ty::Array { elem, len, .. } => {
                let n = self.length(len)?;
                for p in parts {
                    if let Some(Step::Index(i)) = p.first() {
                        if self.terms.round_of(*i).is_some_and(|(_, l)| l == n) && self.covered(elem, &behind(&p[0]))? {
                            return Ok(true);
                        }
                    }
                }
                let Some(n) = self.terms.value(n).and_then(|n| n.to_u64()).filter(|n| *n <= parts.len() as u64) else { return self.covered(elem, &[]) };
                for k in 0..n {
                    let i = self.terms.int(i128::from(k));
                    if !self.covered(elem, &behind(&Step::Index(i)))? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }
}
