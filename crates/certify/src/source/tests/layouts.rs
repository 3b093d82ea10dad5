//! Sizes and offsets as the C compiler has them, for the C types that the back end prints.

use super::gcc::constants;
use crate::source::layout::{object, width_of, NoLayout, Width};
use num_bigint::BigInt;
use num_traits::One;
use santoku_backend_c::{emit, Options};
use santoku_ir::build::FuncBuilder;
use santoku_ir::{Len, Place, Program, Range, Ty};

fn int(lo: i64, hi: i64) -> Ty {
    Ty::Int(Some(Range::new(lo, hi)))
}

/// An array with a range for each element.
fn each(ranges: &[(i64, i64)]) -> Ty {
    let ranges: Vec<Range> = ranges.iter().map(|(lo, hi)| Range::new(*lo, *hi)).collect();
    let all = ranges.iter().cloned().reduce(|a, b| a.join(&b));
    Ty::Array { elem: Box::new(Ty::Int(all)), len: Len::Const(ranges.len() as u64), ranges: Some(ranges) }
}

/// Types of fields, narrow and wide in turn so that there is padding.
fn fields(xlen: u32) -> Vec<Ty> {
    let mut all = vec![
        Ty::Word(1),
        Ty::Word(64),
        Ty::Bool,
        Ty::Word(17),
        Ty::array(Ty::Word(8), 3),
        int(-1, 127),
        int(0, 255),
        int(0, 256),
        int(-128, 127),
        int(-129, 0),
        int(-1, 128),
        int(0, 65535),
        int(-32768, 32767),
        int(0, 65536),
        int(-1, 0x7fff_ffff),
        int(-1, 0x8000_0000),
        int(-0x8000_0000, 0),
        int(0, 0xffff_ffff),
        Ty::Bool,
        int(0, 0x1_0000_0000),
        Ty::array(Ty::array(int(-3, 300), 2), 3),
        Ty::Bool,
        each(&[(0, 3), (-4, 1000), (0, 70000)]),
        each(&[(0, 3), (0, 200)]),
        Ty::array(Ty::Word(16), 0),
        Ty::Word(32),
    ];
    if xlen == 64 {
        all.extend([Ty::Bool, Ty::Word(65), Ty::Bool, Ty::Int(Some(Range::new(-1, BigInt::one() << 100)))]);
    }
    all
}

/// A struct of all fields, one that holds it, and a function that stores into a result of the second.
fn program(xlen: u32) -> (Program, Ty) {
    let mut p = Program::default();
    let named = |tys: Vec<Ty>| tys.into_iter().enumerate().map(|(k, t)| (format!("f{k}"), t)).collect();
    let inner = p.add_struct("inner", named(fields(xlen)));
    let outer = p.add_struct("outer", named(vec![Ty::Bool, Ty::array(Ty::Struct(inner), 3), Ty::Word(8)]));
    let ty = Ty::Struct(outer);
    let mut f = FuncBuilder::new(&p, "copy");
    let (a, b) = (f.param("a", ty.clone()), f.ret("b", ty.clone()));
    f.assign(Place::local(b), f.get(a));
    let mut f = f.finish();
    f.export = Some("copy".into());
    p.add_func(f);
    (p, ty)
}

/// Expressions for the address of every scalar and for its size, as offsets in an object of the outer type.
fn probes(p: &Program, ty: &Ty, path: &str, out: &mut Vec<String>) {
    match ty {
        Ty::Word(_) | Ty::Int(_) | Ty::Bool => {
            out.push(format!("offsetof(outer, {path})"));
            out.push(format!("sizeof(((outer *)0)->{path})"));
            out.push(format!("(__typeof__(((outer *)0)->{path}))-1 < 0"));
        }
        Ty::Array { elem, len: Len::Const(n), .. } => (0..*n).for_each(|k| probes(p, elem, &format!("{path}[{k}]"), out)),
        Ty::Array { .. } => panic!("no run-time lengths here"),
        Ty::Struct(id) => {
            let dot = if path.is_empty() { "" } else { "." };
            for (name, t) in &p.structs[id.0 as usize].fields {
                probes(p, t, &format!("{path}{dot}{name}"), out);
            }
        }
    }
}

#[test]
fn offsets_are_those_of_the_compiler() {
    for xlen in [32, 64] {
        let (p, ty) = program(xlen);
        let emitted = emit(&p, &Options::new("u", None)).unwrap_or_else(|e| panic!("{e}"));
        let mut expressions = vec!["sizeof(outer)".to_string(), "_Alignof(outer)".to_string()];
        probes(&p, &ty, "", &mut expressions);
        let got = constants(&emitted.source, &expressions, xlen, &[("u.h".into(), emitted.header)]);
        let ours = object(&p, &ty, false).expect("a layout");
        let mut want = vec![ours.size, ours.align];
        for u in &ours.units {
            want.extend([u.offset, u64::from(u.bytes), u64::from(u.signed)]);
        }
        assert!(want.len() > 300);
        assert_eq!(got, want, "XLEN {xlen}");
        // The comparison can fail: without the first field all is elsewhere.
        let mut other = p.clone();
        other.structs[0].fields.remove(1);
        assert_ne!(object(&other, &ty, false).expect("a layout").size, got[0]);
    }
}

#[test]
fn elements_keep_their_own_ranges() {
    let p = Program::default();
    let ours = object(&p, &each(&[(0, 3), (-4, 1000)]), true).expect("a layout");
    let ends: Vec<(BigInt, BigInt)> = ours.units.iter().map(|u| (u.lo.clone(), u.hi.clone())).collect();
    assert_eq!(ends, [(0.into(), 3.into()), ((-4).into(), 1000.into())]);
    assert!(ours.units.iter().all(|u| u.bytes == 2 && u.signed && u.public));
}

#[test]
fn arrays_of_run_time_length_have_a_stride() {
    let (p, outer) = program(32);
    let ty = Ty::Array { elem: Box::new(outer.clone()), len: Len::Param { param: santoku_ir::LocalId(0), add: 1 }, ranges: None };
    let (one, all) = (object(&p, &outer, false).expect("a layout"), object(&p, &ty, false).expect("a layout"));
    assert_eq!((one.size, &one.units), (all.size, &all.units));
    assert!(one.repeat.is_none() && all.repeat.is_some());
    assert_eq!(object(&p, &Ty::array(ty, 2), false), Err(NoLayout::InnerLength));
}

#[test]
fn what_has_no_width_is_refused() {
    let wide = |lo: BigInt, hi: BigInt| width_of(&Range::new(lo, hi));
    let top: BigInt = BigInt::one() << 127;
    assert_eq!(wide(-top.clone(), &top - 1), Ok(Width { bits: 128, signed: true }));
    assert_eq!(wide(-top.clone(), top.clone()), Err(NoLayout::TooWide));
    assert_eq!(wide(-&top - 1, BigInt::ZERO), Err(NoLayout::TooWide));
    assert_eq!(wide(BigInt::ZERO, &top * 2 - 1), Ok(Width { bits: 128, signed: false }));
    assert_eq!(object(&Program::default(), &Ty::Int(None), false), Err(NoLayout::Unranged));
}
