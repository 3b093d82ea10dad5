//! The judge of safety: every exact integer in its range, every index in its array, every value written before it is read, every
//! shift below its width, every simple clause of a contract met.
//!
//! It finds nothing. Ranges stand in the program, written there by somebody; a [`Plan`] says which loops are followed round by
//! round and which scalars grow steadily; a [`Search`] gives proofs of linear facts. All of this may be wrong: what does not
//! follow in one step is refused, with its place.
//!
//! Needs: a program that the verifier accepts, its functions in order.  Keeps: if every function of a program is accepted, no
//! execution that meets the `requires` of an exported function breaks an obligation of these kinds.  Absent on purpose: secrecy
//! (the verifier's), clauses with congruences, sums and specification functions, and any search.
//!
//! This crate is trusted: it depends on the core and its numbers alone.
//! Trusted: safe, field, c, bytes, leaks, certifier.

mod cond;
mod expr;
pub mod lin;
mod loops;
mod place;
mod plan;
mod relate;
mod run;
mod same;
mod spec;
mod stmt;
pub mod value;

pub use plan::{Claims, NoSearch, Plan, Refusal, Search, Split, CALLEE_NOT_ACCEPTED};
pub use spec::is_simple;

use santoku_num::{Int, Itv};
use lin::{Atoms, Lin};
use plan::address;
use run::{Res, Run, State};
use santoku_ir::{visit, ContractKind, Func, FuncId, Len, LocalId, LocalKind, Program, Ty};
use std::cell::Cell;
use std::collections::HashMap;
use value::{small, Sc, Val};

/// Most values that are judged one by one.
const MAX_CASES: usize = 4096;

/// A program before the judge, and what is the same for all of its functions.
pub struct Judge<'a> {
    p: &'a Program,
    /// Of each function: ranges are all that was added to the source.
    alike: Vec<bool>,
    /// Integers may be wider than 128 bits where only their low bits are used.
    modular: bool,
    consts: Vec<Option<Val>>,
    /// The statements of every function, numbered in the order of its text, by address.
    numbers: HashMap<usize, usize>,
}

impl<'a> Judge<'a> {
    /// What is judged is `source`, by the ranges that stand in `p`: the same program, or one with ranges added where `source` has none.
    /// `modular`: integers may be wider than 128 bits where only their low bits are used.
    pub fn of(source: &Program, p: &'a Program, modular: bool) -> Judge<'a> {
        Judge { p, alike: same::only_ranges_added(source, p), modular, consts: p.consts.iter().map(|c| Val::of_const(&c.value)).collect(), numbers: numbers(p) }
    }

    pub fn program(&self) -> &'a Program {
        self.p
    }

    /// Judges a function; `claims` are those of the functions before it, as far as they were accepted.
    ///
    /// # Errors
    /// The first obligation that does not follow, with its place.
    pub fn function(&self, func: FuncId, claims: &[Option<Claims>], plan: &Plan, search: &dyn Search) -> Result<Claims, Refusal> {
        let p = self.p;
        let f = p.func(func);
        let refuse = |what: &str| Refusal { func: f.name.clone(), loc: f.loc, statement: None, what: what.into() };
        if !self.alike.get(func.0 as usize).is_some_and(|alike| *alike) {
            return Err(refuse("it differs from the source in more than ranges"));
        }
        let (mut rets, steps, mut asked): (Option<Vec<Val>>, Cell<u64>, u64) = (None, Cell::new(0), 0);
        for case in cases(p, f, plan).ok_or_else(|| refuse("too many cases"))? {
            let mut run = Run {
                p,
                f,
                claims: &claims[..claims.len().min(func.0 as usize)],
                consts: &self.consts,
                plan,
                search,
                numbers: &self.numbers,
                statement: None,
                atoms: Atoms::default(),
                facts: vec![],
                frame: (0, 0),
                clock: 0,
                // All cases share what the plan has.
                steps: steps.clone(),
                trusted: 0,
                clauses: 0,
                asked: Cell::new(0),
                depth: 0,
                modular: false,
                modular_allowed: self.modular,
                loc: f.loc,
            };
            let now = run.function(&case)?;
            steps.set(run.steps.get());
            asked += run.asked.get();
            rets = Some(match rets {
                Some(before) => before.iter().zip(&now).map(|(a, b)| a.join(b)).collect(),
                None => now,
            });
        }
        Ok(Claims { rets: rets.ok_or_else(|| refuse("no case"))?, steps: steps.get(), asked })
    }
}

fn numbers(p: &Program) -> HashMap<usize, usize> {
    let mut all = HashMap::new();
    for f in &p.funcs {
        let mut nr = 0;
        visit::walk_stmts(&f.body, &mut |s| {
            all.insert(address(s), nr);
            nr += 1;
        });
    }
    all
}

/// The length known at run time of an array: whose parameter, and what is added.
fn length_of(ty: &Ty) -> Option<(LocalId, i64)> {
    if let Ty::Array { len: Len::Param { param, add }, .. } = ty { Some((*param, *add)) } else { None }
}

/// With those of its elements.
fn lengths(ty: &Ty) -> Vec<(LocalId, i64)> {
    match ty {
        Ty::Array { elem, .. } => length_of(ty).into_iter().chain(lengths(elem)).collect(),
        Ty::Word(_) | Ty::Int(_) | Ty::Bool | Ty::Struct(_) => vec![],
    }
}

/// All combinations of the values of the parameters that are judged one by one.
fn cases(p: &Program, f: &Func, plan: &Plan) -> Option<Vec<Vec<(LocalId, i128)>>> {
    let mut all: Vec<Vec<(LocalId, i128)>> = vec![vec![]];
    for id in f.lens.iter().chain(&f.params).filter(|id| plan.cases.contains(id)) {
        let Some(Val::Sc(Sc { itv: Some(itv), .. })) = Val::any(p, &f.local(*id).ty) else { return None };
        let (lo, hi) = (small(&Itv::point(itv.lo))?, small(&Itv::point(itv.hi))?);
        let values = usize::try_from(hi.checked_sub(lo)?).ok()?.checked_add(1)?;
        (values.checked_mul(all.len())? <= MAX_CASES).then_some(())?;
        all = all.iter().flat_map(|c| (lo..=hi).map(move |v| c.iter().copied().chain([(*id, v)]).collect())).collect();
    }
    Some(all)
}

impl<'a> Run<'a> {
    /// The results of the function for all inputs of a case.
    fn function(&mut self, case: &[(LocalId, i128)]) -> Res<Vec<Val>> {
        let f = self.f;
        let locals = f.locals.iter().map(|l| Val::unwritten(self.p, &l.ty)).collect();
        let mut st = State { versions: vec![0; f.locals.len()], locals, covers: Default::default(), dead: false };
        for id in f.lens.iter().chain(&f.params) {
            st.locals[id.0 as usize] = self.any(&f.local(*id).ty)?;
        }
        for (id, v) in case {
            st.locals[id.0 as usize] = Val::Sc(Sc::new(Itv::point(*v)));
        }
        self.lengths_of_arguments(&mut st)?;
        for c in f.contracts.iter().filter(|c| c.kind == ContractKind::Requires && is_simple(&c.cond)) {
            self.trusting(|run| run.assume_clause(&mut st, &c.cond))?;
        }
        if !st.dead {
            self.lengths_of_locals(&st)?;
        }
        let entry = st.locals.clone();
        self.block(&mut st, &f.body)?;
        (self.loc, self.statement) = (f.loc, None);
        if st.dead {
            return f.rets.iter().map(|id| self.any(&f.local(*id).ty)).collect();
        }
        self.end(&mut st, &entry)
    }

    /// An argument has a length, so what is named as its length is not negative.
    fn lengths_of_arguments(&mut self, st: &mut State) -> Res<()> {
        let f = self.f;
        // An inner array may not be there at all.
        for (len, add) in f.params.iter().filter_map(|id| length_of(&f.local(*id).ty)) {
            let Val::Sc(s) = &st.locals[len.0 as usize] else { continue };
            let itv = self.itv(s)?;
            let least = Int::from(add).neg().max(itv.lo.clone());
            match Itv::between(least, itv.hi) {
                Some(itv) => st.locals[len.0 as usize] = Val::Sc(Sc::new(itv)),
                None => st.dead = true,
            }
        }
        for id in f.lens.iter().filter(|_| self.plan.forms) {
            if let Val::Sc(Sc { itv: Some(itv), .. }) = &st.locals[id.0 as usize] {
                let form = itv.single().is_none().then(|| Lin::atom(self.atoms.fresh(itv.clone())));
                st.locals[id.0 as usize] = Val::Sc(Sc::with_form(itv.clone(), form));
            }
        }
        Ok(())
    }

    fn lengths_of_locals(&self, st: &State) -> Res<()> {
        for l in self.f.locals.iter().filter(|l| matches!(l.kind, LocalKind::Ret | LocalKind::Var)) {
            for (param, add) in lengths(&l.ty) {
                let len = self.length(st, &Len::Param { param, add })?;
                self.must(self.is_length(&len), || format!("the length of `{}` may be none", l.name))?;
            }
        }
        Ok(())
    }

    /// Results are written and as the simple `ensures` say; parameters mean their values at entry.
    fn end(&mut self, st: &mut State, entry: &[Val]) -> Res<Vec<Val>> {
        let f = self.f;
        let mut rets = Vec::new();
        for id in &f.rets {
            let own = st.locals[id.0 as usize].clone();
            let written = own.defined() || self.covered(st, *id, &[]);
            self.must(written, || format!("result `{}` may be left unwritten", f.local(*id).name))?;
            let any = self.any(&f.local(*id).ty)?;
            let inside = own.zip(&any, &mut |a, any| {
                let met = a.itv.as_ref().zip(any.itv.as_ref()).and_then(|(a, b)| a.common(b));
                met.map_or_else(|| any.clone(), Sc::new)
            });
            rets.push(self.known(inside, "a result of another shape")?);
        }
        for id in f.lens.iter().chain(&f.params) {
            if visit::written_locals(&f.body).contains(id) {
                st.locals[id.0 as usize] = entry[id.0 as usize].clone();
                self.touch(st, *id);
            }
        }
        for c in f.contracts.iter().filter(|c| c.kind == ContractKind::Ensures && is_simple(&c.cond)) {
            self.loc = c.loc;
            let held = self.clause(st, &c.cond)?;
            self.must(held == Some(true), || format!("ensures {}", c.text))?;
        }
        Ok(rets)
    }
}
