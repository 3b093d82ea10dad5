//! Contracts of functions: their own, and those of the interface they implement.

use crate::context::Cx;
use crate::entities::Entity;
use crate::sty::STy;
use crate::values::Generic;
use super::scope::{Scope, SpecTy, SpecVal, View};
use santoku_ir::{Contract, ContractKind, Local, LocalId};
use santoku_syntax::ast::{Clause, ClauseKind, Function};
use std::collections::BTreeMap;

/// A lowered function that contracts speak about.
pub struct Subject<'a> {
    pub entity: Entity,
    pub function: &'a Function,
    pub generics: &'a BTreeMap<String, Generic>,
    pub locals: &'a [Local],
    pub params: &'a [SpecVal],
    pub rets: &'a [LocalId],
    pub ret: &'a STy,
}

/// Its own clauses, then the inherited ones, re-resolved among the names of the implementation.
pub fn contracts(cx: &mut Cx, subject: &Subject) -> Option<Vec<Contract>> {
    let world = cx.world;
    let f = subject.function;
    let mut out = Vec::new();
    let mut ok = subject.clauses(cx, f, &mut out);
    for id in world.interfaces(world.module(subject.entity.module).implements) {
        let declared = world.module(id).interface().and_then(|i| i.fns.iter().find(|g| g.name.name == f.name.name));
        if let Some(g) = declared.filter(|g| g.params.len() == f.params.len()) {
            ok &= subject.clauses(cx, g, &mut out);
        }
    }
    ok.then_some(out)
}

impl Subject<'_> {
    /// Clauses of `f`: the function itself, or its declaration in an interface. Parameters go by position.
    fn clauses(&self, cx: &mut Cx, f: &Function, out: &mut Vec<Contract>) -> bool {
        let Some(inputs) = self.inputs(cx, f) else { return false };
        let mut all = inputs.clone();
        let module = self.entity.module;
        let result = self.result(self.ret, &mut self.rets.iter());
        let mut scope = Scope::new(cx, module, self.generics);
        let Some(result) = scope.stands_in(result, self.function.ret.as_ref(), self.ret) else { return false };
        all.insert("result".to_string(), result);
        let mut ok = true;
        for clause in &f.contracts {
            let mut scope = Scope::new(cx, module, self.generics);
            scope.places = if clause.kind == ClauseKind::Requires { inputs.clone() } else { all.clone() };
            match scope.clause(clause) {
                Some(contract) => out.push(contract),
                None => ok = false,
            }
        }
        ok
    }

    /// Parameters under the names that `f` gives them, with the types that the function itself declares.
    fn inputs(&self, cx: &mut Cx, f: &Function) -> Option<BTreeMap<String, SpecVal>> {
        let mut inputs = BTreeMap::new();
        for ((p, own), value) in f.params.iter().zip(&self.function.params).zip(self.params) {
            let ty = cx.spec_ty(self.entity.module, self.generics, &own.ty)?;
            let value = match (value, ty) {
                (SpecVal::One(x, _), ty) => SpecVal::One(x.clone(), ty),
                (SpecVal::View(view), SpecTy::Array(elem)) => SpecVal::View(Box::new(View { elem: *elem, ..(**view).clone() })),
                (other, _) => other.clone(),
            };
            inputs.insert(p.name.name.clone(), value);
        }
        Some(inputs)
    }

    fn local(&self, id: LocalId) -> SpecVal {
        super::of_local(id, &self.locals[id.0 as usize].ty)
    }

    fn result(&self, ty: &STy, ids: &mut dyn Iterator<Item = &LocalId>) -> SpecVal {
        match ty {
            STy::One { .. } => ids.next().map_or(SpecVal::Tuple(Vec::new()), |id| self.local(*id)),
            STy::Tuple(parts) => SpecVal::Tuple(parts.iter().map(|p| self.result(p, ids)).collect()),
        }
    }
}

impl Scope<'_, '_> {
    fn clause(&mut self, clause: &Clause) -> Option<Contract> {
        let cond = self.bool(&clause.cond)?;
        let kind = match clause.kind {
            ClauseKind::Requires => ContractKind::Requires,
            ClauseKind::Ensures => ContractKind::Ensures,
        };
        Some(Contract { kind, cond, text: self.cx.text(clause.cond.span), loc: self.cx.loc(clause.span) })
    }
}
