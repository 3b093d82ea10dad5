//! One execution of a function for all inputs, by its statements.
//!
//! Loops whose bounds are numbers are followed round by round while the budget lasts; of any other loop one round is run, from
//! arbitrary values of whatever it writes. Both sides of a branch are run. Values hold on every execution; facts from contracts of callees
//! are taken times the condition under which the call happens.
//! Trusted: field, bytes, leaks.

use crate::atoms::{Atoms, Num, BITS};
use crate::found::{known, stop, Clauses, Res};
use crate::poly::Poly;
use crate::proof::{Search, TERMS};
use crate::state::{Run, DEPTH, PRODUCT};
use crate::value::{part, Val};
use crate::words;
use santoku_ir::typing::Scope;
use santoku_ir::{visit, Base, BinOp, CmpOp, ConstId, ContractKind, Expr, ExprKind, FuncId, Len, Loc, LocalId, Place, Program, Proj, Stmt, Ty, UnOp};
use santoku_num::{Int, Itv};
use std::collections::{BTreeMap, BTreeSet};

const STEPS: u64 = 400_000;
/// Elements that an index is followed among.
const ALTERNATIVES: usize = 64;
/// Of a callee that is run in place.
const STEPS_INSIDE: u64 = 4_000;
const TERMS_INSIDE: usize = 200;
/// Terms of a value that has a name, where long ones have.
const NAMED: usize = 8;

/// A number or a part of so many elements.
enum Step {
    At(usize),
    Part(usize, usize),
}

impl<'a> Run<'a> {
    pub fn new(p: &'a Program, id: FuncId, search: &'a dyn Search) -> Run<'a> {
        let f = p.func(id);
        let mut run = Run { p, f, atoms: Atoms::with(crate::atoms::MERGED), locals: vec![None; f.locals.len()], zeros: vec![], least: vec![], guard: Poly::constant(1u8), search, steps: 0, limits: (STEPS, TERMS), too_much: BTreeSet::new(), constants: BTreeMap::new(), values: BTreeMap::new(), words: false, spoken_of: BTreeMap::new(), bits: false, cuts: false, names: false, opens: vec![], elements: BTreeMap::new(), literals: BTreeMap::new(), supposed: 0, compared: 0, depth: 0, found: Clauses::default(), outside: None };
        for id in f.lens.iter().chain(&f.params) {
            run.locals[id.0 as usize] = Some(Val::any(p, &mut run.atoms, &f.local(*id).ty));
        }
        run
    }

    /// Every clause of the function and of what it calls.
    pub fn function(&mut self) -> Res<()> {
        let f = self.f;
        self.open_params();
        let entry = self.locals.clone();
        for c in f.contracts.iter().filter(|c| c.kind == ContractKind::Requires) {
            self.assume_clause(&entry, &c.cond);
        }
        self.block(&f.body)?;
        let mut end = entry;
        f.rets.iter().for_each(|r| end[r.0 as usize] = self.locals[r.0 as usize].clone());
        for (nr, c) in f.contracts.iter().enumerate().filter(|(_, c)| c.kind == ContractKind::Ensures) {
            let held = self.clause(&end, &c.cond, false);
            self.found.ensures.insert(nr, held);
        }
        Ok(())
    }

    pub fn block(&mut self, body: &'a [Stmt]) -> Res<()> {
        body.iter().try_for_each(|s| self.stmt(s))
    }

    fn stmt(&mut self, s: &'a Stmt) -> Res<()> {
        self.steps += 1;
        if self.steps > self.limits.0 || self.outside.as_ref().is_some_and(|o| self.atoms.looked.get() > o.terms) {
            return stop("too many statements");
        }
        match s {
            Stmt::Assign { dst, src, .. } => {
                let v = match self.eval(src)? {
                    Val::Num(n) if self.names && n.p.len() > NAMED => Val::Num(self.atoms.named(&n)),
                    v => v,
                };
                self.write(dst, v)
            }
            Stmt::Call { dsts, func, lens, args, loc } => self.call(dsts, *func, lens, args, *loc),
            Stmt::For { var, lo, hi, rev, body, .. } => self.for_loop(*var, lo, hi, *rev, body),
            Stmt::If { cond, then, els, .. } => self.branch(cond, then, els),
            // The judge of safety sees to it.
            Stmt::Assert { .. } => Ok(()),
            Stmt::Ghost { .. } if self.outside.is_some() => Ok(()),
            Stmt::Ghost { what, loc, .. } => self.ghost(what, *loc),
        }
    }

    fn for_loop(&mut self, var: LocalId, lo: &Expr, hi: &Expr, rev: bool, body: &'a [Stmt]) -> Res<()> {
        let (lo, hi) = (self.scalar(lo)?, self.scalar(hi)?);
        if self.outside.is_none() && crate::ghost::has_invariant(body) {
            return self.by_invariants(var, (&lo, &hi), rev, body);
        }
        let bounds = lo.p.as_const().zip(hi.p.as_const());
        let rounds = bounds.as_ref().and_then(|(a, b)| if a >= b { Some(0) } else { b.sub(a).to_u64() });
        if let (Some(n), Some((a, b))) = (rounds.filter(|n| self.steps.saturating_add(n.saturating_mul(body.len() as u64 + 1)) <= self.limits.0), bounds) {
            self.steps += n;
            for k in 0..n {
                let i = if rev { b.sub(&Int::from(k + 1)) } else { a.add(&Int::from(k)) };
                self.locals[var.0 as usize] = Some(Val::Num(Num::constant(i)));
                self.block(body)?;
            }
            return Ok(());
        }
        if self.is_beside() {
            // Its rounds are counted: what they write first counts as written behind it.
            if rounds.is_some() {
                return stop("too many rounds");
            }
            return self.rounds_beside(var, (&lo, &hi), rev, body);
        }
        if self.outside.is_some() {
            return stop("a loop whose bounds are no numbers");
        }
        self.any_round(var, &lo, &hi, body)
    }

    fn any_round(&mut self, var: LocalId, lo: &Num, hi: &Num, body: &'a [Stmt]) -> Res<()> {
        let (zeros, least) = (self.zeros.len(), self.least.len());
        let written = visit::written_locals(body);
        self.forget(&written);
        let last = hi.itv.as_ref().map(|i| i.hi.sub(&Int::Small(1)));
        let counter = lo.itv.as_ref().zip(last).map(|(lo, hi)| Itv::between(lo.lo.clone(), hi));
        let mut done = Ok(());
        if counter != Some(None) {
            let at = self.atoms.fresh(counter.flatten());
            self.locals[var.0 as usize] = Some(Val::Num(at));
            self.supposed += 1;
            done = self.block(body);
            self.supposed -= 1;
        }
        // What was learned there is of a round that may not have been, whatever stopped it.
        self.zeros.truncate(zeros);
        self.least.truncate(least);
        done?;
        self.forget(&written);
        self.locals[var.0 as usize] = None;
        Ok(())
    }

    pub(crate) fn forget<'l>(&mut self, locals: impl IntoIterator<Item = &'l LocalId>) {
        for l in locals {
            self.locals[l.0 as usize] = Some(Val::any(self.p, &mut self.atoms, &self.f.local(*l).ty));
        }
    }

    fn branch(&mut self, cond: &Expr, then: &'a [Stmt], els: &'a [Stmt]) -> Res<()> {
        let c = self.scalar(cond)?.p;
        match c.as_const() {
            Some(c) if c == Int::ZERO => return self.block(els),
            Some(_) => return self.block(then),
            None => {}
        }
        let (before, outer) = (self.locals.clone(), self.guard.clone());
        if outer.len() * c.len() > PRODUCT {
            return stop("a condition that is too long");
        }
        self.guard = outer.mul(&c);
        self.block(then)?;
        let yes = std::mem::replace(&mut self.locals, before);
        self.guard = outer.mul(&Poly::constant(1u8).sub(&c));
        self.block(els)?;
        self.guard = outer;
        for (i, (a, b)) in yes.into_iter().zip(std::mem::take(&mut self.locals)).enumerate() {
            let both = match (a, b) {
                (Some(a), Some(b)) => Some(match Val::choose(&self.atoms, &b, &[(c.clone(), &a)]) {
                    Some(v) => v,
                    None if self.is_beside() => return stop("a choice that is too long"),
                    None => Val::any(self.p, &mut self.atoms, &self.f.locals[i].ty),
                }),
                // Written on one side: read there alone, or not at all.
                (a, b) => a.or(b),
            };
            self.locals.push(both);
        }
        Ok(())
    }

    fn call(&mut self, dsts: &[Place], id: FuncId, lens: &[Expr], args: &[Expr], loc: Loc) -> Res<()> {
        let g = self.p.func(id);
        let mut frame: Vec<Option<Val>> = vec![None; g.locals.len()];
        for (e, l) in lens.iter().zip(&g.lens).chain(args.iter().zip(&g.params)) {
            frame[l.0 as usize] = Some(self.eval(e)?);
        }
        if self.outside.is_some() {
            return self.call_outside(dsts, id, frame);
        }
        if self.depth == 0 {
            for (nr, c) in g.contracts.iter().enumerate().filter(|(_, c)| c.kind == ContractKind::Requires) {
                let held = self.clause(&frame, &c.cond, true);
                let at = self.found.requires.entry((loc, id, nr)).or_insert(true);
                *at &= held;
            }
        }
        let unranged = g.rets.iter().any(|r| has_unranged(self.p, &g.local(*r).ty));
        if (g.contracts.is_empty() || unranged || self.words) && self.depth < DEPTH && !self.too_much.contains(&id) {
            frame = self.in_place(id, frame);
        } else {
            for r in &g.rets {
                frame[r.0 as usize] = Some(Val::any(self.p, &mut self.atoms, &g.local(*r).ty));
            }
            for c in g.contracts.iter().filter(|c| c.kind == ContractKind::Ensures) {
                self.assume_clause(&frame, &c.cond);
            }
        }
        for (d, r) in dsts.iter().zip(&g.rets) {
            let v = known(frame[r.0 as usize].clone(), "a result that was not written")?;
            self.write(d, v)?;
        }
        Ok(())
    }

    /// Runs a callee here. What takes too much gives anything.
    fn in_place(&mut self, id: FuncId, frame: Vec<Option<Val>>) -> Vec<Option<Val>> {
        let g = self.p.func(id);
        let outer = (std::mem::replace(&mut self.f, g), std::mem::replace(&mut self.locals, frame), self.limits, self.guard.clone());
        if !self.words {
            self.limits = (self.limits.0.min(self.steps.saturating_add(STEPS_INSIDE)), TERMS_INSIDE);
        }
        self.depth += 1;
        let done = self.block(&g.body);
        self.depth -= 1;
        let mut frame = std::mem::replace(&mut self.locals, outer.1);
        (self.f, self.limits, self.guard) = (outer.0, outer.2, outer.3);
        if done.is_err() {
            self.too_much.insert(id);
            frame = vec![None; g.locals.len()];
            for r in &g.rets {
                frame[r.0 as usize] = Some(Val::any(self.p, &mut self.atoms, &g.local(*r).ty));
            }
        }
        frame
    }

    /// The projections of a place. `None`: an index is no number.
    pub fn path(&mut self, projs: &[Proj]) -> Res<Option<Vec<(usize, Option<usize>)>>> {
        let mut out: Vec<Step> = vec![];
        for p in projs {
            let number = |n: &Num| n.p.as_const().and_then(|i| i.to_u64()).and_then(|i| usize::try_from(i).ok());
            let step = match p {
                Proj::Field(i) => Step::At(*i as usize),
                Proj::Index(e) => match number(&self.scalar(e)?) {
                    Some(i) => Step::At(i),
                    None => return Ok(None),
                },
                Proj::Slice { off, len } => match (number(&self.scalar(off)?), usize::try_from(*len)) {
                    (Some(o), Ok(n)) => Step::Part(o, n),
                    _ => return Ok(None),
                },
            };
            match (out.last_mut(), step) {
                (Some(Step::Part(o, _)), Step::At(i)) => {
                    let at = known(o.checked_add(i), "an index beyond all numbers")?;
                    out.pop();
                    out.push(Step::At(at));
                }
                (Some(Step::Part(o, n)), Step::Part(i, m)) => (*o, *n) = (known(o.checked_add(i), "an index beyond all numbers")?, m),
                (_, step) => out.push(step),
            }
        }
        Ok(Some(out.into_iter().map(|s| match s { Step::At(i) => (i, None), Step::Part(o, n) => (o, Some(n)) }).collect()))
    }

    pub fn read(&mut self, p: &Place) -> Res<Val> {
        if self.is_beside() {
            return self.read_beside(p);
        }
        let whole = match p.base {
            Base::Local(id) => match self.locals[id.0 as usize].clone() {
                Some(v) => v,
                None => Val::any(self.p, &mut self.atoms, &self.f.local(id).ty),
            },
            Base::Const(id) => self.literal(id),
        };
        if let Val::Open(nr) = whole {
            if let Some(v) = self.read_open(nr, &p.projs)? {
                return Ok(v);
            }
        }
        if let Some(v) = self.path(&p.projs)?.and_then(|path| part(&whole, &path)) {
            return Ok(v);
        }
        if let Some(v) = self.one_of(&whole, &p.projs)? {
            return Ok(v);
        }
        let ty = known(Scope::of(self.p, self.f).place_ty(p), "a place without a type")?;
        Ok(Val::any(self.p, &mut self.atoms, &ty))
    }

    /// A constant of the program. Tables are long, and read an element at a time.
    pub(crate) fn literal(&mut self, id: ConstId) -> Val {
        let p = self.p;
        self.literals.entry(id).or_insert_with(|| Val::of_const(&p.consts[id.0 as usize].value)).clone()
    }

    /// An element of few aggregates, by what the index is.
    fn one_of(&mut self, whole: &Val, projs: &[Proj]) -> Res<Option<Val>> {
        let (Some((Proj::Index(e), rest)), Val::Agg(es)) = (projs.split_first(), whole) else { return Ok(None) };
        let i = self.scalar(e)?;
        let small = |v: &Int| v.to_u64().and_then(|v| usize::try_from(v).ok());
        let Some((lo, hi)) = i.itv.as_ref().and_then(|i| Some((small(&i.lo)?, small(&i.hi)?))) else { return Ok(None) };
        if hi >= es.len() || hi - lo >= ALTERNATIVES || !matches!(es[lo], Val::Agg(_)) {
            return Ok(None);
        }
        let mut others = vec![];
        for k in lo + 1..=hi {
            let d = self.atoms.sub(&i, &Num::constant(k as u64));
            others.push((self.atoms.zero(&d), &es[k]));
        }
        let Some(v) = Val::choose(&self.atoms, &es[lo], &others) else { return Ok(None) };
        let path = self.path(rest)?;
        Ok(path.and_then(|path| part(&v, &path)))
    }

    pub fn write(&mut self, dst: &Place, v: Val) -> Res<()> {
        if self.is_beside() {
            return self.write_beside(dst, v);
        }
        let Base::Local(id) = dst.base else { return stop("a constant is written") };
        let path = self.path(&dst.projs)?;
        let ty = &self.f.local(id).ty;
        let mut whole = match self.locals[id.0 as usize].take() {
            Some(v) => v,
            None if dst.projs.is_empty() => Val::Unknown,
            None => Val::any(self.p, &mut self.atoms, ty),
        };
        let done = path.and_then(|path| put(&mut whole, &path, v));
        self.locals[id.0 as usize] = Some(if done.is_some() { whole } else { Val::any(self.p, &mut self.atoms, ty) });
        Ok(())
    }

    pub fn scalar(&mut self, e: &Expr) -> Res<Num> {
        match self.eval(e)? {
            Val::Num(n) => Ok(n),
            _ => stop("a scalar was expected"),
        }
    }

    pub fn eval(&mut self, e: &Expr) -> Res<Val> {
        let v = match &e.kind {
            ExprKind::Const(v) => Val::Num(Num::constant(Int::from(v))),
            ExprKind::Read(p) => self.read(p)?,
            ExprKind::Un(op, a) => {
                let a = self.scalar(a)?;
                Val::Num(self.unary(*op, &a, &e.ty)?)
            }
            ExprKind::Bin(op, a, b) => {
                let (a, b) = (self.scalar(a)?, self.scalar(b)?);
                Val::Num(self.binary(*op, &a, &b, &e.ty)?)
            }
            ExprKind::Cmp(op, a, b) => {
                let (a, b) = (self.eval(a)?, self.eval(b)?);
                Val::Num(self.compare(*op, &a, &b)?)
            }
            ExprKind::Select(c, a, b) => {
                let (c, a, b) = (self.scalar(c)?, self.eval(a)?, self.eval(b)?);
                known(Val::choose(&self.atoms, &b, &[(c.p, &a)]), "a choice between different shapes")?
            }
            ExprKind::Cast(a) => {
                let a = self.scalar(a)?;
                let a = self.short(&a);
                Val::Num(match e.ty {
                    Ty::Word(bits) => known(words::wrap(&mut self.atoms, &a, bits), "too many atoms")?,
                    _ => a,
                })
            }
            ExprKind::Array(es) | ExprKind::Struct(_, es) => Val::agg(es.iter().map(|e| self.eval(e)).collect::<Res<_>>()?),
            ExprKind::Repeat(a) if self.is_beside() => self.repeated(a, &e.ty)?,
            ExprKind::Repeat(a) => match &e.ty {
                Ty::Array { len: Len::Const(n), .. } if *n <= 1 << 16 => Val::agg(vec![self.eval(a)?; *n as usize]),
                _ => Val::Unknown,
            },
        };
        if let Val::Num(n) = &v {
            self.steps += n.p.len() as u64 / 16;
        }
        let v = match (v, &e.ty) {
            // The judge of safety has seen that it is in its range, wherever it is computed.
            (Val::Num(n), Ty::Int(Some(r))) if self.outside.is_some() && !self.is_beside() && self.guard.as_const() == Some(Int::Small(1)) => {
                let own = n.itv.as_ref().zip(r.clone().non_empty()).and_then(|(a, b)| a.common(&b));
                Val::Num(self.atoms.num(n.p, own.or(n.itv)))
            }
            (Val::Num(n), Ty::Word(bits)) if self.outside.is_some() => {
                let own = n.itv.as_ref().and_then(|a| a.common(&Itv::word(*bits)));
                Val::Num(self.atoms.num(n.p, Some(own.unwrap_or_else(|| Itv::word(*bits)))))
            }
            (v, _) => v,
        };
        let v = match (v, self.outside.as_ref().and_then(|o| o.names.map(|n| (n, o.word))), &e.ty) {
            (Val::Num(n), Some((least, piece)), Ty::Word(bits)) if matches!(e.kind, ExprKind::Bin(BinOp::Xor | BinOp::Add | BinOp::Sub, ..)) => Val::Num(words::named(&mut self.atoms, &n, (least, piece.min(*bits)))),
            (v, ..) => v,
        };
        match &v {
            Val::Num(n) if n.p.len() > self.limits.1 || n.p.terms().any(|(_, c)| c.bits() > BITS) => stop("a polynomial that is too long"),
            _ => Ok(v),
        }
    }

    fn unary(&mut self, op: UnOp, a: &Num, ty: &Ty) -> Res<Num> {
        let from = match (op, ty) {
            (UnOp::Neg, _) => Num::constant(0u8),
            (UnOp::Not, Ty::Word(bits)) => Num::constant(Int::mask(*bits)),
            (UnOp::Not, _) => Num::constant(1u8),
        };
        let v = self.atoms.sub(&from, a);
        match ty {
            Ty::Word(bits) => known(words::wrap(&mut self.atoms, &v, *bits), "too many atoms"),
            _ => Ok(v),
        }
    }

    fn binary(&mut self, op: BinOp, a: &Num, b: &Num, ty: &Ty) -> Res<Num> {
        if self.is_beside() { self.binary_beside(op, a, b, ty) } else { self.exactly(op, a, b, ty) }
    }

    pub(crate) fn exactly(&mut self, op: BinOp, a: &Num, b: &Num, ty: &Ty) -> Res<Num> {
        let bits = match ty {
            Ty::Word(bits) => Some(*bits),
            Ty::Bool => Some(1),
            _ => None,
        };
        let itvs = a.itv.as_ref().zip(b.itv.as_ref());
        let exact = match op {
            BinOp::Add => self.atoms.num(a.p.add(&b.p), itvs.map(|(a, b)| a.add(b))),
            BinOp::Sub => self.atoms.sub(a, b),
            BinOp::Mul if a.p.len().saturating_mul(b.p.len()) > PRODUCT => return stop("a product that is too long"),
            BinOp::Mul => self.atoms.num(a.p.mul(&b.p), itvs.map(|(a, b)| a.mul(b))),
            BinOp::Div | BinOp::Mod => {
                let d = known(b.p.as_const().filter(|d| *d > Int::ZERO), "a divisor that is no positive constant")?;
                let (q, r) = known(self.atoms.divide(a, &d), "too many atoms")?;
                return Ok(if op == BinOp::Div { q } else { r });
            }
            BinOp::And | BinOp::Or | BinOp::Xor => return self.bitwise(op, a, b, bits),
            BinOp::Shl | BinOp::Shr | BinOp::Rotl | BinOp::Rotr => return self.shift(op, a, b, bits),
        };
        match bits {
            Some(bits) => known(words::wrap(&mut self.atoms, &exact, bits), "too many atoms"),
            None => Ok(exact),
        }
    }

    fn bitwise(&mut self, op: BinOp, a: &Num, b: &Num, bits: Option<u32>) -> Res<Num> {
        let Some(bits) = bits else {
            // Of integers only low bits are taken.
            let d = known(b.p.as_const().map(|m| m.add(&Int::Small(1))).filter(|d| *d > Int::ZERO), "a mask that is no constant")?;
            if op != BinOp::And || u32::try_from(d.bits()).map(|n| Int::pow2(n - 1)) != Ok(d.clone()) {
                return stop("an operation on bits of an integer that takes no low bits");
            }
            return Ok(known(self.atoms.divide(a, &d), "too many atoms")?.1);
        };
        let piece = self.outside.as_ref().map_or(bits, |o| o.word);
        let apart = !self.words || words::disjoint(&self.atoms, a, b);
        let (a, b) = if apart { (a.clone(), b.clone()) } else { (self.short(a), self.short(b)) };
        let v = known(words::bitwise(&mut self.atoms, op, &a, &b, (bits, piece)), "too many atoms")?;
        Ok(if apart { v } else { self.short(&v) })
    }

    /// A long word as a name, in clauses about bits.
    pub fn short(&mut self, x: &Num) -> Num {
        words::short(&mut self.atoms, x)
    }

    fn shift(&mut self, op: BinOp, a: &Num, b: &Num, bits: Option<u32>) -> Res<Num> {
        let k = b.p.as_const().and_then(|k| k.to_u64()).and_then(|k| u32::try_from(k).ok()).filter(|k| *k < bits.unwrap_or(1 << 14));
        let Some(k) = k else { return Ok(self.shifted_beside(op, a, b, bits).unwrap_or_else(|| self.atoms.fresh(bits.map(Itv::word)))) };
        let a = &self.short(a);
        let v = match (op, bits) {
            (_, Some(bits)) => words::shifted(&mut self.atoms, op, a, k, bits),
            (BinOp::Shl, None) => Some(Num { p: a.p.scale(&Int::pow2(k)), itv: a.itv.as_ref().map(|i| i.mul(&Itv::point(Int::pow2(k)))) }),
            (BinOp::Shr, None) => self.atoms.divide(a, &Int::pow2(k)).map(|d| d.0),
            (_, None) => return stop("an integer is not rotated"),
        };
        known(v, "too many atoms")
    }

    /// The truth of a comparison.
    pub fn compare(&mut self, op: CmpOp, a: &Val, b: &Val) -> Res<Num> {
        let not = |p: Poly| Poly::constant(1u8).sub(&p);
        let p = match (a, b) {
            (Val::Agg(xs), Val::Agg(ys)) if xs.len() == ys.len() => {
                let mut all = Poly::constant(1u8);
                for (x, y) in xs.iter().zip(ys.iter()) {
                    all = all.mul(&self.compare(CmpOp::Eq, x, y)?.p);
                    if all.len() > self.limits.1 {
                        return stop("a polynomial that is too long");
                    }
                }
                if op == CmpOp::Ne { not(all) } else { all }
            }
            (Val::Num(x), Val::Num(y)) => {
                let (x, y) = if matches!(op, CmpOp::Gt | CmpOp::Le) { (y, x) } else { (x, y) };
                let d = self.atoms.sub(x, y);
                match op {
                    CmpOp::Eq => self.is_nothing(&d),
                    CmpOp::Ne => not(self.is_nothing(&d)),
                    CmpOp::Lt | CmpOp::Gt => self.negative(&d)?,
                    CmpOp::Ge | CmpOp::Le => not(self.negative(&d)?),
                }
            }
            _ => self.atoms.fresh(Some(Itv::bool())).p,
        };
        Ok(Num::truth(p))
    }
}

fn put(v: &mut Val, path: &[(usize, Option<usize>)], new: Val) -> Option<()> {
    match (path.split_first(), v) {
        (None, v) => *v = new,
        (Some(((i, None), rest)), Val::Agg(es)) => put(std::rc::Rc::make_mut(es).get_mut(*i)?, rest, new)?,
        (Some(((o, Some(n)), [])), Val::Agg(es)) => {
            let Val::Agg(news) = new else { return None };
            let part = std::rc::Rc::make_mut(es).get_mut(*o..o.checked_add(*n)?).filter(|p| p.len() == news.len())?;
            part.clone_from_slice(&news);
        }
        _ => return None,
    }
    Some(())
}

fn has_unranged(p: &Program, ty: &Ty) -> bool {
    match ty {
        Ty::Int(r) => r.is_none(),
        Ty::Word(_) | Ty::Bool => false,
        Ty::Array { elem, ranges, .. } => ranges.is_none() && has_unranged(p, elem),
        Ty::Struct(id) => p.structs[id.0 as usize].fields.iter().any(|(_, t)| has_unranged(p, t)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outside::NoSearch;
    use santoku_ir::build::FuncBuilder;

    /// An index and the beginning of a part that no array has, one behind the other.
    #[test]
    fn places_beyond_all_numbers_stop() {
        let mut p = Program::default();
        let f = FuncBuilder::new(&p, "f").finish();
        p.funcs.push(f);
        let mut run = Run::new(&p, FuncId(0), &NoSearch);
        let slice = |off: u64| Proj::Slice { off: Expr::int(off), len: 2 };
        let index = |at: u64| Proj::Index(Expr::int(at));
        assert_eq!(run.path(&[slice(3), slice(1), index(1)]), Ok(Some(vec![(5, None)])));
        assert!(run.path(&[slice(u64::MAX), index(1)]).is_err());
        assert!(run.path(&[slice(u64::MAX), slice(1)]).is_err());
    }

    /// Of integers, which have no highest bit, operations on bits take the low ones and do nothing else.
    #[test]
    fn bits_of_integers_are_low_bits() {
        let p = Program { funcs: vec![FuncBuilder::new(&Program::default(), "f").finish()], ..Program::default() };
        let mut run = Run::new(&p, FuncId(0), &NoSearch);
        let mut of = |op, a: i64, b: i64| run.bitwise(op, &Num::constant(a), &Num::constant(b), None).ok().and_then(|n| n.p.as_const());
        assert_eq!(of(BinOp::And, 13, 7), Some(Int::Small(5)));
        assert_eq!(of(BinOp::And, -1, 7), Some(Int::Small(7)));
        assert_eq!(of(BinOp::And, 13, 0), Some(Int::Small(0)));
        for (op, b) in [(BinOp::Or, 7), (BinOp::Xor, 7), (BinOp::And, 5), (BinOp::And, -1), (BinOp::And, -2)] {
            assert_eq!(of(op, 13, b), None, "{op:?} {b}");
        }
    }
}
