//! Specifications evaluated on terms: what a `spec fn` says of the inputs becomes a term beside those of the code.
//!
//! Needs: [`super::dag`], [`super::words`].  Keeps: the reading of specifications that `santoku_ir::spec_eval` gives them; a function is
//! evaluated once for the same arguments, so that a recursion over rounds with several calls stays linear.  Absent: what depends on
//! lengths or conditions that are not constant (recursion ends at a bound of steps).
//! Trusted: engines.

use super::dag::{Agg, Dag, Id, Lens, Sort, Stop};
use super::words::{integer, Words};
use num_bigint::BigInt;
use num_traits::{One, Signed, ToPrimitive, Zero};
use santoku_ir::limits::SPEC_DEPTH;
use santoku_ir::{Base, BinOp, CmpOp, ConstId, ConstValue, LocalId, Place, Program, Proj, SpecExpr, SpecId, SpecOp, Ty};
use std::collections::HashMap;

/// Expressions that one evaluation may look at.
const STEPS: u64 = 1 << 22;
/// Bits of a constant power.
const POWER_BITS: u64 = 1 << 14;

type Eval<T> = Result<T, Stop>;

fn unknown<T>(why: &str) -> Eval<T> {
    Err(Stop::Unknown(why.to_string()))
}

/// A call of a specification function.
pub type Call = (SpecId, Vec<Id>);

pub struct SpecEval<'p> {
    program: &'p Program,
    /// Parameters and results of the function whose clause it is, by local.
    pub places: HashMap<LocalId, Id>,
    pub words: Words,
    slots: Vec<Option<Id>>,
    given: HashMap<Call, Id>,
    consts: HashMap<ConstId, Id>,
    steps: u64,
    depth: usize,
    calls: Vec<Call>,
    /// Nodes that the code made, once it has run.
    pub of_code: Option<usize>,
    /// The first call whose value is none of them, and the calls around it.
    pub first_new: Option<Vec<Call>>,
}

impl<'p> SpecEval<'p> {
    pub fn new(program: &'p Program) -> SpecEval<'p> {
        SpecEval {
            program,
            places: HashMap::new(),
            words: Words::default(),
            slots: Vec::new(),
            given: HashMap::new(),
            consts: HashMap::new(),
            steps: 0,
            depth: 0,
            calls: Vec::new(),
            of_code: None,
            first_new: None,
        }
    }

    pub fn eval(&mut self, dag: &mut Dag, e: &SpecExpr) -> Eval<Id> {
        self.steps += 1;
        if self.steps > STEPS || self.depth >= SPEC_DEPTH || dag.full() {
            return Err(Stop::TooBig);
        }
        self.depth += 1;
        let value = self.node(dag, e);
        self.depth -= 1;
        value
    }

    fn int(&mut self, dag: &mut Dag, e: &SpecExpr) -> Eval<Id> {
        let x = self.eval(dag, e)?;
        match dag.sort(x) {
            Sort::Agg(_) => unknown("an aggregate where the specification needs a number"),
            _ => Ok(integer(dag, x)),
        }
    }

    fn truth(&mut self, dag: &mut Dag, e: &SpecExpr) -> Eval<Id> {
        let x = self.eval(dag, e)?;
        if dag.sort(x) == Sort::Bool { Ok(x) } else { unknown("a number where the specification needs a truth value") }
    }

    fn number(&mut self, dag: &mut Dag, e: &SpecExpr) -> Eval<BigInt> {
        let x = self.int(dag, e)?;
        dag.as_const(x).cloned().map_or_else(|| unknown("a number of the specification that depends on the input"), Ok)
    }

    fn node(&mut self, dag: &mut Dag, e: &SpecExpr) -> Eval<Id> {
        Ok(match e {
            SpecExpr::Int(v) => dag.int(v.clone()),
            SpecExpr::Bool(b) => dag.bool(*b),
            SpecExpr::Var(slot) => match self.slots.get(*slot as usize).copied().flatten() {
                Some(x) => x,
                None => return unknown("a name that is not bound"),
            },
            SpecExpr::Place(p) => self.place(dag, p)?,
            SpecExpr::Index(a, i) => {
                let (a, i) = (self.eval(dag, a)?, self.int(dag, i)?);
                self.element(dag, a, i)?
            }
            SpecExpr::Field(a, i) => {
                let a = self.eval(dag, a)?;
                self.field(dag, a, *i)?
            }
            SpecExpr::Len(a) => {
                let a = self.eval(dag, a)?;
                match length(dag, a) {
                    Some(n) => dag.int(n),
                    None => return unknown("a length that is not known"),
                }
            }
            SpecExpr::Neg(a) => {
                let a = self.int(dag, a)?;
                dag.neg(a)
            }
            SpecExpr::Bin(op, a, b) => self.arithmetic(dag, *op, a, b)?,
            SpecExpr::Cmp(op, a, b) => {
                let (a, b) = (self.eval(dag, a)?, self.eval(dag, b)?);
                self.compare(dag, *op, a, b)?
            }
            SpecExpr::Congruent(a, b, m) => {
                let (a, b, m) = (self.int(dag, a)?, self.int(dag, b)?, self.number(dag, m)?);
                if !m.is_positive() {
                    return unknown("a modulus that is not positive");
                }
                let (a, b) = (self.words.modulo(dag, a, &m), self.words.modulo(dag, b, &m));
                self.words.equal(dag, a, b)
            }
            SpecExpr::Not(a) => {
                let a = self.truth(dag, a)?;
                dag.not(a)
            }
            SpecExpr::And(a, b) => self.lazily(dag, a, b, false, false)?,
            SpecExpr::Or(a, b) => self.lazily(dag, a, b, true, false)?,
            SpecExpr::Implies(a, b) => self.lazily(dag, a, b, true, true)?,
            SpecExpr::If(c, a, b) => self.choice(dag, c, a, b)?,
            SpecExpr::Let(slot, a, b) => {
                let a = self.eval(dag, a)?;
                self.with(*slot, a, |s| s.eval(dag, b))?
            }
            SpecExpr::Sum { slot, lo, hi, body } => {
                let mut sum = dag.int(0);
                for i in self.values(dag, lo, hi)? {
                    let i = dag.int(i);
                    let one = self.with(*slot, i, |s| s.int(dag, body))?;
                    sum = dag.add(sum, one);
                }
                sum
            }
            SpecExpr::Forall { slot, lo, hi, body } => {
                let mut all = dag.bool(true);
                for i in self.values(dag, lo, hi)? {
                    let i = dag.int(i);
                    let one = self.with(*slot, i, |s| s.truth(dag, body))?;
                    all = dag.and(all, one);
                }
                all
            }
            SpecExpr::Array(es) => {
                let parts = es.iter().map(|e| self.eval(dag, e)).collect::<Eval<Vec<Id>>>()?;
                array(dag, parts)?
            }
            SpecExpr::Call(id, args) => {
                let args = args.iter().map(|a| self.eval(dag, a)).collect::<Eval<Vec<Id>>>()?;
                self.call(dag, *id, args)?
            }
        })
    }

    fn values(&mut self, dag: &mut Dag, lo: &SpecExpr, hi: &SpecExpr) -> Eval<Vec<BigInt>> {
        let (lo, hi) = (self.number(dag, lo)?, self.number(dag, hi)?);
        match (&hi - &lo).to_u64() {
            Some(n) if n <= STEPS => Ok((0..n).map(|k| &lo + k).collect()),
            Some(_) => Err(Stop::TooBig),
            None => Ok(Vec::new()),
        }
    }

    fn with<T>(&mut self, slot: u32, v: Id, of: impl FnOnce(&mut Self) -> Eval<T>) -> Eval<T> {
        let at = slot as usize;
        if at >= SPEC_DEPTH {
            return unknown("too many names");
        }
        if at >= self.slots.len() {
            self.slots.resize(at + 1, None);
        }
        let outer = self.slots[at].replace(v);
        let out = of(self);
        // The function may have been left by an error with fewer slots.
        if let Some(own) = self.slots.get_mut(at) {
            *own = outer;
        }
        out
    }

    fn place(&mut self, dag: &mut Dag, p: &Place) -> Eval<Id> {
        let mut at = match p.base {
            Base::Local(id) => match self.places.get(&id) {
                Some(x) => *x,
                None => return unknown("a local that the specification does not see"),
            },
            Base::Const(id) => self.constant(dag, id)?,
        };
        for proj in &p.projs {
            at = match proj {
                Proj::Field(k) => self.field(dag, at, *k)?,
                Proj::Index(e) => match e.as_const() {
                    Some(i) => {
                        let i = dag.int(i.clone());
                        self.element(dag, at, i)?
                    }
                    None => return unknown("an index in a clause that is no constant"),
                },
                Proj::Slice { .. } => return unknown("a slice in a clause"),
            };
        }
        Ok(at)
    }

    fn constant(&mut self, dag: &mut Dag, id: ConstId) -> Eval<Id> {
        if let Some(x) = self.consts.get(&id) {
            return Ok(*x);
        }
        let c = &self.program.consts[id.0 as usize];
        let sort = dag.sort_of(self.program, &c.ty, &Lens::new());
        let x = literal(dag, &c.value, sort);
        self.consts.insert(id, x);
        Ok(x)
    }

    fn field(&mut self, dag: &mut Dag, a: Id, k: u32) -> Eval<Id> {
        match dag.parts(dag.sort(a)) {
            Some(parts) if (k as usize) < parts.len() => Ok(dag.field(a, k)),
            _ => unknown("a field that is not there"),
        }
    }

    fn element(&mut self, dag: &mut Dag, a: Id, i: Id) -> Eval<Id> {
        let Sort::Agg(agg) = dag.sort(a) else { return unknown("an element of a number") };
        match (dag.agg(agg), dag.as_const(i)) {
            (Agg::Arr(_, Some(n)), Some(k)) if k.to_u64().is_none_or(|k| k >= *n) => unknown("an element that is not there"),
            (Agg::Arr(..), _) => Ok(dag.load(a, i)),
            (Agg::Rec(_), _) => unknown("an element of a struct"),
        }
    }

    fn arithmetic(&mut self, dag: &mut Dag, op: SpecOp, a: &SpecExpr, b: &SpecExpr) -> Eval<Id> {
        let (x, y) = (self.int(dag, a)?, self.int(dag, b)?);
        let bits = match op {
            SpecOp::Add => return Ok(dag.add(x, y)),
            SpecOp::Sub => return Ok(dag.sub(x, y)),
            SpecOp::Mul => return Ok(dag.mul(x, y)),
            SpecOp::Div | SpecOp::Mod => {
                let Some(d) = dag.as_const(y).filter(|d| d.is_positive()).cloned() else {
                    return unknown("a divisor that is no positive constant");
                };
                return Ok(if op == SpecOp::Div { self.words.quotient(dag, x, &d) } else { self.words.modulo(dag, x, &d) });
            }
            SpecOp::Pow => return power(dag, x, y),
            SpecOp::And => BinOp::And,
            SpecOp::Or => BinOp::Or,
            SpecOp::Xor => BinOp::Xor,
        };
        self.words.bitwise(dag, bits, x, y).map_or_else(|| unknown("bits of what may be negative or too large"), Ok)
    }

    fn compare(&mut self, dag: &mut Dag, op: CmpOp, a: Id, b: Id) -> Eval<Id> {
        if !matches!(op, CmpOp::Eq | CmpOp::Ne) {
            let (a, b) = (integer(dag, a), integer(dag, b));
            return Ok(dag.compare(op, a, b));
        }
        let mut all = dag.bool(true);
        for (x, y) in self.pairs(dag, a, b)? {
            let same = self.equal(dag, x, y);
            all = dag.and(all, same);
        }
        Ok(if op == CmpOp::Eq { all } else { dag.not(all) })
    }

    /// Equality of two scalars.
    pub fn equal(&mut self, dag: &mut Dag, x: Id, y: Id) -> Id {
        if dag.sort(x) == Sort::Bool && dag.sort(y) == Sort::Bool {
            return dag.eq_scalar(x, y);
        }
        let (x, y) = (integer(dag, x), integer(dag, y));
        self.words.equal(dag, x, y)
    }

    /// Scalars of two values of one shape, side by side.
    pub fn pairs(&mut self, dag: &mut Dag, a: Id, b: Id) -> Eval<Vec<(Id, Id)>> {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        if scalars(dag, a, &mut left).is_none() || scalars(dag, b, &mut right).is_none() || left.len() != right.len() {
            return unknown("values of different or unknown shapes are compared");
        }
        Ok(left.into_iter().zip(right).collect())
    }

    /// `a && b`, or with `stop` the other way round `a || b`, or with `!a` for `a`.
    fn lazily(&mut self, dag: &mut Dag, a: &SpecExpr, b: &SpecExpr, stop: bool, negated: bool) -> Eval<Id> {
        let mut a = self.truth(dag, a)?;
        if negated {
            a = dag.not(a);
        }
        if let Some(v) = dag.as_const(a) {
            return if v.is_zero() == stop { self.truth(dag, b) } else { Ok(a) };
        }
        let b = self.truth(dag, b)?;
        Ok(if stop { dag.or(a, b) } else { dag.and(a, b) })
    }

    fn choice(&mut self, dag: &mut Dag, c: &SpecExpr, a: &SpecExpr, b: &SpecExpr) -> Eval<Id> {
        let c = self.truth(dag, c)?;
        if let Some(v) = dag.as_const(c) {
            let taken = if v.is_zero() { b } else { a };
            return self.eval(dag, taken);
        }
        let (a, b) = (self.eval(dag, a)?, self.eval(dag, b)?);
        let (a, b) = (plain(dag, a)?, plain(dag, b)?);
        if dag.sort(a) != dag.sort(b) {
            return unknown("a choice between values of different shapes");
        }
        Ok(dag.select(c, a, b))
    }

    fn call(&mut self, dag: &mut Dag, id: SpecId, args: Vec<Id>) -> Eval<Id> {
        let call = (id, args);
        if let Some(x) = self.given.get(&call) {
            return Ok(*x);
        }
        let Some(f) = self.program.specs.get(id.0 as usize) else { return unknown("no such spec fn") };
        let outer = std::mem::replace(&mut self.slots, call.1.iter().copied().map(Some).collect());
        self.calls.push(call.clone());
        let value = self.eval(dag, &f.body);
        self.slots = outer;
        if let (Ok(x), None, Some(made)) = (&value, &self.first_new, self.of_code) {
            let x = self.words.short(dag, *x);
            if x as usize >= made && !matches!(dag.sort(x), Sort::Agg(_)) && dag.as_const(x).is_none() {
                self.first_new = Some(self.calls.clone());
            }
        }
        self.calls.pop();
        let value = value?;
        self.given.insert(call, value);
        Ok(value)
    }

    /// A value as one of a type of the program.
    pub fn typed(&mut self, dag: &mut Dag, x: Id, ty: &Ty) -> Eval<Id> {
        let sort = dag.sort_of(self.program, ty, &Lens::new());
        let mut parts = Vec::new();
        if scalars(dag, x, &mut parts).is_none() {
            return unknown("a result whose length is not known");
        }
        let mut parts = parts.into_iter();
        let value = self.rebuilt(dag, sort, &mut parts)?;
        if parts.next().is_some() { unknown("a result of another shape") } else { Ok(value) }
    }

    fn rebuilt(&mut self, dag: &mut Dag, sort: Sort, parts: &mut dyn Iterator<Item = Id>) -> Eval<Id> {
        if let Some(sorts) = dag.parts(sort) {
            let parts = sorts.into_iter().map(|s| self.rebuilt(dag, s, parts)).collect::<Eval<Vec<Id>>>()?;
            return Ok(dag.aggregate(parts, sort));
        }
        let Some(x) = parts.next() else { return unknown("a result of another shape") };
        match (sort, dag.sort(x)) {
            (a, b) if a == b => Ok(x),
            (Sort::Word(bits), Sort::Int) => Ok(self.words.word(dag, x, bits)),
            (Sort::Int, Sort::Word(_)) => Ok(integer(dag, x)),
            _ => unknown("a result of another kind"),
        }
    }
}

/// The scalars of a value in storage order. `None`: its length is not known.
fn scalars(dag: &mut Dag, x: Id, out: &mut Vec<Id>) -> Option<()> {
    if !matches!(dag.sort(x), Sort::Agg(_)) {
        out.push(x);
        return Some(());
    }
    dag.explode(x)?.into_iter().try_for_each(|p| scalars(dag, p, out))
}

/// A value with integers for words.
fn plain(dag: &mut Dag, x: Id) -> Eval<Id> {
    let Sort::Agg(agg) = dag.sort(x) else {
        return Ok(if dag.sort(x) == Sort::Bool { x } else { integer(dag, x) });
    };
    let record = matches!(dag.agg(agg), Agg::Rec(_));
    let Some(parts) = dag.explode(x) else { return unknown("an array whose length is not known") };
    let parts = parts.into_iter().map(|p| plain(dag, p)).collect::<Eval<Vec<Id>>>()?;
    if !record {
        return array(dag, parts);
    }
    let sorts = parts.iter().map(|p| dag.sort(*p)).collect();
    let sort = dag.agg_sort(Agg::Rec(sorts));
    Ok(dag.aggregate(parts, sort))
}

fn array(dag: &mut Dag, parts: Vec<Id>) -> Eval<Id> {
    let parts = parts.into_iter().map(|p| plain(dag, p)).collect::<Eval<Vec<Id>>>()?;
    let elem = parts.first().map_or(Sort::Int, |p| dag.sort(*p));
    if parts.iter().any(|p| dag.sort(*p) != elem) {
        return unknown("an array of elements of different shapes");
    }
    let sort = dag.agg_sort(Agg::Arr(elem, Some(parts.len() as u64)));
    Ok(dag.aggregate(parts, sort))
}

fn length(dag: &Dag, a: Id) -> Option<u64> {
    match dag.sort(a) {
        Sort::Agg(agg) => match dag.agg(agg) {
            Agg::Arr(_, n) => *n,
            Agg::Rec(_) => None,
        },
        _ => None,
    }
}

fn power(dag: &mut Dag, x: Id, y: Id) -> Eval<Id> {
    let k = dag.as_const(y).and_then(ToPrimitive::to_u32);
    match (dag.as_const(x), k) {
        (Some(b), Some(k)) if b.bits().saturating_mul(u64::from(k)) <= POWER_BITS => {
            let v = b.pow(k);
            Ok(dag.int(v))
        }
        (None, Some(k)) if k <= 4 => {
            let one = dag.int(BigInt::one());
            Ok((0..k).fold(one, |p, _| dag.mul(p, x)))
        }
        _ => unknown("a power that is too large or whose exponent is no constant"),
    }
}

fn literal(dag: &mut Dag, value: &ConstValue, sort: Sort) -> Id {
    match value {
        ConstValue::Scalar(v) => dag.constant(v.clone(), sort),
        ConstValue::Array(vs) | ConstValue::Struct(vs) => {
            let sorts = dag.parts(sort).unwrap_or_default();
            let parts = vs.iter().zip(sorts).map(|(v, s)| literal(dag, v, s)).collect();
            dag.aggregate(parts, sort)
        }
    }
}
