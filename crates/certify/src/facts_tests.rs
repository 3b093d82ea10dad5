//! What facts, lists and complementary bits make equal, and what they do not.

use crate::term::{Everywhere, Terms, Var, T};
use num_bigint::BigInt;

const SAMPLES: usize = 16;

/// A public number in `0 ..= hi`, from a sequence that repeats.
fn number(s: &mut Terms, name: &str, hi: u64) -> T {
    let values = (0..SAMPLES as u64).map(|n| BigInt::from((n * 0x9e37_79b9 + name.len() as u64 * 77) % (hi + 1))).collect();
    s.var(Var { name: name.into(), lo: BigInt::ZERO, hi: hi.into(), public: true, values })
}

/// Rounds of a loop to `x = (n + 32) / 128`, counted to the greater of `x` and `bound`, as one looks whose test is of `n < below`.
fn leaves_alike(below: u64, bound: u64, with_facts: bool) -> bool {
    let mut s = Terms::new(32, SAMPLES);
    let (n, b) = (number(&mut s, "n", 5000), number(&mut s, "b", 60));
    let (up, two) = (s.int(32), s.int(2));
    let x = s.add(n, up);
    let x = s.div2k(x, 7);
    let at_least_two = s.sub(x, two);
    let (below, bound) = (s.int(below), s.int(bound));
    let short = s.lt(n, below);
    let last = s.ite(short, bound, x);
    let test = |s: &mut Terms, last: T| {
        let left = s.sub(last, b);
        let left = s.sub(left, Terms::ONE);
        s.eq0(left)
    };
    let (code, source) = (test(&mut s, last), test(&mut s, x));
    let facts = if with_facts { vec![at_least_two] } else { vec![] };
    assert_ne!(code, source);
    let same = s.same_test_under(code, source, &facts);
    assert_eq!(s.broken(), None);
    same
}

#[test]
fn a_last_round_by_a_maximum_is_the_sources_where_there_are_two() {
    assert!(leaves_alike(352, 2, true));
    for (below, bound, with_facts) in [(352, 2, false), (352, 3, true), (353, 2, true), (480, 2, true)] {
        assert!(!leaves_alike(below, bound, with_facts), "{below} {bound} {with_facts}");
    }
}

#[test]
fn a_slice_of_an_element_is_an_element_of_slices() {
    let mut s = Terms::new(32, SAMPLES);
    let x = number(&mut s, "x", 3);
    let words: [u64; 4] = [0x1234_5678, 0xffff_0001, 0x8000_7fff, 0x0001_0000];
    let list = |s: &mut Terms, f: &dyn Fn(u64) -> u64| {
        let values: Vec<T> = words.iter().map(|w| s.int(f(*w))).collect();
        s.pick(&values, x).expect("the index is inside")
    };
    let whole = list(&mut s, &|w| w);
    let (low, high, byte) = (list(&mut s, &|w| w & 0xffff), list(&mut s, &|w| w >> 16), list(&mut s, &|w| w >> 8 & 0xff));
    assert_eq!([s.slice(whole, 0, 16), s.slice(whole, 16, 16), s.slice(whole, 8, 8)], [low, high, byte]);
    assert_ne!(s.slice(whole, 0, 16), high);
    assert_eq!(s.broken(), None);
}

/// `u a | (1 - v) b` for bits `u` and `v`; whether it is the sum of both.
fn is_sum(same_bit: bool) -> bool {
    let mut s = Terms::new(32, SAMPLES);
    let (b, n) = (number(&mut s, "b", u64::from(u32::MAX)), number(&mut s, "of both", 99));
    let test = |s: &mut Terms, bound: u32| {
        let bound = s.int(bound);
        s.lt(n, bound)
    };
    let u = test(&mut s, 50);
    let v = if same_bit { u } else { test(&mut s, 20) };
    // A sum that lies in a word wherever its bit is set, which bounds of its summands do not show.
    let word: BigInt = u32::MAX.into();
    let [x, y] = ["x", "yy"].map(|name| {
        let values = (0..SAMPLES).map(BigInt::from).collect();
        s.var(Var { name: name.into(), lo: BigInt::ZERO, hi: word.clone(), public: true, values })
    });
    let a = s.add(x, y);
    let first = s.mul(u, a);
    let everywhere = Everywhere::at(Terms::ONE).expect("no path");
    s.note(everywhere, first, &BigInt::ZERO, &word);
    let not = s.not_bit(v);
    let second = s.mul(not, b);
    let both = s.or(first, second, 32);
    let sum = s.add(first, second);
    assert_eq!(s.broken(), None);
    both == sum
}

#[test]
fn words_on_opposite_bits_lie_side_by_side() {
    assert!(is_sum(true));
    assert!(!is_sum(false));
}
