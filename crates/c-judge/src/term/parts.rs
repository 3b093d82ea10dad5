//! What a term is made of: other indices in it, what it reads, and how it is shown.

use super::arena::{Atom, Monomial, Node, Root, Step, Terms, T};
use santoku_num::Int;

impl Terms {
    /// The term with `to` in the place of the index `from`.
    pub fn replace(&mut self, t: T, from: T, to: T) -> T {
        if t == from {
            return to;
        }
        match self.node(t).clone() {
            Node::Poly(ms) => {
                let mut sum = self.int(0);
                for (m, c) in ms {
                    let mut one = self.int(c);
                    for f in m {
                        let f = self.replace(f, from, to);
                        one = self.mul(one, f);
                    }
                    sum = self.add(sum, one);
                }
                sum
            }
            Node::Atom(Atom::At(root, path)) => {
                let path = path.iter().map(|s| self.replace_step(*s, from, to)).collect();
                let range = self.declared[&t].clone();
                self.atom(Atom::At(root, path), range)
            }
            Node::Atom(_) => t,
            Node::Mod(u, k) => {
                let u = self.replace(u, from, to);
                self.modulo(u, k)
            }
            Node::Shr(u, k) => {
                let u = self.replace(u, from, to);
                self.shr(u, k)
            }
            Node::Div(u, d) => {
                let u = self.replace(u, from, to);
                self.div(u, &d)
            }
            Node::Rem(u, d) => {
                let u = self.replace(u, from, to);
                self.rem(u, &d)
            }
            Node::Cut(u, d) => {
                let u = self.replace(u, from, to);
                self.cut(u, &d)
            }
            Node::Bits(op, ts) => {
                let ts = ts.into_iter().map(|u| self.replace(u, from, to)).collect();
                self.bits(op, ts)
            }
            Node::Var(how, u, v, k) => {
                let (u, v) = (self.replace(u, from, to), self.replace(v, from, to));
                self.by_count(how, u, v, k)
            }
            Node::Lt(a, b) => {
                let (a, b) = (self.replace(a, from, to), self.replace(b, from, to));
                self.lt(a, b)
            }
            Node::Zero(d) => {
                let d = self.replace(d, from, to);
                self.is_zero(d)
            }
            Node::Sel(c, a, b) => {
                let (c, a, b) = (self.replace(c, from, to), self.replace(a, from, to), self.replace(b, from, to));
                self.select(c, a, b)
            }
            Node::Mask(c, k) => {
                let c = self.replace(c, from, to);
                self.mask(c, k)
            }
            Node::Masked(c, x) => {
                let (c, x) = (self.replace(c, from, to), self.replace(x, from, to));
                self.add_node(Node::Masked(c, x))
            }
            // What is compared for all indices has none of its own.
            Node::Zeros(_) => t,
        }
    }

    pub fn replace_step(&mut self, s: Step, from: T, to: T) -> Step {
        match s {
            Step::Field(k) => Step::Field(k),
            Step::Index(t) => Step::Index(self.replace(t, from, to)),
        }
    }

    /// What the places are in that a term reads.
    pub fn roots(&self, t: T) -> Vec<Root> {
        let mut out = vec![];
        self.visit(t, &mut |me, u| {
            if let Node::Atom(Atom::At(root, _)) = me.node(u) {
                out.push(*root);
            }
        });
        out
    }

    pub fn contains(&self, t: T, what: T) -> bool {
        let mut found = false;
        self.visit(t, &mut |_, u| found |= u == what);
        found
    }

    pub fn visit(&self, t: T, f: &mut dyn FnMut(&Terms, T)) {
        f(self, t);
        let all: Vec<T> = match self.node(t) {
            Node::Poly(ms) => ms.iter().flat_map(|(m, _)| m.clone()).collect(),
            Node::Atom(Atom::At(_, path)) => path.iter().filter_map(|s| if let Step::Index(i) = s { Some(*i) } else { None }).collect(),
            Node::Atom(Atom::Round(_, len)) => vec![*len],
            Node::Mod(u, _) | Node::Shr(u, _) | Node::Div(u, _) | Node::Rem(u, _) | Node::Cut(u, _) | Node::Zero(u) | Node::Mask(u, _) => vec![*u],
            Node::Bits(_, ts) | Node::Zeros(ts) => ts.clone(),
            Node::Var(_, a, b, _) | Node::Lt(a, b) | Node::Masked(a, b) => vec![*a, *b],
            Node::Sel(a, b, c) => vec![*a, *b, *c],
        };
        all.into_iter().for_each(|u| self.visit(u, f));
    }

    /// For messages.
    pub fn show(&self, t: T) -> String {
        let many = |ts: &[T], s: &str| ts.iter().map(|t| self.show(*t)).collect::<Vec<_>>().join(s);
        let text = match self.node(t) {
            Node::Poly(ms) if ms.is_empty() => "0".to_string(),
            Node::Poly(ms) => {
                let one = |(m, c): &(Monomial, Int)| match m.as_slice() {
                    [] => c.to_string(),
                    _ if *c == Int::ONE => many(m, "*"),
                    _ => format!("{c}*{}", many(m, "*")),
                };
                format!("({})", ms.iter().map(one).collect::<Vec<_>>().join(" + "))
            }
            Node::Atom(Atom::At(root, path)) => format!("{root:?}{}", self.show_path(path)),
            Node::Atom(a) => format!("{a:?}"),
            Node::Mod(t, k) => format!("mod({}, 2^{k})", self.show(*t)),
            Node::Shr(t, k) => format!("({} >> {k})", self.show(*t)),
            Node::Div(t, d) => format!("({} / {d})", self.show(*t)),
            Node::Rem(t, d) => format!("({} % {d})", self.show(*t)),
            Node::Cut(t, d) => format!("cut({}, {d})", self.show(*t)),
            Node::Bits(op, ts) => format!("{op:?}({})", many(ts, ", ")),
            Node::Var(how, a, b, k) => format!("{how:?}{k}({}, {})", self.show(*a), self.show(*b)),
            Node::Lt(a, b) => format!("({} < {})", self.show(*a), self.show(*b)),
            Node::Zero(d) => format!("({} == 0)", self.show(*d)),
            Node::Sel(c, a, b) => format!("({} ? {} : {})", self.show(*c), self.show(*a), self.show(*b)),
            Node::Mask(c, k) => format!("mask{k}({})", self.show(*c)),
            Node::Masked(c, x) => format!("({} ? {} : 0)", self.show(*c), self.show(*x)),
            Node::Zeros(ts) => format!("zeros({})", many(ts, ", ")),
        };
        if text.len() > 400 { format!("{}...", text.chars().take(400).collect::<String>()) } else { text }
    }

    pub fn show_path(&self, path: &[Step]) -> String {
        let one = |s: &Step| match s {
            Step::Field(k) => format!(".{k}"),
            Step::Index(t) => format!("[{}]", self.show(*t)),
        };
        path.iter().map(one).collect()
    }
}
