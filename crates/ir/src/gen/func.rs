//! One random function: statements and expressions over what is in scope, with the range of every integer known.

use super::{declared_range, Config, Rng};
use crate::build::FuncBuilder;
use crate::data::*;
use crate::spec::{ContractKind, SpecExpr};
use crate::ty::{Len, LocalId, Range, StructId, Ty};

/// Something readable: a place, its type, and whether statements may write it.
#[derive(Clone)]
struct Var {
    place: Place,
    ty: Ty,
    writable: bool,
    public: bool,
}

/// A counter in scope runs over `0..<len` (of a length parameter) or within constants.
#[derive(Clone)]
pub(super) struct Counter {
    id: LocalId,
    over: Over,
}

#[derive(Clone)]
enum Over {
    /// Inclusive.
    Consts(i64, i64),
    Len(LocalId, i64),
}

pub(super) struct FuncGen<'p, 'r> {
    pub program: &'p Program,
    pub rng: &'r mut Rng,
    pub config: &'r Config,
    b: FuncBuilder<'p>,
    vars: Vec<Var>,
    pub counters: Vec<Counter>,
    len: Option<LocalId>,
    /// Accumulator of all variables, so that every statement matters to the results.
    digest: LocalId,
    digest_bits: u32,
}

/// An integer expression with the range of its values.
pub(super) type Ranged = (Expr, Range);

impl<'p, 'r> FuncGen<'p, 'r> {
    pub fn new(program: &'p Program, rng: &'r mut Rng, config: &'r Config, name: String) -> FuncGen<'p, 'r> {
        let mut b = FuncBuilder::new(program, name);
        let digest_bits = config.words.iter().copied().max().unwrap_or(64);
        let digest = b.ret("digest", Ty::Word(digest_bits));
        b.assign(Place::local(digest), Expr::word(digest_bits, 0));
        let (vars, counters) = (Vec::new(), Vec::new());
        let mut g = FuncGen { program, rng, config, b, vars, counters, len: None, digest, digest_bits };
        if config.lens && g.rng.one_in(2) {
            let id = g.b.len("n");
            g.len = Some(id);
            // Sometimes a length with a bound, above those that `args` and calls give.
            if g.rng.one_in(3) {
                g.b.func_mut().locals[id.0 as usize].ty = Ty::Int(Some(Range::new(0, 8 + g.rng.below(8))));
            }
        }
        for (at, c) in program.consts.iter().enumerate() {
            let place = Place::constant(ConstId(at as u32));
            g.vars.push(Var { place, ty: c.ty.clone(), writable: false, public: true });
        }
        g
    }

    /// Parameters, body, results.
    pub fn finish(mut self) -> Func {
        for i in 0..1 + self.rng.below(3) {
            let ty = self.ty(true);
            let id = self.b.param(format!("a{i}"), ty.clone());
            self.vars.push(Var { place: Place::local(id), ty, writable: false, public: false });
        }
        if self.rng.one_in(2) {
            let ty = Ty::Int(Some(Range::new(0, self.rng.below(8))));
            let id = self.b.local(LocalKind::Param, "p", ty.clone(), true);
            self.vars.push(Var { place: Place::local(id), ty, writable: false, public: true });
        }
        self.block(self.config.nesting);
        self.absorb_since(0);
        for i in 0..1 + self.rng.below(2) {
            let ty = self.ty(true);
            let id = self.b.ret(format!("r{i}"), ty.clone());
            self.define(id, &ty);
            if let Ty::Int(Some(range)) = &ty {
                let place = Box::new(SpecExpr::Place(Place::local(id)));
                let cond = SpecExpr::Cmp(CmpOp::Le, place, Box::new(SpecExpr::Int(range.hi.to_big())));
                self.b.contract(ContractKind::Ensures, cond, format!("r{i} <= {}", range.hi));
            }
        }
        let f = self.b.func_mut();
        f.inline = *self.rng.pick(&[Inline::Auto, Inline::Always, Inline::Never]);
        f.declassifies = f.inline == Inline::Never && matches!(f.rets[..], [only] if f.local(only).ty.is_scalar());
        self.b.finish()
    }

    /// A random type; lengths of run time only where a value can be built in place (`sized` allows them).
    pub fn ty(&mut self, sized: bool) -> Ty {
        let scalar = self.scalar_ty();
        match self.rng.below(6) {
            0 | 1 => scalar,
            2 | 3 => {
                let len = match self.len {
                    Some(param) if sized && self.rng.one_in(2) => {
                        Len::Param { param, add: self.rng.below(3) as i64 }
                    }
                    _ => Len::Const(1 + self.rng.below(5)),
                };
                self.array_ty(scalar, len)
            }
            4 => Ty::array(Ty::array(scalar, 1 + self.rng.below(3)), 1 + self.rng.below(3)),
            _ if self.program.structs.is_empty() => scalar,
            _ => Ty::Struct(StructId(self.rng.below(self.program.structs.len() as u64) as u32)),
        }
    }

    /// Arrays of integers sometimes have a range per element.
    fn array_ty(&mut self, elem: Ty, len: Len) -> Ty {
        let (Ty::Int(_), Len::Const(n), true) = (&elem, &len, self.rng.one_in(2)) else {
            return Ty::Array { elem: Box::new(elem), len, ranges: None };
        };
        let ranges: Vec<Range> = (0..*n).map(|_| declared_range(self.rng, self.config)).collect();
        let join = ranges.iter().cloned().reduce(|a, b| a.join(&b));
        Ty::Array { elem: Box::new(Ty::Int(join)), len, ranges: Some(ranges) }
    }

    fn scalar_ty(&mut self) -> Ty {
        match self.rng.below(5) {
            0..=1 => Ty::Word(*self.rng.pick(&self.config.words)),
            2..=3 => Ty::Int(Some(declared_range(self.rng, self.config))),
            _ => Ty::Bool,
        }
    }

    fn block(&mut self, nesting: u32) {
        for _ in 0..1 + self.rng.below(self.config.statements) {
            match self.rng.below(10) {
                0 | 1 => self.declare(),
                2..=4 => self.update(),
                5 => self.assert(),
                6 | 7 if nesting > 0 => self.repeat(nesting),
                8 if nesting > 0 => self.branch(nesting),
                _ => self.call(),
            }
        }
    }

    fn declare(&mut self) {
        if self.rng.one_in(4) {
            // A local whose range is inferred: assigned once, from an expression of known range.
            let public = self.rng.one_in(2);
            let (e, range) = self.int(self.config.depth, public);
            let id = self.fresh(LocalKind::Var, Ty::Int(None), public);
            self.b.assign(Place::local(id), e);
            let ty = Ty::Int(Some(range));
            return self.vars.push(Var { place: Place::local(id), ty, writable: false, public });
        }
        let ty = self.ty(true);
        let id = self.fresh(LocalKind::Var, ty.clone(), false);
        self.define(id, &ty);
        self.vars.push(Var { place: Place::local(id), ty, writable: true, public: false });
    }

    /// A new local with a name of its own.
    fn fresh(&mut self, kind: LocalKind, ty: Ty, public: bool) -> LocalId {
        let name = format!("v{}", self.b.func_mut().locals.len());
        self.b.local(kind, name, ty, public)
    }

    /// First assignment of a local: whole, or element by element in a loop.
    fn define(&mut self, id: LocalId, ty: &Ty) {
        let Ty::Array { elem, len, ranges } = ty else {
            let e = self.of(ty, self.config.depth);
            self.b.assign(Place::local(id), e);
            return;
        };
        let by_elements = !matches!(len, Len::Const(_)) || (ranges.is_none() && self.rng.one_in(2));
        if !by_elements {
            let e = self.of(ty, self.config.depth);
            self.b.assign(Place::local(id), e);
            return;
        }
        let counter = self.fresh(LocalKind::Counter, Ty::Int(None), true);
        let (over, hi) = match len {
            Len::Const(n) => (Over::Consts(0, *n as i64 - 1), Expr::int(*n)),
            Len::Param { param, add } => (Over::Len(*param, *add), plus(Expr::int_local(*param), *add)),
        };
        self.counters.push(Counter { id: counter, over });
        let src = self.of(elem, self.config.depth);
        self.counters.pop();
        let body = vec![Stmt::assign(Place::local(id).index(Expr::int_local(counter)), src)];
        self.b.push(Stmt::for_range(counter, Expr::int(0), hi, body));
    }

    fn update(&mut self) {
        let candidates: Vec<Var> = self.vars.iter().filter(|v| v.writable).cloned().collect();
        if candidates.is_empty() {
            return self.declare();
        }
        let var = self.rng.pick(&candidates).clone();
        let target = self.narrow(var);
        let src = self.of(&target.ty, self.config.depth);
        self.b.assign(target.place, src);
    }

    fn assert(&mut self) {
        let (e, range) = self.int(self.config.depth, false);
        let hi = Expr::int(range.hi);
        self.b.push(Stmt::assert(Expr::cmp(CmpOp::Le, e, hi), "within its range"));
    }

    /// Runs `build` on a nested block; what it declares goes out of scope.
    fn nested(&mut self, build: impl FnOnce(&mut Self)) -> Vec<Stmt> {
        let vars = self.vars.len();
        let outer = std::mem::take(&mut self.b.func_mut().body);
        build(self);
        self.absorb_since(vars);
        let body = std::mem::replace(&mut self.b.func_mut().body, outer);
        self.vars.truncate(vars);
        body
    }

    /// Mixes the variables in scope from position `from` on into the digest.
    fn absorb_since(&mut self, from: usize) {
        for at in from..self.vars.len() {
            let var = self.vars[at].clone();
            if matches!(var.place.base, Base::Local(_)) {
                let body = self.nested_absorb(&var.place, &var.ty);
                self.b.func_mut().body.extend(body);
            }
        }
    }

    fn nested_absorb(&mut self, place: &Place, ty: &Ty) -> Vec<Stmt> {
        match ty {
            Ty::Struct(id) => {
                let fields = &self.program.structs[id.0 as usize].fields;
                let each = |(i, (_, t)): (usize, &(String, Ty))| self.nested_absorb(&place.clone().field(i as u32), t);
                fields.iter().enumerate().flat_map(each).collect()
            }
            Ty::Array { elem, len, .. } => {
                let counter = self.fresh(LocalKind::Counter, Ty::Int(None), true);
                let hi = match len {
                    Len::Const(n) => Expr::int(*n),
                    Len::Param { param, add } => plus(Expr::int_local(*param), *add),
                };
                let body = self.nested_absorb(&place.clone().index(Expr::int_local(counter)), elem);
                vec![Stmt::for_range(counter, Expr::int(0), hi, body)]
            }
            Ty::Word(_) | Ty::Int(_) | Ty::Bool => {
                let word = Ty::Word(self.digest_bits);
                let to = Place::local(self.digest);
                let read = Expr::read(place.clone(), ty);
                let read = if *ty == word { read } else { read.cast(word.clone()) };
                let turned = Expr::read(to.clone(), &word).rotl(self.digest_bits / 3);
                vec![Stmt::assign(to, turned + read)]
            }
        }
    }

    fn repeat(&mut self, nesting: u32) {
        let id = self.fresh(LocalKind::Counter, Ty::Int(None), true);
        let (over, lo, hi) = match self.len {
            Some(param) if self.rng.one_in(3) => {
                let add = self.rng.below(2) as i64;
                (Over::Len(param, add), Expr::int(0), plus(Expr::int_local(param), add))
            }
            _ => {
                let lo = self.rng.below(3) as i64;
                let hi = lo + self.rng.below(5) as i64;
                (Over::Consts(lo, (hi - 1).max(lo)), Expr::int(lo), Expr::int(hi))
            }
        };
        self.counters.push(Counter { id, over });
        let body = self.nested(|g| g.block(nesting - 1));
        let ge = Expr::cmp(CmpOp::Ge, Expr::int_local(id), Expr::int(-1));
        self.counters.pop();
        let rev = self.rng.one_in(3);
        let unroll = *self.rng.pick(&[Unroll::Auto, Unroll::Always, Unroll::Never]);
        let invariants = if self.rng.one_in(4) { vec![ge] } else { Vec::new() };
        self.b.push(Stmt::For { var: id, lo, hi, rev, unroll, invariants, body, loc: Loc::default() });
    }

    fn branch(&mut self, nesting: u32) {
        let (a, _) = self.int(1, true);
        let (b, _) = self.int(1, true);
        let cond = Expr::cmp(self.cmp_op(), a, b);
        let then = self.nested(|g| g.block(nesting - 1));
        let els = if self.rng.one_in(2) { self.nested(|g| g.block(nesting - 1)) } else { Vec::new() };
        self.b.push(Stmt::if_else(cond, then, els));
    }

    /// Whether every length of function `at` may be what the own length may be.
    fn takes(&mut self, at: usize, own: LocalId) -> bool {
        let Ty::Int(Some(own)) = self.b.func_mut().local(own).ty.clone() else { return false };
        let callee = &self.program.funcs[at];
        callee.lens.iter().all(|l| matches!(&callee.local(*l).ty, Ty::Int(Some(r)) if r.contains(&own)))
    }

    fn call(&mut self) {
        if self.program.funcs.is_empty() {
            return self.declare();
        }
        let at = self.rng.below(self.program.funcs.len() as u64) as usize;
        // Run-time lengths go on as they are, or a small constant is put in.
        let own = self.len;
        let passed = own.is_some() && self.rng.one_in(2);
        let len = match own.filter(|_| passed) {
            Some(param) if self.takes(at, param) => Len::Param { param, add: 0 },
            _ => Len::Const(self.rng.below(4)),
        };
        let callee = &self.program.funcs[at];
        let lens = callee.lens.iter().map(|_| match &len {
            Len::Const(n) => Expr::int(*n),
            Len::Param { param, .. } => Expr::int_local(*param),
        });
        let lens: Vec<Expr> = lens.collect();
        let mut args = Vec::new();
        for param in &callee.params {
            let local = callee.local(*param);
            let ty = instance(&local.ty, &len);
            let arg = match (&ty, local.public) {
                (Ty::Int(Some(range)), true) => self.within(range, 1, true),
                (Ty::Array { len: Len::Param { .. }, .. }, _) => {
                    // A value of run-time length is built in a local first.
                    let id = self.fresh(LocalKind::Var, ty.clone(), false);
                    self.define(id, &ty);
                    self.b.get(id)
                }
                _ => self.of(&ty, self.config.depth - 1),
            };
            args.push(arg);
        }
        let mut dsts = Vec::new();
        for ret in &callee.rets {
            let ty = instance(&callee.local(*ret).ty, &len);
            let public = callee.declassifies;
            let id = self.fresh(LocalKind::Var, ty.clone(), public);
            dsts.push(Var { place: Place::local(id), ty, writable: !public, public });
        }
        self.b.call(dsts.iter().map(|d| d.place.clone()).collect(), FuncId(at as u32), lens, args);
        self.vars.extend(dsts);
    }

    /// A part of a variable: itself, a field, an element, at some depth.
    fn narrow(&mut self, mut var: Var) -> Var {
        loop {
            if self.rng.one_in(3) {
                return var;
            }
            var = match self.step(&var) {
                Some(next) => next,
                None => return var,
            };
        }
    }

    fn step(&mut self, var: &Var) -> Option<Var> {
        let (writable, public) = (var.writable, var.public);
        match &var.ty {
            Ty::Struct(id) => {
                let fields = &self.program.structs[id.0 as usize].fields;
                let i = self.rng.below(fields.len() as u64) as u32;
                let ty = fields[i as usize].1.clone();
                Some(Var { place: var.place.clone().field(i), ty, writable, public })
            }
            Ty::Array { ranges: Some(ranges), .. } => {
                let i = self.rng.below(ranges.len() as u64);
                let ty = Ty::Int(Some(ranges[i as usize].clone()));
                Some(Var { place: var.place.clone().at(i), ty, writable, public })
            }
            Ty::Array { elem, len, ranges: None } => {
                let index = self.index(len)?;
                let place = var.place.clone().index(index);
                Some(Var { place, ty: (**elem).clone(), writable, public })
            }
            Ty::Word(_) | Ty::Int(_) | Ty::Bool => None,
        }
    }

    /// A public index certainly inside an array of this length; none where there may be no element.
    pub fn index(&mut self, len: &Len) -> Option<Expr> {
        let mut choices: Vec<Expr> = Vec::new();
        for c in &self.counters {
            match (&c.over, len) {
                (Over::Consts(lo, hi), Len::Const(n)) => {
                    for add in -1..=1 {
                        if lo + add >= 0 && hi + add < *n as i64 {
                            choices.push(plus(Expr::int_local(c.id), add));
                        }
                    }
                }
                (Over::Len(p, add), Len::Param { param, add: more }) if p == param && more >= add => {
                    choices.push(plus(Expr::int_local(c.id), more - add));
                }
                _ => {}
            }
        }
        match len {
            Len::Const(n @ 1..) => choices.push(Expr::int(self.rng.below(*n))),
            Len::Param { add: add @ 1.., .. } => choices.push(Expr::int(self.rng.below(*add as u64))),
            Len::Const(0) | Len::Param { .. } => {}
        }
        if choices.is_empty() {
            return None;
        }
        Some(self.rng.pick(&choices).clone())
    }

    /// A read of something in scope that satisfies `want` after narrowing.
    pub fn read(&mut self, public: bool, want: impl Fn(&Ty) -> bool) -> Option<(Expr, Ty)> {
        if self.vars.is_empty() {
            return None;
        }
        for _ in 0..6 {
            let var = self.rng.pick(&self.vars).clone();
            let mut part = var;
            loop {
                if want(&part.ty) && (part.public || !public) {
                    return Some((Expr::read(part.place, &part.ty), part.ty));
                }
                match self.step(&part) {
                    Some(next) => part = next,
                    None => break,
                }
            }
        }
        None
    }
}

impl Counter {
    pub fn consts(&self) -> Option<(LocalId, i64, i64)> {
        match self.over {
            Over::Consts(lo, hi) => Some((self.id, lo, hi)),
            Over::Len(..) => None,
        }
    }
}

/// `e + add`, without adding nothing.
fn plus(e: Expr, add: i64) -> Expr {
    match add {
        0 => e,
        _ => e + Expr::int(add),
    }
}

/// A callee's type where its length is `len`.
fn instance(ty: &Ty, len: &Len) -> Ty {
    match ty {
        Ty::Array { elem, len: Len::Param { add, .. }, .. } => {
            let len = match len {
                Len::Const(n) => Len::Const(n.saturating_add_signed(*add)),
                Len::Param { param, add: more } => Len::Param { param: *param, add: add + more },
            };
            Ty::Array { elem: elem.clone(), len, ranges: None }
        }
        Ty::Array { .. } | Ty::Word(_) | Ty::Int(_) | Ty::Bool | Ty::Struct(_) => ty.clone(),
    }
}
