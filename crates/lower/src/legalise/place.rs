//! Places: names, or bytes of memory.
//! Trusted: nothing: nothing that ships is made of it.

use super::body::{Body, Key, Res};
use super::homes::{constant, Home, LEAVES_MAX};
use super::number::Num;
use crate::data::{Address, Op};
use crate::layout::Layout;
use santoku_ir::{Base, ConstValue, Expr, Len, LocalId, Place, Proj};

/// Where something is.
#[derive(Clone, Debug)]
pub(crate) enum Spot {
    /// Numbers of a local from this one on.
    Names(LocalId, u32, Layout),
    Memory(Address, Layout),
}

impl Layout {
    /// Numbers in it, where they have names.
    fn count(&self) -> Res<u32> {
        self.leaves(LEAVES_MAX).map(|l| l.len() as u32).ok_or_else(|| "too many numbers for names".into())
    }
}

impl Body<'_, '_> {
    pub fn spot(&mut self, p: &Place) -> Res<Spot> {
        let mut spot = match p.base {
            Base::Local(id) => {
                let layout = self.layout(id)?;
                match self.homes[id.0 as usize] {
                    Home::Name | Home::Names(_) => Spot::Names(id, 0, layout),
                    Home::Memory => Spot::Memory(Address::of(*self.bases.get(&id).ok_or("a local without a place")?), layout),
                }
            }
            Base::Const(id) => {
                let layout = Layout::of(self.shared.program, &self.shared.constant_type(id))?;
                let table = self.shared.table(id)?;
                Spot::Memory(Address::of(self.pointer(Op::Table(table), false)), layout)
            }
        };
        for proj in &p.projs {
            spot = self.part(spot, proj)?;
        }
        Ok(spot)
    }

    fn layout(&self, id: LocalId) -> Res<Layout> {
        let l = self.func.local(id);
        // A number in names may have more bits than memory holds; its layout is not asked for.
        match l.ty.is_scalar() {
            true => Ok(Layout::Scalar(self.scalar_of(id)?)),
            false => Layout::of(self.shared.program, &l.ty),
        }
    }

    pub fn scalar_of(&self, id: LocalId) -> Res<crate::layout::Scalar> {
        let range = crate::layout::range_of(&self.func.local(id).ty).ok_or("an integer without a range")?;
        Ok(crate::layout::Scalar::of(&range, 8).unwrap_or(crate::layout::Scalar { bytes: 0, signed: range.lo.is_negative(), range }))
    }

    fn part(&mut self, spot: Spot, proj: &Proj) -> Res<Spot> {
        match (spot, proj) {
            (Spot::Names(id, first, Layout::Struct { fields, .. }), Proj::Field(k)) => {
                let mut first = first;
                for (_, l) in &fields[..*k as usize] {
                    first += l.count()?;
                }
                Ok(Spot::Names(id, first, fields[*k as usize].1.clone()))
            }
            (Spot::Memory(at, Layout::Struct { fields, .. }), Proj::Field(k)) => {
                let (offset, l) = fields[*k as usize].clone();
                Ok(Spot::Memory(at.plus(offset as i64), l))
            }
            (Spot::Names(id, first, Layout::Array { elem, .. }), Proj::Index(e)) => {
                let k = constant(e).ok_or("an index of names that is no constant")?;
                Ok(Spot::Names(id, first + k as u32 * elem.count()?, *elem))
            }
            (Spot::Names(id, first, Layout::Array { elem, .. }), Proj::Slice { off, len }) => {
                let k = constant(off).ok_or("a slice of names at what is no constant")?;
                Ok(Spot::Names(id, first + k as u32 * elem.count()?, Layout::Array { elem, len: Len::Const(*len) }))
            }
            (Spot::Memory(at, Layout::Array { elem, .. }), Proj::Index(e)) => Ok(Spot::Memory(self.element(at, e, &elem)?, *elem)),
            (Spot::Memory(at, Layout::Array { elem, .. }), Proj::Slice { off, len }) => {
                Ok(Spot::Memory(self.element(at, off, &elem)?, Layout::Array { elem, len: Len::Const(*len) }))
            }
            _ => Err("a part of what has no such part".into()),
        }
    }

    fn element(&mut self, at: Address, index: &Expr, elem: &Layout) -> Res<Address> {
        let stride = elem.bytes().ok_or("an array of arrays of run-time length")?;
        if let Some(k) = constant(index) {
            return Ok(at.plus((k * stride) as i64));
        }
        let v = self.index(index)?;
        let base = match at.index {
            None => at,
            Some(_) => {
                let secret = self.ty(at.base).secret;
                Address::of(self.pointer(Op::At(at), secret))
            }
        };
        Ok(Address { index: Some((v, stride)), ..base })
    }

    /// A number at a place.
    pub fn read(&mut self, p: &Place) -> Res<Num> {
        if let (Base::Const(id), true) = (p.base, p.projs.is_empty()) {
            let c = &self.shared.program.consts[id.0 as usize];
            if let ConstValue::Scalar(v) = &c.value {
                let rep = self.shared.words.fit(&santoku_ir::Range::new(v.clone(), v.clone()));
                return Ok(self.number(v, rep));
            }
        }
        if let Base::Local(id) = p.base {
            if self.homes[id.0 as usize] == Home::Name {
                return self.read_key((id, 0));
            }
        }
        match self.spot(p)? {
            Spot::Names(id, k, Layout::Scalar(_)) => self.read_key((id, k)),
            Spot::Memory(at, Layout::Scalar(s)) => Ok(self.load(&s, at)),
            _ => Err("an aggregate where a number is needed".into()),
        }
    }

    pub fn read_key(&self, key: Key) -> Res<Num> {
        self.now.get(&key).cloned().ok_or_else(|| format!("`{}` is read before it is written", self.func.local(key.0).name))
    }

    /// The range of a number that has a name.
    pub fn scalar_at(&self, key: Key) -> Res<crate::layout::Scalar> {
        match &self.homes[key.0 .0 as usize] {
            Home::Names(all) => all.get(key.1 as usize).cloned().ok_or_else(|| "a number beyond its local".into()),
            _ => self.scalar_of(key.0),
        }
    }

    pub fn write_key(&mut self, key: Key, n: &Num) -> Res<()> {
        let s = self.scalar_at(key)?;
        let rep = self.shared.words.fit(&s.range);
        let n = self.converted(n, rep);
        self.note(key, &n);
        self.now.insert(key, n);
        Ok(())
    }
}
