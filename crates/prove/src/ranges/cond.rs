//! Conditions: comparisons as facts about the places and forms they compare.

use crate::itv::Itv;
use super::lin::Lin;
use santoku_num::{Bound, Int};
use super::place::{concrete, Step};
use super::run::{Run, State};
use super::value::{Abs, Cond, CondVar, Fact, Sc};
use santoku_ir::{Base, BinOp, CmpOp, Expr, ExprKind, LocalId, Ty};
use std::rc::Rc;

/// A scalar in a known element of a local, plus a constant: what an expression compares.
#[derive(Clone, Debug)]
pub struct Target {
    pub local: LocalId,
    pub path: Vec<usize>,
    pub add: Int,
}

impl Cond {
    pub fn negated(&self) -> Cond {
        let vars = self.vars.iter().map(|v| CondVar { yes: v.no.clone(), no: v.yes.clone(), ..v.clone() }).collect();
        Cond { vars, yes: self.no.clone(), no: self.yes.clone(), exact: (self.exact.1, self.exact.0) }
    }
}

/// `a op b` for booleans; of an unknown one nothing is known but that it is 0 or 1.
pub fn combine(op: BinOp, a: &Sc, b: &Sc) -> Sc {
    let (x, y) = (a.itv().meet(&Itv::BOOL), b.itv().meet(&Itv::BOOL));
    let itv = match op {
        BinOp::And => x.and(&y),
        BinOp::Or => x.or(&y),
        _ => x.xor(&y),
    };
    let itv = itv.unwrap_or(Itv::BOOL);
    let fact = match op {
        BinOp::And => both(a, b).map(Rc::new),
        BinOp::Or => {
            both(&a.negated(), &b.negated()).map(|c| Rc::new(c.negated()))
        }
        _ => None,
    };
    Sc::condition(itv, fact)
}

/// Conjunction: when it holds both hold; when it does not, nothing is known.
fn both(a: &Sc, b: &Sc) -> Option<Cond> {
    let parts: Vec<&Cond> = [a, b]
        .into_iter()
        .filter_map(|s| match s.fact() {
            Fact::Cond(c) => Some(&**c),
            _ => None,
        })
        .collect();
    if parts.is_empty() {
        return None;
    }
    let all = parts.len() == 2 && parts.iter().all(|c| c.exact.0);
    Some(Cond {
        vars: parts.iter().flat_map(|c| &c.vars).map(|v| CondVar { no: Itv::TOP, ..v.clone() }).collect(),
        yes: parts.iter().flat_map(|c| &c.yes).cloned().collect(),
        no: Vec::new(),
        exact: (all, false),
    })
}

impl Run<'_> {
    /// The stored scalar an expression reads, up to a constant added to an exact integer.
    pub fn target(&mut self, st: &mut State, e: &Expr) -> Option<Target> {
        match &e.kind {
            ExprKind::Read(p) => {
                let Base::Local(local) = p.base else { return None };
                self.mute += 1;
                let fails = self.fails;
                let steps: Vec<Step> = self.steps_of(st, p);
                self.fails = fails;
                self.mute -= 1;
                let path = concrete(&steps)?;
                st.locals[local.0 as usize].at(&path).filter(|s| s.def())?;
                Some(Target { local, path, add: Int::ZERO })
            }
            ExprKind::Cast(a) if matches!((&e.ty, &a.ty), (Ty::Int(_), Ty::Word(_) | Ty::Bool)) => self.target(st, a),
            ExprKind::Bin(op @ (BinOp::Add | BinOp::Sub), a, b) if matches!(e.ty, Ty::Int(_)) => {
                let (inner, k) = match (a.as_const(), b.as_const()) {
                    (_, Some(k)) => (a, if *op == BinOp::Add { Int::from(k) } else { Int::from(k).neg() }),
                    (Some(k), _) if *op == BinOp::Add => (b, Int::from(k)),
                    _ => return None,
                };
                let t = self.target(st, inner)?;
                Some(Target { add: t.add.add(&k), ..t })
            }
            _ => None,
        }
    }

    /// A comparison of scalars (of aggregates: unknown).
    pub fn compare(&mut self, st: &mut State, op: CmpOp, a: &Expr, b: &Expr) -> Sc {
        let (va, vb) = (self.eval(st, a), self.eval(st, b));
        let (Abs::Sc(x), Abs::Sc(y)) = (&va, &vb) else { return Sc::new(Itv::BOOL) };
        let (ta, tb) = (self.target(st, a), self.target(st, b));
        let v = self.comparison(st, op, (x, ta), (y, tb));
        self.with_compare(v, op, x, y)
    }

    /// A comparison of two scalars, each with the place it came from.
    pub fn comparison(&self, st: &State, op: CmpOp, (x, ta): (&Sc, Option<Target>), (y, tb): (&Sc, Option<Target>)) -> Sc {
        let mut vars = Vec::new();
        for (t, own, other, op) in [(ta, x, y, op), (tb, y, x, flip(op))] {
            let Some(t) = t else { continue };
            let back = |i: Itv| i.sub(&Itv::point(&t.add));
            let yes = back(own.itv().meet(&bound(op, own.itv(), other.itv())));
            let no = back(own.itv().meet(&bound(negate(op), own.itv(), other.itv())));
            let version = st.versions[t.local.0 as usize];
            vars.push(CondVar { frame: self.frame.0, local: t.local, path: t.path, version, yes, no });
        }
        let (fx, fy) = (self.form(x), self.form(y));
        let diff = |a: &Option<Lin>, b: &Option<Lin>, k: i128| a.as_ref().zip(b.as_ref()).and_then(|(a, b)| a.sub(b)).and_then(|d| d.plus(k));
        let facts = |op: CmpOp| -> (Vec<Lin>, bool) {
            let list = match op {
                CmpOp::Lt => vec![diff(&fy, &fx, -1)],
                CmpOp::Le => vec![diff(&fy, &fx, 0)],
                CmpOp::Gt => vec![diff(&fx, &fy, -1)],
                CmpOp::Ge => vec![diff(&fx, &fy, 0)],
                CmpOp::Eq => vec![diff(&fx, &fy, 0), diff(&fy, &fx, 0)],
                CmpOp::Ne => vec![None],
            };
            let exact = list.iter().all(Option::is_some);
            (list.into_iter().flatten().collect(), exact)
        };
        let ((yes, ey), (no, en)) = (facts(op), facts(negate(op)));
        let cond = Cond { vars, yes, no, exact: (ey, en) };
        let fact = Rc::new(cond);
        let can = |op| !x.itv().meet(&bound(op, x.itv(), y.itv())).is_empty();
        let same = |op| matches!(op, CmpOp::Eq | CmpOp::Le | CmpOp::Ge);
        let itv = match (can(op), can(negate(op))) {
            _ if x.itv().single().is_some() && x.itv() == y.itv() => Itv::point(i128::from(same(op))),
            (true, true) | (false, false) => Itv::BOOL,
            (yes, _) => Itv::point(i128::from(yes)),
        };
        Sc::condition(itv, Some(fact))
    }
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

/// Where a value of `own` lies when it compares so with some value of `other`.
fn bound(op: CmpOp, own: &Itv, other: &Itv) -> Itv {
    match op {
        CmpOp::Lt => Itv { lo: Bound::NegInf, hi: other.hi.sub(&Bound::ONE) },
        CmpOp::Le => Itv { lo: Bound::NegInf, hi: other.hi.clone() },
        CmpOp::Gt => Itv { lo: other.lo.add(&Bound::ONE), hi: Bound::PosInf },
        CmpOp::Ge => Itv { lo: other.lo.clone(), hi: Bound::PosInf },
        CmpOp::Eq => other.clone(),
        CmpOp::Ne => match other.single() {
            Some(v) if own.lo.at() == Some(v) => Itv::new(v.add(&Int::ONE), Bound::PosInf),
            Some(v) if own.hi.at() == Some(v) => Itv::new(Bound::NegInf, v.sub(&Int::ONE)),
            _ => Itv::TOP,
        },
    }
}
