//! Clauses of contracts that compare integers: no congruence, sum or specification function.

use crate::cond::Stored;
use santoku_num::{Int, Itv};
use crate::place;
use crate::run::{Res, Run, State};
use crate::value::{small, Sc};
use santoku_ir::{typing::Scope, visit, Base, BinOp, Expr, ExprKind, SpecExpr, SpecOp, Ty};
use std::rc::Rc;

/// Longest `forall` that is spelled out, and largest exponent.
const MAX_FORALL: i128 = 4096;
/// Steps that an expression of a clause counts: what is spelled out is quickly more than a body.
const CLAUSE_STEPS: u64 = 8;
/// Names in a clause.
const MAX_SLOTS: usize = 1 << 10;

/// Whether a clause is of this kind; the others are not judged here.
pub fn is_simple(e: &SpecExpr) -> bool {
    let mut simple = true;
    visit::walk_spec(e, &mut |e| {
        simple &= !matches!(e, SpecExpr::Congruent(..) | SpecExpr::Sum { .. } | SpecExpr::Call(..) | SpecExpr::Let(..) | SpecExpr::Array(_));
    });
    simple
}

type Slots = Vec<Option<i128>>;

impl Run<'_> {
    /// Whether a clause certainly holds, or certainly not.
    pub fn clause(&mut self, st: &mut State, e: &SpecExpr) -> Res<Option<bool>> {
        if !is_truth(e) {
            return self.refuse("a clause that is no truth value");
        }
        self.clauses += 1;
        let v = self.spec(st, e, &mut vec![]);
        self.clauses -= 1;
        Ok(v?.and_then(|v| self.decided(&v)))
    }

    /// Makes a clause hold; its facts are added to those of the path.
    pub fn assume_clause(&mut self, st: &mut State, e: &SpecExpr) -> Res<()> {
        self.clauses += 1;
        let done = self.assume_in(st, e, &mut vec![]);
        self.clauses -= 1;
        done
    }

    fn assume_in(&mut self, st: &mut State, e: &SpecExpr, slots: &mut Slots) -> Res<()> {
        match e {
            SpecExpr::And(a, b) => {
                self.assume_in(st, a, slots)?;
                self.assume_in(st, b, slots)
            }
            SpecExpr::Forall { slot, lo, hi, body } => {
                for i in self.rounds(st, lo, hi, slots)?.into_iter().flatten() {
                    let mut slots = self.known(with(slots, *slot, i), "a clause with too many names")?;
                    self.assume_in(st, body, &mut slots)?;
                }
                Ok(())
            }
            _ => {
                if let Some(cond) = self.spec(st, e, slots)?.and_then(|v| v.cond) {
                    let new = self.assume(st, &cond, true);
                    self.facts.extend(new);
                }
                Ok(())
            }
        }
    }

    fn rounds(&mut self, st: &mut State, lo: &SpecExpr, hi: &SpecExpr, slots: &mut Slots) -> Res<Option<std::ops::Range<i128>>> {
        let (lo, hi) = (self.spec(st, lo, slots)?, self.spec(st, hi, slots)?);
        let number = |s: Option<Sc>| s?.itv.as_ref().and_then(small);
        Ok(number(lo).zip(number(hi)).map(|(a, b)| a..b).filter(|r| r.end.saturating_sub(r.start) <= MAX_FORALL))
    }

    /// An integer or a truth value; `None`: nothing is known of it.
    fn spec(&mut self, st: &mut State, e: &SpecExpr, slots: &mut Slots) -> Res<Option<Sc>> {
        self.charge(CLAUSE_STEPS - 1);
        self.step()?;
        let truth = |v: bool| Some(Sc::new(Itv::point(u8::from(v))));
        let unknown = || Some(Sc::new(Itv::bool()));
        Ok(match e {
            SpecExpr::Int(v) => Some(Sc::new(Itv::point(v))),
            SpecExpr::Bool(b) => truth(*b),
            SpecExpr::Var(slot) => slots.get(*slot as usize).copied().flatten().map(|i| Sc::new(Itv::point(i))),
            SpecExpr::Place(_) | SpecExpr::Index(..) | SpecExpr::Field(..) => self.spec_read(st, e, slots)?,
            SpecExpr::Len(a) => match &**a {
                SpecExpr::Place(p) => match Scope::of(self.p, self.f).place_ty(p) {
                    Some(Ty::Array { len, .. }) => Some(self.length(st, &len)?),
                    _ => None,
                },
                _ => None,
            },
            SpecExpr::Neg(a) => match self.spec(st, a, slots)? {
                Some(x) => Some(Sc::with_form(Itv::point(0u8).sub(&self.itv(&x)?), self.form(&x).map(|f| f.scale(&Int::Small(-1))))),
                None => None,
            },
            SpecExpr::Bin(op, a, b) => match (self.spec(st, a, slots)?, self.spec(st, b, slots)?) {
                (Some(x), Some(y)) => self.spec_bin(*op, &x, &y)?,
                _ => None,
            },
            SpecExpr::Cmp(op, a, b) => match (self.spec(st, a, slots)?, self.spec(st, b, slots)?) {
                (Some(x), Some(y)) => {
                    let (s, t) = (self.spec_stored(st, a, slots)?, self.spec_stored(st, b, slots)?);
                    Some(self.comparison(st, *op, (&x, s), (&y, t))?)
                }
                _ => unknown(),
            },
            SpecExpr::Not(a) => self.spec_not(st, a, slots)?,
            SpecExpr::And(a, b) | SpecExpr::Or(a, b) => match (self.spec(st, a, slots)?, self.spec(st, b, slots)?) {
                (Some(x), Some(y)) => Some(self.booleans(if matches!(e, SpecExpr::And(..)) { BinOp::And } else { BinOp::Or }, &x, &y)?),
                _ => unknown(),
            },
            SpecExpr::Implies(a, b) => match (self.spec_not(st, a, slots)?, self.spec(st, b, slots)?) {
                (Some(x), Some(y)) => Some(self.booleans(BinOp::Or, &x, &y)?),
                _ => unknown(),
            },
            SpecExpr::If(c, a, b) => {
                let c = self.spec(st, c, slots)?.and_then(|c| self.decided(&c));
                match (c, self.spec(st, a, slots)?, self.spec(st, b, slots)?) {
                    (Some(true), a, _) => a,
                    (Some(false), _, b) => b,
                    (None, Some(a), Some(b)) => Some(Sc::new(self.itv(&a)?.join(&self.itv(&b)?))),
                    _ => None,
                }
            }
            SpecExpr::Forall { slot, lo, hi, body } => {
                let Some(rounds) = self.rounds(st, lo, hi, slots)? else { return Ok(unknown()) };
                let mut all = Some(true);
                for i in rounds {
                    let mut slots = self.known(with(slots, *slot, i), "a clause with too many names")?;
                    let v = self.spec(st, body, &mut slots)?.and_then(|v| self.decided(&v));
                    all = match (all, v) {
                        (Some(false), _) | (_, Some(false)) => Some(false),
                        (Some(true), Some(true)) => Some(true),
                        _ => None,
                    };
                }
                all.map_or_else(unknown, truth)
            }
            SpecExpr::Congruent(..) | SpecExpr::Sum { .. } | SpecExpr::Call(..) | SpecExpr::Let(..) | SpecExpr::Array(_) => None,
        })
    }

    fn spec_not(&mut self, st: &mut State, a: &SpecExpr, slots: &mut Slots) -> Res<Option<Sc>> {
        let Some(x) = self.spec(st, a, slots)? else { return Ok(Some(Sc::new(Itv::bool()))) };
        let itv = Itv::point(1u8).sub(&self.itv(&x)?);
        Ok(Some(Sc { cond: x.cond.as_ref().map(|c| Rc::new(c.negated())), ..Sc::new(itv) }))
    }

    fn spec_bin(&mut self, op: SpecOp, x: &Sc, y: &Sc) -> Res<Option<Sc>> {
        let (i, j) = (self.itv(x)?, self.itv(y)?);
        let forms = self.form(x).zip(self.form(y));
        Ok(match op {
            SpecOp::Add => Some(Sc::with_form(i.add(&j), forms.map(|(f, g)| f.add(&g)))),
            SpecOp::Sub => Some(Sc::with_form(i.sub(&j), forms.map(|(f, g)| f.sub(&g)))),
            SpecOp::Mul => {
                let form = forms.and_then(|(f, g)| f.as_const().map(|k| g.scale(k)).or_else(|| g.as_const().map(|k| f.scale(k))));
                Some(Sc::with_form(i.mul(&j), form))
            }
            SpecOp::Div | SpecOp::Mod => match j.single().filter(|d| **d > Int::ZERO) {
                Some(d) if op == SpecOp::Div => Some(self.quotient(x, d)?),
                Some(d) => Some(self.remainder(x, d)?),
                None => None,
            },
            SpecOp::Pow => match (i.single(), small(&j)) {
                (Some(b), Some(k)) if (0..=MAX_FORALL).contains(&k) && b.bits() <= 64 => Some(Sc::new(Itv::point((0..k).fold(Int::Small(1), |acc, _| acc.mul(b))))),
                _ => None,
            },
            SpecOp::And | SpecOp::Or | SpecOp::Xor => None,
        })
    }

    /// The stored scalar that a clause names, where it is known which element.
    fn spec_stored(&mut self, st: &mut State, e: &SpecExpr, slots: &mut Slots) -> Res<Option<Stored>> {
        let (mut path, mut at) = (Vec::new(), e);
        let p = loop {
            match at {
                SpecExpr::Place(p) => break p,
                SpecExpr::Field(a, i) => {
                    path.push(*i as usize);
                    at = a;
                }
                SpecExpr::Index(a, i) => {
                    let i = self.spec(st, i, slots)?.and_then(|s| s.itv.as_ref().and_then(small)).and_then(|i| usize::try_from(i).ok());
                    let Some(i) = i else { return Ok(None) };
                    path.push(i);
                    at = a;
                }
                _ => return Ok(None),
            }
        };
        let Base::Local(local) = p.base else { return Ok(None) };
        let Some(mut full) = place::path(&self.steps_of(st, p)?) else { return Ok(None) };
        full.extend(path.into_iter().rev());
        let there = st.locals[local.0 as usize].at(&full).is_some_and(|s| s.def);
        Ok(there.then_some(Stored { local, path: full, add: Int::ZERO }))
    }

    fn spec_read(&mut self, st: &mut State, e: &SpecExpr, slots: &mut Slots) -> Res<Option<Sc>> {
        if let Some(t) = self.spec_stored(st, e, slots)? {
            let Some(leaf) = st.locals[t.local.0 as usize].at_mut(&t.path) else { return Ok(None) };
            if let (true, None, Some(itv)) = (self.plan.forms, &leaf.form, leaf.itv.clone().filter(|i| i.single().is_none())) {
                leaf.form = Some(Rc::new(crate::lin::Lin::atom(self.atoms.fresh(itv))));
            }
            return Ok(Some(Sc { cond: None, ..leaf.clone() }));
        }
        let SpecExpr::Place(p) = e else { return Ok(None) };
        let Some(ty) = Scope::of(self.p, self.f).place_ty(p).filter(Ty::is_scalar) else { return Ok(None) };
        let read = Expr { kind: ExprKind::Read(p.clone()), ty };
        Ok(Some(self.scalar(st, &read)?))
    }

}

fn is_truth(e: &SpecExpr) -> bool {
    match e {
        SpecExpr::Bool(_) | SpecExpr::Cmp(..) | SpecExpr::Not(_) | SpecExpr::And(..) | SpecExpr::Or(..) | SpecExpr::Implies(..) | SpecExpr::Forall { .. } => true,
        SpecExpr::If(_, a, b) => is_truth(a) && is_truth(b),
        _ => false,
    }
}

fn with(slots: &[Option<i128>], slot: u32, v: i128) -> Option<Slots> {
    let (at, mut out) = (slot as usize, slots.to_vec());
    out.resize(out.len().max(at + 1).min(MAX_SLOTS), None);
    *out.get_mut(at)? = Some(v);
    Some(out)
}
