//! Where arguments are, as the C compiler has it, for the prototypes that the back end prints.

use super::gcc::assembly;
use crate::source::abi::{signature, InRegisters, Kind, Place, Role, Scalar, Signature};
use crate::term::Terms;
use num_bigint::BigInt;
use num_traits::One;
use santoku_backend_c::{emit, Options};
use santoku_ir::build::FuncBuilder;
use santoku_ir::{Expr, ExprKind, Func, Len, LocalKind, Place as IrPlace, Program, Range, Stmt, Ty};

fn int(lo: i64, hi: i64) -> Ty {
    Ty::Int(Some(Range::new(lo, hi)))
}

/// A function with these results, one length and these parameters; results are constants.
fn function(p: &Program, rets: &[Ty], params: &[Ty]) -> Func {
    let mut f = FuncBuilder::new(p, "subject");
    f.local(LocalKind::Len, "n", int(0, 1000), true);
    for (k, ty) in params.iter().enumerate() {
        f.param(format!("p{k}"), ty.clone());
    }
    for (k, ty) in rets.iter().enumerate() {
        let r = f.ret(format!("r{k}"), ty.clone());
        let zero = |ty: &Ty| Expr::new(ExprKind::Const(BigInt::ZERO), ty.clone());
        let value = match ty {
            Ty::Array { elem, .. } => Expr::new(ExprKind::Repeat(Box::new(zero(elem))), ty.clone()),
            _ => zero(ty),
        };
        f.push(Stmt::assign(IrPlace::local(r), value));
    }
    let mut f = f.finish();
    f.export = Some("subject".into());
    f
}

/// C parameters as the back end prints them: type (`*` for pointers), name.
fn printed(p: &Program, f: &Func, prelude: &mut String) -> Vec<(String, String)> {
    let mut p = p.clone();
    p.add_func(f.clone());
    let out = emit(&p, &Options::new("u", None)).unwrap_or_else(|e| panic!("{e}"));
    let head = out.header.split("subject(").nth(1).expect("a prototype").split(");").next().expect("its end");
    *prelude = "#include <stddef.h>\n#include <stdint.h>\ntypedef struct { uint8_t x; } rec;\n#ifdef __SIZEOF_INT128__\ntypedef unsigned __int128 stk_u128; typedef __int128 stk_i128;\n#endif\n#define restrict\n".into();
    let split = |param: &str| {
        let end = param.trim_end_matches(']').rfind(|c: char| !(c.is_alphanumeric() || c == '_')).expect("a type before the name");
        let name = param[end + 1..].split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or("").to_string();
        (param.to_string(), name)
    };
    head.split(", ").map(split).collect()
}

/// Where the compiler finds argument `k`: registers or stack, for each part.
fn compiled(prelude: &str, params: &[(String, String)], k: usize, xlen: u32) -> Place {
    let (text, name) = &params[k];
    let pointer = text.contains('*');
    let ty = if pointer { "const void *".to_string() } else { text.replace("const ", "").rsplit_once(' ').expect("a type").0.to_string() };
    let value = if pointer { format!("(const void *)(uintptr_t){name}") } else { name.clone() };
    let list: Vec<&str> = params.iter().map(|(t, _)| t.as_str()).collect();
    let asm = assembly(&format!("{prelude}{ty} probe({}) {{ return {value}; }}\n", list.join(", ")), xlen);
    let wide = !pointer && (ty.contains("128") || xlen == 32 && ty.contains("64"));
    // What a0 and a1 are at the end: a register at entry, or an offset on the stack.
    let mut parts: Vec<Result<u32, u32>> = vec![Ok(0), Ok(1)];
    // A part may pass through a frame of the probe's own.
    let (mut frame, mut saved) = (0, vec![]);
    let offset = |text: &str| text.trim_end_matches("(sp)").parse::<u32>().expect("an offset");
    for line in asm.lines().map(str::trim) {
        let Some((op, rest)) = line.split_once('\t') else { continue };
        let Some((dst, src)) = rest.split_once(',') else { continue };
        if dst == "sp" {
            frame = src.trim_start_matches("sp,-").parse().unwrap_or(frame);
        }
        if matches!(op, "sw" | "sd") {
            saved.push((offset(src), dst.trim_start_matches('a').parse::<u32>().expect("a register")));
        }
        let Some(d) = ["a0", "a1"].iter().position(|r| *r == dst) else { continue };
        match op {
            "mv" => parts[d] = Ok(src.trim_start_matches('a').parse().expect("a register")),
            "lw" | "ld" => {
                let at = offset(src);
                let kept = saved.iter().find(|(o, _)| *o == at);
                parts[d] = kept.map_or(Err(at.wrapping_sub(frame)), |(_, reg)| Ok(*reg));
            }
            "sw" | "sd" => {}
            _ => panic!("{line}"),
        }
    }
    match (parts[0], parts[1], wide) {
        (Ok(first), _, false) => Place::Regs { first, count: 1 },
        (Err(offset), _, false) => Place::Stack { offset },
        (Ok(first), Ok(second), true) if second == first + 1 => Place::Regs { first, count: 2 },
        (Err(offset), Err(high), true) if high == offset + xlen / 8 => Place::Stack { offset },
        (Ok(7), Err(offset), true) => Place::Split { offset },
        other => panic!("{other:?}"),
    }
}

/// Every argument is where the compiler has it; the signature.
fn same(rets: &[Ty], params: &[Ty], xlen: u32) -> Signature {
    let p = Program::default();
    let f = function(&p, rets, params);
    let ours = signature(&p, &f, xlen).expect("a signature");
    let mut prelude = String::new();
    let printed = printed(&p, &f, &mut prelude);
    assert_eq!(printed.len(), ours.args.len());
    for (k, arg) in ours.args.iter().enumerate() {
        let (kind, at) = match arg.role {
            Role::Ret(k) => ("r", k),
            Role::Len(_) => ("n", 0),
            Role::Param(k) => ("p", k),
        };
        let name = if kind == "n" { "n".to_string() } else { format!("{kind}{at}") };
        assert_eq!(printed[k].1, name);
        assert_eq!(arg.place, compiled(&prelude, &printed, k, xlen), "{xlen}: {:?}", printed[k]);
    }
    ours
}

fn bytes(n: u64) -> Ty {
    Ty::array(Ty::Word(8), n)
}

#[test]
fn places_are_those_of_the_compiler() {
    let (w, d) = (Ty::Word(32), Ty::Word(64));
    // A result by pointer and a length take a0 and a1.
    let s = same(&[bytes(4)], &[d.clone(), w.clone(), bytes(3), Ty::Bool, int(-1, 1 << 40), w.clone(), d.clone(), Ty::Word(8), d.clone()], 32);
    assert!(s.returned.is_none() && s.args.iter().any(|a| a.place == Place::Split { offset: 0 }), "{s:?}");
    let s = same(&[w.clone(), Ty::Bool], &[d.clone(), w.clone(), d.clone(), w.clone(), d.clone(), w.clone(), d.clone()], 32);
    assert_eq!(s.args.iter().filter(|a| matches!(a.place, Place::Stack { .. })).count(), 4);
    let s = same(&[int(-5, 5)], &[Ty::Bool, Ty::Word(64), Ty::Word(7)], 32);
    assert!(s.returned.is_some_and(|r| (r.bits, r.signed) == (32, true)));
    let q = Ty::Word(128);
    let all = [q.clone(), w.clone(), bytes(3), Ty::Bool, Ty::Int(Some(Range::new(-1, BigInt::one() << 90))), w.clone(), q.clone(), w.clone(), w.clone(), q.clone()];
    let s = same(&[bytes(4)], &all, 64);
    assert!(s.args.iter().any(|a| a.place == Place::Split { offset: 0 }), "{s:?}");
    same(&[Ty::Word(64)], &[d.clone(), w.clone(), int(0, 1), int(-1, 1), d.clone(), w.clone(), w.clone(), int(-4, 4), d.clone(), w], 64);
}

/// The comparison can fail: with registers of another size, arguments are elsewhere.
#[test]
fn places_depend_on_the_size_of_registers() {
    let p = Program::default();
    let f = function(&p, &[Ty::Word(32)], &[Ty::Word(64), Ty::Word(32)]);
    let (narrow, wide) = (signature(&p, &f, 32).expect("a signature"), signature(&p, &f, 64).expect("a signature"));
    let mut prelude = String::new();
    let printed = printed(&p, &f, &mut prelude);
    assert_eq!(narrow.args[2].place, compiled(&prelude, &printed, 2, 32));
    assert_ne!(wide.args[2].place, compiled(&prelude, &printed, 2, 32));
}

#[test]
fn arguments_come_in_the_order_of_the_prototype() {
    let p = Program::default();
    let f = function(&p, &[bytes(4), Ty::Word(8)], &[Ty::array(Ty::Word(16), 5), Ty::Word(8)]);
    let s = signature(&p, &f, 32).expect("a signature");
    assert_eq!(s.args.iter().map(|a| a.role).collect::<Vec<_>>(), [Role::Ret(0), Role::Ret(1), Role::Len(0), Role::Param(0), Role::Param(1)]);
    let Kind::Pointer(second) = &s.args[1].kind else { panic!("{s:?}") };
    // A scalar result by pointer is stored as it would be passed.
    assert_eq!((second.size, second.units[0].hi.clone()), (4, 255.into()));
    let Kind::Pointer(array) = &s.args[3].kind else { panic!("{s:?}") };
    assert_eq!((array.size, array.align, array.units.len()), (10, 2, 5));
    let wide = function(&p, &[bytes(4)], &[Ty::Word(128)]);
    assert!(signature(&p, &wide, 32).is_err() && signature(&p, &wide, 64).is_ok());
}

#[test]
fn lengths_without_end_are_32_bits_and_arrays_of_them_pointers() {
    let p = Program::default();
    let mut f = function(&p, &[bytes(4)], &[]);
    let n = f.lens[0];
    f.locals[n.0 as usize].ty = Ty::Int(None);
    let id = santoku_ir::LocalId(f.locals.len() as u32);
    let ty = Ty::Array { elem: Box::new(Ty::Word(16)), len: Len::Param { param: n, add: 2 }, ranges: None };
    f.locals.push(santoku_ir::Local { name: "m".into(), ty, kind: LocalKind::Param, public: true, loc: f.loc });
    f.params.push(id);
    let s = signature(&p, &f, 64).expect("a signature");
    let Kind::Scalar(len) = &s.args[1].kind else { panic!("{s:?}") };
    assert_eq!((len.bits, len.signed, len.public, len.hi.bits()), (32, false, true, 32));
    let Kind::Pointer(m) = &s.args[2].kind else { panic!("{s:?}") };
    assert!(m.size == 2 && m.repeat.is_some() && m.units[0].public);
}

/// Copies of bit 31 fill registers of 64 bits, whatever the sign of the type.
#[test]
fn narrow_scalars_are_sign_extended() {
    let body = |text: &str| {
        let asm = assembly(text, 64);
        asm.lines().map(str::trim).filter(|l| l.contains("a0")).map(str::to_string).collect::<Vec<_>>()
    };
    // Widening an unsigned parameter has to clear the upper half, a signed one is wide already.
    assert!(!body("unsigned long f(unsigned x) { return x; }").is_empty());
    assert!(body("long f(int x) { return x; }").is_empty());
    assert_eq!(body("unsigned f(unsigned long x) { return x; }"), ["sext.w\ta0,a0"]);
    let mut terms = Terms::new(64, 1);
    let mut words = |bits: u32, signed: bool, v: i128, xlen: u32| {
        let scalar = Scalar { bits, signed, lo: 0.into(), hi: 0.into(), public: false };
        let t = terms.int(v);
        let words = scalar.words(&mut terms, t, xlen);
        assert_eq!(scalar.value(&mut terms, &words, xlen), t);
        words.iter().map(|w| terms.as_const(*w).expect("a constant")).collect::<Vec<_>>()
    };
    let all = |bits: u32| -> BigInt { (BigInt::one() << bits) - 1 };
    assert_eq!(words(32, false, 0x8000_0000, 64), [all(64) - all(31)]);
    assert_eq!(words(32, false, 0x7fff_ffff, 64), [all(31)]);
    assert_eq!(words(32, true, -1, 64), [all(64)]);
    assert_eq!(words(32, false, 0x8000_0000, 32), [all(31) + 1]);
    assert_eq!(words(64, true, -2, 32), [all(32) - 1, all(32)]);
    assert_eq!(words(128, false, 1 << 64, 64), [BigInt::ZERO, BigInt::one()]);
}
