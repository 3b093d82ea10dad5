//! What specifications of words are made of besides arithmetic: constant masks, arrays written element by element.

use crate::values::Generic;
use super::scope::{Scope, SpecTy};
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use santoku_ir::{SpecExpr, SpecOp};
use santoku_syntax::ast::{Expr, Ident};

/// Elements of an array that is written by one expression.
const ELEMENTS: u64 = 1 << 12;
/// Bits of a mask that is computed here.
const MASK: u64 = 1 << 12;

/// The value of an expression of literals, where it is small enough to be a mask.
pub(super) fn constant(e: &SpecExpr) -> Option<BigInt> {
    Some(match e {
        SpecExpr::Int(v) => v.clone(),
        SpecExpr::Bin(SpecOp::Add, a, b) => constant(a)? + constant(b)?,
        SpecExpr::Bin(SpecOp::Sub, a, b) => constant(a)? - constant(b)?,
        SpecExpr::Bin(SpecOp::Pow, a, b) => {
            let (a, b) = (constant(a)?, constant(b)?.to_u32()?);
            (a.bits().saturating_mul(u64::from(b)) <= MASK).then(|| a.pow(b))?
        }
        _ => return None,
    })
}

impl Scope<'_, '_> {
    /// `[e; n]`
    pub(super) fn repeated(&mut self, elem: &Expr, len: &Expr) -> Option<(SpecExpr, SpecTy)> {
        let n = self.number(len)?;
        let (x, ty) = self.one(elem)?;
        let Some(n) = n.to_u64().filter(|n| *n <= ELEMENTS) else { return self.too_many(len) };
        Some((SpecExpr::Array(vec![x; n as usize]), SpecTy::Array(Box::new(ty))))
    }

    /// `[for i in lo..<hi: e]`: in each element the counter is a constant.
    pub(super) fn comprehension(&mut self, var: &Ident, (lo, hi, inclusive): (&Expr, &Expr, bool), elem: &Expr) -> Option<(SpecExpr, SpecTy)> {
        let (lo, end) = (self.number(lo)?, self.number(hi)? + BigInt::from(u8::from(inclusive)));
        let n = if end <= lo { Some(0) } else { (&end - &lo).to_u64() };
        let Some(n) = n.filter(|n| *n <= ELEMENTS) else { return self.too_many(hi) };
        let outer = (self.vars.clone(), self.places.remove(&var.name), self.generics.remove(&var.name));
        // Names that it hides have none for a while.
        self.vars.iter_mut().filter(|v| v.0 == var.name).for_each(|v| v.0.clear());
        let mut parts = Vec::new();
        let mut elems = None;
        for k in 0..n {
            self.generics.insert(var.name.clone(), Generic::Const(&lo + k));
            let Some((x, ty)) = self.one(elem) else { break };
            parts.push(x);
            elems = Some(ty);
        }
        self.generics.remove(&var.name);
        self.vars = outer.0;
        self.places.extend(outer.1.map(|v| (var.name.clone(), v)));
        self.generics.extend(outer.2.map(|v| (var.name.clone(), v)));
        (parts.len() as u64 == n).then(|| (SpecExpr::Array(parts), SpecTy::Array(Box::new(elems.unwrap_or(SpecTy::Int)))))
    }

    fn number(&mut self, e: &Expr) -> Option<BigInt> {
        let mut env = self.cx.env(self.module);
        env.generics.clone_from(&self.generics);
        self.cx.const_int(&mut env, e)
    }

    fn too_many<T>(&mut self, e: &Expr) -> Option<T> {
        self.bad_form(e.span, "an array of at most 4096 elements is needed")
    }
}
