//! Every operation on polynomials, against plain arithmetic at points. What is equal as a polynomial is one value.

use num_bigint::BigInt;
use proptest::prelude::*;
use santoku_num::Int;
use santoku_meaning::poly::{inverse, Atom, Mono, Poly};

/// Atoms; the odd ones are 0 or 1.
const ATOMS: usize = 6;
/// Large enough for everything here.
const TERMS: usize = 10_000;

fn atom(nr: usize) -> Atom {
    Atom::new(nr, nr % 2 == 1).expect("a small number")
}

fn product(atoms: &[usize]) -> Mono {
    atoms.iter().fold(Mono::default(), |m, a| m.mul(&Mono::atom(atom(*a))))
}

/// Terms as they come: in any order, some of them twice, some that cancel, coefficients past a machine word.
fn poly() -> impl Strategy<Value = Poly> {
    let coefficient = prop_oneof![4 => (-3i128..4).prop_map(Int::from), 1 => any::<i128>().prop_map(|c| Int::from(c).mul(&Int::from(c)))];
    let term = (prop::collection::vec(0..ATOMS, 0..4), coefficient);
    prop::collection::vec(term, 0..8).prop_map(|terms| Poly::of(terms.into_iter().map(|(atoms, c)| (product(&atoms), c))))
}

fn point() -> impl Strategy<Value = Vec<i64>> {
    prop::collection::vec(-50i64..50, ATOMS).prop_map(|vs| vs.into_iter().enumerate().map(|(i, v)| if i % 2 == 1 { v & 1 } else { v }).collect())
}

fn power(base: &BigInt, e: &Int) -> BigInt {
    base.pow(u32::try_from(e.to_u64().expect("not negative")).expect("small"))
}

fn at(p: &Poly, point: &[i64]) -> BigInt {
    let mono = |m: &Mono| m.factors().iter().fold(BigInt::from(1), |all, (a, e)| all * power(&BigInt::from(point[a.nr()]), e));
    p.terms().map(|(m, c)| mono(m) * c.to_big()).sum()
}

/// In order, no term twice, none of coefficient 0, no atom twice in a product, 0/1 atoms to the first power.
fn is_canonical(p: &Poly) -> bool {
    let terms: Vec<_> = p.terms().collect();
    let product = |m: &Mono| m.factors().windows(2).all(|f| f[0].0 < f[1].0) && m.factors().iter().all(|(a, e)| *e > Int::ZERO && (!a.is_bool() || *e == Int::Small(1)));
    terms.windows(2).all(|t| t[0].0 < t[1].0) && terms.iter().all(|(m, c)| **c != Int::ZERO && product(m))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn sums_and_products_are_those_of_numbers((a, b, c) in (poly(), poly(), poly()), k in -9i128..9, x in point()) {
        let k = Int::from(k);
        let (va, vb) = (at(&a, &x), at(&b, &x));
        let made = [
            (a.add(&b), &va + &vb),
            (a.sub(&b), &va - &vb),
            (a.plus(&k, &b), &va + k.to_big() * &vb),
            (a.scale(&k), k.to_big() * &va),
            (a.shift(k.clone()), &va + k.to_big()),
            (a.mul(&b), &va * &vb),
            (a.pow(&Int::Small(2), TERMS).expect("short"), &va * &va),
            (a.pow(&Int::ZERO, TERMS).expect("short"), BigInt::from(1)),
        ];
        for (p, wanted) in &made {
            prop_assert!(is_canonical(p), "{p:?}");
            prop_assert_eq!(&at(p, &x), wanted);
        }
        // One value, however it was made.
        prop_assert_eq!(a.add(&b), b.add(&a));
        prop_assert_eq!(a.mul(&b), b.mul(&a));
        prop_assert_eq!(a.mul(&b.add(&c)), a.mul(&b).add(&a.mul(&c)));
        prop_assert!(a.sub(&a).is_zero());
        prop_assert_eq!(a.sub(&b).is_zero(), a == b);
    }

    #[test]
    fn what_is_put_in_has_the_value_of_what_it_replaces((a, by) in (poly(), poly()), nr in 0..ATOMS, x in point()) {
        // What is 0 or 1 is replaced by what is, too.
        let by = if nr % 2 == 1 { Poly::atom(atom(1)).mul(&Poly::atom(atom(3))) } else { by };
        let out = a.replace(atom(nr), &by, TERMS).expect("short");
        let value = at(&by, &x);
        let mono = |m: &Mono| m.factors().iter().fold(BigInt::from(1), |all, (b, e)| all * power(&if *b == atom(nr) { value.clone() } else { x[b.nr()].into() }, e));
        prop_assert!(is_canonical(&out));
        prop_assert_eq!(at(&out, &x), a.terms().map(|(m, c)| mono(m) * c.to_big()).sum());
    }

    #[test]
    fn fixed_atoms_have_their_first_value(a in poly(), fixed in prop::collection::vec((0..ATOMS / 2, any::<bool>()), 0..4), x in point()) {
        let fixed: Vec<(Atom, bool)> = fixed.into_iter().map(|(i, to)| (atom(2 * i + 1), to)).collect();
        let mut moved = x.clone();
        fixed.iter().rev().for_each(|(a, to)| moved[a.nr()] = i64::from(*to));
        let out = a.fixed(&fixed);
        prop_assert!(is_canonical(&out) && fixed.iter().all(|(a, _)| !out.atoms().contains(a)));
        prop_assert_eq!(at(&out, &x), at(&a, &moved));
    }

    #[test]
    fn parts_make_the_whole(a in poly(), d in 1i128..70, nr in 0..ATOMS) {
        let d = Int::from(d);
        let (high, low) = a.divided(&d).expect("not zero");
        prop_assert!(is_canonical(&high) && is_canonical(&low));
        prop_assert_eq!(high.scale(&d).add(&low), a.clone());
        prop_assert!(low.terms().all(|(_, c)| c.mod_floor(&d) != Some(Int::ZERO)));
        let (high, low) = a.nearest(&d).expect("not zero");
        prop_assert!(is_canonical(&high) && is_canonical(&low));
        prop_assert_eq!(high.scale(&d).add(&low), a.clone());
        prop_assert!(low.terms().all(|(_, c)| c.add(c) <= d && c.add(c) > d.neg()));
        let rest = a.modulo(&d).expect("not zero");
        prop_assert!(is_canonical(&rest) && rest.terms().all(|(_, c)| !c.is_negative() && *c < d));
        prop_assert!(a.sub(&rest).modulo(&d).expect("not zero").is_zero());
        let alone = |m: &Mono| m.factors() == [(atom(nr), Int::Small(1))];
        match a.linear_in(atom(nr)) {
            Some((c, rest)) => {
                prop_assert!(is_canonical(&rest) && !rest.atoms().contains(&atom(nr)));
                prop_assert_eq!(rest.plus(&c, &Poly::atom(atom(nr))), a);
            }
            None => prop_assert!(!a.terms().any(|(m, _)| alone(m)) || a.terms().any(|(m, _)| !alone(m) && m.exponent(atom(nr)).is_some())),
        }
    }

    #[test]
    fn products_are_taken_apart(a in prop::collection::vec(0..ATOMS, 0..5), b in prop::collection::vec(0..ATOMS, 0..5)) {
        let (m, o) = (product(&a), product(&b));
        if let Some(left) = m.over(&o) {
            prop_assert_eq!(left.mul(&o), m.clone());
        }
        // What is 0 or 1 is its own square.
        let apart = m.factors().iter().all(|(a, _)| !a.is_bool() || o.exponent(*a).is_none());
        prop_assert!(!apart || m.mul(&o).over(&o) == Some(m));
    }

    #[test]
    fn inverses_are_inverse(a in any::<i64>(), m in 2i64..i64::MAX) {
        let (a, m) = (Int::from(i128::from(a)), Int::from(i128::from(m)));
        if let Some(x) = inverse(&a, &m) {
            prop_assert_eq!(a.mul(&x).mod_floor(&m), Some(Int::Small(1)));
        }
    }
}

#[test]
fn what_differs_is_not_equal() {
    let (x, b) = (Poly::atom(atom(0)), Poly::atom(atom(1)));
    assert_ne!(x.mul(&x), x);
    assert_eq!(b.mul(&b), b);
    assert_ne!(x.add(&b), x.sub(&b));
    assert_ne!(Poly::constant(1u8), Poly::default());
    assert!(x.as_atom().is_some() && x.scale(&Int::Small(2)).as_atom().is_none() && x.mul(&x).as_atom().is_none());
    assert!(x.shift(1u8).as_const().is_none() && x.as_const().is_none() && Poly::default().as_const() == Some(Int::ZERO));
    assert_eq!(x.shift(7u8).constant_term(), Int::Small(7));
    assert!(x.shift(1u8).pow(&Int::Small(40), 30).is_none());
}

/// 4,000,000 products of terms, of which 3,999 are different: they are merged a part at a time.
#[test]
fn long_products_are_merged_in_parts() {
    let powers = std::iter::successors(Some(Mono::default()), |m| Some(m.mul(&Mono::atom(atom(0)))));
    let sum = Poly::of(powers.take(2_000).map(|m| (m, Int::Small(1))));
    let product = sum.mul(&sum);
    assert_eq!((product.len(), at(&product, &[1; ATOMS])), (3_999, BigInt::from(4_000_000)));
    assert!(is_canonical(&product));
}
