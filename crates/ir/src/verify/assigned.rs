//! Definite assignment: nothing is read before it is written.
//!
//! A forward walk keeps, per variable and result, the parts certainly assigned, and the places with symbolic
//! indices assigned in the current iteration (`t[i]`). After a loop, `t[i + c]` (or the slice `t[m*i + c; m]`)
//! assigned in every iteration becomes the range of elements it covered. Locals without arrays are decided;
//! what stays open about an array is for the prover ([`super::Undecided`]).

use super::check::{affine, FuncCheck};
use super::found::Undecided;
use crate::data::*;
use crate::ty::{Len, LocalId, Ty};
use crate::visit;
use num_bigint::BigInt;
use num_traits::{One, ToPrimitive};
use std::collections::BTreeSet;

/// Longest array whose elements are tracked one by one.
const TRACKED: u64 = 4096;

/// What is certainly assigned of one value.
#[derive(Clone, Debug, PartialEq)]
enum Def {
    Nothing,
    All,
    /// Fields of a struct or elements of an array, not all `Nothing` and not all `All`.
    Parts(Vec<Def>),
}

#[derive(Clone)]
struct State {
    defs: Vec<Def>,
    /// Assigned places whose indices read only lengths, parameters and counters in scope.
    symbolic: BTreeSet<Place>,
}

/// A loop being left.
struct Loop<'s> {
    var: LocalId,
    lo: &'s Expr,
    hi: &'s Expr,
}

impl FuncCheck<'_> {
    pub(super) fn assignments(&mut self) {
        let start = |l: &Local| match l.kind {
            LocalKind::Len | LocalKind::Param => Def::All,
            LocalKind::Ret | LocalKind::Var | LocalKind::Counter => initial(self.program, &l.ty),
        };
        let defs = self.func.locals.iter().map(start).collect();
        self.written = visit::written_locals(&self.func.body);
        let mut state = State { defs, symbolic: BTreeSet::new() };
        let func = self.func;
        self.flow(&func.body, &mut state);
        self.loc = func.loc;
        for ret in &func.rets {
            self.demand(&Place::local(*ret), &state, "returned");
        }
    }

    fn flow(&mut self, body: &[Stmt], state: &mut State) {
        for stmt in body {
            self.loc = stmt.loc();
            match stmt {
                Stmt::For { var, lo, hi, invariants, body, .. } => {
                    self.reads(lo, state);
                    self.reads(hi, state);
                    self.repeat(&Loop { var: *var, lo, hi }, invariants, body, state);
                }
                Stmt::If { cond, then, els, .. } => {
                    self.reads(cond, state);
                    let mut other = state.clone();
                    self.flow(then, state);
                    self.flow(els, &mut other);
                    state.meet(&other);
                }
                Stmt::Ghost { .. } => {}
                Stmt::Assign { .. } | Stmt::Call { .. } | Stmt::Assert { .. } => {
                    visit::stmt_exprs(stmt, &mut |e| self.reads(e, state));
                    visit::destinations(stmt).iter().for_each(|d| self.assign(d, state));
                }
            }
        }
    }

    fn repeat(&mut self, at: &Loop<'_>, invariants: &[Expr], body: &[Stmt], state: &mut State) {
        let counter = at.var.0 as usize;
        if state.defs[counter] == Def::All {
            let name = self.name(at.var);
            return self.error("counter", format!("{name} counts two loops, one inside the other"));
        }
        let mut inside = state.clone();
        inside.defs[counter] = Def::All;
        invariants.iter().for_each(|e| self.reads(e, &inside));
        self.flow(body, &mut inside);
        inside.defs[counter] = Def::Nothing;
        let local = |e: &Expr| visit::expr_locals(e).contains(&at.var);
        let mentions = |p: &Place| {
            let mut found = false;
            visit::place_exprs(p, &mut |e| found |= local(e));
            found
        };
        let (each, rest): (BTreeSet<Place>, BTreeSet<Place>) =
            std::mem::take(&mut inside.symbolic).into_iter().partition(|p| mentions(p));
        inside.symbolic = rest;
        if let (Some(lo), Some(hi)) = (at.lo.as_const(), at.hi.as_const()) {
            if lo < hi {
                *state = inside;
            }
        }
        for place in each {
            if let Some(covered) = self.covered(at, &place) {
                self.assign(&covered, state);
            }
        }
    }

    /// What all iterations together assign when each assigns `place`.
    fn covered(&self, at: &Loop<'_>, place: &Place) -> Option<Place> {
        let (last, prefix) = place.projs.split_last()?;
        let local = |e: &Expr| visit::expr_locals(e).contains(&at.var);
        let steady = |p: &Proj| match p {
            Proj::Index(e) | Proj::Slice { off: e, .. } => !local(e),
            Proj::Field(_) => true,
        };
        if !prefix.iter().all(steady) {
            return None;
        }
        let whole = Place { base: place.base, projs: prefix.to_vec() };
        let (index, step) = match last {
            Proj::Index(e) => (e, 1),
            Proj::Slice { off, len } => (off, *len),
            Proj::Field(_) => return None,
        };
        let offset = strided(index, at.var, step)?;
        let Ty::Array { len, .. } = self.scope.place_ty(&whole)? else { return None };
        if let (Some(lo), Some(hi)) = (at.lo.as_const(), at.hi.as_const()) {
            let from = lo * step + offset;
            let count = ((hi - lo) * step).to_u64()?;
            return Some(match len {
                Len::Const(n) if from == BigInt::ZERO && count == n => whole,
                _ => whole.slice(Expr::int(from), count),
            });
        }
        let Len::Param { param, add } = len else { return None };
        let all = step == 1 && offset == BigInt::ZERO && at.lo.as_const() == Some(&BigInt::ZERO);
        (all && affine(at.hi) == Some((Some(param), add))).then_some(whole)
    }

    fn assign(&self, place: &Place, state: &mut State) {
        let Base::Local(id) = place.base else { return };
        let ty = &self.func.local(id).ty;
        if mark(self, &mut state.defs[id.0 as usize], ty, &place.projs) {
            return;
        }
        let fixed = |id: LocalId| matches!(self.kind(id), Some(LocalKind::Len | LocalKind::Param | LocalKind::Counter));
        let mut steady = true;
        visit::place_exprs(place, &mut |e| steady &= visit::expr_locals(e).into_iter().all(fixed));
        if steady {
            state.symbolic.insert(place.clone());
        }
    }

    fn reads(&mut self, e: &Expr, state: &State) {
        visit::walk_expr(e, &mut |e| {
            if let ExprKind::Read(place) = &e.kind {
                self.demand(place, state, "read");
            }
        });
    }

    fn demand(&mut self, place: &Place, state: &State, what: &str) {
        let Base::Local(id) = place.base else { return };
        if defined(&state.defs[id.0 as usize], &place.projs) || state.holds(place) {
            return;
        }
        let local = self.func.local(id);
        if local.kind == LocalKind::Counter {
            return self.error("counter", format!("{} is read outside its loop", local.name));
        }
        // An array may have been written at indices this walk does not follow, unless nothing ever writes it.
        let open = self.holds_array(&local.ty) && self.written.contains(&id);
        if open {
            let func = FuncId(self.at as u32);
            self.undecided.push(Undecided { func, local: id, loc: self.loc });
        } else {
            self.error("unassigned", format!("{} is {what} before it is assigned", local.name));
        }
    }

    fn holds_array(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Array { .. } => true,
            Ty::Struct(id) => self.program.structs[id.0 as usize].fields.iter().any(|(_, t)| self.holds_array(t)),
            Ty::Word(_) | Ty::Int(_) | Ty::Bool => false,
        }
    }
}

impl State {
    /// What both hold.
    fn meet(&mut self, other: &State) {
        for (a, b) in self.defs.iter_mut().zip(&other.defs) {
            meet(a, b);
        }
        self.symbolic.retain(|p| other.holds(p));
    }

    /// A symbolic place that contains `place` was assigned.
    fn holds(&self, place: &Place) -> bool {
        (0..=place.projs.len()).any(|n| {
            let prefix = Place { base: place.base, projs: place.projs[..n].to_vec() };
            self.symbolic.contains(&prefix)
        })
    }
}

fn meet(a: &mut Def, b: &Def) {
    match (&mut *a, b) {
        (Def::Nothing, _) | (_, Def::All) => {}
        (Def::All, _) => *a = b.clone(),
        (_, Def::Nothing) => *a = Def::Nothing,
        (Def::Parts(xs), Def::Parts(ys)) => xs.iter_mut().zip(ys).for_each(|(x, y)| meet(x, y)),
    }
}

/// Before any assignment: what holds no scalar at all is assigned from the start.
fn initial(program: &Program, ty: &Ty) -> Def {
    let empty = match ty {
        Ty::Array { elem, len, .. } => *len == Len::Const(0) || initial(program, elem) == Def::All,
        Ty::Struct(id) => program.structs[id.0 as usize].fields.iter().all(|(_, t)| initial(program, t) == Def::All),
        Ty::Word(_) | Ty::Int(_) | Ty::Bool => false,
    };
    if empty {
        Def::All
    } else {
        Def::Nothing
    }
}

/// `index` as `step * var + c`; gives `c`.
fn strided(index: &Expr, var: LocalId, step: u64) -> Option<BigInt> {
    let is_var = |e: &Expr| e.as_read() == Some(&Place::local(var));
    let is_step = |e: &Expr| e.as_const().is_some_and(|v| *v == BigInt::from(step));
    match &index.kind {
        ExprKind::Read(_) if step == 1 && is_var(index) => Some(BigInt::ZERO),
        ExprKind::Bin(BinOp::Mul, a, b) if (is_var(a) && is_step(b)) || (is_step(a) && is_var(b)) => Some(BigInt::ZERO),
        ExprKind::Bin(BinOp::Shl, a, b) if is_var(a) => {
            let power = b.as_const()?.to_u32().filter(|k| *k < 64)?;
            (BigInt::one() << power == BigInt::from(step)).then_some(BigInt::ZERO)
        }
        ExprKind::Bin(BinOp::Add, a, b) => match (a.as_const(), b.as_const()) {
            (_, Some(c)) => Some(strided(a, var, step)? + c),
            (Some(c), _) => Some(strided(b, var, step)? + c),
            _ => None,
        },
        ExprKind::Bin(BinOp::Sub, a, b) => Some(strided(a, var, step)? - b.as_const()?),
        _ => None,
    }
}

fn const_at(e: &Expr) -> Option<usize> {
    e.as_const()?.to_usize()
}

/// Marks the part `projs` select as assigned; false when the part is not tracked.
fn mark(check: &FuncCheck<'_>, def: &mut Def, ty: &Ty, projs: &[Proj]) -> bool {
    if *def == Def::All {
        return true;
    }
    let Some((first, rest)) = projs.split_first() else {
        *def = Def::All;
        return true;
    };
    let count = match ty {
        Ty::Struct(id) => check.program.structs[id.0 as usize].fields.len(),
        Ty::Array { len: Len::Const(n), .. } if *n <= TRACKED => *n as usize,
        Ty::Array { .. } | Ty::Word(_) | Ty::Int(_) | Ty::Bool => return false,
    };
    let selected = match first {
        Proj::Field(i) => *i as usize..*i as usize + 1,
        Proj::Index(e) => match const_at(e) {
            Some(i) => i..i + 1,
            None => return false,
        },
        Proj::Slice { off, len } => match (const_at(off), usize::try_from(*len)) {
            (Some(o), Ok(n)) if rest.is_empty() => o..o.saturating_add(n),
            _ => return false,
        },
    };
    if selected.end > count {
        return false;
    }
    let part_ty = |i: usize| match ty {
        Ty::Struct(id) => &check.program.structs[id.0 as usize].fields[i].1,
        Ty::Array { elem, .. } => elem,
        Ty::Word(_) | Ty::Int(_) | Ty::Bool => ty,
    };
    if *def == Def::Nothing {
        *def = Def::Parts((0..count).map(|i| initial(check.program, part_ty(i))).collect());
    }
    let Def::Parts(parts) = def else { return true };
    let mut marked = true;
    for (i, part) in parts.iter_mut().enumerate().take(selected.end).skip(selected.start) {
        marked &= mark(check, part, part_ty(i), rest);
    }
    if parts.iter().all(|p| *p == Def::All) {
        *def = Def::All;
    }
    marked
}

/// Whether everything `projs` may select is assigned.
fn defined(def: &Def, projs: &[Proj]) -> bool {
    let parts = match def {
        Def::All => return true,
        Def::Nothing => return false,
        Def::Parts(parts) => parts,
    };
    match projs.split_first() {
        None => false,
        Some((Proj::Field(i), rest)) => parts.get(*i as usize).is_some_and(|p| defined(p, rest)),
        Some((Proj::Index(e), rest)) => match const_at(e) {
            Some(i) => parts.get(i).is_some_and(|p| defined(p, rest)),
            None => parts.iter().all(|p| defined(p, rest)),
        },
        Some((Proj::Slice { off, len }, rest)) => {
            let all = match (const_at(off), usize::try_from(*len)) {
                (Some(o), Ok(n)) => parts.get(o..o.saturating_add(n)).unwrap_or(parts),
                _ => parts,
            };
            // Positions inside a slice are not followed: an index after it may select any element.
            let after = if matches!(rest.first(), Some(Proj::Index(_))) { &rest[1..] } else { &[] };
            all.iter().all(|p| defined(p, after))
        }
    }
}
