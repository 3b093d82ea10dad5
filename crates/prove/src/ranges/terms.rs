//! Terms for the solver beside the intervals: what each scalar was computed from.

use super::itv::Itv;
use super::num::Num;
use super::run::{Run, State};
use super::value::{Abs, Sc};
use crate::smt::{Node, Term};
use santoku_ir::{BinOp, CmpOp, LocalId, Ty};

impl Run<'_> {
    /// The term of a scalar: its own, its constant, or an unknown in its interval.
    pub fn term(&mut self, s: &Sc) -> Term {
        let Some(slice) = &mut self.slice else { return 0 };
        match (s.term, s.itv.single()) {
            (0, Some(k)) => slice.add(Node::Const(k.clone()), s.itv.clone()),
            (0, None) => slice.add(Node::Free, s.itv.clone()),
            (t, _) => t,
        }
    }

    fn make(&mut self, v: Sc, node: Node) -> Sc {
        let Some(slice) = &mut self.slice else { return v };
        let term = slice.add(node, Itv::TOP);
        Sc { term, ..v }
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

    /// `v`, computed by `x op y` at type `ty`.
    pub fn with_binary(&mut self, v: Sc, ty: &Ty, op: BinOp, x: &Sc, y: &Sc) -> Sc {
        if self.slice.is_none() || v.itv.single().is_some() {
            return v;
        }
        let (a, b) = (self.term(x), self.term(y));
        let count = y.itv.single().and_then(Num::small).and_then(|k| u32::try_from(k).ok()).filter(|k| *k < 4096);
        let divisor = |add: i128| y.itv.single().map(|m| m.add(&Num::from(add))).filter(|d| d.sign() > 0);
        let word = matches!(ty, Ty::Word(_));
        let exact = match (op, count) {
            (BinOp::Add, _) => self.make(v, Node::Add(a, b)),
            (BinOp::Sub, _) => self.make(v, Node::Sub(a, b)),
            (BinOp::Mul, _) => self.make(v, Node::Mul(a, b)),
            (BinOp::Shl, Some(k)) => {
                let power = self.term(&Sc::new(Itv::point(Num::pow2(k))));
                self.make(v, Node::Mul(a, power))
            }
            (BinOp::Shr, Some(k)) => return self.make(v, Node::Div(a, Num::pow2(k))),
            (BinOp::Div, _) => return divisor(0).map_or(v.clone(), |d| self.make(v, Node::Div(a, d))),
            (BinOp::Mod, _) => return divisor(0).map_or(v.clone(), |d| self.make(v, Node::Mod(a, d))),
            (BinOp::And, _) => match divisor(1).filter(|d| d.log2().is_some()) {
                Some(d) => return self.make(v, Node::Mod(a, d)),
                None => return v,
            },
            _ => return v,
        };
        if word { self.with_wrap(exact, ty) } else { exact }
    }

    /// `v`, whose term is still to be reduced to a word.
    pub fn with_wrap(&mut self, v: Sc, ty: &Ty) -> Sc {
        match ty {
            Ty::Word(bits) if self.slice.is_some() && v.itv.single().is_none() => {
                let t = self.term(&v);
                self.make(v, Node::Mod(t, Num::pow2(*bits)))
            }
            _ => v,
        }
    }

    pub fn with_difference(&mut self, v: Sc, from: Num, x: &Sc) -> Sc {
        if self.slice.is_none() {
            return v;
        }
        let (a, b) = (self.term(&Sc::new(Itv::point(from))), self.term(x));
        self.make(v, Node::Sub(a, b))
    }

    pub fn with_compare(&mut self, v: Sc, op: CmpOp, x: &Sc, y: &Sc) -> Sc {
        if self.slice.is_none() || v.itv.single().is_some() {
            return v;
        }
        let (a, b) = (self.term(x), self.term(y));
        self.make(v, Node::Cmp(op, a, b))
    }

    /// `joined`, chosen between two scalars by a condition.
    pub fn with_select(&mut self, joined: Abs, c: &Sc, x: &Abs, y: &Abs) -> Abs {
        let (true, Abs::Sc(v), Abs::Sc(x), Abs::Sc(y)) = (self.slice.is_some(), &joined, x, y) else { return joined };
        let (c, a, b) = (self.term(c), self.term(x), self.term(y));
        Abs::Sc(self.make(v.clone(), Node::Select(c, a, b)))
    }

    /// Asks the solver whether a scalar always lies in `wanted`.
    pub fn solved(&mut self, s: &Sc, wanted: &Itv) -> bool {
        self.mute == 0 && self.slice.as_mut().is_some_and(|slice| slice.inside(s.term, &s.itv, wanted))
    }
}
