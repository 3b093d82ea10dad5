//! Concrete evaluation of specification expressions over interpreter values.
//!
//! Needs: a source of program values (the places of a contract).  Keeps: unbounded integers, with an operation
//! and a depth budget, since a specification may be mathematics nobody can compute.  Absent: proof.
//!
//! Words and booleans inside aggregates stay as they are until used as scalars; a word then reads as its
//! integer. `&&`, `||`, `==>` and `if` evaluate only what they need. Division by zero has no value.
//! Trusted: engines.

use crate::data::{Base, CmpOp, Place, Program, SpecId};
use crate::interp::ops::holds;
use crate::interp::{Fault, Value};
use santoku_num::Int;
use crate::limits::{INT_BITS, SPEC_DEPTH};
use crate::spec::{SpecExpr, SpecOp};
use num_bigint::BigInt;
use num_integer::Integer;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

/// Why an evaluation gave no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpecStop {
    /// More operations, depth or bits than allowed.
    Budget,
    /// Reading a program value faulted.
    Fault(Box<Fault>),
    /// The expression makes no sense: wrong kinds, unknown names, division by zero.
    IllFormed(String),
}

type Eval<T> = Result<T, SpecStop>;

/// Reads the places of a contract.
pub type PlaceReader<'r> = dyn FnMut(&Place) -> Result<Value, Box<Fault>> + 'r;

/// One evaluation.
pub struct SpecRun<'e, 'r> {
    program: &'e Program,
    places: &'e mut PlaceReader<'r>,
    steps_left: u64,
    depth: usize,
    /// Binders of the current specification function (or of the contract).
    slots: Vec<Value>,
    /// Inside a specification function, where only constants are program values.
    in_function: bool,
    /// What functions gave, so that a recursion that comes by the same arguments on many ways does not go them all. The arguments are
    /// kept, so that an address stays the one of the same aggregate.
    given: HashMap<(SpecId, Vec<Key>), (Vec<Value>, Value)>,
}

/// An argument: an aggregate by its address.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    At(usize),
    Scalar(Value),
}

fn key(v: &Value) -> Key {
    match v {
        Value::Array(vs) | Value::Struct(vs) => Key::At(Arc::as_ptr(vs) as usize),
        v => Key::Scalar(v.clone()),
    }
}

fn ill<T>(reason: &str) -> Eval<T> {
    Err(SpecStop::IllFormed(reason.to_string()))
}

impl<'e, 'r> SpecRun<'e, 'r> {
    /// `steps` bounds the number of operations.
    pub fn new(program: &'e Program, steps: u64, places: &'e mut PlaceReader<'r>) -> SpecRun<'e, 'r> {
        SpecRun { program, places, steps_left: steps, depth: 0, slots: Vec::new(), in_function: false, given: HashMap::new() }
    }

    /// Operations not used up yet.
    pub fn steps_left(&self) -> u64 {
        self.steps_left
    }

    /// The value of a clause.
    ///
    /// # Errors
    /// See [`SpecStop`].
    pub fn truth(&mut self, e: &SpecExpr) -> Eval<bool> {
        match self.eval(e)? {
            Value::Bool(b) => Ok(b),
            _ => ill("a condition is not a truth value"),
        }
    }

    /// Applies a specification function to values.
    ///
    /// # Errors
    /// See [`SpecStop`].
    pub fn apply(&mut self, id: SpecId, args: Vec<Value>) -> Eval<Value> {
        self.inside(id, args, |run, body| run.eval(body))
    }

    fn inside<T>(&mut self, id: SpecId, args: Vec<Value>, of: impl FnOnce(&mut Self, &SpecExpr) -> Eval<T>) -> Eval<T> {
        let Some(spec) = self.program.specs.get(id.0 as usize) else { return ill("no such spec fn") };
        if spec.params.len() != args.len() {
            return ill("wrong number of arguments of a spec fn");
        }
        let outer = std::mem::replace(&mut self.slots, args);
        let was_in_function = std::mem::replace(&mut self.in_function, true);
        let result = of(self, &spec.body);
        self.slots = outer;
        self.in_function = was_in_function;
        result
    }

    /// The value of an expression.
    ///
    /// # Errors
    /// See [`SpecStop`].
    pub fn eval(&mut self, e: &SpecExpr) -> Eval<Value> {
        self.spend(1)?;
        if self.depth >= SPEC_DEPTH {
            return Err(SpecStop::Budget);
        }
        self.depth += 1;
        let value = self.node(e)?;
        self.depth -= 1;
        Ok(value)
    }

    fn node(&mut self, e: &SpecExpr) -> Eval<Value> {
        match e {
            SpecExpr::Int(v) => Ok(Value::Int(Int::from(v))),
            SpecExpr::Bool(b) => Ok(Value::Bool(*b)),
            SpecExpr::Var(slot) => self.var(*slot),
            SpecExpr::Place(place) => self.place(place),
            SpecExpr::Index(a, i) => self.index(a, i),
            SpecExpr::Field(a, i) => part(self.eval(a)?, *i as usize),
            SpecExpr::Len(a) => self.len(a),
            SpecExpr::Neg(a) => Ok(Value::Int(self.int(a)?.neg())),
            SpecExpr::Bin(op, a, b) => self.arith(*op, a, b),
            SpecExpr::Cmp(op, a, b) => self.compare(*op, a, b),
            SpecExpr::Congruent(a, b, m) => self.congruent(a, b, m),
            SpecExpr::Not(a) => Ok(Value::Bool(!self.truth(a)?)),
            SpecExpr::And(a, b) => Ok(Value::Bool(self.truth(a)? && self.truth(b)?)),
            SpecExpr::Or(a, b) => Ok(Value::Bool(self.truth(a)? || self.truth(b)?)),
            SpecExpr::Implies(a, b) => Ok(Value::Bool(!self.truth(a)? || self.truth(b)?)),
            SpecExpr::If(c, a, b) => {
                let branch = if self.truth(c)? { a } else { b };
                self.eval(branch)
            }
            SpecExpr::Let(slot, a, b) => self.bind(*slot, a, b),
            SpecExpr::Sum { slot, lo, hi, body } => self.sum(*slot, lo, hi, body),
            SpecExpr::Forall { slot, lo, hi, body } => self.forall(*slot, lo, hi, body),
            SpecExpr::Array(es) => self.array(es),
            SpecExpr::Call(id, args) => self.call(*id, args),
        }
    }

    fn var(&mut self, slot: u32) -> Eval<Value> {
        match self.slots.get(slot as usize) {
            Some(Value::Undef) | None => ill("a variable is used outside its binder"),
            Some(v) => Ok(v.clone()),
        }
    }

    fn place(&mut self, place: &Place) -> Eval<Value> {
        if self.in_function && matches!(place.base, Base::Local(_)) {
            return ill("a spec fn mentions a local");
        }
        (self.places)(place).map_err(SpecStop::Fault)
    }

    fn int(&mut self, e: &SpecExpr) -> Eval<Int> {
        match self.eval(e)? {
            Value::Int(v) => Ok(v),
            Value::Word(w) => Ok(Int::from(w)),
            Value::Bool(_) | Value::Array(_) | Value::Struct(_) | Value::Undef => ill("an integer is expected"),
        }
    }

    fn index(&mut self, a: &SpecExpr, i: &SpecExpr) -> Eval<Value> {
        let a = self.eval(a)?;
        match self.int(i)?.to_u64().and_then(|i| usize::try_from(i).ok()) {
            Some(i) if matches!(a, Value::Array(_)) => part(a, i),
            _ => ill("an index does not fit"),
        }
    }

    fn len(&mut self, a: &SpecExpr) -> Eval<Value> {
        match self.eval(a)? {
            Value::Array(vs) => Ok(Value::int(vs.len() as u64)),
            _ => ill("a length of something that is no array"),
        }
    }

    fn arith(&mut self, op: SpecOp, a: &SpecExpr, b: &SpecExpr) -> Eval<Value> {
        if op == SpecOp::Mod {
            let m = self.int(b)?;
            return self.residue(a, &m).map(Value::Int);
        }
        let (x, y) = (self.int(a)?, self.int(b)?);
        let value = match op {
            SpecOp::Add => x.add(&y),
            SpecOp::Sub => x.sub(&y),
            SpecOp::Mul => {
                bounded(x.bits() + y.bits())?;
                x.mul(&y)
            }
            SpecOp::Div | SpecOp::Mod => match x.div_floor(&y) {
                Some(v) => v,
                None => return ill("division by zero"),
            },
            SpecOp::Pow => power(&x, &y)?,
            SpecOp::And | SpecOp::Or | SpecOp::Xor => bits(op, &x, &y)?,
        };
        bounded(value.bits())?;
        self.spend(value.cost())?;
        Ok(Value::Int(value))
    }

    fn spend(&mut self, steps: u64) -> Eval<()> {
        self.steps_left = self.steps_left.checked_sub(steps).ok_or(SpecStop::Budget)?;
        Ok(())
    }

    /// `e mod m`, where a power is reduced as it grows, also one that a specification function gives.
    fn residue(&mut self, e: &SpecExpr, m: &Int) -> Eval<Int> {
        self.spend(1)?;
        if self.depth >= SPEC_DEPTH {
            return Err(SpecStop::Budget);
        }
        let value = match e {
            SpecExpr::Call(id, args) if *m > Int::ZERO => {
                let args = args.iter().map(|a| self.eval(a)).collect::<Eval<Vec<Value>>>()?;
                if let (true, [Value::Int(b), Value::Int(k)]) = (self.is_power(*id), &args[..]) {
                    return self.modular_power(b, k, m);
                }
                let m = m.clone();
                self.depth += 1;
                let value = self.inside(*id, args, |run, body| run.residue(body, &m));
                self.depth -= 1;
                value?
            }
            SpecExpr::Bin(SpecOp::Pow, b, k) if *m > Int::ZERO => {
                let (b, k) = (self.int(b)?, self.int(k)?);
                if k.is_negative() {
                    return ill("a negative exponent");
                }
                self.modular_power(&b, &k, m)?
            }
            _ => self.int(e)?,
        };
        value.mod_floor(m).ok_or_else(|| SpecStop::IllFormed("modulus zero".to_string()))
    }

    /// `b^k mod m`; without end for a negative exponent, which only a function that counts down gets here.
    fn modular_power(&mut self, b: &Int, k: &Int, m: &Int) -> Eval<Int> {
        if k.is_negative() {
            return Err(SpecStop::Budget);
        }
        self.spend(k.bits().saturating_mul(m.cost()))?;
        Ok(Int::from(b.to_big().mod_floor(&m.to_big()).modpow(&k.to_big(), &m.to_big())))
    }

    /// Whether a function is `f(b, k) = if k == 0 { 1 } else { b * f(b, k - 1) }`.
    fn is_power(&self, id: SpecId) -> bool {
        let Some(SpecExpr::If(c, one, rest)) = self.program.specs.get(id.0 as usize).map(|s| &s.body) else { return false };
        let is = |e: &SpecExpr, v: u32| matches!(e, SpecExpr::Int(k) if *k == BigInt::from(v));
        let var = |e: &SpecExpr, slot: u32| matches!(e, SpecExpr::Var(s) if *s == slot);
        let zero = matches!(&**c, SpecExpr::Cmp(CmpOp::Eq, k, z) if var(k, 1) && is(z, 0));
        let SpecExpr::Bin(SpecOp::Mul, b, again) = &**rest else { return false };
        let SpecExpr::Call(own, args) = &**again else { return false };
        let [x, less] = &args[..] else { return false };
        let down = matches!(less, SpecExpr::Bin(SpecOp::Sub, k, step) if var(k, 1) && is(step, 1));
        zero && is(one, 1) && var(b, 0) && *own == id && var(x, 0) && down
    }

    fn congruent(&mut self, a: &SpecExpr, b: &SpecExpr, m: &SpecExpr) -> Eval<Value> {
        let m = self.int(m)?;
        let (x, y) = (self.residue(a, &m)?, self.residue(b, &m)?);
        Ok(Value::Bool(x == y))
    }

    fn compare(&mut self, op: CmpOp, a: &SpecExpr, b: &SpecExpr) -> Eval<Value> {
        let (x, y) = (self.eval(a)?, self.eval(b)?);
        match (scalar(&x), scalar(&y)) {
            (Some(x), Some(y)) => Ok(Value::Bool(holds(op, x.cmp(&y)))),
            _ => {
                let order = if equal(&x, &y)? { Ordering::Equal } else { Ordering::Less };
                match op {
                    CmpOp::Eq | CmpOp::Ne => Ok(Value::Bool(holds(op, order))),
                    CmpOp::Lt | CmpOp::Le | CmpOp::Gt | CmpOp::Ge => ill("an order of things without one"),
                }
            }
        }
    }

    fn set(&mut self, slot: u32, v: Value) -> Eval<()> {
        let at = slot as usize;
        if at >= SPEC_DEPTH {
            return ill("too many binders");
        }
        if at >= self.slots.len() {
            self.slots.resize(at + 1, Value::Undef);
        }
        self.slots[at] = v;
        Ok(())
    }

    fn bind(&mut self, slot: u32, a: &SpecExpr, b: &SpecExpr) -> Eval<Value> {
        let v = self.eval(a)?;
        self.set(slot, v)?;
        self.eval(b)
    }

    fn sum(&mut self, slot: u32, lo: &SpecExpr, hi: &SpecExpr, body: &SpecExpr) -> Eval<Value> {
        let (mut i, hi) = (self.int(lo)?, self.int(hi)?);
        let mut total = Int::ZERO;
        while i < hi {
            self.set(slot, Value::Int(i.clone()))?;
            total = total.add(&self.int(body)?);
            bounded(total.bits())?;
            i = i.add(&Int::from(1));
        }
        Ok(Value::Int(total))
    }

    fn forall(&mut self, slot: u32, lo: &SpecExpr, hi: &SpecExpr, body: &SpecExpr) -> Eval<Value> {
        let (mut i, hi) = (self.int(lo)?, self.int(hi)?);
        while i < hi {
            self.set(slot, Value::Int(i.clone()))?;
            if !self.truth(body)? {
                return Ok(Value::Bool(false));
            }
            i = i.add(&Int::from(1));
        }
        Ok(Value::Bool(true))
    }

    fn array(&mut self, es: &[SpecExpr]) -> Eval<Value> {
        Ok(Value::array(es.iter().map(|e| self.eval(e)).collect::<Eval<_>>()?))
    }

    /// Small frames: calls nest as deep as specifications recurse.
    fn call(&mut self, id: SpecId, args: &[SpecExpr]) -> Eval<Value> {
        let args = self.values(args)?;
        if let Some(v) = self.known(id, &args) {
            return Ok(v);
        }
        let v = self.apply(id, args.clone())?;
        self.remember(id, args, &v);
        Ok(v)
    }

    fn values(&mut self, es: &[SpecExpr]) -> Eval<Vec<Value>> {
        es.iter().map(|e| self.eval(e)).collect()
    }

    fn known(&self, id: SpecId, args: &[Value]) -> Option<Value> {
        self.given.get(&(id, args.iter().map(key).collect())).map(|(_, v)| v.clone())
    }

    fn remember(&mut self, id: SpecId, args: Vec<Value>, v: &Value) {
        self.given.insert((id, args.iter().map(key).collect()), (args, v.clone()));
    }
}

fn part(v: Value, i: usize) -> Eval<Value> {
    match v.parts().and_then(|p| p.get(i)) {
        Some(v) => Ok(v.clone()),
        None => ill("an index or field outside its value"),
    }
}

fn bounded(bits: u64) -> Eval<()> {
    if bits > INT_BITS {
        return Err(SpecStop::Budget);
    }
    Ok(())
}

fn bits(op: SpecOp, x: &Int, y: &Int) -> Eval<Int> {
    if x.is_negative() || y.is_negative() {
        return ill("bits of a negative integer");
    }
    let (x, y) = (x.to_big(), y.to_big());
    Ok(Int::from(match op {
        SpecOp::And => x & y,
        SpecOp::Or => x | y,
        _ => x ^ y,
    }))
}

fn power(base: &Int, exponent: &Int) -> Eval<Int> {
    if exponent.is_negative() {
        return ill("a negative exponent");
    }
    if base.bits() <= 1 {
        // 0, 1 and -1: only the parity (and 0^0 = 1) matters, however large the exponent.
        let odd = exponent.to_big().is_odd();
        return Ok(match base {
            b if *exponent == Int::ZERO || *b == Int::from(1) => Int::from(1),
            b if *b == Int::ZERO => Int::ZERO,
            _ => Int::from(if odd { -1 } else { 1 }),
        });
    }
    let k = exponent.to_u64().ok_or(SpecStop::Budget)?;
    bounded(base.bits().saturating_mul(k))?;
    let k = u32::try_from(k).map_err(|_| SpecStop::Budget)?;
    match base {
        Int::Small(2) => return Ok(Int::from(1).shl(k)),
        Int::Small(b) => {
            if let Some(v) = b.checked_pow(k) {
                return Ok(Int::from(v));
            }
        }
        Int::Big(_) => {}
    }
    Ok(Int::from(BigInt::pow(&base.to_big(), k)))
}

/// A scalar as an integer.
fn scalar(v: &Value) -> Option<Int> {
    match v {
        Value::Int(v) => Some(v.clone()),
        Value::Word(w) => Some(Int::from(*w)),
        Value::Bool(b) => Some(Int::from(u8::from(*b))),
        Value::Array(_) | Value::Struct(_) | Value::Undef => None,
    }
}

/// Equality of aggregates of one shape, whatever kinds of numbers they hold.
fn equal(a: &Value, b: &Value) -> Eval<bool> {
    if let (Some(x), Some(y)) = (scalar(a), scalar(b)) {
        return Ok(x == y);
    }
    match (a, b) {
        (Value::Array(x), Value::Array(y)) | (Value::Struct(x), Value::Struct(y)) if x.len() == y.len() => {
            for (x, y) in x.iter().zip(y.iter()) {
                if !equal(x, y)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        _ => ill("values of different shapes are compared"),
    }
}
