//! The pass `perms`: what it makes of permutations, and broken twins of it that runs on single bits catch.

use crate::run::{step, Reason};
use crate::{find, Level, Pass, PassFailure, PassOptions, Rewrite, StepReport};
use santoku_ir::interp::{Interp, Value};
use santoku_ir::visit::{map_exprs, walk_exprs};
use santoku_ir::{perm, BinOp, Expr, ExprKind, Func, Place, Program, Stmt};
use santoku_prove::equiv::{everywhere, Rng, Verdict};

fn compiled(text: &str) -> Program {
    let done = santoku_sema::compile("main.stk", &[], &mut |p| (p == "main.stk").then(|| text.to_string()), &santoku_sema::Options::default());
    done.unwrap_or_else(|f| panic!("{:?}", f.diagnostics)).program
}

fn with(p: &Program, level: Level, run: Rewrite) -> Result<(Program, StepReport), PassFailure> {
    let pass = Pass { run, ..*find("perms").expect("the pass") };
    step(&pass, p, &PassOptions::new(level, 64))
}

fn marked(p: &Program) -> &Func {
    p.funcs.iter().find(|f| f.applies.is_some()).expect("a permutation")
}

fn operations(p: &Program) -> usize {
    let mut n = 0;
    walk_exprs(&marked(p).body, &mut |e| n += usize::from(matches!(e.kind, ExprKind::Bin(..))));
    n
}

/// Name, item, most operations.
const KNOWN: [(&str, &str, usize); 9] = [
    ("PRESENT's layer", "perm p: u64 -> u64 = [for j in 0..<64: j / 16 + j % 16 * 4]", 24),
    ("DES's first permutation", "perm p: u64 -> u64 = [for j in 0..<64: 64 - IP[63 - j]]", 30),
    ("DES's expansion", "perm p: u32 -> u48 = [for j in 0..<48: (j / 6 * 4 + j % 6 + 31) % 32]", 27),
    ("bytes reversed", "perm p: u32 -> u32 = [for j in 0..<32: 8 * (3 - j / 8) + j % 8]", 7),
    ("bits reversed", "perm p: u64 -> u64 = [for j in 0..<64: 63 - j]", 36),
    ("a rotation", "perm p: u32 -> u32 = [for j in 0..<32: (j + 5) % 32]", 1),
    ("the word itself", "perm p: u16 -> u16 = [for j in 0..<16: j]", 0),
    ("low half", "perm p: u64 -> u32 = [for j in 0..<32: j]", 0),
    ("high half", "perm p: u64 -> u32 = [for j in 0..<32: j + 32]", 1),
];

/// FIPS 46-3, table IP: bits are counted from 1, the most significant.
const IP: &str = "const IP: [int; 64] = [for i in 0..<64: 58 + 2 * (i / 8) - i / 32 * 9 - 8 * (i % 8)]\n";

#[test]
fn known_permutations_take_few_operations() {
    for (what, item, most) in KNOWN {
        let p = compiled(&format!("{IP}{item}\nfn f(x: {0}) -> {1} {{ p(x) }}\n", side(item, ": "), side(item, "-> ")));
        for level in Level::ALL {
            let (after, report) = with(&p, level, crate::perms::run).expect("checked");
            assert_eq!((report.changed.len(), report.equal, report.reverted.len()), (1, 1, 0), "{what}");
            assert!(operations(&after) <= most, "{what}: {} operations", operations(&after));
        }
    }
}

/// The word type behind a sign.
fn side<'a>(item: &'a str, sign: &str) -> &'a str {
    item.split(sign).nth(1).expect("a type").split(' ').next().expect("a type")
}

/// Of every size, with bits left out and taken twice: equal by the check, and on random words by the interpreter.
#[test]
fn random_permutations_are_what_they_were() {
    let mut rng = Rng::new(11);
    let (mut tried, mut long) = (0, 0);
    for round in 0..200 {
        let sizes = [1, 2, 3, 5, 8, 13, 16, 31, 32, 48, 64, 100, 128];
        let mut size = || sizes[rng.below(if round % 8 == 0 { 13 } else { 11 }) as usize] as u64;
        let (inputs, mut outputs) = (size(), size());
        let bijective = rng.below(2) == 0;
        let mut numbers: Vec<u64> = (0..inputs).collect();
        for i in (1..inputs).rev() {
            numbers.swap(i as usize, rng.below(i + 1) as usize);
        }
        if bijective {
            outputs = outputs.min(inputs);
            numbers.truncate(outputs as usize);
        } else {
            numbers = (0..outputs).map(|_| rng.below(inputs)).collect();
        }
        let p = compiled(&format!("perm p: u{inputs} -> u{outputs} = {numbers:?}\nfn f(x: u{inputs}) -> u{outputs} {{ p(x) }}\n"));
        let (after, report) = with(&p, Level::O2, crate::perms::run).expect("checked");
        assert_eq!((report.changed.len(), report.equal), (1, 1), "{numbers:?}");
        let bits = inputs.max(outputs).next_power_of_two();
        if bijective && bits > 1 {
            assert!(operations(&after) <= 6 * (2 * bits.trailing_zeros() as usize - 1), "{numbers:?}");
            long += usize::from(bits >= 32);
        }
        let id = p.find("main.p").expect("p");
        for _ in 0..20 {
            let x = (u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64())) >> (128 - inputs);
            let want = numbers.iter().enumerate().fold(0u128, |y, (j, from)| y | (x >> from & 1) << j);
            for q in [&p, &after] {
                let got = Interp::new(q).call(id, &[], vec![Value::word(x)]).expect("no fault");
                assert_eq!(got[0].as_word(), Some(want), "{numbers:?}");
            }
            tried += 1;
        }
    }
    assert!(long > 20);
    println!("tried: 200 random permutations, {tried} words");
}

/// The pass, then a mistake in every function that permutes.
fn wrongly(program: &Program, options: &PassOptions, mistake: &dyn Fn(&mut Func)) -> Program {
    let mut p = crate::perms::run(program, options);
    p.funcs.iter_mut().filter(|f| f.applies.is_some()).for_each(mistake);
    p
}

/// Changes the last constant that is an operand of an operation.
fn last_operand(f: &mut Func, op: fn(BinOp) -> bool, change: &dyn Fn(&mut Expr)) {
    let constant = |b: &Expr| b.as_const().is_some();
    let (mut total, mut seen) = (0, 0);
    walk_exprs(&f.body, &mut |e| total += usize::from(matches!(&e.kind, ExprKind::Bin(o, _, b) if op(*o) && constant(b))));
    map_exprs(&mut f.body, &mut |e| {
        if let ExprKind::Bin(o, _, b) = &mut e.kind {
            if op(*o) && constant(b) {
                seen += 1;
                if seen == total {
                    change(b);
                }
            }
        }
    });
}

const MISTAKES: [(&str, Rewrite); 5] = [
    ("a mask lacks a bit", |p, o| {
        wrongly(p, o, &|f| {
            last_operand(f, |o| o == BinOp::And, &|b| {
                let v = b.as_const().expect("a mask").clone();
                let low = &v & (-&v);
                b.kind = ExprKind::Const(v - low);
            });
        })
    }),
    ("a shift is longer", |p, o| {
        wrongly(p, o, &|f| last_operand(f, |o| matches!(o, BinOp::Shl | BinOp::Shr | BinOp::Rotl), &|b| b.kind = ExprKind::Const(b.as_const().expect("a count") + 1)))
    }),
    ("a part is left out", |p, o| {
        wrongly(p, o, &|f| {
            let mut done = false;
            map_exprs(&mut f.body, &mut |e| {
                if let (ExprKind::Bin(BinOp::Xor, a, _), false) = (&e.kind, done) {
                    (*e, done) = ((**a).clone(), true);
                }
            });
        })
    }),
    ("a bit is flipped", |p, o| {
        wrongly(p, o, &|f| {
            let (y, ty) = (f.rets[0], f.local(f.rets[0]).ty.clone());
            let santoku_ir::Ty::Word(bits) = ty else { return };
            f.body.push(Stmt::assign(Place::local(y), Expr::read(Place::local(y), &ty) ^ Expr::word(bits, 1)));
        })
    }),
    ("two bits change places", |p, o| {
        let mut wrong = p.clone();
        for c in &mut wrong.consts {
            if let santoku_ir::ConstValue::Array(vs) = &mut c.value {
                vs.swap(0, 1);
            }
        }
        let mut out = crate::perms::run(&wrong, o);
        out.consts.clone_from(&p.consts);
        out
    }),
];

#[test]
fn mistakes_are_caught_with_an_input() {
    let mut caught = 0;
    for (name, item, _) in &KNOWN[..5] {
        let p = compiled(&format!("{IP}{item}\nfn f(x: {0}) -> {1} {{ p(x) }}\n", side(item, ": "), side(item, "-> ")));
        for (what, run) in MISTAKES {
            let failure = with(&p, Level::O2, run).err().unwrap_or_else(|| panic!("{name}: {what}: not caught"));
            let Reason::Differs(d) = &failure.reason else { panic!("{what}: {failure}") };
            assert!(d.witness.is_some() && failure.pass == "perms", "{what}: {failure}");
            caught += 1;
        }
    }
    println!("tried: {caught} mistakes of the pass `perms`, all caught");
}

/// What runs on single bits does not speak for other words, unless the function is linear.
#[test]
fn functions_that_are_not_linear_are_not_known_from_single_bits() {
    let bodies = [
        ("x ^ (x << 3)", true),
        ("(x & 0xff00) ^ ~(x >> 8)", true),
        ("x <<< 3", true),
        ("u16(u32(x) << 4)", true),
        ("x ^ K[1]", true),
        ("x & (x >> 1)", false),
        ("x | (x >> 1)", false),
        ("x + 1", false),
        ("x * 3", false),
        ("K[0] & x & x", false),
        ("if x == 5 { 0 } else { x }", false),
    ];
    for (body, known) in bodies {
        let p = compiled(&format!("const K: [u16; 2] = [3, 0xfffe]\nfn f(x: u16) -> u16 {{ {body} }}\n"));
        let equal = matches!(everywhere::check(&p, &p, "main.f"), Verdict::Equal { .. });
        assert_eq!(equal, known, "{body}");
    }
}

#[test]
fn a_permutation_of_words_of_an_array_has_no_mark() {
    let p = compiled("perm p: u4 -> u6 = [3, 3, 0, 1, 2, 0]\nfn f(x: [u32; 4]) -> [u32; 6] { p(x) }\nfn g(x: u4) -> u6 { p(x) }\n");
    let marks: Vec<bool> = p.funcs.iter().filter(|f| f.name.starts_with("main.p")).map(|f| perm::of(&p, f).is_some()).collect();
    assert_eq!(marks, [false, true]);
}
