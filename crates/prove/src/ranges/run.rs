//! One abstract run over one function: its state, its notes, and how obligations are settled on the way.

use crate::obligation::{Kind, Origin};
use crate::smt::Slice;
use super::cases::Splits;
use super::found::{Options, Summary};
use crate::itv::Itv;
use super::lin::{Atoms, Lin};
use santoku_num::Int;
use super::record::{addr, Failure, Record, Sites};
use super::show::Show;
use super::value::{Abs, Cond, Fact, Sc};
use santoku_ir::{Expr, ExprKind, Func, Loc, LocalId, Program, Ty};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

/// How hard a run thinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// Intervals alone.
    Intervals,
    /// Also linear forms and facts.
    Relational,
}

/// Per summarised array, the element ranges `[start, end)` that certainly were written.
pub type Covers = BTreeMap<LocalId, Vec<(Lin, Lin)>>;

/// Values of all locals at one point; `dead` when no input gets here.
#[derive(Clone, Debug)]
pub struct State {
    pub locals: Vec<Abs>,
    /// Counts writes, so that facts about older values are told apart.
    pub versions: Vec<u32>,
    pub covers: Covers,
    pub dead: bool,
}

fn same(a: &Abs, b: &Abs) -> bool {
    match (a, b) {
        (Abs::Arr(a), Abs::Arr(b)) | (Abs::Struct(a), Abs::Struct(b)) => Rc::ptr_eq(a, b),
        (Abs::Sum(a), Abs::Sum(b)) => Rc::ptr_eq(a, b),
        _ => false,
    }
}

/// How often statements were executed in the same rounds of the unrolled loops around them, and how often a query there had
/// hypotheses that contradict each other, so that it proved nothing.
#[derive(Clone, Debug, Default)]
pub struct Visits {
    at: Visit,
    /// Whether the current visit counts already.
    counted: bool,
    all: BTreeMap<Visit, [u32; 2]>,
}

/// A statement by address, and the rounds it is executed in: loop by address, counter.
pub type Visit = (usize, Vec<(usize, i128)>);

impl Visits {
    fn start(&mut self, at: Visit) {
        self.all.entry(at.clone()).or_default()[0] += 1;
        (self.at, self.counted) = (at, false);
    }
    /// What follows is between statements: a contradiction there is not theirs.
    pub fn leave(&mut self) {
        (self.at, self.counted) = (Visit::default(), false);
    }
    pub fn contradiction(&mut self) {
        if !std::mem::replace(&mut self.counted, true) {
            self.all.entry(self.at.clone()).or_default()[1] += 1;
        }
    }
    /// Where every visit, in whatever case of a split, met a contradiction: no input gets there, or the prover is wrong.
    pub fn contradicted(&self) -> impl Iterator<Item = &Visit> {
        self.all.iter().filter(|(_, [all, bad])| *bad > 0 && bad >= all).map(|(v, _)| v)
    }
}

/// One run.
pub struct Run<'a> {
    pub p: &'a Program,
    pub f: &'a Func,
    pub opts: &'a Options,
    pub depth: Depth,
    pub sums: &'a [Summary],
    pub consts: &'a [Abs],
    pub sites: &'a Sites,
    pub rec: Record,
    /// Above zero nothing is noted down; failures are still counted.
    pub mute: u32,
    pub fails: u64,
    /// Abstract steps done, and how many may be.
    pub steps: u64,
    pub budget: u64,
    pub atoms: Atoms,
    /// Atoms of elements read at an index known as a form only: frame, local, version, indices.
    pub names: HashMap<(u32, LocalId, u32, Vec<Lin>), u32>,
    /// Number of the activation whose locals are in scope, and of activations so far.
    pub frame: (u32, u32),
    /// Forms known to be `>= 0` on the current path.
    pub facts: Vec<Lin>,
    pub splits: Splits,
    /// Statement being executed, for messages.
    pub loc: Loc,
    /// Nested selections being refined.
    pub selects: u32,
    /// Whether the value being computed is reduced mod a power of two right after.
    pub modular: bool,
    /// What scalars were computed from, for the solver; only in a run of the last engine.
    pub slice: Option<Slice>,
    /// Whether callees with declared results are run again for narrower arguments too.
    pub narrow: bool,
    /// Steps spent on callees in place.
    pub in_place_steps: u64,
    /// Expressions of clauses evaluated.
    pub clause_steps: u64,
    /// Callees being run in place.
    pub inlined: u32,
    /// Next version number of any local.
    pub clock: u32,
    /// Statements executed, by address.
    pub visited: HashSet<usize>,
    /// Visits of statements, in runs with a solver.
    pub visits: Visits,
}

impl<'a> Run<'a> {
    pub fn new(p: &'a Program, f: &'a Func, opts: &'a Options, depth: Depth, sums: &'a [Summary], consts: &'a [Abs], sites: &'a Sites) -> Run<'a> {
        let blank = f.locals.iter().map(|l| Abs::undefined(p, &l.ty)).collect();
        Run {
            p,
            f,
            opts,
            depth,
            sums,
            consts,
            sites,
            rec: Record::new(sites.len(), blank),
            mute: 0,
            fails: 0,
            steps: 0,
            budget: opts.steps,
            atoms: Atoms::default(),
            names: HashMap::new(),
            frame: (0, 0),
            facts: Vec::new(),
            splits: Splits::default(),
            loc: f.loc,
            selects: 0,
            modular: false,
            slice: None,
            narrow: false,
            in_place_steps: 0,
            clause_steps: 0,
            inlined: 0,
            clock: 0,
            visited: HashSet::new(),
            visits: Visits::default(),
        }
    }

    pub fn show(&self) -> Show<'a> {
        Show { program: self.p, func: self.f }
    }

    pub fn relational(&self) -> bool {
        self.depth == Depth::Relational
    }

    /// Settles one visit of one obligation.
    pub fn check(&mut self, at: usize, kind: Kind, nr: u32, ok: bool, text: impl FnOnce(&Show) -> String, fail: impl FnOnce(&Show) -> Failure) {
        if !ok {
            self.fails += 1;
        }
        if self.mute == 0 {
            let show = self.show();
            self.rec.visit((at, kind, nr), self.loc, || text(&show), (!ok).then_some(|| fail(&show)));
        }
    }

    /// `form >= 0` on this path?
    pub fn implied(&self, form: Option<Lin>) -> bool {
        self.relational() && form.is_some_and(|f| self.atoms.implied(&f, &self.facts))
    }

    /// The form of a scalar integer: its own, or its constant value.
    pub fn form(&self, s: &Sc) -> Option<Lin> {
        if !self.relational() {
            return None;
        }
        match (s.lin(), s.itv().single().and_then(Int::small)) {
            (_, Some(k)) => Some(Lin::constant(k)),
            (Some(l), None) => Some((**l).clone()),
            (None, None) => None,
        }
    }

    /// Makes `cond` hold (or not) in `st` and on the path. Where that cannot be, the state is dead: said once and for all, not
    /// left to later steps that would find anything to follow.
    pub fn assume(&mut self, st: &mut State, cond: &Cond, truth: bool) {
        for v in &cond.vars {
            // A condition handed to a callee, or back, speaks of the locals of where it was made.
            if v.frame != self.frame.0 || st.versions[v.local.0 as usize] != v.version {
                continue;
            }
            let bound = if truth { &v.yes } else { &v.no };
            let leaf = &mut st.locals[v.local.0 as usize];
            let Some(old) = leaf.at(&v.path) else { continue };
            let met = old.itv().meet(bound);
            if met.is_empty() && old.def() {
                st.dead = true;
            } else if !met.is_empty() && met != *old.itv() {
                if let Some(s) = leaf.at_mut(&v.path) {
                    *s = s.narrowed(bound);
                }
            }
        }
        if self.relational() {
            let new = if truth { &cond.yes } else { &cond.no };
            let never = |l: &Lin| l.as_const().is_some_and(|k| k < 0);
            self.facts.extend(new.iter().filter(|l| !l.terms.is_empty()).cloned());
            st.dead |= new.iter().any(|l| never(l) || self.atoms.contradicts(l, &self.facts));
        }
    }

    /// Whether a condition certainly holds (or not) on this path.
    pub fn decided(&self, s: &Sc) -> Option<bool> {
        if let Some(v) = s.itv().single() {
            return Some(!v.is_zero());
        }
        let Fact::Cond(c) = s.fact() else { return None };
        let all = |ls: &[Lin], exact: bool| {
            self.relational() && exact && !ls.is_empty() && ls.iter().all(|l| self.atoms.implied(l, &self.facts))
        };
        if all(&c.yes, c.exact.0) {
            return Some(true);
        }
        all(&c.no, c.exact.1).then_some(false)
    }

    /// Notes that a statement is being executed.
    pub fn visit(&mut self, at: usize) {
        self.visited.insert(at);
        if self.slice.is_some() {
            self.visits.start((at, self.splits.rounds()));
        }
    }

    pub fn note_expr(&mut self, e: &Expr, v: &Abs) {
        if self.mute == 0 && super::value::has_ints(self.p, &e.ty) {
            if let Some(site) = self.sites.get(e) {
                self.rec.expr(site, v);
            }
        }
    }

    /// What holds in both states.
    pub fn join(&mut self, a: State, b: State) -> State {
        if a.dead {
            return b;
        }
        if b.dead {
            return a;
        }
        // A version is shared only by equal histories, so joined ones get a new number.
        self.clock += 1;
        let clock = self.clock;
        let versions = a.versions.iter().zip(&b.versions).map(|(x, y)| if x == y { *x } else { clock }).collect();
        let covers = a
            .covers
            .iter()
            .filter_map(|(l, x)| {
                let y = b.covers.get(l)?;
                Some((*l, x.iter().filter(|c| y.contains(c)).cloned().collect()))
            })
            .collect::<Covers>();
        let locals = a.locals.into_iter().zip(&b.locals).map(|(x, y)| if same(&x, y) { x } else { x.join(y) }).collect();
        State { locals, versions, covers, dead: false }
    }

    /// New version of a local about to change.
    pub fn touch(&mut self, st: &mut State, l: LocalId) {
        self.clock += 1;
        st.versions[l.0 as usize] = self.clock;
    }

    /// Where a too wide value comes from: its own interval and those of its operands.
    pub fn origin(&mut self, st: &mut State, e: &Expr, found: &Itv, wanted: Option<&Itv>, declared_at: Option<Loc>) -> Origin {
        let mut operands = Vec::new();
        self.mute += 1;
        let (fails, steps) = (self.fails, self.steps);
        for part in parts(e) {
            if matches!(part.ty, Ty::Int(_) | Ty::Word(_)) && part.as_const().is_none() {
                let v = self.eval(st, part).itv();
                operands.push((self.show().expr(part), v));
            }
        }
        (self.fails, self.steps) = (fails, steps);
        self.mute -= 1;
        let width = |i: &Itv| i.hi.sub(&i.lo);
        operands.sort_by(|a, b| width(&b.1).cmp(&width(&a.1)).then(a.0.cmp(&b.0)));
        operands.dedup();
        operands.truncate(4);
        Origin {
            site: self.show().expr(e),
            found: (found.lo.to_big(), found.hi.to_big()),
            wanted: wanted.and_then(|w| Some((w.lo.to_big()?, w.hi.to_big()?))),
            declared_at,
            operands: operands.into_iter().map(|(t, i)| (t, i.to_string())).collect(),
        }
    }

    /// Address used for obligations of a whole function.
    pub fn func_addr(&self) -> usize {
        addr(self.f)
    }
}

/// The operands worth naming when a value is too wide.
fn parts(e: &Expr) -> Vec<&Expr> {
    match &e.kind {
        ExprKind::Bin(_, a, b) => vec![a, b],
        ExprKind::Un(_, a) | ExprKind::Cast(a) => vec![a],
        ExprKind::Select(_, a, b) => vec![a, b],
        _ => Vec::new(),
    }
}
