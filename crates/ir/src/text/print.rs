//! Printer of the text form.

use super::lex::{is_ident, is_ident_start, quoted, RefKind};
use super::natural::natural_ty;
use crate::data::*;
use crate::spec::{Contract, ContractKind, Ghost, SpecFn};
use crate::ty::{Len, LocalId, Range, StructId, Ty};
use crate::typing::Scope;
use num_bigint::BigInt;
use num_traits::Signed;

/// Entries of a constant table on one line.
const TABLE_COLUMN: usize = 16;

pub(super) struct Printer<'p> {
    pub program: &'p Program,
    pub scope: Scope<'p>,
    pub out: String,
    indent: usize,
}

pub(super) fn program(program: &Program) -> String {
    let scope = Scope { structs: &program.structs, consts: &program.consts, locals: &[] };
    let mut p = Printer { program, scope, out: String::from("santoku-ir 1\n"), indent: 0 };
    for file in &program.files {
        p.line(&format!("file {}", quoted(file)));
    }
    for def in &program.structs {
        let fields: Vec<String> = def.fields.iter().map(|(n, t)| format!("{}: {}", name(n), p.ty(t))).collect();
        p.line(&format!("struct {} {{ {} }}", name(&def.name), fields.join(", ")));
    }
    for c in &program.consts {
        let value = const_value(&c.value);
        let text = format!("const {}: {} = {value}{}", name(&c.name), p.ty(&c.ty), loc(c.loc));
        p.line(&text);
    }
    for f in &program.specs {
        p.spec_fn(f);
    }
    for f in &program.funcs {
        p.func(f);
    }
    for t in &program.tests {
        let cases = t.cases.iter().flat_map(|c| std::iter::once(format!(" from {}", quoted(&c.file))).chain(c.fields.iter().map(|f| format!(" {}", quoted(f)))));
        let text = format!("test {} {}{}", quoted(&t.name), p.func_ref(t.func), cases.collect::<String>());
        p.line(&text);
    }
    p.out
}

/// One function as it stands in the text of its program.
pub fn func_text(program: &Program, func: &Func) -> String {
    let mut p = printer(program, func);
    p.func(func);
    p.out
}

/// An expression of `func` as text.
pub fn expr_text(program: &Program, func: &Func, e: &Expr) -> String {
    printer(program, func).expr(e)
}

/// A place of `func` as text.
pub fn place_text(program: &Program, func: &Func, place: &Place) -> String {
    printer(program, func).place(place)
}

/// A type of `func` as text.
pub fn ty_text(program: &Program, func: &Func, ty: &Ty) -> String {
    printer(program, func).ty(ty)
}

fn printer<'p>(program: &'p Program, func: &'p Func) -> Printer<'p> {
    Printer { program, scope: Scope::of(program, func), out: String::new(), indent: 0 }
}

/// Names that read as identifiers stand bare, others quoted.
fn name(s: &str) -> String {
    if plain(s) {
        s.to_string()
    } else {
        quoted(s)
    }
}

fn plain(s: &str) -> bool {
    s.bytes().next().is_some_and(is_ident_start) && s.bytes().all(is_ident)
}

fn loc(at: Loc) -> String {
    if at == Loc::default() {
        return String::new();
    }
    let span = if (at.start, at.end) == (0, 0) { String::new() } else { format!("+{}:{}", at.start, at.end) };
    format!(" @{}:{}:{}{span}", at.file, at.line, at.col)
}

fn range(r: &Range) -> String {
    format!("{}..{}", r.lo, r.hi)
}

fn const_value(v: &ConstValue) -> String {
    let list = |vs: &[ConstValue]| {
        let mut out = String::new();
        for (i, v) in vs.iter().enumerate() {
            out.push_str(match i {
                0 => "",
                i if i % TABLE_COLUMN == 0 => ",\n  ",
                _ => ", ",
            });
            out.push_str(&const_value(v));
        }
        out
    };
    match v {
        ConstValue::Scalar(v) => v.to_string(),
        ConstValue::Array(vs) => format!("[{}]", list(vs)),
        ConstValue::Struct(vs) => format!("{{{}}}", list(vs)),
    }
}

fn word(v: &BigInt) -> String {
    if v.is_negative() || *v < BigInt::from(10) {
        v.to_string()
    } else {
        format!("{v:#x}")
    }
}

pub(super) fn bin_symbol(op: BinOp) -> &'static str {
    match op {
        BinOp::Add => "+",
        BinOp::Sub => "-",
        BinOp::Mul => "*",
        BinOp::Div => "/",
        BinOp::Mod => "%",
        BinOp::And => "&",
        BinOp::Or => "|",
        BinOp::Xor => "^",
        BinOp::Shl => "<<",
        BinOp::Shr => ">>",
        BinOp::Rotl => "<<<",
        BinOp::Rotr => ">>>",
    }
}

pub(super) fn cmp_symbol(op: CmpOp) -> &'static str {
    match op {
        CmpOp::Eq => "==",
        CmpOp::Ne => "!=",
        CmpOp::Lt => "<",
        CmpOp::Le => "<=",
        CmpOp::Gt => ">",
        CmpOp::Ge => ">=",
    }
}

impl<'p> Printer<'p> {
    fn line(&mut self, text: &str) {
        for _ in 0..self.indent {
            self.out.push_str("  ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    pub fn reference(kind: RefKind, id: u32, name: Option<&str>) -> String {
        let shown = name.filter(|n| plain(n)).unwrap_or("");
        format!("{shown}#{}{id}", kind.letter())
    }

    fn local(&self, id: LocalId) -> String {
        let local = self.scope.locals.get(id.0 as usize);
        Self::reference(RefKind::Local, id.0, local.map(|l| l.name.as_str()))
    }

    fn func_ref(&self, id: FuncId) -> String {
        let func = self.program.funcs.get(id.0 as usize);
        Self::reference(RefKind::Func, id.0, func.map(|f| f.name.as_str()))
    }

    fn struct_ref(&self, id: StructId) -> String {
        let def = self.program.structs.get(id.0 as usize);
        Self::reference(RefKind::Struct, id.0, def.map(|d| d.name.as_str()))
    }

    pub fn ty(&self, ty: &Ty) -> String {
        match ty {
            Ty::Word(bits) => format!("u{bits}"),
            Ty::Bool => "bool".to_string(),
            Ty::Int(None) => "int".to_string(),
            Ty::Int(Some(r)) => format!("int {}", range(r)),
            Ty::Struct(id) => self.struct_ref(*id),
            Ty::Array { elem, len, ranges } => {
                let len = match len {
                    Len::Const(n) => n.to_string(),
                    Len::Param { param, add: 0 } => self.local(*param),
                    Len::Param { param, add } if *add < 0 => format!("{} - {}", self.local(*param), add.unsigned_abs()),
                    Len::Param { param, add } => format!("{} + {add}", self.local(*param)),
                };
                let each = ranges.as_ref().map(|rs| {
                    let all: Vec<String> = rs.iter().map(range).collect();
                    format!(" | {}", all.join(", "))
                });
                format!("[{}; {len}{}]", self.ty(elem), each.unwrap_or_default())
            }
        }
    }

    pub fn place(&self, place: &Place) -> String {
        let mut out = match place.base {
            Base::Local(id) => self.local(id),
            Base::Const(id) => {
                let c = self.program.consts.get(id.0 as usize);
                Self::reference(RefKind::Const, id.0, c.map(|c| c.name.as_str()))
            }
        };
        for proj in &place.projs {
            out.push_str(&match proj {
                Proj::Field(i) => format!(".{i}"),
                Proj::Index(e) => format!("[{}]", self.expr(e)),
                Proj::Slice { off, len } => format!("[{}; {len}]", self.expr(off)),
            });
        }
        out
    }

    fn list(&self, es: &[Expr]) -> String {
        es.iter().map(|e| self.expr(e)).collect::<Vec<_>>().join(", ")
    }

    pub fn expr(&self, e: &Expr) -> String {
        let typed = |text: String| format!("({text} : {})", self.ty(&e.ty));
        let text = match &e.kind {
            ExprKind::Const(v) => return self.constant(v, &e.ty),
            ExprKind::Cast(a) => return format!("cast<{}>({})", self.ty(&e.ty), self.expr(a)),
            ExprKind::Repeat(a) => return format!("repeat<{}>({})", self.ty(&e.ty), self.expr(a)),
            ExprKind::Bin(op, a, b) => {
                let text = format!("{} {} {}", self.expr(a), bin_symbol(*op), self.expr(b));
                return self.infix(&text, e);
            }
            ExprKind::Cmp(op, a, b) => {
                let text = format!("{} {} {}", self.expr(a), cmp_symbol(*op), self.expr(b));
                return self.infix(&text, e);
            }
            ExprKind::Read(place) => self.place(place),
            ExprKind::Un(UnOp::Neg, a) => format!("neg({})", self.expr(a)),
            ExprKind::Un(UnOp::Not, a) => format!("not({})", self.expr(a)),
            ExprKind::Select(c, a, b) => format!("select({}, {}, {})", self.expr(c), self.expr(a), self.expr(b)),
            ExprKind::Array(es) => format!("[{}]", self.list(es)),
            ExprKind::Struct(id, es) => format!("{}{{{}}}", self.struct_ref(*id), self.list(es)),
        };
        if natural_ty(&e.kind, self.scope).as_ref() == Some(&e.ty) {
            text
        } else {
            typed(text)
        }
    }

    fn infix(&self, text: &str, e: &Expr) -> String {
        if natural_ty(&e.kind, self.scope).as_ref() == Some(&e.ty) {
            format!("({text})")
        } else {
            format!("({text} : {})", self.ty(&e.ty))
        }
    }

    fn constant(&self, v: &BigInt, ty: &Ty) -> String {
        match ty {
            Ty::Int(None) => v.to_string(),
            Ty::Word(bits) => format!("{}u{bits}", word(v)),
            Ty::Bool if *v == BigInt::from(0) => "false".to_string(),
            Ty::Bool if *v == BigInt::from(1) => "true".to_string(),
            Ty::Bool | Ty::Int(Some(_)) | Ty::Array { .. } | Ty::Struct(_) => format!("({v} : {})", self.ty(ty)),
        }
    }

    fn spec_fn(&mut self, f: &SpecFn) {
        let params: Vec<String> = f.params.iter().map(|p| name(p)).collect();
        let body = self.spec(&f.body);
        self.line(&format!("spec {}({}) = {body}{}", name(&f.name), params.join(", "), loc(f.loc)));
    }

    fn func(&mut self, f: &'p Func) {
        self.scope = Scope::of(self.program, f);
        let inline = match f.inline {
            Inline::Auto => "",
            Inline::Always => " inline",
            Inline::Never => " noinline",
        };
        let declassifies = if f.declassifies { " declassifies" } else { "" };
        let export = f.export.as_ref().map(|e| format!(" export {}", quoted(e))).unwrap_or_default();
        let applies = f.applies.map(|applies| {
            let (word, c) = match applies {
                Applies::Table(c) => ("table", c),
                Applies::Perm(c) => ("perm", c),
                Applies::Each => return " each".to_string(),
            };
            format!(" {word} {}", Self::reference(RefKind::Const, c.0, self.program.consts.get(c.0 as usize).map(|c| c.name.as_str())))
        });
        let applies = applies.unwrap_or_default();
        self.line(&format!("fn {}{inline}{declassifies}{applies}{export}{} {{", name(&f.name), loc(f.loc)));
        self.indent += 1;
        if !f.doc.is_empty() {
            self.line(&format!("doc {}", quoted(&f.doc)));
        }
        for l in &f.locals {
            let public = if l.public { "public " } else { "" };
            let text = format!("{} {}: {public}{}{}", kind_word(l.kind), name(&l.name), self.ty(&l.ty), loc(l.loc));
            self.line(&text);
        }
        for (word, kind, list) in [
            ("lens", LocalKind::Len, &f.lens),
            ("params", LocalKind::Param, &f.params),
            ("rets", LocalKind::Ret, &f.rets),
        ] {
            if *list != of_kind(&f.locals, kind) {
                let ids: Vec<String> = list.iter().map(|id| self.local(*id)).collect();
                self.line(&format!("{word} ({})", ids.join(", ")));
            }
        }
        f.contracts.iter().for_each(|c| self.contract(c));
        self.block("body", &f.body);
        self.indent -= 1;
        self.line("}");
        self.scope.locals = &[];
    }

    fn contract(&mut self, c: &Contract) {
        let word = match c.kind {
            ContractKind::Requires => "requires",
            ContractKind::Ensures => "ensures",
        };
        let cond = self.spec(&c.cond);
        self.line(&format!("{word} {cond} {}{}", quoted(&c.text), loc(c.loc)));
    }

    fn block(&mut self, head: &str, body: &[Stmt]) {
        if body.is_empty() {
            return self.line(&format!("{head} {{}}"));
        }
        self.line(&format!("{head} {{"));
        self.indent += 1;
        body.iter().for_each(|s| self.stmt(s));
        self.indent -= 1;
        self.line("}");
    }

    fn stmt(&mut self, s: &Stmt) {
        let at = loc(s.loc());
        match s {
            Stmt::Assign { dst, src, .. } => {
                let text = format!("{} = {}{at}", self.place(dst), self.expr(src));
                self.line(&text);
            }
            Stmt::Call { dsts, func, lens, args, .. } => {
                let dsts: Vec<String> = dsts.iter().map(|d| self.place(d)).collect();
                let lens = if lens.is_empty() { String::new() } else { format!("<{}>", self.list(lens)) };
                let call = format!("{}{lens}({})", self.func_ref(*func), self.list(args));
                self.line(&format!("call ({}) = {call}{at}", dsts.join(", ")));
            }
            Stmt::For { var, lo, hi, rev, unroll, invariants, body, .. } => {
                let mut head = format!("for {} in {} ..< {}", self.local(*var), self.expr(lo), self.expr(hi));
                head.push_str(if *rev { " rev" } else { "" });
                head.push_str(match unroll {
                    Unroll::Auto => "",
                    Unroll::Always => " unroll",
                    Unroll::Never => " rolled",
                });
                invariants.iter().for_each(|e| head.push_str(&format!(" invariant {}", self.expr(e))));
                head.push_str(&at);
                self.block(&head, body);
            }
            Stmt::If { cond, then, els, .. } => {
                let head = format!("if {}{at}", self.expr(cond));
                self.block(&head, then);
                if !els.is_empty() {
                    self.block("else", els);
                }
            }
            Stmt::Assert { cond, text, .. } => {
                let text = format!("assert {} {}{at}", self.expr(cond), quoted(text));
                self.line(&text);
            }
            Stmt::Ghost { what, text, .. } => {
                let what = match what {
                    Ghost::Assert(e) => format!("assert {}", self.spec(e)),
                    Ghost::Invariant(e) => format!("invariant {}", self.spec(e)),
                    Ghost::Let(id, e) => format!("let {} = {}", self.local(*id), self.spec(e)),
                    Ghost::Lemma(id, es) => format!("lemma {}({})", self.func_ref(*id), self.specs(es)),
                };
                self.line(&format!("ghost {what} {}{at}", quoted(text)));
            }
        }
    }
}

fn kind_word(kind: LocalKind) -> &'static str {
    match kind {
        LocalKind::Len => "len",
        LocalKind::Param => "param",
        LocalKind::Ret => "ret",
        LocalKind::Var => "var",
        LocalKind::Counter => "counter",
    }
}

/// The locals of one kind in order: what `lens`, `params` and `rets` are when the text does not say.
pub(super) fn of_kind(locals: &[Local], kind: LocalKind) -> Vec<LocalId> {
    (0..locals.len()).filter(|i| locals[*i].kind == kind).map(|i| LocalId(i as u32)).collect()
}
