//! Values made by operations: interval, linear form and solver's term come from the same operands, here and nowhere else.
//!
//! Nothing outside of this file can give a value a form or a term, so none can get those of another value: what is wrapped,
//! say, is made from what it wraps by [`Run::wrapped`], which divides all three.

use crate::itv::Itv;
use super::super::lin::{Atom, Lin};
use santoku_num::{Bound, Int};
use super::super::run::{Run, State};
use super::{Abs, Fact, Sc};
use crate::smt::{Node, Term, Verdict};
use santoku_ir::{BinOp, CmpOp, LocalId};
use std::rc::Rc;

impl Run<'_> {
    /// A value in this interval and, where known, of this form; each sharpens the other.
    fn with_form(&self, itv: Itv, form: Option<Lin>) -> Sc {
        let Some(form) = form.filter(|_| self.relational()) else { return Sc::new(itv) };
        let known = (form.terms.len() > 1).then(|| self.atoms.bound(&form));
        let v = Sc { fact: Fact::Lin(Rc::new(form)), ..Sc::new(itv) };
        known.map_or(v.clone(), |k| v.narrowed(&k))
    }

    /// As [`Run::with_form`], with the node of the operation that made it; a single value needs none.
    fn made(&mut self, itv: Itv, form: Option<Lin>, node: impl FnOnce(&mut Self) -> Node) -> Sc {
        let v = self.with_form(itv, form);
        if self.slice.is_none() || v.itv.single().is_some() {
            return v;
        }
        let node = node(self);
        match &mut self.slice {
            Some(slice) => Sc { term: slice.add(node, Itv::TOP), ..v },
            None => v,
        }
    }

    /// The integer that a form is.
    pub fn of_form(&self, form: Lin) -> Sc {
        let itv = self.atoms.bound(&form);
        Sc { fact: Fact::Lin(Rc::new(form)), ..Sc::new(itv) }
    }

    /// The integer that an atom is, in the atom's interval.
    pub fn of_atom(&self, atom: Atom) -> Sc {
        Sc { fact: Fact::Lin(Rc::new(Lin::atom(atom))), ..Sc::new(self.atoms.itv(atom).clone()) }
    }

    /// The same integer by a name of its own, where it has none.
    pub fn named(&mut self, s: &Sc) -> Sc {
        if !self.relational() || s.fact != Fact::None {
            return s.clone();
        }
        let form = match s.itv.single() {
            Some(k) => k.small().map(Lin::constant),
            None => Some(Lin::atom(self.atoms.fresh(s.itv.clone()))),
        };
        Sc { fact: form.map_or(Fact::None, |f| Fact::Lin(Rc::new(f))), ..s.clone() }
    }

    /// The value of an element read at forms `key`: equal keys are equal values. `declared` holds wherever it is read.
    pub fn named_element(&mut self, s: &Sc, declared: Itv, key: (u32, LocalId, u32, Vec<Lin>)) -> Sc {
        if s.fact != Fact::None {
            return s.clone();
        }
        let atoms = &mut self.atoms;
        let atom = *self.names.entry(key).or_insert_with(|| atoms.fresh(declared));
        Sc { fact: Fact::Lin(Rc::new(Lin::atom(atom))), ..s.clone() }
    }

    /// `s`, which is known to equal `form`.
    pub fn equals_form(&self, s: &Sc, form: Lin) -> Sc {
        let bound = self.atoms.bound(&form);
        Sc { fact: Fact::Lin(Rc::new(form)), ..s.narrowed(&bound) }
    }

    /// The term of a scalar: its own, its constant, or an unknown in its interval.
    pub fn term(&mut self, s: &Sc) -> Term {
        let Some(slice) = &mut self.slice else { return 0 };
        match (s.term, s.itv.single()) {
            (0, Some(k)) => slice.add(Node::Const(k.clone()), s.itv.clone()),
            (0, None) => slice.add(Node::Free, s.itv.clone()),
            (t, _) => t,
        }
    }

    /// Terms for the scalars of a parameter.
    pub fn input_terms(&mut self, id: LocalId, v: &Abs) -> Abs {
        self.inputs_at(id, v, &mut Vec::new())
    }

    fn inputs_at(&mut self, id: LocalId, v: &Abs, path: &mut Vec<usize>) -> Abs {
        let mut each = |run: &mut Self, vs: &[Abs]| -> Vec<Abs> {
            vs.iter()
                .enumerate()
                .map(|(i, v)| {
                    path.push(i);
                    let v = run.inputs_at(id, v, path);
                    path.pop();
                    v
                })
                .collect()
        };
        match v {
            Abs::Arr(vs) => Abs::Arr(each(self, vs).into()),
            Abs::Struct(vs) => Abs::Struct(each(self, vs).into()),
            Abs::Sum(_) => v.clone(),
            Abs::Sc(s) => match &mut self.slice {
                Some(slice) => {
                    let term = slice.add(Node::Input(id, path.clone()), s.itv.clone());
                    Abs::Sc(Sc { term, ..s.clone() })
                }
                None => v.clone(),
            },
        }
    }

    /// A stored scalar without a term gets one that later reads share.
    pub fn name_term(&mut self, st: &mut State, local: LocalId, path: Option<&[usize]>, v: Abs) -> Abs {
        let (true, Abs::Sc(s)) = (self.slice.is_some(), &v) else { return v };
        if s.term != 0 {
            return v;
        }
        let term = self.term(s);
        if let Some(leaf) = path.and_then(|p| st.locals[local.0 as usize].at_mut(p)) {
            leaf.term = term;
        }
        Abs::Sc(Sc { term, ..s.clone() })
    }

    fn forms(&self, x: &Sc, y: &Sc) -> Option<(Lin, Lin)> {
        self.form(x).zip(self.form(y))
    }

    /// `x + y`
    pub fn add(&mut self, x: &Sc, y: &Sc) -> Sc {
        let form = self.forms(x, y).and_then(|(f, g)| f.add(&g));
        self.made(x.itv.add(&y.itv), form, |run| Node::Add(run.term(x), run.term(y)))
    }

    /// `x - y`
    pub fn sub(&mut self, x: &Sc, y: &Sc) -> Sc {
        let form = self.forms(x, y).and_then(|(f, g)| f.sub(&g));
        self.made(x.itv.sub(&y.itv), form, |run| Node::Sub(run.term(x), run.term(y)))
    }

    /// `k - x`
    pub fn sub_from(&mut self, k: Int, x: &Sc) -> Sc {
        self.sub(&Sc::new(Itv::point(k)), x)
    }

    /// `x * y`; `same`: both are one value.
    pub fn mul(&mut self, x: &Sc, y: &Sc, same: bool) -> Sc {
        let form = self.forms(x, y).and_then(|(f, g)| match (f.as_const(), g.as_const()) {
            (Some(k), _) => g.scale(k),
            (_, Some(k)) => f.scale(k),
            _ => None,
        });
        let itv = if same { x.itv.square() } else { x.itv.mul(&y.itv) };
        self.made(itv, form, |run| Node::Mul(run.term(x), run.term(y)))
    }

    /// `x * 2^k`
    pub fn shl(&mut self, x: &Sc, k: u32) -> Sc {
        self.mul(x, &Sc::new(Itv::point(Int::pow2(k))), false)
    }

    /// `floor(x / d)`
    pub fn quotient(&mut self, x: &Sc, d: &Int) -> Sc {
        let itv = x.itv.div_floor(d).unwrap_or(Itv::TOP);
        let form = match (self.form(x), d.small()) {
            (Some(f), Some(k)) if itv.single().is_none() => Some(self.quotient_form(&f, k)),
            _ => None,
        };
        self.made(itv, form, |run| Node::Div(run.term(x), d.clone()))
    }

    /// `floor(f / k)`: the shared atom, whose interval does not depend on where we are.
    fn quotient_form(&mut self, f: &Lin, k: i128) -> Lin {
        if f.konst % k == 0 && f.terms.iter().all(|t| t.1 % k == 0) {
            return Lin { terms: f.terms.iter().map(|t| (t.0, t.1 / k)).collect(), konst: f.konst / k };
        }
        let itv = self.atoms.bound(f).div_floor(&k.into()).unwrap_or(Itv::TOP);
        Lin::atom(self.atoms.quotient(f, k, itv))
    }

    /// `x - d * floor(x / d)`
    pub fn remainder(&mut self, x: &Sc, d: &Int) -> Sc {
        let form = match (self.form(x), d.small()) {
            (Some(f), Some(k)) => match x.itv.div_floor(d).and_then(|q| q.single()?.small()) {
                Some(q) => q.checked_mul(k).and_then(i128::checked_neg).and_then(|c| f.plus(c)),
                None => self.quotient_form(&f, k).scale(k).and_then(|kq| f.sub(&kq)),
            },
            _ => None,
        };
        self.made(x.itv.mod_floor(d).unwrap_or(Itv::TOP), form, |run| Node::Mod(run.term(x), d.clone()))
    }

    /// `x mod 2^bits`, as a word; forms are not followed through words.
    pub fn wrapped(&mut self, x: &Sc, bits: u32) -> Sc {
        #[cfg(test)]
        if self.opts.limits.wrapped_keeps_term {
            return Sc { term: self.term(x), ..Sc::new(x.itv.wrap(bits)) };
        }
        self.made(x.itv.wrap(bits), None, |run| Node::Mod(run.term(x), Int::pow2(bits)))
    }

    /// A word or a condition as an integer: the same value, of which no form is known.
    pub fn as_integer(&self, x: &Sc) -> Sc {
        Sc { term: x.term, ..Sc::new(x.itv.clone()) }
    }

    /// A word operation on words of `bits` bits, but for shifts, which know more of their count.
    pub fn word(&mut self, op: BinOp, x: &Sc, y: &Sc, bits: u32) -> Sc {
        let d = |add: i128| y.itv.single().map(|m| m.add(&add.into())).filter(|d| *d > Int::ZERO);
        let within = |i: Option<Itv>| i.unwrap_or(Itv::word(bits));
        let word = Itv::word(bits);
        match (op, d(0), d(1).filter(|d| d.log2().is_some())) {
            (BinOp::Add, ..) => {
                let exact = self.add(x, y);
                self.wrapped(&exact, bits)
            }
            (BinOp::Sub, ..) => {
                let exact = self.sub(x, y);
                self.wrapped(&exact, bits)
            }
            (BinOp::Mul, ..) => {
                let exact = self.mul(x, y, false);
                self.wrapped(&exact, bits)
            }
            (BinOp::And, _, Some(d)) => self.made(within(x.itv.and(&y.itv)), None, |run| Node::Mod(run.term(x), d)),
            (BinOp::And, ..) => Sc::new(within(x.itv.and(&y.itv))),
            (BinOp::Or, ..) => Sc::new(within(x.itv.or(&y.itv))),
            (BinOp::Xor, ..) => Sc::new(within(x.itv.xor(&y.itv))),
            (BinOp::Div, Some(d), _) => self.made(word, None, |run| Node::Div(run.term(x), d)),
            (BinOp::Mod, Some(d), _) => self.made(word, None, |run| Node::Mod(run.term(x), d)),
            (BinOp::Shl | BinOp::Shr | BinOp::Rotl | BinOp::Rotr | BinOp::Div | BinOp::Mod, ..) => Sc::new(word),
        }
    }

    /// `x` shifted by `k` below the width of the word, or by any such count.
    pub fn word_shifted(&mut self, op: BinOp, x: &Sc, k: Option<u32>, bits: u32) -> Sc {
        match (op, k) {
            (BinOp::Shl, Some(k)) => {
                let exact = self.shl(x, k);
                self.wrapped(&exact, bits)
            }
            (BinOp::Shr, Some(k)) => self.made(x.itv.shr(k), None, |run| Node::Div(run.term(x), Int::pow2(k))),
            (BinOp::Shr, None) => Sc::new(Itv { lo: Bound::ZERO, hi: x.itv.hi.clone() }),
            (_, Some(0)) => self.as_integer(x),
            _ => Sc::new(Itv::word(bits)),
        }
    }

    /// The negation of a condition.
    pub fn not(&mut self, x: &Sc) -> Sc {
        let v = x.negated();
        if self.slice.is_none() || v.itv.single().is_some() {
            return v;
        }
        let (one, t) = (self.term(&Sc::new(Itv::point(1))), self.term(x));
        match &mut self.slice {
            Some(slice) => Sc { term: slice.add(Node::Sub(one, t), Itv::TOP), ..v },
            None => v,
        }
    }

    /// `v`, the truth of `x op y` as a condition, with its term.
    pub fn with_compare(&mut self, v: Sc, op: CmpOp, x: &Sc, y: &Sc) -> Sc {
        if self.slice.is_none() || v.itv.single().is_some() || v.term != 0 {
            return v;
        }
        let (a, b) = (self.term(x), self.term(y));
        match &mut self.slice {
            Some(slice) => Sc { term: slice.add(Node::Cmp(op, a, b), Itv::TOP), ..v },
            None => v,
        }
    }

    /// `x` where `c` holds, else `y`. Both were evaluated under their side of the condition.
    pub fn chosen(&mut self, c: &Sc, x: &Abs, y: &Abs) -> Abs {
        let joined = x.join(y);
        let (true, Abs::Sc(v), Abs::Sc(x), Abs::Sc(y)) = (self.slice.is_some(), &joined, x, y) else { return joined };
        let (c, a, b) = (self.term(c), self.term(x), self.term(y));
        match &mut self.slice {
            Some(slice) => Abs::Sc(Sc { term: slice.add(Node::Select(c, a, b), Itv::TOP), ..v.clone() }),
            None => joined,
        }
    }

    /// Asks the solver whether a scalar always lies in `wanted`.
    pub fn solved(&mut self, s: &Sc, wanted: &Itv) -> bool {
        let Some(slice) = self.slice.as_mut().filter(|_| self.mute == 0) else { return false };
        match slice.inside(s.term, &s.itv, wanted) {
            Verdict::Holds => true,
            Verdict::Open => false,
            Verdict::Contradiction => {
                self.visits.contradiction();
                false
            }
        }
    }
}
