//! Calls of functions of the program: what is passed, what results go into, and what may be one object.

use crate::state::{Kind, Res, Spot, State, Stored, Val};
use crate::term::{Root, Step};
use crate::tree::{Ex, Num, Type};
use crate::unit::Shape;
use santoku_ir::{Expr, Func, FuncId, Ty};

impl State<'_> {
    pub fn is_function(&self, name: &str) -> bool {
        self.unit.functions.contains_key(name) || self.unit.pieces.macros.contains_key(name)
    }

    /// The function, and its types in C. Macros take and give registers; several functions may be one.
    fn shape(&self, name: &str) -> Res<(FuncId, Shape)> {
        if let Some(found) = self.unit.functions.get(name) {
            return Ok(found.clone());
        }
        let all = self.unit.pieces.macros.get(name).map_or(&[][..], Vec::as_slice);
        let id = self.call.as_ref().and_then(|c| all.iter().find(|id| **id == c.func)).or(all.first());
        let Some(id) = id else { return self.fail(format!("no function `{name}`")) };
        let f = self.unit.program.func(*id);
        let lanes = f.params.iter().chain(&f.rets).all(|p| matches!(f.local(*p).ty, Ty::Word(_)));
        if !lanes || f.rets.len() != 1 || !f.lens.is_empty() {
            return self.fail(format!("`{name}` is a macro for a function of other types than words"));
        }
        Ok((*id, Shape { ret: Type::Lanes, params: vec![(Type::Lanes, false); f.params.len()] }))
    }

    /// A call that must be that of the statement at hand; its value if it has one.
    pub fn called(&mut self, name: &str, args: &[Ex]) -> Res<Val> {
        let (id, shape) = self.shape(name)?;
        let Some(call) = self.call.as_mut() else { return self.fail(format!("a call of `{name}` that the program has not here")) };
        if call.func != id || call.done || !self.loops.is_empty() {
            return self.fail(format!("a call of `{name}`, where the program has another"));
        }
        call.done = true;
        let (lens, given, f) = (call.lens, call.args, self.unit.program.func(id));
        if args.len() != shape.params.len() {
            return self.fail(format!("`{name}` is called with {} arguments", args.len()));
        }
        let results = args.len() - lens.len() - given.len();
        for (k, e) in lens.iter().enumerate() {
            self.scalar(&args[results + k], &shape.params[results + k].0, e, &Ty::Int(None))?;
        }
        let mut objects = vec![];
        for (k, e) in given.iter().enumerate() {
            let at = results + lens.len() + k;
            objects.push(self.argument(&args[at], &shape.params[at], e, &f.local(f.params[k]).ty)?);
        }
        self.results(f, id, &shape, args, results, &objects)?;
        match shape.ret {
            Type::Void => Ok(Val { t: self.terms.int(0), kind: Kind::Num(Num::INT), public: true }),
            ret => {
                let t = self.held(self.result_root(0), vec![])?;
                let kind = match (ret, &f.local(f.rets[0]).ty) {
                    (Type::Num(ty), _) => Kind::Num(ty),
                    (_, Ty::Word(bits)) => Kind::Lanes(*bits),
                    _ => return self.fail("a call of no value"),
                };
                Ok(Val { t, kind, public: f.gives_public(f.rets[0]) })
            }
        }
    }

    fn scalar(&mut self, arg: &Ex, ty: &Type, e: &Expr, core: &Ty) -> Res<()> {
        let want = self.term(e)?;
        let v = self.value(arg)?;
        let got = match (ty, v.kind, core) {
            (Type::Num(to), Kind::Num(_), _) => self.convert(v.t, *to),
            (Type::Lanes, Kind::Lanes(a), Ty::Word(b)) if a == *b => v.t,
            _ => return self.fail("an argument of another type"),
        };
        if got != want {
            return self.fail(format!("C passes {}, the program {}", self.terms.show(got), self.terms.show(want)));
        }
        Ok(())
    }

    /// The object that is passed, if one is.
    fn argument(&mut self, arg: &Ex, (ty, pointer): &(Type, bool), e: &Expr, core: &Ty) -> Res<Option<Spot>> {
        if e.ty.is_scalar() {
            return if *pointer { self.fail("a pointer to a number") } else { self.scalar(arg, ty, e, core).map(|()| None) };
        }
        let s = self.pointed(arg, ty, matches!(core, Ty::Array { .. }))?;
        for path in self.scalars(&e.ty.clone(), 0)? {
            for bound in self.spread(e, &path)? {
                let path = self.bound(&path, &bound);
                let want = self.part(e, &path)?;
                let at = self.behind(&s, &path);
                let got = self.read(s.root, &at)?;
                // What is passed fits the parameter.
                if let Some(r) = self.ty_behind(core, &path).and_then(|t| crate::unit::declared_range(&t)) {
                    self.terms.fact(want, &r);
                }
                if got != want && !self.congruent(got, want, ty.leaf_behind(&path)) {
                    return self.fail(format!("C passes {}, the program {}", self.terms.show(got), self.terms.show(want)));
                }
            }
        }
        // Nothing was read of what has no scalars.
        if !State::own(s.root) {
            self.note(s.root, s.path.clone(), false);
        }
        Ok(Some(s))
    }

    fn behind(&mut self, s: &Spot, path: &[Step]) -> Vec<Step> {
        [s.path.clone(), self.counted(s.from, path)].concat()
    }

    /// What an argument points to: elements, or one object.
    fn pointed(&mut self, arg: &Ex, ty: &Type, elements: bool) -> Res<Spot> {
        let bare = match arg {
            // Tables of rows: C has no pointer to constant arrays that takes others.
            Ex::Cast(Type::Array(inner, None), a) if elements && **inner == *ty => match &**a {
                Ex::Cast(Type::Num(Num::U64), x) => x,
                _ => arg,
            },
            _ => arg,
        };
        if elements {
            let s = self.place(bare)?;
            let Type::Array(elem, _) = &s.ty else { return self.fail("an argument that is no array") };
            return if **elem == *ty { Ok(s) } else { self.fail("an argument whose elements are of another type") };
        }
        let s = match bare {
            Ex::Address(a) => self.place(a)?,
            Ex::Name(n) if self.objects.get(n).is_some_and(|o| o.behind) => self.place(&Ex::Behind(Box::new(bare.clone())))?,
            _ => return self.fail("an argument that is no pointer"),
        };
        if s.ty != *ty || s.from.is_some() {
            return self.fail("an argument that points to another type");
        }
        Ok(s)
    }

    /// Paths to the scalars of a type of the program.
    pub fn scalars(&mut self, ty: &Ty, depth: u32) -> Res<Vec<Vec<Step>>> {
        let mut all = vec![];
        match ty {
            Ty::Word(_) | Ty::Int(_) | Ty::Bool => all.push(vec![]),
            Ty::Array { elem, len, .. } => {
                let n = self.length(len)?;
                for i in self.indices(depth, n) {
                    for rest in self.scalars(elem, depth + 1)? {
                        all.push([vec![Step::Index(i)], rest].concat());
                    }
                }
            }
            Ty::Struct(id) => {
                for (k, (_, t)) in self.unit.program.structs[id.0 as usize].fields.clone().iter().enumerate() {
                    for rest in self.scalars(t, depth)? {
                        all.push([vec![Step::Field(k as u32)], rest].concat());
                    }
                }
            }
        }
        Ok(all)
    }

    fn results(&mut self, f: &Func, id: FuncId, shape: &Shape, args: &[Ex], results: usize, objects: &[Option<Spot>]) -> Res<()> {
        if results != if matches!(shape.ret, Type::Void) { f.rets.len() } else { 0 } {
            return self.fail("a call with another number of results");
        }
        let mut outs: Vec<Spot> = vec![];
        for r in 0..results {
            let (ty, pointer) = &shape.params[r];
            let core = f.local(f.rets[r]).ty.clone();
            let array = matches!(core, Ty::Array { .. });
            let s = self.pointed(&args[r], ty, array)?;
            if !pointer || matches!(s.root, Root::Const(_)) {
                return self.fail("a result that goes nowhere");
            }
            for (k, o) in objects.iter().enumerate().filter_map(|(k, o)| Some((k, o.as_ref()?))) {
                if self.may_meet(&s, o) {
                    let one = s.path == o.path && s.from == o.from;
                    if !(one && self.unit.pieces.shared[id.0 as usize][r][k]) {
                        return self.fail("a result goes where an argument is still read");
                    }
                }
            }
            if outs.iter().any(|o| self.may_meet(&s, o)) {
                return self.fail("two results go to one object");
            }
            outs.push(s);
        }
        let call = self.call.as_ref();
        let types: Vec<Ty> = call.map_or(vec![], |c| c.dsts.iter().map(|d| self.dst_ty(d)).collect());
        for (r, s) in outs.iter().enumerate() {
            let Some(ty) = types.get(r) else { return self.fail("a result that the program has not") };
            if let (Ty::Array { len, .. }, Type::Array(elem, _)) = (ty, &s.ty) {
                let (n, elem) = (self.length(&len.clone())?, (**elem).clone());
                for i in self.indices(0, n) {
                    let path = self.behind(s, &[Step::Index(i)]);
                    self.push(s, path, Stored::Copy(self.result_root(r as u32), vec![Step::Index(i)], 0), elem.clone(), false);
                }
            } else {
                self.push(s, s.path.clone(), Stored::Copy(self.result_root(r as u32), vec![], 0), s.ty.clone(), f.gives_public(f.rets[r]));
            }
        }
        Ok(())
    }

    fn dst_ty(&self, p: &santoku_ir::Place) -> Ty {
        let scope = santoku_ir::typing::Scope::of(self.unit.program, self.f);
        scope.place_ty(p).unwrap_or(Ty::Bool)
    }

    /// May two objects have an element in common? A parameter of ours may be a result of ours where callers may share them.
    fn may_meet(&mut self, a: &Spot, b: &Spot) -> bool {
        let shared = |ret: Root, param: Root| {
            let at = |ids: &[santoku_ir::LocalId], root: Root| ids.iter().position(|l| self.locals[l.0 as usize] == Some(root));
            match (at(&self.f.rets, ret), at(&self.f.params, param)) {
                (Some(r), Some(p)) => self.unit.pieces.shared[self.id.0 as usize][r][p],
                _ => false,
            }
        };
        if a.root != b.root && !shared(a.root, b.root) {
            return false;
        }
        !self.apart(&a.path, &b.path)
    }
}
