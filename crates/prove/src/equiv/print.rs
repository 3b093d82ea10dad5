//! Terms as text, and the search for the smallest pair that differs.
//!
//! Needs: [`super::dag`].  Keeps: the names of the function's inputs.  Absent: whole terms; text stops at a depth.
//! Trusted: nothing: it shows what differs.

use super::dag::{operands, Dag, Id, Node, Sort};
use num_traits::{One, Signed, Zero};
use santoku_ir::{BinOp, Func};

/// Operators below this depth are written as `...`.
const DEPTH_MAX: u32 = 5;
/// Operands of one operator that are written.
const WIDTH_MAX: usize = 8;

/// Names of inputs by number.
pub struct Names(Vec<String>);

impl Names {
    pub fn of(func: &Func) -> Names {
        Names(func.lens.iter().chain(&func.params).map(|id| func.local(*id).name.clone()).collect())
    }
}

/// The first part of two different results that differs, with its path.
pub fn first_part(dag: &mut Dag, a: Id, b: Id) -> (String, Id, Id) {
    if let (Some(xs), Some(ys)) = (dag.explode(a), dag.explode(b)) {
        for (k, (x, y)) in xs.into_iter().zip(ys).enumerate() {
            if x != y {
                let (path, x, y) = first_part(dag, x, y);
                return (format!("[{k}]{path}"), x, y);
            }
        }
    }
    (String::new(), a, b)
}

/// Does a term contain a kept loop or an uninterpreted call?
pub fn opaque(dag: &Dag, terms: &[Id]) -> bool {
    let mut seen = std::collections::BTreeSet::new();
    let mut work = terms.to_vec();
    while let Some(id) = work.pop() {
        if !seen.insert(id) {
            continue;
        }
        if matches!(dag.node(id), Node::Loop { .. } | Node::Call(..) | Node::Undef) {
            return true;
        }
        work.extend(operands(dag.node(id)));
    }
    false
}

/// Descends while exactly one operand of the same operation differs.
pub fn smallest(dag: &Dag, mut a: Id, mut b: Id) -> (Id, Id) {
    loop {
        let (x, y) = (dag.node(a), dag.node(b));
        if std::mem::discriminant(x) != std::mem::discriminant(y) || !same_payload(x, y) {
            return (a, b);
        }
        let (xs, ys) = (operands(x), operands(y));
        let only_left: Vec<Id> = xs.iter().copied().filter(|i| !ys.contains(i)).collect();
        let only_right: Vec<Id> = ys.iter().copied().filter(|i| !xs.contains(i)).collect();
        let ([l], [r]) = (only_left.as_slice(), only_right.as_slice()) else { return (a, b) };
        (a, b) = (*l, *r);
    }
}

fn same_payload(x: &Node, y: &Node) -> bool {
    match (x, y) {
        (Node::Sum(xs, c), Node::Sum(ys, d)) => {
            let coefficients = |ts: &[(Id, num_bigint::BigInt)]| {
                let mut ks: Vec<_> = ts.iter().map(|t| t.1.clone()).collect();
                ks.sort();
                ks
            };
            c == d && coefficients(xs) == coefficients(ys)
        }
        (Node::And(_, c), Node::And(_, d)) | (Node::Or(_, c), Node::Or(_, d)) | (Node::Xor(_, c), Node::Xor(_, d)) => c == d,
        (Node::Div(_, c), Node::Div(_, d)) | (Node::Mod(_, c), Node::Mod(_, d)) => c == d,
        (Node::Shr(_, k), Node::Shr(_, j)) | (Node::Rotl(_, k), Node::Rotl(_, j)) => k == j,
        (Node::Field(_, k), Node::Field(_, j)) | (Node::Result(_, k), Node::Result(_, j)) => k == j,
        (Node::Call(f, _), Node::Call(g, _)) => f == g,
        (Node::Other(f, ..), Node::Other(g, ..)) => f == g,
        _ => true,
    }
}

/// A term as text.
pub fn term(dag: &Dag, id: Id, names: &Names) -> String {
    Printer { dag, names }.show(id, 0)
}

struct Printer<'a> {
    dag: &'a Dag,
    names: &'a Names,
}

impl Printer<'_> {
    fn show(&self, id: Id, depth: u32) -> String {
        let node = self.dag.node(id);
        if depth > DEPTH_MAX && !operands(node).is_empty() {
            return "...".to_string();
        }
        let sub = |x: Id| self.show(x, depth + 1);
        match node {
            Node::Const(v) => self.constant(v, self.dag.sort(id)),
            Node::Input(n) => self.names.0.get(*n as usize).cloned().unwrap_or_else(|| format!("input{n}")),
            Node::Undef => "undefined".to_string(),
            Node::Sum(terms, c) => self.sum(terms, c, depth),
            Node::Prod(xs) => self.join(xs, " * ", depth),
            Node::Div(x, d) => format!("({} / {d})", sub(*x)),
            Node::Mod(x, d) => format!("({} % {d})", sub(*x)),
            Node::And(xs, c) => self.chain(xs, c, " & ", id, depth),
            Node::Or(xs, c) => self.chain(xs, c, " | ", id, depth),
            Node::Xor(xs, c) => self.chain(xs, c, " ^ ", id, depth),
            Node::Shr(x, k) => format!("({} >> {k})", sub(*x)),
            Node::Rotl(x, k) => format!("({} <<< {k})", sub(*x)),
            Node::Other(op, a, b) => format!("({} {} {})", sub(*a), operator(*op), sub(*b)),
            Node::Resize(x) | Node::FromInt(x) | Node::FromBool(x) => format!("{}({})", self.sort(id), sub(*x)),
            Node::ToInt(x) => format!("int({})", sub(*x)),
            Node::Eq(a, b) => format!("({} == {})", sub(*a), sub(*b)),
            Node::Lt(a, b) => format!("({} < {})", sub(*a), sub(*b)),
            Node::Select(c, a, b) => format!("if {} {{ {} }} else {{ {} }}", sub(*c), sub(*a), sub(*b)),
            Node::Array(xs) => format!("[{}]", self.list(xs, ", ", depth)),
            Node::Rec(xs) => format!("{{{}}}", self.list(xs, ", ", depth)),
            Node::Repeat(x, n) => format!("[{}; {}]", sub(*x), sub(*n)),
            Node::Load(a, i) => format!("{}[{}]", sub(*a), sub(*i)),
            Node::Store(a, i, v) => format!("{} with [{}] = {}", sub(*a), sub(*i), sub(*v)),
            Node::Field(x, k) => format!("{}.{k}", sub(*x)),
            Node::Call(f, xs) => format!("{}({})", self.dag.callee(*f), self.list(xs, ", ", depth)),
            Node::Result(c, 0) => sub(*c),
            Node::Result(c, k) => format!("{}.{k}", sub(*c)),
            Node::LoopVar { depth: d, key, .. } => match self.dag.callee(*key) {
                "" => format!("i{d}"),
                name => format!("{name}'{d}"),
            },
            Node::Loop { lo, hi, rev, carried, .. } => {
                let order = if *rev { "rev " } else { "" };
                format!("for {order}{}..<{} over {} places", sub(*lo), sub(*hi), carried.len())
            }
            Node::LoopOut { of, next, .. } => format!("last({}; {})", sub(*of), sub(*next)),
        }
    }

    fn constant(&self, v: &num_bigint::BigInt, sort: Sort) -> String {
        match sort {
            Sort::Bool => (if v.is_zero() { "false" } else { "true" }).to_string(),
            Sort::Word(_) => format!("{v:#x}"),
            Sort::Int | Sort::Agg(_) => v.to_string(),
        }
    }

    fn sort(&self, id: Id) -> String {
        match self.dag.sort(id) {
            Sort::Word(n) => format!("u{n}"),
            Sort::Int => "int".to_string(),
            Sort::Bool => "bool".to_string(),
            Sort::Agg(_) => "aggregate".to_string(),
        }
    }

    fn list(&self, xs: &[Id], between: &str, depth: u32) -> String {
        let mut parts: Vec<String> = xs.iter().take(WIDTH_MAX).map(|x| self.show(*x, depth + 1)).collect();
        if xs.len() > WIDTH_MAX {
            parts.push(format!("... {} more", xs.len() - WIDTH_MAX));
        }
        parts.join(between)
    }

    fn join(&self, xs: &[Id], between: &str, depth: u32) -> String {
        format!("({})", self.list(xs, between, depth))
    }

    fn chain(&self, xs: &[Id], c: &num_bigint::BigInt, between: &str, id: Id, depth: u32) -> String {
        let all = super::arith::reduce((-1).into(), self.dag.sort(id));
        let neutral = if between == " & " { *c == all } else { c.is_zero() };
        let list = self.list(xs, between, depth);
        if neutral {
            format!("({list})")
        } else {
            format!("({list}{between}{})", self.constant(c, self.dag.sort(id)))
        }
    }

    fn sum(&self, terms: &[(Id, num_bigint::BigInt)], c: &num_bigint::BigInt, depth: u32) -> String {
        let mut text = String::new();
        for (n, (id, k)) in terms.iter().take(WIDTH_MAX).enumerate() {
            let sign = match (k.is_negative(), n) {
                (true, 0) => "-",
                (true, _) => " - ",
                (false, 0) => "",
                (false, _) => " + ",
            };
            let size = k.abs();
            let factor = if size.is_one() { String::new() } else { format!("{size}*") };
            text.push_str(&format!("{sign}{factor}{}", self.show(*id, depth + 1)));
        }
        if terms.len() > WIDTH_MAX {
            text.push_str(&format!(" + ... {} more", terms.len() - WIDTH_MAX));
        }
        if !c.is_zero() {
            text.push_str(&format!(" {} {}", if c.is_negative() { "-" } else { "+" }, c.abs()));
        }
        format!("({text})")
    }
}

fn operator(op: BinOp) -> &'static str {
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
