//! Places: of the program and of C, in one form, and what is at them.

use crate::state::{Access, Res, Spot, State, Store, Stored};
use crate::term::{Atom, Root, Step, T};
use crate::tree::Type;
use santoku_ir::{Base, Len, Place, Proj, Ty};
use santoku_num::{Int, Itv};

impl<'a> State<'a> {
    pub fn root_of(&self, base: Base) -> Root {
        match base {
            Base::Local(id) => self.locals[id.0 as usize].unwrap_or(Root::Local(id.0)),
            Base::Const(id) => Root::Const(id.0),
        }
    }

    fn base_ty(&self, base: Base) -> &'a Ty {
        match base {
            Base::Local(id) => &self.f.local(id).ty,
            Base::Const(id) => &self.unit.program.consts[id.0 as usize].ty,
        }
    }

    /// The place, its type, and the element that it begins at if it is a part of an array.
    pub fn spot(&mut self, p: &Place) -> Res<(Root, Vec<Step>, Option<T>, Ty)> {
        let mut ty = self.base_ty(p.base).clone();
        let (mut path, mut from) = (vec![], None);
        for j in &p.projs {
            match (j, ty) {
                (Proj::Field(k), Ty::Struct(id)) => {
                    path.push(Step::Field(*k));
                    ty = self.unit.program.structs[id.0 as usize].fields[*k as usize].1.clone();
                }
                (Proj::Index(e), Ty::Array { elem, ranges, .. }) => {
                    let i = self.term(e)?;
                    let at = self.offset(from.take(), i);
                    ty = self.element(&elem, ranges.as_ref(), at);
                    path.push(Step::Index(at));
                }
                (Proj::Slice { off, len }, Ty::Array { elem, ranges, .. }) => {
                    let i = self.term(off)?;
                    from = Some(self.offset(from, i));
                    // The ranges of elements are those of the whole: positions are counted from its beginning.
                    ty = Ty::Array { elem, len: Len::Const(*len), ranges };
                }
                _ => return self.fail("a place that does not fit its type"),
            }
        }
        Ok((self.root_of(p.base), path, from, ty))
    }

    pub fn offset(&mut self, from: Option<T>, i: T) -> T {
        match from {
            Some(f) => self.terms.add(f, i),
            None => i,
        }
    }

    /// A path whose first index counts from an element on.
    pub fn counted(&mut self, from: Option<T>, path: &[Step]) -> Vec<Step> {
        let mut path = path.to_vec();
        if let (Some(f), Some(Step::Index(i))) = (from, path.first().copied()) {
            path[0] = Step::Index(self.terms.add(f, i));
        }
        path
    }

    fn element(&self, elem: &Ty, ranges: Option<&Vec<Itv>>, at: T) -> Ty {
        let Some(rs) = ranges else { return elem.clone() };
        let one = self.terms.value(at).and_then(|v| v.to_u64()).and_then(|k| rs.get(k as usize).cloned());
        Ty::Int(one.or_else(|| rs.iter().cloned().reduce(|a, b| a.join(&b))))
    }

    /// The type behind more steps.
    pub fn ty_behind(&self, ty: &Ty, path: &[Step]) -> Option<Ty> {
        let mut ty = ty.clone();
        for s in path {
            ty = match (s, ty) {
                (Step::Field(k), Ty::Struct(id)) => self.unit.program.structs[id.0 as usize].fields.get(*k as usize)?.1.clone(),
                (Step::Index(t), Ty::Array { elem, ranges, .. }) => self.element(&elem, ranges.as_ref(), *t),
                _ => return None,
            };
        }
        Some(ty)
    }

    /// The type of an object of the program, whole.
    pub fn root_ty(&self, root: Root) -> Option<Ty> {
        match root {
            Root::Const(k) => Some(self.unit.program.consts[k as usize].ty.clone()),
            Root::Local(k) => Some(self.f.locals.get(k as usize)?.ty.clone()),
            Root::Object(k) => Some(self.f.locals.get(k as usize)?.ty.clone()),
            Root::Result(r) => {
                let call = self.call.as_ref()?;
                let f = self.unit.program.func(call.func);
                Some(f.local(*f.rets.get((r % crate::state::RESULTS) as usize)?).ty.clone())
            }
        }
    }

    /// What a scalar of the program held before the statement at hand.
    pub fn held(&mut self, root: Root, path: Vec<Step>) -> Res<T> {
        let t = self.place_of(root, path)?;
        Ok(self.single(t))
    }

    /// The same, whatever is known of it.
    pub fn place_of(&mut self, root: Root, path: Vec<Step>) -> Res<T> {
        if let Some((_, now)) = self.counter.filter(|(c, _)| *c == root && path.is_empty()) {
            return Ok(now);
        }
        let ty = self.root_ty(root).and_then(|t| self.ty_behind(&t, &path));
        let range = ty.as_ref().and_then(crate::unit::declared_range);
        // An integer of no range is written as it was: the program says how wide it is where it reads it.
        let range = range.unwrap_or_else(|| Itv::new(Int::pow2(300).neg(), Int::pow2(300)));
        let known: Vec<Itv> = self.known.iter().filter(|k| k.0 == root && path.starts_with(&k.1)).filter_map(|k| crate::unit::declared_range(&self.ty_behind(&k.2, &path[k.1.len()..])?)).collect();
        let t = self.terms.atom(Atom::At(root, path), range);
        known.iter().for_each(|r| self.terms.fact(t, r));
        Ok(t)
    }

    /// The number that a term is where its range says which.
    pub fn single(&mut self, t: T) -> T {
        match self.terms.range(t).single().cloned() {
            Some(v) => self.terms.int(v),
            None => t,
        }
    }

    /// What a scalar holds now, as C reads it.
    pub fn read(&mut self, root: Root, path: &[Step]) -> Res<T> {
        self.read_before(root, path, self.stores.len())
    }

    fn read_before(&mut self, root: Root, path: &[Step], stores: usize) -> Res<T> {
        if !State::own(root) {
            self.note(root, path.to_vec(), false);
            self.c_reads.push((root, path.to_vec()));
            return self.held(root, path.to_vec());
        }
        for k in (0..stores).rev() {
            let s = self.stores[k].clone();
            if s.root != root {
                continue;
            }
            match self.within(&s, path)? {
                Found::Apart => {}
                Found::Unsure => return self.fail("an object of the printer is read where it may have been stored"),
                Found::There(bound, rest) => return self.stored(&s.what, &bound, &rest),
            }
        }
        let name = self.objects.iter().find(|o| o.1.root == root).map_or(format!("{root:?}"), |o| o.0.clone());
        let path = self.terms.show_path(path);
        self.fail(format!("`{name}{path}` is read before it is stored"))
    }

    pub fn stored(&mut self, what: &Stored, bound: &[(T, T)], rest: &[Step]) -> Res<T> {
        match what {
            Stored::Value(t) => Ok(bound.iter().fold(*t, |t, (from, to)| self.terms.replace(t, *from, *to))),
            Stored::Copy(root, path, before) => {
                let mut path = self.bound(path, bound);
                path.extend_from_slice(rest);
                match root {
                    // It was read when it was copied.
                    _ if !State::own(*root) => self.held(*root, path),
                    _ => self.read_before(*root, &path, *before),
                }
            }
        }
    }

    /// Does a store cover a place? With what its indices stand for there, and what is behind it.
    fn within(&mut self, s: &Store, path: &[Step]) -> Res<Found> {
        let mut bound = vec![];
        if self.apart(&s.path, path) {
            return Ok(Found::Apart);
        }
        for (a, b) in s.path.iter().zip(path) {
            match (a, b) {
                (Step::Field(x), Step::Field(y)) if x == y => {}
                (Step::Index(x), Step::Index(y)) if x == y => {}
                (Step::Index(x), Step::Index(y)) => match self.terms.round_of(*x) {
                    Some((_, len)) if self.loops.iter().all(|(_, t)| t != x) && self.below(*y, len) => bound.push((*x, *y)),
                    _ => return Ok(Found::Unsure),
                },
                _ => return Ok(Found::Unsure),
            }
        }
        Ok(if s.path.len() > path.len() { Found::Unsure } else { Found::There(bound, path[s.path.len()..].to_vec()) })
    }

    /// An index that is surely below a length.
    pub fn below(&mut self, i: T, len: T) -> bool {
        if self.terms.round_of(i).is_some_and(|(_, l)| l == len) {
            return true;
        }
        let (i, n) = (self.terms.range(i), self.terms.range(len));
        !i.lo.is_negative() && i.hi < n.lo
    }

    pub fn note(&mut self, root: Root, path: Vec<Step>, writes: bool) {
        self.note_at(self.clock, root, path, writes);
    }

    pub fn note_at(&mut self, time: usize, root: Root, path: Vec<Step>, writes: bool) {
        let (loops, sides) = (self.loops.clone(), self.sides.clone());
        self.accesses.push(Access { root, path, time, loops, sides, writes });
    }

    /// Is anything read that C has overwritten before?
    pub fn undisturbed(&mut self) -> Res<()> {
        let all = std::mem::take(&mut self.accesses);
        let pairs = if all.iter().any(|a| a.writes) { self.pairs() } else { vec![] };
        for w in all.iter().filter(|a| a.writes) {
            for r in all.iter().filter(|a| !a.writes && (a.root == w.root || pairs.contains(&(w.root, a.root)))) {
                let common: Vec<T> = r.loops.iter().filter(|l| w.loops.contains(l)).map(|l| l.1).collect();
                let other = |(k, side): &(u32, bool)| w.sides.iter().any(|(j, s)| j == k && s != side);
                let later = w.time >= r.time || common.is_empty() && r.sides.iter().any(other);
                let same = r.path == w.path && common.iter().all(|k| w.path.contains(&Step::Index(*k)));
                if !(later && (common.is_empty() || same) || self.apart(&r.path, &w.path)) {
                    let path = self.terms.show_path(&r.path);
                    return self.fail(format!("{:?}{path} may be read after it was overwritten", r.root));
                }
            }
        }
        Ok(())
    }

    /// No element is in both, in whatever rounds.
    pub fn apart(&mut self, a: &[Step], b: &[Step]) -> bool {
        a.iter().zip(b).any(|(x, y)| match (x, y) {
            (Step::Field(x), Step::Field(y)) => x != y,
            (Step::Index(x), Step::Index(y)) => matches!((self.terms.value(*x), self.terms.value(*y)), (Some(x), Some(y)) if x != y),
            _ => false,
        })
    }

    /// The part of a C object behind one more step.
    pub fn index(&mut self, s: &Spot, i: T) -> Res<Spot> {
        let Type::Array(elem, n) = &s.ty else { return self.fail("an index into what is no array") };
        let at = self.offset(s.from, i);
        if let (Some(n), true) = (n, State::own(s.root)) {
            let n = self.terms.int(i128::from(*n));
            if !self.below(at, n) {
                return self.fail("an index that may be outside of an array of the printer's own");
            }
        }
        let mut path = s.path.clone();
        path.push(Step::Index(at));
        let core = s.core.as_ref().and_then(|t| self.ty_behind(t, &[Step::Index(at)]));
        Ok(Spot { path, from: None, ty: (**elem).clone(), core, ..s.clone() })
    }

    pub fn field(&mut self, s: &Spot, name: &str) -> Res<Spot> {
        let Type::Struct(of) = &s.ty else { return self.fail("a field of what is no struct") };
        let found = self.unit.struct_of(of).and_then(|(_, fields)| fields.iter().position(|f| f.0 == name).map(|k| (k as u32, fields[k].1.clone())));
        let Some((k, ty)) = found else { return self.fail(format!("no field `{name}`")) };
        let mut path = s.path.clone();
        path.push(Step::Field(k));
        let core = s.core.as_ref().and_then(|t| self.ty_behind(t, &[Step::Field(k)]));
        Ok(Spot { path, from: None, ty, core, ..s.clone() })
    }

    /// The number of elements of an array of the program.
    pub fn length(&mut self, len: &Len) -> Res<T> {
        match len {
            Len::Const(n) => Ok(self.terms.int(Int::from(i128::from(*n)))),
            Len::Param { param, add } => {
                let n = self.held(self.root_of(Base::Local(*param)), vec![])?;
                let add = self.terms.int(Int::from(i128::from(*add)));
                Ok(self.terms.add(n, add))
            }
        }
    }
}

enum Found {
    There(Vec<(T, T)>, Vec<Step>),
    Apart,
    Unsure,
}
