//! Values as terms over exact integers, in one form for both sides: what is equal here is equal whatever the program reads.
//!
//! Sums and products are polynomials; a value modulo `2^k` whose range shows that it is its own remainder is that value. Whoever makes a term
//! knows nothing of the side it is for.

use santoku_num::{Int, Itv};
use std::collections::{BTreeMap, HashMap};

/// A term of one [`Terms`].
pub type T = u32;

/// What a place is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Root {
    /// An object of the C function.
    Object(u32),
    /// A local of the core that C has no object for.
    Local(u32),
    Const(u32),
    /// Result of a call.
    Result(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    Field(u32),
    Index(T),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Atom {
    /// What a place held before the statement at hand.
    At(Root, Vec<Step>),
    /// Any index below a length; loops and arrays inside each other are at different depths.
    Round(u32, T),

}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bit {
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Var {
    Shl,
    Shr,
    Rotl,
}

/// Factors, in order; none for a constant.
pub type Monomial = Vec<T>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// In order, without zeros; never one factor alone.
    Poly(Vec<(Monomial, Int)>),
    Atom(Atom),
    /// The remainder by `2^k` that is not negative.
    Mod(T, u32),
    /// The floor of a quotient by `2^k`.
    Shr(T, u32),
    /// The floor of a quotient, its remainder, and 1 where C's quotient is greater: the number is negative and there is a remainder.
    Div(T, Int),
    Rem(T, Int),
    Cut(T, Int),
    /// Of numbers that are not negative.
    Bits(Bit, Vec<T>),
    /// A word of so many bits by a count that is not constant.
    Var(Var, T, T, u32),
    Lt(T, T),
    Zero(T),
    Sel(T, T, T),
    /// All bits of a word, or none; and such a word with bits of a number.
    Mask(T, u32),
    Masked(T, T),
    /// 1 where all these are 0 at all places.
    Zeros(Vec<T>),
}

/// Monomials up to which a product is written out.
const LIMIT: usize = 1 << 13;

#[derive(Default)]
pub struct Terms {
    nodes: Vec<Node>,
    known: HashMap<Node, T>,
    /// Of atoms, by their declarations.
    pub declared: HashMap<T, Itv>,
    /// Proved of values in the statement at hand.
    facts: HashMap<T, Itv>,
    cache: HashMap<T, Itv>,
    strangers: u32,
}

impl Terms {
    pub fn add_node(&mut self, n: Node) -> T {
        if let Some(t) = self.known.get(&n) {
            return *t;
        }
        let t = self.nodes.len() as T;
        self.nodes.push(n.clone());
        self.known.insert(n, t);
        t
    }

    pub fn node(&self, t: T) -> &Node {
        &self.nodes[t as usize]
    }

    pub fn atom(&mut self, a: Atom, range: Itv) -> T {
        let t = self.add_node(Node::Atom(a));
        self.declared.entry(t).or_insert(range);
        t
    }

    /// Equal to nothing.
    pub fn stranger(&mut self) -> T {
        self.strangers += 1;
        let n = self.strangers;
        self.atom(Atom::At(Root::Local(u32::MAX), vec![Step::Field(n)]), Itv::new(Int::pow2(300).neg(), Int::pow2(300)))
    }

    /// The index that an atom stands for.
    pub fn round_of(&self, t: T) -> Option<(u32, T)> {
        match self.node(t) {
            Node::Atom(Atom::Round(depth, len)) => Some((*depth, *len)),
            _ => None,
        }
    }

    /// Proved of the statement at hand.
    pub fn fact(&mut self, t: T, range: &Itv) {
        let known = self.facts.get(&t);
        let met = known.map_or(Some(range.clone()), |k| k.common(range));
        if let Some(met) = met.filter(|m| known != Some(m)) {
            self.facts.insert(t, met);
            self.cache.clear();
        }
    }

    pub fn next_statement(&mut self) {
        self.facts.clear();
        self.cache.clear();
    }

    pub fn int(&mut self, v: impl Into<Int>) -> T {
        let v = v.into();
        self.poly(if v.is_zero() { vec![] } else { vec![(vec![], v)] })
    }

    pub fn value(&self, t: T) -> Option<Int> {
        match self.node(t) {
            Node::Poly(ms) => match ms.as_slice() {
                [] => Some(Int::ZERO),
                [(m, c)] if m.is_empty() => Some(c.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    pub fn poly(&mut self, ms: Vec<(Monomial, Int)>) -> T {
        match ms.as_slice() {
            [(m, c)] if m.len() == 1 && *c == Int::ONE => m[0],
            _ => self.add_node(Node::Poly(ms)),
        }
    }

    pub fn monomials(&self, t: T) -> Vec<(Monomial, Int)> {
        match self.node(t) {
            Node::Poly(ms) => ms.clone(),
            _ => vec![(vec![t], Int::ONE)],
        }
    }

    pub fn sum(&mut self, all: impl IntoIterator<Item = (Monomial, Int)>) -> T {
        let mut by: BTreeMap<Monomial, Int> = BTreeMap::new();
        for (m, c) in all {
            let e = by.entry(m).or_insert(Int::ZERO);
            *e = e.add(&c);
        }
        if by.len() > LIMIT {
            return self.stranger();
        }
        self.poly(by.into_iter().filter(|(_, c)| !c.is_zero()).collect())
    }

    pub fn add(&mut self, a: T, b: T) -> T {
        let all = [self.monomials(a), self.monomials(b)].concat();
        self.sum(all)
    }

    pub fn scale(&mut self, a: T, k: &Int) -> T {
        let all: Vec<_> = self.monomials(a).into_iter().map(|(m, c)| (m, c.mul(k))).collect();
        self.sum(all)
    }

    pub fn neg(&mut self, a: T) -> T {
        self.scale(a, &Int::ONE.neg())
    }

    pub fn sub(&mut self, a: T, b: T) -> T {
        let b = self.neg(b);
        self.add(a, b)
    }

    pub fn mul(&mut self, a: T, b: T) -> T {
        let (x, y) = (self.monomials(a), self.monomials(b));
        if x.len() * y.len() > LIMIT {
            return self.stranger();
        }
        let times = |(m, c): &(Monomial, Int), (n, d): &(Monomial, Int)| {
            let mut all = [m.clone(), n.clone()].concat();
            all.sort_unstable();
            (all, c.mul(d))
        };
        let all: Vec<_> = x.iter().flat_map(|p| y.iter().map(move |q| times(p, q))).collect();
        self.sum(all)
    }

    pub fn range(&mut self, t: T) -> Itv {
        if let Some(r) = self.cache.get(&t) {
            return r.clone();
        }
        let r = match self.node(t).clone() {
            Node::Poly(ms) => {
                let mut all = Itv::point(Int::ZERO);
                for (m, c) in ms {
                    let mut one = Itv::point(c);
                    for (k, f) in m.iter().enumerate() {
                        if k > 0 && m[k - 1] == *f {
                            continue;
                        }
                        let times = m.iter().filter(|g| *g == f).count() as u64;
                        one = one.mul(&self.range(*f).pow(times));
                    }
                    all = all.add(&one);
                }
                all
            }
            Node::Atom(_) => self.declared[&t].clone(),
            Node::Mod(_, k) | Node::Mask(_, k) | Node::Var(Var::Shl | Var::Rotl, _, _, k) => Itv::word(k),
            Node::Shr(u, k) => self.range(u).shr(k),
            Node::Div(u, d) => {
                let r = self.range(u);
                r.div_floor(&d).unwrap_or(r)
            }
            Node::Rem(_, d) => Itv::new(Int::ZERO, d.sub(&Int::ONE)),
            Node::Cut(..) | Node::Lt(..) | Node::Zero(_) | Node::Zeros(_) => Itv::bool(),
            Node::Bits(op, ts) => {
                let all: Vec<Itv> = ts.iter().map(|u| self.range(*u)).collect();
                let both = |a: &Itv, b: &Itv| match op {
                    Bit::And => a.and(b),
                    Bit::Or => a.or(b),
                    Bit::Xor => a.xor(b),
                };
                let wide = Itv::new(Int::pow2(300).neg(), Int::pow2(300));
                all.iter().skip(1).try_fold(all[0].clone(), |a, b| both(&a, b)).unwrap_or(wide)
            }
            Node::Var(Var::Shr, u, ..) => Itv::new(Int::ZERO, self.range(u).hi.max(Int::ZERO)),
            Node::Sel(_, a, b) => self.range(a).join(&self.range(b)),
            Node::Masked(_, x) => self.range(x).join(&Itv::point(Int::ZERO)),
        };
        let r = self.facts.get(&t).map_or(Some(r.clone()), |f| r.common(f)).unwrap_or(r);
        self.cache.insert(t, r.clone());
        r
    }

    pub fn within(&mut self, t: T, r: &Itv) -> bool {
        r.contains(&self.range(t))
    }
}
