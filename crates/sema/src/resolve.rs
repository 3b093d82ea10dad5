//! What a path means inside a module, and which instance of a module an import is.
//!
//! Order: the module's own items and parameters; where the file is another name of an instance, the instance's;
//! in an implementation, then the interface's constants, types and shared specifications. In an interface, a
//! member stands for the chosen implementation's item of that name, and the implementation's constants are visible too.
//!
//! Keeps: two imports with equal arguments are one module, so that their types are the same.
//! Trusted: text.

use crate::context::{Cached, Cx};
use crate::entities::Entity;
use crate::keys::{Arg, ModuleInstance};
use crate::limits;
use crate::modules::{Argument, Import, ModId, World};
use crate::names::Item;
use crate::sty::open_int;
use santoku_diag::{Diagnostic, Span};
use santoku_syntax::ast::{Expr, ExprKind, GenericArg, ModuleParam, ModuleParamKind, Path, Type, TypeKind};
use std::collections::BTreeMap;

/// Why a path means nothing; `None`: the reason has been reported.
pub type Unresolved = Option<Box<Diagnostic>>;

impl World {
    /// Whether an entity is a constant.
    pub fn is_constant(&self, e: Entity) -> bool {
        match e.item {
            Item::Const(_) => true,
            Item::Param(_) => self.param(e).is_some_and(|p| p.kind == ModuleParamKind::Const),
            _ => false,
        }
    }
}

impl Cx<'_> {
    /// Reports why a path means nothing.
    pub fn unresolved<T>(&mut self, why: Unresolved) -> Option<T> {
        if let Some(d) = why {
            self.report(*d);
        }
        None
    }

    /// What `path` means inside `from`.
    pub fn resolve(&mut self, from: ModId, path: &Path) -> Result<Entity, Unresolved> {
        let module = match &path.module {
            None => from,
            Some(alias) => match self.import(from, &alias.name) {
                Some(found) => found.ok_or(None)?,
                None => return Err(Some(Box::new(self.world.unknown_alias(from, alias)))),
            },
        };
        let found = self.lookup(module, &path.name.name);
        found.ok_or_else(|| {
            let broken = self.world.module(module).stands_for.is_some() && self.stands_for(module).is_none();
            (!broken).then(|| Box::new(self.world.unknown(module, &path.name)))
        })
    }

    /// What a plain name means inside a module.
    pub fn lookup(&mut self, module: ModId, name: &str) -> Option<Entity> {
        let world = self.world;
        let m = world.module(module);
        match m.items.get(name) {
            Some(Item::Member(_)) => return self.defined(m.chosen?, name),
            Some(item) => return Some(Entity { module, item: *item }),
            None => {}
        }
        if m.interface().is_some() {
            let declared = world.interfaces(m.extends).into_iter().find_map(|i| Some((i, *world.module(i).items.get(name)?)));
            return match declared {
                Some((_, Item::Member(_))) => self.defined(m.chosen?, name),
                Some((module, item)) => Some(Entity { module, item }),
                None => self.defined(m.chosen?, name).filter(|e| world.is_constant(*e)),
            };
        }
        if let Some(found) = self.stands_for(module).and_then(|target| self.lookup(target, name)) {
            return Some(found);
        }
        world.interfaces(m.implements).into_iter().find_map(|interface| match world.module(interface).items.get(name) {
            None | Some(Item::Member(_)) => None,
            Some(item) => Some(Entity { module: interface, item: *item }),
        })
    }

    /// What an implementation itself defines under a name, or the instance that it is another name of.
    pub fn defined(&mut self, module: ModId, name: &str) -> Option<Entity> {
        match self.world.module(module).items.get(name) {
            Some(Item::Member(_)) => None,
            Some(item) => Some(Entity { module, item: *item }),
            None => {
                let target = self.stands_for(module)?;
                self.lookup(target, name)
            }
        }
    }

    /// The module known as `alias` inside `from`. Outer `None`: no such alias; inner: its arguments have errors.
    pub fn import(&mut self, from: ModId, alias: &str) -> Option<Option<ModId>> {
        let world = self.world;
        let m = world.module(from);
        if let Some(import) = m.imports.get(alias) {
            return Some(self.bound(from, alias, import));
        }
        if m.module_params.contains_key(alias) {
            let bound = self.module_args(from).and_then(|args| args.get(alias));
            return Some(bound.and_then(|a| if let Arg::Module(id) = a { Some(*id) } else { None }));
        }
        // A contract inherited from an interface may use the interface's own imports.
        let interface = world.interfaces(m.implements).into_iter().find(|i| world.module(*i).imports.contains_key(alias))?;
        let import = world.module(interface).imports.get(alias)?;
        Some(self.bound(interface, alias, import))
    }

    /// The module that a file is another name of; nothing while its own arguments are evaluated.
    pub fn stands_for(&mut self, module: ModId) -> Option<ModId> {
        let import = self.world.module(module).stands_for.as_ref()?;
        if let Some(Cached::Busy) = self.bound_imports.get(&(module, String::new())) {
            return None;
        }
        self.bound(module, "", import)
    }

    pub fn module_args(&self, module: ModId) -> Option<&BTreeMap<String, Arg>> {
        self.module_instance(module).map(|i| &i.args)
    }

    pub fn module_instance(&self, module: ModId) -> Option<&ModuleInstance> {
        (module.instance as usize).checked_sub(1).map(|i| &self.module_instances[i])
    }

    /// The instance an import means. `alias`: its name in `from`, empty where the file itself is that instance.
    fn bound(&mut self, from: ModId, alias: &str, import: &Import) -> Option<ModId> {
        if import.args.is_empty() {
            return Some(import.target);
        }
        let key = (from, alias.to_string());
        match self.bound_imports.get(&key) {
            Some(Cached::Done(id)) => return Some(*id),
            Some(Cached::Failed) => return None,
            Some(Cached::Busy) => {
                return self.fail(
                    Diagnostic::error("cyclic-constant", "arguments of a module lead back to the module")
                        .at(import.span, "needs its own result")
                        .help("give the arguments values that do not use this module"),
                )
            }
            None => {}
        }
        self.bound_imports.insert(key.clone(), Cached::Busy);
        let name = self.module_name(from).to_string();
        let name = if alias.is_empty() { name } else { format!("{name}.{alias}") };
        let done = self.instantiate(from, import, name);
        self.bound_imports.insert(key, done.map_or(Cached::Failed, Cached::Done));
        done
    }

    /// Evaluates the arguments as seen from `from` and finds or makes the instance.
    pub fn instantiate(&mut self, from: ModId, import: &Import, name: String) -> Option<ModId> {
        let world = self.world;
        let target = world.module(import.target);
        let mut args = BTreeMap::new();
        let mut complete = true;
        for param in target.params() {
            let Some(argument) = import.args.get(&param.name.name) else { return None };
            match self.argument(from, import, param, argument) {
                Some(arg) => drop(args.insert(param.name.name.clone(), arg)),
                None => complete = false,
            }
        }
        if !complete {
            return None;
        }
        let same = |i: &&ModuleInstance| i.id.file == import.target.file && i.args == args;
        if let Some(known) = self.module_instances.iter().find(same) {
            return Some(known.id);
        }
        if self.module_instances.len() >= limits::MODULE_INSTANCES {
            return self.fail(
                Diagnostic::error("too-many-instances", "too many instances of modules")
                    .at(import.span, format!("more than {} instances", limits::MODULE_INSTANCES))
                    .help("a module that instantiates itself with other arguments never ends"),
            );
        }
        let id = ModId { file: import.target.file, instance: self.module_instances.len() as u32 + 1 };
        self.module_instances.push(ModuleInstance { id, name, args, span: import.span });
        crate::interfaces::check(self, id);
        Some(id)
    }

    fn argument(&mut self, from: ModId, import: &Import, param: &ModuleParam, argument: &Argument) -> Option<Arg> {
        let (id, span) = match argument {
            Argument::Value(value) => return self.value_argument(from, param, value),
            Argument::File(id, span) => (*id, *span),
            Argument::Known(alias) => match self.import(from, &alias.name) {
                Some(found) => (found?, alias.span),
                None => return self.unresolved(Some(Box::new(self.world.unknown_alias(from, alias)))),
            },
        };
        let interface = *self.world.module(import.target).module_params.get(&param.name.name)?;
        if self.satisfies(id, interface) {
            return Some(Arg::Module(id));
        }
        let (name, wanted) = (self.module_name(id).to_string(), self.module_name(interface).to_string());
        self.fail(
            Diagnostic::error("module-arguments", format!("module `{name}` does not implement `{wanted}`"))
                .at(span, format!("`{}` needs a module that implements `{wanted}`", param.name.name))
                .also(param.name.span, "the parameter")
                .help(format!("begin that file with `implements {wanted}`, or its interface with `interface .. extends {wanted}`")),
        )
    }

    fn value_argument(&mut self, from: ModId, param: &ModuleParam, value: &GenericArg) -> Option<Arg> {
        let mut env = self.env(from);
        if param.kind == ModuleParamKind::Const {
            let e = match value {
                GenericArg::Expr(e) => e.clone(),
                GenericArg::Type(t) => match &t.kind {
                    TypeKind::Named(path) => Expr { kind: ExprKind::Name(path.clone()), span: t.span },
                    _ => return self.wrong_kind(param, t.span, "a constant"),
                },
            };
            return self.const_expr(&mut env, &e).map(Arg::Const);
        }
        let t = match value {
            GenericArg::Type(t) => t.clone(),
            GenericArg::Expr(e) => match &e.kind {
                ExprKind::Name(path) => Type { kind: TypeKind::Named(path.clone()), span: e.span },
                _ => return self.wrong_kind(param, e.span, "a type"),
            },
        };
        let ty = self.plain_type(&mut env, &t)?;
        if open_int(&ty) {
            self.closed(&ty, t.span, "an argument of a module");
            return None;
        }
        Some(Arg::Type(ty))
    }

    fn wrong_kind<T>(&mut self, param: &ModuleParam, span: Span, wanted: &str) -> Option<T> {
        self.fail(
            Diagnostic::error("module-arguments", format!("`{}` needs {wanted}", param.name.name))
                .at(span, format!("not {wanted}"))
                .also(param.name.span, "the parameter")
                .help(format!("give {wanted}")),
        )
    }

    /// Whether a module has promised the members of an interface.
    fn satisfies(&mut self, module: ModId, interface: ModId) -> bool {
        let m = self.world.module(module);
        let promised = self.world.interfaces(m.implements.or(m.extends));
        promised.contains(&interface) || self.stands_for(module).is_some_and(|target| self.satisfies(target, interface))
    }
}
