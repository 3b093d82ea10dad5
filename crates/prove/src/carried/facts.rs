//! The lists behind the numbers of a run, and what follows from what.

use super::claim;
use super::state::{const_part, ClaimId, KnownId, Node, State};
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use santoku_ir::interp::Value;
use santoku_ir::spec_eval::SpecRun;
use santoku_ir::{Base, ConstId, ConstValue, Len, LocalId, Place, Program, SpecExpr, Ty};
use std::collections::{BTreeMap, BTreeSet};

/// Steps to decide a claim of one constant.
const STEPS: u64 = 100_000;
/// Parts, parts of parts included, up to which the parts of a value are followed one by one.
const PARTS_MAX: u64 = 4096;

/// Claims and constants of one run.
pub struct Facts<'p> {
    prog: &'p Program,
    claims: Vec<SpecExpr>,
    known: Vec<(ConstValue, Ty)>,
    truth: BTreeMap<(KnownId, ClaimId), bool>,
    consts: BTreeMap<ConstId, Node>,
}

impl<'p> Facts<'p> {
    pub fn new(prog: &'p Program) -> Facts<'p> {
        Facts { prog, claims: Vec::new(), known: Vec::new(), truth: BTreeMap::new(), consts: BTreeMap::new() }
    }

    pub fn claim(&mut self, c: &SpecExpr) -> ClaimId {
        let at = self.claims.iter().position(|x| x == c).unwrap_or_else(|| {
            self.claims.push(c.clone());
            self.claims.len() - 1
        });
        at as ClaimId
    }

    /// The value of a constant table.
    pub fn constant(&mut self, id: ConstId) -> Node {
        if let Some(n) = self.consts.get(&id) {
            return n.clone();
        }
        let c = &self.prog.consts[id.0 as usize];
        let node = self.known(&c.value, &c.ty);
        self.consts.insert(id, node.clone());
        node
    }

    pub fn known(&mut self, value: &ConstValue, ty: &Ty) -> Node {
        let at = self.known.iter().position(|(v, t)| v == value && t == ty).unwrap_or_else(|| {
            self.known.push((value.clone(), ty.clone()));
            self.known.len() - 1
        });
        let kids = match value {
            ConstValue::Array(es) | ConstValue::Struct(es) if self.width(ty).is_some() => {
                es.iter().enumerate().map(|(i, e)| self.part_ty(ty, i).map_or_else(Node::anything, |t| self.known(e, &t))).collect()
            }
            _ => Vec::new(),
        };
        Node { claims: None, known: BTreeSet::from([at as KnownId]), kids }
    }

    /// How many parts of a value of this type are followed one by one.
    pub fn width(&self, ty: &Ty) -> Option<usize> {
        match ty {
            Ty::Struct(s) if self.parts(ty) <= PARTS_MAX => Some(self.prog.structs[s.0 as usize].fields.len()),
            Ty::Array { elem, len: Len::Const(n), .. } if !elem.is_scalar() && self.parts(ty) <= PARTS_MAX => n.to_usize(),
            _ => None,
        }
    }
    /// Parts of a value, parts of parts included, and the value itself.
    pub fn parts(&self, ty: &Ty) -> u64 {
        match ty {
            Ty::Struct(s) => self.prog.structs[s.0 as usize].fields.iter().fold(1, |n: u64, (_, t)| n.saturating_add(self.parts(t))),
            Ty::Array { elem, len: Len::Const(n), .. } if !elem.is_scalar() => self.parts(elem).saturating_mul(*n).saturating_add(1),
            _ => 1,
        }
    }
    pub fn part_ty(&self, ty: &Ty, i: usize) -> Option<Ty> {
        match ty {
            Ty::Struct(s) => self.prog.structs[s.0 as usize].fields.get(i).map(|(_, t)| t.clone()),
            Ty::Array { elem, .. } => Some((**elem).clone()),
            Ty::Word(_) | Ty::Int(_) | Ty::Bool => None,
        }
    }

    /// Whether every value the node stands for satisfies the claim.
    pub fn holds(&mut self, node: &Node, claim: ClaimId) -> bool {
        let all = |set: &BTreeSet<ClaimId>| set.iter().any(|c| self.entails(*c, claim));
        node.claims.as_ref().is_none_or(all) && node.known.iter().all(|k| self.true_of(*k, claim))
    }
    fn entails(&self, a: ClaimId, b: ClaimId) -> bool {
        a == b || claim::entails(&self.claims[a as usize], &self.claims[b as usize])
    }
    fn true_of(&mut self, known: KnownId, claim: ClaimId) -> bool {
        if let Some(t) = self.truth.get(&(known, claim)) {
            return *t;
        }
        let (value, ty) = &self.known[known as usize];
        let mut read = |p: &Place| Ok(self.read(p, Some((value, ty))).unwrap_or(Value::Undef));
        let t = SpecRun::new(self.prog, STEPS, &mut read).truth(&self.claims[claim as usize]) == Ok(true);
        self.truth.insert((known, claim), t);
        t
    }
    /// Whether a claim about constants alone holds.
    pub fn closed(&self, claim: &SpecExpr) -> bool {
        let mut read = |p: &Place| Ok(self.read(p, None).unwrap_or(Value::Undef));
        SpecRun::new(self.prog, STEPS, &mut read).truth(claim) == Ok(true)
    }
    fn read(&self, p: &Place, it: Option<(&ConstValue, &Ty)>) -> Option<Value> {
        let (value, ty) = match p.base {
            Base::Local(_) => it?,
            Base::Const(id) => self.prog.consts.get(id.0 as usize).map(|c| (&c.value, &c.ty))?,
        };
        let path = claim::fixed_path(&p.projs)?;
        let ty = path.iter().try_fold(ty.clone(), |t, i| self.part_ty(&t, *i))?;
        self.value(const_part(value, &path)?, &ty)
    }
    fn value(&self, v: &ConstValue, ty: &Ty) -> Option<Value> {
        Some(match (v, ty) {
            (ConstValue::Scalar(v), Ty::Word(_)) => Value::Word(v.to_u128()?),
            (ConstValue::Scalar(v), Ty::Int(_)) => Value::int(v.clone()),
            (ConstValue::Scalar(v), Ty::Bool) => Value::Bool(*v != BigInt::from(0)),
            (ConstValue::Array(es), Ty::Array { elem, .. }) => Value::array(es.iter().map(|e| self.value(e, elem)).collect::<Option<_>>()?),
            (ConstValue::Struct(es), Ty::Struct(_)) => {
                let part = |(i, e)| self.value(e, &self.part_ty(ty, i)?);
                Value::structure(es.iter().enumerate().map(part).collect::<Option<_>>()?)
            }
            _ => return None,
        })
    }

    /// What holds of either.
    pub fn join(&self, a: &Node, b: &Node) -> Node {
        let nothing = Node::unwritten();
        if a == b || *b == nothing {
            return a.clone();
        }
        if *a == nothing {
            return b.clone();
        }
        let claims = match (&a.claims, &b.claims) {
            (None, x) | (x, None) => x.clone(),
            (Some(x), Some(y)) => {
                let kept = |from: &BTreeSet<ClaimId>, by: &BTreeSet<ClaimId>| -> BTreeSet<ClaimId> {
                    from.iter().copied().filter(|c| by.iter().any(|d| self.entails(*d, *c))).collect()
                };
                Some(kept(x, y).union(&kept(y, x)).copied().collect())
            }
        };
        let kids = if a.kids.len() == b.kids.len() {
            a.kids.iter().zip(&b.kids).map(|(x, y)| self.join(x, y)).collect()
        } else {
            Vec::new()
        };
        Node { claims, known: a.known.union(&b.known).copied().collect(), kids }
    }

    pub fn join_states(&self, a: &State, b: &State) -> State {
        let vals = a.vals.iter().zip(&b.vals).map(|(x, y)| self.join(x, y)).collect();
        let both = |(l, x): (&LocalId, &BTreeSet<_>)| Some((*l, b.if_true.get(l)?.intersection(x).cloned().collect()));
        State { vals, if_true: a.if_true.iter().filter_map(both).collect() }
    }

    /// Adds a claim about a part of a value; the value stays what it is.
    pub fn learn(&self, node: &mut Node, ty: &Ty, path: &[usize], claim: ClaimId) {
        let Some((i, rest)) = path.split_first() else {
            if let Some(claims) = &mut node.claims {
                claims.insert(claim);
            }
            return;
        };
        let (Some(width), Some(part)) = (self.width(ty), self.part_ty(ty, *i)) else { return };
        node.open(width);
        if let Some(kid) = node.kids.get_mut(*i) {
            self.learn(kid, &part, rest, claim);
        }
    }
}
