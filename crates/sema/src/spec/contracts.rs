//! Contracts of functions: their own, and those of the interface they implement.

use super::{Scope, SpecVal};
use crate::consts::Generic;
use crate::context::Cx;
use crate::names::Entity;
use crate::types::STy;
use santoku_ir::{Contract, ContractKind, Local, LocalId};
use santoku_syntax::ast::{Clause, ClauseKind, Function};
use std::collections::BTreeMap;

/// A lowered function that contracts speak about.
pub struct Subject<'a> {
    pub entity: Entity,
    pub function: &'a Function,
    pub generics: &'a BTreeMap<String, Generic>,
    pub locals: &'a [Local],
    pub params: &'a [LocalId],
    pub rets: &'a [LocalId],
    pub ret: &'a STy,
}

/// Its own clauses, then the inherited ones, re-resolved among the names of the implementation.
pub fn contracts(cx: &mut Cx, subject: &Subject) -> Option<Vec<Contract>> {
    let world = cx.world;
    let f = subject.function;
    let mut out = Vec::new();
    let mut ok = subject.clauses(cx, f, &mut out);
    let inherited = world.module(subject.entity.module).implements.and_then(|id| {
        let interface = world.module(id).interface()?;
        interface.fns.iter().find(|g| g.name.name == f.name.name)
    });
    if let Some(g) = inherited.filter(|g| g.params.len() == f.params.len()) {
        ok &= subject.clauses(cx, g, &mut out);
    }
    ok.then_some(out)
}

impl Subject<'_> {
    /// Clauses of `f`: the function itself, or its declaration in an interface. Parameters go by position.
    fn clauses(&self, cx: &mut Cx, f: &Function, out: &mut Vec<Contract>) -> bool {
        let mut inputs = BTreeMap::new();
        for (p, id) in f.params.iter().zip(self.params) {
            inputs.insert(p.name.name.clone(), self.local(*id));
        }
        let mut all = inputs.clone();
        all.insert("result".to_string(), self.result(self.ret, &mut self.rets.iter()));
        let mut ok = true;
        for clause in &f.contracts {
            let places = if clause.kind == ClauseKind::Requires { inputs.clone() } else { all.clone() };
            let module = self.entity.module;
            let mut scope = Scope { cx: &mut *cx, module, generics: self.generics.clone(), vars: Vec::new(), places };
            match scope.clause(clause) {
                Some(contract) => out.push(contract),
                None => ok = false,
            }
        }
        ok
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
