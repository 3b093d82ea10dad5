//! Programs as trees: what the generator grows, the shrinker cuts and the printer writes as source text.
//!
//! Needs: nothing.  Keeps: what is printed is what [`crate::run`] executes.  Absent: anything the language cannot say.

use num_bigint::BigInt;
use std::fmt::Write;

pub type Bounds = (BigInt, BigInt);

#[derive(Clone, Debug, PartialEq)]
pub enum Ty {
    Int,
    Word(u32),
    Bool,
    Arr(Box<Ty>, usize),
    Struct(usize),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Rotl,
    Rotr,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rel {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Ex {
    Lit(BigInt, Ty),
    Var(usize),
    /// Counts, divisors and masks of exact integers are literals.
    Bin(Op, Box<Ex>, Box<Ex>),
    Neg(Box<Ex>),
    Not(Box<Ex>),
    /// To a word or to `int`.
    Cast(Ty, Box<Ex>),
    Cmp(Rel, Box<Ex>, Box<Ex>),
    Sel(Box<Ex>, Box<Ex>, Box<Ex>),
    Idx(Box<Ex>, Box<Ex>),
    Slice(Box<Ex>, Box<Ex>, usize),
    Field(Box<Ex>, usize),
    List(Vec<Ex>),
    Rec(usize, Vec<Ex>),
    Table(usize),
    Call(usize, Vec<Ex>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum St {
    /// `let` or `var`, with a declared range.
    Let(usize, Ex),
    /// To a variable, an element, a slice or a field of one.
    Set(Ex, Ex),
    /// Bounds are public; invariants are checked as assertions are.
    For { var: usize, lo: Ex, hi: Ex, rev: bool, invariants: Vec<Ex>, body: Vec<St> },
    If(Ex, Vec<St>, Vec<St>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Var {
    pub name: String,
    pub ty: Ty,
    /// Of the integer, or of every element.
    pub range: Option<Bounds>,
    pub public: bool,
    pub mutable: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Func {
    pub name: String,
    pub vars: Vec<Var>,
    /// The first variables are the parameters.
    pub params: usize,
    pub body: Vec<St>,
    pub result: Ex,
    pub ret: Option<Bounds>,
    /// What the inputs must meet.
    pub needs: Vec<Ex>,
    /// Other clauses as text, keyword included.
    pub clauses: Vec<String>,
    /// Lines of text after the body, and a result in place of `result`.
    pub tail: Option<Tail>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Tail {
    pub lines: Vec<String>,
    pub ret: String,
    pub result: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub elem: Ty,
    pub values: Vec<BigInt>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prog {
    /// Fields with their declared ranges.
    pub structs: Vec<Vec<(Ty, Option<Bounds>)>>,
    pub tables: Vec<Table>,
    /// The last is the one under attack.
    pub funcs: Vec<Func>,
    /// Items as text, before the last function.
    pub items: String,
}

impl Prog {
    pub fn main(&self) -> &Func {
        &self.funcs[self.funcs.len() - 1]
    }
    /// The type of an expression of `f`.
    pub fn ty(&self, f: &Func, e: &Ex) -> Ty {
        match e {
            Ex::Lit(_, t) => t.clone(),
            Ex::Var(v) => f.vars[*v].ty.clone(),
            Ex::Bin(_, a, _) | Ex::Neg(a) | Ex::Not(a) | Ex::Sel(_, a, _) => self.ty(f, a),
            Ex::Cast(t, _) => t.clone(),
            Ex::Cmp(..) => Ty::Bool,
            Ex::Idx(a, _) => match self.ty(f, a) {
                Ty::Arr(t, _) => *t,
                t => t,
            },
            Ex::Slice(a, _, n) => match self.ty(f, a) {
                Ty::Arr(t, _) => Ty::Arr(t, *n),
                t => t,
            },
            Ex::Field(a, i) => match self.ty(f, a) {
                Ty::Struct(s) => self.structs[s][*i].0.clone(),
                t => t,
            },
            Ex::List(es) => Ty::Arr(Box::new(self.ty(f, &es[0])), es.len()),
            Ex::Rec(s, _) => Ty::Struct(*s),
            Ex::Table(t) => Ty::Arr(Box::new(self.tables[*t].elem.clone()), self.tables[*t].values.len()),
            Ex::Call(g, _) => self.ty(&self.funcs[*g], &self.funcs[*g].result),
        }
    }

    /// The last function, and of the rest what it needs.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.func(&mut text, self.main());
        text.insert_str(0, &self.items);
        for f in self.funcs.iter().rev().skip(1).filter(|_| self.funcs.len() > 1) {
            if text.contains(&format!("{}(", f.name)) {
                let mut own = String::new();
                self.func(&mut own, f);
                text.insert_str(0, &own);
            }
        }
        for (i, t) in self.tables.iter().enumerate().rev().filter(|(i, _)| text.contains(&format!("K{i}"))).collect::<Vec<_>>() {
            let values: Vec<String> = t.values.iter().map(BigInt::to_string).collect();
            let line = format!("const K{i}: [{}; {}] = [{}]\n", show_ty(&t.elem, &None), t.values.len(), values.join(", "));
            text.insert_str(0, &line);
        }
        for (i, fields) in self.structs.iter().enumerate().rev().filter(|(i, _)| text.contains(&format!("S{i}"))).collect::<Vec<_>>() {
            let fields: Vec<String> = fields.iter().enumerate().map(|(k, (t, r))| format!("f{k}: {}", show_ty(t, r))).collect();
            text.insert_str(0, &format!("struct S{i} {{ {} }}\n", fields.join(", ")));
        }
        text
    }

    fn func(&self, out: &mut String, f: &Func) {
        let params: Vec<String> = f.vars[..f.params]
            .iter()
            .map(|v| format!("{}: {}{}", v.name, if v.public { "public " } else { "" }, show_ty(&v.ty, &v.range)))
            .collect();
        let ret = f.tail.as_ref().map_or_else(|| show_ty(&self.ty(f, &f.result), &f.ret), |t| t.ret.clone());
        let _ = writeln!(out, "fn {}({}) -> {ret}", f.name, params.join(", "));
        for c in &f.needs {
            let _ = writeln!(out, "  requires {}", self.show(f, c));
        }
        for c in &f.clauses {
            let _ = writeln!(out, "  {c}");
        }
        let _ = writeln!(out, "{{");
        self.block(out, f, &f.body, 1);
        for l in f.tail.iter().flat_map(|t| &t.lines) {
            let _ = writeln!(out, "  {l}");
        }
        let result = f.tail.as_ref().map_or_else(|| self.show(f, &f.result), |t| t.result.clone());
        let _ = writeln!(out, "  {result}\n}}");
    }

    fn block(&self, out: &mut String, f: &Func, body: &[St], depth: usize) {
        let pad = "  ".repeat(depth);
        for s in body {
            match s {
                St::Let(v, e) => {
                    let var = &f.vars[*v];
                    let word = if var.mutable { "var" } else { "let" };
                    let _ = writeln!(out, "{pad}{word} {}: {} = {}", var.name, show_ty(&var.ty, &var.range), self.show(f, e));
                }
                St::Set(place, e) => {
                    let _ = writeln!(out, "{pad}{} = {}", self.show(f, place), self.show(f, e));
                }
                St::For { var, lo, hi, rev, invariants, body } => {
                    let rev = if *rev { "rev " } else { "" };
                    let _ = writeln!(out, "{pad}for {} in {rev}{}..<{}", f.vars[*var].name, self.show(f, lo), self.show(f, hi));
                    for i in invariants {
                        let _ = writeln!(out, "{pad}  invariant {}", self.show(f, i));
                    }
                    let _ = writeln!(out, "{pad}{{");
                    self.block(out, f, body, depth + 1);
                    let _ = writeln!(out, "{pad}}}");
                }
                St::If(c, a, b) => {
                    let _ = writeln!(out, "{pad}if {} {{", self.show(f, c));
                    self.block(out, f, a, depth + 1);
                    let _ = writeln!(out, "{pad}}} else {{");
                    self.block(out, f, b, depth + 1);
                    let _ = writeln!(out, "{pad}}}");
                }
            }
        }
    }

    pub fn show(&self, f: &Func, e: &Ex) -> String {
        self.show_in(f, e, false)
    }

    /// `typed`: the place gives a literal its type.
    fn show_in(&self, f: &Func, e: &Ex, typed: bool) -> String {
        let show = |e: &Ex| self.show(f, e);
        // Beside another operand a literal needs no type.
        let beside = |a: &Ex, b: &Ex| self.show_in(f, a, !matches!(b, Ex::Lit(..)));
        let list = |es: &[Ex]| es.iter().map(show).collect::<Vec<_>>().join(", ");
        match e {
            Ex::Lit(v, Ty::Word(b)) if !typed => format!("u{b}({v})"),
            Ex::Lit(v, Ty::Bool) => (*v != BigInt::from(0)).to_string(),
            Ex::Lit(v, _) if *v < BigInt::from(0) => format!("({v})"),
            Ex::Lit(v, _) => v.to_string(),
            Ex::Var(v) => f.vars[*v].name.clone(),
            Ex::Bin(op, a, b) => {
                let count = matches!(op, Op::Shl | Op::Shr | Op::Rotl | Op::Rotr);
                let (x, y) = if count { (show(a), show(b)) } else { (beside(a, b), beside(b, a)) };
                let double = if self.ty(f, a) == Ty::Bool && *op != Op::Xor { sign(*op) } else { "" };
                format!("({x} {}{double} {y})", sign(*op))
            }
            Ex::Neg(a) => format!("(-{})", show(a)),
            Ex::Not(a) => format!("({}{})", if self.ty(f, a) == Ty::Bool { "!" } else { "~" }, show(a)),
            Ex::Cast(t, a) => format!("{}({})", show_ty(t, &None), self.show_in(f, a, *t != Ty::Int)),
            Ex::Cmp(r, a, b) => format!("({} {} {})", beside(a, b), rel(*r), beside(b, a)),
            Ex::Sel(c, a, b) => format!("(if {} {{ {} }} else {{ {} }})", show(c), show(a), show(b)),
            Ex::Idx(a, i) => format!("{}[{}]", show(a), show(i)),
            Ex::Slice(a, i, n) => format!("{}[{}; {n}]", show(a), show(i)),
            Ex::Field(a, i) => format!("{}.f{i}", show(a)),
            Ex::List(es) => format!("[{}]", list(es)),
            Ex::Rec(s, es) => {
                let fields: Vec<String> = es.iter().enumerate().map(|(i, e)| format!("f{i}: {}", show(e))).collect();
                format!("S{s} {{ {} }}", fields.join(", "))
            }
            Ex::Table(t) => format!("K{t}"),
            Ex::Call(g, es) => format!("{}({})", self.funcs[*g].name, list(es)),
        }
    }
}

pub fn show_ty(t: &Ty, r: &Option<Bounds>) -> String {
    match t {
        Ty::Int => r.as_ref().map_or("int".into(), |(lo, hi)| format!("int in {lo}..{hi}")),
        Ty::Word(b) => format!("u{b}"),
        Ty::Bool => "bool".into(),
        Ty::Arr(e, n) => format!("[{}; {n}]", show_ty(e, r)),
        Ty::Struct(s) => format!("S{s}"),
    }
}

fn sign(op: Op) -> &'static str {
    match op {
        Op::Add => "+",
        Op::Sub => "-",
        Op::Mul => "*",
        Op::Div => "/",
        Op::Mod => "%",
        Op::And => "&",
        Op::Or => "|",
        Op::Xor => "^",
        Op::Shl => "<<",
        Op::Shr => ">>",
        Op::Rotl => "<<<",
        Op::Rotr => ">>>",
    }
}

fn rel(r: Rel) -> &'static str {
    match r {
        Rel::Eq => "==",
        Rel::Ne => "!=",
        Rel::Lt => "<",
        Rel::Le => "<=",
        Rel::Gt => ">",
        Rel::Ge => ">=",
    }
}
