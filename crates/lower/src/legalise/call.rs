//! Calls: what is read and written in memory is given by its address.
//! Trusted: nothing: nothing that ships is made of it.

use super::body::{Body, Res};
use super::number::Num;
use super::place::Spot;
use super::shared::Signature;
use crate::data::{Address, Inst, Named, Op, Type, Value};
use crate::layout::Layout;
use santoku_ir::{Base, Expr, ExprKind, Func, FuncId, Place};

/// A result that the callee writes to memory, and where it goes from there.
struct Written {
    dst: Place,
    at: Option<(Address, Layout)>,
}

impl Body<'_, '_> {
    pub fn call(&mut self, dsts: &[Place], func: FuncId, lens: &[Expr], args: &[Expr]) -> Res<()> {
        let callee = self.shared.program.func(func);
        let index = *self.shared.funcs.get(&func).ok_or("a call of a function that is not lowered")?;
        let signature = Signature::of(callee);
        let (mut given, mut secret) = (vec![], false);
        let mut read = vec![];
        for e in lens {
            let rep = self.shared.words.of_bits(31);
            let n = self.scalar(e)?;
            given.extend(self.converted(&n, rep).words);
        }
        for (e, p) in args.iter().zip(&callee.params) {
            let words = self.argument(e, callee, *p, &mut read)?;
            secret |= words.iter().any(|v| self.ty(*v).secret);
            given.extend(words);
        }
        let mut all: Vec<Value> = vec![];
        let mut written = vec![];
        if !signature.returns {
            for (k, (dst, id)) in dsts.iter().zip(&callee.rets).enumerate() {
                let alone = !read.contains(&dst.base) && dsts.iter().enumerate().all(|(j, d)| j == k || d.base != dst.base);
                let (v, w) = self.result(dst, callee, *id, alone, secret)?;
                all.push(v);
                written.push(w);
            }
        }
        all.extend(given);
        let mut dst: Vec<Named> = vec![];
        let mut returned = None;
        if signature.returns {
            let l = callee.local(callee.rets[0]);
            let rep = self.rep_of(&l.ty)?;
            let ty = Type::word(rep.bits, secret && !callee.gives_public(callee.rets[0]));
            let words: Vec<Value> = (0..rep.words).map(|_| self.fresh(ty)).collect();
            dst = words.iter().map(|v| (*v, ty)).collect();
            returned = Some(Num { words, bits: rep.bits, signed: rep.signed });
        }
        self.push(Inst::Call { dst, func: index, args: all });
        if let (Some(n), [to]) = (returned, dsts) {
            let spot = self.spot(to)?;
            return self.write_values(&spot, &[n]);
        }
        for w in written {
            let Some((at, layout)) = w.at else { continue };
            let from = Spot::Memory(at, layout);
            let to = self.spot(&w.dst)?;
            self.moved(&to, &from)?;
        }
        Ok(())
    }

    /// An argument, and what of ours the callee reads for it.
    fn argument(&mut self, e: &Expr, callee: &Func, p: santoku_ir::LocalId, read: &mut Vec<Base>) -> Res<Vec<Value>> {
        let l = callee.local(p);
        if l.ty.is_scalar() {
            let rep = self.rep_of(&l.ty)?;
            let n = self.scalar(e)?;
            return Ok(self.converted(&n, rep).words);
        }
        if let ExprKind::Read(place) = &e.kind {
            if let Spot::Memory(at, layout) = self.spot(place)? {
                read.push(place.base);
                let wanted = Layout::of(self.shared.program, &l.ty)?;
                if same_numbers(&layout, &wanted) {
                    let secret = self.ty(at.base).secret;
                    return Ok(vec![if at == Address::of(at.base) { at.base } else { self.pointer(Op::At(at), secret) }]);
                }
            }
        }
        if let Some(v) = self.copied(e, &l.ty, &l.name)? {
            return Ok(vec![v]);
        }
        let values = self.values(e)?;
        let secret = values.iter().any(|n| self.secret(n));
        let layout = Layout::of(self.shared.program, &l.ty)?;
        let base = self.slot(&format!("for {}", l.name), &layout, secret)?;
        self.write_values(&Spot::Memory(Address::of(base), layout), &values)?;
        Ok(vec![base])
    }

    /// Memory of its own with the numbers of a place that has them in another form.
    fn copied(&mut self, e: &Expr, ty: &santoku_ir::Ty, name: &str) -> Res<Option<Value>> {
        let ExprKind::Read(place) = &e.kind else { return Ok(None) };
        let Spot::Memory(at, layout) = self.spot(place)? else { return Ok(None) };
        let own = Layout::of(self.shared.program, ty)?;
        let secret = self.ty(at.base).secret;
        let base = self.slot(&format!("for {name}"), &own, secret)?;
        self.moved(&Spot::Memory(Address::of(base), own), &Spot::Memory(at, layout))?;
        Ok(Some(base))
    }

    /// Where a result is written: at once to its place, if that is memory which nothing else of the call uses, or to memory of its own.
    fn result(&mut self, dst: &Place, callee: &Func, id: santoku_ir::LocalId, alone: bool, secret: bool) -> Res<(Value, Written)> {
        let l = callee.local(id);
        let layout = match l.ty.is_scalar() {
            true => {
                let range = crate::layout::range_of(&l.ty).ok_or("an integer without a range")?;
                Layout::Scalar(crate::layout::Scalar::of(&range, 32).ok_or("a number of more than 128 bits in memory")?)
            }
            false => Layout::of(self.shared.program, &l.ty)?,
        };
        if alone && !l.ty.is_scalar() {
            if let Spot::Memory(at, own) = self.spot(dst)? {
                let lies = self.ty(at.base).secret;
                // What may hold secrets is not given to a function that takes it for public, nor the other way about.
                if same_numbers(&own, &layout) && (lies || !secret || l.public) && (!lies || !l.public) {
                    let v = if at == Address::of(at.base) { at.base } else { self.pointer(Op::At(at), lies) };
                    return Ok((v, Written { dst: dst.clone(), at: None }));
                }
            }
        }
        // A length is this function's here: a variable of the callee means nothing.
        let layout = match layout.bytes() {
            Some(_) => layout,
            None => match self.spot(dst)? {
                Spot::Memory(_, own) if same_numbers(&own, &layout) => own,
                _ => return Err("a result of run-time length that is not one of memory".into()),
            },
        };
        let base = self.slot(&format!("of {}", l.name), &layout, secret && !l.public)?;
        Ok((base, Written { dst: dst.clone(), at: Some((Address::of(base), layout)) }))
    }
}

/// Numbers lie alike in both; lengths are those of one call.
fn same_numbers(a: &Layout, b: &Layout) -> bool {
    match (a, b) {
        (Layout::Scalar(a), Layout::Scalar(b)) => a.bytes == b.bytes && a.signed == b.signed,
        (Layout::Array { elem: a, .. }, Layout::Array { elem: b, .. }) => same_numbers(a, b),
        (Layout::Struct { fields: a, .. }, Layout::Struct { fields: b, .. }) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && same_numbers(&a.1, &b.1))
        }
        _ => false,
    }
}
