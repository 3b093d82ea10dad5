//! What the solver settles, and what it must not.

use super::{Naming, Terms, Var, T};
use num_bigint::BigInt;
use santoku_num::SplitMix64 as Rng;

/// A word of `w` bits with these sample values.
fn word(s: &mut Terms, name: &str, w: u32, values: &[u64]) -> T {
    let values = (0..s.samples()).map(|n| BigInt::from(values[n % values.len()])).collect();
    s.var(Var { name: name.into(), lo: BigInt::ZERO, hi: (BigInt::from(1) << w) - 1, public: true, values })
}

fn without_solver() -> bool {
    let missing = !santoku_prove::smt::available();
    if missing {
        santoku_skips::skip("questions to the solver", "there is no z3");
    }
    missing
}

/// Terms by random operations; the operations depend on the seed alone, so that two arenas with other samples get the same.
fn random(s: &mut Terms, seed: u64, values: &mut Rng) -> Vec<T> {
    let mut rng = Rng::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut pool: Vec<T> = (0..3)
        .map(|k| {
            let v: Vec<u64> = (0..s.samples()).map(|_| values.below(16)).collect();
            word(s, &format!("x{k}"), 4, &v)
        })
        .collect();
    for _ in 0..12 {
        let (a, b) = (pool[rng.below(pool.len() as u64) as usize], pool[rng.below(pool.len() as u64) as usize]);
        let k = rng.below(3) as u32 + 1;
        let t = match rng.below(9) {
            0 => s.add(a, b),
            1 => s.sub(a, b),
            2 => s.div2k(a, k),
            3 => s.mod2k(a, k),
            4 => s.lt(a, b),
            5 => s.eq(a, b),
            6 => {
                let c = s.lt(a, b);
                s.ite(c, a, b)
            }
            7 => s.name_value(a, Naming { least: 2, words: 1 }),
            _ => s.scale(a, &BigInt::from(3)),
        };
        pool.push(t);
    }
    pool
}

/// With one sample, at which all is zero, hardly anything is ruled out before it is asked; a second arena with many samples
/// judges the answers.
#[test]
fn no_two_terms_are_settled_that_differ_somewhere() {
    if without_solver() {
        return;
    }
    let (mut asked, mut yes, mut differ) = (0, 0, 0);
    for seed in 1..=40 {
        let (mut few, mut many) = (Terms::new(32, 1), Terms::new(32, 400));
        let a = random(&mut few, seed, &mut Rng::new(1 << 63));
        let b = random(&mut many, seed, &mut Rng::new(seed | 1));
        assert_eq!(few.broken().or(many.broken()), None);
        few.settle_on();
        for i in 3..a.len() {
            for j in (i + 1)..a.len() {
                if a[i] == a[j] || (i + j) % 4 != 0 {
                    continue;
                }
                let same = (0..many.samples()).all(|n| many.sample(b[i], n) == many.sample(b[j], n));
                let settled = few.settled(a[i], a[j]);
                assert!(same || !settled, "seed {seed}: {} and {}", few.show(a[i], 5), few.show(a[j], 5));
                yes += u32::from(settled);
                differ += u32::from(!same);
            }
        }
        asked += few.questions().0;
    }
    println!("{asked} questions, {differ} pairs that differ, {yes} settled");
    assert!(asked > 100 && differ > 200 && yes > 0);
}

#[test]
fn an_order_of_three_is_seen() {
    if without_solver() {
        return;
    }
    let mut s = Terms::new(32, 4);
    let [a, b, c] = [("a", [1, 5, 9, 3]), ("b", [2, 4, 9, 3]), ("c", [7, 0, 9, 3])].map(|(n, v)| word(&mut s, n, 32, &v));
    let (ab, bc, ac, ca) = (s.lt(a, b), s.lt(b, c), s.lt(a, c), s.lt(c, a));
    let both = s.mul(ab, bc);
    let all = s.mul(both, ac);
    assert_ne!(both, all, "the normal form does not know");
    assert!(!s.settled(both, all) && !s.never_all(&[ab, bc, ca]), "nothing is settled before the engine is on");
    s.settle_on();
    assert!(s.settled(both, all));
    assert!(s.never_all(&[ab, bc, ca]));
    // Must fail: two of the three go together, though not on a sample.
    assert!(!s.settled(both, ab) && !s.never_all(&[ab, ca]));
    assert_eq!(s.broken(), None);
}

/// A chain of bytes with carries, once named at every carry, once computed in one piece: the words of the second take the names
/// of the first.
#[test]
fn words_of_the_machine_are_recognised() {
    if without_solver() {
        return;
    }
    for wrong in [false, true] {
        let mut s = Terms::new(32, 8);
        let bytes: Vec<T> = (0..3).map(|k| word(&mut s, &format!("k{k}"), 8, &[3, 255, 254, 0, 128, 77, 200, 9])).collect();
        let mut carry = Terms::ZERO;
        let mut plain = Terms::ZERO;
        let mut parts = vec![];
        for (k, byte) in bytes.iter().enumerate() {
            let (t, add) = (s.scale(*byte, &BigInt::from(5)), s.int(if wrong && k == 2 { 8 } else { 7 }));
            let t = s.add(t, add);
            let v = s.add(t, carry);
            let v = s.name_value(v, Naming { least: 2, words: 1 });
            parts.push(s.mod2k(v, 8));
            carry = s.div2k(v, 8);
            let seven = s.int(7);
            let five = s.scale(*byte, &BigInt::from(5));
            let v = s.add(five, seven);
            let up = s.scale(v, &(BigInt::from(1) << (8 * k)));
            plain = s.add(plain, up);
        }
        for part in &parts {
            s.expect(*part);
        }
        s.settle_on();
        let mut found = 0;
        for (k, part) in parts.iter().enumerate() {
            let here = s.div2k(plain, 8 * k as u32);
            let here = s.mod2k(here, 8);
            found += usize::from(s.swept(here) == *part || s.settled(here, *part));
        }
        assert_eq!(found, if wrong { 2 } else { 3 });
        assert_eq!(s.broken(), None);
    }
}

/// The index of a table, tested in the ways compilers test it.
#[test]
fn tests_of_a_small_index_have_one_form() {
    let mut s = Terms::new(64, 8);
    let i = word(&mut s, "i", 3, &[0, 1, 2, 3, 4, 5, 6, 7]);
    let one = s.int(1);
    let want = s.eq(i, one);
    // 4 (i >> 1) < i
    let half = s.div2k(i, 1);
    let half = s.scale(half, &BigInt::from(4));
    assert_eq!(s.lt(half, i), want);
    // i < 2 and not i < 1, as a factor
    let (two, y) = (s.int(2), word(&mut s, "y", 32, &[5]));
    let (below2, below1) = (s.lt(i, two), s.lt(i, one));
    let only = s.sub(below2, below1);
    s.note_range(only, &BigInt::ZERO, &BigInt::from(1));
    assert_eq!(s.mul(only, y), s.mul(want, y));
    // Must fail: i < 3 and not i < 1 are two values
    let three = s.int(3);
    let below3 = s.lt(i, three);
    let range = s.sub(below3, below1);
    s.note_range(range, &BigInt::ZERO, &BigInt::from(1));
    assert_ne!(s.mul(range, y), s.mul(want, y));
    assert_eq!(s.broken(), None);
}
