//! Words as integers below a power of two.
//! Trusted: field, bytes, leaks.

use crate::atoms::{twos, Atoms, Num};
use crate::poly::{Atom, Poly};
use santoku_ir::BinOp;
use santoku_num::{Int, Itv};

/// Terms of a product that is tried.
const PRODUCT: usize = 64;
/// Runs of ones in a mask.
const RUNS: usize = 16;
/// Terms of a word that has no name where its bits are taken.
const LONG: usize = 4;
/// Words of which one is put together by `xor` in an order of their own.
const PARTS: usize = 12;
/// Those of them that an `and` goes to.
const SPREAD: usize = 3;

pub fn wrap(at: &mut Atoms, x: &Num, bits: u32) -> Option<Num> {
    if x.fits(bits) {
        return Some(x.clone());
    }
    Some(at.divide(x, &Int::pow2(bits))?.1)
}

/// A long word as a name, in clauses about bits.
pub fn short(at: &mut Atoms, x: &Num) -> Num {
    let full = x.itv.as_ref().is_some_and(|i| i.lo == Int::ZERO && u64::from(twos(&i.hi.add(&Int::Small(1)))) == i.hi.bits());
    if !(at.of_words && full && x.p.len() > LONG) {
        return x.clone();
    }
    // Bounds of its terms alone would not show that the name is a word.
    let itv = x.itv.clone();
    let name = at.name_of(&x.p).map_or_else(|| at.name(x, itv.clone()), |a| Num { p: Poly::atom(a), itv: itv.clone() });
    at.forms.named(&x.p, &name.p);
    name
}

fn up(x: &Num, k: u32) -> Num {
    let d = Int::pow2(k);
    Num { p: x.p.scale(&d), itv: x.itv.as_ref().map(|i| i.mul(&Itv::point(d))) }
}

/// A shift or rotation of a word by a number of bits below its width.
pub fn shifted(at: &mut Atoms, op: BinOp, x: &Num, k: u32, bits: u32) -> Option<Num> {
    match op {
        BinOp::Shr => Some(at.divide(x, &Int::pow2(k))?.0),
        BinOp::Shl => Some(up(&at.divide(x, &Int::pow2(bits - k))?.1, k)),
        _ => {
            let left = if op == BinOp::Rotl { k } else { (bits - k) % bits };
            if at.of_words { turned_parts(at, x, left, bits) } else { rotated(at, x, left, bits) }
        }
    }
}

/// `x` rotated to the left.
fn rotated(at: &mut Atoms, x: &Num, left: u32, bits: u32) -> Option<Num> {
    let (high, low) = at.divide(x, &Int::pow2(bits - left))?;
    let low = up(&low, left);
    let itv = low.itv.as_ref().zip(high.itv.as_ref()).map(|(a, b)| a.add(b));
    Some(at.num(low.p.add(&high.p), itv))
}

/// What is put together by `xor` of one word and rotations of it is rotated part by part.
fn turned_parts(at: &mut Atoms, x: &Num, left: u32, bits: u32) -> Option<Num> {
    at.keep(x);
    let parts = at.forms.parts(&x.p);
    let turns: Vec<(Poly, u32)> = parts.iter().map(|p| at.forms.turned(p, bits)).collect();
    let one = |t: &(Poly, u32)| (t.0.clone(), (t.1 + left) % bits);
    let [first, ..] = turns.as_slice() else { return rotated(at, x, left, bits) };
    if parts.len() > PARTS || turns.iter().any(|t| t.0 != first.0) {
        return turn(at, &one(&at.forms.turned(&x.p, bits)), bits);
    }
    if turns.len() == 1 {
        return turn(at, &one(first), bits);
    }
    let mut sum = Num::constant(0u8);
    for t in &turns {
        let w = turn(at, &one(t), bits)?;
        let w = short(at, &w);
        sum = xor(at, &sum, &w, bits)?;
    }
    Some(short(at, &sum))
}

/// A word rotated by so many bits, remembered as that.
fn turn(at: &mut Atoms, (word, left): &(Poly, u32), bits: u32) -> Option<Num> {
    let x = at.kept(word);
    if *left == 0 {
        return Some(x);
    }
    let y = rotated(at, &x, *left, bits)?;
    at.keep(&y);
    at.forms.turned_from(&y.p, (word, *left, bits));
    Some(y)
}

/// Bits that may be ones, as runs `[from, to)`. `None`: nothing is known.
fn support(at: &Atoms, x: &Num) -> Option<Vec<(u64, u64)>> {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    let apart = x.p.terms().all(|(m, c)| {
        let term = Poly::of([(m.clone(), c.clone())]);
        let Some(itv) = at.bound(&term).filter(|i| !i.lo.is_negative()) else { return false };
        // Of 0/1 atoms a term is its coefficient or nothing.
        let run = (u64::from(twos(c)), itv.hi.bits());
        let free = runs.iter().all(|(a, b)| run.1 <= *a || *b <= run.0);
        runs.push(run);
        free
    });
    if apart {
        return Some(runs);
    }
    let low = x.p.terms().map(|(_, c)| twos(c)).min().unwrap_or(0);
    x.itv.as_ref().filter(|i| !i.lo.is_negative()).map(|i| vec![(u64::from(low), i.hi.bits())])
}

pub fn disjoint(at: &Atoms, x: &Num, y: &Num) -> bool {
    let both = support(at, x).zip(support(at, y));
    both.is_some_and(|(a, b)| a.iter().all(|(l, h)| b.iter().all(|(m, i)| h <= m || i <= l))) || x.p.len() * y.p.len() <= PRODUCT && x.p.mul(&y.p).is_zero()
}

/// `x & mask`
fn masked(at: &mut Atoms, x: &Num, mask: &Int) -> Option<Option<Num>> {
    let (mut rest, mut from, mut out) = (mask.clone(), 0, Num::constant(0u8));
    for _ in 0..RUNS {
        if rest == Int::ZERO {
            return Some(Some(out));
        }
        let skip = twos(&rest);
        let len = twos(&rest.shr(skip).add(&Int::Small(1)));
        from += skip;
        let high = at.divide(x, &Int::pow2(from))?.0;
        let part = up(&at.divide(&high, &Int::pow2(len))?.1, from);
        let itv = out.itv.as_ref().zip(part.itv.as_ref()).map(|(a, b)| a.add(b));
        out = at.num(out.p.add(&part.p), itv);
        from += len;
        rest = rest.shr(skip + len);
    }
    Some(None)
}

/// A 0/1 polynomial `c` where `x` is all ones or nothing by it.
fn all_or_nothing(x: &Num, bits: u32) -> Option<Poly> {
    let (c, rest) = x.p.divided(&Itv::word(bits).hi)?;
    let atom = c.atoms();
    (rest.is_zero() && atom.iter().all(|a| a.is_bool()) && atom.len() == 1 && corners(&c, *atom.first()?).iter().all(|v| Itv::<Int>::bool().holds(v))).then_some(c)
}

fn corners(c: &Poly, a: Atom) -> Vec<Int> {
    [false, true].iter().filter_map(|v| c.fixed(&[(a, *v)]).as_const()).collect()
}

pub fn and(at: &mut Atoms, x: &Num, y: &Num, bits: u32) -> Option<Num> {
    if x.p == y.p {
        return Some(x.clone());
    }
    if let Some((x, y)) = x.p.as_const().zip(y.p.as_const()) {
        return Some(Num::constant(x.to_big() & y.to_big()));
    }
    if disjoint(at, x, y) {
        return Some(Num::constant(0u8));
    }
    for (x, y) in [(x, y), (y, x)] {
        if let Some(m) = y.p.as_const() {
            if let Some(v) = masked(at, x, &m)? {
                return Some(v);
            }
        }
        if let Some(c) = all_or_nothing(y, bits) {
            let itv = x.itv.as_ref().map(|i| i.join(&Itv::point(0u8)));
            return Some(at.num(c.mul(&x.p), itv));
        }
    }
    if bits == 1 {
        return Some(Num::truth(x.p.mul(&y.p)));
    }
    if let Some(v) = by_cases(at, x, y, bits) {
        return Some(v);
    }
    if at.is_thorough() {
        // Of the longer word only the bits that the shorter one may have.
        let most = |n: &Num| n.itv.as_ref().and_then(|i| u32::try_from(i.hi.bits()).ok());
        let (k, l) = most(x).zip(most(y))?;
        if k != l {
            let (x, y) = if k < l { (x.clone(), at.divide(y, &Int::pow2(k))?.1) } else { (at.divide(x, &Int::pow2(l))?.1, y.clone()) };
            return and(at, &x, &y, k.min(l));
        }
    }
    Some(at.common(x, y))
}

/// Where one operand is a constant as soon as a 0/1 atom is fixed: each case by itself.
fn by_cases(at: &mut Atoms, x: &Num, y: &Num, bits: u32) -> Option<Num> {
    let fixes = |p: &Poly, a: Atom| p.fixed(&[(a, false)]).as_const().is_some() || p.fixed(&[(a, true)]).as_const().is_some();
    let a = [x, y].into_iter().flat_map(|n| n.p.atoms().into_iter().filter(|a| a.is_bool() && fixes(&n.p, *a)).collect::<Vec<_>>()).next()?;
    let mut found = Vec::new();
    for v in [false, true] {
        // Both cases have to be words for every value of the other atoms.
        let case = |at: &mut Atoms, n: &Num| Some(at.num(n.p.fixed(&[(a, v)]), None)).filter(|n| n.fits(bits));
        let (x, y) = (case(at, x)?, case(at, y)?);
        found.push(and(at, &x, &y, bits)?);
    }
    let (no, yes) = (&found[0], &found[1]);
    let itv = no.itv.as_ref().zip(yes.itv.as_ref()).map(|(a, b)| a.join(b));
    Some(at.num(no.p.add(&Poly::atom(a).mul(&yes.p.sub(&no.p))), itv))
}

/// `or` and `xor` by what the words have in common.
pub fn or(at: &mut Atoms, x: &Num, y: &Num, bits: u32, common: i32) -> Option<Num> {
    let both = and(at, x, y, bits)?;
    let p = x.p.add(&y.p).plus(&Int::from(-common), &both.p);
    let itv = x.itv.as_ref().zip(y.itv.as_ref()).and_then(|(a, b)| if common == 1 { a.or(b) } else { a.xor(b) });
    Some(at.num(p, itv))
}

/// `and`, `or` or `xor` of words, in pieces of so many bits.
pub fn bitwise(at: &mut Atoms, op: BinOp, x: &Num, y: &Num, (bits, piece): (u32, u32)) -> Option<Num> {
    if bits > piece {
        let ((xh, xl), (yh, yl)) = (at.divide(x, &Int::pow2(piece))?, at.divide(y, &Int::pow2(piece))?);
        let low = bitwise(at, op, &xl, &yl, (piece, piece))?;
        let high = up(&bitwise(at, op, &xh, &yh, (bits - piece, piece))?, piece);
        return Some(at.num(high.p.add(&low.p), Some(Itv::word(bits))));
    }
    match op {
        BinOp::And if at.of_words => spread_and(at, x, y, bits),
        BinOp::And => and(at, x, y, bits),
        BinOp::Or => or(at, x, y, bits, 1),
        _ if !at.is_thorough() && !at.of_words => or(at, x, y, bits, 2),
        _ => xor(at, x, y, bits),
    }
}

/// Words that give this one by `xor`; those of the complement of a word are those of the word and all ones.
fn spread(at: &mut Atoms, n: &Num, ones: &Int, bits: u32) -> Vec<Poly> {
    let p = at.spelled(&n.p);
    let other = Num { p: Poly::constant(ones.clone()).sub(&p), itv: Some(Itv::word(bits)) };
    // Of a word and its complement that one is the word which has no constant, or was named first.
    let before = at.name_of(&other.p).is_some_and(|a| n.p.as_atom().is_none_or(|b| a < b));
    if !n.fits(bits) || !before && (p.constant_term() != *ones || p.len() < 2) {
        return at.forms.parts(&n.p).into_iter().collect();
    }
    let other = short(at, &other);
    at.keep(&other);
    at.forms.parts(&other.p).into_iter().chain([Poly::constant(ones.clone())]).collect()
}

/// `x & (y ^ z)` is `(x & y) ^ (x & z)`, and `~x & y` is `y ^ (x & y)`: whatever the order of operations, the result is the same polynomial.
fn spread_and(at: &mut Atoms, x: &Num, y: &Num, bits: u32) -> Option<Num> {
    at.keep(x);
    at.keep(y);
    let plain = and(at, x, y, bits)?;
    let ones = Itv::<Int>::word(bits).hi;
    let parts = |at: &mut Atoms, n: &Num| spread(at, n, &ones, bits);
    let (xs, ys) = (parts(at, x), parts(at, y));
    let alone = plain.p.as_atom().is_none() || xs.len().max(ys.len()) < 2;
    if bits == 1 || alone || xs.len().max(ys.len()) > SPREAD {
        return Some(plain);
    }
    let mut sum = Num::constant(0u8);
    for a in &xs {
        for b in &ys {
            let (a, b) = (at.kept(a), at.kept(b));
            if !a.fits(bits) || !b.fits(bits) {
                return Some(plain);
            }
            let one = and(at, &a, &b, bits)?;
            let one = short(at, &one);
            sum = xor(at, &sum, &one, bits)?;
        }
    }
    Some(sum)
}

/// Whatever the order in which several words were put together, the result is the same polynomial.
fn xor(at: &mut Atoms, x: &Num, y: &Num, bits: u32) -> Option<Num> {
    let (a, b) = (at.forms.parts(&x.p), at.forms.parts(&y.p));
    at.keep(x);
    at.keep(y);
    let parts: std::collections::BTreeSet<Poly> = a.symmetric_difference(&b).cloned().collect();
    let words: Vec<Num> = parts.iter().map(|p| at.kept(p)).collect();
    let mut sum = Num::constant(0u8);
    let as_they_are = parts.len() <= 2 && !at.of_words;
    if as_they_are || parts.len() > PARTS || words.iter().any(|w| !w.fits(bits)) {
        sum = or(at, x, y, bits, 2)?;
    } else {
        for w in &words {
            sum = or(at, &sum, w, bits, 2)?;
        }
    }
    at.forms.made_of(&sum.p, parts);
    Some(sum)
}

/// A word of many terms as names of its pieces of so many bits; any other as it is.
pub fn named(at: &mut Atoms, x: &Num, (least, piece): (usize, u32)) -> Num {
    let bits = x.itv.as_ref().filter(|i| !i.lo.is_negative()).map(|i| i.hi.bits());
    let Some(bits) = bits.filter(|_| x.p.len() > least) else { return x.clone() };
    let (mut rest, mut out, mut from) = (x.clone(), Num::constant(0u8), 0);
    while u64::from(from) < bits {
        let Some((high, low)) = at.divide(&rest, &Int::pow2(piece)) else { return x.clone() };
        let low = if low.p.len() > least {
            let name = at.named(&low);
            let parts = at.forms.parts(&low.p);
            at.forms.made_of(&name.p, parts);
            name
        } else {
            low
        };
        let low = up(&low, from);
        let itv = out.itv.as_ref().zip(low.itv.as_ref()).map(|(a, b)| a.add(b));
        (out, rest, from) = (at.num(out.p.add(&low.p), itv), high, from + piece);
    }
    at.num(out.p, x.itv.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atoms::{Def, MERGED};
    use num_bigint::BigInt;

    const BITS: u32 = 8;

    /// Three words of eight bits, and what they are.
    struct World {
        at: Atoms,
        inputs: Vec<Num>,
        values: [u8; 3],
    }

    impl World {
        fn new(values: [u8; 3]) -> World {
            let mut at = Atoms::with(MERGED);
            at.of_words = true;
            let inputs = (0..3).map(|_| at.fresh(Some(Itv::word(BITS)))).collect();
            World { at, inputs, values }
        }

        fn atom(&self, a: Atom) -> BigInt {
            if let Some(k) = self.inputs.iter().position(|n| n.p == Poly::atom(a)) {
                return self.values[k].into();
            }
            match (self.at.def(a).clone(), self.at.common_of(a)) {
                (_, Some((x, y))) => self.value(&x) & self.value(&y),
                (Def::Quotient(p, d), _) => {
                    let (v, d) = (self.value(&p), d.to_big());
                    let rest = ((&v % &d) + &d) % &d;
                    (v - rest) / d
                }
                (Def::Name(p), _) => self.value(&p),
                (Def::Free, None) => panic!("an atom that is nothing"),
            }
        }

        fn value(&self, p: &Poly) -> BigInt {
            let term = |(m, c): (&crate::poly::Mono, &Int)| m.factors().iter().fold(c.to_big(), |t, (a, e)| t * self.atom(*a).pow(e.to_u64().expect("small") as u32));
            p.terms().map(term).sum()
        }
    }

    /// An expression: what it is as a polynomial, and as a number.
    #[derive(Clone)]
    enum Expr {
        Input(usize),
        Not(Box<Expr>),
        Two(BinOp, Box<Expr>, Box<Expr>),
        Turn(BinOp, Box<Expr>, u32),
        Sum(Box<Expr>, Box<Expr>),
    }

    impl Expr {
        fn run(&self, w: &mut World) -> (Num, u8) {
            match self {
                Expr::Input(k) => (w.inputs[*k].clone(), w.values[*k]),
                Expr::Not(x) => {
                    let (n, v) = x.run(w);
                    (w.at.num(Poly::constant(255u8).sub(&n.p), Some(Itv::word(BITS))), !v)
                }
                Expr::Two(op, x, y) => {
                    let ((a, v), (b, u)) = (x.run(w), y.run(w));
                    let (a, b) = (short(&mut w.at, &a), short(&mut w.at, &b));
                    let n = bitwise(&mut w.at, *op, &a, &b, (BITS, BITS)).expect("a word");
                    let v = match op {
                        BinOp::And => v & u,
                        BinOp::Or => v | u,
                        _ => v ^ u,
                    };
                    (short(&mut w.at, &n), v)
                }
                Expr::Turn(op, x, k) => {
                    let (n, v) = x.run(w);
                    let n = short(&mut w.at, &n);
                    let v = match op {
                        BinOp::Rotl => v.rotate_left(*k),
                        BinOp::Rotr => v.rotate_right(*k),
                        BinOp::Shl => v << k,
                        _ => v >> k,
                    };
                    (shifted(&mut w.at, *op, &n, *k, BITS).expect("a word"), v)
                }
                Expr::Sum(x, y) => {
                    let ((a, v), (b, u)) = (x.run(w), y.run(w));
                    let exact = w.at.num(a.p.add(&b.p), Itv::between(0u8, 510u32));
                    (wrap(&mut w.at, &exact, BITS).expect("a word"), v.wrapping_add(u))
                }
            }
        }
    }

    /// A fixed sequence of numbers (xorshift).
    fn next(state: &mut u64, below: u64) -> u64 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state % below
    }

    fn random(state: &mut u64, depth: u32) -> Expr {
        if depth == 0 {
            return Expr::Input(next(state, 3) as usize);
        }
        let part = |state: &mut u64| {
            let depth = next(state, u64::from(depth)) as u32;
            Box::new(random(state, depth))
        };
        match next(state, 8) {
            0 => Expr::Not(part(state)),
            1..=2 => Expr::Two(BinOp::And, part(state), part(state)),
            3 => Expr::Two(BinOp::Or, part(state), part(state)),
            4 => Expr::Two(BinOp::Xor, part(state), part(state)),
            5 => Expr::Sum(part(state), part(state)),
            _ => {
                let op = [BinOp::Rotl, BinOp::Rotr, BinOp::Rotr, BinOp::Shr, BinOp::Shl][next(state, 5) as usize];
                Expr::Turn(op, part(state), next(state, 7) as u32 + 1)
            }
        }
    }

    /// One form is a claim about all values: here it is asked of some.
    #[test]
    fn forms_of_words_keep_their_values() {
        let (mut state, mut tried) = (0x9e37_79b9_7f4a_7c15, 0);
        for _ in 0..3_000 {
            let e = random(&mut state, 6);
            let mut w = World::new([0; 3].map(|_| next(&mut state, 256) as u8));
            let (n, v) = e.run(&mut w);
            assert_eq!(w.value(&n.p), BigInt::from(v));
            // What is remembered of words on the way holds, too.
            assert!(n.itv.is_none_or(|i| i.holds(&Int::from(i64::from(v)))));
            tried += 1;
        }
        println!("{tried} expressions");
    }

    fn two(op: BinOp, x: &Expr, y: &Expr) -> Expr {
        Expr::Two(op, Box::new(x.clone()), Box::new(y.clone()))
    }

    fn turn(x: &Expr, k: u32) -> Expr {
        Expr::Turn(BinOp::Rotr, Box::new(x.clone()), k)
    }

    fn same(x: &Expr, y: &Expr) -> bool {
        let mut w = World::new([1, 2, 3]);
        let (a, b) = (x.run(&mut w).0, y.run(&mut w).0);
        w.at.forms.parts(&a.p) == w.at.forms.parts(&b.p) && a.p == b.p
    }

    #[test]
    fn words_that_are_the_same_have_one_form() {
        use BinOp::{And, Xor};
        let [x, y, z] = [0, 1, 2].map(Expr::Input);
        let not = |x: &Expr| Expr::Not(Box::new(x.clone()));
        let choice = two(Xor, &two(And, &x, &y), &two(And, &not(&x), &z));
        assert!(same(&choice, &two(Xor, &z, &two(And, &x, &two(Xor, &y, &z)))));
        assert!(!same(&choice, &two(Xor, &y, &two(And, &x, &two(Xor, &y, &z)))));
        let most = two(Xor, &two(Xor, &two(And, &x, &y), &two(And, &x, &z)), &two(And, &y, &z));
        assert!(same(&most, &two(Xor, &y, &two(And, &two(Xor, &x, &y), &two(Xor, &y, &z)))));
        assert!(!same(&most, &two(Xor, &x, &two(And, &two(Xor, &x, &y), &two(Xor, &y, &z)))));
        let turned = two(Xor, &two(Xor, &turn(&x, 1), &turn(&x, 3)), &turn(&x, 6));
        let nested = |k: u32| turn(&two(Xor, &turn(&two(Xor, &turn(&x, k), &x), 2), &x), 1);
        assert!(same(&turned, &nested(3)) && !same(&turned, &nested(2)));
    }
}
