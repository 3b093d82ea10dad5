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
    /// Result of the call at hand.
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
type Monomial = Vec<T>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Node {
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
    declared: HashMap<T, Itv>,
    /// Proved of values in the statement at hand.
    facts: HashMap<T, Itv>,
    cache: HashMap<T, Itv>,
    strangers: u32,
}

impl Terms {
    fn add_node(&mut self, n: Node) -> T {
        if let Some(t) = self.known.get(&n) {
            return *t;
        }
        let t = self.nodes.len() as T;
        self.nodes.push(n.clone());
        self.known.insert(n, t);
        t
    }

    fn node(&self, t: T) -> &Node {
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

    fn poly(&mut self, ms: Vec<(Monomial, Int)>) -> T {
        match ms.as_slice() {
            [(m, c)] if m.len() == 1 && *c == Int::ONE => m[0],
            _ => self.add_node(Node::Poly(ms)),
        }
    }

    fn monomials(&self, t: T) -> Vec<(Monomial, Int)> {
        match self.node(t) {
            Node::Poly(ms) => ms.clone(),
            _ => vec![(vec![t], Int::ONE)],
        }
    }

    fn sum(&mut self, all: impl IntoIterator<Item = (Monomial, Int)>) -> T {
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

    /// The remainder by `2^k` that is not negative.
    pub fn modulo(&mut self, t: T, k: u32) -> T {
        if k == 0 {
            return self.int(0);
        }
        let r = self.range(t);
        if Itv::word(k).contains(&r) {
            return t;
        }
        match self.node(t).clone() {
            Node::Mod(u, j) if j >= k => self.modulo(u, k),
            Node::Bits(op, ts) => {
                let ts = ts.into_iter().map(|u| self.modulo(u, k)).collect();
                self.bits(op, ts)
            }
            Node::Sel(c, a, b) => {
                let (a, b) = (self.modulo(a, k), self.modulo(b, k));
                self.select(c, a, b)
            }
            Node::Poly(ms) => self.poly_modulo(t, ms, k),
            _ if r.lo.shr(k) == r.hi.shr(k) => {
                let below = self.int(r.lo.shr(k).shl(k));
                self.sub(t, below)
            }
            _ => self.add_node(Node::Mod(t, k)),
        }
    }

    /// What a number of a type of `k` bits is to be told from, whatever is known of the choice that it is.
    pub fn residue(&mut self, t: T, k: u32) -> T {
        match *self.node(t) {
            Node::Sel(c, a, b) => {
                let (a, b) = (self.residue(a, k), self.residue(b, k));
                self.select(c, a, b)
            }
            Node::Bits(op, ref ts) => {
                let ts = ts.clone().into_iter().map(|u| self.residue(u, k)).collect();
                self.bits(op, ts)
            }
            _ => self.modulo(t, k),
        }
    }

    fn poly_modulo(&mut self, t: T, ms: Vec<(Monomial, Int)>, k: u32) -> T {
        let (whole, half) = (Int::pow2(k), Int::pow2(k - 1));
        let mut sum = self.int(0);
        for (m, c) in ms {
            // Above -2^(k-1), at most 2^(k-1).
            let c = half.sub(&half.sub(&c).mod_floor(&whole).unwrap_or(Int::ZERO));
            let mut one = self.int(c.clone());
            for f in m {
                let f = match *self.node(f) {
                    _ if c.is_zero() => f,
                    Node::Mod(u, j) if j >= k => u,
                    Node::Sel(..) | Node::Bits(..) => self.residue(f, k),
                    _ => f,
                };
                one = self.mul(one, f);
            }
            sum = self.add(sum, one);
        }
        if sum != t {
            return self.modulo(sum, k);
        }
        let r = self.range(t);
        let below = r.lo.shr(k).shl(k);
        if r.hi.sub(&below) < whole {
            let below = self.int(below);
            return self.sub(t, below);
        }
        // Or, with every factor below 2^k.
        let up: Vec<_> = self.monomials(t).into_iter().map(|(m, c)| (m, c.mod_floor(&whole).unwrap_or(c))).collect();
        let up = self.sum(up);
        if self.within(up, &Itv::word(k)) {
            return up;
        }
        self.of_condition(t, k).unwrap_or_else(|| self.add_node(Node::Mod(t, k)))
    }

    /// `a + b*c` of a condition `c`, or of a product that is one: one of two numbers.
    fn of_condition(&mut self, t: T, k: u32) -> Option<T> {
        let (ms, whole) = (self.monomials(t), Int::pow2(k));
        let (a, (m, b)) = match ms.as_slice() {
            [(m, b)] => (Int::ZERO, (m, b)),
            [(one, a), (m, b)] if one.is_empty() => (a.clone(), (m, b)),
            _ => return None,
        };
        let c = self.poly(vec![(m.clone(), Int::ONE)]);
        if !self.within(c, &Itv::bool()) {
            return None;
        }
        let (none, one) = (a.mod_floor(&whole)?, a.add(b).mod_floor(&whole)?);
        let up = self.scale(c, &one.sub(&none));
        let none = self.int(none);
        Some(self.add(none, up))
    }

    /// The number of a signed type of `k` bits that is congruent.
    pub fn signed(&mut self, t: T, k: u32) -> T {
        let half = Int::pow2(k - 1);
        if self.within(t, &Itv::new(half.neg(), half.sub(&Int::ONE))) {
            return t;
        }
        match *self.node(t) {
            Node::Mod(u, j) if j >= k => self.signed(u, k),
            Node::Sel(c, a, b) => {
                let (a, b) = (self.signed(a, k), self.signed(b, k));
                self.select(c, a, b)
            }
            _ => {
                let half = self.int(half);
                let up = self.add(t, half);
                let up = self.modulo(up, k);
                self.sub(up, half)
            }
        }
    }

    pub fn shr(&mut self, t: T, k: u32) -> T {
        let r = self.range(t);
        if k == 0 {
            return t;
        }
        if r.lo.shr(k) == r.hi.shr(k) {
            return self.int(r.lo.shr(k));
        }
        match self.node(t).clone() {
            Node::Shr(u, j) => self.add_node(Node::Shr(u, j + k)),
            Node::Poly(ms) if ms.iter().all(|(_, c)| c.shr(k).shl(k) == *c) => self.sum(ms.into_iter().map(|(m, c)| (m, c.shr(k)))),
            _ => self.add_node(Node::Shr(t, k)),
        }
    }

    /// The floor of a quotient by a positive constant.
    pub fn div(&mut self, t: T, d: &Int) -> T {
        if let Some(k) = d.log2() {
            return self.shr(t, k);
        }
        let r = self.range(t);
        match (r.lo.div_floor(d), r.hi.div_floor(d)) {
            (Some(a), Some(b)) if a == b => self.int(a),
            _ => self.add_node(Node::Div(t, d.clone())),
        }
    }

    pub fn rem(&mut self, t: T, d: &Int) -> T {
        if let Some(k) = d.log2() {
            return self.modulo(t, k);
        }
        if self.within(t, &Itv::new(Int::ZERO, d.sub(&Int::ONE))) {
            return t;
        }
        self.add_node(Node::Rem(t, d.clone()))
    }

    /// 1 where C's quotient by a positive constant, which is cut towards zero, is not the floor.
    pub fn cut(&mut self, t: T, d: &Int) -> T {
        if !self.range(t).lo.is_negative() {
            return self.int(0);
        }
        self.add_node(Node::Cut(t, d.clone()))
    }

    /// Bitwise, of numbers that are not negative; a mask `2^k - 1` takes the remainder of any number.
    pub fn bits(&mut self, op: Bit, args: Vec<T>) -> T {
        let mut flat = vec![];
        for t in args {
            match self.node(t) {
                Node::Bits(o, ts) if *o == op => flat.extend(ts.iter().copied()),
                _ => flat.push(t),
            }
        }
        flat.sort_unstable();
        if op == Bit::Xor {
            flat = self.toggled(flat);
        }
        let (constants, mut rest): (Vec<T>, Vec<T>) = flat.into_iter().partition(|t| self.value(*t).is_some());
        if op == Bit::Xor {
            rest = odd(&rest);
        } else {
            rest.dedup();
        }
        let constant = constants.iter().filter_map(|t| self.value(*t)).reduce(|a, b| match op {
            Bit::And => a.and(&b),
            Bit::Or => a.or(&b),
            Bit::Xor => a.xor(&b),
        });
        if rest.is_empty() {
            return self.int(constant.unwrap_or(Int::ZERO));
        }
        if let Some(c) = constant {
            if c.is_zero() {
                return if op == Bit::And { self.int(0) } else { self.bits(op, rest) };
            }
            if let (Bit::And, [one]) = (op, rest.as_slice()) {
                if let Node::Mask(cond, k) = *self.node(*one) {
                    let c = self.int(c);
                    let c = self.modulo(c, k);
                    return self.add_node(Node::Masked(cond, c));
                }
            }
            if let (Bit::And, Some(k)) = (op, c.add(&Int::ONE).log2()) {
                let all = self.bits(op, rest);
                return self.modulo(all, k);
            }
            if op == Bit::Xor && c == Int::ONE && rest.iter().all(|t| !matches!(self.node(*t), Node::Masked(..))) {
                let all = self.bits(op, rest.clone());
                if self.within(all, &Itv::bool()) {
                    return self.not(all);
                }
            }
            if op == Bit::And && !c.is_negative() {
                // Higher bits do not matter.
                let k = c.bits() as u32;
                rest = rest.into_iter().map(|t| self.modulo(t, k)).collect();
                rest.sort_unstable();
                rest.dedup();
            }
            let c = self.int(c);
            rest.push(c);
            rest.sort_unstable();
        }
        match rest.as_slice() {
            [one] => match *self.node(*one) {
                Node::Masked(c, x) if op == Bit::Xor => {
                    let zero = self.int(0);
                    self.select(c, x, zero)
                }
                _ => *one,
            },
            _ => self.masked(op, rest),
        }
    }

    /// With conditions themselves in the place of their opposites, and a 1 for each.
    fn toggled(&mut self, ts: Vec<T>) -> Vec<T> {
        let mut out = vec![];
        for t in ts {
            let other = self.not(t);
            let opposite = matches!(self.node(t), Node::Poly(_)) && self.value(t).is_none() && !matches!(self.node(other), Node::Poly(_)) && self.within(other, &Itv::bool());
            if !opposite {
                out.push(t);
                continue;
            }
            match self.node(other) {
                Node::Bits(Bit::Xor, us) => out.extend(us.clone()),
                _ => out.push(other),
            }
            out.push(self.int(1));
        }
        out.sort_unstable();
        out
    }

    /// `mask & x`, and `y ^ (mask & (x ^ y))`.
    fn masked(&mut self, op: Bit, ts: Vec<T>) -> T {
        let t = self.masked_bits(op, ts);
        // Some bits are known, and no others are there.
        match self.range(t).single().cloned() {
            Some(v) => self.int(v),
            None => t,
        }
    }

    fn masked_bits(&mut self, op: Bit, ts: Vec<T>) -> T {
        let at = ts.iter().position(|t| match (op, self.node(*t)) {
            (Bit::And, Node::Mask(..)) => true,
            (Bit::Xor, Node::Masked(..)) => true,
            _ => false,
        });
        let Some(at) = at else { return self.add_node(Node::Bits(op, ts)) };
        let mut rest = ts.clone();
        let found = rest.remove(at);
        match (self.node(found).clone(), rest.as_slice()) {
            (Node::Mask(c, k), [x]) if self.within(*x, &Itv::word(k)) => {
                self.add_node(Node::Masked(c, *x))
            }
            (Node::Masked(c, x), _) => {
                let y = self.bits(op, rest);
                let x = self.bits(op, vec![x, y]);
                self.select(c, x, y)
            }
            _ => self.add_node(Node::Bits(op, ts)),
        }
    }

    pub fn mask(&mut self, c: T, k: u32) -> T {
        match self.value(c) {
            Some(v) => self.int(if v.is_zero() { Int::ZERO } else { Int::mask(k) }),
            None => self.add_node(Node::Mask(c, k)),
        }
    }

    /// A word of `bits` bits, shifted or rotated by a count below that.
    pub fn by_count(&mut self, how: Var, t: T, count: T, bits: u32) -> T {
        match (how, self.value(count).and_then(|v| v.to_u64())) {
            (Var::Shl, Some(k)) if k < u64::from(bits) => {
                let up = self.scale(t, &Int::pow2(k as u32));
                self.modulo(up, bits)
            }
            (Var::Shr, Some(k)) if k < u64::from(bits) => self.shr(t, k as u32),
            (Var::Rotl, Some(k)) => {
                let k = (k % u64::from(bits)) as u32;
                let up = self.scale(t, &Int::pow2(k));
                let up = self.modulo(up, bits);
                let down = self.shr(t, bits - k);
                self.bits(Bit::Or, vec![up, down])
            }
            _ => self.add_node(Node::Var(how, t, count, bits)),
        }
    }

    pub fn lt(&mut self, a: T, b: T) -> T {
        let (x, y) = (self.range(a), self.range(b));
        if x.hi < y.lo || x.lo >= y.hi || a == b {
            return self.int(Int::from(i128::from(x.hi < y.lo)));
        }
        if let (Some(zero), [(m, p), (n, q)]) = (self.value(b), self.monomials(a).as_slice()) {
            // C's remainder is negative exactly where its quotient is cut.
            for (m, p, n, q) in [(m, p, n, q), (n, q, m, p)] {
                if let ([r], [c]) = (m.as_slice(), n.as_slice()) {
                    if let (Node::Rem(x, d), Node::Cut(y, e)) = (self.node(*r), self.node(*c)) {
                        if zero.is_zero() && *p == Int::ONE && x == y && d == e && q.neg() == *d {
                            return *c;
                        }
                    }
                }
            }
        }
        self.add_node(Node::Lt(a, b))
    }

    pub fn eq(&mut self, a: T, b: T) -> T {
        if a == b {
            return self.int(1);
        }
        let (x, y) = (self.range(a), self.range(b));
        if x.hi < y.lo || y.hi < x.lo {
            return self.int(0);
        }
        let d = self.sub(a, b);
        let words = [32, 64, 128].into_iter().filter(|k| Itv::word(*k).contains(&x.join(&y))).collect::<Vec<u32>>();
        for k in words {
            let p = self.stripped(d, k);
            let (r, whole) = (self.range(p), Int::pow2(k));
            if r.lo > whole.neg() && r.hi < whole {
                return self.is_zero(p);
            }
        }
        self.is_zero(d)
    }

    /// 1 for 0, else 0.
    fn is_zero(&mut self, d: T) -> T {
        let r = self.range(d);
        if !r.holds(Int::ZERO) {
            return self.int(0);
        }
        if self.value(d).is_some() {
            return self.int(1);
        }
        // With a condition that is 0, and with one that is 1.
        for (m, k) in self.monomials(d) {
            if let [c] = m.as_slice() {
                if self.within(*c, &Itv::bool()) {
                    let part = self.scale(*c, &k);
                    let rest = self.sub(d, part);
                    let r = self.range(rest);
                    if !r.holds(Int::ZERO) && !r.holds(k.neg()) {
                        return self.int(0);
                    }
                }
            }
        }
        let other = self.neg(d);
        self.add_node(Node::Zero(d.min(other)))
    }

    /// A number that is congruent modulo `2^k`, without remainders by that.
    fn stripped(&mut self, t: T, k: u32) -> T {
        match self.node(t).clone() {
            Node::Mod(u, j) if j >= k => u,
            Node::Sel(c, a, b) => {
                let (a, b) = (self.stripped(a, k), self.stripped(b, k));
                self.select(c, a, b)
            }
            Node::Poly(ms) => {
                let (whole, half) = (Int::pow2(k), Int::pow2(k - 1));
                let mut sum = self.int(0);
                for (m, c) in ms {
                    let c = half.sub(&half.sub(&c).mod_floor(&whole).unwrap_or(Int::ZERO));
                    let mut one = self.int(c);
                    for f in m {
                        let f = self.stripped(f, k);
                        one = self.mul(one, f);
                    }
                    sum = self.add(sum, one);
                }
                sum
            }
            _ => t,
        }
    }

    /// All bits of a word of `k` bits flipped.
    pub fn complement(&mut self, t: T, k: u32) -> T {
        let ones = self.int(Int::mask(k));
        match *self.node(t) {
            Node::Mod(u, j) if j >= k => {
                let flipped = self.sub(ones, u);
                self.modulo(flipped, k)
            }
            _ => self.sub(ones, t),
        }
    }

    pub fn not(&mut self, t: T) -> T {
        let one = self.int(1);
        self.sub(one, t)
    }

    pub fn select(&mut self, c: T, a: T, b: T) -> T {
        if a == b {
            return a;
        }
        match (self.value(c), self.value(a), self.value(b)) {
            (Some(c), ..) => if c.is_zero() { b } else { a },
            (None, Some(x), Some(y)) if y.is_zero() && x == Int::ONE => c,
            (None, Some(x), Some(y)) if x.is_zero() && y == Int::ONE => self.not(c),
            // A remainder is made from it.
            (None, Some(x), Some(y)) if matches!(self.node(c), Node::Cut(..)) => {
                let up = self.scale(c, &x.sub(&y));
                self.add(up, b)
            }
            _ => self.add_node(Node::Sel(c, a, b)),
        }
    }

    /// 1 where all of these are 0, for all indices in them.
    pub fn zeros(&mut self, mut all: Vec<T>) -> T {
        if all.iter().any(|t| self.value(*t).is_some_and(|v| !v.is_zero())) {
            return self.int(0);
        }
        all.retain(|t| self.value(*t).is_none());
        all.sort_unstable();
        all.dedup();
        if all.is_empty() { self.int(1) } else { self.add_node(Node::Zeros(all)) }
    }

    /// The two halves of what a word of 128 bits has, or the word: what is or-ed together to see whether anything is there.
    pub fn gathered(&self, t: T) -> Vec<T> {
        match self.node(t) {
            Node::Bits(Bit::Or, ts) => ts.iter().flat_map(|u| self.gathered(*u)).collect(),
            _ => vec![t],
        }
    }

    /// `t` divided by a constant, exactly.
    pub fn exact(&mut self, t: T, d: &Int) -> Option<T> {
        let ms = self.monomials(t);
        let divided = ms.into_iter().map(|(m, c)| Some((m, c.div_floor(d).filter(|q| q.mul(d) == c)?))).collect::<Option<Vec<_>>>()?;
        Some(self.sum(divided))
    }

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

    fn visit(&self, t: T, f: &mut dyn FnMut(&Terms, T)) {
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

/// Those that occur an odd number of times, in order.
fn odd(ts: &[T]) -> Vec<T> {
    let mut out: Vec<T> = vec![];
    for t in ts {
        if out.last() == Some(t) {
            out.pop();
        } else {
            out.push(*t);
        }
    }
    out
}

#[cfg(test)]
#[path = "term_tests.rs"]
mod tests;
