//! Statements of the program beside those of C, in order.

use crate::aggregate::Source;
use crate::state::{Calling, Res, State};
use crate::term::{Root, Step};
use crate::tree::{Ex, Kind, Num, Stmt, Type};
use santoku_ir::visit::written_locals;
use santoku_ir::{Base, Expr, ExprKind, LocalId, Place, Stmt as Core, Ty};
use santoku_num::{Int, Itv};

impl<'a> State<'a> {
    /// A block of C that stands for one of the program.
    pub fn block(&mut self, core: &'a [Core], c: &[Stmt]) -> Res<()> {
        let (objects, locals) = (self.objects.clone(), self.locals.clone());
        let outside: Vec<Root> = self.held.keys().copied().collect();
        self.depth += 1;
        let mut at = 0;
        self.begin()?;
        // Variables stand first.
        while let Some(s) = c.get(at) {
            self.line = s.line;
            if !self.introduced(s)? {
                break;
            }
            at += 1;
        }
        self.walk(core, c, &mut at)?;
        self.begin()?;
        while let Some(s) = c.get(at) {
            self.line = s.line;
            if !self.introduced(s)? {
                // It may store what nobody reads, or nothing.
                self.run(s)?;
                self.begin()?;
            }
            at += 1;
        }
        self.depth -= 1;
        self.held.retain(|root, _| outside.contains(root));
        (self.objects, self.locals) = (objects, locals);
        Ok(())
    }

    fn walk(&mut self, core: &'a [Core], c: &[Stmt], at: &mut usize) -> Res<()> {
        core.iter().try_for_each(|s| self.step(s, c, at))
    }

    /// Everything stored so far is accounted for, and nothing is known of values any more.
    pub fn begin(&mut self) -> Res<()> {
        if let Some(s) = self.stores.iter().find(|s| !s.claimed && self.matters(s.root)) {
            let path = self.terms.show_path(&s.path);
            return self.fail(format!("C stores in {:?}{path}, which the program does not assign here", s.root));
        }
        self.undisturbed()?;
        self.stores.clear();
        self.gathers.clear();
        self.known.clear();
        self.core_writes.clear();
        self.terms.next_statement();
        Ok(())
    }

    fn sides(&mut self, then: &'a [Core], els: &'a [Core], (a, b): (&[Stmt], &[Stmt])) -> Res<()> {
        let (held, around, name) = (self.held.clone(), self.around.clone(), self.fresh() as usize);
        self.around.sides.push((name, true));
        self.block(then, a)?;
        let one = self.held_now();
        self.held = held;
        self.around.clone_from(&around);
        self.around.sides.push((name, false));
        self.block(els, b)?;
        let other = self.held_now();
        self.around = around;
        self.after_branch(&one, &other);
        Ok(())
    }

    /// Between statements: what goes wrong leaves no trace.
    fn attempt<R>(&mut self, f: impl FnOnce(&mut Self) -> Res<R>) -> Res<R> {
        let before = (self.objects.clone(), self.locals.clone(), self.statements, self.held.clone(), self.around.clone(), self.depth, self.uses.len());
        let done = f(self);
        if done.is_err() {
            self.uses.truncate(before.6);
            (self.objects, self.locals, self.statements, self.held, self.around, self.depth, _) = before;
            self.stores.clear();
            self.gathers.clear();
            self.known.clear();
            self.accesses.clear();
            self.core_writes.clear();
            self.core_reads.clear();
            self.c_reads.clear();
            self.loops.clear();
            self.sides.clear();
            (self.call, self.counter) = (None, None);
            self.terms.next_statement();
        }
        done
    }

    /// C stored more than one statement of the program assigns: the next ones assign the rest.
    fn continues(&mut self) -> Res<bool> {
        if self.stores.iter().any(|s| !s.claimed && self.matters(s.root)) {
            return Ok(true);
        }
        self.begin()?;
        Ok(false)
    }

    /// A declaration of a local of the program, or words about nothing.
    fn introduced(&mut self, s: &Stmt) -> Res<bool> {
        match &s.kind {
            Kind::Declare { ty, name, init: None, .. } => {
                let Some(k) = self.named.get(name.as_str()).copied() else { return Ok(false) };
                self.declare_local(k, ty, name)?;
                Ok(true)
            }
            Kind::Do(Ex::Cast(Type::Void, _)) => Ok(true),
            _ => Ok(false),
        }
    }

    fn next(&mut self, c: &[Stmt], at: &mut usize) -> Res<()> {
        let Some(s) = c.get(*at) else { return self.fail("a statement of the program that C has not") };
        self.line = s.line;
        *at += 1;
        if self.introduced(s)? { Ok(()) } else { self.run(s) }
    }

    fn step(&mut self, s: &'a Core, c: &[Stmt], at: &mut usize) -> Res<()> {
        match s {
            Core::Assert { .. } | Core::Ghost { .. } => Ok(()),
            Core::Assign { dst, src, .. } => self.assigned(dst, src, c, at),
            Core::Call { dsts, func, lens, args, .. } => {
                self.begin()?;
                self.statements += 1;
                self.core_reads.clear();
                let serial = self.fresh();
                self.call = Some(Calling { func: *func, dsts, lens, args, done: false, serial });
                let f = self.unit.program.func(*func);
                for (e, id) in lens.iter().zip(&f.lens).chain(args.iter().zip(&f.params)) {
                    self.foresee(e, Some(&f.local(*id).ty))?;
                }
                let places = dsts.iter().map(|d| self.spot(d)).collect::<Res<Vec<_>>>()?;
                // Results fit what they go to.
                for (r, p) in places.iter().enumerate() {
                    let root = self.result_root(r as u32);
                    self.known.push((root, vec![], p.3.clone()));
                }
                loop {
                    let mut all = self.call.as_ref().is_some_and(|c| c.done);
                    for (r, p) in places.iter().enumerate() {
                        all &= self.claim(p, Source::Result(r as u32))?;
                    }
                    if all {
                        self.begin()?;
                        self.call = None;
                        return self.finish(&places);
                    }
                    self.next(c, at)?;
                }
            }
            Core::For { var, lo, hi, rev, body, .. } => self.loops(*var, (lo, hi, *rev), body, c, at),
            Core::If { cond, then, els, .. } => self.branch(cond, then, els, c, at),
        }
    }

    fn assigned(&mut self, dst: &Place, src: &Expr, c: &[Stmt], at: &mut usize) -> Res<()> {
        if let Base::Local(id) = dst.base {
            // Nobody reads it: C has no object for it.
            if self.locals[id.0 as usize].is_none_or(|root| !self.matters(root)) {
                return Ok(());
            }
        }
        let group = self.continues()?;
        self.core_reads.clear();
        let place = self.spot(dst)?;
        if let ExprKind::Read(p) = &src.kind {
            if p == dst {
                return Ok(());
            }
            let from = self.spot(p)?;
            let zero = self.terms.int(0);
            let itself = (from.0, &from.1, from.2.unwrap_or(zero)) == (place.0, &place.1, place.2.unwrap_or(zero));
            // Where the texts are alike, C has no statement for it.
            if itself && !src.ty.is_scalar() && !group {
                let start = *at;
                let copied = self.attempt(|me| {
                    me.foresee(src, Some(&place.3))?;
                    me.next(c, at)?;
                    if me.claim(&place, Source::Value(src))? { me.begin() } else { me.fail("no copy onto itself") }
                });
                if copied.is_err() {
                    *at = start;
                }
                return Ok(());
            }
        }
        self.statements += 1;
        self.foresee(src, Some(&place.3.clone()))?;
        while !self.claim(&place, Source::Value(src))? {
            let before = self.clock;
            self.next(c, at)?;
            if self.clock == before && self.unchanged(&place, src)? {
                break;
            }
        }
        if group {
            for (root, path) in self.core_writes.clone() {
                if self.core_reads.clone().iter().any(|(r, p)| *r == root && !self.apart(p, &path)) {
                    return self.fail("the program reads what a statement before assigned, which C did at once");
                }
            }
        }
        self.core_writes.push((place.0, place.1.clone()));
        let (root, from, ty) = (place.0, place.2, place.3.clone());
        self.finish(&[place])?;
        // Where a counter has one value in a branch, the other branch may say it by the counter.
        let path = self.as_written(dst)?;
        self.defines(root, path, from, &ty)
    }

    /// Is what the program assigns already there?
    fn unchanged(&mut self, (root, path, from, ty): &(Root, Vec<Step>, Option<u32>, Ty), src: &Expr) -> Res<bool> {
        for part in self.scalars(ty, 0)? {
            let want = self.part(src, &part)?;
            let rest = self.counted(*from, &part);
            if self.held(*root, [path.clone(), rest].concat())? != want {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn loops(&mut self, var: LocalId, (lo, hi, rev): (&Expr, &Expr, bool), body: &'a [Core], c: &[Stmt], at: &mut usize) -> Res<()> {
        self.begin()?;
        self.core_reads.clear();
        let (first, last) = (self.term(lo)?, self.term(hi)?);
        self.finish(&[])?;
        let (a, b) = (self.terms.range(first), self.terms.range(last));
        loop {
            if let Some(Stmt { kind: Kind::For { init, cond, step, body: inner }, line }) = c.get(*at) {
                self.line = *line;
                let (Ex::Name(name), from) = &**init else { return self.fail("a loop without a counter") };
                let root = self.objects.get(name).map(|o| o.root);
                if root.is_some() && root == self.locals[var.0 as usize] {
                    *at += 1;
                    self.statements += 1;
                    let inner = self.header((name, from), cond, step.as_ref(), inner, (first, last, rev), body)?;
                    let before = self.held_now();
                    let counter = self.held(root.unwrap_or(Root::Local(var.0)), vec![])?;
                    let around = self.around.clone();
                    let name = self.fresh() as usize;
                    self.around.loops.push((name, counter));
                    self.block(body, inner)?;
                    self.around = around;
                    return self.after_loop(&before, counter, (first, last));
                }
            }
            // No round is run, and C has no loop.
            if b.hi <= a.lo {
                return Ok(());
            }
            self.next(c, at)?;
        }
    }

    /// The loop counts from one bound to the other, as the program does; its body in C.
    fn header<'s>(
        &mut self,
        (name, from): (&String, &Ex),
        cond: &Ex,
        step: Option<&Ex>,
        inner: &'s [Stmt],
        (lo, hi, rev): (u32, u32, bool),
        body: &[Core],
    ) -> Res<&'s [Stmt]> {
        let counter = Ex::Name(name.clone());
        let s = self.place(&counter)?;
        let Type::Num(ty) = s.ty else { return self.fail("a counter that is no number") };
        let (start, end) = if rev { (hi, lo) } else { (lo, hi) };
        let v = self.value(from)?;
        if self.convert(v.t, ty) != start {
            return self.fail("a loop that begins elsewhere");
        }
        let (a, b) = (self.terms.range(lo), self.terms.range(hi));
        let now = self.terms.stranger();
        self.counter = Some((s.root, now));
        let all = a.join(&b);
        self.terms.fact(now, &all);
        // Down: the test looks at one more than the round has.
        let (tested, down) = match cond {
            Ex::Bin(">", x, y) => match &**x {
                Ex::Step(x, "-") => (Ex::Bin(">", x.clone(), y.clone()), true),
                _ => (cond.clone(), false),
            },
            _ => (cond.clone(), false),
        };
        self.accesses.clear();
        let test = self.value(&tested)?;
        self.decides(&test)?;
        let want = if rev { self.terms.lt(end, now) } else { self.terms.lt(now, end) };
        self.counter = None;
        if test.t != want {
            return self.fail("a loop with another test");
        }
        let written = written_locals(body);
        let changed = |root: Root, me: &Self| written.iter().any(|id| me.locals[id.0 as usize] == Some(root));
        if self.accesses.iter().any(|x| x.root != s.root && changed(x.root, self)) {
            return self.fail("a loop whose bound changes");
        }
        let stepped = |e: &Ex, by: &'static str| *e == Ex::Step(Box::new(counter.clone()), by);
        let inner = match (rev, step, inner.split_first()) {
            (false, Some(e), _) if stepped(e, "+") && !down => inner,
            (true, None, _) if down && !ty.signed => inner,
            (true, None, Some((Stmt { kind: Kind::Do(e), .. }, rest))) if stepped(e, "-") && !down => rest,
            _ => return self.fail("a loop with another step"),
        };
        // Up: the counter reaches the bound.
        if !rev && !self.reaches(ty, &a, &b) {
            return self.fail("a counter that may not reach its bound");
        }
        Ok(inner)
    }

    fn reaches(&self, ty: Num, lo: &Itv, hi: &Itv) -> bool {
        ty.range().holds(lo.lo.clone()) && ty.range().holds(hi.hi.clone().max(lo.hi.clone()))
    }

    fn branch(&mut self, cond: &Expr, then: &'a [Core], els: &'a [Core], c: &[Stmt], at: &mut usize) -> Res<()> {
        self.begin()?;
        self.core_reads.clear();
        loop {
            // A trial forgets what is known.
            let want = self.term(cond)?;
            if let Some(Stmt { kind: Kind::If { cond, then: a, els: b }, line }) = c.get(*at) {
                self.line = *line;
                let got = self.value(cond)?;
                // What is decided already is no branch in C; a number is the condition of a selection.
                if got.t == want && !matches!(cond, Ex::Number(..)) {
                    self.decides(&got)?;
                    self.finish(&[])?;
                    let both = self.attempt(|me| me.sides(then, els, (a, b)));
                    if both.is_ok() || self.terms.value(want).is_none() {
                        *at += 1;
                        self.statements += 1;
                        return both;
                    }
                    // It was the condition of a selection.
                }
            }
            // Known beforehand: C has the side that is taken.
            if let Some(v) = self.terms.value(want) {
                let side = if v == Int::ZERO { els } else { then };
                return self.walk(side, c, at);
            }
            self.next(c, at)?;
        }
    }
}
