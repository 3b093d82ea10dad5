//! Statements of C: what they store.

use crate::state::{Gathered, Kind, Object, Res, Spot, State, Store, Stored, OWN};
use crate::term::{Root, Step, T};
use crate::tree::{Ex, Kind as Do, Num, Stmt, Type};
use santoku_num::Int;
use std::collections::BTreeSet;

/// The names of what statements store in, and of the numbers that they gather in.
#[derive(Default)]
struct Targets {
    stored: BTreeSet<String>,
    gathered: BTreeSet<String>,
}

impl Targets {
    fn of(body: &[Stmt]) -> Targets {
        let mut all = Targets::default();
        body.iter().for_each(|s| all.add(s));
        all
    }

    fn add(&mut self, s: &Stmt) {
        match &s.kind {
            Do::Assign(to, e) => {
                name(to, &mut self.stored);
                if let Ex::Call(_, args) = e {
                    args.iter().for_each(|a| name(a, &mut self.stored));
                }
            }
            Do::Gather(to, _) => name(to, &mut self.gathered),
            Do::Do(Ex::Call(_, args)) => args.iter().for_each(|a| name(a, &mut self.stored)),
            Do::Do(e) => name(e, &mut self.stored),
            Do::Block(all) => all.iter().for_each(|s| self.add(s)),
            Do::For { init, body, .. } => {
                name(&init.0, &mut self.stored);
                body.iter().for_each(|s| self.add(s));
            }
            Do::If { then, els, .. } => then.iter().chain(els).for_each(|s| self.add(s)),
            Do::Declare { .. } | Do::Return(_) => {}
        }
    }
}

/// The name of the object that a place is in.
fn name(e: &Ex, out: &mut BTreeSet<String>) {
    match e {
        Ex::Name(n) => {
            out.insert(n.clone());
        }
        Ex::Index(a, _) | Ex::Field(a, _) | Ex::Address(a) | Ex::Behind(a) | Ex::Step(a, _) | Ex::Cast(_, a) => name(a, out),
        _ => {}
    }
}

/// Of what hid a place while a loop was looked at, and hides none any more.
const NOWHERE: Root = Root::Local(u32::MAX);

impl State<'_> {
    pub fn run(&mut self, s: &Stmt) -> Res<()> {
        self.line = s.line;
        match &s.kind {
            Do::Declare { ty, name, init, .. } => {
                self.declare(ty, name)?;
                match init {
                    Some(e) => self.assign(&Ex::Name(name.clone()), e),
                    None => Ok(()),
                }
            }
            Do::Assign(to, e) => self.assign(to, e),
            Do::Gather(to, e) => self.gather(to, e),
            Do::Do(Ex::Cast(Type::Void, _)) => Ok(()),
            Do::Do(Ex::Call(name, args)) => self.call_of(name, args),
            Do::Block(all) => self.scoped(all),
            Do::For { init, cond, step, body } => self.repeated(init, cond, step.as_ref(), body),
            Do::If { cond, then, els } => self.either(cond, then, els),
            Do::Do(_) | Do::Return(_) => self.fail("a statement that stands for none of the program"),
        }
    }

    fn scoped(&mut self, all: &[Stmt]) -> Res<()> {
        let outside = self.objects.clone();
        for s in all {
            self.run(s)?;
        }
        self.objects = outside;
        Ok(())
    }

    /// An object of the printer's own.
    pub fn declare(&mut self, ty: &Type, name: &str) -> Res<()> {
        let root = Root::Object(OWN + self.fresh());
        let o = Object { root, ty: ty.clone(), behind: false, core: None, public: true };
        match self.objects.insert(name.to_string(), o) {
            None => Ok(()),
            Some(_) => self.fail(format!("`{name}` is declared twice")),
        }
    }

    pub fn push(&mut self, s: &Spot, path: Vec<Step>, what: Stored, ty: Type, public: bool) {
        if !State::own(s.root) {
            self.note(s.root, path.clone(), true);
        }
        self.clock += 1;
        self.stores.push(Store { root: s.root, path, what, ty, public, claimed: false });
    }

    fn assign(&mut self, to: &Ex, e: &Ex) -> Res<()> {
        let s = self.place(to)?;
        if s.from.is_some() || matches!(s.root, Root::Const(_)) {
            return self.fail("an assignment to what is no variable");
        }
        let bare = match e {
            Ex::Cast(Type::Num(_), inner) => inner,
            other => other,
        };
        if let Ex::Call(name, args) = bare {
            if self.is_function(name) {
                let v = self.called(name, args)?;
                return self.store_value(&s, v, e != bare, e);
            }
        }
        match &s.ty {
            Type::Num(_) | Type::Lanes => {
                let v = self.value(e)?;
                self.store_value(&s, v, false, e)
            }
            Type::Struct(_) => {
                let from = self.place(e)?;
                if from.ty != s.ty || from.from.is_some() {
                    return self.fail("a copy between objects of different types");
                }
                let before = (self.stores.len(), self.clock);
                self.copy(&s, s.path.clone(), (&from, before), from.path.clone(), s.ty.clone())
            }
            Type::Array(..) | Type::Void => self.fail("an assignment of what C does not assign"),
        }
    }

    fn store_value(&mut self, s: &Spot, v: crate::state::Val, cast: bool, e: &Ex) -> Res<()> {
        if self.gathers.contains_key(&s.root) {
            return self.fail("what is gathered is assigned");
        }
        let t = match (&s.ty, v.kind) {
            (Type::Num(to), Kind::Num(_)) => {
                let t = match e {
                    Ex::Cast(Type::Num(by), _) if cast => self.convert(v.t, *by),
                    _ => v.t,
                };
                self.convert(t, *to)
            }
            (Type::Lanes, Kind::Lanes(_)) => v.t,
            _ => return self.fail("an assignment between a number and a register"),
        };
        self.push(s, s.path.clone(), Stored::Value(t), s.ty.clone(), v.public);
        Ok(())
    }

    /// The object at one path becomes what was at another when so many stores were done.
    fn copy(&mut self, to: &Spot, path: Vec<Step>, (from, (before, time)): (&Spot, (usize, usize)), source: Vec<Step>, ty: Type) -> Res<()> {
        if !State::own(from.root) {
            self.note_at(time, from.root, source.clone(), false);
        }
        let what = Stored::Copy(from.root, source, before);
        self.push(to, path, what, ty, from.public);
        Ok(())
    }

    fn gather(&mut self, to: &Ex, e: &Ex) -> Res<()> {
        let root = self.gathers_from_zero(to)?;
        let v = self.value(e)?;
        if v.kind != Kind::Num(Num::U64) {
            return self.fail("differences of 64 bits expected");
        }
        let parts = self.terms.gathered(v.t);
        let sides = self.sides.len();
        let Some(all) = self.gathers.get_mut(&root).filter(|all| all.sides == sides) else {
            return self.fail("differences are gathered under a condition");
        };
        all.parts.extend(parts);
        all.public &= v.public;
        Ok(())
    }

    /// The number in which differences are gathered: 0 before the first of them.
    fn gathers_from_zero(&mut self, to: &Ex) -> Res<Root> {
        let s = self.place(to)?;
        if !State::own(s.root) || s.ty != Type::Num(Num::U64) {
            return self.fail("differences are gathered in a number of the printer's own");
        }
        if !self.gathers.contains_key(&s.root) {
            let t = self.read(s.root, &s.path)?;
            if self.terms.value(t) != Some(Int::ZERO) {
                return self.fail("differences are gathered from 0 on");
            }
            self.gathers.insert(s.root, Gathered { parts: vec![], public: true, loops: self.loops.len(), sides: self.sides.len() });
        }
        Ok(s.root)
    }

    /// `for (k = 0; k < n; k++)`
    fn repeated(&mut self, init: &(Ex, Ex), cond: &Ex, step: Option<&Ex>, body: &[Stmt]) -> Res<()> {
        let (Ex::Name(k), Ex::Bin("<", tested, bound), Some(Ex::Step(stepped, "+"))) = (&init.0, cond, step) else { return self.fail("a loop of another form") };
        let counts = |e: &Ex| *e == init.0;
        let from = self.value(&init.1)?;
        let s = self.place(&init.0)?;
        if !counts(tested) || !counts(stepped) || self.terms.value(from.t) != Some(Int::ZERO) || !State::own(s.root) || s.ty != Type::Num(Num::U32) {
            return self.fail(format!("`{k}` does not count from 0 to a length"));
        }
        let n = self.value(bound)?;
        if !n.public || !self.terms.within(n.t, &Num::U32.range()) || matches!(n.kind, Kind::Lanes(_)) {
            return self.fail("a length that is secret or too great");
        }
        let few = self.indices(self.loops.len() as u32, n.t);
        if few.iter().all(|k| self.terms.round_of(*k).is_none()) {
            for k in few {
                self.push(&s, vec![], Stored::Value(k), s.ty.clone(), true);
                self.scoped(body)?;
            }
            return Ok(());
        }
        let round = self.round(self.loops.len() as u32, n.t);
        let targets = Targets::of(body);
        // What is said of one round holds of all: a number from outside is 0 before the first.
        for n in targets.gathered.iter().filter(|n| self.objects.contains_key(*n)).collect::<Vec<_>>() {
            self.gathers_from_zero(&Ex::Name(n.clone()))?;
        }
        let before = self.stores.len();
        self.push(&s, vec![], Stored::Value(round), s.ty.clone(), true);
        // What a round stores, the next one may read: nothing is known of it.
        let veiled = self.stores.len();
        for root in self.own_roots(&targets.stored) {
            let unknown = Stored::Value(self.terms.stranger());
            self.stores.push(Store { root, path: vec![], what: unknown, ty: s.ty.clone(), public: false, claimed: true });
        }
        let unveiled = self.stores.len();
        let name = self.fresh();
        self.loops.push((name, round));
        self.scoped(body)?;
        self.loops.pop();
        self.stores[veiled..unveiled].iter_mut().for_each(|s| s.root = NOWHERE);
        self.close(before, round)
    }

    /// Objects of the printer by these names.
    fn own_roots(&self, names: &BTreeSet<String>) -> Vec<Root> {
        names.iter().filter_map(|n| self.objects.get(n)).map(|o| o.root).filter(|r| State::own(*r)).collect()
    }

    /// What a loop stored at one place in every round holds what the last one made.
    fn close(&mut self, before: usize, round: T) -> Res<()> {
        for k in before..self.stores.len() {
            if self.stores[k].path.contains(&Step::Index(round)) || self.stores[k].root == NOWHERE {
                continue;
            }
            if !State::own(self.stores[k].root) {
                return self.fail("a loop stores one element again and again");
            }
            self.stores[k].what = Stored::Value(self.terms.stranger());
        }
        Ok(())
    }

    fn either(&mut self, cond: &Ex, then: &[Stmt], els: &[Stmt]) -> Res<()> {
        let c = self.value(cond)?;
        self.decides(&c)?;
        let before = self.stores.len();
        let mut sides = vec![];
        let name = self.fresh();
        for (taken, side) in [(true, then), (false, els)] {
            self.sides.push((name, taken));
            self.scoped(side)?;
            self.sides.pop();
            let new = self.stores.split_off(before);
            sides.push(self.in_parts(new, before)?);
        }
        let paths: Vec<(Root, Vec<Step>, Type, bool)> = sides.iter().flatten().map(|s| (s.root, s.path.clone(), s.ty.clone(), s.public)).collect();
        let mut done: Vec<(Root, Vec<Step>)> = vec![];
        for (root, path, ty, public) in paths {
            // What a side declared is gone.
            let gone = root == NOWHERE || State::own(root) && self.objects.values().all(|o| o.root != root);
            if gone || done.contains(&(root, path.clone())) {
                continue;
            }
            let mut values = vec![];
            for side in &sides {
                let found = side.iter().rev().find(|s| s.root == root && s.path == path).map(|s| s.what.clone());
                values.push(match found {
                    Some(Stored::Value(t)) => t,
                    _ if State::own(root) => self.read_here(root, &path, before)?,
                    _ => self.held(root, path.clone())?,
                });
            }
            let t = self.terms.select(c.t, values[0], values[1]);
            self.stores.push(Store { root, path: path.clone(), what: Stored::Value(t), ty, public: public && c.public, claimed: false });
            done.push((root, path));
        }
        Ok(())
    }

    fn read_here(&mut self, root: Root, path: &[Step], before: usize) -> Res<T> {
        let later = self.stores.split_off(before);
        let t = self.read(root, path);
        self.stores.extend(later);
        t
    }

    /// Stores of scalars alone.
    fn in_parts(&mut self, stores: Vec<Store>, before: usize) -> Res<Vec<Store>> {
        let mut out = vec![];
        let kept = self.stores.len();
        self.stores.extend(stores.iter().cloned());
        for s in stores {
            for rest in self.leaves(&s.ty, self.loops.len() as u32 + s.path.len() as u32)? {
                let t = self.stored(&s.what, &[], &rest)?;
                let Some(ty) = self.type_behind(&s.ty, &rest) else { return self.fail("a part of no type") };
                let path = [s.path.clone(), rest].concat();
                out.push(Store { path, what: Stored::Value(t), ty, ..s.clone() });
            }
        }
        self.stores.truncate(kept);
        debug_assert!(kept == before);
        Ok(out)
    }

    fn type_behind(&self, ty: &Type, path: &[Step]) -> Option<Type> {
        path.iter().try_fold(ty.clone(), |ty, s| match (ty, s) {
            (Type::Array(elem, _), Step::Index(_)) => Some(*elem),
            (Type::Struct(name), Step::Field(k)) => self.unit.struct_of(&name)?.1.get(*k as usize).map(|f| f.1.clone()),
            _ => None,
        })
    }

    /// Paths to all scalars of an object.
    pub fn leaves(&mut self, ty: &Type, depth: u32) -> Res<Vec<Vec<Step>>> {
        let behind = |first: Step, rest: Vec<Vec<Step>>| rest.into_iter().map(move |r| [vec![first], r].concat()).collect::<Vec<_>>();
        match ty {
            Type::Num(_) | Type::Lanes => Ok(vec![vec![]]),
            Type::Array(elem, Some(n)) => {
                let n = self.terms.int(i128::from(*n));
                let mut all = vec![];
                for i in self.indices(depth, n) {
                    all.extend(behind(Step::Index(i), self.leaves(elem, depth + 1)?));
                }
                Ok(all)
            }
            Type::Struct(name) => {
                let Some((_, fields)) = self.unit.struct_of(name) else { return self.fail(format!("no struct `{name}`")) };
                let mut all = vec![];
                for (k, (_, t)) in fields.iter().enumerate() {
                    all.extend(behind(Step::Field(k as u32), self.leaves(t, depth)?));
                }
                Ok(all)
            }
            Type::Array(_, None) | Type::Void => self.fail("an object of unknown size"),
        }
    }

    /// Calls that are statements: of functions of the program, and of the fixed text.
    fn call_of(&mut self, name: &str, args: &[Ex]) -> Res<()> {
        if self.is_function(name) {
            return self.called(name, args).map(drop);
        }
        if let Some(how) = name.strip_prefix("stk_store_") {
            return self.store_bytes(how, args);
        }
        match (name, args) {
            ("memmove", [to, from, size]) => {
                let (to, from) = (self.place(to)?, self.place(from)?);
                let (Type::Array(elem, _), Type::Array(other, _)) = (&to.ty, &from.ty) else { return self.fail("a copy of what are no arrays") };
                if elem != other || matches!(to.root, Root::Const(_)) {
                    return self.fail("a copy between arrays of different types");
                }
                let n = self.rows(size, elem)?;
                let before = (self.stores.len(), self.clock);
                for i in self.indices(self.loops.len() as u32, n) {
                    let (a, b) = (self.index(&to, i)?, self.index(&from, i)?);
                    self.copy(&to, a.path.clone(), (&from, before), b.path, a.ty)?;
                }
                Ok(())
            }
            ("memset", [to, zero, size]) => {
                let (to, zero) = (self.place(to)?, self.value(zero)?);
                let Type::Array(elem, _) = &to.ty else { return self.fail("what is cleared is no array") };
                if self.terms.value(zero.t) != Some(Int::ZERO) || !matches!(elem.leaf(), Type::Num(_)) || matches!(to.root, Root::Const(_)) {
                    return self.fail("numbers are set to 0 alone");
                }
                let n = self.rows(size, elem)?;
                for i in self.indices(self.loops.len() as u32, n) {
                    let first = self.index(&to, i)?;
                    for rest in self.leaves(&first.ty, self.loops.len() as u32 + 1)? {
                        let path = [first.path.clone(), rest].concat();
                        let ty = first.ty.leaf().clone();
                        self.push(&to, path, Stored::Value(zero.t), ty, true);
                    }
                }
                Ok(())
            }
            _ => self.fail(format!("a call of `{name}`")),
        }
    }

    /// The number of rows that a size in bytes is of.
    fn rows(&mut self, size: &Ex, row: &Type) -> Res<T> {
        let (mut factors, mut todo, mut of, mut wide) = (vec![], vec![size], None, false);
        while let Some(e) = todo.pop() {
            match e {
                Ex::Bin("*", a, b) => todo.extend([&**a, &**b]),
                Ex::SizeOf(t) if of.is_none() => of = Some(t.clone()),
                Ex::Cast(Type::Num(Num::U64), a) => {
                    wide = true;
                    factors.push(&**a);
                }
                other => factors.push(other),
            }
        }
        let bytes = of.is_none() && matches!(row.leaf(), Type::Num(Num { bits: 8, .. }));
        if !bytes && of.as_ref() != Some(row.leaf()) {
            return self.fail("a size in other units than the elements");
        }
        let mut n = self.terms.int(1);
        for f in factors {
            let v = self.value(f)?;
            n = self.terms.mul(n, v.t);
        }
        if !wide && !self.terms.within(n, &Num::U32.range()) {
            return self.fail("a size that may leave its type");
        }
        let (mut inside, mut at) = (Int::ONE, row);
        while let Type::Array(e, Some(k)) = at {
            inside = inside.mul(&Int::from(i128::from(*k)));
            at = e;
        }
        match self.terms.exact(n, &inside) {
            Some(n) => Ok(n),
            None => self.fail("a size that is no number of rows"),
        }
    }

    fn store_bytes(&mut self, how: &str, args: &[Ex]) -> Res<()> {
        let [at, word] = args else { return self.fail("a store of one word") };
        let (little, bits) = self.order_of(how)?;
        let s = self.bytes_at(at)?;
        let v = self.value(word)?;
        if matches!(v.kind, Kind::Lanes(_)) || matches!(s.root, Root::Const(_)) {
            return self.fail("bytes of a word expected");
        }
        for k in 0..bits / 8 {
            let i = self.terms.int(i128::from(k));
            let one = self.index(&s, i)?;
            let down = 8 * if little { k } else { bits / 8 - 1 - k };
            let part = self.terms.shr(v.t, down);
            let byte = self.terms.modulo(part, 8);
            self.push(&one, one.path.clone(), Stored::Value(byte), one.ty.clone(), v.public);
        }
        Ok(())
    }
}
