//! Conditions on polynomials: learning and proving them.

use crate::atoms::Num;
use crate::found::Res;
use crate::poly::Poly;
use crate::proof::{Known, Zero};
use crate::prop::Prop;
use crate::state::Run;
use crate::value::Val;
use santoku_num::Int;
use santoku_ir::SpecExpr;

impl<'a> Run<'a> {
    fn known(&self) -> Known<'_> {
        Known { atoms: &self.atoms, fixed: vec![], assumed: vec![], zeros: self.zeros.as_slice().into(), least: &self.least }
    }

    /// Whether a clause holds of these values wherever execution gets here. `learn`: it is known from then on.
    pub fn clause(&mut self, locals: &[Option<Val>], cond: &SpecExpr, learn: bool) -> bool {
        let Ok(p) = self.condition(locals, cond) else { return false };
        self.steps += 1;
        let guard = self.guard.clone();
        let held = self.holds(&p, &guard);
        if held && learn {
            self.assume(&p, &guard);
        }
        held
    }

    /// Learns a clause. What cannot be used is a fact less.
    pub fn assume_clause(&mut self, locals: &[Option<Val>], cond: &SpecExpr) {
        if let Ok(p) = self.condition(locals, cond) {
            let guard = self.guard.clone();
            self.assume(&p, &guard);
        }
    }

    /// Takes `p` to hold wherever `guard` is 1.
    fn assume(&mut self, p: &Prop, guard: &Poly) {
        match p {
            Prop::All(ps) => ps.iter().for_each(|q| self.assume(q, guard)),
            Prop::Zero(d, m) => self.zeros.push((guard.mul(d), m.clone())),
            Prop::Least(d) => {
                if self.supposed == 0 && *guard == Poly::constant(1u8) {
                    self.atoms.narrow(d);
                }
                self.least.push((d.clone(), guard.clone()));
            }
            Prop::Truth(t) => self.zeros.push((guard.mul(&t.shift(-1i32)), None)),
            Prop::Not(q) => {
                if let Some(t) = self.truth(q) {
                    self.zeros.push((guard.mul(&t), None));
                }
            }
            Prop::Any(ps) => {
                // Where all but the last fail the last holds.
                let Some((last, others)) = ps.split_last() else { return };
                if let Some(none) = others.iter().try_fold(guard.clone(), |g, q| Some(g.mul(&Poly::constant(1u8).sub(&self.truth(q)?)))) {
                    self.assume(last, &none);
                }
            }
            Prop::Same(two) => {
                if let (Some(a), Some(b)) = (self.truth(&two.0), self.truth(&two.1)) {
                    self.zeros.push((guard.mul(&a.sub(&b)), None));
                }
            }
        }
    }

    /// A condition as a 0/1 polynomial.
    pub fn truth(&mut self, p: &Prop) -> Option<Poly> {
        let one = Poly::constant(1u8);
        Some(match p {
            Prop::Truth(t) => t.clone(),
            Prop::Zero(d, None) => {
                let itv = if self.bits { self.atoms.close(d) } else { None };
                let n = self.atoms.num(d.clone(), itv);
                self.is_nothing(&n)
            }
            Prop::Zero(d, Some(m)) => self.atoms.congruent(d, m)?,
            Prop::Least(d) => {
                let n = self.atoms.num(d.clone(), None);
                one.sub(&self.is_negative(&n)?)
            }
            Prop::Not(q) => one.sub(&self.truth(q)?),
            Prop::All(ps) => ps.iter().try_fold(one, |all, q| Some(all.mul(&self.truth(q)?)))?,
            Prop::Any(ps) => one.sub(&ps.iter().try_fold(one.clone(), |none, q| Some(none.mul(&one.sub(&self.truth(q)?))))?),
            Prop::Same(two) => {
                let (a, b) = (self.truth(&two.0)?, self.truth(&two.1)?);
                one.sub(&a).sub(&b).plus(&Int::Small(2), &a.mul(&b))
            }
        })
    }

    /// Whether `p` holds wherever `guard` is 1.
    pub(crate) fn holds(&mut self, p: &Prop, guard: &Poly) -> bool {
        match p {
            _ if p.constant() == Some(true) => true,
            Prop::Zero(d, m) => self.is_zero(&guard.mul(d), m.as_ref()),
            Prop::Truth(t) => self.is_zero(&guard.mul(&t.shift(-1i32)), None),
            Prop::Least(d) => self.is_least(d, guard),
            Prop::All(ps) => ps.iter().all(|q| self.holds(q, guard)),
            Prop::Not(q) => self.truth(q).is_some_and(|t| self.is_zero(&guard.mul(&t), None)),
            Prop::Any(ps) => {
                // Some alternative, if need be where the others fail.
                ps.iter().any(|q| self.holds(q, guard)) || (0..ps.len()).any(|i| {
                    let others = ps.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, q)| q);
                    let none = others.into_iter().try_fold(guard.clone(), |g, q| Some(g.mul(&Poly::constant(1u8).sub(&self.truth(q)?))));
                    none.is_some_and(|g| g != *guard && self.holds(&ps[i], &g))
                })
            }
            Prop::Same(two) => {
                let (Some(a), Some(b)) = (self.truth(&two.0), self.truth(&two.1)) else { return false };
                let not = |p: &Poly| Poly::constant(1u8).sub(p);
                self.is_zero(&guard.mul(&a.sub(&b)), None)
                    || self.holds(&two.1, &guard.mul(&a)) && self.holds(&two.1.clone().negated(), &guard.mul(&not(&a)))
                    || self.holds(&two.0, &guard.mul(&b)) && self.holds(&two.0.clone().negated(), &guard.mul(&not(&b)))
            }
        }
    }

    fn is_zero(&self, goal: &Poly, m: Option<&Int>) -> bool {
        let known = self.known();
        known.is_zero(&Zero::Steps(vec![]), goal, m) || self.search.zero(&known, goal, m).is_some_and(|proof| known.is_zero(&proof, goal, m))
    }

    fn is_least(&self, goal: &Poly, guard: &Poly) -> bool {
        let known = self.known();
        let at_once = self.atoms.bound(goal).is_some_and(|i| !i.lo.is_negative());
        at_once || self.search.least(&known, goal, guard).is_some_and(|tree| known.is_least(&tree, goal, guard))
    }

    /// The truth of a comparison of numbers as a condition.
    pub fn related(&mut self, op: santoku_ir::CmpOp, x: &Num, y: &Num) -> Prop {
        use santoku_ir::CmpOp;
        let d = self.atoms.sub(x, y);
        let least = |p: Poly| Prop::Least(p);
        match op {
            CmpOp::Eq => Prop::Zero(d.p, None),
            CmpOp::Ne => Prop::Zero(d.p, None).negated(),
            CmpOp::Lt => least(d.p.scale(&Int::Small(-1)).shift(-1i32)),
            CmpOp::Le => least(d.p.scale(&Int::Small(-1))),
            CmpOp::Gt => least(d.p.shift(-1i32)),
            CmpOp::Ge => least(d.p),
        }
    }

    fn condition(&mut self, locals: &[Option<Val>], cond: &SpecExpr) -> Res<Prop> {
        crate::spec::Eval::new(self, locals).condition(cond)
    }
}
