//! Integers and intervals against arithmetic that is not theirs. The crate `mistakes` runs the same with a line of theirs broken.

mod num {
    pub use santoku_num::*;
}
mod every;

#[test]
fn integers_are_those_of_the_big_ones() {
    let tried = every::integers().expect("right");
    assert!(tried > 10_000, "{tried}");
}

#[test]
fn intervals_hold_what_operations_make_of_their_members() {
    let tried = every::intervals().expect("right");
    assert!(tried > 100_000, "{tried}");
}

#[test]
fn what_people_read() {
    use santoku_num::{Bound, Int, Itv, Short};
    let of = |k: u32, add: i64| Int::pow2(k).add(&add.into());
    for (v, text) in [(65573.into(), "65573"), (of(62, -1), "2^62-1"), (of(62, 0).neg(), "-2^62"), (of(255, 0), "2^255"), (of(255, 19).neg(), "-(2^255+19)"), (of(40, 5000), "1099511632776")] {
        assert_eq!(Short(&v).to_string(), text);
    }
    let closed: Itv = Itv::new(-3, of(62, -1));
    assert_eq!(closed.to_string(), "-3..4611686018427387903");
    assert_eq!([Itv::<Bound>::from(&closed), Itv::TOP, Itv::EMPTY, Itv::point(7)].map(|i| i.to_string()), ["-3..2^62-1", "-inf..inf", "nothing", "7"]);
}

#[test]
fn bytes_and_digits() {
    use santoku_num::{from_hex, hex, little};
    assert_eq!((little(&[1, 2, 0, 0x80]), little(&[]), little(&[0xff; 17])), (0x8000_0201, 0, u128::MAX));
    assert_eq!(from_hex("00fFa0"), Some(vec![0, 255, 160]));
    assert_eq!(hex(&[0, 255, 160]), "00ffa0");
    for bad in ["0", "0g", "+1", "é"] {
        assert_eq!(from_hex(bad), None, "{bad}");
    }
}

/// The first outputs of the reference code (Vigna, splitmix64.c) for the seed 1234567.
#[test]
fn the_published_sequence() {
    let mut r = santoku_num::SplitMix64::new(1_234_567);
    let first: Vec<u64> = (0..5).map(|_| r.next_u64()).collect();
    assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423, 4_593_380_528_125_082_431, 16_408_922_859_458_223_821]);
    assert_eq!((r.below(0), r.bytes(11).len()), (0, 11));
}
