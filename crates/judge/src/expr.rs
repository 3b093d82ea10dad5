//! Expressions: one step of interval arithmetic for each, and the obligations inside.

use crate::value::shown;
use santoku_num::{Int, Itv};
use crate::lin::Lin;
use crate::place::{self, Step};
use crate::run::{Res, Run, State};
use crate::value::{has_ranges, small, Sc, Val, MAX_ELEMENTS};
use santoku_ir::{Base, BinOp, Expr, ExprKind, Len, LocalId, Place, Proj, Ty, UnOp};
use std::rc::Rc;

/// Bits of an integer of which only the low ones are used.
const MAX_BITS: u64 = 1 << 16;
/// Selections inside selections that are looked at under their conditions.
const MAX_DEPTH: u32 = 6;

impl<'a> Run<'a> {
    pub fn eval(&mut self, st: &mut State, e: &Expr) -> Res<Val> {
        let modular = std::mem::replace(&mut self.modular, false);
        self.eval_mod(st, e, modular)
    }

    /// `modular`: only the value mod a power of two is used.
    fn eval_mod(&mut self, st: &mut State, e: &Expr, modular: bool) -> Res<Val> {
        self.step()?;
        let v = match &e.kind {
            ExprKind::Const(v) => Val::Sc(Sc::new(Itv::point(v))),
            ExprKind::Read(p) => self.read(st, e, p)?,
            ExprKind::Un(op, a) => Val::Sc(self.unary(st, e, *op, a, modular)?),
            ExprKind::Bin(op, a, b) => Val::Sc(self.binary(st, e, *op, a, b, modular)?),
            ExprKind::Cmp(op, a, b) => Val::Sc(self.compare(st, *op, a, b)?),
            ExprKind::Select(c, a, b) => self.select(st, c, a, b)?,
            ExprKind::Cast(a) => {
                let x = self.scalar_mod(st, a, matches!(e.ty, Ty::Word(_)))?;
                let itv = self.itv(&x)?;
                Val::Sc(Sc::new(if let Ty::Word(bits) = e.ty { itv.wrap(bits) } else { itv }))
            }
            ExprKind::Array(es) => Val::Arr(Rc::new(es.iter().map(|e| self.eval(st, e)).collect::<Res<_>>()?)),
            ExprKind::Repeat(a) => {
                let one = Val::All(Rc::new(self.eval(st, a)?));
                if let Ty::Array { len, .. } = &e.ty {
                    let len = self.length(st, len)?;
                    self.must(self.is_length(&len), || format!("an array of length {}", shown(&len.itv)))?;
                }
                self.known(one.shaped(self.p, &e.ty), "an array of another shape")?
            }
            ExprKind::Struct(_, es) => Val::Rec(Rc::new(es.iter().map(|e| self.eval(st, e)).collect::<Res<_>>()?)),
        };
        if self.clauses > 0 || e.as_const().is_some() || !has_ranges(self.p, &e.ty) {
            return Ok(v);
        }
        match (&v, &e.ty) {
            // Of what was judged before, the range holds here too.
            (Val::Sc(s), Ty::Int(Some(r))) if self.trusted > 0 => {
                let met = s.itv.as_ref().and_then(|i| i.common(&r.clone().non_empty()?));
                Ok(met.map_or(v.clone(), |itv| Val::Sc(Sc { itv: Some(itv), ..s.clone() })))
            }
            _ if self.trusted > 0 => Ok(v),
            // The range that was written on an occurrence is one that it has.
            _ => self.fit(v, &e.ty),
        }
    }

    pub fn itv(&self, s: &Sc) -> Res<Itv> {
        self.known(s.itv.clone(), "a value that was never written")
    }
    pub fn scalar(&mut self, st: &mut State, e: &Expr) -> Res<Sc> {
        self.scalar_mod(st, e, false)
    }
    fn scalar_mod(&mut self, st: &mut State, e: &Expr, modular: bool) -> Res<Sc> {
        let v = self.eval_mod(st, e, modular)?;
        self.known(v.scalar().cloned(), "a scalar was expected")
    }

    fn read(&mut self, st: &mut State, e: &Expr, p: &Place) -> Res<Val> {
        let steps = self.steps_of(st, p)?;
        let Base::Local(id) = p.base else {
            let Base::Const(c) = p.base else { return self.refuse("no place") };
            let whole = self.known(self.consts[c.0 as usize].clone(), "a constant of no shape")?;
            return self.known(place::read(&whole, &steps), "an element that is not there");
        };
        let v = self.known(place::read(&st.locals[id.0 as usize], &steps), "an element that is not there")?;
        // No element of an array is read from somewhere, too. An array of no elements counts as written.
        let whole = &st.locals[id.0 as usize];
        let there = !v.is_empty() || whole.is_empty() || whole.defined();
        self.must(there, || format!("no element of `{}`, which may not be written, is read", self.f.local(id).name))?;
        if !v.defined() {
            let covered = self.covered(st, id, &steps);
            self.must(covered, || format!("`{}` may be read before it is written", self.f.local(id).name))?;
            let any = self.known(Val::any(self.p, &e.ty), "no range for what is read")?;
            let written = |s: &Sc, any: &Sc| Sc::new(s.itv.clone().or_else(|| any.itv.clone()).unwrap_or_else(Itv::bool));
            return self.known(v.zip(&any, &mut |s, any| written(s, any)), "an array of another shape");
        }
        match (&v, &e.ty) {
            (Val::Sc(s), Ty::Int(_)) if self.plan.forms && s.form.is_none() => Ok(Val::Sc(self.named(st, id, &steps, s))),
            _ => Ok(v),
        }
    }

    /// Gives a stored integer an atom, which later reads of the same element share.
    fn named(&mut self, st: &mut State, local: LocalId, steps: &[Step], s: &Sc) -> Sc {
        let (Some(itv), Some(path)) = (s.itv.clone().filter(|i| i.single().is_none()), place::path(steps)) else { return s.clone() };
        let Some(leaf) = st.locals[local.0 as usize].at_mut(&path) else { return s.clone() };
        *leaf = Sc { form: Some(Rc::new(Lin::atom(self.atoms.fresh(itv)))), ..s.clone() };
        leaf.clone()
    }

    /// The projections of a place, each inside its array.
    pub fn steps_of(&mut self, st: &mut State, p: &Place) -> Res<Vec<Step>> {
        let mut out = Vec::with_capacity(p.projs.len());
        let mut ty = match p.base {
            Base::Local(id) => self.f.local(id).ty.clone(),
            Base::Const(id) => self.p.consts[id.0 as usize].ty.clone(),
        };
        for proj in &p.projs {
            let (step, next) = match (proj, ty) {
                (Proj::Field(i), Ty::Struct(id)) => {
                    let field = self.p.structs[id.0 as usize].fields.get(*i as usize);
                    (Step::Field(*i as usize), self.known(field, "no such field")?.1.clone())
                }
                (Proj::Index(i), Ty::Array { elem, len, .. }) => (self.part(st, i, None, &len)?, *elem),
                (Proj::Slice { off, len: n }, Ty::Array { elem, len, .. }) => {
                    let n = self.known(usize::try_from(*n).ok(), "a slice that is too long")?;
                    (self.part(st, off, Some(n), &len)?, Ty::Array { elem, len: Len::Const(n as u64), ranges: None })
                }
                _ => return self.refuse("a projection that does not fit"),
            };
            place::push(&mut out, step);
            ty = next;
        }
        Ok(out)
    }

    fn part(&mut self, st: &mut State, off: &Expr, len: Option<usize>, of: &Len) -> Res<Step> {
        let s = self.scalar(st, off)?;
        let whole = self.length(st, of)?;
        let n = Int::from(len.unwrap_or(1) as u64);
        let fits = self.within(&s, Some(&Int::ZERO), None) && self.at_most(&Sc { itv: s.itv.as_ref().map(|i| i.add(&Itv::point(n.clone()))), form: self.form(&s).map(|f| Rc::new(f.shift(n.clone()))), ..s.clone() }, &whole);
        self.must(fits, || format!("an index or slice of {n} at {} of {}", shown(&s.itv), shown(&whole.itv)))?;
        let lengths = self.itv(&whole)?;
        let last = lengths.hi.sub(&n);
        let inside = Itv::between(Int::ZERO, last).and_then(|i| i.common(s.itv.as_ref()?));
        let at = self.known(inside, "an index outside of its array")?;
        let places = small(&Itv::point(at.hi.sub(&at.lo))).and_then(|w| u64::try_from(w).ok()).unwrap_or(u64::MAX);
        // One element stands for all of an array whose length is not known.
        let apart = if lengths.single().is_some() { places.min(MAX_ELEMENTS) } else { 1 };
        self.charge(apart.saturating_mul(len.unwrap_or(1) as u64));
        Ok(Step::Part { form: self.form(&s), at, len })
    }

    /// `a <= b`
    pub fn at_most(&self, a: &Sc, b: &Sc) -> bool {
        let by_itv = a.itv.as_ref().zip(b.itv.as_ref()).is_some_and(|(a, b)| a.hi <= b.lo);
        by_itv || self.form(a).zip(self.form(b)).is_some_and(|(a, b)| self.shown(&b.sub(&a)))
    }

    pub fn length(&self, st: &State, len: &Len) -> Res<Sc> {
        match len {
            Len::Const(n) => Ok(Sc::new(Itv::point(*n))),
            Len::Param { param, add } => {
                let s = self.known(st.locals[param.0 as usize].scalar().cloned(), "a length that is no scalar")?;
                let itv = self.itv(&s)?.add(&Itv::point(*add));
                Ok(Sc::with_form(itv, self.form(&s).map(|f| f.shift(*add))))
            }
        }
    }

    pub fn is_length(&self, len: &Sc) -> bool {
        self.within(len, Some(&Int::ZERO), Some(&Int::from(u64::MAX)))
    }

    fn unary(&mut self, st: &mut State, e: &Expr, op: UnOp, a: &Expr, modular: bool) -> Res<Sc> {
        let x = self.scalar_mod(st, a, modular)?;
        let minus = |run: &Self, k: Int| -> Res<Itv> { Ok(Itv::point(k).sub(&run.itv(&x)?)) };
        match (&e.ty, op) {
            (Ty::Int(_), UnOp::Neg) => {
                let v = Sc::with_form(minus(self, Int::ZERO)?, self.form(&x).map(|f| f.scale(&Int::Small(-1))));
                self.fits_register(&v, modular)?;
                Ok(v)
            }
            (Ty::Word(bits), UnOp::Neg) => Ok(Sc::new(minus(self, Int::ZERO)?.wrap(*bits))),
            (Ty::Word(bits), UnOp::Not) => Ok(Sc::new(minus(self, Itv::word(*bits).hi)?)),
            (Ty::Bool, UnOp::Not) => Ok(Sc { cond: x.cond.as_ref().map(|c| Rc::new(c.negated())), ..Sc::new(minus(self, Int::Small(1))?) }),
            _ => self.refuse("an operation of no meaning"),
        }
    }

    fn binary(&mut self, st: &mut State, e: &Expr, op: BinOp, a: &Expr, b: &Expr, modular: bool) -> Res<Sc> {
        match &e.ty {
            Ty::Int(_) => self.integers(st, op, a, b, modular),
            Ty::Word(bits) => {
                let (x, y) = (self.scalar(st, a)?, self.scalar(st, b)?);
                self.words(op, &x, &y, *bits)
            }
            Ty::Bool => {
                let (x, y) = (self.scalar(st, a)?, self.scalar(st, b)?);
                self.booleans(op, &x, &y)
            }
            _ => self.refuse("an operation of no meaning"),
        }
    }

    fn integers(&mut self, st: &mut State, op: BinOp, a: &Expr, b: &Expr, modular: bool) -> Res<Sc> {
        let ring = matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul);
        let x = self.scalar_mod(st, a, op == BinOp::And || modular && (ring || op == BinOp::Shl))?;
        let y = self.scalar_mod(st, b, modular && ring)?;
        let (i, j) = (self.itv(&x)?, self.itv(&y)?);
        let forms = self.form(&x).zip(self.form(&y));
        let v = match op {
            BinOp::Add => Sc::with_form(i.add(&j), forms.map(|(f, g)| f.add(&g))),
            BinOp::Sub => Sc::with_form(i.sub(&j), forms.map(|(f, g)| f.sub(&g))),
            BinOp::Mul => {
                let itv = if a == b { i.square() } else { i.mul(&j) };
                Sc::with_form(itv, forms.and_then(|(f, g)| f.as_const().map(|k| g.scale(k)).or_else(|| g.as_const().map(|k| f.scale(k)))))
            }
            BinOp::Shl => {
                let k = Int::pow2(self.count(&y, 1 << 14)?);
                Sc::with_form(i.mul(&Itv::point(k.clone())), self.form(&x).map(|f| f.scale(&k)))
            }
            BinOp::Shr => {
                let k = Int::pow2(self.count(&y, 1 << 14)?);
                self.quotient(&x, &k)?
            }
            BinOp::Div | BinOp::Mod | BinOp::And => {
                let d = j.single().map(|m| if op == BinOp::And { m.add(&Int::Small(1)) } else { m.clone() });
                let d = self.known(d.filter(|d| *d > Int::ZERO), "a divisor that is no positive constant")?;
                if op == BinOp::Div { self.quotient(&x, &d)? } else { self.remainder(&x, &d)? }
            }
            BinOp::Or | BinOp::Xor | BinOp::Rotl | BinOp::Rotr => return self.refuse("an operation of no meaning"),
        };
        self.fits_register(&v, modular && !matches!(op, BinOp::Shr | BinOp::Div))?;
        Ok(v)
    }

    /// A shift count below `bits` that is one number.
    fn count(&self, y: &Sc, bits: u32) -> Res<u32> {
        let k = y.itv.as_ref().and_then(small).and_then(|k| u32::try_from(k).ok()).filter(|k| *k < bits);
        self.known(k, "a shift by no constant")
    }

    pub fn quotient(&mut self, x: &Sc, d: &Int) -> Res<Sc> {
        let itv = self.known(self.itv(x)?.div_floor(d), "a divisor that is not positive")?;
        let form = self.form(x).filter(|_| itv.single().is_none()).and_then(|f| self.quotient_form(&f, d));
        Ok(Sc::with_form(itv, form))
    }

    fn quotient_form(&mut self, f: &Lin, d: &Int) -> Option<Lin> {
        let even = |c: &Int| c.mod_floor(d) == Some(Int::ZERO);
        if even(&f.konst) && f.terms.values().all(even) {
            let terms = f.terms.iter().filter_map(|(a, c)| Some((*a, c.div_floor(d)?))).collect();
            return Some(Lin { terms, ..Lin::constant(f.konst.div_floor(d)?) });
        }
        self.atoms.quotient(f, d).map(Lin::atom)
    }

    pub fn remainder(&mut self, x: &Sc, d: &Int) -> Res<Sc> {
        let i = self.itv(x)?;
        let itv = self.known(i.mod_floor(d), "a divisor that is not positive")?;
        let q = i.div_floor(d).and_then(|q| q.single().cloned());
        let form = self.form(x).and_then(|f| match q {
            Some(q) => Some(f.shift(q.mul(d).neg())),
            None => self.quotient_form(&f, d).map(|q| f.plus(&d.neg(), &q)),
        });
        Ok(Sc::with_form(itv, form))
    }

    fn words(&mut self, op: BinOp, x: &Sc, y: &Sc, bits: u32) -> Res<Sc> {
        let (i, j) = (self.itv(x)?, self.itv(y)?);
        Ok(Sc::new(match op {
            BinOp::Add => i.add(&j).wrap(bits),
            BinOp::Sub => i.sub(&j).wrap(bits),
            BinOp::Mul => i.mul(&j).wrap(bits),
            BinOp::And => self.known(i.and(&j), "no words")?,
            BinOp::Or => self.known(i.or(&j), "no words")?,
            BinOp::Xor => self.known(i.xor(&j), "no words")?,
            BinOp::Shl | BinOp::Shr | BinOp::Rotl | BinOp::Rotr => {
                let last = Int::from(u64::from(bits) - 1);
                self.must(self.within(y, Some(&Int::ZERO), Some(&last)), || format!("a shift count in {j} of a word of {bits} bits"))?;
                match (op, self.count(y, bits).ok()) {
                    (BinOp::Shl, Some(k)) => i.mul(&Itv::point(Int::pow2(k))).wrap(bits),
                    (BinOp::Shr, Some(k)) => self.known(i.div_floor(&Int::pow2(k)), "no quotient")?,
                    (BinOp::Shr, None) => self.known(Itv::between(Int::ZERO, i.hi), "no word")?,
                    (_, Some(0)) => i,
                    _ => Itv::word(bits),
                }
            }
            BinOp::Div | BinOp::Mod => return self.refuse("an operation of no meaning"),
        }))
    }

    fn select(&mut self, st: &mut State, c: &Expr, a: &Expr, b: &Expr) -> Res<Val> {
        let cond = self.scalar(st, c)?;
        let (x, y) = (self.eval(st, a)?, self.eval(st, b)?);
        match self.decided(&cond) {
            Some(true) => return Ok(x),
            Some(false) => return Ok(y),
            None => {}
        }
        let (x, y) = (self.side(st, &cond, true, a, x)?, self.side(st, &cond, false, b, y)?);
        Ok(match (x, y) {
            (Some(x), Some(y)) => x.join(&y),
            (Some(v), None) | (None, Some(v)) => v,
            (None, None) => return self.refuse("a condition that is neither true nor false"),
        })
    }

    /// A side of a selection under its condition, evaluated once more; its obligations were met without. `None`: the condition
    /// cannot be so.
    fn side(&mut self, st: &State, cond: &Sc, truth: bool, e: &Expr, plain: Val) -> Res<Option<Val>> {
        let Some(c) = cond.cond.as_ref().filter(|c| self.depth < MAX_DEPTH && !(c.vars.is_empty() && c.yes.is_empty() && c.no.is_empty())) else {
            return Ok(Some(plain));
        };
        let mut under = st.clone();
        let facts = self.facts.len();
        let new = self.assume(&mut under, c, truth);
        self.facts.extend(new);
        self.depth += 1;
        let v = if under.dead { Ok(None) } else { self.trusting(|run| run.eval(&mut under, e)).map(Some) };
        self.depth -= 1;
        self.facts.truncate(facts);
        v
    }

    /// A computed integer has at most 128 bits, signed or not.
    fn fits_register(&self, v: &Sc, modular: bool) -> Res<()> {
        let itv = self.itv(v)?;
        let signed = Itv { lo: Int::pow2(127).neg(), hi: Itv::word(127).hi };
        let fits = signed.contains(&itv) || Itv::word(128).contains(&itv) || modular && self.modular_allowed && itv.lo.bits().max(itv.hi.bits()) <= MAX_BITS;
        self.must(fits, || format!("{itv} is wider than 128 bits"))
    }

    pub fn any(&self, ty: &Ty) -> Res<Val> {
        self.known(Val::any(self.p, ty), "an integer without a range")
    }
}
