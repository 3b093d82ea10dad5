//! A whole function: parameters, body, results, contracts; then secrecy and secret `if`s.

use crate::context::Cx;
use crate::draft::{find_read, root};
use crate::keys::{Backing, InstanceKey};
use crate::modules::ModId;
use crate::predicate;
use crate::secrecy::{self, Need, Requirement};
use crate::spec::{SpecVal, Subject};
use crate::sty::{STy, Signature};
use crate::values::{Env, Generic};
use super::context::{bare, Binding, Dst, FnCx};
use santoku_diag::{Diagnostic, Span};
use santoku_ir::{Applies, Func, Inline, Local, LocalId, LocalKind, Place, Stmt, Ty, Unroll};
use santoku_syntax::ast::{Attr, Block, Expr, ExprKind, Function, Generic as AstGeneric, GenericKind, Param, TestCases};
use std::collections::BTreeMap;

/// A finished function with the types its callers see.
pub struct Lowered {
    pub func: Func,
    pub signature: Signature,
}

/// Lowers one instance; `env` binds its `const` and `type` parameters.
pub fn lower_function(cx: &mut Cx, key: &InstanceKey, f: &Function, env: Env, name: String) -> Option<Lowered> {
    let entity = key.entity;
    let mut b = FnCx::new(cx, env, name);
    let mut lens = b.lengths(&f.generics)?;
    let params = b.params(&f.params, &key.views, f.lemma, &mut lens);
    let ret = b.result_type(f);
    let (Some(params), Some(ret), Some(body)) = (params, ret, &f.body) else { return None };
    let rets = b.body(body, &ret, f.lemma)?;
    let values: Vec<SpecVal> = f.params.iter().map(|p| b.spec_value(&b.scopes[0].get(&p.name.name)?.binding)).collect::<Option<_>>()?;
    let subject = Subject {
        entity,
        function: f,
        generics: &b.env.generics,
        locals: &b.locals,
        params: &values,
        rets: &rets,
        ret: &ret,
    };
    let contracts = crate::spec::contracts(b.cx, &subject);
    let slices = b.slices_inside(f);
    let attrs = attributes(b.cx, &f.attrs);
    let result_span = f.ret.as_ref().map_or(f.name.span, |t| t.span);
    let declared: Vec<(Ty, bool)> = ret.flat();
    let checked = attrs.as_ref().is_some_and(|a| a.declassifies.is_none());
    for (id, (_, public)) in rets.iter().zip(&declared) {
        if *public && checked {
            let expr = b.read_local(*id).expr;
            b.requirements.push(Requirement { need: Need::Declared, expr, span: result_span });
        }
    }
    let param_types = params.iter().map(|p| (b.locals[p.0 as usize].ty.clone(), b.locals[p.0 as usize].public)).collect();
    b.all_have_place()?;
    let mut func = b.finish(f.name.span)?;
    func.lens = lens;
    func.params = params;
    func.contracts = [slices, contracts?].concat();
    let attrs = attrs?;
    if let Some(at) = attrs.declassifies {
        one_public_scalar(cx, &declared, result_span)?;
        not_public_before(cx, &func, &rets, at)?;
    }
    func.inline = attrs.inline;
    func.declassifies = attrs.declassifies.is_some();
    // What a library module exports is for those who build that module, or say that they export it.
    let prefix = exported_behind(cx, entity.module);
    func.export = attrs.export.filter(|_| key.views.is_empty()).and_then(|name| Some(prefix? + &name));
    func.doc = f.doc.join("\n");
    let ret_public = rets.iter().map(|r| func.gives_public(*r)).collect();
    let signature = Signature { params: param_types, ret, ret_public };
    func.rets = rets;
    if let Some(at) = attrs.vertical {
        applies_to_each(cx, &mut func, at)?;
    }
    Some(Lowered { func, signature })
}

/// Lowers a `test` block to a function without results; its parameters are those of its cases.
pub fn lower_test(cx: &mut Cx, env: Env, cases: Option<&TestCases>, block: &Block, name: String, span: Span) -> Option<Func> {
    let mut b = FnCx::new(cx, env, name);
    let (mut lens, mut params) = (Vec::new(), Vec::new());
    if let Some(c) = cases {
        if let Some(g) = c.generics.iter().find(|g| g.kind != GenericKind::Len) {
            return b.fail(
                Diagnostic::error("cannot-infer", "a test has no constants or types as parameters")
                    .at(g.name.span, "a file of cases does not give it")
                    .help("write `n: len`, or the constant or type itself"),
            );
        }
        lens = b.lengths(&c.generics)?;
        params = b.params(&c.params, &BTreeMap::new(), false, &mut lens)?;
    }
    b.statements(block)?;
    b.all_have_place()?;
    let func = b.finish(span)?;
    Some(Func { lens, params, ..func })
}

/// What stands before a function.
struct Attributes {
    inline: Inline,
    export: Option<String>,
    /// Where that is said.
    declassifies: Option<Span>,
    /// Where a layout is asked for.
    vertical: Option<Span>,
}

/// `@inline`, `@noinline`, `@declassify`, `@layout("vertical")`, `@export("name")`
fn attributes(cx: &mut Cx, attrs: &[Attr]) -> Option<Attributes> {
    let mut all = Attributes { inline: Inline::Auto, export: None, declassifies: None, vertical: None };
    for attr in attrs {
        match (attr.name.name.as_str(), &attr.arg) {
            ("inline", None) => all.inline = Inline::Always,
            ("noinline", None) => all.inline = Inline::Never,
            ("declassify", None) => all.declassifies = Some(attr.span),
            ("layout", Some(name)) if name == "vertical" => all.vertical = Some(attr.span),
            ("layout", _) => {
                return cx.fail(
                    Diagnostic::error("bad-attribute", "`@layout` needs the name of a layout")
                        .at(attr.span, "no layout that functions of a program may have")
                        .help("write `@layout(\"vertical\")`; the layouts of whole programs are those of `santoku build --layout`"),
                )
            }
            ("export", Some(name)) if is_c_name(name) => all.export = Some(name.clone()),
            ("export", _) => {
                return cx.fail(
                    Diagnostic::error("bad-attribute", "`@export` needs a C identifier")
                        .at(attr.span, "no usable name given")
                        .help("write `@export(\"toy_hash\")`"),
                )
            }
            _ => {
                return cx.fail(
                    Diagnostic::error("bad-attribute", format!("unknown attribute `@{}`", attr.name.name))
                        .at(attr.span, "not an attribute of functions")
                        .help("functions take `@inline`, `@noinline`, `@declassify`, `@layout(\"vertical\")`, `@export(\"name\")`"),
                )
            }
        }
    }
    match (all.declassifies, all.vertical, all.inline) {
        (Some(span), _, Inline::Always) => cx.fail(
            Diagnostic::error("bad-attribute", "a function that declassifies is never inlined")
                .at(span, "`@inline` stands here, too")
                .help("remove `@inline`: where the body stood in a caller, the caller would see what the result is made of"),
        ),
        (_, Some(span), Inline::Always) => cx.fail(
            Diagnostic::error("bad-attribute", "a function with a layout is never inlined")
                .at(span, "`@inline` stands here, too")
                .help("remove `@inline`: where the body stood in a caller, there would be no function that has another form"),
        ),
        (None, None, _) => Some(all),
        _ => Some(Attributes { inline: Inline::Never, ..all }),
    }
}

/// Marks a function that applies another to every element of an array; as C, it is a loop.
fn applies_to_each(cx: &mut Cx, func: &mut Func, span: Span) -> Option<()> {
    func.applies = Some(Applies::Each);
    if santoku_ir::each::of(&cx.program, func).is_none() {
        return cx.fail(
            Diagnostic::error("bad-attribute", "this function has no layout")
                .at(span, "it does not apply one function to every element of an array, and nothing else")
                .help("write `fn f(x: [[u32; 16]; 8]) -> [[u32; 16]; 8] { [for i in 0..<8: g(x[i])] }`, with words of any size, and any lengths"),
        );
    }
    for s in &mut func.body {
        if let Stmt::For { unroll, .. } = s {
            *unroll = Unroll::Never;
        }
    }
    Some(())
}

/// What a function that declassifies gives.
fn one_public_scalar(cx: &mut Cx, declared: &[(Ty, bool)], span: Span) -> Option<()> {
    if matches!(declared, [(ty, true)] if ty.is_scalar()) {
        return Some(());
    }
    cx.fail(
        Diagnostic::error("bad-attribute", "a function that declassifies gives one public scalar")
            .at(span, "this is its result")
            .help("declare what may be seen, and nothing else: `-> public bool`"),
    )
}

/// An attribute without an effect would mislead.
fn not_public_before(cx: &mut Cx, func: &Func, rets: &[LocalId], span: Span) -> Option<()> {
    if rets.iter().any(|r| !func.local(*r).public) {
        return Some(());
    }
    cx.fail(
        Diagnostic::error("bad-attribute", "there is nothing to declassify")
            .at(span, "the result is public without it: it depends on no secret")
            .help("remove `@declassify`"),
    )
}

/// What stands before the C names of a module's functions; none: they have none.
fn exported_behind(cx: &Cx, module: ModId) -> Option<String> {
    if cx.own.contains(&module) {
        return Some(String::new());
    }
    cx.exported.iter().find(|(m, _)| *m == module).map(|(_, prefix)| prefix.clone())
}

pub fn is_c_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

impl FnCx<'_, '_> {
    /// The length parameters among these.
    fn lengths(&mut self, generics: &[AstGeneric]) -> Option<Vec<LocalId>> {
        let mut lens = Vec::new();
        for g in generics.iter().filter(|g| g.kind == GenericKind::Len) {
            let mut own = self.env.clone();
            let range = self.cx.length_range(&mut own, g)?;
            let id = self.local(&g.name.name, Ty::Int(Some(range)), LocalKind::Len, g.name.span);
            self.env.generics.insert(g.name.name.clone(), Generic::Len(santoku_ir::Len::Param { param: id, add: 0 }));
            self.bind(&g.name.name, Binding::Local(id), false, g.name.span);
            lens.push(id);
        }
        Some(lens)
    }

    fn params(&mut self, all: &[Param], views: &BTreeMap<usize, Backing>, lemma: bool, lens: &mut Vec<LocalId>) -> Option<Vec<LocalId>> {
        let mut ids = Vec::new();
        let mut ok = true;
        for (at, p) in all.iter().enumerate() {
            if let Some(before) = self.scopes[0].get(&p.name.name) {
                let before = before.span;
                ok = false;
                self.cx.report(
                    Diagnostic::error("duplicate-name", format!("parameter `{}` appears twice", p.name.name))
                        .at(p.name.span, "second parameter of this name")
                        .also(before, "first")
                        .help("rename one of them"),
                );
                continue;
            }
            let mut env = self.env.clone();
            let Some((ty, public)) = self.cx.one_type(&mut env, &p.ty) else {
                ok = false;
                continue;
            };
            ok &= lemma || self.cx.closed(&ty, p.ty.span, "a parameter");
            if let Some(backing) = views.get(&at) {
                let (base, at) = self.view_param(&p.name, &ty, *backing, lens)?;
                self.locals[base.0 as usize].public = public;
                self.facts[base.0 as usize].secret = !public;
                ids.extend([base, at]);
                continue;
            }
            let id = self.local(&p.name.name, ty, LocalKind::Param, p.name.span);
            // Lemmas are never compiled: there is no time that a secret could steer.
            let public = public || lemma;
            self.locals[id.0 as usize].public = public;
            self.facts[id.0 as usize].secret = !public;
            self.bind(&p.name.name, Binding::Local(id), false, p.name.span);
            ids.push(id);
        }
        ok.then_some(ids)
    }

    fn result_type(&mut self, f: &Function) -> Option<STy> {
        if f.lemma {
            return Some(STy::Tuple(Vec::new()));
        }
        let Some(ret) = &f.ret else {
            return self.fail(
                Diagnostic::error("missing-result", format!("`{}` returns nothing", f.name.name))
                    .at(f.name.span, "a function without result has no effect")
                    .help("give it a result type: `-> T`"),
            );
        };
        let mut env = self.env.clone();
        self.cx.any_type(&mut env, ret)
    }

    /// Lowers the body; gives the locals that hold the results.
    fn body(&mut self, body: &Block, ret: &STy, lemma: bool) -> Option<Vec<LocalId>> {
        if lemma {
            self.scopes.push(Default::default());
            return self.statements(body).map(|()| Vec::new());
        }
        self.scopes.push(Default::default());
        let ok = self.each_statement(body);
        let Some(result) = &body.result else {
            return self.fail(
                Diagnostic::error("missing-result", "the body has no result")
                    .at(Span { start: body.span.end.saturating_sub(1).max(body.span.start), ..body.span }, "ends without a value")
                    .help("end the body with the expression to return"),
            );
        };
        ok?;
        let flat = ret.flat();
        if let Some(ids) = self.adoptable(result, &flat) {
            for id in &ids {
                self.locals[id.0 as usize].kind = LocalKind::Ret;
            }
            return Some(ids);
        }
        let several = flat.len() > 1;
        let mut ids = Vec::new();
        for (i, (ty, _)) in flat.iter().enumerate() {
            let name = if several { format!("result{i}") } else { "result".to_string() };
            let id = self.local(&name, ty.clone(), LocalKind::Ret, result.span);
            self.facts[id.0 as usize].unset = true;
            ids.push(id);
        }
        let mut next = ids.iter();
        let dst = dst_of(ret, &mut next);
        self.into(&dst, result, Some(ret))?;
        Some(ids)
    }

    /// Variables that the result names and that can be the results themselves: distinct, of exactly the
    /// declared types. Then nothing is copied.
    fn adoptable(&self, result: &Expr, flat: &[(Ty, bool)]) -> Option<Vec<LocalId>> {
        let parts: Vec<&Expr> = match &bare(result).kind {
            ExprKind::Tuple(parts) => parts.iter().collect(),
            _ => vec![result],
        };
        let mut ids = Vec::new();
        for part in &parts {
            let ExprKind::Name(path) = &bare(part).kind else { return None };
            let variable = self.variable(&path.name.name).filter(|_| path.module.is_none())?;
            collect_locals(&variable.binding, &mut ids)?;
        }
        let distinct = ids.iter().enumerate().all(|(i, id)| !ids[..i].contains(id));
        let fits = ids.len() == flat.len()
            && ids.iter().zip(flat).all(|(id, (ty, _))| {
                let local = &self.locals[id.0 as usize];
                local.kind == LocalKind::Var && local.ty == *ty && !self.facts[id.0 as usize].ghost
            });
        (distinct && fits).then_some(ids)
    }

    /// Decides secrecy, checks it, turns drafts into statements.
    fn finish(self, span: Span) -> Option<Func> {
        let FnCx { cx, mut locals, facts, out, requirements, name, .. } = self;
        let spans: Vec<Span> = facts.iter().map(|f| f.span).collect();
        let secrecy = secrecy::decide(cx, &locals, &spans, &out);
        let ok = secrecy::check(cx, &locals, &secrecy, &requirements);
        for (i, local) in locals.iter_mut().enumerate() {
            if matches!(local.kind, LocalKind::Var | LocalKind::Ret) {
                local.public = !secrecy.is_secret(LocalId(i as u32));
            }
        }
        let unset: Vec<bool> = facts.iter().map(|f| f.unset).collect();
        let finished = predicate::finish(cx, &mut locals, &secrecy, &unset, out);
        if let Some(branching) = finished.branching {
            cx.branching.insert(name.clone(), branching);
        }
        let mut body = finished.body;
        load_where_public(cx, &locals, &mut body);
        let loc = cx.loc(span);
        ok.then_some(Func {
            name,
            export: None,
            inline: Inline::Auto,
            declassifies: false,
            applies: None,
            lens: Vec::new(),
            params: Vec::new(),
            rets: Vec::new(),
            locals,
            body,
            contracts: Vec::new(),
            doc: String::new(),
            loc,
        })
    }
}

/// Tables are read where their argument is public.
fn load_where_public(cx: &mut Cx, locals: &[Local], body: &mut [Stmt]) {
    for s in body {
        if let Stmt::Call { func, args, .. } = s {
            if args.iter().all(|a| find_read(a, &mut |id| !locals[id.0 as usize].public).is_none()) {
                *func = cx.loading(*func).unwrap_or(*func);
            }
        }
        santoku_ir::visit::blocks_mut(s).into_iter().for_each(|b| load_where_public(cx, locals, b));
    }
}

fn collect_locals(binding: &Binding, ids: &mut Vec<LocalId>) -> Option<()> {
    match binding {
        Binding::Local(id) => ids.push(*id),
        Binding::Tuple(parts) => {
            for p in parts {
                collect_locals(p, ids)?;
            }
        }
        Binding::View(_) | Binding::Poison => return None,
    }
    Some(())
}

/// Destinations with the structure of the type.
pub fn dst_of(ty: &STy, ids: &mut dyn Iterator<Item = &LocalId>) -> Dst {
    match ty {
        STy::One { .. } => Dst::One(Place::local(ids.next().copied().unwrap_or(LocalId(0)))),
        STy::Tuple(parts) => Dst::Tuple(parts.iter().map(|p| dst_of(p, ids)).collect()),
    }
}

/// The locals behind a destination, in order.
pub fn roots(dst: &Dst, out: &mut Vec<LocalId>) {
    match dst {
        Dst::One(place) => out.extend(root(place)),
        Dst::Tuple(parts) => parts.iter().for_each(|p| roots(p, out)),
    }
}
