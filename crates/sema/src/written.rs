//! Names in what no instance checks: functions with `const` and `type` parameters, modules with parameters.
//!
//! Keeps: every name and path of such a text is looked up, whatever the parameters are, also on sides of an `if` that
//! no value of a parameter takes; calls of functions have as many arguments as parameters. Types are for instances.
//! Trusted: nothing: messages only.

use crate::context::Cx;
use crate::modules::ModId;
use crate::entities::Entity;
use crate::names::Item;
use santoku_diag::Diagnostic;
use santoku_syntax::ast::{Block, Expr, ExprKind, Function, GenericArg, GhostKind, GenericKind, ItemKind, Param, Path, Stmt, StmtKind, Type, TypeKind};
use std::collections::BTreeSet;

/// Whether a function is compiled for values of its parameters only.
pub fn is_generic(f: &Function) -> bool {
    f.generics.iter().any(|g| g.kind != GenericKind::Len)
}

/// What is wrong with names in the functions of a module: in those with parameters, or in `all` that it declares.
/// `cx` is for this alone: what is looked up may not be instantiated.
pub fn module(cx: &mut Cx, module: ModId, all: bool) -> Vec<Diagnostic> {
    let world = cx.world;
    let mut w = Walker { cx, module, scopes: vec![BTreeSet::new()], found: Vec::new() };
    for item in &world.module(module).file.items {
        match &item.kind {
            ItemKind::Fn(f) if all || is_generic(f) => w.function(f),
            ItemKind::Const { ty, value, .. } if all => {
                ty.iter().for_each(|t| w.ty(t));
                w.expr(value);
            }
            ItemKind::Type { ty, .. } if all => w.ty(ty),
            ItemKind::Struct { fields, .. } if all => fields.iter().for_each(|f| w.ty(&f.1)),
            ItemKind::Spec(f) if all => w.with(f.params.iter().map(|p| p.name.name.as_str()), |w| f.body.iter().for_each(|b| w.block(b))),
            ItemKind::ConstFn(f) if all => {
                w.with(f.params.iter().map(|p| p.name.name.as_str()), |w| f.body.iter().for_each(|b| w.block(b)));
            }
            _ => {}
        }
    }
    w.found
}

struct Walker<'a, 'w> {
    cx: &'a mut Cx<'w>,
    module: ModId,
    scopes: Vec<BTreeSet<String>>,
    found: Vec<Diagnostic>,
}

impl Walker<'_, '_> {
    fn with<'n>(&mut self, names: impl Iterator<Item = &'n str>, f: impl FnOnce(&mut Self)) {
        self.scopes.push(names.map(str::to_string).collect());
        f(self);
        self.scopes.pop();
    }

    fn bind(&mut self, name: &str) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_string());
        }
    }

    fn function(&mut self, f: &Function) {
        self.with(f.generics.iter().map(|g| g.name.name.as_str()), |w| {
            f.params.iter().for_each(|p| w.ty(&p.ty));
            f.ret.iter().for_each(|t| w.ty(t));
            let names = |ps: &[Param]| ps.iter().map(|p| p.name.name.clone()).collect::<Vec<_>>();
            w.with(names(&f.params).iter().map(String::as_str), |w| {
                w.with(["result"].into_iter(), |w| f.contracts.iter().for_each(|c| w.expr(&c.cond)));
                f.body.iter().for_each(|b| w.block(b));
            });
        });
    }

    /// What a path means; nothing for a local name, and for one that means nothing, which is noted.
    fn look(&mut self, path: &Path) -> Option<Entity> {
        let name = &path.name.name;
        if path.module.is_none() && self.scopes.iter().any(|s| s.contains(name)) {
            return None;
        }
        let module = match &path.module {
            None => self.module,
            // An import may have arguments that are known in instances only.
            Some(alias) => match self.cx.world.module(self.module).imports.get(&alias.name) {
                Some(import) => import.target,
                None => return self.resolved(path),
            },
        };
        let path = Path { module: None, ..path.clone() };
        match self.cx.lookup(module, name) {
            Some(entity) => Some(entity),
            None if module == self.module => self.resolved(&path),
            None if self.cx.world.module(module).stands_for.is_some() => None,
            None => {
                self.found.push(self.cx.world.unknown(module, &path.name));
                None
            }
        }
    }

    fn resolved(&mut self, path: &Path) -> Option<Entity> {
        match self.cx.resolve(self.module, path) {
            Ok(entity) => Some(entity),
            Err(why) => {
                self.found.extend(why.map(|d| *d));
                None
            }
        }
    }

    fn ty(&mut self, t: &Type) {
        match &t.kind {
            TypeKind::Word(_) | TypeKind::Bool | TypeKind::Int(None) | TypeKind::Error => {}
            TypeKind::Int(Some((lo, hi))) => {
                self.expr(lo);
                self.expr(hi);
            }
            TypeKind::Array { elem, index, len } => {
                self.expr(len);
                self.with(index.iter().map(|i| i.name.as_str()), |w| w.ty(elem));
            }
            TypeKind::Tuple(parts) => parts.iter().for_each(|p| self.ty(p)),
            TypeKind::Named(path) => drop(self.look(path)),
            TypeKind::Public(inner) => self.ty(inner),
        }
    }

    fn block(&mut self, b: &Block) {
        self.with(std::iter::empty(), |w| {
            b.stmts.iter().for_each(|s| w.stmt(s));
            b.result.iter().for_each(|e| w.expr(e));
        });
    }

    fn stmt(&mut self, s: &Stmt) {
        match &s.kind {
            StmtKind::Let { names, ty, value, .. } => {
                ty.iter().for_each(|t| self.ty(t));
                value.iter().for_each(|e| self.expr(e));
                names.iter().for_each(|n| self.bind(&n.name));
            }
            StmtKind::Assign { place, value, .. } => {
                self.expr(place);
                self.expr(value);
            }
            StmtKind::For { var, lo, hi, invariants, body, .. } => {
                self.expr(lo);
                self.expr(hi);
                self.with([var.name.as_str()].into_iter(), |w| {
                    invariants.iter().for_each(|e| w.expr(e));
                    w.block(body);
                });
            }
            StmtKind::If { cond, then, els } => {
                self.expr(cond);
                self.block(then);
                els.iter().for_each(|b| self.block(b));
            }
            StmtKind::Assert(e) | StmtKind::Ghost(GhostKind::Lemma(e)) => self.expr(e),
            StmtKind::Ghost(GhostKind::Let { name, value, .. }) => {
                self.expr(value);
                self.bind(&name.name);
            }
            StmtKind::Ghost(GhostKind::Assign { value, .. }) => self.expr(value),
            StmtKind::Error => {}
        }
    }

    fn call(&mut self, callee: &Path, generics: &[GenericArg], args: &[Expr], e: &Expr) {
        for g in generics {
            match g {
                GenericArg::Expr(e) => self.expr(e),
                GenericArg::Type(t) => self.ty(t),
            }
        }
        args.iter().for_each(|a| self.expr(a));
        if callee.module.is_none() && callee.name.name == "len" {
            return;
        }
        // A builtin, unless a function has its name; its arguments are looked at in samples.
        if crate::body::words::form(callee).is_some() && self.cx.lookup(self.module, &callee.name.name).is_none() {
            return;
        }
        let Some(entity) = self.look(callee) else { return };
        let (Item::Fn(_), Some(f)) = (entity.item, self.cx.world.function(entity)) else { return };
        if f.params.len() != args.len() {
            let title = format!("`{}` takes {} arguments, {} given", f.name.name, f.params.len(), args.len());
            self.found.push(Diagnostic::error("wrong-arguments", title).at(e.span, "wrong number of arguments").help("give one value per parameter"));
        }
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::Bytes { .. } | ExprKind::Error => {}
            ExprKind::Name(path) => drop(self.look(path)),
            ExprKind::Call { callee, generics, args } => self.call(callee, generics, args, e),
            ExprKind::Convert { to, arg } => {
                self.ty(to);
                self.expr(arg);
            }
            ExprKind::Power { exp: a, .. } | ExprKind::Un { arg: a, .. } | ExprKind::Paren(a) => self.expr(a),
            ExprKind::Field { base: a, .. } | ExprKind::TupleField { base: a, .. } => self.expr(a),
            ExprKind::Index { base: a, index: b } | ExprKind::Bin { lhs: a, rhs: b, .. } | ExprKind::Repeat { elem: a, len: b } => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Slice { base: a, off: b, len: c } => [a, b, c].into_iter().for_each(|e| self.expr(e)),
            ExprKind::Congruent { lhs, rhs, modulus } => [Some(lhs), Some(rhs), modulus.as_ref()].into_iter().flatten().for_each(|e| self.expr(e)),
            ExprKind::If { cond, then, els } => {
                self.expr(cond);
                self.block(then);
                self.block(els);
            }
            ExprKind::Tuple(parts) | ExprKind::Array(parts) => parts.iter().for_each(|p| self.expr(p)),
            ExprKind::Struct { path, fields } => {
                self.look(path);
                fields.iter().for_each(|f| self.expr(&f.1));
            }
            ExprKind::Comprehension { var, lo, hi, elem: body, .. } | ExprKind::Sum { var, lo, hi, body, .. } | ExprKind::Forall { var, lo, hi, body, .. } => {
                self.expr(lo);
                self.expr(hi);
                self.with([var.name.as_str()].into_iter(), |w| w.expr(body));
            }
        }
    }
}
