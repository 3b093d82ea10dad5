//! Instances of functions: each lowered once, callees before callers, recursion refused.

use crate::body::{self, Lowered};
use crate::context::Cx;
use crate::entities::Entity;
use crate::keys::{GenericKey, Instance, InstanceKey};
use crate::limits;
use crate::values::{Env, Generic};
use santoku_diag::{Diagnostic, Span};
use santoku_ir::{FuncId, Ty};

impl Cx<'_> {
    /// The function for a key; lowered at the first request. `None`: it has errors, which are reported.
    pub fn instance(&mut self, key: InstanceKey, span: Span) -> Option<FuncId> {
        match self.instances.get(&key) {
            Some(Instance::Done(id)) => return Some(*id),
            Some(Instance::Failed) => return None,
            None => {}
        }
        self.may_call(key.entity, span)?;
        if self.instances.len() >= limits::INSTANCES {
            return self.fail(
                Diagnostic::error("too-many-instances", "too many instances of generic functions")
                    .at(span, format!("more than {} instances", limits::INSTANCES))
                    .help("use `len` parameters, which stay run-time values, in place of `const`"),
            );
        }
        self.calls.push((key.entity, span));
        let lowered = self.lower(&key);
        self.calls.pop();
        let state = match lowered {
            None => Instance::Failed,
            Some(Lowered { func, signature }) => {
                let id = self.program.add_func(func);
                self.signatures.insert(id, signature);
                Instance::Done(id)
            }
        };
        self.instances.insert(key, state);
        match state {
            Instance::Done(id) => Some(id),
            Instance::Failed => None,
        }
    }

    fn lower(&mut self, key: &InstanceKey) -> Option<Lowered> {
        let f = self.world.function(key.entity)?;
        let mut env: Env = self.env(key.entity.module);
        let mut suffix = String::new();
        for (g, value) in f.generics.iter().zip(&key.generics) {
            let bound = match value {
                GenericKey::Const(v) => Generic::Const(v.clone()),
                GenericKey::Type(ty) => Generic::Type(ty.clone()),
                GenericKey::Len => continue,
            };
            suffix += &format!("${}", self.spell(value));
            env.generics.insert(g.name.name.clone(), bound);
        }
        if !key.views.is_empty() {
            suffix += "$slice";
        }
        let base = self.qualified(key.entity.module, &f.name.name);
        let name = self.fresh_func_name(&(base + &suffix));
        body::lower_function(self, key, f, env, name)
    }

    /// A function never reaches itself.
    fn may_call(&mut self, entity: Entity, span: Span) -> Option<()> {
        if let Some(start) = self.calls.iter().position(|(e, _)| *e == entity) {
            let mut names: Vec<String> = self.calls[start..].iter().map(|(e, _)| self.entity_name(*e)).collect();
            names.push(self.entity_name(entity));
            let mut d = Diagnostic::error("recursive-function", format!("`{}` calls itself", names[0]))
                .at(span, "closes the cycle of calls")
                .note(format!("cycle: {}", names.join(" -> ")))
                .help("write a loop; only `spec fn` may be recursive");
            for (_, place) in &self.calls[start + 1..] {
                d = d.also(*place, "called here");
            }
            return self.fail(d);
        }
        if self.calls.len() >= limits::CALL_DEPTH {
            return self.fail(
                Diagnostic::error("nesting-too-deep", "chain of calls too long")
                    .at(span, format!("more than {} functions deep", limits::CALL_DEPTH))
                    .help("merge some of the functions"),
            );
        }
        Some(())
    }

    pub fn entity_name(&self, entity: Entity) -> String {
        let name = self.world.function(entity).map_or("", |f| f.name.name.as_str());
        self.qualified(entity.module, name)
    }

    /// A generic value as part of a function's name.
    fn spell(&self, key: &GenericKey) -> String {
        match key {
            GenericKey::Const(v) if v.bits() > 64 => format!("c{}", v.bits()),
            GenericKey::Const(v) => v.to_string().replace('-', "m"),
            GenericKey::Type(ty) => self.spell_type(ty),
            GenericKey::Len => String::new(),
        }
    }

    fn spell_type(&self, ty: &Ty) -> String {
        match ty {
            Ty::Word(bits) => format!("u{bits}"),
            Ty::Int(_) => "int".to_string(),
            Ty::Bool => "bool".to_string(),
            Ty::Array { elem, len, .. } => match len {
                santoku_ir::Len::Const(n) => format!("{}x{n}", self.spell_type(elem)),
                santoku_ir::Len::Param { .. } => format!("{}xn", self.spell_type(elem)),
            },
            Ty::Struct(id) => {
                let name = &self.program.structs[id.0 as usize].name;
                name.rsplit('.').next().unwrap_or(name).to_string()
            }
        }
    }
}
