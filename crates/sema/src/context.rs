//! What the whole analysis shares: the program under construction, the messages, the caches.

use crate::entities::Entity;
use crate::keys::{ConstCall, Instance, InstanceKey, ModuleInstance};
use crate::limits;
use crate::modules::{ModId, World};
use crate::sty::Signature;
use crate::values::{CVal, Env};
use santoku_diag::{Diagnostic, Span};
use santoku_ir::{ConstId, ConstValue, FuncId, Loc, Program, SpecId, Stmt, StructId, Ty};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// A value computed once; `Busy` while it is being computed, to catch cycles.
#[derive(Clone, Debug)]
pub enum Cached<T> {
    Busy,
    Failed,
    Done(T),
}

pub struct Cx<'w> {
    pub world: &'w World,
    pub program: Program,
    pub diagnostics: Vec<Diagnostic>,
    reported: BTreeSet<(&'static str, Option<Span>, String)>,
    line_starts: Vec<Vec<u32>>,
    /// Modules that the entry file itself is.
    pub own: Vec<ModId>,
    /// Those whose exports it exports, too (`@export use`), and what stands before the names of these.
    pub exported: Vec<(ModId, String)>,
    pub module_instances: Vec<ModuleInstance>,
    /// Imports with arguments, by importer and alias.
    pub bound_imports: BTreeMap<(ModId, String), Cached<ModId>>,
    pub constants: BTreeMap<Entity, Cached<Rc<(Ty, CVal)>>>,
    pub const_ids: BTreeMap<Entity, ConstId>,
    /// Unnamed constants (long literals) by type and value.
    pub literals: BTreeMap<(Ty, Vec<num_bigint::BigInt>), ConstId>,
    pub structs: BTreeMap<Entity, Cached<StructId>>,
    /// By [`StructId`].
    pub struct_entities: Vec<Entity>,
    /// Aliases being expanded, to catch cycles.
    pub aliases: Vec<Entity>,
    /// By the parameters that are slices of run-time length.
    pub specs: BTreeMap<(Entity, BTreeSet<usize>), SpecId>,
    pub tables: BTreeMap<Entity, Cached<santoku_ir::table::Table>>,
    pub table_funcs: BTreeMap<(Entity, crate::keys::Applied), FuncId>,
    pub perms: BTreeMap<Entity, Cached<santoku_ir::perm::Perm>>,
    /// Functions that permute: the bits of a word, or an array's words of so many bits.
    pub perm_funcs: BTreeMap<(Entity, Option<u32>), FuncId>,
    pub instances: BTreeMap<InstanceKey, Instance>,
    pub signatures: BTreeMap<FuncId, Signature>,
    /// Functions being lowered, outermost first, each with the place of the call that asked for it.
    pub calls: Vec<(Entity, Span)>,
    pub func_names: BTreeSet<String>,
    /// By function name: bodies before their secret `if`s were removed, where that hides unset variables.
    pub branching: BTreeMap<String, Vec<Stmt>>,
    /// Constant functions being evaluated inside one another.
    pub const_calls: u32,
    pub const_results: HashMap<ConstCall, CVal>,
    pub elements_left: u64,
    pub steps_left: u64,
}

impl<'w> Cx<'w> {
    pub fn new(world: &'w World) -> Cx<'w> {
        let files = world.sources.names();
        let line_starts = (0..files.len())
            .map(|i| {
                let text = world.sources.text(santoku_diag::FileId(i as u32));
                std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at as u32 + 1)).collect()
            })
            .collect();
        Cx {
            world,
            program: Program { files, ..Program::default() },
            diagnostics: world.diagnostics.clone(),
            reported: BTreeSet::new(),
            line_starts,
            own: Vec::new(),
            exported: Vec::new(),
            module_instances: Vec::new(),
            bound_imports: BTreeMap::new(),
            const_calls: 0,
            const_results: HashMap::new(),
            constants: BTreeMap::new(),
            const_ids: BTreeMap::new(),
            literals: BTreeMap::new(),
            structs: BTreeMap::new(),
            struct_entities: Vec::new(),
            aliases: Vec::new(),
            specs: BTreeMap::new(),
            tables: BTreeMap::new(),
            table_funcs: BTreeMap::new(),
            perms: BTreeMap::new(),
            perm_funcs: BTreeMap::new(),
            instances: BTreeMap::new(),
            signatures: BTreeMap::new(),
            calls: Vec::new(),
            func_names: BTreeSet::new(),
            branching: BTreeMap::new(),
            elements_left: limits::CONST_ELEMENTS,
            steps_left: limits::CONST_STEPS,
        }
    }

    /// Records a message; the same message at the same place is kept once (instances repeat bodies).
    pub fn report(&mut self, d: Diagnostic) {
        let key = (d.code, d.primary.as_ref().map(|p| p.0), d.title.clone());
        if self.reported.insert(key) {
            let instance = self.calls.last().and_then(|(entity, _)| self.module_instance(entity.module));
            let d = match instance {
                Some(i) => d.also(i.span, format!("in the instance `{}`", i.name)),
                None => d,
            };
            self.diagnostics.push(d);
        }
    }

    /// Runs `f` without its messages and its use of the budget: for what is tried and may fail.
    pub fn quietly<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        let (messages, reported, steps) = (self.diagnostics.len(), self.reported.clone(), self.steps_left);
        let result = f(self);
        self.diagnostics.truncate(messages);
        self.reported = reported;
        self.steps_left = steps;
        result
    }

    /// Records an error and gives nothing: `return self.fail(..)`.
    pub fn fail<T>(&mut self, d: Diagnostic) -> Option<T> {
        self.report(d);
        None
    }

    pub fn loc(&self, span: Span) -> Loc {
        let starts = &self.line_starts[span.file.0 as usize];
        let line = starts.partition_point(|s| *s <= span.start).max(1);
        let text = self.world.sources.text(span.file);
        let before = text.get(starts[line - 1] as usize..span.start as usize).unwrap_or("");
        Loc {
            file: span.file.0,
            line: line as u32,
            col: before.chars().count() as u32 + 1,
            start: span.start,
            end: span.end,
        }
    }

    /// Source text of a span, on one line.
    pub fn text(&self, span: Span) -> String {
        let text = self.world.sources.text(span.file).get(span.start as usize..span.end as usize).unwrap_or("");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Dotted name of a top-level declaration.
    pub fn qualified(&self, module: ModId, name: &str) -> String {
        format!("{}.{name}", self.module_name(module))
    }

    pub fn module_name(&self, module: ModId) -> &str {
        self.module_instance(module).map_or(&self.world.module(module).name, |i| &i.name)
    }

    /// A name not taken by another function: `base`, `base$2`, ...
    pub fn fresh_func_name(&mut self, base: &str) -> String {
        let mut name = base.to_string();
        let mut n = 2;
        while !self.func_names.insert(name.clone()) {
            name = format!("{base}${n}");
            n += 1;
        }
        name
    }

    /// The program constant for an aggregate `const` item.
    pub fn const_id(&mut self, entity: Entity, name: &str, span: Span) -> Option<ConstId> {
        if let Some(id) = self.const_ids.get(&entity) {
            return Some(*id);
        }
        let constant = self.constant(entity, span)?;
        let name = self.qualified(entity.module, name);
        let id = self.add_const(name, constant.0.clone(), &constant.1, span);
        self.const_ids.insert(entity, id);
        Some(id)
    }

    pub fn add_const(&mut self, name: String, ty: Ty, value: &CVal, span: Span) -> ConstId {
        let loc = self.loc(span);
        let value = const_value(value);
        self.program.consts.push(santoku_ir::Const { name, ty, value, loc });
        ConstId(self.program.consts.len() as u32 - 1)
    }

    /// An environment without generics, for top-level items.
    pub fn env(&self, module: ModId) -> Env {
        Env { module, generics: BTreeMap::new(), vars: Vec::new(), hidden: Rc::default() }
    }
}

fn const_value(v: &CVal) -> ConstValue {
    match v {
        CVal::Int(v) | CVal::Word(_, v) => ConstValue::Scalar(v.clone()),
        CVal::Bool(b) => ConstValue::Scalar(u8::from(*b).into()),
        CVal::Array(vs) => ConstValue::Array(vs.iter().map(const_value).collect()),
        CVal::Struct(_, vs) => ConstValue::Struct(vs.iter().map(const_value).collect()),
    }
}
