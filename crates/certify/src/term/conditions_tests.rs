//! Carries of named words, and conditions that take the source's form.

use super::{Naming, Terms, Var, T};
use num_bigint::BigInt;
use num_traits::One;
use santoku_num::SplitMix64 as Rng;

const WORD: u32 = 64;
const NAMED: Naming = Naming { least: 2, words: 1 };

fn word(s: &mut Terms, name: &str, rng: &mut Rng) -> T {
    let hi: BigInt = (BigInt::one() << WORD) - 1;
    // Edges, too: carries through words of ones are rare otherwise.
    let values = (0..s.samples()).map(|_| match rng.below(4) { 0 => BigInt::ZERO, 1 => hi.clone(), _ => BigInt::from(rng.next_u64()) }).collect();
    s.var(Var { name: name.into(), lo: BigInt::ZERO, hi, public: true, values })
}

/// Words of `a + b` or `a - b` as the source has them, each named, and what is left over: 0 or 1.
fn source(s: &mut Terms, (a, b): (&[T], &[T]), minus: bool) -> (Vec<T>, T) {
    let (mut words, mut over) = (vec![], Terms::ZERO);
    for (x, y) in a.iter().zip(b) {
        let sum = if minus { s.sub(*x, *y) } else { s.add(*x, *y) };
        let sum = s.add(sum, over);
        let low = s.mod2k(sum, WORD);
        words.push(s.name_value(low, NAMED));
        over = s.div2k(sum, WORD);
    }
    (words, if minus { s.neg(over) } else { over })
}

/// How code tells a carry, and a borrow: by which of two words.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Told {
    ByFirst,
    BySecond,
    /// The second carry is told by the wrong word.
    Wrong,
}

/// The same as code computes it: two additions and two comparisons a word. Words take the source's names.
fn machine(s: &mut Terms, (a, b): (&[T], &[T]), minus: bool, told: Told) -> (Vec<T>, T) {
    let (mut words, mut over) = (vec![], Terms::ZERO);
    for (x, y) in a.iter().zip(b) {
        let first = if minus { s.sub(*x, *y) } else { s.add(*x, *y) };
        let first = s.mod2k(first, WORD);
        let first = s.renamed(first);
        let (one, two, three) = match (minus, told) {
            (false, Told::ByFirst) => (s.lt(first, *x), first, over),
            (false, _) => (s.lt(first, *y), over, first),
            (true, Told::ByFirst) => (s.lt(*x, *y), first, over),
            (true, _) => (s.lt(*x, first), first, over),
        };
        let second = if minus { s.sub(first, over) } else { s.add(first, over) };
        let second = s.mod2k(second, WORD);
        let second = s.renamed(second);
        let more = match (minus, told) {
            (_, Told::Wrong) => s.lt(three, second),
            (false, _) => s.lt(second, two),
            (true, _) => s.lt(first, second),
        };
        over = s.or(one, more, 1);
        words.push(second);
    }
    (words, over)
}

/// Chains of carries and borrows of named words have one form, whichever operand tells them; without a solver. A carry told by the wrong word has another.
#[test]
fn carries_of_named_words_have_the_form_of_the_source() {
    let (mut chains, mut refused) = (0, 0);
    for seed in 1..=12u64 {
        for minus in [false, true] {
            for told in [Told::ByFirst, Told::BySecond, Told::Wrong] {
                let mut rng = Rng::new(seed << 8 | 1);
                let mut s = Terms::new(WORD, 12);
                let a: Vec<T> = (0..4).map(|k| word(&mut s, &format!("a{k}"), &mut rng)).collect();
                let constant = |s: &mut Terms, rng: &mut Rng| s.int(rng.next_u64() >> 1 | 1);
                let b: Vec<T> = (0..4).map(|k| if seed % 3 == 0 { constant(&mut s, &mut rng) } else { word(&mut s, &format!("b{k}"), &mut rng) }).collect();
                let (want, over) = source(&mut s, (&a, &b), minus);
                let (got, over_got) = machine(&mut s, (&a, &b), minus, told);
                assert_eq!(s.broken(), None, "seed {seed}, minus {minus}, {told:?}");
                // The solver may be needed for a chain of comparisons of operands.
                s.settle_on();
                let same = want == got && (over == over_got || s.settled(over, over_got));
                assert_eq!(same, told != Told::Wrong, "seed {seed}, minus {minus}, {told:?}: {} is not {}", s.show(over_got, 3), s.show(over, 3));
                chains += u32::from(same);
                refused += u32::from(!same);
            }
        }
    }
    println!("{chains} chains of carries in the source's form, {refused} wrong ones refused");
    assert!(chains >= 40 && refused >= 20, "{chains} {refused}");
}

/// A condition of the code takes the form of the source's that it is equal to, or of its negation; never of one that has the same values on the samples
/// and differs elsewhere.
#[test]
fn conditions_take_the_form_of_the_source() {
    if !santoku_prove::smt::available() {
        santoku_skips::skip("questions to the solver", "there is no z3");
        return;
    }
    let mut s = Terms::new(WORD, 4);
    let mut rng = Rng::new(7);
    // No edges: what is rare is on no sample.
    let mut random = |name: &str| {
        let values = (0..s.samples()).map(|_| BigInt::from(rng.next_u64())).collect();
        s.var(Var { name: name.into(), lo: BigInt::ZERO, hi: (BigInt::one() << WORD) - 1, public: true, values })
    };
    let [x0, x1, y0, y1] = ["x0", "x1", "y0", "y1"].map(&mut random);
    let (_, carry) = source(&mut s, (&[x0, x1], &[y0, y1]), false);
    s.expect_condition(carry);
    let told = |s: &mut Terms, exact: u64| {
        let (low, high) = (s.add(x0, y0), s.add(x1, y1));
        let (below, over) = (s.div2k(low, WORD), s.div2k(high, WORD));
        let limit = s.int((BigInt::one() << WORD) - exact);
        let full = s.eq(high, limit);
        let both = s.mul(full, below);
        s.add(over, both)
    };
    let right = told(&mut s, 1);
    assert_ne!(right, carry, "they have one form before anything is asked");
    assert_eq!(s.like_condition(right), right, "nothing is asked before the engine is on");
    s.settle_on();
    assert_eq!(s.like_condition(right), carry);
    let other = s.not_bit(right);
    let not_carry = s.not_bit(carry);
    assert_eq!(s.like_condition(other), not_carry);
    // Must fail: this one differs where the upper words sum to 2^64 - 2, which is no sample.
    let wrong = told(&mut s, 2);
    assert!((0..s.samples()).all(|n| s.sample(wrong, n) == s.sample(carry, n)));
    assert_eq!(s.like_condition(wrong), wrong);
    // Must fail: a condition of other words with the same values.
    let limit = s.int(BigInt::one() << 63u32);
    let z = { let values = (0..s.samples()).map(|n| s.sample(carry, n) << 63u32).collect(); s.var(Var { name: "z".into(), lo: BigInt::ZERO, hi: (BigInt::one() << WORD) - 1, public: true, values }) };
    let apart = s.lt(z, limit);
    let apart = s.not_bit(apart);
    assert!((0..s.samples()).all(|n| s.sample(apart, n) == s.sample(carry, n)));
    assert_eq!(s.like_condition(apart), apart);
    assert_eq!(s.broken(), None);
}
