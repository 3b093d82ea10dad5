//! Shifts of exact integers by counts that are known at compile time up to a few values: `x >> (16*i)`.
//!
//! The core shifts exact integers by constants only. A count made of constants and counters with constant bounds is
//! one of the values it takes, and the shift the choice among the shifts by these. Where a loop is unrolled, one is left.
//! Keeps: the count is among the values listed, for the last of them is not asked for.
//! Trusted: text.

use crate::arith::Fault;
use crate::values::{CVal, Generic};
use super::context::{bare, Binding, FnCx, One};
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};
use santoku_diag::{Diagnostic, Span};
use santoku_ir::{BinOp as Op, CmpOp, Expr, LocalId, Place, Ty};
use santoku_syntax::ast::{self, ExprKind};
use std::collections::{BTreeMap, BTreeSet};

/// Values of all counters together, and different counts, up to which shifts are listed.
const CASES: usize = 4096;
const SHIFTS: usize = 128;

/// Variables that an expression is made of, beside constants.
type Variables = BTreeMap<String, LocalId>;

impl FnCx<'_, '_> {
    /// The values of an expression of constants and counters, at least one counter; `None` for any other.
    pub fn possible_values(&mut self, e: &ast::Expr) -> Option<BTreeSet<BigInt>> {
        let mut variables = Variables::new();
        if !self.made_of_counters(e, &mut variables) || variables.is_empty() {
            return None;
        }
        let mut cases: Vec<Vec<(String, BigInt)>> = vec![Vec::new()];
        for (name, id) in variables {
            let values = self.values_of(id)?;
            if cases.len().saturating_mul(values.len()) > CASES {
                return None;
            }
            let with = |case: &Vec<(String, BigInt)>, v: &BigInt| case.iter().cloned().chain([(name.clone(), v.clone())]).collect();
            cases = cases.iter().flat_map(|case| values.iter().map(|v| with(case, v)).collect::<Vec<_>>()).collect();
        }
        let mut found = BTreeSet::new();
        for case in cases {
            let mut env = self.env.clone();
            env.vars.extend(case.into_iter().map(|(name, v)| (name, CVal::Int(v))));
            found.insert(self.cx.quietly(|cx| cx.const_int(&mut env, e))?);
        }
        Some(found)
    }

    /// Notes what a name just bound may hold.
    pub fn note_possible(&mut self, name: &str, values: Option<BTreeSet<BigInt>>) {
        if let (Some(values), Some(Binding::Local(id))) = (values, self.variable(name).map(|v| v.binding.clone())) {
            self.possible.insert(id, values);
        }
    }

    fn values_of(&self, id: LocalId) -> Option<Vec<BigInt>> {
        if let Some(values) = self.possible.get(&id) {
            return Some(values.iter().cloned().collect());
        }
        let (lo, hi) = self.counters.get(&id)?;
        let n = (hi - lo).to_usize().filter(|n| (1..=CASES).contains(n))?;
        Some((0..n).map(|i| lo + i).collect())
    }

    /// Whether there is nothing else in it; gives the counters.
    fn made_of_counters(&mut self, e: &ast::Expr, out: &mut Variables) -> bool {
        match &bare(e).kind {
            ExprKind::Int(_) => true,
            ExprKind::Power { exp: a, .. } | ExprKind::Un { op: ast::UnOp::Neg, arg: a } => self.made_of_counters(a, out),
            ExprKind::Bin { op, lhs, rhs } => {
                use ast::BinOp::{Add, Div, Mul, Rem, Shl, Shr, Sub};
                matches!(op, Add | Sub | Mul | Div | Rem | Shl | Shr) && self.made_of_counters(lhs, out) && self.made_of_counters(rhs, out)
            }
            ExprKind::Index { base, index } if self.is_constant(base, &mut Vec::new()) => self.made_of_counters(index, out),
            ExprKind::Name(path) => {
                let name = &path.name.name;
                match self.variable(name).map(|v| v.binding.clone()).filter(|_| path.module.is_none()) {
                    Some(Binding::Local(id)) if self.counters.contains_key(&id) || self.possible.contains_key(&id) => {
                        out.insert(name.clone(), id);
                        true
                    }
                    Some(_) => false,
                    None if matches!(self.env.generics.get(name), Some(Generic::Len(_))) && path.module.is_none() => false,
                    None => self.is_constant(e, &mut Vec::new()),
                }
            }
            _ => false,
        }
    }

    /// An exact integer shifted by a count known up to a few values.
    pub fn shift_by_choice(&mut self, op: Op, a: One, count: Expr, rhs: &ast::Expr, span: Span) -> Option<One> {
        let Some(counts) = self.possible_values(rhs).filter(|v| v.len() <= SHIFTS) else {
            return self.count_unknown(op, &a, rhs);
        };
        let fits = |k: &BigInt| !k.is_negative() && k.to_u64().is_some_and(|k| k <= crate::limits::CONST_BITS);
        if !counts.iter().all(fits) {
            return self.fail(Fault::Count.diagnostic(rhs.span));
        }
        let (x, n) = (self.plain(a.expr, span), self.plain(count, rhs.span));
        let shifted = |k: &BigInt| Expr::bin(op, x.clone(), Expr::int(k.clone()));
        let mut each = counts.iter().rev();
        let last = shifted(each.next()?);
        let choice = each.fold(last, |rest, k| Expr::select(Expr::cmp(CmpOp::Eq, n.clone(), Expr::int(k.clone())), shifted(k), rest));
        Some(One::fresh(choice))
    }

    /// The value as something that is cheap to read often.
    fn plain(&mut self, e: Expr, span: Span) -> Expr {
        if e.as_const().is_some() || e.as_read().is_some_and(|p| p.projs.is_empty()) {
            return e;
        }
        let id = self.temp(&e.ty, span);
        self.assign(Place::local(id), e, span);
        self.read_local(id).expr
    }

    fn count_unknown<T>(&mut self, op: Op, a: &One, rhs: &ast::Expr) -> Option<T> {
        let choose = "loop over a counter with constant bounds and shift by that: `for k in 0..<64 { if k == n { r = x >> k } }`";
        let help = match (&a.ty, op) {
            (Ty::Int(Some(r)), Op::Shr) if !r.lo.is_negative() && r.hi.bits() <= 128 => {
                let bits = [8u32, 16, 32, 64, 128].into_iter().find(|b| u64::from(*b) >= r.hi.bits()).unwrap_or(128);
                format!("shift it as a word, `int(u{bits}(x) >> n)`, or {choose}")
            }
            _ => choose.to_string(),
        };
        self.fail(
            Diagnostic::error("not-constant", "an exact integer is shifted by constants, and by counters with constant bounds")
                .at(rhs.span, "known only at run time")
                .note(format!("why: at most {SHIFTS} counts, of constants and of counters with at most {CASES} values together; a longer loop counts by words"))
                .help(help),
        )
    }
}
