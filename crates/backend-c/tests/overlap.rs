//! Assignments and calls that read what they write: selections, literals and copies between overlapping slices, rows and fields
//! of one object, indices that stand in it, calls whose results go where their arguments are. C under sanitizers against the
//! interpreter.

mod support;

use santoku_backend_c::EmitError;
use santoku_ir::build::FuncBuilder;
use santoku_ir::gen::Rng;
use santoku_ir::{CmpOp, Expr, Func, FuncId, Inline, Len, LocalId, LocalKind, Place, Program, Range, Stmt, StructId, Ty, Unroll};
use santoku_passes::{optimise, Level, PassOptions};
use santoku_skips::{installed, seeds};
use std::collections::BTreeSet;
use support::{annotated, build, call, differing, edges, random, Call, Mode, Subject, COMPILERS};

/// Something that can be read, and what it is.
#[derive(Clone)]
struct Var {
    place: Place,
    ty: Ty,
    public: bool,
    writable: bool,
}

/// One function over a few objects.
struct Gen<'p, 'r> {
    program: &'p Program,
    rng: &'r mut Rng,
    b: FuncBuilder<'p>,
    vars: Vec<Var>,
    /// Public integers for indices, with the greatest value of each.
    indices: Vec<(Expr, u64)>,
    /// Where most reads begin: what is written just now, or what it may share its storage with.
    focus: Option<Var>,
}

fn int_row() -> Ty {
    Ty::array(Ty::Int(Some(Range::new(0, 2))), 3)
}

/// The aggregates of a program with the structs of [`program`].
fn shapes() -> Vec<Ty> {
    let (word, byte) = (Ty::Word(16), Ty::Word(8));
    vec![
        Ty::array(byte.clone(), 7),
        Ty::array(Ty::array(word, 3), 3),
        Ty::array(Ty::array(byte.clone(), 2), 4),
        Ty::array(Ty::array(Ty::array(byte, 2), 2), 2),
        Ty::array(Ty::Int(Some(Range::new(-5, 900))), 5),
        Ty::Struct(StructId(0)),
        Ty::array(Ty::Struct(StructId(0)), 2),
        Ty::Struct(StructId(1)),
    ]
}

impl<'p, 'r> Gen<'p, 'r> {
    /// One step into a place, at an index that is certainly inside.
    fn step(&mut self, v: &Var) -> Option<Var> {
        let next = |place: Place, ty: &Ty| Some(Var { place, ty: ty.clone(), ..v.clone() });
        match &v.ty {
            Ty::Struct(id) => {
                let fields = &self.program.structs[id.0 as usize].fields;
                let k = self.rng.below(fields.len() as u64);
                next(v.place.clone().field(k as u32), &fields[k as usize].1)
            }
            Ty::Array { elem, len: Len::Const(n), .. } if self.rng.one_in(3) && *n > 2 => {
                let count = 1 + self.rng.below(n - 1);
                let off = self.index(n - count + 1);
                next(v.place.clone().slice(off, count), &Ty::array((**elem).clone(), count))
            }
            Ty::Array { elem, len: Len::Const(n), .. } => {
                let i = self.index(*n);
                next(v.place.clone().index(i), elem)
            }
            _ => None,
        }
    }

    fn index(&mut self, n: u64) -> Expr {
        let fit: Vec<Expr> = self.indices.iter().filter(|(_, most)| *most < n).map(|(e, _)| e.clone()).collect();
        if fit.is_empty() || self.rng.one_in(2) {
            return Expr::int(self.rng.below(n));
        }
        // The newest is a counter, or stands in what is often written.
        let newest = fit.len() - 1;
        fit[if self.rng.one_in(2) { newest } else { self.rng.below(fit.len() as u64) as usize }].clone()
    }

    /// A read of the wanted shape, if one is met.
    fn read(&mut self, want: &Ty, public: bool) -> Option<Expr> {
        for _ in 0..12 {
            let mut v = match &self.focus {
                Some(f) if !self.rng.one_in(3) => f.clone(),
                _ => self.rng.pick(&self.vars).clone(),
            };
            if public && !v.public {
                continue;
            }
            loop {
                // Two ranges are two types here: what is stored must be in the range of where it goes.
                if v.ty == *want && !self.rng.one_in(5) {
                    return Some(Expr::read(v.place, &v.ty));
                }
                match self.step(&v) {
                    Some(next) => v = next,
                    None => break,
                }
            }
        }
        None
    }

    fn condition(&mut self, public: bool) -> Expr {
        if public || self.rng.one_in(3) {
            let (i, most) = self.rng.pick(&self.indices).clone();
            return Expr::cmp(CmpOp::Lt, i, Expr::int(1 + self.rng.below(most.max(1))));
        }
        let byte = Ty::Word(8);
        match (self.read(&byte, false), self.read(&byte, false)) {
            (Some(a), Some(b)) => Expr::cmp(*self.rng.pick(&[CmpOp::Lt, CmpOp::Ne]), a, b),
            _ => Expr::bool(true),
        }
    }

    fn value(&mut self, ty: &Ty, public: bool, depth: u32) -> Expr {
        let deeper = depth > 0;
        let choice = self.rng.below(10);
        if !deeper || choice < 3 {
            if let Some(e) = self.read(ty, public) {
                return e;
            }
        }
        if deeper && choice < 6 {
            let c = self.condition(public);
            return Expr::select(c, self.value(ty, public, depth - 1), self.value(ty, public, depth - 1));
        }
        let d = depth.saturating_sub(1);
        match ty {
            Ty::Word(bits) if deeper => self.value(ty, public, d) + Expr::word(*bits, self.rng.below(200)),
            Ty::Word(bits) => Expr::word(*bits, self.rng.below(200)),
            Ty::Int(_) => Expr::int(self.rng.below(3)),
            Ty::Bool => self.condition(public),
            Ty::Array { elem, len, .. } if choice == 9 => Expr::repeat(self.value(elem, public, d), len.clone()),
            // Two elements are more than reads.
            Ty::Array { elem, len: Len::Const(n), .. } => Expr::array(elem, (0..*n).map(|k| self.value(elem, public, if k < 2 { d } else { 0 })).collect()),
            Ty::Array { .. } => unreachable!("lengths are constants here"),
            Ty::Struct(id) => {
                let fields = &self.program.structs[id.0 as usize].fields;
                Expr::structure(*id, fields.iter().map(|(_, t)| self.value(t, public, d)).collect())
            }
        }
    }

    /// A part of something that can be written.
    fn target(&mut self) -> Var {
        let mut writable: Vec<Var> = self.vars.iter().filter(|v| v.writable).cloned().collect();
        if self.rng.one_in(4) && writable.iter().any(|v| v.public) {
            writable.retain(|v| v.public);
        }
        let mut v = writable.swap_remove(self.rng.below(writable.len() as u64) as usize);
        while !self.rng.one_in(3) {
            match self.step(&v) {
                Some(next) => v = next,
                None => break,
            }
        }
        v
    }

    fn whole(&self, v: &Var) -> Option<Var> {
        self.vars.iter().find(|w| w.place.base == v.place.base).cloned()
    }

    fn statement(&mut self, nesting: u32, public: bool) -> Vec<Stmt> {
        match self.rng.below(9) {
            0 if nesting > 0 => {
                let (i, n) = (self.b.counter("i"), 2 + self.rng.below(2));
                self.indices.push((Expr::int_local(i), n - 1));
                let body = self.statements(nesting - 1, public);
                self.indices.pop();
                let rev = self.rng.one_in(2);
                let (lo, hi) = (Expr::int(0), Expr::int(n));
                vec![Stmt::For { var: i, lo, hi, rev, unroll: Unroll::Never, invariants: vec![], body, loc: santoku_ir::Loc::default() }]
            }
            1 if nesting > 0 => {
                let cond = self.condition(true);
                let then = self.statements(nesting - 1, public);
                vec![Stmt::if_else(cond, then, self.statements(nesting - 1, public))]
            }
            2..=4 if !self.program.funcs.is_empty() => self.call(),
            _ => {
                let to = self.target();
                self.focus = self.whole(&to);
                let src = self.value(&to.ty, to.public, 2);
                vec![Stmt::assign(to.place, src)]
            }
        }
    }

    fn statements(&mut self, nesting: u32, public: bool) -> Vec<Stmt> {
        let n = 2 + self.rng.below(3);
        (0..n).flat_map(|_| self.statement(nesting, public)).collect()
    }

    /// A call whose results go to parts of different objects, of which its arguments are read as well.
    fn call(&mut self) -> Vec<Stmt> {
        let at = self.rng.below(self.program.funcs.len() as u64) as usize;
        let callee = &self.program.funcs[at];
        let (mut dsts, mut bases) = (vec![], BTreeSet::new());
        for ret in &callee.rets {
            let ty = &callee.local(*ret).ty;
            let mut found = None;
            for _ in 0..60 {
                let to = self.target();
                if to.ty == *ty && !to.public && !bases.contains(&to.place.base) {
                    found = Some(to);
                    break;
                }
            }
            let Some(to) = found else { return vec![] };
            bases.insert(to.place.base);
            dsts.push(to);
        }
        let mut args = vec![];
        for param in &callee.params {
            let local = callee.local(*param);
            let to = self.rng.pick(&dsts).clone();
            self.focus = self.whole(&to);
            // The very place of a result, for calls in place.
            let same = dsts.iter().find(|d| d.ty == local.ty).filter(|_| !self.rng.one_in(4) && !local.public);
            args.push(match same {
                Some(d) => Expr::read(d.place.clone(), &d.ty),
                None if local.ty.is_scalar() && local.public => Expr::int(self.rng.below(2)),
                None => self.value(&local.ty, local.public, 1),
            });
        }
        let dsts = dsts.into_iter().map(|d| d.place).collect();
        vec![Stmt::Call { dsts, func: FuncId(at as u32), lens: vec![], args, loc: santoku_ir::Loc::default() }]
    }

    fn param(&mut self, name: &str, ty: Ty, public: bool) -> LocalId {
        let id = self.b.local(LocalKind::Param, name, ty.clone(), public);
        self.vars.push(Var { place: Place::local(id), ty, public, writable: false });
        id
    }

    /// The first assignment of a result: whole, or element by element of what has its shape.
    fn define(&mut self, ret: LocalId, ty: &Ty, from: LocalId) {
        let (Ty::Array { elem, len: Len::Const(n), .. }, false) = (ty, self.rng.one_in(4)) else {
            let src = self.value(ty, false, 2);
            self.b.assign(Place::local(ret), src);
            return;
        };
        let i = self.b.counter("i");
        let place = Place::local(from).index(Expr::int_local(i));
        self.focus = Some(Var { place, ty: (**elem).clone(), public: false, writable: false });
        let (all, indices) = (std::mem::take(&mut self.vars), self.indices.clone());
        // Only the element: what is read elsewhere keeps a function from working in place.
        self.vars = vec![self.focus.clone().expect("just set")];
        let mut body = vec![];
        let row = Place::local(ret).index(Expr::int_local(i));
        match &**elem {
            Ty::Array { elem: cell, len: Len::Const(m), .. } if self.rng.one_in(2) => {
                for j in 0..*m {
                    let src = self.value(cell, false, 1);
                    body.push(Stmt::assign(row.clone().at(j), src));
                }
            }
            Ty::Array { elem: cell, len: Len::Const(m), .. } if !self.rng.one_in(3) => {
                let src = Expr::array(cell, (0..*m).map(|_| self.value(cell, false, 0)).collect());
                body.push(Stmt::assign(row, src));
            }
            _ => {
                let src = self.value(elem, false, 2);
                body.push(Stmt::assign(row, src));
            }
        }
        (self.vars, self.indices, self.focus) = (all, indices, None);
        let (lo, hi) = (Expr::int(0), Expr::int(*n));
        let rev = self.rng.one_in(3);
        self.b.push(Stmt::For { var: i, lo, hi, rev, unroll: Unroll::Never, invariants: vec![], body, loc: santoku_ir::Loc::default() });
    }
}

/// A function from an object, and others, to one of its shape, at times with a scalar or a second object.
fn function(program: &Program, rng: &mut Rng, name: &str, last: bool) -> Func {
    let pool = shapes();
    let shape = rng.pick(&pool).clone();
    let mut g = Gen { program, rng, b: FuncBuilder::new(program, name), vars: vec![], indices: vec![], focus: None };
    let table = Ty::array(int_row(), 3);
    let a = g.param("a", shape.clone(), false);
    let other = if g.rng.one_in(2) { shape.clone() } else { g.rng.pick(&pool).clone() };
    g.param("b", other.clone(), false);
    let q = g.param("q", table.clone(), true);
    let p = g.b.local(LocalKind::Param, "p", Ty::Int(Some(Range::new(0, 1))), true);
    g.indices.push((Expr::int_local(p), 1));
    let cell = Expr::read(Place::local(q).at(1).index(Expr::int_local(p)), &Ty::int());
    g.indices.push((cell, 2));
    let r = g.b.ret("r", shape.clone());
    g.define(r, &shape, a);
    g.vars.push(Var { place: Place::local(r), ty: shape, public: false, writable: true });
    let second = if g.rng.one_in(2) { Ty::Word(8) } else { other };
    if last || g.rng.one_in(3) {
        let s = g.b.ret("s", second.clone());
        let src = g.value(&second, false, 2);
        g.b.assign(Place::local(s), src);
        g.vars.push(Var { place: Place::local(s), ty: second, public: false, writable: true });
    }
    if last || g.rng.one_in(3) {
        // A public table that is written, and whose cells are indices of itself.
        let t = g.b.local(LocalKind::Var, "t", table.clone(), true);
        let from = g.b.get(q);
        g.b.assign(Place::local(t), from);
        let cell = Expr::read(Place::local(t).at(0).index(Expr::int_local(p)), &Ty::int());
        g.indices.push((cell, 2));
        g.vars.push(Var { place: Place::local(t), ty: table.clone(), public: true, writable: true });
        for x in ["x", "y"] {
            let made: Vec<Ty> = program.funcs.iter().map(|f| f.local(f.rets[0]).ty.clone()).collect();
            let ty = if made.is_empty() || g.rng.one_in(3) { g.rng.pick(&pool) } else { g.rng.pick(&made) }.clone();
            let id = g.b.var(x, ty.clone());
            let src = g.value(&ty, false, 1);
            g.b.assign(Place::local(id), src);
            g.vars.push(Var { place: Place::local(id), ty, public: false, writable: true });
        }
        let body: Vec<Stmt> = (0..2).flat_map(|_| g.statements(1, false)).collect();
        for s in body {
            g.b.push(s);
        }
        let out = g.b.ret("tt", table);
        let from = g.b.get(t);
        g.b.assign(Place::local(out), from);
        let spare = [g.vars[g.vars.len() - 2].clone(), g.vars[g.vars.len() - 1].clone()];
        for (k, v) in spare.iter().enumerate() {
            let out = g.b.ret(format!("o{k}"), v.ty.clone());
            g.b.assign(Place::local(out), Expr::read(v.place.clone(), &v.ty));
        }
    } else if g.rng.one_in(4) {
        for s in g.statements(1, false) {
            g.b.push(s);
        }
    }
    g.b.func_mut().inline = Inline::Never;
    g.b.finish()
}

fn program(seed: u64) -> Program {
    let mut p = Program { files: vec!["generated.stk".into()], ..Program::default() };
    let byte = Ty::Word(8);
    let inner = vec![("v".into(), Ty::array(Ty::Word(16), 3)), ("w".into(), Ty::Word(16)), ("m".into(), Ty::array(Ty::array(byte.clone(), 2), 2))];
    let inner = p.add_struct("In", inner);
    p.add_struct("Out", vec![("s".into(), Ty::Struct(inner)), ("k".into(), Ty::array(byte, 7)), ("z".into(), Ty::Struct(inner))]);
    let mut rng = Rng::new(seed ^ 0x6f76_6572);
    let helpers = 1 + rng.below(3);
    for k in 0..=helpers {
        let f = function(&p, &mut rng, &format!("f{k}"), k == helpers);
        p.add_func(f);
    }
    p
}

#[derive(Default)]
struct Count {
    programs: usize,
    calls: usize,
    in_place: usize,
    temporaries: usize,
}

fn run(seeds: std::ops::Range<u64>, mode: Mode, count: &mut Count) {
    let (mut subjects, mut calls): (Vec<Subject>, Vec<Call>) = (vec![], vec![]);
    for seed in seeds {
        let program = program(seed);
        let report = santoku_ir::verify::report(&program);
        assert!(report.errors.is_empty(), "v{seed}: {:#?}", report.errors.first());
        let made = match seed % 3 {
            0 => optimise(&program, Level::O1, &BTreeSet::from(["inline".to_string()]), &PassOptions::new(Level::O1, 64)).map_or_else(|e| panic!("v{seed}: {e}"), |o| o.program),
            _ => annotated(&program),
        };
        match Subject::new(&format!("v{seed}"), program, made) {
            Ok(s) => subjects.push(s),
            Err(e @ (EmitError::TooWide { .. } | EmitError::Storage { .. } | EmitError::Unsupported { .. } | EmitError::Name { .. } | EmitError::Unannotated { .. } | EmitError::Misprinted(_))) => panic!("v{seed}: {e}"),
        }
        let (k, s) = (subjects.len() - 1, subjects.last().expect("just pushed"));
        let text = s.text();
        count.in_place += text.lines().filter(|l| l.starts_with("void") && l.ends_with(')') && !l.contains("restrict r,")).count();
        count.temporaries += text.matches(" tmp").count();
        for (e, id) in s.entries.iter().enumerate() {
            let inputs = random(&s.program, *id, 4, seed).into_iter().chain(edges(&s.program, *id));
            calls.extend(inputs.map(|(lens, args)| call(&subjects, k, e, &lens, args)));
        }
    }
    let mut ran = 0;
    for compiler in installed(&seeds::one(COMPILERS, 0)) {
        let program = build(compiler, &subjects, mode).unwrap_or_else(|e| panic!("{e}"));
        let wrong = differing(&program, &calls).unwrap_or_else(|e| panic!("{compiler}: {e}"));
        let shown: Vec<&str> = wrong.iter().take(5).map(|c| c.what()).collect();
        let text = wrong.first().map_or(String::new(), |c| subjects[c.subject()].text());
        assert!(wrong.is_empty(), "{compiler}: {} of {} calls differ: {shown:#?}\n{text}", wrong.len(), calls.len());
        ran += 1;
    }
    assert!(ran > 0, "no compiler");
    count.programs += subjects.len();
    count.calls += calls.len() * ran;
}

/// In lots, because compilers put all that is called once into one function; one program of each under sanitizers, which are slow.
fn lots(from: u64, count: u64) -> Count {
    let mut c = Count::default();
    for at in (from..from + count).step_by(15) {
        run(at..at + 14, Mode::Lenient, &mut c);
        run(at + 14..at + 15, Mode::Strict, &mut c);
    }
    println!("tried: {} calls of {} programs; {} functions in place, {} temporaries", c.calls, c.programs, c.in_place, c.temporaries);
    c
}

#[test]
fn assignments_and_calls_that_read_what_they_write_compute_what_the_interpreter_does() {
    let c = lots(0, 30);
    assert!(c.in_place > 20 && c.temporaries > 300 && c.calls > if seeds::whole() { 1_500 } else { 750 });
}

#[test]
#[ignore = "long"]
fn soak_assignments_and_calls_that_read_what_they_write() {
    assert!(lots(seeds::first(), seeds::count(300)).calls > 0);
}
