//! The multiplication of TweetNaCl's 16x16-bit limbs: proved as it is, refused in every variant with one constant, one
//! index, one product or one carry changed.

use num_bigint::BigInt;
use santoku_ir::{
    BinOp, ContractKind, Expr, FuncId, Len, Place, Program, Range, SpecExpr, SpecFn, SpecId, SpecOp, Ty,
};
use santoku_prove::contracts::{check, cost};
use santoku_skips::seeds;

/// Which single thing is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Change {
    None,
    /// The n-th mutable place of the program text.
    At(usize),
}

struct Maker {
    change: Change,
    places: usize,
}

impl Maker {
    /// `good`, or `bad` at the chosen place.
    fn pick<T>(&mut self, good: T, bad: T) -> T {
        let hit = self.change == Change::At(self.places);
        self.places += 1;
        if hit {
            bad
        } else {
            good
        }
    }
}

fn limbs() -> Ty {
    Ty::array(Ty::Int(Some(Range::new(-38, 65573))), 16)
}

/// `sum(i in 0..<16) x[i] * 2^(16*i)`
fn value_spec() -> SpecFn {
    let i = || Box::new(SpecExpr::Var(1));
    let int = |v: i32| Box::new(SpecExpr::Int(BigInt::from(v)));
    let bin = |op, a, b| Box::new(SpecExpr::Bin(op, a, b));
    let weight = bin(SpecOp::Pow, int(2), bin(SpecOp::Mul, int(16), i()));
    let term = bin(SpecOp::Mul, Box::new(SpecExpr::Index(Box::new(SpecExpr::Var(0)), i())), weight);
    SpecFn {
        name: "value".into(),
        params: vec!["x".into()],
        body: SpecExpr::Sum { slot: 1, lo: int(0), hi: int(16), body: term },
        loc: Default::default(),
    }
}

fn program(change: Change) -> (Program, FuncId, usize) {
    let mut m = Maker { change, places: 0 };
    let mut p = Program { specs: vec![value_spec()], ..Program::default() };
    let shape = p.clone();
    let mut b = santoku_ir::build::FuncBuilder::new(&shape, "mul");
    let (x, y) = (b.param("a", limbs()), b.param("b", limbs()));
    let r = b.ret("result", Ty::array(Ty::int(), 16));
    let t = b.var("t", Ty::array(Ty::int(), 31));
    let at = |l, i: usize| Place::local(l).at(i as u64);
    let int = |v: i64| Expr::int(v);
    b.assign(Place::local(t), Expr::repeat(int(0), Len::Const(31)));
    for i in 0..16usize {
        for j in 0..16usize {
            let dst = m.pick(i + j, (i + j + 1) % 31);
            let a = m.pick(i, (i + 1) % 16);
            let product = Expr::bin(BinOp::Mul, b.read(at(x, a)), b.read(at(y, j)));
            let sum = Expr::bin(BinOp::Add, b.read(at(t, dst)), product);
            b.assign(at(t, dst), sum);
        }
    }
    for i in 0..15usize {
        let by = m.pick(38, 39);
        let high = Expr::bin(BinOp::Mul, int(by), b.read(at(t, m.pick(i + 16, (i + 17) % 31))));
        let sum = Expr::bin(BinOp::Add, b.read(at(t, i)), high);
        b.assign(at(r, i), sum);
    }
    let last = b.read(at(t, 15));
    b.assign(at(r, 15), last);
    for _ in 0..3 {
        for i in 0..16usize {
            let shift = m.pick(16, 15);
            let carry = b.read(at(r, i)).shr(shift);
            let carry = if i == 15 { Expr::bin(BinOp::Mul, int(m.pick(38, 37)), carry) } else { carry };
            let to = m.pick((i + 1) % 16, (i + 2) % 16);
            let sum = Expr::bin(BinOp::Add, b.read(at(r, to)), carry);
            b.assign(at(r, to), sum);
            let mask = m.pick(0xffff, 0x7fff);
            let low = Expr::bin(BinOp::And, b.read(at(r, i)), int(mask));
            b.assign(at(r, i), low);
        }
    }
    let value = |l| Box::new(SpecExpr::Call(SpecId(0), vec![SpecExpr::Place(Place::local(l))]));
    let product = Box::new(SpecExpr::Bin(SpecOp::Mul, value(x), value(y)));
    let prime = (BigInt::from(1) << 255) - 19;
    let goal = SpecExpr::Congruent(value(r), product, Box::new(SpecExpr::Int(prime)));
    b.contract(ContractKind::Ensures, goal, "value(result) ≡ value(a) * value(b) mod P");
    let f = b.finish();
    let id = p.add_func(f);
    (p, id, m.places)
}

/// The same for the judge of meaning.
fn accepted_by_the_judge(change: Change) -> bool {
    let (p, id, _) = program(change);
    santoku_prove::replay::whole(&santoku_prove::replay::judged(&p, id)).is_ok_and(|found| found.ensures.values().all(|held| *held) && found.ensures.len() == 1)
}

#[test]
fn the_judge_of_meaning_refuses_every_change() {
    assert!(accepted_by_the_judge(Change::None));
    let (_, _, places) = program(Change::None);
    let (mut tried, mut accepted) = (0, vec![]);
    for n in (0..places).filter(|n| *n >= 512 || n % 8 == 0) {
        tried += 1;
        accepted.extend(Some(n).filter(|n| accepted_by_the_judge(Change::At(*n))));
    }
    println!("tried: {tried} wrong multiplications before the judge of meaning, {} accepted, which are right", accepted.len());
    // See `every_single_change_is_refused`.
    assert!(tried > 200 && accepted.iter().all(|n| HARMLESS.contains(n)), "{accepted:?}");
}

fn proved(change: Change) -> bool {
    let (p, id, _) = program(change);
    let obligations = check(&p, id, &cost::of_program(&p));
    assert_eq!(obligations.len(), 1, "one clause, one obligation");
    obligations[0].proved()
}

#[test]
fn the_multiplication_is_proved() {
    assert!(proved(Change::None));
}

/// The changes that are proved; two threads take them in turn.
fn accepted(chosen: &[usize]) -> Vec<usize> {
    let every_other = |from: usize| chosen.iter().skip(from).step_by(2).copied().filter(|n| proved(Change::At(*n))).collect::<Vec<_>>();
    let mut all = std::thread::scope(|s| {
        let odd = s.spawn(|| every_other(1));
        let even = every_other(0);
        [even, odd.join().expect("no panic")].concat()
    });
    all.sort_unstable();
    all
}

/// Changes of what is always 0.
const HARMLESS: [usize; 2] = [686, 687];

#[test]
fn every_single_change_is_refused() {
    let (_, _, places) = program(Change::None);
    assert!(places > 600, "only {places} places to change");
    // Of folds and carries one place of four; of the 512 places in the products those that have their turn, which meet all rows.
    let chosen: Vec<usize> = (0..places).filter(|n| if *n >= 512 { seeds::in_turn(*n as u64, 4) || HARMLESS.contains(n) } else { seeds::in_turn(*n as u64, 28) }).collect();
    assert!(chosen.len() > seeds::least(600, 9));
    let accepted = accepted(&chosen);
    // The top carry of the third pass is always 0: if the second pass carried out of the top limb, that limb is 0 now;
    // if not, limb 0 was normal and nothing carries. So what multiplies it, and where it goes, cannot matter; the
    // prover finds this out by itself.
    assert_eq!(accepted, HARMLESS, "accepted mutants");
}
