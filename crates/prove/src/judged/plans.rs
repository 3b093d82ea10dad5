//! Guesses how a function can be judged: cheap plans first, then cases at the statement where the judge stops.
//! Trusted: nothing: a wrong plan is refused.

use super::search::Elimination;
use santoku_ir::interp::Int;
use santoku_ir::{visit, Base, BinOp, ExprKind, Func, FuncId, Len, LocalId, Place, Program, Proj, Stmt, Ty};
use santoku_judge::{Claims, Judge, NoSearch, Plan, Refusal, Split, CALLEE_NOT_ACCEPTED};
use std::collections::BTreeSet;

/// Callees of so many steps are run for the arguments at hand, so deep.
const CALLEE: u64 = 20_000;
const DEPTH: u32 = 3;
/// Rounds of a loop that are followed one by one first.
const LONG: u32 = 4096;
/// Values of a parameter that are judged one by one; parts that a stored integer is told apart in; elements looked at.
const FEW_VALUES: u32 = 64;
const FEW_PARTS: usize = 4;
const ELEMENTS: u64 = 64;
/// Statements at which cases are told apart, and cases tried in all.
const SPLITS: usize = 32;
const TRIES: usize = 1000;
/// Statements back from where the judge stops.
const BACK: usize = 512;
/// Steps of one such try.
const STEPS: u64 = 200_000;

/// Asks the judge about one program.
pub struct Planner<'a> {
    judge: Judge<'a>,
    /// The plan with linear forms: what grows steadily is found once for the whole program.
    forms: Plan,
}

impl<'a> Planner<'a> {
    pub fn of(source: &Program, p: &'a Program, modular: bool) -> Planner<'a> {
        let mut forms = Plan { forms: true, ..Plan::default() };
        for f in &p.funcs {
            steady(f, &mut forms);
        }
        Planner { judge: Judge::of(source, p, modular), forms }
    }

    /// The first plan by which the function is accepted from what is known of its callees, and what callers may use of it.
    pub fn by_itself(&self, id: FuncId, claims: &[Option<Claims>]) -> Result<Claims, Refusal> {
        let f = self.program().func(id);
        let one_by_one = one_by_one(f, Plan::default());
        // A round of a long loop is to stand for all before all are followed.
        let long = long_loops(f);
        let summarised = (!long.is_empty()).then(|| Plan { summarised: long, ..self.forms.clone() });
        let forms = std::iter::once_with(|| self.forms.clone());
        self.first(summarised.into_iter().chain([Plan::default()]).chain(one_by_one).chain(forms), id, claims)
    }

    /// The same with callees run for the arguments at hand, then with cases told apart where the judge stops. `more`: more is known
    /// of callees than before.
    pub fn with_callees(&self, id: FuncId, more: bool, claims: &[Option<Claims>]) -> Result<Claims, Refusal> {
        let both = || Plan { callee: CALLEE, depth: DEPTH, ..self.forms.clone() };
        let ask = |plan: &Plan| self.ask(id, claims, plan);
        let by_cases = || [narrow(), both()].into_iter().find_map(|plan| with_cases(self.program(), id, plan, &ask));
        let again = more.then(|| [Plan::default(), self.forms.clone()]).into_iter().flatten();
        let one_by_one = one_by_one(self.program().func(id), narrow());
        let refused = |e: Refusal| match e.what == CALLEE_NOT_ACCEPTED {
            // No case of this function makes the callee another.
            true => Err(e),
            false => by_cases().ok_or(e),
        };
        self.first(again.chain([narrow()]).chain(one_by_one).chain([both()]), id, claims).or_else(refused)
    }

    fn first(&self, plans: impl IntoIterator<Item = Plan>, id: FuncId, claims: &[Option<Claims>]) -> Result<Claims, Refusal> {
        let mut last = None;
        for plan in plans {
            match self.ask(id, claims, &plan) {
                Ok(claims) => return Ok(claims),
                Err(e) => last = Some(e),
            }
        }
        Err(last.expect("there are plans"))
    }

    /// What a closer look at a function finds: by what is now known of its callees, if that is more than it was, else by
    /// running them for the arguments at hand.
    pub fn closer(&self, id: FuncId, more_below: bool, claims: &[Option<Claims>]) -> Option<Claims> {
        let plan = if more_below { Plan::default() } else { narrow() };
        self.ask(id, claims, &plan).ok()
    }

    pub fn program(&self) -> &'a Program {
        self.judge.program()
    }

    fn ask(&self, id: FuncId, claims: &[Option<Claims>], plan: &Plan) -> Result<Claims, Refusal> {
        self.judge.function(id, claims, plan, if plan.forms { &Elimination } else { &NoSearch })
    }
}

/// The plan for every value of the public parameters of few values, where there are any.
fn one_by_one(f: &Func, plan: Plan) -> Option<Plan> {
    let few = |id: &LocalId| f.local(*id).public && matches!(&f.local(*id).ty, Ty::Int(Some(r)) if r.hi.sub(&r.lo) < FEW_VALUES.into());
    let cases: BTreeSet<LocalId> = f.lens.iter().chain(&f.params).copied().filter(few).collect();
    (!cases.is_empty()).then(|| Plan { cases, ..plan })
}

fn narrow() -> Plan {
    Plan { callee: CALLEE, depth: DEPTH, ..Plan::default() }
}

/// Loops of more rounds than are worth following.
fn long_loops(f: &Func) -> BTreeSet<(String, usize)> {
    let (mut nr, mut out) = (0, BTreeSet::new());
    visit::walk_stmts(&f.body, &mut |s| {
        if let Stmt::For { lo, hi, .. } = s {
            let rounds = hi.as_const().zip(lo.as_const()).map(|(hi, lo)| hi - lo);
            if rounds.is_none_or(|n| n > LONG.into()) {
                out.insert((f.name.clone(), nr));
            }
        }
        nr += 1;
    });
    out
}

/// Statements `x = x + c` in the bodies of loops.
fn steady(f: &Func, plan: &mut Plan) {
    let mut nr = 0;
    visit::walk_stmts(&f.body, &mut |s| {
        if let Stmt::For { body, .. } = s {
            plan.steady.insert((f.name.clone(), nr), body.iter().filter_map(growth).collect());
        }
        nr += 1;
    });
}

fn growth(s: &Stmt) -> Option<(LocalId, Int)> {
    let Stmt::Assign { dst, src, .. } = s else { return None };
    let (Base::Local(l), Ty::Int(_)) = (dst.base, &src.ty) else { return None };
    let ExprKind::Bin(op @ (BinOp::Add | BinOp::Sub), a, b) = &src.kind else { return None };
    let k = Int::from(b.as_const()?);
    (dst.projs.is_empty() && a.as_read() == Some(dst)).then(|| (l, if *op == BinOp::Add { k } else { k.neg() }))
}

/// The plan with cases told apart where the judge stops or before, as long as that takes it further.
fn with_cases(p: &Program, id: FuncId, mut plan: Plan, ask: &dyn Fn(&Plan) -> Result<Claims, Refusal>) -> Option<Claims> {
    let f = p.func(id);
    plan.steps = STEPS;
    let mut last = match ask(&plan) {
        Ok(claims) => return Some(claims),
        Err(e) => e,
    };
    let mut tries = 0;
    for _ in 0..SPLITS {
        let at = last.statement.filter(|_| last.func == f.name)?;
        let mut further = None;
        for (from, split) in candidates(p, f, at) {
            tries += 1;
            if tries > TRIES {
                return None;
            }
            let key = (f.name.clone(), from);
            let before = plan.splits.insert(key.clone(), split);
            match ask(&plan) {
                Ok(claims) => return Some(claims),
                Err(e) if e.statement > last.statement => {
                    further = Some(e);
                    break;
                }
                Err(_) => {
                    plan.splits.remove(&key);
                    plan.splits.extend(before.map(|s| (key, s)));
                }
            }
        }
        last = further?;
    }
    None
}

/// Stored integers of which few quotients by a power of two are possible, with the statement before which they are told apart: the
/// one given or one that comes before it, nearest first.
fn candidates(p: &Program, f: &Func, nr: usize) -> Vec<(usize, Split)> {
    let mut out = vec![];
    for (block, first, at) in around(&f.body, 0, nr) {
        let mut number = first + block[..at].iter().map(size).sum::<usize>();
        for (back, s) in block[..=at].iter().rev().take(BACK).enumerate() {
            number -= if back > 0 { size(s) } else { 0 };
            let mut here = vec![];
            for k in shifts(p, std::slice::from_ref(s)) {
                visit::walk_exprs(std::slice::from_ref(s), &mut |e| {
                    let ExprKind::Read(Place { base: Base::Local(local), projs }) = &e.kind else { return };
                    let few = Few { local: *local, k, statements: back + 1 };
                    for mut path in paths(&f.local(*local).ty, projs) {
                        few.parts(&e.ty, &mut path, &mut here);
                    }
                });
            }
            out.extend(here.into_iter().map(|split| (number, split)));
        }
    }
    out
}

/// The blocks around a statement, inner ones first: with the number of their first statement, and which of theirs it is or holds it.
fn around(body: &[Stmt], first: usize, nr: usize) -> Vec<(&[Stmt], usize, usize)> {
    let mut start = first;
    for (at, s) in body.iter().enumerate() {
        let end = start + size(s);
        if nr < end {
            let mut inner = start + 1;
            let mut out = vec![];
            for block in visit::blocks(s) {
                let after = inner + block.iter().map(size).sum::<usize>();
                if (inner..after).contains(&nr) {
                    out = around(block, inner, nr);
                }
                inner = after;
            }
            out.push((body, first, at));
            return out;
        }
        start = end;
    }
    vec![]
}

/// Numbers that a statement takes up.
fn size(s: &Stmt) -> usize {
    let mut n = 0;
    visit::walk_stmts(std::slice::from_ref(s), &mut |_| n += 1);
    n
}

/// Constants that a statement, or what it calls, shifts integers by.
fn shifts(p: &Program, body: &[Stmt]) -> BTreeSet<u32> {
    let (mut out, mut seen, mut todo) = (BTreeSet::new(), BTreeSet::new(), vec![body]);
    while let Some(body) = todo.pop() {
        visit::walk_exprs(body, &mut |e| {
            if let (ExprKind::Bin(BinOp::Shr, _, k), Ty::Int(_)) = (&e.kind, &e.ty) {
                out.extend(k.as_const().and_then(|k| u32::try_from(k).ok()).filter(|k| *k < 1024));
            }
        });
        visit::walk_stmts(body, &mut |s| {
            if let Stmt::Call { func, .. } = s {
                if seen.insert(*func) {
                    todo.push(&p.func(*func).body);
                }
            }
        });
    }
    out
}

/// The elements of a local that an occurrence may mean; of structures and slices, none.
fn paths(ty: &Ty, projs: &[Proj]) -> Vec<Vec<usize>> {
    let (mut ty, mut out) = (ty, vec![vec![]]);
    for proj in projs {
        let (Proj::Index(i), Ty::Array { elem, len: Len::Const(n), .. }) = (proj, ty) else { return vec![] };
        let at = i.as_const().and_then(|i| u64::try_from(i).ok());
        let all = at.map_or(0..*n.min(&ELEMENTS), |i| i..i + 1);
        out = out.iter().flat_map(|p| all.clone().map(move |i| p.iter().copied().chain([i as usize]).collect())).take(ELEMENTS as usize).collect();
        ty = elem;
    }
    out
}

/// An integer to be told apart by its quotient by `2^k`.
struct Few {
    local: LocalId,
    k: u32,
    statements: usize,
}

impl Few {
    /// All integers of this type, below that path, of which few quotients are possible.
    fn parts(&self, ty: &Ty, path: &mut Vec<usize>, out: &mut Vec<Split>) {
        match ty {
            _ if out.len() > TRIES => {}
            Ty::Int(Some(r)) => {
                let quotients = r.shr(self.k);
                let cuts: Vec<Int> = (1..=FEW_PARTS).map(|i| quotients.lo.add(&(i as u64).into())).take_while(|q| *q <= quotients.hi).map(|q| q.shl(self.k)).collect();
                let new = Split { local: self.local, path: path.clone(), cuts, statements: self.statements };
                if (1..FEW_PARTS).contains(&new.cuts.len()) && !out.contains(&new) {
                    out.push(new);
                }
            }
            Ty::Array { elem, len: Len::Const(n), ranges } if *n <= ELEMENTS => {
                for i in 0..*n as usize {
                    let own = ranges.as_ref().and_then(|r| r.get(i)).map(|r| Ty::Int(Some(r.clone())));
                    path.push(i);
                    self.parts(own.as_ref().unwrap_or(elem), path, out);
                    path.pop();
                }
            }
            _ => {}
        }
    }
}
