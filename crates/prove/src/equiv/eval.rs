//! Concrete evaluation of terms, to test the rewriting rules against the interpreter.
//!
//! Needs: [`super::dag`]; calls are handed to the interpreter.  Keeps: the reading of each node given in
//! [`super::dag::Node`].  Absent: speed.

use super::dag::{Agg, Dag, Id, Lens, Node, Sort};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};
use santoku_ir::interp::{Int, Interp, Value};
use santoku_ir::{BinOp, Len, Program, Ty};
use std::collections::BTreeMap;

/// A concrete value of any sort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Con {
    Num(BigInt),
    Agg(Vec<Con>),
    Undef,
}

impl Con {
    pub fn of(v: &Value) -> Con {
        match (v.to_integer(), v.parts()) {
            (Some(n), _) => Con::Num(n),
            (None, Some(parts)) => Con::Agg(parts.iter().map(Con::of).collect()),
            (None, None) => Con::Undef,
        }
    }
    fn num(&self) -> BigInt {
        match self {
            Con::Num(n) => n.clone(),
            Con::Agg(_) | Con::Undef => BigInt::zero(),
        }
    }
}

/// Evaluates terms for one choice of inputs.
pub struct Eval<'a> {
    dag: &'a Dag,
    program: &'a Program,
    inputs: Vec<Con>,
    /// Loop variables of the loops being evaluated, by leaf.
    scope: BTreeMap<Id, Con>,
    memo: BTreeMap<Id, Con>,
}

impl<'a> Eval<'a> {
    pub fn new(dag: &'a Dag, program: &'a Program, inputs: Vec<Con>) -> Eval<'a> {
        Eval { dag, program, inputs, scope: BTreeMap::new(), memo: BTreeMap::new() }
    }

    pub fn value(&mut self, id: Id) -> Con {
        if let Some(v) = self.memo.get(&id) {
            return v.clone();
        }
        let v = self.compute(id);
        self.memo.insert(id, v.clone());
        v
    }

    fn num(&mut self, id: Id) -> BigInt {
        self.value(id).num()
    }

    fn scalar(&self, v: BigInt, sort: Sort) -> Con {
        Con::Num(match sort {
            Sort::Word(n) => v.mod_floor(&(BigInt::one() << n)),
            Sort::Bool => v.mod_floor(&BigInt::from(2)),
            Sort::Int | Sort::Agg(_) => v,
        })
    }

    fn fold(&mut self, xs: &[Id], c: &BigInt, f: fn(BigInt, BigInt) -> BigInt) -> BigInt {
        let mut acc = c.clone();
        for &x in xs {
            let v = self.num(x);
            acc = f(acc, v);
        }
        acc
    }

    fn compute(&mut self, id: Id) -> Con {
        let sort = self.dag.sort(id);
        let dag = self.dag;
        let v = match dag.node(id) {
            Node::Const(v) => v.clone(),
            Node::Input(n) => return self.inputs[*n as usize].clone(),
            Node::Undef => return Con::Undef,
            Node::Sum(terms, c) => {
                let mut acc = c.clone();
                for (x, k) in terms {
                    acc += self.num(*x) * k;
                }
                acc
            }
            Node::Prod(xs) => self.fold(xs, &BigInt::one(), |a, b| a * b),
            Node::And(xs, c) => self.fold(xs, c, |a, b| a & b),
            Node::Or(xs, c) => self.fold(xs, c, |a, b| a | b),
            Node::Xor(xs, c) => self.fold(xs, c, |a, b| a ^ b),
            Node::Div(x, d) => self.num(*x).div_floor(d),
            Node::Mod(x, d) => self.num(*x).mod_floor(d),
            Node::Shr(x, k) => self.num(*x) >> *k,
            Node::Rotl(x, k) => rotl(self.num(*x), *k, sort),
            Node::Other(op, a, b) => {
                let (a, b) = (self.num(*a), self.num(*b));
                other(*op, a, b, sort)
            }
            Node::Resize(x) | Node::ToInt(x) | Node::FromInt(x) | Node::FromBool(x) => self.num(*x),
            Node::Eq(a, b) => BigInt::from(u8::from(self.value(*a) == self.value(*b))),
            Node::Lt(a, b) => BigInt::from(u8::from(self.num(*a) < self.num(*b))),
            Node::Select(c, a, b) => {
                let pick = if self.num(*c).is_zero() { b } else { a };
                return self.value(*pick);
            }
            Node::Array(xs) | Node::Rec(xs) => return Con::Agg(xs.iter().map(|x| self.value(*x)).collect()),
            Node::Repeat(x, n) => {
                let n = self.num(*n).to_usize().unwrap_or(0);
                return Con::Agg(vec![self.value(*x); n]);
            }
            Node::Load(a, i) => {
                let i = self.num(*i);
                return part(&self.value(*a), &i);
            }
            Node::Store(a, i, v) => {
                let i = self.num(*i).to_usize();
                let v = self.value(*v);
                let Con::Agg(mut parts) = self.whole(*a) else { return Con::Undef };
                if let Some(slot) = i.and_then(|i| parts.get_mut(i)) {
                    *slot = v;
                }
                return Con::Agg(parts);
            }
            Node::Field(x, k) => return part(&self.value(*x), &BigInt::from(*k)),
            Node::Call(name, xs) => return self.call(&dag.callee(*name).to_string(), xs),
            Node::Result(c, k) => return part(&self.value(*c), &BigInt::from(*k)),
            Node::LoopVar { .. } => return self.scope[&id].clone(),
            Node::Loop { .. } => return Con::Undef,
            Node::LoopOut { of, next, init } => return self.run_loop(*of, *next, *init),
        };
        self.scalar(v, sort)
    }

    /// An array that may not have been written yet, with its elements.
    fn whole(&mut self, id: Id) -> Con {
        match (self.value(id), self.dag.sort(id)) {
            (Con::Undef, Sort::Agg(agg)) => match self.dag.agg(agg) {
                Agg::Arr(_, Some(n)) => Con::Agg(vec![Con::Undef; *n as usize]),
                Agg::Arr(_, None) => Con::Agg(vec![Con::Undef; 64]),
                Agg::Rec(sorts) => Con::Agg(vec![Con::Undef; sorts.len()]),
            },
            (v, _) => v,
        }
    }

    fn run_loop(&mut self, of: Id, next: Id, init: Id) -> Con {
        let dag = self.dag;
        let Node::Loop { counter, lo, hi, rev, carried, .. } = dag.node(of) else { return Con::Undef };
        let (lo, hi) = (self.num(*lo), self.num(*hi));
        let trips = (&hi - &lo).to_i64().unwrap_or(0).max(0);
        let mut state: Vec<Con> = carried.iter().map(|c| self.value(c.init)).collect();
        let mut last = if trips == 0 { self.value(init) } else { Con::Undef };
        let (outer_scope, outer_memo) = (self.scope.clone(), std::mem::take(&mut self.memo));
        for k in 0..trips {
            let at = if *rev { &hi - 1 - k } else { &lo + k };
            self.scope.insert(*counter, Con::Num(at));
            for (c, v) in carried.iter().zip(&state) {
                self.scope.insert(c.leaf, v.clone());
            }
            self.memo.clear();
            state = carried.iter().map(|c| self.value(c.next)).collect();
            if k == trips - 1 {
                last = self.value(next);
            }
        }
        self.scope = outer_scope;
        self.memo = outer_memo;
        last
    }

    fn call(&mut self, name: &str, xs: &[Id]) -> Con {
        let func = self.program.find(name).expect("callee exists");
        let f = self.program.func(func);
        let values: Vec<Con> = xs.iter().map(|x| self.value(*x)).collect();
        let lens: Vec<u64> = values[..f.lens.len()].iter().map(|v| v.num().to_u64().unwrap_or(0)).collect();
        let known: Lens = f.lens.iter().copied().zip(lens.iter().copied()).collect();
        let args = f.params.iter().zip(&values[f.lens.len()..]);
        let args = args.map(|(p, v)| rebuild(self.program, &f.local(*p).ty, v, &known)).collect();
        let results = Interp::new(self.program).call(func, &lens, args).expect("callee runs");
        Con::Agg(results.iter().map(Con::of).collect())
    }
}

/// The interpreter's form of a concrete value. An array that was never written whole has a made-up number of elements
/// here; the lengths say how many there are.
fn rebuild(program: &Program, ty: &Ty, v: &Con, lens: &Lens) -> Value {
    match (ty, v) {
        (Ty::Word(_), Con::Num(n)) => Value::word(n.to_u128().unwrap_or(0)),
        (Ty::Bool, Con::Num(n)) => Value::Bool(!n.is_zero()),
        (Ty::Int(_), Con::Num(n)) => Value::int(Int::from(n)),
        (Ty::Array { elem, len, .. }, Con::Agg(_) | Con::Undef) => {
            let n = match len {
                Len::Const(n) => *n,
                Len::Param { param, add } => lens.get(param).map_or(0, |n| n.saturating_add_signed(*add)),
            };
            let part = |k: u64| rebuild(program, elem, &part(v, &BigInt::from(k)), lens);
            Value::array((0..n).map(part).collect())
        }
        (Ty::Struct(id), Con::Agg(vs)) => {
            let fields = &program.structs[id.0 as usize].fields;
            Value::structure(vs.iter().zip(fields).map(|(v, (_, t))| rebuild(program, t, v, lens)).collect())
        }
        _ => Value::Undef,
    }
}

fn part(whole: &Con, i: &BigInt) -> Con {
    match whole {
        Con::Agg(parts) => i.to_usize().and_then(|i| parts.get(i).cloned()).unwrap_or(Con::Undef),
        Con::Num(_) | Con::Undef => Con::Undef,
    }
}

fn rotl(v: BigInt, k: u32, sort: Sort) -> BigInt {
    let Sort::Word(n) = sort else { return v };
    (&v << k) | (&v >> (n - k))
}

fn other(op: BinOp, a: BigInt, b: BigInt, sort: Sort) -> BigInt {
    let count = b.to_u32().unwrap_or(0);
    let bits = match sort {
        Sort::Word(n) => n,
        Sort::Int | Sort::Bool | Sort::Agg(_) => 1 << 20,
    };
    match op {
        BinOp::Shl => a << count,
        BinOp::Shr => a >> count,
        BinOp::Rotl => rotl(a, count % bits, sort),
        BinOp::Rotr => rotl(a, (bits - count % bits) % bits, sort),
        BinOp::Div if b.is_positive() => a.div_floor(&b),
        BinOp::Mod if b.is_positive() => a.mod_floor(&b),
        _ => unreachable!("{op:?} always has a term of its own"),
    }
}
