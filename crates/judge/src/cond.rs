//! Conditions: what is known of stored scalars and forms when a comparison holds, and when it does not.

use santoku_num::{Int, Itv};
use crate::lin::Lin;
use crate::place;
use crate::run::{Res, Run, State};
use crate::value::{Cond, CondVar, Sc, Val};
use santoku_ir::{Base, BinOp, CmpOp, Expr, ExprKind, LocalId, Ty};
use std::rc::Rc;

/// A stored scalar and what is added to it: what an expression compares.
pub struct Stored {
    pub local: LocalId,
    pub path: Vec<usize>,
    pub add: Int,
}

impl Run<'_> {
    /// `a op b` of truth values.
    pub fn booleans(&self, op: BinOp, a: &Sc, b: &Sc) -> Res<Sc> {
        let truth = |s: &Sc| self.known(s.itv.as_ref().and_then(|i| i.common(&Itv::bool())), "no truth value");
        let (x, y) = (truth(a)?, truth(b)?);
        let not = |s: &Sc| Sc { cond: s.cond.as_ref().map(|c| Rc::new(c.negated())), ..s.clone() };
        Ok(match op {
            BinOp::And => Sc { cond: both(a, b).map(Rc::new), ..Sc::new(self.known(x.and(&y), "no truth value")?) },
            BinOp::Or => Sc { cond: both(&not(a), &not(b)).map(|c| Rc::new(c.negated())), ..Sc::new(self.known(x.or(&y), "no truth value")?) },
            BinOp::Xor => Sc::new(self.known(x.xor(&y), "no truth value")?),
            _ => return self.refuse("an operation of no meaning"),
        })
    }

    pub fn compare(&mut self, st: &mut State, op: CmpOp, a: &Expr, b: &Expr) -> Res<Sc> {
        let (Val::Sc(x), Val::Sc(y)) = (self.eval(st, a)?, self.eval(st, b)?) else { return Ok(Sc::new(Itv::bool())) };
        let (s, t) = (self.stored(st, a)?, self.stored(st, b)?);
        self.comparison(st, op, (&x, s), (&y, t))
    }

    /// The stored scalar that an expression reads, with a constant added.
    fn stored(&mut self, st: &mut State, e: &Expr) -> Res<Option<Stored>> {
        Ok(match &e.kind {
            ExprKind::Read(p) => {
                let Base::Local(local) = p.base else { return Ok(None) };
                let path = place::path(&self.steps_of(st, p)?);
                path.map(|path| Stored { local, path, add: Int::ZERO })
            }
            ExprKind::Cast(a) if matches!((&e.ty, &a.ty), (Ty::Int(_), Ty::Word(_) | Ty::Bool)) => self.stored(st, a)?,
            ExprKind::Bin(op @ (BinOp::Add | BinOp::Sub), a, b) if matches!(e.ty, Ty::Int(_)) => {
                let (inner, k) = match (a.as_const(), b.as_const()) {
                    (_, Some(k)) if *op == BinOp::Add => (a, Int::from(k)),
                    (_, Some(k)) => (a, Int::from(k).neg()),
                    (Some(k), _) if *op == BinOp::Add => (b, Int::from(k)),
                    _ => return Ok(None),
                };
                self.stored(st, inner)?.map(|t| Stored { add: t.add.add(&k), ..t })
            }
            _ => None,
        })
    }

    /// A comparison of two scalars, each with where it is stored.
    pub fn comparison(&self, st: &State, op: CmpOp, (x, s): (&Sc, Option<Stored>), (y, t): (&Sc, Option<Stored>)) -> Res<Sc> {
        let (i, j) = (self.itv(x)?, self.itv(y)?);
        let mut vars = Vec::new();
        for (t, own, other, op) in [(s, &i, &j, op), (t, &j, &i, flip(op))] {
            let Some(t) = t else { continue };
            let back = |op: CmpOp| bound(op, own, other).map(|i| i.sub(&Itv::point(t.add.clone())));
            let version = st.versions[t.local.0 as usize];
            vars.push(CondVar { frame: self.frame.0, local: t.local, path: t.path.clone(), version, yes: back(op), no: back(negate(op)) });
        }
        let forms = self.form(x).zip(self.form(y));
        let facts = |op: CmpOp| -> (Vec<Lin>, bool) {
            let Some((f, g)) = &forms else { return (vec![], false) };
            match op {
                CmpOp::Lt => (vec![g.sub(f).shift(-1i32)], true),
                CmpOp::Le => (vec![g.sub(f)], true),
                CmpOp::Gt => (vec![f.sub(g).shift(-1i32)], true),
                CmpOp::Ge => (vec![f.sub(g)], true),
                CmpOp::Eq => (vec![f.sub(g), g.sub(f)], true),
                CmpOp::Ne => (vec![], false),
            }
        };
        let ((yes, ey), (no, en)) = (facts(op), facts(negate(op)));
        let itv = match (bound(op, &i, &j).is_some(), bound(negate(op), &i, &j).is_some()) {
            (true, false) => Itv::point(1u8),
            (false, true) => Itv::point(0u8),
            _ => Itv::bool(),
        };
        Ok(Sc { cond: Some(Rc::new(Cond { vars, yes, no, exact: (ey, en) })), ..Sc::new(itv) })
    }
}

/// Conjunction: when it holds both hold; when it does not, nothing is known.
fn both(a: &Sc, b: &Sc) -> Option<Cond> {
    let parts: Vec<&Cond> = [a, b].into_iter().filter_map(|s| s.cond.as_deref()).collect();
    if parts.is_empty() {
        return None;
    }
    // Where it does not hold, a scalar may be whatever it may be at all.
    let open = |v: &CondVar| CondVar { no: v.yes.as_ref().zip(v.no.as_ref()).map(|(a, b)| a.join(b)).or(v.yes.clone()).or(v.no.clone()), ..v.clone() };
    Some(Cond {
        vars: parts.iter().flat_map(|c| &c.vars).map(open).collect(),
        yes: parts.iter().flat_map(|c| &c.yes).cloned().collect(),
        no: vec![],
        exact: (parts.len() == 2 && parts.iter().all(|c| c.exact.0), false),
    })
}

fn flip(op: CmpOp) -> CmpOp {
    match op {
        CmpOp::Lt => CmpOp::Gt,
        CmpOp::Le => CmpOp::Ge,
        CmpOp::Gt => CmpOp::Lt,
        CmpOp::Ge => CmpOp::Le,
        CmpOp::Eq | CmpOp::Ne => op,
    }
}

fn negate(op: CmpOp) -> CmpOp {
    match op {
        CmpOp::Lt => CmpOp::Ge,
        CmpOp::Le => CmpOp::Gt,
        CmpOp::Gt => CmpOp::Le,
        CmpOp::Ge => CmpOp::Lt,
        CmpOp::Eq => CmpOp::Ne,
        CmpOp::Ne => CmpOp::Eq,
    }
}

/// Where a value of `own` lies when it compares so with some value of `other`; `None`: it never does.
fn bound(op: CmpOp, own: &Itv, other: &Itv) -> Option<Itv> {
    let one = Int::Small(1);
    match op {
        CmpOp::Lt => Itv::between(own.lo.clone(), own.hi.clone().min(other.hi.sub(&one))),
        CmpOp::Le => Itv::between(own.lo.clone(), own.hi.clone().min(other.hi.clone())),
        CmpOp::Gt => Itv::between(own.lo.clone().max(other.lo.add(&one)), own.hi.clone()),
        CmpOp::Ge => Itv::between(own.lo.clone().max(other.lo.clone()), own.hi.clone()),
        CmpOp::Eq => own.common(other),
        CmpOp::Ne => match other.single() {
            Some(v) if *v == own.lo => Itv::between(v.add(&one), own.hi.clone()),
            Some(v) if *v == own.hi => Itv::between(own.lo.clone(), v.sub(&one)),
            _ => Some(own.clone()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_holds_what_compares_so_and_is_empty_where_nothing_does() {
        let ops = [CmpOp::Eq, CmpOp::Ne, CmpOp::Lt, CmpOp::Le, CmpOp::Gt, CmpOp::Ge];
        let test = |op: CmpOp, a: i64, b: i64| match op {
            CmpOp::Eq => a == b,
            CmpOp::Ne => a != b,
            CmpOp::Lt => a < b,
            CmpOp::Le => a <= b,
            CmpOp::Gt => a > b,
            CmpOp::Ge => a >= b,
        };
        let all: Vec<(i64, i64)> = (-2..4).flat_map(|a| (a..4).map(move |b| (a, b))).collect();
        let mut tried = 0;
        for op in ops {
            for (al, ah) in &all {
                for (bl, bh) in &all {
                    let got = bound(op, &Itv::between(*al, *ah).unwrap(), &Itv::between(*bl, *bh).unwrap());
                    let some = |a: i64| (*bl..=*bh).any(|b| test(op, a, b));
                    for a in *al..=*ah {
                        assert!(!some(a) || got.as_ref().is_some_and(|g| g.contains(&Itv::point(a))), "{op:?} {a}");
                        assert_eq!((*bl..=*bh).any(|b| test(op, a, b)), (*bl..=*bh).any(|b| test(flip(op), b, a)));
                        assert!((*bl..=*bh).all(|b| test(op, a, b) != test(negate(op), a, b)));
                    }
                    assert!(got.is_some() || !(*al..=*ah).any(some));
                    tried += 1;
                }
            }
        }
        assert!(tried > 2000);
    }
}
