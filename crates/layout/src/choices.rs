//! Expressions on secrets in words alone: conditions are words of one bit, selections are masks, exact integers are two's complement.
//!
//! Keeps: the value. What is made has the carries that the comparison bit by bit makes of the original (see `bits`), so that both
//! sides become the same gates: integers have as many bits there as their operations may need, and are extended by their sign.
//! Trusted: nothing: what it makes is compared with the program before.

use crate::held::{integers, of_type, Held};
use num_bigint::BigInt;
use num_traits::{ToPrimitive, Zero};
use santoku_ir::typing::Scope;
use santoku_ir::{Base, BinOp, CmpOp, Expr, ExprKind, Func, Len, Loc, Local, LocalId, LocalKind, Place, Program, Proj, Range, Stmt, Ty, UnOp};

/// What has no form in words, in the user's terms.
pub type Res<T> = Result<T, String>;

/// Elements of a selection between arrays.
const ELEMENTS_MAX: u64 = 4_096;

/// Bits that an integer has in a comparison bit by bit, its sign among them, and whether that is always 0.
#[derive(Clone, Copy)]
struct Shape {
    bits: u32,
    positive: bool,
}

impl Shape {
    fn of(h: Held) -> Shape {
        Shape { bits: h.bits + u32::from(!h.signed), positive: !h.signed }
    }
}

/// Statements of one function that are made anew.
pub struct Choices<'a> {
    pub program: &'a Program,
    /// As it was.
    pub func: &'a Func,
    /// Words that hold the integers of each local.
    pub held: &'a [Option<Held>],
    /// Words may have so many bits.
    pub widest: u32,
    /// Locals of the function as it becomes, and statements before the one at hand.
    pub locals: Vec<Local>,
    pub before: Vec<Stmt>,
    pub loc: Loc,
}

impl Choices<'_> {
    fn public(&self, e: &Expr) -> bool {
        public(self.func, e)
    }

    fn wide(&self, bits: u32) -> Res<Ty> {
        wide(bits, self.widest)
    }

    fn changed(&self, ty: &Ty, held: Option<Held>) -> Res<Ty> {
        changed(ty, held, self.widest)
    }

    /// A variable with this value, where it is no plain read.
    fn named(&mut self, e: Expr) -> Expr {
        if matches!(e.kind, ExprKind::Const(_) | ExprKind::Read(_)) {
            return e;
        }
        let id = LocalId(self.locals.len() as u32);
        self.locals.push(Local { name: format!("w{}", id.0), ty: e.ty.clone(), kind: LocalKind::Var, public: false, loc: self.loc });
        let read = Expr::read(Place::local(id), &e.ty);
        self.before.push(Stmt::Assign { dst: Place::local(id), src: e, loc: self.loc });
        read
    }

    /// A value of any type; `held` is where its integers go.
    pub fn value(&mut self, e: &Expr, held: Option<Held>) -> Res<Expr> {
        match &e.ty {
            Ty::Word(_) => self.word(e),
            Ty::Bool => self.bit(e),
            Ty::Int(_) => {
                let held = held.ok_or("exact integer without a range")?;
                self.exact(e, held.bits)
            }
            Ty::Array { elem, len, .. } => match &e.kind {
                ExprKind::Read(p) if !integers(self.program, &e.ty) => Ok(Expr::read(p.clone(), &self.changed(&e.ty, None)?)),
                ExprKind::Array(es) => {
                    let es = es.iter().map(|x| self.value(x, held)).collect::<Res<Vec<_>>>()?;
                    Ok(Expr::array(&self.changed(elem, held)?, es))
                }
                ExprKind::Repeat(x) => Ok(Expr::repeat(self.value(x, held)?, len.clone())),
                ExprKind::Select(c, a, b) => self.chosen(c, a, b, held),
                _ => {
                    let Len::Const(n) = len else { return Err("array of run-time length".into()) };
                    let es = (0..count(*n)?).map(|k| self.value(&part(e, elem, k)?, held)).collect::<Res<Vec<_>>>()?;
                    Ok(Expr::array(&self.changed(elem, held)?, es))
                }
            },
            Ty::Struct(id) => {
                let fields = self.program.structs[id.0 as usize].fields.clone();
                let parts = match &e.kind {
                    ExprKind::Read(p) if !integers(self.program, &e.ty) => return Ok(Expr::read(p.clone(), &e.ty)),
                    ExprKind::Select(c, a, b) => return self.chosen(c, a, b, held),
                    ExprKind::Struct(_, es) => es.clone(),
                    _ => (0..fields.len()).map(|k| part(e, &fields[k].1, k as u64)).collect::<Res<Vec<_>>>()?,
                };
                let parts = parts.iter().zip(&fields).map(|(x, (_, ty))| self.value(x, of_type(ty))).collect::<Res<Vec<_>>>()?;
                Ok(Expr::structure(*id, parts))
            }
        }
    }

    /// `if c { a } else { b }` between arrays or structs.
    fn chosen(&mut self, c: &Expr, a: &Expr, b: &Expr, held: Option<Held>) -> Res<Expr> {
        if self.public(c) {
            let (a, b) = (self.value(a, held)?, self.value(b, held)?);
            return Ok(Expr::select(c.clone(), a, b));
        }
        let c = self.bit(c)?;
        let c = self.named(c);
        self.mixed(&c, a, b, held)
    }

    fn mixed(&mut self, c: &Expr, a: &Expr, b: &Expr, held: Option<Held>) -> Res<Expr> {
        match &a.ty {
            Ty::Word(_) | Ty::Bool | Ty::Int(_) => {
                let (x, y) = (self.value(a, held)?, self.value(b, held)?);
                self.mask(c.clone(), x, y)
            }
            Ty::Array { elem, len: Len::Const(n), .. } => {
                let es = (0..count(*n)?).map(|k| self.mixed(c, &part(a, elem, k)?, &part(b, elem, k)?, held)).collect::<Res<Vec<_>>>()?;
                Ok(Expr::array(&self.changed(elem, held)?, es))
            }
            Ty::Array { .. } => Err("selection between arrays of run-time length".into()),
            Ty::Struct(id) => {
                let fields = self.program.structs[id.0 as usize].fields.clone();
                let one = |(k, (_, ty)): (usize, &(String, Ty))| self.mixed(c, &part(a, ty, k as u64)?, &part(b, ty, k as u64)?, of_type(ty));
                let es = fields.iter().enumerate().map(one).collect::<Res<Vec<_>>>()?;
                Ok(Expr::structure(*id, es))
            }
        }
    }

    /// `b ^ ((a ^ b) & mask)`, all in words.
    fn mask(&mut self, c: Expr, a: Expr, b: Expr) -> Res<Expr> {
        let Ty::Word(n) = a.ty else { return Err("selection".into()) };
        let b = self.named(b);
        let mask = if n == 1 { c } else { Expr::word(n, 0) - resized(c, n) };
        Ok(b.clone() ^ ((a ^ b) & mask))
    }

    fn select(&mut self, (c, a, b): (&Expr, &Expr, &Expr), side: &mut dyn FnMut(&mut Self, &Expr) -> Res<Expr>) -> Res<Expr> {
        if self.public(c) {
            let (a, b) = (side(self, a)?, side(self, b)?);
            return Ok(Expr::select(c.clone(), a, b));
        }
        let c = self.bit(c)?;
        let (a, b) = (side(self, a)?, side(self, b)?);
        self.mask(c, a, b)
    }

    /// A word.
    fn word(&mut self, e: &Expr) -> Res<Expr> {
        let Ty::Word(n) = e.ty else { return Err("value that is no word".into()) };
        Ok(match &e.kind {
            ExprKind::Const(_) | ExprKind::Read(_) => e.clone(),
            ExprKind::Un(op, a) => Expr::un(*op, self.word(a)?),
            ExprKind::Bin(op @ (BinOp::Shl | BinOp::Shr | BinOp::Rotl | BinOp::Rotr), a, k) => Expr::bin(*op, self.word(a)?, (**k).clone()),
            ExprKind::Bin(op, a, b) => Expr::bin(*op, self.word(a)?, self.word(b)?),
            ExprKind::Cast(a) => match a.ty {
                Ty::Word(_) => self.word(a)?.cast(Ty::Word(n)),
                _ if self.public(a) => e.clone(),
                Ty::Bool => resized(self.bit(a)?, n),
                _ => self.exact(a, n)?,
            },
            ExprKind::Select(c, a, b) => self.select((c, a, b), &mut |s, x| s.word(x))?,
            ExprKind::Cmp(..) | ExprKind::Array(_) | ExprKind::Repeat(_) | ExprKind::Struct(..) => return Err("value like this".into()),
        })
    }

    /// A condition, as a word of one bit.
    fn bit(&mut self, e: &Expr) -> Res<Expr> {
        if let Some(v) = e.as_const() {
            return Ok(Expr::word(1, v.clone()));
        }
        if self.public(e) {
            return Ok(e.clone().cast(Ty::Word(1)));
        }
        match &e.kind {
            ExprKind::Read(p) => Ok(Expr::read(p.clone(), &Ty::Word(1))),
            ExprKind::Un(UnOp::Not, a) => Ok(!self.bit(a)?),
            ExprKind::Bin(op @ (BinOp::And | BinOp::Or | BinOp::Xor), a, b) => Ok(Expr::bin(*op, self.bit(a)?, self.bit(b)?)),
            ExprKind::Select(c, a, b) => self.select((c, a, b), &mut |s, x| s.bit(x)),
            ExprKind::Cmp(CmpOp::Eq, a, b) => self.equal(a, b),
            ExprKind::Cmp(CmpOp::Ne, a, b) => Ok(!self.equal(a, b)?),
            ExprKind::Cmp(CmpOp::Lt, a, b) => self.less(a, b),
            ExprKind::Cmp(CmpOp::Ge, a, b) => Ok(!self.less(a, b)?),
            ExprKind::Cmp(CmpOp::Gt, a, b) => self.less(b, a),
            ExprKind::Cmp(CmpOp::Le, a, b) => Ok(!self.less(b, a)?),
            _ => Err("condition like this".into()),
        }
    }

    fn equal(&mut self, a: &Expr, b: &Expr) -> Res<Expr> {
        let (x, y) = match &a.ty {
            Ty::Word(_) => (self.word(a)?, self.word(b)?),
            Ty::Bool => (self.bit(a)?, self.bit(b)?),
            Ty::Int(_) => {
                let n = self.shape(a)?.bits.max(self.shape(b)?.bits);
                (self.exact(a, n)?, self.exact(b, n)?)
            }
            Ty::Array { elem, len: Len::Const(n), .. } => return self.all_equal((a, b), (0..count(*n)?).map(|k| (k, (**elem).clone())).collect()),
            Ty::Array { .. } => return Err("comparison of arrays of run-time length".into()),
            Ty::Struct(id) => {
                let fields = &self.program.structs[id.0 as usize].fields;
                return self.all_equal((a, b), fields.iter().enumerate().map(|(k, (_, ty))| (k as u64, ty.clone())).collect());
            }
        };
        let Ty::Word(n) = x.ty else { return Err("comparison".into()) };
        let differ = x ^ y;
        if n < self.widest {
            let minus = Expr::word(n + 1, 0) - resized(differ, n + 1);
            return Ok(!resized(minus.shr(n), 1));
        }
        // The last carry of `-differ`.
        let same = self.named(!differ);
        let minus = Expr::word(n, 0) - !same.clone();
        Ok(resized((same.clone() & (minus ^ same)).shr(n - 1), 1))
    }

    fn all_equal(&mut self, (a, b): (&Expr, &Expr), parts: Vec<(u64, Ty)>) -> Res<Expr> {
        let mut all = Expr::word(1, 1);
        for (k, ty) in parts {
            let one = self.equal(&part(a, &ty, k)?, &part(b, &ty, k)?)?;
            all = all & one;
        }
        Ok(all)
    }

    fn less(&mut self, a: &Expr, b: &Expr) -> Res<Expr> {
        let (x, y) = match &a.ty {
            Ty::Word(_) => (self.word(a)?, self.word(b)?),
            Ty::Int(_) => {
                let (s, t) = (self.shape(a)?, self.shape(b)?);
                let n = s.bits.max(t.bits);
                if !(s.positive && t.positive) {
                    let d = self.exact(a, n + 1)? - self.exact(b, n + 1)?;
                    return Ok(resized(d.shr(n), 1));
                }
                let n = (n - 1).max(1);
                (self.exact(a, n)?, self.exact(b, n)?)
            }
            _ => return Err("comparison like this".into()),
        };
        let Ty::Word(n) = x.ty else { return Err("comparison".into()) };
        if n < self.widest {
            let d = resized(x, n + 1) - resized(y, n + 1);
            return Ok(resized(d.shr(n), 1));
        }
        // The last carry of `x + ~y + 1`.
        let (x, y) = (self.named(x), self.named(y));
        let same = self.named(x.clone() ^ !y.clone());
        let d = x.clone() - y.clone();
        let carry = (x & !y) ^ (same.clone() & (d ^ same));
        Ok(resized((!carry).shr(n - 1), 1))
    }

    /// No more bits than the proven range takes.
    fn shape(&self, e: &Expr) -> Res<Shape> {
        let s = self.structure(e)?;
        Ok(match of_type(&e.ty) {
            Some(h) if h.bits < s.bits => Shape::of(h),
            _ => s,
        })
    }

    fn structure(&self, e: &Expr) -> Res<Shape> {
        if let Some(v) = e.as_const() {
            return Ok(Shape::of(Held::of(&Range::point(v.clone())).ok_or("number")?));
        }
        if self.public(e) {
            return Ok(of_type(&e.ty).map_or(Shape { bits: 64, positive: false }, Shape::of));
        }
        let small = |k: u32| Shape { bits: k + 1, positive: true };
        Ok(match &e.kind {
            ExprKind::Read(p) => Shape::of(self.place(p)?),
            ExprKind::Cast(a) => match a.ty {
                Ty::Word(n) => small(n),
                _ => small(1),
            },
            ExprKind::Un(_, a) => Shape { bits: self.shape(a)?.bits + 1, positive: false },
            ExprKind::Select(_, a, b) => {
                let (a, b) = (self.shape(a)?, self.shape(b)?);
                Shape { bits: a.bits.max(b.bits), positive: a.positive && b.positive }
            }
            ExprKind::Bin(op, a, b) => {
                let s = self.shape(a)?;
                match (op, power(*op, b)) {
                    (BinOp::And | BinOp::Mod, Some(k)) => small(k),
                    (BinOp::Shl, Some(k)) => Shape { bits: s.bits + k, ..s },
                    (BinOp::Shr | BinOp::Div, Some(k)) => Shape { bits: s.bits.saturating_sub(k).max(1), ..s },
                    (BinOp::Add | BinOp::Sub | BinOp::Mul, _) => {
                        let t = self.shape(b)?;
                        let positive = s.positive && t.positive && *op != BinOp::Sub;
                        let bits = if *op == BinOp::Mul { s.bits + t.bits - u32::from(positive) } else { s.bits.max(t.bits) + 1 };
                        Shape { bits, positive }
                    }
                    _ => return Err("operation on exact integers like this".into()),
                }
            }
            _ => return Err("exact integer like this".into()),
        })
    }

    fn place(&self, p: &Place) -> Res<Held> {
        self.held_at(p).ok_or_else(|| "exact integer without a range".into())
    }

    /// The word for the integers at a place.
    pub fn held_at(&self, p: &Place) -> Option<Held> {
        let Base::Local(id) = p.base else { return None };
        let mut held = self.held[id.0 as usize];
        let (scope, mut ty) = (Scope::of(self.program, self.func), self.func.local(id).ty.clone());
        for j in &p.projs {
            ty = scope.project(&ty, j)?;
            if let Proj::Field(_) = j {
                held = of_type(&ty);
            }
        }
        held
    }

    /// An exact integer modulo `2^w`.
    fn exact(&mut self, e: &Expr, w: u32) -> Res<Expr> {
        let to = self.wide(w)?;
        if self.public(e) {
            return Ok(e.clone().cast(to));
        }
        let s = self.shape(e)?;
        // The sign of what is never negative is not computed.
        let n = s.bits - u32::from(s.positive && s.bits > 1);
        if w > n {
            let v = self.exact(e, n)?;
            return Ok(if s.positive { resized(v, w) } else { extended(v, n, w) });
        }
        Ok(match &e.kind {
            ExprKind::Read(p) => {
                let held = self.wide(self.place(p)?.bits)?;
                let Ty::Word(n) = held else { return Err("integer".into()) };
                let v = Expr::read(p.clone(), &held);
                if n == w { v } else { resized(v, w) }
            }
            ExprKind::Cast(a) if a.ty == Ty::Bool => resized(self.bit(a)?, w),
            ExprKind::Cast(a) => resized(self.word(a)?, w),
            ExprKind::Un(_, a) => -self.exact(a, w)?,
            ExprKind::Select(c, a, b) => self.select((c, a, b), &mut |s, x| s.exact(x, w))?,
            ExprKind::Bin(op, a, b) => match (op, power(*op, b)) {
                (BinOp::And | BinOp::Mod, Some(0)) => Expr::word(w, 0),
                (BinOp::And | BinOp::Mod, Some(k)) if w <= k => self.exact(a, w)?,
                (BinOp::And | BinOp::Mod, Some(k)) => resized(self.exact(a, k)?, w),
                (BinOp::Shl, Some(k)) if w <= k => Expr::word(w, 0),
                (BinOp::Shl, Some(k)) => self.exact(a, w)?.shl(k),
                (BinOp::Shr | BinOp::Div, Some(k)) => {
                    let s = self.shape(a)?;
                    let n = s.bits - u32::from(s.positive && s.bits > 1);
                    match s.positive && k >= n {
                        true => Expr::word(w, 0),
                        false => resized(self.exact(a, n)?.shr(k.min(n - 1)), w),
                    }
                }
                (BinOp::Add | BinOp::Sub | BinOp::Mul, _) => Expr::bin(*op, self.exact(a, w)?, self.exact(b, w)?),
                _ => return Err("operation on exact integers like this".into()),
            },
            _ => return Err("exact integer like this".into()),
        })
    }
}

fn wide(bits: u32, widest: u32) -> Res<Ty> {
    if bits > widest {
        return Err(format!("exact integer of {bits} bits: there are words of {widest} at most"));
    }
    Ok(Ty::Word(bits))
}

/// The type that a value has in words of at most `widest` bits, its integers in words like `held`.
pub fn changed(ty: &Ty, held: Option<Held>, widest: u32) -> Res<Ty> {
    Ok(match ty {
        Ty::Word(_) | Ty::Struct(_) => ty.clone(),
        Ty::Bool => Ty::Word(1),
        Ty::Int(_) => wide(held.ok_or("exact integer without a range")?.bits, widest)?,
        Ty::Array { elem, len, .. } => Ty::Array { elem: Box::new(changed(elem, held, widest)?), len: len.clone(), ranges: None },
    })
}

/// Does a value depend on what is public alone?
pub fn public(func: &Func, e: &Expr) -> bool {
    santoku_ir::visit::expr_locals(e).iter().all(|id| steers(func.local(*id)))
}

/// May it steer what is executed?
pub fn steers(l: &Local) -> bool {
    l.public || matches!(l.kind, LocalKind::Counter | LocalKind::Len)
}

fn count(n: u64) -> Res<u64> {
    if n <= ELEMENTS_MAX { Ok(n) } else { Err(format!("array of {n} elements that a secret chooses")) }
}

/// `k` where the operation is one by `2^k`.
fn power(op: BinOp, by: &Expr) -> Option<u32> {
    let v = by.as_const()?;
    let log = |v: &BigInt| (*v > BigInt::zero() && (v & (v - 1u32)).is_zero()).then(|| v.bits() as u32 - 1);
    match op {
        BinOp::And => log(&(v + 1u32)),
        BinOp::Mod | BinOp::Div => log(v),
        BinOp::Shl | BinOp::Shr => v.to_u32(),
        _ => None,
    }
}

/// Cut off, or zeros added.
fn resized(e: Expr, bits: u32) -> Expr {
    if e.ty == Ty::Word(bits) { e } else { e.cast(Ty::Word(bits)) }
}

/// An integer of `n` bits, the last of them its sign, in more.
fn extended(v: Expr, n: u32, w: u32) -> Expr {
    let half = BigInt::from(1) << (n - 1);
    resized(v + Expr::word(n, half.clone()), w) - Expr::word(w, half)
}

/// An element or a field of an expression.
fn part(e: &Expr, ty: &Ty, k: u64) -> Res<Expr> {
    let array = matches!(e.ty, Ty::Array { .. });
    Ok(match &e.kind {
        ExprKind::Read(p) if array => Expr::read(p.clone().at(k), ty),
        ExprKind::Read(p) => Expr::read(p.clone().field(k as u32), ty),
        ExprKind::Array(es) | ExprKind::Struct(_, es) => es.get(k as usize).cloned().ok_or("part of a value")?,
        ExprKind::Repeat(x) => (**x).clone(),
        ExprKind::Select(c, a, b) => Expr::select((**c).clone(), part(a, ty, k)?, part(b, ty, k)?),
        _ => return Err("part of a value like this".into()),
    })
}
