//! Carry chains of the field representations.

use crate::support::*;
use santoku_ir::build::FuncBuilder;
use santoku_ir::*;
use santoku_prove::obligation::{Engine, Kind};

/// `r[0..15]` carried once; what leaves the top comes back 38-fold.
fn carry(b: &mut FuncBuilder, r: LocalId) {
    let get = |b: &FuncBuilder, i: Expr| b.read(at(r, i));
    each(b, 0, 15, |b, i| {
        let (x, next) = (get(b, i.clone()), get(b, i.clone() + int(1)));
        b.assign(at(r, i.clone() + int(1)), next + x.shr(16));
        let x = get(b, i.clone());
        b.assign(at(r, i), low(x, 16));
    });
    let top = get(b, int(15));
    let first = get(b, int(0));
    b.assign(at(r, int(0)), first + int(38) * top.clone().shr(16));
    b.assign(at(r, int(15)), low(top, 16));
}

fn finish(b: &mut FuncBuilder, r: LocalId, hi: i64) {
    let out = b.ret("out", limbs(16, 0, hi));
    let v = b.get(r);
    b.assign(Place::local(out), v);
}

/// Product of two elements, folded, carried `passes` times.
fn radix16_mul(passes: usize, hi: i64) -> Program {
    program(|b| {
        let (x, y) = (b.param("x", limbs(16, 0, 65535)), b.param("y", limbs(16, 0, 65535)));
        let t = b.var("t", Ty::array(Ty::int(), 31));
        let r = b.var("r", Ty::array(Ty::int(), 16));
        b.assign(Place::local(t), Expr::repeat(int(0), Len::Const(31)));
        each(b, 0, 16, |b, i| {
            each(b, 0, 16, |b, j| {
                let sum = b.read(at(t, i.clone() + j.clone())) + b.read(at(x, i.clone())) * b.read(at(y, j.clone()));
                b.assign(at(t, i + j), sum);
            });
        });
        each(b, 0, 15, |b, i| {
            let folded = b.read(at(t, i.clone())) + int(38) * b.read(at(t, i.clone() + int(16)));
            b.assign(at(r, i), folded);
        });
        let top = b.read(at(t, int(15)));
        b.assign(at(r, int(15)), top);
        for _ in 0..passes {
            carry(b, r);
        }
        finish(b, r, hi);
    })
}

fn radix16_linear(op: BinOp, passes: usize) -> Program {
    program(|b| {
        let (x, y) = (b.param("x", limbs(16, 0, 65535)), b.param("y", limbs(16, 0, 65535)));
        let r = b.var("r", Ty::array(Ty::int(), 16));
        each(b, 0, 16, |b, i| {
            let v = Expr::bin(op, b.read(at(x, i.clone())), b.read(at(y, i.clone())));
            b.assign(at(r, i), v);
        });
        each(b, 0, passes as i64, |b, _| carry(b, r));
        finish(b, r, 65535);
    })
}

#[test]
fn three_passes_after_a_product() {
    proves_with(&radix16_mul(3, 65535), Engine::Relational);
}

#[test]
fn two_passes_after_a_product_are_not_enough() {
    let o = refuses(&radix16_mul(2, 65535), Kind::Range, "is not inside 0..65535");
    assert!(o.text.contains("out"), "{}", o.text);
}

#[test]
fn any_number_of_passes_settles_near_two_to_the_sixteen_by_intervals() {
    proves_with(&radix16_mul(4, 65573), Engine::Intervals);
    refuses(&radix16_mul(2, 65500), Kind::Range, "out");
}

#[test]
fn two_passes_after_sum_and_difference() {
    for op in [BinOp::Add, BinOp::Sub] {
        proves_with(&radix16_linear(op, 2), Engine::Relational);
        let o = refuses(&radix16_linear(op, 1), Kind::Range, "is not inside 0..65535");
        assert!(witnessed(&o), "{o:#?}");
    }
}

/// Products of five limbs below `2^bits`, carried through 51-bit limbs.
fn radix51_mul(bits: u32) -> Program {
    let limb: num_bigint::BigInt = (num_bigint::BigInt::from(1) << bits) - 1;
    program(|b| {
        let (x, y) = (b.param("x", limbs(5, 0, limb.clone())), b.param("y", limbs(5, 0, limb)));
        let t = b.var("t", Ty::array(Ty::int(), 5));
        b.assign(Place::local(t), Expr::repeat(int(0), Len::Const(5)));
        for i in 0..5 {
            for j in 0..5 {
                let k = if i + j >= 5 { 19 } else { 1 };
                let product = b.read(at(x, int(i))) * b.read(at(y, int(j))) * int(k);
                let sum = b.read(at(t, int((i + j) % 5))) + product;
                b.assign(at(t, int((i + j) % 5)), sum);
            }
        }
        let word = b.var("c", range(0, u64::MAX));
        b.assign(Place::local(word), int(0));
        each(b, 0, 5, |b, i| {
            let v = b.read(at(t, i.clone())) + b.get(word);
            b.assign(at(t, i.clone()), v);
            let v = b.read(at(t, i.clone()));
            b.assign(Place::local(word), v.clone().shr(51));
            b.assign(at(t, i), low(v, 51));
        });
        let wrapped = b.read(at(t, int(0))) + int(19) * b.get(word);
        b.assign(at(t, int(0)), wrapped);
        let v = b.read(at(t, int(0)));
        let second = b.read(at(t, int(1))) + v.clone().shr(51);
        b.assign(at(t, int(1)), second);
        b.assign(at(t, int(0)), low(v, 51));
        let out = b.ret("out", limbs(5, 0, (1i64 << 51) + (1 << 20)));
        let v = b.get(t);
        b.assign(Place::local(out), v);
    })
}

#[test]
fn ranges_decide_lazy_reduction_in_radix_51() {
    proves_with(&radix51_mul(54), Engine::Intervals);
    let o = refuses(&radix51_mul(56), Kind::Range, "c` may leave its range");
    let Some(santoku_prove::obligation::Outcome::Failed { origin: Some(origin), .. }) = Some(o.outcome) else {
        panic!("no origin")
    };
    assert!(origin.site.contains(">> 51") && !origin.operands.is_empty(), "{origin:?}");
}

/// Signed carries: `h - (c << 25)` with `c = (h + 2^24) >> 25` is balanced.
fn balanced(half: i64, hi: i64) -> Program {
    program(|b| {
        let h = b.param("h", range(-(1i64 << 40), 1i64 << 40));
        let c = b.var("c", Ty::int());
        let out = b.ret("out", range(-(1i64 << 24), hi));
        let q = (b.get(h) + int(half)).shr(25);
        b.assign(Place::local(c), q);
        let rest = b.get(h) - b.get(c).shl(25);
        b.assign(Place::local(out), rest);
    })
}

#[test]
fn a_signed_carry_leaves_a_balanced_remainder() {
    proves_with(&balanced(1 << 24, (1 << 24) - 1), Engine::Relational);
    refuses(&balanced(1 << 24, (1 << 24) - 2), Kind::Range, "out");
    refuses(&balanced(1 << 23, (1 << 24) - 1), Kind::Range, "out");
}
