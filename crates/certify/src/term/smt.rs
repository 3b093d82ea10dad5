//! Questions as SMT-LIB text over integers.
//!
//! Needs: [`super::query`].  Keeps: integers of any size, as the terms are: nothing wraps around.  Absent: the solver.

use super::atom::Atom;
use super::query::{Question, Rest, Summand};
use super::{Terms, A, T};
use num_bigint::BigInt;
use num_traits::{One, Signed};
use std::collections::BTreeSet;
use std::fmt::Write;

/// What is asked of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    NotZero(T),
    One(T),
}

impl Claim {
    pub fn term(self) -> T {
        match self {
            Claim::NotZero(t) | Claim::One(t) => t,
        }
    }
}

/// Whether all claims can hold at once.
pub(super) fn text(terms: &Terms, q: &Question, claims: &[Claim]) -> String {
    let mut w = Writer { terms, q, out: String::new(), sums: BTreeSet::new(), atoms: BTreeSet::new() };
    for (k, (lo, hi)) in q.unknowns.iter().enumerate() {
        w.line(&format!("(declare-const u{k} Int)"));
        w.bounds(&format!("u{k}"), lo, hi);
    }
    for a in &q.free_bits {
        w.line(&format!("(declare-const b{a} Bool)"));
    }
    for claim in claims {
        let t = claim.term();
        w.sum(t);
        w.line(&match claim {
            Claim::NotZero(t) => format!("(assert (not (= s{} 0)))", t.0),
            Claim::One(t) => format!("(assert (= s{} 1))", t.0),
        });
    }
    w.out
}

fn number(v: &BigInt) -> String {
    if v.is_negative() { format!("(- {})", v.magnitude()) } else { v.to_string() }
}

struct Writer<'a> {
    terms: &'a Terms,
    q: &'a Question,
    out: String,
    sums: BTreeSet<T>,
    atoms: BTreeSet<A>,
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn bounds(&mut self, name: &str, lo: &BigInt, hi: &BigInt) {
        self.line(&format!("(assert (<= {} {name} {}))", number(lo), number(hi)));
    }

    /// Defines `s` of the term's number, after all it is made of.
    fn sum(&mut self, t: T) {
        let q = self.q;
        let Some(sum) = q.sums.get(&t).filter(|_| self.sums.insert(t)) else { return };
        for s in sum {
            s.bits.iter().for_each(|a| self.atom(*a));
            if let Rest::Open(a) = s.rest {
                self.atom(a);
            }
        }
        let parts: Vec<String> = sum.iter().map(summand).collect();
        let value = match &parts[..] {
            [] => "0".into(),
            [one] => one.clone(),
            many => format!("(+ {})", many.join(" ")),
        };
        self.line(&format!("(define-fun s{} () Int {value})", t.0));
        let (lo, hi) = self.terms.range(t);
        self.bounds(&format!("s{}", t.0), &lo, &hi);
    }

    /// Defines an atom, if its definition is part of the question: `b` of its number for a bit, else `a`.
    fn atom(&mut self, a: A) {
        if !self.q.open.contains(&a) || !self.atoms.insert(a) {
            return;
        }
        let atom = self.terms.atoms[a as usize].atom.clone();
        let value = match &atom {
            Atom::Div(t, k) => {
                self.sum(*t);
                format!("(div s{} {})", t.0, BigInt::one() << k)
            }
            Atom::DivBy(t, d) => {
                self.sum(*t);
                format!("(div s{} {d})", t.0)
            }
            Atom::Name(t) => {
                self.sum(*t);
                format!("s{}", t.0)
            }
            Atom::Neg(t) | Atom::Zero(t) => {
                self.sum(*t);
                let test = if matches!(atom, Atom::Neg(_)) { "<" } else { "=" };
                self.line(&format!("(define-fun b{a} () Bool ({test} s{} 0))", t.0));
                return;
            }
            Atom::Pick(list, x) => {
                self.sum(*x);
                list.iter().for_each(|t| self.sum(*t));
                let all = list.iter().enumerate();
                all.fold("0".to_string(), |rest, (k, t)| format!("(ite (= s{} {k}) s{} {rest})", x.0, t.0))
            }
            Atom::Bits(_) | Atom::Or(_) | Atom::Var(_) | Atom::Read(..) | Atom::Out(..) => return,
        };
        let (lo, hi) = (self.terms.atoms[a as usize].lo.clone(), self.terms.atoms[a as usize].hi.clone());
        if self.terms.atom_is_bit(a) {
            self.line(&format!("(define-fun b{a} () Bool (= {value} 1))"));
            self.line(&format!("(assert (<= 0 {value} 1))"));
            return;
        }
        self.line(&format!("(define-fun a{a} () Int {value})"));
        self.bounds(&format!("a{a}"), &lo, &hi);
    }
}

fn summand(s: &Summand) -> String {
    let value = match s.rest {
        Rest::Nothing => number(&s.factor),
        Rest::Unknown(k) => times(&s.factor, &format!("u{k}")),
        Rest::Open(a) => times(&s.factor, &format!("a{a}")),
    };
    if s.bits.is_empty() {
        return value;
    }
    let mut all = String::new();
    for a in &s.bits {
        let _ = write!(all, " b{a}");
    }
    format!("(ite (and true{all}) {value} 0)")
}

fn times(factor: &BigInt, x: &str) -> String {
    if factor.is_one() { x.into() } else { format!("(* {} {x})", number(factor)) }
}
