//! One function: C types of its locals, signature, body.

use crate::context::{storage, FnCx, Res, Signature, UnitCx};
use crate::ctype::{is_empty, CTy};
use crate::scope::BlockPath;
use crate::{EmitError, LOCAL_BYTES};
use santoku_ir::visit::walk_stmts;
use santoku_ir::{Base, ExprKind, Func, FuncId, Len, LocalId, LocalKind, Place, Proj, Range, Stmt, Ty};
use santoku_num::Int;
use std::collections::BTreeMap;
use std::fmt::Write;

impl<'a> FnCx<'a> {
    pub fn new(unit: &'a UnitCx<'a>, id: FuncId) -> Res<FnCx<'a>> {
        let f = unit.program.func(id);
        let mut cx = FnCx {
            unit,
            f,
            loc: f.loc,
            names: vec![],
            ctys: vec![],
            by_pointer: vec![false; f.locals.len()],
            fresh: unit.globals.clone(),
            out: String::new(),
            indent: 1,
            declared_at: (unit.opts.decisions.blocks)(f),
            one: None,
        };
        for l in &f.locals {
            cx.names.push(cx.fresh.fresh(&l.name));
            let aggregate = cx.storage(&l.ty, &l.name, l.public)?;
            cx.ctys.push(match aggregate {
                CTy::Int(t) => CTy::Int(t.promoted()),
                other => other,
            });
        }
        cx.counter_types()?;
        cx.adopt_callee_types();
        cx.merge();
        if f.rets.len() > 1 {
            for r in &f.rets {
                cx.by_pointer[r.0 as usize] = !cx.ctys[r.0 as usize].is_aggregate();
            }
        }
        Ok(cx)
    }

    /// The C type for a core type; scalars here are element types (as narrow as the range allows).
    fn storage(&self, ty: &Ty, what: &str, public: bool) -> Res<CTy> {
        storage(self.unit, ty, public).map_err(|e| e.of(self.unit, self.f, what))
    }

    /// A counter holds its values, the one it is stepped to at the end, and the bound it starts from, which may be none of them:
    /// then the loop has no round.
    fn counter_types(&mut self) -> Res<()> {
        // Of each counter: what it is set to, and everything between the bounds of its loops.
        let mut seen: BTreeMap<LocalId, (Range, Range)> = BTreeMap::new();
        let mut error = None;
        walk_stmts(&self.f.body, &mut |s| {
            let Stmt::For { var, lo, hi, rev, .. } = s else { return };
            let Ty::Int(Some(values)) = &self.f.local(*var).ty else { return };
            match (self.range_of(lo), self.range_of(hi)) {
                (Ok(lo), Ok(hi)) => {
                    let stepped = Range::new(&values.lo, values.hi.add(&Int::ONE));
                    let set = stepped.join(if *rev { &hi } else { &lo });
                    let (sets, all) = seen.entry(*var).or_insert_with(|| (set.clone(), values.clone()));
                    (*sets, *all) = (sets.join(&set), all.join(&lo).join(&hi));
                }
                (Err(e), _) | (_, Err(e)) => error = Some(e),
            }
        });
        for (id, (sets, all)) in seen {
            // A step past the last value of the widest type is past no bound.
            self.ctys[id.0 as usize] = CTy::Int(self.fit(&sets).or_else(|_| self.fit(&all))?);
        }
        error.map_or(Ok(()), Err)
    }

    /// An array handed to a callee takes the callee's element type, where that is wider: no conversion is needed then.
    fn adopt_callee_types(&mut self) {
        let f = self.f;
        walk_stmts(&f.body, &mut |s| {
            let Stmt::Call { dsts, func, args, .. } = s else { return };
            let sig = &self.unit.signatures[func.0 as usize];
            for (d, t) in dsts.iter().zip(&sig.rets) {
                self.adopt(d, t);
            }
            for (a, t) in args.iter().zip(&sig.params) {
                if let ExprKind::Read(p) = &a.kind {
                    self.adopt(p, t);
                }
            }
        });
    }

    /// The name of the result for a variable that becomes it, if C stores both alike.
    fn merge(&mut self) {
        let Some((var, ret)) = (self.unit.opts.decisions.one_object)(self.f).filter(|(v, r)| self.ctys[v.0 as usize] == self.ctys[r.0 as usize]) else { return };
        self.names[var.0 as usize] = self.names[ret.0 as usize].clone();
        self.declared_at.values_mut().for_each(|ids| ids.retain(|id| *id != var));
        self.one = Some((var, ret));
    }

    fn adopt(&mut self, p: &Place, t: &CTy) {
        let Base::Local(id) = p.base else { return };
        let local = self.f.local(id);
        if local.kind != LocalKind::Var || !t.is_aggregate() || p.projs.iter().any(|j| matches!(j, Proj::Field(_))) {
            return;
        }
        if let (CTy::Int(have), CTy::Int(want)) = (self.ctys[id.0 as usize].leaf().clone(), t.leaf()) {
            if (self.unit.opts.decisions.adopts)(have, *want, leaf_range(&local.ty).as_ref()) {
                *self.ctys[id.0 as usize].leaf_mut() = CTy::Int(*want);
            }
        }
    }

    pub fn root(&mut self, base: Base) -> (String, CTy) {
        match base {
            Base::Local(id) => {
                let k = id.0 as usize;
                let name = &self.names[k];
                let text = if self.by_pointer[k] { format!("(*{name})") } else { name.clone() };
                (text, self.ctys[k].clone())
            }
            Base::Const(id) => self.unit.const_root(id),
        }
    }

    /// Struct parameters and results are pointers in C.
    pub fn root_is_pointer_struct(&self, base: Base) -> bool {
        match base {
            Base::Local(id) => {
                let kind = self.f.local(id).kind;
                matches!(self.ctys[id.0 as usize], CTy::Struct(_)) && matches!(kind, LocalKind::Param | LocalKind::Ret)
            }
            Base::Const(_) => false,
        }
    }

    /// Declarator `type name[..]` for an object of type `t`.
    pub fn declarator(&self, t: &CTy, name: &str) -> Res<String> {
        let mut dims = String::new();
        let mut at = t;
        while let CTy::Array(e, len) = at {
            match len {
                Len::Const(n) => {
                    // C has no empty arrays.
                    let _ = write!(dims, "[{}]", (*n).max(1));
                }
                Len::Param { param, add } if dims.is_empty() => {
                    let _ = write!(dims, "[{}]", self.storage_bound(*param, *add, at.leaf(), name)?.max(1));
                }
                Len::Param { .. } => return Err(self.unsupported(format!("an array of arrays of public run-time length (`{name}`)"))),
            }
            at = e;
        }
        Ok(format!("{} {name}{dims}", self.unit.scalar_name(at)))
    }

    /// Elements of a local array for the greatest length that is declared.
    fn storage_bound(&self, param: LocalId, add: i64, elem: &CTy, name: &str) -> Res<u64> {
        let bytes = if let CTy::Int(t) = elem { u64::from(t.bits / 8) } else { LOCAL_BYTES };
        crate::storage::greatest(self.f, param, add, bytes).ok_or_else(|| EmitError::Storage {
            func: self.f.name.clone(),
            array: name.into(),
            length: self.f.local(param).name.clone(),
            loc: self.loc,
        })
    }

    pub fn declare_block(&mut self, path: &BlockPath) -> Res<()> {
        let Some(ids) = self.declared_at.get(path).cloned() else { return Ok(()) };
        for id in ids {
            let k = id.0 as usize;
            let outer = self.loc;
            if self.f.local(id).loc.line > 0 {
                self.loc = self.f.local(id).loc;
            }
            let text = self.declarator(&self.ctys[k].clone(), &self.names[k].clone())?;
            self.loc = outer;
            let note = range_note(&self.f.local(id).ty).map_or(String::new(), |r| format!(" /* {r} */"));
            // An array of no elements is read by nobody, yet passed on as an argument: compilers warn of what holds no value.
            let value = if is_empty(&self.ctys[k]) { " = {0}" } else { "" };
            self.line(&format!("{text}{value};{note}"));
        }
        Ok(())
    }

    /// The whole function definition.
    pub fn define(mut self, sig: &Signature, linkage: &str) -> Res<String> {
        let inside = self.names.clone();
        let sizes = self.sizes(sig);
        for (id, (name, _)) in &sizes {
            self.names[id.0 as usize] = name.clone();
        }
        let head = self.prototype(sig, &sig.written())?;
        self.names = inside;
        let mut text = doc_comment(self.f, &self.names);
        let _ = writeln!(text, "{linkage}{head}\n{{");
        for (id, (name, _)) in &sizes {
            let _ = writeln!(text, "    uint32_t {} = (uint32_t){name};", self.names[id.0 as usize]);
        }
        for (name, most) in sizes.values() {
            self.line(&format!("STK_LENGTH({name}, {most}u);"));
        }
        let ret = self.f.rets.first().copied().filter(|_| sig.returns);
        if let Some(r) = ret {
            let d = self.declarator(&self.ctys[r.0 as usize].clone(), &self.names[r.0 as usize].clone())?;
            self.line(&format!("{d};"));
        }
        let body = &self.f.body;
        self.block(body, &mut vec![])?;
        if let Some(r) = ret {
            let n = self.names[r.0 as usize].clone();
            self.line(&format!("return {n};"));
        }
        for p in self.f.lens.iter().chain(&self.f.params) {
            let name = &self.names[p.0 as usize];
            if !crate::preamble::mentions(&self.out, name) {
                let _ = writeln!(text, "    (void){name};");
            }
        }
        text.push_str(&self.out);
        text.push_str("}\n");
        Ok(text)
    }

    /// The lengths that others give: for each the name of the parameter, whose value is checked before anything uses it, and the bound.
    fn sizes(&mut self, sig: &Signature) -> BTreeMap<LocalId, (String, Int)> {
        let f = self.f;
        let given = f.lens.iter().filter(|_| sig.sizes);
        let most = |id: LocalId| leaf_range(&f.local(id).ty).map(|r| r.hi);
        given.filter_map(|id| Some((*id, (self.fresh.fresh(&format!("size_{}", f.local(*id).name)), most(*id)?)))).collect()
    }

    /// The function that others call: it calls this one and clears the stack.
    pub fn clearing(&self, sig: &Signature, linkage: &str) -> Res<String> {
        let results = if sig.returns { &[][..] } else { &self.f.rets[..] };
        let all = results.iter().chain(&self.f.lens).chain(&self.f.params).map(|id| self.names[id.0 as usize].as_str());
        let call = format!("{}({})", sig.written(), all.collect::<Vec<_>>().join(", "));
        let head = self.prototype(sig, &sig.written_outside())?;
        let clear = format!("    STK_CLEAR({});\n", crate::clear::stack_macro(&self.unit.opts.unit));
        let body = match self.f.rets.first().filter(|_| sig.returns) {
            Some(r) => {
                let name = &self.names[r.0 as usize];
                format!("    {} = {call};\n{clear}    return {name};\n", self.declarator(&self.ctys[r.0 as usize], name)?)
            }
            None => format!("    {call};\n{clear}"),
        };
        Ok(format!("/* {}, of which no secret stays behind */\n{linkage}{head}\n{{\n{body}}}\n\n", self.f.name))
    }

    /// `type name(results, lengths, parameters)`, for a definition.
    pub fn prototype(&self, sig: &Signature, name: &str) -> Res<String> {
        self.head(sig, name, "restrict ")
    }

    /// The same for a header: C++ has no `restrict`, and a declaration is compatible without it.
    pub fn declaration(&self, sig: &Signature, name: &str) -> Res<String> {
        self.head(sig, name, "")
    }

    fn head(&self, sig: &Signature, name: &str, alone: &str) -> Res<String> {
        let mut ps = vec![];
        if !sig.returns {
            for (r, t) in self.f.rets.iter().zip(&sig.rets) {
                let index = ps.len();
                let shared = t.is_aggregate() && self.unit.in_place[self.unit.index_of(self.f)].any(index);
                let restrict = if shared { "" } else { alone };
                ps.push(self.parameter(t, &self.names[r.0 as usize], "", restrict));
            }
        }
        for l in &self.f.lens {
            ps.push(format!("{} {}", if sig.sizes { "size_t" } else { "uint32_t" }, self.names[l.0 as usize]));
        }
        for (p, t) in self.f.params.iter().zip(&sig.params) {
            ps.push(self.parameter(t, &self.names[p.0 as usize], "const ", ""));
        }
        let ret = if sig.returns { self.unit.scalar_name(&sig.rets[0]) } else { "void".to_string() };
        Ok(format!("{ret} {name}({})", if ps.is_empty() { "void".to_string() } else { ps.join(", ") }))
    }

    /// A parameter: scalars by value (results by pointer), aggregates by pointer to the first element.
    fn parameter(&self, t: &CTy, name: &str, qualifier: &str, restrict: &str) -> String {
        match t {
            CTy::Array(elem, _) => {
                let mut dims = String::new();
                let mut at: &CTy = elem;
                while let CTy::Array(e, Len::Const(n)) = at {
                    let _ = write!(dims, "[{n}]");
                    at = e;
                }
                // C (before C23) does not convert `T (*)[n]` to `const T (*)[n]`: nested arrays stay unqualified.
                let q = if dims.is_empty() { qualifier } else { "" };
                let base = self.unit.scalar_name(at);
                if dims.is_empty() {
                    format!("{q}{base} *{restrict}{name}")
                } else {
                    format!("{q}{base} (*{restrict}{name}){dims}")
                }
            }
            CTy::Struct(_) => format!("{qualifier}{} *{restrict}{name}", self.unit.scalar_name(t)),
            CTy::Int(_) | CTy::Vec(_) if qualifier.is_empty() => format!("{} *{restrict}{name}", self.unit.scalar_name(t)),
            CTy::Int(_) | CTy::Vec(_) => format!("{} {name}", self.unit.scalar_name(t)),
        }
    }
}

/// Proven or declared range of the integers in an array, joined.
fn leaf_range(ty: &Ty) -> Option<Range> {
    match ty {
        Ty::Int(r) => r.clone(),
        Ty::Array { ranges: Some(rs), .. } => rs.iter().cloned().reduce(|a, b| a.join(&b)),
        Ty::Array { elem, .. } => leaf_range(elem),
        Ty::Word(_) | Ty::Bool | Ty::Struct(_) => None,
    }
}

/// `lo .. hi` for the reader of the C text.
fn range_note(ty: &Ty) -> Option<String> {
    let r = leaf_range(ty)?;
    Some(format!("{} .. {}", show(&r.lo.to_big()), show(&r.hi.to_big())))
}

/// Powers of two and their neighbours in power form, the rest in decimal.
fn show(v: &num_bigint::BigInt) -> String {
    use num_traits::Signed;
    let a = v.abs();
    if a.bits() <= 12 {
        return v.to_string();
    }
    let sign = if v.is_negative() { "-" } else { "" };
    for d in -1..=1i32 {
        let n = &a - d;
        if let Some(k) = n.trailing_zeros() {
            if n == num_bigint::BigInt::from(1) << k {
                return match (d, sign) {
                    (0, s) => format!("{s}2^{k}"),
                    (_, "") => format!("2^{k}{}{}", if d < 0 { "-" } else { "+" }, d.abs()),
                    _ => format!("-(2^{k}{}{})", if d < 0 { "-" } else { "+" }, d.abs()),
                };
            }
        }
    }
    v.to_string()
}

/// Documentation as lines of a C comment, which they neither end nor nest.
pub fn doc_lines(f: &Func) -> Vec<String> {
    let lines = f.doc.lines().map(str::trim).filter(|l| !l.is_empty());
    lines.map(in_comment).collect()
}

/// Text on one line that neither ends a C comment nor begins one.
pub fn in_comment(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace("*/", "* /").replace("/*", "/ *")
}

fn doc_comment(f: &Func, names: &[String]) -> String {
    let mut text = format!("/* {}", f.name);
    for line in doc_lines(f) {
        let _ = write!(text, "\n * {line}");
    }
    let mut notes = vec![];
    for (what, ids) in [("in", &f.params), ("out", &f.rets)] {
        for id in ids {
            if let Some(r) = range_note(&f.local(*id).ty) {
                notes.push(format!("\n * {what} {}: {r}", names[id.0 as usize]));
            }
        }
    }
    text.push_str(&notes.concat());
    text.push_str(" */\n");
    text
}
