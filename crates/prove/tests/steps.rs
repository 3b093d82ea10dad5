//! The engine's own steps against concrete executions: on many inputs, every atom's definition holds, every range holds,
//! and the symbolic results take the values that the interpreter computes.

use num_bigint::BigInt;
use num_traits::ToPrimitive;
use santoku_ir::interp::{Interp, Int, Value};
use santoku_ir::{Func, FuncId, Program, Ty};
use santoku_prove::algebra::{Atom, Atoms, Def, Poly};
use santoku_prove::carried::Carried;
use santoku_prove::contracts::cost;
use santoku_prove::contracts::run::Exec;
use santoku_prove::contracts::state::SVal;

const SAMPLES: usize = 40;

fn library(entry: &str) -> Program {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lib");
    let mut load = |path: &str| std::fs::read_to_string(path).ok();
    let entry = format!("{root}/{entry}");
    match santoku_sema::compile(&entry, &[root.to_string()], &mut load, &santoku_sema::Options::default()) {
        Ok(c) => c.program,
        Err(f) => panic!("{entry}: {:?}", f.diagnostics),
    }
}

fn source(text: &str) -> Program {
    let mut load = |path: &str| (path == "t.stk").then(|| text.to_string());
    match santoku_sema::compile("t.stk", &[], &mut load, &santoku_sema::Options::default()) {
        Ok(c) => c.program,
        Err(f) => panic!("{:?}", f.diagnostics),
    }
}

/// Atom values compared.
fn check_atoms(atoms: &Atoms) -> usize {
    let mut seen = 0;
    let value = |p: &Poly, i: usize| -> Option<BigInt> {
        p.eval(&mut |a: Atom| atoms.info(a).sim.as_ref().map(|s| s[i].clone()))
    };
    for info in atoms.all() {
        let Some(sim) = &info.sim else { continue };
        for (i, v) in sim.iter().enumerate() {
            assert!(info.iv.holds(v), "{} = {v} is outside {:?}", info.name, info.iv);
            if let Some(q) = &info.quot {
                let (x, r) = (value(&q.x, i), value(&q.rem, i));
                let (x, r) = (x.expect("sampled"), r.expect("sampled"));
                assert_eq!(((&q.base + q.sign * v) << q.k) + &r, x, "{}", info.name);
                assert!(r >= BigInt::from(0) && r < BigInt::from(1) << q.k, "{}", info.name);
            }
            match &info.def {
                Some(Def::Exact(d)) => assert_eq!(value(d, i).as_ref(), Some(v), "{}", info.name),
                Some(Def::Frac(d, k)) => assert_eq!(value(d, i), Some(v << k), "{}", info.name),
                Some(Def::Cong(d, m)) => assert_eq!((value(d, i).expect("sampled") - v) % m, BigInt::from(0), "{}", info.name),
                None => {}
            }
            seen += 1;
        }
    }
    seen
}

fn concrete(p: &Program, ty: &Ty, v: &SVal, atoms: &Atoms, i: usize) -> Value {
    match (ty, v) {
        (Ty::Array { elem, .. }, SVal::Agg(es)) => Value::array(es.iter().map(|e| concrete(p, elem, e, atoms, i)).collect()),
        (Ty::Struct(s), SVal::Agg(es)) => Value::structure(
            p.structs[s.0 as usize].fields.iter().zip(es.iter()).map(|((_, t), e)| concrete(p, t, e, atoms, i)).collect(),
        ),
        (_, SVal::Num(n)) => {
            let x = n.p.eval(&mut |a| atoms.info(a).sim.as_ref().map(|s| s[i].clone())).expect("sampled");
            assert!(n.iv.holds(&x), "{x} is outside {:?}", n.iv);
            match ty {
                Ty::Word(_) => Value::Word(x.to_u128().expect("a word")),
                Ty::Bool => Value::Bool(x == BigInt::from(1)),
                _ => Value::Int(Int::from(&x)),
            }
        }
        _ => panic!("a value that was not followed"),
    }
}

/// `(atom values, results)` compared for one function.
fn compare(p: &Program, id: FuncId) -> (usize, usize) {
    let f: &Func = p.func(id);
    let costs = cost::of_program(p);
    let carried = Carried::default();
    let mut ex = Exec::new(p, id, &costs, &carried, SAMPLES, 7);
    ex.unfold = true;
    ex.block(&f.body).unwrap_or_else(|e| panic!("{}: {}", f.name, e.reason()));
    let seen = check_atoms(&ex.atoms);
    let mut interp = Interp::new(p);
    for i in 0..SAMPLES {
        let of = |l: &santoku_ir::LocalId| concrete(p, &f.local(*l).ty, &ex.frame.vals[l.0 as usize], &ex.atoms, i);
        let args = f.params.iter().map(of).collect();
        let rets: Vec<Value> = f.rets.iter().map(of).collect();
        assert_eq!(interp.call(id, &[], args).expect("runs"), rets, "{}", f.name);
    }
    (seen, SAMPLES * f.rets.len())
}

fn all(p: &Program, names: &[&str]) -> usize {
    let mut seen = 0;
    for name in names {
        let id = p.funcs.iter().position(|f| f.name.ends_with(name)).unwrap_or_else(|| panic!("no function {name}"));
        let (atoms, results) = compare(p, FuncId(id as u32));
        assert!(atoms > 0 && results > 0, "{name}: nothing compared");
        seen += atoms;
    }
    seen
}

#[test]
fn field_and_scalar_code_takes_the_interpreters_values() {
    let field = [".mul", ".square", ".from_bytes", ".to_bytes", ".sub", ".neg"];
    let mut seen = 0;
    for module in ["radix51", "radix16", "radix25_5"] {
        seen += all(&library(&format!("field/fe25519_{module}.stk")), &field);
    }
    seen += all(&library("field/sc25519.stk"), &[".unpack64", ".pack", ".made_positive"]);
    assert!(seen > 20_000, "only {seen} atom values");
}

#[test]
fn word_operations_take_the_interpreters_values() {
    let p = source(
        "fn mix(a: u32, b: u32, c: u8) -> [u32; 10] {
           let s = a + b
           let carry = if s < a { u32(1) } else { u32(0) }
           let m = 0 - carry
           [s ^ (b <<< 7), (a & b) | (s >> 3), a * b, (m & a) ^ (~m & b), u32(u8(a >> 5)) << 27, ~a - b,
            a ^ ((a ^ b) & m), (a & 0xff00ff00) | u32(c), if a == b { a } else { s }, a >>> 9]
         }
         fn swap(x: u16, y: u16, k: bool) -> [u16; 4] {
           let t = (x ^ y) & (0 - u16(k))
           [x ^ t, y ^ t, if k && x < y { x } else { y }, (x | y) - (x & y)]
         }
         fn ints(a: int in -1000..1000, b: int in 0..70000) -> [int in -2^40..2^40; 6] {
           [(a * b) >> 5, (a - b) & 0xfff, (a * a) % 256, b / 8, if a < b { a } else { b }, (a + (b >> 3)) >> 2]
         }
",
    );
    let seen = all(&p, &["mix", "swap", "ints"]);
    assert!(seen > 1000, "only {seen} atom values");
}

#[test]
#[should_panic(expected = "is outside")]
fn a_wrong_range_is_noticed() {
    let mut atoms = Atoms::new(SAMPLES, 1);
    atoms.input("x", santoku_prove::itv::Itv::new(0, 100));
    let sim = atoms.all().next().and_then(|i| i.sim.clone());
    atoms.opaque_sampled("y", santoku_prove::itv::Itv::new(0, 50), sim);
    check_atoms(&atoms);
}
