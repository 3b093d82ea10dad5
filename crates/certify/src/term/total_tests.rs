//! Every operation has a value for all integers, and what is noted of it holds for all: operands that are words on some path
//! alone do no harm.

use super::{Everywhere, Terms, Var, T};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Zero};
use santoku_num::SplitMix64;

const SAMPLES: usize = 16;

fn numbers(s: &mut Terms, seed: &mut SplitMix64, name: String) -> T {
    let lo = -BigInt::from(1i64 << 40);
    let values = (0..SAMPLES).map(|n| {
        let random = seed.next_u64();
        match n {
            0 => lo.clone(),
            1 => -&lo,
            2..=5 => BigInt::from(n as i64 - 4),
            _ => BigInt::from((random >> 20) as i64 % (1 << 40)) - BigInt::from(1i64 << (n + 20)),
        }
    });
    let values = values.map(|v| v.max(lo.clone()).min(-&lo)).collect();
    s.var(Var { name, lo: lo.clone(), hi: -lo, public: true, values })
}

/// What an operation is said to give, against a plain definition.
fn agrees(s: &Terms, r: T, want: impl Fn(usize) -> BigInt) -> usize {
    let (lo, hi) = s.range(r);
    (0..SAMPLES).filter(|n| *s.sample(r, *n) == want(*n) && *s.sample(r, *n) >= lo && *s.sample(r, *n) <= hi).count()
}

#[test]
fn operations_have_one_value_for_words_and_for_all_else() {
    let (mut checked, mut seed) = (0, SplitMix64::new(7));
    for round in 0..40u32 {
        let mut s = Terms::new(if round % 2 == 0 { 32 } else { 64 }, SAMPLES);
        let (a, b) = (numbers(&mut s, &mut seed, "a".into()), numbers(&mut s, &mut seed, "b".into()));
        let w = [1, 8, 31, 32, 64][round as usize % 5];
        let unit: BigInt = BigInt::one() << w;
        let word = |t: T, s: &Terms, n: usize| s.sample(t, n).mod_floor(&unit);
        let [and, or, xor] = [s.and(a, b, w), s.or(a, b, w), s.xor(a, b, w)];
        let k = round % w;
        let (turned, chosen, named) = (s.rotl(a, k, w), s.ite(a, b, xor), s.name_word(a, w));
        assert_eq!(agrees(&s, and, |n| word(a, &s, n) & word(b, &s, n)), SAMPLES);
        assert_eq!(agrees(&s, or, |n| word(a, &s, n) | word(b, &s, n)), SAMPLES);
        assert_eq!(agrees(&s, xor, |n| word(a, &s, n) ^ word(b, &s, n)), SAMPLES);
        assert_eq!(agrees(&s, turned, |n| ((word(a, &s, n) << k) | (word(a, &s, n) >> (w - k))).mod_floor(&unit)), SAMPLES);
        assert_eq!(agrees(&s, chosen, |n| s.sample(if s.sample(a, n).is_zero() { xor } else { b }, n).clone()), SAMPLES);
        assert_eq!(agrees(&s, named, |n| word(a, &s, n)), SAMPLES);
        assert_eq!(s.broken(), None);
        checked += 6 * SAMPLES;
    }
    println!("{checked} values");
}

/// The judge itself: a bound that a sample denies is a fault of ours, and ends every proof.
#[test]
fn a_bound_that_a_sample_denies_is_a_fault() {
    for (hi, fault) in [(6, true), (7, false)] {
        let mut s = Terms::new(32, 2);
        let x = s.var(Var { name: "x".into(), lo: 0.into(), hi: 9.into(), public: true, values: vec![7.into(), 0.into()] });
        let everywhere = Everywhere::at(Terms::ONE).expect("no path");
        s.note(everywhere, x, &BigInt::ZERO, &hi.into());
        assert_eq!(s.broken().is_some(), fault, "{:?}", s.broken());
    }
    let mut s = Terms::new(32, 2);
    let x = s.var(Var { name: "x".into(), lo: 0.into(), hi: 1.into(), public: true, values: vec![1.into(), 0.into()] });
    assert!(Everywhere::at(x).is_none(), "a path that may be missed gives no leave");
}
