//! Clauses as claims about one value: `value(p.x) < P` becomes "`value(it) < P`" said of the place `p.x`.
//!
//! Specification functions are written out, `let`s substituted, binders renumbered, so that two clauses that say the same
//! of different places, through different names, become equal claims.

use num_bigint::BigInt;
use num_traits::ToPrimitive;
use santoku_ir::{visit, Base, CmpOp, ConstValue, Expr, LocalId, Place, Program, Proj, SpecExpr, SpecOp};
use std::collections::BTreeMap;

/// Parts of one clause, and expressions of one claim, up to which a clause is looked at.
const PARTS_MAX: usize = 512;
const SIZE_MAX: u32 = 20_000;
/// Bits of a constant that is computed here.
const BITS_MAX: u64 = 16_384;
/// Specification functions written out inside one another.
const DEPTH_MAX: u32 = 16;
/// The place a claim speaks of, as the base of the places in it.
const IT: LocalId = LocalId(0);

/// One conjunct of a clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Speaks of this place alone. The places in the claim start at [`IT`].
    Of { local: LocalId, path: Vec<usize>, claim: SpecExpr },
    /// Speaks of constants alone.
    Closed(SpecExpr),
    /// Relates several values.
    Relation,
}

/// The conjuncts of a clause; `None` where it is too large or reads places this engine does not follow.
pub fn parts(prog: &Program, cond: &SpecExpr) -> Option<Vec<Part>> {
    let mut w = Writer { prog, slot: 1 << 24, size: 0, depth: 0 };
    let mut found = Vec::new();
    w.conjuncts(cond, &BTreeMap::new(), &mut found)?;
    found.into_iter().map(part).collect()
}

/// Whether whoever satisfies `a` satisfies `b`: the same claim, or the same quantity with a closer constant bound.
pub fn entails(a: &SpecExpr, b: &SpecExpr) -> bool {
    if a == b {
        return true;
    }
    match (upper(a), upper(b), lower(a), lower(b)) {
        (Some((x, m)), Some((y, n)), _, _) => x == y && m <= n,
        (_, _, Some((x, m)), Some((y, n))) => x == y && m >= n,
        _ => false,
    }
}

/// `e <= c`, for the claims that say so.
fn upper(claim: &SpecExpr) -> Option<(&SpecExpr, BigInt)> {
    let SpecExpr::Cmp(op, e, c) = claim else { return None };
    let SpecExpr::Int(c) = &**c else { return None };
    match op {
        CmpOp::Lt => Some((e, c - 1)),
        CmpOp::Le => Some((e, c.clone())),
        _ => None,
    }
}

fn lower(claim: &SpecExpr) -> Option<(&SpecExpr, BigInt)> {
    let SpecExpr::Cmp(op, e, c) = claim else { return None };
    let SpecExpr::Int(c) = &**c else { return None };
    match op {
        CmpOp::Gt => Some((e, c + 1)),
        CmpOp::Ge => Some((e, c.clone())),
        _ => None,
    }
}

/// The fixed path of a place: fields and constant indices.
pub fn fixed_path(projs: &[Proj]) -> Option<Vec<usize>> {
    projs
        .iter()
        .map(|p| match p {
            Proj::Field(i) => Some(*i as usize),
            Proj::Index(e) => e.as_const()?.to_usize(),
            Proj::Slice { .. } => None,
        })
        .collect()
}

/// Turns a conjunct that is written out into a claim about the longest place all its reads share.
fn part(written: SpecExpr) -> Option<Part> {
    let mut shared: Option<(LocalId, Vec<usize>)> = None;
    let mut related = false;
    let mut odd = false;
    visit::walk_spec(&written, &mut |e| {
        let SpecExpr::Place(place) = e else { return };
        let Some(path) = fixed_path(&place.projs) else {
            odd = true;
            return;
        };
        let Base::Local(id) = place.base else { return };
        match &mut shared {
            None => shared = Some((id, path)),
            Some((other, _)) if *other != id => related = true,
            Some((_, common)) => {
                let n = common.iter().zip(&path).take_while(|(a, b)| a == b).count();
                common.truncate(n);
            }
        }
    });
    if odd {
        return None;
    }
    if related {
        return Some(Part::Relation);
    }
    let mut claim = renumbered(written)?;
    let Some((local, path)) = shared else { return Some(Part::Closed(claim)) };
    visit::map_spec(&mut claim, &mut |e| {
        if let SpecExpr::Place(p) = e {
            if p.base == Base::Local(local) {
                *p = Place { base: Base::Local(IT), projs: p.projs.split_off(path.len()) };
            }
        }
    });
    Some(Part::Of { local, path, claim })
}

/// Binders numbered by how many stand around them; `None` for a variable that no binder binds. Arguments are written out
/// once for each use, so one slot may be bound in several places: each has its own scope.
fn renumbered(mut e: SpecExpr) -> Option<SpecExpr> {
    fn go(e: &mut SpecExpr, scope: &mut Vec<u32>) -> bool {
        match e {
            SpecExpr::Var(v) => match scope.iter().rposition(|s| s == v) {
                Some(depth) => *v = depth as u32,
                None => return false,
            },
            SpecExpr::Sum { slot, lo, hi, body } | SpecExpr::Forall { slot, lo, hi, body } => {
                let bounds = go(lo, scope) && go(hi, scope);
                scope.push(*slot);
                *slot = scope.len() as u32 - 1;
                let inside = go(body, scope);
                scope.pop();
                return bounds && inside;
            }
            _ => {}
        }
        let mut bound = true;
        visit::spec_children_mut(e, &mut |c| bound &= go(c, scope));
        bound
    }
    go(&mut e, &mut Vec::new()).then_some(e)
}

/// Slot -> what stands for it, written out already.
type Env = BTreeMap<u32, SpecExpr>;

struct Writer<'p> {
    prog: &'p Program,
    slot: u32,
    size: u32,
    depth: u32,
}

impl Writer<'_> {
    fn conjuncts(&mut self, e: &SpecExpr, env: &Env, out: &mut Vec<SpecExpr>) -> Option<()> {
        match e {
            SpecExpr::And(a, b) => {
                self.conjuncts(a, env, out)?;
                self.conjuncts(b, env, out)
            }
            SpecExpr::Let(slot, a, b) => {
                let env = self.bind(env, *slot, a)?;
                self.conjuncts(b, &env, out)
            }
            SpecExpr::Call(id, args) => {
                let body = &self.prog.specs.get(id.0 as usize)?.body;
                let env = self.arguments(args, env)?;
                self.deeper(|w| w.conjuncts(body, &env, out))
            }
            SpecExpr::Forall { slot, lo, hi, body } => {
                let bounds = (self.write(lo, env)?, self.write(hi, env)?);
                let (SpecExpr::Int(lo), SpecExpr::Int(hi)) = bounds else { return None };
                let mut i = lo;
                while i < hi {
                    let mut env = env.clone();
                    env.insert(*slot, SpecExpr::Int(i.clone()));
                    self.conjuncts(body, &env, out)?;
                    i += 1;
                }
                Some(())
            }
            _ => {
                out.push(self.write(e, env)?);
                (out.len() <= PARTS_MAX).then_some(())
            }
        }
    }

    fn bind(&mut self, env: &Env, slot: u32, to: &SpecExpr) -> Option<Env> {
        let to = self.write(to, env)?;
        let mut env = env.clone();
        env.insert(slot, to);
        Some(env)
    }

    fn arguments(&mut self, args: &[SpecExpr], env: &Env) -> Option<Env> {
        args.iter().enumerate().map(|(i, a)| Some((i as u32, self.write(a, env)?))).collect()
    }

    fn deeper<T>(&mut self, f: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.depth += 1;
        let done = if self.depth > DEPTH_MAX { None } else { f(self) };
        self.depth -= 1;
        done
    }

    /// `e` without calls and `let`s, its constants folded, its reads as places where they can be.
    fn write(&mut self, e: &SpecExpr, env: &Env) -> Option<SpecExpr> {
        self.size += 1;
        if self.size > SIZE_MAX {
            return None;
        }
        Some(match e {
            SpecExpr::Var(v) => {
                let to = env.get(v)?;
                visit::walk_spec(to, &mut |_| self.size += 1);
                if self.size > SIZE_MAX {
                    return None;
                }
                to.clone()
            }
            SpecExpr::Place(p) => self.place(p),
            SpecExpr::Let(slot, a, b) => {
                let env = self.bind(env, *slot, a)?;
                self.write(b, &env)?
            }
            SpecExpr::Call(id, args) => {
                let body = &self.prog.specs.get(id.0 as usize)?.body;
                let env = self.arguments(args, env)?;
                self.deeper(|w| w.write(body, &env))?
            }
            SpecExpr::Sum { slot, lo, hi, body } | SpecExpr::Forall { slot, lo, hi, body } => {
                let (lo, hi) = (Box::new(self.write(lo, env)?), Box::new(self.write(hi, env)?));
                self.slot += 1;
                let own = self.slot;
                let mut env = env.clone();
                env.insert(*slot, SpecExpr::Var(own));
                let body = Box::new(self.write(body, &env)?);
                match e {
                    SpecExpr::Sum { .. } => SpecExpr::Sum { slot: own, lo, hi, body },
                    _ => SpecExpr::Forall { slot: own, lo, hi, body },
                }
            }
            _ => {
                let mut copy = e.clone();
                let mut whole = true;
                visit::spec_children_mut(&mut copy, &mut |c| match self.write(c, env) {
                    Some(done) => *c = done,
                    None => whole = false,
                });
                whole.then(|| folded(copy))?
            }
        })
    }

    fn place(&self, p: &Place) -> SpecExpr {
        if let (Base::Const(id), []) = (p.base, &p.projs[..]) {
            if let Some(ConstValue::Scalar(v)) = self.prog.consts.get(id.0 as usize).map(|c| &c.value) {
                return SpecExpr::Int(v.clone());
            }
        }
        SpecExpr::Place(p.clone())
    }
}

/// One step of arithmetic on constants, or of narrowing a place.
fn folded(e: SpecExpr) -> SpecExpr {
    match e {
        SpecExpr::Field(a, i) => match *a {
            SpecExpr::Place(p) => SpecExpr::Place(p.field(i)),
            a => SpecExpr::Field(Box::new(a), i),
        },
        SpecExpr::Index(a, i) => match (*a, *i) {
            (SpecExpr::Place(p), SpecExpr::Int(i)) => SpecExpr::Place(p.index(Expr::int(i))),
            (a, i) => SpecExpr::Index(Box::new(a), Box::new(i)),
        },
        SpecExpr::Neg(a) => match *a {
            SpecExpr::Int(v) => SpecExpr::Int(-v),
            a => SpecExpr::Neg(Box::new(a)),
        },
        SpecExpr::Bin(op, a, b) => match (&*a, &*b) {
            (SpecExpr::Int(x), SpecExpr::Int(y)) => match arithmetic(op, x, y) {
                Some(v) => SpecExpr::Int(v),
                None => SpecExpr::Bin(op, a, b),
            },
            _ => SpecExpr::Bin(op, a, b),
        },
        other => other,
    }
}

/// `None`: not folded, because it is too large or of no use.
fn arithmetic(op: SpecOp, x: &BigInt, y: &BigInt) -> Option<BigInt> {
    match op {
        SpecOp::Add => Some(x + y),
        SpecOp::Sub => Some(x - y),
        SpecOp::Mul => (x.bits() + y.bits() <= BITS_MAX).then(|| x * y),
        SpecOp::Pow => {
            let y = y.to_u32()?;
            (x.bits().checked_mul(u64::from(y))? <= BITS_MAX).then(|| x.pow(y))
        }
        SpecOp::Div | SpecOp::Mod | SpecOp::And | SpecOp::Or | SpecOp::Xor => None,
    }
}
