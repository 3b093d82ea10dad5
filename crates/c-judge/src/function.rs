//! One function: its parameters, its variables, its body.

use crate::parse::{Parser, Types};
use crate::state::{Around, Object, Res, State};
use crate::term::{Root, Terms};
use crate::tree::{Ex, Function, Kind, Num, Stmt, Type};
use crate::unit::{declared_range, refused, Unit};
use crate::pieces::Piece;
use santoku_ir::visit::walk_places;
use santoku_ir::{ExprKind, Len, LocalId, LocalKind, Place, Stmt as Core, Ty};
use std::collections::{BTreeMap, HashMap};

/// Compares a function with its text; how many statements it has.
pub fn compare<'a>(unit: &'a Unit<'a>, piece: &'a Piece, c: &Function) -> Res<usize> {
    let f = unit.program.func(piece.func);
    let mut state = State {
        unit,
        f,
        id: piece.func,
        names: &piece.names,
        named: HashMap::new(),
        terms: Terms::default(),
        objects: HashMap::new(),
        locals: vec![None; f.locals.len()],
        unread: vec![],
        stores: vec![],
        known: vec![],
        gathers: HashMap::new(),
        accesses: vec![],
        c_reads: vec![],
        core_reads: vec![],
        core_writes: vec![],
        loops: vec![],
        sides: vec![],
        clock: 0,
        next: 0,
        call: None,
        counter: None,
        held: BTreeMap::new(),
        depth: 0,
        time: 0,
        around: Around::default(),
        uses: vec![],
        line: 1,
        statements: 0,
    };
    if piece.names.len() != f.locals.len() {
        return state.fail("a name for each local expected");
    }
    state.named = (0..f.locals.len()).rev().filter(|k| state.declared_in_c(*k)).map(|k| (piece.names[k].as_str(), k)).collect();
    let returns = f.rets.len() == 1 && f.local(f.rets[0]).ty.is_scalar();
    let mut body = &c.body[..];
    let sizes = state.parameters(c, returns)?;
    body = state.sizes(body, &sizes)?;
    if returns {
        let Some((Stmt { kind: Kind::Return(Ex::Name(name)), .. }, rest)) = body.split_last() else { return state.fail("nothing is returned") };
        if *name != state.name_of(f.rets[0]) {
            return state.fail("another object is returned");
        }
        body = rest;
    } else if c.ret != Type::Void {
        return state.fail("something is returned");
    }
    state.unread = crate::reads::unread(&state, body);
    state.block(&f.body, body)?;
    state.unharmed()?;
    state.outer(piece, c)?;
    Ok(state.statements)
}

impl<'a> State<'a> {
    pub fn name_of(&self, id: LocalId) -> &'a str {
        self.names.get(id.0 as usize).map_or("", String::as_str)
    }

    /// C declares it where it is used, or at the beginning: it is no parameter.
    fn declared_in_c(&self, k: usize) -> bool {
        let local = &self.f.locals[k];
        matches!(local.kind, LocalKind::Var | LocalKind::Counter) || local.kind == LocalKind::Ret && self.f.rets.len() == 1 && local.ty.is_scalar()
    }

    /// Objects of parameters; the lengths that are given as sizes, with the names of those.
    fn parameters(&mut self, c: &Function, returns: bool) -> Res<Vec<(LocalId, String)>> {
        let f = self.f;
        let results = if returns { &[][..] } else { &f.rets[..] };
        let ids: Vec<LocalId> = results.iter().chain(&f.lens).chain(&f.params).copied().collect();
        if ids.len() != c.params.len() {
            return self.fail("another number of parameters");
        }
        let shared = &self.unit.pieces.shared[self.id.0 as usize];
        if (0..results.len()).any(|r| c.alone[r] && shared[r].contains(&true)) || c.alone[results.len()..].contains(&true) {
            return self.fail("`restrict` where something else may point there");
        }
        let mut sizes = vec![];
        for (id, (name, ty, pointer)) in ids.into_iter().zip(&c.params) {
            let local = f.local(id);
            if local.kind == LocalKind::Len && *ty == Type::Num(Num::U64) && !pointer {
                sizes.push((id, name.clone()));
                continue;
            }
            let array = matches!(local.ty, Ty::Array { .. });
            let aggregate = !local.ty.is_scalar();
            if *name != self.name_of(id) || *pointer != (aggregate || local.kind == LocalKind::Ret) {
                return self.fail(format!("the parameter `{name}` is another"));
            }
            let ty = if array { Type::Array(Box::new(ty.clone()), None) } else { ty.clone() };
            self.object(id.0 as usize, ty, name, *pointer && !array)?;
        }
        if returns && !self.unit.holds(&c.ret, &f.local(f.rets[0]).ty, None) {
            return self.fail("a result of another type");
        }
        Ok(sizes)
    }

    fn object(&mut self, k: usize, ty: Type, name: &str, behind: bool) -> Res<()> {
        let local = &self.f.locals[k];
        let most = |len: &Len| match len {
            Len::Const(n) => Some(*n),
            Len::Param { param, add } => declared_range(&self.f.local(*param).ty)?.hi.add(&(*add).into()).to_u64(),
        };
        if !self.unit.holds(&ty, &local.ty, Some(&most)) {
            return self.fail(format!("`{name}` does not hold what `{}` may be", local.name));
        }
        let root = Root::Object(k as u32);
        let o = Object { root, ty, behind, core: Some(local.ty.clone()), public: local.public };
        if self.objects.insert(name.to_string(), o).is_some() {
            return self.fail(format!("`{name}` is declared twice"));
        }
        self.locals[k] = Some(root);
        Ok(())
    }

    /// A variable where C declares it. A result of the same name is the same object.
    pub fn declare_local(&mut self, k: usize, ty: &Type, name: &str) -> Res<()> {
        self.object(k, ty.clone(), name, false)?;
        if self.depth > 1 && self.f.locals[k].kind == LocalKind::Var {
            self.held.insert(Root::Object(k as u32), vec![]);
        }
        Ok(())
    }

    /// A variable that becomes a result, and is the same object: that is nothing else before.
    pub fn one_object(&mut self) -> Res<()> {
        let f = self.f;
        let Some((Core::Assign { dst, src, .. }, before)) = f.body.split_last() else { return Ok(()) };
        let ExprKind::Read(p) = &src.kind else { return Ok(()) };
        let whole = |p: &Place| match p.base {
            santoku_ir::Base::Local(id) if p.projs.is_empty() => Some(id),
            _ => None,
        };
        let (Some(ret), Some(var)) = (whole(dst), whole(p)) else { return Ok(()) };
        if (f.local(ret).kind, f.local(var).kind) != (LocalKind::Ret, LocalKind::Var) || self.name_of(ret) != self.name_of(var) {
            return Ok(());
        }
        let mut touched = false;
        walk_places(before, &mut |p, _| touched |= p.base == santoku_ir::Base::Local(ret));
        let Some(o) = self.objects.get(self.name_of(ret)).cloned() else { return Ok(()) };
        let array = matches!((&f.local(var).ty, &f.local(ret).ty), (Ty::Array { len: a, .. }, Ty::Array { len: b, .. }) if a == b);
        if touched || !array || !self.unit.holds(&o.ty, &f.local(var).ty, None) {
            return self.fail("a variable and a result are one object, and must not be");
        }
        let root = Root::Object(var.0);
        self.locals[var.0 as usize] = Some(root);
        self.locals[ret.0 as usize] = Some(root);
        self.objects.insert(self.name_of(ret).to_string(), Object { root, core: Some(f.local(var).ty.clone()), public: f.local(var).public, ..o });
        Ok(())
    }

    /// `uint32_t n = (uint32_t)size_n;` and `STK_LENGTH(size_n, most);` for each length that is given as a size.
    fn sizes<'s>(&mut self, body: &'s [Stmt], sizes: &[(LocalId, String)]) -> Res<&'s [Stmt]> {
        for (k, (id, size)) in sizes.iter().enumerate() {
            let cut = Ex::Cast(Type::Num(Num::U32), Box::new(Ex::Name(size.clone())));
            let name = self.name_of(*id);
            let named = matches!(&body.get(k).map(|s| &s.kind), Some(Kind::Declare { ty: Type::Num(Num::U32), name: n, init: Some(e), .. }) if *n == name && *e == cut);
            let range = declared_range(&self.f.local(*id).ty);
            let bounded = body[sizes.len().min(body.len())..].iter().take_while(|s| matches!(s.kind, Kind::Do(_))).any(|s| match &s.kind {
                Kind::Do(Ex::Call(f, args)) if f == "STK_LENGTH" => match args.as_slice() {
                    [Ex::Name(n), Ex::Number(most, _)] => n == size && range.as_ref().is_some_and(|r| *most <= r.hi) && Num::U32.range().holds(most.clone()),
                    _ => false,
                },
                _ => false,
            });
            if !named || !bounded {
                return self.fail(format!("the length `{name}` is not checked"));
            }
            self.object(id.0 as usize, Type::Num(Num::U32), name, false)?;
        }
        let aside = |s: &Stmt| match &s.kind {
            Kind::Do(Ex::Cast(Type::Void, _)) => true,
            Kind::Do(Ex::Call(f, _)) => f == "STK_LENGTH" && !sizes.is_empty(),
            _ => false,
        };
        let rest = &body[sizes.len().min(body.len())..];
        let skipped = rest.iter().take_while(|s| aside(s)).count();
        self.one_object()?;
        Ok(&rest[skipped..])
    }

    /// The function that others call passes everything on.
    fn outer(&mut self, piece: &Piece, c: &Function) -> Res<()> {
        if piece.outer.is_empty() {
            return Ok(());
        }
        let types = Types::of(self.unit.pieces);
        let mut parser = Parser::new(&piece.outer, &types).map_err(|(l, e)| refused(&self.f.name, l, e))?;
        let outer = parser.function().map_err(|(l, e)| refused(&self.f.name, l, e))?;
        let args = outer.params.iter().map(|p| Ex::Name(p.0.clone())).collect();
        let call = Ex::Call(c.name.clone(), args);
        let clears = |s: &Stmt| matches!(&s.kind, Kind::Do(Ex::Call(f, _)) if f == "STK_CLEAR");
        let right = match outer.body.as_slice() {
            [Stmt { kind: Kind::Do(e), .. }, clear] => *e == call && clears(clear) && c.ret == Type::Void,
            [Stmt { kind: Kind::Declare { ty, name, init: Some(e), .. }, .. }, clear, Stmt { kind: Kind::Return(Ex::Name(n)), .. }] => {
                *e == call && clears(clear) && n == name && *ty == c.ret
            }
            _ => false,
        };
        let same = outer.ret == c.ret && outer.params.iter().map(|p| (&p.1, p.2)).eq(c.params.iter().map(|p| (&p.1, p.2)));
        if right && same && parser.done() { Ok(()) } else { self.fail("the function around it does not pass everything on") }
    }
}
