//! Contract clauses over symbolic values: integers become polynomials, conditions become [`Prop`]s.

use crate::algebra::mono::Exp;
use crate::algebra::num::Num;
use crate::algebra::{Atoms, Poly};
use crate::itv::Itv;
use super::props::Prop;
use super::run::{Exec, Step, Stop};
use super::state::SVal;
use num_bigint::BigInt;
use num_traits::{One, Signed, ToPrimitive, Zero};
use santoku_ir::{Base, CmpOp, Func, Place, Proj, SpecExpr, SpecFn, SpecId, SpecOp, Ty};
use std::rc::Rc;

/// A value of the specification language.
#[derive(Clone, Debug)]
pub enum SpecVal {
    Num(Num),
    Prop(Prop),
    Agg(Rc<Vec<SpecVal>>),
}

/// Recursion of specification functions, in calls.
const DEPTH_MAX: usize = 2500;
/// Longest polynomial a specification value may be.
const TERMS_MAX: usize = 20_000;
/// Expressions evaluated, and terms of sums and products, in one clause; for all clauses of one run see [`Exec::spec_steps`].
const STEPS_MAX: u64 = 1 << 20;

/// Evaluates clauses of one contract: `locals` are parameters at entry and results.
pub struct SpecEval<'a, 'p> {
    pub ex: &'a mut Exec<'p>,
    pub locals: &'a [SVal],
    /// Whose contract it is: its names are used in messages.
    owner: &'p Func,
    slots: Vec<SpecVal>,
    depth: usize,
    steps: u64,
}

fn unsupported<T>(s: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Unsupported(s.into()))
}

fn from_sval(v: &SVal) -> Result<SpecVal, Stop> {
    match v {
        SVal::Num(n) => Ok(SpecVal::Num((**n).clone())),
        SVal::Agg(es) => Ok(SpecVal::Agg(Rc::new(es.iter().map(from_sval).collect::<Result<_, _>>()?))),
        SVal::Opaque(_) => unsupported("an array of run-time length in a contract"),
        SVal::Undef => unsupported("a contract reads a value that was never assigned"),
    }
}

impl<'a, 'p> SpecEval<'a, 'p> {
    pub fn new(ex: &'a mut Exec<'p>, owner: &'p Func, locals: &'a [SVal]) -> SpecEval<'a, 'p> {
        SpecEval { ex, locals, owner, slots: Vec::new(), depth: 0, steps: 0 }
    }

    pub fn prop(&mut self, e: &SpecExpr) -> Result<Prop, Stop> {
        match self.eval(e)? {
            SpecVal::Prop(p) => Ok(p),
            SpecVal::Num(n) => Ok(flag(n.p)),
            SpecVal::Agg(_) => unsupported("an aggregate where a condition belongs"),
        }
    }

    fn num(&mut self, e: &SpecExpr) -> Result<Num, Stop> {
        match self.eval(e)? {
            SpecVal::Num(n) => Ok(n),
            SpecVal::Prop(p) => match self.ex.as_flag(&p) {
                Some(p) => Ok(Num { p, iv: Itv::new(0, 1) }),
                None => unsupported("a condition used as a number"),
            },
            SpecVal::Agg(_) => unsupported("an aggregate where a number belongs"),
        }
    }

    fn constant(&mut self, e: &SpecExpr) -> Result<BigInt, Stop> {
        let n = self.num(e)?;
        n.p.as_const().map_or_else(|| unsupported("a bound or index that is not a constant"), Ok)
    }

    fn spend(&mut self, steps: u64) -> Result<(), Stop> {
        self.steps += steps;
        self.ex.spec_steps = self.ex.spec_steps.saturating_sub(steps);
        if self.steps > STEPS_MAX || self.ex.spec_steps == 0 { Err(Stop::Specification) } else { Ok(()) }
    }

    fn eval(&mut self, e: &SpecExpr) -> Result<SpecVal, Stop> {
        self.spend(1)?;
        let atoms = |s: &mut Self, p: Poly| -> Result<SpecVal, Stop> {
            if p.len() > TERMS_MAX {
                return Err(Stop::TooLarge);
            }
            s.spend(p.len() as u64)?;
            Ok(SpecVal::Num(s.ex.atoms.num(p)))
        };
        match e {
            SpecExpr::Int(v) => Ok(SpecVal::Num(Num::constant(v.clone()))),
            SpecExpr::Bool(b) => Ok(SpecVal::Prop(if *b { Prop::True } else { Prop::False })),
            SpecExpr::Var(i) => match self.slots.get(*i as usize) {
                Some(v) => Ok(v.clone()),
                None => Err(Stop::Internal("unbound slot in a contract".into())),
            },
            SpecExpr::Place(p) => self.place(p),
            SpecExpr::Index(a, i) => {
                let i = self.constant(i)?.to_usize();
                self.element(a, i)
            }
            SpecExpr::Field(a, i) => self.element(a, Some(*i as usize)),
            SpecExpr::Len(a) => match self.eval(a)? {
                SpecVal::Agg(es) => Ok(SpecVal::Num(Num::constant(es.len()))),
                _ => unsupported("the length of a scalar"),
            },
            SpecExpr::Neg(a) => {
                let a = self.num(a)?;
                atoms(self, a.p.neg())
            }
            SpecExpr::Bin(op, a, b) => self.arith(*op, a, b),
            SpecExpr::Cmp(op, a, b) => {
                let (x, y) = (self.eval(a)?, self.eval(b)?);
                Ok(SpecVal::Prop(self.compare(*op, x, y)?))
            }
            SpecExpr::Congruent(a, b, m) => {
                let (x, y, m) = (self.num(a)?, self.num(b)?, self.constant(m)?);
                Ok(SpecVal::Prop(congruent(&x.p.sub(&y.p), m)))
            }
            SpecExpr::Not(a) => Ok(SpecVal::Prop(self.prop(a)?.negate())),
            SpecExpr::And(a, b) => Ok(SpecVal::Prop(Prop::and(vec![self.prop(a)?, self.prop(b)?]))),
            SpecExpr::Or(a, b) => Ok(SpecVal::Prop(or(self.prop(a)?, self.prop(b)?))),
            SpecExpr::Implies(a, b) => {
                let a = self.prop(a)?;
                if a == Prop::False {
                    return Ok(SpecVal::Prop(Prop::True));
                }
                Ok(SpecVal::Prop(implies(a, self.prop(b)?)))
            }
            SpecExpr::If(c, a, b) => self.choose(c, a, b),
            SpecExpr::Let(slot, a, b) => {
                let v = self.eval(a)?;
                self.with(*slot, v, |s| s.eval(b))
            }
            SpecExpr::Sum { slot, lo, hi, body } => {
                let (lo, hi) = (self.constant(lo)?, self.constant(hi)?);
                let mut sum = Poly::zero();
                for i in range(&lo, &hi)? {
                    let n = self.with(*slot, SpecVal::Num(Num::constant(i)), |s| s.num(body))?;
                    sum.add_scaled(&n.p, &BigInt::one());
                }
                atoms(self, sum)
            }
            SpecExpr::Forall { slot, lo, hi, body } => {
                let (lo, hi) = (self.constant(lo)?, self.constant(hi)?);
                let mut all = Vec::new();
                for i in range(&lo, &hi)? {
                    all.push(self.with(*slot, SpecVal::Num(Num::constant(i)), |s| s.prop(body))?);
                }
                Ok(SpecVal::Prop(Prop::and(all)))
            }
            SpecExpr::Array(es) => {
                Ok(SpecVal::Agg(Rc::new(es.iter().map(|x| self.eval(x)).collect::<Result<_, _>>()?)))
            }
            SpecExpr::Call(id, args) => self.call(*id, args),
        }
    }

    fn with<T>(&mut self, slot: u32, v: SpecVal, f: impl FnOnce(&mut Self) -> Result<T, Stop>) -> Result<T, Stop> {
        let i = slot as usize;
        while self.slots.len() <= i {
            self.slots.push(SpecVal::Prop(Prop::False));
        }
        let old = std::mem::replace(&mut self.slots[i], v);
        let r = f(self);
        self.slots[i] = old;
        r
    }

    fn place(&mut self, p: &Place) -> Result<SpecVal, Stop> {
        let path = self.ex.path(&p.projs)?;
        let root = match p.base {
            Base::Local(id) => self.locals.get(id.0 as usize).cloned().unwrap_or(SVal::Undef),
            Base::Const(id) => self.ex.const_value(id),
        };
        let mut v = root;
        for step in path {
            v = match (&v, step) {
                (SVal::Agg(es), Step::At(i)) if i < es.len() => es[i].clone(),
                (SVal::Agg(es), Step::Slice(o, n)) if o + n <= es.len() => SVal::agg(es[o..o + n].to_vec()),
                _ => return unsupported("a place in a contract that is not constant"),
            };
        }
        from_sval(&v)
    }

    fn element(&mut self, a: &SpecExpr, i: Option<usize>) -> Result<SpecVal, Stop> {
        match self.eval(a)? {
            SpecVal::Agg(es) => match i.and_then(|i| es.get(i)) {
                Some(v) => Ok(v.clone()),
                None => unsupported("an index in a contract outside of its array"),
            },
            _ => unsupported("an element of a scalar"),
        }
    }

    fn arith(&mut self, op: SpecOp, a: &SpecExpr, b: &SpecExpr) -> Result<SpecVal, Stop> {
        let (x, y) = (self.num(a)?, self.num(b)?);
        let p = match op {
            SpecOp::Add => x.p.add(&y.p),
            SpecOp::Sub => x.p.sub(&y.p),
            SpecOp::Mul => x.p.mul(&y.p),
            SpecOp::Pow => return self.power(&x, &y).map(SpecVal::Num),
            SpecOp::Div | SpecOp::Mod => {
                let Some(d) = y.p.as_const().filter(|d| d.is_positive()) else {
                    return unsupported("division by something that is not a positive constant");
                };
                let (q, r) = self.ex.div_mod(&x, &d);
                return Ok(SpecVal::Num(if op == SpecOp::Div { q } else { r }));
            }
            // Specifications of words are compared as graphs.
            SpecOp::And | SpecOp::Or | SpecOp::Xor => return unsupported("an operation on bits in a specification"),
        };
        if p.len() > TERMS_MAX {
            return Err(Stop::TooLarge);
        }
        self.spend(p.len() as u64)?;
        Ok(SpecVal::Num(self.ex.atoms.num(p)))
    }

    /// A huge exponent is kept as one: its base becomes a single atom first.
    fn power(&mut self, b: &Num, e: &Num) -> Result<Num, Stop> {
        let Some(e) = e.p.as_const().and_then(|v| v.to_biguint()) else {
            return unsupported("an exponent that is not a constant");
        };
        if e.is_zero() {
            return Ok(Num::constant(1));
        }
        if let Some(c) = b.p.as_const() {
            let small = e.to_u64().filter(|n| c.bits().saturating_mul(*n) < 1 << 16);
            return match small {
                Some(n) => Ok(Num::constant(num_traits::pow(c, n as usize))),
                None if c.is_zero() || c.is_one() => Ok(Num::constant(c)),
                None => unsupported("a constant power too large to write out"),
            };
        }
        let e = Exp::from_big(e);
        let base = if e.small().is_some_and(|n| n <= 4) { b.p.clone() } else { self.ex.atoms.name_base(&b.p) };
        match base.pow(&e, None, 2000) {
            Some(p) => Ok(self.ex.atoms.num(p)),
            None => Err(Stop::TooLarge),
        }
    }

    fn compare(&mut self, op: CmpOp, a: SpecVal, b: SpecVal) -> Result<Prop, Stop> {
        match (a, b) {
            (SpecVal::Agg(x), SpecVal::Agg(y)) => {
                if x.len() != y.len() {
                    return unsupported("aggregates of different sizes are compared");
                }
                let mut all = Vec::new();
                for (u, v) in x.iter().zip(y.iter()) {
                    all.push(self.compare(CmpOp::Eq, u.clone(), v.clone())?);
                }
                let all = Prop::and(all);
                Ok(if op == CmpOp::Ne { all.negate() } else { all })
            }
            (SpecVal::Num(x), SpecVal::Num(y)) => Ok(compare_nums(&self.ex.atoms, op, &x, &y)),
            (x, y) => {
                let same = iff(as_prop(x)?, as_prop(y)?);
                Ok(if op == CmpOp::Ne { same.negate() } else { same })
            }
        }
    }

    fn choose(&mut self, c: &SpecExpr, a: &SpecExpr, b: &SpecExpr) -> Result<SpecVal, Stop> {
        let c = self.prop(c)?;
        match c {
            Prop::True => return self.eval(a),
            Prop::False => return self.eval(b),
            _ => {}
        }
        let (x, y) = (self.eval(a)?, self.eval(b)?);
        match (x, y) {
            (SpecVal::Num(x), SpecVal::Num(y)) => {
                let Some(f) = self.ex.as_flag(&c) else { return unsupported("a condition used to choose a number") };
                let p = y.p.add(&f.mul(&x.p.sub(&y.p)));
                Ok(SpecVal::Num(Num { iv: x.iv.join(&y.iv), p }))
            }
            (SpecVal::Agg(_), _) | (_, SpecVal::Agg(_)) => unsupported("a choice between aggregates in a contract"),
            (x, y) => {
                let (x, y) = (as_prop(x)?, as_prop(y)?);
                Ok(SpecVal::Prop(Prop::and(vec![implies(c.clone(), x), implies(c.negate(), y)])))
            }
        }
    }

    /// `value(p.x)`, or `value(mul.result)` when the clause is a callee's.
    fn call_name(&self, f: &SpecFn, args: &[SpecExpr]) -> String {
        let arg = |e: &SpecExpr| match e {
            SpecExpr::Place(p) => self.place_name(p),
            SpecExpr::Field(a, i) => match &**a {
                SpecExpr::Place(p) => format!("{}.{i}", self.place_name(p)),
                _ => "…".into(),
            },
            _ => "…".into(),
        };
        format!("{}({})", short(&f.name), args.iter().map(arg).collect::<Vec<_>>().join(", "))
    }

    fn place_name(&self, p: &Place) -> String {
        let mut name = match p.base {
            Base::Local(l) => self.owner.locals.get(l.0 as usize).map_or(String::new(), |l| l.name.clone()),
            Base::Const(c) => self.ex.prog.consts.get(c.0 as usize).map_or(String::new(), |c| short(&c.name).to_string()),
        };
        let mut ty = match p.base {
            Base::Local(l) => self.owner.locals.get(l.0 as usize).map(|l| &l.ty),
            Base::Const(c) => self.ex.prog.consts.get(c.0 as usize).map(|c| &c.ty),
        };
        for proj in &p.projs {
            match (proj, ty) {
                (Proj::Field(i), Some(Ty::Struct(s))) => {
                    let field = self.ex.prog.structs.get(s.0 as usize).and_then(|d| d.fields.get(*i as usize));
                    name.push_str(&format!(".{}", field.map_or("?", |f| f.0.as_str())));
                    ty = field.map(|f| &f.1);
                }
                (Proj::Index(e), Some(Ty::Array { elem, .. })) => {
                    name.push_str(&format!("[{}]", e.as_const().map_or("…".into(), ToString::to_string)));
                    ty = Some(elem);
                }
                _ => name.push('…'),
            }
        }
        if self.owner.name == self.ex.frame.func.name {
            name
        } else {
            format!("{}.{name}", short(&self.owner.name))
        }
    }

    fn call(&mut self, id: SpecId, args: &[SpecExpr]) -> Result<SpecVal, Stop> {
        let f = &self.ex.prog.specs[id.0 as usize];
        let name = self.call_name(f, args);
        let args = args.iter().map(|a| self.eval(a)).collect::<Result<Vec<_>, _>>()?;
        if let (true, [SpecVal::Num(b), SpecVal::Num(e)]) = (is_power(f, id), &args[..]) {
            let (b, e) = (b.clone(), e.clone());
            return self.power(&b, &e).map(SpecVal::Num);
        }
        if self.depth >= DEPTH_MAX {
            return Err(Stop::Specification);
        }
        let of_aggregate = args.iter().any(|a| matches!(a, SpecVal::Agg(_)));
        let outer = std::mem::replace(&mut self.slots, args);
        self.depth += 1;
        let r = self.eval(&f.body);
        self.depth -= 1;
        self.slots = outer;
        match r? {
            SpecVal::Num(n) if of_aggregate => {
                let p = self.ex.atoms.name_value(&name, &n.p);
                let iv = n.iv.meet(&self.ex.atoms.poly_iv(&p));
                Ok(SpecVal::Num(Num { p, iv }))
            }
            v => Ok(v),
        }
    }
}

fn short(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn range(lo: &BigInt, hi: &BigInt) -> Result<std::ops::Range<i64>, Stop> {
    match (lo.to_i64(), hi.to_i64()) {
        (Some(a), Some(b)) if b.checked_sub(a).is_some_and(|n| n <= 1 << 16) => Ok(a..b),
        _ => unsupported("a sum or forall over too many values"),
    }
}

/// A 0/1 polynomial as a condition.
pub fn flag(p: Poly) -> Prop {
    match p.as_const() {
        Some(c) if c.is_one() => Prop::True,
        Some(_) => Prop::False,
        None => Prop::Flag(p),
    }
}

fn as_prop(v: SpecVal) -> Result<Prop, Stop> {
    match v {
        SpecVal::Prop(p) => Ok(p),
        SpecVal::Num(n) => Ok(flag(n.p)),
        SpecVal::Agg(_) => unsupported("an aggregate where a condition belongs"),
    }
}

fn congruent(d: &Poly, m: BigInt) -> Prop {
    let m = m.abs();
    if m.is_zero() {
        return zero(d.clone());
    }
    let d = d.reduce_coeffs(&m);
    match d.as_const() {
        Some(c) if c.is_zero() => Prop::True,
        Some(_) => Prop::False,
        None => Prop::Cong(d, m),
    }
}

fn zero(p: Poly) -> Prop {
    match p.as_const() {
        Some(c) if c.is_zero() => Prop::True,
        Some(_) => Prop::False,
        None => Prop::Zero(p),
    }
}

fn nonneg(p: Poly) -> Prop {
    match p.as_const() {
        Some(c) if c.is_negative() => Prop::False,
        Some(_) => Prop::True,
        None => Prop::NonNeg(p),
    }
}

fn compare_nums(_atoms: &Atoms, op: CmpOp, x: &Num, y: &Num) -> Prop {
    let one = Poly::constant(1);
    match op {
        CmpOp::Eq => zero(x.p.sub(&y.p)),
        CmpOp::Ne => zero(x.p.sub(&y.p)).negate(),
        CmpOp::Lt => nonneg(y.p.sub(&x.p).sub(&one)),
        CmpOp::Le => nonneg(y.p.sub(&x.p)),
        CmpOp::Gt => nonneg(x.p.sub(&y.p).sub(&one)),
        CmpOp::Ge => nonneg(x.p.sub(&y.p)),
    }
}

fn or(a: Prop, b: Prop) -> Prop {
    match (a, b) {
        (Prop::True, _) | (_, Prop::True) => Prop::True,
        (Prop::False, p) | (p, Prop::False) => p,
        (a, b) => Prop::Or(vec![a, b]),
    }
}

fn implies(a: Prop, b: Prop) -> Prop {
    match (a, b) {
        (Prop::True, b) => b,
        (Prop::False, _) | (_, Prop::True) => Prop::True,
        (a, b) => Prop::Implies(Box::new(a), Box::new(b)),
    }
}

fn iff(a: Prop, b: Prop) -> Prop {
    match (a, b) {
        (Prop::True, p) | (p, Prop::True) => p,
        (Prop::False, p) | (p, Prop::False) => p.negate(),
        (a, b) => Prop::Iff(Box::new(a), Box::new(b)),
    }
}

/// `f(b, e) = if e == 0 { 1 } else { b * f(b, e - 1) }`, in this or the mirrored spelling.
fn is_power(f: &SpecFn, id: SpecId) -> bool {
    let SpecExpr::If(c, one, step) = &f.body else { return false };
    let zero = |e: &SpecExpr| *e == SpecExpr::Int(BigInt::zero());
    let var = |e: &SpecExpr, i: u32| *e == SpecExpr::Var(i);
    let cond = matches!(&**c, SpecExpr::Cmp(CmpOp::Eq, a, b) if var(a, 1) && zero(b));
    let less = |e: &SpecExpr| {
        matches!(e, SpecExpr::Bin(SpecOp::Sub, a, b) if var(a, 1) && **b == SpecExpr::Int(BigInt::one()))
    };
    let again = |e: &SpecExpr| matches!(e, SpecExpr::Call(g, args) if *g == id && args.len() == 2 && var(&args[0], 0) && less(&args[1]));
    let product = matches!(&**step, SpecExpr::Bin(SpecOp::Mul, a, b) if (var(a, 0) && again(b)) || (again(a) && var(b, 0)));
    f.params.len() == 2 && cond && **one == SpecExpr::Int(BigInt::one()) && product
}
