//! Equality of two programs bit by bit: both are executed on the same unknown bits into one graph of gates.
//!
//! Keeps: soundness; equal graphs are equal functions. Absent: search; functions that are equal for deeper reasons than
//! renaming, rotation and the laws of exclusive or are reported as different.

use num_bigint::BigInt;
use num_traits::ToPrimitive;
use santoku_ir::{Base, BinOp, ConstValue, Expr, ExprKind, FuncId, Len, Place, Program, Proj, Stmt, Ty, UnOp};
use std::collections::BTreeMap;

/// A bit: an edge into the graph.
type Bit = u32;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Gate {
    Zero,
    Input(u32),
    And(Bit, Bit),
    /// Sum of these and a constant.
    Xor(Vec<Bit>, bool),
}

/// Longer sums are not merged.
const SUM_MAX: usize = 24;

#[derive(Default)]
struct Gates {
    gates: Vec<Gate>,
    index: BTreeMap<Gate, Bit>,
}

impl Gates {
    fn add(&mut self, g: Gate) -> Bit {
        if let Some(b) = self.index.get(&g) {
            return *b;
        }
        let b = self.gates.len() as Bit;
        self.gates.push(g.clone());
        self.index.insert(g, b);
        b
    }
    fn constant(&mut self, v: bool) -> Bit {
        self.sum(vec![], v)
    }
    fn terms(&self, b: Bit) -> (Vec<Bit>, bool) {
        match &self.gates[b as usize] {
            Gate::Zero => (vec![], false),
            Gate::Xor(xs, c) => (xs.clone(), *c),
            Gate::Input(_) | Gate::And(..) => (vec![b], false),
        }
    }
    fn sum(&mut self, mut xs: Vec<Bit>, c: bool) -> Bit {
        xs.sort_unstable();
        let mut odd: Vec<Bit> = Vec::new();
        for x in xs {
            if odd.last() == Some(&x) {
                odd.pop();
            } else {
                odd.push(x);
            }
        }
        match odd.as_slice() {
            [] if !c => self.add(Gate::Zero),
            [x] if !c => *x,
            _ => self.add(Gate::Xor(odd, c)),
        }
    }
    fn xor(&mut self, a: Bit, b: Bit) -> Bit {
        let ((mut xs, c), (ys, d)) = (self.terms(a), self.terms(b));
        if xs.len() + ys.len() > SUM_MAX {
            return self.sum(vec![a, b], false);
        }
        xs.extend(ys);
        self.sum(xs, c ^ d)
    }
    fn not(&mut self, a: Bit) -> Bit {
        let (xs, c) = self.terms(a);
        self.sum(xs, !c)
    }
    fn and(&mut self, a: Bit, b: Bit) -> Bit {
        let constant = |g: &Gates, x: Bit| match &g.gates[x as usize] {
            Gate::Zero => Some(false),
            Gate::Xor(xs, true) if xs.is_empty() => Some(true),
            _ => None,
        };
        match (constant(self, a), constant(self, b)) {
            (Some(false), _) | (_, Some(true)) => a,
            (_, Some(false)) | (Some(true), _) => b,
            _ if a == b => a,
            _ => self.add(Gate::And(a.min(b), a.max(b))),
        }
    }
    fn or(&mut self, a: Bit, b: Bit) -> Bit {
        let (x, y) = (self.not(a), self.not(b));
        let n = self.and(x, y);
        self.not(n)
    }
    /// `a + b + carry`, as an adder of full adders.
    fn add_words(&mut self, a: &[Bit], b: &[Bit], mut carry: Bit) -> Vec<Bit> {
        let mut out = Vec::new();
        for (&x, &y) in a.iter().zip(b) {
            let p = self.xor(x, y);
            out.push(self.xor(p, carry));
            let (g, t) = (self.and(x, y), self.and(p, carry));
            carry = self.xor(g, t);
        }
        out
    }
}

impl Gates {
    fn minus(&mut self, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
        let inverse: Vec<Bit> = b.iter().map(|x| self.not(*x)).collect();
        let one = self.constant(true);
        self.add_words(a, &inverse, one)
    }
    /// Shifted rows, added one after the other.
    fn times(&mut self, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
        let zero = self.constant(false);
        let mut sum = vec![zero; a.len()];
        for (k, y) in b.iter().enumerate() {
            let mut row = vec![zero; k];
            row.extend(a[..a.len() - k].iter().map(|x| self.and(*x, *y)));
            sum = self.add_words(&sum, &row, zero);
        }
        sum
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Val {
    Word(Vec<Bit>),
    Int(BigInt),
    Many(Vec<Val>),
    Unset,
}

struct Run<'a> {
    program: &'a Program,
    gates: &'a mut Gates,
}

type Res<T> = Result<T, String>;

/// Is `g` of `after` the same function as `f` of `before`, the bits of all parameters, and of all results, taken in order?
/// Gives the number of gates of both together.
///
/// # Errors
/// The first result bit that differs, or why there is no answer.
pub fn same(before: &Program, f: FuncId, after: &Program, g: FuncId) -> Result<usize, String> {
    let mut gates = Gates::default();
    let mut sides = Vec::new();
    for (program, id) in [(before, f), (after, g)] {
        let func = program.func(id);
        let mut next = 0;
        let mut args = Vec::new();
        for p in &func.params {
            args.push(input(&mut gates, &func.local(*p).ty, &mut next)?);
        }
        let outs = Run { program, gates: &mut gates }.call(id, args)?;
        let mut bits = Vec::new();
        outs.iter().try_for_each(|v| flatten(v, &mut bits))?;
        sides.push((next, bits));
    }
    let (a, b) = (&sides[0], &sides[1]);
    if (a.0, a.1.len()) != (b.0, b.1.len()) || a.1.is_empty() {
        return Err(format!("{} bits to {} against {} to {}", a.0, a.1.len(), b.0, b.1.len()));
    }
    match a.1.iter().zip(&b.1).position(|(x, y)| x != y) {
        Some(at) => Err(format!("bit {at} of the result is not the same")),
        None => Ok(gates.gates.len()),
    }
}

fn input(gates: &mut Gates, ty: &Ty, next: &mut u32) -> Res<Val> {
    match ty {
        Ty::Word(n) => {
            let bits = (0..*n).map(|k| gates.add(Gate::Input(*next + k))).collect();
            *next += n;
            Ok(Val::Word(bits))
        }
        Ty::Array { elem, len: Len::Const(n), .. } => (0..*n).map(|_| input(gates, elem, next)).collect::<Res<_>>().map(Val::Many),
        _ => Err("an input that is neither a word nor an array of words".into()),
    }
}

fn flatten(v: &Val, out: &mut Vec<Bit>) -> Res<()> {
    match v {
        Val::Word(bits) => out.extend(bits),
        Val::Many(vs) => vs.iter().try_for_each(|v| flatten(v, out))?,
        Val::Int(_) | Val::Unset => return Err("a result that is no word".into()),
    }
    Ok(())
}

fn unset(ty: &Ty) -> Val {
    match ty {
        Ty::Array { elem, len: Len::Const(n), .. } => Val::Many((0..*n).map(|_| unset(elem)).collect()),
        _ => Val::Unset,
    }
}

impl Run<'_> {
    fn call(&mut self, id: FuncId, args: Vec<Val>) -> Res<Vec<Val>> {
        let func = self.program.func(id);
        let mut env: Vec<Val> = func.locals.iter().map(|l| unset(&l.ty)).collect();
        for (p, v) in func.params.iter().zip(args) {
            env[p.0 as usize] = v;
        }
        self.block(&func.body, &mut env)?;
        Ok(func.rets.iter().map(|r| env[r.0 as usize].clone()).collect())
    }

    fn block(&mut self, body: &[Stmt], env: &mut Vec<Val>) -> Res<()> {
        for s in body {
            match s {
                Stmt::Assign { dst, src, .. } => {
                    let v = self.expr(src, env)?;
                    self.write(dst, v, env)?;
                }
                Stmt::Call { dsts, func, args, lens, .. } if lens.is_empty() => {
                    let args = args.iter().map(|a| self.expr(a, env)).collect::<Res<_>>()?;
                    for (d, v) in dsts.iter().zip(self.call(*func, args)?) {
                        self.write(d, v, env)?;
                    }
                }
                Stmt::For { var, lo, hi, rev, body, .. } => {
                    let (lo, hi) = (self.int(lo, env)?, self.int(hi, env)?);
                    let steps: Vec<i64> = if *rev { (lo..hi).rev().collect() } else { (lo..hi).collect() };
                    for i in steps {
                        env[var.0 as usize] = Val::Int(i.into());
                        self.block(body, env)?;
                    }
                }
                Stmt::Assert { .. } => {}
                Stmt::Call { .. } | Stmt::If { .. } => return Err("a branch or a run-time length".into()),
            }
        }
        Ok(())
    }

    fn int(&mut self, e: &Expr, env: &[Val]) -> Res<i64> {
        match self.expr(e, env)? {
            Val::Int(v) => v.to_i64().ok_or_else(|| "an index out of bounds".into()),
            _ => Err("an index that is not an integer".into()),
        }
    }

    /// Constant path of a place.
    fn path(&mut self, p: &Place, env: &[Val]) -> Res<Vec<usize>> {
        p.projs
            .iter()
            .map(|j| match j {
                Proj::Index(e) => self.int(e, env).map(|i| i as usize),
                Proj::Field(k) => Ok(*k as usize),
                Proj::Slice { .. } => Err("a slice".into()),
            })
            .collect()
    }

    fn write(&mut self, dst: &Place, v: Val, env: &mut [Val]) -> Res<()> {
        let path = self.path(dst, env)?;
        let Base::Local(id) = dst.base else { return Err("a constant is assigned".into()) };
        let mut slot = &mut env[id.0 as usize];
        for k in path {
            let Val::Many(vs) = slot else { return Err("an index into a scalar".into()) };
            slot = vs.get_mut(k).ok_or("an index out of bounds")?;
        }
        *slot = v;
        Ok(())
    }

    fn constant(&mut self, ty: &Ty, v: &ConstValue) -> Res<Val> {
        match (ty, v) {
            (Ty::Word(n), ConstValue::Scalar(v)) => {
                Ok(Val::Word((0..*n).map(|k| self.gates.constant(v.bit(u64::from(k)))).collect()))
            }
            (Ty::Int(_), ConstValue::Scalar(v)) => Ok(Val::Int(v.clone())),
            (Ty::Array { elem, .. }, ConstValue::Array(vs)) => vs.iter().map(|v| self.constant(elem, v)).collect::<Res<_>>().map(Val::Many),
            _ => Err("a constant of this type".into()),
        }
    }

    fn read(&mut self, p: &Place, env: &[Val]) -> Res<Val> {
        let path = self.path(p, env)?;
        let root = match p.base {
            Base::Local(id) => env[id.0 as usize].clone(),
            Base::Const(id) => {
                let c = &self.program.consts[id.0 as usize];
                self.constant(&c.ty, &c.value)?
            }
        };
        path.into_iter().try_fold(root, |v, k| match v {
            Val::Many(vs) => vs.get(k).cloned().ok_or_else(|| "an index out of bounds".to_string()),
            _ => Err("an index into a scalar".into()),
        })
    }

    fn word(&mut self, e: &Expr, env: &[Val]) -> Res<Vec<Bit>> {
        match self.expr(e, env)? {
            Val::Word(bits) => Ok(bits),
            _ => Err("a word that was never assigned".into()),
        }
    }

    fn expr(&mut self, e: &Expr, env: &[Val]) -> Res<Val> {
        Ok(match &e.kind {
            ExprKind::Const(v) => return self.constant(&e.ty, &ConstValue::Scalar(v.clone())),
            ExprKind::Read(p) => self.read(p, env)?,
            ExprKind::Array(es) => Val::Many(es.iter().map(|e| self.expr(e, env)).collect::<Res<_>>()?),
            ExprKind::Repeat(x) => {
                let Ty::Array { len: Len::Const(n), .. } = e.ty else { return Err("a run-time length".into()) };
                Val::Many(vec![self.expr(x, env)?; n as usize])
            }
            ExprKind::Un(UnOp::Not, a) => {
                let a = self.word(a, env)?;
                Val::Word(a.into_iter().map(|b| self.gates.not(b)).collect())
            }
            ExprKind::Un(UnOp::Neg, a) => {
                let a = self.word(a, env)?;
                let zero = vec![self.gates.constant(false); a.len()];
                Val::Word(self.gates.minus(&zero, &a))
            }
            ExprKind::Cast(a) => match (&a.ty, &e.ty) {
                (Ty::Word(_), Ty::Word(n)) => {
                    let mut a = self.word(a, env)?;
                    let zero = self.gates.constant(false);
                    a.resize(*n as usize, zero);
                    Val::Word(a)
                }
                _ => return Err("a conversion".into()),
            },
            ExprKind::Bin(op, a, b) => self.bin(*op, a, b, env)?,
            _ => return Err("this operation".into()),
        })
    }

    fn bin(&mut self, op: BinOp, a: &Expr, b: &Expr, env: &[Val]) -> Res<Val> {
        if let Ty::Int(_) = a.ty {
            let (Val::Int(x), Val::Int(y)) = (self.expr(a, env)?, self.expr(b, env)?) else { return Err("an unknown integer".into()) };
            return match op {
                BinOp::Add => Ok(Val::Int(x + y)),
                BinOp::Sub => Ok(Val::Int(x - y)),
                BinOp::Mul => Ok(Val::Int(x * y)),
                _ => Err("this operation of integers".into()),
            };
        }
        let x = self.word(a, env)?;
        let n = x.len();
        if matches!(op, BinOp::Shl | BinOp::Shr | BinOp::Rotl | BinOp::Rotr) {
            let k = usize::try_from(self.int(b, env)?).ok().filter(|k| *k < n).ok_or("a shift too far")?;
            let zero = self.gates.constant(false);
            let at = |i: usize| match op {
                BinOp::Shl => if i >= k { x[i - k] } else { zero },
                BinOp::Shr => if i + k < n { x[i + k] } else { zero },
                BinOp::Rotl => x[(i + n - k) % n],
                _ => x[(i + k) % n],
            };
            return Ok(Val::Word((0..n).map(at).collect()));
        }
        let y = self.word(b, env)?;
        let pairs = x.iter().zip(&y);
        Ok(Val::Word(match op {
            BinOp::And => pairs.map(|(a, b)| self.gates.and(*a, *b)).collect(),
            BinOp::Or => pairs.map(|(a, b)| self.gates.or(*a, *b)).collect(),
            BinOp::Xor => pairs.map(|(a, b)| self.gates.xor(*a, *b)).collect(),
            BinOp::Add => {
                let zero = self.gates.constant(false);
                self.gates.add_words(&x, &y, zero)
            }
            BinOp::Sub => self.gates.minus(&x, &y),
            BinOp::Mul => self.gates.times(&x, &y),
            _ => return Err("this operation of words".into()),
        }))
    }
}
