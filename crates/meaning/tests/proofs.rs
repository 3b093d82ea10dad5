//! Each rule of proofs: what it accepts, and beside it what is as close and wrong.

use santoku_num::{Int, Itv};
use santoku_meaning::atoms::{Atoms, MERGED};
use santoku_meaning::poly::{Atom, Poly};
use santoku_meaning::proof::{Known, Row, Step, Tree, Zero};

/// A number, not negative and below 100, by its atom and as a polynomial.
fn number(atoms: &mut Atoms) -> (Atom, Poly) {
    fresh(atoms, 0, 99)
}

fn truth(atoms: &mut Atoms) -> (Atom, Poly) {
    fresh(atoms, 0, 1)
}

fn fresh(atoms: &mut Atoms, lo: i32, hi: i32) -> (Atom, Poly) {
    let n = atoms.fresh(Itv::between(lo, hi));
    (n.p.as_atom().expect("an atom"), n.p)
}

fn named(atoms: &mut Atoms, p: &Poly) -> Atom {
    let n = atoms.num(p.clone(), None);
    atoms.named(&n).p.as_atom().expect("a name")
}

fn int(v: i128) -> Int {
    Int::from(v)
}

fn times(k: i128, p: &Poly) -> Poly {
    p.scale(&int(k))
}

fn known<'r>(atoms: &'r Atoms, zeros: &'r [(Poly, Option<Int>)], least: &'r [(Poly, Poly)]) -> Known<'r> {
    Known { atoms, fixed: vec![], assumed: vec![], zeros: zeros.into(), least }
}

fn one() -> Poly {
    Poly::constant(1u8)
}

fn leaf(rows: &[(Row, i128)]) -> Tree {
    Tree::Leaf(vec![rows.iter().map(|(r, k)| (*r, int(*k))).collect()])
}

#[test]
fn a_fact_is_put_in_for_its_atom() {
    let mut atoms = Atoms::with(MERGED);
    let ((a, x), (b, y)) = (number(&mut atoms), number(&mut atoms));
    // x = y + 1; 2 x = y; 2 x = y modulo 14
    let zeros = [(x.sub(&y).shift(-1i32), None), (times(2, &x).sub(&y), None), (times(2, &x).sub(&y), Some(int(14)))];
    let known = known(&atoms, &zeros, &[]);
    let by = |fact, atom| Zero::Steps(vec![Step::Rewrite { fact, atom }]);
    assert!(known.is_zero(&by(0, a), &x.sub(&y).shift(-1i32), None));
    assert!(!known.is_zero(&by(0, a), &x.sub(&y), None), "off by one");
    assert!(!known.is_zero(&by(0, a), &times(2, &x).sub(&y), None), "another fact");
    // Half of y need not be an integer; y is twice x.
    assert!(!known.is_zero(&by(1, a), &x.sub(&times(4, &y)), None) && known.is_zero(&by(1, b), &times(2, &x).sub(&y), None));
    // Modulo 7, half of y is 4 y.
    assert!(known.is_zero(&by(1, a), &x.sub(&times(4, &y)), Some(&int(7))));
    assert!(known.is_zero(&by(2, a), &x.sub(&times(4, &y)), Some(&int(7))), "what holds modulo 14 holds modulo 7");
    assert!(!known.is_zero(&by(2, a), &x.sub(&times(3, &y)), Some(&int(7))));
    assert!(!known.is_zero(&by(2, b), &times(2, &x).sub(&y), None), "a fact modulo 14 is none about integers");
    assert!(!known.is_zero(&by(2, b), &times(2, &x).sub(&y), Some(&int(28))), "nor about a multiple");
    assert!(!known.is_zero(&by(3, a), &x, None), "there is no such fact");
}

#[test]
fn an_atom_in_a_product_is_not_solved_for() {
    let mut atoms = Atoms::with(MERGED);
    let ((a, x), (_, y)) = (number(&mut atoms), number(&mut atoms));
    let zeros = [(x.mul(&y).sub(&y), None), (x.add(&x.mul(&y)), None)];
    let known = known(&atoms, &zeros, &[]);
    for fact in 0..2 {
        assert!(!known.is_zero(&Zero::Steps(vec![Step::Rewrite { fact, atom: a }]), &x.shift(-1i32), None));
        assert!(!known.is_zero(&Zero::Steps(vec![Step::Rewrite { fact, atom: a }]), &x, None));
    }
}

#[test]
fn multiples_of_facts_are_added() {
    let mut atoms = Atoms::with(MERGED);
    let ((_, x), (_, y)) = (number(&mut atoms), number(&mut atoms));
    let zeros = [(x.sub(&y), None), (x.add(&y), Some(int(6)))];
    let known = known(&atoms, &zeros, &[]);
    let add = |fact, times: Poly| Zero::Steps(vec![Step::Add { fact, times }]);
    let squares = x.mul(&x).sub(&y.mul(&y));
    assert!(known.is_zero(&add(0, times(-1, &x.add(&y))), &squares, None));
    assert!(!known.is_zero(&add(0, times(-1, &x.sub(&y))), &squares, None));
    assert!(known.is_zero(&add(1, y.sub(&x)), &squares, Some(&int(3))));
    assert!(!known.is_zero(&add(1, y.sub(&x)), &squares, None));
    assert!(!known.is_zero(&add(2, one()), &squares, None));
}

#[test]
fn names_are_what_they_name() {
    let mut atoms = Atoms::with(MERGED);
    let ((a, x), (b, y)) = (number(&mut atoms), truth(&mut atoms));
    let (sum, same) = (x.add(&y), x.add(&y.mul(&x)));
    let (n, m) = (named(&mut atoms, &sum), named(&mut atoms, &same));
    let whole = named(&mut atoms, &times(2, &x));
    let known = known(&atoms, &[], &[]);
    let expand = |a| Zero::Steps(vec![Step::Expand(a)]);
    assert!(known.is_zero(&expand(n), &Poly::atom(n).sub(&sum), None));
    assert!(!known.is_zero(&expand(n), &Poly::atom(n).sub(&same), None) && !known.is_zero(&expand(a), &x, None));
    // Where y is 1, x + y x is 2 x; elsewhere it is not.
    let (rename, difference) = (Zero::Steps(vec![Step::Rename(m, whole)]), Poly::atom(m).sub(&Poly::atom(whole)));
    assert!(known.case(b, true).is_zero(&rename, &difference, None));
    assert!(!known.case(b, false).is_zero(&rename, &difference, None) && !known.is_zero(&rename, &difference, None));
}

#[test]
fn cases_are_those_of_a_truth_value_and_both() {
    let mut atoms = Atoms::with(MERGED);
    let ((a, x), (b, t)) = (number(&mut atoms), truth(&mut atoms));
    let goal = x.shift(-3i32);
    // Where t is 1 x is 3, where it is 0, too; where t is 0 x is 4.
    let zeros = [(t.mul(&goal), None), (one().sub(&t).mul(&goal), None), (one().sub(&t).mul(&x.shift(-4i32)), None)];
    let known = known(&atoms, &zeros, &[]);
    let add = |fact| Zero::Steps(vec![Step::Add { fact, times: Poly::constant(-1i32) }]);
    let cases = |a, no, yes| Zero::Case(a, Box::new((add(no), add(yes))));
    assert!(known.is_zero(&cases(b, 1, 0), &goal, None));
    assert!(!known.is_zero(&cases(b, 0, 1), &goal, None), "the other way round");
    assert!(!known.is_zero(&cases(b, 2, 0), &goal, None), "one side is another");
    // Of what is neither 0 nor 1 there are other cases.
    let product = x.mul(&x.shift(-1i32));
    let empty = || Zero::Steps(vec![]);
    assert!(known.is_zero(&empty(), &t.mul(&t.shift(-1i32)), None));
    assert!(!known.is_zero(&Zero::Case(a, Box::new((empty(), empty()))), &product, None));
    let trivial = || Tree::Leaf(vec![vec![(Row::Negated, int(1))]]);
    assert!(!known.is_least(&Tree::Case(a, Box::new((trivial(), trivial()))), &times(-1, &product), &one()));
}

#[test]
fn of_alternatives_one_holds() {
    let mut atoms = Atoms::with(MERGED);
    let (_, x) = number(&mut atoms);
    let mut is = |v: i32| {
        let n = atoms.num(x.shift(-v), None);
        atoms.zero(&n)
    };
    let (three, four) = (is(3), is(4));
    let known = known(&atoms, &[], &[]);
    let (a, b) = (three.as_atom().expect("an atom"), four.as_atom().expect("an atom"));
    assert!(known.case(a, true).here(&four).is_zero());
    assert!(!known.case(a, false).here(&four).is_zero() && !known.case(b, false).here(&three).is_zero());
}

#[test]
fn what_is_neither_positive_nor_negative_is_zero() {
    let mut atoms = Atoms::with(MERGED);
    let ((_, x), (_, y)) = (number(&mut atoms), number(&mut atoms));
    // x <= 0; y <= 1
    let least = [(times(-1, &x), one()), (one().sub(&y), one())];
    let known = known(&atoms, &[], &least);
    let below = |row| leaf(&[(Row::Negated, 1), (Row::Least(row), 1)]);
    let pinned = |k: i128, to: &Poly, up: Tree, down: Tree| Zero::Pinned { steps: vec![], times: int(k), to: to.clone(), sides: Box::new((up, down)) };
    let positive = || leaf(&[(Row::Negated, 1)]);
    assert!(known.is_zero(&pinned(1, &x, positive(), below(0)), &x, None));
    assert!(!known.is_zero(&pinned(1, &y, positive(), below(1)), &y, None), "it may be 1");
    assert!(!known.is_zero(&pinned(1, &x, positive(), positive()), &x, None), "no upper bound");
    assert!(!known.is_zero(&pinned(1, &x, positive(), below(0)), &y, None), "another polynomial");
    assert!(!known.is_zero(&pinned(0, &Poly::default(), positive(), positive()), &y, None), "0 times anything");
    // 3 has an inverse modulo 7, none modulo 6; 3 y = x modulo these.
    let goal = times(5, &x);
    assert!(known.is_zero(&pinned(3, &x, positive(), below(0)), &goal, Some(&int(7))));
    assert!(!known.is_zero(&pinned(3, &times(3, &x), positive(), leaf(&[(Row::Negated, 1), (Row::Least(0), 3)])), &y.mul(&x).add(&times(2, &y)), Some(&int(6))));
    let even = times(2, &y);
    assert!(!known.is_zero(&pinned(3, &Poly::default(), positive(), positive()), &even, Some(&int(6))), "3 times 2 y is 0 modulo 6");
}

#[test]
fn sums_of_what_is_not_negative_are_not_negative() {
    let mut atoms = Atoms::with(MERGED);
    let ((_, x), (_, y)) = (fresh(&mut atoms, -99, 99), fresh(&mut atoms, -99, 99));
    // x >= y, y >= 1
    let least = [(x.sub(&y), one()), (y.shift(-1i32), one())];
    let zeros = [(x.add(&y).shift(-9i32), None), (x.clone(), Some(int(2)))];
    let known = known(&atoms, &zeros, &least);
    let both = leaf(&[(Row::Negated, 1), (Row::Least(0), 1), (Row::Least(1), 1)]);
    assert!(known.is_least(&both, &x.shift(-1i32), &one()));
    assert!(!known.is_least(&both, &x.shift(-2i32), &one()), "more than the facts say");
    assert!(!known.is_least(&leaf(&[(Row::Negated, 1), (Row::Least(0), -1)]), &y.sub(&x).shift(-1i32), &one()), "an inequality the other way round");
    assert!(!known.is_least(&leaf(&[(Row::Negated, 1), (Row::Least(2), 1)]), &x, &one()));
    // An equality goes both ways, but only if it is exact: 9 - x - y >= 0.
    assert!(known.is_least(&leaf(&[(Row::Negated, 1), (Row::Zero(0), -1)]), &Poly::constant(9u8).sub(&x).sub(&y), &one()));
    assert!(!known.is_least(&leaf(&[(Row::Negated, 1), (Row::Zero(1), 1)]), &x, &one()));
    assert!(!known.is_least(&Tree::Leaf(vec![]), &x, &one()), "nothing is no proof");
}

#[test]
fn a_fact_holds_where_its_guard_does() {
    let mut atoms = Atoms::with(MERGED);
    let ((_, x), (a, t), (_, u)) = (fresh(&mut atoms, -99, 99), truth(&mut atoms), truth(&mut atoms));
    let least = [(x.clone(), t.clone())];
    let known = known(&atoms, &[], &least);
    let tree = leaf(&[(Row::Negated, 1), (Row::Least(0), 1)]);
    assert!(known.is_least(&tree, &x, &t) && known.is_least(&tree, &x, &t.mul(&u)));
    assert!(!known.is_least(&tree, &x, &one()) && !known.is_least(&tree, &x, &u) && !known.is_least(&tree, &x, &one().sub(&t)));
    // Where the guard is 0 nothing is asked; where t is 1 the fact holds.
    let none = leaf(&[(Row::Guard, 1)]);
    assert!(known.is_least(&Tree::Case(a, Box::new((none.clone(), tree.clone()))), &x, &t));
    assert!(!known.is_least(&Tree::Case(a, Box::new((none.clone(), tree))), &x, &u));
    assert!(!known.is_least(&none, &x, &t));
}

#[test]
fn quotients_leave_what_is_less_than_the_divisor() {
    let mut atoms = Atoms::with(MERGED);
    let (_, x) = number(&mut atoms);
    let n = atoms.num(x.clone(), None);
    let (q, _) = atoms.divide(&n, &int(10)).expect("a quotient");
    let a = q.p.as_atom().expect("an atom");
    let rest = x.sub(&times(10, &q.p));
    let known = known(&atoms, &[], &[]);
    assert!(known.is_least(&leaf(&[(Row::Negated, 1), (Row::Rest(a), 1)]), &rest, &one()));
    assert!(!known.is_least(&leaf(&[(Row::Negated, 1), (Row::Rest(a), 1)]), &rest.shift(-1i32), &one()));
    let most = |v: i32| Poly::constant(v).sub(&rest);
    assert!(known.is_least(&leaf(&[(Row::Negated, 1), (Row::Below(a), 1)]), &most(9), &one()));
    assert!(!known.is_least(&leaf(&[(Row::Negated, 1), (Row::Below(a), 1)]), &most(8), &one()));
    let of_x = x.as_atom().expect("an atom");
    assert!(!known.is_least(&leaf(&[(Row::Negated, 1), (Row::Below(of_x), 1)]), &most(8), &one()), "no quotient");
}

#[test]
fn names_and_products_of_names_are_rows() {
    let mut atoms = Atoms::with(MERGED);
    let ((_, x), (_, y)) = (number(&mut atoms), number(&mut atoms));
    let (n, m) = (named(&mut atoms, &x.shift(1u8)), named(&mut atoms, &y.shift(1u8)));
    let least = [(Poly::atom(n).shift(-5i32), one())];
    let known = known(&atoms, &[], &least);
    // What is named is at least 5, so x is at least 4.
    let by_name = |k| leaf(&[(Row::Negated, 1), (Row::Least(0), 1), (Row::Name(n), k)]);
    assert!(known.is_least(&by_name(1), &x.shift(-4i32), &one()) && !known.is_least(&by_name(-1), &x.shift(-4i32), &one()));
    assert!(!known.is_least(&by_name(1), &x.shift(-5i32), &one()) && !known.is_least(&by_name(-1), &x.shift(-5i32), &one()));
    // n m = (x + 1)(y + 1) = x y + x + y + 1
    let product = Poly::atom(n).mul(&Poly::atom(m));
    let written = x.mul(&y).add(&x).add(&y).shift(1u8);
    let by = |k| leaf(&[(Row::Negated, 1), (Row::Product(n, m), k)]);
    let (goal, wrong) = (product.sub(&written), product.sub(&written).shift(-1i32));
    assert!(known.is_least(&by(-1), &goal, &one()) && !known.is_least(&by(1), &goal, &one()));
    assert!(!known.is_least(&by(1), &wrong, &one()) && !known.is_least(&by(-1), &wrong, &one()));
}

#[test]
fn sums_are_rounded_to_integers() {
    let mut atoms = Atoms::with(MERGED);
    let (_, x) = fresh(&mut atoms, -99, 99);
    // 2 x >= 1, so x >= 1.
    let least = [(times(2, &x).shift(-1i32), one())];
    let known = known(&atoms, &[], &least);
    let rounded = |then: Vec<(Row, Int)>| Tree::Leaf(vec![vec![(Row::Least(0), int(1))], then]);
    let goal = x.shift(-1i32);
    assert!(known.is_least(&rounded(vec![(Row::Negated, int(1)), (Row::Sum(0), int(1))]), &goal, &one()));
    assert!(!known.is_least(&rounded(vec![(Row::Negated, int(1)), (Row::Sum(0), int(1))]), &x.shift(-2i32), &one()));
    assert!(!known.is_least(&rounded(vec![(Row::Negated, int(1)), (Row::Sum(0), int(-1))]), &times(-1, &x), &one()));
    assert!(!known.is_least(&rounded(vec![(Row::Negated, int(1)), (Row::Sum(1), int(1))]), &goal, &one()), "a sum of itself");
}

#[test]
fn a_split_has_two_sides() {
    let mut atoms = Atoms::with(MERGED);
    let ((a, x), (_, y)) = (fresh(&mut atoms, -99, 99), fresh(&mut atoms, -99, 99));
    // y >= 1 - 2 x and y >= 2 x - 1, so y >= 1 if x is an integer: at most 0, or at least 1.
    let least = [(y.add(&times(2, &x)).shift(-1i32), one()), (y.sub(&times(2, &x)).shift(1i32), one())];
    let known = known(&atoms, &[], &least);
    let goal = y.shift(-1i32);
    let side = |fact| leaf(&[(Row::Negated, 1), (Row::Least(fact), 1), (Row::Assumed(0), 2)]);
    let split = |at: i128, low: Tree, high: Tree| Tree::Split(a, int(at), Box::new((low, high)));
    assert!(known.is_least(&split(0, side(0), side(1)), &goal, &one()));
    assert!(!known.is_least(&split(1, side(0), side(1)), &goal, &one()), "at another place");
    assert!(!known.is_least(&split(0, side(1), side(0)), &goal, &one()), "the other way round");
    assert!(!known.is_least(&split(0, side(0), side(0)), &goal, &one()) && !known.is_least(&split(0, side(1), side(1)), &goal, &one()));
    assert!(!known.is_least(&side(0), &goal, &one()), "nothing is assumed without a split");
}

#[test]
fn a_multiple_of_a_number_that_is_smaller_is_zero() {
    let mut atoms = Atoms::with(MERGED);
    let ((_, x), (_, y)) = (number(&mut atoms), number(&mut atoms));
    // x - y is a multiple of 100, and both are below 100; of 99 it need not be 0.
    let zeros = [(x.sub(&y), Some(int(100))), (x.sub(&y), Some(int(99))), (x.add(&y), Some(int(100)))];
    let known = known(&atoms, &zeros, &[]);
    let within = |by: i128, fact: usize| {
        let modulo = Box::new(Zero::Steps(vec![Step::Add { fact, times: Poly::constant(-1i32) }]));
        Zero::Within { by: int(by), modulo, sides: Box::new((leaf(&[(Row::Negated, 1)]), leaf(&[(Row::Negated, 1)]))) }
    };
    let goal = x.sub(&y);
    assert!(known.is_zero(&within(100, 0), &goal, None) && known.is_zero(&within(100, 0), &goal, Some(&int(7))));
    assert!(!known.is_zero(&within(99, 1), &goal, None), "99 - 0 is a multiple of 99");
    assert!(!known.is_zero(&within(200, 0), &goal, None), "no multiple of 200");
    assert!(!known.is_zero(&within(0, 0), &goal, None) && !known.is_zero(&within(-100, 0), &goal, None));
    assert!(!known.is_zero(&within(100, 2), &x.add(&y), None), "it may be 100");
    assert!(!known.is_zero(&within(100, 0), &x, None), "something else");
}

#[test]
fn what_is_shown_is_a_fact() {
    let mut atoms = Atoms::with(MERGED);
    let ((a, x), (_, y)) = (number(&mut atoms), number(&mut atoms));
    let zeros = [(x.sub(&y), None)];
    let known = known(&atoms, &zeros, &[]);
    let add = |fact: usize, k: i32| Box::new(Zero::Steps(vec![Step::Add { fact, times: Poly::constant(k) }]));
    let lemma = |of: &Poly, why, then| Zero::Lemma { of: of.clone(), why, then };
    let twice = times(2, &x.sub(&y));
    assert!(known.is_zero(&lemma(&twice, add(0, -2), add(1, -3)), &times(6, &x.sub(&y)), None));
    assert!(!known.is_zero(&lemma(&twice, add(0, -1), add(1, -3)), &times(6, &x.sub(&y)), None), "it is not shown");
    assert!(!known.is_zero(&lemma(&twice, add(1, -1), add(1, -3)), &times(6, &x.sub(&y)), None), "shown by itself");
    assert!(!known.is_zero(&lemma(&x, add(0, -1), Box::new(Zero::Steps(vec![Step::Rewrite { fact: 1, atom: a }]))), &x, None));
    assert!(!known.is_zero(&add(1, -3), &times(6, &x.sub(&y)), None), "it ends with its proof");
}

#[test]
fn a_truth_says_whether_something_is_zero() {
    let mut atoms = Atoms::with(MERGED);
    let ((_, x), (_, y), (b, t)) = (number(&mut atoms), fresh(&mut atoms, -99, 99), truth(&mut atoms));
    let mut says = |p: &Poly| {
        let n = atoms.num(p.clone(), None);
        atoms.zero(&n).as_atom().expect("an atom")
    };
    let (z, w) = (says(&x), says(&y));
    let known = known(&atoms, &[], &[]);
    let (flag, least) = (|a, k| leaf(&[(Row::Negated, 1), (Row::Flag(a), k)]), |a| leaf(&[(Row::Negated, 1), (Row::Unless(a), 1)]));
    // x is 0 where it says so, and at least 1 where not.
    let (yes, no) = (Poly::atom(z), one().sub(&Poly::atom(z)));
    assert!(known.is_least(&Tree::Case(z, Box::new((leaf(&[(Row::Guard, 1)]), flag(z, -1)))), &times(-1, &x), &yes));
    assert!(!known.is_least(&Tree::Case(z, Box::new((leaf(&[(Row::Guard, 1)]), flag(z, -1)))), &times(-1, &x).shift(-1i32), &yes));
    assert!(known.is_least(&Tree::Case(z, Box::new((least(z), leaf(&[(Row::Guard, 1)])))), &x.shift(-1i32), &no));
    assert!(!known.is_least(&Tree::Case(z, Box::new((least(z), leaf(&[(Row::Guard, 1)])))), &x.shift(-2i32), &no));
    assert!(!known.is_least(&least(z), &x.shift(-1i32), &one()), "it may be 0");
    // What may be negative need not be at least 1.
    assert!(!known.is_least(&Tree::Case(w, Box::new((least(w), leaf(&[(Row::Guard, 1)])))), &y.shift(-1i32), &one().sub(&Poly::atom(w))));
    assert!(!known.is_least(&flag(b, 1), &times(-1, &t), &one()) && !known.is_least(&least(b), &t.shift(-1i32), &one()), "a truth about nothing");
}
