//! What the search gives: figures that must hold, shapes, and mistakes that must be seen.

use super::*;
use crate::field::{inverse, mul, twisted, Twist};
use crate::plan::plan;
use crate::random::Random;
use crate::search::{search, Best, Effort};

/// As little as there is: for many tables.
const LITTLE: Effort = Effort { start: 100, attempts: [1, 1, 1], last: 300 };

fn table(f: impl Fn(u8) -> u8) -> Vec<u8> {
    (0..=255).map(f).collect()
}

fn words(table: &[u8]) -> Vec<u64> {
    table.iter().map(|x| u64::from(*x)).collect()
}

fn aes() -> Vec<u8> {
    table(|x| {
        let i = inverse(x);
        i ^ i.rotate_left(1) ^ i.rotate_left(2) ^ i.rotate_left(3) ^ i.rotate_left(4) ^ 0x63
    })
}

/// A random affine map that is one-to-one.
fn affine(random: &mut Random) -> Vec<u8> {
    loop {
        let columns: [u8; 8] = std::array::from_fn(|_| random.word() as u8);
        let constant = random.word() as u8;
        let map = table(|x| (0..8).filter(|i| x >> i & 1 == 1).fold(constant, |y, i| y ^ columns[i]));
        if map.iter().collect::<std::collections::BTreeSet<_>>().len() == 256 {
            return map;
        }
    }
}

#[test]
fn the_s_box_of_aes_and_its_inverse() {
    let aes = aes();
    assert_eq!((aes[0], aes[0x53]), (0x63, 0xed));
    let mut back = vec![0; 256];
    aes.iter().enumerate().for_each(|(x, y)| back[*y as usize] = x as u8);
    for t in [aes, back] {
        let c = circuit(8, 8, &words(&t)).unwrap();
        assert!(c.count() <= 112 && c.depth() <= 40, "{} gates, depth {}", c.count(), c.depth());
        assert!(c.computes(&words(&t)));
        assert!(circuit3(8, 8, &words(&t)).unwrap().count() <= 76);
    }
}

#[test]
fn twists_of_inversion_are_known_and_others_are_not() {
    let mut random = Random::new(11);
    for k in 0..4u32 {
        let (inner, outer) = (affine(&mut random), affine(&mut random));
        // x^254 and its squares: inversion after a linear map.
        let power = |x: u8| (0..k).fold(inverse(x), |p, _| mul(p, p));
        let mut t = table(|x| outer[power(inner[x as usize]) as usize]);
        let twist = twisted(&t).unwrap();
        assert!(twist.holds(&t));
        if k == 0 {
            let made = plan(&twist);
            assert!(made[0].computes(&words(&t)) && made[0].count() <= 130, "{}", made[0].count());
        }
        t.swap(3, 200);
        assert_eq!(twisted(&t), None);
    }
    let cube = table(|x| mul(x, mul(x, x)));
    let mut permutation = table(|x| x);
    random.shuffle(&mut permutation);
    for t in [cube, permutation, table(|x| x), table(|_| 7), table(|x| x & 0x7f)] {
        assert_eq!(twisted(&t), None);
    }
}

#[test]
fn a_broken_decomposition_is_seen() {
    let aes = aes();
    let right = twisted(&aes).unwrap();
    let swapped = |map: &[u8]| {
        let mut m = map.to_vec();
        m.swap(1, 2);
        m
    };
    // Another constant is still affine: the proof on all inputs is all that stands before it.
    let moved = |map: &[u8]| map.iter().map(|y| y ^ 1).collect::<Vec<u8>>();
    let wrong = [
        Twist { inner: swapped(&right.inner), outer: right.outer.clone() },
        Twist { inner: right.inner.clone(), outer: swapped(&right.outer) },
        Twist { inner: moved(&right.inner), outer: right.outer.clone() },
        Twist { inner: right.inner.clone(), outer: moved(&right.outer) },
    ];
    for twist in wrong {
        assert!(!twist.holds(&aes));
        let first = crate::starts::starts(8, 8, &words(&aes)).remove(0);
        let mut silent = Silent;
        let mut best = Best::new(first.clone(), &mut silent);
        assert!(!best.inversion(&twist, &words(&aes), &LITTLE));
        assert_eq!(best.found.two, first);
    }
}

#[test]
fn every_shape_has_a_circuit() {
    let mut random = Random::new(7);
    for inputs in 1..=8 {
        for outputs in 1..=8 {
            let mask = (1u64 << outputs) - 1;
            // Some outputs random, some constant, some the same as others, some of few variables.
            let kinds: Vec<usize> = (0..outputs).map(|_| random.below(5)).collect();
            let noise: Vec<u64> = (0..1 << inputs).map(|_| random.word() & mask).collect();
            let entry = |x: usize| {
                let bit = |o: usize| match kinds[o] {
                    0 => 0,
                    1 => 1,
                    2 => noise[x] & 1,
                    3 => (x as u64).count_ones() as u64 & 1,
                    _ => noise[x] >> o & 1,
                };
                (0..outputs as usize).fold(0, |e, o| e | bit(o) << o)
            };
            let entries: Vec<u64> = (0..1 << inputs).map(entry).collect();
            // Pools of five variables take most of the time.
            let five = u64::from((inputs + outputs) % 5 == 0);
            let effort = Effort { attempts: [1, 1, five], ..LITTLE };
            let found = search(inputs, outputs, &entries, &effort, &mut Silent);
            for c in [&found.two, &found.three] {
                assert!(c.computes(&entries), "{inputs} {outputs}");
            }
            assert!(found.two.gates.iter().all(|g| !matches!(g, Gate::Lut(..))));
        }
    }
}

#[test]
fn small_tables_stay_small() {
    let chi = |x: u64| (0..5).fold(0, |y, i| y | ((x >> i ^ (!(x >> ((i + 1) % 5)) & x >> ((i + 2) % 5))) & 1) << i);
    let ascon = [4, 11, 31, 20, 26, 21, 9, 2, 27, 5, 8, 18, 29, 3, 6, 28, 30, 19, 7, 14, 0, 13, 17, 24, 16, 12, 1, 25, 22, 10, 15, 23];
    assert!(circuit(5, 5, &(0..32).map(chi).collect::<Vec<_>>()).unwrap().count() <= 14);
    assert!(circuit(5, 5, &ascon).unwrap().count() <= 18);
    assert!(circuit(4, 4, &PRESENT).unwrap().count() <= 17);
    assert_eq!(circuit(2, 2, &[0, 1, 2, 3]).unwrap().count(), 0);
    assert_eq!(circuit(8, 1, &(0..256u64).map(|x| u64::from(x.count_ones() & 1)).collect::<Vec<_>>()).unwrap().count(), 7);
}

#[test]
fn a_search_is_the_same_every_time() {
    let entries = random(5, 4, 99);
    let once = search(5, 4, &entries, &LITTLE, &mut Silent);
    let again = search(5, 4, &entries, &LITTLE, &mut Silent);
    assert_eq!((once.two, once.three), (again.two, again.three));
}

#[test]
fn a_table_is_searched_once_and_told_of() {
    #[derive(Default)]
    struct Heard {
        stages: Vec<String>,
        least: usize,
        done: Vec<(usize, u32)>,
    }
    impl Observer for Heard {
        fn stage(&mut self, name: &str) {
            self.stages.push(name.into());
        }
        fn found(&mut self, gates: usize) {
            self.least = gates;
        }
        fn done(&mut self, c: &Circuit) {
            self.done.push((c.count(), c.depth()));
        }
    }
    let entries = random(4, 3, 1234);
    let mut heard = Heard::default();
    let c = circuit_observed(4, 3, &entries, &mut heard).unwrap();
    assert_eq!(heard.stages, ["expansion", "pools", "improvement"]);
    assert_eq!((heard.least, heard.done.as_slice()), (c.count(), [(c.count(), c.depth())].as_slice()));
    assert_eq!(circuit_observed(4, 3, &entries, &mut heard), Some(c));
    assert_eq!(heard.done.len(), 1);
    // What is on record is not searched for.
    circuit_observed(4, 4, &RECTANGLE, &mut heard).unwrap();
    assert_eq!(heard.done.len(), 1);
}
