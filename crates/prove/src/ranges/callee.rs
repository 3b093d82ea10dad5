//! A whole function in one run: its entry and end, and callees seen from their callers.

use crate::itv::Itv;
use santoku_num::Bound;
use super::record::{self, Sites};
use super::run::{Depth, Run, State};
use super::value::{Abs, Sc};
use crate::obligation::Kind;
use santoku_ir::{FuncId, Len, LocalId, LocalKind, Ty};

/// The lengths known at run time in a type: which parameter, and what is added to it.
fn lengths(ty: &Ty) -> Vec<(LocalId, i64)> {
    match ty {
        Ty::Array { elem, len, .. } => {
            let mut all = lengths(elem);
            if let Len::Param { param, add } = len {
                all.push((*param, *add));
            }
            all
        }
        Ty::Word(_) | Ty::Int(_) | Ty::Bool | Ty::Struct(_) => Vec::new(),
    }
}

impl Run<'_> {
    /// Runs the function on any arguments (or the given ones); gives its results.
    pub fn function(&mut self, args: Option<&[Abs]>) -> Vec<Abs> {
        let f = self.f;
        let mut st = self.entry(args);
        let entry = st.locals.clone();
        self.block(&mut st, &f.body);
        self.loc = f.loc;
        self.finish(&mut st, &entry)
    }

    /// Whether the ranges of the parameters and the `requires` exclude each other: the function can never be called.
    pub fn never_entered(&mut self) -> bool {
        self.entry(None).dead
    }

    /// The state at entry, for any arguments or the given ones; dead where the `requires` exclude them.
    fn entry(&mut self, args: Option<&[Abs]>) -> State {
        let f = self.f;
        let locals: Vec<Abs> = f.locals.iter().map(|l| Abs::undefined(self.p, &l.ty)).collect();
        let mut st = State { versions: vec![0; locals.len()], locals, covers: Default::default(), dead: false };
        for (nr, id) in f.lens.iter().chain(&f.params).enumerate() {
            let any = Abs::any(self.p, &f.local(*id).ty);
            let v = args.and_then(|a| a.get(nr)).map_or_else(|| any.clone(), Abs::strip);
            st.locals[id.0 as usize] = self.input_terms(*id, &v);
            self.rec.locals[id.0 as usize] = v;
        }
        // An argument has a length: the caller shows that it is the one named here.
        for (len, add) in f.params.iter().flat_map(|id| lengths(&f.local(*id).ty)) {
            if let Abs::Sc(s) = &st.locals[len.0 as usize] {
                st.locals[len.0 as usize] = Abs::Sc(s.narrowed(&Itv { lo: Bound::from(-i128::from(add)), hi: Bound::PosInf }));
            }
        }
        for id in &f.lens {
            if let Abs::Sc(s) = &st.locals[id.0 as usize] {
                st.locals[id.0 as usize] = Abs::Sc(self.named(&s.clone()));
            }
        }
        self.assume_requires(&mut st);
        if !st.dead {
            self.lengths_exist(&st);
        }
        st
    }

    /// Settles that no array of the function has a negative length.
    fn lengths_exist(&mut self, st: &State) {
        let f = self.f;
        for (nr, l) in f.locals.iter().enumerate().filter(|(_, l)| matches!(l.kind, LocalKind::Ret | LocalKind::Var)) {
            for (param, add) in lengths(&l.ty).into_iter().filter(|(_, add)| *add < 0) {
                let (itv, form) = self.length(st, &Len::Param { param, add });
                let ok = !itv.lo.is_negative() || self.implied(form);
                self.check(
                    self.func_addr(),
                    Kind::Index,
                    1 << 16 | nr as u32,
                    ok,
                    |_| format!("the length of `{}` is not negative", l.name),
                    |_| record::Failure { reason: format!("the length of `{}` is {itv}", l.name), origin: None },
                );
            }
        }
    }

    fn finish(&mut self, st: &mut State, entry: &[Abs]) -> Vec<Abs> {
        let (f, at) = (self.f, self.func_addr());
        for (nr, id) in f.rets.iter().enumerate() {
            let place = santoku_ir::Place::local(*id);
            let ok = st.dead || st.locals[id.0 as usize].defined() || self.covered(st, &place, &[]);
            self.check(
                at,
                Kind::Defined,
                nr as u32,
                ok,
                |s| format!("result `{}` is written", s.local(*id)),
                |s| record::Failure { reason: format!("result `{}` may be left unwritten", s.local(*id)), origin: None },
            );
        }
        if !st.dead {
            self.ensures(st, entry);
        }
        f.rets
            .iter()
            .map(|id| {
                let any = Abs::any(self.p, &f.local(*id).ty);
                let own = &st.locals[id.0 as usize];
                any.zip(own, &mut |any, own| {
                    let met = any.itv().meet(own.itv());
                    Sc::new(if met.is_empty() { any.itv().clone() } else { met })
                })
            })
            .collect()
    }

    /// Results of a callee for the arguments in `frame`: its summary; for small callees and narrow arguments
    /// those of a run of its own, in a relational run of its body in place.
    pub fn summary(&mut self, func: FuncId, frame: &mut Vec<Abs>) -> Vec<Abs> {
        let callee = self.p.func(func);
        let Some(sum) = self.sums.get(func.0 as usize) else {
            return callee.rets.iter().map(|r| Abs::any(self.p, &callee.local(*r).ty)).collect();
        };
        let limits = &self.opts.limits;
        let wanted = sum.undeclared || sum.narrowable && self.narrow;
        if !wanted || sum.steps > limits.small_callee {
            return sum.rets.clone();
        }
        let ids = callee.lens.iter().chain(&callee.params);
        let args: Vec<Abs> = ids.clone().map(|id| frame[id.0 as usize].strip()).collect();
        let usual = ids.zip(&args).all(|(id, a)| a.covers(&Abs::any(self.p, &callee.local(*id).ty)));
        if usual || !args.iter().all(Abs::defined) {
            return sum.rets.clone();
        }
        let sharpen = |rets: Vec<Abs>| -> Vec<Abs> {
            let meet = |a: &Sc, b: &Sc| a.narrowed(b.itv());
            rets.iter().zip(&sum.rets).map(|(a, b)| a.zip(b, &mut |a, b| meet(a, b))).collect()
        };
        let in_place = self.relational() && self.inlined < limits.inlined && sum.steps <= limits.tiny_callee;
        if in_place && self.in_place_steps < limits.in_place_steps {
            self.in_place_steps += sum.steps;
            return self.in_place(func, frame).map_or_else(|| sum.rets.clone(), sharpen);
        }
        if let Some((_, rets)) = sum.special.borrow().iter().find(|(a, _)| *a == args) {
            return rets.clone();
        }
        if sum.special.borrow().len() >= limits.special_cases {
            return sum.rets.clone();
        }
        let sites = Sites::default();
        let mut run = Run::new(self.p, callee, self.opts, Depth::Intervals, self.sums, self.consts, &sites);
        run.mute = 1;
        run.narrow = self.narrow;
        let rets = sharpen(run.function(Some(&args)));
        self.steps += run.steps;
        sum.special.borrow_mut().push((args, rets.clone()));
        rets
    }

    /// Runs a callee's body here, so that linear facts and case splits reach through it. `None`: no result.
    fn in_place(&mut self, func: FuncId, frame: &mut Vec<Abs>) -> Option<Vec<Abs>> {
        let callee = self.p.func(func);
        let (loc, modular) = (self.loc, std::mem::replace(&mut self.modular, false));
        self.inlined += 1;
        let dead = self.in_frame(func, frame, |run, st| {
            run.block(st, &callee.body);
            st.dead
        });
        self.inlined -= 1;
        (self.loc, self.modular) = (loc, modular);
        let rets: Vec<Abs> = callee.rets.iter().map(|id| frame[id.0 as usize].clone()).collect();
        (!dead && rets.iter().all(Abs::defined)).then_some(rets)
    }
}
