//! Small programs in the manner of the library, one feature or more for every pass.

use santoku_ir::build::FuncBuilder;
use santoku_ir::interp::{Interp, Value};
use crate::{circuits, Level, PassOptions, Silent};
use santoku_ir::{
    BinOp, CmpOp, ConstValue, Expr, FuncId, Inline, Len, LocalId, LocalKind, Place, Program, Range, Stmt, Ty, Unroll,
};
use num_bigint::BigInt;
use santoku_prove::equiv::{random_inputs, Rng};

pub const LIMBS: u64 = 4;

fn limb() -> Ty {
    Ty::Int(Some(Range::new(0, 65535)))
}

fn wide() -> Ty {
    let bound: BigInt = BigInt::from(1) << 40;
    Ty::Int(Some(Range::new(-bound.clone(), bound)))
}

fn at(local: LocalId, index: Expr) -> Place {
    Place::local(local).index(index)
}

fn elem(local: LocalId, index: Expr) -> Expr {
    Expr::read(at(local, index), &Ty::int())
}

fn counter(i: LocalId) -> Expr {
    Expr::int_local(i)
}

/// `x[i+1] += x[i] >> 16; x[i] &= 0xffff` for all but the last limb, then the last limb times 38 into the first.
pub fn carry(p: &mut Program) -> FuncId {
    let mut f = FuncBuilder::new(p, "field.carry");
    let x = f.param("x", Ty::array(wide(), LIMBS));
    let r = f.ret("r", Ty::array(Ty::int(), LIMBS));
    let i = f.counter("i");
    f.assign(Place::local(r), Expr::read(Place::local(x), &Ty::array(wide(), LIMBS)));
    let body = vec![
        Stmt::assign(at(r, counter(i) + Expr::int(1)), elem(r, counter(i) + Expr::int(1)) + elem(r, counter(i)).shr(16)),
        Stmt::assign(at(r, counter(i)), elem(r, counter(i)) & Expr::int(0xffff)),
    ];
    f.push(Stmt::for_range(i, Expr::int(0), Expr::int(LIMBS - 1), body));
    let top = || elem(r, Expr::int(LIMBS - 1));
    f.assign(at(r, Expr::int(0)), elem(r, Expr::int(0)) + Expr::int(38) * top().shr(16));
    f.assign(at(r, Expr::int(LIMBS - 1)), top() & Expr::int(0xffff));
    let func = f.finish();
    p.add_func(func)
}

/// The S-box of PRESENT on a word: every entry is looked at and one is selected.
fn sbox(p: &mut Program) -> FuncId {
    let entries = [12u8, 5, 6, 11, 9, 0, 10, 13, 3, 14, 15, 8, 4, 7, 1, 2];
    let word = Ty::Word(4);
    let table = p.add_const("cipher.s", Ty::array(word.clone(), 16), ConstValue::ints(entries));
    let mut f = FuncBuilder::new(p, "cipher.sbox");
    let (x, y, i) = (f.param("x", word.clone()), f.ret("y", word.clone()), f.counter("i"));
    f.assign(Place::local(y), Expr::word(4, 0));
    let entry = Expr::read(Place::constant(table).index(counter(i)), &word);
    let is = Expr::cmp(CmpOp::Eq, f.get(x), counter(i).cast(word));
    let body = vec![Stmt::assign(Place::local(y), f.get(y) | Expr::select(is, entry, Expr::word(4, 0)))];
    f.push(Stmt::for_range(i, Expr::int(0), Expr::int(16), body));
    f.func_mut().applies = Some(santoku_ir::Applies::Table(table));
    let func = f.finish();
    p.add_func(func)
}

/// PRESENT's permutation on a word: one bit after the other.
fn layer(p: &mut Program) -> FuncId {
    let (word, number) = (Ty::Word(64), Ty::Int(Some(Range::new(0, 63))));
    let numbers = p.add_const("cipher.p", Ty::array(number.clone(), 64), ConstValue::ints((0..64).map(|j| j / 16 + j % 16 * 4)));
    let mut f = FuncBuilder::new(p, "cipher.p");
    let (x, y, j) = (f.param("x", word.clone()), f.ret("y", word), f.counter("j"));
    f.assign(Place::local(y), Expr::word(64, 0));
    let from = Expr::read(Place::constant(numbers).index(counter(j)), &number);
    let bit = Expr::bin(BinOp::Shr, f.get(x), from) & Expr::word(64, 1);
    let body = vec![Stmt::assign(Place::local(y), f.get(y) ^ Expr::bin(BinOp::Shl, bit, counter(j)))];
    f.push(Stmt::for_range(j, Expr::int(0), Expr::int(64), body));
    f.func_mut().applies = Some(santoku_ir::Applies::Perm(numbers));
    let func = f.finish();
    p.add_func(func)
}

/// Options of a level, with circuits of the sample's tables.
pub fn options(level: Level) -> PassOptions {
    PassOptions { circuits: circuits(&program(), &mut Silent), ..PassOptions::new(level, 32) }
}

/// Schoolbook product, rows accumulated from zero, the upper half folded in times 38, carried.
pub fn mul(p: &mut Program, carry: FuncId) -> FuncId {
    let mut f = FuncBuilder::new(p, "field.mul");
    let a = f.param("a", Ty::array(limb(), LIMBS));
    let b = f.param("b", Ty::array(limb(), LIMBS));
    let r = f.ret("r", Ty::array(Ty::int(), LIMBS));
    let t = f.var("t", Ty::array(Ty::int(), 2 * LIMBS - 1));
    let lo = f.var("lo", Ty::array(Ty::int(), LIMBS));
    let (i, j, k) = (f.counter("i"), f.counter("j"), f.counter("k"));
    f.assign(Place::local(t), Expr::repeat(Expr::int(0), Len::Const(2 * LIMBS - 1)));
    let sum = || counter(i) + counter(j);
    let row = vec![Stmt::assign(at(t, sum()), elem(t, sum()) + elem(a, counter(i)) * elem(b, counter(j)))];
    let rows = vec![Stmt::for_range(j, Expr::int(0), Expr::int(LIMBS), row)];
    f.push(Stmt::for_range(i, Expr::int(0), Expr::int(LIMBS), rows));
    let fold = vec![Stmt::assign(
        at(t, counter(k)),
        elem(t, counter(k)) + Expr::int(38) * elem(t, counter(k) + Expr::int(LIMBS)),
    )];
    f.push(Stmt::for_range(k, Expr::int(0), Expr::int(LIMBS - 1), fold));
    let low = Place::local(t).slice(Expr::int(0), LIMBS);
    f.assign(Place::local(lo), Expr::read(low, &Ty::array(Ty::int(), LIMBS)));
    f.call(vec![Place::local(r)], carry, vec![], vec![Expr::read(Place::local(lo), &Ty::array(Ty::int(), LIMBS))]);
    let func = f.finish();
    p.add_func(func)
}

/// Sum of two elements with its first carry pass in a loop of its own.
pub fn add(p: &mut Program) -> FuncId {
    let mut f = FuncBuilder::new(p, "field.add");
    let a = f.param("a", Ty::array(limb(), LIMBS));
    let b = f.param("b", Ty::array(limb(), LIMBS));
    let r = f.ret("r", Ty::array(Ty::int(), LIMBS));
    let (i, j) = (f.counter("i"), f.counter("j"));
    let sum = vec![Stmt::assign(at(r, counter(i)), elem(a, counter(i)) + elem(b, counter(i)))];
    f.push(Stmt::for_range(i, Expr::int(0), Expr::int(LIMBS), sum));
    let pass = vec![
        Stmt::assign(at(r, counter(j) + Expr::int(1)), elem(r, counter(j) + Expr::int(1)) + elem(r, counter(j)).shr(16)),
        Stmt::assign(at(r, counter(j)), elem(r, counter(j)) & Expr::int(0xffff)),
    ];
    f.push(Stmt::for_range(j, Expr::int(0), Expr::int(LIMBS - 1), pass));
    let func = f.finish();
    p.add_func(func)
}

/// Words: repeated subexpressions, a copy that is read after its origin changed, dead code, a swap of two elements.
pub fn mix(p: &mut Program) -> FuncId {
    let word = Ty::Word(32);
    let mut f = FuncBuilder::new(p, "hash.mix");
    let x = f.param("x", Ty::array(word.clone(), 2));
    let (c, r) = (f.param("c", Ty::Bool), f.ret("r", Ty::array(word.clone(), 2)));
    let (a, b, old) = (f.var("a", word.clone()), f.var("b", word.clone()), f.var("old", word.clone()));
    let twin = f.var("twin", word.clone());
    let (s, dead) = (f.var("s", Ty::array(word.clone(), 2)), f.var("dead", word.clone()));
    let n = f.counter("n");
    let get = |l: LocalId| Expr::read(Place::local(l), &Ty::Word(32));
    let part = |l: LocalId, k: u64| Expr::read(Place::local(l).at(k), &Ty::Word(32));
    f.assign(Place::local(a), part(x, 0) + Expr::word(32, 0));
    f.assign(Place::local(old), get(a));
    f.assign(Place::local(b), (part(x, 0) ^ get(a).rotl(7)) + (get(a).rotl(7) ^ part(x, 1)));
    f.assign(Place::local(a), get(a).rotl(7) ^ part(x, 1));
    f.assign(Place::local(twin), get(b));
    f.assign(Place::local(b), get(twin) + (get(a).rotl(7) ^ part(x, 1)) + (get(a).rotl(7) ^ part(x, 1)));
    f.assign(Place::local(dead), get(b) * get(b));
    f.assign(Place::local(s), Expr::array(&word, vec![get(old) + get(b), get(a)]));
    f.assign(Place::local(s), Expr::array(&word, vec![part(s, 1), part(s, 0)]));
    let step = vec![Stmt::assign(Place::local(b), get(b) + part(s, 1)), Stmt::assign(Place::local(s).at(1), get(b).shr(3))];
    f.push(Stmt::for_range(n, Expr::int(0), Expr::int(5), step));
    let cond = f.get(c);
    let pick = Expr::select(cond, part(s, 0), get(b));
    f.assign(Place::local(r), Expr::array(&word, vec![pick, part(s, 1)]));
    let func = f.finish();
    p.add_func(func)
}

/// A run-time length: bytes of `x` masked by a key byte and accumulated; the loop cannot be unrolled.
pub fn mask(p: &mut Program) -> FuncId {
    let byte = Ty::Word(8);
    let mut f = FuncBuilder::new(p, "bytes.mask");
    let n = f.len("n");
    let len = Len::Param { param: n, add: 0 };
    let bytes = Ty::Array { elem: Box::new(byte.clone()), len: len.clone(), ranges: None };
    let (x, key) = (f.param("x", bytes.clone()), f.param("key", byte.clone()));
    let (r, acc) = (f.ret("r", bytes), f.ret("acc", byte.clone()));
    let t = f.var("t", byte.clone());
    let i = f.counter("i");
    f.assign(Place::local(acc), Expr::word(8, 0));
    f.assign(Place::local(r), Expr::repeat(Expr::word(8, 0), len));
    let get = |l: LocalId| Expr::read(Place::local(l), &Ty::Word(8));
    let body = vec![
        Stmt::assign(Place::local(t), Expr::read(at(x, counter(i)), &byte) ^ get(key)),
        Stmt::assign(at(r, counter(i)), get(t)),
        Stmt::assign(Place::local(acc), get(acc) | get(t)),
    ];
    f.push(Stmt::for_range(i, Expr::int(0), counter(n), body));
    let func = f.finish();
    p.add_func(func)
}

/// Calls of all of these, results through temporaries, a public branch, a length given as a constant.
pub fn user(p: &mut Program, ids: &[FuncId]) -> FuncId {
    let &[carry, mul, add, mix, mask] = ids else { panic!("five functions") };
    let (fe, bytes, pair) = (Ty::array(limb(), LIMBS), Ty::array(Ty::Word(8), 6), Ty::array(Ty::Word(32), 2));
    let any = Ty::array(Ty::int(), LIMBS);
    let mut f = FuncBuilder::new(p, "top.user");
    f.func_mut().export = Some("user".to_string());
    let (a, b) = (f.param("a", fe.clone()), f.param("b", fe.clone()));
    let (msg, c) = (f.param("msg", bytes.clone()), f.param("c", Ty::Bool));
    let times = f.local(LocalKind::Param, "times", Ty::Int(Some(Range::new(0, 3))), true);
    let (prod, out) = (f.ret("prod", any.clone()), f.ret("out", bytes.clone()));
    let (sum, words) = (f.ret("sum", Ty::Word(8)), f.ret("words", pair.clone()));
    let (t, u, m) = (f.var("t", any.clone()), f.var("u", any.clone()), f.var("m", bytes.clone()));
    let (acc, w) = (f.var("acc", Ty::Word(8)), f.var("w", pair.clone()));
    let i = f.counter("i");
    let get = |l: LocalId, ty: &Ty| Expr::read(Place::local(l), ty);
    f.call(vec![Place::local(t)], mul, vec![], vec![get(a, &fe), get(b, &fe)]);
    f.call(vec![Place::local(u)], add, vec![], vec![get(a, &fe), get(b, &fe)]);
    let again = vec![Stmt::Call {
        dsts: vec![Place::local(t)],
        func: carry,
        lens: vec![],
        args: vec![get(t, &any)],
        loc: santoku_ir::Loc::default(),
    }];
    f.push(Stmt::for_range(i, Expr::int(0), counter(times), again));
    let two = Expr::cmp(CmpOp::Ge, counter(times), Expr::int(2));
    f.push(Stmt::if_else(
        two,
        vec![Stmt::assign(Place::local(t).at(0), elem(t, Expr::int(0)) + elem(u, Expr::int(0)))],
        vec![],
    ));
    f.assign(Place::local(prod), get(t, &any));
    let key = Expr::read(Place::local(msg).at(5), &Ty::Word(8));
    f.call(vec![Place::local(m), Place::local(acc)], mask, vec![Expr::int(6)], vec![get(msg, &bytes), key]);
    f.assign(Place::local(out), get(m, &bytes));
    f.assign(Place::local(sum), get(acc, &Ty::Word(8)));
    let first = |k: u64| Expr::read(Place::local(m).at(k), &Ty::Word(8)).cast(Ty::Word(32));
    let input = Expr::array(&Ty::Word(32), vec![first(0), first(1)]);
    let flag = f.get(c);
    f.call(vec![Place::local(w)], mix, vec![], vec![input, flag]);
    f.assign(Place::local(words), get(w, &pair));
    let func = f.finish();
    p.add_func(func)
}

/// All of the above, a function nobody calls, and a test block.
pub fn program() -> Program {
    let mut p = Program::default();
    let carry = carry(&mut p);
    let mul = mul(&mut p, carry);
    let add = add(&mut p);
    let mix = mix(&mut p);
    let mask = mask(&mut p);
    p.funcs[mask.0 as usize].inline = Inline::Always;
    user(&mut p, &[carry, mul, add, mix, mask]);
    let mut f = FuncBuilder::new(&p, "top.unused");
    let (x, r) = (f.param("x", Ty::Word(8)), f.ret("r", Ty::Word(8)));
    let value = f.get(x);
    f.assign(Place::local(r), value);
    let func = f.finish();
    p.add_func(func);
    sbox(&mut p);
    layer(&mut p);
    let mut f = FuncBuilder::new(&p, "top.test");
    let y = f.var("y", Ty::array(Ty::Word(32), 2));
    let input = Expr::array(&Ty::Word(32), vec![Expr::word(32, 1), Expr::word(32, 2)]);
    f.call(vec![Place::local(y)], mix, vec![], vec![input.clone(), Expr::bool(true)]);
    let got = f.get(y);
    f.push(Stmt::assert(Expr::cmp(CmpOp::Ne, got, input), "mix does something"));
    let func = f.finish();
    let id = p.add_func(func);
    p.add_test("mix", id);
    p
}

/// The sample with every loop marked.
pub fn with_hint(mut p: Program, hint: Unroll) -> Program {
    for f in &mut p.funcs {
        santoku_ir::visit::rewrite_stmts(&mut f.body, &mut |mut s| {
            if let Stmt::For { unroll, .. } = &mut s {
                *unroll = hint;
            }
            vec![s]
        });
    }
    p
}

/// Runs every function of both programs that is in both, on the same random inputs; gives the number of runs.
pub fn same_behaviour(before: &Program, after: &Program, runs: u64) -> u64 {
    let mut done = 0;
    let (mut left, mut right) = (Interp::new(before), Interp::new(after));
    for (at, f) in before.funcs.iter().enumerate() {
        let Some(new) = after.find(&f.name) else { continue };
        let mut rng = Rng::new(at as u64 + 1);
        for _ in 0..runs {
            let inputs = random_inputs(before, f, &mut rng);
            let call = |i: &mut Interp, id: FuncId| -> Option<Vec<Value>> { i.call(id, &inputs.lens, inputs.args.clone()).ok() };
            let Some(a) = call(&mut left, FuncId(at as u32)) else { continue };
            assert_eq!(Some(a), call(&mut right, new), "{} on {:?}", f.name, inputs);
            done += 1;
        }
    }
    done
}
