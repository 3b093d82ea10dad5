//! Arrays and structs: number by number, or bytes at once.
//! Trusted: nothing: nothing that ships is made of it.

use super::body::{Body, Res};
use super::number::Num;
use super::place::Spot;
use crate::data::{Address, Block, Count, For, Inst, Type};
use crate::layout::{Layout, Scalar};
use num_bigint::BigInt;
use santoku_ir::{Expr, ExprKind, Len, Place};

/// Numbers of one expression that are computed side by side.
const LEAVES_MAX: usize = 4096;
/// Numbers that are copied one by one.
const COPY_MAX: usize = 32;
/// Numbers that are written one by one where all are equal.
const FILL_MAX: u64 = 32;

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
        if let ExprKind::Repeat(x) = &src.kind {
            if let (Spot::Memory(at, Layout::Array { elem, len }), true) = (self.spot(dst)?, x.ty.is_scalar()) {
                if let Layout::Scalar(s) = &*elem {
                    if !matches!(len, Len::Const(n) if n <= FILL_MAX) {
                        return self.fill(at, s, &len, x);
                    }
                }
            }
        }
        if let ExprKind::Read(p) = &src.kind {
            let (to, from) = (self.spot(dst)?, self.spot(p)?);
            if let (Spot::Memory(to, a), Spot::Memory(from, b)) = (&to, &from) {
                let few = a.leaves(COPY_MAX).is_some_and(|l| l.len() == b.leaves(COPY_MAX).map_or(0, |m| m.len()));
                if !few && (a == b || alike(a, b)) {
                    let count = self.size(a)?;
                    self.push(Inst::Copy { to: *to, from: *from, count });
                    return Ok(());
                }
            }
        }
        let values = self.values(src)?;
        let to = self.spot(dst)?;
        self.write_values(&to, &values)
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
        let secret = self.ty(at.base).secret;
        let base = Address::of(self.pointer(crate::data::Op::At(at), secret));
        let bits = self.shared.words.of_bits(31).bits;
        let end = match len {
            Len::Const(n) => self.constant((*n).into(), bits),
            Len::Param { param, add } => {
                let rep = self.shared.words.of_bits(31);
                let (n, add) = (self.read_key((*param, 0))?, self.number(&BigInt::from(*add), super::number::Rep { signed: true, ..rep }));
                self.sum(&n, &add, rep).words[0]
            }
        };
        let lo = self.constant(0, bits);
        let counter = self.fresh(Type::word(bits, false));
        let stride = u64::from(s.bytes);
        let (insts, ()) = self.within(|b| b.store(s, Address { index: Some((counter, stride)), ..base }, &n))?;
        self.push(Inst::For(Box::new(For {
            counter: (counter, self.ty(counter)),
            lo,
            hi: end,
            rev: false,
            signed: false,
            carried: vec![],
            dst: vec![],
            body: Block { insts, yields: vec![] },
        })));
        Ok(())
    }
}

/// The same bytes mean the same numbers, and may all lie in the second.
fn alike(a: &Layout, b: &Layout) -> bool {
    match (a, b) {
        (Layout::Scalar(a), Layout::Scalar(b)) => a.bytes == b.bytes && a.signed == b.signed,
        (Layout::Array { elem: a, len: m }, Layout::Array { elem: b, len: n }) => m == n && alike(a, b),
        (Layout::Struct { fields: a, .. }, Layout::Struct { fields: b, .. }) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && alike(&a.1, &b.1)),
        _ => false,
    }
}
