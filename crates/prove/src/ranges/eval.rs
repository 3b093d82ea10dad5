//! Expressions: values, obligations inside them, linear forms.

use crate::obligation::Kind;
use crate::itv::Itv;
use super::lin::Lin;
use santoku_num::{Bound, Int};
use super::place::{self, concrete, push_step, Step};
use super::record::{addr, Failure};
use super::run::{Run, State};
use super::value::{scalar_itv, Abs, Fact, Sc};
use santoku_ir::{Base, BinOp, Expr, ExprKind, Len, LocalId, Place, Proj, Ty, UnOp};
use std::rc::Rc;

impl Run<'_> {
    /// The value of `e`; settles the obligations inside it.
    pub fn eval(&mut self, st: &mut State, e: &Expr) -> Abs {
        let outer = std::mem::replace(&mut self.modular, false);
        let v = self.eval_in(st, e, outer);
        self.modular = outer;
        v
    }

    /// `modular`: only the value mod a power of two matters to the user of `e`.
    fn eval_in(&mut self, st: &mut State, e: &Expr, modular: bool) -> Abs {
        self.steps += 1;
        let v = match &e.kind {
            ExprKind::Const(v) => Abs::scalar(Itv::point(v)),
            ExprKind::Read(p) => self.read(st, e, p),
            ExprKind::Un(op, a) => Abs::Sc(self.unary(st, e, *op, a, modular)),
            ExprKind::Bin(op, a, b) => Abs::Sc(self.binary(st, e, *op, a, b, modular)),
            ExprKind::Cmp(op, a, b) => Abs::Sc(self.compare(st, *op, a, b)),
            ExprKind::Select(c, a, b) => self.select(st, c, a, b),
            ExprKind::Cast(a) => Abs::Sc(self.cast(st, &e.ty, a)),
            ExprKind::Array(es) => Abs::Arr(Rc::new(es.iter().map(|e| self.eval(st, e)).collect())).conform(self.p, &e.ty),
            ExprKind::Repeat(a) => Abs::Sum(Rc::new(self.eval(st, a))).conform(self.p, &e.ty),
            ExprKind::Struct(_, es) => Abs::Struct(Rc::new(es.iter().map(|e| self.eval(st, e)).collect())),
        };
        self.note_expr(e, &v);
        v
    }

    /// A scalar; anything of its type where the program makes no sense.
    pub fn scalar(&mut self, st: &mut State, e: &Expr) -> Sc {
        match self.eval(st, e) {
            Abs::Sc(s) => s,
            _ => Sc::new(scalar_itv(&e.ty)),
        }
    }

    fn scalar_mod(&mut self, st: &mut State, e: &Expr, modular: bool) -> Sc {
        let outer = std::mem::replace(&mut self.modular, modular);
        let v = self.eval(st, e);
        self.modular = outer;
        match v {
            Abs::Sc(s) => s,
            _ => Sc::new(scalar_itv(&e.ty)),
        }
    }

    fn read(&mut self, st: &mut State, e: &Expr, p: &Place) -> Abs {
        let steps = self.steps_of(st, p);
        let whole = match p.base {
            Base::Local(id) => &st.locals[id.0 as usize],
            Base::Const(id) => &self.consts[id.0 as usize],
        };
        let Some(v) = place::read(whole, &steps) else { return Abs::any(self.p, &e.ty) };
        let Base::Local(id) = p.base else { return v };
        let defined = v.defined() || self.covered(st, p, &steps);
        self.check(
            addr(e),
            Kind::Defined,
            0,
            defined,
            |s| format!("`{}` is written before it is read", s.place(p)),
            |s| Failure { reason: format!("`{}` may be read before it is written", s.place(p)), origin: None },
        );
        if !v.defined() {
            // Also where the cover proved it: the summary itself never becomes "certainly written".
            let written = |s: &Sc, any: &Sc| if s.itv().is_empty() { any.clone() } else { s.written().narrowed(any.itv()) };
            return v.zip(&Abs::any(self.p, &e.ty), &mut |s, any| written(s, any));
        }
        let v = self.name_term(st, id, concrete(&steps).as_deref(), v);
        match (&v, &e.ty) {
            (Abs::Sc(s), Ty::Int(_)) if self.relational() && *s.fact() == Fact::None => self.name_leaf(st, id, &steps, s),
            _ => v,
        }
    }

    /// Gives a stored integer an atom, shared by later reads of the same element.
    fn name_leaf(&mut self, st: &mut State, local: LocalId, steps: &[Step], s: &Sc) -> Abs {
        if s.itv().single().is_some() {
            return Abs::Sc(self.named(s));
        }
        let version = st.versions[local.0 as usize];
        if let Some(leaf) = concrete(steps).and_then(|path| st.locals[local.0 as usize].at_mut(&path)) {
            *leaf = self.named(s);
            return Abs::Sc(leaf.clone());
        }
        // The same version at the same form of index is the same value. What is known of it here may not hold
        // elsewhere, so the atom gets the declared range.
        let Some(forms) = steps.iter().map(step_form).collect::<Option<Vec<Lin>>>() else { return Abs::Sc(s.clone()) };
        let declared = scalar_itv(&place::target_ty(self.p, &self.f.local(local).ty, steps));
        Abs::Sc(self.named_element(s, declared, (self.frame.0, local, version, forms)))
    }

    /// Evaluates the projections of a place and settles their bounds.
    pub fn steps_of(&mut self, st: &mut State, p: &Place) -> Vec<Step> {
        let mut out = Vec::with_capacity(p.projs.len());
        let mut ty: Ty = match p.base {
            Base::Local(id) => self.f.local(id).ty.clone(),
            Base::Const(id) => self.p.consts[id.0 as usize].ty.clone(),
        };
        for proj in &p.projs {
            let (step, next) = match (proj, ty) {
                (Proj::Field(i), Ty::Struct(id)) => {
                    let field = self.p.structs[id.0 as usize].fields.get(*i as usize);
                    (Step::Field(*i as usize), field.map_or(Ty::Bool, |f| f.1.clone()))
                }
                (Proj::Index(ix), Ty::Array { elem, len, .. }) => {
                    let (at, lin) = self.offset(st, ix, 1, &len, p);
                    (Step::Index { at, lin }, *elem)
                }
                (Proj::Slice { off, len: n }, Ty::Array { elem, len, .. }) => {
                    let (off, lin) = self.offset(st, off, *n, &len, p);
                    let step = Step::Slice { off, len: usize::try_from(*n).unwrap_or(usize::MAX), lin };
                    (step, Ty::Array { elem, len: Len::Const(*n), ranges: None })
                }
                (_, other) => (Step::Field(usize::MAX), other),
            };
            push_step(&mut out, step);
            ty = next;
        }
        out
    }

    /// Settles `0 <= off && off + n <= len`; gives the offset inside those bounds.
    fn offset(&mut self, st: &mut State, off: &Expr, n: u64, len: &Len, p: &Place) -> (Itv, Option<Lin>) {
        let s = self.scalar(st, off);
        let (len_itv, len_lin) = self.length(st, len);
        let n = i128::from(n);
        let form = self.form(&s);
        let last = len_itv.sub(&Itv::point(n));
        let low = !s.itv().lo.is_negative() || self.implied(form.clone());
        let high = s.itv().hi <= last.lo
            || self.implied(form.as_ref().zip(len_lin).and_then(|(f, l)| l.sub(f)).and_then(|d| d.plus(-n)));
        let last_known = Itv { lo: Bound::ZERO, hi: last.lo.clone() };
        let (low, high) = if low && high || !self.solved(&s, &last_known) { (low, high) } else { (true, true) };
        let (what, whats) = if n == 1 { ("index", "indices") } else { ("slice", "slices") };
        self.check(
            addr(off),
            Kind::Index,
            0,
            low && high,
            |show| format!("{what} `{}` of `{}` stays inside", show.expr(off), show.place(p)),
            |show| Failure {
                reason: format!(
                    "`{}` is {}, but {whats} of `{}` go from 0 to {}",
                    show.expr(off), s.itv(), show.place(p), last
                ),
                origin: None,
            },
        );
        let inside = s.itv().meet(&Itv { lo: Bound::ZERO, hi: last.hi });
        (if inside.is_empty() { Itv::new(0, 0) } else { inside }, form)
    }

    /// An array length as an interval and a form.
    pub fn length(&mut self, st: &State, len: &Len) -> (Itv, Option<Lin>) {
        match len {
            Len::Const(n) => (Itv::point(i128::from(*n)), Some(Lin::constant(i128::from(*n)))),
            Len::Param { param, add } => {
                let s = st.locals[param.0 as usize].as_sc().cloned().unwrap_or_else(Sc::undefined);
                let form = self.form(&s).and_then(|f| f.plus(i128::from(*add)));
                (s.itv().add(&Itv::point(i128::from(*add))), form)
            }
        }
    }

    fn unary(&mut self, st: &mut State, e: &Expr, op: UnOp, a: &Expr, modular: bool) -> Sc {
        let x = self.scalar_mod(st, a, modular);
        match (&e.ty, op) {
            (Ty::Int(_), _) => {
                let v = self.sub_from(Int::ZERO, &x);
                self.width(e, &v, modular);
                v
            }
            (Ty::Word(bits), UnOp::Neg) => {
                let exact = self.sub_from(Int::ZERO, &x);
                self.wrapped(&exact, *bits)
            }
            (Ty::Word(bits), UnOp::Not) => self.sub_from(Int::mask(*bits), &x).bare_form(),
            _ => self.not(&x),
        }
    }

    fn binary(&mut self, st: &mut State, e: &Expr, op: BinOp, a: &Expr, b: &Expr, modular: bool) -> Sc {
        match &e.ty {
            Ty::Int(_) => self.int_binary(st, e, op, a, b, modular),
            Ty::Word(bits) => self.word_binary(st, e, op, a, b, *bits),
            _ => {
                let (x, y) = (self.scalar(st, a), self.scalar(st, b));
                super::cond::combine(op, &x, &y)
            }
        }
    }

    fn int_binary(&mut self, st: &mut State, e: &Expr, op: BinOp, a: &Expr, b: &Expr, modular: bool) -> Sc {
        let ring = matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul);
        let keeps = modular && (ring || op == BinOp::Shl);
        let reduces = op == BinOp::And && b.as_const().is_some_and(|m| m.bits() <= 128);
        let mut x = self.scalar_mod(st, a, keeps || reduces);
        let y = self.scalar_mod(st, b, modular && ring);
        let v = match op {
            BinOp::Add => self.add(&x, &y),
            BinOp::Sub => self.sub(&x, &y),
            BinOp::Mul => self.mul(&x, &y, a == b),
            BinOp::Shl => match small_count(&y) {
                Some(k) => self.shl(&x, k),
                None => self.bad_count(e, b, &y),
            },
            BinOp::Shr => match small_count(&y) {
                Some(k) => {
                    x = self.split_here(st, a, x, k);
                    self.quotient(&x, &Int::pow2(k))
                }
                None => self.bad_count(e, b, &y),
            },
            BinOp::Div | BinOp::Mod | BinOp::And => {
                let divisor = if op == BinOp::And { y.itv().single().map(|m| m.add(&Int::ONE)) } else { y.itv().single().cloned() };
                match divisor.filter(|d| *d > Int::ZERO) {
                    Some(d) => {
                        if let Some(k) = d.log2() {
                            x = self.split_here(st, a, x, k);
                        }
                        if op == BinOp::Div { self.quotient(&x, &d) } else { self.remainder(&x, &d) }
                    }
                    None => self.bad_divisor(e, b, &y),
                }
            }
            BinOp::Or | BinOp::Xor | BinOp::Rotl | BinOp::Rotr => Sc::new(Itv::TOP),
        };
        self.width(e, &v, modular && op != BinOp::Shr && op != BinOp::Div);
        v
    }

    fn bad_count(&mut self, e: &Expr, b: &Expr, y: &Sc) -> Sc {
        let itv = y.itv().clone();
        self.check(
            addr(e),
            Kind::Shift,
            0,
            false,
            |s| format!("shift count `{}` is a constant", s.expr(b)),
            |s| Failure { reason: format!("shift of an exact integer by `{}`, which is {itv}", s.expr(b)), origin: None },
        );
        Sc::new(Itv::TOP)
    }

    fn bad_divisor(&mut self, e: &Expr, b: &Expr, y: &Sc) -> Sc {
        let itv = y.itv().clone();
        self.check(
            addr(e),
            Kind::Range,
            1,
            false,
            |s| format!("divisor `{}` is a positive constant", s.expr(b)),
            |s| Failure { reason: format!("divisor `{}` is {itv}", s.expr(b)), origin: None },
        );
        Sc::new(Itv::TOP)
    }

    fn word_binary(&mut self, st: &mut State, e: &Expr, op: BinOp, a: &Expr, b: &Expr, bits: u32) -> Sc {
        let (x, y) = (self.scalar(st, a), self.scalar(st, b));
        match op {
            BinOp::Shl | BinOp::Shr | BinOp::Rotl | BinOp::Rotr => self.word_shift(e, op, &x, b, &y, bits),
            _ => self.word(op, &x, &y, bits),
        }
    }

    fn word_shift(&mut self, e: &Expr, op: BinOp, x: &Sc, b: &Expr, count: &Sc, bits: u32) -> Sc {
        let last = i128::from(bits) - 1;
        let ok = Itv::new(0, last).contains(count.itv()) || {
            let f = self.form(count);
            self.implied(f.clone()) && self.implied(f.and_then(|f| f.scale(-1)).and_then(|f| f.plus(last)))
        };
        let itv = count.itv().clone();
        self.check(
            addr(e),
            Kind::Shift,
            0,
            ok,
            |s| format!("shift count `{}` is in 0..{last}", s.expr(b)),
            |s| Failure { reason: format!("shift count `{}` is {itv}, the word has {bits} bits", s.expr(b)), origin: None },
        );
        self.word_shifted(op, x, small_count(count).filter(|k| *k < bits), bits)
    }

    fn cast(&mut self, st: &mut State, to: &Ty, a: &Expr) -> Sc {
        let x = self.scalar_mod(st, a, matches!(to, Ty::Word(_)));
        match to {
            Ty::Word(bits) => self.wrapped(&x, *bits),
            _ => self.as_integer(&x),
        }
    }

    fn select(&mut self, st: &mut State, c: &Expr, a: &Expr, b: &Expr) -> Abs {
        let cond = self.scalar(st, c);
        let (x, y) = (self.eval(st, a), self.eval(st, b));
        match self.decided(&cond) {
            Some(true) => return x,
            Some(false) => return y,
            None => {}
        }
        if let (Fact::Cond(_), true) = (cond.fact(), self.selects < self.opts.limits.selects) {
            let x = self.side(st, &cond, true, a, x);
            let y = self.side(st, &cond, false, b, y);
            return match (x, y) {
                (Some(x), Some(y)) => self.chosen(&cond, &x, &y),
                (Some(v), None) | (None, Some(v)) => v,
                (None, None) => Abs::any(self.p, &a.ty),
            };
        }
        self.chosen(&cond, &x, &y)
    }

    /// The value of one side of a selection under its condition; `None` when the condition cannot be so.
    fn side(&mut self, st: &mut State, cond: &Sc, truth: bool, e: &Expr, plain: Abs) -> Option<Abs> {
        let Fact::Cond(c) = cond.fact() else { return Some(plain) };
        if c.vars.is_empty() && c.yes.is_empty() && c.no.is_empty() {
            return Some(plain);
        }
        let facts = self.facts.len();
        let here = c.vars.iter().filter(|v| v.frame == self.frame.0);
        let saved: Vec<(usize, Abs)> = here.map(|v| (v.local.0 as usize, st.locals[v.local.0 as usize].clone())).collect();
        self.assume(st, c, truth);
        let dead = std::mem::replace(&mut st.dead, false);
        self.mute += 1;
        self.selects += 1;
        let fails = self.fails;
        let v = (!dead).then(|| self.eval(st, e));
        // What cannot be under the condition may be without it.
        let v = v.filter(|_| !std::mem::replace(&mut st.dead, false));
        self.fails = fails;
        self.selects -= 1;
        self.mute -= 1;
        self.facts.truncate(facts);
        // In reverse: the first saved copy of a local is its original.
        for (l, v) in saved.into_iter().rev() {
            st.locals[l] = v;
        }
        v
    }

    /// A computed exact integer must fit a 128-bit register, unless only its low bits are used.
    fn width(&mut self, e: &Expr, v: &Sc, modular: bool) {
        if v.itv().single().is_some() && v.itv().lo.bits().is_some_and(|b| b <= 128) {
            return;
        }
        let signed = Itv { lo: Bound::pow2(127).neg(), hi: Bound::mask(127) };
        let fits = signed.contains(v.itv()) || Itv::word(128).contains(v.itv()) || (modular && self.opts.modular_width);
        let itv = v.itv().clone();
        self.check(
            addr(e),
            Kind::Width,
            0,
            fits,
            |s| format!("`{}` fits 128 bits", s.expr(e)),
            |s| Failure { reason: format!("`{}` is {itv}: wider than 128 bits", s.expr(e)), origin: None },
        );
    }
}

fn step_form(s: &Step) -> Option<Lin> {
    match s {
        Step::Field(i) => Some(Lin::constant(*i as i128)),
        Step::Index { lin, .. } => lin.clone(),
        Step::Slice { .. } => None,
    }
}

fn small_count(s: &Sc) -> Option<u32> {
    s.itv().single()?.small().and_then(|k| u32::try_from(k).ok()).filter(|k| *k < 1 << 14)
}
