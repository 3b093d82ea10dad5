//! Whatever rules a term went through, it is the number that its operations give.

use super::arena::{Atom, Bit, Node, Root, Terms, Var, T};
use santoku_num::{Int, Itv, SplitMix64};

/// The number that a term stands for; atoms by their field.
fn value_of(terms: &Terms, t: T, env: &[Int]) -> Int {
    let of = |u: &T| value_of(terms, *u, env);
    let flag = |b: bool| if b { Int::ONE } else { Int::ZERO };
    match terms.node(t) {
        Node::Poly(ms) => ms.iter().fold(Int::ZERO, |sum, (m, c)| sum.add(&m.iter().fold(c.clone(), |p, f| p.mul(&of(f))))),
        Node::Atom(Atom::At(Root::Object(k), _)) => env[*k as usize].clone(),
        Node::Atom(_) | Node::Zeros(_) => panic!("not made here"),
        Node::Mod(u, k) => of(u).mod_floor(&Int::pow2(*k)).unwrap(),
        Node::Shr(u, k) => of(u).shr(*k),
        Node::Div(u, d) => of(u).div_floor(d).unwrap(),
        Node::Rem(u, d) => of(u).mod_floor(d).unwrap(),
        Node::Cut(u, d) => flag(of(u).is_negative() && !of(u).mod_floor(d).unwrap().is_zero()),
        Node::Bits(op, ts) => ts.iter().map(of).reduce(|a, b| bitwise(*op, &a, &b)).unwrap(),
        Node::Var(how, u, k, bits) => by_count(*how, &of(u), &of(k), *bits),
        Node::Lt(a, b) => flag(of(a) < of(b)),
        Node::Zero(u) => flag(of(u).is_zero()),
        Node::Sel(c, a, b) => if of(c).is_zero() { of(b) } else { of(a) },
        Node::Mask(c, k) => if of(c).is_zero() { Int::ZERO } else { Int::mask(*k) },
        Node::Masked(c, x) => if of(c).is_zero() { Int::ZERO } else { of(x) },
    }
}

fn bitwise(op: Bit, a: &Int, b: &Int) -> Int {
    match op {
        Bit::And => a.and(b),
        Bit::Or => a.or(b),
        Bit::Xor => a.xor(b),
    }
}

fn by_count(how: Var, x: &Int, k: &Int, bits: u32) -> Int {
    let k = k.to_u64().unwrap() as u32;
    let cut = |v: Int| v.mod_floor(&Int::pow2(bits)).unwrap();
    match how {
        Var::Shl => cut(x.shl(k)),
        Var::Shr => x.shr(k),
        Var::Rotl => cut(x.shl(k)).or(&x.shr(bits - k)),
    }
}

/// A term made in some way, and the number it should be.
struct Made {
    t: T,
    v: Int,
}

fn cut(v: &Int, k: u32) -> Int {
    v.mod_floor(&Int::pow2(k)).unwrap()
}

fn signed(v: &Int, k: u32) -> Int {
    let half = Int::pow2(k - 1);
    cut(&v.add(&half), k).sub(&half)
}

#[allow(clippy::too_many_lines)] // One operation an arm.
fn grown(terms: &mut Terms, pool: &[Made], rng: &mut SplitMix64) -> Option<Made> {
    let pick = |rng: &mut SplitMix64| &pool[rng.below(pool.len() as u64) as usize];
    let (a, b, c) = (pick(rng), pick(rng), pick(rng));
    let k = [1, 7, 8, 16, 31, 32, 33, 64][rng.below(8) as usize];
    let flag = |b: bool| if b { Int::ONE } else { Int::ZERO };
    let condition = terms.within(c.t, &Itv::bool());
    let not_negative = |terms: &mut Terms, m: &Made| !terms.range(m.t).lo.is_negative();
    let (t, v) = match rng.below(23) {
        0 => (terms.add(a.t, b.t), a.v.add(&b.v)),
        1 => (terms.sub(a.t, b.t), a.v.sub(&b.v)),
        2 => (terms.mul(a.t, b.t), a.v.mul(&b.v)),
        3 => (terms.modulo(a.t, k), cut(&a.v, k)),
        4 => (terms.signed(a.t, k), signed(&a.v, k)),
        5 => (terms.shr(a.t, k), a.v.shr(k)),
        6 => {
            let d = Int::from(i128::from(rng.below(20) + 1));
            (terms.div(a.t, &d), a.v.div_floor(&d).unwrap())
        }
        7 => {
            let d = Int::from(i128::from(rng.below(20) + 1));
            let (r, c) = (terms.rem(a.t, &d), terms.cut(a.t, &d));
            let less = terms.scale(c, &d);
            let t = terms.sub(r, less);
            let zero = terms.int(0);
            // C's remainder, and whether it is negative.
            let v = if a.v.is_negative() { a.v.neg().mod_floor(&d).unwrap().neg() } else { a.v.mod_floor(&d).unwrap() };
            if rng.below(2) == 0 { (terms.lt(t, zero), flag(v.is_negative())) } else { (t, v) }
        }
        8..=10 => {
            let op = [Bit::And, Bit::Or, Bit::Xor][rng.below(3) as usize];
            if !(not_negative(terms, a) && not_negative(terms, b)) {
                return None;
            }
            (terms.bits(op, vec![a.t, b.t]), bitwise(op, &a.v, &b.v))
        }
        11 => (terms.lt(a.t, b.t), flag(a.v < b.v)),
        12 => (terms.eq(a.t, b.t), flag(a.v == b.v)),
        13 => {
            let (x, y) = (terms.modulo(a.t, k), terms.modulo(b.t, k));
            (terms.eq(x, y), flag(cut(&a.v, k) == cut(&b.v, k)))
        }
        14 if condition => (terms.select(c.t, a.t, b.t), if c.v.is_zero() { b.v.clone() } else { a.v.clone() }),
        15 if condition => {
            // A selection by a mask.
            let (x, y) = (terms.modulo(a.t, k), terms.modulo(b.t, k));
            let (mask, d) = (terms.mask(c.t, k), terms.bits(Bit::Xor, vec![x, y]));
            let chosen = terms.bits(Bit::And, vec![mask, d]);
            (terms.bits(Bit::Xor, vec![y, chosen]), cut(if c.v.is_zero() { &b.v } else { &a.v }, k))
        }
        16 if condition => (terms.not(c.t), flag(c.v.is_zero())),
        17 => (terms.complement(a.t, k), Int::mask(k).sub(&a.v)).into_if(terms.within(a.t, &Itv::word(k)))?,
        18 => {
            let how = [Var::Shl, Var::Shr, Var::Rotl][rng.below(3) as usize];
            let x = terms.modulo(a.t, k);
            let count = terms.modulo(b.t, 3);
            let n = cut(&b.v, 3);
            if n >= Int::from(i128::from(k)) {
                return None;
            }
            (terms.by_count(how, x, count, k), by_count(how, &cut(&a.v, k), &n, k))
        }
        19 => {
            // What is known of a value, here that it is itself.
            let near = Itv::new(a.v.sub(&Int::ONE), a.v.add(&Int::from(3)));
            terms.fact(a.t, &near);
            (terms.modulo(a.t, k), cut(&a.v, k))
        }
        20 => {
            let c = Int::from(i128::from(rng.below(1 << 20)));
            let small = terms.int(c.clone());
            (terms.bits(Bit::And, vec![a.t, small]), a.v.and(&c)).into_if(not_negative(terms, a))?
        }
        21 if condition && not_negative(terms, a) => {
            let mask = terms.mask(c.t, k);
            (terms.bits(Bit::And, vec![mask, a.t]), if c.v.is_zero() { Int::ZERO } else { cut(&a.v, k) })
        }
        _ => {
            let c = Int::from(i128::from(rng.next_u64() as i64 >> rng.below(60)));
            (terms.int(c.clone()), c)
        }
    };
    (v.bits() < 200).then_some(Made { t, v })
}

trait IntoIf: Sized {
    fn into_if(self, yes: bool) -> Option<Self>;
}

impl<A> IntoIf for (A, Int) {
    fn into_if(self, yes: bool) -> Option<Self> {
        yes.then_some(self)
    }
}

#[test]
fn terms_are_the_numbers_that_their_operations_give() {
    let mut checked = 0;
    for seed in 0..3000 {
        let mut rng = SplitMix64::new(seed);
        let mut terms = Terms::default();
        let (mut env, mut pool) = (vec![], vec![]);
        for k in 0..5u32 {
            let bits = [1, 8, 32, 64, 33][k as usize];
            let range: Itv = if k == 4 { Itv::new(Int::pow2(32).neg(), Int::pow2(32)) } else { Itv::word(bits) };
            let low = cut(&Int::from(i128::from(rng.next_u64())), bits);
            let v = if k == 4 { signed(&low, 33) } else if rng.below(3) == 0 { range.hi.clone() } else { low };
            env.push(v.clone());
            pool.push(Made { t: terms.atom(Atom::At(Root::Object(k), vec![]), range), v });
        }
        for _ in 0..40 {
            let Some(made) = grown(&mut terms, &pool, &mut rng) else { continue };
            assert_eq!(value_of(&terms, made.t, &env), made.v, "seed {seed}: {} in {env:?}", terms.show(made.t));
            let range = terms.range(made.t);
            assert!(range.holds(made.v.clone()), "seed {seed}: {} is {}, not in {} .. {}", terms.show(made.t), made.v, range.lo, range.hi);
            checked += 1;
            pool.push(made);
        }
    }
    println!("{checked} terms evaluated");
    assert!(checked > 60_000, "{checked}");
}
