//! The rules one by one: each expression is normalised and evaluated at the corners of its operands.

use crate::equiv::dag::{Agg, Dag, Id, Node, Sort};
use crate::equiv::eval::{Con, Eval};
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use santoku_ir::interp::{Int, Interp, Value};
use santoku_ir::build::FuncBuilder;
use santoku_ir::{BinOp, Expr, Place, Program, Range, Ty};

const WORDS: [u32; 4] = [1, 8, 33, 128];

/// Values at the corners of a type.
fn corners(ty: &Ty) -> Vec<BigInt> {
    match ty {
        Ty::Word(n) => {
            let top: BigInt = (BigInt::from(1) << n) - 1;
            vec![0.into(), 1.into(), &top >> 1, &top - 1, top].into_iter().filter(|v| *v >= 0.into()).collect()
        }
        Ty::Bool => vec![0.into(), 1.into()],
        _ => [-70_000i64, -65_537, -2, -1, 0, 1, 2, 5, 65_535, 65_536, 99_999].map(BigInt::from).to_vec(),
    }
}

fn value(v: &BigInt, ty: &Ty) -> Value {
    match ty {
        Ty::Word(_) => Value::word(v.to_u128().unwrap_or(0)),
        Ty::Bool => Value::Bool(*v != 0.into()),
        _ => Value::int(Int::Small(v.to_i128().unwrap_or(0))),
    }
}

/// Checks `make(x, y)` on all corners; gives the number of evaluations.
fn check(ty: &Ty, make: &dyn Fn(Expr, Expr) -> Expr) -> usize {
    let mut p = Program::default();
    let mut f = FuncBuilder::new(&p, "f");
    // Public, for division by a constant that is no power of two.
    let x = f.local(santoku_ir::LocalKind::Param, "x", ty.clone(), true);
    let y = f.local(santoku_ir::LocalKind::Param, "y", ty.clone(), true);
    let e = make(f.get(x), f.get(y));
    let r = f.ret("r", e.ty.clone());
    f.assign(Place::local(r), e);
    let func = f.finish();
    let id = p.add_func(func);
    let errors = santoku_ir::verify::verify(&p);
    assert!(errors.is_empty(), "{errors:?}");
    let mut dag = Dag::new(10_000);
    let expand = std::collections::BTreeSet::new();
    let how = crate::equiv::exec::How { trips_max: 1, by_name: true };
    let out = crate::equiv::exec::run(&mut crate::equiv::exec::Exec::new(&mut dag, &p, &expand, how), id).expect("terms")[0];
    let mut n = 0;
    for a in corners(ty) {
        for b in corners(ty) {
            let (va, vb) = (value(&a, ty), value(&b, ty));
            let want = Interp::new(&p).call(id, &[], vec![va.clone(), vb.clone()]).expect("runs");
            let got = Eval::new(&dag, &p, vec![Con::of(&va), Con::of(&vb)]).value(out);
            assert_eq!(got, Con::of(&want[0]), "x = {a}, y = {b}: {:?}", p.funcs[0].body);
            n += 1;
        }
    }
    n
}

#[test]
fn words_at_the_corners() {
    let mut n = 0;
    for bits in WORDS {
        let ty = Ty::Word(bits);
        let k = |v: u64| Expr::word(bits, v);
        let last = bits - 1;
        let shapes: Vec<Box<dyn Fn(Expr, Expr) -> Expr>> = vec![
            Box::new(|x, y| (x.clone() + y.clone()) - y + x),
            Box::new(move |x, y| (x.clone() * k(3) + y) * (x + k(7))),
            Box::new(|x, y| (x.clone() ^ y.clone()) ^ x ^ !y),
            Box::new(move |x, y| ((x | k(1)) & y.clone()) | (y & k(1))),
            Box::new(|x, y| -(x - y)),
            Box::new(move |x, y| x.shl(last).shr(last) + y.shr(last).shl(last)),
            Box::new(move |x, y| x.rotl(last).rotl(1 % bits) ^ y.rotr(last)),
            Box::new(|x, y| x.clone().cast(Ty::Word(128)).cast(Ty::Word(64)) + y.cast(Ty::Word(64))),
            Box::new(move |x, y| x.cast(Ty::int()).cast(Ty::Word(7)) ^ (y & k(1)).cast(Ty::Word(7))),
            Box::new(|x, y| Expr::select(Expr::cmp(santoku_ir::CmpOp::Lt, x.clone(), y.clone()), y.clone() - x.clone(), x - y)),
            Box::new(|x, y| !Expr::cmp(santoku_ir::CmpOp::Ge, x.clone(), y.clone()) ^ Expr::cmp(santoku_ir::CmpOp::Eq, x, y)),
        ];
        n += shapes.iter().map(|s| check(&ty, s)).sum::<usize>();
    }
    assert!(n > 500, "{n}");
}

#[test]
fn exact_integers_at_the_corners() {
    let ty = Ty::Int(Some(Range::new(-100_000, 100_000)));
    let k = |v: i64| Expr::int(v);
    let bin = Expr::bin;
    let shapes: Vec<Box<dyn Fn(Expr, Expr) -> Expr>> = vec![
        Box::new(move |x, y| (x.clone() * k(65_536) + y.clone()).shr(16) - x + (y & k(0xffff))),
        Box::new(move |x, y| bin(BinOp::Div, x.clone() * k(6) + y.clone() + k(-7), k(3)) + bin(BinOp::Mod, x - y, k(5))),
        Box::new(move |x, y| bin(BinOp::Mod, bin(BinOp::Mod, x * k(3) + y, k(12)), k(4))),
        Box::new(move |x, y| bin(BinOp::Div, bin(BinOp::Div, x - y, k(4)), k(8)).shl(3)),
        Box::new(move |x, y| (x.clone() - y.clone()) * (x + y) * k(-2)),
        Box::new(move |x, y| ((x & k(255)) & k(15)) + (y & k(15)).shr(4)),
        Box::new(move |x, y| Expr::cmp(santoku_ir::CmpOp::Lt, x.clone() + k(1), y.clone()) ^ Expr::cmp(santoku_ir::CmpOp::Le, x, y)),
        Box::new(move |x, y| (x * k(1 << 20) + k(5)).cast(Ty::Word(16)) + (y & k(0xffff)).cast(Ty::Word(16))),
        Box::new(move |x, y| Expr::select(Expr::cmp(santoku_ir::CmpOp::Eq, x.clone(), y.clone()), x, y).cast(Ty::Word(128)).cast(Ty::Word(8))),
    ];
    let n = shapes.iter().map(|s| check(&ty, s)).sum::<usize>();
    assert!(n > 500, "{n}");
}

#[test]
fn different_forms_of_one_value_meet() {
    let mut dag = Dag::new(10_000);
    let word = Sort::Word(32);
    let (x, y) = (dag.intern(Node::Input(0), word), dag.intern(Node::Input(1), word));
    let one = |d: &mut Dag, v: u32| d.constant(v, word);
    let pairs: Vec<(Id, Id)> = vec![
        { let (a, b) = (dag.add(x, y), dag.add(y, x)); (a, b) },
        { let s = dag.add(x, y); (dag.sub(s, y), x) },
        { let two = one(&mut dag, 2); let a = dag.mul(x, two); (a, dag.add(x, x)) },
        { let a = dag.xor(x, y); (dag.xor(a, y), x) },
        { let n = dag.not(x); (dag.not(n), x) },
        { let c = dag.lt(x, y); let n = dag.not(c); let a = dag.select(n, x, y); (a, dag.select(c, y, x)) },
        { let z = dag.cast(x, Sort::Word(64)).unwrap_or(x); (dag.cast(z, word).unwrap_or(z), x) },
    ];
    for (a, b) in pairs {
        assert_eq!(a, b);
    }
    // And what must not: subtraction the other way, a signed shift, a wider carry.
    let (a, b) = (dag.sub(x, y), dag.sub(y, x));
    assert_ne!(a, b);
    let (wide_x, wide_y) = (dag.cast(x, Sort::Int).unwrap_or(x), dag.cast(y, Sort::Int).unwrap_or(y));
    let exact = dag.add(wide_x, wide_y);
    let wrapped = dag.add(x, y);
    let wrapped = dag.cast(wrapped, Sort::Int).unwrap_or(wrapped);
    assert_ne!(exact, wrapped);
}

#[test]
fn a_wrong_term_is_noticed() {
    let mut dag = Dag::new(100);
    let word = Sort::Word(8);
    let (x, y) = (dag.intern(Node::Input(0), word), dag.intern(Node::Input(1), word));
    // Each wrong rule of a plausible kind differs from the right term on some corner.
    let wrong = [
        (dag.sub(x, y), dag.sub(y, x)),
        (dag.and(x, y), dag.or(x, y)),
        (dag.binary(BinOp::Shr, x, y), dag.binary(BinOp::Shl, x, y)),
        (dag.lt(x, y), dag.lt(y, x)),
    ];
    let program = Program::default();
    for (right, broken) in wrong {
        let seen = corners(&Ty::Word(8)).iter().any(|a| {
            corners(&Ty::Word(8)).iter().any(|b| {
                let mut eval = Eval::new(&dag, &program, vec![Con::Num(a.clone()), Con::Num(b.clone())]);
                eval.value(right) != eval.value(broken)
            })
        });
        assert!(seen);
    }
}

/// Both arms of each choice lead to the choice before: read once for each arm, the last of n would take 2^n steps.
#[test]
fn choices_between_arrays_are_read_once() {
    let mut dag = Dag::new(100_000);
    let word = Sort::Word(8);
    let sort = dag.agg_sort(Agg::Arr(word, None));
    let mut a = dag.intern(Node::Input(0), sort);
    let first = a;
    let value = dag.intern(Node::Input(1), word);
    let bound = dag.intern(Node::Input(2), Sort::Int);
    for k in 0..100 {
        let at = dag.int(k);
        let inside = dag.lt(at, bound);
        let stored = dag.store(a, at, value);
        a = dag.select(inside, stored, a);
    }
    // What no store reaches is that of the first array; what one does is chosen.
    let read = dag.load_at(a, 100);
    assert_eq!(read, dag.load_at(first, 100));
    let (read, untouched, at) = (dag.load_at(a, 50), dag.load_at(first, 50), dag.int(50));
    let inside = dag.lt(at, bound);
    assert_eq!(read, dag.select(inside, value, untouched));
    assert!(dag.size() < 20_000, "{}", dag.size());
}
