//! Queries as SMT-LIB text over integers, and replies back into models.

use crate::itv::Itv;
use santoku_num::{Bound, Int};
use super::slice::{Answer, Model, Node, Slice, Term};
use num_bigint::BigInt;
use santoku_ir::{CmpOp, LocalId};
use std::collections::BTreeMap;
use std::fmt::Write;

pub struct Query {
    pub text: String,
    /// Name of the solver's constant for each parameter scalar.
    inputs: BTreeMap<String, (LocalId, Vec<usize>)>,
}

/// Asks for values of the cone with `t` in `known` but outside `wanted`, or for any values without `wanted`. Without `exact`,
/// products of unknowns are unknowns themselves.
pub fn query(s: &Slice, cone: &[Term], t: Term, known: &Itv, wanted: Option<&Itv>, exact: bool, limit: u64) -> Query {
    let mut w = Writer { text: String::new(), splits: BTreeMap::new() };
    let mut inputs = BTreeMap::new();
    w.line(format_args!("(set-option :rlimit {limit})"));
    w.line(format_args!("(set-option :smt.random_seed 1)"));
    for &n in cone {
        let (node, itv) = s.node(n);
        if let Node::Input(local, path) = node {
            inputs.insert(format!("t{n}"), (*local, path.clone()));
        }
        let opaque = s.nonlinear(n) && !exact;
        w.define(n, if opaque { &Node::Free } else { node }, itv);
    }
    w.bounds(t, known);
    if let Some(wanted) = wanted {
        let mut outside = Vec::new();
        outside.extend(end(&wanted.lo).map(|lo| format!("(< t{t} {lo})")));
        outside.extend(end(&wanted.hi).map(|hi| format!("(> t{t} {hi})")));
        w.line(format_args!("(assert (or {}))", if outside.is_empty() { "false".into() } else { outside.join(" ") }));
    }
    w.line(format_args!("(check-sat)"));
    if !inputs.is_empty() {
        let names: Vec<&str> = inputs.keys().map(String::as_str).collect();
        w.line(format_args!("(get-value ({}))", names.join(" ")));
    }
    Query { text: w.text, inputs }
}

struct Writer {
    text: String,
    /// Quotient and remainder already introduced for a term and divisor.
    splits: BTreeMap<(Term, String), String>,
}

impl Writer {
    fn line(&mut self, args: std::fmt::Arguments) {
        let _ = writeln!(self.text, "{args}");
    }

    fn bounds(&mut self, t: Term, itv: &Itv) {
        if let Some(lo) = end(&itv.lo) {
            self.line(format_args!("(assert (<= {lo} t{t}))"));
        }
        if let Some(hi) = end(&itv.hi) {
            self.line(format_args!("(assert (<= t{t} {hi}))"));
        }
    }

    fn define(&mut self, n: Term, node: &Node, itv: &Itv) {
        let body = match node {
            Node::Input(..) | Node::Free => {
                self.line(format_args!("(declare-const t{n} Int)"));
                return self.bounds(n, itv);
            }
            Node::Const(v) => number(v),
            Node::Add(a, b) => format!("(+ t{a} t{b})"),
            Node::Sub(a, b) => format!("(- t{a} t{b})"),
            Node::Mul(a, b) => format!("(* t{a} t{b})"),
            Node::Div(a, d) => format!("q{}", self.split(*a, d)),
            Node::Mod(a, d) => format!("r{}", self.split(*a, d)),
            Node::Cmp(op, a, b) => {
                let holds = match op {
                    CmpOp::Eq => format!("(= t{a} t{b})"),
                    CmpOp::Ne => format!("(not (= t{a} t{b}))"),
                    CmpOp::Lt => format!("(< t{a} t{b})"),
                    CmpOp::Le => format!("(<= t{a} t{b})"),
                    CmpOp::Gt => format!("(> t{a} t{b})"),
                    CmpOp::Ge => format!("(>= t{a} t{b})"),
                };
                format!("(ite {holds} 1 0)")
            }
            Node::Select(c, a, b) => format!("(ite (= t{c} 1) t{a} t{b})"),
        };
        self.line(format_args!("(define-fun t{n} () Int {body})"));
    }

    /// `t = d * q + r` with `0 <= r < d`; gives the common suffix of their names.
    fn split(&mut self, t: Term, d: &Int) -> String {
        let d = number(d);
        if let Some(name) = self.splits.get(&(t, d.clone())) {
            return name.clone();
        }
        let name = self.splits.len().to_string();
        self.line(format_args!("(declare-const q{name} Int)(declare-const r{name} Int)"));
        self.line(format_args!("(assert (= t{t} (+ (* {d} q{name}) r{name})))"));
        self.line(format_args!("(assert (and (<= 0 r{name}) (< r{name} {d})))"));
        self.splits.insert((t, d), name.clone());
        name
    }
}

fn number(v: &Int) -> String {
    if v.is_negative() { format!("(- {})", v.neg()) } else { v.to_string() }
}

fn end(v: &Bound) -> Option<String> {
    v.at().map(number)
}

/// Reads `sat`/`unsat` and the values that follow.
pub fn answer(q: &Query, reply: &str) -> Answer {
    let (verdict, values) = reply.split_once('\n').unwrap_or((reply, ""));
    match verdict.trim() {
        "unsat" => Answer::Holds,
        "sat" => Answer::Maybe(model(q, values)),
        _ => Answer::Unknown,
    }
}

/// `((t1 5) (t7 (- 3)))`
fn model(q: &Query, values: &str) -> Model {
    let spaced = values.replace(['(', ')'], " ");
    let mut words = spaced.split_whitespace().peekable();
    let mut out = Model::new();
    while let Some(name) = words.next() {
        let negative = words.next_if_eq(&"-").is_some();
        let value = words.next().and_then(|w| w.parse::<BigInt>().ok());
        if let (Some(at), Some(v)) = (q.inputs.get(name), value) {
            out.insert(at.clone(), Int::from(if negative { -v } else { v }));
        }
    }
    out
}
