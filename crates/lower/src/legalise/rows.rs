//! Aggregates of many numbers of one kind, side by side in memory: one number a round.
//! Trusted: nothing: nothing that ships is made of it.

use super::body::{Body, Res};
use super::number::Num;
use super::place::Spot;
use crate::data::{Address, Block, CmpOp as Order, For, Inst, Op, Type, Value};
use crate::layout::{Layout, Scalar};
use santoku_ir::{Expr, ExprKind};

/// Numbers of one kind.
enum Row {
    At(Address, Scalar),
    /// All are this one.
    Same(Num),
}

impl Body<'_, '_> {
    /// `to = from`, for places of as many numbers.
    pub fn moved(&mut self, to: &Spot, from: &Spot) -> Res<()> {
        let most = self.shared.spread.moved;
        if let (Spot::Memory(at, a), Spot::Memory(source, b)) = (to, from) {
            let few = a.leaves(most).is_some_and(|l| l.len() == b.leaves(most).map_or(0, |m| m.len()));
            if !few && (a == b || alike(a, b)) {
                let count = self.size(a)?;
                self.push(Inst::Copy { to: *at, from: *source, count });
                return Ok(());
            }
            if let (Some((s, n)), Some((r, m))) = (a.row().filter(|_| !few), b.row()) {
                if n == m {
                    let (at, source) = (self.base_of(*at), Row::At(self.base_of(*source), r));
                    return self.each_number(n, |body, k| {
                        let x = body.number_of(&source, k);
                        body.store(&s, part(at, &s, k), &x)
                    });
                }
            }
        }
        let values = self.values_at(from)?;
        self.write_values(to, &values)
    }

    /// One of two aggregates, if they are rows of many numbers; whether it is that.
    pub fn choose(&mut self, to: &Spot, c: &Expr, (a, b): (&Expr, &Expr)) -> Res<bool> {
        let Spot::Memory(to, layout) = to else { return Ok(false) };
        let Some((s, n)) = layout.row() else { return Ok(false) };
        let Some((x, y)) = self.two_rows(a, b, n)? else { return Ok(false) };
        let c = self.scalar(c)?;
        let to = self.base_of(*to);
        self.each_number(n, |body, k| {
            let (a, b) = (body.number_of(&x, k), body.number_of(&y, k));
            let rep = body.rep(&s);
            let chosen = body.selected(&c, &a, &b, rep);
            body.store(&s, part(to, &s, k), &chosen)
        })?;
        Ok(true)
    }

    /// Whether two aggregates are equal, as a bool is held, if they are rows of many numbers.
    pub fn rows_equal(&mut self, a: &Expr, b: &Expr) -> Res<Option<Num>> {
        let Some(n) = self.row_of(a)?.and_then(|(_, n)| n) else { return Ok(None) };
        let Some((x, y)) = self.two_rows(a, b, n)? else { return Ok(None) };
        let rep = self.shared.words.of_bits(1);
        let first = self.number(&1.into(), rep).words[0];
        let secret = [&x, &y].into_iter().any(|r| match r {
            Row::At(at, _) => self.ty(at.base).secret,
            Row::Same(n) => self.secret(n),
        });
        let ty = Type::word(rep.bits, secret);
        let (so_far, all) = (self.fresh(ty), self.fresh(ty));
        let (counter, end) = self.counter(n);
        let (insts, yields) = self.within(|body| {
            let (a, b) = (body.number_of(&x, counter), body.number_of(&y, counter));
            let same = body.equal(&a, &b, Order::Eq);
            let before = Num { words: vec![so_far], bits: rep.bits, signed: false };
            Ok(body.each(crate::data::BinOp::And, &before, &same, rep).words)
        })?;
        self.round(counter, end, (vec![((so_far, ty), first)], vec![(all, ty)]), Block { insts, yields });
        Ok(Some(Num { words: vec![all], bits: rep.bits, signed: false }))
    }

    /// A place that an index may be added to.
    pub fn base_of(&mut self, at: Address) -> Address {
        let secret = self.ty(at.base).secret;
        Address::of(self.pointer(Op::At(at), secret))
    }

    /// Two rows of `n` numbers, if that is many.
    fn two_rows(&mut self, a: &Expr, b: &Expr, n: u64) -> Res<Option<(Row, Row)>> {
        if n <= self.shared.spread.moved as u64 {
            return Ok(None);
        }
        let (Some((x, many)), Some((y, others))) = (self.row_of(a)?, self.row_of(b)?) else { return Ok(None) };
        Ok([many, others].into_iter().flatten().all(|m| m == n).then_some((x, y)))
    }

    /// A row, and how many numbers it has if that is known.
    fn row_of(&mut self, e: &Expr) -> Res<Option<(Row, Option<u64>)>> {
        match &e.kind {
            ExprKind::Read(p) => {
                let Spot::Memory(at, layout) = self.spot(p)? else { return Ok(None) };
                let Some((s, n)) = layout.row() else { return Ok(None) };
                Ok(Some((Row::At(self.base_of(at), s), Some(n))))
            }
            ExprKind::Repeat(x) if x.ty.is_scalar() => Ok(Some((Row::Same(self.scalar(x)?), None))),
            _ => Ok(None),
        }
    }

    fn number_of(&mut self, row: &Row, k: Value) -> Num {
        match row {
            Row::At(base, s) => self.load(s, part(*base, s, k)),
            Row::Same(n) => n.clone(),
        }
    }

    fn counter(&mut self, n: u64) -> (Value, Value) {
        let bits = self.shared.words.of_bits(31).bits;
        (self.fresh(Type::word(bits, false)), self.constant(n.into(), bits))
    }

    /// For each of `n` numbers.
    fn each_number(&mut self, n: u64, round: impl FnOnce(&mut Self, Value) -> Res<()>) -> Res<()> {
        let (counter, end) = self.counter(n);
        self.each_below(counter, end, round)
    }

    /// For each number below `end`.
    pub fn each_below(&mut self, counter: Value, end: Value, round: impl FnOnce(&mut Self, Value) -> Res<()>) -> Res<()> {
        let (insts, ()) = self.within(|b| round(b, counter))?;
        self.round(counter, end, (vec![], vec![]), Block { insts, yields: vec![] });
        Ok(())
    }

    fn round(&mut self, counter: Value, hi: Value, (carried, dst): (Vec<((Value, Type), Value)>, Vec<(Value, Type)>), body: Block) {
        let ty = self.ty(counter);
        let lo = self.constant(0, ty.bits().unwrap_or(32));
        self.push(Inst::For(Box::new(For { counter: (counter, ty), lo, hi, rev: false, signed: false, carried, dst, body })));
    }
}

/// Number `k` of a row.
fn part(base: Address, s: &Scalar, k: Value) -> Address {
    Address { index: Some((k, u64::from(s.bytes))), ..base }
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
