//! Arrays and structs: number by number, or bytes at once.
//! Trusted: nothing: nothing that ships is made of it.

use super::body::{Body, Res};
use super::homes::LEAVES_MAX;
use super::number::Num;
use super::place::Spot;
use crate::data::{Address, Count, Type};
use crate::layout::{Layout, Scalar};
use num_bigint::BigInt;
use santoku_ir::visit::walk_expr;
use santoku_ir::{Base, Expr, ExprKind, Len, Place};

impl Body<'_, '_> {
    /// The numbers of an aggregate, in order.
    pub fn values(&mut self, e: &Expr) -> Res<Vec<Num>> {
        match &e.kind {
            ExprKind::Read(p) => {
                let spot = self.spot(p)?;
                self.values_at(&spot)
            }
            ExprKind::Array(all) | ExprKind::Struct(_, all) => {
                let mut out = vec![];
                for x in all {
                    if x.ty.is_scalar() { out.push(self.scalar(x)?) } else { out.extend(self.values(x)?) }
                }
                Ok(out)
            }
            ExprKind::Repeat(x) => {
                let santoku_ir::Ty::Array { len: Len::Const(n), .. } = e.ty else { return Err("an array of run-time length where its elements are needed".into()) };
                let one = if x.ty.is_scalar() { vec![self.scalar(x)?] } else { self.values(x)? };
                match one.len() * n as usize <= LEAVES_MAX {
                    true => Ok((0..n).flat_map(|_| one.iter().cloned()).collect()),
                    false => Err("an array of too many numbers".into()),
                }
            }
            ExprKind::Select(c, a, b) => {
                let (c, a, b) = (self.scalar(c)?, self.values(a)?, self.values(b)?);
                Ok(a.iter().zip(&b).map(|(x, y)| {
                    let rep = if x.rep().total() >= y.rep().total() { x.rep() } else { y.rep() };
                    self.selected(&c, x, y, rep)
                }).collect())
            }
            _ => Err("such an aggregate".into()),
        }
    }

    pub fn values_at(&mut self, spot: &Spot) -> Res<Vec<Num>> {
        match spot {
            Spot::Names(id, first, layout) => {
                let n = layout.leaves(LEAVES_MAX).ok_or("too many numbers")?.len() as u32;
                (*first..first + n).map(|k| self.read_key((*id, k))).collect()
            }
            Spot::Memory(at, layout) => {
                let leaves = layout.leaves(LEAVES_MAX).ok_or("too many numbers, or a run-time length")?;
                Ok(leaves.iter().map(|(offset, s)| self.load(s, at.plus(*offset as i64))).collect())
            }
        }
    }

    pub fn write_values(&mut self, spot: &Spot, values: &[Num]) -> Res<()> {
        match spot {
            Spot::Names(id, first, _) => values.iter().enumerate().try_for_each(|(k, n)| self.write_key((*id, first + k as u32), n)),
            Spot::Memory(at, layout) => {
                let leaves = layout.leaves(LEAVES_MAX).ok_or("too many numbers, or a run-time length")?;
                leaves.iter().zip(values).try_for_each(|((offset, s), n)| self.store(s, at.plus(*offset as i64), n))
            }
        }
    }

    /// `dst = src` for aggregates.
    pub fn assign(&mut self, dst: &Place, src: &Expr) -> Res<()> {
        let to = self.spot(dst)?;
        if let (Spot::Memory(at, layout), false) = (&to, reads(src, dst.base)) {
            return self.put(*at, layout, src);
        }
        self.put_whole(&to, src)
    }

    /// Number by number, or part by part, to memory that the source does not read.
    fn put(&mut self, at: Address, layout: &Layout, src: &Expr) -> Res<()> {
        let most = self.shared.spread.moved;
        if layout.leaves(most).is_none() {
            match (&src.kind, layout) {
                (ExprKind::Struct(_, all), Layout::Struct { fields, .. }) => {
                    return all.iter().zip(fields).try_for_each(|(x, (offset, l))| self.put(at.plus(*offset as i64), l, x));
                }
                (ExprKind::Array(all), Layout::Array { elem, .. }) if !matches!(**elem, Layout::Scalar(_)) => {
                    let stride = elem.bytes().ok_or("an array of arrays of run-time length")? as i64;
                    return (0..).zip(all).try_for_each(|(k, x)| self.put(at.plus(k * stride), elem, x));
                }
                _ => {}
            }
        }
        self.put_whole(&Spot::Memory(at, layout.clone()), src)
    }

    fn put_whole(&mut self, to: &Spot, src: &Expr) -> Res<()> {
        if src.ty.is_scalar() {
            let n = self.scalar(src)?;
            return self.write_values(to, &[n]);
        }
        match (&src.kind, to) {
            (ExprKind::Repeat(x), Spot::Memory(at, Layout::Array { elem, len })) if x.ty.is_scalar() => {
                let most = self.shared.spread.moved as u64;
                if let (Layout::Scalar(s), false) = (&**elem, matches!(len, Len::Const(n) if *n <= most)) {
                    return self.fill(*at, s, len, x);
                }
            }
            (ExprKind::Read(p), _) => {
                let from = self.spot(p)?;
                return self.moved(to, &from);
            }
            (ExprKind::Select(c, a, b), _) => {
                if self.choose(to, c, (a, b))? {
                    return Ok(());
                }
            }
            _ => {}
        }
        let values = self.values(src)?;
        self.write_values(to, &values)
    }

    /// Bytes of an array whose length may be known at run time.
    pub fn size(&mut self, layout: &Layout) -> Res<Count> {
        if let Some(n) = layout.bytes() {
            return Ok(Count::bytes(n));
        }
        let Layout::Array { elem, len: Len::Param { param, add } } = layout else { return Err("a size of run-time parts".into()) };
        let stride = elem.bytes().ok_or("an array of arrays of run-time length")?;
        let n = self.read_key((*param, 0))?;
        Ok(Count { times: Some((n.words[0], stride)), plus: add * stride as i64 })
    }

    /// Equal numbers, in a loop.
    fn fill(&mut self, at: Address, s: &Scalar, len: &Len, x: &Expr) -> Res<()> {
        let n = self.scalar(x)?;
        let base = self.base_of(at);
        let bits = self.shared.words.of_bits(31).bits;
        let end = match len {
            Len::Const(n) => self.constant((*n).into(), bits),
            Len::Param { param, add } => {
                let rep = self.shared.words.of_bits(31);
                let (n, add) = (self.read_key((*param, 0))?, self.number(&BigInt::from(*add), super::number::Rep { signed: true, ..rep }));
                self.sum(&n, &add, rep).words[0]
            }
        };
        let stride = u64::from(s.bytes);
        let counter = self.fresh(Type::word(bits, false));
        self.each_below(counter, end, |body, counter| body.store(s, Address { index: Some((counter, stride)), ..base }, &n))
    }
}

/// Whether an expression reads something of this base.
fn reads(e: &Expr, base: Base) -> bool {
    let mut found = false;
    walk_expr(e, &mut |e| found |= matches!(&e.kind, ExprKind::Read(p) if p.base == base));
    found
}
